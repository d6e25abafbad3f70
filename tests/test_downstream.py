"""SciPy, scikit-learn and array-api-extra compute with PArrays, unmodified, under every policy."""

from __future__ import annotations

import copy
import os
import pickle
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import promoarray as pa

for _library in ("scipy", "sklearn", "array_api_extra", "array_api_compat"):
    if _library == "scipy" and "scipy" in sys.modules and not os.environ.get("SCIPY_ARRAY_API"):
        pytest.skip("SciPy was imported without SCIPY_ARRAY_API=1", allow_module_level=True)
    os.environ["SCIPY_ARRAY_API"] = "1"
    pytest.importorskip(_library, reason="pip install -e '.[test-downstream]'")

import array_api_compat
import array_api_extra as xpx
import downstream
import joblib
import scipy.signal
import scipy.stats
import suites_gate
from downstream_cases import CASES, data
from downstream_page import of_functions, of_suites
from runner import filled
from sklearn.base import clone
from sklearn.linear_model import Ridge
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import cross_val_predict
from sklearn.preprocessing import StandardScaler

BOUND = ("numpy", "jax@x32", "torch", "paddle")

recorded = pytest.mark.skipif(
    downstream.Record.read(downstream.RECORD).about != downstream.installed(),
    reason=f"the record is of other versions than {downstream.installed()}",
)


@pytest.fixture(autouse=True)
def _dispatching() -> Iterator[None]:
    with downstream.dispatching():
        yield


@pytest.fixture(params=BOUND)
def xp(request: pytest.FixtureRequest) -> Any:
    """A namespace bound to a policy."""
    return pa.namespace(request.param)


def arrays(xp: Any, dtype: str = "float32") -> tuple[Any, Any]:
    return tuple(xp.asarray(data()[name].astype(dtype)) for name in ("X", "y"))


# -- the record -----------------------------------------------------------------------------------


each_library = pytest.mark.parametrize("library", ["scipy", "sklearn", "xpx"])


@recorded
@pytest.mark.slow
@each_library
def test_every_policy_does_what_is_recorded(library: str) -> None:
    found = downstream.run(library=library)
    assert not list(found.differences(downstream.Record.read(downstream.RECORD).of(library)))


@recorded
@pytest.mark.slow
@each_library
def test_a_bound_namespace_does_the_same_whatever_policy_is_in_force(library: str) -> None:
    found = downstream.run(BOUND, library=library, bound=True)
    expected = downstream.Record.read(downstream.RECORD).cells
    different = [
        f"{key}: {cell}, recorded {expected[key]}"
        for key, cell in found.cells.items()
        if cell != expected[key]
    ]
    assert not different


def test_the_record_holds_what_was_promised() -> None:
    cells = downstream.Record.read(downstream.RECORD).cells
    for policy in ("numpy", "jax", "torch", "paddle"):
        for library in ("scipy", "sklearn"):
            computed = {
                case
                for (_, case, under), cell in cells.items()
                if case.startswith(library) and under == policy and " " not in cell
            }
            assert len(computed) >= 25
    assert {case for _, case, _ in cells} == set(CASES)
    under_numpy = [cell for (_, _, policy), cell in cells.items() if policy == "numpy"]
    assert not [cell for cell in under_numpy if "~" in cell]


def test_a_record_reads_back_and_tells_what_changed(tmp_path: Path) -> None:
    record = downstream.Record(
        downstream.installed(),
        {("float32", "f", "numpy"): "f32^", ("float32", "f", "torch"): "add(int8, int) in a.b"},
        {("add(int8, int) in a.b", "torch"): "no: never | at all"},
        {"f": ["a.b", "c.d"]},
    )
    record.write(tmp_path / "record.txt")
    again = downstream.Record.read(tmp_path / "record.txt")
    assert (again.about, again.cells, again.takers) == (record.about, record.cells, record.takers)
    again.cells["float32", "f", "torch"] = "f32"
    again.takers = {}
    assert list(record.differences(again)) == [
        "float32, f, torch: add(int8, int) in a.b, recorded f32",
        "f leaves by ['a.b', 'c.d'], recorded None",
    ]


def test_the_page_is_made_of_the_record() -> None:
    text = downstream.PAGE.read_text(encoding="utf-8")
    assert text == filled(text, of_functions() | of_suites(suites_gate.read()))


def test_the_example_of_the_page_runs() -> None:
    text = downstream.PAGE.read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.S)
    names: dict[str, Any] = {}
    exec(example, names)  # the dispatch it turns on is turned off again by the fixture
    assert names["model"].coef_.dtype is pa.float32
    assert names["model"].coef_.__array_namespace__() is pa.namespace("torch")


# -- array-api-compat -----------------------------------------------------------------------------


def test_array_api_compat_knows_the_arrays(xp: Any) -> None:
    for namespace in (pa, xp):
        x = namespace.ones((2, 3))
        assert array_api_compat.array_namespace(x, x, None, 1.0) is namespace
        assert array_api_compat.is_array_api_obj(x)
        assert array_api_compat.is_array_api_strict_namespace(namespace) is False
        assert array_api_compat.device(x) == "cpu"
        moved = array_api_compat.to_device(x, "cpu")
        assert moved.__array_namespace__() is namespace
        assert array_api_compat.size(x) == 6
        assert not array_api_compat.is_lazy_array(x)
        assert array_api_compat.is_writeable_array(x)


def test_namespaces_are_told_apart_by_name() -> None:
    policies = pa.list_policies()
    spaces = [pa, *map(pa.namespace, policies)]
    assert len({xp.__name__ for xp in spaces}) == len(set(spaces)) == len(policies) + 1
    assert pa.__name__ == "promoarray"
    assert pa.namespace("torch").__name__ == "promoarray.torch@2.13"
    assert pa.namespace("torch") is pa.namespace("torch@2.13")


def test_two_bindings_do_not_mix() -> None:
    (X, _), (_, y) = arrays(pa.namespace("torch")), arrays(pa.namespace("jax"))
    with pytest.raises(TypeError, match=r"jax@x64 and torch@2\.13 do not mix"):
        X[:, 0] + y
    for mixing in (scipy.stats.zmap, xpx.setdiff1d):
        with pytest.raises(TypeError, match="Multiple namespaces"):
            mixing(X[:, 0], y)


def test_scikit_learn_moves_a_target_to_the_namespace_of_its_data() -> None:
    (X, _), (_, y) = arrays(pa.namespace("torch")), arrays(pa.namespace("jax"))
    model = Ridge(solver="svd").fit(X, y)
    assert model.coef_.__array_namespace__() is pa.namespace("torch")


# -- estimators -----------------------------------------------------------------------------------


def test_attributes_of_an_estimator_stay_bound(xp: Any) -> None:
    X, y = arrays(xp)
    for model in (Ridge(solver="svd").fit(X, y), StandardScaler().fit(X)):
        learned = [v for v in vars(model).values() if isinstance(v, pa.PArray)]
        assert learned
        assert all(v.__array_namespace__() is xp for v in learned)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_a_fitted_estimator_can_be_copied_and_pickled(xp: Any, again: Any) -> None:
    X, y = arrays(xp)
    model = Ridge(solver="svd").fit(X, y)
    same = again(model)
    assert same.coef_ is not model.coef_
    assert same.coef_.__array_namespace__() is xp
    assert bool(xp.all(same.predict(X) == model.predict(X)))


def test_an_estimator_with_an_array_for_a_parameter_can_be_cloned(xp: Any) -> None:
    X, _ = arrays(xp)
    model = GaussianMixture(2, means_init=X[:2, :], init_params="random", random_state=0)
    fresh = clone(model)
    assert fresh.means_init is not model.means_init
    assert bool(xp.all(fresh.means_init == model.means_init))
    assert fresh.means_init.__array_namespace__() is xp


def test_threads_keep_the_policy_of_a_bound_namespace() -> None:
    X, y = arrays(pa.namespace("jax@x32"))
    with joblib.parallel_config("threading", n_jobs=2):
        predicted = cross_val_predict(Ridge(solver="svd"), X, y)
    assert predicted.__array_namespace__() is pa.namespace("jax@x32")


# -- what leaves the policy -----------------------------------------------------------------------


def test_no_escape_shows_what_computes_inside_the_policy() -> None:
    X, _ = arrays(pa)
    with pa.no_escape():
        assert isinstance(scipy.stats.zscore(X[:, 0]), pa.PArray)
        assert isinstance(StandardScaler().fit_transform(X), pa.PArray)
        with pytest.raises(pa.EscapeError, match=r"scipy\.signal\._signaltools\.detrend") as caught:
            scipy.signal.detrend(X[:, 0])
    assert caught.value.escape.site.file == __file__


@pytest.mark.parametrize(("policy", "dtype"), [("numpy", "f64"), ("jax", "f32"), ("torch", "f32")])
def test_mixed_arrays_show_the_policy(policy: str, dtype: str) -> None:
    x = pa.asarray(data()["x"].astype(np.int32))
    y = pa.asarray(data()["y"].astype(np.float32))
    with pa.policy(policy):
        assert scipy.stats.zmap(x, y).dtype.code == dtype
        assert xpx.kron(x, y).dtype.code == dtype


def test_a_refusal_names_the_rule() -> None:
    x = pa.asarray(data()["x"].astype(np.int32))
    with pa.policy("torch"), pytest.raises(pa.PromotionError, match="integers have no mean"):
        scipy.stats.skew(x)


@pytest.mark.parametrize("policy", ["numpy", "torch", "jax"])
def test_scipy_calls_methods_of_arrays(policy: str) -> None:
    """``nsum`` and ``hessian`` sum by ``x.sum``, which the standard has not."""
    from scipy import differentiate, integrate

    xp = pa.namespace(policy)
    first, last = (xp.asarray(end, dtype=xp.float64) for end in (1.0, xp.inf))
    found = integrate.nsum(lambda k: 1 / k**2, first, last)
    assert type(found.sum) is xp.PArray
    assert found.sum.item() == pytest.approx(np.pi**2 / 6)

    def sphere(x: Any) -> Any:
        return xp.sum(x**2, axis=0)

    hessian = differentiate.hessian(sphere, xp.asarray([1.0, 2.0], dtype=xp.float64))
    assert type(hessian.ddf) is xp.PArray
    assert np.allclose(np.asarray(hessian.ddf), [[2, 0], [0, 2]])
