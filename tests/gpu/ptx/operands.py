"""The operands of PTX's instructions: registers, numbers, addresses.

A register is an array with an item for each thread, or without axes where it is the same for all,
of unsigned integers of the register's width (predicates are bools); an operand is seen as the type
the instruction names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from ptx.arithmetic import (
    STORAGE,
    VIEWS,
    Unsupported,
    Value,
)

if TYPE_CHECKING:
    from ptx.interpreter import Frame, Function, Lanes


Operand = Callable[["Frame", "Lanes"], Value]
Run = Callable[["Frame", "Lanes"], None]


def read(text: str, kind: str, function: Function) -> Operand:
    """An operand as a value of a type."""
    dtype = np.dtype(VIEWS[kind])
    if text in function.registers:
        storage = np.dtype(STORAGE[kind])

        def register(frame: Frame, lanes: Lanes) -> Value:
            value = of_lanes(frame.values[text], lanes)
            return value.astype(storage, copy=False).view(dtype)

        return register
    if re.fullmatch(r"%(n?tid|n?ctaid)\.x", text):
        return lambda frame, lanes: of_lanes(frame.machine.special[text], lanes).astype(dtype)
    constant = _constant(text, kind)
    return partial(_address, text) if constant is None else lambda frame, lanes: constant


@cache
def _constant(text: str, kind: str) -> Value | None:
    """A number as a value of a type; None if it is none."""
    dtype = np.dtype(VIEWS[kind])
    if re.match(r"0[fF][0-9a-fA-F]{8}$", text):
        constant = np.uint32(int(text[2:], 16)).view(np.float32)
    elif re.match(r"0[dD][0-9a-fA-F]{16}$", text):
        constant = np.uint64(int(text[2:], 16)).view(np.float64)
    elif re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)U?", text):
        number = int(text.rstrip("U"), 0)
        if kind == "pred":
            return np.bool(number)
        mask = (1 << 8 * dtype.itemsize) - 1
        return np.array(number & mask, STORAGE[kind]).view(dtype)[()]
    else:
        return None
    return constant if constant.dtype == dtype else constant.view(dtype)


def _address(text: str, frame: Frame, lanes: Lanes) -> Value:
    """Where a name lies; each thread has its own local memory, each block its shared memory."""
    if text in frame.local:
        size = np.uint64(frame.function.local[text])
        lane = np.arange(frame.machine.count, dtype=np.uint64) * size
        return of_lanes(lane + np.uint64(frame.local[text]), lanes)
    if text in frame.shared:
        size = np.uint64(frame.function.shared[text])
        block = frame.machine.special["%ctaid.x"].astype(np.uint64) * size
        return of_lanes(block + np.uint64(frame.shared[text]), lanes)
    if text in frame.machine.symbols:
        return np.uint64(frame.machine.symbols[text])
    raise Unsupported(f"operand {text}")


def of_lanes(value: Value, lanes: Lanes) -> Value:
    """A register as the threads have it that execute an instruction."""
    return value if lanes is None or not value.ndim else value[lanes]


def write(frame: Frame, lanes: Lanes, name: str, value: Value) -> None:
    """Put a value into a register; a signed one is extended by its sign."""
    if name == "_":
        return
    storage = frame.function.registers[name]
    value = np.asarray(value)
    if value.dtype.kind == "f":
        value = value.view(f"u{value.itemsize}")
    if lanes is None:
        value = value.astype(storage, copy=False)  # no register is ever changed in its memory
    else:
        before = frame.values.get(name, storage(0))
        whole = np.broadcast_to(before, (frame.machine.count,)).copy()
        whole[lanes] = value.astype(storage)
        value = whole
    frame.values[name] = value


def names_of(text: str) -> list[str]:
    """The names in a list of operands."""
    return re.findall(r"[%\w.#-]+", text)
