"""Run by Python before a program that a command of promoarray starts.

It begins to record each framework that the command has named once it is imported, and notes which
array libraries the program itself imports. The program shall see nothing of it: this folder leaves
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
from opcode import opmap
from types import CodeType
from typing import Any

_HERE = os.path.dirname(os.path.abspath(__file__))
_PACKAGE = os.path.abspath(os.path.join(_HERE, *[os.pardir] * 3)) + os.sep
_FOLDER = "PROMOARRAY_COMPARE"
_PATH = "PYTHONPATH"
_REWRITTEN = {"numpy"}
"""Frameworks of which a program's modules are rewritten, whatever they import first."""

_RESERVED = "__promoarray__"
"""A name that all code has which is rewritten."""

_IMPORT, _EXTENDED = opmap["IMPORT_NAME"], opmap["EXTENDED_ARG"]

_LIBRARIES = {"promoarray", "numpy", "torch", "paddle", "jax", "tensorflow", "cupy", "mlx"}


class _Imports:
    """Stands in ``sys.meta_path`` until all frameworks are imported, each of which is recorded from
    then on.
    """

    def __init__(self, frameworks: list[str]) -> None:
        self._expected = frameworks

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Find a framework as the others do; many programs only ask whether it is there."""
        if name not in self._expected:
            return None
        others = (finder for finder in sys.meta_path if finder is not self)
        found = (finder.find_spec(name, path, target) for finder in others)
        spec = next(filter(None, found), None)
        if spec is not None and spec.loader is not None:
            self._record_once_executed(spec.loader, name)
        return spec

    def _record_once_executed(self, loader: Any, framework: str) -> None:
        """Have a loader begin to record once it has executed its module."""
        execute = loader.exec_module

        def exec_module(module: Any) -> None:
            del loader.exec_module
            execute(module)
            if framework in self._expected:
                self._expected.remove(framework)
                _begin(framework)
                _grow_old()
            if not self._expected:
                sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]

        loader.exec_module = exec_module


def _begin(framework: str) -> None:
    try:
        from promoarray.diagnostics.run import recorded

        recorded.begin(framework)
    except Exception as error:  # the program goes on
        if getattr(error, "name", "") != "promoarray":  # of another Python, which has none
            traceback.print_exc()


def _grow_old() -> None:
    """Have the garbage collector count all that there is among what is old.

    So it looks at everything when it would without promoarray, and not because of it.
    """
    if not gc.get_freeze_count():  # else it is the program that has frozen
        gc.freeze()
        gc.unfreeze()


def _heard(event: str, given: Any) -> None:
    """Hear what Python does: note imports, and prepare the processes that are started."""
    if _started is None:  # as Python ends, and empties its modules
        return
    if event in ("import", "exec"):
        library = given[0] if event == "import" else _package(given[0])
        if library in _LIBRARIES and _by_program():
            _note(library)
        if event == "exec" and _is_unseen(given[0]):
            _tell_unseen(given[0])
    elif event in _started["EVENTS"] and not _started["is_recorded"](event, given):
        _tell_started()


def _is_unseen(code: Any) -> bool:
    """Whether code of the program names NumPy, and none of its operations is heard of."""
    if not isinstance(code, CodeType) or _RESERVED in code.co_names:
        return False
    if (len(_named) < 2 and not _rewrites) or _is_library(code.co_filename):
        return False
    of_text = code.co_filename.startswith("<")
    return _names_numpy(code) and (not of_text or _by_program())


def _names_numpy(code: CodeType) -> bool:
    if "np" in code.co_names and _rewrites:
        return True
    if any(name.partition(".")[0] == "numpy" for name in code.co_names) and _imports_numpy(code):
        return True
    if not {"import_module", "__import__"}.isdisjoint(code.co_names) and "numpy" in code.co_consts:
        return True
    return any(_names_numpy(each) for each in code.co_consts if isinstance(each, CodeType))


def _imports_numpy(code: CodeType) -> bool:
    """Whether code imports NumPy, and not another package's ``numpy``."""
    raw, further = code.co_code, 0
    for operation, argument in zip(raw[::2], raw[1::2]):  # noqa: B905  # of two bytes each
        argument |= further
        further = argument << 8 if operation == _EXTENDED else 0
        if operation == _IMPORT and code.co_names[argument].partition(".")[0] == "numpy":
            return True
    return False


def _tell_unseen(code: CodeType) -> None:
    """Write down where NumPy may compute unheard."""
    file = os.path.abspath(code.co_filename) if code.co_filename[0] != "<" else code.co_filename
    reason = "loaded" if _rewrites else "unnamed"
    _append("unseen", repr((file, code.co_firstlineno, reason)))


def _tell_started() -> None:
    """Write down where a Python is started that is not recorded."""
    frame: Any = sys._getframe(2)
    while frame.f_back is not None and _is_library(frame.f_code.co_filename):
        frame = frame.f_back
    file = os.path.abspath(frame.f_code.co_filename)
    _append("unseen", repr((file, frame.f_lineno, "started")))


def _start_rewritten() -> None:
    """Have what this Python runs, a script, ``-c`` or standard input, run rewritten: it is started
    anew, as the command starts the program itself."""
    given, at = sys.orig_argv, 1
    start, _, prefix = _read("start").partition("\n")
    if not start or prefix != sys.prefix:  # another Python may have no promoarray
        return
    while at < len(given) and given[at][:1] == "-" and given[at] != "-":
        letter = next((each for each in given[at][1:] if each in "cmWX"), "")
        if letter in ("c", "m"):
            break
        at += 2 if letter and given[at][-1] == letter else 1
    what = given[at] if at < len(given) else ""
    code = given[at + 1] if what == "-c" and at + 1 < len(given) else ""
    if what[:1] == "-" and what not in ("-", "-c"):  # of modules the loaders see to it
        return
    if code == start or code.startswith("from multiprocessing."):
        return
    if what in ("", "-"):
        if sys.stdin is None or sys.stdin.isatty():
            return
    elif what != "-c":
        file = os.path.abspath(what)
        own = os.path.dirname(file) == os.path.dirname(sys.executable)
        if own or _is_library(file) or not os.path.exists(file):
            return
    os.execv(sys.executable, [sys.executable, *given[1:at], "-c", start, what, *given[at + 1 :]])


def _package(code: Any) -> str:
    """The package whose beginning is executed, which ``import_module`` does without an import."""
    folder, file = os.path.split(getattr(code, "co_filename", ""))
    return os.path.basename(folder) if file == "__init__.py" else ""


def _by_program() -> bool:
    """Whether it is the program that imports, and no library."""
    frame = sys._getframe(2)
    while frame is not None and _imports(frame.f_code.co_filename):
        frame = frame.f_back  # type: ignore[assignment]
    return frame is None or not _is_library(frame.f_code.co_filename)


def _imports(file: str) -> bool:
    return "importlib" in file or file == __file__


def _is_library(file: str) -> bool:
    installed = f"{os.sep}site-packages{os.sep}" in file or f"{os.sep}dist-packages{os.sep}" in file
    own = (os.path.dirname(os.__file__), _PACKAGE, "<frozen ")
    return installed or file.startswith(own) or bool(_is_installed(file))


def _note(library: str) -> None:
    """Write down that the program imports a library."""
    _append("imported", library)


def _append(name: str, line: str) -> None:
    try:
        with open(os.path.join(_folder, name), "a", encoding="utf-8") as file:
            file.write(f"{line}\n")
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


def _read(name: str) -> str:
    """What the command has written into a file; "" if it has ended."""
    try:
        with open(os.path.join(_folder, name), encoding="utf-8") as file:
            return file.read()
    except OSError:
        return ""


def _edit(texts: str) -> None:
    """Have this process read the texts that a file holds in place of those on the disk."""
    _beside("edited")["install"](texts)


def _beside(name: str, folder: str = _HERE) -> dict[str, Any]:
    """The names of a module of a folder that is not on the path."""
    file = os.path.join(folder, f"{name}.py")
    names: dict[str, Any] = {"__name__": name, "__file__": file}
    with open(file, "rb") as source:
        exec(compile(source.read(), file, "exec"), names)
    return names


_is_installed = _beside("installed", os.path.join(_PACKAGE, "core"))["is_installed"]
_folder = os.environ.get(_FOLDER, "")
_leave()
_named = _read("hooks").split() if _folder and os.path.isdir(_folder) else []
"""What is recorded once it is imported."""

_rewrites = sorted(_REWRITTEN.intersection(_named))
if _rewrites and os.name == "posix":
    _start_rewritten()
if os.path.exists(_texts := os.path.join(_folder, "texts")):
    _edit(_texts)
if _folder and os.path.isdir(_folder):
    _started = _beside("started")
    sys.addaudithook(_heard)
    if _expected := [name for name in _named if name not in _REWRITTEN]:
        sys.meta_path.insert(0, _Imports(_expected))
    for _name in _rewrites:
        _begin(_name)
sys.modules.pop(__name__, None)
importlib.import_module("sitecustomize")  # the user's own; of none, site passes over the error
