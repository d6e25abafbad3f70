"""``--pa-check``: tests in which numbers are lost fail."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

from promoarray.diagnostics.check.block import check
from promoarray.diagnostics.check.settings import defaults
from promoarray.diagnostics.record.numpy.importing import importing
from promoarray.diagnostics.record.numpy.loaded import functions_rewritten


class Check:
    """Looks at what each test computes, without its fixtures.

    Parameters
    ----------
    folder : Path
        Whose ``pyproject.toml`` has the settings, or one above it.
    """

    def __init__(self, folder: Path) -> None:
        try:
            self._settings = defaults(folder)
        except ValueError as error:
            raise pytest.UsageError(str(error)) from None

    @pytest.hookimpl(wrapper=True)
    def pytest_runtestloop(self) -> Generator[None, Any, Any]:
        """Have the functions of tests, and what they call, be such that NumPy is looked at."""
        with functions_rewritten(), importing():
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """Fail a test at whose lines something is lost that has to fail."""
        given = {name: self._settings[name] for name in ("shadow", "ulps", "share")}
        with check(*self._settings["only"], **given) as report:
            answer = yield
        report.told = [t for t in report.told if t.place.kind in self._settings["fail_on"]]
        if report.told:
            pytest.fail(f"promoarray check\n{report}", pytrace=False)
        return answer
