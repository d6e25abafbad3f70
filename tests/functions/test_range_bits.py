"""The bits of ranges and lines, numbers in lists beside scalars of NumPy's, and what fills arrays:
as PyTorch 2.13.0, Paddle 3.3.1, JAX 0.10.2 and NumPy 2.4.6 answered on x86-64."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import promoarray as pa
from promoarray.errors import PromotionError

# A policy, a call, and some places with their numbers: those of which frameworks differ.
BITS = """
torch      | arange(0.1, 3.0, 0.3, dtype="float32") | 2 0.699999988079071 4 1.2999999523162842
jax        | arange(0.1, 3.0, 0.3, dtype="float32") | 2 0.7000000476837158 4 1.3000000715255737
paddle@3.3 | arange(0.1, 3.0, 0.3, dtype="float32") | 2 0.7000000476837158 4 1.2999999523162842
torch      | arange(2.5, 7.3, 0.1, dtype="float32") | 9 3.3999998569488525 17 4.199999809265137
jax        | arange(2.5, 7.3, 0.1, dtype="float32") | 9 3.4000000953674316 17 4.199999809265137
paddle@3.3 | arange(2.5, 7.3, 0.1, dtype="float32") | 9 3.3999991416931152 17 4.199998378753662
torch      | arange(-3.0, 7.3, 0.7, dtype="float64") | 3 -0.9000000000000001 5 0.4999999999999998
jax        | arange(-3.0, 7.3, 0.7, dtype="float64") | 3 -0.9000000000000004 5 0.5
paddle@3.3 | arange(-3.0, 7.3, 0.7, dtype="float64") | 3 -0.8999999999999999 5 0.5
torch      | arange(0.1, 3.0, 0.3, dtype="bfloat16") | 1 0.400390625 4 1.296875
torch      | linspace(0.1, 3.0, 17, dtype="float32") | 3 0.643750011920929 4 0.8250000476837158
jax        | linspace(0.1, 3.0, 17, dtype="float32") | 3 0.643750011920929 4 0.824999988079071
paddle@3.3 | linspace(0.1, 3.0, 17, dtype="float32") | 3 0.6437500715255737 6 1.1875001192092896
torch      | linspace(-3.0, 0.7, 5, dtype="float64") | 2 -1.1500000000000001 3 -0.2250000000000001
jax        | linspace(-3.0, 0.7, 5, dtype="float64") | 2 -1.15 3 -0.22500000000000003
torch      | linspace(-0.0, 0.7, 9, dtype="float16") | 3 0.2626953125 7 0.61279296875
torch      | linspace(0.1, 0.7, 9, dtype="bfloat16") | 6 0.55078125 8 0.69921875
jax        | linspace(-1.5, 1, 8, dtype="float32") | 1 -1.1428571939468384 4 -0.07142847776412964
jax        | linspace(0, 0.7, 8, dtype="float16") | 3 0.2998046875 6 0.599609375
jax        | linspace(0.1, 0.7, 9, dtype="bfloat16") | 6 0.546875 8 0.69921875
tensorflow | linspace(0.1, -7.0, 9, dtype="float32") | 1 -0.7874999642372131 2 -1.6749999523162842
tensorflow | arange(0.1, 3.0, 0.3, dtype="float16") | 4 1.2998046875 7 2.19921875
torch      | extras.logspace(0.5, 2, 5, dtype="int32") | 0 1 1 3 3 31
paddle@3.3 | extras.logspace(0.5, 2, 5, dtype="int32") | 0 1 1 3 3 31
jax        | extras.logspace(0.5, 2, 5, dtype="int32") | 0 3 1 7 3 42
"""


@pytest.mark.parametrize("line", BITS.strip().splitlines())
def test_bits_are_those_of_the_framework(line: str) -> None:
    policy, call, said = (part.strip() for part in line.split("|"))
    xp = pa.namespace(policy)
    found = eval(f"xp.{call}", {"xp": xp}).tolist()
    places, numbers = said.split()[::2], said.split()[1::2]
    assert [found[int(place)] for place in places] == [*map(float, numbers)]


@pytest.mark.parametrize(
    ("given", "x64", "x32"),  # JAX 0.10.2
    [
        ((np.int8(3),), "int8", "int8"),
        ((np.uint64(1),), "uint64", "uint32"),
        ((0, 3, np.float16(1)), "float16", "float16"),
        ((np.int8(0), 3.5), "float64", "float32"),
        ((np.int8(1), np.float32(4)), "float32", "float32"),
        ((3,), "int64", "int32"),
    ],
)
def test_ranges_of_jax_have_the_dtype_of_what_has_one(given: Any, x64: str, x32: str) -> None:
    for policy, dtype in (("jax@x64", x64), ("jax@x32", x32)):
        xp = pa.namespace(policy)
        arrays = [xp.asarray(x) if isinstance(x, np.generic) else x for x in given]
        assert [xp.arange(*given).dtype, xp.arange(*arrays).dtype] == [dtype, dtype], policy


def test_lines_of_jax_have_the_dtype_of_what_has_one() -> None:
    xp = pa.namespace("jax@x64")  # JAX 0.10.2
    assert xp.linspace(np.complex64(0.1), 2.5, 5).dtype == "complex64"
    assert xp.linspace(np.float16(0), 1, 5).dtype == "float16"
    assert xp.linspace(xp.asarray(0, dtype="bfloat16"), 2, 5).dtype == "bfloat16"
    assert xp.linspace(np.float32(0), np.float64(1), 5).dtype == "float64"
    assert xp.linspace(np.int8(0), 5, 5).dtype == "float32"  # as a quotient of int8
    assert xp.linspace(-1.5, 3, 4, dtype="complex64")[1].tolist() == 8.940696716308594e-08
    assert [xp.linspace(0, 1, 5).dtype, xp.linspace(np.int8(0), 2.5, 5).dtype] == ["float64"] * 2


def test_lines_of_numpy_2_have_the_dtype_of_what_has_one() -> None:
    for ends in ((np.float16(0.1), 3), (3, np.complex64(1.5)), (np.int8(1), np.float32(2))):
        wanted = np.linspace(*ends, 5)
        for given in (ends, [pa.asarray(x) if isinstance(x, np.generic) else x for x in ends]):
            made = pa.linspace(*given, 5)
            assert (made.dtype.name, made.tolist()) == (wanted.dtype.name, wanted.tolist())
        assert pa.namespace("numpy@1").linspace(*ends, 5).dtype in ("float64", "complex128")
        wide = np.linspace(*ends, 5, dtype=np.complex128)
        assert pa.linspace(*ends, 5, dtype="complex128").tolist() == wide.tolist()
    line = pa.linspace(pa.asarray(0, dtype="bfloat16"), 2, 5)
    assert (line.dtype, line.tolist()) == ("bfloat16", [0.0, 0.5, 1.0, 1.5, 2.0])


def test_ends_of_a_line_are_numbers() -> None:
    with pytest.raises(TypeError, match=r"not an array of shape \(2,\); .* write start \+"):
        pa.linspace(pa.asarray([0, 1]), 5, 3)


def test_ends_that_no_integer_is() -> None:
    torch, paddle = pa.namespace("torch"), pa.namespace("paddle@3.3")
    for line in (torch.linspace, torch.extras.logspace):
        for end in (pa.inf, pa.nan, 3e9):
            with pytest.raises(OverflowError, match="does not fit int32"):
                line(0, end, 5, dtype="int32")
    assert paddle.linspace(0, pa.inf, 5, dtype="int32").tolist() == [-(2**29) * n for n in range(5)]
    assert paddle.extras.logspace(0, pa.inf, 5, dtype="int32").tolist() == [1, 0, 0, 0, 0]


def test_a_step_that_is_none_in_the_dtype() -> None:
    with pytest.raises(ValueError, match="which 1e-08 is in float16"):
        pa.namespace("tensorflow").arange(0, 1, 1e-8, dtype="float16")


@pytest.mark.parametrize("policy", ["torch", "numpy", "jax", "paddle@3.3"])
def test_what_is_filled_with_a_bound_number_is_bound(policy: str) -> None:
    filled = pa.full(2, pa.namespace(policy).asarray(3))
    assert type(filled)._policy is pa.namespace(policy).asarray(3)._policy


def test_a_range_to_a_bool_is_none_of_ints_in_jax() -> None:
    with pytest.raises(TypeError, match="arange makes no bools"):
        pa.namespace("jax").arange(np.bool_(1))
    assert pa.namespace("jax").arange(0, np.bool_(1)).dtype == "int64"


def test_a_number_of_a_derived_class_is_spread_by_diff() -> None:
    class Number(float):
        pass

    assert pa.diff(pa.asarray([1.0]), prepend=Number(0.5)).tolist() == [0.5]


def test_no_difference_is_the_array_itself() -> None:
    assert pa.diff(pa.asarray(5), n=0).tolist() == 5  # which needs no axis


@pytest.mark.parametrize("policy", ["torch", "jax", "paddle@3.3"])
@pytest.mark.parametrize("count", [0, 1, 2])
def test_short_lines(policy: str, count: int) -> None:
    xp = pa.namespace(policy)
    assert xp.linspace(2.5, 7.5, count).tolist() == [2.5, 7.5][:count]
    assert xp.arange(2.5, 2.5 + count, 1.0).tolist() == [2.5, 3.5][:count]


def test_an_end_beyond_the_dtype_is_refused_in_torch() -> None:
    with pytest.raises(OverflowError):
        pa.namespace("torch").linspace(0, 1e9, 5, dtype="float16")


@pytest.mark.parametrize(
    ("values", "numpy", "torch", "jax"),
    [
        ([np.float16(1), 1], "float64", "float16", "float16"),
        ([np.int8(1), 1], "int64", "int64", "int8"),
        ([np.float32(1), 1.5], "float64", "float32", "float32"),
        ([np.int8(1), True], "int8", "int8", "int8"),
        ([np.uint8(1), np.int8(1)], "int16", "int16", "int16"),
        ([np.float16(1), 1j], "complex128", "complex64", "complex64"),
    ],
)
def test_numbers_in_lists_beside_scalars(values: Any, numpy: str, torch: str, jax: str) -> None:
    answers = {"numpy": numpy, "numpy@1": numpy, "torch": torch, "jax": jax}
    assert {p: pa.namespace(p).asarray(values).dtype.name for p in answers} == answers


def test_torch_reads_the_number_that_it_fills_with() -> None:
    xp = pa.namespace("torch")
    for value, dtype in ((np.uint8(1), "int64"), (np.float64(1.5), "float32"), (True, "bool")):
        assert xp.full(2, value).dtype == dtype
        assert xp.full(2, xp.asarray(value)).dtype == dtype
    assert pa.full(2, np.uint8(1)).dtype == "uint8"  # NumPy keeps it


def test_diff_spreads_a_number() -> None:
    """NumPy makes an array of it, so that beside float16 an int is an int64."""
    x = pa.asarray([1, 4, 9], dtype="float16")
    assert pa.diff(x, prepend=0).tolist() == [1, 3, 5]
    assert pa.diff(x, prepend=0).dtype == np.diff(np.float16([1, 4]), prepend=0).dtype
    rows = pa.asarray([[1, 4], [9, 16]])
    assert pa.diff(rows, axis=0, append=pa.asarray(0)).tolist() == [[8, 12], [-9, -16]]


def test_a_0d_index_is_an_integer_and_a_0d_mask_an_array_in_torch() -> None:
    xp = pa.namespace("torch")
    x, other = xp.zeros(3, dtype="int64"), xp.asarray(2.0, dtype="float64")
    x[xp.asarray(1)] = other
    assert x.tolist() == [0, 2, 0]
    with pytest.raises(PromotionError, match="one dtype"):
        x[xp.asarray(True)] = other


def test_paddle_fills_with_float32_of_arrays_and_indexes_by_three_dtypes() -> None:
    xp = pa.namespace("paddle@3.3")
    assert xp.full(2, xp.asarray(3, dtype="int16")).dtype == "float32"
    assert xp.full(2, xp.asarray(True)).dtype == "float32"
    x = xp.asarray([1.0, 2.0])
    for dtype in ("int32", "int64"):
        assert x[xp.asarray([1], dtype=dtype)].tolist() == [2.0]
    for dtype in ("int8", "uint8", "int16"):
        with pytest.raises(PromotionError, match="index arrays must be"):
            x[xp.asarray([1], dtype=dtype)]


def test_one_value_under_two_masks_is_put_by_index_in_torch() -> None:
    xp = pa.namespace("torch")
    x, y = xp.zeros((2, 2)), xp.asarray([1.0], dtype="float64")
    mask = xp.asarray([True, False])
    x[mask] = y
    assert x.tolist() == [[1.0, 1.0], [0.0, 0.0]]
    with pytest.raises(PromotionError, match="one dtype"):
        x[mask, mask] = y


def test_a_shape_may_be_a_number_of_a_derived_class() -> None:
    class Size(IntEnum):
        THREE = 3

    for make in (pa.zeros, pa.ones, pa.empty):
        assert make(Size.THREE).shape == (3,)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e5m2", "float16", "float32"])
def test_ranges_of_numpy_are_numpys(dtype: str) -> None:
    storage = np.dtype(getattr(ml_dtypes, dtype, dtype))
    for given in ((0.1, 3.0, 0.3), (-3.0, 7.3, 0.7), (2.5, -4.0, -0.25), (0.5, 1.0)):
        answer = np.arange(*given, dtype=storage).astype(np.float64).tolist()
        assert pa.arange(*given, dtype=dtype).astype("float64").tolist() == answer


def test_numbers_are_read_off_arrays_by_the_policy_of_the_call() -> None:
    torch, jax = pa.namespace("torch"), pa.namespace("jax")
    with pytest.raises(OverflowError):  # as of the number alone
        pa.full_like(torch.zeros(2, dtype=pa.int8), torch.asarray(300))
    with pa.policy("torch"):
        assert pa.full(2, jax.asarray(3, dtype=pa.int8)).dtype == "int8"
        assert pa.diff(jax.asarray([1, 4], dtype=pa.int8), prepend=0).dtype == "int8"
