"""PyTorch on the CPU, spelt as its users write it."""

from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from programs.frameworks import Framework, getitem, setitem
from programs.program import words

DTYPES = words(
    "bool uint8 int8 int16 int32 int64 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
    "complex64 complex128 float8_e4m3fn float8_e5m2"
)

SAME = (
    "abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_left_shift bitwise_or"
    " bitwise_right_shift bitwise_xor ceil conj copysign cos cosh divide exp expm1 floor"
    " floor_divide fmax fmin greater greater_equal hypot imag isfinite isinf isnan less less_equal"
    " log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor maximum minimum"
    " multiply negative nextafter not_equal positive pow real reciprocal remainder round sign"
    " signbit sin sinh sqrt square subtract tan tanh trunc"
    " arange asarray eye full full_like linspace logspace ones ones_like tril triu zeros zeros_like"
    " matmul broadcast_to isin where result_type count_nonzero"
)
LINALG = (
    "cholesky cross det diagonal eigh eigvalsh inv matmul matrix_norm matrix_power matrix_rank"
    " pinv qr slogdet solve svdvals vecdot vector_norm"
)
FFT = "fft fftfreq fftn fftshift hfft ifft ifftn ifftshift ihfft irfft irfftn rfft rfftfreq rfftn"


def framework(edition: str) -> Framework:
    """The installed PyTorch."""
    torch.set_num_threads(1)
    return Framework(
        version=f"torch {torch.__version__}",
        policy="torch@2.13",
        functions={
            **{name: getattr(torch, name) for name in SAME.split()},
            **OTHER,
            "linalg": SimpleNamespace(
                **{name: getattr(torch.linalg, name) for name in LINALG.split()},
                matrix_transpose=lambda x: x.mT,
                outer=torch.outer,
                tensordot=torch.tensordot,
                trace=torch.trace,
            ),
            "fft": SimpleNamespace(**{name: getattr(torch.fft, name) for name in FFT.split()}),
        },
        dtypes={name: getattr(torch, name) for name in DTYPES},
        enter=enter,
        leave=leave,
        missing=missing,
        cast_only=frozenset({"float8_e4m3fn", "float8_e5m2"}),
    )


def enter(array: Any, dtype: str) -> torch.Tensor:
    """A tensor of the same bits."""
    bits = np.ascontiguousarray(array).copy()
    if array.dtype.kind in "biufc":
        return torch.from_numpy(bits).reshape(array.shape)
    view = torch.from_numpy(bits.view(f"i{array.dtype.itemsize}"))
    return view.view(getattr(torch, dtype)).reshape(array.shape)


def leave(x: Any) -> tuple[str, bool, Any]:
    """A tensor, or a dtype."""
    if isinstance(x, torch.dtype):
        return str(x).removeprefix("torch."), False, np.zeros(0)
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"{type(x).__name__} is no tensor")
    x = x.detach().resolve_conj().resolve_neg()
    name = str(x.dtype).removeprefix("torch.")
    wide = {"bfloat16": torch.float32, "float8_e4m3fn": torch.float32, "complex32": torch.complex64}
    wide |= {"float8_e5m2": torch.float32}
    return name, False, x.to(wide.get(name, x.dtype)).numpy()


def missing(error: Exception) -> bool:
    """Whether the CPU has no such kernel."""
    return bool(
        re.search(r"not implemented for '|Could not run '|not supported on CPU", str(error))
    )


def _reduction(name: str) -> Any:
    function = getattr(torch, name)

    def reduce(x: Any, *, axis: Any = None, keepdims: bool = False, **options: Any) -> Any:
        if axis is None and not keepdims:
            return function(x, **options)
        axis = tuple(range(x.ndim)) if axis is None else axis
        return function(x, dim=axis, keepdim=keepdims, **options)

    return reduce


def _extreme(name: str) -> Any:
    function = getattr(torch, "a" + name)
    return lambda x, *, axis=None, keepdims=False: function(
        x, dim=() if axis is None else axis, keepdim=keepdims
    )


def _one_axis(name: str) -> Any:
    function = getattr(torch, name)

    def reduce(x: Any, *, axis: int | None = None, keepdims: bool = False) -> Any:
        return function(x, dim=axis, keepdim=keepdims)

    return reduce


def _prod(x: Any, *, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
    options = {} if dtype is None else {"dtype": dtype}
    if axis is None:
        out = torch.prod(x, **options)
        return out.reshape((1,) * x.ndim) if keepdims else out
    return torch.prod(x, axis, keepdims, **options)


def _spread(name: str) -> Any:
    function = getattr(torch, name)
    return lambda x, *, axis=None, correction=0.0, keepdims=False: function(
        x, dim=axis, correction=correction, keepdim=keepdims
    )


def _cumulative(name: str) -> Any:
    function = getattr(torch, name)
    return lambda x, *, axis=None, dtype=None: function(x, 0 if axis is None else axis, dtype=dtype)


def _roll(x: Any, shift: Any, *, axis: Any = None) -> Any:
    return torch.roll(x, shift) if axis is None else torch.roll(x, shift, axis)


def _unique(**flags: bool) -> Any:
    return lambda x: torch.unique(x, sorted=True, **flags)


OTHER = {
    "equal": torch.eq,
    "bitwise_invert": torch.bitwise_not,
    "clip": lambda x, min=None, max=None: torch.clip(x, min, max),
    "astype": lambda x, dtype: x.to(dtype, copy=True),
    "getitem": getitem,
    "setitem": setitem,
    "sum": _reduction("sum"),
    "mean": _reduction("mean"),
    "all": _reduction("all"),
    "any": _reduction("any"),
    "prod": _prod,
    "std": _spread("std"),
    "var": _spread("var"),
    "max": _extreme("max"),
    "min": _extreme("min"),
    "argmax": _one_axis("argmax"),
    "argmin": _one_axis("argmin"),
    "cumulative_sum": _cumulative("cumsum"),
    "cumulative_prod": _cumulative("cumprod"),
    "diff": lambda x, *, axis=-1, n=1: torch.diff(x, n=n, dim=axis),
    "sort": lambda x, *, axis=-1, descending=False: torch.sort(x, dim=axis, descending=descending)[
        0
    ],
    "argsort": lambda x, *, axis=-1: torch.argsort(x, dim=axis, stable=True),
    "searchsorted": lambda x1, x2, *, side="left": torch.searchsorted(x1, x2, side=side),
    "nonzero": lambda x: torch.nonzero(x, as_tuple=True),
    "count_nonzero": lambda x, *, axis=None: torch.count_nonzero(x, dim=axis),
    "unique_values": _unique(),
    "unique_counts": _unique(return_counts=True),
    "unique_inverse": _unique(return_inverse=True),
    "concat": lambda arrays, *, axis=0: torch.concat(
        arrays if axis is not None else [torch.flatten(x) for x in arrays], dim=axis or 0
    ),
    "stack": lambda arrays, *, axis=0: torch.stack(arrays, dim=axis),
    "unstack": lambda x, *, axis=0: torch.unbind(x, dim=axis),
    "flip": lambda x, *, axis=None: torch.flip(
        x, tuple(range(x.ndim)) if axis is None else (axis,) if isinstance(axis, int) else axis
    ),
    "roll": _roll,
    "squeeze": lambda x, axis: torch.squeeze(x, axis),
    "expand_dims": lambda x, axis=0: torch.unsqueeze(x, axis),
    "moveaxis": torch.moveaxis,
    "permute_dims": torch.permute,
    "repeat": lambda x, repeats, *, axis=None: torch.repeat_interleave(x, repeats, dim=axis),
    "tile": torch.tile,
    "reshape": torch.reshape,
    "meshgrid": lambda *arrays, indexing="xy": torch.meshgrid(*arrays, indexing=indexing),
    "broadcast_arrays": torch.broadcast_tensors,
    "take": lambda x, indices, *, axis=None: torch.index_select(x, axis or 0, indices),
    "take_along_axis": lambda x, indices, *, axis=-1: torch.take_along_dim(x, indices, axis),
    "matrix_transpose": lambda x: x.mT,
    "tensordot": lambda x1, x2, *, axes=2: torch.tensordot(x1, x2, dims=axes),
    "vecdot": lambda x1, x2, *, axis=-1: torch.linalg.vecdot(x1, x2, dim=axis),
}
"""What PyTorch has under other names and arguments."""
