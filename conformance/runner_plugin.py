"""What the pytest plugins of `array_api.py` and `suites.py` share: a JSON line for each test."""

from __future__ import annotations

import json
from typing import Any

import pytest


class Events:
    """Writes a line for each test that is over, from the process that hears of all."""

    def __init__(self, path: str | None) -> None:
        self.file = open(path, "a", encoding="utf-8") if path else None  # noqa: SIM115
        self.open: dict[str, dict[str, Any]] = {}

    def write(self, **event: Any) -> None:
        """Write an event."""
        if self.file:
            self.file.write(json.dumps(event) + "\n")
            self.file.flush()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        if session.items:
            self.write(tests=len(session.items))

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        self.write(tests=len(ids))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.write(id=report.nodeid, outcome="error", why=_why(report))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        test = self.open.setdefault(report.nodeid, {"outcome": "passed", "seconds": 0.0})
        test["seconds"] += report.duration
        if hasattr(report, "wasxfail"):
            test["outcome"] = "xfailed" if report.skipped else "xpassed"
            test["why"] = report.wasxfail
        elif not report.passed:
            test["outcome"] = report.outcome
            test["why"] = _why(report)
        test |= dict(report.user_properties)
        if report.when == "teardown":
            del self.open[report.nodeid]
            test["seconds"] = round(test["seconds"], 3)
            self.write(id=report.nodeid, **test)

    def pytest_unconfigure(self) -> None:
        if self.file:
            self.file.close()


def _why(report: Any) -> str:
    """The line that tells why a test failed or was skipped."""
    if isinstance(report.longrepr, tuple):
        return str(report.longrepr[2])
    crash = getattr(report.longrepr, "reprcrash", None)
    text = crash.message if crash else str(report.longrepr).strip().splitlines()[-1]
    return str(text.strip().splitlines()[0])
