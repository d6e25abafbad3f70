"""Values that are one framework's own, against what PyTorch 2.13.0, JAX 0.10.2, TensorFlow 2.21.0,
Paddle 3.3.1 and MindSpore 2.10.0 answered on a CPU."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.kernels.portable import ranges, variants
from promoarray.policies import Operand, Plan, Rank, as_policy
from promoarray.promotion.registry import list_policies
from promoarray.promotion.variants import VARIANTS

NAN, INF = float("nan"), float("inf")
INTS = [7, -7, 0, -(2**31)]
POWERS = [0, 1, -1, 2, 3, -2]
FLOATS = [7.0, -7.0, 0.0, -0.0, INF, NAN, 1e30, -1.0]
HALVES = [1.0, 3.0, 2.5, 100.0, 7.0]


def array(values: list[Any], dtype: str = "int32") -> pa.PArray:
    return pa.asarray(values, dtype=dtype)


def ints(op: Callable[[Any, Any], Any], y: Any) -> Callable[[], Any]:
    return lambda: op(array(INTS), array(y) if isinstance(y, list) else y)


# [1, 3, 2.5, 100, 7] in a narrow dtype with a Python float.
NARROW = """
torch   bfloat16 *  1.1  1.1015625 3.296875 2.75 110.0 7.6875
jax     bfloat16 *  1.1  1.1015625 3.3125 2.75 110.0 7.71875
paddle  bfloat16 *  1.1  1.1015625 3.3125 2.75 110.0 7.71875
torch   bfloat16 +  0.1  1.1015625 3.09375 2.59375 100.0 7.09375
torch   bfloat16 /  3.3  0.302734375 0.91015625 0.7578125 30.25 2.125
jax     bfloat16 /  3.3  0.302734375 0.91015625 0.7578125 30.375 2.125
torch   bfloat16 // 0.1  9.0 29.0 24.0 1000.0 69.0
torch   bfloat16 %  0.3  0.09765625 0.29296875 0.09375 0.140625 0.08203125
torch   float16  *  1.1  1.099609375 3.30078125 2.75 110.0 7.69921875
jax     float16  *  1.1  1.099609375 3.298828125 2.75 109.9375 7.6953125
torch   float16  // 0.1  9.0 29.0 24.0 999.0 69.0
jax     float16  // 0.1  10.0 30.0 25.0 1000.0 70.0
torch   float16  %  0.3  0.099853515625 0.299560546875 0.099609375 0.083740234375 0.098876953125
"""
SYMBOLS = {
    "*": operator.mul,
    "+": operator.add,
    "/": operator.truediv,
    "//": operator.floordiv,
    "%": operator.mod,
}


@pytest.mark.parametrize("row", NARROW.strip().splitlines())
def test_scalars_beside_narrow_floats(row: str) -> None:
    policy, dtype, symbol, scalar, *answers = row.split()
    with pa.policy(policy):
        got = SYMBOLS[symbol](array(HALVES, dtype), float(scalar))
        assert got.dtype.name == dtype
        assert got.tolist() == [float(x) for x in answers]
        if policy == "torch" and symbol == "*":
            assert (float(scalar) * array(HALVES, dtype)).tolist() == got.tolist()


def clipped(dtype: str) -> Any:
    return pa.clip(array([0, 2, 9], dtype), 3, 1)


def zeros_clipped(low: float | None, high: float | None) -> Any:
    """What becomes of -0.0 and 0.0 where they equal a bound."""
    return pa.clip(array([-0.0, 0.0] * 5, "float32"), low, high)[:2]


def line(*ends: float) -> list[int]:
    return pa.linspace(*ends, dtype="int32")  # type: ignore[arg-type, return-value]


def steps(*ends: float) -> Any:
    return pa.arange(*ends, dtype="int32")


def complexes(op: Callable[[Any, Any], Any]) -> Any:
    x = array([1 + 2j, 3.5 - 1j, 2 - 4j, -7 + 1j], "complex64")
    return op(x, array([2 + 4j, 2, 1j, 0.5 + 2j], "complex64"))


def signs() -> Any:
    return pa.sign(array([NAN, -0.0, -3.0, INF], "float32"))


def shifted(op: Callable[[Any, Any], Any], x: int) -> Callable[[], Any]:
    return lambda: op(array([x] * 4), array([31, 32, 33, -1]))


ZERO, LEAST = [0, 0, 0, 0], -(2**31)
DIVISORS = [2, 2, -2, -3]
# What counts from the first end alone has -7 where -6 is 23.
LINE_47 = """
    -20 -19 -18 -18 -17 -17 -16 -16 -15 -14 -14 -13 -13 -12 -12 -11 -10 -10 -9 -9 -8 -8 -7 -6 -6 -5
    -5 -4 -4 -3 -3 -2 -1 -1 0 0 0 0 1 2 2 3 3 4 4 5 6
"""
FLOOR, MOD, POW = operator.floordiv, operator.mod, operator.pow

ANSWERS: list[tuple[str, str, Callable[[], Any], Any]] = [
    ("numpy", "// zeros", ints(FLOOR, ZERO), [0, 0, 0, 0]),
    ("torch", "// zeros", ints(FLOOR, ZERO), ZeroDivisionError),
    ("torch", "// 0", ints(FLOOR, 0), ZeroDivisionError),
    ("torch", "% zeros", ints(MOD, ZERO), ZeroDivisionError),
    ("tensorflow", "// zeros", ints(FLOOR, ZERO), ZeroDivisionError),
    ("tensorflow", "% 0", ints(MOD, 0), ZeroDivisionError),
    ("paddle", "// zeros", ints(FLOOR, ZERO), ZeroDivisionError),
    ("paddle@2.6", "% zeros", ints(MOD, ZERO), ZeroDivisionError),
    ("jax", "// zeros", ints(FLOOR, ZERO), [-2, -2, -1, -2]),
    ("jax", "// 0", ints(FLOOR, 0), [-2, -2, -1, -2]),
    ("jax", "% zeros", ints(MOD, ZERO), [0, 0, 0, 0]),
    ("jax", "uint8 // 0", lambda: array([7, 0, 255], "uint8") // 0, [255, 255, 255]),
    *(
        (policy, "// whole", ints(FLOOR, DIVISORS), [3, -4, 0, 715827882])
        for policy in ("numpy", "torch", "jax", "tensorflow", "paddle", "mindspore")
    ),
    ("jax@lax", "div", ints(operator.truediv, DIVISORS), [3, -3, 0, 715827882]),
    ("jax@lax", "div 0", ints(operator.truediv, ZERO), [-1, -1, -1, -1]),
    ("jax@lax", "rem", ints(MOD, DIVISORS), [1, -1, 0, -2]),
    ("jax@lax", "rem 0", ints(MOD, ZERO), INTS),
    (
        "jax@lax",
        "rem of floats",
        lambda: array([7.0, -7.0, 7.0, 1.0], "float64") % array([2.0, 2.0, -2.0, 0.0], "float64"),
        [1.0, -1.0, 1.0, NAN],
    ),
    ("onnx", "Div", ints(operator.truediv, DIVISORS), [3, -3, 0, 715827882]),
    ("onnx", "Div 0", ints(operator.truediv, ZERO), ZeroDivisionError),
    *(
        (policy, f"** {n}", lambda n=n: array(POWERS) ** array([n] * 6), powers)
        for policy in ("torch", "paddle")
        for n, powers in ((-1, [0, 1, -1, 0, 0, 0]), (-2, [0, 1, 1, 0, 0, 0]))
    ),
    *(
        (policy, f"** {n}", lambda n=n: array(POWERS) ** array([n] * 6), powers)
        for policies, n, powers in (
            (("mindspore", "paddle@2.6"), -1, [LEAST, 1, -1, 0, 0, 0]),
            (("mindspore", "paddle@2.6"), -2, [LEAST, 1, 1, 0, 0, 0]),
            (("mindspore", "paddle@2.6", "paddle@3.3"), 31, [0, 1, -1, LEAST, LEAST, LEAST]),
            (("mindspore", "paddle@2.6", "paddle@3.3"), 11, [0, 1, -1, 2048, 177147, -2048]),
            (("jax", "jax@x32"), -1, [0, 1, -1, 0, 2111105451, 0]),
            (("jax", "jax@x32"), 65, [0, 1, -1, 2, 3, -2]),
        )
        for policy in policies
    ),
    *(
        (
            policy,
            "** 31 as a scalar",
            lambda: array(POWERS) ** 31,
            [0, 1, -1, LEAST, wrapped, LEAST],
        )
        for policy, wrapped in (
            ("paddle", 1264544299),
            ("paddle@2.6", 1264544299),
            ("jax", 1264544299),
            ("mindspore", LEAST),
        )
    ),
    ("jax", "** 65 as a scalar", lambda: array([3, -3]) ** 65, [1820079875, -1820079875]),
    ("jax", "2 ** negative", lambda: 2 ** array([-1, 70]), [0, 64]),
    ("mindspore", "// zeros", ints(FLOOR, ZERO), [2**31 - 1, LEAST, 0, LEAST]),
    ("mindspore", "// 0", ints(FLOOR, 0), [2**31 - 1, LEAST, 0, LEAST]),
    ("mindspore", "% zeros", ints(MOD, ZERO), [LEAST] * 4),
    ("mindspore", "int8 // 0", lambda: array([7, -7, 0], "int8") // 0, [127, -128, 0]),
    ("mindspore", "int8 % 0", lambda: array([7, -7, 0], "int8") % 0, [0, 0, 0]),
    ("torch", "2 ** negative", lambda: 2 ** array([-1, -2, 3]), [0, 0, 8]),
    *(
        (policy, "** -1", lambda: array(POWERS) ** -1, ValueError)
        for policy in ("numpy", "torch", "jax", "tensorflow", "paddle")
    ),
    ("torch", "-1 ** x", lambda: (-1) ** array([2, 3]), [1, -1]),
    ("torch", "float ** -1", lambda: array([2.0], "float32") ** -1, [0.5]),
    *(
        (policy, f"clip {dtype}", lambda dtype=dtype: clipped(dtype), answer)
        for dtype in ("int32", "float32")
        for policy, answer in {
            "numpy": [1, 1, 1],
            "torch": [1, 1, 1],
            "jax": [1, 1, 1],
            "mindspore": [1, 1, 1],
            "tensorflow": [3, 3, 3],
            "paddle": ValueError,
            "paddle@2.6": ValueError,
        }.items()
    ),
    *(
        (policy, f"linspace of integers {ends}", lambda ends=ends: line(*ends), answer)
        for policies, ends, answer in [
            (("numpy", "numpy@1", "jax", "array_api"), (-1, 1, 5), [-1, -1, 0, 0, 1]),
            (("numpy", "numpy@1", "jax", "array_api"), (0.9, 3.9, 3), [0, 2, 3]),
            (("torch", "paddle", "paddle@2.6", "mindspore"), (-1, 1, 5), [-1, 0, 0, 0, 1]),
            (("torch", "paddle", "paddle@3.3", "paddle@2.6"), (0.9, 3.9, 3), [0, 1, 3]),
            (("mindspore",), (0.9, 3.9, 3), [0, 2, 3]),
            (("torch", "paddle", "mindspore"), (2.7, 9, 1), [2]),
            (("torch", "paddle@3.3"), (-20, 6, 47), [int(x) for x in LINE_47.split()]),
        ]
        for policy in policies
    ),
    *(
        (policy, f"arange of integers {ends}", lambda ends=ends: steps(*ends), answer)
        for policies, ends, answer in [
            (("numpy", "numpy@1"), (-3, 0, 0.5), [-3, -2, -1, 0, 1, 2]),
            (("jax", "torch"), (-3, 0, 0.5), [-3] * 6),
            (("numpy", "numpy@1"), (2.9, 7, 1.9), [2, 4, 6]),
            (("jax", "torch"), (2.9, 7, 1.9), [2, 3, 4]),
            (("jax", "torch"), (0, 20.5, 2.5), [0, 2, 4, 6, 8, 10, 12, 14, 16]),
        ]
        for policy in policies
    ),
    *(  # in int64 PyTorch counts the integers themselves
        ("torch", f"arange of int64 {ends}", lambda ends=ends: pa.arange(*ends, dtype="int64"), n)
        for ends, n in [
            ((0, 3.5, 1), [0, 1, 2]),
            ((-0.5, 3, 1), [0, 1, 2]),
            ((5, 0, -1.5), [5, 4, 3, 2, 1]),
            ((0, 0.5, 1), []),
        ]
    ),
    ("paddle", "complex %", lambda: complexes(MOD), [-1 - 2j, -0.5 + 1j, 0, -1 - 0.5j]),
    ("mindspore", "complex //", lambda: complexes(FLOOR), [0, 1, -4, -1]),
    ("mindspore", "complex %", lambda: complexes(MOD), [1 + 2j, 1.5 - 1j, 2, -6.5 + 3j]),
    *((policy, "sign", signs, [0.0, 0.0, -1.0, 1.0]) for policy in ("torch", "mindspore")),
    *(
        (
            policy,
            f"clip zeros {bounds}",
            lambda b=bounds: zeros_clipped(*b),
            [float(f"{sign}0.0") for sign in answer],
        )
        for policies, *answers in [
            (("numpy", "array_api"), "-+", "++", "++", "-+"),
            (("numpy@1", "mindspore"), "++", "++", "++", "++"),
            (("jax",), "++", "++", "-+", "-+"),
            (("torch", "tensorflow", "paddle"), "-+", "-+", "-+", "-+"),
        ]
        for bounds, answer in zip(
            [(0.0, 1.0), (0.0, None), (None, 0.0), (-1.0, 0.0)], answers, strict=True
        )
        for policy in policies
    ),
    *((policy, "sign", signs, [NAN, 0.0, -1.0, 1.0]) for policy in ("tensorflow", "paddle")),
    *(
        (policy, f"{x} {op.__name__}", shifted(op, x), answer)
        for policies, op, x, answer in [
            (("numpy", "torch", "jax"), operator.lshift, 1, [-(2**31), 0, 0, 0]),
            (("numpy", "torch", "jax"), operator.rshift, -8, [-1, -1, -1, -1]),
            (("tensorflow",), operator.lshift, 1, [-(2**31), -(2**31), -(2**31), 1]),
            (("tensorflow",), operator.rshift, -8, [-1, -1, -1, -8]),
        ]
        for policy in policies
    ),
    *(
        (
            policy,
            "floats //",
            lambda: array(FLOATS, "float32") // array([0, 0, 0, 1, 2, 1, 1e-10, INF], "float32"),
            [INF, -INF, NAN, -0.0, inf_by_2, NAN, INF, last],
        )
        for policy, inf_by_2, last in (("torch", NAN, -1.0), ("tensorflow", INF, -0.0))
    ),
]


@pytest.mark.parametrize(
    ("policy", "what", "compute", "answer"), ANSWERS, ids=[f"{p} {w}" for p, w, *_ in ANSWERS]
)
def test_the_frameworks_own_values(
    policy: str, what: str, compute: Callable[[], Any], answer: Any
) -> None:
    with pa.policy(policy), np.errstate(all="ignore"):
        if isinstance(answer, type):
            with pytest.raises(answer):
                compute()
            return
        got = compute().tolist()
    if any(isinstance(x, complex) for x in got):
        assert got == answer
        return
    assert [repr(float(x)) for x in got] == [repr(float(x)) for x in answer]


@pytest.mark.parametrize(
    ("dtype", "answers"),
    [
        ("float32", [1.100000023841858, 0.4714285731315613, 11.0, 0.06734693795442581, INF]),
        ("bfloat16", [1.1015625, 0.470703125, 11.0, 0.0673828125, INF]),
        ("float16", [1.099609375, 0.47119140625, 10.9921875, 0.06732177734375, INF]),
    ],
)
def test_a_scalar_by_a_torch_tensor_is_its_reciprocal_times_the_scalar(
    dtype: str, answers: list[float]
) -> None:
    x = array([3.0, 7.0, 0.3, 49.0, 0.0], dtype)
    with pa.policy("torch"), np.errstate(divide="ignore"):
        for _ in range(3):
            assert (3.3 / x).tolist() == answers
        assert (3.3 / array([49, 5])).tolist() == [0.06734693795442581, 0.6600000262260437]
    with pa.policy("numpy"), np.errstate(divide="ignore"):
        assert (3.3 / x).tolist() != answers


def test_a_0d_array_keeps_its_value_only_as_the_second_operand() -> None:
    x, s = array([3.0], "bfloat16"), pa.asarray(1.1, dtype=pa.float64)
    with pa.policy("torch"):
        assert (x * s).tolist() == [3.296875]  # 3 * 1.1, rounded
        assert (s * x).tolist() == [3.3125]  # 1.1 rounded, times 3
        assert (x / s).dtype is pa.bfloat16


def test_in_place_is_the_same() -> None:
    x = array([3.0], "bfloat16")
    with pa.policy("torch"):
        x *= 1.1
    assert x.tolist() == [3.296875]


@pytest.mark.parametrize("dtype", ["int8", "int16", "int64"])
def test_exact_quotients_of_integers(dtype: str) -> None:
    """Every pair of int8, and the ends of int64, against Python's own integers."""
    ends = np.iinfo(dtype)
    some = {ends.min, ends.min + 1, -7, -2, -1, 0, 1, 2, 3, 7, 2**53 + 1, ends.max - 1, ends.max}
    values = range(-128, 128) if dtype == "int8" else sorted(v for v in some if v <= ends.max)
    pairs = [(x, y) for x in values for y in values if y != 0 and not (x == ends.min and y == -1)]
    x, y = (array(list(column), dtype) for column in zip(*pairs, strict=True))
    truncated = [int(Fraction(a, b)) for a, b in pairs]
    for policy in ("onnx", "jax@lax"):
        with pa.policy(policy):
            assert (x / y).tolist() == truncated
    with pa.policy("jax@lax"):
        assert (x % y).tolist() == [a - q * b for (a, b), q in zip(pairs, truncated, strict=True)]
    with pa.policy("jax"):
        assert (x // y).tolist() == [a // b for a, b in pairs]


@pytest.mark.parametrize("policy", ["torch", "paddle", "tensorflow", "onnx"])
def test_nothing_divided_by_zero_is_no_error(policy: str) -> None:
    with pa.policy(policy):
        assert (array([]) % array([])).shape == (0,)
        assert (array([]) % array([0])).shape == (0,)


@pytest.mark.parametrize("shape", [(), (0,), (2, 0)])
def test_variants_keep_shape_and_dtype(shape: tuple[int, ...]) -> None:
    x, y = pa.ones(shape, dtype=pa.int16), pa.ones(shape, dtype=pa.int16)
    for policy in ("torch", "jax", "tensorflow", "paddle"):
        with pa.policy(policy):
            for op in (FLOOR, MOD, POW, operator.lshift):
                assert (op(x, y).shape, op(x, y).dtype) == (shape, pa.int16)
            assert pa.sign(pa.astype(x, pa.float32)).shape == shape


def test_a_refused_division_leaves_its_target() -> None:
    x = array([1, 2])
    with pa.policy("torch"), pytest.raises(ZeroDivisionError, match=r"pa\.where\(y == 0"):
        x //= array([1, 0])
    assert x.tolist() == [1, 2]


def test_floats_go_the_usual_way() -> None:
    with pa.policy("torch"), np.errstate(all="ignore"):
        assert (array([1.0], "float32") // 0.0).tolist() == [INF]
        assert (array([2.0], "float32") ** array([-1.0], "float32")).tolist() == [0.5]


POLICIES_BY_OPERANDS = "jax numpy@2 numpy@1 torch paddle@3.3 openvino tinygrad".split()  # noqa: SIM905


def test_every_variant_is_described_computed_and_some_policys() -> None:
    lines = {name for name in VARIANTS if name.startswith(("arange", "linspace"))}  # of ranges.py
    lines |= ranges.LINES.keys()
    assert set(variants.of(np)) == set(VARIANTS) - lines
    used = {
        (name, variant)
        for policy in list_policies()
        for name, each in as_policy(policy).kernels.items()
        for variant in each
    }
    arrays = dt.bool, dt.int8, dt.int32, dt.float32
    seconds = (
        *(Operand(each, rank) for each in arrays for rank in (Rank.ARRAY, Rank.ZERO_D)),
        *(Operand(each, Rank.SCALAR) for each in (dt.weak_int, dt.weak_float)),
    )
    of_numpy_1 = Operand(dt.complex64, Rank.SCALAR)  # for which it has a shortcut
    names = "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "pow"
    of_operands = {
        policy.kernel(name, plan)
        for policy in map(as_policy, POLICIES_BY_OPERANDS)
        for name, x, y in product(names, (*arrays, dt.complex64), (*seconds, of_numpy_1))
        if y is not of_numpy_1 or policy.name == "numpy@1"
        if isinstance(plan := policy.plan(name, (Operand(x), y)), Plan)
    } - {*names}
    assert {variant for _, variant in used} | of_operands == set(VARIANTS)
