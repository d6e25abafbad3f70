"""Border of a ``tf.function``: its arguments and results carry what was recorded.

TensorFlow traces a function with tensors of its own in the place of the arguments, and gives arrays
of the program's for the traced ones. A call that is not traced gives what the trace before gave.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import suppress
from functools import wraps
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import tensorflow as tf
from tensorflow.python.eager.polymorphic_function.polymorphic_function import Function
from tensorflow.python.framework import func_graph, ops
from tensorflow.python.util import variable_utils

from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.replaced import Place
from promoarray.diagnostics.record.report import EAGER
from promoarray.diagnostics.record.tensorflow.call import Call

Recorders = Callable[[], Sequence[Recorder]]
Slots = list[list[Any]]
"""By recorder, what each tensor carries."""


class _Crossing:
    """A call of a function that is being carried out."""

    def __init__(self, recorders: Sequence[Recorder], given: Any) -> None:
        self.recorders, self.tensors = recorders, _tensors(given)
        self.given = self.slots(self.tensors)
        self.made: Slots | None = None
        self.depth = 0  # how many functions are traced, of which the outermost is this one

    def slots(self, tensors: Sequence[Any]) -> Slots:
        """What tensors carry."""
        return [[recorder.carried.slot(x) for x in tensors] for recorder in self.recorders]

    def put(self, tensors: Sequence[Any], slots: Slots) -> None:
        """Have tensors carry what was recorded of others, as many and of the same dtypes."""
        for recorder, each in zip(self.recorders, slots, strict=True):
            if len(each) == len(tensors):
                for x, slot in zip(tensors, each, strict=True):
                    if slot is not None and getattr(slot, "dtype", slot) is Call.dtypes.get(
                        x.dtype
                    ):
                        recorder.carried.put(x, slot)


class _Thread(threading.local):
    crossing: _Crossing | None = None


_thread = _Thread()
_made: WeakKeyDictionary[Any, dict[Hashable, Slots]] = WeakKeyDictionary()


def _tensors(values: Any) -> list[Any]:
    return [x for x in tf.nest.flatten(values) if isinstance(x, Call.tensor)]


def places(recorders: Recorders) -> Iterator[Place]:
    """Yield what to replace; ``recorders`` answers who records the calls of this thread."""
    call, trace = Function.__call__, func_graph.func_graph_from_py_func
    yield Place(Function, "__call__", call, _called(call, recorders))
    yield Place(func_graph, "func_graph_from_py_func", trace, _traced(trace))


def _called(call: Any, recorders: Recorders) -> Callable[..., Any]:
    """What stands in the place of the call of a function."""

    @wraps(call)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        heard = recorders()
        if not heard:
            return call(self, *args, **kwargs)
        if Call.made_eager and tf.config.functions_run_eagerly():
            for recorder in heard:
                recorder.count(EAGER, "tf.function")
            return _at_once(call, self, args, kwargs)
        before, crossing = _thread.crossing, _Crossing(heard, (args, kwargs))
        _thread.crossing = crossing
        try:
            result = call(self, *args, **kwargs)
        finally:
            _thread.crossing = before
        kinds = *map(id, heard), *((x.dtype, Call.ndim_of(x)) for x in crossing.tensors)
        known = _made.setdefault(self, {})
        if crossing.made is not None:
            known[kinds] = crossing.made
        if kinds in known:
            crossing.put(_tensors(result), known[kinds])
        return result

    return called


def _at_once(call: Any, function: Any, args: Any, kwargs: Any) -> Any:
    """Call a function that runs eagerly: as of a graph, NumPy's arrays that it is given and the
    numbers that it returns are tensors, and those of a signature have its dtypes."""
    args, kwargs = tf.nest.map_structure(_tensor_of_array, (args, kwargs))
    given = function.function_type
    if any(parameter.type_constraint for parameter in given.parameters.values()):
        bound = given.bind_with_defaults(args, kwargs, function._default_values)
        args, kwargs = bound.args, bound.kwargs
    result = variable_utils.convert_variables_to_tensors(call(function, *args, **kwargs))
    return tf.nest.map_structure(_tensor_of_result, result)


def _tensor_of_array(x: Any) -> Any:
    return tf.constant(x) if isinstance(x, (np.ndarray, np.generic)) else x


def _tensor_of_result(x: Any) -> Any:
    with suppress(TypeError, ValueError):  # of what a graph returns as it is
        return x if x is None else ops.convert_to_tensor_or_composite(x)
    return x


def _traced(trace: Any) -> Callable[..., Any]:
    """What stands in the place of what traces a function, or a branch or loop within one."""

    @wraps(trace)
    def traced(name: Any, python_func: Any, *given: Any, **options: Any) -> Any:
        crossing = _thread.crossing
        if crossing is None or crossing.depth:
            return trace(name, python_func, *given, **options)

        @wraps(python_func)
        def entered(*args: Any, **kwargs: Any) -> Any:
            crossing.put(_tensors((args, kwargs)), crossing.given)
            result = python_func(*args, **kwargs)
            crossing.made = crossing.slots(_tensors(result))
            return result

        crossing.depth += 1
        try:
            return trace(name, entered, *given, **options)
        finally:
            crossing.depth -= 1

    return traced
