"""Texts of a program, which may be anybody's, are shown in every channel and do nothing there."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from diagnostics.findings.programs import Command

import promoarray as pa
from promoarray import cli
from promoarray.console import visible
from promoarray.core.call_site import Site
from promoarray.diagnostics.findings.classify import judge
from promoarray.diagnostics.model.divergence import Answer, Divergence
from promoarray.diagnostics.model.noted import Stopped
from promoarray.diagnostics.render.sarif import as_commands, as_sarif

HOSTILE = "<img src=x onerror=alert(1)>\x1b[2J\u202e\n::error::[here](http://evil) `&amp;"
"""Markup, a terminal's escape, one that turns the direction, a workflow command, a link."""

NAME = "<img src=x onerror=alert(1)>\x1b[2J.py"
PROGRAM = (
    "import promoarray as xp\n"
    "x = xp.ones(2, dtype=xp.int8) / len('<img src=x onerror=alert(1)> [here](http://evil)')\n"
    "raise RuntimeError('<img src=x onerror=alert(1)> \\x1b[2J stop')\n"
)

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""What a terminal obeys."""


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.found.add(tag)


def tags(html: str) -> set[str]:
    parser = _Tags()
    parser.feed(html)
    return parser.found


@pytest.fixture
def report() -> pa.Report:
    site = Site(HOSTILE, 3, 0, HOSTILE, HOSTILE)
    policy = pa.get_policy().derive(visible(HOSTILE).replace("@", "a"))
    with pa.shadow("torch", policy) as report:
        pass
    report.operations = 1
    answers = {
        "numpy@2": Answer(pa.float64, "", "", ("int8",)),
        policy.name: Answer(None, HOSTILE, "root", ("int8",)),
        "torch@2.13": Answer(pa.float32, "", "root", ("int8",)),
    }
    report.record(Divergence(site, site, HOSTILE, (HOSTILE,), answers))
    report.stopped = Stopped("numpy@2", HOSTILE, site)
    return report


def test_html_shows_it_as_text(report: pa.Report) -> None:
    for html in (report.to_html(command=HOSTILE), report._repr_html_()):
        assert "img" not in tags(html)
        assert "&lt;img src=x" in html
        assert not OBEYED.search(html)


def test_a_terminal_obeys_none_of_it(report: pa.Report) -> None:
    for everything in (False, True):
        report.inherited = everything
        text = str(report)
        assert "<img src=x" in text.replace("\n", " ")
        assert not OBEYED.search(text)
        assert not any(line.startswith("::") for line in text.splitlines())


def test_tools_get_it_as_text(report: pa.Report) -> None:
    judged = judge(report, (), None, ("root",), whole=True)
    for command in as_commands(judged):
        assert command.startswith("::")
        assert not OBEYED.search(command)
        assert "\n" not in command
    results = as_sarif(judged)["runs"][0]["results"]
    assert results
    for each in results:
        message = each["message"]["text"]
        assert not OBEYED.search(message)
        assert not re.search(r"(?<!\\)\]\(", message)
    assert json.loads(json.dumps(report.to_dict()))["divergences"][0]["file"] == HOSTILE


@pytest.mark.parametrize("format_", ["text", "json", "sarif", "github"])
def test_the_command_with_a_file_of_such_a_name(
    compare_program: Command, tmp_path: Path, format_: str
) -> None:
    (tmp_path / NAME).write_text(PROGRAM)
    ran = compare_program(NAME, "--format", format_, "--html", "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "img" not in tags(page)
    assert not OBEYED.search(page)
    assert not OBEYED.search(ran.out)
    said = [line for line in ran.err.splitlines() if line.startswith("promoarray compare:")]
    assert said
    assert not OBEYED.search("".join(said))


OTHERS = (
    "import promoarray as xp\n"
    "d = {'\x1b[31mk': xp.ones(2, dtype=xp.int8)}\n"
    "globals()['\\x1b[31mg'] = x = d['\x1b[31mk'] / 2\n"
    "said = '\\x1b[31m' + str(x.dtype)\n"
    "if x.dtype != xp.float64:\n"
    "    raise ValueError('\\x1b[2J stop')\n"
)


@pytest.mark.parametrize(
    ("command", "stops"),
    [
        (("compare", "--run-all", "--policies", "torch", "--html", "page.html"), True),
        (("diff", "--from", "numpy@2", "--to", "torch"), False),
        (("diff", "--from", "torch", "--to", "numpy@2"), True),
        (("bisect", "--from", "numpy@2", "--to", "torch", "--expr", "said"), True),
        (("bisect", "--from", "numpy@2", "--to", "torch", "--expr", "said"), False),
        (("port", "--to", "torch", "--run", "numpy@2", "--patch", "port.patch"), False),
        (("port", "--to", "numpy@2", "--run", "torch", "--patch", "port.patch"), True),
    ],
)
def test_no_command_lets_a_terminal_obey(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    command: tuple[str, ...],
    stops: bool,
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "program.py").write_text(OTHERS if stops else OTHERS.partition("if ")[0])
    name, *options = command
    cli.main([name, *options, "program.py"])
    out, err = capfd.readouterr()
    own, traceback = [], False  # Python's traceback is Python's
    for line in f"{out}{err}".split("\n"):
        traceback = line.startswith("Traceback") or (traceback and not line.startswith("promo"))
        own += [] if traceback else [line]
    page = tmp_path / "page.html"
    said = f"{''.join(own)}{page.read_text() if page.exists() else ''}"
    assert said
    assert not OBEYED.search(said.replace("\n", ""))
