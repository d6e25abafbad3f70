"""Rewriting of a program that is loaded already: its functions, for as long as a block lasts.

Source is compiled twice, as it is and with the hook: code that is equal to the first gets the
second in its place, and code of which the source is not known, or is another by now, stays as it
is.
"""

from __future__ import annotations
import __future__

import ast
import gc
import os
import re
import sys
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache, lru_cache
from itertools import chain
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np

from promoarray.core.call_site import is_library, source_of
from promoarray.diagnostics.record.numpy.hook import hook
from promoarray.diagnostics.record.numpy.rewriting import hooked, warned_already

_ANNOTATIONS = __future__.annotations.compiler_flag


class Source:
    """The source of a file, compiled as it is and with the hook.

    Parameters
    ----------
    flags : int
        Those of ``compile``.
    asserting : bool
        Whether pytest has rewritten its assertions.

    Attributes
    ----------
    functions : dict
        From the code of each function to the same with the hook.
    """

    def __init__(self, text: str, file: str, flags: int, asserting: bool) -> None:
        self.text, self._file, self._asserting = text, file, asserting
        self._flags = flags | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        with warned_already():
            tree = self.plain()
            plain = [*_inner(self.compiled(tree))]
            made = [*_inner(self.compiled(self._hooked(tree)))]
        names = ([(code.co_qualname, code.co_firstlineno) for code in x] for x in (plain, made))
        self.functions = dict(zip(plain, made, strict=True)) if next(names) == next(names) else {}

    def tree(self) -> ast.Module:
        """The program with the hook; trees are made anew, as they take much memory."""
        return self._hooked(self.plain())

    def _hooked(self, plain: ast.Module) -> ast.Module:
        made: ast.Module = hooked(plain, self._file, self._flags, whole=not _is_cell(self._file))
        return made

    def plain(self) -> ast.Module:
        """The program as it is."""
        tree = compile(self.text, self._file, "exec", self._flags | ast.PyCF_ONLY_AST, True)
        assert isinstance(tree, ast.Module)
        if self._asserting:
            from _pytest.assertion.rewrite import rewrite_asserts

            rewrite_asserts(tree, self.text.encode(), self._file)
        return tree

    def compiled(self, tree: Any) -> CodeType:
        """Return the code of a part of it."""
        mode = "single" if isinstance(tree, ast.Interactive) else "exec"
        code: CodeType = compile(tree, self._file, mode, self._flags, dont_inherit=True)
        return code


@cache
def _source(text: str, file: str, flags: int, asserting: bool) -> Source | None:
    try:
        return Source(text, file, flags, asserting)
    except (SyntaxError, ValueError, RecursionError):
        return None


def source_of_code(code: CodeType, names: dict[str, Any]) -> Source | None:
    """Return the source of code that runs with these globals; None if it is not known."""
    file = code.co_filename
    text = source_of(file)
    flags = code.co_flags & _ANNOTATIONS
    return _source(text, file, flags, _is_of_pytest(names)) if text else None


def _is_of_pytest(names: dict[str, Any]) -> bool:
    """Whether pytest has rewritten the assertions of a module."""
    return "@pytest_ar" in names  # as pytest calls what they use there


def _is_cell(file: str) -> bool:
    """Whether a file is a cell of a notebook: others may have other functions of the same names."""
    return file.startswith("<") or "ipykernel" in file


def _inner(code: CodeType) -> Iterator[CodeType]:
    """The code of all functions and classes in code."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _inner(each)


# -- functions ------------------------------------------------------------------------------------


@contextmanager
def functions_rewritten(*, of_all_tests: bool = False) -> Iterator[str]:
    """Have the functions of the program run rewritten in a block, those it has at its beginning.

    Parameters
    ----------
    of_all_tests : bool
        Whether pytest runs its tests in the block, and not the block in one of them.

    Yields
    ------
    str
        Why they run as they are; "" if they do not.
    """
    hook()  # which rewritten code asks for
    changed: list[tuple[FunctionType, CodeType]] = []
    if _rewritten:  # and what was made since is, too
        yield _rewritten[-1]
        return
    functions = [*_functions()]
    waiting = set() if of_all_tests else _tests_that_wait(functions)
    found = [*_sources(x for x in functions if x.__code__.co_filename not in waiting)]
    texts = {source.text for _, source in found}
    compiles = "torch" in sys.modules and any(map(_COMPILES.search, texts))
    _rewritten.append(_OF_DYNAMO if compiles else "")
    for function, source in () if compiles else found:
        plain = function.__code__
        if (made := source.functions.get(plain)) is not None:
            function.__code__ = made
            changed.append((function, plain))
    try:
        yield _rewritten[-1]
    finally:
        _rewritten.clear()
        for function, plain in changed:
            function.__code__ = plain


_rewritten: list[str] = []
"""What the block yields in which functions are rewritten, while there is one."""

_COMPILES = re.compile(r"(?<!\bre)\.compile\(|torch\.compile\b")
_OF_DYNAMO = "torch.compile reads their code"


def _sources(functions: Iterable[FunctionType]) -> Iterator[tuple[FunctionType, Source]]:
    """Functions, each with its source, as far as that is known; a file is looked at once."""
    known: dict[Hashable, Source | None] = {}
    for each in functions:
        code, names = each.__code__, each.__globals__
        alike = code.co_filename, code.co_flags & _ANNOTATIONS, _is_of_pytest(names)
        if alike not in known:
            known[alike] = source_of_code(code, names)
        if (source := known[alike]) is not None:
            yield each, source


def _tests_that_wait(functions: Sequence[FunctionType]) -> set[str]:
    """The files of tests which pytest has loaded, and whose functions only it will call, later.

    No thread runs them, no other module has anything of them, and no function names them: a run of
    many tests has loaded the files of all when the first block begins.
    """
    spaces = {id(x.__globals__): x.__globals__ for x in functions}.values()
    files = {x["__name__"]: x["__file__"] for x in spaces if _is_of_pytest(x) and _is_of_tests(x)}
    if not files:
        return set()
    met, codes = set[Any](), [x.__code__ for x in functions]
    for frame in [*sys._current_frames().values()]:
        each: FrameType | None = frame
        while each is not None:
            met.add(each.f_globals.get("__name__"))
            codes.append(each.f_code)
            each = each.f_back
    for space in (*spaces, *map(vars, _modules())):
        given = [y for x in [*space.values()] for y in (x, *_registered(x))]
        found = (x if isinstance(x, (type, FunctionType)) else type(x) for x in given)
        met |= {getattr(x, "__module__", None) for x in found} - {space.get("__name__")}
        plugins = space.get("pytest_plugins") or ()
        met.update([plugins] if isinstance(plugins, str) else plugins)
    ends = frozenset[str]().union(*map(_ends_of_names, codes))
    return {file for x, file in files.items() if x not in met and x.rpartition(".")[2] not in ends}


def _registered(x: Any) -> Iterable[Any]:
    """What a list, a set or a dictionary has, in which files of tests may have put functions."""
    return [*x.values()] if type(x) is dict else [*x] if type(x) in (list, set, tuple) else ()


def _is_of_tests(names: dict[str, Any]) -> bool:
    return os.path.basename(names.get("__file__") or "").startswith("test_")


@lru_cache(maxsize=1 << 14)
def _ends_of_names(code: CodeType) -> frozenset[str]:
    """The last parts of the names and texts in code, and in the code in it: of the modules that it
    may import, too."""
    texts = {*code.co_names, *(x for x in code.co_consts if isinstance(x, str))}
    inner = (_ends_of_names(x) for x in code.co_consts if isinstance(x, CodeType))
    return frozenset(x.rpartition(".")[2] for x in texts).union(*inner)


def _functions() -> Iterator[FunctionType]:
    """The functions of the program."""
    libraries: dict[str, bool] = {}
    frozen = gc.get_freeze_count()
    gc.unfreeze()  # else they are not among those that are told
    every = [x for x in gc.get_objects() if type(x) is FunctionType]
    if frozen:
        gc.freeze()
    for each in every:
        file = each.__code__.co_filename
        if file not in libraries:
            libraries[file] = is_library(file)
        if not libraries[file]:
            yield each


def _modules() -> Iterator[Any]:
    """The modules of the program."""
    for x in [*sys.modules.values()]:
        # Not by getattr, for which modules may import others.
        if issubclass(type(x), ModuleType) and not is_library(vars(x).get("__file__") or ""):
            yield x


def uses_numpy(frame: FrameType | None) -> bool:
    """Whether the program has NumPy: one of its modules, its functions, or the frame of a block."""
    own = () if frame is None else (frame.f_locals, frame.f_globals)
    spaces = chain[dict[str, Any]](own, map(vars, _modules()))
    if any(_is_of_numpy(x) for space in spaces for x in [*space.values()]):
        return True
    return any("numpy" in function.__code__.co_names for function in _functions())


def has_numpy(frame: FrameType) -> bool:
    """Whether the code of a frame has NumPy, or an array of it, by some name."""
    code, values = frame.f_code, frame.f_globals | dict(frame.f_locals)
    names = {*code.co_names, *code.co_varnames, *code.co_cellvars, *code.co_freevars}
    if not values.keys() >= {*code.co_freevars}:  # of a class, whose frame does not have them
        return True
    return any(_is_of_numpy(values.get(name)) for name in names)


def _is_of_numpy(x: Any) -> bool:
    return x is np or issubclass(type(x), (np.ndarray, np.generic, np.ufunc, type(np.sum)))
