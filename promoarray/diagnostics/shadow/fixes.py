"""The edit that makes a policy answer at one place what the run answered there.

An edit writes down what the run's policy did unasked: the fewest operands are cast to what they
became in the run, so that the run itself computes the same as before. Where that does not do, the
casts that a refusal proposes are written, and the result is cast.
"""

from __future__ import annotations

import ast
import linecache
import re
from collections.abc import Collection, Iterator, Mapping
from itertools import combinations
from typing import Any, NamedTuple

from promoarray.core.observers import OperationEvent
from promoarray.core.operands import operand_of
from promoarray.core.proposed_casts import accepted_casts
from promoarray.dtypes import WEAK, DType
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy

Operands = tuple[Operand, ...]


class Fix(NamedTuple):
    """Which casts to write.

    Attributes
    ----------
    casts : tuple of (int, DType)
        The operands to cast, counted from 0, and to what.
    result : DType or None
        What to cast the result to.
    made : DType or None
        Of an array that is made of Python numbers: the dtype to ask for.
    """

    casts: tuple[tuple[int, DType], ...] = ()
    result: DType | None = None
    made: DType | None = None

    def __str__(self) -> str:
        if self.made:
            return f"dtype={self.made.name}"
        parts = [f"x{index + 1} to {dtype.name}" for index, dtype in self.casts]
        parts += [f"the result to {self.result.name}"] if self.result else []
        return f"cast {' and '.join(parts)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the casts as data."""
        return {
            "casts": [{"operand": index, "dtype": dtype.name} for index, dtype in self.casts],
            "result": self.result.name if self.result else None,
            "dtype": self.made.name if self.made else None,
        }

    def written(self, expression: str, file: str) -> str:
        """Write the expression with the casts; "" if its operands are not to be told apart.

        Parameters
        ----------
        expression : str
            The source of the operation.
        file : str
            The program it stands in, which says by what name it has the array namespace.
        """
        namespace = namespace_in(file, expression)
        try:
            tree = ast.parse(expression, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ""
        if self.made:
            return _made(tree, self.made, namespace)
        nodes = operand_nodes(tree, {namespace, *modules_in(file)})
        if self.casts and max(index for index, _ in self.casts) >= len(nodes):
            return ""
        casts = {id(nodes[index]): dtype for index, dtype in self.casts}
        edited = ast.unparse(_Writer(casts, namespace).visit(tree))
        return _cast(edited, self.result, namespace) if self.result else edited


def fix_of(policy: Policy, event: OperationEvent, wanted: DType) -> Fix | None:
    """Find the edit after which a policy answers what the run answered.

    The operands are those of the run, which they are after the edits of the lines before.

    Parameters
    ----------
    policy : Policy
    event : OperationEvent
        What the run did.
    wanted : DType
        What the run answered.

    Returns
    -------
    Fix or None
        None if there is no such edit, or none is needed once the lines before are edited.
    """
    seen = tuple(as_given(policy, x) for x in event.operands)
    decided = policy.decide(event.name, seen, event.operands, event.form, options=event.options)
    answer = None if isinstance(decided, Refusal) else policy.strong(decided.plan.result)
    if answer is wanted:
        return None
    for casts in _as_in_the_run(event, seen):
        operands = _cast_to(seen, casts)
        if all(_gives(each, event, operands, wanted) for each in (policy, event.policy)):
            return Fix(tuple(casts.items()))
    proposed: Mapping[int, DType] = {}
    if answer is None:
        accepted = accepted_casts(policy, event.name, seen, event.form)
        if accepted is None:
            return None
        proposed, answer = accepted[0], policy.strong(accepted[1].result)
        if not _gives(event.policy, event, _cast_to(seen, proposed), None):
            return None
    if answer is wanted:
        return Fix(tuple(proposed.items()))
    if event.inplace or wanted not in policy.dtypes or policy.cast.refuses(answer, wanted):
        return None
    return Fix(tuple(proposed.items()), wanted)


def _cast_to(seen: Operands, casts: Mapping[int, DType]) -> Operands:
    """The operands with some of them cast, Python scalars among them to 0-d arrays."""
    return tuple(
        Operand(casts[i], Rank.ZERO_D if o.rank is Rank.SCALAR else o.rank) if i in casts else o
        for i, o in enumerate(seen)
    )


def _gives(policy: Policy, event: OperationEvent, operands: Operands, wanted: DType | None) -> bool:
    """Whether a policy answers a dtype, or any, for operands that are cast."""
    plan = policy.plan(event.name, operands, event.form)
    return isinstance(plan, Plan) and wanted in (None, policy.strong(plan.result))


def as_given(policy: Policy, x: Any, dtype: DType | None = None) -> Operand:
    """An operand as a policy sees it: of the run, or of another dtype that it has given it."""
    operand = operand_of(x, policy)
    if type(x) in WEAK:
        return operand
    dtype = dtype or operand.type
    dtype = policy.canonical.get(dtype, dtype)  # what it would have made in the first place
    if dtype.weak and not policy.weak_arrays:
        dtype = policy.strong(dtype)
    return operand if dtype is operand.type else operand._replace(type=dtype)


def _as_in_the_run(event: OperationEvent, seen: Operands) -> Iterator[dict[int, DType]]:
    """Casts of some operands to what they became in the run, the fewest first."""
    became = dict(enumerate(event.plan.inputs))
    first = 1 if event.inplace else 0  # the target keeps its dtype
    open_ = [i for i in became if i >= first and seen[i].type is not became[i]]
    sizes = range(1, len(open_) + 1) if len(open_) <= _FEW else (len(open_),)
    for size in sizes:
        for chosen in combinations(open_, size):
            yield {i: became[i] for i in chosen}


_FEW = 4
"""Of more operands all or none are cast."""


def operand_nodes(tree: ast.expr, modules: Collection[str]) -> list[ast.expr]:
    """Return the operands of an operation as they stand in its expression.

    The first operand of ``x.sum(0)`` is ``x``, of ``xp.sum(x)`` the argument: ``modules`` are the
    names that stand for modules and namespaces.
    """
    if isinstance(tree, ast.Call) and (array := _method_of(tree, modules)):
        return [array, *tree.args]
    match tree:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.Compare(left=left, comparators=[right]):
            return [left, right]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.Call(func=ast.Attribute(attr="where") | ast.Name(id="where"), args=[_, *others]):
            return others
        case ast.Call(args=[ast.List(elts=parts) | ast.Tuple(elts=parts), *_]):
            return parts
        case ast.Call(args=args) if not any(isinstance(arg, ast.Starred) for arg in args):
            return args
    return []


def _method_of(call: ast.Call, modules: Collection[str]) -> ast.expr | None:
    """The array that a method is called on; None of a function."""
    if not isinstance(call.func, ast.Attribute):
        return None
    root: ast.expr = call.func.value
    while isinstance(root, ast.Attribute):
        root = root.value
    return None if isinstance(root, ast.Name) and root.id in modules else call.func.value


class _Writer(ast.NodeTransformer):
    """Puts casts around some expressions."""

    def __init__(self, casts: dict[int, DType], namespace: str) -> None:
        self._casts, self._namespace = casts, namespace

    def visit(self, node: ast.AST) -> ast.AST:
        dtype = self._casts.get(id(node))
        if dtype is None:
            return self.generic_visit(node)
        text = _cast(ast.unparse(node), dtype, self._namespace, number=_is_number(node))
        return ast.parse(text, mode="eval").body


def _made(tree: ast.expr, dtype: DType, namespace: str) -> str:
    if not isinstance(tree, ast.Call) or any(word.arg == "dtype" for word in tree.keywords):
        return ""
    asked = ast.parse(f"f(dtype={namespace}.{dtype.name})", mode="eval").body
    assert isinstance(asked, ast.Call)
    return ast.unparse(ast.Call(tree.func, tree.args, [*tree.keywords, *asked.keywords]))


def namespace_in(file: str, expression: str) -> str:
    """Return by what name a program has promoarray: as it imports it, or as it calls it here."""
    for line in linecache.getlines(file):
        if found := _IMPORTED.match(line):
            return found[1] or "promoarray"
    called = _CALLED.match(expression)
    return called[1] if called else "xp"


def modules_in(file: str) -> set[str]:
    """Return the names that a program imports, or that it gives to namespaces."""
    lines = "".join(linecache.getlines(file))
    imported = (names.split(",") for names in _IMPORTS.findall(lines))
    named = {
        name.split(" as ")[-1].strip().partition(".")[0] for names in imported for name in names
    }
    return named | set(_NAMESPACES.findall(lines))


_IMPORTS = re.compile(r"^\s*(?:from [\w.]+ )?import ([\w., ]+)", re.MULTILINE)
_NAMESPACES = re.compile(r"^\s*(\w+)\b[^=\n]*=.*namespace\w*\(", re.MULTILINE)
_IMPORTED = re.compile(r"\s*import promoarray(?: as (\w+))?\s*(?:#.*)?$")
_CALLED = re.compile(r"(\w+)\.\w+\(")


def _is_number(node: ast.AST) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant)


def _cast(text: str, dtype: DType, namespace: str, *, number: bool = False) -> str:
    target = f"{namespace}.{dtype.name}"
    if number:
        text = {"True": "1", "False": "0"}.get(text, text)  # which not every dtype takes
        return f"{namespace}.asarray({text}, dtype={target})"
    return f"{namespace}.astype({text}, {target})"
