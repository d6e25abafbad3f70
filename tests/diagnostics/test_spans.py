"""Where the expression of a place stands, and the paths of reports for other tools."""

from __future__ import annotations

import linecache
from pathlib import Path

import pytest

import promoarray as pa
from promoarray.core.call_site import Site
from promoarray.diagnostics.spans import Span, base_folder, relative, span_of

SOURCES = {
    "y = x / 2": "x / 2",
    "é = 'ü', x / 2": "x / 2",
    "y = (x\n  /\n   2) * 1.0": "x\n  /\n   2",
    "y = x / 2 / 3": "x / 2",
    "y = (x / 2)": "x / 2",
    "y = [f for f in (x / 2,)]": "x / 2",
    "x *= t": "x *= t",
    "x[:1] = t": "",
}


@pytest.mark.parametrize("source", SOURCES)
def test_a_span_reads_as_the_program_has_it(source: str, tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(source, encoding="utf-8")
    x = pa.asarray([1, 2], dtype=pa.float32 if "*=" in source else pa.int8)
    names = {"x": x, "t": pa.asarray([1e20])}
    with pa.shadow("torch", "onnx", "jax") as report:
        exec(compile(source, str(path), "exec"), names)
    sites = [place.site for place in report.divergences]
    sites += [change.place.site for change in report.value_changes]
    texts = [span_of(site).text() for site in sites]
    assert SOURCES[source] in texts, (sites, texts)
    assert {span_of(site)[:2] for site in sites} <= {(str(path), line) for line in (1, 2, 3)}


def test_a_file_that_reads_otherwise_by_now_has_no_end(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text("y = x / 3\n")
    site = Site(str(path), 1, 4, "y = x / 2", "x / 2")
    span = span_of(site)
    assert span == Span(str(path), 1, 5)
    assert (span.whole, span.text()) == (False, "")
    path.write_text("y = (\n")
    linecache.checkcache()
    assert span_of(site) == Span(str(path), 1, 5)
    assert span_of(Site("<nowhere>", 1, 4, "", "")) == Span("<nowhere>", 1, 1)
    assert span_of(Site("<unknown>", 0, -1, "", "")) == Span("<unknown>", 0)
    assert Span(str(path), 9, 1, 9, 2).text() == ""


def test_paths_begin_at_the_workspace_that_holds_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "one" / "two").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "one")
    here = str((tmp_path / "one").resolve())
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    assert base_folder() == here
    for workspace, base in (("", here), ("/", "/"), (here, here), (f"{here}/two", here)):
        monkeypatch.setenv("GITHUB_WORKSPACE", workspace)
        assert base_folder() == base
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path))
    assert relative("a.py", base_folder()) == "one/a.py"
    assert relative("<string>", base_folder()) == "<string>"
