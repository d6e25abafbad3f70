"""The baseline: a file of the findings that are known, which do not fail.

An entry says what was found by the words of the source and not by its line, so that it stays true
while lines move. How often it was found, at as many places, is counted. Of one that is found more
often, those at the end of the file are new.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from promoarray.diagnostics.findings.finding import Finding
from promoarray.diagnostics.spans import relative
from promoarray.diagnostics.whole_file import write_whole

VERSION = 1
"""Of the file's form."""


class Entry(NamedTuple):
    """What identifies a finding, wherever its line moves.

    Attributes
    ----------
    file : str
        From the baseline's own folder on.
    expression : str
    kind, policy, operation : str
    operands : tuple of str
    run, answer : str
    """

    file: str
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
    """A file of known findings.

    Attributes
    ----------
    path : Path
    counts : Counter
        From each Entry to at how many places it is known.
    """

    path: Path
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


def read(path: Path) -> Baseline:
    """Read a baseline.

    Raises
    ------
    OSError
        If it cannot be read.
    ValueError
        If it is none.
    """
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
        version = data["promoarray_baseline"]
        if version != VERSION:
            raise ValueError(
                f"{path} is a baseline of version {version!r}, and this promoarray reads version "
                f"{VERSION}; write it anew with --update-baseline"
            )
        return Baseline(path, Counter(dict(map(_entry, data["findings"]))))
    except (KeyError, TypeError, RecursionError, UnicodeError, json.JSONDecodeError) as error:
        raise ValueError(
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
