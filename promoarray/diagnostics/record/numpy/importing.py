"""The modules of a program are rewritten when they are imported."""

from __future__ import annotations

import os
import runpy
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from promoarray.core.call_site import is_library
from promoarray.diagnostics.record.numpy.rewriting import (
    hooked,
    marked,
    rewritten,
    warned_already,
)

_NEVER = frozenset({"numpy", "ml_dtypes", "promoarray"})
"""What is recorded, and who records."""


class Loader(SourceFileLoader):
    """Loads a module rewritten; what Python keeps compiled is neither read nor written."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        return rewritten(self.get_data(path), path)


class _OfPytest(SourceFileLoader):
    """Loads what rewrites the assertions of tests, which are rewritten for NumPy besides."""

    def exec_module(self, module: Any) -> None:
        super().exec_module(module)
        asserting, plain = module.rewrite_asserts, module._rewrite_test

        def rewrite_asserts(tree: Any, source: bytes, *given: Any) -> None:
            asserting(tree, source, *given)
            if not is_library(str(given[0])):
                with warned_already():
                    hooked(tree, str(given[0]))

        def rewrite_test(file: Any, *given: Any) -> Any:
            stat, code = plain(file, *given)
            return stat, code if is_library(str(file)) else marked(code)

        module.rewrite_asserts, module._rewrite_test = rewrite_asserts, rewrite_test
        module._read_pyc = module._write_pyc = lambda *given: None  # as is of Python's own


class Finder(MetaPathFinder):
    """Finds the modules that are rewritten.

    Parameters
    ----------
    packages : sequence of str
        Installed libraries that are rewritten, too; of the rest only what is not installed.

    Attributes
    ----------
    found : list of str
        The modules that were.
    """

    def __init__(self, packages: Sequence[str] = ()) -> None:
        is_library("")  # which imports a module when it is first asked
        self._packages = frozenset(packages)
        self.found: list[str] = []

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Find a module as Python would, if it is to be rewritten."""
        root = fullname.partition(".")[0]
        if root in _NEVER:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or not spec.origin:
            return None
        if fullname == "_pytest.assertion.rewrite":
            spec.loader = _OfPytest(fullname, spec.origin)
            return spec
        if root not in self._packages and is_library(os.path.abspath(spec.origin)):
            return None
        spec.loader = Loader(fullname, spec.origin)
        self.found.append(fullname)
        return spec


@contextmanager
def importing(packages: Sequence[str] = ()) -> Iterator[Finder]:
    """Rewrite the modules that are imported in a block, and the files that ``runpy`` runs."""
    finder: Any = Finder(packages)
    sys.meta_path.insert(0, finder)
    as_python_does: Any = runpy
    plain = as_python_does._get_code_from_file
    as_python_does._get_code_from_file = _of_file(plain)
    try:
        yield finder
    finally:
        as_python_does._get_code_from_file = plain
        sys.meta_path.remove(finder)


def _of_file(plain: Callable[..., Any]) -> Callable[..., Any]:
    """What gives the code of a file, rewritten: so a spawned process runs the ``__main__`` of the
    one that has started it."""

    def code_of(*given: Any) -> Any:  # the file last, Python 3.11 has a name before it
        found = plain(*given)
        code, *rest = found if isinstance(found, tuple) else (found,)
        path = os.path.abspath(os.fsdecode(given[-1]))
        if is_library(path) or path.endswith(".pyc"):
            return found
        with warned_already():
            code = rewritten(SourceFileLoader("__main__", path).get_data(path), code.co_filename)
        return (code, *rest) if rest else code

    return code_of
