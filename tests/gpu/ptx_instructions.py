"""What the instructions of PTX mean, in NumPy: the part of the ISA that elementwise kernels use.

``meaning`` turns an instruction into a function of a frame and the threads that execute it. A
register is an array with an item for each thread, of unsigned integers of the register's width
(predicates are bools); an operand is seen as the type the instruction names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from ptx_arithmetic import (
    BINARY,
    BITWISE,
    STORAGE,
    UNARY,
    VIEWS,
    Unsupported,
    Value,
    compare,
    convert,
    directed,
    divide,
    flushed,
    fused,
    high_half,
    quieted,
    remainder,
    shift_left,
    shift_right,
)

if TYPE_CHECKING:
    from ptx import Frame, Function, Lanes


Operand = Callable[["Frame", "Lanes"], Value]
Run = Callable[["Frame", "Lanes"], None]


# --- Operands ------------------------------------------------------------------------------------


def read(text: str, kind: str, function: Function) -> Operand:
    """An operand as a value of a type."""
    dtype = np.dtype(VIEWS[kind])
    if text in function.registers:
        storage = np.dtype(STORAGE[kind])

        def register(frame: Frame, lanes: Lanes) -> Value:
            value = frame.values[text]
            if lanes is not None:
                value = value[lanes]
            return value.astype(storage, copy=False).view(dtype)

        return register
    if re.fullmatch(r"%(n?tid|n?ctaid)\.x", text):
        return lambda frame, lanes: _of(frame.machine.special[text], lanes).astype(dtype)
    if re.match(r"0[fF][0-9a-fA-F]{8}$", text):
        constant = np.uint32(int(text[2:], 16)).view(np.float32)
    elif re.match(r"0[dD][0-9a-fA-F]{16}$", text):
        constant = np.uint64(int(text[2:], 16)).view(np.float64)
    elif re.fullmatch(r"-?(0[xX][0-9a-fA-F]+|\d+)U?", text):
        number = int(text.rstrip("U"), 0)
        constant = (
            np.bool(number)
            if kind == "pred"
            else np.array(number & (1 << 8 * dtype.itemsize) - 1, STORAGE[kind]).view(dtype)[()]
        )
    else:
        return partial(_address, text)
    if constant.dtype != dtype:
        constant = constant.view(dtype)
    return lambda frame, lanes: constant


def _address(text: str, frame: Frame, lanes: Lanes) -> Value:
    """Where a name lies; each thread has its own local memory."""
    if text in frame.local:
        size = np.uint64(frame.function.local[text])
        lane = np.arange(frame.machine.count, dtype=np.uint64) * size
        return _of(lane + np.uint64(frame.local[text]), lanes)
    if text in frame.machine.symbols:
        return np.uint64(frame.machine.symbols[text])
    raise Unsupported(f"operand {text}")


def _of(value: Value, lanes: Lanes) -> Value:
    return value if lanes is None else value[lanes]


def write(frame: Frame, lanes: Lanes, name: str, value: Value) -> None:
    """Put a value into a register; a signed one is extended by its sign."""
    if name == "_":
        return
    storage = frame.function.registers[name]
    value = np.asarray(value)
    if value.dtype.kind == "f":
        value = value.view(f"u{value.itemsize}")
    if lanes is None:
        value = value.astype(storage)  # a copy: no two registers share memory
        if value.ndim == 0:
            value = np.full(frame.machine.count, value)
    else:
        before = frame.values.get(name)
        whole = np.zeros(frame.machine.count, storage) if before is None else before.copy()
        whole[lanes] = value.astype(storage)
        value = whole
    frame.values[name] = value


# --- Instructions --------------------------------------------------------------------------------


def meaning(opcode: list[str], operands: list[str], text: str, function: Function) -> Run | None:
    """What an instruction does; None for branches and returns, which are the machine's.

    Raises
    ------
    Unsupported
        If it is not known.
    """
    name = opcode[0]
    if name in ("bra", "ret", "exit"):
        return None
    kinds = [part for part in opcode[1:] if re.fullmatch(r"[a-z]+\d+(x\d+)?", part)]
    if set(kinds) - set(VIEWS) - {"v2", "v4", "ex2", "lg2"}:
        raise Unsupported(text)
    for write_down in (_memory, _call, _move, _test, _carry, _wide, _arithmetic):
        run = write_down(opcode, operands, text, function)
        if run is not None:
            return run
    raise Unsupported(text)


def _place(text: str) -> tuple[str, int]:
    found = re.fullmatch(r"\[\s*(%?[\w$#]+)\s*(?:\+\s*(-?\d+))?\s*\]", text)
    if not found:
        raise Unsupported(text)
    return found[1], int(found[2] or 0)


def _names(text: str) -> list[str]:
    return re.findall(r"[%\w.#-]+", text)


def _memory(opcode: list[str], operands: list[str], text: str, function: Function) -> Run | None:
    if opcode[0] not in ("ld", "st"):
        return None
    known = {"ld", "st", "global", "local", "param", "const", "nc", "v2", "v4", "volatile"}
    if set(opcode[:-1]) - known:
        raise Unsupported(text)
    kind = opcode[-1]
    where, data = operands if opcode[0] == "st" else operands[::-1]
    base, offset = _place(where)
    items, storage = _names(data), np.dtype(STORAGE[kind])
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
            piece = row[..., offset + i * size : offset + (i + 1) * size]
            value = np.ascontiguousarray(piece).view(VIEWS[kind])[..., 0]
            write(frame, lanes, item, value if value.ndim == 0 else _of(value, lanes))

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


def _call(opcode: list[str], operands: list[str], text: str, function: Function) -> Run | None:
    if opcode[0] != "call":
        return None
    if not operands[0].startswith("("):
        operands = ["()", *operands]
    results, callee, given = (_names(operands[0]), operands[1], _names("".join(operands[2:])))

    def run(frame: Frame, lanes: Lanes) -> None:
        called = frame.machine.module.function(callee)
        names = zip(called.parameters, given, strict=True)
        inside = frame.machine.run(callee, lanes, {n: frame.parameters[g] for n, g in names})
        for outer, inner in zip(results, called.results, strict=True):
            frame.parameters[outer] = inside.parameters[inner]

    return run


def _move(opcode: list[str], operands: list[str], text: str, function: Function) -> Run | None:
    name, kind = opcode[0], opcode[-1]
    if name == "mov" and any(o.startswith("<") for o in operands):
        return _packed(operands, kind, function)
    if name == "mov" or name == "cvta":
        value = read(operands[1], kind, function)
        return lambda frame, lanes: write(frame, lanes, operands[0], value(frame, lanes))
    if name == "cvt":
        value = read(operands[1], kind, function)
        modes, target = opcode[1:-2], opcode[-2]
        if target not in VIEWS:
            raise Unsupported(text)

        def run(frame: Frame, lanes: Lanes) -> None:
            given = np.asarray(value(frame, lanes))
            flush = "ftz" in modes
            if flush and given.dtype == np.float32:
                given = flushed(given)
            made = convert(given, target, modes)
            if flush and made.dtype == np.float32:
                made = flushed(made)
            write(frame, lanes, operands[0], made)

        return run
    if name == "selp":
        one, other = (read(o, kind, function) for o in operands[1:3])
        which = read(operands[3], "pred", function)
        return lambda frame, lanes: write(
            frame,
            lanes,
            operands[0],
            np.where(which(frame, lanes), one(frame, lanes), other(frame, lanes)),
        )
    return None


def _packed(operands: list[str], kind: str, function: Function) -> Run:
    """Registers side by side in a wider one, the first in its low bits."""
    into, out_of = (o.startswith("<") for o in operands)
    items = _names(operands[0] if into else operands[1])
    width = int(kind[1:]) // len(items)
    if into:
        whole = read(operands[1], f"u{kind[1:]}", function)

        def split(frame: Frame, lanes: Lanes) -> None:
            value = np.asarray(whole(frame, lanes))
            for i, item in enumerate(items):
                piece = (value >> value.dtype.type(i * width)).astype(STORAGE[f"u{width}"])
                write(frame, lanes, item, piece)

        return split
    assert out_of
    parts = [read(item, f"u{width}", function) for item in items]
    storage = STORAGE[kind]

    def join(frame: Frame, lanes: Lanes) -> None:
        total = storage(0)
        for i, part in enumerate(parts):
            total = total | np.asarray(part(frame, lanes)).astype(storage) << storage(i * width)
        write(frame, lanes, operands[0], total)

    return join


def _test(opcode: list[str], operands: list[str], text: str, function: Function) -> Run | None:
    if opcode[0] not in ("setp", "set"):
        return None
    kind = opcode[-1]
    modes = [m for m in opcode[1:-1] if m != "ftz"]
    test, modes = compare(modes[0]), modes[1:]
    x, y = (read(o, kind, function) for o in operands[1:3])
    flush = "ftz" in opcode

    def holds(frame: Frame, lanes: Lanes) -> Value:
        a, b = np.asarray(x(frame, lanes)), np.asarray(y(frame, lanes))
        return test(flushed(a), flushed(b)) if flush else test(a, b)

    if opcode[0] == "set":
        if modes not in (["u32"], ["s32"]):
            raise Unsupported(text)
        ones = np.uint32(0xFFFFFFFF)
        return lambda frame, lanes: write(
            frame, lanes, operands[0], np.where(holds(frame, lanes), ones, np.uint32(0))
        )
    if not modes:
        return lambda frame, lanes: write(frame, lanes, operands[0], holds(frame, lanes))
    join = {"and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor}.get(modes[0])
    if join is None or len(modes) > 1:
        raise Unsupported(text)
    third = read(operands[3], "pred", function)
    return lambda frame, lanes: write(
        frame, lanes, operands[0], join(holds(frame, lanes), third(frame, lanes))
    )


def _carry(opcode: list[str], operands: list[str], text: str, function: Function) -> Run | None:
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
            carried = _of(frame.values["%carry"], lanes).astype(np.uint64)
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


def _wide(opcode: list[str], operands: list[str], text: str, function: Function) -> Run | None:
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
    if kind[0] != "u" or not all(o.isdigit() for o in operands[2:4]):
        raise Unsupported(text)
    x, (start, length) = read(operands[1], kind, function), map(int, operands[2:4])

    def run(frame: Frame, lanes: Lanes) -> None:
        value = np.asarray(x(frame, lanes))
        mask = value.dtype.type((1 << length) - 1)
        write(frame, lanes, operands[0], value >> value.dtype.type(start) & mask)

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


def _arithmetic(
    opcode: list[str], operands: list[str], text: str, function: Function
) -> Run | None:
    """What looks at its operands as one type, and floats, which may be flushed and rounded."""
    name, kind = opcode[0], opcode[-1]
    modes = set(opcode[1:-1]) - {"lo"}
    is_float = kind[0] == "f"
    mode = next((m for m in ("rz", "rm", "rp") if m in modes), "rn")
    if modes - {"rn", "ftz", "approx", "full", mode} or (modes and not is_float):
        raise Unsupported(text)
    if mode != "rn" and name not in ("fma", "add", "sub", "mul"):
        raise Unsupported(text)
    if name in UNARY:
        function_of: Callable[..., Value] = UNARY[name]
    elif mode != "rn" and name != "fma":
        function_of = partial(directed, name, mode)
    elif name in BINARY:
        function_of = BINARY[name]
    elif name == "mul" and is_float:
        function_of = np.multiply
    elif name == "div":
        function_of = np.divide if is_float else divide
    elif name == "rem" and not is_float:
        function_of = remainder
    elif name == "fma":
        function_of = partial(fused, mode=mode)
    else:
        return None
    values = [read(o, kind, function) for o in operands[1:]]
    flush, settle = "ftz" in modes, is_float and name not in BITWISE

    def run(frame: Frame, lanes: Lanes) -> None:
        given = [np.asarray(v(frame, lanes)) for v in values]
        if flush and kind == "f32":
            given = [flushed(g) for g in given]
        made = np.asarray(function_of(*given))
        if settle:
            made = quieted(made)
        write(frame, lanes, operands[0], flushed(made) if flush and kind == "f32" else made)

    return run
