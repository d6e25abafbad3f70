"""Functions by name: what a framework refuses, defines otherwise, or was not asked about."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from promoarray.__main__ import main

PROGRAM = """\
import torch
import torch.nn.functional as F
x = torch.tensor([1, 2, 3, 4])
middle = torch.median(x * 1.0)
active = F.relu(x)
added = torch.zeros(2).addr(x[:2] * 1.0, x[:2] * 1.0)
flat = x.reshape(2, 2).t().contiguous()
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    pytest.importorskip("torch")
    path: Path = tmp_path_factory.mktemp("calls") / "program.py"
    path.write_text(PROGRAM)
    out = path.with_suffix(".json")
    main(["compare", str(path), "--policies", "paddle@3.3", "--json", "--output", str(out)])
    data: dict[str, Any] = json.loads(out.read_text())
    return data


def _open(data: dict[str, Any]) -> dict[str, str]:
    (verdict,) = data["verdicts"]
    return {each["what"]: each["why"] for each in verdict["not_examined"]}


def test_a_kernel_that_a_framework_lacks_is_a_refusal(data: dict[str, Any]) -> None:
    refused = [each for each in data["findings"] if each["kind"] == "refuse"]
    assert [each["line"] for each in refused] == [5]


def test_a_function_that_is_defined_otherwise_is_named(data: dict[str, Any]) -> None:
    assert "the mean of the two in the middle" in _open(data)["median"]


def test_a_function_that_was_not_asked_is_named_and_structure_is_not(data: dict[str, Any]) -> None:
    assert "not asked" in _open(data)["addr"]
    assert {"reshape", "t", "contiguous", "relu"}.isdisjoint(_open(data))


def _compared(tmp_path: Path, program: str, policies: str) -> dict[str, Any]:
    path = tmp_path / "program.py"
    path.write_text(program)
    out = path.with_suffix(".json")
    main(["compare", str(path), "--policies", policies, "--json", "--output", str(out)])
    found: dict[str, Any] = json.loads(out.read_text())
    return found


FILLED = """\
import torch
half = torch.empty(4, dtype=torch.float16).normal_()
coins = torch.zeros(4, dtype=torch.int32).bernoulli_(0.5)
drawn = torch.randint(0, 5, (3,), dtype=torch.int8)
order = torch.randperm(4, dtype=torch.int16)
known = torch.randn(3, dtype=torch.float16)
given = torch.zeros(3, dtype=torch.uint8)
like = torch.zeros_like(known, dtype=torch.float64)
counted = torch.tensor([True, False]).cumsum(0, dtype=torch.int64)
shares = torch.tensor([1, 2]).softmax(0, dtype=torch.float32)
"""


def test_fills_and_makers_of_a_dtype_are_asked(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    found = _compared(tmp_path, FILLED, "paddle@3.3")
    refused = [each["line"] for each in found["findings"] if each["kind"] == "refuse"]
    assert refused == [3, 4, 5]
    assert _open(found) == {
        "normal_": "its kernels for the CPU have no float16, and no GPU was asked"
    }


TRAINED = """\
import torch
from torch import nn
model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 1))
for weights in model.parameters():
    nn.init.uniform_(weights, -0.1, 0.1)
nn.init.trunc_normal_(model[0].weight, std=0.02)
nn.init.xavier_uniform_(model[3].weight)
nn.init.zeros_(model[3].bias)
x = torch.randn(16, 4)
loss = (model(x + torch.empty_like(x).normal_(0, 0.01)) ** 2).mean()
noise = torch.normal(0.0, 1.0, (3,))
"""


def test_weights_that_are_drawn_in_float32_are_no_noise(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    found = _compared(tmp_path, TRAINED, "paddle@3.3,jax@x32")
    assert [each["verdict"] for each in found["verdicts"]] == ["agrees", "agrees"]


def test_what_is_drawn_from_numbers_has_the_default_dtype(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    program = "import torch\nnoise = torch.normal(0.0, 1.0, (3,))\nmore = noise * 2\n"
    found = _compared(tmp_path, program, "jax@x64")
    assert [each["verdict"] for each in found["verdicts"]] == ["differs"]


def test_a_power_of_a_number_that_is_not_negative_is_no_negative_one(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    program = "import torch\nx = torch.tensor([1, 2])\ny = x**2\nz = x ** torch.tensor([-1, 2])\n"
    (verdict,) = _compared(tmp_path, program, "jax@x64")["verdicts"]
    assert [each["where"] for each in verdict["not_examined"]] == ["program.py:4"]


def test_a_count_of_results_that_differs_is_told(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    program = "import torch\nx = torch.tensor([1.0, 2.0]).cummax(0)\n"
    found = _compared(tmp_path, program, "jax@x32")
    assert "values and indices in PyTorch 2.13, values in JAX" in _open(found)["cummax"]


COMPARED = """\
import numpy as np
same = np.float32(0.1) == 0.1
exact = np.float32(0.5) < 0.25
many = np.float32([0.1]) == 0.1
whole = np.uint8(1) == 257
"""


def test_a_comparison_with_a_number_that_is_another_one_there_is_decided(tmp_path: Path) -> None:
    report = _compared(tmp_path, COMPARED, "numpy@1")
    (change,) = report["value_changes"]
    (difference,) = change["differences"]
    assert (change["line"], difference["policies"]) == (2, ["numpy@1"])
    assert (difference["run"], difference["becomes"]) == ("True", "False")
    assert not report["verdicts"][0]["not_examined"]


@pytest.mark.parametrize(
    "compared",
    [
        "np.float32(0.1) == x for x in (0.25, 0.1)",
        "np.float32(2**24) < x for x in (2**24, 2**24 + 1)",
    ],
)
def test_each_number_of_a_loop_is_looked_at(tmp_path: Path, compared: str) -> None:
    program = f"import numpy as np\nfound = [{compared}]\n"
    report = _compared(tmp_path, program, "numpy@1")
    assert [each["line"] for each in report["value_changes"]] == [2]


def test_one_of_many_numbers_decides_nothing_of_the_others(tmp_path: Path) -> None:
    program = "import numpy as np\nfound = [np.float32(0.1) == x for x in (0.3, 0.1)]\n"
    (verdict,) = _compared(tmp_path, program, "numpy@1")["verdicts"]
    assert [each["where"] for each in verdict["not_examined"]] == ["program.py:2"]


def test_a_space_between_numbers_of_numpys_has_their_dtype(tmp_path: Path) -> None:
    """What NumPy 1.26 and 2.4 answer: float64 and float32; of an array float32 in both."""
    program = """\
import numpy as np
a = np.linspace(np.float32(0), np.float32(1), 3)
b = np.linspace(np.int8(1), np.float32(2), 3)
c = np.linspace(np.ones(2, np.float32), np.float32(2), 3)
d = np.geomspace(np.float32(1), 2, 3)
"""
    report = _compared(tmp_path, program, "numpy@1")
    assert {each["line"] for each in report["divergences"]} == {2, 3}
    (verdict,) = report["verdicts"]
    assert [each["where"] for each in verdict["not_examined"]] == ["program.py:5"]


def test_spaces_that_no_policy_was_asked_about_are_named(tmp_path: Path) -> None:
    """PyTorch counts integers from whole ends on, and has no geomspace; TensorFlow no logspace,
    and its linspace takes no dtype."""
    program = """\
import numpy as np
a = np.logspace(0, 2, 3)
b = np.geomspace(1, 10, 4)
c = np.linspace(-2.5, 2.5, 4, dtype=int)
d = np.logspace(0.5, 2, 5, 10, 10.0, np.int32)
e = np.linspace(0, 1, 3)
f = np.linspace(0, 1, 3, dtype=np.float32)
"""
    verdicts = _compared(tmp_path, program, "numpy@1,jax@x64,torch,tensorflow")["verdicts"]
    lines = {
        each["policy"]: sorted({int(at["where"].partition(":")[2]) for at in each["not_examined"]})
        for each in verdicts
    }
    wanted = {"numpy@1": [], "jax@x64": [], "torch@2.13": [3, 4, 5], "tensorflow": [2, 3, 4, 5, 7]}
    assert lines == wanted


def test_a_comparison_in_a_dtype_that_may_round_is_named(tmp_path: Path) -> None:
    """PyTorch compares int64 with float32 in float32, NumPy in float64: 2**24 + 1 is 2**24 there;
    JAX compares unsigned and signed ints as floats, NumPy exactly."""
    program = """\
import numpy as np
whole, small = np.array([2**24 + 1, 5]), np.array([3, 5], np.int8)
single, signed = np.array([2**24, 5], np.float32), np.array([2**53 + 1], np.uint64)
a = whole == single
b = whole > 2.5
c = signed == np.array([2**53])
d = small == single
e = whole == whole
f = single < single.astype(np.float64)
"""
    verdicts = _compared(tmp_path, program, "torch,jax@x64")["verdicts"]
    found = {
        each["policy"]: sorted(at["where"] for at in each["not_examined"] if "round" in at["why"])
        for each in verdicts
    }
    assert found == {
        "torch@2.13": ["program.py:4", "program.py:5"],
        "jax@x64": ["program.py:4", "program.py:6"],
    }


def test_numpys_functions_that_others_define_otherwise_are_named(tmp_path: Path) -> None:
    program = """\
import numpy as np
x = np.array([1.0, 4.0, 2.0, 3.0], np.float32)
a = np.median(x)
b = x.std()
c = np.var(x, ddof=1)
d = np.mean(x)
e = np.percentile(x, 50)
f = np.percentile(x.astype(np.float64), 50)
"""
    verdicts = _compared(tmp_path, program, "torch,numpy@1")["verdicts"]
    found = {each["policy"]: {at["where"] for at in each["not_examined"]} for each in verdicts}
    assert found == {
        "torch@2.13": {"program.py:3", "program.py:4"},
        "numpy@1": {"program.py:7"},  # which gives float64
    }


def test_indices_and_counts_have_the_dtypes_of_each_framework(tmp_path: Path) -> None:
    """What JAX 0.10.2 answers without x64, and of ``searchsorted`` and ``cumsum`` with it, too."""
    program = """\
import numpy as np
x = np.array([1, 2, 2], np.int32)
a = np.bincount(x)
b = np.argwhere(x > 1)
c = np.searchsorted(x, x)
d = np.cumsum(x)
"""
    report = _compared(tmp_path, program, "jax@x64,jax@x32")
    found: dict[str, dict[int, str]] = {"jax@x64": {}, "jax@x32": {}}
    for each in report["divergences"]:
        for policy, lines in found.items():
            answer = each["answers"][policy]
            if answer["origin"] != "agrees":
                lines[each["line"]] = answer["dtype"]
    assert found == {
        "jax@x64": {5: "int32", 6: "int32"},
        "jax@x32": dict.fromkeys((3, 4, 5, 6), "int32"),
    }


def test_a_line_whose_operands_alone_differ_in_some_passes_has_its_findings(
    tmp_path: Path,
) -> None:
    pytest.importorskip("torch")
    program = """\
import torch
def mean(total, count):
    return total + count * 3
a = mean(0, torch.tensor(0.5))
b = mean(torch.tensor(1.5), torch.tensor(2))
c = mean(a, torch.tensor(2))
"""
    report = _compared(tmp_path, program, "jax@x64,jax@x32,paddle@3.3")
    assert report["program"]["exit_status"] == 0
    assert {each["line"] for each in report["findings"]} >= {4}


NAMED = {
    "numpy": """\
import numpy as np
a = np.eye(2, dtype=np.int64)
b = np.zeros(2, np.float64)
x, c = np.unique(np.array([1, 2], np.float32), return_counts=True)
d = np.zeros_like(x, dtype=np.int64)
e = np.asarray([1, 2], dtype=np.int64)
f = np.eye(2, dtype=np.float32)
""",
    "torch": """\
import torch
a = torch.eye(2, dtype=torch.int64)
b = torch.zeros(2, dtype=torch.float64)
x, c = torch.tensor([1, 2], dtype=torch.float32).max(0)
d = torch.zeros_like(x, dtype=torch.int64)
e = torch.tensor([1, 2], dtype=torch.int64)
f = torch.eye(2, dtype=torch.float32)
""",
    "paddle": """\
import paddle
a = paddle.eye(2, dtype="int64")
b = paddle.zeros([2], "float64")
x, c = paddle.unique(paddle.to_tensor([1, 2], dtype="float32"), return_counts=True)
d = paddle.zeros_like(x, dtype="int64")
e = paddle.to_tensor([1, 2], dtype="int64")
f = paddle.eye(2, dtype="float32")
""",
}


@pytest.mark.parametrize("framework", NAMED)
def test_a_dtype_that_is_named_is_another_where_there_is_no_such(
    tmp_path: Path, framework: str
) -> None:
    """JAX without x64 makes int32 and float32, of counts and places, too."""
    pytest.importorskip(framework)
    report = _compared(tmp_path, NAMED[framework], "jax@x32,numpy@2")
    found = {each["line"]: each["answers"]["jax@x32"]["dtype"] for each in report["divergences"]}
    assert found == {2: "int32", 3: "float32", 4: "int32", 5: "int32", 6: "int32"}
    assert {each["policy"] for each in report["findings"]} == {"jax@x32"}


def test_a_histogram_counts_in_the_dtype_of_each_framework(tmp_path: Path) -> None:
    """Paddle and NumPy in int64, PyTorch in that of the values."""
    pytest.importorskip("paddle")
    program = "import paddle\nx = paddle.ones([2])\na = paddle.histogram(x, 3)\n"
    report = _compared(tmp_path, program, "torch,numpy@2")
    (found,) = (each for each in report["divergences"] if each["line"] == 3)
    assert {name: each["dtype"] for name, each in found["answers"].items()} == {
        "paddle@3.3": "int64",
        "torch@2.13": "float32",
        "numpy@2": "int64",
    }
