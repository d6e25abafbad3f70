"""``promoarray align``: clean translations, and translations with one fault each."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import zipfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from promoarray.core.call_site import Site
from promoarray.diagnostics.align.departure import find
from promoarray.diagnostics.align.graph import read
from promoarray.diagnostics.align.pairing import Pairing
from promoarray.diagnostics.record.saved import NotSaved
from promoarray.diagnostics.record.tape import Tape, TapeAsked

PROGRAMS = Path(__file__).parent / "programs"


def align(folder: Path, *words: str) -> Any:
    """What the command says, as JSON."""
    command = [sys.executable, "-m", "promoarray", "align", *words]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    ran = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    assert ran.stdout, ran.stderr
    return json.loads(ran.stdout)


@pytest.fixture(scope="session")
def block(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run of the block in PyTorch, which is saved."""
    pytest.importorskip("torch")
    path = tmp_path_factory.mktemp("align") / "block.zip"
    command = [sys.executable, "-m", "promoarray", "align", str(PROGRAMS / "block_torch.py")]
    subprocess.run([*command, "--save", str(path)], check=True, capture_output=True)
    return path


FAULTS = {
    # what is written otherwise, with the words of the cause
    "eps": ("var + 1e-5", "var + 1e-6", "another number: the first adds 1e-05"),
    "a scale is missing": (" * (W // H) ** -0.5", "", "a step less"),
    "an activation": ("approximate=False", "approximate=True", "gelu"),
    "a mask": ("-jnp.inf", "-1.0", "another function: masked_fill in the first, where"),
    "an axis": ("scores, axis=-1", "scores, axis=-2", "another axis"),
    "a bias correction": ("(m / (1 - b1**n))", "m", ""),
    "a cast": ('+ apply(p["out"], y)', '+ apply(p["out"], y).astype(jnp.float16)', "a cast"),
    "a transposed weight": (
        'return x @ p["kernel"] +',
        'return x @ (p["kernel"].T if x.shape[-1] == p["kernel"].shape[1] else p["kernel"]) +',
        "transposed",
    ),
}


GAPS = {
    "an activation": "near 0 the two are closer than what is taken for rounding",
    "a transposed weight": "drawn weights are copied in the layout that the program asks for",
}
"""Faults that are not found at their line yet."""


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(name, marks=pytest.mark.xfail(reason=GAPS[name], strict=True))
        if name in GAPS
        else name
        for name in FAULTS
    ],
)
def test_a_fault_is_found_at_its_line(fault: str, block: Path, tmp_path: Path) -> None:
    if find_spec("jax") is None:
        pytest.skip("JAX is not installed")
    text = (PROGRAMS / "block_jax.py").read_text()
    old, new, cause = FAULTS[fault]
    before, found, _ = text.partition(old)
    assert found
    (tmp_path / "fault.py").write_text(text.replace(old, new, 1))
    data = align(tmp_path, str(block), "fault.py", "--json", "--differences=1", "--no-edit")
    (difference,) = data["differences"]
    assert difference["second"]["line"] == before.count("\n") + 1
    assert cause in difference["cause"]


@pytest.mark.parametrize(
    ("program", "framework"), [("block", "jax"), ("block", "paddle"), ("cnn", "jax")]
)
def test_a_clean_translation_departs_nowhere(program: str, framework: str, tmp_path: Path) -> None:
    if find_spec("torch") is None or find_spec(framework) is None:
        pytest.skip(f"torch or {framework} is not installed")
    pair = (str(PROGRAMS / f"{program}_{each}.py") for each in ("torch", framework))
    data = align(tmp_path, *pair, "--json")
    assert data["differences"] == []
    assert data["paired"] > 60


def test_paddle_keeps_the_biased_variance_and_nothing_else_is_another(tmp_path: Path) -> None:
    """Its ``batch_norm`` divides by n where PyTorch's running variance divides by n - 1."""
    if find_spec("torch") is None or find_spec("paddle") is None:
        pytest.skip("torch or paddle is not installed")
    pair = (str(PROGRAMS / f"cnn_{each}.py") for each in ("torch", "paddle"))
    data = align(tmp_path, *pair, "--json", "--no-edit", "--differences=2")
    assert [each["second"]["line"] for each in data["differences"]] == [23, 25]
    for each, count in zip(data["differences"], (256, 64), strict=True):
        assert f"divides the variance by {count} - 1" in each["cause"]


# -- without a framework ---------------------------------------------------------------------------


class Written:
    """A tape that is written down by hand: ``y = run("add", 3, "add", x, 1.0)``."""

    def __init__(self, path: Path, framework: str) -> None:
        self.tape, self._framework = Tape(TapeAsked(str(path))), framework

    def __call__(
        self, line: int, operation: str, result: Any, *operands: Any, name: str = ""
    ) -> Any:
        def said(x: Any) -> Any:
            if isinstance(x, float):
                return {"number": repr(x)}
            return {"value": self.tape.value(x, x.dtype.name)} if hasattr(x, "dtype") else x

        row = {
            "name": name or operation,
            "operation": operation,
            "framework": self._framework,
            "operands": [*map(said, operands)],
            "keywords": {},
            "results": [self.tape.value(result, result.dtype.name)],
            "written": [],
        }
        site = Site(f"{self._framework}.py", line, 0, f"line {line}", operation)
        self.tape.put(row, (site, site))
        return result


def attention(run: Written, scale: float | None = 0.25, dtype: str = "float32") -> None:
    """A product, a scale, and shares, after two operations that need no order."""
    draw = np.random.default_rng(0)
    x, w = draw.normal(size=(2, 6, 16, 16)).astype("float32")
    first = run(1, "tanh", np.tanh(x), x)
    second = run(2, "sin", np.sin(w), w)
    scores = run(3, "matmul", first @ second, first, second)
    if scale is not None:
        scores = run(4, "multiply", (scores * np.float32(scale)).astype(dtype), scores, scale)
    powers = np.exp(scores - scores.max(-1, keepdims=True))
    run(5, "softmax", powers / powers.sum(-1, keepdims=True), scores)


def departure(tmp_path: Path, **how: Any) -> Any:
    for name, options in (("torch", {}), ("jax", how)):
        run = Written(tmp_path / f"{name}.zip", name)
        attention(run, **options)
        run.tape.write()
    return find(Pairing(read(str(tmp_path / "torch.zip")), read(str(tmp_path / "jax.zip"))))


def test_what_is_the_same_departs_nowhere(tmp_path: Path) -> None:
    assert departure(tmp_path) is None


def test_a_number_that_is_another_is_told_with_both(tmp_path: Path) -> None:
    found = departure(tmp_path, scale=0.5)
    assert (found.second.place.line, found.numbers) == (4, (0.25, 0.5))


def test_a_missing_scale_is_told_where_it_is_missing(tmp_path: Path) -> None:
    found = departure(tmp_path, scale=None)
    assert (found.second.place.line, found.first.place.line) == (3, 4)
    assert found.cause.startswith("a step less")


def test_a_dtype_is_told_before_its_values(tmp_path: Path) -> None:
    found = departure(tmp_path, dtype="float64")
    assert (found.second.place.line, found.kind) == (4, "dtype")


@pytest.mark.parametrize("text", [b"", b"PK\x03\x04", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_tape_is_an_error(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "run.zip").write_bytes(text)
    with pytest.raises(NotSaved, match=r"run\.zip"):
        read(str(tmp_path / "run.zip"))


def test_values_in_a_tape_are_never_unpickled(tmp_path: Path) -> None:
    run = Written(tmp_path / "run.zip", "torch")
    attention(run)
    run.tape.write()
    name = next(iter(run.tape.values))
    kept = io.BytesIO()
    np.save(kept, np.array([object()]), allow_pickle=True)
    with zipfile.ZipFile(tmp_path / "run.zip") as archive:
        members = {each: archive.read(each) for each in archive.namelist()}
    members[f"values/{name}.npy"] = kept.getvalue()
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
        for each, data in members.items():
            archive.writestr(each, data)
    with pytest.raises(NotSaved):
        read(str(tmp_path / "run.zip"))
