"""Random small programs, the edits that are planned for them, and whether these keep their word.

An edited program ends under the run's own policy as the program did, bit for bit, and under the
other policy with the run's dtypes.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import numpy as np
from ported import InProcess, Recordings

from promoarray.diagnostics.edits.place import SPELLINGS
from promoarray.diagnostics.edits.planner import Edit, NoEdit, planned
from promoarray.diagnostics.edits.source import SourceText
from promoarray.diagnostics.edits.writing import rewritten
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
    """Makes the text of a program.

    Parameters
    ----------
    seed : int
    ns : str
        By what name it has the namespace: ``xp`` of promoarray, ``np``.
    """

    def __init__(self, seed: int, ns: str) -> None:
        self.random, self.ns = Random(seed), ns

    def array(self) -> str:
        dtype, values = self.random.choice(DTYPES), self.random.choice(("[1, 2, 3]", "[4, 1, 2]"))
        kind = self.random.random()
        ns = self.ns
        if ns == "np" and kind < 0.25:
            name = "bool_" if dtype == "bool" else dtype
            return f"np.{name}({self.random.choice(('1', '2', '3'))})"
        if kind < 0.4:
            number = self.random.choice(("True", "False") if dtype == "bool" else ("1", "2"))
            return f"{ns}.asarray({number}, dtype={ns}.{_named(dtype, ns)})"
        if kind < 0.5:
            return f"{ns}.asarray({self.random.choice(('[1.5, 2.0, 3.0]', '[1, 2, 3]'))})"
        if dtype == "bool":
            values = "[True, False, True]"
        return f"{ns}.asarray({values}, dtype={ns}.{_named(dtype, ns)})"

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
        return f"{self.ns}.{function.format(*parts)}"

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
            elif kind < 0.5 and self.ns == "np":
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


def _named(dtype: str, ns: str) -> str:
    return "bool_" if dtype == "bool" and ns == "np" else dtype


def program(seed: int, ns: str, runs: Any) -> str:
    """Return a program that ends under the run's policy, as ``runs`` tells of a text."""
    imported = "import numpy as np" if ns == "np" else "import promoarray as xp"
    lines = [imported]
    for statement in Maker(seed, ns).statements():
        if not runs("\n".join([*lines, statement]) + "\n"):
            lines.append(statement)
    return "\n".join(lines) + "\n"


def tried(path: Path, seed: int, run: str, to: str, framework: str = "") -> Result:
    """Make a program, edit it, and run it under both policies."""
    recorded = Recordings(framework, run if run == "numpy@1" else "") if framework else None
    named = None if framework else run
    runner = InProcess(path, recorded)

    def stopped(text: str) -> str:
        path.write_text(text)
        return _run(runner, named, ()).stopped

    source = program(seed, "np" if framework else "xp", stopped)
    path.write_text(source)
    first = _run(runner, named, (to,))
    text, policies = SourceText(source), (as_policy(to),)
    found = [
        each
        for several in planned(as_policy(run), policies, first.seen, lambda file: text).values()
        for each in several
    ]
    edits = [each for each in found if isinstance(each, Edit)]
    left = [each for each in found if isinstance(each, NoEdit)]
    wraps = [wrap for edit in edits for wrap in edit.wraps]
    edited = rewritten(text, wraps, SPELLINGS[framework]).text
    path.write_text(edited)
    faults = [f"own: {each}" for each in _apart(first, _run(runner, named, ()))]
    if framework:
        other = _run(InProcess(path, Recordings(framework)), None, ())
        faults += [f"{to}: {each}" for each in _apart(first, other)] if not left else []
    elif all(each.optional for each in left):
        other = _run(runner, to, ())
        by_value = other.stopped.startswith(("ZeroDivisionError", "ValueError"))
        faults += [f"{to}: {other.stopped}"] if other.stopped and not by_value else []
        faults += [
            f"{to}: {name} {other.final[name].type} instead of {value.type}"
            for name, value in first.final.items()
            if name in other.final and other.final[name].type != value.type
        ]
    return Result(source, edited, edits, left, faults)


def _run(runner: InProcess, named: str | None, asked: tuple[str, ...]) -> Ran:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return runner(named, asked)


def _apart(first: Ran, other: Ran) -> list[str]:
    from promoarray.diagnostics.model.final_difference import unequal

    if other.stopped:
        return [other.stopped]
    return [f"{each.name}: {each.words}" for each in unequal(first.final, other.final)]
