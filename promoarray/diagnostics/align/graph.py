"""Graph of a tape: values, and what made them, functions taken apart into their steps."""

from __future__ import annotations

import json
import math
import os
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import count, permutations
from typing import Any, NamedTuple

import numpy as np

from promoarray.diagnostics.align.steps import Step, steps_of
from promoarray.diagnostics.record.saved import NotSaved, from_data, member
from promoarray.diagnostics.record.tape import MEMBER, VERSION, Array, decoded
from promoarray.dtypes import BY_NAME, INEXACT
from promoarray.io.reading import entry, explained


class Place(NamedTuple):
    """A line of a program."""

    file: str
    line: int
    text: str
    expression: str

    @property
    def short(self) -> str:
        """Its name, as short as it is clear: of an installed file below its folder."""
        _, installed, within = self.file.rpartition("site-packages/")
        return f"{within if installed else os.path.relpath(self.file)}:{self.line}"


@dataclass(eq=False)
class Value:
    """An array of a run."""

    name: str
    dtype: str  # "" of a step inside a function
    shape: tuple[int, ...]
    array: Array | None  # None where it was not kept
    maker: Node | None = None  # None of what comes from outside
    readers: list[Node] = field(default_factory=list)
    noise: float = 0.0  # how far rounding was seen to move it, relative
    within: str = ""  # of a step the dtype that the function gives

    @property
    def size(self) -> int:
        """How many elements it has."""
        return math.prod(self.shape)

    @property
    def inexact(self) -> bool:
        """Whether its numbers are rounded."""
        return not self.dtype or BY_NAME[self.dtype].kind in INEXACT

    @cached_property
    def wide(self) -> Array:
        """Its numbers in a dtype in which they are compared."""
        assert self.array is not None
        if self.array.dtype.kind == "c":
            return self.array.astype(np.complex128)
        with np.errstate(all="ignore"):
            return self.array.astype(np.float64)

    @cached_property
    def ordered(self) -> Array:
        """Its numbers in their order, which no layout changes."""
        flat = self.wide.reshape(-1)
        return np.sort(np.concatenate([flat.real, flat.imag]) if flat.dtype.kind == "c" else flat)

    @cached_property
    def norm(self) -> float:
        """The root of the sum of squares of its finite numbers."""
        finite = self.ordered[np.isfinite(self.ordered)]
        return float(np.sqrt(np.square(finite).sum()))

    @cached_property
    def says(self) -> bool:
        """Whether it has more than one number, or is one that is rounded."""
        if self.array is None or not self.size or not self.inexact:
            return False
        return bool(self.size == 1 or self.ordered[0] != self.ordered[-1])


@dataclass(eq=False)
class Node:
    """A call, or a step of one."""

    number: int  # of the call
    name: str  # as the framework has it
    operation: str  # promoarray's, or the step's; "" of others
    place: Place  # the program's line
    inside: Place  # the line of the library that it called
    operands: list[Value]
    results: list[Value]
    scalars: tuple[float, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    positional: tuple[Any, ...] = ()  # numbers, bools and words behind its first argument
    step: str = ""  # what the step does, in words
    framework: str = ""
    for_shapes: bool = False  # whether it is of a pass of which only the weights are kept
    replaced: list[tuple[Value, Value]] = field(default_factory=list)  # by what is in its place
    # of a file the lines that it was exported from, those of libraries too
    frames: frozenset[tuple[str, int]] = frozenset()

    @property
    def said(self) -> str:
        """Its name in words."""
        return f"{self.step} in {self.name}" if self.step else self.name


@dataclass
class Graph:
    """The calls of a run in their order, steps before the call that they are part of."""

    nodes: list[Node]
    values: dict[str, Value]
    calls: list[dict[str, Any]]
    framework: str
    unread: int  # values that could not be read, or were not kept
    why: list[str]  # what they are
    left: list[str] = field(default_factory=list)  # what was not looked at
    measured: bool = False  # whether its values know how far rounding moves them


def read(path: str) -> Graph:
    """Return the graph of a tape.

    Raises
    ------
    ValueError
        If the file holds none.
    """
    with explained(f"{path} holds no run that promoarray align PROGRAM --save RUN.zip saved"):
        data = json.loads(member(path, MEMBER))
        if data["version"] > VERSION:
            raise NotSaved("it is of a newer promoarray: install that, or record it again")
        tape = from_data(_Tape, data)
        with zipfile.ZipFile(path) as archive:
            values = {
                name: Value(name, each.dtype, each.shape, _array(archive, name, each))
                for name, each in tape.values.items()
            }
        return _graph(tape, data["calls"], values)


class _Kept(NamedTuple):
    """A value, as a tape has it."""

    dtype: str
    shape: tuple[int, ...]
    kept: bool


class _Call(NamedTuple):
    """A call, as a tape has it."""

    name: str
    operation: str
    framework: str
    operands: list[object]
    keywords: dict[str, object]
    results: list[str]
    written: list[tuple[str, str]]
    site: int
    program: int
    for_shapes: bool = False
    frames: list[tuple[str, int]] = []  # noqa: RUF012


class _Tape(NamedTuple):
    """A tape."""

    calls: list[_Call]
    values: dict[str, _Kept]
    sites: list[Place]
    unread: Counter[str]
    left: list[str] = []  # noqa: RUF012


def _array(archive: zipfile.ZipFile, name: str, said: _Kept) -> Array | None:
    if not said.kept:
        BY_NAME[said.dtype]
        return None
    stored = entry(archive, archive.NameToInfo[f"values/{name}.npy"])
    return decoded(stored, said.dtype).reshape(said.shape)


def _graph(tape: _Tape, calls: list[dict[str, Any]], values: dict[str, Value]) -> Graph:
    nodes: list[Node] = []
    for number, call in enumerate(tape.calls):
        if call.name == "grad":  # which is read, and was made by what no hook hears
            continue
        place, inside = tape.sites[call.program], tape.sites[call.site]
        given = [*call.operands, *call.keywords.values()]
        taken = given[overwrites(call.name) :]
        operands = [values[name] for name in _values_in(taken)]
        results = [values[name] for name in call.results if name]
        written = [(values[first], values[then]) for first, then in call.written]
        before = [first for first, _ in written]
        own = Node(number, call.name, call.operation, place, inside, operands, results)
        own.scalars, own.framework = tuple(_numbers_in(given)), call.framework
        own.options = {k: _plain(x) for k, x in call.keywords.items() if _is_plain(x)}
        own.for_shapes, own.frames = call.for_shapes, frozenset(call.frames)
        own.positional = tuple(_plain(x) for x in call.operands[1:] if _is_plain(x))
        own.replaced = written
        steps = _steps(own, calls[number], values)
        if steps:
            own.operands = [*steps[-1].results, *before]
        for node in (*steps, own):
            nodes.append(node)
            for x in node.operands:
                x.readers.append(node)
            for x in node.results:
                again = x.maker is not None and x.maker.for_shapes and not node.for_shapes
                if again or (x.maker is None and not (x.readers and x in node.operands)):
                    x.maker = node
    unkept = sum(not x.kept for x in tape.values.values())
    unread = tape.unread.total() + unkept
    why = [*tape.unread, *["more than is kept"] * bool(unkept)]
    frameworks = dict.fromkeys(call.framework for call in tape.calls)
    return Graph(nodes, values, calls, " and ".join(frameworks), unread, why, tape.left)


def overwrites(name: str) -> bool:
    """Whether a call fills its first operand and looks at none of its numbers.

    They may be what the memory held before.
    """
    return name in _FILLED or bool(name.endswith("_") and DRAWS.search(name))


_FILLED = frozenset({"copy_", "zero_", "fill_", "set_value"})
OVERWRITE = _FILLED | {"data"}  # which is read, too
DRAWS = re.compile(
    r"(rand|normal|uniform|bernoulli_|multinomial|truncated|kaiming|xavier|glorot|lecun|orthogonal_"
    r"|trunc_normal|create_parameter|gumbel|exponential_|random\.|gaussian)"
)


def _is_plain(x: Any) -> bool:
    return x.keys() == {"number"} if isinstance(x, dict) else not isinstance(x, list)


def _plain(x: Any) -> Any:
    """A number, a bool or a word, of an argument as a tape has it."""
    return float(x["number"]) if isinstance(x, dict) else x


_numbers = count()


def _steps(own: Node, call: dict[str, Any], values: dict[str, Value]) -> list[Node]:
    """The steps of a call, if its result is what they come to."""
    real = _Wide(values)
    made: dict[str, Value] = {}

    def value_of(x: Any) -> Value:
        if isinstance(x, Step):
            return made[x.name]
        return next(value for value in own.operands if value.wide is x)

    nodes: list[Node] = []
    given = own.results[0].dtype if own.results else ""
    try:
        for step in _quietly(steps_of(call, real)):
            name = f"step {next(_numbers)}"  # which no value of the other run has
            made[step.name] = Value(name, "", step.value.shape, step.value, within=given)
            operands = [value_of(x) for x in step.operands]
            node = Node(own.number, own.name, step.operation, own.place, own.inside, operands, [])
            node.results, node.scalars, node.step = [made[step.name]], step.scalars, step.name
            node.framework, node.for_shapes = own.framework, own.for_shapes
            made[step.name].maker = node
            nodes.append(node)
    except (KeyError, ValueError, TypeError, IndexError, AttributeError, StopIteration):
        return []  # its arguments are none that are known
    except AssertionError:
        return []  # a value was not kept
    if not nodes or not own.results or own.results[0].array is None:
        return []
    last, result = nodes[-1].results[0], own.results[0]
    fits = last.size == result.size and distance(last, result) < 0.05
    return nodes if fits else []


def _quietly(steps: Iterator[Step]) -> Iterator[Step]:
    with np.errstate(all="ignore"):  # of numbers that are not finite
        yield from steps


class _Wide(dict[str, Any]):
    """The numbers of values by their names, as they are asked for."""

    def __init__(self, values: dict[str, Value]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        return self._values[name].wide


def distance(a: Value, b: Value) -> float:
    """Return how far two values of a size are apart whatever their layouts, relative to them.

    It is no more than the distance of the elements in whatever order, so that what it shows is a
    difference in all of them.
    """
    if a.array is None or b.array is None:
        return float("inf")
    if a.name == b.name:
        return 0.0
    with np.errstate(all="ignore"):
        first, second = a.ordered, b.ordered
        if first.size != second.size:
            return float("inf")
        same = (first == second) | (np.isnan(first) & np.isnan(second))
        if same.all():
            return 0.0
        apart = np.where(same, 0.0, first - second)
        scale = max(a.norm, b.norm)
        found = float(np.sqrt(np.square(apart).sum()))
    return found / scale if scale and np.isfinite(found) else float("inf")


def in_layout(theirs: Value, mine: Value) -> Array | None:
    """Return the first's values in the layout of the second's; None if none has the shape."""
    assert theirs.array is not None
    assert mine.array is not None
    found, least = None, math.inf
    rank = len(theirs.shape)
    every = permutations(range(rank)) if rank == len(mine.shape) and rank < 6 else ()
    for layout in every:
        turned = theirs.array.transpose(layout)
        if turned.shape == mine.shape:
            with np.errstate(all="ignore"):
                apart = float(np.nansum(np.abs(theirs.wide.transpose(layout) - mine.wide)))
            if apart < least:
                found, least = turned, apart
    if found is None and theirs.size == mine.size:
        found = theirs.array.reshape(mine.shape)
    return found


def largest(theirs: Value, mine: Value) -> tuple[float, float] | None:
    """Return the largest difference in units in the last place of the largest value, and to it."""
    if theirs.array is None or mine.array is None or theirs.size != mine.size:
        return None
    moved = in_layout(theirs, mine)
    if moved is None:
        return None
    with np.errstate(all="ignore"):
        a = moved.astype(np.float64 if moved.dtype.kind != "c" else np.complex128)
        apart = np.abs(a - mine.wide)
        if (np.isfinite(a) != np.isfinite(mine.wide)).any():
            return math.inf, math.inf
        apart = apart[np.isfinite(apart)]
        scale = np.abs(a[np.isfinite(a)])
    most = float(scale.max()) if scale.size else 0.0
    if not apart.size or not most:
        return None
    dtype = BY_NAME[mine.dtype or theirs.dtype or "float32"]
    digits = dtype.format.mantissa if dtype.kind in INEXACT and dtype.format else 0
    unit = 2.0 ** (math.floor(math.log2(most)) - digits)
    return float(apart.max()) / unit, float(apart.max()) / most


def _values_in(x: Any) -> Iterator[str]:
    if isinstance(x, dict):
        if "named" in x:
            yield from _values_in([*x["named"].values()])
        elif x.get("value"):
            yield x["value"]
    elif isinstance(x, list):
        for each in x:
            yield from _values_in(each)


def _numbers_in(given: list[Any]) -> Iterator[float]:
    for x in given:
        if isinstance(x, dict) and x.keys() == {"number"}:
            yield float(x["number"])
        elif type(x) in (int, float):
            yield float(x)
