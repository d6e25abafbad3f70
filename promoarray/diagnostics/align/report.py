"""Report of two programs that were aligned, and of what was not examined."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from promoarray.console import counted, listed
from promoarray.diagnostics.align.departure import Departure
from promoarray.diagnostics.align.graph import Graph, Node
from promoarray.diagnostics.align.pairing import PAIRED, UNKNOWN, Pairing
from promoarray.diagnostics.align.weights import Copied, overwritten
from promoarray.diagnostics.exit_codes import FINDINGS, INCOMPLETE, NOTHING

SHOWN = 8
"""So many of what has no counterpart are named."""


@dataclass
class Aligned:
    """What was found."""

    first: Graph
    second: Graph
    copied: list[Copied]
    alone: list[str]  # drawn by the second, without a counterpart
    level: Collection[str]  # drawn by one, and a constant in both, as the other has it
    departures: list[Departure] = field(default_factory=list)
    changed: list[Departure] = field(default_factory=list)  # dtypes of a file's values
    what: str = "values"  # that are paired
    paired: int = 0  # of the second program
    noise: int = 0  # gradients that are rounding alone
    open: list[str] = field(default_factory=list)
    ended: str = ""  # why no more was looked for

    def count(self, pairing: Pairing, whole: bool) -> None:
        """Note what is paired, and what is not."""
        states = [pairing.state.get(x) for node in pairing.second.nodes for x in node.results]
        self.paired = sum(state == PAIRED for state in states)
        self.noise = len(
            [x for n in pairing.second.nodes for x in n.operands if x in pairing.noise]
        )
        self.open = []
        if not whole:
            return
        for word, graph in (("first", pairing.first), ("second", pairing.second)):
            self.open += [what for what in graph.left if what not in self.open]
            if graph.unread:
                why = listed(graph.why, most=2)
                self.open.append(f"{counted(graph.unread, 'value')} of the {word} not read: {why}")
            idle = overwritten(graph)
            for node in (*pairing.frontier(graph), *_unknown(pairing, graph)):
                if node in idle:
                    continue
                at = " in ".join(dict.fromkeys((node.inside.short, node.place.short)))
                text = f"{node.said} at {at} ({word})"
                said = any(x.says and x.size > 1 and x.name not in self.level for x in node.results)
                if {*node.operands} & pairing.noise or not (node.operands and said):
                    continue
                if text not in self.open:
                    self.open.append(text)

    @property
    def status(self) -> int:
        """The exit code."""
        if self.departures or self.changed:
            return FINDINGS
        unsure = self.open or self.alone or self.doubtful or not self.paired
        return INCOMPLETE if unsure else NOTHING

    @property
    def doubtful(self) -> list[str]:
        """Square weights whose layout is read off the use that may be wrong."""
        return [
            f"{each.names[1]} is square and used transposed: it was copied in that layout, "
            "so that whether it is the right one was not examined"
            for each in self.copied
            if each.doubt
        ]

    def lines(self) -> list[str]:
        """Say it, a line each."""
        every = [*self.changed, *self.departures]
        said = [line for each in every for line in each.lines()]
        calls = f"{len(self.first.calls)} and {counted(len(self.second.calls), 'call')}"
        found = f"{self.paired} {self.what} of the second program are paired"
        if every:
            leaves = counted(len(every), "difference")
            said.append(f"{calls}: {leaves}; {found}. {self.ended}".rstrip())
        else:
            said.append(f"{calls}: aligned as far as examined; {found}.")
        turned = sum(each.turned for each in self.copied)
        if self.copied:
            layout = f", {turned} of them in another layout" if turned else ""
            many = counted(len(self.copied), "drawn array")
            said.append(f"The second went on with {many} of the first{layout}.")
        if self.level:
            many = counted(len(self.level), "array")
            said.append(f"{many} that one draws and the other does not began with its constant.")
        if alike := [" with ".join(each.names[::-1]) for each in self.copied if each.alike]:
            said.append(
                "Used alike, and so paired in the order of use alone (--weights names others): "
                f"{', '.join(alike[:SHOWN])}"
            )
        said += self.doubtful
        if self.noise:
            said.append(
                f"{counted(self.noise, 'gradient')} of the second program, and what is made of "
                "them, are rounding alone, and were not compared."
            )
        if self.alone:
            some = ", ".join(self.alone[:SHOWN])
            said.append(f"No counterpart was found for what is drawn at {some}: --weights names it")
        if self.open:
            said.append(f"Not paired: {'; '.join(self.open[:SHOWN])}{self._more}")
        return said

    @property
    def _more(self) -> str:
        more = len(self.open) - SHOWN
        return f"; and {more} more" if more > 0 else ""

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        return {
            "schema_version": "1.0",
            "exit_code": self.status,
            "first": {"framework": self.first.framework, "calls": len(self.first.calls)},
            "second": {"framework": self.second.framework, "calls": len(self.second.calls)},
            "paired": self.paired,
            "differences": [each.to_dict() for each in (*self.changed, *self.departures)],
            "copied": [
                {
                    "first": c.names[0],
                    "second": c.names[1],
                    "layout": [*c.layout],
                    "by_order_alone": c.alike,
                }
                for c in self.copied
            ],
            "not_paired": [*self.alone, *self.open],
            "not_examined": self.doubtful,
            "ended": self.ended or None,
        }


def _unknown(pairing: Pairing, graph: Graph) -> list[Node]:
    return [
        node
        for node in graph.nodes
        if any(x.maker is node and pairing.state.get(x) == UNKNOWN for x in node.results)
        and not any(pairing.state.get(x) == UNKNOWN for x in node.operands)
    ]
