"""NumPy's ufuncs and their methods on our arrays: operations under the policy, or an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing.overrides import get_overridable_numpy_ufuncs

import promoarray as pa
from promoarray.backends.numpy.kernels import OF_UFUNC
from promoarray.errors import PromotionError
from promoarray.operations import OPERATIONS

INTS = np.array([[3, 1, 2], [5, 4, 9], [6, 7, 1], [0, 2, 2], [1, 8, 5]])
FLOATS = INTS / 8 - 0.3


def ours(values: Any) -> Any:
    return pa.asarray(np.array(values))


def same(found: Any, expected: Any) -> None:
    assert isinstance(found, pa.PArray)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(expected), strict=True)


def of(ufunc: np.ufunc, method: str, values: Any, **options: Any) -> Any:
    return getattr(ufunc, method)(values, **options)


EVERYWHERE = (np.add, np.multiply, np.maximum, np.minimum, np.fmax, np.fmin, np.subtract)
BITS = (np.bitwise_and, np.bitwise_or, np.bitwise_xor)
TRUTHS = (np.logical_and, np.logical_or, np.logical_xor)
INEXACT = (np.logaddexp, np.hypot, np.divide)


@pytest.mark.parametrize("ufunc", [*EVERYWHERE, *BITS, *TRUTHS, *INEXACT], ids=lambda u: u.__name__)
@pytest.mark.parametrize("method", ["reduce", "accumulate"])
def test_a_method_gives_what_numpys_gives(ufunc: np.ufunc, method: str) -> None:
    given = [INTS, INTS.astype(np.int8), INTS > 2] if ufunc not in INEXACT else []
    given += [FLOATS, FLOATS.astype(np.float32)] if ufunc not in BITS else []
    if ufunc is np.subtract:
        given = [values for values in given if values.dtype != np.bool]
    for values in given:
        for part in (values, values[:1], values[:2]):
            for axis in (0, 1, -1):
                with pa.no_escape():
                    found = of(ufunc, method, ours(part), axis=axis)
                same(found, of(ufunc, method, part, axis=axis))
            same(of(ufunc, method, ours(part)), of(ufunc, method, part))


def test_reductions_take_axes_dtype_and_keepdims() -> None:
    x = ours(INTS)
    for ufunc in (np.add, np.maximum, np.bitwise_or, np.logical_xor, np.fmin):
        for options in ({"axis": None}, {"axis": (0, 1)}, {"axis": 1, "keepdims": True}):
            same(ufunc.reduce(x, **options), ufunc.reduce(INTS, **options))
    same(np.add.reduce(x, dtype=np.float32), np.add.reduce(INTS, dtype=np.float32))
    begun = {"dtype": np.int8, "initial": 1}
    same(np.add.reduce(x, **begun), np.add.reduce(INTS, **begun))
    same(np.add.accumulate(x, 1, np.float32), np.add.accumulate(INTS, 1, np.float32))
    same(np.add.reduce(ours(3)), np.add.reduce(np.asarray(3)))
    for ufunc in (np.add, np.bitwise_or):
        untouched = ufunc.reduce(x, (), keepdims=True)
        same(untouched, INTS)
        assert not np.shares_memory(untouched, x)
    with pytest.raises(ValueError, match="not reorderable"):
        np.subtract.reduce(x, axis=None)
    with pytest.raises(ValueError, match="zero-size array to reduction operation"):
        np.fmax.reduce(x[:0])
    with pytest.raises(ValueError, match="out of bounds"):
        np.add.reduce(x, axis=2)


def test_a_reduction_obeys_the_policy() -> None:
    x = pa.asarray([100, 100], dtype=pa.int8)
    with pa.policy("paddle"):
        assert np.add.reduce(x).item() == -56
    t = pa.namespace("torch").asarray([1, 2])
    assert np.add.reduce(t)._policy is t._policy
    assert np.logaddexp.reduce(t * 1.0).dtype is pa.float32
    with pytest.raises(PromotionError):
        np.copysign.reduce(pa.namespace("array_api").asarray([1, 2]))


def test_one_element_alone() -> None:
    same(np.hypot.reduce(ours([-3.0])), np.hypot.reduce(np.asarray([-3.0])))
    same(np.logical_xor.reduce(ours([5])), np.logical_xor.reduce(np.asarray([5])))
    same(np.divide.reduce(ours([5])), np.divide.reduce(np.asarray([5])))


@pytest.mark.parametrize("ufunc", [np.add, np.multiply, np.divide, np.less, np.hypot])
def test_outer_is_every_element_with_every_other(ufunc: np.ufunc) -> None:
    x, y = INTS[:2], FLOATS[0].astype(np.float32)
    for one, other in ((ours(x), ours(y)), (x, ours(y)), (ours(x), y)):
        same(ufunc.outer(one, other), ufunc.outer(x, y))
    same(ufunc.outer(ours(y), 2), ufunc(y, 2))  # NumPy makes an int64 array of the 2
    same(ufunc.outer(2, ours(y)), ufunc(2, y))


def test_two_results() -> None:
    for found, expected in zip(np.divmod(ours(INTS), 4), np.divmod(INTS, 4), strict=True):
        same(found, expected)


def test_a_ufunc_called_by_numpys_own_method() -> None:
    with pa.policy("torch"):
        clipped = np.arange(4, dtype=np.int8).clip(pa.asarray(1), 2)
    assert (type(clipped), clipped.tolist()) == (pa.PArray, [1, 1, 2, 2])


# --- Options and operands ------------------------------------------------------------------------


def test_options_that_ask_for_nothing_are_taken() -> None:
    x = ours(INTS)
    usual = {"out": None, "where": True, "casting": "same_kind", "order": "K", "dtype": None}
    same(np.add(x, x, **usual, subok=True), INTS + INTS)
    same(np.add(x, x, out=(None,)), INTS + INTS)
    same(np.add.reduce(x, initial=np._NoValue, where=True), np.add.reduce(INTS))
    same(np.vecdot(x, x, axis=0), np.vecdot(INTS, INTS, axis=0))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: np.add(x, 0.5, x), r"does not write float64 into an array of int64 in place"),
        (lambda x: np.add(x, x, out=np.zeros_like(INTS)), r"np\.add\(out=\) writes into a PArray"),
        (lambda x: np.add([1, 2], 3, out=x), r"not list; write pa\.asarray"),
        (lambda x: np.add(x, x, where=x > 2), r"np\.add\(where=\).*pa\.where\(mask"),
        (lambda x: np.add(x, x, where=None), r"np\.add\(where=\).*pa\.where\(mask"),
        (lambda x: np.less(x, x, dtype=np.float32), r"np\.less\(dtype=\).*pa\.astype"),
        (lambda x: np.add(x, 1.5, dtype=np.int8), r"np\.add\(dtype=int8\) of 1\.5.*pa\.astype"),
        (lambda x: np.add(x, x / 2, dtype=np.int8), r"of float64.*pa\.astype"),
        (lambda x: np.add(x, x, casting="unsafe"), r"np\.add\(casting=\)"),
        (lambda x: np.matmul(x, x.T, axes=[(0, 1)] * 3), r"np\.matmul\(axes=\)"),
        (lambda x: np.fmax.reduce(x, initial=5), r"fmax\.reduce takes no where= and no initial="),
        (lambda x: np.add.accumulate(x, out=INTS), r"np\.add\.accumulate\(out=\) writes into"),
        (lambda x: np.add.at(INTS, 0, x[0]), r"np\.add\.at writes into a PArray, not into ndarray"),
        (lambda x: np.add.at(x, 0, [1]), r"not list; write pa\.asarray"),
        (lambda x: np.add.at(x, 0, 0.5), r"may not be written into int64"),
        (lambda x: np.deg2rad.at(x, 0), r"np\.deg2rad\.at has no counterpart"),
        (lambda x: np.add.reduceat(x, [0, 1]), r"np\.add\.reduceat has no counterpart"),
        (lambda x: np.less.reduce(x), "less does not go on"),
        (lambda x: np.equal.accumulate(x), "equal does not go on"),
        (lambda x: np.deg2rad(x), r"np\.deg2rad has no counterpart.*x \* \(pa\.pi / 180\)"),
        (lambda x: np.gcd.reduce(x), r"np\.gcd\.reduce has no counterpart"),
        (lambda x: np.add(x, [1, 2, 3]), r"not list; write pa\.asarray"),
        (lambda x: np.add("a", x), r"not str; write pa\.asarray"),
    ],
)
def test_what_cannot_be_honoured_says_what_to_write(call: Callable[[Any], Any], words: str) -> None:
    x = ours(INTS)
    with pa.no_escape(), pytest.raises(TypeError, match=words):
        call(x)
    assert x.tolist() == INTS.tolist()


def test_a_dtype_is_what_operands_are_cast_to_before() -> None:
    x, y = INTS.astype(np.int8), FLOATS.astype(np.float32)
    for ufunc in (np.add, np.divide, np.maximum, np.hypot):
        same(ufunc(ours(x), ours(y), dtype=np.float64), ufunc(x, y, dtype=np.float64))
        same(ufunc(ours(x), 2, dtype=np.float32), ufunc(x, 2, dtype=np.float32))
    same(np.exp(ours(x), dtype=np.float32), np.exp(x, dtype=np.float32))
    t = pa.namespace("torch").asarray(x)
    assert np.add(t, t, dtype=pa.bfloat16).dtype is pa.bfloat16


def test_numpys_arrays_do_not_take_results_in_place() -> None:
    target = np.ones(3)
    with pytest.raises(TypeError, match=r"Write a = a \+ x, or a \+= np\.asarray\(x\)"):
        target += pa.ones(3)
    assert target.tolist() == [1, 1, 1]
    target = target + pa.ones(3)
    assert isinstance(target, pa.PArray)


@pytest.mark.parametrize("policy", ["numpy", "aclnn", "jax"])
def test_scalars_and_arrays_of_numpys_on_either_side(policy: str) -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    with pa.policy(policy):
        for other in (np.float32(2), np.float64(2), np.int16(2), np.ones(2, np.float16)):
            wrapped = pa.asarray(other)
            for found, expected in (
                (other - x, wrapped - x),
                (x - other, x - wrapped),
                (np.subtract(other, x), wrapped - x),
            ):
                assert (found.dtype, found.tolist()) == (expected.dtype, expected.tolist())


def test_masked_arrays_are_refused_from_both_sides() -> None:
    x, masked = pa.asarray([1, 2]), np.ma.array([1, 2], mask=[True, False])
    for call in (
        lambda: x + masked,
        lambda: masked + x,
        lambda: np.add(masked, x),
        lambda: np.add(x, masked),
        lambda: np.concatenate([masked, x]),
        lambda: np.where(masked > 1, x, x),
    ):
        with pytest.raises(TypeError, match=r"x\.filled\(\.\.\.\)"):
            call()


def test_every_ufunc_of_numpy_is_an_operation_or_says_what_to_write() -> None:
    x = pa.asarray([1.0, 2.0])
    for ufunc in get_overridable_numpy_ufuncs() - {*OF_UFUNC, np.divmod}:
        name = ufunc.__name__
        if name == "clip":
            continue
        public = getattr(np, name, None) is ufunc  # else one that np.strings makes use of
        words = (
            rf"^np\.{name} has no counterpart" if public else rf"^the ufunc {name} would compute"
        )
        with pytest.raises(TypeError, match=words) as caught:
            x.__array_ufunc__(ufunc, "__call__", *[x] * ufunc.nin)
        assert "np.asarray(x)" in str(caught.value)
    assert {*OF_UFUNC.values()} <= {*OPERATIONS}


# --- Into arrays ---------------------------------------------------------------------------------


def test_results_are_written_into_out() -> None:
    x, out = ours(INTS), ours(np.zeros_like(INTS))
    assert np.multiply(x, x, out) is out
    same(out, INTS * INTS)
    assert np.add(x, 1, out=out, where=x > 2) is out
    same(out, np.add(INTS, 1, out=INTS * INTS, where=INTS > 2))
    quotient, rest = np.divmod(x, 4, out=(out, None))
    assert quotient is out
    same(quotient, INTS // 4)
    same(rest, INTS % 4)
    row = ours(np.zeros(3, np.int64))
    assert np.maximum.reduce(x, out=row) is row
    same(row, INTS.max(0))
    same(np.add.accumulate(x, 1, out=out), INTS.cumsum(1))
    same(np.add.reduce(x, where=x > 2, initial=9), np.add.reduce(INTS, where=INTS > 2, initial=9))
    same(np.maximum.reduce(x, 1, initial=4, keepdims=True), INTS.max(1, initial=4, keepdims=True))


def test_an_operand_may_be_written_into() -> None:
    x = ours(INTS)
    assert np.subtract(1, x, out=x) is x
    same(x, 1 - INTS)


KEYS: list[Any] = [
    np.array([0, 4, 0, 0, 2]),
    (np.array([0, 1, 0, 1]), np.array([2, 2, 2, 0])),
    (slice(1, 4), np.array([1, 1])),
    INTS > 2,
    -1,
    ...,
    np.array([], np.int64),
]


@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_at_takes_an_index_as_often_as_it_is_there(key: Any) -> None:
    rng = np.random.default_rng(3)
    for ufunc in (np.add, np.subtract, np.multiply, np.maximum, np.negative):
        theirs = INTS.copy()
        x = ours(INTS)
        values = [rng.integers(-4, 5, theirs[key].shape)] if ufunc.nin == 2 else []
        ufunc.at(theirs, key, *values)
        assert ufunc.at(x, key, *map(ours, values)) is None
        same(x, theirs)


def test_at_with_our_index_and_one_value() -> None:
    x = pa.zeros(3, dtype=pa.bfloat16)
    np.add.at(x, pa.asarray([0, 2, 2]), 0.5)
    assert (x.dtype, x.tolist()) == (pa.bfloat16, [0.5, 0.0, 1.0])
    point = pa.asarray(1.0)
    np.add.at(point, (), 2.0)
    assert point.tolist() == 3.0


def test_at_leaves_the_array_as_it_was_where_it_is_refused() -> None:
    for key, value, error in (([0, 9], 1, IndexError), ([0], 0.5, PromotionError)):
        x = ours(INTS)
        with pytest.raises(error):
            np.add.at(x, key, value)
        same(x, INTS)


@pytest.mark.parametrize("ufunc", [*EVERYWHERE, *BITS, *TRUTHS, *INEXACT], ids=lambda u: u.__name__)
def test_a_reduction_of_no_axes_has_the_dtype_of_the_operation(ufunc: np.ufunc) -> None:
    for values, options in ((-3, {}), ([[-3, 2]], {"axis": ()}), (-3, {"keepdims": True})):
        x = np.array(values, np.int8)
        made = ufunc.reduce(pa.asarray(x), **options)
        same(made, ufunc.reduce(x, **options))
        made[...] = 0
    y = ours(np.array([3], np.int8))
    np.bitwise_or.reduce(y, axis=())[...] = 0
    assert y.tolist() == [3]
