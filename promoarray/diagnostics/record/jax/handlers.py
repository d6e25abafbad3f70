"""What each sort of call is recorded as."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np

from promoarray.diagnostics.record.jax.call import Call, flat
from promoarray.diagnostics.record.jax.calls import (
    ARGUMENT,
    CASTS,
    DEFAULTS,
    MAKES,
    MOVES,
    UPDATES,
    expansions,
    is_reflected,
    operations,
)
from promoarray.diagnostics.record.report import APPROXIMATE, CAST, MAKE, MOVE, OPERATION, UNKNOWN
from promoarray.diagnostics.record.tables import bound
from promoarray.dtypes import BY_NAME, INEXACT, WEAK
from promoarray.operations import OPERATIONS

Handler = Callable[[Call], None]


def handler_of(name: str) -> Handler:
    """What to do with calls of a name."""
    tables: tuple[tuple[Any, Handler], ...] = (
        (MOVES, _move),
        (CASTS, _cast),
        (DEFAULTS, _default),
        (MAKES, _make),
        (UPDATES, _update),
        (operations(), _compute),
        (expansions(), _expand),
        (("einsum", "linalg.multi_dot"), _einsum),
    )
    return next((handler for table, handler in tables if name in table), _other)


def _compute(call: Call) -> None:
    """One operation."""
    operation = operations()[call.name]
    if _named(call):
        return call.made(MAKE)
    given = tuple(call.operand(x) for x in _operands(call, operation))
    results = call.results()
    if operation == "where" and not given:
        return call.made(MAKE)  # where the condition is true
    if not results or not given or None in given:
        return _other(call)
    if is_reflected(call.name):
        given = given[::-1]
    if call.name == "lax.div" and call.recorder.home.strong(results[0].dtype).kind not in INEXACT:
        operation = "floor_divide"
    call.count(OPERATION)
    call.saw(operation, given, results[0], exact=not _traced_exponent(call, operation))
    for other in results[1:]:
        call.recorder.made(other)
    return None


def _traced_exponent(call: Call, operation: str) -> bool:
    """Whether it is a power whose 0-d exponent has a value only when JAX runs it."""
    return operation == "pow" and any(
        isinstance(x, jax.core.Tracer) and x.ndim == 0 for x in call.args
    )


def _operands(call: Call, operation: str) -> list[Any]:
    """The operands of an operation among the arguments."""
    args, kwargs = call.args, call.kwargs
    if operation in ("concat", "stack"):
        parts = args if call.name == "append" else args[0] if args else next(iter(kwargs.values()))
        return list(parts[:2] if call.name == "append" else parts)
    if operation in ("where", "clip"):
        named = bound(_PARAMETERS.get(call.name, _PARAMETERS[operation]), args, kwargs)
        keys = _KEYS[operation]
        return [named[key] for key in keys if named.get(key) is not None]
    arity = OPERATIONS[operation].arity or 2
    return [*args, *(kwargs[key] for key in _OPERANDS if key in kwargs)][:arity]


_PARAMETERS: dict[str, tuple[str, ...]] = {
    "where": ("condition", "x", "y"),
    "clip": ("x", "min", "max"),
    "lax.clamp": ("min", "x", "max"),
}
_KEYS: dict[str, tuple[str, ...]] = {
    "where": ("x", "y", "on_true", "on_false"),
    "clip": ("x", "arr", "a", "min", "a_min", "max", "a_max"),
}
"""Which of the parameters are operands, in their order; some have several names."""

_OPERANDS = ("a", "x", "x1", "z", "m", "operand", "lhs", "b", "y", "x2", "v", "rhs")
"""Parameters that are operands, in their order."""


def _expand(call: Call) -> None:
    """Several operations, of which the last has the result's dtype."""
    expansion = expansions()[call.name]
    results = call.results()
    if not results or _named(call):
        return call.made(MAKE)
    named = bound(expansion.parameters, call.args, call.kwargs)
    values = {key: call.operand(x) for key, x in named.items()}
    steps = [
        step
        for step in expansion.steps
        if all(x == "_" or values.get(x) is not None for x in step.operands)
    ]
    if not steps or "_" in steps[0].operands:
        return _other(call)
    call.count(APPROXIMATE)
    before: Any = None
    for step in steps[:-1]:
        before = call.step(
            step.operation, tuple(before if x == "_" else values[x] for x in step.operands)
        )
    last = tuple(before if x == "_" else values[x] for x in steps[-1].operands)
    call.saw(steps[-1].operation, last, results[0], exact=False)
    for other in results[1:]:
        call.recorder.made(other)
    return None


def _einsum(call: Call) -> None:
    """Products of all operands, one after the other."""
    arrays = [x for x in flat(call.args) if isinstance(x, (jax.Array, np.ndarray))]
    operands = [call.operand(x) for x in arrays]
    results = call.results()
    if not results or not operands or None in operands:
        return _other(call)
    call.count(APPROXIMATE)
    before = operands[0]
    for x in operands[1:-1]:
        before = call.step("matmul", (before, x))
    if len(operands) == 1:
        return call.recorder.moved(arrays[0], results[0])
    return call.saw("matmul", (before, operands[-1]), results[0], exact=False)


def _move(call: Call) -> None:
    """Values that are moved: the result carries what they did."""
    results = call.results()
    if not results:
        return
    call.count(MOVE)
    number = ARGUMENT.get(call.name, 0)
    given = (_target(call), *call.args[1:])[number:] if call.args else tuple(call.kwargs.values())
    sources = [x for x in flat(given) if isinstance(x, (jax.Array, np.ndarray))]
    for which, result in enumerate(results):
        # Of several arrays each has its own result: so ``broadcast_arrays`` and ``lax.sort``.
        source = sources[which] if len(sources) == len(results) else (sources or [None])[0]
        if source is None or _named(call):
            call.recorder.made(result)
        else:
            call.recorder.moved(source, result)


def _target(call: Call) -> Any:
    """The first argument; of ``x.at[key]`` the array."""
    return call.args[0].array if call.name.startswith("at.") else call.args[0]


def _update(call: Call) -> None:
    """``x.at[key].set(value)``: a copy, which carries what ``x`` does."""
    source = _target(call)
    target = call.operand(source)
    given = call.args[1] if len(call.args) > 1 else call.kwargs.get("values")
    value, results = call.operand(given), call.results()
    if target is None or value is None or not results:
        return _other(call)
    call.count(OPERATION)
    call.recorder.assigned(target, value, call.frame)
    return call.recorder.moved(source, results[0])


def _cast(call: Call) -> None:
    """An explicit cast, which also ends what differs where JAX has nothing to cast."""
    results, source = call.results(), call.operand(call.args[0]) if call.args else None
    if results and source is not None:
        call.count(CAST)
        call.recorder.cast(source, results[0], call.frame)


def _default(call: Call) -> None:
    """An array that has the default dtype, unless one is named."""
    results = call.results()
    if not results:
        return
    number = DEFAULTS[call.name]
    given = list(flat(call.args[1:2] if call.name.endswith("full") else call.args[:3]))
    given += [call.kwargs[key] for key in ("fill_value", "object") if key in call.kwargs]
    arrays = [x for x in given if isinstance(x, (jax.Array, np.ndarray, np.generic))]
    if number is None and arrays:
        return _of_arrays(call, given)
    call.count(MAKE)
    if number is None and not _named(call):
        numbers = [x for x in given if type(x) in WEAK]
        number = max(numbers, key=lambda x: _ORDER[type(x)], default=None)
    if number is None or _named(call):
        return call.recorder.made(results[0])
    lone = results[0].dtype.weak
    return call.recorder.default(number, results[0], call.frame, lone=lone)


_ORDER = {bool: 0, int: 1, float: 2, complex: 3}


def _of_arrays(call: Call, given: list[Any]) -> None:
    """``asarray`` of an array, which moves or casts it, or of a list, which promotes its parts."""
    result = call.results()[0]
    first = call.operand(call.args[0]) if call.args else None
    if _named(call) and first is not None:
        return _cast(call)
    if _named(call) or call.name == "arange":
        return call.made(MAKE)
    operands = [x for x in map(call.operand, given) if x is not None]
    if len(operands) == 1:
        call.count(MOVE)
        return call.recorder.moved(next(x for x in given if call.operand(x) is not None), result)
    call.count(APPROXIMATE)
    return call.saw("stack", operands, result, exact=False)


def _make(call: Call) -> None:
    """An array whose dtype the program names, or that follows from no promotion."""
    call.made(MAKE)


def _other(call: Call) -> None:
    """What is not known; what makes no array only asks."""
    call.made(UNKNOWN)


def _named(call: Call) -> bool:
    """Whether the program names the dtype of the result, by keyword or by position."""
    return call.kwargs.get("dtype") is not None or any(
        isinstance(x, (type, np.dtype)) or (isinstance(x, str) and x in BY_NAME)
        for x in call.args[1:]
    )
