"""Which expressions of a program are conditions, and where errors in their truth stand."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from promoarray.diagnostics.record.numpy.scopes import Scopes


class Conditions(Scopes):
    """Visits a program, and knows what is in its conditions once it comes there.

    Parameters
    ----------
    nodes : sequence of ast.AST
        All of the program.

    Attributes
    ----------
    tested : dict
        From each expression of which Python asks the truth at once to the node at which an error in
        that stands; None where that is not known.
    """

    def __init__(self, nodes: Sequence[ast.AST]) -> None:
        super().__init__(nodes)
        self.tested: dict[ast.expr, ast.AST | None] = {}

    def _with_test(self, node: Any) -> Any:
        """What has a condition."""
        self._test(node.test, self.tested.get(node, node))
        return self.generic_visit(node)

    visit_If = visit_While = visit_IfExp = visit_Assert = _with_test

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        for condition in node.ifs:
            self._test(condition, None)
        return self.generic_visit(node)

    def visit_match_case(self, node: ast.match_case) -> ast.match_case:
        """Visit the guard and the body; the pattern stays as it is."""
        if node.guard is not None:
            self._test(node.guard, None)
            node.guard = self.visit(node.guard)
        node.body = self._block(node.body)
        return node

    def _test(self, node: ast.expr, at: ast.AST | None) -> ast.AST | None:
        """Note what is in a condition, of which Python asks the truth at once.

        Of an error in that, Python says that it stands ``at`` the last comparison before, or else
        where the condition belongs to. None if that is not known.
        """
        match node:
            case ast.Compare():
                self.tested[node] = at = node
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                at = self._test(operand, at)
            case ast.BoolOp(values=values):
                for each in values:
                    at = self._test(each, at)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                self.tested[node] = at
                for each in (test, body, orelse):
                    at = self._test(each, at)
            case _:
                self.tested[node] = at
        return at
