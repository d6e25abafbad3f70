"""A kernel between casts of ours, called from C++ on short NumPy buffers."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends.numpy import exponents, loops
from promoarray.backends.numpy.cast import manner_of
from promoarray.backends.numpy.compile import Compiled
from promoarray.backends.numpy.kernels import POSITIONS, is_elementwise, kernel_of
from promoarray.backends.numpy.told import telling
from promoarray.dtypes import BY_STORAGE, INEXACT, DType, Kind
from promoarray.kernels.cast_mode import DEFAULT

if TYPE_CHECKING:
    from promoarray.backends.numpy import programs
    from promoarray.promotion.plan import Plan

Buffer = np.ndarray[Any, Any]

FEW = 1 << 15
"""Elements of what is reduced to one, or pairs where each of one operand meets each of another."""


def between_casts(
    name: str,
    kernel: Any,
    held: tuple[DType, ...],
    plan: Plan,
    made: DType,
    casts: loops.Casts,
    first: tuple[int, str, Any, Any] | None = None,
    program: programs.Written | None = None,
) -> Callable[..., Any] | None:
    """A kernel between casts of ours; None if no kernel makes one of them, or there is no loop.

    ``first`` is what is done to an operand before, as ``CastingKernel`` takes it, ``program`` what
    the kernel is where nothing in its name says so.
    """
    common = plan.compute or plan.inputs[0]
    inputs, count = plan.inputs, len(held)
    if not _BOOL.isdisjoint(inputs):
        inputs = tuple([_entered(*pair, casts) for pair in zip(held, inputs, strict=True)])
    sources, targets = (*held, *inputs, made), (*inputs, *(common,) * count, plan.result)
    if not _STRING.isdisjoint((*sources, plan.result)):
        return None
    found = [_manner(*pair, casts) for pair in zip(sources, targets, strict=True)]
    modes = [manner for manner in found if manner is not None]
    if len(modes) < len(found):
        return None
    of_parts = common.kind is not Kind.COMPLEX and not _COMPLEX.isdisjoint(held)
    names = () if of_parts else _loops_of(name, common, count, made is not common)
    has_loop = names != ()
    if kernel is None and not has_loop:
        return None
    any_loop = has_loop and first is None and name not in exponents.LOOPS
    is_plain = name in loops.EXTREMES and {*held, *plan.inputs, made, plan.result} == {common}
    layouts: Any = _AnyLayout(name, names[-1], held, plan, casts) if any_loop else None
    return kernels.CastingKernel(
        (names if len(names) > 1 else name) if has_loop else kernel,
        (*map(kernels.dtype_args, (*held, *inputs, common, made, plan.result)),),
        (*modes,),
        common.storage,
        plan.result.storage,
        np.empty,
        np.empty_like,
        loops.watched,
        layouts,
        first,
        -1 if is_elementwise(name) else _longest(name, {*held, *inputs} == {common}),
        None if has_loop else program or _program(name, common, count, made),
        kernel if is_plain and any_loop else None,
    )


def _manner(source: DType, target: DType, casts: loops.Casts) -> kernels.Manner | None:
    return DEFAULT if source is target else manner_of(source, target, *casts(source, target))


@cache
def _loops_of(name: str, common: DType, count: int, tests: bool) -> tuple[str, ...]:
    """The loops that an operation goes by in a dtype; none where it takes other operands.

    Where broadcasting repeats operands there need not be any: that is left to the slower way.
    """
    names, row = loops.loop_names(name), kernels.dtype_args(common)
    first, *spread = [kernels.loop_of(each, row) for each in names]
    wanted = count, False, tests
    return names if first == wanted and {*spread} <= {wanted, None} else ()


def _longest(name: str, as_they_are: bool) -> int:
    """The elements up to which no fold of ours is asked for a reduction; -1 if none ever is. The
    kernels of positions say so themselves, of operands as they are."""
    from promoarray.backends.numpy.folds import FOLDED, LONG

    if name in POSITIONS and as_they_are:
        return sys.maxsize
    return LONG - 1 if name in FOLDED else -1


_COMPLEX = frozenset(dtype for dtype in BY_STORAGE.values() if dtype.kind is Kind.COMPLEX)
_BOOL, _STRING = frozenset({dt.bool}), frozenset({dt.string})


@cache
def _program(name: str, common: DType, count: int, made: DType) -> programs.Written | None:
    """What computes each element, without a call of Python's."""
    kernel = kernel_of(name, common) if is_elementwise(name) else None
    if kernel is None:
        return None
    from promoarray.backends.numpy.programs import written

    return written(kernel, common.storage, count, made.storage)


def _entered(source: DType, target: DType, casts: loops.Casts) -> DType:
    """What an operand becomes first: a bool of the real part alone is that of the part."""
    if target is not dt.bool or source.kind is not Kind.COMPLEX:
        return target
    from promoarray.promotion.cast_transforms import real_part_counts

    return source.part if casts(source, target)[1] == (real_part_counts,) else target


class _AnyLayout(NamedTuple):
    """What a ``CastingKernel`` asks when it meets a long operand, or one that is not in rows."""

    name: str
    loop: str
    held: tuple[DType, ...]
    plan: Plan
    casts: loops.Casts

    def __call__(self) -> tuple[Any, Any] | None:
        """How ``combine`` does the same."""
        found = loops.loop_plan(self.loop, self.held, self.plan, self.casts, ours=False)
        return found and found.arguments()

    def tell(self, met: loops.Met, result: Buffer, *operands: Buffer) -> bool:
        """Have NumPy tell of the exceptions that it met, if that takes a few elements alone."""
        made = Compiled(self.name, self.held, self.plan, self.casts)
        return made.tell(met, result, *operands)


def in_two_steps(
    held: tuple[DType, ...], plan: Plan, casts: loops.Casts
) -> Callable[..., Any] | None:
    """What a decomposition is, one loop after the other; None where one of them is none."""
    assert plan.decomposition is not None
    before, at, name = plan.decomposition
    common = plan.compute or plan.inputs[0]
    if kernels.loop_of(before, kernels.dtype_args(common)) != (1, False, False):
        return None
    ways = (common, plan.result), (plan.result, common)
    leave, widen = [_manner(*pair, casts) for pair in ways]
    if leave is None or widen is None:
        return None
    first = at, before, leave, widen
    return between_casts(name, None, held, plan, common, casts, first)


def of_each_element(
    name: str,
    kernel: Callable[..., Any] | None,
    held: tuple[DType, ...],
    plan: Plan,
    common: DType,
    casts: loops.Casts,
) -> Callable[..., Any] | None:
    """A function of each element by itself between casts: of longer operands it goes in blocks."""
    if not is_elementwise(name):
        return None
    from promoarray.backends.numpy.blocks import answer_of

    made = answer_of(kernel, (common,) * len(held))
    if made is None or common not in dt.NATIVE or name in loops.ASKING:
        return None
    if kernel is not None and common.kind in INEXACT:
        kernel = telling_once(kernel)
    return between_casts(name, kernel, held, plan, BY_STORAGE[made], casts)


telling_once = cache(telling)
"""Of the kernels that there are, which are few."""


@cache
def answer_in(kernel: Callable[..., Any], common: DType, count: int) -> DType | None:
    """What a function makes of buffers of a dtype that NumPy knows."""
    if common not in dt.NATIVE:
        return None
    with np.errstate(all="ignore"):
        return BY_STORAGE[np.asarray(kernel(*(np.ones(1, common.storage),) * count)).dtype]
