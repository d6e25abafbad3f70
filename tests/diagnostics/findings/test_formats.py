"""The formats of `promoarray compare`: SARIF, GitHub's workflow commands, JSON."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
from email.message import Message
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from diagnostics.findings.programs import BITS, HALF, START, Command, write

import promoarray as pa
from promoarray import cli
from promoarray.diagnostics.compare import output
from promoarray.diagnostics.render import sarif
from promoarray.diagnostics.render.sarif import Rule
from promoarray.diagnostics.spans import Span

PROGRAM = f"""\
import numpy as np
{BITS}
x = xp.asarray([1, 2], dtype=xp.int8)
é = "ü"; z = (x
              / 2)
w = (x *  # by
     1.5)
def twice():
    return xp.extras.mse_loss(x, x)
v = twice()
np.asarray(x)
exec("x / 4.5")
"""
"""Findings of every kind, of several lines, behind letters of two bytes, in no file."""

ALL = "torch,onnx,paddle"


def validated(document: dict[str, Any]) -> dict[str, Any]:
    """A SARIF document, which is of the subset of the standard's schema that is written here."""
    subset = json.loads(Path(__file__).with_name("sarif_subset.json").read_text())
    jsonschema.validate(document, subset, jsonschema.Draft202012Validator)
    (run,) = document["runs"]
    for result in run["results"]:
        assert run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == result["ruleId"]
    prints = [json.dumps(result["partialFingerprints"]) for result in run["results"]]
    assert len(set(prints)) == len(prints)
    return run


def region(result: dict[str, Any]) -> dict[str, int]:
    return result["locations"][0]["physicalLocation"]["region"]


# -- SARIF ----------------------------------------------------------------------------------------


def test_sarif_has_each_place_with_its_region(compare: Command, tmp_path: Path) -> None:
    script = write(tmp_path, PROGRAM)
    ran = compare(script, "--format", "sarif", policies=ALL)
    assert ran.status == 1
    run = validated(ran.data)
    results = run["results"]
    assert {each["ruleId"] for each in results} == {"dtype", "refuse", "bits", "escape"}
    places = {each["message"]["text"].partition(":")[0]: region(each) for each in results}
    assert places["int8 / Python int"] == {
        "startLine": 7,
        "startColumn": 1 + 'é = "ü"; z = (x'.index("x"),
        "endLine": 8,
        "endColumn": 1 + len("              / 2"),
    }
    uris = {each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for each in results}
    assert uris == {"program.py", "%3Cstring%3E"}
    (invocation,) = run["invocations"]
    assert (invocation["executionSuccessful"], invocation["exitCode"]) == (True, 1)


def test_the_fixes_applied_leave_nothing_to_find(compare: Command, tmp_path: Path) -> None:
    script = write(tmp_path, 'é = "ü"; ' + HALF + "z = (x\n  * 1.5)\n")
    run = validated(compare(script, "--format", "sarif").data)
    lines = Path(script).read_text().splitlines(keepends=True)
    for result in reversed(run["results"]):
        (fix,) = result["fixes"]
        assert fix["description"]["text"].endswith("for torch@2.13")
        (change,) = fix["artifactChanges"]
        (replacement,) = change["replacements"]
        at = replacement["deletedRegion"]
        first, last = at["startLine"] - 1, at["endLine"] - 1
        begin, end = lines[first][: at["startColumn"] - 1], lines[last][at["endColumn"] - 1 :]
        lines[first : last + 1] = [begin + replacement["insertedContent"]["text"] + end]
    assert "".join(lines).splitlines()[2:] == [
        "y = xp.astype(x, xp.float64) / 2",
        "z = (xp.astype(x, xp.float64) * 1.5)",
    ]
    Path(script).write_text("".join(lines))
    assert compare(script).status == 0


def test_a_fix_would_drop_no_comment(compare: Command, tmp_path: Path) -> None:
    script = write(tmp_path, START + "y = (x *  # by\n     1.5)\n")
    (result,) = validated(compare(script, "--format", "sarif").data)["results"]
    assert "fixes" not in result
    assert "Write xp.astype(x, xp.float64) * 1.5 for torch@2.13." in result["message"]["text"]


def test_a_fix_brings_the_import_that_it_needs(compare: Command, tmp_path: Path) -> None:
    text = "from promoarray import asarray, uint8\ny = asarray([1], dtype=uint8) / 2\n"
    (result,) = validated(compare(write(tmp_path, text), "--format", "sarif").data)["results"]
    (change,) = result["fixes"][0]["artifactChanges"]
    edit, new = [each["insertedContent"]["text"] for each in change["replacements"]]
    assert (new, edit[:10]) == ("import promoarray as pa\n", "pa.astype(")
    at = change["replacements"][1]["deletedRegion"]
    assert at == {"startLine": 1, "startColumn": 1, "endLine": 1, "endColumn": 1}


def test_fingerprints_stay_where_lines_move(compare: Command, tmp_path: Path) -> None:
    def prints() -> list[str]:
        run = validated(compare(script, "--format", "sarif").data)
        return [each["partialFingerprints"]["promoarray/v1"] for each in run["results"]]

    script = write(tmp_path, HALF + "z = x / 2\nu = x * 1.5\n")
    before = prints()
    assert [each.partition(":")[2] for each in before] == ["1", "2", "1"]
    write(tmp_path, "\n\n" + HALF + "z = (x /\n2)\n\nu = x * 1.5\n")
    assert prints() == before


def test_what_is_ignored_is_left_out_and_what_is_known_is_unchanged(
    compare: Command, tmp_path: Path
) -> None:
    script = write(tmp_path, HALF + "z = x * 1.5  # promoarray: ignore\n")
    compare(script, "--baseline", "known.json", "--update-baseline")
    write(tmp_path, HALF + "z = x * 1.5  # promoarray: ignore\nu = x * 2.5\n")
    ran = compare(script, "--baseline", "known.json", "--format", "sarif")
    results = validated(ran.data)["results"]
    assert [(region(r)["startLine"], r["baselineState"]) for r in results] == [
        (3, "unchanged"),
        (5, "new"),
    ]


def test_notifications_tell_of_the_program_and_of_comments(
    compare: Command, tmp_path: Path
) -> None:
    script = write(tmp_path, START + "y = x + x  # promoarray: ignore[torhc]\n1 / 0\n")
    ran = compare(script, "--format", "sarif")
    assert ran.status == 3
    (invocation,) = validated(ran.data)["invocations"]
    assert invocation["executionSuccessful"] is False
    (failed,) = invocation["toolExecutionNotifications"]
    assert "ZeroDivisionError" in failed["message"]["text"]
    (unknown,) = invocation["toolConfigurationNotifications"]
    assert "'torhc'" in unknown["message"]["text"]
    assert unknown["locations"][0]["physicalLocation"]["region"] == {"startLine": 3}


def test_a_refusal_that_stops_the_run_is_a_result(compare_program: Command, tmp_path: Path) -> None:
    script = write(tmp_path, START + "xp.set_policy('onnx')\ny = x + xp.asarray([1.5])\n")
    ran = compare_program(script, "--format", "sarif")
    assert ran.status == 3
    (result,) = validated(ran.data)["results"]
    assert (result["ruleId"], region(result)["startLine"]) == ("refuse", 4)
    assert result["message"]["text"].startswith("int8 + float32: refused under onnx@25: ")
    assert "; the run stopped here. Write xp.astype(x, xp.float32) + " in result["message"]["text"]


RULE = Rule("a-rule", "SomeRule", "Short", "Full.", "note", "escapes.md#finding-them")


def test_a_document_of_any_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_WORKSPACE", str(tmp_path.parent))
    outside = tmp_path.parent.parent / "a b.py"
    spans = [Span("a é.py", 3), Span(str(outside), 1, 2, 1, 4), Span("<unknown>", 0)]
    results = [sarif.result("a-rule", f"at {n}", span, ("x",)) for n, span in enumerate(spans)]
    run = validated(sarif.document([RULE], results))
    places = [each["locations"][0]["physicalLocation"] for each in run["results"]]
    assert places[0]["artifactLocation"]["uri"] == f"{tmp_path.name}/a%20%C3%A9.py"
    assert places[1]["artifactLocation"] == {"uri": outside.as_uri()}
    assert "region" not in places[2]
    assert "helpUri" not in run["tool"]["driver"]["rules"][0]


def test_rules_lead_to_the_documentation_where_the_package_has_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    about = Message()
    about["Project-URL"] = "Source, https://example.org/source"
    about["Project-URL"] = "Documentation, https://example.org/docs/"
    monkeypatch.setattr(sarif, "metadata", lambda name: about)
    (rule,) = validated(sarif.document([RULE], []))["tool"]["driver"]["rules"]
    assert rule["helpUri"] == "https://example.org/docs/escapes.md#finding-them"
    assert importlib.metadata.metadata("promoarray")["Name"] == "promoarray"


def test_each_rule_has_its_paragraph_in_the_docs() -> None:
    docs = Path(__file__).resolve().parents[3] / "docs"
    for rule in sarif.RULES:
        page, _, anchor = rule.help.partition("#")
        headings = re.findall(r"^#+ (.*)$", (docs / page).read_text(encoding="utf-8"), re.MULTILINE)
        assert anchor in [heading.lower().replace(" ", "-") for heading in headings]
        assert f"`{rule.id}`" in (docs / page).read_text(encoding="utf-8")


# -- GitHub's workflow commands -------------------------------------------------------------------


def test_github_gets_a_command_for_each_place_that_is_new(compare: Command, tmp_path: Path) -> None:
    script = write(tmp_path, HALF + "z = x * 1.5\nu = (x\n  * 2.5)  # promoarray: ignore[torch]\n")
    ran = compare(script, "--format", "github", policies="torch,onnx")
    assert ran.status == 1
    *commands, summary, left_out = ran.out.splitlines()
    assert commands[0] == (
        "::error file=program.py,line=4,endLine=4,col=5,endColumn=12,title=refused under onnx@25"
        "::int8 * Python float: refused under onnx@25: ONNX promotes nothing: inputs of one type "
        "parameter must be of one type; float64 in the run under numpy@2. Write "
        "xp.astype(x, xp.float64) * 1.5 for onnx@25."
    )
    assert [each.partition(",title=")[0] for each in commands[1:]] == [
        "::error file=program.py,line=5,endLine=6",
        "::warning file=program.py,line=3,endLine=3,col=5,endColumn=10",
        "::warning file=program.py,line=4,endLine=4,col=5,endColumn=12",
    ]
    assert "title=other dtype under torch@2.13%2C onnx@25::" in commands[2]
    assert summary.startswith("3 operations under numpy@2")
    assert left_out == "1 finding not shown: 1 ignored."


def test_what_ends_a_command_is_escaped(compare: Command, tmp_path: Path) -> None:
    script = write(tmp_path, START + 'y = x / len("100%\\n, :")\n', "a,b:c %\n.py")
    ran = compare(script, "--format", "github")
    (command, _) = ran.out.splitlines()
    assert command.startswith("::warning file=a%2Cb%3Ac %25%0A.py,line=3,")
    assert r'Write xp.astype(x, xp.float64) / len("100%25\n, :") for torch' in command


# -- JSON, files ----------------------------------------------------------------------------------


def strict(schema: Any) -> Any:
    """The same schema, by which what it does not name is wrong."""
    if isinstance(schema, list):
        return [strict(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    made = {name: strict(each) for name, each in schema.items()}
    if "properties" in made and "type" in made:
        made.setdefault("additionalProperties", False)
    return made


SCHEMA = json.loads(output.SCHEMA.read_text(encoding="utf-8"))


def test_the_schema_names_all_that_is_in_a_report(compare: Command, tmp_path: Path) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$id"].endswith(f":{output.SCHEMA_VERSION.partition('.')[0]}")
    script = write(tmp_path, PROGRAM + "xp.where(x > 1, 2.5, x)\n")
    known = ("--baseline", "known.json")
    compare(script, *known, "--update-baseline", policies=ALL)
    write(tmp_path, PROGRAM + "u = x / 9  # promoarray: ignore[jxa]\nint('x')\n")
    data = compare(script, "--json", *known, policies=ALL).data
    jsonschema.validate(data, strict(SCHEMA), jsonschema.Draft202012Validator)
    for part in ("findings", "escapes", "value_changes", "notices", "baseline"):
        assert data[part]
    assert data["schema_version"] == output.SCHEMA_VERSION


@pytest.mark.slow
def test_the_schema_names_all_that_is_in_a_report_of_every_run(
    compare_program: Command, tmp_path: Path
) -> None:
    for end in ("", "int('x')\n"):
        script = write(tmp_path, PROGRAM + end)
        data = compare_program(script, "--json", "--run-all", "--show", "y,w").data
        jsonschema.validate(data, strict(SCHEMA), jsonschema.Draft202012Validator)
        assert data["outcomes"]


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["compare", "--schema"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["$id"] == "urn:promoarray:compare-report:1"
    assert "findings" in printed["properties"]


@pytest.mark.parametrize("format_", ["text", "json", "sarif", "github"])
def test_the_report_goes_into_a_file(compare: Command, tmp_path: Path, format_: str) -> None:
    script = write(tmp_path, HALF)
    plain = compare(script, "--format", format_)
    into = compare(script, "--format", format_, "--output", "report")
    assert into.status == plain.status == 1
    assert into.out == "Written: report\n"
    assert (tmp_path / "report").read_text(encoding="utf-8") == plain.out
    assert sorted(os.listdir(tmp_path)) == ["program.py", "report"]


@pytest.mark.parametrize("arguments", [("--json",), ("--json", "--output", "report")])
def test_standard_output_is_the_reports_alone_where_it_is_data(
    compare_program: Command, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    ran = compare_program(write(tmp_path, "print('printed')\n"), *arguments)
    aside = "--output" not in arguments
    assert ("printed" in ran.err, "printed" in ran.out) == (aside, not aside)


def test_json_is_another_name_for_its_format(compare: Command, tmp_path: Path) -> None:
    script = write(tmp_path, HALF)
    assert compare(script, "--json").out == compare(script, "--format", "json").out
    (finding,) = compare(script, "--json").data["findings"]
    del finding["fingerprint"]
    assert finding == {
        "kind": "dtype",
        "root": True,
        "policy": "torch@2.13",
        "file": script,
        "line": 3,
        "column": 5,
        "end_line": 3,
        "end_column": 10,
        "expression": "x / 2",
        "inside": None,
        "operation": "divide",
        "operands": ["int8", "Python int"],
        "run": "float64",
        "answer": "float32",
        "reason": None,
        "edit": "xp.astype(x, xp.float64) / 2",
        "count": 1,
        "state": "new",
        "fails": True,
    }
    assert pa.get_policy().name == "numpy@2"
