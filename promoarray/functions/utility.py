"""Chapter "utility functions"."""

from __future__ import annotations

from functools import partial
from operator import index
from typing import Any

import numpy as np

from promoarray.core.dispatch import call
from promoarray.core.fast_path import fast_function
from promoarray.core.operands import as_array, plain_number
from promoarray.core.shapes import axis_in
from promoarray.dtypes import WEAK
from promoarray.errors import quoted
from promoarray.functions._docs import reduction
from promoarray.parray import AnyArray, Axes, PArray
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.in_force import policy as in_force

__all__ = ["all", "any", "diff"]

_truth = partial(
    reduction,
    x="Numbers are true if they are not zero; so NaN is true.",
    refuses="If the policy takes no such dtype for a condition: numbers in TensorFlow and ONNX.",
)


@_truth(result="Of bools; PyTorch gives uint8 for uint8. True of no elements.")
@fast_function("all", axis=None, keepdims=False)
def all(x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False) -> PArray:
    """Return whether every element is true.

    Examples
    --------
    >>> all(asarray([1.0, nan, 0.0], dtype=bfloat16))
    PArray(False, dtype=bool)
    """
    return call("all", x, axis=axis, keepdims=keepdims)


@_truth(result="Of bools; PyTorch and MindSpore give uint8 for uint8. False of no elements.")
@fast_function("any", axis=None, keepdims=False)
def any(x: AnyArray, /, *, axis: Axes = None, keepdims: bool = False) -> PArray:
    """Return whether any element is true.

    Examples
    --------
    >>> x = asarray([0, 2], dtype=uint8)
    >>> any(x)
    PArray(True, dtype=bool)
    >>> with policy("torch"):
    ...     any(x)
    PArray(1, dtype=uint8)
    """
    return call("any", x, axis=axis, keepdims=keepdims)


@fast_function("diff", axis=-1)
def diff(
    x: AnyArray,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: AnyArray | None = None,
    append: AnyArray | None = None,
) -> PArray:
    """Return the differences of neighbours along an axis.

    Parameters
    ----------
    x : array, shape (..., N)
        Integers keep their dtype and wrap round. Of bools the difference is whether they differ,
        except where the policy takes differences of numbers only (TensorFlow,
        ``array_api``, ``onnx``).
    axis : int
        Default: the last.
    n : int
        How often to take differences; 0 returns ``x``.
    prepend, append : array or number, optional
        Of the shape of ``x`` but for the axis; a number or a 0-d array is spread. Put before and
        after ``x`` along the axis first; dtypes promote as in ``concat``.

    Returns
    -------
    PArray, shape (..., N - n)
        Of the dtype of ``x``, promoted with those of ``prepend`` and ``append``.

    Raises
    ------
    PromotionError
        If the policy has no common dtype for the three, or no difference of the dtype.
    ValueError
        If ``n`` is negative, or there is no such axis.

    Examples
    --------
    >>> diff(asarray([1, 4, 9]))
    PArray([3, 5], dtype=int64)
    """
    array, n = as_array(x, "diff"), index(n)
    if n < 0:
        raise ValueError(f"diff: n must be 0 or more, not {quoted(n)}")
    if not n:
        return array
    axis = axis_in("diff", axis, array.ndim)
    around = [part for part in (prepend, array, append) if part is not None]
    if n == len(around) == 1:
        return call("diff", array, axis=axis)
    if len(around) > 1:
        from promoarray.functions.joining import concat  # which few programs need

        array = concat([_spread(part, array, axis) for part in around], axis=axis)
    for _ in range(min(n, array.shape[axis] + 1)):  # then there is nothing left
        array = diff(array, axis=axis)  # which has a fast path
    return array


def _spread(part: Any, x: PArray, axis: int) -> Any:
    """A number, or an array of no axes, once along an axis of ``x``."""
    from promoarray.functions.broadcasting import broadcast_to
    from promoarray.functions.creation import asarray

    number = part if type(part) in WEAK else plain_number(part)
    if type(number) in WEAK and not isinstance(part, np.generic):
        with in_force(x._policy or get_policy()):
            made = asarray(number)
    else:
        made = part
    if getattr(made, "ndim", 1):
        return part
    return broadcast_to(made, (*x.shape[:axis], 1, *x.shape[axis + 1 :]))
