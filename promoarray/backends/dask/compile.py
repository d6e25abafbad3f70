"""Plans over Dask's buffers: an elementwise one is one task a block, all others casts and a graph.

What the policy's casts answer is asked when the graph is built, and travels as a table.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.backends import numpy as numpy_backend
from promoarray.backends.dask import blocks
from promoarray.backends.dask.block_executable import BlockExecutable
from promoarray.backends.dask.buffer import Buffer, array_of
from promoarray.backends.dask.call import graph_of
from promoarray.backends.dask.storage import closed, opened, storage
from promoarray.dtypes import BY_STORAGE, NATIVE, DType
from promoarray.kernels.portable.xla import ASKING_SHAPES
from promoarray.promotion.plan import Plan

if TYPE_CHECKING:
    from promoarray.backends.numpy.cast import Casts


class CastTable:
    """What a policy's cast rule answered: ``casts(source, target)`` without the policy."""

    def __init__(self, answers: dict[tuple[DType, DType], Any]) -> None:
        self._answers = answers

    def __call__(self, source: DType, target: DType) -> Any:
        return self._answers[source, target]


class Compiled:
    """An elementwise plan over operands that hold certain dtypes.

    Called with the buffers and the operation's options it gives the buffer of the result.
    """

    def __init__(
        self,
        name: str,
        held: tuple[DType, ...],
        plan: Plan,
        casts: Casts,
        bounds: dict[str, bool],
    ) -> None:
        self._name, self._held, self._plan = name, held, plan
        self._casts, self._bounds = casts, bounds
        self._executables: dict[Any, BlockExecutable] = {}

    def __call__(self, *buffers: Any, condition: Any = None, **options: Any) -> Buffer:
        arrays = [_entered(x, dtype) for x, dtype in zip(buffers, self._held, strict=True)]
        if condition is not None:
            arrays.append(_entered(condition, dt.bool))
        run = self._executable(buffers, condition is not None, options)
        return Buffer(blocks.each(run, tuple(arrays), self._plan.result, self._name))

    def _executable(
        self, buffers: tuple[Any, ...], has_condition: bool, options: dict[str, Any]
    ) -> BlockExecutable:
        spread = _spread(buffers) if self._name in ASKING_SHAPES else ()
        key = spread, has_condition, tuple(sorted(options.items()))
        found = self._executables.get(key)
        if found is None:
            table = CastTable(self._asked(buffers, has_condition, options))
            fields = self._name, self._held, self._plan, table, self._bounds, *key
            found = self._executables[key] = BlockExecutable(plan_on_blocks, *fields)
        return found

    def _asked(
        self, buffers: tuple[Any, ...], has_condition: bool, options: dict[str, Any]
    ) -> dict[Any, Any]:
        """Which casts NumPy's back end asks for, and the answers: told by a run on ones, of no
        axes where the operands have none, as some kernels look at that."""
        answers: dict[tuple[DType, DType], Any] = {}

        def casts(source: DType, target: DType) -> Any:
            answers[source, target] = found = self._casts(source, target)
            return found

        run = numpy_backend.compile(self._name, self._held, self._plan, casts, **self._bounds)
        given = dict(options, condition=np.ones(1, np.bool)) if has_condition else options
        with np.errstate(all="ignore"):
            run(
                *(
                    blocks.ones(dtype, (1,) if x.ndim else ())
                    for x, dtype in zip(buffers, self._held, strict=True)
                ),
                **given,
            )
        return answers


def _entered(x: Any, dtype: DType) -> Any:
    """An operand as ``blocks.each`` takes it."""
    if isinstance(x, np.ndarray) and not x.ndim:
        return x if dtype in NATIVE else x.view(storage(dtype))
    return array_of(x, dtype)


def plan_on_blocks(
    name: str,
    held: tuple[DType, ...],
    plan: Plan,
    casts: CastTable,
    bounds: dict[str, bool],
    spread: tuple[bool, ...],
    has_condition: bool,
    options: tuple[tuple[str, Any], ...],
) -> Callable[..., Any]:
    """All of an elementwise plan, for ``BlockExecutable``: run by the back end of the blocks."""
    compiled: dict[Any, Callable[..., Any]] = {}
    fixed = dict(options)

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


def one_by_one(
    graph: Callable[..., Any],
    name: str,
    held: tuple[DType, ...],
    plan: Plan,
    casts: Casts,
) -> Callable[..., Any]:
    """A plan whose kernel is a graph of its own: the casts of the operands, it, the casts of what
    it gives."""
    computed = [plan.compute or dtype for dtype in plan.inputs]
    ways = zip(held, plan.inputs, computed, strict=True)
    chains = [_chain(way, casts) for way in ways]

    def run(*buffers: Any, **options: Any) -> Any:
        arrays = tuple(
            cast(array_of(x, dtype)) for cast, x, dtype in zip(chains, buffers, held, strict=True)
        )
        found = graph(name, arrays, computed[0], **entered(options))
        wanted = (plan.result, *plan.extra_results)
        outs = tuple(
            Buffer(_chain((made, dtype), casts)(out))
            for (out, made), dtype in zip(found, wanted, strict=True)
        )
        return outs if plan.extra_results else outs[0]

    return run


def entered(options: dict[str, Any]) -> dict[str, Any]:
    """The options of a graph function: arrays among them, which are of NumPy's own dtypes, as
    Dask's."""
    return {
        key: array_of(value, BY_STORAGE[value.dtype])
        if isinstance(value, (Buffer, np.ndarray))
        else value
        for key, value in options.items()
    }


def _chain(dtypes: tuple[DType, ...], casts: Casts) -> Callable[[Any], Any]:
    """The casts from each dtype to the next, as one function of a Dask array."""
    steps = [caster(a, b, *casts(a, b)) for a, b in pairwise(dtypes) if a is not b]

    def run(array: Any) -> Any:
        for step in steps:
            array = step(array)
        return array

    return run


def caster(source: DType, target: DType, mode: Any, transforms: Any) -> Callable[[Any], Any]:
    """A cast made ready: a function of a Dask array of codes."""
    executable = BlockExecutable(blocks.cast_on_blocks, source, target, mode, transforms)
    name = f"astype-{target.name}"
    return lambda array: blocks.each(executable, (array,), target, name)


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
    graph = graph_of(name)
    if graph is not None:
        return one_by_one(graph, name, held, plan, casts)
    return Compiled(name, held, plan, casts, {"low": low, "high": high})


def call(
    kernel: str, buffers: tuple[Any, ...], compute: DType, **options: Any
) -> tuple[Buffer, DType]:
    """Run one elementwise kernel without casts."""
    held = (compute,) * len(buffers)
    known = {key: value for key, value in options.items() if key != "condition"}
    if "condition" in options:
        known["condition"] = np.ones(1, np.bool)
    made = blocks.kernel_dtype(kernel, compute, len(buffers), **known)
    run = Compiled(kernel, held, Plan(held, compute, made), blocks.no_casts, {})
    return run(*buffers, **options), made
