"""Programs of other frameworks ported: the casts, in their words, and the proof by recording."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from command import Command
from ported import recorded, text

from promoarray.diagnostics.port.ported import Ported

PROGRAMS = Path(__file__).parent.parent / "record"

TORCH = """\
import torch
x = torch.tensor([1, 2, 3], dtype=torch.int32)
f = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float32)
"""
NUMPY = """\
import functools, itertools, operator
import numpy as np
x = np.array([1, 200], dtype=np.uint8)
f = np.array([0.5, 1], np.float32)
"""
WIDE = "np.asarray(x, dtype=np.int64)"


def write(tmp_path: Path, source: str) -> Path:
    path = tmp_path / "program.py"
    path.write_bytes(source.encode())
    return path


@pytest.mark.parametrize(
    ("source", "apart"),
    [
        ("y = f[:1] < x[:1] <= f[1:]", "f[:1] < x[:1] and x[:1] <= f[1:]"),
        (
            "try:\n    pass\nfinally:\n    y = f[:1] < x[:1] < 9 < f[1:]",
            "f[:1] < x[:1] and x[:1] < 9 and 9 < f[1:]",
        ),
    ],
)
def test_what_stands_in_two_comparisons_is_not_cast(
    tmp_path: Path, source: str, apart: str
) -> None:
    given = NUMPY.replace("1, 200", "1") + source + "\n"
    done = recorded(write(tmp_path, given.replace("0.5, 1", "0.5, 7")), "numpy", "paddle@3.3")
    assert not done.edits
    left = [each for each in done.left if each.operation in ("less", "less_equal")]
    assert left
    for each in left:
        assert apart in each.why


def test_a_starred_sum_leaves_the_other_edits(tmp_path: Path) -> None:
    source = (
        "import numpy as np\nx = np.array([100, 101], np.int8)\nargs = x, 3\n"
        "a = sum(*args)\nb = sum(x)\n"
    )
    done = recorded(write(tmp_path, source), "numpy", "numpy@1")
    assert len(done.edits) == 1
    assert [each.why for each in done.left] == ["a starred argument stands for several"]


def from_torch(tmp_path: Path, source: str, *to: str) -> Ported:
    pytest.importorskip("torch", reason="needs PyTorch: pip install 'promoarray[test-torch]'")
    return recorded(write(tmp_path, source), "torch", *to)


@pytest.mark.parametrize(
    ("source", "to", "expected"),
    [
        ("y = x * f", "paddle@3.3", "y = x.to(torch.float32) * f"),
        ("y = (x + 1) * f", "paddle@3.3", "y = (x + 1).to(torch.float32) * f"),
        ("y = -x * f", "paddle@3.3", "y = (-x).to(torch.float32) * f"),
        ("y = x[0:2] * f[:2]", "paddle@3.3", "y = x[0:2].to(torch.float32) * f[:2]"),
        ("f += x", "paddle@3.3", "f += x.to(torch.float32)"),
        ("f.add_(x)", "paddle@3.3", "f.add_(x.to(torch.float32))"),
        ("y = torch.cat([f, x])", "paddle@3.3", "y = torch.cat([f, x.to(torch.float32)])"),
        ("y = x / 2 * f", "numpy@2", "y = x.to(torch.float32) / 2 * f"),
        ("y = x / 2", "numpy@2", "y = x.to(torch.float32) / 2"),
        ("y = torch.ones(3) * f", "numpy@2", "y = torch.ones(3, dtype=torch.float32) * f"),
        ("y = (x  # here\n     .view(3)\n     * f)", "paddle@3.3", ".view(3).to(torch.float32)\n"),
        ("y = (f\n     * x)", "paddle@3.3", "     * x.to(torch.float32))"),
        ("def g(a):\n    return-a*f\ny = g(x)", "paddle@3.3", "return(-a).to(torch.float32)*f"),
        ("é = 'é'; y = x * f", "paddle@3.3", "é = 'é'; y = x.to(torch.float32) * f"),
        ("y = [a * f for a in (x, f)]", "paddle@3.3", "y = [a.to(torch.float32) * f for a in"),
        ("y = torch.add(input=x, other=f)", "paddle@3.3", "input=x.to(torch.float32), other=f)"),
        ("y = torch.where(other=f, condition=f > 1, input=x)", "paddle@3.3", "input=x.to(torch.f"),
        ("y = torch.cat(tensors=(f, x))", "paddle@3.3", "tensors=(f, x.to(torch.float32)))"),
        ("y = f.mul(other=x)", "paddle@3.3", "y = f.mul(other=x.to(torch.float32))"),
        ("y = x[:1] < f[:1] <= f[1:2]", "paddle@3.3", "y = x[:1].to(torch.float32) < f[:1] <="),
        ("y = f[:1] < f[1:2] < x[2:]", "paddle@3.3", "f[:1] < f[1:2] < x[2:].to(torch.float32)"),
    ],
)  # fmt: skip
def test_a_line_of_pytorch_gets_its_cast(
    tmp_path: Path, source: str, to: str, expected: str
) -> None:
    done = from_torch(tmp_path, TORCH + source, to)
    assert done.agrees, (done.checked, done.left)
    assert expected in text(done), text(done)
    ast.parse(text(done))


@pytest.mark.parametrize(
    ("passes", "expected"),
    [
        ("(x, f), (f, f), (x, x)", "x.to(y.dtype) * y"),
        (
            "(x, f), (f, x), (x, x)",
            "x.to(torch.float32 if y.dtype == torch.float32 else x.dtype) * "
            "y.to(torch.float32 if x.dtype == torch.float32 else y.dtype)",
        ),
        ("(x, f), (2, f)", '(x.to(torch.float32) if hasattr(x, "dtype") else x) * y'),
    ],
)
def test_an_edit_holds_for_every_pass(tmp_path: Path, passes: str, expected: str) -> None:
    source = f"def g(x, y):\n    return x * y\nz = [g(a, b) for a, b in ({passes})]\n"
    done = from_torch(tmp_path, TORCH + source, "paddle@3.3")
    assert done.agrees, (done.checked, done.left)
    assert f"    return {expected}\n" in text(done)


@pytest.mark.parametrize(
    ("start", "line"),
    [
        ("import torch as th", "y = th.arange(3).to(th.float32) * th.ones(3)"),
        (
            "from torch import nn\nimport torch as th",
            "y = th.arange(3).to(th.float32) * th.ones(3)",
        ),
        (
            "from torch import arange, ones",
            "from torch import arange, ones\ny = arange(3).to(torch.float32) * ones(3)",
        ),
    ],
)
def test_the_framework_has_the_name_that_the_program_gives_it(
    tmp_path: Path, start: str, line: str
) -> None:
    called = "th." if " as th" in start else ""
    source = f"{start}\ny = {called}arange(3) * {called}ones(3)\n"
    done = from_torch(tmp_path, source, "paddle@3.3")
    assert done.agrees
    assert text(done).endswith(f"{line}\n")
    assert text(done).count("import torch") == 1


def test_what_a_library_does_is_left_and_told(tmp_path: Path) -> None:
    source = "import torch\nlayer = torch.nn.Linear(3, 2)\ny = layer(torch.ones(1, 3))\n"
    done = from_torch(tmp_path, source, "numpy@2")
    assert not done.left  # the parameters are float32 everywhere
    assert not done.checked[0].unequal
    assert "y = layer(torch.ones(1, 3, dtype=torch.float32))" in text(done)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("y = x + 300", "y = x.astype(np.uint16) + 300"),
        ("y = f * np.float64(3)", "y = f * np.float32(3)"),
        ("y = np.float32(3) * 2.0", "y = np.float64(3) * 2.0"),
        ("x[0] = 300", "x[0] = np.asarray(300).astype(np.uint8)"),
        ("f -= np.float64(1)", None),
        ("s = np.float32(1)\ns += 0.5", "s = s.astype(np.float64) + 0.5"),
        ("y = np.where(x > 1, f, np.float64(2))", "f, np.float32(2))"),
        ("y = np.add(f, [np.float64(2)])", None),
        ("y = x > 300", None),
        ("y = (x / np.float32(2)).sum()", None),
        ("y = f / np.prod(np.array([2, 3]))", "y = f / int(np.prod(np.array([2, 3])))"),
        ("y = np.float32(0.1) * 2.0", "y = np.float32(0.1).astype(np.float64) * 2.0"),
        ("y = sum(x) & 0xFFFF", "y = sum(x, np.int64(0)) & 0xFFFF"),
        ("y = sum(v for v in x)", "y = sum((v for v in x), np.int64(0))"),
        ("y = sum( (v for v in x), 5)", "y = sum( (v for v in x), np.int64(5))"),
        ("y = sum({x[0]: 1, x[1]: 2},)", "y = sum({x[0]: 1, x[1]: 2}, np.int64(0),)"),
        ("y = sum(f) / 2", "y = sum(f, np.float64(0)) / 2"),
        ("y = f[0] ** 2.0", "y = f[0].astype(np.float64) ** 2.0"),
        ("x.fill(-1)", "x.fill(np.asarray(-1).astype(x.dtype))"),
        ("y = np.full_like(x, -1)", "y = np.full_like(x, np.asarray(-1).astype(x.dtype))"),
        (
            "y = 0\nfor i in (0, 8):\n    y = y + x[1] * 2 ** i",
            "y = y + x[1].astype(np.int64) * 2 ** i",
        ),
        ("y = np.uint8(200) + 100", "y = np.int64(200) + 100"),
        ("y = operator.add(x[1], 100)", "y = operator.add(x[1].astype(np.int64), 100)"),
        ("y = list(map(operator.mul, x, [2, 2]))", f"map(operator.mul, {WIDE}, [2, 2])"),
        ("y = sum(map(operator.mul, x, [2, 2]))", f"sum(map(operator.mul, {WIDE}, [2, 2]))"),
        ("y = functools.reduce(operator.add, x, 0)", f"reduce(operator.add, {WIDE}, 0)"),
        ("y = list(itertools.accumulate(x, initial=0))", f"accumulate({WIDE}, initial=0)"),
        ("x[0] = 300.0", "x[0] = np.asarray(300.0).astype(np.uint8)"),
        ("x[0] = np.int64(300)", None),
        ("y = np.diff(x, prepend=0)", None),
    ],
)
def test_a_line_of_numpy_1_gets_its_cast(tmp_path: Path, source: str, expected: str | None) -> None:
    done = recorded(write(tmp_path, NUMPY + source), "numpy", "numpy@2", wanted="numpy@1")
    assert done.agrees, (done.checked, done.left)
    assert (expected or "") in text(done), text(done)
    assert bool(done.edits) is (expected is not None)


@pytest.mark.parametrize(
    "source",
    [
        "y = np.vectorize(lambda q: q * 2)(b)",
        "@np.vectorize\ndef double(q):\n    return q * 2\ny = double(b)",
        "def double(q):\n    return q * 2\ny = np.vectorize(double)(b)",
    ],
)
def test_what_is_vectorized_is_passed_with_python_numbers_too(tmp_path: Path, source: str) -> None:
    start = "import numpy as np\nb = np.array([200, 3], np.uint8)\n"
    done = recorded(write(tmp_path, start + source), "numpy", "numpy@2", wanted="numpy@1")
    assert done.agrees, (done.checked, done.left)
    assert '(q.astype(np.int64) if hasattr(q, "dtype") else q) * 2' in text(done)


@pytest.mark.parametrize(
    ("source", "to", "expected"),
    [
        ("y = np.zeros((2, 3))", "torch@2.13", "y = np.zeros((2, 3), dtype=np.float64)"),
        ("y = np.random.randn(2)", "torch@2.13", "y = np.random.randn(2).astype(np.float64)"),
        ("y = rng.normal(size=2)", "torch@2.13", "y = rng.normal(size=2).astype(np.float64)"),
        ("y = np.hanning(3)", "torch@2.13", "y = np.hanning(3).astype(np.float64)"),
        ("y = np.mean(a=x, axis=0)", "torch@2.13", "y = np.mean(a=x.astype(np.float64), axis=0)"),
        ("y = np.hstack((f, x))", "paddle@3.3", "y = np.hstack((f, x.astype(np.float32)))"),
        ("y = x.dot(f)", "paddle@3.3", "y = x.astype(np.float32).dot(f)"),
        ("o.v += x", "paddle@3.3", "o.v += x.astype(np.float32)"),
        ("f[:] += x", "paddle@3.3", "f[:] += x.astype(np.float32)"),
        ("y = np.where(x > 1, x, f)", "paddle@3.3", "y = np.where(x > 1, x.astype(np.float32), f)"),
    ],
)  # fmt: skip
def test_a_line_of_numpy_gets_its_cast(tmp_path: Path, source: str, to: str, expected: str) -> None:
    start = f"{NUMPY}rng = np.random.default_rng(0)\nclass o:\n    v = np.ones(2, np.float32)\n"
    done = recorded(write(tmp_path, start + source), "numpy", to)
    assert text(done).splitlines()[-1] == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("y = np.uint8(300)", "y = np.asarray(300).astype(np.uint8)[()]"),
        ("y = np.array([0, 4, -1], dtype=np.uint8)", "y = np.array([0, 4, -1]).astype(np.uint8)"),
        ("y = np.array([0, -1], np.uint8)", "y = np.array([0, -1]).astype(np.uint8)"),
        ("y = np.full(3, -1, dtype='u1')", "y = np.full(3, -1).astype('u1')"),
    ],
)
def test_a_number_that_is_stored_wraps_around(tmp_path: Path, source: str, expected: str) -> None:
    path = write(tmp_path, NUMPY + source + "\n")
    done = recorded(path, "numpy", "numpy@2", wanted="numpy@1")
    assert done.agrees, (done.checked, done.left)
    assert expected in text(done)


def test_a_list_that_cannot_be_cast_stays_as_it_is(tmp_path: Path) -> None:
    source = NUMPY + "row = [0.1, 0.2]\ny = np.add(f, row)\nz = x + 1\n"
    done = recorded(write(tmp_path, source), "numpy", "torch@2.13")
    assert not done.checked[0].unequal
    assert not done.checked[0].stopped


@pytest.mark.parametrize(
    ("imports", "arguments", "words"),
    [
        ("torch", ["--to", "paddle", "--from", "numpy@2"], "leave out --run and --from"),
        (
            "numpy as np",
            ["--to", "numpy@2", "--from", "torch"],
            "one of numpy@2.5, numpy@2, numpy@1",
        ),
    ],
)
def test_from_is_for_numpy_programs(
    tmp_path: Path,
    command: Command,
    imports: str,
    arguments: list[str],
    words: str,
) -> None:
    path = write(tmp_path, f"import {imports}\n")
    assert words in command("port", str(path), *arguments, status=2).err


@pytest.mark.slow
def test_a_module_of_numpy_1_is_ported(
    tmp_path: Path,
    command: Command,
) -> None:
    (tmp_path / "package").mkdir()
    write(
        tmp_path / "package",
        "import numpy as np\nfrom . import old\n",
    )
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "old.py").write_text(NUMPY + "y = x + 300\n", encoding="utf-8")
    arguments = ["port", "-m", "package.program", "--from", "numpy@1", "--to", "numpy@2"]
    printed = command(*arguments, status=0)
    assert "+y = x.astype(np.uint16) + 300\n" in printed.out
    assert "old.py\n" in printed.out
    assert "agree: numpy@2" in printed.err


def test_of_what_was_not_recorded_nothing_is_proved(
    tmp_path: Path,
    command: Command,
) -> None:
    (tmp_path / "program.py").write_text("import numpy as np\nx = 1 + 1\n")
    err = command("port program.py --from numpy@1 --to numpy@2", status=4).err
    assert "agree" not in err
    assert "not examined: the program (no operation of it was recorded).\nnot proved" in err


@pytest.mark.slow
def test_the_command_writes_a_patch_and_says_what_is_proved(
    tmp_path: Path,
    command: Command,
) -> None:
    write(tmp_path, NUMPY + "y = x + 300\nprint(y)\n")
    arguments = ["port", "program.py", "--from", "numpy@1", "--to", "numpy@2"]
    err = command(*arguments, "--patch", "p.patch", status=0).err
    assert "program.py, from numpy@1 to numpy@2: 1 cast in 1 line" in err
    assert "agree: numpy@2: every operation recorded has the dtype of numpy@1" in err
    assert "+y = x.astype(np.uint16) + 300\n" in Path("p.patch").read_text()


KNOWN: dict[str, set[str]] = {
    "programs/autocast.py": {"autocast.py:24", "normalization.py"},
    "programs/convolutions.py": {"convolutions.py:7"},
    "jax_programs/oscillators.py": set(),
    "jax_programs/perceptron.py": {"perceptron.py:35", "perceptron.py:53"},
}
"""Where programs stay disputed: what autocast and libraries do, JAX's weakly typed numbers, uint32,
of which PyTorch divides none, and uint8, of which Paddle draws none."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("program", "to"),
    [
        *((f"programs/{n}.py", "paddle@3.3") for n in ("science", "convolutions", "transformer")),
        ("programs/autocast.py", "paddle@3.3"),
        *(
            (f"paddle_programs/{n}.py", "torch@2.13")
            for n in ("science", "convolutions", "network")
        ),
        *((f"jax_programs/{n}.py", "torch@2.13") for n in ("science", "oscillators", "perceptron")),
    ],
)
def test_a_program_keeps_its_own_results_and_has_their_dtypes_elsewhere(
    program: str, to: str
) -> None:
    framework = program.partition("_")[0] if "_" in program else "torch"
    pytest.importorskip(framework, reason=f"needs {framework}")
    done = recorded(PROGRAMS / program, framework, to)
    own, other = done.checked
    assert own.agrees, own
    found = {each.name.split(": ")[0] for each in other.unequal}
    apart = {at for at in found if not any(at.startswith(k) for k in KNOWN.get(program, ()))}
    assert not apart, other.unequal
    assert bool(found) is bool(KNOWN.get(program))
