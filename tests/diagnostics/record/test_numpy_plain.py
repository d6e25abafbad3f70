"""Expressions of Python's own values: their errors, and where these stand."""

from __future__ import annotations

from types import CodeType
from typing import Any

import numpy as np
import pytest

from promoarray.diagnostics.record.numpy.hook import hook
from promoarray.diagnostics.record.numpy.rewriting import rewritten

hook()  # which is among the builtins from then on


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


@pytest.mark.parametrize(
    "source",
    [
        "xs[said(0)] = said(xs)[0]",
        "said(xs)[said(0)] += said(2)",
        "said(one).n += said(2)",
        "class A:\n    __n = 1\n    def f(self): self.__n += said(1); said(self.__n)\nA().f()",
        "class _A:\n    def f(self): self.__n = 1; self.__n *= 3; said(self.__n)\n_A().f()",
        "xs[0:1] += [said(4)]\nsaid(xs)",
        "one.xs[said(0)] -= said(one.xs)[0]\nsaid(one.xs)",
        "xs[said(9)] = said(1)",
        "xs[said(9)] += said(1)",
        "one.missing += said(1)",
    ],
)
def test_what_is_stored_is_evaluated_once_and_in_order(source: str) -> None:
    def run(code: CodeType) -> list[str]:
        heard: list[str] = []

        def said(x: Any) -> Any:
            heard.append(repr(x) if not isinstance(x, One) else "one")
            return x

        class One:
            n, xs = 1, [3]

        try:
            exec(code, {"said": said, "xs": [1], "one": One()})
        except (IndexError, AttributeError) as error:
            heard.append(str(error))
        return heard

    assert run(rewritten(source, "a.py")) == run(compile(source, "a.py", "exec"))


@pytest.mark.parametrize(
    "source",
    [
        "a[9] = (\n    1)",
        "a[a > 1] = (\n    [1, 2, 3, 4])",
        "a[0] = None",
        "a[9] += 1",
        "a[:2] += [1, 2, 3]",
        "a[0] += None",
        "a.shape += (\n    2,)",
        "(\n    a\n    .size) += 1",
        "a.missing += 1",
    ],
)
def test_an_error_of_what_is_stored_stands_where_python_says(source: str) -> None:
    def position(code: CodeType) -> tuple[str, Any]:
        with pytest.raises((ValueError, IndexError, TypeError, AttributeError)) as caught:
            exec(code, {"a": np.arange(3), "np": np})
        tb = caught.traceback[-1]._rawentry
        return str(caught.value), list(tb.tb_frame.f_code.co_positions())[tb.tb_lasti // 2]

    assert position(rewritten(source, "a.py")) == position(compile(source, "a.py", "exec"))
