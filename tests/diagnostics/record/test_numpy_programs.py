"""`promoarray compare` and `diff` of unmodified NumPy programs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from command import Command
from numpy_runs import recorded_run

from promoarray.diagnostics.diff.change import Change
from promoarray.diagnostics.diff.command import difference, framework_recorded
from promoarray.diagnostics.record.block import REWRITTEN
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.run.frameworks import OWN, expected
from promoarray.policies import as_policy

OLD, NEW = as_policy("numpy@1"), as_policy("numpy@2")
HOME = REWRITTEN["numpy"].home(np.__version__)


@pytest.mark.parametrize(
    ("source", "beside", "found"),
    [
        ("import numpy as np", "", "numpy"),
        ("import numpy, torch", "", "torch"),
        ("import beside", "from numpy import add", "numpy"),
        ("from beside import x", "import sys", "promoarray"),
        ("import numpy, beside", "import promoarray", "promoarray"),
        ("import numpy, beside", "import jax.numpy", "jax"),
        ("import beside.deep", None, "numpy"),
    ],
)
def test_what_a_program_imports_says_what_is_recorded(
    source: str, beside: str | None, found: str, tmp_path: Path
) -> None:
    script = tmp_path / "program.py"
    script.write_text(source)
    if beside is None:
        (tmp_path / "beside").mkdir()
        (tmp_path / "beside" / "deep.py").write_text("import numpy")
    else:
        (tmp_path / "beside.py").write_text(beside)
    assert (expected(str(script), None).framework or OWN) == found


def test_only_numpys_editions_are_compared_on_recorded_programs(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("import numpy")
    assert framework_recorded(str(script), None, OLD, NEW) == "numpy"
    assert framework_recorded(str(script), None, NEW, OLD) == "numpy"
    assert not framework_recorded(str(script), None, OLD, as_policy("torch"))
    script.write_text("import numpy, promoarray")
    assert not framework_recorded(str(script), None, OLD, NEW)


STORED = [
    ("x[0] = 300", "x[0] = np.asarray(300).astype(np.uint8)"),
    ("o.x[1:, k] = n", "o.x[1:, k] = np.asarray(n).astype(np.uint8)"),
    ("np.uint8(300)", "np.asarray(300).astype(np.uint8)[()]"),
    ("np.array([1, 300], dtype=np.uint8)", "np.array([1, 300]).astype(np.uint8)"),
    ("np.asarray(300, 'u1')", "np.asarray(300).astype('u1')"),
    ("np.full(3, 300, np.uint8)", "np.full(3, 300).astype(np.uint8)"),
]


@pytest.mark.parametrize(("source", "written"), STORED)
def test_what_to_write_where_an_int_is_stored_that_does_not_fit(
    source: str, written: str, tmp_path: Path
) -> None:
    begins = """import numpy as np
from types import SimpleNamespace
x = np.zeros(3, np.uint8)
o, k, n = SimpleNamespace(x=np.zeros((3, 2), np.uint8)), 1, 300
"""
    (found,) = changes(tmp_path, begins + source, "numpy@1", "numpy@2").values()
    assert (found.kind, found.edit) == ("refusal", written)


def changes(tmp_path: Path, source: str, before: str, after: str) -> dict[str, Change]:
    """What `diff` finds in a program that the NumPy here runs, by the source of the places."""
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(source))
    policies = as_policy(before), as_policy(after)
    recorder = Recorder(HOME, policies, framework="numpy")
    recorded_run(str(script), recorder, past=OLD)
    found = difference(recorder.report, [], policies[1], policies[0])
    return {c.site.expression or c.site.text: c for c in found.changes}


def test_why_and_what_to_write(tmp_path: Path) -> None:
    source = """
        import numpy as np
        x = np.ones(2, np.float32)
        scaled = x * np.float64(0.5)
        later = scaled + np.float64(1)
        u = np.array([1, 2], np.uint8) + 300
        np.array([1], np.uint8)[0] = 300
        u = np.array([1, 2], np.uint8)
        u[1:] += 400
        lone = u[0]
        lone += 300  # binds the name anew
        """
    found = changes(tmp_path, source, "numpy@1", "numpy@2")
    first = found["x * np.float64(0.5)"]
    assert (first.kind, first.before, first.after) == ("dtype", "float32", "float64")
    assert first.edit == "x * np.float32(0.5)"
    assert first.reasons.before[0].startswith("by value: x1 as float32, x2 as float16")
    assert first.reasons.after == ("promote: float32 with float64 is float64",)
    # With that edit it is float32 as in NumPy 1, and NumPy 2 promotes it once more.
    assert found["scaled + np.float64(1)"].edit == "scaled + np.float32(1)"
    refused = found["np.array([1, 2], np.uint8) + 300"]
    assert (refused.kind, refused.before, refused.after) == ("refusal", "uint16", "refuses")
    assert refused.edit == "np.array([1, 2], np.uint8).astype(np.uint16) + 300"
    assert "pa." not in refused.refusal
    stored = found["np.array([1], np.uint8)[0] = 300"].edit
    assert stored == "np.array([1], np.uint8)[0] = np.asarray(300).astype(np.uint8)"
    assert found["u[1:] += 400"].edit == "u[1:] += np.asarray(400, dtype=np.uint16)"
    assert found["lone += 300"].before == "int64"  # as 1.26.4 does
    back = changes(tmp_path, source, "numpy@2", "numpy@1")["x * np.float64(0.5)"]
    assert (back.before, back.after) == ("float64", "float32")
    assert back.edit == "x.astype(np.float64) * np.float64(0.5)"


@pytest.mark.parametrize("to", ["numpy@1", "numpy@2"])
def test_the_edits_do_what_they_say(to: str, tmp_path: Path) -> None:
    lines = [
        "np.ones(2, np.float32) * np.float64(0.5)",
        "np.float32(3) + 3.0",
        "np.array([1], np.uint8) + np.array(300)",
        "np.maximum(np.ones(2, np.float16), np.float32(0.1))",
        "np.where([True], np.ones(1, np.float32), np.float64(3))",
        "np.int8(3) ** 2",
    ]
    before = "numpy@2" if to == "numpy@1" else "numpy@1"
    source = "import numpy as np\n" + "\n".join(lines)
    found = changes(tmp_path, source, before, to)
    assert len(found) == len(lines)
    edits = [f"r{n} = {found[line].edit}" for n, line in enumerate(lines)]
    (tmp_path / "edited").mkdir()
    source = "\n".join(["import numpy as np", *edits])
    for c in changes(tmp_path / "edited", source, before, to).values():
        assert c.inherited, c
    dtypes = {f"r{n}": found[line].before for n, line in enumerate(lines)}
    if to == "numpy@2":  # which runs here
        names: dict[str, Any] = {}
        exec(source, names)
        assert {name: names[name].dtype.name for name in dtypes} == dtypes


PROGRAM = """\
import os
import sys
import numpy as np
from beside import scaled

print(__name__, __file__, sys.argv, sys.path[0], sorted(globals()), __spec__ and __spec__.name)
print([m for m in sys.modules if m == "sitecustomize"], os.environ.get("PYTHONPATH"))
x = np.ones(2, np.float32)
y = scaled(x)
if (n := os.fork()) == 0:
    x + np.float64(1)
    sys.exit()
os.waitpid(n, 0)
z = y - np.float64(2)  # promoarray: ignore[numpy@1]
later = {}["key"]
"""
BESIDE = "import numpy as np\ndef scaled(x):\n    return x * np.float64(2)\n"


FORKS = """\
import os
import sys
import numpy as np


def work(times):
    x = np.ones(2, np.float32)
    for _ in range(times):
        x * np.float64(2)
        np.exp(x)


work(3)
if (child := os.fork()) == 0:
    work(10)
    sys.exit()
os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked on Unix")
def test_what_a_forked_process_repeats_is_counted(command: Command) -> None:
    Path("program.py").write_text(FORKS)
    report = command("compare program.py --json --policies numpy@1").data
    assert [d["count"] for d in report["divergences"]] == [13]
    assert report["operations"] == 26


KILLED = """\
import os
import signal
import time
import numpy as np

x, end = np.ones(2, np.float32), time.monotonic() + 2.5
while time.monotonic() < end:
    x * np.float64(2)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are killed on Unix")
def test_counts_are_written_down_while_nothing_new_is_found(command: Command) -> None:
    Path("program.py").write_text(KILLED)
    (found,) = command("compare program.py --json --policies numpy@1").data["divergences"]
    assert found["count"] > 100


@pytest.mark.slow
@pytest.mark.parametrize("given", [["program.py"], ["-m", "program"], ["folder"]])
def test_a_program_is_run_as_python_runs_it(
    given: list[str],
    tmp_path: Path,
    command: Command,
) -> None:
    folder = tmp_path / "folder" if given == ["folder"] else tmp_path
    folder.mkdir(exist_ok=True)
    (folder / ("__main__.py" if given == ["folder"] else "program.py")).write_text(PROGRAM)
    (folder / "beside.py").write_text(BESIDE)
    bare = subprocess.run([sys.executable, *given, "a"], capture_output=True, text=True)
    out = ("--output", "told.json", "--json", "--policies", "numpy@1")
    _, told, said = command("compare", *out, *given, "--", "a", status=3)
    assert told.removesuffix("Written: told.json\n") == bare.stdout
    assert said.startswith(bare.stderr)
    report = json.loads(Path("told.json").read_text())
    found = {d["expression"]: d["answers"]["numpy@1"] for d in report["divergences"]}
    assert found["x * np.float64(2)"]["dtype"] == "float32"
    assert found["x + np.float64(1)"]["fix"]["edit"] == "x.astype(np.float64) + np.float64(1)"
    assert report["framework"].startswith("numpy ")
    assert report["stopped"]


@pytest.mark.slow
def test_a_notebook_is_recorded(tmp_path: Path, command: Command) -> None:
    cells = [
        "import numpy as np\nsum = np.sum",
        "await __import__('asyncio').sleep(0)\nsum(np.ones(2, np.uint8) + 300)",
    ]
    kept = {"cells": [{"cell_type": "code", "source": cell} for cell in cells]}
    (tmp_path / "book.ipynb").write_text(json.dumps(kept))
    told = command("diff --from numpy@1 --to numpy@2 book.ipynb", status=1).out
    assert "book.ipynb[2]:2  np.ones(2, np.uint8) + 300  [uint8 + Python int]" in told
    assert "write    np.ones(2, np.uint8).astype(np.uint16) + 300" in told


def test_packages_go_with_numpy_alone(command: Command, tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("import promoarray")
    assert (
        "Write --framework numpy"
        in command("compare", str(script), "--packages", "scipy", status=2).err
    )
