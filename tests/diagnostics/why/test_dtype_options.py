"""The dtype that a library's function takes as an option, written at the program's own call."""

import ast

import pytest

from promoarray import cli
from promoarray.diagnostics.edits import options
from promoarray.diagnostics.edits.source import SourceText

LIBRARY = '''
import torch

class Layer(torch.nn.Module):
    def __init__(self, n, *, param_dtype=None):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(n, n, dtype=param_dtype))
        self.bias = torch.nn.Parameter(torch.ones(n, dtype=param_dtype))

    def forward(self, x):
        return torch.nn.functional.linear(x, self.weight, self.bias)

class Lazy:
    def __init__(self, n, default_dtype=torch.float32):
        self.n, self.dtype = n, default_dtype

    def made(self):
        return torch.ones(self.n, self.n, dtype=self.dtype)

def loaded(n, **options):
    """Return a layer.

    torch_dtype : torch.dtype
        What its parameters are.
    """
    return Layer(n, param_dtype=options.pop("torch_dtype", None), **options)

def fixed(n):
    return torch.ones(n, n)
'''
CALLS = {  # what makes the array, and the edit
    "layer = lib.Layer(2)": "layer = lib.Layer(2, param_dtype=torch.bfloat16)",
    "layer = lib.loaded(2)": "layer = lib.loaded(2, torch_dtype=torch.bfloat16)",
    "layer = lib.Layer(2, param_dtype=torch.float64)": (  # is meant, as is the other
        "layer(torch.ones(3, 2, dtype=torch.bfloat16).to(torch.float64))"
    ),
    "lazy = lib.Lazy(2)\nw = lazy.made()\nlayer = lambda x: x @ w": (
        "lazy = lib.Lazy(2, default_dtype=torch.bfloat16)"
    ),
    "w = lib.fixed(2)\nlayer = lambda x: x @ w": "w = lib.fixed(2).to(torch.bfloat16)",
}


@pytest.mark.parametrize("made", CALLS)
def test_the_option_of_the_call_that_made_an_array_is_written(made, tmp_path, monkeypatch, capfd):
    pytest.importorskip("torch")
    installed = tmp_path / "site-packages"
    installed.mkdir()
    (installed / "lib.py").write_text(LIBRARY)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(installed))
    monkeypatch.setenv("COLUMNS", "300")
    text = f"import torch, lib\n{made}\nlayer(torch.ones(3, 2, dtype=torch.bfloat16))\n"
    (tmp_path / "program.py").write_text(text)
    assert cli.main(["why", "program.py"]) == 1
    said = capfd.readouterr().out
    assert f"  {CALLS[made]}\n         checked: with it, the program runs to its end" in said


ENCODER = """
import torch

class Encoder:
    def __init__(self, n, *, dtype=torch.int64):
        self.positions = torch.arange(n, dtype=dtype)

    def __call__(self, x):
        return x * self.positions
"""


@pytest.mark.parametrize(
    ("made", "edit"), [("Encoder(4)", "Encoder(4, dtype=torch.float32)"), ("fixed()", "")]
)
def test_compare_writes_the_option_too_where_it_makes_the_policies_agree(
    made, edit, tmp_path, monkeypatch, capfd
):
    pytest.importorskip("torch")
    installed = tmp_path / "site-packages"
    installed.mkdir()
    fixed = "\ndef fixed():\n    return Encoder(4)\n"
    (installed / "coder.py").write_text(ENCODER + fixed)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(installed))
    monkeypatch.setenv("COLUMNS", "300")
    text = f"import torch, coder\nencode = coder.{made}\nencode(torch.ones(4))\n"
    (tmp_path / "program.py").write_text(text)
    assert cli.main(["compare", "program.py", "--policies", "paddle"]) == 1
    said = capfd.readouterr().out
    mended = f"Write encode = coder.{edit} at program.py:2: in a run with it paddle agrees at"
    assert (mended in said) is bool(edit)
    assert ("or report it to coder." in said) is (not edit)


def test_calls_that_give_each_other_their_objects_end():
    source = SourceText("def f(m):\n    f(m.a())\n    f(m.b())\n    return m.c()\n")
    (call,) = (each.value for each in ast.walk(source.tree) if isinstance(each, ast.Return))
    assert options._options(source, call, {}) is None
