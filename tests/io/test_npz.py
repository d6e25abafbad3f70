"""Files: every dtype comes back, NumPy opens them, and broken ones are refused."""

from __future__ import annotations

import io
import json
import os
import stat
import struct
import tracemalloc
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sampled import turns

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import CONCRETE, DType


def bits(x: Any) -> bytes:
    buffer = np.asarray(x)
    return repr(buffer.tolist()).encode() if x.dtype is dt.string else buffer.tobytes()


def same(a: pa.PArray, b: pa.PArray) -> bool:
    return (a._type, a.shape, bits(a)) == (b._type, b.shape, bits(b))


def every_value(dtype: DType) -> pa.PArray:
    """All codes of a small dtype, some of a large one."""
    if dtype.bits <= 8:
        data = np.arange(1 << dtype.bits, dtype=np.uint8)
        data = data & 1 if dtype is dt.bool else data
        return pa.PArray._wrap(data.view(dtype.storage).reshape(2, -1), dtype)
    data = np.random.default_rng(0).integers(0, 256, 24 * dtype.bits // 8, np.uint8)
    return pa.PArray._wrap(data.view(dtype.storage).reshape(2, -1), dtype)


def around(**arrays: Any) -> dict[str, pa.PArray]:
    file = io.BytesIO()
    pa.save(file, **arrays)
    file.seek(0)
    return pa.load(file)


@pytest.mark.parametrize("compressed", [False, True])
@pytest.mark.parametrize("dtype", CONCRETE, ids=str)
def test_every_dtype_comes_back_in_every_layout(dtype: DType, compressed: bool) -> None:
    x = every_value(dtype)
    layouts = {"x": x, "T": x.T, "strided": x[::-1, ::2], "one": x[0, 0], "none": x[:0]}
    layouts["read_only"] = x._wrap(np.broadcast_to(x._buffer, (2, *x.shape)), dtype)
    file = io.BytesIO()
    pa.save(file, compressed=compressed, **layouts)
    file.seek(0)
    back = pa.load(file)
    assert list(back) == list(layouts)
    for name, y in back.items():
        assert same(y, layouts[name]), name
        assert y._buffer.flags.writeable


@pytest.mark.parametrize("dtype", CONCRETE, ids=str)
def test_numpy_opens_the_raw_buffers(dtype: DType, tmp_path: Path) -> None:
    x = every_value(dtype)
    pa.save(tmp_path / "x.npz", x=x)
    with np.load(tmp_path / "x.npz", allow_pickle=False) as plain:
        raw = plain["x"]
    if dtype in dt.STANDARD or dtype is dt.float16:
        assert raw.dtype == dtype.storage
    assert raw.dtype.isbuiltin == 1
    assert np.array(raw, order="C").tobytes() == bits(x)


def test_strings_are_utf8_and_where_each_ends() -> None:
    x = pa.asarray([["é", "", "a\0"], ["長い" * 99, "\n", "1"]])
    file = io.BytesIO()
    pa.save(file, x, none=x[:0], one=x[0, 0])
    file.seek(0)
    back = pa.load(file)
    assert back["arr_0"].tolist() == x.tolist()
    assert back["none"].shape == (0, 3)
    assert back["one"].item() == "é"
    file.seek(0)
    with np.load(file, allow_pickle=False) as plain:
        whole, ends = plain["arr_0"].tobytes(), plain["__promoarray__/ends/arr_0"]
    assert whole[ends[1] : ends[2]].decode() == "a\0"


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=4))
def test_any_strings_come_back(texts: list[str]) -> None:
    x = pa.PArray._wrap(np.array(texts, dt.string.storage), dt.string)
    assert around(x=x)["x"].tolist() == texts


def test_weak_types_and_names_come_back() -> None:
    with pa.policy("jax"):
        weak = pa.asarray(1.5)
        assert weak.weak_type
        back = around(**{"weak": weak, "a/b c.npy": pa.asarray([1], dtype=pa.int4)})
        assert back["weak"].weak_type
        assert back["weak"].dtype is pa.float64
        assert back["a/b c.npy"].tolist() == [1]


def test_arrays_load_into_the_policy_in_force_as_they_were() -> None:
    xp = pa.namespace("torch")
    file = io.BytesIO()
    pa.save(file, xp.asarray([1.0], dtype=xp.float64), b=[1, 2])
    file.seek(0)
    with pa.policy("jax@x32"):
        back = pa.load(file)
    assert type(back["arr_0"]) is pa.PArray
    assert back["arr_0"].dtype is pa.float64
    file.seek(0)
    assert type(xp.load(file)["b"]) is type(xp.asarray(1))


def test_the_same_arrays_give_the_same_bytes() -> None:
    files = io.BytesIO(), io.BytesIO()
    for file in files:
        pa.save(file, a=pa.asarray([1, 2]), b=pa.asarray(["x"]))
    assert files[0].getvalue() == files[1].getvalue()


def test_paths_are_taken_as_they_are_and_links_followed(tmp_path: Path) -> None:
    pa.save(str(tmp_path / "plain"), a=1)
    (tmp_path / "link").symlink_to("plain")
    pa.save(tmp_path / "link", a=2)
    assert (tmp_path / "link").is_symlink()
    assert pa.load(tmp_path / "plain")["a"].item() == 2
    assert sorted(os.listdir(tmp_path)) == ["link", "plain"]


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "x.npz"
    pa.save(path, a=1)
    path.chmod(0o640)
    pa.save(path, a=2)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_save_that_fails_leaves_what_was_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.npz"
    pa.save(path, a=1)

    def full(*args: Any, **kwargs: Any) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", full)
    with pytest.raises(OSError, match="no space"):
        pa.save(path, a=2)
    monkeypatch.undo()
    assert pa.load(path)["a"].item() == 1
    assert os.listdir(tmp_path) == ["x.npz"]


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"a": object()}, TypeError, "asarray takes"),
        ({"": 1}, ValueError, "cannot be named ''"),
        ({"__promoarray__/about": 1}, ValueError, "cannot be named"),
        ({"arr_0": 1}, ValueError, "names the positional array too"),
        ({"compressed": [1]}, TypeError, "is an option"),
    ],
)
def test_what_cannot_be_saved_writes_nothing(
    arguments: Any, error: type[Exception], words: str, tmp_path: Path
) -> None:
    with pytest.raises(error, match=words):
        pa.save(tmp_path / "x.npz", 1, **arguments)
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_not_there_is_named_as_it_was_given(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as raised:
        pa.save(path := tmp_path / "nowhere" / "x.npz", a=[1.0])
    assert raised.value.filename == str(path)


def test_missing_strings_are_not_saved() -> None:
    missing = np.array(["1", None], np.dtypes.StringDType(na_object=None))
    with pytest.raises(ValueError, match="array 'x' has missing strings"):
        pa.save(io.BytesIO(), x=missing)


def test_files_are_paths_or_binary_files(tmp_path: Path) -> None:
    for wrong in (io.StringIO(), 3, None):
        with pytest.raises(TypeError, match="path or a file opened with"):
            pa.save(wrong, a=1)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="path or a file opened with"):
            pa.load(wrong)  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        pa.load(tmp_path / "none.npz")
    with open(tmp_path / "x.npz", "wb") as file:
        file.write(b"before")
        pa.save(file, a=1)
    with open(tmp_path / "x.npz", "rb") as file:
        file.seek(6)
        assert pa.load(file)["a"].item() == 1


def test_files_of_numpy_load_as_what_they_are(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", a=np.array([1, 2], ">i4"), b=np.array(["x", "yy"]), c=np.eye(2).T)
    back = pa.load(tmp_path / "x.npz")
    assert back["a"].dtype is pa.int32
    assert back["a"].tolist() == [1, 2]
    assert back["b"].tolist() == ["x", "yy"]
    assert back["c"].tolist() == [[1, 0], [0, 1]]


# --- broken files ---------------------------------------------------------------------------------


def whole() -> bytes:
    file = io.BytesIO()
    pa.save(file, a=pa.asarray([1.5, 2.5], dtype=pa.bfloat16), s=pa.asarray(["x", "yz"]))
    return file.getvalue()


def test_foreign_files_are_refused_by_name_and_reason(tmp_path: Path) -> None:
    np.save(tmp_path / "one.npy", np.eye(2))
    np.savez(tmp_path / "objects.npz", a=np.array([{}], object))
    np.savez(tmp_path / "void.npz", a=np.zeros(2, dt.bfloat16.storage))
    np.savez(tmp_path / "fields.npz", a=np.zeros(2, "i4,f4"))
    np.savez(tmp_path / "dates.npz", a=np.zeros(2, "M8[s]"))
    (tmp_path / "text.npz").write_text("hello")
    (tmp_path / "empty.npz").write_bytes(b"")
    with zipfile.ZipFile(tmp_path / "zip.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    for name, words in {
        "one.npy": "of one array",
        "objects.npz": "holds Python objects, and nothing is unpickled",
        "void.npz": r"V2 .* stores what it has no name for",
        "fields.npz": "f0.* with a numeric dtype first$",
        "dates.npz": "datetime64",
        "text.npz": "not a zip file",
        "empty.npz": "not a zip file",
        "zip.npz": "'readme.txt' is not a .npy file",
    }.items():
        with pytest.raises(ValueError, match=rf"cannot load .*{name}.*{words}"):
            pa.load(tmp_path / name)


def test_no_truncation_goes_unseen() -> None:
    data = whole()
    for length in range(len(data)):
        with pytest.raises(ValueError, match="cannot load"):
            pa.load(io.BytesIO(data[:length]))


FLIPS = [0x01, 0x80, 0xFF]


@pytest.mark.parametrize("flip", FLIPS)
def test_no_changed_byte_changes_a_value(flip: int) -> None:
    data, seen = whole(), pa.load(io.BytesIO(whole()))
    for place in turns(range(len(data)), 2, FLIPS.index(flip)):  # each byte in one way or two
        broken = bytearray(data)
        broken[place] ^= flip
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                back = pa.load(io.BytesIO(bytes(broken)))
            except ValueError as error:
                assert "cannot load" in str(error)  # noqa: PT017
                continue
        assert all(same(back[name], x) for name, x in seen.items()), place


def rewritten(about: Any = None, **entries: Any) -> io.BytesIO:
    """A file with other words about itself, or other entries, whose sums are right."""
    with np.load(io.BytesIO(whole())) as plain:
        arrays = dict(plain)
    words = json.loads(arrays["__promoarray__/about"].tobytes())
    for path, value in (about or {}).items():
        *parents, last = path.split(".")
        place = words
        for parent in parents:
            place = place[parent]
        place[last] = value
    arrays["__promoarray__/about"] = np.frombuffer(json.dumps(words).encode(), np.uint8)
    arrays |= entries
    file = io.BytesIO()
    np.savez(file, **{name: array for name, array in arrays.items() if array is not None})
    file.seek(0)
    return file


@pytest.mark.parametrize(
    ("about", "entries", "words"),
    [
        ({"format": 2}, {}, "of version 2, and this promoarray reads 1"),
        ({"format": None}, {}, "of version None"),
        ({"arrays": 3}, {}, "describes no arrays"),
        ({"arrays.a.dtype": "int7"}, {}, "is not a dtype"),
        ({"arrays.a.dtype": "float32"}, {}, "float32 is stored as uint16"),
        ({"arrays.a.shape": [3]}, {}, r"has shape \(2,\), and should have \(3,\)"),
        ({"arrays.a.weak_type": "float32"}, {}, "is not weak"),
        ({"arrays.b": {"dtype": "int8", "shape": []}}, {}, "entry 'b' is missing"),
        ({}, {"a": None}, "entry 'a' is missing"),
        ({}, {"extra": np.zeros(2)}, "does not describe its entries 'extra'"),
        ({}, {"a": np.zeros(2)}, "bfloat16 is stored as float64"),
        ({"arrays.a.dtype": "int4"}, {"a": np.array([1, 77], np.uint8)}, "more than the 4 bits"),
        ({"arrays.a.dtype": "complex32"}, {"a": np.zeros(3, np.float16)}, "is not stored as pairs"),
        ({}, {"__promoarray__/ends/s": np.array([2, 1])}, "do not end where they should"),
        ({}, {"__promoarray__/ends/s": np.array([1, 4])}, "do not end where they should"),
        ({}, {"__promoarray__/ends/s": np.array([1])}, "bytes and 2 ends"),
        ({}, {"s": np.array([0xFF, 65, 66], np.uint8)}, "utf-8"),
        ({}, {"__promoarray__/about": np.zeros(3, np.uint8)}, "cannot load"),
    ],
)
def test_files_that_contradict_themselves_are_refused(about: Any, entries: Any, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        pa.load(rewritten(about, **entries))


def test_a_header_that_claims_too_much_costs_no_memory() -> None:
    header = io.BytesIO()
    claim = {"descr": "<f8", "fortran_order": False, "shape": (1 << 50,)}
    np.lib.format.write_array_header_1_0(header, claim)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("a.npy", header.getvalue() + b"\0" * 8)
    with pytest.raises(ValueError, match=r"its header says shape \(1125899906842624,\)"):
        pa.load(file)


# --- names ----------------------------------------------------------------------------------------

NAMES = ("/abs", "../up", "..", "x.npy", "a/", "a\\b", "é", "e\u0301", "A", "a", "\n", "a" * 65_511)


def test_every_name_that_is_not_refused_comes_back() -> None:
    for values in ([1.5], ["x"]):
        back = around(**dict.fromkeys(NAMES, values))
        assert list(back) == list(NAMES)
        assert all(x.tolist() == values for x in back.values())


def test_a_backslash_stays_one_where_it_parts_folders(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sep", "\\")
    assert list(around(**{"a\\b": [1], "a/b": [2]})) == ["a\\b", "a/b"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a\0b", "where a zip ends it at the NUL"),
        ("\0", "where a zip ends it at the NUL"),
        ("a" * 70_000, "of more than the 65,511 bytes"),
        ("é" * 32_756, "of more than the 65,511 bytes"),
        ("\ud800", "a surrogate stands alone"),
        ("", "which says nothing"),
        ("__promoarray__/ends/a", "which is promoarray's own"),
    ],
    ids=["middle", "NUL", "long", "long in UTF-8", "surrogate", "empty", "ours"],
)
def test_names_that_no_zip_gives_back_are_refused(name: str, words: str) -> None:
    file = io.BytesIO()
    with pytest.raises(ValueError, match=words) as raised:
        pa.save(file, **{name: [1.5]})
    assert len(str(raised.value)) < 250
    assert file.getvalue() == b""


# --- files made up to cost or to deceive ----------------------------------------------------------


def npy(descr: Any, shape: Any, data: bytes = b"", **other: Any) -> bytes:
    """An entry with any header."""
    claim = {"descr": descr, "fortran_order": False, "shape": shape, **other}
    line = repr(claim).encode() + b"\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(line)) + line + data


def zipped(*entries: tuple[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    file = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", method) as archive:
        warnings.simplefilter("ignore")  # of a name that is there twice
        for name, data in entries:
            archive.writestr(name, data)
    return file.getvalue()


def refused(data: bytes, words: str) -> None:
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=words) as raised:
            pa.load(io.BytesIO(data))
        assert tracemalloc.get_traced_memory()[1] < 4_000_000 + 20 * len(data)
    finally:
        tracemalloc.stop()
    assert str(raised.value).startswith("cannot load a file object: ")
    assert len(str(raised.value)) < 1000


@pytest.mark.parametrize("shape", [(1 << 40,), (3,), (), (1 << 62, 1 << 62)], ids=str)
@pytest.mark.parametrize(
    ("descr", "words"),
    [
        ("|S0", "entry 'a': |S0 is not a dtype of single values"),
        ("<U0", "is not a dtype of single values"),
        ("|V0", "is not a dtype of single values"),
        ([], "is not a dtype of single values"),
        (("<f8", (1 << 20,)), "is not a dtype of single values"),
        ("(1000000,)f8", "is not a dtype of single values"),
        ("|O", "entry 'a': it holds Python objects"),
        ([("x", "|O")], "it holds Python objects"),
        ("T", "it holds Python objects"),
        ("<f8", "its header says shape"),
    ],
    ids=str,
)
def test_no_header_takes_more_than_its_file_has(descr: Any, words: str, shape: Any) -> None:
    refused(zipped(("a.npy", npy(descr, shape))), words)


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (npy("<f8", (-1, -1), bytes(8)), r"its header says shape \(-1, -1\) of float64"),
        (npy("<f8", (0, 1 << 62, 1 << 62)), "too big|too large"),
        (npy("<f8", (1,) * 65, bytes(8)), "64"),
        (npy("<f8", "no"), "shape"),
        (npy("|b1", (2,), b"\1\2"), "bools that are neither 0 nor 1"),
        (npy("<U1", (1,), b"\xff" * 4), "[Uu]nicode"),
        (npy("<U1", (1,), b"\0\xd8\0\0"), "[Uu]nicode"),
        (npy("<f8", (1,), bytes(9)), "it is 9 bytes long"),
        (npy("<f8", (), bytes(8), more=1), "Header"),
        (b"\x93NUMPY\3\0" + bytes(90), r"of \.npy version \(3, 0\)"),
        (b"\x93NUMPY\1\0\xff\xff" + b"(" * 9000, "entry 'a': "),
        (b"\x93NUMPY\2\0\xff\xff\xff\xff" + b" " * 99, "expected 4294967295 bytes"),
        (npy("<f8", (9**4000,)), "entry 'a': "),
        (b"NUMPY", "magic"),
        (b"", "magic"),
    ],
    ids=range(15),
)
def test_an_entry_that_is_no_array_is_named_with_the_reason(entry: bytes, words: str) -> None:
    refused(zipped(("a.npy", entry)), words)


def test_an_entry_shorter_than_it_claims_is_no_memory_of_somebody_else() -> None:
    whole = npy("<f8", (1000,), bytes(8000))
    data = bytearray(zipped(("a.npy", whole[:-4000]), method=zipfile.ZIP_DEFLATED))
    at = data.index(b"PK\1\2") + 24
    assert int.from_bytes(data[at : at + 4], "little") == len(whole) - 4000
    data[at : at + 4] = len(whole).to_bytes(4, "little")  # and the sum is right
    refused(bytes(data), "entry 'a': it ends after 4000 of 8000 bytes")


def test_no_entry_holds_more_than_its_part_of_the_file_can() -> None:
    data = bytearray(zipped(("a.npy", bytes(5000)), method=zipfile.ZIP_DEFLATED))
    at = data.index(b"PK\1\2") + 24
    data[at : at + 4] = (1 << 31).to_bytes(4, "little")
    refused(bytes(data), r"entry 'a': the file has \d+ bytes of it, which are not the 2147483648")
    stored = bytearray(zipped(("a.npy", npy("|u1", (9,), bytes(9)))))
    at = stored.index(b"PK\1\2") + 20
    stored[at : at + 4] = (1 << 31).to_bytes(4, "little")
    refused(bytes(stored), "its entries are longer than the file")


def test_only_what_save_and_numpy_write_is_unpacked() -> None:
    for method in (zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        data = zipped(("a.npy", npy("|u1", (1 << 20,), bytes(1 << 20))), method=method)
        refused(data, f"entry 'a': it is compressed by method {method}, and not deflated")


def test_two_entries_of_one_name_and_names_in_no_known_code_are_refused() -> None:
    entry = npy("|u1", (1,), b"\0")
    refused(zipped(("a.npy", entry), ("a.npy", entry)), "two entries have one name, 'a'")
    data = zipped(("é.npy", entry))
    for mark, flags in ((b"PK\1\2", 8), (b"PK\3\4", 6)):
        at = data.index(mark) + flags
        data = data[:at] + b"\0\0" + data[at + 2 :]
    refused(data, "has a name that is not UTF-8")


def test_a_damaged_end_is_an_error_and_not_fewer_arrays() -> None:
    file = io.BytesIO()
    np.savez(file, a=np.ones(3), b=np.zeros(2))  # nothing in it says what should be there
    data, second = file.getvalue(), file.getvalue().rindex(b"PK\1\2")
    end = len(data) - 22
    half = bytearray(data)
    half[end + 12 : end + 16] = (end - second).to_bytes(4, "little")
    half[end + 16 : end + 20] = second.to_bytes(4, "little")
    refused(bytes(half), "its end counts 2 entries, and there are 1")
    none = bytearray(data)
    none[end + 12 : end + 16] = bytes(4)
    refused(bytes(none), "its end counts 2 entries, and there are 0")
    refused(data + b"more", "bytes follow the end")
    comment = data[:-2] + b"\4\0"
    assert list(pa.load(io.BytesIO(comment + b"more"))) == ["a", "b"]
    refused(comment + b"mor", "its comment is cut off")
    for place in range(8, 20):
        broken = bytearray(data)
        broken[end + place] ^= 1
        refused(bytes(broken), "cannot load")


@pytest.mark.slow
def test_more_entries_than_the_end_has_room_for_come_back() -> None:
    names = [f"{n:x}" for n in range(0x10001)]
    entry = npy("|u1", (), b"\7")
    for count in (0xFFFF, 0x10001):
        data = zipped(*((f"{name}.npy", entry) for name in names[:count]))
        assert list(pa.load(io.BytesIO(data))) == names[:count]


@pytest.mark.parametrize(
    ("dtype", "weak"),
    [("int8", "weak_float"), ("float64", "weak_int"), ("bool", "weak_int"), ("string", "weak_int")],
)
def test_a_weak_type_of_another_kind_is_refused(dtype: str, weak: str) -> None:
    file = rewritten({"arrays.a": {"dtype": dtype, "weak_type": weak, "shape": [2]}})
    with pytest.raises(ValueError, match=f"array 'a': it is of dtype {dtype}, which {weak} contr"):
        pa.load(file)


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"arrays.a": 3}, "array 'a': it is described by 3"),
        ({"arrays.a.shape": 2}, "array 'a': it is described by"),
        ({"arrays.a.shape": [1 << 80]}, "cannot load"),
        ({"arrays.a.dtype": ["x"] * 9999}, "is not a dtype promoarray knows"),
        ({"arrays.a.dtype": "weak_int"}, "weak_int is weak"),
        ({"arrays.a.dtype": "f4"}, "'f4' is not a dtype"),
        ({"arrays.a.dtype": None}, "None is not a dtype"),
        ({"arrays": {"n" * 99_999: {}}}, "it is described by {}"),
        ({"arrays": []}, "describes no arrays"),
        ({"format": "x" * 99_999}, "of version 'xxx"),
    ],
)
def test_descriptions_that_say_nothing_are_refused(about: Any, words: str) -> None:
    refused(rewritten(about).getvalue(), words)


def test_numbers_that_python_does_not_read_are_counted() -> None:
    text = b'{"format": ' + b"9" * 5000 + b"}"
    entry = npy("|u1", (len(text),), text)
    refused(zipped(("__promoarray__/about.npy", entry)), "has a number of 5000 digits")
