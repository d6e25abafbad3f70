"""The values that a program ends with in another interpreter's NumPy."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from promoarray.diagnostics.port import real_numpy

PROGRAM = """\
import sys
import numpy as np
x = np.array([1, 200], dtype=np.uint8)
held = {"a": [np.float32(2), 5, True], 3: (1.5, "text")}
_own = x
print("output")
"""


def test_a_program_ends_there_with_its_values(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    done = real_numpy.run(sys.executable, (str(path), "argument"))
    assert (done.version, done.error) == (np.__version__, "")
    assert {name: str(value) for name, value in done.final.items()} == {
        "x": "numpy uint8[2]",
        "held['a'][0]": "numpy float32",
        "held['a'][1]": "int",
        "held['a'][2]": "bool",
        "held[3][0]": "float",
    }
    assert np.array_equal(np.asarray(done.final["x"].values), [1, 200])


def test_what_stops_it_is_told(tmp_path: Path) -> None:
    path = tmp_path / "program.py"
    path.write_text(PROGRAM + "1 / 0\n")
    assert real_numpy.run(sys.executable, (str(path),)).error.startswith("ZeroDivisionError")
