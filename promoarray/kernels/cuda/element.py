"""Casts of one element as expressions of CUDA C, for the kernels of ``kernels.cuda.kernel_source``.

Dtypes and modes are literals in them, and where branch_free.h has a cast, that is taken.
"""

from __future__ import annotations

from functools import cache

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.kernels import dtype_args
from promoarray.kernels.cast_mode import DEFAULT, CastMode, relevant

__all__ = ["code_bits", "element", "mode_name", "relevant", "stored"]

# --- Dtypes and modes as literals ----------------------------------------------------------------

_INTEGERS = frozenset({Kind.INT, Kind.UINT})
_KINDS = ("boolean", "unsigned_integer", "signed_integer", "real", "complex")
_NATIVE = frozenset(dt.STANDARD)


@cache
def stored(dtype: DType) -> str:
    """The name of the CuPy dtype that holds a dtype's bits where a kernel takes or gives them.

    It is the dtype's own name for those of the array API standard, else an unsigned integer of the
    same width: a buffer of another dtype is given as ``buffer.view(stored(dtype))``.

    Raises TypeError if the dtype has no fixed layout (strings, weak types).
    """
    dtype_args(dtype)
    return dtype.name if dtype in _NATIVE else f"uint{8 * dtype.storage.itemsize}"


def code_bits(dtype: DType) -> int:
    """The width of the unsigned integer that carries a code: of a complex number, of one part."""
    return int(8 * dtype.part.storage.itemsize)


@cache
def type_literal(dtype: DType) -> str:
    """The dtype as a ``promoarray::Type``; a complex one must be given as its part."""
    kind, bits, *numbers, negative_zero, has_sign = dtype_args(dtype)
    layout = ", ".join(map(str, numbers))
    flags = f"{_truth(negative_zero)}, {_truth(has_sign)}"
    return f"Type{{Kind::{_KINDS[kind]}, {bits}, {{{layout}, {flags}}}}}"


def mode_literal(mode: CastMode) -> str:
    """The mode as a ``promoarray::CastMode``."""
    return (
        f"CastMode{{(Beyond){mode.overflow:d}, (Beyond){mode.infinity:d},"
        f" {_truth(mode.keep_nan_sign)}, (NanWithout){mode.nan_without:d},"
        f" (ToInteger){mode.to_integer:d},"
        f" (ScaleRounding){mode.scale_rounding:d}, (ScaleNegative){mode.scale_negative:d},"
        f" (ScaleZero){mode.scale_zero:d}, {_truth(mode.scale_strict)},"
        f" {_truth(mode.via_float32)}}}"
    )


def _truth(flag: object) -> str:
    return "true" if flag else "false"


def mode_name(mode: CastMode) -> str:
    """A mode in letters that a C name may have."""
    return "" if mode == DEFAULT else "_mode" + "".join(str(int(field)) for field in mode)


# --- One element ---------------------------------------------------------------------------------

_SIGNED = {8: "signed char", 16: "short", 32: "int", 64: "long long"}
_MACHINE = {dt.float32: "float", dt.float64: "double"}


def element(x: str, source: DType, target: DType, mode: CastMode) -> str:
    """An expression for the code in ``target`` of the code ``x`` in ``source``, both real dtypes.

    It is the cast without branches where there is one, else the definition in cast.h.
    """
    if source is target and source.bits >= 8 and source is not dt.bool:
        return x
    mode = relevant(source, target, mode)
    for write in (_truth_of, _truncated, _encoded, _widened):
        found = write(x, source, target, mode)
        if found:
            return found
    return f"cast({x}, {type_literal(source)}, {type_literal(target)}, {mode_literal(mode)})"


def _truth_of(x: str, source: DType, target: DType, mode: CastMode) -> str | None:
    """From a float to bool: all but zero."""
    layout = source.format
    if target is not dt.bool or layout is None:
        return None
    if not layout.signed:
        return "1"  # a scale is never zero
    all_bits = (1 << source.bits) - 1
    return f"({x} & {all_bits >> layout.negative_zero:#x}{'ull' * (source.bits > 32)}) != 0"


def _truncated(x: str, source: DType, target: DType, mode: CastMode) -> str | None:
    """From a float to an integer."""
    if source.kind is not Kind.FLOAT or target.kind not in _INTEGERS:
        return None
    wide, bits = ("Float64", x) if source is dt.float64 else ("Float32", _single(x, source))
    into = type_literal(target)
    ends = f"limits({type_literal(source)}, {into}, {mode_literal(mode)})"
    return f"truncate<{wide}>({bits}, {target.bits}, {ends})"


def _encoded(x: str, source: DType, target: DType, mode: CastMode) -> str | None:
    """To a float of at most 16 bits: from a float32 or float64 that is as good as the source."""
    if target.kind is not Kind.FLOAT or target.bits > 16:
        return None
    finite = _truth(source.kind is not Kind.FLOAT)
    if source.bits <= 16 or source is dt.float32:
        wide, bits = "Float32", _single(x, source)
    elif source is dt.float64 and mode.via_float32:
        single = f"{type_literal(dt.float32)}.format"
        wide, bits = "Float32", f"encode<Float64>({x}, {single}, edges({single}, plain_mode()))"
    elif source is dt.float64:
        wide, bits = "Float64", x
    elif mode.via_float32:
        wide, bits = "Float32", f"as_bits((float){_signed(x, source)})"
    else:
        wide, bits = f"Float{source.bits}", f"odd_bits({_signed(x, source)})"
    layout, literal = f"{type_literal(target)}.format", mode_literal(mode)
    if target is dt.float8_e8m0fnu:
        return f"encode_scale<{wide}>({bits}, scale_edges<{wide}>({layout}, {literal}))"
    by_machine = wide == "Float32" and target in (dt.float8_e4m3fn, dt.float8_e5m2)
    name = f"encode_by_machine<{finite}>" if by_machine else f"encode<{wide}, {finite}>"
    return f"{name}({bits}, {layout}, edges({layout}, {literal}))"


def _widened(x: str, source: DType, target: DType, mode: CastMode) -> str | None:
    """To float32 or float64."""
    if target not in _MACHINE:
        return None
    if source.kind in _INTEGERS and source.bits > 16:
        return f"as_bits(({_MACHINE[target]}){_signed(x, source)})"
    if source is dt.float64:
        layout = f"{type_literal(target)}.format"
        return f"encode<Float64>({x}, {layout}, edges({layout}, {mode_literal(mode)}))"
    if mode._replace(keep_nan_sign=True) != DEFAULT:
        return None  # what widens keeps Inf
    single, keep = _single(x, source), f"{mode.keep_nan_sign:d}u"
    if target is dt.float64:
        return f"widen({single}, {keep})"
    return f"quieted({single}, {keep})" if source.kind is Kind.FLOAT else single


def _single(x: str, source: DType) -> str:
    """The float32 bits of what float32 holds; NaN has its sign and perhaps a payload."""
    if source is dt.float32:
        return x
    if source is dt.bfloat16:
        return f"((u32){x} << 16)"
    if source is dt.float16:
        return f"decode_half({x})"
    if source is dt.float8_e8m0fnu:
        return f"decode_scale({x})"
    if source.kind is Kind.FLOAT:
        return f"decode({x}, {type_literal(source)}.format, 1u)"
    if source is dt.bool:
        return f"({x} != 0 ? 0x3f800000u : 0u)"
    if source.bits < 8:
        sign = "int" if source.kind is Kind.INT else "u32"
        return f"as_bits((float)(({sign})({x} << {32 - source.bits}) >> {32 - source.bits}))"
    return f"as_bits((float){_signed(x, source)})"


def _signed(x: str, source: DType) -> str:
    """An integer code of whole bytes as the integer it stands for."""
    return f"({_SIGNED[source.bits]}){x}" if source.kind is Kind.INT else x
