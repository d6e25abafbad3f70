"""Places of a program as reports name them."""

from __future__ import annotations

from promoarray.core.call_site import Site
from promoarray.diagnostics.spans import name_of, text_at


def test_code_of_no_file_says_what_it_is() -> None:
    site = Site("<string>", 3, 4, "", "")
    assert name_of(site) == "<string>:3"
    assert text_at(site) == "a text given to exec or eval"
    assert text_at(Site("/tmp/program.py", 3, 4, "x + 1", "")) == "x + 1"
    assert not text_at(Site("/tmp/program.py", 3, 4, "", ""))
