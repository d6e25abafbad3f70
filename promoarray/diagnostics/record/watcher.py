"""Watcher of a framework's calls: each is carried out, and recorded.

A call is known by its place, the function, by the dtypes of tensors and the operations that made
them, whether they are 0-d, and by the class of Python scalars. One that is like another is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import nullcontext
from types import CodeType, FrameType
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from promoarray.core.call_site import instructions_of
from promoarray.diagnostics.model.flow import RecordedOperation
from promoarray.diagnostics.model.scalar_class import scalar_class
from promoarray.diagnostics.record.call import Call, flat
from promoarray.diagnostics.record.checked import Checked
from promoarray.diagnostics.record.handlers import Handler, compute, refused
from promoarray.diagnostics.record.recorder import Recorder, Result
from promoarray.diagnostics.record.replaced import Watched
from promoarray.diagnostics.record.screen import Screen
from promoarray.diagnostics.record.taped import Taped
from promoarray.diagnostics.record.written import number_first
from promoarray.dtypes import BY_NAME, WEAK

KindOf = Callable[[Any], Hashable]
"""What arrays have in common that are alike, but for what they carry."""


class Known(NamedTuple):
    """What to do with a call that is like another; ``native/`` reads the first three."""

    # of each array that it makes its kind, and what it carries
    made: tuple[tuple[Hashable, Any], ...]
    tells: tuple[Callable[[], object], ...]  # what is called besides
    # between which the values of the array that is cast have to be; see ``Heard``
    within: tuple[int, int] | None
    # what it is counted as, "" of one that only asks; and the function
    kind: str
    name: str
    operations: tuple[RecordedOperation, ...]  # what it is one more pass of
    checked: bool  # whether it is looked whether it made these
    held: object  # what has to live as long, for the call is known by its address
    # where it is counted if its values need not be looked at; None if they have to be
    passes: list[int] | None = None
    screen: Screen | None = None  # how its values are looked at; None of one like no other

    @classmethod
    def of(
        cls,
        recorder: Recorder,
        counted: tuple[str, str],
        made: Sequence[Any],
        kind_of: KindOf,
        held: object = None,
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
        return cls(both, tells, heard.within, *counted, operations, checked, held)


MOST = 1 << 14
"""So many calls are known."""

_BY_SIDE: Any = object()
"""Stands for a call that hangs on which side of an operator its number is, too."""


class Watcher:
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

    def state(self) -> Hashable:
        """What calls depend on besides their arguments, such as the default dtype."""
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
        return self

    def __exit__(self, *raised: object) -> None:
        self.replaced.watchers = tuple(x for x in self.replaced.watchers if x is not self)
        self.replaced.__exit__(*raised)
        self._eager.__exit__(None, None, None)

    def watch(
        self,
        func: Any,
        name: str,
        handler: Handler,
        frame: FrameType,
        carry_out: Callable[..., Any],
        /,
        *args: Any,
        **kwargs: Any,
    ) -> Any:
        """Carry out a call of a function, and record what it was."""
        recorder, kind, checked = self.recorder, self.kind, self._checked
        taped = None
        if self._tape is not None:
            taped = self._unheard(self._tape.before, name, args, kwargs, frame)
            args, kwargs = (taped.args, taped.kwargs) if taped is not None else (args, kwargs)
        frame = kind.standing(frame, func)
        place, codes = instructions_of(frame)
        key = self._key(func, args, kwargs, place)
        known = recorder.known.get(key)
        if known is _BY_SIDE:
            known = recorder.known.get((key, number_first(frame, kind.tensor)))
        looked = name, func, args, kwargs, frame
        call = before = None
        if known is None:
            call = recorder.guarded(self._looked_at, *looked)
        screen = None if known is None else known.screen
        if screen is not None:
            before = self._unheard(screen.before, args) if screen.writes else None
        elif checked is not None and (known is None or known.passes is None):
            before = recorder.guarded(checked.before, name, args, kwargs)
        try:
            result = carry_out(*args, **kwargs)
        except Exception as error:
            self._failed(call, looked, handler, carry_out, error)
            raise
        if result is NotImplemented:  # Python asks the other operand of an operator
            return result
        if taped is not None and self._tape is not None:
            made = self._unheard(self._tape.after, taped, frame, result)
            result = result if made is None else made[0]
        if known is None or not self._again(known, result):
            if screen is not None and checked is not None:
                before = recorder.guarded(checked.seen, screen, before, args)
            if known is not None:  # it made others than those that are alike
                call = recorder.guarded(self._looked_at, *looked)
            if call is not None:
                call.result = result
                recorder.guarded(self._record, call, handler, key, codes, before, carry_out)
            screen = None
        if checked is not None and screen is not None:
            if self._unheard(checked.passed, screen, args, kwargs, result, before):
                return result
            before = recorder.guarded(checked.seen, screen, before, args)
        if checked is not None and before is not None:
            told = (name, carry_out, args, kwargs), (frame, place, codes)
            self._unheard(checked.after, before, *told, result)
        return result

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

    def _again(self, known: Known, result: Any) -> bool:
        """Count a call that is like another, if it made the same, which carries the same then."""
        if known.passes is not None:
            known.passes[0] += 1
        if not known.checked:
            self.recorder.count(known.kind, known.name)
            return True
        kind_of, put = self.kind.kind_of, self.recorder.carried.put
        made = (result,) if isinstance(result, self.kind.tensor) else self._tensors(result)
        if len(made) != len(known.made):
            return False
        try:
            for x, (kind, slot) in zip(made, known.made):  # noqa: B905  # which are as many
                if kind_of(x) != kind:
                    return False
                put(x, slot)
            self.recorder.count_again(known)
        except Exception:  # which is met again, guarded, where the call is recorded
            return False
        return True

    def _tensors(self, result: Any) -> tuple[Any, ...]:
        return tuple([x for x in flat((result,)) if isinstance(x, self.kind.tensor)])

    def _record(
        self,
        call: Call,
        handler: Handler,
        key: tuple[Any, ...] | None,
        held: tuple[CodeType, ...],
        before: Any,
        carry_out: Callable[..., Any],
    ) -> None:
        """Record a call that was carried out."""
        known = self.recorder.known
        self.recorder.heard.begin()
        self.recorder.heard.call = call
        try:
            handler(call)
        finally:
            self.recorder.heard.call = None  # its arrays are the program's
        if key is None:
            return
        result = self._tensors(call.result)
        made = Known.of(self.recorder, (call.kind, call.name), result, self.kind.kind_of, held)
        if made is None:
            return
        if self._checked is not None:
            passes = self._checked.passes(call.name, key[1], held, result)
            screen = None
            if passes is None:
                called = call.name, carry_out, call.args, call.kwargs
                at = call.frame, key[1], held
                screen = self._checked.screen(before, called, at, call.result)
            made = made._replace(passes=passes, screen=screen)
        if len(known) >= MOST:
            known.clear()
        if made.checked and call.read:
            known[key] = _BY_SIDE
            key = key, call.number_first
        known[key] = made if call.kind else made._replace(checked=True)

    def _key(
        self, func: Any, args: Any, kwargs: Any, place: tuple[int, ...]
    ) -> tuple[Any, ...] | None:
        """What calls that are alike have in common; None where one stands for itself alone."""
        parts: list[Any] = [func, place, self.state()]
        if not self._add(parts, args):
            return None
        if kwargs:
            parts += kwargs
            if not self._add(parts, kwargs.values()):
                return None
        return tuple(parts)

    def _add(self, parts: list[Any], values: Any) -> bool:
        tensor, kind_of, slot = self.kind.tensor, self.kind.kind_of, self.recorder.carried.slot
        for x in values:
            kind: Any = type(x)
            if isinstance(x, tensor):
                flat = not self.kind.ndim_of(x)
                parts += (kind_of(x), flat, slot(x))
                if flat and self.recorder.by_value and not self._add_value(parts, x):
                    return False
            elif kind in WEAK:
                parts.append(scalar_class(x))
            elif kind in (list, tuple):
                parts += kind, len(x)
                if not self._add(parts, x):
                    return False
            elif kind is dict:
                parts += kind, *x
                if not self._add(parts, x.values()):
                    return False
            elif kind is str or self.kind.is_dtype(x):
                parts.append(x)
            else:
                number = self.kind.number_of(x)
                parts += (kind, None if number is None else scalar_class(number))
                if number is None and (found := self.recorder.elsewhere(x)) is not None:
                    parts += found.dtype, not found.ndim, slot(x)
        return True

    def _add_value(self, parts: list[Any], x: Any) -> bool:
        """Add the value of a 0-d tensor, at which policies look; answer whether it can be read."""
        if not self.kind.is_at_hand(x):
            return False
        try:
            read = self.kind.item_of(x)
            parts.append(None if read is None else scalar_class(read()))
        except Exception:  # such as of a tensor that holds no values
            return False
        return True
