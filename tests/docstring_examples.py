"""Run the examples of docstrings, which name what the package has without ``pa.``."""

from __future__ import annotations

import doctest
import inspect
from collections.abc import Iterable
from typing import Any

import promoarray as pa


def wrong_examples(found: Iterable[Any]) -> str:
    """What doctest says of the examples that print something else, or of objects without any."""
    said: list[str] = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    runner, parser = doctest.DocTestRunner(optionflags=flags), doctest.DocTestParser()
    for each in found:
        names = {name: getattr(pa, name) for name in pa.__all__}
        where = getattr(each, "__name__", repr(each))
        test = parser.get_doctest(inspect.getdoc(each) or "", names, where, None, 0)
        if not test.examples:
            said.append(f"{where} has no example")
        runner.run(test, out=said.append)
    return "".join(said)
