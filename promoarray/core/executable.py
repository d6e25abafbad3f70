"""One plan as one back end carries it out: compiled once, found again by one key.

NumPy's own split is the model: resolve the dtypes (``Policy.decide``), get the loop
(``backend.compile``), run it. What was got is kept in ``policy.executables``, where the fast path
(``native/``) finds it, and the dispatcher that of arrays of other libraries than NumPy.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Hashable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

from promoarray import dtypes as dt
from promoarray.core.array_base import storage_dtype
from promoarray.core.executable_cache import (
    Choice,
    Scalar,
    ValueClass,
    keep_function,
    key_part,
    operation_key,
    told_apart,
)
from promoarray.core.executable_cache import Executable as Executable
from promoarray.core.observers import observers_anywhere
from promoarray.core.operands import in_compiled_code, scalar_buffer
from promoarray.dtypes import INTEGERS, WEAK, DType
from promoarray.operations import Form
from promoarray.promotion.cast_rules import CastRule
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Operand, Plan, Refusal
from promoarray.promotion.policy import FEW, Policy
from promoarray.promotion.scalars import Fit, bounds

Buffer = Any


def keep(
    name: str,
    form: Form,
    policy: Policy,
    operands: tuple[Any, ...],
    seen: tuple[Operand, ...],
    executable: Executable,
    options: Mapping[str, Any],
) -> None:
    """Keep an executable for operands of these types, or for their values, where those matter."""
    key = operation_key(name + form, operands, options)
    by_value = value_class(policy)
    if key is None or (policy.needs_kernels and isinstance(policy.plan(name, seen, form), Refusal)):
        return  # without a kernel, of these numbers alone
    if by_value is not None and len(key) > 1 + len(operands):
        return  # to look at values elsewhere may mean to compute them, or to wait for a device
    scalar = by_value or (_is_two if policy.may_square(name, seen, form) else None)
    if scalar is not None:
        choice = policy.executables.setdefault(key, Choice(scalar, by_value, {}))
        choice.keep(told_apart(operands, choice), executable)
    elif len(key) <= FEW:
        policy.executables[key] = executable


def find(
    name: str, form: Form, operands: tuple[Any, ...], options: Mapping[str, Any]
) -> Call | None:
    """Return the executable for operands like these, if one is kept, and what it runs on.

    Of NumPy's buffers ``native/`` has found it before; those of other libraries come here.
    """
    key = operation_key(name + form, operands, options)
    if key is None:
        return None
    cls: Any = next(type(x) for x in operands if type(x) not in WEAK)
    found = (cls._policy or get_policy()).executables.get(key)
    executable: Executable | None = (
        found.by_case.get(told_apart(operands, found)) if type(found) is Choice else found
    )
    entered = entering(executable, operands) if executable is not None else None
    return Call(entered[0], cls, entered[1]) if entered is not None else None


def entering(
    executable: Executable, operands: tuple[Any, ...]
) -> tuple[Executable, tuple[Buffer, ...]] | None:
    """The executable for these very operands, and what it runs on; None where a scalar's value has
    to be decided about."""
    buffers = []
    for x, as_buffer in zip(operands, executable.scalars, strict=True):
        buffer = x._buffer if as_buffer is None else as_buffer(x)
        if type(buffer) is Executable:
            return entering(buffer, operands)
        if buffer is None:
            return None
        buffers.append(buffer)
    return executable, tuple(buffers)


class Call(NamedTuple):
    """One call of an operation that was compiled before: of the class of its arrays."""

    executable: Executable
    array_class: Any
    buffers: tuple[Buffer, ...]

    @property
    def types(self) -> tuple[Any, ...]:
        """The types of the results."""
        return self.executable.result, *self.executable.extra_results


def keep_answer(
    policy: Policy, name: str, given: tuple[Any, ...], answer: Any, *, by_value: bool = False
) -> None:
    """Keep a function's answer about dtypes, which is immutable.

    ``by_value`` tells that it hangs on what arrays hold: on their ranks, and on values where
    policies look at them. Such a policy looks at each of NumPy's own arrays anew.
    """
    if observers_anywhere or any(x is None for x in given):  # which equals NumPy's float64
        return
    if policy.long is not None:  # and what `int` is hangs on the policy
        return
    classify = value_class(policy) if by_value else None
    looked_at: Any = (np.ndarray, np.generic) if classify else ()
    if any(isinstance(x, looked_at if by_value else np.generic) for x in given):
        return
    executable = Executable(None, (), answer, ())
    if classify is None:
        keep_function(policy, name, given, None, executable)
        return
    key = name + Form.FUNCTION, *map(key_part, given)
    choice = policy.executables.setdefault(key, Choice(classify, classify, {}))
    choice.keep(told_apart(given, choice), executable)


def value_class(policy: Policy) -> ValueClass | None:
    """From a value to its class under a policy that looks at values; None under others."""
    if policy.by_value is None:
        return None
    breakpoints: tuple[float, ...] | None = getattr(policy.by_value, "borders", None)
    return _itself if breakpoints is None else between(breakpoints)


def _itself(value: Any) -> Any:
    """The class of a value under a policy that does not say which values it tells apart."""
    return value


@cache
def between(breakpoints: tuple[float, ...]) -> ValueClass:
    """From a value to how many breakpoints are not above it; of a complex one, of both parts."""
    place = partial(bisect_right, breakpoints)

    def class_of(value: Any) -> Hashable:
        if type(value) is complex:
            return place(value.real), place(value.imag)
        return place(value)

    return class_of


def _is_two(exponent: Any) -> bool:
    return bool(exponent == 2)


# --- Compiling -----------------------------------------------------------------------------------


class Compilation(NamedTuple):
    """All that an executable hangs on beside the policy, under which it is kept."""

    backend: Any
    name: str
    plan: Plan
    held: tuple[DType, ...]  # what the buffers of the operands hold
    scalars: tuple[bool, ...]  # which of them are Python scalars
    first: DType  # the first operand's type as the policy sees it, by which bounds of ``clip`` fit
    # whether ``clip`` has a lower bound, and an upper one; empty of all else
    bounds: tuple[bool, ...]


def compiled(
    backend: Any,
    name: str,
    policy: Policy,
    plan: Plan,
    operands: tuple[Any, ...],
    first: DType,
    bounds: tuple[bool, ...] = (),
) -> Executable:
    """Make ready what a plan asks for, for operands of these types; see ``Compilation``."""
    scalars = tuple(map(WEAK.__contains__, map(type, operands)))
    if True in scalars:
        given = zip(operands, plan.inputs, scalars, strict=True)
        held = tuple([dtype if scalar else storage_dtype(x) for x, dtype, scalar in given])
    else:
        held = tuple(map(storage_dtype, operands))
    key = Compilation(backend, name, plan, held, scalars, first, bounds)
    executable: Executable | None = policy.executables.get(key)
    if executable is None:
        executable = _compiled(key, policy)
        if len(held) <= FEW:
            policy.executables[key] = executable
    return executable


def _compiled(given: Compilation, policy: Policy) -> Executable:
    _, name, plan, held, scalars, first, bounds = given
    limits = dict(zip(("low", "high"), bounds, strict=False))
    run = _run(given, policy, limits)
    kernel = getattr(run, "kernel", None)
    if bounds:  # which the fast path has in the name
        run = partial(run, **limits)
    enter: list[Scalar | None] = [None] * len(held)
    low, beyond = limits.get("low", True), cache(partial(_beyond, given, policy))
    for index, dtype in enumerate(held):
        if scalars[index]:
            rule, alone = policy.scalars.rule, all(scalars)
            fit = rule(name, index, dtype, first=first, low=low, alone=alone)
            way = _cached(partial(as_buffer, policy.cast, fit, dtype, beyond=beyond))
            enter[index] = in_compiled_code(policy, fit, dtype, way)
    return Executable(run, (*enter,), plan.result, plan.extra_results, kernel)


def _run(given: Compilation, policy: Policy, bounds: dict[str, bool]) -> Callable[..., Any]:
    """The back end's own callable; of a decomposition both, one after the other."""
    plan, held, casts, compile = given.plan, given.held, policy.cast.plan, given.backend.compile
    extra_results = tuple(map(policy.strong, plan.extra_results))
    strong = plan._replace(result=policy.strong(plan.result), extra_results=extra_results)
    if plan.decomposition is None:
        run: Callable[..., Any] = compile(
            policy.kernel(given.name, plan), held, strong, casts, **bounds
        )
        return run
    first, at, then = plan.decomposition
    own = policy.plan(first, (Operand(held[at]),))
    assert isinstance(own, Plan), own  # it is one of the two that the policy named
    between = list(held)
    between[at] = own.result
    rest = strong._replace(compute=plan.compute or plan.inputs[0], decomposition=None)
    begin = compile(policy.kernel(first, own), (held[at],), own, casts)
    end = compile(policy.kernel(then, rest), tuple(between), rest, casts)

    def both(*buffers: Buffer, **options: Any) -> Any:
        given = list(buffers)
        given[at] = begin(given[at])
        return end(*given, **options)

    return both


def as_buffer(
    cast: CastRule, fit: Fit, dtype: DType, x: Any, beyond: Callable[[], Executable] | None = None
) -> Buffer | Executable | None:
    """A Python scalar as a 0-d buffer; an int that is compared with and that no value of the dtype
    reaches as the executable for such; None where its value asks for another plan, or for none."""
    try:
        value = fit(x, dtype)
        if is_beyond(x, value, dtype):
            return beyond() if beyond else None
        return scalar_buffer(cast, value, dtype)
    except (TypeError, OverflowError, ValueError):
        return None  # the dispatcher says why


def _beyond(given: Compilation, policy: Policy) -> Executable:
    """The executable of a comparison with an infinity, which takes floats to compare with."""
    pairs = zip(given.held, given.scalars, strict=True)
    held = tuple([dt.float64 if scalar else dtype for dtype, scalar in pairs])
    made = _compiled(given._replace(plan=among_floats(given.plan), held=held), policy)
    ways = [
        way and partial(_among_floats, dtype)
        for dtype, way in zip(given.held, made.scalars, strict=True)
    ]
    return made._replace(scalars=tuple(ways))


def among_floats(plan: Plan) -> Plan:
    """The plan of a comparison with an int that no value of the dtype reaches."""
    return Plan((dt.float64,) * len(plan.inputs), dt.float64, plan.result)


def _among_floats(dtype: DType, x: Any) -> Buffer:
    """A number that is compared as a float: an infinity if no integer of the dtype reaches it."""
    low, high = bounds(dtype) if dtype.kind in INTEGERS else (-math.inf, math.inf)
    return np.asarray(float(x) if low <= x <= high else math.inf if x > 0 else -math.inf)


def _cached(as_buffer: Scalar) -> Scalar:
    """The same with the buffers of a few numbers at hand: most are constants of the program."""
    known: dict[tuple[type, Any], Buffer] = {}

    def enter(x: Any) -> Any:
        found = known.get((type(x), x))
        if found is None or type(x) is complex or (not x and type(x) is float):  # -0.0 equals 0.0
            found = as_buffer(x)
            if found is not None:
                if len(known) >= _MOST_KNOWN:
                    known.clear()
                known[type(x), x] = found
        return found

    return enter


_MOST_KNOWN = 32


def is_beyond(x: Any, value: Any, dtype: DType) -> bool:
    """Whether an int has become an infinity, as no integer of the dtype reaches it."""
    return type(x) is int and type(value) is float and dtype.kind in INTEGERS
