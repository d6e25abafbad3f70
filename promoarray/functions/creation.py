"""Chapter "creation functions": arrays of data that are there, and of one value.

Without a dtype the policy chooses, as for Python numbers: float64 in NumPy, float32 in PyTorch.
The first are made by ``core.asarray``; ``ranges`` and ``grids`` have what their names say.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import on_device
from promoarray.core import asarray as conversion
from promoarray.core.fast_path import fast_function
from promoarray.core.made import Made, keep_like, keep_made, keep_shaped
from promoarray.core.operands import require_one_namespace, scalar_buffer
from promoarray.dtypes import WEAK
from promoarray.functions._creation import (
    default,
    fill_like,
    filled,
    filler,
    full_of,
    like,
    maker_of,
    maker_of_zeros,
    notified,
    settings_like,
    wrapped_like,
    zeros_of,
)
from promoarray.functions._docs import template
from promoarray.functions._keywords import names_keywords
from promoarray.operations import Form
from promoarray.parray import PArray
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.in_force import policy as in_force

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


@fast_function("asarray", kind="data", form=Form.OPERATOR, adopts=PArray)
@names_keywords
def asarray(
    obj: Any,
    /,
    *,
    dtype: object = None,
    device: str | None = None,
    copy: bool | None = None,
) -> PArray:
    """Make an array, or wrap one without copying.

    Parameters
    ----------
    obj : array_like, any shape
        A PArray, a NumPy or CuPy array, a NumPy scalar, an object with DLPack or ``__array__``, a
        Python scalar, nested sequences of scalars and 0-d arrays, or a string or nested sequences
        of strings.
    dtype : dtype_like, optional
        By default that of ``obj``; of Python numbers what the policy makes of them.
    device : str, optional
        By default where ``obj`` lies; Python numbers go to the CPU.
    copy : bool, optional
        True copies; None copies only where it must; False raises where it must.

    Returns
    -------
    PArray
        Of the shape of ``obj``; of nested sequences that of their nesting. Called through a
        namespace, one bound to its policy, whatever ``obj`` was bound to.

    Raises
    ------
    TypeError
        If promoarray has no dtype for the data.
    ValueError
        If sequences are ragged, or ``copy=False`` and a copy is needed.
    OverflowError
        If an int does not fit ``dtype``.

    Notes
    -----
    Policies differ in the defaults: Python floats become float64 in NumPy and JAX with x64, float32
    in PyTorch, TensorFlow and Paddle. JAX keeps a lone number weakly typed.

    Examples
    --------
    >>> asarray([1, 2.5])
    PArray([1. , 2.5], dtype=float64)
    """
    if copy is True and device is None:
        again: Callable[..., PArray] = asarray if type(obj) in (list, tuple) else _copied
        return again(obj, dtype=dtype)
    return conversion.asarray(obj, dtype=dtype, device=device, copy=copy)


@fast_function(conversion.COPYING, kind="data", form=Form.OPERATOR, adopts=PArray)
def _copied(obj: Any, /, *, dtype: object = None) -> PArray:
    """``asarray(..., copy=True)`` of all but lists, which are copied anyhow."""
    return conversion.asarray(obj, dtype=dtype, copy=True)


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> PArray:
    """Wrap the memory of an array of another library.

    Parameters
    ----------
    x : object, any shape
        With ``__dlpack__`` and ``__dlpack_device__``.
    device : str, optional
        By default where ``x`` lies.
    copy : bool, optional
        True copies; None copies only where it must; False raises where it must.

    Returns
    -------
    PArray
        Of the shape of ``x``. bfloat16, the float8, float6 and float4 dtypes and complex32 keep
        their dtype.

    Raises
    ------
    BufferError
        If promoarray has no dtype for the data, or a copy is needed and not allowed.
    TypeError
        If ``x`` does not speak DLPack.
    ValueError
        If there is no such device.

    Notes
    -----
    No policy has a say: the data keep their dtype.

    Examples
    --------
    >>> import numpy as np
    >>> from_dlpack(np.array([1, 2], dtype=np.int16))
    PArray([1, 2], dtype=int16)
    """
    return conversion.from_dlpack(x, device=device, copy=copy)


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
@fast_function("empty", kind="shape", adopts=PArray)
def empty(shape: Any, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return an array of unset values.

    Examples
    --------
    >>> empty((2, 3), dtype=bfloat16).shape
    (2, 3)
    >>> with policy("torch"):
    ...     empty(2).dtype
    promoarray.float32
    """
    target = default(dt.weak_float, dtype, "empty")
    buffer = on_device(device).empty(shape, target, device)
    if device is None:
        make = partial(np.empty, dtype=target.storage)
        keep_shaped(get_policy(), "empty", dtype, make, target)
    return notified(PArray._wrap(buffer, target), dt.weak_float, dtype)


@_made(
    result=(
        "float8_e8m0fnu has no zero: there the values are what the policy casts 0.0 to, mostly NaN."
    ),
)
@fast_function("zeros", kind="shape", adopts=PArray)
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
    target = default(dt.weak_float, dtype, "zeros")
    buffer = zeros_of(shape, target, device)
    if device is None:
        policy = get_policy()
        keep_shaped(policy, "zeros", dtype, maker_of_zeros(policy, target), target)
    return notified(PArray._wrap(buffer, target), dt.weak_float, dtype)


@_made()
@fast_function("ones", kind="shape", adopts=PArray)
def ones(shape: Any, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return an array of ones.

    Examples
    --------
    >>> ones((1, 2))
    PArray([[1., 1.]], dtype=float64)
    >>> with policy("paddle"):
    ...     ones((1, 2))
    PArray([[1., 1.]], dtype=float32)
    """
    target = default(dt.weak_float, dtype, "ones")
    one = scalar_buffer(get_policy(), 1, target)
    buffer = filled(shape, one, target, device)
    if device is None:
        keep_shaped(get_policy(), "ones", dtype, maker_of(one), target)
    return notified(PArray._wrap(buffer, target), dt.weak_float, dtype)


@_made(
    value=_VALUE,
    dtype="Default: the dtype that ``asarray(fill_value)`` has under the policy.",
    device="Default: that of ``fill_value``; of a Python scalar the CPU.",
    overflow=_OVERFLOW,
)
@fast_function("full", kind="shape", adopts=PArray)
def full(shape: Any, fill_value: Any, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return an array of one value.

    Examples
    --------
    >>> full((2,), 7)
    PArray([7, 7], dtype=int64)
    """
    value = conversion.asarray(fill_value, dtype=dtype, device=device, name="full")
    out = full_of(shape, value)
    if device is None and type(fill_value) in WEAK:
        kept = get_policy(), "full", (fill_value,), dtype
        keep_made(*kept, value._buffer, value._type, filler)
    return out


# --- Like others ---------------------------------------------------------------------------------


@_made_like()
@fast_function("empty_like", kind="like")
def empty_like(x: Any, /, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return an array of unset values, of the shape of another.

    Examples
    --------
    >>> empty_like(asarray([[1, 2]], dtype=int4)).dtype
    promoarray.int4
    """
    array, row, where, policy = settings_like(x, dtype, device)
    buffer = on_device(where).empty(array.shape, row, where)
    if device is None:
        make = like(partial(np.empty, dtype=row.storage))
        keep_like(policy, "empty_like", array, dtype, make, row)
    return wrapped_like(array, buffer, dtype, row)


@_made_like()
@fast_function("zeros_like", kind="like")
def zeros_like(x: Any, /, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return zeros, of the shape of another array.

    Examples
    --------
    >>> zeros_like(asarray([1, 2], dtype=int8))
    PArray([0, 0], dtype=int8)
    """
    array, row, where, policy = settings_like(x, dtype, device)
    buffer = zeros_of(array.shape, row, where, policy)
    if device is None:
        keep_like(policy, "zeros_like", array, dtype, like(maker_of_zeros(policy, row)), row)
    return wrapped_like(array, buffer, dtype, row)


@_made_like()
@fast_function("ones_like", kind="like")
def ones_like(x: Any, /, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return ones, of the shape of another array.

    Examples
    --------
    >>> ones_like(asarray([0.5, 2.0], dtype=float8_e5m2))
    PArray([1., 1.], dtype=float8_e5m2)
    """
    array, row, where, policy = settings_like(x, dtype, device)
    one = scalar_buffer(policy, 1, row)
    buffer = filled(array.shape, one, row, where)
    if device is None:
        keep_like(policy, "ones_like", array, dtype, like(maker_of(one)), row)
    return wrapped_like(array, buffer, dtype, row)


@_made_like(value=_VALUE, overflow=_OVERFLOW)
@fast_function("full_like", kind="like")
def full_like(
    x: Any, /, fill_value: Any, *, dtype: object = None, device: str | None = None
) -> PArray:
    """Return one value, in the shape of another array.

    Examples
    --------
    >>> full_like(asarray([1, 2], dtype=int8), 7)
    PArray([7, 7], dtype=int8)
    """
    array, row, where, policy = settings_like(x, dtype, device)
    require_one_namespace(array, fill_value)
    with nullcontext() if policy is get_policy() else in_force(policy):
        value = conversion.asarray(fill_value, dtype=row, device=where, name="full_like")
    out = full_of(array.shape, value)
    if device is None and where == "cpu" and type(fill_value) in WEAK:
        stored = policy.once(Made, "full_like", type(fill_value), row)
        stored.keep(value._buffer, fill_value)
        number = type(fill_value), stored.find
        keep_like(policy, "full_like", array, dtype, fill_like, row, number)
    return wrapped_like(array, out._buffer, dtype, row)
