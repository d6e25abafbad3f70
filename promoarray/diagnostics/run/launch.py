"""Runs a program that Python cannot run as it stands: edited, rewritten, or a notebook.

Python is started with ``COMMAND``, behind which stands what ``python`` would be told. The program
takes the place of ``__main__``; of this module it can see the frames that its own are called from.
"""

from __future__ import annotations

import os
import sys
import traceback
from types import CodeType, TracebackType
from zipfile import is_zipfile

from promoarray.core.call_site import keep_source, of_library, of_promoarray
from promoarray.diagnostics.run import notebook
from promoarray.diagnostics.run.ending import hide_hooks, shorten
from promoarray.diagnostics.run.startup import edited, launched
from promoarray.diagnostics.run.task import VARIABLE, texts_in

COMMAND = "from promoarray.diagnostics.run.launch import main; main({!r})"
"""What ``python -c`` runs, of the framework that the program is rewritten for, or ""."""


def main(framework: str) -> None:
    """Run the script, module or notebook that the command line names."""
    if sys.flags.ignore_environment or sys.flags.no_site:  # else sitecustomize has done it
        _prepare(framework)
    hide_hooks()
    names = launched.told()
    del names["main"]
    what = sys.argv[0]
    compiled = _rewritten if framework else notebook.compiled
    of_cells = notebook.is_notebook(what)
    try:
        if what == "-m":
            launched.put_first(os.getcwd())
            launched.run_as_main(sys.argv.pop(1))
        elif what == "-c":
            exec(compiled(sys.argv.pop(1), "<string>"), names)
        elif what in ("", "-"):
            exec(compiled(sys.stdin.buffer.read(), "<stdin>"), names)
        elif of_cells:
            notebook.run(what, names, compiled)
        elif os.path.isdir(what) or is_zipfile(what):
            launched.put_first(os.path.abspath(what))
            launched.run_as_main("__main__", alter_argv=False)
        else:
            path = os.path.abspath(what)
            keep_source(path)
            launched.run_script(path, names, compiled)
    except BaseException as error:
        launched.note_end(error)
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
