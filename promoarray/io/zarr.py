"""Arrays in Zarr: every dtype as codes, and its name as an attribute; chunk by chunk.

NumPy's own dtypes are stored as themselves, every other as unsigned integers of its width, because
zarr has no bfloat16 or float8 of its own. The attribute ``promoarray`` says what they are, and is
written last: an array without it is half-written, or somebody else's. A chunk that is missing is an
error, where zarr would read zeros.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from promoarray import dtypes as dt
from promoarray.backends import backend_of, on_device
from promoarray.core.operands import as_array
from promoarray.dtypes import DType
from promoarray.errors import clipped, imported, quoted
from promoarray.io.packing import PACKED, codes_of, held
from promoarray.io.reading import explained, require_codes, row_of, types_in
from promoarray.io.writing import beside
from promoarray.parray import PArray

__all__ = ["from_zarr", "to_zarr"]

ATTRIBUTE = "promoarray"
FORMAT = 1
"""Version of the attribute. Readers refuse another one."""


def to_zarr(
    x: Any, store: Any, /, *, chunks: tuple[int, ...] | None = None, overwrite: bool = False
) -> None:
    """Write an array in version 3 of Zarr's format.

    Parameters
    ----------
    x : array, any shape
        Of any dtype but string. A lazy one is computed and written chunk by chunk, by the workers
        if there are any, which have to reach the store; so it may be larger than any memory.
    store : path, URL or zarr.abc.store.Store
        A folder appears complete: it is written beside the path and renamed. In another store
        the attribute that ``from_zarr`` looks for is written last.
    chunks : tuple of int, optional
        The shape of the chunks in the store. Default: those of a lazy array, the longest along
        each axis where they differ; of others zarr chooses.
    overwrite : bool
        Whether an array that is there is replaced.

    Raises
    ------
    ImportError
        If zarr is not installed.
    TypeError
        If ``x`` holds strings, or is no array, or ``store`` is no store.
    ValueError
        If lengths of ``x`` are not known before it is computed, or ``chunks`` do not fit it.
    FileExistsError
        If there is something at the path, and it is no array to overwrite.

    Examples
    --------
    >>> import tempfile, promoarray as pa
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pa.to_zarr(pa.asarray([1.5, 2.5], dtype=pa.bfloat16), f"{folder}/x.zarr")
    ...     pa.from_zarr(f"{folder}/x.zarr", device="cpu")
    PArray([1.5, 2.5], dtype=bfloat16)
    """
    zarr = _zarr()
    _require_store(store, "to_zarr")
    array = as_array(x, "to_zarr")
    if array.dtype is dt.string:
        raise TypeError("to_zarr stores no strings; write pa.save")
    if None in array.shape:
        raise ValueError(
            f"to_zarr needs to know the shape, which is {array.shape}: write "
            "x.compute_chunk_sizes()"
        )
    codes = _codes(array)
    wanted = _chunks(codes, chunks)
    with _target(store, overwrite) as (place, replaces):
        made = zarr.create_array(
            place,
            shape=codes.shape,
            dtype=codes.dtype,
            chunks=wanted,
            overwrite=replaces,
            config={"write_empty_chunks": True},  # what is missing is lost, and no zeros
        )
        _store(codes, made)
        if codes.size and made.nchunks_initialized < made.nchunks:
            raise ValueError(
                f"{made.nchunks_initialized} of {made.nchunks} chunks were written where this "
                "process sees them: the store has to be one that all workers share"
            )
        made.attrs[ATTRIBUTE] = {"format": FORMAT, **row_of(array)}


def from_zarr(store: Any, /, *, device: str = "dask") -> PArray:
    """Read an array that ``to_zarr`` has written.

    Parameters
    ----------
    store : path, URL or zarr.abc.store.Store
    device : str
        ``"dask"`` reads nothing yet, and a chunk of the store becomes a block of a lazy array;
        ``"cpu"`` and others read all of it now.

    Returns
    -------
    PArray
        Of the shape, the dtype and weak type it had, whatever the policy in force would give a new
        one.

    Raises
    ------
    ImportError
        If zarr is not installed, or dask where it is needed.
    TypeError
        If ``store`` is no store.
    FileNotFoundError
        If there is no array.
    ValueError
        If the array is damaged, half-written or not of promoarray, or the dtype is unknown; the
        message says which. What is wrong inside chunks is told when they are read.

    Examples
    --------
    >>> to_zarr(asarray([1, 2], dtype=int4), "x.zarr")
    >>> from_zarr("x.zarr", device="cpu")
    PArray([1, 2], dtype=int4)
    """
    zarr = _zarr()
    _require_store(store, "from_zarr")
    is_path = isinstance(store, (str, os.PathLike))
    name = clipped(str(store)) if is_path else quoted(store)
    try:
        found = zarr.open_array(store, mode="r")
    except FileNotFoundError:
        raise FileNotFoundError(f"there is no zarr array at {name}") from None
    except Exception as error:  # whatever zarr meets in broken metadata
        raise ValueError(f"cannot read {name}: {clipped(str(error))}") from error
    with explained(f"cannot read {name}"):
        label, dtype = _described(found)
        if device == "dask":
            return PArray._wrap(_lazy(found, dtype), label)
        backend = on_device(device)
        values = checked_codes(found[...], dtype).view(dtype.storage)
        return PArray._wrap(backend.from_numpy(values, dtype, device), label)


_zarr = partial(imported, "zarr", "Zarr arrays", "dask")


def _require_store(store: Any, function: str) -> None:
    """Refuse what zarr would not take: it keeps its last error, with all that was on its way."""
    stores = import_module("zarr.abc.store").Store, import_module("zarr.storage").StorePath
    if not isinstance(store, (str, os.PathLike, MutableMapping, *stores)):
        raise TypeError(
            f"{function} takes a path, a URL or a zarr.abc.store.Store, not {quoted(store)}"
        )


# --- Codes ----------------------------------------------------------------------------------------


def _codes(array: PArray) -> Any:
    """NumPy's or Dask's array of what is stored."""
    dtype, buffer = array.dtype, array._buffer
    if array.device == "dask":
        blocks = buffer.array
        return blocks.map_blocks(stored_codes, dtype, dtype=held(dtype), meta=blocks._meta)
    values = backend_of(buffer).to_numpy(buffer, dtype)
    return stored_codes(np.ascontiguousarray(values).reshape(values.shape), dtype)


def stored_codes(values: Any, dtype: DType) -> Any:
    """Values, or their codes, as they are stored: no bits above those of the dtype."""
    return codes_of(values, dtype) if dtype in PACKED else values.view(held(dtype))


def checked_codes(codes: Any, dtype: DType) -> Any:
    """Codes that were stored, if the dtype has such."""
    require_codes(codes := np.asarray(codes), dtype)
    return codes


# --- Writing --------------------------------------------------------------------------------------


def _chunks(codes: Any, wanted: tuple[int, ...] | None) -> Any:
    """The chunks of the store: one shape for all of them."""
    if wanted is not None:
        if len(wanted) != len(codes.shape) or any(n < 1 for n in wanted):
            raise ValueError(f"to_zarr: chunks {quoted(wanted)} do not fit shape {codes.shape}")
        return wanted
    if isinstance(codes, np.ndarray):
        return "auto"
    return tuple(max(1, *each) for each in codes.chunks)


def _store(codes: Any, target: Any) -> None:
    """Write a chunk at a time; two tasks never write to the same one."""
    if isinstance(codes, np.ndarray):
        target[...] = codes
    elif codes.size:
        import_module("dask.array").store(codes.rechunk(target.chunks), target, lock=False)


@contextmanager
def _target(store: Any, overwrite: bool) -> Iterator[tuple[Any, bool]]:
    """Where to write, and whether to replace what is there."""
    if not isinstance(store, (str, os.PathLike)) or "://" in os.fspath(store):
        yield store, overwrite
        return
    path = os.path.realpath(store)
    if os.path.lexists(path) and not (overwrite and os.path.isfile(f"{path}/zarr.json")):
        told = "it is no zarr array" if overwrite else "write overwrite=True"
        raise FileExistsError(f"to_zarr: there is something at {clipped(str(store))}; {told}")
    new = beside(path)
    try:
        yield new, False
        _exchange(new, path)
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _exchange(new: str, path: str) -> None:
    """Put a folder in its place; one that was there goes when the new one is."""
    if not os.path.lexists(path):
        os.rename(new, path)
        return
    old = f"{new}.old"
    os.rename(path, old)
    try:
        os.rename(new, path)
    except BaseException:
        os.rename(old, path)
        raise
    shutil.rmtree(old)


# --- Reading --------------------------------------------------------------------------------------


def _described(found: Any) -> tuple[DType, DType]:
    """The type of the array and its dtype, once all that can be checked is."""
    about = found.attrs.get(ATTRIBUTE)
    if about is None:
        raise ValueError(
            f"it has no attribute {ATTRIBUTE!r}, so it is half-written, or not promoarray's: write "
            "pa.asarray(zarr.open_array(store)[...])"
        )
    version = about.get("format") if isinstance(about, dict) else None
    if version != FORMAT:
        raise ValueError(f"it is of version {quoted(version)}, and this promoarray reads {FORMAT}")
    dtype, label = types_in(about)
    if dtype is dt.string:
        raise ValueError(f"{quoted(dtype.name)} is not a dtype promoarray stores there")
    if found.dtype.newbyteorder("=") != held(dtype):
        raise ValueError(f"{dtype.name} is stored as {clipped(str(found.dtype))}")
    if found.size and found.nchunks_initialized < found.nchunks:
        missing = found.nchunks - found.nchunks_initialized
        raise ValueError(f"{missing} of its {found.nchunks} chunks are missing")
    return label, dtype


def _lazy(found: Any, dtype: DType) -> Any:
    """A buffer of Dask's whose blocks are the chunks of the store."""
    try:
        arrays = import_module("dask.array")
        buffer: Callable[..., Any] = import_module("promoarray.backends.dask.buffer").Buffer
    except ImportError as error:
        raise ImportError("device='dask' needs dask; write device='cpu'") from error
    blocks = arrays.from_array(found, chunks=found.chunks, name=False)
    if dtype in PACKED:
        blocks = blocks.map_blocks(checked_codes, dtype, dtype=blocks.dtype, meta=blocks._meta)
    return buffer(blocks)
