"""Lazy arrays in random chunks: the answers of arrays in memory, to the bit, and their refusals.

A program of a few operations runs on both: elementwise, reductions, products, what sorts, moves,
indices and assignment; of dtypes, policies, shapes and chunks drawn at random. An error may come
when values are computed, in the same words; what needs an axis in one block may be refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import dask
import numpy as np
from numpy.random import Generator

import promoarray as pa
from fuzz.layouts import STORED, bits, numbers, one_of
from promoarray import dtypes
from promoarray.backends.dask.buffer import Buffer

Step = Callable[[Generator, Any, Any], Any]

SCALARS = (True, 0, 1, -3, 2, 300, 2**40, 0.0, -0.0, 1.5, 1e300, float("nan"), 1 + 2j)
LATER = ("in one block", "computed later", "not known before", "unknown length", "no memory for")
LATER += ("lies in memory", "an array in memory is not indexed", "does not broadcast to (None")
"""Words of what lazy arrays alone refuse; shapes they compare before values, which come later."""


def once(random: Generator) -> None:
    """A program on an array in memory and on a lazy one."""
    dtype, other = one_of(random, STORED), one_of(random, STORED)
    shape = tuple(int(n) for n in random.integers(0 if random.random() < 0.1 else 1, 7, 3))
    x = pa.PArray._wrap(_values(random, shape[: int(random.integers(4))], dtype), dtype)
    y = one_of(random, SCALARS)
    if random.random() < 0.6:
        y = pa.PArray._wrap(_values(random, _beside(random, x.shape), other), other)
    steps = [(one_of(random, STEPS), int(random.integers(2**32))) for _ in range(3)]
    policy = one_of(random, pa.list_policies())
    ignored = warnings.catch_warnings(), np.errstate(all="ignore"), pa.policy(policy)
    with ignored[0], ignored[1], ignored[2], dask.config.set(scheduler="synchronous"):
        warnings.simplefilter("ignore")
        here = _run(steps, x, y)
        there = _run(steps[: here[1]], _lazy(random, x), _lazy(random, y))
        wanted, given = _told(here[0]), _told(there[0])
    if here[1] != there[1] or wanted != given:
        assert isinstance(there[0], Exception), (policy, steps, x, y, here[0], there[0], given)
        said = str(there[0])
        at_once = isinstance(here[0], ZeroDivisionError) and "do not match" in said
        shown = (policy, steps, x, y, here[0], there[0])
        assert at_once or any(words in said for words in LATER), shown


def _run(steps: list[tuple[Step, int]], x: Any, y: Any) -> tuple[Any, int]:
    """What comes of some steps, or the error of one, and how many were made."""
    for done, (step, seed) in enumerate(steps, 1):
        try:
            x = step(np.random.default_rng(seed), x, y)
        except Exception as error:
            return error, done
        if not isinstance(x, pa.PArray):
            return x, done
        if None in x.shape:
            x.compute_chunk_sizes()
    return x, len(steps)


def _told(found: Any) -> Any:
    """All that one can tell of arrays, or of an error."""
    if isinstance(found, tuple):
        return [_told(each) for each in found]
    if isinstance(found, pa.PArray) and found.device == "dask":
        lazily, type_ = found, found._type
        try:
            found = found.compute()
        except Exception as error:
            return _told(error)
        assert found._type is type_, (found, type_)
        assert lazily.shape == found.shape or None in lazily.shape, (lazily, found)
    if isinstance(found, IndexError):  # whose words are NumPy's, of this function or that
        return IndexError
    if isinstance(found, Exception):  # what it says to write hangs on values, which come later
        return type(found), str(found).partition(" Write ")[0]
    return (found._type, found.shape, bits(found._buffer)) if hasattr(found, "_type") else found


def _values(random: Generator, shape: tuple[int, ...], dtype: dtypes.DType) -> Any:
    """Random bits, or small whole numbers."""
    if random.random() < 0.5:
        return numbers(random, shape, dtype)
    return random.integers(0, 4, shape).astype(np.float32).astype(dtype.storage)


def _beside(random: Generator, shape: tuple[int, ...]) -> tuple[int, ...]:
    """A shape that broadcasts with another."""
    own = [n if random.random() < 0.7 else 1 for n in shape]
    return tuple(own[int(random.integers(len(own) + 1)) :] if random.random() < 0.5 else own)


def _lazy(random: Generator, x: Any) -> Any:
    """The same array in chunks of any lengths; a scalar, and a few arrays, as they are."""
    if not isinstance(x, pa.PArray) or (x.ndim < 2 and random.random() < 0.1):
        return x
    chunks = tuple(_chunks(random, n) for n in x.shape)
    return x.to_device("dask").rechunk(chunks) if x.ndim else x.to_device("dask")


def _chunks(random: Generator, length: int) -> tuple[int, ...]:
    cuts = sorted({0, length, *(int(n) for n in random.integers(0, length + 1, 3))})
    return tuple(b - a for a, b in pairwise(cuts)) or (0,)


# --- Steps ----------------------------------------------------------------------------------------


def _whole(x: Any) -> Any:
    """In one block, where it is lazy: for what rounds by the order of terms, and what sorts."""
    return x.rechunk(-1) if x.device == "dask" and x.ndim else x


def _exactly(reduce: Callable[..., Any]) -> Step:
    """A sum of integers; of floats, and what is divided, in one block."""

    def step(random: Generator, x: Any, y: Any) -> Any:
        floats = x.dtype.kind in (dtypes.Kind.FLOAT, dtypes.Kind.COMPLEX)
        if floats or reduce not in (pa.sum, pa.prod):
            x = _whole(x)
        return reduce(x, **_axis(random, x))

    return step


def _axis(random: Generator, x: Any) -> dict[str, Any]:
    options: dict[str, Any] = {"keepdims": True} if random.random() < 0.3 else {}
    if random.random() < 0.6:
        options["axis"] = int(random.integers(-x.ndim, x.ndim + 1))
    return options


def _reduced(reduce: Callable[..., Any]) -> Step:
    return lambda random, x, y: reduce(x, **_axis(random, x))


def _along(function: Callable[..., Any], *, whole: bool = False) -> Step:
    def step(random: Generator, x: Any, y: Any) -> Any:
        axis = int(random.integers(-max(x.ndim, 1), max(x.ndim, 1)))
        return function(_whole(x) if whole else x, axis=axis)

    return step


def _key(random: Generator, x: Any) -> tuple[Any, ...]:
    """Parts of a key: in memory all of them, or lazy arrays too."""
    parts = [_part(random, n, lazily=x.device == "dask") for n in x.shape]
    parts = parts[: int(random.integers(len(parts) + 1))]
    for extra in (None, Ellipsis):
        if random.random() < 0.1:
            parts.insert(int(random.integers(len(parts) + 1)), extra)
    return tuple(parts)


def _part(random: Generator, n: int, *, lazily: bool) -> Any:
    way, is_later = int(random.integers(8)), bool(random.random() < 0.5)
    ends = [int(i) for i in random.integers(-n - 1, n + 2, 2)]
    step = int(random.integers(1, 4)) * (-1 if random.random() < 0.5 else 1)
    indices = random.integers(-n, max(n, 1), (3, 2)[: int(random.integers(1, 3))])
    mask = random.random(n) < 0.5
    if way < 4:
        return slice(*ends, step) if way else slice(None)
    if way < 6:
        return ends[0]
    index = pa.asarray(indices if way == 6 else mask)
    return index.to_device("dask") if lazily and is_later else index


def _read(random: Generator, x: Any, y: Any) -> Any:
    return x[_key(random, x)]


def _written(random: Generator, x: Any, y: Any) -> Any:
    target, key = pa.asarray(x, copy=True), _key(random, x)
    target[key] = _assigned(random, x, key, y)
    return target


def _assigned(random: Generator, x: Any, key: tuple[Any, ...], y: Any) -> Any:
    """What is written: a scalar, an array of the place's shape or one beside it, or ``y``."""
    if not isinstance(y, pa.PArray) or random.random() < 0.2:
        return y
    try:
        room = np.broadcast_to(np.int8(0), x.shape)[tuple(map(_here, key))].shape
    except IndexError:
        return y
    ways = room, _beside(random, room), (1, *room), (*room, 2), ()
    dtype = one_of(random, (x.dtype, y.dtype))
    values = pa.PArray._wrap(_values(random, one_of(random, ways), dtype), dtype)
    made = _lazy(random, values)
    return made if x.device == "dask" else values


def _here(part: Any) -> Any:
    """A part of a key in memory."""
    if isinstance(part, pa.PArray):
        return np.asarray(part.compute() if part.device == "dask" else part)
    return part


def _raised(random: Generator, x: Any, y: Any) -> Any:
    """A power of integers; of floats NumPy's own hangs on where they lie."""
    return pa.pow(pa.astype(x, pa.int16), pa.astype(pa.asarray(y), pa.int16))


def _added(random: Generator, x: Any, y: Any) -> Any:
    target = pa.asarray(x, copy=True)
    target += y
    return target


def _where_true(random: Generator, x: Any, y: Any) -> Any:
    mask = x == y
    return x[mask] if random.random() < 0.5 else pa.nonzero(mask)


def _taken(random: Generator, x: Any, y: Any) -> Any:
    axis = int(random.integers(-max(x.ndim, 1), max(x.ndim, 1)))
    index = pa.asarray(random.integers(-2, 3, (2,)))
    is_later = x.device == "dask" and random.random() < 0.5
    return pa.take(x, index.to_device("dask") if is_later else index, axis=axis)


def _spread(random: Generator, x: Any, y: Any) -> Any:
    times = pa.asarray(random.integers(0, 3, x.shape[0] if x.ndim else 1))
    is_later = x.device == "dask" and random.random() < 0.5
    return pa.repeat(x, times.to_device("dask") if is_later else times, axis=0 if x.ndim else None)


def _reshaped(random: Generator, x: Any, y: Any) -> Any:
    size, first = x.size, int(random.integers(1, 7))
    return pa.reshape(x, (first, -1) if size and size % first == 0 else (-1,))


def _multiplied(random: Generator, x: Any, y: Any) -> Any:
    if x.dtype.kind in (dtypes.Kind.FLOAT, dtypes.Kind.COMPLEX):
        x = pa.astype(x, pa.int8)  # of floats BLAS orders the terms by shapes
    return pa.matmul(x, x.mT if x.ndim > 1 else x)


def _decomposed(random: Generator, x: Any, y: Any) -> Any:
    names = "det", "inv", "slogdet", "svdvals", "matrix_rank", "pinv", "cholesky"
    return getattr(pa.linalg, one_of(random, names))(_whole(x))


def _norm(random: Generator, x: Any, y: Any) -> Any:
    order = one_of(random, (np.inf, -np.inf, 0, 1, 2, 2.5))
    x = x if order in (np.inf, -np.inf, 0) else _whole(x)
    axis = int(random.integers(-x.ndim, x.ndim + 1)) if random.random() < 0.6 else None
    return pa.linalg.vector_norm(x, axis=axis, ord=order, keepdims=bool(random.random() < 0.3))


def _found(random: Generator, x: Any, y: Any) -> Any:
    names = "unique_values", "unique_counts", "unique_inverse", "unique_all"
    return getattr(pa, one_of(random, names))(_whole(x))


def _of_two(function: Callable[[Any, Any], Any]) -> Step:
    return lambda random, x, y: function(x, y) if random.random() < 0.7 else function(y, x)


def _of_one(function: Callable[[Any], Any]) -> Step:
    return lambda random, x, y: function(x)


STEPS: list[Step] = [
    *map(
        _of_two,
        (
            *(pa.add, pa.subtract, pa.multiply, pa.divide, pa.floor_divide, pa.remainder),
            *(pa.less, pa.equal, pa.maximum, pa.bitwise_and, pa.logical_or, pa.atan2),
            *(lambda x, y: x + y, lambda x, y: x * y, lambda x, y: x - y),
            lambda x, y: pa.where(x == x, x, y),
            lambda x, y: pa.clip(x, y),
            lambda x, y: pa.concat([x, y], axis=None),
            lambda x, y: pa.isin(x, _whole(y) if isinstance(y, pa.PArray) else y),
        ),
    ),
    *map(
        _of_one,
        (
            *(pa.abs, pa.negative, pa.exp, pa.sqrt, pa.floor, pa.round, pa.isnan, pa.sign),
            *(pa.tril, pa.triu, pa.matrix_transpose, pa.conj, pa.logical_not, pa.ones_like),
            lambda x: pa.astype(x, pa.int8),
            lambda x: pa.astype(x, pa.bfloat16),
            lambda x: pa.astype(x, pa.float8_e4m3fn),
            lambda x: x.view(f"uint{x.dtype.bits}"),
            lambda x: pa.roll(x, 2),
            lambda x: pa.tile(x, (2, 1)),
            lambda x: pa.expand_dims(x, axis=0),
            lambda x: pa.broadcast_to(x, (2, *x.shape)),
            lambda x: pa.linalg.diagonal(x),
            lambda x: pa.linalg.trace(_whole(x)),
        ),
    ),
    *map(_exactly, (pa.sum, pa.prod, pa.mean, pa.var, pa.std)),
    *map(_reduced, (pa.max, pa.min, pa.all, pa.any, pa.argmax, pa.argmin, pa.count_nonzero)),
    *map(_along, (pa.cumulative_sum, pa.cumulative_prod, pa.flip, pa.diff)),
    *(_along(each, whole=True) for each in (pa.sort, pa.argsort, pa.fft.fft)),
    *(_read, _read, _read, _written, _written, _added, _where_true, _taken, _spread, _reshaped),
    *(_multiplied, _decomposed, _found, _raised, _norm),
]

assert Buffer  # the back end is there: without Dask all of this would pass over nothing
