"""``promoarray.console``: what a terminal shows of texts that others wrote."""

from __future__ import annotations

import pytest

from promoarray.console import visible


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
