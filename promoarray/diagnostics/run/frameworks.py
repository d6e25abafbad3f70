"""The framework that a program computes with, by what its source imports."""

from __future__ import annotations

import ast
import os
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator, Sequence
from importlib.machinery import PathFinder
from importlib.metadata import packages_distributions, requires, version
from pathlib import Path
from typing import NamedTuple

from promoarray.core.call_site import is_library
from promoarray.diagnostics.ask.observer import DEFAULT
from promoarray.diagnostics.exit_codes import UsageError
from promoarray.diagnostics.record.block import FRAMEWORKS, RECORDED, REWRITTEN
from promoarray.diagnostics.run import notebook
from promoarray.errors import quoted
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

OWN = "promoarray"
AUTO = "auto"


class Expected(NamedTuple):
    """What a program's sources say that it computes with."""

    # the first of ``names`` that it imports; "" of a program of promoarray, or of nothing
    framework: str
    # what is recorded once the run imports it. NumPy is among them if the program is rewritten
    libraries: tuple[str, ...]
    others: bool = False  # whether it imports packages of which nobody knows what they import


def expected(
    script: str | None, module: str | None, named: str = AUTO, args: Sequence[str] = ()
) -> Expected:
    """Return what to record of a program, by the imports in its own modules; or what is named.

    Of an installed program, such as ``torchrun train.py``, its own modules are the files and
    folders among its arguments.
    """
    if named != AUTO:
        libraries = tuple(filter(None, named.split(",")))
        if not libraries or not {*libraries} <= {*names()} or (OWN in libraries and libraries[1:]):
            known = ", ".join((AUTO, *names()))
            raise UsageError(f"--framework {quoted(named)} is none of {known}")
        own = OWN in libraries
        return Expected("" if own else libraries[0], () if own else libraries)
    path = _path_of(script, module)
    scripts = [Path(each) for each in args if each.endswith(".py")]
    installed = path is not None and _is_installed(path)
    own_files = [*_files_among(args)] if installed else [path, *scripts]
    path = next(iter(own_files), None)
    texts = [text for file in own_files for text in _sources(file)]
    top = _roots(name for text in texts for name in _imported(text))
    every = top.union(*map(_imported_beside, own_files))
    found = [name for name in FRAMEWORKS if name in every]
    folder = path.parent if path is not None else Path()
    beside = {each.stem for each in folder.glob("*")}
    packages = every - sys.stdlib_module_names - {"", OWN, *RECORDED} - beside
    if OWN in top or (OWN in every and not found):
        return Expected("", () if OWN in top else tuple(FRAMEWORKS))
    moved = any(each in text for text in texts for each in ("sys.path", "addsitedir"))
    handed = packages and (not found or _hand_out_arrays(packages, moved=moved))
    rewritten = [name for name in REWRITTEN if name in every or handed]
    main = next(iter((*found, *rewritten)), "")
    others = bool(packages) or "importlib" in every
    return Expected(main, (*rewritten, *FRAMEWORKS), others)


def _is_installed(path: Path) -> bool:
    """Whether a program is a library's, or a command of this Python."""
    where = path.resolve().parent
    return is_library(str(path.resolve())) or where == Path(sys.executable).parent.resolve()


def _files_among(args: Sequence[str]) -> Iterator[Path]:
    """Yield the files in Python that arguments name, and those in folders that they name; of no
    such argument those in this folder."""
    given = [Path(each.partition("::")[0]) for each in args]
    named = [each for each in given if each.is_dir() or (each.suffix == ".py" and each.is_file())]
    for each in named or [Path()]:
        found = [each] if each.is_file() else sorted(each.rglob("*.py"))
        yield from found[:_MOST]


def _hand_out_arrays(packages: set[str], *, moved: bool) -> bool:
    """Whether one of the packages computes with NumPy, and with no framework that is recorded; it
    may if it is not installed, and the program has changed where modules are looked for."""
    provided = packages_distributions()
    if moved and not packages <= provided.keys():
        return True
    for name in {each for package in packages for each in provided.get(package, ())}:
        needs = {_NAME.match(each)[0].lower() for each in requires(name) or ()}  # type: ignore[index]
        if "numpy" in needs and needs.isdisjoint((*FRAMEWORKS, "paddlepaddle")):
            return True
    return False


_NAME = re.compile(r"[\w.-]*")
"""The name of a package that another requires."""


def names() -> tuple[str, ...]:
    """Return what a program may compute with, that first which decides if it imports several."""
    return (OWN, *RECORDED)


def _roots(modules: Iterable[str]) -> set[str]:
    return {module.partition(".")[0] for module in modules}


def _imported(source: str, *, within: bool = False) -> Iterator[str]:
    """Yield the modules that a source imports; those of functions only if they are asked for.

    Modules of the package itself begin with as many dots as are written.
    """
    try:
        waiting: list[ast.AST] = [ast.parse(source)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            yield module
            dot = "" if module.endswith(".") else "."
            yield from (f"{module}{dot}{alias.name}" for alias in node.names)
        elif within or not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.expr)):
            waiting += ast.iter_child_nodes(node)
            yield from _by_name(node)


def _by_name(node: ast.AST) -> Iterator[str]:
    """Yield the module that ``import_module("name")`` or ``__import__("name")`` imports, or a text
    that may be run."""
    if isinstance(node, ast.Constant) and type(node.value) is str:
        yield from _IN_TEXT.findall(node.value)
    if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
        function = ast.unparse(node.func).rpartition(".")[2]
        if function in ("import_module", "__import__") and type(node.args[0].value) is str:
            yield node.args[0].value


_IN_TEXT = re.compile(rf"(?:^|[\n;])\s*(?:import|from)\s[^\n;]*?\b({'|'.join(REWRITTEN)})\b")
"""An import in a text, of what has to be known before."""


def _imported_beside(path: Path | None) -> set[str]:
    """Return the packages that a program's own modules import: beside it, in folders below, and
    in those of PYTHONPATH."""
    if path is None:
        return set()
    found: set[str] = set()
    named = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    folders = path.parent, *map(Path, named)
    waiting, seen = [path], set[Path]()
    while waiting and len(seen) < _MOST:
        file = waiting.pop()
        if file in seen:
            continue
        seen.add(file)
        for module in {n for text in _sources(file) for n in _imported(text, within=True)}:
            found.add(module)
            waiting += (x for at in folders for x in _files(module, file, at))
    return _roots(found)


def _files(module: str, file: Path, folder: Path) -> Iterator[Path]:
    """Yield the files of a module that one of a program's files, in its folder, imports."""
    name = module.lstrip(".")
    level = len(module) - len(name)
    for _ in range(level):
        folder = file = file.parent
    parts = name.split(".") if name else []
    for n in range(len(parts) + 1):
        at = folder.joinpath(*parts[:n])
        beside = at.with_suffix(".py") if n else at
        yield from (each for each in (beside, at / "__init__.py") if each.is_file())


_MOST = 300
"""So many files of a program are looked at."""


def _path_of(script: str | None, module: str | None) -> Path | None:
    """Return the file of a program."""
    path = Path(script) if script else _file_of(module or "")
    return path / "__main__.py" if path is not None and path.is_dir() else path


def _sources(path: Path | None) -> Iterator[str]:
    """Yield the source of a program, or of each cell of a notebook, if it can be read."""
    if path is None:
        return
    if path.suffix == ".ipynb":
        for cell in notebook.cells(str(path)):
            lines = cell.source.splitlines()
            yield "\n".join(line for line in lines if not line.lstrip().startswith(("%", "!")))
        return
    try:
        with tokenize.open(path) as file:
            yield file.read()
    except (OSError, SyntaxError, ValueError):
        return


def _file_of(module: str) -> Path | None:
    """Return the file that ``python -m`` runs, found without importing anything."""
    path: list[str] | None = [os.getcwd(), *sys.path]
    spec = None
    for part in module.split("."):
        spec = PathFinder.find_spec(part, path)
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or ())
    if path:
        spec = PathFinder.find_spec("__main__", path)
    return Path(spec.origin) if spec and spec.has_location and spec.origin else None


# -- what its programs are compared with -------------------------------------------------------


ALL = "all"
"""Names the editions of every framework that people have installed."""


PADDLE, TORCH, ASCEND, TORCH_NPU = "paddle@3.3", "torch@2.13", "aclnn@8.5", "torch_npu@2.13"
JAX, JAX_X64 = "jax@x32", "jax@x64"

TARGETS = {
    # Not ONNX: torch.onnx.export writes the casts. Not NumPy: there are no devices and no modules.
    # Ascend devices run programs of these frameworks: PyTorch's by torch_npu.
    "torch": (PADDLE, JAX, TORCH_NPU),
    "paddle": (TORCH, JAX, ASCEND),
    # The same program is often run with NumPy, too.
    "jax": (TORCH, PADDLE, "numpy@2"),
    # Keras has programs run with the first two as well; the third is TensorFlow's own other mode.
    "tensorflow": (JAX, TORCH, "tensorflow@all", "numpy@2"),
    # Programs that were written for NumPy 1, by value, and the rules since NEP 50.
    "numpy": ("numpy@1", "numpy@2", JAX, TORCH),
}
"""By framework, the policies that its programs are likely to meet, in the order of the report; JAX
as it is installed. Of a program written with promoarray, of no framework, all are asked."""

COMPILED = ("numba@0.68", "numpy@2")
"""What a program of NumPy's is compared with that Numba compiles."""

_X64 = "jax_enable_x64"


def policies_for(framework: str, script: str | None) -> tuple[Policy, ...]:
    """Return the policies that make sense for a program of a framework, "" of promoarray; its
    script may enable x64 in JAX."""
    if framework not in TARGETS:
        return tuple(map(as_policy, DEFAULT))
    jax = JAX_X64 if _enables_x64(script) else JAX
    compiled = framework == "numpy" and script and "numba" in _imported_beside(Path(script))
    names = COMPILED if compiled else TARGETS[framework]
    return tuple(as_policy(jax if name == JAX else name) for name in names)


def other_editions() -> tuple[Policy, ...]:
    """Return the edition of NumPy's rules that the installed one has left, or will come to."""
    installed = RECORDED["numpy"].home(version("numpy"))
    editions = as_policy("numpy@1"), as_policy("numpy@2")
    return tuple(p for p in editions if p.name[:7] != installed.name[:7])


def named(names: str) -> tuple[Policy, ...]:
    """Return the policies of ``--policies``: names with commas in between, or all."""
    every = [name.strip() for name in names.split(",")]
    asked = [each for name in every for each in (DEFAULT if name == ALL else [name]) if each]
    return tuple(dict.fromkeys(map(as_policy, asked)))


def _enables_x64(script: str | None) -> bool:
    """Whether JAX holds 64 bits in a program: by its environment or its source."""
    if os.environ.get(_X64.upper(), "").lower() in ("1", "true", "yes", "on"):
        return True
    try:
        return bool(script) and _X64 in Path(str(script)).read_text("utf-8", "replace")
    except OSError:
        return False
