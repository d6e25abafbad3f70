"""Traces of some casts: what is selected, beforehand and afterwards, and what is lossy."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.dtypes import CONCRETE
from promoarray.promotion.cast_losses import Lost, gravity

SELECTIONS: dict[str, tuple[dict[str, Any], list[tuple[str, str, str]]]] = {
    "all": (
        {},
        [
            ("add", "int8", "float32"),
            ("add", "int64", "float64"),
            ("add", "float32", "float64"),
            ("add in place", "float64", "float32"),
            ("multiply", "Python int", "uint8"),
            ("setitem", "float64", "int8"),
        ],
    ),
    "to": ({"to": "float64"}, [("add", "int64", "float64"), ("add", "float32", "float64")]),
    "to several": (
        {"to": (pa.uint8, np.int8)},
        [("multiply", "Python int", "uint8"), ("setitem", "float64", "int8")],
    ),
    "source": ({"source": "int8"}, [("add", "int8", "float32")]),
    "operation": (
        {"operation": ["setitem", "multiply"]},
        [("multiply", "Python int", "uint8"), ("setitem", "float64", "int8")],
    ),
    "operation in place": (
        {"operation": "add", "source": pa.float64},
        [("add in place", "float64", "float32")],
    ),
    "lossy": (
        {"lossy": True},
        [
            ("add", "int64", "float64"),
            ("add in place", "float64", "float32"),
            ("multiply", "Python int", "uint8"),
            ("setitem", "float64", "int8"),
        ],
    ),
    "lossless": (
        {"lossy": False},
        [("add", "int8", "float32"), ("add", "float32", "float64")],
    ),
    "none": ({"to": "float8_e5m2"}, []),
}


def program() -> None:
    small, single = pa.asarray([1, 2], dtype=pa.int8), pa.asarray([0.5, 1.5], dtype=pa.float32)
    small + single
    single + pa.asarray([1, 2], dtype=pa.int64)
    single += pa.asarray([1.0, 2.0], dtype=pa.float64)
    with pa.policy("torch"):
        pa.asarray([1], dtype=pa.uint8) * 300
    small[0] = pa.asarray(1.5, dtype=pa.float64)


def found(trace: Any) -> list[tuple[str, str, str]]:
    rows = trace.to_dict()["casts"]
    return sorted({(row["operation"], row["from"], row["to"]) for row in rows})


@pytest.mark.parametrize("case", SELECTIONS)
def test_a_trace_notes_what_is_selected_and_filter_keeps_it(case: str) -> None:
    selected, wanted = SELECTIONS[case]
    with pa.trace(**selected) as beforehand, pa.trace() as whole:
        program()
    assert found(beforehand) == sorted(wanted)
    afterwards = whole.filter(**selected)
    assert found(afterwards) == sorted(wanted)
    assert afterwards.casts == beforehand.casts
    assert found(whole) == sorted(SELECTIONS["all"][1])


def test_what_left_is_told_whatever_is_selected() -> None:
    with pa.trace(to="int8") as trace:
        np.asarray(pa.asarray([1.0]))
    assert len(trace.escapes) == len(trace.filter(lossy=True).escapes) == 1


def test_lossy_is_what_the_dtypes_say() -> None:
    dtypes = [d for d in CONCRETE if d.name not in ("complex32", "float8_e8m0fnu")]
    for source in dtypes[::5]:
        for target in dtypes:
            x, y = pa.zeros(2, dtype=source), pa.zeros(2, dtype=target)
            with pa.trace() as trace, pa.policy("numpy"):
                try:
                    y[...] = x
                except TypeError:
                    continue
            said = [row["lossy"] for row in trace.to_dict()["casts"]]
            loses = gravity(source, target)[0] is not Lost.NOTHING
            assert said == ([] if source is target else [loses])


def test_of_numbers_that_become_others_the_first_is_kept() -> None:
    x = pa.asarray([1], dtype=pa.uint8)
    with pa.policy("torch"), pa.trace() as trace:
        for n in range(300, 400):
            x * n
    ((cast, count),) = trace.casts.items()
    assert (cast.became, count) == ("300 becomes 44", 100)


@pytest.mark.parametrize(
    ("given", "error", "words"),
    [
        ({"to": "float65"}, TypeError, "'float65' is not a dtype"),
        ({"source": [pa.int8, 3]}, TypeError, "is not a dtype"),
        ({"operation": "ad"}, ValueError, "'ad' is not an operation. Did you mean: add"),
        ({"operation": 5}, ValueError, "5 is not an operation"),
        ({"lossy": "yes"}, TypeError, "lossy is True, False or None"),
    ],
)
def test_what_cannot_be_selected_is_told(
    given: dict[str, Any], error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words), pa.trace(**given):
        pass
    with pa.trace() as trace:
        pass
    with pytest.raises(error, match=words):
        trace.filter(**given)


REPEATED = """
import tracemalloc
import promoarray as pa

x, y = pa.asarray([1, 2], dtype=pa.int8), pa.asarray([0.5, 1.5], dtype=pa.float32)
with pa.trace() as trace:
    tracemalloc.start()
    for _ in range(4000):  # what is cached is cached then
        x + y
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(6000):
        x + y
    grown = tracemalloc.get_traced_memory()[0] - before
print(trace.casts.total(), len(trace.casts), grown < 6000)
"""


def test_repetitions_are_counted_and_take_no_memory() -> None:
    # In a process of its own, as the memory of others' threads and observers would count, too.
    ran = subprocess.run([sys.executable, "-c", REPEATED], capture_output=True, text=True)
    assert (ran.stdout, ran.stderr) == ("10000 2 True\n", "")


def test_losses_are_shown_where_there_are_some() -> None:
    with pa.trace() as trace:
        program()
    text = " ".join(str(trace).split())
    assert "what is lost" in text
    assert "float64 -> int8" in text
    assert "7 implicit casts, 4 lossy." in trace.headline
    assert "what is lost" in trace._repr_html_()
    assert "what is lost" not in str(trace.filter(lossy=False))
