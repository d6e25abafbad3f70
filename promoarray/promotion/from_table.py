"""Policies of one's own: a table or a lattice, and sensible answers to all it does not say.

``fields_of`` works out the fields of such a policy, for ``Policy.from_table`` and
``Policy.from_lattice``; ``Extended`` gives a rule that says nothing of Python scalars an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from promoarray import dtypes as dt
from promoarray.dtypes import WEAK, DType, Kind
from promoarray.errors import quoted
from promoarray.operations import OPERATIONS, Family
from promoarray.promotion.default_rules import operations as general
from promoarray.promotion.ranks import LowestFirst
from promoarray.promotion.rules import Lattice, Table
from promoarray.promotion.scalars import WIDE, Scalars, in_range, wrap
from promoarray.promotion.source import Source
from promoarray.promotion.table_text import cell_dtype
from promoarray.promotion.type_steps import supported_types

if TYPE_CHECKING:
    from promoarray.promotion.policy_like import OperationRule, PolicyLike

SCALARS = ("weak", "strong", "refuse")
OVERFLOW = {"raise": in_range, "wrap": wrap}


@dataclass(frozen=True, eq=False, slots=True)
class Extended:
    """A rule of dtypes, extended to the Python scalars it does not name."""

    base: Table | Lattice  # asked first; what it says of weak types holds
    defaults: Mapping[DType, DType]  # what the weak types become when nothing strong is near
    # ``"weak"``: a scalar counts only if its kind is above the array's, and then as its default (a
    # complex one beside a float as the least complex dtype that holds the float); ``"strong"``:
    # always as its default; ``"refuse"``: never.
    scalars: str

    def __call__(self, a: DType, b: DType) -> DType | None:
        if self._written(a, b):
            return self.base(a, b)
        if a.weak and b.weak:
            return max(a, b, key=lambda d: d.kind.category)
        pair = self._instead(a, b)
        return pair and self.base(*pair)

    def _written(self, a: DType, b: DType) -> bool:
        named = self.base.dtypes
        return not (a.weak or b.weak) or (a in named and b in named)

    def _instead(self, a: DType, b: DType) -> tuple[DType, DType] | None:
        """What a weak type and a dtype count as; None if they do not go together."""
        if self.scalars == "refuse":
            return None
        array, scalar = (b, a) if a.weak else (a, b)
        counts = self.defaults[scalar]
        if self.scalars == "weak":
            if scalar.kind.category <= array.kind.category:
                return array, array
            if array.kind is Kind.FLOAT:
                counts = next(filter(lambda c: self.base(array, c) is c, self._complex()), counts)
        return (counts, b) if a.weak else (a, counts)

    def _complex(self) -> list[DType]:
        found = (d for d in self.base.dtypes if d.kind is Kind.COMPLEX and not d.weak)
        return sorted(found, key=lambda d: d.bits)

    def path(self, a: DType, b: DType) -> str:
        """Say where the answer stands, and what a scalar counts as."""
        if self._written(a, b):
            return self.base.path(a, b)
        pair = None if a.weak and b.weak else self._instead(a, b)
        if pair is None:
            common = self(a, b)
            return f"Python scalars: {common.code if common else 'refused beside arrays'}"
        scalar, array = (a, b) if a.weak else (b, a)
        if pair == (array, array):
            return f"{scalar.code} is of no higher kind than {array.code}, which stays"
        counts = pair[0] if a.weak else pair[1]
        return f"{scalar.code} counts as {counts.code}; {self.base.path(*pair)}"


def _raised(policy: PolicyLike, higher: DType, lower: DType) -> DType | None:
    """Let a lower rank count only if its kind is higher."""
    outranks = lower.kind.category > higher.kind.category
    return policy.promote(higher, lower) if outranks else higher


by_rank = LowestFirst(_raised)


def same_kind(result: DType, target: DType) -> bool:
    """Allow writing within a kind or up the kinds, never a float into integers."""
    return result.kind.category <= target.kind.category


def _always(result: DType, target: DType) -> bool:
    return True


INPLACE: dict[str, Callable[[DType, DType], bool] | None] = {
    "same_kind": same_kind,
    "any": _always,
    "rebind": None,
}


def read_lattice(text: str | Lattice) -> Lattice:
    """Read edges ``a -> b c``; dtypes by code or name.

    Raises ValueError if a dtype is unknown, a line has no arrow, or the edges run in a circle.
    """
    if isinstance(text, Lattice):
        return text
    lines = []
    for line in filter(str.strip, text.splitlines()):
        lower, arrow, upper = line.partition("->")
        if not arrow:
            raise ValueError(f"{quoted(line.strip())} has no arrow; write a -> b c")
        codes = [cell_dtype(word).code for word in (lower.strip(), *upper.split())]
        lines.append(f"{codes[0]} -> {' '.join(codes[1:])}")
    return Lattice("\n".join(lines))


def fields_of(
    name: str,
    base: Table | Lattice,
    *,
    title: str = "",
    scalars: str = "weak",
    overflow: str | Callable[[Any, DType], Any] = "raise",
    defaults: Mapping[Any, object] | None = None,
    inplace: str | Callable[[DType, DType], bool] = "same_kind",
    ranks: bool = False,
    operations: Mapping[str | Family, OperationRule] | None = None,
    sources: tuple[Source, ...] = (),
    **fields: Any,
) -> dict[str, Any]:
    """Return the fields of a policy of one rule; the options are those of ``Policy.from_table``."""
    _one_of("scalars", scalars, SCALARS)
    dtypes = tuple(d for d in base.dtypes if not d.weak)
    strong = _defaults(dtypes, defaults or {})
    written = "lattice" if isinstance(base, Lattice) else "table"
    return {
        "name": name,
        "title": title or name,
        "principle": f"The {written} of {name!r}.",
        "promote": Extended(base, strong, scalars),
        "dtypes": dtypes,
        "operations": general(strong) | _known(operations or {}),
        "operand_types": by_rank if ranks else supported_types,
        "ranks": ranks,
        "scalars": Scalars(fit=_option("overflow", overflow, OVERFLOW)),
        "defaults": strong,
        "inplace": _option("inplace", inplace, INPLACE),
        "sources": sources or (Source(f"the {written} of {name!r}"),),
        "refusal": f"the {written} of {name!r} has no common dtype for them",
        **fields,
    }


def _known(operations: Mapping[str | Family, OperationRule]) -> dict[str | Family, OperationRule]:
    for key in operations:
        if not isinstance(key, Family):
            _one_of("operation", key, tuple(OPERATIONS))
    return dict(operations)


def _option(what: str, given: Any, options: Mapping[str, Any]) -> Any:
    if callable(given):
        return given
    _one_of(what, given, tuple(options))
    return options[given]


def _one_of(what: str, given: object, options: tuple[str, ...]) -> None:
    if given not in options:
        raise ValueError(f"{what} {quoted(given)} is not one of {', '.join(map(repr, options))}")


def _defaults(dtypes: tuple[DType, ...], given: Mapping[Any, object]) -> dict[DType, DType]:
    """What the weak types become: as given, else Python's own dtype, else the widest there is."""
    named = {WEAK.get(key) or cell_dtype(key): cell_dtype(value) for key, value in given.items()}
    wrong = next((key for key in named if not key.weak), None)
    if wrong is not None:
        raise ValueError(f"defaults are of bool, int, float and complex, not of {wrong.name}")
    return {weak: named.get(weak) or _widest(weak, wide, dtypes) for weak, wide in WIDE.items()}


def _widest(weak: DType, wide: DType, dtypes: tuple[DType, ...]) -> DType:
    kinds = {weak.kind, Kind.UINT} if weak is dt.weak_int else {weak.kind}
    found = [d for d in dtypes if d.kind in kinds]
    if wide in dtypes or not found:
        return wide
    return max(found, key=lambda d: (d.kind is weak.kind, d.bits))
