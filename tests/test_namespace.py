"""Namespaces bound to a policy, and the arrays that stay in them."""

from __future__ import annotations

import copy
import functools
import inspect
import operator
import pickle
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.policies import as_policy

FAMILIES = ("numpy", "jax", "torch", "tensorflow", "paddle", "aclnn", "onnx", "array_api")


@pytest.mark.parametrize(
    ("bare", "full"),
    [
        ("numpy", "numpy@2"),
        ("jax", "jax@x64"),
        ("torch", "torch@2.13"),
        ("aclnn", "aclnn@8.0"),
        ("onnx", "onnx@25"),
    ],
)
def test_a_bare_family_and_its_first_edition_are_one_namespace(bare: str, full: str) -> None:
    assert pa.namespace(bare) is pa.namespace(full) is pa.namespace(as_policy(full))
    assert pa.namespace(bare).__name__ == f"promoarray.{full}"


def test_namespaces_are_one_object_a_policy_with_names_of_their_own() -> None:
    names = pa.list_policies()
    made = [pa.namespace(name) for name in names]
    assert len({xp.__name__ for xp in made}) == len(set(made)) == len(names)
    assert all(pa.namespace(name) is xp for name, xp in zip(names, made, strict=True))
    assert pa.__name__ == "promoarray"
    assert repr(pa.namespace("torch")) == "<namespace promoarray.torch@2.13>"


def test_an_unknown_policy_is_answered_with_near_names() -> None:
    with pytest.raises(pa.UnknownPolicyError, match="torch"):
        pa.namespace("trch")
    with pytest.raises(ValueError, match=r"torch@2\.13"):
        pa.namespace("torch@9")
    with pytest.raises(TypeError, match="a name or a Policy"):
        pa.namespace(3)  # type: ignore[arg-type]


@pytest.mark.parametrize("family", FAMILIES)
def test_results_stay_bound_whatever_policy_is_in_force(family: str) -> None:
    xp = pa.namespace(family)
    x = xp.ones((2, 2), dtype=pa.float32)
    outs = [x + x, x * 2.0, 2.0 * x, -x, x == x, x[0], x[0, 0], x.T, x.mT, x.reshape(4), abs(x)]
    outs += [x.astype("float16"), xp.sum(x), xp.where(x == x, x, x), xp.concat([x, x]), x @ x]
    outs += [pa.sqrt(x), pa.add(x, x), pa.zeros_like(x), pa.flip(x), pa.asarray(x), np.add(x, x)]
    outs += [*xp.unstack(x), *xp.meshgrid(x[0]), *xp.nonzero(x), *xp.broadcast_arrays(x, x)]
    outs += [copy.copy(x), copy.deepcopy(x), pickle.loads(pickle.dumps(x)), x + np.ones(2, "f4")]
    outs += [
        x.to_device("cpu"),
        xp.from_dlpack(np.ones(2)),
        xp.asarray([x[0], x[1]]),
        next(iter(x)),
    ]
    assert {type(out) for out in outs} == {type(x)}
    assert {out.__array_namespace__() for out in outs} == {xp}
    x += x
    assert type(x) is xp.PArray


def test_bound_arrays_obey_their_policy_and_not_the_one_in_force() -> None:
    x = pa.namespace("torch").ones(2, dtype=pa.int8)
    assert (x + 1.5).dtype is pa.float32
    with pa.policy("jax"):
        assert (x + 1.5).dtype is (x / x).dtype is pa.mean(x + 1.5).dtype is pa.float32
        assert not (x + 1.5).weak_type
    x32 = pa.namespace("jax@x32")
    assert x32.asarray([1.5]).dtype is pa.float32
    assert pa.asarray(x32.asarray([1.5]), dtype=pa.float64).dtype is pa.float32
    assert pa.zeros_like(x32.asarray([1.5]), dtype=pa.float64).dtype is pa.float32


def test_an_unbound_array_or_numpy_array_joins_the_bound_one() -> None:
    xp = pa.namespace("torch")
    x, y = xp.ones(2, dtype=pa.int8), pa.ones(2, dtype=pa.float64)
    for out in (x + y, y + x, x + np.ones(2), np.float32(1) + x, xp.add(y, y), xp.asarray(y)):
        assert type(out) is xp.PArray
    y += x
    assert type(y) is pa.PArray
    y[:] = x
    assert y.tolist() == [1.0, 1.0]


def test_arrays_of_two_namespaces_do_not_mix() -> None:
    x, y = pa.namespace("torch").ones(2), pa.namespace("jax").ones(2)
    match = r"namespaces jax@x64 and torch@2\.13 do not mix"
    torch = pa.namespace("torch")
    index = pa.namespace("jax").asarray([0, 1])
    calls = [
        lambda: torch.sin(y),
        lambda: torch.add(y, y),
        lambda: torch.concat([y, y]),
        lambda: torch.linalg.det(pa.namespace("jax").ones((2, 2))),
        lambda: torch.full_like(torch.ones(2), fill_value=y[0]),
        lambda: pa.full_like(x, y[0]),
        lambda: x[index],
        lambda: x[index, ...],
        lambda: x.__setitem__(index, 0.0),
        lambda: pa.linalg.pinv(torch.ones((2, 2)), rtol=y[0]),
        lambda: pa.linalg.matrix_rank(torch.ones((2, 2)), rtol=y[0]),
        lambda: x + y,
        lambda: pa.add(x, y),
        lambda: pa.where(x == x, x, y),
        lambda: pa.concat([x, y]),
        lambda: pa.asarray([x[0], y[0]]),
        lambda: pa.meshgrid(x, y),
        lambda: pa.broadcast_arrays(x, y),
        lambda: pa.repeat(x, y),
        lambda: pa.searchsorted(x, x, sorter=y),
        lambda: pa.result_type(x, y),
        lambda: x.__iadd__(y),
        lambda: x.__setitem__(slice(None), y),
        lambda: np.add(x, y),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=match):
            call()
    assert x.tolist() == [1.0, 1.0]
    moved = pa.namespace("torch").asarray(np.asarray(y))
    assert type(x + moved) is type(x)


def test_pickling_keeps_namespaces_and_bindings() -> None:
    xp = pa.namespace("torch")
    for thing in (xp, xp.linalg):
        assert pickle.loads(pickle.dumps(thing)) is thing
    assert copy.deepcopy({"xp": xp})["xp"] is xp
    for name in ("add", "asarray", "linalg.det", "fft.rfft", "explain"):
        function = operator.attrgetter(name)(xp)
        assert pickle.loads(pickle.dumps(function)) is copy.deepcopy(function) is function
    doubled = pickle.loads(pickle.dumps(functools.partial(xp.multiply, 2)))
    with pa.policy("numpy"):
        assert doubled(xp.asarray([1.5])).__array_namespace__() is xp
    assert pickle.loads(pickle.dumps(xp.ones(2))).__array_namespace__() is xp


def test_what_is_bound_to_a_policy_that_is_not_registered_does_not_pickle() -> None:
    xp = pa.namespace(as_policy("torch").derive("mine@3"))
    for thing in (xp, xp.sin, xp.linalg.det):
        with pytest.raises(
            pickle.PicklingError, match=r"bound to the policy 'mine@3', which is not"
        ):
            pickle.dumps(thing)
        assert copy.deepcopy(thing) is thing


def test_a_namespace_has_every_name_with_its_signature() -> None:
    xp = pa.namespace("paddle")
    names = pa.__all__
    missing = [name for name in names if not hasattr(xp, name)]
    assert not missing
    functions = [n for n in names if inspect.isroutine(getattr(pa, n))]
    assert len(functions) > 100
    different = [
        n
        for n in functions
        if inspect.signature(getattr(xp, n)) != inspect.signature(getattr(pa, n))
        or getattr(xp, n).__name__ != n
        or getattr(xp, n).__doc__ != getattr(pa, n).__doc__
    ]
    assert not different
    assert set(dir(xp)) >= set(names)
    with pytest.raises(AttributeError, match="nothing_of_this_name"):
        _ = xp.nothing_of_this_name


def test_dtypes_and_constants_are_the_same_objects() -> None:
    xp = pa.namespace("jax")
    for name in ("int8", "bfloat16", "bool", "pi", "newaxis", "DType", "PromotionError", "e"):
        assert getattr(xp, name) is getattr(pa, name)
    assert xp.__array_api_version__ == pa.__array_api_version__
    assert xp.asarray is xp.asarray  # bound once
    assert xp.set_policy is pa.set_policy


def test_the_class_of_a_namespace_makes_bound_arrays() -> None:
    xp = pa.namespace("torch")
    x = xp.PArray([1.5])
    assert type(x) is xp.PArray is type(pa.PArray([1.5], policy="torch"))
    assert issubclass(xp.PArray, pa.PArray)
    assert x.dtype is pa.float32
    assert pa.PArray(1, weak_type=True).weak_type
    assert pa.PArray([1], dtype="bfloat16").dtype is pa.bfloat16


def test_extensions_are_bound_too() -> None:
    xp = pa.namespace("torch")
    out = xp.linalg.matmul(pa.ones((2, 2)), pa.ones((2, 2)))
    assert type(out) is xp.PArray
    loss = xp.extras.l1_loss(xp.ones(2), xp.zeros(2))
    assert type(loss) is xp.PArray
    assert xp.linalg is xp.linalg


def test_questions_are_answered_for_the_namespace() -> None:
    assert pa.namespace("torch").result_type(pa.int8, 1.5) is pa.float32
    assert pa.namespace("numpy").result_type(pa.int8, 1.5) is pa.float64
    assert pa.namespace("torch").promote_types("bfloat16", "float16") is pa.float32


def test_the_standards_functions_can_be_called_by_keyword() -> None:
    xp = pa.namespace("numpy")
    assert xp.asarray([1], dtype=xp.int8, copy=True).dtype is xp.int8
    assert xp.sum(xp.ones((2, 2)), axis=0, dtype=xp.float32, keepdims=True).shape == (1, 2)
    with pytest.raises(TypeError, match="positional"):
        xp.add(x1=1, x2=2)


def test_the_condition_of_where_counts_for_the_binding() -> None:
    torch, jax = pa.namespace("torch"), pa.namespace("jax")
    mask = torch.asarray([True, False])
    assert repr(pa.where(mask, 1, 1.5)).endswith("dtype=float32, policy='torch@2.13')")
    with pytest.raises(TypeError, match="do not mix"):
        pa.where(mask, jax.asarray([1, 2]), 0)


def test_asarray_takes_arrays_from_one_namespace_to_another() -> None:
    torch, jax = pa.namespace("torch"), pa.namespace("jax@x32")
    x = jax.asarray([1.5, 2.5])
    moved = torch.asarray(x)
    assert (type(moved), moved.dtype) == (torch.PArray, pa.float32)
    assert np.shares_memory(np.asarray(moved), np.asarray(x))
    assert type(torch.from_dlpack(x)) is torch.PArray
    assert type(torch.asarray([[x[0], 1.0], [x[1], 2.0]])) is torch.PArray
    assert torch.asarray(x, dtype=pa.float64).dtype is pa.float64  # x32 would have made float32
    assert jax.asarray(torch.asarray([1], dtype=pa.int64)).dtype is pa.int32
    assert type(x) is jax.PArray
    assert type(moved + 1) is torch.PArray


def test_results_of_several_parts_are_bound_too() -> None:
    xp = pa.namespace("torch")
    found = xp.unique_counts(xp.asarray([1, 1, 2]))
    assert found._fields == ("values", "counts")
    assert {type(part) for part in found} == {xp.PArray}


def test_what_a_namespace_tells_about_itself_is_its_policys() -> None:
    with pa.policy("numpy"):
        defaults = pa.namespace("torch").__array_namespace_info__().default_dtypes()
        assert defaults["real floating"] is pa.float32
        assert pa.__array_namespace_info__().default_dtypes()["real floating"] is pa.float64
    with pa.policy("torch"):
        assert pa.__array_namespace_info__().default_dtypes()["real floating"] is pa.float32


@pytest.mark.parametrize("policy", pa.list_policies())
def test_the_default_float_is_that_of_zeros(policy: str) -> None:
    xp = pa.namespace(policy)
    default = xp.__array_namespace_info__().default_dtypes()["real floating"]
    assert default is xp.zeros(2).dtype is xp.fft.fftfreq(4).dtype


def test_what_has_no_fast_path_leaves_the_policy_in_force_as_it_was() -> None:
    xp = pa.namespace("torch")
    with pa.policy("jax"):
        before = pa.get_policy()
        assert type(xp.zeros(2)) is xp.PArray
        assert pa.get_policy() is before
        with pytest.raises(TypeError, match="a shape is an int"):
            xp.zeros("two")
        assert pa.get_policy() is before
        assert pa.zeros(2, dtype=None).dtype is pa.float64


def test_a_block_that_goes_on_is_not_left_with_the_function() -> None:
    inner = pa.policy("paddle")

    class Entering:
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            inner.__enter__()
            return np.ones(2, np.float32)

    with pa.policy("jax"):
        x = pa.namespace("torch").asarray(Entering())
        assert x.__array_namespace__() is pa.namespace("torch")
        assert pa.get_policy().name == "paddle"
        inner.__exit__(None, None, None)
        assert pa.get_policy().name.startswith("jax")


@pytest.mark.parametrize("depth", [1, 7, 8, 9, 30])
def test_arrays_of_another_namespace_are_refused_however_deep_they_lie(depth: int) -> None:
    nested: Any = pa.namespace("jax").ones(2)
    for _ in range(depth):
        nested = [pa.ones(2), nested] if depth % 2 else (nested,)
    with pytest.raises(TypeError, match="do not mix"):
        pa.namespace("torch").broadcast_arrays(pa.ones(2), nested)
