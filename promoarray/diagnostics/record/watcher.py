"""Watcher of a framework's calls: each is carried out, and recorded.

A call is known by its place, the function, by the dtypes of tensors and the operations that made
them, whether they are 0-d, and by the class of Python scalars. One that is like another is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from types import BuiltinFunctionType, CodeType, EllipsisType, FrameType, FunctionType, NoneType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from promoarray.core.call_site import instructions_of, is_library
from promoarray.diagnostics.model.flow import RecordedOperation
from promoarray.diagnostics.model.scalar_class import scalar_class
from promoarray.diagnostics.record._seen import CallKey, CallWatcher
from promoarray.diagnostics.record.call import Call, flat
from promoarray.diagnostics.record.checked import Checked
from promoarray.diagnostics.record.handlers import Handler, compute, refused
from promoarray.diagnostics.record.recorder import Recorder, Result
from promoarray.diagnostics.record.replaced import Watched
from promoarray.diagnostics.record.report import BEFORE_READING
from promoarray.diagnostics.record.screen import Screen
from promoarray.diagnostics.record.taped import Taped
from promoarray.diagnostics.record.written import number_first
from promoarray.dtypes import BY_NAME

KindOf = Callable[[Any], Hashable]
"""What arrays have in common that are alike, but for what they carry."""


class Known(NamedTuple):
    """What to do with a call that is like another; ``native/`` reads the first fields."""

    # of each array that it makes its kind, and what it carries
    made: tuple[tuple[Hashable, Any], ...]
    tells: tuple[Callable[..., object], ...]  # what is called besides
    # between which the values of the array that is cast have to be; see ``Heard``
    within: tuple[int, int] | None
    checked: bool  # whether it is looked whether it made these
    # where it is counted if its values need not be looked at; None if they have to be
    passes: list[int] | None
    screen: Screen | None  # how its values are looked at; None of one like no other
    # what it is counted as, "" of one that only asks; and the function
    kind: str
    name: str
    operations: tuple[RecordedOperation, ...]  # what it is one more pass of

    @classmethod
    def of(
        cls,
        recorder: Recorder,
        counted: tuple[str, str],
        made: Sequence[Any],
        kind_of: KindOf,
        *,
        by_values: bool = False,
    ) -> Self | None:
        """Return what was told of the call that made some arrays; None if no other is like it.

        Who looks at values, as ``within`` asks, says so (``by_values``).
        """
        heard = recorder.heard
        if heard.within is not None and not by_values:
            return None
        if not heard.lasting or not heard.arrays <= {id(x) for x in made}:
            return None
        both = tuple((kind_of(x), recorder.carried.slot(x)) for x in made)
        operations, tells = tuple(heard.recorded), tuple(heard.tells)
        checked = bool(operations or tells or any(slot for _, slot in both))
        return cls(both, tells, heard.within, checked, None, None, *counted, operations)


class Given(NamedTuple):
    """A call that is to be carried out, as ``native/`` hands it over."""

    func: Any
    name: str
    handler: Handler
    frame: FrameType
    carry_out: Callable[..., Any]
    args: Any
    kwargs: Any

    @property
    def looked(self) -> tuple[Any, ...]:
        """What a ``Call`` is made of."""
        return self.name, self.func, self.args, self.kwargs, self.frame


_PLAIN = (NoneType, EllipsisType, slice, FunctionType, BuiltinFunctionType)
"""Classes of arguments that are no arrays, and of which nothing more is asked."""


class Watcher(CallWatcher):
    """Tells a recorder of the calls that it carries out for the thread that enters it."""

    kind: ClassVar[type[Call]]
    """The framework's kind of ``Call``."""
    replaced: ClassVar[Watched]
    """The functions that call it."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self.recorder = recorder
        recorder.describe[recorder.framework] = self._described
        checks = recorder.checks
        self._checked = None if checks is None else Checked(checks, recorder, self.kind)
        tape = recorder.tape
        self._tape = None if tape is None else Taped(tape, recorder, self.kind)
        self._eager = self.kind.eager() if recorder.by_step else nullcontext()
        self._handlers: dict[Any, tuple[str, Handler | None, CodeType | None]] = {}
        kind = self.kind
        read = ((kind.kind_of, Call.kind_of), (kind.ndim_of, Call.ndim_of))
        parts = (
            *(recorder.known, recorder, recorder.carried, kind.tensor),
            # None of what is an attribute, which C reads
            *(None if function is usual else function for function, usual in read),
            *(kind.names_of_dtypes, self.state()),
            *(frozenset({*_PLAIN, *kind.no_arrays}), self._handlers),
        )
        self.prepare(parts, checks is not None, tape is not None)

    def state(self) -> tuple[Callable[[], Hashable], ...]:
        """What tells of all that calls depend on besides their arguments, as the default dtype."""
        raise NotImplementedError

    def _described(self, x: Any) -> Result | None:
        """A tensor of the framework; None if it is none."""
        if not isinstance(x, self.kind.tensor) or isinstance(x, np.ndarray | np.generic):
            return None
        call = object.__new__(self.kind)
        call.recorder = self.recorder
        found = next(call.described((x,)), None)
        if found is not None and found.dtype.weak:
            found = found._replace(dtype=BY_NAME[x.dtype.name])
        return found

    def __enter__(self) -> Self:
        self._eager.__enter__()
        self.replaced.__enter__()
        self.replaced.watchers += (self,)
        BEFORE_READING.append(self.recorder.flush)
        return self

    def __exit__(self, *raised: object) -> None:
        self.replaced.watchers = tuple(x for x in self.replaced.watchers if x is not self)
        self.replaced.__exit__(*raised)
        self.recorder.flush()
        BEFORE_READING.remove(self.recorder.flush)
        self._eager.__exit__(None, None, None)

    def _sort_of(self, code: CodeType) -> int:
        """Return 2 of code that stands between a call and the hook, 1 of a library's, else 0."""
        return 2 if self.kind.is_between(code) else int(is_library(code.co_filename))

    def _number_first(self, frame: FrameType) -> bool | None:
        return number_first(frame, self.kind.tensor)

    def _taped(self, *given: Any) -> Any:
        """Carry out a call that is kept with its values."""
        tape, call = self._tape, Given(*given)
        assert tape is not None
        taped = self._unheard(tape.before, call.name, call.args, call.kwargs, call.frame)
        if taped is None:
            return self._watch(*call[:5], *call.args, **call.kwargs)

        def kept(*args: Any, **kwargs: Any) -> Any:
            result = call.carry_out(*args, **kwargs)
            if result is NotImplemented:
                return result
            made = self._unheard(tape.after, taped, call.frame, result)
            return result if made is None else made[0]

        return self._watch(*call[:4], kept, *taped.args, **taped.kwargs)

    def _looked_into(self, key: CallKey | None, known: Known | None, *given: Any) -> Any:
        """Carry out a call that is like none, or at whose values it has to be looked."""
        told, checked, guarded = Given(*given), self._checked, self.recorder.guarded
        call = guarded(self._looked_at, *told.looked) if known is None else None
        before = checked and guarded(checked.before, told.name, told.args, told.kwargs)
        try:
            result = told.carry_out(*told.args, **told.kwargs)
        except Exception as error:
            self._failed(call, told.looked, told.handler, told.carry_out, error)
            raise
        if result is NotImplemented:  # Python asks the other operand of an operator
            return result
        if known is None or not self.again(known, result):
            call = call if known is None else guarded(self._looked_at, *told.looked)
            self._made(call, told, key, before, result)
        self._after(told, before, result)
        return result

    def _ended(
        self, key: CallKey, known: Known, alike: bool, was: Any, result: Any, *given: Any
    ) -> None:
        """Look at the values of a call that is like others, or record one that made something else
        than those."""
        screen, checked, before = known.screen, self._checked, None
        if screen is not None and checked is not None:
            args, kwargs = given[-2:]
            if alike and self._unheard(checked.passed, screen, args, kwargs, result, was):
                return  # nearly every call ends here
            before = self.recorder.guarded(checked.seen, screen, was, args)
        told = Given(*given)
        if not alike:
            call = self.recorder.guarded(self._looked_at, *told.looked)
            self._made(call, told, key, before, result)
        self._after(told, before, result)

    def _after(self, told: Given, before: Any, result: Any) -> None:
        """Look at the values of a call that was carried out, if they are looked at."""
        if self._checked is not None and before is not None:
            called = told.name, told.carry_out, told.args, told.kwargs
            at = told.frame, *instructions_of(told.frame)
            self._unheard(self._checked.after, before, called, at, result)

    def _made(
        self, call: Call | None, told: Given, key: CallKey | None, before: Any, result: Any
    ) -> None:
        """Record a call that was carried out, if it could be looked at."""
        if call is not None:
            call.result = result
            recorded = call, told.handler, key, before, told.carry_out
            self.recorder.guarded(self._record, *recorded)

    def _failed(
        self,
        call: Call | None,
        looked: tuple[Any, ...],
        handler: Handler,
        carry_out: Callable[..., Any],
        error: Exception,
    ) -> None:
        """Note a call that failed."""
        guarded, (_, _, args, kwargs, _) = self.recorder.guarded, looked
        with self.replaced.silent():  # who watches as well hears of no trial
            if handler is compute or self.recorder.origins is not None:
                call = call or guarded(self._looked_at, *looked)
            if handler is compute:
                guarded(refused, call, error)
            guarded(self.recorder.failed, call, error, carry_out, args, kwargs)

    def _unheard(self, function: Callable[..., Any], *given: Any) -> Any:
        """Call what calls the framework itself, of which nobody is to hear."""
        before = self.replaced.watchers
        self.replaced.watchers = ()
        try:
            return self.recorder.guarded(function, *given)
        finally:
            self.replaced.watchers = before

    def asked(self, func: Any, name: str, frame: FrameType, args: Any, kwargs: Any) -> Any:
        """Carry out a call of a function that makes no array, of which an error alone is noted."""
        try:
            return func(*args, **kwargs)
        except Exception as error:
            self.failed(func, name, frame, args, kwargs, error)
            raise

    def failed(
        self, func: Any, name: str, frame: FrameType, args: Any, kwargs: Any, error: Exception
    ) -> None:
        """Note a call that failed and is not recorded, if origins are kept."""
        if self.recorder.origins is not None:
            call = self.recorder.guarded(self._looked_at, name, func, args, kwargs, frame)
            self.recorder.guarded(self.recorder.failed, call, error, func, args, kwargs)

    def note(
        self, name: str, func: Any, args: Any, kwargs: Any, frame: FrameType, made: Any
    ) -> None:
        """Note where arrays came from of which nothing was heard, if origins are kept."""
        if self.recorder.origins is not None:
            self.recorder.guarded(self._note, name, func, args, kwargs, frame, made)

    def _note(self, name: str, func: Any, args: Any, kwargs: Any, frame: Any, made: Any) -> None:
        recorder, call = self.recorder, self.kind(self.recorder, name, func, args, kwargs, frame)
        recorder.heard.call = call
        try:
            for result in call.described(flat((made,))):
                if recorder.carried.slot(result.array) is None:
                    recorder.made(result)
        finally:
            recorder.heard.call = None

    def _looked_at(self, name: str, func: Any, args: Any, kwargs: Any, frame: FrameType) -> Call:
        """A call that is about to be carried out, with what its tensors carry until then."""
        call = self.kind(self.recorder, name, func, args, kwargs, frame)
        call.look()
        return call

    def _tensors(self, result: Any) -> tuple[Any, ...]:
        return tuple([x for x in flat((result,)) if isinstance(x, self.kind.tensor)])

    def _record(
        self,
        call: Call,
        handler: Handler,
        key: CallKey | None,
        before: Any,
        carry_out: Callable[..., Any],
    ) -> None:
        """Record a call that was carried out, and what is known of those that are like it."""
        self.recorder.heard.begin()
        self.recorder.heard.call = call
        try:
            handler(call)
        finally:
            self.recorder.heard.call = None  # its arrays are the program's
        if key is None:
            return
        result = self._tensors(call.result)
        made = Known.of(self.recorder, (call.kind, call.name), result, self.kind.kind_of)
        if made is None:
            return
        if self._checked is not None:
            place = instructions_of(call.frame)
            passes, screen = self._checked.passes(call.name, *place, result), None
            if passes is None:
                called = call.name, carry_out, call.args, call.kwargs
                screen = self._checked.screen(before, called, (call.frame, *place), call.result)
            made = made._replace(passes=passes, screen=screen)
        side = (call.number_first,) if made.checked and call.read else ()
        self.keep(key, made if call.kind else made._replace(checked=True), *side)

    def _argument_class(self, x: Any) -> Hashable:
        """What arguments have in common that are no tensors, numbers, texts and lists."""
        number = self.kind.number_of(x)
        if number is not None:
            return type(x), scalar_class(number)
        found = self.recorder.elsewhere(x)
        if found is None:
            return type(x), None
        return type(x), None, found.dtype, not found.ndim, self.recorder.carried.slot(x)

    def _value_class(self, x: Any) -> Any:
        """The class of a 0-d tensor's value; ``NotImplemented`` if it cannot be read at once."""
        if not self.kind.is_at_hand(x):
            return NotImplemented
        try:
            read = self.kind.item_of(x)
            return None if read is None else scalar_class(read())
        except Exception:  # such as of a tensor that holds no values
            return NotImplemented
