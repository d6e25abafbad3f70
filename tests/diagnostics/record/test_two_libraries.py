"""Several libraries of one run are one recording: what arrays carry crosses over, and policies of
frameworks leave NumPy's operations to NumPy."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from command import Command

from promoarray.core.call_site import Site
from promoarray.diagnostics.model.flow import family
from promoarray.diagnostics.model.noted import NotExamined
from promoarray.diagnostics.record.recorder import Recorder, Result
from promoarray.diagnostics.record.report import OPERATION, RecordedReport
from promoarray.dtypes import float32, int64
from promoarray.policies import as_policy


class Tensor:
    """Stands for an array of some library."""


def recorded(policies: str, *halves: str) -> RecordedReport:
    """A run of three lines: NumPy's product goes to PyTorch, which adds to it, and to integers."""
    asked = tuple(map(as_policy, policies.split(",")))
    numpy = Recorder(as_policy("numpy@2"), asked, framework="numpy 2.4.6")
    torch = Recorder(as_policy("torch@2.13"), asked, framework="torch 2.13.0", beside=numpy)
    report, frame = numpy.report, sys._getframe()
    report.halves = frozenset(halves)
    made, moved, added, mixed = (Result(Tensor(), float32, ndim) for ndim in (0, 0, 0, 1))
    scale = numpy.abstract(Tensor(), float32, 0)
    numpy.count(OPERATION, "multiply")
    numpy.saw("multiply", (scale, 0.1), made, frame)
    torch.moved(made.array, moved)
    torch.count(OPERATION, "add")
    x = torch.abstract(moved.array, float32, 0)
    torch.saw("add", (x, x), added, frame)
    ints = torch.abstract(Tensor(), int64, 1)
    torch.saw("multiply", (ints, torch.abstract(Tensor(), float32, 1)), mixed, frame)
    report.run, report.framework = torch.home, torch.version
    return report


def said(report: RecordedReport) -> dict[str, dict[str, Any]]:
    """What each policy answers that differs, with where that comes from."""
    found = {}
    for each in report.divergences:
        answers = {name: (str(x), x.origin) for name, x in each.answers.items() if x.origin}
        found[f"{family(next(iter(each.answers)))} {each.name}"] = answers
    return found


def test_a_policy_of_numpy_is_asked_of_its_half_and_what_differs_crosses_over() -> None:
    report = recorded("paddle@3.3,numpy@1", "numpy@1")
    assert said(report) == {
        "numpy multiply": {"numpy@1": ("float64", "root")},
        "torch add": {"numpy@1": ("float64", "inherits")},
        "torch multiply": {"paddle@3.3": ("refuses", "root")},
    }
    answers = {d.name: [*d.answers] for d in report.divergences if d.root}
    assert answers["multiply"] in (["numpy@2", "numpy@1"], ["torch@2.13", "paddle@3.3"])
    assert (
        "1 of them is NumPy's, which a port leaves as it is: only numpy@1 was asked about it"
        in report.summary()
    )
    assert "and about nothing else" in report.summary()


def test_a_policy_of_numpy_that_is_named_is_asked_of_everything() -> None:
    assert said(recorded("numpy@1"))["torch multiply"] == {"numpy@1": ("float64", "root")}


def test_nothing_agrees_about_what_it_was_not_asked() -> None:
    report = recorded("jax@x32")
    (verdict,) = report.to_dict()["verdicts"]
    assert (verdict["policy"], verdict["examined"]) == ("jax@x32", 2)
    assert "1 of them is NumPy's, which a port leaves as it is: no policy" in report.summary()
    assert "all agree" not in report.summary()


def test_what_is_not_examined_twice_in_a_line_is_told_once() -> None:
    report = recorded("numpy@1")
    for column in (4, 9):
        at = Site("a.py", 7, -1, "f(f(x))", "f(x)", (7, column, 7, column + 4))
        report.unexamined[NotExamined("f", "nobody knows", at, at)] += 2
    assert "f at a.py:7 ×4 (nobody knows)" in str(report)


# -- real frameworks -----------------------------------------------------------------------------

TO_TORCH = """\
import numpy as np
import torch
a = np.full(2, 0.5, np.float32) * np.float64(0.1)
x = {}
y = x * 2
"""
TO_NUMPY = """\
import numpy as np
import torch
x = torch.ones(2, dtype=torch.float32)
a = {} * 2
"""


@pytest.mark.parametrize(
    "crossing",
    ["torch.from_numpy(a)", "torch.tensor(a)", "torch.as_tensor(a)", "torch.from_dlpack(a)"],
)
def test_what_numpy_made_comes_into_pytorch(crossing: str, command: Command) -> None:
    pytest.importorskip("torch", reason="needs PyTorch: pip install 'promoarray[test-torch]'")
    Path("program.py").write_text(TO_TORCH.format(crossing))
    data = command("compare", "program.py", "--json", status=1).data
    found = {(d["line"], d["operation"]): d for d in data["divergences"]}
    assert "numpy@1" in data["policies"]
    assert found[5, "multiply"]["answers"]["numpy@1"]["origin"] == "inherits"


@pytest.mark.parametrize("crossing", ["x.numpy()", "np.asarray(x)", "np.array(x)", "np.abs(x)"])
def test_what_pytorch_made_comes_into_numpy(crossing: str, command: Command) -> None:
    pytest.importorskip("torch", reason="needs PyTorch: pip install 'promoarray[test-torch]'")
    Path("program.py").write_text(TO_NUMPY.format(crossing))
    said = command("why", "program.py", "--value", "a", status=0).out
    assert "torch.ones(2, dtype=torch.float32), program.py:3" in said


@pytest.mark.parametrize(
    ("taken", "why"),
    [
        ("torch.as_tensor(x)", "the data that it takes in"),
        ("torch.from_numpy(x)", "the NumPy array"),
    ],
)
def test_what_a_library_made_unseen_comes_in_where_it_is_taken(
    taken: str, why: str, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch", reason="needs PyTorch: pip install 'promoarray[test-torch]'")
    installed = Path("site-packages")
    installed.mkdir()
    (installed / "lib.py").write_text("import numpy\n\ndef load():\n    return numpy.ones(2)\n")
    monkeypatch.setenv("PYTHONPATH", str(installed.resolve()))
    Path("program.py").write_text(f"import lib, numpy, torch\nx = lib.load()\ny = {taken}\n")
    said = command("why", "program.py", "--value", "y", status=0).out
    assert f"y  float64  {taken}, program.py:3: the dtype of {why}" in said


def test_what_numpy_made_goes_through_jax_and_back(command: Command) -> None:
    pytest.importorskip("jax", reason="needs JAX: pip install 'promoarray[test-jax]'")
    Path("program.py").write_text(
        "import numpy as np\nimport jax.numpy as jnp\n"
        "a = np.ones(2)\nx = jnp.asarray(a) * 2\nb = np.asarray(x) + a\n"
    )
    data = command("compare", "program.py", "--policies", "torch@2.13", "--json", status=1).data
    lines = {
        d["line"]: {name: each["dtype"] for name, each in d["answers"].items()}
        for d in data["divergences"]
    }
    assert lines[4] == {"jax@x32": "float32", "torch@2.13": "float64"}
    assert 5 not in lines  # float32 + float64 and float64 + float64 are float64


def test_an_array_at_a_tensor_s_operator_is_an_operand(command: Command) -> None:
    pytest.importorskip("torch", reason="needs PyTorch: pip install 'promoarray[test-torch]'")
    Path("program.py").write_text(
        "import warnings\nimport numpy as np\nimport torch\nwarnings.simplefilter('ignore')\n"
        "x = torch.ones(2, dtype=torch.float32)\ny = x * np.ones(2)\nz = np.sin(x)\n"
        "for i in range(3):\n    w = np.add(x, np.float64(i))\n"
    )
    asked = "paddle@3.3,numpy@1", "--json", "--fail-on", "root,incomplete"
    data = command("compare", "program.py", "--policies", *asked, status=1).data
    assert not data["unexamined"]  # NumPy computes all three, and is asked
    found = [d for d in data["divergences"] if d["line"] == 9]
    assert [(d["operation"], d["count"]) for d in found] == [("add", 3)]
    said = command("why", "program.py", "--value", "y", status=0).out
    assert "y  float64  x * np.ones(2), program.py:6" in said


@pytest.mark.parametrize(
    "start",
    [
        "import importlib.util\nassert importlib.util.find_spec('torch')\n",  # asks, imports later
        "import numpy as np\nnp.ones(2)\n",
        "",
    ],
)
def test_a_framework_is_recorded_wherever_it_is_imported(start: str, command: Command) -> None:
    pytest.importorskip("torch", reason="needs PyTorch: pip install 'promoarray[test-torch]'")
    Path("low.py").write_text(
        "import torch\ndef run():\n    return torch.arange(2) * torch.ones(2)\n"
    )
    Path("program.py").write_text(f"{start}def f():\n    import low\n    return low.run()\nf()\n")
    data = command("compare", "program.py", "--policies", "paddle@3.3", "--json", status=1).data
    assert [(Path(d["file"]).name, d["line"]) for d in data["divergences"]] == [("low.py", 3)]


def test_threads_that_were_there_before_a_framework_are_named(command: Command) -> None:
    pytest.importorskip("torch", reason="needs PyTorch: pip install 'promoarray[test-torch]'")
    program = (
        "import threading\ndef f():\n    import torch\n    torch.arange(2) * 0.5\n"
        "t = threading.Thread(target=f)\nt.start(); t.join(); f()\n"
    )
    Path("program.py").write_text(program)
    said = command("compare", "program.py", "--policies", "paddle@3.3", status=0)
    assert said.err == ""
    assert "incomplete: no difference" in said.out
    assert "what the thread MainThread computes" in said.out


def test_what_a_frameworks_library_makes_of_a_function_is_the_function(command: Command) -> None:
    pytest.importorskip("torch", reason="needs PyTorch: pip install 'promoarray[test-torch]'")
    library = Path("site-packages/transforms.py")
    library.parent.mkdir()
    library.write_text(
        "import functools\nimport torch\ndef jit(f):\n    @functools.wraps(f)\n"
        "    def g(x):\n        return f(torch.from_numpy(x))\n    return g\n"
    )
    Path("program.py").write_text(
        "import sys\nsys.path.append('site-packages')\nimport numpy as np\n"
        "from transforms import jit\n@jit\ndef half(x):\n    return x / 2\nhalf(np.ones(2))\n"
    )
    said = command("compare", "program.py", "--policies", "torch@2.11", status=0)
    assert "Not examined" not in said.out
