"""``out=``: a result written into an array, as the policy writes ``x += y`` into ``x``."""

from __future__ import annotations

from typing import Any

from promoarray.core.array_base import storage_dtype
from promoarray.core.operands import array_class
from promoarray.errors import kind_of, quoted
from promoarray.parray import PArray
from promoarray.promotion.in_force import get_policy


def require_ours(name: str, out: Any) -> None:
    """Refuse what is no array of ours, before anything is computed.

    Raises
    ------
    TypeError
        With what to write.
    """
    if not isinstance(out, PArray):
        raise TypeError(
            f"np.{name}(out=) writes into a PArray, not into {kind_of(out)}: that is outside the "
            f"policy. Write out[...] = np.asarray(np.{name}(...)) to leave it on purpose"
        )


def written(name: str, out: Any, result: Any, mask: Any = True) -> Any:
    """Write a result into an array, and return that.

    Parameters
    ----------
    name : str
        Of NumPy's function, for messages.
    out : PArray
    result : PArray
    mask : array of bool or True
        Where it is written; ``out`` keeps its other elements.

    Raises
    ------
    TypeError
        If the policy writes no such dtype in place.
    ValueError
        If the shapes differ.
    """
    require_ours(name, out)
    if out.shape != result.shape:
        raise ValueError(f"np.{name}: out has shape {out.shape}, the result {result.shape}")
    policy = array_class((out, result))._policy or get_policy()
    source, target = storage_dtype(result), storage_dtype(out)
    if source is not target and not (policy.inplace and policy.inplace(source, target)):
        raise TypeError(
            f"np.{name}: policy {quoted(policy.name)} does not write {source.name} into an array "
            f"of {target.name} in place. Write out[...] = pa.astype(..., pa.{target.name})"
        )
    if mask is True:
        out[...] = result
    else:
        out[mask] = result[mask]
    return out
