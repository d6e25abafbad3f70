"""Docstrings document every parameter, result and error; examples are in test_examples.py."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import promoarray as pa

CHAPTERS = (
    *(pa.broadcasting, pa.creation, pa.data_types, pa.elementwise, pa.indexing, pa.info),
    *(pa.joining, pa.linear_algebra, pa.manipulation, pa.ranges, pa.searching, pa.sets, pa.sorting),
    *(pa.grids, pa.statistical, pa.utility, pa.linalg, pa.fft, pa.extras),
)
TOOLS = {name: getattr(pa, name) for name in ("save", "load", "to_onnx", "from_onnx")}
FUNCTIONS: dict[str, Callable[..., Any]] = TOOLS | {"pack": pa.pack, "unpack": pa.unpack}
FUNCTIONS |= {
    f"{chapter.__name__}.{name}": getattr(chapter, name)
    for chapter in CHAPTERS
    for name in chapter.__all__
}


def sections(function: Callable[..., Any]) -> dict[str, str]:
    """The text under each heading of numpydoc."""
    parts = re.split(r"^(\w[\w ]+)\n-+$", inspect.getdoc(function) or "", flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def named(text: str) -> list[str]:
    """The parameters that a section lists."""
    heads = [line.partition(" : ")[0] for line in text.splitlines() if re.match(r"[\w*]", line)]
    return [name.lstrip("*") for head in heads for name in head.split(", ")]


def test_every_parameter_result_and_error_is_documented() -> None:
    wrong = []
    for name, function in FUNCTIONS.items():
        found, wanted = sections(function), list(inspect.signature(function).parameters)
        if named(found.get("Parameters", "")) != wanted:
            wrong.append(f"{name}: documents {named(found.get('Parameters', ''))} of {wanted}")
        needed = {"Returns", "Raises"} if wanted else {"Returns"}
        if function is pa.save:
            needed = {"Raises"}
        wrong += [f"{name} has no {section}" for section in needed - set(found)]
        if re.search(r"^ *\{\w+\}$", function.__doc__ or "", re.MULTILINE):
            wrong.append(f"{name}: a shared entry is missing")
    assert wrong == []


def test_no_place_is_left_empty() -> None:
    left = {name: re.findall(r"\{\w+\}", inspect.getdoc(f) or "") for name, f in FUNCTIONS.items()}
    assert {name: found for name, found in left.items() if found} == {}
