"""Chapter "utility functions"."""

from __future__ import annotations

from typing import Any

from promoarray.core.dispatch import call
from promoarray.core.operands import as_array
from promoarray.core.shapes import axis_in
from promoarray.parray import PArray

__all__ = ["all", "any", "diff"]


def all(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> PArray:
    """Whether every element is true.

    Parameters
    ----------
    x : array
        Numbers count by not being zero; NaN is true.
    axis : int or tuple of int, optional
        By default all.
    keepdims : bool
        Keep the reduced axes with length 1.

    Returns
    -------
    PArray
        Of bools; PyTorch answers uint8 for uint8. True of no elements.
    """
    return call("all", x, axis=axis, keepdims=keepdims)


def any(x: Any, /, *, axis: Any = None, keepdims: bool = False) -> PArray:
    """Whether some element is true.

    Parameters
    ----------
    x : array
        Numbers count by not being zero; NaN is true.
    axis : int or tuple of int, optional
        By default all.
    keepdims : bool
        Keep the reduced axes with length 1.

    Returns
    -------
    PArray
        Of bools; PyTorch answers uint8 for uint8. False of no elements.
    """
    return call("any", x, axis=axis, keepdims=keepdims)


def diff(
    x: Any,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Any = None,
    append: Any = None,
) -> PArray:
    """Return the differences of neighbours along an axis.

    Parameters
    ----------
    x : array
        Integers keep their dtype and wrap round. Of bools the difference is whether they differ,
        except where the policy takes differences of numbers only (``array_api``, ``onnx``).
    axis : int
    n : int
        How often to take differences; 0 returns ``x``.
    prepend, append : array, optional
        What to put before and after ``x`` along the axis first, as ``concat`` does; dtypes promote
        as there.

    Returns
    -------
    PArray
        ``n`` shorter along the axis.

    Raises
    ------
    PromotionError
        If the policy has no common dtype for ``x`` and what is put around it.
    ValueError
        If ``n`` is negative, or there is no such axis.
    """
    array = as_array(x, "diff")
    if n < 0:
        raise ValueError(f"diff: n must be 0 or more, not {n}")
    axis = axis_in("diff", axis, array.ndim)
    if not n:
        return array
    around = [part for part in (prepend, array, append) if part is not None]
    if len(around) > 1:
        array = call("concat", *around, axis=axis)
    for _ in range(n):
        array = call("diff", array, axis=axis)
    return array
