"""What docstrings say of frameworks (``statements.txt``), asked of the policies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import promoarray as pa
from promoarray import extras
from promoarray.dtypes import BY_CODE
from promoarray.errors import PromotionError

STATEMENTS = Path(__file__).with_name("statements.txt")

ROOT = Path(__file__).resolve().parents[1]

_PAGES = """
check dequantize dynamic_quantize fake_quantize from_dask from_onnx get_policy load namespace
quantization_parameters quantize record shadow table to_onnx why
"""
ELSEWHERE = frozenset(_PAGES.split())
"""Pages that name frameworks for files, tools and formats; quantization has tests of its own."""

FRAMEWORKS = re.compile(
    r"\b(NumPy(?! or CuPy| scalar)|JAX|PyTorch|Paddle|TensorFlow|MindSpore|ONNX|aclnn)\b(?!'s own)"
)


class Question(NamedTuple):
    """A call, its operands, and answers by patterns of policies."""

    call: str
    of: list[str]
    answers: list[tuple[list[str], list[str]]]


class Statement(NamedTuple):
    """What pages say, and how it is asked."""

    pages: list[str]
    words: str
    questions: list[Question]


@cache
def statements() -> list[Statement]:
    found = []
    for block in STATEMENTS.read_text(encoding="utf-8").strip().split("\n\n")[1:]:
        pages, words, *asked = block.splitlines()
        found.append(Statement(pages.split(), words, [_question(line[2:]) for line in asked]))
    return found


def _question(line: str) -> Question:
    call, of, answers = (cell.strip() for cell in line.split("|"))
    told = [part.partition(": ") for part in answers.split("; ")]
    return Question(call, of.split(), [(names.split(), cells) for names, _, cells in told])


# -- asking ---------------------------------------------------------------------------------------


def answer(call: str, of: str, policy: str) -> str:
    """What a call gives under a policy: its dtypes, or itself if it is no array."""
    names = {name: getattr(pa, name) for name in dir(pa)} | vars(extras)
    with np.errstate(all="ignore"):
        for name, code in zip("xy", of.split(","), strict=False):
            if code:
                identity = pa.asarray(np.eye(3, dtype=np.float32))
                names[name] = pa.PArray._wrap(identity.astype(BY_CODE[code])._buffer, BY_CODE[code])
        with pa.policy(policy):
            try:
                return _shown(eval(call, names))
            except PromotionError:
                return "-"
            except (TypeError, ValueError) as error:
                return "-" if type(error) is TypeError else type(error).__name__


def _shown(made: Any) -> str:
    if isinstance(made, tuple):
        return ";".join(map(_shown, made))
    return made.dtype.code if isinstance(made, pa.PArray) else str(made)


def false_answers(statement: Statement) -> Iterator[str]:
    """The answers that policies give otherwise."""
    for page in statement.pages:
        for call, of, answers in statement.questions:
            for pattern, cells in ((each, cells) for names, cells in answers for each in names):
                policies = [name for name in pa.list_policies() if _matches(name, pattern)]
                if not policies:
                    yield f"no policy is {pattern}"
                for policy in policies:
                    yield from _asked(call.replace("{}", page), of or [""], policy, cells)


def _matches(policy: str, pattern: str) -> bool:
    """Whether a pattern means a policy; of ONNX's and Ascend's editions only what it names."""
    family = policy.partition("@")[0]
    own = pattern.partition("@")[0].rstrip("*")
    return fnmatchcase(policy, pattern.replace("onnx*", "onnx@25")) and own in ("", family)


def _asked(call: str, of: list[str], policy: str, cells: str) -> Iterator[str]:
    several = [cells] if len(of) == 1 or " " not in cells else cells.split()
    several = several * len(of) if len(several) == 1 else several
    for code, said in zip(of, several, strict=True):
        got = answer(call, code, policy)
        if got != (code.partition(",")[0] if said == "=" else said):
            yield f"{call} of {code or 'no array'} under {policy}: {got}, said: {said}"


# -- tests ----------------------------------------------------------------------------------------


def said_by(page: str) -> str:
    """The text of a page, or of a docstring without its examples, in one line."""
    if page.endswith(".md"):
        return " ".join((ROOT / page).read_text(encoding="utf-8").split())
    found: Any = pa
    for name in page.split("."):
        found = getattr(extras if found is pa and not hasattr(pa, name) else found, name)
    text = re.sub(r"(?m)^ *(>>>|\.\.\.) .*\n(?:.+\n)*", "", found.__doc__ + "\n")
    return " ".join(text.split())


@pytest.mark.parametrize("statement", statements(), ids=lambda s: f"{s.pages[0]}: {s.words[:40]}")
def test_policies_answer_as_docstrings_say(statement: Statement) -> None:
    missing = [page for page in statement.pages if statement.words not in said_by(page)]
    assert not missing, f"not said by {missing}: {statement.words}"
    assert not [*false_answers(statement)]


def pages() -> Iterator[str]:
    for prefix, module in (("", pa), ("", extras), ("linalg.", pa.linalg), ("fft.", pa.fft)):
        for name in dir(module):
            made = getattr(module, name)
            if not name.startswith("_") and callable(made) and not isinstance(made, type):
                yield f"{prefix}{name}" if made.__doc__ else ""


def test_every_statement_about_a_framework_is_asked() -> None:
    found = []
    for page in sorted({*pages()} - {""} - ELSEWHERE):
        text = said_by(page)
        for statement in statements():
            text = text.replace(statement.words, "") if page in statement.pages else text
        found += [f"{page}: {s}" for s in re.split(r"(?<=[.:;]) ", text) if FRAMEWORKS.search(s)]
    assert not found, "\n".join(found)
