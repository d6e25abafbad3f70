"""A whole plan over NumPy buffers in one loop of ours: the casts of the operands, the operation,
the cast of its result.

``kernels.combine`` goes through operands of every layout a few thousand elements at a time, so that
nothing is made but the result. It has what the machine does with an instruction or two, and what
single frameworks make of divisions and powers; the rest goes through NumPy's kernels, by
``blocks``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from math import prod
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends.numpy import told
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.kernels.cast_mode import DEFAULT, CastMode

if TYPE_CHECKING:
    from promoarray.promotion.plan import Plan

Buffer = np.ndarray[Any, Any]
Casts = Callable[[DType, DType], tuple[CastMode, tuple[Any, ...]]]


Met = tuple[tuple[int, int, int], ...]
"""Floating-point exceptions, and among which elements each was met, as ``kernels.combine`` says."""


def raised_by(met: Met) -> int:
    """The exceptions by NumPy's numbers."""
    return sum(exception for exception, *_ in met)


class Untold(NamedTuple):
    """A result, and exceptions on the way to it of which NumPy has to tell."""

    result: Buffer
    met: Met


class LoopPlan(NamedTuple):
    """What ``kernels.combine`` takes besides arrays, and what the result is stored in."""

    name: str
    rows: tuple[kernels.DTypeArgs, ...]
    modes: tuple[CastMode, ...]
    storage: np.dtype[Any]

    def arguments(self) -> tuple[tuple[kernels.DTypeArgs, ...], tuple[CastMode, ...]]:
        """How a ``CastingKernel`` goes by the same loop."""
        return self.rows, self.modes

    def run(self, operands: tuple[Buffer, ...], out: Buffer | None = None) -> Buffer | None:
        """The result, in memory that is there if any; None where NumPy has to be asked for it: it
        knows what to warn of, and what to say of shapes."""
        found = self.attempt(operands, out)
        return None if isinstance(found, Untold) else found

    def attempt(
        self, operands: tuple[Buffer, ...], out: Buffer | None = None
    ) -> Buffer | Untold | None:
        """The same, or the result with what NumPy has to tell of it."""
        shape = common_shape(operands)
        if shape is None:
            return None
        if out is None:
            out = empty_like(operands, shape, self.storage)
        met = kernels.combine(self.name, operands, out, self.rows, self.modes)
        wanted = raised_by(met) & watched() if met else 0
        if wanted & kernels.NOT_TOLD:
            return None
        return Untold(out, met) if wanted else out

    def run_into(self, operands: tuple[Buffer, ...], target: Buffer) -> None:
        """Write the result over an operand; what NumPy would warn of is told afterwards."""
        raised = raised_by(kernels.combine(self.name, operands, target, self.rows, self.modes))
        for bit, (_, what) in enumerate(_EXCEPTIONS):
            if raised & watched() & 1 << bit:
                told.warn(f"{what} encountered in {self.name}")


CLIPS = frozenset({"clip_beyond", "clip_up_to", "clip_signed_zeros", "low_bound_last"})
"""The kernels of ``clip`` that have loops, one for each of the bounds that there are."""


BY_SHAPE = {
    "reciprocal_divide": ("divide", "divide", "reciprocal_divide", "reciprocal_divide"),
    "selected_reciprocal": ("divide", "divide", "selected_reciprocal", "reciprocal_divide"),
    "first_selects": ("first_selects", "multiply", "first_selects", "multiply"),
    "second_selects": ("second_selects", "second_selects", "multiply", "multiply"),
    "float_divmod": ("float_divmod", "float_divmod", "float_divmod_spread", "float_divmod_spread"),
}
"""The loops of kernels that ask which operands broadcasting repeats: none, the first, the second,
both."""


ASKING = CLIPS | BY_SHAPE.keys() | {"clip", "where"}
"""What has a loop, or none, by its options or the shapes of its operands."""


def loop_names(name: str) -> tuple[str, ...]:
    """All loops that an operation of two operands may go by."""
    return BY_SHAPE.get(name, (name,))


def loop_name(name: str, operands: tuple[Buffer, ...], options: dict[str, Any]) -> str | None:
    """The loop of an operation that asks for options or shapes; None where there is none for such
    operands."""
    if name in BY_SHAPE:
        shape = common_shape(operands)
        if shape is None:
            return None
        first, second = (operand.size < prod(shape) for operand in operands)
        return BY_SHAPE[name][first + 2 * second]
    if name == "where":
        return name
    low, high = options.get("low", False), options.get("high", False)
    if not (low or high):
        return None
    if name in CLIPS:
        return name if low and high else f"{name}_{'low' if low else 'high'}"
    if name != "clip":
        return None
    if not (low and high):
        return "maximum" if low else "minimum"
    # np.clip leaves a zero that equals a bound, but takes that of an array of bounds.
    x, *bounds = operands
    if x.size > 1 and all(bound.size == 1 for bound in bounds):
        return "clip_beyond"
    return "clip_up_to" if all(bound.shape == x.shape for bound in bounds) else None


def common_shape(operands: tuple[Buffer, ...]) -> tuple[int, ...] | None:
    """The shape that operands broadcast to; None where they do not."""
    shape: tuple[int, ...] = operands[0].shape
    if all(x.shape == shape or not x.shape for x in operands):
        return shape
    try:
        found: tuple[int, ...] = np.broadcast_shapes(*(x.shape for x in operands))
    except ValueError:  # the ordinary way says so in our own words
        return None
    return found


def empty_like(operands: tuple[Buffer, ...], shape: tuple[int, ...], storage: Any) -> Buffer:
    """Memory for a result, its axes in the order of those of the first operand of its shape."""
    for x in operands:
        if x.shape == shape and not x.flags.c_contiguous:
            return np.empty_like(x, storage, subok=False)
    return np.empty(shape, storage)


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


_EXCEPTIONS = (
    ("divide", "divide by zero"),
    ("over", "overflow"),
    ("under", "underflow"),
    ("invalid", "invalid value"),
)
"""Floating-point exceptions as NumPy numbers them: their names in ``np.geterr``, and in words."""

NUMBERS = {kind: 1 << i for i, (kind, _) in enumerate(_EXCEPTIONS)}


def heeded() -> list[str]:
    """The floating-point exceptions that NumPy does not ignore, by its names."""
    state: Any = np.geterr()
    return [kind for kind, _ in _EXCEPTIONS if state[kind] != "ignore"]


def watched() -> int:
    """The same by its numbers; and that a loop could not tell the result.

    NumPy makes an object of each state that is set: of the last one that was asked it is known.
    """
    state = told.state()
    known, found = _last[0]
    if state is None or state is not known:
        found = sum(NUMBERS[kind] for kind in heeded()) | kernels.NOT_TOLD
        _last[0] = state, found
    return found


_last: list[tuple[Any, int]] = [(None, 0)]


def may_raise() -> bool:
    """Whether a floating-point exception may become one of Python's: what has been written by then
    is not as it was."""
    if not (told.is_usual() or {*np.geterr().values()} <= {"ignore", "warn"}):
        return True
    if "error" not in map(itemgetter(0), warnings.filters):
        return False
    for action, message, category, module, line in warnings.filters:
        if issubclass(RuntimeWarning, category):
            if action == "error":
                return True
            if not (message or module or line):  # all that come later are never asked
                return False
    return False


def loop_plan(
    name: str, held: tuple[DType, ...], plan: Plan, casts: Casts, *, ours: bool
) -> LoopPlan | None:
    """How a plan goes in one loop; ``ours`` says that NumPy has nothing like it.

    None where there is no such loop, a cast has two steps, or NumPy does it as well, as nothing is
    cast.
    """
    computed = plan.compute or plan.inputs[0]
    if plan.compute is None and {*plan.inputs} != {computed}:
        return None
    if computed.kind not in NUMERIC:
        return None
    if name in LOGICAL and computed is dt.bool is plan.result and len({*held}) == 1:
        return logical_plan(name, held, plan, casts)
    found = kernels.loop_of(name, kernels.dtype_args(computed))
    if found is None:
        return None
    _, masked, tests = found
    made = dt.bool if tests else computed
    plain = plan.result is made and {*held} == {computed}
    if plain and not (ours or is_slow_in_numpy(name, computed)):
        return None
    modes = [_mode(casts, a, b, computed) for a, b in zip(held, plan.inputs, strict=True)]
    modes.append(_mode(casts, made, made, plan.result))
    if None in modes or not _casts_whole(made, plan.result):
        return None
    if not all(d is computed or _casts_whole(d, computed) for d in {*held}):
        return None
    dtypes = (*held, computed, plan.result)
    if masked:
        dtypes, modes = (dt.bool, *dtypes), [DEFAULT, *modes]
    rows = (*map(kernels.dtype_args, dtypes),)
    return LoopPlan(name, rows, tuple(modes), plan.result.storage)  # type: ignore[arg-type]


def logical_plan(name: str, held: tuple[DType, ...], plan: Plan, casts: Casts) -> LoopPlan | None:
    """Of operands of one dtype as they are, not of bools: what is no zero is true, or where it is
    the real part that counts, that."""
    computed = plan.compute or plan.inputs[0]
    if name not in LOGICAL or not computed is dt.bool is plan.result or len({*held}) > 1:
        return None
    if held[0].kind not in NUMERIC or held[0] is dt.bool:
        return None
    transforms = casts(held[0], dt.bool)[1]
    if transforms:
        from promoarray.promotion.cast_transforms import real_part_counts

        if transforms != (real_part_counts,):
            return None
        name = f"real_{name}"
    row = kernels.dtype_args(held[0])
    if kernels.loop_of(name, row) is None:
        return None
    rows = (*(row for _ in held), row, kernels.dtype_args(dt.bool))
    return LoopPlan(name, rows, (DEFAULT,) * (len(held) + 1), dt.bool.storage)


LOGICAL = frozenset({"logical_and", "logical_or", "logical_xor", "logical_not"})


EXTREMES = frozenset({"maximum", "minimum"})
"""Of which NumPy's loops take several times as long where an operand is one number."""

_SLOW_IN_NUMPY = LOGICAL | {"floor_divide", "remainder", "nextafter"}
_ROOTS = {"hypot": (dt.float32,), "sqrt": (dt.float32, dt.float64)}


def is_slow_in_numpy(name: str, computed: DType) -> bool:
    """Whether NumPy goes element by element where a loop of ours does not, be it where an operand
    is one number; or takes roots in registers of 128 bits, whatever the machine has."""
    if name in _ROOTS:
        return computed in _ROOTS[name]
    if name in EXTREMES:
        return computed.kind in INTEGERS or computed in (dt.float32, dt.float64)
    if name == "pow":
        return computed.kind in INTEGERS
    return name in _SLOW_IN_NUMPY and computed.kind is Kind.FLOAT


def _is_kept(source: DType, entered: DType) -> bool:
    """Whether a float dtype has all values of an integer one, on the way to float32."""
    return source.kind in INTEGERS and source.bits <= 8 and entered in (dt.bfloat16, dt.float16)


NUMERIC = frozenset({Kind.BOOL, Kind.INT, Kind.UINT, Kind.FLOAT, Kind.COMPLEX})


def _casts_whole(source: DType, target: DType) -> bool:
    """Whether a loop casts one dtype to another: of a complex number it takes no part alone."""
    if target.kind not in NUMERIC or source.kind not in NUMERIC:
        return False
    return source.kind is not Kind.COMPLEX or target.kind in (Kind.COMPLEX, Kind.BOOL)


def _mode(casts: Casts, source: DType, entered: DType, computed: DType) -> CastMode | None:
    """The mode of a cast of one step; None of more."""
    if source is entered is computed or (computed is dt.float32 and _is_kept(source, entered)):
        return DEFAULT
    if source is not entered and entered is not computed:
        return None
    mode, transforms = casts(source, computed)
    return None if transforms else mode
