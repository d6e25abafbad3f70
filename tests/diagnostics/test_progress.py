"""The line that tells how far a long command is: in terminals alone, and gone in the end."""

from __future__ import annotations

import io
import re
import threading
import time
from collections.abc import Callable

import pytest

from promoarray.diagnostics.progress import Progress


class Terminal(io.StringIO):
    """A terminal that keeps what it is sent."""

    def isatty(self) -> bool:
        return True

    def waits_for(self, words: str) -> bool:
        """Whether it is sent some words."""
        end = time.monotonic() + 10
        while words not in self.getvalue() and time.monotonic() < end:
            time.sleep(0.001)
        return words in self.getvalue()

    @property
    def screen(self) -> list[str]:
        """What it shows in the end."""
        lines, row, column = [""], 0, 0
        for code, char in re.findall(r"\x1b\[([?\d;]*[A-Za-z])|([^\x1b])", self.getvalue()):
            if code == "2K":
                lines[row] = ""
            elif code == "1A":
                row -= 1
            elif char == "\r":
                column = 0
            elif char == "\n":
                row, column = row + 1, 0
                lines += [""] * (row == len(lines))
            elif char:
                lines[row] = lines[row][:column].ljust(column) + char + lines[row][column + 1 :]
                column += 1
            else:
                assert re.fullmatch(r"\?25[hl]|[\d;]*m", code), code
        return lines


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    for name in ("NO_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "60")
    return Terminal()


def test_a_line_is_shown_and_gone_in_the_end(terminal: Terminal) -> None:
    with Progress("[1/3] asks", file=terminal, after=0) as progress:
        assert terminal.waits_for("[1/3] asks")
        progress.step(f"[red] {'x' * 200}", 0.5)
        assert terminal.waits_for("[red] xxxx")
        shown = [line for line in terminal.screen if line]
        assert len(shown) == 1
        assert len(shown[0]) <= 60
        assert shown[0].endswith("0:00:00")
    assert set(terminal.screen) == {""}
    assert terminal.getvalue().count("\x1b[?25l") == terminal.getvalue().count("\x1b[?25h")


def test_what_is_printed_while_it_is_away_stays(terminal: Terminal) -> None:
    with Progress("first", file=terminal, after=0) as progress:
        assert terminal.waits_for("first")
        with progress.away():
            assert set(terminal.screen) == {""}
            terminal.write("a result\n")
        progress.step("second")
        assert terminal.waits_for("second")
    assert [line for line in terminal.screen if line] == ["a result"]


def _stopped(terminal: Terminal) -> None:
    with Progress("work", file=terminal, after=0):
        assert terminal.waits_for("work")
        raise KeyboardInterrupt


def test_it_goes_however_the_work_ends(terminal: Terminal) -> None:
    with pytest.raises(KeyboardInterrupt):
        _stopped(terminal)
    assert set(terminal.screen) == {""}
    assert not [t for t in threading.enumerate() if isinstance(t, threading.Timer)]


def _quick(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work that is done before the line would come."""
    with Progress("work", file=terminal) as progress:
        progress.step("more", 0.5)


def _dumb(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")
    with Progress("work", file=terminal, after=0):
        time.sleep(0.01)


def _piped(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setattr(terminal, "isatty", lambda: False)
    with Progress("work", file=terminal, after=0) as progress:
        progress.step("more", 0.5)
        time.sleep(0.01)


@pytest.mark.parametrize("work", [_quick, _dumb, _piped])
def test_nothing_is_sent_where_no_line_is_due(
    work: Callable[[Terminal, pytest.MonkeyPatch], None],
    terminal: Terminal,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    work(terminal, monkeypatch)
    assert terminal.getvalue() == ""


def test_without_a_standard_error_nothing_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", None)
    with Progress("work", after=0) as progress:
        progress.step("more")
