"""Quantization as the rule of a policy has it, on buffers.

1. x is divided by its scale, in the dtype that the rule computes in;
2. the quotient is rounded to an integer and the zero point added, without another rounding;
3. what lies beyond the target saturates. A narrow float is made by its cast alone.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of, common_backend, is_lazy
from promoarray.console import listed
from promoarray.core.cast import held as held_scalar
from promoarray.core.shapes import axis_in, integers
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.errors import quoted
from promoarray.promotion.cast_rules import CAST, CastRule
from promoarray.promotion.plan import Refusal, accumulator
from promoarray.promotion.policy import Policy
from promoarray.promotion.quantization import FLOATS, Faked, Quantization, Rounding
from promoarray.promotion.scalars import bounds, largest, worded


class Numbers(NamedTuple):
    """A buffer, and the dtype it holds."""

    buffer: Any
    dtype: DType


class Call(NamedTuple):
    """What is asked for besides the arrays; None of what was not given."""

    name: str
    dtype: DType | None = None
    axis: Any = None
    block_size: Any = None
    saturate: Any = None
    precision: DType | None = None
    limits: Any = None


class Types(NamedTuple):
    """The dtypes of one quantization."""

    scale: DType
    target: DType
    compute: DType
    result: DType


Given = Numbers | float | int | None


def carried_out(
    call: Call, policy: Policy, x: Numbers, scale: Given, zero_point: Given
) -> Numbers | Refusal:
    """Return what a policy makes of numbers, or why it does not.

    Raises
    ------
    TypeError, ValueError, OverflowError
        Where shapes, limits or zero points do not fit.
    """
    rule = policy.quantization.with_quirks(policy.cast.on)
    types = decide(call, policy, rule, x.dtype, scale, zero_point)
    if isinstance(types, Refusal):
        return types
    limits, zero = limits_of(call, types.target), None
    _require_held(call.name, types.target, limits, zero_point)
    with np.errstate(all="ignore"):
        by = cast(_entered(scale, types.scale, x), rule.compute or types.scale)
        by = _spread(call, rule, by, x.buffer.shape)
        if zero_point is not None:
            entered = _entered(zero_point, types.target, x)
            zero = _spread(call, rule, entered, x.buffer.shape)
        if call.name == "dequantize":
            return _restored(x, by, zero, types.result, accumulator(types.result))
        if call.name == "fake_quantize" and rule.shifted:
            return _shifted(x, by, zero, limits)
        if types.target.kind is Kind.FLOAT:
            made = _narrowed(call, rule.cast or policy.cast, rule, types, x, by, zero)
        else:
            made = _levels(rule, call.name, types, x, by, zero, limits)
        if call.name == "quantize":
            return cast(made, types.target)
        wide = rule.compute if rule.compute and not by.buffer.ndim else accumulator(types.result)
        return _restored(made, by, zero, types.result, wide)


def decide(
    call: Call, policy: Policy, rule: Quantization, x: DType, scale: Given, zero_point: Given
) -> Types | Refusal:
    """Return the dtypes that a policy quantizes with, or why it does not."""
    back = call.name == "dequantize"
    faked = rule.faked if call.name == "fake_quantize" else None
    zero = zero_point.dtype if isinstance(zero_point, Numbers) else None
    limited = call.name == "fake_quantize" and call.limits is not None
    default = dt.int32 if limited else rule.default
    target = x if back else call.dtype or (None if faked else zero) or default
    title, _, targets = faked or Faked(rule.title, rule.given, rule.targets)
    said = f"policy {quoted(policy.name)}: {title}"
    if call.precision not in {None, *FLOATS}:
        return Refusal(f"precision is {words_of(FLOATS)}, not {call.precision}")
    lacking = next((name for name in rule.lacks if getattr(call, name) is not None), None)
    if lacking or target is None:
        asks = f"needs a dtype; write dtype=, one of {words_of(targets)}"
        has_no = f"has no {lacking} ({rule.lacks.get(lacking or '')}); leave it out"
        said = f"{said} {has_no if lacking else asks}"
        return Refusal(said, TypeError(said))
    if isinstance(scale, Numbers):
        by = scale.dtype
    else:
        own = call.dtype if back else x if x in FLOATS else None
        by = rule.compute or own or policy.strong(dt.weak_float)
    compute = rule.computes_in(by, call.precision)
    if call.name == "quantize":
        result = target
    elif faked:
        result, compute = x, x if x.bits > compute.bits else compute
    elif back:
        result = call.dtype or rule.compute or by
    else:
        result = by if by in FLOATS else x
    result = policy.canonical.get(result, result)
    why = _refused(rule, call.name, Types(by, target, compute, result), x, zero)
    return Refusal(why) if why else Types(by, target, compute, result)


def _refused(rule: Quantization, name: str, types: Types, x: DType, zero: DType | None) -> str:
    """Say which dtype the rule does not take; nothing where it takes them all."""
    back, faked = name == "dequantize", rule.faked if name == "fake_quantize" else None
    title, given, targets = faked or Faked(rule.title, rule.given, rule.targets)
    asked = [(types.scale, rule.scales - ({dt.int32} if back else set()), "scale")]
    asked += [(x, targets | {dt.int32}, "x")] if back else [(x, given, "x")]
    asked += [] if back else [(types.target, targets, "dtype")]
    asked += [] if faked or name == "quantize" else [(types.result, rule.restored, "dtype")]
    for dtype, those, what in asked:
        if dtype not in those:
            cast = what != "dtype" and dt.float32 in those and dtype.kind is not Kind.COMPLEX
            write = f": write pa.astype({what}, pa.float32)" if cast else ""
            return f"{title} takes {words_of(those)} as {what}, not {dtype.name}{write}"
    if rule.one_type and not back and x is not types.scale:
        which = f"scale, pa.{x.name}" if x in FLOATS else f"x, pa.{types.scale.name}"
        return f"x and scale must be of one type: write pa.astype({which})"
    alike = zero in (None, types.target) or not (rule.own_zero_points or zero.kind not in INTEGERS)
    made = types.target.name
    said = f"zero_point must be of {made}, as what is made: write pa.astype(zero_point, pa.{made})"
    return "" if alike else said


def words_of(those: frozenset[DType]) -> str:
    """Dtypes in the order of the tables."""
    return listed([row.name for row in dt.CONCRETE if row in those], "or") if those else "nothing"


# -- the steps ------------------------------------------------------------------------------------


def _narrowed(
    call: Call,
    to: CastRule,
    rule: Quantization,
    types: Types,
    x: Numbers,
    scale: Numbers,
    zero: Numbers | None,
) -> Numbers:
    """The narrow floats that x becomes."""
    made = _divided(rule, types.compute, x, scale)
    if zero is not None:
        made = computed("add", types.compute, made, zero)
    settings = to.settings(saturate=call.saturate) if to.knobs else None
    return cast(made, types.target, to.plan(types.compute, types.target, settings))


def _divided(rule: Quantization, compute: DType, x: Numbers, scale: Numbers) -> Numbers:
    if not rule.multiplies:
        return computed("divide", compute, x, scale)
    inverse = computed("divide", rule.compute or compute, number(1.0), scale)
    return computed("multiply", compute, x, inverse)


def _levels(
    rule: Quantization,
    name: str,
    types: Types,
    x: Numbers,
    scale: Numbers,
    zero: Numbers | None,
    limits: tuple[int, int],
) -> Numbers:
    """The integers that x becomes, as floats that hold them exactly."""
    compute = types.compute
    how = rule.rounding(name, bool(scale.buffer.ndim), types.target)
    zero = number(0) if zero is None else zero
    # A product of two float32 is exact in float64, so that the sum alone is rounded.
    quotient = _divided(rule, dt.float64 if how.adds == "fused" else compute, x, scale)
    if how.adds != "after":
        quotient = cast(computed("add", quotient.dtype, quotient, zero), compute)
    if how.halves == "up":
        rounded = computed("floor", compute, computed("add", compute, quotient, number(0.5)))
    else:
        rounded = computed("round", compute, quotient)
    few = max(map(abs, limits)) < 1 << 23 and not how.register
    wide = accumulator(compute) if few else dt.float64
    if how.adds == "after":
        rounded = _summed(how, wide, rounded, zero)
    bounded, ends = rounded, (("fmax", limits[0]), ("fmin", limits[1]))  # the first takes NaN
    for step, end in reversed(ends) if how.nan == "highest" else ends:
        bounded = computed(step, wide, bounded, number(end))
    if how.nan == "zero":
        bounded = _where(_called("isnan", wide, rounded), number(0), bounded)
    return bounded


def _summed(how: Rounding, wide: DType, rounded: Numbers, zero: Numbers) -> Numbers:
    if not how.register:
        return computed("add", wide, rounded, zero)
    end = 2.0 ** (how.register - 1)
    held = _called("less", wide, _called("abs", wide, rounded), number(end))
    total = computed("add", wide, _where(held, cast(rounded, wide), number(-end)), zero)
    wraps = _called("less", wide, total, number(-end))
    return _where(wraps, computed("add", wide, total, number(2 * end)), total)


def _shifted(x: Numbers, scale: Numbers, zero: Numbers | None, limits: tuple[int, int]) -> Numbers:
    """What TensorFlow makes of x in float32: steps of the scale, counted from the lowest number."""

    def step(name: str, *given: Numbers) -> Numbers:
        return computed(name, dt.float32, *given)

    least, most = (step("subtract", number(end), zero or number(0)) for end in limits)
    low, high = step("multiply", least, scale), step("multiply", most, scale)
    inside = step("maximum", step("minimum", x, high), low)
    steps = step("add", step("divide", step("subtract", inside, low), scale), least)
    return step("multiply", step("floor", step("add", steps, number(0.5))), scale)


def _where(condition: Numbers, this: Numbers, other: Numbers) -> Numbers:
    return computed("where", other.dtype, this, other, condition=condition.buffer)


def _restored(
    q: Numbers, scale: Numbers, zero: Numbers | None, result: DType, wide: DType
) -> Numbers:
    """``(q - zero_point) * scale``, computed in a wide dtype and rounded to the result."""
    if zero is not None:
        exact = dt.float64 if q.dtype.bits >= 32 else wide
        q = computed("subtract", exact, q, zero)
    return cast(computed("multiply", wide, q, scale), result)


def computed(name: str, dtype: DType, *given: Numbers, **options: Any) -> Numbers:
    """An operation on numbers of one dtype, rounded to it; narrow ones compute in float32."""
    narrow = (cast(x, dtype) for x in given)
    return cast(_called(name, accumulator(dtype), *narrow, **options), dtype)


def _called(name: str, dtype: DType, *given: Numbers, **options: Any) -> Numbers:
    near = next((x.buffer for x in given if type(x.buffer) is not np.ndarray), None)
    buffers = tuple(_beside(near, cast(x, dtype)) for x in given)
    backend = common_backend(*buffers)
    ((out, made),) = backend.call(name, buffers, dtype, **options)
    return Numbers(out, made)


def _beside(near: Any, x: Numbers) -> Any:
    """A buffer; a number lies where ``near`` does, unless that is lazy or there is none."""
    backend = None if near is None or x.buffer.ndim else backend_of(near)
    if backend is None or is_lazy(backend) or type(x.buffer) is not np.ndarray:
        return x.buffer
    return backend.from_numpy(x.buffer, x.dtype, backend.device_of(near))


def number(value: Any, dtype: DType = dt.float64) -> Numbers:
    """A Python number."""
    return Numbers(np.asarray(value, dtype.storage), dtype)


def cast(x: Numbers, dtype: DType, plan: Any = None) -> Numbers:
    if x.dtype is dtype:
        return x
    plan = plan or CAST.plan(x.dtype, dtype)
    return Numbers(backend_of(x.buffer).cast(x.buffer, x.dtype, dtype, *plan), dtype)


# -- scales, zero points and limits ---------------------------------------------------------------


def _entered(given: Given, dtype: DType, x: Numbers) -> Numbers:
    """A scale or a zero point as an array, where x is."""
    if isinstance(given, Numbers):
        return given
    return Numbers(_beside(x.buffer, Numbers(held_scalar(CAST, given, dtype), dtype)), dtype)


def _spread(call: Call, rule: Quantization, given: Numbers, shape: tuple[int, ...]) -> Numbers:
    """A scale or a zero point in a shape that broadcasts with x.

    Raises
    ------
    ValueError
        If it is neither one number, nor a vector along the axis, nor one number for each block.
    """
    buffer, own = given.buffer, given.buffer.shape
    block = integers(call.name, "block_size", call.block_size or 0)
    backend, axis = backend_of(buffer), rule.axis
    if type(block) is not int or block < 0:
        raise ValueError(f"{call.name}: block_size is 1 or more, not {quoted(call.block_size)}")
    if call.axis is not None:
        axis = axis_in(call.name, call.axis, len(shape))
    if prod(own) == 1 and (call.axis is None or rule.axis is not None or not own):
        return given._replace(buffer=backend.move("reshape", buffer, ()))
    if axis is None:
        raise TypeError(f"{call.name} with scales of shape {own}: write axis= along which they lie")
    axis = min(axis, len(shape) - 1)  # of a vector 0
    wanted = shape[axis : axis + 1] if shape else ()
    if block and shape:
        wanted = (*shape[:axis], -(-shape[axis] // block), *shape[axis + 1 :])
    if own != wanted:
        raise ValueError(
            f"{call.name} of shape {shape} along axis {axis}"
            f"{f' in blocks of {block}' if block else ''} takes scales and zero points of shape "
            f"{wanted}, or one number; not of shape {own}"
        )
    if not block:
        flat = tuple(own[0] if n == axis else 1 for n in range(len(shape)))
        return given._replace(buffer=backend.move("reshape", buffer, flat))
    repeated = backend.move("repeat", buffer, block, axis=axis)
    key = (*(slice(None),) * axis, slice(shape[axis]))
    return given._replace(buffer=backend.read(repeated, key))


def limits_of(call: Call, target: DType) -> tuple[int, int]:
    """The least and the largest integer, of the target or as asked for.

    Raises
    ------
    TypeError, ValueError
        If there are no such limits.
    """
    if target.kind not in INTEGERS:
        if call.limits is not None:
            raise TypeError(f"{call.name}: limits are for integers, not {target.name}")
        return 0, 0
    low, high = bounds(target)
    least, most = low, high
    if call.limits is not None:
        given = integers(call.name, "limits", call.limits)
        least, most = given if isinstance(given, tuple) and len(given) == 2 else (1, 0)
    if not low <= least <= most <= high:
        raise ValueError(
            f"{call.name}: limits are two integers of {target.name}, from {low} to {high}, the "
            f"lower one first, not {quoted(call.limits)}"
        )
    return least, most


def _require_held(name: str, target: DType, limits: tuple[int, int], zero_point: Given) -> None:
    """Raise ValueError for zero points beyond the limits, or beyond a narrow float; lazy ones are
    not looked at."""
    if target.kind is Kind.FLOAT:
        limits = -int(largest(target)), int(largest(target))
    ends: list[Any] = [zero_point]
    if isinstance(zero_point, Numbers):
        backend = backend_of(zero_point.buffer)
        if is_lazy(backend) or not zero_point.buffer.size:
            return
        found = backend.to_numpy(zero_point.buffer, zero_point.dtype)
        ends = [found.min().item(), found.max().item()]
    low, high = limits
    for end in ends:
        if end is not None and not low <= end <= high:
            raise ValueError(
                f"{name}: zero points of {target.name} lie from {low} to {high}, not at "
                f"{worded(end)}"
            )
