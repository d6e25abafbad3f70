"""Operators: both sides, in place, and how weak types, ranks and policies meet in them."""

from __future__ import annotations

import asyncio
import math
import re
import threading
from typing import Any

import numpy as np
import pytest
from operator_table import FORWARD, INPLACE

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import CONCRETE, NATIVE, DType, Kind
from promoarray.operations import OPERATIONS

SYMBOLS = {
    OPERATIONS[name].symbol: (name, FORWARD[name], inplace) for name, inplace in INPLACE.items()
}


@pytest.mark.parametrize("symbol", SYMBOLS)
def test_operator_function_and_in_place_agree(symbol: str) -> None:
    name, forward, inplace = SYMBOLS[symbol]
    floats = symbol in ("/", "%", "//", "**", "@")
    values = [[4.0, 3.0], [2.0, 1.0]] if floats else [[4, 3], [2, 1]]
    x, y = pa.asarray(values), pa.asarray(values)[::-1]
    expected = getattr(pa, name)(x, y)
    assert forward(x, y).tolist() == expected.tolist()
    target = pa.asarray(x, copy=True)
    kept = inplace(target, y)
    assert kept is target
    assert (target.tolist(), target.dtype) == (expected.tolist(), expected.dtype)
    assert x.tolist() == values


@pytest.mark.parametrize("symbol", [s for s in SYMBOLS if s != "@"])
def test_a_python_scalar_on_the_left_is_the_left_operand(symbol: str) -> None:
    name, forward, _ = SYMBOLS[symbol]
    x = pa.asarray([1, 2, 3], dtype=pa.int16)
    assert forward(7, x).tolist() == forward(7, np.array([1, 2, 3])).tolist()
    assert getattr(pa, name)(7, x).tolist() == forward(7, x).tolist()
    assert forward(x, 7).tolist() == forward(np.array([1, 2, 3], np.int16), 7).tolist()


@pytest.mark.parametrize("dtype", [d for d in CONCRETE if d.kind is not Kind.COMPLEX], ids=str)
def test_comparisons_answer_bools_on_both_sides(dtype: DType) -> None:
    x = pa.asarray([0, 1], dtype=dtype)
    for out in (x == x, x != 1, x < x, x <= 1, x > True, x >= x, x == 1, x < x[0]):
        assert (out.dtype, out.shape) == (pa.bool, (2,))
    assert (x == 1).tolist() == [False, True]
    assert (x < 1).tolist()[1] is False


@pytest.mark.parametrize("policy", ["numpy", "torch", "onnx", "array_api"])
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_no_element_is_none(policy: str, shape: tuple[int, ...]) -> None:
    x = pa.namespace(policy).ones(shape, dtype=pa.float8_e5m2)
    expected = np.zeros(shape, np.bool)
    reflected = None == x  # noqa: E711, SIM300
    for answer, value in ((x == None, expected), (reflected, expected), (x != None, ~expected)):  # noqa: E711
        assert type(answer) is type(x)
        assert answer.dtype is pa.bool
        np.testing.assert_array_equal(np.asarray(answer), value, strict=True)
    with pytest.raises(TypeError, match="PArray < NoneType"):
        _ = x < None


def test_unary_operators() -> None:
    x = pa.asarray([1, -2], dtype=pa.int8)
    assert ((-x).tolist(), (+x).tolist(), abs(x).tolist(), (~x).tolist()) == (
        [-1, 2],
        [1, -2],
        [1, 2],
        [-2, 1],
    )
    assert (~pa.asarray([True, False])).tolist() == [False, True]
    assert {(-x).dtype, (+x).dtype, abs(x).dtype, (~x).dtype} == {pa.int8}
    assert abs(pa.asarray([3 + 4j])).dtype is pa.float64
    with pytest.raises(pa.PromotionError, match="bitwise_invert"):
        ~pa.asarray([1.5])
    with pytest.raises(pa.PromotionError, match="negative"):
        -pa.asarray([True])


def test_results_never_share_memory_with_their_operands() -> None:
    x = pa.asarray([1.5, -2.0])
    names = ("positive", "abs", "conj", "real", "floor", "ceil", "trunc", "round", "sign")
    z = pa.asarray([1j, 2.0])
    outs = [getattr(pa, n)(x) for n in names] + [pa.real(z), pa.imag(z), pa.conj(z)]
    outs += [x + 0, pa.clip(x), pa.where(x == x, x, x), pa.concat([x]), pa.sum(x, axis=())]
    for n in ("floor", "positive", "round"):
        outs.append(getattr(pa, n)(pa.asarray([1, 2])))
    for out in outs:
        assert not np.shares_memory(np.asarray(out), np.asarray(x))
        assert not np.shares_memory(np.asarray(out), np.asarray(z))


def test_results_can_be_written_to() -> None:
    for x in (pa.asarray(1.0) + 1.0, pa.positive(2.0), pa.add(1, 2), pa.asarray([1.0])[0] * 2):
        x += 1
        assert x.item() == 4 if x.dtype is pa.int64 else x.item() == 3.0
    first, second = pa.add(1, 2), pa.add(1, 2)
    first += 1
    assert second.item() == 3


def test_scalars_that_are_equal_and_differ_are_kept_apart() -> None:
    x = pa.asarray([1.0])
    for zero in (0.0, -0.0, 0.0, -0.0):
        assert math.copysign(1, (x * zero).item()) == math.copysign(1, zero)
        assert math.copysign(1, pa.copysign(x, zero).item()) == math.copysign(1, zero)
    z = pa.asarray([1j])
    for one in (complex(1, -0.0), complex(1, 0.0), complex(1, -0.0)):
        assert math.copysign(1, (z * 0 + one).item().imag) == 1
        assert math.copysign(1, pa.where(z != z, z, one).item().imag) == math.copysign(1, one.imag)
    y = pa.asarray([1], dtype=pa.int8)
    dtypes = [(y + s).dtype for s in (1, 1.0, True, 1 + 0j, 1, True)]
    assert dtypes == [pa.int8, pa.float64, pa.int8, pa.complex128, pa.int8, pa.int8]


def test_broadcasting() -> None:
    x, y = pa.ones((3, 1), dtype=pa.int8), pa.ones((1, 4), dtype=pa.int16)
    assert ((x + y).shape, (x + y).dtype) == ((3, 4), pa.int16)
    assert (x + pa.asarray(1)).shape == (3, 1)
    assert (pa.zeros((0, 1)) + pa.zeros(3)).shape == (0, 3)
    with pytest.raises(ValueError, match="broadcast"):
        pa.ones(2) + pa.ones(3)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "dtype", [d for d in CONCRETE if d in NATIVE and d.kind is not Kind.COMPLEX], ids=str
)
def test_divmod_has_numpys_bits(dtype: DType) -> None:
    values = [0, 1, 7, 200] if dtype.kind in (Kind.UINT, Kind.BOOL) else [0, 1, -7, 100]
    if dtype.kind is Kind.FLOAT:
        values = [0.0, -0.0, 1e-7, -2.5, 6e4, math.inf, -math.inf, math.nan]
    x = np.asarray(values, dtype.storage)[:, None]
    ours = pa.asarray(x)
    for found, expected in (
        (divmod(ours, ours.T), np.divmod(x, x.T)),
        (divmod(ours, 3), np.divmod(x, 3)),
        (divmod(3, ours), np.divmod(3, x)),
        (divmod(ours, x.T), np.divmod(x, x.T)),
        (divmod(x.T, ours), np.divmod(x.T, x)),
    ):
        for one, other in zip(found, expected, strict=True):
            assert (type(one), one.dtype) == (pa.PArray, other.dtype)
            assert np.asarray(one).tobytes() == other.tobytes()


@pytest.mark.parametrize("policy", ["numpy@1", "jax@x32", "torch", "tensorflow", "paddle", "onnx"])
def test_divmod_is_both_operators(policy: str) -> None:
    x = pa.namespace(policy).asarray([7, -7, 5], dtype=pa.int32)
    for one, other in ((x, 2), (x, x + 1), (2, x), (x, 1.5)):
        try:
            expected = one // other, one % other
        except pa.PromotionError as refused:
            with pytest.raises(pa.PromotionError, match=f"^{re.escape(str(refused))}$"):
                divmod(one, other)
            continue
        found = divmod(one, other)
        assert [(type(z), z.dtype, z.tolist()) for z in found] == [
            (type(z), z.dtype, z.tolist()) for z in expected
        ]


def test_divmod_warns_at_the_line_of_the_program() -> None:
    with pytest.warns(RuntimeWarning, match="divide by zero") as caught:
        divmod(pa.asarray([1]), 0)
    assert {warning.filename for warning in caught} == {__file__}


def test_divmod_leaves_other_types_to_themselves() -> None:
    class Other:
        __array_ufunc__ = None

        def __divmod__(self, other: Any) -> str:
            return "divmod"

        __rdivmod__ = __divmod__

    x = pa.asarray([1])
    assert (divmod(x, Other()), divmod(Other(), x)) == ("divmod", "divmod")
    with pytest.raises(TypeError, match="unsupported operand type"):
        divmod(x, object())
    with pytest.raises(TypeError, match=r"PArray // list: .*pa\.asarray"):
        divmod(x, [1])


# --- in place, by policy ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("policy", "target", "other", "expected"),
    [
        ("numpy", "int32", 1.5, None),
        ("numpy", "float32", np.float64([1.0]), "float32"),
        ("numpy", "int8", np.int64([1]), "int8"),
        ("numpy", "float32", 1j, None),
        ("torch", "int32", 1.5, None),
        ("torch", "float16", pa.asarray([1.0], dtype="float64"), "float16"),
        ("jax", "int32", 1.5, "float64"),
        ("jax@x32", "int32", 1.5, "float32"),
    ],
)
def test_in_place_goes_by_the_policys_rule(
    policy: str, target: str, other: Any, expected: str | None
) -> None:
    with pa.policy(policy):
        x = before = pa.asarray([2], dtype=target)
        if expected is None:
            with pytest.raises(pa.PromotionError, match="may not be written into"):
                x += other
            assert (x.item(), x.dtype.name) == (2, target)
            return
        x += other
        assert x.dtype.name == expected
        # JAX binds the name to a new array, and leaves the old one alone.
        assert (x is before) is not policy.startswith("jax")
        assert before.item() == (2 if policy.startswith("jax") else 2 + np.asarray(other).item())


def test_in_place_keeps_narrow_dtypes_and_views() -> None:
    x = pa.asarray([1, 7], dtype=pa.int4)
    x += 1
    assert (x.tolist(), x.dtype) == ([2, -8], pa.int4)
    y = pa.asarray([1.0, 2.0, 3.0], dtype=pa.float8_e5m2)
    y[1:] *= 2
    assert y.tolist() == [1.0, 4.0, 6.0]
    z = pa.asarray(1.0)
    alias = z
    z -= 0.5
    assert alias.item() == 0.5


# --- weak types through chains ---------------------------------------------------------------


def test_jax_weak_types_last_until_something_strong_comes() -> None:
    with pa.policy("jax"):
        two = pa.asarray(2) * 1.5
        assert (two.weak_type, two.dtype) == (True, pa.float64)
        assert (pa.sqrt(two) + 1).weak_type
        strong = two + pa.ones(2, dtype=pa.bfloat16)
        assert (strong.weak_type, strong.dtype) == (False, pa.bfloat16)
        assert (pa.asarray(1) + pa.ones(1, dtype=pa.int8)).dtype is pa.int8
        assert (pa.asarray(1.0) + pa.ones(1, dtype=pa.int8)).dtype is pa.float64
        assert not two.astype(pa.float64).weak_type
    with pa.policy("jax@x32"):
        assert (pa.asarray(1.0) + pa.ones(1, dtype=pa.int8)).dtype is pa.float32


def test_weakly_typed_arrays_work_under_other_policies() -> None:
    with pa.policy("jax"):
        weak = pa.asarray(1.5)
    assert (weak + pa.ones(1, dtype=pa.float32)).dtype in (pa.float32, pa.float64)
    assert repr(weak + 1)


def test_0d_arrays_count_for_less_where_the_framework_says_so() -> None:
    x, y = pa.ones(2, dtype=pa.int8), pa.asarray(1, dtype=pa.int64)
    assert (x + y).dtype is pa.int64
    with pa.policy("torch"):
        assert (x + y).dtype is pa.int8
        assert (y + x).dtype is pa.int8
        assert (y + y).dtype is pa.int64
    with pa.policy("numpy@1"):
        assert (x + y).dtype is pa.int8
        assert (x + pa.asarray(1000)).dtype is pa.int16


# --- the policy in force ---------------------------------------------------------------------


def test_the_innermost_policy_decides_and_is_left_again() -> None:
    x = pa.ones(1, dtype=pa.int8)
    with pa.policy("torch"):
        assert (x + 1.5).dtype is pa.float32
        with pa.policy("numpy"):
            assert (x + 1.5).dtype is pa.float64
        assert (x + 1.5).dtype is pa.float32
    assert (x + 1.5).dtype is pa.float64

    @pa.policy("torch")
    def decorated() -> DType:
        return (x + 1.5).dtype  # type: ignore[no-any-return]

    assert decorated() is pa.float32


def test_a_policy_is_left_when_an_error_passes() -> None:
    with pytest.raises(ZeroDivisionError), pa.policy("torch"):
        _ = 1 / 0
    assert pa.get_policy().name == "numpy@2"


def test_threads_and_tasks_do_not_see_each_others_policies() -> None:
    x, seen = pa.ones(1, dtype=pa.int8), {}

    def in_thread() -> None:
        seen["thread"] = (x + 1.5).dtype

    async def task(name: str, policy: str) -> None:
        with pa.policy(policy):
            await asyncio.sleep(0)
            seen[name] = (x + 1.5).dtype

    async def tasks() -> None:
        await asyncio.gather(task("torch", "torch"), task("numpy", "numpy"), task("jax", "jax@x32"))

    with pa.policy("torch"):
        thread = threading.Thread(target=in_thread)
        thread.start()
        thread.join()
    asyncio.run(tasks())
    assert seen == {
        "thread": pa.float64,
        "torch": pa.float32,
        "numpy": pa.float64,
        "jax": pa.float32,
    }


# --- functions that move or reduce -----------------------------------------------------------


def test_manipulation_refuses_what_makes_no_sense() -> None:
    x = pa.zeros((2, 3))
    with pytest.raises(
        IndexError, match="expand_dims: axis 4 is out of bounds for array of dimension 3"
    ):
        pa.expand_dims(x, axis=4)
    with pytest.raises(ValueError, match="squeeze"):
        pa.squeeze(x, 0)
    with pytest.raises(ValueError, match="at least one"):
        pa.concat([])
    with pytest.raises(ValueError, match="at least one"):
        pa.stack([])
    with pytest.raises(ValueError, match="differ in their number of axes"):
        pa.concat([x, pa.zeros(2)])
    with pytest.raises(ValueError, match="must have one shape"):
        pa.stack([x, pa.zeros(2)])
    with pytest.raises(IndexError, match="out of bounds"):
        pa.take(x, pa.asarray([5]), axis=0)
    with pytest.raises(ValueError, match="axis="):
        pa.take(x, pa.asarray([0]))
    with pytest.raises(ValueError, match="mismatch"):
        pa.broadcast_shapes((2,), (3,))
    with pytest.raises(ValueError, match="broadcast"):
        pa.broadcast_to(x, (5, 5))
    assert pa.broadcast_shapes() == ()
    assert pa.broadcast_shapes((2, 1), (3,)) == (2, 3)
    assert type(pa.broadcast_arrays(x, x)) is type(pa.unstack(x)) is tuple


def test_reductions_take_axes_and_keepdims() -> None:
    values = np.arange(6.0).reshape(2, 3)
    x = pa.asarray(values)
    for name in ("sum", "prod", "mean", "std", "var", "max", "min", "all", "any"):
        ours, theirs = getattr(pa, name), getattr(np, name)
        for axis in (None, 0, -1, (0, 1)):
            for keepdims in (False, True):
                out = ours(x, axis=axis, keepdims=keepdims)
                expected = theirs(values, axis=axis, keepdims=keepdims)
                assert (out.tolist(), out.shape) == (expected.tolist(), expected.shape)
    assert pa.var(x, correction=1).item() == np.var(values, ddof=1)
    assert pa.argmax(x, axis=1, keepdims=True).tolist() == [[2], [2]]
    assert pa.argmin(x).item() == 0
    assert pa.count_nonzero(x, axis=0).tolist() == [1, 2, 2]
    assert [i.tolist() for i in pa.nonzero(x)] == [[0, 0, 1, 1, 1], [1, 2, 0, 1, 2]]
    assert pa.cumulative_sum(x, axis=1, include_initial=True).tolist()[0] == [0, 0, 1, 3]
    assert pa.cumulative_prod(x[1], include_initial=True).tolist() == [1, 3, 12, 60]
    with pytest.raises(ValueError, match="sum: axis 3 is out of bounds for array of dimension 2"):
        pa.sum(x, axis=3)
    with pytest.raises(ValueError, match="one-dimensional arrays only"):
        pa.cumulative_sum(x)
    with pytest.raises(ValueError, match="0-d"):
        pa.nonzero(x[0, 0])


def test_reductions_see_nan_and_zeros_of_narrow_dtypes() -> None:
    x = pa.asarray([1.0, math.nan, 0.0, -0.0], dtype=pa.float8_e4m3fn)
    assert math.isnan(pa.max(x).item())
    assert pa.argmax(x).item() == 1
    assert (pa.any(x).item(), pa.all(x).item()) == (True, False)
    assert pa.count_nonzero(x).item() == 2
    assert pa.isnan(x).tolist() == [False, True, False, False]
    assert pa.signbit(x).tolist()[3] is True
    y = pa.asarray([-2, 1], dtype=pa.int2)
    assert (pa.min(y).item(), pa.argmin(y).item(), pa.sum(y).item()) == (-2, 0, -1)


def test_products_of_matrices_and_vectors() -> None:
    values = np.arange(6.0).reshape(2, 3)
    x = pa.asarray(values)
    assert pa.matmul(x, x.T).tolist() == (values @ values.T).tolist()
    assert pa.vecdot(x, x).tolist() == [5.0, 50.0]
    assert pa.vecdot(pa.asarray([1j]), pa.asarray([1j])).item() == 1
    assert pa.tensordot(x, x, axes=2).item() == 55.0
    assert pa.tensordot(x, x.T, axes=1).tolist() == (values @ values.T).tolist()
    assert pa.linalg.outer(x[0], x[1]).tolist() == np.outer(values[0], values[1]).tolist()
    assert (pa.ones((2, 2), dtype=dt.int4) @ pa.ones((2, 2), dtype=dt.int4)).dtype is pa.int4
    with pytest.raises(ValueError, match="two vectors"):
        pa.linalg.outer(x, x)
    with pytest.raises(ValueError, match="matmul"):
        x @ x
    with pytest.raises(ValueError, match="0-d array is not a matrix"):
        x @ 2


def test_where_and_clip() -> None:
    x = pa.asarray([1, 5, 9], dtype=pa.int8)
    assert (pa.clip(x, 2, 6).tolist(), pa.clip(x, 2, 6).dtype) == ([2, 5, 6], pa.int8)
    assert pa.clip(x, max=4).tolist() == [1, 4, 4]
    assert pa.clip(x, pa.asarray([3, 3, 3]), None).dtype is pa.int64
    chosen = pa.where(x > 4, x, 0)
    assert (chosen.tolist(), chosen.dtype) == ([0, 5, 9], pa.int8)
    assert pa.where(x > 4, 1.5, x).dtype is pa.float64
    assert pa.where(pa.asarray(True), 1, 2).item() == 1
    with pytest.raises(TypeError, match="bool condition, not int8"):
        pa.where(x, x, x)
    with pytest.raises(TypeError, match="where takes an array"):
        pa.where(True, x, x)


def test_questions_about_promotion_follow_the_policy_and_the_binding() -> None:
    x = pa.ones(1, dtype=pa.int8)
    assert pa.result_type(x, 1.5) is pa.float64
    assert pa.result_type("int8", np.float32, np.ones(1, np.int16)) is pa.float32
    assert pa.promote_types(pa.int8, pa.uint8) is pa.int16
    assert (pa.can_cast(pa.int8, pa.int16), pa.can_cast(x, "uint8")) == (True, False)
    assert pa.can_cast(np.ones(1, np.int8), pa.int16)
    with pa.policy("torch"):
        assert pa.result_type(x, 1.5) is pa.float32
    bound = pa.namespace("torch").ones(1, dtype=pa.int8)
    assert pa.result_type(bound, 1.5) is (bound + 1.5).dtype is pa.float32
    assert pa.can_cast(bound, pa.uint8) is pa.namespace("torch").can_cast(pa.int8, pa.uint8)
    with pytest.raises(TypeError, match="at least one"):
        pa.result_type()
    with pytest.raises(TypeError, match="do not mix"):
        pa.result_type(bound, pa.namespace("jax").ones(1))
    with pa.policy("onnx"), pytest.raises(pa.PromotionError, match="result_type"):
        pa.result_type(pa.int8, pa.int16)


def test_functions_of_a_lone_python_number_compute_in_the_default_float() -> None:
    assert pa.sin(1).dtype is pa.float64
    assert float(pa.sqrt(2)) == 2**0.5


def test_arrays_of_numpy_enter_as_the_policy_holds_them() -> None:
    x = pa.asarray([1.0, 2.0], dtype=pa.float32)
    with pa.policy("jax@x32"):
        assert (x / np.int64(4)).dtype is pa.float32
        assert (np.arange(2.0) + x).dtype is pa.float32
        assert pa.add(np.arange(2), np.arange(2)).dtype is pa.int32
        assert pa.result_type(x, np.float64, np.zeros(2)) is pa.float32
        y = x
        y += np.ones(2)
        assert y.dtype is pa.float32
    assert (x / np.int64(4)).dtype is pa.float64


def test_mindspore_inverts_bools_by_the_operator() -> None:
    with pa.policy("mindspore@2.10"):
        assert (~pa.asarray([True, False])).tolist() == [False, True]
        assert (~pa.asarray([1, -2], dtype=pa.int8)).tolist() == [-2, 1]
