"""Report of a cast of an array: how many values it loses, and in which way.

>>> import promoarray as pa
>>> x = pa.asarray([1.0, 1.1, 500.0, -0.0], dtype=pa.float32)
>>> pa.cast_report(x, "float8_e4m3fn").overflowed_to_nan
1
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.console import Printable, html_table, visible
from promoarray.core.array_base import storage_dtype
from promoarray.core.cast import explicit
from promoarray.core.operands import as_array
from promoarray.dtypes import INTEGERS, DType, Kind, as_dtype
from promoarray.functions.data_types import finfo
from promoarray.kernels.float_state import in_default_float_state
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.policy import Policy
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
    largest_relative_error : float
        Of the rounded and truncated values.
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
    largest_relative_error: float = 0.0

    @property
    def beyond(self) -> int:
        """The values beyond the range of the target, whatever they become."""
        ends = self.saturated, self.wrapped, self.overflowed_to_inf, self.overflowed_to_nan
        return sum(ends)

    def and_of(self, other: CastReport) -> CastReport:
        """Return the report of these values and those of another report of the same cast."""
        sizes, every = (self.size, other.size), self.size + other.size
        mean = sum(n * x.mean_error for n, x in zip(sizes, (self, other), strict=True))
        counts = {name: getattr(self, name) + getattr(other, name) for name in _WORDS}
        return replace(
            self,
            size=every,
            **counts,
            largest_error=max(self.largest_error, other.largest_error),
            mean_error=mean / every if every else 0.0,
            largest_relative_error=max(self.largest_relative_error, other.largest_relative_error),
        )

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
    x: Any, dtype: object, *, saturate: bool | int | None = None, round_mode: str | None = None
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
    target = policy.cast.target(source, policy.canonical.get(target, target))
    if dt.string in (source, target):
        raise TypeError("cast_report is about numbers; strings are cast exactly or refused")
    return report_of(
        policy, array._buffer, source, target, saturate=saturate, round_mode=round_mode
    )


def report_of(
    policy: Policy, values: Any, source: DType, target: DType, **settings: Any
) -> CastReport:
    """Return the report of values in a buffer; ``cast_report`` has the rest."""
    buffer = explicit(policy, values, source, target, **settings)
    given, made = _values(values, source), _values(buffer, target)
    with np.errstate(all="ignore"):  # a signalling NaN, Inf - Inf
        counts = _counts(given, made, target)
    note = policy.cast.borrowed(source, target)
    return CastReport(policy.name, source.name, target.name, int(given.size), **counts, note=note)


def _values(buffer: Any, dtype: DType) -> Values:
    """The values, exactly: integers in 64 bits, floats in float64; complex ones as they are."""
    if dtype.kind in (*INTEGERS, Kind.BOOL):
        wide = np.uint64 if dtype is dt.uint64 else np.int64
        return np.asarray(buffer.astype(wide)).reshape(-1)
    wide_dtype = dt.complex128 if dtype.kind is Kind.COMPLEX else dt.float64
    return np.asarray(backend_of(buffer).cast(buffer, dtype, wide_dtype)).reshape(-1)


class _Exact(NamedTuple):
    """Real numbers, 64-bit integers among them: sums of two floats, the first the nearest one."""

    high: Values
    low: Values

    @classmethod
    def of(cls, numbers: Values) -> _Exact:
        if numbers.dtype.kind == "f":
            return cls(numbers, np.zeros(numbers.shape))
        top, bottom = (numbers >> 32) * 2.0**32, (numbers & 0xFFFFFFFF).astype(np.float64)
        high = top + bottom
        return cls(high, bottom - (high - top))

    def minus(self, other: _Exact) -> Values:
        """The difference: 0 of equal numbers alone, and of the right sign."""
        return np.asarray((self.high - other.high) + (self.low - other.low))


@in_default_float_state
def _counts(given: Values, made: Values, target: DType) -> dict[str, Any]:
    """Sort the values into the report's classes, and measure the errors."""
    given, made, lost_imaginary = _parts(given, made, target)
    if target.kind is Kind.BOOL:
        return _to_bool(given, made, lost_imaginary)
    x, y = _Exact.of(given), _Exact.of(made)
    classes = _classes(x, y, target, wraps=given.dtype.kind != "f")
    measured = classes["exact"] | classes["rounded"] | classes["flushed_to_zero"]
    measured = (measured | classes["truncated"]) & ~np.isinf(x.high)
    unit = 1.0 if target.kind in INTEGERS else _last_place(x, target)
    apart = np.abs(x.minus(y))
    error = (apart / unit)[measured]
    changed = classes["rounded"] | classes["truncated"]
    relative = apart[changed] / np.abs(x.high[changed])
    return {
        **{name: int(np.count_nonzero(which)) for name, which in classes.items()},
        "lost_imaginary": lost_imaginary,
        "largest_error": float(error.max()) if error.size else 0.0,
        "mean_error": float(error.mean()) if error.size else 0.0,
        "largest_relative_error": float(relative.max(initial=0.0)),
    }


def _parts(given: Values, made: Values, target: DType) -> tuple[Values, Values, int]:
    """The real values that were given, what was made of them, and how many imaginary parts were
    lost: complex values count by their parts, which lie side by side."""
    if given.dtype.kind == "c" and target.kind not in (Kind.COMPLEX, Kind.BOOL):
        return given.real, made, int(np.count_nonzero(given.imag))
    if made.dtype.kind == "c":
        both = given.dtype.kind == "c"
        parts = given.view(np.float64) if both else given.astype(np.float64)
        return parts, made.view(np.float64) if both else made.real, 0
    return given, made, 0


def _classes(given: _Exact, made: _Exact, target: DType, *, wraps: bool) -> dict[str, Values]:
    """Which values belong to which class of the report.

    Every value that is not NaN belongs to one of the first eight. Integers that are cast to
    integers keep their low bits (``wraps``), also where these are an end of the range.
    """
    # 1. What is NaN, before and after.
    nan_in, nan_out = np.isnan(given.high), np.isnan(made.high)

    # 2. Beyond the target: an end of it, Inf, NaN, or something else.
    whole = target.kind in INTEGERS
    low, high = map(_number, bounds(target) if whole else (finfo(target).min, finfo(target).max))
    equal = (given.high == made.high) & (given.low == made.low)
    below, above = _beyond(given, low, high, target)
    beyond = ~equal & ~nan_in & (below | above)
    ends = (below & (made.minus(low) == 0)) | (above & (made.minus(high) == 0))
    ends &= not (whole and wraps)
    to_inf = ~nan_in & np.isinf(made.high) & ~np.isinf(given.high)

    # 3. Inside of it: rounded, flushed or truncated, if it is not the same.
    changed = ~beyond & ~nan_in & ~nan_out & ~equal & ~to_inf
    flushed = changed & (made.high == 0) & (not whole)
    return {
        "exact": equal,
        "rounded": changed & ~flushed & (not whole),
        "saturated": beyond & ends & ~to_inf & ~nan_out,
        "overflowed_to_inf": to_inf,
        "overflowed_to_nan": ~nan_in & nan_out,
        "flushed_to_zero": flushed,
        "wrapped": beyond & ~ends & ~to_inf & ~nan_out,
        "truncated": changed & whole,
        "lost_minus_zero": np.signbit(given.high) & (given.high == 0) & ~np.signbit(made.high),
        "nan_in": nan_in,
        "nan_out": nan_out,
    }


def _to_bool(given: Values, made: Values, lost_imaginary: int) -> dict[str, Any]:
    """To bool a value is exact if it is 0 or 1; all others are truncated to one bit."""
    exact, nan = given == made, np.isnan(given)
    classes = {"exact": exact, "truncated": ~exact & ~nan, "nan_in": nan}
    counts = {name: int(np.count_nonzero(which)) for name, which in classes.items()}
    counts = dict.fromkeys(_WORDS, 0) | counts | {"lost_imaginary": lost_imaginary}
    return {**counts, "largest_error": 0.0, "mean_error": 0.0}


def _number(value: float) -> _Exact:
    return _Exact.of(np.array([value]))


def _beyond(x: _Exact, low: _Exact, high: _Exact, target: DType) -> tuple[Values, Values]:
    """What lies below and above all that is rounded or truncated to a value of the target."""
    if target.kind in INTEGERS:
        whole = _Exact(np.trunc(x.high), x.low)
        return whole.minus(low) < 0, whole.minus(high) > 0
    layout = target.part.format
    assert layout is not None
    half = _last_place(high, target) / 2
    below, above = low.minus(x), x.minus(high)
    out = np.greater_equal if layout.largest % 2 else np.greater  # odd: the tie goes up, and out
    return out(below, half) if layout.signed else below > 0, out(above, half)


def _last_place(x: _Exact, target: DType) -> Values:
    """The distance of the target's neighbours at a magnitude, inside its range."""
    layout = target.part.format
    assert layout is not None
    fraction, exponent = np.frexp(np.abs(x.high))
    exponent = exponent - ((fraction == 0.5) & (x.high * x.low < 0))  # rounded up to a power of two
    least = 1 - layout.bias if layout.mantissa else -layout.bias
    top = (layout.largest >> layout.mantissa) - layout.bias
    clipped = np.clip(exponent - 1, least, max(top, least))
    place: Values = np.ldexp(1.0, (clipped - layout.mantissa).astype(np.int32))
    return place
