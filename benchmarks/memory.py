"""Memory: the most that an operation holds beside its result, in bytes of the whole process.

The system counts the pages a process holds, and the most it held since that was reset (Linux). The
result is alive when it is read. What was freed is given back before, so nothing hides in it;
scratch that a thread keeps for good counts when it is made, in the first call, which is not
measured.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import throughput
from measure import OURS, Call, Line, Options, Unavailable
from peers import Peer, call

import promoarray as pa
from promoarray import dtypes as dt

STATUS, RESET = Path("/proc/self/status"), Path("/proc/self/clear_refs")
BUDGET, PANELS = 1 << 20, 8 << 20
PAGE = 4096
ROUNDS = 3
NO_HUGE_PAGES = 41
"""``PR_SET_THP_DISABLE``: a page of 2 MiB counts whole once a byte of it is written."""
UNBOUNDED = ("sort", "unique", "searchsorted")
"""Nothing was promised of these."""


def lines(peers: list[Peer], options: Options) -> Iterator[Line]:
    """The operations of throughput, and casts from and to float32."""
    if not hasattr(ctypes.CDLL(None), "malloc_trim") or not RESET.exists():
        raise Unavailable("memory is read from /proc/self, which Linux with glibc has")
    ctypes.CDLL(None).prctl(NO_HUGE_PAGES, 1, 0, 0, 0)
    ours = Peer(OURS, pa, lambda x: pa.asarray(x.copy()))
    for text, dtypes in throughput.ROWS:
        for pair in dtypes:
            left, _, right = pair.partition(" ")
            given = throughput.operands(text, left, right or left, options.elements)
            if "matmul" in text:
                given |= {"c": given["a"][:1024, :1024], "d": given["b"][:1024, :1024]}
            found = partial(beside, call(text, ours, given))
            yield Line(f"{text}, {pair}", {}, {"": budget(text)}, "torch", "B", found=found)
    wide = throughput.numbers("float32", options.elements, 0)
    for dtype in dt.CONCRETE:
        if dtype not in (dt.float32, dt.string):
            whole = pa.asarray(wide)
            narrow = whole.astype(dtype)
            yield _cast(whole, dtype)
            yield _cast(narrow, dt.float32)


def _cast(x: pa.PArray, target: dt.DType) -> Line:
    found = partial(beside, lambda: x.astype(target))
    return Line(f"{x.dtype} to {target}", {}, {"": BUDGET}, None, "B", found=found)


def budget(text: str) -> float | None:
    """What an operation may hold beside its result."""
    if any(word in text for word in UNBOUNDED):
        return None
    return PANELS if "matmul" in text else BUDGET


def beside(run: Call) -> dict[str, float]:
    """Return the most bytes held at once beside the result, the least of a few rounds."""
    trim = ctypes.CDLL(None).malloc_trim
    run()
    found = []
    for _ in range(ROUNDS):
        trim(0)
        RESET.write_text("5")
        result = run()
        most = _bytes("VmHWM")
        trim(0)
        found.append(most - _bytes("VmRSS"))
        del result
    return {OURS: float(max(min(found), PAGE))}


def _bytes(name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", STATUS.read_text())
    assert found is not None
    return int(found[1]) * 1024
