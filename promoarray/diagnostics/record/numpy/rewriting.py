"""Programs with a hook at each operation, which stays where it was: in the program's own frame.

Operands pass through the hook on their way to the operator, and so does the result: ``a + b``
becomes ``H.done(1, H.first(1, a) + H.then(1, b))``, with the operation's name besides. So types,
values, exceptions, tracebacks and the lines that warnings name are those of the program as it is.
The number tells the operations of a file apart, the frame those of a recursion.
"""

from __future__ import annotations
import __future__

import ast
import copy
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import CodeType
from typing import Any

from promoarray.diagnostics.record.numpy.conditions import Conditions
from promoarray.diagnostics.record.numpy.skip_list import LOOK_AROUND, left_alone
from promoarray.diagnostics.record.numpy.static_types import located, looks, parts

RESERVED = "__promoarray__"
"""The hook's name, among the builtins."""

OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.LShift: "bitwise_left_shift",
    ast.RShift: "bitwise_right_shift",
    ast.Eq: "equal",
    ast.NotEq: "not_equal",
    ast.Lt: "less",
    ast.LtE: "less_equal",
    ast.Gt: "greater",
    ast.GtE: "greater_equal",
    ast.USub: "negative",
    ast.UAdd: "positive",
    ast.Invert: "bitwise_invert",
}

JOINERS = frozenset({"r_", "c_"})
"""What joins the parts of its key."""

ATTRIBUTES = frozenset({"T", "mT", "real", "imag", "flat"})
"""Attributes that are views of an array, or parts of it."""

EXPORTS = frozenset({"ctypes", "__array_interface__"})
"""Attributes that give away where an array's memory is."""

OF_LISTS = frozenset({"count", "index", "remove", "sort"})
"""Methods by which lists compare what they hold."""

_RUN = frozenset({"exec", "eval"})
"""Builtins that run a text."""

_NOTHING_SEARCHED = ast.Constant, ast.Dict, ast.Set, ast.JoinedStr
"""In which nothing is compared, but for texts and what has the same hash."""


def rewritten(
    source: str | bytes, path: str, flags: int = 0, *, whole: bool = True, mode: str = "exec"
) -> CodeType:
    """Return the code of a program with a hook at its operations.

    Parameters
    ----------
    source : str or bytes
    path : str
        What tracebacks call the file.
    flags : int
        Those of ``compile``.
    whole : bool
        Whether no other source has the same names, as the cells of a notebook do.
    mode : str
        Of ``compile``.

    Raises
    ------
    SyntaxError
        If it is no program, as Python itself would.
    """
    plain: CodeType = compile(source, path, mode, flags, dont_inherit=True)
    try:
        with _warned_already():
            tree = compile(source, path, mode, flags | ast.PyCF_ONLY_AST, dont_inherit=True)
            nodes = list(ast.walk(tree))
            calls = left_alone(tree, nodes) if whole else LOOK_AROUND
            rewriter = _Rewriter(nodes, calls)
            rewriter.annotated &= not flags & __future__.annotations.compiler_flag
            code: CodeType = compile(rewriter.visit(tree), path, mode, flags, dont_inherit=True)
    except RecursionError:  # of an expression with hundreds of terms
        return plain
    return code


@contextmanager
def _warned_already() -> Iterator[None]:
    """Have Python not warn a second time of what it compiles.

    The filters are not changed by the functions for that, after which it would repeat those
    warnings of the program that it shows but once.
    """
    silent = [("ignore", None, kind, None, 0) for kind in (SyntaxWarning, DeprecationWarning)]
    filters: list[Any] = warnings.filters  # type: ignore[assignment]
    filters[:0] = silent
    try:
        yield
    finally:
        for each in silent:
            filters.remove(each)


class _Rewriter(Conditions):
    """Puts the hook in.

    Parameters
    ----------
    nodes : sequence of ast.AST
        All of the program.
    left_alone : set of str
        Functions of these names are called as they are: of the file itself, and builtins.
    """

    def __init__(self, nodes: Sequence[ast.AST], left_alone: frozenset[str]) -> None:
        super().__init__(nodes)
        self._left_alone = left_alone
        self._count = 0

    # -- expressions ------------------------------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        if _text(node.left) or (_constant(node.left) and _constant(node.right)):
            return self._inside(node)
        return self._looked_at(node, self._binary)

    def _binary(self, node: ast.BinOp) -> Any:
        name, left, right = OPERATORS[type(node.op)], self.visit(node.left), self.visit(node.right)
        number = self._number()
        node.left = self._hook("first", left, number, left)
        node.right = self._hook("then", right, number, name, right)
        return self._hook("done", node, number, name, node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if type(node.op) not in OPERATORS or _constant(node.operand):
            return self._inside(node)
        return self._looked_at(node, self._unary)

    def _unary(self, node: ast.UnaryOp) -> Any:
        number, operand = self._number(), self.visit(node.operand)
        node.operand = self._hook("first", operand, number, operand)
        return self._hook("done", node, number, OPERATORS[type(node.op)], node)

    def visit_Compare(self, node: ast.Compare) -> Any:
        if not any(type(op) in OPERATORS or _searches(op) for op in node.ops):
            return self._inside(node)
        return self._looked_at(node, self._comparison)

    def _comparison(self, node: ast.Compare) -> Any:
        values = [self.visit(x) for x in (node.left, *node.comparators)]
        compared = self._chain(node, values) if node.ops[1:] else None
        done = compared or self._compared(node, node.ops[0], *values)
        return self._itself(done, node) if node in self.tested else done

    def _chain(self, node: ast.Compare, values: list[ast.expr]) -> ast.expr:
        # a < b < c is a < b and b < c, but for b, which is evaluated once.
        parts, left, numbers = [], values[0], []
        for op, value in zip(node.ops[:-1], values[1:-1], strict=True):
            number = self._number()
            numbers.append(number)
            kept = self._hook("hold", value, number, value)
            parts.append(self._compared(node, op, left, kept))
            left = self._hook("taken", value, number)
        parts.append(self._compared(node, node.ops[-1], left, values[-1]))
        both = located(ast.BoolOp(ast.And(), parts), node)
        return self._hook("released", node, both, *numbers)

    def _compared(
        self, node: ast.Compare, op: ast.cmpop, left: ast.expr, right: ast.expr
    ) -> ast.expr:
        if type(op) not in OPERATORS:  # ``in`` compares what it looks for, ``is`` computes nothing
            if _searches(op) and not isinstance(right, _NOTHING_SEARCHED):
                number = self._number()
                left = self._hook("hold", left, number, left)
                right = self._hook("searched", right, right, self._hook("taken", right, number))
            return located(ast.Compare(left, [op], [right]), node)
        number, name = self._number(), OPERATORS[type(op)]
        left = self._hook("first", left, number, left)
        right = self._hook("then", right, number, name, right)
        compare = located(ast.Compare(left, [op], [right]), node)
        return self._hook("done", node, number, name, compare)

    def _itself(self, x: ast.expr, node: ast.Compare) -> ast.expr:
        """A comparison that gives what stands on its right.

        Where a condition is a comparison, Python says of an error in its truth that it stands
        there; of a call it would not.
        """
        compare = ast.Compare(_named("itself", node), [ast.Eq()], [x])
        return located(compare, node)

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if isinstance(node.ctx, ast.Load):
            return self._looked_at(node, self._subscript, _item(node))
        self._inside(node)
        if isinstance(node.ctx, ast.Store):  # by an unpacking, a loop, a ``with``
            node.value = self._hook("storing", node.value, node.value)
        return node

    def _subscript(self, node: ast.Subscript) -> ast.expr:
        number = self._number()
        if _name_of(node.value) in JOINERS:
            node.value, key = self.visit(node.value), self._key(node.slice)
            node.slice = self._hook("key", key, number, key)
        else:
            self._inside(node)
        node.value = self._hook("first", node.value, number, node.value)
        return self._hook("viewed", node, number, "__getitem__", node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self._inside(node)
        if isinstance(node.ctx, ast.Load) and node.attr in EXPORTS:
            node.value = self._hook("exported", node.value, node.attr, node.value)
        if not isinstance(node.ctx, ast.Load) or node.attr not in ATTRIBUTES:
            return node
        number = self._number()
        node.value = self._hook("first", node.value, number, node.value)
        return self._hook("viewed", node, number, node.attr, node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self._inside(node)
        if isinstance(node.func, ast.Name) and node.func.id in self._left_alone:
            return self._run(node, node.func.id)
        number, function = self._number(), node.func
        place = _of_method(node, function)
        if isinstance(function, ast.Attribute) and function.attr in OF_LISTS:
            function = self._hook("of_list", function, function)
        node.func = self._hook("call", function, number, function)
        node.args = [self._argument(x, number) for x in node.args]
        for keyword in node.keywords:
            value = keyword.value
            given = (number, value) if keyword.arg is None else (number, keyword.arg, value)
            keyword.value = self._hook("named" if keyword.arg else "rest", value, *given)
        done = self._hook("called", node, number, node)
        for name, at in place.items():
            setattr(node, name, at)
        return done

    def _run(self, node: ast.Call, name: str) -> ast.expr:
        """A call of a builtin, which may run a text: that is rewritten, too."""
        if name in _RUN and node.args and not isinstance(node.args[0], ast.Starred):
            called = located(ast.Name(name, ast.Load()), node.func)
            node.args[0] = self._hook("source", node.args[0], called, node.args[0])
        return node

    def _argument(self, x: ast.expr, number: int) -> ast.expr:
        if isinstance(x, ast.Starred):
            x.value = self._hook("starred", x.value, number, x.value)
            return x
        return self._hook("argument", x, number, x)

    # -- statements -------------------------------------------------------------------------------

    def visit_Assign(self, node: ast.Assign) -> Any:
        target = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Subscript):
            return self._inside(node)
        return self._looked_at(node, self._stored, (node.value, *_item(target)))

    def _stored(self, node: Any) -> ast.stmt:
        target: Any = node.targets[0]
        node.value = self.visit(node.value)
        self._inside(target)
        number = self._number()
        node.value = self._hook("first", node.value, number, node.value)
        target.value = self._hook("target", node, number, target.value)
        made: ast.stmt = node
        return made

    def visit_AnnAssign(self, node: ast.AnnAssign) -> Any:
        if self.annotated:
            node.annotation = self.visit(node.annotation)
        node.target = self.visit(node.target)
        node.value = node.value and self.visit(node.value)
        return node

    def visit_Match(self, node: ast.Match) -> Any:
        self._inside(node)
        if any(
            isinstance(x, ast.MatchValue) for case in node.cases for x in ast.walk(case.pattern)
        ):
            node.subject = self._hook("matched", node.subject, node.subject)
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> Any:
        return self._looked_at(node, self._augmented, (_read(node.target), node.value))

    def _augmented(self, node: ast.AugAssign) -> ast.stmt:
        number, name = self._number(), OPERATORS[type(node.op)]
        target, value = node.target, self.visit(node.value)
        if isinstance(target, ast.Name):
            old: ast.expr = located(ast.Name(target.id, ast.Load()), target)
        elif isinstance(target, ast.Attribute):
            self._inside(target)
            owner = self._number()
            kept = self._hook("hold", target.value, owner, target.value)
            old = located(ast.Attribute(kept, target.attr, ast.Load()), target)
            target.value = self._hook("taken", target.value, owner)
        else:
            old = self._item(target)
        old = self._hook("changed", old, number, old)
        value = self._hook("then", value, number, name, value, _named("inplace", node))
        operator = _named("augmented", node, name)
        done = located(ast.Call(operator, [old, value], []), node)
        made = self._hook("done", node, number, name, done, _named("inplace", node))
        return located(ast.Assign([target], made), node)

    def _item(self, target: ast.Subscript) -> ast.expr:
        """What ``x[key]`` is before ``x[key] += 1``; both are evaluated once."""
        owner, index = self._number(), self._number()
        x, key = self.visit(target.value), self._key(target.slice)
        kept = self._hook("hold", x, owner, x)
        kept_key = self._hook("hold", key, index, key)
        target.value = self._hook("augmenting", x, self._hook("taken", x, owner))
        target.slice = self._hook("taken", key, index)
        return located(ast.Subscript(kept, kept_key, ast.Load()), target)

    def _key(self, key: ast.expr) -> ast.expr:
        """A key as an expression, slices too."""
        if isinstance(key, ast.Slice):
            parts = [p and self.visit(p) for p in (key.lower, key.upper, key.step)]
            given = [p or located(ast.Constant(None), key) for p in parts]
            return self._hook("slice", key, *given)
        if isinstance(key, ast.Tuple):
            key.elts = [self._key(x) for x in key.elts]
            return key
        visited: ast.expr = self.visit(key)
        return visited

    # -- what reads nothing but names, numbers and items -----------------------------------------

    def _looked_at(self, node: Any, hooked: Callable[[Any], Any], read: Sequence[Any] = ()) -> Any:
        """A node as it is where all that it reads is plain, and else with the hook."""
        at = self.tested.get(node, node)
        look = None if at is None else looks(read or (node,), self.bound, at)
        if look is None:
            return hooked(node)
        plain = copy.deepcopy(node)
        if isinstance(node, ast.stmt):
            return located(ast.If(look, [plain], [hooked(node)]), node)
        return located(ast.IfExp(look, plain, hooked(node)), node)

    # -- making nodes -----------------------------------------------------------------------------

    def _inside(self, node: Any) -> Any:  # its own type, or what takes its place
        return self.generic_visit(node)

    def _number(self) -> int:
        self._count += 1
        return self._count

    def _hook(self, method: str, at: ast.AST, *given: Any) -> ast.Call:
        """A call of the hook that stands where ``at`` does."""
        args: list[Any] = [
            x if isinstance(x, ast.AST) else located(ast.Constant(x), at) for x in given
        ]
        return located(ast.Call(_named(method, at), args, []), at)


def _named(method: str, at: ast.AST, *further: str) -> ast.expr:
    """``H.method``; with further names, attributes of it.

    It ends where it begins: a call of what has several lines Python places in the last of them.
    """
    found: ast.expr = located(ast.Name(RESERVED, ast.Load()), at)
    for name in (method, *further):
        found = located(ast.Attribute(found, name, ast.Load()), at)
        found.end_lineno, found.end_col_offset = found.lineno, found.col_offset
    return found


def _searches(op: ast.cmpop) -> bool:
    return isinstance(op, (ast.In, ast.NotIn))


def _constant(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant)


def _name_of(node: ast.expr) -> str:
    """The last name of what ``np.r_`` is."""
    return getattr(node, "attr", getattr(node, "id", ""))


def _item(node: ast.Subscript) -> tuple[ast.expr, ...]:
    """What an item is read with."""
    return node.value, *parts(node.slice)


def _read(target: Any) -> ast.expr:
    """What ``target += 1`` reads."""
    read = copy.copy(target)
    read.ctx = ast.Load()
    found: ast.expr = read
    return found


def _text(node: ast.expr) -> bool:
    """Whether an expression is a text, of which ``%`` and ``+`` make others."""
    value = getattr(node, "value", None)
    return isinstance(node, ast.JoinedStr) or (_constant(node) and isinstance(value, (str, bytes)))


def _of_method(node: ast.Call, function: ast.expr) -> dict[str, int]:
    """Where Python says that a method is called: on the line of its name, not of its object."""
    line, column = function.end_lineno, function.end_col_offset
    if not isinstance(function, ast.Attribute) or line is None or column is None:
        return {}
    if line == node.lineno or column < len(function.attr):
        return {}
    return {"lineno": line, "col_offset": column - len(function.attr)}
