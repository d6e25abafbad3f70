"""Options of a library's functions that choose a dtype, at the program's own calls."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from promoarray.core.call_site import is_library
from promoarray.diagnostics.edits.attempt import source_at
from promoarray.diagnostics.edits.library import texts
from promoarray.diagnostics.edits.source import SourceText
from promoarray.diagnostics.model.flow import CAST, DEFAULT, ENTRY, MADE, RecordedOperation


def note_options(operations: Iterable[RecordedOperation], main: Mapping[str, Any]) -> None:
    """Note with the arrays that libraries made which calls of the program take a dtype for them.

    Those are the call that led there, and the one that made what is called: ``Dense(4)`` of
    ``model.init(x)``. The functions are looked up as the run ends, and asked for their signatures.
    """
    files: dict[str, tuple[SourceText | None, Mapping[str, Any]]] = {}
    found: dict[Any, tuple[tuple[Any, str], ...] | None] = {}
    for each in operations:
        program = each.place.program
        if (
            each.kind not in (MADE, DEFAULT, CAST, ENTRY)
            or each.place.site == program
            or not program.extent
        ):
            continue
        if program not in found:
            if program.file not in files:
                files[program.file] = source_at(program), _names_in(program.file, main)
            source, names = files[program.file]
            extent: Any = program.extent
            calls = [x for x in source.at(extent) if isinstance(x, ast.Call)] if source else []
            found[program] = _options(source, calls[0], names) if source and calls else None
        each.choices = found[program]


def _names_in(file: str, main: Mapping[str, Any]) -> Mapping[str, Any]:
    """The globals of a file of the program."""
    if main.get("__file__") == file:
        return main
    modules = (vars(x) for x in tuple(sys.modules.values()) if isinstance(x, type(sys)))
    return next((names for names in modules if names.get("__file__") == file), main)


def _options(
    source: SourceText, call: ast.Call, names: Mapping[str, Any]
) -> tuple[tuple[Any, str], ...] | None:
    """The calls that may choose a dtype, by their extents, each with a keyword that it takes; None
    if there are none, and the call's function is not known."""
    found: list[tuple[Any, str]] = []
    node: Any = call
    met: list[Any] = []
    while isinstance(node, ast.Call):
        met.append(node)
        extent = node.lineno, node.col_offset, node.end_lineno, node.end_col_offset
        found += [(extent, keyword) for keyword in _taken(node.func, names) or ()]
        owner = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        calls = [x for x in texts(source, owner) if isinstance(x, ast.Call) and x not in met]
        node = calls[0] if calls else None
    return tuple(found) or (None if _taken(call.func, names) is None else ())


def _taken(function: ast.expr, names: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The keywords with which a library's function chooses a dtype; None if it is not known."""
    first, *rest = ast.unparse(function).split(".")
    if not all(each.isidentifier() for each in (first, *rest)) or first not in names:
        return None
    value = names[first]
    try:
        for name in rest:
            value = (
                inspect.getattr_static(value, name) if _may_compute(value) else getattr(value, name)
            )
        return _keywords(value)
    except Exception:  # an attribute that is computed, what has no hash or no signature
        return None


def _may_compute(value: Any) -> bool:
    """Whether an attribute may be computed by the program: neither a module nor a class."""
    return not isinstance(value, (type, type(sys)))


@cache
def _keywords(function: Any) -> tuple[str, ...] | None:
    if not callable(function):
        return None
    try:
        if not is_library(inspect.getfile(inspect.unwrap(function))):
            return None
    except TypeError:  # of C
        pass
    every: dict[str, inspect.Parameter] = {}
    made: Any = getattr(function, "__init__", None) if isinstance(function, type) else None
    both = [function, made] if made not in (None, object.__init__) else [function]
    for each in both:  # as a metaclass may take anything
        every |= inspect.signature(each).parameters
    named = tuple(name for name, x in every.items() if "dtype" in name and x.kind in _BY_NAME)
    if named or not any(x.kind is inspect.Parameter.VAR_KEYWORD for x in every.values()):
        return named
    told = _DTYPES.findall(inspect.getdoc(function) or "")
    return tuple(dict.fromkeys((*told, "dtype")))[:2]  # tried, as nothing says that it takes them


_BY_NAME = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_DTYPES = re.compile(r"\b(\w*dtype)\b(?=[`*]*\s*[(:=])")
"""A parameter in a docstring."""
