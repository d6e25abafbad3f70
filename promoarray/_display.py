"""How arrays look: their values decoded, in a form that reads back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from promoarray.array import PArray


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


def text(x: PArray) -> str:
    """Return ``PArray([...], dtype=...)``, shortened as NumPy would where it is long."""
    with np.printoptions(**_PLAIN):
        values = np.array2string(
            x._decoded(), separator=", ", prefix="PArray(", formatter=_formatter(x)
        )
    if x.size == 0:
        values = "[]" if x.shape == (0,) else f"empty({x.shape})"
    return f"PArray({values}, {', '.join(_labels(x))})"


def _formatter(x: PArray) -> Any:
    """Write complex numbers as calls where ``1.+2.j`` would not read back: NaN, infinity, -0."""
    values = x._decoded()
    if not np.iscomplexobj(values):
        return None
    parts = np.stack([values.real, values.imag])
    if np.all(np.isfinite(parts) & ((parts != 0) | ~np.signbit(parts))):
        return None
    return {"complex_kind": lambda z: f"complex({z.real!s}, {z.imag!s})"}


def _labels(x: PArray) -> list[str]:
    labels = [f"dtype={x.dtype.name}"]
    if x.weak_type:
        labels.append("weak_type=True")
    if x._policy is not None:
        labels.append(f"policy={x._policy.name!r}")
    return labels


def html(x: PArray) -> str:
    """Return a header with shape, dtype and policy above the values, for notebooks."""
    from html import escape  # a millisecond that only notebooks need

    shape = " × ".join(map(str, x.shape)) or "0-d"
    head = f"<b>PArray</b> {shape} · {', '.join(map(escape, _labels(x)))}"
    body = escape(np.array2string(x._decoded(), separator=", ", threshold=60))
    return f"<div>{head}<pre>{body}</pre></div>"
