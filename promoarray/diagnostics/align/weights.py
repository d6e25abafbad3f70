"""Initial weights and inputs that a program draws: which of one run stands for which of another."""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from promoarray.diagnostics.align.graph import DRAWS, OVERWRITE, Graph, Node, Value
from promoarray.diagnostics.exit_codes import UsageError
from promoarray.diagnostics.record.tape import Array

_SCALES = frozenset({"add", "subtract", "multiply", "divide", "negative", "clip", "sqrt"})
CASTS = frozenset({"astype", "to", "cast", "float", "half", "bfloat16", "lax.convert_element_type"})
_LAYOUTS = (
    (),
    (0,),
    (0, 1),
    (1, 0),
    (0, 1, 2),
    (2, 1, 0),
    (0, 1, 2, 3),
    (2, 3, 1, 0),
    (3, 2, 0, 1),
)
"""Layouts that are looked for first: (out, in) and (in, out), OIHW and HWIO."""


class Packed(NamedTuple):
    """Arrays of several weights side by side, as of queries, keys and values."""

    first: bool  # of which program
    shape: tuple[int, ...]
    axis: int
    parts: int


@dataclass(frozen=True)
class Copied:
    """A weight of the first run that the second goes on with."""

    first: Value
    second: Value
    names: tuple[str, str]  # the lines at which they were drawn
    layout: tuple[int, ...]  # the axes of the first, in the order of the second's
    alike: bool = False  # others of the shape are used alike: the order of use alone tells them
    doubt: bool = False  # it is square, and its own use alone tells the layout
    packed: Packed | None = None  # where one of the two is a part of the other's

    @property
    def values(self) -> Array:
        """What the second goes on with."""
        assert self.first.array is not None
        found: Array = self.first.array.transpose(self.layout)
        return found

    @property
    def turned(self) -> bool:
        """Whether the layouts differ."""
        return self.layout != tuple(range(len(self.layout)))


def drawn(graph: Graph) -> dict[str, Value]:
    """Return the drawn values that a run computes with, by the lines that drew (@: read) them.

    What a drawn array is scaled, shifted and cast by, before it meets another, belongs to it. Of
    JAX, which draws in compiled functions too, what no call made and a product takes is drawn.
    """
    random: dict[Value, Node] = {}
    found: dict[Value, Node] = {}
    for node in graph.nodes:
        arrays = [x for x in node.operands if x.inexact]
        for x, after in node.replaced:
            if x in random and x not in arrays:  # written by a view of it
                random[after] = random[x]
                if all(each.name in ("__getitem__", "data") for each in x.readers):
                    found.pop(x, None)
        if DRAWS.search(node.name) and not any(x in found for x in arrays):
            random.update((x, node) for x in node.results if x.inexact)
            continue
        if node.name.endswith("_like") or node.name.startswith("new") or node.name in OVERWRITE:
            continue  # which looks at no value
        if not node.step and not any(x in found for x in arrays) and _goes_on(node):
            if arrays and all(x in random for x in arrays):
                random.update((x, random[arrays[0]]) for x in node.results if x not in random)
            continue
        takes = node.framework == "jax" and (_is_product(node) or node.name == "take")
        if node.framework == "onnx":
            arrays, takes = [x for x in arrays if x.size > 1], True
        for x in (_before_turned(x) if takes else x for x in arrays):
            if x.says and (x in random or (takes and x.maker is None)):
                found.setdefault(x, random.get(x, node))
    counts = Counter[str]()
    named: dict[str, Value] = {}
    for x, node in found.items():
        line = f"{os.path.basename(node.place.file)}:{node.place.line}"
        line += "#" if x.maker is not None or x in random else "@"
        named[f"{line}{counts[line]}"] = x
        counts[line] += 1
    return named


def overwritten(graph: Graph) -> set[Node]:
    """Return the calls that make or draw what the run does not compute with."""
    used = {*drawn(graph).values()}

    def is_idle(node: Node) -> bool:
        made = [x for x in node.results if x.maker is node]
        if node.name.endswith("_") and node.results and not node.results[0].readers:
            return True  # by a view, and read as a part of its base
        readers = [each for x in made for each in x.readers if each is not node]
        over = all(each.name in OVERWRITE or DRAWS.search(each.name) for each in readers)
        return bool(readers and over) or (
            bool(DRAWS.search(node.name)) and not used.intersection(node.results)
        )

    return {*filter(is_idle, graph.nodes)}


def _before_turned(x: Value) -> Value:
    turned = x.maker is not None and x.maker.name.rpartition(".")[2] in _TURNS
    return x.maker.operands[0] if turned and x.maker and x.maker.operands else x


def _goes_on(node: Node) -> bool:
    """Whether a call makes one array of another and of numbers alone."""
    arrays = [x for x in node.operands if x.array is not None]
    alone = len({*arrays}) == 1
    return alone and (node.operation in _SCALES or node.name.rpartition(".")[2] in CASTS)


def proposed(
    first: Graph, second: Graph, asked: dict[str, str]
) -> tuple[list[Copied], list[str], list[dict[str, Array]]]:
    """Return what the second run goes on with, and the names of what has no counterpart.

    Where one program begins with a constant, such as a bias of zeros, and the other draws, both
    begin with the constant: this is told of each.

    Raises
    ------
    UsageError
        If what is asked for is not there, or has another shape.
    """
    if "onnx" in (first.framework, second.framework) and _is_of_one_run(first, second):
        return [], [], [{}, {}]  # some weights of a file may be folded into others
    theirs, mine = (
        {name: x for name, x in drawn(graph).items() if (x.size, x.norm) not in known}
        for graph, known in ((first, _known(second)), (second, _known(first)))
    )
    left, copied, alone = dict(theirs), list[Copied](), list[str]()
    level: list[dict[str, Array]] = [{}, {}]
    fixed = _constants(first), _constants(second)
    used = _uses(first), _uses(second)
    bent = [{x: _is_bent(x) for x in some.values()} for some in (theirs, mine)]
    habits = _habit(theirs.values()), _habit(mine.values())
    usual = dict(_usual([*theirs.values()], [*mine.values()]))
    for name, other in asked.items():
        if name not in mine or other not in theirs:
            known = ", ".join([*mine] if name not in mine else [*theirs])
            raise UsageError(f"--weights: no {name if name not in mine else other}; write {known}")
        left.pop(other, None)

    def stands_alone(each: tuple[str, Value]) -> bool:
        """Whether the first has no weight that is used as one of the second is."""
        return not any(
            used[0][y] == used[1][each[1]] and next(_layouts(y, each[1], None), None) is not None
            for y in theirs.values()
        )

    for name, x in sorted(mine.items(), key=stands_alone):
        if name in asked:
            pair = [asked[name]]
        else:
            pair = [n for n, y in left.items() if next(_layouts(y, x, None), None) is not None]
            pair.sort(
                key=lambda n: (
                    used[0][theirs[n]] != used[1][x],
                    bent[0][theirs[n]] != bent[1][x],
                    not _fits(theirs[n], x, usual),
                )
            )
        if not pair:
            if x.shape in fixed[0]:
                level[1][x.name] = fixed[0][x.shape]
            else:
                alone.append(name)
            continue
        y = theirs[pair[0]]
        ways = _ways(y, x, habits)
        layout = next(_layouts(y, x, ways), None)
        if len(x.shape) > 2 and _fits(y, x, usual):
            layout = usual[len(x.shape)]
        if layout is None:
            raise UsageError(f"--weights: {name} is {x.shape}, and {pair[0]} is {y.shape}")
        left.pop(pair[0], None)
        rivals = [
            each for each in _alike(y, theirs.values(), used[0]) if bent[0][each] == bent[0][y]
        ]
        alike = name not in asked and len(rivals) > 1
        doubt = _is_square(x) and _transposed(x) and not _transposed(y) and habits[1] is None
        copied.append(Copied(y, x, (pair[0], name), layout, alike, doubt))
    copied += _packed(left, {name: mine[name] for name in alone}, habits)
    found = {name for each in copied for name in each.names[1].split(" and ")}
    for y in left.values():
        if y.shape in fixed[1]:
            level[0][y.name] = fixed[1][y.shape]
    return copied, [name for name in alone if name not in found], level


def _usual(first: list[Value], second: list[Value]) -> Iterator[tuple[int, tuple[int, ...]]]:
    """Yield by their number of axes the layout in which more weights of the first have the shapes
    of the second's than in any other."""
    for rank in {len(x.shape) for x in second}:
        wanted = Counter(x.shape for x in second)
        some = [y.shape for y in first if len(y.shape) == rank]
        layouts = {  # the likeliest of those that make the same shapes
            tuple(tuple(shape[n] for n in layout) for shape in some): layout
            for layout in reversed([*_orders(rank, None)])
        }
        found = Counter({x: (Counter(shapes) & wanted).total() for shapes, x in layouts.items()})
        (layout, most), *others = found.most_common(2)
        if not others or most > others[0][1]:
            yield rank, layout


def _fits(first: Value, second: Value, usual: Mapping[int, tuple[int, ...]]) -> bool:
    """Whether a weight has the shape of another in the layout that others have."""
    layout = usual.get(len(first.shape))
    return layout is not None and tuple(first.shape[n] for n in layout) == second.shape


def _packed(
    left: dict[str, Value], alone: dict[str, Value], habits: Sequence[bool | None]
) -> Iterator[Copied]:
    """Yield weights that one program has side by side in one array, as of queries, keys and values.

    Which is which, the order in which they are drawn tells.
    """
    for name, y in [*left.items()]:
        for x in alone.values():
            if (how := _parts(y, x, _ways(y, x, habits))) is None:
                continue
            layout, axis, count = how
            some = [n for n, each in alone.items() if each.shape == x.shape][:count]
            assert y.array is not None
            if len(some) == count:
                for n, part in enumerate(np.split(y.array, count, layout[axis])):
                    taken = Value(f"{y.name}[{n}]", y.dtype, part.shape, part)
                    names = f"{name}[{n + 1} of {count}]", some[n]
                    packed = Packed(True, y.shape, layout[axis], count)
                    yield Copied(taken, alone.pop(some[n]), names, layout, True, packed=packed)
                left.pop(name)
                break
    for name, x in [*alone.items()]:
        for y in left.values():
            if (how := _parts(x, y, _ways(x, y, habits[::-1]))) is None:
                continue
            layout, axis, count = how
            some = [n for n, each in left.items() if each.shape == y.shape][:count]
            if len(some) == count:
                parts = [left.pop(n) for n in some]
                back = tuple(layout.index(n) for n in range(len(layout)))
                whole = np.concatenate(
                    [each.array for each in parts if each.array is not None], axis
                )
                made = Value(" ".join(each.name for each in parts), y.dtype, whole.shape, whole)
                names = " and ".join(some), name
                packed = Packed(False, x.shape, layout[axis], count)
                yield Copied(made, alone.pop(name), names, back, True, packed=packed)
                break


def _parts(
    whole: Value, part: Value, ways: tuple[bool, bool] | None
) -> tuple[tuple[int, ...], int, int] | None:
    """Return the layout of a whole in which it has parts, along which axis, and how many."""
    rank = len(whole.shape)
    if whole.array is None or part.array is None or rank != len(part.shape):
        return None
    for layout in _orders(rank, ways):
        sizes = [(whole.shape[n], m) for n, m in zip(layout, part.shape, strict=True)]
        axes = [axis for axis, (n, m) in enumerate(sizes) if n != m]
        if len(axes) == 1 and not sizes[axes[0]][0] % (sizes[axes[0]][1] or 1):
            return layout, axes[0], sizes[axes[0]][0] // sizes[axes[0]][1]
    return None


def _is_of_one_run(first: Graph, second: Graph) -> bool:
    """Whether some weight of a program is in a file."""
    file, other = (first, second) if first.framework == "onnx" else (second, first)
    known = _known(other)
    return any((x.size, x.norm) in known for x in drawn(file).values() if x.maker is None)


def _known(graph: Graph) -> set[tuple[int, float]]:
    """Of all values what no layout changes: by it those are known that both runs have."""
    return {(x.size, x.norm) for x in graph.values.values() if x.array is not None and x.inexact}


def _constants(graph: Graph) -> dict[tuple[int, ...], Array]:
    """The parameters of one number alone with which a run begins, by shape; what else is made of
    one number, such as a mask, where there is no parameter of the shape."""
    found: dict[bool, dict[tuple[int, ...], Array]] = {False: {}, True: {}}
    for node in graph.nodes:
        name = node.name.rpartition(".")[2].strip("_")
        for x in node.results if name in _MAKERS else ():
            if x.array is not None and x.inexact and not x.says and x.size > 1:
                found[name == "create_parameter"][x.shape] = x.array
    return found[False] | found[True]


_MAKERS = frozenset({"create_parameter", "zeros", "ones", "full", "constant"})


def read_map(path: str | None) -> dict[str, str]:
    """Return the weights that a user names, as ``{"b.py:12#0": "a.py:30#1"}``.

    Raises
    ------
    UsageError, OSError
    """
    if path is None:
        return {}
    try:
        found = json.loads(Path(path).read_text(encoding="utf-8"))
    except ValueError as error:
        raise UsageError(f"{path} is no JSON: {error}") from error
    if not isinstance(found, dict) or not all(isinstance(x, str) for x in found.values()):
        raise UsageError(f'{path}: write {{"b.py:12#0": "a.py:30#0"}}, of the lines that draw them')
    return found


def _layouts(
    first: Value, second: Value, ways: tuple[bool, bool] | None
) -> Iterator[tuple[int, ...]]:
    """Yield the layouts in which the first has the shape of the second, the likeliest first."""
    rank = len(first.shape)
    if first.array is None or rank != len(second.shape):
        return
    for layout in _orders(rank, ways):
        if tuple(first.shape[n] for n in layout) == second.shape:
            yield layout


def _orders(rank: int, ways: tuple[bool, bool] | None) -> Iterator[tuple[int, ...]]:
    every: list[Any] = [x for x in _LAYOUTS if len(x) == rank]
    yield from every[::-1] if rank == 2 and ways and ways[0] != ways[1] else every
    yield from permutations(range(rank)) if rank < 6 else ()


# -- layouts of square weights ---------------------------------------------------------------------


def _is_square(x: Value) -> bool:
    return len(x.shape) == 2 and x.shape[0] == x.shape[1]


def _ways(first: Value, second: Value, habits: Sequence[bool | None]) -> tuple[bool, bool] | None:
    """Whether either has the outputs first, as its program uses it; None where nothing tells.

    Of a square weight of the second program its other weights tell, whose shapes have one layout
    alone: its own use may be what is wrong.
    """
    theirs, mine = _turned(first), _turned(second)
    if _is_square(second) and habits[0] in (None, theirs) and habits[1] is not None:
        mine = habits[1] if mine is not None else None
    return None if theirs is None or mine is None else (theirs, mine)


def _habit(weights: Iterable[Value]) -> bool | None:
    """Whether the weights that are not square have the outputs first; None if not all alike."""
    every = {_turned(x) for x in weights if len(x.shape) == 2 and not _is_square(x)} - {None}
    return every.pop() if len(every) == 1 else None


def _transposed(x: Value) -> bool:
    """Whether a program itself turns a matrix before it multiplies."""
    names = {node.name.rpartition(".")[2] for node in x.readers}
    return bool(names & _TURNS)


_TURNS = frozenset({"T", "t", "transpose", "swapaxes", "mT", "permute"})


# -- the places at which weights are used ----------------------------------------------------------

Use = tuple[tuple[int, int], ...]


def _uses(graph: Graph) -> dict[Value, Use]:
    """Return the first products that a drawn value goes into, and those of what comes of them.

    Of each the operand that it is, and how many products come before it: what a query is and what
    a key is, whatever the order in which they are computed.
    """
    depth: dict[Value, int] = {}
    first: dict[Value, tuple[Node, int]] = {}
    for node in graph.nodes:
        depths = [depth.get(x, 0) for x in node.operands]
        for x in node.results:
            depth.setdefault(x, max(depths, default=0) + _is_product(node))
    for node in reversed(graph.nodes):
        after = [first[x] for x in node.results if x in first and x.maker is node]
        for place, x in enumerate(node.operands):
            if _is_product(node):
                first[x] = node, place
            elif after and (x not in first or first[x][0].number > after[0][0].number):
                first[x] = min(after, key=lambda each: each[0].number)

    def use(x: Value, left: int) -> Use:
        if x not in first or not left:
            return ()
        node, place = first[x]
        result = node.results[0]
        return (place, depth[result]), *use(result, left - 1)

    return {x: use(x, 2) for x in drawn(graph).values()}


def _is_bent(x: Value) -> bool:
    """Whether an activation stands between the product of a weight and the next: of the two
    branches of a gated layer it does in one."""
    product = next(filter(_is_product, x.readers), None)
    behind = [*product.results] if product is not None else []
    for each in behind:
        for node in each.readers:
            if _BENDS.search(node.name):
                return True
            if not _is_product(node) and len(behind) < _NEAR:
                behind += [y for y in node.results if y not in behind]
    return False


_BENDS = re.compile(r"(sigmoid|silu|swish|gelu|relu|tanh|elu|mish|softplus|logistic|erf|\bexp)")
_NEAR = 20


def _is_product(node: Node) -> bool:
    name = node.name.rpartition(".")[2].lower()  # of ONNX, too
    known = node.operation == "matmul" or re.match(r"(depthwise_)?conv|einsum|bmm|matmul|dot", name)
    return bool(known) and len([x for x in node.operands if x.inexact]) > 1


def _alike(x: Value, weights: Iterable[Value], used: Mapping[Value, Use]) -> list[Value]:
    """The weights of a shape that are used at the same place."""
    return [y for y in weights if y.shape == x.shape and used[y] == used[x]]


def _turned(x: Value) -> bool | None:
    """Whether a matrix has the outputs first; None where nothing tells."""
    for node in x.readers:
        name = node.name.rpartition(".")[2]
        at = next((n for n, y in enumerate(node.operands) if y is x), -1)
        if name in ("linear", "multi_head_attention_forward") and at == 1:
            return node.framework == "torch"
        if (node.operation == "matmul" or name == "dot_general") and at == 1:
            return False
        if name in _TURNS:
            later = [_turned(y) for y in node.results]
            return None if later[:1] in ([], [None]) else not later[0]
    return None
