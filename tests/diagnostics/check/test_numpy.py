"""``promoarray check`` of NumPy programs: what is told is what exact arithmetic says."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy_runs import recorded_run

from promoarray.diagnostics.check.meant import meant
from promoarray.diagnostics.model.lost import LostPlace
from promoarray.diagnostics.record.checks import USUAL, Asked, Checks
from promoarray.diagnostics.record.origins import Origins
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.promotion.registry import as_policy

INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")


@pytest.fixture
def check(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> Any:
    """Run a text, and answer what it lost; the program's globals where they are asked for."""

    def checked(text: str, *only: str) -> list[LostPlace]:
        path = tmp_path / "program.py"
        path.write_text(f"import numpy as np\n{text}")
        checks = Checks(Asked(frozenset(only) or USUAL))
        home = as_policy("numpy")
        kept: Any = {"origins": Origins(), "checks": checks}
        recorder = Recorder(home, (home,), framework="numpy", **kept)
        recorded_run(str(path), recorder)
        found = checks.found()
        checked.flow = recorder.flow.flow  # type: ignore[attr-defined]
        checked.examined = checks.examined  # type: ignore[attr-defined]
        return found

    return checked


def told(found: list[LostPlace]) -> list[tuple[str, int]]:
    """Kinds and lines of what would be told; the import is in line 0."""
    return [(each.kind, each.program.line - 1) for each in found if not meant(each)]


# -- against exact arithmetic ---------------------------------------------------------------------


def bounds(dtype: Any) -> tuple[int, int]:
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def some(draw: random.Random, dtype: str, shape: tuple[int, ...]) -> str:
    """The source of an array of integers, large ones and small ones."""
    low, high = bounds(dtype)
    reach = draw.choice([3, 20, high, high])
    size = int(np.prod(shape)) if shape else 1
    values = [draw.randint(max(low, -reach), min(high, reach)) for _ in range(size)]
    if not shape:
        return f"np.{dtype}({values[0]})"
    return f"np.array({np.array(values, object).reshape(shape).tolist()}, np.{dtype})"


BINARY = ("+", "-", "*", "//", "<<", "**")
SHAPES = (((3,), (3,)), ((2, 3), (3,)), ((2, 3), ()), ((), ()), ((4,), ()), ((2, 1), (1, 3)))


def lines_of_integers(draw: random.Random) -> Iterator[tuple[str, str, str]]:
    """Programs of a line: what stands before it, the expression, and that of exact integers."""
    for _ in range(400):
        first, second = draw.choice(INTEGERS), draw.choice(INTEGERS)
        second = draw.choice((first, second))
        symbol = draw.choice(BINARY)
        shapes = draw.choice(SHAPES)
        x = some(draw, first, shapes[0])
        if symbol in ("<<", "**"):
            y = f"np.full({shapes[1]}, {draw.randint(0, 9)}, np.{first})"
        else:
            y = some(draw, second, shapes[1])
        yield f"x = {x}; y = {y}", f"x {symbol} y", f"X {symbol} Y"
    for _ in range(60):
        dtype = draw.choice(INTEGERS)
        x = some(draw, dtype, draw.choice(((6,), (2, 3), (5, 1))))
        for one, exact in (
            ("-x", "-X"),
            ("np.abs(x)", "abs(X)"),
            ("np.square(x)", "X * X"),
            ("np.diff(x, axis=0)", "X[1:] - X[:-1]"),
            (f"x.sum(dtype=np.{dtype})", "X.sum()"),
            (f"np.sum(x, 0, np.{dtype})", "X.sum(0)"),
            (f"np.cumsum(x, dtype=np.{dtype})", "X.cumsum()"),
            (f"np.prod(x, dtype=np.{dtype}, axis=0)", "X.prod(0)"),
            (f"np.add.reduce(x, dtype=np.{dtype})", "X.sum(0)"),
            ("np.dot(x.T, x)", "X.T @ X"),
            ("x.T @ x", "X.T @ X"),
            ("np.inner(x, x)", "np.inner(X, X)"),
            ("np.outer(x, x)", "np.outer(X, X)"),
            ("np.multiply.outer(x, x)", "np.multiply.outer(X, X)"),
            ("np.add(x, x, out=x)", "X + X"),
            ("np.subtract(x, x[::-1], out=x)", "X - X[::-1]"),
        ):
            yield f"x = {x}; y = x", one, exact


def test_integers_wrap_where_exact_ones_do_not_fit(check: Any) -> None:
    draw = random.Random(7)
    cases, text = [], []
    for before, expression, exact in lines_of_integers(draw):
        names: dict[str, Any] = {"np": np}
        with np.errstate(all="ignore"):
            exec(before, names)
            names |= {"X": names["x"].astype(object), "Y": names["y"].astype(object)}
            made = np.asarray(eval(expression, names))
        if made.dtype.kind not in "iu":
            continue
        if "//" in expression and (names["y"] == 0).any():
            continue
        truth = np.asarray(eval(exact, names), object)
        low, high = bounds(made.dtype)
        again = expression in ("np.inner(x, x)", "np.outer(x, x)")  # in 64 bits, if it fits there
        if again and (made.dtype.itemsize == 8 or max(map(abs, truth.reshape(-1))) >= 2**62):
            continue
        wrong = np.array([not low <= int(each) <= high for each in truth.reshape(-1)], bool)
        cases.append((before, expression, truth.reshape(-1), wrong))
        text += [before, f"r = {expression}"]
    found = check("\n".join(text), "integer-wrap")
    by_line: dict[int, list[LostPlace]] = {}
    for each in found:
        by_line.setdefault(each.program.line - 1, []).append(each)
    for n, (before, expression, truth, wrong) in enumerate(cases):
        here = by_line.pop(2 * n + 2, [])
        assert sum(each.count for each in here) == wrong.sum(), (before, expression)
        for each in here:
            assert each.loss.kind == "integer-wrap"
            first = truth[wrong.argmax()]
            words = str(first), f"an integer of {first.bit_length()} bits"
            assert each.loss.example.exact in words, (before, expression)
    assert not by_line
    assert len(cases) > 1000


def test_operators_in_place_wrap_as_others_do(check: Any) -> None:
    draw = random.Random(11)
    text, truths = [], []
    for _ in range(300):
        dtype, symbol = draw.choice(INTEGERS), draw.choice("+-*")
        x, y = (some(draw, dtype, (4,)) for _ in range(2))
        target = draw.choice(("x", "x[1:]", "x[::2]", "x[2]", "x[[1, 3]]"))
        names: dict[str, Any] = {"np": np}
        exec(f"x = {x}; y = {y}", names)
        other = {"x": "y", "x[2]": "y[0]"}.get(target, "y[:2]" if "1:" not in target else "x[:-1]")
        exact = eval(
            f"{target} {symbol} {other}",
            {key: names[key].astype(object) for key in ("x", "y")},
        )
        low, high = bounds(dtype)
        truths.append(sum(not low <= int(each) <= high for each in np.atleast_1d(exact)))
        text += [f"x = {x}; y = {y}", f"{target} {symbol}= {other}"]
    found = check("\n".join(text), "integer-wrap")
    counts = dict.fromkeys(range(len(truths)), 0)
    for each in found:
        counts[(each.program.line - 3) // 2] += each.count
    assert [*counts.values()] == truths


FLOATS = ("float16", "float32", "float64")


def test_floats_overflow_underflow_and_become_nan_where_fractions_say_so(check: Any) -> None:
    draw = random.Random(5)
    text, truths = [], []
    for _ in range(400):
        dtype, symbol = draw.choice(FLOATS), draw.choice("+-*/")
        info = np.finfo(dtype)
        few = [
            0.0,
            1.0,
            1.5,
            float(info.max) * 0.75,
            float(info.tiny),
            float(info.eps),
            -3.0,
            np.inf,
        ]
        few += [float(info.tiny) * 2, float(info.max) / 3]
        x, y = (np.array([draw.choice(few) for _ in range(5)], dtype) for _ in range(2))
        with np.errstate(all="ignore"):
            made = eval(f"x {symbol} y", {"x": x, "y": y})
        finite = np.isfinite(x) & np.isfinite(y)
        lost = {
            "overflow": int((np.isinf(made) & finite).sum()),
            "nan-born": int((np.isnan(made) & ~np.isnan(x) & ~np.isnan(y)).sum()),
            "underflow": sum(
                too_small(symbol, *map(float, each), float(info.tiny))
                for each in zip(x, y, made, strict=True)
            ),
        }
        truths.append({kind: count for kind, count in lost.items() if count})
        names = f"x = np.array({x.tolist()}, '{dtype}'); y = np.array({y.tolist()}, '{dtype}')"
        text += [names.replace("inf", "np.inf"), f"r = x {symbol} y"]
    found = check("\n".join(text), "overflow", "nan-born", "underflow")
    told: list[dict[str, int]] = [{} for _ in truths]
    for each in found:
        told[(each.program.line - 3) // 2][each.kind] = each.count
    assert told == truths


def too_small(symbol: str, x: float, y: float, made: float, tiny: float) -> bool:
    """Whether a product or quotient is zero or subnormal, and not exactly so."""
    if symbol in "+-" or not np.isfinite([x, y, made]).all() or abs(made) >= tiny or not x or not y:
        return False
    exact = Fraction(x) * Fraction(y) if symbol == "*" else Fraction(x) / Fraction(y)
    return exact != Fraction(made)


def test_casts_are_out_of_range_where_the_value_does_not_fit(check: Any) -> None:
    draw = random.Random(3)
    text, truths = [], []
    ways = "x.astype({})", "np.asarray(x, dtype={})", "np.array(x, {})", "np.dtype({}).type(x)"
    for _ in range(400):
        target = draw.choice(INTEGERS)
        source = draw.choice((*INTEGERS, "float32", "float64"))
        if source.startswith("float"):
            few = [0.0, -0.5, 1.0, 127.0, 128.0, 255.5, 256.0, -1.0, 40000.0, 2.0**31, 2.0**63]
            x = np.array([draw.choice(few) for _ in range(4)], source)
        else:
            x = eval(some(draw, source, (4,)), {"np": np})
        low, high = bounds(target)
        truths.append(sum(not low <= int(each) <= high for each in x.tolist()))
        way = draw.choice(ways[:3]).format(f"np.{target}")
        text += [f"x = np.array({x.tolist()}, np.{source})", f"r = {way}"]
    found = check("\n".join(text), "cast-out-of-range")
    counts = dict.fromkeys(range(len(truths)), 0)
    for each in found:
        counts[(each.program.line - 3) // 2] += each.count
    assert [*counts.values()] == truths


# -- what programs do with numbers ----------------------------------------------------------------


def test_counts_and_averages_that_stand_still_are_absorbed(check: Any) -> None:
    found = check("""\
steps = np.zeros(2, np.float16)
mean = np.float32(16777216)
total = np.float32(0)
for _ in range(3000):
    steps += 1
    mean = mean + np.float32(1)
    total += np.float32(0.5)
""")
    assert told(found) == [("absorbed", 6), ("absorbed", 5)]
    assert [(each.passes, each.total, each.first) for each in found] == [
        (2999, 3000, 2),
        (952, 3000, 2049),
    ]


def test_sums_of_narrow_floats_that_numpy_adds_one_by_one_stand_still(check: Any) -> None:
    """Not those that it adds in float32: of the last axis, and of a mean."""
    found = check("""\
import ml_dtypes
x = np.ones((5000, 2), np.float16)
down = np.sum(x, axis=0)
kept = x.sum((0,), keepdims=True)
along = x[:, 0].copy().sum()
mean = x.mean(axis=0)
wide = x.sum(axis=0, dtype=np.float32)
few = x[:100].sum(axis=0)
half = np.ones(1000, ml_dtypes.bfloat16).sum()
folded, told = np.add.reduce(x), np.nansum(x, axis=0)
assert (down == 2048).all() and half == 256 and along == 5000
""")
    assert told(found) == [("absorbed", line) for line in (3, 4, 9, 10, 10)]
    counts = [(each.count, each.of) for each in found]
    assert counts == [(5904, 9998), (5904, 9998), (744, 999), (5904, 9998), (5904, 9998)]


def test_updates_that_together_are_less_than_a_digit_are_not_told(check: Any) -> None:
    found = check("""\
total, kept = np.ones(2), np.ones(2)
for n in range(60):
    total += np.full(2, 1e-30 if n % 10 == 0 else 0.5)
    kept += np.full(2, 1e-16)
""")
    assert told(found) == [("absorbed", 4)]


def test_sums_that_begin_anew_have_each_absorbed_little(check: Any) -> None:
    found = check("""\
rows = np.exp(-np.add.outer((np.arange(40.0) - 20) ** 2, (np.arange(40.0) - 17) ** 2) / 2)
for _ in range(3):
    s = sum([sum(row) for row in rows])
running = np.cumsum(rows.ravel())
""")
    assert told(found) == []
    found = check("""\
for _ in range(3):
    total = np.float32(2.0**24)
    for n in range(1000):
        total = total + np.float32(0.9)
""")
    assert told(found) == [("absorbed", 4)]


def test_a_sum_of_python_wraps_at_its_line(check: Any) -> None:
    (found,) = check("""\
parts = [np.array([200, 1], np.uint8), np.array([100, 1], np.uint8)]
whole = sum(parts)
""")
    assert (found.kind, found.program.expression, found.total) == ("integer-wrap", "sum(parts)", 2)
    assert found.loss.example.given == ("200", "100")


def test_passes_are_counted_with_those_in_which_nothing_was_lost(check: Any) -> None:
    (found,) = check("""\
x = np.array([0, -106], np.int8)
for k in range(4):
    x[k % 2] += 100
""")
    assert (found.passes, found.total, found.first) == (1, 4, 3)
    assert check.examined == 5


def test_parts_that_share_memory_are_looked_at_as_they_were(check: Any) -> None:
    assert not check("""\
x = np.array([1, 3, 6], np.uint8)
x[1:] -= x[:-1]
x += x
x[:] -= x
""")


STORES = {
    "x[:] = np.array([300.5, 2])": 1,
    "x[0] = np.float64(1.5)": 0,
    "np.copyto(x, np.array([400, 500]), casting='unsafe')": 2,
    "np.put(x, [0], np.array([300]))": 1,
    "x.fill(np.int64(3))": 0,
    "x[:] = [1, 2]": 0,
    "x[0] = 100": 0,
}


@pytest.mark.parametrize(("text", "count"), STORES.items())
def test_stores_cast_what_they_store(check: Any, text: str, count: int) -> None:
    found = check(f"x = np.zeros(2, np.int8)\n{text}\n")
    assert sum(each.count for each in found) == count
    assert all(each.kind == "cast-out-of-range" for each in found)


CASTS = {
    "np.float32(16777217)": "digits-lost",
    "np.array([16777217, 3], dtype=np.float32)": "digits-lost",
    "np.array([1700000000.25, 1700000001.5]).astype(np.float32)": "digits-lost",
    "np.array([2**53 + 1, 5]) / 2": "digits-lost",
    "np.concatenate([np.array([2**53 + 1]), np.array([0.5])])": "digits-lost",
    "np.where([True], np.array([2**53 + 1]), np.nan)": "digits-lost",
    "np.float16(1e6)": "cast-out-of-range",
    "np.arange(300, dtype=np.uint8)": "cast-out-of-range",
    "np.arange(4096, dtype=np.float16)": "digits-lost",
    "np.arange(2048, dtype=np.float16)": "",
    "np.arange(0.0, 2000.0, 0.5, dtype=np.float16)": "",
    "np.stack([1.7e9 + np.arange(99) / 2, np.ones(99)]).astype(np.float32)": "digits-lost",
    "np.stack([1.7e9 + np.arange(9) * 1e5 + 0.5, np.ones(9)]).astype(np.float32)": "",
    "np.array([1e12, 2e13, 3.5e14, -1.5]).astype(np.float32)": "",
    "np.full(2, 300.5, dtype=np.uint8)": "cast-out-of-range",
    "np.uint8(np.int64(300))": "cast-out-of-range",
    "np.float32(0.1)": "",
    "np.array([0.1, 1e-3, 5.0]).astype(np.float32)": "",
    "np.array([1, 2, 3], dtype=np.float32)": "",
    "np.arange(200, dtype=np.uint8)": "",
    "np.array(['2020-01-01'], dtype='datetime64[D]') + 3000": "",
    "np.array([1, 'a', None], dtype=object)": "",
    "np.array(['1', '2']).astype(np.int8)": "",
}


@pytest.mark.parametrize(("text", "kind"), CASTS.items())
def test_casts_lose_range_or_digits(check: Any, text: str, kind: str) -> None:
    assert [each.kind for each in check(f"r = {text}\n")] == ([kind] if kind else [])


MEANT = {
    "errstate": """\
with np.errstate(over="ignore"):
    h = np.uint64(2**63) * np.uint64(3)
with np.errstate(divide="ignore", invalid="ignore"):
    ratio = np.array([1.0, 0.0]) / 0.0
""",
    "fnv": """\
def fnv1a(data):
    h = np.uint32(2166136261)
    for byte in data:
        h = (h ^ np.uint32(byte)) * np.uint32(16777619)
    return h
fnv1a(b"promoarray")
""",
    "low bits": """\
x = np.arange(250, 260).astype(np.int64)
packed = (x.astype(np.uint16) * np.uint16(300)) & np.uint16(0xFF)
""",
    "crc": """\
def crc(data, table):
    c = np.uint32(0xFFFFFFFF)
    for byte in data:
        c = table[int((c ^ np.uint32(byte)) & np.uint32(0xFF))] ^ (c >> np.uint32(8))
    return ~c
crc(b"abc", (np.arange(256, dtype=np.uint32) * np.uint32(3988292384)) & np.uint32(0xFFFFFFFF))
""",
    "generator": """\
rng_state = np.uint64(42)
for _ in range(3):
    rng_state = rng_state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
""",
    "known multipliers": """\
state = np.uint64(42)
mixed = np.arange(3, dtype=np.uint32) + np.uint32(7)
for _ in range(3):
    state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
mixed *= np.uint32(0x85EBCA6B)
""",
    "modular exponentiation": """\
def power(base, exponent, modulus):
    result = np.int64(1)
    while exponent:
        if exponent & 1:
            result = result * base % modulus
        base = base * base % modulus
        exponent >>= 1
    return result
power(np.int64(123456), 77, np.int64(1000000007))
""",
    "missing": """\
x = np.array([1.0, np.nan, 3.0])
y = x - x.mean()
z = np.nanmean(x) - np.nan
low = np.inf
for each in (3.0, 2.0):
    low = min(low, np.float64(each))
""",
    "where": """\
x = np.array([1.0, 0.0])
y = np.where(x > 0, 1 / x, 0)
z = np.divide(1.0, x, out=np.zeros(2), where=x > 0)
""",
    "masked": """\
x = np.ma.array([250, 3], mask=[True, False], dtype=np.uint8) + np.uint8(10)
y = np.ma.array([0.0, 1.0], mask=[True, False])
z = 1 / y
""",
    "random": """\
rng = np.random.default_rng(0)
x = rng.normal(size=100).astype(np.float32)
np.random.seed(0)
y = np.random.rand(3) * np.random.randint(0, 2**31 - 1, 3)
""",
    "distances": """\
a = np.array([3, 250], np.uint8)
b = np.array([250, 3], np.uint8)
d = np.abs(a.astype(np.int16) - b)
e = np.maximum(a, b) - np.minimum(a, b)
""",
}


@pytest.mark.parametrize("text", MEANT.values(), ids=MEANT)
def test_what_programs_mean_is_not_told(check: Any, text: str) -> None:
    assert told(check(text)) == []


BITS = {
    # the bits of what wraps are taken further down, or are not: the lines that are told
    "djb2": ("""\
h = np.uint32(5381)
for c in b"a rather long name":
    h = (h << np.uint32(5)) + h + np.uint32(c)
print(h % np.uint32(97))
""", []),
    "rotation": ("x = np.uint32([2**31])\ny = (x << np.uint32(5)) | (x >> np.uint32(27))\n", []),
    "bits that are counted": ("""\
v = np.arange(2**31, 2**31 + 9, dtype=np.uint32)
c = ((v & np.uint32(0x0F0F0F0F)) * np.uint32(0x01010101)) >> 24
""", []),
    "bytes of a word": ("x = np.arange(999, 1003)\ny = ((x >> 1) ^ x).astype(np.uint8)\n", []),
    "the other difference": ("""\
a, b = np.array([9, 1], np.uint8), np.array([1, 9], np.uint8)
d = np.where(a > b, a - b, b - a)
""", []),
    "a sum that saturates": ("""\
a, b = np.array([200, 1], np.uint8), np.array([100, 2], np.uint8)
s = a + b
s[s < a] = 255
""", []),
    "a comparison": ("a = np.array([200], np.uint8)\nb = a + a\nc = b < np.uint8(9)\n", [2]),
    "an average": ("a = np.array([200, 1], np.uint8)\nm = (a + a) >> 1\n", [2]),
    "a modulus": ("a = np.array([2**40])\nm = a * a % 1000000007\n", [2]),
    "a modulus by name": ("a, p = np.array([2**40]), 1000000007\nq = a * a\nm = q % p\n", [2]),
    "a result": ("a = np.array([200, 1], np.uint8)\nb = a + a\nm, big = b & 7, b > 9\n", [2]),
}  # fmt: skip


@pytest.mark.parametrize(("text", "lines"), BITS.values(), ids=BITS)
def test_bits_that_are_taken_of_what_wraps(check: Any, text: str, lines: list[int]) -> None:
    found = [x for x in check(text) if not meant(x, flow=check.flow)]
    assert [each.program.line - 1 for each in found] == lines


def test_what_underflows_beside_a_number_is_no_loss(check: Any) -> None:
    found = check("""\
for n in range(820, 850):
    c = 1 - np.float32(0.9) ** np.float32(n)
    d = 2 * np.float32(0.9) ** np.float32(n)
""")
    told = [x.program.line - 1 for x in found if not meant(x, flow=check.flow)]
    assert set(told) == {3}


def test_updates_that_vanish_as_they_converge(check: Any) -> None:
    found = check("""\
w, e = np.ones(3), np.ones(3, np.float16)
for _ in range(900):
    w -= 0.1 * (w - 0.5)
    e = e + 0.001 * (3 - e)
""")
    told = [x.program.line - 1 for x in found if not meant(x, flow=check.flow)]
    assert told == [4]  # far from 3


def test_numbers_of_other_byte_orders_matrices_and_ufuncs(check: Any) -> None:
    found = check("""\
a = np.array([200, 100], '>i2') * 300
b = np.matrix([[100, 100]], dtype=np.int8) * np.matrix([[2], [2]], dtype=np.int8)
c = np.zeros(1, np.uint8)
np.add.at(c, [0, 0], np.uint8(200))
d = np.einsum("i,i", np.array([100, 100], np.int8), np.array([2, 2], np.int8))
e = np.convolve(np.array([20000, 20000], np.int16), np.array([2, 3], np.int16))
f = np.subtract(c, 255, where=[False], out=np.zeros(1, np.uint8))
""")
    assert told(found) == [("integer-wrap", line) for line in (1, 2, 4, 5, 6)]
    assert [each.loss.example.exact for each in found] == ["60000", "400", "400", "400", "40000"]


def test_blocks_of_several_shapes_are_looked_at(check: Any) -> None:
    found = check("""\
q = np.full((2, 2), 1e300)
a = np.block([[np.eye(1), np.zeros((1, 2))], [np.zeros((2, 1)), q]])
b = np.block([q, q]) * q.max()
c, d = np.block(q), np.block(5)
""")
    assert told(found) == [("overflow", 3)]


def test_other_numbers_of_a_line_are_no_excuse(check: Any) -> None:
    assert told(check("x = np.array([250], np.uint8) * 31\n")) == [("integer-wrap", 1)]


def test_of_what_where_chooses_from_only_that_counts_which_it_chooses(check: Any) -> None:
    found = check("""\
a = np.array([200, 10, 150], np.uint8)
b = np.where(a + a > 100, a, 0)
c = np.where(a > 100, 255, a + a)
d = np.where(a > 199, 255, a + a)
for n in range(4):
    e = np.where(a > 100 + 25 * n, a + a, 0)
""")
    assert told(found) == [("integer-wrap", 2), ("integer-wrap", 4), ("integer-wrap", 6)]
    assert [each.count for each in found] == [2, 1, 2 + 2 + 1 + 1]
    assert [each.loss.example.given[0] for each in found] == ["200", "150", "200"]


def test_only_what_is_asked_for_is_told(check: Any) -> None:
    text = "x = np.array([250.0, 1e300]) * 1e300\ny = np.array([250], np.uint8) * 2\n"
    assert told(check(text, "integer-wrap")) == [("integer-wrap", 2)]
    assert told(check(text, "overflow")) == [("overflow", 1)]


def test_results_in_more_digits(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    text = (
        "import numpy as np\nx = np.full(5000, 0.1, np.float16)\ny = np.cumsum(x)\nz = np.max(x)\n"
    )
    path.write_text(text)
    checks = Checks(Asked(frozenset({"unstable"}), shadow="float32"))
    home = as_policy("numpy")
    recorded_run(str(path), Recorder(home, (home,), framework="numpy", checks=checks))
    assert [(each.kind, each.program.line) for each in checks.found()] == [("unstable", 3)]


AGAIN = {
    # what NumPy adds and multiplies inside of its functions: the exact result
    "np.convolve(b, b)": 40000,
    "np.correlate(b, b)": 62500,
    "np.einsum('i,i', b, b)": 62500,
    "np.cross(t[:3], t[1:])[0]": None,
    "np.inner(b.reshape(1, 2), b)": 62500,
    "np.kron(b, b)": 40000,
    "np.linalg.matrix_power(np.array([[100, 0], [0, 1]], np.int8), 2)": 10000,
    "np.linalg.multi_dot([b.reshape(1, 2), b.reshape(2, 1), b.reshape(1, 2)])": 12500000,
    "np.polyval(b, np.uint8(3))": 750,
    "np.polysub(b, b[::-1] + np.uint8(1))": -51,
    "np.ptp(np.array([-100, 100], np.int8))": 200,
    "np.lcm(b, np.uint8(3))": 600,
    "np.vander(np.array([2**33]), 3)": 2**66,
    "np.dot(w, w)": 2**125,
    "np.einsum('i,i', w, w)": 2**125,
    "np.convolve(w, np.array([1, 1]))": 2**63,
    "np.cumsum(w)": 2**63,
    "np.cumsum(b, dtype=np.uint8)": 350,
    "np.cumulative_sum(b, include_initial=True, dtype=np.uint8)": 350,
    "np.sum(b, dtype=np.uint8, initial=100)": 450,
    "np.mean(b, dtype=np.uint8)": 350,
    "np.add.reduceat(b, [0], dtype=np.uint8)": 350,
    "np.multiply.accumulate(b, dtype=np.uint8)": 30000,
    "np.subtract.reduce(b[::-1], dtype=np.uint8)": -50,
    "np.multiply.outer(b, b)": 40000,
    "np.add.at(b, [0, 0], np.uint8(100))": 400,
    "np.subtract.at(w, [0], np.array([-(2**62)]))": 2**63,
    "np.multiply.at(w, [0, 0], 4)": 2**66,
    "np.pad(t, 1, mode='reflect', reflect_type='odd')": 203,
    "np.power.reduce(b[:1].repeat(2) // np.uint8(20))": 10**10,
    "np.trapezoid(b)": "175.0",
    "np.trapezoid(b, dx=0.5)": "87.5",
    "np.divmod(np.array([-128], np.int8), np.int8(-1))": 128,
    "b.__add__(b)": 400,
    "b.__rsub__(np.uint8(1))": -199,
}


@pytest.mark.parametrize(("text", "exact"), AGAIN.items(), ids=AGAIN)
def test_what_wraps_inside_of_functions(check: Any, text: str, exact: object) -> None:
    arrays = "b = np.array([200, 150], np.uint8)\nw = np.array([2**62, 2**62])\n"
    arrays += "t = np.array([100, -3, 90, 7], np.int8)\n"
    found = check(f"{arrays}r = {text}\n")
    assert [each.kind for each in found] == ["integer-wrap"]
    assert exact is None or found[0].loss.example.exact == str(exact)


def test_operators_called_by_name_do_what_they_do(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import numpy as np, warnings; warnings.simplefilter('ignore')\n"
        "class Own(np.ndarray):\n    __array_priority__ = 9\n"
        "    def __radd__(self, x): return 'own'\n"
        "others = True, 300, 1.5, 1j, np.array([1, 2]), np.arange(2).view(Own), np.int8(2), 'x'\n"
        "for T in np.bool_, np.int8, np.uint64, np.float32, np.float64, np.complex64:\n"
        "    for x in T(1), np.array([1], T):\n"
        "        for n in 'add radd rsub mul floordiv pow rpow eq lt lshift divmod neg'.split():\n"
        "            for args in [(), *((y,) for y in others)]:\n"
        "                try: print(repr(getattr(x, f'__{n}__')(*args)))\n"
        "                except Exception as e: print(type(e), e)\n"
    )
    bare = subprocess.run([sys.executable, program], capture_output=True, text=True, check=True)
    ran = [sys.executable, "-m", "promoarray", "check", "--no-edit", str(program)]
    said = subprocess.run(ran, capture_output=True, text=True, check=False).stdout
    assert said.startswith(bare.stdout)
    assert "__add__ at program.py" in said  # of scalars, which are not examined there


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("np.pad(b, 1, constant_values=256)", "cast-out-of-range"),
        ("np.pad(b, 1, mode='linear_ramp', end_values=300)", "cast-out-of-range"),
        ("np.pad(b.astype(np.float32), 1, constant_values=1e300)", "cast-out-of-range"),
        ("np.pad(b, 1, constant_values=(3, 255))", ""),
        ("np.array([1e300, -1e300]).astype(np.float32)", "cast-out-of-range"),
        ("np.array([np.inf, 1e300]).astype(np.float16)", "cast-out-of-range"),
    ],
)
def test_borders_are_cast(check: Any, text: str, kind: str) -> None:
    found = check(f"b = np.array([1, 2], np.uint8)\nr = {text}\n")
    assert [each.kind for each in found] == [kind] * bool(kind)


def test_what_fits_inside_of_functions(check: Any) -> None:
    assert not check("""\
x = np.arange(500, dtype=np.int64)
r = np.convolve(x, x), np.dot(x, x), np.kron(x[:9], x[:9])
p = np.linalg.matrix_power(x[:4].reshape(2, 2), 9)
s = np.cross(x[:3], x[3:6]), np.einsum("i,j->ij", x, x), np.ptp(x - 3), np.polyval(x[:5], x[:5])
np.add.at(x, [0, 0], 2**61)
np.subtract.at(x, [0, 0, 0], 2**61)
u = np.array([3, 9], np.uint8)
t = np.ptp(u), np.polysub(u, u), np.add.reduceat(u, [0]), np.lcm(u, u)
v = np.trapezoid(u), np.pad(u, 1), u.__add__(u), np.trapezoid(x / 2), divmod(u, u)
""")
