"""Operands: PArrays and Python scalars, and what a policy sees of them."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import inf, prod
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of, find, is_lazy
from promoarray.core.array_base import Array, storage_dtype, type_of
from promoarray.core.cast import convert, held
from promoarray.dtypes import INEXACT, INTEGERS, WEAK, DType, Kind
from promoarray.errors import ComputeError, PromotionError, quoted
from promoarray.kernels import ScalarCaster, dtype_args
from promoarray.operations import OPERATIONS, Form
from promoarray.promotion.cast_rules import CastRule
from promoarray.promotion.foreign import Entry, Given
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import ARRAYS, Operand, Rank
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy
from promoarray.promotion.scalars import COMPARED, Fit, bounds, largest, passing_of

Decide = Callable[[tuple[Operand, ...]], Any]


def as_operand(x: Any) -> Any:
    """A PArray or Python scalar as it is, a backend's arrays wrapped, all else NotImplemented.

    An ``IntEnum`` member, and whatever else derives from a number of Python's, is that number, if
    the policy does not want an array of it (``canonicalize``).
    """
    if type(x) in WEAK or isinstance(x, Array):
        return x
    if isinstance(x, np.generic) or find(type(x)) is not None:
        return wrap(x)
    return plain_number(x)


def plain_number(x: Any) -> Any:
    """A number of a class derived from ``int``, ``float`` or ``complex`` as Python's own.

    NumPy's float64 and complex128 derive from them, too. NotImplemented of all else.
    """
    for number, value_of in _VALUE_OF.items():
        if isinstance(x, number):
            return value_of(x)
    return NotImplemented


_VALUE_OF: dict[type, Callable[[Any], Any]] = {
    int: int.__int__,
    float: float.__float__,
    complex: complex.__complex__,
}
"""The values that objects of these classes hold, whatever methods a derived class has."""


def canonicalize(policy: Policy, given: Any, operand: Any) -> Any:
    """An operand of another library as the policy holds it: JAX without x64 narrows it, NumPy 2
    makes an array of an ``IntEnum`` member."""
    if type(operand) in WEAK:
        strong = type(given) not in WEAK and not policy.weak_subclasses
        return wrap(np.asarray(operand)) if strong else operand
    if operand is given or operand is NotImplemented or not policy.canonical:
        return operand
    source = storage_dtype(operand)
    target = policy.canonical.get(source, source)
    if source is target:
        return operand
    return operand._wrap(convert(policy, operand._buffer, source, target), target)


def entries(
    policy: Policy, name: str, form: Form, given: tuple[Any, ...], entered: tuple[Any, ...]
) -> tuple[Entry | None, ...]:
    """What each operand enters as that is NumPy's; None of the policy's own, and of all where none
    is its own array. The policy is one that says so (``Policy.foreign``); ``given`` and ``entered``
    are the operands before and after ``as_operand``."""
    own = next((i for i, x in enumerate(given) if isinstance(x, Array)), None)
    if own is None or policy.foreign is None:
        return (None,) * len(given)
    beside, entry = storage_dtype(entered[own]), policy.foreign.entry
    return tuple(
        entry(given_as(x, name, i < own), storage_dtype(y), beside, name, form, i < own)
        if isinstance(x, (np.generic, np.ndarray))
        else None
        for i, (x, y) in enumerate(zip(given, entered, strict=True))
    )


def given_as(x: Any, name: str, first: bool) -> Given:
    """What an operand of NumPy's is; ``s < x`` and ``s == x`` come with its scalars as arrays."""
    if isinstance(x, np.generic) or (first and not x.ndim and _compares(name)):
        return Given.SCALAR
    return Given.ARRAY if x.ndim else Given.ZERO_D


def _compares(name: str) -> bool:
    return name in OPERATIONS and OPERATIONS[name].family in COMPARED


def admitted(
    policy: Policy, name: str, form: Form, entered: tuple[Any, ...], x: Any, way: Entry | None
) -> Any:
    """A foreign operand as it enters beside others.

    Raises PromotionError if the policy takes no such operand.
    """
    if way is None or way is Entry.ARRAY:
        return x
    if way is Entry.TARGET:
        beside = next(y for y in entered if y is not x and isinstance(y, Array))
        source, target = storage_dtype(x), storage_dtype(beside)
        return x._wrap(convert(as_policy("numpy"), x._buffer, source, target), target)
    if way is not Entry.REFUSED:
        return number_of(way, x._decoded().item())
    raise foreign_error(policy, name, form, x)


def number_of(way: Entry, value: Any) -> Any:
    """The Python number that a scalar of NumPy's enters as."""
    return _NUMBER_OF[way](value)


_NUMBER_OF: dict[Entry, Callable[[Any], Any]] = {
    Entry.INT: int,
    Entry.FLOAT: lambda number: float(number.real),
    Entry.COMPLEX: complex,
}


def foreign_error(policy: Policy, name: str, form: Form, x: Array) -> PromotionError:
    """The error for an operand of NumPy's that the policy takes for none."""
    rank = Rank.ARRAY if x._buffer.ndim else Rank.ZERO_D
    why = refused_why(policy, rank, storage_dtype(x))
    written = {"setitem": "x[...] = y", "getitem": "x[y]"}.get(name, name)
    message = (
        f"policy {quoted(policy.name)}: {written}: {why}. "
        "Write pa.asarray(...) around it first, or the number itself"
    )
    return PromotionError(message, policy, name, (operand_of(x, policy),), why, form=form)


def refused_why(policy: Policy, rank: Rank, dtype: DType) -> str:
    """Why a policy takes no such operand of NumPy's."""
    assert policy.foreign is not None
    given = "array" if rank is Rank.ARRAY else "scalar"
    return f"{policy.foreign.library} takes no NumPy {given} of {dtype.name} there"


def as_array(x: Any, name: str) -> Any:
    """An operand that must be an array.

    Raises TypeError if it is not.
    """
    operand = as_operand(x)
    if operand is NotImplemented or type(operand) in WEAK:
        raise TypeError(
            f"{name} takes an array, not {quoted(x)}; write pa.asarray(...) around it first"
        )
    return operand


def wrap(x: Any, cls: type[Array] | None = None) -> Array:
    """Wrap an array of a backend's library, or a NumPy scalar, without copying it.

    Raises TypeError if promoarray has no dtype for it.
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


def policy_of(*arrays: Any) -> Policy:
    """The policy that arrays are bound to, or else the one in force."""
    return array_class(arrays)._policy or get_policy()


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
    """Return what a policy sees of the operands of an operation, of each by ``see``.

    Of lazy 0-d arrays it computes the values that have a say in what it decides, by ``decide``;
    others count for 1.
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
    rows = dtype_args(dt.float64), dtype_args(dtype)
    return ScalarCaster(*rows, mode, low, high, floats.bits, end, dtype.storage, otherwise)


def require_one_namespace(*operands: Any) -> None:
    """Refuse arrays bound to two namespaces.

    Raises TypeError if two do not mix.
    """
    array_class(operands)
