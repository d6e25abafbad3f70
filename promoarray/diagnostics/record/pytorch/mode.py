"""The hook: PyTorch tells a function mode of every call, as the program wrote it."""

from __future__ import annotations

import sys
from collections.abc import Hashable, Iterator
from types import FrameType
from typing import Any, Self

import numpy as np
import torch
from torch.overrides import TorchFunctionMode, resolve_name

from promoarray.diagnostics.calls.common import plain, words
from promoarray.diagnostics.calls.tables import names_of
from promoarray.diagnostics.record.call import Call as AnyCall
from promoarray.diagnostics.record.call import dtypes_in, flat
from promoarray.diagnostics.record.handlers import (
    Handler,
    compute,
    handler_in,
    move,
    other,
    unseen,
)
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.replaced import Place, Watched, of_compiling, of_default
from promoarray.diagnostics.record.report import APPROXIMATE, OPERATION
from promoarray.diagnostics.record.watcher import Watcher
from promoarray.diagnostics.record.written import MIRRORED
from promoarray.dtypes import WEAK
from promoarray.operations import OPERATIONS, Form
from promoarray.promotion.policy import NO_OPTIONS

# What is around it, and its first call, change the filters of warnings for a moment, after which
# Python shows again what it has shown.
qualified_name: Any = getattr(resolve_name, "__wrapped__", resolve_name)
qualified_name(torch.add)

_HOOKS = ("torch/overrides.py", "torch/_tensor.py")
"""Files through which calls of PyTorch's functions in Python come to a mode."""


class Call(AnyCall):
    """One call of PyTorch's."""

    tensor = torch.Tensor
    words = words("torch")
    dtypes = dtypes_in(torch, torch.dtype)  # complex32 is one that promoarray does not have
    names_of_dtypes = (torch.dtype,)

    @staticmethod
    def standing(frame: FrameType, func: Any) -> FrameType:
        """Where a call stands that came to the mode from a frame."""
        while frame.f_back is not None and _of_torch(frame, func):
            frame = frame.f_back
        return frame

    @staticmethod
    def number_of(x: Any) -> Any:
        """The Python scalar that an argument is to PyTorch, NumPy's scalars among them."""
        if isinstance(x, np.generic):
            x = float(x) if isinstance(x, np.bool_) else x.item()  # PyTorch reads a float there
        return x if type(x) in WEAK else None

    @staticmethod
    def buffer_of(x: torch.Tensor) -> Any:
        """The values of a tensor, as bytes of its width."""
        whole = x.detach().cpu().resolve_conj().resolve_neg().contiguous()
        width = f"u{x.element_size()}" if x.element_size() <= 8 else "c16"
        return whole.view(torch.uint8).numpy().view(width).reshape(tuple(x.shape))

    @staticmethod
    def is_at_hand(x: torch.Tensor) -> bool:
        """Whether reading a 0-d tensor waits for no device."""
        return x.device.type == "cpu"

    @property
    def form(self) -> Form:
        """How the call is written: functions answer otherwise than operators at places."""
        qualified = qualified_name(self.func) or ""
        return Form.OPERATOR if qualified.startswith("torch.Tensor.") else Form.FUNCTION

    @property
    def condition_first(self) -> bool:
        """Whether ``where`` was called as a function: ``x.where(condition, y)`` is another."""
        return self.form is Form.FUNCTION

    def as_written(
        self, operation: str, given: tuple[Any, ...]
    ) -> tuple[str, tuple[Any, ...], bool]:
        """An operation and its operands as they stand in the source; and whether they do so."""
        operator = self.form is Form.OPERATOR
        if self.name == "rsub" or (self.name == "where" and operator):
            return operation, given, False
        if operator and operation in MIRRORED and type(given[1]) in WEAK:
            return self.mirrored(operation, given)
        return operation, given, True

    @property
    def autocast(self) -> bool:
        """Whether PyTorch casts operands by lists of its own before it operates."""
        device = next(
            (x.device.type for x in flat(self.args) if isinstance(x, torch.Tensor)), "cpu"
        )
        return torch.is_autocast_enabled(device)


def _of_torch(frame: FrameType, func: Any) -> bool:
    """Whether a frame only leads from a function of PyTorch's to the mode."""
    code = frame.f_code
    return code is getattr(func, "__code__", None) or code.co_filename.endswith(_HOOKS)


# -- functions that only PyTorch has, or that its own names do not tell apart ----------------------


def handler_of(func: Any) -> tuple[str, Handler | None]:
    """What to do with calls of a function, with its name."""
    name = getattr(func, "__name__", str(func))
    if name in ("__get__", "__set__"):  # a property
        qualified = qualified_name(func) or getattr(func, "__qualname__", "")
        name = qualified.split(".")[-2] if qualified.endswith(f".{name}") else name
        if name in ("real", "imag"):
            return name, compute
        return name, move if name in Call.words.moves and func.__name__ == "__get__" else None
    if name in names_of("torch", "unseen"):
        return name, unseen
    if name in names_of("torch", "asks"):
        return name, None
    if name in ("max", "min"):
        return name, _extreme
    if name.startswith("_foreach_"):
        return name, _each
    return name, handler_in(Call.words, name) or other


def _extreme(call: AnyCall) -> None:
    """``max`` and ``min``: of two tensors the larger of each, else a reduction."""
    tensors = [x for x in call.args[:2] if isinstance(x, call.tensor)]
    name = {"max": "maximum", "min": "minimum"}[call.name] if len(tensors) == 2 else call.name
    results = call.results()
    operands = tuple(call.operand(x) for x in tensors)
    if not results or None in operands:
        return other(call)
    call.count(OPERATION)
    call.saw(name, operands, results, form=call.form)
    return None


def _each(call: AnyCall) -> None:
    """An operation on each tensor of a list: ``_foreach_add_``."""
    name, known = call.name.removeprefix("_foreach_"), call.words
    called = plain(name, known.operations)
    lists = [x for x in call.args if isinstance(x, (list, tuple))]
    others = [x for x in call.args if not isinstance(x, (list, tuple))]
    results = call.results() or list(call.described(lists[0]))
    for row, result in zip(zip(*lists, strict=False), results, strict=False):
        given = [*row, *others]
        if called in known.operations:
            operation = known.operations[called]
            operands = tuple(call.operand(x) for x in given[: OPERATIONS[operation].arity or 2])
            options = {"low": called == "clamp_min"} if operation == "clip" else NO_OPTIONS
            form = Form.INPLACE if called != name else Form.OPERATOR
            if None in operands:
                return other(call)
            call.saw(operation, operands, [result], form=form, options=options)
        elif called not in known.expansions and called not in ("copy", "zero"):
            return other(call)
        else:
            call.recorder.made(result)
    call.count(APPROXIMATE if called in known.expansions else OPERATION)
    return None


# -- the mode -------------------------------------------------------------------------------------


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
