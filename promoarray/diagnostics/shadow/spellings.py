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
    dtype : str
        A dtype.
    """

    module: str
    namespace: str
    cast: str
    array: str
    dtype: str = "ns.dtype"

    def cast_of(self, x: ast.expr, dtype: DType, namespace: str) -> ast.expr:
        """Write the cast of an array."""
        return _Filled(x, dtype.name, namespace).of(self.cast)

    def array_of(self, x: ast.expr, dtype: DType, namespace: str) -> ast.expr:
        """Write the array that is made of a number."""
        return _Filled(x, dtype.name, namespace).of(self.array)

    def dtype_of(self, dtype: DType, namespace: str) -> ast.expr:
        """Write a dtype."""
        return _Filled(ast.Name("x"), dtype.name, namespace).of(self.dtype)


OWN = Spelling("promoarray", "xp", "ns.astype(x, ns.dtype)", "ns.asarray(x, dtype=ns.dtype)")
SPELLINGS = {
    "": OWN,
    "torch": Spelling("torch", "torch", "x.to(ns.dtype)", "ns.tensor(x, dtype=ns.dtype)"),
    "paddle": Spelling("paddle", "paddle", "x.astype(ns.dtype)", "ns.to_tensor(x, dtype=ns.dtype)"),
    "jax": Spelling("jax.numpy", "jnp", "x.astype(ns.dtype)", "ns.asarray(x, dtype=ns.dtype)"),
    "numpy": Spelling("numpy", "np", "x.astype(ns.dtype)", "ns.asarray(x, dtype=ns.dtype)"),
}
"""From the framework of a program that was recorded, "" of promoarray's own, to its words."""


class _Filled(ast.NodeTransformer):
    """Puts what is meant into a template."""

    def __init__(self, x: ast.expr, dtype: str, namespace: str) -> None:
        self._x, self._dtype, self._namespace = x, dtype, namespace

    def of(self, template: str) -> ast.expr:
        """Return the template, filled."""
        filled: ast.expr = self.visit(ast.parse(template, mode="eval").body)
        return filled

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self._x if node.id == "x" else ast.Name(self._namespace, node.ctx)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        attribute = self._dtype if node.attr == "dtype" else node.attr
        return ast.Attribute(self.visit(node.value), attribute, node.ctx)
