"""Lines of NumPy programs, carried as NumPy 1.26.4 gives them: dtypes and bits."""

from __future__ import annotations

import builtins
import textwrap
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
import numpy1_values
import pytest

from promoarray.diagnostics.record.block import REWRITTEN
from promoarray.diagnostics.record.numpy.running import recorded_run
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.policies import as_policy

OLD = as_policy("numpy@1")


def test_lines_have_the_dtypes_and_bits_of_numpy_1() -> None:
    kept = numpy1_values.read()
    assert len(kept) >= 600
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = numpy1_values.carried([text for text, _ in kept])
    wrong, stopped, unseen = [], [], []
    for (text, answer), (mine, examined) in zip(kept, found, strict=True):
        if numpy1_values.alike(mine, answer):
            continue
        if not examined:
            unseen.append(text)
        elif mine == numpy1_values.RAISES:  # the run stops there, for all to see
            stopped.append(text)
        else:
            wrong.append((text, answer, mine))
    assert not wrong
    assert len(stopped) <= len(kept) // 100
    assert len(unseen) <= len(kept) // 20


def recorded(tmp_path: Path, source: str) -> RecordedReport:
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(source))
    home = REWRITTEN["numpy"].home(np.__version__)
    recorder = Recorder(home, (home, OLD))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        recorded_run(str(script), recorder)
    return recorder.report


COMPUTED = {
    "sum(data)": "int64",
    "sum(x for x in data)": "int64",
    "math.prod(data)": "int64",
    "list(map(operator.mul, data, [3, 3, 3]))": "int64",
    "functools.reduce(operator.add, [data[0], 3])": "int64",
    "list(itertools.accumulate([data[0], 3]))": "int64",
    "operator.mul(data[0], 2)": "int64",
    "max([data[0], 3], key=lambda x: x)": "bool",
    "pow(data[0], 2)": "int64",
    "statistics.median([data[0], 3])": "int64",
    "divmod(data[0], 7)": "int64",
}


@pytest.mark.parametrize("text", COMPUTED)
def test_what_python_computes_in_c_is_recorded(text: str, tmp_path: Path) -> None:
    report = recorded(
        tmp_path,
        f"""
        import functools, itertools, math, operator, statistics
        import numpy as np
        data = np.array([200, 100, 60], np.uint8)
        f = {text}
        """,
    )
    assert report.operations
    found = {str(d.answers["numpy@1"]) for d in report.divergences}
    assert COMPUTED[text] == "bool" or COMPUTED[text] in found
    assert {d.program.line for d in report.divergences} <= {5}
    assert not report.unexamined


def test_functions_keep_their_identity_and_their_errors(tmp_path: Path) -> None:
    recorded(
        tmp_path,
        """
        import functools, heapq, itertools, math, operator
        import numpy as np
        data = [np.float32(1), 2.0]
        assert sum is __builtins__.sum and operator.add is dict(x=operator.add)["x"]
        assert isinstance(map(abs, data), map) and type(max) is type(len)
        wrong = [lambda: sum(data, ""), lambda: max([]), lambda: sum(*data)]
        for call in (*wrong, lambda: min(data, k=1)):
            try: call()
            except (TypeError, ValueError): pass
            else: raise AssertionError(call)
        def naturals():
            n = 0
            while True:
                yield np.int8(n)
                n += 1
        assert next(map(operator.neg, naturals())) == 0
        assert list(itertools.islice(itertools.accumulate(naturals()), 3)) == [0, 1, 3]
        assert max([], default=3) == 3 and sum([], 5) == 5 and sum([[1], [2]], []) == [1, 2]
        assert sorted([np.int8(3), 1, 2.5], reverse=True) == [3, 2.5, 1]
        assert [3, np.int8(1)].index(1) == 1 and np.int8(3) in [1, 3]
        class Sum:
            def sum(self, x): return x
        assert Sum().sum(np.int8(3)) == 3
        def sum(x): return "mine"
        assert sum(data) == "mine"
        assert heapq.nsmallest(1, [np.int8(3), 1]) == [1]
        """,
    )


def test_what_was_not_examined_is_said(tmp_path: Path) -> None:
    report = recorded(
        tmp_path,
        """
        import random
        import ml_dtypes
        import numpy as np
        from rich import print
        x = np.arange(3, dtype=np.float32)
        for _ in range(2):
            random.uniform(x[0], 2)
        np.piecewise
        np.polynomial.polynomial.polyadd(x, x)
        code = compile("x + 1", "code", "eval")
        eval(code)
        address = x.ctypes
        print(len(x), [x[0]] == [0.1], (1, 2) < (1, x[1]), [1] == [1])
        """,
    )
    said: Counter[tuple[str, int]] = Counter()
    for each, n in report.unexamined.items():
        said[each.what, each.program.line] += n
    assert said == {
        ("call of random.Random.uniform", 8): 2,
        ("call of numpy.polynomial.polyadd", 10): 1,
        ("eval of code", 12): 1,
        ("an array's ctypes", 13): 1,
        ("a comparison of lists", 14): 2,
    }
    data = report.to_dict()["unexamined"]
    assert sum(each["count"] for each in data) == said.total()
    assert {(each["what"], each["line"]) for each in data} == {*said}


def test_a_library_that_is_not_rewritten_is_named(tmp_path: Path) -> None:
    report = recorded(
        tmp_path,
        """
        import numpy as np
        import sortedcontainers
        sortedcontainers.SortedList(np.ones(2))
        """,
    )
    (each,) = report.unexamined
    assert each.what.startswith("call of sortedcontainers.sortedlist.SortedList")
    assert "--packages sortedcontainers" in each.why


def test_numpys_own_warnings_are_facts(tmp_path: Path) -> None:
    script = """
        import numpy as np
        total = np.uint8(200) + np.uint8(100)
        sum([np.uint8(200), np.uint8(100)], np.uint8(0))
        """
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(script))
    home = REWRITTEN["numpy"].home(np.__version__)
    recorder = Recorder(home, (home, OLD))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        recorded_run(str(path), recorder)
    text = "overflow encountered in scalar add"
    assert {(e.text, e.program.line): n for e, n in recorder.report.warned.items()} == {
        (text, 3): 1,
        (text, 4): 1,
    }
    assert [(Path(w.filename).name, w.lineno) for w in caught] == [
        ("program.py", 3),
        ("program.py", 4),
    ]


def test_masked_arrays_take_numbers_as_arrays(tmp_path: Path) -> None:
    report = recorded(
        tmp_path,
        """
        import numpy as np
        x = np.ma.masked_array(np.array([1, 2], np.int8), [True, False])
        y = x + 1
        """,
    )
    (place,) = report.divergences
    assert str(place.answers["numpy@1"]) == "int8"
    assert not report.drift


ROOMS = (
    *("np", "np.linalg", "np.fft", "np.random", "np.emath", "np.ma", "np.char", "x"),
    *("np.lib.stride_tricks", "np.polynomial.polynomial", "np.polynomial.chebyshev", "np.add"),
)


@pytest.mark.parametrize("room", ROOMS)
def test_what_makes_arrays_of_arrays_is_in_a_table_or_not_examined(
    room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: dict[str, int] = {}

    def kept(name: str, line: int, result: object) -> None:
        several = result if isinstance(result, (list, tuple)) else (result,)
        arrays = [x for x in several if isinstance(x, (np.ndarray, np.generic))]
        if any(x.dtype.kind in "biufc" for x in arrays):
            made[name] = line

    monkeypatch.setattr(builtins, "KEPT", kept, raising=False)
    x = np.ones((2, 2), np.float32)
    owner = eval(room, {"np": np, "x": x})
    not_called = {"set_state", "set_bit_generator", "seed", "save", "savez", "savetxt", "test"}
    not_called |= {"info", "show_config", "show_runtime"}
    every = {n: getattr(owner, n) for n in dir(owner) if not n.startswith("_")}
    named = [n for n, f in every.items() if callable(f) and not isinstance(f, type)]
    of = "" if room == "x" else "x, x" if room == "np.add" else "x"
    lines = ["import numpy as np", "x = np.ones((2, 2), np.float32)"]
    for name in named:
        if name not in not_called and name not in dir(Exception):
            call = f"KEPT({name!r}, {len(lines) + 1}, {room}.{name}({of}))"
            lines += [f"try: {call}", "except Exception: pass"]
    report = recorded(tmp_path, "\n".join(lines))
    counted = {name.rpartition(".")[2] for _, name in report.calls}
    said = {each.program.line for each in report.unexamined}
    assert made or room == "np.char"
    missing = {n for n, line in made.items() if n not in counted and line not in said}
    aliases = {getattr(every[n], "__name__", n) for n in missing}
    assert aliases - counted <= ({"outer"} if room == "np.add" else set())  # counted as ``add``


def test_methods_compute_in_the_dtype_of_numpy_1(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(
        textwrap.dedent("""
        import numpy as np
        data = np.array([1, 300], np.int16)
        beyond, below = data.clip(0, 70000), data.clip(max=70000)
        """)
    )
    recorder = Recorder(as_policy("numpy@2"), (OLD,))
    recorded_run(str(script), recorder, past=OLD)
    calls = [each for each in recorder.flow.flow.operations if each.name == "clip"]
    assert [each.results for each in calls] == [("i32",), ("i32",)]
    assert not recorder.report.unexamined
