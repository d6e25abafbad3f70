"""``--pa-check``: tests in which numbers are lost fail."""

from __future__ import annotations

import argparse
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from promoarray.diagnostics.check.block import check
from promoarray.diagnostics.check.settings import fill
from promoarray.diagnostics.check.told import Told
from promoarray.diagnostics.command_line import COMMANDS, CommandParser, declare
from promoarray.diagnostics.findings.classify import Ignored
from promoarray.diagnostics.record.numpy.importing import importing
from promoarray.diagnostics.record.numpy.loaded import functions_rewritten
from promoarray.diagnostics.settings import find


class Check:
    """Looks at what each test computes, without its fixtures.

    Parameters
    ----------
    folder : Path
        Whose ``pyproject.toml`` has the settings, or one above it.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self._settings = _settings(folder)
        except ValueError as error:
            raise pytest.UsageError(str(error)) from None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, Any, Any]:
        """Have the functions of tests, and what they call, be such that NumPy is looked at."""
        with functions_rewritten(of_all_tests=True), importing():
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Fail a test at whose lines something is lost that has to fail."""
        given = {name: getattr(self._settings, name) for name in ("shadow", "ulps", "share")}
        with check(*self._settings.only, **given) as report:
            answer = yield
        report.told = [t for t in report.told if self._fails(t)]
        if report.told:
            pytest.fail(f"promoarray check\n{report}", pytrace=False)
        return answer

    def _fails(self, told: Told) -> bool:
        ignored = Ignored.by(self._settings).covers(told.finding)
        return told.place.kind in self._settings.fail_on and not ignored


def _settings(folder: Path) -> argparse.Namespace:
    """Return the arguments of the command, as the project has them."""
    parser = CommandParser("check")
    declare(parser, COMMANDS["check"].takes)
    if project := find(folder):
        project.fill(parser, "check")
    args = parser.parse_args(["-m", ""])
    fill(args)
    return args
