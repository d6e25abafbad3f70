"""A buffer of Dask's: an array of codes that is computed later.

Blocks hold NumPy's own dtypes as themselves and every other as codes, unsigned integers of its
width. So all that moves blocks (slicing, rechunking, the wire, spilling, Zarr) meets no dtype it
could get wrong: ``distributed`` cannot read back the float8_e5m2 it sent, Zarr has no bfloat16.

Dask's arrays are values: what is written to one is a new graph. So a buffer is a place that holds
one, and a write puts another there. All arrays over that place see it, as they see what is written
to memory; but arrays that NumPy would make views of one memory are places of their own here, which
is why they are known to each other and writes between them are refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any
from weakref import WeakSet

import dask.array as da
import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of
from promoarray.dtypes import DType

Blocks = Any
"""A ``dask.array.Array`` whose blocks hold codes."""

Shape = tuple[int, ...]


class Buffer:
    """A place that holds a Dask array of codes, whose lengths are ``nan`` where they are not known
    before it is computed.

    ``view_of`` is whose memory it would lie in, were it NumPy's; a ``frozen`` one is only to be
    read, as what ``broadcast_to`` gives.
    """

    __slots__ = ("__weakref__", "_memory", "_value", "array", "frozen")

    backend = "promoarray.backends.dask"

    def __init__(
        self, array: Blocks, view_of: Buffer | None = None, *, frozen: bool = False
    ) -> None:
        self.array = array
        self._value: tuple[Blocks, Any] | None = None
        self.frozen: bool = frozen or (view_of is not None and view_of.frozen)
        self._memory: WeakSet[Buffer] = WeakSet() if view_of is None else view_of._memory
        self._memory.add(self)

    @property
    def alone(self) -> bool:
        """Whether no other buffer would lie in the same memory."""
        return len(self._memory) == 1

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The length of each axis, None where it is not known before it is computed."""
        return known(self.array.shape)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return int(self.array.ndim)

    @property
    def size(self) -> int | None:
        """The number of elements, or None."""
        shape = self.shape
        return None if None in shape else math.prod(shape)  # type: ignore[arg-type]

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the blocks."""
        found: np.dtype[Any] = self.array.dtype
        return found

    @property
    def has_value(self) -> bool:
        """Whether ``value`` was computed of what it holds now."""
        return self._value is not None and self._value[0] is self.array

    def value(self, compute: Callable[[], Any]) -> Any:
        """The one element, for policies that promote by it: computed once."""
        if self._value is None or self._value[0] is not self.array:
            self._value = self.array, compute()
        return self._value[1]

    def transpose(self) -> Buffer:
        """The axes reversed."""
        return Buffer(self.array.transpose(), self)

    def swapaxes(self, first: int, second: int) -> Buffer:
        """Two axes swapped."""
        return Buffer(self.array.swapaxes(first, second), self)

    def __reduce__(self) -> tuple[Any, ...]:
        return Buffer, (self.array,)


def known(shape: tuple[float, ...]) -> tuple[int | None, ...]:
    """A shape of Dask's with None for the lengths it does not know."""
    return tuple(None if n != n else int(n) for n in shape)


def storage(dtype: DType) -> Any:
    """The NumPy dtype of the blocks that hold a dtype."""
    if dtype is dt.string:
        raise TypeError("a Dask array holds no strings; write x.to_device('cpu')")
    return dtype.storage if dtype in dt.NATIVE else np.dtype(f"u{dtype.storage.itemsize}")


def opened(block: Any, dtype: DType) -> Any:
    """A block as the back end of its library holds the dtype; no copy."""
    if isinstance(block, np.generic):  # what some of Dask's own functions leave of no axes
        block = np.asarray(block)
    held = backend_of(block).storage(dtype)
    return block if block.dtype == held else block.view(held)


def closed(block: Any, dtype: DType) -> Any:
    """What a back end made, as a block; no copy."""
    held = storage(dtype)
    return block if block.dtype == held else block.view(held)


def usual_chunks(shape: tuple[Any, ...]) -> Any:
    """Chunks of Dask's usual size; it divides by their elements, so there have to be some."""
    return -1 if 0 in shape else "auto"


def right_of_the_diagonal(chunks: tuple[tuple[float, ...], ...]) -> Blocks:
    """How far to the right of the main diagonal each element of a matrix is."""
    if any(math.isnan(n) for along in chunks for n in along):
        raise ValueError(
            "the diagonal of a matrix of unknown lengths: write x.compute_chunk_sizes() before"
        )
    down, right = (da.arange(sum(c), chunks=(c,), dtype=np.int64) for c in chunks)
    return right - down[:, None]


def lifted(values: np.ndarray[Any, Any], dtype: DType, chunks: Any = None) -> Blocks:
    """NumPy's storage of a dtype as a Dask array of codes.

    What the program writes to it later is not seen: the graph has a copy.
    """
    codes = closed(values, dtype)
    chunks = usual_chunks(codes.shape) if chunks is None else chunks
    return da.from_array(codes.copy(), chunks=chunks, name=False)


def array_of(x: Any, dtype: DType) -> Blocks:
    """The Dask array of a buffer, or of NumPy's that meets one."""
    return x.array if isinstance(x, Buffer) else lifted(x, dtype, -1)
