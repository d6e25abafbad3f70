"""The dtypes that a program's globals end with, in the run and under every policy."""

from __future__ import annotations

from typing import Any, NamedTuple

from promoarray.core.array_base import Array
from promoarray.diagnostics.model.slots import RefusedOperation, as_seen_by, pending_of
from promoarray.promotion.policy import Policy


class FinalDType(NamedTuple):
    """A global whose dtype some policies would have otherwise.

    Attributes
    ----------
    name : str
    run : str
        Its dtype in the run.
    others : dict
        From policy name to the dtype there, where that is another.
    pending : dict
        From policy name to the refusals that the dtype there hangs on.
    """

    name: str
    run: str
    others: dict[str, str]
    pending: dict[str, frozenset[RefusedOperation]] = {}  # noqa: RUF012 (never written to)

    def becomes(self, policy: str) -> str:
        """What it is under a policy, in words."""
        return f"{self.others[policy]} instead of {self.run}"

    def to_dict(self, policy: str) -> dict[str, Any]:
        """Return it as data."""
        return {"name": self.name, "dtype": self.others[policy], "run": self.run}


def final_dtypes(ended: dict[str, Any], policies: tuple[Policy, ...]) -> tuple[FinalDType, ...]:
    """Return the globals of a program whose dtype differs, in the order they were first set."""
    found = []
    for name, value in list(ended.items()):
        # Not isinstance, which asks the value for its class: anything may answer.
        if name.startswith("_") or not issubclass(type(value), Array):
            continue
        run = value.dtype
        seen = {policy.name: policy.strong(as_seen_by(policy, value).type) for policy in policies}
        others = {policy: dtype.name for policy, dtype in seen.items() if dtype is not run}
        pending = pending_of((value,))
        if others or pending:
            found.append(FinalDType(name, run.name, others, pending))
    return tuple(found)
