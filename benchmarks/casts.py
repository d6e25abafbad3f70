"""Casts: every ordered pair of dtypes, beside a copy of the wider side, NumPy and PyTorch."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from measure import OURS, Bound, Call, Line, Options
from peers import Array, Peer, load

from promoarray import dtypes as dt
from promoarray.backends import numpy as backend
from promoarray.dtypes import DType, Kind

COPY = "copy"
NARROW = Bound(1.5, (COPY,))
OTHER = Bound(1.0, ("numpy", "torch"))
DTYPES = [dtype for dtype in dt.CONCRETE if dtype is not dt.string]


def lines(options: Options) -> Iterator[Line]:
    """Yield casts of float32 to and from floats of 16 bits and fewer, then all other pairs."""
    torch = next(iter(load(name for name in options.peers if name == "torch")), None)
    pairs = [pair for pair in product(DTYPES, DTYPES) if pair[0] is not pair[1]]
    for source, target in sorted(pairs, key=lambda pair: not is_narrow(*pair)):
        yield line(source, target, options.elements, torch)


def is_narrow(source: DType, target: DType) -> bool:
    """Say whether a pair is float32 and a float of 16 bits and fewer."""
    both = {source, target}
    return dt.float32 in both and any(d.kind is Kind.FLOAT and d.bits <= 16 for d in both)


def line(source: DType, target: DType, n: int, torch: Peer | None) -> Line:
    """Return one pair beside NumPy with ml_dtypes, PyTorch and a copy of the wider side."""
    x = sample(source, n)
    wider = x if x.itemsize >= target.storage.itemsize else np.empty(n, target.storage)
    found: dict[str, Call] = {OURS: lambda: backend.cast(x, source, target), COPY: wider.copy}
    try:
        x[:1].astype(target.storage)
        found["numpy"] = lambda: x.astype(target.storage)
    except TypeError:
        pass
    if torch is not None and (run := by_torch(torch, source, target, x)) is not None:
        found["torch"] = run
    return Line(f"{source} to {target}", found, (NARROW if is_narrow(source, target) else OTHER,))


def by_torch(torch: Peer, source: DType, target: DType, x: Array) -> Call | None:
    """Return PyTorch's cast; None where it has none."""
    into = getattr(torch.xp, target.name, None)
    if into is None or min(source.bits, target.bits) < 8:
        return None
    try:
        tensor: Any = torch.array(x)
        tensor[:1].to(into)
    except (AttributeError, RuntimeError, NotImplementedError, TypeError):
        return None
    return lambda: tensor.to(into)


@lru_cache(maxsize=2)
def sample(dtype: DType, n: int) -> Array:
    """Numbers around 0; any codes of small integers."""
    rng = np.random.default_rng(0)
    if dtype.kind is Kind.COMPLEX:
        return sample(dtype.part, 2 * n).view(dtype.storage)
    if dtype.kind is Kind.FLOAT:
        values = rng.standard_normal(n, np.float32) * 4
        with np.errstate(all="ignore"):
            return (values if dtype.format and dtype.format.signed else abs(values)).astype(
                dtype.storage
            )
    if dtype.bits > 8:
        return rng.integers(0, 127, n).astype(dtype.storage)
    return rng.integers(0, 1 << dtype.bits if dtype.bits > 1 else 2, n, np.uint8).view(
        dtype.storage
    )
