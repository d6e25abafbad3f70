"""The words of reports: findings of one place in a sentence, the legend, and titles."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Iterator

from promoarray.console import ZERO_D, counted, listed, visible
from promoarray.core.call_site import Site
from promoarray.diagnostics.edits.library import distribution_of, package_of
from promoarray.diagnostics.findings.causes import first_of, shared_causes
from promoarray.diagnostics.findings.results import Finding, Results, edits_in
from promoarray.diagnostics.findings.verdict import (
    DIFFERS,
    INCOMPLETE,
    place_of,
    root_causes,
    verdicts,
)
from promoarray.diagnostics.model.divergence import Divergence
from promoarray.diagnostics.model.kinds import KINDS
from promoarray.diagnostics.model.lost import CHECKS
from promoarray.diagnostics.model.noted import Stopped, summary_of
from promoarray.diagnostics.spans import name_of

ALL_KINDS = {**KINDS, **CHECKS}

Place = tuple[Finding, ...]
"""The findings of one kind at one place, of one operation."""


def by_place(findings: Iterable[Finding]) -> list[Place]:
    """Return findings that differ in policy and answer alone together."""
    places: dict[tuple[object, ...], list[Finding]] = {}
    for each in findings:
        key = each.place, each.inside, each.kind, each.root, each.operation, each.operands, each.run
        places.setdefault(key, []).append(each)
    return [tuple(place) for place in places.values()]


def message(place: Place, between: str = " ") -> str:
    """Say what the policies make of a place, and what to write; ``between`` its parts."""
    first = place[0]
    answers: dict[tuple[str, str], list[str]] = {}
    for each in place:
        says = ALL_KINDS[each.kind].says or each.answer
        answers.setdefault((says, each.reason), []).append(each.policy)
    said = [_said(*answer, policies) for answer, policies in answers.items()]
    if first.kind in ("dtype", "refuse", "decision"):
        run = f"{first.run} in the run under {first.under}"
        said.append(run if first.run else "the run stopped here")
    if first.inside:
        said.append(f"computed at {name_of(first.inside)}")
    wanted = [f"Write {edit} for {listed(names)}." for edit, names in edits_in(place).items()]
    answered = [f"{each};" for each in said[:-1]] + [f"{said[-1]}."]
    return f"{visible(first.what)}: {between.join(map(visible, [*answered, *wanted]))}"


def _said(says: str, reason: str, policies: list[str]) -> str:
    under = f" under {listed(policies)}" if any(policies) else ""
    return f"{says}{under}: {reason}" if reason else f"{says}{under}"


def title(place: Place) -> str:
    """Say what a place is about, in a few words."""
    names = ", ".join(dict.fromkeys(each.policy for each in place))
    return visible(ALL_KINDS[place[0].kind].title.format(names))


# -- all of a report ------------------------------------------------------------------------------


def legend(report: Results, *, inherited: bool) -> Iterator[str]:
    """Explain the words and signs that are used where policies differ, a line each; ``inherited``
    where those are shown that only inherit, too."""
    divergences, shared = report.divergences, shared_causes(report)
    if divergences:
        yield _ROOT
        yield _INHERITED if inherited else _HIDDEN
    roots = [each for each in divergences if shared.leaves_root(each)]
    mended = {each.program for each in report.mended}
    yield from map(str, report.mended)
    yield from whom_to_tell(
        (each.site, each.program, _has_edit(each) or each.program in mended) for each in roots
    )
    yield from _imports(roots)
    if any(operand.endswith("[]") for d in divergences for operand in d.operands):
        yield ZERO_D


_ROOT = (
    "Root cause: this policy gives another dtype for the same operand dtypes. Sorted by how many "
    "later lines depend on it, refusals first."
)
_INHERITED = (
    "Inherited: only the operands differ, because of an earlier line. After a refusal a policy "
    "goes on as if you had made the edit."
)
_HIDDEN = "Hidden: lines that differ only because an earlier line did (--all shows them)."
_LIBRARY = "No edit of your line was found at {}: cast what you pass there, or report it to {}."


def whom_to_tell(places: Iterable[tuple[Site, Site, bool]]) -> Iterator[str]:
    """Say of which libraries no edit was found, a line each: of places, the program's lines that
    led there, and whether there is an edit."""
    told: dict[str, dict[str, None]] = {}
    every = [*places]
    edited = {program for _, program, has_edit in every if has_edit}
    for site, program, _ in every:
        of = distribution_of(site) if site != program and program not in edited else ""
        if of:
            told.setdefault(of, {})[name_of(program)] = None
    for name, lines in told.items():
        yield _LIBRARY.format(first_of([*lines]), name)


def _imports(places: Iterable[Divergence]) -> Iterator[str]:
    """Say what files have to import for the edits, a line each."""
    needed: dict[str, dict[str, None]] = {}
    for place in places:
        for fix in (each.fix for each in place.answers.values()):
            new = getattr(fix, "imports", "")
            if new and not _has_imported(place.program, new):
                needed.setdefault(new, {})[name_of(place.program)] = None
    for new, lines in needed.items():
        yield f"What is to be written at {first_of([*lines])} needs {new} in the file."


def _has_imported(site: Site, statement: str) -> bool:
    """Whether another cell of the notebook has carried out an import."""
    names = vars(sys.modules["__main__"])
    return name_of(site).startswith("In [") and statement.split()[-1] in names


def _has_edit(place: Divergence) -> bool:
    return any(answer.fix is not None for answer in place.answers.values())


def summary(report: Results) -> str:
    """Return the counts of a report in a sentence, and others of what was left out."""
    casts = len(report.value_changes)
    values = f"{counted(casts, 'cast')} {'gives' if casts == 1 else 'give'} other values."
    limit = _LIMIT.format(report.max_sites) if report.max_sites_reached else ""
    lazy = _UNCOMPUTED.format(counted(report.uncomputed, "cast")) if report.uncomputed else ""
    assumed = _ASSUMED.format(listed(sorted(report.assumed))) if report.assumed else ""
    found, escapes = [_found(report), report.halves_in_words()], summary_of(report.escapes)
    said = *found, values * bool(casts), lazy, assumed, escapes, limit
    return " ".join(filter(None, said))


def _found(report: Results) -> str:
    """How many places differ, and how many root causes they have; else who agrees."""
    done, run = counted(report.operations, "operation"), report.run.name
    places = len({place_of(d) for d in report.divergences})
    if places:
        where, roots = counted(places, "place"), counted(root_causes(report), "root cause")
        return f"{done} under {run}; {where} where the policies differ, {roots}."
    if not report.operations:
        nothing = f"No operation ran under {run}: there is nothing to compare."
        return "" if report.stopped else nothing
    every = verdicts(report)
    states = {each.state for each in every}
    if not every or DIFFERS in states or len(states) > 1:
        return f"{done} under {run}."
    names = ", ".join(each.policy for each in every if each.state == INCOMPLETE)
    if names:
        return f"{done} under {run}; incomplete: no difference in what was examined under {names}."
    names = ", ".join(each.policy for each in every)
    if report.halves_in_words():
        return f"{done} under {run}: {names} agree, each about what it was asked."
    agree = "all agree" if len(every) > 1 else "agrees"
    return f"{done}: {names} {agree} with {run} in dtypes and cast values."


_LIMIT = (
    "Places beyond the limit of {} are left out; write --max-sites N, or pa.shadow(max_sites=N), "
    "for another limit."
)
_UNCOMPUTED = (
    "Of {} of lazy arrays the policies may give other values, which were not compared, as that "
    "would compute them; write x.compute() before to compare."
)
_ASSUMED = (
    "{} promotes by the values of lazy 0-d arrays, which are not computed for a report and count "
    "for 1; write x.compute() before to have them."
)


# -- where a program stopped ----------------------------------------------------------------------

OLD = "numpy@1"
"""Goes on where NumPy 2 refuses a Python number."""


def remedies(report: Results, stopped: Stopped) -> Iterator[tuple[str, str]]:
    """Yield what to write, or to do, each with a word before it."""
    if stopped.edit:
        yield "write", stopped.edit
    place = stopped.refused.place if stopped.refused else None
    if place and not stopped.edit and place.site != place.program:
        call = place.program.expression or place.program.text
        yield "cast", f"an argument of {call} ({place.program}), so that {_wanted(report, stopped)}"
    if place and place.framework == "numpy" and OLD in stopped.goes_on:
        file = os.path.relpath(report.script) if report.script else "SCRIPT"
        yield "run", f"promoarray port {file}, which tries the casts that keep the results of {OLD}"
    if stopped.remedy:
        yield "or run", stopped.remedy
    package = library_to_record(report, stopped)
    if package:
        yield "or record", f"--packages {package}, whose operations are not recorded otherwise"


def _wanted(report: Results, stopped: Stopped) -> str:
    """The dtypes that the refused operation was given, as the reason to cast."""
    operands = stopped.refused.place.operands if stopped.refused else ()
    return f"{report.run.name} does not meet {' with '.join(operands)} there"


def library_to_record(report: Results, stopped: Stopped) -> str:
    """The library in which a program of NumPy stopped, unseen; "" of the program itself.

    The modules of a library are not rewritten, unless they are asked for by name.
    """
    recorded = str(getattr(report, "framework", ""))
    if not stopped.file or stopped.refused or not recorded.startswith("numpy"):
        return ""
    return package_of(stopped.file)
