"""Run the kernels' own texts on the CPU: g++ compiles what CuPy would hand to NVRTC, but for what
CuPy puts around it.

It shows that a text says what it shall, and nothing about compiling for or running on a GPU: the
branches for the device are not taken, threads run one after another. The texts themselves are
compiled for GPUs, and run by an interpreter of PTX, in test_cuda_*.py.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

COMPILER = shutil.which("g++")
WORDS = {
    "bool": "bool",
    "int8": "signed char",
    "int16": "short",
    "int32": "int",
    "int64": "long long",
    "uint8": "unsigned char",
    "uint16": "unsigned short",
    "uint32": "unsigned int",
    "uint64": "unsigned long long",
    "float16": "Sixteen",
    "float32": "float",
    "float64": "double",
    "complex64": "Pair<float>",
    "complex128": "Pair<double>",
}
"""CuPy's names of dtypes, and a type of that layout."""

_SHIM = """#pragma once
#include <math.h>
#define __global__
#define __device__
#define __shared__ static
struct Place { unsigned int x, y, z; };
static Place threadIdx, blockIdx, blockDim, gridDim;
struct Sixteen { unsigned short code; };
template <typename T> struct Pair { T real, imag; };
struct Passed {  // whatever a kernel takes, by value
    const void *at;
    template <typename T> operator T() const { return *(const T *)at; }
};
"""

_ELEMENTWISE = """
extern "C" void %(title)s(char **at, const long long *strides, const long long *shape, int axes,
                    long long size) {
    for (long long n = 0; n < size; ++n) {
        long long offset[%(count)d] = {};
        for (long long axis = axes - 1, left = n; axis >= 0; --axis) {
            for (int k = 0; k < %(count)d; ++k)
                offset[k] += left %% shape[axis] * strides[k * axes + axis];
            left /= shape[axis];
        }
        %(arguments)s
        %(operation)s
    }
}
"""

_RAW = """
extern "C" void run_%(name)s(void **at, unsigned long long n, unsigned int blocks,
                    unsigned int threads) {
    gridDim = {blocks, 1, 1}, blockDim = {threads, 1, 1};
    for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)
        for (threadIdx.x = 0; threadIdx.x < threads; ++threadIdx.x) %(name)s(%(arguments)s, n);
}
"""

# --- The compiler --------------------------------------------------------------------------------


folder = Path(os.devnull)
"""The folder that the tests give it, where what is compiled lies. Processes that share one compile
a kernel once."""


def _compile(*arguments: str) -> None:
    """Unoptimized, with each cast once and not wherever it is called: no kernel runs for long."""
    flags = ("-std=c++17", "-w", "-O0", "-ffp-contract=off", "-fPIC", "-DPROMOARRAY_CAST=inline")
    command = ["g++", *flags, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
    if done.returncode:
        raise RuntimeError(f"g++ does not compile a kernel:\n{done.stderr[:4000]}")


@cache
def _header(text: str) -> str:
    """Compile what many kernels begin with once in each process, which names it after itself."""
    name = f"{hashlib.sha256(text.encode()).hexdigest()[:16]}-{os.getpid()}.h"
    (folder / name).write_text(_SHIM + text, encoding="utf-8")
    _compile("-x", "c++-header", name, "-o", f"{name}.gch")
    return name


def _library(preamble: str, text: str) -> str:
    name = f"{hashlib.sha256((preamble + text).encode()).hexdigest()[:16]}-{os.getpid()}"
    source = f'#include "{_header(preamble)}"\n{text}'
    (folder / f"{name}.cpp").write_text(source, encoding="utf-8")
    _compile("-shared", f"{name}.cpp", "-o", f"{name}.so")
    return f"{name}.so"


class _Functions(dict[str, Any]):
    """The compiled kernels by their titles, those of other processes too."""

    def __missing__(self, title: str) -> Any:
        library = ctypes.CDLL(str(folder / f"{title}.so"))
        self[title] = found = getattr(library, title)
        return found

    def __contains__(self, title: object) -> bool:
        return super().__contains__(title) or (folder / f"{title}.so").exists()


_functions = _Functions()
_asked: dict[str, tuple[str, str]] | None = None
_AT_ONCE = 64


@contextmanager
def collecting() -> Iterator[None]:
    """Run no kernel, but compile all that are asked for at the end, many at once."""
    global _asked
    _asked = {}
    try:
        yield
        _build(_asked)
    finally:
        _asked = None


def _build(asked: dict[str, tuple[str, str]]) -> None:
    by_preamble: dict[str, list[str]] = {}
    for title, (preamble, _) in asked.items():
        if title not in _functions:
            by_preamble.setdefault(preamble, []).append(title)
    for preamble, titles in by_preamble.items():
        for part in batched(titles, _AT_ONCE):
            library = _library(preamble, "\n".join(asked[title][1] for title in part))
            for title in part:
                with suppress(FileExistsError):  # another process was as quick
                    (folder / f"{title}.so").symlink_to(library)


def batched(values: list[str], size: int) -> Iterator[list[str]]:
    """Lists of so many."""
    return (values[i : i + size] for i in range(0, len(values), size))


# --- Kernels -------------------------------------------------------------------------------------


def elementwise(
    preamble: str, operation: str, parameters: list[tuple[str, str, bool]], arrays: list[Any]
) -> None:
    """Run an elementwise kernel.

    Parameters
    ----------
    preamble, operation : str
    parameters : list of (dtype, name, whether it is read only)
    arrays : list of numpy.ndarray
        One for each, all of one shape, with any strides.
    """
    declared = [
        f"{'const ' * read}{WORDS[dtype]} &{name} = *({WORDS[dtype]} *)(at[{k}] + offset[{k}]);"
        for k, (dtype, name, read) in enumerate(parameters)
    ]
    words = {"count": len(parameters), "operation": operation}
    words["arguments"] = "\n        ".join(declared)
    digest = hashlib.sha256((preamble + repr(words)).encode()).hexdigest()
    title = words["title"] = f"run_{digest[:24]}"
    if _asked is not None:
        _asked[title] = preamble, _ELEMENTWISE % words
        return
    if title not in _functions:
        _build({title: (preamble, _ELEMENTWISE % words)})
    shape = arrays[0].shape
    strides = np.array([a.strides for a in arrays], np.int64).reshape(-1)
    pointers = (ctypes.c_void_p * len(arrays))(*[a.ctypes.data for a in arrays])
    lengths = np.array(shape, np.int64)
    size = ctypes.c_longlong(arrays[0].size)
    axes = ctypes.c_int(len(shape))
    _functions[title](pointers, _pointer(strides), _pointer(lengths), axes, size)


def raw(code: str, name: str, blocks: int, threads: int, given: list[Any], n: int) -> None:
    """Run a raw kernel of arrays and numbers, an array that it writes, and a length."""
    words = [
        f"Passed{{at[{k}]}}" if isinstance(x, np.generic) or x.dtype.names else f"at[{k}]"
        for k, x in enumerate(given)
    ]
    title = f"run_{name}"
    preamble, mark, own = code.rpartition("namespace promoarray {\nstruct Kernel_")
    text = mark + own + _RAW % {"name": name, "arguments": ", ".join(words)}
    if _asked is not None:
        _asked[title] = preamble, text
        return
    if title not in _functions:
        _build({title: (preamble, text)})
    held = [np.asarray(x) for x in given]
    pointers = (ctypes.c_void_p * len(held))(*[x.ctypes.data for x in held])
    grid = ctypes.c_uint(blocks), ctypes.c_uint(threads)
    _functions[title](pointers, ctypes.c_ulonglong(n), *grid)


def _pointer(array: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.ctypes.data)
