"""The private names of CuPy that ``cuda_compiler.py`` uses, and what they give."""

from __future__ import annotations

import cuda_compiler
import pytest

from promoarray import dtypes as dt
from promoarray.kernels.cuda.contiguous import contiguous_kernel
from promoarray.kernels.cuda.kernel_source import cast_kernel

cuda_compiler.require(__name__)


def test_the_text_is_what_cupy_makes_of_an_elementwise_kernel():
    kernel = cast_kernel(dt.float32, dt.bfloat16)
    text = " ".join(cuda_compiler.elementwise_text(kernel).split())
    assert " ".join(kernel.operation.split()) in text
    assert (
        f'extern "C" __global__ void {kernel.name}(const CArray<float, 1, 1, 1> _raw_x,'
        " CArray<unsigned short, 1, 1, 1> _raw_y, CIndexer<1, 1> _ind)"
    ) in text
    assert "CUPY_FOR(i, _ind.size())" in text
    strided = cuda_compiler.elementwise_text(kernel, ndim=3, contiguous=False)
    assert "CArray<float, 3, 0, 1>" in strided


def test_the_options_are_those_of_cupy():
    found = cuda_compiler.options()
    assert "-ftz=true" in found
    assert any(option.startswith("-I") for option in found)
    assert "cupy/carray.cuh" in cuda_compiler.headers()


def test_many_kernels_are_compiled_as_one_text():
    kernels = [cast_kernel(dt.float32, target) for target in (dt.int8, dt.float16)]
    code = cuda_compiler.ptx_of(cuda_compiler.elementwise_texts(kernels))
    assert all(f".entry {kernel.name}(" in code for kernel in kernels)
    assert ".target sm_90" in code


def test_a_text_that_is_wrong_is_refused():
    from cupy.cuda.compiler import CompileException

    code = contiguous_kernel(cast_kernel(dt.float32, dt.int8)).code
    with pytest.raises(CompileException, match="nonsense"):
        cuda_compiler.compiled(code + "nonsense", 90, raw=True)
