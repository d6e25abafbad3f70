"""Runs a script or module as Python does, and sees how it ends.

Python is started with ``COMMAND``, behind which stands what ``python`` would be told. promoarray is
not imported for it.
"""

from __future__ import annotations

import os
import runpy
import sys
from importlib.machinery import SourceFileLoader
from types import CodeType, TracebackType
from typing import Any

COMMAND = f"""\
with open({__file__!r}) as f:
    exec(compile(f.read(), f.name, 'exec'), {{'__file__': f.name}})"""
"""What ``python -c`` runs."""

run_as_main: Any = runpy._run_module_as_main  # type: ignore[attr-defined]
"""What Python itself calls."""

_WATCH = "promoarray.diagnostics.run.watch"


def main() -> None:
    """Run the script or module that the command line names."""
    names = told()
    del names["f"]
    try:
        if sys.argv[0] == "-m":
            put_first(os.getcwd())
            run_as_main(sys.argv.pop(1))
        else:
            run_script(os.path.abspath(sys.argv[0]), names)
    except BaseException as error:
        note_end(error)
        _show_without(__file__, error)
        raise


def told() -> dict[str, Any]:
    """Have Python look as if it was told what stands behind ``-c``; return the program's names."""
    at, names = sys.orig_argv.index("-c"), vars(sys.modules["__main__"])
    del sys.argv[0], sys.orig_argv[at : at + 2]
    return names


def run_script(path: str, names: dict[str, Any], compiled: Any = None) -> None:
    """Execute a script in the place of ``__main__``."""
    put_first(os.path.dirname(os.path.realpath(path)))
    loader = SourceFileLoader("__main__", path)
    names.update(__file__=path, __cached__=None, __loader__=loader)
    data = loader.get_data(path)
    code: CodeType = (compiled or loader.source_to_code)(data, path)
    exec(code, names)


def put_first(folder: str) -> None:
    """Have modules looked for in a folder first, in the place of what is so of ``python -c``."""
    if not getattr(sys.flags, "safe_path", False):
        sys.path[0] = folder


def note_end(error: BaseException) -> None:
    """Note what a program handled as it ended itself, if it is watched."""
    if isinstance(error, SystemExit) and error.__context__ is not None and _WATCH in sys.modules:
        # it may have been raised, and ``sys.exit`` not called
        sys.modules[_WATCH].note_handled(error.__context__, error.code)


def _show_without(file: str, error: BaseException) -> None:
    """Have an error that left the program shown without the frames of a file around it."""
    entry, before = error.__traceback__, sys.excepthook
    while entry is not None and entry.tb_frame.f_code.co_filename == file:
        entry = entry.tb_next

    def hook(kind: type[BaseException], error: BaseException, tb: TracebackType | None) -> None:
        error.__traceback__ = entry
        before(kind, error, entry)

    sys.excepthook = hook


if "__name__" not in globals():
    main()
