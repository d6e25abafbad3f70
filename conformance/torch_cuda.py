"""Tell which kernels PyTorch has on CUDA, by the lists of dtypes in its own tests (``op_db``).

    python conformance/torch_cuda.py [--check]

Needs PyTorch and expecttest, no GPU. The tests hold these lists against devices: what they do not
list has to fail. A function is taken whose list for the CPU is what the CPU answered when it was
asked (``golden/functions/torch.json``); of others, and of dtypes that the tests do not try or list
by the GPU at hand (float16, bfloat16, complex32), nothing is told to lack. Results are the CPU's.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from typing import Any

import functions

_LISTED = ("b1", "u8", "i8", "i16", "i32", "i64", "f32", "f64", "c64", "c128")
_TRIED = (*_LISTED, "f16", "bf16")
NAMES = {code: name for name, code in functions._ask.CODES.items()}


def lists() -> dict[str, list[Any]]:
    """The entries of ``op_db`` by the names that they have."""
    from torch.testing._internal.common_methods_invocations import op_db

    found: dict[str, list[Any]] = {}
    for op in op_db:
        for name in (op.name, *(alias.name for alias in op.aliases)):
            found.setdefault(name, []).append(op)
    return found


def called(call: str) -> Iterator[str]:
    """Names that ``op_db`` may have for the function of a call."""
    named = re.match(r"\[?\(?([A-Za-z_][\w.]*)\(", call)
    if named:
        path = re.sub(r"^(torch|Tensor)\.", "", re.sub(r"^F\.", "nn.functional.", named[1]))
        yield from (path, f"nn.functional.{path}", f"linalg.{path}", f"fft.{path}")
        yield f"special.{path}"


def codes(dtypes: Any) -> set[str]:
    """The dtypes of a list that the tests try, by code."""
    names = {str(dtype).removeprefix("torch.") for dtype in dtypes}
    return {code for code in _TRIED if NAMES[code] in names}


def cells(name: str, call: str, known: dict[str, list[Any]]) -> dict[str, str]:
    """What is told of a function: the CPU's results, and what CUDA lacks."""
    asked = functions.golden("torch")[name]
    taken = {code for code in _TRIED if asked.get(code, ".")[0] not in "-?."}
    entries = next((known[each] for each in called(call) if each in known), [])
    entry = next((each for each in entries if codes(each.dtypes) == taken), None)
    cuda = None if entry is None or name[-1] in "_)" else codes(entry.dtypesIfCUDA)
    lacks = set() if cuda is None else {c for c in _LISTED if c not in cuda and asked[c] != "-"}
    return {
        code: functions.NO_KERNEL if code in lacks else re.sub(r"^\?.*", ".", text)
        for code, text in asked.items()
    }


def main() -> int:
    """Write the file, or say whether it is as PyTorch's lists are."""
    import torch

    path, known = functions.GOLDEN / "torch_cuda.json", lists()
    rows = {row.name: row.calls["torch"] for row in functions.rows()}
    answers = {n: cells(n, rows[n], known) for n in functions.golden("torch") if n in rows}
    said = f"torch {torch.__version__.partition('+')[0]}, the lists of its tests (op_db)"
    sections = {n: {(code, n): text for code, text in row.items()} for n, row in answers.items()}
    before = path.read_text(encoding="utf-8") if path.exists() else ""
    functions.write(path, {"framework": said}, sections)
    return int("--check" in sys.argv and path.read_text(encoding="utf-8") != before)


if __name__ == "__main__":
    sys.exit(main())
