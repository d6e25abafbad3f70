"""Casts by a policy's cast rule: the one door between arrays and the backends' casts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.backends import numpy as numpy_backend
from promoarray.dtypes import DType, Kind
from promoarray.errors import PromotionError
from promoarray.policies.casting import Step
from promoarray.policies.plans import Operand

if TYPE_CHECKING:
    from promoarray.policies.policy import Policy

Buffer = Any


def convert(
    policy: Policy,
    buffer: Buffer,
    source: DType,
    target: DType,
    settings: Mapping[str, object] | None = None,
) -> Buffer:
    """Cast a buffer by the policy's rule; the same object if there is nothing to do.

    Parameters
    ----------
    policy : Policy
    buffer : array
    source, target : DType
    settings : mapping, optional
        What ``policy.cast.settings`` returned; else the defaults.
    """
    if source is target:
        return buffer
    rule, steps = policy.cast.plan(source, target, settings)
    backend = backend_of(buffer)
    out = backend.cast(buffer, source, target, rule)
    if not steps:
        return out
    given, made = backend.to_numpy(buffer, source), backend.to_numpy(out, target)
    stepped = _stepped(steps, given, source, target, made)
    return backend.from_numpy(stepped, target, backend.device_of(buffer))


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

    Raises
    ------
    PromotionError
        If the policy does not cast the pair.
    TypeError, ValueError
        If its casts have no such argument, or the argument no such choice.
    """
    settings = checked(policy, source, target, saturate=saturate, round_mode=round_mode)
    if dt.string in (source, target):
        from promoarray import strings  # regular expressions and decimals, for few programs

        numeric = partial(convert, policy, settings=settings)
        return strings.cast(policy, buffer, source, target, numeric)
    return convert(policy, buffer, source, target, settings)


def checked(
    policy: Policy,
    source: DType,
    target: DType,
    *,
    saturate: bool | int | None = None,
    round_mode: str | None = None,
) -> Mapping[str, object]:
    """Return the settings of an admitted cast; see ``explicit`` for the errors."""
    try:
        settings = policy.cast.settings(saturate=saturate, round_mode=round_mode)
    except (TypeError, ValueError) as error:
        raise type(error)(f"policy {policy.name!r}: {error}") from None
    strings = dt.string in (source, target)  # whose casts say themselves what they refuse
    why = None if source is target or strings else policy.cast.refuses(source, target)
    if why:
        pair = f"{source.name} to {target.name}"
        refused = PromotionError(f"policy {policy.name!r} does not cast {pair}: {why}")
        refused.policy, refused.operation, refused.reason = policy, "astype", why
        refused.operands = Operand(source), Operand(target)
        raise refused
    return settings


def scalar(policy: Policy, value: Any, dtype: DType) -> Buffer:
    """A 0-d buffer that holds a Python scalar, by the policy's rule."""
    buffer, wide = numpy_backend.wide(value, dtype)
    return convert(policy, buffer, wide, dtype)


_PARTS = {dt.complex32: dt.float16, dt.complex64: dt.float32, dt.complex128: dt.float64}


def _stepped(
    steps: tuple[Step, ...], buffer: Buffer, source: DType, target: DType, out: Buffer
) -> Buffer:
    """Take what no kernel can do, on the codes: of complex numbers on those of their parts."""
    shape, made = out.shape, target
    if target.kind is Kind.COMPLEX:
        given, source = _side_by_side(buffer, source)
        out, target = _side_by_side(out, target)
    elif source.kind is Kind.COMPLEX:
        part = _PARTS[source]
        given, source = backend_of(buffer).cast(buffer, source, part), part
    else:
        given = buffer
    given, codes = _codes(given, source), _codes(out, target)
    for step in steps:
        codes = step(given, source, target, codes)
    return codes.view(made.storage).reshape(shape)


def _side_by_side(buffer: Buffer, dtype: DType) -> tuple[Buffer, DType]:
    """Real and imaginary parts in turn; the latter are zero in real numbers."""
    flat = buffer.reshape(-1)
    if dtype.kind is Kind.COMPLEX:
        return flat.view(_PARTS[dtype].storage), _PARTS[dtype]
    parts = backend_of(buffer).empty(2 * flat.size, dtype)
    parts[::2], parts[1::2] = flat, 0
    return parts, dtype


def _codes(buffer: Buffer, dtype: DType) -> Buffer:
    """The bits as unsigned integers; never 0-d, where NumPy's operators give scalars."""
    return buffer.view(f"u{dtype.storage.itemsize}").reshape(buffer.shape or (1,))
