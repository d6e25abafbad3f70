"""Chapter "creation functions": arrays of one value.

Without a dtype the policy chooses, as for Python numbers: float64 in NumPy, float32 in PyTorch.
Arrays of existing data are made in ``core.asarray``, ranges and grids in ``ranges``.
"""

from __future__ import annotations

from typing import Any

from promoarray import dtypes as dt
from promoarray.backends import backend_of, on_device
from promoarray.core.asarray import asarray, canonical, from_dlpack
from promoarray.core.cast import scalar
from promoarray.core.operands import as_array, require_one_namespace
from promoarray.dtypes import DType, as_dtype
from promoarray.functions._creation import default, filled, notified, zeros_of
from promoarray.functions._docs import template
from promoarray.parray import PArray
from promoarray.promotion.registry import get_policy

__all__ = [
    "asarray",
    "empty",
    "empty_like",
    "from_dlpack",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]


_made = template(
    """
    Parameters
    ----------
    shape : int or tuple of int
    {value}
    dtype : dtype_like, optional
        {dtype}
    device : str, optional
        {device}

    Returns
    -------
    PArray, shape ``shape``
        Of ``dtype``.
        {result}

    Raises
    ------
    {overflow}
    TypeError
        If a length is no integer, or promoarray has no such dtype.
    ValueError
        If a length is negative, or there is no such device.
    """,
    value="",
    dtype="Default: the policy's default float, float64 in NumPy, float32 in PyTorch.",
    device="Default: the CPU.",
    result="",
    overflow="",
)
_made_like = template(
    """
    Parameters
    ----------
    x : array, any shape
    {value}
    dtype : dtype_like, optional
        Default: that of ``x``.
    device : str, optional
        Default: that of ``x``.

    Returns
    -------
    PArray
        Of the shape of ``x`` and of ``dtype``.

    Raises
    ------
    {overflow}
    TypeError
        If ``x`` is no array, or promoarray has no such dtype.
    ValueError
        If there is no such device.
    """,
    value="",
    overflow="",
)
_VALUE = """
    fill_value : Python scalar or 0-d array
    """
_OVERFLOW = """
    OverflowError
        If an int does not fit the dtype.
    """


@_made()
def empty(shape: Any, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return an array of unset values."""
    target = default(dt.weak_float, dtype)
    buffer = on_device(device).empty(shape, target, device)
    return notified(PArray._wrap(buffer, target), dt.weak_float, dtype)


@_made(
    result=(
        "float8_e8m0fnu has no zero: there the values are what the policy casts 0.0 to, mostly NaN."
    ),
)
def zeros(shape: Any, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return an array of zeros.

    Examples
    --------
    >>> zeros(2)
    PArray([0., 0.], dtype=float64)
    >>> with policy("torch"):
    ...     zeros(2)
    PArray([0., 0.], dtype=float32)
    """
    target = default(dt.weak_float, dtype)
    return notified(PArray._wrap(zeros_of(shape, target, device), target), dt.weak_float, dtype)


@_made()
def ones(shape: Any, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return an array of ones."""
    target = default(dt.weak_float, dtype)
    buffer = filled(shape, scalar(get_policy(), 1, target), target, device)
    return notified(PArray._wrap(buffer, target), dt.weak_float, dtype)


@_made(
    value=_VALUE,
    dtype="Default: the dtype that ``asarray(fill_value)`` has under the policy.",
    device="Default: that of ``fill_value``; of a Python scalar the CPU.",
    overflow=_OVERFLOW,
)
def full(shape: Any, fill_value: Any, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return an array of one value.

    Examples
    --------
    >>> full((2,), 7)
    PArray([7, 7], dtype=int64)
    """
    return _full(shape, asarray(fill_value, dtype=dtype, device=device))


def _full(shape: Any, value: PArray) -> PArray:
    backend = backend_of(value._buffer)
    buffer = backend.empty(shape, value.dtype, value.device)
    backend.write(buffer, ..., value._buffer)
    return value._wrap(buffer, value._type)


# --- Like others ---------------------------------------------------------------------------------


def _like(x: Any, dtype: object, device: str | None) -> tuple[PArray, DType, str]:
    array = as_array(x, "a ..._like function")
    row = array.dtype if dtype is None else canonical(as_dtype(dtype), array)
    return array, row, array.device if device is None else device


def _label(x: PArray, dtype: object, row: DType) -> Any:
    """The type of what is made like ``x``: weak if ``x`` is, and no dtype is given."""
    return x._type if dtype is None else row


@_made_like()
def empty_like(x: Any, /, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return an array of unset values, of the shape of another."""
    array, row, where = _like(x, dtype, device)
    buffer = on_device(where).empty(array.shape, row, where)
    return array._wrap(buffer, _label(array, dtype, row))


@_made_like()
def zeros_like(x: Any, /, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return zeros, of the shape of another array.

    Examples
    --------
    >>> zeros_like(asarray([1, 2], dtype=int8))
    PArray([0, 0], dtype=int8)
    """
    array, row, where = _like(x, dtype, device)
    return array._wrap(zeros_of(array.shape, row, where), _label(array, dtype, row))


@_made_like()
def ones_like(x: Any, /, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return ones, of the shape of another array."""
    array, row, where = _like(x, dtype, device)
    buffer = filled(array.shape, scalar(array._policy or get_policy(), 1, row), row, where)
    return array._wrap(buffer, _label(array, dtype, row))


@_made_like(value=_VALUE, overflow=_OVERFLOW)
def full_like(
    x: Any, /, fill_value: Any, *, dtype: object = None, device: str | None = None
) -> PArray:
    """Return one value, in the shape of another array."""
    array, row, where = _like(x, dtype, device)
    require_one_namespace(array, fill_value)
    out = _full(array.shape, asarray(fill_value, dtype=row, device=where))
    return array._wrap(out._buffer, row)
