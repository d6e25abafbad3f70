"""Counts of elements between edges, by a sort and a search."""

from __future__ import annotations

from typing import Any

from promoarray.core.operands import array_class, as_array
from promoarray.core.shapes import integers
from promoarray.errors import quoted
from promoarray.extras._quantile import averaged
from promoarray.functions import xp
from promoarray.parray import PArray
from promoarray.promotion.in_force import get_policy


def histogram(
    x: Any, bins: Any = 10, range: Any = None, *, density: bool = False
) -> tuple[PArray, PArray]:
    """Count the elements in each of some bins, which hold their left edge; the last both.

    Parameters
    ----------
    x : array, any shape
        Of real numbers; it is flattened.
    bins : int, or array_like of shape (N + 1,)
        How many bins of equal width; or their edges, one more than bins, in ascending order.
    range : (float, float), optional
        The first edge and the last. Default: the least element and the largest.
    density : bool
        Divide by the widths and by the count of all, so that the area is 1.

    Returns
    -------
    counts : PArray, shape (N,)
        int64 under NumPy's and Paddle's policies, of the dtype of the edges under others, as
        PyTorch and JAX count. Densities are float64 under NumPy's policies, float32 under
        Paddle's, and of the dtype of the edges under others.
    edges : PArray, shape (N + 1,)
        Floats keep their dtype, others become what ``mean`` makes of them; those given stay.

    Raises
    ------
    PromotionError
        If the policy has no mean of integers.
    ValueError
        If there is no such range, or the edges do not ascend.

    Examples
    --------
    >>> counts, edges = histogram(asarray([1.0, 2.0, 2.5, 7.0]), 3)
    >>> counts
    PArray([3, 0, 1], dtype=int64)
    """
    values = xp.reshape(as_array(x, "histogram"), (-1,))
    policy = array_class((values,))._policy or get_policy()
    wide = averaged(values, "histogram")
    if hasattr(bins, "__len__") or isinstance(bins, PArray):
        edges = _ascending(bins)
    else:
        count = integers("histogram", "bins", bins)
        if not isinstance(count, int) or count < 1:
            raise ValueError(f"histogram: bins must be 1 or more, not {quoted(bins)}")
        first, last = _limits(values, range)
        values = xp.astype(values, wide, copy=False)
        edges = xp.linspace(first, last, count + 1, dtype=wide, device=values.device)
    ordered = xp.sort(values)
    before = xp.searchsorted(ordered, edges[:-1], side="left")
    places = xp.concat([before, xp.searchsorted(ordered, edges[-1:], side="right")])
    counts = xp.diff(places)
    if density:
        wide = policy.fixed.get("density", wide)
        share = xp.astype(counts, wide)
        return share / xp.astype(xp.diff(edges), wide) / xp.sum(share), edges
    counted = policy.fixed.get("histogram") or averaged(edges, "histogram")
    return xp.astype(counts, counted, copy=False), edges


def _ascending(bins: Any) -> PArray:
    edges = xp.asarray(bins)
    if edges.ndim != 1 or edges.shape[0] < 2:
        raise ValueError("histogram: bins must be a number, or a vector of 2 edges or more")
    if xp.any(edges[1:] < edges[:-1]):
        raise ValueError("histogram: the edges of the bins must ascend")
    return edges


def _limits(values: PArray, range: Any) -> tuple[float, float]:
    """The first edge and the last; NumPy's 0 and 1 of nothing, and half a unit about one value."""
    if range is None and not values.size:
        return 0.0, 1.0
    try:
        first, last = map(float, (xp.min(values), xp.max(values)) if range is None else range)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"histogram: range is two numbers, not {quoted(range)}") from None
    if first > last or not bool(xp.all(xp.isfinite(xp.asarray([first, last])))):
        raise ValueError(f"histogram: range must be finite and ascend, not ({first}, {last})")
    return (first - 0.5, last + 0.5) if first == last else (first, last)
