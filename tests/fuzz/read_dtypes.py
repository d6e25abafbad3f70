"""Programs that read dtypes from arrays: a shadow policy's dtypes are those of a run under it.

Lines are drawn at random: arrays of a literal or a default dtype, arithmetic, casts, and functions
that are given a dtype read from an array, by itself, through a variable or ``result_type``. Each
program is watched once, and then run under every policy, until that refuses a line.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.random import Generator

import promoarray as pa
from promoarray.diagnostics.model.slots import as_seen_by, held, lacks
from promoarray.policies import as_policy

POLICIES = (
    *("numpy@2", "numpy@1", "jax@x64", "jax@x32", "torch@2.13", "tensorflow", "paddle@3.3"),
    *("aclnn@8.5", "onnx@25"),
)

DTYPES = (
    *("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64"),
    *("bfloat16", "bfloat16", "int4", "float8_e4m3fn"),
)
"""Those of the last line some policies lack: there the program has what the report proposes."""

READS = (
    *("{x}.dtype", "{x}.dtype", "{x}.dtype", "{d}", "{d}", "xp.result_type({x}, {y})"),
    *("xp.result_type({x}.dtype, {y}, 1.5)", "xp.promote_types({x}.dtype, {d})"),
    *("xp.result_type({d}, xp.int8)", "xp.finfo({x}.dtype).dtype", "({x} + {y}).dtype"),
    *("kept['d']", "take({x})", "xp.finfo({x}).dtype", "np.result_type({x}, {y})"),
)
"""Expressions that give a dtype."""

MADE = (
    *("xp.asarray([1, 2], dtype=xp.{name})", "xp.astype({x}, xp.{name})", "xp.asarray([1, 2])"),
    *("xp.ones(2, dtype=xp.{name})", "xp.asarray([1.5, 2])"),
    *("xp.zeros(2)", "xp.arange(2)", "xp.asarray(np.ones(2, np.float32))"),
    *("{x} + {y}", "{x} * {y}", "{x} / 2", "{x} - 1.5", "xp.where({x} > 1, {x}, {y})"),
    *("xp.concat([{x}, {y}])[:2]", "xp.mean({x})", "xp.sum({x}) + {y}", "xp.sqrt({x})", "{x}[0]"),
    *("{x} * True", "2 ** {x}", "xp.maximum({x}, {y})", "xp.cumulative_sum({x})", "xp.abs({x})"),
)
"""Expressions that give an array, of dtypes that are read nowhere."""

GIVEN = (
    *("xp.astype({x}, {read})", "{x}.astype({read})", "xp.astype({x}, {read}, copy=False)[...]"),
    *("xp.zeros(2, dtype={read})", "xp.ones(2, dtype={read})", "xp.full(2, 1, dtype={read})"),
    *("xp.asarray(1.0, dtype={read})", "xp.asarray({x}, dtype={read})", "xp.full_like({x}, 1)"),
    *("xp.zeros_like({x}, dtype={read})", "xp.full_like({x}, 1, dtype={read})"),
    *(
        "xp.arange(2, dtype={read})",
        "xp.linspace(0, 1, 2, dtype={read})",
        "xp.eye(2, dtype={read})",
    ),
    *("xp.sum({x}, dtype={read})", "xp.asarray([{x}[0], 1.5]) if {x}.ndim else {y}"),
    *("xp.empty_like({x}, dtype={read})", "{x}.sum(dtype={read})", "np.astype({x}, {read})"),
    *("xp.asarray([1, 2], dtype={read})", "xp.cumulative_sum({x}, dtype={read})"),
)
"""Expressions that give an array of a dtype that was read."""


def one_of(random: Generator, choices: Sequence[Any]) -> Any:
    """Return one of a sequence."""
    return choices[int(random.integers(len(choices)))]


def line(random: Generator, names: list[str], dtypes: list[str]) -> str:
    """Return a line of a program with variables of these names."""
    pick = {"x": one_of(random, names), "y": one_of(random, names), "d": one_of(random, dtypes)}
    pick["name"] = one_of(random, DTYPES)
    read = one_of(random, READS).format(**pick)
    way = int(random.integers(12))
    if way < 2:
        return f"{one_of(random, dtypes)} = {read}"
    if way == 2:
        return f"kept['d'] = {read}"
    if way == 3:
        return "{x} {} {y}".format(one_of(random, ["+=", "*=", "-="]), **pick)
    expression = one_of(random, GIVEN if way < 8 else MADE)
    return f"{one_of(random, names)} = {expression.format(read=read, **pick)}"


@contextmanager
def quiet() -> Iterator[None]:
    """Say nothing of what is computed."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def begun() -> dict[str, Any]:
    """The variables that programs begin with."""
    a, b = pa.asarray([1, 2], dtype=pa.int8), pa.asarray([1.5, 2], dtype=pa.float32)
    arrays = {"xp": pa, "np": np, "a": a, "b": b, "c": pa.asarray([1, 2]) / 2}
    return arrays | {"d": b.dtype, "e": a.dtype, "kept": {"d": a.dtype}, "take": lambda x: x.dtype}


ARRAYS, NAMES = ["a", "b", "c"], ["d", "e"]


def watched(random: Generator, length: int) -> tuple[list[str], list[dict[str, dict[str, str]]]]:
    """Draw a program and run it once; return its lines, and the dtypes that follow from each.

    Those are of every variable, under every policy, as text.
    """
    policies = [as_policy(name) for name in POLICIES]
    lines: list[str] = []
    found = []
    with quiet(), pa.shadow(*POLICIES):
        variables = begun()
        while len(lines) < length:
            text = line(random, ARRAYS, NAMES)
            try:
                exec(text, variables)
            except (TypeError, ValueError, OverflowError, IndexError):
                continue
            lines.append(text)
            found.append(
                {
                    policy.name: {
                        name: policy.strong(as_seen_by(policy, variables[name]).type).name
                        for name in ARRAYS
                    }
                    for policy in policies
                }
            )
    return lines, found


def written_for(policy: str, text: str) -> str:
    """Return a line with the dtypes that a policy has in place of those it lacks."""
    for name in ("bfloat16", "int4", "float8_e4m3fn"):
        dtype = getattr(pa, name)
        if lacks(as_policy(policy), dtype):
            text = text.replace(f"xp.{name}", f"xp.{held(as_policy(policy), dtype).name}")
    return text


def once(random: Generator) -> None:
    """Run one program under every policy, and compare with what was predicted."""
    lines, found = watched(random, int(random.integers(2, 10)))
    for name in POLICIES:
        with quiet(), pa.policy(name):
            variables = begun()
            for done, text in enumerate(lines):
                try:
                    exec(written_for(name, text), variables)
                except (TypeError, ValueError, OverflowError):
                    break  # after a refusal nothing is predicted but what an edit gives
                given = {each: variables[each].dtype.name for each in ARRAYS}
                program = "\n".join(lines[: done + 1])
                assert given == found[done][name], (
                    f"{name}: predicted {found[done][name]}\n{program}"
                )
