"""Reach of a root cause: the places that inherit from it, on the lines its value comes to.

Arrays carry no record of the place at which they first differed, which would cost every operation.
The program's source tells it well enough to order a report by, a statement at a time: a value comes
to the names that are assigned, to the parameters of the program's own functions, and back by what
they return. The order of statements is not looked at, so that a loop feeds itself.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from promoarray.core.call_site import source_of
from promoarray.diagnostics.model.divergence import Divergence

Spot = tuple[str, str | int]
"""What a value comes to: a statement, by file and line; a name, by file or function; what a
function returns."""

Function = ast.FunctionDef | ast.AsyncFunctionDef


def reached(divergences: Iterable[Divergence]) -> Counter[Spot]:
    """Count what the roots of each line feed: the places that inherit under their policies.

    Returns
    -------
    Counter
        From file and line to the number of pairs of place and policy, those of each root added.
    """
    every = list(divergences)
    flow = _Flow(sorted({d.program.file for d in every}))
    inheriting: dict[Spot, Counter[str]] = defaultdict(Counter)
    for each in every:
        inherits = (name for name, answer in each.answers.items() if answer.origin == "inherits")
        inheriting[flow.statement(_line(each))].update(inherits)
    found: Counter[Spot] = Counter()
    for root in every:
        policies = [name for name, answer in root.answers.items() if answer.origin == "root"]
        spots = flow.reached_from(flow.statement(_line(root))) if policies else set()
        counts = [inheriting[spot] for spot in spots & inheriting.keys()]
        found[_line(root)] += sum(count[policy] for count in counts for policy in policies)
    return found


def _line(place: Divergence) -> Spot:
    return place.program.file, place.program.line


class _Flow:
    """Where the values of some files go."""

    def __init__(self, files: list[str]) -> None:
        self._edges: dict[Spot, set[Spot]] = defaultdict(set)
        self._statements: dict[Spot, Spot] = {}
        trees = {file: _parsed(file) for file in files}
        nodes = [node for tree in trees.values() for node in ast.walk(tree)]
        named = [node for node in nodes if isinstance(node, Function)]
        self._functions = {node.name: node for node in reversed(named)}  # of one name the first
        for file, tree in trees.items():
            self._add(file, file, tree.body, frozenset())
            for node in ast.walk(tree):
                if isinstance(node, Function):
                    self._add(file, node.name, node.body, _local(node))

    def statement(self, at: Spot) -> Spot:
        """Return the statement that a line is one of."""
        return self._statements.get(at, at)

    def reached_from(self, start: Spot) -> set[Spot]:
        """Return all that a value comes to."""
        seen: set[Spot] = set()
        waiting = [start]
        while waiting:
            spot = waiting.pop()
            if spot not in seen:
                seen.add(spot)
                waiting += self._edges.get(spot, ())
        return seen

    def _add(self, file: str, scope: str, body: list[ast.stmt], local: frozenset[str]) -> None:
        """Add the statements of a function, or of a file, whose names are its own."""
        for statement in _statements(body):
            here = file, statement.lineno
            for line in range(statement.lineno, (statement.end_lineno or statement.lineno) + 1):
                self._statements[file, line] = here  # those inside it come after it
            if isinstance(statement, ast.Return):
                self._edges[here].add(("return of", scope))
            for node in _expressions(statement):
                self._add_call(node, here)
                if isinstance(node, (ast.Yield, ast.YieldFrom)):
                    self._edges[here].add(("return of", scope))
                for name in _names(node):
                    spot = (scope if name in local else file), name
                    self._add_name(spot, here, node, statement)

    def _add_name(self, name: Spot, here: Spot, node: ast.AST, statement: ast.stmt) -> None:
        stored = not isinstance(getattr(node, "ctx", None), ast.Load)
        if stored:
            self._edges[here].add(name)
        if not stored or isinstance(statement, ast.AugAssign):
            self._edges[name].add(here)

    def _add_call(self, node: ast.AST, here: Spot) -> None:
        """Add a call of one of the program's own functions."""
        if isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
            name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
            if name in self._functions:
                self._edges["return of", name].add(here)
                for parameter in _parameters(self._functions[name]):
                    self._edges[here].add((name, parameter))


def _parsed(file: str) -> ast.Module:
    try:
        return ast.parse(source_of(file))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])


def _parameters(function: Function) -> list[str]:
    given = function.args
    return [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]


def _local(function: Function) -> frozenset[str]:
    nodes = (node for node in ast.walk(function) if isinstance(node, ast.Name))
    stored = {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
    return frozenset({*stored, *_parameters(function)})


def _statements(body: Iterable[ast.AST]) -> Iterator[ast.stmt]:
    """Yield statements, and those inside them, but for the bodies of functions."""
    for node in body:
        if isinstance(node, ast.stmt) and not isinstance(node, Function):
            yield node
        if not isinstance(node, Function):
            yield from _statements(filter(_holds_statements, ast.iter_child_nodes(node)))


def _expressions(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the parts of a statement that are no statements."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop()
        yield node
        waiting += (n for n in ast.iter_child_nodes(node) if not _holds_statements(n))


def _holds_statements(node: ast.AST) -> bool:
    return isinstance(node, (ast.stmt, ast.ExceptHandler, ast.match_case))


def _names(node: ast.AST) -> Iterator[str]:
    """Yield the name that a part of a statement reads or assigns; of ``x[i] = y`` that of x."""
    match node:
        case ast.Name(id=name):
            yield name
        case ast.Attribute(attr=name):
            yield f".{name}"
        case ast.Subscript(value=value, ctx=ast.Store()):
            yield from _names(value)
