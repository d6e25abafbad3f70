"""What a shadow run found, as text, data and a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from promoarray.console import counted, text
from promoarray.core.escape import Escape
from promoarray.diagnostics.escape_report import Escapes
from promoarray.diagnostics.shadow.divergence import Answer, Divergence
from promoarray.operations import OPERATIONS
from promoarray.promotion.policy import Policy

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


_STYLE = {"root": "bold red", "inherits": "yellow", "": "green"}


@dataclass(eq=False, repr=False)
class Report:
    """The places at which policies differ.

    Attributes
    ----------
    run : Policy
        The policy the program ran under.
    policies : tuple of Policy
        The policies it was compared with.
    operations : int
        How many operations were compared.
    """

    run: Policy
    policies: tuple[Policy, ...]
    operations: int = 0
    _found: dict[tuple[object, ...], Divergence] = field(default_factory=dict)
    _escapes: Escapes = field(default_factory=Escapes)

    def record(self, divergence: Divergence) -> None:
        """Add a place, or count it once more."""
        known = self._found.setdefault(divergence.key, divergence)
        if known is not divergence:
            known.count += 1

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
            "escapes": self._escapes.to_dict(),
        }

    def summary(self) -> str:
        """Return a sentence that counts, and another if data left the policy."""
        partings, roots = self.divergences, self.roots
        names = ", ".join(p.name for p in self.policies)
        done = counted(self.operations, "operation")
        agree = "all agree" if len(self.policies) > 1 else "agrees"
        said = f"{done}: {names} {agree} with {self.run.name}."
        if partings:
            those = "a root" if len(partings) == len(roots) == 1 else f"{len(roots)} of them roots"
            said = (
                f"{done} under {self.run.name}; {counted(len(partings), 'place')} where the "
                f"answers part, {those}."
            )
        elif not self.operations:
            said = f"No operation ran under {self.run.name}: there is nothing to compare."
        return " ".join(filter(None, (said, self._escapes.summary)))

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
        yield from self._escapes.lines()
        yield Text(self.summary(), style="bold")

    def __str__(self) -> str:
        return text(self)

    __repr__ = __str__

    def to_html(self, extra: str = "") -> str:
        """Return the report as one self-contained page; ``extra`` is put at its end."""
        rows = "".join(_as_row(p) for p in self.divergences)
        return _PAGE.format(
            title=f"Where the policies part from {escape(self.run.name)}",
            summary=escape(self.summary()),
            rows=rows,
            extra=self._escapes.to_html() + extra,
        )

    def _repr_html_(self) -> str:
        rows = "".join(_as_row(p) for p in self.divergences)
        table = f"<p>{escape(self.summary())}</p><table>{rows}</table>"
        return table + self._escapes.to_html()


def spelled(divergence: Divergence) -> str:
    """Write a place's operation with its operands' dtypes."""
    if divergence.name == "setitem":
        return "{}[...] = {}".format(*divergence.operands)
    symbol = OPERATIONS[divergence.name].symbol if divergence.name in OPERATIONS else ""
    if symbol and len(divergence.operands) == 2:
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


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width">
<style>
body {{ font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem;
  color: #1a1a1a; background: #fff }}
table {{ border-collapse: collapse; width: 100% }}
td, th {{ border-top: 1px solid #ddd; padding: .5rem .7rem; text-align: left; vertical-align: top }}
td:first-child {{ white-space: nowrap; color: #555 }}
code {{ font: 13px ui-monospace, monospace; overflow-wrap: anywhere }}
small {{ display: block; color: #666 }} i {{ color: #888; font-size: 85% }}
.root b {{ color: #b3261e }} .inherits b {{ color: #8a5a00 }} .agrees b {{ color: #1b6e3c }}
body:has(#roots:checked) .partings tr:has(td):not(:has(.root)) {{ display: none }}
</style></head><body>
<h1>{title}</h1><p>{summary}</p>
<p><b>Root</b>: the policy treats the operands it sees otherwise than the run's policy would.
<b>Inherits</b>: only its operands differ, because of an earlier line. After a refusal a policy goes
on as if you had cast as its error message says.</p>
<p><label><input type="checkbox" id="roots"> Only places with a root</label></p>
<table class="partings"><tr><th>place</th><th>source</th><th>answers</th></tr>{rows}</table>
{extra}
</body></html>
"""
