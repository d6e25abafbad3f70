"""The command line: what it prints, where, and how it exits."""

from __future__ import annotations

import argparse
import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from command import Command

import promoarray as pa
from promoarray import Policy, cli
from promoarray.diagnostics.policy_tables import table_of
from promoarray.policies import as_policy


def test_version(command: Command) -> None:
    assert command("--version")[:2] == (0, f"promoarray {pa.__version__}\n")


# -- list -------------------------------------------------------------------------------------


def test_list_names_every_family(command: Command) -> None:
    out = command("list", status=0).out
    for family in ("numpy", "jax", "torch", "tensorflow", "paddle", "aclnn", "onnx", "array_api"):
        assert family in out
    assert "(28 in all)" in out


def test_list_json_has_every_policy(command: Command) -> None:
    rows = command("list --json").data
    assert {row["policy"] for row in rows} == set(pa.list_policies())
    assert [row["policy"] for row in rows if row["default"]][:3] == [
        "numpy@2",
        "jax@x64",
        "torch@2.13",
    ]
    assert all(row["title"] and row["sources"] for row in rows)


# -- table ------------------------------------------------------------------------------------


def test_table_in_each_format_is_the_same_table(command: Command) -> None:
    asked = ("table", "torch", "--dtypes", "int8,f32,i*,f*")
    expected = [["i8", "f32", "i8", "f32"], ["f32", "f32", "f32", "f32"]]
    text = command(*asked).out
    assert (
        text.splitlines()[0] == "torch@2.13: promotion; the row is the left operand, - is refused"
    )
    assert [line.split()[1:] for line in text.splitlines()[2:4]] == expected
    as_csv = command(*asked, "--format", "csv").out
    assert [row[1:] for row in csv.reader(io.StringIO(as_csv))][1:3] == expected
    markdown = command(*asked, "--format", "markdown").out
    assert markdown.splitlines()[1] == "| --- | --- | --- | --- | --- |"
    assert markdown.splitlines()[2] == "| i8  | i8  | f32 | i8  | f32 |"
    as_json = command(*asked, "--format", "json").out
    data = json.loads(as_json)
    assert data["dtypes"] == ["i8", "f32", "i*", "f*"]
    assert data["table"][:2] == expected
    assert command(*asked, "--json").out == as_json


@pytest.mark.parametrize("name", ["numpy", "jax", "torch", "paddle", "onnx"])
def test_the_whole_table_is_printed_uncut(command: Command, name: str) -> None:
    text = command("table", name, "--all").out
    policy = pa.policies.as_policy(name)
    rows = [line.split() for line in text.splitlines()[2:]]
    assert len(rows) == len(policy.dtypes) + 4
    shown = table_of(policy)
    assert [row[1:] for row in rows] == shown.codes()
    assert "…" not in text


def test_policies_are_named_by_the_option_too(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    both = command("table", "torch", "jax").out
    assert command("table", "--policies", "torch,jax").out == both
    assert command("table", "torch", "--policy", "jax").out == both
    assert command("check", "--policy", "jax").out == command("check", "jax").out
    settings = '[tool.promoarray]\npolicies = ["torch", "paddle", "jax"]\n'
    (tmp_path / "pyproject.toml").write_text(settings)
    monkeypatch.chdir(tmp_path)
    assert command("table", "torch", "jax").out == both


def test_table_of_an_operation(command: Command) -> None:
    out = command("table torch --op / --dtypes i8,i32 --format csv").out
    assert out == ",i8,i32\ni8,f32,f32\ni32,f32,f32\n"


def test_table_feeds_from_table(command: Command, tmp_path: Path) -> None:
    out = command("table torch --format csv").out
    path = tmp_path / "torch.csv"
    path.write_text(out)
    assert Policy.from_table("copy", path).promote(pa.int8, pa.uint8) is pa.int16


def test_two_tables_side_by_side(command: Command) -> None:
    asked = ("table", "torch", "paddle@3.3", "--op", "/", "--dtypes", "i8,f16,f*")
    text = command(*asked).out
    head, _, *rows, counts = text.splitlines()
    assert head == "torch@2.13 | paddle@3.3: divide; the row is the left operand, - is refused"
    cells = [["f32", "f16|-", "f32"], ["f16|-", "f16", "f16"], ["f32", "f16", "f32"]]
    assert [row.split()[1:] for row in rows] == cells
    assert counts == "9 pairs: 7 the same, 2 refused by one."
    as_csv = command(*asked, "--format", "csv").out
    assert [row[1:] for row in csv.reader(io.StringIO(as_csv))][1:] == cells
    markdown = command(*asked, "--format", "markdown").out
    assert r"f16\|-" in markdown
    data = command(*asked, "--json").data
    assert data["policies"] == ["torch@2.13", "paddle@3.3"]
    assert data["tables"]["paddle@3.3"] == [["f32", None, "f32"], [None, "f16", "f16"], cells[2]]
    differ = {"operands": ["i8", "f16"], "torch@2.13": "f16", "paddle@3.3": None}
    assert data["differences"][0] == differ
    assert data["counts"]["refused by one"] == 2


def test_two_tables_are_about_the_dtypes_both_have(command: Command) -> None:
    data = command("table numpy@2 paddle@2.6 --json").data
    both = [d.code for d in as_policy("numpy@2").dtypes if d in as_policy("paddle@2.6").dtypes]
    assert data["dtypes"] == [*both, "b*", "i*", "f*", "c*"]
    for name in data["policies"]:
        dtypes = [pa.dtypes.BY_CODE[code] for code in data["dtypes"]]
        assert data["tables"][name] == table_of(as_policy(name), "", dtypes).to_dict()["table"]


# -- explore ----------------------------------------------------------------------------------


def test_explore_writes_a_page(command: Command, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("before")
    code, out, err = command("explore --policies onnx@1 -o", str(page))
    assert (code, err) == (0, "")
    assert out == f"Written: {page} (0.1 MB, 1 policies)\n"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [page]


def test_explore_leaves_no_half_written_page(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.html"
    page.write_text("before")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(
        "promoarray.diagnostics.explore.page.explore_page", lambda *_, **__: "after"
    )
    monkeypatch.setattr(Path, "replace", full)
    err = command("explore --policies onnx@1 -o", str(page), status=2).err
    assert "No space left" in err
    assert page.read_text() == "before"
    assert list(tmp_path.iterdir()) == [page]


def test_explore_prints_its_page_or_its_data(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = "promoarray.diagnostics.explore.page"
    monkeypatch.setattr(
        f"{made}.explore_page", lambda policies, *_, **__: f"page of {len(policies)}"
    )
    monkeypatch.setattr(
        f"{made}.explore_json", lambda policies, *_, **__: f"data of {len(policies)}"
    )
    assert command("explore -o -").out == "page of 8"
    assert command("explore -o - --policies all").out == f"page of {len(pa.list_policies())}"
    assert command("explore -o - --policies torch,jax --json").out == "data of 2"


# -- explain ----------------------------------------------------------------------------------


def test_explain_prints(command: Command) -> None:
    out = command("explain + int8 2.5 --policy paddle", status=0).out
    assert out.startswith("int8 + 2.5 is float32 under paddle")


def test_a_refusal_exits_with_1(command: Command) -> None:
    code, out, err = command("explain + int64 float32 --policy paddle")
    assert code == 1
    assert out.startswith("int64 + float32 is refused under paddle")
    assert err == ""


@pytest.mark.parametrize(
    ("operands", "expression"),
    [
        (("i8", "bf16"), "int8 + bfloat16"),
        (("int64[]", "i8"), "int64[] + int8"),
        (("int8", "-1"), "int8 + -1"),
        (("float32", "1e400"), "float32 + inf"),
        (("float32", "nan"), "float32 + nan"),
        (("bool", "True"), "bool + True"),
        (("complex64", "2j"), "complex64 + 2j"),
        (("float8_e4m3fn", "float8_e4m3fn"), "float8_e4m3fn + float8_e4m3fn"),
    ],
)
def test_operands_as_words(command: Command, operands: tuple[str, ...], expression: str) -> None:
    out = command("explain +", *operands, "--json").out
    assert json.loads(out)["expression"] == expression


def test_explain_takes_the_policy_in_force(command: Command) -> None:
    pa.set_policy("torch")
    out = command("explain / int8 int8 --json").out
    assert json.loads(out)["policy"] == "torch@2.13"
    assert json.loads(out)["dtype"] == "float32"


# -- check ------------------------------------------------------------------------------------


def test_check_exits_by_the_answer(command: Command) -> None:
    out = command("check numpy@1", status=1).out
    assert "(i8 with u8) with f16" in out
    assert command("check numpy@1 --json").data["holds"] is False


def test_check_of_a_lattice_exits_with_0(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promoarray.promotion.registry._registered", {})
    pa.policies.register(Policy.from_lattice("chain", "i8 -> i16\ni16 -> f32", scalars="refuse"))
    assert command("check chain").status == 0


# -- compare ----------------------------------------------------------------------------------


def test_compare_hands_over_its_arguments(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[argparse.Namespace] = []

    def main(args: argparse.Namespace) -> int:
        seen.append(args)
        return 1

    monkeypatch.setattr("promoarray.diagnostics.compare.command.main", main)
    words = "compare run.py --policies torch,jax --run numpy --html r.html --run-all"
    assert cli.main([*words.split(), "--", "--json", "-x"]) == 1
    args = seen[0]
    assert (args.script, args.policies, args.run, args.html) == (
        *("run.py", "torch,jax", "numpy", "r.html"),
    )
    assert (args.run_all, args.json, args.args) == (True, False, ["--json", "-x"])
    assert cli.main(["compare", "run.py"]) == 1
    assert seen[1].args == []


# -- wrong questions, pipes, colours ----------------------------------------------------------


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        ("table torhc", "unknown policy 'torhc'. Did you mean: torch"),
        ("table torch torhc", "unknown policy 'torhc'. Did you mean: torch"),
        ("table torch jax numpy", "table takes one policy, or two, not 3"),
        ("explore -o page.html --policies torhc", "unknown policy 'torhc'"),
        ("explore -o .", ". is a folder; write the name of a file"),
        ("explore -o no/page.html", "no such folder for no/page.html"),
        ("check torhc", "unknown policy 'torhc'. Did you mean: torch"),
        ("check", "name a program: SCRIPT, -m MODULE"),
        ("explain add int8 1 --policy torhc", "unknown policy 'torhc'. Did you mean: torch"),
        ("compare x.py --policies torhc", "unknown policy 'torhc'"),
        ("table torch --op ad", "unknown operation 'ad'. Did you mean: add?"),
        ("table torch --op sin", "sin takes one operand, so it has no table"),
        ("table torch --dtypes i8,i99", "'i99' is not a dtype"),
        ("explain ad int8 1", "unknown operation 'ad'. Did you mean: add?"),
        ("explain add int8", "add takes 2 operands, not 1"),
        ("explain add int8 one", "'one' is neither a dtype nor a Python scalar"),
        ("explain add int8 f*", "'f*' is the type of a Python scalar"),
        ("cast one --from f32 --to f16", "'one' is not a number"),
        (f"cast {10**400} --from f32 --to f16", "does not fit float32"),
        ("cast 1 --from f32 --to f99", "'f99' is not a dtype"),
        ("cast 1 --from f32 --to f16 --policy torch --saturate 1", "has saturate"),
        ("compare x.py --policies torch --html .", "is a folder"),
    ],
)
def test_a_wrong_question_is_one_line_on_stderr(
    command: Command, tmp_path: Path, argv: str, says: str
) -> None:
    (tmp_path / "x.py").write_text("")
    words = [str(tmp_path / w) if w == "x.py" else w for w in argv.split()]
    code, out, err = command(*words)
    assert (code, out) == (2, "")
    assert err.startswith("promoarray: ")
    assert says in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("error", [TypeError, ValueError, KeyError])
@pytest.mark.parametrize(
    ("argv", "inner"),
    [
        ("explain add int8 1", "promoarray.diagnostics.explain.question.explain_operation"),
        ("table torch", "promoarray.diagnostics.policy_tables.table_of"),
        ("cast 1 --from f32 --to f16", "promoarray.diagnostics.casts.run"),
        ("check torch", "promoarray.promotion.policy.Policy.check"),
    ],
)
def test_a_bug_shows_where_it_is_and_asks_for_a_report(
    command: Command, monkeypatch: pytest.MonkeyPatch, argv: str, inner: str, error: type[Exception]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error("inside")

    monkeypatch.setattr(inner, fail)
    err = command(argv, status=3).err
    assert "Traceback" in err
    assert "inside" in err
    assert err.endswith("promoarray: this is a bug. Please report it with the lines above\n")


@pytest.mark.parametrize("argv", ["", "nothing", "table", "table torch --format yaml", "explore"])
def test_argparse_speaks_for_itself(command: Command, argv: str) -> None:
    err = command(argv, status=2).err
    assert "usage: promoarray" in err


@pytest.mark.parametrize(
    ("argv", "says"),
    [
        (
            "compare x.py --n 3",
            "--n 3; the program's own arguments go after --: promoarray compare SCRIPT -- --n 3",
        ),
        ("port x.py 3 --to torch", "promoarray port SCRIPT -- 3"),
        ("diff x.py --n --from torch --to jax", "promoarray diff SCRIPT -- --n"),
        ("compare -m x --n 3", "go after --: promoarray compare -m MODULE -- ARGS"),
        ("comprae x.py", "argument COMMAND: no 'comprae'. Did you mean compare?"),
        ("table torch --format marked", "no 'marked'. Did you mean markdown?"),
        ("table torch --format x", "invalid choice: 'x'"),
        ("compare x.py --polices=torch", "arguments: --polices=torch. Did you mean --policies?"),
        ("compare x.py -o page.html", "Did you mean --output?"),
        ("list x", "promoarray list: error: unrecognized arguments: x\n"),
        ("table torch --dtype2 i8", "Did you mean --dtypes?"),
    ],
)
def test_arguments_that_nothing_takes_are_told_their_place(
    command: Command, argv: str, says: str
) -> None:
    code, out, err = command(argv)
    assert (code, out) == (2, "")
    assert says in err


@pytest.mark.parametrize("words", ["compare", "diff --from torch --to jax", "port --to torch"])
def test_a_folder_without_a_main_is_told_from_one_that_is_not_there(
    command: Command, tmp_path: Path, words: str
) -> None:
    err = command(words, str(tmp_path), status=2).err
    assert f"the folder {tmp_path} has no __main__.py" in err


def test_compare_with_no_policy_at_all_is_no_comparison(command: Command) -> None:
    code, out, err = command("compare", __file__, "--policies", ",")
    assert (code, out) == (2, "")
    assert "--policies names no policy" in err


def test_help_exits_with_0(command: Command) -> None:
    out = command("explain --help", status=0).out
    assert "Exit codes" in out


def shell(command: str, **env: str) -> subprocess.CompletedProcess[str]:
    keep = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")}
    return subprocess.run(
        ["sh", "-c", command.replace("promoarray", f"{sys.executable} -m promoarray")],
        env={**keep, **env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_python_m_works_and_a_closed_pipe_is_no_error() -> None:
    done = shell("promoarray table onnx | head -n 1")
    assert done.stdout.startswith("onnx@25: promotion")
    assert done.stderr == ""


def test_no_color_is_plain_even_where_colour_is_forced(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def printed(**env: str) -> str:
        for name in ("NO_COLOR", "FORCE_COLOR"):
            monkeypatch.delenv(name, raising=False)
        for name, value in env.items():
            monkeypatch.setenv(name, value)
        cli.main(["explain", "add", "int8", "2.5"])
        return capsys.readouterr().out

    assert "\x1b[" in printed(FORCE_COLOR="1")
    assert "\x1b" not in printed(FORCE_COLOR="1", NO_COLOR="1")
    assert "\x1b" not in printed()


def test_rich_is_not_imported_before_something_is_printed() -> None:
    code = """
import sys, promoarray as pa, promoarray.cli
pa.explain("add", "int8", 2.5).to_dict()
pa.policies.as_policy("torch").check().to_dict()
promoarray.cli.main(["table", "torch", "--format", "csv"])
sys.exit(any(name.partition(".")[0] == "rich" for name in sys.modules))
"""
    assert (
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=False).returncode
        == 0
    )


def test_an_int_of_more_digits_than_python_reads_is_no_infinity(command: Command) -> None:
    number = "9" * 5000
    code, out, _ = command("explain add int8", number)
    assert (code, out.splitlines()[0]) == (
        1,
        "add(int8, int of 16610 bits) is refused under numpy@2",
    )
    for argv in (
        ("cast", "--from", "float32", "--to", "int8", number),
        ("cast", "--from", "int64", "--to", "int8", f"-{number}"),
        ("cast", "--from", "int64", "--to", "int8", f"bits:{number}"),
        ("explain", number, "int8"),
        ("explain", "add", "int8", f"{number}x"),
        ("table", number),
    ):
        err = command(*argv, status=2).err
        assert len(err) < 1000
        assert "digits" not in err


@pytest.mark.parametrize(
    ("words", "start"),
    [
        ("compare {} --policies torch", "model"),
        ("compare {} --policies torch", "model/__main__.py"),
        ("compare {} --policies torch", "model/train.py"),
        ("diff {} --from numpy --to torch", "model"),
        ("bisect {} --from numpy@2 --to torch --expr y", "model/__main__.py"),
        ("port {} --to torch", "model/train.py"),
    ],
)
def test_a_program_that_imports_from_its_package_is_told_of_m(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: str, start: str
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "model"
    folder.mkdir()
    for name in ("__init__", "core"):
        (folder / f"{name}.py").touch()
    for name in ("__main__", "train"):
        (folder / f"{name}.py").write_text("import promoarray\nfrom . import core\n")
    code, _, err = command(words.format(start))
    assert code not in (0, 1)
    module = "model.train" if start.endswith("train.py") else "model"
    assert err.rstrip().endswith(f"it has relative imports: run it as a package, -m {module}")


def test_a_table_is_of_common_dtypes_unless_all_are_asked_for(command: Command) -> None:
    few, every = command("table torch").out, command("table torch --all").out
    assert "9 dtypes of few bits are left out; --all shows them." in few
    assert "f8_e5m2" not in few
    assert "f8_e5m2" in every
    assert "f8_e5m2" in command("table torch --dtypes f8_e5m2").out
    assert "f8_e5m2" in command("table torch --format csv").out


def test_json_prints_control_characters_by_escapes(
    command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = "PROMOARRAY_NONE_SUCH"
    monkeypatch.setenv(name, "a\x9b2J\u202e变量")
    out = command("doctor --json").out
    assert r"a\u009b2J\u202e变量" in out
    said = {check["name"]: check["says"] for check in json.loads(out)["checks"]}
    assert said[name] == "a\x9b2J\u202e变量"


@pytest.mark.parametrize(
    "argv",
    [
        "list",
        "table jax",
        "table torch paddle",
        "cast 500 -0.0 nan inf 1e-9 --from f64 --to f8_e4m3fn",
        "cast 500 --from c128 --to f16",
        "explain add int64 float32 --policy paddle",
        "explain astype f64 f8_e4m3fn --policy onnx",
        "explain @ f32 bf16 --policy tensorflow",
        "doctor",
        "check numpy@1",
    ],
)
def test_80_columns_are_enough(
    command: Command, monkeypatch: pytest.MonkeyPatch, argv: str
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    out = command(argv).out
    assert [line for line in out.splitlines() if len(line.rstrip()) > 80] == []
    assert "…" not in out.replace("onnx@1 … onnx@", "").replace("3 … (", "")
