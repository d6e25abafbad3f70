"""How casts are written in each framework's own words."""

from __future__ import annotations

import ast
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
    """

    module: str
    namespace: str
    cast: str
    array: str
    number: str
    boolean: str = "bool"
    either: str = ""
    typed: frozenset[str] = frozenset()

    def made(self, call: ast.Call, dtype: DType, namespace: str) -> ast.expr:
        """Write a call that makes an array with the dtype that it shall have."""
        if not self.takes_dtype(call):
            return self.cast_of(call, dtype, namespace)
        asked = ast.keyword("dtype", self.dtype_of(dtype, namespace))
        return ast.Call(call.func, call.args, [*call.keywords, asked])

    def takes_dtype(self, call: ast.Call) -> bool:
        """Whether what is called takes a dtype for the array that it makes."""
        match call.func:
            case ast.Attribute(attr=name) | ast.Name(id=name):
                return not self.typed or name in self.typed
        return True

    def cast_of(self, x: ast.expr, dtype: DType | ast.expr, namespace: str) -> ast.expr:
        """Write the cast of an array to a dtype, or to one that an expression names."""
        named = self.dtype_of(dtype, namespace) if isinstance(dtype, DType) else dtype
        return _Filled(x, named, namespace).of(self.cast)

    def array_of(self, x: ast.expr, dtype: DType, namespace: str) -> ast.expr:
        """Write the array that is made of a number."""
        return _Filled(x, self.dtype_of(dtype, namespace), namespace).of(self.array)

    def array_of_either(self, x: ast.expr, dtype: DType, namespace: str) -> ast.expr:
        """Write what is an array of the dtype, of a number and of an array."""
        return _Filled(x, self.dtype_of(dtype, namespace), namespace).of(self.either or self.array)

    def number_of(self, x: ast.expr, namespace: str) -> ast.expr:
        """Write the array that is made of a number, with no dtype named."""
        return _Filled(x, x, namespace).of(self.number)

    def dtype_of(self, dtype: DType, namespace: str) -> ast.expr:
        """Write a dtype."""
        name = self.boolean if dtype.name == "bool" else dtype.name
        return ast.Attribute(ast.Name(namespace, ast.Load()), name, ast.Load())

    @property
    def casts_by_method(self) -> bool:
        """Whether the array to cast stands before the cast: ``x.to(torch.float32)``."""
        return self.cast.startswith("x.")


_TYPED = frozenset(
    (
        *("array", "asarray", "asanyarray", "arange", "full", "zeros", "ones", "empty"),
        *("eye", "identity", "tri", "linspace", "logspace", "geomspace", "randint", "integers"),
        *("loadtxt", "genfromtxt"),
    )
)
"""NumPy's functions that take a dtype: windows and most of those that draw numbers do not."""

_MADE = "ns.asarray(x, dtype=ns.dtype)", "ns.asarray(x)"

OWN = Spelling("promoarray", "xp", "ns.astype(x, ns.dtype)", *_MADE)
SPELLINGS = {
    "": OWN,
    "torch": Spelling(  # ``tensor`` would copy, off its graph, what is a tensor in other passes
        *("torch", "torch", "x.to(ns.dtype)"), "ns.as_tensor(x, dtype=ns.dtype)", "ns.as_tensor(x)"
    ),
    "paddle": Spelling(
        *("paddle", "paddle", "x.astype(ns.dtype)"),
        *("ns.to_tensor(x, dtype=ns.dtype)", "ns.to_tensor(x)"),
        either=(  # as ``to_tensor`` would copy, off its graph, what is a tensor
            "x.astype(ns.dtype) if ns.is_tensor(x) else ns.to_tensor(x, dtype=ns.dtype)"
        ),
    ),
    "jax": Spelling("jax.numpy", "jnp", "x.astype(ns.dtype)", *_MADE, "bool_"),
    "numpy": Spelling("numpy", "np", "x.astype(ns.dtype)", *_MADE, "bool_", typed=_TYPED),
}
"""From the framework of a program that was recorded, "" of promoarray's own, to its words."""


class _Filled(ast.NodeTransformer):
    """Puts what is meant into a template."""

    def __init__(self, x: ast.expr, dtype: ast.expr, namespace: str) -> None:
        self._x, self._dtype, self._namespace = x, dtype, namespace

    def of(self, template: str) -> ast.expr:
        """Return the template, filled."""
        filled: ast.expr = self.visit(ast.parse(template, mode="eval").body)
        return filled

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._x if node.id == "x" else ast.Name(self._namespace, node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if node.attr == "dtype":
            return self._dtype
        return ast.Attribute(self.visit(node.value), node.attr, node.ctx)
