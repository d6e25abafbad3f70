"""The pytest plugin of promoarray, as far as every pytest run loads it.

It imports promoarray for tests that ask for ``xp``, ``pa_policy`` or a mark of these names, or if
an option does; what it does then is in ``promoarray/testing/plugin``. ``docs/testing.md`` is the
manual.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import pytest

MARKERS = (
    "pa_policy(*policies, without=(), refuses=(), raises=PromotionError, reason=''): run a test "
    "under these policies, or leave some out; those that refuse are expected to raise",
    "pa_fail_on(*kinds): what the test must not do, in place of --pa-fail-on",
)
OURS = "pa_policy", "pa_fail_on"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("promoarray", "promoarray: tests under every policy")
    group.addoption(
        "--pa-policies",
        metavar="A,B,C",
        help="policies that tests with the fixture xp run under, a test each",
    )
    group.addoption(
        "--pa-fail-on",
        metavar="KINDS",
        help="fail tests that do one of float64, escape, bits, dtype, refuse, root, signature; "
        "separated by commas; any, none",
    )
    group.addoption(
        "--pa-matrix",
        choices=("failed", "all", "none"),
        default="failed",
        help="the table of tests and policies at the end: of tests that failed (default), all, "
        "none",
    )
    group.addoption(
        "--pa-why",
        action="store_true",
        help="of a test that a dtype has failed in NumPy, PyTorch, Paddle or JAX say where the "
        "dtypes came from",
    )
    group.addoption(
        "--pa-check",
        action="store_true",
        help="fail tests in which NumPy, PyTorch, Paddle, JAX or promoarray's arrays lose numbers: "
        "integers that wrap, the first Inf or NaN and so on, as [tool.promoarray.check] says",
    )
    parser.addini("pa_policies", "the default of --pa-policies", type="args", default=[])
    parser.addini("pa_fail_on", "the default of --pa-fail-on", type="args", default=[])


def pytest_configure(config: pytest.Config) -> None:
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)
    options = "pa_policies", "pa_fail_on"
    if any(config.getoption(name) or config.getini(name) for name in options):
        _begin(config)
    if config.getoption("pa_why"):
        from promoarray.testing.plugin.why import Why

        config.pluginmanager.register(Why(), "promoarray-why")
    if config.getoption("pa_check"):
        from promoarray.testing.plugin.check import Check

        config.pluginmanager.register(Check(config.rootpath), "promoarray-check")


def pytest_pycollect_makeitem(collector: Any, name: str, obj: Any) -> None:
    """Have marked tests ask for the policy, whether or not they name the fixture."""
    own = getattr(obj, "pytestmark", ())
    marks = {mark.name for mark in own} if isinstance(own, list) else set()
    marks |= {name for name in OURS if collector.get_closest_marker(name)}
    if not marks.intersection(OURS):
        return
    _begin(collector.config)
    tests = collector.istestfunction(obj, name) or collector.istestclass(obj, name)
    if "pa_policy" in marks and tests:
        pytest.mark.usefixtures("pa_policy")(obj)


@pytest.hookimpl(trylast=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Make a test of each policy, once what conftest files parametrize is known."""
    names = [name for name in FIXTURES if _is_ours(metafunc, name)]
    if names:
        _begin(metafunc.config)
        from promoarray.testing.plugin.parameters import parametrize

        parametrize(metafunc, names)


FIXTURES = "pa_policy", "xp"


def _is_ours(metafunc: pytest.Metafunc, name: str) -> bool:
    """Whether a fixture of the test is the one below, or the project's own that asks for it."""
    if name not in metafunc.fixturenames or any(name in call.params for call in metafunc._calls):
        return False
    for definition in reversed(metafunc._arg2fixturedefs.get(name, ())):
        if definition.func.__module__ == __name__:
            return True
        if name not in definition.argnames:
            return False
    return False


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(call: pytest.CallInfo[None]) -> None:
    """Leave out the frames of what promoarray has loaded since it was imported, too."""
    if call.excinfo is not None and "promoarray.errors" in sys.modules:
        sys.modules["promoarray.errors"].end_tracebacks_at_callers()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    wanted = config.getoption("pa_matrix")
    if wanted != "none" and any(_ours(terminalreporter)):
        from promoarray.testing.plugin.matrix import show
        from promoarray.testing.plugin.parameters import asked

        names = (policy.name for policy in asked(config))
        show(terminalreporter, policies=names, every=wanted == "all")


def _ours(terminalreporter: Any) -> Iterator[bool]:
    for reports in terminalreporter.stats.values():
        for report in reports:
            yield any(name == "pa_policy" for name, _ in getattr(report, "user_properties", ()))


def _begin(config: pytest.Config) -> None:
    """Load the rest of the plugin, the first time that a test needs it."""
    if not config.pluginmanager.has_plugin("promoarray-running"):
        from promoarray.testing.plugin.running import Running

        config.pluginmanager.register(Running(config), "promoarray-running")


# Of the session, though a test has one each: hypothesis refuses fixtures of a function, and
# fixtures of a module may ask for these. ``parametrize`` says how long each value lasts.


@pytest.fixture(scope="session")
def pa_policy(request: pytest.FixtureRequest) -> Any:
    """The policy that the test runs under; None in a test without parameters (unittest)."""
    return getattr(request, "param", None)


@pytest.fixture(scope="session")
def xp(request: pytest.FixtureRequest) -> Any:
    """The namespace bound to the policy; promoarray itself in a test without parameters."""
    import promoarray

    return promoarray.namespace(request.param) if hasattr(request, "param") else promoarray
