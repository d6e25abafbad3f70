"""The numbers that programs are made of: ordinary ones, and those at the edges of the dtypes."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

import ml_dtypes

from programs.answers import number
from programs.frameworks import storage

INTEGERS = {
    **{f"{sign}int{bits}": (bits, not sign) for sign in ("", "u") for bits in (2, 4, 8, 16, 32, 64)}
}
ORDINARY_INTS = (0, 1, 2, 3, 5, 7, -1, -2, -3, -7, 10, 50, 100)
EDGE_INTS = (
    *(127, 128, 200, 254, 255, 256, 300, -128, -129, -300, 1000, 2049, 32767, 32768, 65535, 65536),
    *(70000, 2**24 + 1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 + 1, 2**63 - 1, 2**63),
    *(2**64 - 1, 2**64, -32769, -(2**31), -(2**31) - 1, -(2**63), -(2**63) - 1, 10**20, -(10**20)),
)
ORDINARY_FLOATS = (0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.7, -0.5, -1.0, -2.5, -7.0, 0.1, 10.0)
EDGE_FLOATS = (
    *(-0.0, float("inf"), -float("inf"), float("nan"), 65504.0, 65519.0, 65520.0, 1e5, -1e5, 300.7),
    *(
        127.5,
        128.5,
        -128.9,
        -0.9,
        255.9,
        2.0**31,
        2.0**63,
        3.4e38,
        1e39,
        -1e39,
        1e300,
        448.0,
        465.0,
    ),
)
ORDINARY_COMPLEX = (1j, 2 + 0j, 1 + 2j, -0.5j, 0j, 3 - 1j)
EDGE_COMPLEX = (complex("inf"), complex("nan+1j"), complex("1+infj"), 1e39 + 0j, 1e300j, -0.0 + 1j)


def scalar(random: Random, kinds: Sequence[str], *, plain: float = 0.6) -> str:
    """A Python scalar of one of some kinds, as it is written."""
    kind, ordinary = random.choice(kinds), random.random() < plain
    if kind == "bool":
        return random.choice(("True", "False"))
    values = {
        "int": ORDINARY_INTS if ordinary else EDGE_INTS,
        "float": ORDINARY_FLOATS if ordinary else EDGE_FLOATS,
        "complex": ORDINARY_COMPLEX if ordinary else EDGE_COMPLEX,
    }[kind]
    return written(random.choice(values))


def written(value: complex) -> str:
    """A Python scalar as code: a complex one with parts that no literal has by ``complex()``."""
    if isinstance(value, complex):
        return f"complex({number(value.real)}, {number(value.imag)})"
    return number(value)


def values(random: Random, dtype: str, count: int, *, plain: bool) -> list[str]:
    """The values of an array, as they are written."""
    return [_value(random, dtype, plain=plain or random.random() < 0.5) for _ in range(count)]


def _value(random: Random, dtype: str, *, plain: bool) -> str:
    if dtype == "bool":
        return random.choice(("True", "False"))
    if dtype in INTEGERS:
        bits, signed = INTEGERS[dtype]
        low, high = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
        edges = (low, high, high, low + 1, high - 1, *(e for e in EDGE_INTS if low <= e <= high))
        near = [v for v in ORDINARY_INTS if low <= v <= high]
        return str(random.choice(near if plain else edges))
    if dtype.startswith("complex"):
        part = [_value(random, "float64", plain=plain or random.random() < 0.7) for _ in "ab"]
        if plain or random.random() < 0.7:
            narrow = dtype != "complex128" and any(1e38 < abs(float(p)) < 1e308 for p in part)
            return "complex(1.0, -0.0)" if narrow else f"complex({part[0]}, {part[1]})"
        return written(random.choice(EDGE_COMPLEX))
    largest = float(ml_dtypes.finfo(storage(dtype)).max)
    held = [v for v in EDGE_FLOATS if abs(v) <= largest or v != v or abs(v) == float("inf")]
    edges = (*held, largest, -largest, largest / 2)
    return number(random.choice(ORDINARY_FLOATS if plain else edges))
