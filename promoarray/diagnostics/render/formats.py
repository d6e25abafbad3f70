"""A report in the formats that a command writes: for people, for tools, and beside both."""

from __future__ import annotations

import argparse
import io
import json
import os
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple

from promoarray.diagnostics.findings.classify import NEW, Judged
from promoarray.diagnostics.render.sarif import Rule, as_commands, as_sarif
from promoarray.diagnostics.render.words import by_place, message
from promoarray.diagnostics.spans import base_folder, relative
from promoarray.diagnostics.whole_file import require_place, write_whole

MOST = 50
"""So many places are in the summary of a job, which is read on one page."""


class Formats(NamedTuple):
    """What each format is made of."""

    judged: Judged
    status: int  # what the command exits with
    rules: Sequence[Rule]  # SARIF's
    sentences: Sequence[str]  # what was found, as a whole
    errors: Sequence[str]  # what kept the program from its end, or promoarray from watching it
    data: Callable[[], dict[str, Any]]
    text: Callable[[IO[str] | None], None]  # writes it for people
    page: Callable[[str], str]  # HTML, with the command

    def write(self, args: argparse.Namespace) -> None:
        """Write the report, and what is asked for beside it; what was in a file that cannot be
        written stays."""
        kept = io.StringIO() if args.output else None
        if args.format == "text":
            self.text(kept)
        else:
            for line in self._lines(args.format):
                print(line, file=kept)
        command = shlex.join(["promoarray", *sys.argv[1:]])
        beside = {args.html: lambda: self.page(command), args.sarif: lambda: self._sarif}
        files = {args.output: kept.getvalue} if kept is not None else {}
        files |= {file: made for file, made in beside.items() if file}
        for file, made in files.items():
            write_whole(Path(file), made())
            if kept is not None or args.format in ("text", "github"):  # else it is data
                print(f"Written: {file}")
        if args.format == "github" and (summary := os.environ.get("GITHUB_STEP_SUMMARY")):
            with open(summary, "a", encoding="utf-8", errors="backslashreplace") as file:
                file.writelines(f"{line}\n" for line in self._markdown(args))

    def _lines(self, format_: str) -> Iterator[str]:
        """Yield the report in a format that other tools read, a line each."""
        if format_ == "json":
            yield json.dumps(self.data(), indent=2)
        elif format_ == "sarif":
            yield self._sarif
        else:
            yield from filter(None, (*as_commands(self.judged), *self.sentences))

    @property
    def _sarif(self) -> str:
        return json.dumps(as_sarif(self.judged, self.status, self.errors, self.rules), indent=2)

    def _markdown(self, args: argparse.Namespace) -> Iterator[str]:
        """Yield the summary of a job: what was found, and a row for each place."""
        places = by_place(self.judged.of(NEW))
        yield f"### promoarray {args.command} {_cell(args.script or args.module or '')}"
        yield ""
        yield from (f"{_cell(each)}\n" for each in (*self.errors, *self.sentences) if each)
        if places:
            yield from ("| line | source | finding |", "|---|---|---|")
        for place in places[:MOST]:
            site = place[0].place
            line = f"{relative(site.file, base_folder())}:{site.line}"
            yield f"| {' | '.join(map(_cell, (line, place[0].source, message(place))))} |"
        if len(places) > MOST:
            yield f"\n{len(places) - MOST} more places are in the report."


def require_places(args: argparse.Namespace) -> None:
    """Refuse files that could not be written, before the program runs."""
    for file in filter(None, (args.output, args.html, args.sarif, args.save)):
        require_place(Path(file))


def _cell(text: str) -> str:
    """Text of a program as Markdown shows it: nothing in it is markup."""
    escaped = "".join(f"\\{c}" if c in _MARKUP else c for c in text)
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace("\n", " ")


_MARKUP = frozenset("\\`*_[]|~>")
