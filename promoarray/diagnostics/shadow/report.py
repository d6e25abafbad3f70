"""What a shadow run found, as text, data and a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from promoarray.console import ZERO_D, Printable, counted, html_page
from promoarray.core.escape import Escape
from promoarray.diagnostics.escape_report import Escapes
from promoarray.diagnostics.shadow.divergence import DEFAULT_DTYPE, Answer, Divergence
from promoarray.diagnostics.shadow.signatures import Call, Signatures
from promoarray.diagnostics.shadow.value_changes import ValueChanges
from promoarray.operations import OPERATIONS, Form
from promoarray.promotion.policy import Policy

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


_ROOT = "root: for the same operands the run's policy would answer differently"
_INHERITS = (
    "inherits: only the operands differ, because of an earlier line; after a refusal a policy goes"
    " on as if you had cast as its error message says"
)
_DEFAULT = "default dtype: what an array made of Python numbers has"
_ONLY_ROOTS = '<p><label><input type="checkbox" id="roots"> Only root causes</label></p>'
_STYLE = {"root": "bold red", "inherits": "yellow", "": "green"}


@dataclass(eq=False, repr=False)
class Report(Printable):
    """The places at which policies differ, as text, data and a page.

    Attributes
    ----------
    run : Policy
        The policy the program ran under.
    policies : tuple of Policy
        The policies it was compared with.
    operations : int
        How many operations were compared.
    value_changes : ValueChanges
        The casts whose values differ by policy; iterate over its places.
    """

    run: Policy
    policies: tuple[Policy, ...]
    operations: int = 0
    _found: dict[tuple[object, ...], Divergence] = field(default_factory=dict)
    _escapes: Escapes = field(default_factory=Escapes)
    _signatures: Signatures = field(default_factory=Signatures)
    value_changes: ValueChanges = field(default_factory=ValueChanges)

    def record(self, divergence: Divergence) -> Divergence:
        """Add a place, or count it once more; return what is kept of it."""
        known = self._found.setdefault(divergence.key, divergence)
        if known is not divergence:
            known.count += 1
        return known

    def __setstate__(self, state: dict[str, Any]) -> None:
        found = state.pop("_shadow", None)  # in a pickle of 0.1.0
        if found is not None:
            state |= {"operations": found.operations, "_escapes": found.escapes}
            state["_found"] = {each.key: each for each in found.partings.values()}
        new = {"_signatures": Signatures(), "value_changes": ValueChanges()}
        self.__dict__.update(new | state)

    @property
    def divergences(self) -> list[Divergence]:
        """The places, by file and line of the program."""
        return sorted(self._found.values(), key=lambda d: (d.program, d.site, d.name))

    @property
    def partings(self) -> list[Divergence]:
        """The former name of ``divergences``."""
        return self.divergences

    @property
    def escapes(self) -> Counter[Escape]:
        """What left the policy, so that no policy was asked about it any more, and how often."""
        return self._escapes.counts

    @property
    def signatures(self) -> Counter[Call]:
        """The calls that a framework's own function does not take, and how often."""
        return self._signatures.counts

    @property
    def roots(self) -> list[Divergence]:
        """The places at which a policy differs for the first time."""
        return [d for d in self.divergences if d.root]

    def to_dict(self) -> dict[str, Any]:
        """Return the report as data."""
        divergences = [_as_data(d) for d in self.divergences]
        return {
            "run": self.run.name,
            "policies": [p.name for p in self.policies],
            "operations": self.operations,
            "divergences": divergences,
            "partings": divergences,  # the former name
            "value_changes": self.value_changes.to_dict(),
            "escapes": self._escapes.to_dict(),
            "signatures": self._signatures.to_dict(),
        }

    @property
    def headline(self) -> str:
        """What was compared."""
        return f"Where the policies differ from {self.run.name}"

    def summary(self) -> str:
        """Return the counts in a sentence, and another if data left the policy."""
        places, roots = len(self.divergences), len(self.roots)
        names = ", ".join(p.name for p in self.policies)
        done = counted(self.operations, "operation")
        agree = "all agree" if len(self.policies) > 1 else "agrees"
        about = " on dtypes" if len(self.value_changes) else ""
        found = f"{done}: {names} {agree} with {self.run.name}{about}."
        if places:
            found = (
                f"{done} under {self.run.name}; {counted(places, 'place')} where the policies "
                f"differ, {roots} {'is a root cause' if roots == 1 else 'are root causes'}."
            )
        elif not self.operations:
            found = f"No operation ran under {self.run.name}: there is nothing to compare."
        casts = counted(len(self.value_changes), "cast")
        verb = "gives" if len(self.value_changes) == 1 else "give"
        values = f"{casts} {verb} other values." if len(self.value_changes) else ""
        return " ".join(filter(None, (found, values, self._escapes.summary)))

    def legend(self) -> Iterator[str]:
        """Explain the words and signs that the report uses, a line each."""
        if self.divergences:
            yield from (_ROOT, _INHERITS)
        if any(d.name == DEFAULT_DTYPE for d in self.divergences):
            yield _DEFAULT
        if any(operand.endswith("[]") for d in self.divergences for operand in d.operands):
            yield ZERO_D

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        for divergence in self.divergences:
            head = Text(f"{divergence.site.file}:{divergence.site.line}", style="bold cyan")
            head.append(f"  {divergence.site.expression or divergence.site.text}", style="bold")
            times = f"  ×{divergence.count}" if divergence.count > 1 else ""
            head.append(f"  [{spelled(divergence)}]{times}", style="dim")
            yield head
            if divergence.program != divergence.site:
                yield Text(f"    {_called_from(divergence)}", style="dim")
            for answer, origin, names in grouped(divergence):
                line = Text(f"    {answer!s:<12}")
                line.append(f"{origin:<9}", style=_STYLE[origin])
                said = Text(", ".join(names))
                if answer.reason:
                    said.append(f"  {answer.reason}", style="dim")
                for part in said.wrap(console, max(options.max_width - len(line), 20)):
                    part.rstrip()
                    yield line + part
                    line = Text(" " * len(line))
        yield from self.value_changes.lines()
        yield from self._escapes.lines()
        yield from self._signatures.lines()
        yield Text(self.summary(), style="bold")
        for explained in self.legend():
            yield Text(explained, style="dim")

    def html(self) -> str:
        """Return the report as a part of a page."""
        rows = "".join(_as_row(d) for d in self.divergences)
        head = "<tr><th>place</th><th>source</th><th>answers</th></tr>"
        table = f'<table class="divergences">{head}{rows}</table>' if rows else ""
        sections = self.value_changes.html() + self._escapes.html() + self._signatures.html()
        legend = "".join(f"<p><small>{escape(line)}</small></p>" for line in self.legend())
        return f"<p>{escape(self.summary())}</p>{table}{sections}{legend}"

    def to_html(self, extra: str = "") -> str:
        """Return the report as one self-contained page; ``extra`` is put at its end."""
        return html_page(self.headline, _ONLY_ROOTS + self.html() + extra)


def spelled(divergence: Divergence) -> str:
    """Write a place's operation with its operands' dtypes."""
    if divergence.name == "setitem":
        return "{}[...] = {}".format(*divergence.operands)
    symbol = OPERATIONS[divergence.name].symbol if divergence.name in OPERATIONS else ""
    if symbol and len(divergence.operands) == 2 and divergence.form is not Form.FUNCTION:
        return f" {symbol} ".join(divergence.operands)
    return f"{divergence.name}({', '.join(divergence.operands)})"


def grouped(divergence: Divergence) -> Iterator[tuple[Answer, str, list[str]]]:
    """Yield each different answer with the policies that give it, the run's first."""
    groups: dict[tuple[Any, ...], tuple[Answer, str, list[str]]] = {}
    for name, answer in divergence.answers.items():
        key = answer.dtype, answer.origin, answer.reason
        groups.setdefault(key, (answer, answer.origin, []))[2].append(name)
    yield from groups.values()


def _called_from(divergence: Divergence) -> str:
    program = divergence.program
    return f"called from {program}: {program.expression or program.text}"


def _as_data(divergence: Divergence) -> dict[str, Any]:
    site, program = divergence.site, divergence.program
    return {
        "file": site.file,
        "line": site.line,
        "column": site.column,
        "source": site.text,
        "expression": site.expression,
        "operation": divergence.name,
        "operands": list(divergence.operands),
        "called_from": (
            {"file": program.file, "line": program.line, "expression": program.expression}
            if program != site
            else None
        ),
        "count": divergence.count,
        "root": divergence.root,
        "answers": {
            name: {
                "dtype": answer.dtype.name if answer.dtype else None,
                "origin": answer.origin or "agrees",
                "operands": list(answer.operands),
                **({"reason": answer.reason} if answer.reason else {}),
            }
            for name, answer in divergence.answers.items()
        },
    }


def _as_row(divergence: Divergence) -> str:
    answers = "".join(
        f'<div class="{origin or "agrees"}"><b>{answer}</b> <i>{origin}</i> '
        f"{escape(', '.join(names))}{_small(answer.reason)}</div>"
        for answer, origin, names in grouped(divergence)
    )
    site = divergence.site
    times = f" ×{divergence.count}" if divergence.count > 1 else ""
    called = _called_from(divergence) if divergence.program != site else ""
    return (
        f"<tr><td>{escape(str(site))}{_small(called)}</td>"
        f"<td><code>{escape(site.expression or site.text)}</code>"
        f"{_small(spelled(divergence) + times)}</td><td>{answers}</td></tr>"
    )


def _small(text: str) -> str:
    return f"<small>{escape(text)}</small>" if text else ""
