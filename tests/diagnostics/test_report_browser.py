"""The page of a report in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browser import CONTRAST, NEEDED, Window, chromium

import promoarray as pa

pytestmark = NEEDED

EXAMPLE = Path(__file__).parents[2] / "examples" / "kmeans.py"


@pytest.fixture(scope="module")
def report() -> pa.Report:
    code = compile(EXAMPLE.read_text("utf-8"), str(EXAMPLE), "exec")
    with pa.shadow("torch@2.13", "paddle@3.3", "tensorflow", "jax@x64") as found:
        exec(code, {"__name__": "__main__", "__file__": str(EXAMPLE)})
    return found


@pytest.fixture(scope="module")
def address(report: pa.Report, tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("report") / "page.html"
    path.write_text(report.to_html(), "utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with chromium() as started:
        yield started


@pytest.fixture
def show(browser: Any, address: str) -> Iterator[Any]:
    opened: list[Window] = []

    def make(link: str = "", **window: Any) -> Any:
        opened.append(Window(browser, f"{address}#{link}", **window))
        return opened[-1].page

    yield make
    for each in opened:
        each.close()


def visible(page: Any) -> set[tuple[str, str]]:
    """The lines that have findings to be seen, and their expressions."""
    return set(
        page.evaluate(
            """() => [...document.querySelectorAll(".finding")].filter((f) => f.offsetParent)
            .map((f) => {
              let line = f;
              while (!line.classList.contains("line")) line = line.previousElementSibling;
              return line.id + " " + f.querySelector("code").textContent;
            })"""
        )
    )


def differing(report: pa.Report, policy: str, origins: tuple[str, ...]) -> set[str]:
    return {
        f"L{d.program.line} {d.site.expression}"
        for d in report.divergences
        if d.answers[policy].origin in origins
    }


@pytest.mark.parametrize("policy", ["torch@2.13", "paddle@3.3", "tensorflow", "jax@x64"])
def test_one_policy_s_findings_are_those_of_the_report(
    show: Any, report: pa.Report, policy: str
) -> None:
    page = show()
    page.click(f'[data-choose="{policy}"]')
    for box in page.locator('[name="kind"]').all():
        if box.get_attribute("value") not in ("refuse", "dtype"):
            box.uncheck()
    assert visible(page) == differing(report, policy, ("root",))
    if page.locator("#inherited").count():
        page.check("#inherited")
        assert visible(page) == differing(report, policy, ("root", "inherits"))
    assert page.url.endswith(f"#policy={policy}")


def test_lines_without_a_finding_of_the_policy_are_not_marked(show: Any) -> None:
    page = show("policy=torch@2.13")
    with_findings = {each.split()[0] for each in visible(page)}
    marked = page.locator(".line.marked:not([data-none])").all()
    assert {line.get_attribute("id") for line in marked} == with_findings


def test_a_kind_can_be_left_out(show: Any) -> None:
    page = show()
    before = visible(page)
    page.uncheck('[value="dtype"]')
    assert visible(page) < before
    assert page.inner_text("#shown") == f"{page.locator('.finding:visible').count()} shown"


def test_a_link_chooses_a_policy_and_shows_a_line(show: Any, report: pa.Report) -> None:
    last = max(d.program.line for d in report.roots)
    page = show(f"policy=tensorflow&line=L{last}", height=400)
    assert page.input_value("#policy") == "tensorflow"
    assert page.evaluate(f"document.getElementById('L{last}').getBoundingClientRect().top") < 400


def test_a_link_to_a_folded_line_unfolds_it(show: Any) -> None:
    page = show("L1")
    assert page.locator("#L1").is_visible()


def test_keys_go_from_finding_to_finding(show: Any, report: pa.Report) -> None:
    page = show()
    lines = sorted({int(each.split()[0][1:]) for each in visible(page)})
    met = []
    for _ in lines:
        page.keyboard.press("n")
        met.append(page.evaluate("document.activeElement.closest('.line').id"))
    assert met == [f"L{line}" for line in lines]
    page.keyboard.press("p")
    assert page.evaluate("document.activeElement.closest('.line').id") == f"L{lines[-2]}"


def test_an_edit_can_be_copied(browser: Any, address: str) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    page.goto(address)
    edit = page.locator(".edit:visible").first
    edit.locator("button").click()
    edit.locator("button", has_text="copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == edit.locator("code").inner_text()
    context.close()


def test_a_phone_shows_it_without_scrolling_sideways(show: Any) -> None:
    page = show(width=390)
    page.check("#inherited")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_text_stands_out_in_the_light_and_in_the_dark(show: Any) -> None:
    for scheme in ("light", "dark"):
        page = show(color_scheme=scheme)
        page.check("#inherited")
        assert page.evaluate(CONTRAST) == [], scheme


def test_without_a_script_all_of_it_is_there(browser: Any, address: str) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    assert page.locator(".finding:visible").count() > 5
    context.close()
