"""The page of ``promoarray explore`` in a real browser: Chromium, driven by Playwright."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from browser import CONTRAST, NEEDED, Window, chromium

import promoarray as pa
from promoarray.diagnostics.explore.answers import SCALARS, entries, held, questions
from promoarray.diagnostics.explore.page import explore_page
from promoarray.policies import as_policy
from promoarray.promotion.plan import Rank, Refusal

pytestmark = NEEDED

POLICIES = ("aclnn@8.0", "paddle@2.6", "paddle", "jax@strict")
SHOWN = ("+", "/", "<", "maximum", "sqrt")


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("explore") / "page.html"
    asked = [question for question in questions() if question.op in SHOWN]
    path.write_text(explore_page([as_policy(name) for name in POLICIES], asked=asked), "utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


class Shown(Window):
    """The page in a window."""

    def __init__(self, browser: Any, address: str, link: str = "", **window: Any) -> None:
        super().__init__(browser, f"{address}#{link}", **window)
        self.page.wait_for_selector("body[data-ready]")

    def told(self) -> dict[str, list[str]]:
        """The sections of the explanation by heading."""
        found = self.page.locator("#told dl").first.locator("dd").all()
        return {dd.get_attribute("data-heading"): dd.locator("p").all_inner_texts() for dd in found}

    def headline(self) -> str:
        return str(self.page.inner_text("#explained"))

    def click(self, *labels: str) -> None:
        self.page.click(f'td[data-cell="{",".join(labels)}"]')

    def counts(self) -> Counter[str]:
        found = self.page.locator("#counts span").all()
        return Counter(
            {s.get_attribute("data-kind"): int(s.locator("b").inner_text()) for s in found}
        )


@pytest.fixture
def show(browser: Any, address: str) -> Iterator[Any]:
    opened: list[Shown] = []

    def make(link: str = "", **window: Any) -> Shown:
        opened.append(Shown(browser, address, link, **window))
        return opened[-1]

    yield make
    for shown in opened:
        shown.close()


def sections(explained: Any) -> dict[str, list[str]]:
    return {heading: list(map(str, lines)) for heading, lines in explained.sections()}


@pytest.mark.parametrize(
    ("policy", "op", "labels"),
    [
        ("aclnn@8.0", "add", ("int8", "float32")),
        ("aclnn@8.0", "maximum", ("uint8", "2.5")),
        ("aclnn@8.0", "less", ("300", "int8")),
        ("paddle", "add", ("int64", "float32")),
        ("paddle", "divide", ("float16[]", "float32")),
        ("paddle@2.6", "add", ("int64", "float32")),
        ("jax@strict", "add", ("int8", "uint8")),
        ("jax@strict", "add", ("bfloat16", "2.5")),
    ],
)
def test_a_click_says_what_explain_says(
    show: Any, policy: str, op: str, labels: tuple[str, ...]
) -> None:
    rank = any(label.endswith("[]") for label in labels)
    shown = show(f"policy={policy}&op={op}" + (f"&cell={','.join(labels)}" if rank else ""))
    shown.click(*labels)
    operands = [{repr(value): value for value in SCALARS}.get(label, label) for label in labels]
    form = {"add": "+", "divide": "/", "less": "<"}.get(op, op)
    explained = pa.explain(form, *operands, policy=policy)
    assert shown.headline() == explained.headline
    assert shown.told() == sections(explained)
    reason = shown.page.locator("#told .reason")
    assert (reason.inner_text() if reason.count() else "") == explained.answer.reason


def test_a_refusal_says_which_cast_to_write(show: Any) -> None:
    shown = show("policy=paddle&op=add&cell=int64,float32")
    xp = pa.namespace("paddle")
    x1, x2 = xp.ones(1, dtype="int64"), xp.ones(1, dtype="float32")
    with pytest.raises(pa.PromotionError) as refused:
        x1 + x2
    write = shown.page.inner_text("#told .write")
    assert write.startswith("Write pa.astype(x1, pa.float32)")
    assert write in str(refused.value)


def test_a_link_opens_its_cell(show: Any) -> None:
    shown = show("policy=paddle&op=add&cell=int8,float32&with=jax@strict")
    assert shown.page.get_attribute("td[aria-selected=true]", "data-cell") == "int8,float32"
    assert shown.page.locator("#policy option:checked").inner_text() == "paddle"
    assert shown.page.locator("#with option:checked").inner_text() == "jax@strict"
    assert shown.headline().startswith("int8 + float32 is ")
    shown.click("int64", "float64")
    assert shown.page.url.endswith("#policy=paddle&op=add&cell=int64,float64&with=jax@strict")


def test_a_link_to_what_is_not_there_says_so(show: Any) -> None:
    shown = show("policy=torch&op=add")
    assert "no policy torch" in shown.page.inner_text("#problem")
    assert "promoarray explore --policies torch" in shown.page.inner_text("#problem")


def test_what_a_common_page_leaves_out_is_no_refusal(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "common.html"
    asked = [question for question in questions(every=False) if question.op in SHOWN]
    path.write_text(explore_page([as_policy("paddle@3.3")], asked=asked, every=False), "utf-8")
    with closing(Shown(browser, path.as_uri(), "op=add&cell=float8_e5m2,float32")) as shown:
        assert "float8_e5m2 + float32 is not on this page" in shown.headline()
        assert "promoarray explore --all" in shown.page.inner_text("#told")
    with closing(Shown(browser, path.as_uri(), "op=greater&cell=int8,float32")) as shown:
        assert "no operation greater" in shown.page.inner_text("#problem")
        assert "int8" not in shown.headline()


def test_the_matrix_by_keys(show: Any) -> None:
    shown = show("policy=aclnn@8.0&op=add&cell=int8,int16")
    press, page = shown.page.keyboard.press, shown.page
    page.focus("td[aria-selected=true]")
    for key in ("ArrowRight", "ArrowDown", "ArrowDown", "ArrowLeft", "ArrowUp"):
        press(key)
    names = [e.label for e in entries(as_policy("aclnn@8.0")) if e.rank is Rank.ARRAY]
    row, column = names.index("int8") + 1, names.index("int16")
    there = page.evaluate("document.activeElement.dataset.cell")
    assert there == f"{names[row]},{names[column]}"
    assert shown.headline().startswith("int8 + int16")  # moving explains nothing yet
    press("Enter")
    assert shown.headline().startswith(f"{names[row]} + {names[column]} is ")
    assert page.evaluate("document.activeElement.dataset.cell") == there
    press("Home")
    assert page.evaluate("document.activeElement.dataset.cell").endswith(",bool")
    assert page.locator('#matrix td[tabindex="0"]').count() == 1
    press("/")
    assert page.evaluate("document.activeElement.id") == "policy"
    press("Tab")
    assert page.evaluate("document.activeElement.id") == "op"
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_the_matrix_is_a_grid_to_screen_readers(show: Any) -> None:
    page = show("policy=aclnn@8.0&op=add").page
    assert page.locator("table[role=grid][aria-label]").count() == 1
    rows, cells = page.locator("tbody [role=row]").count(), page.locator("[role=gridcell]").count()
    assert rows * page.locator("[role=columnheader]").count() == cells
    label = page.get_attribute('td[data-cell="int8,float32"]', "aria-label")
    assert label == "int8 + float32 is float32"


def test_the_counts_of_the_difference_are_those_of_python(show: Any) -> None:
    one, two = as_policy("aclnn@8.0"), as_policy("paddle@2.6")
    union = {*held(one), *held(two)}
    operands = [pa.policies.Operand(dtype) for dtype in union]
    expected: Counter[str] = Counter()
    for pair in product([*operands, *SCALARS], repeat=2):
        results = [result(policy, pair) for policy in (one, two)]
        if "python" in results:
            expected["python"] += 1
        elif results == [None, None]:
            expected["both-refused"] += 1
        elif None in results:
            expected["one-refuses"] += 1
        else:
            expected["same" if results[0] == results[1] else "other"] += 1
    del expected["python"]
    shown = show("policy=aclnn@8.0&op=add&with=paddle@2.6&dtypes=all")
    assert +shown.counts() == +expected
    assert expected["other"]
    assert expected["one-refuses"]


def result(policy: pa.Policy, pair: tuple[Any, ...]) -> str | None:
    if not any(isinstance(x, pa.policies.Operand) for x in pair):
        return "python"
    operands = tuple(
        x
        if isinstance(x, pa.policies.Operand)
        else pa.policies.Operand(pa.dtypes.WEAK[type(x)], Rank.SCALAR)
        for x in pair
    )
    decided = policy.decide("add", operands, pair)
    return None if isinstance(decided, Refusal) else policy.strong(decided.plan.result).name


def test_casts_show_bits_and_values(show: Any) -> None:
    shown = show("policy=jax@strict&op=astype&cell=float32,float8_e4m3fn")
    text = shown.page.inner_text("#values")
    explained = pa.explain("astype", "float32", "float8_e4m3fn", policy="jax@strict")
    for given, made in zip(explained.given, explained.answer.values, strict=True):
        assert given.bits in text
        assert made.bits in text


@pytest.mark.parametrize("link", ["", "policy=paddle&op=add&cell=int64,float32&with=jax@strict"])
def test_a_phone_shows_it_without_scrolling_sideways(show: Any, link: str) -> None:
    page = show(link, width=390).page
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("link", ["cell=int8,float32", "cell=int64,float32&with=jax@strict"])
def test_text_stands_out_in_the_light_and_in_the_dark(show: Any, link: str) -> None:
    backs = []
    for scheme in ("light", "dark"):
        page = show(f"policy=paddle&op=add&dtypes=all&{link}", color_scheme=scheme).page
        assert page.evaluate(CONTRAST) == [], scheme
        backs.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    assert backs[0] != backs[1]


def test_the_lattice_is_drawn_from_the_policys_own_edges(show: Any) -> None:
    page = show("policy=jax@strict&op=add&cell=int8,2.5").page
    edges = as_policy("jax@strict").promote.edges  # type: ignore[attr-defined]
    related = {d for a, above in edges.items() for d in (a, *above) if above}
    assert page.locator("#drawing [data-line]").count() == sum(map(len, edges.values()))
    assert page.locator("#drawing [data-node]").count() == len(related)


def test_it_prints(show: Any, tmp_path: Path) -> None:
    page = show("policy=paddle&op=add&cell=int64,float32").page
    page.emulate_media(media="print")
    assert page.locator("#controls").is_hidden()
    assert page.locator("#matrix td").first.is_visible()
    assert page.locator("#told .reason").is_visible()
