"""Edits that are tried by a run: one file with other dtypes at some expressions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from promoarray.console import listed
from promoarray.core.call_site import Site, is_library
from promoarray.diagnostics.edits.operands import given_to
from promoarray.diagnostics.edits.place import SPELLINGS, Wrap
from promoarray.diagnostics.edits.source import SourceText, read
from promoarray.diagnostics.edits.writing import Unkept, rewritten
from promoarray.diagnostics.model.flow import DEFAULT, MADE, RecordedOperation, family
from promoarray.diagnostics.spans import name_of
from promoarray.dtypes import BY_NAME


@dataclass(frozen=True)
class Edit:
    """One edit of the program's source."""

    file: str
    text: str  # the whole edited file
    changes: tuple[tuple[int, str], ...]  # the lines that are written, by their numbers before
    shifts: tuple[tuple[int, int], ...] = ()  # from which line on how many lines further down
    loses: bool = False  # whether a cast in it gives up fractions or more

    def moved(self, line: int) -> int:
        """Return where a line of the file stands in the edited one."""
        return line + sum(more for at, more in self.shifts if at <= line)

    @property
    def texts(self) -> dict[Path, bytes]:
        """What the program is to see in the place of its file."""
        return {Path(self.file): self.text.encode()}

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        written = [{"line": line, "write": text} for line, text in self.changes]
        return {"file": self.file, "changes": written}


class Mended(NamedTuple):
    """An edit after which policies agree on what a library does."""

    program: Site  # the line of the program that led there
    site: Site
    policies: tuple[str, ...]
    edit: Edit

    def __str__(self) -> str:
        name = Path(self.edit.file).name
        write = " and ".join(f"{text} at {name}:{line}" for line, text in self.edit.changes)
        agree = f"agree{'s' * (len(self.policies) == 1)} at {name_of(self.program)}"
        names = listed([*self.policies])
        return f"Write {write}: in a run with it {names} {agree}, and no root cause is new."

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        at = {"file": self.program.file, "line": self.program.line}
        return at | {"policies": [*self.policies], "edit": self.edit.to_dict()}


def at_origin(made: RecordedOperation) -> Iterator[tuple[str, Any, SourceText]]:
    """Where an array is made, and how its dtype is named there."""
    program = made.place.program
    source = source_at(program)
    if source is None:
        return
    nodes = [each for each in source.at(program.extent) if isinstance(each, ast.expr)]  # type: ignore[arg-type]
    for node in nodes[:1]:
        yield from _options(made, source)
        if isinstance(node, ast.Call):
            if (named := dtype_given(node)) is not None:
                yield "retyped", named, source
            elif made.choices is None and made.kind in (MADE, DEFAULT):
                yield "dtype", node, source
        yield "astype", node, source


def remade(
    made: RecordedOperation, dtype: str, framework: str, *, by_option: bool = False
) -> Iterator[Edit]:
    """Yield edits after which an array is made in a dtype; ``by_option`` those of calls that led
    to a library alone."""
    source = source_at(made.place.program) if by_option else None
    every = _options(made, source) if source else () if by_option else at_origin(made)
    own = framework_of(made, dtype, framework)
    for how, node, at in every:
        if found := written(at, made.place.program, [(how, node)], dtype, own):
            yield found


def framework_of(made: RecordedOperation, dtype: str, framework: str) -> str:
    """The one whose words an operation is written in, of a program that may use several.

    What NumPy has no dtype for is cast behind it.
    """
    own = family(made.policy)
    if not framework or own not in SPELLINGS or (own == "numpy" and not hasattr(np, dtype)):
        return framework
    return own


def _options(made: RecordedOperation, source: SourceText) -> Iterator[tuple[str, Any, SourceText]]:
    """Where calls that led to a library take a dtype, and by which keyword."""
    for extent, keyword in made.choices or ():
        for call in (x for x in source.at(extent) if isinstance(x, ast.Call)):
            given = next((x.value for x in call.keywords if x.arg == keyword), None)
            if given is None:
                yield keyword, call, source
            elif _is_dtype(given):
                yield "retyped", given, source


def is_left_out(made: RecordedOperation) -> bool:
    """Whether the program has named no dtype where a library takes one for what it makes."""
    program = made.place.program
    source = source_at(program) if made.choices else None
    if source is None:
        return False
    extent: Any = program.extent
    calls = [x for x in source.at(extent) if isinstance(x, ast.Call)]
    given = any(how == "retyped" for how, *_ in _options(made, source))
    return not given and not any(dtype_given(call) for call in calls)


def dtype_given(call: ast.Call) -> Any:
    """The dtype among the arguments of ``x.to(torch.float32)``, or ``zeros(3, dtype=int)``."""
    named = (word.value for word in call.keywords if word.arg == "dtype")
    if (found := next(named, None)) is not None:
        return found  # whatever it is: a call takes no second one
    for each in call.args:
        if _is_dtype(each):
            return each
    if call.args and isinstance(call.func, ast.Attribute) and call.func.attr in BY_NAME:
        return call.func  # np.float32(0.5)
    return None


def _is_dtype(each: ast.AST) -> bool:
    """Whether an expression names a dtype."""
    match each:
        case ast.Attribute(attr=name):
            return name.rstrip("_") in BY_NAME
        case ast.Name(id=name):
            return name in _PYTHON
        case ast.Constant(value=str() as name):
            return name in BY_NAME
    return False


_PYTHON = frozenset({"bool", "int", "float", "complex"})
"""Python's types that name a dtype."""


def operands_of(node: Any, source: SourceText) -> list[Any]:
    """The operands of an operator, or the arguments of a call."""
    match node:
        case ast.BinOp(left=a, right=b) | ast.Compare(left=a, comparators=[b]):
            return [a, b]
        case ast.Call():
            return list(given_to(node, source.modules))
    return []


def source_at(site: Site) -> SourceText | None:
    """The program's file, if it can be edited."""
    edited = site.extent and not is_library(site.file) and Path(site.file).is_file()
    return read(site.file) if edited else None


def written(
    source: SourceText, site: Site, wraps: list[tuple[str, Any]], dtype: str, framework: str
) -> Edit | None:
    """The edited file; None if it cannot be written so."""
    name = namespace(source, wraps[0][1], framework)
    every = [Wrap(node, BY_NAME[dtype], how, name=name) for how, node in wraps]
    return edited(source, site, every, framework)


def namespace(source: SourceText, node: Any, framework: str) -> str:
    """The name of a framework's module at a place of the source."""
    words = SPELLINGS[framework]
    return next(iter(source.names_of(words.module, node, [])), words.namespaces[0])


def edited(source: SourceText, site: Site, wraps: list[Wrap], framework: str) -> Edit | None:
    """The file with some casts written in; None if they cannot be."""
    try:
        new = rewritten(source, wraps, SPELLINGS[framework])
    except Unkept:
        return None
    return as_edit(source, site, new.text)


def as_edit(source: SourceText, site: Site, new: str) -> Edit:
    """The edit that makes another text of a file."""
    old, texts = source.text.splitlines(), new.splitlines()
    matched = SequenceMatcher(None, old, texts, autojunk=False).get_opcodes()
    apart = [each[1:] for each in matched if each[0] != "equal"]
    changes = [
        (start + n + 1, text.strip())
        for start, _, first, end in apart
        for n, text in enumerate(texts[first:end])
    ]
    shifts = [(end + 1, (last - first) - (end - start)) for start, end, first, last in apart]
    return Edit(site.file, new, tuple(changes), tuple(shifts))
