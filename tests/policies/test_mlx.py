"""MLX: what conformance/golden/mlx.txt does not say. Recorded with mlx 0.32.4, CPU."""

from __future__ import annotations

import numpy as np
import pytest

import promoarray as pa

STORED = [
    ("full((2,), 2**31)", "i64", [2**31, 2**31]),
    ("full((2,), 0.5)", "f32", [0.5, 0.5]),
    ("asarray(300, dtype=int8)", "i8", 44),
    ("asarray(-1, dtype=uint8)", "u8", 255),
    ("asarray([2**40])", "i64", [2**40]),
    ("asarray([1, 2.5])", "f32", [1, 2.5]),
    ("asarray(1j, dtype=float32)", "f32", 0.0),
    ("asarray(1e39)", "f32", np.inf),
    ("arange(3)", "i32", [0, 1, 2]),
    ("arange(-2, 2, dtype=uint8)", "u8", [254, 255, 0, 1]),
    ("asarray([1j, 2 + 1j]) // asarray([2, 2])", "c64", [0.5j, 1 + 0.5j]),
    ("asarray([5.0, -5.0]) // float('inf')", "f32", [0.0, -0.0]),
    ("asarray([7, -3], dtype=int8) % asarray([0, 2], dtype=int8)", "i8", [7, 1]),
    ("asarray([7, -3], dtype=int8) << asarray([33, 8], dtype=int8)", "i8", [14, 0]),
    ("asarray([7, -3]) >> asarray([33, 31])", "i32", [3, -1]),
    ("asarray([1, -1, 2]) ** asarray([-1, -1, 3])", "i32", [0, 0, 8]),
    ("asarray([1, 2], dtype=int8) + float32_of(1.5)", "i8", [2, 3]),
    ("asarray([1, 2], dtype=int8) + float64_of(1.5)", "f32", [2.5, 3.5]),
    ("add(float32_of(1.5), asarray([1, 2], dtype=int8))", "i8", [2, 3]),
]


@pytest.mark.parametrize(("program", "code", "values"), STORED)
def test_numbers_are_stored_and_divided_as_mlx_does(program, code, values):
    with pa.policy("mlx"), np.errstate(all="ignore"):
        names = {name: getattr(pa, name) for name in pa.__all__}
        names |= {"float": float, "float32_of": np.float32, "float64_of": np.float64}
        made = eval(program, names)
    assert made.dtype.code == code
    np.testing.assert_array_equal(np.asarray(made), values)


def test_assignment_refuses_an_int_that_does_not_fit_and_casts_a_float():
    with pa.policy("mlx"):
        x = pa.asarray([1, 2, 3], dtype=pa.int8)
        x[0], x[1] = -1.7, pa.asarray(300)
        assert np.asarray(x).tolist() == [-1, 44, 3]
        with pytest.raises(OverflowError):
            x[0] = 300
        with pytest.raises(OverflowError):
            pa.full((2,), 300, dtype=pa.int8)


def test_integers_are_not_divided_in_place_but_multiplied_by_floats():
    with pa.policy("mlx"):
        x = pa.asarray([4, 6], dtype=pa.int8)
        with pytest.raises(pa.PromotionError, match="write x = x / y"):
            x /= 2
        x *= 1.5
        assert x.dtype is pa.float32
        x /= 2
        assert np.asarray(x).tolist() == [3.0, 4.5]


def test_an_int_enters_an_integer_array_before_they_divide():
    with pa.policy("mlx"), pytest.raises(OverflowError):
        pa.asarray([1], dtype=pa.uint8) / 300


def test_folding_leaves_the_weak_types_at_once():
    """uint64 with int8 is float32 before float16 has a say."""
    with pa.policy("mlx"):
        arrays = [pa.ones(2, dtype=d) for d in (pa.uint64, pa.int8, pa.float16)]
        assert pa.stack(arrays).dtype is pa.float32
        assert pa.stack(arrays[1:]).dtype is pa.float16


def test_on_metal_casts_saturate_and_there_is_no_float64():
    with pa.policy("mlx@0.32-metal"):
        cast = pa.asarray([300.0, -300.0, float("nan")]).astype(pa.int8)
        assert np.asarray(cast).tolist() == [127, -128, 0]
        with pytest.raises(pa.PromotionError, match="no float64"):
            pa.ones(1, dtype=pa.float64) + 1


def test_what_rounds_or_wraps_on_the_way():
    with pa.policy("mlx"):
        halves = pa.asarray([255], dtype=pa.uint8), pa.asarray([3.7], dtype=pa.bfloat16)
        assert (halves[0] // halves[1]).tolist() == [69.0]
        assert pa.mean(pa.asarray([2**31, 2**31], dtype=pa.uint32)).item() == 0.0
        sine = pa.sin(pa.asarray(0.1, dtype=pa.float64)).item()
        assert sine == float(np.float32(sine))  # float64 by its dtype alone


def test_clip_makes_arrays_of_its_bounds_beside_the_first():
    with pa.policy("mlx"):
        ones = pa.ones(1, dtype=pa.uint64)
        assert pa.clip(ones, -1, 2.5).tolist() == [2.5]  # -1 is 2**64 - 1
        wide = pa.clip(pa.ones(1, dtype=pa.uint16), pa.ones(1, dtype=pa.float16), 2.5)
        assert wide.dtype is pa.float32
        with pytest.raises(OverflowError):
            pa.clip(pa.ones(1, dtype=pa.int8), 2.5, 300)
