"""Lines of NumPy programs, carried as NumPy 1.26.4 gives them: dtypes and bits."""

from __future__ import annotations

import builtins
import contextlib
import json
import textwrap
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy1_values
import pytest
from numpy_runs import recorded_run

from promoarray.__main__ import main
from promoarray.diagnostics.record.block import REWRITTEN
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


def test_expressions_have_the_dtypes_of_numpy_1() -> None:
    every, right = zip(*numpy1_values.expressions(), strict=True)
    assert len(every) >= 300
    assert right.count(numpy1_values.RAISES) < len(every) // 3
    lines = [f"r = {text}" for text in every]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        found = numpy1_values.carried(lines)
        here = list(map(numpy1_values.dtype_of, numpy1_values.answers(lines)))
    wrong, unseen = [], []
    for text, (mine, examined), answer in zip(every, found, right, strict=True):
        if not examined:
            unseen.append(text)
        elif numpy1_values.dtype_of(mine) != answer:
            wrong.append((text, mine, answer))
    assert not wrong
    # NumPy 2 rounds integers and bools to themselves: without a word of floats there.
    assert unseen == ["(np.trunc(np.bool_(0))) + 200", "(np.floor(np.uint64(1))) & 1e300"]
    changed = sum(a != b for a, b in zip(here, right, strict=True))
    assert changed > len(every) // 20  # else nothing was carried


Recorded = Callable[[str], RecordedReport]


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    def run(source: str) -> RecordedReport:
        script = tmp_path / "program.py"
        script.write_text(textwrap.dedent(source))
        home = REWRITTEN["numpy"].home(np.__version__)
        recorder = Recorder(home, (home, OLD))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            recorded_run(str(script), recorder)
        return recorder.report

    return run


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
    "functools.partial(np.add, 100)(data[0])": "int64",
    "functools.partial(operator.mul, data[0])(2)": "int64",
    "sum(collections.UserList(data))": "int64",
    "sum({data[0]: 1, data[1]: 2})": "int64",
    "sum({data[0]: 1, data[1]: 2}.keys())": "int64",
}


@pytest.mark.parametrize("text", COMPUTED)
def test_what_python_computes_in_c_is_recorded(text: str, recorded: Recorded) -> None:
    report = recorded(f"""
        import collections, functools, itertools, math, operator, statistics
        import numpy as np
        data = np.array([200, 100, 60], np.uint8)
        f = {text}
        """)
    assert report.operations
    found = {str(d.answers["numpy@1"]) for d in report.divergences}
    assert COMPUTED[text] == "bool" or COMPUTED[text] in found
    assert {d.program.line for d in report.divergences} <= {5}
    assert not report.unexamined


def test_functions_keep_their_identity_and_their_errors(recorded: Recorded) -> None:
    recorded("""
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
        """)


def test_what_was_not_examined_is_said(recorded: Recorded) -> None:
    report = recorded("""
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
        """)
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


def test_what_the_standard_library_wraps_is_the_programs_own(recorded: Recorded) -> None:
    report = recorded(
        """
        import contextlib
        import numpy as np
        @contextlib.contextmanager
        def doubled(x):
            yield x[0] * 200
        with doubled(np.array([2], np.uint8)) as y:
            print(y)
        """,
    )
    assert [d.program.line for d in report.divergences] == [6]
    assert not report.unexamined


def test_a_class_derived_of_a_number_is_no_number_of_pythons(tmp_path: Path) -> None:
    """NumPy makes an array of it, whose value counts in NumPy 1."""
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            import enum
            import numpy as np
            class Level(enum.IntEnum):
                HIGH = 200
            class Half(float):
                pass
            a = np.uint8(100) + Level.HIGH
            b = np.array([1, 2], np.uint8) * Level.HIGH
            c = np.array([1], np.float32) * Half(0.5)
            d = np.float32(1) * Half(0.5)
            assert (a.dtype, b.dtype, c.dtype, d.dtype) == tuple("lBfd"), (a, b, c, d)
            """
        )
    )
    output = tmp_path / "found.json"
    with output.open("w") as file, contextlib.redirect_stdout(file):
        code = main(["diff", "--json", "--from", "numpy@1", "--to", "numpy@2", str(program)])
    found = json.loads(output.read_text())
    assert code == 1
    assert found["program"]["exit_status"] == 0
    lines = {each["line"]: (each["before"], each["after"]) for each in found["changes"]}
    assert lines == {9: ("uint8", "int64"), 10: ("float32", "float64")}


def test_a_derived_number_is_named_for_policies_that_take_it_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """JAX takes an IntEnum for a Python number, which promotes nothing; NumPy for an array."""
    program = tmp_path / "program.py"
    program.write_text(
        "import enum\nimport numpy as np\nclass Level(enum.IntEnum):\n    LOW = 2\n"
        "x = np.array([1, 2], np.int64) + Level.LOW\ny = np.add(x, Level.LOW)\n"
    )
    main(["compare", "--policies", "jax@x64,numpy@1", str(program)])
    said = " ".join(capsys.readouterr().out.split())
    assert "jax@x64 incomplete: no difference in the 2 operations examined" in said
    assert "numpy@1 agrees" in said
    assert "a number of a derived class at program.py:5" in said


def test_an_int_that_no_integers_hold_is_compared_as_it_is(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import numpy as np\nx = np.array([1, 2], np.uint8)\nprint(x < 2**64)\n")
    assert main(["diff", "--from", "numpy@1", "--to", "numpy@2", str(program)]) == 0


def test_a_library_that_is_not_rewritten_is_named(recorded: Recorded) -> None:
    report = recorded("""
        import numpy as np
        import sortedcontainers
        sortedcontainers.SortedList(np.ones(2))
        """)
    (each,) = report.unexamined
    assert each.what.startswith("call of sortedcontainers.sortedlist.SortedList")
    assert "--packages sortedcontainers" in each.why


def test_a_compiled_function_that_names_no_module_is_named(recorded: Recorded) -> None:
    """As those of OpenCV; this one takes no arrays."""
    report = recorded("""
        import codecs
        import numpy as np
        try:
            codecs.strict_errors(np.ones(2))
        except TypeError:
            pass
        """)
    assert [each.what for each in report.unexamined] == ["call of strict_errors"]


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


def test_masked_arrays_take_numbers_as_arrays(recorded: Recorded) -> None:
    report = recorded("""
        import numpy as np
        x = np.ma.masked_array(np.array([1, 2], np.int8), [True, False])
        y = x + 1
        """)
    (place,) = report.divergences
    assert str(place.answers["numpy@1"]) == "int8"
    assert not report.drift


ROOMS = (
    *("np", "np.linalg", "np.fft", "np.random", "np.emath", "np.ma", "np.char", "x"),
    *("np.lib.stride_tricks", "np.polynomial.polynomial", "np.polynomial.chebyshev", "np.add"),
)


@pytest.mark.parametrize("room", ROOMS)
def test_what_makes_arrays_of_arrays_is_in_a_table_or_not_examined(
    room: str, recorded: Recorded, monkeypatch: pytest.MonkeyPatch
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
    report = recorded("\n".join(lines))
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
    calls = [each for each in recorder.flow.flow.operations if each.name == "clip" and each.results]
    assert [each.results for each in calls] == [("i32",), ("i32",)]
    assert not recorder.report.unexamined
