"""JAX's transformations and loops, across which disputes are carried."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from jax.tree_util import tree_leaves

from promoarray.diagnostics.record.jax.crossing import Crossing, crossed, traced
from promoarray.diagnostics.record.jax.wrapper import Wrapper, WrapperOfFunction
from promoarray.diagnostics.record.recorder import Recorder

if TYPE_CHECKING:
    from promoarray.diagnostics.record.jax.crossing import Slots

    Gives = Callable[[Sequence[Any], dict[str, Any], Crossing, Sequence[Any], Slots], Slots]

Recorders = Callable[[], Sequence[Recorder]]


class Transform(Wrapper):
    """``jax.jit`` and the like: from a function to another."""

    def __init__(self, func: Any, recorders: Recorders, gives: Gives) -> None:
        super().__init__(func)
        self._recorders, self._gives = recorders, gives

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        if not args or not callable(args[0]) or not self._recorders():
            made = self.__wrapped__(*args, **kwargs)
            # ``jax.jit(static_argnums=0)`` is a decorator
            return made if args else lambda function: self(function, **kwargs)
        function, *rest = args
        inner = traced(function)
        made = self.__wrapped__(inner, *rest, **kwargs)
        if inner is function:
            return made
        return Transformed(made, inner, self._recorders, partial(self._gives, rest, kwargs))


class Transformed(WrapperOfFunction):
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

    def __init__(self, func: Any, inner: Any, recorders: Recorders, gives: Any) -> None:
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
        result, crossings = crossed(recorders, (self._inner,), given, call, sys._getframe(1))
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


class Control(WrapperOfFunction):
    """``lax.scan`` and the like: they have functions traced, and give what these do."""

    def __init__(self, func: Any, recorders: Recorders, parameters: Parameters) -> None:
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
        giving, asking, values = self._parameters
        for name in (*giving, *asking):
            x = bound.arguments[name]
            several = isinstance(x, (list, tuple))
            bound.arguments[name] = tuple(map(traced, x)) if several else traced(x)
        gives = [f for name in giving for f in _several(bound.arguments[name])]
        asks = [f for name in asking for f in _several(bound.arguments[name])]
        given = [bound.arguments.get(name) for name in values]
        call = partial(self.__wrapped__, *bound.args, **bound.kwargs)
        result, crossings = crossed(
            recorders, (*gives, *asks), given, call, sys._getframe(1), len(gives)
        )
        for crossing in crossings:
            crossing.put(result, crossing.made)
        return result


def _several(x: Any) -> Sequence[Any]:
    return x if isinstance(x, tuple) else (x,)


class Parameters(NamedTuple):
    """Those of a loop: the functions that give its result, those that only ask, and the values."""

    giving: tuple[str, ...]
    asking: tuple[str, ...]
    values: tuple[str, ...]


TRANSFORMS: dict[str, Gives] = {
    "jit": _same,
    "vmap": _same,
    "checkpoint": _same,
    "remat": _same,
    "grad": _gradient,
    "value_and_grad": _value_and_gradient,
}
CONTROL = {
    "scan": Parameters(("f",), (), ("init", "xs")),
    "map": Parameters(("f",), (), ("xs",)),
    "while_loop": Parameters(("body_fun",), ("cond_fun",), ("init_val",)),
    "fori_loop": Parameters(("body_fun",), (), ("lower", "init_val")),
    "cond": Parameters(("true_fun", "false_fun"), (), ("operands",)),
    "switch": Parameters(("branches",), (), ("operands",)),
}
