"""What each sort of call is recorded as."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.overrides import resolve_name

from promoarray.diagnostics.record.ghost import Ghost
from promoarray.diagnostics.record.pytorch.call import DTYPES, Call, flat
from promoarray.diagnostics.record.pytorch.calls import (
    ARGUMENT,
    CASTS,
    DEFAULTS,
    MAKES,
    MOVES,
    expansions,
    is_reflected,
    operations,
)
from promoarray.diagnostics.record.recorder import Result
from promoarray.diagnostics.record.report import (
    APPROXIMATE,
    AUTOCAST,
    CAST,
    MAKE,
    MOVE,
    OPERATION,
    UNKNOWN,
)
from promoarray.diagnostics.record.tables import Expansion, bound
from promoarray.dtypes import WEAK
from promoarray.operations import OPERATIONS, Form

Handler = Callable[[Call], None]


def handler_of(func: Any) -> tuple[str, Handler | None]:
    """What to do with calls of a function, with its name."""
    name = getattr(func, "__name__", str(func))
    qualified = resolve_name(func) or getattr(func, "__qualname__", "")
    if name in ("__get__", "__set__"):  # a property
        name = qualified.split(".")[-2] if qualified.endswith(f".{name}") else name
        if name in ("real", "imag"):
            return name, _compute
        return name, _move if name in MOVES and func.__name__ == "__get__" else None
    if name == "__setitem__":
        return name, _assign
    if name in MOVES:
        return name, _move
    if name in CASTS:
        return name, _cast
    if name in DEFAULTS:
        return name, _default
    if name in MAKES:
        return name, _make
    if name in ("max", "min"):
        return name, _extreme
    if name.startswith("_foreach_"):
        return name, _each
    plain = _plain(name)
    if plain in operations():
        return name, _compute
    if plain in expansions():
        return name, _expand
    if name == "einsum":
        return name, _einsum
    return name, _other


def _plain(name: str) -> str:
    """The name of an operation without what says that it is in place."""
    if name.startswith("__i") and f"__{name[3:]}" in operations():
        return f"__{name[3:]}"
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


def _compute(call: Call) -> None:
    """One operation."""
    name = _plain(call.name)
    inplace = name != call.name
    operation = operations()[name]
    given, options = _operands(call, operation)
    if is_reflected(name):
        given = given[::-1]
    if operation == "divide" and call.kwargs.get("rounding_mode"):
        operation = "floor_divide"
    if _named(call):
        return call.made(MAKE)
    form = Form.INPLACE if inplace else call.form
    alpha = call.kwargs.get("alpha", 1)
    results = call.results()
    if not results or any(x is None for x in given) or not given:
        return _other(call)
    if _autocast(call, operation, given, form):
        return
    exact = alpha == 1
    if not exact:
        given = (given[0], call.step("multiply", (given[1], alpha)), *given[2:])
    call.count(OPERATION)
    call.recorder.saw(
        operation, given, results[0], call.frame, form=form, options=options, exact=exact
    )
    for other in results[1:]:
        call.recorder.made(other)


def _operands(call: Call, operation: str) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The operands of an operation among the arguments, and its options."""
    args, kwargs = call.args, call.kwargs
    options: dict[str, Any] = {}
    if operation in ("concat", "stack"):
        given: Sequence[Any] = args[0] if args else kwargs["tensors"]
    elif operation == "where":
        named = bound(("condition", "input", "other"), args, kwargs)
        given = [named[key] for key in ("input", "other") if key in named]
    elif operation == "clip":
        named = bound(("input", "min", "max"), args, kwargs)
        given = [named[k] for k in ("input", "min", "max") if named.get(k) is not None]
        options["low"] = named.get("min") is not None
    else:
        arity = OPERATIONS[operation].arity or 2
        named_by = ("input", "self", "other", "exponent", "mat2", "vec", "vec2", "tensor", "target")
        given = [*args, *(kwargs[key] for key in named_by if key in kwargs)][:arity]
    return tuple(call.operand(x) for x in given), options


def _extreme(call: Call) -> None:
    """``max`` and ``min``: of two tensors the larger of each, else a reduction."""
    tensors = [x for x in call.args[:2] if isinstance(x, torch.Tensor)]
    name = {"max": "maximum", "min": "minimum"}[call.name] if len(tensors) == 2 else call.name
    results = call.results()
    operands = tuple(call.operand(x) for x in tensors)
    if not results or None in operands:
        return _other(call)
    call.count(OPERATION)
    call.recorder.saw(name, operands, results[0], call.frame, form=call.form)
    for other in results[1:]:
        call.recorder.made(other)
    return None


def _expand(call: Call) -> None:
    """Several operations, of which the last has the result's dtype."""
    name = _plain(call.name)
    _take_steps(call, expansions()[name], inplace=name != call.name)


def _take_steps(call: Call, expansion: Expansion, *, inplace: bool) -> None:
    results = call.results()
    named = bound(expansion.parameters, call.args, call.kwargs)
    if not results or _named(call):
        return call.made(MAKE)
    values = {key: call.operand(x) for key, x in named.items()}
    steps = [
        step
        for step in expansion.steps
        if all(x == "_" or values.get(x) is not None for x in step.operands)
    ]
    if not steps:
        return _other(call)
    if _autocast(call, steps[0].operation, tuple(values.get(x) for x in steps[0].operands)):
        return None
    call.count(APPROXIMATE)
    before: Any = None
    for step in steps[:-1]:
        operands = tuple(before if x == "_" else values[x] for x in step.operands)
        if None in operands:
            return _other(call)
        before = call.step(step.operation, operands)
    last = tuple(before if x == "_" else values[x] for x in steps[-1].operands)
    form = Form.INPLACE if inplace and last[0] is values.get("input") else Form.OPERATOR
    call.recorder.saw(steps[-1].operation, last, results[0], call.frame, form=form, exact=False)
    return None


def _einsum(call: Call) -> None:
    """Products of all operands, one after the other."""
    tensors = tuple(x for x in flat(call.args) if isinstance(x, torch.Tensor))
    operands = [call.operand(x) for x in tensors]
    results = call.results()
    if not results or None in operands:
        return _other(call)
    call.count(APPROXIMATE)
    before = operands[0]
    for x in operands[1:-1]:
        before = call.step("matmul", (before, x))
    if len(operands) > 1:
        call.recorder.saw("matmul", (before, operands[-1]), results[0], call.frame, exact=False)
    else:
        call.recorder.moved(tensors[0], results[0])
    return None


def _each(call: Call) -> None:
    """An operation on each tensor of a list: ``_foreach_add_``."""
    name = call.name.removeprefix("_foreach_")
    plain, inplace = _plain(name), _plain(name) != name
    lists = [x for x in call.args if isinstance(x, (list, tuple))]
    others = [x for x in call.args if not isinstance(x, (list, tuple))]
    results = call.results() or [
        Result(x, DTYPES[x.dtype], x.ndim) for x in lists[0] if x.dtype in DTYPES
    ]
    for row, result in zip(zip(*lists, strict=False), results, strict=False):
        given = [*row, *others]
        if plain in operations():
            operation = operations()[plain]
            operands = tuple(call.operand(x) for x in given[: OPERATIONS[operation].arity or 2])
            form = Form.INPLACE if inplace else Form.OPERATOR
            if None in operands:
                return _other(call)
            call.recorder.saw(operation, operands, result, call.frame, form=form)
        elif plain not in expansions() and plain not in ("copy", "zero"):
            return _other(call)
        else:
            call.recorder.made(result)
    call.count(APPROXIMATE if plain in expansions() else OPERATION)
    return None


def _move(call: Call) -> None:
    """Values that are moved: the result carries what they did."""
    results = call.results()
    number = ARGUMENT.get(call.name, 0)
    source = next((x for x in flat(call.args[number : number + 1])), None)
    if not isinstance(source, torch.Tensor):
        source = next((x for x in flat(call.kwargs.values()) if isinstance(x, torch.Tensor)), None)
    if results:
        call.count(MOVE)
    for result in results:
        same = source is not None and DTYPES.get(source.dtype) is result.dtype
        if same:
            call.recorder.moved(source, result)
        else:
            call.recorder.made(result)


def _cast(call: Call) -> None:
    """An explicit cast, which also ends what differs where PyTorch has nothing to cast.

    ``x.to(y)`` takes the dtype that each policy has for ``y``; ``x.to(device)`` names none.
    """
    results, source = call.results(), call.operand(call.args[0]) if call.args else None
    if not results or source is None:
        return
    call.count(CAST)
    named = list(flat((*call.args[1:], *call.kwargs.values())))
    like = next((x for x in named if isinstance(x, torch.Tensor)), None)
    if like is not None:
        call.recorder.moved(like, results[0])
    elif call.name == "to" and not any(isinstance(x, torch.dtype) for x in named):
        call.recorder.moved(call.args[0], results[0])
    else:
        call.recorder.cast(source, results[0], call.frame)


def _default(call: Call) -> None:
    """A tensor that has the default dtype, unless one is named."""
    number = DEFAULTS[call.name]
    results = call.results()
    if not results:
        return
    call.count(MAKE)
    if call.kwargs.get("dtype") is not None:
        return call.recorder.made(results[0])
    lone = False
    if number is None:
        given = call.args[1:2] if call.name == "full" else call.args[:3]
        if "fill_value" in call.kwargs:
            given = (call.kwargs["fill_value"],)
        numbers = [x for x in flat(given) if type(x) in WEAK]
        tensors = [x for x in flat(given) if not (type(x) in WEAK or x is None)]
        if tensors or not numbers:
            return call.recorder.made(results[0])
        number = max(numbers, key=lambda x: _ORDER[type(x)])
        lone = call.name in ("tensor", "as_tensor", "scalar_tensor") and results[0].ndim == 0
    return call.recorder.default(number, results[0], call.frame, lone=lone)


_ORDER = {bool: 0, int: 1, float: 2, complex: 3}


def _make(call: Call) -> None:
    """A tensor whose dtype the program names, or that follows from no promotion."""
    call.made(MAKE)


def _other(call: Call) -> None:
    """What is not known; what makes no tensor only asks."""
    call.made(UNKNOWN)


def _assign(call: Call) -> None:
    """``x[key] = value``."""
    target, value = call.operand(call.args[0]), call.operand(call.args[2])
    if target is not None and value is not None:
        call.count(OPERATION)
        call.recorder.assigned(target, value, call.frame)


def _named(call: Call) -> bool:
    """Whether the program names the dtype of the result."""
    return call.kwargs.get("dtype") is not None


def _autocast(
    call: Call, operation: str, operands: tuple[Any, ...], form: Form = Form.OPERATOR
) -> bool:
    """Whether autocast cast the operands before the operation saw them."""
    device = next((x.device.type for x in flat(call.args) if isinstance(x, torch.Tensor)), "cpu")
    results = call.results()
    if not torch.is_autocast_enabled(device) or not results or form is Form.INPLACE:
        return False
    given = {x.dtype for x in operands if isinstance(x, Ghost)}
    if results[0].dtype in given or not any("float" in each.name for each in given):
        return False
    call.count(AUTOCAST)
    call.recorder.made(results[0])
    return True
