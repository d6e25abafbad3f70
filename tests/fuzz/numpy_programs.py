"""Random NumPy programs as they are and rewritten: the same output, tracebacks and variables.

Assignments of every form, operators in place, comprehensions, functions, generators, coroutines,
classes, ``match``, f-strings, errors and warnings, and what looks at the code or the frames.
"""

from __future__ import annotations

import builtins
import contextlib
import io
import linecache
import runpy
import traceback
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy_runs import recorded_run

from fuzz.layouts import one_of
from promoarray.diagnostics.record.recorder import Recorder
from promoarray.policies import as_policy

START = '''\
"""A program."""
from __future__ import annotations
import contextlib, functools, inspect, sys, traceback, warnings
import numpy as np

def show(*given, **named):
    """Print what was given, with its dtypes."""
    for x in (*given, *named.values()):
        if type(x) is list:
            del x[50:]  # a loop over a list that it appends to shall end
        print(type(x).__name__, getattr(x, "dtype", ""), str(x)[:300] if not callable(x) else "")
    return given[-1] if given else None

class Box:
    def __init__(self, **held): self.__dict__.update(held)
    def __repr__(self): return f"Box({sorted(self.__dict__)})"
    def twice(self, *, by=2): return self.a * by
    @property
    def half(self): return self.a / 2

def traced(f):
    @functools.wraps(f)
    def inner(*args, **kwargs):
        print("call", f.__name__, len(args), sorted(kwargs))
        return f(*args, **kwargs)
    return inner

a, b, c = np.arange(4, dtype=np.{}), np.array([3, 1, 2, 7], np.{}), np.{}(3)
n, z, s = 3, 2.5, "word"
xs, d, o = [1, 2, 3, 4], dict(k=1, l=[2, 3]), Box(a=np.float32(2), b=1)
'''
DTYPES = ["int8", "uint8", "int64", "float32", "float64", "bool_", "complex64", "float16"]
NAMES = ["a", "b", "c", "n", "z", "xs", "d", "o", "s"]
LEAVES = [
    *("a", "b", "c", "n", "z", "xs", "s", "o.a", "o.b", "d['k']", "d['l'][0]", "xs[1]", "a[1:]"),
    *("a[0]", "b[::-1]", "a.T", "b.real", "a.imag", "1", "2", "-1", "0.5", "1e30", "300", "True"),
    *("np.float64(0.5)", "np.int8(7)", "np.uint8(200)", "np.array(3.0)", "np.ones(4)", "None"),
    *("'text'", "undefined", "a.size", "len(xs)", "np.float32", "(n, z)", "o.half", "b''", "1j"),
]
OPERATORS = [
    *("+", "-", "*", "/", "//", "%", "@", "&", "|", "^", ">>"),
    *("==", "!=", "<", "<=", ">", ">=", "is", "is not", "in", "not in", "and", "or"),
]
INPLACE = ["+", "-", "*", "/", "//", "%", "@", "&", "|", "^", ">>"]
GROWING = ["**", "<<", "**=", "<<="]
SMALL = ["0", "1", "2", "3", "0.5", "a", "b", "c", "np.int8(3)", "np.float64(2)", "True"]
"""What may stand behind an operator by which ints grow without end."""
CALLS = [
    *("np.sum({})", "np.add({}, {})", "abs({})", "round({}, 1)", "divmod({}, {})", "np.sqrt({})"),
    *("np.where({} > 1, {}, {})", "np.clip({}, 0, {})", "show({})", "np.asarray({}).sum()"),
    *("np.maximum.reduce({})", "np.asarray({}).astype(np.int16)", "np.add.outer({}, {})"),
    *("np.concatenate([{}, {}])", "max({}, {})", "o.twice(by={})", "np.stack(({},) * 2)"),
    *("np.full(3, {})", "f(*{}, **{})", "f({}, *[{}], k={})", "sorted({})", "np.dot({}, {})"),
    *("pow({}, 2)", "np.result_type({}, {})", "np.add({}, {}, out=a)", "np.mean({}, dtype=np.{})"),
    *("isinstance({}, np.ndarray)", "getattr({}, 'dtype', 0)", "{}.sum()", "{}.astype(np.int8)"),
]
TARGETS = [
    *("n", "z", "c", "a[1]", "a[1:3]", "a[...]", "xs[0]", "xs[1:2]", "d['k']", "d['l'][0]", "o.a"),
    *("o.b", "a[n - 1]", "a[a > 1]", "a.real", "show(xs)[0]", "d['new']", "o.a.b", "undefined"),
    *("xs[show(0)]", "o.__dict__['b']", "a.T[0]", "s", "a"),
]
GROUPS = [
    *("{}, {}", "({}, {})", "[{}, {}]", "{}, *{}", "*{}, {}", "{} = {}", "{}, ({}, {})"),
    *("{} = {}, {}", "({}),", "*{},"),
]

Made = Callable[[Generator, int], list[str]]


def filled(random: Generator, template: str, make: Callable[[], str]) -> str:
    """Fill each gap of a template."""
    while "np.{}" in template:
        template = template.replace("np.{}", f"np.{one_of(random, DTYPES)}", 1)
    parts = template.split("{}")
    return "".join(part + make() for part in parts[:-1]) + parts[-1]


def expression(random: Generator, depth: int = 2) -> str:
    """Return an expression of expressions that are less deep."""
    if depth <= 0 or random.random() < 0.2:
        return str(one_of(random, LEAVES))

    def inner() -> str:
        return expression(random, depth - 1)

    forms: list[Callable[[], str]] = [
        *[lambda: f"({inner()} {one_of(random, OPERATORS)} {inner()})"] * 6,
        lambda: f"({inner()} {one_of(random, GROWING[:2])} {one_of(random, SMALL)})",
        lambda: f"({inner()} {one_of(random, INPLACE)}\n    {inner()})",
        lambda: f"({one_of(random, '-+~')}{inner()})",
        lambda: f"(not {inner()})",
        lambda: f"({inner()} < {inner()} <= {inner()})",
        *[lambda: filled(random, str(one_of(random, CALLS)), inner)] * 4,
        lambda: f"({inner()} if {inner()} else {inner()})",
        lambda: f"[x * {inner()} for x in {inner()} if x != {inner()}]",
        lambda: f"{{k: {inner()} for k in range(2)}}",
        lambda: f"[(y, x + y) for x in xs for y in (x, {inner()})]",
        lambda: f"sum(x + {inner()} for x in xs)",
        lambda: f"(lambda x, y={inner()}: x * y)({inner()})",
        lambda: f"(w := {inner()})",
        lambda: f"[w := x + {inner()} for x in xs][-1]",
        lambda: f'f"{{{inner()}!r:>{{n * 3}}}} {{n + 1=}} {{z:.{{n}}f}}"',
        lambda: f"{inner()}[{one_of(random, ['0', '1:', '::2', '..., 0', 'n - 1', ':, None'])}]",
        lambda: f"({inner()}, *{inner()})",
        lambda: f"show(x={inner()})",
        lambda: "'%s %s' % (n, z + 1)",
        lambda: "(\n    o\n    .twice(by=2)\n    .sum())",
    ]
    return forms[int(random.integers(len(forms)))]()


def statement(random: Generator, depth: int) -> list[str]:
    """Return the lines of a statement; one that holds others while there is depth left."""
    kinds = SIMPLE if depth <= 0 or random.random() < 0.5 else COMPOUND
    made: Made = one_of(random, kinds)
    return "\n".join(made(random, depth)).split("\n")


def body(random: Generator, depth: int) -> list[str]:
    """Return a few statements, indented."""
    made = [line for _ in range(random.integers(1, 4)) for line in statement(random, depth - 1)]
    return [f"    {line}" for line in made]


def targets(random: Generator) -> str:
    """Return what is assigned to: one, several, or a chain."""
    if random.random() < 0.5:
        return str(one_of(random, TARGETS))
    return filled(random, str(one_of(random, GROUPS)), lambda: str(one_of(random, TARGETS)))


def _of(*templates: str) -> Made:
    """What fills one of some templates with expressions."""
    return lambda random, _: [filled(random, one_of(random, templates), lambda: expression(random))]


SIMPLE: list[Made] = [
    _of("show({})"),
    _of("show({}, {})"),
    lambda random, _: [f"{targets(random)} = {expression(random)}"],
    lambda random, _: [f"{targets(random)} = {expression(random)}, {expression(random)}"],
    lambda random, _: [
        f"{one_of(random, TARGETS)} {one_of(random, INPLACE)}= {expression(random)}"
    ],
    lambda random, _: [
        f"{one_of(random, TARGETS)} {one_of(random, INPLACE)}= {one_of(random, SMALL)}"
    ],
    lambda random, _: [
        f"{one_of(random, TARGETS)} {one_of(random, GROWING[2:])} {one_of(random, SMALL)}"
    ],
    lambda random, _: [f"m: {expression(random, 1)} = {expression(random)}"],
    _of("assert {}, {}", "del xs[0], d['k']", "raise ValueError({})", "o.new = {}", "d[{}] = {}"),
    _of("print(f'{n:{n}} {s!r}', *[{}], sep='|')", "{}", "a.resize(2)", "np.seterr(all='warn')"),
    _of("xs.append({}); show(xs)", "a, b = b, a", "a = a.copy(); a += {}; show(a)"),
    _of("warnings.warn(str({}))", "show(inspect.getsource(show)[:20], sys._getframe().f_lineno)"),
    _of("show(__doc__, __name__, traced.__doc__, sorted(globals())[:3], show.__doc__)"),
]
COMPOUND: list[Made] = [
    lambda random, depth: [f"for i in {expression(random, 1)}:", *body(random, depth)],
    lambda random, depth: [
        "for i, x in enumerate(xs):",
        *body(random, depth),
        "else:",
        "    n = 1",
    ],
    lambda random, depth: ["t = 3", "while t > n - 9 and t:", "    t -= 1", *body(random, depth)],
    lambda random, depth: [
        f"if (w := {expression(random)}) is not None:",
        *body(random, depth),
        f"elif {expression(random)}:",
        *body(random, depth),
    ],
    lambda random, depth: [
        "try:",
        *body(random, depth),
        "except (TypeError, ValueError) as error:",
        "    show(type(error).__name__, str(error), error.__traceback__.tb_lineno)",
        "    raise RuntimeError(n + 1) from error",
        "finally:",
        *body(random, depth),
    ],
    lambda random, depth: [
        "with contextlib.suppress(ZeroDivisionError), np.errstate(all='warn'):",
        *body(random, depth),
    ],
    lambda random, depth: [
        "@traced",
        f"def f(x={expression(random, 1)}, *args, k={expression(random, 1)}, **rest) -> int:",
        '    """Compute."""',
        "    global n",
        f"    n = {expression(random)}",
        *body(random, depth),
        f"    return {expression(random)}",
        f"show(f({expression(random, 1)}), inspect.getsource(f), f.__doc__)",
    ],
    lambda random, depth: [
        "def g():",
        "    held = 0",
        "    def inner(x):",
        "        nonlocal held",
        f"        held += {expression(random)}",
        "        return held + x",
        f"    got = yield {expression(random)}",
        "    show(got, sorted(locals()))",
        "    yield inner(1) * 2",
        f"    yield from (x + 1 for x in {expression(random, 1)})",
        "it = g(); show(next(it), it.send(n), list(it))",
    ],
    lambda random, depth: [
        "async def h(x):",
        f"    return x + {expression(random)}",
        "async def many():",
        "    for i in range(2): yield await h(i)",
        "async def whole(): return [x * 2 async for x in many()]",
        "try: whole().send(None)",
        "except StopIteration as error: show(error.value)",
    ],
    lambda random, depth: [
        "class Own(Box):",
        f"    kept = {expression(random)}",
        "    def twice(self, **named):",
        "        show(__class__.__name__, super().twice(**named))",
        f"        return self.kept + {expression(random)}",
        "    def __radd__(self, other): return 'radd'",
        "    def __array_ufunc__(self, ufunc, method, *args, **named): return ufunc.__name__",
        "show(Own(a=2).twice(by=3), a + Own(), np.sqrt(Own()), 1 + Own())",
    ],
    lambda random, depth: [
        f"match {expression(random)}:",
        f"    case [x, *rest] if x + 1 == {expression(random, 1)}:",
        "        show(x, rest)",
        "    case Box(a=x) | {'k': x}:",
        "        show(x * 2)",
        "    case np.ndarray() | 3 | -1.5 as x:",
        "        show(x + 1)",
        "    case _:",
        *(f"    {line}" for line in body(random, depth)),
    ],
]


def program(random: Generator) -> str:
    """Return a program, of which each statement is tried."""
    made = [filled(random, START, str)]
    for _ in range(random.integers(3, 12)):
        lines = statement(random, 2)
        made += ["try:", *(f"    {line}" for line in lines)]
        made += ["except Exception: print(traceback.format_exc())"]
    made += statement(random, 1)
    return "\n".join(made) + "\n"


def told(run: Callable[[], object], script: str) -> str:
    """Return what a program prints, warns of, and what stops it."""
    output, before = io.StringIO(), np.geterr()
    with contextlib.redirect_stdout(output), warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = lambda message, kind, file, line, *_: print(
            "warns", kind.__name__, message, Path(file).name, line
        )
        try:
            run()
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            print(type(error).__name__, error)
            print(*(frame.line for frame in frames if frame.filename == script), sep="\n")
        finally:
            np.seterr(**before)
    return output.getvalue()


def bare(script: str) -> str:
    """What a program prints as it is."""
    return told(lambda: runpy.run_path(script, {"__builtins__": builtins}, "__main__"), script)


def recorded(script: str, past: bool) -> tuple[str, Any]:
    """What it prints while it is recorded."""
    home, other = as_policy("numpy@2"), as_policy("numpy@1")
    recorder = Recorder(home, (home, other))
    given = {"past": other} if past else {}
    return told(lambda: recorded_run(script, recorder, **given), script), recorder.report


def differing(one: Sequence[str], other: Sequence[str]) -> str:
    """The first line that differs, with those before it."""
    for n, (x, y) in enumerate(zip(one, other, strict=False)):
        if x != y:
            return "\n".join([*one[max(0, n - 12) : n], f"bare      {x}", f"rewritten {y}"])
    return f"{len(one)} and {len(other)} lines"


def once(random: Generator) -> None:
    """One program."""
    source = program(random)
    try:
        compile(source, "program", "exec", dont_inherit=True)
    except SyntaxError:
        return
    with TemporaryDirectory() as folder:
        script = str(Path(folder, "program.py"))
        Path(script).write_text(source, encoding="utf-8")
        linecache.checkcache()
        expected = bare(script)
        if "RecursionError" in expected:  # which comes earlier, as the hook takes levels, too
            return
        found, report = recorded(script, past=False)
        assert found == expected, differing(expected.splitlines(), found.splitlines())
        assert not report.drift, list(report.drifted())
        recorded(script, past=True)
