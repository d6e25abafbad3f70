"""The hook: PyTorch tells a function mode of every call, as the program wrote it."""

from __future__ import annotations

import sys
from collections.abc import Hashable
from types import FrameType
from typing import Any, NamedTuple

import torch
from torch.overrides import TorchFunctionMode

from promoarray.diagnostics.record.pytorch.call import Call
from promoarray.diagnostics.record.pytorch.handlers import Handler, handler_of
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.shadow.magnitude import magnitude
from promoarray.dtypes import WEAK


class Known(NamedTuple):
    """A call at which there was nothing to note: how it is counted when it comes again."""

    kind: str
    operations: int


class Recording(TorchFunctionMode):
    """Tells a recorder of every call that this thread makes.

    A call is known by the function, the dtypes of tensors, whether they are 0-d, and the magnitude
    of Python scalars. If all policies agreed on one, they agree on all that are alike.

    Parameters
    ----------
    recorder : Recorder
    """

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder
        self._by_value = recorder.by_value
        self._handlers: dict[Any, tuple[str, Handler | None]] = {}
        self._agreed: dict[Hashable, Known] = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Carry out a call, and record what it was."""
        kwargs = kwargs or {}
        found = self._handlers.get(func)
        if found is None:
            found = self._handlers[func] = handler_of(func)
        name, handler = found
        if handler is None:
            return func(*args, **kwargs)
        key = self._key(func, args, kwargs)
        known = self._agreed.get(key) if key is not None else None
        if known is not None:
            self._recorder.again(known.kind, name, known.operations)
            return func(*args, **kwargs)
        recorder = self._recorder
        call = recorder.guarded(self._looked_at, name, func, args, kwargs, sys._getframe(1))
        result = func(*args, **kwargs)
        if call is not None:
            call.result = result
            recorder.guarded(self._record, call, handler, key)
        return result

    def _looked_at(self, name: str, func: Any, args: Any, kwargs: Any, frame: FrameType) -> Call:
        """A call that is about to be carried out, with what its tensors carry until then."""
        call = Call(self._recorder, name, func, args, kwargs, frame)
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
        state = torch._C._is_any_autocast_enabled(), torch.get_default_dtype()
        parts: list[Hashable] = [func, state]
        if not self._add(parts, args):
            return None
        for name, x in kwargs.items():
            parts.append(name)
            if not self._add(parts, (x,)):
                return None
        return tuple(parts)

    def _add(self, parts: list[Hashable], values: Any) -> bool:
        for x in values:
            kind: Any = type(x)
            if isinstance(x, torch.Tensor):
                flat = x.dim() == 0
                if x in self._recorder.carried or (flat and self._by_value):
                    return False
                parts.append((x.dtype, flat))
            elif kind in WEAK:
                parts.append(magnitude(x))
            elif kind in (list, tuple):
                parts.append(kind)
                if not self._add(parts, x):
                    return False
            elif kind in (torch.dtype, str):
                parts.append(x)
            else:
                parts.append(kind)
        return True
