"""Run the text that CuPy hands to NVRTC on the CPU: a C++ compiler and a shim.

It shows that the text and its indexing are right, by a compiler that shares nothing with NVRTC.
What it cannot show is what NVRTC makes of floats (flushed subnormals, contraction); ``ptx`` can.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from cuda_compiler import headers
from ptx import indexer

HERE = Path(__file__).parent
FLAGS = ("-std=c++17", "-O1", "-w", "-shared", "-fPIC", "-ffp-contract=off", "-fno-strict-aliasing")


@cache
def compiler() -> str | None:
    """A C++ compiler, if there is one."""
    return shutil.which(os.environ.get("CXX", "g++")) or shutil.which("c++")


def require() -> None:
    """Skip the calling test module where there is none."""
    if compiler() is None:
        pytest.skip("there is no C++ compiler", allow_module_level=True)


def built(text: str, names: Iterable[str], folder: Path) -> ctypes.CDLL:
    """Compile a text of kernels into a library that ``run`` takes."""
    from cupy._core import core

    found = compiler()
    assert found
    launchers = "\n".join(
        f'extern "C" void launch_{name}(void **given, unsigned blocks, unsigned threads)'
        f" {{ host_launch({name}, given, blocks, threads); }}"
        for name in names
    )
    source, library = folder / "kernels.cpp", folder / "kernels.so"
    source.write_text(f'#include "host_shim.h"\n{headers()}{text}\n{launchers}\n', encoding="utf-8")
    includes = [*core._get_cccl_include_options(), f"-I{core._get_header_dir_path()}"]
    command = [found, *FLAGS, f"-I{HERE}", *includes, str(source), "-o", str(library)]
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr[:4000]
    return ctypes.CDLL(str(library))


def run(
    library: ctypes.CDLL,
    name: str,
    arrays: Iterable[np.ndarray],
    blocks: int = 3,
    threads: int = 32,
) -> None:
    """Launch an elementwise kernel over arrays of one shape, the last of which it writes."""
    arrays = list(arrays)
    records = [
        np.array([a.ctypes.data, a.size, *a.shape, *a.strides], np.int64).tobytes() for a in arrays
    ]
    launch(library, name, [*records, indexer(arrays[0].shape)], 3, 32)


def launch(
    library: ctypes.CDLL, name: str, arguments: Iterable[bytes], blocks: int, threads: int
) -> None:
    """Launch any kernel; its arguments as they lie in memory."""
    held = [ctypes.create_string_buffer(a, len(a)) for a in arguments]
    pointers = (ctypes.c_void_p * len(held))(*map(ctypes.addressof, held))
    getattr(library, f"launch_{name}")(pointers, blocks, threads)
