"""The instructions of PTX that look at integers of more than one width, or bit by bit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ptx.arithmetic import (
    STORAGE,
    VIEWS,
    Unsupported,
    high_half,
    shift_left,
    shift_right,
)
from ptx.operands import Run, of_lanes, read, write

if TYPE_CHECKING:
    from ptx.interpreter import Frame, Function, Lanes


def carrying(opcode: list[str], operands: list[str], text: str, function: Function) -> Run | None:
    """Sums and differences that take or give a carry, of 32 bits."""
    name, kind = opcode[0], opcode[-1]
    takes, gives = name in ("addc", "subc", "madc"), "cc" in opcode
    if not (takes or gives):
        return None
    if kind not in ("u32", "s32"):
        raise Unsupported(text)
    values = [read(o, "u32", function) for o in operands[1:]]

    def run(frame: Frame, lanes: Lanes) -> None:
        given = [np.asarray(v(frame, lanes)).astype(np.uint64) for v in values]
        if name.startswith("mad"):
            product = given[0] * given[1]
            half = product >> np.uint64(32) if "hi" in opcode else product & np.uint64(0xFFFFFFFF)
            given = [half, given[2]]
        carried = np.uint64(0)
        if takes:
            carried = of_lanes(frame.values["%carry"], lanes).astype(np.uint64)
        if name.startswith("sub"):
            total = given[0] - given[1] - carried
            carry = total >> np.uint64(63)
        else:
            total = given[0] + given[1] + carried
            carry = total >> np.uint64(32)
        write(frame, lanes, operands[0], total.astype(np.uint32))
        if gives:
            frame.function.registers["%carry"] = np.bool
            write(frame, lanes, "%carry", carry != 0)

    return run


def of_widths(opcode: list[str], operands: list[str], text: str, function: Function) -> Run | None:
    """Products, and what else looks at more than one width."""
    name, kind = opcode[0], opcode[-1]
    if name in ("mul", "mad") and kind[0] != "f":
        return _product(opcode, operands, text, function)
    if name in ("shl", "shr"):
        x, by = read(operands[1], kind, function), read(operands[2], "u32", function)
        shift = shift_left if name == "shl" else shift_right
        return lambda frame, lanes: write(
            frame,
            lanes,
            operands[0],
            shift(np.asarray(x(frame, lanes)), np.asarray(by(frame, lanes))),
        )
    if name == "shf":
        return _funnel(opcode, operands, text, function)
    if name in ("clz", "bfind"):
        x = read(operands[1], f"u{kind[1:]}", function)
        width = int(kind[1:])
        if name == "bfind" and kind[0] == "s":
            raise Unsupported(text)

        def find(frame: Frame, lanes: Lanes) -> None:
            value = np.asarray(x(frame, lanes)).astype(np.uint64)
            length = np.zeros(value.shape, np.int64)
            for step in (32, 16, 8, 4, 2, 1):
                large = value >> np.uint64(step) != 0
                length += step * large
                value = np.where(large, value >> np.uint64(step), value)
            length += value != 0
            write(frame, lanes, operands[0], width - length if name == "clz" else length - 1)

        return find
    if name == "bfe":
        return _field(operands, kind, text, function)
    if name == "prmt":
        return _permuted(opcode, operands, text, function)
    if name == "bfi":
        return _inserted(operands, kind, function)
    return None


def _product(opcode: list[str], operands: list[str], text: str, function: Function) -> Run:
    kind, width = opcode[-1], int(opcode[-1][1:])
    how = opcode[1]
    x, y = (read(o, kind, function) for o in operands[1:3])
    added = f"{kind[0]}{2 * width}" if how == "wide" else kind
    third = read(operands[3], added, function) if opcode[0] == "mad" else None
    if how not in ("lo", "hi", "wide") or (how != "lo" and width == 64 and kind[0] == "s"):
        raise Unsupported(text)

    def run(frame: Frame, lanes: Lanes) -> None:
        a, b = np.asarray(x(frame, lanes)), np.asarray(y(frame, lanes))
        if how == "lo":
            made = a * b
        elif how == "wide":
            wide = VIEWS[added]
            made = a.astype(wide) * b.astype(wide)
        else:
            made = high_half(a, b, width)
        write(frame, lanes, operands[0], made if third is None else made + third(frame, lanes))

    return run


def _funnel(opcode: list[str], operands: list[str], text: str, function: Function) -> Run:
    low, high, by = (read(o, "u32", function) for o in operands[1:4])

    def run(frame: Frame, lanes: Lanes) -> None:
        a, b = (np.asarray(v(frame, lanes)).astype(np.uint64) for v in (low, high))
        amount = np.asarray(by(frame, lanes))
        amount = amount & 31 if "wrap" in opcode else np.minimum(amount, 32)
        both, amount = b << np.uint64(32) | a, amount.astype(np.uint64)
        left = both << amount >> np.uint64(32)
        made = left if "l" in opcode else both >> amount
        write(frame, lanes, operands[0], made.astype(np.uint32))

    return run


def _field(operands: list[str], kind: str, text: str, function: Function) -> Run:
    if kind not in ("u32", "s32", "u64") or not all(o.isdigit() for o in operands[2:4]):
        raise Unsupported(text)
    x, (start, length) = read(operands[1], kind, function), map(int, operands[2:4])
    left, right = int(kind[1:]) - start - length, int(kind[1:]) - length
    if left < 0 or length == 0:
        raise Unsupported(text)

    def run(frame: Frame, lanes: Lanes) -> None:
        """To the top of the word and back, where a signed field brings its sign."""
        value = np.asarray(x(frame, lanes))
        top = value << value.dtype.type(left)
        write(frame, lanes, operands[0], top >> value.dtype.type(right))

    return run


def _inserted(operands: list[str], kind: str, function: Function) -> Run:
    x, y = (read(o, kind, function) for o in operands[1:3])
    start, length = (int(o, 0) for o in operands[3:5])
    storage = STORAGE[kind]
    mask = storage(((1 << length) - 1) << start)

    def run(frame: Frame, lanes: Lanes) -> None:
        a, b = np.asarray(x(frame, lanes)), np.asarray(y(frame, lanes))
        write(frame, lanes, operands[0], (a << storage(start) & mask) | (b & ~mask))

    return run


def _permuted(opcode: list[str], operands: list[str], text: str, function: Function) -> Run:
    if len(opcode) != 2:
        raise Unsupported(text)
    x, y, chosen = (read(o, "u32", function) for o in operands[1:4])

    def run(frame: Frame, lanes: Lanes) -> None:
        a, b, c = (np.asarray(v(frame, lanes)).astype(np.uint64) for v in (x, y, chosen))
        both, made = b << np.uint64(32) | a, np.uint64(0)
        for i in range(4):
            nibble = c >> np.uint64(4 * i) & np.uint64(0xF)
            byte = both >> (nibble & np.uint64(7)) * np.uint64(8) & np.uint64(0xFF)
            sign = np.where(byte >> np.uint64(7) != 0, np.uint64(0xFF), np.uint64(0))
            byte = np.where(nibble >> np.uint64(3) != 0, sign, byte)
            made = made | byte << np.uint64(8 * i)
        write(frame, lanes, operands[0], made.astype(np.uint32))

    return run
