"""What a policy loses of data that it narrows as they come in."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from value_words import said

import promoarray as pa
from promoarray.diagnostics.ask import values
from promoarray.diagnostics.ask.values import narrowed
from promoarray.diagnostics.findings.results import findings
from promoarray.diagnostics.model.values import Difference, Example
from promoarray.dtypes import BY_NAME
from promoarray.policies import as_policy

RNG = np.random.default_rng(0)
FLOATS = np.concatenate([RNG.normal(size=300), [0.5, -0.0, np.nan, np.inf, -np.inf, 3e38, 1e-50]])
DATA = {
    "float64": FLOATS,
    "strided": np.repeat(FLOATS, 2)[::2],
    "transposed": RNG.normal(size=(13, 17)).T,
    "0-d": np.float64(0.1),
    "none": np.zeros((0, 3)),
    "exact": np.arange(7.0),
    "int64": RNG.integers(-(2**62), 2**62, 300),
    "small": np.arange(-5, 5),
    "uint64": RNG.integers(0, 2**63, 300).astype(np.uint64),
    "complex128": FLOATS[:300] + 0.1j,
}


@pytest.mark.parametrize("block", [8, 1 << 16])
@pytest.mark.parametrize("name", DATA)
def test_what_is_lost_is_what_a_loop_over_the_elements_finds(
    name: str, block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "BLOCK", block)
    data, policy = np.asarray(DATA[name]), as_policy("jax@x32")
    source = BY_NAME[data.dtype.name]
    target = policy.canonical[source]
    lost = narrowed(policy, (data,), source, target, ("jax@x32",))
    apart: dict[tuple[int, ...], Any] = {}
    for at, given in np.ndenumerate(data):
        made = given.astype(target.storage)
        if made != given and not (np.isnan(made) and np.isnan(given)):
            apart[at] = abs(made.astype(data.dtype).item() - given.item())
    if not apart:
        assert lost is None
        return
    assert lost is not None
    assert lost.elements == len(apart)
    assert lost.largest == pytest.approx(max(apart.values()))
    at, given, run, other = lost.example
    assert apart[at] == pytest.approx(lost.largest)
    assert given == run == str(data[at].item())
    assert other == str(data[at].astype(target.storage).item())


def test_several_arrays_are_told_as_one() -> None:
    policy = as_policy("jax@x32")
    data = np.array([1, 2]), np.array([5, 2**40])
    lost = narrowed(policy, data, pa.int64, pa.int32, ("jax@x32",))
    example = Example((1,), str(2**40), str(2**40), "0")
    assert lost == Difference(("jax@x32",), 1, example, largest=2.0**40)


def test_a_part_of_a_complex_number_that_is_nan_does_not_hide_the_other() -> None:
    policy, data = as_policy("jax@x32"), np.array([complex("nan+0.1j"), 1e39 + 0j])
    lost = narrowed(policy, (data,), pa.complex128, pa.complex64, ("jax@x32",), kept=True)
    assert lost is not None
    assert (lost.elements, lost.largest) == (2, np.inf)
    assert lost.example == Example((1,), "(1e+39+0j)", run="(inf+0j)", other="(1e+39+0j)")


def test_a_shadow_run_says_what_a_policy_loses_of_data() -> None:
    outside = np.array([1700000000123, 5]), np.array([0.1, 1e39]), np.array([0.5])
    with pa.policy("numpy@2"), pa.shadow("jax@x32", "torch@2.13") as report:
        for x in outside:
            pa.asarray(x)
    floats, times = report.value_changes
    assert [*said(times)] == [
        "1 of 2 change under jax@x32, by 1.7e+12 at most: [0] 1700000000123 becomes -807049093"
    ]
    assert [*said(floats)] == ["2 of 2 change under jax@x32: [1] 1e+39 becomes inf"]
    (told,) = times.to_dict()["differences"]
    assert (told["run"], told["becomes"], told["largest"]) == (
        "1700000000123",
        "-807049093",
        "1700807049216.0",
    )
    (found,) = (f for f in findings(report) if f.kind == "bits" and f.operands[0] == "int64")
    assert found.reason == (
        "1 of 2 elements; the one that changes most, 1700000000123 at [0], becomes -807049093 and "
        "not 1700000000123"
    )


def test_of_many_passes_the_one_is_shown_that_changes_most() -> None:
    with pa.policy("numpy@2"), pa.shadow("jax@x32") as report:
        for big in (2**33, 2**40 + 1, 2**35):
            pa.asarray(np.array([big, 1]))
    (change,) = report.value_changes
    assert (change.size, change.passes) == (6, 3)
    (words,) = said(change)
    assert words.startswith("3 of 6 change")
    assert f"{2**40 + 1} becomes 1" in words
