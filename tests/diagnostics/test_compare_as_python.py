"""`promoarray compare` runs what `python` runs: the same output, errors and exit, and a report."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from textwrap import dedent

import pytest

HALF = "import promoarray as xp\nx = xp.asarray([1, 2], dtype=xp.int8)\ny = x / 2\n"
"""One place at which numpy and torch differ."""

FOUND = "1 place where the policies differ"


def start(folder: Path, *command: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
    kept = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "FORCE_COLOR")}
    return subprocess.Popen(
        [sys.executable, *command],
        cwd=folder,
        env=kept | (env or {}),
        text=True,
        errors="surrogateescape",
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=_hear_interrupts,
    )


def _hear_interrupts() -> None:
    """Take SIGINT as in a terminal: what a shell starts in its background has it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


COMPARE = ("-m", "promoarray", "compare")
TORCH = ("--policies", "torch")


class Both:
    """A program under `python`, and under `compare`, which adds a report to its output."""

    def __init__(
        self,
        folder: Path,
        program: str,
        *arguments: str,
        options: tuple[str, ...] = (),
        given: str = "",
        flags: tuple[str, ...] = (),
        script: str = "program.py",
    ) -> None:
        path = folder / script
        path.write_text(dedent(program), encoding="utf-8")
        python = start(folder, *flags, script, *arguments)
        self.out, self.err = python.communicate(given, timeout=100)
        path.write_text(dedent(program), encoding="utf-8")  # as it may remove itself
        compare = start(folder, *flags, *COMPARE, script, *TORCH, *options, "--", *arguments)
        out, err = compare.communicate(given, timeout=100)
        assert out.startswith(self.out), (self.out, out)
        self.report = out.removeprefix(self.out)
        lines = err.splitlines(keepends=True)
        said = [line for line in lines if line.startswith("promoarray compare: ")]
        self.compare_err = "".join(line for line in lines if line not in said)
        self.said = "".join(said)
        self.status, self.compare_status = python.returncode, compare.returncode

    def agree(self, found: str = FOUND) -> Both:
        """The same was printed, also of errors, and the report is there."""
        assert self.compare_err == self.err
        assert found in self.report, (self.report, self.said)
        return self


def test_what_a_program_sees_of_its_process(tmp_path: Path) -> None:
    (tmp_path / "beside.py").write_text("import __main__\ndef name(): return __main__.NAME\n")
    ran = Both(
        tmp_path,
        """
        NAME = "of the script"
        import beside, os, pickle, signal, sys, threading, warnings
        print(__name__, __file__, __spec__, __doc__, __package__, sorted(globals()))
        print(sys.argv, sys.path[0], beside.name(), __builtins__)
        print(sys.flags, sys.warnoptions, warnings.filters, sys.getrecursionlimit())
        print(signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM))
        print(sys.stdin.encoding, sys.stdout.encoding, sys.stdout.line_buffering, os.getcwd())
        print(sys.modules["__main__"], type(__loader__).__name__, sys.getswitchinterval())
        def annotated(x: 1 + 1): ...
        print(annotated.__annotations__)
        class Kept:
            def __eq__(self, other): return type(other) is Kept
        print(pickle.loads(pickle.dumps(Kept())) == Kept(), Kept.__module__)
        print(threading.active_count(), threading.current_thread() is threading.main_thread())
        import promoarray as xp
        print(sys.path[0], sys.getrecursionlimit(), threading.active_count(), sys.gettrace())
        print(signal.getsignal(signal.SIGINT), xp.get_policy())
        half = xp.asarray([1], dtype=xp.int8) / 2
        if __name__ == "__main__":
            print(input("name? "), sys.stdin.read().splitlines(), file=sys.stderr)
        """,
        *("-x", "--json", "--", "a b"),
        flags=("-W", "ignore::UserWarning", "-O"),
        given="Ada\nand\nmore\n",
    )
    assert (ran.agree().status, ran.compare_status) == (0, 1)
    assert "of the script" in ran.out
    assert "Ada ['and', 'more']" in ran.err


def test_what_a_program_does_to_its_process(tmp_path: Path) -> None:
    ran = Both(
        tmp_path,
        """
        # -*- coding: latin-1 -*-
        import asyncio, atexit, io, os, sys, threading, time, warnings
        import promoarray as xp
        x = xp.asarray([1, 2], dtype=xp.int8)
        def half(): return x / 2
        def late():
            time.sleep(0.2)
            print("late", half())
        async def task(): return half()
        print(asyncio.run(task()))
        atexit.register(lambda: print("at exit", half(), file=sys.__stderr__))
        threading.Thread(target=late).start()
        os.chdir("/")
        os.remove(__file__)
        warnings.simplefilter("error")
        sys.setrecursionlimit(90)
        sys.settrace(lambda *_: None)
        del sys.modules["promoarray"], sys.modules["promoarray.parray"]
        import promoarray
        print(half())
        sys.stdout.flush()
        sys.path[:] = []
        os.environ.clear()
        printed = sys.stdout = io.StringIO()
        print("to nobody")
        sys.stderr.write(str(half()) + chr(0xe9) + chr(10))
        sys.stdout = sys.__stdout__
        """,
    )
    assert (ran.agree().status, ran.compare_status) == (0, 1)
    assert "x / 2  [int8 / Python int]  ×5" in ran.report
    assert "\nprogram.py:6  x / 2  " in f"\n{ran.report}"


ENDS = {
    "exit 3": ("raise SystemExit(3)", "exit status 3"),
    "exit text": ("import sys; sys.exit('[/data/train] text')", "exit status 1"),
    "exit of a handler": (
        "import sys\ntry: int('x')\nexcept ValueError: sys.exit(1)",
        "program.py:5: try: int('x'): ValueError: invalid",
    ),
    "exit object": ("raise SystemExit([1, 2])", "exit status 1"),
    "exit in a thread": ("import _thread; _thread.interrupt_main(); input()", "interrupted"),
    "os._exit": ("import os; os._exit(7)", "exit status 7"),
    "exec": (
        "import os, sys; sys.stdout.flush(); os.execl('/bin/sh', 'sh', '-c', 'echo b; exit 4')",
        "exit status 4",
    ),
    "error": ("def f(): raise KeyError('a')\nf()", "program.py:4: def f(): raise KeyError"),
    "chained": ("try: 1 / 0\nexcept ZeroDivisionError as e: raise OSError from e", "OSError"),
    "group": ("raise ExceptionGroup('g', [ValueError('v'), KeyError('k')])", "ExceptionGroup: g"),
    "own hook": (
        "import sys\nsys.excepthook = lambda *e: print(e[0], e[2].tb_lineno)\n1 / 0",
        "ZeroDivisionError: division by zero",
    ),
    "hook fails": ("import sys\nsys.excepthook = lambda *e: 1 / 0\nint('x')", "ValueError"),
    "no words": ("class E(Exception):\n  def __str__(self): 1 / 0\nraise E", "E: <E: Zero"),
    "stdout closed": ("import sys; sys.stdout.close(); raise SystemExit(3)", "exit status 3"),
    "stderr closed": ("import sys; sys.stderr.close(); sys.exit('text')", "exit status 1"),
    "descriptors closed": ("import os; os.closerange(0, 3)", ""),
    "killed": ("import os; os.kill(os.getpid(), 9)", "killed by SIGKILL"),
    "SIGTERM": ("import os; os.kill(os.getpid(), 15)", "killed by SIGTERM"),
    "crash": ("import ctypes; ctypes.string_at(0)", "killed by SIGSEGV"),
    "interrupt": ("import signal; signal.raise_signal(2)", "program.py:4: import signal"),
    "recursion": ("def f(): f()\nf()", "RecursionError"),
    "at exit": ("import atexit; atexit.register(int, 'x')", ""),
    "at exit, _exit": ("import atexit, os; atexit.register(os._exit, 6)", "exit status 6"),
    "sys.modules": ("import sys; sys.modules.clear()", ""),
    "a thread goes on": (
        "def f():\n  while True: x + x\n"
        "import threading; threading.Thread(target=f, daemon=True).start(); 1 / 0",
        "ZeroDivisionError",
    ),
    "output is gone": ("import os; os.close(1); print('a')", ""),
}
QUICK = ("os._exit", "exit of a handler")


@pytest.mark.parametrize(
    "name", [n if n in QUICK else pytest.param(n, marks=pytest.mark.slow) for n in ENDS]
)
def test_however_a_program_ends_there_is_a_report(tmp_path: Path, name: str) -> None:
    code, why = ENDS[name]
    ran = Both(tmp_path, HALF + code).agree()
    assert why in ran.said
    assert bool(ran.said) is bool(ran.status), ran.said
    killed = 128 - ran.status
    assert ran.compare_status == (killed if ran.status < 0 else 3 if ran.status else 1)


WORKERS = """
    import multiprocessing, os, sys
    import promoarray as xp
    xp.set_policy("onnx")
    x = xp.asarray([1, 2], dtype=xp.int8)
    def half(n):
        return str((x / n).dtype)
    if __name__ == "__main__":
        method = multiprocessing.get_context(sys.argv[1])
        with method.Pool(2) as pool:
            print(pool.map(half, range(1, 5)))
        process = method.Process(target=half, args=(2,))
        process.start()
        process.join()
        print(half(2), process.exitcode)
"""


@pytest.mark.parametrize(
    "method",
    ["fork", "spawn", "forkserver"],
)
@pytest.mark.slow
def test_what_workers_compute_is_in_the_report(tmp_path: Path, method: str) -> None:
    ran = Both(tmp_path, WORKERS, method).agree()
    assert ran.out == "['int8', 'int8', 'int8', 'int8']\nint8 0\n"
    assert "6 operations under onnx@25; 1 place" in ran.report


@pytest.mark.slow
def test_run_goes_before_what_the_program_sets_also_in_workers(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(dedent(WORKERS))
    compare = start(
        tmp_path, *COMPARE, "program.py", "--policies", "jax", "--run", "numpy", "--", "spawn"
    )
    out, err = compare.communicate(timeout=100)
    assert (err, compare.returncode) == ("", 1)
    assert out.startswith("['float64', 'float64', 'float64', 'float64']\nfloat64 0\n")
    assert "6 operations under numpy@2" in out


@pytest.mark.slow
def test_what_is_written_in_other_ways_is_quoted(tmp_path: Path) -> None:
    deep = " + ".join(["x"] * 900)
    source = f"""\
# -*- coding: latin-1 -*-
import promoarray as xp
x = xp.asarray([1, 2], dtype=xp.int8)
é = (x /
     2)  # ü
long = [x / 2, {"1, " * 100_000}]
deep = {deep} / 2
open(__file__, "w").write("nothing" + chr(10) * 20)
late = x / 3
exec("x / 4")
print(é)
"""
    path = tmp_path / "program.py"
    path.write_bytes(source.encode("latin-1"))
    compare = start(tmp_path, *COMPARE, "program.py", "--all", *TORCH)
    out, err = compare.communicate(timeout=100)
    assert (err, compare.returncode) == ("", 1)
    lines = out.splitlines()
    assert max(map(len, lines)) < 1000
    heads = [line.partition("  ")[::2] for line in lines if line.startswith(("program", "<"))]
    assert [place for place, _ in heads] == [  # line 7 first, whose sum inherits
        *("program.py:7", "program.py:4", "program.py:6", "program.py:9", "<string>:1"),
    ]
    said = [said.partition("  [")[0] for _, said in heads]
    assert said[1:3] == ["x / 2", "x / 2"]
    assert said[3] == "x / 3"
    both = lines[lines.index(next(line for line in lines if line.startswith("program.py:7"))) :]
    assert any(line.startswith("  x / 2  [") for line in both)
    assert any(line.startswith("  x + x + x") for line in both)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["a [b] [@c].py", "naïve.py", "\udcff.py"])
def test_names_of_files(tmp_path: Path, name: str) -> None:
    ran = Both(tmp_path, HALF + "1 / 0", script=name).agree()
    assert ran.compare_status == 3
    shown = name.encode("utf-8", "backslashreplace").decode()
    assert f"The program stopped at {shown}:" in ran.report


@pytest.mark.slow
@pytest.mark.parametrize("env", [{}, {"PYTHONIOENCODING": "ascii"}])
def test_run_all_reads_the_same_input_again(tmp_path: Path, env: dict[str, str]) -> None:
    (tmp_path / "program.py").write_text(
        HALF
        + "import os, sys\n"
        + "print(input(), sum(map(int, sys.stdin)), file=open('seen', 'a'))\n"
        + "os.chdir('/'); e = 'é'; del sys.modules['promoarray']\n"
        + "class Bad:\n    def __str__(self): return 1 / 0\n    __class__ = property(__str__)\n"
        + "bad, path, long = Bad(), xp.asarray('[/data/train]'), 'x' * 10**6\n"
        + "import atexit; atexit.register(os._exit, 0)\n"
    )
    command = (*COMPARE, "program.py", *TORCH, "--run-all", "--show", "y,e,bad,path, long,[/no]")
    compare = start(tmp_path, *command, env=env)
    out, err = compare.communicate("first\n" + "7\n" * 50_000, timeout=100)
    assert compare.returncode == 1
    assert re.fullmatch("promoarray compare: --run-all runs the program 3 times: .*\n", err)
    assert (tmp_path / "seen").read_text() == "first 350000\n" * 3
    assert "float32 [2]" in out
    assert ("é" in out) is not bool(env)
    for shown in ("[/data/train] (string)", "<Bad: ZeroDivisionError when it was shown>", "[/no]"):
        assert shown in out
    assert out.count("x") < 3000
    (tmp_path / "given").write_text("second\n1\n")
    with open(tmp_path / "given") as given:
        again = subprocess.run(
            [sys.executable, *command, "--json"],
            cwd=tmp_path,
            stdin=given,
            check=False,
            stdout=subprocess.DEVNULL,
        )
    assert again.returncode == 1
    assert (tmp_path / "seen").read_text().endswith("second 1\n" * 3)


def test_ctrl_c_shows_what_was_found(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        HALF
        + "import threading, time\n"
        + "threading.Timer(0.5, lambda: print('ready', flush=True)).start()\n"
        + "time.sleep(60)\n"
    )
    page = tmp_path / "page.html"
    compare = start(tmp_path, *COMPARE, "program.py", *TORCH, "--run-all", "--html", str(page))
    assert compare.stdout is not None
    assert compare.stdout.readline() == "ready\n"
    compare.send_signal(signal.SIGINT)
    out, err = compare.communicate(timeout=100)
    assert compare.returncode == 130
    assert FOUND in out
    assert "KeyboardInterrupt" in err
    assert err.endswith(
        "the program stopped under numpy@2 at program.py:6: time.sleep(60): interrupted\n"
    )
    assert FOUND in page.read_text()


# A process with threads is warned of its forks, by JAX and by Python 3.12: this child only execs.
@pytest.mark.filterwarnings("ignore:os.fork:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.slow
def test_ctrl_c_of_a_terminal_comes_once_and_the_input_is_the_terminal(tmp_path: Path) -> None:
    pty = pytest.importorskip("pty")
    (tmp_path / "program.py").write_text(
        HALF
        + "import sys, time\nwords = sys.stdin.isatty(), sys.stdout.isatty(), input()\n"
        + "try:\n    print(*words, flush=True)\n    [time.sleep(0.1) for _ in range(600)]\n"
        + "except KeyboardInterrupt:\n    print('heard of it', flush=True)\n"
        + "time.sleep(0.5)\n"
    )
    pid, terminal = pty.fork()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # where the tests ignore it
        os.chdir(tmp_path)
        command = [sys.executable, *COMPARE, "program.py", *TORCH, "--run-all", "--show", "y"]
        os.execv(sys.executable, command)
    os.write(terminal, b"typed\n")
    shown = b""
    with contextlib.suppress(OSError):  # Linux's end of a terminal
        while chunk := os.read(terminal, 10_000):
            if b"True True typed" not in shown and b"True True typed" in shown + chunk:
                os.write(terminal, b"\x03")
            shown += chunk
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1
    assert shown.count(b"heard of it") == 1
    assert FOUND.encode() in shown
    assert b"EOFError" in shown  # nobody types it again for the other runs
    os.close(terminal)


@pytest.mark.slow
def test_ctrl_c_in_a_later_run_shows_those_before(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        HALF + "import time\nif y.dtype == xp.float32:\n    open('here', 'w')\n    time.sleep(60)\n"
    )
    command = (*COMPARE, "program.py", "--policies", "numpy,torch,jax", "--run-all", "--show", "y")
    compare = start(tmp_path, *command)
    while not (tmp_path / "here").exists():
        time.sleep(0.05)
        assert compare.poll() is None
    compare.send_signal(signal.SIGINT)
    out, err = compare.communicate(timeout=100)
    assert compare.returncode == 130
    assert re.fullmatch("promoarray compare: --run-all runs the program 5 times: .*\n", err)
    assert "float64 [2]" in out
    assert "interrupted" in out
    assert "│ jax" not in out


# A signal between the print and a sleep is heard when the sleep is over: it is slept in short.
@pytest.mark.slow
def test_a_signal_to_the_command_reaches_the_program(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(
        HALF
        + "import signal, sys, time\n"
        + "signal.signal(signal.SIGTERM, lambda *_: sys.exit(print('ended by itself')))\n"
        + "print('ready', flush=True)\n[time.sleep(0.1) for _ in range(600)]\n"
    )
    compare = start(tmp_path, *COMPARE, "program.py", *TORCH)
    assert compare.stdout is not None
    assert compare.stdout.readline() == "ready\n"
    compare.send_signal(signal.SIGTERM)
    began = time.monotonic()
    out, err = compare.communicate(timeout=100)
    assert (err, compare.returncode) == ("", 1)
    assert out.startswith("ended by itself\n")
    assert FOUND in out
    assert time.monotonic() - began < 30


@pytest.mark.slow
def test_modules_packages_and_folders_run_as_python_runs_them(tmp_path: Path) -> None:
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text(HALF)
    (package / "__main__.py").write_text(
        "import sys\nprint(__name__, __package__, sys.argv[1:], sys.path[0])\n"
        "try:\n    from .one import z\nexcept ImportError:\n    from one import z\n"
    )
    (package / "one.py").write_text("import promoarray as xp\nz = xp.asarray([1]) / 2\n")
    for words in (("-m", "package"), ("package",)):
        python = start(tmp_path, *words, "-a").communicate(timeout=100)
        compare = start(tmp_path, *COMPARE, *words, *TORCH, "--", "-a").communicate(timeout=100)
        assert compare[0].startswith(python[0])
        assert "package/one.py:2  xp.asarray([1]) / 2" in compare[0]
        assert compare[1] == python[1] == ""


@pytest.mark.slow
def test_what_goes_wrong_in_observing_is_told_and_does_not_stop_the_program(tmp_path: Path) -> None:
    ran = Both(
        tmp_path,
        "from promoarray.diagnostics.ask.observer import ShadowObserver\n"
        "def fail(self, event): raise RuntimeError('inside')\n"
        "ShadowObserver.on_operation = fail\n" + HALF + "print(y)\n",
    )
    assert (ran.status, ran.compare_status) == (0, 3)
    assert ran.out == "PArray([0.5, 1. ], dtype=float64)\n"
    assert "RuntimeError: inside" in ran.compare_err
    assert "this is a bug in promoarray" in ran.said
