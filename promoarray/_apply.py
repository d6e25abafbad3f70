"""The one dispatcher: operands -> plan -> casts -> kernel -> label.

Nothing here knows a rule. The policy decides (``policies``), the backend obeys (``backends``), and
watchers, if any, are told what happened (``_trace``, ``_shadow``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, lru_cache, partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from promoarray import dtypes as dt
from promoarray._cast import convert, scalar
from promoarray._refusal import promotion_error
from promoarray._short import Operator
from promoarray.backends import backend_of
from promoarray.backends import numpy as numpy_backend
from promoarray.dtypes import WEAK, DType, Kind
from promoarray.operations import OPERATIONS
from promoarray.policies.plans import INTEGERS, Operand, Plan, Rank, Refusal
from promoarray.policies.policy import Policy
from promoarray.policies.registry import _default, _override, get_policy
from promoarray.policies.scalars import truncated

if TYPE_CHECKING:
    from promoarray.array import PArray


class Watcher(Protocol):
    """What a trace or a shadow run implements."""

    def saw(self, event: Event) -> None:
        """Hear of one operation; may change the type label of ``event.result``."""

    def made(self, weak: DType, result: PArray, lone: bool) -> None:
        """Hear of an array made of Python numbers (a lone one?): its dtype is a default."""

    def refused(
        self, name: str, policy: Policy, seen: tuple[Operand, ...], refusal: Refusal
    ) -> Mended | None:
        """Hear of a refusal; may answer which operand to cast to what, and the plan then."""


class Event(NamedTuple):
    """One operation that was carried out."""

    name: str
    policy: Policy
    operands: tuple[Any, ...]
    seen: tuple[Operand, ...]
    plan: Plan
    result: PArray


Mended = tuple[int, DType, Plan]

watchers: list[Watcher] = []
"""Watchers of any context. While there is one, every operation takes the long way, ``apply``."""

_watching: ContextVar[tuple[Watcher, ...]] = ContextVar("promoarray_watching", default=())


@contextmanager
def watching(watcher: Watcher) -> Iterator[None]:
    """Tell a watcher of every operation of this context."""
    watchers.append(watcher)
    token = _watching.set((*_watching.get(), watcher))
    try:
        yield
    finally:
        _watching.reset(token)
        watchers.remove(watcher)


Label = Any  # a DType, or a shadow run's record that has one as ``.dtype``


def type_of(label: Label) -> DType:
    """The dtype of an array's type slot, weak ones included."""
    return label if type(label) is DType else label.dtype


def apply(name: str, *operands: Any, **options: Any) -> Any:
    """Run an operation under the policy in force.

    Parameters
    ----------
    name : str
        A row of ``promoarray.operations``.
    *operands : PArray, NumPy array or scalar, Python scalar
    **options
        What the kernel takes besides, such as ``axis``.

    Returns
    -------
    PArray, or NotImplemented where an operand is something else.

    Raises
    ------
    PromotionError
        If the policy has no result for these operands.
    OverflowError
        If a Python int does not fit the dtype it becomes.
    """
    entered = tuple(enter(x) for x in operands)
    if any(x is NotImplemented for x in entered):
        return NotImplemented
    cls = array_class(entered)
    policy = cls._policy or get_policy()
    seen = tuple(describe(x, policy) for x in entered)
    plan = policy.plan(name, seen)
    if isinstance(plan, Refusal):
        entered, plan = _mended(name, policy, entered, seen, plan)
        seen = tuple(describe(x, policy) for x in entered)
    buffers = _buffers(name, policy, plan, entered, seen)
    result = cls._of(run(name, plan, policy, buffers, **options), plan.result)
    _tell(Event(name, policy, entered, seen, plan, result))
    remember(name, policy, seen, plan)
    return result


def _mended(
    name: str, policy: Policy, entered: tuple[Any, ...], seen: tuple[Operand, ...], refusal: Refusal
) -> tuple[tuple[Any, ...], Plan]:
    """Raise the refusal, unless a watcher casts an operand so that the program can go on."""
    answers = (watcher.refused(name, policy, seen, refusal) for watcher in _watching.get())
    for index, target, plan in filter(None, answers):
        x = entered[index]
        buffer = convert(policy, x._buffer, concrete(x), target)
        cast = x._of(buffer, target)
        return (*entered[:index], cast, *entered[index + 1 :]), plan
    raise promotion_error(policy, name, seen, refusal)


def apply_inplace(name: str, target: PArray, other: Any) -> Any:
    """Run ``target op= other``: into the target's memory, or to a new array where names rebind.

    Nothing is written unless all of it can be.
    """
    entered = target, enter(other)
    if entered[1] is NotImplemented:
        return NotImplemented
    cls = array_class(entered)
    policy = cls._policy or get_policy()
    if policy.inplace is None:
        return apply(name, target, other)
    seen = tuple(describe(x, policy) for x in entered)
    plan = policy.plan_inplace(name, seen)
    if isinstance(plan, Refusal):
        raise promotion_error(policy, name, seen, plan, inplace=True)
    buffer = target._buffer
    if not buffer.flags.writeable:
        raise ValueError(
            f"{name} in place: the target is read-only; write x = x {OPERATIONS[name].symbol} y"
        )
    out = run(name, plan, policy, _buffers(name, policy, plan, entered, seen))
    if out.shape != buffer.shape:
        raise ValueError(
            f"{name} in place: the result has shape {out.shape}, the target {buffer.shape}"
        )
    buffer[...] = out
    _tell(Event(name, policy, entered, seen, plan, target))
    return target


def assign(target: PArray, key: Any, value: Any) -> None:
    """Write ``target[key] = value``, cast to the target's dtype.

    Raises
    ------
    TypeError
        If the value is no array or Python scalar, or complex where the target is not.
    ValueError, OverflowError
        If it is a NaN, an infinity or a number too large for a target of integers.
    """
    entered, dtype = enter(value), concrete(target)
    if entered is NotImplemented:
        kind = type(value).__name__
        raise TypeError(f"x[...] = {kind}: write pa.asarray(...) around the values first")
    policy = array_class((target, entered))._policy or get_policy()
    source = WEAK[type(entered)] if type(entered) in WEAK else concrete(entered)
    if source.kind is Kind.COMPLEX and dtype.kind is not Kind.COMPLEX:
        raise TypeError(
            f"x[...] = y would drop the imaginary parts; write pa.real(y) to cast to {dtype}"
        )
    if dt.string in (source, dtype):
        strong = policy.strong(source)
        given = fitted(policy, entered, strong) if source.weak else entered._buffer
        buffer = cast_strings(policy, given, strong, dtype)
    elif type(entered) in WEAK:
        buffer = fitted(policy, truncated(entered, dtype), dtype)
    else:
        buffer = convert(policy, entered._buffer, source, dtype)
    target._buffer[key] = buffer


def cast_strings(
    policy: Policy,
    buffer: Any,
    source: DType,
    target: DType,
    numeric: Callable[[Any, DType, DType], Any] = numpy_backend.cast,
) -> Any:
    """Cast between strings and numbers, which only some policies do (``promoarray.strings``).

    ``numeric`` is the cast from float64 by the rule in force, for numbers out of range.
    """
    from promoarray import strings  # regular expressions and decimals, for few programs

    return strings.cast(policy, buffer, source, target, numeric)


def run(name: str, plan: Plan, policy: Policy, buffers: tuple[Any, ...], **options: Any) -> Any:
    """Obey a plan: the kernel in ``plan.compute``, its result in the storage of ``plan.result``."""
    backend = backend_of(buffers[0])
    out = backend.call(name, buffers, plan.compute or plan.inputs[0], **options)
    return convert(policy, out, backend.dtype_of(out), policy.strong(plan.result))


def _buffers(
    name: str, policy: Policy, plan: Plan, entered: tuple[Any, ...], seen: tuple[Operand, ...]
) -> tuple[Any, ...]:
    """Cast every operand to what the plan says, then to what the kernel computes in."""
    rule = policy.scalars.rule(name)
    values = [
        rule(x, dtype) if type(x) in WEAK else x
        for x, dtype in zip(entered, plan.inputs, strict=True)
    ]
    if any(_beyond(*each) for each in zip(entered, values, plan.inputs, strict=True)):
        plan = Plan((dt.float64,) * len(values), dt.float64, plan.result)
    buffers = []
    for x, dtype in zip(values, plan.inputs, strict=True):
        if type(x) in WEAK:
            buffer = scalar(policy, x, dtype)
        else:
            buffer = convert(policy, x._buffer, concrete(x), dtype)
        buffers.append(convert(policy, buffer, dtype, plan.compute or dtype))
    return tuple(buffers)


def _beyond(given: Any, value: Any, dtype: DType) -> bool:
    """Whether an int compares as an infinity, which takes a float to compare with."""
    return type(given) is int and type(value) is float and dtype.kind in INTEGERS


def fitted(policy: Policy, value: Any, dtype: DType) -> Any:
    """A Python scalar as a 0-d buffer, by the policy's rule for values that do not fit."""
    # -0.0 and 0.0 are equal, and so are 1-0j and 1+0j: they would share one place in the cache.
    cached = value and type(value) is not complex
    return _fitted(policy, value, dtype) if cached else _fit(policy, value, dtype)


def _fit(policy: Policy, value: Any, dtype: DType) -> Any:
    buffer = scalar(policy, policy.scalars.fit(value, dtype), dtype)
    buffer.flags.writeable = False
    return buffer


_fitted = lru_cache(maxsize=1024, typed=True)(_fit)


def enter(x: Any) -> Any:
    """A PArray or Python scalar as it is, NumPy's arrays wrapped, anything else NotImplemented."""
    if type(x) in WEAK or isinstance(x, _array()):
        return x
    if isinstance(x, (np.ndarray, np.generic)):
        return wrap(x)
    return NotImplemented


def as_array(x: Any, name: str) -> PArray:
    """An operand that must be an array.

    Raises
    ------
    TypeError
        If it is not.
    """
    entered = enter(x)
    if entered is NotImplemented or type(entered) in WEAK:
        raise TypeError(f"{name} takes an array, not {x!r}; write pa.asarray(...) around it first")
    array: PArray = entered
    return array


def call(name: str, *operands: Any, **options: Any) -> PArray:
    """Run an operation as a function: what ``apply`` leaves to others is an error here.

    Raises
    ------
    TypeError
        If an operand is neither an array nor a Python scalar.
    """
    result = apply(name, *operands, **options)
    if result is NotImplemented:
        x = next(x for x in operands if enter(x) is NotImplemented)
        raise TypeError(
            f"{name} takes arrays and Python scalars, not {type(x).__name__}; "
            "write pa.asarray(...) around it first"
        )
    array: PArray = result
    return array


def wrap(x: Any, cls: type[PArray] | None = None) -> PArray:
    """Wrap a NumPy array or scalar without copying it.

    Raises
    ------
    TypeError
        If promoarray has no dtype for it.
    """
    if type(x) is not np.ndarray and hasattr(x, "filled"):
        raise TypeError("a masked array would lose its mask; write x.filled(...) first")
    buffer = numpy_backend.native(np.asarray(x))
    dtype = numpy_backend.dtype_of(buffer)
    if dtype is None:
        raise TypeError(
            f"NumPy dtype {buffer.dtype} is no dtype promoarray knows; "
            "write x.astype(...) with a numeric dtype first"
        )
    return (cls or _array())._of(buffer, dtype)


@cache
def _array() -> type[PArray]:
    from promoarray.array import PArray  # array.py is made of this module

    return PArray


def array_class(operands: tuple[Any, ...]) -> type[PArray]:
    """The class of the result: arrays bound to one namespace stay bound, two do not mix."""
    bound = {type(x) for x in operands if isinstance(x, _array())} - {_array()}
    if len(bound) > 1:
        names = " and ".join(sorted(cls._policy.name for cls in bound if cls._policy))
        raise TypeError(
            f"arrays of the namespaces {names} do not mix: each is bound to its policy. "
            "Write xp.asarray(x) with the namespace xp that shall decide"
        )
    return bound.pop() if bound else _array()


def describe(x: Any, policy: Policy) -> Operand:
    """What a policy sees of an operand."""
    if type(x) in WEAK:
        return Operand(WEAK[type(x)], Rank.SCALAR, x if policy.by_value else None)
    dtype, flat = type_of(x._type), x._buffer.ndim == 0
    if not flat:
        return Operand(dtype)
    return Operand(dtype, Rank.ZERO_D, x._buffer.item() if policy.by_value else None)


def concrete(x: PArray) -> DType:
    """The dtype of an array's storage, which a weak type leaves open."""
    dtype = type_of(x._type)
    if dtype.weak:
        found: DType = backend_of(x._buffer).dtype_of(x._buffer)
        return found
    return dtype


def tell_made(weak: DType, result: PArray, *, lone: bool = False) -> None:
    """Tell watchers of an array made of Python numbers."""
    for watcher in _watching.get():
        watcher.made(weak, result, lone)


def _tell(event: Event) -> None:
    for watcher in _watching.get():
        watcher.saw(event)


def remember(name: str, policy: Policy, seen: tuple[Operand, ...], plan: Plan) -> None:
    """Note a binary plan that ``PArray``'s short way can carry out.

    That is one that holds whatever the ranks, whose casts are NumPy's own widening ones and whose
    kernel answers in the dtype of the result.
    """
    common = plan.compute
    if common is None:
        return
    if len(seen) != 2 or plan.inputs != (common, common) or policy.by_value is not None:
        return
    scalars = [o.rank is Rank.SCALAR for o in seen]
    # A scalar by its class: by its dtype it could be taken for an array that is weakly typed.
    key = name, *(_CLASS[o.type] if o.rank is Rank.SCALAR else o.type for o in seen)
    if key in policy.direct or (any(scalars) and policy.scalars.rule(name) != policy.scalars.fit):
        return
    if not all(_widens(policy, o, common) for o in seen) or not _plain(name, plan):
        return
    ranks = [(Rank.SCALAR,) if s else (Rank.ARRAY, Rank.ZERO_D) for s in scalars]
    if policy.ranks and any(
        policy.plan(name, (Operand(seen[0].type, a), Operand(seen[1].type, b))) != plan
        for a, b in product(*ranks)
    ):
        return
    wider = [None if o.rank is Rank.SCALAR or o.type is common else common.storage for o in seen]
    policy.direct[key] = (*wider, common, plan.result)


_CLASS = {weak: scalar for scalar, weak in WEAK.items()}


def _widens(policy: Policy, operand: Operand, common: DType) -> bool:
    if operand.rank is Rank.SCALAR or operand.type is common:
        return True
    pair = operand.type, common
    return pair in numpy_backend.WIDENING and not policy.cast.plan(*pair).steps


def _plain(name: str, plan: Plan) -> bool:
    """Whether a ufunc of the computed dtype answers in the result's."""
    kernel = numpy_backend.KERNELS[name]
    if not isinstance(kernel, np.ufunc) or plan.result.weak or plan.compute is None:
        return False
    storage = plan.compute.storage
    try:
        *_, answers = kernel.resolve_dtypes((storage, storage, None))
    except TypeError:
        return False
    return bool(answers == plan.result.storage)


short_way = partial(
    Operator,
    watchers=watchers,
    override=_override.get,
    default=_default,
    fitted=fitted,
    ndarray=np.ndarray,
    asarray=np.asarray,
)
"""The short way of an operation, made of its slow one, its name and its kernel."""
