"""Departures in dtypes: casts and promotions that one of two programs has."""

from __future__ import annotations

from collections.abc import Iterator

from promoarray.diagnostics.align.departure import DTYPE, Departure
from promoarray.diagnostics.align.graph import Graph, Node
from promoarray.diagnostics.align.pairing import DEPARTS, STEP, Pairing
from promoarray.diagnostics.align.weights import CASTS
from promoarray.dtypes import BY_NAME

FAR = 60
"""More values than these behind one are not followed."""


def of_dtypes(pairing: Pairing) -> Iterator[Departure]:
    """Casts and promotions of the second program to dtypes that the first does not have there."""
    for node in pairing.second.nodes:
        if node.step or node.framework == "onnx":  # of which every dtype is told
            continue
        known = [(x, pairing.pairs[x]) for x in node.operands if x in pairing.pairs]
        if any(x.dtype and y.dtype and x.dtype != y.dtype and x.inexact for x, y in known):
            continue  # it follows from an earlier one
        for x in node.results:
            y = pairing.pairs.get(x)
            if y is None or x.maker is not node or not x.dtype or not x.inexact:
                continue
            theirs = y.dtype or y.within
            if theirs in (x.dtype, "") or not y.inexact or y.maker is None:
                continue
            cast = _is_cast(node)
            if (cast or not y.dtype) and _digits(x.dtype) > _digits(theirs):
                continue  # the other may do so inside a function
            given = [each for each in node.operands if each.inexact]
            mixed = " and ".join(dict.fromkeys(each.dtype for each in given))
            how = "a cast" if cast else f"promotion: {mixed} give {x.dtype}"
            if not cast and not any(each.dtype != given[0].dtype for each in given):
                how = f"{node.said} gives {x.dtype}"
            cause = f"{how}; the first program has {theirs} there"
            yield Departure(DTYPE, y.maker, node, cause, y, x)
            break


def of_casts(pairing: Pairing) -> Iterator[Departure]:
    """A cast of the first program to fewer digits, where the second goes on with all of them."""
    for node in pairing.first.nodes:
        if not (_is_cast(node) and node.operands and node.results):
            continue
        given, made = node.operands[0], node.results[0]
        if not (given.inexact and made.inexact) or _digits(made.dtype) >= _digits(given.dtype):
            continue
        after = [y for each in made.readers for y in each.results if y.inexact]
        for y in after:  # which grows: it may be cast back
            if y.maker and _is_cast(y.maker) and len(after) < FAR:
                after += [z for each in y.readers for z in each.results if z not in after]
        for x in pairing.of_second(given):
            goes_on = [z for y in after for z in pairing.of_second(y)]
            as_it_is = any(z is x or (z.maker and x in z.maker.operands) for z in goes_on)
            if x.maker and x.dtype == given.dtype and as_it_is:
                cause = f"the first program casts to {made.dtype} there, the second goes on"
                yield Departure(DTYPE, node, x.maker, f"{cause} in {x.dtype}", made, x)


def of_cast_alone(pairing: Pairing) -> Iterator[Departure]:
    """The first cast of either program to fewer digits than anything of the other has.

    Around it rounding explains so much that other departures hide.
    """
    first, second = pairing.first, pairing.second
    for node in _narrow_casts(second, first, pairing):
        made = node.results[0]
        cause = f"a cast; the first program has nothing of {made.dtype}"
        yield Departure(DTYPE, None, node, cause, mine=made)
        break
    for node in _narrow_casts(first, second, pairing):
        left, seen = [*node.results], {*node.results}
        for x in left:  # which grows
            behind = next((y.maker for y in pairing.of_second(x) if y.maker), None)
            if behind is not None:
                dtype = node.results[0].dtype
                cause = f"the first program casts to {dtype} there; the second has nothing of it"
                yield Departure(DTYPE, node, behind, cause)
                return
            new = {y: None for each in x.readers for y in each.results if y not in seen}
            left += new
            seen.update(new)


def _narrow_casts(graph: Graph, other: Graph, pairing: Pairing) -> Iterator[Node]:
    """Casts of what has no pair to fewer digits than anything of the other run has."""
    every = (x.dtype for x in other.values.values() if x.inexact and x.dtype)
    fewest = min(map(_digits, every), default=0)
    for node in graph.nodes:
        if _is_cast(node) and node.operands and node.results and node.framework != "onnx":
            given, made = node.operands[0], node.results[0]
            narrow = given.inexact and made.inexact and _digits(made.dtype) < fewest
            if narrow and made.maker is node and pairing.state.get(given) in (STEP, DEPARTS):
                yield node


def _is_cast(node: Node) -> bool:
    return not node.step and node.name.rpartition(".")[2] in CASTS


def _digits(dtype: str) -> int:
    known = BY_NAME[dtype]
    return known.format.mantissa if known.format is not None else known.bits
