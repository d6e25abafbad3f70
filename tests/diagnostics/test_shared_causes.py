"""Root causes that several lines have in common: told once, with one edit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import promoarray as pa
from promoarray.diagnostics.report import Report

OUTSIDE = np.array([1.5, 2.5]), np.arange(3)


def ran(*policies: str) -> Report:
    with pa.policy("numpy@2"), pa.shadow(*policies) as report:
        x = pa.asarray(OUTSIDE[0])
        y = pa.asarray(OUTSIDE[1])
        _ = x * 2
        _ = y + 1
        _ = pa.asarray(OUTSIDE[0]) - 1
        _ = pa.asarray([1, 2], dtype="int32") / 2
    return report


def line_of(text: str) -> int:
    lines = Path(__file__).read_text().splitlines()
    return next(n for n, line in enumerate(lines, 1) if text in line)


def test_what_a_policy_never_holds_is_one_cause() -> None:
    report = ran("jax@x32")
    (cause,) = report.shared_causes().found
    assert cause.what == "jax@x32 holds no float64 or int64, and makes float32 and int32 of them"
    assert cause.write == (
        'jax.config.update("jax_enable_x64", True), which is jax@x64; or cast to float32 and int32 '
        "where such data first come in"
    )
    lines = map(line_of, ("x = pa", "y = pa", "_ = pa.asarray(OUT", 'dtype="int32")'))
    assert cause.places == [f"{Path(__file__).name}:{line}" for line in lines]
    assert report.lines() == []
    (summary,) = report.by_policy()
    assert (summary.roots, summary.shared) == (1, 1)
    assert summary.words().startswith("1 root cause, 1 of several lines")
    assert "differ, 1 root cause." in report.summary()
    assert report.to_dict()["shared_causes"] == [cause.to_dict()]


def test_several_dtypes_are_listed() -> None:
    with pa.policy("numpy@2"), pa.shadow("jax@x32") as report:
        for dtype in ("float64", "int64", "uint64"):
            pa.asarray(np.zeros(2, dtype))
    (cause,) = report.shared_causes().found
    assert cause.what.startswith("jax@x32 holds no float64, int64 or uint64, and makes float32, ")


def test_other_policies_have_their_own_causes_in_the_same_lines() -> None:
    report = ran("jax@x32", "torch@2.13")
    (cause,) = report.shared_causes().found
    assert [*cause.policies] == ["jax@x32"]
    (line,) = report.lines()
    (entry,) = line.entries
    assert line.site.line == line_of('dtype="int32")')
    assert entry.policies == {"torch@2.13"}
    assert {s.policy: s.roots for s in report.by_policy()} == {"jax@x32": 1, "torch@2.13": 1}


def test_every_place_is_there_with_those_that_only_inherit() -> None:
    report = ran("jax@x32")
    report.inherited = True
    assert len(report.lines()) == len({d.program.line for d in report.divergences})


def test_with_the_edit_nothing_differs() -> None:
    with pa.policy("numpy@2"), pa.shadow("jax@x32") as report:
        _ = pa.asarray(OUTSIDE[0]).astype("float32") * 2
    assert not any(d.name == "multiply" for d in report.divergences)
    with pa.policy("numpy@2"), pa.shadow("jax@x64") as report:
        _ = pa.asarray(OUTSIDE[0]) * 2
    assert not report.divergences


def test_a_page_says_it_before_the_source() -> None:
    assert "jax@x32 holds no float64 or int64" in ran("jax@x32").to_html()


def test_lines_of_another_file_than_the_script_are_named() -> None:
    report, line = ran("torch@2.13"), line_of('dtype="int32")')
    named = f"{Path(__file__).name}:{line}"
    for script, where in {"": f"line {line}", __file__: f"line {line}", "train.py": named}.items():
        report.script = script
        assert report.by_policy()[0].words().endswith(f"to insert ({where})")


def test_files_of_one_name_are_told_with_their_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = "one/model.py", "two/model.py", "main.py"
    with pa.policy("numpy@2"), pa.shadow("jax@x32") as report:
        for name in names:
            code = compile("pa.asarray(x) + 1", str(tmp_path / name), "exec")
            exec(code, {"x": OUTSIDE[0], "pa": pa})
    (cause,) = report.shared_causes().found
    assert cause.places == ["main.py:1", "one/model.py:1", "two/model.py:1"]


def test_arrays_made_with_no_dtype_are_one_cause_with_an_edit_at_each() -> None:
    with pa.policy("numpy@2"), pa.shadow("torch@2.13", "paddle@3.3") as report:
        _ = pa.zeros(3)
        _ = pa.ones(2), pa.linspace(0, 1, 5)
        _ = pa.asarray([1, 2])
    (cause,) = report.shared_causes().found
    assert report.lines() == []
    assert cause.what == (
        "arrays made with no dtype named have the default one: float64 in the run, float32 under "
        "other policies"
    )
    at = line_of("_ = pa.zeros"), line_of("_ = pa.ones"), line_of("_ = pa.ones")
    made = "pa.zeros(3", "pa.ones(2", "pa.linspace(0, 1, 5"
    assert [(site.line, edit) for site, edit in cause.edits.items()] == [
        (line, f"{call}, dtype=pa.float64)") for line, call in zip(at, made, strict=True)
    ]
    assert "pa.ones(2, dtype=pa.float64)" not in str(report)
    report.inherited = True
    assert "pa.ones(2, dtype=pa.float64)" in str(report)
    assert {s.words() for s in report.by_policy()} == {
        f"1 root cause, 1 of several lines; 3 dtype= to insert (lines {at[0]}, {at[1]})"
    }


def test_default_dtypes_are_told_once_and_last() -> None:
    with pa.policy("numpy@2"), pa.shadow("torch@2.13") as report:
        x = pa.zeros(3, dtype="int8") / 2
        _ = pa.zeros(3), x + x
    (cause,) = report.shared_causes().found
    assert cause.write == "pa.zeros(3, dtype=pa.float64)"
    assert len(report.lines()) == 1
    text = str(report)
    assert text.index(" / 2") < text.index("arrays made with no dtype named")


def test_policies_that_ask_for_the_same_are_told_together() -> None:
    with pa.policy("numpy@2"), pa.shadow("torch@2.13", "paddle@3.3", "numpy@1") as report:
        _ = pa.zeros(3)
    assert str(report).startswith("torch@2.13, paddle@3.3  1 root cause; 1 dtype= to insert")
