"""Rules: functions of two dtypes to a dtype or None, and the two ways to write one as text.

A ``Table`` is written out in full, a ``Lattice`` as edges; a plain function is a third way. All are
called as ``rule(a, b)`` and answer None where there is no common dtype: never a guess.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from promoarray.dtypes import BY_CODE, DType

PromotionRule = Callable[[DType, DType], DType | None]


class Table:
    """A rule written out: the row is the left operand, the column the right one.

    Parameters
    ----------
    text : str
        A square of dtype codes whose first line names the columns and whose first column names the
        rows; ``-`` means that there is no common dtype. A dtype always goes with itself unless the
        cell says otherwise.

    Raises
    ------
    KeyError
        If a code is unknown.
    ValueError
        If a row is short or long.
    """

    def __init__(self, text: str) -> None:
        header, *rows = (line for line in text.strip().splitlines() if line.strip())
        columns = [BY_CODE[code] for code in header.split()]
        self.cells: dict[tuple[DType, DType], DType | None] = {}
        for row in rows:
            code, *cells = row.split()
            for column, cell in zip(columns, cells, strict=True):
                self.cells[BY_CODE[code], column] = None if cell == "-" else BY_CODE[cell]
        self.dtypes = tuple(dict.fromkeys(a for a, _ in self.cells))

    @classmethod
    def from_cells(cls, cells: Mapping[tuple[DType, DType], DType | None]) -> Table:
        """Make a table of cells."""
        table = cls.__new__(cls)
        table.cells = dict(cells)
        table.dtypes = tuple(dict.fromkeys(a for a, _ in cells))
        return table

    def __call__(self, a: DType, b: DType) -> DType | None:
        return self.cells.get((a, b), a if a is b else None)

    def path(self, a: DType, b: DType) -> str:
        """Say where the answer stands."""
        common = self(a, b)
        return f"table, row {a.code}, column {b.code}: {common.code if common else '-'}"


class Lattice:
    """A rule written as edges: the result is the least dtype above both operands.

    Parameters
    ----------
    text : str
        Lines ``a -> b c``: what lies right above each dtype, in dtype codes.

    Notes
    -----
    With ``above(x)`` the set of ``x`` and everything an edge path leads to, the bounds common to
    ``a`` and ``b`` are ``above(a) & above(b)``. A member ``d`` is the least of them exactly if all
    of them lie above it: ``above(a) & above(b) <= above(d)``. Two such members would lie above each
    other, which a graph without cycles does not allow; so there is one or none, and where two
    bounds are incomparable the answer is None rather than a pick between them.

    Raises
    ------
    KeyError
        If a code is unknown.
    ValueError
        If the edges run in a circle.
    """

    def __init__(self, text: str) -> None:
        self.edges: dict[DType, tuple[DType, ...]] = {}
        for line in text.strip().splitlines():
            lower, _, upper = line.partition("->")
            a = BY_CODE[lower.strip()]
            self.edges[a] = self.edges.get(a, ()) + tuple(BY_CODE[b] for b in upper.split())
        for b in [b for above in self.edges.values() for b in above]:
            self.edges.setdefault(b, ())
        self._above: dict[DType, frozenset[DType]] = {}
        self._least: dict[tuple[DType, DType], DType | None] = {}
        for a in self.edges:
            self._close(a, ())
        self.dtypes = tuple(self.edges)

    def _close(self, a: DType, below: tuple[DType, ...]) -> frozenset[DType]:
        if a in below:
            circle = " -> ".join(d.code for d in (*below[below.index(a) :], a))
            raise ValueError(f"the edges run in a circle: {circle}")
        if a not in self._above:
            upper = (self._close(b, (*below, a)) for b in self.edges[a])
            self._above[a] = frozenset({a}).union(*upper)
        return self._above[a]

    def __call__(self, a: DType, b: DType) -> DType | None:
        if (a, b) not in self._least:
            bounds = self.bounds(a, b)
            self._least[a, b] = next((d for d in bounds if bounds <= self._above[d]), None)
        return self._least[a, b]

    def above(self, a: DType) -> frozenset[DType]:
        """``a`` and every dtype it may become."""
        return self._above.get(a, frozenset())

    def bounds(self, a: DType, b: DType) -> frozenset[DType]:
        """The dtypes both may become."""
        return self.above(a) & self.above(b)

    def path(self, a: DType, b: DType) -> str:
        """Say how the edges lead from both operands to the answer."""
        common = self(a, b)
        if common is None:
            bounds = self.bounds(a, b)
            least = sorted(
                d.code
                for d in bounds
                if not any(d in self._above[o] and o is not d for o in bounds)
            )
            why = f"{' and '.join(least)} are both least" if least else "nothing lies above both"
            return f"lattice: {why}"
        below = [x for x in dict.fromkeys((a, b)) if x is not common] or [common]
        legs = (" -> ".join(d.code for d in self._climb(x, common)) for x in below)
        return f"lattice: {', '.join(legs)}"

    def _climb(self, a: DType, goal: DType) -> Iterable[DType]:
        yield a
        while a is not goal:
            a = next(b for b in self.edges[a] if goal in self._above[b])
            yield a


def fold(rule: PromotionRule, dtypes: Iterable[DType]) -> DType | None:
    """Apply a rule from the left to any number of dtypes."""
    common, *rest = dtypes
    for dtype in rest:
        joined = rule(common, dtype)
        if joined is None:
            return None
        common = joined
    return common
