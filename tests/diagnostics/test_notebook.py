"""`promoarray compare notebook.ipynb`: cells as a program."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from command import Command

from promoarray.diagnostics.run import notebook

MARKDOWN = {"cell_type": "markdown", "source": ["# x = 1"]}


def _notebook(tmp_path: Path, *codes: str, **metadata: Any) -> str:
    cells = [{"cell_type": "code", "source": code.splitlines(keepends=True)} for code in codes]
    path = tmp_path / "analysis.ipynb"
    path.write_text(json.dumps({"metadata": metadata, "cells": [MARKDOWN, *cells]}), "utf-8")
    return str(path)


def test_cells_run_in_one_namespace_and_the_report_names_cell_and_line(
    tmp_path: Path, command: Command
) -> None:
    command.write("1 2", "numbers.txt")
    command.write("HALF = 2\n", "beside.py")
    path = _notebook(
        tmp_path,
        "import promoarray as lab\n!ls\n",
        "",
        "%%time\nfrom beside import HALF\nx = lab.asarray([1, 2], dtype=lab.int8)\nx / HALF\n",
        "import sys\nawait __import__('asyncio').sleep(0)\n"
        "read = open('numbers.txt').read(), sys.argv[1:], __name__\n"
        "print(read, file=sys.stderr)\n",
        "def late(y):\n    return y + 'one'\n\nlate(x)\n",
    )
    ran = command(f"compare {path} --policies torch --json -- --fast")
    assert ran.status
    (place,) = ran.data["divergences"]
    assert (place["file"], place["line"]) == (f"{path}[2]", 4)
    assert place["expression"] == "x / HALF"
    edit = place["answers"]["torch@2.13"]["fix"]["edit"]
    assert edit == "lab.astype(x, lab.float64) / HALF"  # named in another cell
    assert "('1 2', ['--fast'], '__main__')" in ran.err
    assert ran.data["program"]["exit_status"] == 1
    assert ran.data["program"]["stopped_at"] == "analysis.ipynb[4]:2: return y + 'one'"
    raised = ran.err[ran.err.index("Traceback") :]
    assert 'analysis.ipynb[4]", line 4, in <module>\n    late(x)\n' in raised
    assert "promoarray/diagnostics" not in raised


def test_why_names_the_cell_that_a_variable_is_from(
    tmp_path: Path, command: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    stored = "import pickle\n\nstored = [pickle.loads(pickle.dumps(np.zeros(2)))]"
    path = _notebook(tmp_path, "import numpy as np", stored, "np.zeros(3)[stored.pop()]")
    origin = "stored: [pickle.loads(pickle.dumps(np.zeros(2)))], analysis.ipynb[2]:3"
    assert f"stored.pop()  float64 (2,)  {origin}" in command("why", path, status=1).out


def test_lines_of_ipythons_own_are_skipped_and_said() -> None:
    said: list[tuple[int, str]] = []

    def skipping(source: str) -> str:
        return notebook.skipping(source, lambda line, what: said.append((line, what)))

    assert skipping("%precision 3\nx = 1\nif x:\n    !ls\nfiles = !ls\nx?\n") == (
        "pass\nx = 1\nif x:\n    pass\npass\npass\n"
    )
    assert [line for line, _ in said] == [1, 4, 5, 6]
    assert said[0][1] == "as it takes IPython: %precision 3"
    said.clear()
    plain = "x = (17\n% 5)\ny = '''\n!no\n'''\n"
    assert skipping(plain) == plain
    assert skipping("await later()\n") == "await later()\n"
    assert said == []
    assert skipping("\n%%bash\nls\n") == ""
    assert said == [(2, "as the cell takes IPython: %%bash")]
    assert skipping("%%timeit -n 3\nx = 1\n") == "pass\nx = 1\n"


@pytest.mark.skipif(importlib.util.find_spec("IPython") is None, reason="without IPython")
def test_ipython_translates_its_lines_where_it_is_installed() -> None:
    names: dict[str, Any] = {}
    made = notebook.translator(names)("\n%who\nx = 1\n", lambda line, what: None)
    assert made.splitlines()[1].startswith("get_ipython().run_line_magic('who'")
    assert made.splitlines()[2] == "x = 1"
    names["get_ipython"]().enable_gui("inline")  # as %matplotlib inline does; there is no window


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{}", "is not a notebook (KeyError: 'cells')"),
        ("[1]", "is not a notebook"),
        ("print(1)", "is not a notebook"),
        ('{"cells": [{"cell_type": "code"}, 3]}', "is not a notebook"),
        ('{"cells": [], "metadata": {"kernelspec": {"language": "R"}}}', "a notebook of R"),
    ],
)
def test_what_is_no_notebook_is_a_usage_error(
    text: str, said: str, tmp_path: Path, command: Command
) -> None:
    path = tmp_path / "wrong.ipynb"
    path.write_text(text, encoding="utf-8")
    assert said in command("compare", str(path), status=2).err


def test_old_notebooks_are_read(tmp_path: Path) -> None:
    path = tmp_path / "old.ipynb"
    cell = {"cell_type": "code", "input": ["x = 1\n", "y = 2"], "language": "python"}
    path.write_text(json.dumps({"worksheets": [{"cells": [cell]}], "nbformat": 3}), "utf-8")
    assert notebook.cells(str(path)) == [notebook.Cell(f"{path}[1]", "x = 1\ny = 2")]
