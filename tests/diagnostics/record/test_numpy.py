"""NumPy programs as they are, recorded while NumPy 2 itself runs them."""

from __future__ import annotations

import contextlib
import io
import runpy
import sys
import textwrap
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy1_values
import pytest
from numpy_runs import recorded_run

import promoarray as pa
from promoarray.diagnostics.calls import numpy as calls
from promoarray.diagnostics.model.divergence import Divergence
from promoarray.diagnostics.record.block import REWRITTEN
from promoarray.diagnostics.record.numpy.hook import hook
from promoarray.diagnostics.record.numpy.rewriting import rewritten
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.report import CAST, MAKE, OPERATION, RecordedReport
from promoarray.diagnostics.record.watcher import Known
from promoarray.operations import OPERATIONS, STANDS_FOR, Form
from promoarray.policies import as_policy


def recorder(*policies: str) -> Recorder:
    run = REWRITTEN["numpy"].home(np.__version__)
    asked = map(as_policy, policies or ("numpy@1",))
    return Recorder(run, (run, *asked), framework=f"numpy {np.__version__}")


Recorded = Callable[..., tuple[RecordedReport, str]]


@pytest.fixture
def recorded(tmp_path: Path) -> Recorded:
    """What was found in a program, and what it printed."""

    def run(source: str, *policies: str, past: bool = False) -> tuple[RecordedReport, str]:
        script = tmp_path / "program.py"
        script.write_text(textwrap.dedent(source))
        told, output = recorder(*policies), io.StringIO()
        with contextlib.redirect_stdout(output):
            recorded_run(str(script), told, past=as_policy("numpy@1") if past else None)
        return told.report, output.getvalue()

    return run


def answers(report: RecordedReport) -> dict[str, str]:
    """What NumPy 1 gives, by the expressions in which it gives something else."""
    return {d.site.expression: str(d.answers["numpy@1"]) for d in report.divergences}


def test_the_lines_that_change_from_numpy_1_to_2(recorded: Recorded) -> None:
    report, _ = recorded("""
        import numpy as np
        image = np.arange(12, dtype=np.float32).reshape(3, 4)
        scale = np.float64(0.5)
        scaled = image * scale
        word = np.float32(3) + 3.0
        small = np.array([1, 2], dtype=np.int8) + np.int64(3)
        row = scaled[1]
        again = row.T + np.float32(1)
        same = image + 1
        """)
    assert answers(report) == {
        "image * scale": "float32",
        "np.float32(3) + 3.0": "float64",
        "np.array([1, 2], dtype=np.int8) + np.int64(3)": "int8",
        "row.T + np.float32(1)": "float32",
    }
    (inherited,) = (d for d in report.divergences if d.site.expression.startswith("row"))
    assert inherited.answers["numpy@1"].origin == "inherits"
    assert not report.drift
    assert report.understood == 1


def test_decompositions_and_products_of_vectors_matrices_and_numbers(recorded: Recorded) -> None:
    report, _ = recorded("""
        import numpy as np
        x, i = np.ones((2, 3), np.float32), np.ones(3, np.int8)
        np.dot(x, i), x.dot(i), np.dot(i, 2), np.dot(np.float32(2), i)
        y = x + np.float64(1)
        u, s, v = np.linalg.svd(y)
        s + 1
        q, r = np.linalg.qr(x)
        sign, logarithm = np.linalg.slogdet(x[:, :2] + np.eye(2, dtype=np.float32))
        values = np.linalg.svd(x + 1j, compute_uv=False)
        """)
    assert not report.drift
    assert report.understood == 1
    assert answers(report) == {  # NumPy 1.26.4 makes an int64 array of the number, too
        "x + np.float64(1)": "float32",
        "np.linalg.svd(y)": "float32",
        "s + 1": "float32",
    }


def test_outer_makes_arrays_of_python_numbers(recorded: Recorded) -> None:
    report, _ = recorded("""
        import numpy as np
        x = np.ones(2, np.float32)
        np.add.outer(300, x), np.add.outer(x[0], 1.5), np.power.outer(x.astype(np.int8), 2)
        """)
    # NumPy 1.26.4: the first gets the axes of the second, the second is an array of no axes.
    assert not report.drift
    assert answers(report) == {"np.power.outer(x.astype(np.int8), 2)": "int8"}


def test_what_numpy_2_stops_at_is_done_as_numpy_1_did_it(recorded: Recorded) -> None:
    report, output = recorded(
        """
        import numpy as np
        a = np.array([1, 2, 3], np.uint8)
        b = a + 300
        c = 300 - a
        d = np.uint8(3) * 300
        e = np.add(a, 300)
        a[0] = 300
        a += 400
        f = np.uint8(300)
        g = np.array([1, 300], dtype=np.uint8)
        h = np.array([1], np.int8) << np.uint64(1)
        for x in (a, b, c, d, e, f, g, h):
            print(x.dtype, x.tolist())
        """,
        past=True,
    )
    # What NumPy 1.26.4 prints.
    assert output.splitlines() == [
        "uint8 [188, 146, 147]",
        "uint16 [301, 302, 303]",
        "uint16 [299, 298, 297]",
        "int64 900",
        "uint16 [301, 302, 303]",
        "uint8 44",
        "uint8 [1, 44]",
        "int8 [2]",
    ]
    home = report.run.name
    refused = {d.site.expression for d in report.divergences if d.answers[home].dtype is None}
    assert {"a + 300", "300 - a", "np.uint8(3) * 300", "np.add(a, 300)"} <= refused


def test_without_the_past_the_program_stops_where_numpy_2_does(recorded: Recorded) -> None:
    with pytest.raises(OverflowError, match="300 out of bounds for uint8"):
        recorded("import numpy as np\nnp.array([1], np.uint8) + 300")


PROGRAMS = {
    "names": """
        x = 3
        class Base:
            def who(self): return "base", sorted(locals())
        class Own(Base):
            y = x + 1
            def who(self):
                return super().who(), self.__class__.__name__
        def outer():
            n = 0
            def inner():
                nonlocal n
                n += 2
                return n
            global x
            x += inner() * 2
            return inner(), n, x
        print(Own().who(), Own.y, outer(), sorted(k for k in globals() if not k.startswith("__")))
        """,
    "chains": """
        def f(x):
            print("asked", x)
            return x
        print(f(1) < f(2) < f(3), f(3) < f(2) < f(1), f(1) == f(1) != f(2) > f(0))
        print(1 in [1] == [1], not f(1) <= f(2) is None)
        """,
    "forms": """
        import sys
        xs = [1, 2, 3]
        def f(*args, k=2 * 3, **rest): return args, k, rest
        print(f(*xs, *iter(xs), k=(y := 4) + y, **{"z": -y}), f"{y + 1!r:>{y * 2}}")
        print("%d" % 3, "a" + "b")
        match xs:
            case [a, *b] if a + 1 == 2: print(a, b)
        def g():
            got = 1 + (yield 2 * 3)
            print("got", got)
            yield from (i * i for i in xs if i % 2)
        it = g()
        print(next(it), it.send(5), list(it))
        d = {"n": [1]}
        d["n"][0] += 5
        d["n"] += [7]
        xs[:2] += "ab"
        xs[1:], z = [9 - 1], ~5
        print(d, xs, z, (lambda q=1 + 1: q ** 2)(), [i + j for i in xs if i == 8 for j in (1, 2)])
        async def h(): return 1 + await k()
        async def k(): return 2
        import asyncio
        print(asyncio.run(h()), sys._getframe().f_code.co_name)
        """,
    "arrays": """
        import numpy as np
        x = np.arange(6.0).reshape(2, 3)
        x[0] += 1
        x[x > 3] *= np.float32(2)
        x.T[0, ...] -= 1
        y = x @ x.T; y.real += 1
        print(x, y, type(x.sum()), x[1:, ::2].shape, np.r_[x[0], 1] | np.r_[0:4] == 0
              if False else abs(-x), divmod(x, 2), round(np.float32(2.5)), -np.int8(-12))
        class Mine(np.ndarray): pass
        print(type(x.view(Mine) + 1).__name__, 1 <= x[0, 1] <= 3)
        np.resize(x, 3); z = np.zeros(2); z.resize(3); print(z)
        """,
    "errors": """
        import traceback, warnings
        import numpy as np
        def f(x):
            return (x +
                    np.array([1, 2, 3])) * 2
        def g(d): d["a"]["b"] += 1
        class C:
            def m(self, *a): return self
        def h():
            (C()
              .m(1)
              .m(2)
              .n())
        for call in (lambda: f(np.zeros(2)), lambda: g({}), h, lambda: C().m(**1), lambda: 1 + "a",
                     lambda: int("x" * 2), lambda: f(*3), lambda: np.zeros(2)[5],
                     lambda: undefined + 1, lambda: np.zeros(2).reshape(5),
                     lambda: bool(0 < np.zeros(2) < 1)):
            try: call()
            except Exception: print(traceback.format_exc())
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            np.float32(1) / np.float32(0)
            np.array([1.0]) / 0
        print([(w.filename, w.lineno, str(w.message)) for w in caught])
        """,
    "places": """
        import traceback
        import numpy as np
        a = np.arange(3)
        def f(x):
            return [i for i in a
                      if i != a]
        def g(x):
            assert not (x == a and x), x
        def h(x):
            x += (0.5 +
                  a)
        def k(x):
            while (x <
                   a < 5): pass
        for call in (f, g, h, k):
            try: call(a)
            except Exception: print(traceback.format_exc())
        try: a.T[:1] += undefined
        except NameError: a.resize(2)
        print(a)
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_prints_what_it_prints_anyway(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "program.py"
    source = textwrap.dedent(PROGRAMS[name])
    script.write_text(source)
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    output = io.StringIO()
    with contextlib.redirect_stdout(output):
        exec(compile(source, str(script), "exec"), {"__name__": "__main__"})
    told = io.StringIO()
    with contextlib.redirect_stdout(told):
        recorded_run(str(script), recorder())
    assert told.getvalue() == output.getvalue()
    assert output.getvalue()


def test_an_error_of_the_program_is_the_programs(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("def f(x):\n    return 1 / x + f(x - 1)\n\nf(2)\n")
    with pytest.raises(ZeroDivisionError) as caught:
        recorded_run(str(script), recorder())
    frames = traceback.extract_tb(caught.value.__traceback__)
    own = [(frame.lineno, frame.name) for frame in frames if frame.filename == str(script)]
    assert own == [(4, "<module>"), (2, "f"), (2, "f"), (2, "f")]
    assert frames[-1].filename == str(script)
    assert sys.modules["__main__"].__dict__.get("__file__") != str(script)


def test_a_deep_expression_runs_as_it_is(recorded: Recorded) -> None:
    _, output = recorded(f"x = 1\nprint({' + '.join(['x'] * 900)})\n")
    assert output == "900\n"


def test_modules_of_the_program_are_recorded_and_libraries_are_not(
    tmp_path: Path, recorded: Recorded
) -> None:
    (tmp_path / "beside.py").write_text(
        '"""Says.\n\n>>> int(twice(2))\n4\n"""\nimport numpy as np\n\ndef twice(x):\n'
        "    return x * np.float32(2)\n"
    )
    report, output = recorded(
        """
        import doctest, inspect
        import numpy as np
        import beside
        beside.twice(np.float16(1))
        beside.twice(np.zeros(2, np.float16))
        print(doctest.testmod(beside), inspect.getsource(beside.twice))
        """
    )
    assert "TestResults(failed=0, attempted=1)" in output
    assert "return x * np.float32(2)" in output
    found = {d.operands: str(d.answers["numpy@1"]) for d in report.divergences}
    assert found == {("float16", "float32[]"): "float16", ("Python int", "float32[]"): "float64"}
    assert {Path(d.site.file).name for d in report.divergences} == {"beside.py"}
    assert not (tmp_path / "__pycache__").exists()
    del sys.modules["beside"]


def test_a_file_that_runpy_runs_is_recorded_as_the_main_of_a_spawned_process_is(
    tmp_path: Path,
    recorded: Recorded,
) -> None:
    other = tmp_path / "other.py"
    other.write_text("import numpy as np\nscaled = np.ones(2, np.float32) * np.float64(0.5)\n")
    plain = vars(runpy)["_get_code_from_file"]
    report, output = recorded(f"""
        import runpy
        names = runpy.run_path({str(other)!r}, run_name="__mp_main__")
        print(names["scaled"].dtype, names["__name__"])
        """)
    assert output == "float64 __mp_main__\n"
    assert answers(report) == {"np.ones(2, np.float32) * np.float64(0.5)": "float32"}
    assert vars(runpy)["_get_code_from_file"] is plain


@pytest.mark.xdist_group("blocks")
def test_a_block_records_what_it_imports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "imported_here.py").write_text(
        "import numpy as np\ndef work():\n    return np.zeros(2, np.float32) + np.float64(1)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    with pa.record("numpy", "numpy@1") as report:
        import imported_here  # type: ignore[import-not-found]

        imported_here.work()
    assert list(answers(report).values()) == ["float32"]
    before = report.operations
    imported_here.work()  # which records no more
    assert report.operations == before
    assert hook().session is None
    with pa.record("numpy", "numpy@1") as report:
        imported_here.work()
        np.zeros(2, np.float32) * np.float64(2)
    assert list(answers(report).values()) == ["float32", "float32"]
    del sys.modules["imported_here"]


def test_a_loop_of_small_operations_keeps_nothing(recorded: Recorded) -> None:
    held = len(hook())
    report, _ = recorded("""
        import numpy as np
        x = np.zeros(3, np.float32)
        for i in range(500):
            try:
                x + np.zeros(i)
            except ValueError:
                pass
            x = x * np.float64(1.0) + i
            x = x.astype(np.float32)
            assert (0 <= i < 1000) and not (0 < i < -1 < i)
        """)
    assert report.operations > 1000
    assert len(hook()) == held


def test_calls_that_are_alike_are_told_as_often_as_they_are_made(recorded: Recorded) -> None:
    report, _ = recorded(
        """
        import numpy as np
        x, y, z = np.ones(3, np.float32), np.ones(3, np.float64), np.ones(3, np.float32)
        for i in range(20):
            np.add(z, z, out=z)
            z = z + np.float64(1.5)
            z = z.astype(np.float32)
            w = np.concatenate([x, y])[1:].sum(axis=0)
            np.add(x, y, out=x, casting="unsafe")
            np.add(x, y, out=z, casting="unsafe")
            x[0] = w
        """,
        "numpy@1",
        "tensorflow",
    )
    found: Counter[tuple[str, Form]] = Counter()
    for d in report.divergences:
        found[d.site.expression, d.form] += d.count
    assert found["z + np.float64(1.5)", Form.OPERATOR] == 20
    assert found["np.concatenate([x, y])", Form.FUNCTION] == 20  # the edits of `add` keep x float32
    assert found["np.add(x, y, out=x, casting='unsafe')", Form.INPLACE] == 20
    assert not any("out=z" in text for text, _ in found)  # an array that is named, and filled
    assert report.calls[OPERATION, "add"] == 60
    assert report.calls[OPERATION, "sum"] == report.calls[OPERATION, "concatenate"] == 20
    assert report.calls[CAST, "astype"] == 40  # np.float64(1.5) is one, too
    assert report.calls[MAKE, "add"] == 20


BESIDE_INT8 = "1", "2", "100", "200", "1000", "np.int8(1)", "np.int16(1000)", "True", "1.5", "1e300"


def test_a_call_is_like_others_by_all_that_policies_look_at(recorded: Recorded) -> None:
    def told(values: Sequence[str], times: int) -> Counter[tuple[str, ...]]:
        source = f"""
        import numpy as np
        x = np.ones(3, np.int8)
        for times in range({times}):
            for y in ({", ".join(values)},):
                np.add(x, np.asarray(y))
                x * np.asarray(y)
        """
        found: Counter[tuple[str, ...]] = Counter()
        for d in recorded(source, "numpy@1")[0].divergences:
            found[d.name, *d.operands, str(d.answers["numpy@1"])] += d.count
        return found

    alone: Counter[tuple[str, ...]] = Counter()
    for value in BESIDE_INT8:
        alone += told([value], 1)
    several = told(BESIDE_INT8, 3)
    assert several == Counter({kind: 3 * count for kind, count in alone.items()})
    assert {kind[-1] for kind in several} == {"int8", "int16"}


def test_positions_are_those_of_the_source() -> None:
    source = "value = alpha + beta\nother = value.T @ (alpha -\n    beta)\nalpha += beta\n"
    plain, code = compile(source, "a.py", "exec"), rewritten(source, "a.py")

    def positions(code: Any, opname: str) -> list[Any]:
        import dis

        found = (i.positions for i in dis.get_instructions(code) if i.opname.startswith(opname))
        return list(dict.fromkeys(found))

    operators, calls = positions(plain, "BINARY_OP"), positions(code, "CALL")
    assert [each for each in calls if each in operators] == operators  # the hook stands there


def test_python_warns_of_what_it_compiles_once() -> None:
    source = "x = 1.5[0]\ny = '\\d' is 'd'\n"
    told = []
    for compiled in (lambda: compile(source, "a.py", "exec"), lambda: rewritten(source, "a.py")):
        filters = warnings.filters[:]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            compiled()
        told.append([(w.category, str(w.message), w.lineno) for w in caught])
        assert warnings.filters == filters
    assert told[0] == told[1]
    assert len(told[0]) == 3


@pytest.mark.parametrize("exponent", ["2", "2.0", "np.uint64(2)", "np.array(2, np.uint8)"])
@pytest.mark.parametrize("base", ["np.bool_(1)", "np.int8(3)", "np.float32(3)"])
def test_a_power_of_a_scalar_is_no_square(base: str, exponent: str) -> None:
    # What NumPy 1.26.4 answers.
    right = {
        "np.bool_(1)": ["int64", "float64", "uint64", "uint8"],
        "np.int8(3)": ["int64", "float64", "float64", "int16"],
        "np.float32(3)": ["float64", "float64", "float64", "float32"],
    }[base][["2", "2.0", "np.uint64(2)", "np.array(2, np.uint8)"].index(exponent)]
    asked = [f"r = {base} ** {exponent}", f"r = pow({base}, {exponent})"]
    found = [numpy1_values.dtype_of(answer) for answer, _ in numpy1_values.carried(asked)]
    assert found == [right] * 2


def test_the_square_of_bools_is_no_other_power(recorded: Recorded) -> None:
    report, _ = recorded(
        """
        import numpy as np
        b = np.array([True, False])
        b ** 2, b ** 3, b ** 2, b[0] ** 2, pow(b, 2), pow(b[0], 2), np.power(b, 2), b ** True
        np.array(True) ** 2, np.array(True) ** 2.0
        """
    )
    assert not report.drift


def test_a_program_that_is_none_says_so_as_python_does() -> None:
    with pytest.raises(SyntaxError, match="invalid syntax"):
        rewritten("a +* b", "a.py")


def test_every_name_means_an_operation_and_none_means_two() -> None:
    for name, expansion in calls.expansions().items():
        assert name not in calls.operations(), name
        for number, step in enumerate(expansion.steps):
            assert step.operation in OPERATIONS, name
            assert set(step.operands) <= {*expansion.parameters, "_"}, name
            assert number or "_" not in step.operands, name
            assert len(step.operands) == OPERATIONS[step.operation].arity, (name, step)
    assert set(calls.operations().values()) <= {*OPERATIONS, *STANDS_FOR}
    groups = [calls.MOVES, calls.MAKES, calls.operations(), calls.expansions()]
    for number, names in enumerate(groups):
        for others in groups[number + 1 :]:
            assert not set(names) & set(others)


def test_what_is_drawn_has_the_default_dtype_of_each_framework(recorded: Recorded) -> None:
    report, _ = recorded(
        """
        import numpy as np
        rng = np.random.default_rng(0)
        a = np.random.randn(2, 3)
        b = rng.standard_normal((2, 3), dtype=np.float32)
        c = rng.random(3, np.float32)
        d = np.random.randint(0, 5, (300, 600))
        e = rng.permutation(a) * b
        np.random.seed(0)
        f = np.random.uniform()
        """,
        "torch@2.13",
        "jax@x32",
    )
    roots = {d.site.expression: d for d in report.divergences if d.root}
    assert {name: str(d.answers["torch@2.13"]) for name, d in roots.items()} == {
        "np.random.randn(2, 3)": "float32",
        "np.random.randint(0, 5, (300, 600))": "int64",
    }
    assert str(roots["np.random.randint(0, 5, (300, 600))"].answers["jax@x32"]) == "int32"
    (inherited,) = (d for d in report.divergences if not d.root)
    assert inherited.site.expression == "rng.permutation(a) * b"
    assert report.understood == 1


def test_what_is_made_of_numbers_alone_has_the_default_dtype(recorded: Recorded) -> None:
    report, _ = recorded(
        """
        import numpy as np
        a = np.linspace(-4, 4, 100)
        b = np.logspace(start=0, stop=1, num=3)
        c = np.geomspace(1, 10, 4)
        d, step = np.linspace(0, 1, 3, retstep=True)
        e = np.linspace(0, 1j, 3)
        f, g, h = np.eye(3), np.identity(3), np.tri(3)
        i = np.hanning(5)
        j = np.fft.fftfreq(8)
        k = np.array([True])
        small = np.float32(1)
        l = np.linspace(small, 2, 3), np.linspace(a, 1, 3)  # by the dtypes of what is given
        m = np.linspace(0, 1, 3, True, False, np.float32), np.geomspace(1, 2, 3, True, np.float32)
        n = np.eye(3, 3, 0, np.float32), np.identity(3, np.float32), np.tri(3, dtype=np.float32)
        o = np.linspace(0, 1, 3).astype(np.float32), np.eye(3).astype(np.int64)
        """,
        "torch@2.13",
    )
    made = [d for d in report.divergences if d.name == "default dtype"]
    assert {d.site.expression: str(d.answers["torch@2.13"]) for d in made} == {
        "np.linspace(-4, 4, 100)": "float32",
        "np.logspace(start=0, stop=1, num=3)": "float32",
        "np.geomspace(1, 10, 4)": "float32",
        "np.linspace(0, 1, 3, retstep=True)": "float32",
        "np.linspace(0, 1j, 3)": "complex64",
        "np.eye(3)": "float32",
        "np.identity(3)": "float32",
        "np.tri(3)": "float32",
        "np.hanning(5)": "float32",
        "np.fft.fftfreq(8)": "float32",
    }


def test_values_that_a_policy_without_64_bits_loses(recorded: Recorded) -> None:
    """JAX 0.10.2 without x64 gives these (asked)."""
    report, _ = recorded(
        """
        import numpy as np
        x = np.array([100_000, 100_000, 100_000], np.int32)
        total = np.cumprod(x)
        for power in (2, 4):
            w = 256 ** np.arange(1, 1 + power)
        t = np.array([1748229505.25, 1748229506.5])
        fits = np.linspace(0, 1, 5), np.array([1, 2]), np.zeros(3), x // 3
        ids = np.array([2**40 + 1, 5], dtype=np.int64)
        """,
        "jax@x32",
    )
    found = {
        c.place.site.expression: [(d.elements, d.example.other) for d in c.differences.values()]
        for c in report.value_changes
    }
    assert found == {
        "np.cumprod(x)": [(2, "-1530494976")],
        "256 ** np.arange(1, 1 + power)": [(1, "0")],
        "np.array([1748229505.25, 1748229506.5])": [(2, "1748229504.0")],
        "np.array([2 ** 40 + 1, 5], dtype=np.int64)": [(1, "1")],
    }


def test_what_is_read_and_what_lists_and_grids_make_has_the_default_dtype(
    recorded: Recorded,
) -> None:
    report, _ = recorded(
        """
        import io
        import numpy as np
        a = np.loadtxt(io.StringIO("1 2"))
        b = np.genfromtxt(io.StringIO("1 2"))
        c = np.diag([1, 2])
        d = np.vander([1.5, 2.0])
        e = np.mgrid[0:3, 0:2]
        f = np.ogrid[0:3]
        g, h = np.ogrid[0:1:5j, 0:2]
        given = np.arange(3, dtype=np.int8)
        i = np.diag(given), np.vander(given), np.fromiter(given, np.int64)
        j = np.loadtxt(io.StringIO("1 2"), np.float32), np.loadtxt(io.StringIO("1"), dtype=int)
        k = np.genfromtxt(io.StringIO("1 2"), dtype=None)
        """,
        "tensorflow",
    )
    made = [d for d in report.divergences if d.name == "default dtype"]
    edits = {}
    for d in made:
        fix, written = d.answers["tensorflow"].fix, d.site.expression
        edits[written] = fix.text if fix else ""
    assert edits == {
        "np.loadtxt(io.StringIO('1 2'))": 'np.loadtxt(io.StringIO("1 2"), dtype=np.float64)',
        "np.genfromtxt(io.StringIO('1 2'))": 'np.genfromtxt(io.StringIO("1 2"), dtype=np.float64)',
        "np.diag([1, 2])": "np.diag([1, 2]).astype(np.int64)",
        "np.vander([1.5, 2.0])": "np.vander([1.5, 2.0]).astype(np.float64)",
        "np.mgrid[0:3, 0:2]": "np.mgrid[0:3, 0:2].astype(np.int64)",
        "np.ogrid[0:3]": "np.ogrid[0:3].astype(np.int64)",
        "np.ogrid[0:1:5j, 0:2]": "",  # several arrays
    }


def test_what_stands_for_one_operation_has_its_edit(recorded: Recorded) -> None:
    report, _ = recorded(
        """
        import numpy as np
        x = np.array([3, 1, 2], dtype=np.int16)
        a = np.percentile(x, [25, 50])
        b = np.median(x)
        c = np.convolve(x, x / 2)
        d = np.average(x)
        """,
        "torch@2.13",
    )
    edits = {}
    for d in report.roots:
        fix = d.answers["torch@2.13"].fix
        edits[d.site.expression] = fix and fix.text
    assert edits == {
        "np.percentile(x, [25, 50])": "np.percentile(x.astype(np.float64), [25, 50])",
        "np.median(x)": "np.median(x.astype(np.float64))",
        "np.average(x)": "np.average(x.astype(np.float64))",
        "x / 2": "x.astype(np.float64) / 2",
    }


def test_what_r_and_c_join_has_the_default_dtype_or_is_promoted(recorded: Recorded) -> None:
    report, printed = recorded(
        """
        import numpy as np
        from numpy import c_
        a = np.r_[1:4, 0.5]
        b = np.r_[1:4]
        c = c_[[1, 2], [3, 4]]
        given = np.ones(3, dtype=np.float32)
        d = np.r_[0, given, 1]
        e = np.c_[given, given]
        f = np.r_["0,2", given, np.arange(3, dtype=np.int32)]
        g = np.r_[b, b[0]:b[2]]
        print(b, g, *(x.shape for x in (c, d, e, f, b[1:2], given[None, :])))
        """,
        "tensorflow",
    )
    edits = {}
    for d in report.divergences:
        answer, written = d.answers["tensorflow"], d.site.expression
        edits[written] = answer.fix.text if answer.fix else ""
    assert edits == {
        "np.r_[1:4, 0.5]": "np.r_[1:4, 0.5].astype(np.float64)",
        "np.r_[1:4]": "np.r_[1:4].astype(np.int64)",
        "c_[[1, 2], [3, 4]]": "c_[[1, 2], [3, 4]].astype(np.int64)",
        "np.r_['0,2', given, np.arange(3, dtype=np.int32)]": "",
    }
    assert printed == "[1 2 3] [1 2 3 1 2] (2, 2) (5,) (3, 2) (2, 3) (1,) (1, 3)\n"


@pytest.mark.parametrize(
    ("made", "edit"),
    [
        ("np.linspace(-4, 4, 100)", "np.linspace(-4, 4, 100, dtype=np.float64)"),
        ("np.eye(3)", "np.eye(3, dtype=np.float64)"),
        ("np.hanning(5)", "np.hanning(5).astype(np.float64)"),
    ],
)
def test_a_default_dtype_is_named_where_the_function_takes_one(
    recorded: Recorded, made: str, edit: str
) -> None:
    report, _ = recorded(f"import numpy as np\n{made}\n", "tensorflow")
    (place,) = report.divergences
    fix = place.answers["tensorflow"].fix
    assert fix is not None
    assert fix.text == edit


def test_a_default_dtype_that_is_cast_at_once_is_no_finding(recorded: Recorded) -> None:
    report, _ = recorded(
        """
        import numpy as np
        for dtype in (np.float32, np.float64):
            a = np.zeros(3).astype(np.float32)
            b = np.random.rand(3).astype(np.float64)
            c = np.array([0.1, 2]).astype("float32")
            d = np.arange(3).astype(dtype=np.float64)
            e = np.array([0.1, 2]).astype(np.float64)  # of which 0.1 may have been rounded
            f = np.array([0.1, 2]).astype(dtype)
            g = np.zeros(3)
            h, i = np.zeros(3).astype(int), np.zeros(3).astype(float)
        """,
        "torch@2.13",
        "jax@x32",
    )
    found = [(d.site.line, d.count) for d in report.divergences if d.name == "default dtype"]
    assert sorted(found) == [(8, 2), (9, 2), (10, 2)]


def test_numpy_1_on_windows_makes_int32_of_python_ints(recorded: Recorded) -> None:
    report, _ = recorded(
        """
        import numpy as np
        y = np.array([1771503418, 481833961])
        total = y[1:] + y[:-1]
        counts = np.zeros(3, dtype=int)
        whole = np.ones(2).astype("int")
        ends = np.arange(5).sum(), (y > 0).sum(), np.argmax(y)
        """,
        "numpy@1-windows",
        "numpy@1",
    )
    found = {(d.site.line, d.name, d.answers["numpy@1-windows"].dtype) for d in report.divergences}
    assert found == {
        (3, "default dtype", pa.int32),
        (4, "add", pa.int32),
        (7, "default dtype", pa.int32),
        (7, "sum", pa.int32),
    }
    assert all(d.answers["numpy@1"].dtype is pa.int64 for d in report.divergences)
    left = {(each.what, each.program.line, each.policies) for each in report.unexamined}
    assert {(what, line) for what, line, _ in left} >= {("zeros", 5), ("astype", 6)}
    assert {policies for *_, policies in left} == {("numpy@1-windows",)}


def test_eigenvalues_that_are_real_are_so_under_the_policies_of_numpy_alone(
    recorded: Recorded,
) -> None:
    report, _ = recorded(
        """
        import numpy as np
        values, vectors = np.linalg.eig(np.array([[2.0, 1.0], [1.0, 2.0]]))
        turned, _ = np.linalg.eig(np.array([[0.0, 1.0], [-1.0, 0.0]]))
        alone = np.linalg.eigvals(np.array([[2.0, 1.0], [1.0, 2.0]]))
        """,
        "numpy@1",
        "numpy@2",
        "numpy@2.5",
        "jax@x64",
    )
    assert not report.drift
    found = {(d.site.line, d.name): d for d in report.divergences}
    assert {*found} == {(3, "eig"), (5, "eigvals")}
    for place in found.values():
        assert str(place.answers["numpy@1"]) == str(place.answers["numpy@2"]) == "float64"
        assert str(place.answers["numpy@2.5"]) == str(place.answers["jax@x64"]) == "complex128"
    assert found[3, "eig"].answers["jax@x64"].fix is None  # no cast is one of both results


def test_eigenvalues_are_looked_at_in_each_pass(recorded: Recorded) -> None:
    report, _ = recorded(
        """
        import numpy as np
        for turn in (1.0, 1.0, 1.0, 0.0, 0.0, 1.0):
            np.linalg.eigvals(np.array([[2.0, turn], [-turn, 2.0]]))
        """,
        "numpy@2",
        "numpy@2.5",
    )
    assert not report.drift
    assert [(d.site.line, d.name, d.count) for d in report.divergences] == [(4, "eigvals", 2)]


@pytest.mark.parametrize("policies", [("torch@2.13",), ("numpy@1", "jax@x32")])
def test_calls_that_are_alike_tell_what_each_would_have_told(
    recorded: Recorded, monkeypatch: pytest.MonkeyPatch, policies: tuple[str, ...]
) -> None:
    source = """
        import numpy as np
        x = np.ones(3, dtype=np.int8)
        y = np.ones(3, dtype=np.float32)
        for n in range(6):
            a = x / 2
            b = a * y
            if n % 2:
                b += a
                c = x / 2
                x[0] = n
            d = np.split(a, 3)[1] + y
            e = a.copy()
            e[0] = n
            f = e - y[n % 3] * n + np.float64(n)
            g, h = np.linalg.qr(np.outer(a, y))
            k = np.zeros(2) + n / 2
            m = np.maximum(a, y, out=e) + g[0]
            print(b.dtype, f.sum(), m)
        """
    quick, printed = recorded(source, *policies)
    monkeypatch.setattr(Known, "of", lambda *given, **options: None)
    slow, again = recorded(source, *policies)
    assert printed == again
    assert quick.divergences
    assert quick.to_dict() == slow.to_dict()


def test_products_by_einsum_and_parts_of_ufuncs_are_understood(recorded: Recorded) -> None:
    report, _ = recorded(
        """
        import numpy as np
        x = np.ones((2, 2), dtype=np.float64)
        half = x.astype(np.float32)
        a = np.einsum("ij,jk", x, half)
        b = np.einsum("ii", x)
        c = np.einsum(",i", 2.5, x[0])
        d = np.add.reduceat(half[0], [0, 1])
        e = np.sum(range(3))
        """,
        "torch@2.13",
    )
    assert report.understood == 1, list(report.recorded())
    assert not list(report.drifted())
    found = {d.site.expression: str(d.answers["torch@2.13"]) for d in report.roots}
    assert found["np.einsum('ij,jk', x, half)"] == "refuses"


def test_functions_that_turn_complex_are_not_those_of_their_names(recorded: Recorded) -> None:
    report, _ = recorded(
        """
        import numpy as np
        a = np.emath.sqrt(-1)
        b = np.emath.log(np.asarray([-1.0]))
        """
    )
    assert not report.divergences
    assert not list(report.drifted())


def in_numpy(place: Divergence) -> str:
    """The edit of a place for PyTorch, in NumPy's words."""
    fix = place.answers["torch@2.13"].fix
    assert fix is not None
    return str(fix.text)


def test_an_operand_that_is_a_number_in_other_passes_is_not_cast_by_its_method(
    recorded: Recorded,
) -> None:
    report, _ = recorded(
        """
        import numpy as np
        def share(x, n):
            return x / n
        a = np.asarray([1, 2, 3], dtype=np.int16)
        made = [share(2, a), share(a, 2), share(a, a)]
        """,
        "torch@2.13",
    )
    places = [d for d in report.divergences if d.site.expression == "x / n"]
    written = [in_numpy(d) for d in places]
    assert len(written) == 3
    for given in (
        (2, np.ones(2, np.int16)),
        (np.ones(2, np.int16), 2),
        (np.ones(2, np.int16),) * 2,
    ):
        for edit in written:
            assert eval(edit, {"np": np, "x": given[0], "n": given[1]}).dtype == "float64"


def test_functions_that_are_told_as_others_claim_what_their_own_give(recorded: Recorded) -> None:
    """As the frameworks were asked: torch.cov of int64 is float32, float_power float64."""
    report, _ = recorded(
        """
        import numpy as np
        x = np.asarray([[1, 2, 4], [3, 5, 9]])
        narrow = x.astype(np.float32)
        made = np.cov(x), np.cov(narrow), np.interp([0.5], [0, 1], [3.0, 5.0])
        powers = np.float_power(x, 2), np.float_power(narrow, x), np.ldexp(narrow, 3)
        """,
        "torch@2.13",
        "numpy@1",
    )
    found = {d.site.expression: d for d in report.divergences if d.name != "default dtype"}
    assert [*found] == ["np.cov(x)"]
    (cov,) = found.values()
    assert str(cov.answers["torch@2.13"]) == "float32"
    assert in_numpy(cov) == "np.cov(x.astype(np.float64))"


def test_what_numpy_warns_of_in_the_past_names_the_programs_line(recorded: Recorded) -> None:
    source = """
    import numpy as np
    np.sqrt(np.float64(-1))
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        recorded(source, "numpy@1", past=True)
    assert [(Path(w.filename).name, w.lineno) for w in caught] == [("program.py", 3)]


def test_classes_of_the_program_are_let_go_of_and_need_no_module(recorded: Recorded) -> None:
    report, output = recorded(
        """
        import gc, weakref
        import numpy as np
        alive = []
        for n in range(1000):
            made = type("C", (), {"__add__": lambda s, x: np.float32(x)})
            x = object.__new__(made) + n
            alive.append(weakref.ref(made))
        del made
        gc.collect()
        print(sum(each() is not None for each in alive) < 500, x.dtype)
        names = {}
        exec("class C: pass", names)
        print(type(names["C"]()).__name__)
        """
    )
    assert output == "True float32\nC\n"
    assert not report.unexamined


def test_an_array_is_resized_after_a_chain_of_its_views_that_failed(recorded: Recorded) -> None:
    _, output = recorded("""
        import numpy as np
        x = np.arange(4)
        try:
            0 < x[1:] < 2 < 9
        except ValueError:
            pass
        x.resize(2)
        print(x)
        """)
    assert output == "[0 1]\n"


def test_an_index_into_a_number_is_the_error_that_it_is(recorded: Recorded) -> None:
    _, output = recorded("""
        import numpy as np
        try:
            for x in np.arange(3, dtype=np.int8):
                x[0]
        except IndexError as error:
            print(error)
        """)
    assert output == "invalid index to scalar variable.\n"


def test_a_text_that_is_run_with_builtins_of_its_own_is_named_and_runs(recorded: Recorded) -> None:
    report, output = recorded("""
        import numpy as np
        print(eval("x + 2", {"__builtins__": {}, "x": np.float32(1)}))
        exec("y = x[0] + 1; print(y)", {"__builtins__": {"print": print}, "x": np.arange(3)})
        print(eval("x * 2", {"x": np.int8(5)}))
        """)
    assert output == "3.0\n1\n10\n"
    assert [each.what for each in report.unexamined] == ["eval of a text", "exec of a text"]


@pytest.mark.xdist_group("blocks")
def test_an_output_by_position_is_what_is_written_into() -> None:
    wide, narrow = np.ones(3), np.ones(3, np.float32)
    with pa.record("numpy", "torch") as report:
        np.multiply(narrow, wide, narrow, casting="unsafe")
        np.add(narrow, 1, narrow)
    assert not report.drift
    assert report.understood == 1
