"""The runner of the suites of others: how promoarray is added to them, and what breaks the gate.

A package of SciPy's shape, with one test of each sort, stands in for the suites.
"""

from __future__ import annotations

from pathlib import Path

import downstream_page as page
import pytest
import runner
import suites
import suites_gate as gate
from rich.console import Console
from runner import Case, SuiteError
from suites import SUITES, Suite
from suites_gate import NUMPY, OURS, Run, backend_of

from promoarray import list_policies

TORCH = backend_of("torch")

MINIATURE = {
    "scipy/__init__.py": "",
    "scipy/conftest.py": """
import numpy as np
import pytest
xp_known_backends = {"numpy", "array_api_strict"}
xp_available_backends = [pytest.param(np, id="numpy")]
def _backends_kwargs_from_request(request, skip_or_xfail):
    reasons = {}
    for marker in request.node.iter_markers(f"{skip_or_xfail}_xp_backends"):
        names = marker.args or xp_known_backends - {"numpy", *marker.kwargs.get("exceptions", ())}
        reasons |= dict.fromkeys(names, "the suite says so")
    return reasons
@pytest.fixture(params=xp_available_backends)
def xp(request):
    reasons = _backends_kwargs_from_request(request, "skip")
    if request.param.__name__ in reasons:
        pytest.skip(reasons[request.param.__name__])
    return request.param
""",
    "scipy/fft/tests/test_all.py": """
import pytest
skip = pytest.mark.skip_xp_backends
def test_passes(xp):
    assert xp.asarray([1.0]).shape == (1,)
@pytest.mark.parametrize("n", [1, 2])
def test_fails_here(xp, n):
    assert xp.__name__ == "numpy" or n == 1
def test_fails_everywhere(xp):
    raise ValueError("as it is")
def test_is_refused(xp):
    try:
        xp.mean(xp.asarray([1, 2]))
    except TypeError as error:
        raise AssertionError("a library says so") from error
def test_differs(xp):
    if xp.asarray([1.0]).dtype != xp.float64:
        raise AssertionError("dtypes do not match.")
def test_says_that_it_is_refused(xp):
    if "torch" in xp.__name__:
        from promoarray import PromotionError
        from promoarray.policies import Operand, as_policy
        raise PromotionError("no", as_policy("torch"), "mean", (Operand(xp.float32),), form="()")
@skip()
def test_for_numpy(xp): pass
@skip(exceptions=["array_api_strict"])
def test_for_numpy_and_arrays_like_ours(xp): pass
@skip("numpy")
@skip("array_api_strict")
def test_for_lazy_arrays(xp): raise AssertionError
def test_of_no_back_end(): pass
""",
}


@pytest.fixture(scope="module")
def suite(tmp_path_factory: pytest.TempPathFactory) -> Suite:
    """The suite, written into files."""
    home = tmp_path_factory.mktemp("suite") / "scipy"
    for name, text in MINIATURE.items():
        path = home.parent / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    class Miniature(Suite):
        def home(self) -> Path:
            return home

    marks = ("-W", "ignore::pytest.PytestUnknownMarkWarning")
    suite = Miniature("scipy", "scipy", SUITES["scipy"].find, {}, marks)
    assert [*suite.modules()] == ["fft"]
    return suite


@pytest.fixture(scope="module")
def miniature(suite: Suite) -> Run:
    """One run of it, with promoarray itself and with arrays bound to torch's policy."""
    return suites.run(suite, "fft", [OURS, TORCH])


def kinds(run: Run, backend: str) -> dict[str, str]:
    return {
        case.key.partition("::test_")[2]: case.kind for case in run.cases if case.backend == backend
    }


@pytest.mark.slow
def test_promoarray_is_one_more_back_end(miniature: Run) -> None:
    assert {case.backend for case in miniature.cases} == {NUMPY, OURS, TORCH}
    assert kinds(miniature, OURS) == {
        "passes[*]": "passed",
        "fails_here[*-1]": "passed",
        "fails_here[*-2]": "failed",
        "fails_everywhere[*]": "failed",
        "is_refused[*]": "passed",
        "differs[*]": "passed",
        "says_that_it_is_refused[*]": "passed",
        "for_numpy[*]": "skipped",
        "for_numpy_and_arrays_like_ours[*]": "passed",
        "for_lazy_arrays[*]": "skipped",
    }
    assert kinds(miniature, NUMPY).keys() == kinds(miniature, OURS).keys()
    assert miniature.about["numpy"]


@pytest.mark.slow
def test_a_refusal_counts_once_the_policy_has_repeated_it(miniature: Run) -> None:
    bound = kinds(miniature, TORCH)
    assert bound["is_refused[*]"] == "refused"
    assert bound["differs[*]"] == "differs"
    assert bound["says_that_it_is_refused[*]"] == "failed"  # asked again, it has a mean
    (reason,) = gate.refused(miniature, TORCH)
    assert reason.startswith("mean: ")


@pytest.mark.slow
def test_what_fails_here_alone_breaks_the_gate(
    miniature: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(gate, "LISTS", tmp_path)
    home = "scipy/fft/tests/test_all.py::test_"
    assert [line.partition(" fails")[0] for line in gate.verdict(miniature)] == [
        f"{OURS}: {home}fails_here[*-2]",
        f"{TORCH}: {home}fails_here[*-2]",
        f"{TORCH}: {home}says_that_it_is_refused[*]",
    ]
    assert gate.notes(miniature) == [f"{home}fails_everywhere[*] fails with NumPy's namespace too"]

    (tmp_path / "scipy.txt").write_text(
        f"# A reason\n{home}fails_here\n\n[torch@2.13]\n# Another\n{home}fails_here[*-2]\n"
        f"{home}says_that_it_is_refused[*]\n{home}passes[*]\n{home}of_another_module[*]\n"
    )
    assert gate.verdict(miniature) == [f"{TORCH}: {home}passes[*] is listed, but does not fail"]
    assert gate.explained(miniature, OURS) == {"A reason": 1}
    assert gate.explained(miniature, TORCH) == {"Another": 2}


@pytest.mark.slow
def test_runs_are_published_each_beside_those_before(
    miniature: Run, suite: Suite, tmp_path: Path
) -> None:
    path = tmp_path / "record.json"
    miniature.about["commit"] = "before"
    gate.write([miniature], path)
    text = "".join(page.of_suites(gate.read(path)).values())
    assert "| scipy fft | 8 (1) | 0 | 6 (2) |" in text
    assert "| scipy fft | 3 – 1 refused, 1 differs, 3 failed |" in text
    alone = suites.run(suite, "fft", [TORCH], alone=True)
    assert {case.backend for case in alone.cases} == {*alone.backends} == {TORCH}
    assert kinds(alone, TORCH) == kinds(miniature, TORCH)
    alone.about["commit"] = "now"
    gate.write([alone], path)
    kept, whole = gate.read(path)["scipy"]["fft"], gate.module(miniature)
    assert kept["counts"] == whole["counts"]
    assert kept["about"]["commit"] == "before, now"  # of promoarray itself, and of torch's


def test_the_table_names_each_module_once(capsys: pytest.CaptureFixture[str]) -> None:
    cases = [Case("t", "passed", backend=name, key="t") for name in (OURS, TORCH)]
    for grid in suites.tables([Run("scipy", "fft", [OURS, TORCH], cases=cases)]):
        Console(width=120).print(grid)
    rows = [line.split("│")[1:3] for line in capsys.readouterr().out.splitlines() if OURS in line]
    assert [[x.strip() for x in row] for row in rows] == [["fft", OURS], ["", TORCH]]


def test_every_listed_test_has_a_reason_and_a_suite() -> None:
    for path in gate.LISTS.glob("*.txt"):
        assert path.stem in SUITES
        listed = runner.read_list(path)
        for names in listed.values():
            assert all("::" in name and reasons for name, reasons in names.items())
        backends = (gate.DASK, *map(backend_of, list_policies()))
        assert {*listed} <= {"", *map(gate.section, backends)}


def test_what_cannot_run_says_so(capsys: pytest.CaptureFixture[str]) -> None:
    absent = Suite("no-such-library", "nothing", dict, {})
    with pytest.raises(SuiteError, match=r"not installed. Write: pip install"):
        absent.modules()
    with pytest.raises(SystemExit) as done:
        suites.main(["--suite", "nothing"])
    assert done.value.code == 2
    assert suites.main(["--suite", "array-api-extra", "--module", "nothing"]) == 2
    assert "Write: pip install" in (err := capsys.readouterr().err) or "no module nothing" in err


def test_a_pytest_that_breaks_down_is_no_run_in_which_nothing_failed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = Suite("numpy", "numpy", lambda _: {"module": [tmp_path]}, {})
    # It ends with the 1 of tests that failed, and has run none.
    (tmp_path / "pytest.py").write_text("raise SystemExit(1)\n", "utf-8")
    monkeypatch.setattr(runner, "HERE", tmp_path)
    # Whether what the suites need is installed is no matter here.
    monkeypatch.setattr(Suite, "home", lambda suite: tmp_path)
    with pytest.raises(SuiteError, match="numpy module did not run"):
        suites.run(suite, "module", ["promoarray"])
