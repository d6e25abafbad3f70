"""Threads and forks: one object a name, policies apart, answers as of one thread, nothing kept."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import sysconfig
import threading
import weakref
from collections.abc import Callable
from contextlib import suppress
from operator import attrgetter
from typing import Any

import numpy as np
import pytest
from array_api_compat.common import _helpers as array_api_compat

import promoarray as pa
from promoarray import namespaces, parray
from promoarray.context import Context
from promoarray.once import cached_property
from promoarray.parray import array_type
from promoarray.policies import Policy, as_policy
from promoarray.policies.onnx import operators as onnx
from promoarray.promotion import registry

THREADS = 8
IMMORTAL = sys.version_info < (3, 14) and bool(sysconfig.get_config_var("Py_GIL_DISABLED"))


def together(work: Callable[[], Any]) -> list[Any]:
    """What a function returns in each of several threads that begin at once; or its error."""
    start, found = threading.Barrier(THREADS, timeout=120), []

    def run() -> None:
        start.wait()
        try:
            found.append(work())
        except Exception as error:
            found.append(error)

    threads = [threading.Thread(target=run) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return found


def run_python(code: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "ignore", "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def test_no_module_turns_the_gil_on() -> None:
    code = "import sys, promoarray as pa; print(getattr(sys, '_is_gil_enabled', lambda: True)())"
    done, expected = run_python(code), not sysconfig.get_config_var("Py_GIL_DISABLED")
    assert (done.stdout, done.stderr) == (f"{expected}\n", "")


# -- one object a name ------------------------------------------------------------------------

TORCH = as_policy("torch")
QUIRKY = as_policy("paddle@3.3")

# From what is made lazily to where it is made and how one asks for it, given a fresh policy.
MADE: dict[str, tuple[Any, str, Callable[[Policy], Any]]] = {
    "array class": (parray, "_bound_to", array_type),
    "namespace": (namespaces.Namespace, "__init__", pa.namespace),
    "chapter": (namespaces.Namespace, "__init__", lambda policy: pa.namespace(policy).linalg),
    "function": (namespaces.BoundFunction, "__new__", lambda policy: pa.namespace(policy).add),
    "quirk": (Policy, "derive", lambda policy: policy.with_quirks(policy.cast.quirks[0].name)),
    "opset": (onnx, "_operations", lambda policy: onnx.of_opset(id(policy))),
    "built-in": (onnx, "edition", lambda policy: registry._built_in("onnx.operators", policy.name)),
}


@pytest.mark.parametrize("what", MADE)
def test_what_eight_threads_ask_for_first_is_one_object(
    what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, name, ask = MADE[what]
    policy = QUIRKY.derive(f"of threads: {what}")
    if what in ("chapter", "function"):
        pa.namespace(policy)  # which is there already
    monkeypatch.setattr(onnx, "edition", lambda name: TORCH.derive(name), raising=False)
    make, all_make = getattr(home, name), threading.Barrier(THREADS, timeout=120)

    def slow(*args: Any, **kwargs: Any) -> Any:
        all_make.wait()
        return make(*args, **kwargs)

    monkeypatch.setattr(home, name, slow)
    found = together(lambda: ask(policy))
    assert not any(isinstance(each, Exception) for each in found), found
    assert len({id(each) for each in found}) == 1
    assert ask(policy) is found[0]


def test_arrays_of_one_namespace_mix_whatever_thread_asked_first() -> None:
    code = """
import sys, threading
sys.setswitchinterval(1e-6)
import promoarray as pa
names, at = pa.list_policies(), threading.Barrier(8, timeout=120)
made = {name: [] for name in names}
def work():
    for name in names:
        at.wait()
        made[name].append(pa.namespace(name).asarray([True]))
threads = [threading.Thread(target=work) for _ in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
for name, arrays in made.items():
    assert len(arrays) == 8
print({len(set(map(type, arrays))) for arrays in made.values()})
"""
    done = run_python(code)
    assert (done.stdout, done.stderr) == ("{1}\n", "")


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="functools' own has no lock either")
def test_a_cached_property_holds_no_lock_and_is_one_object() -> None:
    both = threading.Barrier(2, timeout=120)

    class Lazy:
        @cached_property
        def value(self) -> object:
            both.wait()  # two threads get here, though neither has an answer yet
            return object()

    lazy, found = Lazy(), []
    threads = [threading.Thread(target=lambda: found.append(lazy.value)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] is found[1] is lazy.value


def test_a_name_is_registered_once_though_threads_ask(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {})
    all_ask, listed = threading.Barrier(THREADS, timeout=120), registry.list_policies

    def slow() -> list[str]:
        names = listed()
        all_ask.wait()
        return names

    monkeypatch.setattr(registry, "list_policies", slow)
    found = together(lambda: registry.register(TORCH.derive("contested")))
    assert [type(each) for each in found].count(ValueError) == THREADS - 1
    assert as_policy("contested") in found


# -- the policy in force ----------------------------------------------------------------------


def test_eight_threads_share_one_policy_object() -> None:
    shared, other = pa.policy("torch"), pa.policy("jax")
    in_step = threading.Barrier(THREADS, timeout=120)

    def work() -> list[str]:
        seen = []
        with shared:
            in_step.wait()
            seen.append(pa.get_policy().name)
            with other, shared:
                in_step.wait()
                seen.append(pa.get_policy().name)
            in_step.wait()
            seen.append(pa.get_policy().name)
        in_step.wait()
        return [*seen, pa.get_policy().name]

    assert together(work) == [["torch@2.13"] * 3 + ["numpy@2"]] * THREADS


@pytest.mark.parametrize("manager", [pa.policy("torch"), pa.no_escape()], ids=["policy", "escape"])
def test_an_error_in_one_thread_leaves_nothing_set_in_any(manager: Context) -> None:
    in_step = threading.Barrier(THREADS, timeout=120)

    def work() -> object:
        try:
            with manager:
                in_step.wait()
                raise KeyError("an error of the program")
        except KeyError:
            in_step.wait()
            float(pa.asarray([1.0])[0])
            return pa.get_policy().name

    assert together(work) == ["numpy@2"] * THREADS


# -- derived policies -------------------------------------------------------------------------


def work_under(policy: Policy, x: Any) -> Any:
    """Arrays, operations and casts of a policy, bound to it and not."""
    xp = pa.namespace(policy)
    bound = xp.add(xp.asarray(x), 1.5)
    bound += bound
    with pa.policy(policy):
        return pa.astype(pa.asarray(x) * 2.5, pa.int8)


@pytest.mark.skipif(IMMORTAL, reason="no class ever dies in a free-threaded Python 3.13")
@pytest.mark.usefixtures("quick_collections")
def test_a_thousand_derived_policies_leave_memory_where_it_was() -> None:
    x, alive = np.ones(3, np.float32), weakref.WeakSet[Policy]()

    def derive(count: int) -> None:
        for n in range(count):
            policy = TORCH.derive(f"mine{n}")
            alive.add(policy)
            work_under(policy, x)

    derive(20)
    gc.collect()
    blocks = sys.getallocatedblocks()
    derive(1000)
    gc.collect()
    assert list(alive) == []
    assert sys.getallocatedblocks() - blocks < 2000  # a leak of one array a policy would be more


def functions() -> dict[str, Callable[[Any], Any]]:
    """Every public function that computes, by name: from a namespace to its own of that name."""
    found: dict[str, Callable[[Any], Any]] = {}
    for chapter in ("", "linalg", "fft", "extras"):
        home = attrgetter(chapter)(pa) if chapter else pa
        for name in dir(home):
            value = getattr(home, name)
            ours = getattr(value, "__module__", None) or ""
            if name[0] != "_" and ours.startswith("promoarray") and not isinstance(value, type):
                path = f"{chapter}.{name}".strip(".")
                found[path] = attrgetter(path)
    return {
        path: get
        for path, get in found.items()
        if path not in ("set_policy", "set_num_threads", "save")
    }


@pytest.mark.skipif(IMMORTAL, reason="no class ever dies in a free-threaded Python 3.13")
@pytest.mark.slow
@pytest.mark.usefixtures("quick_collections")
@pytest.mark.filterwarnings("ignore")
def test_no_function_keeps_a_policy() -> None:
    x, at = np.asarray([[1.0, 2.0], [3.0, 4.0]], np.float32), np.asarray([1, 0])

    def call(get: Callable[[Any], Any]) -> weakref.ref[Policy]:
        policy = TORCH.derive("mine")
        xp = pa.namespace(policy)
        a, i = xp.asarray(x), xp.asarray(at)
        for args in ((a,), (a, a), (a, i), (a, 1.5), (i, a), ([a, a],), ("add", a, 1.5), (a, 0)):
            with suppress(Exception):
                get(xp)(*args)
        return weakref.ref(policy)

    keeping = []
    for name, get in functions().items():
        gone = call(get)
        for cached in vars(array_api_compat).values():  # which keeps 100 namespaces of whatever
            getattr(cached, "cache_clear", bool)()
        gc.collect()
        if gone() is not None:
            keeping.append(name)
    assert keeping == []


@pytest.mark.usefixtures("quick_collections")
def test_a_policy_at_the_address_of_a_dead_one_decides_for_itself() -> None:
    x, y = pa.asarray([1]), pa.asarray([1.5], dtype=pa.float32)
    addresses: list[int] = []
    while len(set(addresses)) == len(addresses) < 1000 or len(addresses) < 20:
        n = len(addresses)
        wanted = (pa.float32, pa.float64)[n % 2]
        policy = TORCH.derive("short-lived", {("int64", "float32"): wanted})
        addresses.append(id(policy))
        with pa.policy(policy):
            assert [(x + y).dtype, (x + y).dtype, (x * 2).dtype] == [wanted, wanted, pa.int64]
        del policy
        gc.collect()
    assert len(set(addresses)) < len(addresses)


# -- forks ------------------------------------------------------------------------------------


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_child_forked_while_a_thread_is_watched_goes_on() -> None:
    code = """
import os, signal, threading, time
import promoarray as pa
from promoarray.core.events import Observer
from promoarray.core.observers import observing
heard = threading.Event()
class Slow(Observer):
    def on_operation(self, event):
        heard.set()
        time.sleep(0.3)
def work():
    with observing(Slow()):
        pa.ones(2) + pa.ones(2)
thread = threading.Thread(target=work)
thread.start()
heard.wait()
child = os.fork()
if not child:
    signal.alarm(10)
    with pa.trace() as traced:
        pa.asarray([1], dtype=pa.int8) + pa.ones(1)
    os._exit(len(traced.casts))
thread.join()
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = run_python(code)
    assert (done.stdout, done.stderr) == ("1\n", "")
