"""Proofs and counter-examples: what a promote rule keeps of a lattice's properties.

The dtypes are few, so every case is tried: a pass is a proof. Of the failures the smallest is
shown: without Python scalars if possible, then of the fewest and narrowest dtypes.

The *order* is the rule's own: ``a`` lies below ``b`` if ``a`` with ``b``, either way about, is
``b``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from promoarray.console import listed
from promoarray.dtypes import WEAK_TYPES, DType, Kind
from promoarray.errors import quoted
from promoarray.once import cached_property
from promoarray.operations import OPERATIONS
from promoarray.promotion.plan import Operand, Plan
from promoarray.promotion.properties_report import (
    OperationCoverage,
    PropertiesReport,
    PropertyResult,
)

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import PolicyLike


class Failure(NamedTuple):
    """A case in which a property fails, why in words, and whether a refusal is all of it."""

    example: tuple[DType, ...]
    says: str
    refusal: bool = False


class Checked:
    """A policy's promote rule on the dtypes it is about, every answer looked up once."""

    def __init__(self, policy: PolicyLike) -> None:
        self.policy = policy
        self.dtypes = (*policy.dtypes, *(w for w in WEAK_TYPES if self._meets_arrays(w)))
        self.join = {(a, b): self._join(a, b) for a, b in product(self.dtypes, repeat=2)}
        self.below = {
            (a, b)
            for a, b in self.join
            if a is b or (self.join[a, b] is b and self.join[b, a] is b)
        }

    def _meets_arrays(self, weak: DType) -> bool:
        promote, dtypes = self.policy.promote, self.policy.dtypes
        return any(promote(weak, d) or promote(d, weak) for d in dtypes)

    def _join(self, a: DType, b: DType) -> DType | None:
        """The rule; but of two Python scalars Python makes one, before any policy is asked."""
        if a.weak and b.weak and not self.policy.weak_arrays:
            return max(a, b, key=lambda d: d.kind.category)
        return self.policy.promote(a, b)

    def fold(self, a: DType | None, b: DType | None) -> DType | None:
        """The rule where one side may have no dtype, or one that the table does not show."""
        if a is None or b is None:
            return None
        return self.join[a, b] if (a, b) in self.join else self._join(a, b)

    def size(self, failure: Failure) -> tuple[int, ...]:
        """How much a reader must take in: scalars, distinct dtypes, bits, places in the table."""
        example = failure.example
        bits = sum(d.bits for d in example)
        places = (self.dtypes.index(d) for d in example)
        return sum(d.weak for d in example), len(set(example)), bits, *places

    @cached_property
    def pairs(self) -> list[tuple[DType, DType]]:
        """Every pair."""
        return list(self.join)

    def missing(self) -> Iterable[Failure]:
        """Pairs without a common dtype."""
        for a, b in self.pairs:
            if self.join[a, b] is None:
                yield Failure((a, b), f"{a.code} with {b.code} has no common dtype")

    def order_dependent(self) -> Iterable[Failure]:
        """Pairs that answer otherwise the other way about."""
        for a, b in self.pairs:
            if self.join[a, b] is not self.join[b, a]:
                here, there = code(self.join[a, b]), code(self.join[b, a])
                yield Failure(
                    (a, b), f"{a.code} with {b.code} is {here}, {b.code} with {a.code} {there}"
                )

    def grouping_dependent(self) -> Iterable[Failure]:
        """Triples that answer otherwise when grouped otherwise."""
        for a, b, c in product(self.dtypes, repeat=3):
            ab, bc = self.join[a, b], self.join[b, c]
            left, right = self.fold(ab, c), self.fold(a, bc)
            if left is not right:
                x, y, z = a.code, b.code, c.code
                says = (
                    f"({x} with {y}) with {z} is {code(ab)} with {z}: {code(left)}; "
                    f"{x} with ({y} with {z}) is {x} with {code(bc)}: {code(right)}"
                )
                yield Failure((a, b, c), says, refusal=left is None or right is None)

    def restless(self) -> Iterable[Failure]:
        """Dtypes that change when they meet themselves."""
        for a in self.dtypes:
            if self.join[a, a] is not a:
                yield Failure((a,), f"{a.code} with {a.code} is {code(self.join[a, a])}")

    def falling(self) -> Iterable[Failure]:
        """Triples in which a larger operand gives a result that is not larger."""
        for a, b in self.below:
            for c in self.dtypes:
                for low, high in (
                    (self.join[a, c], self.join[b, c]),
                    (self.join[c, a], self.join[c, b]),
                ):
                    if low and high and not self._is_below(low, high):
                        says = (
                            f"{a.code} lies below {b.code}, but with {c.code} they are "
                            f"{low.code} and {high.code}, and {low.code} is not below {high.code}"
                        )
                        yield Failure((a, b, c), says)

    def _is_below(self, a: DType, b: DType) -> bool:
        return a is b or (self.fold(a, b) is b and self.fold(b, a) is b)

    def losing(self) -> Iterable[Failure]:
        """Pairs whose result cannot hold fractions, imaginary parts or a sign of one of them."""
        for a, b in self.pairs:
            common = self.join[a, b]
            for d in (a, b):
                lost = common and lost_kind(d, common)
                if lost:
                    yield Failure(
                        (a, b), f"{a.code} with {b.code} is {code(common)}: {d.code} loses {lost}"
                    )

    def not_least(self) -> Iterable[Failure]:
        """Pairs whose result is not the least upper bound in the rule's own order."""
        for a, b in self.pairs:
            why = self._why_not_least(a, b)
            if why:
                yield Failure((a, b), f"{a.code} with {b.code}: {why}")

    def ill_defined(self) -> Iterable[Failure]:
        """Pairs as ``not_least`` gives, but for those rightly refused: nothing lies above both."""
        for a, b in self.pairs:
            refused = self.join[a, b] is None and not self._bounds(a, b)
            why = self._why_no_order(a, b) if refused else self._why_not_least(a, b)
            if why:
                yield Failure((a, b), f"{a.code} with {b.code}: {why}")

    def _bounds(self, a: DType, b: DType) -> list[DType]:
        return [d for d in self.dtypes if (a, d) in self.below and (b, d) in self.below]

    def _least(self, bounds: list[DType]) -> DType | None:
        return next((d for d in bounds if all((d, o) in self.below for o in bounds)), None)

    def _why_not_least(self, a: DType, b: DType) -> str:
        common, bounds = self.join[a, b], self._bounds(a, b)
        least = self._least(bounds)
        if common is not None and common is least:
            return self._why_no_order(a, b)
        if least is not None:
            return f"{least.code} is the least dtype above both, and the rule says {code(common)}"
        if not bounds:
            said = f", and the rule says {common.code}" if common else ""
            return f"nothing lies above both{said}"
        lowest = [d for d in bounds if not any((o, d) in self.below for o in bounds if o is not d)]
        either = listed(d.code for d in lowest or bounds)
        return f"{either} lie above both, none of them below another"

    def _why_no_order(self, a: DType, b: DType) -> str:
        """Whether some dtype lies between them and they are not ordered so, as in a cycle."""
        if (a, b) in self.below:
            return ""
        for d in self.dtypes:
            if (a, d) in self.below and (d, b) in self.below:
                x, y, z = a.code, d.code, b.code
                return f"{x} lies below {y} and {y} below {z}, but {x} not below {z}"
        return ""


PROPERTIES: dict[str, tuple[str, int, Callable[[Checked], Iterable[Failure]]]] = {
    "total": ("every pair has a common dtype", 2, Checked.missing),
    "commutative": ("the order of two operands does not matter", 2, Checked.order_dependent),
    "associative": (
        "the grouping of three operands does not matter",
        3,
        Checked.grouping_dependent,
    ),
    "idempotent": ("a dtype with itself stays", 1, Checked.restless),
    "monotone": ("a larger operand never gives a smaller result", 0, Checked.falling),
    "no loss of kind": ("no fraction, imaginary part or sign is lost", 2, Checked.losing),
    "partial lattice": ("what lies above two dtypes has a least one", 2, Checked.ill_defined),
    "lattice": ("every pair has a least dtype above both, the common one", 2, Checked.not_least),
}
"""Each property: its words, how many dtypes a case has (0: an ordered pair and one), its search."""


def lost_kind(source: DType, target: DType) -> str:
    """Say what a dtype cannot hold of another's kind: "" if nothing."""
    if source.kind.category > target.kind.category:
        return {1: "all but whether it is zero", 2: "its fractions", 3: "its imaginary part"}.get(
            source.kind.category, "its text"
        )
    if source.weak or source.kind is Kind.BOOL or source.kind is Kind.UINT:
        return ""  # a Python int may be of either sign
    unsigned = target.format is not None and not target.format.signed
    signed = source.format is None or source.format.signed
    return "its sign" if signed and (unsigned or target.kind is Kind.UINT) else ""


def code(dtype: DType | None) -> str:
    """A dtype's code, or what is said where there is none."""
    return dtype.code if dtype else "refused"


def _property(name: str) -> str:
    if name not in PROPERTIES:
        raise ValueError(f"unknown property {quoted(name)}. Write one of: {', '.join(PROPERTIES)}")
    return name


def check(policy: PolicyLike, *properties: str, operations: bool = True) -> PropertiesReport:
    """See ``Policy.check``."""
    names = [_property(name) for name in properties] or list(PROPERTIES)
    checked = Checked(policy)
    findings = tuple(_find(checked, name) for name in names)
    answers = tuple(_answers(policy)) if operations else ()
    return PropertiesReport(policy.name, checked.dtypes, findings, answers)


def _find(checked: Checked, name: str) -> PropertyResult:
    words, arity, search = PROPERTIES[name]
    failures = list(search(checked))
    cases = len(checked.dtypes) ** arity if arity else 2 * len(checked.below) * len(checked.dtypes)
    if not failures:
        return PropertyResult(name, True, words, (), 0, cases)
    smallest = min(failures, key=lambda f: (f.refusal, *checked.size(f)))
    return PropertyResult(name, False, smallest.says, smallest.example, len(failures), cases)


def _answers(policy: PolicyLike) -> Iterable[OperationCoverage]:
    """Ask every binary operation about every pair of arrays."""
    pairs = list(product(policy.dtypes, repeat=2))
    for name, row in OPERATIONS.items():
        if row.arity != 2:
            continue
        results: dict[tuple[DType, DType], DType | None] = {}
        for a, b in pairs:
            plan = policy.plan(name, (Operand(a), Operand(b)))
            results[a, b] = plan.result if isinstance(plan, Plan) else None
        answered = sum(result is not None for result in results.values())
        apart = next(((a, b) for a, b in pairs if results[a, b] is not results[b, a]), ())
        yield OperationCoverage(name, answered, len(pairs), apart)
