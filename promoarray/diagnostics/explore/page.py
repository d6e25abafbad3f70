"""The page: every policy's answers as data, and the template that shows them."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Callable, Sequence
from importlib.metadata import version
from typing import Any

from promoarray import pages
from promoarray.console import ZERO_D
from promoarray.diagnostics.explore.answers import Answers
from promoarray.diagnostics.explore.casts import Casts, losses
from promoarray.diagnostics.explore.order import order_of
from promoarray.diagnostics.explore.pool import DTYPES, NUMBERS
from promoarray.diagnostics.explore.questions import (
    ORDER,
    Entry,
    Question,
    entries,
    held,
    questions,
)
from promoarray.dtypes import BY_NAME
from promoarray.promotion.plan import Rank
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import families

ASTYPE = "astype"
"""The question that is about casts; it comes last."""

_RANKS = {Rank.ARRAY: "array", Rank.ZERO_D: "0-d", Rank.SCALAR: "scalar"}

Step = Callable[[float], None]


def explore_page(
    policies: Sequence[Policy],
    step: Step = lambda part: None,
    asked: Sequence[Question] | None = None,
) -> str:
    """Make the page; see ``explore_data`` for the parameters.

    Returns
    -------
    str
        One file of HTML, which needs nothing else.
    """
    text = explore_json(policies, step, asked)
    packed = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
    body = f'{pages.read("explore.html")}\n<script type="text/plain" id="data">{packed}</script>'
    return pages.page(
        "promoarray: which dtype, and why", body, styles=("explore.css",), scripts=("explore.js",)
    )


def explore_json(
    policies: Sequence[Policy],
    step: Step = lambda part: None,
    asked: Sequence[Question] | None = None,
) -> str:
    """What the page knows, as JSON."""
    data = explore_data(policies, asked or questions(), step)
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def page_data(page: str) -> Any:
    """Read the data of a page back."""
    packed = page.partition('id="data">')[2].partition("<")[0]
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def explore_data(
    policies: Sequence[Policy], asked: Sequence[Question], step: Step
) -> dict[str, Any]:
    """What the page knows: texts, answers and rows by their numbers, and each policy's tables.

    Parameters
    ----------
    policies : sequence of Policy
        Those it shows, the first one first.
    asked : sequence of Question
        The operations it shows, besides casts.
    step : callable
        Is told which part of the work is done, from 0 to 1.
    """
    answers = Answers()
    casts = Casts(answers.lines)
    lost = losses(answers.lines)
    shown = []
    for number, policy in enumerate(policies):

        def part(done: float, number: int = number) -> None:
            step((number + done) / len(policies))

        shown.append(_policy(policy, answers, casts, asked, part))
    return {
        "version": version("promoarray"),
        "legend": ZERO_D,
        "dtypes": [
            [d.name, d.code, d.kind.value, d.bits] for d in (BY_NAME[name] for name in DTYPES)
        ],
        "order": [ORDER[BY_NAME[name]] for name in DTYPES],
        "aliases": {family: names[0] for family, names in families().items()},
        "questions": [*map(_question, asked), [ASTYPE, ASTYPE, "", 2]],
        "policies": shown,
        "losses": lost,
        "given": casts.given(),
        "lines": answers.lines.items(),
        "entering": answers.entering.items(),
        "answering": answers.answering.items(),
        "rows": answers.rows.items(),
        "castAnswers": casts.answers.items(),
        "values": casts.values.items(),
        "cells": casts.cells.items(),
    }


def _question(question: Question) -> list[Any]:
    row = question.row
    return [question.op, row.name, row.symbol if question.op == row.symbol else "", question.arity]


def _policy(
    policy: Policy, answers: Answers, casts: Casts, asked: Sequence[Question], step: Step
) -> dict[str, Any]:
    tables = answers.tables(policy, asked, step)
    shown = tuple(entries(policy))
    return {
        "name": policy.name,
        "title": policy.title,
        "principle": policy.principle,
        "refusal": policy.refusal,
        "weak": policy.weak_arrays,
        "ranks": any(entry.rank is Rank.ZERO_D for entry in shown),
        "sources": list(map(str, policy.sources)),
        "notes": list(map(str, policy.notes)),
        "castSources": list(map(str, policy.cast.sources or policy.sources)),
        "castNotes": list(map(str, policy.cast.notes)),
        "entries": [
            [e.label, NUMBERS.get(e.dtype.name, -1), _RANKS[e.rank], _called(e)] for e in shown
        ],
        "tables": tables,
        "casts": {
            "dtypes": [NUMBERS[d.name] for d in held(policy)],
            "table": casts.table(policy),
        },
        "order": order_of(policy).to_dict(),
    }


def _called(entry: Entry) -> str:
    """What an operand is called in the words on a cast: ``explain`` of a scalar tells its value."""
    return entry.dtype.name if not entry.dtype.weak else entry.label
