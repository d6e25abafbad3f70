"""``promoarray cast``: the bits and values of casts, side by side under several policies."""

from __future__ import annotations

import cmath
from argparse import Namespace
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import numpy as backend
from promoarray.core.cast import convert
from promoarray.diagnostics.explain.cast_values import answers, cells
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy
from promoarray.promotion.scalars import bounds
from promoarray.promotion.table_text import python_scalar

DEFAULT = "numpy,jax,torch,tensorflow,paddle,mindspore,aclnn,onnx"
"""One policy of every framework."""


def read(texts: list[str], source: DType) -> np.ndarray[Any, Any]:
    """Read values as the source has them: numbers rounded once, or bits such as ``bits:7f``.

    Of strings each text is a value as it stands.

    Raises
    ------
    ValueError
        If a text is no number, or does not fit.
    """
    if source is dt.string:
        return np.array(texts, source.storage)
    out = np.zeros(len(texts), source.storage)
    for index, text in enumerate(texts):
        out[index : index + 1] = _one(text, source)
    return out


def _one(text: str, source: DType) -> np.ndarray[Any, Any]:
    if text.startswith("bits:"):
        if source.kind is Kind.COMPLEX:
            raise ValueError(f"{text!r}: bits are of real dtypes only")
        try:
            code = int(text.removeprefix("bits:"), 16)
        except ValueError:
            raise ValueError(f"{text!r} is no hexadecimal number; write bits:7f") from None
        if not 0 <= code < (2 if source is dt.bool else 1 << source.bits):
            raise ValueError(f"{text!r} is no code of {source.name}, of {source.bits} bits")
        return np.array([code], f"u{source.storage.itemsize}").view(source.storage)
    value = python_scalar(text)
    if value is None:
        raise ValueError(f"{text!r} is not a number; write 1.5, -0.0, inf, nan, or bits:7f")
    if source.kind in INTEGERS:
        low, high = bounds(source)
        if type(value) is not int or not low <= value <= high:
            raise ValueError(f"{text!r} is no {source.name}, which holds {low} to {high}")
    if type(value) is complex and source.kind is not Kind.COMPLEX:
        raise ValueError(f"{text!r} is no {source.name}")
    buffer, wide = backend.wide(value, source)
    made = np.asarray(convert(as_policy("numpy"), buffer, wide, source)).reshape(1)
    if cmath.isfinite(value) and not cmath.isfinite(backend.decoded(made, source).item()):
        raise ValueError(f"{text!r} is beyond {source.name}; its bits can be given, as in bits:7f")
    return made


def question(args: Namespace, source: DType) -> tuple[list[Policy], np.ndarray[Any, Any]]:
    """Read what is asked: the policies, and the values as the source has them.

    Raises
    ------
    ValueError
        If a text is no value of the source, or no policy has an argument that is given.
    """
    policies = [as_policy(name.strip()) for name in (args.policy or DEFAULT).split(",")]
    if args.saturate is not None and not any("saturate" in p.cast.knobs for p in policies):
        raise ValueError("none of these policies has saturate; onnx@19 and later have")
    if args.round_mode is not None and not any("round_mode" in p.cast.knobs for p in policies):
        raise ValueError("none of these policies has round_mode; onnx@24 and later have")
    return policies, read([text.strip() for text in args.values], source)


def run(
    args: Namespace,
    policies: list[Policy],
    given: np.ndarray[Any, Any],
    source: DType,
    target: DType,
) -> dict[str, Any]:
    """Answer the command: what JSON has, and the table is made of."""
    made = {
        policy.name: answers(
            policy, given, source, target, saturate=args.saturate, round_mode=args.round_mode
        )
        for policy in policies
    }
    return {"source": source, "target": target, "given": cells(given, source), "made": made}


def to_json(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer as JSON has it."""
    return {
        "source": answer["source"].name,
        "target": answer["target"].name,
        "values": [
            {
                "given": given.to_dict(),
                "policies": {
                    name: found[index].to_dict()
                    for name, found in answer["made"].items()
                    if not isinstance(found, str)
                },
            }
            for index, given in enumerate(answer["given"])
        ],
        "refused": {name: f for name, f in answer["made"].items() if isinstance(f, str)},
    }


def table(answer: dict[str, Any]) -> Any:
    """The answer as a table: a row a policy, a column a value; yellow is what others give not."""
    from collections import Counter

    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    shown = Table(show_edge=False, box=None, padding=(0, 2, 0, 0))
    shown.add_column("", no_wrap=True)
    for cell in answer["given"]:
        shown.add_column(Text(cell.value), no_wrap=True)
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
