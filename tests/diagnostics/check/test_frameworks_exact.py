"""What is told of PyTorch, Paddle and JAX, element by element, held against exact numbers."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from checked_program import HEADS, checked, require

from promoarray.diagnostics.check.meant import SHARE

ARRAY = {
    "torch": "torch.tensor({0}, dtype=torch.{1})",
    "jax": "jnp.array({0}, jnp.{1})",
    "paddle": "paddle.to_tensor({0}, dtype='{1}')",
}
CAST = {"torch": "{0}.to(torch.{1})", "jax": "{0}.astype(jnp.{1})", "paddle": "{0}.astype('{1}')"}
WHOLE = ("int8", "uint8", "int16", "int32")
FLOATS = ("float16", "bfloat16", "float32")

Line = tuple[str, str, str, Callable[[dict[str, Any], int], dict[str, int]]]
"""What stands before it, its expression and name, and how many elements lose what."""


def held(x: Any) -> np.ndarray[Any, Any]:
    """The numbers of an array of a framework: of floats as float64."""
    if hasattr(x, "detach") and not hasattr(x, "place"):
        x = x.float() if x.dtype.is_floating_point else x
        return np.asarray(x.numpy())
    if hasattr(x, "place"):  # Paddle's
        x = x.astype("float32") if "float" in str(x.dtype) else x
        return np.asarray(x.numpy())
    return np.asarray(x)


def numbers(x: np.ndarray[Any, Any]) -> list[Any]:
    return x.astype(np.float64).tolist() if x.dtype.kind not in "iub" else x.tolist()


def some_whole(draw: random.Random, dtype: str) -> list[int]:
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    reach = draw.choice([4, 100, high])
    return [draw.randint(max(low, -reach), min(high, reach)) for _ in range(4)]


def some_floats(draw: random.Random, dtype: str) -> list[float]:
    about = ml_dtypes.finfo(dtype)
    ends = [float(about.max), float(about.smallest_normal), 1.0, 3.0]
    picked = [draw.choice(ends) * draw.choice([0.75, -0.5, 4.0**-3]) for _ in range(3)]
    return [*picked, draw.choice([0.0, 1.0, 2.0])]


def wraps(x: list[int], y: list[int], exact: Callable[[int, int], int], made: Any) -> int:
    low, high = np.iinfo(made.dtype).min, np.iinfo(made.dtype).max
    return sum(not low <= exact(a, b) <= high for a, b in zip(x, y, strict=True))


EXACT: dict[str, Callable[[int, int], int]] = {
    "{0} + {1}": lambda a, b: a + b,
    "{0} - {1}": lambda a, b: a - b,
    "{0} * {1}": lambda a, b: a * b,
    "-{0}": lambda a, b: -a,
    "abs({0})": lambda a, b: abs(a),
    "{0} * {0}": lambda a, b: a * a,
}


def lines_of_integers(draw: random.Random, framework: str) -> Iterator[Line]:
    for n in range(60):
        dtype, (form, exact) = draw.choice(WHOLE), draw.choice([*EXACT.items()])
        x, y = some_whole(draw, dtype), some_whole(draw, dtype)
        if "{1}" in form and n % 3 == 0:  # a Python number
            y, second = [y[0]] * 4, str(y[0])
        else:
            second = ARRAY[framework].format(y, dtype)

        def count(names: dict[str, Any], at: int, x: Any = x, y: Any = y, f: Any = exact) -> Any:
            return {"integer-wrap": wraps(x, y, f, held(names[f"r{at}"]))}

        first = ARRAY[framework].format(x, dtype)
        yield f"x, y = {first}, {second}", form.format("x", "y"), dtype, count


def lines_of_floats(draw: random.Random, framework: str) -> Iterator[Line]:
    for n in range(60):
        dtype, symbol = draw.choice(FLOATS), draw.choice("+-*/")
        x, y = some_floats(draw, dtype), some_floats(draw, dtype)
        arrays = [ARRAY[framework].format(each, dtype) for each in (x, y)]

        def count(names: dict[str, Any], at: int, dtype: str = dtype, symbol: str = symbol) -> Any:
            given = zip(*(numbers(held(names[f"{name}{at}"])) for name in "xyr"), strict=True)
            found = [lost_of(symbol, *each, dtype) for each in given]
            return {kind: found.count(kind) for kind in ("overflow", "nan-born", "underflow")}

        yield f"x{n}, y{n} = {', '.join(arrays)}", f"x{n} {symbol} y{n}", dtype, count


def lost_of(symbol: str, x: float, y: float, made: float, dtype: str) -> str:
    if math.isnan(made):
        return "nan-born"
    if math.isinf(made):
        return "overflow" if math.isfinite(x) and math.isfinite(y) else ""
    if symbol not in "*/" or not x or not y or not math.isfinite(y):
        return ""
    exact = Fraction(x) * Fraction(y) if symbol == "*" else Fraction(x) / Fraction(y)
    is_small = abs(made) < float(ml_dtypes.finfo(dtype).smallest_normal)
    return "underflow" if is_small and exact != Fraction(made) else ""


def lines_of_casts(draw: random.Random, framework: str) -> Iterator[Line]:
    for _ in range(60):
        source, target = draw.choice((*WHOLE, *FLOATS)), draw.choice((*WHOLE, "float16"))
        if source == target:
            continue
        if source in WHOLE:
            x: list[Any] = some_whole(draw, source)
        else:
            x = [*some_floats(draw, source)[:2], draw.uniform(-300, 300), math.nan]
        name = "x"

        def count(names: dict[str, Any], at: int, target: str = target) -> Any:
            given = numbers(held(names[f"g{at}"]))
            return {"cast-out-of-range": sum(is_beyond(each, target) for each in given)}

        made = ARRAY[framework].format(x, source).replace("nan", "float('nan')")
        yield f"x = {made}; g = x", CAST[framework].format(name, target), source, count


def is_beyond(x: float, target: str) -> bool:
    if target == "float16":  # what rounds to more than the largest
        return math.isfinite(x) and abs(x) >= 65520
    if not math.isfinite(x):
        return True
    return not np.iinfo(target).min <= math.trunc(x) <= np.iinfo(target).max


@pytest.mark.parametrize("framework", HEADS)
@pytest.mark.parametrize("lines", [lines_of_integers, lines_of_floats, lines_of_casts])
def test_what_is_lost_is_what_exact_numbers_say(tmp_path: Path, framework: str, lines: Any) -> None:
    require(framework)
    names: dict[str, Any] = {}
    text, counted = "", []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(HEADS[framework], names)
        for at, (before, line, _, count) in enumerate(lines(random.Random(7), framework)):
            more = f"{before}\nr{at} = {line}\n" + (f"g{at} = g\n" if "g = x" in before else "")
            try:
                exec(more, dict(names))
            except Exception:  # the framework takes no such operands
                continue
            text += more
            counted.append((at, text.count("\n") - ("g = x" in before), count))
        report = checked(tmp_path, framework, text, names)
    head = HEADS[framework].count("\n")
    found: dict[int, dict[str, int]] = {}
    for each in report.told:
        found.setdefault(each.place.program.line - head, {})[each.place.kind] = each.place.count
    assert len(counted) > 20
    differ = {}
    for at, line, count in counted:
        wanted = {kind: n for kind, n in count(names, at).items() if n}
        if wanted.get("underflow", 4) < SHARE * 4:
            del wanted["underflow"]
        here = {kind: n for kind, n in found.get(line, {}).items() if kind in count(names, at)}
        if here != wanted:
            differ[text.splitlines()[line - 1], text.splitlines()[line - 2]] = here, wanted
    assert not differ
