"""Runs a program that Python cannot run as it stands: edited, rewritten, or a notebook.

Python is started with ``COMMAND``, behind which stands what ``python`` would be told. The program
takes the place of ``__main__``; of this module it can see the frames that its own are called from.
"""

from __future__ import annotations

import os
import runpy
import sys
import traceback
from importlib.machinery import SourceFileLoader
from types import CodeType, TracebackType
from typing import Any
from zipfile import is_zipfile

from promoarray.core.call_site import keep_source, of_library, of_promoarray
from promoarray.diagnostics.run import notebook
from promoarray.diagnostics.run.ending import shorten
from promoarray.diagnostics.run.startup import edited
from promoarray.diagnostics.run.task import VARIABLE, texts_in

COMMAND = "from promoarray.diagnostics.run.launch import main; main({!r})"
"""What ``python -c`` runs, of the framework that the program is rewritten for, or ""."""

_run_as_main: Any = runpy._run_module_as_main  # type: ignore[attr-defined]
"""What Python itself calls."""


def main(framework: str) -> None:
    """Run the script, module or notebook that the command line names."""
    if sys.flags.ignore_environment or sys.flags.no_site:  # else sitecustomize has done it
        _prepare(framework)
    names = vars(sys.modules["__main__"])
    at = sys.orig_argv.index("-c")
    del names["main"], sys.argv[0], sys.orig_argv[at : at + 2]
    what = sys.argv[0]
    compiled = _rewritten if framework else notebook.compiled
    of_cells = notebook.is_notebook(what)
    try:
        if what == "-m":
            _put_first(os.getcwd())
            _run_as_main(sys.argv.pop(1))
        elif what == "-c":
            exec(compiled(sys.argv.pop(1), "<string>"), names)
        elif what in ("", "-"):
            exec(compiled(sys.stdin.buffer.read(), "<stdin>"), names)
        elif of_cells:
            notebook.run(what, names, compiled)
        elif os.path.isdir(what) or is_zipfile(what):
            _put_first(os.path.abspath(what))
            _run_as_main("__main__", alter_argv=False)
        else:
            _run_script(os.path.abspath(what), names, compiled)
    except BaseException as error:
        if isinstance(error, SystemExit) and error.__context__ is not None:
            from promoarray.diagnostics.run.watch import note_handled

            note_handled(error.__context__, error.code)  # it may have been raised, and not called
        _show_from_the_program(error, of_cells=of_cells)
        raise


def _prepare(framework: str) -> None:
    texts = texts_in(os.environ[VARIABLE])
    if os.path.exists(texts):
        edited.install(texts)
    if framework:
        from promoarray.diagnostics.run.recorded import begin

        begin(framework)


def _rewritten(source: str | bytes, file: str, flags: int = 0) -> CodeType:
    from promoarray.diagnostics.record.numpy.rewriting import rewritten

    return rewritten(source, file, flags, whole=not flags)  # which cells alone have


def _run_script(path: str, names: dict[str, Any], compiled: notebook.Compile) -> None:
    _put_first(os.path.dirname(os.path.realpath(path)))
    keep_source(path)
    loader = SourceFileLoader("__main__", path)
    names.update(__file__=path, __cached__=None, __loader__=loader)
    exec(compiled(loader.get_data(path), path), names)


def _put_first(folder: str) -> None:
    """Have modules looked for in a folder first, in the place of what is so of ``python -c``."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = folder


def _show_from_the_program(error: BaseException, *, of_cells: bool) -> None:
    """Have an error that left the program shown without the frames around it."""
    around, entry = of_library if of_cells else of_promoarray, error.__traceback__
    while entry is not None and around(entry.tb_frame):
        entry = entry.tb_next
    inside, before = entry, sys.excepthook
    short = before is not sys.__excepthook__

    def hook(kind: type[BaseException], error: BaseException, tb: TracebackType | None) -> None:
        error.__traceback__ = inside
        if not of_cells:
            before(kind, error, inside)
            return
        if short:
            shorten(error)
        traceback.print_exception(error)  # the lines of cells are in no file

    sys.excepthook = hook
