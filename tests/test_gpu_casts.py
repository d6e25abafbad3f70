"""The rule by which floats become integers in PyTorch on a GPU, against what PyTorch did there.

``conformance/gpu_casts.py`` recorded in docs/gpu.md which pairs of dtypes differ between CPU and
GPU, with an example for each target. Our policy and the rule have to differ in just these pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import gpu_casts
import numpy as np
import pytest

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.dtypes import DType

PAGE = Path(__file__).parents[1] / "docs" / "gpu.md"
FLOATS = (
    *(dt.float8_e4m3fn, dt.float8_e4m3fnuz, dt.float8_e5m2, dt.float8_e5m2fnuz, dt.float8_e8m0fnu),
    *(dt.bfloat16, dt.float16, dt.float32, dt.float64, dt.complex32, dt.complex64, dt.complex128),
)
WHOLE = (
    *(dt.uint8, dt.uint16, dt.uint32, dt.uint64),
    *(dt.int8, dt.int16, dt.int32, dt.int64),
)


def recorded() -> Iterator[tuple[DType, list[DType], tuple[str, ...]]]:
    """The rows of the page: target, sources, and what is cast, on the CPU, on the GPU."""
    text = PAGE.read_text(encoding="utf-8")
    table = text.partition("<!-- begin of torch's casts -->")[2].partition("<!-- end")[0]
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] in dt.BY_NAME:
            sources = [dt.BY_NAME[name] for name in cells[1].split(", ")]
            yield dt.BY_NAME[cells[0]], sources, tuple(cells[2:])


def cast(source: DType, codes: np.ndarray, target: DType, on_gpu: bool) -> np.ndarray:
    x = pa.PArray._wrap(codes.view(source.storage), source)
    if on_gpu:
        return gpu_casts.ruled(gpu_casts.bits(codes, source), source, target)
    with pa.policy("torch@2.11"), np.errstate(all="ignore"):
        return gpu_casts.bits(x.astype(target)._buffer, target)


@pytest.mark.parametrize("target", WHOLE, ids=str)
def test_the_rule_differs_from_the_cpu_where_pytorch_does(target: DType) -> None:
    ((sources, example),) = [(each, shown) for to, each, shown in recorded() if to is target]
    found = [d for source in FLOATS for d in gpu_casts.differences([source, target], cast, target)]
    assert {d.source for d in found} == {*sources}
    (first,) = [d for d in found if d.source is dt.float32]
    assert (f"float32 {first.example[0]}", *first.example[1:]) == example
