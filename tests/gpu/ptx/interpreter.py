"""Execute the PTX of a kernel on the CPU, all threads at once, with NumPy.

What an instruction means is in ``instructions.py``; README.md says what this shows and cannot.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np

from ptx.arithmetic import STORAGE, Unsupported
from ptx.instructions import meaning

__all__ = ["Function", "Module", "Strided", "Unsupported", "indexer", "launch", "strided"]

Lanes = np.ndarray | None
"""The threads an instruction is for; None where it is for all."""


@dataclass
class Function:
    """A kernel, or a function it calls."""

    name: str
    parameters: dict[str, tuple[int, int]]  # where each lies in the block of them, and its size
    results: dict[str, int]
    registers: dict[str, type[np.generic]] = field(default_factory=dict)
    local: dict[str, int] = field(default_factory=dict)
    shared: dict[str, int] = field(default_factory=dict)
    code: list[Instruction] = field(default_factory=list)
    labels: dict[str, int] = field(default_factory=dict)


@dataclass
class Instruction:
    """One instruction: ``@!%p1 add.s32 %r1, %r2, 3;``."""

    text: str
    guard: str
    negated: bool
    opcode: list[str]
    operands: list[str]
    run: Callable[[Frame, Lanes], None] | None = None


# --- Reading -------------------------------------------------------------------------------------

_GLOBAL = re.compile(
    r"^\.(?:global|const)\s+\.align\s+\d+\s+\.(\w+)\s+([\w$]+)(?:\[(\d+)\])?(?:\s*=\s*([^;]*))?;",
    re.M,
)
_FUNCTION = re.compile(
    r"^\s*(?:\.visible\s+|\.weak\s+)?\.(?:entry|func)\s*(?:\(([^)]*)\)\s*)?([\w$]+)\s*"
    r"\(([^)]*)\)[^{;]*\{(.*?)^\}",
    re.M | re.S,
)
_PARAMETER = re.compile(
    r"\.param\s+(?:\.align\s+(\d+)\s+)?\.\w(\d+)\s+(?:\.ptr\s+(?:\.align\s+\d+\s+)?)?"
    r"([\w$]+)(?:\[(\d+)\])?"
)


class Module:
    """The functions and the global memory of a PTX text."""

    def __init__(self, text: str) -> None:
        text = re.sub(r"//[^\n]*", "", text)
        self.globals = {name: _initial(*rest) for name, *rest in _globals(text)}
        self.functions: dict[str, Function] = {}
        self._bodies: dict[str, str] = {}
        for results, name, parameters, body in _FUNCTION.findall(text):
            sizes = {p: size for p, (_, size) in _parameters(results).items()}
            self.functions[name] = Function(name, _parameters(parameters), sizes)
            self._bodies[name] = body

    def function(self, name: str) -> Function:
        """The function of a name, read when it is first asked for."""
        found = self.functions[name]
        if name in self._bodies:
            _read(found, self._bodies.pop(name))
        return found


def _globals(text: str) -> Iterator[tuple[str, str, str, str]]:
    for kind, name, count, values in _GLOBAL.findall(text):
        yield name, kind, count, values


def _initial(kind: str, count: str, values: str) -> np.ndarray:
    storage = STORAGE[f"u{kind[1:]}"]
    memory = np.zeros(int(count or 1), storage)
    mask = (1 << 8 * memory.itemsize) - 1
    numbers = [int(v, 0) & mask for v in re.findall(r"-?\w+", values or "")]
    memory[: len(numbers)] = numbers
    return memory.view(np.uint8)


def _parameters(text: str) -> dict[str, tuple[int, int]]:
    found, end = {}, 0
    for align, bits, name, count in _PARAMETER.findall(text):
        size = int(bits) // 8 * int(count or 1)
        step = int(align or size)
        start = -(-end // step) * step
        found[name] = start, size
        end = start + size
    return found


def _read(function: Function, body: str) -> None:
    """Read the statements of a body. Braces are scopes: a register declared inside is another."""
    scopes: list[dict[str, str]] = [{}]
    for part in re.split(r"([;{}])", _with_sets(body)):
        text = " ".join(part.split())
        while label := re.match(r"(\$?[\w$]+):\s*", text):
            function.labels[label[1]] = len(function.code)
            text = text[label.end() :]
        if text == "{":
            scopes.append({})
        elif text == "}":
            scopes.pop()
        elif text.startswith(".reg"):
            _declare(function, text, scopes)
        elif text.startswith(".local"):
            sizes = _parameters(text.replace(".local", ".param", 1))
            function.local |= {name: size for name, (_, size) in sizes.items()}
        elif text.startswith(".shared"):
            sizes = _parameters(text.replace(".shared", ".param", 1))
            function.shared |= {name: size for name, (_, size) in sizes.items()}
        elif text not in ("", ";") and not text.startswith("."):
            function.code.append(_instruction(text, scopes))
    for one in function.code:
        one.run = meaning(one.opcode, one.operands, one.text, function)


def _with_sets(body: str) -> str:
    """The braces around lists of registers as other brackets."""
    return re.sub(r"\{(\s*[%\w.]+(?:\s*,\s*[%\w.]+)*\s*)\}", r"<\1>", body)


def _declare(function: Function, text: str, scopes: list[dict[str, str]]) -> None:
    _, kind, names = text.split(maxsplit=2)
    storage = STORAGE[kind[1:]]
    for name in names.split(","):
        family = re.fullmatch(r"\s*(%?[\w$]+)(?:<(\d+)>)?\s*", name)
        if not family:
            raise Unsupported(text)
        inner = f"#{len(function.code)}" if len(scopes) > 1 else ""
        numbers = range(int(family[2])) if family[2] else [""]
        for number in numbers:
            declared = f"{family[1]}{number}"
            scopes[-1][declared] = declared + inner
            function.registers[declared + inner] = storage


def _instruction(text: str, scopes: list[dict[str, str]]) -> Instruction:
    inner = {name: own for scope in scopes[1:] for name, own in scope.items()}
    if inner:
        text = re.sub(r"%?[\w$.]+", lambda m: inner.get(m[0], m[0]), text)
    return Instruction(text, *_parts(text))


@lru_cache(maxsize=1 << 16)
def _parts(text: str) -> tuple[str, bool, list[str], list[str]]:
    """Its guard and whether that is negated, the opcode and the operands."""
    parts = re.fullmatch(r"(?:@(!?)([%\w#]+)\s+)?(\S+)\s*(.*)", text)
    assert parts, text
    operands = re.findall(r"<[^>]*>|\[[^\]]*\]|\([^)]*\)|[^,\s()]+", parts[4])
    return parts[2] or "", parts[1] == "!", parts[3].split("."), operands


# --- Memory --------------------------------------------------------------------------------------

_BASE = 1 << 20
_GAP = 256  # between allocations, so that what runs over an end is seen


class Memory:
    """One range of addresses for global, constant, local and shared memory."""

    def __init__(self) -> None:
        self.bytes = np.zeros(0, np.uint8)
        self.owned = np.zeros(0, np.bool)

    def allocate(self, size: int, content: np.ndarray | None = None, offset: int = 0) -> int:
        """Return the address of new memory, which is so many bytes beyond a multiple of 256."""
        start = self.bytes.size + offset
        end = -(-(start + size) // _GAP) * _GAP + _GAP
        self.bytes = np.concatenate([self.bytes, np.zeros(end - self.bytes.size, np.uint8)])
        self.owned = np.concatenate([self.owned, np.zeros(end - self.owned.size, np.bool)])
        self.owned[start : start + size] = True
        if content is not None:
            self.bytes[start : start + size] = content
        return _BASE + start

    def taken(self, address: int, size: int) -> np.ndarray:
        """The bytes at an address."""
        return self.bytes[address - _BASE : address - _BASE + size]

    def places(self, addresses: np.ndarray, size: int, count: int, text: str) -> np.ndarray:
        """Where in ``bytes`` so many items of a size begin, in items.

        Raises
        ------
        IndexError
            If it is not within one allocation, or not aligned.
        """
        start = addresses.astype(np.int64) - _BASE
        last = start + (size * count - 1)
        if start.min(initial=0) < 0 or last.max(initial=0) >= self.owned.size:
            raise IndexError(f"out of bounds: {text}")
        if not (self.owned[start].all() and self.owned[last].all()):
            raise IndexError(f"out of bounds: {text}")
        if (start % (size * count)).any():
            raise IndexError(f"misaligned: {text}")
        return start // size


# --- Running -------------------------------------------------------------------------------------


@dataclass
class Frame:
    """A function that is being executed by some or all threads."""

    function: Function
    machine: Machine
    parameters: dict[str, np.ndarray]  # bytes: of all threads alike, or a row each
    values: dict[str, np.ndarray] = field(default_factory=dict)
    local: dict[str, int] = field(default_factory=dict)
    shared: dict[str, int] = field(default_factory=dict)


class Machine:
    """Threads that execute a module."""

    def __init__(self, module: Module, blocks: int, threads: int) -> None:
        self.module = module
        self.count = blocks * threads
        self.memory = Memory()
        self.symbols = {n: self.memory.allocate(m.size, m) for n, m in module.globals.items()}
        lane = np.arange(self.count, dtype=np.uint32)
        self.special = {
            "%tid.x": lane % threads,
            "%ctaid.x": lane // threads,
            "%ntid.x": np.array(threads, np.uint32),
            "%nctaid.x": np.array(blocks, np.uint32),
        }

    def run(self, name: str, lanes: Lanes, parameters: dict[str, np.ndarray]) -> Frame:
        """Execute a function; the threads that wait at the earliest instruction go on first."""
        function = self.module.function(name)
        frame = Frame(function, self, parameters)
        for local, size in function.local.items():
            frame.local[local] = self.memory.allocate(size * self.count)
        for shared, size in function.shared.items():
            frame.shared[shared] = self.memory.allocate(size * int(self.special["%nctaid.x"]))
        everyone = np.arange(self.count) if lanes is None else lanes
        waiting = {0: everyone}
        end = len(function.code)
        while waiting:
            at = min(waiting)
            group = waiting.pop(at)
            while at < end and group.size:
                one = function.code[at]
                at += 1
                here, rest = self._guarded(frame, one, group)
                if one.opcode[0] == "bra":
                    _wait(waiting, function.labels[one.operands[0]], here)
                    group = rest
                elif one.opcode[0] in ("ret", "exit"):
                    group = rest
                elif here.size:
                    assert one.run is not None
                    one.run(frame, None if here.size == self.count else here)
                if at in waiting or (waiting and min(waiting) < at):
                    _wait(waiting, at, group)
                    break
        return frame

    def _guarded(
        self, frame: Frame, one: Instruction, group: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Which of the threads execute an instruction, and which do not."""
        if not one.guard:
            return group, group if one.opcode[0] not in ("bra", "ret", "exit") else group[:0]
        holds = frame.values[one.guard] != one.negated
        if not holds.ndim:
            return (group, group[:0]) if holds else (group[:0], group)
        holds = holds[group]
        return group[holds], group[~holds]


def _wait(waiting: dict[int, np.ndarray], at: int, lanes: np.ndarray) -> None:
    if lanes.size:
        already = waiting.get(at)
        waiting[at] = lanes if already is None else np.sort(np.concatenate([already, lanes]))


@dataclass(frozen=True)
class Strided:
    """An array as CuPy's ``CArray``: address, size, shape, strides.

    ``memory`` is the contiguous array that ``array`` is a view of; the kernel gets no more.
    """

    array: np.ndarray
    memory: np.ndarray

    def record(self, address: int) -> bytes:
        """What the kernel is given, where ``memory`` is at an address."""
        first = self.array.__array_interface__["data"][0]
        start = address + first - self.memory.__array_interface__["data"][0]
        numbers = [start, self.array.size, *self.array.shape, *self.array.strides]
        return np.array(numbers, np.int64).tobytes()


def strided(array: np.ndarray) -> Strided:
    """A contiguous array as CuPy's ``CArray``."""
    return Strided(array, array)


def indexer(shape: tuple[int, ...]) -> bytes:
    """CuPy's ``CIndexer``: size, shape and space for an index."""
    return np.array([np.prod(shape), *shape, *[0] * len(shape)], np.int64).tobytes()


Argument = np.ndarray | Strided | bytes


def launch(
    module: Module,
    name: str,
    arguments: Iterable[Argument],
    *,
    blocks: int,
    threads: int = 128,
    offset: int = 0,
) -> None:
    """Execute a kernel, as a launch on a GPU would.

    Parameters
    ----------
    module : Module
    name : str
    arguments : iterable of array, Strided or bytes
        An array is given by its address; what the kernel writes is in it afterwards, unless it is
        read-only. Bytes are given as they are.
    blocks, threads : int
    offset : int
        By how many bytes arrays begin beyond a multiple of 256.

    Raises
    ------
    Unsupported
        If an instruction is not known.
    IndexError
        If an access is out of bounds or misaligned.
    """
    machine = Machine(module, blocks, threads)
    given: list[bytes] = []
    arrays: list[tuple[np.ndarray, int]] = []
    for argument in arguments:
        if isinstance(argument, bytes):
            given.append(argument)
            continue
        memory = argument.memory if isinstance(argument, Strided) else argument
        content = memory.reshape(-1).view(np.uint8)
        address = machine.memory.allocate(content.size, content, offset)
        arrays.append((memory, address))
        is_strided = isinstance(argument, Strided)
        given.append(argument.record(address) if is_strided else address.to_bytes(8, "little"))
    wanted = module.function(name).parameters
    if [len(g) for g in given] != [size for _, size in wanted.values()]:
        raise TypeError(f"{name} takes other arguments: {wanted}, not {[len(g) for g in given]}")
    parameters = {n: np.frombuffer(g, np.uint8) for n, g in zip(wanted, given, strict=True)}
    with np.errstate(all="ignore"):
        machine.run(name, None, parameters)
    for array, address in arrays:
        if array.flags.writeable:
            array.reshape(-1).view(np.uint8)[...] = machine.memory.taken(address, array.nbytes)
