"""The gallery: its page, the pinned reports and the ported program are what the examples give."""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import array_api_compat
import numpy as np
import pytest

import promoarray as pa
from promoarray.diagnostics.model.final import final_values

ROOT = Path(__file__).resolve().parents[2]
PORTED = ROOT / "examples" / "telemetry_ported.py"


@pytest.mark.slow
@pytest.mark.parametrize("needed", [(), ("torch", "jax")], ids=["promoarray", "recorded"])
def test_the_gallery_is_what_the_examples_give(needed: tuple[str, ...]) -> None:
    for module in needed:
        pytest.importorskip(module)
    command = [sys.executable, str(ROOT / "conformance" / "gallery.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the ported program ends with under the NumPy that is installed."""
    folder = tmp_path_factory.mktemp("path")
    (folder / "array_api_compat").symlink_to(Path(array_api_compat.__file__).parent)
    worker = ROOT / "conformance" / "port_examples_worker.py"
    done = subprocess.run(
        [sys.executable, str(worker), "numpy", str(PORTED)],
        env={"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    told: dict[str, Any] = json.loads(done.stdout)
    assert told["error"] == ""
    return told["final"]


@pytest.mark.parametrize("policy", ["numpy@1", "numpy@2"])
def test_the_ported_program_has_the_dtypes_of_the_real_numpy(
    policy: str, real: dict[str, Any]
) -> None:
    names = {"__name__": "__main__", "__file__": str(PORTED)}
    with pa.policy(policy), contextlib.redirect_stdout(io.StringIO()):
        exec(compile(PORTED.read_bytes(), str(PORTED), "exec"), names)
    mine = final_values(names)
    assert real.keys() == mine.keys()
    for name, (dtype, shape, values) in real.items():
        assert (name, dtype) == (name, mine[name].type.removeprefix("numpy "))
        assert np.allclose(np.asarray(values).reshape(shape), mine[name].values, rtol=1e-12)
