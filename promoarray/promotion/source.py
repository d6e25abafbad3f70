"""Sources and notes: where a rule is written down, and what it says to a reader."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from promoarray.dtypes import DType
from promoarray.promotion.plan import Operand, Rank


class Note(str):
    """A remark on a policy or on its casts, with the cases it is about.

    A plain string is about every case.

    Examples
    --------
    >>> from promoarray.dtypes import float8_e4m3fn, int8
    >>> note = Note("float8_e4m3fn saturates.", dtypes=[float8_e4m3fn])
    >>> note.about_cast(int8, float8_e4m3fn), note.about_cast(int8, int8)
    (True, False)
    """

    # Operations whose arrays are all of these; casts from or to one of these.
    dtypes: frozenset[DType]
    of: frozenset[DType]  # casts from these only
    ranks: frozenset[Rank]  # operations with an operand of these ranks
    # Whether it says that the casts are ml_dtypes', as no source of the framework defines them.
    borrowed: bool = False

    def __new__(
        cls,
        text: str,
        dtypes: Iterable[DType] = (),
        *,
        of: Iterable[DType] = (),
        ranks: Iterable[Rank] = (),
        borrowed: bool = False,
    ) -> Note:
        note = super().__new__(cls, text)
        note.borrowed = borrowed
        note.dtypes, note.of, note.ranks = frozenset(dtypes), frozenset(of), frozenset(ranks)
        return note

    def about_operands(self, operands: Iterable[Operand]) -> bool:
        """Whether it is about an operation on these operands."""
        ranks = {operand.rank for operand in operands}
        arrays = {operand.type for operand in operands if not operand.type.weak}
        return (not self.ranks or bool(self.ranks & ranks)) and (
            not self.dtypes or arrays <= self.dtypes
        )

    def about_cast(self, source: DType, target: DType) -> bool:
        """Whether it is about a cast of this pair."""
        return (not self.of or source in self.of) and (
            not self.dtypes or bool({source, target} & self.dtypes)
        )


class Source(NamedTuple):
    """Where a rule is written down.

    Attributes
    ----------
    title : str
    section : str
    version : str
        Of the document, or of the package that was asked.
    """

    title: str
    section: str = ""
    version: str = ""

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.title, self.section, self.version)))
