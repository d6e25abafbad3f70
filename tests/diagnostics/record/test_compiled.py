"""Compiled programs: recorded, they print what they print, and each call is examined or named."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import promoarray as pa

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of torch.jit

FUNCTION = "def f(a, b):\n    c = a * b\n    return c + 1\n"
MODULE = (
    "class M(torch.nn.Module):\n"
    "    def forward(self, a, b):\n"
    "        c = a * b\n"
    "        return c + 1\n"
    "    def twice(self, a, b):\n"
    "        return self.forward(a, b) * 2\n"
)
EXAMPLE = "(torch.tensor([3, 4]), torch.ones(2))"

EAGER = {  # run by Python, line for line
    "compile": "torch.compile(f, backend='eager')",
    "compile fullgraph": "torch.compile(f, fullgraph=True, dynamic=True, backend='eager')",
    "compile for autograd": "torch.compile(f, backend='aot_eager')",
    "compile with a function": "torch.compile(f, backend=lambda graph, _: graph.forward)",
    "compile as a decorator": "torch.compile(backend='eager')(f)",
    "compile, disabled": "torch.compile(f, disable=True)",
    "compile a module": "torch.compile(M(), backend='eager')",
    "compile under a stance": "(torch.compiler.set_stance('default'), torch.compile(f, "
    "fullgraph=True, backend='eager'))[1]",
    "Dynamo by itself": "torch._dynamo.optimize('eager')(f)",
    "script": "torch.jit.script(f)",
    "script_if_tracing": "torch.jit.script_if_tracing(f)",
    "checkpoint": "lambda a, b: torch.utils.checkpoint.checkpoint(f, a, b, use_reentrant=False)",
    "functional_call": "lambda a, b: torch.func.functional_call(M(), {}, (a, b))",
    "functionalize": "torch.func.functionalize(f)",
    "jvp": "lambda a, b: torch.func.jvp(lambda x: f(a, x), (b,), (b,))",
    "vjp": "lambda a, b: torch.func.vjp(lambda x: f(a, x), b)[0]",
    "vmap": "torch.func.vmap(f)",
    "on a device without values": "lambda a, b: f(a.to('meta'), b.to('meta'))",
}
GRAPH = {  # of which the graph is recorded as it runs
    "export": f"torch.export.export(M(), {EXAMPLE}).module()",
    "strict export": f"torch.export.export(M(), {EXAMPLE}, strict=True).module()",
    "symbolic_trace": "torch.fx.symbolic_trace(f)",
    "Interpreter": "torch.fx.Interpreter(torch.fx.symbolic_trace(M())).run",
}
SCRIPT = {
    "script a module": "torch.jit.script(M())",
    "trace": f"torch.jit.trace(f, {EXAMPLE})",
    "trace a module": f"torch.jit.trace_module(M(), {{'forward': {EXAMPLE}, 'twice': {EXAMPLE}}})"
    ".twice",
    "load": "(torch.jit.save(torch.jit.script(M()), 'm.pt'), torch.jit.load('m.pt'))[1]",
}

JAX_FUNCTION = f"from functools import partial\nfrom jax import lax\n{FUNCTION}"
TRACED = {
    "jit": "jax.jit(f)",
    "lower and compile": "jax.jit(f).lower(*example).compile()",
    "pmap": "lambda a, b: jax.pmap(f)(a[None], b[None])",
    "vmap": "jax.vmap(f)",
    "jvp": "lambda a, b: jax.jvp(partial(f, a), (b,), (b,))",
    "jacfwd": "lambda a, b: jax.jacfwd(partial(f, a))(b)",
    "shard_map": "jax.shard_map(f, mesh=jax.make_mesh((1,), ('i',)), "
    "in_specs=jax.P(), out_specs=jax.P())",
    "checkpoint": "jax.checkpoint(f)",
    "eval_shape": "partial(jax.eval_shape, f)",
    "make_jaxpr": "jax.make_jaxpr(f)",
    "custom_jvp": "jax.custom_jvp(f); g.defjvps(None, None)",
    "while_loop": "lambda a, b: lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, "
    "f(a, c[1])), (0, b))",
    "scan": "lambda a, b: lax.scan(lambda c, x: (f(x, c), c), b[0], a)",
    "cond": "lambda a, b: lax.cond(True, f, lambda a, b: b, a, b)",
}

PADDLE = {
    "to_static": "paddle.jit.to_static(f)",
    "to_static, the whole graph": "paddle.jit.to_static(f, full_graph=True)",
    "to_static as a decorator": "paddle.jit.to_static(full_graph=True)(f)",
    "not_to_static": "paddle.jit.not_to_static(f)",
}


def _run(path: Path, program: str) -> tuple[str, str]:
    """What a program prints, on both channels."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        exec(compile(program, str(path), "exec"), {"__name__": "program"})
    return out.getvalue(), err.getvalue()


def _recorded(framework: str, policy: str, folder: Path, program: str) -> Any:
    """The report of a program, which prints the same as when nobody records."""
    path = folder / "program.py"
    path.write_text(program)
    bare = _run(path, program)
    with pa.record(framework, policy) as report:
        assert _run(path, program) == bare
    assert "promoarray/" not in str(report)
    assert report.drift == {}
    return report


def _torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, made: str) -> Any:
    pytest.importorskip("torch")
    monkeypatch.chdir(tmp_path)
    call = "print(g(torch.tensor([1, 2]), torch.ones(2)))\n"
    return _recorded(
        "torch", "numpy@2", tmp_path, f"import torch\n{FUNCTION}{MODULE}g = {made}\n{call}"
    )


@pytest.mark.parametrize("name", EAGER)
def test_what_is_compiled_runs_eagerly_and_the_report_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    report = _torch(tmp_path, monkeypatch, EAGER[name])
    found = {(d.site.line, d.name) for d in report.divergences if d.name == "multiply"}
    assert found == {(7 if "M()" in EAGER[name] else 3, "multiply")}
    assert not report.unexamined
    compiled = "torch._dynamo" in EAGER[name] or ("compile(" in EAGER[name] and "dis" not in name)
    assert len([*report.eagerly()]) == (compiled or name == "script")


@pytest.mark.parametrize("name", GRAPH)
def test_a_graph_is_recorded_as_it_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    report = _torch(tmp_path, monkeypatch, GRAPH[name])
    assert [(d.name, d.program.line) for d in report.divergences if d.name == "multiply"] == [
        ("multiply", 12)
    ]
    assert not report.unexamined
    assert report.understood == 1


@pytest.mark.parametrize("name", SCRIPT)
def test_a_call_of_torchscript_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    report = _torch(tmp_path, monkeypatch, SCRIPT[name])
    (named,) = report.unexamined
    assert named.what.endswith(" in TorchScript")
    assert named.program.line == 12
    assert report.understood == 1


@pytest.mark.parametrize("name", TRACED)
def test_what_jax_traces_is_recorded(tmp_path: Path, name: str) -> None:
    pytest.importorskip("jax")
    example = "import jax\nexample = jax.numpy.array([1, 2]), jax.numpy.ones(2)\n"
    program = f"{JAX_FUNCTION}{example}g = {TRACED[name]}\nprint(g(*example))\n"
    report = _recorded("jax", "paddle@3.3", tmp_path, program)
    assert report.calls["operation", "__mul__"] >= 1
    assert not report.unexamined
    assert report.understood == 1


@pytest.mark.parametrize("name", PADDLE)
def test_what_paddle_compiles_runs_eagerly_or_is_named(tmp_path: Path, name: str) -> None:
    pytest.importorskip("paddle")
    call = "print(g(paddle.ones([2]), paddle.ones([2], dtype='float64')))\n"
    program = f"import paddle\n{FUNCTION}g = {PADDLE[name]}\n{call}"
    report = _recorded("paddle", "torch", tmp_path, program)
    assert report.calls["operation", "__mul__"] == 1
    assert not report.unexamined
    assert len([*report.eagerly()]) == (not name.startswith("not"))


AFTERWARDS = """
import torch
import promoarray as pa
x = torch.ones(2)
with pa.record("torch"):  # in which Dynamo is loaded
    torch.compile(lambda x: x * 2, backend="eager", fullgraph=True)(x)
print(torch.compile(lambda x: x + 1, backend="eager", fullgraph=True)(x).tolist())
"""


@pytest.mark.slow
def test_what_is_compiled_afterwards_is_compiled() -> None:
    pytest.importorskip("torch", reason="needs PyTorch: pip install 'promoarray[test-torch]'")
    ran = subprocess.run([sys.executable, "-c", AFTERWARDS], capture_output=True, text=True)
    assert (ran.stdout, ran.returncode) == ("[2.0, 2.0]\n", 0), ran.stderr
