"""Run by Python before a program that a command of promoarray starts.

It begins to record once a framework is imported that the command has named, and notes which array
libraries the program itself imports. The program shall see nothing of it: this folder leaves
``sys.path`` and ``os.environ`` again, the ``sitecustomize`` that the user has takes its place, and
promoarray is not imported before the framework is, but for frameworks of which programs are
rewritten. Processes that the program starts inherit the environment of the process, which still
names the folder.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
import traceback
from importlib.machinery import ModuleSpec
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGE = os.path.abspath(os.path.join(_HERE, *[os.pardir] * 3)) + os.sep
_FOLDER = "PROMOARRAY_COMPARE"
_PATH = "PYTHONPATH"
_REWRITTEN = {"numpy"}
"""Frameworks of which a program's modules are rewritten, whatever they import first."""

_LIBRARIES = {"promoarray", "numpy", "torch", "paddle", "jax", "tensorflow", "cupy", "mlx"}


class _Imports:
    """First in ``sys.meta_path`` until a framework is imported, after which recording begins.

    Parameters
    ----------
    framework : str
        The one that is expected; "" of none.
    others : list of str
        Those that take its place if they are imported.
    by_program : bool
        Whether that is so of those alone that the program itself imports.
    """

    def __init__(self, framework: str, others: list[str], *, by_program: bool) -> None:
        self._framework, self._others = framework, others
        self._by_program = by_program

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Find the framework as the others do."""
        other = name in self._others and (not self._by_program or _by_program())
        if name != self._framework and not other:
            return None
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
        found = (finder.find_spec(name, path, target) for finder in sys.meta_path)
        spec = next(filter(None, found), None)
        if spec is not None and spec.loader is not None:
            _record_once_executed(spec.loader, name)
        return spec


def _record_once_executed(loader: Any, framework: str) -> None:
    """Have a loader begin to record once it has executed its module."""
    execute = loader.exec_module

    def exec_module(module: Any) -> None:
        del loader.exec_module
        execute(module)
        _begin(framework)
        _grow_old()

    loader.exec_module = exec_module


def _begin(framework: str) -> None:
    try:
        from promoarray.diagnostics.run import recorded

        recorded.begin(framework)
    except Exception:  # the program goes on
        traceback.print_exc()


def _grow_old() -> None:
    """Have the garbage collector count all that there is among what is old.

    So it looks at everything when it would without promoarray, and not because of it.
    """
    if not gc.get_freeze_count():  # else it is the program that has frozen
        gc.freeze()
        gc.unfreeze()


def _heard(event: str, given: Any) -> None:
    """Hear what Python does: note imports, and prepare the processes that are started.

    Programs are recorded, too, that are started with a copy of ``os.environ``.
    """
    if event in ("import", "exec"):
        library = given[0] if event == "import" else _package(given[0])
        if library in _LIBRARIES and _by_program():
            _note(library)
    elif event == "subprocess.Popen" and type(given[3]) is dict and _FOLDER in given[3]:
        paths = [_HERE, *filter(None, given[3].get(_PATH, "").split(os.pathsep))]
        given[3][_PATH] = os.pathsep.join(dict.fromkeys(paths))


def _package(code: Any) -> str:
    """The package whose beginning is executed, which ``import_module`` does without an import."""
    folder, file = os.path.split(getattr(code, "co_filename", ""))
    return os.path.basename(folder) if file == "__init__.py" else ""


def _by_program() -> bool:
    """Whether it is the program that imports, and no library."""
    frame = sys._getframe(2)
    while frame is not None and _imports(frame.f_code.co_filename):
        frame = frame.f_back  # type: ignore[assignment]
    return frame is not None and not _is_library(frame.f_code.co_filename)


def _imports(file: str) -> bool:
    return "importlib" in file or file == __file__


def _is_library(file: str) -> bool:
    installed = f"{os.sep}site-packages{os.sep}" in file or f"{os.sep}dist-packages{os.sep}" in file
    return installed or file.startswith((os.path.dirname(os.__file__), _PACKAGE, "<frozen "))


def _note(library: str) -> None:
    """Write down that the program imports a library."""
    try:
        with open(os.path.join(_folder, "imported"), "a", encoding="utf-8") as file:
            file.write(f"{library}\n")
    except OSError:  # the command has ended
        pass


def _leave() -> None:
    """Take this folder out of all that the program may look at."""
    sys.path[:] = [path for path in sys.path if os.path.abspath(path) != _HERE]
    sys.path_importer_cache.pop(_HERE, None)
    paths = os.environ.get(_PATH, "").split(os.pathsep)
    rest = os.pathsep.join(path for path in paths if path != _HERE)
    # Not by way of os.environ itself, which would take it from the processes to be started, too.
    seen: Any = vars(os.environ)
    key = seen["encodekey"](_PATH)
    if rest:
        seen["_data"][key] = seen["encodevalue"](rest)
    else:
        seen["_data"].pop(key, None)


def _hooks() -> list[str]:
    """The framework expected, "" of none, and the others; nothing if the command has ended."""
    try:
        with open(os.path.join(_folder, "hooks"), encoding="utf-8") as file:
            return [name.strip("-") for name in file.read().split()]
    except OSError:
        return []


def _edit(texts: str) -> None:
    """Have this process read the texts that a file holds in place of those on the disk."""
    file = os.path.join(_HERE, "edited.py")
    names: dict[str, Any] = {"__name__": "edited", "__file__": file}
    with open(file, "rb") as source:
        exec(compile(source.read(), file, "exec"), names)
    names["install"](texts)


_folder = os.environ.get(_FOLDER, "")
_leave()
if os.path.exists(_texts := os.path.join(_folder, "texts")):
    _edit(_texts)
if _named := _hooks():
    sys.addaudithook(_heard)
    _framework, *_others = _named
    _expected = "" if _framework in _REWRITTEN else _framework
    if _expected or _others:
        sys.meta_path.insert(0, _Imports(_expected, _others, by_program=bool(_framework)))
    if _framework in _REWRITTEN:
        _begin(_framework)
sys.modules.pop(__name__, None)
importlib.import_module("sitecustomize")  # the user's own; of none, site passes over the error
