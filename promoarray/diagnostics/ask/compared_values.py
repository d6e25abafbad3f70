"""Values that differ by policy where arrays are cast, and where they come in.

They are computed and compared once more at each pass of a place, as no other pass has the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from promoarray.backends import backend_of, is_lazy
from promoarray.core.array_base import Array
from promoarray.core.call_site import sites
from promoarray.core.cast import convert
from promoarray.core.events import CastEvent, SetitemEvent
from promoarray.diagnostics.ask.narrowing import Said, narrowed
from promoarray.diagnostics.edits.routes import routes
from promoarray.diagnostics.model.divergence import ENTRY
from promoarray.diagnostics.model.slots import as_seen_by
from promoarray.diagnostics.model.value_changes import (
    Place,
    ValueChange,
    differences,
    one_pass,
)
from promoarray.dtypes import INTEGERS, DType, Kind
from promoarray.promotion.policy import Policy


class Found(Protocol):
    """A report, as far as it is needed here."""

    uncomputed: int

    @property
    def policies(self) -> tuple[Policy, ...]:
        """The policies that are compared."""

    def record_values(self, change: ValueChange) -> None:
        """Add a place, or what differs in one more pass."""


@dataclass(eq=False)
class ComparedValues:
    """Casts what the run casts as every policy does, and notes what differs.

    Attributes
    ----------
    report : Found
        Names the policies, and has what is found.
    """

    report: Found

    def narrowed(
        self, data: tuple[Any, ...], policy: Policy, source: DType, target: DType, said: Said
    ) -> None:
        """Note what a policy loses of data that it narrows as they come in."""
        lost = narrowed(policy, data, source, target)
        if lost is not None:
            place = Place(*sites(), ENTRY, source.name, target.name)
            size = sum(x.size for x in data)
            self.report.record_values(one_pass(place, size, [said(lost)]))

    def cast(self, cast: CastEvent) -> None:
        """Note the policies that make other values of an explicit cast to the same dtype."""
        self._compare("astype", cast.policy, cast.array, cast.source, cast.target, cast.result)

    def stored(self, assignment: SetitemEvent) -> None:
        """Note the policies that make other values of an array that is assigned."""
        run, _, value, source, target = assignment
        self._compare("setitem", run, value, source, target)

    def may_differ(self, run: Policy, array: Array, target: DType) -> bool:
        """Whether the rule of some policy differs from the run's, for the dtype it has there."""
        for policy in self.report.policies:
            dtype = policy.strong(as_seen_by(policy, array).type)
            if dtype is not target and _other_rule(run, (policy,), dtype, target):
                return True
        return False

    def _compare(
        self,
        operation: str,
        run: Policy,
        array: Array,
        source: DType,
        target: DType,
        result: Array | None = None,
    ) -> None:
        """Cast an array as every policy does, from the dtype that each of them has.

        Where that is not the run's, both rules cast what the run's array is in it: what differs
        then is a matter of the rules, and not of the dtype, which differs from an earlier line on.
        """
        if array.size == 0:  # arrays of recorded programs have no values here
            return
        if is_lazy(backend_of(array._buffer)):  # which is not computed for it
            exact = source.kind is target.kind and source.bits < target.bits
            differs = not exact and _other_rule(run, self.report.policies, source, target)
            self.report.uncomputed += differs
            return
        found = []
        for dtype, policies in self._by_dtype(array, result, target).items():
            buffer = array._buffer
            if dtype is not source:
                if not _holds(source, dtype) or run.cast.refuses(source, dtype):
                    continue
                if not _other_rule(run, policies, dtype, target):
                    continue
                buffer = convert(run, buffer, source, dtype)
            found += differences(run, tuple(policies), buffer, dtype, target)
        if found:
            place = Place(*sites(), operation, source.name, target.name)
            ways = self._routes(run, array, source, target) if operation == "astype" else ()
            self.report.record_values(one_pass(place, array.size, found, ways))

    def _routes(self, run: Policy, array: Array, source: DType, target: DType) -> tuple[DType, ...]:
        """The dtypes by way of which all policies make the run's values."""
        others = tuple(policy for policy in self.report.policies if policy is not run)
        return routes(run, others, array, source, target)

    def _by_dtype(
        self, array: Array, result: Array | None, target: DType
    ) -> dict[DType, list[Policy]]:
        """The policies by the dtype that an array has under them, but for those whose result has
        another dtype than the run's."""
        found: dict[DType, list[Policy]] = {}
        for policy in self.report.policies:
            if result is None or as_seen_by(policy, result).type is target:
                found.setdefault(policy.strong(as_seen_by(policy, array).type), []).append(policy)
        return found


def _other_rule(run: Policy, policies: Iterable[Policy], source: DType, target: DType) -> bool:
    """Whether some policy casts by another rule than the run's."""
    rule = run.cast.plan(source, target)
    return any(policy.cast.plan(source, target) != rule for policy in policies)


def _holds(source: DType, dtype: DType) -> bool:
    """Whether an array of a dtype can stand for one of another, but for rounding."""
    return source.kind is dtype.kind or (source.kind in INTEGERS and dtype.kind is Kind.FLOAT)
