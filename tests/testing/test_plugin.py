"""The pytest plugin, in pytest runs of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

# pytester forgets modules that a run imports first; of these there must be one each.
import promoarray.testing.plugin.matrix
import promoarray.testing.plugin.running  # noqa: F401
from promoarray.policies import as_policy

for name in ("numpy@1", "torch", "jax", "jax@x32", "paddle@3.3", "onnx", "tensorflow", "aclnn@8.5"):
    as_policy(name)

SUM = """
def mean(x):
    return x.__array_namespace__().sum(x) / x.shape[0]
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> object:
    """Run pytest on a test file, here."""
    monkeypatch.setenv("COLUMNS", "100")

    def ran(source: str, *options: str) -> pytest.RunResult:
        pytester.makepyfile(lib=SUM)
        head = "import numpy as np\nimport pytest\nimport promoarray as pa\nfrom lib import mean\n"
        pytester.makepyfile(head + source)
        return pytester.runpytest_inprocess("-p", "no:cacheprovider", *options)

    return ran


def lines(result: pytest.RunResult, start: str) -> list[str]:
    """The lines of the output from one on."""
    out = result.outlines
    return out[next(n for n, line in enumerate(out) if start in line) :]


# -- policies -------------------------------------------------------------------------------------


def test_a_test_with_xp_runs_once_a_policy(run) -> None:
    source = """
def test_mean(xp, pa_policy):
    x = xp.asarray([1, 2], dtype=xp.int32)
    assert xp is pa.namespace(pa_policy)
    assert pa.get_policy() is pa_policy
    assert x.__array_namespace__() is xp
    assert mean(x).dtype == (xp.float64 if pa_policy.name == "numpy@2" else xp.float32)

def test_plain():
    assert pa.get_policy().name == "numpy@2"
"""
    result = run(source, "-v", "--pa-policies", "numpy, torch,jax@x32,torch")
    result.assert_outcomes(passed=4)
    ids = [line.split()[0] for line in result.outlines if "PASSED" in line]
    assert [i.partition("::")[2] for i in ids] == [
        "test_mean[numpy@2]",
        "test_mean[torch@2.13]",
        "test_mean[jax@x32]",
        "test_plain",
    ]
    assert pa_default() == "numpy@2"


def pa_default() -> str:
    from promoarray.promotion.in_force import process_default

    return process_default().name


def test_by_default_the_policies_are_those_of_compare(run) -> None:
    result = run("def test_it(xp): pass", "--collect-only", "-q")
    found = [line.partition("[")[2][:-1] for line in result.outlines if "::test_it[" in line]
    from promoarray.diagnostics.ask.observer import DEFAULT

    assert found == [as_policy(name).name for name in DEFAULT]


def test_the_ini_file_names_policies_and_the_command_line_others(run, pytester) -> None:
    pytester.makeini("[pytest]\npa_policies = torch numpy@1")
    source = "def test_it(xp): assert pa.get_policy() is xp.policy"
    run(source).assert_outcomes(passed=2)
    run(source, "--pa-policies=jax").assert_outcomes(passed=1)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--pa-policies=numppy", "--pa-policies: unknown policy 'numppy'. Did you mean: numpy"),
        ("--pa-policies=,", "--pa-policies names no policy: ','"),
        ("--pa-fail-on=bit", "--pa-fail-on: there is no 'bit'. Did you mean: bits?"),
    ],
)
def test_options_that_mean_nothing_are_usage_errors(run, option: str, said: str) -> None:
    result = run("def test_it(): pass", option)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines([f"*{said}*"])


def test_an_unknown_policy_in_the_environment_is_a_usage_error(run, monkeypatch) -> None:
    monkeypatch.setenv("PROMOARRAY_POLICY", "numppy")
    monkeypatch.setattr("promoarray.promotion.in_force.default_policy", [])
    result = run("def test_it(xp): pass", "--pa-policies=torch")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert "PROMOARRAY_POLICY: unknown policy 'numppy'" in result.stderr.str()


def test_fixtures_run_under_the_policy_and_those_of_a_module_once_a_policy(run) -> None:
    source = """
made, order = [], []

@pytest.fixture(scope="module")
def data(xp):
    made.append(pa.get_policy().name)
    yield xp.asarray([1.0])
    assert pa.get_policy() is not None

@pytest.fixture
def each(data, pa_policy):
    assert pa.get_policy() is pa_policy
    return data

def test_one(each, xp):
    order.append(xp.policy.name)
    assert each.__array_namespace__() is xp

def test_two(data, xp):
    order.append(xp.policy.name)
    assert data.__array_namespace__() is xp

def test_end():
    assert made == ["numpy@2", "torch@2.13"]
    assert order == ["numpy@2"] * 2 + ["torch@2.13"] * 2
"""
    run(source, "--pa-policies=numpy,torch").assert_outcomes(passed=5)


def test_tests_without_such_fixtures_keep_their_order(run) -> None:
    source = "def test_a(xp): pass\ndef test_b(xp): pass\n"
    result = run(source, "-v", "--pa-policies=numpy,torch")
    ran = [line.partition("::")[2].split("[")[0] for line in result.outlines if "PASSED" in line]
    assert ran == ["test_a", "test_a", "test_b", "test_b"]


def test_threads_of_a_test_have_its_policy(run) -> None:
    source = """
from threading import Thread

def test_it(pa_policy):
    found = []
    thread = Thread(target=lambda: found.append(pa.get_policy()))
    thread.start()
    thread.join()
    assert found == [pa_policy]
"""
    run(source, "--pa-policies=numpy,torch").assert_outcomes(passed=2)


def test_hypothesis_takes_the_fixture(run) -> None:
    source = """
from hypothesis import given, settings, strategies

@settings(max_examples=5, database=None)
@given(strategies.integers(0, 10))
def test_it(xp, n):
    assert xp.asarray(n, dtype=xp.int32) == n
    assert pa.get_policy() is xp.policy
"""
    run(source, "--pa-policies=numpy,torch").assert_outcomes(passed=2)


@pytest.mark.parametrize(
    "conftest",
    [
        "import pytest\n@pytest.fixture(params=[1, 2])\ndef xp(request): return request.param",
        "def pytest_generate_tests(metafunc): metafunc.parametrize('xp', [1, 2])",
    ],
    ids=["fixture", "hook"],
)
def test_a_project_may_have_an_xp_of_its_own(run, pytester, conftest: str) -> None:
    pytester.makeconftest(conftest)
    run("def test_it(xp): assert xp in (1, 2)").assert_outcomes(passed=2)


def test_xp_of_a_parametrize_mark_is_no_fixture(run) -> None:
    source = "@pytest.mark.parametrize('xp', [1, 2])\ndef test_it(xp): assert xp in (1, 2)"
    run(source).assert_outcomes(passed=2)


def test_a_project_may_wrap_xp(run, pytester) -> None:
    pytester.makeconftest("import pytest\n@pytest.fixture\ndef xp(xp): return [xp]")
    source = "def test_it(xp): assert xp[0].policy is pa.get_policy()"
    run(source, "--pa-policies=numpy,torch").assert_outcomes(passed=2)


# -- marks ----------------------------------------------------------------------------------------


def test_a_mark_sets_policies_with_or_without_the_fixture(run) -> None:
    source = """
@pytest.mark.pa_policy("torch", "jax")
def test_function(): assert pa.get_policy().name in ("torch@2.13", "jax@x64")

@pytest.mark.pa_policy("torch")
class TestClass:
    def test_method(self, xp): assert xp.policy.name == "torch@2.13"

    @pytest.mark.pa_policy("numpy@1")
    def test_nearer(self, xp): assert xp.policy.name == "numpy@1"
"""
    run(source, "--pa-policies=numpy").assert_outcomes(passed=4)
    run("pytestmark = pytest.mark.pa_policy('jax')\n" + source).assert_outcomes(passed=4)


def test_a_mark_takes_a_policy_that_has_no_registered_name(run) -> None:
    source = """
mine = pa.policies.as_policy("torch").derive("mine", {("int64", "float32"): "float64"})

@pytest.mark.pa_policy(mine)
def test_it(xp):
    assert pa.get_policy() is mine
    assert (xp.ones(2, dtype=xp.int64) + xp.ones(2, dtype=xp.float32)).dtype == xp.float64
"""
    result = run(source, "-v")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*::test_it?mine? PASSED*"])


def test_a_mark_leaves_policies_out_by_name_or_family(run) -> None:
    source = """
@pytest.mark.pa_policy(without="numpy")
class TestClass:
    @pytest.mark.pa_policy(without=["jax@x32"])
    def test_it(self, xp): assert xp.policy.name in ("torch@2.13", "jax@x64")
"""
    result = run(source, "--pa-policies=numpy,numpy@1,torch,jax@x32,jax")
    result.assert_outcomes(passed=2)


def test_policies_that_refuse_have_to(run) -> None:
    source = """
def add(xp):
    return xp.asarray([1], dtype=xp.int64) + xp.asarray([1.0], dtype=xp.float32)

@pytest.mark.pa_policy(refuses=("paddle", "onnx"), reason="int64 + float32")
def test_they_do(xp): add(xp)

@pytest.mark.pa_policy(refuses="torch")
def test_it_does_not(xp): add(xp) if xp.policy.name == "torch@2.13" else None

@pytest.mark.pa_policy("torch", refuses="torch")
def test_another_error(): raise ValueError

@pytest.mark.pa_policy("torch", refuses="torch", raises=ValueError)
def test_that_error(): raise ValueError
"""
    result = run(source, "-rxf", "--pa-policies=torch,paddle@3.3,onnx,paddle")
    result.assert_outcomes(passed=4, xfailed=4, failed=2)
    result.stdout.fnmatch_lines(["XFAIL *test_they_do?paddle@3.3? - int64 + float32"])
    result.stdout.fnmatch_lines(["*XPASS(strict)*torch@2.13 refuses this"])


@pytest.mark.parametrize(
    ("mark", "said"),
    [
        ("pa_policy('numppy')", "unknown policy 'numppy'"),
        ("pa_policy(refuses='numppy')", "unknown policy 'numppy'"),
        ("pa_policy(skip='numpy')", "pa_policy has no skip=; write without="),
        ("pa_policy(3)", "pa_policy: 3 in policies is no policy's name"),
        ("pa_policy(without=3)", "pa_policy: 3 in without= is no policy's name"),
    ],
)
def test_marks_that_mean_nothing_are_errors_of_the_test(run, mark: str, said: str) -> None:
    result = run(f"@pytest.mark.{mark}\ndef test_it(): pass")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines([f"*{said}*"])


UNITTEST = """
import unittest

@pytest.mark.pa_policy("torch")
class TestCase(unittest.TestCase):
    @pytest.fixture(autouse=True)
    def namespace(self, xp): self.xp = xp

    def setUp(self): self.x = self.xp.asarray([1.0])

    def test_class(self): assert self.x.dtype == pa.float32

    @pytest.mark.pa_policy("numpy")
    def test_method(self): assert self.x.dtype == pa.float64

    @pytest.mark.pa_policy("numpy", "jax")
    def test_two(self): pass

    @pytest.mark.pa_policy("numppy")
    def test_none(self): pass

    @pytest.mark.pa_policy(refuses="torch")
    def test_refusing(self): pass

@pytest.mark.pa_policy("jax@x32")
class Other(unittest.TestCase):
    def test_it(self): assert pa.get_policy().name == "jax@x32"

class TestUnmarked(unittest.TestCase):
    def test_it(self): assert pa.get_policy().name == "numpy@2"
"""


def test_unittest_runs_under_one_policy(run) -> None:
    result = run(UNITTEST)
    result.assert_outcomes(passed=4, errors=3)
    result.stdout.fnmatch_lines(["*a unittest.TestCase runs once, under one policy; write *"])
    result.stdout.fnmatch_lines(["*unknown policy 'numppy'*"])


# -- the table at the end -------------------------------------------------------------------------

TABLE = """
def test_good(xp): pass

@pytest.mark.parametrize("n", [1, 2])
def test_kind(xp, n):
    assert mean(xp.asarray([n], dtype=xp.int32)).dtype == xp.float32

def test_refused(xp):
    xp.asarray([1], dtype=xp.int64) + xp.asarray([1.0], dtype=xp.float32)

@pytest.fixture
def broken(xp): raise ValueError

@pytest.mark.pa_policy(without="torch")
def test_broken(broken): pass
"""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [0, 1])
def test_the_table_of_tests_that_failed(run, workers: int) -> None:
    result = run(TABLE, "-n", str(workers), "--pa-policies=torch,numpy,paddle@3.3")
    said = lines(result, "tests under each policy")
    assert [line.rstrip() for line in said[1:7]] == [
        "                                                      torch@2.13  numpy@2  paddle@3.3",
        "test_the_table_of_tests_that_failed.py::test_kind[1]  ok          FAILED   ok",
        "test_the_table_of_tests_that_failed.py::test_kind[2]  ok          FAILED   ok",
        "test_the_table_of_tests_that_failed.py::test_refused  ok          ok       refuses",
        "test_the_table_of_tests_that_failed.py::test_broken               ERROR    ERROR",
        "1 other test failed under no policy",
    ]


def test_the_table_is_shown_where_it_is_asked_for_or_something_failed(run) -> None:
    good = "def test_good(xp): pass"
    assert "under each policy" not in run(good).stdout.str()
    assert "::test_good  ok" in "".join(lines(run(good, "--pa-matrix=all"), "under each policy"))
    assert "under each policy" not in run(TABLE, "--pa-matrix=none").stdout.str()
    assert "under each policy" not in run("def test_bad(): assert 0").stdout.str()


def test_the_table_is_bounded_in_height_and_width(run, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    source = "@pytest.mark.parametrize('n', range(30))\ndef test_bad(xp, n): assert n < 0\n"
    result = run(source, "--pa-policies=torch,numpy,paddle@3.3,numpy@1")
    table = lines(result, "under each policy")
    table = table[: next(n for n, line in enumerate(table) if "short test summary" in line)]
    assert max(map(len, table)) <= 60
    assert table[-1] == "10 more tests"
    heads = [line.split() for line in table if "@" in line]
    shown = [head for part in heads for head in part]
    assert shown == ["torch@2.13", "numpy@2", "paddle@3.3", "numpy@1"]
    assert len(table) == 1 + 21 * len(heads) + 1


# -- what a run costs that does not use it --------------------------------------------------------


def test_a_run_of_another_project_imports_none_of_promoarray(tmp_path: Path) -> None:
    (tmp_path / "test_other.py").write_text(
        "import sys\n"
        "def test_it(pytestconfig):\n"
        "    assert pytestconfig.pluginmanager.has_plugin('promoarray')\n"
        "    assert not {'promoarray', 'numpy', 'rich.console'} & {*sys.modules}\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "promoarray", "-p", "no:cacheprovider"]
    alone = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=tmp_path, env=alone, capture_output=True, text=True, check=False
    )
    assert "1 passed" in done.stdout, done.stdout


def test_it_can_be_left_out(run) -> None:
    result = run("def test_it(xp): pass\ndef test_plain(): pass", "-p", "no:promoarray")
    result.assert_outcomes(errors=1, passed=1)
    result.stdout.fnmatch_lines(["*fixture 'xp' not found*"])


def test_the_entry_point_is_the_small_part() -> None:
    points = metadata.entry_points(group="pytest11", name="promoarray")
    assert [point.value for point in points][:1] == ["pytest_promoarray"]


def test_options_and_marks_are_documented(run) -> None:
    said = run("", "--help").stdout.str()
    for option in ("--pa-policies", "--pa-fail-on", "--pa-matrix", "pa_policies (args)"):
        assert option in said
    assert "@pytest.mark.pa_policy(" in run("", "--markers").stdout.str()
    assert "xp [session scope]" in run("", "--fixtures").stdout.str()
