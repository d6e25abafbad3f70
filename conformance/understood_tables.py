"""The recorder's table of functions by what they were seen to do with dtypes.

A function that no table has by hand is *moved* if every answer keeps its operand's dtype, *made* if
all are the same whatever it is given, and else stands for the first operation whose rule gives
every answer but those of truth values. What no rule fits is left out.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from promoarray.diagnostics.calls import common, tables
from promoarray.diagnostics.calls.common import Words, words
from promoarray.diagnostics.record.handlers import handler_in
from promoarray.diagnostics.record.report import UNKNOWN
from promoarray.dtypes import BY_CODE
from promoarray.operations import OPERATIONS
from promoarray.promotion.plan import Operand, Refusal
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

SWEPT = Path(tables.__file__).with_name(tables.SWEPT)
HOMES = {"torch": "torch@2.13", "paddle": "paddle@3.3", "jax": "jax@x64", "numpy": "numpy@2"}
ONE = ["exp", "mean", "sum", "abs", "std", "svdvals", "round", "eigvals", "exp abs", "fft abs"]
TWO = ["add", "divide", "multiply", "matmul", "atan2", "solve", "maximum", "equal"]
TWO += ["subtract abs", "divide abs"]
"""Operations that a function of one array, or of several, may stand for, the likeliest first; after
some another is carried out."""
LEAST = 2
"""A function that took fewer dtypes than these says too little of a rule."""

Rows = dict[str, str]


def sections(found: dict[str, list[list[Any]]]) -> Iterator[str]:
    """The sections of every framework, of what was answered by framework."""
    for framework, answers in found.items():
        by_kind: dict[str, set[str]] = {}
        for name, row in fitted(framework, answers).items():
            by_kind.setdefault(row, set()).add(name)
        expansions = []
        for kind, names in sorted(by_kind.items()):
            text = " ".join(sorted(names))
            if "(" in kind:
                expansions.append(_folded(f"{text} {kind}", "    "))
            else:
                yield f"[{framework}: {kind}]\n{_folded(text, '')}\n"
        if expansions:
            yield f"[{framework}: expansions]\n" + "\n".join(expansions) + "\n"


def _folded(text: str, indent: str) -> str:
    return textwrap.fill(text, 100, subsequent_indent=indent, break_long_words=False)


def fitted(framework: str, answers: list[list[Any]]) -> dict[str, str]:
    """From the names that the recorder hears of a framework to their rows in the table."""
    known, by_hand = swept(framework), hand(framework)
    found: dict[str, set[str]] = {}
    for _, _, name, answer in answers:
        heard = name if framework == "paddle" else _heard(name, answer)
        if not answer or not heard or handler_in(by_hand, heard) is not None:
            continue
        if framework != "paddle" or heard in known or answer["kind"] == UNKNOWN:
            found.setdefault(heard, set()).add(row(framework, answer))
    return {
        name: kinds.pop() for name, kinds in found.items() if len(kinds) == 1 and "" not in kinds
    }


@cache
def hand(framework: str) -> Words:
    """What the names of a framework mean without this table."""
    every = tables._sections
    tables._sections = lambda: [*tables.sections_of("functions.txt")]  # type: ignore[assignment]
    try:
        _forget()
        return words(framework)
    finally:
        tables._sections = every
        _forget()


def _forget() -> None:
    for each in (tables.text_of, tables.names_of, words):
        each.cache_clear()
    for each in (common.operations, common.expansions, common.defaults):
        each.cache_clear()


def swept(framework: str) -> set[str]:
    """The names that the table has of a framework."""
    bodies = [body for head, body in tables.sections_of(tables.SWEPT) if framework in head]
    return {name for body in bodies for name in tables.expansions_in(body) or tables.names(body)}


def _heard(name: str, answer: Any) -> str:
    """As what the recorder hears of a function, beside what its own code calls."""
    names = answer.get("names", []) if answer else []
    own = [each for each in names if each.rpartition(".")[2] == name]
    return names[0] if len(names) == 1 else own[0] if len(own) == 1 else ""


def row(framework: str, answer: Any) -> str:
    """The kind of a function, or the operation that it stands for; "" if nothing fits."""
    rows, slots = answer["rows"], answer["slots"]
    rows = {given: made for given, made in rows.items() if made}
    if not rows:
        return ""
    kept = slots and all(_kept(given.split(), made.split()) for given, made in rows.items())
    mixed = any(len(set(given.split())) > 1 for given in rows)
    move = "moves" if slots[:1] == [0] else f"moves_{slots[0]}" if slots else ""
    beside = len(slots) > 1 and slots[1] == slots[0] + 1
    if kept and (mixed or not beside):
        return move
    if len(set(rows.values())) == 1 and (len(rows) > LEAST or not slots):
        return "makes"
    if not slots or len(rows) < LEAST:
        return ""
    home = as_policy(HOMES[framework])
    names = _parameters(slots)
    numbers = [each for each in rows.items() if "b1" not in each[0].split()]
    if len(numbers) < LEAST:
        return move if kept else ""
    for operation, *then in map(str.split, TWO if len(slots) > 1 else ONE):
        if all(_gives(home, (operation, *then), *each) for each in numbers):
            used = ", ".join(names[i] for i in slots[:2])
            steps = f"{operation}({used})" + "".join(f" {step}(_)" for step in then)
            return f"({', '.join(names)}): {steps}"
    return move if kept else ""


def _kept(given: list[str], made: list[str]) -> bool:
    """Whether the first result has the dtype of the first operand, as it has to with another's."""
    return bool(made) and made[0].rstrip("*") == given[0]


def _parameters(slots: list[int]) -> list[str]:
    names = iter(("input", "other"))
    return [next(names) if i in slots[:2] else f"at{i}" for i in range(slots[:2][-1] + 1)]


def _gives(home: Policy, operations: tuple[str, ...], given: str, made: str) -> bool:
    """Whether our policy gives such a result for operations of such operands."""
    types = given.split()
    for name in operations:
        arity = OPERATIONS[name].arity or 2
        plan = home.plan(name, tuple(Operand(BY_CODE[code]) for code in (types * 2)[:arity]))
        if isinstance(plan, Refusal):
            return False
        types = [home.strong(plan.result).code]
    return made.split()[0].rstrip("*") == types[0]


def write(found: dict[str, list[list[Any]]]) -> None:
    """Write the table."""
    head = "# Made by `conformance/understood.py --tables`: what functions did in a sweep.\n\n"
    text = head + "\n".join(sections(found))
    SWEPT.write_text(text, encoding="utf-8")
