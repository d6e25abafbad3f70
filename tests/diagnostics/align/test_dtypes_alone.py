"""``promoarray align`` of runs without values: dtypes are compared, and it says that no more is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command import Command

PROGRAM = """
import numpy as np
x = np.arange(6, dtype=np.uint8)
y = x.astype(np.float32) * 3.0
z = y.mean()
"""


@pytest.fixture
def programs(command: Command) -> Any:
    first = command.write(PROGRAM)
    second = Path(first).with_name("second.py")
    second.write_text(PROGRAM.replace("np.float32", "np.float64"))
    return command, str(first), str(second)


@pytest.mark.parametrize("saved", [True, False])
def test_the_first_dtype_that_differs_is_told(programs: Any, saved: bool, tmp_path: Path) -> None:
    command, first, second = programs
    if saved:
        command(f"why --save {tmp_path / 'run.zip'}", first)
        first = str(tmp_path / "run.zip")
    ran = command(f"align {first} {second} --json", status=1)
    (difference,) = json.loads(ran.out)["differences"]
    assert (difference["kind"], difference["second"]["line"]) == ("dtype", 4)
    assert difference["cause"] == "uint8 give float64; the first program has float32 there"


def test_equal_dtypes_leave_values_not_examined(programs: Any, tmp_path: Path) -> None:
    command, first, _ = programs
    command(f"why --save {tmp_path / 'run.zip'}", first)
    data = json.loads(command(f"align {tmp_path / 'run.zip'} {first} --json", status=4).out)
    assert data["differences"] == []
    assert "run.zip has none (align --save keeps them)" in data["not_paired"][0]
