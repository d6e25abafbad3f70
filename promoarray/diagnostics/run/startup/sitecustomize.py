"""Run by Python before a program of another framework, to have it recorded.

The program shall see nothing of it: this folder leaves ``sys.path`` and ``os.environ`` again, the
``sitecustomize`` that the user has takes its place, and promoarray is not imported before the
framework is, but for frameworks of which programs are rewritten. Processes that the program starts
inherit the environment of the process, which still names the folder.
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
_FOLDER = "PROMOARRAY_COMPARE"
_PATH = "PYTHONPATH"
_REWRITTEN = {"numpy"}
"""Frameworks of which a program's modules are rewritten, whatever they import first."""


class _Imports:
    """First in ``sys.meta_path`` until a framework is imported, after which recording begins."""

    def __init__(self, framework: str) -> None:
        self._framework = framework

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Find the framework as the others do."""
        if name != self._framework:
            return None
        sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
        for finder in sys.meta_path:
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Recorded(spec.loader)  # type: ignore[assignment]
                return spec
        return None


class _Recorded:
    """A loader that begins to record once a module has been executed."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> Any:
        """Make the module as its own loader does."""
        return self._loader.create_module(spec)

    def exec_module(self, module: Any) -> None:
        """Execute the module, which knows its own loader alone."""
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        collecting = gc.isenabled()
        gc.disable()  # the framework has made much that takes long to look at, and is no garbage
        try:
            _begin()
        finally:
            _grow_old()
            if collecting:
                gc.enable()


def _begin() -> None:
    try:
        from promoarray.diagnostics.run import recorded

        recorded.begin()
    except Exception:  # the program goes on
        traceback.print_exc()


def _grow_old() -> None:
    """Have the garbage collector count all that there is among what is old.

    So it looks at everything when it would without promoarray, and not because of it.
    """
    if not gc.get_freeze_count():  # else it is the program that has frozen
        gc.freeze()
        gc.unfreeze()


def _keep_for_children(event: str, given: Any) -> None:
    """Have programs recorded that are started with a copy of ``os.environ``."""
    if event == "subprocess.Popen" and type(given[3]) is dict and _FOLDER in given[3]:
        paths = [_HERE, *filter(None, given[3].get(_PATH, "").split(os.pathsep))]
        given[3][_PATH] = os.pathsep.join(dict.fromkeys(paths))


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


def _framework() -> str:
    """The framework whose import begins the recording; "" if the command has ended."""
    try:
        with open(os.path.join(os.environ[_FOLDER], "framework"), encoding="utf-8") as file:
            return file.read()
    except (KeyError, OSError):
        return ""


_leave()
if _named := _framework():
    sys.addaudithook(_keep_for_children)
    if _named in _REWRITTEN:
        _begin()
    else:
        sys.meta_path.insert(0, _Imports(_named))
sys.modules.pop(__name__, None)
importlib.import_module("sitecustomize")  # the user's own; of none, site passes over the error
