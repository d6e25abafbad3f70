"""The runner of array-api-tests: what it counts, what it takes for proof, what it says is missing.

The suite itself is not here; a package of its shape, with one test of each sort, stands in for it.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import array_api
import array_api_gate as gate
import array_api_report as report
import proof
import pytest
import runner
from array_api import Suite
from array_api_gate import Run
from runner import Case, SuiteError

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.operations import Form
from promoarray.policies import Operand, Rank, as_policy

HERE = Path(__file__).parent
LISTS = sorted(gate.LISTS.glob("*.txt"))
POLICY_LISTS = [path for path in LISTS if path not in (gate.KERNELS, gate.COMPAT)]

# --- a suite of six tests ---------------------------------------------------------------------

MINIATURE = {
    "pytest.ini": "[pytest]",
    "conftest.py": """
import pytest
from hypothesis import settings
def pytest_addoption(parser):
    parser.addoption("--max-examples", type=int, default=100)
    parser.addoption("--disable-deadline", action="store_true")
    parser.addoption("--derandomize", action="store_true")
    parser.addoption("--xfails-file")
def pytest_configure(config):
    settings.register_profile("array-api-tests", max_examples=config.getoption("--max-examples"),
                              derandomize=config.getoption("--derandomize"), deadline=None)
def pytest_collection_modifyitems(config, items):
    with open(config.getoption("--xfails-file")) as file:
        known = file.read().splitlines()
    for item in items:
        if item.nodeid in known:
            item.add_marker(pytest.mark.xfail)
""",
    "array_api_tests/__init__.py": """
import os
namespace = {}
exec(os.environ["ARRAY_API_TESTS_MODULE"][6:-2], namespace)
xp, api_version = namespace["xp"], "2025.12"
xp_name = xp.__name__
""",
    "array_api_tests/dtype_helpers.py": """
from . import xp
class Pairs:
    def __init__(self, pairs): self._key_value_pairs = pairs
    def __getitem__(self, key): return dict(self._key_value_pairs)[key]
names = "uint8 uint16 int8 int16 int64 float32 float64".split()
_name_to_dtype = {name: getattr(xp, name) for name in names}
dtype_to_name = {d: n for n, d in _name_to_dtype.items()}
all_dtypes = tuple(dtype_to_name)
table = {"uint8 uint8": "uint8", "uint8 uint16": "uint16", "int8 int8": "int8",
         "float32 float32": "float32", "float32 float64": "float64", "int8 int16": "int16"}
promotion_table = Pairs([(tuple(_name_to_dtype[n] for n in pair.split()), _name_to_dtype[result])
                         for pair, result in table.items()])
dtype_ranges = Pairs([(_name_to_dtype["int64"], (-(2**63), 2**63 - 1)),
                      (_name_to_dtype["float32"], (-3.4028234663852886e38, 3.4028234663852886e38))])
op_to_func = {"__add__": "add"}
def result_type(*dtypes):
    return promotion_table[dtypes]
def accumulation_result_dtype(x_dtype, dtype_kwarg):
    return dtype_kwarg or xp.uint64
""",
    "array_api_tests/hypothesis_helpers.py": """
from hypothesis import strategies as st
from . import dtype_helpers as dh
promotable_dtypes = [pair for pair, _ in dh.promotion_table._key_value_pairs]
def mutually_promotable_dtypes(max_size=2, *, dtypes=dh.all_dtypes):
    return st.sampled_from([p for p in promotable_dtypes if p[0] in dtypes and p[1] in dtypes])
def mutually_broadcastable_shapes(n, **kw):
    return st.tuples(*[st.sampled_from([(), (1,), (2, 1)]) for _ in range(n)])
two_mutually_broadcastable_shapes = mutually_broadcastable_shapes(2)
def oneway_broadcastable_shapes():
    return two_mutually_broadcastable_shapes
def two_mutual_arrays(dtypes=dh.all_dtypes, two_shapes=two_mutually_broadcastable_shapes):
    return two_shapes
""",
    "array_api_tests/pytest_helpers.py": """
from . import dtype_helpers as dh
def assert_dtype(func_name, *, in_dtype, out_dtype, expected=None, repr_name="out.dtype"):
    expected = expected or dh.result_type(*in_dtype)
    assert out_dtype == expected, f"{out_dtype}, but should be {expected}"
""",
    "array_api_tests/test_operators_and_elementwise_functions.py": """
import pytest
from hypothesis import given, strategies as st
from . import dtype_helpers as dh, hypothesis_helpers as hh, pytest_helpers as ph, xp
@given(hh.mutually_promotable_dtypes(), hh.two_mutually_broadcastable_shapes)
def test_add(dtypes, shapes):
    x, y = (xp.ones(s, dtype=d) for s, d in zip(shapes, dtypes))
    ph.assert_dtype("__add__", in_dtype=[x.dtype, y.dtype], out_dtype=(x + y).dtype)
@given(st.sampled_from([xp.float32, xp.float64]))
def test_bitwise_and(dtype):
    xp.bitwise_and(xp.ones(1, dtype=dtype), xp.ones(1, dtype=dtype))
@given(st.just(1))
def test_wrong(one):
    assert one == 2, "one is not two"
def test_refusal_by_hand():
    import promoarray
    raise promoarray.PromotionError("no rule was asked")
def test_listed():
    assert False
@pytest.mark.skip(reason="not today")
def test_skipped(): pass
""",
    "array_api_tests/test_drawing.py": """
import random
from hypothesis import given, strategies as st
@given(st.integers())
def test_drawn(n):
    assert abs(n) < 1000, f"drew {n}"
def test_shuffled():
    assert False, f"shuffled {random.random()}"
""",
    "array_api_tests/test_statistical_functions.py": """
from . import dtype_helpers as dh, pytest_helpers as ph, xp
def test_sum():
    expected = dh.accumulation_result_dtype(xp.uint8, None)
    out = xp.sum(xp.ones(2, dtype=xp.uint8))
    ph.assert_dtype("sum", in_dtype=[xp.uint8], out_dtype=out.dtype, expected=expected)
""",
}


@pytest.fixture(scope="module")
def miniature(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    path = tmp_path_factory.mktemp("suite")
    for name, text in MINIATURE.items():
        (path / name).parent.mkdir(exist_ok=True)
        (path / name).write_text(text, encoding="utf-8")
    stubs = path / "array-api" / "src" / "array_api_stubs"
    stubs.mkdir(parents=True)
    return array_api.find(path)


def outcomes(suite: Suite, policy: str, mode: str) -> tuple[Run, dict[str, str]]:
    heard: list[dict[str, Any]] = []
    listed = "array_api_tests/test_operators_and_elementwise_functions.py::test_listed"
    run = array_api.run(
        suite,
        policy,
        mode,
        examples=60,
        workers=1,
        xfails=[listed],
        heard=heard.append,
    )
    assert {"collected", "id", "module"} & {key for event in heard for key in event}
    kinds = {test.id.partition("::test_")[2]: test.kind for test in run.cases}
    assert [kinds.pop(name) for name in ("drawn", "shuffled")] == ["failed"] * 2
    return run, kinds


@pytest.mark.slow
def test_a_plain_run_takes_only_proven_answers_of_the_policy_for_refused(miniature: Suite) -> None:
    run, kinds = outcomes(miniature, "torch", "plain")
    assert kinds == {
        "add": "refused",  # uint8 + uint16, or a 0-d array
        "bitwise_and": "refused",
        "wrong": "failed",
        "refusal_by_hand": "failed",  # a PromotionError that no rule stands behind
        "listed": "xfailed",
        "skipped": "skipped",
        "sum": "refused",  # int64, where the suite wants uint64
    }
    reasons = {test.id.partition("::test_")[2]: test.refusals for test in run.cases}
    assert reasons["sum"] == ("sum: another result dtype",)
    assert "bitwise_and: " in reasons["bitwise_and"][0]
    assert (run.policy, run.namespace) == ("torch@2.13", "promoarray.torch@2.13")
    assert run.about["api_version"] == "2025.12"


@pytest.mark.slow
def test_a_run_with_the_policys_table_checks_what_the_policy_admits(miniature: Suite) -> None:
    run, kinds = outcomes(miniature, "torch", "table")
    assert kinds == {
        "add": "passed",
        "bitwise_and": "refused",  # of these dtypes there is no example that is not
        "wrong": "failed",
        "refusal_by_hand": "failed",
        "listed": "xfailed",
        "skipped": "skipped",
        "sum": "passed",
    }
    assert run.about["pairs"] == 5  # without uint8 and uint16


@pytest.mark.slow
def test_a_run_repeats_its_examples_and_a_seed_draws_others(miniature: Suite) -> None:
    def drawn(seed: int | None) -> list[str]:
        run = array_api.run(miniature, "torch", workers=1, seed=seed)
        assert run.about["seed"] == seed
        return [test.why for test in run.cases if "test_drawing.py" in test.id]

    plain, seeded = drawn(None), drawn(7)
    assert plain == drawn(None)
    assert seeded == drawn(7)
    assert all(a != b for a, b in zip(plain, seeded, strict=True))


def test_dtypes_the_framework_lacks_are_left_out() -> None:
    assert array_api.without(as_policy("paddle"), "plain") == []
    assert array_api.without(as_policy("paddle"), "table") == ["uint16", "uint32", "uint64"]
    x32 = as_policy("jax@x32")
    assert array_api.without(x32, "plain") == ["uint64", "int64", "float64", "complex128"]


@pytest.mark.slow
def test_a_suite_that_cannot_start_is_reported_in_pytests_words(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"(?s)did not run under torch@2.13, plain:\n.*error"):
        array_api.run(Suite(tmp_path, "", ""), "torch", workers=1)


# --- proof ------------------------------------------------------------------------------------


def refusal(policy: str, call: str) -> pa.PromotionError:
    xp = pa.namespace(policy)
    with pytest.raises(pa.PromotionError) as caught:
        eval(call, {"xp": xp, "i": xp.ones(1, dtype=xp.int8), "f": xp.ones(1)})
    return caught.value


@pytest.mark.parametrize(
    ("policy", "call", "operation"),
    [
        ("paddle", "xp.add(i, f)", "add"),
        ("paddle", "i + f", "add"),
        ("numpy", "i.__iadd__(f)", "add"),
        ("array_api", "xp.result_type(i, f)", "result_type"),
        ("array_api", "xp.concat([i, f])", "concat"),
        ("onnx", "xp.atan2(f, f)", "atan2"),
        ("onnx", "f.astype(xp.complex64)", "astype"),
    ],
)
def test_a_refusal_is_proved_by_asking_again(policy: str, call: str, operation: str) -> None:
    error = refusal(policy, call)
    assert proof.refuses(error)
    assert proof.reason(error).startswith(f"{operation}: ")
    # The same error of a policy that has an answer proves nothing.
    error.policy = as_policy("jax")
    assert not proof.refuses(error)
    error.policy = None
    assert not proof.refuses(error)


def test_another_result_is_proved_by_the_policys_own_answers() -> None:
    torch = as_policy("torch")
    found = proof.answers(torch, "add", Form.FUNCTION, [dt.int8, dt.int16])
    narrow, wide = Operand(dt.int8), Operand(dt.int16)
    assert found[narrow, wide] is dt.int16
    assert found[narrow, wide._replace(rank=Rank.ZERO_D)] is dt.int8

    def why(policy: str, result: Any) -> str:
        error = proof.OtherResult("", "add", Form.FUNCTION, [pa.int8, pa.int16], result)
        return proof.other_result(as_policy(policy), error)

    assert why("torch", pa.int8) == "add: a 0-d array counts for less than an array"
    assert why("torch", pa.int16) == "add: another result dtype"
    assert why("torch", pa.int32) == why("jax", pa.int8) == ""
    assert why("numpy@1", pa.int8) == "add: a 0-d array counts by its value"
    assert why("numpy@1", pa.int32) == why("numpy@2", pa.int8) == ""


def test_a_missing_operand_is_a_python_scalar_of_the_same_kind() -> None:
    def why(policy: str, name: str, given: Any, result: Any) -> str:
        return proof.other_result(
            as_policy(policy), proof.OtherResult("", name, Form.FUNCTION, [given], result)
        )

    assert why("numpy@1", "add", pa.uint8, pa.int64) == "add: a 0-d array counts by its value"
    assert why("numpy@1", "divide", pa.float32, pa.float64).endswith("by its value")
    assert why("numpy@1", "add", pa.uint8, pa.float64) == ""
    assert why("numpy@2", "add", pa.uint8, pa.int64) == ""
    # The bounds of clip are told by no dtype either.
    assert why("numpy@1", "clip", pa.float32, pa.float64).endswith("by its value")
    assert why("numpy@2", "clip", pa.float32, pa.float64) == ""
    # One operand: the dtype of an array decides, and the suite need not know the answer.
    assert why("numpy@1", "ceil", pa.int8, pa.float16) == "ceil: another result dtype"
    assert why("numpy@2", "ceil", pa.int8, pa.float16) == ""


# --- the lists and the verdict ----------------------------------------------------------------


@pytest.mark.parametrize("path", LISTS, ids=lambda path: path.stem)
def test_every_entry_of_a_list_stands_under_its_reason(path: Path) -> None:
    entries = runner.read_list(path)
    assert any(entries.values())
    for of_mode in entries.values():
        assert all(entry.startswith("array_api_tests/") for entry in of_mode)
        assert all(all(reasons) for reasons in of_mode.values())


@pytest.mark.parametrize("path", POLICY_LISTS, ids=lambda path: path.stem)
def test_a_policys_list_is_named_after_it(path: Path) -> None:
    assert as_policy(path.stem).name == path.stem
    assert {*runner.read_list(path)} <= {"", "plain", "table"}
    assert not gate.ids(path) & gate.ids(gate.KERNELS)


def test_the_kernels_fail_nothing_that_array_api_compat_does_not_list_for_numpy() -> None:
    for policy in ("numpy@2", "array_api"):  # of the others some values are their own
        assert gate.known(policy) <= gate.ids(gate.COMPAT)


def test_policies_that_may_refuse_nothing_have_no_list() -> None:
    for (policy, mode), most in gate.REFUSED.items():
        assert most or mode == "table" or not runner.read_list(gate.path_of(policy)).get(mode)


def test_a_list_without_a_reason_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("array_api_tests/test_linalg.py::test_eig\n", encoding="utf-8")
    with pytest.raises(ValueError, match="test_eig stands under no reason"):
        runner.read_list(path)


def a_run(*tests: Case, policy: str = "torch@2.13", mode: str = "table") -> Run:
    many = [Case(f"array_api_tests/test_constants.py::test_{n}", "passed") for n in range(20)]
    about = {"array-api-tests": array_api.COMMIT, "array-api": array_api.SPEC, "examples": 300}
    cases = [*many, *tests]
    return Run(policy, mode, f"promoarray.{policy}", about=about, cases=cases, seconds=1.0)


PAIRS = as_policy("torch").refusal
WHERE = "array_api_tests/test_linalg.py::test_eig"


@pytest.mark.parametrize(
    ("test", "said"),
    [
        (Case(WHERE, "failed", "nan"), "test_eig fails: nan"),
        (Case(WHERE, "error", "no fft"), "test_eig fails: no fft"),
        (Case(WHERE, "xfailed", refusals=("add: no rule",)), "does not list"),
        (Case(WHERE, "xfailed", refusals=(f"add: {PAIRS}",)), "1 tests are refused, at most 0"),
    ],
)
def test_the_gate_is_broken_by(test: Case, said: str) -> None:
    assert gate.verdict(a_run()) == []
    assert any(said in line for line in gate.verdict(a_run(test)))


def test_the_gate_is_broken_where_hardly_anything_ran() -> None:
    skipped = [Case(f"{WHERE}[{n}]", "skipped") for n in range(30)]
    assert "only 20 of 50 tests passed" in gate.verdict(a_run(*skipped))[0]


def test_a_listed_refusal_and_a_known_kernel_break_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gate, "LISTS", tmp_path)
    special = "array_api_tests/test_special_cases.py::test_unary[expm1(x_i is NaN) -> NaN]"
    run = a_run(
        Case(f"{WHERE}[a]", "xfailed", refusals=("eig: (no rule)", "add: none")),
        Case(special, "xfailed", refusals=("expm1: none",)),
        Case(f"{WHERE}[b]", "xfailed", "kernels"),
        policy="onnx@25",
    )
    assert len(gate.verdict(run)) == len(gate.unlisted(run)) == 2
    (written,) = gate.accept([run])
    assert gate.verdict(run) == []
    assert runner.read_list(written)["table"] == {
        WHERE: ("(no rule)", "none"),
        special.partition("(")[0]: ("none",),
    }
    before = written.read_text(encoding="utf-8")
    gate.accept([run])
    assert written.read_text(encoding="utf-8") == before


# --- the command ------------------------------------------------------------------------------


def wanted(*words: str) -> list[Any]:
    return array_api.wanted(array_api.parser().parse_args(words))


def test_the_gate_is_what_runs_unless_policies_are_named() -> None:
    runs = wanted()
    assert ("numpy@2", "plain", None) in runs
    assert ("numpy@2", "plain", "promoarray") in runs
    assert {mode for policy, mode, _ in runs if policy == "torch@2.13"} == {"plain", "table"}
    assert wanted("--policy", "torch", "--mode", "table") == [("torch@2.13", "table", None)]
    assert {policy for policy, *_ in wanted("--policy", "all")} >= {"numpy@1", "onnx@25", "paddle"}


def test_wrong_use_is_exit_status_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert array_api.main(["--policy", "torhc"]) == 2
    assert "torch" in capsys.readouterr().err
    monkeypatch.setattr(array_api, "NEEDED", ["no-such-package"])
    assert array_api.main([]) == 2
    assert "no-such-package is not installed. Write: pip install" in capsys.readouterr().err
    monkeypatch.setattr(array_api, "NEEDED", [])
    assert array_api.main(["--suite", str(tmp_path)]) == 2
    assert "Write --clone to get the pinned commit" in capsys.readouterr().err


def test_what_fails_and_what_is_refused_is_written_with_the_reasons() -> None:
    text = report.results(
        [
            a_run(Case(WHERE, "failed", "1 < 2 | 3"), policy="numpy@2", mode="plain"),
            a_run(Case(WHERE, "xfailed", refusals=("eig: none",)), policy="paddle"),
        ]
    )
    assert "| `numpy@2` | plain | 20 | 1 |" in text
    assert "**fails** `test_eig`: 1 &lt; 2 \\| 3" in text
    assert "- none: `test_eig`" in text


def test_the_page_of_results_names_policies_and_versions() -> None:
    text = (HERE.parent / "docs" / "conformance.md").read_text(encoding="utf-8")
    for policy in gate.GATED:
        assert f"`{policy}`" in text
    assert array_api.COMMIT[:7] in text
    assert array_api.SPEC[:7] in text


def test_the_page_says_of_how_many_policies_there_are_results() -> None:
    text = (HERE.parent / "docs" / "evidence.md").read_text(encoding="utf-8")
    assert f"the results of {len(gate.GATED)} policies' namespaces" in text


def test_runs_over_lazy_arrays_are_put_between_the_marks_of_their_page() -> None:
    run = a_run(Case(WHERE, "xfailed", "lazy"), policy="numpy@2", mode="plain")
    run.about |= {"device": "dask", "chunk": 2, "date": "today"}
    text = report.lazy_section([run])
    row = "| `numpy@2`, plain | of 2 along each axis | 300 | 20 | 0 | 0 | 0 | 1 | 0 | today |  |"
    assert row in text
    page = runner.filled("a\n<!-- x -->\nold\n<!-- end of x -->\nb\n", {"x": text})
    assert page == f"a\n<!-- x -->\n{text}<!-- end of x -->\nb\n"
    with pytest.raises(ValueError, match="has no lines <!-- y -->"):
        runner.filled(page, {"y": ""})
