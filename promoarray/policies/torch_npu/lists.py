"""Dtypes by operator behind torch_npu: refused, doubtful, listed, verified (``lists.txt``).

Three sources speak of an operator: the page of CANN's documentation that lists the dtypes it takes,
the message in which a device names them, and torch_npu's own lists of what was verified, whose
complement is no refusal. What no list has is refused; what they do not agree in is doubtful.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from promoarray import dtypes as dt
from promoarray.dtypes import BY_CODE, DType
from promoarray.promotion.answers import MADE_OF_DTYPE, Answers, Cell, Grade, Support
from promoarray.promotion.plan import Operand, Refusal
from promoarray.promotion.type_steps import rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

GROUPS = {
    "small": "u8 i8 i16",
    "ints": "u8 i8 i16 i32 i64",
    "wide": "u16 u32 u64",
    "complex": "c64 c128",
    "float": "bf16 f16 f32 f64",
}
DTYPES = rows("f16 bf16 f32 f64 i8 u8 i16 i32 i64 b1 c64 c128 u16 u32 u64")
"""What the lists are of: those that Atlas A2 has."""

WIDE = frozenset(rows(GROUPS["wide"]))
"""Dtypes of which torch_npu's lists say nothing."""

RARE = WIDE | frozenset(rows("f64 c64 c128"))
"""Dtypes that lists often lack: where none is at hand, nothing is known of them."""

VIEWS = frozenset({"real", "imag", "conj", "diagonal", "view_as_real", "view_as_complex"})
"""Functions that look at an array's memory, and need no kernel."""

INDEXING = frozenset({"index", "index_put", "getitem", "setitem"})
"""Indexing by arrays, which keeps the dtype."""

NAMES = {dt.float16: "FLOAT16", dt.bfloat16: "BFLOAT16", dt.float32: "FLOAT", dt.float64: "DOUBLE"}
"""What devices call dtypes, where that is not their name in capitals."""

PAGES = "hiascend.com/document/detail/zh/"
"""What precedes the name of a page of CANN's documentation."""

VERIFIED = "2.7.1", "2.13"
"""The versions of PyTorch for which torch_npu lists what was verified."""


class Row(NamedTuple):
    """What is known of an operator."""

    name: str
    operator: str  # of aclnn; "" where no list of its own is at hand
    takes: frozenset[DType] | None  # its list
    verified: Mapping[str, frozenset[DType]]  # from versions to torch_npu's lists
    source: str  # of the operator's list
    derived: bool  # whether the list is of the common dtype of its operands

    def support(self, dtype: DType) -> Support | None:
        """What the lists say of a dtype; None where there is none."""
        if self.takes is None and not self.verified:
            return None
        has = [version for version, dtypes in self.verified.items() if dtype in dtypes]
        page = self.takes is not None and dtype in self.takes
        own = f"{self.operator} lists {dtype.name} ({self.source})"
        if self.takes is None:
            own = "no list of aclnn's is at hand"
        elif not page:
            own = f"{self.operator} does not list it ({self.source})"
        if has:
            grade = Grade.VERIFIED if page or self.takes is None else Grade.DOUBTFUL
            versions = " and ".join(has)
            said = f"torch_npu {versions} verified {dtype.name} in {self.name}; {own}"
            return Support(grade, said)
        if page and not self.verified:
            return Support(Grade.LISTED, own)
        if page or self.takes is None:
            said = f"torch_npu did not verify {dtype.name} in {self.name}; {own}"
            return Support(Grade.DOUBTFUL, said)
        return Support(Grade.REFUSED, self._said(dtype))

    def _said(self, dtype: DType) -> str:
        """What the device says where it refuses a dtype."""
        taken = ",".join(map(_on_device, (d for d in DTYPES if d in (self.takes or ()))))
        words = f"not implemented for {_on_device(dtype)}, should be in dtype support list"
        return f'{self.operator}: "{words} [{taken}]" (EZ1001, status 161002; {self.source})'


class DeviceLists(Answers):
    """What is known of the kernels of a device, and of PyTorch what its functions return.

    The lists are the file ``name`` next to the module ``beside``, "" for a device of which none is
    at hand. ``doubts`` says from functions and dtypes why they are doubtful though lists have them;
    ``base`` is what PyTorch answered on the CPU: that a kernel is missing there says nothing of a
    device.
    """

    def __init__(
        self,
        beside: str,
        name: str,
        policy: str,
        dtypes: tuple[DType, ...],
        doubts: Mapping[tuple[str, DType], str],
        base: Answers,
    ) -> None:
        super().__init__(beside, name, policy)
        self._name, self._dtypes, self._doubts = name, frozenset(dtypes), doubts
        self._base = base

    @cached_property
    def lists(self) -> Mapping[str, Row]:
        """From operations and functions to what is known of them."""
        lines = self._lines if self._name else ()
        cells = ([c.strip() for c in line.split("|")] for line in lines if line[0] != "#")
        return {name: self._row(name, *row) for names, *row in cells for name in names.split()}

    @cached_property
    def rows(self) -> Mapping[str, Mapping[str, Cell]]:
        """The functions whose dtypes are known: by torch_npu's source, or as they fill an array."""
        return {name: {} for name in self.lists}

    @property
    def source(self) -> str:
        """Who was asked, and what the lists are."""
        lists = "of the device documents and messages; nothing was run on one"
        return f"{self._base.source}; {lists}"

    def cell(self, name: str, operand: Operand) -> Cell | None:
        """What PyTorch answers; float_power casts to float64, of which the NPU makes float32."""
        if name in INDEXING:
            return Cell(operand.type.code)
        cell = self._base.cell(name, operand)
        wide = name == "float_power" and operand.type is not dt.float64
        return Cell(cell.text.replace("f64", "f32")) if cell and wide else cell

    def support(self, name: str, dtype: DType) -> Support | None:
        """What the lists say of the kernel of a function for a dtype."""
        if name in VIEWS or name.endswith(MADE_OF_DTYPE):
            return None
        if (name, dtype) in self._doubts:
            return Support(Grade.DOUBTFUL, self._doubts[name, dtype])
        row = self.lists.get(name)
        if row is not None and (found := row.support(dtype)):
            return found
        said = f"no list of dtypes is at hand for {name}"
        if dtype in RARE:
            return Support(Grade.DOUBTFUL, f"{said}, and operators differ in {dtype.name}")
        return Support(Grade.UNKNOWN, said)

    def without_kernel(
        self, title: str, name: str, dtype: DType, *, anywhere: bool = True
    ) -> Refusal | None:
        """Why the device refuses a dtype, in its words; there is no other that may take it."""
        found = self.support(name, dtype)
        refused = found is not None and found.grade is Grade.REFUSED
        return Refusal(f"{title}: {found.why}", kernel=True) if found and refused else None

    def asked_on_a_cpu_alone(self, name: str, dtype: DType) -> bool:
        """Whether the CPU alone was asked: its kernels say nothing of a device."""
        return False

    def by_operand(self, name: str) -> bool:
        """Whether the operator looks at each array's dtype: it is given them uncast."""
        row = self.lists.get(name)
        return row is None or not row.derived

    def _row(
        self, name: str, operator: str, lacks: str, first: str, second: str, source: str
    ) -> Row:
        lists = first, first if second == "=" else second
        found = zip(VERIFIED, map(self._taken, lists), strict=True)
        verified = {version: taken - WIDE for version, taken in found if taken is not None}
        called, _, derived = operator.partition(" ")
        page = "; ".join(s if s.startswith("github") else f"{PAGES}{s}" for s in source.split("; "))
        return Row(name, called.strip("?"), self._taken(lacks), verified, page, bool(derived))

    def _taken(self, lacks: str) -> frozenset[DType] | None:
        """The dtypes of a list, from those that it lacks; None if it is not at hand."""
        return None if lacks == "?" else self._dtypes.difference(_read(lacks))


def _read(words: str) -> Iterator[DType]:
    for word in words.strip("-").split():
        yield from (BY_CODE[code] for code in GROUPS.get(word, word).split())


def _on_device(dtype: DType) -> str:
    return f"DT_{NAMES.get(dtype, dtype.name.upper())}"
