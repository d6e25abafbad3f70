"""The program's side of a run whose program is rewritten: run it as ``python`` does.

A hook sees the operations of modules when they are imported, but ``__main__`` is no import: Python
starts this module instead, which takes the program's place. Of it the program can see the frames
that its own are called from.
"""

from __future__ import annotations

import os
import runpy
import sys
from importlib.machinery import SourceFileLoader
from types import CodeType, TracebackType
from typing import Any
from zipfile import is_zipfile

from promoarray.core.call_site import keep_source
from promoarray.diagnostics.record.numpy.rewriting import rewritten
from promoarray.diagnostics.run import edited, notebook
from promoarray.diagnostics.run.recorded import begin
from promoarray.diagnostics.run.watch import watched


def main(framework: str, *, texts: bool) -> None:
    """Run the script, module or notebook that the command line names.

    Parameters
    ----------
    framework : str
    texts : bool
        Whether a file with edited texts is named first, as ``edited.py`` has it.
    """
    if texts:
        edited.install(sys.argv.pop(1))
    if watched() is None:  # as in a Python that looks at no environment
        begin(framework)
    _, what, *arguments = sys.argv
    names = vars(sys.modules["__main__"])
    names.pop("main", None)
    try:
        if what == "-m":
            _run_module(arguments)
        elif what == "-c":  # which is how notebooks are run
            sys.argv = [what, *arguments[1:]]
            notebook.main(_cell)
        else:
            _run_script(what, arguments, names)
    except BaseException as error:
        sys.excepthook = _Own(sys.excepthook, _inside(error))
        raise


def _cell(source: str, file: str, flags: int) -> CodeType:
    return rewritten(source, file, flags, whole=False)


def _run_module(command: list[str]) -> None:
    """Run a module as ``python -m`` does; its loader rewrites it."""
    module, *arguments = command
    sys.argv = ["-m", *arguments]
    _put_first(os.getcwd())
    _run_as_main(module)


def _run_script(script: str, arguments: list[str], names: dict[str, Any]) -> None:
    """Run a file, or what a folder or an archive holds, as ``python SCRIPT`` does."""
    sys.argv = [script, *arguments]
    if os.path.isdir(script) or is_zipfile(script):
        _put_first(os.path.abspath(script))
        _run_as_main("__main__", alter_argv=False)
        return
    path = os.path.abspath(script)
    _put_first(os.path.dirname(os.path.realpath(script)))
    keep_source(path)
    loader = SourceFileLoader("__main__", path)
    names.update(__file__=path, __cached__=None, __loader__=loader)
    exec(rewritten(loader.get_data(path), path), names)


_run_as_main: Any = runpy._run_module_as_main  # type: ignore[attr-defined]
"""What Python itself calls."""


def _put_first(folder: str) -> None:
    """Have modules looked for in a folder first, in the place of what is so of ``python -c``."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = folder


def _inside(error: BaseException) -> TracebackType | None:
    """The traceback of an error from the program on."""
    entry = error.__traceback__
    while entry is not None and entry.tb_frame.f_code.co_filename == __file__:
        entry = entry.tb_next
    return entry


class _Own:
    """``sys.excepthook`` of an error that left the program, without the frames around it."""

    def __init__(self, hook: Any, inside: TracebackType | None) -> None:
        self._hook, self._inside = hook, inside

    def __call__(
        self, kind: type[BaseException], error: BaseException, tb: TracebackType | None
    ) -> None:
        error.__traceback__ = self._inside
        self._hook(kind, error, self._inside)
