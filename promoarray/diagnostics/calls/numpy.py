"""NumPy's functions and methods in promoarray's words.

A call *computes* one operation, stands for several (an *expansion*, which is approximate), *moves*
values, *makes* an array, or *casts* one. Tables say which; no rule of promotion is here.
"""

from __future__ import annotations

from functools import cache

from promoarray.diagnostics.calls.tables import Expansion, expansions_in, names, synonyms
from promoarray.operations import OPERATIONS

_NAMED_OTHERWISE = """
divide     true_divide
pow        power
remainder  mod fmod
atan2      arctan2
logaddexp  logaddexp2 heaviside
abs        absolute
conj       conjugate
bitwise_invert invert bitwise_not
bitwise_left_shift  left_shift
bitwise_right_shift right_shift
concat     concatenate hstack vstack dstack column_stack row_stack append block
round      around round_
max        amax nanmax
min        amin nanmin
sum        nansum
prod       nanprod product
mean       nanmean
std        nanstd
var        nanvar
all        alltrue
any        sometrue
argmax     nanargmax
argmin     nanargmin
cumulative_sum  cumsum nancumsum
cumulative_prod cumprod nancumprod cumproduct
matmul     inner dot vdot
vector_norm norm
unique_values unique union1d intersect1d setdiff1d setxor1d
isin       in1d
fftn       fft2
ifftn      ifft2
rfftn      rfft2
irfftn     irfft2
"""

_EXPANSIONS = """
median quantile percentile nanmedian nanquantile nanpercentile (a): mean(a)
average (a, axis, weights): multiply(a, weights) mean(_)
gradient (f, step): subtract(f, f) divide(_, step)
trapezoid trapz (y): add(y, y) mean(_)
polyval (p, x): multiply(p, x) add(_, p)
convolve correlate kron (a, v): multiply(a, v)
ptp (a): subtract(a, a)
lstsq (a, b): solve(a, b)
cbrt exp2 sinc fabs rint degrees radians rad2deg deg2rad i0 spacing ldexp (x): exp(x)
cov corrcoef (m): exp(m)
angle (z): real(z) atan2(_, _)
gcd lcm (x1, x2): maximum(x1, x2)
interp (x, xp, fp): exp(fp)
"""


MOVES = names("""
    reshape ravel transpose permute_dims matrix_transpose swapaxes squeeze flatten copy take repeat
    tile roll flip fliplr flipud broadcast_to expand_dims moveaxis rollaxis split array_split hsplit
    vsplit dsplit unstack atleast_1d atleast_2d atleast_3d pad triu tril diag diagflat diagonal
    compress extract choose delete insert rot90 resize partition ascontiguousarray asfortranarray
    asarray asanyarray array asarray_chkfinite require sliding_window_view as_strided
    take_along_axis broadcast_arrays trim_zeros sort_complex view item fftshift ifftshift
    nan_to_num __getitem__ T mT flat random.permutation random.permuted random.choice
    ma.array ma.asarray ma.asanyarray ma.masked_where ma.masked_invalid ma.masked_equal
    ma.masked_greater ma.masked_less ma.getdata ma.filled ma.compressed filled compressed
""")
"""The dtype stays as it is, unless one is named."""

MAKES = names("""
    zeros_like ones_like empty_like meshgrid mgrid ogrid indices
    bincount nonzero argwhere flatnonzero count_nonzero fromiter frombuffer fromstring fromfile
    loadtxt genfromtxt load histogram histogram2d histogramdd histogram_bin_edges digitize
    argpartition lexsort unravel_index ravel_multi_index unwrap float_power polyfit roots
    poly vander fromfunction packbits unpackbits isclose iscomplex isreal isneginf isposinf isnat
    frexp modf apply_along_axis apply_over_axes vectorize piecewise select full_like
    tril_indices triu_indices diag_indices triu_indices_from tril_indices_from ix_ bitwise_count
    divmod newbyteorder byteswap searchsorted
    random.get_state random.spawn
    emath.sqrt emath.log emath.log2 emath.logn emath.log10 emath.power emath.arccos emath.arcsin
    emath.arctanh
""")
"""The dtype is the program's, or follows from no promotion."""

CHANGED = names("""
    geomspace logspace emath.power emath.logn select
""")
"""What NumPy 2 computes in another way than NumPy 1, whatever is promoted to what."""

INSIDE = names("""
    histogram histogram2d histogramdd histogram_bin_edges unwrap polyfit roots poly emath.sqrt
    emath.log emath.log2 emath.log10 emath.arccos emath.arcsin emath.arctanh
    einsum kron polyval choose
""")
"""What computes with numbers in code of its own, of which the last bits hang on NumPy's edition."""

_DRAWN_FLOATS = names("""
    random rand randn random_sample uniform normal standard_normal exponential beta gamma lognormal
    multivariate_normal laplace standard_exponential dirichlet rayleigh weibull triangular vonmises
    chisquare noncentral_chisquare logistic pareto power standard_t standard_gamma standard_cauchy
    gumbel wald f noncentral_f
""")
_DRAWN_INTS = names("""
    randint integers poisson binomial negative_binomial geometric hypergeometric multinomial zipf
    logseries
""")

OF_ANY = names("zeros ones empty eye identity tri")
"""Of these what is made is as good in any dtype, as is what is drawn."""

BETWEEN = names("linspace logspace geomspace")
"""From one number to another; of arrays and NumPy's scalars they have the dtype."""

DEFAULTS: dict[str, float | None] = {
    **dict.fromkeys(OF_ANY, 0.0),
    **dict.fromkeys(names("hanning hamming blackman bartlett kaiser fftfreq rfftfreq"), 0.0),
    **dict.fromkeys(names("loadtxt genfromtxt"), 0.0),
    **dict.fromkeys(BETWEEN, 0.0),
    **{f"random.{name}": 0.0 for name in _DRAWN_FLOATS},
    **{f"random.{name}": 0 for name in _DRAWN_INTS},
    **dict.fromkeys(names("array asarray asanyarray arange full diag diagflat vander")),
}
"""What has a default dtype if none is named: a number like those it holds; None if it is given."""

DTYPE_AT = {
    **dict.fromkeys(names("zeros ones empty identity array asarray asanyarray"), 1),
    **dict.fromkeys(names("loadtxt genfromtxt"), 1),
    **dict.fromkeys(names("random.random random.standard_normal random.standard_exponential"), 1),
    **dict.fromkeys(names("full random.standard_gamma"), 2),
    **dict.fromkeys(names("arange eye tri random.randint random.integers"), 3),
    **dict.fromkeys(names("geomspace"), 4),
    **dict.fromkeys(names("linspace logspace"), 5),
}
"""Which argument of these is a dtype, if there are as many; the others take none by position."""

REDUCTIONS = {
    ("add", "reduce"): "sum",
    ("add", "reduceat"): "sum",
    ("multiply", "reduce"): "prod",
    ("maximum", "reduce"): "max",
    ("minimum", "reduce"): "min",
    ("logical_and", "reduce"): "all",
    ("logical_or", "reduce"): "any",
    ("add", "accumulate"): "cumulative_sum",
    ("multiply", "accumulate"): "cumulative_prod",
}
"""Methods of ufuncs that are operations of their own."""

OPERANDS = {
    "where": (1, ("x", "y")),
    "clip": (0, ("a", "a_min", "a_max", "min", "max")),
}
"""From which argument on the operands are, and their names where they have any."""


STORES: dict[str, tuple[int | None, int, str, int]] = {
    **dict.fromkeys(names("array asarray asanyarray"), (None, 0, "object", 1)),
    "full": (None, 1, "fill_value", 2),
    "full_like": (0, 1, "fill_value", 2),
    "fill": (0, 1, "value", -1),
    "put": (0, 2, "v", -1),
    "place": (0, 2, "vals", -1),
    "putmask": (0, 2, "values", -1),
    "copyto": (0, 1, "src", -1),
    "insert": (0, 2, "values", -1),
    "fill_diagonal": (0, 1, "val", -1),
    "put_along_axis": (0, 2, "values", -1),
    "itemset": (0, 1, "value", -1),
    "pad": (0, 9, "constant_values", -1),
}
"""Functions that store numbers: the array in which, if it is given; which argument they are, and
its name; and which argument is a dtype."""


@cache
def operations() -> dict[str, str]:
    """From NumPy's names to operations."""
    found = {name: name for name in OPERATIONS if name not in MOVES}
    found |= synonyms(_NAMED_OTHERWISE)
    inverse = (n for n in OPERATIONS if n.startswith("a") and n[1:] in OPERATIONS)
    found |= {f"arc{name[1:]}": name for name in inverse}
    return {name: each for name, each in found.items() if name not in MAKES}


@cache
def expansions() -> dict[str, Expansion]:
    """From NumPy's names to what they stand for."""
    return expansions_in(_EXPANSIONS)
