"""The number of threads that compute at once.

The threads themselves are in ``kernels/cpu/pool.cpp``; here is how many there may be where nobody
says so, which is decided when it is first needed. Files are read without pathlib, which is slow to
import, as this is imported with promoarray.
"""

from __future__ import annotations

import atexit
import os
import sys
from math import ceil, inf
from operator import index

from promoarray.errors import quoted
from promoarray.kernels import _cpu

MOST = 1 << 15


def get_num_threads() -> int:
    """Return how many threads elementwise operations and casts of long arrays may take.

    Returns
    -------
    int

    Notes
    -----
    Until ``set_num_threads`` says otherwise, it is what the environment variable
    ``PROMOARRAY_NUM_THREADS`` says; else the cores that the process may use (its CPU affinity, and
    the CPU quota of its control group), or ``OMP_NUM_THREADS`` if that is fewer. Without either
    variable, a worker process of ``multiprocessing`` takes 1, and one of pytest-xdist its share of
    the cores. It is decided once, when it is first needed.

    Examples
    --------
    >>> before = get_num_threads()
    >>> set_num_threads(1)
    >>> get_num_threads()
    1
    >>> set_num_threads(before)
    """
    count = _cpu.thread_count()
    if not count:
        count = _default() if _limit is None else min(_limit, _default())
        _cpu.set_thread_count(count)
    return count


def set_num_threads(n: int) -> None:
    """Set how many threads elementwise operations and casts of long arrays may take.

    It holds for the whole process, and results have the same bits whatever it is. Threads of yours
    that compute at once share that number; 1 has each compute alone.

    Parameters
    ----------
    n : int
        From 1 on.

    Examples
    --------
    >>> before = get_num_threads()
    >>> set_num_threads(2)
    >>> get_num_threads()
    2
    >>> set_num_threads(before)
    """
    global _limit
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise TypeError(f"the number of threads is {quoted(n)}; write an int, from 1 to {MOST}")
    wanted = index(n)
    if not 1 <= wanted <= MOST:
        raise ValueError(f"the number of threads is {quoted(wanted)}; it can be from 1 to {MOST}")
    _limit = wanted
    _cpu.set_thread_count(wanted)


_limit: int | None = None
"""What was set, here or in a process that this one is a fork of: no more will be taken."""


# --- The default ---------------------------------------------------------------------------------


def _default() -> int:
    own = _of_environment()
    if own is not None:
        return own
    cores = _cores()
    openmp = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if openmp.isdecimal() and int(openmp):
        return min(int(openmp), cores)
    if _is_worker():
        return 1
    beside = os.environ.get("PYTEST_XDIST_WORKER_COUNT", "")
    return max(1, cores // int(beside)) if beside.isdecimal() and int(beside) else cores


def _of_environment() -> int | None:
    name = "PROMOARRAY_NUM_THREADS"
    given = os.environ.get(name, "").strip()
    if not given:
        return None
    if not given.isdecimal() or not 1 <= int(given) <= MOST:
        raise ImportError(f"{name} is {quoted(given)}; write a number from 1 to {MOST}")
    return int(given)


def _is_worker() -> bool:
    """Whether ``multiprocessing`` has started this process: there will be others beside it."""
    processes = sys.modules.get("multiprocessing.process")
    return processes is not None and processes.parent_process() is not None


def _cores() -> int:
    """The cores that this process may use."""
    count = getattr(os, "process_cpu_count", os.cpu_count)() or 1
    if hasattr(os, "sched_getaffinity"):
        count = min(count, len(os.sched_getaffinity(0)))
    return max(1, min(count, ceil(min(_quota(), count))))


def _quota(listed: str = "/proc/self/cgroup", root: str = "/sys/fs/cgroup") -> float:
    """How many cores' worth of time the control groups of this process are granted."""
    least = inf
    try:
        with open(listed, encoding="utf-8") as file:
            groups = file.read().splitlines()
    except OSError:
        return least
    for group in groups:
        _, controllers, path = group.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        # A container may see its own group at the root, whatever the path says.
        top = os.path.join(root, "cpu") if controllers else root
        names = path.strip("/").split("/")
        for count in range(len(names) + 1):
            below = os.path.join(top, *names[:count])
            least = min(least, _granted(below, old=bool(controllers)))
    return least


def _granted(group: str, old: bool) -> float:
    names = ("cpu.cfs_quota_us", "cpu.cfs_period_us") if old else ("cpu.max",)
    try:
        texts = [_text(os.path.join(group, name)) for name in names]
    except OSError:
        return inf
    quota, period = " ".join(texts).split()
    return inf if quota in ("max", "-1") else int(quota) / int(period)


def _text(path: str) -> str:
    with open(path, encoding="ascii") as file:
        return file.read()


# --- Forks, and the end --------------------------------------------------------------------------


def _after_fork() -> None:
    _cpu.set_thread_count(0)  # a worker process decides anew, within what was set


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
atexit.register(_cpu.stop_unlocked)
_of_environment()  # what is wrong with it is said at once
