"""Explanations of functions that no rule is about: what frameworks answered when they were asked.

Such are ``normal_`` and ``flip``, which promote nothing, and of which a framework may lack kernels.
"""

from __future__ import annotations

from functools import cache

from promoarray.diagnostics.casts import Answer
from promoarray.diagnostics.explain.report import Explanation, other_policies
from promoarray.promotion.answers import MADE_OF_DTYPE
from promoarray.promotion.plan import Operand, Rank
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy, families


@cache
def was_asked(name: str) -> bool:
    """Whether the framework of some policy was asked for a function."""
    asked = (as_policy(each).answers for names in families().values() for each in names)
    return any(answers is not None and name in answers.rows for answers in asked)


def explain_function(name: str, operand: Operand, policy: Policy) -> Explanation:
    """Explain what a framework answered for a function of one array."""
    answers, made = policy.answers, was_asked(name + MADE_OF_DTYPE)
    row = name + MADE_OF_DTYPE * made
    answer = _answer(row, operand, policy)
    others = other_policies(policy, lambda name: _answer(row, operand, as_policy(name)))
    return Explanation(
        operation=name,
        policy=policy.name,
        title=policy.title,
        expression=f"{name}({'dtype=' * made}{operand})",
        answer=answer,
        steps=("no rule of promotion is about this function", said_of(answer)),
        casts=(),
        sources=(answers.source,) if answers is not None and answer.asked else (),
        notes=(),
        others=tuple(each for each in others if each.asked),
    )


def _answer(name: str, operand: Operand, policy: Policy) -> Answer:
    """What a framework answered for a function."""
    answers, names = policy.answers, (policy.name,)
    if operand.rank is not Rank.SCALAR:
        operand = operand._replace(type=policy.canonical.get(operand.type, operand.type))
    cell = None if answers is None else answers.cell(name, operand)
    if answers is None or cell is None:
        return Answer(names, None, reason=NOT_ASKED, asked=False)
    if not cell.refused:
        first, support = cell.results[0], answers.support(name, operand.type)
        dtype = policy.strong(first).name
        return Answer(names, dtype, first.weak, kernel=str(support) if support else "")
    lacks = answers.without_kernel(policy.title, name, operand.type, anywhere=False)
    plain = name.removesuffix(MADE_OF_DTYPE)
    taken = f"{policy.title} takes no {operand} in {plain} ({answers.source})"
    return Answer(names, None, reason=lacks.why if lacks else taken)


def said_of(answer: Answer) -> str:
    """Say what a policy answers."""
    if not answer.asked:
        return answer.reason
    said = f"refused: {answer.reason}" if answer.dtype is None else f"result: {answer.what}"
    return f"what its framework has for it was asked; {said}"


NOT_ASKED = "its framework was not asked"
