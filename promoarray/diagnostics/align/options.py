"""Options of two calls of one function: what one was given, or means by default, and the other."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from promoarray.diagnostics.align.graph import Node
from promoarray.diagnostics.calls.examined import default_of

_NAMES = {
    "epsilon": "eps",
    "unbiased": "correction",
    "ddof": "correction",
    "alpha": "slope or alpha",
    "negative_slope": "slope or alpha",
}
_COMPARED = frozenset(
    (
        *("approximate", "eps", "correction", "slope or alpha", "align_corners", "momentum"),
        *("reduction", "label_smoothing", "ignore_index", "count_include_pad", "ceil_mode"),
        *("padding_mode", "beta", "delta", "is_causal", "causal"),
    )
)
_SECOND = {
    "gelu": "approximate",
    "leaky_relu": "slope or alpha",
    "elu": "slope or alpha",
    "celu": "slope or alpha",
}
"""The option that a function takes as its second argument."""

_MEANT: dict[str, dict[str, int]] = {
    "approximate": {"none": False, "exact": False, "tanh": True, "approximated by tanh": True},
    "correction": {"divided by n - 1": 1, "divided by n": 0},
}
"""Other words for values: those of frameworks, and of the table of definitions."""


def differing(first: Node, second: Node) -> Iterator[tuple[str, Any, Any]]:
    """Yield the options in which two calls of a function differ, with both values."""
    theirs, mine = _options(first), _options(second)
    for key in theirs.keys() & mine.keys():
        a, b = theirs[key], mine[key]
        numbers = all(isinstance(x, (int, float)) for x in (a, b))
        same = math.isclose(a, b, rel_tol=1e-6) if numbers else a == b
        if not same and isinstance(a, str) == isinstance(b, str):
            yield key, a, b


def last(node: Node) -> str:
    """A function's name without its module, of one that is an operation the operation's."""
    return node.operation or node.name.rpartition(".")[2].strip("_")


def _options(node: Node) -> dict[str, Any]:
    given = {_NAMES.get(key, key): x for key, x in node.options.items() if x is not None}
    name = last(node)
    if name in _SECOND and node.positional:
        given.setdefault(_SECOND[name], node.positional[0])
    found = {key: _value(key, x, node.framework) for key, x in given.items() if key in _COMPARED}
    default = default_of(name, node.framework)
    for key, words in _MEANT.items():
        if default in words:
            found.setdefault(key, words[default])
    return found


def _value(key: str, x: Any, framework: str) -> Any:
    if key == "momentum" and framework == "paddle":  # what is kept, not what is taken in
        return 1 - x
    return _MEANT.get(key, {}).get(x, x) if isinstance(x, str) else x
