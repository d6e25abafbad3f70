"""Python numbers that are stored, not computed with: creation and assignment.

``full``, ``asarray`` and ``x[key] = value`` put numbers into a dtype that is given, and make one
where none is; frameworks do so by other rules than their operators.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from promoarray.dtypes import DType, Kind
from promoarray.errors import quoted
from promoarray.promotion.scalars import Fit, in_range, passing, passing_of, truncated

NumbersDType = Callable[[tuple[Any, ...]], "DType | None"]
"""From Python numbers to the dtype that an array of them has; None where the default has a say."""


def held(value: Any, dtype: DType) -> Any:
    """Return a value that the dtype holds, fractions of a float apart.

    Raises TypeError for a complex number that would lose its imaginary part; ValueError or
    OverflowError for what no integer of the dtype is: NaN, infinities, numbers beyond its range.
    """
    return in_range(real_and_finite(value, dtype), dtype)


def real_and_finite(value: Any, dtype: DType) -> Any:
    """Return a value as ``held``, but an int of whatever size."""
    if type(value) is complex and dtype.kind not in (Kind.COMPLEX, Kind.BOOL):
        raise TypeError(f"complex numbers do not become {dtype.name}; take x.real first")
    return truncated(value, dtype)


def real_and_fitting(fit: Fit) -> Fit:
    """The rule of numbers that are real where the dtype is, and finite where it has integers."""

    def rule(value: Any, dtype: DType) -> Any:
        return fit(real_and_finite(value, dtype), dtype)

    passes = passing_of(fit)
    return passing(**passes._asdict())(rule) if passes else rule


def real_part(value: Any, dtype: DType) -> Any:
    """Drop the imaginary part of a number that becomes a real one; a bool asks for both parts."""
    kept = Kind.COMPLEX, Kind.BOOL
    return value.real if type(value) is complex and dtype.kind not in kept else value


def no_imaginary_dropped(source: DType, target: DType) -> str | None:
    """Refuse to assign complex numbers to real ones."""
    dropped = source.kind is Kind.COMPLEX and target.kind is not Kind.COMPLEX
    return "it would drop the imaginary parts" if dropped else None


def any_array(source: DType, target: DType) -> str | None:
    """Assign arrays of every dtype (``Policy.assigns``): of complex numbers the real parts."""
    return None


def real_parts(start: Any, stop: Any, step: Any) -> tuple[Any, Any, Any]:
    """Return the real parts of what ``arange`` is given."""
    start, stop, step = (v.real if type(v) is complex else v for v in (start, stop, step))
    return start, stop, step


def leading(start: Any, stop: Any, step: Any) -> tuple[Any, Any, Any]:
    """Return what ``arange`` is given, if its step does not lead away from the end."""
    if not (start <= stop if step > 0 else start >= stop):
        said = f"from {quoted(start)} to {quoted(stop)} in steps of {quoted(step)}"
        raise ValueError(f"arange does not lead {said}")
    return start, stop, step


def real_range(start: Any, stop: Any, step: Any) -> tuple[Any, Any, Any]:
    """Return what ``arange`` is given, if it is real."""
    if complex in (type(start), type(stop), type(step)):
        raise TypeError("arange takes real numbers")
    return start, stop, step


NumbersCheck = Callable[[tuple[Any, ...], DType], None]
"""Raises for numbers that a function does not take for a dtype."""


class Stored(NamedTuple):
    """How a policy stores Python numbers."""

    # What is done with a number that goes into a dtype; TypeError, ValueError and OverflowError
    # refuse it.
    fit: Fit = held
    # The same of functions that have a rule of their own, by name: ``setitem``, ``full``,
    # ``full_like``, ``asarray``, ``arange``, ``linspace``. Without one ``setitem`` treats an int
    # that does not fit as operators do.
    fit_by: Mapping[str, Fit] = MappingProxyType({})
    # Where no dtype is given, what these functions make of numbers, if it is not the policy's
    # default for the highest kind among them. ``zeros``, ``ones``, ``empty`` and ``eye`` are asked
    # without numbers.
    dtype_by: Mapping[str, NumbersDType] = MappingProxyType({})
    # What refuses the numbers of ``arange`` and ``linspace`` together, whatever comes of them,
    # given the dtype they are to have.
    check_by: Mapping[str, NumbersCheck] = MappingProxyType({})
    # From ``start``, ``stop`` and ``step`` of ``arange`` to the real numbers it counts by;
    # TypeError and ValueError refuse them.
    range: Callable[[Any, Any, Any], tuple[Any, Any, Any]] = real_range
    # Whether numbers in a list beside arrays without axes count as their default dtypes do:
    # ``np.asarray([np.float16(1), 1])`` is float64.
    strong_lists: bool = False
    # Functions that read the number off an array or a scalar of NumPy's that they fill with, and
    # the dtype that they then make where none is given, None for that of the number.
    reads: Mapping[str, DType | None] = MappingProxyType({})
    # Functions of numbers whose dtype is the common one of the arrays and of NumPy's scalars among
    # them: ``arange``, and of floats ``linspace``.
    promotes: frozenset[str] = frozenset()
    # Whether lists of numbers are weakly typed as lone numbers are, where arrays can be.
    weak_lists: bool = False

    def rule(self, name: str) -> Fit:
        """The rule that a function goes by."""
        return self.fit_by.get(name, self.fit)

    def check(self, name: str, values: tuple[Any, ...], dtype: DType) -> None:
        """Raise TypeError, ValueError or OverflowError for numbers that a function refuses."""
        if name in self.check_by:
            self.check_by[name](values, dtype)

    def dtype(self, name: str, values: tuple[Any, ...]) -> DType | None:
        """The dtype a function gives numbers; None for the policy's default."""
        rule = self.dtype_by.get(name)
        return None if rule is None else rule(values)
