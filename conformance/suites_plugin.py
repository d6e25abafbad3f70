"""pytest plugin for suites of others: promoarray as one more back end of theirs.

`conformance/suites.py` loads it with ``-p suites_plugin``. No file of the client is changed: what
its conftest or its helpers list is added to once they are imported, and before tests are made.

- SciPy has a fixture ``xp`` over a list of namespaces.
- array-api-extra has an ``Enum`` of modules, over which its fixture goes.
- scikit-learn has functions that yield importable names, for ``parametrize``.

A test is known by its *key*, its id with a star for the back end: so those of the back ends can be
compared. Tests that know no back end are left out, and alone those of the others too. Of a failure
of ours it is noted whether it is a refusal, which the policy makes again when it is asked again.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
from proof import reason, refuses
from runner_plugin import Events
from suites_gate import NUMPY, STRICT, namespace

from promoarray import PromotionError


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("promoarray")
    group.addoption("--promoarray-suite", choices=sorted(INJECT))
    group.addoption("--promoarray-backend", action="append", default=[], metavar="NAME")
    group.addoption("--promoarray-alone", action="store_true")
    group.addoption("--promoarray-events", help="file that gets one JSON line a test")


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    """Inject before a conftest of the suite is imported."""
    options = early_config.known_args_namespace
    suite, names = options.promoarray_suite, options.promoarray_backend
    for name in names:
        sys.modules.setdefault(name, namespace(name))  # so that it can be imported by its name
    early_config.pluginmanager.register(INJECT[suite](names))
    alone = options.promoarray_alone
    keys = Keys((NUMPY, STRICT, *names), names, TAIL.get(suite, ""), alone)
    early_config.pluginmanager.register(keys)


def pytest_configure(config: pytest.Config) -> None:
    for mark in MARKS:
        config.addinivalue_line("markers", mark)
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Events(config.getoption("--promoarray-events")))


# -- one more back end ----------------------------------------------------------------------------


class SciPy:
    """Adds to the parameters of SciPy's fixture, and to the names its marks know.

    A mark for every back end but NumPy's holds for ours where it holds for array-api-strict, whose
    arrays are like ours: on the CPU, computed at once, and no ``ndarray``.
    """

    def __init__(self, names: list[str]) -> None:
        self.names = names

    @pytest.hookimpl(tryfirst=True)
    def pytest_plugin_registered(self, plugin: object) -> None:
        if getattr(plugin, "__name__", "") != "scipy.conftest":
            return
        conftest: Any = plugin
        if not conftest.xp_known_backends.isdisjoint(self.names):
            return
        conftest.xp_known_backends.update(self.names)
        asked = conftest._backends_kwargs_from_request

        def _backends_kwargs_from_request(request: Any, skip_or_xfail: str) -> dict[str, str]:
            reasons: dict[str, str] = asked(request, skip_or_xfail)
            if STRICT not in reasons:
                return {name: why for name, why in reasons.items() if name not in self.names}
            by_name = dict.fromkeys(self.names, reasons[STRICT]) if NUMPY in reasons else {}
            return reasons | by_name  # what neither of the two runs is for lazy arrays, or a GPU's

        conftest._backends_kwargs_from_request = _backends_kwargs_from_request

    @pytest.hookimpl(tryfirst=True)
    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        if "xp" not in metafunc.fixturenames:
            return
        for definition in metafunc._arg2fixturedefs.get("xp", ()):
            made = definition.params
            if made is None or any(param.id in self.names for param in made):
                continue
            marks = pytest.mark.array_api_backends
            ours = [pytest.param(namespace(n), id=n, marks=marks) for n in self.names]
            object.__setattr__(definition, "params", (*made, *ours))


class ArrayApiExtra:
    """Adds members to the ``Enum`` of array-api-extra, whose values are importable names."""

    def __init__(self, names: list[str]) -> None:
        backend = import_module("array_api_extra._lib._backends").Backend
        for name in names:
            member = object.__new__(backend)
            member._name_, member._value_ = name, name
            backend._member_names_.append(name)
            backend._member_map_[name] = backend._value2member_map_[name] = member


class ScikitLearn:
    """Has scikit-learn's generators yield importable names, with the dtypes it tries elsewhere."""

    def __init__(self, names: list[str]) -> None:
        helpers = import_module("sklearn.utils._array_api")
        spaces = helpers.yield_namespaces
        combinations = helpers.yield_namespace_device_dtype_combinations
        mixed = helpers.yield_mixed_namespace_input_permutations
        beside = helpers.NamespaceAndDevice

        def yield_namespaces(include_numpy_namespaces: bool = True) -> Iterator[str]:
            yield from spaces(include_numpy_namespaces)
            yield from names

        def yield_namespace_device_dtype_combinations(
            include_numpy_namespaces: bool = True,
        ) -> Iterator[tuple[str, str | None, str | None]]:
            for name, *rest in combinations(include_numpy_namespaces):
                if name not in names:
                    yield name, *rest
            for name in names:
                yield name, None, None
                yield name, "cpu", "float64"
                yield name, "cpu", "float32"

        def yield_mixed_namespace_input_permutations() -> Iterator[Any]:
            yield from mixed()
            numpy = beside(NUMPY, None)
            for name in names:
                ours = beside(name, "cpu")
                yield ours, numpy, f"{name} to numpy"
                yield numpy, ours, f"numpy to {name}"
                yield beside(STRICT, "device1"), ours, f"array_api_strict to {name}"

        for function in (
            yield_namespaces,
            yield_namespace_device_dtype_combinations,
            yield_mixed_namespace_input_permutations,
        ):
            setattr(helpers, function.__name__, function)


INJECT = {"scipy": SciPy, "array-api-extra": ArrayApiExtra, "scikit-learn": ScikitLearn}

MARKS = (
    "skip_xp_backend(...): array-api-extra's",
    "xfail_xp_backend(...): array-api-extra's",
    "fail_asan: SciPy's",
)
"""What stands in a configuration file of a suite that its wheel lacks."""

TAIL = {
    "scikit-learn": r"(?:(?:-|,device_name=)(?:None|cpu|CPU_DEVICE|device1))?"
    r"(?:(?:-|,dtype_name=)(?:None|float32|float64))?"
}
"""What stands behind the name of a back end and differs from one to the other."""


# -- which test of which back end -----------------------------------------------------------------


class Keys:
    """Finds the back end and the key of each test, and leaves out tests that have none of ours."""

    def __init__(
        self, names: tuple[str, ...], ours: list[str], tail: str, alone: bool = False
    ) -> None:
        longest_first = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
        self.pattern = re.compile(rf"(?<![\w.])({longest_first})(?![\w.@:]){tail}")
        self.ours = ours
        self.kept = ours if alone else names

    def of(self, item: pytest.Item) -> tuple[str, str]:
        """The back end and the key; both empty for a test that is of none."""
        function, bracket, parameters = item.nodeid.partition("[")
        found = self.pattern.findall(parameters)
        backend = next((n for n in self.ours if n in found), found[0] if found else "")
        starred = self.pattern.sub(lambda m: "*" if m[1] == backend else m[0], parameters)
        return backend, function + bracket + starred if found else ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(
        self, config: pytest.Config, items: list[pytest.Item]
    ) -> None:
        found = [(item, *self.of(item)) for item in items]
        wanted = {key for _, backend, key in found if backend in self.ours}
        kept, left_out = [], []
        for item, backend, key in found:
            if key in wanted and backend in self.kept:
                item.user_properties += [("backend", backend), ("key", key)]
                kept.append(item)
            else:
                left_out.append(item)
        if left_out:
            config.hook.pytest_deselected(items=left_out)
        items[:] = kept

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Iterator[Any]:
        report = yield
        if report.failed and call.excinfo is not None:
            error = call.excinfo.value
            item.user_properties += [("why", said(error)), ("refusals", refusals(error))]
            report.user_properties = item.user_properties
        return report


def chain(error: BaseException) -> Iterator[BaseException]:
    """The error, what it was raised from or during, and what a group of them holds."""
    yield error
    for part in getattr(error, "exceptions", ()):
        yield from chain(part)
    before = error.__cause__ or error.__context__
    if before is not None:
        yield from chain(before)


def refusals(error: BaseException) -> list[str]:
    """The policy's reason behind a failure, if it gives it when it is asked again."""
    for each in chain(error):
        if isinstance(each, PromotionError) and refuses(each):
            return [reason(each)]
    return []


def said(error: BaseException) -> str:
    """The type of an error and its first words."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {' | '.join(lines[:4])[:400]}"
