"""Traces: the implicit casts of a block, and all data that left the policy, by line."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from promoarray.console import Printable, counted, html_table, text, visible
from promoarray.context import single_use
from promoarray.core.call_site import current_site
from promoarray.core.escape import Escape
from promoarray.core.events import Observer, OperationEvent, Repeat, Repeats, SetitemEvent
from promoarray.core.observers import notify_lock, observing
from promoarray.diagnostics.model.call_counts import Passes
from promoarray.diagnostics.model.kinds import KINDS
from promoarray.diagnostics.model.noted import Row, escapes_data, rows, summary_of, worded
from promoarray.diagnostics.spans import name_of, path_of, text_at
from promoarray.diagnostics.tracing.cast import (
    ALL,
    Cast,
    Selection,
    action_of,
    casts_of,
    casts_of_setitem,
    selection,
)
from promoarray.diagnostics.tracing.exports import Timeline, as_sarif
from promoarray.diagnostics.whole_file import write_whole
from promoarray.dtypes import DType

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


@dataclass(eq=False)
class Pass:
    """The casts that are made together at one place, and how often."""

    casts: tuple[Cast, ...]
    count: int = 0


@dataclass(eq=False, repr=False)
class Trace(Observer, Printable):
    """The implicit casts of a block, and the data that left the policy in it.

    Attributes
    ----------
    casts : Counter
        From each Cast to how often it happened: operands, results written in place and values
        assigned that changed their dtype, and Python scalars that changed their value.
    escapes : Counter
        From each Escape to how often it happened.
    """

    _selection: Selection = ALL
    _action: Callable[[Cast], None] | None = None
    _timeline: Timeline | None = None
    _found: dict[tuple[Cast, ...], Pass] = field(default_factory=dict)
    escapes: Counter[Escape] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.repeats = Repeats(_value)
        self._passes: Passes[Pass] = Passes()
        self._acts = False

    def __getstate__(self) -> dict[str, Any]:
        kept = "_selection", "_timeline", "_found", "escapes"
        return {name: vars(self)[name] for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__()  # type: ignore[misc]
        self.__dict__.update(state)

    @property
    def casts(self) -> Counter[Cast]:
        """The casts, and how often each was made."""
        found: Counter[Cast] = Counter()
        for each in tuple(self._found.values()):  # to which other threads may add meanwhile
            for cast in each.casts:
                found[cast] += each.count
        return found

    # -- what it is told --------------------------------------------------------------------------

    def on_operation(self, event: OperationEvent) -> Repeat | None:
        """Note the casts that the plan makes; of operations in place it has heard before."""
        types = tuple(x._type for x in (event.result, *event.extra_results))
        casts = self._selected(casts_of(event))
        if not casts:
            return Repeat(types, lambda: False)
        if not event.inplace:
            self._note(casts)
        if self._action is not None:
            return None
        return Repeat(types, partial(self._note_again, casts))

    def on_write(self, event: OperationEvent | SetitemEvent) -> None:
        """Note the casts of what is about to be written."""
        made = casts_of_setitem(event) if isinstance(event, SetitemEvent) else casts_of(event)
        if casts := self._selected(made):
            self._note(casts)

    def on_escape(self, escape: Escape) -> None:
        """Note data that leaves the policy."""
        self.escapes[escape] += 1
        if self._timeline is not None:
            self._timeline.add(escape)

    def _selected(self, casts: Iterable[Cast]) -> tuple[Cast, ...]:
        return tuple(filter(self._selection.has, casts))

    def _note(self, casts: tuple[Cast, ...]) -> None:
        """Count casts that are made, and do about them what is to be done."""
        self._pass_at(casts)
        if self._action is None or self._acts:  # what is typed at its prompt
            return
        self._acts = True
        try:
            for cast in casts:
                self._action(cast)
        finally:
            self._acts = False

    def _note_again(self, casts: tuple[Cast, ...]) -> bool:
        """Count casts of an operation that is like another."""
        with notify_lock:
            passed, new = self._passes.count(casts, partial(self._pass_at, casts))
            if not new:
                self._add_to_timeline(passed)
        return new

    def _pass_at(self, casts: tuple[Cast, ...]) -> Pass:
        """Count casts where the program stands."""
        site = current_site()
        here = tuple(replace(cast, site=site) for cast in casts)
        passed = self._found.setdefault(here, Pass(here))
        passed.count += 1
        self._add_to_timeline(passed)
        return passed

    def _add_to_timeline(self, passed: Pass) -> None:
        if self._timeline is not None:
            for cast in passed.casts:
                self._timeline.add(cast)

    # -- what it tells ----------------------------------------------------------------------------

    def filter(
        self,
        *,
        to: Any = None,
        source: Any = None,
        operation: str | Collection[str] | None = None,
        lossy: bool | None = None,
    ) -> Trace:
        """Return a trace of some of the casts, and of all data that left.

        Parameters
        ----------
        to, source : dtype or collection of dtypes, optional
            What is cast to, and from. Python scalars are of no source dtype.
        operation : str or collection of str, optional
            ``"add"``, ``"setitem"``; operations in place are told by the same names.
        lossy : bool, optional
            Whether values can be lost.
        """
        chosen = selection(to, source, operation, lossy)
        found: dict[tuple[Cast, ...], Pass] = {}
        for casts, passed in dict(self._found).items():
            kept = tuple(filter(chosen.has, casts))
            if kept:
                found.setdefault(kept, Pass(kept)).count += passed.count
        timeline = self._timeline and self._timeline.of({c for casts in found for c in casts})
        return Trace(chosen, None, timeline, found, self.escapes)

    def to_dict(self) -> dict[str, Any]:
        """Return ``casts`` and ``escapes`` as data, in the order of the source."""
        casts = [cast.to_dict() | {"count": count} for cast, count in self._sorted()]
        return {"casts": casts, "escapes": escapes_data(self.escapes)}

    def to_sarif(self, path: str | Path) -> None:
        """Write the casts and what left as SARIF 2.1.0, for code scanning and editors."""
        write_whole(Path(path), json.dumps(as_sarif(self._sorted(), self.escapes), indent=2))

    def to_chrome_trace(self, path: str | Path) -> None:
        """Write what happened when, for Perfetto (ui.perfetto.dev) and Chrome's trace viewer.

        Raises
        ------
        ValueError
            If the times were not kept.
        """
        if self._timeline is None:
            raise ValueError("this trace kept no times; write pa.trace(timeline=True)")
        write_whole(Path(path), json.dumps(self._timeline.to_dict()))

    def _sorted(self) -> list[tuple[Cast, int]]:
        return sorted(self.casts.items(), key=lambda item: (item[0].site, item[0].source.name))

    @property
    def headline(self) -> str:
        """How many casts there were, how many of them lossy, and whether data left the policy."""
        casts = self.casts
        lossy = sum(count for cast, count in casts.items() if cast.lossy)
        said = counted(casts.total(), "implicit cast") + (f", {lossy} lossy" if lossy else "")
        return " ".join(filter(None, (f"{said}.", summary_of(self.escapes))))

    def _table(self) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
        """The header and the rows; the last column stands where something is lost."""
        rows = [
            (
                name_of(cast.site),
                cast.name,
                cast.change,
                str(count),
                visible(cast.site.text),
                "" if cast.became else cast.loss,
            )
            for cast, count in self._sorted()
        ]
        width = len(_HEADER) - (not any(row[-1] for row in rows))
        return _HEADER[:width], [row[:width] for row in rows]

    def __str__(self) -> str:
        return text(self, wide=True)

    __repr__ = __str__

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.table import Table
        from rich.text import Text

        header, rows = self._table()
        table = Table(*header, box=None)
        for row in rows:
            table.add_row(*map(Text, row))
        if self._found or not self.escapes:
            yield table
        for title, found in self._left():
            yield Text(title, "bold")
            site = None
            for left in found:
                if left[0].site != site:
                    site = left[0].site
                    source = f"  {_source(left)}"
                    yield Text.assemble((path_of(site), "bold cyan"), (source, "bold"))
                yield Text(f"    {visible(worded(left))}")

    def html(self) -> str:
        """Return the trace as a part of a page."""
        parts = [html_table(*self._table(), stacked=True)]
        for title, found in self._left():
            cells = [(name_of(row[0].site), _source(row), visible(worded(row))) for row in found]
            table = html_table(("place", "source", "what left"), cells, stacked=True)
            parts.append(f"<h2>{title}</h2><p>{_LEGEND}</p>{table}")
        return "".join(parts)

    def _left(self) -> Iterator[tuple[str, list[Row]]]:
        """What left the policy, under a title each: arrays, then numbers."""
        for title, scalar in (
            (KINDS["escape"].heading, False),
            ("Scalars converted to Python", True),
        ):
            found = [row for row in rows(self.escapes) if row[0].scalar is scalar]
            if found:
                yield title, found


_LEGEND = (
    "What is computed there follows the rules of the library that took the data, not the policy's."
)


def _source(row: Row) -> str:
    return text_at(row[0].site)


_HEADER = ("place", "operation", "cast", "times", "source", "what is lost")


def _value(x: Any) -> Any:
    """What tells scalars apart: 0.0 and -0.0 are equal, and so are 1+0j and 1-0j."""
    return (type(x), x) if x and type(x) is not complex else (type(x), repr(x))


@single_use
def trace(
    *,
    to: DType | str | Collection[Any] | None = None,
    source: DType | str | Collection[Any] | None = None,
    operation: str | Collection[str] | None = None,
    lossy: bool | None = None,
    action: str = "record",
    timeline: bool = False,
) -> Iterator[Trace]:
    """Note the implicit casts of a block, and all data that left the policy in it.

    Parameters
    ----------
    to, source : dtype or collection of dtypes, optional
        Note only casts to these dtypes, or from these. Python scalars are of no source dtype.
    operation : str or collection of str, optional
        Note only the casts of these operations: ``"add"``, ``"setitem"``.
    lossy : bool, optional
        Note only casts by which values can be lost, or only those by which none can.
    action : {"record", "warn", "raise", "pdb"}
        What is done about each of these casts besides: nothing; ``ImplicitCastWarning``, or
        ``LossyCastWarning``, at the line of the program; ``ImplicitCastError``, before anything is
        written; the debugger, in the frame of the program.
    timeline : bool
        Whether to keep when each happened, for ``to_chrome_trace``: the first 131072.

    Yields
    ------
    Trace
        Filled as the block runs; print it, or ask ``casts``, ``escapes``, ``filter()``,
        ``to_dict()``, ``to_sarif()``, ``to_chrome_trace()``.

    Raises
    ------
    TypeError, ValueError
        If something is not a dtype, an operation or an action; when the block is entered.

    Notes
    -----
    Only this context is traced: threads started in the block are not. Each block has a ``trace()``
    of its own, and functions are not decorated with it. Data that leaves the policy is noted
    whatever casts are meant; ``no_escape`` forbids it.

    Examples
    --------
    >>> with trace() as found:
    ...     y = asarray([1, 2], dtype=int8) / 2
    >>> [(cast.name, cast.source, cast.target) for cast in found.casts]
    [('divide', promoarray.int8, promoarray.float64)]
    """
    chosen = selection(to, source, operation, lossy)
    traced = Trace(chosen, action_of(action), Timeline() if timeline else None)
    with observing(traced):
        yield traced
