"""What is compiled keeps to Python's stable ABI, whichever Python compiles it here."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[2] / "promoarray"

# The unchecked macros (PyBytes_AS_STRING) and the types of code, frames and functions are not in
# it. A build for 3.11 or without a GIL takes them; the wheel of 3.12 and later would not compile.
OUTSIDE = re.compile(
    r"\bPy[A-Z][A-Za-z]+_(?:GET|SET|AS|CAST)_[A-Z_]+\b|\bPy(?:Code|Frame|Function)_Type\b"
)


def test_sources_keep_to_the_stable_abi() -> None:
    sources = [*PACKAGE.rglob("*.cpp"), *PACKAGE.rglob("*.h")]
    if not sources:
        pytest.skip("the sources are not beside the tests")
    found = [
        f"{source.relative_to(PACKAGE)}: {name}"
        for source in sources
        for name in OUTSIDE.findall(source.read_text(encoding="utf-8"))
    ]
    assert found == []
