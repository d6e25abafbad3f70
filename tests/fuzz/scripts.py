"""Random scripts under `python` and under `compare`: the same output and status, and a report.

Operations, control flow, functions, generators, comprehensions, classes, errors caught and not,
threads, exits of every sort. A policy that the script sets may refuse some of it.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from subprocess import PIPE, Popen

from numpy.random import Generator

from fuzz.layouts import one_of

START = """\
import asyncio, atexit, contextlib, io, os, sys, threading
import promoarray as xp
a, b, n = xp.asarray([3, 1, 2], dtype=xp.{}), xp.asarray([1, 0, 5], dtype=xp.{}), 3
"""
DTYPES = ["int8", "uint8", "int64", "float32", "float64", "bfloat16", "float8_e5m2", "bool"]
POLICIES = ["numpy", "numpy@1", "torch", "jax", "paddle", "tensorflow", "onnx", "aclnn@8.5"]
EXPRESSIONS = [
    *("a + b", "a / 2", "a * 1.5", "b - a", "xp.sum(a)", "xp.mean(b)", "a[0] + n", "a < b"),
    *("xp.where(a > 1, a, b)", "a @ b", "-a", "a ** 2", "xp.concat([a, b])", "a.astype(xp.int16)"),
    *("[x + 1 for x in (a, b)]", "sum(f(i) for i in range(3))", "f(1) if n else f(2)", "n"),
    *("(lambda x: x + x)(a)", "float(xp.max(a))", "xp.result_type(a, 1.5)", "a + 2**40"),
    *("str(a)", "a.dtype", "xp.ones(2)", "xp.linspace(0, 1, 3)", "xp.get_policy().name"),
    *("1 / 0", "a[9]", "undefined", "xp.reshape(a, (2, 2))", "int('x')"),
]
ENDS = [
    *("", "", "sys.exit()", "sys.exit(3)", "sys.exit('words')", "os._exit(5)", "raise SystemExit"),
    *("raise KeyboardInterrupt", "exit(n)", "assert n > 5", "raise OSError(2, 'no', 'file')"),
    *("sys.stdout.close()", "del sys.modules['promoarray']", "os.abort()"),
    *("sys.excepthook = lambda *e: print('hook')\n1 / 0", "atexit.register(print, f(2))"),
]
"""The last line of a script."""

Made = Callable[[Generator, int], list[str]]


def expression(random: Generator) -> str:
    """Return an expression, now and then one inside another."""
    made = str(one_of(random, EXPRESSIONS))
    return f"f({made})" if random.random() < 0.1 else made


def body(random: Generator, depth: int) -> list[str]:
    """Return a few statements, indented."""
    made = [line for _ in range(random.integers(1, 4)) for line in statement(random, depth - 1)]
    return [f"    {line}" for line in made]


def statement(random: Generator, depth: int) -> list[str]:
    """Return the lines of a statement; one that holds others while there is depth left."""
    kinds = SIMPLE if depth <= 0 or random.random() < 0.6 else COMPOUND
    made: Made = one_of(random, kinds)
    return made(random, depth)


SIMPLE: list[Made] = [
    lambda random, _: [f"print({expression(random)})"],
    lambda random, _: [f"print({expression(random)})"],
    lambda random, _: [f"{one_of(random, ['a', 'b'])} = xp.asarray({expression(random)})"],
    lambda random, _: [f"a {one_of(random, ['+', '-', '*'])}= {one_of(random, ['1', 'b', 'n'])}"],
    lambda random, _: [f"n = {random.integers(0, 9)}"],
    lambda random, _: [f"xp.set_policy({one_of(random, POLICIES)!r})"],
    lambda random, _: ["os.chdir('/')"],
    lambda random, _: [f"def f(x): return {one_of(random, ['x', 'a + x', 'a / b', 'x * 2'])}"],
    lambda random, _: ["print(input())"],
]
COMPOUND: list[Made] = [
    lambda random, depth: [f"for i in range({random.integers(0, 4)}):", *body(random, depth)],
    lambda random, depth: ["if n > 2:", *body(random, depth), "else:", *body(random, depth)],
    lambda random, depth: [
        "try:",
        *body(random, depth),
        f"except {one_of(random, ['Exception', 'TypeError', 'ZeroDivisionError'])} as e:",
        "    print(type(e).__name__, e)",
        *one_of(random, [[], ["else:", *body(random, depth)], ["finally:", *body(random, depth)]]),
    ],
    lambda random, depth: [
        f"with xp.policy({one_of(random, POLICIES)!r}):",
        *body(random, depth),
    ],
    lambda random, depth: ["with contextlib.redirect_stdout(io.StringIO()):", *body(random, depth)],
    lambda random, depth: [
        "def g(a=a, b=b, n=n):",
        *body(random, depth),
        "    yield a",
        "for x in g(): print(x)",
    ],
    lambda random, depth: [
        "def h(a=a, b=b, n=n):",
        *body(random, depth),
        *one_of(random, [["h()"], ["t = threading.Thread(target=h)", "t.start(); t.join()"]]),
    ],
    lambda random, depth: ["class C:", *body(random, depth), "print(C.__module__)"],
    lambda random, depth: [
        "async def k(a=a, b=b, n=n):",
        *body(random, depth),
        "asyncio.run(k())",
    ],
]


def script(random: Generator) -> str:
    """Return a script."""
    lines = [line for _ in range(random.integers(1, 8)) for line in statement(random, 3)]
    start = START.format(one_of(random, DTYPES), one_of(random, DTYPES))
    return "\n".join([start, "def f(x): return a + x", *lines, str(one_of(random, ENDS)), ""])


def ran(*commands: tuple[str, ...]) -> list[tuple[int, bytes, bytes]]:
    """Run Python at once with each command, and three lines to read: status, output, errors."""
    started = [
        Popen([sys.executable, *command], stdin=PIPE, stdout=PIPE, stderr=PIPE)
        for command in commands
    ]
    told = [each.communicate(b"1\n2\n3\n") for each in started]
    return [(each.returncode, *said) for each, said in zip(started, told, strict=True)]


def once(random: Generator) -> None:
    """One script."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "script.py")
        path.write_text(text := script(random))
        compare = "-m", "promoarray", "compare", str(path), "--policies", "torch,paddle"
        wanted, found = ran((str(path),), compare)
    status, out, err = wanted
    told, printed, said = found
    report = printed.removeprefix(out)
    said_flat = b" ".join(report.split())  # its lines are folded
    differ = re.search(rb"differ, [1-9]\d* root cause|other values\.", said_flat) is not None
    due = 3 if status > 0 else 128 - status if status else int(differ)
    assert told == due, f"{text}\n{status}, not {told}: {said!r}"
    assert printed.startswith(out), f"{text}\n{out!r}\n{printed!r}"
    told = b"operation" in report or report.startswith(b"The program stopped")
    assert told, f"{text}\nno report: {found!r}"
    # Tracebacks are shorter there; how they end is the same.
    ends = [each.split(b"promoarray compare:")[0].splitlines()[-1:] for each in (err, said)]
    assert ends[0] == ends[1], f"{text}\n{err!r}\n{said!r}"
