"""``promoarray doctor``: what it says of this machine, and what it finds to be wrong."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest
from command import Command

from promoarray.diagnostics import doctor
from promoarray.kernels import levels, use_level

ROOT = Path(__file__).resolve().parents[2]


def test_what_is_installed_works(command: Command) -> None:
    found = command("doctor --json", status=0).data
    assert found["ok"]
    names = {each["name"] for each in found["checks"]}
    assert {"promoarray", "numpy", "ml_dtypes", "array-api-compat", "rich", "cpu"} <= names
    assert sum(each["chapter"] == "compiled loops" for each in found["checks"]) == len(levels())


def test_the_level_in_use_stays() -> None:
    before = use_level(levels()[0])
    try:
        doctor.examine()
        assert use_level(before) == levels()[0]
    finally:
        use_level(before)


def test_other_bits_are_told(monkeypatch: pytest.MonkeyPatch, command: Command) -> None:
    given = iter([[np.zeros(2)]] + [[np.ones(2)]] * len(levels()))
    monkeypatch.setattr(doctor, "_some_casts", lambda: next(given))
    out = command("doctor", status=1).out
    assert out.splitlines()[-1].startswith("To be mended: ")
    assert "gives other bits than the lowest" in out


def test_a_library_that_is_missing_or_too_old(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "requires", lambda _: ["numpy>=99.1", "absent", 'x; extra == "y"'])
    found = [c for c in doctor.examine().checks if c.chapter == "libraries"]
    assert [(c.name, c.ok, c.write) for c in found] == [
        ("numpy", False, "pip install -U 'numpy>=99.1'"),
        ("absent", False, "pip install -U 'absent'"),
    ]


def test_a_policy_of_the_environment_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown() -> None:
        raise doctor.UnknownPolicyError("PROMOARRAY_POLICY: unknown policy 'tuch'")

    monkeypatch.setattr(doctor, "get_policy", unknown)
    found = doctor.examine()
    assert not found
    assert found.headline == "To be mended: policy"
    assert "write unset PROMOARRAY_POLICY" in str(found)


def test_every_extra_of_users_is_told() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    assert {*doctor.EXTRAS} <= {*extras}
    ours = {"benchmarks", "conformance", "gpu-compile", "suites", "test"}
    rest = {e for e in extras if e not in ours and not e.startswith("test-")}
    assert rest - {"docs"} == {*doctor.EXTRAS}


def test_a_setting_cannot_write_to_the_terminal(
    monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    monkeypatch.setenv("PROMOARRAY_NONE_SUCH", "\x1b]0;title\x07<b>")
    out = command("doctor").out
    assert r"\x1b]0;title\x07<b>" in out
    assert "\x1b" not in out
