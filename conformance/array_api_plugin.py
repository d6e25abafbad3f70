"""pytest plugin for array-api-tests: what the suite expects of a policy, and what a failure proves.

`conformance/array_api.py` loads it with ``-p array_api_plugin``. It does three things:

1. **The policy's own promotion** (``--promoarray-mode table``). The suite knows 65 ordered pairs of
   dtypes and what they promote to. Here the policy is asked for them, through ``result_type``; the
   pairs it refuses are left out, and so are the mixtures of 0-d arrays with others where ranks
   count. Where a result dtype is not the suite's, it must be the one the policy answers. A refusal
   then ends an example and not the test, and so does a proven result dtype that the suite cannot go
   on with: of a 0-d array and a Python scalar, or float16, which it does not know. Every other
   check still applies to what the policy admits.
2. **Proof of what the policy does otherwise** (both modes). A failure is put down as ``xfailed``
   only if everything it raised is a ``PromotionError`` whose question, put to the policy once more,
   is a refusal again; or, in plain mode, a result dtype other than the suite's that is the one the
   policy answers for such operands.
3. **Events**. One JSON line for each test that is over, for the runner to count and show.

With ``--hypothesis-seed`` other examples are drawn. Either way a run can be repeated: the special
cases, which draw theirs outside of a test of Hypothesis's, are seeded here.
"""

from __future__ import annotations

import functools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import hypothesis
import pytest
from hypothesis import HealthCheck, Phase, Verbosity
from hypothesis.errors import Unsatisfiable
from proof import ANOTHER, STANDARD, OtherResult, other_result, reason, refuses, summed
from runner_plugin import Events

from promoarray import PromotionError
from promoarray import dtypes as dt
from promoarray.operations import OPERATIONS, Form
from promoarray.policies import Operand, Policy, Rank, Refusal, as_policy


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("promoarray")
    group.addoption("--promoarray-policy", help="the policy under test")
    group.addoption("--promoarray-mode", choices=["plain", "table"], default="plain")
    group.addoption("--promoarray-events", help="file that gets one JSON line an event")


@pytest.hookimpl(trylast=True)  # after the suite's conftest, which loads a profile of its own
def pytest_configure(config: pytest.Config) -> None:
    table = config.getoption("--promoarray-mode") == "table"
    # A refusal is as good as its smallest example, and a slow machine is no failure.
    unhealthy = [HealthCheck.too_slow, *([HealthCheck.filter_too_much] if table else [])]
    hypothesis.settings.register_profile(
        "promoarray",
        parent=hypothesis.settings.get_profile("array-api-tests"),
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=unhealthy,
        database=None,
        verbosity=Verbosity.normal,
    )
    hypothesis.settings.load_profile("promoarray")
    policy = as_policy(config.getoption("--promoarray-policy"))
    tell_apart(policy if table else None)
    pairs = expect(policy) if table else None
    seed = config.getoption("hypothesis_seed", None)
    config.pluginmanager.register(Watch(policy, table=table, seed=seed))
    if not hasattr(config, "workerinput"):
        path = config.getoption("--promoarray-events")
        config.pluginmanager.register(Told(path, pairs))


# -- 1. the policy's own promotion ---------------------------------------------------------------


def expect(policy: Policy) -> int:
    """Make the suite draw and expect what the policy answers; returns how many pairs are left.

    Before the test modules are imported, because they bind names of the helpers.
    """
    from array_api_tests import dtype_helpers as dh
    from array_api_tests import hypothesis_helpers as hh

    dtype = {d: getattr(dt, name) for d, name in dh.dtype_to_name.items()}
    known = {getattr(dt, name): dh._name_to_dtype.get(name) for name in STANDARD}

    def common(*dtypes: Any, rank: Rank = Rank.ARRAY) -> Any:
        answer = policy.result_type(tuple(Operand(dtype[d], rank) for d in dtypes))
        return None if isinstance(answer, Refusal) else known.get(answer)

    def result_type(*dtypes: Any) -> Any:
        answer = dtypes[0] if len(dtypes) == 1 else common(*dtypes)
        if answer is None:
            raise KeyError(f"policy {policy.name} joins {dtypes} to no dtype of the suite's")
        return answer

    table = dh.promotion_table._key_value_pairs
    table[:] = [(pair, common(*pair)) for pair, _ in table if common(*pair) is not None]
    hh.promotable_dtypes[:] = [pair for pair in hh.promotable_dtypes if pair in dict(table)]
    dh.result_type = result_type
    dh.accumulation_result_dtype = accumulation(policy, dtype, known)
    ranges = dh.dtype_ranges._key_value_pairs
    ranges[:] = [(d, written(policy, dtype[d], limits)) for d, limits in ranges]

    draw = hh.mutually_promotable_dtypes

    def mutually_promotable_dtypes(max_size: int | None = 2, *, dtypes: Any = dh.all_dtypes) -> Any:
        joined = draw(max_size, dtypes=dtypes)
        return joined.filter(lambda ds: common(*ds) is not None)

    hh.mutually_promotable_dtypes = mutually_promotable_dtypes
    if policy.ranks:
        zeros = all(common(*pair, rank=Rank.ZERO_D) == answer for pair, answer in table)
        _part_ranks(hh, together=zeros)
    return len(table)


def accumulation(
    policy: Policy, dtype: dict[Any, Any], known: dict[Any, Any]
) -> Callable[[Any, Any], Any]:
    """What a sum or product of a dtype is; None, which the suite takes for "any", if refused."""

    def accumulation_result_dtype(x_dtype: Any, dtype_kwarg: Any) -> Any:
        if dtype_kwarg is not None:
            return dtype_kwarg
        name = _function if _function in OPERATIONS else "sum"
        plan = policy.plan(name, (Operand(dtype[x_dtype]),), Form.FUNCTION)
        return None if isinstance(plan, Refusal) else known.get(policy.strong(plan.result))

    return accumulation_result_dtype


def written(policy: Policy, dtype: dt.DType, limits: Any) -> Any:
    """Return the range of a dtype's numbers, as far as the policy takes them as Python numbers.

    The suite writes all its arrays as lists, which some frameworks make int32 first.
    """
    for bits in (64, 32):
        least, most = max(limits[0], -(2 ** (bits - 1))), min(limits[1], 2 ** (bits - 1) - 1)
        within = limits if bits == 64 else (least, most)
        with suppress(OverflowError):
            for limit in within if dtype.kind in dt.INTEGERS else ():
                policy.stored.rule("asarray")(int(limit), dtype)
            return limits if within is limits else type(limits)(*within)
    return limits


_function = ""
"""The function that the running test is named after."""


def _part_ranks(hh: Any, *, together: bool) -> None:
    """Draw 0-d arrays only ``together`` with others of their kind, or not at all."""

    def alike(*shapes: Any) -> bool:
        flat = [len(shape) == 0 for shape in shapes]
        return not any(flat) or (together and all(flat))

    several, oneway = hh.mutually_broadcastable_shapes, hh.oneway_broadcastable_shapes

    def mutually_broadcastable_shapes(*args: Any, **kwargs: Any) -> Any:
        return several(*args, **kwargs).filter(lambda shapes: alike(*shapes))

    def oneway_broadcastable_shapes() -> Any:
        return oneway().filter(lambda shapes: alike(*shapes))

    hh.mutually_broadcastable_shapes = mutually_broadcastable_shapes
    hh.oneway_broadcastable_shapes = oneway_broadcastable_shapes
    hh.two_mutually_broadcastable_shapes = mutually_broadcastable_shapes(2)
    dtypes, _ = hh.two_mutual_arrays.__defaults__
    hh.two_mutual_arrays.__defaults__ = dtypes, hh.two_mutually_broadcastable_shapes


ENOUGH = 40
"""A test whose first so many examples are all refused is refused as a whole."""

# -- 2. proof -------------------------------------------------------------------------------------


def tell_apart(policy: Policy | None) -> None:
    """Have the suite say what was asked when a result dtype is not the one it expects.

    With a policy, nothing is said if that dtype is what the policy answers, and one the suite
    knows; but for sums, whose ``dtype`` may have been asked for, and which ``accumulation`` knows.
    """
    from array_api_tests import dtype_helpers as dh
    from array_api_tests import pytest_helpers as ph

    check = ph.assert_dtype

    @functools.wraps(check)
    def assert_dtype(func_name: str, *, in_dtype: Any, out_dtype: Any, **rest: Any) -> None:
        try:
            check(func_name, in_dtype=in_dtype, out_dtype=out_dtype, **rest)
        except (AssertionError, KeyError) as error:
            unknown = out_dtype not in dh.dtype_to_name
            if isinstance(error, KeyError) and not unknown:
                raise
            given = in_dtype if isinstance(in_dtype, Sequence) else [in_dtype]
            plain = func_name.replace("__i", "__", 1)
            name = dh.op_to_func.get(func_name) or dh.op_to_func.get(plain, func_name)
            form = Form.OPERATOR if func_name.startswith("__") else Form.FUNCTION
            other = OtherResult(str(error), name.removeprefix("linalg."), form, given, out_dtype)
            asked = policy is not None and not unknown and not summed(name)
            why = other_result(policy, other) if asked else ""
            if why != ANOTHER.format(other.function):
                raise other from None

    ph.assert_dtype = assert_dtype


class Watch:
    """Ends refused examples in table mode, and proves the refusals behind failures."""

    def __init__(self, policy: Policy, *, table: bool, seed: Any) -> None:
        self.policy, self.table, self.seed = policy, table, seed
        self.refused: Counter[str] = Counter()
        self.passed = 0

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        if not self.table:
            return
        for test in {id(h): h for item in items if (h := _handle(item))}.values():
            test.inner_test = self._sparing(test.inner_test)

    def _sparing(self, test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def spared(*args: Any, **kwargs: Any) -> None:
            try:
                test(*args, **kwargs)
            except (PromotionError, OtherResult) as error:
                why = self._proven(error)
                if not why or (isinstance(error, OtherResult) and summed(error.function)):
                    raise
                self.refused[why] += 1
                if not self.passed and self.refused.total() >= ENOUGH:
                    raise
                hypothesis.reject()
            else:
                self.passed += 1

        return spared

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        global _function
        _function = getattr(item, "originalname", item.name).removeprefix("test_")
        self.refused.clear()
        self.passed = 0
        random.seed(f"{self.seed} {item.nodeid}")  # test_special_cases shuffles its examples

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> Iterator[Any]:
        # Hypothesis would write a patch for each failure, at the price of an import.
        vars(item).pop("_hypothesis_failing_examples", None)
        report = yield
        if call.when != "call":
            return report
        if call.excinfo is not None and not hasattr(report, "wasxfail"):
            refusals = self._refusals(call.excinfo.value)
            if refusals:
                report.outcome = "skipped"
                report.wasxfail = f"refused: {'; '.join(sorted(refusals))}"
                item.user_properties.append(("refusals", sorted(refusals)))
        elif self.refused:
            item.user_properties.append(("narrowed", [sum(self.refused.values()), self.passed]))
            item.user_properties.append(("refusals", sorted(self.refused)))
        report.user_properties = item.user_properties
        return report

    def _refusals(self, error: BaseException) -> set[str]:
        """The reasons of a failure that is nothing but proven refusals; empty for any other."""
        if isinstance(error, BaseExceptionGroup):
            parts = [self._refusals(each) for each in error.exceptions]
            return set().union(*parts) if all(parts) else set()
        if self.refused and not self.passed:
            spared = isinstance(error, Unsatisfiable) or self._proven(error)
            return set(self.refused) if spared else set()
        return {*filter(None, [self._proven(error)])}

    def _proven(self, error: BaseException) -> str:
        """The policy's reason for an error, if the policy gives it when it is asked again."""
        if isinstance(error, OtherResult):
            return other_result(self.policy, error)
        asked = isinstance(error, PromotionError) and error.policy is self.policy
        return reason(error) if asked and refuses(error) else ""


def _handle(item: pytest.Item) -> Any:
    return getattr(getattr(item, "obj", None), "hypothesis", None)


# -- 3. events ------------------------------------------------------------------------------------


class Told(Events):
    """Writes what the run is of, besides what is over."""

    def __init__(self, path: str | None, pairs: int | None) -> None:
        super().__init__(path)
        self.pairs = pairs

    def pytest_sessionstart(self) -> None:
        import array_api_tests

        about = {"module": array_api_tests.xp_name, "api_version": array_api_tests.api_version}
        self.write(**about, hypothesis=hypothesis.__version__, pairs=self.pairs)
