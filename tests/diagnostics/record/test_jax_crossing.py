"""Disputes go into the functions that JAX traces, and come out of them."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

import promoarray as pa

jax = pytest.importorskip("jax", reason="needs JAX: pip install 'promoarray[test-jax]'")
jnp, lax = jax.numpy, jax.lax

pytestmark = pytest.mark.slow


def origins(report: Any) -> dict[str, str]:
    return {d.site.expression: d.answers["numpy@2"].origin for d in report.divergences}


def test_each_transformation_and_loop_carries_what_differs_in_and_out() -> None:
    counts = jnp.arange(3, dtype=jnp.int16)

    with pa.record("jax", "numpy@2") as report:

        class Model:
            def step(self, x: Any) -> Any:
                return x / 4

            @partial(jax.jit, static_argnums=(0, 2))
            def kept(self, x: Any, n: int) -> Any:
                return x / n

        halved = jax.jit(lambda c: (c.astype(jnp.float32), c * 0.5))

        @jax.jit
        def whole(x: Any) -> Any:
            return x * 3

        same, h = halved(counts)
        same + 1
        h + 2
        whole(h) - 2
        jax.vmap(lambda row: row * 4)(h) - 4
        jax.jit(Model().step)(h) - 5
        Model().kept(h, 8) - 5
        jax.jit(jax.grad(lambda p, q: (p * q).sum(), argnums=(1,)))(same, h)[0] - 6
        value, gradient = jax.value_and_grad(lambda p: ((p * 7).sum(), p), has_aux=True)(h)
        value[0] - 7, value[1] - 8, gradient - 9
        (total, n), sums = lax.scan(lambda s, x: ((s[0] + x, s[1]), x), (jnp.float32(0), same), h)
        total - 10, sums - 11, n - 12
        lax.fori_loop(0, 2, lambda i, s: s * s, h) - 13
        lax.while_loop(lambda s: s.sum() < 0, lambda s: s + same, h) - 14
        lax.cond(True, lambda x: x * 15, lambda x: x, h) - 15
        lax.switch(0, [lambda x: x, lambda x: x * 16], h) - 16
        lax.map(lambda x: x + 17, h) - 17
        whole(same) - 18
    found = origins(report)
    assert found.pop("c * 0.5") == "root"
    assert [x for x, origin in found.items() if origin != "inherits"] == []
    assert not report.drift
    quiet = {"same + 1", "n - 12", "whole(same) - 18"}
    assert not quiet & {*found}
    assert {
        *(
            "x / n",
            "Model().kept(h, 8) - 5",
            "h + 2",
            "x * 3",
            "whole(h) - 2",
            "row * 4",
            "x / 4",
            "p * q",
            "s[0] + x",
            "s * s",
        ),
        *("jax.vmap(lambda row: row * 4)(h) - 4", "jax.jit(Model().step)(h) - 5", "value[0] - 7"),
        *("value[1] - 8", "gradient - 9", "total - 10", "sums - 11", "x * 15", "x * 16", "x + 17"),
        *("lax.fori_loop(0, 2, lambda i, s: s * s, h) - 13", "s.sum()", "s + same"),
        *("lax.while_loop(lambda s: s.sum() < 0, lambda s: s + same, h) - 14",),
        *("lax.cond(True, lambda x: x * 15, lambda x: x, h) - 15",),
        *("lax.switch(0, [lambda x: x, lambda x: x * 16], h) - 16",),
        *("lax.map(lambda x: x + 17, h) - 17",),
    } <= {*found}


def test_a_function_is_traced_as_often_as_it_would_be_anyway() -> None:
    def run() -> list[str]:
        traces: list[str] = []

        def scaled(x: Any) -> Any:
            traces.append(f"scaled {x.dtype}")
            return x * 0.5

        def step(s: Any, x: Any) -> Any:
            traces.append("step")
            return s + x, x

        for kind in (jnp.int16, jnp.int8, jnp.int16):
            counts = jnp.arange(3, dtype=kind)
            jax.jit(scaled)(counts)
            jax.jit(scaled)(counts)
            lax.scan(step, jnp.float32(0), jax.jit(scaled)(counts))
        return traces

    bare = run()
    with pa.record("jax", "numpy@2"):
        assert run() == bare
    assert run() == bare


def test_what_was_transformed_is_in_all_else_what_jax_made() -> None:
    plain = jax.jit(lambda x: x + 1)
    with pa.record("jax", "numpy@2"):

        @jax.jit
        def one(x: Any) -> Any:
            """Add one."""
            return x + 1

        @partial(jax.jit, static_argnames="n")
        def some(x: Any, n: int = 2) -> Any:
            return x * n

        @jax.jit(inline=True)
        def inlined(x: Any) -> Any:
            return x - 1

        with pytest.raises(TypeError, match="missing"):
            lax.scan(one)
        with pytest.raises(ZeroDivisionError):
            jax.jit(lambda x: x * (1 // 0))(jnp.ones(2))
        assert some(jnp.ones(2), n=3).tolist() == [3, 3]
    assert (one.__name__, one.__doc__) == ("one", "Add one.")
    assert isinstance(one, type(plain))
    assert one.lower(jnp.ones(2)).compile()(jnp.ones(2)).tolist() == [2, 2]
    assert "name=one" in str(jax.make_jaxpr(one)(jnp.ones(2)))
    assert inlined(some(jnp.ones(2))).tolist() == [1, 1]
    assert type(jax.jit) is type(lax.scan)
