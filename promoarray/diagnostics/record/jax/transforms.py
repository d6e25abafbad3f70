"""JAX's transformations and loops: what policies disagree on is carried into the functions that JAX
traces, and out again.

JAX gives a traced function tracers in place of arrays, and its caller arrays in place of tracers.
As both are trees of the same leaves, each leaf carries on what the one across carries. JAX traces a
function once for arguments that are alike, and so do later calls go on with what was found then.
"""

from __future__ import annotations

import inspect
import io
import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import redirect_stdout
from functools import partial, update_wrapper, wraps
from types import FrameType, FunctionType, MethodType
from typing import TYPE_CHECKING, Any, NamedTuple, cast
from weakref import WeakKeyDictionary

import jax
from jax._src.core import trace_state_clean
from jax.tree_util import tree_leaves

from promoarray.diagnostics.record.call import Returned
from promoarray.diagnostics.record.jax.call import OPEN, Call, dtype_of, into_function, settled
from promoarray.diagnostics.record.jax.compiled import Jitted, is_array, loop_of
from promoarray.diagnostics.record.jax.gradients import Probes, are_lost
from promoarray.diagnostics.record.jax.loops import (
    BEYOND,
    LOOPS,
    MOST,
    as_one,
    compiled,
    is_readable,
    is_traced,
    stepwise,
)
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.report import EAGER
from promoarray.dtypes import WEAK

if TYPE_CHECKING:
    from promoarray.core.array_base import TypeRecord
    from promoarray.diagnostics.record.checks import Checks

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
        self._call = None if recorder.origins is None else partial(dtype_of, home=recorder.home)
        self._gave: dict[Function, list[Returned]] = {}

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
        if self._call is not None and not OPEN.trying:
            self._gave[function] = [*self._returned(function, result, found)]
        if len(found) == len(before):
            found = tuple(a or b for a, b in zip(found, before, strict=True))
        self.made = found

    @property
    def gave(self) -> list[Returned]:
        """What each function gave back, if origins are kept."""
        return [each for some in self._gave.values() for each in some]

    def _returned(self, function: Function, result: Any, slots: Slots) -> Iterator[Returned]:
        for n, (x, slot) in enumerate(zip(tree_leaves(result), slots, strict=True)):
            dtype = WEAK.get(type(x)) or (hasattr(x, "dtype") and self._call and self._call(x))
            if dtype:
                part = n, len(slots)
                yield Returned(function, part, dtype.name, getattr(x, "shape", ()), slot)

    def put(self, tree: Any, slots: Slots | None, *, over: bool = True) -> None:
        """Have the leaves of a tree carry this, or without ``over`` those that carry nothing."""
        leaves = tree_leaves(tree)
        if slots is not None and len(leaves) == len(slots):
            for x, slot in zip(leaves, slots, strict=True):
                if slot is not None and (over or self._carried.slot(x) is None):
                    self._carried.put(x, slot)


_INNER = "__promoarray_traced__"


def _among(function: Function, functions: Sequence[Function]) -> bool:
    return any(function is getattr(each, "__func__", each) for each in functions)


def _crossed(
    recorders: Sequence[Recorder],
    gives: Sequence[Function],
    asks: Sequence[Function],
    given: Any,
    call: partial[Any],
    frame: FrameType,
    carry_out: Callable[[], Any] | None = None,
) -> tuple[Any, tuple[Crossing, ...]]:
    """Carry out a call, at a frame, that may have functions traced; see ``Crossing``.

    Where something else is carried out in its place, ``carry_out`` does that.

    Returns
    -------
    result : object
    crossings : tuple of Crossing
        What crossed, for each recorder.
    """
    for recorder in recorders:
        recorder.guarded(_enter, recorder, given, frame)
    crossings = tuple(Crossing(recorder, given, gives, asks) for recorder in recorders)
    OPEN.calls.append(crossings)
    try:
        return (carry_out or call)(), crossings
    except Exception as error:
        for recorder, crossing in zip(recorders, crossings, strict=True):
            recorder.guarded(_failed, recorder, crossing.gave, call, error, frame)
        raise
    finally:
        OPEN.calls.remove(crossings)


def _failed(
    recorder: Recorder, gave: list[Returned], call: Any, error: Exception, frame: FrameType
) -> None:
    """Note what failed, such as a loop whose carry changes its dtype, if origins are kept."""
    if recorder.origins is None or OPEN.trying:
        return
    name = getattr(call.func, "__name__", "function")
    name = f"lax.{name}" if name in CONTROL else f"transformed {name}"
    told = Call(recorder, name, call.func, call.args, call.keywords, frame)
    told.gave = gave if name.startswith("lax.") else ()
    OPEN.trying = True
    try:
        recorder.failed(told, error, call.func, call.args, call.keywords)
    finally:
        OPEN.trying = False


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
        found = next((c for c in reversed(OPEN.calls) if c and c[0].traces(inner)), ())
        for crossing in found:
            # In a loop that is carried out by steps, the step before has made the carry.
            crossing.put((args, kwargs), crossing.given, over=False)
        result = function(*args, **kwargs)
        for crossing in found:
            crossing.left(inner, result)
        return result

    setattr(function, _INNER, inner)
    return inner


TOLD: list[Any] = []
"""Hear of what the program itself calls: each compiled function, and what takes a gradient."""


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
        if inner is function and type(made) is not _Jitted:
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
    gives : callable
        Answers of its arguments, of what crossed and of what the traced function made what its
        result carries.
    """

    def __init__(self, func: Function, inner: Function, recorders: Recorders, gives: Any) -> None:
        super().__init__(func)
        self._inner, self._recorders, self._gives = inner, recorders, gives
        self._made: WeakKeyDictionary[Recorder, dict[Hashable, Slots]] = WeakKeyDictionary()
        self._jitted = Jitted(func, gives.args[1]) if type(func) is _Jitted else None
        self._is_gradient = gives.func in _GRADIENTS
        self._differentiates = False  # whether a gradient is taken in it

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        recorders = self._recorders()
        call = partial(self.__wrapped__, *args, **kwargs)
        if not recorders:
            return call()
        own = trace_state_clean() and not OPEN.calls and not OPEN.trying
        if self._is_gradient:
            OPEN.gradients += 1
            for told in TOLD if own else ():
                told.begins_gradient()
        before = OPEN.gradients
        bound = (self._inner.__self__,) if isinstance(self._inner, MethodType) else ()
        given = (*bound, *args), kwargs
        kinds = tuple(_kind(x) for x in tree_leaves(given))
        carry_out: Function = partial(self._op_by_op, recorders, call)
        checks = next((r.checks for r in recorders if r.checks is not None), None)
        if self._jitted is not None and checks is not None and not OPEN.trying:
            carry_out = self._jitted.carried_out(checks, carry_out, args, kwargs)
        where = sys._getframe(1)
        result, crossings = _crossed(recorders, (self._inner,), (), given, call, where, carry_out)
        for recorder, crossing in zip(recorders, crossings, strict=True):
            if recorder.checks is not None and self._is_gradient:
                recorder.guarded(_differentiated, recorder.checks, call, given, result)
            known = self._made.setdefault(recorder, {})
            made = crossing.made
            if made is None:  # JAX traces it no second time
                made = known.get(kinds)
            if made is not None:
                known[kinds] = made
                crossing.put(result, self._gives(crossing, args, made))
        self._differentiates |= OPEN.gradients > before
        if self._jitted is not None and own:
            for told in TOLD:
                told.of_compiled(args, result, differentiates=self._differentiates)
        return result

    def _op_by_op(self, recorders: Sequence[Recorder], call: Function) -> Any:
        for recorder in recorders:
            if recorder.by_step and self._jitted is not None and OPEN.traced is None:
                recorder.count(EAGER, "jax.jit")
        return call()


def _differentiated(checks: Checks, call: Function, given: Any, result: Any) -> None:
    """Look for the line at which a gradient is lost, by differentiating once more."""
    if OPEN.trying or not are_lost(given, result):
        return
    OPEN.trying, OPEN.probes = True, Probes(checks)
    try:
        with redirect_stdout(io.StringIO()):  # of the program's function, which is called again
            call()
    finally:
        OPEN.trying, OPEN.probes = False, None


_Jitted = type(jax.jit(lambda x: x))


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
    **dict.fromkeys(
        ("jit", "vmap", "pmap", "shard_map", "checkpoint", "remat", "named_call"), _same
    ),
    "grad": _gradient,
    "value_and_grad": _value_and_gradient,
}

_GRADIENTS = _gradient, _value_and_gradient

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
        self._taken: set[Hashable] = set()
        self._compiled: WeakKeyDictionary[Checks, dict[Hashable, Any]] = WeakKeyDictionary()

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        recorders, frame = self._recorders(), sys._getframe(1)
        is_probed = OPEN.probes is not None and self.__name__ in LOOPS
        if not recorders and not is_probed:
            return self.__wrapped__(*args, **kwargs)
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError:  # which JAX says in its own words
            return self.__wrapped__(*args, **kwargs)
        if is_probed:
            return as_one(self.__wrapped__, bound.arguments, OPEN.probes, frame)
        arguments, names = bound.arguments, self._parameters
        gives, asks = _all_traced(arguments, names.giving), _all_traced(arguments, names.asking)
        given = [arguments.get(name) for name in names.values]
        call = partial(self.__wrapped__, *bound.args, **bound.kwargs)
        checks = [r.checks for r in recorders if r.checks is not None]

        def left_open(looked_at: str) -> None:
            for each in checks:
                each.unreadable(f"lax.{self.__name__} but for {looked_at}", BEYOND, frame)

        by_steps: Function | None = None
        bare = partial(self.__wrapped__, *args, **kwargs)  # what it traces, is traced again
        if OPEN.traced is not None:
            by_steps = None
        elif checks and not self._is_taken(bare, (*gives, *asks), given):
            by_steps = partial(compiled, call)
        elif checks and self.__name__ in LOOPS:
            by_steps = partial(stepwise, self.__wrapped__, arguments, left_open)
            if trace_state_clean() and all(map(is_array, tree_leaves(given))):
                by_steps = partial(self._as_a_whole, checks[0], call, arguments, by_steps)
        result, crossings = _crossed(recorders, gives, asks, given, call, frame, by_steps)
        for crossing in crossings:
            crossing.put(result, crossing.made)
        return result

    def _as_a_whole(
        self, checks: Checks, call: Function, arguments: Any, by_steps: Function
    ) -> Any:
        """Carry out a loop compiled with flags, or else by steps."""
        carry_out = loop_of(checks, call, self._compiled.setdefault(checks, {}))
        try:
            steps: Any = LOOPS[self.__name__](self.__wrapped__, arguments)
            times = steps.steps if steps.steps < MOST else 1
        except Exception:  # as JAX will say
            times = 1
        return carry_out(by_steps, times=times)

    def _is_taken(self, call: Function, functions: Sequence[Function], given: Any) -> bool:
        """Whether JAX takes the functions: step by step it compares no dtypes of what they make."""
        codes = tuple(getattr(each, "__code__", each) for each in map(inspect.unwrap, functions))
        leaves = tree_leaves(given)
        key = codes, tuple(map(_kind, leaves))
        if key not in self._taken and all(map(is_readable, leaves)):  # else JAX traces them itself
            if not is_traced(call):
                return False
            self._taken.add(key)
        return True


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
