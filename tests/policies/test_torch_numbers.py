"""PyTorch: Python numbers that are stored or arguments, indices, meshgrid; all as torch 2.13.0."""

from __future__ import annotations

import pytest

import promoarray as pa
from promoarray.errors import PromotionError

xp = pa.namespace("torch")
REFUSED = OverflowError, TypeError, ValueError
INF = float("inf")
NAN = float("nan")


def stored(how: str, value: object, dtype: object) -> object:
    """What one way of storing a number makes of it; "-" where it is refused."""
    try:
        if how == "setitem":
            x = xp.ones(2, dtype=dtype)
            x[...] = value
        elif how == "asarray":
            x = xp.asarray([value], dtype=dtype)
        else:
            x = xp.full(2, value, dtype=dtype)
    except REFUSED:
        return "-"
    return x.tolist()[0]


@pytest.mark.parametrize(
    ("value", "dtype", "full", "setitem", "asarray"),
    [
        (300, "int8", "-", "-", "-"),
        (-1, "uint8", 255, 255, 255),
        (-255, "uint8", 1, 1, 1),
        (-256, "uint8", "-", "-", "-"),
        (-1, "uint64", 2**64 - 1, 2**64 - 1, "-"),
        (2**64 - 1, "uint64", 2**64 - 1, "-", 2**64 - 1),  # assigned as an int64
        (2**63, "float32", 2.0**63, "-", 2.0**63),
        (2**64, "float32", "-", "-", 2.0**64),
        (2**64, "bool", "-", "-", True),
        (255.9, "uint8", "-", "-", "-"),
        (127.0, "int8", 127, 127, 127),
        (-0.5, "uint8", "-", "-", "-"),
        (NAN, "int32", "-", "-", "-"),
        (2.0**63, "int64", -(2**63), -(2**63), -(2**63)),  # compared as doubles
        (2.0**64, "int64", "-", "-", "-"),
        (NAN, "bool", True, True, True),
        (0.5, "uint64", 0, 0, "-"),
        (65519.0, "float16", "-", 65504.0, 65504.0),
        (70000.0, "float16", "-", INF, INF),
        (1e39, "bfloat16", "-", INF, INF),
        (1e39, "float32", "-", "-", INF),
        (INF, "float16", INF, INF, INF),
        (1e9, "float8_e4m3fn", "-", 448.0, 448.0),  # assigned as it is cast
        (1e39, "float64", 1e39, 1e39, 1e39),
        (2 + 0j, "int8", 2, 2, "-"),
        (2 + 1j, "int8", "-", "-", "-"),
        (1e39 + 0j, "complex64", "-", "-", complex(INF, 0.0)),
        (1j, "bool", True, True, True),
    ],
)
def test_stored_numbers(
    value: object, dtype: str, full: object, setitem: object, asarray: object
) -> None:
    row = {"full": full, "setitem": setitem, "asarray": asarray}
    assert {how: stored(how, value, dtype) for how in row} == row


@pytest.mark.parametrize(
    ("value", "dtype", "clip", "where"),
    [
        (1e39, "float32", "-", "-"),
        (1e39, "float16", "-", INF),  # where makes a float32 tensor of it
        (65519.0, "float16", "-", 65504.0),
        (300, "int8", "-", "-"),
        (2**63, "float32", 2.0**63, 2.0**63),
        (2**64, "float32", "-", "-"),
        (INF, "float32", INF, INF),
        (2 + 0j, "float32", 2.0, 2 + 0j),
        (2 + 1j, "float32", "-", 2 + 1j),
    ],
)
def test_numbers_that_are_arguments(value: object, dtype: str, clip: object, where: object) -> None:
    def answer(function: object, *args: object) -> object:
        try:
            return function(*args).item()  # type: ignore[operator]
        except REFUSED:
            return "-"

    x = xp.asarray(1, dtype=dtype)
    assert answer(xp.clip, x, value) == clip
    assert answer(xp.where, xp.asarray(False), x, value) == where


@pytest.mark.parametrize(
    ("dtype", "exponent", "expected"),
    [
        ("int8", 128, "-"),
        ("uint8", 256, "-"),
        ("uint64", 2**63, "-"),
        ("float16", 65519.0, "-"),
        ("bfloat16", 1e39, "-"),
        ("float32", 1e39, 1.0),
        ("bool", True, True),
        ("int8", 127, 1),
    ],
)
def test_exponents_have_to_fit(dtype: str, exponent: object, expected: object) -> None:
    x = xp.asarray(1, dtype=dtype)
    if expected == "-":
        with pytest.raises(OverflowError):
            x**exponent
    else:
        assert (x**exponent).item() == expected


@pytest.mark.parametrize(
    ("arguments", "dtype", "expected"),
    [
        ((-2,), None, ValueError),
        ((1, 0.5), None, ValueError),
        ((5, 1, 1), None, ValueError),
        ((1, 1, -1), None, []),
        ((5, 1, -2), None, [5, 3]),
        ((1, 2 + 0j), None, [1.0]),
        ((1j,), None, TypeError),
        ((300, 0, -100), "uint8", [44, 200, 100]),
        ((-1.5, 1), "uint8", [255, 0, 1]),
        ((250, 258, 4), "int8", [-6, -2]),
    ],
)
def test_arange(arguments: tuple[object, ...], dtype: str | None, expected: object) -> None:
    if isinstance(expected, list):
        assert xp.arange(*arguments, dtype=dtype).tolist() == expected
    else:
        with pytest.raises(expected):  # type: ignore[call-overload]
            xp.arange(*arguments, dtype=dtype)


def test_linspace_stores_its_ends() -> None:
    assert xp.linspace(0, -1, 2, dtype="uint8").tolist() == [0, 255]
    for ends, dtype in (((0, 300), "int8"), ((-0.5, 1), "uint8")):
        with pytest.raises(OverflowError):
            xp.linspace(*ends, 2, dtype=dtype)
    with pytest.raises(TypeError, match="linspace makes no float32 of complex"):
        xp.linspace(0j, 1, 2, dtype="float32")


@pytest.mark.parametrize(
    ("function", "taken"),
    [
        ("take", {"int32", "int64"}),
        ("take_along_axis", {"int64"}),
        ("getitem", {"int32", "int64", "bool", "uint8"}),  # uint8 is a mask, as bool
    ],
)
def test_dtypes_of_indices(function: str, taken: set[str]) -> None:
    x = xp.asarray([1.0, 2.0])
    ask = {
        "take": xp.take,
        "take_along_axis": xp.take_along_axis,
        "getitem": lambda x, index: x[index],
    }[function]
    for dtype in ("int8", "uint8", "int16", "int32", "int64", "uint32", "bool"):
        index = xp.asarray([1, 0], dtype=dtype)
        if dtype in taken:
            assert ask(x, index).tolist() in ([2.0, 1.0], [1.0])
        elif function == "getitem" or dtype != "bool":
            with pytest.raises(PromotionError, match="index arrays must be"):
                ask(x, index)


def test_values_at_index_arrays_have_the_dtype_of_the_array() -> None:
    x, y = xp.asarray([1, 2, 3]), xp.asarray([7, 8], dtype="int8")
    index, mask = xp.asarray([0, 2]), xp.asarray([True, False, True])
    for key, values in ((index, y), (index, y[0]), (mask, y)):
        with pytest.raises(PromotionError, match="must have one dtype"):
            x[key] = values
    x[mask] = y[0]  # one value fills
    x[1:] = y
    x[index] = 5
    assert x.tolist() == [5, 7, 5]


def test_meshgrid_takes_one_dtype() -> None:
    x, y = xp.asarray([1, 2]), xp.asarray([1, 2], dtype="int8")
    assert [grid.dtype.name for grid in xp.meshgrid(x, x)] == ["int64", "int64"]
    with pytest.raises(PromotionError, match=r"no meshgrid\(int64, int8\): the arrays must have"):
        xp.meshgrid(x, y)
    assert [grid.dtype.name for grid in pa.meshgrid(x, x)] == ["int64", "int64"]


def test_complex_tensors_are_written_into_real_ones() -> None:
    x = xp.asarray([1, 2])
    x[0] = xp.asarray(3.7 + 2j)
    assert x.tolist() == [3, 2]


def test_a_function_has_a_number_where_it_is_written() -> None:
    x = xp.asarray([7.0], dtype="bfloat16")
    assert (1.1 * x).tolist() == [7.6875]
    assert xp.multiply(1.1, x).tolist() == [7.71875]
    y = xp.asarray([-7])
    assert (65535 / y).tolist() == [-9362.1435546875]
    assert xp.divide(65535, y).tolist() == [-9362.142578125]
