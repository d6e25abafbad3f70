"""Buffers of a GPU and casts, on a machine that has none.

gpu/cupy_standin/ says what the stand-in is and what it is not. The same is asked of a real GPU
in gpu/test_on_device.py.
"""

from __future__ import annotations

from typing import Any

import cupy_standin as standin
import device_cases as cases
import numpy as np
import pytest
from here_and_there import FLOATS8, GPU, compiled_together, on_gpu, same

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import CONCRETE, NATIVE
from promoarray.promotion.registry import as_policy

# --- Buffers and dtypes --------------------------------------------------------------------------


def test_a_cupy_array_is_wrapped_where_it_lies(cupy: Any) -> None:
    x = cupy.asarray(np.arange(6, dtype=np.float32))
    a = pa.asarray(x)
    assert a._buffer is x
    assert (a.dtype, a.device, a.shape) == (pa.float32, "cuda:0", (6,))
    assert pa.asarray(a).device == "cuda:0"
    assert pa.namespace("torch").asarray(x).__array_namespace__().policy.name.startswith("torch")


def test_raw_cupy_arrays_enter_operations(cupy: Any) -> None:
    x = cupy.asarray(np.ones(3, np.int8))
    same(pa.asarray(np.ones(3, np.int8)) + 1.5, pa.add(x, 1.5))
    assert pa.result_type(x, 1.5) is pa.float64


@pytest.mark.parametrize("dtype", CONCRETE, ids=str)
def test_every_dtype_goes_there_and_back(dtype: Any) -> None:
    x = cases.array(dtype)
    there = x.to_device(GPU)
    back = there.to_device("cpu")
    assert there.dtype is back.dtype is dtype
    assert back._buffer.tobytes() == x._buffer.tobytes()
    held = there._buffer.dtype
    if dtype in NATIVE or dtype is dt.bfloat16:
        assert held == dtype.storage
    else:  # CuPy has no such dtype
        assert held.kind == "u"
        assert held.itemsize == dtype.storage.itemsize


def test_arrays_seen_through_ml_dtypes_are_adopted(cupy: Any) -> None:
    """``cupy_array.view(ml_dtypes.float8_e4m3fn)`` is allowed, but CuPy computes with no such."""
    x = cupy.asarray(np.array([0x38], np.uint8)).view(dt.float8_e4m3fn.storage)
    a = pa.asarray(x)
    assert a.dtype is pa.float8_e4m3fn
    assert a.tolist() == [1.0]
    assert a._buffer.dtype == np.uint8


def test_items_and_prints_are_values_not_codes() -> None:
    a = on_gpu([1.5, -0.25], pa.float8_e4m3fn)
    assert a.tolist() == [1.5, -0.25]
    assert repr(a) == "PArray([ 1.5 , -0.25], dtype=float8_e4m3fn)"
    assert float(a[0]) == 1.5
    assert a[1].item() == -0.25


def test_policies_by_value_see_values() -> None:
    with pa.policy("numpy@1"):
        wide, narrow = on_gpu(np.int64(300)), on_gpu(np.int64(3))
        x = on_gpu(np.ones(2, np.int8))
        assert (x + wide).dtype is pa.int16
        assert (x + narrow).dtype is pa.int8


def test_views_share_memory() -> None:
    a = on_gpu([1.0, 2.0], pa.float8_e4m3fn)
    codes = a.view(pa.uint8)
    codes[0] = 0
    assert a.tolist() == [0.0, 2.0]


def test_strings_stay_on_the_cpu() -> None:
    with pytest.raises(TypeError, match=r"a GPU holds no strings; write x.to_device\('cpu'\)"):
        pa.asarray(["1"]).to_device(GPU)


# --- Casts ---------------------------------------------------------------------------------------


def test_casts_give_the_bits_of_the_cpu() -> None:
    pairs = [(dt.float32, d) for d in CONCRETE if d is not dt.float32]
    pairs += [(d, dt.float32) for d in (*FLOATS8, dt.float16, dt.bfloat16, dt.int4, dt.uint64)]
    pairs += [(dt.float64, dt.bfloat16), (dt.int64, dt.bfloat16), (dt.complex64, dt.complex32)]
    pairs += [(dt.complex32, dt.float16), (dt.bool, dt.float8_e8m0fnu), (dt.float6_e2m3fn, dt.bool)]
    wrong = compiled_together(cases.wrong_casts, "numpy", pairs, GPU)
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("policy", ["torch", "jax", "tensorflow", "paddle", "aclnn@8.5", "onnx"])
def test_casts_obey_the_policy(policy: str) -> None:
    targets = (dt.float8_e4m3fn, dt.float8_e5m2, dt.int8, dt.uint8, dt.float8_e8m0fnu)
    pairs = [(dt.float32, target) for target in targets]
    wrong = compiled_together(cases.wrong_casts, policy, pairs, GPU)
    assert not wrong, "\n".join(wrong)


STEPPED = [
    ("tensorflow+flushes-subnormals", dt.complex64, dt.complex128),
    ("tensorflow+flushes-subnormals", dt.float32, dt.complex128),
    ("mindspore", dt.complex64, dt.bool),
    ("paddle@2.6+truncates-to-float16", dt.float64, dt.float16),
    ("paddle@3.3+float16-of-tiny-numbers", dt.float32, dt.float16),
    ("onnx+rounds-to-4-bits", dt.float64, dt.int4),
    ("jax+six-is-an-end", dt.float4_e2m1fn, dt.int16),
]


@pytest.mark.parametrize(("policy", "source", "target"), STEPPED, ids=str)
def test_steps_of_casts_are_part_of_the_kernel(
    policy: str, source: Any, target: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing goes to the CPU: what no mode of a kernel says is in the kernel, too."""
    casts = as_policy(policy).cast
    assert casts.plan(source, target).transforms
    there = cases.array(source).to_device(GPU)
    monkeypatch.setattr(standin.ndarray, "get", lambda *a, **o: pytest.fail("copied to the CPU"))
    got = pa.namespace(policy).asarray(there).astype(target)
    monkeypatch.undo()
    same(pa.namespace(policy).asarray(cases.array(source)).astype(target), got)


@pytest.mark.parametrize(
    "shape",
    [
        pytest.param(lambda x: x[::2, ::-3], id="strided and backwards"),
        pytest.param(lambda x: x.T, id="transposed"),
        pytest.param(lambda x: x[3, 5], id="0-d"),
        pytest.param(lambda x: x[:0], id="empty"),
        pytest.param(lambda x: x[None, :, ::2, None], id="new axes"),
        pytest.param(lambda x: pa.broadcast_to(x[:1], (4, 16)), id="broadcast"),
        pytest.param(lambda x: pa.permute_dims(pa.reshape(x, (4, 4, 16)), (2, 0, 1)), id="3-d"),
    ],
)
def test_every_layout(shape: Any) -> None:
    x = pa.reshape(pa.asarray(np.linspace(-300, 300, 256, dtype=np.float32)), (16, 16))
    here, there = shape(x), shape(x.to_device(GPU))
    same(here.astype(pa.float8_e5m2), there.astype(pa.float8_e5m2))
    same(here + here, there + there)
    same(here * 2, there * 2)
    same(pa.asarray(here, copy=True), pa.asarray(there, copy=True))


@pytest.mark.parametrize("order", ["C", "F"])
def test_contiguous_arrays_of_one_shape_take_the_kernel_for_them(order: str) -> None:
    host = cases.values(dt.float32, size=1 << 14)[: 127 * 129].reshape(127, 129)
    here, there = pa.asarray(host), pa.asarray(host, device=GPU)
    if order == "F":
        here, there = here.T, there.T
    standin.launches.clear()
    for run in (
        lambda v: v.astype(pa.float8_e4m3fn),
        lambda v: v + v,
        lambda v: 1.5 * v,
        lambda v: pa.where(v < v, v, v),
    ):
        with np.errstate(all="ignore"):  # the patterns overflow
            same(run(here), run(there))
    assert len(standin.launches) == 5
    assert there.astype(pa.float8_e4m3fn)._buffer.flags.f_contiguous is (order == "F")
    standin.launches.clear()
    same(here[:, ::2].astype(pa.float8_e4m3fn), there[:, ::2].astype(pa.float8_e4m3fn))
    assert not standin.launches


def test_what_is_broadcast_or_a_part_has_the_bits_of_the_cpu() -> None:
    host = cases.values(dt.float32, size=1 << 13).reshape(64, 128)
    here, there = pa.asarray(host), pa.asarray(host, device=GPU)
    looks = (
        lambda v: (v[1:], v[:1]),
        lambda v: (v, v[:, 2:3]),
        lambda v: (v[:, :1], v[0]),
        lambda v: (v[::2, 3:97], v[::-2, :94]),
        lambda v: (v[3, 4:5], v[:1]),
    )
    for look in looks:
        for run in (
            lambda x, y: x == y,
            lambda x, y: x.astype(pa.bfloat16) + y,
            lambda x, y: pa.where(x < y, x, 1.5),
        ):
            with np.errstate(all="ignore"):  # the patterns overflow
                same(run(*look(here)), run(*look(there)))
