"""What the instructions of PTX mean, in NumPy: the part of the ISA that elementwise kernels use.

``meaning`` turns an instruction into a function of a frame and the threads that execute it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from typing import TYPE_CHECKING

import numpy as np

from ptx.arithmetic import (
    BINARY,
    BITWISE,
    EIGHT_BITS,
    STORAGE,
    UNARY,
    VIEWS,
    Unsupported,
    Value,
    compare,
    convert,
    convert_two,
    directed,
    divide,
    flushed,
    fused,
    quieted,
    remainder,
)
from ptx.integers import carrying, of_widths
from ptx.memory import call, memory_access
from ptx.operands import Run, names_of, read, write

if TYPE_CHECKING:
    from ptx.interpreter import Frame, Function, Lanes


def meaning(opcode: list[str], operands: list[str], text: str, function: Function) -> Run | None:
    """What an instruction does; None for branches and returns, which are the machine's.

    Raises
    ------
    Unsupported
        If it is not known.
    """
    if opcode[0] in ("bra", "ret", "exit"):
        return None
    if not all(map(_known, opcode[1:])):
        raise Unsupported(text)
    if opcode == ["bar", "sync"] and operands == ["0"]:
        return _meet
    for write_down in (memory_access, call, _move, _test, carrying, of_widths, _arithmetic):
        run = write_down(opcode, operands, text, function)
        if run is not None:
            return run
    raise Unsupported(text)


def _meet(frame: Frame, lanes: Lanes) -> None:
    """Threads are together wherever they have not branched apart; else this one cannot tell."""
    if lanes is not None:
        raise Unsupported("bar.sync that not all threads have come to at once")


@cache
def _known(part: str) -> bool:
    """Whether a part of an opcode, if it is a type, is one that is known."""
    is_type = re.fullmatch(r"[a-z]+\d+(x\d+)?", part)
    return not is_type or part in VIEWS or part in ("v2", "v4")


def _move(opcode: list[str], operands: list[str], text: str, function: Function) -> Run | None:
    name, kind = opcode[0], opcode[-1]
    if name == "mov" and any(o.startswith("<") for o in operands):
        return _packed(operands, kind, function)
    if name == "mov" or name == "cvta":
        value = read(operands[1], kind, function)
        return lambda frame, lanes: write(frame, lanes, operands[0], value(frame, lanes))
    if name == "cvt" and opcode[-2] in EIGHT_BITS and kind == "f32":
        high, low = (read(operand, kind, function) for operand in operands[1:])
        return lambda frame, lanes: write(
            frame,
            lanes,
            operands[0],
            convert_two(high(frame, lanes), low(frame, lanes), opcode[-2], opcode[1:-2]),
        )
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
    items = names_of(operands[0] if into else operands[1])
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
