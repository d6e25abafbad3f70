"""Paddle's functions and methods in promoarray's words, beside what is common.

Those of ``paddle._C_ops`` are among them: layers and optimizers call these.
"""

from __future__ import annotations

from functools import cache

from promoarray.diagnostics.calls import common
from promoarray.diagnostics.calls.common import Words
from promoarray.diagnostics.calls.tables import names

_NAMED_OTHERWISE = """
add           elementwise_add
subtract      elementwise_sub
divide        elementwise_div
remainder     floor_mod
pow           elementwise_pow
less          less_than
greater       greater_than
outer         ger
sign          sgn
concat        row_stack
vector_norm   p_norm frobenius_norm
mean          mean_all
fftn          fft2
ifftn         ifft2
rfftn         rfft2
irfftn        irfft2
take_along_dim take_along_axis
view_as_complex as_complex
view_as_real  as_real
logsigmoid    log_sigmoid
tanhshrink    tanh_shrink
lgamma        gammaln
"""

_EXPANSIONS = """
dot (input, other): matmul(input, other)
linear_v2 depthwise_conv2d conv1d_transpose conv2d_transpose conv3d_transpose (input, weight, bias):
    matmul(input, weight) add(_, bias)
scale (input, scale): multiply(input, scale)
stanh swish i0e i1 i1e logcumsumexp polygamma (input): exp(input)
group_norm (input, groups, epsilon, weight, bias): mean(input) subtract(input, _) multiply(_,
    weight) add(_, bias)
sync_batch_norm_ (input, running_mean, running_var, weight, bias): subtract(input, running_mean)
    multiply(_, weight) add(_, bias)
cross_entropy_with_softmax softmax_with_cross_entropy (input): exp(input) mean(_)
bce_loss log_loss (input, target): log(input) multiply(_, target) mean(_)
sigmoid_cross_entropy_with_logits (input, target): exp(input) multiply(_, target) mean(_)
kldiv_loss (input, target): exp(target) multiply(_, input) mean(_)
square_error_cost (input, target): subtract(input, target) square(_)
label_smooth (input, prior, epsilon): multiply(input, epsilon)
squared_l2_norm (input): square(input) sum(_)
dist (input, other): subtract(input, other) vector_norm(_)
clip_by_norm (input): vector_norm(input) multiply(input, _)
flash_attn flash_attention (query, key, value): matmul(query, key) exp(_) matmul(_, value)
swiglu (input, other): exp(input) multiply(_, other)
addmm baddbmm (input, x, other): matmul(x, other) add(_, input)
kron heaviside (input, other): multiply(input, other)
sgd_ (input, rate, gradient): multiply(gradient, rate) subtract(input, _)
momentum_ (input, gradient, velocity, rate): multiply(velocity, rate) subtract(input, _)
adam_ adamw_ lamb_ (input, gradient, rate, moment1, moment2): sqrt(moment2) divide(moment1, _)
    multiply(_, rate) subtract(input, _)
adamax_ (input, gradient, rate, moment, norm): divide(moment, norm) multiply(_, rate)
    subtract(input, _)
adagrad_ (input, gradient, moment, rate): sqrt(moment) divide(gradient, _) multiply(_, rate)
    subtract(input, _)
rmsprop_ (input, square, gradient, moment, rate): sqrt(square) divide(gradient, _) multiply(_, rate)
    subtract(input, _)
adadelta_ nadam_ radam_ asgd_ rprop_ (input, gradient): subtract(input, gradient)
"""

_MOVES = names("""
    reshape_ view_shape view_slice share_data share_data_ assign assign_out_ slice strided_slice
    crop reverse gather_nd index_sample put_along_axis put_along_axis_ scatter_nd scatter_nd_add
    scatter_add_ scatter_reduce index_add_ masked_scatter masked_scatter_ unstack split_with_num
    dsplit flatten_ matrix_transpose increment increment_ fill set_value set_value_
    set_value_with_tensor set_value_with_tensor_ index_elementwise_get index_elementwise_put
    index_elementwise_put_ fill_diagonal_ fill_diagonal_tensor fill_diagonal_tensor_ tril_ triu_
    multiplex dropout3d pool2d pool3d adaptive_avg_pool3d adaptive_max_pool1d adaptive_max_pool3d
    lp_pool2d max_pool2d_with_index max_pool3d_with_index thresholded_relu thresholded_relu_ maxout
    rrelu nearest_interp linear_interp bilinear_interp trilinear_interp bicubic_interp pad3d
    zeropad2d tensor_unfold temporal_shift identity_loss select_scatter slice_scatter
    diagonal_scatter npu_identity renorm renorm_
""")
_CASTS = names("""
    astype to cast cast_ float16 float32 float64 int8 int16 int32 int64 uint8 complex64 complex128
    cfloat cdouble byte char
""")
_MAKES = names("""
    gaussian gaussian_inplace gaussian_inplace_ uniform_inplace uniform_inplace_
    uniform_random_batch_size_like truncated_gaussian_random binomial standard_gamma dirichlet full_
    full_int_array full_with_tensor full_batch_size_like assign_value assign_value_ accuracy auc
    isclose allclose equal_all is_empty numel shape rank histogram histogramdd sequence_mask
    check_finite_and_unscale_ update_loss_scaling_ average_accumulates_ create_parameter isneginf
    isposinf isreal matrix_rank_tol matrix_rank_atol_rtol random log_normal class_center_sample
    merge_selected_rows coalesce_tensor_ coalesce_tensor
""")
_OF_FLOATS = names("standard_normal uniform fftfreq rfftfreq hann_window hamming_window")

RENAMED = {"x": "input", "y": "other", "label": "target", "logit": "input"}
"""Paddle's names of parameters, and those that the tables use."""

KERNELS = {"argsort": "sort"}
"""Kernels that are called as a function which does something else."""


@cache
def words() -> Words:
    """What Paddle's names mean."""
    return Words(
        common.operations(_NAMED_OTHERWISE),
        common.expansions(_EXPANSIONS),
        common.MOVES | _MOVES,
        common.CASTS | _CASTS,
        common.MAKES | _MAKES,
        common.ARGUMENT,
        common.DEFAULTS | dict.fromkeys(_OF_FLOATS, 0.0) | {"to_tensor": None},
    )
