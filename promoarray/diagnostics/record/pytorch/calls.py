"""What PyTorch's functions and methods are in promoarray's words.

A call *computes* one operation, stands for several (an *expansion*, which is approximate), *moves*
values, *makes* a tensor, *casts* it, or asks about it. Tables say which; no rule of promotion is
here.
"""

from __future__ import annotations

from functools import cache

from promoarray.diagnostics.record.tables import Expansion, expansions_in, names, synonyms
from promoarray.operations import OPERATIONS

_NAMED_OTHERWISE = """
add       __add__ __radd__
subtract  sub __sub__ __rsub__ rsub
multiply  mul __mul__ __rmul__
divide    div true_divide __truediv__ __rtruediv__ __div__ __rdiv__
floor_divide  __floordiv__ __rfloordiv__
remainder __mod__ __rmod__
pow       __pow__ __rpow__ power
equal     eq __eq__
not_equal ne __ne__
less      lt __lt__
less_equal le __le__
greater   gt __gt__
greater_equal ge __ge__
bitwise_and __and__ __rand__
bitwise_or  __or__ __ror__
bitwise_xor __xor__ __rxor__
bitwise_invert bitwise_not __invert__
bitwise_left_shift  __lshift__ __rlshift__
bitwise_right_shift __rshift__ __rrshift__
atan2     arctan2
clip      clamp
matmul    mm bmm mv inner __matmul__ __rmatmul__
vecdot    dot vdot linalg_vecdot
concat    cat concatenate hstack vstack dstack column_stack
abs       absolute __abs__
negative  neg __neg__
positive  __pos__
conj      conj_physical resolve_conj
max       amax
min       amin
cumulative_sum  cumsum
cumulative_prod cumprod
trunc     fix
vector_norm norm linalg_vector_norm linalg_norm
matrix_norm linalg_matrix_norm
solve     linalg_solve
inv       inverse linalg_inv
det       linalg_det
qr        linalg_qr
svd       linalg_svd
svdvals   linalg_svdvals
eig       linalg_eig
eigh      linalg_eigh
eigvalsh  linalg_eigvalsh
cholesky  linalg_cholesky
pinv      pinverse linalg_pinv
slogdet   linalg_slogdet
matrix_rank linalg_matrix_rank
cross     linalg_cross
unique_values unique unique_consecutive
fft       fft_fft
ifft      fft_ifft
fftn      fft_fft2 fft_fftn
ifftn     fft_ifft2 fft_ifftn
rfft      fft_rfft
rfftn     fft_rfft2 fft_rfftn
irfft     fft_irfft
irfftn    fft_irfft2 fft_irfftn
hfft      fft_hfft
ihfft     fft_ihfft
"""

_NOT_ALIKE = frozenset({"equal"})
"""Names that mean another thing in PyTorch: ``torch.equal`` compares whole tensors."""

_EXPANSIONS = """
linear conv1d conv2d conv3d conv_transpose1d conv_transpose2d (input, weight, bias)
    matmul(input, weight) add(_, bias)
bilinear (input1, input2, weight, bias)
    matmul(input1, weight) matmul(_, input2) add(_, bias)
addmm (input, mat1, mat2)
    matmul(mat1, mat2) add(_, input)
addmv (input, mat, vec)
    matmul(mat, vec) add(_, input)
baddbmm (input, batch1, batch2)
    matmul(batch1, batch2) add(_, input)
addr (input, vec1, vec2)
    outer(vec1, vec2) add(input, _)
addcdiv (input, tensor1, tensor2, value)
    divide(tensor1, tensor2) multiply(_, value) add(input, _)
addcmul (input, tensor1, tensor2, value)
    multiply(tensor1, tensor2) multiply(_, value) add(input, _)
lerp (input, end, weight)
    subtract(end, input) multiply(_, weight) add(input, _)
scaled_dot_product_attention multi_head_attention_forward (query, key, value)
    matmul(query, key) exp(_) matmul(_, value)
layer_norm group_norm (input, shape, weight, bias)
    mean(input) subtract(input, _) multiply(_, weight) add(_, bias)
batch_norm (input, running_mean, running_var, weight, bias)
    subtract(input, running_mean) multiply(_, weight) add(_, bias)
instance_norm (input, running_mean, running_var, weight, bias)
    mean(input) subtract(input, _) multiply(_, weight) add(_, bias)
rms_norm (input, shape, weight)
    square(input) mean(_) divide(input, _) multiply(_, weight)
normalize (input)
    vector_norm(input) divide(input, _)
cosine_similarity (x1, x2)
    multiply(x1, x2) sum(_) sqrt(_)
cdist (x1, x2)
    subtract(x1, x2) square(_) sum(_) sqrt(_)
cross_entropy (input)
    exp(input) mean(_)
nll_loss (input)
    mean(input)
kl_div (input, target)
    exp(target) multiply(_, input) mean(_)
smooth_l1_loss (input, target)
    subtract(input, target) abs(_) mean(_)
binary_cross_entropy (input, target)
    log(input) multiply(_, target) mean(_)
binary_cross_entropy_with_logits (input, target)
    exp(input) multiply(_, target) mean(_)
softmax log_softmax logsumexp sigmoid logsigmoid silu gelu elu selu mish softplus (input)
    exp(input)
erf erfc erfinv lgamma digamma (input)
    exp(input)
polygamma (n, input)
    exp(input)
rsqrt (input)
    reciprocal(input)
hardswish hardsigmoid (input)
    multiply(input, input)
frac (input)
    subtract(input, input)
xlogy (input, other)
    log(other) multiply(input, _)
float_power (input, exponent)
    pow(input, exponent)
"""


MOVES = names("""
    view view_as reshape reshape_as transpose permute t T mT H mH adjoint contiguous expand
    expand_as squeeze unsqueeze flatten unflatten ravel movedim moveaxis swapaxes swapdims
    as_strided alias
    resize_ squeeze_ unsqueeze_ transpose_ t_ atleast_1d atleast_2d atleast_3d
    __getitem__ select narrow split split_with_sizes chunk tensor_split hsplit vsplit unbind
    index_select gather take take_along_dim masked_select topk kthvalue median nanmedian mode cummax
    cummin repeat repeat_interleave tile roll flip fliplr flipud rot90 diag diagonal diag_embed
    block_diag triu tril meshgrid broadcast_to broadcast_tensors unfold fold pad
    clone detach detach_ requires_grad_ data grad cpu cuda pin_memory values indices
    masked_fill masked_fill_ index_fill index_fill_ index_put index_put_ index_copy index_copy_
    scatter scatter_ copy_ fill_ zero_ nan_to_num nan_to_num_
    dropout dropout_ dropout1d dropout2d alpha_dropout feature_dropout relu relu_ relu6 leaky_relu
    leaky_relu_ hardtanh hardtanh_ prelu threshold embedding embedding_bag
    max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d adaptive_avg_pool1d
    adaptive_avg_pool2d adaptive_max_pool2d interpolate upsample grid_sample pixel_shuffle
    pixel_unshuffle channel_shuffle
""")
"""The dtype stays as it is."""

ARGUMENT = {"embedding": 1, "embedding_bag": 1}
"""Which argument's values are moved, if not the first's."""

CASTS = names("""
    to type type_as float double half bfloat16 int long short byte bool char cfloat cdouble chalf
""")
"""The program names the dtype, or a tensor of that dtype."""

MAKES = names("""
    from_numpy frombuffer from_dlpack numpy zeros_like ones_like empty_like full_like rand_like
    randn_like randint_like new_zeros new_ones new_tensor new_full new_empty
    normal normal_ uniform_ bernoulli bernoulli_ exponential_ cauchy_ log_normal_ geometric_ random_
    trunc_normal_ kaiming_uniform_ kaiming_normal_ xavier_uniform_ xavier_normal_ multinomial
    poisson constant_ zeros_ ones_ eye_ orthogonal_ one_hot bincount histc bucketize
    nonzero nonzero_static
    argwhere tril_indices triu_indices complex polar view_as_complex view_as_real isin searchsorted
    count_nonzero quantize_per_tensor stft istft
""")
"""The dtype is the program's, or follows from no promotion."""

_OF_FLOATS = names("""
    zeros ones empty rand randn eye linspace logspace fft_fftfreq fft_rfftfreq hann_window
    hamming_window blackman_window bartlett_window kaiser_window
""")
_OF_WHAT_IS_GIVEN = names("tensor as_tensor asarray arange full scalar_tensor")

DEFAULTS: dict[str, float | None] = {
    **dict.fromkeys(_OF_FLOATS, 0.0),
    **dict.fromkeys(names("randint randperm"), 0),
    **dict.fromkeys(_OF_WHAT_IS_GIVEN),
}
"""What has a default dtype if none is named: a number like those it holds; None if it is given."""


@cache
def operations() -> dict[str, str]:
    """From PyTorch's names to operations."""
    found = {name: name for name in OPERATIONS if name not in _NOT_ALIKE}
    found |= synonyms(_NAMED_OTHERWISE)
    inverse = (n for n in OPERATIONS if n.startswith("a") and n[1:] in OPERATIONS)
    return found | {f"arc{name[1:]}": name for name in inverse}


@cache
def expansions() -> dict[str, Expansion]:
    """From PyTorch's names to what they stand for."""
    return expansions_in(_EXPANSIONS)


def is_reflected(name: str) -> bool:
    """Whether a method is that of the right operand: ``__radd__``."""
    return name == "rsub" or (name.startswith("__r") and name[3:-2] in _REFLECTED)


_REFLECTED = names("add sub mul div truediv floordiv mod pow matmul and or xor lshift rshift")
