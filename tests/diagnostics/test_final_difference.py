"""What two runs of a program made of its globals: dtypes, values, NaN, the first that differs."""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray import cli
from promoarray.core.call_site import Site
from promoarray.diagnostics.compare.output import Outcomes, outcome
from promoarray.diagnostics.exit_codes import FINDINGS
from promoarray.diagnostics.model.final import finals
from promoarray.diagnostics.model.final_difference import FinalDifference, difference_of
from promoarray.diagnostics.run.program import Ended
from promoarray.diagnostics.run.task import Findings


def differ(run: Any, other: Any) -> FinalDifference | None:
    kept = (finals({"x": value}, None).get("x") for value in (run, other))
    return difference_of("x", *kept)


def found(run: Any, other: Any) -> FinalDifference:
    difference = differ(run, other)
    assert difference is not None
    return difference


def test_arrays_are_compared_element_by_element() -> None:
    a = pa.asarray([[1.0, 2.0, np.nan], [4.0, np.inf, 0.0]])
    b = pa.asarray([[1.0, 2.5, np.nan], [5.0, 8.0, np.nan]], dtype=pa.float32)
    difference = found(a, b)
    assert (difference.differing, difference.size) == (4, 6)
    assert (difference.largest, difference.relative) == (1.0, 0.2)
    assert difference.first is not None
    assert difference.first.index == (0, 1)
    assert (difference.first.run, difference.first.other) == ("2.0", "2.5")
    assert difference.run is not None
    assert difference.other is not None
    assert (difference.run.nan, difference.run.inf) == (1, 1)
    assert (difference.other.nan, difference.other.inf) == (2, 0)
    assert difference.words() == (
        "float32 [2x3] instead of float64 [2x3]; 4 of 6 elements differ, by 1 at most (relative "
        "0.2); first at [0, 1]: 2.5 instead of 2.0; 2 NaN instead of 1; 0 Inf instead of 1"
    )


@pytest.mark.parametrize(
    ("run", "other"),
    [
        (pa.asarray([2**53 + 1]), pa.asarray([2.0**53])),  # equal as float64
        (pa.asarray([2**63 - 1]), pa.asarray([2**63], dtype=pa.uint64)),
        (pa.asarray([True, False]), pa.asarray([True, True])),
        (np.asarray([1.5]), np.asarray([1.25])),
        (1.5, 1.25),
        (3, 4),
        (1j, 2j),
    ],
)
def test_values_that_differ(run: Any, other: Any) -> None:
    assert found(run, other).differing == 1
    assert differ(run, run) is None


@pytest.mark.parametrize(
    ("run", "other", "words"),
    [
        (0.1, pa.asarray(0.1, dtype=pa.float32), "0.100000001 (float32) instead of 0.1"),
        (np.float32(0.1), np.float64(0.1), "0.1 instead of 0.100000001"),
        (1.0, 1.0 + 2**-52, "1.0000000000000002 instead of 1"),
        (1.0, 1.25, "1.25 instead of 1"),
        (1.0 + 1e-9j, 1.0 + 1.0000001e-9j, "1+1.0000001e-09j instead of 1+1e-09j"),
        (np.array([0.1]), np.array([0.1], np.float32), "0.100000001 instead of 0.1"),
        (2**53 + 1, 2.0**53, "9.0072e+15 instead of 9007199254740993"),
        (True, False, "False instead of True"),
    ],
)
def test_numbers_that_differ_look_different(run: Any, other: Any, words: str) -> None:
    assert words in found(run, other).words()


def test_dtypes_alone_may_differ() -> None:
    codes = pa.asarray([0.5, 448.0], dtype=pa.float8_e4m3fn)
    difference = found(codes, codes.astype(pa.bfloat16))
    assert (difference.differing, difference.first, difference.largest) == (0, None, None)
    assert difference.words() == "bfloat16 [2] instead of float8_e4m3fn [2]; the same values"


def test_what_is_too_large_is_compared_as_a_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("promoarray.diagnostics.model.final.LARGE", 3)
    x = np.arange(4.0)
    assert differ(x, x.copy()) is None
    assert found(x, x + 1).words() == "NumPy float64 [4]; other values"
    assert found(x, x.astype(np.float32)).words().endswith("other values")
    assert found(2**70, 2**70 + 1).words() == f"{2**70 + 1} instead of {2**70}"


def test_shapes_and_names_may_differ() -> None:
    assert "int64 [1] instead of int64 [2]" in found(pa.asarray([1, 2]), pa.asarray([1])).words()
    assert found(pa.asarray(1.5), None).words() == "not set instead of 1.5 (float64)"


def test_whatever_is_asked_for_is_shown() -> None:
    class Odd:
        def __str__(self) -> str:
            raise ValueError("no")

    kept = finals({"odd": Odd(), "long": 10**5000, "_x": 1.5, "text": "a"}, ["odd", "long", "z"])
    assert kept["odd"].text == "<Odd: ValueError when it was shown>"
    assert (kept["long"].values, kept["z"].text) == (None, "not set")
    assert list(finals({"odd": Odd(), "_x": 1.5, "text": "a", "n": 2}, None)) == ["n"]


PROGRAM = """\
import sys
import promoarray as xp
given = xp.asarray([float(part) for part in sys.stdin.read().split()], dtype=xp.float32)
pixels = xp.asarray([1, 2, 250], dtype=xp.uint8)
sums = pixels + 300
pixels += 1.5
wide = xp.sum(given) * xp.asarray([1, 2], dtype=xp.int32)
print(f"{wide.dtype}")
"""


@contextlib.contextmanager
def as_standard_input(descriptor: int) -> Iterator[None]:
    kept = os.dup(0)
    os.dup2(descriptor, 0)
    try:
        yield
    finally:
        os.dup2(kept, 0)
        os.close(kept)


@pytest.mark.slow
def test_runs_go_on_after_scalars_and_in_place_refusals(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script, given = tmp_path / "program.py", tmp_path / "given.txt"
    script.write_text(PROGRAM)
    given.write_text("1.5 2.5")
    command = ["compare", str(script), "--run", "jax", "--policies", "numpy,torch", "--run-all"]
    with given.open() as file, as_standard_input(file.fileno()):
        assert cli.main([*command, "--json"]) == FINDINGS
    out, err = capfd.readouterr()
    assert err.count("--run-all runs the program 4 times") == 1
    data = json.loads(out)
    assert data["compared_with"] == "jax@x64"
    jax, numpy, torch = data["outcomes"]
    assert [o["error"] for o in data["outcomes"]] == [None] * 3
    assert {r["cast"] for r in numpy["refusals"]} == {"x1 to uint16", "the result to uint8"}
    assert [r["cast"] for r in torch["refusals"]] == ["the result to uint8"]
    differences = {each["name"]: each for each in numpy["differences"]}
    assert set(differences) == {"sums", "pixels", "wide"}
    assert differences["sums"]["first"] == {"index": [0], "run": "45", "other": "301"}
    assert (differences["sums"]["differing"], differences["sums"]["largest"]) == (3, 512)
    assert differences["pixels"]["other"]["dtype"] == "uint8"
    assert numpy["same"] == ["given"]
    assert (jax["differences"], jax["values"]["given"]) == ([], "float32 [2]")
    assert numpy["printed"] == {"number": 1, "run": "float32", "other": "float64"}


def test_outcomes_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    site = Site("program.py", 3, 0, "x / 2", "x / 2")

    def ended(output: str, status: int = 0, **values: Any) -> Ended:
        own = Findings("", probed=(finals(values, None),))
        if not status:
            own.refusals = {(site, "int8 / Python int"): "x1 to float32"}
        return Ended(status, (own,), output)

    run = outcome("numpy@2", Ended(0, (Findings("", probed=(finals({"a": 1.5}, None),)),), "a\n"))
    every = (
        run,
        outcome("torch@2.13", ended("b\n", a=1.25), run),
        outcome("paddle", ended("", 1), run),
        outcome("jax@x64", Ended(0, (Findings("", probed=(run.finals,)),), "a\n"), run),
    )
    assert str(Outcomes(every)) == (
        "Actual runs under each policy, compared with numpy@2\n"
        "torch@2.13\n"
        "    prints      line 1: 'b' instead of 'a'\n"
        "    a           1.25 instead of 1.5: by 0.25 (relative 0.17)\n"
        "    cast        program.py:3: x1 to float32, as it refuses\n"
        "                int8 / Python int\n"
        "paddle\n"
        "    stopped     exit status 1\n"
        "jax@x64  1 global and the lines printed are the same"
    )
