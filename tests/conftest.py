"""What every test starts from: the default policy."""

from __future__ import annotations

import gc
import os
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest
from command import Command
from sampled import WHOLE

import promoarray as pa
from promoarray.core import refusals
from promoarray.promotion import registry

MANY_PLANS = 5000
"""Of one policy, more than a program's."""

pytest_plugins = ["pytester"]  # for the tests of the plugin

# A slow machine is no failure; what a test may take is pytest's business. Each run draws others.
hypothesis.settings.register_profile("promoarray", deadline=None, max_examples=100 if WHOLE else 40)
hypothesis.settings.load_profile("promoarray")


# Workers are told of the width of a terminal that their output does not go to.
os.environ.pop("COLUMNS", None)


@pytest.fixture(autouse=True)
def _default_policy() -> Iterator[None]:
    pa.set_policy("numpy")
    yield
    pa.set_policy("numpy")


@pytest.fixture(autouse=True, scope="module")
def _few_plans() -> Iterator[None]:
    """Forget the plans that a module has asked for: whole tables are millions of objects, at all of
    which each block of ``pa.check`` looks."""
    yield
    for policy in registry._editions.values():
        if len(policy.plans) > MANY_PLANS:
            policy.plans.clear()


@pytest.fixture
def short_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten thousand refusals: leave out what takes long to find for each message."""
    monkeypatch.setattr(refusals, "remedy", lambda *args: "")
    monkeypatch.setattr(refusals, "elsewhere", lambda *args: "")


@pytest.fixture
def quick_collections() -> None:
    """Leave alone what was there before: ``gc.collect`` would take seconds to look at it.

    It stays so: were it given back, every later collection of the process would take them.
    """
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """What is collected stays to the end, so the garbage collector need not look at it again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.set_threshold(50_000, 20, 100)  # plans are many objects that stay
        gc.enable()


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Write the groups of tests where pytest-xdist looks for them.

    It writes them itself, but to an attribute that pytest 9.2 does not read any more.
    """
    for item in items if getattr(config.option, "loadgroup", False) else ():
        groups = sorted({str(mark.args[0]) for mark in item.iter_markers("xdist_group")})
        if groups and "@" not in item.nodeid.rpartition("]")[2]:
            known: Any = item
            known._id = known._id.parse(f"{item.nodeid}@{'_'.join(groups)}")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A worker is given neighbours to run, some at once."""
    from neighbours import Neighbours

    return Neighbours(config, log)


@pytest.fixture
def command(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Command:
    """``promoarray`` in this process, in the test's own folder."""
    monkeypatch.chdir(tmp_path)
    return Command(capfd, tmp_path)
