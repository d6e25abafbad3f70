"""How casts are written in each framework's own words."""

from __future__ import annotations

import re
from typing import NamedTuple

from promoarray.dtypes import DType


class Spelling(NamedTuple):
    """The words of a framework, with ``ns`` for its namespace, ``x`` and ``dtype``.

    Attributes
    ----------
    module : str
        What a program imports to have the namespace.
    namespace : str
        What the namespace is called where it is imported in no such way.
    cast : str
        The cast of an array.
    array : str
        An array made of a Python number.
    number : str
        An array made of a Python number, with the dtype it has by default.
    boolean : str
        What the dtype of truth values is called, in every version of the framework.
    either : str
        An array made of a Python number, and the cast of an array, whichever it is given; if
        empty, ``array`` takes both.
    typed : frozenset of str
        The functions that make arrays and take a dtype; if empty, all do.
    scalars : bool
        Whether ``int(x)`` of a 0-d array is a number that a person would write there.
    default : str
        What makes a dtype the default of the framework's modules; empty if nothing does.
    """

    module: str
    namespace: str
    cast: str
    array: str
    number: str
    boolean: str = "bool"
    either: str = ""
    typed: frozenset[str] = frozenset()
    scalars: bool = False
    default: str = ""

    def default_of(self, dtype: DType) -> str:
        """Write what makes a dtype that of the parameters of modules; "" if nothing does."""
        return self.default.format(dtype.name)

    def around(self, template: str, name: str, dtype: str = "") -> tuple[str, str]:
        """Return what stands before and behind the expression ``x`` of a template."""
        words = {"ns": name, "dtype": dtype}
        filled = [_WORD.sub(lambda m: words.get(m[0], m[0]), part) for part in _X.split(template)]
        before, after = filled[0], filled[-1]
        return before, after

    def dtype_of(self, dtype: DType, name: str) -> str:
        """Write a dtype."""
        return f"{name}.{self.boolean if dtype.name == 'bool' else dtype.name}"

    @property
    def casts_by_method(self) -> bool:
        """Whether the array to cast stands before the cast: ``x.to(torch.float32)``."""
        return self.cast.startswith("x.")


_X = re.compile(r"\bx\b")
_WORD = re.compile(r"\bns\b|\bdtype\b(?!=)")

_TYPED = frozenset(
    (
        *("array", "asarray", "asanyarray", "arange", "full", "zeros", "ones", "empty"),
        *("eye", "identity", "tri", "linspace", "logspace", "geomspace", "randint", "integers"),
        *("loadtxt", "genfromtxt"),
    )
)
"""NumPy's functions that take a dtype: windows and most of those that draw numbers do not."""

_MADE = "ns.asarray(x, dtype=dtype)", "ns.asarray(x)"

OWN = Spelling("promoarray", "xp", "ns.astype(x, dtype)", *_MADE)
SPELLINGS = {
    "": OWN,
    "torch": Spelling(  # ``tensor`` would copy, off its graph, what is a tensor in other passes
        *("torch", "torch", "x.to(dtype)"),
        *("ns.as_tensor(x, dtype=dtype)", "ns.as_tensor(x)"),
        default="torch.set_default_dtype(torch.{})",
    ),
    "paddle": Spelling(
        *("paddle", "paddle", "x.astype(dtype)"),
        *("ns.to_tensor(x, dtype=dtype)", "ns.to_tensor(x)"),
        default='paddle.set_default_dtype("{}")',
        either=(  # as ``to_tensor`` would copy, off its graph, what is a tensor
            "({x}.astype(dtype) if ns.is_tensor({x}) else ns.to_tensor({x}, dtype=dtype))"
        ),
    ),
    "jax": Spelling("jax.numpy", "jnp", "x.astype(dtype)", *_MADE, "bool_"),
    "numpy": Spelling(
        "numpy", "np", "x.astype(dtype)", *_MADE, "bool_", typed=_TYPED, scalars=True
    ),
}
"""From the framework of a program that was recorded, "" of promoarray's own, to its words."""
