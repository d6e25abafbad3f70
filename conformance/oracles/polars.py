"""Polars' answers: expressions over columns, with literals of Python's numbers.

python conformance/oracles/polars.py [--out conformance/golden]

Asked with polars 2.1.0. Every expression is run on two rows. Int128, which promoarray has not, is
written as a refusal.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import _ask

NAMES = {
    **{name: name.title().replace("Ui", "UI") for name in _ask.DTYPES if "int" in name},
    **{f"float{n}": f"Float{n}" for n in (16, 32, 64)},
    "bool": "Boolean",
}
BITS = ("8", "16", "32", "64")
UNARY = {name: name for name in _ask._names("sin cos tan sinh cosh tanh exp log1p sqrt abs floor")}
UNARY |= {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "ceil": "ceil", "round": "round"}
UNARY |= {"log": "log", "log10": "log10", "sign": "sign", "isnan": "is_nan", "isinf": "is_infinite"}
UNARY |= {"isfinite": "is_finite", "negative": "neg", "logical_not": "not_"}
REDUCE = {name: name for name in _ask._names("sum mean max min std var any all")}
REDUCE |= {"prod": "product", "argmax": "arg_max", "sort": "sort", "argsort": "arg_sort"}
REDUCE |= {"cumulative_sum": "cum_sum", "cumulative_prod": "cum_prod"}


def edition() -> _ask.Oracle:
    """Ask the installed Polars."""
    import polars as pl

    dtypes = {
        _ask.CODES[name]: getattr(pl, theirs)
        for name, theirs in NAMES.items()
        if hasattr(pl, theirs) and (name == "bool" or name.endswith(BITS))
    }
    codes = {dtype: code for code, dtype in dtypes.items()}
    frame = pl.DataFrame(
        {f"{letter}_{c}": pl.Series([1, 1]).cast(d) for c, d in dtypes.items() for letter in "xy"}
    )

    def code(expression: Any) -> str:
        return codes[frame.select(expression.alias("z"))["z"].dtype]

    def of_one(names: dict[str, str]) -> _ask.Section:
        methods: dict[str, Callable[[Any], Any]] = {
            name: (lambda x, m=method: getattr(x, m)()) for name, method in names.items()
        }
        return _ask.Section(lambda x, method: method(x), columns, methods)

    columns = {c: pl.col(f"x_{c}") for c in dtypes}
    others = {c: pl.col(f"y_{c}") for c in dtypes}
    numbers = {name: value for name, value in _ask.SCALARS.items() if name != "complex"}
    values = {name: value for name, value in _ask.VALUES.items() if isinstance(value, int)}
    where = {"where": lambda x, y: pl.when(pl.lit(True)).then(x).otherwise(y)}
    operators = {n: f for n, f in _ask.OPERATORS.items() if not n.endswith("shift")}
    sections = {
        **_ask.binary(
            "operator", operators, columns | numbers, others | numbers, both_scalars=False
        ),
        **_ask.binary("function", where, columns, others),
        "by_value/add": _ask.Section(
            lambda x, y: x + y, columns, {n: v for n, v in values.items() if abs(v) < 2**63}
        ),
        "unary": of_one(UNARY),
        "reduce": of_one(REDUCE),
    }
    meta = {
        "policy": "polars@2.1",
        "framework": f"polars {version('polars')}",
        "how": "expressions over columns, run on two rows; Int128 is a refusal",
    }
    return _ask.Oracle(meta, code, sections)


if __name__ == "__main__":
    _ask.main({"polars": edition})
