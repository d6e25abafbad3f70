"""What the wheels 3.3.1 and 2.6.2 answer besides the operators (conformance/programs)."""

from __future__ import annotations

import pytest

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.operations import Form
from promoarray.policies import Operand, Rank, Refusal, as_policy

NAN, INF = float("nan"), float("inf")


def answered(result):
    return result.dtype.name, result.tolist()


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (lambda: pa.full((1,), 2), ("float32", [2.0])),
        (lambda: pa.full((1,), True), ("bool", [True])),
        (lambda: pa.full((1,), 1j), ("complex128", [1j])),
        (lambda: pa.full((1,), 2**53 + 1, dtype=pa.uint8), ("uint8", [1])),
        (lambda: pa.full((1,), 300.7 + 1j, dtype=pa.int8), ("int8", [44])),
        (lambda: pa.full((1,), NAN, dtype=pa.int32), ("int32", [-(2**31)])),
        (lambda: pa.asarray([300, -1], dtype=pa.uint8), ("uint8", [44, 255])),
        (lambda: pa.asarray([1j], dtype=pa.float32), ("float32", [0.0])),
        (lambda: pa.full_like(pa.asarray([1], dtype=pa.int32), 2**31), ("int32", [-(2**31)])),
        (lambda: pa.full_like(pa.asarray([1.0]), INF, dtype=pa.int8), ("int8", [0])),
        (lambda: pa.arange(0.5, 5, 1.5, dtype=pa.int32), ("int32", [0, 1, 2, 3, 4])),
        (lambda: pa.arange(1 + 1j, 3), ("float32", [1.0, 2.0])),
        (lambda: pa.linspace(1j, 1, 2), ("float32", [0.0, 1.0])),
    ],
)
def test_paddle_3_3_stores_numbers_unchecked(call, expected):
    with pa.policy("paddle@3.3"):
        assert answered(call()) == expected


@pytest.mark.parametrize(
    "call",
    [
        lambda: pa.full((1,), 2**63),
        lambda: pa.asarray([2**63]),
        lambda: pa.full_like(pa.asarray([True]), 2),
        lambda: pa.full_like(pa.asarray([1.0]), 1e39),
        lambda: pa.arange(1, 2.5, 0.5, dtype=pa.int64),
    ],
)
def test_paddle_3_3_refuses_numbers_beyond(call):
    with pa.policy("paddle@3.3"), pytest.raises((OverflowError, ValueError)):
        call()


@pytest.mark.parametrize(
    ("dtype", "value", "expected"),
    [
        (pa.int32, 2**24 + 1, 2**24),
        (pa.int64, 2**53 + 1, 2**53),
        (pa.uint8, 300.7, 44),
        (pa.int8, -INF, 0),
        (pa.bool, 1j, True),
        (pa.int16, pa.asarray(300.7 + 2j), 300),
    ],
)
def test_paddle_assigns_through_floats_and_from_complex_tensors(dtype, value, expected):
    for policy in ("paddle@3.3", "paddle@2.6"):
        with pa.policy(policy):
            x = pa.zeros(1, dtype=dtype)
            x[0] = value
            assert x.tolist() == [expected]


@pytest.mark.parametrize("policy", ["paddle@3.3", "paddle@2.6"])
def test_the_wheels_have_means_of_int32_and_int64_alone(policy):
    with pa.policy(policy):
        for dtype in (pa.int32, pa.int64, pa.bool):
            assert pa.mean(pa.ones(200, dtype=dtype)).dtype is dtype
        for dtype in (pa.int8, pa.int16, pa.uint8):
            with pytest.raises(pa.PromotionError, match="int32 and int64"):
                pa.mean(pa.ones(200, dtype=dtype))


@pytest.mark.parametrize("dtype", [pa.uint8, pa.int8, pa.int16])
@pytest.mark.parametrize("form", [Form.OPERATOR, Form.INPLACE])
def test_paddle_3_3_scales_where_an_operator_has_no_kernel(dtype, form):
    """``x - 5`` and ``x -= 5``, but not ``x - x``, nor ``x * x`` of int16, either."""
    paddle, five = as_policy("paddle@3.3"), Operand(dt.weak_int, Rank.SCALAR)
    for name in ("subtract", "multiply"):
        decided = paddle.carried_out(name, (Operand(dtype), five), (None, 5), form)
        assert decided.plan.result is dtype
    alike = (Operand(dtype),) * 2
    assert isinstance(paddle.carried_out("multiply", alike, (None, None)), Refusal)


def test_paddle_2_6_makes_float32_of_any_number_and_refuses_complex_ones():
    with pa.policy("paddle@2.6"):
        assert answered(pa.full((1,), True)) == ("float32", [1.0])
        assert answered(pa.full((1,), 2**63, dtype=pa.int32)) == ("int32", [-(2**31)])
        with pytest.raises(TypeError, match="no complex numbers"):
            pa.full((1,), 1j)
        with pytest.raises(ValueError, match="does not lead"):
            pa.arange(-1.5)


def of(dtype, *values):
    return pa.asarray([*values], dtype=dtype)


@pytest.mark.parametrize(
    ("policy", "call", "expected"),
    [
        # whole steps of means and variances
        ("3.3", lambda: pa.mean(of(pa.int32, -3, -1, 2**31 - 1)), ("int32", 715827904)),
        ("2.6", lambda: pa.mean(of(pa.int64, 2**24 + 1, 2**24 + 1)), ("int64", 2**24 + 1)),
        ("3.3", lambda: pa.var(of(pa.int32, -2, 2, -2), correction=1), ("int32", 6)),
        ("3.3", lambda: pa.std(of(pa.int64, -3, 100)), ("float32", 51.49757385253906)),
        ("2.6", lambda: pa.var(of(pa.int32, -2, 2, -2)), ("float32", 4.0)),
        # NaN is skipped
        ("3.3", lambda: pa.argmax(of(pa.float32, 1, NAN, 4)), ("int64", 2)),
        ("2.6", lambda: pa.argmin(of(pa.float32, NAN, 1, 2)), ("int64", 1)),
        # angles of integers in single precision
        ("3.3", lambda: pa.atan2(of(pa.int64, 10), of(pa.int64, 3)),
         ("float64", [1.2793395519256592])),
        # a product of integers wraps before the root
        ("3.3", lambda: pa.hypot(of(pa.int32, -(2**31)), of(pa.int32, 0)), ("float32", [0.0])),
        ("3.3", lambda: pa.hypot(of(pa.float32, 1e-30), of(pa.float32, 1e-30)), ("float32", [0.0])),
        # exponents go through float32; 2.6 adds through it, too
        ("3.3", lambda: of(pa.float64, 10) ** 0.1, ("float64", [1.2589254161136902])),
        ("3.3", lambda: of(pa.int64, 3, -1) ** (2**24 + 1), ("int64", [8604851567268462593, 1])),
        ("3.3", lambda: of(pa.int32, 3, -1) ** (2**30 + 1), ("int32", [1, 1])),
        # the quotient and the product of a complex remainder round each step
        ("3.3", lambda: of(pa.complex64, 2**31) % of(pa.complex64, 1.5 + 10j), ("complex64", [0j])),
        ("3.3", lambda: of(pa.complex128, 3e38 + 3e38j) % of(pa.complex128, 1 - 2.5j),
         ("complex128", [-3.777893186295716e22 + 0j])),
        ("2.6", lambda: of(pa.float64, 0.1) + 0.1, ("float64", [0.20000000149011612])),
        ("2.6", lambda: of(pa.float64, 3.7) * 0.1, ("float64", [0.37000000000000005])),
        ("2.6", lambda: of(pa.float32, 255.9) / 1.5, ("float32", [170.60000610351562])),
        ("2.6", lambda: of(pa.bool, True) / of(pa.int8, 2), ("float32", [1.0])),
        # functions: scalars become tensors first
        ("3.3", lambda: pa.where(of(pa.bool, False), of(pa.float64, 0), 0.1),
         ("float64", [0.10000000149011612])),
        ("2.6", lambda: pa.where(of(pa.bool, False), of(pa.float32, 0), 0.1), ("float64", [0.1])),
        ("2.6", lambda: pa.divide(of(pa.bool, True), of(pa.bool, True)), ("bool", [True])),
        ("2.6", lambda: pa.round(of(pa.float64, 2.5, -0.5)), ("float64", [3.0, -1.0])),
        # bounds
        ("3.3", lambda: pa.clip(of(pa.int32, 5), 1.5, None), ("float32", [5.0])),
        ("2.6", lambda: pa.clip(of(pa.int32, 0), 1.5, None), ("int32", [1])),
        # counts beyond the bits, divisors of 64 bits
        ("3.3", lambda: of(pa.int16, 10, -3) >> (2**63 - 1), ("int16", [0, -1])),
        ("3.3", lambda: of(pa.int64, 2**60) % (2**53 + 1), ("int64", [9007199254740865])),
        ("3.3", lambda: pa.searchsorted(of(pa.float64, 0, 1, 1), of(pa.int64, 5, -7)),
         ("int64", [3, 0])),
    ],
)  # fmt: skip
def test_paddle_answers_besides_the_operators(policy, call, expected):
    with pa.policy(f"paddle@{policy}"):
        assert answered(call()) == expected


def test_an_exponent_that_becomes_negative_is_refused_as_a_negative_one():
    with pa.policy("paddle@3.3"), pytest.raises(ValueError, match="becomes -2147483648 as int32"):
        of(pa.int32, 3) ** (2**31 - 1)  # which Paddle never comes back from


@pytest.mark.parametrize("policy", ["paddle", "paddle@3.3", "paddle@2.6"])
@pytest.mark.parametrize("exponent", [128, 200, 300, 65000])
def test_an_exponent_that_only_wrapped_would_fit_is_refused(policy, exponent):
    with pa.policy(policy), pytest.raises(ValueError, match="none that the dtype cannot hold"):
        of(pa.int8, 3) ** exponent


@pytest.mark.parametrize("policy", ["paddle@3.3", "paddle@2.6"])
def test_paddle_makes_zeros_positive_where_it_scales(policy):
    with pa.policy(policy):
        x = of(pa.float32, 0.0, -0.0)
        signs = [pa.signbit(y).tolist() for y in (-x, x * -2, x * pa.asarray([-2.0]))]
    assert signs == [[False, False], [False, False], [True, False]]


def test_paddle_keeps_the_sign_of_a_zero_remainder():
    with pa.policy("paddle@3.3"):
        assert pa.signbit(of(pa.float32, -7.0, 7.0) % 7.0).tolist() == [True, False]


def test_paddle_3_3_divides_by_zero_as_its_kernels_do():
    with pa.policy("paddle@3.3"):
        quotient = (of(pa.complex64, 1) / of(pa.complex64, 0)).tolist()[0]
        assert quotient.real != quotient.real
        assert quotient.imag != quotient.imag
        with pytest.raises(ZeroDivisionError):
            of(pa.bool, True) / False


@pytest.mark.parametrize("policy", ["paddle@3.3", "paddle@2.6"])
def test_paddle_joins_grids_and_broadcasts_of_one_dtype_only(policy):
    with pa.policy(policy):
        x, y = of(pa.int8, 1), of(pa.float32, 1)
        for call in (pa.meshgrid, pa.broadcast_arrays, lambda x, y: pa.take(y, x)):
            with pytest.raises(pa.PromotionError):
                call(x, y)


def test_paddle_3_3_sorts_in_few_dtypes():
    with pa.policy("paddle@3.3"), pytest.raises(pa.PromotionError, match="searchsorted takes"):
        pa.searchsorted(of(pa.int64, 0, 1), of(pa.int8, 1))


def test_paddle_2_6_divides_integers_by_no_zero() -> None:
    zero = pa.asarray([0], dtype=pa.int32)
    with pa.policy("paddle@2.6"):
        assert answered(pa.divide(zero - 7, zero + 2)) == ("int32", [-3])
        assert (zero / (zero + 2)).dtype == pa.float32
        with pytest.raises(ZeroDivisionError):
            pa.divide(zero, zero)
