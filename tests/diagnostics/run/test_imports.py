"""Frameworks are found however a program imports them, and it is told what it imported."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest
from command import Command

import promoarray as pa
from promoarray.core.observers import observing
from promoarray.diagnostics.record.block import FRAMEWORKS
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.diagnostics.run.ending import AutoCast
from promoarray.diagnostics.run.frameworks import expected
from promoarray.diagnostics.run.program import Ended, of_script
from promoarray.diagnostics.run.task import COMPILED, Task

torch_only = pytest.mark.skipif(find_spec("torch") is None, reason="needs PyTorch")

Files = Callable[[dict[str, str]], str]


@pytest.fixture
def files(tmp_path: Path) -> Files:
    """Write files; return the path of ``main.py`` among them."""

    def written(texts: dict[str, str]) -> str:
        for name, text in texts.items():
            path = tmp_path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        return str(tmp_path / "main.py")

    return written


def ran(script: str, task: Task | None = None) -> Ended:
    ended = of_script(script, []).run(task or Task(), None, quiet=True)
    assert not ended.status, ended
    return ended


@pytest.mark.parametrize(
    ("text", "imported"),
    [
        ("x = 1", ()),
        ("def f():\n    import numpy\nf()", ("numpy",)),
        ("import importlib\nimportlib.import_module('numpy').ones(1)", ("numpy",)),
        ("import promoarray as xp, numpy", ("promoarray",)),  # which has imported NumPy itself
        ("import numpy, promoarray", ("numpy", "promoarray")),
        ("from beside import x", ("numpy",)),
        ("import numpy.linalg", ("numpy",)),
    ],
)
def test_what_the_program_itself_imports_is_told(
    files: Files, text: str, imported: tuple[str, ...]
) -> None:
    script = files({"main.py": text, "beside.py": "from numpy import ones as x"})
    assert ran(script).imported == imported


def test_what_libraries_import_is_not_the_program_s(files: Files) -> None:
    assert ran(files({"main.py": "import ml_dtypes"})).imported == ()


def test_what_pip_has_installed_elsewhere_on_the_path_is_a_library(
    files: Files, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = {
        "main.py": "import numpy as np, mine, theirs\nmine.f(np.ones(2)), theirs.f(np.ones(2))",
        "lib/theirs/__init__.py": "import numpy as np\ndef f(x): return x + 1",
        "lib/theirs-1.0.dist-info/RECORD": "theirs/__init__.py,sha256=x,1\n",
        "lib/mine.py": "import numpy as np\ndef f(x): return x * 2",
    }
    script = files(texts)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "lib"))
    ended = ran(script, Task(("numpy@2", "jax"), framework="numpy"))
    (report,) = ended.reports
    assert isinstance(report, RecordedReport)
    assert {name for _, name in report.calls} >= {"multiply"}
    assert "add" not in {name for _, name in report.calls}
    assert ran(files({"main.py": "import theirs"})).imported == ()


def test_what_jax_compiles_is_kept_for_the_next_run_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(COMPILED, raising=False)
    first, second = (Task(framework="jax").write(str(tmp_path)) for _ in range(2))
    assert Path(first[COMPILED]).is_dir()
    assert first[COMPILED] == second[COMPILED]
    assert COMPILED not in Task(framework="torch").write(str(tmp_path))
    monkeypatch.setenv(COMPILED, "where the user keeps it")
    assert COMPILED not in Task(framework="jax").write(str(tmp_path))


def test_a_program_that_is_rewritten_has_imported_what_it_is_rewritten_for(files: Files) -> None:
    script = files({"main.py": "import numpy\nx = numpy.ones(1)"})
    assert ran(script, Task(framework="numpy")).imported == ("numpy",)


@pytest.mark.parametrize(
    ("texts", "framework", "numpy"),
    [
        ({"main.py": "from src.net import f", "src/net.py": "import torch"}, "torch", False),
        (
            {"main.py": "from src import net"}
            | {"src/net.py": "from . import low", "src/low.py": "import jax"},
            "jax",
            False,
        ),
        (
            {"main.py": "import a.b"}
            | {"a/__init__.py": "from .c import d", "a/c.py": "import paddle, numpy"},
            "paddle",
            True,
        ),
        ({"main.py": "def f():\n    import torch"}, "torch", False),
        ({"main.py": "x = [__import__('jax') for _ in 'a']"}, "jax", False),
        ({"main.py": "import numpy\ndef f():\n    import torch"}, "torch", True),
        ({"main.py": "import torch\nimport a", "a.py": "import promoarray"}, "torch", False),
        ({"main.py": "import torch, libcst"}, "torch", False),
        ({"main.py": "import torch, ml_dtypes"}, "torch", True),  # which needs NumPy
        ({"main.py": "import os"}, "", False),
        ({"main.py": "import rich, a", "a.py": "def f():\n    import promoarray"}, "", False),
        ({"main.py": "import sys\nsys.path.append('lib')\nimport speech"}, "numpy", True),
        ({"main.py": "import torch, sys\nsys.path.append('x')\nimport speech"}, "torch", True),
        ({"main.py": "import torch\nimport speech"}, "torch", False),
    ],
)
def test_what_is_recorded_is_found_in_what_a_program_is_made_of(
    files: Files, texts: dict[str, str], framework: str, numpy: bool
) -> None:
    found = expected(files(texts), None)
    assert found.framework == framework
    assert ("numpy" in found.libraries) is numpy
    assert {*FRAMEWORKS} <= {*found.libraries}  # whatever the sources say, the run may import it


def test_a_program_of_promoarray_or_of_what_is_named_is_recorded_as_nothing_else(
    files: Files,
) -> None:
    own = files({"main.py": "import promoarray\nimport a", "a.py": "import torch"})
    assert expected(own, None) == ("", (), False)
    assert expected(own, None, "jax,numpy") == ("jax", ("jax", "numpy"), False)
    with pytest.raises(ValueError, match="'theano' is none of auto, promoarray, torch"):
        expected(own, None, "theano")


COMPUTES = "x = torch.tensor([1, 2]) * torch.ones(2)\n"
BY_NAME = "import importlib\ntorch = importlib.import_module('tor' + 'ch')\n" + COMPUTES


@torch_only
@pytest.mark.parametrize(
    ("texts", "found"),
    [
        ({"main.py": BY_NAME}, [("main.py", 3)]),
        ({"main.py": "import numpy as np\nnp.ones(2) + 1\n" + BY_NAME}, [("main.py", 5)]),
        ({"main.py": "import beside", "beside.py": BY_NAME}, [("beside.py", 3)]),
    ],
)
def test_a_framework_that_no_source_tells_is_recorded_once_it_is_imported(
    files: Files,
    texts: dict[str, str],
    found: list[tuple[str, int]],
    command: Command,
) -> None:
    data = command("compare", files(texts), "--policies", "paddle@3.3", "--json", status=1).data
    assert data["framework"].startswith("torch")
    assert [(Path(d["file"]).name, d["line"]) for d in data["divergences"]] == found


@torch_only
def test_a_program_of_promoarray_stays_one(files: Files, command: Command) -> None:
    text = "import promoarray as xp\nx = xp.asarray([1, 2]) / 2\n" + BY_NAME
    data = command(
        "compare", files({"main.py": text}), "--policies", "torch", "--json", status=1
    ).data
    assert [d["line"] for d in data["divergences"]] == [2]


def test_refusals_go_on_with_casts_each_time() -> None:
    casting = AutoCast()
    with pa.policy("paddle"), observing(casting):
        x, y = pa.asarray([1, 2], dtype=pa.int64), pa.asarray([0.5, 1.0], dtype=pa.float32)
        assert [(x * y).dtype for _ in range(3)] == [pa.float32] * 3
    assert len(casting.recovered) == 1


@torch_only
def test_the_policies_are_those_of_the_framework_that_came_up(
    files: Files, command: Command
) -> None:
    data = command("compare", files({"main.py": BY_NAME}), "--json", status=1).data
    assert data["policies"] == ["paddle@3.3", "jax@x32", "torch_npu@2.13"]


@torch_only
def test_port_records_a_framework_that_no_source_tells(files: Files, command: Command) -> None:
    program = files({"main.py": BY_NAME})
    said = command("port", program, "--to", "paddle@3.3", status=0)
    assert "from torch@2.13 to paddle@3.3: 1 cast in 1 line" in said.err
    assert "+x = torch.tensor([1, 2]).to(torch.float32) * torch.ones(2)" in said.out


def test_port_proves_nothing_of_a_program_that_computes_nothing(
    files: Files, command: Command
) -> None:
    program = files({"main.py": "print(sum([1, 2]))\n"})
    said = command("port", program, "--to", "paddle@3.3", status=4).err
    assert "not examined: the program (no operation of it was recorded)" in said
    assert "agree" not in said


# -- ways to start -------------------------------------------------------------------------------

HALF = "import numpy as np\nx = np.float32(3) * 0.1\n"
LINE = ["compare", "--policies", "numpy@1", "--json"]


def lines(data: dict[str, Any]) -> list[tuple[str, int]]:
    return [(Path(d["file"]).name, d["line"]) for d in data["divergences"]]


def test_what_follows_python_is_a_program(files: Files, command: Command) -> None:
    files({"main.py": HALF, "p/__init__.py": "", "p/go.py": HALF})
    for given, name in ((("main.py",), "main.py"), (("-m", "p.go"), "go.py")):
        data = command(*LINE, "--", "python", *given, status=1).data
        assert lines(data) == [(name, 2)]


def test_a_command_in_python_is_a_program(
    files: Files, command: Command, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    files({"work.py": HALF, "bin/work": f"#!{sys.executable}\nimport runpy, sys\n"})
    with Path("bin/work").open("a") as file:
        file.write("sys.path.insert(0, '.')\nrunpy.run_path(sys.argv[1])\n")
    for name, text in (("shell", "#!/bin/sh\n"), ("far", "#!/far/python\n")):
        Path("bin", name).write_text(text)
    for each in Path("bin").iterdir():
        each.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin", prepend=os.pathsep)
    assert lines(command(*LINE, "--", "work", "work.py", status=1).data) == [("work.py", 2)]
    refused = {
        "shell": "shell is not written in Python: name the script that it runs",
        "far": "far is run by /far/python, and this is",
        "missing": "no such command: missing",
    }
    for name, why in refused.items():
        assert why in command(*LINE, "--", name, status=2).err
    assert "name a program: SCRIPT, -m MODULE, or -- COMMAND ARGS" in command(*LINE, status=2).err


def test_a_script_that_is_piped_in_finds_what_is_beside_it(files: Files, tmp_path: Path) -> None:
    files({"beside.py": HALF})
    asked = [sys.executable, "-m", "promoarray", *LINE, "-"]
    piped = "import beside, sys\nassert not sys.argv[1:]\n"
    ran = subprocess.run(asked, cwd=tmp_path, input=piped, capture_output=True, text=True)
    assert ran.returncode == 1, ran.stderr
    assert lines(json.loads(ran.stdout)) == [("beside.py", 2)]


def test_a_script_that_a_program_starts_is_rewritten(files: Files, command: Command) -> None:
    files({"part.py": HALF + "import sys\nassert sys.argv == ['part.py', 'a'], sys.argv\n"})
    script = files(
        {
            "main.py": "import numpy, subprocess, sys\n"
            "subprocess.run([sys.executable, '-u', 'part.py', 'a'], check=True)\n"
        }
    )
    assert lines(command(*LINE, script, status=1).data) == [("part.py", 2)]


STARTS = {
    "-c": "subprocess.run([sys.executable, '-W', 'ignore', '-c', text, 'a'], check=True)",
    "stdin": "subprocess.run([sys.executable, '-u', '-', 'a'], input=text, text=True, check=True)",
    "a shell": "open('low.py', 'w').write(text)\n"
    "assert not os.system(f'{sys.executable} low.py a')",
    "exec": "sys.argv[:] = ['', 'a']\nexec(text, {})",
}


@pytest.mark.parametrize("how", STARTS)
def test_a_text_that_a_program_runs_is_recorded(
    how: str, files: Files, command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (
        "import sys, numpy as np\n"
        "assert sys.argv[1:] == ['a']; "
        "own = 'promo' 'array'; known = own + '/', own + '.', own + ' '; "
        "assert not any(each in f'{x} ' for x in sys.orig_argv for each in known)\n"
        "y = np.ones(2, np.float32) * np.float64(2)\n"
    )
    started = f"import os, subprocess, sys\ntext = {text!r}\n{STARTS[how]}\n"
    data = command(*LINE, files({"main.py": started}), status=1).data
    assert [line for _, line in lines(data)] == [3]
    assert not data["unexamined"]


@pytest.mark.parametrize(
    ("start", "recorded"),
    {
        "subprocess.run([python, 'low.py'], env=os.environ, check=True)": True,
        "subprocess.run([python, 'low.py'], env={'PATH': ''}, check=True)": False,
        "subprocess.run([python, '-uI', 'low.py'], check=True)": False,
        "subprocess.run(['work', 'low.py'], env={'PATH': os.environ['PATH']}, check=True)": False,
        "assert not os.system(f'env -i {python} low.py')": False,
        "os.execve(python, [python, 'low.py'], os.environ)": False,
        "subprocess.run(['true'], env={'PATH': os.environ['PATH']}, check=True)": None,
    }.items(),
)
def test_a_python_that_a_program_starts_is_recorded_or_named(
    start: str,
    recorded: bool | None,
    files: Files,
    command: Command,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    files({"low.py": "import numpy as np\nassert np.float32(3) * 0.1\n"})
    files({"work": f"#!{sys.executable}\nprint(1)\n"})
    Path("work").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
    first = "import numpy, os, subprocess, sys\npython = sys.executable\n"
    script = files({"main.py": f"{first}y = numpy.ones(2) + 1\n{start}\n"})
    data = command(*LINE, script, status=int(recorded is True)).data
    assert lines(data) == [("low.py", 2)] * (recorded is True)
    named = [(each["what"], each["line"]) for each in data["unexamined"]]
    assert named == [("what a Python process computes", 4)] * (recorded is False)


def test_another_python_that_a_program_starts_runs(files: Files, tmp_path: Path) -> None:
    venv.create(tmp_path / "other", symlinks=True)
    python = str(tmp_path / "other" / "bin" / "python")
    script = files(
        {
            "main.py": "import numpy, subprocess\n"
            f"asked = [{python!r}, '-c', 'print(1)']\n"
            "assert subprocess.run(asked, capture_output=True, text=True).stdout == '1\\n'\n"
        }
    )
    assert not ran(script, Task(framework="numpy")).status


def test_another_package_s_numpy_is_not_numpy(files: Files, command: Command) -> None:
    script = files(
        {
            "mine/numpy.py": "x = 1",
            "main.py": "import numpy\ny = numpy.ones(2)\n"
            "exec(compile('import mine.numpy as mnp\\nfrom mine import numpy', 'a.py', 'exec'))\n",
        }
    )
    data = command(*LINE, script, status=None).data
    assert "what NumPy computes" not in {each["what"] for each in data["unexamined"]}


def test_tests_of_pytest_are_recorded(files: Files, command: Command) -> None:
    test = "def test_half():\n    assert (np.float32(3) * 0.5).dtype == np.float32\n"
    files({"test_half.py": f"import numpy as np\n{test}"})
    data = command(*LINE, "-m", "pytest", "--", "-q", "test_half.py", status=1).data
    assert lines(data) == [("test_half.py", 3)]
    assert not data["unexamined"]


def test_threads_that_compute_when_a_program_ends_do_not_crash_it(files: Files) -> None:
    script = files(
        {
            "main.py": "import threading, time, numpy as np\n"
            "def work():\n    x = np.arange(50, dtype=np.float32)\n"
            "    while True:\n        y = np.sum(x * 2.5 + np.float64(1)) + np.add(x, 1)\n"
            "        y[2] = 4\n"
            "for _ in range(8):\n    threading.Thread(target=work, daemon=True).start()\n"
            "time.sleep(0.1)\n"
        }
    )
    for _ in range(3):  # one run in three was killed by SIGSEGV
        assert not ran(script, Task(framework="numpy")).status


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_a_worker_ends_whose_signal_came_before_it_waits(start: str, files: Files) -> None:
    script = files(
        {
            "main.py": "import multiprocessing, signal, threading, time, numpy as np\n"
            "def work(queue, ready):\n"
            "    y = np.ones(2) + 1\n"
            "    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
            "    # The other thread hears of it, so that the wait is not interrupted.\n"
            "    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})\n"
            "    ready.set()\n    queue.get()\n"
            "if __name__ == '__main__':\n"
            f"    own = multiprocessing.get_context({start!r})\n"
            "    queue, ready = own.SimpleQueue(), own.Event()\n"
            "    queue._rlock.acquire()\n"
            "    child = own.Process(target=work, args=(queue, ready))\n"
            "    child.start()\n    assert ready.wait(60)\n    time.sleep(0.5)\n"
            "    child.terminate()\n    child.join(10)\n    code = child.exitcode\n"
            "    child.kill()\n    assert code == -signal.SIGTERM, code\n"
        }
    )
    assert not ran(script, Task(framework="numpy")).status


def test_what_is_loaded_otherwise_is_not_examined(files: Files, command: Command) -> None:
    script = files(
        {
            "low.py": "import numpy as np\nx = np.float32(3) * 0.1\n",
            "main.py": "import numpy, sys, types\nlow = types.ModuleType('low')\n"
            "low.__file__ = 'low.py'\nsys.modules['low'] = low\n"
            "text = open('low.py').read()\nvars(low)['run'] = compile(text, 'low.py', 'exec')\n"
            "exec(low.run, vars(low))\ny = numpy.ones(2) + 1\n",
        }
    )
    data = command(*LINE, script, status=None).data
    told = {(Path(each["file"]).name, each["what"]) for each in data["unexamined"]}
    assert ("low.py", "what NumPy computes") in told


def test_a_python_that_has_no_promoarray_runs_as_it_is(tmp_path: Path, command: Command) -> None:
    venv.create(tmp_path / "other", symlinks=True)
    other = tmp_path / "other/bin/python"
    started = f"subprocess.run([{str(other)!r}, '-c', 'import json; print(1)'], check=True)"
    (tmp_path / "program.py").write_text(f"import subprocess\nimport numpy as np\n{started}\n")
    said = command("compare", str(tmp_path / "program.py"), status=3)
    assert "Traceback" not in said.out + said.err


def test_what_empty_finds_in_memory_is_not_compared(tmp_path: Path, command: Command) -> None:
    text = "import numpy as np\nx = np.full(9, 2**62)\ndel x\ny = np.empty(9, 'int64')\n"
    (tmp_path / "program.py").write_text(text)
    asked = "--policies", "jax@x32", "--json"
    data = command("compare", str(tmp_path / "program.py"), *asked, status=1).data
    assert [each["line"] for each in data["value_changes"]] == [2]
