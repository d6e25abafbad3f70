"""Edited files keep all but the casts, and patches apply."""

from __future__ import annotations

import codecs
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from ported import ported

from promoarray.diagnostics.edits.place import Wrap
from promoarray.diagnostics.edits.source import SourceText
from promoarray.diagnostics.edits.writing import Unkept, rewritten
from promoarray.diagnostics.port import sources
from promoarray.diagnostics.port.sources import patch
from promoarray.diagnostics.run.program import of_script
from promoarray.diagnostics.run.task import Task
from promoarray.diagnostics.whole_file import put_all
from promoarray.dtypes import BY_NAME

SOURCE = (
    "import promoarray as xp  # é\nx = xp.asarray([1], dtype=xp.int8)\nif True:\n\ty = (x\n\t\t/ 2)"
)

FILES = {
    "plain": SOURCE.encode(),
    "crlf": SOURCE.replace("\n", "\r\n").encode(),
    "bom": codecs.BOM_UTF8 + SOURCE.encode(),
    "latin-1": f"# -*- coding: latin-1 -*-\n{SOURCE}".encode("latin-1"),
    "cp1252 and crlf": f"#!python\n# vim: set fileencoding=cp1252 :\n{SOURCE}\n".replace(
        "\n", "\r\n"
    ).encode("cp1252"),
    "last newline": SOURCE.encode() + b"\n\n\n",
    "blanks at ends": SOURCE.replace("\n", "  \n").encode(),
}


@pytest.mark.parametrize("name", FILES)
def test_all_bytes_but_the_cast_are_kept(tmp_path: Path, name: str) -> None:
    path = tmp_path / "a program.py"
    path.write_bytes(FILES[name])
    done = ported(path, "numpy@2", "torch")
    assert done.agrees, done
    ((old, new),) = done.changed
    assert new.data.replace(b"xp.astype(x, xp.float64)", b"x") == old.data == FILES[name]
    assert new.data != old.data
    text = patch(list(done.changed), tmp_path)
    for number, command in enumerate((["git", "apply"], ["patch", "-p1", "--binary"])):
        if shutil.which(command[0]) is None:
            continue
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / path.name).write_bytes(FILES[name])
        done_by = subprocess.run(command, input=text, cwd=folder, capture_output=True, check=False)
        assert done_by.returncode == 0, (command, done_by.stderr, text)
        assert (folder / path.name).read_bytes() == new.data


@pytest.mark.parametrize("name", ["a\tb", 'a"b', "é", "a\\b", "a'b c"])
def test_names_of_files_are_written_as_git_writes_them(tmp_path: Path, name: str) -> None:
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / f"{name}.py"
    path.write_text("x\n")
    old = sources.Source.read(path)
    text = patch([(old, old.with_text("y\n"))], tmp_path)
    done = subprocess.run(
        ["git", "apply", "-"], input=text, cwd=tmp_path, capture_output=True, check=False
    )
    assert done.returncode == 0, (done.stderr, text)
    assert path.read_text() == "y\n"


def test_files_are_replaced_all_or_none_and_keep_their_modes(tmp_path: Path) -> None:
    first, second = tmp_path / "a.py", tmp_path / "link.py"
    first.write_text("1")
    first.chmod(0o751)
    (tmp_path / "b.py").write_text("2")
    second.symlink_to("b.py")
    put_all([(first, b"3"), (second, b"4")])
    assert (first.read_text(), (tmp_path / "b.py").read_text()) == ("3", "4")
    assert first.stat().st_mode & 0o777 == 0o751
    assert second.is_symlink()
    with pytest.raises(OSError, match="gone"):
        put_all([(first, b"5"), (tmp_path / "gone" / "c.py", b"6")])
    assert first.read_text() == "3"
    assert sorted(os.listdir(tmp_path)) == ["a.py", "b.py", "link.py"]


def test_form_feeds_are_kept() -> None:
    source = SourceText("x = xp.ones(1)\n\x0cz = 1\ny = x\n")
    wrap = Wrap(source.tree.body[2].value, BY_NAME["float64"], name="xp")
    edited = "x = xp.ones(1)\n\x0cz = 1\ny = xp.astype(x, xp.float64)\n"
    assert rewritten(source, [wrap]).text == edited


def test_an_edit_that_makes_another_program_is_refused() -> None:
    source = SourceText("y = -x\n")
    inner = source.tree.body[0].value.operand
    with pytest.raises(Unkept, match="is no program"):
        rewritten(source, [Wrap(inner, BY_NAME["float64"], "clip", text="0 if 1 else", name="xp")])


def test_git_is_asked_for_changes_that_are_not_committed(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        named = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", *named, *words], cwd=tmp_path, check=True, capture_output=True)

    path = tmp_path / "a.py"
    path.write_text("1")
    assert sources.uncommitted([path]) == []
    git("init")
    assert sources.uncommitted([path]) == [path]
    git("add", "a.py")
    git("commit", "-m", "a")
    assert sources.uncommitted([path]) == []
    path.write_text("2")
    assert sources.uncommitted([path]) == [path]


@pytest.mark.parametrize("how", ["spawn", "forkserver"])
def test_processes_that_begin_anew_see_the_edited_texts(tmp_path: Path, how: str) -> None:
    program = tmp_path / "program.py"
    source = """
from multiprocessing import get_context
def more(x):
    return x + 1
if __name__ == "__main__":
    with get_context(HOW).Pool(1) as pool:
        print(*pool.map(more, [1, 2]), more(3))
""".replace("HOW", repr(how))
    program.write_text(source)
    texts = {program: source.replace("x + 1", "x + 100").encode()}
    ran = of_script(str(program), []).run(Task(), None, quiet=True, texts=texts)
    assert (ran.status, ran.output.split()) == (0, ["101", "102", "103"])
