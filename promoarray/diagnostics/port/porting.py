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

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from promoarray.diagnostics.edits.occurrence import Occurrence, Span, grouped
from promoarray.diagnostics.edits.planner import Edit, NoEdit, Port, plan
from promoarray.diagnostics.edits.rewriting import Unkept, rewritten
from promoarray.diagnostics.edits.source import Position, SourceText
from promoarray.diagnostics.edits.spelling import OWN, SPELLINGS, Spelling
from promoarray.diagnostics.findings.verdict import NotExamined, not_examined
from promoarray.diagnostics.model.final import NUMPY, PYTHON, Final
from promoarray.diagnostics.model.final_difference import Unequal, unequal
from promoarray.diagnostics.port.minimize import simplified
from promoarray.diagnostics.port.ported import NOTHING_RECORDED, Checked, Ported
from promoarray.diagnostics.port.proof import disputed
from promoarray.diagnostics.port.real_numpy import Real
from promoarray.diagnostics.port.runs import Ran, Runner
from promoarray.diagnostics.port.sources import Source

RUNS = 4
"""So often a program that is recorded is run at most."""


@dataclass
class EditedText:
    """The files with edits, and where each of their expressions stood before."""

    changed: dict[Path, Source] = field(default_factory=dict)
    origins: dict[Path, dict[Position, Position]] = field(default_factory=dict)
    _sources: dict[str, SourceText | None] = field(default_factory=dict)

    @property
    def data(self) -> dict[Path, bytes]:
        """The texts as bytes."""
        return {path: source.data for path, source in self.changed.items()}

    def source(self, file: str) -> SourceText | None:
        """The expressions of a file as it is with the edits; None if it cannot be read."""
        if file not in self._sources:
            real = Path(file).resolve()
            edited = next((s for p, s in self.changed.items() if p.resolve() == real), None)
            try:
                self._sources[file] = SourceText((edited or Source.read(real)).text)
            except (OSError, SyntaxError, ValueError):
                self._sources[file] = None
        return self._sources[file]


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
    real : Real or None
        How the program ended in a real NumPy 1, which is then what the others are compared with.
    """

    runner: Runner
    port: Port
    named: str | None
    first: Ran
    folders: tuple[Path, ...]
    tolerance: float = 0.0
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
            made = {n: _final(kind, values) for n, (kind, values) in self.real.final.items()}
            final = {n: made.get(n, value) for n, value in self.first.final.items()}
            self.first = self.first._replace(final=final)
        found, left = self._found(self.first.seen)
        edits = self._simplified([edit for edit in found if not edit.optional])
        optional = [edit for edit in found if edit.optional]
        self._known = {each[:2] for each in (*found, *left)}
        edits, left, text, ran = self._run_edited(edits, left)
        checked = self._checked(text, ran)
        failing = {each.policy for each in checked if not each.agrees}
        more = [e for e in optional if e not in edits and failing & {*e.policies}]
        if more and not self.runner.recorded:
            edits += more
            text = self._text(edits)
            checked = self._checked(text, self._run(self.named, text))
            failing = {each.policy for each in checked if not each.agrees}
        if not checked[0].agrees and edits:  # which the edits are to leave as it is
            left += [NoEdit(*e[:2], e.policies, _OTHERWISE) for e in edits]
            edits, text = [], EditedText()
        left = [each for each in left if not each.optional or failing & {*each.policies}]
        left += [
            NoEdit(e.span, e.operation, e.policies, self._refused[Path(e.span.file)])
            for e in found
            if Path(e.span.file) in self._refused
        ]
        return Ported(
            self.port,
            tuple(edits),
            tuple(left),
            tuple((self._files[path][0], new) for path, new in text.changed.items()),
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

    @property
    def _sources(self) -> dict[Path, SourceText]:
        return {path: source for path, (_, source) in self._files.items()}

    def _found(self, seen: Iterable[Occurrence]) -> tuple[list[Edit], list[NoEdit]]:
        """The edits of what was recorded, and what cannot be edited."""
        edits: list[Edit] = []
        left: list[NoEdit] = []
        for group in grouped(seen):
            found = self._edit(group)
            if isinstance(found, Edit):  # of two operations of one call, such as divmod, one
                if not any(found.wraps == other.wraps for other in edits):
                    edits.append(found)
            elif found is not None:
                left.append(found)
        return edits, left

    def _edit(self, group: list[Occurrence]) -> Edit | NoEdit | None:
        span, name = group[0].place
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

    def _simplified(self, edits: list[Edit]) -> list[Edit]:
        final = {*self.first.final}
        return simplified(edits, self.first.seen, self._sources, final)

    # -- running ----------------------------------------------------------------------------------

    def _run_edited(
        self, edits: list[Edit], left: list[NoEdit]
    ) -> tuple[list[Edit], list[NoEdit], EditedText, Ran]:
        """Run with the edits; with those of operations that come up then once more.

        What the run itself does not bear is taken back.
        """
        text = self._text(edits)
        if not text.changed:
            return edits, left, text, self.first
        ran = self._run(self.named, text)
        back = (_back(each, text) for each in ran.seen)
        new = (each for each in back if each is not None and each.place not in self._known)
        more, others = self._found(new)
        more = [edit for edit in more if not edit.optional]
        kept = [edit for edit in edits if not edit.rebinds]
        if self._apart(ran) and len(kept) < len(edits):
            left = left + [NoEdit(*e[:2], e.policies, _OTHERWISE) for e in edits if e.rebinds]
            edits, more = kept, [edit for edit in more if not edit.rebinds]
            text = self._text(edits + more)
            ran = self._run(self.named, text)
        elif more:
            text = self._text(edits + more)
            ran = self._run(self.named, text)
        return edits + more, left + others, text, ran

    def _run(self, policy: str | None, text: EditedText, *, bare: bool = False) -> Ran:
        asked = tuple(p.name for p in self.port.policies) if policy == self.named else ()
        recorded, runner = self.runner.recorded, self.runner
        if bare and recorded:
            runner = replace(runner, recorded=recorded._replace(wanted=""))
        ran = runner(policy, asked, text.data)
        self.runner.count = runner.count
        if ran.interrupted:
            raise KeyboardInterrupt
        return ran

    @property
    def _words(self) -> Spelling:
        recorded = self.runner.recorded
        return SPELLINGS[recorded.framework] if recorded else OWN

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
            if recorded.wanted:
                differ += self._apart(bare) if not bare.stopped else ()
            found.append(Checked(policy.name, ran.stopped or bare.stopped, differ))
        return [own, *found]

    def _open(self, ran: Ran) -> tuple[NotExamined, ...]:
        """What a recorded run did of which no policy was asked: all, if nothing was recorded."""
        if not self.runner.recorded:
            return ()
        if ran.report is None or not ran.report.operations:
            return (NotExamined("the program", NOTHING_RECORDED),)
        return tuple(not_examined(ran.report))

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
            self._prints = self.first.output == self._again.output
            found = self._unequal(ran)
        return found

    def _unequal(self, ran: Ran) -> tuple[Unequal, ...]:
        mine, its = (
            {n: v for n, v in each.final.items() if n not in self._varying}
            for each in (self.first, ran)
        )
        found = unequal(mine, its, self.tolerance)
        if self._prints and self.runner.recorded and self.first.output != ran.output:
            found.append(Unequal("standard output", False, "it prints something else"))
        return tuple(found)


def _final(kind: str, values: Any) -> Final:
    """A global of the real NumPy's run: arrays are ``numpy float64`` there, numbers ``float``."""
    library, _, dtype = kind.rpartition(" ")
    return Final(dtype, values.shape, values, library=NUMPY if library else PYTHON)


_OTHERWISE = "with its cast the run itself ends otherwise"


def _back(seen: Occurrence, text: EditedText) -> Occurrence | None:
    """What was recorded of an edited file, where it stood before; None of the edits' own casts."""
    origins = text.origins.get(Path(seen.span.file))
    if origins is None:
        return seen
    span = seen.span
    at = origins.get((span.line, span.column, span.end_line, span.end_column))
    return None if at is None else replace(seen, span=Span(span.file, *at, span.stores, span.part))
