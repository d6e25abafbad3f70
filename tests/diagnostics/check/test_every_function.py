"""Every function of NumPy whose result has an Inf or NaN of finite numbers is told, or named."""

from __future__ import annotations

import inspect
import itertools
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from command import Command

GIVEN = {
    "large": "np.array([1e300, 2e300, -3e300])",
    "matrix": "np.array([[1e300, 2e300], [3e300, 1e300]])",
    "zeros": "np.array([0.0, 1.0, -1.0])",
    "half": "np.array([60000, -60000, 3], np.float16)",
    "complex_": "np.array([1e300 + 1e300j, 2, 3])",
    "whole": "np.array([1, 0, 3])",
}

MEANT = {
    "full_like": "the value is cast, which is cast-out-of-range",
    "fill_diagonal": "the value is cast, which is cast-out-of-range",
    "fix": "the second argument is its target",
}


def functions() -> Iterator[tuple[str, Any]]:
    for prefix, module in (("np", np), ("np.linalg", np.linalg), ("np.fft", np.fft)):
        for name in dir(module):
            function = getattr(module, name)
            if name[0] == "_" or not callable(function) or inspect.isclass(function):
                continue
            if name not in MEANT and not re.match("(gen|load|save|set|show|test|put|from)", name):
                yield f"{prefix}.{name}", function


def is_finite(x: Any) -> bool:
    if isinstance(x, (tuple, list)):
        return all(map(is_finite, x))
    try:
        return bool(np.isfinite(x).all())
    except (TypeError, AttributeError):  # it is no number
        return True


def calls() -> Iterator[str]:
    for name, function in functions():
        of_one = isinstance(function, np.ufunc) and function.nin == 1  # the second is its target
        for given in itertools.chain(*(itertools.product(GIVEN, repeat=n) for n in (1, 2))):
            if len(given) > 1 and of_one:
                continue
            try:
                made = function(*(eval(GIVEN[each]) for each in given))
            except Exception:  # it takes no such arguments
                continue
            if not is_finite(made):
                yield f"{name}({', '.join(f'{each}()' for each in given)})"


def test_every_inf_and_nan_is_told(tmp_path: Path, command: Command) -> None:
    with np.errstate(all="ignore"):
        asked = [*calls()]
    head = ["import numpy as np, warnings", "warnings.simplefilter('ignore')"]
    head += [f"def {name}(): return {text}" for name, text in GIVEN.items()]
    program = tmp_path / "program.py"
    program.write_text("\n".join([*head, *asked, ""]))
    ran = command("check --no-edit --json --only overflow,nan-born", str(program), status=1)
    report = json.loads(ran.out)
    lines = {each["line"] for each in report["findings"]}
    untold = [each for line, each in enumerate(asked, len(head) + 1) if line not in lines]
    assert len(asked) > 300
    assert untold == []


CASTS = """
import numpy as np, warnings
warnings.simplefilter("ignore")
dtypes = "bool int8 uint8 uint32 int64 uint64 float16 float32 float64 complex64 complex128".split()
inf, nan = np.inf, np.nan
values = [], [inf], [nan], [-inf, inf], [1e300], [1e300, 2e300], [1e-320], [-0.0], [1e5, 1e5 + 1]
for each in *values, [2.0**53 + 2, 2.0**53], [300, -1], [nan, 1e300]:
    for x in (np.array(each).astype(a) for a in dtypes):
        for b in dtypes:
            y = np.zeros(x.shape, b)
            y[...] = x
            x.astype(b), x + y, x * y, np.where(x != 0, x, y), np.concatenate([x, y]), x == y
            np.full(2, x[0] if x.size else 0, b), np.cumsum(x, dtype=b), np.maximum(x, y)
"""


def test_no_numbers_break_what_looks_at_casts(tmp_path: Path, command: Command) -> None:
    program = tmp_path / "program.py"
    program.write_text(CASTS)
    ran = command("check --no-edit", str(program), status=1)
    assert "bug" not in ran.err
    assert "passs" not in ran.out
