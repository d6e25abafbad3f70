"""Policies by name, and the one in force: in threads, tasks, decorators, processes."""

from __future__ import annotations

import asyncio
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import promoarray as pa
from promoarray import Policy
from promoarray.policies import register
from promoarray.promotion import registry
from promoarray.promotion.registry import as_policy, families, family_names

TABLE = "    i8  f32\ni8  i8  f32\nf32 f32 f32"


@pytest.fixture(autouse=True)
def _registry_of_its_own(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_registered", {})
    yield
    registry._entry_points.cache_clear()


def run_python(code: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        check=False,
    )


# -- names ------------------------------------------------------------------------------------


def test_every_listed_policy_is_there_under_its_name() -> None:
    for name in pa.list_policies():
        assert as_policy(name).name == name


@pytest.mark.parametrize("family", family_names())
def test_a_bare_family_is_its_first_edition(family: str) -> None:
    assert as_policy(family) is as_policy(families()[family][0])


def test_a_policy_is_its_own_name() -> None:
    torch = as_policy("torch")
    assert as_policy(torch) is torch
    assert pickle.loads(pickle.dumps(torch)) is torch


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("torhc", "Did you mean: torch"),
        ("jax@x46", "Did you mean: jax@lax, jax@strict, jax@x32, jax@x64"),
        ("onnx@99", r"Did you mean: onnx@1 … onnx@28\?$"),
        ("Paddle", "Did you mean: paddle"),
        ("", "Write one of: numpy, jax, .*aclnn, onnx, mindspore.*promoarray list"),
        ("NUMPY", "Did you mean: numpy"),
    ],
)
def test_an_unknown_name_lists_the_near_ones(name: str, near: str) -> None:
    for ask in (as_policy, pa.set_policy, pa.policy, pa.namespace):
        with pytest.raises(pa.UnknownPolicyError, match=near):
            ask(name)


def test_a_policy_is_a_name_or_a_policy() -> None:
    with pytest.raises(TypeError, match="a policy is a name or a Policy, not 3"):
        pa.set_policy(3)


# -- the one in force -------------------------------------------------------------------------


def test_the_default_is_unchanged_after_an_error() -> None:
    pa.set_policy("torch")
    with pytest.raises(pa.UnknownPolicyError):
        pa.set_policy("nothing")
    assert pa.get_policy().name == "torch@2.13"


def test_with_nests_and_ends() -> None:
    with pa.policy("jax") as outer:
        assert pa.get_policy() is outer
        with pa.policy("paddle"):
            assert pa.get_policy().name == "paddle"
        assert pa.get_policy() is outer
    assert pa.get_policy().name == "numpy@2"


def test_with_ends_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), pa.policy("jax"):
        1 / 0  # noqa: B018 - the error is the point
    assert pa.get_policy().name == "numpy@2"


def test_a_decorated_function_may_recurse() -> None:
    @pa.policy("jax")
    def names(depth: int) -> list[str]:
        inner = names(depth - 1) if depth else []
        return [*inner, pa.get_policy().name]

    assert names(3) == ["jax@x64"] * 4
    assert pa.get_policy().name == "numpy@2"


def test_threads_do_not_see_each_other() -> None:
    both_in = threading.Barrier(2, timeout=10)

    def work(name: str) -> str:
        with pa.policy(name):
            both_in.wait()
            seen = pa.get_policy().name
            both_in.wait()
        return seen

    with ThreadPoolExecutor(2) as pool:
        assert list(pool.map(work, ["torch@2.11", "paddle"])) == ["torch@2.11", "paddle"]
    assert pa.get_policy().name == "numpy@2"


def test_one_context_manager_serves_many_threads() -> None:
    shared = pa.policy("torch")
    start = threading.Barrier(8, timeout=10)

    @shared
    def work(_: int) -> set[str]:
        start.wait()
        return {pa.get_policy().name for _ in range(200)}

    with ThreadPoolExecutor(8) as pool:
        assert set().union(*pool.map(work, range(8))) == {"torch@2.13"}


def test_threads_see_the_default_of_the_process() -> None:
    pa.set_policy("torch")
    with pa.policy("jax"), ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: pa.get_policy().name).result() == "torch@2.13"


def test_tasks_do_not_see_each_other() -> None:
    async def work(name: str) -> list[str]:
        seen = []
        with pa.policy(name):
            for _ in range(3):
                await asyncio.sleep(0)
                seen.append(pa.get_policy().name)
        return seen

    async def both() -> list[list[str]]:
        return await asyncio.gather(work("jax@x32"), work("paddle"))

    assert asyncio.run(both()) == [["jax@x32"] * 3, ["paddle"] * 3]


def test_a_task_inherits_the_policy_it_was_made_in() -> None:
    async def name() -> str:
        return pa.get_policy().name

    async def outer() -> str:
        with pa.policy("paddle"):
            task = asyncio.create_task(name())
        return await task

    assert asyncio.run(outer()) == "paddle"


def test_the_environment_sets_the_default() -> None:
    code = "import promoarray as pa; print(pa.get_policy().name, pa.zeros(1).dtype)"
    assert run_python(code, PROMOARRAY_POLICY="torch").stdout == "torch@2.13 float32\n"
    assert run_python(code, PROMOARRAY_POLICY="").stdout == "numpy@2 float64\n"


def test_an_unknown_policy_in_the_environment_is_told_when_it_is_needed() -> None:
    code = "import promoarray as pa; print('imported', flush=True); pa.get_policy()"
    failed = run_python(code, PROMOARRAY_POLICY="padle")
    assert (failed.returncode, failed.stdout) == (1, "imported\n")
    assert "UnknownPolicyError" in failed.stderr
    assert "PROMOARRAY_POLICY: unknown policy 'padle'. Did you mean: paddle" in failed.stderr


# -- namespaces -------------------------------------------------------------------------------


def test_a_namespace_keeps_its_policy() -> None:
    xp = pa.namespace("torch")
    assert xp is pa.namespace("torch@2.13")
    with pa.policy("jax"):
        a = xp.asarray([1, 2], dtype=xp.int8)
        assert (a + 1.5).dtype is pa.float32
        assert xp.result_type(xp.int64, xp.float32) is pa.float32
        assert a.__array_namespace__() is xp
    assert pickle.loads(pickle.dumps(xp)) is xp


def test_namespaces_do_not_mix() -> None:
    a, b = pa.namespace("torch").asarray([1]), pa.namespace("jax").asarray([1])
    with pytest.raises(TypeError, match=r"namespaces jax@x64 and torch@2\.13 do not mix"):
        a + b


# -- policies of others -----------------------------------------------------------------------


def test_a_registered_policy_has_a_name() -> None:
    mine = register(Policy.from_table("mine", TABLE))
    assert as_policy("mine") is mine
    assert "mine" in pa.list_policies()
    assert families()["mine"] == ["mine"]
    assert register(mine) is mine, "twice is no harm"
    with pa.policy("mine"):
        assert pa.result_type(pa.int8, pa.float32) is pa.float32
    assert pickle.loads(pickle.dumps(mine)) is mine


def test_a_registered_edition_joins_its_family() -> None:
    mine = register(as_policy("torch").derive("torch@mine", {("int64", "bfloat16"): "float32"}))
    assert families()["torch"][0] == "torch@2.13"
    assert "torch@mine" in families()["torch"]
    assert as_policy("torch@mine") is mine


@pytest.mark.parametrize("name", ["torch@2.13", "paddle", "mine"])
def test_a_name_is_taken_once(name: str) -> None:
    register(Policy.from_table("mine", TABLE))
    with pytest.raises(ValueError, match=f"there is a policy '{name}' already"):
        register(Policy.from_table(name, TABLE))


def distribution(folder: Path, points: str, module: str) -> str:
    """A package with entry points, as an installer leaves it."""
    info = folder / "lender-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: lender\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[promoarray.policies]\n{points}\n")
    (folder / "lender.py").write_text(f"import promoarray as pa\n{module}\n")
    return str(folder)


MODULE = f"""
TABLE = {TABLE!r}
lent = pa.Policy.from_table("lent", TABLE)
def make():
    return pa.Policy.from_table("made", TABLE)
wrong = 3
"""
POINTS = "lent = lender:lent\nmade = lender:make\nwrong = lender:wrong"


def test_entry_points_are_listed_and_loaded_when_asked_for(tmp_path: Path) -> None:
    path = distribution(tmp_path, POINTS, MODULE)
    code = """
import sys, promoarray as pa
assert {"lent", "made", "wrong"} <= set(pa.list_policies())
assert "lender" not in sys.modules
with pa.policy("lent"):
    print(pa.get_policy().name, pa.result_type(pa.int8, pa.float32))
print(pa.policies.as_policy("made") is pa.policies.as_policy("made"))
print("lent" in str(pa.explain("add", "int8", "int8").others))
try:
    pa.set_policy("wrong")
except TypeError as error:
    print(error)
try:
    pa.policies.register(pa.Policy.from_table("lent", "   i8 i16\\ni8 i8 i16\\ni16 i16 i16"))
except ValueError as error:
    print(error)
"""
    done = run_python(code, PYTHONPATH=path)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        "lent float32",
        "True",
        "True",
        "entry point promoarray.policies:wrong is not a Policy but 3",
        "there is a policy 'lent' already; derive one with another name",
    ]


def test_an_entry_point_may_be_the_default(tmp_path: Path) -> None:
    path = distribution(tmp_path, POINTS, MODULE)
    code = "import promoarray as pa; print(pa.get_policy().name)"
    done = run_python(code, PYTHONPATH=path, PROMOARRAY_POLICY="made")
    assert done.stdout == "made\n", done.stderr


def test_a_decorated_coroutine_runs_under_the_policy_to_its_end() -> None:
    @pa.policy("torch")
    async def later() -> object:
        await asyncio.sleep(0)
        return (pa.asarray([1], dtype=pa.int8) * 1.5).dtype

    assert asyncio.run(later()) is pa.float32
