"""Edits of random programs keep the run's own results, and give what the run gave elsewhere.

Programs of promoarray are drawn by `fuzz/ports.py`; those of NumPy 1 here: edited they end in
NumPy 1 and in NumPy 2 as the program did, bit for bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
import pytest
from fuzz import ports
from ported import InProcess, Recordings
from sampled import WHOLE

from promoarray.diagnostics.edits.place import SPELLINGS
from promoarray.diagnostics.edits.planner import Edit, NoEdit, planned
from promoarray.diagnostics.edits.source import SourceText
from promoarray.diagnostics.edits.writing import rewritten
from promoarray.diagnostics.model.final_difference import unequal
from promoarray.diagnostics.port.ported import Ran
from promoarray.promotion.registry import as_policy

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64")
OPERATORS = ("+", "-", "*", "/", "//", "%", "**", "<", "==", "&", "|", ">=")
FUNCTIONS = (
    "maximum({}, {})",
    "where({} > 1, {}, {})",
    "sum({})",
    "mean({})",
    "sqrt({})",
    "abs({})",
)
NUMBERS = ("2", "3", "-1", "1.5", "0", "True", "300", "0x11", "1e-3", "7.0")


class Result(NamedTuple):
    """What became of one program."""

    source: str
    edited: str
    edits: list[Edit]
    left: list[NoEdit]
    faults: list[str]


class Maker:
    """Makes the text of a program, by a seed."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def array(self) -> str:
        dtype, values = self.random.choice(DTYPES), self.random.choice(("[1, 2, 3]", "[4, 1, 2]"))
        kind = self.random.random()
        name = "bool_" if dtype == "bool" else dtype
        if kind < 0.25:
            return f"np.{name}({self.random.choice(('1', '2', '3'))})"
        if kind < 0.4:
            number = self.random.choice(("True", "False") if dtype == "bool" else ("1", "2"))
            return f"np.asarray({number}, dtype=np.{name})"
        if kind < 0.5:
            return f"np.asarray({self.random.choice(('[1.5, 2.0, 3.0]', '[1, 2, 3]'))})"
        if dtype == "bool":
            values = "[True, False, True]"
        return f"np.asarray({values}, dtype=np.{name})"

    def operand(self, names: list[str]) -> str:
        if self.random.random() < 0.25:
            return self.random.choice(NUMBERS)
        name = self.random.choice(names)
        return self.random.choice((name, name, name, f"({name})", f"{name} [...]", f"-{name}"))

    def expression(self, names: list[str], depth: int = 0) -> str:
        kind = self.random.random()
        parts = [
            f"({self.expression(names, depth + 1)})"
            if depth < 2 and self.random.random() < 0.25
            else self.operand(names)
            for _ in range(3)
        ]
        if kind < 0.7:
            blank = self.random.choice((" ", "  ", ""))
            return f"{parts[0]}{blank}{self.random.choice(OPERATORS)} {parts[1]}"
        function = self.random.choice(FUNCTIONS)
        return f"np.{function.format(*parts)}"

    def statements(self) -> Iterator[str]:
        """Yield statements, of which some may not run."""
        names = [f"a{i}" for i in range(4)]
        for name in names:
            yield f"{name} = {self.array()}"
        for number in range(self.random.randint(2, 5)):
            kind = self.random.random()
            if kind < 0.3:
                body = self.expression(["x", "y"])
                yield f"def f{number}(x, y):\n    return {body}"
                for call in range(self.random.randint(1, 4)):
                    given = self.random.choice(names), self.random.choice((*names, "2", "0.5"))
                    yield f"r{number}_{call} = f{number}({', '.join(given)})"
            elif kind < 0.4:
                name = self.random.choice(names)
                yield f"{name} {self.random.choice('+-*')}= {self.operand(names)}"
            elif kind < 0.5:
                dtype = self.random.choice(("uint8", "int8", "uint16"))
                yield self.random.choice(
                    (
                        f"c{number} = np.array([0, {self.random.choice((-1, 300))}], np.{dtype})",
                        f"c{number} = np.full(2, -1, dtype=np.{dtype})",
                        f"c{number} = np.{dtype}(-1)",
                        f"c{number} = np.zeros(2, np.{dtype}); c{number}[0] = -1",
                    )
                )
            else:
                yield f"v{number} = {self.expression(names)}"
                names.append(f"v{number}")


def program(seed: int, runs: Any) -> str:
    """Return a program that ends in NumPy 1, as ``runs`` tells of a text."""
    lines = ["import numpy as np"]
    for statement in Maker(seed).statements():
        if not runs("\n".join([*lines, statement]) + "\n"):
            lines.append(statement)
    return "\n".join(lines) + "\n"


def tried(path: Path, seed: int) -> Result:
    """Make a program, edit it, and run it as both editions."""
    runner = InProcess(path, Recordings("numpy", "numpy@1"))

    def stopped(text: str) -> str:
        path.write_text(text)
        return _run(runner, ()).stopped

    source = program(seed, stopped)
    path.write_text(source)
    first = _run(runner, ("numpy@2",))
    text, policies = SourceText(source), (as_policy("numpy@2"),)
    found = [
        each
        for several in planned(as_policy("numpy@1"), policies, first.seen, lambda _: text).values()
        for each in several
    ]
    edits = [each for each in found if isinstance(each, Edit)]
    left = [each for each in found if isinstance(each, NoEdit)]
    wraps = [wrap for edit in edits for wrap in edit.wraps]
    edited = rewritten(text, wraps, SPELLINGS["numpy"]).text
    path.write_text(edited)
    faults = [f"own: {each}" for each in _apart(first, _run(runner, ()))]
    other = _run(InProcess(path, Recordings("numpy")), ())
    faults += [f"numpy@2: {each}" for each in _apart(first, other)] if not left else []
    return Result(source, edited, edits, left, faults)


def _run(runner: InProcess, asked: tuple[str, ...]) -> Ran:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return runner(None, asked)


def _apart(first: Ran, other: Ran) -> list[str]:
    if other.stopped:
        return [other.stopped]
    return [f"{each.name}: {each.words}" for each in unequal(first.final, other.final)]


# --- What is tried ------------------------------------------------------------------------------

SLOW = range(3, 40 if WHOLE else 12)
SEEDS = (*range(3), *(pytest.param(n, marks=pytest.mark.slow) for n in SLOW))
"""Programs are drawn by their number alone: those of later seeds are more of the same kind."""


@pytest.mark.parametrize("seed", SEEDS)
def test_edits_of_programs_of_promoarray(seed: int) -> None:
    numbers = range(20 * seed, 20 * (seed + 1))
    assert sum(ports.once(np.random.default_rng(number)) for number in numbers) > 8


SAME = frozenset({35})
"""Seeds whose programs give the same dtypes and values in NumPy 1.26.4 and 2.4.6, asked of both."""


@pytest.mark.parametrize("seed", SEEDS)
def test_edits_of_programs_of_numpy_1(tmp_path: Path, seed: int) -> None:
    edits = 0
    for number in range(8 * seed, 8 * (seed + 1)):
        done = tried(tmp_path / "program.py", number)
        assert not done.faults, (number, done.faults, done.source, done.edited)
        edits += len(done.edits)
    assert (edits > 0) is (seed not in SAME)
