"""Foreign operands: how NumPy's scalars and arrays enter operations beside a framework's arrays.

To NumPy and JAX they are arrays of their dtypes. Other frameworks read numbers off scalars, cast to
the dtype of the tensor, hand the operation over to NumPy, or refuse: by the dtype, the operation
and the side on which it stands. ``Foreign`` is a list of such cases.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from promoarray.dtypes import BY_CODE, NATIVE, DType
from promoarray.operations import OPERATIONS, Family, Form


class Entry(Enum):
    """What a foreign operand enters as."""

    ARRAY = "an array of its dtype"
    INT = "a Python int"
    FLOAT = "a Python float"
    COMPLEX = "a Python complex"
    TARGET = "an array of the dtype of the array beside it"
    NUMPY = "an array of NumPy's, which computes by its own rules"
    REFUSED = "no operand"


class Given(Enum):
    """What a foreign operand is."""

    SCALAR = "NumPy scalar"
    ZERO_D = "0-d NumPy array"
    ARRAY = "NumPy array"


ARRAYS = Given.ZERO_D, Given.ARRAY
EVERY = tuple(Given)


@dataclass(frozen=True)
class Case:
    """Some foreign operands, and what they enter as."""

    entry: Entry
    kinds: tuple[Given, ...] = EVERY
    # ``dtypes``, ``beside``: its dtype, and that of the array beside it; None for any.
    dtypes: frozenset[DType] | None = None
    beside: frozenset[DType] | None = None
    # Names of operations; None for any that is written as in ``forms``.
    operations: frozenset[str] | None = None
    forms: tuple[Form, ...] = tuple(Form)
    first: bool | None = None  # whether it stands left of the array; None for either side

    def holds(
        self, kind: Given, dtype: DType, beside: DType, name: str, form: Form, first: bool
    ) -> bool:
        """Return whether an operand is one of the case."""
        return (
            kind in self.kinds
            and (self.dtypes is None or dtype in self.dtypes)
            and (self.beside is None or beside in self.beside)
            and (self.operations is None or name in self.operations)
            and form in self.forms
            and self.first in (None, first)
        )


def case(
    entry: Entry,
    kinds: Given | tuple[Given, ...] = EVERY,
    dtypes: str = "",
    *,
    beside: str = "",
    of: Iterable[str | Family] = (),
    forms: tuple[Form, ...] = tuple(Form),
    first: bool | None = None,
) -> Case:
    """Make a case of dtypes by their codes and of operations by their names or families."""
    names = {name for name in of if isinstance(name, str) and not isinstance(name, Family)}
    families = {each for each in of if isinstance(each, Family)}
    names |= {name for name, row in OPERATIONS.items() if row.family in families}
    return Case(
        entry,
        kinds if isinstance(kinds, tuple) else (kinds,),
        _coded(dtypes),
        _coded(beside),
        frozenset(names) if of else None,
        forms,
        first,
    )


def _coded(codes: str) -> frozenset[DType] | None:
    return frozenset(BY_CODE[code] for code in codes.split()) if codes else None


@dataclass(frozen=True, eq=False)
class Foreign:
    """How foreign operands enter: by the first case that holds, else as arrays of their dtype."""

    library: str  # the framework, as messages name it
    cases: tuple[Case, ...]
    _known: dict[Any, Entry] = field(default_factory=dict, repr=False)

    def entry(
        self, kind: Given, dtype: DType, beside: DType, name: str, form: Form, first: bool
    ) -> Entry:
        """Return what an operand of NumPy's enters as beside the framework's own array, left of it
        if it is the ``first``. The operation is ``setitem`` of what is assigned."""
        asked = kind, dtype, beside, name, form, first
        found = self._known.get(asked)
        if found is None:
            found = next((c.entry for c in self.cases if c.holds(*asked)), Entry.ARRAY)
            if found is Entry.NUMPY and beside not in NATIVE:
                found = Entry.REFUSED  # no array of NumPy's is made of such a tensor
            self._known[asked] = found
        return found


WRITTEN = Form.OPERATOR, Form.INPLACE
CALLED = (Form.FUNCTION,)
"""The forms of operators, and of functions."""

INTS = "u8 u16 u32 u64 i8 i16 i32 i64"
