"""``--pa-why``: where the dtypes came from at which a test stopped, in the test's report."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from importlib import import_module
from types import TracebackType
from typing import Any

import pytest

from promoarray.core.call_site import entries_of, traceback_of
from promoarray.diagnostics.record.block import FRAMEWORKS, recording
from promoarray.diagnostics.record.origins import Origins
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.why.question import stopped


class Why:
    """Records the frameworks that are loaded while tests are collected and run.

    One recorder a framework lasts as long as the run, for arrays that modules and wide fixtures
    make. Of NumPy nothing is recorded: a test's line and its variables are read from the error.
    """

    def __init__(self) -> None:
        self._recorders: dict[str, Recorder] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Iterator[Any]:
        """Record what modules make, of frameworks that are loaded before them."""
        with self._recording():
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self) -> Iterator[Any]:
        """Record a test, and the fixtures that it makes."""
        with self._recording():
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Say in the report where the dtypes came from."""
        found = None
        if call.excinfo is not None:
            found = stopped(call.excinfo.value, self._recorders.values())
            error = call.excinfo.value.with_traceback(_unrecorded(call.excinfo.tb))
            call.excinfo = pytest.ExceptionInfo.from_exception(error)
        report = yield
        if report.failed and found and found.failed and found.failed.for_a_dtype:
            found.note = ""
            report.sections.append(("promoarray why", str(found)))
        return report

    def _recording(self) -> ExitStack:
        entered = ExitStack()
        for name, framework in FRAMEWORKS.items():
            if name not in sys.modules:
                continue
            if name not in self._recorders:
                version = import_module(name).__version__
                given: Any = {"framework": f"{name} {version}", "origins": Origins()}
                self._recorders[name] = Recorder(framework.home(version), (), **given)
            entered.enter_context(recording(framework, self._recorders[name]))
        return entered


def _unrecorded(entry: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of recorders, through which calls went."""
    names = ((each, each.tb_frame.f_globals.get("__name__", "")) for each in entries_of(entry))
    return traceback_of([each for each, name in names if not name.startswith(_RECORDERS)])


_RECORDERS = "promoarray.diagnostics.record."
