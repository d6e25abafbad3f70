"""Programs whose operations a hook carries out, where they stand: in the program's own frame.

``a + b`` becomes ``H.operate(129, a, b)``, a function without a frame. So types, values,
exceptions, tracebacks and the lines that warnings name are those of the program as it is. The
number tells the places of all programs apart; that of an operator says besides which it is.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import count
from types import CodeType
from typing import Any, TypeVar

from promoarray.core.call_site import is_library
from promoarray.diagnostics.record._seen import OPERATORS as NAMES
from promoarray.diagnostics.record.numpy.compiled import Compiled, compiled

Located = TypeVar("Located", bound=ast.expr | ast.stmt)

RESERVED = "__promoarray__"
"""The hook's name, among the builtins."""

_KINDS = (
    *(ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.MatMult),
    *(ast.BitAnd, ast.BitOr, ast.BitXor, ast.LShift, ast.RShift),
    *(ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.USub, ast.UAdd, ast.Invert),
)
OPERATORS: dict[type[ast.AST], int] = {
    kind: number for number, (kind, _) in enumerate(zip(_KINDS, NAMES, strict=True))
}
"""The numbers by which the hook knows operators (``hook.cpp``), of which each has a name there."""

ATTRIBUTES = frozenset({"T", "mT", "real", "imag", "flat"})
"""Attributes that are views of an array, or parts of it."""

EXPORTS = frozenset({"ctypes", "__array_interface__"})
"""Attributes that give away where an array's memory is."""

OF_LISTS = frozenset({"count", "index", "remove", "sort"})
"""Methods by which lists compare what they hold."""

_BUILTIN = frozenset(dir(builtins))
_NUMERIC = frozenset(
    {"abs", "pow", "divmod", "round", "sum", "min", "max", "sorted", "map", "filter"}
)
LOOK_AROUND = frozenset({"super", "locals", "globals", "vars", "dir", "eval", "exec"})
"""Builtins that look at the frame they are called in; Python compiles ``super()`` specially."""

_RUN = frozenset({"exec", "eval"})
"""Builtins that run a text."""

_CHANGES, _TESTED, _OF_ATTRIBUTE, _BITS = 32, 64, 128, 8
"""How the number of an operator says that it is in place, that its truth is asked at once, that an
attribute is changed, and what of it is the operator's (``hook.cpp``)."""

_places = count(1)

_NOTHING_SEARCHED = ast.Constant, ast.Dict, ast.Set, ast.JoinedStr
"""In which nothing is compared, but for texts and what has the same hash."""


def rewritten(
    source: str | bytes, path: str, flags: int = 0, *, whole: bool = True, mode: str = "exec"
) -> CodeType:
    """Return the code of a program with a hook at its operations.

    Parameters
    ----------
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
        with warned_already():
            tree = compile(source, path, mode, flags | ast.PyCF_ONLY_AST, dont_inherit=True)
            tree = hooked(tree, path, flags, whole=whole)
            code: CodeType = compile(tree, path, mode, flags, dont_inherit=True)
    except RecursionError:  # of an expression with hundreds of terms
        return plain
    return marked(code)


def marked(code: CodeType) -> CodeType:
    """Code that says that it is rewritten (``startup/sitecustomize.py`` asks)."""
    return code.replace(co_names=(*code.co_names, RESERVED))


def hooked(tree: Any, path: str, flags: int = 0, *, whole: bool = True) -> Any:
    """Put the hook into a program's tree, which is changed; see ``rewritten``."""
    nodes = list(ast.walk(tree))
    calls = _left_alone(tree, nodes) if whole else LOOK_AROUND
    rewriter = _Rewriter(calls, _computes_annotations(nodes), is_library(path))
    rewriter.annotated &= not flags & __future__.annotations.compiler_flag
    rewriter.compiled = compiled(nodes)
    return rewriter.visit(tree)


@contextmanager
def warned_already() -> Iterator[None]:
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


class _Rewriter(ast.NodeTransformer):
    """Puts the hook in.

    Parameters
    ----------
    left_alone : set of str
        Functions of these names are called as they are: of the file itself, and builtins.
    annotated : bool
        Whether annotations are computed, and not kept as they are written.
    in_library : bool
        Whether the file is one of a library: places in it are told apart by what calls them.
    """

    def __init__(self, left_alone: frozenset[str], annotated: bool, in_library: bool) -> None:
        self._left_alone, self.annotated = left_alone, annotated
        self.compiled = Compiled()  # by Numba
        self._of_int64 = False
        self._sign = -1 if in_library else 1
        self._tested: set[ast.AST] = set()
        self._kept: set[ast.AST] = set()
        self._class = ""

    # -- expressions ------------------------------------------------------------------------------

    def visit_BinOp(self, node: ast.BinOp) -> Any:
        if _text(node.left) or (_constant(node.left) and _constant(node.right)):
            return self._inside(node)
        return self._computed(node, self.visit(node.left), self.visit(node.right))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> Any:
        if type(node.op) not in OPERATORS or _constant(node.operand):
            return self._inside(node)
        return self._computed(node, self.visit(node.operand))

    def _computed(self, node: Any, *operands: ast.expr, changes: int = 0) -> Any:
        made = self._operation(node, node.op, *operands, changes=changes)
        return self._hook("of_int64", node, made) if self._of_int64 else made

    def _operation(self, node: ast.AST, op: ast.AST, *operands: ast.expr, changes: int = 0) -> Any:
        tested = _TESTED if node in self._tested else 0
        kind = OPERATORS[type(op)] | changes | tested
        return self._hook("operate", node, (self._number() << _BITS) + kind, *operands)

    def visit_Compare(self, node: ast.Compare) -> Any:
        if not any(type(op) in OPERATORS or _searches(op) for op in node.ops):
            return self._inside(node)
        values = [self.visit(x) for x in (node.left, *node.comparators)]
        if node.ops[1:] and node in self._tested:
            self._tested.remove(node)  # its parts are asked before
            self._kept.add(node)
        made = self._chain(node, values) if node.ops[1:] else None
        made = made or self._compared(node, node.ops[0], *values)
        if node not in self._kept:
            return made
        return located(ast.Compare(_named("itself", node), [ast.Eq()], [made]), node)

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
        if type(op) in OPERATORS:
            made: ast.expr = self._operation(node, op, left, right)
            return made
        # ``in`` compares what it looks for, ``is`` computes nothing.
        if not _searches(op) or isinstance(right, _NOTHING_SEARCHED):
            return located(ast.Compare(left, [op], [right]), node)
        found = self._hook("contains", node, left, right)
        return located(ast.UnaryOp(ast.Not(), found), node) if type(op) is ast.NotIn else found

    def visit_Subscript(self, node: ast.Subscript) -> Any:
        if isinstance(node.ctx, ast.Load):
            return self._hook("item", node, self.visit(node.value), self._key(node.slice))
        self._inside(node)
        if isinstance(node.ctx, ast.Store):  # by an unpacking, a loop, a ``with``
            node.value = self._hook("storing", node.value, node.value)
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        self._inside(node)
        if isinstance(node.ctx, ast.Load) and node.attr in EXPORTS:
            node.value = self._hook("exported", node.value, node.attr, node.value)
        if not isinstance(node.ctx, ast.Load) or node.attr not in ATTRIBUTES:
            return node
        return self._hook("attribute", node, node.value, node.attr)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self._inside(node)
        if isinstance(node.func, ast.Name) and node.func.id in self._left_alone:
            return self._run(node, node.func.id)
        number, function = self._number(), node.func
        place = _of_method(node, function)
        if isinstance(function, ast.Attribute) and function.attr in OF_LISTS:
            function = self._hook("of_list", function, function)
        several = any(isinstance(x, ast.Starred) for x in node.args)
        if not place and not several and all(each.arg for each in node.keywords):
            called = self._hook("call", node, number, function, *node.args)
            called.keywords = node.keywords
            return called
        node.func = self._hook("bound", function, number, function, bool(place))
        if not place:
            return node
        made = self._hook("result", node, node)
        for name, at in place.items():
            setattr(node, name, at)
        return made

    def _run(self, node: ast.Call, name: str) -> ast.expr:
        """A call of a builtin, which may run a text: that is rewritten, too."""
        if name in _RUN and node.args and not any(isinstance(x, ast.Starred) for x in node.args):
            called = located(ast.Name(name, ast.Load()), node.func)
            made = self._hook("source", node.args[0], called, *node.args)
            node.args = [located(ast.Starred(made, ast.Load()), node.args[0])]
        return node

    # -- conditions, of which Python asks the truth at once ---------------------------------------

    def _with_test(self, node: Any) -> Any:
        self._test(node.test)
        return self._inside(node)

    visit_If = visit_While = visit_IfExp = visit_Assert = _with_test

    def visit_comprehension(self, node: ast.comprehension) -> Any:
        for condition in node.ifs:
            self._test(condition)
        return self._inside(node)

    def _test(self, node: ast.expr) -> None:
        """Note the comparisons in a condition: of an error in their truth Python says that it
        stands there; of a call it would not.

        Python 3.11 says so of what stands behind a comparison, too: beside that it is kept as one.
        """
        asked = list(_asked(node))
        alone = all(isinstance(each, ast.Compare) for each in asked)
        (self._tested if alone else self._kept).update(asked)

    # -- statements -------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.stmt:
        if node in self.compiled.left:
            return self._left(node)  # type: ignore[no-any-return]
        before, returns = self._of_int64, node.returns
        self._of_int64 |= node in self.compiled.in_python
        node.returns = returns if self.annotated else None
        self._inside(node)
        node.returns = node.returns or returns
        self._of_int64 = before
        return node

    def _left(self, node: Any) -> Any:
        node.decorator_list.append(_named("compiled", node))
        return node

    def visit_Lambda(self, node: ast.Lambda) -> ast.expr:
        if node in self.compiled.left:
            return self._hook("compiled", node, node)
        made: ast.expr = self._inside(node)
        return made

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return self.visit_FunctionDef(node)

    def visit_arg(self, node: ast.arg) -> Any:
        return self._inside(node) if self.annotated else node

    def visit_Assign(self, node: ast.Assign) -> Any:
        target: Any = node.targets[0]
        if len(node.targets) > 1 or not isinstance(target, ast.Subscript):
            return self._inside(node)
        number, value, x = self._number(), self.visit(node.value), self.visit(target.value)
        told = self._hook("store", node, number, value, x, self._key(target.slice))
        return located(ast.Expr(self._hook("put", target, told)), node)

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

    def visit_match_case(self, node: ast.match_case) -> Any:
        """Visit the guard and the body; the pattern stays as it is."""
        if node.guard is not None:
            self._test(node.guard)
        pattern, node.pattern = node.pattern, ast.MatchAs()
        self._inside(node)
        node.pattern = pattern
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        target = node.target
        if isinstance(target, ast.Name):
            old: ast.expr = located(ast.Name(target.id, ast.Load()), target)
            made = self._computed(node, old, self.visit(node.value), changes=_CHANGES)
            return located(ast.Assign([target], made), node)
        if isinstance(target, ast.Attribute):
            owner, name, changes = (
                self.visit(target.value),
                self._mangled(target.attr),
                _OF_ATTRIBUTE,
            )
            loaded = self._hook("loaded_attribute", target, owner, name)
        else:
            owner, changes = self.visit(target.value), 0
            loaded = self._hook("loaded_item", target, owner, self._key(target.slice))
        kind = OPERATORS[type(node.op)] | _CHANGES | changes
        number = (self._number() << _BITS) + kind
        made = self._hook("augment", node, number, loaded, self.visit(node.value))
        place = located(ast.Constant(None), target)
        for name, at in _of_method(target, target).items():
            setattr(place, name, at)
        stored = self._hook("put_attribute" if changes else "put", place, made)
        return located(ast.Expr(stored), node)

    def visit_ClassDef(self, node: ast.ClassDef) -> Any:
        if node in self.compiled.left:
            return self._left(node)
        before, self._class = self._class, node.name.lstrip("_")
        self._inside(node)
        self._class = before
        return node

    def _mangled(self, name: str) -> str:
        """The name of an attribute as Python has it in a class: ``__x`` is ``_Class__x``."""
        private = name.startswith("__") and not name.endswith("__") and self._class
        return f"_{self._class}{name}" if private else name

    def _key(self, key: ast.expr) -> ast.expr:
        """A key as an expression, slices too."""
        if isinstance(key, ast.Slice):
            if not (key.lower or key.upper or key.step):
                return _named("whole", key)
            parts = [p and self.visit(p) for p in (key.lower, key.upper, key.step)]
            given = [p or located(ast.Constant(None), key) for p in parts]
            return self._hook("slice", key, *given)
        if isinstance(key, ast.Tuple):
            key.elts = [self._key(x) for x in key.elts]
            return key
        visited: ast.expr = self.visit(key)
        return visited

    # -- making nodes -----------------------------------------------------------------------------

    def _inside(self, node: Any) -> Any:  # its own type, or what takes its place
        return self.generic_visit(node)

    def _number(self) -> int:
        return next(_places) * self._sign

    def _hook(self, method: str, at: ast.AST, *given: Any) -> ast.Call:
        """A call of the hook that stands where ``at`` does."""
        args: list[Any] = [
            x if isinstance(x, ast.AST) else located(ast.Constant(x), at) for x in given
        ]
        return located(ast.Call(_named(method, at), args, []), at)


def located(node: Located, at: Any) -> Located:
    """Put a new node where another stands: ``ast.copy_location``, of nodes that have places."""
    node.lineno, node.col_offset = at.lineno, at.col_offset
    node.end_lineno, node.end_col_offset = at.end_lineno, at.end_col_offset
    return node


def _left_alone(tree: ast.Module, nodes: Sequence[ast.AST]) -> frozenset[str]:
    """The names of functions that are called as they are: builtins, and those of the file."""
    own = {n.name for n in tree.body if isinstance(n, (ast.FunctionDef, ast.ClassDef))}
    bound = {n.id for n in nodes if isinstance(n, ast.Name) and type(n.ctx) is ast.Store}
    for node in nodes:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            names = {alias.asname or alias.name for alias in node.names}
            bound |= _BUILTIN | own if "*" in names else names
    return (_BUILTIN - bound - _NUMERIC) | (own - bound) | LOOK_AROUND


def _computes_annotations(nodes: Sequence[ast.AST]) -> bool:
    """Whether annotations are computed, as no import from the future says otherwise."""
    return not any(
        isinstance(x, ast.ImportFrom)
        and x.module == "__future__"
        and any(each.name == "annotations" for each in x.names)
        for x in nodes
    )


def _asked(node: ast.expr) -> Iterator[ast.expr]:
    """The expressions of a condition of which the truth is asked at once."""
    match node:
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield from _asked(operand)
        case ast.BoolOp(values=values):
            for each in values:
                yield from _asked(each)
        case ast.IfExp(test=test, body=body, orelse=orelse):
            for each in (test, body, orelse):
                yield from _asked(each)
        case _:
            yield node


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


def _text(node: ast.expr) -> bool:
    """Whether an expression is a text, of which ``%`` and ``+`` make others."""
    value = getattr(node, "value", None)
    return isinstance(node, ast.JoinedStr) or (_constant(node) and isinstance(value, (str, bytes)))


def _of_method(node: ast.expr, function: ast.expr) -> dict[str, int]:
    """Where Python says that a method is called, or an attribute set: on the line of its name."""
    line, column = function.end_lineno, function.end_col_offset
    if not isinstance(function, ast.Attribute) or line is None or column is None:
        return {}
    if line == node.lineno or column < len(function.attr):
        return {}
    return {"lineno": line, "col_offset": column - len(function.attr)}
