"""The text of arrays: their values decoded, in a form that reads back."""

from __future__ import annotations

from typing import Any

import numpy as np

from promoarray.backends import backend_of, is_lazy
from promoarray.core.array_base import Array
from promoarray.kernels.float_state import in_default_float_state

# Ours must read back whatever the user has set for NumPy's.
_PLAIN: Any = {
    "floatmode": "unique",
    "suppress": False,
    "sign": "-",
    "nanstr": "nan",
    "infstr": "inf",
    "formatter": None,
    "legacy": False,
}


@in_default_float_state
def text(x: Array) -> str:
    """Return ``PArray([...], dtype=...)``, shortened as NumPy would where it is long.

    What is not computed yet is described, and stays so.
    """
    backend = backend_of(x._buffer)
    if is_lazy(backend):
        return f"PArray({backend.described(x._buffer)}, {', '.join(_attributes(x))})"
    shown, options = _shown(x)
    with np.printoptions(**_PLAIN):
        values = np.array2string(
            shown, separator=", ", prefix="PArray(", formatter=_formatter(shown), **options
        )
    if x.size == 0:
        values = "[]" if x.shape == (0,) else f"empty({x.shape})"
    return f"PArray({values}, {', '.join(_attributes(x))})"


def _shown(x: Array) -> tuple[Any, dict[str, Any]]:
    """The values to print: of long arrays the ends alone, so that no more than that is decoded."""
    numpys = np.get_printoptions()
    edge = numpys["edgeitems"]
    if x.size <= numpys["threshold"]:
        return x._decoded(), {}
    # One more than the ends, for NumPy to leave out.
    ends = [np.r_[: edge + 1, n - edge : n] if n > 2 * edge else np.arange(n) for n in x.shape]
    shown = backend_of(x._buffer).read(x._buffer, np.ix_(*ends))
    return x._wrap(shown, x._type)._decoded(), {"threshold": 0}


def _formatter(values: Any) -> Any:
    """Write complex numbers as calls where ``1.+2.j`` would not read back: NaN, infinity, -0."""
    if not np.iscomplexobj(values):
        return None
    parts = np.stack([values.real, values.imag])
    if np.all(np.isfinite(parts) & ((parts != 0) | ~np.signbit(parts))):
        return None
    return {"complex_kind": lambda z: f"complex({z.real!s}, {z.imag!s})"}


def _attributes(x: Array) -> list[str]:
    shown = [f"dtype={x.dtype.name}"]
    if x.weak_type:
        shown.append("weak_type=True")
    if x._policy is not None:
        shown.append(f"policy={x._policy.name!r}")
    return shown


_PRE = '<pre style="font-family: monospace">'  # which notebooks take from outputs


@in_default_float_state
def html(x: Array) -> str:
    """Return a header with shape, dtype and policy above the values, for notebooks."""
    from html import escape  # a millisecond that only notebooks need

    shape = " × ".join(map(str, x.shape)) or "0-d"
    head = f"<b>PArray</b> {shape} · {', '.join(map(escape, _attributes(x)))}"
    backend = backend_of(x._buffer)
    if is_lazy(backend):
        return f"<div>{head}{_PRE}{escape(backend.described(x._buffer))}</pre></div>"
    with np.printoptions(threshold=60):
        shown, options = _shown(x)
        body = escape(np.array2string(shown, separator=", ", **options))
    return f"<div>{head}{_PRE}{body}</pre></div>"
