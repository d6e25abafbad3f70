"""Kernels of linear algebra, Fourier transforms, sets and sorting, the same for every backend
(NumPy's sorts floats faster: ``backends.numpy.ordering``).

They are array-api-compat's, over the backend's ``xp``, where those have what the standard asks for.
Sorting and sets look at the values in a dtype that the library
can compare (float32 for the narrow floats, which holds them exactly); what moves are the bits, so
that NaN stay the NaN they were. NaN comes last; -0.0 and 0.0 are equal and stay in order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError  # which CuPy raises, too

from promoarray import dtypes as dt
from promoarray.dtypes import DType, Kind

Buffer = Any
Kernel = Callable[..., Any]
Results = tuple[tuple[Buffer, DType], ...]


def call(
    backend: Any, name: str, buffers: tuple[Buffer, ...], compute: DType, **options: Any
) -> Results:
    """Run a kernel on buffers that all hold ``compute``; see ``call`` in ``promoarray.backends``.

    Raises ValueError if a matrix is singular, or not positive definite, or a computation does not
    converge.
    """
    if name in ORDERINGS:
        return ORDERINGS[name](backend, *buffers, compute, **options)
    if name in MOVES:
        return ((MOVES[name](backend.xp, *buffers, **options), compute),)
    if compute is dt.bool and name == "cross":  # bools are not subtracted
        buffers = tuple(b.astype(backend.storage(dt.int8)) for b in buffers)
    try:
        out = KERNELS[name](backend.xp, *buffers, **options)
    except LinAlgError as error:
        raise type(error)(f"{name}: {_why(name, str(error))}") from None
    outs = out if isinstance(out, tuple) else (out,)
    results = [_apart(backend.xp.asarray(each), buffers) for each in outs]
    return tuple([(result, backend.dtype_of(result)) for result in results])


def _apart(result: Buffer, buffers: tuple[Buffer, ...]) -> Buffer:
    """A result in memory of its own, where it is an operand."""
    for buffer in buffers:
        if result is buffer:
            return result.copy()
    return result


def _why(name: str, said: str) -> str:
    if "ingular" in said:
        return "a matrix is singular; pa.linalg.pinv has an answer for it"
    return said[:1].lower() + said[1:]


# --- linear algebra -------------------------------------------------------------------------------


def _of(module: str, name: str) -> Kernel:
    """array-api-compat's function, found when it is first called."""

    def kernel(xp: Any, *buffers: Buffer, **options: Any) -> Any:
        function = getattr(getattr(xp, module), name, None)
        if function is None:
            library = xp.__name__.rpartition(".")[2]
            raise TypeError(f"{library} has no {name}; write x.to_device('cpu')")
        return function(*buffers, **options)

    return kernel


def _cholesky(xp: Any, x: Buffer, *, upper: bool) -> Buffer:
    lower = xp.linalg.cholesky(x)
    return xp.conj(xp.matrix_transpose(lower)) if upper else lower


def _cross(xp: Any, x: Buffer, y: Buffer, *, axis: int) -> Buffer:
    return xp.linalg.cross(*xp.broadcast_arrays(x, y), axis=axis)


def _matrix_power(xp: Any, x: Buffer, *, n: int) -> Buffer:
    """By squaring; the library's own loses the dtype of no matrix at all."""
    out = None
    while n:
        if n & 1:
            out = x if out is None else out @ x
        n >>= 1
        x = x @ x if n else x
    if out is None:
        return xp.broadcast_to(xp.eye(x.shape[-1], dtype=x.dtype), x.shape).copy()
    return out


def _of_nothing(kernel: Kernel) -> Kernel:
    """Give 0 for the norm or the rank of a matrix without elements, which the library refuses."""

    def run(xp: Any, x: Buffer, **options: Any) -> Buffer:
        if 0 not in x.shape[-2:]:
            return kernel(xp, x, **options)
        shape = (*x.shape[:-2], 1, 1) if options.get("keepdims") else x.shape[:-2]
        return xp.zeros(shape, dtype=xp.abs(x).dtype)

    return run


def _vector_norm(
    xp: Any, x: Buffer, *, axis: tuple[int, ...], ord: float, keepdims: bool = False
) -> Buffer:
    x, shape = _flat(xp, x, axis)
    *rest, length = x.shape
    if not length and 0 not in rest:
        if ord < 0:
            raise ValueError(f"vector_norm of order {ord} of no elements: there is no smallest one")
        ord = 0  # whatever the order, the norm of none is 0
    norm = xp.linalg.norm(x, axis=-1, ord=ord)
    return norm.reshape(shape) if keepdims else norm


def _flat(xp: Any, x: Buffer, axes: tuple[int, ...]) -> tuple[Buffer, tuple[int, ...]]:
    """The axes that are reduced as one, the last; and the shape with 1 in their place."""
    if axes == (0,) and x.ndim == 1:
        return x, (1,)
    every = range(x.ndim)
    kept = [a for a in every if a not in axes]
    shape = tuple(1 if a in axes else x.shape[a] for a in every)
    moved = xp.permute_dims(x, (*kept, *axes))
    size = 1
    for a in axes:
        size *= x.shape[a]
    return moved.reshape((*(x.shape[a] for a in kept), size)), shape


def _pinv(xp: Any, x: Buffer, *, rtol: Any) -> Buffer:
    if x.size:
        return xp.linalg.pinv(x, rtol=rtol)
    return xp.zeros((*x.shape[:-2], x.shape[-1], x.shape[-2]), dtype=x.dtype)


def _half(name: str) -> Kernel:
    """A transform of a first half: where there is none of it, and zeros are to be appended, NumPy
    reads memory behind it."""
    transform = _of("fft", name)

    def kernel(xp: Any, x: Buffer, **options: Any) -> Any:
        axis = options["axes"][-1] if "axes" in options else options["axis"]
        length = options["n"] if "n" in options else (options["s"] or (None,))[-1]
        if not x.shape[axis] and length and length > 0:
            shape = list(x.shape)
            shape[axis] = 1
            x = xp.zeros(tuple(shape), dtype=x.dtype)
        return transform(xp, x, **options)

    return kernel


def _over_any(name: str) -> Kernel:
    """A transform over any number of axes, complex over none of them, too."""
    transform = _of("fft", name)

    def kernel(xp: Any, x: Buffer, **options: Any) -> Any:
        made = transform(xp, x, **options)
        return made if made.dtype.kind == "c" else made.astype(xp.result_type(made, xp.complex64))

    return kernel


def _shifted(name: str) -> Kernel:
    """A shift of the frequency zero, which NumPy has none of along no axis."""
    shift = _of("fft", name)

    def kernel(xp: Any, x: Buffer, *, axes: Any) -> Buffer:
        none = not x.ndim if axes is None else not np.size(axes)
        return x.copy() if none else shift(xp, x, axes=axes)

    return kernel


KERNELS: dict[str, Kernel] = {
    **{
        name: _of("linalg", name)
        for name in (
            *("det", "inv", "solve", "qr", "slogdet", "svd", "svdvals"),
            *("eig", "eigvals", "eigh", "eigvalsh"),
        )
    },
    "cholesky": _cholesky,
    "cross": _cross,
    "matrix_power": _matrix_power,
    "matrix_rank": _of_nothing(_of("linalg", "matrix_rank")),
    "matrix_norm": _of_nothing(_of("linalg", "matrix_norm")),
    "vector_norm": _vector_norm,
    "pinv": _pinv,
    **{name: _of("fft", name) for name in ("fft", "ifft", "rfft", "rfftn", "ihfft")},
    **{name: _over_any(name) for name in ("fftn", "ifftn")},
    **{name: _half(name) for name in ("irfft", "irfftn", "hfft")},
}

MOVES: dict[str, Kernel] = {
    "diagonal": lambda xp, x, **options: xp.linalg.diagonal(x, **options).copy(),  # else a view
    "fftshift": _shifted("fftshift"),
    "ifftshift": _shifted("ifftshift"),
}


# --- sorting and sets -----------------------------------------------------------------------------


def _values(backend: Any, x: Buffer, dtype: DType) -> Buffer:
    """The values in a dtype that the library can compare, and that holds them exactly."""
    return backend.cast(x, dtype, backend.comparable(dtype))


def _order(
    backend: Any, x: Buffer, dtype: DType, axis: int = -1, descending: bool = False
) -> Buffer:
    """The indices that sort; equal values stay in order, descending too. They are of a copy: NumPy
    ends the process where another thread writes to what it orders."""
    xp, values = backend.xp, _values(backend, x, dtype)
    values = values.copy() if values is x else values
    if not descending:
        return xp.argsort(values, axis=axis, stable=True)
    order = xp.argsort(xp.flip(values, axis=axis), axis=axis, stable=True)
    return x.shape[axis] - 1 - xp.flip(order, axis=axis)


def _sorted(
    backend: Any, x: Buffer, dtype: DType, axis: int = -1, descending: bool = False
) -> Buffer:
    """The same bits in order: sorted at once where nobody sees the order of equal ones."""
    xp = backend.xp
    if hasattr(backend, "sort_floats") and dtype.kind is Kind.FLOAT:
        made = backend.sort_floats(x, dtype, axis=axis, descending=descending)
        if made is not None:
            return made
    if backend.comparable(dtype) is dtype and (dtype.kind in _ALIKE or not descending):
        made = xp.sort(backend.copy(x), axis=axis, stable=dtype.kind not in _ALIKE)  # in C order
        return xp.flip(made, axis=axis).copy() if descending else made
    return xp.take_along_axis(x, _order(backend, x, dtype, axis, descending), axis=axis)


_ALIKE = frozenset({Kind.BOOL, Kind.INT, Kind.UINT})
"""Kinds of which equal values are the same bits."""


def _sort(
    backend: Any,
    x: Buffer,
    dtype: DType,
    *,
    axis: int = -1,
    descending: bool = False,
    stable: bool = True,
) -> Results:
    return ((_sorted(backend, x, dtype, axis, descending), dtype),)


def _argsort(
    backend: Any,
    x: Buffer,
    dtype: DType,
    *,
    axis: int = -1,
    descending: bool = False,
    stable: bool = True,
) -> Results:
    order = _order(backend, x, dtype, axis, descending)
    return ((order, backend.dtype_of(order)),)


def _unique(backend: Any, x: Buffer, dtype: DType, *, wanted: str) -> Results:
    """The values, and of ``wanted`` their first indices, the inverse indices, their counts.

    Equal values stand side by side once they are sorted, in the order they had; so the first of
    each run is the first of its value. A NaN is equal to none.
    """
    xp, flat = backend.xp, x.reshape(-1)
    if "v" in wanted:
        order = _order(backend, flat, dtype)
        line = flat[order]
    else:
        line = _sorted(backend, flat, dtype)
    values, starts = _values(backend, line, dtype), xp.ones(line.shape, dtype=xp.bool)
    with np.errstate(invalid="ignore"):  # NumPy tells of NaN among complex numbers
        starts[1:] = values[1:] != values[:-1]
    found = []
    if "i" in wanted:
        found.append(order[starts])
    if "v" in wanted:
        inverse = xp.empty(line.shape, dtype=order.dtype)
        inverse[order] = xp.cumulative_sum(starts, dtype=order.dtype) - 1
        found.append(inverse.reshape(x.shape))
    if "c" in wanted:
        at = xp.nonzero(starts)[0]
        found.append(xp.diff(at, append=xp.asarray([line.shape[0]], dtype=at.dtype)))
    return (line[starts], dtype), *((each, backend.dtype_of(each)) for each in found)


def _isin(backend: Any, x: Buffer, among: Buffer, dtype: DType, *, invert: bool) -> Results:
    """Whether values are among others, of which NaN is equal to none."""
    values, others = (_values(backend, each, dtype) for each in (x, among))
    with np.errstate(invalid="ignore"):  # of signalling NaN
        found = backend.xp.isin(values, others, invert=invert)
    return ((backend.xp.asarray(found), dt.bool),)


ORDERINGS: dict[str, Callable[..., Results]] = {
    "sort": _sort,
    "argsort": _argsort,
    "unique_values": partial(_unique, wanted=""),
    "unique_counts": partial(_unique, wanted="c"),
    "unique_inverse": partial(_unique, wanted="v"),
    "unique_all": partial(_unique, wanted="ivc"),
    "isin": _isin,
}

NAMES = frozenset({*KERNELS, *MOVES, *ORDERINGS})
"""The operations that are computed here and not by a backend's own kernels."""
