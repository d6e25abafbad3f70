"""Long loops of a JAX program that is checked: some steps op by op, the others compiled.

Op by op a loop takes some thousand times as long. Beyond ``STEPS`` it runs compiled, and of what
comes out of it Inf and NaN are looked for. Where one is new, steps among which it was made are
found by halves, and carried out op by op as well. What the loop returns is the compiled one's.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp
from jax.tree_util import tree_leaves, tree_map

from promoarray.diagnostics.record.jax.call import Call
from promoarray.diagnostics.record.jax.compiled import as_compiled
from promoarray.diagnostics.record.jax.gradients import Probes
from promoarray.dtypes import BY_NAME, INEXACT

STEPS = 1024
"""So many steps are carried out op by op: counters of 8 bits wrap in these, and those of bfloat16
stand still."""

BEYOND = f"beyond {STEPS:,} steps a loop runs compiled, and only Inf and NaN are looked for in it"

MOST = 2**31 - 1

# As they are before anybody hears of them.
_and, _less, _add = jnp.logical_and, lax.lt, lax.add
_at = jax.jit(partial(lax.dynamic_index_in_dim, keepdims=False))
_stacked = jax.jit(lambda parts: tree_map(lambda *some: jnp.stack(some), *parts))


class _Loop(NamedTuple):
    """A loop of which some steps can be carried out.

    ``run`` and ``by_steps`` take a carry, and from which step to which; they answer the carry then,
    what these steps gave, of the latter one by one, and the step that was reached.
    """

    steps: int
    carry: Any
    run: Callable[[Any, int, int], tuple[Any, Any, int]]
    by_steps: Callable[[Any, int, int], tuple[Any, Any, int]]
    result: Callable[[Any, Any], Any]
    """What the loop returns, of the last carry and of what its steps gave."""
    body: str = ""
    """The parameter that is the function of a step."""
    example: Callable[[], tuple[Any, ...]] = tuple
    """Such arguments as that is given."""


def stepwise(
    function: Callable[..., Any], arguments: Mapping[str, Any], left_open: Callable[[str], None]
) -> Any:
    """Carry out a loop of ``jax.lax``, its first steps op by op.

    ``left_open`` is told, in words, which steps are looked at if not all are.
    """
    try:
        loop = LOOPS[function.__name__](function, arguments)
    except Exception:  # as JAX will say
        loop = None
    if loop is None or loop.steps < 0:
        return function(**arguments)
    has_values = all(map(is_readable, tree_leaves(dict(arguments))))
    if not loop.steps or not has_values:  # what no step gives, or as of what ``vmap`` traces
        return compiled(partial(function, **arguments))
    carry, gave, reached = loop.by_steps(_arrays(loop.carry), 0, min(loop.steps, STEPS))
    if reached == loop.steps or reached < STEPS:
        with as_compiled():
            return loop.result(_arrays(carry), _stacked(gave) if gave else gave)
    with as_compiled():
        made, gave, reached = loop.run(loop.carry, 0, loop.steps)
    if reached > STEPS:
        looked_at = f"steps 1 to {STEPS:,}"
        if _has_new(loop.carry, made, gave):
            looked_at += _searched(loop, carry, STEPS, reached)
        left_open(looked_at)
    return loop.result(made, gave)


def compiled(call: Callable[[], Any]) -> Any:
    """Carry out a call as JAX does when nothing is looked at."""
    with jax.disable_jit(False):
        return call()


def is_traced(call: Callable[[], Any]) -> bool:
    """Whether JAX can trace a call; nobody hears of it, nor of what it prints."""
    with as_compiled(), redirect_stdout(io.StringIO()):
        try:
            jax.eval_shape(call)
        except Exception:  # as JAX will say
            return False
    return True


def _arrays(carry: Any) -> Any:
    """A carry as loops have it: arrays, of Python numbers weak ones."""
    with as_compiled():
        return tree_map(lambda x: x if isinstance(x, jax.Array) else jnp.asarray(x), carry)


def _searched(loop: _Loop, carry: Any, start: int, stop: int) -> str:
    """Carry out steps op by op among which there is an Inf or NaN that is new; say which."""

    def runs_into(end: int) -> tuple[bool, Any]:
        with as_compiled():
            made, gave, _ = loop.run(carry, start, end)
        return _has_new(carry, made, gave), made

    if not runs_into(stop)[0]:
        return ""
    while stop - start > STEPS:
        middle = (start + stop) // 2
        is_so, made = runs_into(middle)
        if is_so:
            stop = middle
        else:
            carry, start = made, middle
    loop.by_steps(carry, start, stop)
    return f" and {start + 1:,} to {stop:,}"


def as_one(
    function: Callable[..., Any], arguments: Mapping[str, Any], probes: Probes, frame: FrameType
) -> Any:
    """Carry out a loop beside probes of gradients, a long one as one compiled operation.

    What its function refers to besides its arguments is an operand, too.
    """
    try:
        loop = LOOPS[function.__name__](function, arguments)
    except Exception:  # as JAX will say
        loop = None
    if loop is None or not STEPS < loop.steps < MOST:
        return function(**arguments)
    name = loop.body
    with as_compiled():
        body, held = jax.closure_convert(arguments[name], *loop.example())

    def bare(others: dict[str, Any], held: Any) -> Any:
        with as_compiled():
            return function(**others, **{name: lambda *given: body(*given, *held)})

    others = {key: x for key, x in arguments.items() if key != name}
    return probes.call(f"lax.{function.__name__}", bare, (others, held), {}, frame)


# -- Inf and NaN ----------------------------------------------------------------------------------


def is_readable(x: Any) -> bool:
    """Whether a loop is given values: of what ``vmap`` traces there are none."""
    while isinstance(x, jax.core.Tracer):
        if not hasattr(x, "primal"):
            return False
        x = x.primal
    return True


def _has_new(carry: Any, made: Any, gave: Any) -> bool:
    """Whether a carry has an Inf or NaN where it had none, or what the steps gave has any."""
    before, after = tree_leaves(carry), tree_leaves(made)
    with as_compiled():  # reading them is no part of the program
        return any(map(_are_new, after, before)) or any(map(_are_new, tree_leaves(gave)))


def _are_new(x: Any, before: Any = 0.0) -> bool:
    if not is_readable(x) or not is_readable(before):
        return False
    dtype = BY_NAME.get(getattr(getattr(x, "dtype", None), "name", ""))
    if dtype is None or dtype.kind not in INEXACT:
        return False
    array, old = Call.buffer_of(x), Call.buffer_of(before)
    new = np.isinf(array) & np.isfinite(old) | np.isnan(array) & ~np.isnan(old)
    return bool(new.any())


# -- loops ----------------------------------------------------------------------------------------


def _scan(function: Callable[..., Any], arguments: Mapping[str, Any]) -> _Loop:
    given = dict(arguments)
    f, xs, length, reverse = (given.pop(key, None) for key in ("f", "xs", "length", "reverse"))
    steps = _steps(xs, length)

    def run(carry: Any, start: int, stop: int) -> tuple[Any, Any, int]:
        part = slice(steps - stop, steps - start) if reverse else slice(start, stop)
        how = {"xs": tree_map(lambda x: x[part], xs), "length": stop - start}
        given.update({"f": f, "init": carry, "reverse": bool(reverse)} | how)
        return *function(**given), stop

    def by_steps(carry: Any, start: int, stop: int) -> tuple[Any, Any, int]:
        gave = []
        for step in range(start, stop):
            carry, y = f(carry, _element(xs, steps - 1 - step if reverse else step))
            gave.append(y)
        return carry, gave[::-1] if reverse else gave, stop

    def example() -> tuple[Any, Any]:
        return given["init"], _element(xs, 0)

    return _Loop(steps, given["init"], run, by_steps, lambda *both: both, "f", example)


def _map(function: Callable[..., Any], arguments: Mapping[str, Any]) -> _Loop | None:
    f, xs = arguments["f"], arguments["xs"]
    if arguments.get("batch_size") is not None:
        return None

    def run(carry: Any, start: int, stop: int) -> tuple[Any, Any, int]:
        return carry, function(f, tree_map(lambda x: x[start:stop], xs)), stop

    def by_steps(carry: Any, start: int, stop: int) -> tuple[Any, Any, int]:
        return carry, [f(_element(xs, step)) for step in range(start, stop)], stop

    steps = _steps(xs)
    body = "f", lambda: (_element(xs, 0),)
    return _Loop(steps, None, run, by_steps, lambda _, gave: gave, *body)


def _fori_loop(function: Callable[..., Any], arguments: Mapping[str, Any]) -> _Loop | None:
    lower, upper = arguments["lower"], arguments["upper"]
    if type(lower) is not int or type(upper) is not int or upper <= lower:
        return None

    def run(carry: Any, start: int, stop: int) -> tuple[Any, Any, int]:
        part = {"lower": lower + start, "upper": lower + stop, "init_val": carry}
        return function(**{**arguments, **part}), None, stop

    init = arguments["init_val"]
    body = "body_fun", lambda: (lower, init)
    return _Loop(upper - lower, init, run, run, lambda carry, _: carry, *body)


def _while_loop(function: Callable[..., Any], arguments: Mapping[str, Any]) -> _Loop:
    goes_on, body = arguments["cond_fun"], arguments["body_fun"]

    def run(carry: Any, start: int, stop: int) -> tuple[Any, Any, int]:
        made, step = function(
            lambda x: _and(_less(x[1], stop), goes_on(x[0])),
            lambda x: (body(x[0]), _add(x[1], 1)),
            (carry, start),
        )
        try:
            return made, None, int(step)
        except jax.errors.ConcretizationTypeError:  # of what a transformation around it traces
            return made, None, stop

    return _Loop(MOST, arguments["init_val"], run, run, lambda carry, _: carry)


def _steps(xs: Any, length: Any = None) -> int:
    """How many elements all have; of several lengths it raises an error, and JAX one of its own."""
    lengths = {len(x) for x in tree_leaves(xs)} | ({int(length)} if length is not None else set())
    (steps,) = lengths
    return steps


def _element(xs: Any, step: int) -> Any:
    with as_compiled():
        return tree_map(lambda x: _at(x, step), xs)


LOOPS: Mapping[str, Callable[[Callable[..., Any], Mapping[str, Any]], _Loop | None]] = {
    "scan": _scan,
    "map": _map,
    "fori_loop": _fori_loop,
    "while_loop": _while_loop,
}
"""The loops that are carried out so, by their names."""
