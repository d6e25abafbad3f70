"""Every node of Python's grammar that can hold an operation: it is recorded there, and carried."""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy_runs import recorded_run

from promoarray.diagnostics.record.block import REWRITTEN
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.diagnostics.record.report import RecordedReport
from promoarray.policies import as_policy

OLD = as_policy("numpy@1")

FORMS = {
    "f-string": 'r = eval(f"{a / b}")',
    "f-string, nested": "r = float(f\"{f'{a / b}'}\")",
    "f-string, debug": 'r = float(f"{a / b=:.30g}".split("=")[1])',
    "f-string, conversion": 'r = float(f"{float(a / b)!r:>30}")',
    "format spec": 'f"{1.5:{int(a / b) + 9}.3f}"; r = a / b',
    "list": "r = [0, a / b][1]",
    "tuple": "r = (0, a / b)[1]",
    "set": "r = max({0, a / b})",
    "dict": "r = {'k': a / b}['k']",
    "dict key": "r = max({a / b: 0})",
    "starred": "r = [*(a / b,)][0]",
    "double starred": "r = dict(**{'k': a / b})['k']",
    "list comprehension": "r = [a / b for _ in (0,)][0]",
    "set comprehension": "r = max({a / b for _ in (0,)})",
    "dict comprehension": "r = {k: a / b for k in 'k'}['k']",
    "dict comprehension, key": "r = max({a / b: 0 for _ in (0,)})",
    "comprehension, condition": "r = [0 for _ in (0,) if [r := a / b]] and r",
    "comprehension, iterable": "r = [x for x in (a / b,)][0]",
    "generator": "r = next(a / b for _ in (0,))",
    "walrus": "r = (x := a / b)",
    "lambda": "r = (lambda x: x / b)(a)",
    "lambda, default": "r = (lambda x=a / b: x)()",
    "conditional, test": "r = 0 if not (x := a / b) else x",
    "conditional, body": "r = a / b if True else 0",
    "conditional, else": "r = 0 if not a else a / b",
    "and": "r = True and a / b",
    "not": "x = not a / b; r = a / b",
    "unary": "r = -(-(a / b))",
    "call, argument": "r = max(a / b, 0)",
    "call, keyword": "r = dict(k=a / b)['k']",
    "call, function": "r = (lambda: a / b)()",
    "subscript, key": "r = {a / b: a / b}[a / b]",
    "subscript, slice": "r = a / b if [1, 2][: int(a / b) + 1] else 0",
    "slice, step": "r = (a / b, [1][:: int(a / b) + 1])[0]",
    "attribute": "r = (a / b).real",
    "chained comparison": "r = (x := a / b) if 0 < a / b < 1 else 0",
    "in": "r = (x := a / b) if a / b in [a / b] else 0",
    "is": "r = (x := a / b) if (a / b) is not None else 0",
    "await": (
        "async def f():\n    async def g(): return a / b\n    return await g()\n"
        "r = asyncio.run(f())"
    ),
    "yield": "def f(): yield a / b\nr = next(f())",
    "yield from": "def f(): yield from (a / b,)\nr = next(f())",
    "return": "def f(): return a / b\nr = f()",
    "default argument": "def f(x=a / b): return x\nr = f()",
    "keyword-only default": "def f(*, x=a / b): return x\nr = f()",
    "argument's annotation": "def f(x: a / b): pass\nr = f.__annotations__['x']",
    "returned annotation": "def f() -> a / b: pass\nr = f.__annotations__['return']",
    "annotation": "class C:\n    x: [r := a / b] = 1\nr = C.r",
    "annotated assignment": "x: int = a / b\nr = x",
    "annotated target": "x = [0]\nx[int(a / b)]: int = a / b\nr = x[0]",
    "decorator": "def d(x): return lambda f: x\n@d(a / b)\ndef f(): pass\nr = f",
    "class decorator": "def d(x): return lambda f: x\n@d(a / b)\nclass C: pass\nr = C",
    "class body": "class C: x = a / b\nr = C.x",
    "class base": (
        "def base(x): return type('B', (), {'x': x})\nclass C(base(a / b)): pass\nr = C.x"
    ),
    "class keyword": (
        "class B:\n    def __init_subclass__(cls, x): cls.x = x\n"
        "class C(B, x=a / b): pass\nr = C.x"
    ),
    "async function": "async def f(x=a / b): return x\nr = asyncio.run(f())",
    "async for": (
        "async def g():\n    yield a / b\nasync def f():\n    async for x in g(): return x\n"
        "r = asyncio.run(f())"
    ),
    "async comprehension": (
        "async def g():\n    yield a\nasync def f(): return [x / b async for x in g()]\n"
        "r = asyncio.run(f())[0]"
    ),
    "async with": (
        "class C:\n    async def __aenter__(self): return a / b\n"
        "    async def __aexit__(self, *e): pass\n"
        "async def f():\n    async with C() as x: return x\nr = asyncio.run(f())"
    ),
    "assignment": "r = a / b",
    "several targets": "r = s = a / b",
    "unpacking": "r, s = a / b, 1",
    "starred target": "*r, s = a / b, 1\nr = r[0]",
    "subscript target": "x = {}\nx['k'] = a / b\nr = x['k']",
    "attribute target": "class C: pass\nC.x = a / b\nr = C.x",
    "augmented": "r = a\nr /= b",
    "augmented subscript": "x = {'k': a}\nx['k'] /= b\nr = x['k']",
    "augmented attribute": "class C: x = a\nC.x /= b\nr = C.x",
    "augmented slice": "x = [a]\nx[:1] += [a / b]\nr = x[1]",
    "for": "for x in (a / b,): r = x",
    "for, body": "for x in (a,): r = x / b",
    "for, else": "for x in (): pass\nelse: r = a / b",
    "while": "r = 0\nwhile not r: r = a / b",
    "while, test": "while (r := a / b) > 1: pass",
    "if": "if r := a / b: pass",
    "elif": "if not a: pass\nelif r := a / b: pass",
    "with": "import contextlib\nwith contextlib.nullcontext(a / b) as x: r = x",
    "try": "try: r = a / b\nfinally: pass",
    "except": "try: {}['k']\nexcept ([r := a / b][1:] and int, KeyError)[1]: pass",
    "handler": "try: {}['k']\nexcept KeyError: r = a / b",
    "try, else": "try: pass\nexcept KeyError: pass\nelse: r = a / b",
    "finally": "try: pass\nfinally: r = a / b",
    "except group": (
        "try: raise ExceptionGroup('', [KeyError(a / b)])\n"
        "except* KeyError as e: r = e.exceptions[0].args[0]"
    ),
    "raise": "try: raise KeyError(a / b)\nexcept KeyError as e: r = e.args[0]",
    "raise, from": (
        "try: raise KeyError from ValueError(a / b)\n"
        "except KeyError as e: r = e.__cause__.args[0]"
    ),
    "assert": "assert (r := a / b)",
    "assert, message": "try: assert 0, a / b\nexcept AssertionError as e: r = e.args[0]",
    "delete": "x = {a / b: 1}\ndel x[a / b]\nr = a / b",
    "match": "match a / b:\n    case x: r = x",
    "match, guard": "match a:\n    case x if (r := x / b): pass",
    "match, body": "match [a]:\n    case [x, *_]: r = x / b",
    "match, class": "match {'k': 1}:\n    case {'k': int() as n, **rest}: r = a / b",
    "match, or": "match 1:\n    case 1 | None: r = a / b",
    "global": "def f():\n    global r\n    r = a / b\nf()",
    "nonlocal": (
        "def f():\n    x = a\n    def g():\n        nonlocal x\n        x /= b\n"
        "    g()\n    return x\nr = f()"
    ),
    "expression statement": "[r := a / b]",
    "import": "import math\nr = a / b",
    "from import": "from math import pi\nr = a / b",
    "pass, break, continue": "for x in 'ab':\n    if x == 'a': continue\n    r = a / b\n    break",
    "eval": "r = eval('a / b')",
    "exec": "exec('r = a / b')",
    "operator in place": "x = np.array([a])\nx[0] = a / b; r = np.array([a / b])[0]",
}  # fmt: skip
if sys.version_info >= (3, 12):
    FORMS |= {
        "type alias": "type X = [a / b]\nr = X.__value__[0]",
        "type parameter": (
            "def f[T: (a / b, int)](): pass\nr = f.__type_params__[0].__constraints__[0]"
        ),
        "f-string, its own quotes": 'r = float(f"{{"k": a / b}["k"]}")',
    }
if sys.version_info >= (3, 13):
    FORMS["type parameter's default"] = (
        "class C[T = [a / b]]: pass\nr = C.__type_params__[0].__default__[0]"
    )

HOLD_NOTHING = {
    *("MatchValue", "MatchSingleton", "MatchSequence", "MatchMapping", "MatchClass", "MatchStar"),
    *("ParamSpec", "TypeVarTuple", "AsyncFunctionDef", "Interpolation", "TemplateStr"),
}
"""Nodes that are in one of the forms under another name, or that hold no expression."""


def nodes() -> set[str]:
    """The names of all nodes of the grammar that can hold an expression, or stand in one."""
    roots = ast.expr, ast.stmt, ast.pattern, ast.excepthandler
    own = (c for root in roots for c in root.__subclasses__() if c.__module__ == "ast")
    every = {c.__name__ for c in own}  # other libraries have nodes of their own
    parameters = getattr(ast, "type_param", ast.pattern).__subclasses__()
    every |= {c.__name__ for c in parameters if c.__module__ == "ast"}
    former = {"Num", "Str", "Bytes", "NameConstant", "Ellipsis", "Index", "ExtSlice"}
    return every - former


def test_the_forms_have_every_node_of_the_grammar() -> None:
    met = {type(node).__name__ for text in FORMS.values() for node in ast.walk(ast.parse(text))}
    assert nodes() - met <= HOLD_NOTHING


def recorded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, *, past: bool
) -> tuple[RecordedReport, dict[str, Any]]:
    """What was found in a program, and its globals."""
    kept: dict[str, Any] = {}
    monkeypatch.setattr(builtins, "KEPT", kept, raising=False)
    script = tmp_path / "program.py"
    script.write_text(f"import asyncio\nimport numpy as np\n{source}\nKEPT.update(globals())\n")
    home = REWRITTEN["numpy"].home(np.__version__)
    recorder = Recorder(home, (OLD, home) if past else (home, OLD))
    with contextlib.redirect_stdout(io.StringIO()):
        recorded_run(str(script), recorder, past=OLD if past else None)
    return recorder.report, kept


@pytest.mark.parametrize("form", FORMS)
def test_an_operation_is_recorded_wherever_it_stands(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "a, b = np.float32(1), 3.0\n" + FORMS[form]
    report, kept = recorded(tmp_path, monkeypatch, source, past=False)
    found = [d for d in report.divergences if d.name == "divide" and d.root]
    assert [str(d.answers["numpy@1"]) for d in found][:1] == ["float64"]
    assert float(kept["r"]) == float(np.float32(1) / np.float32(3))
    carried, kept = recorded(tmp_path, monkeypatch, source, past=True)
    assert any(
        d.name == "divide" and str(d.answers["numpy@1"]) == "float64" for d in carried.divergences
    )
    assert float(kept["r"]) == 1 / 3


def test_patterns_that_compare_are_not_examined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = "match np.float32(0.1):\n    case 0.1: r = 1\n    case _: r = 2"
    report, _ = recorded(tmp_path, monkeypatch, source, past=False)
    assert [(each.what, each.program.line) for each in report.unexamined] == [("match", 3)]
