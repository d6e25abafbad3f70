"""Floating-point states of a thread, and the blocks that run in one."""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Iterator
from contextlib import contextmanager

KNOWN = sys.platform == "linux" and platform.machine() in ("x86_64", "aarch64")
KNOWN = KNOWN and platform.libc_ver()[0] == "glibc"
WHY_UNKNOWN = "knows only where glibc keeps the state on x86-64 and aarch64"

_X86 = platform.machine() == "x86_64"
_FLUSHES = {"DAZ": 0x0040, "FTZ": 0x8000} if _X86 else {"FZ": 1 << 24}
_ROUNDINGS = ("nearest", "down", "up", "zero") if _X86 else ("nearest", "up", "down", "zero")
_LOWEST = 13 if _X86 else 22  # where the two bits of the rounding are, in MXCSR and FPCR
_X87_LOWEST = 10


def _states() -> dict[str, int]:
    flushes = {"": 0, **_FLUSHES, "+".join(_FLUSHES): sum(_FLUSHES.values())}
    return {
        f"{flush} {rounding}".strip(): bits | way << _LOWEST
        for flush, bits in flushes.items()
        for way, rounding in enumerate(_ROUNDINGS)
    }


STATES = _states()
"""The bits of each state by its name; "nearest" is the default one."""

OTHERS = [name for name in STATES if name != "nearest"]


class _Environment:
    """The C library's fenv_t: 28 bytes of x87 and MXCSR, or FPCR and FPSR."""

    def __init__(self) -> None:
        self._libm = ctypes.CDLL("libm.so.6")
        self.words = (ctypes.c_uint32 * 8)()

    def read(self) -> bytes:
        self._libm.fegetenv(self.words)
        return bytes(self.words)

    def write(self, words: bytes) -> None:
        self.words[:] = (ctypes.c_uint32 * 8).from_buffer_copy(words)
        self._libm.fesetenv(self.words)

    def put(self, bits: int) -> None:
        self.read()
        if _X86:
            self.words[7] = 0x1F80 | bits
            self.words[0] = self.words[0] & ~0xC00 | (bits >> _LOWEST & 3) << _X87_LOWEST
        else:
            self.words[0] = bits
        self._libm.fesetenv(self.words)

    def control(self) -> tuple[int, ...]:
        """All but the flags of exceptions."""
        self.read()
        return (self.words[7] & ~0x3F, self.words[0] & 0xF3F) if _X86 else (self.words[0],)


_HERE = _Environment() if KNOWN else None


def control() -> tuple[int, ...]:
    """Return the state of this thread without the flags of exceptions."""
    assert _HERE is not None
    return _HERE.control()


@contextmanager
def state(name: str) -> Iterator[tuple[int, ...]]:
    """Run a block in a state, which it gives as ``control`` does; it must leave it as it was."""
    assert _HERE is not None
    before = _HERE.read()
    _HERE.put(STATES[name])
    try:
        yield _HERE.control()
    finally:
        _HERE.write(before)
