"""The policy in force: of the innermost ``with policy(...)`` around, else the process's default."""

from __future__ import annotations

import os
from contextvars import ContextVar

from promoarray.context import Context, Entry
from promoarray.errors import UnknownPolicyError, ends_at_caller
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

_here: ContextVar[Entry | None] = ContextVar("promoarray_policy", default=None)
policy_here = _here.get
"""The entry of the innermost ``with policy(...)``, which begins with the policy, or None."""

default_policy: list[Policy] = []
"""The default of the process: one element, in a list so that C++ can hold it, made when it is first
asked for, so that import stays quick."""


def get_policy() -> Policy:
    """Return the policy in force here.

    Returns
    -------
    Policy
        The one of the ``with policy(...)`` around, else the default of the process.

    Examples
    --------
    >>> with policy("torch@2.11"):
    ...     get_policy()
    <Policy torch@2.11: PyTorch 2.11>
    >>> get_policy().name
    'numpy@2'
    """
    here = policy_here()
    return here[0] if here else process_default()


def process_default() -> Policy:
    """Return the default: ``set_policy``'s, else ``PROMOARRAY_POLICY``'s, else ``numpy``."""
    if not default_policy:
        try:
            default_policy.append(as_policy(os.environ.get("PROMOARRAY_POLICY") or "numpy"))
        except UnknownPolicyError as error:
            raise UnknownPolicyError(f"PROMOARRAY_POLICY: {error}") from None
    return default_policy[0]


@ends_at_caller
def set_policy(policy: str | Policy, *, kernels: bool = False) -> None:
    """Set the default of the process.

    Threads and tasks that are inside ``with policy(...)`` keep theirs.

    Parameters
    ----------
    policy : str or Policy
    kernels : bool
        Whether operations that the framework has no kernel for are refused
        (``Policy.with_kernels``); ``"torch+kernels"`` says the same.

    Raises
    ------
    UnknownPolicyError
        If there is no policy of that name; the default stays as it was.

    Examples
    --------
    >>> before = get_policy()
    >>> set_policy("torch")
    >>> asarray([1, 2]) / 2
    PArray([0.5, 1. ], dtype=float32)
    >>> set_policy(before)
    """
    default_policy[:] = [as_policy(policy, kernels=kernels)]


class policy(Context):
    """Put a policy in force in this context, or for every call of a function.

    Parameters
    ----------
    policy : str or Policy
    kernels : bool
        Whether operations that the framework has no kernel for are refused
        (``Policy.with_kernels``); ``"torch+kernels"`` says the same.

    Raises
    ------
    UnknownPolicyError
        At once, not on entering.

    Notes
    -----
    One object may be entered any number of times, nested and in several threads and tasks at once.
    Of a decorated generator or coroutine every step runs under the policy, and while it waits its
    caller has the caller's own.

    A task begins under the policy in force where it is made, a thread under the default of the
    process (but in Python 3.14 without a GIL, whose threads begin as tasks do).

    Examples
    --------
    >>> x = asarray([1, 2], dtype=int8)
    >>> with policy("torch"):
    ...     x * 1.5
    PArray([1.5, 3. ], dtype=float32)
    >>> with policy("torch", kernels=True):
    ...     x.astype(uint16) + 1
    Traceback (most recent call last):
        ...
    promoarray.errors.PromotionError: ... has no kernel for uint16 in add with a Python number ...
    >>> @policy("jax")
    ... def half(x):
    ...     return x / 2
    >>> half(x)
    PArray([0.5, 1. ], dtype=float32)
    """

    _here = _here

    @ends_at_caller
    def __init__(self, policy: str | Policy, *, kernels: bool = False) -> None:
        self._held = as_policy(policy, kernels=kernels)
