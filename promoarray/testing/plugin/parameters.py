"""Policies as parameters of a test, and for how long one lasts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import pytest

from promoarray.diagnostics.ask.observer import DEFAULT
from promoarray.errors import PromotionError, UnknownPolicyError, quoted
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy

NAME = "pa_policy"
"""Of a fixture and of the mark."""

FIXTURES = NAME, "xp"
"""What has a policy as its parameter."""

_SCOPES = ("function", "class", "module", "package", "session")


class Choice(NamedTuple):
    """What the marks of a test say."""

    names: tuple[str | Policy, ...]  # the policies to run it under; empty for those of the run
    without: tuple[str | Policy, ...]  # those to leave out
    # those that are expected to raise, what, and why
    refuses: tuple[tuple[str | Policy, Any, str], ...]


def asked(config: pytest.Config) -> tuple[Policy, ...]:
    """Return the policies of the run: of the command line, else of the ini file, else compare's.

    Raises pytest.UsageError if there is no policy of a name.
    """
    given = config.getoption("pa_policies")
    if given is not None:
        option, names = "--pa-policies", split([given])
    else:
        option, names = "pa_policies", split(config.getini("pa_policies"))
    if given is not None and not names:
        raise pytest.UsageError(f"--pa-policies names no policy: {quoted(given)}")
    try:
        return tuple(dict.fromkeys(as_policy(name) for name in names or DEFAULT))
    except UnknownPolicyError as error:
        raise pytest.UsageError(f"{option}: {error}") from None


def split(words: Iterable[str]) -> list[str]:
    """Return the words of options, which commas or spaces part."""
    return [each for word in words for each in word.replace(",", " ").split()]


def parametrize(metafunc: pytest.Metafunc, names: Sequence[str]) -> None:
    """Make a test of each of the policies, which the fixtures of these names take."""
    function = metafunc.definition
    try:
        choice = read(function.iter_markers(NAME))
        policies = list(under(choice, asked(metafunc.config), len(names)))
    except (TypeError, UnknownPolicyError) as error:
        pytest.fail(f"{function.nodeid}: {error}", pytrace=False)
    metafunc.parametrize(names, policies, indirect=True, scope=_scope(metafunc))


def of(item: pytest.Item) -> Policy | None:
    """Return the policy of a test: its parameter, or without parameters the one that marks name."""
    callspec = getattr(item, "callspec", None)
    if callspec is not None:
        given = (callspec.params.get(name) for name in FIXTURES)
        return next((policy for policy in given if isinstance(policy, Policy)), None)
    try:
        names = read(item.iter_markers(NAME)).names
        return as_policy(names[0]) if len(names) == 1 else None
    except (TypeError, UnknownPolicyError):
        return None  # told in the setup, where it fails the test


def read(marks: Iterable[pytest.Mark]) -> Choice:
    """Return what marks say, the nearest first: its policies count, what others leave out adds up.

    Raises TypeError if a mark says what no mark can.
    """
    names: tuple[str | Policy, ...] = ()
    without: list[str | Policy] = []
    refuses: list[tuple[str | Policy, Any, str]] = []
    for mark in marks:
        said = dict(mark.kwargs)
        raises, reason = said.pop("raises", PromotionError), said.pop("reason", "")
        names = names or _names(mark.args, "policies")
        without += _names(said.pop("without", ()), "without=")
        refuses += [(name, raises, reason) for name in _names(said.pop("refuses", ()), "refuses=")]
        if said:
            raise TypeError(
                f"pa_policy has no {next(iter(said))}=; write without=, refuses=, raises=, reason="
            )
    return Choice(names, tuple(without), tuple(refuses))


def under(choice: Choice, policies: tuple[Policy, ...], values: int) -> Iterator[Any]:
    """Yield each policy to run under as so many parameters; one that refuses has to fail."""
    named = tuple(dict.fromkeys(as_policy(name) for name in choice.names))
    for name in (*choice.without, *(name for name, _, _ in choice.refuses)):
        as_policy(name)  # an error, if there is none
    for policy in named or policies:
        if any(_means(name, policy) for name in choice.without):
            continue
        marks = [
            pytest.mark.xfail(
                raises=raises, strict=True, reason=reason or f"{policy.name} refuses this"
            )
            for name, raises, reason in choice.refuses
            if _means(name, policy)
        ]
        yield pytest.param(*[policy] * values, id=policy.name, marks=marks)


def _means(name: str | Policy, policy: Policy) -> bool:
    """Whether a name is a policy's; a bare family is all of its editions."""
    return as_policy(name) is policy or name == policy.name.partition("@")[0]


def _names(said: Any, where: str) -> tuple[str | Policy, ...]:
    names = tuple(said) if isinstance(said, (list, tuple, set, frozenset)) else (said,)
    for name in names:
        if not isinstance(name, (str, Policy)):
            raise TypeError(f"pa_policy: {quoted(name)} in {where} is no policy's name")
    return names


def _scope(metafunc: pytest.Metafunc) -> Any:
    """The widest scope of the fixtures that ask for a policy.

    pytest runs the tests of one value together where it lasts longer than a function, so that such
    a fixture is made once a policy; nobody else's tests change their order.
    """
    found = {"function"}
    for name, definitions in metafunc._arg2fixturedefs.items():
        for definition in definitions:
            if name not in FIXTURES and set(FIXTURES) & set(definition.argnames):
                found.add(definition.scope)
    return max(found, key=_SCOPES.index)
