"""Kernels that need some axes whole: linear algebra, Fourier transforms, what sorts and finds.

Those axes have to lie in one block each, and what to write otherwise is said; the kernel runs on
each block of the other axes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import nan
from typing import Any, NamedTuple

import dask.array as da
from dask.array.core import unify_chunks

from promoarray.backends.dask.block_executable import executable
from promoarray.backends.dask.blocks import (
    Results,
    answers,
    few,
    in_one_block,
    kernel_on_blocks,
    on_blocks,
    only,
)
from promoarray.backends.dask.buffer import Blocks
from promoarray.dtypes import DType

Labels = tuple[str, ...]
"""One for each axis. Axes of one label go together: of one length, or of 1."""


class Signature(NamedTuple):
    """What a kernel does with axes, as NumPy's generalized ufuncs say it."""

    inputs: Sequence[Labels]
    outputs: Sequence[Labels]
    whole: frozenset[str] = frozenset()  # the labels that have to lie in one block
    made: Mapping[str, float] = {}  # the lengths of those that no input has
    partial: Labels = ()  # those along which each block gives one partial result; they come first


def axes_of(ndim: int, some: int | None = None) -> Labels:
    """The labels of as many axes; of the last of them, if there are ``some``."""
    labels = tuple(f"axis {a}" for a in range(ndim))
    return labels if some is None else labels[ndim - some :]


def run(
    kernel: str,
    arrays: tuple[Blocks, ...],
    compute: DType,
    signature: Signature,
    made: tuple[DType, ...] = (),
    named: Labels = (),
    **options: Any,
) -> Results:
    """Run a kernel on the blocks of axes that do not have to be whole.

    The last arrays are the options called ``named``. The dtypes it answers in are asked of ones,
    where they are not given as ``made``.

    Raises ValueError if an axis that has to be whole lies in several blocks.
    """
    for x, labels in zip(arrays, signature.inputs, strict=True):
        in_one_block(kernel, x, [a for a, label in enumerate(labels) if label in signature.whole])
    operands = arrays[: len(arrays) - len(named)]
    made = made or answers(kernel, compute, tuple(map(few, operands)), **options)
    given = [each for pair in zip(arrays, signature.inputs, strict=True) for each in pair]
    chunks, aligned = unify_chunks(*given, warn=False)
    pairs = list(zip(aligned, signature.inputs, strict=True))
    fields = kernel, compute, tuple(options.items()), named, len(signature.partial)
    task = executable(kernel_on_blocks, *fields)
    several = len(made) > 1
    loops = tuple(sorted(label for label in chunks if label not in signature.whole))
    adjusted = {**chunks, **dict.fromkeys(signature.partial, 1)}

    def blocks(task: Any, pairs: Any, out: Labels, dtype: DType) -> Blocks:
        there = {label for _, own in pairs for label in own}
        lengths = {**{a: sum(c) for a, c in chunks.items()}, **signature.made}
        return on_blocks(
            task, out, pairs, dtype, kernel,
            new_axes={a: lengths[a] for a in out if a not in there},
            adjust_chunks={a: adjusted[a] for a in out if a in there},
            align_arrays=False,
        )  # fmt: skip

    if several:  # one task gives them all, and others take each out of it
        pairs = [(blocks(task, pairs, loops, made[0]), loops)]
    return tuple(
        (blocks(executable(picked, which) if several else task, pairs, out, dtype), dtype)
        for which, (out, dtype) in enumerate(zip(signature.outputs, made, strict=True))
    )


def picked(which: int) -> Callable[[Any], Any]:
    """One result of several, for ``BlockExecutable``."""
    return lambda found: only(found)[which]


# --- Linear algebra: the last two axes are whole --------------------------------------------------

_TEXT = """
cholesky inv matrix_power      | m n -> m n
det matrix_rank matrix_norm    | m n ->
matrix_norm:keepdims           | m n -> one other
pinv                           | m n -> n m
qr                             | m n -> m k, k n
qr:complete                    | m n -> m p, p n
slogdet                        | m n -> ,
svd                            | m n -> m k, k, k n
svd:full                       | m n -> m p, k, q n
svdvals                        | m n -> k
eig eigh                       | m n -> m, m n
eigvals eigvalsh               | m n -> m
solve                          | m n, m r -> n r
solve:vector                   | m n, m -> n
"""
"""k is the smaller of m and n, p is m and q is n once more."""

_ROWS: dict[str, list[list[Labels]]] = {
    name: [[tuple(own.split()) for own in side.split(",")] for side in text.split("->")]
    for line in _TEXT.strip().splitlines()
    for names, _, text in [line.partition("|")]
    for name in names.split()
}


def of_matrices(kernel: str, arrays: tuple[Blocks, ...], compute: DType, **options: Any) -> Results:
    """Run the row of the table, with the axes before the last two, which broadcast."""
    named: Labels = ()
    if isinstance(options.get("rtol"), da.Array):  # one for each matrix
        arrays, named = (*arrays, options.pop("rtol")), ("rtol",)
    mode = {
        "qr": ":complete" * (options.get("mode") == "complete"),
        "svd": ":full" * bool(options.get("full_matrices")),
        "matrix_norm": ":keepdims" * bool(options.get("keepdims")),
        "solve": ":vector" * (arrays[-1].ndim == 1),
    }
    inputs, outputs = _ROWS[kernel + mode.get(kernel, "")]
    inputs = [*inputs, *[()] * len(named)]
    m, n = arrays[0].shape[-2:]
    before = [x.ndim - len(own) for x, own in zip(arrays, inputs, strict=True)]
    stack = max(before)
    signature = Signature(
        [(*axes_of(stack, more), *own) for more, own in zip(before, inputs, strict=True)],
        [(*axes_of(stack), *own) for own in outputs],
        frozenset(label for own in inputs for label in own),
        {"k": min(m, n), "p": m, "q": n, "one": 1, "other": 1},
    )
    asked = {**options, **dict.fromkeys(named, 0.5)}
    made = answers(kernel, compute, tuple(map(few, arrays[: len(arrays) - len(named)])), **asked)
    return run(kernel, arrays, compute, signature, made, named, **options)


def cross(kernel: str, arrays: tuple[Blocks, ...], compute: DType, *, axis: int) -> Results:
    """Cross products along an axis."""
    ndim = max(x.ndim for x in arrays)
    every = axes_of(ndim)
    labels = [axes_of(ndim, x.ndim) for x in arrays]
    made = answers(kernel, compute, ((3,), (3,)), axis=-1)
    signature = Signature(labels, [every], frozenset({every[axis]}))
    return run(kernel, arrays, compute, signature, made, axis=axis)


# --- Fourier transforms ---------------------------------------------------------------------------


_TRANSFORMS = ("fft", "ifft", "fftn", "ifftn")
_TO_HALF = ("rfft", "rfftn", "ihfft")
_FROM_HALF = ("irfft", "irfftn", "hfft")


def _length(kernel: str, had: int, n: int | None) -> int:
    """The length of the last transformed axis, of the one it had and the one that is asked for."""
    if kernel in _FROM_HALF:
        return 2 * (had - 1) if n is None else n
    length = had if n is None else n
    return length // 2 + 1 if kernel in _TO_HALF else length


def transform(kernel: str, arrays: tuple[Blocks, ...], compute: DType, **options: Any) -> Results:
    """Transform the axes named, or all."""
    (x,) = arrays
    axes, wanted = options.get("axes"), options.get("s")
    if "axis" in options:
        axes, wanted = (options["axis"],), None if options["n"] is None else (options["n"],)
    elif axes is None:
        axes = range(x.ndim - len(wanted), x.ndim) if wanted is not None else range(x.ndim)
    axes = [a % x.ndim for a in axes]
    wanted = wanted or (None,) * len(axes)
    lengths: dict[str, float] = {}
    every = list(axes_of(x.ndim))
    out = list(every)
    for axis, n in zip(axes, wanted, strict=True):
        rule = kernel if axis == axes[-1] else "fft"  # the others are transformed as they are
        out[axis] = f"transformed {axis}"
        lengths[out[axis]] = _length(rule, x.shape[axis], n)
    whole = frozenset(every[a] for a in axes)
    signature = Signature([tuple(every)], [tuple(out)], whole, lengths)
    asked = {key: None if key in ("n", "s") else value for key, value in options.items()}
    made = answers(kernel, compute, ((2,) * x.ndim,), **asked)
    return run(kernel, arrays, compute, signature, made, **options)


# --- What sorts and finds -------------------------------------------------------------------------


def sort(
    kernel: str, arrays: tuple[Blocks, ...], compute: DType, *, axis: int = -1, **options: Any
) -> Results:
    """Sort along an axis, or give the indices that do."""
    every = axes_of(arrays[0].ndim)
    signature = Signature([every], [every], frozenset({every[axis]}))
    return run(kernel, arrays, compute, signature, axis=axis, **options)


_FOUND: dict[str, Callable[[Labels], list[Labels]]] = {
    "unique_values": lambda every: [("found",)],
    "unique_counts": lambda every: [("found",), ("found",)],
    "unique_inverse": lambda every: [("found",), every],
    "unique_all": lambda every: [("found",), ("found",), every, ("found",)],
}


def unique(kernel: str, arrays: tuple[Blocks, ...], compute: DType) -> Results:
    """Find the values that differ, whose number is known once they are computed."""
    every = axes_of(arrays[0].ndim)
    signature = Signature([every], _FOUND[kernel](every), frozenset(every), {"found": nan})
    return run(kernel, arrays, compute, signature)


def isin(
    kernel: str, arrays: tuple[Blocks, ...], compute: DType, *, invert: bool = False
) -> Results:
    """Tell which elements of the first array are among those of the second."""
    every = axes_of(arrays[0].ndim)
    among = tuple(f"among {a}" for a in range(arrays[1].ndim))
    signature = Signature([every, among], [every], frozenset(among))
    return run(kernel, arrays, compute, signature, invert=invert)


def searchsorted(
    kernel: str,
    arrays: tuple[Blocks, ...],
    compute: DType,
    *,
    sorter: Blocks | None = None,
    **options: Any,
) -> Results:
    """Find where values belong among sorted ones."""
    line, every = ("line",), axes_of(arrays[1].ndim)
    named = () if sorter is None else ("sorter",)
    given = arrays if sorter is None else (*arrays, sorter)
    signature = Signature([line, every, line][: len(given)], [every], frozenset(line))
    return run(kernel, given, compute, signature, (), named, **options)


GRAPHS: dict[str, Callable[..., Results]] = {
    **dict.fromkeys((name for name in _ROWS if ":" not in name), of_matrices),
    **dict.fromkeys((*_TRANSFORMS, *_TO_HALF, *_FROM_HALF), transform),
    **dict.fromkeys(_FOUND, unique),
    "cross": cross,
    "sort": sort,
    "argsort": sort,
    "isin": isin,
    "searchsorted": searchsorted,
}
