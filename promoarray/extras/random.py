"""Random numbers: NumPy's own, as arrays in the default dtypes of the policy in force.

``default_rng(seed)`` and ``RandomState(seed)`` give what NumPy's do; all other names are the
functions of ``numpy.random``. A number alone is a Python number, a ``dtype=`` that is asked for
stays, and what is drawn from an array of ours is its elements.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from promoarray.dtypes import DType
from promoarray.functions import xp
from promoarray.parray import PArray

__all__ = ["Generator", "RandomState", "default_rng"]


class Generator:
    """A generator of NumPy's: its methods, and its numbers as arrays.

    Parameters
    ----------
    numpys : numpy.random.Generator, numpy.random.RandomState or module
    space : Namespace, optional
        Whose arrays they are; by default of none.
    """

    def __init__(self, numpys: Any, space: Any = xp) -> None:
        self._numpys, self._space = numpys, space

    def __repr__(self) -> str:
        return f"promoarray.random {self._numpys!r}"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._numpys, name)
        if name in ("default_rng", "RandomState"):
            return lambda seed=None: Generator(found(seed), self._space)
        return (
            _drawing(name, found, self._space)
            if callable(found) and not isinstance(found, type)
            else found
        )


def default_rng(seed: Any = None) -> Generator:
    """Return the generator that ``numpy.random.default_rng`` makes of a seed.

    Examples
    --------
    >>> default_rng(7).integers(0, 10, size=3)
    PArray([9, 6, 6], dtype=int64)
    """
    return Generator(np.random.default_rng(seed))


def RandomState(seed: Any = None) -> Generator:
    """Return the generator that ``numpy.random.RandomState`` makes of a seed."""
    return Generator(np.random.RandomState(seed))


def _drawing(name: str, method: Callable[..., Any], xp: Any) -> Callable[..., Any]:
    """A method whose numbers are arrays of ours."""

    @wraps(method, assigned=("__name__", "__doc__"))
    def draw(*args: Any, **options: Any) -> Any:
        if name in ("choice", "permutation", "shuffle") and args and isinstance(args[0], PArray):
            return _elements(xp, name, method.__self__, *args, **options)  # type: ignore[attr-defined]
        asked = "dtype" in options or any(isinstance(x, (type, np.dtype, DType)) for x in args)
        given = [np.asarray(x) if isinstance(x, PArray) else x for x in args]
        if isinstance(options.get("dtype"), DType):
            options["dtype"] = np.dtype(options["dtype"].name)
        return _ours(xp, method(*given, **options), asked)

    return draw


def _elements(
    xp: Any, name: str, numpys: Any, x: PArray, *args: Any, axis: int = 0, **options: Any
) -> PArray | None:
    """Elements of an array along an axis: those that NumPy draws of its indices."""
    places = x.shape[axis]
    draw = numpys.choice if name == "choice" else numpys.permutation
    drawn: PArray = xp.take(x, xp.asarray(draw(places, *args, **options)), axis=axis)
    if name != "shuffle":
        return drawn
    x[...] = drawn
    return None


def _ours(xp: Any, found: Any, asked: bool) -> Any:
    if isinstance(found, np.generic):
        return found.item()
    if not isinstance(found, np.ndarray):
        return found
    kind = {"f": "real floating", "i": "integral"}.get(found.dtype.kind)
    if asked or kind is None:
        return xp.asarray(found)
    return xp.asarray(found, dtype=xp.__array_namespace_info__().default_dtypes()[kind])


def __getattr__(name: str) -> Any:
    return getattr(Generator(np.random), name)
