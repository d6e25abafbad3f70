"""``promoarray lsp``: a language server that shows what saved recordings found.

It runs no program: ``promoarray compare`` or ``check`` does, with ``--save``. A file of which the
run's text is another one shows nothing, and says so.
"""

from __future__ import annotations

import argparse
import linecache
import os
from collections.abc import Iterator
from functools import cache, partial
from importlib.metadata import version
from typing import Any

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.uris import from_fs_path, to_fs_path

from promoarray.diagnostics.findings.classify import Ignored
from promoarray.diagnostics.findings.results import edits_in
from promoarray.diagnostics.lsp.recorded import Recorded, read_recording, recordings, seen_at
from promoarray.diagnostics.model.kinds import KINDS
from promoarray.diagnostics.model.lost import CHECKS
from promoarray.diagnostics.render.words import Place, message
from promoarray.diagnostics.spans import Span, span_of

SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Information,
}
LEVELS = {name: kind.level for name, kind in {**KINDS, **CHECKS}.items()}


class Served:
    """What the recordings of a workspace say, by the protocol.

    Parameters
    ----------
    args : Namespace
        Of the command: the recordings, the policies, and what is ignored.
    """

    def __init__(self, args: argparse.Namespace) -> None:
        self.server = LanguageServer("promoarray", version("promoarray"))
        self._args = args
        self._shown = set[str]()  # files that have diagnostics
        self._told = set[str]()  # errors that were told
        self.found: list[Recorded] = []
        # by the file and when it was written: asking takes a second
        self._read = cache(self._of)
        for name, answer in {
            lsp.INITIALIZED: self.begin,
            lsp.TEXT_DOCUMENT_DID_OPEN: self.refresh,
            lsp.TEXT_DOCUMENT_DID_CHANGE: self.refresh,
            lsp.TEXT_DOCUMENT_DID_SAVE: self.refresh,
            lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES: self.refresh,
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

    def _of(self, path: str, _: float) -> Recorded:
        args = self._args
        return read_recording(path, args.policies or "", Ignored.by(args))

    def refresh(self, params: Any) -> None:
        """Read what was saved since, and show it."""
        root = self.server.workspace.root_path or os.getcwd()
        paths = [*recordings(root, self._args.recordings)]
        self.found = [self._read(path, os.stat(path).st_mtime) for path in paths]
        files = {file for each in self.found for file in each.places}
        for file in files | self._shown:
            shown = [*self._diagnostics(file)]
            uri = from_fs_path(file) or ""
            self.server.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, shown))
        self._shown = files
        for error in {each.error for each in self.found} - {""} - self._told:
            self.server.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, error))
            self._told.add(error)

    def places(self, file: str) -> Iterator[Place]:
        """Yield what is shown of a file: nothing where its text is not the one that was run."""
        for each in self._of_file(file):
            yield from each.places.get(os.path.realpath(file), ())

    def _of_file(self, file: str) -> Iterator[Recorded]:
        document = self.server.workspace.text_documents.get(from_fs_path(file) or "")
        for each in self.found:
            text = each.texts.get(os.path.realpath(file))
            if text is not None and (document is None or document.source == text):
                yield each

    def _diagnostics(self, file: str) -> Iterator[lsp.Diagnostic]:
        for place in self.places(file):
            kind = place[0].kind
            yield lsp.Diagnostic(
                _range(span_of(place[0].place)),
                message(place),
                SEVERITIES[LEVELS[kind]],
                code=kind,
                source="promoarray",
            )

    def actions(self, params: Any) -> list[Any]:
        """Return the edits of the places in a range."""
        uri, asked = params.text_document.uri, params.range
        found = []
        for place in self.places(to_fs_path(uri) or ""):
            span = span_of(place[0].place)
            at = _range(span)
            if span.whole and at.start.line <= asked.end.line and asked.start.line <= at.end.line:
                for text, policies in edits_in(place).items():
                    title = f"Write {text}" + f" for {', '.join(policies)}" * any(policies)
                    change = lsp.WorkspaceEdit({uri: [lsp.TextEdit(at, text)]})
                    found.append(lsp.CodeAction(title, lsp.CodeActionKind.QuickFix, edit=change))
        return found

    def hover(self, params: Any) -> Any:
        """Return what ran at a line, and what is found there."""
        file = to_fs_path(params.text_document.uri) or ""
        said = dict.fromkeys(seen_at(self._of_file(file), file, params.position.line + 1))
        if not said:
            return None
        # Text of a program is no markup.
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.PlainText, "\n".join(said)))


def main(args: argparse.Namespace) -> int:
    """Serve on standard input and output, until the editor says that it is over."""
    Served(args).server.start_io()
    return 0


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
