"""``promoarray explore``: one page with every policy's promotion matrix, differences and casts."""

from __future__ import annotations

import argparse
import atexit
import base64
import gc
import json
import os
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.metadata import version
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from promoarray import pages
from promoarray.console import ZERO_D
from promoarray.diagnostics.ask.observer import DEFAULT
from promoarray.diagnostics.explore.answers import (
    DTYPES,
    NUMBERS,
    ORDER,
    Asked,
    Question,
    cast_table,
    entries,
    given,
    held,
    losses,
    new_pools,
    questions,
)
from promoarray.diagnostics.explore.order import order_of
from promoarray.diagnostics.progress import Progress
from promoarray.diagnostics.whole_file import require_place, write_whole
from promoarray.dtypes import is_narrow
from promoarray.promotion.plan import Rank
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy, families, list_policies

ASTYPE = "astype"
"""The question that is about casts; it comes last."""

_RANKS = {Rank.ARRAY: "array", Rank.ZERO_D: "0-d", Rank.SCALAR: "scalar"}

Step = Callable[[float], None]
T = TypeVar("T")


def main(args: argparse.Namespace) -> int:
    """Run the command."""
    names = list_policies() if args.policies == "all" else (args.policies or "").split(",")
    names = [name.strip() for name in names if name.strip()] or list(DEFAULT)
    policies = list(dict.fromkeys(as_policy(name) for name in names))
    target = None if args.output == "-" else Path(args.output)
    if target is not None:
        require_place(target)
    with Progress("asking the policies") as progress:
        page = (explore_json if args.json else explore_page)(
            policies,
            lambda part: progress.step(done=part),
            every=args.all,
            workers=min(len(policies), os.cpu_count() or 1),
        )
    if target is None:
        sys.stdout.write(page)
        return 0
    write_whole(target, page)
    print(f"Written: {target} ({len(page) / 1e6:.1f} MB, {len(policies)} policies)")
    if args.open:
        import webbrowser

        webbrowser.open(target.resolve().as_uri())
    return 0


def explore_page(policies: Sequence[Policy], step: Step = lambda part: None, **wanted: Any) -> str:
    """Return the page, one file of HTML that needs nothing else; see ``explore_json``."""
    text = explore_json(policies, step, **wanted)
    packed = base64.b64encode(zlib.compress(text.encode(), 9)).decode()
    body = f'{pages.read("explore.html")}\n<script type="text/plain" id="data">{packed}</script>'
    return pages.page(
        "promoarray: which dtype, and why", body, styles=("explore.css",), scripts=("explore.js",)
    )


def explore_json(
    policies: Sequence[Policy],
    step: Step = lambda part: None,
    *,
    asked: Iterable[Question] = (),
    every: bool = True,
    workers: int = 1,
) -> str:
    """Return what the page knows, as JSON: texts and answers by their numbers, and all tables.

    Of the common dtypes and operations, or of ``every`` one; of those operations alone that are
    ``asked``, if any. ``step`` is given the part of the work that is done. More than one of
    ``workers`` are processes, to which registered policies go by their names.
    """
    asked = tuple(asked) or questions(every)
    pools = new_pools()
    lost = losses(pools)
    shown: list[dict[str, Any]] = []
    step(0)
    ask = partial(_answers, asked=asked, every=every)
    for policy, found in zip(policies, _by_processes(ask, policies, workers), strict=True):
        table = cast_table(pools, policy)
        cast = {"dtypes": [NUMBERS[d.name] for d in held(policy)], "table": table}
        shown.append({**found, "casts": cast})
        step(len(shown) / len(policies))
    data = {
        "version": version("promoarray"),
        "every": every,
        "legend": ZERO_D,
        "dtypes": [[d.name, d.code, d.kind.value, d.bits] for d in DTYPES],
        "narrow": list(map(is_narrow, DTYPES)),
        "order": [ORDER[d] for d in DTYPES],
        "aliases": {family: names[0] for family, names in families().items()},
        "questions": [
            *([q.op, q.row.name, q.op if q.op == q.row.symbol else "", q.arity] for q in asked),
            [ASTYPE, ASTYPE, "", 2],
        ],
        "policies": shown,
        "losses": lost,
        "given": given(pools),
        **{name: list(pool) for name, pool in pools.items()},
    }
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def _by_processes(
    ask: Callable[[Policy | str], T], policies: Sequence[Policy], workers: int
) -> Iterator[T]:
    """What is answered for each policy, in order."""
    if workers < 2:
        yield from map(ask, policies)
        return
    spawn = get_context("spawn")
    with ProcessPoolExecutor(
        workers, mp_context=spawn, initializer=_without_collector
    ) as processes:
        yield from processes.map(ask, [policy.name for policy in policies])


def _without_collector() -> None:
    """Collect no garbage in this process.

    Answers are many thousand tuples that all stay. To look through them took a quarter of the time,
    and more than a second when the process ended.
    """
    gc.disable()
    atexit.register(gc.freeze)


def _answers(named: Policy | str, *, asked: tuple[Question, ...], every: bool) -> dict[str, Any]:
    """What the page says of a policy, but for its casts."""
    policy, pools = as_policy(named), new_pools()
    asking = Asked(pools, policy, every)
    tables = [asking.table(question) for question in asked]
    made = {name: list(pool) for name, pool in pools.items()}
    return {**_policy(policy, every), "tables": tables, **made}


def _policy(policy: Policy, every: bool) -> dict[str, Any]:
    """What the page says of a policy, but for its answers."""
    shown = tuple(entries(policy, every))
    data = {name: getattr(policy, name) for name in ("name", "title", "principle", "refusal")}
    return data | {
        "weak": policy.weak_arrays,
        "ranks": any(e.rank is Rank.ZERO_D for e in shown),
        "sources": list(map(str, policy.sources)),
        "notes": list(map(str, policy.notes)),
        "castSources": list(map(str, policy.cast.sources or policy.sources)),
        "castNotes": list(map(str, policy.cast.notes)),
        "entries": [  # the last is what they are called in the words on a cast
            [
                *(e.label, NUMBERS.get(e.dtype.name, -1), _RANKS[e.rank]),
                e.label if e.dtype.weak else e.dtype.name,
            ]
            for e in shown
        ],
        "order": order_of(policy).to_dict(),
    }
