"""Write which keywords the functions of the installed frameworks take: ``calls/keywords.txt``.

    python conformance/keywords.py torch paddle jax numpy        # in one environment
    python conformance/keywords.py tensorflow                    # in another

Of functions that two frameworks have, by what their names mean in any. Keywords come from Python's
signatures, and from PyTorch's schemas where it has no others; the sections of frameworks that are
not named stay.
"""

from __future__ import annotations

import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any

from promoarray.diagnostics.calls import tables
from promoarray.diagnostics.calls.examined import _meant, keyword

TABLE = Path(tables.__file__).with_name(tables.KEYWORDS)
MODULES = {
    "torch": "torch torch.nn.functional torch.linalg torch.fft torch.special torch:Tensor",
    "paddle": "paddle paddle.nn.functional paddle.linalg paddle.fft paddle:Tensor",
    "jax": "jax.numpy jax.numpy.linalg jax.numpy.fft jax.lax jax.nn jax.scipy.special jax:Array",
    "numpy": "numpy numpy.linalg numpy.fft numpy:ndarray",
    "tensorflow": "tensorflow tensorflow.math tensorflow.linalg tensorflow.nn tensorflow.signal",
}
_UFUNC = ("where", "dtype", "casting", "order", "subok")
_NONE = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def functions(framework: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Every public function and method, with its name."""
    for place in MODULES[framework].split():
        module, _, owner = place.partition(":")
        holder = import_module(module)
        for name in dir(getattr(holder, owner) if owner else holder):
            found = getattr(getattr(holder, owner) if owner else holder, name, None)
            if (
                name[0].islower()
                and name[-1] != "_"
                and callable(found)
                and not isinstance(found, type)
            ):
                yield name, found


def taken(framework: str, name: str, function: Any) -> tuple[set[str], set[str]]:
    """The keywords that a function takes, and those among them that have a default."""
    found = dict.fromkeys(_UFUNC if hasattr(function, "nin") else (), True)
    like = [function]
    if framework == "torch":
        like.append(import_module("torch.overrides").get_testing_overrides().get(function))
        for operator in (name, getattr(function, "__name__", name)):
            with suppress(RuntimeError):
                schemas = import_module("torch")._C._jit_get_schemas_for_operator(
                    f"aten::{operator}"
                )
                found |= {a.name: a.has_default_value() for each in schemas for a in each.arguments}
    for each in like:
        with suppress(TypeError, ValueError):
            parameters = inspect.signature(each).parameters.values()
            found |= {p.name: p.default is not p.empty for p in parameters if p.kind not in _NONE}
    named = {name: keyword(framework, name) for name in found}
    optional = {named[name] for name, has_default in found.items() if has_default}
    return {*named.values()} - {""}, optional - {""}


def main(frameworks: list[str]) -> None:
    """Write the sections of some frameworks anew."""
    every: dict[str, dict[str, tuple[set[str], set[str]]]] = {}
    for framework in frameworks:
        every[framework] = {}
        for name, function in functions(framework):
            row = every[framework].setdefault(_meant(name), (set(), set()))
            for whole, part in zip(row, taken(framework, name, function), strict=True):
                whole |= part
    for framework, rows in known().items():
        every.setdefault(framework, {name: (row, row) for name, row in rows.items()})
    lines = ["# Made by `conformance/keywords.py`: the keywords that functions take."]
    for framework in sorted(every):
        lines += ["", f"[{framework}: keywords]"]
        for name, (whole, optional) in sorted(every[framework].items()):
            others = [rows[name][1] for f, rows in every.items() if f != framework and name in rows]
            row = optional | (whole & set().union(*others))
            if any(other != row for other in others):
                text = " ".join((name, *sorted(row)))
                lines.append(textwrap.fill(text, 100, subsequent_indent="    "))
    TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    print(*(f"{f} {import_module(f).__version__}" for f in frameworks))


def known() -> dict[str, dict[str, set[str]]]:
    """What the table has."""
    found = {}
    for (framework, _), body in tables.sections_of(tables.KEYWORDS) if TABLE.exists() else ():
        rows = (row.split() for row in tables.rows_of(body))
        found[framework] = {row[0]: {*row[1:]} for row in rows}
    return found


if __name__ == "__main__":
    main(sys.argv[1:] or ["torch", "paddle", "jax", "numpy"])
