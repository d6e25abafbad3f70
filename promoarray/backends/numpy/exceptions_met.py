"""Floating-point exceptions that a loop of ours met, told of by NumPy.

The loop's result stands. Whether an exception is a warning, an error or nothing, and in which
words, is known to NumPy alone, so its kernels are run once more: on the elements among which each
exception was first, where they meet it too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, reduce
from operator import or_
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import kernels
from promoarray.backends.numpy import told
from promoarray.backends.numpy.loops import NUMBERS, Met, raised_by, watched

if TYPE_CHECKING:
    from typing import TypeVar

    Made = TypeVar("Made")

Buffer = np.ndarray[Any, Any]


SHORT = 1 << 12
"""Elements that are asked first of a longer part: where one of so many raises, others do."""


def tell_by_elements(
    run: Callable[[list[Buffer]], object], met: Met, result: Buffer, operands: tuple[Buffer, ...]
) -> bool:
    """Have NumPy tell of what was met; False, with nothing told, where it has to see all elements.

    Parameters
    ----------
    run : callable
        NumPy's way of the operation.
    met : tuple
        What ``kernels.combine`` answers.
    result, operands : numpy.ndarray
    """
    wanted = raised_by(met) & watched()
    spans = {(begin, end) for exception, begin, end in met if exception & wanted}
    if wanted & kernels.NOT_TOLD or 2 * sum(end - begin for begin, end in spans) > result.size:
        return False
    for length in (SHORT, result.size):
        parts = sorted({(begin, min(end, begin + length)) for begin, end in spans})
        tell = partial(run, [_among(x, result, parts) for x in operands])
        if not wanted & ~heard(tell)[1]:
            with told.at_the_program():
                tell()
            return True
    return False


def _among(x: Buffer, result: Buffer, spans: list[tuple[int, int]]) -> Buffer:
    """Those elements of an operand that a result has in these parts of its memory; of one element
    that."""
    if x.size == 1:
        return x.reshape(())
    in_memory = sorted(range(result.ndim), key=lambda axis: -abs(result.strides[axis]))
    laid = np.broadcast_to(x, result.shape).transpose(in_memory)
    walk: Any = laid.reshape(-1) if laid.flags.c_contiguous else laid.flat
    return np.concatenate([walk[begin:end] for begin, end in spans])


def tell_by_example(name: str, raised: int, computed: np.dtype[Any]) -> bool:
    """Have NumPy tell of what a sum or a running one raised, by that of a few numbers, which raises
    the same; False where there is none, or a loop could not tell the result.

    Parameters
    ----------
    name : str
        As ``kernels.fold`` has it.
    raised : int
        What that answered.
    computed : numpy.dtype
    """
    wanted = raised & watched()
    fold, numbers = _FOLDS.get(name), _RAISING.get(wanted)
    if fold is None or numbers is None or computed.kind != "f":
        return False
    tell = partial(fold, np.array(numbers, computed) * np.finfo(computed).max)
    if heard(tell)[1] != wanted:
        return False
    with told.at_the_program():
        tell()
    return True


_FOLDS: dict[str, Callable[..., object]] = {
    "sum": np.add.reduce,
    "cumulative_sum": np.add.accumulate,
}
"""Not products, whose loops raise more than NumPy's."""

_OVERFLOW, _INVALID = NUMBERS["over"], NUMBERS["invalid"]
_RAISING = {
    _OVERFLOW: (1, 1),
    _INVALID: (np.inf, -np.inf),
    _OVERFLOW | _INVALID: (1, 1, -np.inf),
}
"""Numbers, as times the largest, whose sum raises these alone."""


def heard(run: Callable[[], Made]) -> tuple[Made, int]:
    """What it returns, and the exceptions that NumPy's kernels meet on the way, by NumPy's numbers:
    nothing is told of them."""
    met = [0]
    with np.errstate(all="call", call=lambda _, raised: met.append(raised)):
        made = run()
    return made, reduce(or_, met)
