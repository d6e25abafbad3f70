"""What an operation takes: PArrays and Python scalars, and what a policy sees of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any

import numpy as np

from promoarray.backends import backend_of, find, is_lazy
from promoarray.core.array_base import Array, storage_dtype, type_of
from promoarray.core.cast import convert, held
from promoarray.dtypes import WEAK, DType, Kind
from promoarray.errors import ComputeError, quoted
from promoarray.promotion.cast_rules import CastRule
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Operand, Rank
from promoarray.promotion.policy import Policy


def as_operand(x: Any) -> Any:
    """A PArray or Python scalar as it is, a backend's arrays wrapped, all else NotImplemented."""
    if type(x) in WEAK or isinstance(x, Array):
        return x
    if isinstance(x, np.generic) or find(type(x)) is not None:
        return wrap(x)
    return NotImplemented


def canonicalize(policy: Policy, given: Any, operand: Any) -> Any:
    """An operand of another library as the policy holds it: JAX without x64 narrows it."""
    if operand is given or operand is NotImplemented or not policy.canonical:
        return operand
    source = storage_dtype(operand)
    target = policy.canonical.get(source, source)
    return operand._wrap(convert(policy, operand._buffer, source, target), target)


def as_array(x: Any, name: str) -> Any:
    """An operand that must be an array.

    Raises
    ------
    TypeError
        If it is not.
    """
    operand = as_operand(x)
    if operand is NotImplemented or type(operand) in WEAK:
        raise TypeError(
            f"{name} takes an array, not {quoted(x)}; write pa.asarray(...) around it first"
        )
    return operand


def wrap(x: Any, cls: type[Array] | None = None) -> Array:
    """Wrap an array of a backend's library, or a NumPy scalar, without copying it.

    Raises
    ------
    TypeError
        If promoarray has no dtype for it.
    """
    if type(x) is not np.ndarray and hasattr(x, "filled"):
        raise TypeError("a masked array would lose its mask; write x.filled(...) first")
    if isinstance(x, np.generic):
        x = np.asarray(x)
    buffer, dtype = backend_of(x).adopt(x)
    if dtype is None:
        raise TypeError(
            f"NumPy dtype {buffer.dtype} is not a dtype promoarray knows; "
            "write x.astype(...) with a numeric dtype first"
        )
    return (cls or Array.default)._wrap(buffer, dtype)


def array_class(operands: tuple[Any, ...], *others: type[Array]) -> type[Array]:
    """The class of the result: arrays bound to one namespace stay bound, two do not mix.

    ``others`` are classes that count as operands do: of an array that is looked at, or of the
    namespace that is asked.
    """
    bound = {*others, *(type(x) for x in operands if isinstance(x, Array))} - {Array.default}
    if len(bound) > 1:
        names = " and ".join(sorted(cls._policy.name for cls in bound if cls._policy))
        raise TypeError(
            f"arrays of the namespaces {names} do not mix: each is bound to its policy. "
            "Write xp.asarray(x) with the namespace xp that shall decide"
        )
    return bound.pop() if bound else Array.default


def operand_of(x: Any, policy: Policy) -> Operand:
    """What a policy sees of an operand."""
    if type(x) in WEAK:
        return Operand(WEAK[type(x)], Rank.SCALAR, x if policy.by_value else None)
    dtype, flat = type_of(x._type), x._buffer.ndim == 0
    if not flat:
        return Operand(dtype)
    return Operand(dtype, Rank.ZERO_D, _looked_at(x, policy) if policy.by_value else None)


def _looked_at(x: Array, policy: Policy) -> Any:
    """The value of a 0-d array, which the policy promotes by; a lazy one is computed for it."""
    try:
        return x._decoded().item()
    except ComputeError as error:
        why = f"policy {quoted(policy.name)} promotes by the value of a 0-d array"
        raise ComputeError(f"{why}: {error}") from None


def as_looked_on(x: Any, policy: Policy) -> Operand:
    """What a policy sees of an operand that only looks on while another one runs the program."""
    if type(x) in WEAK or x._buffer.ndim or policy.by_value is None:
        return operand_of(x, policy)
    return Operand(type_of(x._type), Rank.ZERO_D, looked_on(x))


def looked_on(x: Array) -> Any:
    """The value of a 0-d array for policies that only look on; a lazy one is not computed for them.

    It counts for 1 then, which is a value that fits every dtype, unless the run's own policy looks
    at values and so has them computed.
    """
    return UNKNOWN[x.dtype.kind] if is_left_lazy(x) else x._decoded().item()


def is_left_lazy(x: Array) -> bool:
    """Whether an array is not computed for policies that only look on."""
    lazy = is_lazy(find(type(x._buffer)))  # None of what has no data, as in recorded programs
    return lazy and (x._policy or get_policy()).by_value is None


UNKNOWN = dict.fromkeys(Kind, 1) | {Kind.BOOL: True, Kind.FLOAT: 1.0, Kind.COMPLEX: 1.0 + 0.0j}
"""What a 0-d array counts for whose value is not read."""


def fitted(policy: Policy, value: Any, dtype: DType) -> Any:
    """A Python scalar as a 0-d buffer, by the policy's rule for values that do not fit."""
    return scalar_buffer(policy, policy.scalars.fit(value, dtype), dtype)


def scalar_buffer(policy: Policy, value: Any, dtype: DType) -> Any:
    """A Python scalar that fits a dtype as a 0-d buffer, by the policy's cast rule; read-only."""
    return scalar_buffers(policy)(value, dtype)


def scalar_buffers(policy: Policy) -> Callable[[Any, DType], Any]:
    """``scalar_buffer`` of a policy, which does not keep the policy itself alive.

    Each has a cache of its own, as one for all would keep policies that nobody has any more.
    """
    return policy.once(_scalar_buffers)


def _scalar_buffers(policy: Policy) -> Callable[[Any, DType], Any]:
    make = partial(_scalar, policy.cast)
    kept = lru_cache(maxsize=1024, typed=True)(make)

    def buffer(value: Any, dtype: DType) -> Any:
        # -0.0 and 0.0 are equal, and so are 1-0j and 1+0j: they would share one place in the cache.
        return kept(value, dtype) if value and type(value) is not complex else make(value, dtype)

    return buffer


def _scalar(cast: CastRule, value: Any, dtype: DType) -> Any:
    buffer = held(cast, value, dtype)
    buffer.flags.writeable = False
    return buffer


def require_one_namespace(*operands: Any) -> None:
    """Refuse arrays bound to two namespaces.

    Raises
    ------
    TypeError
        If two do not mix.
    """
    array_class(operands)
