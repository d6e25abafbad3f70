"""PyTorch's classes as constructors, such as ``torch.FloatTensor([1, 2])``: no mode hears of them.

``torch.Tensor`` gets another ``__new__``. Classes such as ``torch.FloatTensor`` cannot be changed:
others stand in their place, which PyTorch takes for them by their names.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch

from promoarray.diagnostics.record.call import Call
from promoarray.diagnostics.record.handlers import Handler, move
from promoarray.diagnostics.record.replaced import ABSENT, Place, Watched, carry_out
from promoarray.diagnostics.record.report import MAKE

_CLASSES = {name: x for name, x in vars(torch).items() if type(x).__name__ == "tensortype"}
NAMES = frozenset(_CLASSES)
"""The classes that have a dtype in their name."""


def places(watched: Watched) -> Iterator[Place]:
    """What to replace."""
    for cls, handler in ((torch.Tensor, _of_default_dtype), (torch.autograd.Variable, move)):
        yield Place(cls, "__new__", ABSENT, _New(watched, cls, handler))
    for name, cls in _CLASSES.items():
        yield Place(torch, name, cls, _stand_in(watched, name, cls))
    before = torch._C._set_default_tensor_type

    def set_default(kind: Any) -> None:
        before(getattr(kind, "stands_for", kind))

    yield Place(torch._C, before.__name__, before, set_default)


class _New:
    """What stands in the place of ``__new__``, for which Dynamo looks as it is loaded."""

    def __init__(self, watched: Watched, cls: Any, handler: Handler) -> None:
        new = cls.__new__
        makers: dict[Any, Any] = {}  # one a class, as calls of it are alike

        def heard(of: Any, /, *args: Any, **kwargs: Any) -> Any:
            given = handler, args, kwargs, sys._getframe(1)
            maker = makers.setdefault(of, partial(new, of))
            return _carried_out(watched, cls.__name__, maker, *given)

        self._new, self._heard = new, heard

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self._new if _DYNAMO in sys._getframe(1).f_code.co_filename else self._heard


_DYNAMO = os.path.join("torch", "_dynamo", "")


def _carried_out(
    watched: Watched,
    name: str,
    function: Callable[..., Any],
    handler: Handler,
    args: Any,
    kwargs: Any,
    frame: Any,
) -> Any:
    if not watched.watchers:
        return function(*args, **kwargs)
    with watched.silent() as watchers:
        return carry_out(watchers, function, name, handler, args, kwargs, frame, function)


def _stand_in(watched: Watched, name: str, cls: Any) -> type:
    class Kind(type):
        def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
            return _carried_out(watched, name, cls, _named, args, kwargs, sys._getframe(1))

        def __instancecheck__(self, x: Any) -> bool:
            return isinstance(x, cls)

        def __eq__(self, other: object) -> bool:
            return other is self or other is cls

        def __hash__(self) -> int:
            return hash(cls)

        def __getattr__(self, attribute: str) -> Any:
            return getattr(cls, attribute)

    names = {"__module__": "torch", "__qualname__": name, "__doc__": cls.__doc__}
    return Kind(f"torch.{name}", (), {"stands_for": cls, **names})


def _of_default_dtype(call: Call) -> None:
    if call.args and isinstance(call.args[0], torch.Tensor):
        return move(call)
    call.count(MAKE)
    for result in call.results():
        if call.recorder.default_named:
            call.recorder.made(result)
        else:
            sizes = all(isinstance(x, (int, torch.Size)) for x in call.args)
            how: Any = {"lone": False, "of_any": sizes, "function": call.name}
            call.recorder.default(0.0, result, call.frame, **how)
    return None


def _named(call: Call) -> None:
    call.made(MAKE)
