"""What the other policies answer to the same question, by family."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from promoarray.diagnostics.explain.cast_values import CastValue
from promoarray.diagnostics.explain.report import Answer
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import families


def other_policies(asked: Policy, ask: Callable[[str], Answer]) -> Iterator[Answer]:
    """Yield every family's answer, and those of its editions that give another.

    Parameters
    ----------
    asked : Policy
        Left out: its answer is known.
    ask : callable
        From a policy's name to its answer.
    """
    for names in families().values():
        answers = [ask(name) for name in names]
        groups: dict[Key, list[Answer]] = {}
        for answer in answers:
            if answer is answers[0] or _key(answer)[:3] != _key(answers[0])[:3]:
                groups.setdefault(_key(answer), []).append(answer)
        for group in groups.values():
            who = tuple(a.policies[0] for a in group if a.policies[0] != asked.name)
            if who:
                yield replace(group[0], policies=who)


Key = tuple[str | None, bool, tuple[CastValue, ...], str]


def _key(answer: Answer) -> Key:
    """What makes two answers the same: all but the edition that a reason names."""
    return answer.dtype, answer.weak, answer.values, re.sub(r"\d+", "", answer.reason)
