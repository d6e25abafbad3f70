"""How many threads compute: what is set, what the surroundings say, forks, and other libraries."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import promoarray as pa
from promoarray import threads

VARIABLES = ("PROMOARRAY_NUM_THREADS", "OMP_NUM_THREADS", "PYTEST_XDIST_WORKER_COUNT")


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    before = pa.get_num_threads()
    yield
    pa.set_num_threads(before)


@pytest.fixture
def eight_cores(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A process alone on eight cores."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(threads, "_cores", lambda: 8)
    monkeypatch.setattr(threads, "_is_worker", lambda: False)
    return monkeypatch


def run_python(code: str, **environment: str) -> tuple[str, str]:
    """What a process prints; it knows nothing of the tests that it is started from."""
    clean = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env=clean | environment
    )
    return done.stdout, done.stderr


# -- set and get ----------------------------------------------------------------------------------


def test_what_was_set_is_what_there_is() -> None:
    for n in (1, 7, threads.MOST):
        pa.set_num_threads(n)
        assert pa.get_num_threads() == pa.namespace("torch").get_num_threads() == n
    pa.namespace("torch").set_num_threads(2)
    assert pa.get_num_threads() == 2


@pytest.mark.parametrize("n", [0, -1, threads.MOST + 1, 10**30])
def test_a_number_that_cannot_be_is_refused(n: int) -> None:
    pa.set_num_threads(3)
    with pytest.raises(ValueError, match=r"the number of threads is .*; it can be from 1 to 32768"):
        pa.set_num_threads(n)
    assert pa.get_num_threads() == 3


@pytest.mark.parametrize("n", [2.0, "2", None, True, [2]])
def test_what_is_no_number_is_refused(n: Any) -> None:
    with pytest.raises(TypeError, match="write an int, from 1 to 32768"):
        pa.set_num_threads(n)


# -- what the surroundings say --------------------------------------------------------------------

DEFAULTS = {
    "alone": ({}, 8),
    "own variable": ({"PROMOARRAY_NUM_THREADS": "3"}, 3),
    "own variable beyond the cores": ({"PROMOARRAY_NUM_THREADS": "12"}, 12),
    "own variable before OpenMP's": ({"PROMOARRAY_NUM_THREADS": "3", "OMP_NUM_THREADS": "1"}, 3),
    "empty": ({"PROMOARRAY_NUM_THREADS": "", "OMP_NUM_THREADS": ""}, 8),
    "OpenMP's": ({"OMP_NUM_THREADS": "2"}, 2),
    "OpenMP's by level": ({"OMP_NUM_THREADS": "4,2"}, 4),
    "OpenMP's beyond the cores": ({"OMP_NUM_THREADS": "64"}, 8),
    "OpenMP's, which OpenMP ignores": ({"OMP_NUM_THREADS": "many"}, 8),
    "pytest-xdist": ({"PYTEST_XDIST_WORKER_COUNT": "4"}, 2),
    "pytest-xdist, more workers than cores": ({"PYTEST_XDIST_WORKER_COUNT": "9"}, 1),
}


@pytest.mark.parametrize("case", DEFAULTS)
def test_the_default(case: str, eight_cores: pytest.MonkeyPatch) -> None:
    variables, wanted = DEFAULTS[case]
    for name, value in variables.items():
        eight_cores.setenv(name, value)
    assert threads._default() == wanted


def test_a_worker_of_multiprocessing_takes_one(eight_cores: pytest.MonkeyPatch) -> None:
    eight_cores.setattr(threads, "_is_worker", lambda: True)
    assert threads._default() == 1
    eight_cores.setenv("OMP_NUM_THREADS", "2")  # as joblib says how many
    assert threads._default() == 2


@pytest.mark.parametrize("value", ["0", "-1", "2.5", "all", "32769"])
def test_a_variable_that_cannot_be_is_an_error(value: str, eight_cores: pytest.MonkeyPatch) -> None:
    eight_cores.setenv("PROMOARRAY_NUM_THREADS", value)
    with pytest.raises(ImportError, match=f"PROMOARRAY_NUM_THREADS is '{value}'; write a number"):
        threads._of_environment()


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system has no affinity")
def test_cores_are_those_that_the_process_may_use() -> None:
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert threads._cores() == 1
    finally:
        os.sched_setaffinity(0, before)
    assert 1 <= threads._cores() <= len(before)


GROUPS: dict[str, tuple[str, dict[str, str], float]] = {
    "none": ("0::/", {}, float("inf")),
    "a container's": ("0::/", {"cpu.max": "150000 100000\n"}, 1.5),
    "no limit": ("0::/a", {"a/cpu.max": "max 100000\n"}, float("inf")),
    "the least above it": (
        "0::/a/b",
        {"a/b/cpu.max": "400000 100000\n", "a/cpu.max": "200000 100000\n"},
        2,
    ),
    "the former interface": (
        "4:memory:/m\n3:cpu,cpuacct:/a",
        {"cpu/a/cpu.cfs_quota_us": "50000\n", "cpu/a/cpu.cfs_period_us": "100000\n"},
        0.5,
    ),
    "the former interface without a limit": (
        "3:cpu,cpuacct:/a",
        {"cpu/a/cpu.cfs_quota_us": "-1\n", "cpu/a/cpu.cfs_period_us": "100000\n"},
        float("inf"),
    ),
}


@pytest.mark.parametrize("case", GROUPS)
def test_the_quota_of_a_control_group(case: str, tmp_path: Path) -> None:
    listed, files, wanted = GROUPS[case]
    for name, text in files.items():
        (tmp_path / "fs" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "fs" / name).write_text(text)
    (tmp_path / "cgroup").write_text(listed + "\n")
    assert threads._quota(str(tmp_path / "cgroup"), str(tmp_path / "fs")) == wanted
    assert threads._quota(str(tmp_path / "absent"), str(tmp_path / "fs")) == float("inf")


# -- processes ------------------------------------------------------------------------------------

FORKS = """
import multiprocessing, os, signal, warnings
warnings.simplefilter("ignore")  # Python 3.12 warns of forks beside threads
import numpy as np
import promoarray as pa
def works(n):
    x = pa.asarray(np.full(1_000_000 + n, n, np.float32))
    return bool(pa.all(x.astype(pa.int8) == n))
def child(number):
    signal.alarm(30)
    return pa.get_num_threads(), works(number)
if __name__ == "__main__":
    pa.set_num_threads(3)
    x = pa.asarray(np.ones(1_000_000, np.float32))
    assert works(20) and bool(pa.all((x + x).astype(pa.int8) == 2))
    pid = os.fork()
    if not pid:
        signal.alarm(30)
        fine = pa.get_num_threads() <= 3 and works(20) and bool(pa.all(x + x == 2))
        os._exit(0 if fine else 1)
    print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(child, [5, 9]))
    print(pa.get_num_threads(), works(20))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    wanted = "0\n[(1, True), (1, True)]\n3 True\n"
    assert run_python(FORKS) == (wanted, "")


def test_a_process_ends_while_a_daemon_thread_computes() -> None:
    code = """
import threading, time
import numpy as np
import promoarray as pa
x = pa.asarray(np.ones(1_100_000, np.float32))
def work():
    while True:
        (x + x).astype(pa.bfloat16) + x, pa.exp(x)
threading.Thread(target=work, daemon=True).start()
time.sleep(0.05)
"""
    assert run_python(code, PROMOARRAY_NUM_THREADS="2") == ("", "")


def test_no_thread_is_started_before_it_is_needed_and_none_is_left() -> None:
    code = """
import os
import time
import numpy as np
import promoarray as pa
def count(): return len(os.listdir("/proc/self/task"))
before = count()
x = pa.asarray(np.ones(999_999, np.float32))
x + x, pa.exp(x), x.astype(pa.bfloat16)
print(count() - before)
y = pa.asarray(np.ones(1_000_000, np.float32))
y.astype(pa.bfloat16)
# The kernel lists a thread for a moment after it was joined.
for _ in range(500):
    if count() > before:
        time.sleep(0.01)
print(count() - before, pa.exp(y).shape)
"""
    if not os.path.isdir("/proc/self/task"):
        pytest.skip("this system does not list threads")
    found = run_python(code, PROMOARRAY_NUM_THREADS="3", OPENBLAS_NUM_THREADS="1")
    assert found == ("0\n0 (1000000,)\n", "")


@pytest.mark.slow
def test_workers_of_joblib_do_not_take_all_cores_each() -> None:
    pytest.importorskip("joblib")
    code = """
import joblib
def ask():
    import promoarray as pa
    return pa.get_num_threads()
if __name__ == "__main__":
    n = joblib.cpu_count()
    print(set(joblib.Parallel(n_jobs=n)(joblib.delayed(ask)() for _ in range(n))))
"""
    assert run_python(code) == ("{1}\n", "")


@pytest.mark.slow
def test_workers_of_dask_compute_on_their_own_threads() -> None:
    pytest.importorskip("distributed")
    code = """
import warnings
warnings.simplefilter("ignore")
import distributed
def ask():
    import promoarray as pa
    return pa.get_num_threads()
if __name__ == "__main__":
    with distributed.Client(n_workers=1, threads_per_worker=2, dashboard_address=None) as client:
        print(client.submit(ask).result())
"""
    assert run_python(code)[0] == "1\n"


def test_threadpoolctl_limits_them() -> None:
    threadpoolctl = pytest.importorskip("threadpoolctl")
    from promoarray.threadpool import Controller

    if Controller not in threadpoolctl._ALL_CONTROLLERS:
        threadpoolctl.register(Controller)
    pa.set_num_threads(3)
    with threadpoolctl.threadpool_limits(1):
        assert pa.get_num_threads() == 1
    assert pa.get_num_threads() == 3
    with threadpoolctl.threadpool_limits({"promoarray": 2}):
        assert pa.get_num_threads() == 2
    with threadpoolctl.threadpool_limits(1, user_api="blas"):
        assert pa.get_num_threads() == 3
    (ours,) = (x for x in threadpoolctl.threadpool_info() if x["user_api"] == "promoarray")
    assert (ours["num_threads"], ours["version"]) == (3, pa.__version__)


def test_this_very_run_of_pytest_xdist_shares_the_cores() -> None:
    workers = os.environ.get("PYTEST_XDIST_WORKER_COUNT")
    if workers is None or {*VARIABLES[:2]} & {*os.environ}:
        pytest.skip("pytest-xdist does not run this, or a variable decides")
    assert threads._default() == max(1, threads._cores() // int(workers))
