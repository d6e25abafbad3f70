"""`promoarray compare` of unmodified PyTorch programs."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from command import Command

from promoarray import cli
from promoarray.diagnostics.compare import command as compare_command
from promoarray.diagnostics.run.frameworks import OWN, expected
from promoarray.diagnostics.run.program import Ended, Program
from promoarray.policies import as_policy

PROGRAM = """\
import gc
import multiprocessing
import os
import subprocess
import sys
import traceback

seen = [sys.path[:], sys.argv[1:], os.environ.get("PYTHONPATH"), "sitecustomize" in sys.modules]
seen += [[m for m in sys.modules if m.startswith("promoarray")], __name__, sorted(globals())]
import torch

seen += [type(torch.__spec__.loader).__name__]
seen += [gc.isenabled(), gc.get_freeze_count(), traceback.format_stack()]
layer = torch.nn.Linear(2, 3)
counts = torch.tensor([1, 2, 4], dtype=torch.int32)


def work(n):
    return (counts * 0.5).sum().item()


if __name__ == "__main__":
    print(seen)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        pool.map(work, [1])
    child = "import torch; torch.ones(2, dtype=torch.int8) / 3"
    if "PROMOARRAY_COMPARE" in os.environ:  # else it takes only time
        subprocess.run([sys.executable, "-c", child], env=dict(os.environ), check=True)
    share = counts / 4  # promoarray: ignore[numpy@2]
    later = share + 1
    later.backwards()
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Ended, str]:
    """A program, how it ended, and what a bare run prints."""
    pytest.importorskip("torch", reason="needs PyTorch: pip install 'promoarray[test-torch]'")
    script = tmp_path_factory.mktemp("recorded") / "train.py"
    script.write_text(PROGRAM)
    kept: list[Ended] = []
    run = Program.run

    def keeping(self: Program, *args: Any, **options: Any) -> Ended:
        kept.append(run(self, *args, **options | {"quiet": True}))
        return kept[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Program, "run", keeping)
        patch.chdir(script.parent)
        cli.main(["compare", "train.py", "--policies", "numpy@2,paddle@3.3"])
    bare = subprocess.run(
        [sys.executable, "train.py"], cwd=script.parent, capture_output=True, text=True
    )
    return script, kept[0], bare.stdout


@pytest.fixture
def compared(
    ran: tuple[Path, Ended, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> Any:
    """The command with other options, on what the one run found."""
    script, ended, _ = ran
    monkeypatch.chdir(script.parent)
    monkeypatch.delenv("GITHUB_WORKSPACE", raising=False)
    monkeypatch.setattr(Program, "run", lambda *_, **__: ended)

    def compare(*options: str) -> tuple[int, str]:
        policies = () if "--policies" in options else ("--policies", "numpy@2,paddle@3.3")
        status = cli.main(["compare", "train.py", *policies, *options])
        return status, capfd.readouterr().out

    return compare


@pytest.mark.slow
def test_the_program_sees_nothing_of_it(ran: tuple[Path, Ended, str]) -> None:
    _, ended, bare = ran
    assert bare
    assert ended.output == bare


@pytest.mark.slow
def test_processes_that_the_program_starts_are_recorded(ran: tuple[Path, Ended, str]) -> None:
    _, ended, _ = ran
    reports = [each.report for each in ended.findings if each.report is not None]
    places = [{d.site.expression for d in report.divergences} for report in reports]
    assert len(places) == 3
    assert any("counts * 0.5" in found for found in places)
    assert not ended.bugs
    assert {report.run.name for report in reports} <= {"torch@2.13", "torch@2.11"}


@pytest.mark.slow
def test_what_stopped_it_and_the_exit_status(compared: Any) -> None:
    status, out = compared()
    assert status == 3
    assert "The program stopped at train.py:31 under torch@2." in out
    assert "AttributeError: 'Tensor' object has no attribute 'backwards'" in out


@pytest.mark.slow
def test_json_has_the_calls_and_the_drift(compared: Any) -> None:
    import jsonschema

    from promoarray.diagnostics.compare import output

    data = json.loads(compared("--json")[1])
    jsonschema.validate(data, json.loads(output.SCHEMA.read_text(encoding="utf-8")))
    assert data["framework"].startswith("torch 2.")
    assert data["understood"] == 1
    assert data["drift"] == []
    assert {"kind": "operation", "name": "add", "count": 1} in data["calls"]
    states = {(f["expression"], f["policy"]): f["state"] for f in data["findings"]}
    assert states["counts / 4", "numpy@2"] == "ignored"
    edits = {f["expression"]: f["edit"] for f in data["findings"]}
    assert edits["counts * 0.5"] == "counts.to(torch.float32) * 0.5"


@pytest.mark.slow
def test_the_parameters_of_a_module_are_no_finding(compared: Any) -> None:
    _, out = compared("--policies", "numpy@2")
    assert "parameters of" not in out
    assert "torch/nn/modules" not in out
    found = json.loads(compared("--json", "--policies", "numpy@2")[1])["findings"]
    assert not any("Linear" in f["expression"] for f in found)


@pytest.mark.slow
def test_a_baseline_and_the_other_formats(compared: Any, ran: tuple[Path, Ended, str]) -> None:
    script, ended, _ = ran
    whole = replace(ended, status=0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Program, "run", lambda *_, **__: whole)
        assert compared()[0] == 1
        assert compared("--fail-on", "none")[0] == 0
        assert compared("--baseline", "known.json", "--update-baseline")[0] == 0
        assert compared("--baseline", "known.json")[0] == 0
        status, out = compared("--format", "sarif")
        assert status == 1
        assert "counts.to(torch.float32) * 0.5" in out
        status, out = compared("--format", "github")
        assert "::warning file=train.py,line=19" in out
        status, _ = compared("--html", "page.html")
        page = (script.parent / "page.html").read_text(encoding="utf-8")
        assert "counts.to(torch.float32) * 0.5" in page
        assert "gives every dtype that torch 2." in compared("--drift")[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--run", "torch"), "--run runs a program of promoarray under another policy"),
        (("--run-all",), "--run-all runs a program of promoarray"),
        (("--show", "x"), "--show runs a program of promoarray"),
        (("--framework", "pytorch"), "'pytorch' is none of auto, promoarray, torch"),
        (("--framework", "promoarray", "--drift"), "--drift is about unmodified programs"),
    ],
)
def test_what_does_not_go_together(
    tmp_path: Path, command: Command, options: tuple[str, ...], message: str
) -> None:
    script = tmp_path / "train.py"
    script.write_text("import torch\n")
    assert message in command("compare", str(script), *options, status=2).err


def main_of(script: str | None, module: str | None) -> str:
    return expected(script, module).framework or OWN


@pytest.mark.parametrize(
    ("source", "framework"),
    [
        ("import torch\n", "torch"),
        ("import torch.nn as nn\nimport numpy\n", "torch"),
        ("from torch import nn\n", "torch"),
        ("import torch\nimport promoarray as xp\n", "promoarray"),
        ("try:\n    import torch\nexcept ImportError:\n    torch = None\n", "torch"),
        ("def f():\n    import torch\n", "torch"),
        ("from .torch import x\n", "promoarray"),
        ("import os, torch\n", "torch"),
        ("import torches\n", "numpy"),
        ("import torch\nx = = 1\n", "promoarray"),
    ],
)
def test_auto_goes_by_what_the_program_imports(
    tmp_path: Path, source: str, framework: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "program.py"
    script.write_text(source)
    assert main_of(str(script), None) == framework
    monkeypatch.chdir(tmp_path)
    assert main_of(None, "program") == framework
    (tmp_path / "__main__.py").write_text(source)
    assert main_of(str(tmp_path), None) == framework


def test_a_program_that_computes_nothing_is_told_what_to_write(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: Command
) -> None:
    script = tmp_path / "program.py"
    script.write_text("import torch\n")
    monkeypatch.setattr(Program, "run", lambda *_, **__: Ended(0, (), ""))
    monkeypatch.setattr(compare_command, "policy_named", lambda _: as_policy("torch@2.13"))
    said = command("compare", str(script), status=3).err
    assert "the program called nothing that computes under torch@2.13: write --framework" in said


def test_auto_of_a_notebook_and_of_a_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = [{"cell_type": "code", "source": text} for text in ("%time\n", "!ls\nimport torch")]
    path = tmp_path / "train.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}}))
    assert main_of(str(path), None) == "torch"
    package = tmp_path / "package"
    package.mkdir()
    (package / "__init__.py").write_text("raise RuntimeError('imported')\n")
    (package / "__main__.py").write_text("import torch\n")
    monkeypatch.chdir(tmp_path)
    assert main_of(None, "package") == "torch"
    assert main_of(None, "package.missing") == "promoarray"


def test_the_summary_names_the_policy_that_jax_chose_as_it_began(command: Command) -> None:
    pytest.importorskip("jax", reason="needs JAX: pip install 'promoarray[test-jax]'")
    Path("wide.py").write_text(
        "import jax\nimport jax.numpy as jnp\n"
        'jax.config.update("jax_enable_x64", True)\ny = jnp.ones(3) * 2\n'
    )
    out = command("compare wide.py --policies jax@x32", status=1).out
    assert " under jax@x64; " in out
    assert " under jax@x32; " not in out


@pytest.mark.parametrize("computes", [False, True])
def test_why_is_named_where_something_was_computed_before_the_stop(
    command: Command, computes: bool
) -> None:
    pytest.importorskip("torch", reason="needs PyTorch: pip install 'promoarray[test-torch]'")
    first = "torch.ones(2) + 1" if computes else "import no_such_module"
    command.write(f"import torch\n{first}\ntorch.ones(2) @ torch.ones(2).double()\n")
    assert ("promoarray why" in command("compare program.py", status=3).err) is computes
