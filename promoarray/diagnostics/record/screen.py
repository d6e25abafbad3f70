"""Calls that are like others: of their numbers it is seen at once that nothing was lost.

What has to be looked at is decided once for all calls that are alike; a number of an array of one
element is read as Python's. ``checked.py`` looks at whatever does not pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from promoarray.diagnostics.losses.elements import Values, counts
from promoarray.diagnostics.losses.floats import SCALED
from promoarray.diagnostics.losses.integers import EXACT
from promoarray.diagnostics.model.lost import WRAP, Example, Loss
from promoarray.diagnostics.record.checks import Checks
from promoarray.diagnostics.record.met import Met
from promoarray.diagnostics.record.updates import is_as_before
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.promotion.scalars import bounds, largest


class Fed(NamedTuple):
    """Which operand is what the same line has made before, as far as the flow is known."""

    known: int  # how much of the flow was
    operand: int | None


class Screen:
    """What the calls that are like one of a single result may lose, and whether they did.

    Parameters
    ----------
    met : Met
        The call, with what made its operands, without values.
    dtype : DType
        Of the result; of the operands as well, where it is a float.
    read : callable
        From an array to the number that it is, if it has one element; else to its values, or None.
    writes : bool
        Whether it writes into its first argument.
    reflected : bool
        Whether its operands stand in the other order.
    """

    def __init__(
        self,
        checks: Checks,
        met: Met,
        dtype: DType,
        read: Callable[[Any], Any],
        *,
        writes: bool,
        reflected: bool,
    ) -> None:
        self.met, self.writes, self.fed = met, writes, Fed(-1, None)
        self._checks, self.dtype, self._read = checks, dtype, read
        self._passes = checks.passes(met.name, met.place, met.codes)
        self._exact = EXACT.get(met.operation) if dtype.kind in INTEGERS else None
        self._turns = -1 if reflected else 1
        self._is_scaled = met.operation in SCALED
        self._low: float
        self._high: float
        if self._exact is not None:
            self._low, self._high = bounds(dtype)
        elif dtype.format is not None:
            self._low = 2.0 ** (1 - dtype.format.bias) if self._is_scaled else 0.0
            self._high = largest(dtype)

    @staticmethod
    def fits(operation: str, dtype: DType, *, one: bool) -> bool:
        """Return whether results of a dtype can be looked at so; ``one`` of one element."""
        return dtype.kind is Kind.FLOAT or (one and dtype.kind in INTEGERS and operation in EXACT)

    def before(self, args: Sequence[Any]) -> Any:
        """Return the number that is about to be written over."""
        return self._read(args[0])

    def passed(self, args: Sequence[Any], result: Any, before: Any) -> bool:
        """Count a call if it lost nothing, or what others have lost; False of any other."""
        made = self._read(result)
        if self._exact is not None:
            found = self._whole(args, made, before)
        elif type(made) is float:
            found = self._low <= abs(made) <= self._high and self._moves(args, result, made, before)
        else:
            found = self._are_clear(args, made)
        if found:
            self._passes[0] += 1
        return found

    def _moves(self, args: Sequence[Any], result: Any, made: float, before: Any) -> bool:
        """Whether what is accumulated changes, where something is."""
        if self.writes:
            self._checks.writes_into(self.met, result)
            return bool(before != made)
        fed = self.fed.operand
        return fed is None or bool(self._read(args[fed]) != made)

    def _are_clear(self, args: Sequence[Any], made: Any) -> bool:
        if made is None or self.writes:
            return False
        result = Values(made, self.dtype)
        if any(counts(result)[: 4 if self._is_scaled else 2]):
            return False
        if (fed := self.fed.operand) is None:
            return True
        old = self._read(args[fed])
        if type(old) is float or old is None:
            return False
        return not is_as_before(Values(old, self.dtype), result)

    def _whole(self, args: Sequence[Any], made: Any, before: Any) -> bool:
        given = [x if type(x) is int else self._read(x) for x in args[:: self._turns]]
        if self.writes:
            given[0] = before
        assert self._exact is not None
        if type(made) is not int or any(type(x) not in (int, bool) for x in given):
            return False
        exact = self._exact(*given)
        if self._low <= exact <= self._high:
            return bool(exact == made)
        return self._checks.lost_again(self.met, _ONE_WRAPS, self._passes[0] + 1)


_ONE_WRAPS = Loss(WRAP, 1, 1, Example((), (), "", ""))
