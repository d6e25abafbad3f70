"""Settings of the checks: those of the command line, else of ``[tool.promoarray.check]``."""

from __future__ import annotations

import argparse
import difflib
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from promoarray.diagnostics.check.meant import SHARE
from promoarray.diagnostics.model.lost import CHECKS, UNSTABLE, WIDENING
from promoarray.diagnostics.record.checks import USUAL, Asked

FAIL_ON = tuple(kind for kind in CHECKS if kind != WIDENING)
"""What fails if nothing else is said."""

_SELECTORS = ("any", "none", "incomplete")


def read_settings(start: Path | None = None) -> dict[str, Any]:
    """Return the settings of the nearest ``pyproject.toml`` from a folder upwards.

    Raises
    ------
    ValueError
        If a setting is none, or has no such value.
    """
    folder = (start or Path.cwd()).resolve()
    for each in (folder, *folder.parents):
        path = each / "pyproject.toml"
        if path.is_file():
            return _of_file(path)
    return {}


def _of_file(path: Path) -> dict[str, Any]:
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path} cannot be read: {error}") from error
    given = data.get("tool", {}).get("promoarray", {}).get("check", {})
    if not isinstance(given, Mapping):
        raise ValueError(f"{path}: [tool.promoarray.check] is no table")
    return {_known(path, name): _value(path, name, x) for name, x in given.items()}


def _known(path: Path, name: str) -> str:
    if name not in _READ:
        near = difflib.get_close_matches(name, _READ, n=1)
        hint = f". Did you mean {near[0]}?" if near else f"; write one of {', '.join(_READ)}"
        raise ValueError(f"{path}: [tool.promoarray.check] has no {name!r}{hint}")
    return name.replace("-", "_")


def _value(path: Path, name: str, x: Any) -> Any:
    try:
        return _READ[name](x)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: [tool.promoarray.check] {name} = {x!r}: {error}") from error


def kinds_of(names: Any, *more: str) -> tuple[str, ...]:
    """Return names of losses, each of which there has to be.

    Raises
    ------
    TypeError, ValueError
    """
    every = (names,) if isinstance(names, str) else tuple(names)
    for name in every:
        if name not in (*CHECKS, *more):
            meant = difflib.get_close_matches(str(name), (*CHECKS, *more), n=1)
            near = f". Did you mean {meant[0]}?" if meant else ""
            raise ValueError(f"{name!r} is none of {', '.join((*CHECKS, *more))}{near}")
    return every


def failing(names: Any) -> tuple[str, ...]:
    """Return what makes the exit code 1, with all losses in the place of ``any``."""
    every = kinds_of(names, *_SELECTORS)
    return tuple(each for name in every for each in (CHECKS if name == "any" else (name,)))


def _shadow(x: Any) -> str:
    if x not in ("", "float32", "float64"):
        raise ValueError("it is float32 or float64")
    return str(x)


def _number(x: Any) -> float:
    if type(x) not in (int, float) or not x >= 0:
        raise ValueError("it is a number from 0 on")
    return float(x)


def _file(x: Any) -> str:
    if not isinstance(x, str):
        raise TypeError("it is a path")
    return x


_READ: dict[str, Callable[[Any], Any]] = {
    "only": lambda x: frozenset(kinds_of(x)),
    "shadow": _shadow,
    "ulps": _number,
    "share": _number,
    "fail-on": failing,
    "baseline": _file,
}


def defaults(start: Path | None = None) -> dict[str, Any]:
    """Return every setting: that of the project, else the usual one.

    Raises
    ------
    ValueError
        If a file of settings has none of these.
    """
    usual = {"only": USUAL, "shadow": "", "ulps": Asked.ulps, "share": SHARE}
    return usual | {"fail_on": FAIL_ON, "baseline": ""} | read_settings(start)


def fill(args: argparse.Namespace) -> Asked:
    """Fill what the command line leaves open; return what is asked of the run.

    Raises
    ------
    ValueError
        If a file of settings has none of these.
    """
    for name, value in defaults().items():
        if getattr(args, name) is None:
            setattr(args, name, value)
    only = args.only | ({UNSTABLE} if args.shadow else frozenset())
    return Asked(only, None if args.all else Asked.bound, args.shadow, args.ulps)
