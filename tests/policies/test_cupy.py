"""CuPy: NumPy's policies with CUDA's casts; 0-d arrays of CuPy 13 have no values."""

from __future__ import annotations

import pytest

import promoarray as pa
from promoarray.policies import as_policy

# The documentation's own, and the low bits of cvt.rzi.s32.f32 and cvt.rzi.u32.f32 (PTX).
CAST = {
    "uint32": [0, 2**32 - 1, 0, 3 * 10**9],
    "int32": [-2, 2**31 - 1, 0, 2**31 - 1],
    "uint8": [0, 255, 0, 0],
    "int8": [-2, -1, 0, -1],
}


@pytest.mark.parametrize("edition", ["14", "13"])
@pytest.mark.parametrize("target", CAST)
def test_floats_saturate_as_cuda_does(edition: str, target: str) -> None:
    with pa.policy(f"cupy@{edition}"):
        x = pa.asarray([-2.0, float("inf"), float("nan"), 3e9], dtype=pa.float32)
        assert x.astype(target).tolist() == CAST[target]


@pytest.mark.parametrize(("ours", "numpy"), [("cupy@14", "numpy@2"), ("cupy@13", "numpy@1")])
def test_arrays_and_numbers_promote_as_numpys(ours: str, numpy: str) -> None:
    dtypes = [d for d in as_policy("numpy@1").dtypes if d in as_policy(ours).dtypes]
    for a in dtypes:
        for b in (*dtypes, 1, 300, 1.5, 1j):
            found, wanted = (pa.explain("+", a, b, policy=p).dtype for p in (ours, numpy))
            assert found == wanted, (a, b)


def test_a_0d_array_counts_as_an_array_in_cupy_13() -> None:
    with pa.policy("cupy@13"):
        x = pa.asarray([1, 2], dtype=pa.int8)
        assert (x + pa.asarray(1, dtype=pa.int16)).dtype == "int16"
        assert (x + 1000).dtype == "int16"
        assert (x + 100).dtype == "int8"
