"""Values of operands and results, element by element, and how a loss among them is told."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from promoarray.core import host
from promoarray.diagnostics.model.lost import CHECKS, WRAP, Example, Loss
from promoarray.dtypes import BITS, BY_NAME, CONCRETE, DType, Format, Kind
from promoarray.promotion.scalars import bounds

Array = np.ndarray[Any, Any]


class Values(NamedTuple):
    """An array."""

    array: Array  # in the storage of the dtype: ml_dtypes' for bfloat16, float8 and the like
    dtype: DType


Operand = Values | bool | int | float | complex
"""An array, or a Python number as the program has it."""

ALL = frozenset(CHECKS)
"""Every kind of loss."""
MOST = 1 << 22
"""Of larger arrays some elements are examined where an operation goes by elements."""
NO_OPTIONS: Mapping[str, Any] = MappingProxyType({})


class Scope(NamedTuple):
    """What is asked for: kinds, how many elements at most, and of what kinds counts alone."""

    kinds: Set[str] = ALL
    bound: int | None = MOST
    brief: Set[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Elements:
    """Operands beside the result of an operation that goes by elements, or some of them."""

    operands: Sequence[Operand]
    result: Values
    step: int = 1  # one of so many elements of the result, in C order, is examined
    brief: Set[str] = frozenset()  # kinds that are counted alone

    @classmethod
    def of(cls, operands: Sequence[Operand], result: Values, scope: Scope) -> Elements:
        """Choose so many that the bound holds. The step is odd, to come to every column."""
        size, bound = result.array.size, scope.bound
        step = 1 if bound is None or size <= bound else -(-size // bound) | 1
        return cls(operands, result, step, scope.brief)

    @property
    def size(self) -> int:
        """How many elements of the result are examined."""
        return -(-self.result.array.size // self.step)

    def held(self, operand: Operand) -> Array:
        """The elements of an operand that those of the result are made of, flat and as stored.

        They are 0-d if the operand has one alone.
        """
        if not isinstance(operand, Values):
            return np.asarray(operand)
        array, shape = operand.array, self.result.array.shape
        if array.size == 1:
            return array.reshape(())
        if array.shape != shape:
            array = np.broadcast_to(array, shape)
        if self.step > 1 and not array.flags.c_contiguous:
            return np.asarray(array.flat[:: self.step])
        return array.reshape(-1)[:: self.step]

    def beside(self, operand: Operand, which: Array | None = None) -> Array:
        """Those elements, or the ones at some places, in a dtype of NumPy's own."""
        array = self.held(operand)
        if which is not None and array.ndim:
            array = array[which]
        return host.decoded(array, operand.dtype) if isinstance(operand, Values) else array

    @property
    def codes(self) -> Array:
        """The magnitudes of the result, or of the parts of complex ones, as they are coded."""
        layout = CODES[self.result.dtype][1]
        held = words(self.held(self.result).reshape(-1), self.result.dtype)
        mask: Array = held & ((1 << layout.exponent + layout.mantissa) - 1)
        return mask

    def nonzero(self, operand: Operand) -> Array:
        """Which of the elements of an operand are not zero."""
        held = self.held(operand)
        if isinstance(operand, Values) and operand.dtype.kind is Kind.FLOAT:
            word, layout = CODES[operand.dtype]
            held = held.view(word)
            if layout.signed and not has_nan_for_zero(layout):
                held = held & ((1 << layout.exponent + layout.mantissa) - 1)
        return np.asarray(held != 0)

    def at(self, index: tuple[int, ...]) -> list[Any]:
        """The Python numbers that an element of the result is made of."""
        shape = self.result.array.shape
        return [
            number(each.dtype, np.broadcast_to(each.array, shape)[index])
            if isinstance(each, Values)
            else each
            for each in self.operands
        ]

    def index(self, first: int) -> tuple[int, ...]:
        """Where in the result an element lies that is examined."""
        return tuple(map(int, np.unravel_index(first * self.step, self.result.array.shape)))

    def loss(
        self,
        kind: str,
        which: Array,
        exact: Callable[..., Any],
        *,
        count: int | None = None,
        of: int | None = None,
        note: Callable[[], str] = str,
        wanted: Callable[[], str] = str,
        given: Callable[[], Sequence[Any]] | None = None,
    ) -> Loss:
        """Tell of elements that were lost, the first of them as the example.

        Parameters
        ----------
        kind : str
        which : array of int
            Those that were lost among the examined ones, or the first one.
        exact : callable
            From what was given there to what the result would be, or to a text.
        count, of : int, optional
            How many were lost, if not all in ``which``; how many were examined, if not all.
        note, wanted : callable
            Give what ``Loss`` has.
        given : callable, optional
            Gives what was given there, if not ``at``.
        """
        count = len(which) if count is None else count
        of = self.size if of is None else of
        places = which * self.step if kind == WRAP else None
        if kind in self.brief:
            return Loss(kind, count, of, Example((), (), "", ""), which=places)
        index = self.index(int(which[0]))
        operands = given() if given else self.at(index)
        dtypes = [each.dtype if isinstance(each, Values) else None for each in self.operands]
        truth = exact(*operands)
        made = text(number(self.result.dtype, self.result.array[index]), self.result.dtype)
        told = text(truth, dtypes[0] if operands and truth is operands[0] else None)  # of a cast
        example = Example(index, tuple(map(text, operands, dtypes)), told, made)
        ranges = tuple(map(extent, self.operands))
        return Loss(kind, count, of, example, ranges, note(), wanted(), which=places)


def fits(operands: Sequence[Operand], result: Values) -> bool:
    """Whether operands have the result's shape, or are broadcast to it."""
    shape = result.array.shape
    shapes = [each.array.shape for each in operands if isinstance(each, Values)]
    if all(each == shape for each in shapes):
        return True
    try:
        return bool(np.broadcast_shapes(*shapes, shape) == shape)
    except ValueError:
        return False


# -- numbers --------------------------------------------------------------------------------------


def plain(values: Values) -> Array:
    """The array in a dtype of NumPy's own that holds it exactly."""
    return host.decoded(values.array, values.dtype)


def is_whole(operand: Operand) -> bool:
    """Whether an operand has integers or bools."""
    return operand.dtype.kind in BITS if isinstance(operand, Values) else isinstance(operand, int)


def floats(array: Array) -> Array:
    """Numbers in float64 (complex128): integers beyond 2^53 rounded, Python's beyond all Inf."""
    if array.dtype == object:
        value = array.item()
        array = np.asarray(value if abs(value) < 1 << 1023 else math.copysign(math.inf, value))
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64, copy=False)


def number(dtype: DType, element: Any) -> Any:
    """An element of an array as the Python number it is."""
    return host.decoded(np.asarray(element), dtype).item()


class Several(NamedTuple):
    """The elements that one element of a reduction is made of."""

    array: Array
    dtype: DType | None = None

    def __str__(self) -> str:
        low, high = limits(self.array, self.dtype)
        few = self.array.reshape(-1).tolist()
        if len(few) <= 4:
            return f"[{', '.join(text(each, self.dtype) for each in few)}]"
        return f"{len(few)} numbers from {low} to {high}"


def text(value: Any, dtype: DType | None = None) -> str:
    """A number in as many digits as tell it from others of its dtype; whole ones in all."""
    if type(value) is int and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    if type(value) is not float:
        return str(value) if isinstance(value, Several | str) else repr(value)
    if not math.isfinite(value) or (value.is_integer() and abs(value) < 1e16):
        return repr(value)
    if dtype is not None and dtype.bits < 64 and (layout := dtype.format) is not None:
        digits = 1 + math.ceil((layout.mantissa + 1) * math.log10(2))
        numbers = (f"{value:.{n}g}" for n in range(1, digits + 1))
        near = (x for x in numbers if rounded(float(x), dtype) == value)
        return next(near, f"{value:.{digits}g}")
    return repr(value) if value.is_integer() else f"{value:.15g}"


def rounded(value: float, dtype: DType) -> float:
    """The number of a dtype that a float is stored as."""
    return float(np.asarray(value).astype(dtype.storage))


def limits(array: Array, dtype: DType | None = None) -> tuple[str, str]:
    """The least and the greatest value but for NaN, as text; of complex numbers and none ""."""
    if array.dtype.kind == "f":
        array = array[~np.isnan(array)]
    if not array.size or array.dtype.kind == "c":
        return "", ""
    return text(array.min().item(), dtype), text(array.max().item(), dtype)


def extent(operand: Operand) -> tuple[str, str]:
    """The least and the greatest value of an operand but for NaN, as text."""
    if isinstance(operand, Values):
        return limits(plain(operand), operand.dtype)
    return text(operand), text(operand)


def least_integer(low: float, high: float, dtype: DType) -> str:
    """The name of the least integer dtype that holds a range that ``dtype`` does not.

    It has the same sign if it can be. Floats may be rounded where 64 bits end.
    """
    signs = ("uint", "int") if dtype.kind is Kind.UINT else ("int", "uint")
    for bits in (8, 16, 32, 64):
        for sign in signs:
            wider = BY_NAME[f"{sign}{bits}"]
            least, most = bounds(wider)
            is_sure = bits < 64 or type(low) is int or least < low or not least
            if wider is not dtype and is_sure and least <= low and high <= most:
                return wider.name
    return least_float(max(-low, high), least="float64")


def least_float(largest: float, least: str = "float32") -> str:
    """The name of the least of float32 and float64 that holds a magnitude, or ""."""
    if least == "float32" and largest <= np.finfo(np.float32).max:
        return "float32"
    return "float64" if math.isfinite(largest) else ""


# -- passes over arrays ---------------------------------------------------------------------------


def counts(values: Values) -> tuple[int, int, int, int, int]:
    """Count NaN, Inf, zero, subnormal numbers and the largest, of floats or of complex parts."""
    held, magnitudes, layout = _coded(values)
    normal = 1 << layout.mantissa
    if not held.size or (magnitudes.max() < layout.largest and magnitudes.min() >= normal):
        return 0, 0, 0, 0, 0

    def count(which: Array) -> int:
        return int(np.count_nonzero(which))

    nan = count(magnitudes > layout.largest)
    inf = 0 if layout.inf is None else count(magnitudes == layout.inf)
    zero = small = 0
    if layout.mantissa:
        zero = count(magnitudes == 0)
        small = count(magnitudes < normal) - zero
    if has_nan_for_zero(layout):
        lone = count((magnitudes == 0) & (held != 0))
        nan, zero = nan + lone, zero - lone
    return nan - inf, inf, zero, small, count(magnitudes == layout.largest)


def ends(values: Values) -> tuple[int, int, int, bool]:
    """The codes of the least and the greatest finite magnitude of floats; -1 if there are none.

    Then 1 or -1 if all of them have that sign, else 0, and whether all numbers are finite.
    """
    held, magnitudes, layout = _coded(values)
    finite = magnitudes <= layout.largest
    is_finite = bool(finite.all())
    if not is_finite:
        held, magnitudes = held[finite], magnitudes[finite]
    if not held.size:
        return -1, -1, 0, is_finite and not has_nan_for_zero(layout)
    negative = held != magnitudes
    sign = -1 if negative.all() else 0 if negative.any() else 1
    is_finite &= not has_nan_for_zero(layout)
    return int(magnitudes.min()), int(magnitudes.max()), sign, is_finite


def _coded(values: Values) -> tuple[Array, Array, Format]:
    """The codes of floats in any order, their magnitudes, and the layout."""
    word, layout = CODES[values.dtype]
    digits = layout.exponent + layout.mantissa
    held = values.array.ravel("K").view(word)
    held = held if digits + layout.signed == 8 * word.itemsize else held & ((2 << digits) - 1)
    return held, held & ((1 << digits) - 1), layout


def has_nan_for_zero(layout: Format) -> bool:
    """Whether NaN has the code of -0."""
    return layout.nan == 1 << layout.exponent + layout.mantissa


def integer_ends(values: Values) -> tuple[int, int]:
    """The least and the greatest of integers or bools; of no elements 0."""
    array = plain(values)
    return (int(array.min()), int(array.max())) if array.size else (0, 0)


def words(array: Array, dtype: DType) -> Array:
    """The codes of floats, those of complex ones part by part."""
    return np.ascontiguousarray(array).reshape(-1).view(CODES[dtype][0])


CODES: Mapping[DType, tuple[np.dtype[Any], Format]] = {
    row: (np.dtype(f"u{row.part.storage.itemsize}"), row.part.format)
    for row in CONCRETE
    if row.part.format
}
"""Of floats, and of parts of complex numbers, the words that have their codes, and the layout."""


# -- products of matrices, and reductions ---------------------------------------------------------


def factors(x: Array, y: Array, shape: tuple[int, ...], index: tuple[int, ...]) -> list[Several]:
    """The row and the column of stacks of matrices that an element of their product is made of."""
    if not index:  # vdot takes all of them
        return [Several(x.reshape(-1)), Several(y.reshape(-1))]
    *batch, row, column = index
    left = np.broadcast_to(x, (*shape[:-1], x.shape[-1]))
    right = np.broadcast_to(y, (*shape[:-2], *y.shape[-2:])).swapaxes(-1, -2)
    return [Several(left[(*batch, row)]), Several(right[(*batch, column)])]


def reduced_axes(
    given: tuple[int, ...], made: tuple[int, ...], options: Mapping[str, Any]
) -> list[tuple[int, ...]]:
    """The axes that a reduction may have run along, by its options and by the shapes."""
    rank = len(given)
    axis = options.get("axis")
    if axis is not None:
        axes = axis if isinstance(axis, tuple | list) else (axis,)
        asked = [tuple(int(each) % rank for each in axes)] if rank else [()]
    else:
        asked = [each for n in range(rank + 1) for each in combinations(range(rank), n)]
    return [
        axes
        for axes in asked
        if made
        in (
            tuple(n for at, n in enumerate(given) if at not in axes),
            tuple(1 if at in axes else n for at, n in enumerate(given)),
        )
    ]


def rows(array: Array, axes: tuple[int, ...]) -> Array:
    """The elements that a reduction puts together, in a row for each element of the result."""
    kept = tuple(at for at in range(array.ndim) if at not in axes)
    moved = array.transpose(kept + axes)
    count = math.prod(array.shape[at] for at in axes)
    return moved.reshape(math.prod(array.shape[at] for at in kept), count)
