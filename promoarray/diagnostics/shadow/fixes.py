"""The edit that makes a policy answer at one place what the run answered there.

An edit writes down what the run's policy did unasked: the fewest operands are cast to what they
became in the run, so that the run itself computes the same as before. Where that does not do, the
casts that a refusal proposes are written, and the result is cast.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import NamedTuple

from promoarray.core.observers import OperationEvent
from promoarray.core.proposed_casts import accepted_casts
from promoarray.dtypes import DType
from promoarray.promotion.plan import Operand, Plan, Rank
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
    """

    casts: tuple[tuple[int, DType], ...]
    result: DType | None = None

    def __str__(self) -> str:
        parts = [f"x{index + 1} to {dtype.name}" for index, dtype in self.casts]
        parts += [f"the result to {self.result.name}"] if self.result else []
        return f"cast {' and '.join(parts)}"

    def written(self, expression: str, namespace: str) -> str:
        """Write the expression with the casts; "" if its operands are not to be told apart.

        Parameters
        ----------
        expression : str
            The source of the operation.
        namespace : str
            By what name the program has the array namespace.
        """
        try:
            tree = ast.parse(expression, mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return ""
        nodes = operand_nodes(tree)
        if self.casts and max(index for index, _ in self.casts) >= len(nodes):
            return ""
        casts = {id(nodes[index]): dtype for index, dtype in self.casts}
        edited = ast.unparse(_Writer(casts, namespace).visit(tree))
        return _cast(edited, self.result, namespace) if self.result else edited


def fix_of(
    policy: Policy, event: OperationEvent, seen: Operands, answer: DType | None, wanted: DType
) -> Fix | None:
    """Find the edit after which a policy answers what the run answered.

    Parameters
    ----------
    policy : Policy
    event : OperationEvent
        What the run did.
    seen : tuple of Operand
        The operands as the policy has them.
    answer, wanted : DType
        What the policy answers, None if it refuses; and what the run answered.
    """
    for casts in _as_in_the_run(event, seen):
        operands = tuple(
            Operand(casts[i], Rank.ZERO_D if o.rank is Rank.SCALAR else o.rank) if i in casts else o
            for i, o in enumerate(seen)
        )
        plan = policy.plan(event.name, operands, event.form)
        if isinstance(plan, Plan) and policy.strong(plan.result) is wanted:
            return Fix(tuple(casts.items()))
    proposed: Mapping[int, DType] = {}
    if answer is None:
        accepted = accepted_casts(policy, event.name, seen, event.form)
        if accepted is None:
            return None
        proposed, answer = accepted[0], policy.strong(accepted[1].result)
    if answer is wanted:
        return Fix(tuple(proposed.items()))
    if event.inplace or wanted not in policy.dtypes or policy.cast.refuses(answer, wanted):
        return None
    return Fix(tuple(proposed.items()), wanted)


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


def operand_nodes(tree: ast.expr) -> list[ast.expr]:
    """Return the operands of an operation as they stand in its expression."""
    match tree:
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.Compare(left=left, comparators=[right]):
            return [left, right]
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.Call(func=ast.Attribute(attr="where"), args=[_, *others]):
            return others
        case ast.Call(args=[ast.List(elts=parts) | ast.Tuple(elts=parts), *_]):
            return parts
        case ast.Call(args=args) if not any(isinstance(arg, ast.Starred) for arg in args):
            return args
    return []


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


def _is_number(node: ast.AST) -> bool:
    inner = node.operand if isinstance(node, ast.UnaryOp) else node
    return isinstance(inner, ast.Constant)


def _cast(text: str, dtype: DType, namespace: str, *, number: bool = False) -> str:
    target = f"{namespace}.{dtype.name}"
    if number:
        return f"{namespace}.asarray({text}, dtype={target})"
    return f"{namespace}.astype({text}, {target})"
