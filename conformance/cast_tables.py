"""docs/casts.md, made of the policies' own casts, so that the page cannot go stale.

python conformance/cast_tables.py    writes it; tests/policies/test_cast_tables.py compares.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np

from promoarray import dtypes as dt
from promoarray.core.cast import convert
from promoarray.diagnostics.casts import cells
from promoarray.dtypes import BY_NAME, DType
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy, families

PAGE = Path(__file__).resolve().parent.parent / "docs" / "casts.md"

POLICIES: dict[str, tuple[dict[str, object], ...]] = {
    "numpy": ({},),
    "numpy@2-arm64": ({},),
    "jax": ({},),
    "torch": ({},),
    "torch@2.13-arm64": ({},),
    "torch@2.13-cuda": ({},),
    "torch@2.11": ({},),
    "torch@2.11-cuda": ({},),
    "tensorflow": ({},),
    "paddle@3.3": ({},),
    "paddle@2.6": ({},),
    "aclnn": ({},),
    "mindspore": ({},),
    "onnx@23": ({}, {"saturate": False}),
    "onnx@28": ({}, {"saturate": False}),
    "array_api": ({},),
}
"""The policies of the page, each with the settings it is shown in."""

for _family, _names in families().items():
    if not any(_family == known.partition("@")[0] for known in (*POLICIES, "torch_npu")):
        # Of a family that nothing is said about here, each edition that casts otherwise.
        _rules = {id(as_policy(name).cast): name for name in reversed(_names)}
        POLICIES |= dict.fromkeys(reversed(_rules.values()), ({},))

ALSO = {
    "numpy": "numpy@1",
    "jax": "jax@x32, jax@strict and jax@lax, with one exception: "
    + as_policy("jax@lax").cast.notes[-1].removesuffix("."),
    "tensorflow": "tensorflow@all and tensorflow@safe",
    "paddle@3.3": "paddle, which has no quirks",
    "aclnn": "aclnn@8.5 and for torch_npu, which makes float32 where float64 is asked for",
    "onnx@23": "onnx@19 to onnx@22, as far as they have the types",
    "onnx@28": "onnx@24 to onnx@27, as far as they have the types",
}

FLOATS = tuple(
    name
    for name in BY_NAME
    if name.startswith(("float4", "float6", "float8", "float16", "bfloat16"))
    and name not in ("float8_e8m0fnu", "float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz")
)
INTEGERS = ("int4", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")

INTRODUCTION = """\
# Casts: what becomes of values the target cannot represent

Every cast rounds once, to nearest, ties to even, from the source's own value. A cast to a
narrower integer keeps the low bits, a cast from complex to real drops the imaginary part, and
every value but zero, NaN included, is True. All else depends on the policy: `pa.astype(x, dtype)`
follows the policy in force, and so do the casts inside operations.

The floating-point state of the thread does not matter. If PyTorch's `set_flush_denormal`,
`fesetround` or a library built with `-ffast-math` has changed it, casts and operations run in the
default state and restore yours afterwards. One exception: the threads of NumPy's BLAS, which
large matrix products use, keep the state of the thread that first imported NumPy.

- the rule for a pair, its quirks and sources, the values or refusals of the other policies:
  `pa.explain("astype", x, dtype)`, or `promoarray explain astype float32 float8_e4m3fn` for
  values at the edges of the target
- what a cast would do to your array, counted: `pa.cast_report(x, dtype)`
- values and bits under each framework's policy: `promoarray cast --from float32 --to
  float8_e4m3fn 500 nan`

A *quirk* is a bug in a released framework. Quirks are off by default; switch one on with
`policy.with_quirks("name")` or in the policy's name, `"paddle@3.3+nan-to-e4m3fn-is-448"`.

The tables show casts from float32 as promoarray computes them (`conformance/cast_tables.py`
writes this page). *Beyond* is twice the largest value of the target. *(ml_dtypes')* marks a cast
that no source of the framework defines; there promoarray does what ml_dtypes does."""


def _made(
    policy: Policy, values: Iterable[float], target: DType, settings: dict[str, object]
) -> list[str]:
    x = np.array(list(values), np.float32)
    own = {**policy.cast.settings(), **settings}
    return [cell.value for cell in cells(convert(policy, x, dt.float32, target, own), target)]


def _table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    lines = [header, ["---"] * len(header), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def _named(policy: Policy, target: DType) -> str:
    """A row's name, marked where the cast is not the framework's own."""
    return target.name + " (ml_dtypes')" * bool(policy.cast.borrowed(dt.float32, target))


def _beyond(target: DType) -> float:
    """Twice the largest value: surely beyond."""
    from promoarray.functions.data_types import finfo

    return min(2 * finfo(target).max, 3.4e38)


def _floats(policy: Policy, settings: dict[str, object]) -> list[str]:
    rows = []
    for name in FLOATS:
        target = BY_NAME[name]
        if policy.cast.refuses(dt.float32, target) is None:
            values = (_beyond(target), np.inf, -np.inf, np.nan, -0.0)
            rows.append([_named(policy, target), *_made(policy, values, target, settings)])
    return _table(["to", "beyond", "Inf", "-Inf", "NaN", "-0"], rows)


def _integers(policy: Policy, settings: dict[str, object]) -> list[str]:
    values = (-1.9, 300.7, 3e9, 1e20, -1e20, np.inf, np.nan)
    rows = []
    for name in INTEGERS:
        target = BY_NAME[name]
        if policy.cast.refuses(dt.float32, target) is None:
            rows.append([_named(policy, target), *_made(policy, values, target, settings)])
    return _table(["to", "-1.9", "300.7", "3e9", "1e20", "-1e20", "Inf", "NaN"], rows)


def _scale(policy: Policy, settings: dict[str, object]) -> list[str]:
    target = dt.float8_e8m0fnu
    if policy.cast.refuses(dt.float32, target) is not None:
        return []
    names = ("0", "-1", "1.25", "1.5", "2**-130", "1.75 * 2**127", "Inf")
    values = (0.0, -1.0, 1.25, 1.5, 2.0**-130, 1.75 * 2.0**127, np.inf)
    modes: list[dict[str, object]] = [{}]
    if "round_mode" in policy.cast.knobs:
        modes = [{"round_mode": mode} for mode in ("up", "down", "nearest")]
    rows = [
        [
            " ".join([_named(policy, target), *(str(v) for v in mode.values())]),
            *_made(policy, values, target, settings | mode),
        ]
        for mode in modes
    ]
    return _table(["to", *names], rows)


def _section(name: str, shown: Sequence[dict[str, object]]) -> list[str]:
    policy = as_policy(name)
    also = f" The same holds for {ALSO[name]}." if name in ALSO else ""
    lines = ["", f"## {policy.name}", "", f"{policy.title}.{also}", ""]
    for settings in shown:
        said = ", ".join(f"{key}={value}" for key, value in settings.items())
        lines += [f"With `{said}`:", ""] if said else []
        for table in (_floats, _scale, *((_integers,) if not settings else ())):
            found = table(policy, settings)
            lines += [*found, ""] if found else []
    lines += [f"* {note}" for note in policy.cast.notes]
    if policy.cast.quirks:
        rows = [[f"`{q.name}`", q.sentence, q.source] for q in policy.cast.quirks]
        lines += ["", *_table(["quirk", "what it changes", "whose"], rows)]
    return lines


def page() -> str:
    """The page's text."""
    lines = [INTRODUCTION]
    for name, shown in POLICIES.items():
        lines += _section(name, shown)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
