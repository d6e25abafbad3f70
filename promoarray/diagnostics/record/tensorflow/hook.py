"""The hook: TensorFlow's operators, functions and kernels are replaced while somebody records.

The level is that of the public functions and of the operators, as programs write them: the name
that the report says is the one that stands in the source, and a refusal, whether Python or a
kernel says it, is an error of that call. What such a function calls itself belongs to it. Functions
that no table knows are left as they are, so that the program's own functions that they call, and
the kernels of ``gen_*_ops``, are recorded instead. Op callbacks would tell of kernels alone, after
numbers have become tensors; the dispatch of types does not ask about plain tensors.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Callable, Hashable, Iterator
from functools import partial, wraps
from types import FunctionType, ModuleType
from typing import Any

import tensorflow as tf
from tensorflow.python import ops as kernels
from tensorflow.python.autograph.pyct import loader
from tensorflow.python.framework import ops
from tensorflow.python.framework.weak_tensor import WeakTensor
from tensorflow.python.ops import script_ops
from tensorflow.python.ops.resource_variable_ops import BaseResourceVariable, ResourceVariable
from tensorflow.python.ops.variables import Variable, VariableMetaclass

from promoarray.core.generated import LINES
from promoarray.diagnostics.record import call
from promoarray.diagnostics.record.call import flat
from promoarray.diagnostics.record.handlers import Handler, handler_in, leave, other
from promoarray.diagnostics.record.replaced import Place, Watched, carry_out
from promoarray.diagnostics.record.report import MAKE, MOVE, OPERATION
from promoarray.diagnostics.record.tensorflow import functions
from promoarray.diagnostics.record.tensorflow.call import Call
from promoarray.diagnostics.record.watcher import Watcher
from promoarray.dtypes import int32
from promoarray.operations import Form

_MODULES = (
    *("", "math", "linalg", "nn", "nn.experimental", "bitwise", "dtypes"),
    *("random.", "random.experimental.", "image.", "signal.", "io.", "audio.", "quantization."),
    "strings.",
)
"""Public modules; what stands before the names of their functions ends in a dot."""


def _modules() -> Iterator[tuple[str, ModuleType]]:
    for root in (tf, tf.compat.v2):
        for path in _MODULES:
            module: Any = root
            for part in filter(None, path.split(".")):
                module = getattr(module, part)
            prefix = path.replace("experimental.", "") if path.endswith(".") else ""
            yield prefix, module


def _places() -> Iterator[Place]:
    """Every attribute to replace, with what takes its place."""
    for prefix, module in _modules():
        for name, before in tuple(vars(module).items()):
            handler = handler_in(Call.words, prefix + name)
            if isinstance(before, FunctionType) and handler is not None:
                yield Place(
                    module, name, before, _replaced.in_place_of(before, prefix + name, handler)
                )
    for owner in (tf.sparse, tf.ragged):
        for name, before in tuple(vars(owner).items()):
            if isinstance(before, FunctionType):
                named = f"{owner.__name__.rpartition('.')[2]}.{name}"
                yield Place(owner, name, before, _replaced.in_place_of(before, named, _composed))
    own = tf.Tensor, Variable, BaseResourceVariable, ResourceVariable, WeakTensor
    for owner in (*own, *_COMPOSITE):
        for name, before in tuple(vars(owner).items()):
            handler = _METHODS.get(name) or handler_in(Call.words, name)
            if isinstance(before, FunctionType) and handler is not None:
                yield Place(owner, name, before, _replaced.in_place_of(before, name, handler))
    for owner in ops.EagerTensor.__mro__:
        if "numpy" in vars(owner):
            before = vars(owner)["numpy"]
            yield Place(owner, "numpy", before, _replaced.in_place_of(before, "numpy", leave))
    before = VariableMetaclass.__call__
    yield Place(VariableMetaclass, "__call__", before, _of_variables(before))
    yield from functions.places(lambda: [each.recorder for each in _replaced.watchers])
    start = script_ops.EagerFunc.__init__
    yield Place(script_ops.EagerFunc, "__init__", start, _of_python(start))
    yield Place(loader, "load_ast", loader.load_ast, _of_autograph(loader.load_ast))
    yield from _replaced.noted(tf, "numpy_function", "vectorized_map", "while_loop")
    yield from _replaced.noted(tf.TensorArray, "read", "stack", "concat", "gather")
    yield from _replaced.noted(tf.experimental.dlpack, "from_dlpack")
    yield from _kernels(tf.raw_ops)
    for name in _RAW:
        yield from _kernels(importlib.import_module(name))


_RAW = tuple(
    f"{kernels.__name__}.{each.name}"
    for each in pkgutil.iter_modules(kernels.__path__)
    if each.name.startswith("gen_")
)
"""The modules that have the kernels."""


def _kernels(module: ModuleType) -> Iterator[Place]:
    """The kernels of a module, with their eager fallbacks left alone."""
    for name, before in tuple(vars(module).items()):
        own = isinstance(before, FunctionType) and before.__module__ in _RAW
        if own and not name.startswith("_") and not name.endswith("_eager_fallback"):
            named = f"raw.{before.__name__}"
            handler = partial(_kernel, handler_in(Call.words, named) or other)
            yield Place(module, name, before, _replaced.in_place_of(before, named, handler))


def _kernel(handler: Handler, call: call.Call) -> None:
    """A kernel; what TensorFlow's own code computes of int32 are shapes and axes."""
    own = call.frame.f_globals.get("__name__", "").startswith("tensorflow.")
    shapes = own and [x.dtype for x in call.results()] == [int32]
    return call.made(MAKE) if shapes else handler(call)


_COMPOSITE = tf.RaggedTensor, tf.SparseTensor


def _composed(call: call.Call) -> None:
    """What takes or makes a ragged or a sparse tensor, whose parts alone are tensors."""
    call.kind = MOVE
    call.recorder.count(MOVE, call.name)
    call.recorder.unexamined(call.name, _PARTS, call.frame, called=True)
    for result in call.results():
        call.recorder.made(result)


_PARTS = "ragged and sparse tensors are not recorded"


def _assign(call: call.Call) -> None:
    """``variable.assign(value)``, which the variable holds from here on."""
    target, value = _target_and_value(call)
    if target is None or value is None:
        return other(call)
    call.count(OPERATION)
    source = call.args[1] if len(call.args) > 1 else None
    values = partial(call.values, source) if isinstance(source, call.tensor) else None
    call.recorder.assigned(target, value, call.frame, values=values)
    return _carries(call)


def _assign_sum(call: call.Call) -> None:
    """``variable.assign_add(value)``, in place."""
    target, value = _target_and_value(call)
    if target is None or value is None:
        return other(call)
    call.count(OPERATION)
    name = {"assign_add": "add", "assign_sub": "subtract"}[call.name]
    result = next(call.described(call.args[:1]))
    call.saw(name, (target, value), [result], form=Form.INPLACE, edited=False)
    return _carries(call)


def _target_and_value(call: call.Call) -> tuple[Any, Any]:
    """The variable and what it is given, of a list of numbers the first."""
    named = (call.kwargs[key] for key in ("fill_value", "delta", "step") if key in call.kwargs)
    given = next(flat((*call.args[1:2], *named)), None)
    return call.operand(call.args[0]), call.operand(given)


def _carries(call: call.Call) -> None:
    """What a method of a variable returns is its value."""
    for result in call.results():
        call.recorder.moved(call.args[0], result)


_METHODS = {"assign": _assign, "assign_add": _assign_sum, "assign_sub": _assign_sum}

_replaced = Watched(_places)


class Recording(Watcher):
    """Tells a recorder of every call that this thread makes, in functions that are traced, too."""

    kind = Call
    replaced = _replaced

    def state(self) -> tuple[Callable[[], Hashable], ...]:
        """The mode that TensorFlow is in."""
        return (ops.get_dtype_conversion_mode,)

    def _record(self, call: call.Call, handler: Handler, *known: Any) -> None:
        given = flat((call.args, call.kwargs, (call.result,)))
        composed = any(isinstance(x, _COMPOSITE) for x in given)
        super()._record(call, _composed if composed else handler, *known)


def _of_variables(create: Any) -> Callable[..., Any]:
    """What stands in the place of the call of ``tf.Variable`` and the classes below it."""
    handler = handler_in(Call.words, "Variable")
    assert handler is not None

    @wraps(create)
    def created(cls: Any, /, *args: Any, **kwargs: Any) -> Any:
        watchers = _replaced.watchers
        if not watchers or callable(next(iter(args), kwargs.get("initial_value"))):
            return create(cls, *args, **kwargs)
        frame = sys._getframe(1)
        _replaced.watchers = ()
        try:
            bare = partial(create, cls)
            return carry_out(watchers, create, "Variable", handler, args, kwargs, frame, bare)
        finally:
            _replaced.watchers = watchers

    return created


def _of_autograph(load: Any) -> Callable[..., Any]:
    """What stands in the place of what loads the code that AutoGraph makes of a function."""

    @wraps(load)
    def loaded(*args: Any, **kwargs: Any) -> Any:
        module, source, lines = load(*args, **kwargs)
        if lines:
            made = {at.lineno: (own.loc.filename, own.loc.lineno) for at, own in lines.items()}
            LINES[module.__file__] = made
        return module, source, lines

    return loaded


def _of_python(start: Any) -> Callable[..., Any]:
    """What stands in the place of what keeps the function of ``tf.py_function``, which is called in
    threads of TensorFlow's own."""

    @wraps(start)
    def kept(self: Any, func: Any, *args: Any, **kwargs: Any) -> None:
        watchers = _replaced.watchers

        @wraps(func)
        def called(*given: Any) -> Any:
            before, _replaced.watchers = _replaced.watchers, watchers
            try:
                return func(*given)
            finally:
                _replaced.watchers = before

        start(self, called if watchers else func, *args, **kwargs)

    return kept
