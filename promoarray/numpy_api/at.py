"""``np.add.at(x, index, y)``: an operation in place, once for every time that an index is there.

``x[index] += y`` takes an element that is named twice once. Here the places are gone through in
rounds, of which each takes every element once at most, in the order in which NumPy takes them; a
round is ``x[places] += y`` under the policy.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np

from promoarray.core.dispatch import apply
from promoarray.core.move import moved
from promoarray.core.operands import as_operand
from promoarray.errors import kind_of
from promoarray.numpy_api.refusals import no_ufunc
from promoarray.operations import OPERATIONS, Form
from promoarray.parray import PArray


def answer(ufunc: np.ufunc, name: str | None, inputs: tuple[Any, ...]) -> None:
    """Run ``ufunc.at`` on the array, the index, and the second operand of a ufunc of two; ``name``
    is of the operation, if there is one.

    Raises TypeError if the array is none of ours, or the operation is not done in place.
    """
    target, index, *rest = inputs
    row = OPERATIONS.get(name or "")
    if row is None or row.arity != 1 + len(rest) or row.name in ("matmul", "vecdot"):
        raise no_ufunc(ufunc, "at")
    if not isinstance(target, PArray):
        raise TypeError(
            f"np.{ufunc.__name__}.at writes into a PArray, not into {kind_of(target)}: that is "
            "outside the policy. Write np.asarray(...) around the others to leave it on purpose"
        )
    for each in rest:
        if as_operand(each) is NotImplemented:
            raise TypeError(
                f"np.{ufunc.__name__}.at takes arrays and Python scalars, not {kind_of(each)}; "
                "write pa.asarray(...) around it first"
            )
    spots = np.arange(target.size).reshape(target.shape)[_numpys(index)]
    values = [_spread(as_operand(each), spots.shape) for each in rest]
    form = Form.INPLACE if row.symbol and rest else Form.FUNCTION
    flat = moved("reshape", copy(target), (-1,))  # so that an error leaves the array as it was
    for turn in _rounds(spots.reshape(-1)):
        places = spots.reshape(-1)[turn]
        taken = (x[turn] if isinstance(x, PArray) and x.ndim else x for x in values)
        flat[places] = apply(row.name, flat[places], *taken, form=form)
    target[...] = moved("reshape", flat, target.shape)


def _numpys(index: Any) -> Any:
    """An index whose arrays are NumPy's."""
    if isinstance(index, tuple):
        return tuple(map(_numpys, index))
    return np.asarray(index) if isinstance(index, PArray) else index


def _spread(x: Any, shape: tuple[int, ...]) -> Any:
    """An operand with an element for each place, on one axis; a number as it is."""
    if not isinstance(x, PArray) or not x.ndim:
        return x
    return moved("reshape", moved("broadcast_to", x, shape), (-1,))


def _rounds(places: np.ndarray[Any, Any]) -> Iterator[np.ndarray[Any, Any]]:
    """Which entries are the first of their place, the second, and so on."""
    order = np.argsort(places, kind="stable")
    ordered = places[order]
    first = np.flatnonzero(np.diff(ordered, prepend=-1))
    counts = np.diff(first, append=ordered.size)
    turn = np.arange(ordered.size) - np.repeat(first, counts)
    by_turn = order[np.argsort(turn, kind="stable")]
    for part in np.split(by_turn, np.cumsum(np.bincount(turn))[:-1]):
        yield np.sort(part)
