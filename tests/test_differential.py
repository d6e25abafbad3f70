"""Programs that the real frameworks ran, replayed: whatever differs stands under its reason."""

from __future__ import annotations

import sys
from functools import cache

import departures
import differential
import pytest
from programs import answers, recorded, shrink
from programs.compare import Difference, difference
from programs.generate import programs
from programs.live import Live
from programs.ours import Ours

pytestmark = pytest.mark.usefixtures("short_errors")

KEPT = differential.kept()
# What differs is asked for twice, and computed once in one process.
in_one_process = pytest.mark.xdist_group("recorded programs")


@cache
def differences(name: str) -> tuple[Difference, ...]:
    """The recorded programs of a framework that promoarray answers otherwise."""
    meta, asked = recorded.read(name)
    ours = Ours(meta["policy"])
    found = (difference(program, answered, ours(program)) for program, answered in asked)
    return tuple(filter(None, found))


@in_one_process
@pytest.mark.parametrize("name", KEPT)
def test_recorded_programs_are_answered_as_the_framework_did(name):
    left, _ = differential.unexplained(name, differences(name))
    assert [f"{d.program}\n  {d.theirs[:90]}\n  {d.ours[:90]}" for d in left[:20]] == []


@in_one_process
@pytest.mark.slow
def test_each_reason_has_a_recorded_case():
    idle = [
        entry.reason
        for entry in departures.read("programs")
        if not any(
            entry.covers(n, d[:4]) for n in KEPT if entry.is_about(n) for d in differences(n)
        )
    ]
    assert idle == []


DESCRIBED = {
    "dtypes": ["int8", "float32", "complex64"],
    "cast_only": ["bfloat16"],
    "functions": ["add", "sum", "where", "asarray", "astype", "clip", "result_type", "setitem"],
    "traits": ["mutable"],
}


def test_a_seed_makes_the_same_programs():
    assert list(programs(1, 50, DESCRIBED)) == list(programs(1, 50, DESCRIBED))
    assert list(programs(1, 50, DESCRIBED)) != list(programs(2, 50, DESCRIBED))


def test_a_framework_is_asked_only_what_it_has():
    asked = "\n".join(programs(3, 300, DESCRIBED))
    assert "concat(" not in asked
    assert "where(" in asked


ANSWERS = [
    ("int8 (1,) 1", "int8 (1,) 1", None),
    ("int8 (1,) 1", "int16 (1,) 1", "dtype"),
    ("int8* (1,) 1", "int8 (1,) 1", "weak"),
    ("int8 (1,) 1", "int8 () 1", "shape"),
    ("int8 (1,) 1", "int8 (1,) 2", "values"),
    ("float32 (1,) 0.0", "float32 (1,) -0.0", "values"),
    ("float32 (1,) nan", "float32 (1,) nan", None),
    ("!TypeError: no", "int8 (1,) 1", "allowed"),
    ("int8 (1,) 1", "!TypeError: no", "refused"),
    ("!TypeError: no", "!ValueError: never", None),
    ("?no kernel", "int8 (1,) 1", None),
    ("int8 (1,) 1", "!!SystemError: a crash", "crash"),
]


@pytest.mark.parametrize(("theirs", "ours", "kind"), ANSWERS)
def test_what_counts_as_a_difference(theirs, ours, kind):
    program = 'a = array("int8", [1], (1,))\nb = maximum(a, 1)'
    made = "int8 (1,) 1"
    found = difference(program, [made, theirs], [made, ours])
    assert (found.kind if found else None) == kind


@pytest.mark.parametrize(
    ("pattern", "operation", "covers"),
    [
        ("** **= pow : *", "**", True),
        ("** **= pow : *", "mean", False),
        ("* *= multiply", "multiply", True),
        ("* *= multiply", "**=", False),
        ("linalg.* : *", "linalg.svd", True),
        ("* : complex*", "mean", True),
    ],
)
def test_an_operator_in_a_pattern_means_itself(pattern, operation, covers):
    found = Difference(operation, "complex64", "values", "complex64", "", "", "")
    entry = departures.Departure("programs", "torch*", "a reason", (pattern,))
    assert entry.covers("torch", found[:4]) is covers


def test_sums_may_round_in_another_order_and_sines_in_the_last_place():
    made = "float32 (2,) 1.0 1000000.0"
    summed = 'a = array("float32", [1.0, 1000000.0], (2,))\nb = sum(a)'
    assert not difference(summed, [made, "float32 () 0.5"], [made, "float32 () 0.25"])
    assert difference(summed, [made, "float32 () 0.5"], [made, "float32 () 100.25"])
    sine = summed.replace("sum", "sin")
    near = ["float32 (2,) 0.5 0.25", "float32 (2,) 0.5000001 0.25"]
    assert not difference(sine, [made, near[0]], [made, near[1]])
    assert difference(summed.replace("sum", "abs"), [made, near[0]], [made, near[1]])


def test_operands_are_told_by_dtype_rank_and_whether_a_scalar_fits():
    program = 'a = array("int8", [1], ())\nb = a + 300'
    found = difference(program, ["int8 () 1", "int8 () 45"], ["int8 () 1", "!OverflowError: x"])
    assert found is not None
    assert (found.operation, found.operands, found.kind) == ("+", "int8[] int!", "refused")


def test_a_program_is_shrunk_to_what_still_differs():
    program = """a = array("int8", [5, 7, -128], (3,))
b = array("float32", [2.5], (1,))
c = abs(b)
d = negative(a)"""

    def asked(text: str) -> Difference | None:
        if "negative" not in text or "-128" not in text:
            return None
        count = len(text.splitlines())
        good = ["int8 (1,) 1"] * (count - 1)
        return difference(text, [*good, "int8 (1,) 1"], [*good, "int8 (1,) 2"])

    found = asked(program)
    assert found is not None
    small = shrink.smallest(found, asked).program
    assert small == 'a = array("int8", [-128], (1,))\nd = negative(a)'


def test_answers_are_read_back_to_the_bit():
    values = [0.1, -0.0, float("inf"), 5e-324, 1 / 3]
    told = answers.read(answers.of_array("float64", values))
    assert told is not None
    assert [repr(float(v)) for v in told[0].values] == [repr(v) for v in values]


ABORTING = """
import dataclasses, os, sys
from programs import worker
from programs.frameworks import numpy
made = numpy.framework("2")
broken = dataclasses.replace(made, functions={**made.functions, "abs": lambda x: os.abort()})
numpy.framework = lambda edition: broken
sys.exit(worker.main("numpy@2"))
"""


class Aborting(Live):
    """A NumPy whose abs ends the process."""

    def _start(self):
        self._command = [sys.executable, "-c", ABORTING]
        super()._start()


def test_a_program_that_ends_the_process_crashes_and_the_next_is_answered():
    live = Aborting("numpy@2")
    try:
        made, worker = 'a = array("int8", [1], (1,))\n', live._process.pid
        assert live(made + "b = abs(a)\nc = a + a") == ["int8 (1,) 1", answers.CRASHED]
        assert live(made + "b = a + a") == ["int8 (1,) 1", "int8 (1,) 2"]
        assert live._process.pid == worker
    finally:
        live.close()
