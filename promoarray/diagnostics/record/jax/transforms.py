"""JAX's transformations and loops: what policies disagree on is carried into the functions that JAX
traces, and out again.

JAX gives a traced function tracers in place of arrays, and its caller arrays in place of tracers.
As both are trees of the same leaves, each leaf carries on what the one across carries. JAX traces a
function once for arguments that are alike, and so do later calls go on with what was found then.
"""

from __future__ import annotations

import inspect
import sys
import threading
from collections.abc import Callable, Hashable, Sequence
from functools import partial, update_wrapper, wraps
from types import FrameType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from weakref import WeakKeyDictionary

from jax.tree_util import tree_leaves

from promoarray.diagnostics.record.jax.call import into_function, settled
from promoarray.diagnostics.record.recorder import Recorder

if TYPE_CHECKING:
    from promoarray.core.array_base import TypeRecord

    Slots = tuple[TypeRecord | None, ...]
    Gives = Callable[[Sequence[Any], dict[str, Any], "Crossing", Sequence[Any], Slots], Slots]

Function = Callable[..., Any]
Recorders = Callable[[], Sequence[Recorder]]


class Wrapper:
    """A stand-in of a function of JAX's: in all but its call, the function that it wraps."""

    def __init__(self, func: Function) -> None:
        update_wrapper(self, func)
        self.__wrapped__ = func

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError

    def __getattr__(self, name: str) -> Any:
        return getattr(vars(self)["__wrapped__"], name)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        method = instance is not None and hasattr(type(self.__wrapped__), "__get__")
        return MethodType(self, instance) if method else self

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self.__wrapped__)

    def __repr__(self) -> str:
        return repr(self.__wrapped__)

    def __reduce__(self) -> Any:
        return cast, (None, self.__wrapped__)  # which answers it, without promoarray as well


# -- what crosses ---------------------------------------------------------------------------------


class Crossing:
    """One call of what has functions traced.

    Parameters
    ----------
    recorder : Recorder
    given : object
        The tree of what the functions are given.
    gives, asks : sequence of callable
        What is traced: the functions that give the result, and those that only ask.

    Attributes
    ----------
    made : tuple or None
        What the leaves of their result carry; None if they were not traced.
    """

    def __init__(
        self, recorder: Recorder, given: Any, gives: Sequence[Function], asks: Sequence[Function]
    ) -> None:
        self._carried, self._gives, self._asks = recorder.carried, gives, asks
        self.given = self.slots(given)
        self.made: Slots | None = None

    def traces(self, function: Function) -> bool:
        """Whether a function is among those that are traced."""
        return _among(function, (*self._gives, *self._asks))

    def slots(self, tree: Any) -> Slots:
        """What the leaves of a tree carry."""
        return tuple(self._carried.slot(x) for x in tree_leaves(tree))

    def left(self, function: Function, result: Any) -> None:
        """Note what a function's result carries; of several that are chosen from, of any."""
        if not _among(function, self._gives):
            return
        found, before = self.slots(result), self.made or ()
        if len(found) == len(before):
            found = tuple(a or b for a, b in zip(found, before, strict=True))
        self.made = found

    def put(self, tree: Any, slots: Slots | None) -> None:
        """Have the leaves of a tree carry this."""
        leaves = tree_leaves(tree)
        if slots is not None and len(leaves) == len(slots):
            for x, slot in zip(leaves, slots, strict=True):
                if slot is not None:
                    self._carried.put(x, slot)


class _Open(threading.local):
    """The calls of this thread that are being carried out, the innermost last."""

    def __init__(self) -> None:
        self.calls: list[tuple[Crossing, ...]] = []


_OPEN = _Open()
_INNER = "__promoarray_traced__"


def _among(function: Function, functions: Sequence[Function]) -> bool:
    return any(function is getattr(each, "__func__", each) for each in functions)


def _crossed(
    recorders: Sequence[Recorder],
    gives: Sequence[Function],
    asks: Sequence[Function],
    given: Any,
    call: Callable[[], Any],
    frame: FrameType,
) -> tuple[Any, tuple[Crossing, ...]]:
    """Carry out a call, at a frame, that may have functions traced; see ``Crossing``.

    Returns
    -------
    result : object
    crossings : tuple of Crossing
        What crossed, for each recorder.
    """
    for recorder in recorders:
        recorder.guarded(_enter, recorder, given, frame)
    crossings = tuple(Crossing(recorder, given, gives, asks) for recorder in recorders)
    _OPEN.calls.append(crossings)
    try:
        return call(), crossings
    finally:
        _OPEN.calls.remove(crossings)


def _enter(recorder: Recorder, given: Any, frame: FrameType) -> None:
    """Note what is narrowed of what functions are given."""
    settled(recorder)
    if found := into_function(recorder.home, given):
        recorder.entered(found, frame)


def _traced(function: Any) -> Any:
    """Return what is traced in place of a function: the same each time, as JAX goes by identity.

    Of a method it is one, too. Other objects that can be called are left as they are.
    """
    if type(function) is MethodType:
        return MethodType(_traced(function.__func__), function.__self__)
    if type(function) not in (FunctionType, partial) and not isinstance(function, Wrapper):
        return function
    known = vars(function).get(_INNER)
    if known is not None and known.__wrapped__ is function:  # else it was copied from another
        return known

    @wraps(function)
    def inner(*args: Any, **kwargs: Any) -> Any:
        found = next((c for c in reversed(_OPEN.calls) if c and c[0].traces(inner)), ())
        for crossing in found:
            crossing.put((args, kwargs), crossing.given)
        result = function(*args, **kwargs)
        for crossing in found:
            crossing.left(inner, result)
        return result

    setattr(function, _INNER, inner)
    return inner


# -- transformations ------------------------------------------------------------------------------


class Transform(Wrapper):
    """``jax.jit`` and the like: from a function to another."""

    def __init__(self, func: Function, recorders: Recorders, gives: Gives) -> None:
        super().__init__(func)
        self._recorders, self._gives = recorders, gives

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if not args or not callable(args[0]) or not self._recorders():
            made = self.__wrapped__(*args, **kwargs)
            # ``jax.jit(static_argnums=0)`` is a decorator
            return made if args else lambda function: self(function, **kwargs)
        function, *rest = args
        inner = _traced(function)
        made = self.__wrapped__(inner, *rest, **kwargs)
        if inner is function:
            return made
        return _Transformed(made, inner, self._recorders, partial(self._gives, rest, kwargs))


class _Transformed(Wrapper):
    """A function that was transformed.

    Parameters
    ----------
    func : callable
        What the transformation made.
    inner : callable
        What it has traced.
    recorders : callable
    gives : callable
        Answers of its arguments, of what crossed and of what the traced function made what its
        result carries.
    """

    def __init__(self, func: Function, inner: Function, recorders: Recorders, gives: Any) -> None:
        super().__init__(func)
        self._inner, self._recorders, self._gives = inner, recorders, gives
        self._made: WeakKeyDictionary[Recorder, dict[Hashable, Slots]] = WeakKeyDictionary()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        recorders = self._recorders()
        call = partial(self.__wrapped__, *args, **kwargs)
        if not recorders:
            return call()
        bound = (self._inner.__self__,) if isinstance(self._inner, MethodType) else ()
        given = (*bound, *args), kwargs
        kinds = tuple(_kind(x) for x in tree_leaves(given))
        result, crossings = _crossed(recorders, (self._inner,), (), given, call, sys._getframe(1))
        for recorder, crossing in zip(recorders, crossings, strict=True):
            known = self._made.setdefault(recorder, {})
            made = crossing.made
            if made is None:  # JAX traces it no second time
                made = known.get(kinds)
            if made is not None:
                known[kinds] = made
                crossing.put(result, self._gives(crossing, args, made))
        return result


def _kind(x: Any) -> Hashable:
    return type(x), getattr(x, "dtype", None), getattr(x, "weak_type", False)


def _same(rest: Any, named: Any, crossing: Crossing, args: Any, made: Slots) -> Slots:
    """The result is the traced function's."""
    return made


def _gradient(rest: Any, named: Any, crossing: Crossing, args: Any, made: Slots) -> Slots:
    """Gradients have the dtypes of the arguments; behind them comes what the function made else."""
    return _slots_of_gradients(rest, named, crossing, args) + made[1:]


def _value_and_gradient(rest: Any, named: Any, crossing: Crossing, args: Any, made: Slots) -> Slots:
    return made + _slots_of_gradients(rest, named, crossing, args)


def _slots_of_gradients(rest: Any, named: Any, crossing: Crossing, args: Any) -> Slots:
    which = named.get("argnums", rest[0] if rest else 0)
    return crossing.slots(args[which] if isinstance(which, int) else [args[i] for i in which])


TRANSFORMS: dict[str, Gives] = {
    **dict.fromkeys(("jit", "vmap", "checkpoint", "remat"), _same),
    "grad": _gradient,
    "value_and_grad": _value_and_gradient,
}

# -- loops ----------------------------------------------------------------------------------------


class Parameters(NamedTuple):
    """Those of a loop: the functions that give its result, those that only ask, and the values."""

    giving: tuple[str, ...]
    values: tuple[str, ...]
    asking: tuple[str, ...] = ()


class Control(Wrapper):
    """``lax.scan`` and the like: they have functions traced, and give what these do."""

    def __init__(self, func: Function, recorders: Recorders, parameters: Parameters) -> None:
        super().__init__(func)
        self._recorders, self._parameters = recorders, parameters
        self._signature = inspect.signature(func)

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        recorders = self._recorders()
        if not recorders:
            return self.__wrapped__(*args, **kwargs)
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError:  # which JAX says in its own words
            return self.__wrapped__(*args, **kwargs)
        arguments, names = bound.arguments, self._parameters
        gives, asks = _all_traced(arguments, names.giving), _all_traced(arguments, names.asking)
        given = [arguments.get(name) for name in names.values]
        call = partial(self.__wrapped__, *bound.args, **bound.kwargs)
        result, crossings = _crossed(recorders, gives, asks, given, call, sys._getframe(1))
        for crossing in crossings:
            crossing.put(result, crossing.made)
        return result


def _all_traced(arguments: dict[str, Any], names: Sequence[str]) -> list[Function]:
    """The functions that are traced in place of those arguments, which they replace."""
    found: list[Function] = []
    for name in names:
        x = arguments[name]
        several = isinstance(x, (list, tuple))
        made = tuple(map(_traced, x if several else (x,)))
        arguments[name] = made if several else made[0]
        found += made
    return found


CONTROL = {
    "scan": Parameters(("f",), ("init", "xs")),
    "map": Parameters(("f",), ("xs",)),
    "while_loop": Parameters(("body_fun",), ("init_val",), asking=("cond_fun",)),
    "fori_loop": Parameters(("body_fun",), ("lower", "init_val")),
    "cond": Parameters(("true_fun", "false_fun"), ("operands",)),
    "switch": Parameters(("branches",), ("operands",)),
}
