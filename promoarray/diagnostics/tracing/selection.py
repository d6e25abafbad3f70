"""Which casts are meant: those to some dtypes, of some operations, that lose something."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, NamedTuple

from promoarray.diagnostics.tracing.cast import Cast
from promoarray.dtypes import DType, as_dtype
from promoarray.errors import quoted, suggestion
from promoarray.operations import OPERATIONS


class Selection(NamedTuple):
    """Which casts are meant; None leaves a criterion open.

    Attributes
    ----------
    to, source : frozenset of DType, or None
        The dtypes cast to, and those cast from. Python scalars are of none.
    operation : frozenset of str, or None
    lossy : bool or None
        Whether values of the source can be lost.
    """

    to: frozenset[DType] | None = None
    source: frozenset[DType] | None = None
    operation: frozenset[str] | None = None
    lossy: bool | None = None

    def has(self, cast: Cast) -> bool:
        """Whether a cast is one of them."""
        return (
            (self.to is None or cast.target in self.to)
            and (self.source is None or cast.source in self.source)
            and (self.operation is None or cast.operation in self.operation)
            and (self.lossy is None or cast.lossy is self.lossy)
        )


ALL = Selection()


def selection(to: Any, source: Any, operation: Any, lossy: bool | None) -> Selection:
    """Read what a user gives: one dtype, or several; the name of an operation, or several.

    Raises
    ------
    TypeError
        If something is not a dtype, or ``lossy`` is not a bool.
    ValueError
        If there is no such operation.
    """
    if lossy is not None and type(lossy) is not bool:
        raise TypeError(f"lossy is True, False or None, not {quoted(lossy)}")
    return Selection(_dtypes(to), _dtypes(source), _operations(operation), lossy)


def _several(given: Any) -> Collection[Any]:
    return given if isinstance(given, (list, tuple, set, frozenset)) else (given,)


def _dtypes(given: Any) -> frozenset[DType] | None:
    return None if given is None else frozenset(map(as_dtype, _several(given)))


def _operations(given: Any) -> frozenset[str] | None:
    if given is None:
        return None
    known = [*OPERATIONS, "setitem"]
    for name in _several(given):
        if name not in known:
            near = suggestion(name, known) if isinstance(name, str) else ""
            raise ValueError(f"{quoted(name)} is not an operation. {near}".rstrip())
    return frozenset(_several(given))
