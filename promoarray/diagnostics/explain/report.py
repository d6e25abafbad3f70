"""An explanation: why an operation has the dtype it has, as data, text and HTML."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from promoarray.console import ZERO_D, Printable, html_table, visible
from promoarray.diagnostics.casts import Answer, CastTable, CastValue
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import families

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, slots=True)
class Cast:
    """A cast that the operation inserts."""

    operand: str  # ``"x1"``, ``"x2"``
    # dtype names; the source of a Python scalar is ``"Python float 2.5"``
    source: str
    target: str
    loss: str = ""  # what does not come through; "" if every value does

    def __str__(self) -> str:
        lost = self.loss or "every value comes through"
        return f"{self.operand}: {self.source} to {self.target}: {lost}"


@dataclass(frozen=True, repr=False)
class Explanation(Printable):
    """What ``promoarray.explain`` answers.

    Attributes
    ----------
    operation, policy : str
    title : str
        The policy in words.
    expression : str
        The operation with its operands, such as ``"int8 + 2.5"``.
    answer : Answer
        The policy's own.
    steps : tuple of str
        The rule in words, one step each, with the path through table or lattice.
    casts : tuple of Cast
        Those inserted before the operation computes.
    function, operator : str
        Of an operator what the function of its name does, and the other way round; "" where that is
        the same.
    sources, notes : tuple of str
        Where the rule is written down, and what to know about it.
    others : tuple of Answer
        Every other family's, and its editions' that differ.
    quirks : tuple of str
        Of a cast: the bugs of the framework that it would show, each after "on" or "off".
    given : tuple of CastValue
        Of a cast: the array's first values, or without an array those on which policies differ.
    source : str
        Of a cast: the dtype they are of.
    """

    operation: str
    policy: str
    title: str
    expression: str
    answer: Answer
    steps: tuple[str, ...]
    casts: tuple[Cast, ...]
    sources: tuple[str, ...]
    notes: tuple[str, ...]
    others: tuple[Answer, ...]
    function: str = ""
    operator: str = ""
    quirks: tuple[str, ...] = ()
    given: tuple[CastValue, ...] = ()
    source: str = ""

    @property
    def dtype(self) -> str | None:
        """The result's dtype, None if the operation is refused, or nothing is known of it."""
        return self.answer.dtype

    @property
    def refused(self) -> bool:
        """Whether the operation raises; not of what is not known."""
        return self.answer.dtype is None and self.answer.asked

    @property
    def lossy(self) -> bool:
        """Whether a cast loses anything."""
        return any(cast.loss for cast in self.casts)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as data."""
        values = {
            "source": self.source,
            "given": [v._asdict() for v in self.given],
            "values": [v._asdict() for v in self.answer.values],
            "quirks": list(self.quirks),
        }
        answer = self.answer
        casts = [
            {"operand": c.operand, "from": c.source, "to": c.target, "loss": c.loss}
            for c in self.casts
        ]
        others = [{"policy": name, **a.to_dict()} for a in self.others for name in a.policies]
        data = {name: getattr(self, name) for name in ("operation", "policy", "expression")}
        data |= {"dtype": answer.dtype, "weak": answer.weak, "refused": self.refused}
        data |= {"reason": answer.reason, "steps": list(self.steps), "casts": casts}
        data |= {name: getattr(self, name) for name in ("lossy", "function", "operator")}
        data |= {"signature": answer.signature, "kernel": answer.kernel}
        data |= {"sources": list(self.sources), "notes": list(self.notes), "others": others}
        return data | (values if self.source else {})

    def sections(self) -> Iterator[tuple[str, tuple[str | Cast, ...]]]:
        """Yield the parts that have something to say, each under its heading."""
        refused_at_once = self.dtype is None and not self.casts
        parts: tuple[tuple[str, tuple[str | Cast, ...]], ...] = (
            ("legend", (ZERO_D,) if "[]" in self.expression else ()),
            ("rule", self.steps),
            ("casts", () if refused_at_once else self.casts or ("none",)),
            ("function", (self.function,) if self.function else ()),
            ("operator", (self.operator,) if self.operator else ()),
            ("signature", (self.answer.signature,) if self.answer.signature else ()),
            ("kernel", (self.answer.kernel,) if self.answer.kernel else ()),
            ("quirks", self.quirks),
            ("source", self.sources),
            ("notes", self.notes),
        )
        yield from ((heading, lines) for heading, lines in parts if lines)

    @property
    def headline(self) -> str:
        """The expression and its result, and what is known against its kernel."""
        kernel = _KERNEL.get(self.answer.kernel.partition(":")[0], "")
        return visible(f"{self.expression} is {self.answer.what} under {self.policy}{kernel}")

    def _values(self) -> CastTable:
        """What every policy makes of the values of a cast, but for the refusal explained."""
        own = () if self.refused else (replace(self.answer, note=""),)  # which the notes tell
        answers = (*own, *self.others)
        return CastTable(self.source, self.dtype or "", self.given, answers, self.answer.values)

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        body = Table.grid(padding=(0, 2))
        body.add_column(style="dim", no_wrap=True)
        body.add_column(overflow="fold")
        for heading, lines in self.sections():
            for line in lines:
                lossy = isinstance(line, Cast) and line.loss
                body.add_row(heading, Text(visible(str(line)), style="yellow" if lossy else ""))
                heading = ""
        head = Text(self.headline, "bold red" if self.refused else "bold")
        return Group(head, body, self._values().body("values") if self.source else self._others())

    def _others(self) -> RenderableType:
        """What the other policies answer: yellow another dtype, red a refusal."""
        from rich.table import Table
        from rich.text import Text

        others = Table(title=_OTHERS, title_justify="left", title_style="dim", show_edge=False)
        for name in ("policy", "result", "why"):
            others.add_column(name, no_wrap=name == "result", overflow="fold")
        for a in self.others:
            style = "" if a.dtype == self.dtype else "red" if a.dtype is None else "yellow"
            style = style if a.asked else "dim"
            others.add_row(Text(a.who), Text(a.what, style), Text(visible(a.why), "dim"))
        return others if self.others else Text(end="")

    def html(self) -> str:
        """Return the explanation as a part of a page."""
        parts = [
            (heading, "\n".join(visible(str(line)) for line in lines))
            for heading, lines in self.sections()
        ]
        body = html_table(("", ""), parts, stacked=True).replace("\n", "<br>")
        rows = [(a.who, a.what, visible(a.why)) for a in self.others]
        others = html_table(("policy", "result", "why"), rows, stacked=True)
        return f"{body}<b>{_OTHERS}</b>{self._values().html() if self.source else others}"


_OTHERS = "other policies"

_KERNEL = {"refused": ", which has no kernel for it", "doubtful": " (doubtful)"}
"""What the headline says of a kernel."""


def other_policies(asked: Policy, ask: Callable[[str], Answer]) -> Iterator[Answer]:
    """Yield the answer of every family but the policy that is ``asked``, and of its editions that
    give another; one for all that say the same."""
    groups: dict[Hashable, list[Answer]] = {}
    for names in families().values():
        first, *rest = map(ask, names)
        for answer in (first, *rest):
            # Answers are the same but for the edition that a reason names.
            why = re.sub(r"\d+", "", answer.why)
            apart = (*names,) if answer.values else ()  # a table of values has no room
            key = answer.dtype, answer.weak, answer.values, why, apart
            if answer is first or key[:3] != (first.dtype, first.weak, first.values):
                groups.setdefault(key, []).append(answer)
    for group in groups.values():
        who = tuple(a.policies[0] for a in group if a.policies[0] != asked.name)
        if who:
            yield replace(group[0], policies=who)
