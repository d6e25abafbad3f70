"""The kernels on arrays of any layout, rows and modes: an error, or what the definition gives.

Whatever is asked for, nothing is written but the target, and never by halves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from orderings import defined

from fuzz.layouts import laid_out, numbers, one_of
from promoarray import dtypes, kernels
from promoarray.backends import numpy as backend
from promoarray.backends.numpy.traced_kernels import traced
from promoarray.kernels.portable import linalg

NUMBERS = [d for d in dtypes.CONCRETE if d is not dtypes.string]
ROWS = [kernels.dtype_args(d) for d in NUMBERS]
REAL = [kernels.dtype_args(d) for d in NUMBERS if d.kind is not dtypes.Kind.COMPLEX]
UFUNCS = [*(np.add, np.multiply, np.true_divide, np.maximum), *(np.less, np.negative, np.sqrt)]

STORED = [
    "u1",
    "u2",
    "u4",
    "u8",
    ">u2",
    ">u4",
    ">u8",
    "i1",
    "f4",
    "f8",
    "c8",
    "c16",
    "V0",
    "V3",
    "O",
]
CHOICES = [
    *(kernels.Beyond, kernels.Beyond, None, kernels.NanWithout, kernels.ToInteger),
    *(kernels.ScaleRounding, kernels.ScaleNegative, kernels.ScaleZero, None, None),
]
"""The fields of a mode; None of one that is true or false."""


def _row(random: Generator, rows: list[Any] = ROWS) -> Any:
    row = list(one_of(random, rows if random.random() < 0.95 else ROWS))
    if random.random() < 0.1:
        row[int(random.integers(10))] = int(random.integers(-3, 140))
    return tuple(row)


def _mode(random: Generator) -> tuple[int, ...]:
    ends = (2 if choice is None else len(choice) for choice in CHOICES)
    mode = [int(random.integers(end)) for end in ends]
    if random.random() < 0.05:
        mode[int(random.integers(10))] = int(random.integers(-2, 9))
    return tuple(mode)


def _bytes_of(row: tuple[int, ...]) -> int:
    return max(1, row[1] // 8)


def _array(random: Generator, arena: Any, shape: tuple[int, ...], size: int) -> Any:
    """Elements somewhere in the arena: any offset, any strides, sometimes of another size."""
    storage = np.dtype(one_of(random, STORED) if random.random() < 0.1 else f"V{size}")
    if storage.hasobject:
        return np.full(shape, None)
    strides = [storage.itemsize] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        strides[axis] = strides[axis + 1] * max(1, shape[axis + 1])
    if random.random() < 0.3:
        strides = [s * int(random.integers(-2, 3)) for s in strides]
    if random.random() < 0.1:
        strides = [int(random.integers(-40, 41)) for _ in strides]
    aligned = random.random() < 0.8
    offset = int(random.integers(arena.size)) // (16 if aligned else 1) * (16 if aligned else 1)
    try:
        found = np.ndarray(shape, storage, arena, offset, strides)
    except (ValueError, TypeError):  # it would lie outside
        return np.zeros(3, storage)
    return memoryview(found) if random.random() < 0.02 and storage.itemsize else found


def _said_only(arena: Any, before: Any, target: Any) -> None:
    """Nothing has changed but the target."""
    inside, out = np.zeros(arena.size, bool), np.asarray(target)
    low = out.__array_interface__["data"][0] - arena.__array_interface__["data"][0]
    inside[max(0, low) : max(0, low + out.nbytes)] = True  # it is contiguous
    assert np.array_equal(arena[~inside], before[~inside]), "written beside the target"


def once(random: Generator) -> None:
    """One cast, or one operation."""
    if random.random() < 0.3:
        _order(random)
        return
    axes = int(random.integers(0, 4))
    shape = tuple(int(n) for n in random.integers(0, 6, axes))
    if random.random() < 0.3:
        shape = (int(random.integers(0, 5000)),)
    arena = np.frombuffer(bytearray(random.bytes(1 << 17)), np.uint8)
    if random.random() < 0.6:
        _cast(random, arena, shape)
    else:
        _compute(random, arena, shape)


def _cast(random: Generator, arena: Any, shape: tuple[int, ...]) -> None:
    rows, mode = (_row(random), _row(random)), _mode(random)
    src = _array(random, arena, shape, _bytes_of(rows[0]))
    dst = _array(random, arena, shape, _bytes_of(rows[1]))
    before, bits = arena.copy(), np.array(src, order="C")
    try:
        kernels.cast(src, dst, *rows, mode)
    except (ValueError, TypeError, BufferError):
        assert np.array_equal(arena, before), "half written"
        return
    _said_only(arena, before, dst)
    wanted = np.empty(np.shape(dst), np.asarray(dst).dtype)
    kernels.cast(bits, wanted, *rows, mode, False)
    assert np.asarray(dst).tobytes() == wanted.tobytes(), (rows, mode)


def _compute(random: Generator, arena: Any, shape: tuple[int, ...]) -> None:
    """Run a ufunc between casts, into a target of any layout."""
    ufunc = one_of(random, UFUNCS)
    count, single = ufunc.nin, dtypes.float32
    made = dtypes.bool if ufunc is np.less else single
    program = traced(ufunc, (single.storage,) * count, made.storage, by_way=False)
    computed = kernels.dtype_args(single)
    held, result = [_row(random, REAL) for _ in range(count)], _row(random, REAL)
    rows = (*held, *(computed,) * (2 * count), kernels.dtype_args(made), result)
    modes = tuple(_mode(random) for _ in range(2 * count + 1))
    shapes = [one_of(random, [shape, shape, shape, shape[1:], (), (1,)]) for _ in range(count)]
    given = [_array(random, arena, s, _bytes_of(row)) for s, row in zip(shapes, held, strict=True)]
    out = _array(random, arena, shape, _bytes_of(result))
    if random.random() < 0.1:
        given[-1] = out
    before = arena.copy()
    held_before = tuple(np.array(x, order="C") for x in given)
    try:
        storages = (single.storage,) * count
        kernel = kernels.CastingKernel(None, rows, modes, storages, _storage(result), _say, program)
    except (ValueError, TypeError):
        return
    if kernel(*given, out) is None:
        assert np.array_equal(arena, before), "half written"
        return
    inside = np.zeros(arena.size, bool)
    if np.may_share_memory(arena, out):
        inside[_places(arena, out)] = True
    assert np.array_equal(arena[~inside], before[~inside]), "written beside the target"
    again = np.empty(np.shape(out), np.asarray(out).dtype)
    assert kernel(*held_before, again) is not None
    assert np.asarray(out).tobytes() == again.tobytes(), (ufunc, rows, modes)


def _say(*_: object) -> None:
    """Tell of no exception."""


def _storage(row: tuple[Any, ...]) -> Any:
    """A dtype whose elements are as long as a row says."""
    return np.dtype(f"u{max(1, row[1] // 8)}")


def _places(arena: Any, target: Any) -> Any:
    """Where in the arena the bytes of an array of any layout lie."""
    places = np.asarray(target).__array_interface__["data"][0]
    places = np.array(places - arena.__array_interface__["data"][0])
    held = np.asarray(target)
    for length, stride in zip(held.shape, held.strides, strict=True):
        places = places[..., None] + np.arange(length) * stride
    return (places[..., None] + np.arange(held.itemsize)).reshape(-1)


def _order(random: Generator) -> None:
    """Sort and find numbers of which many are equal, or their bits, as they are defined."""
    dtype, name = one_of(random, NUMBERS), one_of(random, [*linalg.ORDERINGS])
    shape = tuple(int(n) for n in random.integers(0, 9, int(random.integers(1, 4))))
    if random.random() < 0.3:
        shape = (int(random.integers(0, 70_000)),)
    x = numbers(random, shape, dtype)
    if random.random() < 0.7:
        few = np.concatenate([numbers(random, (4,), dtype), _twins(dtype)])
        x = few[random.integers(0, few.size, shape)]
    x = backend.native(laid_out(random, x))
    options = {}
    if name in ("sort", "argsort"):
        axis, descending = int(random.integers(x.ndim)), bool(random.integers(2))
        options = {"axis": axis, "descending": descending, "stable": True}
    arrays: tuple[Any, ...] = (x,)
    if name == "isin":
        arrays = x, np.concatenate([x.reshape(-1)[:2], numbers(random, (2,), dtype)])
        options = {"invert": bool(random.integers(2))}
    with np.errstate(all="raise"):
        found = backend.call(name, arrays, dtype, **options)
    with np.errstate(all="ignore"):
        wanted = defined(name, dtype, arrays, **options)
    assert len(found) == len(wanted)
    for (one, _), other in zip(found, wanted, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape), (name, dtype)
        assert one.tobytes() == other.tobytes(), (name, dtype, options, x)


def _twins(dtype: dtypes.DType) -> Any:
    """Zeros and NaN of both signs, and of another payload, where a dtype has them."""
    if dtype.format is None:
        return np.zeros(1, dtype.storage)
    sign, nan = 1 << dtype.bits - 1, dtype.format.nan or 0
    codes = np.array([0, sign, nan, nan | sign, nan ^ 1], f"u{dtype.storage.itemsize}")
    return codes.view(dtype.storage)
