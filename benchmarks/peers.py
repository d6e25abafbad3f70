"""Peers: their namespace, and how each gets an array. Each runs on one thread.

A line is written once, as text (``xp.exp(x)``). A peer that spells it otherwise has its own text.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from operator import iadd, setitem
from typing import Any, NamedTuple

import numpy as np
from measure import OURS, Call

import promoarray as pa
from promoarray.dtypes import as_dtype

Array = np.ndarray[Any, Any]


class Peer(NamedTuple):
    """A library: its namespace, its array of a NumPy array, and what waits for a result."""

    name: str
    xp: Any
    array: Callable[[Array], Any]
    wait: str = ""


NUMPY = Peer("numpy", np, np.copy)


def _torch() -> Peer:
    torch = import_module("torch")
    torch.set_num_threads(1)

    def array(x: Array) -> Any:
        if x.dtype.isbuiltin == 1:
            return torch.from_numpy(x.copy())
        bits = torch.from_numpy(x.copy().view(f"u{x.itemsize}"))
        return bits.view(getattr(torch, as_dtype(x.dtype).name))

    return Peer("torch", torch, array)


def _jax() -> Peer:
    jax = import_module("jax")
    jax.config.update("jax_enable_x64", True)
    # It answers before it has computed all the same, now and then: a sum of 16 MiB in 10 us.
    jax.config.update("jax_cpu_enable_async_dispatch", False)
    if hasattr(os, "sched_setaffinity"):
        # It computes on a thread of its own, whose time on another core is told late.
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    xp = import_module("jax.numpy")
    return Peer("jax", xp, xp.asarray, ".block_until_ready()")


PEERS = {"torch": _torch, "jax": _jax}


def load(names: Iterable[str]) -> list[Peer]:
    """Import the peers that are asked for and installed."""
    found = []
    for name in names:
        try:
            found.append(PEERS[name]())
        except ImportError:
            continue
    return found


def ours(xp: Any = pa) -> Peer:
    """Return promoarray, or a namespace of it, as the other side of its peers."""
    return Peer(OURS, xp, lambda x: xp.asarray(x.copy()))


def call(text: str, peer: Peer, operands: Mapping[str, Array]) -> Call:
    """Return an expression as one library's call; operands called ``n_...`` stay NumPy's arrays."""
    words = set(re.findall(r"\w+", text))
    given = {
        name: x if name.startswith("n_") else peer.array(x)
        for name, x in operands.items()
        if name in words
    }
    known = {"xp": peer.xp, "iadd": iadd, "setitem": setitem, **given}
    made: Call = eval(f"lambda: ({text}){peer.wait}", known)
    return made


def calls(
    text: str,
    peers: Iterable[Peer],
    operands: Mapping[str, Array],
    spelled: Mapping[str, str] | None = None,
    xp: Any = pa,
) -> dict[str, Call]:
    """Return an expression as promoarray's call and each peer's; who refuses it is left out."""
    found = {}
    for peer in (ours(xp), *peers):
        try:
            run = call((spelled or {}).get(peer.name, text), peer, operands)
            run()
        except Exception:  # whatever it raises, it has no such thing
            continue
        found[peer.name] = run
    return found if OURS in found else {}
