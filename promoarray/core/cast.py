"""Casts by a policy's cast rule: all that lies between arrays and the backends' casts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from promoarray import dtypes as dt
from promoarray.backends import backend_of, is_lazy
from promoarray.core import host
from promoarray.core.array_base import Array, storage_dtype, type_of
from promoarray.core.executable_cache import Executable, types_of
from promoarray.core.observers import observers_anywhere, tell
from promoarray.dtypes import DType, Kind
from promoarray.errors import quoted
from promoarray.promotion.cast_rules import CastRule
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.policy import Policy

Buffer = Any


def convert(
    policy: Policy,
    buffer: Buffer,
    source: DType,
    target: DType,
    settings: Mapping[str, object] | None = None,
) -> Buffer:
    """Cast a buffer by the policy's rule; the same object if there is nothing to do.

    ``settings`` is what ``policy.cast.settings`` returned; else the defaults hold.
    """
    if source is target:
        return buffer
    plan = policy.cast.plan(source, target, settings)
    return backend_of(buffer).cast(buffer, source, target, *plan)


def explicit(
    policy: Policy,
    buffer: Buffer,
    source: DType,
    target: DType,
    *,
    saturate: bool | int | None = None,
    round_mode: str | None = None,
) -> Buffer:
    """Cast as ``astype`` does: only what the policy admits, with the arguments it has.

    Raises PromotionError if the policy does not cast the pair; TypeError or ValueError if its casts
    have no such argument, or the argument no such choice.
    """
    from promoarray.core import refusals

    try:
        settings = policy.cast.settings(saturate=saturate, round_mode=round_mode)
    except (TypeError, ValueError) as error:
        raise type(error)(f"policy {quoted(policy.name)}: {error}") from None
    refusals.require_cast(policy, source, target)
    if dt.string in (source, target):
        from promoarray.core import string_cast  # regular expressions, for few programs

        numeric = partial(convert, policy, settings=settings)
        return string_cast.cast(buffer, source, target, numeric)
    return convert(policy, buffer, source, target, settings)


def astype(
    array: Array,
    dtype: object,
    *,
    copy: bool = True,
    saturate: bool | int | None = None,
    round_mode: str | None = None,
    made: bool = False,
) -> Array:
    """Cast an array as the policy in force, or its own, does; see ``promoarray.astype``.

    ``made`` says that it is asked for by another function, which makes the dtype itself: ``sum``.
    """
    policy, given = array._policy or get_policy(), array._buffer
    source, backend = storage_dtype(array), backend_of(given)
    given_dtype = dtype if type(dtype) is DType else policy.named(dtype)
    target = policy.canonical.get(given_dtype, given_dtype)
    target = target if made else policy.cast.target(source, target)
    is_plain, buffer = saturate is None and round_mode is None, given
    if source is not target or not is_plain:
        buffer = explicit(policy, given, source, target, saturate=saturate, round_mode=round_mode)
    if buffer is given:
        if copy:
            buffer = backend.copy(buffer)
        elif not changes(array, dtype, target):
            return array  # the object itself: `x is xp.astype(x, x.dtype, copy=False)`
    result = array._wrap(buffer, target)
    if copy and is_plain and not made:
        _keep(policy, backend, array, source, given_dtype, target)
    if observers_anywhere and is_plain:
        from promoarray.core.events import CastEvent

        event = CastEvent(policy, array, result, source, target, dtype, made)
        tell(lambda observer: observer.on_cast(event))
    return result


def _keep(
    policy: Policy, backend: Any, array: Array, source: DType, asked: DType, target: DType
) -> None:
    """Keep a cast for the fast path, which serves NumPy's buffers of plain types."""
    types = types_of(array)
    if types is None or dt.string in (source, target) or not policy.keeps_named(asked.name):
        return
    key = "astype", *types, asked.name
    if key in policy.executables:
        return
    run, kernel = backend.copy, None
    if source is not target:
        way = source, target, *policy.cast.plan(source, target)
        run, kernel = backend.caster(*way), backend.short_caster(*way)
    policy.executables[key] = Executable(run, (None,), target, (), kernel)


def changes(array: Array, asked: object, target: DType) -> bool:
    """Whether a cast to a dtype that was asked for changes the type of an array.

    Where policies are compared it may do so under some of them alone.
    """
    slot = array._type
    if type_of(slot) is not target or not observers_anywhere:
        return type_of(slot) is not target
    if isinstance(slot, DType):
        from promoarray.core.read_dtype import ReadDType  # while policies are compared

        return type(asked) is ReadDType
    return slot.read(target) is not asked


def scalar(policy: Policy, value: Any, dtype: DType) -> Buffer:
    """A 0-d buffer that holds a Python scalar, by the policy's rule."""
    return held(policy.cast, value, dtype)


def held(cast: CastRule, value: Any, dtype: DType) -> Buffer:
    """A 0-d buffer that holds a Python scalar, by a cast rule."""
    buffer, wide = host.wide(value, dtype)
    if wide is dtype:
        return buffer
    return backend_of(buffer).cast(buffer, wide, dtype, *cast.plan(wide, dtype))


# --- The same bits under another dtype: ``PArray.view`` -------------------------------------------


def reinterpreted(buffer: Any, source: DType, target: DType) -> Any:
    """Return a buffer of one dtype as one of another, in the same memory.

    Raises ValueError if the widths differ, or a code does not fit a narrow dtype.
    """
    if Kind.STRING in (source.kind, target.kind):
        raise ValueError("strings have no bits to look at")
    if source.part is target.part and source is not target:
        return _in_parts(buffer, source, target)
    backend = backend_of(buffer)
    width = target.storage.itemsize
    if width != source.storage.itemsize:
        raise ValueError(
            f"x.view keeps the width: {source.name} and {target.name} are stored in "
            f"{source.storage.itemsize} and {width} bytes an element"
        )
    if is_lazy(backend):
        return backend.recoded(buffer, source, target)
    codes = buffer.view(f"u{width}") if width <= 8 else buffer
    most = 1 if target is dt.bool else (1 << target.bits) - 1
    narrows = source.bits > target.bits or target is dt.bool
    if narrows and codes.size and int(codes.max()) > most:
        raise ValueError(f"{target.name} has no code beyond {most}")
    return codes.view(backend.storage(target))


def _in_parts(buffer: Any, source: DType, target: DType) -> Any:
    """Complex numbers as pairs of floats along the last axis, or back."""
    if is_lazy(backend_of(buffer)):
        raise ValueError(
            f"x.view({target.name}) of a lazy array of {source.name} would change the lengths of "
            "its chunks; write pa.real(x) and pa.imag(x), or pa.astype(x, ...)"
        )
    try:
        return buffer.view(backend_of(buffer).storage(target))
    except ValueError:
        raise ValueError(
            f"x.view({target.name}) of {source.name} and shape {buffer.shape} needs pairs of "
            "floats side by side along the last axis; write x.copy() first if they are not"
        ) from None
