"""``assert_same_dtypes``: does a function give the same dtypes under every policy?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np

from promoarray.diagnostics.ask.observer import DEFAULT, shadowed
from promoarray.diagnostics.findings.results import edits, spelled
from promoarray.diagnostics.model.divergence import Answer, Divergence
from promoarray.diagnostics.report import Report
from promoarray.diagnostics.run.ending import stopped_at
from promoarray.errors import PromotionError, clipped, kind_of
from promoarray.namespaces import namespace
from promoarray.parray import PArray
from promoarray.promotion.in_force import policy
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

MOST_PLACES = 5
"""So many lines of the function are shown."""


class Result(NamedTuple):
    """What a function gives under one policy.

    Attributes
    ----------
    policy : Policy
    dtypes : dict
        From the name of each array in the result, such as ``"[0]"`` or ``"['loss']"``, to its
        dtype. Of what is no array its class.
    arrays : bool
        Whether there are any.
    refusal : str
        The policy's words, if it refuses an operation, and where.
    """

    policy: Policy
    dtypes: dict[str, str]
    arrays: bool = False
    refusal: str = ""


def assert_same_dtypes(
    fn: Callable[..., Any],
    *args: Any,
    policies: Iterable[str | Policy] | None = None,
    **kwargs: Any,
) -> None:
    """Raise an AssertionError unless a function gives the same dtypes under every policy.

    Parameters
    ----------
    fn : callable
        Returns an array, or tuples, lists, dicts and dataclasses of them. It is called once a
        policy, and where they differ once more, to find the lines.
    *args, **kwargs
        What it is called with. PArrays and NumPy's arrays in it, also in lists, tuples and dicts,
        are copied into arrays bound to each policy.
    policies : iterable of str or Policy, optional
        By default the editions of every framework that ``promoarray compare`` asks. The first that
        refuses nothing is the one that the lines are told for.

    Raises
    ------
    AssertionError
        A table of the dtypes, and the lines where the policies first differ, with the edits that
        mend them. A policy that refuses an operation differs.
    ValueError
        If no array is in any result: there is nothing to compare.

    Examples
    --------
    >>> import promoarray as pa
    >>> def half(x):
    ...     return x / 2
    >>> pa.testing.assert_same_dtypes(half, pa.ones(3, dtype=pa.float32))
    >>> pa.testing.assert_same_dtypes(half, pa.ones(3, dtype=pa.int8), policies=["numpy", "torch"])
    Traceback (most recent call last):
        ...
    AssertionError: half gives other dtypes under some policies
      policy      result
      numpy@2     float64
      torch@2.13  float32
    ...
    """
    __tracebackhide__ = True
    if isinstance(policies, (str, Policy)):
        policies = [policies]
    asked = tuple(dict.fromkeys(as_policy(p) for p in (DEFAULT if policies is None else policies)))
    if len(asked) < 2:
        raise ValueError("one policy has nothing to be compared with; write two or more")
    results = [_result(fn, args, kwargs, under) for under in asked]
    name = clipped(getattr(fn, "__name__", None) or kind_of(fn))
    if not any(result.arrays or result.refusal for result in results):
        raise ValueError(f"{name} gives no array under any policy; return its arrays")
    base = next((result for result in results if not result.refusal), None)
    if base is None:
        raise AssertionError("\n".join([f"every policy refuses {name}", *_table(results)]))
    differ = tuple(r.policy for r in results if r[1:] != base[1:])
    if differ:
        with policy(base.policy), shadowed(differ, everywhere=True) as report:
            _result(fn, args, kwargs, base.policy)
        lines = [f"{name} gives other dtypes under some policies", *_table(results)]
        raise AssertionError("\n".join([*lines, *_places(report)]))


def _result(
    fn: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any], under: Policy
) -> Result:
    __tracebackhide__ = True
    given = _bound([args, kwargs], namespace(under))
    with policy(under):
        try:
            made = fn(*given[0], **given[1])
        except (PromotionError, OverflowError) as error:
            words = getattr(error, "reason", "") or str(error)
            return Result(under, {}, refusal=f"{stopped_at(error)}: {clipped(words, 120)}")
        except Exception as error:
            error.add_note(f"under the policy {under.name}")
            raise
    leaves = dict(_leaves(made, ""))
    arrays = any(isinstance(leaf, PArray) for leaf in leaves.values())
    return Result(under, {name: _said(leaf) for name, leaf in leaves.items()}, arrays)


def _bound(value: Any, xp: Any) -> Any:
    """The same with its arrays copied into a namespace."""
    if isinstance(value, (PArray, np.ndarray)):
        return xp.asarray(value, copy=True)
    if isinstance(value, (list, tuple)):
        parts = [_bound(part, xp) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    if type(value) is dict:
        return {key: _bound(part, xp) for key, part in value.items()}
    return value


def _leaves(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """Yield the name of each leaf of a result, and the leaf."""
    parts: Iterable[tuple[str, Any]]
    if isinstance(value, dict):
        parts = ((f"[{key!r}]", part) for key, part in value.items())
    elif isinstance(value, tuple) and hasattr(value, "_asdict"):
        parts = ((f".{key}", part) for key, part in value._asdict().items())
    elif isinstance(value, (list, tuple)):
        parts = ((f"[{index}]", part) for index, part in enumerate(value))
    elif is_dataclass(value) and not isinstance(value, type):
        parts = ((f".{field.name}", getattr(value, field.name)) for field in fields(value))
    else:
        yield name or "result", value
        return
    for key, part in parts:
        yield from _leaves(part, name + key)


def _said(leaf: Any) -> str:
    """The dtype of an array; of what is none of ours its class, too."""
    if isinstance(leaf, PArray):
        return leaf.dtype.name
    dtype = getattr(leaf, "dtype", None)
    return kind_of(leaf) if dtype is None else f"{kind_of(leaf)} of {dtype}"


def _table(results: list[Result]) -> Iterator[str]:
    """The policies and what each gives, a line each."""
    names = list(dict.fromkeys(name for result in results for name in result.dtypes))
    differ = [n for n in names if len({r.dtypes.get(n) for r in results if not r.refusal}) > 1]
    shown = (differ or names)[:6]
    rows = [["policy", *shown]] + [
        [r.policy.name, *(r.dtypes.get(name, "none") for name in shown)] for r in results
    ]
    refusals = ["", *(r.refusal for r in results)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row, refusal in zip(rows, refusals, strict=True):
        cells = [row[0], f"refuses, {refusal}"] if refusal else row
        yield f"  {'  '.join(c.ljust(w) for c, w in zip(cells, widths, strict=False))}".rstrip()
    if len(names) > len(shown):
        agree = "which agree" if shown == differ else "some of which differ"
        yield f"  and {len(names) - len(shown)} more, {agree}"


def _places(report: Report) -> Iterator[str]:
    """The lines where the policies differ for the first time, and the edits."""
    found = report.roots
    for divergence in found[:MOST_PLACES]:
        site = divergence.site
        yield f"{site.path}  {site.expression or site.text}  [{spelled(divergence)}]"
        if (program := divergence.program) != site:
            yield f"    called from {program.path}  {program.expression or program.text}"
        for answer, names in _alike(divergence):
            if answer.origin in ("", "root"):
                why = f"  {answer.reason}" if answer.reason else ""
                yield f"    {answer!s:<12}{', '.join(names)}{why}"
        for edit, names in edits(divergence).items():
            yield f"    write {edit}  for {', '.join(names)}"
    if len(found) > MOST_PLACES:
        yield f"and {len(found) - MOST_PLACES} more lines"


def _alike(divergence: Divergence) -> Iterator[tuple[Answer, list[str]]]:
    """Each different answer with the policies that give it, the run's first."""
    groups: dict[tuple[object, ...], tuple[Answer, list[str]]] = {}
    for name, answer in divergence.answers.items():
        key = answer.dtype, answer.origin, answer.reason
        groups.setdefault(key, (answer, []))[1].append(name)
    yield from groups.values()
