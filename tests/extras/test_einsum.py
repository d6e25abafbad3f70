"""Einstein sums: values are NumPy's, dtypes are each framework's own."""

from __future__ import annotations

import numpy as np
import pytest

import promoarray as pa

FORMULAS = [
    *("i->", "i", "ij->i", "ij->ji", "ij", "ji", "ii", "ii->i", "iij->j", "ijij->", "i->i", "->"),
    *("i,i", "i,j", "i,j->ji", "ij,jk", "ij,jk->ki", "bij,bjk->bik", "ij,ij->", "ij,kj->ik"),
    *("ij,j->i", "i,ij->j", "ij,k->", "ij,ij->i", "ii,i->i", "abc,cd,de->abe", "ij,jk,kl->il"),
    *("i,i,i->i", "i,j,k->", "ab,ab,c->c", "...ij,...jk->...ik", "...i->...", "i...->..."),
    *("...,...", "...ii->...i", "i...,...->i...", " i j , j k -> i k ", "ab...,b...->a..."),
]  # fmt: skip
LENGTHS = {letter: 2 + n % 3 for n, letter in enumerate("abcdeijkl")}


def shapes(formula: str) -> list[tuple[int, ...]]:
    """Shapes that a formula fits; an ellipsis is of one axis less for each further operand."""
    found = []
    for n, term in enumerate(formula.replace(" ", "").partition("->")[0].split(",")):
        before, dots, after = term.partition("...")
        spread = (2, 3)[n:] if dots else ()
        found.append((*map(LENGTHS.get, before), *spread, *map(LENGTHS.get, after)))
    return found


@pytest.mark.parametrize("policy", ["numpy", "torch", "jax"])
@pytest.mark.parametrize("formula", FORMULAS)
def test_values_and_shapes_are_numpys(formula: str, policy: str) -> None:
    rng = np.random.default_rng(len(formula))
    operands = [rng.integers(-9, 9, shape) for shape in shapes(formula)]
    wanted = np.einsum(formula, *operands)
    with pa.policy(policy):
        found = pa.einsum(formula, *map(pa.asarray, operands))
    assert (found.tolist(), found.shape, found.dtype) == (wanted.tolist(), wanted.shape, pa.int64)


def test_axes_of_length_one_stretch_and_empty_ones_sum_to_zero() -> None:
    for one, other in (((1, 3), (3, 1)), ((2, 1), (3, 2)), ((2, 3), (1, 2)), ((0, 3), (3, 2))):
        x, y = np.arange(np.prod(one)).reshape(one), np.arange(np.prod(other)).reshape(other)
        for formula in ("ij,jk->ik", "ij,jk->", "ij,jk->ikj"):
            wanted = np.einsum(formula, x, y)
            found = pa.einsum(formula, pa.asarray(x), pa.asarray(y))
            assert (found.tolist(), found.shape) == (wanted.tolist(), wanted.shape)


# What the frameworks answered: NumPy 1.26 and 2.4, JAX 0.10, PyTorch 2.13; "-" is a refusal. That
# PyTorch's kernels for the CPU multiply no matrices of bools is left out, as for matmul.
DTYPES = """
                        numpy     numpy@1   jax       torch
ij->i   int8            int8      int8      int8      int64
ij->    bool            bool      bool      bool      int64
ij->    float16         float16   float16   float16   float16
ii->    uint8           uint8     uint8     uint8     int64
ii->i   int8            int8      int8      int8      int8
ij->ji  bool            bool      bool      bool      bool
i,i->   int8,int8       int8      int8      int8      int8
i,i->   int8,float32    float32   float32   float32   -
i,i->   float32,float64 float64   float64   float64   -
i,j->ij bool,bool       bool      bool      bool      bool
i,j->ij int8,float32    float32   float32   float32   float32
i,i->i  float16,float32 float32   float32   float32   float32
i,i->i  int8,int8       int8      int8      int8      int8
"""


def test_dtypes_are_those_of_the_frameworks() -> None:
    first, *rows = DTYPES.strip("\n").splitlines()
    wrong = []
    for row in rows:
        formula, dtypes, *wanted = row.split()
        for policy, dtype in zip(first.split(), wanted, strict=True):
            xp = pa.namespace(policy)
            terms = formula.partition("->")[0].split(",")
            operands = [
                xp.ones((2,) * len(term), dtype=name)
                for term, name in zip(terms, dtypes.split(","), strict=True)
            ]
            try:
                found = xp.extras.einsum(formula, *operands).dtype.name
            except pa.PromotionError:
                found = "-"
            if found != dtype:
                wrong.append((policy, formula, dtypes, found, dtype))
    assert wrong == []


def test_small_integers_wrap_round_as_in_numpy() -> None:
    x, y = pa.asarray([100, 100], dtype=pa.int8), pa.asarray([2, 2], dtype=pa.int8)
    assert pa.einsum("i->", x).item() == -56  # PyTorch sums to 200
    assert pa.einsum("i,i->", x, y).item() == -112
    with pa.policy("torch"):
        assert pa.einsum("i->", x).item() == 200
        assert pa.einsum("i,i->", x, y).item() == -112


@pytest.mark.parametrize(
    ("formula", "shapes", "words"),
    [
        ("ij,jk", [(2, 3)], "2 terms for 1 arrays"),
        ("ij", [(2,)], "does not name the axes"),
        ("i", [(2, 3)], "does not name the axes"),
        ("i,i", [(2,), (3,)], "axis i has lengths 2 and 3"),
        ("ii", [(2, 3)], "axes i of shape"),
        ("i->j", [(2,)], "j but no operand"),
        ("i->ii", [(2,)], "i twice"),
        ("i->i->i", [(2,)], "reads letters"),
        ("i!", [(2,)], "reads letters"),
        ("......", [(2,)], "does not name the axes"),
        ("", [], "1 terms for 0 arrays"),
    ],
)
def test_formulas_that_fit_nothing_are_told(
    formula: str, shapes: list[tuple[int, ...]], words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        pa.einsum(formula, *map(pa.ones, shapes))


def test_paddle_has_one_kernel_of_it_for_arrays_of_one_dtype() -> None:
    """Paddle 3.3.1 refuses float32 beside float64 whatever the formula; PyTorch multiplies them."""
    x, y = pa.ones(2, dtype=pa.float32), pa.ones(2, dtype=pa.float64)
    with pa.policy("torch"):
        assert pa.einsum("i,i->i", x, y).dtype == "float64"
    with pa.policy("paddle@3.3"):
        assert pa.einsum("i,i->i", x, x).dtype == "float32"
        with pytest.raises(pa.PromotionError, match="the arrays must have one dtype"):
            pa.einsum("i,i->i", x, y)
