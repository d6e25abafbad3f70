"""The policy in force: of the innermost ``with policy(...)`` around, else the process's default."""

from __future__ import annotations

import os
from contextvars import ContextVar, Token

from promoarray.contextdecorator import Context
from promoarray.errors import UnknownPolicyError
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

_override: ContextVar[Policy | None] = ContextVar("promoarray_policy", default=None)
policy_here = _override.get
"""The policy of the innermost ``with policy(...)``, or None."""

default_policy: list[Policy] = []
"""The default of the process: one element, in a list so that C++ can hold it, made when it is first
asked for, so that import stays quick."""


def get_policy() -> Policy:
    """Return the policy in force here.

    Returns
    -------
    Policy
        The one of the ``with policy(...)`` around, else the default of the process.
    """
    return _override.get() or process_default()


def process_default() -> Policy:
    """Return the default: ``set_policy``'s, else ``PROMOARRAY_POLICY``'s, else ``numpy``."""
    if not default_policy:
        try:
            default_policy.append(as_policy(os.environ.get("PROMOARRAY_POLICY") or "numpy"))
        except UnknownPolicyError as error:
            raise UnknownPolicyError(f"PROMOARRAY_POLICY: {error}") from None
    return default_policy[0]


def set_policy(policy: str | Policy) -> None:
    """Set the default of the process.

    Threads and tasks that are inside ``with policy(...)`` keep theirs.

    Parameters
    ----------
    policy : str or Policy

    Raises
    ------
    UnknownPolicyError
        If there is no policy of that name; the default stays as it was.
    """
    default_policy[:] = [as_policy(policy)]


class policy(Context):
    """Put a policy in force in this context, or for every call of a function.

    Parameters
    ----------
    policy : str or Policy

    Raises
    ------
    UnknownPolicyError
        At once, not on entering.
    """

    def __init__(self, policy: str | Policy) -> None:
        self._policy = as_policy(policy)
        self._tokens: list[Token[Policy | None]] = []

    def _recreate_cm(self) -> policy:
        return type(self)(self._policy)

    def __enter__(self) -> Policy:
        self._tokens.append(_override.set(self._policy))
        return self._policy

    def __exit__(self, *exc: object) -> None:
        _override.reset(self._tokens.pop())
