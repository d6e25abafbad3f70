"""The hook: PyTorch tells a function mode of every call, as the program wrote it."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator
from typing import Any, Self

import torch
from torch.overrides import TorchFunctionMode

from promoarray.diagnostics.record.handlers import Handler
from promoarray.diagnostics.record.pytorch.call import Call, handler_of
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.replaced import Place, Watched, of_compiling, of_default
from promoarray.diagnostics.record.watcher import Watcher


def _places() -> Iterator[Place]:
    """The only functions that are replaced: no mode hears of them."""
    for name in ("set_default_dtype", "set_default_tensor_type"):
        before = getattr(torch, name)
        yield Place(torch, name, before, of_default(_replaced, before))
    for owner, name in ((torch, "compile"), *((torch.jit, n) for n in ("load", "script", "trace"))):
        before = getattr(owner, name)
        after = of_compiling(_replaced, f"{owner.__name__}.{name}", before)
        yield Place(owner, name, before, after)


_replaced = Watched(_places)


class Recording(Watcher, TorchFunctionMode):
    """Tells a recorder of every call that this thread makes."""

    kind = Call
    replaced = _replaced

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder)
        self._handlers: dict[Any, tuple[str, Handler | None]] = {}

    def state(self) -> Hashable:
        """Autocast and the default dtype."""
        return torch._C._is_any_autocast_enabled(), torch.get_default_dtype()

    def __enter__(self) -> Self:
        TorchFunctionMode.__enter__(self)
        return super().__enter__()

    def __exit__(self, *raised: object) -> None:
        super().__exit__(*raised)
        TorchFunctionMode.__exit__(self, *raised)

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Carry out a call, and record what it was."""
        kwargs = kwargs or {}
        found = self._handlers.get(func)
        if found is None:
            found = self._handlers[func] = handler_of(func)
        name, handler = found
        if handler is None:
            return func(*args, **kwargs)
        return self.watch(func, name, handler, sys._getframe(1), func, *args, **kwargs)
