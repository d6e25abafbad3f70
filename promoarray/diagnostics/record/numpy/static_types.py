"""What of a program may be computed without the hook, once its names are looked at.

Of ints, texts and lists the operators make ints, texts and lists again. So where all that an
expression reads is such, ``a * 3 + i`` needs no hook, and becomes::

    a * 3 + i if type(a) in PLAIN and type(i) in PLAIN else (the same with the hook)

Errors are those of the expression: a look reads names and items in its order, and none that it
reads only behind something that may raise.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

Located = TypeVar("Located", bound=ast.expr | ast.stmt)

PLAIN = frozenset({bool, int, float, complex, str, bytes, list, tuple, dict, set})
"""What has nothing to do with NumPy, if it stands on both sides of an operator."""

ALONE = frozenset({bool, int, float, complex, str, bytes})
"""Those that hold nothing that may be NumPy's, where they are compared."""

TYPE, TYPES = "__promoarray_type__", "__promoarray_plain__"
"""The names of ``type`` and of ``PLAIN`` among the builtins."""

NUMBERS = "__promoarray_alone__"
"""That of ``ALONE``."""

_MOST = 6
"""So many looks cost less than a call of the hook."""

_DEEPEST = 5
"""What stands deeper is looked at by itself, so that no node is written too often."""


def located(node: Located, at: Any) -> Located:
    """Put a new node where another stands: ``ast.copy_location``, of nodes that have places."""
    node.lineno, node.col_offset = at.lineno, at.col_offset
    node.end_lineno, node.end_col_offset = at.end_lineno, at.end_col_offset
    return node


def looks(nodes: Iterable[ast.expr], bound: frozenset[str], at: ast.AST) -> ast.expr | None:
    """Return what tells whether all that some expressions read is plain; None if nothing can.

    Parameters
    ----------
    nodes : iterable of ast.expr
        In the order in which Python evaluates them.
    bound : set of str
        The names that have a value for certain.
    at : ast.AST
        Where Python says that the truth of what is looked at is asked, if it is: Python 3.11 takes
        that of the comparison that it has compiled last.
    """
    found = _Looks(bound)
    if not all(found.reads(node, _DEEPEST) for node in nodes) or not found.made:
        return None
    if len(found.made) > _MOST:
        return None
    made = [located(look, at) for look in found.made.values()]
    return made[0] if len(made) == 1 else located(ast.BoolOp(ast.And(), made), at)


class _Looks:
    """Collects the looks, by what they look at."""

    def __init__(self, bound: frozenset[str]) -> None:
        self._bound = bound
        self._may_have_raised = self._compared = False
        self.made: dict[str, Any] = {}

    def reads(self, node: ast.expr, deep: int) -> bool:
        """Whether an expression reads nothing but what can be looked at."""
        match node:
            case _ if not deep:
                return False
            case ast.Constant(value=value):
                return type(value) in PLAIN
            case ast.Name(id=name):
                known = name in self._bound or not self._may_have_raised
                return (name in self.made or known) and self._look(node, name)
            case ast.BinOp(left=left, right=right):
                return self._all((left, right), deep) and self._raises()
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant()):
                return True
            case ast.UnaryOp(operand=operand):
                return self.reads(operand, deep - 1) and self._raises()
            case ast.Compare(left=left, ops=ops, comparators=[second, *others]):
                if any(isinstance(op, (ast.In, ast.NotIn, ast.Is, ast.IsNot)) for op in ops):
                    return False
                with self._where(compared=True):
                    read = self._all((left, second), deep) and self._raises()
                    return read and self._all(others, deep)
            case ast.Subscript():
                if self._may_have_raised or isinstance(node.slice, ast.Slice):
                    return False  # as a look reads it, before what may have raised
                with self._where(compared=False):
                    read = self._all((node.value, node.slice), deep)
                self._may_have_raised = False  # in the key, which the look computes
                return read and self._look(node, ast.dump(node))
        return False

    @contextmanager
    def _where(self, *, compared: bool) -> Iterator[None]:
        before, self._compared = self._compared, compared
        try:
            yield
        finally:
            self._compared = before

    def _all(self, nodes: Iterable[ast.expr], deep: int) -> bool:
        return all(self.reads(node, deep - 1) for node in nodes)

    def _raises(self) -> bool:
        self._may_have_raised = True
        return True

    def _look(self, node: ast.expr, name: str) -> bool:
        if name not in self.made:
            kind = ast.Call(_builtin(TYPE, node), [copy.deepcopy(node)], [])
            there = located(kind, node)
            self.made[name] = ast.Compare(there, [ast.In()], [_builtin(TYPES, node)])
        if self._compared:
            self.made[name].comparators[0].id = NUMBERS
        return True


def parts(key: ast.expr) -> Iterator[ast.expr]:
    """What a key is made of."""
    if isinstance(key, ast.Slice):
        yield from (part for part in (key.lower, key.upper, key.step) if part is not None)
    else:
        yield key


def _builtin(name: str, at: ast.AST) -> ast.expr:
    return located(ast.Name(name, ast.Load()), at)
