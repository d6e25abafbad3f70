"""C, compiled by gcc: each operator and function of a program is a loop over its arrays.

What C leaves undefined is not asked: signed integers wrap (``-fwrapv``), division by zero is
refused, and so are counts of shifts beyond the bits. A comparison is read as the bool that it is.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from programs.frameworks import Framework
from programs.frameworks.boxed import boxed, of_boxes
from programs.program import words

TYPES = {
    "bool": "_Bool",
    **{f"{'u' * u}int{n}": f"{'u' * u}int{n}_t" for u in (0, 1) for n in (8, 16, 32, 64)},
    "float16": "_Float16",
    "float32": "float",
    "float64": "double",
    "complex64": "float _Complex",
    "complex128": "double _Complex",
}
SOURCE = """#include <stdint.h>
#include <complex.h>
#undef I
#include <tgmath.h>
int code(void) {{ {declared} return _Generic(({text}), {cases}); }}
void run(long n, {parameters}, void *out) {{
  {declared}
  __typeof__({text}) *to = out;
  for (long i = 0; i < n; i++) {{ {loaded} to[i] = {text}; }}
}}
"""
COMPARED = frozenset({"==", "!=", "<", "<=", ">", ">="})
UNARY = words("sin cos tan exp log sqrt floor ceil trunc")
BINARY = {"fmax": "fmax(x, y)", "fmin": "fmin(x, y)", "atan2": "atan2(x, y)", "pow": "pow(x, y)"}
BINARY |= {"hypot": "hypot(x, y)", "copysign": "copysign(x, y)", "fmod": "fmod(x, y)"}


@cache
def _compiled(text: str, *types: str) -> tuple[Any, str]:
    names = "xyz"[: len(types)]
    pairs = [*zip(names, types, strict=True)]
    source = SOURCE.format(
        text=text,
        cases=", ".join(f"{c}: {n}" for n, c in enumerate(TYPES.values())),
        declared=" ".join(f"{TYPES[t]} {v} = 0;" for v, t in pairs),
        parameters=", ".join(f"const {TYPES[t]} *{v}_" for v, t in pairs),
        loaded=" ".join(f"{v} = {v}_[i];" for v in names),
    )
    folder = tempfile.mkdtemp()
    path = Path(folder, "asked.c")
    path.write_text(source, encoding="utf-8")
    command = ["gcc", "-std=gnu17", "-w", "-O1", "-fwrapv", "-shared", "-fPIC", str(path)]
    done = subprocess.run(
        [*command, "-o", f"{folder}/asked.so", "-lm"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise TypeError(done.stderr.partition("error: ")[2].splitlines()[0])
    library = ctypes.CDLL(f"{folder}/asked.so")
    return library, [*TYPES][library.code()]


def _entered(value: Any) -> Any:
    if type(value) is int:
        if not -(2**63) <= value < 2**63:
            raise OverflowError("no literal")
        return np.asarray(value, np.int32 if -(2**31) <= value < 2**31 else np.int64)
    return np.asarray(value)


def compute(text: str, *values: Any) -> Any:
    """Compile an expression of ``x`` and ``y`` for these values, and run it over them."""
    arrays = [_entered(value) for value in values]
    if "//" in text and any(each.dtype.kind not in "biu" for each in arrays):
        raise TypeError("C divides no floats without a remainder")
    text = text.replace("//", "/").replace("x ** y", "pow(x, y)")
    if len(arrays) > 1:
        _defined(text, *arrays)
    shape = np.broadcast_shapes(*(each.shape for each in arrays))
    arrays = [np.array(np.broadcast_to(each, shape), order="C") for each in arrays]
    library, name = _compiled(text, *(each.dtype.name for each in arrays))
    out = np.empty(shape, name)
    pointers = [ctypes.c_void_p(each.ctypes.data) for each in (*arrays, out)]
    library.run(ctypes.c_long(out.size), *pointers)
    return out.astype(bool) if COMPARED & {*text.split()} else out


def _defined(text: str, x: Any, y: Any) -> None:
    integers = all(each.dtype.kind in "biu" for each in (x, y))
    if not x.size or not y.size:
        return
    if text in ("x / y", "x % y") and integers:
        if not np.all(y):
            raise ZeroDivisionError
        if np.any(y == -1):
            raise NotImplementedError("the smallest integer by -1")
    if ("<<" in text or ">>" in text) and integers and not np.all((y >= 0) & (y < 32)):
        raise NotImplementedError("undefined")


def _assigned(text: str, x: Any, y: Any) -> Any:
    out = compute(text.replace("=", ""), x, y)
    name = x.dtype.name
    if np.shape(out) != x.shape:
        raise ValueError("a scalar is assigned to")
    return compute(f"({TYPES[name]})x", out)


Array = boxed(compute, "+ - * / // % ** & | ^ << >> == != < <= > >= ~", _assigned, of_scalars=True)


def _function(text: str) -> Any:
    return lambda *operands: Array(compute(text, *(getattr(x, "value", x) for x in operands)))


def framework(edition: str) -> Framework:
    """The gcc that is installed."""
    said = subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=True).stdout
    return of_boxes(
        Array,
        version=said.splitlines()[0],
        policy="c@x86-64",
        functions={
            **{name: _function(f"{name}(x)") for name in UNARY},
            **{name: _function(text) for name, text in BINARY.items()},
            "negative": _function("-x"),
            "astype": lambda x, dtype: Array(compute(f"({TYPES[dtype.name]})x", x.value)),
        },
        dtypes={name: np.dtype(name) for name in TYPES},
    )
