"""``promoarray completion``: what a shell offers after the script was read."""

from __future__ import annotations

import os
import re
import select
import shutil
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import promoarray as pa
from promoarray import cli

pytest.importorskip("shtab", reason="needs shtab: pip install 'promoarray[completion]'")

ASK_BASH = r"""
source "$1"; shift
COMP_LINE="$*" COMP_POINT=${#COMP_LINE}
$(complete -p promoarray | sed 's/.*-F \([^ ]*\).*/\1/')
printf '%s\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def script(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert cli.main(["completion", "bash"]) == 0
    path = tmp_path / "promoarray.bash"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    return path


def offered(script: Path, *words: str) -> set[str]:
    argv = ["bash", "-c", ASK_BASH, "bash", str(script), "promoarray", *words]
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    return {*done.stdout.split()}


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_what_bash_offers(script: Path, tmp_path: Path) -> None:
    assert offered(script, "com") == {"compare", "completion"}
    editions = {name[4:] for name in pa.list_policies() if name.startswith("jax@")}
    assert offered(script, "table", "torch", "jax@") == editions  # bash puts them behind the @
    assert offered(script, "compare", "--policies", "torch@2.13,jax@") == editions
    assert offered(script, "compare", "--policies", "torch,pad") == {
        f"torch,{name}" for name in pa.list_policies() if name.startswith("pad")
    }
    assert offered(script, "compare", "--fail-on", "root,b") == {"root,bits"}
    assert not offered(script, "compare", "--packages", "tor")
    assert "float8_e4m3fn" in offered(script, "cast", "1", "--from", "float8")
    assert offered(script, "explain", "divi") == {"divide"}
    (tmp_path / "train.py").touch()
    assert offered(script, "compare", f"{tmp_path}/tr") == {f"{tmp_path}/train.py"}


@pytest.mark.parametrize("shell", ["zsh", "fish", "tcsh", "powershell"])
def test_every_shell_has_a_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", shell]) == 0
    out = capsys.readouterr().out
    assert {"promoarray", "compare", "explain"} <= {*re.findall(r"\w+", out)}
    assert ("torch@2.13" in out) is (shell in ("zsh", "fish"))


@pytest.mark.skipif(shutil.which("fish") is None, reason="needs fish")
def test_what_fish_offers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", "fish"]) == 0
    path = tmp_path / "promoarray.fish"
    path.write_text(capsys.readouterr().out, encoding="utf-8")
    for words, found in {"jax@x3": "jax@x32", "torch,jax@x3": "torch,jax@x32"}.items():
        asked = f"source {path}; complete -C 'promoarray compare --policies {words}'"
        done = subprocess.run(["fish", "-N", "-c", asked], capture_output=True, text=True)
        assert [line.partition("\t")[0] for line in done.stdout.splitlines()] == [found], done


ZSHRC = """
PS1='READY> '
fpath=({folder} $fpath)
autoload -Uz compinit; compinit -u -d {folder}/dump
{begin}
_keep() {{ print -r -- "$BUFFER" > {folder}/buffer }}
zle -N _keep; bindkey '^X' _keep
"""
"""A key writes down what the line is after the completion."""


def completed(folder: Path, begin: str, words: str) -> str:
    """What zsh makes of words at a tab, in a terminal of its own."""
    import pty

    (folder / ".zshrc").write_text(ZSHRC.format(folder=folder, begin=begin), encoding="utf-8")
    buffer = folder / "buffer"
    buffer.unlink(missing_ok=True)
    child, terminal = pty.fork()
    if child == 0:
        settings = {**os.environ, "ZDOTDIR": str(folder), "TERM": "dumb"}
        os.execvpe("zsh", ["zsh", "-i", "-o", "noglobalrcs"], settings)
    seen = b""

    def until(done: Callable[[], bool]) -> None:
        nonlocal seen
        end = time.monotonic() + 60
        while not done() and time.monotonic() < end:
            if select.select([terminal], [], [], 0.05)[0]:
                seen += os.read(terminal, 1 << 16)

    try:
        until(lambda: b"READY> " in seen)
        os.write(terminal, words.encode() + b"\t\x18")
        until(lambda: buffer.is_file() and buffer.read_bytes().endswith(b"\n"))
        return buffer.read_text(encoding="utf-8").rstrip()
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        os.close(terminal)


@pytest.mark.skipif(shutil.which("zsh") is None, reason="needs zsh")
@pytest.mark.parametrize(
    "begin",
    [
        pytest.param('eval "$(cat {file})"', id="eval"),
        pytest.param("source {file}", id="source", marks=pytest.mark.slow),
        pytest.param(":", id="fpath", marks=pytest.mark.slow),
    ],
)
def test_what_zsh_offers(tmp_path: Path, begin: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["completion", "zsh"]) == 0
    file = tmp_path / "_promoarray"
    file.write_text(capsys.readouterr().out, encoding="utf-8")
    for words, whole in {
        "compl": "completion",
        "table jax@x3": "table jax@x32",
        "compare --policies torch,jax@x3": "compare --policies torch,jax@x32",
        "compare --fail-on root,bi": "compare --fail-on root,bits",
        "explain divi": "explain divide",
    }.items():
        made = completed(tmp_path, begin.format(file=file), f"promoarray {words}")
        assert made == f"promoarray {whole}", words
