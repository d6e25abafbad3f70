"""`CastMode`, a tuple of integers: what a cast does where the target cannot hold the number.

The defaults are NumPy's and ml_dtypes' answers. A mode says nothing about rounding to the nearest,
ties to even, from the source's own value: every cast does that.
"""

from __future__ import annotations

from enum import IntEnum
from functools import cache
from typing import NamedTuple

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind

__all__ = ["DEFAULT", "Beyond", "CastMode", "NanWithout", "ScaleNegative", "ScaleRounding"]
__all__ += ["ScaleZero", "ToInteger", "Way", "relevant"]

# The order of the members is that of the enumerations in cast.h.


class Beyond(IntEnum):
    """What a number beyond the largest value of a float becomes, with its sign."""

    INF = 0
    """Inf; NaN where the format has no Inf; the largest value where it has neither."""
    NAN = 1
    """NaN; the largest value where the format has none."""
    LARGEST = 2


class NanWithout(IntEnum):
    """What NaN becomes in float6 and float4, which have none."""

    OPPOSITE_ZERO = 0
    """-0, and +0 if the NaN's sign is set and kept: ml_dtypes."""
    ZERO = 1
    LARGEST = 2
    """The largest value, with the sign of the NaN if that is kept."""


class ToInteger(IntEnum):
    """What floats beyond an integer's range, Inf and NaN become.

    Inside of the range the number is truncated. The answers of an x86-64 machine are given on all.
    """

    NUMPY = 0
    """X86; from floats of 8 bits and fewer NaN is 0 and Inf the end of the integer: ml_dtypes."""
    X86 = 1
    """Low bits of the conversion to int32, which gives -2**31 for all that it cannot hold; through
    int64 to int64; by halves to uint64 and, from float32, float64 and bfloat16, to uint32."""
    TORCH = 2
    """X86, but through int64 to uint8."""
    SATURATE = 3
    """The nearest end of the range, and 0 for NaN: JAX."""
    ACLNN = 4
    """The Ascend 950: saturation at 32 and 64 bits; low bits of a saturated int32 below, of a
    saturated int64 for unsigned integers; 0 for NaN."""
    TENSORFLOW = 5
    """X86 to signed integers of 32 and 64 bits. To unsigned ones by halves, and the lowest number
    of the signed one for all beyond. To 8 and 16 bits through int32, as X86, to the nearest end of
    the range; float16 and float64 to uint8 through uint16, whose upper half is 0."""
    TORCH_CUDA = 6
    """PyTorch on a GPU (``cvt.rzi`` of the PTX ISA): low bits of what saturates at 32 bits, signed
    or not as the integer is, at 64 where that is too narrow, and at those of int64 for uint8. NaN
    is 0; the highest of these bits if they are 64, or the float has as many."""
    ARM64 = 7
    """NumPy on Arm, in loops over vectors: low bits of what saturates at 32 bits, signed or not as
    the integer is; of float64 at those of int64, of float32, bfloat16 and float8_e8m0fnu to 8 and
    16 bits of int32. 64-bit integers saturate. NaN is 0, Inf of 8 bits and fewer as NUMPY."""
    ARM64_SCALAR = 8
    """The same of what fills no vector: 32 or 64 bits, signed or not as the integer is."""


class ScaleRounding(IntEnum):
    """Which power of two a number becomes in float8_e8m0fnu."""

    NEAREST = 0
    """The nearest, the upper one at 1.5 * 2**k."""
    UP = 1
    DOWN = 2
    NEAREST_BUT_LOWEST_UP = 3
    """The nearest, but 2**-126 for all between 2**-127 and it: a quirk of ml_dtypes, JAX, PyTorch
    and ONNX's reference, to which float32 has no implicit bit there."""


class ScaleNegative(IntEnum):
    """What negative numbers become in float8_e8m0fnu."""

    NAN = 0
    SMALLEST = 1
    ABSOLUTE = 2
    """What their absolute value becomes."""


class ScaleZero(IntEnum):
    """What 0 and -0 become in float8_e8m0fnu."""

    NAN = 0
    SMALLEST = 1


class CastMode(NamedTuple):
    """What a cast does where the target cannot hold the number."""

    # what a finite number that rounds to more than the largest value of a float becomes, and what
    # Inf becomes
    overflow: Beyond = Beyond.INF
    infinity: Beyond = Beyond.INF
    # whether -NaN stays -NaN in a float that has one. (The NaN that an overflow gives always has
    # the number's sign.)
    keep_nan_sign: bool = True
    nan_without: NanWithout = NanWithout.OPPOSITE_ZERO
    to_integer: ToInteger = ToInteger.NUMPY
    scale_rounding: ScaleRounding = ScaleRounding.NEAREST
    scale_negative: ScaleNegative = ScaleNegative.NAN
    scale_zero: ScaleZero = ScaleZero.NAN
    # whether a scale is out of range as soon as the number is, before it is rounded: below 2**-127
    # it is then NaN (else the smallest scale), beyond 2**127 it overflows
    scale_strict: bool = False
    # round to float32 on the way to a narrower float, and so twice: a quirk of ml_dtypes, PyTorch
    # and onnxruntime
    via_float32: bool = False


DEFAULT = CastMode()


class Way(IntEnum):
    """A way of casting that no mode says, from float32 and float64: an adjustment of a cast."""

    TO_NEAREST_INTEGER = 1
    """Half away from zero, then as X86, to integers of fewer than 8 bits."""
    TOWARDS_ZERO = 2
    """To float16, through float32, without rounding; all above 65504 is Inf."""
    UPPER_HALF = 3
    """To bfloat16, through float32, without rounding."""
    SHIFTED_TOO_FAR = 4
    """To float16; what is below 2**-77 as a float32 is taken for 2**64 times as much."""
    THROUGH_INT64 = 5
    """To uint32: the low bits of what X86 gives for int64."""


# --- The part of a mode that matters to a pair of dtypes ----------------------------------------

_INTEGERS = frozenset({Kind.INT, Kind.UINT})


@cache
def relevant(source: DType, target: DType, mode: CastMode) -> CastMode:
    """The mode with defaults for all that cannot matter to a cast.

    Modes of which the same is left make the same of every number: of such it is asked once, and
    fewer kernels differ.
    """
    source, target = source.part, target.part
    keep: set[str] = set()
    given, layout = source.format, target.format
    if source is target or target is dt.bool:
        return DEFAULT
    if given is not None and layout is None:
        keep = {"to_integer"}
    if layout is not None:
        keep = {"overflow"} if _reaches_beyond(source, target) else set()
        if not _exact_in_float32(source) and target.bits < 32:
            keep |= {"via_float32"}
        if given is not None:
            keep |= {"infinity"} if given.inf is not None else set()
            keep |= {"keep_nan_sign"} if given.nan is not None and layout.negative_zero else set()
            keep |= {"nan_without"} if given.nan is not None and layout.nan is None else set()
        if not layout.signed:
            keep |= {"scale_rounding", "scale_negative", "scale_zero"}
            keep |= {"scale_strict"} if given is not None else set()
    found = DEFAULT._replace(**{name: getattr(mode, name) for name in keep})
    return found._replace(to_integer=_equivalent(source, target, found.to_integer))


def _equivalent(source: DType, target: DType, convention: ToInteger) -> ToInteger:
    """The first of the conventions that give the pair the same integers."""
    if convention is ToInteger.ACLNN and (target.bits == 64 or target is dt.int32):
        return ToInteger.SATURATE
    if convention is ToInteger.TORCH and target is not dt.uint8:
        convention = ToInteger.X86
    if convention is ToInteger.TENSORFLOW and (target.bits < 8 or target in (dt.int32, dt.int64)):
        convention = ToInteger.X86
    if convention is ToInteger.X86 and source.bits > 8:
        return ToInteger.NUMPY
    return convention


def _reaches_beyond(source: DType, target: DType) -> bool:
    """Whether a number of the source may be too large for a float."""
    layout, given = target.format, source.format
    assert layout is not None
    most = source.bits if given is None else (given.largest >> given.mantissa) - given.bias + 1
    return most > (layout.largest >> layout.mantissa) - layout.bias


def _exact_in_float32(dtype: DType) -> bool:
    """Whether every number of the dtype is a float32."""
    part = dtype.part
    return part.bits <= (16 if part.kind in _INTEGERS else 32)
