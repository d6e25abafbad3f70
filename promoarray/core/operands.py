"""Operands: PArrays and Python scalars, and what a policy sees of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import inf, prod
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of, find, is_lazy
from promoarray.backends.numpy.cast import scalar_caster
from promoarray.core.array_base import Array, storage_dtype, type_of
from promoarray.core.cast import convert, held
from promoarray.dtypes import INEXACT, INTEGERS, WEAK, DType, Kind
from promoarray.errors import ComputeError, quoted
from promoarray.operations import Form
from promoarray.promotion.cast_rules import CastRule
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import ARRAYS, Operand, Rank
from promoarray.promotion.policy import Policy
from promoarray.promotion.scalars import Fit, bounds, largest, passing_of

Decide = Callable[[tuple[Operand, ...]], Any]


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
    if source is target:
        return operand
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
    slot = x._type
    dtype = slot if type(slot) is DType else type_of(slot)
    if x._buffer.ndim:
        return ARRAYS[dtype]
    return Operand(dtype, Rank.ZERO_D, _looked_at(x, policy) if policy.by_value else None)


def operands_of(
    given: tuple[Any, ...],
    policy: Policy,
    decide: Decide,
    name: str,
    form: Form,
    see: Callable[[Any, Policy], Operand] = operand_of,
) -> tuple[Operand, ...]:
    """What a policy sees of the operands of an operation.

    Of lazy 0-d arrays it computes the values that have a say; others count for 1.

    Parameters
    ----------
    given : tuple of Array and Python scalar
    policy : Policy
    decide : callable
        What the policy decides of operands.
    name : str
    form : Form
    see : callable
        What the policy sees of one, where it may be something else than an array or a scalar.
    """
    later = [] if policy.by_value is None else [i for i, x in enumerate(given) if _is_later(x)]
    if not later:
        return tuple([see(x, policy) for x in given])
    supposed = tuple(_supposed(x) if i in later else see(x, policy) for i, x in enumerate(given))
    read = _with_a_say(supposed, later, policy, decide, name, form)
    return tuple(see(x, policy) if i in read else supposed[i] for i, x in enumerate(given))


def _with_a_say(
    operands: tuple[Operand, ...],
    later: list[int],
    policy: Policy,
    decide: Decide,
    name: str,
    form: Form,
) -> set[int]:
    """The operands that another value of changes what is decided, found by trying all sorts."""
    telling = getattr(policy.by_value, "telling", None)
    if telling is None:
        return {*later}
    sorts = [telling(name, operands, form, i) for i in later]
    if prod(map(len, sorts)) > _MOST_WAYS:
        return {*later}
    answers: dict[tuple[Any, ...], Any] = {}
    for way in product(*sorts):
        tried = list(operands)
        for i, value in zip(later, way, strict=True):
            tried[i] = operands[i]._replace(value=value)
        answers[way] = decide(tuple(tried))
    return {
        i
        for at, i in enumerate(later)
        if any(
            answers[way] != answers[(*way[:at], sorts[at][0], *way[at + 1 :])] for way in answers
        )
    }


_MOST_WAYS = 1000
"""How many combinations of values are tried before they are computed instead."""


def _is_later(x: Any) -> bool:
    """Whether an operand is a lazy 0-d array whose value is not known yet."""
    if not isinstance(x, Array) or x._buffer.ndim:
        return False
    return is_lazy(find(type(x._buffer))) and not x._buffer.has_value


def _supposed(x: Array) -> Operand:
    dtype = type_of(x._type)
    return Operand(dtype, Rank.ZERO_D, UNKNOWN[x.dtype.kind])


def _value(x: Array) -> Any:
    """The value of a 0-d array; that of a lazy one is computed once."""
    if is_lazy(find(type(x._buffer))):
        return x._buffer.value(lambda: x._decoded().item())
    return x._decoded().item()


def _looked_at(x: Array, policy: Policy) -> Any:
    """The value of a 0-d array, which the policy promotes by; a lazy one is computed for it."""
    try:
        return _value(x)
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

    It counts for 1 then, which is a value that fits every dtype, unless the run's own policy looked
    at it and so had it computed.
    """
    return UNKNOWN[x.dtype.kind] if is_left_lazy(x) else _value(x)


def is_left_lazy(x: Array) -> bool:
    """Whether an array is not computed for policies that only look on."""
    lazy = is_lazy(find(type(x._buffer)))  # None of what has no data, as in recorded programs
    return lazy and not ((x._policy or get_policy()).by_value and x._buffer.has_value)


UNKNOWN = dict.fromkeys(Kind, 1) | {Kind.BOOL: True, Kind.FLOAT: 1.0, Kind.COMPLEX: 1.0 + 0.0j}
"""What a 0-d array counts for whose value is not read."""


def fitted(policy: Policy, value: Any, dtype: DType) -> Any:
    """A Python scalar as a 0-d buffer, by the policy's rule for values that do not fit."""
    return scalar_buffer(policy.cast, policy.scalars.fit(value, dtype), dtype)


def scalar_buffer(cast: CastRule, value: Any, dtype: DType) -> Any:
    """A Python scalar that fits a dtype as a 0-d buffer, by a cast rule; read-only."""
    buffer = held(cast, value, dtype)
    buffer.setflags(write=False)
    return buffer


def in_compiled_code(
    policy: Policy, fit: Fit, dtype: DType, otherwise: Callable[[Any], Any]
) -> Callable[[Any], Any]:
    """What makes 0-d buffers of the numbers that a rule leaves as they are (``Passing``), and asks
    ``otherwise`` about all others; that itself where there are none."""
    passes = passing_of(fit)
    mode, transforms = policy.cast.plan(dt.float64, dtype)
    if passes is None or transforms or dtype.kind not in INTEGERS | INEXACT:
        return otherwise
    low, high, floats, within, narrow = passes
    if dtype.kind in INTEGERS:
        least, most = bounds(dtype)
        low, high = max(low, least), min(high, most)
        floats = narrow if narrow and dtype.bits < 64 else floats
    end = largest(dtype.part) if within and dtype.kind in INEXACT else inf
    return scalar_caster(dtype, mode, low, high, floats.bits, end, otherwise)


def require_one_namespace(*operands: Any) -> None:
    """Refuse arrays bound to two namespaces.

    Raises
    ------
    TypeError
        If two do not mix.
    """
    array_class(operands)
