"""The devices of the stand-in for CuPy, its streams, and what goes wrong with them."""

from __future__ import annotations

import contextlib
from typing import Any

DEVICES = 2

current = [0]


class CUDARuntimeError(RuntimeError):
    """As CuPy's: the name of the error, then what it means."""


class OutOfMemoryError(MemoryError):
    pass


class CompileException(Exception):
    pass


class Trouble:
    """What goes wrong from now on: an error to raise where the GPU is asked for something."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self.devices: int | Exception = DEVICES

    def strike(self) -> None:
        if self.error is not None:
            raise self.error


trouble = Trouble()


def device_count() -> int:
    if isinstance(trouble.devices, Exception):
        raise trouble.devices
    return trouble.devices


class Device:
    def __init__(self, device: Any = None) -> None:
        self.id = current[-1] if device is None else int(getattr(device, "id", device))

    def __enter__(self) -> Device:
        if not 0 <= self.id < device_count():
            raise CUDARuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        current.append(self.id)
        return self

    def __exit__(self, *exc: Any) -> None:
        current.pop()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Device) and other.id == self.id

    __hash__ = None  # type: ignore[assignment]


class Stream(contextlib.nullcontext[None]):
    waited = 0

    def __init__(self, ptr: int = 0) -> None:
        super().__init__()
        self.ptr = ptr

    def synchronize(self) -> None:
        Stream.waited += 1
