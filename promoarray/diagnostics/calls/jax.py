"""JAX's functions, operators and methods in promoarray's words.

Names of ``jax.numpy``, and of arrays' methods, stand as they are; those of other modules have the
module's before them: ``lax.add``. A call *computes* one operation, stands for several (an
*expansion*, which is approximate), *moves* values, *makes* an array, *casts* it, or asks about it.
"""

from __future__ import annotations

from functools import cache

from promoarray.diagnostics.calls import common
from promoarray.diagnostics.calls.common import Words
from promoarray.diagnostics.calls.tables import Expansion, expansions_in, names

_NAMED_OTHERWISE = """
add                 lax.add
subtract            lax.sub
multiply            lax.mul
divide              lax.div
remainder           mod
equal               lax.eq
not_equal           lax.ne
less                lax.lt
less_equal          lax.le
greater             lax.gt
greater_equal       lax.ge
bitwise_invert      invert lax.bitwise_not
bitwise_left_shift  left_shift lax.shift_left
bitwise_right_shift right_shift lax.shift_right_arithmetic
maximum             lax.max
minimum             lax.min
where               lax.select
matmul              dot
concat              append lax.concatenate
negative            lax.neg
conj                conjugate
round               around
isfinite            lax.is_finite
fftn                fft.fft2
ifftn               fft.ifft2
rfftn               fft.rfft2
irfftn              fft.irfft2
one_hot             nn.one_hot
bucketize           digitize
"""

_OF_LAX = names("""
    abs acos acosh asin asinh atan atan2 atanh bitwise_and bitwise_or bitwise_xor ceil cos cosh
    exp expm1 floor imag log log1p nextafter real reciprocal sign sin sinh sqrt square tan tanh
""")
_OF_LINALG = names("""
    cholesky cross det diagonal eig eigh eigvals eigvalsh inv matmul matrix_norm matrix_power
    matrix_rank outer pinv qr slogdet solve svd svdvals tensordot trace vecdot vector_norm
""")
_OF_FFT = names("fft fftn ifft ifftn rfft rfftn irfft irfftn hfft ihfft fftshift ifftshift")

_EXPANSIONS = """
divmod __divmod__ (input, other): floor_divide(input, other)
__rdivmod__ (input, other): floor_divide(other, input)
fmod lax.rem (input, other): remainder(input, other)
lax.pow lax.integer_pow (input, other): pow(input, other)
float_power special.betaln special.beta special.gammainc special.gammaincc special.zeta special.poch
    special.kl_div special.rel_entr special.polygamma special.bessel_jn (input, other):
    multiply(input, other) exp(_)
gcd lcm heaviside scipy.linalg.eigh_tridiagonal (input, other): add(input, other)
logaddexp2 (input, other): logaddexp(input, other)
kron (input, other): multiply(input, other)
vdot convolve correlate matvec vecmat (input, other): multiply(input, other) sum(_)
polyval (p, input): multiply(p, input) add(_, p)
interp (input, xp, fp): multiply(input, xp) multiply(_, fp)
trapezoid (other, input): multiply(other, input) sum(_)
gradient (f): subtract(f, f) divide(_, _)
ptp (input): subtract(input, input)
ediff1d (input): diff(input)
isclose allclose array_equal array_equiv (input, other): equal(input, other)
exp2 cbrt sinc deg2rad degrees rad2deg radians fabs rint i0 lax.exp2 lax.cbrt lax.rsqrt lax.logistic
    lax.erf lax.erfc lax.erf_inv lax.lgamma lax.digamma nn.softmax nn.log_softmax nn.logsumexp
    nn.logmeanexp nn.log1mexp nn.sigmoid nn.log_sigmoid nn.silu nn.swish nn.gelu nn.elu nn.celu
    nn.selu nn.mish nn.softplus nn.soft_sign nn.tanh nn.squareplus nn.leaky_relu nn.glu
    nn.hard_sigmoid nn.hard_silu nn.hard_swish nn.sparse_sigmoid special.erf special.erfc
    special.erfinv special.erfcx special.gammaln special.gamma special.digamma special.loggamma
    special.expit special.logit special.entr special.ndtr special.ndtri special.i0 special.log_ndtr
    special.factorial special.i0e special.i1 special.i1e special.exp1 special.expi special.softmax
    special.log_softmax special.logsumexp special.dawsn special.spence image.resize
    image.scale_and_translate stats.rankdata (input): exp(input)
angle (input): real(input) atan2(_, _)
average percentile nanpercentile cov corrcoef stats.sem (input): mean(input)
nanstd (input): std(input)
nanvar (input): var(input)
lax.reduce_sum (input): sum(input)
nanprod lax.reduce_prod (input): prod(input)
lax.cumsum (input): cumsum(input)
nancumprod lax.cumprod (input): cumprod(input)
nanmax lax.reduce_max (input): max(input)
nanmin lax.reduce_min (input): min(input)
lax.dot lax.dot_general lax.batch_matmul lax.ragged_dot lax.conv lax.conv_general_dilated
    lax.conv_with_general_padding lax.conv_transpose scipy.linalg.expm_frechet
    scipy.linalg.qr_multiply (input, other): matmul(input, other)
linalg.lstsq linalg.tensorsolve scipy.linalg.solve scipy.linalg.solve_triangular
    scipy.linalg.solve_sylvester (input, other): solve(input, other)
linalg.cond linalg.tensorinv scipy.linalg.cholesky scipy.linalg.cho_factor scipy.linalg.lu
    scipy.linalg.lu_factor scipy.linalg.inv scipy.linalg.det scipy.linalg.eigh scipy.linalg.svd
    scipy.linalg.qr scipy.linalg.expm scipy.linalg.schur scipy.linalg.sqrtm scipy.linalg.polar
    scipy.linalg.hessenberg scipy.linalg.rsf2csf scipy.linalg.funm (input): inv(input)
linalg.norm (input): vector_norm(input)
lax.conj (input): conj(input)
lax.clamp (min, input, max): maximum(input, min) minimum(_, max)
nn.standardize (input): mean(input) subtract(input, _)
nn.dot_product_attention (query, key, value): matmul(query, key) exp(_) matmul(_, value)
special.betainc (input, other, x): multiply(input, other) multiply(_, x) exp(_)
scipy.linalg.cho_solve scipy.linalg.lu_solve (factors, other): solve(other, other)
special.xlogy special.xlog1py (input, other): log(other) multiply(input, _)
"""

DISTRIBUTIONS = names("""
    bernoulli beta betabinom binom cauchy chi2 dirichlet expon gamma gennorm geom gumbel_l gumbel_r
    laplace logistic multinomial multivariate_normal nbinom norm pareto poisson t truncnorm uniform
    vonmises wrapcauchy
""")
"""The modules of ``jax.scipy.stats``, and what they have."""

_OF_DISTRIBUTIONS = names("cdf entropy isf logcdf logpdf logpmf logsf pdf pmf ppf sf")

MOVES = names("""
    T mT reshape ravel flatten transpose permute_dims matrix_transpose swapaxes moveaxis rollaxis
    expand_dims squeeze broadcast_to broadcast_arrays atleast_1d atleast_2d atleast_3d resize
    __getitem__ take take_along_axis choose compress extract delete insert diag diagflat
    tile repeat roll rot90 flip fliplr flipud pad tril triu meshgrid split array_split hsplit vsplit
    dsplit unstack block copy nan_to_num partition sort_complex lexsort select trim_zeros
    zeros_like ones_like empty_like full_like put_along_axis fill_diagonal real_if_close
    linalg.matrix_transpose
    lax.reshape lax.transpose lax.rev lax.squeeze lax.expand_dims lax.broadcast lax.broadcast_in_dim
    lax.broadcast_like lax.broadcast_to_rank lax.collapse lax.slice lax.slice_in_dim
    lax.index_in_dim lax.index_take lax.dynamic_slice lax.dynamic_slice_in_dim
    lax.dynamic_index_in_dim
    lax.dynamic_update_slice lax.dynamic_update_slice_in_dim lax.dynamic_update_index_in_dim
    lax.gather lax.scatter lax.scatter_add lax.scatter_apply lax.scatter_max lax.scatter_min
    lax.scatter_mul lax.scatter_sub lax.pad lax.tile lax.split lax.sort lax.sort_key_val lax.top_k
    lax.approx_max_k lax.approx_min_k lax.stop_gradient lax.optimization_barrier lax.full_like
    lax.reduce lax.reduce_window lax.cummax lax.cummin lax.round lax.stack lax.unstack lax.psum
    lax.pmean lax.pmax lax.pmin lax.all_gather lax.all_to_all lax.ppermute lax.psum_scatter
    lax.with_sharding_constraint lax.reduce_precision lax.cumlogsumexp lax.reduce_and lax.reduce_or
    scipy.linalg.toeplitz scipy.linalg.block_diag scipy.linalg.circulant scipy.linalg.companion
    scipy.linalg.convolution_matrix scipy.linalg.fiedler scipy.linalg.fiedler_companion
    scipy.linalg.hankel scipy.linalg.leslie stats.mode
    nn.relu nn.relu6 nn.hard_tanh nn.identity nn.sparse_plus
    random.permutation random.choice at.get at.apply device_put
""")
"""The dtype stays as it is."""

ARGUMENT = {"random.permutation": 1, "random.choice": 1, "extract": 1, "compress": 1, "select": 1}
"""Which argument's values are moved, if not the first's."""

CASTS = names("astype lax.convert_element_type")
"""The program names the dtype."""

MAKES = names("""
    __round__ view frombuffer from_dlpack fromiter fromstring indices mask_indices diag_indices
    diag_indices_from tril_indices triu_indices tril_indices_from triu_indices_from ix_ flatnonzero
    argpartition unravel_index ravel_multi_index histogram histogram2d histogramdd
    histogram_bin_edges packbits unpackbits bitwise_count frexp modf ldexp iscomplex isreal isneginf
    isposinf nanargmax nanargmin polyfit roots poly vander intersect1d setdiff1d setxor1d union1d
    lax.iota lax.broadcasted_iota lax.argmax lax.argmin lax.bitcast_convert_type lax.complex
    lax.population_count lax.clz lax.fft lax.axis_index lax.shift_right_logical lax.dtype
    lax.rng_bit_generator random.PRNGKey random.key random.split random.fold_in random.key_data
    random.wrap_key_data random.clone random.bits random.bernoulli
""")
"""The dtype is the program's, or follows from no promotion."""

_OF_FLOATS = names("""
    zeros ones empty eye identity tri linspace logspace geomspace hamming hanning blackman bartlett
    kaiser fft.fftfreq fft.rfftfreq random.normal random.uniform random.truncated_normal
    random.exponential random.gamma random.beta random.cauchy random.dirichlet random.gumbel
    random.laplace random.logistic random.lognormal random.multivariate_normal random.orthogonal
    random.pareto random.rayleigh random.t random.f random.ball random.chisquare random.maxwell
    random.triangular random.wald random.weibull_min random.generalized_normal random.loggamma
    scipy.linalg.hilbert scipy.linalg.invhilbert scipy.linalg.pascal scipy.linalg.invpascal
    scipy.linalg.dft scipy.linalg.hadamard scipy.linalg.helmert
""")
_OF_INTS = names("""
    random.randint random.categorical random.poisson random.geometric random.binomial
    random.multinomial random.rademacher
""")
_OF_WHAT_IS_GIVEN = names("array asarray arange full lax.full")

DEFAULTS: dict[str, float | None] = {
    **dict.fromkeys(_OF_FLOATS, 0.0),
    **dict.fromkeys(_OF_INTS, 0),
    **dict.fromkeys(_OF_WHAT_IS_GIVEN),
}
"""What has a default dtype if none is named: a number like those it holds; None if it is given."""

UPDATES = names("at.set at.add at.subtract at.multiply at.mul at.divide at.power at.min at.max")
"""``x.at[key].set(value)``: the dtype of ``x`` stays, whatever the value has."""

UNSEEN = names("""
    vectorize frompyfunc apply_along_axis apply_over_axes piecewise fromfunction printoptions
    lax.scan lax.map lax.cond lax.switch lax.while_loop lax.fori_loop lax.associative_scan
    lax.custom_root lax.custom_linear_solve lax.platform_dependent lax.composite
""")
"""Functions that call the program's own, in which everything is seen as it is traced."""

OPERATORS = names("""
    __add__ __radd__ __sub__ __rsub__ __mul__ __rmul__ __truediv__ __rtruediv__ __floordiv__
    __rfloordiv__ __mod__ __rmod__ __divmod__ __rdivmod__ __pow__ __rpow__ __matmul__ __rmatmul__
    __and__ __rand__ __or__ __ror__ __xor__ __rxor__ __lshift__ __rlshift__ __rshift__ __rrshift__
    __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __neg__ __pos__ __abs__ __invert__ __round__
    __getitem__
""")
METHODS = names("""
    T mT real imag all any argmax argmin argpartition argsort astype choose clip compress conj
    conjugate copy cumprod cumsum diagonal dot flatten max mean min nonzero prod ptp ravel repeat
    reshape round searchsorted sort squeeze std sum swapaxes take trace transpose var view
""")


RENAMED = {
    **dict.fromkeys(("a", "arr", "lhs", "m", "on_true", "operand", "x", "x1", "z"), "input"),
    **dict.fromkeys(("b", "on_false", "rhs", "v", "x2", "y"), "other"),
    "a_min": "min",
    "a_max": "max",
}
"""JAX's names of parameters, and those that the tables use."""


@cache
def words() -> Words:
    """What JAX's names mean."""
    return Words(operations(), expansions(), MOVES, CASTS, MAKES, ARGUMENT, DEFAULTS)


@cache
def operations() -> dict[str, str]:
    """From JAX's names to operations."""
    found = common.operations(_NAMED_OTHERWISE, MOVES | MAKES | expansions().keys())
    found |= {f"lax.{name}": name for name in _OF_LAX}
    found |= {f"linalg.{name}": name for name in _OF_LINALG}
    return found | {f"fft.{name}": name for name in _OF_FFT}


@cache
def expansions() -> dict[str, Expansion]:
    """From JAX's names to what they stand for."""
    of_one = (f"stats.{which}.{name}" for which in DISTRIBUTIONS for name in _OF_DISTRIBUTIONS)
    densities = f"{' '.join(of_one)} (input, other): exp(input) subtract(_, other)"
    return expansions_in(_EXPANSIONS) | expansions_in(densities)
