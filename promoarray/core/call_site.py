"""The place in the user's program where an operation stands."""

from __future__ import annotations

import ast
import linecache
import os
import sys
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from opcode import opmap
from types import CodeType, FrameType, TracebackType

from promoarray.core.generated import LINES, origin, written
from promoarray.core.installed import is_installed

# os.path and not pathlib, which is slow to import, and with promoarray this is imported.
PACKAGE = os.path.dirname(os.path.dirname(__file__)) + os.sep


@dataclass(frozen=True, slots=True, order=True)
class Site:
    """A place in a source file."""

    file: str
    line: int
    column: int  # where the expression begins, from 0; -1 where the code does not say
    text: str  # the source of the line; of a very long one the beginning
    expression: str  # the source of the expression, in one line; of a very long one the beginning
    # line, column, end line and end column of the expression, columns in bytes of UTF-8; of an
    # assignment to an element those of its target. Empty where the code does not say
    extent: tuple[int, ...] = ()
    stores: bool = False  # whether it is an assignment to an element

    def __hash__(self) -> int:
        # What tells places apart; the texts hang on it, and would be hashed each time.
        return hash((self.file, self.line, self.column))

    def __reduce__(self) -> tuple[type[Site], tuple[object, ...]]:
        # The dataclass would ask for its fields each time, and reports hold thousands.
        where = self.file, self.line, self.column, self.text, self.expression
        return Site, (*where, self.extent, self.stores)

    def __str__(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"

    @property
    def path(self) -> str:
        """File and line, the file from the current folder on if it lies below."""
        try:
            below = os.path.relpath(self.file)
        except (OSError, ValueError):  # the folder is gone; another drive
            below = os.pardir
        file = os.path.normpath(self.file) if below.startswith(os.pardir) else below
        return f"{file}:{self.line}"


_given: FrameType | None = None
"""Call-site override for events that are told later, or elsewhere, than they happened."""

_given_sites: tuple[Site, Site] | None = None
"""The same for events of a run that is over, which has no frames any more."""


@contextmanager
def standing_at(frame: FrameType) -> Iterator[None]:
    """Have ``sites()`` and the like answer for a frame that runs no code of promoarray.

    Hold ``observers.notify_lock`` meanwhile, which whoever asks for places holds as well.
    """
    global _given
    before, _given = _given, frame
    try:
        yield
    finally:
        _given = before


@contextmanager
def recorded_at(site: Site, program: Site) -> Iterator[None]:
    """Have ``sites()`` and ``current_site()`` answer places of a run that is over.

    Hold ``observers.notify_lock`` meanwhile.
    """
    global _given_sites
    before, _given_sites = _given_sites, (site, program)
    try:
        yield
    finally:
        _given_sites = before


def current_site() -> Site:
    """Return the innermost place outside promoarray."""
    return sites()[0]


def program_site() -> Site:
    """Return the line of the program that led here: ``current_site()``, unless a library's."""
    return sites()[1]


def sites() -> tuple[Site, Site]:
    """Return ``current_site()`` and ``program_site()``, with one look at the frames."""
    if _given_sites is not None:
        return _given_sites
    frame = outside()
    if frame is None:
        return _of(None), _of(None)
    if not of_library(frame):
        return (site := _of(frame)), site
    return _of(frame), call_chain(frame)[0]


def warn_at_program(message: str, category: type[Warning]) -> None:
    """Warn at the line of the program, as ``stacklevel`` has it, which would have to count frames
    of promoarray and of libraries."""
    frame = program_frame()
    if frame is None:
        warnings.warn(message, category, stacklevel=3)
        return
    warnings.warn_explicit(
        message,
        category,
        filename=frame.f_code.co_filename,
        lineno=frame.f_lineno,
        module=frame.f_globals.get("__name__") or "<unknown>",
        registry=frame.f_globals.setdefault("__warningregistry__", {}),
    )


def program_frame() -> FrameType | None:
    """Return the innermost frame of the program; of a library if there is none of it."""
    frame = innermost = outside()
    while frame is not None and of_library(frame):
        frame = frame.f_back
    return frame or innermost


def instructions() -> tuple[Key, tuple[CodeType, ...]]:
    """Return what tells the places apart that ``sites()`` finds, by no look at their source.

    The key is of the innermost instruction outside promoarray, and of those that led to it up to
    the program's; it means something else once the code is gone. The codes have to be held for as
    long.
    """
    return instructions_of(outside())


def instructions_of(frame: FrameType | None) -> tuple[Key, tuple[CodeType, ...]]:
    """Return the same for a frame outside promoarray."""
    key: list[int] = []
    codes = []
    while frame is not None:
        code = frame.f_code
        codes.append(code)
        key += id(code), frame.f_lasti
        if not is_library(code.co_filename):
            break
        frame = frame.f_back
    return tuple(key), tuple(codes)


Key = tuple[int, ...]


def outside() -> FrameType | None:
    """Return the innermost frame outside promoarray."""
    if _given is not None:
        return _given
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(PACKAGE):
        frame = frame.f_back
    return frame


def of_promoarray(frame: FrameType) -> bool:
    """Whether a frame runs code of this package."""
    return frame.f_code.co_filename.startswith(PACKAGE)


def entries_of(entry: TracebackType | None) -> list[TracebackType]:
    """Return the entries of a traceback, the outermost first."""
    found = []
    while entry is not None:
        found.append(entry)
        entry = entry.tb_next
    return found


def traceback_of(entries: Sequence[TracebackType]) -> TracebackType | None:
    """Return a traceback of these entries alone."""
    made: TracebackType | None = None
    for each in reversed(entries):
        made = TracebackType(made, each.tb_frame, each.tb_lasti, each.tb_lineno)
    return made


def call_chain(frame: FrameType) -> tuple[Site, Site, str]:
    """Return how the program came to a frame: the innermost line of the program, code that is no
    installed library; the place where the frame stands; and the frame's function with its module,
    "" if the frame is the program's."""
    outer: FrameType | None = frame
    while outer is not None and of_library(outer):
        outer = outer.f_back
    if outer is None or outer is frame:
        return _of(frame), _of(frame), ""
    named = [part for part in frame.f_code.co_qualname.split(".") if not part.startswith("<")]
    return _of(outer), _of(frame), ".".join([frame.f_globals.get("__name__", "?"), *named])


def _of(frame: FrameType | None) -> Site:
    if frame is None:
        return Site("<unknown>", 0, -1, "", "")
    return site_of(frame.f_code, frame.f_lasti, frame.f_lineno)


def of_library(frame: FrameType) -> bool:
    """Whether a frame runs what is installed: promoarray, the standard library, others."""
    return is_library(frame.f_code.co_filename)


@lru_cache(maxsize=1 << 14)  # more than modules: each block looks at all of them in turn
def is_library(file: str) -> bool:
    """Whether a file is one of what is installed, or was made of such a file."""
    file = origin(file)
    known = file.startswith(_libraries()) or file.startswith(_GENERATED)
    return known or file.endswith(_COMPILED) or is_installed(file) or _of_module(file)


def _of_module(file: str) -> bool:
    """Whether a file is named for a library's module that wrote it: of PyTorch Geometric's each
    convolution does (``torch_geometric.nn.conv.gcn_conv_GCNConv_propagate_ab12.py``)."""
    root, _, rest = os.path.basename(file).partition(".")
    made = getattr(sys.modules.get(root), "__file__", None) if "." in rest else None
    return isinstance(made, str) and made != file and is_library(made)


_COMPILED = (".pyx", ".pxd", ".pxi")  # Cython's, whose paths lead nowhere once it is installed
_GENERATED = ("<frozen ", "<__array_function__ ", "<decorator-gen-", "<eval_with_key>")


@cache
def _libraries() -> tuple[str, ...]:
    """The folders of promoarray, the standard library and all that is installed."""
    from sysconfig import get_paths

    paths = get_paths()
    folders = {paths[key] for key in ("stdlib", "platstdlib", "purelib", "platlib")}
    searched = map(os.path.normpath, sys.path)
    folders |= {folder for folder in searched if os.path.basename(folder) in _INSTALLED}
    return (PACKAGE, *(os.path.normpath(folder) + os.sep for folder in folders))


_INSTALLED = ("site-packages", "dist-packages")


_FOR_ITER = opmap["FOR_ITER"]
_ASSIGN = {opmap[name] for name in ("STORE_SUBSCR", "STORE_SLICE") if name in opmap}
"""The instructions of ``x[i] = y``; Python 3.12 and later have another for ``x[i:j] = y``."""


_sites: dict[tuple[int, int], tuple[CodeType, Site]] = {}
"""The places met so far. Their code is held, so that no other has its id: hashing code takes as
long as the code is, and code of two files is equal if its text is."""

_MOST_SITES = 4096


def site_of(code: CodeType, instruction: int, lineno: int) -> Site:
    """Return the place of an instruction, which stands in a line if the code does not say."""
    key = id(code), instruction
    known = _sites.get(key)
    if known is None:
        if len(_sites) >= _MOST_SITES:
            _sites.clear()
        known = _sites[key] = code, _site(code, instruction, lineno)
    return known[1]


def part_of(code: CodeType, instruction: int) -> int:
    """Return which of several operations of one expression an instruction carries out.

    The comparisons of ``a < b < c`` all stand at the whole of it.
    """
    return _instructions(code)[1][instruction // 2]


_FEW = 64
"""So many code objects' instructions are kept at hand."""

_Positions = tuple[tuple[int | None, int | None, int | None, int | None], ...]
_known: dict[int, tuple[CodeType, _Positions, list[int]]] = {}


def _instructions(code: CodeType) -> tuple[_Positions, list[int]]:
    """Where each instruction of code stands, and ``part_of`` each."""
    known = _known.get(id(code))  # the hash of code takes as long as its instructions are many
    if known is None:
        if len(_known) >= _FEW:
            _known.clear()
        positions = tuple(code.co_positions())
        known = _known[id(code)] = code, positions, _parts(positions, code.co_code[::2])
    return known[1:]


def _parts(positions: _Positions, opcodes: bytes) -> list[int]:
    met: Counter[object] = Counter()
    parts: list[int] = []
    for at, opcode in zip(positions, opcodes, strict=False):
        if opcode:
            parts.append(met[at, opcode])
            met[at, opcode] += 1
        else:  # what Python keeps behind an instruction, where it is in a call
            parts.append(parts[-1] if parts else 0)
    return parts


def assigns(code: CodeType, instruction: int) -> bool:
    """Return whether an instruction assigns to an index or a slice."""
    return code.co_code[instruction] in _ASSIGN


def _site(code: CodeType, instruction: int, lineno: int) -> Site:
    file = code.co_filename
    first, last, column, end = _instructions(code)[0][instruction // 2]
    if file in LINES:
        whole = _segment(file, first or lineno, last or lineno, column or 0, end or 1 << 16)
        return _written(file, lineno, whole)
    text = shortened(_line(file, lineno).strip())
    stores = assigns(code, instruction)
    if first is None or last is None or column is None or end is None:
        return Site(file, lineno, -1, text, text, (), stores)
    extent = first, column, last, end
    if stores or code.co_code[instruction] == _FOR_ITER:  # the target's alone; the whole loop's
        return Site(file, lineno, -1, text, text, extent, stores)
    expression = shortened(_segment(file, first, last, column, end))
    return Site(file, first, column, text, expression or text, extent)


def _written(file: str, lineno: int, expression: str) -> Site:
    """The place in the program that an expression of generated code stands for."""
    lines = LINES[file]
    nearest = max((n for n in lines if n <= lineno), default=min(lines, default=0))
    name, number = lines.get(nearest, (file, lineno))
    text = shortened(_line(name, number).strip())
    node = written(expression, source_of(name), number)
    if node is None:
        return Site(name, number, -1, text, text)
    first, column = node.lineno, node.col_offset
    last, end = node.end_lineno or first, node.end_col_offset or column
    shown = shortened(_segment(name, first, last, column, end))
    return Site(name, first, column, text, shown or text, (first, column, last, end))


_sources: dict[str, list[str]] = {}


def keep_source(file: str) -> None:
    """Quote a file as it is now, whatever becomes of it."""
    _sources[file] = linecache.getlines(file)


def source_of(file: str) -> str:
    """Return the source of a file, as it was when it was kept."""
    return "".join(_sources.get(file) or linecache.getlines(file))


def _line(file: str, number: int) -> str:
    kept = _sources.get(file)
    if not kept:
        return linecache.getline(file, number)
    return kept[number - 1] if number <= len(kept) else ""


def _segment(file: str, first: int, last: int, column: int, end: int) -> str:
    lines = [_line(file, n) for n in range(first, last + 1)]
    if not all(lines):
        return ""
    # Columns are in bytes of UTF-8; where the file is another by now they may cut a letter.
    raw = [line.encode(errors="replace") for line in lines]
    raw[-1] = raw[-1][:end]
    raw[0] = raw[0][column:]
    # In brackets the lines may end in comments and be indented as they like.
    segment = "\n".join(part.decode(errors="replace") for part in raw)
    try:
        return ast.unparse(ast.parse(f"({segment}\n)", mode="eval"))
    # An augmented assignment is no expression; one of a thousand terms is too deep to be walked.
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return " ".join(segment.split())


def shortened(source: str) -> str:
    """Return the beginning of a text that is longer than anyone reads."""
    return source if len(source) <= _LONGEST else f"{source[:_LONGEST]} …"


_LONGEST = 400
