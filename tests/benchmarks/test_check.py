"""Two runs compared: which changes count, and which files cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from runpy import run_path
from typing import Any

import pytest

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"
CHECK = run_path(str(BENCHMARKS / "check.py"))


def line(name: str, ours: list[float], numpy: list[float], against: str = "numpy") -> Any:
    values = {"promoarray": ours, "numpy": numpy}
    return {"name": name, "unit": "s", "bounds": {against: 3.0}, "values": values}


def run(*lines: Any) -> Any:
    return {"format": 1, "chapters": {"dispatch": {"lines": list(lines)}}}


QUIET = line("quiet", [2.00, 2.01, 2.02], [1.0, 1.0, 1.0])
NOISY = line("noisy", [2.00, 2.60, 2.30], [1.0, 1.0, 1.0])


@pytest.fixture
def check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def compare(before: Any, after: Any) -> tuple[int, str, str]:
        paths = [tmp_path / "before.json", tmp_path / "after.json"]
        for path, content in zip(paths, (before, after), strict=True):
            path.write_text(content if isinstance(content, str) else json.dumps(content))
        status = CHECK["main"]([str(path) for path in paths])
        said = capsys.readouterr()
        return status, said.out, said.err

    return compare


def scaled(row: Any, times: float) -> Any:
    ours = [number * times for number in row["values"]["promoarray"]]
    return row | {"values": row["values"] | {"promoarray": ours}}


def test_the_same_run_says_nothing(check: Any) -> None:
    assert check(run(QUIET, NOISY), run(QUIET, NOISY)) == (0, "", "")


def test_a_slower_line_fails_and_is_the_only_one_printed(check: Any) -> None:
    status, out, _ = check(
        run(QUIET, scaled(QUIET, 5) | {"name": "other"}), run(scaled(QUIET, 1.1))
    )
    assert status == 1
    said = "dispatch: quiet: 2.01 to 2.21 x numpy, 1.10 times slower (noise 1%)\n"
    assert out == said


def test_a_faster_line_is_printed_and_passes(check: Any) -> None:
    status, out, _ = check(run(QUIET), run(scaled(QUIET, 0.5)))
    assert status == 0
    assert "2.00 times faster" in out


def test_a_change_within_the_noise_of_its_own_line_is_none(check: Any) -> None:
    noisy = [NOISY, QUIET, QUIET | {"name": "another"}]
    changed = [scaled(NOISY, 1.1), *noisy[1:]]
    assert check(run(*noisy), run(*changed)) == (0, "", "")
    status, out, _ = check(run(*noisy), run(scaled(NOISY, 1.6), *noisy[1:]))
    assert status == 1
    assert out.startswith("dispatch: noisy")


def test_noise_that_is_small_by_chance_is_that_of_the_chapter(check: Any) -> None:
    calm = line("calm", [2.0, 2.0, 2.0], [1.0, 1.0, 1.0])
    others = [NOISY, NOISY | {"name": "another"}]
    assert check(run(calm, *others), run(scaled(calm, 1.1), *others)) == (0, "", "")


def test_a_slower_minute_of_the_machine_is_no_change(check: Any) -> None:
    """Where ours and the other took turns, what slowed both cancels."""
    slow = line("quiet", [4.0, 2.01, 2.02], [2.0, 1.0, 1.0])
    assert check(run(QUIET), run(slow)) == (0, "", "")


def test_best_is_the_fastest_of_three_in_each_pass() -> None:
    row = line("x", [3.0, 3.0], [2.0, 1.0], "best")
    row["values"] |= {"torch": [1.0, 2.0], "paddle": [0.1, 0.1]}
    assert CHECK["ratio"](row, "best") == 3.0
    assert CHECK["ratio"](row, "jax") is None


def test_a_number_that_is_held_to_none_is_compared_itself(check: Any) -> None:
    row = line("memory", [4096.0] * 3, [], "")
    assert check(run(row), run(scaled(row, 2)))[0] == 1
    assert check(run(row), run(row))[0] == 0


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[1]",
        "{}",
        '{"format": 2, "chapters": {}}',
        '{"format": 1}',
        '{"format": 1, "chapters": {}}',
        '{"format": 1, "chapters": {"dispatch": {"lines": [{"name": "x"}]}}}',
        '{"format": 1, "chapters": {"dispatch": {"lines": [{"name": "x", "bounds": {"": 1}, '
        '"values": {"promoarray": ["fast"]}}]}}}',
    ],
)
def test_what_is_no_run_is_refused(check: Any, content: str) -> None:
    for pair in ((content, run(QUIET)), (run(QUIET), content)):
        status, out, err = check(*pair)
        assert (status, out) == (2, "")
        assert ".json" in err


def test_a_file_that_is_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert CHECK["main"](["/nowhere/a.json", "/nowhere/b.json"]) == 2
    assert "/nowhere/a.json" in capsys.readouterr().err


def test_a_run_of_one_pass_cannot_say_what_noise_is(check: Any) -> None:
    status, out, err = check(run(QUIET), run(line("quiet", [2.0], [1.0])))
    assert (status, out) == (2, "")
    assert "has one pass" in err
