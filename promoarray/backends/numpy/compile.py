"""Plans made ready once for NumPy buffers: the casts of the operands, one kernel, the cast of its
result.

Where C++ makes the casts, `kernels.CastingKernel` does all of it: of each element by the loop of a
ufunc, block by block, else by a function of whole arrays. What it is not made for is carried out
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
from promoarray.backends.numpy.cast import Casts
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
        return self._telling(function) if as_they_are and not has_loop(found) else found

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
        found = [_mode(*pair, self._casts) for pair in zip(sources, targets, strict=True)]
        modes = [mode for mode in found if mode is not None]
        if len(modes) < len(found):
            return None
        storages = tuple([dtype.storage for dtype in computed])
        loop = loop_of_ufunc(function, storages, made.storage)
        return kernels.CastingKernel(
            None if loop else self._telling(function),
            (*map(kernels.dtype_args, (*held, *inputs, *computed, made, result)),),
            (*modes,),
            storages,
            result.storage,
            fp_warnings.report,
            loop,
        )

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
            run: Any = partial(step_by_step.run, *given, **(self._bounds or options))
            if not self._goes_by_parts(buffers):
                return run(buffers)
            return _by_parts(run, buffers, self._plan.result.storage)

        return fp_warnings.telling(run)

    def _goes_by_parts(self, buffers: tuple[Buffer, ...]) -> bool:
        """Whether many elements are computed some at a time, so that what lies between the steps
        stays in a cache; not where a kernel asks which operands broadcasting repeats."""
        if max(x.size for x in buffers) <= PART or not is_elementwise(self._name):
            return False
        alike = len({x.shape for x in buffers}) == 1
        return not asks_shapes(self._name) or (alike and not any(0 in x.strides for x in buffers))

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
        if not has_loop(self.kernel):
            return False
        return self.kernel(*buffers, target) is not None


PART = 1 << 14
"""Elements at a time of what is computed step by step."""


def _by_parts(run: Kernel, buffers: tuple[Buffer, ...], storage: np.dtype[Any]) -> Buffer:
    """What a function of buffers makes of each element, in rows of some of them; what stands for
    all elements stays one."""
    ndim = max(x.ndim for x in buffers)
    single = [x.size == 1 and x.ndim < ndim for x in buffers]
    rows = [x for x, is_one in zip(buffers, single, strict=True) if not is_one]
    nditer: Any = np.nditer  # whose stubs know fewer forms of its arguments
    parts = nditer(
        [*rows, None],
        ["external_loop", "buffered"],
        [*[["readonly"]] * len(rows), ["writeonly", "allocate"]],
        [*[x.dtype for x in rows], storage],
        buffersize=PART,
    )
    with fp_warnings.once(), parts:
        for *given, out in parts:
            some = iter(given)
            each = zip(buffers, single, strict=True)
            out[...] = run([x.reshape(()) if is_one else next(some) for x, is_one in each])
        made: Buffer = parts.operands[-1]
    return made


@cache
def bounded(name: str, compute: DType, low: bool, high: bool) -> Kernel:
    """A kernel of ``clip`` with the bounds that there are: one for all policies."""
    if name == "clip":
        return clip_of(low, high)
    return partial(kernel_of(name, compute), low=low, high=high)


MOST = 3
"""Operands of a `CastingKernel`."""

_STRING = frozenset({dt.string})


def has_loop(kernel: Any) -> bool:
    """Whether a kernel goes over each element in C++."""
    return isinstance(kernel, kernels.CastingKernel) and kernel.loop is not None


def loop_of_ufunc(
    ufunc: Kernel, storages: tuple[np.dtype[Any], ...], made: np.dtype[Any]
) -> tuple[Any, str, bool] | None:
    """The inner loop of a ufunc of NumPy's that takes these dtypes and makes one, as a
    `CastingKernel` takes it; None where there is none."""
    if not isinstance(ufunc, np.ufunc) or ufunc.nout != 1 or ufunc.signature is not None:
        return None
    if ufunc.nin != len(storages) or not all(kind.isbuiltin == 1 for kind in (*storages, made)):
        return None
    kinds, loop = ufunc._resolve_dtypes_and_context((*storages, None))  # type: ignore[attr-defined]
    if kinds != (*storages, made):
        return None
    ufunc._get_strided_loop(loop)  # type: ignore[attr-defined]
    # A power of integers may raise an error, which threads without the lock cannot.
    return loop, ufunc.__name__, ufunc is np.power and made.kind in "iu"


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


def _mode(source: DType, target: DType, casts: Casts) -> kernels.CastMode | None:
    """The mode of a cast; None of one that transforms codes, which no loop makes."""
    mode, transforms = (DEFAULT, ()) if source is target else casts(source, target)
    return None if transforms else mode


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

_OWN = """
add subtract multiply divide maximum minimum abs negative
equal not_equal less less_equal greater greater_equal
"""
OWN_LOOPS = frozenset(_OWN.split())
"""The loops of ``kernels/cpu/arithmetic.cpp``."""


def own_kernel(name: str, held: tuple[DType, ...], plan: Plan, casts: Casts) -> Kernel | None:
    """An operation on floats of 16 bits that is computed in float32 and only rounded, in one loop
    of ours; None of any other."""
    dtype, result = held[0], plan.result
    if dtype.kind is not Kind.FLOAT or dtype.bits != 16 or {*held, *plan.inputs} != {dtype}:
        return None
    row = kernels.dtype_args(dtype)
    known = kernels.loop_of(name, row)
    if plan.compute is not dt.float32 or known is None or plan.decomposition is not None:
        return None
    if result is not (dt.bool if known[1] else dtype):
        return None
    enter, leave = casts(dtype, dt.float32), casts(dt.float32, dtype)
    plain = not enter[1] and enter[0].keep_nan_sign
    if not plain or (not known[1] and not (not leave[1] and _rounds(leave[0]))):
        return None
    count = len(held)
    return kernels.CastingKernel(
        None,
        (*(row,) * (3 * count), *(kernels.dtype_args(result),) * 2),
        (DEFAULT,) * (2 * count + 1),
        (dtype.storage,) * count,
        result.storage,
        fp_warnings.report,
        ((name, row), kernel_name(name), False),
    )


def kernel_name(name: str) -> str:
    """NumPy's name of a standard operation, as its warnings have it."""
    return str(getattr(kernel_of(name, dt.float32), "__name__", name))


def _rounds(mode: kernels.CastMode) -> bool:
    """Whether a cast to 16 bits only rounds."""
    return mode.overflow is mode.infinity is Beyond.INF and mode.keep_nan_sign
