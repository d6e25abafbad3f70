"""Runs of pytest inside this process load what of promoarray is loaded later."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from _pytest import pytester


class _KeepingOurs(pytester.SysModulesSnapshot):
    """Leaves what of promoarray a run has loaded where it is: the rest of the session would load it
    once more, beside what the package has of it."""

    def __init__(self, preserve: Callable[[str], bool] | None = None) -> None:
        super().__init__(lambda n: n.startswith("promoarray") or bool(preserve and preserve(n)))


@pytest.fixture(autouse=True)
def _load_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytester, "SysModulesSnapshot", _KeepingOurs)
