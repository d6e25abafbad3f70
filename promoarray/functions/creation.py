"""Chapter "creation functions": arrays of data that are there, and of one value.

Without a dtype the policy chooses, as for Python numbers: float64 in NumPy, float32 in PyTorch.
The first are made by ``core.asarray``; ``ranges`` and ``grids`` have what their names say.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np

from promoarray.core import asarray as conversion
from promoarray.core.array_base import storage_dtype
from promoarray.core.creation import BufferCache, keep_made
from promoarray.core.executable_cache import Executable, keep_function
from promoarray.core.fast_path import TYPED, fast_function, making
from promoarray.core.operands import array_class, require_one_namespace
from promoarray.dtypes import WEAK
from promoarray.functions._creation import (
    as_read,
    fill_like,
    full_of,
    made,
    made_like,
    settings_like,
    type_like,
    wrapped_like,
)
from promoarray.functions._docs import template
from promoarray.operations import Form
from promoarray.parray import AnyArray, AnyDType, PArray, Shape
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.in_force import policy as in_force

__all__ = ["asarray", "empty", "empty_like", "from_dlpack", "full", "full_like", "ones"]
__all__ += ["ones_like", "zeros", "zeros_like"]


@fast_function("asarray", Form.OPERATOR, passed={"copy": None}, settings=making(PArray), copy=None)
def asarray(
    obj: Any,
    /,
    *,
    dtype: AnyDType | None = None,
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


@fast_function(conversion.COPYING, Form.OPERATOR, settings=making(PArray))
def _copied(obj: Any, /, *, dtype: object = None) -> PArray:
    """``asarray(..., copy=True)`` of all but lists, which are copied anyhow."""
    return conversion.asarray(obj, dtype=dtype, copy=True)


def from_dlpack(x: AnyArray, /, *, device: str | None = None, copy: bool | None = None) -> PArray:
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
@fast_function("empty", settings=making(PArray))
def empty(shape: Shape, *, dtype: AnyDType | None = None, device: str | None = None) -> PArray:
    """Return an array of unset values.

    Examples
    --------
    >>> empty((2, 3), dtype=bfloat16).shape
    (2, 3)
    >>> with policy("torch"):
    ...     empty(2).dtype
    promoarray.float32
    """
    return made("empty", shape, dtype, device)


@_made(
    result=(
        "float8_e8m0fnu has no zero: there the values are what the policy casts 0.0 to, mostly NaN."
    )
)
@fast_function("zeros", settings=making(PArray))
def zeros(shape: Shape, *, dtype: AnyDType | None = None, device: str | None = None) -> PArray:
    """Return an array of zeros.

    Examples
    --------
    >>> zeros(2)
    PArray([0., 0.], dtype=float64)
    >>> with policy("torch"):
    ...     zeros(2)
    PArray([0., 0.], dtype=float32)
    """
    return made("zeros", shape, dtype, device)


@_made()
@fast_function("ones", settings=making(PArray))
def ones(shape: Shape, *, dtype: AnyDType | None = None, device: str | None = None) -> PArray:
    """Return an array of ones.

    Examples
    --------
    >>> ones((1, 2))
    PArray([[1., 1.]], dtype=float64)
    >>> with policy("paddle"):
    ...     ones((1, 2))
    PArray([[1., 1.]], dtype=float32)
    """
    return made("ones", shape, dtype, device)


@_made(
    value=_VALUE,
    dtype="Default: the dtype that ``asarray(fill_value)`` has under the policy.",
    device="Default: that of ``fill_value``; of a Python scalar the CPU.",
    overflow=_OVERFLOW,
)
@fast_function("full", settings=making(PArray))
def full(
    shape: Shape, fill_value: AnyArray, *, dtype: AnyDType | None = None, device: str | None = None
) -> PArray:
    """Return an array of one value.

    Examples
    --------
    >>> full((2,), 7)
    PArray([7, 7], dtype=int64)
    """
    own, cls = getattr(fill_value, "_policy", None), array_class((fill_value,))
    fill_value, read = as_read(fill_value, dtype, "full")
    with nullcontext() if own is None else in_force(own):
        value = conversion.asarray(fill_value, dtype=read, device=device, name="full")
    out = full_of(shape, value)
    if own is not None:
        return cls._wrap(out._buffer, out._type)  # type: ignore[return-value]
    if device is None and type(fill_value) in WEAK:
        given = shape, fill_value
        keep_made("full", given, (fill_value,), read, value, BufferCache().fill)
    return out


# --- Like others ---------------------------------------------------------------------------------


@_made_like()
@fast_function("empty_like", settings=TYPED)
def empty_like(
    x: AnyArray, /, *, dtype: AnyDType | None = None, device: str | None = None
) -> PArray:
    """Return an array of unset values, of the shape of another.

    Examples
    --------
    >>> empty_like(asarray([[1, 2]], dtype=int4)).dtype
    promoarray.int4
    """
    return made_like("empty", x, dtype, device)


@_made_like()
@fast_function("zeros_like", settings=TYPED)
def zeros_like(
    x: AnyArray, /, *, dtype: AnyDType | None = None, device: str | None = None
) -> PArray:
    """Return zeros, of the shape of another array.

    Examples
    --------
    >>> zeros_like(asarray([1, 2], dtype=int8))
    PArray([0, 0], dtype=int8)
    """
    return made_like("zeros", x, dtype, device)


@_made_like()
@fast_function("ones_like", settings=TYPED)
def ones_like(
    x: AnyArray, /, *, dtype: AnyDType | None = None, device: str | None = None
) -> PArray:
    """Return ones, of the shape of another array.

    Examples
    --------
    >>> ones_like(asarray([0.5, 2.0], dtype=float8_e5m2))
    PArray([1., 1.], dtype=float8_e5m2)
    """
    return made_like("ones", x, dtype, device)


@_made_like(value=_VALUE, overflow=_OVERFLOW)
@fast_function("full_like", settings=TYPED)
def full_like(
    x: AnyArray,
    /,
    fill_value: AnyArray,
    *,
    dtype: AnyDType | None = None,
    device: str | None = None,
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
        fill_value, _ = as_read(fill_value, dtype, "full_like")
        value = conversion.asarray(fill_value, dtype=row, device=where, name="full_like")
    out, row = full_of(array.shape, value), storage_dtype(value)
    if device is None and type(fill_value) in WEAK and type(value._buffer) is np.ndarray:
        stored = policy.once(BufferCache, "full_like", type(fill_value), row)
        stored.keep(value._buffer, fill_value)
        own = type_like(array, dtype, row)
        executable = Executable(fill_like, (None, stored.find), own, ())
        keep_function(policy, "full_like", (array, fill_value), dtype, executable)
    return wrapped_like(array, out._buffer, dtype, row)
