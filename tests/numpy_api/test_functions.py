"""NumPy's functions of our arrays: ours under the policy, or an error that says what to write."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.testing.overrides import get_overridable_numpy_array_functions
from numpy_calls import CALLS, INTS

import promoarray as pa
from promoarray.errors import PromotionError
from promoarray.numpy_api.functions import SEVERAL
from promoarray.numpy_api.table import rows
from promoarray.other_names import COUNTERPARTS

for _lazy in ("fft", "char", "rec", "strings", "polynomial", "lib.recfunctions", "lib.scimath"):
    importlib.import_module(f"numpy.{_lazy}")  # each says what it has when it is imported

TEXTS = ("array_repr", "array_str")  # ours say what they are


def numpys(values: Any, dtype: Any = None) -> Any:
    return np.asarray(values, dtype=dtype)


def ours(values: Any, dtype: Any = None) -> Any:
    return pa.asarray(numpys(values, dtype))


def same(found: Any, expected: Any) -> None:
    """Compare arrays bit by bit but for the last ones, and sequences of them."""
    if isinstance(expected, (tuple, list)):
        assert type(found) is type(expected)
        assert len(found) == len(expected)
        for one, other in zip(found, expected, strict=True):
            same(one, other)
    elif isinstance(expected, (np.ndarray, np.generic)):
        assert isinstance(found, pa.PArray)
        assert found.dtype == expected.dtype
        np.testing.assert_allclose(
            np.asarray(found), np.asarray(expected), rtol=1e-14, atol=1e-15, strict=True
        )
    else:
        assert (type(found), found) == (type(expected), expected)


@pytest.mark.filterwarnings("ignore:numpy.fix is deprecated:DeprecationWarning")  # by NumPy 2.5
@pytest.mark.parametrize("name", CALLS)
def test_a_function_gives_what_numpy_gives_and_nothing_leaves(name: str) -> None:
    if rows()[name].ours.startswith("xpx."):
        pytest.importorskip("array_api_extra")
    for call in CALLS[name]:
        with pa.no_escape():
            found = call(ours)
        same(found, call(numpys))


def test_every_function_of_the_table_is_called() -> None:
    assert {*rows()} == {*CALLS, *TEXTS}
    for name, row in rows().items():
        assert bool(row.ours) != (name in SEVERAL), name


def test_texts() -> None:
    x = pa.asarray([1, 2], dtype=pa.int8)
    assert np.array_repr(x) == repr(x) == "PArray([1, 2], dtype=int8)"
    assert np.array_str(x) == str(x)


PAIRS = [
    ("np.mean(x)", "pa.mean(x)"),
    ("np.sum(x, axis=0)", "pa.sum(x, axis=0)"),
    ("np.std(x, ddof=1)", "pa.std(x, correction=1)"),
    ("np.max(x, keepdims=True)", "pa.max(x, keepdims=True)"),
    ("np.cumulative_sum(x, axis=1)", "pa.cumulative_sum(x, axis=1)"),
    ("np.where(x > 1, x, 0.5)", "pa.where(x > 1, x, 0.5)"),
    ("np.concatenate([x, y])", "pa.concat([x, y])"),
    ("np.stack([x, y], 1)", "pa.stack([x, y], axis=1)"),
    ("np.clip(x, 1, 2.5)", "pa.clip(x, 1, 2.5)"),
    ("np.sort(x)", "pa.sort(x)"),
    ("np.argmax(x, 0)", "pa.argmax(x, axis=0)"),
    ("np.dot(x, y.T)", "pa.matmul(x, y.T)"),
    ("np.linalg.norm(x, axis=1)", "pa.linalg.vector_norm(x, axis=1)"),
    ("np.fft.fft(x)", "pa.fft.fft(x)"),
    ("np.isin(x, y)", "pa.isin(x, y)"),
    ("np.zeros_like(x)", "pa.zeros_like(x)"),
    ("np.full(2, 1.5, like=x)", "pa.full(2, 1.5)"),
    ("np.arange(3, like=x)", "pa.arange(3)"),
    ("np.eye(2, like=x)", "pa.eye(2)"),
    ("np.ptp(x, axis=0)", "pa.max(x, axis=0) - pa.min(x, axis=0)"),
    ("np.add(x, y)", "x + y"),
    ("np.exp(x)", "pa.exp(x)"),
    ("np.add.reduce(x)", "pa.sum(x, axis=0)"),
    ("np.maximum.reduce(x, axis=None)", "pa.max(x)"),
    ("np.multiply.accumulate(x)", "pa.cumulative_prod(x, axis=0)"),
    ("np.multiply.outer(x, y)", "x[:, :, None, None] * y"),
    ("np.result_type(x, y)", "pa.result_type(x, y)"),
    ("np.result_type(x.dtype, y.dtype)", "pa.result_type(x.dtype, y.dtype)"),
    ("np.divmod(x, 2)", "(x // 2, x % 2)"),
]
POLICIES = ["numpy@1", "jax", "torch", "tensorflow", "paddle", "onnx", "array_api"]


def outcome(text: str, **names: Any) -> Any:
    """What an expression gives, or the error that it raises."""
    try:
        out = eval(text, {"np": np, "pa": pa, **names})
    except (PromotionError, OverflowError) as error:
        return type(error), str(error)
    return (type(out), repr(out)) if not isinstance(out, pa.PArray) else (out._policy, repr(out))


@pytest.mark.parametrize("policy", POLICIES)
def test_a_function_is_ours_under_every_policy(policy: str) -> None:
    for first, second in (("int8", "float32"), ("float32", "float32"), ("bfloat16", "int64")):
        x = pa.asarray(np.asarray(INTS, first if first != "bfloat16" else pa.bfloat16))
        y = pa.asarray(np.asarray(INTS, second))
        with pa.policy(policy):
            for theirs, own in PAIRS:
                assert outcome(theirs, x=x, y=y) == outcome(own, x=x, y=y), theirs


@pytest.mark.parametrize("policy", POLICIES)
def test_a_bound_array_computes_in_its_namespace(policy: str) -> None:
    xp = pa.namespace(policy)
    x, y = (xp.asarray(np.asarray(INTS, dtype)) for dtype in ("int8", "float32"))
    for theirs, own in PAIRS:
        if "x.dtype" not in theirs:  # which is bound to nothing
            found, expected = outcome(theirs, x=x, y=y), outcome(own, x=x, y=y, pa=xp)
            assert found == expected, theirs
            assert found[0] in (
                xp.policy,
                PromotionError,
                OverflowError,
                tuple,
                pa.float32.__class__,
            )


def test_a_mean_of_a_bound_array_is_refused_as_its_own() -> None:
    t = pa.namespace("torch").asarray([1, 2])
    with pytest.raises(PromotionError, match="has no mean of int64") as ours:
        pa.mean(t)
    with pytest.raises(PromotionError) as numpys:
        np.mean(t)
    assert str(numpys.value) == str(ours.value)


def test_what_is_not_nan_is_refused_as_all_of_it() -> None:
    x = pa.namespace("torch").asarray([1.0, float("nan")], dtype=pa.float8_e5m2)
    for function in (np.std, np.nanstd, np.var, np.nanvar):
        with pytest.raises(PromotionError, match="std and var take bfloat16"):
            function(x)


def test_arrays_of_two_namespaces_do_not_mix() -> None:
    x, y = (pa.namespace(policy).ones(2) for policy in ("torch", "jax"))
    with pytest.raises(TypeError, match="do not mix"):
        np.concatenate([x, y])


def test_numpys_arrays_take_part_and_do_not_decide() -> None:
    x = pa.namespace("torch").asarray([1, 2], dtype=pa.int8)
    out = np.concatenate([np.ones(1, np.float32), x])
    assert (type(out), out.dtype) == (type(x), pa.float32)
    out = np.where(np.array([True, False]), x, np.float16(1))
    assert (type(out), out.dtype) == (type(x), pa.float32)  # as of a Python float


def test_numpys_arrays_are_bound_by_the_call() -> None:
    t = pa.namespace("torch").asarray([1.0, 2.0], dtype=pa.float32)
    for out in (
        np.append(np.ones(2, np.int64), t),
        np.isclose(np.ones(2, np.int64), t),
        np.average(np.ones(2, np.int64), weights=t),
        np.vdot([1.0, 2.0], t),
    ):
        assert type(out) is type(t)


def test_other_arrays_are_asked() -> None:
    class Theirs:
        def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
            return func.__name__, len(types)

        def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
            return ufunc.__name__, method

    x = pa.ones(2)
    for args in ((x, Theirs()), (Theirs(), x)):
        assert np.concatenate(args) == ("concatenate", 2)
        assert np.add(*args) == ("add", "__call__")


# --- What is refused -----------------------------------------------------------------------------


def public_name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__name__}".removeprefix("numpy.")


FUNCTIONS = {public_name(f): f for f in get_overridable_numpy_array_functions()}

# What has no words of its own: it is about no arrays of numbers, or there is nothing near.
_WORDLESS = """
busday_count busday_offset is_busday datetime_as_string
frombuffer fromfile fromfunction fromiter fromstring genfromtxt loadtxt require
poly polyadd polyder polydiv polyfit polyint polymul polysub roots
histogram2d histogramdd histogram_bin_edges i0 tril_indices_from triu_indices_from unwrap
"""
WORDLESS = frozenset(_WORDLESS.split())
GROUPS = (
    "lib.recfunctions.",
    "lib.scimath.",
    "lib._scimath_impl.",
    "strings.",
    "char.",
    "rec.",
    "polynomial.",
)


def test_every_function_of_numpy_is_decided() -> None:
    undecided = {
        name
        for name in FUNCTIONS
        if name not in rows()
        and name not in COUNTERPARTS
        and name not in WORDLESS
        and not name.startswith(GROUPS)
    }
    assert undecided == set()
    assert not {*rows()} & ({*COUNTERPARTS} | WORDLESS)


def test_what_has_no_counterpart_says_so() -> None:
    x = pa.ones(2)
    for name in {*FUNCTIONS} - {*rows()}:
        with pytest.raises(TypeError, match=rf"^np\.{name} has no counterpart") as caught:
            x.__array_function__(FUNCTIONS[name], (pa.PArray,), (x,), {})
        assert "np.asarray(x)" in str(caught.value)
        assert COUNTERPARTS.get(name, "") in str(caught.value)


def test_every_parameter_of_numpys_is_in_the_table_in_its_order() -> None:
    compared = 0
    for name in {*FUNCTIONS} & {*rows()}:
        row = rows()[name].parameters
        theirs = parameters(FUNCTIONS[name])
        if theirs is None or any(p.how == "rest" for p in row):  # which gives all of them on
            continue
        known = [p.name for p in row]
        places = [p.name for p in theirs if p.kind is not p.KEYWORD_ONLY]
        assert {p.name for p in theirs} - {"like"} <= {*known}, name
        assert places == known[: len(places)], name
        compared += 1
    assert compared > 100


def parameters(function: Any) -> list[inspect.Parameter] | None:
    """NumPy's parameters, but for ``*args`` and ``**kwargs``; None if it does not tell them."""
    try:
        told = inspect.signature(function).parameters.values()
    except ValueError:  # of a function in C before NumPy 2.4
        return None
    named = [p for p in told if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)]
    return named or None


OPTIONS: dict[str, tuple[Callable[[Any], Any], str]] = {
    "out of NumPy's": (lambda x: np.mean(x, out=np.zeros(())), "writes into a PArray"),
    "out of fewer bits": (
        lambda x: np.mean(x, 0, out=pa.zeros(3, dtype=pa.int64)),
        r"does not write float64 into an array of int64 in place.*pa\.astype",
    ),
    "a sum without its fractions": (
        lambda x: np.sum(x / 2, 0, out=pa.zeros(3, dtype=pa.int64)),
        "does not write float64",
    ),
    "where of numbers": (lambda x: np.sum(x, where=x), "an array of bool"),
    "where of medians": (lambda x: np.nansum(x, where=x > 1), r"pa\.where\(mask, x, other\)"),
    "initial": (lambda x: np.any(x, initial=True), "initial"),
    "weights": (lambda x: np.quantile(x, 0.5, weights=x), "weights"),
    "complex quantiles": (lambda x: np.quantile(x * 1j, 0.5), "complex ones have no order"),
    "period": (lambda x: np.interp(x, x[0], x[0], period=3), "period"),
    "complex places": (lambda x: np.interp(x * 1j, x[0], x[0]), "complex places"),
    "order": (lambda x: np.reshape(x, (3, 2), order="F"), "permute_dims"),
    "axis": (lambda x: np.unique(x, axis=0), "moveaxis"),
    "mode": (lambda x: np.take(x, [0], mode="clip"), r"np\.take\(mode="),
    "dtype": (lambda x: np.stack([x, x], dtype=np.float32), r"pa\.astype"),
    "order of subscripts": (lambda x: np.einsum("ij", x, order="F"), "permute_dims"),
    "sparse": (lambda x: np.meshgrid(x[0], x[0], sparse=True), "sparse"),
    "order of memory": (lambda x: np.ravel(x, "K"), "permute_dims"),
    "a file": (lambda x: np.save("x.npy", x), r"pa\.save"),
    "an array in place": (lambda x: np.copyto(x, x), r"y\[\.\.\.\] = x"),
}


@pytest.mark.parametrize("option", OPTIONS)
def test_what_cannot_be_honoured_says_what_to_write(option: str) -> None:
    call, words = OPTIONS[option]
    x = pa.asarray(INTS)
    with pa.no_escape(), pytest.raises(TypeError, match=words):
        call(x)
    assert x.tolist() == INTS


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.stack([x[0], [1, 2, 3]]),
        lambda x: np.where(x > 1, x, [0, 0, 0]),
        lambda x: np.add(x, [1, 2, 3]),
        lambda x: np.dot(x, {1, 2}),
    ],
)
def test_lists_are_no_operands_where_ours_takes_none(call: Callable[[Any], Any]) -> None:
    with pa.no_escape(), pytest.raises(TypeError, match=r"pa\.asarray\(\.\.\.\) around it first"):
        call(pa.asarray(INTS))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda x: np.max(x, where=x > 1), "needs initial="),
        (lambda x: np.sum(x, 0, out=pa.zeros(2)), r"out has shape \(2,\), the result \(3,\)"),
        (lambda x: np.quantile(x, 1.5), "between 0 and 1, not 1.5"),
        (lambda x: np.quantile(x, float("nan")), "between 0 and 1"),
        (lambda x: np.quantile(x[:0], 0.5), "without elements"),
        (lambda x: np.quantile(x, 0.5, method="weibull"), "no method 'weibull'.*'linear'"),
        (lambda x: np.histogram(x, 0), "1 or more, not 0"),
        (lambda x: np.histogram(x, [3, 1]), "must ascend"),
        (lambda x: np.histogram(x / 0.0), "must be finite"),
        (lambda x: np.interp(x, x[0], x[0][:2]), r"shapes \(3,\) and \(2,\)"),
        (lambda x: np.piecewise(x, [x > 1], [1, 2, 3]), "1 conditions take 1 or 2 functions"),
        (lambda x: np.piecewise(x, [x[0] > 1], [1]), r"condition of shape \(3,\)"),
    ],
)
def test_bad_values_are_errors(call: Callable[[Any], Any], words: str) -> None:
    with np.errstate(divide="ignore"), pytest.raises(ValueError, match=words):
        call(pa.asarray(INTS))


# --- Under the policy ----------------------------------------------------------------------------

# What the frameworks themselves answer; nothing where they refuse.
QUANTILES = {
    "numpy": "int8:float64 float16:float16 float32:float32 float64:float64",
    "numpy@1": "int8:float64 float16:float64 float32:float64 float64:float64",
    "jax": "int8:float32 int64:float64 float16:float16 bfloat16:bfloat16 float32:float32",
    "torch": "int8: int64: float16: bfloat16: float32:float32 float64:float64",
    "paddle@3.3": "int32: int64: float16: float32:float32 float64:float64",
    "paddle@2.6": "int8: int32:float64 int64:float64 float16: float32:float64 float64:float64",
}


@pytest.mark.parametrize("policy", QUANTILES)
def test_a_quantile_has_the_dtype_that_the_framework_gives(policy: str) -> None:
    xp = pa.namespace(policy)
    for pair in QUANTILES[policy].split():
        given, _, expected = pair.partition(":")
        x = xp.asarray([1, 0, 1, 3], dtype=getattr(pa, given))
        if expected:
            for q in (0.25, 0.5):
                assert np.quantile(x, q).dtype == np.percentile(x, 100 * q).dtype == expected
            assert float(np.quantile(x, 0.5)) == 1.0
        else:
            with pytest.raises(PromotionError, match=f"no quantile\\({given}"):
                np.quantile(x, 0.25)


def test_shares_promote_as_the_framework_has_them() -> None:
    for policy, expected in {"numpy": "float64", "jax": "float32", "paddle@3.3": "float32"}.items():
        xp = pa.namespace(policy)
        x, q = xp.asarray([1, 2], dtype=pa.float32), xp.asarray([0.5], dtype=pa.float64)
        assert np.quantile(x, q).dtype == expected
    xp = pa.namespace("torch")
    x, q = xp.asarray([1.0, 2.0], dtype=pa.float32), xp.asarray([0.5], dtype=pa.float64)
    with pytest.raises(PromotionError, match="one dtype"):
        np.quantile(x, q)


@pytest.mark.parametrize(
    ("policy", "counts", "edges"),
    [
        ("numpy", "int64", "float32"),
        ("jax", "float32", "float32"),
        ("torch", "float32", "float32"),
        ("paddle", "int64", "float32"),
    ],
)
def test_a_histogram_counts_in_the_dtype_that_the_framework_has(
    policy: str, counts: str, edges: str
) -> None:
    x = pa.namespace(policy).asarray([1.0, 2.0, 2.5, 7.0], dtype=pa.float32)
    found = np.histogram(x, 3)
    assert [each.dtype for each in found] == [counts, edges]
    third = 5.000000476837158 if policy == "jax" else 5  # JAX 0.10.2 (asked)
    assert [each.tolist() for each in found] == [[3, 0, 1], [1, 3, third, 7]]


def test_interp_is_numpys_double_there_alone() -> None:
    for policy, places, heights, expected in (
        ("numpy", "float32", "float32", "float64"),
        ("jax", "float32", "int64", "float64"),
        ("jax", "int64", "int8", "float64"),
        ("jax", "float32", "bfloat16", "float32"),
        ("torch", "float32", "float32", "float32"),
    ):
        xp = pa.namespace(policy)
        at = xp.asarray([0, 1], dtype=getattr(pa, places))
        out = np.interp(at, at, xp.asarray([5, 6], dtype=getattr(pa, heights)))
        assert (out.dtype, out.tolist()) == (expected, [5, 6]), policy


def test_out_is_written_as_the_policy_writes_in_place() -> None:
    for policy in ("numpy", "numpy@1", "torch"):
        xp = pa.namespace(policy)
        x = xp.asarray([1.5, 2.5], dtype=pa.float32)
        out = xp.zeros(2, dtype=pa.float64)
        assert np.add(x, x, out=out) is out
        assert out.tolist() == [3.0, 5.0]
    jax = pa.namespace("jax")  # which has no place to write into: names are bound anew
    x, out = jax.asarray([1.5], dtype=pa.float32), jax.zeros(1, dtype=pa.float64)
    with pytest.raises(TypeError, match="does not write float32 into an array of float64"):
        np.add(x, x, out=out)
    assert np.max(x, out=jax.zeros((), dtype=pa.float32)).tolist() == 1.5


# --- Corners -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd"])
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_a_mean_of_narrow_floats_without_nan_does_not_overflow(name: str, dtype: str) -> None:
    values = [60000.0, float("nan"), 59900.0, 60100.0]
    x = pa.astype(pa.asarray(values), dtype)
    expected = getattr(np, name)(np.asarray(x).astype(np.float64))
    found = getattr(np, name)(x)
    assert found.dtype == dtype
    assert abs(float(found) - expected) <= 0.004 * abs(expected)


def test_extremes_of_nothing_but_nan_are_nan() -> None:
    x = pa.asarray([[np.nan, np.nan], [1.0, np.nan]], dtype=pa.float32)
    for name in ("nanmax", "nanmin", "nanmean"):
        found = np.asarray(getattr(np, name)(x, axis=1))
        np.testing.assert_array_equal(found, np.asarray([np.nan, 1.0], np.float32), strict=True)
    np.testing.assert_array_equal(np.asarray(np.nanvar(x, axis=1, ddof=1)), [np.nan, np.nan])


@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd"])
@pytest.mark.parametrize("values", ["inf nan 1", "inf nan inf", "nan inf -inf"])
def test_infinities_beside_nan_are_not_left_out(name: str, values: str) -> None:
    given = np.asarray(values.split(), np.float64)
    with np.errstate(invalid="ignore"):
        found, expected = (getattr(np, name)(x) for x in (pa.asarray(given), given))
    np.testing.assert_array_equal(np.asarray(found), expected)


def test_what_is_no_number_is_spread_beside_arrays() -> None:
    x, nothing, text = np.broadcast_arrays(pa.ones(2), None, "a")
    assert isinstance(x, pa.PArray)
    assert (nothing.tolist(), text.tolist()) == ([None, None], ["a", "a"])


def test_a_dtype_decides_with_other_dtypes() -> None:
    with pa.policy("torch"):
        assert np.result_type(pa.int64, pa.float32) is pa.float32
        assert np.result_type(np.ones(2, np.int64), pa.float32) is pa.float32
        assert np.can_cast(pa.int32, "float32")
    assert np.result_type(pa.int64, pa.float32) is pa.float64
    assert not np.can_cast(pa.int32, "float32")
    assert np.can_cast(np.float32, pa.float64)
    assert np.can_cast(pa.float64, np.float32, "same_kind")
    made = np.astype(np.ones(2), pa.float32)  # NumPy's array stays one
    assert (type(made), made.dtype) == (np.ndarray, np.float32)


def test_consumers_that_take_arrays_are_noted() -> None:
    x = pa.asarray([1, 2, 3], dtype=pa.int16)
    for take in (
        np.random.default_rng(0).choice,
        np.random.default_rng(0).permutation,
        np.ma.array,
    ):
        with pa.trace() as trace:
            take(x)
        assert {escape.channel for escape in trace.escapes} == {"__array__"}
        with pa.no_escape(), pytest.raises(pa.EscapeError):
            take(x)
    target = np.zeros(3)
    with pa.trace() as trace:
        target[...] = x
    assert len(trace.escapes) == 1
    assert target.tolist() == [1, 2, 3]


def test_weights_that_fit_no_axis_are_refused() -> None:
    x = ours([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    with pytest.raises(TypeError, match=r"weights of shape \(3,\)"):
        np.average(x, weights=ours([1.0, 2.0, 3.0]))
    with pytest.raises(ValueError, match=r"weights of shape \(3,\).*axis=0"):
        np.average(x, axis=0, weights=ours([1.0, 2.0, 3.0]))
    with pytest.raises(ZeroDivisionError, match="the weights add up to 0"):
        np.average(x, weights=pa.zeros_like(x))


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "complex64"])
def test_rint_makes_floats_of_integers_where_round_does_not(dtype: str) -> None:
    x = np.array([0, 1, 1]).astype(dtype)
    for made, wanted in (
        (np.rint(pa.asarray(x)), np.rint(x)),
        (np.rint(pa.asarray(x[1])), np.rint(x[1])),
    ):
        assert made.dtype == wanted.dtype
        assert made.tolist() == wanted.tolist()
    with pa.policy("torch"):
        assert np.rint(pa.asarray([1, 2])).dtype is pa.float32


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "complex64"])
@pytest.mark.parametrize("weights", ["bool", "int8", "int64", "float16", "float64"])
def test_an_average_is_of_what_the_product_is_of(dtype: str, weights: str) -> None:
    x, share = np.array([1, 2, 3, 5], dtype), np.array([0, 1, 1, 1], weights)
    made = np.average(pa.asarray(x), weights=pa.asarray(share))
    wanted = np.average(x, weights=share)
    assert made.dtype == wanted.dtype
    np.testing.assert_allclose(np.asarray(made), wanted, rtol=1e-3)


@pytest.mark.parametrize("name", ["nanvar", "nanstd"])
def test_a_variance_of_no_degrees_of_freedom_is_unknown(name: str) -> None:
    function, x = getattr(np, name), pa.asarray([[1.0, 2.0], [3.0, np.nan]])
    assert np.isnan(np.asarray(function(pa.asarray([1.0, 2.0]), ddof=2)))
    assert np.isnan(np.asarray(function(x, axis=1, ddof=1))).tolist() == [False, True]


def test_where_none_takes_nothing() -> None:
    x = ours([1.0, 2.0])
    same(np.sum(x, where=None), np.float64(0))
    same(np.add.reduce(x, where=None), np.float64(0))
    same(np.add(x, x, out=ours([5.0, 6.0]), where=None), numpys([5.0, 6.0]))
    with pytest.raises(TypeError, match="where="):
        np.nansum(x, where=None)


@pytest.mark.parametrize("sections", [range(10**5000), range(10**12), 10**12])
def test_more_sections_than_memory_holds_are_refused(sections: Any) -> None:
    with pytest.raises((OverflowError, ValueError)):
        np.array_split(pa.asarray([1.0, 2.0]), sections)
