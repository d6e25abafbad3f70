"""The PTX that CUDA's compiler makes of PyTorch's conversions of floats to integers; no GPU needed.

    python conformance/oracles/ptx.py LIBNVRTC    writes golden/ptx_casts.txt

LIBNVRTC is libnvrtc.so of the wheel nvidia-cuda-nvrtc. The C++ is that of c10/util/TypeCast.h of
PyTorch 2.13.0 (``static_cast_with_inter_type``): a ``static_cast``, to uint8 by way of int64.
"""

from __future__ import annotations

import ctypes
import re
import sys
from pathlib import Path

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "ptx_casts.txt"
FLOATS = {"float32": "float", "float64": "double"}
INTEGERS = {
    f"{sign}int{bits}": f"{kind} {name}"
    for bits, name in ((8, "char"), (16, "short"), (32, "int"), (64, "long long"))
    for sign, kind in (("", "signed"), ("u", "unsigned"))
}
KERNEL = 'extern "C" __global__ void k(const {0} *x, {1} *y) {{ *y = static_cast<{1}>({2}); }}'


def instruction(nvrtc: ctypes.CDLL, source: str, target: str) -> str:
    """The conversion in the PTX of a cast."""
    value = "static_cast<long long>(*x)" if target == "uint8" else "*x"
    text = KERNEL.format(FLOATS[source], INTEGERS[target], value).encode()
    program, size = ctypes.c_void_p(), ctypes.c_size_t()
    options = (ctypes.c_char_p * 1)(b"--gpu-architecture=compute_90")
    failed = nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, b"k.cu", 0, None, None)
    failed |= nvrtc.nvrtcCompileProgram(program, 1, options)
    failed |= nvrtc.nvrtcGetPTXSize(program, ctypes.byref(size))
    ptx = ctypes.create_string_buffer(size.value)
    failed |= nvrtc.nvrtcGetPTX(program, ptx)
    (found,) = re.findall(r"cvt\.\S+", ptx.value.decode())
    if failed:
        sys.exit(f"NVRTC failed: {failed}")
    return found


def main(library: str) -> None:
    """Write the instructions."""
    nvrtc = ctypes.CDLL(library)
    major, minor = ctypes.c_int(), ctypes.c_int()
    nvrtc.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
    lines = [f"# NVRTC {major.value}.{minor.value}, compute_90: source, target, instruction"]
    lines += [f"{s} {t} {instruction(nvrtc, s, t)}" for s in FLOATS for t in INTEGERS]
    GOLDEN.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1])
