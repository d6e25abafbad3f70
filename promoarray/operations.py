"""The operations and the families they belong to.

A policy writes its rules by family and names single operations only where they stand apart; the
chapters take their functions from the same rows.
"""

from __future__ import annotations

from enum import Enum, StrEnum
from typing import NamedTuple

from promoarray.errors import quoted, suggestion


class Form(StrEnum):
    """How an operation is written; its value follows the name in the keys of what is kept.

    Frameworks answer ``x + y`` and ``add(x, y)`` differently at places. NumPy's ufuncs come in as
    the operator they are the function of, as ``ndarray + PArray`` does.
    """

    OPERATOR = ""
    INPLACE = "="
    FUNCTION = "()"


class Family(Enum):
    """Operations whose dtypes go by one rule in nearly every framework."""

    ARITHMETIC = "add, subtract, multiply"
    DIVIDE = "true division"
    FLOOR_DIVIDE = "floor division and remainder"
    POW = "power"
    EQUALITY = "equal, not_equal"
    ORDER = "less, less_equal, greater, greater_equal"
    LOGICAL = "logical functions"
    BITWISE = "bitwise functions"
    SHIFT = "bit shifts"
    EXTREMUM = "the larger or smaller of two"
    FLOAT_BINARY = "float functions of two arguments"
    WHERE = "where"
    CLIP = "clip"
    MATMUL = "products of matrices and vectors"
    LINALG = "linear algebra, which divides and takes roots"
    NORM = "norms"
    FFT = "Fourier transforms to complex numbers"
    RFFT = "Fourier transforms of real numbers"
    IRFFT = "Fourier transforms to real numbers"
    CONCAT = "concat, stack"
    LOSS = "losses"
    FLOAT_UNARY = "float functions of one argument"
    SIGN = "abs, negative and the like"
    ROUND = "floor, ceil, trunc, round"
    TEST = "isnan and the like"
    COMPLEX = "conj, real, imag"
    SUM = "sums and products"
    MEAN = "mean, std, var"
    EXTREME = "max, min"
    TRUTH = "all, any"
    POSITION = "argmax, argmin"
    SORT = "sort"
    INDEX = "indices that sort, or find"
    UNIQUE = "the unique_ functions"
    ISIN = "isin"
    MOVE = "functions that move values and never look at them"


class Operation(NamedTuple):
    """One operation."""

    name: str  # the array API's name where it has one
    family: Family
    arity: int  # how many operands take part in promotion; 0 means any number
    symbol: str = ""  # the Python operator, or ""


_TEXT = """
ARITHMETIC    2  add:+ subtract:- multiply:*
ARITHMETIC    1  diff
DIVIDE        2  divide:/
FLOOR_DIVIDE  2  floor_divide:// remainder:% fmod
POW           2  pow:**
EQUALITY      2  equal:== not_equal:!=
ORDER         2  less:< less_equal:<= greater:> greater_equal:>=
LOGICAL       2  logical_and logical_or logical_xor
LOGICAL       1  logical_not
BITWISE       2  bitwise_and:& bitwise_or:| bitwise_xor:^
BITWISE       1  bitwise_invert:~
SHIFT         2  bitwise_left_shift:<< bitwise_right_shift:>>
EXTREMUM      2  maximum minimum fmax fmin
FLOAT_BINARY  2  atan2 hypot copysign nextafter logaddexp
WHERE         2  where
CLIP          0  clip
MATMUL        2  matmul:@ vecdot tensordot outer cross
MATMUL        1  matrix_power
LINALG        1  cholesky det inv pinv qr slogdet svd svdvals eig eigvals eigh eigvalsh matrix_rank
LINALG        2  solve
NORM          1  matrix_norm vector_norm
FFT           1  fft ifft fftn ifftn
RFFT          1  rfft rfftn ihfft
IRFFT         1  irfft irfftn hfft
CONCAT        0  concat stack
LOSS          2  huber_loss poisson_nll_loss l1_loss mse_loss
FLOAT_UNARY   1  sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh exp expm1
FLOAT_UNARY   1  log log1p log2 log10 sqrt reciprocal
SIGN          1  abs:abs negative:- positive:+ sign square
ROUND         1  floor ceil trunc round
TEST          1  isnan isinf isfinite signbit
COMPLEX       1  conj real imag
SUM           1  sum prod cumulative_sum cumulative_prod trace
MEAN          1  mean std var
EXTREME       1  max min
TRUTH         1  all any
POSITION      1  argmax argmin
SORT          1  sort
INDEX         1  argsort
POSITION      2  searchsorted
UNIQUE        1  unique_values unique_counts unique_inverse unique_all
ISIN          2  isin
MOVE          1  diagonal fftshift ifftshift
"""


_RECORDED = """
exp        erf erfinv erfc lgamma digamma rsqrt exp2 i0 sinc logit sigmoid logsigmoid softplus
exp        selu elu silu gelu mish celu softmax log_softmax logsumexp softsign tanhshrink
exp        deg2rad rad2deg float_power ldexp
sum        nansum
cumulative_sum   cumsum nancumsum
cumulative_prod  cumprod
mean       median nanmedian nanmean quantile nanquantile
multiply   hardswish hardsigmoid
diagonal   mode kthvalue cummax cummin topk tril triu diag diagflat diag_embed repeat_interleave
diagonal   take_along_dim scatter scatter_add index_add pad msort nan_to_num aminmax softshrink
diagonal   hardshrink unique_consecutive frac
real       view_as_real
argmax     one_hot bincount count_nonzero nonzero argwhere multinomial bucketize histc
add        complex polar
concat     view_as_complex
"""
"""Functions of one array that recorded programs call: policies answer for their dtypes, nothing
here computes them. Before them the operation that they go by where the framework was not asked."""


class _Operations(dict[str, Operation]):
    """The operations that are computed; indexing finds those that are only recorded, too."""

    def __missing__(self, name: str) -> Operation:
        return Operation(name, self[STANDS_FOR[name]].family, 1)


def _rows() -> _Operations:
    rows, families = _Operations(), Family.__members__
    for line in _TEXT.strip().splitlines():
        word, arity, *names = line.split()
        family, count = families[word], int(arity)
        for entry in names:
            name, _, symbol = entry.partition(":")
            rows[name] = Operation(name, family, count, symbol)
    return rows


STANDS_FOR = {
    name: stand_in
    for stand_in, *names in map(str.split, _RECORDED.strip().splitlines())
    for name in names
}
"""From functions that are only recorded to the operation that stands for them."""

OPERATIONS = _rows()
"""Every operation by name."""

BY_SYMBOL = {row.symbol: row for row in OPERATIONS.values() if row.symbol and row.arity == 2}
"""Binary operations by their Python operator."""


FIELDS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("eig", "eigh"), ("eigenvalues", "eigenvectors")),
    "qr": ("Q", "R"),
    "slogdet": ("sign", "logabsdet"),
    "svd": ("U", "S", "Vh"),
    "unique_all": ("values", "indices", "inverse_indices", "counts"),
    "unique_counts": ("values", "counts"),
    "unique_inverse": ("values", "inverse_indices"),
}
"""The results of operations that have several."""


def operation(name: str) -> Operation:
    """Return the operation called ``name`` or written with the operator ``name``.

    Raises
    ------
    ValueError
        If there is none.
    """
    try:
        return BY_SYMBOL.get(name) or OPERATIONS[name]
    except KeyError:
        said = suggestion(name, list(OPERATIONS))
        raise ValueError(f"unknown operation {quoted(name)}. {said}") from None
