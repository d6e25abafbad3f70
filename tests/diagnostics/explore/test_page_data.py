"""The data in the page is what the policies answer, cell by cell; texts are explain's."""

from __future__ import annotations

import base64
import json
import random
import re
import zlib
from functools import cache
from itertools import product
from typing import Any

import pytest
from sampled import turns

import promoarray as pa
from promoarray import pages
from promoarray.diagnostics.ask.observer import DEFAULT
from promoarray.diagnostics.explore.answers import (
    ALIKE,
    MARK,
    SCALARS,
    Marker,
    Question,
    entries,
    questions,
)
from promoarray.diagnostics.explore.page import explore_json, explore_page
from promoarray.operations import BY_SYMBOL
from promoarray.policies import as_policy
from promoarray.promotion.plan import Operand, Rank, Refusal

SMALL = ("paddle@2.6", "onnx@13", "aclnn@8.0")
"""Policies quick to ask: a table, an operator's list of types, a rule by category."""

SOME = ("+", "-", "/", "<", "&", "maximum", "where", "sqrt")
FEW = tuple(question for question in questions() if question.op in SOME)


def page_data(page: str) -> Any:
    """What a page knows, as its script unpacks it."""
    packed = page.partition('id="data">')[2].partition("<")[0]
    return json.loads(zlib.decompress(base64.b64decode(packed)))


def filled(text: str, values: dict[str, str]) -> str:
    """The words in place of the marks, as the page has them."""
    return re.sub(rf"{MARK}(.)", lambda m: values[m[1]], text)


@cache
def page_of(names: tuple[str, ...], asked: tuple[Question, ...] = FEW) -> str:
    return explore_page([as_policy(name) for name in names], asked=asked)


def data(*names: str) -> Any:
    return page_data(page_of(names))


def answer(page: Any, policy: Any, op: int, cell: tuple[int, ...]) -> Any:
    row, column = cell if len(cell) == 2 else (0, cell[0])
    number = policy["rows"][policy["tables"][op][1][row]][column]
    return None if number < 0 else policy["answering"][number]


@pytest.mark.slow
@pytest.mark.parametrize("name", SMALL)
def test_every_cell_is_what_the_policy_answers(name: str) -> None:
    assert wrong_cells(data(*SMALL), name, FEW) == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "turn"), [("numpy@1", 0), ("paddle@3.3", 1)])
def test_every_cell_of_every_operation(name: str, turn: int) -> None:
    asked = tuple(turns(questions(), 7, turn))
    page = page_data(page_of((name,), asked))
    assert wrong_cells(page, name, asked) == []
    assert wrong_words(page, name, asked, 40) == []


def wrong_cells(page: Any, name: str, asked: tuple[Question, ...]) -> list[Any]:
    """Cells with another dtype than the policy answers."""
    policy = as_policy(name)
    stored = next(each for each in page["policies"] if each["name"] == name)
    shown, wrong = tuple(entries(policy)), []
    for op, question in enumerate(asked):
        pairs = (
            [(i, j) for i in range(len(shown)) for j in range(len(shown))]
            if question.arity == 2
            else [(i,) for i in range(len(shown))]
        )
        for cell in pairs:
            operands = [shown[i] for i in cell]
            found = answer(page, stored, op, cell)
            if all(entry.rank is Rank.SCALAR for entry in operands):
                assert found is None
                continue
            value = None if policy.by_value is None else 1
            seen = [
                e.entered
                if e.rank is not Rank.SCALAR
                else Operand(e.dtype, e.rank, e.entered if value else None)
                for e in operands
            ]
            seen = [o._replace(type=policy.canonical.get(o.type, o.type)) for o in seen]
            values = [e.entered for e in operands]
            decided = policy.decide(question.row.name, tuple(seen), tuple(values), question.form)
            refused = isinstance(decided, Refusal)
            expected = None if refused else policy.strong(decided.plan.result).name
            dtypes = [entry.dtype.name for entry in operands]
            result = found[0]
            shows = (
                None
                if result == -1
                else dtypes[-2 - result]
                if result < -1
                else page["dtypes"][result][0]
            )
            if shows != expected:
                wrong.append((question.op, *(entry.label for entry in operands), shows, expected))
    return wrong


def lines_of(page: Any, stored: Any, op: int, cell: tuple[int, ...]) -> list[str]:
    """The rule of a cell in words, put together as the page does."""
    row, column = cell if len(cell) == 2 else (0, cell[0])
    entering = stored["entering"][stored["rows"][stored["tables"][op][0][row]][column]]
    numbers = (*entering, *answer(page, stored, op, cell)[2])
    dtypes = [stored["entries"][i][1] for i in cell]
    names = {str(i + 1): page["dtypes"][d][0] for i, d in enumerate(dtypes) if d >= 0}
    codes = {str(i + 3): page["dtypes"][d][1] for i, d in enumerate(dtypes) if d >= 0}
    said = {"t": stored["title"], "p": stored["name"], "r": stored["principle"]}
    said |= {"f": stored["refusal"], "n": page["questions"][op][1]}
    return [filled(stored["lines"][number], {**names, **codes, **said}) for number in numbers]


def asked_of_explain(label: str) -> Any:
    return next((value for value in SCALARS if repr(value) == label), label)


@pytest.mark.parametrize("name", SMALL)
def test_the_words_of_a_cell_are_those_of_explain(name: str) -> None:
    assert wrong_words(data(*SMALL), name, FEW, 12) == []


def wrong_words(page: Any, name: str, asked: tuple[Question, ...], tries: int) -> list[Any]:
    """Cells drawn by chance whose steps are not those of explain."""
    stored = next(each for each in page["policies"] if each["name"] == name)
    draw, wrong = random.Random(7), []
    for op, question in enumerate(asked):
        for _ in range(tries):
            cell = tuple(draw.randrange(len(stored["entries"])) for _ in range(question.arity))
            labels = [stored["entries"][i][0] for i in cell]
            if answer(page, stored, op, cell) is None:
                continue
            explained = pa.explain(question.op, *map(asked_of_explain, labels), policy=name)
            if lines_of(page, stored, op, cell) != list(explained.steps):
                wrong.append((question.op, *labels))
    return wrong


def test_a_refusal_has_the_words_of_the_error_on_what_to_write() -> None:
    page = data(*SMALL)
    stored = next(each for each in page["policies"] if each["name"] == "aclnn@8.0")
    labels = [entry[0] for entry in stored["entries"]]
    op = [question[0] for question in page["questions"]].index("&")
    cell = labels.index("int8"), labels.index("float32")
    write = stored["lines"][answer(page, stored, op, cell)[8]]
    xp = pa.namespace("aclnn@8.0")
    with pytest.raises(pa.PromotionError) as refused:
        xp.ones(1, dtype="int8") & xp.ones(1, dtype="float32")
    assert write.startswith("Write pa.astype(")
    assert filled(write, {"1": "int8", "2": "float32"}) in str(refused.value)


@pytest.mark.parametrize("name", SMALL)
def test_every_cast_gives_the_bits_that_astype_gives(name: str) -> None:
    from promoarray.diagnostics.casts import cast_answer, cells
    from promoarray.diagnostics.explore.answers import special_values

    page, policy = data(*SMALL), as_policy(name)
    stored = next(each for each in page["policies"] if each["name"] == name)["casts"]
    dtypes = [pa.dtypes.BY_NAME[page["dtypes"][number][0]] for number in stored["dtypes"]]
    for source, row in zip(dtypes, stored["table"], strict=True):
        for target, number in zip(dtypes, row, strict=True):
            made, values = page["castAnswers"][number], special_values(source, target)
            expected = cast_answer(policy, values, source, target)
            if expected.dtype is None:
                assert made[0] == -1, (source, target)
                assert expected.reason in page["lines"][made[3]]
                continue
            shown = [page["cells"][n] for n in page["values"][made[7]]]
            assert shown == [[v.bits, v.value] for v in expected.values], (source, target)
            given = page["values"][page["given"][made[6]][made[0]]]
            said = [page["cells"][n] for n in given]
            assert said == [[v.bits, v.value] for v in cells(values, source)]


def test_special_values_are_those_that_go_wrong() -> None:
    from promoarray.diagnostics.casts import cells
    from promoarray.diagnostics.explore.answers import special_values

    given = [v.value for v in cells(special_values(pa.float32, pa.float8_e4m3fn), pa.float32)]
    assert {"inf", "-inf", "nan", "-0", "896", "0.001953125"} <= set(given)
    given = [v.value for v in cells(special_values(pa.float32, pa.int8), pa.float32)]
    assert {"128", "-129", "nan", "inf"} <= set(given)


def test_marks_are_filled_in_exactly() -> None:
    mark = Marker({"Some Title": "t"})
    text = "x1: int8 to float32 as Some Title has it; row i8, int8s"
    marked = mark(text, {"int8": "1", "i8": "3"})
    assert marked == "x1: ¤1 to float32 as ¤t has it; row ¤3, int8s"
    assert filled(marked, {"1": "int8", "3": "i8", "t": "Some Title"}) == text
    with pytest.raises(ValueError, match="sign that marks stand after"):
        mark("¤", {})


@pytest.mark.parametrize("name", DEFAULT)
def test_operators_left_out_of_a_common_page_give_the_same_dtypes(name: str) -> None:
    policy, wrong = as_policy(name), []
    shown = [Operand(entry.dtype, entry.rank) for entry in entries(policy)]
    for symbol, others in ALIKE.items():
        first, *rest = (BY_SYMBOL[each].name for each in (symbol, *others))
        for operands in product(shown, repeat=2):
            plan = policy.plan(first, operands)
            expected = None if isinstance(plan, Refusal) else plan.result
            for other in rest:
                found = policy.plan(other, operands)
                if (None if isinstance(found, Refusal) else found.result) is not expected:
                    wrong.append((other, *map(str, operands)))
    assert wrong == []


def test_the_page_is_one_file_that_asks_for_nothing_else() -> None:
    page = page_of(SMALL)
    assert page.startswith("<!doctype html>")
    shown = page.replace(page.partition('id="data">')[2].partition("<")[0], "")
    assert "http" not in shown
    assert "src=" not in shown
    assert "@import" not in shown
    assert len(page) < 200_000


def test_a_page_of_common_dtypes_says_what_one_of_all_says() -> None:
    policies, everything = [as_policy("paddle@2.6"), as_policy("onnx@13")], data(*SMALL)
    common = json.loads(explore_json(policies, asked=FEW, every=False, workers=2))
    for stored in common["policies"]:
        labels = [entry[0] for entry in stored["entries"]]
        assert "float32" in labels
        assert "bool" in labels
        assert "float8_e4m3fn" not in labels
        assert ("int64[]" in labels) == stored["ranks"]
        assert "int8[]" not in labels
        assert wrong_words(common, stored["name"], FEW, 4) == []
        casts = [each["casts"] for each in everything["policies"] if each["name"] == stored["name"]]
        assert [stored["casts"]["dtypes"]] == [each["dtypes"] for each in casts]


def test_operators_are_common_and_few_functions_of_two() -> None:
    common, every = questions(every=False), questions()
    assert set(common) < set(every)
    left_out = {question.op for question in set(every) - set(common)}
    assert {"atan2", "vecdot", "logical_and", "!=", ">"} <= left_out
    assert not left_out & {"+", "@", "<", "&", "maximum", "where", "sum", "sqrt"}


def test_templates_are_files_of_the_package() -> None:
    for name in ("shared.css", "page.html", "explore.html", "explore.css", "explore.js"):
        assert pages.read(name)


def test_progress_goes_from_nothing_to_all() -> None:
    parts: list[float] = []
    explore_page([as_policy("paddle@2.6")], parts.append, asked=FEW[:2])
    assert parts == sorted(parts)
    assert parts[-1] == pytest.approx(1)
