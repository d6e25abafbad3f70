"""Fallback of a policy for a dtype that it never holds."""

from __future__ import annotations

from promoarray import dtypes as dt
from promoarray.dtypes import DType
from promoarray.promotion.cast_losses import gravity, loss
from promoarray.promotion.policy import Policy


def lacks(policy: Policy, dtype: DType) -> bool:
    """Whether a policy's framework has no such dtype, so that it has to be written otherwise."""
    return not policy.once(_knows, dtype)


def has(policy: Policy, dtype: DType) -> bool:
    """Whether a policy's framework has a dtype of this very name."""
    return policy.once(_has, dtype)


def _has(policy: Policy, dtype: DType) -> bool:
    return dtype in policy.dtypes


def _knows(policy: Policy, dtype: DType) -> bool:
    return dtype.weak or dtype is dt.string or dtype in policy.canonical or has(policy, dtype)


def held(policy: Policy, dtype: DType) -> DType:
    """Return the dtype that a policy goes on with where a program asks for another.

    What the policy makes of it, and of a dtype that the framework lacks the one that loses least.
    """
    dtype = policy.canonical.get(dtype, dtype)
    return policy.once(_nearest, dtype) if lacks(policy, dtype) else dtype


def _nearest(policy: Policy, dtype: DType) -> DType:
    def cost(other: DType) -> tuple[object, ...]:
        climbs = abs(other.kind.category - dtype.kind.category)
        exponent = other.part.format.exponent if other.part.format else 0
        return climbs, gravity(dtype, other), other.kind is not dtype.kind, other.bits, exponent

    others = (policy.canonical.get(d, d) for d in policy.dtypes if d is not dt.string)
    return min(others, key=cost, default=dtype)


def why_lacking(policy: Policy, dtype: DType) -> str:
    """Say that a policy's framework lacks a dtype, and what to write."""
    other = held(policy, dtype)
    lost = loss(dtype, other)
    write = f"{other.name} ({lost})" if lost else f"{other.name}, which holds all its values"
    return f"{policy.title} has no {dtype.name}; write {write}"
