"""NumPy's data that JAX narrows as they come in: where, and what is lost of them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from value_words import said

import promoarray as pa
from promoarray.diagnostics.model.divergence import ENTRY

pytest.importorskip("jax", reason="needs JAX: pip install 'promoarray[test-jax]'")

import jax
import jax.numpy as jnp
from jax import lax

pytestmark = pytest.mark.slow

WIDE = np.array([[0.1, 0.25], [0.5, 1.0]])
TIMES = np.array([1700000000123, 5])
SCALE = np.float64(0.5)


@pytest.fixture(autouse=True)
def _without_x64() -> Iterator[None]:
    with jax.enable_x64(False):
        yield


def entries(report: Any) -> dict[str, str]:
    """From where data come in to the edit."""
    found = (d for d in report.divergences if d.name in (ENTRY, "dtype"))
    fixes = ((d, d.answers["numpy@2"].fix) for d in found)
    return {d.site.expression: fix and fix.text for d, fix in fixes}


@pytest.mark.filterwarnings("ignore:Explicitly requested dtype float64")  # JAX tells it too
def test_each_way_in_is_told_with_its_edit() -> None:
    with pa.record("jax", "numpy@2") as report:
        x = jnp.ones(2, dtype=jnp.float32)
        _ = jnp.asarray(WIDE)
        _ = jnp.dot(WIDE, x)
        _ = x * SCALE
        _ = SCALE - x
        _ = jnp.where(x > 0, x, SCALE)
        _ = jnp.stack([x, WIDE[0]])
        _ = x.at[0].set(SCALE)
        _ = jax.device_put(TIMES)
        _ = jnp.sum(a=WIDE)
        _ = jax.jit(lambda tree: tree["a"] + 1)({"a": WIDE})
        _ = lax.scan(lambda c, y: (c, y), x, WIDE)
        _ = jnp.zeros(2, dtype=jnp.float64)
    assert entries(report) == {
        "jnp.asarray(WIDE)": "jnp.asarray(WIDE, dtype=jnp.float32)",
        "jnp.dot(WIDE, x)": "jnp.dot(WIDE.astype(jnp.float32), x)",
        "x * SCALE": "x * SCALE.astype(jnp.float32)",
        "SCALE - x": "SCALE.astype(jnp.float32) - x",
        "jnp.where(x > 0, x, SCALE)": "jnp.where(x > 0, x, SCALE.astype(jnp.float32))",
        "jnp.stack([x, WIDE[0]])": "jnp.stack([x, WIDE[0].astype(jnp.float32)])",
        "x.at[0].set(SCALE)": "x.at[0].set(SCALE.astype(jnp.float32))",
        "jax.device_put(TIMES)": "jax.device_put(TIMES.astype(jnp.int32))",
        "jnp.sum(a=WIDE)": None,
        "jax.jit(lambda tree: tree['a'] + 1)({'a': WIDE})": None,
        "lax.scan(lambda c, y: (c, y), x, WIDE)": None,
        "jnp.zeros(2, dtype=jnp.float64)": None,
    }
    assert not report.drift


def test_what_follows_inherits_in_functions_that_are_traced_too() -> None:
    with pa.record("jax", "numpy@2") as report:
        inside = jax.jit(lambda x: x + 1)(WIDE)
        _ = inside * 2
        _ = jnp.exp(jnp.asarray(TIMES) * 2)
    found = {d.site.expression: d.answers["numpy@2"] for d in report.divergences if d.name != ENTRY}
    assert {name: (answer.origin, str(answer)) for name, answer in found.items()} == {
        "x + 1": ("inherits", "float64"),
        "inside * 2": ("inherits", "float64"),
        "jnp.asarray(TIMES) * 2": ("inherits", "int64"),
        "jnp.exp(jnp.asarray(TIMES) * 2)": ("root", "float64"),
    }


def test_what_is_lost_is_told_once_for_all_passes() -> None:
    with pa.record("jax", "numpy@2", "torch@2.13") as report:
        for _ in range(3):
            jnp.mod(TIMES, 16)
        jnp.sum(np.arange(4.0))
    (change,) = report.value_changes
    assert [*said(change)] == [
        "3 of 6 change, by 1.7e+12 at most: [0] 1700000000123 becomes -807049093; kept under "
        "numpy@2 and torch@2.13"
    ]
    (cause,) = report.shared_causes().found
    assert (
        cause.what == "jax@x32 holds no float64 or int64, and makes float32 and int32 of such data"
    )
    assert cause.write.startswith("cast to float32 and int32 where they are made")
    assert 'jax.config.update("jax_enable_x64", True)' in cause.write
    assert cause.count == 4


def test_what_a_program_casts_itself_or_has_no_consequence_is_none() -> None:
    with pa.record("jax", "numpy@2") as report:
        x = jnp.ones(2, dtype=jnp.float32)
        _ = jnp.asarray(WIDE, dtype=jnp.float32)
        _ = jnp.asarray(WIDE.astype(np.float32)) * 2
        _ = x[np.array([1, 0])]
        _ = jnp.take(x, np.array([1, 0]))
        _ = jax.nn.one_hot(np.array([1, 0]), 3, dtype=jnp.float32)
        _ = lax.convert_element_type(WIDE, jnp.float32)
    assert entries(report) == {}
    assert not report.value_changes


def test_with_x64_nothing_is_narrowed() -> None:
    with jax.enable_x64(True), pa.record("jax", "numpy@2") as report:
        _ = jnp.sum(WIDE) * SCALE
        _ = jnp.zeros(2, dtype=jnp.float64)
    assert not report.divergences
    assert not report.value_changes
