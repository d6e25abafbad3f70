"""A NumPy program that stops at a number that does not fit: who goes on, and what to run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from promoarray import __main__ as cli

STOPS = {
    "ne[0] + ne[1] * 256": ("ne[1] * 256", "int64"),
    "np.add(ne, 300)": ("np.add(ne, 300)", "uint16"),
    "ne[0] = 300": ("ne[0] = 300", "uint8"),
    "np.uint8(300)": ("np.uint8(300)", "uint8"),
    "np.array([1, 300], dtype=np.uint8)": ("np.array([1, 300], dtype=np.uint8)", "uint8"),
    "np.full(3, 300, np.uint8)": ("np.full(3, 300, np.uint8)", "uint8"),
    "ne += 300": ("ne += 300", "uint8"),
}


@pytest.mark.parametrize("line", STOPS)
def test_what_numpy_1_does_where_the_program_stops(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(f"import numpy as np\nne = np.array([1, 2], np.uint8)\n{line}\n")
    assert cli.main(["compare", "program.py", "--policies", "numpy@1", "--json"]) == 3
    data: dict[str, Any] = json.loads(capfd.readouterr().out)
    stopped, (expression, dtype) = data["stopped"]["refused"], STOPS[line]
    assert (stopped["line"], stopped["expression"]) == (3, expression)
    assert stopped["answers"]["numpy@2"]["dtype"] is None
    assert stopped["answers"]["numpy@1"]["dtype"] == dtype
    assert cli.main(["compare", "program.py", "--policies", "numpy@1"]) == 3
    said = " ".join(capfd.readouterr().out.split())
    assert "promoarray port program.py, which tries" in said


def test_a_refusal_that_the_program_catches_does_not_stop_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(
        "import numpy as np\ntry:\n    np.uint8(2) * 300\nexcept OverflowError:\n    1 / 0\n"
    )
    assert cli.main(["compare", "program.py", "--policies", "numpy@1", "--json"]) == 3
    stopped = json.loads(capfd.readouterr().out)["stopped"]
    assert stopped["error"].startswith("ZeroDivisionError")


@pytest.mark.parametrize(
    "line",
    [
        "np.asarray(None).astype(np.int16)",
        "np.full(3, 300, 'nonsense')",
        "np.zeros(2, int).fill(None)",
        "np.array([1, 300], dtype=3)",
    ],
)
def test_other_errors_are_numpys_own(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    source = f"import numpy as np\ntry:\n    {line}\nexcept Exception as error:\n    said = error\n"
    names: dict[str, object] = {}
    exec(source, names)  # the same, as it is
    (tmp_path / "program.py").write_text(source + "print(repr(said))\n")
    cli.main(["compare", "program.py", "--policies", "numpy@1"])
    assert capfd.readouterr().out.splitlines()[0] == repr(names["said"])
