"""Assignment: ``x[key] = value`` casts to the target's dtype, whatever the policy promotes."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from promoarray import dtypes as dt
from promoarray.backends import common_backend, find
from promoarray.backends.numpy import write
from promoarray.backends.numpy.cast import caster, short_caster
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.cast import convert, explicit
from promoarray.core.executable import as_buffer
from promoarray.core.executable_cache import Executable, types_of
from promoarray.core.move import require_taken
from promoarray.core.observers import observers_anywhere, tell
from promoarray.core.operands import (
    admitted,
    array_class,
    as_operand,
    entries,
    fitted,
    in_compiled_code,
    operand_of,
    scalar_buffer,
)
from promoarray.dtypes import WEAK, DType, Kind
from promoarray.errors import PromotionError, kind_of, quoted
from promoarray.kernels.float_state import in_default_float_state
from promoarray.operations import Form
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Operand, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import held_by_floats


@in_default_float_state
def assign(target: Array, key: Any, value: Any) -> None:
    """Write ``target[key] = value``, cast to the target's dtype.

    Raises PromotionError if the policy does not write such a value into the target's dtype: complex
    numbers into real ones; ``array_api`` only what promotes to it; PyTorch no other dtype at index
    arrays; TypeError if the value is neither an array nor a Python scalar; ValueError or
    OverflowError if it is a NaN, an infinity or a number too large for a target of integers.
    """
    operand, dtype = as_operand(value), storage_dtype(target)
    if operand is NotImplemented:
        kind = kind_of(value)
        raise TypeError(f"x[...] = {kind}: write pa.asarray(...) around the values first")
    policy = array_class((target, operand))._policy or get_policy()
    if policy.foreign is not None:
        pair = target, operand
        _, way = entries(policy, "setitem", Form.INPLACE, (target, value), pair)
        operand = admitted(policy, "setitem", Form.INPLACE, pair, operand, way)
    source = WEAK[type(operand)] if type(operand) in WEAK else storage_dtype(operand)
    asked = "setitem" in policy.refuses or policy.needs_kernels or observers_anywhere
    if asked and not source.weak and _puts(key, operand):
        require_taken("setitem", target, operand)
    buffer = _converted(policy, target, operand, source)
    at_one = _has_axes_too_many(target, key, buffer)
    if at_one:
        buffer = _as_one_element(policy, dtype, buffer)
    if type(operand) in WEAK:
        buffer = common_backend(target._buffer).from_numpy(buffer, dtype)
    event = None
    if observers_anywhere:
        from promoarray.core.events import SetitemEvent

        foreign = None if type(value) in WEAK or isinstance(value, Array) else value
        event = SetitemEvent(policy, target, operand, source, dtype, foreign)
        tell(lambda observer: observer.on_write(event))
    _write(target._buffer, key, buffer)
    common = _meeting(policy, dtype, source)
    if not observers_anywhere and not at_one:
        _keep(policy, target, key, operand, source, common)
    if common is not dtype and common_backend(target._buffer).read(target._buffer, key).size:
        _write(target._buffer, ..., _through(policy, target._buffer, dtype, common, dtype))
    if event is not None:
        tell(lambda observer: observer.on_setitem(event))


def _keep(
    policy: Policy, target: Array, key: Any, operand: Any, source: DType, common: DType
) -> None:
    """Keep how Python scalars, and arrays of a dtype, are written: at ints and slices; at index
    arrays and masks, where a policy may refuse some of the latter; or one value wherever masks are
    true, where it refuses none. Not where the policy casts all of the target on the way."""
    types, dtype = types_of(target, operand), storage_dtype(target)
    if types is None or dt.string in (source, dtype) or common is not dtype:
        return
    arrays = _index_arrays(key)
    is_one = type(operand) not in WEAK and operand.size == 1
    at_arrays = [not (is_one and _is_one_mask(arrays))] if arrays else []
    refuses = policy.refuses.get("setitem") if any(at_arrays) and not source.weak else None
    if refuses is not None and refuses((dtype, source)):
        return  # at index arrays that have axes it is refused
    known = "setitem", *types, *at_arrays
    if known in policy.executables:
        return
    enter = run = kernel = None  # `target[key] = value` does it
    if source.weak:
        fit = policy.assigning
        enter = in_compiled_code(policy, fit, dtype, partial(as_buffer, policy.cast, fit, dtype))
    elif source is dtype:
        run = write
    else:
        way = source, dtype, *policy.cast.plan(source, dtype)
        cast = caster(*way)
        run, kernel = partial(_write_cast, cast), short_caster(*way) or cast
    policy.executables[known] = Executable(run, (None, enter), dtype, (), kernel)


Cast = Callable[[Any], Any]


def _write_cast(cast: Cast, target: Any, key: Any, values: Any) -> None:
    """Write a buffer of another dtype into one."""
    write(target, key, cast(values))


def _puts(key: Any, value: Any) -> bool:
    """Whether values are put where arrays say, and not one of an array wherever a mask is true; an
    integer array without axes is an int."""
    arrays = [part for part in _index_arrays(key) if part.ndim or part.dtype == bool]
    is_one = type(value) not in WEAK and value.size == 1
    return bool(arrays) and not (is_one and _is_one_mask(arrays))


def _is_one_mask(arrays: list[Any]) -> bool:
    return len(arrays) == 1 and arrays[0].dtype == bool and arrays[0].ndim > 0


def _index_arrays(key: Any) -> list[Any]:
    """The index arrays and masks of a key."""
    parts = key if type(key) is tuple else (key,)
    return [part for part in parts if find(type(part)) is not None]


def _converted(policy: Policy, target: Array, operand: Any, source: DType) -> Any:
    """An array or a Python scalar as a buffer of the target's dtype, by the policy's cast rule."""
    dtype, is_scalar = storage_dtype(target), type(operand) in WEAK
    if dt.string in (source, dtype):
        strong = policy.strong(source)
        given = fitted(policy, operand, strong) if is_scalar else operand._buffer
        return explicit(policy, given, strong, dtype)
    if is_scalar:
        try:
            value = policy.assigning(operand, dtype)
        except TypeError as error:
            _recovered(policy, target, operand, source, Refusal(str(error)))
            raise _refused(policy, dtype, operand, source, str(error)) from None
        except (OverflowError, ValueError) as error:
            _recovered(policy, target, operand, source, Refusal(str(error), error))
            raise
        return scalar_buffer(policy.cast, held_by_floats(value, dtype), dtype)
    why = policy.assigns(source, dtype)
    if why and not _recovered(policy, target, operand, source, Refusal(why)):
        raise _refused(policy, dtype, operand, source, why)
    return _through(policy, operand._buffer, source, _meeting(policy, dtype, source), dtype)


def _recovered(
    policy: Policy, target: Array, operand: Any, source: DType, refusal: Refusal
) -> bool:
    """Whether an observer has the value cast to the target's dtype, though that is refused."""
    if not observers_anywhere:
        return False
    from promoarray.core.events import RefusalEvent

    seen = Operand(storage_dtype(target)), operand_of(operand, policy)
    event = RefusalEvent("setitem", Form.INPLACE, policy, (target, operand), seen, refusal)
    return any(tell(lambda observer: observer.on_refusal(event)))


def _meeting(policy: Policy, dtype: DType, source: DType) -> DType:
    """The dtype that a target and a value meet in; that of the target if the policy has none."""
    common = policy.meets and policy.meets(dtype, source)
    return dtype if common is None else policy.strong(common)


def _through(policy: Policy, buffer: Any, source: DType, common: DType, dtype: DType) -> Any:
    return convert(policy, convert(policy, buffer, source, common), common, dtype)


def _refused(policy: Policy, dtype: DType, operand: Any, source: DType, why: str) -> PromotionError:
    """The error for a value that may not be written into a dtype."""
    given = f"a {Operand(source)}" if source.weak else source.name
    real = source.kind is Kind.COMPLEX and dtype.kind is not Kind.COMPLEX
    value = "pa.real(y)" if real else "y"
    message = (
        f"policy {quoted(policy.name)} does not write {given} into {dtype}: {why}. "
        f"Write x[...] = pa.astype({value}, pa.{dtype})"
    )
    operands = Operand(dtype), operand_of(operand, policy)
    return PromotionError(message, policy, "setitem", operands, why, form=Form.INPLACE)


def _has_axes_too_many(target: Array, key: Any, values: Any) -> bool:
    """Whether an array with axes is written at ints, where there is one element."""
    parts = key if type(key) is tuple else (key,)
    at_ints = len(parts) == target.ndim and all(map(_is_int, parts))
    return at_ints and bool(getattr(values, "ndim", 0))


def _is_int(part: Any) -> bool:
    """Whether a part of a key is an int, or an integer array without axes."""
    if type(part) is int:
        return True
    return find(type(part)) is not None and not part.ndim and part.dtype != bool


def _as_one_element(policy: Policy, dtype: DType, values: Any) -> Any:
    """An array of one element without its axes, where a policy takes such; NumPy 2.4 does not but
    for a bool."""
    takes = "setitem", "setitem bool" if dtype is dt.bool else "setitem"
    if not policy.one_element.isdisjoint(takes) and values.size == 1:
        return common_backend(values).move("reshape", values, ())
    raise _no_room(values.shape, ())


def _no_room(given: tuple[int, ...], room: tuple[int, ...]) -> ValueError:
    return ValueError(
        f"x[...] = y: y of shape {given} does not broadcast to {room}, the shape of x[...]"
    )


def _write(target: Any, key: Any, values: Any) -> None:
    """Write a buffer into another of its dtype."""
    backend = common_backend(target, values)
    if not backend.writeable(target):
        raise ValueError(
            "x[...] = y: x is read-only, as what broadcast_to returns; write x = pa.asarray(x, "
            "copy=True) before"
        )
    try:
        backend.write(target, key, values)
    except (TypeError, ValueError):  # ml_dtypes' own is the former, of an array for one place
        raise _no_room(values.shape, backend.read(target, key).shape) from None
