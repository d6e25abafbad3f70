"""The hook: PyTorch tells a function mode of every call, as the program wrote it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from threading import get_ident
from types import CodeType, FunctionType
from typing import Any, Self

import numpy as np
import torch
from torch._functorch import eager_transforms, vmap
from torch.overrides import TorchFunctionMode, resolve_name
from torch.utils import dlpack

from promoarray.diagnostics.calls.common import plain, words
from promoarray.diagnostics.calls.tables import names_of
from promoarray.diagnostics.model.abstract_array import AbstractArray
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
from promoarray.diagnostics.record.pytorch.compiled import places as compiled_places
from promoarray.diagnostics.record.pytorch.constructors import NAMES as CONSTRUCTORS
from promoarray.diagnostics.record.pytorch.constructors import places as constructors
from promoarray.diagnostics.record.pytorch.gradients import watch_gradients
from promoarray.diagnostics.record.quantized import quantized
from promoarray.diagnostics.record.recorder import Recorder, Result
from promoarray.diagnostics.record.replaced import (
    Place,
    Watched,
    carry_out,
    is_hook,
    of_default,
)
from promoarray.diagnostics.record.report import APPROXIMATE, OPERATION
from promoarray.diagnostics.record.watcher import Watcher
from promoarray.diagnostics.record.written import MIRRORED
from promoarray.dtypes import WEAK, DType, float32
from promoarray.operations import OPERATIONS, Form
from promoarray.promotion.policy import NO_OPTIONS

# What is around it, and its first call, change the filters of warnings for a moment, after which
# Python shows again what it has shown.
qualified_name: Any = getattr(resolve_name, "__wrapped__", resolve_name)
qualified_name(torch.add)

_HOOKS = ("torch/overrides.py", "torch/_tensor.py", "torch/_ops.py")
"""Files through which calls of PyTorch's functions in Python come to a mode."""


_Overload = torch._ops.OpOverload
"""A function as graphs call it: ``aten.mul.Tensor``."""

_WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


class Call(AnyCall):
    """One call of PyTorch's."""

    tensor = torch.Tensor
    words = words("torch")
    dtypes = dtypes_in(torch, torch.dtype)  # complex32 is one that promoarray does not have
    names_of_dtypes = (torch.dtype,)
    size_of = torch.numel
    no_arrays = torch.Size, torch.device, torch.layout, torch.memory_format, torch.Generator

    @staticmethod
    def is_between(code: CodeType) -> bool:
        """Whether code stands between a call and the mode, such as another mode's."""
        return code.co_filename.endswith(_HOOKS) or is_hook(code)

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
        words = _WORDS.get(x.element_size())
        return (whole if words is None else whole.view(words)).numpy()

    def values(self, x: torch.Tensor) -> Any:
        """The values of a tensor in the storage of its dtype; None if they cannot be read."""
        dtype = self.dtypes.get(x.dtype)
        if dtype is None:
            return None
        try:  # most have memory of their own, in a dtype that NumPy has
            return x.detach().numpy()
        except (TypeError, RuntimeError):
            return super().values(x)

    @staticmethod
    def of_array(x: Any) -> torch.Tensor:
        """A tensor of a NumPy array's values."""
        return torch.from_numpy(np.array(x))

    @classmethod
    def with_values(cls, x: torch.Tensor, values: Any) -> torch.Tensor:
        """The tensor, with other values written into it, off its graph."""
        wide = values.astype(np.float64) if values.dtype.isbuiltin != 1 else values
        x.data.copy_(torch.from_numpy(np.array(wide)))
        return x

    @classmethod
    def gradients(cls, *told: Any) -> None:
        """Have the gradients checked that its backward makes."""
        watch_gradients(*told)

    @staticmethod
    def copy(x: torch.Tensor, dtype: DType | None) -> torch.Tensor:
        """A copy of a tensor in a dtype, if PyTorch has it, off its graph."""
        return x.detach().clone().to(getattr(torch, dtype.name if dtype else "", x.dtype))

    @staticmethod
    @contextmanager
    def undisturbed() -> Iterator[None]:
        """Carries out calls of which the program notices nothing: its random numbers stay."""
        with torch.random.fork_rng(), torch.no_grad():
            yield

    @staticmethod
    def is_at_hand(x: torch.Tensor) -> bool:
        """Whether reading a 0-d tensor waits for no device."""
        return x.device.type == "cpu"

    @property
    def form(self) -> Form:
        """How the call is written: functions answer otherwise than operators at places."""
        if isinstance(self.func, _Overload):  # of a graph, which has no operators
            return Form.OPERATOR
        qualified = qualified_name(self.func) or ""
        return Form.OPERATOR if qualified.startswith("torch.Tensor.") else Form.FUNCTION

    def saw(
        self, operation: str, operands: Sequence[Any], results: Sequence[Result], **how: Any
    ) -> AbstractArray:
        """Record an operation, with the default dtype that the program has set; see ``Call``."""
        default = self.dtypes.get(torch.get_default_dtype(), float32)
        if default is not float32:
            how["options"] = {**how.get("options", NO_OPTIONS), "default": default.code}
        return super().saw(operation, operands, results, **how)

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
    def named(self) -> bool:
        """Whether the program names the dtype of the result; a class does by its own name."""
        return self.name in CONSTRUCTORS or super().named

    @property
    def maker(self) -> str:
        """``torch.tensor``, which ``torch.Tensor`` and ``torch.FloatTensor`` stand for."""
        return "tensor" if self.name == "Tensor" or self.name in CONSTRUCTORS else ""

    @classmethod
    def autocasts(cls, args: Any) -> bool:
        """Whether PyTorch casts operands by lists of its own before it operates."""
        if not torch._C._is_any_autocast_enabled():  # of which not every device can be asked
            return False
        device = next((x.device.type for x in flat(args) if isinstance(x, torch.Tensor)), "cpu")
        return device != "meta" and torch.is_autocast_enabled(device)


# -- functions that only PyTorch has, or that its own names do not tell apart ----------------------


def handler_of(func: Any) -> tuple[str, Handler | None]:
    """What to do with calls of a function, with its name."""
    name = getattr(func, "__name__", str(func))
    if isinstance(func, _Overload):
        name = name.partition(".")[0]
    if name in ("__get__", "__set__"):  # a property
        qualified = qualified_name(func) or getattr(func, "__qualname__", "")
        name = qualified.split(".")[-2] if qualified.endswith(f".{name}") else name
        if name in ("real", "imag"):
            return name, compute
        if (name, func.__name__) == ("data", "__set__"):
            return name, _given_data
        return name, move if name in Call.words.moves and func.__name__ == "__get__" else None
    if name in names_of("torch", "unseen"):
        return name, unseen
    if name in names_of("torch", "asks"):
        return name, None
    if name in ("max", "min"):
        return name, _extreme
    if name.startswith(("fake_quantize_per_", "quantize_per_")):
        return name, quantized
    if name.startswith("_foreach_"):
        return name, _each
    return name, handler_in(Call.words, name) or other


def _given_data(call: AnyCall) -> None:
    """``x.data = y``, by which modules cast their parameters: from here on ``x`` carries what
    ``y`` does."""
    target, value = call.args
    call.recorder.moved(value, next(call.described((target,)), Result(None, float32, 0)))


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
    yield from constructors(_replaced)
    kept = vars(torch.nn.Parameter)["__new__"]
    yield Place(torch.nn.Parameter, "__new__", kept, _parameter(kept.__func__))
    for owner, some in _MOVING.items():
        for name in some:
            before = getattr(owner, name)
            yield Place(owner, name, before, _from_elsewhere(before))
    for owner, some in _NOTED.items():
        yield from _replaced.noted(owner, *some)
    yield from compiled_places(_replaced)


_MOVING: dict[Any, tuple[str, ...]] = {
    torch: ("from_numpy", "from_dlpack"),
    dlpack: ("from_dlpack",),
    vmap: ("_add_batch_dim", "_remove_batch_dim"),
    eager_transforms: ("_wrap_for_grad", "_unwrap_for_grad"),
}
"""Functions that make tensors of arrays, or of other tensors."""

_NOTED: dict[Any, tuple[str, ...]] = {
    torch: ("frombuffer", "get_rng_state", "range"),
    torch.nested: ("nested_tensor", "as_nested_tensor"),
    torch.autograd: ("grad",),
    eager_transforms: ("_autograd_grad",),
}


def _from_elsewhere(function: Callable[..., Any]) -> Callable[..., Any]:
    """What stands in its place: its tensors carry what the arrays of other libraries did."""

    @wraps(function)
    def heard(*args: Any, **kwargs: Any) -> Any:
        given = function, function.__name__, move, args, kwargs, sys._getframe(1), function
        watchers = tuple(w for w in _replaced.watchers if _tells(w.recorder))
        return carry_out(watchers, *given)

    return heard


def _tells(recorder: Recorder) -> bool:
    """Whether there is more to tell of an array that comes in than its dtype."""
    return recorder.origins is not None or len(recorder.describe) > 1


def _parameter(new: Callable[..., Any]) -> Any:
    """What stands in the place of ``Parameter.__new__``: it carries what its tensor does."""

    @wraps(new)
    def made(cls: Any, data: Any = None, *args: Any, **kwargs: Any) -> Any:
        parameter = new(cls, data, *args, **kwargs)
        for watcher in _replaced.watchers:
            recorder = watcher.recorder
            if recorder.origins is not None and isinstance(data, torch.Tensor):
                dtype = Call.dtypes.get(data.dtype, float32)
                recorder.guarded(recorder.moved, data, Result(parameter, dtype, data.ndim))
        return parameter

    return staticmethod(made)


class _Watched(Watched):
    """PyTorch's functions, and the mode that hears of the others."""

    @contextmanager
    def silent(self) -> Iterator[tuple[Any, ...]]:
        """Have nobody hear of the calls of this thread meanwhile, the modes neither."""
        with super().silent() as watchers:
            every = [_mode_at(n) for n in range(_modes())]
            others = [mode for mode in every if mode not in watchers]
            _exchange(every, others)
            try:
                yield watchers
            finally:
                _exchange(others, every)


_modes, _mode_at = torch._C._len_torch_function_stack, torch._C._get_function_stack_at


def _exchange(modes: Sequence[Any], others: Sequence[Any]) -> None:
    """Have other modes hear of calls than those that do."""
    for _ in modes:
        torch._C._pop_torch_function_stack()
    for mode in others:
        torch._C._push_on_torch_function_stack(mode)


_replaced = _Watched(_places)


class Recording(Watcher, TorchFunctionMode):
    """Tells a recorder of every call that this thread makes."""

    kind = Call
    replaced = _replaced

    def __init__(self, recorder: Recorder) -> None:
        super().__init__(recorder)
        self._thread = 0

    def state(self) -> tuple[Callable[[], Hashable], ...]:
        """Autocast and the default dtype."""
        return torch._C._is_any_autocast_enabled, torch.get_default_dtype

    def __enter__(self) -> Self:
        self._thread = get_ident()
        TorchFunctionMode.__enter__(self)
        return super().__enter__()

    def __exit__(self, *raised: object) -> None:
        super().__exit__(*raised)
        # Modes are a thread's own: where one imported PyTorch, another ends the process.
        if self._thread == get_ident():
            TorchFunctionMode.__exit__(self, *raised)

    def _handler_of(self, func: Any) -> tuple[str, Handler | None, CodeType | None]:
        """What to do with calls of a function, with its name, and the code by which it comes here
        if it is written in Python."""
        own = func.__code__ if type(func) is FunctionType else None
        found = self._handlers[func] = *handler_of(func), own
        return found
