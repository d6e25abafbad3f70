"""``promoarray.console``: what a terminal shows of texts that others wrote."""

from __future__ import annotations

import pytest

from promoarray.console import Matrix, text, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x = y + 1", "x = y + 1"),
        ("naïve 変数\u3000π", "naïve 変数\u3000π"),
        ("\x1b]0;title\x07", r"\x1b]0;title\x07"),
        ("a\x9b2Jb\x7f", r"a\x9b2Jb\x7f"),
        ("a\r\nb\tc", r"a\r\nb\tc"),
        ("\u202eevil\u2066", r"\u202eevil\u2066"),
        ("file-\udcff", r"file-\udcff"),
    ],
)
def test_control_characters_are_spelled_out(text: str, shown: str) -> None:
    assert visible(text) == shown
    assert visible(visible(text)) == shown


@pytest.mark.parametrize("columns", [8, 20, 80])
def test_a_matrix_goes_on_below_where_the_screen_ends(
    columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    names = ["a", "bb", "ccc", "dddd"]
    lines = text(Matrix([["", *names], ["x", "1", "2", "3", "4"]]), wide=True).splitlines()
    assert max(len(line.rstrip()) for line in lines) <= columns
    assert [word for line in lines for word in line.split() if word in names] == names
    assert sum(line.split()[:1] == ["x"] for line in lines) == (1 if columns > 16 else 3)


def test_in_a_notebook_text_is_displayed_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = type("ZMQInteractiveShell", (), {})
    monkeypatch.setattr("builtins.get_ipython", notebook, raising=False)
    shown: list[object] = []
    monkeypatch.setattr("rich.jupyter.display", lambda *given: shown.append(given))
    assert text("a [bold]table[/]") == "a table"
    assert not shown


def test_a_matrix_in_a_pipe_has_a_line_for_each_row(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    rows = [["", *(f"column{n}" for n in range(40))], ["x", *map(str, range(40))]]
    assert len(text(Matrix(rows), wide=True).splitlines()) == 2
