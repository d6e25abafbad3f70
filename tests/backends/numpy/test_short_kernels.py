"""What computes short operands gives the bits of what computes operands of any length."""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.core.executable_cache import Executable
from promoarray.dtypes import DType, Kind, as_dtype
from promoarray.kernels.portable.xla import first_selects, second_selects
from promoarray.operations import OPERATIONS
from promoarray.policies import as_policy

OF_TWO: tuple[Callable[..., Any], ...] = (
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq),
    *(operator.truediv, operator.floordiv, operator.mod, operator.pow, operator.mul),
    *(pa.maximum, pa.minimum, pa.atan2, pa.hypot, pa.logaddexp, pa.logical_or, pa.logical_xor),
    *(pa.isin, pa.linalg.outer, pa.extras.l1_loss, pa.extras.mse_loss),
    *(pa.extras.huber_loss, pa.extras.poisson_nll_loss),
)
OF_ONE: tuple[Callable[..., Any], ...] = (
    *(pa.isfinite, pa.isnan, pa.isinf, pa.signbit, pa.floor, pa.ceil, pa.trunc, pa.round),
    *(pa.real, pa.imag, pa.any, pa.all, pa.sum, pa.prod, pa.max, pa.min, pa.mean, pa.sign),
    *(pa.argmax, pa.argmin, pa.std, pa.var, pa.diff, pa.cumulative_sum, pa.cumulative_prod),
    *(pa.logical_not, pa.expm1, pa.log1p, pa.square, pa.negative),
)
OPTIONS: dict[str, dict[str, Any]] = {"isin": {"invert": True}, "diff": {"axis": 0}}
NAMES = ("complex64", "complex128", "complex32", "bool", "int8", "uint4", "float16", "bfloat16")
DTYPES = tuple(map(as_dtype, (*NAMES, "float32", "float8_e5m2")))
PARTS = (0.0, -0.0, 1.0, -0.5, 2.5, -7.7, np.inf, -np.inf, np.nan)


def values(dtype: DType) -> tuple[Any, Any]:
    """All pairs of what is special among complex numbers; of others some numbers."""
    if dtype.kind is not Kind.COMPLEX:
        return np.arange(729) % 3, np.arange(729)[::-1] % 4 + 1  # no divisor is 0
    one = [complex(*pair) for pair in product(PARTS, PARTS)]
    x, y = zip(*product(one, one[:: len(one) // 9]), strict=True)
    return np.array(x, np.complex64), np.array(y, np.complex64)


REFUSED = (TypeError, ArithmeticError)
"""By the policy, by NumPy, which subtracts no bools, or because of a zero."""

POLICIES = ("numpy", "jax", "torch", "paddle", "paddle@2.6", "tensorflow", "mindspore")


def with_gaps(x: Any) -> Any:
    """The same elements, every other one in memory."""
    made = np.zeros(2 * x.size, x.dtype)[::2]
    made[...] = x
    return made


def backwards(x: Any) -> Any:
    """The same elements, the last first in memory."""
    return x[::-1].copy()[::-1]


LAYOUTS: tuple[Callable[[Any], Any], ...] = (lambda x: x, with_gaps, backwards)


@pytest.mark.parametrize("name", [*POLICIES, "tensorflow@safe", "aclnn@8.0"])
@np.errstate(all="ignore")
def test_short_kernels_answer_as_what_they_stand_for(name: str) -> None:
    policy = as_policy(name).derive("short kernels")
    z = pa.asarray(values(as_dtype("complex64"))[1])
    buffers: dict[DType, tuple[Any, Any]] = {}
    with pa.policy(policy):
        for dtype in DTYPES:
            x, y = (pa.asarray(each).astype(dtype) for each in values(dtype))
            buffers[dtype] = x._buffer, y._buffer
            for run in (*OF_TWO, *OF_ONE):
                with contextlib.suppress(*REFUSED):
                    run(x, y) if run in OF_TWO else run(x)
            for run in OF_TWO:
                with contextlib.suppress(*REFUSED):
                    run(x, z)
    held = 0
    for key, executable in policy.executables.items():
        if type(executable) is not Executable or executable.kernel is None:
            continue
        if not isinstance(key[0], str) or key[0].rstrip("()") not in OPERATIONS:
            continue
        if not buffers.keys() >= {*key[1:]}:  # a mean of what was made
            continue
        operands = [buffers[dtype][index] for index, dtype in enumerate(key[1:])]
        options = OPTIONS.get(key[0].rstrip("()"), {})
        layouts = LAYOUTS[:1] if any(d.kind is Kind.COMPLEX for d in key[1:]) else LAYOUTS
        for lay in layouts:
            laid = [lay(operand) for operand in operands]
            try:
                short = executable.kernel(*laid, **options)
            except REFUSED:
                continue
            any_length = executable.run(*laid, **options)
            if short is None:  # it has nothing for these
                continue
            assert np.asarray(short).dtype == np.asarray(any_length).dtype, key
            assert np.asarray(short).tobytes() == np.asarray(any_length).tobytes(), key
            held += 1
    assert held > 200


@pytest.mark.parametrize("name", ["jax@x64", "mindspore@2.10", "torch@2.13"])
@np.errstate(all="ignore")
def test_functions_have_kernels_whatever_is_cast(name: str) -> None:
    policy = as_policy(name).derive("kernels of all")
    arrays = [pa.ones(1, dtype=dtype) for dtype in dt.STANDARD]
    with pa.policy(policy):
        for x, y in product(arrays, arrays):
            for function in (pa.multiply, pa.divide, pa.atan2, pa.maximum):
                with contextlib.suppress(TypeError):
                    function(x, y)
        for x in arrays:
            with contextlib.suppress(TypeError):
                pa.mean(x)
    known = [each for each in policy.executables.items() if type(each[1]) is Executable]
    assert len(known) > 100
    assert [key for key, executable in known if executable.kernel is None] == []


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("shapes", [((9,), (9,)), ((2, 1), (9,)), ((), (9,)), ((9, 1), ())])
def test_bools_select_complex_numbers_as_xla_has_it(shapes: Any, dtype: str) -> None:
    rng = np.random.default_rng(0)
    mask = rng.random(shapes[0]) < 0.5
    z = np.resize(values(as_dtype(dtype))[1].astype(dtype), shapes[1])
    with pa.policy(as_policy("jax@x64").derive("selecting")), np.errstate(all="ignore"):
        x, y = pa.asarray(mask), pa.asarray(z)
        want = first_selects(np, mask.astype(dtype), z)
        for _ in range(2):  # the second time by the kernel
            assert np.asarray(x * y).tobytes() == want.tobytes()
            assert (
                np.asarray(y * x).tobytes() == second_selects(np, z, mask.astype(dtype)).tobytes()
            )


@pytest.mark.parametrize("length", [1, 5000, 1 << 20])
@pytest.mark.parametrize("compare", [operator.lt, operator.le, operator.gt, operator.ge])
def test_integers_of_64_bits_compare_by_their_values(compare: Any, length: int) -> None:
    signed = [-(2**63), -1, 0, 1, 2**53, 2**53 + 1, 2**63 - 1]
    unsigned = [0, 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1]
    a = pa.asarray(np.resize(np.repeat(signed, 7), length + 48))
    b = pa.asarray(np.resize(np.array(unsigned, np.uint64), length + 48))
    x, y = (np.array([int(n) for n in each._buffer[-49:]], object) for each in (a, b))
    with pa.policy("numpy@2"):
        for _ in range(2):  # the second time by what was kept
            np.testing.assert_array_equal(compare(a, b)._buffer[-49:], compare(x, y).astype(bool))
            np.testing.assert_array_equal(compare(b, a)._buffer[-49:], compare(y, x).astype(bool))
        for narrow in (pa.int8, pa.int16, pa.int32):
            few = pa.asarray([-1, 0, 1, 100], dtype=narrow)
            for other in (0, 1, 100, 2**64 - 1):
                c, wanted = pa.asarray([other], dtype=pa.uint64), [-1, 0, 1, 100]
                for _ in range(2):
                    assert compare(few, c)._buffer.tolist() == [compare(n, other) for n in wanted]
                    assert compare(c, few)._buffer.tolist() == [compare(other, n) for n in wanted]


@pytest.mark.parametrize("dtype", [d for d in dt.BY_STORAGE.values() if d.kind in dt.INTEGERS])
@pytest.mark.parametrize("length", [1, 9, 70_000])
def test_the_sign_bit_of_an_integer_is_that_it_is_less_than_zero(dtype: DType, length: int) -> None:
    near_zero = np.arange(length) % 4 - (2 if dtype.kind is Kind.INT else 0)
    with pa.policy("numpy@2"):
        x = pa.asarray(near_zero.astype(np.int8).astype(dtype.storage))
        for given, held in ((x, near_zero), (x[::2], near_zero[::2])):
            for _ in range(2):
                found = pa.signbit(given)
                assert found.dtype is pa.bool
                assert np.array_equal(np.asarray(found), held < 0)


def test_short_results_lie_as_operands_do() -> None:
    x = pa.asarray(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    for narrow in (x, x.astype(pa.bfloat16), x.astype(pa.int4)):
        for view in (narrow.mT, narrow[:, ::2], narrow[::-1], pa.permute_dims(narrow, (2, 0, 1))):
            like = np.empty_like(view._buffer)
            for made in (view.astype(pa.float64), pa.abs(view), pa.exp(view)):
                order = np.argsort(like.strides).tolist()
                assert np.argsort(made._buffer.strides).tolist() == order
                assert made.shape == view.shape
            assert view.astype(pa.float64).tolist() == narrow_values(view)


def narrow_values(x: pa.PArray) -> Any:
    """The values one by one."""
    flat = [float(x[index]) for index in np.ndindex(x.shape)]
    return np.array(flat).reshape(x.shape).tolist()
