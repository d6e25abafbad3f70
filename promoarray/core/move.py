"""Operations that move values and compute none, and others that no policy plans.

Each is a callable of buffers, found once for arrays of some types and ranks and for what is given
beside them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from operator import methodcaller
from types import EllipsisType
from typing import Any, Generic, NamedTuple, ParamSpec, TypeVar

import numpy as np

from promoarray.backends import backend_of
from promoarray.backends.numpy.moves import METHODS
from promoarray.core._fast_path import FastOperator
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.executable_cache import Choice, Executable, types_of
from promoarray.core.fast_path import names_keywords, standing_for
from promoarray.core.observers import observers_anywhere, tell
from promoarray.core.operands import array_class
from promoarray.core.refusals import require_kernel, rule_against
from promoarray.dtypes import DType, weak_int
from promoarray.errors import PromotionError, quoted
from promoarray.operations import Form
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Operand
from promoarray.promotion.policy import Policy

Buffer = Any
AnyArray = TypeVar("AnyArray", bound=Array)
Made = TypeVar("Made")
Given = ParamSpec("Given")


class Move(NamedTuple, Generic[Made]):
    """A call whose arguments are checked."""

    arrays: tuple[Array, ...]  # what is moved, and the indices that pick from it
    # from their buffers to that of the result, or to a tuple of them. It does the same with every
    # array of their types and ranks under this policy, or raises
    run: Callable[..., Any]
    # None: what the first array is of; ``...``: of several what each of the arrays is of
    result: DType | EllipsisType | None = None

    def __call__(self) -> Made:
        """The answer."""
        out = self.run(*[x._buffer for x in self.arrays])
        made: Any
        if self.result is ...:
            made = tuple([x._wrap(b, x._type) for x, b in zip(self.arrays, out, strict=True)])
        else:
            first, dtype = self.arrays[0], self.result or self.arrays[0]._type
            several = type(out) is tuple
            made = (
                tuple([first._wrap(b, dtype) for b in out]) if several else first._wrap(out, dtype)
            )
        return made  # type: ignore[no-any-return]


def mover(array: Array, name: str, *args: Any, **options: Any) -> Callable[..., Buffer]:
    """What moves buffers as the array's; the buffers it picks by come behind."""
    move = backend_of(array._buffer).move
    return lambda buffer, *picking: move(name, buffer, *picking, *args, **options)


def move(name: str, array: AnyArray, *args: Any, **options: Any) -> Move[AnyArray]:
    """A call of a function that moves values; dtype, weakness and binding stay."""
    if name in METHODS and type(array._buffer) is np.ndarray:
        return Move((array,), methodcaller(METHODS[name], *args, **options))
    return Move((array,), mover(array, name, *args, **options))


def moved(name: str, array: AnyArray, *args: Any, **options: Any) -> AnyArray:
    """Run a function that moves values."""
    return move(name, array, *args, **options)()


def fast_move(function: Callable[Given, Move[Made]]) -> Callable[Given, Made]:
    """Make a function, which checks its arguments and answers what to call, run that call.

    It is kept for the fast path: arrays of the same types and ranks with the same arguments behind
    them do not come here again, unless what is kept raises, for this has the words for it.
    """
    name = function.__name__ + Form.FUNCTION

    @names_keywords
    @wraps(function)
    def slow(*args: Given.args, **options: Given.kwargs) -> Made:
        call = function(*args, **options)
        if call.arrays:
            require_taken(function.__name__, *call.arrays)
        out = call()
        if observers_anywhere and isinstance(call.result, DType):
            counts: Any = out
            for each in counts if type(counts) is tuple else (counts,):
                _tell_counted(function.__name__, each)
        _keep(name, call, args, options)
        return out

    settings: dict[str, Any] = {"by_value": True}
    made: Any = standing_for(slow, FastOperator(slow, name, **settings))
    made.__annotations__["return"] = function.__annotations__["return"][len("Move[") : -1]
    vars(made)["fast"] = name, settings
    return made  # type: ignore[no-any-return]


def _tell_counted(name: str, out: Any) -> None:
    """Tell observers of what was counted, in a dtype that each policy has for that."""
    from promoarray.core.events import Again

    def make(asked: DType | None) -> Array:
        dtype = get_policy().count_dtype
        return Array.default._wrap(np.empty(0, dtype.storage), dtype)

    again = Again(name, (), make)
    tell(lambda observer: observer.on_default(weak_int, out, False, "", again))


def _keep(name: str, call: Move[Any], args: tuple[Any, ...], options: dict[str, Any]) -> None:
    """Keep a call for arrays of these types, under what ``native/call.cpp`` chooses it by: their
    ranks, and all arguments behind them by their values."""
    arrays = call.arrays
    given, beside = args[: len(arrays)], (*args[len(arrays) :], *options.values())
    if not arrays or any(x is not y for x, y in zip(given, arrays, strict=True)):
        return
    types = types_of(*arrays)
    if types is None or len({*map(type, arrays)}) > 1 or not all(map(is_plain, beside)):
        return
    policy = arrays[0]._policy or get_policy()
    choice = policy.executables.setdefault((name, *types), Choice(None, None, {}))
    result: Any = arrays[0]._type if call.result in (None, ...) else call.result
    more: tuple[Any, ...] = () if call.result is not ... else tuple(x._type for x in arrays[1:])
    case = *(x._buffer.ndim for x in arrays), *beside, tuple(options) or None
    choice.keep(case, Executable(call.run, (), result, more))


def is_plain(value: Any) -> bool:
    """Whether an argument is known by its value: None, a bool, an int, a text, a tuple of ints."""
    if type(value) is tuple:
        return all(type(each) is int for each in value)
    return value is None or type(value) in (int, bool, str)


def require_taken(name: str, *arrays: Array, given: tuple[Any, ...] = ()) -> None:
    """Refuse arrays of dtypes that the policy's function does not take; ``given`` as of a
    ``TakenEvent``.

    Raises PromotionError with their dtypes as its operands; TypeError if they are bound to two
    namespaces.
    """
    policy = array_class(arrays)._policy or get_policy()
    dtypes = tuple(map(storage_dtype, arrays))
    if why := rule_against(policy, name, dtypes):
        shown = f"{name}({', '.join(dtype.name for dtype in dtypes)})"
        message = f"policy {quoted(policy.name)} has no {shown}: {why}"
        raise PromotionError(message, policy, name, tuple(map(Operand, dtypes)), why)
    for dtype in dtypes[:1]:
        require_kernel(policy, name, dtype)
    tell_taken(policy, name, *arrays, given=given)


def tell_taken(
    policy: Policy, name: str, *operands: Array | DType, given: tuple[Any, ...] = ()
) -> None:
    """Tell observers of arrays, or of a dtype, that a function takes which no policy plans; see
    ``TakenEvent``."""
    if observers_anywhere:
        from promoarray.core.events import TakenEvent

        event = TakenEvent(name, policy, operands, given)
        tell(lambda observer: observer.on_taken(event))


def tell_steps(name: str, *arrays: Array) -> None:
    """Tell observers of a function of several steps, which are not the same under every policy."""
    tell_taken(array_class(arrays)._policy or get_policy(), name, *arrays)


def copies(array: Array, name: str) -> bool:
    """Whether what others answer with a view of the array's memory the policy copies."""
    return name in (array._policy or get_policy()).copies


def picked(array: AnyArray, key: Any) -> AnyArray:
    """``array[key]``; one element lies in the array's memory or its own, as the policy has it."""
    buffer = array._buffer
    if _is_one(key, buffer.ndim) and not copies(array, "item"):
        key = (*key, ...) if type(key) is tuple else (key, ...)
    return array._wrap(backend_of(buffer).read(buffer, key), array._type)


def _is_one(key: Any, ndim: int) -> bool:
    """Whether a key is an integer for every axis."""
    if type(key) is tuple:
        return len(key) == ndim and all(type(part) is int for part in key)
    return type(key) is int and ndim == 1
