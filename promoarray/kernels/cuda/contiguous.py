"""Kernels for contiguous arrays of one shape: the text of any elementwise kernel, run over packs.

CuPy's own elementwise kernels read and write one element a thread, and reckon an index for each.
Here a warp's accesses lie side by side, 16 bytes of the widest array a thread and turn, and CuPy
has nothing to reckon before the launch either.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from promoarray.kernels.cuda.kernel_source import KernelSource

__all__ = ["RawSource", "contiguous_kernel"]


class RawSource(NamedTuple):
    """What ``cupy.RawKernel(k.code, k.name)`` takes.

    Launch it as ``kernel((k.blocks(n),), (k.threads,), (*operands, y, n))`` with the arrays and
    numbers that the elementwise kernel takes, the array ``y`` and the number of elements, a Python
    int, which travels in 64 bits. All arrays are contiguous in one order, and ``y`` overlaps none;
    they may begin at any element.
    """

    name: str
    code: str
    preamble: str  # what the code begins with
    threads: int  # in a block
    per_thread: int  # how many elements each thread computes

    def blocks(self, n: int) -> int:
        """How many blocks compute ``n`` elements."""
        return -(-n // (self.threads * self.per_thread))


_THREADS = 128
_ACCESS = 16
"""The bytes that a thread reads or writes at once."""
_WAITING = 128
"""The bytes that a thread asks for before it computes: fewer would leave memory waiting."""
_MOST = 16
"""Elements of a thread: more would be held in too many registers."""
_MOST_COSTLY = 4
"""Where each is a call of CUDA's library, which is compiled anew for each."""


@cache
def contiguous_kernel(kernel: KernelSource, numbers: tuple[bool, ...] = ()) -> RawSource:
    """The kernel of contiguous arrays that gives the bits of an elementwise kernel of one output;
    ``numbers`` says which of its inputs are numbers, which travel with the launch, by default none.

    Where the one input is an array of codes of 8 bits or fewer, each block computes all 256 answers
    first, and looks them up.
    """
    # 1. What a thread takes at once, and in how many turns.
    inputs = [_parameter(text) for text in kernel.in_params.split(",")]
    word, y = _parameter(kernel.out_params)
    numbers = numbers or (False,) * len(inputs)
    arrays = [w for (w, _), number in zip(inputs, numbers, strict=True) if not number]
    most = _MOST_COSTLY if kernel.costly else _MOST
    pack = min(_ACCESS // max(map(_size, (*arrays, word))), most)
    turns = max(1, min(_WAITING // (pack * sum(map(_size, arrays))), most // pack))

    # 2. The text.
    declared, operands = [], []
    for (w, x), number in zip(inputs, numbers, strict=True):
        declared.append(f"const promoarray::{w} {x}" if number else f"const void *{x}")
        at = f"static_cast<const {w} *>({x})"
        sort = f"Scalar<{w}>" if number else f"Elements<{w}, {pack}, {turns}>"
        operands.append(f"    {sort} from_{x}{{{x if number else at}}};\n")
    given = ", ".join(f"const {w} &{x}" for w, x in inputs)
    passed = ", ".join(f"from_{x}" for _, x in inputs)
    name = f"{kernel.name}_packs" + "".join("01"[number] for number in numbers)
    made, table = f"Kernel_{name}{{}}", ""
    if len(inputs) == len(arrays) == 1 and arrays[0] == "u8":
        table = f"    __shared__ {word} table[256];\n    all_answers({made}, table);\n"
        made = f"Looked<{word}>{{table}}"
    code = f"""{kernel.preamble}
namespace promoarray {{
struct Kernel_{name} {{
    PROMOARRAY_CAST void run({given}, {word} &{y}) const {kernel.operation}
}};
}}
extern "C" __global__ void {name}({", ".join(declared)}, void *y, unsigned long long n) {{
    using namespace promoarray;
{table}{"".join(operands)}    in_packs<{word}, {pack}, {turns}>({made}, y, n, {passed});
}}
"""
    return RawSource(name, code, kernel.preamble, _THREADS, pack * turns)


def _parameter(text: str) -> tuple[str, str]:
    """The type of the bits of a parameter such as "float32 x", and its name."""
    dtype, name = text.split()
    size = np.dtype(dtype).itemsize
    return (f"u{8 * size}" if size <= 8 else "Both"), name


def _size(word: str) -> int:
    return 16 if word == "Both" else int(word[1:]) // 8
