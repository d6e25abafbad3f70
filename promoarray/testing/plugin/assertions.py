"""Is it an assertion that takes data out of the policy?"""

from __future__ import annotations

import ast
import linecache
import re
import sys
from functools import lru_cache
from types import FrameType

from promoarray.core.call_site import of_library, of_promoarray
from promoarray.core.escape import Escape


def for_assertion(escape: Escape) -> bool:
    """Whether an assertion takes the data: then nothing is computed with it any more.

    That is a statement of the program that asserts and takes it itself, or a function that asserts,
    of the program or of a library that the program called.
    """
    if not escape.consumer and escape.site.line in _assertions(escape.site.file):
        return True
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and of_promoarray(frame):
        frame = frame.f_back
    while frame is not None:
        if _ASSERTS.match(frame.f_code.co_name) or frame.f_globals.get("__name__") in _APPROX:
            return True
        if not of_library(frame):
            return False
        frame = frame.f_back
    return False


_ASSERTS = re.compile(r"(?!test)(\w*_)?assert", re.IGNORECASE)
"""The names of functions that assert: ``assertEqual``, ``assert_allclose``, ``xp_assert_close``."""

_APPROX = ("_pytest.approx", "_pytest.python_api")
"""Where ``pytest.approx`` is; the latter before pytest 9."""


@lru_cache(maxsize=256)
def _assertions(file: str) -> frozenset[int]:
    """The lines of a file in which something is asserted."""
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()
    return frozenset(
        line
        for node in ast.walk(tree)
        if isinstance(node, ast.Assert) or (isinstance(node, ast.Expr) and _asserts(node.value))
        for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
    )


def _asserts(value: ast.expr) -> bool:
    """Whether an expression calls a function that asserts."""
    if not isinstance(value, ast.Call):
        return False
    called = value.func
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return _ASSERTS.match(name) is not None
