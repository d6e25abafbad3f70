"""Chapter "inspection": what a namespace offers under its policy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from promoarray import backends
from promoarray import dtypes as dt
from promoarray.core.read_dtype import answered
from promoarray.dtypes import STANDARD, DType, isdtype
from promoarray.promotion.in_force import get_policy
from promoarray.promotion.policy import Policy

__all__ = ["__array_namespace_info__"]


class Devices(tuple[str, ...]):
    """The devices of the standard, a tuple, to which a program may add a list of its own.

    SciPy 1.17's tests do: ``devices() + [None]``.
    """

    __slots__ = ()

    def __add__(self, other: Any) -> Any:
        return [*self, *other] if isinstance(other, list) else super().__add__(other)


class Info(NamedTuple):
    """Answers about a namespace under a policy."""

    policy: Policy

    def capabilities(self) -> dict[str, Any]:
        """Return what the standard leaves open.

        Returns
        -------
        dict
            Boolean indexing and data-dependent shapes: yes. The most axes an array can have: 64.
        """
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Return where new arrays lie.

        Returns
        -------
        str
            ``"cpu"``.
        """
        return "cpu"

    def devices(self) -> tuple[str, ...]:
        """Return the devices at hand.

        Returns
        -------
        tuple of str
            ``"cpu"``, and those of CuPy if the program has imported it.
        """
        return Devices(backends.devices())

    def default_dtypes(self, *, device: str | None = None) -> dict[str, DType]:
        """Return what Python numbers become under the policy.

        Parameters
        ----------
        device : str, optional
            They are the same on every device.

        Returns
        -------
        dict
            Of "real floating", "complex floating", "integral" and "indexing". PyTorch's floats are
            float32 and its integers int64; without x64 JAX's are 32-bit both. The real one is that
            of ``zeros``.
        """
        backends.on_device(device)
        return {kind: self._default(default) for kind, default in _DEFAULTS.items()}

    def _default(self, default: Callable[[Policy], DType]) -> DType:
        run = default(self.policy)
        return answered("default_dtypes", self.policy, (), run, lambda policy, _: default(policy))

    def dtypes(
        self, *, device: str | None = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, DType]:
        """Return the standard's dtypes that arrays can have under the policy.

        Parameters
        ----------
        device : str, optional
            They are the same on every device.
        kind : str or tuple of str, optional
            Only those of these kinds, as ``isdtype`` names them.

        Returns
        -------
        dict
            By name. No more than the standard's 13; the others are ``policy.dtypes``. JAX without
            x64 lacks those of 64 bits.
        """
        backends.on_device(device)
        return {
            row.name: row
            for row in STANDARD
            if row in self.policy.dtypes
            and self.policy.canonical.get(row, row) is row
            and (kind is None or isdtype(row, kind))
        }


_DEFAULTS: dict[str, Callable[[Policy], DType]] = {
    "real floating": lambda p: p.stored.dtype("zeros", ()) or p.strong(dt.weak_float),
    "complex floating": lambda p: p.strong(dt.weak_complex),
    "integral": lambda p: p.strong(dt.weak_int),
    "indexing": lambda p: p.strong(dt.weak_int),
}


def __array_namespace_info__() -> Info:
    """Return an object that tells about the namespace.

    Returns
    -------
    Info
        With ``capabilities()``, ``default_device()``, ``default_dtypes()``, ``devices()`` and
        ``dtypes()``. Dtypes are those of the policy: a bound namespace's own, else the one in
        force.

    Examples
    --------
    >>> __array_namespace_info__().default_dtypes()["real floating"]
    promoarray.float64
    >>> with policy("torch"):
    ...     __array_namespace_info__().default_dtypes()["real floating"]
    promoarray.float32
    """
    return Info(get_policy())
