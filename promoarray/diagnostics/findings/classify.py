"""Classes of findings: new, known or ignored, and those that fail."""

from __future__ import annotations

import argparse
import difflib
import io
import json
import linecache
import os
import re
import tokenize
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path
from typing import Any, NamedTuple

from promoarray.console import counted
from promoarray.diagnostics.exit_codes import UsageError
from promoarray.diagnostics.findings.results import Finding, Results, findings
from promoarray.diagnostics.model.kinds import NAMES, selected
from promoarray.diagnostics.model.lost import CHECKS
from promoarray.diagnostics.spans import relative
from promoarray.diagnostics.whole_file import require_place, write_whole
from promoarray.errors import UnknownPolicyError, quoted
from promoarray.promotion.registry import as_policy, families

VERSION = 1
"""Of the file's form."""


class Entry(NamedTuple):
    """What identifies a finding, wherever its line moves."""

    file: str  # from the baseline's own folder on
    expression: str
    kind: str
    policy: str
    operation: str
    operands: tuple[str, ...]
    run: str
    answer: str

    @classmethod
    def of(cls, finding: Finding, folder: str) -> Entry:
        """Return what is kept of a finding."""
        file = relative(finding.place.file, folder)
        what = finding.kind, finding.policy, finding.operation, finding.operands
        return cls(file, finding.source, *what, finding.run, finding.answer)

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        return self._asdict() | {"operands": list(self.operands)}


@dataclass(frozen=True)
class Baseline:
    """A file of known findings."""

    path: Path
    # from each Entry to at how many places it is known
    counts: Counter[Entry] = field(default_factory=Counter)

    def entry(self, finding: Finding) -> Entry:
        """Return what is kept of a finding."""
        return Entry.of(finding, os.path.realpath(self.path.parent))

    def known(self, found: Iterable[Finding]) -> set[Finding]:
        """Return those of the findings, in the order of the source, that are known."""
        left = Counter(self.counts)
        known = set()
        for each in found:
            entry = self.entry(each)
            if left[entry] > 0:
                left[entry] -= 1
                known.add(each)
        return known

    def gone(self, found: Iterable[Finding], policies: Collection[str]) -> Counter[Entry]:
        """Return what was known and is not found any more, of the policies that were asked."""
        gone = self.counts - Counter(map(self.entry, found))
        return Counter({e: n for e, n in gone.items() if e.policy in ("", *policies)})

    def updated(self, found: Iterable[Finding], policies: Collection[str]) -> Baseline:
        """Return one of what is found now, and of what is known of policies not asked now."""
        others = {e: n for e, n in self.counts.items() if e.policy not in ("", *policies)}
        return Baseline(self.path, Counter(others) + Counter(map(self.entry, found)))

    def write(self) -> None:
        """Write the file: sorted, an entry a line."""
        rows = [e.to_dict() | {"count": n} for e, n in sorted(self.counts.items())]
        lines = ",\n".join(f"  {json.dumps(row, ensure_ascii=False)}" for row in rows)
        held = f"[\n{lines}\n ]" if lines else "[]"
        write_whole(self.path, f'{{"promoarray_baseline": {VERSION},\n "findings": {held}}}\n')


def asked_baseline(file: str | None, update: bool) -> Baseline | None:
    """Return the baseline that a command line names; an empty one that is about to be written."""
    if not file:
        if update:
            raise UsageError("--update-baseline needs --baseline FILE, which it writes")
        return None
    path = Path(file)
    if update:
        require_place(path)
        if not path.exists():
            return Baseline(path)
    elif not path.exists():
        raise UsageError(f"no such baseline: {path}; --update-baseline writes it")
    return read(path)


def read(path: Path) -> Baseline:
    """Read a baseline."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        version = data["promoarray_baseline"]
        if version != VERSION:
            raise UsageError(
                f"{path} is a baseline of version {version!r}, and this promoarray reads version "
                f"{VERSION}; write it anew with --update-baseline"
            )
        return Baseline(path, Counter(dict(map(_entry, data["findings"]))))
    except (KeyError, TypeError, RecursionError, UnicodeError, json.JSONDecodeError) as error:
        raise UsageError(
            f"{path} is no baseline ({type(error).__name__}: {error}); write it with "
            "--update-baseline"
        ) from error


def _entry(row: dict[str, Any]) -> tuple[Entry, int]:
    texts = {name: row[name] for name in Entry._fields if name != "operands"}
    operands, count = row["operands"], row["count"]
    if type(operands) is not list or type(count) is not int or count < 1:
        raise TypeError("an entry needs a list of operands, and a count of 1 or more")
    if not all(type(text) is str for text in (*texts.values(), *operands)):
        raise TypeError("all else of an entry is text")
    return Entry(**texts, operands=tuple(operands)), count


class Selected(NamedTuple):
    """Findings by name: of some kinds, of some policies; of every one where none is named."""

    kinds: tuple[str, ...]
    policies: tuple[str, ...]
    # names that nothing has: what was meant is not known, so nothing is selected
    unknown: tuple[str, ...]

    @classmethod
    def of(cls, words: Collection[str]) -> Selected:
        """Return what some names select."""
        kinds = tuple(word for word in words if word in NAMES or word in CHECKS)
        policies = tuple(word for word in words if word not in kinds and _known(word))
        return cls(kinds, policies, tuple(w for w in words if w not in (*kinds, *policies)))

    def has(self, finding: Finding) -> bool:
        """Whether a finding is of its kinds and policies."""
        return (
            not self.unknown
            and (not self.kinds or any(name in finding.names for name in self.kinds))
            and (not self.policies or any(_is(finding.policy, name) for name in self.policies))
        )

    def about(self, policies: Collection[str]) -> bool:
        """Whether it is about a comparison with these policies."""
        return not self.policies or any(_is(p, name) for p in policies for name in self.policies)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment that has findings ignored."""

    file: str
    line: int
    text: str
    # the lines that it holds for
    first: int
    last: int
    # what the names in its brackets select
    names: Selected

    def covers(self, finding: Finding) -> bool:
        """Whether it holds for a finding: for its line, its kind and its policy."""
        return (
            self.names.has(finding)
            and self.first <= finding.place.line <= self.last
            and os.path.realpath(self.file) == os.path.realpath(finding.place.file)
        )


@dataclass(frozen=True)
class Ignored:
    """What a command line and the settings of a project have ignored."""

    everywhere: tuple[str, ...] = ()
    # from patterns of paths to names; what is named alone does not hold elsewhere
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def by(cls, args: argparse.Namespace) -> Ignored:
        """Return what the arguments of a command say."""
        return cls(args.ignore, args.ignore_in)

    def covers(self, finding: Finding) -> bool:
        """Whether a finding is ignored."""
        path = os.path.realpath(finding.place.file)
        every = [self.everywhere] if self.everywhere else []
        every += [names for pattern, names in self.files.items() if fnmatch(path, pattern)]
        return any(Selected.of(names).has(finding) for names in every)


def ignored_names(words: Collection[str]) -> tuple[str, ...]:
    """Return names of kinds and policies, as the brackets of a comment have them; ``ValueError`` if
    one is neither."""
    for name in Selected.of(words).unknown:
        raise ValueError(f"{quoted(name)} is neither a policy nor a kind of finding.{_near(name)}")
    return tuple(words)


class Notice(NamedTuple):
    """What a reader of a report should know of a line."""

    file: str
    line: int
    text: str


def comments_in(files: Collection[str]) -> list[Comment]:
    """Return the comments of some files, each file by whatever name once."""
    by_path = {os.path.realpath(f): f for f in sorted(files) if not f.startswith("<")}
    texts = {file: "".join(linecache.getlines(file)) for file in sorted(by_path.values())}
    # Not every file is taken apart: most have none.
    return [
        each for file, text in texts.items() if "promoarray:" in text for each in _read(file, text)
    ]


def told(
    comments: Collection[Comment],
    used: Collection[Comment],
    policies: Collection[str],
    kinds: Collection[str] = NAMES,
) -> list[Notice]:
    """Return what is wrong with comments: names that nothing has, and those that ignore nothing."""
    notices = []
    for each in comments:
        for name in each.names.unknown:
            names = ", ".join(kinds)
            what = f"names {quoted(name)}, which is neither a policy nor one of {names}."
            notices.append(Notice(each.file, each.line, f"{each.text} {what}{_near(name)}"))
        if each not in used and not each.names.unknown and each.names.about(policies):
            notices.append(Notice(each.file, each.line, f"unused ignore: {each.text}"))
    return notices


def _near(name: str) -> str:
    meant = difflib.get_close_matches(name, [*NAMES, *CHECKS, *families()], n=1)
    return f" Did you mean: {meant[0]}?" if meant else ""


_IGNORE = re.compile(r"#\s*promoarray:\s*ignore(?![\w-])\s*(?:\[([^\]]*)(\]?))?")
_OUTSIDE = (tokenize.NL, tokenize.COMMENT, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING)


def _read(file: str, text: str) -> Iterator[Comment]:
    """Yield the comments of a file, statement by statement."""
    begun, waiting = 0, list[tokenize.TokenInfo]()
    for token in _tokens(text):
        line = token.start[0]
        if token.type == tokenize.COMMENT and _IGNORE.search(token.string):
            waiting.append(token)
        elif token.type == tokenize.NEWLINE:
            yield from (_comment(file, each, begun, line) for each in waiting)
            begun, waiting = 0, []
        elif token.type not in _OUTSIDE and not begun:
            # Those before it stand on lines of their own.
            yield from (_comment(file, each, 0, 0) for each in waiting)
            begun, waiting = line, []
    yield from (_comment(file, each, 0, 0) for each in waiting)  # what cannot be read on


def _tokens(text: str) -> Iterator[tokenize.TokenInfo]:
    """Yield the tokens of a text, as far as it can be read."""
    try:
        yield from tokenize.generate_tokens(io.StringIO(text).readline)
    except (tokenize.TokenError, SyntaxError):
        return


def _comment(file: str, token: tokenize.TokenInfo, first: int, last: int) -> Comment:
    line, match = token.start[0], _IGNORE.search(token.string)
    assert match is not None
    if not first or line not in (first, last):
        first = last = line
    names, closed = match[1], match[2]
    words = [] if names is None else [word.strip() for word in names.split(",")]
    selected = Selected.of(words)
    if names is not None and not closed:
        selected = Selected((), (), (f"[{names}",))
    return Comment(file, line, match[0].strip(), first, last, selected)


def _known(name: str) -> bool:
    try:
        as_policy(name)
    except UnknownPolicyError:
        return False
    return True


def _is(policy: str, name: str) -> bool:
    """Whether a policy is of a family, or that of a name."""
    return name in (policy, policy.partition("@")[0]) or (
        "@" in name and as_policy(name).name == policy
    )


NOTHING_IGNORED = Ignored()

NEW, KNOWN, IGNORED = "new", "known", "ignored"


@dataclass(frozen=True)
class Judged:
    """The findings of a report, each known, ignored or new."""

    # from each Finding, in the order of the source, to ``NEW``, ``KNOWN`` in the baseline, or
    # ``IGNORED`` by a comment or a setting
    states: dict[Finding, str]
    fail_on: tuple[str, ...]  # names that select the findings that fail, if they are new
    notices: tuple[Notice, ...] = ()  # what is wrong with comments
    # the entries of the baseline that were not found any more
    gone: Counter[Entry] = field(default_factory=Counter)
    baseline: str = ""  # its file; "" without one

    def of(self, *states: str) -> list[Finding]:
        """Return the findings that are in one of some states."""
        return [each for each, state in self.states.items() if state in states]

    def fails(self, finding: Finding) -> bool:
        """Whether it is new, and selected to fail."""
        chosen = selected(self.fail_on)
        return self.states[finding] == NEW and not chosen.isdisjoint(finding.names)

    @property
    def failing(self) -> list[Finding]:
        """The findings that fail."""
        return [*filter(self.fails, self.states)]

    @property
    def hidden(self) -> frozenset[Finding]:
        """Those that a report to be read leaves out."""
        return frozenset(self.of(IGNORED, KNOWN))

    @property
    def left_out(self) -> str:
        """How many are left out, and why, in a sentence; "" if there are none."""
        why = {IGNORED: "ignored", KNOWN: f"known in {self.baseline}"}
        counts = Counter(self.states.values())
        parts = [f"{counts[state]} {words}" for state, words in why.items() if counts[state]]
        total = counted(len(self.hidden), "finding")
        return f"{total} not shown: {', '.join(parts)}." if parts else ""

    @property
    def gone_in_words(self) -> list[str]:
        """What the baseline has and the program has not any more, a line each."""
        lines = []
        for entry, count in sorted(self.gone.items()):
            what = " ".join(filter(None, (entry.policy, entry.answer or entry.kind)))
            times = f"  ×{count}" if count > 1 else ""
            lines.append(f"{entry.file}: {entry.expression}  {what}{times}")
        return lines


def judge(
    report: Results,
    files: Collection[str],
    baseline: Baseline | None,
    fail_on: tuple[str, ...],
    *,
    whole: bool,
    ignored: Ignored = NOTHING_IGNORED,
) -> Judged:
    """Say which findings of a report are new. Comments are looked for in the ``files`` of the
    program, besides those with findings; unless it ran as a ``whole``, nothing is told of what was
    not found."""
    policies = [policy.name for policy in report.policies]
    about: Any = {"whole": whole, "ignored": ignored}
    return judged(findings(report), files, baseline, fail_on, policies, **about)


def judged(
    every: Collection[Finding],
    files: Collection[str],
    baseline: Baseline | None,
    fail_on: tuple[str, ...],
    policies: Collection[str] = (),
    *,
    whole: bool,
    kinds: Collection[str] = NAMES,
    ignored: Ignored = NOTHING_IGNORED,
) -> Judged:
    """Say which findings are new; see ``judge``. Comments that name none of the kinds are others'
    to use."""
    comments = comments_in({*files, *(each.place.file for each in every)})
    holding = {each: [c for c in comments if c.covers(each)] for each in every}
    used = {comment for found in holding.values() for comment in found}
    used |= {c for c in comments if c.names.kinds and not {*c.names.kinds} & {*kinds}}
    hidden = {each for each, found in holding.items() if found or ignored.covers(each)}
    left = [each for each in every if each not in hidden]
    known = baseline.known(left) if baseline else set()
    states = {each: IGNORED if each in hidden else NEW for each in every}
    states |= dict.fromkeys(known, KNOWN)
    return Judged(
        states,
        fail_on,
        tuple(told(comments, used if whole else comments, policies, kinds)),
        baseline.gone(left, policies) if baseline and whole else Counter(),
        str(baseline.path) if baseline else "",
    )
