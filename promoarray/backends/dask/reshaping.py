"""``reshape`` over Dask arrays."""

from __future__ import annotations

import math
from typing import Any

import dask.array as da

from promoarray.backends.dask.buffer import known
from promoarray.errors import clipped

Blocks = Any
Shape = tuple[int, ...]


def reshape(x: Blocks, shape: Any, *, copy: bool | None = None) -> Blocks:
    """In another shape; where the chunks do not go through it, they are made to."""
    wanted = reshaped(known(x.shape), (shape,) if isinstance(shape, int) else tuple(shape))
    if 0 in wanted:  # which Dask's own cannot always
        return da.zeros(wanted, dtype=x.dtype, chunks=-1)
    try:
        return x.reshape(wanted)
    except NotImplementedError:
        # A flat array can be cut at whole rows of the new shape; the old one has to be cut at
        # whole rows of its own first.
        flat = x.rechunk(dict.fromkeys(range(1, x.ndim), -1)).reshape(-1)
        row = max(math.prod(wanted[1:]), 1)
        rows = max(max(flat.chunks[0]) // row, 1)
        return flat.rechunk(rows * row).reshape(wanted)


def reshaped(shape: tuple[int | None, ...], wanted: Shape) -> Shape:
    """The new shape, with the length that -1 stands for.

    Raises
    ------
    ValueError
        In NumPy's words, if the shapes differ in their number of elements; or if that is not known.
    """
    if None in shape:
        raise ValueError(
            f"reshape: the shape {shape} is not known before the array is computed; "
            "write x.compute_chunk_sizes() before"
        )
    size: int = math.prod(shape)  # type: ignore[arg-type]
    if wanted.count(-1) > 1:
        raise ValueError("can only specify one unknown dimension")
    rest = math.prod(n for n in wanted if n != -1)
    if -1 in wanted and rest and size % rest == 0:
        return tuple(size // rest if n == -1 else n for n in wanted)
    if -1 in wanted or rest != size or min(wanted, default=0) < 0:
        shown = f"({wanted[0]},)" if len(wanted) == 1 else f"({','.join(map(str, wanted))})"
        raise ValueError(f"cannot reshape array of size {size} into shape {clipped(shown)}")
    return wanted
