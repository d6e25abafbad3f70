"""Methods of arrays that NumPy's arrays have: a name, and NumPy's parameters.

The array API has none of them. What they do is in ``functions``.
"""

from __future__ import annotations

from typing import Any

from promoarray.dtypes import Kind
from promoarray.functions import xp
from promoarray.parray import PArray

_TABLE = """
all           axis=None out=None keepdims=False
any           axis=None out=None keepdims=False
argmax        axis=None out=None * keepdims=False
argmin        axis=None out=None * keepdims=False
argsort       axis=-1 kind=None order=None * stable=None
clip          min=None max=None out=None
conj
conjugate
copy          order='C'
cumprod       axis=None dtype=None out=None
cumsum        axis=None dtype=None out=None
dot           other out=None
fill          value
flatten       order='C'
max           axis=None out=None keepdims=False
mean          axis=None dtype=None out=None keepdims=False
min           axis=None out=None keepdims=False
nonzero
prod          axis=None dtype=None out=None keepdims=False
ravel         order='C'
repeat        repeats axis=None
round         decimals=0 out=None
searchsorted  v side='left' sorter=None
sort          axis=-1 kind=None order=None * stable=None
squeeze       axis=None
std           axis=None dtype=None out=None ddof=0 keepdims=False
sum           axis=None dtype=None out=None keepdims=False
swapaxes      axis1 axis2
take          indices axis=None out=None mode='raise'
transpose     *axes
var           axis=None dtype=None out=None ddof=0 keepdims=False
"""
"""Methods with their parameters, in NumPy's order and with its defaults."""


class _Made:
    """A method that is made when it is first asked for: programs use few of them."""

    def __init__(self, owner: type[PArray], name: str, parameters: list[str]) -> None:
        self._owner, self._row = owner, (name, parameters)

    def __get__(self, instance: PArray | None, cls: type[PArray]) -> Any:
        from promoarray.array_methods.functions import made as method_of

        name, parameters = self._row
        made = method_of(self._owner, name, parameters)
        setattr(self._owner, name, made)
        # Not what the class has: a subclass that overrides it asks for this one by super().
        return made if instance is None else made.__get__(instance, cls)


def _real(x: PArray) -> PArray:
    """The real parts; of real numbers the array itself."""
    return xp.real(x) if x.dtype.kind is Kind.COMPLEX else x


def _imag(x: PArray) -> PArray:
    """The imaginary parts; of real numbers zeros."""
    return xp.imag(x) if x.dtype.kind is Kind.COMPLEX else xp.zeros_like(x)


def add_methods(cls: type[PArray]) -> None:
    """Give a class of arrays the methods of the table, and ``real`` and ``imag``.

    Parameters
    ----------
    cls : type
        Its subclasses, the classes of bound arrays, have them too. What ``inspect`` and ``help``
        show of the methods is written when they ask, as for functions that have a fast path.
    """
    for row in _TABLE.strip().splitlines():
        name, *parameters = row.split()
        setattr(cls, name, _Made(cls, name, parameters))
    for name, function in {"real": _real, "imag": _imag}.items():
        setattr(cls, name, property(function))
