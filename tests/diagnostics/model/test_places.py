"""Places of a program as reports name them."""

from __future__ import annotations

from promoarray.core.call_site import Site, is_library
from promoarray.diagnostics.spans import name_of, text_at


def test_code_of_no_file_says_what_it_is() -> None:
    site = Site("<string>", 3, 4, "", "")
    assert name_of(site) == "<string>:3"
    assert text_at(site) == "a text given to exec or eval"
    assert text_at(Site("/tmp/program.py", 3, 4, "x + 1", "")) == "x + 1"
    assert not text_at(Site("/tmp/program.py", 3, 4, "", ""))


def test_a_file_named_for_a_librarys_module_is_the_librarys() -> None:
    assert is_library("/home/me/cache/numpy.nn.conv_made_ab12.py")
    assert not is_library("/home/me/program.test.py")
    assert not is_library("/home/me/numpy.py")
