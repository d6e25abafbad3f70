"""What loops of ours met is told as NumPy tells it of a whole operation, with the same result."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray import dtypes as dt
from promoarray import kernels
from promoarray.backends.numpy import exceptions_met
from promoarray.policies import as_policy

RNG = np.random.default_rng(8)
LENGTH = 300 * 512

OPERATIONS: dict[str, Callable[..., Any]] = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "floor_divide": lambda x, y: x // y,
    "remainder": lambda x, y: x % y,
    "square": lambda x, y: x**2,
    "reciprocal": lambda x, y: x**-1,
    "root": lambda x, y: x**0.5,
    "sqrt": lambda x, y: pa.sqrt(x),
    "hypot": lambda x, y: pa.hypot(x, y),
    "nextafter": lambda x, y: pa.nextafter(x, y),
    "a number divided": lambda x, y: 1.0 / y,
    "by a number": lambda x, y: x / 0.0,
    "by rows": lambda x, y: pa.reshape(x, (300, 512)) / pa.reshape(y[:512], (1, 512)),
    "by columns": lambda x, y: pa.reshape(x, (300, 512)) % pa.reshape(y[:300], (300, 1)),
    "transposed": lambda x, y: pa.reshape(x, (300, 512)).T / pa.reshape(y, (512, 300)),
    "both transposed": lambda x, y: pa.reshape(x, (300, 512)).T * pa.reshape(y, (300, 512)).T,
    "every other": lambda x, y: x[::2] * y[1::2],
    "compared": lambda x, y: x < y,
    "mixed": lambda x, y: x * pa.astype(y, pa.float32),
}
DTYPES = dt.bfloat16, dt.float16, dt.float32, dt.float64, dt.int8


def exceptional(dtype: dt.DType, few: int) -> pa.PArray:
    """Ordinary numbers, and few among them of which something may be raised."""
    x = RNG.uniform(1, 3, LENGTH)
    places = RNG.choice(LENGTH, few, replace=False)
    if dtype.kind is dt.Kind.INT:
        x[places] = RNG.choice([0, -1, -128], few)
    else:
        largest = float(np.asarray(pa.finfo(dtype).max, np.float64))
        x[places] = RNG.choice([0, -1, largest, -largest, np.inf, np.nan], few)
    with np.errstate(all="ignore"):
        return pa.asarray(x.astype(dtype.storage), dtype=dtype)


def run(policy: pa.Policy, operation: Callable[..., Any], *operands: Any) -> tuple[Any, list[str]]:
    """The words of a result, and what is warned of it; of what is refused nothing."""
    with pa.policy(policy), warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            buffer = operation(*operands)._buffer
        except (TypeError, ZeroDivisionError, ValueError):
            return None, []
    assert all(warning.filename == __file__ for warning in heard)
    said = [str(w.message) for w in heard]
    assert len(said) == len({*said})
    return np.ascontiguousarray(buffer).view(np.uint8), sorted(said)


@pytest.mark.parametrize(
    "base",
    [
        *("numpy", "torch"),
        *(
            pytest.param(n, marks=pytest.mark.slow)
            for n in ("numpy@1", "jax", "paddle", "tensorflow", "aclnn")
        ),
    ],
)
@pytest.mark.parametrize("few", [1, 3, 5000])
def test_what_a_few_elements_tell_is_what_all_would(
    base: str, few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = {}
    operands = {dtype: [exceptional(dtype, few) for _ in range(2)] for dtype in DTYPES}
    for whole in (False, True):
        policy = as_policy(base).derive(f"{base} {few} {whole}")
        if whole:
            monkeypatch.setattr(exceptions_met, "tell_by_elements", lambda *_: False)
        for name, dtype in product(OPERATIONS, DTYPES):
            key = name, dtype.name, whole
            found[key] = run(policy, OPERATIONS[name], *operands[dtype])
    differing = []
    for name, dtype in product(OPERATIONS, DTYPES):
        (got, said), (want, told) = (found[name, dtype.name, whole] for whole in (False, True))
        if said != told or not np.array_equal(got, want):
            differing.append((name, dtype.name, said, told))
    assert not differing
    assert any(said for _, said in found.values())


def test_a_few_elements_are_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    tell_by_elements = exceptions_met.tell_by_elements

    def listen(run: Any, met: Any, result: Any, operands: Any) -> bool:
        def shorter(some: Any) -> Any:
            asked.append(max(x.size for x in some))
            return run(some)

        return tell_by_elements(shorter, met, result, operands)

    monkeypatch.setattr(exceptions_met, "tell_by_elements", listen)
    with pa.policy(as_policy("numpy").derive("mine")):
        x = pa.asarray(RNG.uniform(1, 2, 1 << 20), dtype=pa.bfloat16)
        x[700_000] = 0.0
        with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide"):
            _ = 1.0 / x
    assert asked
    assert max(asked) <= 1 << 15


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("n", [10, 70_001, 2_000_003])
def test_combine_says_among_which_elements_an_exception_was_first(threads: int, n: int) -> None:
    row = kernels.dtype_args(dt.float32)
    before = pa.get_num_threads()
    pa.set_num_threads(threads)
    try:
        for _ in range(20):
            x, y = np.ones((2, n), np.float32)
            zero, large = RNG.choice(n, 2, replace=False)
            y[zero], x[large], y[large] = 0.0, 3e38, 1e-30
            out = np.empty_like(x)
            met = kernels.combine("divide", (x, y), out, (row,) * 4, (kernels.DEFAULT,) * 3)
            spans = {exception: (begin, end) for exception, begin, end in met}
            assert spans.keys() == {1, 2}
            for exception, place in ((1, zero), (2, large)):
                begin, end = spans[exception]
                assert 0 <= begin <= place < end <= n
                assert end - begin <= 1 << 15
    finally:
        pa.set_num_threads(before)


@pytest.mark.parametrize("state", ["warn", "raise", "call", "print", "log", "ignore"])
def test_the_program_says_what_becomes_of_an_exception(
    state: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    heard: list[Any] = []

    class Log:
        def write(self, text: str) -> None:
            heard.append(text)

    handler: Any = Log() if state == "log" else lambda *given: heard.append(given)
    x = pa.asarray(RNG.uniform(1, 2, 100_000), dtype=pa.float16)
    x[5000] = 0.0
    with np.errstate(all=state, call=handler):
        if state == "raise":
            with pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
                _ = 1.0 / x
        elif state == "warn":
            with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide"):
                _ = 1.0 / x
        else:
            _ = 1.0 / x
    printed = capfd.readouterr()
    said = printed.out + printed.err
    assert ("divide by zero" in said) == (state == "print")
    expected = {"call": [("divide by zero", 1)]}.get(state, [])
    if state == "log":
        expected = ["Warning: divide by zero encountered in divide\n"]
    assert heard == expected
