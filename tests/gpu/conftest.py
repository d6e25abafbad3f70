"""Tell at the end how many kernels were proved, and how."""

from __future__ import annotations

from collections import Counter
from typing import Any


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Add up what the tests recorded."""
    counts: Counter[str] = Counter()
    for report in terminalreporter.getreports("passed"):
        if report.when == "call":
            counts.update(dict(report.user_properties))
    if counts:
        terminalreporter.section("kernels for a GPU")
        for what, count in sorted(counts.items()):
            terminalreporter.write_line(f"{count:6d} {what}")
