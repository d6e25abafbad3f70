"""The hook: Paddle's tensor methods and functions are replaced while somebody records.

What a function of Paddle's calls itself belongs to that call. Functions that no table knows are
left as they are, so that what they call is recorded instead; of the kernels, ``paddle._C_ops``,
all are replaced.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from itertools import product
from operator import attrgetter
from types import BuiltinFunctionType, FunctionType, MethodDescriptorType
from typing import Any

import numpy as np
import paddle
from paddle.io.dataloader.dataloader_iter import (
    _DataLoaderIterMultiProcess,
    _DataLoaderIterSingleProcess,
)
from paddle.jit.dy2static.program_translator import ASTStaticFunction

from promoarray.diagnostics.calls.common import words
from promoarray.diagnostics.calls.tables import synonyms, text_of
from promoarray.diagnostics.record import call
from promoarray.diagnostics.record.handlers import handler_in, other
from promoarray.diagnostics.record.paddle.gradients import watch_gradients
from promoarray.diagnostics.record.recorder import Result
from promoarray.diagnostics.record.replaced import (
    Place,
    Watched,
    of_default,
    unheard,
)
from promoarray.diagnostics.record.report import EAGER, MAKE
from promoarray.diagnostics.record.watcher import Watcher
from promoarray.dtypes import DType


class Call(call.Call):
    """One call of Paddle's."""

    tensor = paddle.Tensor
    words = words("paddle")
    dtypes = call.dtypes_in(paddle, paddle.dtype)
    names_of_dtypes = (paddle.dtype,)
    size_of = staticmethod(attrgetter("size"))
    renamed = synonyms(text_of("paddle", "parameters"))
    turned = call.COMPARED
    augments = False  # x += y is x = x + y, and x.add_(y) has a rule of its own

    @staticmethod
    def buffer_of(x: Any) -> Any:
        """The values of a tensor; of bfloat16 the bits."""
        return x.detach().numpy()

    @staticmethod
    def of_array(x: Any) -> Any:
        """A tensor of a NumPy array's values."""
        return paddle.to_tensor(x)

    @classmethod
    def with_values(cls, x: Any, values: Any) -> Any:
        """The tensor, with other values written into it, off its graph."""
        wide = values.astype(np.float64) if values.dtype.isbuiltin != 1 else values
        given = paddle.to_tensor(np.array(wide)).astype(x.dtype)
        storage = not str(x.dtype).startswith("paddle.float8") and x.is_contiguous()
        if storage and x.place.is_cpu_place():  # a result shares it with what is written in place
            x.get_tensor().set(given.numpy(), paddle.CPUPlace())
        else:
            x.get_tensor()._share_data_with(given.get_tensor())
        return x

    @classmethod
    def gradients(cls, *told: Any) -> None:
        """Have the gradients checked that its backward makes."""
        watch_gradients(_replaced, *told)

    @staticmethod
    def copy(x: Any, dtype: DType | None) -> Any:
        """A copy of a tensor in a dtype, if Paddle has it, off its graph."""
        return x.detach().clone().astype(getattr(paddle, dtype.name if dtype else "", x.dtype))

    @staticmethod
    @contextmanager
    def undisturbed() -> Iterator[None]:
        """Carries out calls of which the program notices nothing: its random numbers stay."""
        states = paddle.get_rng_state()
        try:
            with paddle.no_grad():
                yield
        finally:
            paddle.set_rng_state(states)

    def as_written(
        self, operation: str, given: tuple[Any, ...]
    ) -> tuple[str, tuple[Any, ...], bool]:
        """An operation and its operands as they stand in the source; and whether they do so."""
        if self.name == "where":  # x of x.where(y, z) is the condition, which is not an operand
            return operation, given, False
        return super().as_written(operation, given)

    @classmethod
    def autocasts(cls, args: Any) -> bool:
        """Whether Paddle casts operands by lists of its own before it operates."""
        return amp()[0]


def amp() -> tuple[bool, Hashable]:
    """Whether ``auto_cast`` is on, and to what it casts."""
    tracer = paddle.base.framework._dygraph_tracer()
    if tracer is None:  # of a static graph nothing is computed yet
        return False, None
    level = tracer._amp_level
    return level != paddle.base.core.AmpLevel.O0, (level, tracer._amp_dtype)


_PLACES = (
    *(paddle.Tensor, paddle, paddle.nn.functional, paddle.linalg, paddle.fft, paddle.signal),
    sys.modules["paddle.tensor"],  # whose functions layers call; ``paddle.tensor`` is a function
)
_FUNCTIONS = (FunctionType, BuiltinFunctionType, MethodDescriptorType)


def _places() -> Iterator[Place]:
    """Every attribute to replace, with what takes its place."""
    known = Call.words
    before = paddle.set_default_dtype
    yield Place(paddle, "set_default_dtype", before, of_default(_replaced, before))
    before = paddle.jit.save  # which traces
    yield Place(paddle.jit, "save", before, unheard(_replaced, before))
    yield from _compiled()
    layer, name = paddle.nn.Layer, "create_parameter"
    yield Place(
        layer,
        name,
        layer.create_parameter,
        _replaced.in_place_of(layer.create_parameter, name, _made),
    )
    yield Place(layer, "to", layer.to, _cast(layer.to))
    handler, made = handler_in(known, "to_tensor"), getattr(paddle.tensor, "method", None)
    if made is not None and handler is not None:  # ``paddle.tensor`` is a function as well
        told = _replaced.in_place_of(made, "to_tensor", handler)
        yield Place(paddle.tensor, "method", made, told)
    before = paddle.Tensor.__init__
    yield Place(paddle.Tensor, "__init__", before, _constructed(before))
    yield from _replaced.noted(paddle.utils.dlpack, "from_dlpack")
    for loader in (_DataLoaderIterSingleProcess, _DataLoaderIterMultiProcess):
        yield from _replaced.noted(loader, "__next__", told="DataLoader")
    for owner in _PLACES:
        for name, before in tuple(vars(owner).items()):
            handler = handler_in(known, name)
            if handler is None:
                continue
            if isinstance(before, _FUNCTIONS):
                yield Place(owner, name, before, _replaced.in_place_of(before, name, handler))
            elif isinstance(before, property) and before.fget is not None:
                getter = _replaced.in_place_of(before.fget, name, handler)
                yield Place(owner, name, before, before.getter(getter))
    for name, before in tuple(vars(paddle._C_ops).items()):
        if isinstance(before, BuiltinFunctionType) and not name.startswith("_"):
            called = "sort" if name == "argsort" else name  # which does something else there
            handler = handler_in(known, called) or other
            yield Place(paddle._C_ops, name, before, _replaced.in_place_of(before, called, handler))


def _constructed(start: Callable[..., Any]) -> Callable[..., Any]:
    """What stands in the place of ``Tensor.__init__``, which is told as ``to_tensor`` is."""

    @wraps(start)
    def constructed(self: Any, /, *args: Any, **kwargs: Any) -> None:
        start(self, *args, **kwargs)
        for watcher in _replaced.watchers:
            watcher.note("to_tensor", start, args, kwargs, sys._getframe(1), self)

    return constructed


def _compiled() -> Iterator[Place]:
    """What runs programs that ``to_static`` compiles: eagerly while somebody records."""
    core, name = paddle.framework.core, "set_eval_frame"
    translate = getattr(core, name)

    @wraps(translate)
    def translated(callback: Any) -> Any:
        return translate(None if callback is not None and _runs_eagerly() else callback)

    yield Place(core, name, translate, translated)
    perform = ASTStaticFunction._perform_call

    @wraps(perform)
    def performed(self: Any, *args: Any, **kwargs: Any) -> Any:
        carry_out = self._call_dygraph_function if _runs_eagerly() else partial(perform, self)
        return carry_out(*args, **kwargs)

    yield Place(ASTStaticFunction, perform.__name__, perform, performed)


def _runs_eagerly() -> bool:
    """Whether a call of what is compiled is recorded, which counts it."""
    for watcher in _replaced.watchers:
        watcher.recorder.count(EAGER, "paddle.jit.to_static")
    return bool(_replaced.watchers)


def _made(made: call.Call) -> None:
    """A parameter of a layer, which names the default dtype where the program names none."""
    results = made.results()
    named = made.kwargs.get("dtype") or made.args[3:4]
    if named and made.frame.f_globals.get("__name__", "").partition(".")[0] != "paddle":
        return made.made(MAKE)  # Paddle's own layers hand on the default
    defaults = {paddle.get_default_dtype()} if not made.recorder.default_named else set()
    if not results or results[0].dtype.name not in defaults:
        return made.made(MAKE)
    made.count(MAKE)
    return made.recorder.default(0.0, results[0], made.frame, lone=False, of_any=True)


def _cast(to: Callable[..., Any]) -> Callable[..., Any]:
    """What stands in the place of ``Layer.to``, which casts parameters where they are."""

    @wraps(to)
    def cast(self: Any, *args: Any, **kwargs: Any) -> Any:
        layer = to(self, *args, **kwargs)
        if kwargs.get("dtype") or args[1:2]:
            held = ((x, Call.dtypes.get(x.dtype)) for x in (*self.parameters(), *self.buffers()))
            cast_ones = [Result(x, dtype, x.ndim) for x, dtype in held if dtype is not None]
            for watcher, result in product(_replaced.watchers, cast_ones):
                watcher.recorder.made(result)
        return layer

    return cast


_replaced = Watched(_places)


class Recording(Watcher):
    """Tells a recorder of every call that this thread makes."""

    kind = Call
    replaced = _replaced

    def state(self) -> tuple[Callable[[], Hashable], ...]:
        """``auto_cast`` and the default dtype."""
        return amp, paddle.get_default_dtype
