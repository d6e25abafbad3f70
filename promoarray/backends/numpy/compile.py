"""Plans made ready once for NumPy buffers: kernel, casts, and the blocks of long operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends.numpy import exponents, loops, told
from promoarray.backends.numpy.cast import caster
from promoarray.backends.numpy.kernels import (
    POSITIONS,
    is_elementwise,
    is_variant,
    kernel_of,
    neighbours,
)
from promoarray.dtypes import BY_STORAGE, DType
from promoarray.once import cached_property

if TYPE_CHECKING:
    from promoarray.backends.numpy.blocks import BlockPlan
    from promoarray.backends.numpy.code_tables import CodeTable
    from promoarray.backends.numpy.folds import FoldPlan
    from promoarray.backends.numpy.positions import PositionPlan
    from promoarray.promotion.plan import Plan

Buffer = np.ndarray[Any, Any]
Cast = Callable[[Buffer], Buffer]
Way = Callable[[tuple[Buffer, ...], dict[str, Any]], Any]

_IN_PARTS = {"matmul": "products", "searchsorted": "searching", "vecdot": "products"}
"""From what may go part by part where its operands are cast to the module that has how."""


class Compiled:
    """All of a plan over NumPy buffers that hold certain dtypes: casts, kernel, casts.

    Called with the buffers and the operation's options it gives the buffer of the result, or a
    tuple of them where the operation has several.
    """

    def __init__(
        self,
        name: str,
        held: tuple[DType, ...],
        plan: Plan,
        casts: loops.Casts,
        linalg: Callable[..., Any] | None = None,
    ) -> None:
        self._linalg = linalg
        self._name, self._held, self._plan, self._casts = name, held, plan, casts
        self._compute = plan.compute or plan.inputs[0]
        self._outputs: dict[tuple[int, Any], Cast | None] = {}
        self._last: tuple[Any, Cast | None] = None, None
        self._loops: dict[str, loops.LoopPlan | None] = {}

    def __call__(self, *buffers: Buffer, **options: Any) -> Any:
        for way in (*self._loop_ways, *self._ways):
            out = way(buffers, options)
            if type(out) is loops.Untold:
                told_of = not options and self.tell(out.met, out.result, *buffers)
                out = out.result if told_of else None
            if out is not None:
                return out
        raise AssertionError("the last way goes with all operands")

    def tell(self, met: loops.Met, result: Buffer, *buffers: Buffer) -> bool:
        """Have NumPy tell of the exceptions that a loop met, of a few elements; False where it has
        to do all of it."""
        if self._name in loops.BY_SHAPE and any(1 < x.size < result.size for x in buffers):
            return False  # the kernel goes by what broadcasting repeats
        from promoarray.backends.numpy.exceptions_met import tell_by_elements

        return tell_by_elements(self._in_numpy, met, result, buffers)

    def _in_numpy(self, buffers: Sequence[Buffer]) -> Any:
        """What the plan goes by where no loop does it."""
        found = (way((*buffers,), {}) for way in self._ways)
        return next(out for out in found if out is not None)

    @cached_property
    def _inputs(self) -> list[Cast | None]:
        """The casts of each operand to what is computed in."""
        ways = zip(self._held, self._plan.inputs, strict=True)
        return [self._chain(held, to, self._plan.compute or to) for held, to in ways]

    @cached_property
    def _parts(self) -> Callable[..., Buffer | None] | None:
        """How the kernel goes part by part where its operands are cast."""
        if self._name not in _IN_PARTS:
            return None
        home = import_module(f"promoarray.backends.numpy.{_IN_PARTS[self._name]}")
        found: Callable[..., Buffer | None] | None = home.IN_PARTS.get(self._kernel)
        return found

    @cached_property
    def _casts_inputs(self) -> bool:
        return any(cast is not None for cast in self._inputs)

    @cached_property
    def _kernel(self) -> Callable[..., Any] | None:
        return kernel_of(self._name, self._compute)

    @cached_property
    def _loop_ways(self) -> tuple[Way, ...]:
        """The loops that the plan may go by."""
        ways: list[Way] = []
        if self._name in exponents.LOOPS:
            ways.append(self._by_exponent)
        if self._name in loops.ASKING or self._loop(self._name) is not None:
            ways.append(self._by_loop)
        return (*ways,)

    @cached_property
    def _ways(self) -> tuple[Way, ...]:
        """What else it may go by, the quickest first: each answers None where the operands do not
        lie so, or are too short for it."""
        ways: list[Way] = []
        if self._name == "plain_pow":
            ways.append(self._as_numpy)
        if self._blocks is not None:
            ways.append(self._blocks.run)
        if self._folds or self._positions or self._gaps:
            ways.append(self._of_lines)
        if self._casts_inputs and self._parts is not None:
            ways.append(self._in_parts)
        return *ways, self._whole

    def _in_parts(self, buffers: Sequence[Buffer], options: dict[str, Any]) -> Buffer | None:
        """A product, or a search, whose operands are cast part by part."""
        assert self._parts is not None
        storage = self._plan.result.storage, self._compute.storage
        out: Buffer | None = self._parts(
            buffers, self._inputs, partial(self._stored, 0), *storage, **options
        )
        return out

    def _whole(self, buffers: Sequence[Buffer], options: dict[str, Any]) -> Any:
        """The casts, the kernel, and the cast of its result, one after the other."""
        with told.at_the_program():
            return self._one_by_one(buffers, options)

    def _one_by_one(self, buffers: Sequence[Buffer], options: dict[str, Any]) -> Any:
        values = buffers
        if self._casts_inputs:
            values = [
                buffer if cast is None else cast(buffer)
                for cast, buffer in zip(self._inputs, buffers, strict=True)
            ]
        if self._kernel is None:
            return self._of_linalg(values, options)
        try:
            out = None if options else _in_threads(self._kernel, *values)
            if out is None:
                out = self._kernel(*values, **options)
        except TypeError as error:
            if not _has_no_loop(error):
                raise
            lacking = f"there is no kernel for {self._name} of {self._compute.name}"
            raise TypeError(lacking) from None
        if self._plan.extra_results:
            return tuple(self._stored(i, np.asarray(each)) for i, each in enumerate(out))
        return self._stored(0, out if type(out) is np.ndarray else np.asarray(out))

    def _of_lines(self, buffers: Sequence[Buffer], options: dict[str, Any]) -> Buffer | None:
        """What is made along axes without a cast of it all."""
        if not options:
            return None
        if self._folds is not None:
            from promoarray.backends.numpy import folds

            out = folds.run(self._folds, *buffers, **options)
            return out if out is None or self._folds.runs else self._stored(0, out)
        if self._positions is not None:
            from promoarray.backends.numpy import positions

            out = positions.run(self._positions, *buffers, **options)
            return None if out is None else self._stored(0, out)
        if self._gaps is not None:
            pair = neighbours(*buffers, **options)
            if isinstance(self._gaps, loops.LoopPlan):
                return self._gaps.run(pair)
            return self._gaps.run(pair, {})
        return None

    def _of_linalg(self, values: Sequence[Buffer], options: dict[str, Any]) -> Any:
        """Of what moves values the results hold what was computed in, which NumPy may not know."""
        assert self._linalg is not None
        found = self._linalg(self._name, self._compute)(*values, **options)
        outs = tuple(self._stored(i, *each) for i, each in enumerate(found))
        return outs if self._plan.extra_results else outs[0]

    def _stored(self, index: int, result: Buffer, dtype: DType | None = None) -> Buffer:
        """Cast a result to what the plan says; it holds a dtype, by default NumPy's own."""
        given = dtype or result.dtype
        known, cast = self._last  # most often the same again
        if index or known is not given:
            cast = self._output(index, result, dtype)
            if not index:
                self._last = given, cast
        return result if cast is None else cast(result)

    def _output(self, index: int, result: Buffer, dtype: DType | None) -> Cast | None:
        """The cast of a result that holds a dtype."""
        key = index, dtype or result.dtype
        try:
            return self._outputs[key]
        except KeyError:
            made = dtype or BY_STORAGE[result.dtype]
            wanted = (self._plan.result, *self._plan.extra_results)[index]
            return self._outputs.setdefault(key, self._chain(made, wanted))

    def into(self, buffers: tuple[Buffer, ...]) -> bool:
        """Write the result over the first operand; False, and nothing is written, where it has to
        be made first."""
        target, *others = buffers
        if self._name not in _INTO or self._plan.result.storage != target.dtype:
            return False
        if any(x is not target and np.may_share_memory(target, x) for x in others):
            return False
        if not loops.is_target(target) or loops.common_shape(buffers) != target.shape:
            return False
        plan = self._loop(self._name)
        if (plan is None and not self._is_plain) or loops.may_raise():
            return False
        if plan is not None:
            plan.run_into(buffers, target)
        elif self._kernel is not None:
            with told.at_the_program():
                self._kernel(*buffers, out=target)
        return True

    @cached_property
    def _is_plain(self) -> bool:
        """Whether NumPy's ufunc does all of it."""
        dtypes = *self._held, *self._plan.inputs, self._plan.result
        return isinstance(self._kernel, np.ufunc) and {*dtypes} == {self._compute}

    def _by_loop(self, buffers: tuple[Buffer, ...], options: dict[str, Any]) -> Any:
        """The result of one loop."""
        asks = self._name in loops.ASKING
        if options and not asks:
            return None
        name = loops.loop_name(self._name, buffers, options) if asks else self._name
        plan = self._loop(name) if name else None
        if plan is None:
            return None
        condition = options.get("condition")
        return plan.attempt(buffers if condition is None else (condition, *buffers))

    def _by_exponent(self, buffers: tuple[Buffer, ...], _: dict[str, Any]) -> Any:
        """A power by one exponent in a loop of its base."""
        base, _exponent = buffers
        name = exponents.loop_of(self._name, *buffers)
        plan = self._base_loop(name) if name else None
        return plan and plan.attempt((base,))

    def _base_loop(self, name: str) -> loops.LoopPlan | None:
        try:
            return self._loops[name]
        except KeyError:
            of_base = self._plan._replace(inputs=self._plan.inputs[:1])
            found = loops.loop_plan(name, self._held[:1], of_base, self._casts, ours=True)
            return self._loops.setdefault(name, found)

    def _as_numpy(self, buffers: tuple[Buffer, ...], options: dict[str, Any]) -> Any:
        """The powers of which NumPy's own loops have no shortcut; between casts there are blocks,
        the last of which may hold one exponent alone."""
        x, y = buffers
        if not exponents.is_as_numpy(x, y) or (self._casts_inputs and y.size > 1):
            return None
        return self._power(*buffers, **options)

    @cached_property
    def _power(self) -> Compiled:
        return Compiled("pow", self._held, self._plan, self._casts, self._linalg)

    def _loop(self, name: str) -> loops.LoopPlan | None:
        try:
            return self._loops[name]
        except KeyError:
            ours = is_variant(self._name)
            found = loops.loop_plan(name, self._held, self._plan, self._casts, ours=ours)
            return self._loops.setdefault(name, found)

    @cached_property
    def _blocks(self) -> BlockPlan | CodeTable | None:
        if not is_elementwise(self._name):
            return None
        from promoarray.backends.numpy.blocks import block_plan

        found = block_plan(self._name, self._held, self._plan, self._casts)
        if found is None:
            return None
        from promoarray.backends.numpy import code_tables

        return code_tables.with_table(found, self._held)

    @cached_property
    def _folds(self) -> FoldPlan | None:
        if is_elementwise(self._name):
            return None
        from promoarray.backends.numpy.folds import NAMES, fold_plan

        if self._name not in NAMES:
            return None
        return fold_plan(self._name, self._held[0], self._plan, self._casts)

    @cached_property
    def _positions(self) -> PositionPlan | None:
        if self._name not in POSITIONS:
            return None
        from promoarray.backends.numpy.positions import position_plan

        return position_plan(self._name, self._held[0], self._plan, self._casts)

    @cached_property
    def _gaps(self) -> loops.LoopPlan | BlockPlan | None:
        """How differences are taken in a loop or in blocks: those of bools are none."""
        if self._name != "diff" or self._compute is dt.bool:
            return None
        of_two = self._plan._replace(inputs=self._plan.inputs * 2)
        way = self._held * 2, of_two, self._casts
        loop = loops.loop_plan("subtract", *way, ours=False)
        if loop is not None:
            return loop
        from promoarray.backends.numpy.blocks import block_plan

        return block_plan("subtract", *way)

    def _chain(self, *dtypes: DType) -> Cast | None:
        """The casts from each dtype to the next as one; None if there are none."""
        found = [caster(a, b, *self._casts(a, b)) for a, b in pairwise(dtypes) if a is not b]
        if len(found) < 2:
            return found[0] if found else None

        def run(buffer: Buffer) -> Buffer:
            for cast in found:
                buffer = cast(buffer)
            return buffer

        return run


def _in_threads(kernel: Any, *operands: Buffer) -> Buffer | None:
    """The result of a ufunc of long operands, part by part; None where it is to be called once."""
    from promoarray.backends.numpy import parts

    return parts.run(kernel, *operands)


def _has_no_loop(error: TypeError) -> bool:
    """Whether a ufunc found no loop for its operands: by the class of the error, which NumPy does
    not export."""
    return any(kind.__name__ == "UFuncTypeError" for kind in type(error).__mro__)


_INTO = frozenset({"add", "subtract", "multiply", "divide"}) | {
    f"bitwise_{name}" for name in ("and", "or", "xor", "left_shift", "right_shift")
}
"""What may write its result over an operand: no error stops it half way."""
