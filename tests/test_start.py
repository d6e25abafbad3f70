"""What `import promoarray` loads, and what it leaves until it is asked for."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import pytest

import promoarray as pa

LATER = (
    *("difflib", "rich", "textwrap", "threading"),
    *("promoarray.backends.numpy.code_tables", "promoarray.backends.numpy.variants"),
    *("promoarray.core.call_site", "promoarray.kernels.portable", "promoarray.other_names"),
    *("promoarray.console", "promoarray.core.display", "promoarray.core.proposed_casts"),
    *("promoarray.diagnostics", "promoarray.io", "promoarray.linalg", "promoarray.namespaces"),
    *("promoarray.functions.ranges", "promoarray.functions.sets", "promoarray.policies.torch"),
    *("promoarray.functions._examples", "promoarray.functions.joining"),
    *("promoarray.kernels.way", "promoarray.promotion.signatures", "promoarray.threads"),
    *("promoarray.core.events", "promoarray.core.observer_cache"),
    "promoarray.promotion.policy_like",
    *(f"promoarray.backends.numpy.{name}" for name in ("reductions", "traced_kernels")),
    "promoarray.array_methods.functions",
    *(f"promoarray.functions.{name}" for name in ("data_types", "elementwise", "indexing")),
    *(f"promoarray.functions.{name}" for name in ("linear_algebra", "searching", "statistical")),
    *("promoarray.functions.utility", "promoarray.core.inplace", "promoarray.core.from_python"),
    *("promoarray.core.python_data", "promoarray.core.read_dtype", "promoarray.core.refusals"),
    *("promoarray.core.index_keys", "promoarray.core.shape_errors"),
    *("promoarray.core.setitem", "promoarray.promotion.ranks", "promoarray.promotion.variants"),
    "promoarray.promotion.cast_transforms",
)
SCRIPT = """
import sys
import numpy, ml_dtypes
before = {*sys.modules}
import promoarray as pa
x = pa.zeros(4)
pa.reshape(x, (2, 2)), pa.sort(x), x + x
print(*sys.modules.keys() - before)
"""


def test_no_array_and_no_operator_loads_what_it_does_not_need() -> None:
    run = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    assert sorted({*LATER} & {*run.stdout.split()}) == []


CHAPTERS = {
    "pa.sum(x)": {"statistical"},
    "pa.result_type(x, x)": {"data_types"},
    "x.sum()": {"statistical"},
    "x.mean()": {"statistical"},
    "x.cumsum()": {"statistical"},
    "x.sum(dtype='float32')": {"statistical", "data_types"},
    "x.mean(dtype='float32')": {"statistical", "data_types"},
    "x.all()": {"utility"},
    "x.argmax()": {"searching"},
    "x.clip(0, 1)": {"elementwise"},
    "x.conj()": set(),
    "x.copy()": set(),
    "x.dot(x)": {"linear_algebra"},
    "x.flatten()": set(),
    "x.ravel()": set(),
    "x.repeat(2)": {"manipulation"},
    "x.sort()": {"sorting"},
    "x.argsort()": {"sorting"},
    "x.take(index)": {"indexing"},
}
"""The chapters of functions that are loaded with the first use of one, after ``zeros``."""
FIRST_USES_APART = """
import os, sys
import promoarray as pa
x, index = pa.zeros(4), pa.zeros(1, dtype="int64")
before = {*sys.modules}
for use in sys.argv[1:]:
    if os.fork() == 0:
        eval(use)
        print(use, *sys.modules.keys() - before, sep="\\t", flush=True)
        os._exit(0)
    assert os.wait()[1] == 0, use
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="each use is the first of a process of its own")
def test_a_first_use_loads_no_chapter_but_its_own() -> None:
    command = [sys.executable, "-P", "-c", FIRST_USES_APART, *CHAPTERS]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    loaded = {use: names for use, *names in (line.split("\t") for line in run.stdout.splitlines())}
    assert loaded.keys() == CHAPTERS.keys()
    for use, names in loaded.items():
        chapters = {name for name in names if name.startswith("promoarray.functions.")}
        assert chapters == {f"promoarray.functions.{name}" for name in CHAPTERS[use]}, use
        assert ("promoarray.core.refusals" in names) <= ("dtype=" in use), use  # casts ask it


def test_docstrings_made_of_sections_are_written_when_they_are_asked_for() -> None:
    kept = "print(*(type(vars(f)['__doc__']).__name__ for f in (pa.add, pa.sum, pa.PArray.sum)))"
    asked = "pa.add.__doc__, pa.sum.__doc__, pa.PArray.sum.__doc__"
    script = f"import promoarray as pa\n{kept}\n{asked}\n{kept}"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["partial"] * 3 + ["str"] * 3
    assert inspect.getdoc(pa.PArray.sum) == (
        "Sum elements.\n\nAs ``promoarray.sum``; arguments are NumPy's."
    )


def test_every_name_of_a_chapter_is_on_the_main_module() -> None:
    chapters = Path(pa.__file__).parent.joinpath("functions").glob("[a-z]*.py")
    missing = [
        f"{path.stem}.{name}"
        for path in chapters
        for name in getattr(pa, path.stem).__all__
        if name not in pa.__all__ or getattr(pa, name) is not getattr(getattr(pa, path.stem), name)
    ]
    assert missing == []


def test_every_name_is_there_and_listed() -> None:
    assert len(pa.__all__) == len({*pa.__all__})
    assert {name for name in pa.__all__ if not hasattr(pa, name)} == set()
    assert {*pa.__all__} <= {*dir(pa)}


FIRST_USES = """
import sys, threading
import promoarray as pa
sys.setswitchinterval(1e-6)
x, short = pa.ones((4, 4), dtype="float32"), pa.asarray([1.5, 2.5])
uses = [
    lambda: x.sum(), lambda: pa.mean(x), lambda: pa.clip(x, 0, 1), lambda: pa.flip(x),
    lambda: pa.searchsorted(short, short), lambda: x @ x, lambda: x.imag, lambda: pa.argmax(x),
    lambda: pa.tensordot(x, x), lambda: pa.exp(pa.ones(3, dtype=pa.bfloat16)),
]
together, raised = threading.Barrier(len(uses)), []
def work(first):
    together.wait()
    try:
        for use in uses[first:] + uses[:first]:
            use()
    except Exception as error:
        raised.append(error)
threads = [threading.Thread(target=work, args=(n,)) for n in range(len(uses))]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(raised)
"""


def test_threads_may_load_at_once_what_is_loaded_later() -> None:
    command = [sys.executable, "-P", "-c", FIRST_USES]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
