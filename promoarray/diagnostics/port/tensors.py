"""The arrays of other frameworks as NumPy's, bit by bit, and the layers that hold some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from promoarray.core import host
from promoarray.dtypes import BY_NAME


def array_of(value: Any, kind: type) -> tuple[str, Any] | None:
    """Return the dtype's name and the values of an array of another framework.

    None if it is no such array, or cannot be read: as of keys, sparse and abstract ones.
    """
    reader = next((_READERS[name] for name in _owners(kind) if name in _READERS), None)
    if reader is None or not hasattr(kind, "dtype"):
        return None
    try:
        raw = reader(value)
    except Exception:  # whatever a framework says of what it has no numbers of
        return None
    name = str(value.dtype).rpartition(".")[2]
    known = BY_NAME.get(name)
    if known is None:
        return name, raw
    if raw.dtype != known.storage:
        raw = raw.view(known.storage)
    shape = tuple(int(n) for n in value.shape)
    return name, host.decoded(raw.reshape(shape), known)


def state_of(value: Any, kind: type) -> dict[str, Any] | None:
    """Return the parameters of a layer by their names; None if it is none."""
    of_layers = any(f"{c.__module__}.{c.__name__}" in _LAYERS for c in kind.__mro__)
    return dict(value.state_dict()) if of_layers else None


def _owners(kind: type) -> list[str]:
    return [c.__module__.partition(".")[0] for c in kind.__mro__]


def _of_torch(x: Any) -> Any:
    import torch

    whole = x.detach().cpu().resolve_conj().resolve_neg()
    return whole.contiguous().reshape(-1).view(torch.uint8).numpy()


def _of_paddle(x: Any) -> Any:
    return np.ascontiguousarray(x.detach().numpy()).reshape(-1)


def _of_jax(x: Any) -> Any:
    return np.ascontiguousarray(np.asarray(x)).reshape(-1)


_READERS: dict[str, Callable[[Any], Any]] = {
    "torch": _of_torch,
    "paddle": _of_paddle,
    "jax": _of_jax,
    "jaxlib": _of_jax,
}

_LAYERS = frozenset({"torch.nn.modules.module.Module", "paddle.nn.layer.layers.Layer"})
