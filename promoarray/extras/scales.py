"""Scales and zero points that a range, or the numbers themselves, ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from math import floor, log2
from typing import Any, NamedTuple

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.operands import array_class, as_array
from promoarray.core.shapes import axis_in, integers
from promoarray.dtypes import DType, Kind, as_dtype
from promoarray.errors import quoted
from promoarray.extras._quantize import Call, Numbers, cast, computed, limits_of, number, words_of
from promoarray.extras.quantization import answered, operand_of, quantize, refused
from promoarray.functions.creation import asarray
from promoarray.functions.data_types import result_type
from promoarray.kernels.cast_mode import DEFAULT, ScaleRounding, ScaleZero
from promoarray.parray import AnyDType, Data, PArray
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Refusal, accumulator
from promoarray.promotion.policy import Policy
from promoarray.promotion.quantization import Range
from promoarray.promotion.scalars import bounds, largest


class Quantized(NamedTuple):
    """What ``dynamic_quantize`` gives."""

    values: PArray
    scale: PArray
    zero_point: PArray | None


def dynamic_quantize(
    x: Data, *, dtype: AnyDType = dt.uint8, axis: int = -1, block_size: int | None = None
) -> Quantized:
    """Return numbers quantized by the scale that their range asks for, with it.

    Integers have one scale and zero point, of all elements, so that the range takes in 0
    (DynamicQuantizeLinear of ONNX; the range of PyTorch's ``MinMaxObserver``). Narrow floats have a
    power of two for each block, as the MX formats do: the largest one that is not above the
    greatest magnitude, divided by that of the dtype.

    Parameters
    ----------
    x : array, any shape
        Of floats.
    dtype : dtype_like
        An integer dtype of at most 16 bits, or float4, float6 or float8.
    axis : int
        Along which blocks of narrow floats lie.
    block_size : int, optional
        How many elements in a row share a scale: of narrow floats, by default 32.

    Returns
    -------
    Quantized
        ``values`` of ``dtype`` and the shape of x; ``scale``, float32 and one number, or
        float8_e8m0fnu and one for each block; ``zero_point`` of ``dtype``, or None.

    Raises
    ------
    PromotionError
        If the policy does not quantize these dtypes.
    TypeError
        If integers are asked for in blocks.
    ValueError
        If there are no elements, or no such axis or block.

    Notes
    -----
    Sources: ONNX Operators, DynamicQuantizeLinear; OCP Microscaling Formats (MX) 1.0, 6.3.

    Examples
    --------
    >>> x = asarray([0.0, 2.0, -3.0, -2.5, 1.34, 0.5], dtype=float32)
    >>> values, scale, zero_point = extras.dynamic_quantize(x)
    >>> values
    PArray([153, 255,   0,  26, 221, 179], dtype=uint8)
    >>> int(zero_point)
    153
    """
    array, target = as_array(x, "dynamic_quantize"), as_dtype(dtype)
    cls = array_class((array,))
    policy, given = cls._policy or get_policy(), Numbers(array._buffer, storage_dtype(array))
    if why := not_ranged(policy, given.dtype, target):
        raise refused(policy, "dynamic_quantize", (array,), why)
    if not array.size:
        raise ValueError("dynamic_quantize of an array without elements")
    if target.kind is Kind.FLOAT:
        block = 32 if block_size is None else block_size
        scale: Any = cls._wrap(*scales_of_blocks(given, target, axis, block))
        values = quantize(array, scale, dtype=target, axis=axis, block_size=block)
        return Quantized(values, scale, None)
    if block_size is not None:
        raise TypeError("dynamic_quantize to integers has one scale; leave block_size out")
    ask = partial(_scales, target, bounds(target), _least_and_most, (array,))
    scale, zero_point = answered("dynamic_quantize", (array,), ask)
    return Quantized(quantize(array, scale, zero_point, dtype=target), scale, zero_point)


def quantization_parameters(
    low: Data, high: Data, /, *, dtype: AnyDType = dt.uint8, limits: tuple[int, int] | None = None
) -> tuple[PArray, PArray]:
    """Return the scale and the zero point with which an integer dtype takes in a range.

    As ONNX's DynamicQuantizeLinear and PyTorch's ``MinMaxObserver`` find them, and TensorFlow's
    ``fake_quant_with_min_max_vars``, for which the range is as it is given.

    Parameters
    ----------
    low, high : array or float, shapes that broadcast
        The ends. Of an array and a float the float has the array's dtype; two floats are float32.
    dtype : dtype_like
        An integer dtype of at most 16 bits.
    limits : (int, int), optional
        As for ``fake_quantize``; ``(1, 255)`` is TensorFlow's ``narrow_range``.

    Returns
    -------
    scale, zero_point : PArray, the broadcast shape
        Of the common dtype of the ends, and of ``dtype``.

    Raises
    ------
    PromotionError
        If the policy finds no scales of these dtypes.
    ValueError
        If the limits are none of the dtype.

    Examples
    --------
    >>> with policy("tensorflow"):
    ...     scale, zero_point = extras.quantization_parameters(-6.0, 6.0)
    ...     extras.fake_quantize(asarray([2.5, 9.0], dtype=float32), scale, zero_point, dtype=uint8)
    PArray([2.4941177, 5.9764705], dtype=float32)
    """
    name, target = "quantization_parameters", as_dtype(dtype)
    ends = [operand_of(name, what, x, float) for what, x in (("low", low), ("high", high))]
    held = result_type(*ends) if any(isinstance(x, Array) for x in ends) else dt.float32
    arrays = tuple(asarray(x, dtype=held) for x in ends)
    if target.kind is Kind.FLOAT:
        raise TypeError(f"{name} takes an integer dtype, not {target.name}")
    asked = limits_of(Call(name, limits=limits), target)
    scale, zero_point = answered(name, arrays, partial(_scales, target, asked, iter, arrays))
    return scale, zero_point


def _scales(
    target: DType,
    limits: tuple[int, int],
    ends: Callable[[Iterable[Numbers]], Iterable[Numbers]],
    arrays: tuple[Array, ...],
    policy: Policy,
    types: tuple[DType, ...],
) -> tuple[Numbers, ...] | Refusal:
    """The scale and the zero point that a policy finds for a range, or why it finds none."""
    held = (Numbers(x._buffer, storage_dtype(x)) for x in arrays)
    given = tuple(map(cast, held, types))
    for x in given:
        if why := not_ranged(policy, x.dtype, target):
            return why
    least, most = ends(given)
    return of_range(least, most, target, limits, policy.quantization.range)


def _least_and_most(given: Iterable[Numbers]) -> Iterable[Numbers]:
    (x,) = given
    return (computed(name, accumulator(x.dtype), x) for name in ("min", "max"))


def not_ranged(policy: Policy, x: DType, target: DType) -> Refusal | None:
    """Return why a policy finds no scale for these dtypes."""
    given, targets = policy.quantization.ranged
    for dtype, those, what in ((x, given, "x"), (target, targets, "dtype")):
        if dtype not in those:
            return Refusal(f"it takes {words_of(those)} as {what}, not {dtype.name}")
    return None


# -- how they are found ---------------------------------------------------------------------------


def of_range(
    least: Numbers, most: Numbers, target: DType, limits: tuple[int, int], rule: Range
) -> tuple[Numbers, Numbers]:
    """The scale and the zero point with which integers take in a range."""
    wide, zero = accumulator(least.dtype), number(0)
    low, high = map(number, limits)

    def step(name: str, *given: Numbers) -> Numbers:
        return computed(name, wide, *given)

    with np.errstate(all="ignore"):
        if rule.zero:
            least, most = step("minimum", least, zero), step("maximum", most, zero)
        extent = step("subtract", most, least)
        scale = step("divide", extent, step("subtract", high, low))
        scale = step("maximum", scale, number(rule.least))
        place = step("divide", least, scale)
        if rule.rounds_quotient:
            place = step("round", place)
        place = step("fmin", step("fmax", step("subtract", low, place), low), high)
        if rule.zero:
            return scale, cast(step("round", place), target)
        return scale, cast(step("floor", step("add", place, number(0.5))), target)


def scales_of_blocks(x: Numbers, target: DType, axis: Any, block: Any) -> Numbers:
    """For each block the power of two by which its greatest magnitude comes to the dtype's."""
    shape, backend = x.buffer.shape, backend_of(x.buffer)
    axis = axis_in("dynamic_quantize", axis, len(shape))
    size = integers("dynamic_quantize", "block_size", block)
    if type(size) is not int or size < 1:
        raise ValueError(f"dynamic_quantize: block_size is 1 or more, not {quoted(block)}")
    wide, short = accumulator(x.dtype), -shape[axis] % size
    magnitudes = computed("abs", wide, x).buffer
    if short:
        border = backend.zeros(
            (*shape[:axis], short, *shape[axis + 1 :]), wide, backend.device_of(magnitudes)
        )
        ((magnitudes, _),) = backend.call("concat", (magnitudes, border), wide, axis=axis)
    blocks = (*shape[:axis], (shape[axis] + short) // size, size, *shape[axis + 1 :])
    inside = Numbers(backend.move("reshape", magnitudes, blocks), wide)
    greatest = computed("max", wide, inside, axis=axis + 1)
    least = number(2.0 ** -floor(log2(largest(target))))
    return cast(computed("multiply", wide, greatest, least), dt.float8_e8m0fnu, (_TO_SCALE, ()))


_TO_SCALE = DEFAULT._replace(scale_rounding=ScaleRounding.DOWN, scale_zero=ScaleZero.SMALLEST)
