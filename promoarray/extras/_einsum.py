"""Sums of products by Einstein's convention, made of the operations that a framework makes them of.

A letter is an axis; letters are lists of strings here, as the axes of an ellipsis have no letter.
Operands are taken from left to right: each two become one, in the order

1. axes named twice in one operand are replaced by their diagonal;
2. axes that nobody else names and the result has not are summed;
3. the two are multiplied as stacks of matrices, which sums what only these two have.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from promoarray.core.dispatch import call
from promoarray.core.move import require_taken, tell_steps
from promoarray.core.operands import as_array, policy_of
from promoarray.core.read_dtype import kept_dtype
from promoarray.errors import quoted
from promoarray.functions import xp
from promoarray.parray import AnyArray, PArray


class Named(NamedTuple):
    """An array whose axes have names."""

    array: PArray
    axes: list[str]

    def length(self, axis: str) -> int:
        return self.array.shape[self.axes.index(axis)]

    def arranged(self, *groups: list[str]) -> PArray:
        """The array with the axes in groups, each made one axis."""
        order = tuple(self.axes.index(axis) for group in groups for axis in group)
        shape = tuple(math.prod(map(self.length, group)) for group in groups)
        return xp.reshape(xp.permute_dims(self.array, order), shape)


def einsum(subscripts: str, /, *operands: AnyArray) -> PArray:
    """Multiply arrays and sum over axes, as a formula says.

    Parameters
    ----------
    subscripts : str
        A letter for each axis of each operand, ``->`` and those of the result: ``"ij,jk->ik"``.
        Axes that the result has not are summed. Without ``->`` the result has the letters that
        occur once, by the alphabet. ``...`` stands for axes that broadcast.
    *operands : array, any shape
        As many as the formula has, each with as many axes as it has letters.

    Returns
    -------
    PArray
        With the axes that the formula gives the result. Dtypes promote as in ``matmul``, and a sum
        keeps its dtype. PyTorch makes it of its other functions: integers summed without a partner
        become int64, and factors without a sum promote as in ``multiply``.

    Raises
    ------
    PromotionError
        If the policy does not multiply matrices of these dtypes.
    ValueError
        If the formula cannot be read, or does not fit the shapes.

    Examples
    --------
    >>> x = asarray([[1, 2], [3, 4]])
    >>> einsum("ij,jk->ik", x, x)
    PArray([[ 7, 10],
            [15, 22]], dtype=int64)
    >>> einsum("ii", x)
    PArray(5, dtype=int64)
    """
    arrays = [as_array(x, "einsum") for x in operands]
    policy = policy_of(*arrays)
    composed = "einsum" in policy.composed
    if arrays:
        tell_steps("einsum", *arrays) if composed else require_taken("einsum", *arrays)
    terms, result = _parsed(subscripts, [x.ndim for x in arrays])
    named = _stretched([_without_repeats(Named(*each)) for each in zip(arrays, terms, strict=True)])
    done, *rest = named
    done = _without_lone(done, _needed(rest, result), composed)
    while rest:
        other, *rest = rest
        needed = _needed(rest, result)
        other = _without_lone(other, needed | {*done.axes}, composed)
        done = _without_lone(done, needed | {*other.axes}, composed)
        done = _product(done, other, needed, composed)
        done = _without_lone(done, needed, composed)
    return xp.permute_dims(done.array, tuple(done.axes.index(axis) for axis in result))


# --- The formula ---------------------------------------------------------------------------------


def _parsed(subscripts: str, ndims: list[int]) -> tuple[list[list[str]], list[str]]:
    """The names of the axes of each operand and of the result."""
    if not isinstance(subscripts, str):
        raise TypeError(f"einsum takes a text first, such as 'ij,jk->ik', not {quoted(subscripts)}")
    text = subscripts.replace(" ", "")
    if not re.fullmatch(r"(?:[A-Za-z,]|\.\.\.)*(?:->(?:[A-Za-z]|\.\.\.)*)?", text):
        raise ValueError(f"einsum reads letters, commas, '...' and '->', not {quoted(subscripts)}")
    left, arrow, right = text.partition("->")
    terms = left.split(",")
    if len(terms) != len(ndims):
        raise ValueError(
            f"einsum: {quoted(subscripts)} has {len(terms)} terms for {len(ndims)} arrays"
        )
    names = [_axes(term, ndim) for term, ndim in zip(terms, ndims, strict=True)]
    broadcast = max(([axis for axis in axes if axis[0] == "."] for axes in names), key=len)
    every = [axis for axes in names for axis in axes]
    if arrow:
        result = _axes(right, len(right.replace("...", "")) + len(broadcast) * ("..." in right))
    else:
        once = {axis for axis in every if every.count(axis) == 1 and not axis.startswith(".")}
        result = broadcast + sorted(once)
    wrong = [axis for axis in result if axis not in every or result.count(axis) > 1]
    if wrong:
        said = "twice" if wrong[0] in every else "but no operand"
        raise ValueError(f"einsum: the result of {quoted(subscripts)} has {wrong[0]} {said}")
    return names, result


def _axes(term: str, ndim: int) -> list[str]:
    """A term's names of axes; those of an ellipsis are counted from the last."""
    before, dots, after = term.partition("...")
    count = ndim - len(before) - len(after)
    if "..." in after or count < 0 or (count and not dots):
        raise ValueError(f"einsum: {quoted(term)} does not name the axes of an array of {ndim}")
    return [*before, *(f".{n}" for n in reversed(range(count))), *after]


# --- One operand ---------------------------------------------------------------------------------


def _without_repeats(x: Named) -> Named:
    """Axes named twice, as their diagonal."""
    array, axes = x
    for axis in dict.fromkeys(axes):
        while axes.count(axis) > 1:
            first = axes.index(axis)
            second = axes.index(axis, first + 1)
            if array.shape[first] != array.shape[second]:
                raise ValueError(f"einsum: axes {axis} of shape {array.shape} differ in length")
            array = call("diagonal", xp.moveaxis(array, (first, second), (-2, -1)), offset=0)
            axes = [name for n, name in enumerate(axes) if n not in (first, second)] + [axis]
    return Named(array, axes)


def _stretched(operands: list[Named]) -> list[Named]:
    """Operands without the axes of length 1 that another has longer."""
    lengths: dict[str, int] = {}
    for x in operands:
        for axis, length in zip(x.axes, x.array.shape, strict=True):
            known = lengths.setdefault(axis, length)
            if length != known and 1 not in (length, known):
                raise ValueError(f"einsum: axis {axis} has lengths {known} and {length}")
            lengths[axis] = length if known == 1 else known
    return [_kept(x, [a for a in x.axes if x.length(a) == lengths[a]]) for x in operands]


def _kept(x: Named, axes: list[str]) -> Named:
    return Named(xp.reshape(x.array, tuple(map(x.length, axes))), axes)


def _without_lone(x: Named, needed: Iterable[str], composed: bool) -> Named:
    """An operand summed over the axes that nothing else needs."""
    lone = [axis for axis in x.axes if axis not in needed]
    if not lone:
        return x
    rest = [axis for axis in x.axes if axis in needed]
    if composed:
        return Named(xp.sum(x.array, axis=tuple(map(x.axes.index, lone))), rest)
    rows = x.arranged(rest, lone)
    unit = xp.ones(rows.shape[1], dtype=kept_dtype(rows), device=rows.device)
    shape = tuple(map(x.length, rest))
    return Named(xp.reshape(xp.matmul(rows, rows._wrap(unit._buffer, rows._type)), shape), rest)


# --- Two operands --------------------------------------------------------------------------------


def _needed(operands: Sequence[Named], result: list[str]) -> set[str]:
    return {*result, *(axis for x in operands for axis in x.axes)}


def _product(x: Named, y: Named, needed: set[str], composed: bool) -> Named:
    """The product of two operands, summed over what both have and nothing else needs."""
    both = [axis for axis in x.axes if axis in y.axes]
    stack, summed = ([a for a in both if (a in needed) is kept] for kept in (True, False))
    rows, columns = ([a for a in one.axes if a not in both] for one in (x, y))
    axes = stack + rows + columns
    lengths = [*map(x.length, stack + rows), *map(y.length, columns)]
    if composed and not summed:
        left, right = x.arranged(stack, rows, []), y.arranged(stack, [], columns)
        return Named(xp.reshape(xp.multiply(left, right), tuple(lengths)), axes)
    left, right = x.arranged(stack, rows, summed), y.arranged(stack, summed, columns)
    return Named(xp.reshape(xp.matmul(left, right), tuple(lengths)), axes)
