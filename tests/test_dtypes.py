"""DTypes: one object each, however it is named, and its limits."""

from __future__ import annotations

import copy
import math
import pickle

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import BY_CODE, CONCRETE, DType, Kind, as_dtype

ROWS = list(BY_CODE.values())
FLOATS = [d for d in CONCRETE if d.kind is Kind.FLOAT]
INTEGERS = [d for d in CONCRETE if d.kind in (Kind.INT, Kind.UINT)]
COMPLEX = [d for d in CONCRETE if d.kind is Kind.COMPLEX]


def test_every_row_pickles_and_copies_to_itself() -> None:
    protocols = range(pickle.HIGHEST_PROTOCOL + 1)
    different = [
        (d.code, p) for d in ROWS for p in protocols if pickle.loads(pickle.dumps(d, p)) is not d
    ]
    different += [(d.code, "copy") for d in ROWS if copy.copy(d) is not d]
    different += [(d.code, "deepcopy") for d in ROWS if copy.deepcopy([d])[0] is not d]
    assert not different


def test_every_row_is_hashable_truthy_and_equal_to_itself_only() -> None:
    assert all(ROWS)
    assert len(set(ROWS)) == len(ROWS)
    equal = [(a.code, b.code) for a in ROWS for b in ROWS if (a == b) != (a is b)]
    assert not equal


STORED = [d for d in ROWS if d.storage is not None]


@pytest.mark.parametrize("row", STORED, ids=str)
def test_a_dtype_equals_what_names_it_from_both_sides(row: DType) -> None:
    names: list[object] = [row.name, row.storage]
    if row is not dt.string:  # whose NumPy class has no scalar type of its own
        names.append(row.storage.type)
    for name in names:
        assert row == name
        assert name == row
        assert [row != name, name != row] == [False, False]
        others = [d for d in ROWS if d is not row and (d == name or name == d)]
        assert not others


def test_a_dtype_is_found_in_a_tuple_and_not_by_a_strangers_hash() -> None:
    assert dt.int8 in (np.float32, np.int8)
    assert np.dtype("int8") in (dt.float32, dt.int8)
    assert dt.int8 not in (np.float32, "int16", None)
    assert len({dt.int8: 1, "int8": 2, np.dtype("int8"): 3}) == 3
    assert dt.int16 != np.dtype("int16").newbyteorder("S") != dt.int16
    assert [row for row in ROWS if row in (float,)] == [dt.float64]


@pytest.mark.parametrize(
    "other",
    [
        *(
            "nope",
            "i8",
            "",
            "weak_int8",
            b"int8",
            None,
            0,
            math.nan,
            object(),
            [],
            {},
            [("a", int)],
        ),
        *(object, dict, np.generic, np.longdouble, np.dtype("M8[s]"), np.dtype([("a", int)])),
        np.array([1, 2]),
    ],
)
def test_equality_with_anything_else_answers_and_never_raises(other: object) -> None:
    answers = [np.any(d == other) for d in ROWS] + [np.any(other == d) for d in ROWS]
    answers += [not np.all(d != other) for d in ROWS if not isinstance(other, np.ndarray)]
    assert not any(answers)


@pytest.mark.parametrize("row", STORED, ids=str)
def test_numpy_takes_every_dtype_that_it_stores(row: DType) -> None:
    assert np.dtype(row) == row.storage
    assert np.zeros(2, dtype=row).dtype == row.storage  # type: ignore[call-overload]


@pytest.mark.parametrize("weak", dt.WEAK_TYPES, ids=str)
def test_what_numpy_does_not_store_is_refused(weak: DType) -> None:
    with pytest.raises(TypeError, match=weak.name):  # in NumPy's words before 2.4
        np.dtype(weak)  # type: ignore[call-overload]
    with pytest.raises(TypeError, match="has no NumPy dtype"):
        _ = weak.__numpy_dtype__
    assert all(np.dtype(d.storage) != weak for d in STORED)


def test_rows_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        dt.int8.bits = 16  # type: ignore[misc]


def test_every_name_and_every_unambiguous_code_is_read() -> None:
    ambiguous = {"i2", "i4", "i8", "u2", "u4", "u8"}
    concrete = (*CONCRETE, dt.string)
    assert [d.code for d in concrete if as_dtype(d.name) is not d] == []
    wrong = [d.code for d in concrete if d.code not in ambiguous and as_dtype(d.code) is not d]
    assert not wrong


@pytest.mark.parametrize("code", ["i2", "i4", "i8", "u2", "u4", "u8"])
def test_codes_that_count_bits_here_and_bytes_in_numpy_are_refused(code: str) -> None:
    bits, numpys = BY_CODE[code].name, np.dtype(code).name
    with pytest.raises(TypeError, match=f"{bits} by bits and {numpys} by bytes"):
        as_dtype(code)


def test_numpys_dtypes_scalar_types_and_names_are_read_in_any_byte_order() -> None:
    different = []
    for d in CONCRETE:
        given = [d.storage, d.storage.type, d.storage.name, d.storage.newbyteorder(">")]
        given += [d.storage.newbyteorder("<"), np.zeros(1, d.storage).dtype]
        different += [(d.code, repr(g)) for g in given if as_dtype(g) is not d]
    assert not different
    assert as_dtype(np.dtypes.StringDType()) is dt.string


def test_python_types_mean_what_they_mean_in_numpy() -> None:
    found = [as_dtype(t) for t in (bool, int, float, complex, str)]
    assert found == [dt.bool, dt.int64, dt.float64, dt.complex128, dt.string]


@pytest.mark.parametrize(
    "other",
    [
        *(None, 5, 1.5, object(), object, "", "nonsense", "float8", "i*", "weak_int", b"int8"),
        *("O", "S3", "U", "a5", "M8[ns]", "m8", "f4,f4", "3f4", "V2", np.longdouble, np.generic),
        *(np.dtype([("a", int)]), {"names": ["a"]}, [("a", int)], (int, 2), np.array([1])),
    ],
)
def test_what_names_no_dtype_is_a_type_error_that_lists_them(other: object) -> None:
    with pytest.raises(TypeError, match=r"not a dtype promoarray knows\. Write one of: bool, int2"):
        as_dtype(other)


def test_a_name_that_is_nearly_one_gets_the_near_ones() -> None:
    with pytest.raises(TypeError, match=r"Did you mean: float32,.*\?$"):
        pa.asarray([1], dtype="flaot32")


def test_an_array_is_no_dtype() -> None:
    with pytest.raises(TypeError, match="not a dtype promoarray knows"):
        pa.asarray([1], dtype=pa.asarray([1]))


@given(st.text(max_size=6) | st.text("<>=|?bBhHiIlLqQnNpPefdgFDGSUVOMmcu12468,()[] ", max_size=5))
def test_any_text_is_a_dtype_or_a_type_error(text: str) -> None:
    try:
        assert isinstance(as_dtype(text), DType)
    except TypeError as error:
        assert repr(text) in str(error)  # noqa: PT017 - either answer is right


def test_repr_and_str_are_names() -> None:
    assert [repr(d) for d in ROWS] == [f"promoarray.{d.name}" for d in ROWS]
    assert [str(d) for d in ROWS] == [d.name for d in ROWS]


# --- limits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_finfo_is_ml_dtypes_finfo_in_python_floats(dtype: DType) -> None:
    ours, theirs = pa.finfo(dtype), ml_dtypes.finfo(dtype.storage)
    assert type(ours.bits) is int
    assert ours.dtype is dtype
    names = ("eps", "max", "min", "smallest_normal")
    assert {type(getattr(ours, n)) for n in names} == {float}
    assert {n: getattr(ours, n) for n in names} == {n: float(getattr(theirs, n)) for n in names}
    assert ours.bits == theirs.bits == dtype.bits


@pytest.mark.parametrize("dtype", COMPLEX, ids=str)
def test_finfo_of_complex_is_that_of_its_parts(dtype: DType) -> None:
    assert pa.finfo(dtype) == pa.finfo(f"float{dtype.bits // 2}")


@pytest.mark.parametrize("dtype", INTEGERS, ids=str)
def test_iinfo_is_ml_dtypes_iinfo_in_python_ints(dtype: DType) -> None:
    ours, theirs = pa.iinfo(dtype), ml_dtypes.iinfo(dtype.storage)
    assert (ours.bits, ours.min, ours.max) == (dtype.bits, int(theirs.min), int(theirs.max))
    assert {type(n) for n in (ours.bits, ours.min, ours.max)} == {int}
    assert ours.dtype is dtype


@pytest.mark.parametrize("make", [pa.asarray, np.asarray], ids=["PArray", "NumPy"])
def test_limits_of_arrays_are_those_of_their_dtypes(make: object) -> None:
    assert pa.finfo(make(np.ones(2, np.float32))).dtype is pa.float32  # type: ignore[operator]
    assert pa.iinfo(make(np.ones(2, np.uint16))).max == 65535  # type: ignore[operator]


@pytest.mark.parametrize("dtype", [*INTEGERS, dt.bool, dt.string], ids=str)
def test_finfo_refuses_other_kinds(dtype: DType) -> None:
    with pytest.raises(TypeError, match=f"not {dtype.name}; write"):
        pa.finfo(dtype)


@pytest.mark.parametrize("dtype", [*FLOATS, *COMPLEX, dt.bool, dt.string], ids=str)
def test_iinfo_refuses_other_kinds(dtype: DType) -> None:
    with pytest.raises(TypeError, match=f"not {dtype.name}; write"):
        pa.iinfo(dtype)


# --- isdtype ---------------------------------------------------------------------------------

KINDS = {
    "bool": {Kind.BOOL},
    "signed integer": {Kind.INT},
    "unsigned integer": {Kind.UINT},
    "integral": {Kind.INT, Kind.UINT},
    "real floating": {Kind.FLOAT},
    "complex floating": {Kind.COMPLEX},
    "numeric": {Kind.INT, Kind.UINT, Kind.FLOAT, Kind.COMPLEX},
}


def test_isdtype_knows_the_kind_of_every_dtype() -> None:
    different = [
        (d.code, kind)
        for d in CONCRETE
        for kind, kinds in KINDS.items()
        if pa.isdtype(d, kind) is not (d.kind in kinds)
    ]
    assert not different


def test_isdtype_of_tuples_nested_too_deep_is_an_error() -> None:
    kind: object = "integral"
    for _ in range(100_000):
        kind = (kind,)
    with pytest.raises(TypeError, match="nested too deep"):
        pa.isdtype(pa.int8, kind)


def test_isdtype_takes_dtypes_and_tuples() -> None:
    assert pa.isdtype(pa.int8, pa.int8)
    assert pa.isdtype(np.dtype("int8"), "int8")
    assert pa.isdtype(pa.bfloat16, ("integral", pa.bfloat16))
    assert pa.isdtype(pa.int8, ("bool", ("integral", "real floating")))
    assert not pa.isdtype(pa.int8, ())
    assert not pa.isdtype(pa.int8, (pa.uint8, "real floating"))


@pytest.mark.parametrize("kind", ["floating", "weak_int", None, 3, ["integral"]])
def test_isdtype_refuses_what_is_no_kind(kind: object) -> None:
    with pytest.raises(TypeError, match="not a kind of dtype"):
        pa.isdtype(pa.int8, kind)


def test_kinds_are_numpys_letters() -> None:
    # Array libraries ask `x.dtype.kind in "biu"`, of any array.
    own = [d for d in CONCRETE if issubclass(d.storage.type, (np.number, np.bool))]
    assert {d.kind for d in own} == set(Kind) - {Kind.STRING}
    assert [d for d in own if d.storage.kind != d.kind] == []
    assert dt.string.storage.kind == dt.string.kind
    assert dt.bfloat16.kind == "f"
    assert dt.int4.kind in "iu"


PARTS = {"c32": "f16", "c64": "f32", "c128": "f64", "c*": "f*"}
PAIRS = {**{part: code for code, part in PARTS.items()}, "bf16": "c64", **{c: c for c in PARTS}}


@pytest.mark.parametrize("dtype", BY_CODE.values(), ids=str)
def test_a_complex_dtype_is_a_pair_of_its_part(dtype: DType) -> None:
    assert dtype.part.code == PARTS.get(dtype.code, dtype.code)
    made = dtype.complexified
    assert (made and made.code) == PAIRS.get(dtype.code)


def test_no_dtype_equals_a_kind() -> None:
    for dtype in dt.CONCRETE:
        assert not [kind for kind in dt.Kind if dtype == kind or kind == dtype]
