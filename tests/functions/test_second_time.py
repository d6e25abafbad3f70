"""Functions of every chapter: the second time is as the first, to the bit.

What was decided once is kept, and the calls that follow find it. Each call is made under a policy
that has met nothing, then again, and then in a block of `pa.trace`, which has all decided anew and
goes the long way.
"""

from __future__ import annotations

import gc
import math
import operator
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext, suppress
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pytest
from outcomes import outcome
from sampled import turns

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import CONCRETE, DType, Kind
from promoarray.policies import as_policy

EVERY = [name for name in pa.list_policies() if not name.startswith("onnx@")] + ["onnx@25"]
SOME = ["numpy", "numpy@1", "torch", "jax", "jax@x32", "tensorflow", "paddle", "onnx@25"]

Call = tuple[str, Callable[[], Any]]
Calls = Callable[[Any, int], Iterator[Call]]
"""The calls of a namespace at a turn: policies take turns, as what is kept goes by types."""


@pytest.fixture(autouse=True)
def _quiet(request: pytest.FixtureRequest) -> Iterator[None]:
    with nullcontext() if "warnings" in request.node.name else np.errstate(all="ignore"):
        yield


# --- Questions about dtypes ----------------------------------------------------------------------

DTYPES = [
    *(dt.bool, dt.int4, dt.int8, dt.uint8, dt.int32, dt.int64, dt.uint64, dt.bfloat16, dt.float16),
    *(dt.float32, dt.float64, dt.float8_e4m3fn, dt.complex64),
]
SCALARS = [True, 0, 1, 300, -1, 1 << 40, 1 << 70, 1.5, -0.0, 1e300, float("nan"), 1.5j]
FORMS: dict[str, Callable[[DType], Any]] = {
    "dtype": lambda dtype: dtype,
    "name": lambda dtype: dtype.name,
    "array": lambda dtype: pa.PArray._wrap(np.ones(2, dtype.storage), dtype),
    "0-d array": lambda dtype: pa.PArray._wrap(np.ones((), dtype.storage), dtype),
    "0-d zero": lambda dtype: pa.PArray._wrap(np.zeros((), dtype.storage), dtype),
    "NumPy's": lambda dtype: np.ones(2, dtype.storage),
    "NumPy's 0-d": lambda dtype: np.ones((), dtype.storage),
    "NumPy's scalar": lambda dtype: np.ones((), dtype.storage)[()],
    "NumPy's dtype": lambda dtype: dtype.storage,
}


def operands(dtypes: list[DType]) -> list[Any]:
    """Dtypes in every form, weakly typed arrays, and numbers."""
    weak = [
        pa.PArray._wrap(np.ones(shape, storage), weak)
        for shape in ((2,), ())
        for weak, storage in ((dt.weak_int, np.int32), (dt.weak_float, np.float32))
    ]
    return [*(form(dtype) for form in FORMS.values() for dtype in dtypes), *weak, *SCALARS]


def questions(xp: Any, turn: int) -> Iterator[Call]:
    """What is asked of one, two and three operands, and of dtypes."""
    few = [dt.int8, pa.asarray([1.0]), pa.asarray(1), np.float32(1), np.ones(2, np.int8), 1.5]
    given, every = operands(DTYPES[::2]), operands(DTYPES)
    asked: dict[str, Iterable[tuple[Any, ...]]] = {
        "result_type": [
            *turns(product(given, repeat=2), 16, turn),
            *product(few, repeat=1),
            *product(few, repeat=3),
        ],
        "finfo": product(every),
        "iinfo": product(every),
    }
    pairs = [*product(every, DTYPES[::3]), *product(DTYPES[::3], every)]
    asked |= dict.fromkeys(("promote_types", "can_cast"), turns(pairs, 12, turn))
    for name, each in asked.items():
        for args in each:
            yield f"{name}{args}", partial(getattr(xp, name), *args)


# --- Arrays of a shape, like others, and of numbers ----------------------------------------------

NUMBERS = [0, 1, 2, 300, -1, 0.0, -0.0, 1.5, math.nan, math.inf, True, False, 1j, 1 - 0j, 1 + 0j]
NUMBERS += [2**31, 2**63, 2**70, 1e300]
RANGES = [(0,), (3,), (0, 3), (0.0, 3), (-0.0, 3.0), (0, 3.0), (2, 8, 2), (3.0,), (0.5, 2)]
RANGES += [(5, 0, -1), (0, 1, 0.25), (True, 3), (200,), (3, 0), (1, 5, 0)]
LINES = [(0, 1, 3), (0.0, 1.0, 3), (-0.0, 1, 3), (0, 300, 4), (1j, 2, 3), (0, 1e300, 2), (0, 1, 0)]
EYES = [(3,), (3, 3), (2, 4), (0,), (2.0,), (-1,)]
COUNTED = [None, pa.bool, pa.int8, pa.uint8, pa.int64, pa.float16, pa.float32, pa.float64]
COUNTED += [pa.bfloat16, pa.float8_e4m3fn, pa.complex64]


def made(xp: Any, turn: int) -> Iterator[Call]:
    """What creation functions make."""
    for at, dtype in enumerate([None, *CONCRETE]):
        calls: list[Call] = [
            (f"{name} of {dtype}", partial(getattr(xp, name), (2, 1), dtype=dtype))
            for name in ("zeros", "ones")
        ]
        calls += [(f"full {n!r} of {dtype}", partial(xp.full, 2, n, dtype=dtype)) for n in NUMBERS]
        yield from turns(calls, 6, turn + at)
    for dtype, (name, ways) in product(
        COUNTED, {"arange": RANGES, "linspace": LINES, "eye": EYES}.items()
    ):
        for args in ways:
            yield f"{name}{args} of {dtype}", partial(getattr(xp, name), *args, dtype=dtype)


def alike(xp: Any, turn: int) -> Iterator[Call]:
    """What is made like another array."""
    for at, source in enumerate(CONCRETE):
        x = xp.asarray(np.zeros((2, 3), source.storage)).T
        for dtype in (None, pa.int8, pa.float32, pa.bfloat16):
            calls: list[Call] = [
                (f"{name}({source}, {dtype})", partial(getattr(xp, name), x, dtype=dtype))
                for name in ("zeros_like", "ones_like")
            ]
            calls += [
                (f"full_like({source}, {n!r}, {dtype})", partial(xp.full_like, x, n, dtype=dtype))
                for n in NUMBERS
            ]
            yield from turns(calls, 12, turn + at)


# --- asarray -------------------------------------------------------------------------------------

with np.errstate(all="ignore"), pa.policy("numpy"):
    _VALUES = pa.asarray([[1.0, 0.0, 2.5], [-1.0, 300.0, math.nan]])
    STORED = {dtype: _VALUES.astype(dtype)._buffer for dtype in CONCRETE}
ASKED: list[Any] = [None, *(dt.bool, dt.int8, dt.int64, dt.bfloat16, dt.float32, dt.float64)]
ASKED += [dt.float8_e4m3fn, dt.complex64]
SOURCES: dict[str, Callable[[Any, Any], Any]] = {
    "ours": lambda xp, stored: xp.asarray(stored),
    "ours backwards": lambda xp, stored: xp.asarray(stored[:, ::-1]),
    "ours 0-d": lambda xp, stored: xp.asarray(stored[0, 0]),
    "bound to none": lambda xp, stored: pa.asarray(stored),
    "NumPy's": lambda xp, stored: stored,
    "NumPy's transposed": lambda xp, stored: stored.T,
    "NumPy's read-only": lambda xp, stored: np.broadcast_to(stored, (2, *stored.shape)),
    "NumPy's in the other byte order": lambda xp, stored: stored.astype(
        stored.dtype.newbyteorder()
    ),
    "NumPy's scalar": lambda xp, stored: stored[0, 0],
}


def wrapped(xp: Any, turn: int) -> Iterator[Call]:
    """Arrays that are wrapped or cast."""
    for (at, source), dtype in product(enumerate(SOURCES), CONCRETE):
        given = SOURCES[source](xp, STORED[dtype])
        for asked, copy in turns(product(ASKED, (None, True)), 12, at + turn):
            run = partial(xp.asarray, given, dtype=asked, copy=copy)
            yield f"{source} {dtype} as {asked}, {copy}", partial(shared, run, given, copy)


def shared(run: Callable[[], Any], given: Any, copy: bool | None) -> Any:
    """An array, and whether it has the memory of what it is made of."""
    out = run()
    held = given._buffer if isinstance(given, pa.PArray) else np.asarray(given)
    shares = np.shares_memory(out._buffer, held)
    assert not (copy and shares)
    return out, out._buffer is held, shares, out._buffer.flags.writeable


LISTED = [
    *(True, 2, -1, 0.1, -0.0, 1.5, 1j, 1e300, float("inf"), float("nan"), 5e-324),
    *(2.0**128 - 2.0**103, 2.0**128 - 2.0**104, 2.0**103 - 2.0**128),  # Inf in float32, and not
    *(300, 2**31, 2**53 + 1, 2**63 - 1, 2**63, -(2**63) - 1, 2**64, 10**400),
]
LISTS: list[Any] = [
    *LISTED,
    *([x] for x in LISTED),
    *([x, x] for x in LISTED),
    *([[x], (1,)] for x in LISTED),
    *([1, 2.5], [2.5, 1], [True, 2], [True, 0.5], [1, 1j], [2**53 + 1, 0.5], [2**64, 0.5]),
    *([], [[]], [[], []], [[1], [1, 2]], [1, [2]], [[[1.0]], [[2.0]]], ((1, 2), [3, 4])),
    *(["a"], [None], [1, "a"], [pa.asarray(1.0), 2], [[1.0], pa.asarray([2.0])]),
]
OF_LISTS = [
    *(None, pa.bool, pa.int8, pa.uint64, pa.int4, pa.float16, pa.bfloat16, pa.float32),
    *(pa.float8_e4m3fn, pa.complex64, pa.string),
]


def listed(xp: Any, turn: int) -> Iterator[Call]:
    """Lists of numbers: long ones first, and then short ones."""
    for at, dtype in enumerate(OF_LISTS):
        some = turns(LISTS[::-1], 9, at + turn)
        for data in [*some, *reversed(some)]:
            yield f"{data} as {dtype}", partial(xp.asarray, data, dtype=dtype)


def joined(xp: Any, turn: int) -> Iterator[Call]:
    """Lists of arrays: of dtypes, ranks and shapes that mix, weakly typed ones, and numbers."""
    shapes: list[tuple[int, ...]] = [(), (2,), (1,), (2, 2)]
    dtypes = [dt.bool, dt.int8, dt.int64, dt.bfloat16, dt.float32, dt.float64, dt.float8_e4m3fn]
    members: list[Any] = [
        xp.asarray(np.full(shape, 300.0).astype(np.float32)).astype(dtype)
        for dtype, shape in product(dtypes, shapes)
        if len(shape) < 2 or dtype is dt.float32
    ]
    members.append(type(members[0])._wrap(np.asarray(2.0, np.float32), dt.weak_float))
    lists = [list(pair) for pair in product(members, [*members, 1.5, True, np.float32(2.5)])]
    lists += [[members[0]], members[::4], [members[0]] * 8, [members[0]] * 9, [[members[0]]]]
    for given, dtype in turns(product(lists, (None, dt.float32, dt.int8)), 16, turn):
        yield f"{given} as {dtype}", partial(xp.asarray, given, dtype=dtype)


# --- Operations on few elements ------------------------------------------------------------------

OF_TWO: tuple[Callable[..., Any], ...] = (
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq),
    *(operator.truediv, operator.floordiv, operator.mod, operator.pow, operator.mul),
    *(pa.maximum, pa.minimum, pa.atan2, pa.hypot, pa.logaddexp, pa.logical_or, pa.logical_xor),
    *(pa.isin, partial(pa.isin, invert=True), pa.linalg.outer, pa.extras.l1_loss),
    *(pa.extras.mse_loss, pa.extras.huber_loss, pa.extras.poisson_nll_loss),
)
OF_ONE: tuple[Callable[..., Any], ...] = (
    *(pa.isfinite, pa.isnan, pa.isinf, pa.signbit, pa.floor, pa.ceil, pa.trunc, pa.round),
    *(pa.real, pa.imag, pa.any, pa.all, pa.sum, pa.prod, pa.max, pa.min, pa.mean, pa.sign),
    *(pa.argmax, pa.argmin, pa.std, pa.var, pa.diff, pa.cumulative_sum, pa.cumulative_prod),
    *(pa.logical_not, pa.expm1, pa.log1p, pa.square, pa.negative),
)
ORDERS: tuple[Callable[..., Any], ...] = (
    *(pa.unique_values, pa.unique_counts, pa.unique_inverse, pa.unique_all),
    *(partial(f, descending=d, axis=-1) for f in (pa.sort, pa.argsort) for d in (False, True)),
)
PARTS = (0.0, -0.0, 1.0, -0.5, 2.5, -7.7, math.inf, -math.inf, math.nan)
COMPLEX = [complex(*pair) for pair in product(PARTS, PARTS)]
NARROW = (
    *(dt.complex32, dt.complex64, dt.complex128, dt.bool, dt.int8, dt.uint4, dt.float16),
    *(dt.bfloat16, dt.float32, dt.float8_e5m2),
)
LAYOUTS: tuple[Callable[[Any], Any], ...] = (
    lambda x: x,
    lambda x: np.repeat(x, 2)[::2],
    lambda x: x[::-1].copy()[::-1],
)


def pairs(dtype: DType) -> Any:
    """Pairs of what is special among complex numbers; of others some numbers, no divisor 0."""
    if dtype.kind is Kind.COMPLEX:
        return np.array([*product(COMPLEX, COMPLEX[::9])], np.complex64).T
    return np.arange(729) % 3, np.arange(729)[::-1] % 4 + 1


def operations(xp: Any, turn: int) -> Iterator[Call]:
    """What NumPy's loops and those of policies compute, of arrays that lie in several ways."""
    for (at, dtype), lay in product(enumerate(NARROW), LAYOUTS):
        with pa.policy("numpy"):
            x, y = (lay(pa.asarray(each).astype(dtype)._buffer) for each in pairs(dtype))
        for run in turns((*OF_TWO, *OF_ONE), 6, turn + at):
            given = (x, y) if run in OF_TWO else (x,)
            yield f"{run} of {dtype}, {x.strides}", partial(of_arrays, run, xp, *given)


def of_arrays(run: Callable[..., Any], xp: Any, *given: Any, **options: Any) -> Any:
    """What a function makes of arrays."""
    return run(*map(xp.asarray, given), **options)


def ordered(xp: Any, turn: int) -> Iterator[Call]:
    """Sorts and sets of any bits, of many that are alike and of what is special among floats."""
    for at, dtype in enumerate(CONCRETE):
        bits = np.random.default_rng(0).integers(0, 256, 200 * dtype.storage.itemsize, np.uint8)
        x = (bits & 1 if dtype is dt.bool else bits).view(dtype.storage)
        given = [x, x[:7], x[:1], x[:0], np.concatenate([x[:20]] * 3), x[:60].reshape(3, 20)]
        given.append(x[:1].reshape(()))
        with np.errstate(all="ignore"):
            special = PARTS if dtype.kind is Kind.FLOAT else COMPLEX
            if dtype.kind in (Kind.FLOAT, Kind.COMPLEX):
                given.append(pa.asarray(np.array(special)).astype(dtype)._buffer)
        for run, values in turns(product(ORDERS, given), 6, turn + at):
            yield f"{run} of {values}", partial(of_arrays, run, xp, values)


# --- Matrices, transforms and what is joined -----------------------------------------------------

NORMS = [{"norm": norm} for norm in ("backward", "ortho", "forward", "none")]
SIDES = [{"side": side} for side in ("left", "right", "RIGHT", 1, None)]
CALLS: dict[str, list[dict[str, Any]]] = {
    **{
        f"linalg.{name}": [{}]
        for name in ("inv", "det", "slogdet", "svdvals", "eig", "eigvals", "eigh", "eigvalsh")
    },
    "linalg.pinv": [{}, {"rtol": 0.9}, {"rtol": "0.9"}],
    "linalg.matrix_rank": [{}, {"rtol": 0.9}],
    "linalg.cholesky": [{}, {"upper": True}],
    "linalg.qr": [{}, {"mode": "complete"}, {"mode": "raw"}, {"mode": 1}],
    "linalg.svd": [{}, {"full_matrices": False}],
    "linalg.matrix_norm": [
        *({"ord": ord} for ord in ("fro", "nuc", 1, -1, 2, -2, math.inf, -math.inf, None)),
        *({"ord": "max"}, {"ord": 3}, {"keepdims": True}),
    ],
    "linalg.vector_norm": [
        *({"ord": ord} for ord in (0, 1, 2, 2.5, math.inf, -math.inf, "fro")),
        *({"axis": axis} for axis in (None, 0, -1, (0, 1), 5)),
        {"axis": 1, "keepdims": True},
    ],
    "linalg.diagonal": [{}, {"offset": 1}, {"offset": -1}, {"offset": 9}],
    "linalg.trace": [{}, {"offset": 1}, {"dtype": dt.float64}],
    **{
        f"fft.{name}": [{}, {"n": 1}, {"n": 3}, {"n": 0}, {"axis": 0}, {"axis": 4}, *NORMS]
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
    },
    **{
        f"fft.{name}": [{}, {"s": (2, 3)}, {"axes": (0,)}, {"axes": [0, 0]}, {"s": (1,)}, *NORMS]
        for name in ("fftn", "ifftn", "rfftn", "irfftn")
    },
    "diff": [{}, {"n": 2}, {"n": 3, "axis": 0}, {"n": -1}, {"axis": 2}, {"n": 2, "prepend": 1.0}],
    "argsort": [{}, {"descending": True}, {"axis": 0}, {"axis": "0"}, {"axis": 3}],
}
SQUARE = np.asarray([[2, 1], [1, 3]])
MATRICES = [SQUARE, np.ones((2, 2)), np.ones((2, 3)), np.stack([SQUARE, SQUARE + 1])]
MATRICES += [np.zeros((1, 1)), np.ones((0, 0)), np.ones(3)]
SYSTEM = np.asarray([[2, 1, 0], [1, 3, 1], [0, 1, 4]])
RIGHT = [np.ones(3), np.ones((3, 1)), np.ones((2, 3, 2)), np.ones(2), np.ones(()), np.ones(1)]
STRONG = [dt.bool, dt.int8, dt.int64, dt.bfloat16, dt.float16, dt.float32, dt.float64, dt.complex64]


def function(xp: Any, name: str) -> Callable[..., Any]:
    """A function of a namespace, or of an extension."""
    chapter, _, own = name.rpartition(".")
    found: Callable[..., Any] = getattr(getattr(xp, chapter) if chapter else xp, own)
    return found


def of_matrices(xp: Any, turn: int) -> Iterator[Call]:
    """Linear algebra and transforms of matrices, square, singular, stacked and none at all."""
    for at, (name, ways) in enumerate(CALLS.items()):
        for dtype, x, options in product(turns(STRONG, 6, turn + at), MATRICES, ways):
            run = partial(cast_first, function(xp, name), xp, (x, dtype), **options)
            yield f"{name} of {dtype} {x.shape}, {options}", run
    for (one, other), side in product(
        ((dt.float32, dt.float32), (dt.int8, dt.float64), (dt.float16, dt.complex64)), RIGHT
    ):
        for name, ways in {
            "linalg.solve": [{}],
            "linalg.cross": [{"axis": axis} for axis in (-1, 0, 1, 5)],
            "searchsorted": SIDES,
        }.items():
            first = SYSTEM[0] if name == "searchsorted" else SYSTEM
            for options in ways:
                pair = (first, one), (side, other)
                run = partial(cast_first, function(xp, name), xp, *pair, **options)
                yield f"{name} of {one}, {other} {side.shape}, {options}", run


def cast_first(run: Callable[..., Any], xp: Any, *given: Any, **options: Any) -> Any:
    """What a function makes of values in dtypes."""
    return run(*(xp.asarray(x).astype(dtype) for x, dtype in given), **options)


def concatenated(xp: Any, turn: int) -> Iterator[Call]:
    """Arrays joined, of one dtype and of several, however many there are."""
    values = np.asarray([[0, 1], [2, 3]])
    for name, dtype in product(("concat", "stack"), turns(CONCRETE, 6, turn)):
        join, x = getattr(xp, name), xp.asarray(values.astype(np.float32)).astype(dtype)
        parts = [x, x[:1], x[::-1].T, x, x[1:], x, x, x, x]
        for count in (3, 4, 9):
            yield f"{name} {count} of {dtype}", partial(join, parts[:count])
            for axis in (0, 1, -1, None, 5, "0", True):
                run = partial(join, [x] * count, axis=axis)
                yield f"{name} {count} of {dtype} along {axis}", run
    some = [dt.bool, dt.int8, dt.uint8, dt.int64, dt.bfloat16, dt.float32, dt.complex64]
    for one, other in turns(product(some, some), 6, turn):
        x, y = (xp.asarray(np.asarray([1, 0])).astype(dtype) for dtype in (one, other))
        lists = [[x, x, x, y], [y, x, x, x, x], [x[0], x[0], x[0], y[0]], [x, x, x, 1, y]]
        lists += [[x, x, x, np.ones(2)], [x, x, x, y[0]], [x[0], y[0], x[0], 2]]
        for name, each in product(("concat", "stack"), lists):
            yield f"{name} {each}", partial(getattr(xp, name), each)


# --- The second time is as the first -------------------------------------------------------------


def differing(calls: Calls, policy: str, turn: int, *, bound: bool) -> list[Any]:
    fresh = as_policy(policy).derive("fresh")  # which has met nothing
    xp = pa.namespace(fresh) if bound else pa
    with pa.policy("numpy" if bound else fresh):
        every = [*calls(xp, turn)]
        first, again = ([outcome(call) for _, call in every] for _ in range(2))
        with pa.trace():
            anew = [outcome(call) for _, call in every]
    rows = zip(every, first, again, anew, strict=True)
    return [(name, a, b, c) for (name, _), a, b, c in rows if not a == b == c]


@pytest.mark.parametrize("calls", [made, alike, listed])
@pytest.mark.parametrize("policy", EVERY)
def test_every_policy_has_the_answer_that_it_had(policy: str, calls: Calls) -> None:
    assert differing(calls, policy, EVERY.index(policy), bound=False) == []


OF_OPERATIONS = ["numpy", "numpy@1", "torch", "jax", "paddle", "tensorflow"]


@pytest.mark.parametrize("calls", [operations, ordered, of_matrices, concatenated])
@pytest.mark.parametrize("policy", OF_OPERATIONS)
def test_operations_have_the_answer_of_the_long_way(policy: str, calls: Calls) -> None:
    assert differing(calls, policy, OF_OPERATIONS.index(policy), bound=False) == []


@pytest.mark.parametrize("name", CALLS)
def test_warnings_name_the_line_of_the_program_each_time(name: str) -> None:
    for value in (3e38, math.inf):
        x, told = pa.asarray(np.full((2, 2), value, np.float32)), []
        for way in (pa.trace(), nullcontext(), nullcontext()):
            with way, warnings.catch_warnings(record=True) as found:
                warnings.simplefilter("always")
                for options in CALLS[name]:
                    with suppress(ValueError, TypeError):
                        function(pa, name)(x, **options)
                told.append([(str(w.message), w.filename, w.lineno) for w in found])
        assert told[0] == told[1] == told[2]
        assert {filename for _, filename, _ in told[0]} <= {__file__}


@pytest.mark.parametrize("bound", [False, True])
@pytest.mark.parametrize("calls", [questions, wrapped, joined])
@pytest.mark.parametrize("policy", SOME)
def test_some_have_it_in_a_namespace_too(policy: str, calls: Calls, bound: bool) -> None:
    assert differing(calls, policy, 2 * SOME.index(policy) + bound, bound=bound) == []


def test_numpys_arrays_without_axes_answer_for_no_others() -> None:
    with pa.policy(as_policy("paddle").derive("fresh")):
        assert pa.result_type(pa.bool, np.array(1, np.int8)) is pa.int8
        for _ in range(2):
            with pytest.raises(pa.PromotionError, match="does not promote"):
                pa.result_type(pa.bool, np.array([1, 1], np.int8))


def test_policies_answer_for_themselves() -> None:
    x = pa.asarray([1], dtype=pa.int8)
    bound = pa.namespace("torch").asarray(x)
    found = []
    for policy in ("numpy", "torch", "numpy", "jax", "torch") * 2:
        with pa.policy(policy):
            found.append(pa.result_type(x, 1.5).name)
            assert pa.result_type(bound, 1.5) is pa.float32
    assert found == ["float64", "float32", "float64", "float64", "float32"] * 2


def test_another_policy_makes_another_at_once() -> None:
    for _ in range(3):
        for name, dtype in (("numpy", pa.float64), ("torch", pa.float32), ("jax@x32", pa.float32)):
            with pa.policy(name):
                assert pa.zeros(1).dtype is pa.ones(1).dtype is pa.full(1, 1.5).dtype is dtype
            pa.set_policy(name)
            assert pa.zeros(1).dtype is pa.ones(1).dtype is pa.full(1, 1.5).dtype is dtype
            pa.set_policy("numpy")


def test_arrays_of_two_namespaces_are_refused_every_time() -> None:
    one, other = pa.namespace("torch").asarray([1.0]), pa.namespace("jax").asarray([1.0])
    for _ in range(3):
        for ask in (pa.result_type, pa.namespace("torch").result_type):
            with pytest.raises(TypeError, match="do not mix"):
                ask(one, other)


def test_what_numpy_warns_of_it_warns_of_every_time() -> None:
    for _ in range(3):
        with np.errstate(all="raise"), pytest.raises(FloatingPointError):
            pa.arange(0, 1e300, 1e299, dtype=pa.float32)


def test_what_is_no_shape_is_told_every_time() -> None:
    for shape in (-1, (2, -1), 1.5, "3", 2**70, (2**40, 2**40), None):
        errors = set()
        for _ in range(3):
            pa.zeros(1)
            with pytest.raises((TypeError, ValueError)) as error:
                pa.zeros(shape)
            errors.add(str(error.value))
        assert len(errors) == 1


def test_a_running_sum_takes_one_axis_every_time() -> None:
    x = pa.asarray([1.0, 2.0, 3.0])
    for axis in (None, (), 0.0, None, (), 0, (0,)):
        if axis is None or type(axis) is int:
            assert pa.cumulative_sum(x, axis=axis).tolist() == [1, 3, 6]
        else:
            with pytest.raises(TypeError, match="as axis, not"):
                pa.cumulative_sum(x, axis=axis)  # type: ignore[arg-type]


# --- What is made --------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", ["jax", "jax@x32"])
def test_weak_arrays_stay_weak_every_time(policy: str) -> None:
    with pa.policy(policy):
        for number in (1, 1.5, 1j):
            x = pa.asarray(number)
            for _ in range(3):
                arrays = pa.full(2, number), pa.zeros_like(x), pa.full_like(x, 2)
                assert [m.weak_type for m in arrays] == [True] * 3
                assert not pa.full_like(x, 2, dtype=x.dtype).weak_type


def test_a_namespace_makes_its_own_every_time() -> None:
    xp = pa.namespace("torch")
    x = xp.asarray([1, 2])
    with pa.policy("numpy"):
        for _ in range(3):
            new = xp.zeros(2), xp.ones(2), xp.empty(2), xp.full(2, 1.5), xp.asarray([1.0])
            assert {(type(m), m.dtype) for m in new} == {(type(x), pa.float32)}
            like = pa.zeros_like(x), xp.ones_like(x), pa.empty_like(x), xp.full_like(x, 1)
            assert {(type(m), m.dtype) for m in like} == {(type(x), pa.int64)}
            assert type(pa.zeros(2)) is type(pa.asarray([1.0])) is pa.PArray
            assert pa.asarray([1.0]).dtype is pa.float64
        with pytest.raises(TypeError):
            pa.namespace("jax").zeros_like(x)


def test_an_array_of_a_namespace_is_filled_by_its_policy() -> None:
    x = pa.namespace("jax").asarray([1], dtype=pa.int8)
    for policy in ("numpy", "torch", "jax"):
        with pa.policy(policy):
            assert [pa.full_like(x, 1.5).tolist() for _ in range(3)] == [[1]] * 3
            want = outcome(partial(pa.namespace("jax").full_like, x, 300))
            assert [outcome(partial(pa.full_like, x, 300)) for _ in range(3)] == [want] * 3


def test_what_was_made_is_nobody_elses() -> None:
    x, data = pa.asarray([1, 2]), [7.0, 8.0]
    for make in (
        *(lambda: pa.full(2, 7), lambda: pa.full_like(x, 7), lambda: pa.asarray(data)),
        *(lambda: pa.arange(7, 9), lambda: pa.linspace(7, 8, 2), lambda: pa.asarray([x[0], x[1]])),
    ):
        values = make().tolist()
        for _ in range(3):
            out = make()
            assert out.tolist() == values
            out[0] = 5
    assert x.tolist() == [1, 2]


def test_an_array_is_itself() -> None:
    x, weak = pa.asarray([1.0]), pa.PArray([1.0], policy=None, weak_type=True)
    for _ in range(3):
        assert pa.asarray(x) is pa.asarray(x, dtype=None) is pa.asarray(x, copy=None) is x
        assert pa.asarray(weak) is weak
        assert pa.asarray(x, dtype=x.dtype) is not x
        assert pa.asarray(x, dtype=x.dtype)._buffer is x._buffer
        assert not pa.asarray(weak, dtype=weak.dtype).weak_type


def test_a_copy_where_one_is_needed_is_what_is_not_said() -> None:
    x, data = pa.asarray([1.5]), np.asarray([2.5])
    for _ in range(3):
        assert np.shares_memory(pa.asarray(data, copy=None)._buffer, data)
        assert pa.asarray([1.5, 2.5], copy=None).tolist() == [1.5, 2.5]
        assert pa.asarray([x, x], copy=None).tolist() == [[1.5], [1.5]]
        assert pa.asarray(x, copy=True) is not x
        with pytest.raises(ValueError, match="copy=False: Python numbers"):
            pa.asarray([1.5, 2.5], copy=False)


def test_lists_of_arrays_that_were_joined_before_may_be_of_other_shapes() -> None:
    x, y, flat = pa.asarray([1.5]), pa.asarray([1.5, 2.5]), pa.asarray(3.5)
    for _ in range(3):
        assert pa.asarray([x, x]).shape == (2, 1)
        assert pa.asarray((y, y)).shape == (2, 2)
        assert pa.asarray([flat, flat]).shape == (2,)
        for ragged in ([x, y], [x, flat], [flat, y]):
            with pytest.raises(ValueError, match="shape"):
                pa.asarray(ragged)


def as_the_long_way(calls: list[Callable[[], Any]]) -> None:
    """What observers hear of goes the long way each time."""
    with pa.trace():
        wanted = [outcome(call) for call in calls]
    for _ in range(2):
        assert [outcome(call) for call in calls] == wanted


def test_subclasses_namespaces_and_weakly_typed_arrays_are_joined_alike() -> None:
    class Mine(pa.PArray):
        pass

    x = pa.asarray([1.0, 2.0])
    mine = Mine._wrap(np.ones(2), dt.float64)
    bound = pa.namespace("torch").asarray([1.0, 2.0])
    weak = pa.PArray([1.5], weak_type=True)
    for join in (pa.concat, pa.stack, pa.namespace("torch").concat):
        lists = [[mine] * 4, [x, x, x, mine], [mine, x, x, x], [bound] * 4, [x, bound, bound, x]]
        as_the_long_way([partial(join, each) for each in lists])
    with pa.policy("jax"):
        as_the_long_way([partial(pa.concat, [weak] * 4), partial(pa.concat, [weak, weak, weak, x])])
        assert pa.concat([weak] * 4).weak_type
    y = pa.asarray([1], dtype=pa.int8)
    with pa.policy("torch"):
        z = pa.concat([y, y, y, x.astype(pa.float16)])
    assert (z.dtype, pa.concat([y, y, y, x.astype(pa.float16)]).dtype) == (dt.float16, dt.float16)


def test_joining_leaks_nothing() -> None:
    x, y = pa.asarray([1.0, 2.0]), pa.asarray([1.0])
    same, unlike = [x] * 6, [x, x, x, x[None], y]
    watched = [x, x._buffer, y, x._type, same, unlike, pa.get_policy(), pa.PArray]

    def work(times: int) -> None:
        for _ in range(times):
            pa.concat(same), pa.stack((*same,))
            for wrong in (partial(pa.concat, unlike), partial(pa.concat, same, axis=7)):
                assert issubclass(outcome(wrong)[0], ValueError)

    work(20)
    gc.collect()
    counts = [sys.getrefcount(each) for each in watched]
    work(500)
    gc.collect()
    grown = [sys.getrefcount(e) - count for e, count in zip(watched, counts, strict=True)]
    assert all(abs(each) < 50 for each in grown), grown


# --- Names of dtypes -----------------------------------------------------------------------------

SPELLED: list[tuple[Any, DType]] = [
    *(("float32", dt.float32), ("bf16", dt.bfloat16), (">f4", dt.float32)),
    *((np.float32, dt.float32), (np.dtype("int8"), dt.int8), (np.dtype(">i2"), dt.int16)),
    *((dt.float8_e4m3fn.storage, dt.float8_e4m3fn), (dt.bfloat16.storage.type, dt.bfloat16)),
    *((float, dt.float64), (bool, dt.bool)),
]
TAKE_A_DTYPE: dict[str, Callable[[Any, Any, Any], Any]] = {
    "astype method": lambda xp, x, spelled: x.astype(spelled),
    "astype": lambda xp, x, spelled: xp.astype(x, spelled),
    "asarray": lambda xp, x, spelled: xp.asarray(x, dtype=spelled),
    "asarray of NumPy's": lambda xp, x, spelled: xp.asarray(np.ones(2), dtype=spelled),
    "asarray of a copy": lambda xp, x, spelled: xp.asarray(x, dtype=spelled, copy=True),
    "asarray of a number": lambda xp, x, spelled: xp.asarray(1, dtype=spelled),
    "asarray of a list": lambda xp, x, spelled: xp.asarray([1, 0], dtype=spelled),
    "zeros": lambda xp, x, spelled: xp.zeros(2, dtype=spelled),
    "ones": lambda xp, x, spelled: xp.ones((1, 2), dtype=spelled),
    "full": lambda xp, x, spelled: xp.full(2, 1, dtype=spelled),
    "zeros_like": lambda xp, x, spelled: xp.zeros_like(x, dtype=spelled),
    "full_like": lambda xp, x, spelled: xp.full_like(x, 1, dtype=spelled),
    "arange": lambda xp, x, spelled: xp.arange(2, dtype=spelled),
}


@pytest.mark.parametrize("call", TAKE_A_DTYPE)
@pytest.mark.parametrize("bound", [False, True])
def test_a_dtype_may_be_spelled_in_any_way(call: str, bound: bool) -> None:
    fresh = as_policy("torch").derive("fresh")
    xp = pa.namespace(fresh) if bound else pa
    with pa.policy(fresh):
        x = xp.asarray(np.asarray([1.0, 0.0]))
        for spelled, dtype in SPELLED:
            try:
                expected = outcome(partial(TAKE_A_DTYPE[call], xp, x, dtype))
            except TypeError:  # what arange has not
                continue
            for _ in range(3):
                assert outcome(partial(TAKE_A_DTYPE[call], xp, x, spelled)) == expected


# --- Observers -----------------------------------------------------------------------------------


def test_a_shadow_run_hears_of_every_default_and_every_dtype_that_is_asked_for() -> None:
    x = pa.asarray([1, 2])
    for _ in range(2):
        for make in (
            *(lambda: pa.zeros(2), lambda: pa.ones(2), lambda: pa.full(2, 1.5)),
            lambda: pa.asarray([1.5, 2.5]),
        ):
            make()
            with pa.shadow("numpy", "torch") as report:
                for _ in range(3):
                    assert (make() + 1).dtype is pa.float64
            assert "float32" in str(report)
        with pa.shadow("numpy", "jax@x32") as report:
            assert (pa.zeros_like(x, dtype=pa.float64) + 1).dtype is pa.float64
            assert (pa.asarray(x, dtype="float64") + 1).dtype is pa.float64
        assert "float32" in str(report)
