"""How far a root cause reaches: the inherited places that its value comes to.

Arrays carry no record of the place at which they first differed, which would cost every operation.
The program's source tells it well enough to order a report by: a value comes to the expression it
stands in, to the names that are assigned, to the parameters of the program's own functions, and
back by what they return. The order of statements is not looked at, so that a loop feeds itself.
"""

from __future__ import annotations

import ast
import contextlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from promoarray.core.call_site import Site, shortened, source_of
from promoarray.diagnostics.model.divergence import Divergence


class Spot(NamedTuple):
    """What a value comes to: an expression of a file, a name of a function, what that returns."""

    where: str
    what: str
    line: int = 0
    column: int = 0


def reached(divergences: Iterable[Divergence]) -> dict[tuple[object, ...], int]:
    """Count for each root what it feeds: the places that inherit under a policy it is a root for.

    Returns
    -------
    dict
        From the key of each Divergence that is a root to the number of pairs of place and policy.
    """
    every = list(divergences)
    graph = _graph({d.program.file for d in every})
    waiting: dict[Spot, list[Divergence]] = defaultdict(list)
    for each in every:
        waiting[_spot(each.program)].append(each)
    found = {}
    for root in every:
        names = {name for name, answer in root.answers.items() if answer.origin == "root"}
        if names:
            at = _spot(root.program)
            spots = _from(graph, at)
            inheriting = (d for spot in spots for d in waiting.get(spot, ()))
            found[root.key] = sum(
                answer.origin == "inherits" and name in names
                for d in inheriting
                for name, answer in d.answers.items()
            )
    return found


def _spot(site: Site) -> Spot:
    return Spot(site.file, site.expression, site.line, max(site.column, 0))


def _from(graph: dict[Spot, set[Spot]], start: Spot) -> set[Spot]:
    """All that a value comes to."""
    seen: set[Spot] = set()
    waiting = [start]
    while waiting:
        spot = waiting.pop()
        if spot not in seen:
            seen.add(spot)
            waiting += graph.get(spot, ())
    return seen - {start} if start not in graph.get(start, ()) else seen


def _graph(files: set[str]) -> dict[Spot, set[Spot]]:
    trees = {file: _parsed(file) for file in sorted(files)}
    functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
    for tree in trees.values():
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                functions.setdefault(node.name, node)
    graph: dict[Spot, set[Spot]] = defaultdict(set)
    for file, tree in trees.items():
        with contextlib.suppress(RecursionError):  # a sum of a thousand terms
            _Flow(file, functions, graph).visit(tree)
    return graph


def _parsed(file: str) -> ast.Module:
    try:
        return ast.parse(source_of(file))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


class _Flow(ast.NodeVisitor):
    """Notes where the values of a file go."""

    def __init__(
        self,
        file: str,
        functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef],
        graph: dict[Spot, set[Spot]],
    ) -> None:
        self._file, self._functions, self._graph = file, functions, graph
        self._function, self._local = "", set[str]()
        self._spots: dict[int, Spot] = {}  # the tree lives as long
        self._lines = source_of(file).splitlines()

    def visit(self, node: ast.AST) -> None:
        """Note where an expression's value goes, and those inside it."""
        if isinstance(node, ast.expr):
            self._expression(node)
        super().visit(node)

    def _expression(self, node: ast.expr) -> None:
        here = self._at(node)
        called = self._called(node) if isinstance(node, ast.Call) else None
        if called and isinstance(node, ast.Call):
            self._edge(Spot("return", called.name), here)
            for name, value in _arguments(called, node):
                self._edge(self._at(value), Spot(called.name, name))
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.expr) and not called:
                self._edge(self._at(child), here)
            elif isinstance(child, ast.keyword) and not called:
                self._edge(self._at(child.value), here)
        match node:
            case ast.Name(id=name):
                self._edge(self._name(name), here)
            case ast.Attribute(attr=name):
                self._edge(Spot("attribute", name), here)
            case ast.NamedExpr(target=target, value=value):
                self._assign(target, value)
            case ast.ListComp() | ast.SetComp() | ast.GeneratorExp() | ast.DictComp():
                for each in node.generators:
                    self._assign(each.target, each.iter)
            case ast.Yield(value=ast.expr() as given):
                self._edge(self._at(given), Spot("return", self._function))

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Note what its body does, with names of its own."""
        before = self._function, self._local
        arguments = node.args
        parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        stored = (n for n in ast.walk(node) if isinstance(n, ast.Name))
        local = {n.id for n in stored if isinstance(n.ctx, ast.Store)}
        self._function, self._local = node.name, local | {p.arg for p in parameters}
        for statement in node.body:
            self.visit(statement)
        self._function, self._local = before

    visit_AsyncFunctionDef = visit_FunctionDef  # type: ignore[assignment]

    def visit_Assign(self, node: ast.Assign) -> None:
        """Note a value that gets names."""
        for target in node.targets:
            self._assign(target, node.value)
            if isinstance(target, ast.Subscript):
                self._edge(self._at(node.value), self._line(node))
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Note a value that gets a name."""
        if node.value:
            self._assign(node.target, node.value)
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Note an operation in place: its target is an operand, too."""
        here = self._statement(node)
        self._edge(self._at(node.value), here)
        self._edge(self._at(node.target), here)
        for name in self._names(node.target):
            self._edge(here, name)
            self._edge(name, here)
        self.generic_visit(node)

    def visit_For(self, node: ast.For) -> None:
        """Note what a loop is over."""
        self._assign(node.target, node.iter)
        self.generic_visit(node)

    def visit_With(self, node: ast.With) -> None:
        """Note what a context gives."""
        for item in node.items:
            if item.optional_vars:
                self._assign(item.optional_vars, item.context_expr)
        self.generic_visit(node)

    def visit_Return(self, node: ast.Return) -> None:
        """Note what a function returns."""
        if node.value:
            self._edge(self._at(node.value), Spot("return", self._function))
        self.generic_visit(node)

    def _assign(self, target: ast.expr, value: ast.expr) -> None:
        for name in self._names(target):
            self._edge(self._at(value), name)

    def _names(self, target: ast.expr) -> Iterator[Spot]:
        """What an assignment to a target changes."""
        match target:
            case ast.Name(id=name):
                yield self._name(name)
            case ast.Attribute(attr=name):
                yield Spot("attribute", name)
            case ast.Subscript(value=value) | ast.Starred(value=value):
                yield from self._names(value)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part in parts:
                    yield from self._names(part)

    def _name(self, name: str) -> Spot:
        return Spot(self._function if name in self._local else self._file, name)

    def _called(self, node: ast.Call) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        match node.func:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                return self._functions.get(name)
        return None

    def _edge(self, start: Spot, end: Spot) -> None:
        self._graph[start].add(end)

    def _at(self, node: ast.expr) -> Spot:
        spot = self._spots.get(id(node))
        if spot is None:
            text = shortened(" ".join(ast.unparse(node).split()))
            spot = Spot(self._file, text, node.lineno, node.col_offset)
            self._spots[id(node)] = spot
        return spot

    def _statement(self, node: ast.stmt) -> Spot:
        """The place of an operation in place, which is told as it is written."""
        source = ast.get_source_segment("\n".join(self._lines), node) or ""
        text = shortened(" ".join(source.split()))
        return Spot(self._file, text, node.lineno, node.col_offset)

    def _line(self, node: ast.stmt) -> Spot:
        """The place of an assignment to elements, which is told by its line alone."""
        text = shortened(self._lines[node.lineno - 1].strip())
        return Spot(self._file, text, node.lineno, 0)


def _arguments(
    function: ast.FunctionDef | ast.AsyncFunctionDef, call: ast.Call
) -> Iterator[tuple[str, ast.expr]]:
    """Yield the parameters of a function with what a call gives for them."""
    names = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if isinstance(call.func, ast.Attribute) and names[:1] == ["self"]:
        names = names[1:]
    yield from zip(names, call.args, strict=False)
    yield from ((word.arg, word.value) for word in call.keywords if word.arg)
