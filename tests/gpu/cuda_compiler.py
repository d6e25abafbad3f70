"""Compile CuPy's kernels for real GPUs on a machine that has none: NVRTC needs neither driver nor
device.

This is the one place that touches CuPy's private names, to get at the text and the options that
CuPy itself would hand to NVRTC. ``test_cuda_compiler.py`` watches them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from functools import cache
from itertools import groupby, islice
from typing import NamedTuple

import numpy as np
import pytest

from promoarray.kernels.cuda.contiguous import RawSource
from promoarray.kernels.cuda.kernel_source import KernelSource

ARCHITECTURES = (75, 80, 90, 100)
EVERY = os.environ.get("PROMOARRAY_EVERY_GPU", "") not in ("", "0")
"""Whether to compile every kernel for every architecture; see ``test_cuda_casts.py``."""


def in_turn(turn: int) -> tuple[int, ...]:
    """The oldest and the newest architecture, whose PTX differs, and every other turn one between.

    NVRTC takes seconds for the kernels of a group, and makes one PTX of those below the newest, but
    for conversions to float8, which the two newest have.
    """
    oldest, *between, newest = ARCHITECTURES
    chosen = between if EVERY else between[turn // 2 % 2 :][: 1 - turn % 2]
    return (oldest, *chosen, newest)


_ARRAY, _INDEXER, _SCALAR = 1, 2, 3  # _ArgKind in cupy/_core/_kernel.pxd

needs_nvrtc = "the extra gpu-compile is not installed: pip install -e '.[gpu-compile]'"


@cache
def why_not() -> str:
    """Why nothing can be compiled here, or ""."""
    try:
        import cupy  # noqa: F401
        from cupy.cuda import nvrtc

        nvrtc.getVersion()
        options()
    except Exception as error:  # whatever a missing or broken wheel raises
        return f"{needs_nvrtc} ({type(error).__name__})"
    return ""


def require(module: str) -> None:
    """Skip the calling test module where NVRTC is missing.

    Its name is in the reason: pytest-xdist tells of one of several modules that skip alike.
    """
    if why_not():
        pytest.skip(f"{module}: {why_not()}", allow_module_level=True)


@cache
def options() -> tuple[str, ...]:
    """The options CuPy gives to NVRTC, but for the architecture."""
    from cupy._core import core

    return (*core.assemble_cupy_compiler_options(()), "-ftz=true")


@cache
def headers() -> str:
    """What CuPy puts in front of every kernel."""
    from cupy._core import core

    return "".join(f"#include <{name}>\n" for name in core._cupy_header_list)


def elementwise_text(
    kernel: KernelSource, *, ndim: int = 1, contiguous: bool = True, scalars: tuple[int, ...] = ()
) -> str:
    """The text CuPy makes of an ElementwiseKernel, for arrays of so many axes.

    The parameters with the numbers in ``scalars`` are NumPy's scalars: they travel with the launch.
    """
    import cupy
    from cupy._core import _carray, _scalar
    from cupy._core._kernel import _ArgInfo, _get_elementwise_kernel_code

    made = cupy.ElementwiseKernel(
        kernel.in_params,
        kernel.out_params,
        kernel.operation,
        kernel.name,
        preamble=kernel.preamble,
    )
    dtypes = [[np.dtype(p.dtype) for p in each] for each in (made.in_params, made.out_params)]
    _, _, types = made._decide_params_type(*map(tuple, dtypes))
    arguments = [
        _ArgInfo(_SCALAR, _scalar.CScalar, dtype, 0, True, True)
        if i in scalars
        else _ArgInfo(_ARRAY, cupy.ndarray, dtype, ndim, contiguous, True)
        for i, dtype in enumerate(dtype for each in dtypes for dtype in each)
    ]
    arguments.append(_ArgInfo(_INDEXER, _carray.Indexer, None, ndim, True, True))
    text: str = _get_elementwise_kernel_code(
        tuple(arguments), types, made.params, made.operation, made.name, made.preamble
    )
    return text


def together(texts: Iterable[tuple[str, str]]) -> str:
    """One text of many kernels that begin with the same preamble: (text, preamble) of each."""
    texts = list(texts)
    preamble = texts[0][1]
    functions = []
    for text, own in texts:
        assert own == preamble
        before, after = text.split(own) if own else ("", text)
        assert not before.strip(), "CuPy defines types that another kernel might define otherwise"
        functions.append(after)
    return preamble + "\n".join(functions)


def elementwise_texts(kernels: Iterable[KernelSource], **layout: object) -> str:
    """One text of the texts CuPy makes of many kernels."""
    return together((elementwise_text(k, **layout), k.preamble) for k in kernels)


def raw_texts(kernels: Iterable[RawSource]) -> str:
    """One text of many raw kernels."""
    return together((k.code, k.preamble) for k in kernels)


AT_ONCE = 64
"""How many kernels are best compiled as one text: the headers take a while to be read, and ptxas
takes longer for each of many."""


def batches(
    kernels: Iterable[KernelSource], at_once: int = AT_ONCE
) -> Iterator[list[KernelSource]]:
    """Kernels that can be compiled as one text, because they begin with the same one."""
    ordered = sorted(kernels, key=lambda kernel: len(kernel.preamble))
    for _, alike in groupby(ordered, key=lambda kernel: kernel.preamble):
        while some := list(islice(alike, at_once)):
            yield some


# --- Compiling -----------------------------------------------------------------------------------


class Compiled(NamedTuple):
    """What NVRTC makes of a text for one architecture: the code of the GPU, and the PTX before."""

    cubin: bytes
    ptx: str


def compiled(text: str, architecture: int, *, raw: bool = False) -> Compiled:
    """Compile a text as CuPy does; it puts nothing in front of a ``raw`` kernel.

    Raises
    ------
    cupy.cuda.compiler.CompileException
        If NVRTC refuses it.
    """
    from cupy.cuda import compiler
    from cupy_backends.cuda.libs import nvrtc

    whole = text if raw else headers() + text
    program = compiler._NVRTCProgram(whole, "kernel.cu", method="cubin")
    target = f"-arch=sm_{architecture}"
    # CuPy's options, and one that only keeps what has been read of the headers for the next text.
    own = target, "--device-as-default-execution-space", "--pch"
    cubin, _ = program.compile((*options(), *own))
    return Compiled(bytes(cubin), bytes(nvrtc.getPTX(program.ptr)).decode().rstrip("\0"))


def ptx_of(text: str, *, raw: bool = False) -> str:
    """The PTX of a text, where one architecture is as good as another."""
    return compiled(text, 90, raw=raw).ptx


def function_of(ptx: str, name: str) -> str:
    """The text of one kernel in a PTX."""
    start = ptx.index(f".entry {name}(")
    return ptx[start : ptx.index("\n}\n", start)]


def compiled_for(
    kernels: list[KernelSource], architectures: Iterable[int], *, raw: bool = False
) -> Iterator[str]:
    """Compile kernels for each architecture, and give the PTX that differ.

    Every kernel must be in the code for each GPU.
    """
    text = raw_texts(kernels) if raw else elementwise_texts(kernels)
    seen: set[tuple[str, ...]] = set()
    for architecture in architectures:
        cubin, ptx = compiled(text, architecture, raw=raw)
        assert cubin[:4] == b"\x7fELF"
        assert not [k.name for k in kernels if k.name.encode() not in cubin]
        functions = tuple(function_of(ptx, kernel.name) for kernel in kernels)
        if functions not in seen:
            seen.add(functions)
            yield ptx
