"""The smallest set of casts after which a program computes the same under every policy.

1. The program runs once, and every operation at which some policy answers otherwise gets an edit.
2. The edited program runs again, until no operation is left that has no edit.
3. It runs under each policy, and its globals at the end are compared with those of the first run.
4. What turns out not to be needed is taken back, and one cast where a name gets its value takes the
   place of several where it is used.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

from promoarray.diagnostics.edits.occurrence import Occurrence, Span, grouped
from promoarray.diagnostics.edits.planner import Edit, NoEdit, Port, plan
from promoarray.diagnostics.edits.source import Position, SourceText
from promoarray.diagnostics.edits.spelling import OWN, SPELLINGS, Spelling
from promoarray.diagnostics.edits.writing import Unkept, rewritten
from promoarray.diagnostics.port.edited_text import EditedText
from promoarray.diagnostics.port.final import Unequal, unequal
from promoarray.diagnostics.port.ported import Checked, Ported
from promoarray.diagnostics.port.proof import disputed
from promoarray.diagnostics.port.runs import Ran, Runner
from promoarray.diagnostics.port.smaller import not_needed, one_for_several
from promoarray.diagnostics.port.sources import Source

ROUNDS, TRIALS = 4, 16
"""How often new operations may come up, and how many smaller sets of edits are tried."""

Results = dict[tuple[Span, str], frozenset[tuple[str, ...]]]
"""From each operation of the source to the dtypes it gave."""


class _Tried(NamedTuple):
    """A set of edits, and how the program ended with it under each policy."""

    edits: list[Edit]
    checked: list[Checked]
    results: list[Results]


@dataclass
class Work:
    """Looks for the edits of one program.

    Attributes
    ----------
    runner : Runner
    port : Port
    named : str or None
        The policy that the command names; None leaves it to the program.
    first : Ran
        The run that all others are compared with.
    folders : tuple of Path
        Where the files lie that may be edited.
    tolerance : float
        By how much values may differ, as a part of the largest of their array.
    """

    runner: Runner
    port: Port
    named: str | None
    first: Ran
    folders: tuple[Path, ...]
    tolerance: float = 0.0
    _files: dict[Path, tuple[Source, SourceText]] = field(default_factory=dict)
    _refused: dict[Path, str] = field(default_factory=dict)
    _ran: dict[tuple[str | None, tuple[tuple[Path, bytes], ...]], Ran] = field(default_factory=dict)

    def ported(self) -> Ported:
        """Find the edits, and prove them."""
        self.port = self.port._replace(proved=True)
        again = self._run(self.named)
        self._varying = {each.name for each in unequal(self.first.final, again.final)}
        self._final = {n: v for n, v in self.first.final.items() if n not in self._varying}
        self._output = self.first.output if self.first.output == again.output else None
        edits, left = self._found(self.first.seen)
        required = [edit for edit in edits if not edit.optional]
        required, left = self._until_none_are_new(required, left)
        done = self._restored(self._tried(required))
        left += [NoEdit(*e[:2], e.policies, _OTHERWISE) for e in required if e not in done.edits]
        if not all(each.agrees for each in done.checked):
            failing = {each.policy for each in done.checked if not each.agrees}
            extra = [e for e in edits if e.optional and failing & {*e.policies}]
            done = self._tried(required + extra) if extra else done
        done = self._smaller(done)
        required, checked = done.edits, self._as_it_is(done)
        failing = {each.policy for each in checked if not each.agrees}
        left = [each for each in left if not each.optional or failing & {*each.policies}]
        text = self._text(required)
        changed = tuple((self._files[path][0], new) for path, new in text.changed.items())
        left += [
            NoEdit(e.span, e.operation, e.policies, self._refused[Path(e.span.file)])
            for e in edits
            if Path(e.span.file) in self._refused
        ]
        return Ported(
            self.port,
            tuple(required),
            tuple(left),
            changed,
            tuple(checked),
            self._final,
            tuple(sorted(self._varying)),
            self._output is not None,
            self.runner.count,
            self.runner.recorded,
        )

    # -- finding ----------------------------------------------------------------------------------

    def _found(self, seen: list[Occurrence]) -> tuple[list[Edit], list[NoEdit]]:
        """The edits of what was recorded, and what cannot be edited."""
        edits, left = [], []
        for group in grouped(seen):
            found = self._edit(group)
            if isinstance(found, Edit):
                edits.append(found)
            elif found is not None:
                left.append(found)
        return edits, left

    def _edit(self, group: list[Occurrence]) -> Edit | NoEdit | None:
        span, name = group[0].span, group[0].asked.name
        policies = tuple(dict.fromkeys(name for s in group for name in s.concerned))
        if not policies:
            return None
        path = Path(span.file)
        if why := self._not_editable(path):
            return NoEdit(span, name, policies, why)
        return plan(self.port, self._files[path][1], group)

    def _not_editable(self, path: Path) -> str:
        """Read a file, or say why it is not edited."""
        if path in self._files:
            return ""
        if not path.is_file():
            return "it stands in no file"
        if not any(path.resolve().is_relative_to(folder) for folder in self.folders):
            return f"{path} lies outside of the program's folder"
        try:
            source = Source.read(path)
            self._files[path] = source, SourceText(source.text)
        except (OSError, SyntaxError, ValueError) as error:
            return f"{path} cannot be read as Python: {error}"
        return ""

    def _until_none_are_new(
        self, edits: list[Edit], left: list[NoEdit]
    ) -> tuple[list[Edit], list[NoEdit]]:
        """Run with the edits, and add those of operations that come up then."""
        for _ in range(ROUNDS):
            done: list[Edit | NoEdit] = [*edits, *left]
            known = {(each.span, each.operation) for each in done}
            text = self._text(edits)
            ran = self._run(self.named, text)
            back = (_back(each, text) for each in ran.seen)
            new = [s for s in back if s is not None and (s.span, s.asked.name) not in known]
            more, others = self._found(new)
            more = [edit for edit in more if not edit.optional]
            if not more and not others:
                break
            edits, left = edits + more, left + others
        return edits, left

    # -- trying -----------------------------------------------------------------------------------

    def _run(self, policy: str | None, text: EditedText | None = None) -> Ran:
        """Run with edits; once only, however often that is asked for."""
        texts = {path: source.data for path, source in text.changed.items()} if text else {}
        key = policy, tuple(sorted(texts.items()))
        if key not in self._ran:
            asked = self._asked if policy == self.named else ()
            self._ran[key] = self.runner(policy, asked, texts)
        if self._ran[key].interrupted:
            raise KeyboardInterrupt
        return self._ran[key]

    @property
    def _words(self) -> Spelling:
        recorded = self.runner.recorded
        return SPELLINGS[recorded.framework] if recorded else OWN

    @property
    def _asked(self) -> tuple[str, ...]:
        return tuple(policy.name for policy in self.port.policies)

    def _text(self, edits: Collection[Edit]) -> EditedText:
        """The files with edits; those that cannot be written stay as they are."""
        by_file: dict[Path, list[Edit]] = {}
        for edit in edits:
            by_file.setdefault(Path(edit.span.file), []).append(edit)
        text = EditedText()
        for path, own in by_file.items():
            source, places = self._files[path]
            wraps = [wrap for edit in own for wrap in edit.wraps]
            try:
                found = rewritten(places, wraps, self._words)
                text.changed[path] = source.with_text(found.text)
                text.origins[path] = found.origins
            except (Unkept, UnicodeEncodeError) as error:
                self._refused[path] = str(error)
        return text

    def _tried(self, edits: list[Edit]) -> _Tried:
        """Run with edits under every policy."""
        done = self._like(edits, None)
        assert done is not None
        return done

    def _like(self, edits: list[Edit], like: _Tried | None) -> _Tried | None:
        """Run with edits under every policy; None as soon as one run is not like another."""
        text = self._text(edits)
        names = (self.named, *self._asked)
        found: dict[str | None, tuple[Checked, Results]] = {}
        changed = {(e.span, e.operation) for e in edits} ^ {
            (e.span, e.operation) for e in (like.edits if like else edits)
        }
        # The run itself comes last: it is the likeliest to agree.
        for index, name in reversed([*enumerate(names)]):
            ran = self._run(self.named if self.runner.recorded else name, text)
            checked = self._checked(name, ran, text)
            results = _results(ran, text) if self._output in (None, ran.output) else {}
            if like is not None and (
                checked != like.checked[index]
                or _but(results, changed) != _but(like.results[index], changed)
            ):
                return None
            found[name] = checked, results
        every = [found[name] for name in names]
        return _Tried(edits, [checked for checked, _ in every], [each for _, each in every])

    def _checked(self, name: str | None, ran: Ran, text: EditedText) -> Checked:
        """How the program ended under a policy; None is that of the run itself."""
        run, recorded = self.port.run.name, self.runner.recorded
        if ran.stopped:
            return Checked(name or run, ran.stopped, ())
        if recorded and name != self.named and ran.report is not None:
            return Checked(str(name), "", disputed(ran.report, run, str(name), text.places))
        if recorded and recorded.wanted:  # whose dtypes it had not before
            return Checked(run, "", ())
        return Checked(name or run, "", self._apart(ran))

    def _as_it_is(self, done: _Tried) -> list[Checked]:
        """How it ends where nothing is done in the framework's place that it would stop at."""
        recorded = self.runner.recorded
        if not recorded or not recorded.wanted:
            return done.checked
        texts = {path: source.data for path, source in self._text(done.edits).changed.items()}
        bare = replace(self.runner, recorded=recorded._replace(wanted=""))
        stopped = bare(None, self._asked, texts).stopped
        return [c._replace(stopped=c.stopped or stopped) for c in done.checked]

    def _apart(self, ran: Ran) -> tuple[Unequal, ...]:
        """What a run does not end with as the first did."""
        given = {n: v for n, v in ran.final.items() if n not in self._varying}
        found = unequal(self._final, given, self.tolerance)
        if self.runner.recorded and self._output not in (None, ran.output):
            found.append(Unequal("standard output", False, "it prints something else"))
        return tuple(found)

    def _restored(self, done: _Tried) -> _Tried:
        """Take back an edit with which the run itself is not as it was."""
        if done.checked[0].agrees:
            return done
        for edit in done.edits:
            fewer = [each for each in done.edits if each is not edit]
            text = self._text(fewer)
            if self._checked(self.named, self._run(self.named, text), text).agrees:
                return self._tried(fewer)
        return done

    # -- making it smaller ------------------------------------------------------------------------

    def _smaller(self, done: _Tried) -> _Tried:
        """Take back what is not needed, and cast once where that does for several edits."""
        if any(each.stopped for each in done.checked):
            return done
        candidates: Callable[[list[Edit]], Iterator[list[Edit]]]
        tried: list[list[Edit]] = []
        for candidates in (self._fewer, self._at_sources):
            while len(tried) < TRIALS:
                trial = next((c for c in candidates(done.edits) if c not in tried), None)
                if trial is None:
                    break
                tried.append(trial)
                done = self._like(trial, done) or done
        return done

    def _fewer(self, edits: list[Edit]) -> Iterator[list[Edit]]:
        for edit in not_needed(edits, self.first.seen, self._files, self._final):
            yield [each for each in edits if each is not edit]

    def _at_sources(self, edits: list[Edit]) -> Iterator[list[Edit]]:
        for path, (_, places) in self._files.items():
            own = [e for e in edits if Path(e.span.file) == path]
            yield from (
                [e for e in edits if e not in several] + [one]
                for several, one in one_for_several(own, places, self._final)
            )


_OTHERWISE = "with its cast the run itself ends otherwise"


def _back(seen: Occurrence, text: EditedText) -> Occurrence | None:
    """What was recorded of an edited file, where it stood before; None of the edits' own casts."""
    origins = text.origins.get(Path(seen.span.file))
    if origins is None:
        return seen
    line, column, end_line, end_column = seen.span[1:5]
    at = origins.get((line, column, end_line, end_column))
    return None if at is None else replace(seen, span=_span(seen.span, at))


def _span(span: Span, at: Position) -> Span:
    line, column, end_line, end_column = at
    return Span(span.file, line, column, end_line, end_column, span.stores, span.part)


def _results(ran: Ran, text: EditedText) -> Results:
    found: dict[tuple[Span, str], set[tuple[str, ...]]] = {}
    for each in ran.seen:
        back = _back(each, text)
        if back is not None:
            names = tuple(dtype.name for dtype in each.results)
            found.setdefault((back.span, back.asked.name), set()).add(names)
    return {key: frozenset(value) for key, value in found.items()}


def _but(results: Results, changed: Collection[tuple[Span, str]]) -> Results:
    return {key: value for key, value in results.items() if key not in changed}
