"""The part of a cast mode that matters to a pair of dtypes."""

from __future__ import annotations

from functools import cache

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.kernels.cast_mode import DEFAULT, CastMode, ToInteger

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
