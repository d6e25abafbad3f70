"""Hooks around a test: its policy, what it must not do, and how it is told."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from promoarray.diagnostics.render.words import Place
from promoarray.errors import PromotionError, UnknownPolicyError
from promoarray.promotion.in_force import policy as in_force
from promoarray.promotion.in_force import process_default, set_policy
from promoarray.promotion.policy import Policy
from promoarray.promotion.registry import as_policy
from promoarray.testing.plugin.findings import check, message, watched
from promoarray.testing.plugin.matrix import OUTCOME, POLICY
from promoarray.testing.plugin.parameters import NAME, Choice, asked, of, read, split

_policy = pytest.StashKey[Policy | None]()
_found = pytest.StashKey[list[Place]]()


class Running:
    """The hooks, registered with the first test that needs them.

    Attributes
    ----------
    policies : tuple of Policy
        Those of the run.
    fail_on : frozenset of str
        What fails every test.
    """

    def __init__(self, config: pytest.Config) -> None:
        self.policies = asked(config)
        given = config.getoption("pa_fail_on")
        try:
            self.fail_on = check(split([given] if given else config.getini("pa_fail_on")))
        except ValueError as error:
            raise pytest.UsageError(f"--pa-fail-on: {error}") from None
        try:
            process_default()
        except UnknownPolicyError as error:  # of the environment
            raise pytest.UsageError(str(error)) from None

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[Any]:
        """Put the policy in force for the test and for all fixtures that it makes."""
        policy = item.stash[_policy] = of(item)
        if policy is None:
            return (yield)
        item.user_properties.append((POLICY, policy.name))
        with _everywhere(policy):
            return (yield)

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Refuse marks that cannot be obeyed."""
        try:
            self._fail_on(item)
            if not hasattr(item, "callspec"):
                _check_lone(read(item.iter_markers(NAME)))
        except (ValueError, TypeError) as error:
            pytest.fail(f"{item.nodeid}: {error}", pytrace=False)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[Any]:
        """Fail a test that did what it must not; of one that fails already, tell it besides."""
        fail_on = self._fail_on(item)
        if not fail_on:
            return (yield)
        found: list[Place] = []
        try:
            with watched(fail_on, self.policies) as found:
                result = yield
        except Exception:
            if found:
                item.add_report_section("call", "promoarray", message(found))
            raise
        if found:
            item.stash[_found] = found
            pytest.fail(message(found), pytrace=False)
        return result

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        """Say in the report why a test failed, in a word for the table at the end."""
        report = yield
        error = call.excinfo and call.excinfo.value
        if report.failed and error is not None and item.stash.get(_policy, None):
            found = item.stash.get(_found, [])
            word = "refuses" if isinstance(error, PromotionError) else ""
            if isinstance(error, pytest.fail.Exception) and found:
                word = found[0][0].kind
            report.user_properties.append((OUTCOME, word))
        return report

    def _fail_on(self, item: pytest.Item) -> frozenset[str]:
        mark = item.get_closest_marker("pa_fail_on")
        return self.fail_on if mark is None else check(split(mark.args))


def _check_lone(choice: Choice) -> None:
    """Refuse what marks say of a test without parameters, unless it is one policy's name."""
    names, *others = choice
    if len(names) > 1 or any(others):
        raise ValueError(
            "a unittest.TestCase runs once, under one policy; write @pytest.mark.pa_policy with "
            "one name, or a class without TestCase"
        )
    for name in names:
        as_policy(name)


@contextmanager
def _everywhere(policy: Policy) -> Iterator[None]:
    """Put a policy in force in this context, and in the threads that are started in it."""
    before = process_default()
    set_policy(policy)
    try:
        with in_force(policy):
            yield
    finally:
        set_policy(before)
