"""A place at which policies differ, as data and as a row of a page, and its edits."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from promoarray.diagnostics.shadow.divergence import ASKED_DTYPE, ENTRY, Answer, Divergence
from promoarray.diagnostics.shadow.fixes import Fix
from promoarray.operations import OPERATIONS, Form
from promoarray.pages import prose


def edits(divergence: Divergence) -> dict[str, list[str]]:
    """Return the edits of a place, each with the policies that it is for.

    Lines of a library are not the user's to edit, and have none.
    """
    found: dict[str, list[str]] = {}
    site = divergence.site
    if divergence.program != site:
        return found
    for name, answer in divergence.answers.items():
        if answer.fix is not None:
            written = divergence.written(answer.fix)
            found.setdefault(written or str(answer.fix), []).append(name)
    return found


def spelled(divergence: Divergence) -> str:
    """Write a place's operation with its operands' dtypes, and what it is a step of."""
    inside = f", in {divergence.part_of}" if divergence.part_of else ""
    return _operation(divergence) + inside


def _operation(divergence: Divergence) -> str:
    if divergence.name == "setitem":
        return "{}[...] = {}".format(*divergence.operands)
    if divergence.name == ASKED_DTYPE:
        return f"dtype={divergence.operands[0]}"
    if divergence.name == ENTRY:
        return f"{divergence.operands[0]} data"
    symbol = OPERATIONS[divergence.name].symbol if divergence.name in OPERATIONS else ""
    if symbol and len(divergence.operands) == 2 and divergence.form is not Form.FUNCTION:
        return f" {symbol}{divergence.form} ".join(divergence.operands)
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


def as_data(divergence: Divergence) -> dict[str, Any]:
    site, program = divergence.site, divergence.program
    return {
        "file": site.file,
        "line": site.line,
        "column": site.column,
        "source": site.text,
        "expression": site.expression,
        "operation": divergence.name,
        "operands": list(divergence.operands),
        "part_of": divergence.part_of or None,
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
                **({"fix": _fix(divergence, answer.fix)} if answer.fix else {}),
            }
            for name, answer in divergence.answers.items()
        },
    }


def _fix(divergence: Divergence, fix: Fix) -> dict[str, Any]:
    edit = divergence.written(fix) if divergence.program == divergence.site else ""
    return fix.to_dict() | {"edit": edit or None}


def as_row(divergence: Divergence) -> str:
    answers = "".join(
        f'<div class="{origin or "agrees"}"><b>{answer}</b> <i>{origin}</i> '
        f"{escape(', '.join(names))}{_small(answer.reason)}</div>"
        for answer, origin, names in grouped(divergence)
    )
    answers += "".join(
        f"<div>write <code>{escape(edit)}</code>{_small('for ' + ', '.join(names))}</div>"
        for edit, names in edits(divergence).items()
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
    return f"<small>{prose(text)}</small>" if text else ""
