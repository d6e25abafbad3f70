"""Chapter "creation functions".

What Python numbers become is the policy's business (``policy.defaults``): a float is float64 to
NumPy, float32 to PyTorch. A dtype that is given, or that data already have, is kept, unless the
policy never holds it (float64 in JAX without x64).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray import _apply
from promoarray import dtypes as dt
from promoarray._cast import convert, scalar
from promoarray._python_data import from_python
from promoarray.array import PArray
from promoarray.backends import numpy as numpy_backend
from promoarray.dtypes import WEAK, DType, Kind, as_dtype
from promoarray.policies.plans import INTEGERS
from promoarray.policies.registry import get_policy
from promoarray.policies.scalars import bounds, in_range, truncated

__all__ = [
    "arange",
    "asarray",
    "empty",
    "empty_like",
    "eye",
    "from_dlpack",
    "full",
    "full_like",
    "linspace",
    "meshgrid",
    "ones",
    "ones_like",
    "tril",
    "triu",
    "zeros",
    "zeros_like",
]


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
    obj : array_like
        A PArray, a NumPy array or scalar, an object with DLPack or ``__array__``, a Python scalar,
        nested sequences of scalars and 0-d arrays, or a string or nested sequences of strings.
    dtype : dtype_like, optional
        By default that of ``obj``; of Python numbers what the policy makes of them.
    device : str, optional
    copy : bool, optional
        True copies; None copies only where it must; False raises where it must.

    Returns
    -------
    PArray

    Raises
    ------
    TypeError
        If promoarray has no dtype for the data.
    ValueError
        If sequences are ragged, or ``copy=False`` and a copy is needed.
    OverflowError
        If an int does not fit ``dtype``.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    _check(device)
    source = _as_source(obj, copy)
    if source is None:
        if copy is False:
            raise ValueError("copy=False: Python numbers have to be copied into an array")
        return from_python(obj, wanted and _canonical(wanted))
    target = _canonical(wanted or source.dtype, source)
    # A weakly typed array is stored in a dtype, but is not of it.
    out = source if wanted is None and target is source.dtype else _cast(source, target)
    shared = out._buffer is source._buffer and _is_shared(obj)
    if copy is False and not shared:
        raise ValueError(f"copy=False: {out.dtype} from {type(obj).__name__} needs a copy")
    ours = isinstance(obj, (PArray, np.ndarray))
    return out._of(out._buffer.copy(), out._type) if copy and shared and ours else out


def _check(device: str | None) -> None:
    if device not in (None, "cpu"):
        raise ValueError(f"there is no device {device!r} for new arrays; write device='cpu'")


def _is_shared(obj: Any) -> bool:
    """Whether wrapping ``obj`` leaves its memory where it is."""
    return obj.dtype.isnative if isinstance(obj, np.ndarray) else not isinstance(obj, np.generic)


def _as_source(obj: Any, copy: bool | None) -> PArray | None:
    """Anything that is an array already; None for Python numbers and sequences."""
    if isinstance(obj, PArray):
        return obj
    if isinstance(obj, (np.ndarray, np.generic)):
        if isinstance(obj.dtype, np.dtypes.StrDType):  # of fixed width
            obj = np.asarray(obj).astype(dt.string.storage)
        return _apply.wrap(obj)
    if type(obj) in WEAK or isinstance(obj, (list, tuple, range, str)):
        return None
    if hasattr(obj, "__dlpack__"):
        try:
            return from_dlpack(obj, copy=copy)
        except (BufferError, RuntimeError):  # bfloat16 has no name there, but may have in NumPy
            if not hasattr(obj, "__array__"):
                raise
    if hasattr(obj, "__array__") or _has_buffer(obj):
        return _apply.wrap(np.array(obj, copy=copy))
    kind = type(obj).__name__
    raise TypeError(f"asarray takes numbers, sequences of them and arrays, not {kind}: {obj!r:.60}")


def _has_buffer(obj: Any) -> bool:
    try:
        memoryview(obj)
    except TypeError:
        return False
    return not isinstance(obj, (bytes, bytearray))  # text, not numbers: say memoryview(...)


def _canonical(dtype: DType, x: PArray | None = None) -> DType:
    policy = (x._policy if x is not None else None) or get_policy()
    return policy.canonical.get(dtype, dtype)


def _cast(x: PArray, dtype: DType) -> PArray:
    policy = x._policy or get_policy()
    if dt.string in (x.dtype, dtype):
        return x._of(_apply.cast_strings(policy, x._buffer, x.dtype, dtype), dtype)
    return x._of(convert(policy, x._buffer, _apply.concrete(x), dtype), dtype)


def _default(weak: DType, dtype: object) -> DType:
    return _canonical(get_policy().strong(weak) if dtype is None else as_dtype(dtype))


def _new(buffer: Any, weak: DType, dtype: object, device: str | None = None) -> PArray:
    """Cast a wide buffer to the dtype given or to the policy's default."""
    _check(device)
    target, source = _default(weak, dtype), numpy_backend.dtype_of(buffer)
    if source is not None and source.kind is Kind.COMPLEX and target.kind is not Kind.COMPLEX:
        raise TypeError(f"complex numbers do not become {target.name}; take x.real first")
    if target.kind in INTEGERS and source is not target and buffer.size:
        for end in np.stack([buffer.min(), buffer.max()]).tolist():  # NaN is both
            truncated(in_range(end, target), target)
    if source is None:  # Python ints, some beyond int64
        source = dt.uint64 if target is dt.uint64 else dt.float64
        buffer = buffer.astype(source.storage)
    out = PArray._of(convert(get_policy(), buffer, source, target), target)
    if dtype is None:
        _apply.tell_made(weak, out)
    return out


def empty(shape: Any, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return an array of unset values; the default dtype is the policy's for floats."""
    return _new(
        np.empty(shape, _default(dt.weak_float, dtype).storage), dt.weak_float, dtype, device
    )


def zeros(shape: Any, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return an array of zeros; the default dtype is the policy's for floats.

    float8_e8m0fnu has no zero: there the values are what the policy casts 0.0 to,
    mostly NaN.
    """
    return _new(_zeros(shape, _default(dt.weak_float, dtype)), dt.weak_float, dtype, device)


def _zeros(shape: Any, dtype: DType) -> Any:
    buffer = np.zeros(shape, dtype.storage)
    if dtype is dt.float8_e8m0fnu:  # has no zero: its code 0 is 2**-127, and 0.0 mostly NaN
        buffer[...] = scalar(get_policy(), 0.0, dtype)
    return buffer


def ones(shape: Any, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return an array of ones; the default dtype is the policy's for floats."""
    return _new(
        np.ones(shape, _default(dt.weak_float, dtype).storage), dt.weak_float, dtype, device
    )


def full(shape: Any, fill_value: Any, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return an array of one value.

    Parameters
    ----------
    shape : int or tuple of int
    fill_value : Python scalar or 0-d array
    dtype : dtype_like, optional
        By default what ``asarray(fill_value)`` gives.
    """
    value = asarray(fill_value, dtype=dtype, device=device)
    buffer = np.empty(shape, value.dtype.storage)
    buffer[...] = value._buffer
    return value._of(buffer, value._type)


def arange(
    start: Any,
    /,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: object = None,
    device: str | None = None,
) -> PArray:
    """Return evenly spaced values ``start, start + step, …`` below ``stop``.

    Integers if all arguments are; the default dtype is the policy's for that kind.
    """
    start, stop = (0, start) if stop is None else (start, stop)
    if step == 0:
        raise ValueError("arange needs a step other than 0")
    values = _range(start, stop, step)
    source = numpy_backend.dtype_of(values)
    is_float = source is not None and source.kind is Kind.FLOAT
    return _new(values, dt.weak_float if is_float else dt.weak_int, dtype, device)


def _range(start: Any, stop: Any, step: Any) -> Any:
    """The values of ``arange``; Python ints stay exact beyond int64 too."""
    ends = (start, stop, step)
    if any(type(v) is not int for v in ends):
        return np.arange(start, stop, step)
    count = (stop - start) // step
    if count >= 1 << 48:  # beyond which NumPy's count goes wrong
        raise ValueError(f"arange would have more than 2**{count.bit_length() - 1} elements")
    low, high = bounds(dt.int64)
    if all(low <= v <= high for v in ends):
        return np.arange(start, stop, step)
    return np.array(range(start, stop, step), np.object_)


def linspace(
    start: Any,
    stop: Any,
    /,
    num: int,
    *,
    dtype: object = None,
    device: str | None = None,
    endpoint: bool = True,
) -> PArray:
    """Return ``num`` evenly spaced values from ``start`` to ``stop``."""
    weak = (
        dt.weak_complex
        if isinstance(start, complex) or isinstance(stop, complex)
        else dt.weak_float
    )
    return _new(np.linspace(start, stop, num, endpoint=endpoint), weak, dtype, device)


def eye(
    n_rows: int,
    n_cols: int | None = None,
    /,
    *,
    k: int = 0,
    dtype: object = None,
    device: str | None = None,
) -> PArray:
    """Return a matrix with ones on its ``k``-th diagonal."""
    return _new(np.eye(n_rows, n_cols, k=k), dt.weak_float, dtype, device)


def _like(x: Any, dtype: object) -> tuple[PArray, DType]:
    array = _apply.as_array(x, "a ..._like function")
    return array, array.dtype if dtype is None else _canonical(as_dtype(dtype), array)


def _label(x: PArray, dtype: object, row: DType) -> Any:
    """The type of what is made like ``x``: weak if ``x`` is, and no dtype is given."""
    return x._type if dtype is None else row


def empty_like(x: Any, /, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return an array of unset values, shaped as ``x`` and by default of its dtype."""
    array, row = _like(x, dtype)
    return array._of(np.empty(array.shape, row.storage), _label(array, dtype, row))


def zeros_like(x: Any, /, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return zeros, shaped as ``x`` and by default of its dtype."""
    array, row = _like(x, dtype)
    return array._of(_zeros(array.shape, row), _label(array, dtype, row))


def ones_like(x: Any, /, *, dtype: object = None, device: str | None = None) -> PArray:
    """Return ones, shaped as ``x`` and by default of its dtype."""
    array, row = _like(x, dtype)
    return array._of(np.ones(array.shape, row.storage), _label(array, dtype, row))


def full_like(
    x: Any, /, fill_value: Any, *, dtype: object = None, device: str | None = None
) -> PArray:
    """Return one value, shaped as ``x`` and by default of its dtype."""
    array, row = _like(x, dtype)
    value = asarray(fill_value, dtype=row)
    buffer = np.empty(array.shape, row.storage)
    buffer[...] = value._buffer
    return array._of(buffer, row)


def meshgrid(*arrays: Any, indexing: str = "xy") -> tuple[PArray, ...]:
    """Return coordinate matrices of one-dimensional arrays of one dtype."""
    entered = [_apply.as_array(x, "meshgrid") for x in arrays]
    grids = np.meshgrid(*(x._buffer for x in entered), indexing=indexing)  # type: ignore[call-overload]
    return tuple(
        x._of(np.ascontiguousarray(g), x._type) for x, g in zip(entered, grids, strict=True)
    )


def tril(x: Any, /, *, k: int = 0) -> PArray:
    """Return the lower triangle of matrices, zeros above the ``k``-th diagonal."""
    return _triangle("tril", x, k)


def triu(x: Any, /, *, k: int = 0) -> PArray:
    """Return the upper triangle of matrices, zeros below the ``k``-th diagonal."""
    return _triangle("triu", x, k)


def _triangle(name: str, x: Any, k: int) -> PArray:
    array = _apply.as_array(x, name)
    if array.ndim < 2:
        raise ValueError(f"{name} needs two axes or more, and x has {array.ndim}")
    rows, columns = array.shape[-2:]
    kept = np.tri(rows, columns, k if name == "tril" else k - 1, np.bool) == (name == "tril")
    buffer = _zeros(array.shape, array.dtype)
    np.copyto(buffer, array._buffer, where=kept)
    return array._of(buffer, array._type)


def from_dlpack(x: Any, /, *, device: str | None = None, copy: bool | None = None) -> PArray:
    """Wrap the memory of an array of another library.

    Raises
    ------
    BufferError
        If DLPack, or NumPy's side of it, has no name for the dtype.
    TypeError
        If ``x`` does not speak DLPack.
    """
    _check(device)
    if isinstance(x, PArray):
        return x._of(x._buffer.copy(), x._type) if copy else x
    if not hasattr(x, "__dlpack__"):
        raise TypeError(f"a {type(x).__name__} does not speak DLPack; write pa.asarray(x)")
    return _apply.wrap(np.from_dlpack(x, device=device, copy=copy))  # type: ignore[arg-type]
