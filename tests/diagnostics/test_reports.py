"""Every report is data, text, a part of a notebook and a page, all of the same words."""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.console import Printable
from promoarray.core.call_site import Site
from promoarray.core.escape import Escape
from promoarray.diagnostics import casts
from promoarray.diagnostics.compare.output import Outcome, Outcomes
from promoarray.diagnostics.model.noted import Call
from promoarray.diagnostics.policy_tables import table_of
from promoarray.promotion.registry import as_policy


def _shadow() -> Printable:
    with pa.shadow("torch", "paddle") as report:
        np.asarray(pa.asarray([1, 2], dtype=pa.int8) / 2)
    return report


def _trace() -> Printable:
    with pa.trace() as trace:
        pa.asarray([1, 2], dtype=pa.int8) + pa.asarray([0.5], dtype=pa.float32)
    return trace


def _outcomes() -> Printable:
    return Outcomes((Outcome("numpy@2", {"x": "int8 [2]"}),), named=True)


def _cast() -> Printable:
    args = argparse.Namespace(saturate=None, round_mode=None)
    policies = [as_policy(name) for name in ("numpy", "torch", "array_api")]
    given = casts.read(["500"], pa.complex64)
    return casts.run(args, policies, given, pa.complex64, pa.float8_e4m3fn)


REPORTS: dict[str, tuple[Callable[[], Printable], str]] = {
    "explain": (lambda: pa.explain("add", "int8", 2.5, policy="paddle"), "jax@x64"),
    "explain astype": (lambda: pa.explain("astype", "float32", "int8"), "truncated towards zero"),
    "shadow": (_shadow, "torch@2.13"),
    "trace": (_trace, "int8 -&gt; float32"),
    "cast_report": (lambda: pa.cast_report(pa.asarray([1.1]), "int8"), "truncated to an integer"),
    "check": (lambda: as_policy("numpy@1").check(), "associative"),
    "table": (lambda: table_of(as_policy("paddle")), "bf16"),
    "two tables": (lambda: pa.table("torch", "paddle"), "i16|-"),
    "run_all": (_outcomes, "int8 [2]"),
    "cast": (_cast, "0x7e 448"),
}


@pytest.mark.parametrize(("make", "says"), REPORTS.values(), ids=REPORTS)
def test_every_report_is_data_text_and_html(make: Callable[[], Printable], says: str) -> None:
    report = make()
    assert isinstance(report, Printable)
    assert json.loads(json.dumps(report.to_dict()))
    assert says.replace("&gt;", ">") in str(report)
    assert repr(report) == str(report)
    assert says in report._repr_html_()
    page = report.to_html()
    assert page.startswith("<!doctype html>")
    assert says in page
    assert not re.search(r'(?:src|href)="(?!#)', page)  # self-contained


def test_a_page_shows_its_title_once_and_escapes_it() -> None:
    page = pa.explain("<", "int8", 1, policy="paddle").to_html()
    assert page.count("<h1>") == 1
    assert "<h1>int8 &lt; 1 is bool under paddle</h1>" in page


def test_notebooks_get_the_styles_with_each_report() -> None:
    shown: list[Any] = [*(make() for make, _ in REPORTS.values()), as_policy("paddle")]
    for each in shown:
        html = each._repr_html_()
        assert html.startswith('<div class="promoarray"><style>')
        assert html.endswith("</div>")
        assert "prefers-color-scheme: dark" in html
        assert "data-jp-theme-light" in html
        assert "http" not in html.replace("https", "http").partition("</style>")[0]
        style = html.partition("<style>")[2].partition("</style>")[0]
        rules = re.sub(r"/\*.*?\*/", "", style, flags=re.DOTALL)
        for selector in re.findall(r"(?:^|[{}])\s*([^{}@]+?)\s*{", rules):
            assert all("promoarray" in part for part in selector.split(",")), selector


def test_a_policy_in_a_notebook() -> None:
    html = as_policy("paddle")._repr_html_()
    assert "paddle: " in html
    assert "bfloat16" in html
    assert str(as_policy("paddle").sources[0]) in html


def test_the_table_in_python() -> None:
    with pa.policy("torch"):
        assert pa.table().to_dict() == table_of(as_policy("torch")).to_dict()
    assert pa.table("torch", op="/").to_dict()["operation"] == "divide"
    pair = pa.table("torch", "paddle@3.3", op="divide", dtypes=[pa.int8, "float16"])
    assert pair.codes() == [["f32", "f16|-"], ["f16|-", "f16"]]
    assert '<td class="refused"><b>f16|-</b></td>' in pair.html()
    with pytest.raises(ValueError, match="takes one operand"):
        pa.table("torch", op="sin")
    with pytest.raises(pa.UnknownPolicyError):
        pa.table("torch", "torhc")


SITE, LATER = (Site("program.py", line, 0, "x + y", "x + y") for line in (1, 2))


class Met(Counter[Any]):
    """What a report counts; while it is read, another thread counts something else."""

    later: Any

    def items(self) -> Any:
        for item in list(super().items()):
            self[self.later] += 1
            yield item


def test_reports_are_written_while_other_threads_add_to_them() -> None:
    with pa.shadow("torch") as report:
        pass
    report.escapes = Met({Escape(SITE, SITE, "", "item", "int8", ()): 1})
    report.signatures = Met({Call(SITE, "torch", "it takes no scalar"): 1})
    report.escapes.later = Escape(LATER, LATER, "", "item", "int8", ())
    report.signatures.later = Call(LATER, "torch", "it takes no scalar")
    assert "Data left the policy" in report.summary()
    assert "it takes no scalar" in report.html()


def test_no_cell_of_a_table_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    for table in (pa.table("numpy"), pa.table("torch", "paddle")):
        assert "…" not in str(table)
        assert repr(table) == str(table)
