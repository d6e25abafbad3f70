"""The places of a report as text: a block for each line of the program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from promoarray.console import wrapped
from promoarray.core.call_site import Site
from promoarray.diagnostics.shadow.divergence import Answer, Divergence
from promoarray.diagnostics.shadow.place import edits, spelled
from promoarray.diagnostics.shadow.reach import reached
from promoarray.diagnostics.shadow.shared_causes import SharedCauses

if TYPE_CHECKING:
    from rich.console import Console
    from rich.text import Text

STYLE = {"root": "bold red", "inherits": "yellow", "": "green"}


@dataclass
class Entry:
    """An operation of a line whose result has one dtype in the run, in all of its passes.

    Attributes
    ----------
    site : Site
    operands : list of str
        How it is written with the operands' dtypes: with those of every pass.
    count : int
        How often it was passed.
    said : dict
        From policy name to its different answers, None for those that are not shown.
    edits : dict
        From each edit to the policies that it is for.
    """

    site: Site
    operands: list[str] = field(default_factory=list)
    count: int = 0
    said: dict[str, dict[Words, Answer | None]] = field(default_factory=dict)
    edits: dict[str, list[str]] = field(default_factory=dict)

    def add(self, place: Divergence, shared: SharedCauses, *, inherited: bool) -> None:
        """Add a place, of whose answers those may be left out that only inherit, or whose cause is
        told once of many places."""
        self.count += place.count
        if spelled(place) not in self.operands:
            self.operands.append(spelled(place))
        for name, answer in place.answers.items():
            told = answer.origin == "inherits" or shared.has(place, name)
            shown = inherited or not told
            words = (answer.dtype, answer.origin, _plain(answer.reason)) if shown else None
            self.said.setdefault(name, {}).setdefault(words, answer if shown else None)
        for edit, every in edits(place).items():
            names = [name for name in every if inherited or not shared.has(place, name)]
            if not names:
                continue
            known = self.edits.setdefault(edit, [])
            known += [name for name in names if name not in known]

    def groups(self) -> Iterator[tuple[Answer, list[str]]]:
        """Yield each different answer with the policies that give it, the run's first.

        Those that agree are the ones that do in every pass.
        """
        found: dict[Words, tuple[Answer, list[str]]] = {}
        for name, answers in self.said.items():
            for words, answer in answers.items():
                if answer is not None and (answer.origin or len(answers) == 1):
                    found.setdefault(words, (answer, []))[1].append(name)
        yield from found.values()

    @property
    def roots(self) -> set[str]:
        """The policies that differ here for the first time."""
        every = ((name, answer) for name, found in self.said.items() for answer in found.values())
        return {name for name, answer in every if answer and answer.origin == "root"}


Words = tuple[object, ...] | None
"""What tells the answers of a policy apart: the dtype, where it comes from, and the reason."""


@dataclass
class Block:
    """A line of the program.

    Attributes
    ----------
    line : Site
    entries : list of Entry
        Its operations, those first that were carried out first: they feed the others.
    """

    line: Site
    entries: list[Entry]


def blocks(
    divergences: Iterable[Divergence], *, inherited: bool, shared: SharedCauses | None = None
) -> list[Block]:
    """Return what is printed: a block for each line of the program, most consequential first.

    A line weighs what its roots feed (``reach.py``), each inheriting place once for each policy,
    and one more for each policy that refuses there. Of lines that weigh the same the one comes
    first at which more policies differ for the first time, then the one that stands first.

    Parameters
    ----------
    divergences : iterable of Divergence
        In the order in which they were found.
    inherited : bool
        Whether to show the places and answers that only inherit, or share their cause, too.
    shared : SharedCauses, optional
        The causes that are told once of many places.
    """
    shared = shared or SharedCauses()
    every = list(divergences)
    lines: dict[tuple[str, int], list[Divergence]] = {}
    for each in every:
        if inherited or shared.leaves_root(each):
            lines.setdefault((each.program.file, each.program.line), []).append(each)
    if len(lines) > 1:
        feeds = reached(every)
        keys = {at: _weight(places, feeds) for at, places in lines.items()}
        lines = {at: lines[at] for at in sorted(lines, key=lambda at: (*keys[at], at))}
    return [
        Block(places[0].program, _entries(places, inherited, shared)) for places in lines.values()
    ]


def _weight(places: list[Divergence], feeds: dict[tuple[object, ...], int]) -> tuple[int, int]:
    """What orders lines, the least first."""
    roots = [
        (name, answer)
        for each in places
        for name, answer in each.answers.items()
        if answer.origin == "root"
    ]
    refuse = {name for name, answer in roots if answer.dtype is None}
    fed = sum(feeds.get(each.key, 0) for each in places)
    return -(fed + len(refuse)), -len({name for name, _ in roots})


def _entries(places: list[Divergence], inherited: bool, shared: SharedCauses) -> list[Entry]:
    """The operations of a line, by the order in which each was carried out first."""
    found: dict[tuple[object, ...], Entry] = {}
    order: dict[Site, int] = {}
    for place in places:
        run = next(iter(place.answers.values())).dtype
        site = place.shown_at
        key = site, place.name, place.form, run
        found.setdefault(key, Entry(site)).add(place, shared, inherited=inherited)
        order.setdefault(site, len(order))
    return sorted(found.values(), key=lambda each: order[each.site])


def _plain(reason: str) -> str:
    """A reason without the dtype it is about."""
    return _HERE.sub("", reason)


_HERE = re.compile(r" \(here [\w ]+(\[\])?\)$")


def block_lines(block: Block, told: dict[str, str], console: Console, width: int) -> Iterator[Text]:
    """Yield a block as lines for the terminal.

    Parameters
    ----------
    block : Block
    told : dict
        From each reason that was quoted to where; here it is referred to. Is added to.
    console : Console
    width : int
    """
    from rich.text import Text

    alone = len(block.entries) == 1 and _same_line(block.entries[0].site, block.line)
    path = Text(block.line.path, style="bold cyan")
    if not alone:
        yield from wrapped(path + "  ", Text(block.line.text, "bold"), console, width)
    for entry in block.entries:
        head = path + "  " if alone else Text("  ")
        if entry.site.file != block.line.file or entry.site.line != block.line.line:
            head.append(f"{short_path(entry.site)}  ", "cyan")
        yield from wrapped(head, _headed(entry, "" if alone else block.line.text), console, width)
        yield from _answers(entry, told, console, width)


def _same_line(site: Site, line: Site) -> bool:
    """Whether an entry is the line of its block, or one of its expressions."""
    return site == line or (site.file, site.line, site.expression) == (
        line.file,
        line.line,
        line.text,
    )


def short_path(site: Site) -> str:
    """File and line; of an installed library from its own folder on."""
    parts = re.split(r"[\\/](?:site|dist)-packages[\\/]", site.path)
    return parts[-1]


def entry_lines(
    place: Divergence, told: dict[str, str], console: Console, width: int
) -> Iterator[Text]:
    """Yield one place with all of its answers as lines for the terminal."""
    (entry,) = _entries([place], True, SharedCauses())
    yield from block_lines(Block(place.program, [entry]), told, console, width)


def _headed(entry: Entry, known: str) -> Text:
    """The expression, unless it is the whole line, which is known, and the operands' dtypes."""
    from rich.text import Text

    expression = entry.site.expression or entry.site.text
    said = Text("" if expression == known else f"{expression}  ", style="bold")
    times = f"  ×{entry.count}" if entry.count > 1 else ""
    return said.append(f"[{' or '.join(entry.operands)}]{times}", style="not bold dim")


def _answers(entry: Entry, told: dict[str, str], console: Console, width: int) -> Iterator[Text]:
    from rich.text import Text

    for answer, names in entry.groups():
        line = Text(f"    {answer!s:<11} ")
        line.append(f"{answer.origin:<9}", style=STYLE[answer.origin])
        said = Text(", ".join(names))
        if answer.reason:
            why = answer.reason if len(entry.operands) == 1 else _plain(answer.reason)
            said.append(f"  {_reason(why, entry.site, told)}", style="dim")
        yield from wrapped(line, said, console, width)
    for edit, names in entry.edits.items():
        those = "" if entry.roots <= set(names) else f"  for {', '.join(names)}"
        said = Text(edit).append(those, style="dim")
        yield from wrapped(Text("    write       ", style="green"), said, console, width)


def _reason(reason: str, site: Site, told: dict[str, str]) -> str:
    """A reason, or where it was told."""
    first = told.get(reason)
    told.setdefault(reason, str(site))
    if first is None:
        return reason
    return "as above" if first == str(site) else f"as at {first}"
