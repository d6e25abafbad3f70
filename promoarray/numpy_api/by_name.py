"""NumPy's functions on the main module, by NumPy's names: what ``np.median`` is of our arrays.

``table`` has their parameters, ``by_name_docs`` what their docstrings are made of.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter as Named
from inspect import Signature, signature
from typing import Any

import numpy as np

from promoarray.errors import ends_at_caller
from promoarray.numpy_api import by_name_docs
from promoarray.numpy_api.functions import call, space_of
from promoarray.numpy_api.table import Parameter, Row, rows


def function_of(name: str) -> Callable[..., Any]:
    """Make the function that ``numpy.name`` is of our arrays; numbers and lists are arrays too."""
    row = rows()[name]
    takes = _signature(row, getattr(np, name))
    of_one = row.parameters[0].how == "place" and row.parameters[0].name != "tup"
    of_one &= name != "fill_diagonal"  # which writes into what it is given

    def function(*args: Any, **kwargs: Any) -> Any:
        try:
            takes.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{name}() {error}") from None
        given = (*args, *kwargs.values())
        within = (x for value in given if type(value) in (list, tuple) for x in value)
        xp = space_of(map(type, (*given, *within)))
        if of_one and args and type(args[0]) in (list, tuple, range):
            args = (xp.asarray(args[0]), *args[1:])
        return call(row, xp, args, kwargs)

    function.__name__ = function.__qualname__ = name
    function.__module__ = "promoarray.extras"
    function.__doc__ = _docstring(row)
    vars(function)["__signature__"] = takes
    return ends_at_caller(function)


def _signature(row: Row, numpys: Callable[..., Any]) -> Signature:
    """The parameters of a row, with NumPy's defaults as far as it tells them."""
    try:
        known = signature(numpys).parameters
    except ValueError:  # builtin functions before NumPy 2.4
        known = {}  # type: ignore[assignment]

    def default(each: Parameter) -> Any:
        if each.how in ("place", "rest"):
            return Named.empty
        found = known[each.name].default if each.name in known else None
        return None if found is np._NoValue else found

    kinds = {"rest": Named.VAR_POSITIONAL}
    return Signature(
        [
            Named(p.name, kinds.get(p.how, Named.POSITIONAL_OR_KEYWORD), default=default(p))
            for p in row.parameters
        ]
    )


def _docstring(row: Row) -> str:
    """The docstring of a function, as numpydoc has it."""
    said = by_name_docs.entries()[row.name]
    kind, _, shape = said.returns.partition(" | ")
    return by_name_docs.DOC.format(
        name=row.name,
        summary=said.summary,
        parameters="\n".join(map(_entry, row.parameters)),
        returns=f"{kind}\n    {shape}".rstrip(),
        examples=said.examples,
    )


def _entry(parameter: Parameter) -> str:
    """What is said of one parameter."""
    if parameter.how == "refused":
        taken = " or ".join(sorted(filter(None, parameter.taken))) or "None"
        return f"{parameter.name} : optional\n    {taken}; anything else is an error."
    star = "*" if parameter.how == "rest" else ""
    return f"{star}{parameter.name} : {by_name_docs.parameters()[parameter.name]}"
