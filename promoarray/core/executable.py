"""One plan as one back end carries it out: compiled once, found again by one key.

NumPy's own split is the model: resolve the dtypes (``Policy.decide``), get the loop
(``backend.compile``), run it. What was got is kept in ``policy.executables``, where the fast path
(``native/``) finds it, and the dispatcher that of arrays of other libraries than NumPy.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Hashable, Mapping
from functools import cache, partial
from typing import Any, NamedTuple

import numpy as np

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
from promoarray.operations import Form, operation
from promoarray.promotion.cast_rules import CastRule
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.plan import Operand, Plan
from promoarray.promotion.policy import FEW, Policy
from promoarray.promotion.scalars import COMPARED, Fit

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
    if key is None:
        return
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
    buffers = entering(executable, operands) if executable is not None else None
    return Call(executable, cls, buffers) if executable is not None and buffers else None


def entering(executable: Executable, operands: tuple[Any, ...]) -> tuple[Buffer, ...] | None:
    """What an executable runs on; None where a scalar's value has to be decided about."""
    buffers = []
    for x, as_buffer in zip(operands, executable.scalars, strict=True):
        buffer = x._buffer if as_buffer is None else as_buffer(x)
        if buffer is None or type(buffer) is Executable:
            return None
        buffers.append(buffer)
    return tuple(buffers)


class Call(NamedTuple):
    """One call of an operation that was compiled before: of the class of its arrays."""

    executable: Executable
    array_class: Any
    buffers: tuple[Buffer, ...]


def keep_answer(
    policy: Policy, name: str, given: tuple[Any, ...], answer: Any, *, by_value: bool = False
) -> None:
    """Keep an answer about dtypes.

    Parameters
    ----------
    policy : Policy
    name : str
        Of the function.
    given : tuple of array, Python scalar and dtype_like
    answer : object
        Immutable.
    by_value : bool
        Whether it hangs on what arrays hold: on their ranks, and on values where policies look at
        them. Then nothing is kept of NumPy's own arrays.
    """
    if observers_anywhere or any(x is None for x in given):  # which equals NumPy's float64
        return
    numpys = (np.ndarray, np.generic) if by_value else np.generic  # whose values are no dtypes
    if any(isinstance(x, numpys) for x in given):
        return
    kept_as, executable = name + Form.FUNCTION, Executable(None, (), answer, ())
    classify = value_class(policy) if by_value else None
    if classify is None:
        keep_function(policy, kept_as, given, None, executable)
        return
    parts = tuple(map(key_part, given))
    choice = policy.executables.setdefault((kept_as, *parts), Choice(classify, classify, {}))
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


def keep_beyond(usual: Executable, executable: Executable) -> None:
    """Keep what compares with ints that no value of a dtype reaches, for the executable that is
    found by their class."""
    scalars = tuple([way and _infinity for way in executable.scalars])
    for entered in usual.scalars:
        way = getattr(entered, "otherwise", entered)
        if type(way) is _Compared:
            way.beyond = executable._replace(scalars=scalars)


# --- Compiling -----------------------------------------------------------------------------------


def compiled(
    backend: Any,
    name: str,
    policy: Policy,
    plan: Plan,
    operands: tuple[Any, ...],
    first: DType,
    bounds: tuple[Any, ...] = (),
) -> Executable:
    """Make ready what a plan asks for, for operands of these types.

    Parameters
    ----------
    backend : module
    name : str
    policy : Policy
    plan : Plan
    operands : tuple of Array and Python scalar
    first : DType
        The first operand's type as the policy sees it, by which bounds of ``clip`` fit.
    bounds : tuple
        Whether ``clip`` has a lower bound, and an upper one.
    """
    scalars = tuple(map(WEAK.__contains__, map(type, operands)))
    if True in scalars:
        given = zip(operands, plan.inputs, scalars, strict=True)
        held = tuple([dtype if scalar else storage_dtype(x) for x, dtype, scalar in given])
    else:
        held = tuple(map(storage_dtype, operands))
    ways = held, scalars, first, bounds
    key = backend, name, plan, *ways
    executable: Executable | None = policy.executables.get(key)
    if executable is None:
        executable = _compiled(backend, name, policy, plan, *ways)
        if len(held) <= FEW:
            policy.executables[key] = executable
    return executable


def _compiled(
    backend: Any,
    name: str,
    policy: Policy,
    plan: Plan,
    held: tuple[DType, ...],
    scalars: tuple[bool, ...],
    first: DType,
    bounds: tuple[Any, ...],
) -> Executable:
    strong, result = plan, policy.strong(plan.result)
    if result is not plan.result or plan.extra_results:
        extra_results = tuple(map(policy.strong, plan.extra_results))
        strong = plan._replace(result=result, extra_results=extra_results)
    limits = {"low": bounds[0], "high": bounds[1]} if bounds else {}
    kernel_name = policy.kernel(name, plan)
    run = _run(backend, name, kernel_name, policy, strong, held, limits)
    kernel = getattr(run, "kernel", None)
    if bounds:  # which the fast path has in the name
        run = partial(run, **limits)
    enter: list[Scalar | None] = [None] * len(held)
    if True in scalars:
        cast, low, rule = policy.cast, limits.get("low", True), policy.scalars.rule
        is_compared = operation(name).family in COMPARED
        for index, dtype in enumerate(held):
            if scalars[index]:
                fit = rule(name, index, dtype, first=first, low=low, alone=all(scalars))
                as_is = cast, fit, dtype
                way = _Compared(*as_is) if is_compared else _cached(partial(_as_buffer, *as_is))
                enter[index] = in_compiled_code(policy, fit, dtype, way)
    return Executable(run, (*enter,), plan.result, plan.extra_results, kernel)


def _run(
    backend: Any,
    name: str,
    kernel: str,
    policy: Policy,
    plan: Plan,
    held: tuple[DType, ...],
    bounds: dict[str, bool],
) -> Callable[..., Any]:
    """The back end's own callable; of a decomposition both, one after the other."""
    casts = policy.cast.plan
    if plan.decomposition is None:
        run: Callable[..., Any] = backend.compile(kernel, held, plan, casts, **bounds)
        return run
    # The first part is rounded as the operation's own result is.
    first, at, then = plan.decomposition
    computed = plan.compute or plan.inputs[0]
    own = Plan((plan.inputs[at],), computed, plan.result)
    inputs, between = list(plan.inputs), list(held)
    inputs[at] = between[at] = plan.result
    rest = plan._replace(inputs=tuple(inputs), compute=computed, decomposition=None)
    begin = backend.compile(policy.kernel(first, own), (held[at],), own, casts)
    end = backend.compile(policy.kernel(then, rest), tuple(between), rest, casts)

    def both(*buffers: Buffer, **options: Any) -> Any:
        given = list(buffers)
        given[at] = begin(given[at])
        return end(*given, **options)

    return both


def _as_buffer(cast: CastRule, fit: Fit, dtype: DType, x: Any) -> Buffer | None:
    """A Python scalar as a 0-d buffer; None where its value asks for another plan, or for none."""
    try:
        value = fit(x, dtype)
        return None if is_beyond(x, value, dtype) else scalar_buffer(cast, value, dtype)
    except (OverflowError, ValueError):
        return None  # the dispatcher says why


def _cached(as_buffer: Scalar) -> Scalar:
    """The same with the buffers of a few numbers at hand: most are constants of the program."""
    known: dict[tuple[type, Any], Buffer] = {}

    def enter(x: Any) -> Any:
        found = known.get((type(x), x))
        if found is None or not x or type(x) is complex:  # 0.0 and -0.0 are equal
            found = as_buffer(x)
            if found is not None:
                if len(known) >= _MOST_KNOWN:
                    known.clear()
                known[type(x), x] = found
        return found

    return enter


_MOST_KNOWN = 32


class _Compared:
    """A Python scalar that is compared with as a 0-d buffer; an int that no value of the dtype
    reaches as the executable that compares with such, once there is one.

    Attributes
    ----------
    beyond : Executable or None
    """

    __slots__ = ("_cast", "_dtype", "_fit", "beyond")

    def __init__(self, cast: CastRule, fit: Fit, dtype: DType) -> None:
        self._cast, self._fit, self._dtype = cast, fit, dtype
        self.beyond: Executable | None = None

    def __call__(self, x: Any) -> Buffer | Executable | None:
        dtype = self._dtype
        try:
            value = self._fit(x, dtype)
            if is_beyond(x, value, dtype):
                return self.beyond
            return scalar_buffer(self._cast, value, dtype)
        except (OverflowError, ValueError):
            return None  # the dispatcher says why


def _infinity(x: int) -> Buffer:
    return _INFINITIES[x > 0]


_INFINITIES = tuple([np.asarray(end) for end in (-np.inf, np.inf)])


def is_beyond(x: Any, value: Any, dtype: DType) -> bool:
    """Whether an int has become an infinity, as no integer of the dtype reaches it."""
    return type(x) is int and type(value) is float and dtype.kind in INTEGERS
