"""Reductions whose values are one framework's own: means, variances and extremes of its kind.

Written with what NumPy and CuPy have in common: ``xp`` is either.
"""

from __future__ import annotations

from typing import Any

from promoarray.kernels.portable.steps import ends, is_zero, quietly, whole

Buffer = Any


def argmax_without_nan(xp: Any, x: Buffer, **options: Any) -> Buffer:
    return xp.argmax(xp.where(xp.isnan(x), xp.full_like(x, -float("inf")), x), **options)


def argmin_without_nan(xp: Any, x: Buffer, **options: Any) -> Buffer:
    return xp.argmin(xp.where(xp.isnan(x), xp.full_like(x, float("inf")), x), **options)


def exact_integer_mean(xp: Any, x: Buffer, **options: Any) -> Buffer:
    return _mean_towards_zero(xp, x, x.dtype, **options)


def truncated_mean(xp: Any, x: Buffer, **options: Any) -> Buffer:
    wide = "uint64" if x.dtype.kind == "u" else "int64"
    return _mean_towards_zero(xp, x, wide, **options).astype(x.dtype)


def mean_or_zero(xp: Any, x: Buffer, **options: Any) -> Buffer:
    total = xp.sum(x, **options)
    return total / max(x.size // max(total.size, 1), 1)


@quietly
def mean_of_wrapped_sum(xp: Any, x: Buffer, **options: Any) -> Buffer:
    total = xp.sum(x, dtype=x.dtype, **options)
    count = x.size // max(total.size, 1)
    return xp.true_divide(total.astype("float32"), xp.full_like(total, count, dtype="float32"))


def var_around_integer(
    xp: Any, x: Buffer, *, axis: Any = None, ddof: float = 0.0, keepdims: bool = False
) -> Buffer:
    mean = exact_integer_mean(xp, x, axis=axis, keepdims=True)
    return _var_around(xp, x, mean, axis, ddof, keepdims)


def std_around_integer(xp: Any, x: Buffer, **options: Any) -> Buffer:
    return xp.sqrt(var_around_integer(xp, x, **options))


def known_var(xp: Any, x: Buffer, *, ddof: float = 0.0, **options: Any) -> Buffer:
    found = xp.var(x, ddof=ddof, **options)
    known = x.size // max(found.size, 1) > ddof
    return found if known else xp.full_like(found, float("nan"))


def known_std(xp: Any, x: Buffer, **options: Any) -> Buffer:
    return xp.sqrt(known_var(xp, x, **options))


def integer_var(
    xp: Any, x: Buffer, *, axis: Any = None, ddof: float = 0.0, keepdims: bool = False
) -> Buffer:
    mean = whole(xp, xp.mean(x.astype("float32"), axis=axis, keepdims=True), x.dtype)
    return whole(xp, _var_around(xp, x, mean, axis, ddof, keepdims), x.dtype)


def integer_std(xp: Any, x: Buffer, **options: Any) -> Buffer:
    return xp.sqrt(integer_var(xp, x, **options).astype("float32"))


def one_term_sum(xp: Any, x: Buffer, **options: Any) -> Buffer:
    total = xp.sum(x, **options)
    return x.reshape(total.shape).copy() if total.size == x.size else total


def one_term_mean(xp: Any, x: Buffer, **options: Any) -> Buffer:
    mean = xp.mean(x, **options)
    return x.reshape(mean.shape).copy() if mean.size == x.size else mean


def cumulative_sum_from_zero(xp: Any, x: Buffer, **options: Any) -> Buffer:
    return xp.add(xp.cumulative_sum(x, **options), 0)


def one_term_cumulative_sum(
    xp: Any, x: Buffer, *, axis: Any = None, include_initial: bool = False
) -> Buffer:
    sums = cumulative_sum_from_zero(xp, x, axis=axis, include_initial=include_initial)
    return x.copy() if sums.shape == x.shape and sums.shape[axis or 0] == 1 else sums


def signed_max(xp: Any, x: Buffer, **options: Any) -> Buffer:
    found = xp.max(x, **options)
    zero = is_zero(xp, found)
    if not bool(xp.any(zero)):
        return found
    above = xp.any(is_zero(xp, x) & ~xp.signbit(x), **options)
    return xp.where(zero, xp.where(above, x.dtype.type(0.0), x.dtype.type(-0.0)), found)


def signed_min(xp: Any, x: Buffer, **options: Any) -> Buffer:
    return -signed_max(xp, -x, **options)


def max_or_lowest(xp: Any, x: Buffer, **options: Any) -> Buffer:
    return xp.max(x, initial=ends(x.dtype)[0], **options)


def min_or_highest(xp: Any, x: Buffer, **options: Any) -> Buffer:
    return xp.min(x, initial=ends(x.dtype)[1], **options)


def _mean_towards_zero(xp: Any, x: Buffer, summed_in: Any, **options: Any) -> Buffer:
    """The quotient of a sum of integers without its fraction; 0 of no elements."""
    total = xp.sum(x, dtype=summed_in, **options)
    count = max(x.size // max(total.size, 1), 1)
    wide = total.astype("uint64" if total.dtype.kind == "u" else "int64")
    return xp.floor_divide(wide - xp.fmod(wide, count), count).astype(total.dtype)


def _var_around(xp: Any, x: Buffer, mean: Buffer, axis: Any, ddof: float, keepdims: bool) -> Buffer:
    """The squares of integers' gaps to a mean of integers, over their number in float32."""
    gaps = x - mean
    squares = xp.sum(gaps * gaps, axis=axis, keepdims=keepdims, dtype=x.dtype)
    freedom = max(x.size // max(squares.size, 1) - ddof, 0)
    return squares.astype("float32") / xp.full_like(squares, freedom, dtype="float32")
