"""Runtimes of ONNX: what they answered to models of one node, and how the policies say so."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import promoarray as pa

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "conformance"))
import runtimes


@pytest.mark.parametrize("runtime", ["litert", "onnxruntime", "openvino"])
def test_the_runtime_answered_the_same(runtime: str) -> None:
    assert list(runtimes.compare(runtime)) == []


def test_a_kernel_that_is_missing_is_named_with_its_operator() -> None:
    xp = pa.namespace("onnxruntime")
    x = xp.asarray([1.0], dtype=xp.bfloat16)
    with pytest.raises(pa.PromotionError, match="has no kernel of Add for bfloat16"):
        x + x
    with pytest.raises(pa.PromotionError, match="no kernel of Cast for float4"):
        xp.astype(xp.asarray([1.0], dtype=xp.float32), pa.float4_e2m1fn)


def test_explain_names_the_quirk_of_a_cast_and_that_it_is_on() -> None:
    said = pa.explain("astype", "float32", "float8_e4m3fn", policy="openvino").quirks
    assert any(line.startswith("on: saturate-is-ignored") for line in said)


@pytest.mark.parametrize("dtype", ["int64", "uint64", "uint32"])
def test_wide_integers_are_int32_in_openvino(dtype: str) -> None:
    xp = pa.namespace("openvino")
    x = xp.asarray([2**31, 7], dtype=dtype)
    wide = 2**31 if dtype == "uint32" else (-(2**31)) % 2**64 if dtype == "uint64" else -(2**31)
    assert xp.asarray(x * 1).tolist() == [wide, 7]
    assert (x < 8).tolist() == [True, True]
