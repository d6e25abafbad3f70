"""Plans made ready once for NumPy buffers: kernel, casts, and the blocks of long operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends.numpy import (
    blocks,
    code_tables,
    folds,
    loops,
    parts,
    positions,
    products,
    searching,
    told,
)
from promoarray.backends.numpy.cast import caster, widens
from promoarray.backends.numpy.kernels import (
    ELEMENTWISE,
    OF_ONE_CALL,
    VARIANTS,
    kernel_of,
    neighbours,
)
from promoarray.dtypes import BY_STORAGE, DType, Kind
from promoarray.kernels.cast_mode import DEFAULT
from promoarray.kernels.portable import complexes
from promoarray.once import made_once

if TYPE_CHECKING:
    from promoarray.promotion.plan import Plan

Buffer = np.ndarray[Any, Any]
Cast = Callable[[Buffer], Buffer]
Way = Callable[[tuple[Buffer, ...], dict[str, Any]], Any]

IN_PARTS = {**products.IN_PARTS, **searching.IN_PARTS}
"""How a kernel goes part by part where its operands are cast."""

_OF_LINES = folds.NAMES | positions.FINDERS.keys() | {"diff"}
"""What is made along axes."""


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
        linalg: Callable[..., Any],
    ) -> None:
        self._linalg = linalg
        self._name, self._held, self._plan, self._casts = name, held, plan, casts
        self._compute = plan.compute or plan.inputs[0]
        self._outputs: dict[tuple[int, Any], Cast | None] = {}
        self._last: tuple[Any, Cast | None] = None, None
        self._loops: dict[str, loops.LoopPlan | None] = {}

    def __call__(self, *buffers: Buffer, **options: Any) -> Any:
        for way in self._ways:
            out = way(buffers, options)
            if out is not None:
                return out
        raise AssertionError("the last way goes with all operands")

    @made_once
    def _inputs(self) -> list[Cast | None]:
        """The casts of each operand to what is computed in."""
        ways = zip(self._held, self._plan.inputs, strict=True)
        return [self._chain(held, to, self._plan.compute or to) for held, to in ways]

    @made_once
    def _casts_inputs(self) -> bool:
        return any(cast is not None for cast in self._inputs)

    @made_once
    def _kernel(self) -> Callable[..., Any] | None:
        return kernel_of(self._name, self._compute)

    @made_once
    def _ways(self) -> tuple[Way, ...]:
        """What the plan may go by, the quickest first: each answers None where the operands do not
        lie so, or are too short for it."""
        ways: list[Way] = []
        if self._name in loops.ASKING or self._loop(self._name) is not None:
            ways.append(self._by_loop)
        if self._blocks is not None:
            ways.append(self._blocks.run)
        if self._name in _OF_LINES:
            ways.append(self._of_lines)
        if self._casts_inputs and self._kernel in IN_PARTS:
            ways.append(self._in_parts)
        return *ways, self._whole

    def _in_parts(self, buffers: Sequence[Buffer], options: dict[str, Any]) -> Buffer | None:
        """A product, or a search, whose operands are cast part by part."""
        in_parts = IN_PARTS[self._kernel]
        storage = self._plan.result.storage, self._compute.storage
        out: Buffer | None = in_parts(
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
            out = None if options else parts.run(self._kernel, *values)
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
            out = folds.run(self._folds, *buffers, **options)
            return out if out is None or self._folds.runs else self._stored(0, out)
        if self._positions is not None:
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
        found = self._linalg(self._name, tuple(values), self._compute, **options)
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

    @made_once
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
        return plan.run(buffers if condition is None else (condition, *buffers))

    def _loop(self, name: str) -> loops.LoopPlan | None:
        try:
            return self._loops[name]
        except KeyError:
            ours = self._name in VARIANTS
            found = loops.loop_plan(name, self._held, self._plan, self._casts, ours=ours)
            return self._loops.setdefault(name, found)

    @made_once
    def _blocks(self) -> blocks.BlockPlan | code_tables.CodeTable | None:
        found = blocks.block_plan(self._name, self._held, self._plan, self._casts)
        return found and code_tables.with_table(found, self._held)

    @made_once
    def _folds(self) -> folds.FoldPlan | None:
        if self._name not in folds.NAMES:
            return None
        return folds.fold_plan(self._name, self._held[0], self._plan, self._casts)

    @made_once
    def _positions(self) -> positions.PositionPlan | None:
        if self._name not in positions.FINDERS:
            return None
        return positions.position_plan(self._name, self._held[0], self._plan, self._casts)

    @made_once
    def _gaps(self) -> loops.LoopPlan | blocks.BlockPlan | None:
        """How differences are taken in a loop or in blocks: those of bools are none."""
        if self._name != "diff" or self._compute is dt.bool:
            return None
        of_two = self._plan._replace(inputs=self._plan.inputs * 2)
        way = self._held * 2, of_two, self._casts
        return loops.loop_plan("subtract", *way, ours=False) or blocks.block_plan("subtract", *way)

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


def _has_no_loop(error: TypeError) -> bool:
    """Whether a ufunc found no loop for its operands: by the class of the error, which NumPy does
    not export."""
    return any(kind.__name__ == "UFuncTypeError" for kind in type(error).__mro__)


def short_kernel(
    name: str, held: tuple[DType, ...], plan: Plan, casts: loops.Casts
) -> Callable[..., Any] | None:
    """What does all of a plan on short operands, if something does: a ufunc that answers in the
    dtype of the result, its operands widened by NumPy's own casts, or one between casts of ours.
    """
    common = plan.compute or plan.inputs[0]
    if len(held) > 2 or (plan.compute is None and {*plan.inputs} != {common}):
        return None
    if plan.decomposition is not None:
        return _in_two_steps(held, plan, casts)
    kernel = kernel_of(name, common)
    if name in _OF_ITS_DTYPE:
        if {*plan.inputs} != {plan.inputs[0]}:
            return None
        if name == "mean" and common.kind is not Kind.FLOAT:
            return None
        if all(dtype is common is plan.result for dtype in (*held, *plan.inputs)):
            return kernel
        known = kernel is not None and common in dt.NATIVE and common.kind in _WITHOUT_PARTS
        return _between_casts(name, kernel, held, plan, common, casts) if known else None
    if name in VARIANTS or (common.kind is Kind.COMPLEX and name in complexes.KERNELS):
        found = _between_casts(name, None, held, plan, common, casts)
        return found or _of_short(name, kernel, held, plan, common, casts)
    if name in _OF_ONE_ARRAY and kernel is not None and not isinstance(kernel, np.ufunc):
        return _of_one_array(name, kernel, held, plan, common, casts)
    if not isinstance(kernel, np.ufunc):
        return None
    if kernel.signature is not None:  # a product of NumPy's, if it is all
        return kernel if {*held, *plan.inputs, plan.result} == {common} else None
    try:
        *_, answers = kernel.resolve_dtypes((*(common.storage for _ in held), None))
    except TypeError:
        return None
    plain = {*plan.inputs} == {common} and answers == plan.result.storage
    if kernel.nout > 1:
        return kernel if plain and all(_widens(d, common, casts) for d in held) else None
    if plain and {*held} == {common} and not loops.is_slow_in_numpy(name, common):
        return kernel
    found = _between_casts(name, kernel, held, plan, BY_STORAGE[answers], casts)
    if plain and all(_widens(d, common, casts) for d in held):
        has_loop = loops.loop_plan(name, held, plan, casts, ours=False) is not None
        return found if has_loop and found is not None else kernel
    return found


_OF_ITS_DTYPE = frozenset({"sum", "prod", "max", "min", "mean", "where", "concat"})
"""Kernels with options that answer in the dtype of their buffers: ``mean`` of floats."""


def _of_short(
    name: str,
    kernel: Callable[..., Any] | None,
    held: tuple[DType, ...],
    plan: Plan,
    common: DType,
    casts: loops.Casts,
) -> Callable[..., Any] | None:
    """A function of each element by itself between casts: of longer operands it goes in blocks."""
    takes = name in ELEMENTWISE or name in complexes.KERNELS
    made = blocks.answer_of(kernel, [common for _ in held]) if takes else None
    if made is None or common not in dt.NATIVE or name in loops.ASKING:
        return None
    return _between_casts(name, kernel, held, plan, BY_STORAGE[made], casts)


_WITHOUT_PARTS = frozenset({Kind.INT, Kind.UINT, Kind.FLOAT})

_OF_ONE_ARRAY = OF_ONE_CALL | {"real", "imag", "any", "all", "argmax", "argmin"}
"""Functions of one array that answer in a dtype of their own, not all of them ufuncs."""


def _of_one_array(
    name: str,
    kernel: Callable[..., Any],
    held: tuple[DType, ...],
    plan: Plan,
    common: DType,
    casts: loops.Casts,
) -> Callable[..., Any] | None:
    if common not in dt.NATIVE:
        return None
    answers = kernel(np.ones(1, common.storage)).dtype
    is_all = held[0] is plan.inputs[0] is common and answers == plan.result.storage
    if is_all and name not in positions.FINDERS:  # which have another way with long arrays
        return kernel
    return _between_casts(name, kernel, held, plan, BY_STORAGE[answers], casts)


def _between_casts(
    name: str,
    kernel: Any,
    held: tuple[DType, ...],
    plan: Plan,
    made: DType,
    casts: loops.Casts,
    first: tuple[int, str, Any, Any] | None = None,
) -> Callable[..., Any] | None:
    """A kernel between casts of ours; None if one has a second step, or there is no loop.

    ``first`` is what is done to an operand before, as ``CastingKernel`` takes it.
    """
    common = plan.compute or plan.inputs[0]
    dtypes = (*held, *plan.inputs, common, made, plan.result)
    if dt.string in dtypes:
        return None
    entered = ((dtype, common) for dtype in plan.inputs)
    pairs = (*zip(held, plan.inputs, strict=True), *entered, (made, plan.result))
    if any(a.kind is Kind.COMPLEX is not b.kind for a, b in pairs):
        return None
    found = [casts(a, b) if a is not b else (DEFAULT, ()) for a, b in pairs]
    if any(transforms for _, transforms in found):
        return None
    names = loops.loop_names(name)
    wanted = len(held), False, made is not common
    has_loop = all(kernels.loop_of(each, kernels.dtype_args(common)) == wanted for each in names)
    if kernel is None and not has_loop:
        return None
    any_loop = has_loop and first is None
    whole = loops.loop_plan(names[-1], held, plan, casts, ours=False) if any_loop else None
    return kernels.CastingKernel(
        (name if len(names) == 1 else names) if has_loop else kernel,
        tuple(kernels.dtype_args(dtype) for dtype in dtypes),
        tuple(mode for mode, _ in found),
        common.storage,
        plan.result.storage,
        np.empty,
        np.empty_like,
        loops.watched,
        whole and (whole.rows, whole.modes),
        first,
    )


def _in_two_steps(
    held: tuple[DType, ...], plan: Plan, casts: loops.Casts
) -> Callable[..., Any] | None:
    """What a decomposition is, one loop after the other; None where one of them is none."""
    assert plan.decomposition is not None
    before, at, name = plan.decomposition
    common = plan.compute or plan.inputs[0]
    if kernels.loop_of(before, kernels.dtype_args(common)) != (1, False, False):
        return None
    ways = (common, plan.result), (plan.result, common)
    found = [casts(a, b) if a is not b else (DEFAULT, ()) for a, b in ways]
    if any(transforms for _, transforms in found):
        return None
    (leave, _), (widen, _) = found
    first = at, before, leave, widen
    return _between_casts(name, None, held, plan, common, casts, first)


_INTO = frozenset({"add", "subtract", "multiply", "divide"}) | {
    f"bitwise_{name}" for name in ("and", "or", "xor", "left_shift", "right_shift")
}
"""What may write its result over an operand: no error stops it half way."""


def _widens(source: DType, target: DType, casts: loops.Casts) -> bool:
    """Whether NumPy's own cast is the policy's."""
    if source is target:
        return True
    pair = source, target
    if pair == (dt.float32, dt.complex128) or source is dt.float16:  # NumPy keeps NaN's payload
        return False
    return widens(*pair) and not casts(*pair)[1]
