"""Arithmetic on complex numbers, as the frameworks answered, and signs of zeros."""

from __future__ import annotations

import numpy as np
import pytest

import promoarray as pa

# JAX 0.10.2, PyTorch 2.13.0 and Paddle 3.3.1 on x86-64 with fused multiply-adds, for 64 elements:
# PyTorch rounds the last few of an array, which fill no vector, as its compiler likes. The second
# operand is printed though an expression may not have it.
ANSWERS = """
jax 64  x + y  2.04-2.56j  0.42-0.57j  ->  2.46-3.1299999j
jax 64  x + y  inf+2.0j  1.0-3.0j  ->  inf-1.0j
jax 64  x + y  2.5-1.0j  0.0-0.0j  ->  2.5-1.0j
jax 64  x - y  -0.28-0.67j  -1.06-0.39j  ->  0.78-0.28000003j
jax 64  x - y  inf+2.0j  1.0-3.0j  ->  inf+5.0j
jax 64  x - y  2.5-1.0j  0.0-0.0j  ->  2.5-1.0j
jax 64  x * y  -0.18+0.54j  1.94-0.27j  ->  -0.20340002+1.0962001j
jax 64  x * y  inf+2.0j  1.0-3.0j  ->  inf-infj
jax 64  x * y  2.5-1.0j  0.0-0.0j  ->  0.0-0.0j
jax 64  x / y  -2.83+1.02j  -0.96-1.67j  ->  0.27311683-1.5376095j
jax 64  x / y  inf+2.0j  1.0-3.0j  ->  inf+infj
jax 64  x / y  2.5-1.0j  0.0-0.0j  ->  inf-infj
jax 64  x**3  0.19+1.11j  -0.21-0.93j  ->  -0.69543797-1.2474179j
jax 64  x**3  inf+2.0j  1.0-3.0j  ->  nan+infj
jax 64  x**3  2.5-1.0j  0.0-0.0j  ->  8.125-17.75j
jax 64  x**-1  -1.64+0.06j  -0.96+0.76j  ->  -0.608941-0.02227833j
jax 64  x**-1  inf+2.0j  1.0-3.0j  ->  0.0+0.0j
jax 64  x**-1  2.5-1.0j  0.0-0.0j  ->  0.34482756+0.13793103j
jax 64  3 / x  1.59-1.19j  0.35-1.05j  ->  1.2093707+0.9051266j
jax 64  3 / x  inf+2.0j  1.0-3.0j  ->  0.0+0.0j
jax 64  3 / x  2.5-1.0j  0.0-0.0j  ->  1.0344827+0.41379312j
jax 64  square(x)  0.35-0.64j  -0.8-0.8j  ->  -0.2871-0.44799998j
jax 64  square(x)  inf+2.0j  1.0-3.0j  ->  inf+infj
jax 64  square(x)  2.5-1.0j  0.0-0.0j  ->  5.25-5.0j
jax 64  reciprocal(x)  -0.0+1.21j  0.76+0.22j  ->  0.0-0.82644624j
jax 64  reciprocal(x)  inf+2.0j  1.0-3.0j  ->  0.0+0.0j
jax 64  reciprocal(x)  2.5-1.0j  0.0-0.0j  ->  0.34482756+0.13793103j
jax 128  x + y  0.22+2.55j  1.5+1.5j  ->  1.72+4.05j
jax 128  x + y  inf+2.0j  1.0-3.0j  ->  inf-1.0j
jax 128  x + y  2.5-1.0j  0.0-0.0j  ->  2.5-1.0j
jax 128  x - y  -0.98-0.8j  0.04+0.64j  ->  -1.02-1.44j
jax 128  x - y  inf+2.0j  1.0-3.0j  ->  inf+5.0j
jax 128  x - y  2.5-1.0j  0.0-0.0j  ->  2.5-1.0j
jax 128  x * y  -0.19-0.81j  1.5+0.66j  ->  0.24960000000000007-1.3404j
jax 128  x * y  inf+2.0j  1.0-3.0j  ->  inf-infj
jax 128  x * y  2.5-1.0j  0.0-0.0j  ->  0.0-0.0j
jax 128  x / y  -0.56-1.17j  -1.34+0.52j  ->  0.06873184898354312+0.8998063891577928j
jax 128  x / y  inf+2.0j  1.0-3.0j  ->  inf+infj
jax 128  x / y  2.5-1.0j  0.0-0.0j  ->  inf-infj
jax 128  x**3  -0.78-0.48j  -0.82-0.33j  ->  0.06458399999999996-0.7655040000000001j
jax 128  x**3  inf+2.0j  1.0-3.0j  ->  nan+infj
jax 128  x**3  2.5-1.0j  0.0-0.0j  ->  8.125-17.75j
jax 128  x**-1  -0.48+0.13j  0.84+1.08j  ->  -1.9409623938536193-0.525677315002022j
jax 128  x**-1  inf+2.0j  1.0-3.0j  ->  0.0+0.0j
jax 128  x**-1  2.5-1.0j  0.0-0.0j  ->  0.3448275862068966+0.13793103448275862j
jax 128  3 / x  1.02+2.18j  -0.03-0.38j  ->  0.5282419555310038-1.128987708879989j
jax 128  3 / x  inf+2.0j  1.0-3.0j  ->  0.0+0.0j
jax 128  3 / x  2.5-1.0j  0.0-0.0j  ->  1.0344827586206897+0.4137931034482759j
jax 128  square(x)  -0.64-0.96j  -0.71-1.19j  ->  -0.5119999999999999+1.2288j
jax 128  square(x)  inf+2.0j  1.0-3.0j  ->  inf+infj
jax 128  square(x)  2.5-1.0j  0.0-0.0j  ->  5.25-5.0j
jax 128  reciprocal(x)  -1.61+0.76j  -1.76+0.65j  ->  -0.5079345048427295-0.23977032526737543j
jax 128  reciprocal(x)  inf+2.0j  1.0-3.0j  ->  0.0+0.0j
jax 128  reciprocal(x)  2.5-1.0j  0.0-0.0j  ->  0.3448275862068966+0.13793103448275862j
torch 64  x + y  -0.13-0.19j  -0.83-0.19j  ->  -0.96-0.38j
torch 64  x + y  inf+2.0j  1.0-3.0j  ->  inf-1.0j
torch 64  x + y  2.5-1.0j  0.0-0.0j  ->  2.5-1.0j
torch 64  x - y  -1.05+0.53j  -0.46-1.77j  ->  -0.5899999+2.3j
torch 64  x - y  inf+2.0j  1.0-3.0j  ->  inf+5.0j
torch 64  x - y  2.5-1.0j  0.0-0.0j  ->  2.5-1.0j
torch 64  x * y  -0.08-0.57j  1.74+0.21j  ->  -0.01950001-1.0086j
torch 64  x * y  inf+2.0j  1.0-3.0j  ->  inf-infj
torch 64  x * y  2.5-1.0j  0.0-0.0j  ->  0.0-0.0j
torch 64  x / y  2.28-0.53j  0.74+0.16j  ->  2.7955337-1.3206558j
torch 64  x / y  inf+2.0j  1.0-3.0j  ->  inf+infj
torch 64  x / y  2.5-1.0j  0.0-0.0j  ->  inf-infj
torch 64  x**3  0.99+0.75j  1.21+0.71j  ->  -0.70032597+1.78335j
torch 64  x**3  inf+2.0j  1.0-3.0j  ->  nan+infj
torch 64  x**3  2.5-1.0j  0.0-0.0j  ->  8.125-17.75j
torch 64  x**-1  0.72+1.9j  -0.21-0.09j  ->  0.17440172-0.46022674j
torch 64  x**-1  inf+2.0j  1.0-3.0j  ->  0.0+0.0j
torch 64  x**-1  2.5-1.0j  0.0-0.0j  ->  0.34482756+0.13793103j
torch 64  3 / x  -0.55+0.2j  -1.53-0.57j  ->  -4.817518-1.7518247j
torch 64  3 / x  inf+2.0j  1.0-3.0j  ->  0.0+0.0j
torch 64  3 / x  2.5-1.0j  0.0-0.0j  ->  1.0344827+0.4137931j
torch 64  square(x)  0.19-1.15j  -1.35+0.37j  ->  -1.2864-0.43699998j
torch 64  square(x)  inf+2.0j  1.0-3.0j  ->  inf+infj
torch 64  square(x)  2.5-1.0j  0.0-0.0j  ->  5.25-5.0j
torch 64  reciprocal(x)  -1.13-1.3j  -0.03+0.88j  ->  -0.38086894+0.43816778j
torch 64  reciprocal(x)  inf+2.0j  1.0-3.0j  ->  0.0+0.0j
torch 64  reciprocal(x)  2.5-1.0j  0.0-0.0j  ->  0.34482756+0.13793103j
torch 128  x + y  -0.48-1.11j  -0.96+0.67j  ->  -1.44-0.44000000000000006j
torch 128  x + y  inf+2.0j  1.0-3.0j  ->  inf-1.0j
torch 128  x + y  2.5-1.0j  0.0-0.0j  ->  2.5-1.0j
torch 128  x - y  -0.78-3.06j  0.79-0.62j  ->  -1.57-2.44j
torch 128  x - y  inf+2.0j  1.0-3.0j  ->  inf+5.0j
torch 128  x - y  2.5-1.0j  0.0-0.0j  ->  2.5-1.0j
torch 128  x * y  -0.08+0.1j  0.84-0.81j  ->  0.01380000000000002+0.14880000000000002j
torch 128  x * y  inf+2.0j  1.0-3.0j  ->  inf-infj
torch 128  x * y  2.5-1.0j  0.0-0.0j  ->  0.0-0.0j
torch 128  x / y  0.13+1.17j  -0.66-0.09j  ->  -0.4306964164976335-1.7139959432048677j
torch 128  x / y  inf+2.0j  1.0-3.0j  ->  inf+infj
torch 128  x / y  2.5-1.0j  0.0-0.0j  ->  inf-infj
torch 128  x**3  -1.19+0.67j  0.26+0.75j  ->  -0.0825859999999996+2.545598j
torch 128  x**3  inf+2.0j  1.0-3.0j  ->  nan+infj
torch 128  x**3  2.5-1.0j  0.0-0.0j  ->  8.125-17.75j
torch 128  x**-1  1.08+0.58j  1.35+0.81j  ->  0.7186585041256321-0.3859462336970987j
torch 128  x**-1  inf+2.0j  1.0-3.0j  ->  0.0+0.0j
torch 128  x**-1  2.5-1.0j  0.0-0.0j  ->  0.3448275862068966+0.13793103448275865j
torch 128  3 / x  -0.94+1.36j  0.16-0.49j  ->  -1.0317576467144738-1.492755744182643j
torch 128  3 / x  inf+2.0j  1.0-3.0j  ->  0.0+0.0j
torch 128  3 / x  2.5-1.0j  0.0-0.0j  ->  1.0344827586206897+0.4137931034482759j
torch 128  square(x)  0.79+1.16j  0.54+0.78j  ->  -0.7214999999999998+1.8328j
torch 128  square(x)  inf+2.0j  1.0-3.0j  ->  inf+infj
torch 128  square(x)  2.5-1.0j  0.0-0.0j  ->  5.25-5.0j
torch 128  reciprocal(x)  0.45+0.75j  0.58-0.54j  ->  0.588235294117647-0.9803921568627451j
torch 128  reciprocal(x)  inf+2.0j  1.0-3.0j  ->  0.0+0.0j
torch 128  reciprocal(x)  2.5-1.0j  0.0-0.0j  ->  0.3448275862068966+0.13793103448275865j
paddle@3.3 64  x * y  -1.33+0.12j  -1.11-0.59j  ->  1.5471001+0.6515j
paddle@3.3 64  x * y  inf+2.0j  1.0-3.0j  ->  inf-infj
paddle@3.3 64  x * y  2.5-1.0j  0.0-0.0j  ->  0.0-0.0j
paddle@3.3 64  x / y  0.64-0.41j  -0.8-0.44j  ->  -0.39779264+0.731286j
paddle@3.3 64  x / y  inf+2.0j  1.0-3.0j  ->  inf+infj
paddle@3.3 64  x / y  2.5-1.0j  0.0-0.0j  ->  nan+nanj
paddle@3.3 64  square(x)  0.99+1.29j  -0.03-0.16j  ->  -0.6839999+2.5542j
paddle@3.3 64  square(x)  inf+2.0j  1.0-3.0j  ->  inf+infj
paddle@3.3 64  square(x)  2.5-1.0j  0.0-0.0j  ->  5.25-5.0j
paddle@3.3 128  x * y  2.59-0.1j  0.01-2.28j  ->  -0.20209999999999997-5.906199999999999j
paddle@3.3 128  x * y  inf+2.0j  1.0-3.0j  ->  inf-infj
paddle@3.3 128  x * y  2.5-1.0j  0.0-0.0j  ->  0.0-0.0j
paddle@3.3 128  x / y  0.86+1.06j  -1.39-1.41j  ->  -0.6861894801285648-0.0665272179990817j
paddle@3.3 128  x / y  inf+2.0j  1.0-3.0j  ->  inf+infj
paddle@3.3 128  x / y  2.5-1.0j  0.0-0.0j  ->  nan+nanj
paddle@3.3 128  square(x)  1.77+1.37j  0.68+1.08j  ->  1.256+4.8498j
paddle@3.3 128  square(x)  inf+2.0j  1.0-3.0j  ->  inf+infj
paddle@3.3 128  square(x)  2.5-1.0j  0.0-0.0j  ->  5.25-5.0j
paddle@3.3 64  x + 1.5  0.3-1.25j  0j  ->  1.8-1.25j
paddle@3.3 64  x + 1.5  inf+2.0j  0j  ->  inf+nanj
paddle@3.3 64  x + 1.5  -2.0-0.0j  0j  ->  -0.5+0.0j
paddle@3.3 64  x + 1.5  1.0+nanj  0j  ->  nan+nanj
paddle@3.3 64  x - 2  0.3-1.25j  0j  ->  -1.7-1.25j
paddle@3.3 64  x - 2  inf+2.0j  0j  ->  inf+nanj
paddle@3.3 64  x - 2  -2.0-0.0j  0j  ->  -4.0+0.0j
paddle@3.3 64  x - 2  1.0+nanj  0j  ->  nan+nanj
paddle@3.3 64  2.5 - x  0.3-1.25j  0j  ->  2.2+1.25j
paddle@3.3 64  2.5 - x  inf+2.0j  0j  ->  -inf+nanj
paddle@3.3 64  2.5 - x  -2.0-0.0j  0j  ->  4.5+0.0j
paddle@3.3 64  2.5 - x  1.0+nanj  0j  ->  nan+nanj
paddle@3.3 64  reciprocal(x)  3.7+0.1j  0j  ->  0.270073-0.0072992705j
paddle@3.3 64  reciprocal(x)  1.0+infj  0j  ->  0.0+0.0j
paddle@3.3 64  reciprocal(x)  -inf-1.0j  0j  ->  0.0+0.0j
paddle@3.3 64  reciprocal(x)  0.0+0.0j  0j  ->  nan+nanj
paddle@3.3 64  reciprocal(x)  inf+nanj  0j  ->  nan+nanj
paddle@3.3 64  x ** 2.0  0.0+0.0j  0j  ->  0.0-0.0j
paddle@3.3 64  x ** 2.0  0.0+infj  0j  ->  inf+nanj
paddle@3.3 64  x ** 2.0  -inf+nanj  0j  ->  inf+nanj
paddle@3.3 64  x ** -1  0.0+0.0j  0j  ->  inf+nanj
paddle@3.3 64  x ** -1  inf+0.0j  0j  ->  0.0-0.0j
paddle@3.3 64  x ** 0  nan+1.0j  0j  ->  1.0+0.0j
paddle@3.3 64  x ** 1.0  -0.0+3.3j  0j  ->  -0.0+3.3j
paddle@3.3 64  x ** 0.5  0.0+0.0j  0j  ->  0.0-0.0j
paddle@3.3 64  x ** 0.5  nan+1.0j  0j  ->  nan+nanj
torch 64  inf + x  0.75-2.5j  0j  ->  inf+nanj
torch 64  inf + x  inf+2.0j  0j  ->  inf+nanj
torch 64  complex(0, inf) + x  0.75-2.5j  0j  ->  nan+infj
torch 64  complex(0, inf) + x  inf+2.0j  0j  ->  nan+infj
torch 64  1.5 + x  0.75-2.5j  0j  ->  2.25-2.5j
torch 64  1.5 + x  inf+2.0j  0j  ->  inf+2.0j
paddle@3.3 128  x + 1.5  0.3-1.25j  0j  ->  1.8-1.25j
paddle@3.3 128  x + 1.5  inf+2.0j  0j  ->  inf+nanj
paddle@3.3 128  x + 1.5  -2.0-0.0j  0j  ->  -0.5+0.0j
paddle@3.3 128  x + 1.5  1.0+nanj  0j  ->  nan+nanj
paddle@3.3 128  x - 2  0.3-1.25j  0j  ->  -1.7-1.25j
paddle@3.3 128  x - 2  inf+2.0j  0j  ->  inf+nanj
paddle@3.3 128  x - 2  -2.0-0.0j  0j  ->  -4.0+0.0j
paddle@3.3 128  x - 2  1.0+nanj  0j  ->  nan+nanj
paddle@3.3 128  2.5 - x  0.3-1.25j  0j  ->  2.2+1.25j
paddle@3.3 128  2.5 - x  inf+2.0j  0j  ->  -inf+nanj
paddle@3.3 128  2.5 - x  -2.0-0.0j  0j  ->  4.5+0.0j
paddle@3.3 128  2.5 - x  1.0+nanj  0j  ->  nan+nanj
paddle@3.3 128  reciprocal(x)  3.7+0.1j  0j  ->  0.2700729927007299-0.0072992700729927j
paddle@3.3 128  reciprocal(x)  1.0+infj  0j  ->  0.0+0.0j
paddle@3.3 128  reciprocal(x)  -inf-1.0j  0j  ->  0.0+0.0j
paddle@3.3 128  reciprocal(x)  0.0+0.0j  0j  ->  nan+nanj
paddle@3.3 128  reciprocal(x)  inf+nanj  0j  ->  nan+nanj
paddle@3.3 128  x ** 2.0  0.0+0.0j  0j  ->  0.0-0.0j
paddle@3.3 128  x ** 2.0  0.0+infj  0j  ->  inf+nanj
paddle@3.3 128  x ** 2.0  -inf+nanj  0j  ->  inf+nanj
paddle@3.3 128  x ** -1  0.0+0.0j  0j  ->  inf+nanj
paddle@3.3 128  x ** -1  inf+0.0j  0j  ->  0.0-0.0j
paddle@3.3 128  x ** 0  nan+1.0j  0j  ->  1.0+0.0j
paddle@3.3 128  x ** 1.0  -0.0+3.3j  0j  ->  -0.0+3.3j
paddle@3.3 128  x ** 0.5  0.0+0.0j  0j  ->  0.0-0.0j
paddle@3.3 128  x ** 0.5  nan+1.0j  0j  ->  nan+nanj
torch 128  inf + x  0.75-2.5j  0j  ->  inf+nanj
torch 128  inf + x  inf+2.0j  0j  ->  inf+nanj
torch 128  complex(0, inf) + x  0.75-2.5j  0j  ->  nan+infj
torch 128  complex(0, inf) + x  inf+2.0j  0j  ->  nan+infj
torch 128  1.5 + x  0.75-2.5j  0j  ->  2.25-2.5j
torch 128  1.5 + x  inf+2.0j  0j  ->  inf+2.0j
"""

ROWS = [line.replace("  ->", "").split("  ") for line in ANSWERS.strip().splitlines()]


def same(got: object, wanted: complex) -> bool:
    """The same bits of both parts; NaN is NaN."""
    found = np.asarray(got)
    parts = (found.real, wanted.real), (found.imag, wanted.imag)
    alike = (np.array_equal(a, b, equal_nan=True) for a, b in parts)
    return all(alike) and all(a != a or np.signbit(a) == np.signbit(b) for a, b in parts)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("length", [1, 5, 70_000])
def test_answers_of_the_frameworks(length: int) -> None:
    wrong = []
    for where, expression, first, second, answer in ROWS:
        policy, bits = where.split()
        dtype = f"complex{bits}"
        with pa.policy(policy):
            x, y = (pa.full(length, complex(each), dtype=dtype) for each in (first, second))
            got = eval(
                expression,
                {
                    "complex": complex,
                    "x": x,
                    "y": y,
                    **{name: getattr(pa, name) for name in pa.__all__},
                },
            )
        wanted = np.array(complex(answer), dtype)[()]
        if got.dtype != dtype or not (same(got[0], wanted) and same(got[-1], wanted)):
            wrong.append((where, expression, first, second, answer, got[0], got[-1]))
    assert not wrong


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("length", [1, 3, 40_000])
def test_jax_orders_zeros_and_keeps_their_signs(dtype: str, length: int) -> None:
    with pa.policy("jax"):
        above, below = pa.zeros(length, dtype=dtype), -pa.zeros(length, dtype=dtype)
        for one, other in ((above, below), (below, above)):
            assert not pa.any(pa.signbit(pa.maximum(one, other)))
            assert pa.all(pa.signbit(pa.minimum(one, other)))
        assert pa.all(pa.signbit(pa.sign(below)))
        assert not pa.any(pa.signbit(pa.sign(above)))
        signs = pa.sign(pa.asarray([-2.0, 3.0, -np.inf], dtype=dtype))
        assert pa.all(signs == pa.asarray([-1, 1, -1], dtype=dtype))
        assert pa.all(pa.isnan(pa.maximum(above, pa.asarray(np.nan, dtype=dtype))))
        assert pa.all(pa.isnan(pa.minimum(pa.asarray(np.nan, dtype=dtype), above)))


@pytest.mark.parametrize(("dtype", "within"), [("complex64", 4e-6), ("complex128", 4e-15)])
def test_paddle_takes_complex_powers_by_logarithms(dtype: str, within: float) -> None:
    """Paddle 3.3.1's ``x ** 3`` of -2 is -8 - 2.9e-15j: the angle's error, three times."""
    with pa.policy("paddle@3.3"):
        x = pa.full(9, -2.0 - 0.0j, dtype=dtype)
        for cube in (x**3, pa.pow(x, 3.0), x ** pa.full(9, 3.0, dtype=dtype)):
            assert cube.dtype == dtype
            assert 0 < abs(complex(cube[0]) + 8) < within


def test_paddles_function_makes_a_divisor_float32() -> None:
    with pa.policy("paddle@3.3"):
        x = pa.asarray([0.3, 7.7, 1e300], dtype="float64")
        whole = pa.floor_divide(x, 0.1)
        assert whole.dtype == "float64"
        np.testing.assert_array_equal(
            np.asarray(whole), np.asarray(x) // np.float64(np.float32(0.1))
        )
        assert np.asarray(x // 0.1)[-1] != np.asarray(whole)[-1]
