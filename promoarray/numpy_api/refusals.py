"""Advice for functions of NumPy's that promoarray does not have, and for their options."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from promoarray.numpy_api.table import Row

_TEXT = """
angle                 pa.atan2(pa.imag(x), pa.real(x))
apply_along_axis      a loop over pa.unstack(x, axis=...), and pa.stack
apply_over_axes       one call for each axis, with keepdims=True
array2string          str(x)
array_equiv           pa.all(x1 == x2)
ascontiguousarray     pa.asarray(x, copy=True)
asfortranarray        pa.asarray(x), which has no memory order
bincount              pa.unique_counts(x)
block                 pa.concat, row by row
choose                pa.where, choice by choice
common_type           pa.result_type(x1, x2)
compress              x[mask]
copyto                y[...] = x
delete                x[keep] with a mask or indices
diag_indices_from     pa.arange(n)
diagflat              pa.eye(n) * x
digitize              pa.searchsorted(bins, x, side="right")
ediff1d               pa.diff(pa.reshape(x, (-1,)))
einsum_path           pa.tensordot, pa.matmul or pa.vecdot
extract               x[mask]
fill_diagonal         x[i, i] = y with i = pa.arange(n)
geomspace             pa.exp(pa.linspace(a, b, n))
in1d                  pa.isin(pa.reshape(x1, (-1,)), x2)
insert                pa.concat([x[:i], y, x[i:]])
intersect1d           pa.unique_values(x1[pa.isin(x1, x2)])
isneginf              x == -pa.inf
isposinf              x == pa.inf
ix_                   index by index, x[i][:, j]
lexsort               pa.argsort, from the last key on, which keeps equal elements in order
min_scalar_type       pa.result_type(x)
nan_to_num            pa.where(pa.isnan(x), 0, x)
packbits              pa.pack(x) of 2-, 4- and 6-bit dtypes
place                 x[mask] = y
put                   x[i] = y
put_along_axis        x[i, ...] = y
putmask               x[mask] = y
ravel_multi_index     i * shape[1] + j
real_if_close         pa.real(x)
resize                pa.reshape(x, shape), or pa.tile
rollaxis              pa.moveaxis(x, axis, start)
save                  pa.save(file, x=x)
savetxt               pa.save(file, x=x)
savez                 pa.save(file, x=x)
savez_compressed      pa.save(file, x=x)
select                pa.where, choice by choice
setxor1d              pa.unique_values and pa.isin
sort_complex          pa.sort(x)
trapezoid             pa.sum((y[1:] + y[:-1]) / 2 * pa.diff(x))
tri                   pa.tril(pa.ones((n, n)))
trim_zeros            x[first:last]
unpackbits            pa.unpack(x, dtype, shape)
unravel_index         i // n and i % n
vander                pa.pow(x[:, None], pa.arange(n))
linalg.cond           pa.linalg.svdvals(x)
linalg.lstsq          pa.matmul(pa.linalg.pinv(a), b)
linalg.multi_dot      pa.matmul, pair by pair
linalg.tensorinv      pa.linalg.inv of the reshaped array
linalg.tensorsolve    pa.linalg.solve of the reshaped arrays
lib.stride_tricks.sliding_window_view  pa.stack of slices

bitwise_count         pa.view and shifts
cbrt                  pa.sign(x) * pa.pow(pa.abs(x), 1 / 3)
deg2rad               x * (pa.pi / 180)
degrees               x * (180 / pa.pi)
exp2                  pa.pow(2.0, x)
fabs                  pa.abs(x)
float_power           pa.pow(pa.astype(x1, pa.float64), x2)
heaviside             pa.where(x > 0, 1.0, 0.0)
logaddexp2            pa.logaddexp(x1 * log2, x2 * log2) / log2, with log2 = math.log(2)
matvec                pa.matmul(x1, x2[..., None])[..., 0]
modf                  pa.trunc(x), and x - pa.trunc(x)
rad2deg               x * (180 / pa.pi)
radians               x * (pa.pi / 180)
spacing               pa.nextafter(x, pa.inf) - x
vecmat                pa.matmul(x1[..., None, :], x2)[..., 0, :]
"""

_OPTIONS = {
    "out": "out[...] = {call}",
    "dtype": "pa.astype(x, dtype) around what goes in or comes out of {call}",
    "where": "{call} of pa.where(mask, x, other), or of x[mask]",
    "initial": "{call}, and what combines it with initial",
    "casting": "pa.astype(x, dtype) around the arrays",
    "order": "pa.permute_dims(x, axes), which gives the elements that order",
    "axis": "{call} of pa.moveaxis(x, axis, ...)",
    "max_line_width": "str(np.asarray(x))",
}
"""What to write where an option cannot be honoured."""


@cache
def counterparts() -> Mapping[str, str]:
    """What to write, by the name of NumPy's function or ufunc, without ``numpy.``."""
    lines = (line.partition(" ") for line in _TEXT.splitlines() if line)
    return {name: words.strip() for name, _, words in lines}


def refusal(name: str, method: str = "") -> TypeError:
    """The error for a function without a counterpart."""
    words = counterparts().get(name)
    nearest = f"{words}; or np.asarray(x)" if words else "np.asarray(x) in place of the array"
    return TypeError(
        f"np.{name}{method} has no counterpart in promoarray, so it would compute outside the "
        f"policy. Write {nearest} to leave the policy on purpose"
    )


def _unhonoured(spelled: str, option: str, call: str) -> TypeError:
    words = _OPTIONS.get(option.rstrip("="), "{call} without it").format(call=call)
    return TypeError(
        f"{spelled}({option}) is outside the policy. Write {words}; or "
        "np.asarray(x) in place of the array to leave the policy on purpose"
    )


def not_honoured(row: Row, option: str) -> TypeError:
    """The error for an argument of a function that ours cannot honour."""
    home = "" if row.ours.startswith("x.") else "pa."
    call = f"{home}{row.ours}(...)" if row.ours else f"np.{row.name}(...)"
    return _unhonoured(f"np.{row.name}", option, call)


def no_ufunc(ufunc: np.ufunc, method: str) -> TypeError:
    """The error for a ufunc, or a method of one, without a counterpart."""
    call = method_called(method)
    if getattr(np, ufunc.__name__, None) is not ufunc:
        return outside(ufunc, call)
    return refusal(ufunc.__name__, call)


def option_refused(ufunc: np.ufunc, method: str, option: str) -> TypeError:
    """The error for an option of a ufunc that cannot be honoured."""
    spelled = f"np.{ufunc.__name__}{method_called(method)}"
    return _unhonoured(spelled, f"{option}=", f"{spelled}(...)")


def method_called(method: str) -> str:
    """How a method of a ufunc is written behind its name."""
    return "" if method == "__call__" else f".{method}"


def outside(ufunc: np.ufunc, call: str) -> TypeError:
    """The error for a ufunc that would compute outside the policy.

    Parameters
    ----------
    ufunc : numpy.ufunc
        NumPy's, or one of SciPy or another library.
    call : str
        What follows its name: ".reduce", " with out".
    """
    if getattr(np, ufunc.__name__, None) is ufunc:
        name, instead = f"np.{ufunc.__name__}", "Write promoarray's own function, or np.asarray(x)"
    elif _is_scipys(ufunc):
        name = f"scipy.special.{ufunc.__name__}"
        instead = (
            "Set SCIPY_ARRAY_API=1 in the environment before SciPy is imported, or write "
            f"pa.asarray({name}(np.asarray(x)))"
        )
    else:
        name, instead = f"the ufunc {ufunc.__name__}", "Call it on np.asarray(x)"
    return TypeError(
        f"{name}{call} would compute outside the policy. {instead} to leave the policy on purpose"
    )


def _is_scipys(ufunc: np.ufunc) -> bool:
    """Whether the program has the ufunc from ``scipy.special``, which is not imported for this."""
    special = sys.modules.get("scipy.special._ufuncs")
    return special is not None and getattr(special, ufunc.__name__, None) is ufunc
