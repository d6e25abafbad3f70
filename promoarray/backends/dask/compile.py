"""Plans over Dask's buffers: an elementwise one is one task a block, all others casts and a graph.

What the policy's casts answer is asked when the graph is built, and travels as a table.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of, step_by_step
from promoarray.backends import numpy as numpy_backend
from promoarray.backends.dask import moving, products, reductions, whole
from promoarray.backends.dask.block_executable import BlockExecutable
from promoarray.backends.dask.blocks import Results, answers, each, ones
from promoarray.backends.dask.buffer import Buffer, array_of, closed, opened
from promoarray.dtypes import BY_STORAGE, DType
from promoarray.kernels.portable.xla import ASKING_SHAPES
from promoarray.promotion.plan import Plan

if TYPE_CHECKING:
    from promoarray.backends.numpy.cast import Casts

GRAPHS: dict[str, Callable[..., Results]] = {
    **whole.GRAPHS,
    **reductions.GRAPHS,
    **products.GRAPHS,
    **moving.GRAPHS,
}
"""The kernels that are graphs of their own; all others are elementwise.

A graph function takes the kernel's name, Dask arrays of codes that all hold ``compute``, that
dtype, and the kernel's options; it gives a Dask array of codes and the dtype it holds for each
result. It promotes and casts nothing, and computes nothing.
"""


def no_casts(source: DType, target: DType) -> Any:
    """The casts of a plan that has none."""
    raise LookupError(f"no cast from {source} to {target} was planned")


class Compiled:
    """An elementwise plan over operands that hold certain dtypes.

    Called with the buffers and the operation's options it gives the buffer of the result.
    """

    def __init__(
        self, name: str, held: tuple[DType, ...], plan: Plan, casts: Casts, bounds: dict[str, bool]
    ) -> None:
        self._name, self._held, self._plan = name, held, plan
        self._casts, self._bounds = casts, bounds
        self._executables: dict[Any, BlockExecutable] = {}

    def __call__(self, *buffers: Any, condition: Any = None, **options: Any) -> Buffer:
        arrays = [_entered(x, dtype) for x, dtype in zip(buffers, self._held, strict=True)]
        if condition is not None:
            arrays.append(_entered(condition, dt.bool))
        run = self._executable(buffers, condition is not None, options)
        return Buffer(each(run, tuple(arrays), self._plan.result, self._name))

    def _executable(
        self, buffers: tuple[Any, ...], has_condition: bool, options: dict[str, Any]
    ) -> BlockExecutable:
        spread = _spread(buffers) if self._name in ASKING_SHAPES else ()
        key = spread, has_condition, tuple(sorted(options.items()))
        found = self._executables.get(key)
        if found is None:
            answers = self._asked(buffers, has_condition, options)
            fields = self._name, self._held, self._plan, answers, self._bounds, *key
            found = self._executables[key] = BlockExecutable(plan_on_blocks, *fields)
        return found

    def _asked(
        self, buffers: tuple[Any, ...], has_condition: bool, options: dict[str, Any]
    ) -> dict[Any, Any]:
        """The casts that NumPy's back end asks for, and the answers: told by a run on ones, of no
        axes where the operands have none, as some kernels look at that."""
        answers: dict[tuple[DType, DType], Any] = {}

        def casts(source: DType, target: DType) -> Any:
            answers[source, target] = found = self._casts(source, target)
            return found

        run = numpy_backend.compile(self._name, self._held, self._plan, casts, **self._bounds)
        shapes = [(1,) if x.ndim else () for x in buffers]
        given = dict(options, condition=np.ones(1, np.bool)) if has_condition else options
        with np.errstate(all="ignore"):
            run(*map(ones, self._held, shapes), **given)
        return answers


def _entered(x: Any, dtype: DType) -> Any:
    """An operand as ``each`` takes it."""
    is_scalar = isinstance(x, np.ndarray) and not x.ndim
    return closed(x, dtype) if is_scalar else array_of(x, dtype)


def plan_on_blocks(
    name: str,
    held: tuple[DType, ...],
    plan: Plan,
    answers: dict[tuple[DType, DType], Any],
    bounds: dict[str, bool],
    spread: tuple[bool, ...],
    has_condition: bool,
    options: tuple[tuple[str, Any], ...],
) -> Callable[..., Any]:
    """All of an elementwise plan, for ``BlockExecutable``: run by the back end of the blocks.

    Its casts are what a policy's cast rule answered, without the policy.
    """
    compiled: dict[Any, Callable[..., Any]] = {}
    fixed = dict(options)

    def casts(source: DType, target: DType) -> Any:
        return answers[source, target]

    def run(*operands: Any) -> Any:
        given = fixed
        if has_condition:
            *operands, condition = operands  # type: ignore[assignment]
            given = dict(fixed, condition=opened(condition, dt.bool))
        values = [opened(x, dtype) for x, dtype in zip(operands, held, strict=True)]
        backend = backend_of(max(values, key=np.ndim))
        if backend not in compiled:
            compiled[backend] = backend.compile(name, held, plan, casts, **bounds)
        if True not in spread:
            return closed(compiled[backend](*values, **given), plan.result)
        out = compiled[backend](*_spread_out(values, spread), **given)
        return closed(out[(0,) * sum(spread)], plan.result)

    return run


def _spread(buffers: tuple[Any, ...]) -> tuple[bool, ...]:
    """Which of the operands have fewer elements than the result."""
    ndim = max(x.ndim for x in buffers)
    shapes = [(1,) * (ndim - x.ndim) + x.shape for x in buffers]
    longest = [next((n for n in lengths if n != 1), 1) for lengths in zip(*shapes, strict=True)]
    return tuple(
        any(n == 1 and most != 1 for n, most in zip(shape, longest, strict=True))
        for shape in shapes
    )


def _spread_out(values: list[Any], spread: tuple[bool, ...]) -> list[Any]:
    """Blocks of operands with axes in front, along which those that are spread have one element
    and the others two: in a block of a single row, what is spread over the rows would not be."""
    ndim = max(x.ndim for x in values)
    out = []
    for i, x in enumerate(values):
        new = tuple(1 if i == of else 2 for of, is_spread in enumerate(spread) if is_spread)
        shape = (*new, *(1,) * (ndim - x.ndim), *x.shape)
        out.append(backend_of(x).move("broadcast_to", x, shape))
    return out


def arrays_in(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a graph function: arrays among them, which are of NumPy's own dtypes, as
    Dask's."""
    return {
        key: array_of(value, BY_STORAGE[value.dtype])
        if isinstance(value, (Buffer, np.ndarray))
        else value
        for key, value in options.items()
    }


def compile(
    name: str,
    held: tuple[DType, ...],
    plan: Plan,
    casts: Casts,
    *,
    low: bool = False,
    high: bool = False,
) -> Callable[..., Any]:
    """Make all of a plan ready for buffers that hold these dtypes."""
    if name in GRAPHS:
        backend = sys.modules[__package__]

        def run(*buffers: Any, **options: Any) -> Any:
            return step_by_step.run(backend, name, held, plan, casts, buffers, **options)

        return run
    return Compiled(name, held, plan, casts, {"low": low, "high": high})


def call(
    kernel: str, buffers: tuple[Any, ...], compute: DType, **options: Any
) -> tuple[tuple[Buffer, DType], ...]:
    """Run one kernel on buffers that all hold ``compute``; tell the dtype of each result."""
    if kernel in GRAPHS:
        arrays = tuple(array_of(x, compute) for x in buffers)
        found = GRAPHS[kernel](kernel, arrays, compute, **arrays_in(options))
        return tuple((Buffer(out), made) for out, made in found)
    held, asked = (compute,) * len(buffers), dict(options)
    if "condition" in options:
        asked["condition"] = np.ones(1, np.bool)
    (made,) = answers.__wrapped__(kernel, compute, ((1,),) * len(buffers), **asked)
    run = Compiled(kernel, held, Plan(held, compute, made), no_casts, {})
    return ((run(*buffers, **options), made),)
