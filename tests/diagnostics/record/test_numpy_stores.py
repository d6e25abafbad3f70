"""Numbers that integers do not hold, stored in arrays: what NumPy 1 kept, and NumPy 2 refuses."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path

import pytest
from command import Command

from promoarray import __main__ as cli

REFUSED = {
    "a = x.copy(); a[0] = 300": [44, 100, 60],
    "a = x.copy(); a[0] = 300.0": [44, 100, 60],
    "a = x.copy(); a[:] = [1, 2.5, 300.7]": [1, 2, 44],
    "a = x.copy(); a[1:] = (7, 256)": [200, 7, 0],
    "a = x.copy(); a[0], a[1] = 1, 300": [1, 44, 60],
    "a = x.copy(); a.fill(300)": [44, 44, 44],
    "a = x.copy(); a.put([0], -1)": [255, 100, 60],
    "a = x.copy(); np.put(a, ind=[0], v=300)": [44, 100, 60],
    "a = x.copy(); np.copyto(a, 300)": [44, 44, 44],
    "a = x.copy(); np.copyto(a, src=300)": [44, 44, 44],
    "a = np.array([1.5, -1.0], np.uint8)": [1, 255],
    "a = np.asarray(40000.0, np.int16)": -25536,
    "a = np.uint8(-1.5)": 255,
    "a = np.full_like(x, fill_value=-1)": [255, 255, 255],
    # NumPy's scalars stored one by one in signed integers go by Python's numbers.
    "a = z.copy(); a[0] = np.int64(300)": [44, 0],
    "a = z.copy(); a[...] = np.uint16(300)": [44, 44],
    "a = z.copy(); a[0] = np.float64(300.5)": [44, 0],
    "a = z.copy(); a[:] = [np.int64(300), 1]": [44, 1],
    "a = z.copy(); a[[0, 1]] = [np.int64(300), 1]": [44, 1],
    "a = z.copy(); a[0], a[1] = np.int64(300), 2": [44, 2],
    "a = z.copy(); a.fill(np.int64(300))": [44, 44],
    "a = np.array([np.int64(300)], np.int8)": [44],
    "a = np.array([[np.float64(300.5)]], np.int8)": [[44]],
    "a = np.array(object=[np.int64(300)], dtype=np.int8)": [44],
    "a = np.asarray(a=[np.int64(300)], dtype=np.int8)": [44],
}
"""What the array is in NumPy 1.26.4, which NumPy 2.4.6 refuses."""

ALIKE = {
    "a = x.copy(); a[0] = np.int64(300)": [44, 100, 60],
    "a = x.copy(); a[0] = np.float64(300)": [44, 100, 60],
    "a = x.copy(); a[:] = [1, 2, np.int64(300)]": [1, 2, 44],
    "a = np.array([np.int64(300)], np.uint8)": [44],
    "a = np.uint8(np.int64(300))": 44,
    "a = np.int8(np.int64(300))": 44,
    "a = np.array(np.int64(300), np.int8)": 44,
    "a = np.full_like(z, np.int64(300))": [44, 44],
    "a = z.copy(); a[z == 0] = np.int64(300)": [44, 44],
    "a = z.copy(); a[[0]] = np.int64(300)": [44, 0],
    "a = z.copy(); a.put([0], np.int64(300))": [44, 0],
    "a = z.copy(); np.copyto(a, np.int64(300), casting='unsafe')": [44, 44],
    "a = np.full(2, np.int64(-1), np.uint8)": [255, 255],
    "a = np.full(2, 300.9, np.uint8)": [44, 44],
    "a = x.copy(); np.copyto(dst=a, src=7)": [7, 7, 7],
    "a = y == 2**64": [False, False],
    "a = y < 2**64": [True, True],
}
"""What both editions make alike, without a word."""

START = """\
import numpy as np
x = np.array([200, 100, 60], np.uint8)
y = np.array([2**53 + 1, 5])
z = np.zeros(2, np.int8)
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Each line, and what it made printed."""
    made = tmp_path / "program.py"
    lines = "".join(f"{line}; print(a.tolist())\n" for line in (*REFUSED, *ALIKE))
    made.write_text(START + lines)
    return made


def test_what_numpy_2_refuses_to_store_is_found_and_nothing_else(
    program: Path, command: Command
) -> None:
    out = command("diff --json --from numpy@1 --to numpy@2", str(program)).out
    data = json.loads(out[out.index("{") :])
    first = START.count("\n") + 1
    assert [each["line"] for each in data["changes"]] == [*range(first, first + len(REFUSED))]
    assert {each["kind"] for each in data["changes"]} == {"refusal"}
    assert (data["program"]["error"], data["not_examined"]) == (None, [])


def test_the_ported_program_stores_in_numpy_2_what_numpy_1_stored(program: Path) -> None:
    assert cli.main(["port", "--write", "--to", "numpy@2", str(program)]) == 0
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(program.read_text(), {})
    assert out.getvalue().splitlines() == [*map(str, (REFUSED | ALIKE).values())]
