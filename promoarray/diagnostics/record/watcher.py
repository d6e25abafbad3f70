"""What a hook does with each call: carry it out, and record what it was.

A call is known by the function, the dtypes of tensors, whether they are 0-d, and the magnitude of
Python scalars. If all policies agreed on one, they agree on all that are alike.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from types import FrameType
from typing import Any, NamedTuple

from promoarray.diagnostics.record.call import Call
from promoarray.diagnostics.record.handlers import Handler
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.shadow.magnitude import magnitude
from promoarray.dtypes import WEAK


class Known(NamedTuple):
    """A call at which there was nothing to note: how it is counted when it comes again."""

    kind: str
    operations: int


class Watcher:
    """Tells a recorder of the calls that it carries out.

    Parameters
    ----------
    recorder : Recorder
    kind : type
        The framework's kind of ``Call``.
    state : callable
        Answers what calls depend on besides their arguments, such as the default dtype.
    """

    def __init__(self, recorder: Recorder, kind: type[Call], state: Callable[[], Hashable]) -> None:
        self._recorder, self._kind, self._state = recorder, kind, state
        self._by_value = recorder.by_value
        self._agreed: dict[Hashable, Known] = {}

    def watch(
        self,
        func: Any,
        name: str,
        handler: Handler,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        frame: FrameType,
        carry_out: Callable[..., Any],
    ) -> Any:
        """Carry out a call of a function, and record what it was."""
        key = self._key(func, args, kwargs)
        known = self._agreed.get(key) if key is not None else None
        if known is not None:
            result = carry_out(*args, **kwargs)
            if result is not NotImplemented:
                self._recorder.again(known.kind, name, known.operations)
            return result
        guarded = self._recorder.guarded
        call = guarded(self._looked_at, name, func, args, kwargs, frame)
        result = carry_out(*args, **kwargs)
        # Of an operator that answers NotImplemented Python asks the other operand.
        if call is not None and result is not NotImplemented:
            call.result = result
            guarded(self._record, call, handler, key)
        return result

    def _looked_at(self, name: str, func: Any, args: Any, kwargs: Any, frame: FrameType) -> Call:
        """A call that is about to be carried out, with what its tensors carry until then."""
        call = self._kind(self._recorder, name, func, args, kwargs, frame)
        call.look()
        return call

    def _record(self, call: Call, handler: Handler, key: Hashable | None) -> None:
        """Record a call that was carried out."""
        recorder = self._recorder
        before, recorder.noted = recorder.report.operations, False
        handler(call)
        if key is not None and call.kind and not (recorder.noted or call.disputed()):
            self._agreed[key] = Known(call.kind, recorder.report.operations - before)

    def _key(self, func: Any, args: Any, kwargs: Any) -> Hashable | None:
        """What calls that are alike have in common; None where one stands for itself alone."""
        parts: list[Hashable] = [func, self._state()]
        if not self._add(parts, args):
            return None
        for name, x in kwargs.items():
            parts.append(name)
            if not self._add(parts, (x,)):
                return None
        return tuple(parts)

    def _add(self, parts: list[Hashable], values: Any) -> bool:
        tensor, carried = self._kind.tensor, self._recorder.carried
        for x in values:
            kind: Any = type(x)
            if isinstance(x, tensor):
                flat = x.ndim == 0
                if x in carried or (flat and self._by_value):
                    return False
                parts.append((self._kind.kind_of(x), flat))
            elif kind in WEAK:
                parts.append(magnitude(x))
            elif kind in (list, tuple):
                parts.append((kind, len(x)))
                if not self._add(parts, x):
                    return False
            elif kind is str or self._kind.is_dtype(x):
                parts.append(x)
            else:
                parts.append(kind)
        return True
