"""Chapter "data type functions": casts, limits, and questions about promotion."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from promoarray.core import cast
from promoarray.core.executable import keep_answer
from promoarray.core.fast_path import fast_function
from promoarray.core.observers import observers_anywhere
from promoarray.core.operands import (
    admitted,
    as_array,
    as_operand,
    canonicalize,
    entries,
    operand_of,
    operands_of,
    plain_number,
    policy_of,
)
from promoarray.core.read_dtype import answered, decided, kept_dtype, plain
from promoarray.core.refusals import promotion_error
from promoarray.dtypes import INTEGERS, WEAK, DType, Format
from promoarray.dtypes import isdtype as _isdtype
from promoarray.kernels.float_state import in_default_float_state
from promoarray.operations import Form
from promoarray.parray import AnyArray, AnyDType, PArray
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Operand, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import bounds

__all__ = ["astype", "can_cast", "finfo", "iinfo", "isdtype", "promote_types", "result_type"]


@fast_function("astype", form=Form.OPERATOR)
def astype(
    x: AnyArray,
    dtype: AnyDType,
    /,
    *,
    copy: bool = True,
    device: str | None = None,
    saturate: bool | int | None = None,
    round_mode: str | None = None,
) -> PArray:
    """Cast an array to a dtype by the cast rule of the policy in force.

    Parameters
    ----------
    x : array, any shape
    dtype : dtype_like
    copy : bool
        False returns the array itself where nothing has to change.
    device : str, optional
    saturate : bool, optional
        Whether what a float8 cannot hold becomes its largest value. Only ``onnx@19`` and later let
        a cast choose (there it is on by default).
    round_mode : {"up", "down", "nearest"}, optional
        Which power of two float8_e8m0fnu takes. Only ``onnx@24`` and later let a cast choose.

    Returns
    -------
    PArray
        Of the same shape. Floats are rounded once, to nearest, ties to even.

    Raises
    ------
    PromotionError
        If the policy does not cast this pair (ONNX, by opset; complex to real in ``array_api``).
    TypeError
        If ``x`` is no array, ``dtype`` names none, or the policy's casts have no such argument.
    ValueError
        If an argument has no such choice.

    Notes
    -----
    Policies differ in what becomes of values that the target cannot hold. Beyond a float8: NumPy,
    JAX, TensorFlow and aclnn give Inf, or NaN where there is no Inf; PyTorch saturates
    float8_e4m3fn (2.11 did not), Paddle also float8_e5m2, ONNX as ``saturate`` says. Beyond an
    integer: NumPy, PyTorch, Paddle and ONNX give what their builds for x86-64 give, or an edition
    of another machine what that gives; JAX saturates, aclnn does as the Ascend 950. docs/casts.md
    has a table for each policy; bugs of shipped frameworks are quirks, on with
    ``policy.with_quirks``.

    Examples
    --------
    >>> x = asarray([500.0, -0.3], dtype=float32)
    >>> astype(x, float8_e4m3fn)
    PArray([    nan, -0.3125], dtype=float8_e4m3fn)
    """
    array = as_array(x, "astype")
    out: Any = cast.astype(array, dtype, copy=copy, saturate=saturate, round_mode=round_mode)
    return out if device is None else out.to_device(device)


def _entered(x: Any, policy: Policy) -> Any:
    """What ``result_type`` is asked about: an array, a Python scalar, or a dtype alone."""
    entered = as_operand(x)
    if entered is not NotImplemented:
        return canonicalize(policy, x, entered)
    return _named(x)


def _is_foreign(x: Any, beside: bool) -> bool:
    """Whether the dtype that it has does not tell what it enters as: a number of a class derived
    from Python's, or what is NumPy's ``beside`` arrays of a policy that has ``foreign`` operands.
    """
    if isinstance(x, (np.generic, np.ndarray)):
        return beside
    return type(x) not in WEAK and plain_number(x) is not NotImplemented


def _named(dtype: Any) -> DType:
    """The dtype that is named; what was read from an array stays what the program read."""
    return dtype if isinstance(dtype, DType) else get_policy().named(dtype)


def _operand(x: Any, policy: Policy) -> Operand:
    """An operand as the run's policy sees it."""
    if not isinstance(x, DType):
        return operand_of(x, policy)
    dtype = plain(x)
    return Operand(policy.canonical.get(dtype, dtype))


@fast_function("result_type", settings={"makes": PArray})
def result_type(*arrays_and_dtypes: Any) -> DType:
    """Return the common dtype of operands under the policy in force.

    Parameters
    ----------
    *arrays_and_dtypes : array, Python scalar or dtype_like
        Arrays may have any shape. 0-d ones and Python scalars count as the policy says.

    Returns
    -------
    DType
        Concrete: a weakly typed result is given as the dtype it is stored in.

    Raises
    ------
    PromotionError
        If the policy has no common dtype for them.
    TypeError
        If there are none, or one is neither an array, a scalar nor a dtype.

    Examples
    --------
    >>> result_type(int8, float32, 1.5).name
    'float32'
    """
    if not arrays_and_dtypes:
        raise TypeError("result_type needs at least one array, scalar or dtype")
    policy = policy_of(*arrays_and_dtypes)
    entered = tuple(_entered(x, policy) for x in arrays_and_dtypes)
    decide, form = policy.result_type, Form.FUNCTION
    if policy.foreign is not None:
        ways = entries(policy, "result_type", form, arrays_and_dtypes, entered)
        entered = tuple(map(partial(admitted, policy, "result_type", form, entered), entered, ways))
    operands = operands_of(entered, policy, decide, "concat", form, _operand)
    common = policy.result_type(operands)
    if isinstance(common, Refusal):
        raise promotion_error(policy, "result_type", operands, common)
    answer = policy.strong(common)
    beside = policy.foreign is not None and any(isinstance(x, PArray) for x in arrays_and_dtypes)
    if not any(_is_foreign(x, beside) for x in arrays_and_dtypes):
        keep_answer(policy, "result_type", arrays_and_dtypes, answer, by_value=True)
    return answered("result_type", policy, entered, answer, Policy.result_type)


@fast_function("promote_types", settings={"makes": PArray})
def promote_types(type1: AnyDType, type2: AnyDType, /) -> DType:
    """Return the common dtype of two dtypes under the policy in force.

    Parameters
    ----------
    type1, type2 : dtype_like

    Returns
    -------
    DType

    Raises
    ------
    PromotionError
        If the policy has none for them.
    TypeError
        If one is no dtype.

    Examples
    --------
    >>> promote_types(int8, uint8).name
    'int16'
    """
    policy = get_policy()
    operands = Operand(policy.named(type1)), Operand(policy.named(type2))
    answer = _promoted(policy, operands)
    if isinstance(answer, Refusal):
        raise promotion_error(policy, "promote_types", operands, answer)
    asked = _named(type1), _named(type2)
    keep_answer(policy, "promote_types", (type1, type2), answer)
    return answered("promote_types", policy, asked, answer, _promoted)


def _promoted(policy: Policy, operands: tuple[Operand, ...]) -> DType | Refusal:
    common = policy.promote(operands[0].type, operands[1].type)
    return Refusal(policy.refusal) if common is None else policy.strong(common)


@fast_function("can_cast", settings={"makes": PArray})
def can_cast(from_: Any, to: AnyDType, /) -> bool:
    """Return whether the policy in force calls a cast allowed.

    Parameters
    ----------
    from_ : array of any shape, or dtype_like
    to : dtype_like

    Returns
    -------
    bool

    Raises
    ------
    TypeError
        If one is no dtype.

    Notes
    -----
    Frameworks mean different things by it: NumPy and the array API that no value is lost, PyTorch
    that no kind is lost, aclnn 互转换关系 that a computed dtype may be written to an ``out`` of
    another. The policy's sources say which.

    Examples
    --------
    >>> can_cast(int32, float32)
    False
    >>> with policy("torch"):
    ...     can_cast(int32, float32)
    True
    """
    policy = policy_of(from_)
    target = _named(to)
    answer: bool = decided(_can_cast, _row(from_), target, policy=policy)
    keep_answer(policy, "can_cast", (from_, to), answer)
    return answer


def _can_cast(policy: Policy, source: DType, target: DType) -> bool:
    return policy.can_cast(source, target)


def isdtype(dtype: AnyDType, kind: object) -> bool:
    """Return whether ``dtype`` is of ``kind``.

    Parameters
    ----------
    dtype : dtype_like
    kind : dtype_like, str or tuple
        A dtype, which asks for identity; one of the array API's kinds ``"bool"``,
        ``"signed integer"``, ``"unsigned integer"``, ``"integral"``, ``"real floating"``,
        ``"complex floating"``, ``"numeric"``; or a tuple of either, any of which may hold.

    Returns
    -------
    bool
        The same under every policy.

    Raises
    ------
    TypeError
        If ``kind`` is neither.

    Examples
    --------
    >>> isdtype(bfloat16, "real floating")
    True
    >>> isdtype(int4, ("bool", "unsigned integer"))
    False
    """
    if not observers_anywhere:
        return _isdtype(dtype, kind)
    found: bool = decided(_of_kind, dtype, kind)
    return found


def _of_kind(policy: Policy, dtype: object, kind: object) -> bool:
    return _isdtype(dtype, kind)


class finfo_object(NamedTuple):
    """The limits of a float dtype, as Python floats."""

    bits: int
    eps: float
    max: float
    min: float
    smallest_normal: float
    dtype: DType


class iinfo_object(NamedTuple):
    """The limits of an integer dtype."""

    bits: int
    max: int
    min: int
    dtype: DType


def _row(type: Any) -> DType:
    """The dtype of an array, or the one that is named."""
    entered = as_operand(type)
    if isinstance(entered, PArray):
        return kept_dtype(entered)
    return _named(type)


@fast_function("finfo", settings={"makes": PArray})
def finfo(type: Any, /) -> finfo_object:
    """Return the limits of a float dtype, or of the parts of a complex one.

    Parameters
    ----------
    type : array of any shape, or dtype_like

    Returns
    -------
    finfo_object
        With ``bits``, ``eps``, ``max``, ``min``, ``smallest_normal`` as Python numbers and the real
        ``dtype``. ``min`` is 2**-127 for float8_e8m0fnu, which has no sign.

    Raises
    ------
    TypeError
        If the dtype is neither float nor complex.

    Examples
    --------
    >>> finfo(float8_e4m3fn).max
    448.0
    """
    row = _row(type).part
    found: finfo_object = decided(_float_limits, row)
    keep_answer(get_policy(), "finfo", (type,), found)
    return found if found.dtype is row else found._replace(dtype=row)


def _float_limits(policy: Policy, row: DType) -> finfo_object:
    if row.format is None:
        raise TypeError(f"finfo takes a float or complex dtype, not {row.name}; write pa.iinfo")
    return _limits(row, row.format)


@in_default_float_state
def _limits(row: DType, layout: Format) -> finfo_object:
    largest = value_of(layout, layout.largest)
    normal = 2.0 ** (1 - layout.bias) if layout.mantissa else 2.0**-layout.bias
    lowest = -largest if layout.signed else value_of(layout, 0)
    return finfo_object(row.bits, 2.0**-layout.mantissa, largest, lowest, normal, row)


def value_of(layout: Format, code: int) -> float:
    """The value of a finite, positive code of a float format."""
    exponent, mantissa = code >> layout.mantissa, code & ((1 << layout.mantissa) - 1)
    if not layout.mantissa:  # e8m0 is a bare power of two, without subnormals
        return 2.0 ** (exponent - layout.bias)
    hidden = (1 << layout.mantissa) if exponent else 0
    return (hidden + mantissa) * 2.0 ** (max(exponent, 1) - layout.bias - layout.mantissa)


@fast_function("iinfo", settings={"makes": PArray})
def iinfo(type: Any, /) -> iinfo_object:
    """Return the limits of an integer dtype.

    Parameters
    ----------
    type : array of any shape, or dtype_like

    Returns
    -------
    iinfo_object
        With ``bits``, ``max``, ``min`` as Python ints and the ``dtype``.

    Raises
    ------
    TypeError
        If the dtype is no integer.

    Examples
    --------
    >>> iinfo(int4).min
    -8
    """
    row = _row(type)
    found: iinfo_object = decided(_integer_limits, row)
    keep_answer(get_policy(), "iinfo", (type,), found)
    return found if found.dtype is row else found._replace(dtype=row)


def _integer_limits(policy: Policy, row: DType) -> iinfo_object:
    if row.kind not in INTEGERS:
        raise TypeError(f"iinfo takes an integer dtype, not {row.name}; write pa.finfo")
    low, high = bounds(row)
    return iinfo_object(row.bits, high, low, row)
