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

import promoarray as pa

pytest_plugins = ["pytester"]  # for the tests of the plugin

# A slow machine is no failure; what a test may take is pytest's business.
hypothesis.settings.register_profile("promoarray", deadline=None)
hypothesis.settings.load_profile("promoarray")


# Workers are told of the width of a terminal that their output does not go to.
os.environ.pop("COLUMNS", None)


@pytest.fixture(autouse=True)
def _default_policy() -> Iterator[None]:
    pa.set_policy("numpy")
    yield
    pa.set_policy("numpy")


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
        gc.enable()


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
