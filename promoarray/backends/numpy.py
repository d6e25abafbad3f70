"""NumPy buffers: storage, casts, kernels.

A backend obeys plans. It never sees mixed operands or bare Python scalars, because NumPy and
ml_dtypes would promote them by rules of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.dtypes import BY_STORAGE, DType, Kind
from promoarray.kernels import DEFAULT, Rule

Buffer = np.ndarray[Any, Any]
name = "numpy"


def dtype_of(buffer: Buffer) -> DType | None:
    """The dtype a buffer holds, or None for those promoarray does not have."""
    if isinstance(buffer.dtype, np.dtypes.StringDType):  # with a missing value or without
        return dt.string
    return BY_STORAGE.get(buffer.dtype) or BY_STORAGE.get(buffer.dtype.newbyteorder("="))


def native(buffer: Buffer) -> Buffer:
    """The same values in the machine's byte order; the same object where it is."""
    return buffer if buffer.dtype.isnative else buffer.astype(buffer.dtype.newbyteorder("="))


def cast(buffer: Buffer, source: DType, target: DType, rule: Rule = DEFAULT) -> Buffer:
    """Cast a buffer; the same object if there is nothing to do.

    Floats are rounded once, to nearest, ties to even, from the value they have; the rule says what
    becomes of numbers that the target cannot hold.
    """
    if source is target:
        return buffer
    integers = source.kind not in (Kind.FLOAT, Kind.COMPLEX)
    if (integers and (source, target) in WIDENING) or dt.string in (source, target):
        return buffer.astype(target.storage)
    if buffer.flags.c_contiguous:
        src, dst = buffer, (out := np.empty(buffer.shape, target.storage))
    else:
        out = np.empty_like(buffer, target.storage, subok=False)
        src, dst = _outermost_first(buffer, out)
    kernels.cast(src, dst, kernels.row(source), kernels.row(target), rule)
    return out


WIDENING = {
    (a, b) for a in dt.STANDARD for b in dt.STANDARD if np.can_cast(a.storage, b.storage, "safe")
}
"""Casts that cannot lose a value: NumPy's own are as good, but for a warning at signalling NaN."""


def _outermost_first(buffer: Buffer, out: Buffer) -> tuple[Buffer, Buffer]:
    """Both with the axes of ``out`` in the order of memory, so that it is C-contiguous."""
    axes = sorted(range(out.ndim), key=lambda axis: -out.strides[axis])
    return buffer.transpose(axes), out.transpose(axes)


def _wide(buffer: Buffer, source: DType) -> Buffer:
    return buffer.astype(np.complex64) if source is dt.complex32 else buffer


def wide(value: Any, dtype: DType) -> tuple[Buffer, DType]:
    """A 0-d buffer that holds a Python scalar exactly, on its way to a dtype."""
    if type(value) is int and dtype.kind in (Kind.INT, Kind.UINT) and dtype.bits >= 8:
        return np.array(value, dtype.storage), dtype
    widest = dt.complex128 if isinstance(value, complex) else dt.float64
    try:
        return np.array(value, widest.storage), widest
    except OverflowError:
        size = f"Python int of {value.bit_length()} bits"
        raise OverflowError(f"{size} does not fit {dtype.name}, nor any float") from None


def decoded(buffer: Buffer, dtype: DType) -> Buffer:
    """Narrow values in the NumPy dtype that holds them exactly and prints them."""
    if dtype.kind is Kind.FLOAT and dtype.bits < 32:
        with np.errstate(invalid="ignore"):  # a signalling NaN
            return buffer.astype(np.float32)
    if dtype.kind in (Kind.INT, Kind.UINT) and dtype.bits < 8:
        return buffer.astype(np.int8)
    return _wide(buffer, dtype)


def device_of(buffer: Buffer) -> str:
    """Where a buffer lies."""
    return "cpu"


def to_device(buffer: Buffer, device: str, stream: Any) -> Buffer:
    """Return the buffer on a device."""
    if device != "cpu" or stream is not None:
        raise ValueError(
            f"a NumPy buffer lies on 'cpu' and has no stream; not {device!r}, {stream!r}"
        )
    return buffer


def reshape(buffer: Buffer, shape: tuple[int, ...], copy: bool | None) -> Buffer:
    """Return the buffer in another shape."""
    return np.reshape(buffer, shape, copy=copy)


def to_numpy(buffer: Buffer, dtype: Any, copy: bool | None) -> Buffer:
    """Return the storage as NumPy's ``__array__`` protocol asks for it."""
    return np.array(buffer, dtype, copy=copy)


def dlpack(buffer: Buffer, **options: Any) -> Any:
    """Export a buffer by DLPack."""
    try:
        return buffer.__dlpack__(**options)
    except BufferError as error:
        if not buffer.flags.writeable:
            hint = "write pa.asarray(x, copy=True) to export a copy"
            raise BufferError(f"NumPy cannot export this array: {error} Here {hint}") from None
        found = dtype_of(buffer)
        name = found.name if found else str(buffer.dtype)
        hint = f"write np.asarray(x).view(np.uint{buffer.itemsize * 8}) to hand over its bits"
        raise BufferError(f"NumPy cannot export {name} by DLPack ({error}); {hint}") from None


def call(kernel: str, buffers: tuple[Buffer, ...], compute: DType, **options: Any) -> Buffer:
    """Run one kernel on buffers that all hold ``compute``."""
    if compute.kind is Kind.BOOL and kernel in _NOT_OF_BOOLS:
        buffers = tuple(b.astype(np.int8) for b in buffers)
    try:
        return np.asarray(KERNELS[kernel](*buffers, **options))
    except TypeError as error:
        message = f"there is no NumPy kernel for {kernel} of {compute.name}: {error}"
        raise TypeError(message) from None


# NumPy refuses these for bools; policies that allow them mean arithmetic on 0 and 1.
_NOT_OF_BOOLS = frozenset({"subtract", "negative", "positive", "sign", "trace"})


def _round(x: Buffer) -> Buffer:
    return np.rint(x) if x.dtype.kind in "fc" else x.copy()


def _whole(rounding: Callable[[Buffer], Buffer]) -> Callable[[Buffer], Buffer]:
    """Leave integers alone, which NumPy would turn into floats."""
    return lambda x: rounding(x) if x.dtype.kind == "f" else x.copy()


def _real_only(test: Callable[[Buffer], Buffer]) -> Callable[[Buffer], Buffer]:
    return lambda x: test(x) if x.dtype.kind in "fc" else np.zeros(x.shape, np.bool)


def _isfinite(x: Buffer) -> Buffer:
    return np.isfinite(x) if x.dtype.kind in "fc" else np.ones(x.shape, np.bool)


def _signbit(x: Buffer) -> Buffer:
    return np.signbit(x) if x.dtype.kind == "f" else x < 0


def _clip(x: Buffer, *bounds: Buffer, low: bool, high: bool) -> Buffer:
    y = np.maximum(x, bounds[0]) if low else x.copy()
    return np.minimum(y, bounds[-1]) if high else y


def _concat(*buffers: Buffer, axis: int | None = 0) -> Buffer:
    return np.concatenate(buffers, axis=axis)


def _stack(*buffers: Buffer, axis: int = 0) -> Buffer:
    return np.stack(buffers, axis=axis)


def _where(x: Buffer, y: Buffer, *, condition: Buffer) -> Buffer:
    return np.where(condition, x, y)


def _cumulative(ufunc: np.ufunc) -> Callable[..., Buffer]:
    def run(x: Buffer, *, axis: int = 0, include_initial: bool = False) -> Buffer:
        y: Buffer = ufunc.accumulate(x, axis=axis)
        if not include_initial:
            return y
        shape = [*x.shape]
        shape[axis] = 1
        return np.concatenate([np.full(shape, ufunc.identity, y.dtype), y], axis=axis)

    return run


def _keeping_dtype(function: Callable[..., Any]) -> Callable[..., Any]:
    """Sum in the dtype of the buffer, where NumPy would widen integers by a rule of its own."""
    return lambda x, **options: function(x, dtype=x.dtype, **options)


def _outer(x: Buffer, y: Buffer) -> Buffer:
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError(f"outer takes two vectors, not arrays of {x.ndim} and {y.ndim} axes")
    product: Buffer = x[:, None] * y[None, :]
    return product


def _huber(x: Buffer, y: Buffer, *, delta: float) -> Buffer:
    error = np.abs(x - y)
    loss: Buffer = np.where(error <= delta, 0.5 * error * error, delta * (error - 0.5 * delta))
    return loss


KERNELS: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.true_divide,
    "floor_divide": np.floor_divide,
    "remainder": np.remainder,
    "pow": np.power,
    "equal": np.equal,
    "not_equal": np.not_equal,
    "less": np.less,
    "less_equal": np.less_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "logical_not": np.logical_not,
    "bitwise_and": np.bitwise_and,
    "bitwise_or": np.bitwise_or,
    "bitwise_xor": np.bitwise_xor,
    "bitwise_invert": np.invert,
    "bitwise_left_shift": np.left_shift,
    "bitwise_right_shift": np.right_shift,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "fmax": np.fmax,
    "fmin": np.fmin,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "copysign": np.copysign,
    "nextafter": np.nextafter,
    "logaddexp": np.logaddexp,
    "where": _where,
    "clip": _clip,
    "matmul": np.matmul,
    "vecdot": np.vecdot,
    "tensordot": np.tensordot,
    "outer": _outer,
    "concat": _concat,
    "stack": _stack,
    "l1_loss": lambda x, y: np.abs(x - y),
    "mse_loss": lambda x, y: np.square(x - y),
    "huber_loss": _huber,
    "poisson_nll_loss": lambda x, y: np.exp(x) - y * x,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "log2": np.log2,
    "log10": np.log10,
    "sqrt": np.sqrt,
    "reciprocal": np.reciprocal,
    "abs": np.abs,
    "negative": np.negative,
    "positive": np.positive,
    "sign": np.sign,
    "square": np.square,
    "floor": _whole(np.floor),
    "ceil": _whole(np.ceil),
    "trunc": _whole(np.trunc),
    "round": _round,
    "isnan": _real_only(np.isnan),
    "isinf": _real_only(np.isinf),
    "isfinite": _isfinite,
    "signbit": _signbit,
    "conj": np.conj,
    "real": lambda x: x.real.copy(),
    "imag": lambda x: x.imag.copy(),
    "sum": _keeping_dtype(np.sum),
    "prod": _keeping_dtype(np.prod),
    "trace": _keeping_dtype(np.trace),
    "cumulative_sum": _cumulative(np.add),
    "cumulative_prod": _cumulative(np.multiply),
    "mean": np.mean,
    "std": np.std,
    "var": np.var,
    "max": np.max,
    "min": np.min,
    "all": np.all,
    "any": np.any,
    "argmax": np.argmax,
    "argmin": np.argmin,
}
"""The kernel of every operation."""
