"""The libraries that stand beside promoarray: their namespace, and how each gets an array.

Each runs on one thread, and a call ends when its result is there. A line is written once, as text
(``xp.exp(x)``), and each library gets its own where it spells it otherwise, or none where it lacks
it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from importlib import import_module
from operator import iadd, setitem
from typing import Any, NamedTuple

import numpy as np
from measure import OURS, Call

import promoarray as pa
from promoarray.dtypes import as_dtype

Array = np.ndarray[Any, Any]


class Peer(NamedTuple):
    """A library: its namespace, its array of NumPy's storage of a dtype, and what waits for a
    result, written behind it."""

    name: str
    xp: Any
    array: Callable[[Array], Any]
    wait: str = ""


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
    xp = import_module("jax.numpy")
    return Peer("jax", xp, xp.asarray, ".block_until_ready()")


def _paddle() -> Peer:
    paddle = import_module("paddle")
    paddle.set_device("cpu")

    def array(x: Array) -> Any:
        if x.dtype.isbuiltin == 1:
            return paddle.to_tensor(x)
        return paddle.to_tensor(x.astype(np.float32)).astype(as_dtype(x.dtype).name)

    return Peer("paddle", paddle, array)


PEERS = {"torch": _torch, "jax": _jax, "paddle": _paddle}
ENVIRONMENT = {
    **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "PROMOARRAY_NUM_THREADS": "1",
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
    "JAX_PLATFORMS": "cpu",
}
"""What a process is started with, so that all run on one thread."""


def keep_to_one_core() -> None:
    """Stay on one core. JAX computes on a thread of its own, and the time that a thread has had on
    another core is told late: no time at all, for a call that is shorter than a tick."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def load(names: Iterable[str]) -> tuple[list[Peer], dict[str, str]]:
    """Import NumPy and the peers named; say of those that are left out why."""
    found, missing = [Peer("numpy", np, np.copy)], {}
    for name in names:
        try:
            found.append(PEERS[name]())
        except ImportError as error:
            missing[name] = str(error).partition("\n")[0]
    return found, missing


Spelled = dict[str, str | None]
"""How libraries write what they spell otherwise; None for what one lacks."""


def calls(
    text: str,
    peers: Iterable[Peer],
    operands: dict[str, Array],
    spelled: Spelled | None = None,
    ours: Any = pa,
) -> dict[str, Call]:
    """Return an expression of ``xp`` and of operands as a call of promoarray and of each peer.

    A peer that refuses it is left out.
    """
    found = {OURS: call(text, Peer(OURS, ours, lambda x: ours.asarray(x.copy())), operands)}
    for peer in peers:
        own = (spelled or {}).get(peer.name, text)
        if own is not None:
            try:
                run = call(own, peer, operands)
                run()
            except Exception:  # whatever it raises, it has no such thing
                continue
            found[peer.name] = run
    return found


def call(text: str, peer: Peer, operands: dict[str, Array]) -> Call:
    """Return an expression as one library's call; ``n_`` names stay NumPy's arrays."""
    words = set(re.findall(r"\w+", text))
    given = {
        name: x if name.startswith("n_") else peer.array(x)
        for name, x in operands.items()
        if name in words
    }
    known = {"xp": peer.xp, "iadd": iadd, "setitem": setitem, **given}
    made: Call = eval(f"lambda: ({text}){peer.wait}", known)
    return made
