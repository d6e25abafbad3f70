"""``pa.check`` and ``pa.record`` around NumPy's arrays: what the block's own lines do, and what the
functions do that they call."""

from __future__ import annotations

import asyncio
import doctest
import subprocess
import sys
import textwrap
import threading
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.diagnostics.check.report import Report
from promoarray.diagnostics.record.numpy.hook import hook

pytestmark = pytest.mark.xdist_group("blocks")  # the first rewrites what is loaded, at some cost


def lines(report: Report) -> list[str]:
    return [each.place.site.expression for each in report.told]


def image() -> Any:
    return np.array([200, 100], np.uint8)


def twice(x: Any) -> Any:
    return x + x


class Doubles:
    factor = 2

    def apply(self, x: Any) -> Any:
        return x * self.factor

    @staticmethod
    def plainly(x: Any) -> Any:
        return x * 3


def test_its_own_lines_and_functions_that_it_calls() -> None:
    x, apply = image(), Doubles().apply
    later = [lambda x: x + 100]
    code = twice.__code__
    with pa.check() as report:
        y = x + 101
        z = twice(x), apply(x), Doubles.plainly(x), later[0](x)
    assert lines(report) == ["x + 101", "x + x", "x * self.factor", "x * 3", "x + 100"]
    assert report.told[0].words == (
        "1 of 2 elements wraps: 200 + 101 is 301, and uint8 has 45, first at [0]"
    )
    assert [y.tolist(), *(each.tolist() for each in z)] == [
        *([45, 201], [144, 200], [144, 200], [88, 44], [44, 200])
    ]
    assert not report.unread
    assert twice.__code__ is code
    assert hook().session is None


def test_where_operands_came_from() -> None:
    with pa.check("integer-wrap") as report:
        x = np.array([200], np.uint8)
        x + x
    assert "np.array([200], np.uint8), test_numpy_block.py:" in str(report)


def test_numpy_by_name_alone() -> None:
    with pa.check(framework="numpy") as report:
        image() + 100
    assert lines(report) == ["image() + 100"]
    assert report.framework.startswith("numpy ")


def test_what_is_computed_stays_as_it_is(tmp_path: Path) -> None:
    command = [sys.executable, str(Path(__file__).parent / "numpy_blocks.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("35 bodies\n", "")


def test_lines_that_cannot_be_looked_at_are_named() -> None:
    x = image()

    def returns() -> Report:
        with pa.check() as report:
            x + x
            if len(x):
                return report
        return report

    def breaks() -> Report:
        while True:
            with pa.check() as report:
                x + x
                break
        return report

    def tries() -> Report:
        with pa.check() as report:
            try:
                x + x
            finally:
                pass
        return report

    def shares() -> Report:
        y = x

        def seen() -> Any:
            return y

        with pa.check() as report:
            y = y + x
        assert seen() is y
        return report

    def looks_around() -> Report:
        with pa.check() as report:
            x + locals()["x"]
        return report

    def traced() -> Report:
        sys.settrace(lambda *event: None)
        try:
            with pa.check() as report:
                x + x
        finally:
            sys.settrace(None)
        return report

    for each, why in {
        returns: "it has a return",
        breaks: "it has a break",
        tries: "Python makes no code of its first line",
        shares: "it assigns a variable that other functions have",
        looks_around: "locals is another where it is run",
        traced: "a debugger, or what measures coverage",
    }.items():
        report = each()
        assert "Not examined: the block's own lines at test_numpy_block.py:" in str(report)
        assert why in report.unread, each
        assert not report.told
        with pa.check():
            report = each()
        assert lines(report)  # of code that is rewritten, as a block calls it
        assert not report.unread


def test_in_coroutines_generators_and_classes() -> None:
    x = image()

    async def waits() -> Report:
        await asyncio.sleep(0)
        with pa.check() as report:
            y = x + 100
        await asyncio.sleep(0)
        assert y.tolist() == [44, 200]
        return report

    def yields() -> Iterator[Report]:
        yield Report("", [])
        with pa.check() as report:
            y = x + 101
        yield report
        assert y.tolist() == [45, 201]

    class Holds:
        with pa.check() as report:
            y = x + 102

    assert lines(asyncio.run(waits())) == ["x + 100"]
    assert [lines(each) for each in yields()] == [[], ["x + 101"]]
    assert Holds.y.tolist() == [46, 202]
    assert "it stands in a class in a function" in Holds.report.unread


class HoldsItself:
    x = image()
    with pa.check() as report:
        y = x + 103


def test_in_a_class() -> None:
    assert lines(HoldsItself.report) == ["x + 103"]
    assert HoldsItself.y.tolist() == [47, 203]


def test_nothing_is_named_where_numpy_has_no_part() -> None:
    def returns() -> Report:
        with pa.check() as report:
            pa.asarray([200], dtype=pa.uint8) * pa.asarray([2], dtype=pa.uint8)
            return report

    report = returns()
    assert len(report.told) == 1
    assert not report.unread


def test_an_error_is_the_programs() -> None:
    x = image()
    with pytest.raises(ZeroDivisionError) as caught, pa.check() as report:  # noqa: PT012
        y = x + 100
        y[0] / (1 // 0)
    assert lines(report) == ["x + 100"]
    assert caught.value.__context__ is None
    frames = [each.name for each in traceback.extract_tb(caught.value.__traceback__)]
    name = "test_an_error_is_the_programs"
    assert frames == [name, "__exit__", name]
    assert y.tolist() == [44, 200]


def test_modules_that_it_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "checked_here.py").write_text(
        "import numpy as np\ndef work(x):\n    return np.add(x, 100)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pa.check() as report:
        import checked_here  # type: ignore[import-not-found]

        checked_here.work(image())
    assert lines(report) == ["np.add(x, 100)"]
    del sys.modules["checked_here"]


def test_a_script_and_its_module(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("def twice(x):\n    return x + x\n")
    (tmp_path / "program.py").write_text(
        textwrap.dedent("""
        import numpy as np
        import promoarray as pa
        from helper import twice
        x = np.array([200], np.uint8)
        with pa.check() as report:
            y = x + 100
            z = twice(x)
        print(report)
        """)
    )
    command = [sys.executable, "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "program.py:7  y = x + 100" in done.stdout
    assert "helper.py:2  return x + x" in done.stdout


def test_source_that_has_changed_is_not_run(tmp_path: Path) -> None:
    file = tmp_path / "changed.py"
    text = (
        "import numpy as np\nimport promoarray as pa\nx = np.array([200], np.uint8)\n"
        "with pa.check() as report:\n    y = x + 100\n"
    )
    file.write_text(text.replace("100", "99"))
    names: dict[str, Any] = {"__name__": "changed"}
    exec(compile(text, str(file), "exec"), names)
    assert names["y"].tolist() == [44]
    assert "its source is not known" in names["report"].unread


def test_in_doctests_expressions_are_shown() -> None:
    text = """
    >>> import numpy as np
    >>> import promoarray as pa
    >>> x = np.array([200], np.uint8)
    >>> with pa.check() as report:
    ...     x + 100
    ...     x + 1
    array([44], dtype=uint8)
    array([201], dtype=uint8)
    >>> [each.place.site.expression for each in report.told]
    ['x + 100']
    """
    module = ModuleType("examples")
    test = doctest.DocTestParser().get_doctest(text, vars(module), "examples", None, 0)
    assert doctest.DocTestRunner().run(test).failed == 0


NOTEBOOK = """
from IPython.core.interactiveshell import InteractiveShell

shell = InteractiveShell.instance()
shell.run_cell("import numpy as np\\nimport promoarray as pa\\ndef twice(x): return x + x")
shell.run_cell(
    "x = np.array([200], np.uint8)\\n"
    "with pa.check() as report:\\n    y = x + 100\\n    twice(x)"
)
print([each.place.site.expression for each in shell.user_ns["report"].told])
"""


def test_cells_of_a_notebook() -> None:
    """In a process of its own: where Dynamo is loaded, functions are left to it."""
    pytest.importorskip("IPython", reason="needs IPython: pip install 'promoarray[test-notebook]'")
    command = [sys.executable, "-c", NOTEBOOK]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["['x + 100', 'x + x']"], done.stderr


def test_blocks_nest() -> None:
    x = image()
    with pa.check() as outer:
        x + 100
        with pa.check() as inner:
            x + 101
        x + 102
    assert lines(inner) == ["x + 101"]
    assert lines(outer) == ["x + 100", "x + 102"]


def test_a_block_of_another_thread_is_named() -> None:
    x, found = image(), []

    def work() -> None:
        with pa.check() as report:
            x + x
        found.append(report)

    thread = threading.Thread(target=work)
    begun, go_on = threading.Event(), threading.Event()

    def hold() -> None:
        with pa.check():
            begun.set()
            go_on.wait(10)

    holds = threading.Thread(target=hold)
    holds.start()
    begun.wait(10)
    thread.start()
    thread.join()
    go_on.set()
    holds.join()
    assert "another thread's block, or the whole run, is recorded already" in found[0].unread


def test_functions_that_numba_compiles_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "numba.py").write_text(
        "def njit(function):\n    assert '__promoarray__' not in function.__code__.co_names\n"
        "    return function\nvectorize = lambda *types: njit\n"
    )
    (tmp_path / "program.py").write_text(
        textwrap.dedent("""
        import numba
        import numpy as np
        from numba import njit
        @njit
        def one(x): return x + x
        @numba.vectorize("u1(u1)")
        def two(x): return x + x
        @np.vectorize
        def each(x): return x + np.uint8(200)
        x = np.array([200], np.uint8)
        one(x), two(x), each(x), x + 100
        """)
    )
    command = [sys.executable, "-m", "promoarray", "check", "--no-edit", "program.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "x + 100: " in done.stdout, done.stderr
    assert "x + np.uint8(200): " in done.stdout
    assert "x + x" not in done.stdout


def test_why_of_an_error_in_a_block() -> None:
    x = np.ones(2, np.int8)
    with pytest.raises(OverflowError) as caught, pa.record("numpy"):  # noqa: PT012
        y = x + 1
        y + 300
    assert "y + 300" in str(pa.why(caught.value))


def test_why_of_an_array_that_a_block_has_made() -> None:
    x = np.ones(2, np.float32)
    with pa.record("numpy", "numpy@1") as report:
        y = x * np.float64(0.5)
    assert str(pa.why(y)).startswith("y  float64  x * np.float64(0.5), test_numpy_block.py:")
    assert "np.float64(0.5), test_numpy_block.py:" in str(pa.why(y))
    assert "the dtype that it names" in str(pa.why(y))
    assert [str(d.answers["numpy@1"]) for d in report.divergences] == ["float32"]


TESTS_OF_A_PROJECT = {
    "test_helps.py": """
        import numpy as np

        def twice(x):
            return x + x

        class Scale:
            def times(self, x):
                return x * 2

        def thrice(x):
            return x * 3

        def test_first(): pass
    """,
    "test_helps_too.py": """
        def more(x):
            return x + 150

        def most(x):
            return x + 200
    """,
    "test_plugged.py": """
        import pytest

        @pytest.fixture
        def lessened():
            return lambda x: x - 250
    """,
    "registry.py": "FUNCTIONS = {}",
    "test_registers.py": """
        import registry

        def lowered(x):
            return x - 201

        registry.FUNCTIONS["lowered"] = lowered
    """,
    "conftest.py": """
        import pytest
        import test_helps

        pytest_plugins = ["test_plugged"]

        @pytest.fixture
        def scaled():
            return test_helps.Scale()
    """,
    "test_uses.py": """
        import importlib
        import numpy as np
        import promoarray as pa
        import registry
        from test_helps import twice

        def later(x):
            from test_helps_too import more
            return more(x)

        def test_what_is_found(request, lessened):
            x = np.array([200], np.uint8)
            with pa.check() as report:
                twice(x)
                request.getfixturevalue("scaled").times(x)
                later(x)
                importlib.import_module("test_helps_too").most(x)
                lessened(x)
                registry.FUNCTIONS["lowered"](x)
            found = [each.place.site.expression for each in report.told]
            assert found == ["x + x", "x * 2", "x + 150", "x + 200", "x - 250", "x - 201"]
            assert not report.unread
    """,
}


@pytest.mark.parametrize("mode", ["prepend", "importlib"])
def test_functions_that_lie_in_other_files_of_tests(tmp_path: Path, mode: str) -> None:
    for name, text in TESTS_OF_A_PROJECT.items():
        (tmp_path / name).write_text(textwrap.dedent(text))
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    command += [f"--import-mode={mode}", "-o", f"pythonpath={tmp_path}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert "2 passed" in done.stdout, done.stdout
