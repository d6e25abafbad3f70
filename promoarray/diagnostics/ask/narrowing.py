"""What is lost of data that a policy takes in as a narrower dtype than they have."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from promoarray.backends import backend_of
from promoarray.core import host
from promoarray.diagnostics.model.value_changes import Difference, Example
from promoarray.dtypes import DType
from promoarray.promotion.policy import Policy

BLOCK = 1 << 16
"""So many elements are looked at together, so that large data take no memory of their size."""


class Lost(NamedTuple):
    """What is lost of data.

    Attributes
    ----------
    elements : int
        How many change.
    largest : float
        By how much the one changes that changes most.
    at : tuple of int
        Where that is.
    given, made : str
        It, and what becomes of it.
    """

    elements: int
    largest: float
    at: tuple[int, ...]
    given: str
    made: str


Said = Callable[[Lost], Difference]


def kept_by(policies: tuple[str, ...]) -> Said:
    """What is lost in the run, and not under some policies."""
    return partial(_kept_by, policies)


def lost_by(policies: tuple[str, ...]) -> Said:
    """What is lost under some policies, and not in the run."""
    return partial(_lost_by, policies)


def _kept_by(policies: tuple[str, ...], lost: Lost) -> Difference:
    example = Example(lost.at, lost.given, run=lost.made, other=lost.given)
    return Difference(policies, lost.elements, example, largest=lost.largest)


def _lost_by(policies: tuple[str, ...], lost: Lost) -> Difference:
    example = Example(lost.at, lost.given, run=lost.given, other=lost.made)
    return Difference(policies, lost.elements, example, largest=lost.largest)


def narrowed(policy: Policy, data: tuple[Any, ...], source: DType, target: DType) -> Lost | None:
    """Return what a policy's cast of data to a narrower dtype loses; None if nothing.

    Parameters
    ----------
    policy : Policy
        Whose cast rule it is.
    data : tuple of numpy.ndarray and numpy.generic
    source, target : DType
        Of the data, and what the policy makes of them.
    """
    found = [lost for x in data for lost in _blocks(policy, np.asarray(x), source, target)]
    if not found:
        return None
    worst = max(found, key=lambda lost: lost.largest)
    return worst._replace(elements=sum(lost.elements for lost in found))


def _blocks(policy: Policy, data: Any, source: DType, target: DType) -> list[Lost]:
    """What is lost of an array, a block of it each."""
    if data.size <= BLOCK:
        lost = _lost(policy, data.ravel(), source, target)
        return [] if lost is None else [_placed(lost, 0, data)]
    found, start = [], 0
    options: Any = {"flags": ["external_loop", "buffered", "zerosize_ok"], "order": "C"}
    for part in np.nditer(data, buffersize=BLOCK, **options):
        block: Any = part
        if (lost := _lost(policy, block, source, target)) is not None:
            found.append(_placed(lost, start, data))
        start += block.size
    return found


def _placed(lost: Lost, start: int, data: Any) -> Lost:
    """What is lost of a block that begins somewhere in an array, by where that is in the array."""
    at = np.unravel_index(start + lost.at[0], data.shape) if data.ndim else ()
    return lost._replace(at=tuple(int(i) for i in at))


def _lost(policy: Policy, block: Any, source: DType, target: DType) -> Lost | None:
    backend = backend_of(block)
    cast = backend.cast(block, source, target, *policy.cast.plan(source, target))
    made = host.decoded(backend.to_numpy(cast, target), target)
    back = made.astype(block.dtype)
    differ = (back != block) & ~((back != back) & (block != block))  # a NaN is not equal to itself
    if not differ.any():
        return None
    with np.errstate(all="ignore"):
        wide = np.promote_types(block.dtype, np.float64)
        apart = np.where(differ, np.abs(back.astype(wide) - block.astype(wide)), -1.0)
    at = int(np.argmax(apart))
    values = str(block[at].item()), str(made[at].item())
    return Lost(int(np.count_nonzero(differ)), float(apart[at]), (at,), *values)
