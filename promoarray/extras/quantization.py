"""Quantization: floats as scaled integers or narrow floats, and back, as frameworks have it.

No operator is called: observers hear of one ``quantize``, and ask the other policies for theirs.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import methodcaller
from typing import Any

from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.observers import observers_anywhere, tell
from promoarray.core.operands import array_class, as_array, as_operand
from promoarray.dtypes import DType, as_dtype
from promoarray.errors import PromotionError, quoted
from promoarray.extras._quantize import Call, Numbers, carried_out, cast
from promoarray.functions._docs import template
from promoarray.parray import AnyDType, Data, PArray
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Operand, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import worded

__all__ = ["dequantize", "fake_quantize", "quantize"]

_documented = template(
    """
    Parameters
    ----------
    x : array, any shape
        {x}
    scale : array or float
        One number; a vector along ``axis``; with ``block_size`` an array of the shape of x, where
        ``axis`` has an element for each block.
    zero_point : array or int, optional
        Of the shape of the scale, or one number. Default 0.
    {dtype}
    axis : int, optional
        Along which scales lie. Default 1, or 0 of a vector; under PyTorch's policies there is none.
    block_size : int, optional
        How many elements in a row share a scale; the last block may be shorter.
    {more}

    Returns
    -------
    PArray
        Of the shape of x.
        {result}

    Raises
    ------
    PromotionError
        If the policy does not quantize these dtypes.
    TypeError
        If the policy's framework has no such argument, or asks for one.
    ValueError
        If a shape does not fit, or a zero point or limit lies beyond the target.
    """,
    more="",
)
_LIMITS = """
    limits : (int, int), optional
        The least and the largest integer, as of fewer bits. Default: the target's.
    """
_SATURATE = """
    saturate : bool, optional
        Whether what lies beyond a narrow float becomes its largest value; by default it does.
    precision : dtype_like, optional
        What is divided in. Default: the dtype of the scale.
    """


@_documented(
    x="Of floats, or of int32.",
    dtype="""
    dtype : dtype_like, optional
        int2 to int32, float4 to float8. Default: that of ``zero_point``, or uint8.
    """,
    more=_SATURATE.rstrip() + _LIMITS,
    result="Of ``dtype``.",
)
def quantize(
    x: Data,
    scale: Data,
    zero_point: Data | None = None,
    *,
    dtype: AnyDType | None = None,
    axis: int | None = None,
    block_size: int | None = None,
    saturate: bool | None = None,
    precision: object = None,
    limits: tuple[int, int] | None = None,
) -> PArray:
    """Return ``saturate(round(x / scale) + zero_point)``, as the policy's framework computes it.

    ONNX divides and rounds halves to even; PyTorch multiplies by ``1 / scale`` in float32 and
    rounds with the zero point added. Policies without quantization take ONNX's
    ([docs/quantization.md](quantization.md)).

    Examples
    --------
    >>> x = asarray([0.5, 1.5, 2.5, 300.0], dtype=float32)
    >>> extras.quantize(x, 1.0, 1, dtype=uint8)
    PArray([  1,   3,   3, 255], dtype=uint8)
    >>> with policy("torch"):
    ...     extras.quantize(x, 1.0, 1, dtype=uint8)
    PArray([  2,   2,   4, 255], dtype=uint8)
    """
    asked = _dtype(dtype), axis, block_size, saturate, _dtype(precision), limits
    return _run(Call("quantize", *asked), x, scale, zero_point)


@_documented(
    x="Of a quantized dtype, or int32.",
    dtype="""
    dtype : dtype_like, optional
        Of the result, and of the product. Default: that of the scale.
    """,
    result="Of ``dtype``, or that of the scale.",
)
def dequantize(
    x: Data,
    scale: Data,
    zero_point: Data | None = None,
    *,
    dtype: AnyDType | None = None,
    axis: int | None = None,
    block_size: int | None = None,
) -> PArray:
    """Return ``(x - zero_point) * scale``.

    Examples
    --------
    >>> x = asarray([0, 128, 255], dtype=uint8)
    >>> extras.dequantize(x, 0.5, 128, dtype=float32)
    PArray([-64. ,   0. ,  63.5], dtype=float32)
    """
    return _run(Call("dequantize", _dtype(dtype), axis, block_size), x, scale, zero_point)


@_documented(
    x="Of floats.",
    dtype="""
    dtype : dtype_like, optional
        What is quantized to in between. Default: that of ``zero_point``, or uint8; of ``limits``
        alone int32.
    """,
    more=_LIMITS,
    result="Of the dtype of the scale; under PyTorch's and TensorFlow's policies of that of x.",
)
def fake_quantize(
    x: Data,
    scale: Data,
    zero_point: Data | None = None,
    *,
    dtype: AnyDType | None = None,
    axis: int | None = None,
    block_size: int | None = None,
    limits: tuple[int, int] | None = None,
) -> PArray:
    """Return what is left of numbers that are quantized and dequantized again.

    Examples
    --------
    >>> x = asarray([0.26, 0.25, -9.0], dtype=float32)
    >>> extras.fake_quantize(x, 0.1, dtype=int8, limits=(-8, 7))
    PArray([ 0.3,  0.2, -0.8], dtype=float32)
    """
    asked = _dtype(dtype), axis, block_size, None, None, limits
    return _run(Call("fake_quantize", *asked), x, scale, zero_point)


def _dtype(given: object) -> DType | None:
    return None if given is None else as_dtype(given)


def _run(call: Call, x: Any, scale: Any, zero_point: Any) -> PArray:
    array = as_array(x, call.name)
    given = (
        array,
        operand_of(call.name, "scale", scale, float),
        None if zero_point is None else operand_of(call.name, "zero_point", zero_point, int),
    )
    arrays = tuple(each for each in given if isinstance(each, Array))
    (result,) = answered(call.name, arrays, partial(_asked, call, given))
    return result


Ask = Callable[[Policy, tuple[DType, ...]], tuple[Numbers, ...] | Refusal]
"""What a policy makes of arrays that are of these types under it."""


def answered(name: str, arrays: tuple[Array, ...], ask: Ask) -> tuple[PArray, ...]:
    """The arrays that the policy makes; observers ask other policies for theirs, one by one.

    Raises PromotionError if the policy makes nothing of these dtypes.
    """
    cls: Any = array_class(arrays)
    policy = cls._policy or get_policy()
    found = ask(policy, tuple(map(storage_dtype, arrays)))
    if isinstance(found, Refusal):
        raise found.error or refused(policy, name, arrays, found)
    made = tuple(cls._wrap(*each) for each in found)
    if observers_anywhere:
        from promoarray.core.events import QuantizeEvent

        for which, result in enumerate(made):
            event = QuantizeEvent(name, policy, arrays, result, partial(_one_of, ask, which))
            tell(methodcaller("on_quantize", event))
    return made


def _one_of(ask: Ask, which: int, *asked: Any) -> Numbers | Refusal:
    found = ask(*asked)
    return found if isinstance(found, Refusal) else found[which]


def operand_of(name: str, what: str, given: Any, number: type) -> Any:
    """An array, or a Python number.

    Raises
    ------
    TypeError, OverflowError
        If it is neither, or an int that no float holds.
    """
    operand = as_operand(given)
    if isinstance(operand, Array):
        return operand
    if type(operand) in (int, number):
        try:
            return number(operand)
        except OverflowError:
            raise OverflowError(
                f"{name}: {what} is {worded(operand)}, which no float64 holds"
            ) from None
    kind = "a float" if number is float else "an int"
    raise TypeError(
        f"{name} takes an array or {kind} as {what}, not {quoted(given)}; write pa.asarray(...)"
    )


def _asked(
    call: Call, given: tuple[Any, ...], policy: Policy, types: tuple[DType, ...]
) -> tuple[Numbers] | Refusal:
    left = iter(types)
    numbers = [
        cast(Numbers(x._buffer, storage_dtype(x)), next(left)) if isinstance(x, Array) else x
        for x in given
    ]
    made = carried_out(call, policy, *numbers)
    return made if isinstance(made, Refusal) else (made,)


def refused(
    policy: Policy, name: str, arrays: tuple[Array, ...], refusal: Refusal
) -> PromotionError:
    operands = tuple(Operand(storage_dtype(x)) for x in arrays)
    shown = f"{name}({', '.join(operand.type.name for operand in operands)})"
    message = f"policy {quoted(policy.name)} has no {shown}: {refusal.reason}"
    return PromotionError(message, policy, name, operands, refusal.reason)
