"""``promoarray cast``: the bits and values of casts, side by side under several policies."""

from __future__ import annotations

import math
from argparse import Namespace
from dataclasses import dataclass
from typing import Any

import numpy as np

from promoarray._cast import convert, explicit
from promoarray.backends import numpy as backend
from promoarray.dtypes import DType, Kind
from promoarray.errors import PromotionError
from promoarray.policies.plans import INTEGERS
from promoarray.policies.policy import Policy
from promoarray.policies.registry import as_policy
from promoarray.policies.scalars import bounds

DEFAULT = "numpy,jax,torch,tensorflow,paddle,mindspore,aclnn,onnx"
"""One policy of every framework."""


@dataclass(frozen=True, slots=True)
class Cell:
    """What one value becomes under one policy.

    Attributes
    ----------
    bits : str
        In hexadecimal, two digits a byte; of a complex number the real part first.
    value : str
        As Python writes it.
    """

    bits: str
    value: str

    def __str__(self) -> str:
        return f"{self.bits} {self.value}"


def answers(
    policy: Policy,
    values: np.ndarray[Any, Any],
    source: DType,
    target: DType,
    *,
    saturate: int | None = None,
    round_mode: str | None = None,
) -> list[Cell] | str:
    """What a policy makes of the values, or why it does not cast them.

    A setting is for the policies that have it; the others cast as they do.
    """
    settings = {"saturate": saturate, "round_mode": round_mode}
    known: Any = {name: value for name, value in settings.items() if name in policy.cast.knobs}
    try:
        out = explicit(policy, values, source, target, **known)
    except PromotionError as error:
        return str(error).partition(": ")[2]
    return cells(out, target)


def cells(buffer: np.ndarray[Any, Any], dtype: DType) -> list[Cell]:
    """The bits and values of a buffer."""
    parts = 2 if dtype.kind is Kind.COMPLEX else 1
    width = dtype.storage.itemsize // parts
    codes = np.ascontiguousarray(buffer).view(f"u{width}").reshape(-1, parts)
    mask = (1 << dtype.bits) - 1 if dtype.bits < 8 else -1
    shown = backend.decoded(buffer, dtype).reshape(-1).tolist()
    return [
        Cell("0x" + "_".join(f"{int(c) & mask:0{2 * width}x}" for c in row), _shown(value))
        for row, value in zip(codes, shown, strict=True)
    ]


def _shown(value: Any) -> str:
    return f"{value:.9g}" if type(value) is float and math.isfinite(value) else str(value)


def read(texts: list[str], source: DType) -> np.ndarray[Any, Any]:
    """Read values as the source has them: numbers rounded once, or bits such as ``bits:7f``.

    Raises
    ------
    ValueError
        If a text is no number, or does not fit.
    """
    out = np.zeros(len(texts), source.storage)
    for index, text in enumerate(texts):
        out[index : index + 1] = _one(text, source)
    return out


def _one(text: str, source: DType) -> np.ndarray[Any, Any]:
    if text.startswith("bits:"):
        if source.kind is Kind.COMPLEX:
            raise ValueError(f"{text!r}: bits are of real dtypes only")
        code = int(text.removeprefix("bits:"), 16)
        if not 0 <= code < 1 << source.bits:
            raise ValueError(f"{text!r} has more than the {source.bits} bits of {source.name}")
        return np.array([code], f"u{source.storage.itemsize}").view(source.storage)
    value = _number(text)
    if source.kind in INTEGERS:
        low, high = bounds(source)
        if type(value) is not int or not low <= value <= high:
            raise ValueError(f"{text!r} is no {source.name}, which holds {low} to {high}")
    if type(value) is complex and source.kind is not Kind.COMPLEX:
        raise ValueError(f"{text!r} is no {source.name}")
    buffer, wide = backend.wide(value, source)
    return np.asarray(convert(as_policy("numpy"), buffer, wide, source)).reshape(1)


def _number(text: str) -> bool | int | float | complex:
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float, complex):
        try:
            return kind(text)
        except ValueError:
            continue
    raise ValueError(f"{text!r} is no number; write 1.5, -0.0, inf, nan, or bits:7f")


def run(args: Namespace, source: DType, target: DType) -> dict[str, Any]:
    """Answer the command: what JSON has, and the table is made of."""
    policies = [as_policy(name.strip()) for name in (args.policy or DEFAULT).split(",")]
    given = read([text.strip() for text in args.values], source)
    made = {
        policy.name: answers(
            policy, given, source, target, saturate=args.saturate, round_mode=args.round_mode
        )
        for policy in policies
    }
    if args.saturate is not None and not any("saturate" in p.cast.knobs for p in policies):
        raise ValueError("none of these policies has saturate; onnx@19 and later have")
    if args.round_mode is not None and not any("round_mode" in p.cast.knobs for p in policies):
        raise ValueError("none of these policies has round_mode; onnx@24 and later have")
    return {"source": source, "target": target, "given": cells(given, source), "made": made}


def to_json(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer as JSON has it."""
    return {
        "source": answer["source"].name,
        "target": answer["target"].name,
        "values": [
            {
                "given": _cell(given),
                "policies": {
                    name: _cell(found[index])
                    for name, found in answer["made"].items()
                    if not isinstance(found, str)
                },
            }
            for index, given in enumerate(answer["given"])
        ],
        "refused": {name: f for name, f in answer["made"].items() if isinstance(f, str)},
    }


def _cell(cell: Cell) -> dict[str, str]:
    return {"bits": cell.bits, "value": cell.value}


def table(answer: dict[str, Any]) -> Any:
    """The answer as a table: a row a policy, a column a value; yellow is what others give not."""
    from collections import Counter

    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    shown = Table(show_edge=False, box=None, padding=(0, 2, 0, 0))
    shown.add_column("", no_wrap=True)
    for cell in answer["given"]:
        shown.add_column(cell.value, no_wrap=True)
    shown.add_row(Text(answer["source"].name, "bold"), *(c.bits for c in answer["given"]))
    made = {name: f for name, f in answer["made"].items() if not isinstance(f, str)}
    common = [Counter(column).most_common(1)[0][0] for column in zip(*made.values(), strict=True)]
    for name, found in made.items():
        texts = (
            Text(str(cell), "" if cell == usual else "yellow")
            for cell, usual in zip(found, common, strict=True)
        )
        shown.add_row(Text(name, "bold"), *texts)
    refused = [
        Text(f"{name}: {why}", "dim") for name, why in answer["made"].items() if type(why) is str
    ]
    return Group(Text(f"{answer['source'].name} to {answer['target'].name}"), shown, *refused)
