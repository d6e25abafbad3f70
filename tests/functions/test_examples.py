"""What is public shows an example, says the shape of every array, and its examples run."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from docstring_examples import wrong_examples

import promoarray as pa

ROOMS = {"": pa, "linalg.": pa.linalg, "fft.": pa.fft, "extras.": pa.extras, "testing.": pa.testing}
METHODS = {
    pa.PArray: ("T", "mT", "astype", "reshape", "view"),
    pa.Policy: ("check", "derive", "from_lattice", "from_table", "with_quirks"),
}

NO_EXAMPLE = {
    "Report": "what shadow, record and compare make, never a program",
    "record": "it asks a framework, which the tests of docs/record.md start",
    "testing.Tolerance": "what testing.tolerance makes, never a program",
}
"""Public names without an example, each under its reason, beside errors and warnings."""

OF_DASK = {"from_dask", "from_zarr", "to_zarr"}
"""Whose examples ``tests/io/test_zarr.py`` runs: once imported, Dask is a device of every test."""

SHAPE = re.compile(r"\bshapes?\b|0-d|one-dimensional|\baxes\b|\bvectors?\b")


def public() -> Iterator[tuple[str, Any]]:
    """Every public callable but dtypes, and the methods that users call of our classes."""
    seen: list[Any] = []
    for room, module in ROOMS.items():
        for name in module.__all__:
            found = getattr(module, name)
            if callable(found) and not isinstance(found, pa.DType) and found not in seen:
                seen.append(found)
                yield room + name, found
    for cls, names in METHODS.items():
        for name in names:
            yield f"{cls.__name__}.{name}", getattr(cls, name)


def is_raised(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, BaseException)


def entries(doc: str, section: str) -> dict[str, str]:
    """The entries of a section of numpydoc, by the words before the colon."""
    body = re.search(rf"^{section}\n-+\n(.*?)(?=^\w[\w ]+\n-+$|\Z)", doc, re.M | re.S)
    found = re.split(r"^(?=\S)", body[1], flags=re.MULTILINE) if body else []
    return {re.split(" : |\n", entry)[0]: entry for entry in found if entry.strip()}


PUBLIC = dict(public())


def test_what_is_public_has_an_example() -> None:
    without = {name for name, found in PUBLIC.items() if ">>> " not in (found.__doc__ or "")}
    raised = {name for name, found in PUBLIC.items() if is_raised(found)}
    assert sorted(without - raised) == sorted(NO_EXAMPLE)


def test_every_array_has_a_shape() -> None:
    unshaped = []
    for name, found in PUBLIC.items():
        doc = inspect.getdoc(found) or ""
        for section in ("Parameters", "Returns"):
            for words, entry in entries(doc, section).items():
                head = entry.partition("\n")[0]
                if re.search(r"\barrays?\b|array_like|PArray", head) and not SHAPE.search(entry):
                    unshaped.append(f"{name}.{words}")
    assert unshaped == []


def test_examples_print_what_they_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    unread = {*OF_DASK, *NO_EXAMPLE}
    run = [x for name, x in PUBLIC.items() if name not in unread and not is_raised(x)]
    wrong = wrong_examples(run)
    assert not wrong, wrong
