"""Methods that NumPy's arrays have: NumPy's arguments, and our functions under the policy."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from outcomes import outcome

import promoarray as pa
from promoarray.array_methods import _TABLE, add_methods
from promoarray.array_methods.functions import _any_arguments, _function

ROWS = {row.split()[0]: row.split()[1:] for row in _TABLE.strip().splitlines()}
METHODS = [*ROWS]


def written(parameters: list[str]) -> list[str]:
    """The names of parameters."""
    return [word.partition("=")[0] for word in parameters if word != "*"]


CALLS: dict[str, list[Callable[[Any], Any]]] = {
    "all": [lambda x: x.all(), lambda x: x.all(1), lambda x: x.all(axis=0, keepdims=True)],
    "any": [lambda x: x.any(), lambda x: x.any((0, 1)), lambda x: x.any(0, None, True)],
    "argmax": [lambda x: x.argmax(), lambda x: x.argmax(1, keepdims=True)],
    "argmin": [lambda x: x.argmin(), lambda x: x.argmin(axis=0)],
    "argsort": [lambda x: x.argsort(), lambda x: x.argsort(0, "stable")],
    "clip": [lambda x: x.clip(1, 3), lambda x: x.clip(max=2), lambda x: x.clip(min=2)],
    "conj": [lambda x: x.conj()],
    "conjugate": [lambda x: x.conjugate()],
    "copy": [lambda x: x.copy(), lambda x: x.copy("K")],
    "cumprod": [lambda x: x.cumprod(), lambda x: x.cumprod(1)],
    "cumsum": [lambda x: x.cumsum(), lambda x: x.cumsum(0, np.float32)],
    "dot": [
        lambda x: x.dot(x.T),
        lambda x: x.dot(x[0]),
        lambda x: x.dot(np.arange(24).reshape(2, 3, 4)[..., :2]),
        lambda x: x[0, 0, ...].dot(x),
    ],
    "fill": [lambda x: filled(x, 7)],
    "flatten": [lambda x: x.flatten(), lambda x: x.T.flatten()],
    "max": [lambda x: x.max(), lambda x: x.max(1, keepdims=True)],
    "mean": [lambda x: x.mean(), lambda x: x.mean(0, "float32"), lambda x: x.mean((0, 1))],
    "min": [lambda x: x.min(), lambda x: x.min(axis=-1)],
    "nonzero": [lambda x: x.nonzero()],
    "prod": [lambda x: x.prod(), lambda x: x.prod(0, dtype="int32")],
    "ravel": [lambda x: x.ravel(), lambda x: x.T.ravel()],
    "repeat": [lambda x: x.repeat(2), lambda x: x.repeat([1, 0, 2], axis=1)],
    "round": [lambda x: x.round(), lambda x: x.round(2), lambda x: (x / 8).round(2)],
    "searchsorted": [lambda x: x[1].searchsorted([2, 5]), lambda x: x[1].searchsorted(4, "right")],
    "sort": [lambda x: sorted_in_place(x), lambda x: sorted_in_place(x, 0)],
    "squeeze": [lambda x: x.squeeze(), lambda x: x[:1].squeeze(), lambda x: x[:, :1].squeeze(1)],
    "std": [lambda x: x.std(), lambda x: x.std(1, ddof=1), lambda x: x.std(0, "float32", None, 1)],
    "sum": [lambda x: x.sum(), lambda x: x.sum(0, "int8"), lambda x: x.sum(-1, keepdims=True)],
    "swapaxes": [lambda x: x.swapaxes(0, 1), lambda x: x[None].swapaxes(-1, 0)],
    "take": [lambda x: x.take([5, 0]), lambda x: x.take([[1, 0]], 0), lambda x: x.take(1, axis=1)],
    "transpose": [
        lambda x: x.transpose(),
        lambda x: x.transpose(1, 0),
        lambda x: x[None].transpose((2, 0, 1)),
    ],
    "var": [lambda x: x.var(), lambda x: x.var(0, ddof=1, keepdims=True)],
}  # fmt: skip


def filled(x: Any, value: Any) -> Any:
    assert x.fill(value) is None
    return x


def sorted_in_place(x: Any, axis: int = -1) -> Any:
    assert x.sort(axis) is None
    return x


def test_every_method_is_called_here() -> None:
    assert list(CALLS) == METHODS


@pytest.mark.parametrize("name", METHODS)
def test_arguments_values_and_dtypes_are_numpys(name: str) -> None:
    for dtype in ("int8", "float32", "bool", "complex64"):
        theirs = np.array([[3, 0, 2], [1, 4, 5]]).astype(dtype)
        if name == "searchsorted":
            theirs.sort()
        for call in CALLS[name]:
            try:
                wanted = call(theirs.copy())
            except (TypeError, np.exceptions.ComplexWarning):
                continue  # of bool or complex numbers
            found = call(pa.asarray(theirs.copy()))
            if isinstance(wanted, tuple):
                assert [f.tolist() for f in found] == [w.tolist() for w in wanted]
                continue
            assert (found.dtype.name, found.shape) == (wanted.dtype.name, wanted.shape)
            np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-6)


@pytest.mark.parametrize("policy", ["torch", "jax", "paddle"])
def test_methods_go_by_the_policy(policy: str) -> None:
    xp = pa.namespace(policy)
    x = xp.asarray([[1, 2], [3, 4]], dtype=pa.int8)
    assert x.sum().dtype is xp.sum(x).dtype
    assert x.cumsum().dtype is xp.cumulative_sum(x[0]).dtype
    assert {type(y) for y in (x.sum(), x.copy(), x.dot(x), x.T, x.real)} == {xp.PArray}
    ones = xp.ones(2, dtype=pa.float32)
    assert ones.dot([1.5, 2.0]).dtype is xp.matmul(ones, xp.asarray([1.5, 2.0])).dtype
    with pytest.raises(pa.PromotionError, match="mean"):
        pa.namespace("torch").asarray(x).mean()
    assert pa.namespace("torch").asarray(x).mean(dtype="float32").item() == 2.5


def test_signatures_are_numpys() -> None:
    for name in METHODS:
        ours = inspect.signature(getattr(pa.PArray, name))
        method = getattr(pa.PArray, name)
        assert (method.__name__, method.__qualname__) == (name, f"PArray.{name}")
        assert "under the policy" in method.__doc__.lower() or "promoarray." in method.__doc__
        try:
            theirs = inspect.signature(getattr(np.ndarray, name))
        except ValueError:  # older NumPy tells none
            continue
        for key, parameter in ours.parameters.items():
            if key != "self" and parameter.kind is not parameter.VAR_POSITIONAL:
                assert {key, "kwargs"} & theirs.parameters.keys(), f"{name}: {key}"


def test_memory_is_shared_where_numpys_is() -> None:
    for name in ("ravel", "squeeze", "transpose", "flatten", "copy"):
        buffer = np.zeros((1, 3))
        x = pa.asarray(buffer)
        wanted = np.shares_memory(getattr(buffer, name)(), buffer)
        assert np.shares_memory(np.asarray(getattr(x, name)()), np.asarray(x)) is wanted, name


def test_real_and_imag() -> None:
    z = pa.asarray([1 + 2j, 3j], dtype=pa.complex64)
    assert (z.real.tolist(), z.imag.tolist(), z.real.dtype) == ([1, 0], [2, 3], pa.float32)
    x = pa.namespace("onnx").asarray([1, 2])
    assert x.real is x
    assert x.imag.tolist() == [0, 0]


def test_a_subclass_reaches_the_method_that_it_overrides() -> None:
    """Also where it has not been made yet: methods are when they are first asked for."""

    class Arrays(pa.PArray):
        pass

    add_methods(Arrays)

    class Mine(Arrays):
        def sum(self, **options: Any) -> Any:
            return super().sum(**options) * 2

    x = Mine._wrap(np.ones(3, np.float32), pa.float32)
    assert (float(x.sum()), float(x.sum())) == (6, 6)


def test_wrong_arguments_are_told() -> None:
    x = pa.zeros((2, 3))
    x.sum(0), x.sum(axis=1)  # what was met before is no answer to them
    cases: list[tuple[Callable[[], Any], str]] = [
        (lambda: x.sum(dim=1), r"x\.sum takes no dim=; write axis="),
        (lambda: x.sum(keepdim=True), r"takes no keepdim=; write keepdims="),
        (lambda: x.sum(nothing=1), r"takes no nothing=$"),
        (lambda: x.sum(0, axis=1), "given axis twice"),
        (lambda: x.sum(0, None, None, True, 5), "at most 4 by position, not 5"),
        (lambda: x.sum(out=x), r"write y\[\.\.\.\] = x\.sum"),
        (lambda: x.flatten("F"), "takes no order='F'"),
        (lambda: x.take([0], mode="wrap"), "takes no mode='wrap'"),
        (lambda: x.swapaxes(0), "needs axis2"),
        (lambda: pa.asarray([15]).round(-1), r"x\.astype"),
    ]
    for call, words in cases:
        with pytest.raises(TypeError, match=words):
            call()
    with pytest.raises(np.exceptions.AxisError, match="axis 2 is out of bounds for array of dim"):
        x.sum(2)


def test_numpy_users_script() -> None:
    x = pa.asarray([[1.0, 2.0], [3.0, 4.0]])
    centred = x - x.mean(axis=0)
    scaled = centred / x.std(axis=0, ddof=1)
    assert scaled.round(3).tolist() == [[-0.707, -0.707], [0.707, 0.707]]
    assert x.reshape(-1).cumsum().max().item() == 10.0


def test_numpys_own_reductions_call_the_methods() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    for name in ("sum", "mean", "max", "cumsum", "squeeze", "transpose"):
        found = getattr(np, name)(pa.namespace("torch").asarray(x.astype(pa.float32)))
        assert found.dtype is pa.float32


VALUES: dict[str, list[Any]] = {
    "axis": [None, 0, -1, (0, 1), 2, "0"],
    "keepdims": [True],
    "ddof": [1, 0.5],
    "dtype": [None, np.float32],
    "out": [None],
    "kind": [None, "stable"],
    "stable": [True],
    "side": ["left", "right", "middle"],
    "sorter": [None],
    "min": [1],
    "max": [2, None],
    "decimals": [0, 1],
    "repeats": [2],
    "axis1": [0],
    "axis2": [1],
    "v": [2.5],
    "indices": [1],
    "nothing": [1],
}
"""What is given for a parameter; each of the methods whose parameters are all here is tried."""
TRIED = [name for name in METHODS if ROWS[name] and {*written(ROWS[name])} <= VALUES.keys()]


def spelled(name: str) -> Iterator[tuple[tuple[Any, ...], dict[str, Any]]]:
    """All ways to write up to three arguments, one of them perhaps unknown or given twice."""
    names = written(ROWS[name])
    for count in range(min(len(names), 3) + 1):
        for first in product(*(VALUES[key] for key in names[:count])):
            yield first, {}
            for more in range(1, 4 - count):
                for keys in combinations((*names, "nothing"), more):
                    for values in product(*(VALUES[key] for key in keys)):
                        yield first, dict(zip(keys, values, strict=True))


@pytest.mark.parametrize("name", TRIED)
def test_however_arguments_are_written(name: str) -> None:
    """What is passed on by name answers, or fails, as what looks at every argument."""
    x = pa.asarray([[3.0, 0.0], [1.0, 4.0]])
    x = x[1] if name == "searchsorted" else x
    method = getattr(pa.PArray, name)
    row = {"names": written(ROWS[name]), "in_order": written(ROWS[name])}
    if "*" in ROWS[name]:
        row["in_order"] = written(ROWS[name][: ROWS[name].index("*")])
    needed = [key for key in ROWS[name] if "=" not in key and key != "*"]
    slow = _any_arguments(name, **row, needed=needed, function=_function(name))
    ways = 0
    for args, options in spelled(name):
        wanted = outcome(lambda a=args, o=options: slow(x, *a, **o))
        found = outcome(lambda a=args, o=options: method(x, *a, **o))
        assert found == wanted, (args, options)
        ways += 1
    assert ways > 3
