"""Dtypes that a program reads while policies are compared: the run's, in all that it can see."""

from __future__ import annotations

import copy
import linecache
import pickle
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import promoarray as pa
from promoarray.core import identity
from promoarray.core.read_dtype import ReadDType
from promoarray.policies import as_policy


def same(one: object, other: object) -> bool:
    """Whether two are one object; written so that this file compares no dtypes by identity."""
    return one is other


@pytest.fixture
def read() -> Iterator[pa.DType]:
    """The dtype of an array that is float64 in the run, and float32 under PyTorch's rules."""
    with pa.shadow("torch"):
        x = pa.asarray([1, 2]) / 2
        yield x.dtype


def test_it_is_the_runs_dtype_in_all_that_a_program_can_see(read: pa.DType) -> None:
    assert same(type(read), ReadDType)
    assert read == pa.float64
    assert pa.float64 == read
    assert read == "float64"
    assert read == np.float64
    assert read == np.dtype("f8")
    assert np.dtype("f8") == read
    assert read != pa.float32
    assert read != ml_dtypes.bfloat16
    assert read != 3
    assert read is not None
    assert hash(read) == hash(pa.float64)
    assert {pa.float64: "found"}[read] == "found"
    assert {read: "found"}[pa.float64] == "found"
    assert read in (pa.float32, pa.float64)
    assert isinstance(read, pa.DType)
    assert (str(read), repr(read), f"{read}") == ("float64", "promoarray.float64", "float64")
    for name in ("name", "code", "kind", "bits", "storage", "format", "weak", "itemsize", "type"):
        assert getattr(read, name) == getattr(pa.float64, name)
    assert np.dtype(read) == np.dtype("f8")
    assert pa.isdtype(read, "real floating")
    assert pa.isdtype(pa.float64, read)
    assert pa.finfo(read) == pa.finfo(pa.float64)
    assert same(pa.can_cast(read, pa.float32), pa.can_cast(pa.float64, pa.float32))
    with pytest.raises(TypeError, match="iinfo takes an integer dtype, not float64"):
        pa.iinfo(read)


def test_it_is_copied_and_pickled_as_the_runs_dtype(read: pa.DType) -> None:
    assert same(pickle.loads(pickle.dumps(read)), pa.float64)
    assert same(copy.deepcopy({"dtype": read})["dtype"], pa.float64)


def test_arrays_that_are_alike_have_one() -> None:
    with pa.shadow("torch"):
        x, y = pa.asarray([1, 2]) / 2, pa.asarray([3]) / 4
        assert same(x.dtype, x.dtype)
        assert same(x.dtype, y.dtype)


def test_where_nobody_compares_it_is_plain() -> None:
    x = pa.asarray([1, 2]) / 2
    assert same(x.dtype, pa.float64)
    with pa.shadow("torch"):
        x = pa.asarray([1, 2]) / 2
        read = x.dtype
    assert same(type(read), ReadDType)
    assert same(x.dtype, pa.float64)
    assert same(pa.zeros(2, dtype=read).dtype, pa.float64)
    assert same(pa.result_type(read, pa.int8), pa.float64)
    assert same(pa.promote_types(read, pa.int8), pa.float64)
    assert pa.finfo(read).dtype == pa.float64
    assert same(x.astype(read, copy=False), x)


def test_where_all_agree_it_is_plain() -> None:
    with pa.shadow("torch"):
        assert same(pa.asarray([1], dtype=pa.int8).dtype, pa.int8)


def test_arrays_executables_and_plans_never_have_one(read: pa.DType) -> None:
    x = pa.asarray([1, 2], dtype=read)
    made = [
        *(pa.zeros(2, dtype=read), pa.full(2, 1, dtype=read), pa.astype(x, read), x.astype(read)),
        *(pa.zeros_like(x, dtype=read), pa.arange(3, dtype=read), pa.sum(x, dtype=read) + x),
        *(pa.linspace(0, 1, 3, dtype=read), x.view(read), pa.fft.fftfreq(3, dtype=read)),
        *(pa.extras.logspace(0, 1, 3, dtype=read), pa.cumulative_sum(x, dtype=read)),
    ]
    for array in made:
        slot = array._type
        assert not same(type(getattr(slot, "dtype", slot)), ReadDType)
    for name in ("numpy", "torch"):
        policy = as_policy(name)
        for cache in (policy.plans, policy.executables, policy.cast.plans):
            assert not any(isinstance(part, ReadDType) for part in _parts(list(cache)))


def _parts(keys: object) -> Iterator[object]:
    if isinstance(keys, (tuple, list)):
        for key in keys:
            yield from _parts(key)
    else:
        yield keys


def test_astype_gives_the_array_itself_where_nothing_changes_under_any_policy() -> None:
    with pa.shadow("torch"):
        x = pa.asarray([1, 2]) / 2
        assert same(x.astype(x.dtype, copy=False), x)
        other = x.astype(pa.float64, copy=False)
        assert not same(other, x)  # PyTorch makes a float64 of its float32
        assert np.shares_memory(other._buffer, x._buffer)
        assert x.dtype == pa.float64
        assert same(other.dtype, pa.float64)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("x.dtype is xp.float64", True),
        ("if t is not float64: pass", True),
        ("x.dtype is y.dtype", True),
        ("x.dtype is wanted", True),
        ("x.dtype is None", False),
        ("dtype is bool", False),
        ("type(x) is float", False),
        ("x is None or x.dtype == xp.float64", False),
    ],
)
def test_files_that_compare_dtypes_by_identity_are_found(line: str, expected: bool) -> None:
    file = f"<identity {line}>"
    linecache.cache[file] = len(line), None, [f"{line}\n"], file
    assert identity._in_file(file) is expected


IDENTITY = """
import promoarray as pa
def compared(x):
    return x.dtype is pa.float64
"""
HELPER = """
import identity_program
def given_on(x):
    return identity_program.compared(x), x.dtype
"""


def test_a_program_that_compares_by_identity_reads_plain_dtypes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "identity_program.py").write_text(IDENTITY)
    (tmp_path / "identity_helper.py").write_text(HELPER)
    helper = import_module("identity_helper")
    with pa.shadow("torch") as report:
        compared, read = helper.given_on(pa.asarray([1, 2]) / 2)
    assert compared
    assert same(read, pa.float64)  # which the helper might have compared, too
    found = [(d.site.line, d.run, d.policy, d.other) for d in report.decisions]
    assert found == [(line, ("float64",), "torch@2.13", ("float32",)) for line in (4, 4)]
