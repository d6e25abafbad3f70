"""The kernels on arrays of any layout, rows and modes: an error, or what the definition gives.

Whatever is asked for, nothing is written but the target, and never by halves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

from fuzz.layouts import laid_out, numbers, one_of
from promoarray import dtypes, kernels
from promoarray.backends import numpy as backend
from promoarray.backends.numpy import ordering, products, searching
from promoarray.kernels.portable import linalg

NUMBERS = [d for d in dtypes.CONCRETE if d is not dtypes.string]
ROWS = [kernels.dtype_args(d) for d in NUMBERS]
REAL = [kernels.dtype_args(d) for d in NUMBERS if d.kind is not dtypes.Kind.COMPLEX]
COMPUTED = [kernels.dtype_args(d) for d in (dtypes.float32, dtypes.float64, dtypes.int32)]
LOOPS = [
    *((name, 2) for name in ("add", "subtract", "multiply", "divide", "maximum", "less", "equal")),
    *((name, 1) for name in ("negative", "floor", "sqrt", "isnan", "sign", "logical_not")),
    *((name, 3) for name in ("clip_beyond", "low_bound_last", "where")),
]
"""Operations, and of how many operands."""

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
        one_of(random, [_order, _multiply, _search])(random)
        return
    axes = int(random.integers(0, 4))
    shape = tuple(int(n) for n in random.integers(0, 6, axes))
    if random.random() < 0.3:
        shape = (int(random.integers(0, 5000)),)
    arena = np.frombuffer(bytearray(random.bytes(1 << 17)), np.uint8)
    if random.random() < 0.6:
        _cast(random, arena, shape)
    else:
        _combine(random, arena, shape)


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


def _combine(random: Generator, arena: Any, shape: tuple[int, ...]) -> None:
    name, count = one_of(random, LOOPS)
    count = count if random.random() < 0.97 else int(random.integers(0, 5))
    held = [REAL] * count
    if name == "where" and count:
        held[0] = [kernels.dtype_args(dtypes.bool)]
    rows = tuple(_row(random, each) for each in (*held, COMPUTED, REAL))
    modes = tuple(_mode(random) for _ in range(count + 1))
    shapes = [one_of(random, [shape, shape, shape, shape[1:], (), (1,)]) for _ in range(count)]
    given = [_array(random, arena, s, _bytes_of(row)) for s, row in zip(shapes, rows, strict=False)]
    out = _array(random, arena, shape, _bytes_of(rows[-1]))
    if count and random.random() < 0.1:
        given[-1] = out
    before = arena.copy()
    held_before = tuple(np.array(x, order="C") for x in given)
    try:
        kernels.combine(name, tuple(given), out, rows, modes)
    except (ValueError, TypeError, BufferError):
        assert np.array_equal(arena, before), "half written"
        return
    inside = np.zeros(arena.size, bool)
    if np.may_share_memory(arena, out):
        inside[_places(arena, out)] = True
    assert np.array_equal(arena[~inside], before[~inside]), "written beside the target"
    again = np.empty(np.shape(out), np.asarray(out).dtype)
    kernels.combine(name, held_before, again, rows, modes)
    assert np.asarray(out).tobytes() == again.tobytes(), (name, rows, modes)


def _places(arena: Any, target: Any) -> Any:
    """Where in the arena the bytes of an array of any layout lie."""
    places = np.asarray(target).__array_interface__["data"][0]
    places = np.array(places - arena.__array_interface__["data"][0])
    held = np.asarray(target)
    for length, stride in zip(held.shape, held.strides, strict=True):
        places = places[..., None] + np.arange(length) * stride
    return (places[..., None] + np.arange(held.itemsize)).reshape(-1)


WHOLE = [d for d in NUMBERS if products.of_integers("matmul", d)]


def _multiply(random: Generator) -> None:
    """Multiply matrices of integers of any layout, as NumPy does."""
    dtype = one_of(random, WHOLE)
    m, k, n = (int(2 ** random.uniform(0, 8)) for _ in range(3))
    stack = (2,) if random.random() < 0.2 else ()
    x, y = numbers(random, (*stack, m, k), dtype), numbers(random, (k, n), dtype)
    x, y = (backend.native(laid_out(random, each)) for each in (x, y))
    x = x[..., 0, :] if random.random() < 0.1 and not stack else x
    y = y[:, 0] if random.random() < 0.1 else y
    before = kernels.use_level(one_of(random, kernels.levels()))
    try:
        found, wanted = np.asarray(products.integer_matmul(x, y)), np.asarray(np.matmul(x, y))
    finally:
        kernels.use_level(before)
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    assert np.array_equal(found, wanted), (dtype, x.shape, y.shape, x.strides, y.strides)


ORDERED = [d for d in NUMBERS if ordering.computes("sort", d)]


def _order(random: Generator) -> None:
    """Sort and find numbers of which many are equal, or their bits, as the portable kernels do."""
    dtype = one_of(random, ORDERED)
    name = one_of(random, [name for name in ordering.KERNELS if ordering.computes(name, dtype)])
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
        found = ordering.KERNELS[name](*arrays, dtype, **options)
    with np.errstate(all="ignore"):
        wanted = linalg.call(backend, name, arrays, dtype, **options)
    assert len(found) == len(wanted)
    for (one, its), (other, theirs) in zip(found, wanted, strict=True):
        assert (one.dtype, one.shape, its) == (other.dtype, other.shape, theirs), (name, dtype)
        assert one.tobytes() == other.tobytes(), (name, dtype, options, x)


def _twins(dtype: dtypes.DType) -> Any:
    """Zeros and NaN of both signs, and of another payload, where a dtype has them."""
    if dtype.format is None:
        return np.zeros(1, dtype.storage)
    sign, nan = 1 << dtype.bits - 1, dtype.format.nan or 0
    codes = np.array([0, sign, nan, nan | sign, nan ^ 1], f"u{dtype.storage.itemsize}")
    return codes.view(dtype.storage)


SEARCHED = [*WHOLE, dtypes.float32, dtypes.float64]


def _search(random: Generator) -> None:
    """Search for numbers of any layout among sorted ones, as NumPy does."""
    dtype = one_of(random, SEARCHED)
    among = np.sort(numbers(random, (int(random.integers(0, 300)),), dtype))
    shape = tuple(int(n) for n in random.integers(0, 30, int(random.integers(0, 3))))
    values = numbers(random, shape, dtype)
    if among.size:
        values = np.where(random.random(shape) < 0.5, random.choice(among, shape), values)
    among, values = (backend.native(laid_out(random, each)) for each in (among, values))
    side = one_of(random, ["left", "right"])
    before = kernels.use_level(one_of(random, kernels.levels()))
    try:
        with np.errstate(all="raise"):
            found = np.asarray(searching.searchsorted(among, values, side=side))
    finally:
        kernels.use_level(before)
    with np.errstate(all="ignore"):
        wanted = np.asarray(np.searchsorted(among, values, side=side))
    assert (found.dtype, found.shape) == (wanted.dtype, wanted.shape)
    assert np.array_equal(found, wanted), (dtype, side, among, values)
