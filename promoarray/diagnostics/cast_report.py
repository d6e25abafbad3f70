"""Report of a cast of an array: how many values it loses, and in which way.

>>> import promoarray as pa
>>> x = pa.asarray([1.0, 1.1, 500.0, -0.0], dtype=pa.float32)
>>> pa.cast_report(x, "float8_e4m3fn").overflowed_to_nan
1
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.console import Printable, html_table, visible
from promoarray.core.array_base import storage_dtype
from promoarray.core.cast import explicit
from promoarray.core.operands import as_array
from promoarray.diagnostics.former_pickles import loads_former_pickles
from promoarray.dtypes import INTEGERS, DType, Kind, as_dtype
from promoarray.functions.data_types import finfo
from promoarray.kernels.float_state import in_default_float_state
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.scalars import bounds

if TYPE_CHECKING:
    from rich.console import RenderableType

Values = np.ndarray[Any, Any]

_WORDS = {
    "exact": "exact",
    "rounded": "rounded",
    "saturated": "saturated: out of range, now an end of it",
    "overflowed_to_inf": "overflowed to Inf",
    "overflowed_to_nan": "overflowed to NaN",
    "flushed_to_zero": "flushed to zero",
    "wrapped": "wrapped: out of range, now another number",
    "truncated": "truncated to an integer",
    "lost_minus_zero": "lost the sign of -0",
    "lost_imaginary": "lost an imaginary part",
    "nan_in": "NaN given",
    "nan_out": "NaN after the cast",
}


@loads_former_pickles
@dataclass(frozen=True, slots=True, repr=False)
class CastReport(Printable):
    """What a cast does to the values of an array.

    Attributes
    ----------
    policy, source, target : str
    size : int
    exact, rounded, saturated, overflowed_to_inf, overflowed_to_nan, flushed_to_zero : int
    wrapped, truncated : int
        Every value that is not NaN is counted in one of these eight. An infinity that stays one is
        exact; one that becomes the largest value is saturated.
    lost_minus_zero, lost_imaginary, nan_in, nan_out : int
        Counted besides.
    largest_error, mean_error : float
        Of the rounded, flushed and truncated values and the exact ones, in units of the target's
        last place (at the value given; 1 in integers).
    note : str
        That the cast is ml_dtypes', where no source of the policy defines it.
    """

    policy: str
    source: str
    target: str
    size: int
    exact: int
    rounded: int
    saturated: int
    overflowed_to_inf: int
    overflowed_to_nan: int
    flushed_to_zero: int
    wrapped: int
    truncated: int
    lost_minus_zero: int
    lost_imaginary: int
    nan_in: int
    nan_out: int
    largest_error: float
    mean_error: float
    note: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return the report as data."""
        return asdict(self)

    @property
    def headline(self) -> str:
        """The cast, the policy and how many values there were."""
        return f"{self.source} to {self.target} under {visible(self.policy)}: {self.size} values"

    def _rows(self) -> list[tuple[str, str]]:
        counts = [(words, getattr(self, name)) for name, words in _WORDS.items()]
        rows = [(words, f"{n} ({n / self.size:.2%})") for words, n in counts if n]
        rows.append(("largest error", f"{self.largest_error:.4g} ulp"))
        return [*rows, ("mean error", f"{self.mean_error:.4g} ulp")]

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
        for words, value in self._rows():
            table.add_row(Text(words), Text(value))
        note = (Text(visible(self.note), "dim"),) if self.note else ()
        return Group(Text(self.headline, "bold"), table, *note)

    def html(self) -> str:
        """Return the report as a part of a page."""
        note = f"<p>{escape(visible(self.note))}</p>" if self.note else ""
        return html_table(("values", "count"), self._rows()) + note


def cast_report(
    x: Any,
    dtype: object,
    *,
    saturate: bool | int | None = None,
    round_mode: str | None = None,
) -> CastReport:
    """Report what ``astype`` would do to the values of an array.

    Parameters
    ----------
    x : array, any shape
    dtype : dtype_like
        Of numbers or bool.
    saturate, round_mode
        As for ``astype``.

    Returns
    -------
    CastReport
        Prints as a table; ``to_dict()`` gives its numbers.

    Raises
    ------
    TypeError
        If ``x`` is not an array of numbers, or ``dtype`` not a dtype of numbers.
    PromotionError
        If the policy does not cast them.

    Examples
    --------
    >>> report = cast_report(asarray([0.1, 1.0, 500.0], dtype=float32), float8_e4m3fn)
    >>> report.exact, report.rounded, report.overflowed_to_nan
    (1, 1, 1)
    >>> with policy("torch"):
    ...     cast_report(asarray([500.0]), float8_e4m3fn).saturated
    1
    """
    array = as_array(x, "cast_report")
    policy = array._policy or get_policy()
    source, target = storage_dtype(array), as_dtype(dtype)
    target = policy.canonical.get(target, target)
    if dt.string in (source, target):
        raise TypeError("cast_report is about numbers; strings are cast exactly or refused")
    buffer = explicit(
        policy, array._buffer, source, target, saturate=saturate, round_mode=round_mode
    )
    given, made = _values(array._buffer, source), _values(buffer, target)
    with np.errstate(invalid="ignore"):  # a signalling NaN
        counts = _counts(given, made, target)
    note = policy.cast.borrowed(source, target)
    return CastReport(policy.name, source.name, target.name, int(given.size), **counts, note=note)


def _values(buffer: Any, dtype: DType) -> Values:
    """The values, exactly: integers in 64 bits, floats in float64; complex ones as they are."""
    if dtype.kind in INTEGERS:
        wide = np.uint64 if dtype is dt.uint64 else np.int64
        return np.asarray(buffer.astype(wide)).reshape(-1)
    if dtype.kind is Kind.BOOL:
        return np.asarray(buffer.astype(np.int64)).reshape(-1)
    wide_dtype = dt.complex128 if dtype.kind is Kind.COMPLEX else dt.float64
    return np.asarray(backend_of(buffer).cast(buffer, dtype, wide_dtype)).reshape(-1)


@in_default_float_state
def _counts(given: Values, made: Values, target: DType) -> dict[str, Any]:
    """Sort the values into the report's classes, and measure the errors."""
    given, made, lost_imaginary = _parts(given, made, target)
    if target.kind is Kind.BOOL:
        return _to_bool(given, made, lost_imaginary)
    classes = _classes(given, made, target)
    measured = classes["exact"] | classes["rounded"] | classes["flushed_to_zero"]
    measured = (measured | classes["truncated"]) & ~_infinite(given)
    error = _errors(given, made, target)[measured]
    return {
        **{name: int(np.count_nonzero(which)) for name, which in classes.items()},
        "lost_imaginary": lost_imaginary,
        "largest_error": float(error.max()) if error.size else 0.0,
        "mean_error": float(error.mean()) if error.size else 0.0,
    }


def _parts(given: Values, made: Values, target: DType) -> tuple[Values, Values, int]:
    """Real values: those of complex dtypes count by their parts, which lie side by side.

    Returns
    -------
    tuple of (array, array, int)
        What was given, what was made of it, and how many imaginary parts were lost.
    """
    if given.dtype.kind == "c" and target.kind not in (Kind.COMPLEX, Kind.BOOL):
        return given.real, made, int(np.count_nonzero(given.imag))
    if made.dtype.kind == "c":
        both = given.dtype.kind == "c"
        parts = given.view(np.float64) if both else given.astype(np.float64)
        return parts, made.view(np.float64) if both else made.real, 0
    return given, made, 0


def _classes(given: Values, made: Values, target: DType) -> dict[str, Values]:
    """Which values belong to which class of the report.

    Every value that is not NaN belongs to one of the first eight.
    """
    # 1. What is NaN, before and after.
    nan_in, nan_out = _nan(given), _nan(made)
    nothing = np.zeros(given.shape, np.bool)

    # 2. Beyond the target: an end of it, Inf, NaN, or something else.
    whole = target.kind in INTEGERS
    low, high = bounds(target) if whole else (finfo(target).min, finfo(target).max)
    equal = _equal(given, made)
    below, above = _beyond(given, target)
    beyond = ~equal & ~nan_in & (below | above)
    ends = (below & (made == low)) | (above & (made == high))
    if whole and given.dtype.kind != "f":  # which keep their low bits, whatever those are
        ends = nothing
    to_inf = ~nan_in & _infinite(made) & ~_infinite(given)

    # 3. Inside of it: rounded, flushed or truncated, if it is not the same.
    changed = ~beyond & ~nan_in & ~nan_out & ~equal & ~to_inf
    flushed = nothing if whole else changed & (made == 0)

    minus_zero = np.signbit(given) & (given == 0) if given.dtype.kind == "f" else nothing
    kept = np.signbit(made) if made.dtype.kind == "f" else nothing
    return {
        "exact": equal & ~nan_in,
        "rounded": nothing if whole else changed & ~flushed,
        "saturated": beyond & ends & ~to_inf & ~nan_out,
        "overflowed_to_inf": to_inf,
        "overflowed_to_nan": ~nan_in & nan_out,
        "flushed_to_zero": flushed,
        "wrapped": beyond & ~ends & ~to_inf & ~nan_out,
        "truncated": changed if whole else nothing,
        "lost_minus_zero": minus_zero & ~kept,
        "nan_in": nan_in,
        "nan_out": nan_out,
    }


def _to_bool(given: Values, made: Values, lost_imaginary: int) -> dict[str, Any]:
    """To bool a value is exact if it is 0 or 1; all others are truncated to one bit."""
    exact, nan = given == made, _nan(given)
    classes = {"exact": exact, "truncated": ~exact & ~nan, "nan_in": nan}
    counts = {name: int(np.count_nonzero(which)) for name, which in classes.items()}
    counts = dict.fromkeys(_WORDS, 0) | counts | {"lost_imaginary": lost_imaginary}
    return {**counts, "largest_error": 0.0, "mean_error": 0.0}


def _nan(x: Values) -> Values:
    return np.isnan(x) if x.dtype.kind in "fc" else np.zeros(x.shape, np.bool)


def _infinite(x: Values) -> Values:
    return np.isinf(x) if x.dtype.kind == "f" else np.zeros(x.shape, np.bool)


def _equal(a: Values, b: Values) -> Values:
    """Whether numbers are equal, exactly."""
    if a.dtype.kind == b.dtype.kind:
        return np.asarray(a == b)
    if {a.dtype.kind, b.dtype.kind} == {"i", "u"}:
        return np.asarray((a == b) & (a >= 0) & (b >= 0))
    real, whole = (a, b) if a.dtype.kind == "f" else (b, a)
    with np.errstate(invalid="ignore"):
        back = real.astype(whole.dtype)
    limit = 2.0**64 if whole.dtype.kind == "u" else 2.0**63
    low = 0.0 if whole.dtype.kind == "u" else -limit
    held = (real >= low) & (real < limit) & (np.trunc(real) == real)
    return np.asarray(held & (back == whole))


def _beyond(x: Values, target: DType) -> tuple[Values, Values]:
    """What lies below and above all that is rounded or truncated to a value of the target."""
    if target.kind in INTEGERS:
        least, most = bounds(target)
        if x.dtype.kind != "f":
            return np.asarray(x < least), np.asarray(x > most)
        return np.asarray(np.trunc(x) < least), np.asarray(np.trunc(x) >= float(most + 1))
    layout = target.part.format
    assert layout is not None
    low, high = finfo(target).min, finfo(target).max
    half = float(_last_place(np.array([high]), target)[0]) / 2
    size = x.astype(np.float64)
    with np.errstate(over="ignore"):
        if layout.largest % 2:  # odd: the tie goes up, and out
            above, below = size - high >= half, low - size >= half
        else:
            above, below = size - high > half, low - size > half
    return (np.asarray(below) if layout.signed else size < low), np.asarray(above)


def _errors(given: Values, made: Values, target: DType) -> Values:
    """How far off each value is, in units of the target's last place at the value given."""
    with np.errstate(all="ignore"):
        x, y = given.astype(np.float64), made.astype(np.float64)
        if given.dtype.kind == made.dtype.kind != "f":
            return np.where(given == made, 0.0, np.abs(x - y))
        difference = np.abs(x - y)
        if given.dtype.kind in "iu":
            x = _size(given)
            difference = np.where(_equal(given, made), 0.0, _whole_difference(given, y))
        unit = 1.0 if target.kind in INTEGERS else _last_place(np.abs(x), target)
        return np.asarray(difference / unit)


def _size(given: Values) -> Values:
    """The scalar_class of integers as floats that are not rounded up into the next binade."""
    size = np.abs(given).view(np.uint64)
    keep = ~np.uint64((1 << 11) - 1)
    return np.asarray(np.where(size >> np.uint64(53), size & keep, size).astype(np.float64))


def _whole_difference(given: Values, made: Values) -> Values:
    """How far integers of 64 bits are from floats: in Python's integers where float64 is short."""
    difference: Values = np.abs(given.astype(np.float64) - made)
    for index in np.flatnonzero((difference != 0) | (np.abs(made) >= 2.0**53)):
        if np.isfinite(made[index]) and abs(int(given[index])) >= 1 << 53:
            difference[index] = abs(int(given[index]) - int(made[index]))
    return difference


def _last_place(size: Values, target: DType) -> Values:
    """The distance of the target's neighbours at a scalar_class, inside its range."""
    layout = target.part.format
    assert layout is not None
    _, exponent = np.frexp(size)
    least = 1 - layout.bias if layout.mantissa else -layout.bias
    top = (layout.largest >> layout.mantissa) - layout.bias
    clipped = np.clip(exponent - 1, least, max(top, least))
    place: Values = np.ldexp(1.0, (clipped - layout.mantissa).astype(np.int32))
    return place
