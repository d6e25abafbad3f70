"""The policies by name.

The built-in families are the modules of ``promoarray.policies``, imported when first asked for:
each declares its ``EDITIONS``. Third parties add theirs through the entry-point group
``promoarray.policies`` or ``register``. A policy is pickled as its name.
"""

from __future__ import annotations

import copyreg
import os
from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pickle import PicklingError
from typing import Any

from promoarray.errors import LONGEST, UnknownPolicyError, quoted
from promoarray.promotion.policy import Policy

FIRST = (
    *("numpy", "jax", "torch", "torch_npu", "tensorflow", "paddle", "aclnn", "onnx", "mindspore"),
    "array_api",
)
"""The families that lists begin with; the others follow by name."""


@cache
def family_names() -> tuple[str, ...]:
    """Return the built-in families: the modules of ``promoarray.policies``."""
    # Not pkgutil.iter_modules, which imports inspect.
    folder = import_module("promoarray.policies").__path__[0]
    names = {
        entry.removesuffix(".py")
        for entry in os.listdir(folder)
        if entry[0] != "_"
        if entry.endswith(".py") or os.path.exists(os.path.join(folder, entry, "__init__.py"))
    }
    return (*(n for n in FIRST if n in names), *sorted(names.difference(FIRST)))


@cache
def _family(family: str) -> Any:
    return import_module(f"promoarray.policies.{family}")


def built_in(family: str) -> tuple[str, ...]:
    """Return the editions that a family's module declares, the one a bare name means first."""
    editions: tuple[str, ...] = _family(family).EDITIONS if family in family_names() else ()
    return editions


_registered: dict[str, Policy] = {}


def _full(family: str, edition: str) -> str:
    return f"{family}@{edition}" if edition else family


_editions: dict[tuple[str, str], Policy] = {}


def _built_in(family: str, edition: str) -> Policy:
    key = family, edition
    found = _editions.get(key)
    if found is None:  # all threads that ask may make one: the first that is here is everybody's
        found = _editions.setdefault(key, _family(family).edition(edition))
    return found


@cache
def _entry_points() -> Mapping[str, Any]:
    from importlib.metadata import entry_points  # 20 ms that most programs never need

    return {point.name: point for point in entry_points(group="promoarray.policies")}


def register(policy: Policy) -> Policy:
    """Make a policy known by its name.

    Raises
    ------
    ValueError
        If another policy has the name.
    """
    listed = policy.name not in _registered and policy.name in list_policies()
    if listed or _registered.setdefault(policy.name, policy) is not policy:
        name = quoted(policy.name)
        raise ValueError(f"there is a policy {name} already; derive one with another name")
    return policy


def families() -> dict[str, list[str]]:
    """Return the policies at hand by family, the one a bare family name means first.

    Those of entry points are here once they have been asked for: this loads nothing.
    """
    found = {f: [_full(f, e) for e in built_in(f)] for f in family_names()}
    for name in tuple(_registered):
        names = found.setdefault(name.partition("@")[0], [])
        if name not in names:
            names.append(name)
    return found


def list_policies() -> list[str]:
    """Return the name of every policy: built-in, registered and from entry points.

    Returns
    -------
    list of str
        The full names, ``family@edition``.

    Examples
    --------
    >>> "torch@2.13" in list_policies()
    True
    """
    ours = [_full(f, e) for f in family_names() for e in sorted(built_in(f), key=_order)]
    return list(dict.fromkeys([*ours, *_registered, *_entry_points()]))


def _order(edition: str) -> tuple[float, str]:
    number, _, device = edition.partition("-")
    known = number.replace(".", "").isdigit()
    return (float(number), device) if known else (-1.0, edition)


def as_policy(policy: str | Policy, *, kernels: bool = False) -> Policy:
    """Return the policy with this name.

    Parameters
    ----------
    policy : str or Policy
        ``"family"``, ``"family@edition"``, either with ``+quirk`` any number of times, or a policy,
        which is returned as it is.
    kernels : bool
        Whether it refuses what the framework has no kernel for, as ``"torch+kernels"`` does.

    Raises
    ------
    UnknownPolicyError
        A ValueError, which lists the near names.
    """
    if kernels:
        return as_policy(policy).with_kernels()
    if isinstance(policy, Policy):
        return policy
    if not isinstance(policy, str):
        raise TypeError(f"a policy is a name or a Policy, not {quoted(policy)}")
    if policy in _registered:
        return _registered[policy]
    family, _, edition = policy.partition("@")
    editions = built_in(family)
    if editions and policy == family:
        return _built_in(family, editions[0])
    if edition and edition in editions:
        return _built_in(family, edition)
    if policy in _entry_points():
        return _registered.setdefault(policy, _loaded(policy))
    base, *quirks = policy.split("+")
    if quirks:
        return as_policy(base).with_quirks(*quirks)
    raise UnknownPolicyError(_unknown(policy, family))


def _loaded(name: str) -> Policy:
    """Load a third party's policy: the entry point is one, or makes one when called."""
    loaded = _entry_points()[name].load()
    made = loaded() if callable(loaded) else loaded
    if not isinstance(made, Policy):
        raise TypeError(
            f"entry point promoarray.policies:{name} is not a Policy but {quoted(made)}"
        )
    return made


def _unknown(name: str, family: str) -> str:
    import difflib  # for errors only

    names = list_policies()
    near = [n for n in names if n.partition("@")[0] == family]
    wanted = name[:LONGEST].lower()
    every = [*names, *family_names()]
    near = near or difflib.get_close_matches(wanted, every, n=4, cutoff=0.5)
    if near:
        return f"unknown policy {quoted(name)}. Did you mean: {_listed(list(dict.fromkeys(near)))}?"
    others = [n for n in names if n.partition("@")[0] not in family_names()]
    written = ", ".join([*family_names(), *others])
    return f"unknown policy {quoted(name)}. Write one of: {written} (`promoarray list`: editions)"


def _listed(names: list[str]) -> str:
    """Write names out, but of ONNX's opsets the first and the last."""
    opsets = [n for n in names if n.startswith("onnx@")]
    if len(opsets) < 5:
        return ", ".join(names)
    ends = f"{opsets[0]} … {opsets[-1]}"
    return ", ".join(ends if n == opsets[0] else n for n in names if n not in opsets[1:])


# --- Pickling ------------------------------------------------------------------------------------


def registered_name(policy: Policy, what: str) -> str:
    """Return the name by which another process finds a policy; PicklingError, which says ``what``
    is pickled, if it is not registered, so that none would."""
    try:
        found = as_policy(policy.name)
    except UnknownPolicyError:
        found = None
    if found is not policy:
        raise PicklingError(
            f"{what} the policy {quoted(policy.name)}, which is not registered, so that no other "
            "process could find it: register it through the entry points promoarray.policies, or "
            "with promoarray.policies.register in each process"
        )
    return policy.name


def is_installed(policy: Policy) -> bool:
    """Whether every process finds a policy by its name: promoarray's own, and an entry point's."""
    return policy.once(_is_installed)


def _is_installed(policy: Policy) -> bool:
    base = policy.name.partition("+")[0]  # of a policy with quirks
    family, _, edition = base.partition("@")
    ours = built_in(family)
    known = (ours and base == family) or edition in ours or base in _entry_points()
    return bool(known) and as_policy(policy.name) is policy


def _reduce(policy: Policy) -> tuple[Any, ...]:
    return as_policy, (registered_name(policy, "this is"),)


copyreg.pickle(Policy, _reduce)
