"""``promoarray lsp``: a language server that shows what saved recordings found.

It runs no program: ``promoarray compare`` or ``check`` does, with ``--save``. A file of which the
run's text is another one shows nothing, and says so.
"""

from __future__ import annotations

import argparse
import linecache
import os
from collections.abc import Iterable, Iterator
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import to_fs_path

from promoarray.diagnostics.findings.classify import Ignored
from promoarray.diagnostics.lsp.recorded import (
    Recorded,
    as_run,
    read_recording,
    recordings,
    seen_at,
    text_of,
)
from promoarray.diagnostics.model.kinds import KINDS
from promoarray.diagnostics.model.lost import CHECKS
from promoarray.diagnostics.render.replacements import replacements
from promoarray.diagnostics.render.words import Place, message
from promoarray.diagnostics.run.frameworks import named
from promoarray.diagnostics.spans import Span, span_of

SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}
LEVELS = {name: kind.level for name, kind in {**KINDS, **CHECKS}.items()}


class Served:
    """What the recordings of a workspace say, by the protocol."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.server = LanguageServer("promoarray", version("promoarray"))
        self._args = args
        self._shown = set[str]()  # files that have diagnostics
        self._told = set[str]()  # errors that were told
        self.found: list[Recorded] = []
        # what was read, with when the file was written: asking takes a second
        self._read = dict[str, tuple[tuple[int, int], Recorded]]()
        for name, answer in {
            lsp.INITIALIZED: self.begin,
            lsp.TEXT_DOCUMENT_DID_OPEN: self.refresh,
            lsp.TEXT_DOCUMENT_DID_CHANGE: self.changed,
            lsp.TEXT_DOCUMENT_DID_SAVE: self.refresh,
            lsp.TEXT_DOCUMENT_DID_CLOSE: self.refresh,
            lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES: self.refresh,
            lsp.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS: self.refresh,
            lsp.TEXT_DOCUMENT_CODE_ACTION: self.actions,
            lsp.TEXT_DOCUMENT_HOVER: self.hover,
        }.items():
            self.server.feature(name)(partial(answer))  # which takes attributes, as methods do not

    def begin(self, params: Any) -> None:
        """Ask the editor to tell of new recordings, and show those that there are."""
        workspace = self.server.client_capabilities.workspace
        watches = workspace and workspace.did_change_watched_files
        if watches and watches.dynamic_registration:
            watched = lsp.DidChangeWatchedFilesRegistrationOptions(
                [lsp.FileSystemWatcher("**/*.zip")]
            )
            asked = lsp.Registration("zip", lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES, watched)
            self.server.client_register_capability(lsp.RegistrationParams([asked]))
        self.refresh(params)

    def refresh(self, params: Any) -> None:
        """Read what was saved since, and show it."""
        self._read = dict(self._recordings())
        self.found = [each for _, each in self._read.values()]
        files = {file for each in self.found for file in each.places}
        for file in files | self._shown:
            self._publish(file)
        self._shown = files
        for error in {each.error for each in self.found} - {""} - self._told:
            said = error  # in the little room that editors have for it
            for root in self._roots():
                said = said.replace(os.path.join(root, ""), "")
            self.server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, said))
            self._told.add(error)

    def changed(self, params: Any) -> None:
        """Show what still holds of a text that is being written."""
        file = _path(params.text_document.uri)
        if file in self._shown:
            self._publish(file)

    def _recordings(self) -> Iterator[tuple[str, tuple[tuple[int, int], Recorded]]]:
        args = self._args
        for root in self._roots():
            for path in recordings(root, args.recordings):
                try:
                    stat = os.stat(path)
                except OSError:  # it is gone meanwhile
                    continue
                written = stat.st_mtime_ns, stat.st_size
                before, found = self._read.get(path, (None, Recorded(path)))
                # What is wrong may be the program, which is mended without a new recording.
                if before != written or found.error:
                    found = read_recording(path, args.policies or "", Ignored.by(args))
                yield path, (written, found)

    def _roots(self) -> list[str]:
        workspace = self.server.workspace
        folders = [to_fs_path(each.uri) for each in workspace.folders.values()]
        return [root or os.getcwd() for root in folders or [workspace.root_path]]

    def _publish(self, file: str) -> None:
        document = self._documents().get(file)  # the editor's own name of a linked file
        uri, shown = document.uri if document else Path(file).as_uri(), [*self._diagnostics(file)]
        self.server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, shown))

    def _documents(self) -> dict[str, Any]:
        """The texts that the editor has open, by their files."""
        return {_path(each.uri): each for each in self.server.workspace.text_documents.values()}

    def places(self, file: str) -> Iterable[Place]:
        """Return what is shown of a file: nothing where its text is not the one that was run."""
        found = self._of_file(file)
        return dict.fromkeys(place for each in found for place in each.places.get(file, ()))

    def _of_file(self, file: str) -> Iterator[Recorded]:
        document = self._documents().get(file)
        text = as_run(document.source) if document else text_of(file)
        return (each for each in self.found if each.texts.get(file) == text)

    def _diagnostics(self, file: str) -> Iterator[lsp.Diagnostic]:
        for place in self.places(file):
            kind = place[0].kind
            yield lsp.Diagnostic(
                _range(span_of(place[0].place)),
                message(place, "\n"),
                SEVERITIES[LEVELS[kind]],
                code=kind,
                source="promoarray",
            )

    def actions(self, params: Any) -> list[Any]:
        """Return the edits of the places in a range, each once for all its policies."""
        uri, asked = params.text_document.uri, params.range
        found: dict[tuple[tuple[Span, str], ...], list[str]] = {}
        for place in self.places(_path(uri)):
            at = _range(span_of(place[0].place))
            if at.start.line <= asked.end.line and asked.start.line <= at.end.line:
                for _, policies, parts in replacements(place):
                    found.setdefault(parts, []).extend(filter(None, policies))
        return [
            lsp.CodeAction(
                f"Write {parts[0][1]}" + f" for {', '.join(dict.fromkeys(names))}" * bool(names),
                lsp.CodeActionKind.QuickFix,
                edit=lsp.WorkspaceEdit(
                    {uri: [lsp.TextEdit(_range(span), text) for span, text in parts]}
                ),
            )
            for parts, names in found.items()
        ]

    def hover(self, params: Any) -> Any:
        """Return what ran at a line; editors show what is found there by themselves."""
        file = _path(params.text_document.uri)
        said = dict.fromkeys(seen_at(self._of_file(file), file, params.position.line + 1))
        if not said:
            return None
        text, able = "\n".join(said), self.server.client_capabilities.text_document
        kinds = able and able.hover and able.hover.content_format
        if kinds and kinds[0] == lsp.MarkupKind.Markdown:
            # As code: editors make links of torch@2.13 elsewhere.
            return lsp.Hover(lsp.MarkupContent(kinds[0], f"```text\n{text}\n```"))
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.PlainText, text))


def main(args: argparse.Namespace) -> int:
    """Serve on standard input and output, until the editor says that it is over."""
    named(args.policies or "numpy")
    Served(args).server.start_io()
    return 0


def _path(uri: str) -> str:
    """The file that a URI names, links resolved; "" of none."""
    return os.path.realpath(path) if (path := to_fs_path(uri)) else ""


def _range(span: Span) -> lsp.Range:
    """A span as the protocol has it: from zero on, in code units of UTF-16."""
    line = max(span.line - 1, 0)
    if not span.whole:
        return lsp.Range(lsp.Position(line, 0), lsp.Position(line + 1, 0))
    start = lsp.Position(line, _units(span.file, span.line, span.column))
    return lsp.Range(
        start, lsp.Position(span.end_line - 1, _units(span.file, span.end_line, span.end_column))
    )


def _units(file: str, line: int, column: int) -> int:
    before = linecache.getline(file, line)[: column - 1]
    return len(before.encode("utf-16-le", "surrogatepass")) // 2
