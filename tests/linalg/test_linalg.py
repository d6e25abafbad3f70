"""Linear algebra: right for stacks, no elements and narrow dtypes; dtypes by the policy."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray import linalg
from promoarray.operations import FIELDS, OPERATIONS, Family

SQUARE = ("cholesky", "det", "eig", "eigh", "eigvals", "eigvalsh", "inv", "slogdet")
OF_ONE = (
    *SQUARE,
    *("diagonal", "matrix_norm", "matrix_rank", "matrix_transpose", "pinv", "qr", "svd"),
    *("svdvals", "trace", "vector_norm"),
)
STANDARD = ("float32", "float64", "complex64", "complex128")


def definite(shape: tuple[int, ...], dtype: str = "float64") -> pa.PArray:
    """Hermitian, positive-definite matrices."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=shape) + (1j * rng.normal(size=shape) if "complex" in dtype else 0)
    return pa.asarray((a @ a.conj().swapaxes(-1, -2) + np.eye(shape[-1])).astype(dtype))


def close(x: Any, y: Any, dtype: str = "float64") -> bool:
    digits = 1e-3 if dtype in ("float32", "complex64") else 1e-9
    return np.allclose(np.asarray(x), np.asarray(y), rtol=digits, atol=digits)


def results(found: Any) -> tuple[pa.PArray, ...]:
    return found if isinstance(found, tuple) else (found,)


def test_every_function_of_the_extension_is_there() -> None:
    assert len(linalg.__all__) == 25
    for name in linalg.__all__:
        assert inspect.getdoc(getattr(linalg, name)), name
    moved = {"matrix_transpose"}
    assert set(linalg.__all__) - moved <= set(OPERATIONS)
    for name in ("matmul", "matrix_transpose", "tensordot", "vecdot"):
        assert getattr(pa, name) is getattr(linalg, name)


@pytest.mark.parametrize("dtype", STANDARD)
@pytest.mark.parametrize("shape", [(3, 3), (2, 1, 4, 4), (1, 1)])
def test_factors_multiply_to_the_matrix(dtype: str, shape: tuple[int, ...]) -> None:
    x = definite(shape, dtype)
    lower, upper = linalg.cholesky(x), linalg.cholesky(x, upper=True)
    assert close(lower @ pa.conj(lower).mT, x, dtype)
    assert close(pa.conj(upper).mT @ upper, x, dtype)
    q, r = linalg.qr(x)
    assert close(q @ r, x, dtype)
    u, s, vh = linalg.svd(x, full_matrices=False)
    assert close(u * s[..., None, :] @ vh, x, dtype)
    assert close(s, linalg.svdvals(x), dtype)
    for values, vectors in (linalg.eigh(x), linalg.eig(x)):
        assert close(pa.astype(x, vectors.dtype) @ vectors, vectors * values[..., None, :], dtype)
    assert close(linalg.inv(x) @ x, np.broadcast_to(np.eye(shape[-1]), shape), dtype)
    assert close(linalg.pinv(x), linalg.inv(x), dtype)
    sign, logarithm = linalg.slogdet(x)
    assert close(pa.astype(pa.exp(logarithm), sign.dtype) * sign / linalg.det(x), 1, dtype)
    assert linalg.matrix_rank(x).tolist() == np.full(shape[:-2], shape[-1]).tolist()
    assert close(linalg.matrix_power(x, -2) @ x @ x, linalg.matrix_power(x, 0), dtype)
    assert linalg.matrix_power(x, 3).dtype is x.dtype


def test_powers_of_bools_are_truths_of_paths() -> None:
    ones = np.ones((16, 16), bool)  # 256 paths to each place, which a byte does not count
    ones[3] = False
    power = linalg.matrix_power(pa.asarray(ones), 3)
    assert power.dtype is pa.bool
    np.testing.assert_array_equal(np.asarray(power), np.linalg.matrix_power(ones, 3))


@pytest.mark.parametrize("name", OF_ONE)
@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)])
def test_matrices_and_stacks_of_nothing_have_the_shapes_of_numpy(
    name: str, shape: tuple[int, ...]
) -> None:
    ours = getattr(linalg, name)(pa.zeros(shape, dtype=pa.float32))
    if name == "matrix_rank":  # which NumPy refuses before 2.4
        theirs: Any = np.zeros(shape[:-2])
    else:
        theirs = getattr(np.linalg, name)(np.zeros(shape, np.float32))
    theirs = theirs if isinstance(theirs, tuple) else (theirs,)
    assert [x.shape for x in results(ours)] == [np.shape(x) for x in theirs]


@pytest.mark.parametrize("name", ["pinv", "svd", "svdvals", "qr", "matrix_rank", "matrix_norm"])
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 4, 0)])
def test_matrices_with_a_side_of_no_length(name: str, shape: tuple[int, ...]) -> None:
    found = results(getattr(linalg, name)(pa.zeros(shape)))
    assert found[0].shape[: len(shape) - 2] == shape[:-2]
    if name == "pinv":
        assert found[0].shape[-2:] == shape[:-3:-1]


@pytest.mark.parametrize("name", OF_ONE)
def test_what_is_not_contiguous(name: str) -> None:
    x = definite((2, 6, 6))[:, ::2, ::2].mT[::-1]
    copied = pa.asarray(np.ascontiguousarray(np.asarray(x)))
    pairs = zip(*(results(getattr(linalg, name)(a)) for a in (x, copied)), strict=True)
    assert all(close(a, b) for a, b in pairs)


@pytest.mark.parametrize("name", [*SQUARE, "matrix_power", "solve"])
def test_what_is_not_square_is_told(name: str) -> None:
    function, rest = getattr(linalg, name), {"matrix_power": (2,), "solve": (pa.ones(2),)}
    with pytest.raises(ValueError, match=rf"{name} takes square matrices, .* \(2, 3\)"):
        function(pa.ones((2, 3)), *rest.get(name, ()))
    with pytest.raises(ValueError, match=rf"{name} takes matrices, .* \(3,\)"):
        function(pa.ones(3), *rest.get(name, ()))
    with pytest.raises(TypeError, match="takes an array"):
        function([[1.0]], *rest.get(name, ()))


def test_matrices_without_an_answer_are_told() -> None:
    singular = pa.ones((2, 2))
    with pytest.raises(ValueError, match="a matrix is singular"):
        linalg.solve(singular, pa.ones((2, 3)))
    for call in (linalg.inv, lambda x: linalg.solve(x, pa.ones(2))):
        for _ in range(2):
            with pytest.raises(ValueError, match=r"a matrix is singular; pa\.linalg\.pinv has an"):
                call(singular)
    with pytest.raises(ValueError, match="not positive definite"):
        linalg.cholesky(-singular)
    with pytest.raises(ValueError, match="eig: "):
        linalg.eig(pa.full((2, 2), math.nan))
    with pytest.raises(ValueError, match="x1 has 3 rows, x2 has 2"):
        linalg.solve(definite((3, 3)), pa.ones(2))
    with pytest.raises(ValueError, match="mode"):
        linalg.qr(singular, mode="raw")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="ord"):
        linalg.matrix_norm(singular, ord=3)
    with pytest.raises(ValueError, match="axis 2 is out of bounds for array of dimension 2"):
        linalg.vector_norm(singular, axis=2)
    with pytest.raises(ValueError, match="repeated axis"):
        linalg.vector_norm(singular, axis=(0, -2))
    for vectors in (pa.ones(0), pa.ones((2, 0))):
        with pytest.raises(ValueError, match="no smallest one"):
            linalg.vector_norm(vectors, axis=-1, ord=-math.inf)
    with pytest.raises(ValueError, match="3 elements"):
        linalg.cross(pa.ones((3, 2)), pa.ones((3, 2)))


def test_the_first_power_and_no_transform_have_memory_of_their_own() -> None:
    x = pa.astype(definite((2, 2)), pa.complex128)
    for out in (linalg.matrix_power(x, 1), pa.fft.fftn(x, axes=())):
        assert out.tolist() == x.tolist()
        out[...] = 0
        assert pa.all(x[0, 0] != 0)


def test_solve_takes_a_vector_for_every_matrix_of_a_stack() -> None:
    x, vector = definite((2, 3, 3)), pa.asarray([1.0, 2.0, 3.0])
    found = linalg.solve(x, vector)
    assert found.shape == (2, 3)
    assert close(x @ found[..., None], np.broadcast_to(np.asarray(vector)[:, None], (2, 3, 1)))
    assert linalg.solve(x, pa.ones((3, 5))).shape == (2, 3, 5)
    assert linalg.solve(x, pa.ones((4, 1, 3, 1))).shape == (4, 2, 3, 1)


@pytest.mark.parametrize("ord", [0, 1, 2, 3, -1, 2.5, math.inf, -math.inf])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 2), (2, 0), (0, 1, 2)])
@pytest.mark.parametrize("keepdims", [False, True])
def test_vector_norms(ord: float, axis: Any, keepdims: bool) -> None:
    values = np.random.default_rng(1).normal(size=(2, 3, 4)) + 2
    found = linalg.vector_norm(pa.asarray(values), axis=axis, keepdims=keepdims, ord=ord)
    expected = np.linalg.vector_norm(values, axis=axis, keepdims=keepdims, ord=ord)
    assert found.shape == expected.shape
    assert close(found, expected)


@pytest.mark.parametrize("ord", ["fro", "nuc", 1, 2, math.inf, -1, -2, -math.inf])
def test_matrix_norms(ord: Any) -> None:
    x = definite((2, 3, 3))[..., :2]
    for keepdims in (False, True):
        found = linalg.matrix_norm(x, ord=ord, keepdims=keepdims)
        assert close(found, np.linalg.matrix_norm(np.asarray(x), ord=ord, keepdims=keepdims))


def test_norms_of_single_numbers_and_of_nothing() -> None:
    assert linalg.vector_norm(pa.asarray(-2.5)).item() == 2.5
    assert linalg.vector_norm(pa.ones(0)).item() == 0
    assert linalg.vector_norm(pa.ones((2, 0)), axis=1).tolist() == [0, 0]
    assert linalg.vector_norm(pa.ones((2, 0)), axis=1, ord=math.inf).tolist() == [0, 0]
    assert linalg.vector_norm(pa.ones((0, 3)), axis=1, ord=-math.inf).shape == (0,)


def test_tolerances_may_be_arrays() -> None:
    x = pa.asarray([[1.0, 0.0], [0.0, 0.1]])
    stack = pa.stack([x, x])
    tolerances = pa.asarray([0.01, 0.5])
    assert linalg.matrix_rank(stack, rtol=tolerances).tolist() == [2, 1]
    assert linalg.matrix_rank(x, rtol=0.5).item() == 1
    assert linalg.pinv(x, rtol=0.5).tolist() == [[1, 0], [0, 0]]
    assert linalg.pinv(stack, rtol=tolerances)[1].tolist() == [[1, 0], [0, 0]]


def test_cross_broadcasts_along_its_axis() -> None:
    x, y = pa.asarray([[1, 0, 0], [0, 1, 0]]), pa.asarray([0, 1, 0])
    assert linalg.cross(x, y).tolist() == [[0, 0, 1], [0, 0, 0]]
    assert linalg.cross(x.T, y[:, None], axis=-2).tolist() == [[0, 0], [0, 0], [1, 0]]
    with pytest.raises(ValueError, match="x1 has 2 axes, x2 has 1; write axis negative"):
        linalg.cross(x, y, axis=1)


def test_diagonals_and_traces_of_stacks() -> None:
    x = pa.reshape(pa.arange(12, dtype=pa.int8), (2, 2, 3))
    assert linalg.diagonal(x).tolist() == [[0, 4], [6, 10]]
    assert linalg.diagonal(x, offset=1).tolist() == [[1, 5], [7, 11]]
    assert linalg.diagonal(x, offset=9).shape == (2, 0)
    assert linalg.trace(x).tolist() == [4, 16]
    assert linalg.trace(x).dtype is pa.int64
    assert linalg.trace(x, offset=-5).tolist() == [0, 0]
    assert linalg.trace(x, dtype=pa.float32).dtype is pa.float32
    view = linalg.diagonal(x)
    view[0, 0] = 5
    assert x[0, 0, 0].item() == 0
    assert linalg.diagonal(pa.astype(x, pa.int4)).dtype is pa.int4


def test_results_of_several_arrays_are_named_tuples() -> None:
    for xp in (pa, pa.namespace("torch")):
        x = xp.asarray(np.asarray(definite((2, 2))))
        for name in ("eig", "eigh", "qr", "slogdet", "svd"):
            found = getattr(xp.linalg, name)(x)
            assert found._fields == FIELDS[name]
            assert all(found[i] is getattr(found, field) for i, field in enumerate(found._fields))
            assert {type(r) for r in found} == {type(x)}
    bound = pa.namespace("jax").linalg.eigh(np.eye(2))
    assert type(bound.eigenvectors) is type(pa.namespace("jax").asarray([1]))


def test_errors_that_the_program_asks_for() -> None:
    x = pa.asarray(np.full((2, 2), 3e38, np.float32))
    for _ in range(2):
        with np.errstate(over="raise"), pytest.raises(FloatingPointError):
            linalg.matrix_norm(x)


# --- dtypes ---------------------------------------------------------------------------------------

CASES = {
    ("numpy", "det", "int32"): "float64",
    ("numpy", "det", "bfloat16"): "float64",
    ("numpy", "det", "float16"): None,
    ("numpy", "eigvals", "float32"): "complex64",
    ("numpy", "vector_norm", "float16"): "float16",
    ("numpy", "matrix_rank", "float32"): "int64",
    ("jax", "det", "int32"): "float32",
    ("jax", "det", "int64"): "float64",
    ("jax", "svdvals", "bfloat16"): "bfloat16",
    ("jax", "eigvals", "float16"): "complex64",
    ("jax", "eigvalsh", "complex64"): "float32",
    ("jax@x32", "matrix_rank", "float32"): "int32",
    ("torch", "inv", "float16"): None,
    ("torch", "det", "int32"): None,
    ("torch", "vector_norm", "bfloat16"): "bfloat16",
    ("torch", "vector_norm", "int32"): None,
    ("tensorflow", "inv", "float16"): "float16",
    ("tensorflow", "eigvalsh", "complex64"): "complex64",
    ("tensorflow", "matrix_rank", "float32"): "int32",
    ("paddle", "det", "float64"): "float64",
    ("paddle", "det", "int64"): None,
    ("onnx", "det", "bfloat16"): "bfloat16",
    ("onnx", "inv", "float32"): None,
    ("array_api", "det", "float32"): "float32",
    ("array_api", "det", "int32"): None,
}


@pytest.mark.parametrize(("case", "expected"), CASES.items(), ids=lambda x: str(x))
def test_dtypes_are_the_policys(case: tuple[str, str, str], expected: str | None) -> None:
    policy, name, dtype = case
    with pa.policy(policy):
        x = pa.asarray([[1, 0], [0, 1]], dtype=dtype)
        if expected is not None:
            assert getattr(linalg, name)(x).dtype.name == expected
            return
        with pytest.raises(pa.PromotionError):
            getattr(linalg, name)(x)


def test_solve_makes_floats_of_each_operand_as_the_policy_does() -> None:
    x = pa.asarray([[2, 0], [0, 2]], dtype=pa.int32)
    y = pa.asarray([1, 2], dtype=pa.float32)
    assert linalg.solve(x, y).dtype is pa.float64
    with pa.policy("jax"):
        assert linalg.solve(x, y).dtype is pa.float32
    with pa.policy("torch"), pytest.raises(pa.PromotionError, match="takes one dtype"):
        linalg.solve(pa.astype(x, pa.float64), y)


def test_narrow_floats_are_computed_in_float32_and_rounded_once() -> None:
    values = np.asarray(definite((4, 4))).astype(np.float32)
    with pa.policy("jax"):
        x = pa.asarray(values, dtype=pa.bfloat16)
        wide = pa.astype(x, pa.float32)
        for name in ("det", "inv", "cholesky", "svdvals"):
            narrow, exact = getattr(linalg, name)(x), getattr(linalg, name)(wide)
            assert narrow.dtype is pa.bfloat16
            assert narrow.tolist() == pa.astype(exact, pa.bfloat16).tolist()
        assert (x @ x).tolist() == pa.astype(wide @ wide, pa.bfloat16).tolist()


def answered(function: Any, *arguments: pa.PArray) -> tuple[pa.PArray, ...]:
    """The results, none where the policy refuses; any other error is one."""
    try:
        return results(function(*arguments))
    except pa.PromotionError:
        return ()


POLICIES = [p for p in pa.list_policies() if not p.startswith("onnx@") or p == "onnx@25"]


@pytest.mark.parametrize("policy", POLICIES)
def test_every_policy_answers_or_says_why(policy: str) -> None:
    """Nothing but a refusal with its reason, whatever the dtype; and no dtype but the plan's."""
    families = {Family.LINALG, Family.NORM, Family.MOVE}
    names = [n for n, row in OPERATIONS.items() if row.family in families and n in linalg.__all__]
    with pa.policy(policy):
        known = [d for d in pa.get_policy().dtypes if d is not pa.string]
        for dtype in known:
            if dtype is pa.float8_e8m0fnu:  # it has no zero
                continue
            x = pa.asarray(np.eye(2).astype(dtype.storage), dtype=dtype)
            for name in names:
                arguments = (x, x) if name == "solve" else (x,)
                found = answered(getattr(linalg, name), *arguments)
                assert all(r.dtype in (*known, pa.complex64, pa.complex128) for r in found), (
                    name,
                    dtype,
                )


def test_a_shadow_run_hears_of_every_result() -> None:
    x = pa.asarray([[2, 1], [1, 2]], dtype=pa.int32)
    with pa.shadow("jax") as report:
        values, vectors = linalg.eigh(x)
        total = vectors + 1
    assert total.dtype is pa.float64
    parted = [(p.name, p.answers["jax@x64"].dtype.name) for p in report.divergences]
    assert parted == [("eigh", "float32"), ("add", "float32")]
    assert values.dtype is pa.float64
