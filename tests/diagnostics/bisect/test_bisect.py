"""`promoarray bisect`: the lines and rules that change a final value."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
import shlex
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.core.observers import observing
from promoarray.diagnostics.ask.observer import ShadowObserver
from promoarray.diagnostics.bisect.command import Bisection, Search, Stopped, ddmin
from promoarray.diagnostics.bisect.trial import (
    ARRAYS,
    BY_OPERATION,
    FIELDS,
    PROMOTION,
    SCALARS,
    differing_rules,
    mixed,
    plain,
    same,
    shown,
    worded,
)
from promoarray.diagnostics.report import Report
from promoarray.diagnostics.run.program import Ended
from promoarray.diagnostics.run.task import Findings, Task
from promoarray.operations import OPERATIONS, Form
from promoarray.policies import as_policy
from promoarray.promotion import in_force
from promoarray.promotion.plan import Operand, Plan, Rank, Refusal
from promoarray.promotion.policy import Policy

# -- delta debugging ------------------------------------------------------------------------------


def test_ddmin_finds_what_cannot_be_left_out() -> None:
    draw = random.Random(7)
    for _ in range(200):
        whole = list(range(draw.randint(1, 40)))
        wanted = set(draw.sample(whole, draw.randint(1, min(4, len(whole)))))
        asked: list[tuple[int, ...]] = []

        def has_effect(part: Sequence[int], wanted: set[int] = wanted, asked: Any = asked) -> bool:
            asked.append(tuple(part))
            return wanted <= set(part)

        assert set(ddmin(whole, has_effect)) == wanted
        assert len(asked) == len(set(asked))


def test_ddmin_keeps_one_of_two_ways() -> None:
    kept = ddmin(range(10), lambda part: {2, 7} <= set(part) or 5 in part)
    assert kept in ([5], [2, 7])


# -- rules ----------------------------------------------------------------------------------------

DESCRIBE = {"name", "title", "principle", "dtypes", "refusal", "sources", "notes"}


def test_every_field_of_a_policy_belongs_to_one_rule() -> None:
    grouped = [field for _, fields in FIELDS.values() for field in fields]
    assert len(grouped) == len(set(grouped))
    every = {field.name for field in dataclasses.fields(Policy) if field.init}
    assert {*grouped, *BY_OPERATION, *DESCRIBE, "promote"} == every
    assert not {*FIELDS, *PROMOTION} & set(OPERATIONS)
    assert all(worded(rule) for rule in (*FIELDS, *PROMOTION, "divide"))


SOME = (dt.bool, dt.uint8, dt.int64, dt.float16, dt.float32, dt.float64, dt.complex64)
OPERANDS = [Operand(d) for d in SOME] + [Operand(dt.float64, Rank.ZERO_D)]
OPERANDS += [Operand(d, Rank.SCALAR) for d in (dt.weak_int, dt.weak_float)]
BINARY = ("add", "divide", "floor_divide", "pow", "less", "bitwise_and", "where", "atan2")


def _answers(policy: Policy) -> dict[Any, Any]:
    asked = itertools.product(BINARY, itertools.product(OPERANDS, repeat=2), Form)
    plans = {
        (name, operands, form): policy.plan(name, operands, form)
        for name, operands, form in asked
        if name not in ("where", "atan2") or form is Form.FUNCTION
    }
    unary = {("sum", d): policy.plan("sum", (Operand(d),), Form.FUNCTION) for d in SOME}
    return {key: _said(plan) for key, plan in (plans | unary).items()}


def _said(plan: Plan | Refusal) -> Any:
    return "refused" if isinstance(plan, Refusal) else plan


PAIRS = [("numpy@1", "numpy@2"), ("numpy", "torch"), ("jax", "paddle@3.3"), ("onnx", "tensorflow")]


@pytest.mark.parametrize(("a", "b"), PAIRS)
def test_with_all_rules_a_policy_answers_as_the_other_and_with_none_as_itself(
    a: str, b: str
) -> None:
    one, other = as_policy(a), as_policy(b)
    rules = differing_rules(one, other, OPERATIONS)
    assert _answers(mixed(one, other, rules)) == _answers(other)
    assert _answers(mixed(one, other, ())) == _answers(one)
    assert differing_rules(one, one, OPERATIONS) == []


def test_promotion_is_two_rules() -> None:
    numpy, torch = as_policy("numpy"), as_policy("torch")
    pair, scalar = (dt.int64, dt.float32), (dt.int64, dt.weak_float)
    assert mixed(numpy, torch, [ARRAYS]).promote(*pair) is torch.promote(*pair)
    assert mixed(numpy, torch, [ARRAYS]).promote(*scalar) is numpy.promote(*scalar)
    assert mixed(numpy, torch, [SCALARS]).promote(*scalar) is torch.promote(*scalar)


# -- values ---------------------------------------------------------------------------------------


def test_values_are_the_same_within_the_tolerance() -> None:
    assert same(1.0, 1.0 + 1e-9, 1e-8)
    assert not same(1.0, 1.0 + 1e-9)
    assert same(float("nan"), float("nan"))
    assert not same(0.0, -0.0)
    assert same(0.0, -0.0, 1e-300)
    assert same(1, 1.0)
    assert not same(float("inf"), 1.0, 1e9)
    assert same(np.array([1.0, np.nan]), np.array([1.0, np.nan]))
    assert not same(np.array([1.0]), np.array([[1.0]]))
    assert same([1, {"a": 2.0}], [1, {"a": 2.0 + 1e-12}], 1e-9)
    assert not same("float32", "float64", 1.0)
    assert same(10**400, 10**400)
    assert not same(10**400, 10**400 + 1, 0.5)
    assert same(1 + 2j, 1 + 2.0000001j, 1e-6)


def test_values_are_plain_data() -> None:
    assert plain(pa.asarray(0.5, dtype=pa.bfloat16)) == 0.5
    assert plain({"a": (pa.asarray([1, 2]), pa.float32)})["a"][1] == "promoarray.float32"
    assert shown(np.zeros((2, 3)), (1, 2)) == "0.0 at [1, 2] of an array of shape (2, 3)"


# -- the search, with programs that run in this process -------------------------------------------


class Here:
    """A program that is run in this process, as the watch of one of its own would have it."""

    def __init__(self, tmp_path: Path, text: str) -> None:
        self.file = str(tmp_path / "program.py")
        Path(self.file).write_text(text, encoding="utf-8")
        self.text, self.runs = text, 0

    def run(self, task: Task, given: object, **options: Any) -> Ended:
        self.runs += 1
        names: dict[str, Any] = {"run": self.runs}
        before, policies = in_force.process_default, tuple(map(as_policy, task.policies))
        report = Report(as_policy(task.policy or "numpy"), policies)
        probed: tuple[Any, ...] = ()
        try:
            with ExitStack() as entered:
                for probe in task.probes:
                    probe.begin()
                    entered.enter_context(observing(probe))
                entered.enter_context(observing(ShadowObserver(report)))
                exec(compile(self.text, self.file, "exec"), names)
                probed, error = tuple(probe.ended(names) for probe in task.probes), ""
        except pa.PromotionError as refused:
            error = str(refused)
        finally:
            in_force.process_default = before
        findings = Findings(report.run.name, report, error=error, probed=probed)
        return Ended(1 if error else 0, (findings,), "")


def _search(here: Here, before: str, after: str, expression: str, tolerance: float = 0.0) -> Search:
    policies = as_policy(before), as_policy(after)
    given: Any = None
    program: Any = here
    return Search(program, *policies, expression, tolerance, given, lambda words: None)


def _found(
    here: Here, before: str, after: str, expression: str, tolerance: float = 0.0
) -> Bisection:
    found = _search(here, before, after, expression, tolerance).found()
    assert found is not None
    return found


TWO_LINES = """\
import promoarray as xp
gain = xp.asarray(3.5)
weights = xp.asarray([0.1, 0.2, 0.3], dtype=xp.float32)
other = weights * 2
scaled = weights * gain
total = xp.sum(scaled)
half = weights[0] * 0.1
loss = total + half * 1e-3
"""


def test_the_line_and_the_rule_are_found(tmp_path: Path) -> None:
    here = Here(tmp_path, TWO_LINES)
    found = _found(here, "numpy@1", "numpy@2", "scaled")
    assert [number for _, number in found.lines] == [5]
    assert found.rules == ["operand types"]
    first, other, last = found.values
    assert same(last, other)
    assert not same(first, other)
    assert found.runs == here.runs


def test_with_a_tolerance_only_what_matters_is_found(tmp_path: Path) -> None:
    here = Here(tmp_path, TWO_LINES)
    every = [number for _, number in _found(here, "numpy@1", "numpy@2", "loss").lines]
    assert 5 in every
    assert len(every) > 1
    rough = _found(here, "numpy@1", "numpy@2", "loss", tolerance=1e-10)
    assert [number for _, number in rough.lines] == [5]


def test_an_operation_is_a_rule_and_a_dtype_a_value(tmp_path: Path) -> None:
    text = "import promoarray as xp\nx = xp.asarray([1, 2])\ny = x / 2\nz = y + 1\n"
    found = _found(Here(tmp_path, text), "numpy", "torch", "z.dtype")
    assert [number for _, number in found.lines] == [3]
    assert found.rules == ["divide"]
    assert found.values[:2] == ["promoarray.float64", "promoarray.float32"]


def test_the_expression_itself_may_be_it(tmp_path: Path) -> None:
    here = Here(tmp_path, "import promoarray as xp\nx = xp.asarray([1, 2, 2])\n")
    found = _found(here, "numpy", "torch", "(x / 3)[0].item()")
    assert [file for file, _ in found.lines] == ["--expr"]


def test_bits_are_found_that_no_dtype_tells(tmp_path: Path) -> None:
    text = (
        "import promoarray as xp\n"
        "x = xp.reshape(xp.arange(1.0, 13.0), (3, 4))\n"
        "y = x + 1\n"
        "z = y / xp.asarray([[3.0], [7.0], [9.0]])\n"
    )
    found = _found(Here(tmp_path, text), "numpy", "jax", "z")
    assert [number for _, number in found.lines] == [4]
    assert found.rules == ["divide"]
    assert "x1 is multiplied by 1 / x2" in " ".join(str(found).split())


def test_the_report_as_text_data_and_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # so that the path is short, and no line is folded in it
    bisection = _found(Here(tmp_path, TWO_LINES), "numpy@1", "numpy@2", "scaled")
    text = " ".join(str(bisection).split())
    assert "program.py:5 weights * gain [float32 * float64[]]" in text
    assert "rule operand types: what 0-d arrays and values count for in promotion" in text
    assert f"because of 1 line and 1 rule there ({bisection.runs} runs)." in text
    data = bisection.to_dict()
    assert json.loads(json.dumps(data))["lines"][0]["line"] == 5
    assert [change["after"] for change in data["changes"]] == ["float64"]
    assert data["value"]["minimal"] == data["value"]["to"] != data["value"]["from"]


def test_the_same_value_is_no_finding(tmp_path: Path) -> None:
    assert _search(Here(tmp_path, TWO_LINES), "numpy@1", "numpy@2", "other").found() is None


@pytest.mark.parametrize(
    ("text", "expression", "status", "said"),
    [
        ("import promoarray as xp\nx = xp.asarray(run / 2)\n", "x", 3, "not deterministic"),
        ("import promoarray as xp\nx = xp.asarray(1.0)\n", "y", 2, "name 'y' is not defined"),
    ],
)
def test_what_cannot_be_searched_is_said(
    text: str, expression: str, status: int, said: str, tmp_path: Path
) -> None:
    with pytest.raises(Stopped, match=said) as stopped:
        _search(Here(tmp_path, text), "numpy@1", "numpy@2", expression).found()
    assert stopped.value.status == status


# -- the command ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--expr", "1 +"], "is not an expression"),
        (["--expr", "x", "--tolerance", "-1"], "from 0 up"),
        (["--expr", "x", "--tolerance", "nan"], "from 0 up"),
        ([], "--expr"),
    ],
)
def test_usage_errors(arguments: list[str], said: str, command: Command) -> None:
    given = ["bisect", "--from", "numpy", "--to", "torch", *arguments, __file__]
    assert said in command(*given, status=2).err


@pytest.mark.slow
def test_the_command_runs_the_program_as_python_does(command: Command) -> None:
    command.write(
        "import sys, threading\nimport promoarray as xp\n"
        "def work():\n"
        "    global y\n"
        "    y = xp.asarray([len(sys.argv)]) / 7\n"
        "worker = threading.Thread(target=work)\n"
        "worker.start()\nworker.join()\n"
        "x = y + xp.asarray(True)\n"
        "try: xp.mean(xp.asarray([True]))\n"
        "except TypeError: pass\n",
    )
    given = "bisect --from numpy --to torch --expr float(x[0]) program.py"
    data = command(f"{given} --json -- one two", status=1).data
    assert [line["line"] for line in data["lines"]] == [5]
    assert [rule["rule"] for rule in data["rules"]] == ["divide"]
    assert data["refusals"] == []
    said = "is the same under numpy@2 and torch@2.13 (within 1e-06): 1.142"
    assert said in command(f"{given} --tolerance 1e-6", status=0).out


@pytest.mark.slow
def test_the_page_shows_what_the_command_prints(
    command: Command,
) -> None:
    page = (Path(__file__).parents[3] / "docs" / "diff.md").read_text(encoding="utf-8")
    text = page.partition("`image.py`:\n\n```python\n")[2].partition("```")[0]
    text = text.replace("image + 300", "image + 30")
    Path("image.py").write_text(f"{text}\n", encoding="utf-8")
    line, _, shown = page.partition("$ promoarray bisect ")[2].partition("\n")
    assert (
        command("bisect", *shlex.split(line), status=1).out.split()
        == shown.partition("```")[0].split()
    )
