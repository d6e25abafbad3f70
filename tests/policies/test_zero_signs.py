"""Signs of zeros in sums and products, signs of complex infinities, angles, clips without bounds,
masks of uint8 and complex numbers over halves: as JAX 0.10.2, PyTorch 2.13.0, Paddle 3.3.1 and
NumPy 2.4.6 answered on a CPU."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import promoarray as pa
from promoarray.errors import PromotionError

POLICIES = ("jax@x64", "torch@2.13", "paddle@3.3", "numpy@2")

# An expression, and what each of the four made of it; f, b and c make float32, bfloat16 and
# complex64 arrays.
ANSWERS = """
matmul(f([[0.0]]), f([[-2.5]])) | -0.0 | 0.0 | 0.0 | 0.0
matmul(f([[0.0], [0.0]]), f([[-1.0, 2.0]]))[0] | -0.0 0.0 | -0.0 0.0 | -0.0 0.0 | 0.0 0.0
matmul(f([[0.0, 0.0]]), f([[-1.0], [-2.0]])) | 0.0 | 0.0 | 0.0 | 0.0
matmul(f([0.0]), f([-2.5])) | -0.0 | 0.0 | 0.0 | 0.0
matmul(f([0.0]), f([[-1.0, 2.0]])) | -0.0 0.0 | 0.0 0.0 | 0.0 0.0 | 0.0 0.0
matmul(f([[[0.0]], [[1.0]]]), f([[-1.0]])) | -0.0 -1.0 | 0.0 -1.0 | 0.0 -1.0 | 0.0 -1.0
matmul(b([[0.0], [0.0]]), b([[-1.0, 2.0]]))[0] | -0.0 0.0 | 0.0 0.0 | | 0.0 0.0
real(matmul(c([[0.0], [0.0]]), c([[-1.0, 2.0]])))[0] | -0.0 0.0 | -0.0 0.0 | -0.0 0.0 | 0.0 0.0
tensordot(f([0.5, -1.0]), f([0.0, 2.0]), axes=0)[1] | -0.0 -2.0 | -0.0 -2.0 | -0.0 -2.0 | 0.0 -2.0
tensordot(f([[0.0]]), f([[-1.0]]), axes=1) | -0.0 | 0.0 | 0.0 | -0.0
vecdot(f([[0.0], [-1.0]]), f([[-1.0], [0.0]])) | -0.0 -0.0 | 0.0 0.0 | 0.0 0.0 | 0.0 0.0
vecdot(f([0.0, 0.0]), f([-1.0, -1.0])) | 0.0 | 0.0 | 0.0 | 0.0
sum(f([-0.0])) | -0.0 | 0.0 | 0.0 | 0.0
sum(f([-0.0, -0.0])) | 0.0 | 0.0 | 0.0 | 0.0
sum(f([[-0.0], [2.0]]), axis=1) | -0.0 2.0 | 0.0 2.0 | 0.0 2.0 | 0.0 2.0
real(sum(c([[-0.0], [2.0]]), axis=1)) | -0.0 2.0 | 0.0 2.0 | 0.0 2.0 | 0.0 2.0
sum(f([])) | 0.0 | 0.0 | 0.0 | 0.0
mean(f([[-0.0], [2.0]]), axis=1) | -0.0 2.0 | 0.0 2.0 | 0.0 2.0 | 0.0 2.0
cumulative_sum(f([-0.0, -0.0, 1.0])) | 0.0 0.0 1.0 | 0.0 0.0 1.0 | 0.0 0.0 1.0 | -0.0 -0.0 1.0
cumulative_sum(f([[-0.0], [2.0]]), axis=1) | -0.0 2.0 | 0.0 2.0 | 0.0 2.0 | -0.0 2.0
max(f([[0.0, -0.0], [-0.0, 0.0]]), axis=1) | 0.0 0.0 | | |
min(f([[0.0, -0.0], [-0.0, 0.0]]), axis=1) | -0.0 -0.0 | | |
max(f([-0.0, -1.0])) | -0.0 | -0.0 | -0.0 | -0.0
sign(c([complex(1, inf)])) | 0.0+nanj | nan+nanj | 0.0+nanj | 0.0+1.0j
sign(c([complex(-inf, 2)])) | nan+0.0j | nan+nanj | nan+0.0j | -1.0+0.0j
sign(c([complex(nan, 1)])) | nan+nanj | nan+nanj | nan+nanj | nan+nanj
sign(c([complex(-0.0, -0.0)])) | -0.0-0.0j | 0.0+0.0j | 0.0+0.0j | 0.0+0.0j
sign(c([complex(-0.0, 2.5)])) | -0.0+1.0j | 0.0+1.0j | -0.0+1.0j | -0.0+1.0j
sign(c([complex(-2.5, -0.0)])) | -1.0-0.0j | -1.0+0.0j | -1.0-0.0j | -1.0-0.0j
1j / b([0.3, -7.0]) | | 0.0+3.328125j -0.0-0.142578125j | |
complex(1.0, 2.0) / b([0.3]) | | 3.328125+6.65625j | |
"""


def number(text: str) -> tuple[str, str]:
    """Both parts of a number, as told apart: the sign of a zero, but not of a NaN."""
    value = complex(text)
    return repr(value.real), repr(value.imag)


def namespace(xp: Any) -> dict[str, Any]:
    names = {name: getattr(xp, name) for name in dir(xp) if name[0] != "_"}
    return names | {
        "f": lambda values: xp.asarray(np.asarray(values, "f4")),
        "b": lambda values: xp.asarray(np.asarray(values, "f4")).astype("bfloat16"),
        "c": lambda values: xp.asarray(np.asarray(values, "c8")),
        "complex": complex,
    }


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("policy", POLICIES)
def test_answers_of_the_frameworks(policy: str) -> None:
    names, wrong = namespace(pa.namespace(policy)), []
    for line in ANSWERS.strip().splitlines():
        expression, *answers = line.split("|")
        wanted = [*map(number, answers[POLICIES.index(policy)].split())]
        found = np.ravel(eval(expression, names).tolist())
        if wanted and [*map(number, map(str, found))] != wanted:
            wrong.append((expression, found.tolist(), answers[POLICIES.index(policy)]))
    assert not wrong


@pytest.mark.parametrize("policy", ["jax@x64", "torch@2.13", "paddle@3.3"])
def test_angles_of_float32_are_rounded_once(policy: str) -> None:
    xp = pa.namespace(policy)
    y, x = (xp.asarray(v, dtype="float32") for v in ([1.0, 1.0, -7.0], [1.0, 0.1, 10.0]))
    answers = [0.7853981852531433, 1.4711276292800903, -0.6107259392738342]
    assert xp.atan2(y, x).tolist() == answers


@pytest.mark.parametrize(
    ("policy", "dtype"),
    [("numpy@1", "float64"), ("torch", "float32"), ("torch", "int8"), ("numpy", "bool")],
)
def test_clip_without_bounds_is_refused(policy: str, dtype: str) -> None:
    """NumPy 1.26.4 raises ValueError, PyTorch RuntimeError, NumPy 2 of bools a UFuncTypeError."""
    xp = pa.namespace(policy)
    for run in (lambda x: xp.clip(x), lambda x: xp.clip(x, None, None), lambda x: x.clip()):
        with pytest.raises(PromotionError, match="bound"):
            run(xp.asarray([1, 0], dtype=dtype))


@pytest.mark.parametrize("policy", ["numpy", "jax", "paddle@3.3"])
def test_clip_without_bounds_is_a_copy(policy: str) -> None:
    xp = pa.namespace(policy)
    x = xp.asarray([1.5, float("nan")])
    y = xp.clip(x, None, None)
    x[0] = 0.0
    assert y.tolist()[0] == 1.5


@pytest.mark.parametrize(
    ("key", "shape", "answer"),
    [
        ([0, 1], (2,), [[4, 5, 6]]),
        ([2, 0], (2,), [[1, 2, 3]]),  # whatever is not 0 counts
        ([1, 0, 1, 0, 0, 255], (2, 3), [1, 3, 6]),
        ([1], (), [[[1, 2, 3], [4, 5, 6]]]),
        ([0], (), []),
    ],
)
def test_uint8_is_a_mask_in_torch(key: list[int], shape: tuple[int, ...], answer: Any) -> None:
    xp = pa.namespace("torch")
    mask = xp.asarray(np.asarray(key, "u1").reshape(shape))
    for _ in range(2):  # the second time by what was kept
        x = xp.asarray([[1, 2, 3], [4, 5, 6]])
        assert x[mask].tolist() == answer
        count = len(answer) if shape == (2, 3) else 0
        if count:
            x[mask] = xp.asarray([-1] * count)
            assert x[mask].tolist() == [-1] * count
    with pytest.raises(IndexError):
        x[xp.asarray([1, 0, 1], dtype="uint8")]


def test_running_sums_of_nothing_have_their_initial_zero() -> None:
    xp = pa.namespace("jax")
    for shape, axis, made in (((0,), 0, (1,)), ((0, 3), 0, (1, 3)), ((3, 0), -1, (3, 1))):
        sums = xp.cumulative_sum(xp.zeros(shape), axis=axis, include_initial=True)
        assert sums.shape == made
