"""Warnings of floating-point exceptions name the program's line, the first time and later."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest
from sampled import turns

import promoarray as pa
from promoarray.backends.numpy import fp_warnings


def of(storage: str, *values: float) -> Any:
    return pa.asarray(np.array(values, storage))


def add_to(target: Any, other: Any) -> None:
    target += other


OPERATORS: dict[str, Callable[[Any], Any]] = {
    "+": lambda x: x + x,
    "* scalar": lambda x: x * 10.0,
    "scalar +": lambda x: 3e38 + x,
    "/": lambda x: x / of("f4", 0, 0),
    "**": lambda x: x**2,
    "@": lambda x: x @ x,
    "+=": lambda x: add_to(of("f4", 3e38, 3e38), x),
    "+= scalar": lambda x: add_to(of("f4", 3e38, 3e38), 3e38),
    "two dtypes": lambda x: of("f8", 1e308, 1) * x,
    "int / 0": lambda x: 1.0 / of("u1", 0, 0),
}
OTHERS: dict[str, Callable[[Any], Any]] = {
    "numpy.add": lambda x: np.add(x, x),
    "var": lambda x: pa.var(x),
    "cumulative_sum": lambda x: pa.cumulative_sum(x),
    "vector_norm": lambda x: pa.linalg.vector_norm(x),
}
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "add()": lambda x: pa.add(x, x),
    "add() of two dtypes": lambda x: pa.multiply(of("f8", 1e308, 1), x),
    "exp": lambda x: pa.exp(x),
    "sum": lambda x: pa.sum(x),
    "sum along an axis": lambda x: pa.sum(x, axis=0),
    "mean": lambda x: pa.mean(x),
    "std": lambda x: pa.std(x),
    "diff": lambda x: pa.diff(pa.concat([x, -x])),
    "outer": lambda x: pa.linalg.outer(x, x),
    "vecdot": lambda x: pa.vecdot(x, x),
    "mse_loss": lambda x: pa.extras.mse_loss(x, -x, reduction="none"),
    "sum of a loss": lambda x: pa.extras.l1_loss(x, 0.0, reduction="sum"),
    "x.sum()": lambda x: x.sum(),
    "in a namespace": lambda x: pa.namespace(pa.get_policy()).multiply(x, x),
}


SILENT = {("jax", "**")}
"""What a policy computes in loops of its own, which warn of nothing."""


def places(function: Callable[[], Any]) -> list[tuple[str, int]]:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        function()
    assert all(w.category is RuntimeWarning and " encountered in " in str(w.message) for w in heard)
    return [(w.filename, w.lineno) for w in heard]


@pytest.fixture(params=["numpy", "numpy@1", "torch", "jax"])
def new(request: pytest.FixtureRequest) -> Iterator[str]:
    """A policy that has compiled nothing yet."""
    with pa.policy(request.param):
        new = pa.get_policy().derive("new")
    with pa.policy(new):
        yield request.param


@pytest.mark.parametrize("own", [{}, {"all": "warn"}], ids=["usual", "own errstate"])
@pytest.mark.parametrize("name", [*OPERATORS, *OTHERS, *FUNCTIONS])
def test_each_call_names_the_line_of_the_program(new: str, name: str, own: Any) -> None:
    function = {**OPERATORS, **OTHERS, **FUNCTIONS}[name]
    line = function.__code__ if name[:2] != "+=" else add_to.__code__
    at = line.co_firstlineno + (name[:2] == "+=")
    x = of("f4", 3e38, 3e38)
    for _ in range(3):
        with np.errstate(**own):
            found = places(lambda: function(x))
        assert {*found} == (set() if (new, name) in SILENT else {(__file__, at)})


def first_sum(x: Any) -> Any:
    """``x + x`` under a policy that has compiled nothing yet."""
    with pa.policy(pa.get_policy().derive("new")):
        return x + x


LONG = {
    "multiply": lambda x: x * x,
    "exp": lambda x: pa.exp(x),
    "divide": lambda x: x / 0.0,
    "power": lambda x: x**x,
}


@pytest.mark.parametrize("name", LONG)
@pytest.mark.parametrize("policy", ["numpy", "torch", "tensorflow"])
def test_long_operations_warn_once_of_all_their_blocks(policy: str, name: str) -> None:
    x = pa.astype(pa.full(100_000, 3e38), pa.bfloat16)
    with pa.policy(policy):
        for _ in range(2):
            with pytest.warns(RuntimeWarning) as heard:
                LONG[name](x)
            files = [(str(warning.message), warning.filename) for warning in heard]
            assert len(files) == len({*files})
            assert {file for _, file in files} == {__file__}


def test_long_operations_tell_a_handler_of_the_program_as_it_asks() -> None:
    heard: list[str] = []
    x = pa.astype(pa.full(100_000, 3e38), pa.bfloat16)
    with np.errstate(over="call", call=lambda kind, _: heard.append(kind)):
        _ = x * x
    assert {*heard} == {"overflow"}
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
        _ = x * x
    with np.errstate(over="ignore"):
        _ = x * x


def test_what_the_program_asks_for_instead_of_warnings_is_done() -> None:
    x, calls = of("f4", 3e38, 3e38), []
    for under in ("ignore", "warn"):
        with np.errstate(under=under), warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning, match=r"^overflow encountered in add$"):
                first_sum(x)
    with np.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow"):
        first_sum(x)
    with np.errstate(over="ignore"):
        assert not places(lambda: first_sum(x))
    with np.errstate(over="call", call=lambda *given: calls.append(given)):
        assert not places(lambda: first_sum(x))
    assert [kind for kind, _ in calls] == ["overflow"]


def test_the_state_is_the_program_s_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    for _ in range(2):  # by NumPy's state, and where that is not to be found
        before = np.geterr(), np.geterrcall()
        with warnings.catch_warnings(record=True) as heard, fp_warnings.at_the_program():
            warnings.simplefilter("always")
            assert np.geterr()["over"] == "log"
            np.float32(3e38) * np.ones(1, np.float32) * np.float32(10)
        assert [str(w.message) for w in heard] == ["overflow encountered in multiply"]
        assert heard[0].filename == __file__
        assert (np.geterr(), np.geterrcall()) == before
        monkeypatch.setattr(fp_warnings, "_DEFAULT", None)


INPLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "/": operator.itruediv,
}
EXTREMES = [0.0, 1e-7, 1.004, 6e4, 1e-38, 3.38e38, float("inf")]


def messages(function: Callable[..., Any], *operands: Any) -> set[str]:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        function(*operands)
    return {str(w.message) for w in heard}


@pytest.mark.parametrize("symbol", INPLACE)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("lies", ["short", "long", "strided"])
def test_of_16_bits_what_is_computed_in_tells_and_the_rounding_does_not(
    new: str, symbol: str, dtype: str, lies: str
) -> None:
    """By every way of calling, the first time and later."""
    if (new, dtype) == ("numpy@1", "bfloat16"):
        pytest.skip("NumPy 1.26 has no bfloat16")
    length, step = (40_000 if lies == "long" else 6), 2 if lies == "strided" else 1
    storage, inplace = getattr(pa, dtype).storage, INPLACE[symbol]
    plain = getattr(operator, inplace.__name__[1:])
    computed = storage if (new, symbol, dtype) == ("jax", "/", "float16") else np.float32

    def made(value: float) -> Any:
        with np.errstate(all="ignore"):
            return np.full(length * step, value, np.float32).astype(storage)[::step]

    with np.errstate(all="warn"):
        # The ways to lie take turns: what is told hangs on the numbers alone.
        pairs = product(map(made, EXTREMES), repeat=2)
        for first, second in turns(pairs, 3, ["short", "long", "strided"].index(lies)):
            pair = first.astype(computed), second.astype(computed)
            want = messages(plain, *pair)
            for run in (inplace, plain, inplace, plain, inplace):
                assert messages(run, pa.asarray(first, copy=True), pa.asarray(second)) == want
