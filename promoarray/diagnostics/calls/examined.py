"""Functions that policies were examined for: what the real frameworks were asked, by name.

A policy answers for a plain operation by its rule. For other functions it answers if its framework
was asked (`promoarray.promotion.answers`); of the rest a report may not say that policies agree.
"""

from __future__ import annotations

import os.path
import re
from collections.abc import Collection, Iterator, Set
from functools import cache
from typing import Any, NamedTuple

from promoarray.diagnostics.calls.common import (
    FILLS,
    MADE_OF_DTYPE,
    OF_ANY,
    STRUCTURE,
    plain,
    words,
)
from promoarray.diagnostics.calls.tables import (
    KEYWORDS,
    names,
    names_of,
    rows_of,
    sections_of,
    synonyms,
    text_of,
)
from promoarray.dtypes import BY_NAME, INTEGERS, WEAK, DType, Kind
from promoarray.operations import OPERATIONS
from promoarray.promotion.answers import Answers, Grade
from promoarray.promotion.plan import Operand, Rank
from promoarray.promotion.policy import Policy


def examined(name: str, policy: Policy) -> bool:
    """Whether a policy answers for a function by a rule, or by what its framework was asked.

    Parameters
    ----------
    name : str
        As the recorded program's framework calls it: ``softmax``, ``nn.softmax``, ``__add__``.
    """
    name = name.removesuffix(MADE_OF_DTYPE)
    meant = _meant(name)
    if not {name, meant}.isdisjoint(STRUCTURE | OF_ANY | _OF_NUMBERS):
        return True
    if (steps := _COMPOSED.get(meant)) is not None:
        return all(_has_rule(policy, step) for step in steps)
    if not _asked(policy).isdisjoint((name, meant)):
        return True
    operation = _RUNNING.get(meant, meant)
    return operation in _computed() and _has_rule(policy, operation)


def refused(name: str, dtype: DType, policy: Policy) -> str:
    """Why a framework does not carry out a function on an array of a dtype; "" where it does.

    Of functions that move values, or stand for several operations, which no rule refuses.
    """
    if policy.answers is None:
        return ""
    strict = name in FILLS or name.endswith(MADE_OF_DTYPE)
    lacking = policy.answers.refuses if strict else policy.answers.without_kernel
    refusal = lacking(policy.title, _row(name, policy.answers), dtype)
    return "" if refusal is None else refusal.reason


def asked_on_a_cpu_alone(name: str, dtype: DType, policy: Policy) -> bool:
    """Whether nothing is known of a function on arrays of a dtype but that a CPU lacks it.

    Of functions that no rule is about: those that fill arrays, or make them of a dtype.
    """
    if policy.answers is None or not (name in FILLS or name.endswith(MADE_OF_DTYPE)):
        return False
    return policy.answers.asked_on_a_cpu_alone(_row(name, policy.answers), dtype)


def doubtful(name: str, dtype: DType, policy: Policy) -> str:
    """Why it is doubtful that a device carries out a function on arrays of a dtype; "" if not."""
    if policy.answers is None:
        return ""
    support = policy.answers.support(_row(name, policy.answers), dtype)
    return str(support) if support is not None and support.grade is Grade.DOUBTFUL else ""


def is_defined(name: str) -> bool:
    """Whether frameworks define a function otherwise."""
    return _definition_of(name) is not None


def defined_otherwise(
    name: str,
    home: Policy,
    policy: Policy,
    given: Collection[str] = (),
    dtypes: Collection[DType] = (),
) -> str:
    """How two frameworks define a function, in a sentence; "" where they define it alike.

    Parameters
    ----------
    home, policy : Policy
        That of the recorded program's framework, and another.
    given : collection of str
        The keywords of the call, which may say what else is a default.
    dtypes : collection of DType
        Those of its array, where they are known.
    """
    definition, name = _definition_of(name), name.removesuffix(MADE_OF_DTYPE)
    if definition is None or not definition.said_by.isdisjoint(given):
        return ""
    if dtypes and definition.dtypes and definition.dtypes.isdisjoint(dtypes):
        return ""
    editions = ((each.name, each.framework) for each in (home, policy))
    here, there = (definition.by.get(name) or definition.by.get(of) for name, of in editions)
    if not here or not there or here == there:
        return ""
    about = f"{name} {definition.about}".rstrip()
    return f"{about}: {here} in {home.title}, {there} in {policy.title}"


def keywords_lacking(
    name: str, home: Policy, policy: Policy, given: Collection[str]
) -> tuple[str, ...]:
    """The keywords of a call that the function of another framework does not take.

    Spellings of one parameter, such as ``dim`` and ``axis``, are the same; where an array is kept,
    as ``device`` says, is not asked.

    Parameters
    ----------
    home, policy : Policy
        That of the recorded program's framework, and another.
    given : collection of str
        The keywords of the call.
    """
    meant = _meant(name.removesuffix(MADE_OF_DTYPE))
    here, there = (_keywords(each.framework).get(meant) for each in (home, policy))
    if here is None or there is None:
        return ()
    named = {each: keyword(home.framework, each) for each in given}
    return tuple(each for each, known in named.items() if known in here and known not in there)


def keyword(framework: str, name: str) -> str:
    """A framework's keyword in the words of the tables; "" of one that is not compared."""
    known = _renamed(framework).get(name, name)
    return "" if {name, known} & _placement() else known


@cache
def _renamed(framework: str) -> dict[str, str]:
    return synonyms(text_of(framework, "parameters")) | synonyms(text_of("any", "parameters"))


@cache
def _placement() -> frozenset[str]:
    return names_of("any", "placement")


@cache
def _keywords(framework: str) -> dict[str, frozenset[str]]:
    """From functions of a framework, as what they mean in any, to the keywords that they take."""
    sections = {head[0]: body for head, body in sections_of(KEYWORDS)}
    rows = (row.split() for row in rows_of(sections.get(framework, "")))
    return {row[0]: frozenset(row[1:]) for row in rows if row}


def made_dtype(name: str, number: Any, policy: Policy) -> DType:
    """The dtype of what a function makes of a Python number, where the program names none.

    Parameters
    ----------
    name : str
        ``full``, ``arange``.
    """
    weak = WEAK[type(number)]
    if policy.answers is not None:
        cell = policy.answers.cell(_meant(name), Operand(weak, Rank.SCALAR))
        if cell is not None and not cell.refused:
            return policy.strong(cell.results[0])
    return policy.strong(weak)


_OF_NUMBERS = names("array as_tensor asarray scalar_tensor tensor to_tensor")
"""What makes an array of numbers has the default dtype of each policy, as what is of any dtype."""

_QUANTIZED = names("""
    fake_quantize_per_channel_affine fake_quantize_per_tensor_affine quantize_per_channel
    quantize_per_tensor
""")

_COMPOSED = {
    **dict.fromkeys(names("addbmm addmm addmv baddbmm linear"), ("matmul", "add")),
    "addcmul": ("multiply", "add"),
    "addcdiv": ("divide", "multiply", "add"),
    "lerp": ("subtract", "multiply", "add"),
    # Whoever records these says which policies have them (``record/quantized.py``).
    **dict.fromkeys(_QUANTIZED, ()),
}
"""Functions that are by definition these operations, one after the other."""

_RUNNING = {"cumsum": "cumulative_sum", "cumprod": "cumulative_prod"}
"""Names of operations that one framework, JAX, has under two with two rules."""


@cache
def _computed() -> frozenset[str]:
    return frozenset(OPERATIONS)


def _has_rule(policy: Policy, operation: str) -> bool:
    return operation in policy.operations or OPERATIONS[operation].family in policy.operations


def _asked(policy: Policy) -> Set[str]:
    """The functions that a policy's framework was asked; those of an edition alone."""
    answers = policy.answers
    if answers is None or policy.name.partition("+")[0] != answers.policy:
        return frozenset()
    return answers.rows.keys()


def _row(name: str, answers: Answers) -> str:
    """The function that a framework was asked for: that of the name, or what the name means."""
    return name if name in answers.rows else _meant(name)


@cache
def _meant(name: str) -> str:
    """The function that a name means in any framework."""
    if name.endswith(MADE_OF_DTYPE):
        return f"{_meant(name.removesuffix(MADE_OF_DTYPE))}{MADE_OF_DTYPE}"
    known = _operations()
    for each in (name, plain(name, known)):
        if each in known:
            return known[each]
    return _spelt().get(name) or plain(name.rpartition(".")[2], known)


@cache
def _spelt() -> dict[str, str]:
    """Names that are told by no table of operations."""
    return synonyms(text_of("any", "meanings"))


@cache
def _operations() -> dict[str, str]:
    """From names to operations; a name that two frameworks have is PyTorch's."""
    found: dict[str, str] = {}
    for framework in ("torch", "paddle", "jax", "tensorflow"):
        found = words(framework).operations | found
    return found


_KINDS = {"integers": {*INTEGERS, Kind.BOOL}, "complex": {Kind.COMPLEX}}
"""Words for kinds of dtypes, as definitions have them."""


class _Definition(NamedTuple):
    about: str
    by: dict[str, str]
    said_by: frozenset[str]

    @property
    def dtypes(self) -> frozenset[DType]:
        """The dtypes that it is about; none where it is about any."""
        words = re.findall(r"\w+", self.about)
        kinds = {kind for word in words for kind in _KINDS.get(word, ())}
        return frozenset(x for x in BY_NAME.values() if x.name in words or x.kind in kinds)


def _definition_of(name: str) -> _Definition | None:
    """How frameworks define a function, or it where a dtype is named."""
    known = _definitions()
    return known.get(_meant(name.removesuffix(MADE_OF_DTYPE))) or known.get(_meant(name))


def default_of(name: str, framework: str) -> str:
    """What a function does where no keyword says otherwise, in words; "" if it is as elsewhere."""
    known = _definitions().get(name)
    return known.by.get(framework, "") if known is not None and known.said_by else ""


@cache
def _definitions() -> dict[str, _Definition]:
    return dict(_read())


def _read() -> Iterator[tuple[str, _Definition]]:
    path = os.path.join(os.path.dirname(__file__), "definitions.txt")
    with open(path, encoding="utf-8") as file:
        lines = [line for line in file if line[0] != "#"]
    for line in lines:
        functions, about, *sides, keywords = (cell.strip() for cell in line.split("|"))
        by = {f: text for side in sides for f, text in _by_framework(side)}
        for function in functions.split():
            yield function, _Definition(about, by, names(keywords))


def _by_framework(side: str) -> Iterator[tuple[str, str]]:
    frameworks, _, text = side.partition(": ")
    for framework in frameworks.split():
        yield framework, text
