"""What a program's globals end as: what is kept of them, and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from promoarray.core.call_site import shortened
from promoarray.parray import PArray

Numbers = Any
"""A NumPy array of numbers or bools."""


@dataclass(frozen=True, slots=True)
class Final:
    """A global at the end of a program.

    Attributes
    ----------
    text : str
        What it is, in short.
    dtype : str
        Of an array or number; else the name of its class.
    values : array or None
        Its values, exactly; None of what holds no numbers.
    shown : bool
        Whether it is shown where it is the same, too.
    """

    text: str
    dtype: str
    values: Numbers | None = None
    shown: bool = True


def finals(ended: dict[str, Any], names: Sequence[str] | None) -> dict[str, Final]:
    """What a program's globals ended as: those asked for, else its arrays and numbers."""
    asked = list(ended) if names is None else names
    found = {}
    for name in asked:
        if name not in ended:
            if names is not None:
                found[name] = Final("not set", "")
            continue
        value = ended[name]
        if names is not None or _is_data(name, value):
            found[name] = _kept(value, shown=names is not None or _is_result(value))
    return found


def _kept(value: Any, *, shown: bool) -> Final:
    text = said(brief, value)
    try:
        return final(value, text, shown=shown)
    except Exception:  # of the program's own classes
        return Final(text, type(value).__name__, None, shown)


def said(words: Callable[[Any], str], value: Any) -> str:
    """Words for something of the program's, whose own methods may fail."""
    try:
        return shortened(words(value))
    except Exception as error:
        return f"<{type(value).__name__}: {type(error).__name__} when it was shown>"


def brief(value: Any) -> str:
    """An array or number in short."""
    if issubclass(type(value), PArray):
        shape = "x".join(map(str, value.shape))
        return f"{value.dtype} [{shape}]" if shape else f"{number(value.item())} ({value.dtype})"
    return number(value)


def number(value: Any) -> str:
    """A number in short."""
    return f"{value:.6g}" if issubclass(type(value), (float, complex)) else str(value)


def _is_data(name: str, value: Any) -> bool:
    # Not isinstance, which asks the value for its class: anything may answer.
    return not name.startswith("_") and issubclass(type(value), _DATA)


def _is_result(value: Any) -> bool:
    return issubclass(type(value), (PArray, float))


_DATA = (PArray, np.ndarray, np.generic, bool, int, float, complex)


def final(value: Any, text: str, *, shown: bool = True) -> Final:
    """Keep of a global what is compared."""
    kind = type(value)
    if issubclass(kind, PArray):
        numbers = value._decoded()
        held = numbers if numbers.dtype.kind in _NUMBERS else None
        return Final(text, str(value.dtype), held, shown)
    if issubclass(kind, (np.ndarray, np.generic)) and value.dtype.kind in _NUMBERS:
        return Final(text, f"NumPy {value.dtype}", np.asarray(value), shown)
    if kind in (bool, int, float, complex) and not _long(value):
        return Final(text, f"Python {kind.__name__}", np.asarray(value), shown)
    return Final(text, kind.__name__, None, shown)


_NUMBERS = "biufc"


def _long(value: Any) -> bool:
    """Whether a Python number is an int beyond 64 bits."""
    return type(value) is int and not -(1 << 63) <= value < 1 << 64
