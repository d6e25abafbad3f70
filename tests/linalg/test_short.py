"""Small matrices: the same answers, words and warnings each time."""

import warnings

import numpy as np
import pytest

import promoarray as pa

CALLS = {
    "det": lambda x: pa.linalg.det(x),
    "inv": lambda x: pa.linalg.inv(x),
    "qr": lambda x: pa.linalg.qr(x),
    "svd": lambda x: pa.linalg.svd(x, full_matrices=False),
    "eigh": lambda x: pa.linalg.eigh(x),
    "slogdet": lambda x: pa.linalg.slogdet(x),
    "solve": lambda x: pa.linalg.solve(x, x),
    "rank": lambda x: pa.linalg.matrix_rank(x),
    "vector_norm": lambda x: pa.linalg.vector_norm(x, axis=0, ord=3),
    "matrix_norm": lambda x: pa.linalg.matrix_norm(x, ord="nuc", keepdims=True),
    "fft": lambda x: pa.fft.fft(x, n=5, norm="ortho"),
    "fftn": lambda x: pa.fft.fftn(x),
    "diagonal": lambda x: pa.linalg.diagonal(x),
}


def _parts(made):
    return made if isinstance(made, tuple) else (made,)


@pytest.mark.parametrize("policy", ["numpy", "jax@x32", "torch", "tensorflow"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
@pytest.mark.parametrize("name", CALLS)
def test_each_time_is_as_the_first(name, dtype, policy):
    x = pa.asarray(np.array([[4.0, 1.0], [1.0, 3.0]], dtype))
    with pa.policy(policy):
        try:
            made = [_parts(CALLS[name](x)) for _ in range(3)]
        except pa.PromotionError:
            pytest.skip("the policy has no such function of the dtype")
        with pa.policy(pa.get_policy().derive("anew")):
            first = _parts(CALLS[name](x))
    for again in made:
        for ours, theirs in zip(again, first, strict=True):
            assert ours.dtype is theirs.dtype
            np.testing.assert_array_equal(ours._buffer, theirs._buffer)
            assert type(ours._buffer) is np.ndarray


def test_a_singular_matrix_has_our_words_each_time():
    x = pa.asarray([[0.0]])
    for _ in range(3):
        with pytest.raises(ValueError, match="pinv has an answer"):
            pa.linalg.inv(x)


def test_warnings_name_the_line_of_the_program():
    x = pa.asarray(np.full((2, 2), 3e38, np.float32))
    for _ in range(2):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            pa.linalg.matrix_norm(x)
        assert {each.filename for each in told} == {__file__}


def test_errors_that_the_program_asks_for():
    x = pa.asarray(np.full((2, 2), 3e38, np.float32))
    pa.linalg.matrix_norm(pa.asarray(np.ones((2, 2), np.float32)))
    with np.errstate(over="raise"), pytest.raises(FloatingPointError):
        pa.linalg.matrix_norm(x)


def test_a_transform_of_no_axes_is_a_copy():
    x = pa.asarray(np.ones(3, np.complex64))
    for _ in range(2):
        assert not np.may_share_memory(pa.fft.fftn(x, axes=())._buffer, x._buffer)
