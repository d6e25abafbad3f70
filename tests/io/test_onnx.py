"""ONNX tensors: every type there and back, as onnx itself reads and writes them; broken ones."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import CONCRETE, DType
from promoarray.io.onnx import NAMES, TYPES
from promoarray.io.packing import PACKED


def test_without_onnx_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    for attempt in (lambda: pa.to_onnx(pa.asarray([1])), lambda: pa.from_onnx(None)):
        with pytest.raises(ImportError, match=r"pip install .onnx>="):
            attempt()


try:
    import onnx
    from onnx import TensorProto, numpy_helper
except ImportError:
    onnx, KNOWN = None, []  # type: ignore[assignment]
else:
    KNOWN = [d for d in NAMES if NAMES[d] in TensorProto.DataType.keys()]  # noqa: SIM118

NUMERIC = [d for d in KNOWN if d is not dt.string]


@pytest.fixture(autouse=True)
def _onnx(request: pytest.FixtureRequest) -> None:
    if onnx is None and "without_onnx" not in request.node.name:
        pytest.skip("onnx is not installed: pip install promoarray[onnx]")


def codes(x: pa.PArray) -> bytes:
    return np.asarray(x).tobytes()


def every_value(dtype: DType) -> pa.PArray:
    """All codes of a small dtype, some of a large one; seven are left over in the last byte."""
    if dtype.bits <= 8:
        data = np.arange(1 << dtype.bits, dtype=np.uint8)
        data = data & 1 if dtype is dt.bool else np.concatenate([data, data[:7]])
    else:
        data = np.random.default_rng(0).integers(0, 256, 7 * dtype.bits // 8, np.uint8)
    return pa.PArray._wrap(data.view(dtype.storage), dtype)


def number(dtype: DType) -> int:
    value: int = getattr(TensorProto, NAMES[dtype])
    return value


def typed(x: pa.PArray) -> Any:
    """A tensor with typed fields, written by hand as onnx.proto says."""
    dtype, buffer = x.dtype, np.asarray(x)
    tensor = TensorProto(data_type=number(dtype), dims=x.shape)
    field = TYPES[NAMES[dtype]][1]
    if dtype in PACKED and dtype.bits != 6:
        values = np.asarray(pa.pack(x))
    elif dtype in (dt.complex64, dt.complex128):
        values = buffer.view(np.float32 if dtype is dt.complex64 else np.float64)
    elif (dtype is dt.bool or "float" in dtype.name) and field == "int32_data":
        values = buffer.view(f"u{buffer.dtype.itemsize}")
    else:
        values = buffer
    getattr(tensor, field).extend(values.ravel().tolist())
    return tensor


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
def test_every_type_comes_back_bit_for_bit(dtype: DType) -> None:
    x = every_value(dtype)
    for y in (x, x[::-1], x[:0], x[3], x._wrap(x._buffer[:6].reshape(2, 3).T, dtype)):
        tensor = pa.to_onnx(y, "name")
        assert (tensor.name, tuple(tensor.dims)) == ("name", y.shape)
        onnx.checker.check_tensor(tensor)
        back = pa.from_onnx(tensor)
        assert back.dtype is dtype
        assert back.shape == y.shape
        assert codes(back) == codes(y)
        assert back._buffer.flags.writeable


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
def test_onnx_reads_what_we_write_and_we_what_it_writes(dtype: DType) -> None:
    x = every_value(dtype)
    theirs = numpy_helper.to_array(pa.to_onnx(x))
    assert theirs.dtype == dtype.storage
    assert theirs.tobytes() == codes(x)
    assert codes(pa.from_onnx(numpy_helper.from_array(np.asarray(x)))) == codes(x)


@pytest.mark.parametrize("dtype", NUMERIC, ids=str)
def test_typed_fields_hold_the_same(dtype: DType) -> None:
    x = every_value(dtype)
    if dtype in (dt.float32, dt.complex64):  # a Python float does not keep the bits of a NaN
        x = pa.asarray(np.arange(7), dtype=dtype)
    tensor = typed(x)
    back = pa.from_onnx(tensor)
    assert back.dtype is dtype
    assert codes(back) == codes(x)
    assert numpy_helper.to_array(tensor).tobytes() == codes(x)


def test_strings_are_utf8() -> None:
    x = pa.asarray([["é", ""], ["a\0", "長い"]])
    tensor = pa.to_onnx(x)
    assert list(tensor.string_data) == ["é".encode(), b"", b"a\0", "長い".encode()]
    assert pa.from_onnx(tensor).tolist() == x.tolist()
    assert pa.from_onnx(pa.to_onnx(x[:0])).shape == (0, 2)
    assert pa.from_onnx(numpy_helper.from_array(np.array(["x", "yy"], object))).tolist() == [
        "x",
        "yy",
    ]


@given(st.data())
def test_any_shape_of_packed_values_comes_back(data: st.DataObject) -> None:
    dtype = data.draw(st.sampled_from([d for d in KNOWN if d in PACKED]))
    shape = data.draw(st.lists(st.integers(0, 5), max_size=3).map(tuple))
    rng = np.random.default_rng(data.draw(st.integers(0, 9)))
    values = rng.integers(0, 1 << dtype.bits, shape, np.uint8).view(dtype.storage)
    x = pa.PArray._wrap(values, dtype)
    back = pa.from_onnx(pa.to_onnx(x))
    assert (back.shape, codes(back)) == (x.shape, codes(x))


def test_namespaces_keep_their_arrays() -> None:
    xp = pa.namespace("onnx")
    x = xp.asarray([1.0], dtype=xp.bfloat16)
    assert type(xp.from_onnx(xp.to_onnx(x))) is type(x)


def test_every_type_of_the_installed_onnx_is_known() -> None:
    missing = set(TensorProto.DataType.keys()) - set(TYPES) - {"UNDEFINED"}
    assert missing == set()


@pytest.mark.parametrize("dtype", [d for d in CONCRETE if d not in NAMES], ids=str)
def test_types_onnx_has_not_are_refused(dtype: DType) -> None:
    x = pa.PArray._wrap(np.zeros(1, dtype.storage), dtype)
    with pytest.raises(TypeError, match=f"ONNX has no {dtype.name}. Write pa.astype"):
        pa.to_onnx(x)


def test_types_of_a_newer_onnx_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import promoarray.io.onnx as module

    monkeypatch.setattr(module, "_numbers", lambda onnx: {"FLOAT": 1})
    with pytest.raises(TypeError, match="has no INT2 yet; install a newer onnx"):
        pa.to_onnx(pa.asarray([1], dtype=pa.int2))


def tensor(kind: str, **fields: Any) -> Any:
    return TensorProto(name="t", data_type=TensorProto.DataType.Value(kind), **fields)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: TensorProto(name="t"), r"'t': data_type 0 \(UNDEFINED\) is not an element type"),
        (lambda: TensorProto(data_type=99), r"data_type 99 \(unknown\)"),
        (lambda: tensor("FLOAT", dims=[-1]), "negative length"),
        (lambda: tensor("FLOAT", dims=[2]), "has its values in no field"),
        (lambda: tensor("FLOAT", dims=[2], raw_data=b"1234"), "takes 8 bytes of raw_data, not 4"),
        (lambda: tensor("FLOAT", dims=[0], raw_data=b"1234"), "takes 0 bytes of raw_data, not 4"),
        (lambda: tensor("INT4", dims=[3], raw_data=b"1"), "takes 2 bytes of raw_data, not 1"),
        (lambda: tensor("INT4", dims=[3], int32_data=[1]), "takes 2 entries of int32_data, not 1"),
        (lambda: tensor("INT4", dims=[1], int32_data=[300]), "300 is not within 0 to 255"),
        (lambda: tensor("FLOAT", dims=[2], float_data=[1]), "takes 2 entries of float_data, not 1"),
        (lambda: tensor("FLOAT", dims=[1], int64_data=[1]), "in int64_data, not in float_data"),
        (
            lambda: tensor("FLOAT", dims=[1], float_data=[1], raw_data=b"1234"),
            "in raw_data and float_data, not in float_data or raw_data",
        ),
        (lambda: tensor("COMPLEX64", dims=[2], float_data=[1] * 3), "takes 4 entries"),
        (lambda: tensor("UINT8", dims=[1], int32_data=[256]), "256 is not within 0 to 255"),
        (lambda: tensor("INT16", dims=[1], int32_data=[-40000]), "not within -32768 to 32767"),
        (lambda: tensor("UINT32", dims=[1], uint64_data=[1 << 32]), "4294967296 is not within"),
        (lambda: tensor("BFLOAT16", dims=[1], int32_data=[-1]), "-1 is not within 0 to 65535"),
        (lambda: tensor("FLOAT8E5M2", dims=[1], int32_data=[256]), "256 is not within 0 to 255"),
        (lambda: tensor("BOOL", dims=[1], raw_data=b"\2"), "2 is not within 0 to 1"),
        (lambda: tensor("BOOL", dims=[1], int32_data=[2]), "2 is not within 0 to 1"),
        (lambda: tensor("STRING", dims=[1], raw_data=b"a"), "strings are not stored in raw_data"),
        (lambda: tensor("STRING", dims=[1], string_data=[b"\xff"]), "not UTF-8"),
        (lambda: tensor("STRING", dims=[2], string_data=[b"a"]), "takes 2 entries of string_data"),
        (
            lambda: tensor("FLOAT", dims=[1], segment=TensorProto.Segment(begin=0, end=1)),
            "one segment of several",
        ),
    ],
)
def test_malformed_tensors_are_refused(make: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        pa.from_onnx(make())


def test_other_things_are_no_tensors() -> None:
    with pytest.raises(TypeError, match=r"takes an onnx\.TensorProto, not a bytes"):
        pa.from_onnx(b"")
    with pytest.raises(TypeError, match="to_onnx takes an array"):
        pa.to_onnx([1, 2])


def test_missing_strings_are_refused() -> None:
    missing = np.array(["1", None], np.dtypes.StringDType(na_object=None))
    with pytest.raises(ValueError, match="missing texts"):
        pa.to_onnx(missing)


def external(folder: Path, location: str) -> Any:
    made = tensor("BFLOAT16", dims=[2], data_location=TensorProto.EXTERNAL)
    made.external_data.add(key="location", value=location)
    return made


def test_data_in_a_file_is_read_from_the_folder_given(tmp_path: Path) -> None:
    x = pa.asarray([1.5, -2.5], dtype=pa.bfloat16)
    (tmp_path / "weights.bin").write_bytes(codes(x))
    made = external(tmp_path, "weights.bin")
    with pytest.raises(ValueError, match=r"in the file 'weights.bin'; give base_dir="):
        pa.from_onnx(made)
    assert pa.from_onnx(made, base_dir=tmp_path).tolist() == [1.5, -2.5]
    assert made.data_location == TensorProto.EXTERNAL
    assert not made.raw_data
    (tmp_path / "weights.bin").write_bytes(b"123")
    with pytest.raises(ValueError, match="takes 4 bytes of raw_data, not 3"):
        pa.from_onnx(made, base_dir=tmp_path)
    inner = tmp_path / "inner"
    inner.mkdir()
    for outside in ("../weights.bin", "none.bin", str(tmp_path / "weights.bin")):
        with pytest.raises((ValueError, OSError), match=r"weights|none"):
            pa.from_onnx(external(tmp_path, outside), base_dir=inner)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"dims": [1 << 62, 1 << 62, 4]}, "is larger than any array"),
        ({"dims": [0, 1 << 62, 1 << 62]}, "is larger than any array"),
        ({"dims": [1] * 65, "float_data": [1]}, "has 65 axes, of 64 at most"),
        ({"dims": [(1 << 63) - 1], "raw_data": b"1234"}, "is larger than any array"),
        ({"dims": [1 << 40], "raw_data": b"1234"}, "takes 4398046511104 bytes of raw_data, not 4"),
        ({"dims": [1 << 40], "float_data": [1]}, "takes 1099511627776 entries"),
        ({"dims": [-(1 << 63)]}, "negative length"),
        ({"dims": range(100_000)}, "has 100000 axes"),
    ],
    ids=range(8),
)
def test_shapes_that_no_array_has_are_refused(fields: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words) as raised:
        pa.from_onnx(tensor("FLOAT", **fields))
    assert len(str(raised.value)) < 300


def test_64_axes_and_none_are_read() -> None:
    made = tensor("FLOAT", dims=[1] * 64, float_data=[1.5])
    assert pa.from_onnx(made).shape == (1,) * 64
    assert pa.from_onnx(tensor("BFLOAT16", dims=[0, 1 << 60])).shape == (0, 1 << 60)


@pytest.mark.parametrize(
    ("places", "words"),
    [
        ({"offset": "-1"}, "the offset of its data, '-1', counts no bytes"),
        ({"offset": "x"}, "the offset of its data, 'x', counts no bytes"),
        ({"offset": "٣"}, "counts no bytes"),
        ({"length": "9" * 5000}, "the length of its data, '9+'..., counts no bytes"),
        ({"length": ""}, "counts no bytes"),
        ({"length": "99999999999"}, "tensor 't': "),
        ({"offset": "99999999999"}, "tensor 't': "),
        ({"location": "none.bin"}, "tensor 't': "),
        ({"location": "a\0b"}, "tensor 't': "),
        ({"location": "n" * 99_999}, "tensor 't': "),
        ({"location": ""}, "tensor 't': "),
        ({"location": "."}, "tensor 't': "),
        ({"location": "/etc/passwd"}, "tensor 't': "),
    ],
    ids=range(13),
)
def test_data_in_a_file_that_cannot_be_read_is_a_value_error(
    tmp_path: Path, places: dict[str, str], words: str
) -> None:
    (tmp_path / "weights.bin").write_bytes(b"1234")
    made = tensor("BFLOAT16", dims=[2], data_location=TensorProto.EXTERNAL)
    for key, value in ({"location": "weights.bin"} | places).items():
        made.external_data.add(key=key, value=value)
    with pytest.raises(ValueError, match=words) as raised:
        pa.from_onnx(made, base_dir=tmp_path)
    assert len(str(raised.value)) < 500


def test_data_in_a_file_and_in_the_tensor_are_one_too_many(tmp_path: Path) -> None:
    made = external(tmp_path, "weights.bin")
    made.raw_data = b"1234"
    with pytest.raises(ValueError, match="has its data in a file, and values in raw_data too"):
        pa.from_onnx(made, base_dir=tmp_path)


def test_bytes_that_are_no_text_may_stand_for_names(tmp_path: Path) -> None:
    sound = TensorProto(name="t", dims=[1], data_type=TensorProto.FLOAT, float_data=[1.5])
    bare = TensorProto.FromString(sound.SerializeToString().replace(b"\x01t", b"\x01\xff"))
    assert pa.from_onnx(bare).tolist() == [1.5]
    del bare.float_data[:]
    # Some versions of protobuf hand out the bytes, others raise.
    with pytest.raises(ValueError, match=r"tensor (b'\\xff'|whose name is not UTF-8) of FLOAT has"):
        pa.from_onnx(bare)
    away = external(tmp_path, "t")
    away.name = ""
    away = TensorProto.FromString(away.SerializeToString().replace(b"\x01t", b"\x01\xff"))
    with pytest.raises(ValueError, match=r"in the file b'\\xff'|whose name is not UTF-8"):
        pa.from_onnx(away)
    away.external_data.add(key="offset", value="7")
    away = TensorProto.FromString(away.SerializeToString().replace(b"\x017", b"\x01\xff"))
    with pytest.raises(ValueError, match=r"counts no bytes|whose name is not UTF-8"):
        pa.from_onnx(away, base_dir=tmp_path)


def test_a_name_is_a_text_that_has_bytes() -> None:
    with pytest.raises(TypeError, match="to_onnx takes a str as name, not 3"):
        pa.to_onnx(pa.asarray([1]), 3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="has a surrogate that stands alone"):
        pa.to_onnx(pa.asarray([1]), "\ud800")
    assert pa.to_onnx(pa.asarray([1]), "é" * 99_999).name == "é" * 99_999
