"""Conversions, by which data leaves the policy: to Python's numbers, to NumPy, by DLPack.

What becomes of it there obeys other rules, so each tells ``escape`` before it hands anything over.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any

import numpy as np

from promoarray.backends import backend_of, is_lazy
from promoarray.core import host
from promoarray.core.array_base import Array, storage_dtype
from promoarray.core.executable_cache import Executable, types_of
from promoarray.core.fast_path import fast_method
from promoarray.core.observers import CLIENTS, guarded_here, observers_anywhere
from promoarray.dtypes import NATIVE, Kind, string
from promoarray.promotion.in_force import get_policy

DECIDING = frozenset({"bool", "index"})
"""Conversions that decide a branch or an index, where nothing leaves but of a lazy array."""


def refuse_masked(frame: FrameType) -> None:
    """Refuse an operator of a masked array, which takes the other operand and does not ask it."""
    if frame.f_code.co_name == "getdata" and frame.f_globals.get("__name__") == "numpy.ma.core":
        raise TypeError(
            "a masked array computes outside of the policy; write x.filled(...) for it, or "
            "np.asarray(...) around the other operand to leave the policy on purpose"
        )


def _leave(x: Array, channel: str) -> None:
    """Tell observers, and the guard, that data is about to leave the policy; they may raise. Keep
    how arrays like this one leave by the channel, for the fast path."""
    if channel in DECIDING:
        told = bool(observers_anywhere) and is_lazy(
            backend_of(x._buffer)
        )  # which is computed for it
    else:
        told = bool(observers_anywhere or guarded_here())
        told |= channel == "__array__" and not CLIENTS.keys().isdisjoint(sys.modules)
    if told:
        from promoarray.core.escape import leaving  # which few programs need

        leaving(x, channel)
    types = types_of(x)
    if types is None or observers_anywhere or channel not in _WAYS:
        return
    policy, (method, number) = x._policy or get_policy(), _WAYS[channel]
    dtype = storage_dtype(x)
    if channel != "__array__" and dtype not in NATIVE and dtype is not string:
        cast = backend_of(x._buffer).caster(dtype, host.exact(dtype))
        run: Any = partial(_of_values, cast, method)
    else:
        run = method
    if number not in (None, _MADE[dtype.kind]):
        run = partial(_as_number, number, run)
    policy.executables[channel, *types] = Executable(run, (), None, ())


def _of_values(cast: Callable[[Any], Any], method: Callable[..., Any], x: Any, *index: Any) -> Any:
    """What a method of NumPy's arrays answers of the values that a buffer's codes mean."""
    return method(cast(x), *index)


def _as_number(number: type, method: Callable[..., Any], x: Any) -> Any:
    return number(method(x))


def _handed_out(buffer: Any) -> Any:
    """A view of a buffer, for the caller of ``__array__``."""
    frame = sys._getframe(1)
    if frame.f_globals.get("__name__", "").partition(".")[0] in CLIENTS:
        from promoarray.core.escape import tell_of_client

        try:
            tell_of_client(frame, buffer.dtype)
        except UserWarning as warning:  # under python -W error
            raise warning.with_traceback(None) from None
    return buffer.view()


_WAYS: dict[str, tuple[Callable[..., Any], type | None]] = {
    "item": (np.ndarray.item, None),
    "tolist": (np.ndarray.tolist, None),
    "bool": (np.ndarray.item, bool),
    "int": (np.ndarray.item, int),
    "float": (np.ndarray.item, float),
    "complex": (np.ndarray.item, complex),
    "index": (np.ndarray.item, int),
    "__array__": (_handed_out, None),
}
"""What a buffer leaves by, and the class of the number that is made of what it answers."""

_MADE = {
    Kind.BOOL: bool,
    Kind.INT: int,
    Kind.UINT: int,
    Kind.FLOAT: float,
    Kind.COMPLEX: complex,
    Kind.STRING: str,
}
"""The class of NumPy's ``item`` of each kind."""


class Conversions(Array):
    """An array that Python and other libraries can read."""

    __slots__ = ()

    @fast_method("item", operands=1, leaves=True)
    def item(self, *index: Any) -> bool | int | float | complex:
        """The one element as a Python scalar, or the one at an index.

        Parameters
        ----------
        *index : int, or one tuple of int
            One for each axis; or a single one, which counts the elements.

        Returns
        -------
        bool, int, float, complex or str

        Raises
        ------
        ValueError
            If there is not exactly one, and no index.
        IndexError
            If there is no element at the index.
        EscapeError
            Inside ``no_escape()``.
        """
        if self.size != 1 and not index:
            raise ValueError(f"x.item() needs one element, and x has {self.size}; index it first")
        _leave(self, "item")
        value: bool | int | float | complex = self._decoded().item(*index)
        return value

    @fast_method("tolist", operands=1, leaves=True)
    def tolist(self) -> Any:
        """The elements as nested lists of Python scalars.

        Returns
        -------
        list, or a scalar
            As many lists deep as there are axes; of a 0-d array the scalar.

        Raises
        ------
        EscapeError
            Inside ``no_escape()``.
        """
        _leave(self, "tolist")
        return self._decoded().tolist()

    def _single(self, conversion: str) -> Any:
        """The one element, where the policy makes a Python number of an array of that shape."""
        if self.ndim and not (self.size == 1 and self._converts(conversion)):
            raise self._not_one(conversion)
        if self.dtype.kind is Kind.STRING:
            raise TypeError(
                f"{conversion}(x) of a string: write astype under a policy that casts strings"
            )
        _leave(self, conversion)
        return self._decoded().item()

    def _converts(self, conversion: str) -> bool:
        return conversion in (self._policy or get_policy()).one_element

    def _not_one(self, conversion: str) -> Exception:
        """What is wrong with the shape: as NumPy, a ValueError of ``bool`` and else a TypeError."""
        shape = f"of shape {self.shape}"
        if conversion == "bool" and self._converts("bool"):
            how = "an empty array" if not self.size else "an array with more than one element"
            return ValueError(
                f"The truth value of {how} is ambiguous: it is {shape}. Write pa.any(x) or "
                "pa.all(x), or x.size > 0"
            )
        needed = "one element" if self._converts(conversion) else "a 0-d array"
        remedy = "; write x.item()" if self.size == 1 else ""
        return TypeError(f"{conversion}(x) needs {needed}, and x is {shape}{remedy}")

    @fast_method("bool", operands=1, leaves=True)
    def __bool__(self) -> bool:
        return bool(self._single("bool"))

    @fast_method("int", operands=1, leaves=True)
    def __int__(self) -> int:
        return int(self._single("int"))

    @fast_method("float", operands=1, leaves=True)
    def __float__(self) -> float:
        return float(self._single("float"))

    @fast_method("complex", operands=1, leaves=True)
    def __complex__(self) -> complex:
        return complex(self._single("complex"))

    @fast_method("index", operands=1, leaves=True)
    def __index__(self) -> int:
        if self.dtype.kind not in (Kind.INT, Kind.UINT):
            raise TypeError(f"only an integer array can be an index, not {self.dtype.name}")
        return int(self._single("index"))

    @fast_method("__array__", operands=1, leaves=True)
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """The storage as a NumPy array; what NumPy does with it obeys no policy.

        Parameters
        ----------
        dtype : numpy.dtype, optional
            What NumPy casts it to, by NumPy's rule.
        copy : bool, optional
            As for ``numpy.asarray``.

        Returns
        -------
        numpy.ndarray
            Of the same shape; of NumPy's or ml_dtypes' dtype of that name.

        Raises
        ------
        TypeError
            If the array lies on a GPU, a masked array would compute with it, or NumPy has no such
            dtype.
        EscapeError
            Inside ``no_escape()``.
        """
        backend = backend_of(self._buffer)
        if self.device != "cpu" and not is_lazy(backend):
            raise TypeError(
                f"the array lies on {self.device!r}, and NumPy would copy it unasked; "
                "write x.to_device('cpu')"
            )
        _leave(self, "__array__")
        values = backend.to_numpy(self._buffer, self.dtype)
        try:
            given = np.array(values, dtype, copy=copy)
        except TypeError as error:
            raise TypeError(f"np.asarray(x, dtype) has a dtype of NumPy's: {error}") from None
        # Whoever sets dtype or shape of what is handed out leaves ours as they are.
        return given.view() if given is values else given

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[Any, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Export the buffer, as the array API says.

        bfloat16, the float8 dtypes and complex32 go by their own names, which PyTorch knows and
        NumPy refuses with an error of its own; ``x.view(pa.uint8)`` hands over the bits instead.

        Parameters
        ----------
        stream : optional
            The consumer's, where the device has streams.
        max_version : tuple of int, optional
            The newest DLPack that the consumer reads.
        dl_device : tuple of int, optional
            Where the consumer wants the array; only where it lies.
        copy : bool, optional
            Whether to copy: always, never, or (None) where it has to be, as where an axis goes
            backwards (``x[::-1]``).

        Returns
        -------
        PyCapsule

        Raises
        ------
        BufferError
            If DLPack has no name for the dtype, the consumer would take one byte an element for
            several (2-, 4- and 6-bit dtypes before DLPack 1.1), an axis goes backwards and nothing
            is to be copied, or the device or the stream is not the array's.
        """
        _leave(self, "__dlpack__")
        return backend_of(self._buffer).dlpack(
            self._buffer,
            self.dtype,
            stream=stream,
            max_version=max_version,
            dl_device=dl_device,
            copy=copy,
        )

    def __dlpack_device__(self) -> tuple[Any, int]:
        """The kind of device and its number, as DLPack counts them.

        Returns
        -------
        tuple of int
            ``(1, 0)`` is the CPU, ``(2, n)`` the CUDA device ``n``.
        """
        device: tuple[Any, int] = backend_of(self._buffer).dlpack_device(self._buffer)
        return device
