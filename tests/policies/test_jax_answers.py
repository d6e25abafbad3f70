"""What JAX 0.10.2 answers on the CPU, outside of jit: values and refusals that no table says."""

from __future__ import annotations

import pytest
from programs.compare import difference
from programs.ours import Ours, array

ANSWERS = """
# One integer exponent: x's dtype, and multiplications.
a("int8", 3) ** n("int64", 2)  ->  int8 (1,) 9
a("int8", 3) ** a("int64", 2)  ->  int64 (1,) 9
a("uint8", 3) ** n("int8", 120)  ->  uint8 (1,) 97
a("bool", 1) ** n("int64", 2)  ->  int32 (1,) 1
a("bool", 1) ** asarray(2)  ->  int32 (1,) 1
0 ** n("uint8", 50)  ->  int64* () 0
2.5 ** n("int8", 1)  ->  float64* () 2.5
a("int8", 3) ** 200  ->  int8 (1,) -95
a("int8", 3) ** 2**64  ->  int8 (1,) 1
a("int8", 3) ** n("int64", -1)  ->  !
a("uint64", 3) ** n("uint4", 1)  ->  !
a("float64", 0.1) ** 50  ->  float64 (1,) 1.0000000000000052e-50
a("float32", 2.0) ** n("int64", -1)  ->  float32 (1,) 0.5
pow(a("complex64", complex(nan, 1.0)), True)  ->  complex64 (1,) nan+1.0j
a("complex128", inf) ** 2.5  ->  complex128 (1,) inf+0.0j
a("complex128", 0.0) ** (1 + 2j)  ->  complex128 (1,) nan+nanj
a("complex128", nan) ** 0j  ->  complex128 (1,) 1.0+0.0j
# A divisor with fewer elements is a factor, and a bool array selects.
a("float64", 5.0, 5.0) / -3.0  ->  float64 (2,) -1.6666666666666665 -1.6666666666666665
a("float64", 5.0) / -3.0  ->  float64 (1,) -1.6666666666666667
a("float16", 95.5, 20.0) / 3.7  ->  float16 (2,) 25.8125 5.40625
a("bool", 0, 1) * nan  ->  float64* (2,) 0.0 nan
a("float32", nan) * a("bool", 0)  ->  float32 (1,) 0.0
a("float32", nan, nan) * n("bool", 0)  ->  float32 (2,) nan nan
a("bool", 0, 1) / -2  ->  float64* (2,) 0.0 -0.5
a("bfloat16", nan) * a("bool", 0)  ->  bfloat16 (1,) nan
a("float32", -0.0) // 10  ->  float32 (1,) 0.0
a("float32", -7.0) % 7.0  ->  float32 (1,) -0.0
a("int64", 7) % -7.0  ->  float64* (1,) 0.0
# Integers promote before they become floats, and with one bound after the other.
atan2(-2, a("uint8", 3))  ->  float32 (1,) 1.5589858293533325
clip(a("uint8", 10, 254), -3, a("int32", 2049, 255))  ->  int32 (2,) 253 254
clip(a("float16", 0.0), 0.1, a("float64", 1.0))  ->  float64 (1,) 0.0999755859375
# Complex numbers.
all(a("complex64", 1j))  ->  bool () False
any(a("complex64", 1j))  ->  bool () False
argmax(a("complex64", 1j))  ->  !
maximum(a("complex64", nan), a("complex64", 1.0))  ->  complex64 (1,) 1.0+0.0j
maximum(a("complex64", 1.0), a("complex64", nan))  ->  complex64 (1,) nan+0.0j
imag(logaddexp(a("complex128", -7j), -7j))  ->  float64 (1,) -0.7168146928204138
greater(True, a("complex128", complex(-inf, nan)))  ->  bool (1,) True
a("complex64", 1j) <= a("complex64", 1j)  ->  bool (1,) True
expm1(a("complex128", complex(inf, 0.0)))  ->  complex128 (1,) inf+0.0j
# Lines are weighed ends, in the dtype of a quotient, every step as XLA rounds it.
imag(linspace(3, 1 + 1j, 4))  ->  float64 (4,) 0.0 0.3333333333333333 0.6666666666666666 1.0
real(linspace(3, 1 + 1j, 4))  ->  float64 (4,) 3.0 2.3333333333333335 1.6666666666666667 1.0
linspace(300, 3, 9, dtype=int8)  ->  int8 (9,) 127 127 127 127 127 114 77 40 3
linspace(1e8, 2.5, 3, dtype=int32)  ->  int32 (3,) 100000000 50000000 2
linspace(1e8, 2.5, 5, dtype=int32)  ->  int32 (5,) 100000000 75000000 50000000 25000002 2
linspace(3, 0.7, 5, dtype=float8_e4m3fn)  ->  float8_e4m3fn (5,) 3.0 2.5 1.875 1.25 0.6875
linspace(inf, 1, 1)  ->  float64 (1,) inf
# With no degree of freedom left a variance is unknown.
var(a("float64", 1.0, 3.0), correction=2)  ->  float64 () nan
std(a("int8", 1, 3), correction=2.5)  ->  float32 () nan
# Numbers that are stored.
full((1,), -1, dtype=uint32)  ->  uint32 (1,) 4294967295
full_like(a("int8", 1), 300)  ->  int8 (1,) 44
full((1,), 2**63)  ->  int64* (1,) -9223372036854775808
full((1,), 2**64)  ->  !
full((1,), 1e39, dtype=int8)  ->  int8 (1,) 127
full((1,), nan, dtype=int8)  ->  int8 (1,) 0
full((1,), complex(inf, 1.0), dtype=uint16)  ->  uint16 (1,) 65535
full((1,), 1j, dtype=bool)  ->  bool (1,) True
full((1,), 1j, dtype=int8)  ->  !
asarray(8, dtype=int4)  ->  int4 () -8
asarray(8.5, dtype=int4)  ->  !
asarray(300, dtype=int8)  ->  !
asarray(1j, dtype=float32)  ->  !
arange(-2, 1, dtype=uint8)  ->  uint8 (3,) 254 255 0
arange(-1.5, 300, 100, dtype=uint4)  ->  uint4 (4,) 0 4 8 12
arange(2, dtype=bool)  ->  !
linspace(-1.5, 1, 2, dtype=uint64)  ->  uint64 (2,) 0 1
linspace(1j, 5, 2, dtype=bool)  ->  bool (2,) False True
linspace(True, True, 1)  ->  float32 (1,) 1.0
# Assignment promotes both sides and casts all of x back.
setitem(a("int8", 1, 2), 0, 300)  ->  int8 (2,) 44 2
setitem(a("float64", 1.0, 2.0), 0, 1j)  ->  float64 (2,) 0.0 2.0
setitem(a("bool", 1, 1), 0, 1j)  ->  bool (2,) False True
setitem(a("uint8", 1, 2), 0, -1.5)  ->  uint8 (2,) 0 2
setitem(a("int8", 1, 2), 0, nan)  ->  int8 (2,) 0 2
setitem(a("int32", 1, 1000), 0, n("float8_e5m2", 0.5))  ->  int32 (2,) 0 1024
setitem(a("uint64", 1, 2), 0, n("int8", -127))  ->  uint64 (2,) 0 2
setitem(a("int64", 1, 2**53 + 1), 0, 0.5)  ->  int64 (2,) 0 9007199254740992
setitem(a("int64", 1, 2**53 + 1), a("bool", 0, 0), 0.5)  ->  int64 (2,) 1 9007199254740993
setitem(a("int4", 1), 0, 0.5)  ->  !
setitem(a("float8_e5m2", 1.0), 0, 1j)  ->  !
setitem(a("int4", 1), 0, n("uint16", 1))  ->  !
setitem(a("complex64", 1.0), 0, n("float8_e5m2", 1.0))  ->  !
setitem(a("float32", 1.0), 0, 2**63)  ->  !
"""
"""Expressions with what JAX answers, "!" where it raises; ``n`` makes an array of no axes."""

ROWS = [line.split("  ->  ") for line in ANSWERS.splitlines() if "->" in line]

OURS = Ours("jax@x64")
OURS.names |= {
    "a": lambda dtype, *values: array(dtype, list(values), (-1,)),
    "n": lambda dtype, value: array(dtype, [value], ()),
}


@pytest.mark.parametrize(("expression", "answer"), ROWS)
def test_answers_of_jax(expression: str, answer: str) -> None:
    program = f"y = {expression}"
    (ours,) = OURS(program)
    if answer == "!":
        assert ours.startswith("!")
        assert not ours.startswith("!!")
    else:
        assert not ours.startswith("!"), ours
        assert difference(program, [answer], [ours]) is None, ours


def test_an_exponent_without_axes_is_kept_apart_from_others() -> None:
    x, n, m = OURS('x = a("int8", 3)\ny = x ** n("int64", 2)\nz = x ** a("int64", 2)')
    again = OURS('y = a("int8", 3) ** n("int64", 2)')
    assert [x, n, m, *again] == ["int8 (1,) 3", "int8 (1,) 9", "int64 (1,) 9", "int8 (1,) 9"]
