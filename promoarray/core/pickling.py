"""What of an array goes into a pickle, and the array that comes out."""

from __future__ import annotations

from pickle import PicklingError
from typing import TYPE_CHECKING, Any

from promoarray.backends import on_device
from promoarray.dtypes import BY_CODE
from promoarray.errors import UnknownPolicyError
from promoarray.promotion.registry import as_policy

if TYPE_CHECKING:
    from promoarray.parray import PArray
    from promoarray.promotion.policy import Policy


def rebuild(
    policy: str | None, buffer: Any, code: str, stored: str | None = None, device: str = "cpu"
) -> PArray:
    """Make an array of what ``PArray.__reduce__`` kept of it."""
    from promoarray.namespaces import array_type
    from promoarray.parray import PArray

    cls = PArray if policy is None else array_type(as_policy(policy))
    held = on_device(device).from_numpy(buffer, BY_CODE[stored or code], device)
    return cls._wrap(held, BY_CODE[code])


def name_to_keep(policy: Policy | None, what: str = "the array") -> str | None:
    """The name by which another process finds a policy.

    Parameters
    ----------
    policy : Policy or None
    what : str
        What is pickled, for the error.

    Raises
    ------
    pickle.PicklingError
        If none would, for the policy is not registered.
    """
    if policy is None:
        return None
    try:
        found = as_policy(policy.name)
    except UnknownPolicyError:
        found = None
    if found is not policy:
        raise PicklingError(
            f"{what} is bound to the policy {policy.name!r}, which is not registered, so nobody "
            "could find it again: register it through the entry points promoarray.policies, or "
            "pickle arrays as pa.asarray(np.asarray(x))"
        )
    return policy.name
