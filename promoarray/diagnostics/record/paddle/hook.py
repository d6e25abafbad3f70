"""The hook: Paddle's tensor methods and functions are replaced while somebody records.

What a function of Paddle's calls itself belongs to that call. Functions that no table knows are
left as they are, so that what they call is recorded instead; of the kernels, ``paddle._C_ops``,
all are replaced.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator
from functools import wraps
from itertools import product
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType
from typing import Any

import paddle

from promoarray.diagnostics.calls.paddle import KERNELS, words
from promoarray.diagnostics.record import replaced
from promoarray.diagnostics.record.call import Call as AnyCall
from promoarray.diagnostics.record.handlers import Handler, handler_in, other
from promoarray.diagnostics.record.paddle.call import DTYPES, Call, amp
from promoarray.diagnostics.record.recorder import Recorder, Result
from promoarray.diagnostics.record.replaced import (
    Place,
    Replaced,
    carry_out,
    of_compiling,
    of_default,
)
from promoarray.diagnostics.record.report import MAKE

_PLACES = (paddle.Tensor, paddle, paddle.nn.functional, paddle.linalg, paddle.fft, paddle.signal)
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodDescriptorType)


def _places() -> Iterator[Place]:
    """Every attribute to replace, with what takes its place."""
    known = words()
    before = paddle.set_default_dtype
    yield Place(paddle, "set_default_dtype", before, of_default(_replaced, before))
    for name in ("load", "to_static"):
        before = getattr(paddle.jit, name)
        yield Place(paddle.jit, name, before, of_compiling(_replaced, f"paddle.jit.{name}", before))
    layer, name = paddle.nn.Layer, "create_parameter"
    yield Place(layer, name, layer.create_parameter, _watched(layer.create_parameter, name, _made))
    yield Place(layer, "to", layer.to, _cast(layer.to))
    for owner in _PLACES:
        for name, before in tuple(vars(owner).items()):
            handler = handler_in(known, name)
            if handler is None:
                continue
            if isinstance(before, _FUNCTIONS):
                yield Place(owner, name, before, _watched(before, name, handler))
            elif isinstance(before, property) and before.fget is not None:
                getter = _watched(before.fget, name, handler)
                yield Place(owner, name, before, before.getter(getter))
    for name, before in tuple(vars(paddle._C_ops).items()):
        if isinstance(before, BuiltinFunctionType) and not name.startswith("_"):
            called = KERNELS.get(name, name)
            handler = handler_in(known, called) or other
            yield Place(paddle._C_ops, name, before, _watched(before, called, handler))


def _made(call: AnyCall) -> None:
    """A parameter of a layer, which names the default dtype where the program names none."""
    results = call.results()
    named = call.kwargs.get("dtype") or call.args[3:4]
    if named and call.frame.f_globals.get("__name__", "").partition(".")[0] != "paddle":
        return call.made(MAKE)  # Paddle's own layers hand on the default
    defaults = {paddle.get_default_dtype()} if not call.recorder.default_named else set()
    if not results or results[0].dtype.name not in defaults:
        return call.made(MAKE)
    call.count(MAKE)
    return call.recorder.default(0.0, results[0], call.frame, lone=False, of_any=True)


def _cast(to: Callable[..., Any]) -> Callable[..., Any]:
    """What stands in the place of ``Layer.to``, which casts parameters where they are."""

    @wraps(to)
    def cast(self: Any, *args: Any, **kwargs: Any) -> Any:
        layer = to(self, *args, **kwargs)
        if kwargs.get("dtype") or args[1:2]:
            held = ((x, DTYPES.get(x.dtype)) for x in (*self.parameters(), *self.buffers()))
            cast_ones = [Result(x, dtype, x.ndim) for x, dtype in held if dtype is not None]
            for watcher, result in product(_replaced.watchers, cast_ones):
                watcher.recorder.made(result)
        return layer

    return cast


_replaced = Replaced(_places)


class Recording(replaced.Recording):
    """Tells a recorder of every call that this thread makes."""

    kind = Call
    replaced = _replaced

    @staticmethod
    def state(recorder: Recorder) -> Hashable:
        """What calls depend on besides their arguments."""
        return amp(), paddle.get_default_dtype()


def _watched(function: Any, name: str, handler: Handler) -> Callable[..., Any]:
    """What stands in the place of a function."""

    @wraps(function)
    def watched(*args: Any, **kwargs: Any) -> Any:
        watchers = _replaced.watchers
        if not watchers:
            return function(*args, **kwargs)
        frame = sys._getframe(1)
        _replaced.watchers = ()  # what it calls itself is part of this call
        try:
            return carry_out(watchers, function, name, handler, args, kwargs, frame, function)
        finally:
            _replaced.watchers = watchers

    return watched
