"""JAX: ``jax.numpy`` with and without 64-bit dtypes, its strict mode, and ``jax.lax``."""

from promoarray.promotion.policy import Policy

EDITIONS = ("x64", "x32", "strict", "lax")


def edition(edition: str) -> Policy:
    """``x64``, ``x32`` (JAX's default), ``strict`` or ``lax``."""
    if edition == "lax":
        from promoarray.policies.jax.lax import LAX

        return LAX
    from promoarray.policies.jax.jnp import POLICIES

    return POLICIES[edition]
