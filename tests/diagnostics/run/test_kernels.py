"""Kernels of Triton under ``compare --types``, without Triton."""

from __future__ import annotations

import json
import textwrap
from pathlib import Path
from typing import Any

import pytest

from promoarray.__main__ import main
from promoarray.diagnostics.exit_codes import FAILED, FINDINGS, INCOMPLETE, NOTHING, USAGE

KERNEL = """
import triton
import triton.language as tl

@triton.jit
def _scale(x, s):
    return x * s

@triton.jit
def fused(x_ptr, k_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offs, mask=offs < n)
    k = tl.load(k_ptr + offs, mask=offs < n, other=0)
    y = k * x
    half = 0.5
    y = _scale(x, half)
    tl.store(out_ptr + offs, y.to(tl.bfloat16))
"""


def _found(file: Path, types: str, capsys: Any, *more: str) -> tuple[int, dict[str, Any]]:
    with pytest.raises(SystemExit) as ended:
        raise SystemExit(main(["compare", "--json", "--types", types, *more, str(file)]))
    return int(ended.value.code or 0), json.loads(capsys.readouterr().out)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "kernel.py"
    path.write_text(textwrap.dedent(KERNEL))
    return path


def test_lines_where_triton_and_torch_differ(file: Path, capsys: Any) -> None:
    code, found = _found(file, "x_ptr=bfloat16,k_ptr=int16,out_ptr=bfloat16", capsys)
    roots = {
        each["expression"]: {name: a["dtype"] for name, a in each["answers"].items()}
        for each in found["divergences"]
        if each["root"]
    }
    assert roots == {
        "k * x": {"triton@3.8": "float32", "torch@2.13": "bfloat16"},
        "x * s": {"triton@3.8": "float32", "torch@2.13": "bfloat16"},  # half is a tensor
    }
    assert (code, found["not_read"]) == (FINDINGS, [])


def test_kernels_that_agree(file: Path, capsys: Any) -> None:
    code, found = _found(file, "x_ptr=float32,k_ptr=float32,out_ptr=float32", capsys)
    assert (code, found["divergences"]) == (NOTHING, [])


def test_what_is_not_read_is_named(file: Path, capsys: Any) -> None:
    file.write_text(file.read_text().replace("y = k * x", "y = tl.atomic_add(k_ptr, x)"))
    code, found = _found(file, "x_ptr=float32,k_ptr=float32,out_ptr=float32", capsys)
    assert code == INCOMPLETE
    assert found["not_read"][0].startswith("fused was read up to line 14: AttributeError")
    code, found = _found(file, "x_ptr=float32", capsys)
    assert code == INCOMPLETE
    assert "k_ptr points to nothing known; write --types k_ptr=" in found["not_read"][0]


@pytest.mark.parametrize("types", ["x_ptr=float99", "x_ptr"])
def test_a_dtype_that_triton_has_not(file: Path, types: str, capsys: Any) -> None:
    assert main(["compare", "--types", types, str(file)]) == USAGE
    assert "names no dtype of Triton's" in capsys.readouterr().err


def test_a_file_of_kernels_that_cannot_run_is_told_how_it_is_read(
    tmp_path: Path, capsys: Any
) -> None:
    file = tmp_path / "kernel.py"
    file.write_text(KERNEL.replace("import triton\n", "import no_such_triton as triton\n", 1))
    assert main(["compare", str(file)]) == FAILED
    said = capsys.readouterr().err
    types = "--types x_ptr=float16,k_ptr=float16,out_ptr=float16"
    assert f"{types} reads its kernels" in said
    assert main(["compare", str(file), *types.split()]) in (FINDINGS, NOTHING)
