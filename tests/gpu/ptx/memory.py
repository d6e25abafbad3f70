"""What reads and writes memory in PTX: loads and stores, parameters, calls."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ptx.arithmetic import (
    STORAGE,
    VIEWS,
    Unsupported,
    Value,
)
from ptx.operands import Run, names_of, of_lanes, read, write

if TYPE_CHECKING:
    from ptx.interpreter import Frame, Function, Lanes


@cache
def _place(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"\[\s*(%?[\w$#]+)\s*(?:\+\s*(-?\d+))?\s*\]", text)
    if not found:
        raise Unsupported(text)
    return found[1], int(found[2] or 0)


def memory_access(
    opcode: list[str], operands: list[str], text: str, function: Function
) -> Run | None:
    if opcode[0] not in ("ld", "st"):
        return None
    spaces = {"global", "local", "shared", "param", "const"}
    known = {"ld", "st", *spaces, "nc", "v2", "v4", "volatile"}
    if set(opcode[:-1]) - known:
        raise Unsupported(text)
    kind = opcode[-1]
    where, data = operands if opcode[0] == "st" else operands[::-1]
    base, offset = _place(where)
    items, storage = names_of(data), np.dtype(STORAGE[kind])
    if "param" in opcode:
        return _parameter(opcode[0], base, offset, items, kind, function)
    address = read(base, "u64", function)
    size = storage.itemsize

    def places(frame: Frame, lanes: Lanes) -> tuple[Value, Value]:
        at = np.asarray(address(frame, lanes)) + np.uint64(offset & (1 << 64) - 1)
        memory = frame.machine.memory
        return memory.bytes.view(storage), memory.places(np.atleast_1d(at), size, len(items), text)

    if opcode[0] == "ld":

        def load(frame: Frame, lanes: Lanes) -> None:
            memory, at = places(frame, lanes)
            for i, item in enumerate(items):
                value = memory[at + i].view(VIEWS[kind])
                write(
                    frame, lanes, item, value if value.size > 1 or lanes is not None else value[0]
                )

        return load
    values = [read(item, kind, function) for item in items]

    def store(frame: Frame, lanes: Lanes) -> None:
        memory, at = places(frame, lanes)
        for i, value in enumerate(values):
            memory[at + i] = np.asarray(value(frame, lanes)).view(storage)

    return store


def _parameter(
    name: str, base: str, offset: int, items: list[str], kind: str, function: Function
) -> Run:
    """A parameter of this function, or of one that is called: bytes of all, or of each thread."""
    storage = np.dtype(STORAGE[kind])
    size = storage.itemsize

    def load(frame: Frame, lanes: Lanes) -> None:
        row = frame.parameters[base]
        for i, item in enumerate(items):
            piece = row[..., offset + i * size : offset + (i + 1) * size].copy()
            value = piece.view(VIEWS[kind])[..., 0]
            write(frame, lanes, item, of_lanes(value, lanes))

    if name == "ld":
        return load
    values = [read(item, kind, function) for item in items]

    def store(frame: Frame, lanes: Lanes) -> None:
        whole = frame.parameters.setdefault(base, np.zeros((frame.machine.count, 64), np.uint8))
        for i, value in enumerate(values):
            given = np.asarray(value(frame, lanes)).view(storage)
            rows = slice(None) if lanes is None else lanes
            count = frame.machine.count if lanes is None else lanes.size
            piece = np.broadcast_to(given, (count,))
            columns = slice(offset + i * size, offset + (i + 1) * size)
            whole[rows, columns] = np.ascontiguousarray(piece).view(np.uint8).reshape(count, size)

    return store


def call(opcode: list[str], operands: list[str], text: str, function: Function) -> Run | None:
    if opcode[0] != "call":
        return None
    if not operands[0].startswith("("):
        operands = ["()", *operands]
    results, callee, given = (names_of(operands[0]), operands[1], names_of("".join(operands[2:])))

    def run(frame: Frame, lanes: Lanes) -> None:
        called = frame.machine.module.function(callee)
        names = zip(called.parameters, given, strict=True)
        inside = frame.machine.run(callee, lanes, {n: frame.parameters[g] for n, g in names})
        for outer, inner in zip(results, called.results, strict=True):
            frame.parameters[outer] = inside.parameters[inner]

    return run
