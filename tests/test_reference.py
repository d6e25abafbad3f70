"""The reference of the documentation site has every public name, once."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import ModuleType

import pytest
import reference
import sources

import promoarray as pa
from promoarray import extras, fft, linalg, policies, testing
from promoarray.functions import elementwise

DOCS = Path(__file__).parent.parent / "docs"
SPACES = (pa, extras, fft, linalg, policies, testing)


PAGES = {page.stem: page.read_text(encoding="utf-8") for page in (DOCS / "api").glob("*.rst")}
ENTRIES = Counter(
    name for page in PAGES.values() for name in reference.entries(reference.expand(page))
)


def entry_of(space: ModuleType, name: str) -> str:
    """The full name under which an object has its entry: the shortest that is public."""
    found = getattr(space, name)
    if isinstance(found, ModuleType):
        return found.__name__
    shortest = pa if name in pa.__all__ and getattr(pa, name) is found else space
    return f"{shortest.__name__}.{name}"


def test_every_public_name_has_one_entry() -> None:
    public = {entry_of(space, name) for space in SPACES for name in space.__all__}
    public.add("promoarray.policies")
    assert Counter(public) == ENTRIES


def test_every_page_is_in_the_contents() -> None:
    listed = PAGES["index"].split()
    assert [stem for stem in PAGES if stem != "index" and stem not in listed] == []


def test_a_name_that_is_not_there_is_an_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'summ'"):
        reference.expand(".. names:: promoarray\n\n   sum summ\n")


def test_generated_functions_and_methods_have_a_source() -> None:
    for module, name in ((sources.ELEMENTWISE, "add"), (sources.METHODS, "PArray.sum")):
        text, tags = sources.source_of(module)
        _, first, _ = tags[name]
        assert text.splitlines()[first - 1].startswith(name.rpartition(".")[2])
        assert sources.module_of("promoarray", name) == module
    lacking = set(elementwise.__all__) - set(sources.source_of(sources.ELEMENTWISE)[1])
    assert lacking == set()
