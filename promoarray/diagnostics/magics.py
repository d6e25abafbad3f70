"""Magics of IPython: ``%%check``, ``%%compare`` and ``%why``, after ``%load_ext promoarray``.

A cell runs as the block of a ``with`` statement that stands in the place of the magic's line, so
that lines keep their numbers.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from importlib import import_module
from types import ModuleType
from typing import Any

from promoarray.core.array_base import Array
from promoarray.diagnostics.check.block import check
from promoarray.diagnostics.record.block import FRAMEWORKS, record
from promoarray.diagnostics.run.frameworks import named, policies_for
from promoarray.diagnostics.why.question import of_array, why

_REPORT = "_promoarray_report"


class CellFailed(Exception):
    """The cell of a magic has failed, and its error is shown: cells that follow are not run."""

    def _render_traceback_(self) -> list[str]:
        return []


def load(shell: Any) -> None:
    """Add the magics to a shell of IPython."""

    usage_error = import_module("IPython.core.error").UsageError

    @contextmanager
    def told_in_a_line() -> Iterator[None]:
        try:
            yield
        except Exception as error:
            kind = "" if isinstance(error, (NameError, ValueError)) else f"{type(error).__name__}: "
            raise usage_error(f"{kind}{error}") from None

    def cell_check(line: str, cell: str) -> None:
        """Run the cell, and say where numbers were lost: ``%%check [KINDS]``."""
        with told_in_a_line():
            begun = check(*line.replace(",", " ").split())
        run(shell, cell, begun)

    def cell_compare(line: str, cell: str) -> None:
        """Run the cell, and show where policies differ: ``%%compare [A,B,C]``."""
        libraries = [] if _is_ours(shell, cell) else _libraries(shell)
        with told_in_a_line():
            begun = _recording(libraries, line.strip())
        run(shell, cell, begun)
        if others := ", ".join(libraries[1:]):
            print(f"Not examined: what {others} computed; %%compare records one library a cell.")

    def line_why(line: str) -> None:
        """Say where a dtype came from: ``%why x``, of what was computed while it was recorded; of
        the last error without ``x``."""
        if not line.strip():
            error = getattr(sys, "last_value", None)
            _display(why(error)) if error is not None else print("No error: write %why x")
            return
        with told_in_a_line():
            given = eval(line, shell.user_global_ns, shell.user_ns)
        _display(of_array(given, line.strip()) if hasattr(given, "dtype") else why(given))

    shell.register_magic_function(cell_check, "cell", "check")
    shell.register_magic_function(cell_compare, "cell", "compare")
    shell.register_magic_function(line_why, "line", "why")


def run(shell: Any, cell: str, begun: Any) -> None:
    """Run a cell in a block; show the name in its last line and the block's report. ``CellFailed``
    if the cell fails."""
    empty = next((n for n, line in enumerate(cell.split("\n")) if line.strip()), 0)
    text = "\n" * empty + shell.transform_cell(cell)  # which leaves out empty lines at the start
    tree: ast.AST | None = None
    with suppress(SyntaxError):
        tree = ast.parse(text)
    if tree is None:
        shell.run_cell(cell)  # which shows the error as of any cell
        raise CellFailed
    shell.user_ns[_REPORT] = begun
    head = f"with {_REPORT} as {_REPORT}:"
    with _numbered(shell):
        done = shell.run_cell("\n".join((head, *_indented(text, tree), "    pass")))
    report = shell.user_ns.pop(_REPORT, begun)
    if done.success and (name := _named_last(tree)) and not cell.rstrip().endswith(";"):
        _display(eval(name, shell.user_ns))
    if report is not begun:
        _display(report)
    if not done.success:
        raise CellFailed


def _named_last(tree: Any) -> str:
    """The name, or attribute of one, that the last line of a cell consists of; "" if it is none."""
    last: Any = getattr(tree.body[-1] if tree.body else None, "value", None)
    value = last
    while isinstance(value, ast.Attribute):
        value = value.value
    is_shown = isinstance(value, ast.Name) and isinstance(tree.body[-1], ast.Expr)
    return ast.unparse(last) if is_shown else ""


@contextmanager
def _numbered(shell: Any) -> Iterator[None]:
    """Give what runs within a cell the cell's number: IPython 9 counts on as a cell begins."""
    counted, cells = shell.execution_count, len(shell.user_ns.get("In", ()))
    shell.execution_count = cells - 1 if cells > 1 else counted
    try:
        yield
    finally:
        shell.execution_count = counted


def _display(shown: Any) -> None:
    """Show something as a cell shows its last value: as HTML where that can be shown."""
    import_module("IPython.display").display(shown)


def _indented(text: str, tree: ast.AST) -> Iterator[str]:
    """Yield the lines in a block; what a text of several lines holds is as it was."""
    inside = {
        line
        for node in ast.walk(tree)
        if isinstance(node, (ast.Constant, ast.JoinedStr)) and node.end_lineno is not None
        for line in range(node.lineno + 1, node.end_lineno + 1)
    }
    for number, line in enumerate(text.split("\n"), 1):
        yield line if number in inside else f"    {line}"


def _is_ours(shell: Any, cell: str) -> bool:
    """Whether a cell names promoarray, or an array of it, and so computes with it."""
    with suppress(SyntaxError):  # which the run will tell
        names = {node.id for node in ast.walk(ast.parse(cell)) if isinstance(node, ast.Name)}
        values = [shell.user_ns[name] for name in names & shell.user_ns.keys()]
        return any(x is sys.modules["promoarray"] or isinstance(x, Array) for x in values)
    return False


def _libraries(shell: Any) -> list[str]:
    """The libraries that the session has names of, the one that is recorded first."""
    modules = [x for x in shell.user_ns.values() if isinstance(x, ModuleType)]
    named_there = {each.__name__.partition(".")[0] for each in modules}
    return [name for name in (*FRAMEWORKS, "numpy") if name in named_there]


def _recording(libraries: list[str], policies: str) -> Any:
    """Record what the session computes with; of promoarray's own arrays ask the policies."""
    from promoarray.diagnostics.ask.observer import shadow

    library = libraries[0] if libraries else ""
    asked = named(policies) if policies else policies_for(library, None)
    return record(library, *asked) if library else shadow(*asked)
