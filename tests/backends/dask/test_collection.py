"""Dask's collection protocol, computing, and what does not compute."""

from __future__ import annotations

import operator
import pickle
from collections.abc import Callable
from typing import Any

import dask
import dask.array as da
import ml_dtypes
import numpy as np
import pytest
from lazily import bits, lazy

import promoarray as pa


@pytest.fixture
def x() -> Any:
    return pa.from_dask(da.arange(12, chunks=6, dtype="f4").reshape(3, 4))


def test_only_lazy_arrays_are_collections(x: Any) -> None:
    here = x.compute()
    assert dask.is_dask_collection(x)
    assert not dask.is_dask_collection(here)
    for name in ("__dask_graph__", "__dask_keys__", "chunks", "compute", "persist", "to_dask"):
        assert (hasattr(x, name), hasattr(here, name)) == (True, False), name
    with pytest.raises(AttributeError, match="no attribute 'computed'"):
        _ = x.computed


def test_dask_computes_and_persists_them(x: Any) -> None:
    y = x.astype(pa.float8_e4m3fn)
    one, other, plain = dask.compute(x + 1, y, x.to_dask())
    assert (one.device, one.dtype, other.dtype) == ("cpu", pa.float32, pa.float8_e4m3fn)
    assert plain.dtype == np.float32
    (kept,) = dask.persist(y)
    assert kept.device == "dask"
    assert bits(kept) == bits(y) == bits(y.persist())
    with pa.policy("jax"):
        weak = pa.asarray(2.0, device="dask") * 1
        assert dask.compute(weak)[0].weak_type == weak.weak_type


def test_bound_arrays_stay_bound(x: Any) -> None:
    xp = pa.namespace("torch@2.13")
    bound = xp.asarray(x)
    (made,) = dask.compute(bound + 1)
    assert type(made) is type(bound)
    assert type(bound.compute()) is type(bound)


def test_chunks_come_in_and_go_out(x: Any) -> None:
    plain = da.ones((4, 6), chunks=(2, 3), dtype="i2")
    assert pa.from_dask(plain).to_dask().chunks == plain.chunks
    assert pa.asarray(plain, dtype=pa.bfloat16).chunks == plain.chunks
    assert x.rechunk(2).chunks == ((2, 1), (2, 2))
    small = pa.from_dask(plain.astype(ml_dtypes.float8_e5m2))
    assert small.dtype is pa.float8_e5m2
    assert small.to_dask().dtype == ml_dtypes.float8_e5m2
    assert small.view(pa.uint8).to_dask().dtype == np.uint8
    assert bits(small.view(pa.uint8).view(pa.float8_e5m2)) == bits(small)
    with pytest.raises(TypeError, match="from_dask takes a dask"):
        pa.from_dask(np.ones(3))


DO_NOT_COMPUTE: dict[str, Callable[[Any], object]] = {
    "repr": repr,
    "html": lambda x: x._repr_html_(),
    "len": len,
    "shape": lambda x: (x.shape, x.size, x.ndim, x.nbytes, x.dtype, x.device),
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "operators": lambda x: (x + 1) @ x.T,
    "reductions": lambda x: (pa.sum(x), pa.mean(x, axis=0), pa.argmax(x)),
    "masks": lambda x: x[x > 3] * 2,
    "assignment": lambda x: x.copy().__setitem__(0, 5.0),
    "in place": lambda x: x.copy().__iadd__(1),
    "dtypes": lambda x: pa.result_type(x, 1.5),
    "0-d": lambda x: x[0, 0] + pa.asarray(1, dtype=pa.int8),
}


@pytest.mark.parametrize("what", DO_NOT_COMPUTE)
def test_what_does_not_compute(x: Any, what: str) -> None:
    with pa.no_compute():
        DO_NOT_COMPUTE[what](x)


COMPUTE: dict[str, Callable[[Any], object]] = {
    "bool": lambda x: bool(x[0, 0]),
    "float": lambda x: float(x[0, 0]),
    "int": lambda x: int(x[0, 0]),
    "item": lambda x: x[0, 0].item(),
    "tolist": lambda x: x.tolist(),
    "__array__": np.asarray,
}


@pytest.mark.parametrize("channel", COMPUTE)
def test_what_computes_is_forbidden_counted_and_an_escape(x: Any, channel: str) -> None:
    take = COMPUTE[channel]
    with pa.no_compute(), pytest.raises(pa.ComputeError, match="would be computed inside"):
        take(x)
    with pa.no_compute(forbid=False) as computed, pa.trace() as trace:
        take(x)
    assert computed.count == 1
    assert [escape.channel for escape in trace.escapes] == [channel]


def test_a_policy_that_looks_at_values_computes_them(x: Any) -> None:
    number = pa.asarray(3, device="dask")
    with pa.policy("numpy@1"):
        with pa.no_compute(), pytest.raises(pa.ComputeError, match="'numpy@1' promotes by the val"):
            _ = number + pa.asarray([1], dtype=pa.int8)
        assert (number + pa.asarray([1], dtype=pa.int8)).dtype is pa.int8


def lazily(value: object, dtype: object) -> pa.PArray:
    return pa.asarray(value, dtype=dtype, device="dask")


VALUES_HAVE_NO_SAY: dict[str, Callable[[], object]] = {
    "no axes at all": lambda: lazily(300, pa.int64) + lazily(1, pa.int8),
    "one operand": lambda: pa.sqrt(abs(lazily(300, pa.int64))),
    "a higher kind": lambda: lazily([1], pa.int8) * lazily(1.5, pa.float64),
    "nothing wider": lambda: lazily([1.0], pa.float64) * lazily(300, pa.int64),
    "a mean": lambda: (lambda x: (x - pa.mean(x)) / pa.std(x))(lazily([1, 2], pa.float32)),
    "in place": lambda: operator.iadd(lazily([1], pa.int64), lazily(3, pa.int16)),
    "two of them": lambda: pa.clip(
        lazily([1.0], pa.float64), lazily(0, pa.int8), lazily(3, "int16")
    ),
    "a type alone": lambda: pa.result_type(lazily([1], pa.int64), lazily(300, pa.int64)),
    "in a list": lambda: pa.asarray([lazily(n, pa.int64) for n in range(5)]),
}


@pytest.mark.parametrize("what", VALUES_HAVE_NO_SAY)
def test_no_value_is_computed_that_has_no_say(what: str) -> None:
    with pa.policy("numpy@1"), pa.no_compute(), pa.shadow("numpy@1", "torch") as report:
        VALUES_HAVE_NO_SAY[what]()
    assert not report.assumed


def test_a_value_that_has_a_say_is_computed_once() -> None:
    x, top = lazily([1], pa.int8), lazily(100, pa.int64)
    with pa.policy("numpy@1"), pa.no_compute(forbid=False) as computed:
        with pa.shadow("numpy@1", "torch"):
            assert (x + top).dtype is (x * top).dtype is pa.int8
        assert (x**top).dtype is pa.int8
        assert computed.count == 1
        top += 200
        assert (x + top).dtype is pa.int16
        assert computed.count == 2


def test_lengths_that_are_not_known_are_none(x: Any) -> None:
    found = x[x > 3]
    assert found.shape == (None,)
    assert found.size is None
    assert found.nbytes is None
    assert "shape (None,)" in repr(found)
    for cut in (len, lambda x: x[:2], lambda x: x.reshape(2, 4)):
        with pytest.raises((TypeError, IndexError, ValueError), match="compute_chunk_sizes"):
            cut(found)
    assert found.compute_chunk_sizes() is found
    assert found.shape == (8,)
    assert bits(found) == bits(x.compute()[4:] if x.ndim == 1 else x.compute().reshape(-1)[4:])


def test_reports_are_those_of_arrays_in_memory() -> None:
    def program(device: str) -> None:
        x = pa.asarray(np.arange(12, dtype=np.int8).reshape(3, 4), device=device)
        y = x * 1.5 + pa.ones(4, dtype=pa.float16, device=device)
        y[0] = 3
        y += pa.sum(x, axis=0)
        pa.concat([y, pa.where(x > 3, y, 0)])
        top = 0.75 * pa.max(y)
        pa.stack([pa.sum(x), pa.count_nonzero(x)]) / x.shape[0] - top
        _ = x + pa.sum(x)
        pa.where(y > top, y, pa.min(y) * pa.asarray(1.5, device=device))
        (kept,) = dask.persist(x * 0.5)  # Dask's own, which no_compute does not hear of
        (here,) = dask.compute(kept)
        here + pa.ones((3, 4), dtype=pa.float32)

    others = "numpy", "numpy@1", "torch", "jax", "paddle", "tensorflow"
    with pa.no_compute():
        with pa.shadow(*others) as lazily:
            program("dask")
        with pa.trace() as traced:
            program("dask")
    with pa.shadow(*others) as report:
        program("cpu")
    with pa.trace() as trace:
        program("cpu")
    assert lazily.to_dict()["divergences"] == report.to_dict()["divergences"]
    assert "torch" in str(report)
    assert lazily.assumed == {"numpy@1"}
    said = lazily.summary()
    assert said.startswith(report.summary())
    assert "numpy@1 promotes by the values of lazy 0-d arrays" in said
    assert str(traced) == str(trace)


def test_a_report_under_a_policy_that_looks_at_values_has_them() -> None:
    x, top = (pa.asarray(n, dtype=d, device="dask") for n, d in (([1], pa.int8), (300, pa.int64)))
    with pa.policy("numpy@1"), pa.shadow("numpy@1", "numpy@2") as report:
        y = (x + top) * x
    assert y.dtype is pa.int16
    assert not report.assumed
    assert {a.dtype.name for d in report.divergences for a in d.answers.values()} == {
        "int16",
        "int64",
    }


def test_what_the_policies_have_comes_back_from_another_process() -> None:
    with pa.shadow("numpy", "torch") as report:
        made = pa.asarray([1], dtype=pa.int8, device="dask") * 1.5
        make, args = made.__dask_postcompute__()
        policy, code, stored, (_, told) = pickle.loads(pickle.dumps(args))
        assert told is made._type
        sent = make([np.ones(1)], policy, code, stored, (-1, told))  # as on a worker
        again = pickle.loads(pickle.dumps(sent))
        assert again._type is made._type
        again + pa.ones(1, dtype=pa.float32)
    assert [d.answers["torch@2.13"].origin for d in report.divergences] == ["root", "inherits"]


def test_a_report_says_what_it_did_not_compute() -> None:
    x = pa.asarray([1.0, 300.0], dtype=pa.float32, device="dask")
    with pa.no_compute(), pa.shadow("numpy", "jax") as report:
        pa.astype(x, pa.int8)
        pa.astype(x, pa.float64)
    assert "Of 1 cast of lazy arrays the policies may give other values" in report.summary()


def test_a_policy_that_is_not_registered_comes_back(x: Any) -> None:
    xp = pa.namespace(pa.get_policy().derive("nobody else's", {("int8", "int16"): "float64"}))
    bound = xp.asarray(x)
    made, again = dask.compute(bound + 1, bound)
    assert type(made) is type(again) is type(bound)
    make, args = bound.__dask_postcompute__()
    travelling = pickle.loads(pickle.dumps(args))
    assert type(make([[x.compute()._buffer]], *travelling)) is type(bound)


@pytest.mark.parametrize("scheduler", ["threads", "synchronous"])
def test_the_floating_point_state_is_that_of_the_graph(x: Any, scheduler: str) -> None:
    with np.errstate(divide="raise"):
        y = pickle.loads(pickle.dumps(1 / x))
    z = 1 / x
    with pytest.raises(FloatingPointError), np.errstate(divide="ignore"):
        y.compute(scheduler=scheduler)
    with pytest.warns(RuntimeWarning, match="divide"), np.errstate(divide="raise"):
        z.compute(scheduler=scheduler)


def test_what_is_computed_is_memory_of_its_own(x: Any) -> None:
    kept = x.persist()
    made, given = kept.compute(), np.asarray(kept)
    made[0], given[1] = 9, 9
    assert kept.compute().tolist() == np.arange(12.0).reshape(3, 4).tolist()


def test_xarray_takes_them_for_daskish(x: Any) -> None:
    xr = pytest.importorskip("xarray", reason="needs xarray")
    d = xr.DataArray(x, dims=("a", "b"))
    assert d.chunks == x.chunks
    made = (d + 1).isel(a=0).data
    assert made.device == "dask"
    assert (d * 2).compute().data.device == "cpu"
    assert bits(d.compute().data) == bits(x)


def test_other_devices_and_kinds_are_refused_in_words(x: Any) -> None:
    with pytest.raises(BufferError, match=r"x\.compute\(\)"):
        x.__dlpack__()
    with pytest.raises(TypeError, match="holds no strings"):
        pa.asarray(["1"], device="dask")
    assert bits(x.to_device("cpu")) == bits(x) == bits(lazy(x.compute()))
