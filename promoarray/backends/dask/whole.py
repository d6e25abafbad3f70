"""Kernels that need some axes whole: linear algebra, Fourier transforms, and what sorts.

Those axes have to lie in one block each, and what to write otherwise is said; the kernel runs on
each block of the other axes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import dask.array as da
from dask.array.core import unify_chunks
from dask.base import tokenize

from promoarray.backends import backend_of
from promoarray.backends.dask.block_executable import BlockExecutable
from promoarray.backends.dask.storage import closed, opened
from promoarray.backends.dask.tree import Results, answers, few, in_one_block, meta_of, only
from promoarray.dtypes import DType

Labels = tuple[Any, ...]
"""What each axis is called. Axes of one label go together: of one length, or of 1."""


class Signature(NamedTuple):
    """What a kernel does with axes, as NumPy's generalized ufuncs say it.

    Attributes
    ----------
    inputs : sequence of Labels
    outputs : sequence of Labels
    whole : set
        The labels that have to lie in one block.
    made : mapping
        The few of those that no input has.
    """

    inputs: Sequence[Labels]
    outputs: Sequence[Labels]
    whole: frozenset[Any]
    made: Mapping[Any, float] = {}


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


def _rows() -> dict[str, tuple[list[Labels], list[Labels]]]:
    rows: dict[str, tuple[list[Labels], list[Labels]]] = {}
    for line in _TEXT.strip().splitlines():
        names, _, signature = line.partition("|")
        inputs, outputs = ([tuple(own.split()) for own in s.split(",")] for s in _sides(signature))
        rows |= dict.fromkeys(names.split(), (inputs, outputs))
    return rows


def _sides(signature: str) -> tuple[str, str]:
    inputs, _, outputs = signature.partition("->")
    return inputs, outputs


_ROWS = _rows()


def _of_matrices(
    kernel: str, arrays: tuple[da.Array, ...], options: Mapping[str, Any]
) -> Signature:
    """The row of the table, with the axes before the last two, which broadcast."""
    mode = {
        "qr": ":complete" * (options.get("mode") == "complete"),
        "svd": ":full" * bool(options.get("full_matrices")),
        "matrix_norm": ":keepdims" * bool(options.get("keepdims")),
        "solve": ":vector" * (arrays[-1].ndim == 1),
    }
    inputs, outputs = _ROWS[kernel + mode.get(kernel, "")]
    inputs = [*inputs, *[()] * (len(arrays) - len(inputs))]  # numbers, one for each matrix
    m, n = arrays[0].shape[-2:]
    before = [x.ndim - len(own) for x, own in zip(arrays, inputs, strict=True)]
    stack = max(before)
    return Signature(
        [(*range(stack - more, stack), *own) for more, own in zip(before, inputs, strict=True)],
        [(*range(stack), *own) for own in outputs],
        frozenset(label for own in inputs for label in own),
        {"k": min(m, n), "p": m, "q": n, "one": 1, "other": 1},
    )


# --- Cross products, Fourier transforms: the axes are named ---------------- ---------------------


def _of_cross(kernel: str, arrays: tuple[da.Array, ...], options: Mapping[str, Any]) -> Signature:
    ndim = max(x.ndim for x in arrays)
    labels = [tuple(range(ndim - x.ndim, ndim)) for x in arrays]
    axis = options["axis"] % ndim
    return Signature(labels, [tuple(range(ndim))], frozenset({axis}))


def _same_length(had: int, n: int | None) -> int:
    return had if n is None else n


def _half_length(had: int, n: int | None) -> int:
    return _same_length(had, n) // 2 + 1


def _double_length(had: int, n: int | None) -> int:
    return 2 * (had - 1) if n is None else n


_LENGTHS: dict[str, Callable[[int, int | None], int]] = {
    **dict.fromkeys(("fft", "ifft", "fftn", "ifftn"), _same_length),
    **dict.fromkeys(("rfft", "rfftn", "ihfft"), _half_length),
    **dict.fromkeys(("irfft", "irfftn", "hfft"), _double_length),
}
"""How long the last transformed axis becomes, of how long it was and the length asked for."""


def _of_transforms(
    kernel: str, arrays: tuple[da.Array, ...], options: Mapping[str, Any]
) -> Signature:
    (x,) = arrays
    axes, wanted = options.get("axes"), options.get("s")
    if "axis" in options:
        axes, wanted = (options["axis"],), None if options["n"] is None else (options["n"],)
    elif axes is None:
        axes = range(x.ndim - len(wanted), x.ndim) if wanted is not None else range(x.ndim)
    axes = [a % x.ndim for a in axes]
    wanted = wanted or (None,) * len(axes)
    made: dict[Any, float] = {}
    for axis, n in zip(axes, wanted, strict=True):
        rule = kernel if axis == axes[-1] else "fft"  # the others are transformed as they are
        made[f"n{axis}"] = _LENGTHS[rule](x.shape[axis], n)
    every = range(x.ndim)
    out = tuple(f"n{a}" if a in axes else a for a in every)
    return Signature([tuple(every)], [out], frozenset(axes), made)


# --- Running them ---------------------------------------------------------------------------------


def over_blocks(
    kernel: str, arrays: tuple[da.Array, ...], compute: DType, **options: Any
) -> Results:
    """``call`` of the back ends for the kernels in ``GRAPHS``."""
    named: tuple[str, ...] = ()
    if isinstance(options.get("rtol"), da.Array):  # one for each matrix
        arrays, named = (*arrays, options.pop("rtol")), ("rtol",)
    described: Callable[..., Signature] = _SIGNATURES.get(kernel, _of_matrices)
    signature = described(kernel, arrays, options)
    return run(kernel, arrays, compute, signature, named, **options)


def run(
    kernel: str,
    arrays: tuple[da.Array, ...],
    compute: DType,
    signature: Signature,
    named: tuple[str, ...] = (),
    **options: Any,
) -> Results:
    """Run a kernel on the blocks of axes that do not have to be whole.

    Parameters
    ----------
    kernel : str
    arrays : tuple of da.Array
        The last of them are options that are arrays, whose names are ``named``.
    compute : DType
    signature : Signature
        Of all of them.
    named : tuple of str
    **options
        The kernel's other options.

    Raises
    ------
    ValueError
        If an axis that has to be whole lies in several blocks.
    """
    for x, labels in zip(arrays, signature.inputs, strict=True):
        whole = tuple(axis for axis, label in enumerate(labels) if label in signature.whole)
        if any(x.numblocks[axis] > 1 for axis in whole):
            raise ValueError(in_one_block(kernel, x, whole))
    made = _dtypes(kernel, arrays, compute, signature, named, options)
    pairs: list[Any] = [e for pair in zip(arrays, signature.inputs, strict=True) for e in pair]
    chunks, aligned = unify_chunks(*pairs, warn=False)
    pairs[::2] = aligned
    task = _executable(kernel, compute, named, len(made), tuple(options.items())).in_state()
    token = tokenize([x.name for x in aligned], signature.inputs, task)
    if len(made) == 1:
        found = _blocks(task, signature.outputs[0], pairs, signature, made[0], f"{kernel}-{token}")
        return ((found, made[0]),)
    loops = tuple(sorted(label for label in chunks if label not in signature.whole))
    every = _blocks(task, loops, pairs, signature, made[0], f"{kernel}-{token}")
    outs = (
        _blocks(
            _pick(which),
            labels,
            [every, loops],
            signature._replace(made={**{a: sum(c) for a, c in chunks.items()}, **signature.made}),
            dtype,
            f"{kernel}-{which}-{token}",
        )
        for which, (labels, dtype) in enumerate(zip(signature.outputs, made, strict=True))
    )
    return tuple(zip(outs, made, strict=True))


def _blocks(
    task: Callable[..., Any],
    out: Labels,
    pairs: Sequence[Any],
    signature: Signature,
    dtype: DType,
    name: str,
) -> da.Array:
    there = dict.fromkeys(label for own in pairs[1::2] for label in own)
    numbers = {label: i for i, label in enumerate({**there, **dict.fromkeys(out)})}
    numbered = list(pairs)
    numbered[1::2] = [[numbers[label] for label in own] for own in pairs[1::2]]
    return da.blockwise(
        task,
        [numbers[label] for label in out],
        *numbered,
        name=name,
        new_axes={numbers[a]: signature.made[a] for a in out if a not in there},
        align_arrays=True,
        meta=meta_of(len(out), dtype),
    )


def _dtypes(
    kernel: str,
    arrays: tuple[da.Array, ...],
    compute: DType,
    signature: Signature,
    named: tuple[str, ...],
    options: dict[str, Any],
) -> tuple[DType, ...]:
    """What the kernel answers in: asked of small operands, few that are asked for small too."""
    operands = arrays[: len(arrays) - len(named)]
    if kernel in _LENGTHS:
        return answers(kernel, compute, ((2, 2),), norm="backward")
    if kernel == "cross":
        return answers(kernel, compute, ((3,), (3,)), axis=-1)
    if "rtol" in named:
        options = {**options, "rtol": 0.5}
    return answers(kernel, compute, tuple(map(few, operands)), **options)


@lru_cache(maxsize=1024)
def _executable(
    kernel: str,
    compute: DType,
    named: tuple[str, ...],
    results: int,
    options: tuple[tuple[str, Any], ...],
) -> BlockExecutable:
    return BlockExecutable(kernel_of_whole, kernel, compute, named, results, options)


def kernel_of_whole(
    kernel: str,
    compute: DType,
    named: tuple[str, ...],
    results: int,
    options: tuple[tuple[str, Any], ...],
) -> Callable[..., Any]:
    """Make what runs a kernel on blocks: one result, or a tuple of them."""

    def run(*blocks: Any) -> Any:
        found = tuple(map(only, blocks))
        operands = tuple(opened(x, compute) for x in found[: len(found) - len(named)])
        more = dict(zip(named, found[len(operands) :], strict=True))
        backend = backend_of(operands[0])
        outs = backend.call(kernel, operands, compute, **dict(options), **more)
        made = tuple(closed(*out) for out in outs)
        return made if results > 1 else made[0]

    return run


@lru_cache
def _pick(which: int) -> BlockExecutable:
    return BlockExecutable(picked, which)


def picked(which: int) -> Callable[[Any], Any]:
    """Make what takes one result of several."""
    return lambda found: only(found)[which]


_SIGNATURES: dict[str, Callable[..., Signature]] = {
    "cross": _of_cross,
    **dict.fromkeys(_LENGTHS, _of_transforms),
}

GRAPHS: dict[str, Callable[..., Results]] = dict.fromkeys(
    (*(name for name in _ROWS if ":" not in name), *_SIGNATURES), over_blocks
)
