"""What is told of each framework, element by element, held against exact numbers."""

from __future__ import annotations

import math
import random
import warnings
from collections import Counter, defaultdict
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
    "numpy": "np.array({0}, np.dtype('{1}'))",
    "torch": "torch.tensor({0}, dtype=torch.{1})",
    "jax": "jnp.array({0}, jnp.{1})",
    "paddle": "paddle.to_tensor({0}, dtype='{1}')",
}
CAST = {
    "numpy": "{0}.astype(np.dtype('{1}'))",
    "torch": "{0}.to(torch.{1})",
    "jax": "{0}.astype(jnp.{1})",
    "paddle": "{0}.astype('{1}')",
}
for each in ARRAY, CAST:
    each["jit"] = each["jax"]
WHOLE = ("int8", "uint8", "int16", "int32")
FLOATS = ("float16", "bfloat16", "float32")

Line = tuple[str, str, Callable[[dict[str, Any], int], dict[str, int]]]
"""What stands before a line, the line, and how many elements lose what there."""


def function(framework: str, names: str, expression: str) -> str:
    """An expression, which ``jax.jit`` compiles if that is asked for."""
    if framework != "jit":
        return expression
    return f"jax.jit(lambda {', '.join(names)}: {expression})({', '.join(names)})"


def held(x: Any) -> np.ndarray[Any, Any]:
    """The numbers of an array of a framework: of floats as float64."""
    if hasattr(x, "detach") and not hasattr(x, "place"):
        x = x.detach().float() if x.dtype.is_floating_point else x
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
        yield f"x, y = {first}, {second}", function(framework, "xy", form.format("x", "y")), count


def lines_of_floats(draw: random.Random, framework: str) -> Iterator[Line]:
    for n in range(60):
        dtype, symbol = draw.choice(FLOATS), draw.choice("+-*/")
        x, y = some_floats(draw, dtype), some_floats(draw, dtype)
        arrays = [ARRAY[framework].format(each, dtype) for each in (x, y)]

        def count(names: dict[str, Any], at: int, dtype: str = dtype, symbol: str = symbol) -> Any:
            given = zip(*(numbers(held(names[f"{name}{at}"])) for name in "xyr"), strict=True)
            found = [lost_of(symbol, *each, dtype) for each in given]
            return {kind: found.count(kind) for kind in ("overflow", "nan-born", "underflow")}

        line = function(framework, "xy", f"x {symbol} y")
        yield f"x{n}, y{n} = x, y = {', '.join(arrays)}", line, count


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

        def count(names: dict[str, Any], at: int, target: str = target) -> Any:
            given = numbers(held(names[f"g{at}"]))
            return {"cast-out-of-range": sum(is_beyond(each, target) for each in given)}

        made = ARRAY[framework].format(x, source).replace("nan", "float('nan')")
        line = function(framework, "x", CAST[framework].format("x", target))
        yield f"x = {made}; g = x", line, count


def is_beyond(x: float, target: str) -> bool:
    if target == "float16":  # what rounds to more than the largest
        return math.isfinite(x) and abs(x) >= 65520
    if not math.isfinite(x):
        return True
    return not np.iinfo(target).min <= math.trunc(x) <= np.iinfo(target).max


def rounded(x: Fraction, dtype: str) -> float:
    """The nearest number of a dtype; twice rounded sums of two of its numbers are so, too."""
    return float(np.array(float(x)).astype(np.dtype(dtype)))


def lines_of_sums(draw: random.Random, framework: str) -> Iterator[Line]:
    """Counters, which stand still in the end, or move on."""
    for _ in range(24):
        dtype, passes = draw.choice(FLOATS), draw.randint(40, 60)
        digits, update = ml_dtypes.finfo(dtype).nmant + 1, draw.choice([1.0, 0.5, 3.0, 0.375])
        ends = draw.choice([2.0**digits, 2.0 ** (digits - 1), 2.0 ** (digits - 8)])
        x = [rounded(Fraction(ends * update - draw.randint(4, 9) * update), dtype)]
        x, y = [*x, 2 * x[0], -x[0] / 2], [update, 2 * update, -update / 2]
        still, now = 0, x[0]
        for _ in range(passes):
            before, now = now, rounded(Fraction(now) + Fraction(update), dtype)
            still += now == before

        def count(names: dict[str, Any], at: int, still: int = still) -> dict[str, int]:
            return {"absorbed": 3 * still}

        arrays = [ARRAY[framework].format(each, dtype) for each in (x, y)]
        line = f"for _ in range({passes}): x = x + y"
        if framework == "jit":  # compiled once, and called in a loop on the line behind it
            line = f"f = jax.jit(lambda x, y: x + y)\n{line.replace('x + y', 'f(x, y)')}"
        yield f"x, y = {', '.join(arrays)}", line, count


def lines_of_digits(draw: random.Random, framework: str) -> Iterator[Line]:
    """Whole numbers that become floats, by a cast or beside one."""
    for n in range(30):
        target = draw.choice(FLOATS)
        most = min(1 << draw.choice([8, 11, 14, 24, 27]), 65504 if target == "float16" else 1 << 30)
        x = [draw.randint(-most, most) for _ in range(6)]

        def count(names: dict[str, Any], at: int, x: Any = x, target: str = target) -> Any:
            return {"digits-lost": sum(rounded(Fraction(each), target) != each for each in x)}

        line, names = CAST[framework].format("x", target), "x"
        if n % 3 == 0 and framework != "numpy":  # where int32 and a float are float64
            line, names = "x * y", "xy"
        one = ARRAY[framework].format([1.0] * 6, target)
        before = f"x, y = {ARRAY[framework].format(x, 'int32')}, {one}"
        yield before, function(framework, names, line), count


def lines_too_small(draw: random.Random, framework: str) -> Iterator[Line]:
    """Casts and squares whose results vanish."""
    for n in range(30):
        source, target = (
            ("float32", draw.choice(["float16", "bfloat16"])) if n % 2 else 2 * ["float16"]
        )
        least = float(ml_dtypes.finfo(target).smallest_normal)
        scale = least if n % 2 else math.sqrt(least)
        x = [draw.choice([1.0, 0.75, -0.3, 2.0**-7, 5.0]) * scale for _ in range(5)] + [0.0]

        def count(names: dict[str, Any], at: int, n: int = n, least: float = least) -> Any:
            given, made = (numbers(held(names[f"{name}{at}"])) for name in "gr")
            pairs = zip(given, made, strict=True)
            exact = [(Fraction(x) if n % 2 else Fraction(x) ** 2, y) for x, y in pairs]
            return {"underflow": sum(abs(y) < least and x != Fraction(y) for x, y in exact)}

        line = CAST[framework].format("x", target) if n % 2 else "x * x"
        made = ARRAY[framework].format(x, source)
        yield f"x = {made}; g = x", function(framework, "x", line), count


def lines_of_loops(draw: random.Random, framework: str) -> Iterator[Line]:
    """Numbers one by one, or a few at a time, of which calls are like others."""
    for n in range(48):
        dtype, symbol = draw.choice(WHOLE + FLOATS), draw.choice("+-*")
        some = some_whole if dtype in WHOLE else some_floats
        x, y = ([*some(draw, dtype), *some(draw, dtype), *some(draw, dtype)] for _ in "xy")
        rows = ".reshape(-1, 3)" if n % 3 == 0 else ""
        once = "a = a {0} b; a {0}= b" if n % 2 else "a = a {0} b; c = b {0} 3"
        arrays = [f"{ARRAY[framework].format(each, dtype)}{rows}" for each in (x, y)]

        def count(
            names: dict[str, Any], at: int, n: int = n, s: str = symbol, d: str = dtype
        ) -> Any:
            x, y, first, second = (held(names[f"{name}{at}"]).reshape(-1) for name in "xyvw")
            twice = (first, y, second) if n % 2 else (y, np.full_like(y, 3), second)
            steps = [*zip(*map(numbers, (x, y, first)), strict=True)]
            steps += zip(*map(numbers, twice), strict=True)
            if d in WHOLE:
                return {"integer-wrap": sum(not _is_exact(s, *each) for each in steps)}
            found = [lost_of(s, *each, d) for each in steps]
            return {kind: found.count(kind) for kind in ("overflow", "nan-born")}

        beside = f"v{n} {symbol} y" if n % 2 else f"y {symbol} 3"
        before = f"x{n}, y{n} = x, y = {', '.join(arrays)}; v{n} = x {symbol} y; w{n} = {beside}"
        yield before, f"for a, b in zip(x, y): {once.format(symbol)}", count


def _is_exact(symbol: str, x: int, y: int, made: int) -> bool:
    return bool({"+": x + y, "-": x - y, "*": x * y}[symbol] == made)


GENERATORS = [
    *(lines_of_integers, lines_of_floats, lines_of_casts),
    *(lines_of_sums, lines_of_digits, lines_too_small, lines_of_loops),
]


@pytest.mark.parametrize("framework", ARRAY)
@pytest.mark.parametrize("lines", GENERATORS)
def test_what_is_lost_is_what_exact_numbers_say(tmp_path: Path, framework: str, lines: Any) -> None:
    library = "jax" if framework == "jit" else framework
    require(library)
    names: dict[str, Any] = {}
    text, counted = "", []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(HEADS[library], names)
        for at, (before, line, count) in enumerate(lines(random.Random(7), framework)):
            line = line if "for " in line else f"r{at} = {line}"
            more = f"{before}\n{line}\n" + (f"g{at} = g\n" if "g = x" in before else "")
            try:
                exec(more, dict(names))
            except Exception:  # the framework takes no such operands
                continue
            counted.append((at, text.count("\n") + 2, count))
            text += more
        report = checked(tmp_path, library, text, names)
    head = HEADS[library].count("\n")
    found: defaultdict[int, Counter[str]] = defaultdict(Counter)
    for each in report.told:
        found[each.place.program.line - head][each.place.kind] += each.place.count
    assert len(counted) > (4 if framework == "paddle" else 20)  # whose CPU lacks 16 bits
    differ = {}
    for at, line, count in counted:
        wanted = {kind: n for kind, n in count(names, at).items() if n}
        if wanted.get("underflow", 6) < SHARE * 6:
            del wanted["underflow"]
        here = {kind: n for kind, n in found.get(line, {}).items() if kind in count(names, at)}
        if here != wanted:
            differ[text.splitlines()[line - 1], text.splitlines()[line - 2]] = here, wanted
    assert not differ


FOLDS: dict[str, Callable[[list[Fraction]], Fraction]] = {
    "sum": sum,
    "mean": lambda x: sum(x) / len(x),
    "prod": math.prod,
    "cumsum": sum,
}


@pytest.mark.parametrize("framework", [each for each in ARRAY if each != "jit"])
def test_what_is_unstable_is_far_from_exact_sums(tmp_path: Path, framework: str) -> None:
    require(framework)
    draw, ulps = random.Random(5), 1.5
    names: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(HEADS[framework], names)
    text, cases = "", []
    for _ in range(40):
        fold, dtype, count = (
            draw.choice([*FOLDS]),
            draw.choice(FLOATS[:2]),
            draw.choice([5, 40, 700]),
        )
        near = 2.0**-6 if fold == "prod" else 0.9
        x = [[rounded(Fraction(draw.uniform(1 - near, 1 + near)), dtype) for _ in range(count)]]
        axis = "1" if framework == "torch" else "axis=1"
        more = f"x = {ARRAY[framework].format(x, dtype)}\nr{len(cases)} = x.{fold}({axis})\n"
        try:
            exec(more, dict(names))
        except Exception:  # the framework has no such kernel
            continue
        text += more
        cases.append((fold, dtype, x[0]))
    report = checked(tmp_path, framework, text, names, ("unstable",), shadow="float64", ulps=ulps)
    head = HEADS[framework].count("\n")
    told = {each.place.program.line - head: each.place.count for each in report.told}
    differ, far = {}, 0
    for n, (fold, dtype, x) in enumerate(cases):
        exact = [Fraction(each) for each in x]
        ways = [exact[: k + 1] for k in range(len(x))] if fold == "cumsum" else [exact]
        made = numbers(held(names[f"r{n}"]).reshape(-1))
        wanted = 0
        for one, got in zip(ways, made, strict=True):
            true = FOLDS[fold](one)
            digit = Fraction(2) ** (math.frexp(float(true))[1] - 1 - ml_dtypes.finfo(dtype).nmant)
            wanted += abs(true - Fraction(got)) > Fraction(ulps) * digit
        far += wanted
        if told.get(2 * n + 2, 0) != wanted:
            differ[fold, dtype, len(x)] = told.get(2 * n + 2, 0), wanted
    assert not differ
    assert len(cases) > 8
    assert far or framework in ("torch", "paddle")  # which sum in float32


GRADIENTS = {
    "{x} * {y}": lambda g, x, y: (g * y, g * x),
    "{x} / {y}": lambda g, x, y: (g / y, -g * x / y / y),
    "{x} - {y}": lambda g, x, y: (g, -g),
}


@pytest.mark.parametrize("framework", ["torch", "jax"])
def test_gradients_lose_what_exact_numbers_say(tmp_path: Path, framework: str) -> None:
    require(framework)
    draw, cases, text = random.Random(3), [], ""
    for n in range(120):
        dtype, form = draw.choice(("float16", "float32")), draw.choice([*GRADIENTS])
        ends = ml_dtypes.finfo(dtype)
        sizes = [float(ends.max) ** 0.5, 1.0, float(ends.smallest_normal) ** 0.5]
        x, y, g = (
            [rounded(Fraction(draw.choice(sizes) * draw.uniform(-8, 8)), dtype) for _ in range(4)]
            for _ in "xyg"
        )
        arrays = dict(
            zip("xyg", (ARRAY[framework].format(v, dtype) for v in (x, y, g)), strict=True)
        )
        line = form.format(x=f"x{n}", y=f"y{n}")
        text += "".join(f"{name}{n} = {made}\n" for name, made in arrays.items())
        if framework == "torch":
            text += f"x{n}.requires_grad, y{n}.requires_grad = True, True\n"
            text += f"z{n} = {line}\nz{n}.backward(g{n})\n\n"
            text += f"a{n}, b{n} = x{n}.grad, y{n}.grad\n"
        else:
            text += f"def f{n}(x{n}, y{n}):\n    z = {line}\n    return (z * g{n}).sum()\n"
            text += f"a{n}, b{n} = jax.grad(f{n}, (0, 1))(x{n}, y{n})\nz{n} = {line} * g{n}\n"
        cases.append((n, form, dtype))
    names: dict[str, Any] = {}
    report = checked(tmp_path, framework, text, names)
    head, block = HEADS[framework].count("\n"), text.count("\n") // len(cases)
    found: defaultdict[int, set[str]] = defaultdict(set)
    forward: defaultdict[int, set[str]] = defaultdict(set)
    for each in report.told:
        both = found if each.place.backward else forward
        both[(each.place.program.line - head - 1) // block].add(each.place.kind)
    differ, kinds = {}, Counter[str]()
    for n, form, dtype in cases:
        x, y, g, made = (numbers(held(names[f"{name}{n}"])) for name in "xygz")
        least = float(ml_dtypes.finfo(dtype).smallest_normal)
        if not all(math.isfinite(v) for v in made) or 0.0 in y:
            continue
        wanted = set()
        for at, grads in enumerate(numbers(held(names[f"{name}{n}"])) for name in "ab"):
            wanted |= {"overflow"} if any(map(math.isinf, grads)) else set()
            wanted |= {"nan-born"} if any(map(math.isnan, grads)) else set()
            if framework == "torch" and dtype == "float16":
                exact = [
                    GRADIENTS[form](*map(Fraction, each))[at] for each in zip(g, x, y, strict=True)
                ]
                small = (abs(v) < least and e != v for v, e in zip(grads, exact, strict=True))
                wanted |= {"underflow"} if any(small) else set()
        wanted -= forward[n]  # of which it follows
        kinds.update(wanted)
        if wanted != found[n]:
            differ[n, form, dtype] = found[n], wanted
    assert not differ
    assert kinds["overflow"] > 4
    assert kinds["underflow"] > 4 or framework == "jax"
