"""Handlers that record each sort of call."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from promoarray.core.call_site import of_library, of_promoarray
from promoarray.diagnostics.calls.common import OF_ANY, Words, is_reflected, plain
from promoarray.diagnostics.calls.tables import bound, names
from promoarray.diagnostics.model.abstract_array import AbstractArray
from promoarray.diagnostics.record.call import Call, flat
from promoarray.diagnostics.record.recorder import Result
from promoarray.diagnostics.record.report import (
    APPROXIMATE,
    AUTOCAST,
    CAST,
    MAKE,
    MOVE,
    OPERATION,
    UNKNOWN,
    UNSEEN,
)
from promoarray.dtypes import WEAK
from promoarray.operations import OPERATIONS, Form

Handler = Callable[[Call], None]


def handler_in(words: Words, name: str) -> Handler | None:
    """What to do with calls of a name, as its framework's tables have it; None if none does."""
    own = _BY_NAME.get(name)
    if own is not None:
        return own
    rows: tuple[tuple[Any, Handler], ...] = (
        (words.moves, move),
        (words.casts, cast),
        (words.defaults, default),
        (words.makes, make),
    )
    found = next((handler for row, handler in rows if name in row), None)
    if found is not None:
        return found
    called = plain(name, words.operations)
    if called in words.operations:
        return compute
    return expand if name in words.expansions or called in words.expansions else None


def compute(call: Call) -> None:
    """One operation."""
    inplace = call.plain != call.name
    operation, given, options, form = _asked(call)
    if call.named:
        return call.made(MAKE)
    if operation == "where" and not given:  # where the condition is true
        return call.made(MAKE)
    alpha = call.kwargs.get("alpha", 1)
    results = call.results()
    if not results or any(x is None for x in given) or not given:
        return other(call)
    if _autocast(call, operation, given, form):
        return
    exact = alpha == 1 and (call.augments or not inplace) and call.is_evidence(operation)
    if alpha != 1:
        of_numbers = not isinstance(given[1], AbstractArray)
        scaled = given[1] * alpha if of_numbers else call.step("multiply", (given[1], alpha))
        given = (given[0], scaled, *given[2:])
    call.count(OPERATION)
    operation, given, edited = call.as_written(operation, given)
    if call.kwargs.get("out") is not None:  # which has its own dtype, whatever is written into it
        dtype = call.predicted(operation, given, form) or results[0].dtype
        results[0], exact = Result(None, dtype, results[0].ndim), False
    how: Any = {"form": form, "options": options, "exact": exact, "edited": alpha == 1 and edited}
    call.saw(operation, given, results, **how)


def refused(call: Call, error: Exception) -> None:
    """One operation that the framework did not carry out: the policy may know why."""
    operation, given, options, form = _asked(call)
    known = given and all(x is not None for x in given) and "alpha" not in call.kwargs
    if known and not (call.named or call.autocasts(call.args)):
        operation, given, edited = call.as_written(operation, given)
        asked = operation, given, options, form
        call.recorder.refused(*asked, call.frame, error, edited=edited)


def _asked(call: Call) -> tuple[str, tuple[Any, ...], dict[str, Any], Form]:
    """What a call asks for: the operation, its operands and options, and its form."""
    name = call.plain
    operation = call.words.operations[name]
    given, options = _operands(call, operation)
    if is_reflected(name):
        given = given[::-1]
    if operation == "divide" and call.kwargs.get("rounding_mode"):
        operation = "floor_divide"
    if operation == "matmul" and any(
        not isinstance(x, AbstractArray) or x.ndim == 0 for x in given
    ):
        operation = "multiply"  # so ``inner``, and JAX's ``dot``
    return operation, given, options, call.form if name == call.name else Form.INPLACE


def _operands(call: Call, operation: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The operands of an operation among the arguments, and its options."""
    args, kwargs = call.args, call.kwargs
    options: dict[str, Any] = {}
    if operation in ("concat", "stack"):
        given: Sequence[Any] = call.joined
    elif operation == "where":
        first = ("condition", "input") if call.condition_first else ("input", "condition")
        named = bound((*first, "other"), args, kwargs)
        given = [named[key] for key in ("input", "other") if key in named]
    elif operation == "clip":
        bounds = ("max",) if call.plain == "clamp_max" else ("min", "max")
        named = bound(("input", *bounds), args, kwargs)
        given = [named[k] for k in ("input", *bounds) if named.get(k) is not None]
        options["low"] = named.get("min") is not None
    else:
        arity = OPERATIONS[operation].arity or 2
        named_by = ("input", "self", "other", "exponent", "mat2", "vec", "vec2", "tensor", "target")
        given = [*args, *(kwargs[key] for key in named_by if key in kwargs)][:arity]
    return tuple(call.operand(x) for x in given), options


def expand(call: Call) -> None:
    """Several operations, of which the last has the result's dtype."""
    known = call.words.expansions
    name = call.name if call.name in known else call.plain
    expansion, inplace = known[name], call.plain != call.name
    results = call.results()
    named = bound(expansion.parameters, call.args, call.kwargs)
    if not results or call.named:
        return call.made(MAKE)
    values = {key: call.operand(x) for key, x in named.items()}
    steps = [
        step
        for step in expansion.steps
        if all(x == "_" or values.get(x) is not None for x in step.operands)
    ]
    if not steps or "_" in steps[0].operands:
        return other(call)
    first = steps[0].operands[0]
    if len(steps) == 1 and not any(isinstance(values[x], AbstractArray) for x in steps[0].operands):
        arrays = (x for x in values.values() if isinstance(x, AbstractArray))
        values[first] = next(arrays, values[first])  # ``polygamma(1, x)``, which is x.polygamma(1)
    if _autocast(call, steps[0].operation, tuple(values.get(x) for x in steps[0].operands)):
        return None
    call.count(APPROXIMATE)
    for step in steps[:-1]:
        operands = tuple(values[x] for x in step.operands)
        values["_"] = call.step(step.operation, operands)
    last = tuple(values[x] for x in steps[-1].operands)
    form = Form.INPLACE if inplace and last[0] is values.get("input") else Form.OPERATOR
    given = last == tuple(values.get(name) for name in expansion.parameters[: len(last)])
    how: Any = {"form": form, "exact": False, "edited": len(steps) == 1 and given}
    call.saw(steps[-1].operation, last, results, part_of=call.name, **how)
    return None


def einsum(call: Call) -> None:
    """Products of all operands, one after the other; so a recurrent layer's of its weights."""
    tensors = tuple(x for x in flat(call.args) if isinstance(x, call.tensor))
    operands = [call.operand(x) for x in tensors]
    results = call.results()
    if not results or not operands or None in operands:
        return other(call)
    call.count(APPROXIMATE)
    before = operands[0]
    for x in operands[1:-1]:
        before = call.step("matmul", (before, x))
    if len(operands) == 1:
        return call.recorder.moved(tensors[0], results[0])
    call.saw("matmul", (before, operands[-1]), results, exact=False, part_of=call.name)
    return None


def move(call: Call) -> None:
    """Values that are moved: the result carries what they did."""
    results = call.results()
    number = call.words.argument.get(call.name, 0)
    sources = _tensors(call, call.args[number:]) or _tensors(call, call.kwargs.values())
    if call.named or not sources:
        return call.made(MOVE)
    if results:
        call.count(MOVE)
    # Of several tensors each may have its own result: so ``broadcast_tensors``.
    each = [x.dtype for x in results] == [call.dtype_in(x) for x in sources]
    for number, result in enumerate(results):
        source = sources[number if each else 0]
        if call.dtype_in(source) is result.dtype:
            call.recorder.moved(source, result)
        else:  # places and counts, as of ``unique``
            call.recorder.named(result, call.frame)
    return None


def _tensors(call: Call, values: Any) -> list[Any]:
    return [x for x in flat(values) if call.is_array(x)]


def cast(call: Call) -> None:
    """An explicit cast, which also ends what differs where there is nothing to cast.

    ``x.to(y)`` takes the dtype that each policy has for ``y``; ``x.to(device)`` names none.
    """
    results, source = call.results(), call.operand(call.args[0]) if call.args else None
    if not isinstance(source, AbstractArray):  # a number, or a list of some
        return call.made(MAKE)
    if not results:
        return None
    call.count(CAST)
    named = list(flat((*call.args[1:], *call.kwargs.values())))
    like = next((x for x in named if isinstance(x, call.tensor)), None)
    if like is not None:
        call.recorder.moved(like, results[0])
    elif call.name == "to" and not any(call.is_dtype(x) for x in named):
        call.recorder.moved(call.args[0], results[0])
    else:
        values = partial(call.values, call.args[0])
        moves = call.name == "to" and any(_is_device(call, x) for x in named)
        call.recorder.cast(source, results[0], call.frame, values, made=moves)
    return None


def _is_device(call: Call, x: Any) -> bool:
    """Whether an argument names a device: by a name, a number, or an object of the framework's."""
    kind = type(x)
    return (kind in (str, int) and not call.is_dtype(x)) or kind.__name__ == "device"


def default(call: Call) -> None:
    """A tensor that has the default dtype, unless one is named."""
    results = call.results()
    if not results:
        return
    number = call.words.defaults[call.name]
    given = _numbers_of(call) if number is None else []
    if _tensors(call, given):
        return _of_tensors(call, given)
    call.count(MAKE)
    if number is None and all(type(x) in WEAK for x in given):
        number = max(given, key=lambda x: ORDER[type(x)], default=None)
    named = call.named or (type(number) in (float, complex) and call.recorder.default_named)
    if call.named:
        return call.recorder.named(results[0], call.frame, call.name)
    if number is None or named:
        return call.recorder.made(results[0])
    how: Any = {"lone": call.is_lone(results[0]), "of_any": call.name in OF_ANY}
    return call.recorder.default(number, results[0], call.frame, function=call.name, **how)


ORDER = {bool: 0, int: 1, float: 2, complex: 3}
"""Classes of numbers, each with those before it in one array becoming it."""

_NUMBERS = {"full": (1, 2), "fill": (1, 2), "arange": (0, 3), "range": (0, 3)}
_VALUES = frozenset({"data", "end", "fill_value", "object", "obj", "start", "step", "stop"})
"""Parameters whose values are those of the tensor that is made."""


def _numbers_of(call: Call) -> list[Any]:
    """The values of a tensor that is made of some."""
    name = call.name.rpartition(".")[2]
    first, last = _NUMBERS.get(name, (0, 1))
    given = [*call.args[first:last], *(x for key, x in call.kwargs.items() if key in _VALUES)]
    return [x for x in flat(given) if x is not None and not call.is_dtype(x)]


def _of_tensors(call: Call, given: list[Any]) -> None:
    """``asarray`` of a tensor, which moves or casts it, or of a list, which promotes its parts."""
    result, operands = call.results()[0], [call.operand(x) for x in given]
    if call.named and call.args and call.operand(call.args[0]) is not None:
        return cast(call)
    if call.named or call.name in ("arange", "range") or None in operands:
        return call.made(MAKE)
    if len(given) == 1 and call.dtype_in(given[0]) is not result.dtype:
        return call.made(MAKE)
    if len(given) == 1:
        call.count(MOVE)
        return call.recorder.moved(given[0], result)
    call.count(APPROXIMATE)
    call.saw("stack", operands, [result], form=call.form, exact=False)
    return None


def drawn(call: Call) -> None:
    """``normal``: of arrays a mean or a deviation has the dtype, of numbers it is the default."""
    (move if _tensors(call, (*call.args, *call.kwargs.values())) else default)(call)


def make(call: Call) -> None:
    """A tensor whose dtype the program names, or that follows from no promotion."""
    call.made(MAKE)


def other(call: Call) -> None:
    """What is not known; what makes no tensor only asks."""
    call.made(UNKNOWN)


def unseen(call: Call) -> None:
    """What the framework computes by itself, where no hook hears of it."""
    call.count(UNSEEN)
    for result in call.results():
        call.recorder.made(result)


def assign(call: Call) -> None:
    """``x[key] = value``."""
    target, value = call.operand(call.args[0]), call.operand(call.args[2])
    if target is not None and value is not None:
        call.count(OPERATION)
        values = partial(call.values, call.args[2]) if isinstance(value, AbstractArray) else None
        call.recorder.assigned(target, value, call.frame, values=values)


def leave(call: Call) -> None:
    """Values that leave for other code, where no operation is recorded, or for NumPy where it is.

    What the framework's own code takes, as to print it, does not leave the program.
    """
    recorder, frame = call.recorder, call.frame
    while of_promoarray(frame) and frame.f_back is not None:  # a stand-in of NumPy's function
        frame = frame.f_back
    caller = (frame.f_globals.get("__name__") or "").partition(".")[0]
    if recorder.beside("numpy") and not of_library(frame):
        call.kind = MOVE
        recorder.count(MOVE, call.name)
        source, found = map(recorder.elsewhere, (call.args[0], call.result))
        if source and found:
            recorder.took(source, found)
    elif caller not in (recorder.framework, *recorder.describe):
        recorder.unexamined(f"{call.name} of an array", LEFT, call.frame, called=True)


def wrapped(call: Call) -> None:
    """What NumPy computed of a tensor, by an operator or a function, as a tensor again.

    Where that stands in the program itself NumPy's session is told of it next, and records it.
    """
    recorder = call.recorder
    call.kind = MOVE
    recorder.count(MOVE, call.name)
    left = recorder.unexamined("NumPy's operation on a tensor", _NUMPYS, call.frame)
    recorder.heard.lasting = False
    for result in call.results():
        recorder.made(result)
        recorder.heard.wrapped = left, weakref.ref(result.array)


_NUMPYS = "NumPy computes it where it is not recorded: write torch.from_numpy(array) there"
LEFT = "its values leave for other code, whose operations are not recorded"
_LEAVING = names("__array__ __dlpack__ numpy")

_PRODUCTS = (
    *("einsum", "multi_dot", "linalg_multi_dot", "linalg.multi_dot"),
    *("lstm", "gru", "rnn_tanh", "rnn_relu", "lstm_cell", "gru_cell", "rnn_tanh_cell"),
    "rnn_relu_cell",
)
_BY_NAME: dict[str, Handler] = {
    "__setitem__": assign,
    "__array_wrap__": wrapped,
    "normal": drawn,
    **dict.fromkeys(_LEAVING, leave),
    **dict.fromkeys(_PRODUCTS, einsum),
}


def _autocast(
    call: Call, operation: str, operands: tuple[Any, ...], form: Form = Form.OPERATOR
) -> bool:
    """Whether autocast cast the operands before the operation saw them."""
    results = call.results()
    if form is Form.INPLACE or not results or not call.autocasts(call.args):
        return False
    given = {x.dtype for x in operands if isinstance(x, AbstractArray)}
    if not any("float" in each.name for each in given):
        return False
    if call.predicted(operation, operands, form) is results[0].dtype:
        return False
    call.count(AUTOCAST)
    call.recorder.made(results[0])
    return True
