"""Recorded answers of a framework's functions, dtype by dtype: results, and what it lacks.

A table that ``conformance/functions.py`` writes from recorded answers. Functions that follow no
rule of promotion go by it (``one_hot``, ``median``); of the others it tells the dtypes that the
framework has no kernel for.
"""

from __future__ import annotations

import os.path
from enum import IntEnum
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from promoarray import dtypes as dt
from promoarray.dtypes import BY_CODE, WEAK, DType, Kind
from promoarray.operations import Form
from promoarray.promotion.cast_losses import loss
from promoarray.promotion.plan import Operand, Rank, Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MADE_OF_DTYPE = "(dtype)"
"""Behind the name of a function that makes arrays: asked for an array of a dtype."""

REFUSED, NO_KERNEL, NOT_ASKED = "-", "?", "."

SCALARS = {
    dt.weak_bool: "bool",
    dt.weak_int: "int",
    dt.weak_float: "float",
    dt.weak_complex: "complex",
}
"""What a Python scalar in place of the array is called in a table."""

_WEAK = {Kind.BOOL: dt.weak_bool, Kind.FLOAT: dt.weak_float, Kind.COMPLEX: dt.weak_complex}
_BESIDE = {Rank.SCALAR: "_number", Rank.ZERO_D: "_0d"}
_SAID = {"number": "with a Python number", "0d": "with a 0-d array"}
"""Ends of names of operators that have another kernel beside such an operand."""

ASKED_AS = {
    "broadcast_arrays": "broadcast_tensors",
    "expand_dims": "unsqueeze",
    "matrix_transpose": "swapaxes",
    "permute_dims": "permute",
    "repeat": "repeat_interleave",
    "take_along_axis": "take_along_dim",
    "unstack": "unbind",
}
"""Functions of the array API that frameworks were asked for by another name."""

ON_A_GPU = frozenset({dt.float16, dt.bfloat16, dt.complex32})
"""Dtypes whose kernels a wheel for the CPU often lacks and a device has: they are no refusal."""


class Cell(NamedTuple):
    """What a function answered for one dtype."""

    text: str

    @property
    def results(self) -> tuple[DType, ...]:
        """The dtypes of its results; weak ones are marked by ``*``."""
        return tuple(_result(code) for code in self.text.split(";"))

    @property
    def refused(self) -> bool:
        """Whether there is no result."""
        return self.text in (REFUSED, NO_KERNEL)


def _result(code: str) -> DType:
    if code[0] == "!":  # a Python number
        return next(dtype for dtype, name in SCALARS.items() if name == code[1:])
    dtype = BY_CODE[code.removesuffix("*")]
    return _WEAK.get(dtype.kind, dt.weak_int) if code.endswith("*") else dtype


class Grade(IntEnum):
    """How sure it is that a kernel takes a dtype."""

    REFUSED = 0
    DOUBTFUL = 1
    UNKNOWN = 2
    LISTED = 3
    VERIFIED = 4


class Support(NamedTuple):
    """What lists say of a kernel and a dtype."""

    grade: Grade
    why: str

    def __str__(self) -> str:
        return f"{self.grade.name.lower()}: {self.why}"


class Answers:
    """The answers of one framework, read when they are first asked for, from the file ``name`` next
    to the module ``beside``: who was asked, a line of dtypes, then pairs of lines, answers and the
    functions that gave them.

    ``converts`` says whether functions make an array of a Python number, so that what they refuse
    is its dtype; ``device`` what the kernels are for; ``begins``, from functions to those that they
    carry out first on each of their operands, in order.
    """

    def __init__(
        self,
        beside: str,
        name: str,
        policy: str,
        *,
        converts: bool = False,
        device: str = "the CPU",
        begins: Mapping[str, tuple[str, ...]] | None = None,
    ) -> None:
        self._path, self.policy = os.path.join(os.path.dirname(beside), name), policy
        self._converts, self._device, self.begins = converts, device, begins or {}

    @cached_property
    def _lines(self) -> list[str]:
        with open(self._path, encoding="utf-8") as file:
            return file.read().splitlines()

    @property
    def source(self) -> str:
        """Who was asked."""
        return self._lines[0].removeprefix("# ")

    @cached_property
    def rows(self) -> Mapping[str, Mapping[str, Cell]]:
        """From functions, and the dtypes they were asked for, to answers."""
        return dict(self._read())

    def _read(self) -> Iterator[tuple[str, dict[str, Cell]]]:
        _, header, *lines = self._lines
        for answers, names in zip(lines[::2], lines[1::2], strict=True):
            row = zip(header.split(), map(Cell, answers.split()), strict=False)
            cells = {code: cell for code, cell in row if cell.text != NOT_ASKED}
            for name in names.split():
                yield name, cells

    def cell(self, name: str, operand: Operand) -> Cell | None:
        """What a function answered for an operand; None where it was not asked."""
        code = SCALARS.get(operand.type) if operand.rank is Rank.SCALAR else operand.type.code
        return self.rows.get(name, {}).get(code or "")

    def kernels(self, name: str, operands: tuple[Operand, ...], form: Form) -> tuple[str, ...]:
        """The functions whose kernels carry out an operation: its own, or another that it has
        where a Python int or float, or a 0-d array, comes behind; of a Python bool both.

        An operator takes a number that comes first as it takes one behind.
        """
        swaps = form is not Form.FUNCTION and operands[0].rank is Rank.SCALAR
        behind = operands if swaps else operands[1:]
        ends = (_BESIDE[operand.rank] for operand in behind if operand.rank in _BESIDE)
        others = tuple(each for end in ends if (each := name + end) in self.rows)
        with_bool = any(operand.type is dt.weak_bool for operand in behind)
        return (name, *others) if with_bool or not others else others

    def without_kernel(
        self, title: str, name: str, dtype: DType, *, anywhere: bool = True
    ) -> Refusal | None:
        """Why a function takes no array of a dtype, if there is no kernel for it on any device.

        Without ``anywhere`` also where a GPU may have one.
        """
        cell = self.cell(name, Operand(dtype))
        if cell is None or cell.text != NO_KERNEL or (anywhere and dtype in ON_A_GPU):
            return None
        plain, _, other = name.removesuffix(MADE_OF_DTYPE).rpartition("_")
        asked = f"{plain} {_SAID[other]}" if other in _SAID else f"{plain}_{other}".lstrip("_")
        why = f"{title} has no kernel for {dtype.name} in {asked} on {self._device} ({self.source})"
        return Refusal(why + "; a GPU may have one" * (dtype in ON_A_GPU), kernel=True)

    def nearest(self, name: str, dtype: DType) -> DType | None:
        """The dtype that holds all numbers of another and that a function has a kernel for, of the
        nearest kind the smallest; None if there is none."""
        cells = self.rows.get(name, {}).items()
        taken = (BY_CODE[code] for code, cell in cells if code in BY_CODE and not cell.refused)
        held = (each for each in taken if not loss(dtype, each))
        kind = dtype.kind.category
        return min(held, key=lambda each: (abs(each.kind.category - kind), each.bits), default=None)

    def refuses(self, title: str, name: str, dtype: DType) -> Refusal | None:
        """Why a function takes no array of a dtype, whether for lack of a kernel or not."""
        cell = self.cell(name, Operand(dtype))
        if cell is not None and cell.text == REFUSED:
            return Refusal(f"{title} takes no {dtype.name} in {name} ({self.source})")
        return self.without_kernel(title, name, dtype)

    def asked_on_a_cpu_alone(self, name: str, dtype: DType) -> bool:
        """Whether the CPU has no kernel of a function for a dtype, and a GPU may have one."""
        cell = self.cell(name, Operand(dtype))
        return cell is not None and cell.text == NO_KERNEL and dtype in ON_A_GPU

    def support(self, name: str, dtype: DType) -> Support | None:
        """What lists say of the kernel of a function for a dtype; None where none is at hand."""
        return None

    def by_operand(self, name: str) -> bool:
        """Whether a kernel is asked for each array's own dtype, and casts them itself."""
        return False

    def refuses_number(self, name: str, operands: tuple[Operand, ...]) -> bool:
        """Whether a function of one array does not take a Python number in its place.

        Functions that were not asked are as ``exp``, which is asked of every framework.
        """
        if self._converts or len(operands) != 1 or operands[0].rank is not Rank.SCALAR:
            return False
        cell = self.cell(name, operands[0]) or self.cell("exp", operands[0])
        return cell is not None and cell.refused


def kernels_of_filling(
    values: tuple[Any, ...], own: DType | None, made: DType, form: Form
) -> list[tuple[str, DType]] | None:
    """The kernels of a power that only fills or copies an array of a dtype: of a Python number 1,
    or to one that is 0 or 1; None of others."""
    base, exponent = values
    if type(exponent) in WEAK and exponent in (0, 1):
        if not exponent:
            return [("fill_", made)]
        if own is not None and own is not made:
            return [("astype", own), ("astype", made)]
        return [] if form is Form.INPLACE else [("copy_", made)]
    is_one = type(base) in WEAK and type(base) is not bool and base == 1
    return [("fill_", made)] if is_one else None
