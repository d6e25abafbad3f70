"""The casts after which a program computes the same under every policy, and the proof of it.

1. The program runs once, recorded: every operation at which some policy answers otherwise gets an
   edit, for all passes through it, which is checked by asking the policies again.
2. Edits that others make needless are left out, and one cast where a name gets its value takes the
   place of several where it is used.
3. The edited program runs: recorded, where that is how its operations are known, and under each
   policy. Its final values and what it prints are compared with those of the first run, all bits.
4. What the run itself does not bear, or a policy still disputes, is taken back.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from promoarray.core.call_site import Site
from promoarray.diagnostics.edits.occurrences import (
    COMPUTED,
    DTYPE,
    VALUES,
    Differs,
    Occurrence,
    Span,
    grouped,
)
from promoarray.diagnostics.edits.place import SPELLINGS, Wrap
from promoarray.diagnostics.edits.planner import Edit, NoEdit, Port, plan
from promoarray.diagnostics.edits.source import SourceText, cast_dtype, position_of, read
from promoarray.diagnostics.edits.writing import Rewritten, Unkept, rewritten
from promoarray.diagnostics.findings.verdict import not_examined
from promoarray.diagnostics.model.final_difference import Unequal, unequal
from promoarray.diagnostics.model.noted import NotExamined
from promoarray.diagnostics.port.ported import NOTHING_RECORDED, Checked, Ported, Ran, Runner
from promoarray.diagnostics.port.real_numpy import Real
from promoarray.diagnostics.port.sources import Source
from promoarray.diagnostics.report import Report
from promoarray.diagnostics.spans import text_at
from promoarray.dtypes import INTEGERS

RUNS = 4
"""So often a program that is recorded is run at most."""

_OTHERWISE = "with its cast the run itself ends otherwise"


@dataclass
class EditedText:
    """The files with edits."""

    # each file as it is then, and where its expressions stood before
    changed: dict[Path, tuple[Source, Rewritten]] = field(default_factory=dict)

    @property
    def data(self) -> dict[Path, bytes]:
        """The texts as bytes."""
        return {path: source.data for path, (source, _) in self.changed.items()}

    def source(self, file: str) -> SourceText | None:
        """The expressions of a file as it is with the edits; None if it cannot be read."""
        real = Path(file).resolve()
        edited = (new.source for path, (_, new) in self.changed.items() if path.resolve() == real)
        return next(edited, None) or read(file)

    def back(self, seen: Occurrence) -> Occurrence | None:
        """What was recorded of an edited file, where it stood before; None of the edits' casts."""
        span = seen.span
        if Path(span.file) not in self.changed:
            return seen
        _, new = self.changed[Path(span.file)]
        at = new.origins.get((span.line, span.column, span.end_line, span.end_column))
        return at and replace(seen, span=Span(span.file, *at, span.stores, span.part))


@dataclass
class Work:
    """Looks for the edits of one program."""

    runner: Runner
    port: Port
    named: str | None  # the policy that the command names; None leaves it to the program
    first: Ran  # the run that all others are compared with
    folders: tuple[Path, ...]  # where the files lie that may be edited
    tolerance: float = 0.0  # by how much values may differ, as a part of the largest of their array
    # how the program ended in a real NumPy 1, which is then what the others are compared
    # with
    real: Real | None = None
    _files: dict[Path, tuple[Source, SourceText]] = field(default_factory=dict)
    _refused: dict[Path, str] = field(default_factory=dict)
    _varying: set[str] = field(default_factory=set)
    _prints: bool = True
    _again: Ran | None = None

    def ported(self) -> Ported:
        """Find the edits, and prove them."""
        self.port = self.port._replace(proved=True)
        if self.real is not None:
            made = {n: v for n, v in self.real.final.items() if n in self.first.final}
            self.first = self.first._replace(final=self.first.final | made)
        found, left = self._found(self.first.seen)
        known = {each.place for each in found} | {each.place for each in left}
        sources = {path: source for path, (_, source) in self._files.items()}
        needed = [edit for edit in found if not edit.optional]
        edits = simplified(needed, self.first.seen, sources, self.first.final)
        edits, left, text, ran = self._run_edited(edits, left, known)
        checked = self._checked(text, ran)
        failing = {each.policy for each in checked if not each.agrees}
        more = [e for e in found if e.optional and e not in edits and failing & {*e.policies}]
        if more and not self.runner.recorded:
            edits += more
            text = self._text(edits)
            checked = self._checked(text, self._run(self.named, text))
            failing = {each.policy for each in checked if not each.agrees}
        if not checked[0].agrees and edits:  # which the edits are to leave as it is
            left += [NoEdit(*e.place, e.policies, _OTHERWISE) for e in edits]
            edits, text = [], EditedText()
        left = [each for each in left if not each.optional or failing & {*each.policies}]
        unwritten = [(e, self._refused.get(Path(e.span.file), "")) for e in found]
        left += [NoEdit(*e.place, e.policies, why) for e, why in unwritten if why]
        return Ported(
            self.port,
            tuple(edits),
            tuple(left),
            tuple((self._files[path][0], new) for path, (new, _) in text.changed.items()),
            tuple(checked),
            {n: v for n, v in self.first.final.items() if n not in self._varying},
            tuple(sorted(self._varying)),
            self._prints,
            self.runner.count,
            self.runner.recorded,
            f"NumPy {self.real.version}" if self.real else "",
            self._open(ran),
        )

    # -- finding ----------------------------------------------------------------------------------

    def _found(self, seen: Iterable[Occurrence]) -> tuple[list[Edit], list[NoEdit]]:
        """The edits of what was recorded, and what cannot be edited."""
        edits: list[Edit] = []
        left: list[NoEdit] = []
        for group in grouped(seen):
            policies = tuple(dict.fromkeys(name for each in group for name in each.others))
            if not policies:
                continue
            source, place = self._source(Path(group[0].span.file)), group[0].place
            if isinstance(source, str):
                left.append(NoEdit(*place, policies, source))
                continue
            found = plan(self.port, source, group)
            if isinstance(found, NoEdit):
                left.append(found)
            elif found and not any(found.wraps == other.wraps for other in edits):
                edits.append(found)  # of two operations of one call, such as divmod, one
        return edits, left

    def _source(self, path: Path) -> SourceText | str:
        """Read a file, or say why it is not edited."""
        if path in self._files:
            return self._files[path][1]
        if not path.is_file():
            return "it stands in no file"
        if not any(path.resolve().is_relative_to(folder) for folder in self.folders):
            return f"{path} lies outside of the program's folder"
        try:
            source = Source.read(path)
            self._files[path] = source, SourceText(source.text)
        except (OSError, SyntaxError, ValueError) as error:
            return f"{path} cannot be read as Python: {error}"
        return self._files[path][1]

    # -- running ----------------------------------------------------------------------------------

    def _run_edited(
        self, edits: list[Edit], left: list[NoEdit], known: Collection[tuple[Span, str]]
    ) -> tuple[list[Edit], list[NoEdit], EditedText, Ran]:
        """Run with the edits; with those of operations that come up then once more.

        What the run itself does not bear is taken back.
        """
        text = self._text(edits)
        if not text.changed:
            return edits, left, text, self.first
        ran = self._run(self.named, text)
        back = map(text.back, ran.seen)
        more, others = self._found(each for each in back if each and each.place not in known)
        more = [edit for edit in more if not edit.optional]
        rebinding = [edit for edit in edits if edit.rebinds]
        if self._apart(ran) and rebinding:
            left = left + [NoEdit(*e.place, e.policies, _OTHERWISE) for e in rebinding]
            edits = [edit for edit in edits if not edit.rebinds]
            more = [edit for edit in more if not edit.rebinds]
        elif not more:
            return edits, left + others, text, ran
        text = self._text(edits + more)
        return edits + more, left + others, text, self._run(self.named, text)

    def _run(self, policy: str | None, text: EditedText, *, bare: bool = False) -> Ran:
        asked = tuple(p.name for p in self.port.policies) if policy == self.named else ()
        recorded, runner = self.runner.recorded, self.runner
        if bare and recorded:
            runner = replace(runner, recorded=recorded._replace(wanted=""))
        ran = runner(policy, asked, text.data)
        self.runner.count = runner.count
        if ran.ended.interrupted:
            raise KeyboardInterrupt
        return ran

    def _text(self, edits: Collection[Edit]) -> EditedText:
        """The files with edits; those that cannot be written stay as they are."""
        by_file: dict[Path, list[Edit]] = {}
        for edit in edits:
            by_file.setdefault(Path(edit.span.file), []).append(edit)
        text = EditedText()
        recorded = self.runner.recorded
        for path, own in by_file.items():
            file, source = self._files[path]
            wraps = [wrap for edit in own for wrap in edit.wraps]
            try:
                new = rewritten(source, wraps, SPELLINGS[recorded.framework if recorded else ""])
                text.changed[path] = file.with_text(new.text), new
            except (Unkept, UnicodeEncodeError) as error:
                self._refused[path] = str(error)
        return text

    # -- comparing --------------------------------------------------------------------------------

    def _checked(self, text: EditedText, ran: Ran) -> list[Checked]:
        """How the edited program ends under every policy, that of the run first."""
        run, recorded = self.port.run.name, self.runner.recorded
        own = self._ended(self.named or run, ran)
        if not recorded:
            others = (self._ended(p.name, self._run(p.name, text)) for p in self.port.policies)
            return [own, *others]
        bare = ran
        if recorded.wanted:  # it is run where nothing is done in the framework's place
            bare = self._run(None, text, bare=True)
        found = []
        for policy in self.port.policies:
            differ: tuple[Unequal, ...] = ()
            if ran.report is not None:
                differ = disputed(ran.report, run, policy.name, text.source)
            if recorded.wanted and not bare.stopped:
                differ += self._apart(bare)
            found.append(Checked(policy.name, ran.stopped or bare.stopped, differ))
        return [own, *found]

    def _open(self, ran: Ran) -> tuple[NotExamined, ...]:
        """What a run did of which no policy was asked: all, if nothing was recorded."""
        recorded = self.runner.recorded
        if recorded and ran.report is not None and ran.report.operations:
            return tuple(not_examined(ran.report))
        nothing = recorded or not ran.computed
        return (NotExamined("the program", NOTHING_RECORDED),) if nothing else ()

    def _ended(self, policy: str, ran: Ran) -> Checked:
        return Checked(policy, ran.stopped, () if ran.stopped else self._apart(ran))

    def _apart(self, ran: Ran) -> tuple[Unequal, ...]:
        """What a run does not end with as the first did, but for what varies from run to run."""
        if ran is self.first:
            return ()
        found = self._unequal(ran)
        if found and self._again is None and self.runner.count < RUNS:
            self._again = self._run(self.named, EditedText())
            self._varying = {each.name for each in unequal(self.first.final, self._again.final)}
            self._prints = self.first.ended.output == self._again.ended.output
            found = self._unequal(ran)
        return found

    def _unequal(self, ran: Ran) -> tuple[Unequal, ...]:
        mine, its = (
            {n: v for n, v in each.final.items() if n not in self._varying}
            for each in (self.first, ran)
        )
        found = unequal(mine, its, self.tolerance)
        prints = self.first.ended.output != ran.ended.output
        if self._prints and self.runner.recorded and prints:
            found.append(Unequal("standard output", False, "it prints something else"))
        return tuple(found)


def disputed(
    report: Report, wanted: str, policy: str, places: Callable[[str], SourceText | None]
) -> tuple[Unequal, ...]:
    """Return the places at which a policy answers otherwise than that whose dtypes are wanted.

    No policy computes an edited program that was recorded: each is asked what it would make of its
    operations, from the first line on, with the dtypes that it has seen so far. A result that the
    program casts to the dtype at once is none; ``places`` has the expressions of the edited files.
    """
    found: dict[str, Unequal] = {}
    for each in report.divergences:
        mine, its = each.answers.get(wanted), each.answers.get(policy)
        if mine is None or its is None or mine.dtype is its.dtype:
            continue
        if its.dtype and _cast_at_once(each.site, str(mine), places(each.site.file)):
            continue
        name = f"{each.shown_at}: {text_at(each.shown_at)}"
        dtypes = f"{its} instead of {mine}" if its.dtype else f"refuses {', '.join(its.operands)}"
        found.setdefault(name, Unequal(name, True, f"{each.name}: {dtypes}"))
    return tuple(found.values())


def _cast_at_once(site: Site, dtype: str, source: SourceText | None) -> bool:
    """Whether the source casts the expression at a place to a dtype."""
    if source is None:
        return False
    at = [n for n in source.beginning(site.line, site.column) if ast.unparse(n) == site.expression]
    return any(cast_dtype(source, node) == dtype for node in at)


# -- fewer edits that do the same --------------------------------------------------------------


def simplified(
    edits: list[Edit],
    seen: Sequence[Occurrence],
    files: Mapping[Path, SourceText],
    final: Collection[str],
) -> list[Edit]:
    """Return edits without those that others make needless, and with one in place of several; the
    ``final`` globals, which are compared at the end, keep their dtypes."""
    passes = {group[0].place: group for group in grouped(seen)}
    outer = {id(w.node) for e in edits for w in e.wraps if _of_operand(w)}
    edits = [e for e in edits if not (_cast_again(e, outer) and _is_exact(passes[e.place]))]
    for path, source in files.items():
        own = [e for e in edits if Path(e.span.file) == path]
        for several, one in _one_for_several(own, source, final):
            edits = [*(e for e in edits if e not in several), one]
    return edits


def _of_operand(wrap: Wrap) -> bool:
    return wrap.operand is not None and wrap.how == "astype"


def _cast_again(edit: Edit, outer: Collection[int]) -> bool:
    """Whether what an edit casts as a result is cast once more as an operand."""
    (wrap, *more) = edit.wraps or (None,)
    return wrap is not None and not more and wrap.operand is None and id(wrap.node) in outer


def _is_exact(own: list[Occurrence]) -> bool:
    """Whether results are exact under all policies, and none has fewer bits of them."""
    return all(
        each.dtype is not None
        and each.how not in (VALUES, COMPUTED)
        and (each.dtype.kind in INTEGERS or each.dtype.code == "b1")
        and each.dtype.bits >= s.asked.wanted.bits
        for s in own
        for each in (Differs(DTYPE, s.asked.wanted), *s.others.values())
    )


def _one_for_several(
    edits: list[Edit], source: SourceText, final: Collection[str]
) -> Iterator[tuple[list[Edit], Edit]]:
    """Yield several edits that cast one name to one dtype, and one where the name gets its value.

    Wherever the name is used, it is cast so.
    """
    uses: dict[tuple[Any, str, str], list[Edit]] = {}
    for edit in edits:
        (wrap, *others) = edit.wraps or (None,)
        if wrap is None or others or not isinstance(wrap.node, ast.Name):
            continue
        scope = source.scope(wrap.node)
        plain = wrap.how == "astype" and not wrap.text
        if plain and not (isinstance(scope, ast.Module) and wrap.node.id in final):
            uses.setdefault((scope, wrap.node.id, wrap.dtype.name), []).append(edit)
    for (scope, name, _), several in uses.items():
        value = _value(source, scope, name, {id(edit.wraps[0].node) for edit in several})
        if len(several) > 1 and value is not None:
            wrap = several[0].wraps[0]._replace(node=value)
            policies = tuple(dict.fromkeys(p for edit in several for p in edit.policies))
            span = Span(several[0].span.file, *position_of(value))
            yield several, Edit(span, f"{name} =", policies, (wrap,))


def _value(source: SourceText, scope: ast.AST, name: str, cast: Collection[int]) -> Any:
    """What a name is given, if that is by one assignment to it alone, and all uses are cast."""
    stores: list[Any] = []
    for node in ast.walk(scope):
        match node:
            case ast.arg(arg=given) if given == name:
                return None
            case ast.Name(id=given, ctx=ast.Load()) if given == name and id(node) not in cast:
                return None
            case ast.Name(id=given, ctx=ast.Store() | ast.Del()) if given == name:
                stores.append(node)
    if len(stores) != 1 or source.scope(stores[0]) is not scope:
        return None
    match source.parents[stores[0]]:
        case ast.Assign(targets=[_], value=value):
            return value
    return None
