"""Plans made ready once for NumPy buffers: the casts of the operands, one kernel, the cast of its
result.

Where C++ makes the casts, `kernels.CastingKernel` does all of it: of each element by a traced
kernel, block by block, else by a function of whole arrays. What it is not made for is carried out
here, step by step."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends import step_by_step
from promoarray.backends.numpy import fp_warnings
from promoarray.backends.numpy.cast import Casts, manner_of
from promoarray.backends.numpy.kernels import (
    MOVING,
    asks_shapes,
    clip_of,
    is_elementwise,
    kernel_of,
)
from promoarray.dtypes import BY_STORAGE, INEXACT, DType, Kind
from promoarray.kernels.cast_mode import DEFAULT, Beyond
from promoarray.once import cached_property

if TYPE_CHECKING:
    from promoarray.promotion.plan import Plan

Buffer = np.ndarray[Any, Any]
Kernel = Callable[..., Any]


class Compiled:
    """All of a plan over NumPy buffers that hold certain dtypes: casts, kernel, casts.

    Called with the buffers and the operation's options it gives the buffer of the result, or a
    tuple of them where the operation has several.

    Attributes
    ----------
    kernel : callable
        The same as C++ calls it: a ufunc, a `CastingKernel`, or this. It answers None where this is
        to be asked.
    """

    def __init__(
        self,
        name: str,
        held: tuple[DType, ...],
        plan: Plan,
        casts: Casts,
        backend: Any,
        bounds: dict[str, bool],
    ) -> None:
        self._name, self._held, self._plan, self._casts = name, held, plan, casts
        self._compute = plan.compute or plan.inputs[0]
        self._backend, self._bounds = backend, bounds

    def __call__(self, *buffers: Buffer, **options: Any) -> Any:
        if self._bounds:  # which the kernel has
            options = {}
        if isinstance(self.kernel, np.ufunc):
            return np.asarray(_telling(self.kernel)(*buffers, **options))
        out = self.kernel(*buffers, **options)
        if out is None:
            out = self._step_by_step(*buffers, **options)
        return out if type(out) in (np.ndarray, tuple) else np.asarray(out)

    @cached_property
    def kernel(self) -> Kernel:
        """What C++ calls."""
        return self._fast_kernel() or self._step_by_step

    def _fast_kernel(self) -> Kernel | None:
        function, plan = self._function, self._plan
        if plan.extra_results:
            return None
        computed = tuple([plan.compute or dtype for dtype in plan.inputs])
        made = self._made(computed)
        if made is None:
            return None
        as_they_are = (*self._held, *plan.inputs) == (*computed, *computed) and plan.result is made
        if as_they_are and isinstance(function, np.ufunc):
            return function
        if self._name in OWN_LOOPS and (
            own := own_kernel(self._name, self._held, plan, self._casts)
        ):
            return own
        found = self._between_casts(function, computed, made)
        return self._telling(function) if as_they_are and not is_traced(found) else found

    def _made(self, computed: tuple[DType, ...]) -> DType | None:
        """What the kernel makes of what it is given; None where NumPy does not know that."""
        if self._name in MOVING:
            return computed[0] if len({*computed}) == 1 else None
        if not dt.NATIVE.issuperset(computed):
            return None
        storage = answer_of(self._function, computed)
        return None if storage is None else BY_STORAGE.get(storage)

    def _between_casts(
        self, function: Kernel, computed: tuple[DType, ...], made: DType
    ) -> Kernel | None:
        """A kernel that makes the casts in C++; None where one of them is none of its."""
        held, inputs, result = self._held, self._plan.inputs, self._plan.result
        if len(held) > MOST or not _STRING.isdisjoint((*held, *inputs, made, result)):
            return None
        inputs = tuple([self._entered(*pair) for pair in zip(held, inputs, strict=True)])
        sources, targets = (*held, *inputs, made), (*inputs, *computed, result)
        found = [_manner(*pair, self._casts) for pair in zip(sources, targets, strict=True)]
        manners = [manner for manner in found if manner is not None]
        if len(manners) < len(found):
            return None
        programs = self._programs(function, computed, made)
        return kernels.CastingKernel(
            None if programs else self._telling(function),
            (*map(kernels.dtype_args, (*held, *inputs, *computed, made, result)),),
            (*manners,),
            tuple([dtype.storage for dtype in computed]),
            result.storage,
            fp_warnings.report,
            programs,
        )

    def _programs(self, function: Kernel, computed: tuple[DType, ...], made: DType) -> Any:
        """The kernel as traced, for each way in which operands are repeated if it asks for that."""
        if not is_elementwise(self._name):
            return None
        from promoarray.backends.numpy.traced_kernels import traced

        storages = tuple([dtype.storage for dtype in computed])
        return traced(function, storages, made.storage, by_way=asks_shapes(self._name))

    def _entered(self, source: DType, target: DType) -> DType:
        """What an operand becomes first: a bool of the real part alone is that of the part."""
        if target is not dt.bool or source.kind is not Kind.COMPLEX:
            return target
        from promoarray.promotion.cast_transforms import real_part_counts

        return source.part if self._casts(source, target)[1] == (real_part_counts,) else target

    def _telling(self, function: Kernel) -> Kernel:
        """A function whose warnings name the line of the program, if it may warn."""
        quiet = self._name in MOVING or self._compute.kind not in INEXACT
        return function if quiet or isinstance(function, np.ufunc) else _telling(function)

    # --- Step by step ----------------------------------------------------------------------------

    @cached_property
    def _step_by_step(self) -> Kernel:
        """The casts, the kernel, and the cast of its result, one after the other."""
        given = self._backend, self._name, self._held, self._plan, self._casts

        def run(*buffers: Buffer, **options: Any) -> Any:
            return step_by_step.run(*given, buffers, **(self._bounds or options))

        return fp_warnings.telling(run)

    @cached_property
    def _function(self) -> Kernel:
        if not self._bounds:
            return kernel_of(self._name, self._compute)
        return bounded(self._name, self._compute, **self._bounds)

    # --- In place --------------------------------------------------------------------------------

    def into(self, buffers: tuple[Buffer, ...]) -> bool:
        """Write the result over the first operand; False, and nothing is written, where it has to
        be made first."""
        target, *others = buffers
        if self._name not in _INTO or self._plan.result.storage != target.dtype:
            return False
        if any(x is not target and np.may_share_memory(target, x) for x in others):
            return False
        if (
            not is_target(target)
            or common_shape(buffers) != target.shape
            or fp_warnings.may_raise()
        ):
            return False
        if isinstance(self.kernel, np.ufunc):
            _telling(self.kernel)(*buffers, out=target)
            return True
        if not isinstance(self.kernel, kernels.CastingKernel) or not is_elementwise(self._name):
            return False
        return self.kernel(*buffers, target) is not None


@cache
def bounded(name: str, compute: DType, low: bool, high: bool) -> Kernel:
    """A kernel of ``clip`` with the bounds that there are: one for all policies."""
    if name == "clip":
        return clip_of(low, high)
    return partial(kernel_of(name, compute), low=low, high=high)


MOST = 3
"""Operands of a `CastingKernel`."""

_STRING = frozenset({dt.string})


def is_traced(kernel: Any) -> bool:
    """Whether a kernel goes over each element in C++."""
    return isinstance(kernel, kernels.CastingKernel) and kernel.programs is not None


_INTO = frozenset({"add", "subtract", "multiply", "divide"}) | {
    f"bitwise_{name}" for name in ("and", "or", "xor", "left_shift", "right_shift")
}
"""What may write its result over an operand: no error stops it half way."""


def common_shape(operands: tuple[Buffer, ...]) -> tuple[int, ...] | None:
    """The shape that operands broadcast to; None where they do not."""
    try:
        found: tuple[int, ...] = np.broadcast_shapes(*(x.shape for x in operands))
    except ValueError:
        return None
    return found


def is_target(x: Buffer) -> bool:
    """Whether a loop may write over an operand: into elements that lie apart."""
    if not (x.flags.writeable and x.flags.aligned):
        return False
    end = x.itemsize
    for stride, length in sorted((abs(s), n) for s, n in zip(x.strides, x.shape, strict=True)):
        if length > 1:
            if stride < end:
                return False
            end += stride * (length - 1)
    return True


def _manner(source: DType, target: DType, casts: Casts) -> kernels.Manner | None:
    return DEFAULT if source is target else manner_of(source, target, *casts(source, target))


CLIPS = frozenset({"clip", "checked_clip", "clip_beyond", "clip_up_to", "clip_signed_zeros"}) | {
    "low_bound_last"
}
"""The kernels that take bounds."""


@cache
def answer_of(kernel: Kernel, dtypes: tuple[DType, ...]) -> np.dtype[Any] | None:
    """What NumPy stores the result of a kernel in; None where it has none of these dtypes."""
    try:
        if isinstance(kernel, np.ufunc) and kernel.nin == len(dtypes):
            *_, answer = kernel.resolve_dtypes((*(dtype.storage for dtype in dtypes), None))
            return answer
        with np.errstate(all="ignore"):
            return np.asarray(kernel(*[np.ones(1, dtype.storage) for dtype in dtypes])).dtype
    except (TypeError, ValueError, LookupError):  # such as of what wants more axes, or options
        return None


_telling = cache(fp_warnings.telling)
"""Of the kernels that there are, which are few."""


# --- Floats of 16 bits ----------------------------------------------------------------------------

OWN_LOOPS: dict[str, tuple[str, tuple[int, ...]]] = {
    **{name: (name, (0, 1)) for name in ("add", "subtract", "multiply", "divide")},
    **{name: (name, (0, 1)) for name in ("maximum", "minimum", "equal", "not_equal")},
    **{name: (name, (0, 1)) for name in ("less", "less_equal")},
    "greater": ("less", (1, 0)),
    "greater_equal": ("less_equal", (1, 0)),
    "abs": ("abs", (0,)),
    "negative": ("negative", (0,)),
}
"""The loops of ``kernels/cpu/arithmetic.cpp``, and the order in which they take operands."""


def own_kernel(name: str, held: tuple[DType, ...], plan: Plan, casts: Casts) -> Kernel | None:
    """An operation on floats of 16 bits that is computed in float32 and only rounded, in one loop
    of ours; None of any other."""
    loop, order = OWN_LOOPS[name]
    dtype, result = held[0], plan.result
    if dtype.kind is not Kind.FLOAT or dtype.bits != 16 or {*held, *plan.inputs} != {dtype}:
        return None
    row = kernels.dtype_args(dtype)
    known = kernels.loop_of(loop, row)
    if plan.compute is not dt.float32 or known is None or plan.decomposition is not None:
        return None
    if result is not (dt.bool if known[1] else dtype):
        return None
    enter, leave = casts(dtype, dt.float32), casts(dt.float32, dtype)
    plain = not enter[1] and enter[0].keep_nan_sign
    if not plain or (not known[1] and not (not leave[1] and _rounds(leave[0]))):
        return None
    count = len(held)
    places = (*((slot, 0) for slot in order), (count, 0))
    lengths = (*(2,) * count, 1 if known[1] else 2)
    program = lengths, (), (((loop, row), places, kernel_name(name)),), False
    return kernels.CastingKernel(
        None,
        (*(row,) * (3 * count), *(kernels.dtype_args(result),) * 2),
        (DEFAULT,) * (2 * count + 1),
        (dtype.storage,) * count,
        result.storage,
        fp_warnings.report,
        (program,),
    )


def kernel_name(name: str) -> str:
    """NumPy's name of a standard operation, as its warnings have it."""
    return str(getattr(kernel_of(name, dt.float32), "__name__", name))


def _rounds(mode: kernels.CastMode) -> bool:
    """Whether a cast to 16 bits only rounds."""
    return mode.overflow is mode.infinity is Beyond.INF and mode.keep_nan_sign
