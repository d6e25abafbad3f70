"""An explanation: why an operation has the dtype it has, as data, text and HTML."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from promoarray._console import html_table, plain, text

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True, slots=True)
class Cast:
    """A cast that the operation inserts.

    Attributes
    ----------
    operand : str
        ``"x1"``, ``"x2"`` ...
    source, target : str
        Dtype names; the source of a Python scalar is ``"Python float 2.5"``.
    loss : str
        What does not come through; "" if every value does.
    """

    operand: str
    source: str
    target: str
    loss: str = ""

    def __str__(self) -> str:
        lost = self.loss or "every value comes through"
        return f"{self.operand}: {self.source} to {self.target}: {lost}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What policies say of an operation.

    Attributes
    ----------
    policies : tuple of str
        Those that agree on it, of one family.
    dtype : str or None
        The result's; None where it is refused.
    weak : bool
        Whether the result is weakly typed.
    reason : str
        Why it is refused, or what is raised.
    """

    policies: tuple[str, ...]
    dtype: str | None
    weak: bool = False
    reason: str = ""

    @property
    def who(self) -> str:
        """The policies, long runs of editions shortened."""
        if len(self.policies) < 4:
            return ", ".join(self.policies)
        return f"{self.policies[0]} … {self.policies[-1]} ({len(self.policies)} editions)"

    @property
    def what(self) -> str:
        """The result's dtype, or that there is none."""
        return "refused" if self.dtype is None else self.dtype + " (weak)" * self.weak


@dataclass(frozen=True, repr=False)
class Explanation:
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
    function : str
        What the framework's own function does, where it differs from the operator; else "".
    sources, notes : tuple of str
        Where the rule is written down, and what to know about it.
    others : tuple of Answer
        Every other family's, and its editions' that differ.
    """

    operation: str
    policy: str
    title: str
    expression: str
    answer: Answer
    steps: tuple[str, ...]
    casts: tuple[Cast, ...]
    function: str
    sources: tuple[str, ...]
    notes: tuple[str, ...]
    others: tuple[Answer, ...]

    @property
    def dtype(self) -> str | None:
        """The result's dtype, None if the operation is refused."""
        return self.answer.dtype

    @property
    def refused(self) -> bool:
        """Whether the operation raises."""
        return self.answer.dtype is None

    @property
    def lossy(self) -> bool:
        """Whether a cast loses anything."""
        return any(cast.loss for cast in self.casts)

    def to_dict(self) -> dict[str, Any]:
        """The explanation as JSON has it."""
        return {
            "operation": self.operation,
            "policy": self.policy,
            "expression": self.expression,
            "dtype": self.answer.dtype,
            "weak": self.answer.weak,
            "refused": self.refused,
            "reason": self.answer.reason,
            "steps": list(self.steps),
            "casts": [
                {"operand": c.operand, "from": c.source, "to": c.target, "loss": c.loss}
                for c in self.casts
            ],
            "lossy": self.lossy,
            "function": self.function,
            "sources": list(self.sources),
            "notes": list(self.notes),
            "others": [
                {"policy": name, "dtype": a.dtype, "weak": a.weak, "reason": a.reason}
                for a in self.others
                for name in a.policies
            ],
        }

    def sections(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The parts that have something to say, each under its heading."""
        casts = tuple(map(str, self.casts)) or ("none",)
        parts = (
            ("rule", self.steps),
            ("casts", () if self.refused and not self.casts else casts),
            ("function", (self.function,) if self.function else ()),
            ("source", self.sources),
            ("notes", self.notes),
        )
        yield from ((heading, lines) for heading, lines in parts if lines)

    @property
    def headline(self) -> str:
        """The expression and its result."""
        return f"{self.expression} is {self.answer.what} under {self.policy}"

    def __rich__(self) -> RenderableType:
        from rich.console import Group
        from rich.table import Table
        from rich.text import Text

        body = Table.grid(padding=(0, 2))
        body.add_column(style="dim", no_wrap=True)
        body.add_column()
        for heading, lines in self.sections():
            for line in lines:
                body.add_row(heading, Text(line, style="yellow" if _alarming(line, self) else ""))
                heading = ""
        others = Table(title="elsewhere", title_justify="left", title_style="dim", show_edge=False)
        others.add_column("policy")
        others.add_column("result", no_wrap=True)
        others.add_column("why")
        for a in self.others:
            style = "red" if a.dtype is None else "" if a.dtype == self.dtype else "yellow"
            others.add_row(a.who, Text(a.what, style), Text(a.reason, "dim"))
        head = Text(self.headline, "bold red" if self.refused else "bold")
        return Group(head, body, others) if self.others else Group(head, body)

    def __repr__(self) -> str:
        return text(self)

    def to_text(self) -> str:
        """The explanation as plain text, whatever standard output is."""
        return plain(self)

    def _repr_html_(self) -> str:
        parts = [(heading, "\n".join(lines)) for heading, lines in self.sections()]
        body = html_table(("", ""), parts).replace("\n", "<br>")
        others = html_table(
            ("policy", "result", "why"), [(a.who, a.what, a.reason) for a in self.others]
        )
        return f"<div><b>{escape(self.headline)}</b>{body}<b>elsewhere</b>{others}</div>"


def _alarming(line: str, explanation: Explanation) -> bool:
    return any(line == str(cast) for cast in explanation.casts if cast.loss)
