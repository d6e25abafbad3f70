"""Plans made ready once for NumPy buffers: kernel, casts, and the blocks of long operands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends.numpy import blocks, products
from promoarray.backends.numpy.cast import WIDENING, caster
from promoarray.backends.numpy.kernels import kernel_of
from promoarray.dtypes import BY_STORAGE, DType, Kind
from promoarray.kernels.cast_mode import DEFAULT
from promoarray.once import made_once

if TYPE_CHECKING:
    from promoarray.promotion.plan import Plan

Buffer = np.ndarray[Any, Any]
Cast = Callable[[Buffer], Buffer]


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
        casts: blocks.Casts,
        linalg: Callable[..., Any],
    ) -> None:
        self._linalg = linalg
        self._name, self._held, self._plan, self._casts = name, held, plan, casts
        computed = [plan.compute or dtype for dtype in plan.inputs]
        ways = zip(held, plan.inputs, computed, strict=True)
        self._inputs = [self._chain(*way) for way in ways]
        self._kernel = kernel_of(name, computed[0])
        self._compute = computed[0]
        self._outputs: dict[tuple[int, Any], Cast | None] = {}
        self._last: tuple[Any, Cast | None] = None, None
        self._casts_inputs = any(cast is not None for cast in self._inputs)
        self._in_parts = products.IN_PARTS.get(self._kernel) if self._casts_inputs else None

    def __call__(self, *buffers: Buffer, **options: Any) -> Any:
        if not options and self._blocks is not None:
            out = blocks.run(self._blocks, buffers)
            if out is not None:
                return out
        if self._in_parts is not None:
            storage = self._plan.result.storage, self._compute.storage
            finish = partial(self._stored, 0)
            out = self._in_parts(buffers, self._inputs, finish, *storage, **options)
            if out is not None:
                return out
        values: Sequence[Buffer] = buffers
        if self._casts_inputs:
            values = [
                buffer if cast is None else cast(buffer)
                for cast, buffer in zip(self._inputs, buffers, strict=True)
            ]
        if self._kernel is None:
            return self._of_linalg(values, options)
        try:
            out = self._kernel(*values, **options)
        except TypeError as error:
            if not _has_no_loop(error):
                raise
            lacking = f"there is no kernel for {self._name} of {self._compute.name}"
            raise TypeError(lacking) from None
        if self._plan.extra_results:
            return tuple(self._stored(i, np.asarray(each)) for i, each in enumerate(out))
        return self._stored(0, out if type(out) is np.ndarray else np.asarray(out))

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

    @made_once
    def _blocks(self) -> blocks.BlockPlan | None:
        return blocks.block_plan(self._name, self._held, self._plan, self._casts)

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
    name: str, held: tuple[DType, ...], plan: Plan, casts: blocks.Casts
) -> Callable[..., Any] | None:
    """What does all of a plan on short operands, if something does: a ufunc that answers in the
    dtype of the result, its operands widened by NumPy's own casts, or one between casts of ours."""
    common = plan.compute or plan.inputs[0]
    if len(held) > 2 or any(dtype is not plan.inputs[0] for dtype in plan.inputs):
        return None
    kernel = kernel_of(name, common)
    if name in _OF_ITS_DTYPE:
        if name == "mean" and common.kind is not Kind.FLOAT:
            return None
        if all(dtype is common is plan.result for dtype in (*held, *plan.inputs)):
            return kernel
        known = kernel is not None and common in dt.NATIVE and common.kind is Kind.FLOAT
        return _between_casts(name, kernel, held, plan, common, casts) if known else None
    if not isinstance(kernel, np.ufunc) or kernel.signature is not None:
        return None
    try:
        *_, answers = kernel.resolve_dtypes((*(common.storage for _ in held), None))
    except TypeError:
        return None
    plain = plan.inputs[0] is common and all(_widens(d, common, casts) for d in held)
    if plain and answers == plan.result.storage:
        return kernel
    made = BY_STORAGE[answers]
    return None if kernel.nout > 1 else _between_casts(name, kernel, held, plan, made, casts)


_OF_ITS_DTYPE = frozenset({"sum", "prod", "max", "min", "mean", "where", "concat"})
"""Kernels with options that answer in the dtype of their buffers: ``mean`` of floats."""


def _between_casts(
    name: str,
    kernel: Any,
    held: tuple[DType, ...],
    plan: Plan,
    made: DType,
    casts: blocks.Casts,
) -> Callable[..., Any] | None:
    """A kernel between casts of ours; None if one has a second step, or there is no loop."""
    entered, common = plan.inputs[0], plan.compute or plan.inputs[0]
    dtypes = (*held, entered, common, made, plan.result)
    if any(dtype.kind not in _REAL for dtype in dtypes):
        return None
    pairs = (*((dtype, entered) for dtype in held), (entered, common), (made, plan.result))
    found = [casts(a, b) if a is not b else (DEFAULT, ()) for a, b in pairs]
    if any(transforms for _, transforms in found):
        return None
    has_loop = common is made and common in blocks.LOOPS.get(name, ()) and len(held) == 2
    return kernels.CastingKernel(
        name if has_loop else kernel,
        tuple(kernels.dtype_args(dtype) for dtype in dtypes),
        tuple(mode for mode, _ in found),
        common.storage,
        plan.result.storage,
        np.empty,
    )


_REAL = frozenset({Kind.BOOL, Kind.INT, Kind.UINT, Kind.FLOAT})


def _widens(source: DType, target: DType, casts: blocks.Casts) -> bool:
    """Whether NumPy's own cast is the policy's."""
    if source is target:
        return True
    pair = source, target
    if pair == (dt.float32, dt.complex128) or source is dt.float16:  # NumPy keeps NaN's payload
        return False
    return pair in WIDENING and not casts(*pair)[1]
