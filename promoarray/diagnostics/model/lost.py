"""Losses: numbers that a run itself lost, at a line, with equal dtypes under every policy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from promoarray.core.call_site import Site
from promoarray.diagnostics.model.flow import Source
from promoarray.diagnostics.model.kinds import Kind, kinds_of

WRAP, RANGE, OVERFLOW, NAN, DIGITS, ABSORBED, UNDERFLOW, WIDENING, UNSTABLE = (
    *("integer-wrap", "cast-out-of-range", "overflow", "nan-born", "digits-lost", "absorbed"),
    *("underflow", "implicit-widening", "unstable"),
)
"""Kinds of losses."""

CHECKS: Mapping[str, Kind] = kinds_of("""
integer-wrap: an integer result does not fit its dtype | integer-wrap | integers wrap | that wrap |
    Integers that wrap | IntegerWrap | error | The exact result of integers does not fit the dtype
    of the result, which holds its low bits instead.
cast-out-of-range: a value is beyond the range of the dtype that it is cast to | cast-out-of-range |
    cast out of range | cast out of range | Casts out of range | CastOutOfRange | error | The value
    is beyond the range of the dtype, or is NaN and the dtype has none: machines and frameworks make
    different numbers of it.
overflow: finite operands give Inf | overflow | Inf of finite operands | that overflow | Overflows |
    Overflow | error | The result is beyond the largest number of its dtype, or a division by zero,
    and is the first Inf: what follows from it is not told.
nan-born: operands without NaN give NaN | nan-born | NaN is born | at which NaN is born | Where NaN
    is born | NanBorn | error | No operand has NaN there and the result has: what follows from it is
    not told.
digits-lost: whole numbers or times change, as the dtype has too few digits | digits-lost | digits
    are lost | that lose digits | Digits that are lost | DigitsLost | warning | A float has digits
    enough for whole numbers up to 2^53 (float64), 2^24 (float32), 2^11 (float16) or 2^8 (bfloat16).
    Beyond, identifiers, positions and times become others.
absorbed: an update that is not zero changes nothing | absorbed | updates are absorbed | that absorb
    updates | Updates that are absorbed | Absorbed | warning | The sum is the number that it was
    before, as the update is less than half of its last digit: counters and averages stand still.
underflow: the result is zero or subnormal, and the exact one is not | underflow | underflow | that
    underflow | Underflows | Underflow | warning | The exact result is less than the least normal
    number of the dtype: it is flushed to zero, or has lost digits.
implicit-widening: a promotion makes the result wider than the data | implicit-widening | implicit
    widening | that widen | Results that are wider than the data | ImplicitWidening | note | A
    promotion, which nobody wrote down, makes floats of more bits: memory and time.
unstable: in more digits the result is another | unstable | unstable | that are unstable | Unstable
    results | Unstable | warning | The same function of the same operands in more digits gives a
    result that is further off than rounding once explains.
""")
"""By name, in the order in which reports have them."""

LEAST = 0.25
"""Beside a number from here on what underflows is nothing, in any dtype of 16 bits and more."""


@dataclass(frozen=True, slots=True)
class Example:
    """The first element that was lost."""

    index: tuple[int, ...]  # in the result; () of one without axes
    given: tuple[str, ...]  # what the operands have there, as text
    exact: str  # what the result would be; "" where that is not known
    got: str  # what it is


@dataclass(frozen=True, slots=True)
class Loss:
    """Numbers lost in one pass of an operation."""

    kind: str
    count: int  # elements
    of: int  # elements that were examined
    example: Example
    # of each operand the least and the greatest value but for NaN, as text
    ranges: tuple[tuple[str, str], ...] = ()
    note: str = ""  # what else is known, as what other machines make of it
    wanted: str = ""  # the least dtype that holds every exact result; "" if none is known
    weight: float = 0.0  # of updates: how many halves of a digit all that are absorbed come to
    arrays: int = 0  # into how many arrays, that last, the line has written such until then
    vanishes: bool = False  # of updates: whether they are a thousandth of the line's first ones
    # of those that wrapped, where in the flat result; None where that is not told
    which: Any = field(default=None, repr=False, compare=False)


@dataclass
class LostPlace:
    """Losses of a kind at one place, in all passes."""

    kind: str
    name: str  # the operation, or the function of the framework
    operands: tuple[str, ...]  # dtypes; of Python numbers what they are
    dtype: str  # of the result
    site: Site
    program: Site
    loss: Loss  # of the first pass that lost any
    count: int = 0
    of: int = 0
    passes: int = 0  # that lost some
    last: int = 0  # the number of the last of them
    total: int = 0  # passes in all
    about: bool = False  # whether that is not exactly known
    first: int = 0  # the number of the pass, from 1
    order: int = 0  # when it was met first, among all
    # what made each operand, where that was recorded
    sources: tuple[Source | None, ...] = ()
    backward: bool = False  # whether it was met in the gradient of the line
    idiom: str | None = None  # how the source says that it is meant; None where nobody has asked
    chosen: bool = False  # whether the line chooses those that were lost, of others beside them
    bytes: int = 0  # that a widening costs, in all passes
    weight: float = 0.0  # of updates, the most in any pass
    arrays: int = 0
    framework: str = ""  # that computed it; "" of promoarray's own arrays
    vanishes: bool = False  # of updates, in every pass

    @property
    def place(self) -> tuple[Any, ...]:
        """Where it is told, once."""
        return self.kind, self.name, self.site, self.program, self.backward
