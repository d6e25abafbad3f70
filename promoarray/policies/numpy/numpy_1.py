"""NumPy 1: the values of Python scalars and 0-d arrays choose the dtype, as long as they may.

Beside arrays of its kind or a higher one, a scalar counts as the smallest dtype that holds its
value; so an int8 array + 1000 is int16. What is positive and would fit the signed integer of that
width, too, is taken for it where anything signed is near (``is_small_unsigned`` upstream).

Two ways lead from there to a result. Addition and its like promote. The ufuncs of ``SEARCHED`` take
the first of their loops that every operand casts to safely, and of each width the signed integers
come first: a uint8 array + 300 is uint16, but a uint8 array & 300 is int16.

Sources: NumPy 1.26, ``numpy.result_type`` and ``numpy.min_scalar_type``; should_use_min_scalar and
can_cast_scalar_to in numpy/core/src/multiarray/convert_datatype.c; linear_search_type_resolver in
numpy/core/src/umath/ufunc_type_resolution.c. Recorded: conformance/golden/numpy1.txt (1.26.4).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from promoarray import dtypes as dt
from promoarray.dtypes import BY_CODE, INTEGERS, ORDERED, DType, Kind
from promoarray.operations import Family, Form, operation
from promoarray.policies.numpy import powers, stored
from promoarray.policies.numpy.numpy_2 import (
    AS_ARRAYS,
    FLOAT_NOTE,
    NUMPY_2,
    OPERATIONS,
    OWN,
    POWER,
    can_cast,
    floats,
    promote,
    sums,
)
from promoarray.promotion.answers import Answers, Cell
from promoarray.promotion.cast_rules import dtypes
from promoarray.promotion.linalg_rules import spectrum
from promoarray.promotion.plan import Operand, Rank
from promoarray.promotion.policy import CONVERSIONS
from promoarray.promotion.scalars import WIDE, Scalars, bounds, exactly, in_range, passing
from promoarray.promotion.source import Note, Source
from promoarray.promotion.type_rules import TypeRule
from promoarray.promotion.type_steps import always, component, rows, without_bounds

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import PolicyLike

_BOOL, _INTEGERS = (dt.bool,), rows("i8 u8 i16 u16 i32 u32 i64 u64")
_FLOATS, _COMPLEX = rows("f16 f32 f64"), rows("c64 c128")

SEARCHED: Mapping[Family, tuple[DType, ...]] = {
    Family.BITWISE: _BOOL + _INTEGERS,
    Family.SHIFT: _INTEGERS,
    Family.FLOOR_DIVIDE: _INTEGERS + _FLOATS,
    Family.POW: _INTEGERS + _FLOATS + _COMPLEX,
    Family.FLOAT_BINARY: _FLOATS,
}
"""The loops of the ufuncs that search them, in their order."""


def by_value(
    policy: PolicyLike, name: str, operands: tuple[Operand, ...], form: Form
) -> tuple[Operand, ...]:
    """Let scalars and 0-d arrays enter as the dtype that their value makes of them.

    Only beside arrays, and only if no scalar's kind is above that of every array
    (`should_use_min_scalar`); else they enter as the arrays they would make, which some functions
    make of them first.
    """
    if name == "pow" and form is not Form.FUNCTION and (short := shortcut(*operands)):
        return Operand(short), Operand(short, Rank.SCALAR)
    if not _beside_arrays(name, operands):
        made = policy.strong(dt.weak_int)
        return tuple(o if o.value is None else Operand(as_array_type(o, made)) for o in operands)
    arrays = [o.type for o in operands if o.value is None]
    loop = searched(name, operands) or (in_turn(operands) if len(operands) > 2 else None)
    signed = any(a.kind is Kind.INT for a in arrays)
    return tuple(
        o if o.value is None else Operand(loop or smallest(o.value, as_array_type(o), signed))
        for o in operands
    )


def _beside_arrays(name: str, operands: tuple[Operand, ...]) -> bool:
    """Whether scalars count by value: there are arrays, and of their kind or a higher one."""
    arrays = [o.type for o in operands if o.value is None]
    scalars = [as_array_type(o) for o in operands if o.value is not None]
    return bool(arrays) and name not in AS_ARRAYS and _kind(scalars) <= _kind(arrays)


class ByValue:
    """``by_value``, and which values it tells apart."""

    __call__ = staticmethod(by_value)

    borders: tuple[float, ...]
    """Between two of them values have the same answer, whatever the operation."""

    def telling(
        self, name: str, operands: tuple[Operand, ...], form: Form, index: int
    ) -> tuple[Any, ...]:
        """Values of a 0-d array, one of each sort that is told apart; its own if none is."""
        operand = operands[index]
        is_exponent = name == "pow" and form is not Form.FUNCTION and index == 1
        if not is_exponent and not _beside_arrays(name, operands):
            return (operand.value,)
        if operand.type.kind in INTEGERS:
            least, most = bounds(operand.type)
            return tuple(n for n in _EDGES if least <= n <= most)
        return _SORTS.get(operand.type.kind, (False, True))


_EDGES = sorted({-1, 0, 1, 2, *(end for dtype in _INTEGERS for end in bounds(dtype))})
_SORTS = {
    Kind.FLOAT: (-1.0, 0.0, 0.5, 1.0, 2.0, 3.0, 1e5, 1e39),
    Kind.COMPLEX: (3.0 + 0.0j, 1e39 + 0.0j),
}
"""The exponents that have shortcuts, and what lies on either side of each limit (``_RUNGS``)."""


def shortcut(base: Operand, exponent: Operand) -> DType | None:
    """The dtype of ``x ** y`` where it is a square, a root ... that never asks the exponent's.

    The exponent is a scalar, the base is not one of Python; of integers only the square is such a
    shortcut, of a float 2.0 in float64 (`fast_scalar_power`).
    """
    value, kind = exponent.value, exponent.type.kind
    if value is None or base.rank is Rank.SCALAR or kind is Kind.COMPLEX:
        return None
    if base.type.kind in (Kind.FLOAT, Kind.COMPLEX):
        return base.type if value in (-1, 0, 0.5, 1, 2) else None
    if value != 2:
        return None
    return dt.float64 if kind is Kind.FLOAT and base.type.kind in INTEGERS else base.type


def searched(name: str, operands: Iterable[Operand]) -> DType | None:
    """The first loop of an operation that every operand casts to safely, scalars by value."""
    loops = SEARCHED.get(operation(name).family, ())
    return next((loop for loop in loops if all(_safe(o, loop) for o in operands)), None)


def _safe(operand: Operand, loop: DType) -> bool:
    if operand.value is None:
        return can_cast(operand.type, loop)
    given = as_array_type(operand)
    small = smallest(operand.value, given, signed=loop.kind is not Kind.UINT)
    return can_cast(given, loop) or can_cast(small, loop)


def in_turn(operands: Iterable[Operand]) -> DType | None:
    """The common dtype of more than two, one after the other (`PyArray_LegacyResultType`).

    Whether a scalar counts as signed depends on what came before it: beside uint16, 70000 is
    uint32, and with int32 that is int64.
    """
    (common, signed), *others = map(_least, operands)
    for least, as_signed in others:
        unsigned = signed is not common and as_signed is not least
        if as_signed is not least and common.kind not in _UNSIGNED:
            least = as_signed
        elif signed is not common and least.kind not in _UNSIGNED:
            common = signed
        joined = promote(common, least)
        if joined is None:
            return None
        both = promote(signed, as_signed) if unsigned else None
        common, signed = joined, both or joined
    return common


_UNSIGNED = frozenset({Kind.BOOL, Kind.UINT})


def _least(operand: Operand) -> tuple[DType, DType]:
    """What an operand is by its value, and what instead where anything signed is near."""
    if operand.value is None:
        return operand.type, operand.type
    given = as_array_type(operand)
    return smallest(operand.value, given, signed=False), smallest(operand.value, given, signed=True)


def _kind(dtypes: Iterable[DType]) -> int:
    return max(min(d.kind.category, 2) for d in dtypes)  # float and complex are one kind here


def as_array_type(operand: Operand, long: DType = dt.int64) -> DType:
    """What ``numpy.asarray`` makes of an operand; of an int the first dtype that holds it."""
    if operand.type is dt.weak_int:
        if operand.value > bounds(dt.int64)[1]:
            return dt.uint64
        least, most = bounds(long)
        return long if least <= operand.value <= most else dt.int64
    return WIDE.get(operand.type, operand.type)


def smallest(value: Any, dtype: DType, signed: bool) -> DType:
    """``numpy.min_scalar_type``; ``signed``: what would fit the signed integer, too, is that."""
    if dtype.kind in INTEGERS:
        kinds, needed = ("i", (~value).bit_length() + 1) if value < 0 else ("u", value.bit_length())
        bits = max(8, 1 << (needed - 1).bit_length())
        least = BY_CODE.get(f"{kinds}{bits}", dtype)
        return BY_CODE[f"i{least.bits}"] if signed and not value >> least.bits - 1 else least
    for rung, limit in _RUNGS.get(dtype.kind, ()):
        fits = abs(value.real) < limit and abs(value.imag) < limit
        fits = fits or (dtype.kind is Kind.FLOAT and not math.isfinite(value))
        if rung.bits < dtype.bits and fits:
            return rung
    return dtype


_RUNGS = {
    Kind.FLOAT: ((dt.float16, 65000.0), (dt.float32, 3.4e38)),
    Kind.COMPLEX: ((dt.complex64, 3.4e38),),
}
"""NumPy's own limits, which are a little below the largest values."""


def _borders() -> tuple[float, ...]:
    """Where a sort of values begins, in their order: NaN is of the last one, with the infinity."""
    found: set[float] = {0, 1 << 64, -sys.float_info.max, math.inf}
    for low, high in map(bounds, _INTEGERS):
        found |= {low, high + 1}
    for _, limit in (rung for rungs in _RUNGS.values() for rung in rungs):
        found |= {limit, math.nextafter(-limit, 0)}
    for exponent in (-1, 0, 0.5, 1, 2):  # each one apart from the numbers above it
        found |= {exponent, math.nextafter(exponent, math.inf)}
    return tuple(sorted(found))


ByValue.borders = _borders()


@passing()
def fit_64_bits(value: Any, dtype: DType) -> Any:
    """Refuse an int beyond uint64, which NumPy 1 kept as an object."""
    if type(value) is not int:
        return value
    return in_range(
        value, dtype if dtype.kind in INTEGERS else dt.uint64 if value > 0 else dt.int64
    )


_FFT = "NumPy 1 transforms everything in double precision"

NUMPY_1 = NUMPY_2.derive(
    "numpy@1",
    title="NumPy 1.26",
    principle=(
        "The smallest dtype both operands cast to safely; Python scalars and 0-d arrays whose "
        "kind is not above the arrays' count as the smallest dtype that holds their value."
    ),
    dtypes=OWN,
    operations={
        **OPERATIONS,
        Family.POW: powers.by_value(POWER),
        Family.ROUND: TypeRule(admit=ORDERED, compute=floats, note=FLOAT_NOTE),
        Family.FFT: TypeRule(compute=always(dt.complex128), note=_FFT),
        Family.RFFT: TypeRule(
            admit=ORDERED, compute=always(dt.float64), result=spectrum, note=_FFT
        ),
        Family.IRFFT: TypeRule(compute=always(dt.complex128), result=component, note=_FFT),
        "irfftn": TypeRule(compute=always(dt.complex128), result=component, note=_FFT),
    },
    by_value=ByValue(),
    squares=frozenset(),  # which `shortcut` knows
    ranks=True,
    one_element=CONVERSIONS - {"index"} | {"setitem"},
    scalars=Scalars(fit=fit_64_bits, fit_compared=exactly, fit_family={Family.POSITION: exactly}),
    fixed={**NUMPY_2.fixed, "quantile": dt.float64},
    stored=stored.NUMPY_1,
    answers=Answers(__file__, "functions_1.txt", "numpy@1"),
    kernels={
        **NUMPY_2.kernels,
        "clip": ("clip_up_to",),
        "sign": ("sign_of_order",),
        "pow": ("plain_pow",),
    },
    refuses={"clip": without_bounds},
    sources=(
        Source("NumPy reference", "numpy.result_type, Notes; numpy.min_scalar_type", "1.26"),
        Source(
            "numpy/numpy, numpy/core/src/multiarray/convert_datatype.c", "should_use_min_scalar"
        ),
        Source(
            "numpy/numpy, numpy/core/src/umath/ufunc_type_resolution.c",
            "linear_search_type_resolver",
        ),
    ),
    notes=(
        Note(
            "A scalar or 0-d array counts as the smallest dtype that holds its value, unless"
            " its kind is above that of the arrays: int8 array + 1000 is int16, int8 array + 1.5"
            " float64.",
            ranks=[Rank.SCALAR, Rank.ZERO_D],
        ),
        Note(
            "Bitwise operators, shifts, //, % and ** take the first loop that holds the values:"
            " a uint8 array & 300 is int16, though + 300 is uint16.",
            dtypes("u8 i16 u16"),
        ),
        Note(
            "Python ints beyond 64 bits made object arrays; here they are refused.",
            ranks=[Rank.SCALAR],
        ),
    ),
)


class InShortLongs(Answers):
    """The answers where a C long has 32 bits: those that were one, and no index, have 32.

    An index is int64 of unsigned integers, too. Conformance: NumPy 1.24.2 for i386 answers so.
    """

    def _read(self) -> Iterator[tuple[str, dict[str, Cell]]]:
        for name, cells in super()._read():
            if "u8" in cells and "i64" in cells["u8"].text:
                yield name, cells
            else:
                yield name, {code: _shortened(code, cell) for code, cell in cells.items()}


def _shortened(code: str, cell: Cell) -> Cell:
    if code in ("i64", "u64"):
        return cell
    return Cell(cell.text.replace("i64", "i32").replace("u64", "u32"))


NUMPY_1_WINDOWS = NUMPY_1.derive(
    "numpy@1-windows",
    title="NumPy 1.26 on Windows",
    operations={**NUMPY_1.operations, **sums(32)},
    defaults={**WIDE, dt.weak_int: dt.int32},
    counts=dt.int64,
    long=dt.int32,
    answers=InShortLongs(__file__, "functions_1.txt", "numpy@1-windows"),
    stored=stored.numpy_1(dt.int32),
    sources=(
        *NUMPY_1.sources,
        Source("NumPy 2.0.0 release notes", "Windows default integer", "2.0.0"),
        Source("NumPy for Linux on i386", "whose long has 32 bits, too, as run", "1.24.2"),
    ),
    notes=(
        *NUMPY_1.notes,
        Note(
            "The default integer is a C long: int32 here, int64 from an int on that it does not"
            " hold. Indices and counts are int64."
        ),
    ),
)

POLICIES = {"1": NUMPY_1, "1-windows": NUMPY_1_WINDOWS}
