"""``promoarray lsp``, asked by a client as an editor asks it."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from command import Command

pytest.importorskip("pygls", reason="needs pygls: pip install 'promoarray[lsp]'")

from lsprotocol import types as lsp
from pygls.lsp.client import LanguageClient

PROGRAM = """import promoarray as xp

pixels = xp.asarray([[10, 200], [250, 30]], dtype=xp.uint8)
name, scaled = "𝄞", pixels / 255
total = xp.sum(pixels, axis=0)
"""

# The editor shows Markdown, as VS Code and Neovim do.
CAPABILITIES = lsp.ClientCapabilities(
    text_document=lsp.TextDocumentClientCapabilities(
        hover=lsp.HoverClientCapabilities(
            content_format=[lsp.MarkupKind.Markdown, lsp.MarkupKind.PlainText]
        )
    )
)


class Editor:
    """A client, and what the server has told it."""

    def __init__(self) -> None:
        self.client = LanguageClient("test", "1")
        self.diagnostics: dict[str, list[lsp.Diagnostic]] = {}
        self.messages: list[str] = []
        self._heard = asyncio.Event()

        @self.client.feature(lsp.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        def published(params: lsp.PublishDiagnosticsParams) -> None:
            self.diagnostics[params.uri] = list(params.diagnostics)
            self._heard.set()

        @self.client.feature(lsp.WINDOW_SHOW_MESSAGE)
        def shown(params: lsp.ShowMessageParams) -> None:
            self.messages.append(params.message)
            self._heard.set()

    async def begin(self, root: Path, *options: str, folders: Sequence[Path] = ()) -> None:
        await self.client.start_io(sys.executable, "-m", "promoarray", "lsp", *options)
        asked = lsp.InitializeParams(
            capabilities=CAPABILITIES,
            root_uri=root.as_uri(),
            process_id=None,
            workspace_folders=[lsp.WorkspaceFolder(each.as_uri(), each.name) for each in folders],
        )
        await self.client.initialize_async(asked)
        self.client.initialized(lsp.InitializedParams())

    async def heard(self) -> None:
        await asyncio.wait_for(self._heard.wait(), 60)
        self._heard.clear()

    def open(self, file: Path, text: str) -> str:
        document = lsp.TextDocumentItem(file.as_uri(), "python", 1, text)
        self.client.text_document_did_open(lsp.DidOpenTextDocumentParams(document))
        return file.as_uri()

    def write(self, uri: str, text: str) -> None:
        document = lsp.VersionedTextDocumentIdentifier(2, uri)
        changes = [lsp.TextDocumentContentChangeWholeDocument(text)]
        self.client.text_document_did_change(lsp.DidChangeTextDocumentParams(document, changes))

    def close(self, uri: str) -> None:
        document = lsp.TextDocumentIdentifier(uri)
        self.client.text_document_did_close(lsp.DidCloseTextDocumentParams(document))

    def save(self, uri: str) -> None:
        document = lsp.TextDocumentIdentifier(uri)
        self.client.text_document_did_save(lsp.DidSaveTextDocumentParams(document))

    async def actions(self, uri: str, line: int) -> Any:
        at = lsp.Range(lsp.Position(line, 4), lsp.Position(line, 4))
        document = lsp.TextDocumentIdentifier(uri)
        params = lsp.CodeActionParams(document, at, lsp.CodeActionContext([]))
        return await self.client.text_document_code_action_async(params)

    async def shown(self, uri: str) -> int:
        await self.heard()
        return len(self.diagnostics[uri])

    async def end(self) -> None:
        await self.client.shutdown_async(None)
        self.client.exit(None)
        ended = await self.client._server.wait()  # type: ignore[union-attr]
        await self.client.stop()
        assert ended == 0


def edit(
    root: Path,
    *options: str,
    asked: Callable[[Editor], Awaitable[Any]],
    folders: Sequence[Path] = (),
) -> Any:
    async def session() -> Any:
        editor = Editor()
        await editor.begin(root, *options, folders=folders)
        try:
            return await asked(editor)
        finally:
            await editor.end()

    return asyncio.run(asyncio.wait_for(session(), 120))


@pytest.fixture
def root(tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "model.py").write_text(PROGRAM, encoding="utf-8")
    (tmp_path / ".promoarray").mkdir()
    command("compare model.py --policies torch --save .promoarray/model.zip", status=1)
    return tmp_path


def test_findings_are_at_their_lines_with_edits_that_apply(root: Path) -> None:
    async def asked(editor: Editor) -> None:
        await editor.heard()
        uri = editor.open(root / "model.py", PROGRAM)
        first, _ = editor.diagnostics[uri]
        start, end = first.range.start, first.range.end
        assert (start.line, start.character) == (3, 21)  # of UTF-16: the clef has two
        assert (first.code, first.source) == ("dtype", "promoarray")
        answer, run, edit = first.message.splitlines()
        assert answer == "uint8 / Python int: float32 under torch@2.13;"
        assert run == "float64 in the run under numpy@2."
        assert edit == "Write xp.astype(pixels, xp.float64) / 255 for torch@2.13."
        document = lsp.TextDocumentIdentifier(uri)
        params = lsp.CodeActionParams(document, first.range, lsp.CodeActionContext([first]))
        (action,) = await editor.client.text_document_code_action_async(params)
        (change,) = action.edit.changes[uri]
        assert (change.range.start, change.range.end) == (start, end)
        assert change.new_text == "xp.astype(pixels, xp.float64) / 255"
        at = lsp.HoverParams(document, lsp.Position(3, 0))
        hover = await editor.client.text_document_hover_async(at)
        ran = "divide(uint8, Python int) is float64 under numpy@2, 1 time"
        assert hover.contents.value == f"```text\n{ran}\n```"
        at = lsp.HoverParams(document, lsp.Position(1, 0))
        assert await editor.client.text_document_hover_async(at) is None

    edit(root, "--policies", "torch", asked=asked)


def test_an_edit_for_several_kinds_is_offered_once(root: Path, command: Command) -> None:
    text = "import promoarray as pa\nx = pa.asarray([[1]], dtype=pa.uint8)\ny = pa.sum(x, axis=0)\n"
    (root / "model.py").write_text(text, encoding="utf-8")
    command("compare model.py --policies torch,onnx --save .promoarray/model.zip", status=1)

    async def asked(editor: Editor) -> None:
        await editor.heard()
        uri = editor.open(root / "model.py", text)
        (action,) = await editor.actions(uri, 2)
        assert action.title.endswith("pa.uint64) for torch@2.13, onnx@25")

    edit(root, "--policies", "torch,onnx", asked=asked)


def test_an_edit_brings_its_import(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    (tmp_path / ".promoarray").mkdir()
    text = '"""A model."""\nfrom torch import ones, uint8\ny = ones(2, dtype=uint8).sum(0)\n'
    (tmp_path / "model.py").write_text(text, encoding="utf-8")
    command("compare model.py --policies paddle --save .promoarray/model.zip", status=1)

    async def asked(editor: Editor) -> None:
        await editor.heard()
        uri = editor.open(tmp_path / "model.py", text)
        (action,) = await editor.actions(uri, 2)
        edit, new = action.edit.changes[uri]
        assert edit.new_text == "ones(2, dtype=uint8).to(torch.int64).sum(0)"
        assert (new.range.start, new.new_text) == (lsp.Position(1, 0), "import torch\n")

    edit(tmp_path, "--policies", "paddle", asked=asked)


def test_an_expression_of_several_lines(root: Path, command: Command) -> None:
    text = PROGRAM.replace("pixels / 255", "(pixels  # of eight bits\n    / 255)")
    (root / "model.py").write_text(text, encoding="utf-8")
    command("compare model.py --policies torch --save .promoarray/model.zip", status=1)

    async def asked(editor: Editor) -> None:
        await editor.heard()
        uri = editor.open(root / "model.py", text)
        at = lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(4, 6))
        hover = await editor.client.text_document_hover_async(at)
        assert "divide(uint8, Python int)" in hover.contents.value
        assert not await editor.actions(uri, 4)  # which would drop the comment

    edit(root, "--policies", "torch", asked=asked)


def test_a_text_that_was_not_run_shows_nothing(root: Path) -> None:
    async def asked(editor: Editor) -> None:
        await editor.heard()
        uri = editor.open(root / "model.py", PROGRAM.replace("255", "256"))
        await editor.heard()
        assert editor.diagnostics[uri] == []
        at = lsp.HoverParams(lsp.TextDocumentIdentifier(uri), lsp.Position(3, 0))
        assert await editor.client.text_document_hover_async(at) is None

    edit(root, asked=asked)


@pytest.mark.parametrize("text", [PROGRAM.strip(), PROGRAM.replace("\n", "\r\n")])
def test_unsaved_texts_of_any_name_and_ends_of_lines(
    text: str, tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "a [b] ü"
    (root / ".promoarray").mkdir(parents=True)
    monkeypatch.chdir(root)
    (root / "my model.py").write_bytes(text.encode())
    command("compare --policies torch --save .promoarray/m.zip", "my model.py", status=1)
    (tmp_path / "link").symlink_to(root)

    async def asked(editor: Editor) -> None:
        await editor.heard()
        uri = editor.open(tmp_path / "link" / "my model.py", text)
        assert await editor.shown(uri) == 2
        editor.write(uri, text.replace("255", "256"))
        assert await editor.shown(uri) == 0
        editor.close(uri)
        assert await editor.shown((root / "my model.py").as_uri()) == 2

    edit(root, "--policies", "torch", asked=asked)


def test_a_file_that_is_written_elsewhere_shows_nothing(root: Path) -> None:
    async def asked(editor: Editor) -> None:
        await editor.heard()
        (root / "model.py").write_text(PROGRAM.replace("255", "2560"), encoding="utf-8")
        editor.save(root.as_uri())
        assert await editor.shown((root / "model.py").as_uri()) == 0

    edit(root, asked=asked)


def test_two_recordings_of_a_program_show_a_finding_once(root: Path) -> None:
    first = root / ".promoarray" / "model.zip"
    (root / ".promoarray" / "again.zip").write_bytes(first.read_bytes())

    async def asked(editor: Editor) -> None:
        assert await editor.shown((root / "model.py").as_uri()) == 2

    edit(root, "--policies", "torch", asked=asked)


def test_each_folder_of_the_workspace(root: Path) -> None:
    (root / "other").mkdir()

    async def asked(editor: Editor) -> None:
        assert await editor.shown((root / "model.py").as_uri()) == 2

    edit(root / "other", "--policies", "torch", asked=asked, folders=[root / "other", root])


def test_unknown_policies_are_told_before_it_serves(command: Command) -> None:
    assert "trch" in command("lsp --policies trch", status=2).err


def test_a_program_that_has_changed_since_is_told(root: Path) -> None:
    (root / "model.py").write_text(PROGRAM + "more = 1\n", encoding="utf-8")

    async def asked(editor: Editor) -> None:
        await editor.heard()
        (said,) = editor.messages
        recorded = os.path.join(".promoarray", "model.zip")
        assert said.startswith(f"model.py has changed since it was recorded in {recorded}")

    edit(root, asked=asked)


def test_losses_of_check(root: Path, command: Command) -> None:
    program = "import numpy as np\nx = np.array([200], np.uint8)\ny = x + x\n"
    (root / "wrap.py").write_text(program)
    command("check wrap.py --save wrap.zip --no-edit", status=1)

    async def asked(editor: Editor) -> None:
        await editor.heard()
        (found,) = editor.diagnostics[(root / "wrap.py").as_uri()]
        assert (found.code, found.range.start.line) == ("integer-wrap", 2)
        assert "200 + 200 is 400" in found.message

    edit(root, "*.zip", asked=asked)


def test_damaged_recordings_are_told(root: Path) -> None:
    whole = (root / ".promoarray" / "model.zip").read_bytes()
    (root / ".promoarray" / "model.zip").write_bytes(whole[: len(whole) // 2])

    async def asked(editor: Editor) -> None:
        await editor.heard()
        assert "model.zip" in editor.messages[0]

    edit(root, asked=asked)
