"""JAX programs as they are, recorded while JAX itself runs them."""

from __future__ import annotations

import copy
import operator
import pickle
import runpy
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray import dtypes as dt
from promoarray.policies import as_policy

jax = pytest.importorskip("jax", reason="needs JAX: pip install jax")

import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402
from jax.experimental.compilation_cache import compilation_cache  # noqa: E402

from promoarray.diagnostics.record.jax import wrapping  # noqa: E402
from promoarray.diagnostics.record.jax.call import dtype_of  # noqa: E402

pytestmark = pytest.mark.slow  # JAX compiles whatever it meets

PROGRAMS = sorted(Path(__file__).with_name("jax_programs").glob("*.py"))


@pytest.fixture(autouse=True)
def _without_x64() -> Iterator[None]:
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", False)
    yield
    jax.config.update("jax_enable_x64", before)


@pytest.fixture
def _compiled_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What both runs compile, the second reads: it is the same to the letter."""
    settings = {
        "jax_compilation_cache_dir": str(tmp_path_factory.mktemp("compiled")),
        "jax_persistent_cache_min_compile_time_secs": 0,
        "jax_persistent_cache_min_entry_size_bytes": -1,
    }
    before = {name: getattr(jax.config, name) for name in settings}
    for name, value in settings.items():
        jax.config.update(name, value)
    yield
    for name, value in before.items():
        jax.config.update(name, value)
    compilation_cache.reset_cache()


def ran(path: Path) -> dict[str, Any]:
    jax.clear_caches()  # what is traced already is not traced again
    return runpy.run_path(str(path), run_name="__main__")


def answers(report: Any, expression: str) -> dict[str, str]:
    """What each policy answers where an expression of the program differs."""
    (found,) = (d for d in report.divergences if d.site.expression == expression)
    return {name: str(answer) for name, answer in found.answers.items()}


def origins(report: Any, policy: str) -> dict[str, str]:
    return {d.site.expression: d.answers[policy].origin for d in report.divergences}


def wrapped_places() -> dict[tuple[int, str], Any]:
    owners = [jax, *wrapping.MODULES.values(), wrapping.ArrayImpl, jax.core.Tracer]
    owners.append(wrapping._IndexUpdateRef)
    return {(id(o), name): x for o in owners for name, x in vars(o).items() if name != "__doc__"}


@pytest.mark.usefixtures("_compiled_once")
@pytest.mark.parametrize("x64", [False, True])
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.stem)
def test_nearly_every_call_is_understood_none_drifts_and_values_are_the_same(
    path: Path, x64: bool
) -> None:
    jax.config.update("jax_enable_x64", x64)
    bare = ran(path)
    with pa.record("jax", "numpy@2", "torch@2.13") as report:
        watched = ran(path)
    assert report.run is as_policy("jax@x64" if x64 else "jax@x32")
    assert report.understood >= 0.95, list(report.recorded())
    assert not list(report.drifted())
    assert report.operations > 20
    arrays = {name: x for name, x in bare.items() if isinstance(x, jax.Array)}
    assert len(arrays) > 2
    for name, x in arrays.items():
        if jnp.issubdtype(x.dtype, jax.dtypes.prng_key):
            continue
        assert (x.dtype, x.weak_type) == (watched[name].dtype, watched[name].weak_type)
        assert np.asarray(x).tobytes() == np.asarray(watched[name]).tobytes()


def test_weak_types_are_kept_and_python_numbers_seen_as_written() -> None:
    x = jnp.ones(3, dtype=jnp.int8)
    with pa.record("jax", "numpy@2") as report:
        weak = jnp.full((3,), 2)
        weak * x
        2.5 / x
        x * np.float32(2)
    home = as_policy("jax@x32")
    assert dtype_of(weak, home) is dt.weak_int
    assert dtype_of(np.ones(1), home) is dt.float32
    assert answers(report, "weak * x") == {"jax@x32": "int8", "numpy@2": "int64"}
    assert answers(report, "2.5 / x") == {"jax@x32": "float32", "numpy@2": "float64"}
    assert not report.drift


def test_where_x32_differs_from_x64_is_told_where_the_array_is_made() -> None:
    with pa.record("jax", "jax@x64", "numpy@2") as report:
        times = jnp.arange(4, dtype=jnp.int32) * 0.5
        waves = jnp.sin(times)
        3 * waves + 1
    for policy in ("jax@x64", "numpy@2"):
        assert origins(report, policy) == {
            "jnp.arange(4, dtype=jnp.int32) * 0.5": "root",
            "jnp.sin(times)": "inherits",
            "3 * waves": "inherits",
            "3 * waves + 1": "inherits",
        }


def test_a_function_is_recorded_when_it_is_traced_with_the_line_of_the_program() -> None:
    @jax.jit
    def scaled(x: Any) -> Any:
        return x * 0.5

    counts = jnp.arange(3, dtype=jnp.int16)
    with pa.record("jax", "numpy@2") as report:
        scaled(counts)
        scaled(counts)
        jax.vmap(jax.grad(lambda x: x * x + 1.5))(jnp.ones(2))
    assert answers(report, "x * 0.5") == {"jax@x32": "float32", "numpy@2": "float64"}
    assert next(d.count for d in report.divergences if d.site.expression == "x * 0.5") == 1
    assert report.calls["operation", "__mul__"] == 2  # in ``scaled`` and in the lambda
    assert all(d.site.file == __file__ for d in report.divergences)


def test_what_a_function_does_inside_is_not_recorded_again() -> None:
    x = jnp.ones(4)
    with pa.record("jax", "numpy@2") as report:
        jnp.var(x)
        jax.nn.softmax(x)
        x.at[0].add(1)
        jax.random.normal(jax.random.key(0), (2,))
    assert {(kind, name) for kind, name in report.calls} == {
        ("operation", "var"),
        ("approximate", "nn.softmax"),
        ("operation", "at.add"),
        ("make", "random.normal"),
    }


def test_casts_end_what_differs_and_views_carry_it_on() -> None:
    counts = jnp.array([1, 2, 3], dtype=jnp.int32)
    with pa.record("jax", "numpy@2") as report:
        share = counts / jnp.int32(4)
        moved = share.reshape(3, 1).T[0].at[0].set(2)
        moved + 1
        jnp.zeros_like(moved) - 1
        cast = moved.astype(jnp.float32)
        cast + 1
    assert origins(report, "numpy@2") == {
        "counts / jnp.int32(4)": "root",
        "moved + 1": "inherits",
        "jnp.zeros_like(moved) - 1": "inherits",
    }


def test_a_program_that_sets_x64_at_its_top_is_one_with_x64() -> None:
    with pa.record("jax", "numpy@2") as report:
        jax.config.update("jax_enable_x64", True)
        x = jnp.arange(3) * 0.5
        jax.config.update("jax_enable_x64", False)
        jnp.arange(3) * 0.5
    assert x.dtype == jnp.float64
    assert report.run is as_policy("jax@x64")
    assert not report.drift


def test_refusals_raise_as_they_do_anyway() -> None:
    x, tiny = jnp.ones(2), jnp.ones(2, dtype=jnp.float8_e4m3fn)
    errors = []
    for recorded in (False, True):
        with pa.record("jax", "numpy@2") if recorded else jax.named_scope("bare"):
            for run in (lambda: tiny + x, lambda: jnp.add([1], x), lambda: x + object()):
                with pytest.raises((TypeError, ValueError)) as caught:
                    run()
                errors.append((type(caught.value), str(caught.value).split(" at 0x")[0]))
            with (
                jax.numpy_dtype_promotion("strict"),
                pytest.raises(ValueError, match="no available") as strict,
            ):
                x + jnp.ones(2, dtype=jnp.int32)
            errors.append((type(strict.value), str(strict.value)))
    assert errors[:4] == errors[4:]


def test_all_is_put_back_after_nested_blocks_errors_and_threads() -> None:
    before = wrapped_places()
    x = jnp.ones(3, dtype=jnp.int16)

    def work() -> None:
        x * 0.5

    outer: Any = None

    def stopped() -> None:
        nonlocal outer
        with pa.record("jax", "numpy@2") as outer:
            with pa.record("jax", "numpy@2") as inner:
                assert wrapped_places() != before
                thread = threading.Thread(target=work)
                thread.start()
                thread.join()
            assert [d.site.expression for d in inner.divergences] == ["x * 0.5"]
            x * 0.25
            raise KeyError

    with pytest.raises(KeyError):
        stopped()
    assert wrapped_places() == before
    assert {d.site.expression for d in outer.divergences} >= {"x * 0.25"}
    x * 0.75
    assert "x * 0.75" not in {d.site.expression for d in outer.divergences}


def test_a_wrapper_that_a_program_keeps_is_the_function_it_stands_for() -> None:
    with pa.record("jax", "numpy@2") as report:
        kept, relu, gelu = jnp.add, jax.nn.relu, jax.nn.gelu
        assert isinstance(kept, jnp.ufunc)
        assert kept.reduce(jnp.ones(3)) == 3
        assert float(jax.jit(relu)(jnp.float32(-1))) == 0
        assert jax.tree.map(jnp.add, {"a": jnp.ones(1)}, {"a": 1})["a"][0] == 2
        assert pickle.loads(pickle.dumps(gelu)) is gelu.__wrapped__
        assert copy.deepcopy(lax.add) is lax.add.__wrapped__
        # A sum is told by identity; of another function there is no gradient.
        pooled = jax.grad(lambda x: lax.reduce_window(x, 0.0, lax.add, (2,), (2,), "VALID").sum())
        assert pooled(jnp.ones(4)).tolist() == [1, 1, 1, 1]
    count = report.calls.total()
    assert float(kept(jnp.float32(1), 2)) == 3
    assert report.calls.total() == count
    assert operator.is_(relu.__wrapped__, jax.nn.relu)


def test_a_class_of_dtypes_is_no_dtype_that_a_call_names() -> None:
    with pa.record("jax") as report:
        assert jnp.issubdtype(jax.random.key(0).dtype, jax.dtypes.prng_key)
        jnp.arange(3) * 2
    assert report.understood == 1


def test_what_flax_counts_its_keys_with_is_its_own() -> None:
    text = "import jax.numpy as jnp\ncount = jnp.zeros((), jnp.uint32) + 1\n"
    for file, differs in (("flax/nnx/rnglib.py", False), ("program.py", True)):
        with pa.record("jax", "paddle@3.3") as report:
            exec(compile(text, f"/site-packages/{file}", "exec"), {})
        assert bool(report.divergences) is differs


def test_numbers_in_functions_with_derivatives_of_their_own_are_numbers() -> None:
    @jax.custom_jvp
    def f(x: Any, n: Any) -> Any:
        return jnp.sin(x) * n

    f.defjvp(lambda p, t: (f(*p), jnp.cos(p[0]) * t[0]))
    with pa.record("jax", "numpy@2") as report:
        jax.grad(f)(2.0, 3)
    assert report.understood == 1
    given = [op.operands for op in report.flows[0].operations if op.name == "sin"]
    assert {each[0].value for each in given if each} == {2.0}


def test_what_stands_for_an_array_is_that_array() -> None:
    class Parameter:
        value = jnp.ones((2, 2), jnp.float32)

        def __jax_array__(self) -> Any:
            return self.value

    x = jnp.ones((3, 2), jnp.int32)
    with pa.record("jax", "numpy@2") as report:
        x @ Parameter()
    assert report.understood == 1
    assert [d.name for d in report.divergences] == ["matmul"]


def test_a_kernel_of_pallas_runs_as_it_is() -> None:
    pallas = pytest.importorskip("jax.experimental.pallas")

    def kernel(x: Any, y: Any, made: Any) -> None:
        made[...] = x[...] + y[...]

    shape = jax.ShapeDtypeStruct((8,), jnp.float32)
    with pa.record("jax", "numpy@2") as report:
        made = pallas.pallas_call(kernel, out_shape=shape, interpret=True)(jnp.ones(8), jnp.ones(8))
    assert made.tolist() == [2.0] * 8
    assert report.calls["operation", "__add__"] == 1
