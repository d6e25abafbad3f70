"""C's answers: the types that gcc gives expressions, by ``_Generic``.

python conformance/oracles/c.py [--out conformance/golden]

Asked with gcc 12.2.0 for x86-64, and with its cross compiler for ARM64, run under qemu-aarch64 7.2.
Python's numbers are the literals ``1``, ``1.0`` and ``1.0i``, a bool is ``(_Bool)1``. Functions are
those of <tgmath.h>. Comparisons and logical operators, which are ints in C, are asked as the bools
that they are converted to.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import _ask

TYPES = {
    "b1": "_Bool",
    **{f"{'iu'[u]}{n}": f"{'u' * u}int{n}_t" for u in (0, 1) for n in (8, 16, 32, 64)},
    "f16": "_Float16",
    "f32": "float",
    "f64": "double",
    "c32": "_Float16 _Complex",
    "c64": "float _Complex",
    "c128": "double _Complex",
}
"""The types by code; int64_t is a long."""

LITERALS = {"bool": "(_Bool)1", "int": "1", "float": "1.0", "complex": "1.0i"}

OPERATORS = {
    name: f"({{x}} {sign} {{y}})"
    for name, sign in zip(
        _ask._names(
            "add subtract multiply divide remainder equal not_equal less less_equal greater"
            " greater_equal bitwise_and bitwise_or bitwise_xor left_shift right_shift"
        ),
        _ask._names("+ - * / % == != < <= > >= & | ^ << >>"),
        strict=True,
    )
}
COMPARED = _ask._names("equal not_equal less less_equal greater greater_equal")
OPERATORS |= {name: f"(_Bool){OPERATORS[name]}" for name in COMPARED}
FUNCTIONS = {
    "where": "(1 ? {x} : {y})",
    "logical_and": "(_Bool)({x} && {y})",
    "logical_or": "(_Bool)({x} || {y})",
    **{
        name: f"{theirs}({{x}}, {{y}})"
        for name, theirs in zip(
            _ask._names("pow fmod fmax fmin atan2 hypot copysign nextafter"),
            _ask._names("pow fmod fmax fmin atan2 hypot copysign nextafter"),
            strict=True,
        )
    },
}
UNARY = {
    name: f"{theirs}({{x}})"
    for name, theirs in zip(
        _ask._names(
            "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 log log1p log2"
            " log10 sqrt floor ceil trunc round conj real imag"
            " negative positive bitwise_invert logical_not"
        ),
        _ask._names(
            "sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1 log log1p log2"
            " log10 sqrt floor ceil trunc round conj creal cimag - + ~ (_Bool)!"
        ),
        strict=True,
    )
}

PROGRAM = """#include <stdint.h>
#include <stdio.h>
#include <complex.h>
#undef I
#include <tgmath.h>
#define CODE(e) _Generic((e), {cases}, default: "other")
{variables}
int main(void) {{
{lines}
return 0; }}
"""


def answers(compiler: str, expressions: list[str]) -> list[str]:
    """The types of expressions, "-" where the compiler refuses one."""
    cases = ", ".join(f'{name}: "{code}"' for code, name in TYPES.items())
    variables = "\n".join(f"{name} {letter}_{c};" for c, name in TYPES.items() for letter in "xy")
    refused: set[int] = set()
    while True:
        lines = [
            'puts("-");' if n in refused else f"puts(CODE({text}));"
            for n, text in enumerate(expressions)
        ]
        source = PROGRAM.format(cases=cases, variables=variables, lines="\n".join(lines))
        first = source.split("int main")[0].count("\n") + 2
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "asked.c")
            path.write_text(source, encoding="utf-8")
            command = [compiler, "-std=gnu17", "-w", "-fmax-errors=0", "-static", str(path)]
            done = subprocess.run(
                [*command, "-o", f"{folder}/asked", "-lm"], capture_output=True, text=True
            )
            if not done.returncode:
                runner = ["qemu-aarch64-static"] if "aarch64" in compiler else []
                ran = subprocess.run([*runner, f"{folder}/asked"], capture_output=True, text=True)
                return ran.stdout.split()
        found = {int(n) - first for n in re.findall(r"asked\.c:(\d+):\d+: error", done.stderr)}
        if not found - refused:
            raise RuntimeError(done.stderr[:1000])
        refused |= found


def edition(compiler: str, policy: str) -> _ask.Oracle:
    """Ask a compiler."""
    asked: list[str] = []
    known: dict[str, str] = {}

    def section(expressions: Mapping[str, str], prefix: str = "") -> dict[str, _ask.Section]:
        columns = {**dict.fromkeys(TYPES), **LITERALS}

        def operand(code: str, letter: str) -> str:
            return LITERALS.get(code, f"{letter}_{code}")

        sections = {}
        for name, text in expressions.items():
            cells = {
                (a, b): text.format(x=operand(a, "x"), y=operand(b, "y"))
                for a in columns
                for b in columns
            }
            asked.extend(cells.values())
            ask: Callable[[str, str], str] = partial(lambda c, a, b: known[c[a, b]], cells)
            rows = {code: code for code in columns}
            sections[f"{prefix}/{name}"] = _ask.Section(
                ask, rows, rows, None, lambda a, b: a in LITERALS and b in LITERALS
            )
        return sections

    unary = {(c, n): text.format(x=f"x_{c}") for c in TYPES for n, text in UNARY.items()}
    asked.extend(unary.values())
    sections: dict[str, Any] = {
        **section(OPERATORS, "operator"),
        **section(FUNCTIONS, "function"),
        "unary": _ask.Section(
            lambda c, n: known[unary[c, n]], {c: c for c in TYPES}, {n: n for n in UNARY}
        ),
    }
    known.update(zip(asked, answers(compiler, asked), strict=True))
    said = subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout
    meta = {
        "policy": policy,
        "framework": said.splitlines()[0],
        "how": "_Generic of expressions, -std=gnu17; functions of <tgmath.h>",
    }
    return _ask.Oracle(meta, str, sections)


if __name__ == "__main__":
    _ask.main(
        {
            "c_x86_64": partial(edition, "gcc", "c@x86-64"),
            "c_arm64": partial(edition, "aarch64-linux-gnu-gcc", "c@arm64"),
        }
    )
