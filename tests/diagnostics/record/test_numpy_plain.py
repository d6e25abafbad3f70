"""Expressions of Python's own values, which pass no hook; and those that have to."""

from __future__ import annotations

import builtins
from types import CodeType
from typing import Any

import numpy as np
import pytest

from promoarray.diagnostics.record.numpy.hook import hook
from promoarray.diagnostics.record.numpy.rewriting import RESERVED, rewritten

HOOK = hook()
GIVEN = "a, i, text, d, xs, grid = 7, 2, '%d', {'k': 1}, [1, 2, 3], [[1], [2, 3, 4]]\n"


class Counting:
    """Stands as the hook, and counts what passes through it."""

    def __init__(self) -> None:
        self.passed = 0

    def __getattr__(self, name: str) -> Any:
        method = getattr(HOOK, name)
        if not callable(method):
            return method

        def counted(*given: Any) -> Any:
            self.passed += 1
            return method(*given)

        return counted


def passed(source: str, monkeypatch: pytest.MonkeyPatch, **names: Any) -> int:
    """How often the hook is called while a program runs."""
    counting = Counting()
    monkeypatch.setattr(builtins, RESERVED, counting)
    exec(rewritten(source, "a.py"), names)
    return counting.passed


@pytest.mark.parametrize(
    "source",
    [
        "a = (a * 3 + i) % 1000 - -i // 2",
        "a += a * i",
        "xs[i] += xs[i - 1] * 2",
        "xs[i] = xs[1] < a < 9",
        "xs[0:i]",
        "grid[1][i] + xs[0]",
        "if a < 5 and not i == 7: a += 1",
        "def f(a, b):\n    return (a + b) * i - b\nf(1, 2)",
        "for k in range(3):\n    xs[0] = (a + i) * k",
        "[(x + a) * y for x, y in [(1, 2)]]",
        "(lambda x, y: (x + a) * y)(1, 2)if 0 else 0",
        "d['k'] += a; d['k'] = -a",
        "text % a + text * 2",
        "~a",
    ],
)
def test_what_is_plain_passes_no_hook(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not passed(GIVEN + source, monkeypatch)


@pytest.mark.parametrize(
    ("source", "times"),
    [("a + 1", 3), ("-a", 2), ("a[0]", 2), ("xs[0] + 1", 3), ("a[0] = 1", 2), ("a += 1", 3)],
)
def test_an_array_passes_the_hook(source: str, times: int, monkeypatch: pytest.MonkeyPatch) -> None:
    assert passed(source, monkeypatch, a=np.ones(2), xs=[np.ones(2)]) >= times


@pytest.mark.parametrize(
    ("source", "error"),
    [
        ("a / 0 + undefined", ZeroDivisionError),
        ("undefined + a / 0", NameError),
        ("a / 0 + xs[9]", ZeroDivisionError),
        ("xs[9] + a / 0", IndexError),
        ("(a < 1 < undefined) / 0", ZeroDivisionError),
        ("xs[a / 0] = undefined", NameError),
        ("xs[0] = a / 0 + undefined", ZeroDivisionError),
        ("for k in []: pass\na / 0 + k", ZeroDivisionError),
        ("k = 1\ndel k\na / 0 + k", ZeroDivisionError),
        ("k = 1\ndef f():\n    x = a / 0 + k\n    k = 2\nf()", ZeroDivisionError),
        ("k = 1\na / 0 + k", ZeroDivisionError),
        ("def f(n): n += a / 0 + n\nf(1)", ZeroDivisionError),
        ("class A:\n    b = 1\n    def f(self): return a / 0 + b\nA().f()", ZeroDivisionError),
        ("[a / 0 + k for k in [1]]", ZeroDivisionError),
        ("try: a / 0\nexcept ZeroDivisionError as k: pass\na / 0 + k", ZeroDivisionError),
    ],
)
def test_the_first_error_of_an_expression_is_the_one(source: str, error: type[Exception]) -> None:
    """Where a name or an item that is not there stands behind what raises, or before it."""
    for code in (compile(source, "a.py", "exec"), rewritten(source, "a.py")):
        with pytest.raises(error):
            exec(code, {"a": 7, "xs": [1]})


def test_a_long_expression_is_not_written_many_times() -> None:
    source = "x = " + " + ".join("abcdefgh" * 8)
    assert len(rewritten(source, "a.py").co_code) < 3 * 63 * 100


@pytest.mark.parametrize(
    "source",
    [
        "if a[0:]:\n    pass",
        "x = [1 if not a[0:]\n  else 2]",
        "while i < 3 and a * i: pass",
        "assert not (i < 3 and (i == 2 or -a))",
        "[1 for k in xs if a[0:]]",
        "if i and (a * 2 if i < 4 else 0): pass",
        "if 0 < i < a < 9: pass",
        "if i + missing: pass",
    ],
)
def test_an_error_in_a_condition_stands_where_python_says(source: str) -> None:
    def position(code: CodeType) -> tuple[str, Any]:
        with pytest.raises((ValueError, NameError)) as caught:
            exec(code, {"a": np.arange(3), "i": 1, "xs": [1]})
        tb = caught.traceback[-1]._rawentry
        return str(caught.value), list(tb.tb_frame.f_code.co_positions())[tb.tb_lasti // 2]

    assert position(rewritten(source, "a.py")) == position(compile(source, "a.py", "exec"))
