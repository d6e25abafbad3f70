"""``--pa-fail-on``: what a test computes that it must not."""

from __future__ import annotations

from typing import Any

import numpy.ma  # noqa: F401
import pytest

import promoarray.testing.plugin.running  # noqa: F401

# pytester forgets what a run imports first; of these modules there must be one each.

LIB = """
import numpy as np

def mean(x):
    return x.__array_namespace__().sum(x) / x.shape[0]

def plain_mean(x):
    return np.asarray(x).mean()

def narrow(x):
    xp = x.__array_namespace__()
    return xp.astype(x, xp.float8_e4m3fn)

def mixed(x, y):
    return x + y
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run pytest on a test file, here; what is in ``lib`` stands for what is tested."""
    monkeypatch.setenv("COLUMNS", "100")

    def ran(source: str, *options: str) -> pytest.RunResult:
        pytester.makepyfile(lib=LIB)
        head = "import numpy as np\nimport pytest\nimport promoarray as pa\nimport lib\n"
        pytester.makepyfile(head + source)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", *options)

    return ran


def told(result: pytest.RunResult, test: str) -> list[str]:
    """What is told of a test that failed."""
    out = result.outlines
    first = next(n for n, line in enumerate(out) if line.strip("_ ") == test)
    after = out[first + 1 :]
    return after[: next(n for n, line in enumerate(after) if line[:2] in ("__", "=="))]


def test_a_cast_to_float64_that_nobody_wrote(run: Any) -> None:
    source = """
def test_mean(xp): lib.mean(xp.asarray([1, 2], dtype=xp.int32))

def test_mixed(xp): lib.mixed(xp.ones(2, dtype=xp.float64), xp.ones(2, dtype=xp.float32))

def test_complex(xp): lib.mixed(xp.ones(2, dtype=xp.complex64), xp.ones(2, dtype=xp.float64))

@pytest.mark.pa_policy("numpy")
def test_both(xp): xp.ones((2, 2), dtype=xp.int32) @ xp.ones(2, dtype=xp.float32)

def test_assigned(xp):
    xp.ones(2, dtype=xp.float64)[:] = xp.ones(2, dtype=xp.float32)
"""
    result = run(source, "--pa-policies=numpy,torch", "--pa-fail-on=float64")
    result.assert_outcomes(failed=8, passed=1)
    assert told(result, "test_mean[numpy@2]") == [
        "lib.py:4: x.__array_namespace__().sum(x) / x.shape[0]: "
        "int64 becomes float64 (divide under numpy@2)",
        "(--pa-fail-on float64: a cast to float64 or complex128 that nobody wrote)",
    ]
    said = told(result, "test_mixed[torch@2.13]")[0]
    assert said == "lib.py:14: x + y: float32 becomes float64 (add under torch@2.13)"
    said = told(result, "test_both[numpy@2]")[0]
    assert said.endswith(": int32 and float32 become float64 (matmul under numpy@2)")
    assert "complex64 becomes complex128" in told(result, "test_complex[torch@2.13]")[0]
    said = told(result, "test_assigned[numpy@2]")[0]
    assert said.endswith(": float32 becomes float64 (assignment under numpy@2)")
    result.stdout.fnmatch_lines(["*::test_mean *float64 *ok", "FAILED *lib.py:4: *"])


def test_what_is_written_is_no_implicit_cast(run: Any) -> None:
    source = """
def test_it(xp):
    x = xp.asarray([1.0, 2.0], dtype=xp.float32)
    x * 2.5 + xp.mean(x) + xp.var(x) + x.std() + xp.sum(x) + xp.linalg.vector_norm(x)
    y = xp.astype(x, xp.float64)
    y * 2 + xp.sum(y) + xp.ones(2, dtype=xp.float64)
    xp.sum(x, dtype=xp.float64)
    xp.where(y > 1, y, 0.0)
    y[:] = 3
"""
    run(source, "--pa-policies=numpy,torch", "--pa-fail-on=float64").assert_outcomes(passed=2)


def test_an_array_that_leaves_the_policy(run: Any) -> None:
    source = """
def test_left(xp):
    lib.plain_mean(xp.asarray([1.0, 2.0], dtype=xp.float32))

def test_kept(xp):
    lib.mean(xp.asarray([1.0, 2.0]))
"""
    result = run(source, "--pa-policies=torch", "--pa-fail-on", "escape")
    result.assert_outcomes(failed=1, passed=1)
    said = told(result, "test_left[torch@2.13]")[0]
    assert said == (
        "lib.py:7: np.asarray(x): float32 array by __array__: leaves the policy: taken by the "
        "program itself."
    )


def test_what_an_assertion_takes_does_not_count(run: Any) -> None:
    source = """
import unittest

def xp_assert_close(x, y):
    y = np.asarray(y)
    assert (np.asarray(x) == y).all()

def test_it(xp):
    x = xp.asarray([1.0, 2.0])
    np.testing.assert_allclose(
        np.asarray(x), [1, 2]
    )
    np.testing.assert_array_equal(x, [1, 2])
    pa.testing.assert_allclose(x, [1, 2])
    assert x.tolist() == [1, 2]
    assert np.asarray(x).shape == (2,)
    assert pytest.approx(x) == [1, 2]
    unittest.TestCase().assertEqual(x.tolist(), [1, 2])
    xp_assert_close(x, x)
    float(x[0]), x[0].item()

def test_but_what_it_calls_does(xp):
    assert lib.plain_mean(xp.asarray([1.0, 2.0])) == 1.5

def test_and_what_it_is_given_to_call(xp):
    with np.testing.assert_no_warnings():
        lib.plain_mean(xp.asarray([1.0, 2.0]))
    np.testing.assert_raises(ZeroDivisionError, lambda: 1 / 0 * lib.plain_mean(xp.ones(2)))

def test_assert_in_the_name(xp):
    x = np.asarray(xp.ones(2))

def test_of_a_library(xp):
    assert np.ma.asarray(xp.ones(2)).shape == (2,)
"""
    result = run(source, "--pa-policies=torch", "--pa-fail-on=escape")
    result.assert_outcomes(passed=1, failed=4)


def test_what_a_library_takes_is_told_at_the_line_of_the_program(run: Any) -> None:
    source = "def test_it(xp): np.ma.asarray(xp.asarray([1.0, 2.0, 4.0]))"
    result = run(source, "--pa-policies=numpy", "--pa-fail-on=escape")
    said = told(result, "test_it[numpy@2]")
    file = "test_what_a_library_takes_is_told_at_the_line_of_the_program.py"
    assert said[0].startswith(f"{file}:5: np.ma.asarray(xp.asarray([1.0, 2.0, 4.0])): float64 ")
    assert "array by __array__: leaves the policy: to numpy.ma." in said[0]
    assert said[1].startswith("    in ")
    assert "numpy/ma/core.py:" in said[1]


BITS = """
def test_it(xp): lib.narrow(xp.asarray([1.0, 500.0], dtype=xp.float32))
"""


def test_values_that_another_policy_casts_otherwise(run: Any) -> None:
    result = run(BITS, "--pa-policies=numpy,torch", "--pa-fail-on=bits")
    result.assert_outcomes(failed=2)
    assert told(result, "test_it[numpy@2]")[0] == (
        "lib.py:11: xp.astype(x, xp.float8_e4m3fn): float32 -> float8_e4m3fn: other values under "
        "torch@2.13: 1 of 2 elements; the first, 500.0 at [1], becomes 448.0 and not nan. "
        "Write xp.astype(xp.clip(x, -448, 448), xp.float8_e4m3fn) for torch@2.13."
    )
    run(BITS, "--pa-policies=torch,onnx", "--pa-fail-on=bits").assert_outcomes(passed=2)


def test_one_policy_alone_is_compared_with_those_of_compare(run: Any) -> None:
    result = run(BITS, "--pa-policies=torch", "--pa-fail-on=bits")
    result.assert_outcomes(failed=1)
    assert "other values under numpy@2" in told(result, "test_it[torch@2.13]")[0]


def test_what_another_policy_refuses_or_gives_another_dtype(run: Any) -> None:
    source = """
def test_it(xp): lib.mixed(xp.ones(2, dtype=xp.int64), xp.ones(2, dtype=xp.float32))
"""
    policies = "--pa-policies=torch,paddle@3.3,numpy"
    result = run(source, policies, "--pa-fail-on=refuse")
    said = told(result, "test_it[torch@2.13]")
    assert said[0].startswith("lib.py:14: x + y: int64 + float32: refused under paddle@3.3: ")
    assert said[0].endswith(" Write pa.astype(x, pa.float32) + y for paddle@3.3.")
    assert said[1] == "(--pa-fail-on refuse: the policy refuses the operation)"
    other = (
        "lib.py:14: x + y: int64 + float32: float64 under numpy@2; float32 in the run under "
        "torch@2.13. Write pa.astype(x, pa.float32) + y for numpy@2."
    )
    assert told(run(source, policies, "--pa-fail-on=dtype"), "test_it[torch@2.13]")[0] == other
    both = told(run(source, policies, "--pa-fail-on=root"), "test_it[torch@2.13]")
    assert [said[0], other] == sorted(both[:2], key=[said[0], other].index)


def test_a_test_may_ask_for_more_or_for_nothing(run: Any, pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npa_fail_on = escape")
    source = """
def test_checked(xp): lib.plain_mean(xp.ones(2))

@pytest.mark.pa_fail_on()
def test_not_checked(xp): lib.plain_mean(xp.ones(2))

@pytest.mark.pa_fail_on("float64", "escape")
def test_more(): pa.asarray([1]) / 2

@pytest.mark.pa_fail_on("bit")
def test_wrong(): pass
"""
    result = run(source, "--pa-policies=numpy")
    result.assert_outcomes(failed=2, passed=1, errors=1)
    result.stdout.fnmatch_lines(["*test_wrong: there is no 'bit'. Did you mean: bits?"])


def test_a_comment_ignores_what_it_names(run: Any) -> None:
    source = """
def test_all(xp): xp.asarray([1]) / 2  # promoarray: ignore

def test_policy(xp): xp.asarray([1]) / 2  # promoarray: ignore[numpy]

def test_kind(xp): np.asarray(xp.ones(2))  # promoarray: ignore[escape]

def test_another(xp): np.asarray(xp.ones(2))  # promoarray: ignore[bits]
"""
    result = run(source, "-v", "--pa-policies=numpy,jax", "--pa-fail-on=float64,escape")
    failed = [line.split("::")[1].split()[0] for line in result.outlines if "FAILED " in line[9:]]
    assert failed == ["test_policy[jax@x64]", "test_another[numpy@2]", "test_another[jax@x64]"]


def test_none_on_the_command_line_is_none(run: Any, pytester: pytest.Pytester) -> None:
    pytester.makeini("[pytest]\npa_fail_on = any")
    source = "def test_it(xp): lib.plain_mean(xp.asarray([1]) / 2)"
    run(source, "--pa-policies=numpy").assert_outcomes(failed=1)
    run(source, "--pa-policies=numpy", "--pa-fail-on=none").assert_outcomes(passed=1)


def test_of_a_test_that_fails_by_itself_it_is_told_besides(run: Any) -> None:
    source = """
def test_it(xp):
    lib.plain_mean(xp.ones(2))
    assert 0
"""
    result = run(source, "--pa-policies=torch", "--pa-fail-on=escape")
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["E*assert 0", "*Captured promoarray call*", "lib.py:7: *"])
    result.stdout.fnmatch_lines(["*::test_it  FAILED"])


def test_fixtures_and_other_tests_are_not_looked_at(run: Any) -> None:
    source = """
@pytest.fixture
def left(xp): return np.asarray(xp.ones(2))

def test_it(left): assert left.shape == (2,)

def test_none(): assert np.asarray([1]).mean() == 1
"""
    run(source, "--pa-policies=torch", "--pa-fail-on=escape").assert_outcomes(passed=2)


def test_threads_of_the_test_are(run: Any) -> None:
    source = """
from threading import Thread

def test_it(xp):
    thread = Thread(target=lib.plain_mean, args=(xp.ones(2),))
    thread.start()
    thread.join()
"""
    run(source, "--pa-policies=torch", "--pa-fail-on=escape").assert_outcomes(failed=1)


def test_a_test_that_is_expected_to_fail_and_a_test_case(run: Any) -> None:
    source = """
import unittest

@pytest.mark.xfail
def test_it(xp): lib.plain_mean(xp.ones(2))

class TestCase(unittest.TestCase):
    def test_left(self): lib.plain_mean(pa.ones(2))
    def test_failing(self): self.fail()
    def test_kept(self): pass
"""
    result = run(source, "--pa-policies=torch", "--pa-fail-on=escape")
    result.assert_outcomes(xfailed=1, failed=2, passed=1)


def test_the_places_told_are_bounded(run: Any) -> None:
    tests = "".join(
        f"    lib.plain_mean(xp.ones({n + 1}))\n    np.asarray(xp.ones(3))\n" for n in range(30)
    )
    result = run(f"def test_it(xp):\n{tests}", "--pa-policies=torch", "--pa-fail-on=escape")
    said = told(result, "test_it[torch@2.13]")
    assert len(said) == 12
    assert said[10] == "and 21 more places"
