"""Which names of a program have a value for certain where an expression stands."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

_BLOCKS = "body", "orelse", "finalbody"

_LEAVES = frozenset({ast.Name, ast.Constant, ast.Pass, ast.Break, ast.Continue, ast.alias}).union(
    *(kind.__subclasses__() for kind in (ast.expr_context, ast.operator, ast.unaryop, ast.cmpop))
)
"""In which there is nothing to visit."""


class Scopes(ast.NodeTransformer):
    """Visits a program in the order of its statements, and knows the names that have a value.

    Parameters
    ----------
    nodes : sequence of ast.AST
        All of the program.

    Attributes
    ----------
    bound : set of str
        The names, where the visit is.
    annotated : bool
        Whether annotations are computed, and not kept as they are written.
    """

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        self._unbound = unbound_in(nodes)
        self.annotated = not any(
            isinstance(x, ast.ImportFrom)
            and x.module == "__future__"
            and any(each.name == "annotations" for each in x.names)
            for x in nodes
        )
        self.bound: frozenset[str] = frozenset()

    def visit(self, node: Any) -> Any:
        """Visit a node, and what is in it."""
        return node if type(node) in _LEAVES else super().visit(node)

    @contextmanager
    def _bound_in(self, names: Iterable[str]) -> Iterator[None]:
        before = self.bound
        self.bound = frozenset(names) - self._unbound
        try:
            yield
        finally:
            self.bound = before

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
        self._visit_all(node, "decorator_list", "type_params")
        self._defaults(node.args)
        if self.annotated:
            node.returns = node.returns and self.visit(node.returns)
        with self._bound_in((self.bound - bindable(node)) | arguments_of(node.args)):
            node.body = self._block(node.body)
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return self.visit_FunctionDef(node)

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        self._defaults(node.args)
        with self._bound_in(self.bound | arguments_of(node.args)):
            node.body = self.visit(node.body)
        return node

    def _defaults(self, arguments: ast.arguments) -> None:
        arguments.defaults = [self.visit(x) for x in arguments.defaults]
        arguments.kw_defaults = [x and self.visit(x) for x in arguments.kw_defaults]
        named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        for each in (*named, arguments.vararg, arguments.kwarg) if self.annotated else ():
            if each is not None and each.annotation is not None:
                each.annotation = self.visit(each.annotation)

    def _visit_all(self, node: Any, *fields: str) -> None:
        """Visit lists of nodes, those that Python's version has."""
        for field in fields:
            nodes = [self.visit(each) for each in getattr(node, field, ())]
            setattr(node, field, nodes)

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        self._visit_all(node, "decorator_list", "bases", "keywords", "type_params")
        self._visit_all(node, "body")  # no function sees its names
        return node

    def _comprehension(self, node: Any) -> Any:
        with self._bound_in(self.bound | stored(each.target for each in node.generators)):
            return self.generic_visit(node)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def generic_visit(self, node: Any) -> Any:
        """Visit what is in a node, its blocks of statements last."""
        if isinstance(node, ast.expr):
            return super().generic_visit(node)
        found = ((name, getattr(node, name, None)) for name in _BLOCKS)
        blocks = {name: body for name, body in found if isinstance(body, list)}
        for name in blocks:
            setattr(node, name, [])
        super().generic_visit(node)
        for name, body in blocks.items():
            with self._bound_in(self.bound | (entered(node) if name == "body" else set())):
                setattr(node, name, self._block(body))
        return node

    def _block(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Visit statements that are run one after the other."""
        before, made = self.bound, []
        for statement in body:
            then = self.bound | bound_by(statement) - self._unbound
            made.append(self.visit(statement))
            self.bound = then
        self.bound = before
        return made


def bound_by(statement: ast.stmt) -> set[str]:
    """The names that have a value once a statement has run."""
    match statement:
        case ast.Assign(targets=targets):
            return stored(targets)
        case ast.AnnAssign(target=target, value=ast.expr()) | ast.AugAssign(target=target):
            return stored([target])
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {(each.asname or each.name).partition(".")[0] for each in names} - {"*"}
    return set()


def entered(statement: ast.AST) -> set[str]:
    """The names that have a value in the body of a statement."""
    match statement:
        case ast.For(target=target) | ast.AsyncFor(target=target):
            return stored([target])
        case ast.With(items=items) | ast.AsyncWith(items=items):
            return stored(x.optional_vars for x in items if x.optional_vars is not None)
    return set()


def bindable(tree: ast.AST) -> set[str]:
    """The names that a function may have for itself."""
    found = set()
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                found.add(name)
            case ast.MatchMapping(rest=str(name)):
                found.add(name)
            case ast.stmt():
                found |= bound_by(node)
    return found


def arguments_of(given: ast.arguments) -> set[str]:
    """The names of a function's arguments."""
    named = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    return {each.arg for each in named if each is not None}


def unbound_in(nodes: Sequence[ast.AST]) -> set[str]:
    """The names that are deleted somewhere, or are those of errors, which Python deletes."""
    gone = {x.id for x in nodes if isinstance(x, ast.Name) and type(x.ctx) is ast.Del}
    return gone | {x.name for x in nodes if isinstance(x, ast.ExceptHandler) and x.name}


def stored(targets: Iterable[ast.expr]) -> set[str]:
    """The names among targets."""
    nodes = (node for target in targets for node in ast.walk(target))
    return {x.id for x in nodes if isinstance(x, ast.Name) and type(x.ctx) is ast.Store}
