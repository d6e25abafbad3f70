"""Search of the first departure: options such as eps, values, functions."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator

import numpy as np

from promoarray.diagnostics.align.casts import FAR, of_cast_alone, of_casts, of_dtypes
from promoarray.diagnostics.align.departure import (
    DTYPE,
    OPTION,
    OUTSIDE,
    VALUES,
    Departure,
    shape_of,
    text_of,
)
from promoarray.diagnostics.align.graph import Node, Value, distance, in_layout
from promoarray.diagnostics.align.options import differing, last
from promoarray.diagnostics.align.pairing import DEPARTS, STEP, Pairing, made_of_numbers
from promoarray.diagnostics.record.tape import Array


def find(pairing: Pairing, made: Collection[tuple[int, int]] = ()) -> Departure | None:
    """Return the first departure of a pairing; None if there is none.

    Parameters
    ----------
    pairing : Pairing
    made : collection of tuple
        Results of the second run that are the first's already, by call and place: of their calls
        no option is told again.
    """
    known = {number for number, _ in made}
    every = [*_of_options(pairing), *of_dtypes(pairing), *of_casts(pairing)]
    every += [*of_cast_alone(pairing), *_of_values(pairing), *_of_functions(pairing)]
    every = [x for x in every if x.kind != OPTION or x.second.number not in known]
    every = [x for x in every if not x.second.for_shapes]
    return min(every, key=lambda each: (each.second.number, _ORDER[each.kind]), default=None)


_ORDER = {DTYPE: 0, OPTION: 1, VALUES: 2, OUTSIDE: 3}


def _of_options(pairing: Pairing) -> Iterator[Departure]:
    """Another eps, which values alone may not show."""
    for node in pairing.second.nodes:
        if node.operation != "add" or len(node.scalars) != 1 or not 0 < node.scalars[0] < 0.02:
            continue
        roots = [pairing.pairs[x] for x in node.operands if x in pairing.pairs]
        others = [
            each
            for y in roots
            for same in pairing.kin(y)
            for each in same.readers
            if each.operation == "add" and len(each.scalars) == 1 and 0 < each.scalars[0] < 0.02
        ]
        if others and not any(math.isclose(x.scalars[0], node.scalars[0]) for x in others):
            theirs = others[0].scalars[0]
            cause = f"another number: the first adds {theirs:g}, the second {node.scalars[0]:g}"
            found = Departure(OPTION, others[0], node, cause)
            found.theirs, found.mine = others[0].results[0], node.results[0]
            found.numbers = theirs, node.scalars[0]
            yield found


def _of_functions(pairing: Pairing) -> Iterator[Departure]:
    """One function of the same operands, with another option, or that gives other values.

    The option is told where the values are too near to show it, and the values where what comes
    of them is paired again, as a small part of a sum.
    """
    for node in pairing.second.nodes:
        given = [x for x in node.operands if x.inexact]
        if node.step or not given or given[0] not in pairing.pairs or not node.results:
            continue
        mine = node.results[0]
        kin = pairing.kin(pairing.pairs[given[0]])
        for other in (each for y in kin for each in y.readers):
            theirs = other.results[0] if other.results else None
            if other.step or theirs is None or last(other) != last(node):
                continue
            if theirs.size != mine.size or not _same_operands(node, other, pairing):
                continue
            both = mine in pairing.pairs and theirs in pairing.kin(pairing.pairs[mine])
            alone = mine not in pairing.pairs and not pairing.is_paired(theirs)
            options = [*differing(other, node)]
            if (both or alone) and options:
                said = "; ".join(
                    f"{k} is {x} in the first, {y} in the second" for k, x, y in options
                )
                cause = f"another option of {last(node)}: {said}"
                yield Departure(OPTION, other, node, cause, theirs, mine)
            elif alone and mine.maker is node and mine.size == given[0].size and _tells(node):
                cause, _ = _cause(other, node, theirs, mine)
                yield Departure(VALUES, other, node, cause, theirs, mine)
            else:
                continue
            break


def _same_operands(second: Node, first: Node, pairing: Pairing) -> bool:
    theirs, mine = ([x for x in node.operands if x.inexact] for node in (first, second))
    return len(theirs) == len(mine) and all(
        x in pairing.pairs and y in pairing.kin(pairing.pairs[x])
        for x, y in zip(mine, theirs, strict=True)
    )


def _tells(node: Node) -> bool:
    """Whether a function is none that others make again of other numbers: arithmetic, layouts."""
    return node.operation in _TELLS or (not node.operation and last(node) in _ACTIVATIONS)


_TELLS = frozenset({"exp", "log", "tanh", "sqrt", "sigmoid", "erf", "rsqrt", "log1p", "expm1"})
_ACTIVATIONS = frozenset(("gelu", "silu", "swish", "elu", "celu", "selu", "mish", "softplus"))


# -- values ----------------------------------------------------------------------------------------


def _of_values(pairing: Pairing) -> Iterator[Departure]:
    others, alone = [*pairing.frontier(pairing.first)], list[Node]()
    for node in pairing.frontier(pairing.second):
        shared = [(pairing.common(node, each), each) for each in others]
        most = max((count for count, _ in shared), default=0)
        if not most and not node.operation:
            shared = [(pairing.common(node, each, steps=True), each) for each in others]
            most = max((count for count, _ in shared), default=0)
        if not most and node.operation:  # what comes of it there is paired in part
            some = (each for each in pairing.unpaired() if each.operation == node.operation)
            shared = [(pairing.common(node, each), each) for each in some]
            most = max((count for count, _ in shared), default=0)
        if not most:  # the first program has nothing there
            if made_of_numbers(node):  # a mask, say: what is wrong with it, its use shows
                pairing.state.update((x, STEP) for x in pairing.departing(node))
            else:
                alone.append(node)
            continue
        near = [each for count, each in shared if count == most]
        mine, *_ = pairing.departing(node)
        near.sort(key=lambda each: _unlike(each, node, mine, pairing))
        if any(_is_scaled_next(_nearest(each, mine, pairing), mine) for each in near):
            pairing.state[mine] = STEP
            continue
        first = next((each for each in near if _explains(each, node, mine, pairing)), near[0])
        theirs = _nearest(first, mine, pairing)
        kept = node.replaced and not (node.operation or first.replaced)
        if kept or mine is not node.results[0]:  # an update, or a running average
            theirs = _further(theirs, mine, pairing)
            first = theirs.maker or first
        if less := _step_less(first, node, pairing):
            yield less
            return
        if more := _step_more(first, node, mine, pairing):
            yield more
            return
        cause, numbers = _cause(first, node, theirs, mine)
        same = theirs.size == mine.size
        given = (theirs, mine) if same else (None, None)
        found = Departure(VALUES, first, node, cause, *given)
        found.numbers = numbers
        yield found
        return
    for found in _outside(pairing):
        yield next((x for node in alone for x in _alone(node, others, pairing)), found)


def _alone(node: Node, others: list[Node], pairing: Pairing) -> Iterator[Departure]:
    """A call that the first program has nothing for, if what comes of it stands beside another."""
    behind = [node]
    for each in behind:
        near = next((x for x in others if each is not node and pairing.common(each, x)), None)
        if near is not None:
            cause = f"the first program has no {node.said} there, but {near.said}"
            yield Departure(VALUES, near, node, cause, None, node.results[0])
            return
        later = {n: None for x in pairing.departing(each) for n in x.readers}
        behind += [n for n in later if n not in behind and len(behind) < FAR]


def _nearest(first: Node, mine: Value, pairing: Pairing) -> Value:
    return min(
        pairing.departing(first) or first.results[:1],
        key=lambda y: (y.size != mine.size, distance(y, mine) if y.size == mine.size else 0),
    )


def _further(theirs: Value, mine: Value, pairing: Pairing) -> Value:
    """Return what comes of a value of the first that is nearest to what one call makes at once."""
    behind = [theirs]
    for x in behind:  # which grows
        for y in (y for node in x.readers for y in pairing.departing(node)):
            if y.size == mine.size and y not in behind and len(behind) < FAR:
                behind.append(y)
    return min(behind, key=lambda x: distance(x, mine) if x.size == mine.size else math.inf)


def _is_scaled_next(theirs: Value, mine: Value) -> bool:
    """Whether a value is a multiple of the first's, by which it is divided at once: a sum, say."""
    ratio = abs(_ratio(theirs, mine)) if theirs.size == mine.size and mine.readers else 0.0
    numbers = [[abs(x) for x in node.scalars if x] for node in mine.readers]
    return bool(ratio) and all(
        any(math.isclose(n, ratio, rel_tol=1e-4) for x in some for n in (x, 1 / x))
        for some in numbers
    )


def _explains(first: Node, second: Node, mine: Value, pairing: Pairing) -> bool:
    """Whether the cause is more than another function."""
    if first.operation == second.operation:
        return False  # which are nearest already
    return bool(_whole(first, second) or _other_axis(second, _nearest(first, mine, pairing)))


def _unlike(first: Node, second: Node, mine: Value, pairing: Pairing) -> tuple[bool, bool, float]:
    """How little a node of the first program is what one of the second is."""
    other = not first.operation or first.operation != second.operation
    results = pairing.departing(first) or first.results[:1]
    sizes = [x for x in results if x.size == mine.size]
    apart = min((distance(x, mine) for x in sizes), default=math.inf)
    return other, first.name != second.name, apart


def _step_less(first: Node, second: Node, pairing: Pairing) -> Departure | None:
    """A number that the first program multiplies or adds, where the second goes on without."""
    if first.operation not in _BY_NUMBER or len(first.scalars) != 1 or len(first.operands) != 1:
        return None
    mine = next((x for x in second.operands if pairing.pairs.get(x) in first.operands), None)
    if mine is None or mine.maker is None or second.operation == first.operation:
        return None
    if second.scalars and math.isclose(second.scalars[0], first.scalars[0]):
        return None  # another function of the same number
    said = f"a step less: the first has {first.said} {first.scalars[0]:g} behind it"
    found = Departure(VALUES, first, mine.maker, said, first.results[0], mine)
    place = second.place
    found.notes.append(f"the second goes on with {second.said}, {place.short}: {text_of(second)}")
    found.goes_on = second
    return found


def _step_more(first: Node, second: Node, mine: Value, pairing: Pairing) -> Departure | None:
    """A number that the second program multiplies or adds, where the first goes on without."""
    if second.operation not in _BY_NUMBER or len(second.scalars) != 1 or len(second.operands) != 1:
        return None
    theirs = pairing.pairs.get(second.operands[0])
    if theirs not in first.operands or second.operation == first.operation:
        return None
    said = f"a step more: the second has {second.said} {second.scalars[0]:g} there"
    found = Departure(VALUES, theirs.maker or first, second, said, theirs, mine)
    found.instead = None if second.step else theirs
    if theirs.maker is not None:
        place = first.place
        found.notes.append(f"the first goes on with {first.said}, {place.short}: {text_of(first)}")
    return found


_BY_NUMBER = frozenset({"add", "subtract", "multiply", "divide", "pow"})


def _outside(pairing: Pairing) -> Iterator[Departure]:
    """A gradient, or another value that no recorded call made."""
    for node in pairing.second.nodes:
        for x in node.operands:
            if x.maker is None and pairing.state.get(x) == DEPARTS:
                cause = f"{shape_of(x)} values differ that no recorded call made, as gradients are"
                yield Departure(OUTSIDE, None, node, cause, None, x)
                return


def _cause(
    first: Node, second: Node, theirs: Value, mine: Value
) -> tuple[str, tuple[float, float] | None]:
    """Say why two nodes of the same operands differ, as far as trying shows it."""
    if theirs.array is None or mine.array is None:
        return f"{first.said} and {second.said} differ", None
    if first.operation == second.operation == "matmul" and (said := _turned(second, theirs)):
        return said, None
    numbers = None
    same = first.operation == second.operation and _alike(first, second)
    if same and len(first.scalars) == len(second.scalars) == 1:
        a, b = first.scalars[0], second.scalars[0]
        if not math.isclose(a, b):
            return f"another number: {a:g} in the first, {b:g} in the second", (a, b)
    if filled := _filled(first, second, theirs, mine):
        a, b = filled
        return f"another number: {a:g} in the first, {b:g} in the second", filled
    if said := _average(first, second, theirs, mine):
        return said, None
    if said := _other_axis(second, theirs) or _whole(first, second):
        return said, numbers
    if first.operation != second.operation or first.name != second.name:
        said = f"another function: {first.said} in the first, {second.said} in the second"
    else:
        said = f"{second.said} of the same operands gives other values"
        if theirs.size != mine.size:
            said = f"{said}: {shape_of(theirs)} in the first, {shape_of(mine)} in the second"
    for key, x, y in differing(first, second):
        said += f"; {key} is {x} in the first, {y} in the second"
    if theirs.size == mine.size and (ratio := _ratio(theirs, mine)):
        said += f"; the second's is {ratio:.6g} times the first's"
    return said, numbers


def _filled(first: Node, second: Node, theirs: Value, mine: Value) -> tuple[float, float] | None:
    """Return the numbers that two nodes are given, if all that differs are these: under a mask."""
    given = [{*node.scalars} for node in (first, second)]
    moved = in_layout(theirs, mine) if all(given) and theirs.size == mine.size else None
    if moved is None or "c" in (moved.dtype.kind, mine.wide.dtype.kind):
        return None
    a, b = moved.astype(np.float64), mine.wide
    there = ~np.isclose(a, b, 1e-4, 1e-6)
    numbers = [{*x[there].tolist()} for x in (a, b)]
    if not all(len(n) == 1 and n <= some for n, some in zip(numbers, given, strict=True)):
        return None
    return numbers[0].pop(), numbers[1].pop()


def _alike(first: Node, second: Node) -> bool:
    """Whether two nodes have operands of the same numbers."""
    theirs, mine = ([x for x in node.operands if x.inexact] for node in (first, second))
    return len(theirs) == len(mine) and all(
        x.size == y.size and distance(x, y) < 1e-4 for x, y in zip(theirs, mine, strict=True)
    )


def _near(x: Array, y: Value) -> bool:
    return x.size == y.size and distance(Value("tried", "", x.shape, x), y) < 1e-5


def _turned(second: Node, theirs: Value) -> str:
    if len(second.operands) < 2:
        return ""
    a, b = (x.wide for x in second.operands[:2])
    for word, left, right in (("second", a, b.swapaxes(-1, -2)), ("first", a.swapaxes(-1, -2), b)):
        if left.ndim > 1 and right.ndim > 1 and left.shape[-1] == right.shape[-2]:
            try:
                if _near(np.matmul(left, right), theirs):
                    return f"transposed: with the {word} operand turned it is the first program's"
            except ValueError:
                continue
    return ""


_REDUCTIONS = ("mean", "sum", "max", "min", "prod", "var", "std")


def _other_axis(second: Node, theirs: Value) -> str:
    name = second.operation
    if name not in _REDUCTIONS or not second.operands:
        return ""
    x = second.operands[0].wide
    for axis in (None, *range(x.ndim)):
        if _near(np.asarray(getattr(np, name)(x, axis=axis)), theirs):
            where = "all axes" if axis is None else f"axis {axis}"
            return f"another axis: the {name} over {where} is the first program's"
    return ""


def _whole(first: Node, second: Node) -> str:
    theirs, mine = first.results[0], second.results[0]
    if theirs.size != mine.size or {first.operation, second.operation} == {"divide"}:
        return ""
    for a, b, words in ((theirs, mine, "the second divides"), (mine, theirs, "the first divides")):
        if _near(np.floor(a.wide), b) and not _near(a.wide, b):
            return f"integer division: {words} and rounds down"
    return ""


def _average(first: Node, second: Node, theirs: Value, mine: Value) -> str:
    """Say by how much the part differs that two running averages or updates add, if they are such.

    An update adds to what it is given as it is: that of an optimizer, with its learning rate.
    """
    old = [x for x in second.operands if x.shape == mine.shape and x.size > 1]
    shares = {s for node in (first, second) for s in node.scalars if 0 < s < 1}
    moved = in_layout(theirs, mine) if old and theirs.size == mine.size else None
    if moved is None:
        return ""
    for before in old:
        for share in (*sorted({*shares, *(1 - s for s in shares)}), 1.0):
            a, b = (x - share * before.wide for x in (moved.astype(np.float64), mine.wide))
            ratio = float(np.median(a / b)) if b.all() else 0.0
            unit = np.abs(before.wide).max() * 2.0**-22
            close = np.allclose(a, b * ratio, rtol=min(abs(ratio - 1) / 20, 1e-2), atol=unit)
            if not ratio or not close or abs(ratio - 1) < 1e-5 or np.abs(a).max() < 16 * unit:
                continue
            if share == 1.0 or not before.wide.any():
                return f"what is added there is {ratio:.6g} times as much in the first"
            count = max((x.size for x in second.operands), default=0) // mine.size
            said = f"what the running average takes in is {ratio:.6g} times as much in the first"
            if count > 1 and abs(ratio ** (1 if ratio > 1 else -1) - count / (count - 1)) < 1e-4:
                which = "first" if ratio > 1 else "second"
                return f"{said}: the {which} divides the variance by {count} - 1, the other not"
            return said
    return ""


def _ratio(theirs: Value, mine: Value) -> float:
    """By how much one is the other; 0 if by no number."""
    a, b = theirs.ordered, mine.ordered
    at = int(np.argmax(np.abs(a)))
    with np.errstate(all="ignore"):
        if not a.size or not a[at] or not np.isfinite(b / a[at]).all():
            return 0.0
        ratio = float(b[at] / a[at])
        return ratio if np.allclose(a * ratio, b, rtol=1e-4, atol=1e-6 * abs(b[at])) else 0.0
