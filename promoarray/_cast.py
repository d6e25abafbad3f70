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
    out = backend_of(buffer).cast(buffer, source, target, rule)
    return _stepped(steps, buffer, source, target, out) if steps else out


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
        raise PromotionError(f"policy {policy.name!r} does not cast {pair}: {why}")
    return settings


def scalar(policy: Policy, value: Any, dtype: DType) -> Buffer:
    """A 0-d buffer that holds a Python scalar, by the policy's rule."""
    buffer, wide = numpy_backend.wide(value, dtype)
    return convert(policy, buffer, wide, dtype)


_PARTS = {dt.complex32: dt.float16, dt.complex64: dt.float32, dt.complex128: dt.float64}


def _stepped(
    steps: tuple[Step, ...], buffer: Buffer, source: DType, target: DType, out: Buffer
) -> Buffer:
    """Take what no kernel can do, on the codes. Of complex numbers only the real part is left."""
    if source.kind is Kind.COMPLEX:
        part = _PARTS[source]
        buffer, source = backend_of(buffer).cast(buffer, source, part), part
    given, codes = _codes(buffer, source), _codes(out, target)
    for step in steps:
        codes = step(given, source, target, codes)
    return codes.view(target.storage).reshape(out.shape)


def _codes(buffer: Buffer, dtype: DType) -> Buffer:
    """The bits as unsigned integers; never 0-d, where NumPy's operators give scalars."""
    return buffer.view(f"u{dtype.storage.itemsize}").reshape(buffer.shape or (1,))
