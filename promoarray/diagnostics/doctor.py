"""``promoarray doctor``: shows what is installed here, what works, and what extras would add.

It asks the metadata of the installed distributions, so a library is imported only where a back end
has to tell its devices. The casts are tried: every level of the compiled loops has to give the bits
of the lowest.
"""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import PackageNotFoundError, requires, version
from importlib.util import find_spec
from itertools import groupby
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np

from promoarray.backends.numpy import cast
from promoarray.console import Printed, visible, wrapped
from promoarray.diagnostics.run.frameworks import named
from promoarray.diagnostics.settings import Commands, find
from promoarray.dtypes import BY_NAME
from promoarray.errors import UnknownPolicyError, to_install
from promoarray.kernels import levels, use_level
from promoarray.promotion.in_force import get_policy

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

DISTRIBUTION = "promoarray"

EXTRAS = {  # what each is known by and adds; the others are for our own tests
    "completion": ("shtab", "promoarray completion: the commands, completed by a shell"),
    "cupy": ("cupy", "arrays on an NVIDIA GPU"),
    "dask": ("dask", "lazy arrays: larger than memory, on all cores and on a cluster"),
    "lsp": ("pygls", "promoarray lsp: findings in an editor, at their lines"),
    "onnx": ("onnx", "pa.from_onnx and pa.to_onnx: ONNX's TensorProto"),
}

RECORDED = {"torch": "PyTorch", "paddlepaddle": "Paddle", "jax": "JAX", "tensorflow": "TensorFlow"}
"""The frameworks, by distribution, whose programs ``compare`` takes as they are, beside NumPy's."""


@dataclass(frozen=True)
class Checked:
    """One thing that was looked at."""

    chapter: str
    name: str
    ok: bool | None  # false if it is to be mended; None of what only could be there
    says: str  # what was found
    write: str = ""  # what to write to mend or to add it; "" where there is nothing to do


@dataclass(frozen=True, repr=False)
class Examination(Printed):
    """What ``promoarray doctor`` found; true if nothing has to be mended."""

    checks: tuple[Checked, ...]

    def __bool__(self) -> bool:
        return all(each.ok is not False for each in self.checks)

    @property
    def headline(self) -> str:
        """Whether all is well, and how much is not."""
        wrong = [each.name for each in self.checks if each.ok is False]
        return f"To be mended: {', '.join(wrong)}" if wrong else "All that is installed works"

    def to_dict(self) -> dict[str, Any]:
        """Return it as data."""
        return {"ok": bool(self), "checks": [asdict(each) for each in self.checks]}

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        from rich.text import Text

        for chapter, checks in groupby(self.checks, key=lambda each: each.chapter):
            yield Text(chapter, "bold cyan")
            for each in checks:
                sign, style = _SIGNS[each.ok]
                line = Text(f"  {sign:<4} ", style).append(f"{visible(each.name):<18} ", "default")
                said = Text(visible(each.says))
                if each.write:
                    said.append(f"; write {visible(each.write)}", "green")
                yield from wrapped(line, said, console, options.max_width)
        yield Text(visible(self.headline), "bold" if self else "bold red")


_SIGNS = {True: ("ok", "green"), False: ("BAD", "bold red"), None: ("-", "dim")}


def examine(commands: Commands | None = None) -> Examination:
    """Look at this machine, the libraries and the settings of the commands that a project may
    set."""
    project = partial(_project, commands or {})
    parts = (_machine, _loops, _dependencies, _devices, _settings, project, _frameworks, _extras)
    return Examination(tuple(check for part in parts for check in part()))


def _machine() -> Iterator[Checked]:
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    without = "" if gil else ", without a GIL"
    for name, said in {
        DISTRIBUTION: f"{version(DISTRIBUTION)} in {os.path.dirname(os.path.dirname(__file__))}",
        platform.python_implementation(): f"{platform.python_version()}{without}, {sys.executable}",
        platform.system(): f"{platform.machine()}, {cores} cores for this process",
    }.items():
        yield Checked("machine", name, True, said)


def _loops() -> Iterator[Checked]:
    """Compare each level's casts of all 65,536 patterns of two formats with the lowest's."""
    there = levels()
    here = use_level(there[0])
    try:
        expected = _some_casts()
        for level in there:
            use_level(level)
            same = all(map(np.array_equal, expected, _some_casts()))
            in_use = ", in use" if level == here else ""
            name = f"level {level}" if len(there) > 1 else "one version"
            said = "the bits of the lowest level" if same else "gives other bits than the lowest"
            remedy = "" if same else f"PROMOARRAY_CPU_LEVEL={there[0]}, and report it"
            yield Checked("compiled loops", name, same, said + in_use, remedy)
    finally:
        use_level(here)


def _some_casts() -> list[np.ndarray[Any, Any]]:
    patterns = np.arange(1 << 16, dtype=np.uint16)
    given = {"float16": patterns.view(np.float16), "bfloat16": patterns.view(ml_dtypes.bfloat16)}
    targets = ("float32", "bfloat16", "float8_e4m3fn", "float8_e5m2", "int8")
    made = (
        cast(values, BY_NAME[source], BY_NAME[target])
        for source, values in given.items()
        for target in targets
        if source != target
    )
    return [np.asarray(each).view(np.uint8) for each in made]


def _dependencies() -> Iterator[Checked]:
    for name, least in _requirements():
        found = _version(name)
        ok = found is not None and _number(found) >= _number(least)
        needs = f"{found or 'not installed'} (needs {least or '0'} or later)"
        remedy = "" if ok else f"pip install -U '{name}{f'>={least}' if least else ''}'"
        yield Checked("libraries", name, ok, needs, remedy)


def _devices() -> Iterator[Checked]:
    yield Checked("devices", "cpu", True, "NumPy")
    if find_spec("cupy") is None:
        return
    try:
        from promoarray.backends import cupy
    except ImportError as error:
        yield Checked("devices", "cuda", False, str(error))
        return
    found = cupy.devices()
    says = "CuPy" if found else cupy.why_none()
    yield Checked("devices", ", ".join(found) or "cuda", bool(found) or None, says)


def _settings() -> Iterator[Checked]:
    try:
        policy = get_policy().name
    except UnknownPolicyError as error:
        yield Checked("settings", "policy", False, str(error), "unset PROMOARRAY_POLICY")
    else:
        by = "PROMOARRAY_POLICY" if os.environ.get("PROMOARRAY_POLICY") else "the default"
        yield Checked("settings", "policy", True, f"{policy} ({by})")
    for name in sorted(os.environ):
        if name.startswith("PROMOARRAY_") and name != "PROMOARRAY_POLICY":
            yield Checked("settings", name, True, os.environ[name])


def _project(commands: Commands) -> Iterator[Checked]:
    """Read the settings of the project as each command would."""
    try:
        project = find() if commands else None
        if project is None:
            return
        project.check(commands)
        for name, parser in commands.items():
            project.fill(parser, name)
        for title, value in project.shown():
            if title.rpartition(" ")[2] in ("policies", "policy"):
                named(value if isinstance(value, str) else ",".join(value))
    except (UnknownPolicyError, ValueError) as error:
        yield Checked("settings", "pyproject.toml", False, str(error))
        return
    yield Checked("settings", "pyproject.toml", True, str(project.path))
    for title, value in project.shown():
        says = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        yield Checked("settings", title, True, says)


def _frameworks() -> Iterator[Checked]:
    yield Checked("programs taken as they are", "NumPy", True, f"{np.__version__}")
    for name, title in RECORDED.items():
        found = _version(name)
        says = found or "not installed, so its programs cannot be recorded here"
        yield Checked("programs taken as they are", title, True if found else None, says)


def _extras() -> Iterator[Checked]:
    for extra, (module, adds) in EXTRAS.items():
        there = find_spec(module) is not None
        remedy = "" if there else to_install(extra)
        yield Checked("extras", extra, there or None, adds, remedy)


def _requirements() -> Iterator[tuple[str, str]]:
    """Yield the name and the least version, "" if any will do, of what promoarray needs itself."""
    for line in requires(DISTRIBUTION) or ():
        wanted, _, marker = line.partition(";")
        name, least = re.match(r"[\w.-]+", wanted), re.search(r">=\s*([\w.]+)", wanted)
        if name is not None and "extra" not in marker:
            yield name[0], least[1] if least else ""


def _version(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _number(text: str) -> tuple[int, ...]:
    """The leading numbers of a version, which tell older from newer."""
    numbers = re.match(r"\d+(\.\d+)*", text)
    return tuple(map(int, numbers[0].split("."))) if numbers else ()
