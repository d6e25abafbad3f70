"""``%%check``, ``%%compare`` and ``%why`` in IPython."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

interactive = pytest.importorskip(
    "IPython.core.interactiveshell", reason="needs IPython: pip install 'promoarray[test-notebook]'"
)


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("NO_COLOR", "1")
    interactive.InteractiveShell.clear_instance()
    made = interactive.InteractiveShell.instance(colors="nocolor")
    made.run_line_magic("load_ext", "promoarray")
    made.run_cell("import numpy as np\nx = np.array([200], np.uint8)")
    yield made
    interactive.InteractiveShell.clear_instance()


def test_check_tells_losses_at_the_lines_of_the_cell(shell: Any, capsys) -> None:
    shell.run_cell("%%check\n\ny = x + x")
    out = capsys.readouterr().out
    assert ":3  y = x + x" in out
    assert "200 + 200 is 400" in out
    assert shell.user_ns["y"][0] == 144
    assert not [name for name in shell.user_ns if name.startswith("_promoarray")]


def test_a_cell_of_a_magic_bears_its_own_number(shell: Any, capsys) -> None:
    shell.run_cell("x = x + 0", store_history=True)
    shell.run_cell("%%check\ny = x + x", store_history=True)
    assert "In [2]:2  y = x + x" in capsys.readouterr().out
    shell.run_cell("z = 1", store_history=True)
    assert shell.execution_count == 4


def test_check_takes_kinds(shell: Any, capsys) -> None:
    shell.run_cell("%%check nan-born, overflow\ny = x + x")
    assert "nothing was lost" in capsys.readouterr().out


def test_texts_of_several_lines_stay(shell: Any) -> None:
    shell.run_cell('%%check\nif True:\n    s = """a\n  b\n"""\nn = f"""{1}\n"""')
    assert shell.user_ns["s"] == "a\n  b\n"
    assert shell.user_ns["n"] == "1\n"


def test_compare_asks_policies(shell: Any, capsys) -> None:
    shell.run_cell("%%compare torch\ny = x / 2")
    assert "float32     torch@2.13" in capsys.readouterr().out


def test_what_another_cell_imports_is_not_asked_for(shell: Any, capsys) -> None:
    shell.run_cell(
        "import promoarray as pa\nz = pa.asarray([1], dtype=pa.int8)", store_history=True
    )
    shell.run_cell("%%compare torch\ny = z / 2", store_history=True)
    out = capsys.readouterr().out
    assert "write       pa.astype(z, pa.float64)" in out
    assert "needs import" not in out


def test_errors_are_those_of_a_cell(shell: Any, capsys) -> None:
    shell.run_cell("%%check\ny = x +")
    shell.run_cell("%%check\ny = 1 / 0")
    out = capsys.readouterr().out
    assert "SyntaxError: invalid syntax" in out
    assert "ZeroDivisionError: division by zero" in out
    shell.run_cell("%%check\ny = x + x")
    assert "200 + 200 is 400" in capsys.readouterr().out


def test_cells_after_one_that_fails_are_not_run(shell: Any, capsys) -> None:
    for cell in ("%%check\n1 / 0", "%%check\nreturn 1", "%%check nope\n1"):
        assert not shell.run_cell(cell).success
    assert "SingleUse" not in capsys.readouterr().out.rpartition("Error")[2]


def test_letters_that_end_lines_elsewhere(shell: Any) -> None:
    assert shell.run_cell('%%check\ns = "a\x0cb"').success
    assert shell.user_ns["s"] == "a\x0cb"


def test_why(shell: Any, capsys) -> None:
    lines = "import promoarray as pa", "with pa.record('numpy'):", "    y = x * np.float64(2)"
    shell.run_cell("\n".join(lines))
    shell.run_cell("%why y")
    assert "y  float64  x * np.float64(2), " in capsys.readouterr().out
    shell.run_cell("x += 0.5")
    capsys.readouterr()
    shell.run_cell("%why")
    assert "refuses iadd(uint8)" in capsys.readouterr().out


def test_why_names_what_was_not_recorded(shell: Any, capsys) -> None:
    shell.run_cell("%why x")
    assert "x  uint8: it was not made while recording" in capsys.readouterr().out


def test_compare_names_the_libraries_that_it_does_not_record(shell: Any, capsys) -> None:
    shell.run_cell("import types; paddle = types.ModuleType('paddle'); np = np")
    from promoarray.diagnostics import magics

    assert magics._libraries(shell) == ["paddle", "numpy"]
    shell.run_cell("del paddle")
    shell.run_cell("%%compare torch\ny = x / 2")
    assert "Not examined: what" not in capsys.readouterr().out


def test_a_name_in_the_last_line_is_shown_as_of_any_cell(shell: Any, capsys) -> None:
    shell.run_cell("%%check\ny = x + x\ny.shape")
    out = capsys.readouterr().out
    assert out.startswith("(1,)\n")
    assert "200 + 200 is 400" in out
    shell.run_cell("%%check\ny = x + x\ny;")
    assert "array" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%%check nope\n1", "UsageError: 'nope' is none of integer-wrap"),
        ("%%compare trch\n1", "UsageError: unknown policy 'trch'"),
        ("%why nothing", "UsageError: name 'nothing' is not defined"),
    ],
)
def test_a_wrong_word_is_told_in_a_line(shell: Any, capsys, cell: str, said: str) -> None:
    assert not shell.run_cell(cell).success
    told = capsys.readouterr()
    assert said in told.out + told.err
    assert "Traceback" not in told.out + told.err
