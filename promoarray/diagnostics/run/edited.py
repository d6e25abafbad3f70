"""Runs a program whose edited text is not on the disk: ``python edited.py TEXTS SCRIPT ARGS``.

TEXTS is a pickle: from the real path of each edited file to its bytes. All else is as under
``python SCRIPT ARGS``; ``-m MODULE`` may stand in place of SCRIPT. It imports nothing of
promoarray, which is up to the script. Processes that ``multiprocessing`` starts anew see the
edited texts, too.
"""

import _posixsubprocess
import builtins
import io
import linecache
import os
import pickle
import runpy
import sys
import tokenize
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any

Texts = dict[str, bytes]


def install(path: str) -> Texts:
    """Have imports, what quotes source lines, and new processes see the texts that a file holds."""
    with open(path, "rb") as file:
        texts: Texts = pickle.load(file)
    stats, read, update, opened = (
        SourceFileLoader.path_stats,
        SourceFileLoader.get_data,
        linecache.updatecache,
        io.open_code,
    )

    def path_stats(self: Any, path: Any) -> Any:
        if os.path.realpath(path) in texts:
            raise OSError("what was compiled before is of another text")
        return stats(self, path)

    def get_data(self: Any, path: Any) -> bytes:
        edited = texts.get(os.path.realpath(path))
        return read(self, path) if edited is None else edited

    def updatecache(filename: Any, *others: Any) -> Any:
        edited = texts.get(os.path.realpath(filename))
        if edited is None:
            return update(filename, *others)
        lines = _lines(edited)
        linecache.cache[filename] = len(edited), None, lines, filename
        return lines

    def open_code(path: str) -> Any:  # of what runpy runs, such as the script in a new process
        edited = texts.get(os.path.realpath(path))
        return opened(path) if edited is None else io.BytesIO(edited)

    new: Any = {"path_stats": path_stats, "get_data": get_data}
    for name, function in new.items():
        setattr(SourceFileLoader, name, function)
    new_update: Any = updatecache
    linecache.updatecache = new_update
    io.open_code = open_code
    _install_in_children(path)
    return texts


def _install_in_children(path: str) -> None:
    """Have the processes of ``multiprocessing`` begin with this, which run a text of its own."""
    start: Any = _posixsubprocess.fork_exec
    names = {"__name__": "edited", "__file__": __file__}
    first = f"n = {names}; exec(open({__file__!r}).read(), n); n['install']({path!r}); del n; "

    def fork_exec(args: Any, *others: Any) -> Any:
        texts = [os.fsdecode(each) for each in args]
        if "-c" in texts and texts[texts.index("-c") + 1].startswith(_MULTIPROCESSING):
            texts[texts.index("-c") + 1] = first + texts[texts.index("-c") + 1]
            args = [os.fsencode(each) for each in texts]
        return start(args, *others)

    own: Any = _posixsubprocess
    own.fork_exec = fork_exec


_MULTIPROCESSING = "from multiprocessing.spawn ", "from multiprocessing.forkserver "


def _lines(data: bytes) -> list[str]:
    encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    return io.TextIOWrapper(io.BytesIO(data), encoding).readlines()


def main() -> None:
    """Run the script in place of this one."""
    texts = install(sys.argv[1])
    del sys.argv[:2]
    if sys.argv[0] == "-m":
        del sys.argv[0]
        _run_module(sys.argv[0])
    else:
        _run_script(sys.argv[0], texts)


def _run_module(name: str) -> None:
    sys.path[0] = os.getcwd()
    _replace_main(ModuleType("__main__"))
    as_python_does: Any = runpy
    as_python_does._run_module_as_main(name)


def _run_script(script: str, texts: Texts) -> None:
    sys.path[0] = os.path.dirname(os.path.realpath(script))
    with open(script, "rb") as file:
        data = texts.get(os.path.realpath(script)) or file.read()
    code = compile(data, script, "exec", dont_inherit=True)
    new = ModuleType("__main__")
    new.__file__, new.__loader__ = script, SourceFileLoader("__main__", script)
    vars(new)["__builtins__"] = builtins
    _replace_main(new)
    exec(code, vars(new))


def _replace_main(new: ModuleType) -> None:
    # What is installed goes on to use the names of this module, so that it has to live.
    sys.modules["__main__"], _kept[:] = new, [sys.modules["__main__"]]


_kept: list[ModuleType] = []


if __name__ == "__main__":
    main()
