"""A NumPy program that stops at a number that does not fit: who goes on, and what to run."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Command

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
def test_what_numpy_1_does_where_the_program_stops(line: str, command: Command) -> None:
    Path("program.py").write_text(f"import numpy as np\nne = np.array([1, 2], np.uint8)\n{line}\n")
    data = command("compare program.py --policies numpy@1 --json", status=3).data
    stopped, (expression, dtype) = data["stopped"]["refused"], STOPS[line]
    assert (stopped["line"], stopped["expression"]) == (3, expression)
    assert stopped["answers"]["numpy@2"]["dtype"] is None
    assert stopped["answers"]["numpy@1"]["dtype"] == dtype


def test_the_report_names_what_tries_edits(command: Command) -> None:
    command.write("import numpy as np\nnp.uint8(300)\n")
    said = " ".join(command("compare program.py --policies numpy@1", status=3).out.split())
    assert "promoarray port program.py, which tries" in said


def test_a_refusal_that_the_program_catches_does_not_stop_it(command: Command) -> None:
    Path("program.py").write_text(
        "import numpy as np\ntry:\n    np.uint8(2) * 300\nexcept OverflowError:\n    1 / 0\n"
    )
    stopped = command("compare program.py --policies numpy@1 --json", status=3).data["stopped"]
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
def test_other_errors_are_numpys_own(tmp_path: Path, command: Command, line: str) -> None:
    source = f"import numpy as np\ntry:\n    {line}\nexcept Exception as error:\n    said = error\n"
    names: dict[str, object] = {}
    exec(source, names)  # the same, as it is
    (tmp_path / "program.py").write_text(source + "print(repr(said))\n")
    assert command("compare program.py --policies numpy@1").out.splitlines()[0] == repr(
        names["said"]
    )


def test_of_a_stop_in_a_library_the_option_is_named_and_then_whom_to_tell(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "site-packages"
    command.write(
        "import numpy as np\ndef events(raw):\n    return np.frombuffer(raw, np.uint8)[0] * 256\n",
        "site-packages/minigdf.py",
    )
    monkeypatch.setenv("PYTHONPATH", str(folder))
    program = "import minigdf\nimport numpy as np\nnp.ones(2)\nminigdf.events(b'2')\n"
    command.write(program)
    said = " ".join(command("compare program.py --policies numpy@1", status=3).out.split())
    assert "--packages minigdf, whose operations" in said
    ran = command("diff program.py --from numpy@1 --to numpy@2", status=3)
    assert "--packages minigdf records the library that stopped, too" in ran.err
    ran = command("diff program.py --from numpy@1 --to numpy@2 --packages minigdf", status=1)
    assert "report it to minigdf." in " ".join(ran.out.split())


def test_arrays_of_a_library_compute_and_it_is_named(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a column of pandas: its operators and methods, and NumPy's functions of it."""
    command.write(
        """\
import numpy as np
class Column:
    def __init__(self, values):
        self.values = np.asarray(values, np.uint8)
    def __array__(self, dtype=None, copy=None):
        return self.values
    def __array_ufunc__(self, ufunc, method, *given, **options):
        return Column(getattr(ufunc, method)(*map(np.asarray, given), **options))
    def __add__(self, other):
        with np.errstate(all="ignore"):
            return Column(self.values + np.asarray(other))
    __radd__ = __add__
    def __setitem__(self, key, value):
        self.values[key] = value
    def shifted(self):
        return Column(self.values << 1)
""",
        "site-packages/minipandas.py",
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "site-packages"))
    command.write(
        """\
import numpy as np
from minipandas import Column
class Own:
    def __array__(self): ...
    def __add__(self, other):
        return 1
x = Column([200, 100])
y = x + x
z = np.float32(1) + x
x[0] = 3
r = np.sqrt(x)
s = y.shifted()
Own() + Own()
"""
    )
    said = " ".join(command("check program.py --no-edit", status=None).out.split())
    every = ("add", "add", "setitem", "sqrt")
    named = [f"{what} of minipandas.Column at program.py:{n}" for n, what in enumerate(every, 8)]
    named += ["call of minipandas.Column at program.py:7"]
    named += ["call of minipandas.Column.shifted at program.py:12"]
    assert not [each for each in named if each not in said]
    assert "--packages minipandas records its Python" in said
    assert "Own" not in said
    ran = command("check program.py --no-edit --packages minipandas", status=1)
    said = " ".join(ran.out.split())
    assert "1 of 2 elements wraps: 200 + 200 is 400, and uint8 has 144" in said
    assert "minipandas.Column at" not in said
