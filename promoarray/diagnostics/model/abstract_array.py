"""Arrays of another framework as a policy sees them: a dtype and a rank, but no data."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

from promoarray.core.array_base import Array
from promoarray.core.operands import UNKNOWN
from promoarray.dtypes import DType
from promoarray.promotion.policy import Policy

if TYPE_CHECKING:
    from promoarray.core.array_base import TypeRecord


class Rank:
    """What stands where an array has its buffer; its size is 0, as there are no values to look at,
    but for one of a 0-d array that is ``known`` or can be read."""

    __slots__ = ("_read", "_value", "known", "ndim")
    size = 0

    def __init__(
        self, ndim: int, value: Any, known: bool, read: Callable[[], Any] | None = None
    ) -> None:
        self.ndim, self._value, self.known, self._read = ndim, value, known, read

    @property
    def shape(self) -> tuple[int, ...]:
        """A shape of that many axes; how long they are is not known."""
        return (0,) * self.ndim

    def item(self) -> Any:
        """The value of a 0-d array, for the policies that look at it.

        It never fails: what is on a device that holds no numbers has none to read.
        """
        if self._read is None:
            return self._value
        try:
            return self._read()
        except Exception:
            return self._value

    def __reduce__(self) -> tuple[Any, ...]:
        return Rank, (self.ndim, self._value if self.ndim else self.item(), self.known)


class AbstractArray(Array):
    """An array without its data."""

    __slots__ = ()

    @classmethod
    def of(
        cls, dtype: DType | TypeRecord, ndim: int, value: Callable[[], Any] | None = None
    ) -> Self:
        """Return what stands for an array whose type slot bears a dtype; ``value`` reads that of a
        0-d array, if it can be read."""
        kind = (dtype if isinstance(dtype, DType) else dtype.dtype).kind
        return cls._wrap(Rank(ndim, UNKNOWN[kind], value is not None, value), dtype)

    @classmethod
    def of_value(cls, dtype: DType | TypeRecord, value: Any, known: bool = True) -> Self:
        """Return what stands for a 0-d array with a value, which is ``known`` or stands for any."""
        return cls._wrap(Rank(0, value, known), dtype)

    @property
    def has_value(self) -> bool:
        """Whether its value is known, or can be read."""
        return bool(getattr(self._buffer, "known", True))

    def __reduce__(self) -> tuple[Any, ...]:
        return _abstract_array, (self._type, self._buffer)

    def _decoded(self) -> Any:
        return self._buffer


def abstract_arrays_of(home: Policy) -> type[AbstractArray]:
    """The abstract arrays of a framework's policy, whatever policy promoarray itself is set to."""
    return home.once(_abstract_arrays_of)


def _abstract_arrays_of(home: Policy) -> type[AbstractArray]:
    return type("AbstractArray", (AbstractArray,), {"__slots__": (), "_policy": home})


def _abstract_array(dtype: DType | TypeRecord, rank: Rank) -> AbstractArray:
    return AbstractArray._wrap(rank, dtype)
