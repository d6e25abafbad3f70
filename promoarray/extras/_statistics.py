"""Statistics of elements: quantiles, histograms and covariances.

Quantiles are made of a sort and of what lies between two neighbours:

1. the lanes along the axes are sorted, NaN last;
2. a share ``q`` of ``n`` elements is the place ``q * (n - 1)``, computed in the dtype of ``q``;
3. the neighbours of the place are taken, and the result is between them, as the method says.

What the result's dtype is, ``_between`` says: in NumPy ``q`` promotes with the array, elsewhere it
is cast to the array's own. Histograms count by a sort and a search, and covariances are products of
matrices.
"""

from __future__ import annotations

from typing import Any

from promoarray.core.move import require_taken, tell_steps
from promoarray.core.operands import as_array, policy_of
from promoarray.core.shapes import axes_in, integers
from promoarray.dtypes import WEAK, DType, Kind, complex128, float32, float64, int64
from promoarray.errors import quoted
from promoarray.functions import xp
from promoarray.functions.data_types import result_type
from promoarray.parray import Axes, Data, PArray
from promoarray.promotion.plan import Operand

METHODS = ("linear", "lower", "higher", "nearest", "midpoint")
"""What every framework with quantiles has."""

_COMPUTED = ("linear", "midpoint")
"""Methods whose results need not be elements."""


def quantile(
    x: Data, q: Data, *, axis: Axes = None, keepdims: bool = False, method: str = "linear"
) -> PArray:
    """Return the values below which a share of the elements lies; NaN where one is NaN.

    Parameters
    ----------
    x : array, any shape
        Of real numbers.
    q : float or array_like, any shape
        Shares between 0 and 1.
    axis : int or tuple of int, optional
        Default: all.
    keepdims : bool
    method : {"linear", "lower", "higher", "nearest", "midpoint"}
        What is between two elements: the point of the line between them, one of them, or the
        middle.

    Returns
    -------
    PArray
        The shape of ``q``, then that of ``x`` without the axes. Floats keep their dtype, and others
        become the float that ``mean`` makes of them, if it does; under NumPy's policies an array
        ``q`` promotes with ``x``, and methods without arithmetic keep its dtype.

    Raises
    ------
    PromotionError
        If the policy's framework takes no such array: PyTorch and Paddle 3.3 float32 and
        float64 only.
    TypeError
        If the numbers are complex, or the policy has no float for them.
    ValueError
        If a share is not between 0 and 1, there is nothing to take it of, or no such method.

    Examples
    --------
    >>> quantile(asarray([1.0, 2.0, 4.0]), [0.5, 0.75])
    PArray([2., 3.], dtype=float64)
    """
    return _quantiles("quantile", x, q, axis, keepdims, method)


def nanquantile(
    x: Data, q: Data, *, axis: Axes = None, keepdims: bool = False, method: str = "linear"
) -> PArray:
    """Return ``quantile`` of the elements that are not NaN; NaN where there is no other.

    Parameters
    ----------
    x, q, axis, keepdims, method
        As for ``quantile``.

    Returns
    -------
    PArray
        Of the shape and dtype that ``quantile`` gives.

    Raises
    ------
    PromotionError, TypeError, ValueError
        As ``quantile`` does.

    Examples
    --------
    >>> nanquantile(asarray([1.0, 2.0, float("nan")]), 0.5)
    PArray(1.5, dtype=float64)
    """
    return _quantiles("nanquantile", x, q, axis, keepdims, method)


def averaged(x: PArray, name: str) -> DType:
    """The dtype of floats as it is; of others what the policy's mean makes of them.

    Raises
    ------
    TypeError
        If that is no float.
    """
    if x.dtype.kind is Kind.FLOAT:
        return x.dtype
    one = xp.zeros(1, dtype=x.dtype, device=x.device)
    made: DType = xp.mean(x._wrap(one._buffer, x._type)).dtype
    if made.kind is not Kind.FLOAT:
        raise TypeError(
            f"{name} of {x.dtype.name}: the policy has no float for it. Write "
            "pa.astype(x, pa.float32)"
        )
    return made


def _quantiles(name: str, x: Any, q: Any, axis: Any, keepdims: bool, method: str) -> PArray:
    array = as_array(x, name)
    if method not in METHODS:
        choices = ", ".join(map(repr, METHODS))
        raise ValueError(f"{name} has no method {quoted(method)}; write one of: {choices}")
    if array.dtype.kind is Kind.COMPLEX:
        raise TypeError(f"{name} takes real numbers: complex ones have no order")
    require_taken("quantile", array, *([q] if isinstance(q, PArray) else []))
    axes = axes_in(name, axis, array.ndim) if array.ndim else ()
    rest = tuple(n for n in range(array.ndim) if n not in axes)
    lanes = xp.permute_dims(array, (*rest, *axes))
    if not array.size:
        raise ValueError(f"{name} of an array without elements")
    lanes = xp.sort(xp.reshape(lanes, (*lanes.shape[: len(rest)], -1)))
    if array.dtype.kind is Kind.BOOL and method in _COMPUTED and _promotes(array):
        _ = array - array  # bools have no difference, says the policy
    shares, wide = _entered(array, q, name, method)
    if method not in _COMPUTED and _promotes(array):
        wide = array.dtype
    found = _taken(lanes, xp.reshape(shares, (-1,)), wide, method, name == "nanquantile")
    kept = tuple(1 if n in axes else k for n, k in enumerate(array.shape))
    shape = kept if keepdims else tuple(array.shape[n] for n in rest)
    return xp.reshape(xp.moveaxis(found, -1, 0), shares.shape + shape)


def _promotes(array: PArray) -> bool:
    """Whether the framework makes quantiles of its other functions, so that they promote."""
    policy = policy_of(array)
    return "quantile" in policy.composed


def _entered(array: PArray, q: Any, name: str, method: str) -> tuple[PArray, DType]:
    """The shares as an array, and the dtype of the result.

    Raises
    ------
    ValueError
        If one is not between 0 and 1.
    """
    policy = policy_of(array)
    given = xp.asarray(q)
    if not bool(((given >= 0) & (given <= 1)).all()):
        raise ValueError(f"{name}: q must be between 0 and 1, not {quoted(q)}")
    exact = array.dtype.kind in _EXACT
    if _promotes(array) and given.dtype.kind is not Kind.FLOAT:
        if method == "midpoint" and (exact or type(q) not in WEAK):
            q = given = xp.astype(given, float64)  # as NumPy's half is
        elif exact:
            return given, array.dtype  # all of them are elements
    wide = policy.fixed.get("quantile") or averaged(array, name)
    if _promotes(array) and type(q) not in WEAK and given.dtype.kind is Kind.FLOAT:
        wide = result_type(array, given)
        return given, wide
    return xp.astype(given, wide, copy=False), wide


_EXACT = (Kind.BOOL, Kind.UINT, Kind.INT)


def _taken(lanes: PArray, shares: PArray, wide: DType, method: str, skipping: bool) -> PArray:
    """Quantiles of sorted lanes along the last axis, which become the last axis."""
    exact = shares.dtype.kind is not Kind.FLOAT
    shares = xp.astype(shares, float32, copy=False) if exact or shares.dtype.bits < 32 else shares
    length = lanes.shape[-1]
    broken = xp.isnan(lanes) if lanes.dtype.kind is Kind.FLOAT else None
    shape = (*lanes.shape[:-1], shares.shape[0])
    if skipping and broken is not None:
        there = length - xp.count_nonzero(broken, axis=-1, keepdims=True)
        last = xp.astype(there, shares.dtype) - 1
        places = shares * xp.where(last < 0, xp.full_like(last, 0), last)
    else:
        places = xp.broadcast_to(shares * (length - 1), shape)
    if method in _COMPUTED and not exact:
        below, above = xp.floor(places), xp.ceil(places)
        low, high = (xp.astype(_at(lanes, each), wide, copy=False) for each in (below, above))
        part = xp.astype(places - below, wide, copy=False)
        if method == "midpoint":
            part = xp.where(part > 0, xp.full_like(part, 0.5), part)
        found = _between(low, high, part)
    else:
        rounded = {"lower": xp.floor, "higher": xp.ceil}.get(method, xp.round)(places)
        found = xp.astype(_at(lanes, rounded), wide, copy=False)
    if broken is None or skipping:
        return found
    holed = xp.broadcast_to(xp.any(broken, axis=-1, keepdims=True), found.shape)
    return xp.where(holed, xp.full(found.shape, float("nan"), dtype=found.dtype), found)


def _at(lanes: PArray, places: PArray) -> PArray:
    index = xp.astype(places, int64)
    return xp.take_along_axis(lanes, xp.broadcast_to(index, (*lanes.shape[:-1], index.shape[-1])))


def _between(low: PArray, high: PArray, part: PArray) -> PArray:
    """The point of a line, from its nearer end, as NumPy and PyTorch compute it."""
    gap = high - low
    return xp.where(part >= 0.5, high - gap * (1 - part), low + gap * part)


def histogram(
    x: Data, bins: Data = 10, range: Data | None = None, *, density: bool = False
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
        Floats keep their dtype, others become the float that ``mean`` makes of them, if it
        does; those given stay.

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
    tell_steps("histogram", values)
    policy = policy_of(values)
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


def cov(
    m: Data,
    y: Data | None = None,
    *,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
) -> PArray:
    """Return the covariances of variables.

    Parameters
    ----------
    m : array, shape (N, M) or (M,)
        A variable a row, an observation a column.
    y : array, shape (K, M) or (M,), optional
        More variables.
    rowvar : bool
        False: a variable a column.
    bias : bool
        Divide by the count, not by one less.
    ddof : int, optional
        Divide by the count less this.

    Returns
    -------
    PArray, shape (N, N), or () of one variable
        Under NumPy's policies float64 or complex128. Elsewhere floats keep their dtype and
        integers become float32 in PyTorch, in others the float that ``mean`` makes of them, if it
        does.

    Raises
    ------
    PromotionError
        If the policy has no mean of integers.
    ValueError
        If there are more than two axes.

    Examples
    --------
    >>> cov(asarray([[1.0, 2.0, 3.0], [6.0, 4.0, 2.0]]))
    PArray([[ 1., -2.],
            [-2.,  4.]], dtype=float64)
    """
    rows = _variables(m, rowvar)
    if y is not None:
        rows = xp.concat([rows, _variables(y, rowvar)], axis=0)
    divisor = rows.shape[1] - (int(not bias) if ddof is None else ddof)
    centred = rows - xp.mean(rows, axis=1, keepdims=True)
    found = xp.matmul(centred, xp.matrix_transpose(centred.conj())) / max(divisor, 0)
    return xp.reshape(found, ()) if found.shape == (1, 1) else found


def _variables(given: Any, rowvar: bool) -> PArray:
    """A matrix of floats, a variable a row."""
    x = as_array(given, "cov")
    if x.ndim > 2:
        raise ValueError(f"cov takes a matrix or a vector, not {x.ndim} axes")
    tell_steps("cov", x)
    policy = policy_of(x)
    fixed = policy.fixed.get("cov")
    cell = policy.answers.cell("cov", Operand(x.dtype)) if policy.answers else None
    if cell and not cell.refused:  # PyTorch takes integers here, of which it has no mean
        x = xp.astype(x, policy.strong(cell.results[0]), copy=False)
    elif fixed:
        x = xp.astype(x, complex128 if x.dtype.kind is Kind.COMPLEX else fixed, copy=False)
    elif x.dtype.kind is not Kind.COMPLEX:
        x = xp.astype(x, averaged(x, "cov"), copy=False)
    rows: PArray = x if x.ndim == 2 else xp.reshape(x, (1, -1))
    return rows if rowvar or x.ndim < 2 else xp.matrix_transpose(rows)
