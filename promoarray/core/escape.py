"""Escapes: data that leaves the policy, and the guard that forbids it.

Once NumPy, SciPy or Python hold the numbers, what becomes of them obeys their rules. The channels
are ``__array__`` and DLPack, by which other libraries take an array, and ``tolist``, ``item``,
``float()``, ``int()`` and ``complex()``, which make Python numbers. There is no other: Array has
no buffer protocol, so ``memoryview(x)`` is a TypeError. What decides a branch or an index
(``bool(x)``, ``__index__``) does not leave, nor does what promoarray itself prints, saves, exports
or wraps again. Of a lazy array, which is computed for it, a branch is told to observers, and not
forbidden.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType

from promoarray.context import Context
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.call_site import Site, call_chain, of_promoarray, warn_at_program
from promoarray.core.observers import (
    CLIENTS,
    guarded_here,
    guarding,
    guards,
    notify_lock,
    observers_here,
)
from promoarray.dtypes import DType
from promoarray.errors import CALLED, EscapeError, EscapeWarning

SCALAR_CHANNELS = frozenset({"item", "float", "int", "complex", "bool", "index"})
"""The channels of one number at a time, which ``no_escape(scalars=False)`` allows."""

ALLOWED = frozenset({"bool", "index"})
"""Those that ``no_escape`` allows always."""


@dataclass(frozen=True, slots=True, order=True)
class Escape:
    """Data that left the policy at one place.

    Attributes
    ----------
    site : Site
        The line of the program.
    inside : Site
        The line that took the data: the same, or one of a library the program called.
    consumer : str
        The function of the library, with its module; "" where the program took the data itself.
    channel : str
        ``"__array__"``, ``"__dlpack__"``, ``"tolist"``, ``"item"``, ``"float"``, ``"int"`` or
        ``"complex"``; of a lazy array ``"bool"`` and ``"index"``, too.
    dtype : str
    shape : tuple of int
    """

    site: Site
    inside: Site
    consumer: str
    channel: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def scalar(self) -> bool:
        """Whether it was a single number, made one of Python's."""
        return self.channel in SCALAR_CHANNELS

    @property
    def what(self) -> str:
        """What left, in words: "float32 array of shape (16, 2)"."""
        return f"{self.dtype} array of shape {self.shape}" if self.shape else f"{self.dtype} scalar"

    @property
    def how(self) -> str:
        """The channel as one would write it: "float(x)", "x.item()", "__array__"."""
        if self.channel in ("item", "tolist"):
            return f"x.{self.channel}()"
        return f"{self.channel}(x)" if self.scalar else self.channel


def leaving(array: Array, channel: str) -> None:
    """Tell observers that data is about to leave by a channel, a method of PArray.

    Raises EscapeError inside ``no_escape``.
    """
    frame = _caller(channel)
    if frame is None or of_promoarray(frame):
        return
    observers, forbidden = observers_here(), _forbidden_here()
    dtype: DType = storage_dtype(array)
    if not observers and not forbidden:
        tell_of_client(frame, dtype.name)
        return
    escape = Escape(*call_chain(frame), channel, dtype.name, tuple(array.shape))
    with notify_lock:
        for observer in observers:
            observer.on_escape(escape)
    if forbidden and channel not in ALLOWED and (not escape.scalar or "scalars" in forbidden):
        raise EscapeError(_message(escape), escape)


def _caller(channel: str) -> FrameType | None:
    """Who called the method of a channel: promoarray itself, the program or a library."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and frame.f_code.co_name not in (channel, f"__{channel}__"):
        frame = frame.f_back
    frame = frame and frame.f_back
    while frame is not None and frame.f_code is CALLED:
        frame = frame.f_back
    return frame


def tell_of_client(frame: FrameType, dtype: object) -> None:
    """Warn at the program's line if a library that can keep PArrays makes NumPy's arrays of them.

    Where it keeps them, and computes with the numbers on the way, observers alone are told.
    """
    library = frame.f_globals.get("__name__", "").partition(".")[0]
    if library in CLIENTS and not (library in _KEEPS and _KEEPS[library]()):
        warn_at_program(
            f"{library} computes with NumPy's array of these {dtype} numbers, by NumPy's rules and "
            f"no policy's. Write pa.asarray(...) around what it gives{CLIENTS[library]}",
            EscapeWarning,
        )


_KEEPS: dict[str, Callable[[], bool]] = {
    "scipy": lambda: os.environ.get("SCIPY_ARRAY_API", "0") != "0",
    "sklearn": lambda: bool(sys.modules["sklearn"].get_config()["array_api_dispatch"]),
}


def _message(escape: Escape) -> str:
    site, inside = escape.site, escape.inside
    source = site.expression or site.text  # none of what is typed at a prompt
    to = f" to {escape.consumer} ({inside}: {inside.text})" if escape.consumer else ""
    remedy = (
        _REMEDY["scalar"]
        if escape.scalar
        else _REMEDY["library" if escape.consumer else escape.channel]
    )
    return (
        f"{escape.what} would leave the policy by {escape.how}{to}, at {site}"
        f"{': ' if source else ''}{source}. What becomes of it there obeys other rules. {remedy}"
    )


_REMEDY = {
    "library": (
        "Call a function that computes by the array API, or hand over np.asarray(x) outside of "
        "no_escape"
    ),
    "__array__": (
        "Write promoarray's own function in place of NumPy's, or take np.asarray(x) outside of "
        "no_escape"
    ),
    "__dlpack__": "Hand the array over outside of no_escape",
    "tolist": "Compute on the array itself, or take x.tolist() outside of no_escape",
    "scalar": (
        "Keep the 0-d array, which computes under the policy, or allow numbers by "
        "no_escape(scalars=False)"
    ),
}


def _forbidden_here() -> set[str]:
    """What no block around allows to leave: "arrays", "scalars"."""
    forbidden: set[str] = set()
    entry = guarded_here()
    while entry is not None:
        forbidden |= entry[0]
        entry = entry[2]
    return forbidden


class no_escape(Context):
    """Make it an error that data leaves the policy: in a block, or in every call of a function.

    Parameters
    ----------
    scalars : bool
        Whether single numbers may not leave either, by ``item()``, ``float()``, ``int()`` and
        ``complex()``.

    Raises
    ------
    EscapeError
        Where data would leave: what, by which channel, to whom, and what to write.

    Notes
    -----
    It holds in this context only, as ``policy`` does, and one object may be entered as often;
    blocks add up, so that an inner one allows nothing that an outer one forbids. Branches
    (``if x > 0``), indices, printing, ``pa.save`` and ``pa.to_onnx`` are no escapes. No policy
    differs.

    Examples
    --------
    >>> with no_escape():
    ...     asarray([1.5]).tolist()
    Traceback (most recent call last):
        ...
    promoarray.errors.EscapeError: float64 array of shape (1,) would leave the policy by ...
    """

    _here = guards

    def __init__(self, *, scalars: bool = True) -> None:
        self._held = {"arrays", "scalars"} if scalars else {"arrays"}

    __enter__ = Context._enter_silently


guarding.append(guarded_here)
