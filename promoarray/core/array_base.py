"""The array as every part of an operation knows it: a buffer, the type of its elements, its class.

``PArray`` adds the operators, the protocols and the conveniences.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, ClassVar, Self

from promoarray.backends import backend_of, on_device
from promoarray.core import host
from promoarray.core._fast_path import ArraySlots
from promoarray.dtypes import WEAK_TYPES, DType
from promoarray.errors import ends_at_caller, quoted
from promoarray.promotion.policy import Policy

if TYPE_CHECKING:
    from typing import Protocol

    class TypeRecord(Protocol):
        """What a shadow run keeps in an array's type slot: it knows the dtype, and more besides."""

        @property
        def dtype(self) -> DType: ...

        def read(self, dtype: DType) -> DType:
            """Return what a program reads as the dtype of an array that is stored in ``dtype``."""


class Array(ArraySlots):
    """A buffer and its type; caches of other libraries may refer to it weakly.

    Notes
    -----
    Two slots, which ``ArraySlots`` holds: ``_buffer`` (a NumPy or CuPy array, the storage) and
    ``_type`` (a ``DType``, weak or not; in a shadow run a ``TypeRecord`` in its place, so that
    nobody pays for shadow runs outside of one). ``type_of`` reads the latter.
    """

    __slots__ = ("__weakref__",)
    _buffer: Any
    _type: DType | TypeRecord
    _policy: ClassVar[Policy | None] = None
    _namespace: ClassVar[Any] = None  # the one the arrays are bound to
    default: ClassVar[type[Array]]
    """The class of arrays that are bound to no namespace."""

    @property
    def dtype(self) -> DType:
        """The dtype of the elements; for a weakly typed array the one it is stored in."""
        dtype = storage_dtype(self)
        slot = self._type
        if isinstance(slot, DType):
            return dtype
        from promoarray.core.call_site import of_promoarray

        return dtype if of_promoarray(sys._getframe(1)) else slot.read(dtype)

    @property
    def weak_type(self) -> bool:
        """Whether the array counts for no more than a Python scalar in promotion (JAX)."""
        return type_of(self._type).weak

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each axis; None where it is not known before it is computed."""
        shape: tuple[int, ...] = self._buffer.shape
        return shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._buffer.shape)

    @property
    def size(self) -> int:
        """The number of elements; None where it is not known before it is computed."""
        size: int = self._buffer.size
        return size

    @property
    def itemsize(self) -> int:
        """The bytes of one element as it is stored: one for 2-, 4- and 6-bit dtypes too."""
        return int(self._buffer.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        """The bytes of all elements as they are stored; None where ``size`` is."""
        size: int | None = self._buffer.size
        return size and size * self.itemsize  # type: ignore[return-value]

    @property
    def strides(self) -> tuple[int, ...]:
        """The bytes from one element to the next along each axis."""
        strides: tuple[int, ...] = self._buffer.strides
        return strides

    @property
    def device(self) -> str:
        """Where the buffer lies: ``"cpu"``, or ``"cuda:0"`` and on."""
        device: str = backend_of(self._buffer).device_of(self._buffer)
        return device

    @ends_at_caller
    def to_device(self, device: str, /, *, stream: Any = None) -> Self:
        """Return the array on a device; the same memory if it lies there already.

        Parameters
        ----------
        device : str
            One of ``__array_namespace_info__().devices()``.
        stream : optional
            The stream to copy in, where the device has streams.

        Returns
        -------
        PArray

        Raises
        ------
        ValueError
            If the device is unknown here, or a stream is given where there are none.
        """
        here, there = backend_of(self._buffer), on_device(device)
        if here is there:
            buffer = here.to_device(self._buffer, device, stream)
        elif stream is not None:
            raise ValueError(f"copies from {self.device!r} to {quoted(device)} take no stream")
        else:
            buffer = there.from_numpy(here.to_numpy(self._buffer, self.dtype), self.dtype, device)
        return self._wrap(buffer, self._type)

    def _decoded(self) -> Any:
        """The values in a NumPy array that holds them exactly and prints them."""
        dtype = self.dtype
        return host.decoded(backend_of(self._buffer).to_numpy(self._buffer, dtype), dtype)


def type_of(slot: DType | TypeRecord) -> DType:
    """The dtype of an array's type slot, weak ones included."""
    return slot if isinstance(slot, DType) else slot.dtype


def storage_dtype(x: Array) -> DType:
    """The dtype an array is stored in, which a weak type leaves open and every backend knows."""
    slot = x._type
    dtype = slot if type(slot) is DType else type_of(slot)
    if dtype in _WEAK_TYPES:
        found: DType = backend_of(x._buffer).dtype_of(x._buffer)
        return found
    return dtype


_WEAK_TYPES = frozenset(WEAK_TYPES)
