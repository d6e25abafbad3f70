"""Whatever floating-point state a thread has, the answers are those of the default one."""

from __future__ import annotations

import operator
import subprocess
import sys
import threading
import warnings
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cast_oracle import codes_of, every_code
from float_states import KNOWN, OTHERS, WHY_UNKNOWN, control, state
from sampled import turns

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind
from promoarray.policies import as_policy

pytestmark = pytest.mark.skipif(not KNOWN, reason=WHY_UNKNOWN)

FLOATS = [d for d in dt.CONCRETE if d.kind in (Kind.FLOAT, Kind.COMPLEX)]
NUMBERS = [d for d in dt.CONCRETE if d.kind is not Kind.STRING]
ARITHMETIC = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
FLUSHED, ROUNDED = [name for name in OTHERS if name.endswith(" nearest")][-1], "up"
"""Of all states that which flushes all, rounding to nearest, and one that rounds."""


def codes(dtype: DType) -> Any:
    """Every code of a dtype of 16 bits and fewer; of a wider one those where a state tells."""
    if dtype.kind is Kind.COMPLEX:
        parts = codes(dtype.part)[:: dtype.bits // 16]
        return np.stack([parts, np.roll(parts, 7)], axis=-1).reshape(-1)
    if dtype.bits <= 16:
        return every_code(dtype)
    unsigned = codes_of(dtype)
    if dtype.kind is not Kind.FLOAT:
        powers = [2**p + d for p in range(dtype.bits) for d in (-1, 0, 1, 2, 3)]
        powers += [
            2**p + 2**q + d for p in range(24, dtype.bits) for q in (p - 24, p - 1) for d in (0, 1)
        ]
        powers += [(1 << 64) - v for v in powers]
        return np.array([v % (1 << dtype.bits) for v in powers], unsigned)
    layout = dtype.format
    assert layout is not None
    mantissas = [0, 1, 2, 3, (1 << layout.mantissa) - 1, 1 << layout.mantissa - 1]
    # Beside the halves of what narrower formats have.
    mantissas += [
        (1 << at) + d for at in (12, 13, 15, 16, 20, 21, 28, 29, 42, 45, 49) for d in (-1, 0, 1)
    ]
    exponents = range(1 << layout.exponent)
    if dtype.bits == 64:  # the ends, and what float32 and narrower ones have
        exponents = [*range(54), *range(860, 1160), *range(2040, 2048)]
    found = [
        e << layout.mantissa | m for e in exponents for m in mantissas if m >> layout.mantissa == 0
    ]
    positive = np.array(found, unsigned)
    return np.concatenate([positive, positive | unsigned.type(1 << dtype.bits - 1)])


def array(values: Any, dtype: DType) -> pa.PArray:
    """Codes as an array of a dtype."""
    return pa.PArray._wrap(np.ascontiguousarray(values).view(dtype.storage), dtype)


def told(x: Any) -> Any:
    """Everything of an answer: dtypes, shapes, bits; of NaN that it is one."""
    if isinstance(x, pa.PArray):
        parts = np.array(x._buffer, order="C").reshape(-1).view(x.dtype.part.storage)
        if pa.isdtype(x.dtype.part, "real floating"):
            with np.errstate(invalid="ignore"):  # ml_dtypes warns of NaN
                parts = np.where(np.isnan(parts), np.array(np.nan, parts.dtype), parts)
        return x.dtype, x.shape, parts.tobytes()
    if isinstance(x, tuple):
        return tuple(map(told, x))
    return repr(x)


def in_state(name: str, functions: list[Callable[[], Any]]) -> list[Any]:
    """Call each twice in a state: the first call of an operation takes another way."""
    with state(name) as wanted, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [(function(), function()) for function in functions]
        kept = control()
    assert kept == wanted, f"{name}: left as {kept}"
    return found


def differences(
    name: str, policy: str, cases: dict[str, Callable[[], Any]], wanted: dict[str, Any]
) -> list[str]:
    """The cases whose answers in a state differ, under a policy that has decided nothing yet."""
    with pa.policy(as_policy(policy).derive("fresh")):
        found = in_state(name, list(cases.values()))
    return [
        f"{name}, call {call}: {case}"
        for case, both in zip(cases, found, strict=True)
        for call, answer in enumerate(both, 1)
        if told(answer) != wanted[case]
    ]


def expected(policy: str, cases: dict[str, Callable[[], Any]]) -> dict[str, Any]:
    """The answers in the default state."""
    with pa.policy(policy), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return {case: told(function()) for case, function in cases.items()}


def check(policy: str, cases: dict[str, Callable[[], Any]], states: list[str]) -> None:
    wanted = expected(policy, cases)
    wrong = [line for name in states for line in differences(name, policy, cases, wanted)]
    assert not wrong, "\n".join(wrong[:20])


def casts(dtypes: list[DType]) -> dict[str, Callable[[], Any]]:
    """Every pair of dtypes, of arrays that are long and of one element."""
    cases: dict[str, Callable[[], Any]] = {}
    for source, target in product(dtypes, dtypes):
        long = array(codes(source), source)
        one = long[long.shape[0] // 3]
        cases[f"astype({source}, {target})"] = lambda x=long, t=target: x.astype(t)
        cases[f"astype({source}[], {target})"] = lambda x=one, t=target: x.astype(t)
    return cases


def operands(dtype: DType) -> tuple[pa.PArray, pa.PArray]:
    """Numbers beside others: subnormals, halves of the last bit, the ends, in all pairings."""
    few = array(codes(dtype), dtype)._buffer
    few = few[:: max(1, few.size // 190)]  # so that all are long enough to go in blocks
    left, right = np.repeat(few, few.size), np.tile(few, few.size)
    return pa.PArray._wrap(left, dtype), pa.PArray._wrap(right, dtype)


def arithmetic(dtypes: list[DType], scalars: tuple[Any, ...]) -> dict[str, Callable[[], Any]]:
    """The four operations of two arrays, of 0-d ones, and with Python scalars."""
    cases: dict[str, Callable[[], Any]] = {}
    for dtype, (sign, function) in product(dtypes, ARITHMETIC.items()):
        x, y = operands(dtype)
        cases[f"{dtype} {sign} {dtype}"] = lambda f=function, x=x, y=y: f(x, y)
        for i in (1, x.size // 7, x.size // 2 + 3):
            cases[f"{dtype}[{i}] {sign}"] = lambda f=function, x=x[i], y=y[i]: f(x, y)
        for scalar in scalars:
            cases[f"{dtype} {sign} {scalar}"] = lambda f=function, x=x, s=scalar: f(x, s)
            cases[f"{scalar} {sign} {dtype}[]"] = lambda f=function, x=x[5], s=scalar: f(s, x)
    return cases


def others(dtype: DType) -> dict[str, Callable[[], Any]]:
    """What is neither a cast nor one of the four operations."""
    x, y = operands(dtype)
    x, y = x[:2000], y[:2000]
    square = pa.reshape(x[:1600], (40, 40))
    wide = pa.asarray(np.array([5e-324, 1e-310, 2.0**-1022, 1.0, 1 / 3]))

    def assigned(value: Any) -> Any:
        target = pa.asarray(x, copy=True)
        target[::2] = value
        return target

    def in_place(value: Any, sign: str) -> Any:
        target = pa.asarray(x, copy=True)
        return {"+": operator.iadd, "*": operator.imul}[sign](target, value)

    return {
        "sum": lambda: pa.sum(x),
        "mean": lambda: pa.mean(x * 2.0**-100),
        "prod": lambda: pa.prod(x),
        "var": lambda: pa.var(x),
        "max": lambda: pa.max(x),
        "cumulative_sum": lambda: pa.cumulative_sum(x),
        "sqrt": lambda: pa.sqrt(x),
        "exp": lambda: pa.exp(x),
        "log": lambda: pa.log(x),
        "x // y": lambda: x // y,
        "x % y": lambda: x % y,
        "x ** 3.0": lambda: x**3.0,
        "x < y": lambda: x < y,
        "x == 0": lambda: x == 0,
        "x != x": lambda: x != y,
        "isfinite": lambda: pa.isfinite(x),
        "sign": lambda: pa.sign(x),
        "maximum": lambda: pa.maximum(x, y),
        "clip": lambda: pa.clip(x, -0.1, 0.1),
        "where": lambda: pa.where(x < y, x, y),
        "where of scalars": lambda: pa.where(x < y, x, 0.1),
        "concat": lambda: pa.concat([x, y, x * 0.5]),
        "concat with float64": lambda: pa.concat([x, wide]),
        "matmul": lambda: square @ square,
        "sort": lambda: pa.sort(x),
        "argmax": lambda: pa.argmax(x),
        "unique_values": lambda: pa.unique_values(x),
        "nonzero": lambda: pa.nonzero(x),
        "count_nonzero": lambda: [pa.count_nonzero(v) for v in (x, x, x[:3], x[:3])],
        "searchsorted": lambda: pa.searchsorted(wide, wide),
        "x += y": lambda: in_place(y, "+"),
        "x *= 0.1": lambda: in_place(0.1, "*"),
        "x[::2] = y": lambda: assigned(y[::2]),
        "x[::2] = 0.1": lambda: assigned(0.1),
        "x[::2] = float64": lambda: assigned(wide[1]),
        "full": lambda: pa.full((3,), 1e-310),
        "asarray": lambda: pa.asarray([5e-324, 0.1, 2**62 + 1]),
        "asarray of float32": lambda: pa.asarray([2.0**-149, 0.1], dtype=pa.float32),
        "arange": lambda: pa.arange(0.0, 1.0, 0.1),
        "linspace": lambda: pa.linspace(-1 / 3, 0.7, 13),
        "item": lambda: [v.item() for v in (x[3], x[9])],
        "tolist": lambda: x[:50].tolist(),
        "bool": lambda: [bool(v) for v in (x[3], x[9])],
        "float": lambda: [float(v) for v in (x[3], x[9])],
        "repr": lambda: repr(x[:8]),
        "asarray of NumPy": lambda: np.asarray(x, np.float64).tobytes(),
        "finfo": lambda: pa.finfo(dtype),
        "cast_report": lambda: pa.cast_report(x, pa.float16).to_dict() | {"policy": ""},
        "vector_norm": lambda: pa.linalg.vector_norm(wide),
    }


def test_all_casts_and_arithmetic_in_two_states() -> None:
    narrow = [dt.bool, dt.int4, dt.int8, dt.uint16, dt.float8_e5m2, dt.float8_e8m0fnu, dt.bfloat16]
    wide = [dt.int64, dt.uint64, dt.float16, dt.float32, dt.float64]
    cases = casts([*narrow, *wide, dt.complex64]) | arithmetic([*wide[2:], dt.complex64], (0.1, 3))
    check("numpy", cases, [FLUSHED, ROUNDED])


@pytest.mark.parametrize("dtype", [dt.float32, dt.float64, dt.bfloat16], ids=str)
def test_other_operations_in_two_states(dtype: DType) -> None:
    check("numpy", others(dtype), [FLUSHED, ROUNDED])


def test_the_case_that_showed_it() -> None:
    a = pa.asarray(np.array([2.0**-140], np.float32))
    b = pa.asarray(np.array([0.0]))
    with pa.policy(as_policy("numpy").derive("fresh")), state(FLUSHED):
        found = [(a + b)._buffer.tobytes() for _ in range(3)]
    assert found == [np.float64(2.0**-140).tobytes()] * 3
    longs = pa.asarray(np.array([2**53 + 1, 2**62 + 1, -(2**53) - 1]))
    wanted = longs.astype(pa.float64)._buffer.tobytes()
    for name in OTHERS:
        with state(name):
            found = [longs.astype(pa.float64)._buffer.tobytes(), (longs + 0.0)._buffer.tobytes()]
        assert found == [wanted] * 2, name


def test_warnings_are_those_of_the_default_state() -> None:
    x, zero = pa.asarray([1.0]), pa.asarray([0.0])
    for name in OTHERS:
        with state(name):
            for _ in range(2):
                with pytest.warns(RuntimeWarning, match="divide by zero"):
                    x / zero
                with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="underflow"):
                    pa.asarray([1e-300]) * 1e-20
                x / 1.5  # and none where there is nothing to warn of


def test_the_state_is_the_callers_again_after_errors() -> None:
    x, y = pa.asarray([1.0, 2.0]), pa.asarray([1.0, 2.0, 3.0])
    for name in OTHERS:
        with state(name) as wanted:
            for wrong in (
                lambda: x + y,
                lambda: pa.add(x, y),
                lambda: pa.sum(x, axis=7),
                lambda: operator.iadd(x, y),
                lambda: operator.setitem(x, slice(None), y),
                lambda: x.item(),
                lambda: pa.asarray(["a"], dtype=pa.string).astype(pa.float64),
            ):
                with pytest.raises((ValueError, TypeError, IndexError)):
                    wrong()
                assert control() == wanted


def test_a_thread_keeps_its_own_state() -> None:
    x, found = pa.asarray([2.0**-1070]), []

    def run() -> None:
        with state(FLUSHED) as wanted:
            found.append(told(x * 1.0))
            found.append(control() == wanted)

    before = control()
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert found == [told(x * 1.0), True]
    assert control() == before


def test_imported_in_another_state_it_is_the_same(tmp_path: Path) -> None:
    """Libraries built with -ffast-math set the state when they are loaded, before us."""
    program = """
import sys
sys.path[:0] = sys.argv[2:]
from float_states import state
import warnings
warnings.simplefilter("ignore")  # of NumPy, which tells that it is imported so
with state(sys.argv[1]):
    import numpy as np, promoarray as pa
    x = pa.asarray(np.array([1, 3, 2**24 - 1], np.uint32).view(np.float32))
    print((x + pa.asarray([0.0]))._buffer.tobytes().hex(), pa.finfo("float32"), x.astype("float64"))
    print(x.astype("bfloat16"), pa.linspace(0.0, 1.0, 7), x / 3.0, pa.sqrt(x).tolist())
"""
    here = Path(__file__).parent.parent
    answers = {
        name: subprocess.run(
            [sys.executable, "-c", program, name, str(here)],
            capture_output=True,
            text=True,
            check=True,
            cwd=tmp_path,  # where the source, without what is compiled, does not lie
        ).stdout
        for name in ("nearest", FLUSHED.replace("nearest", ROUNDED))
    }
    assert len({*answers.values()}) == 1, answers


@pytest.mark.slow
def test_blas_takes_threads_that_have_the_default_state() -> None:
    x = pa.asarray(np.full((700, 16), 2.0**-100, np.float32))  # subnormals take long
    y = pa.asarray(np.full((16, 700), 2.0**-40, np.float32))
    check("numpy", {"matmul": lambda: x @ y}, OTHERS)


# A test goes through all states, as what is expected of them is the same.


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["numpy", "torch", "jax"])
def test_all_casts_in_every_state(policy: str) -> None:
    """Of NumPy's all; those of others have other modes in the same loops, and take turns."""
    known = [d for d in NUMBERS if d in as_policy(policy).dtypes]
    some = turns(casts(known).items(), 1 if policy == "numpy" else 5, policy == "jax")
    check(policy, dict(some), OTHERS)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_all_arithmetic_in_every_state(dtype: DType) -> None:
    check("numpy", arithmetic([dtype], (0.1, 3, -5e-324)), OTHERS)


@pytest.mark.slow
@pytest.mark.parametrize("policy", ["numpy", "torch", "jax", "numpy@1"])
def test_other_operations_in_every_state(policy: str) -> None:
    for dtype in FLOATS:
        if dtype in as_policy(policy).dtypes and dtype.bits >= 16 and dtype.kind is Kind.FLOAT:
            check(policy, others(dtype), OTHERS)
