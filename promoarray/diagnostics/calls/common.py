"""Functions and methods of frameworks in promoarray's words.

A call *computes* one operation, stands for several (an *expansion*, which is approximate), *moves*
values, *makes* a tensor, *casts* it, or asks about it. Tables say which; no rule of promotion is
here. What PyTorch and Paddle call alike is in this module, what only one of them has in its own.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from promoarray.diagnostics.calls.tables import Expansion, expansions_in, names, synonyms
from promoarray.operations import OPERATIONS, STANDS_FOR

_NAMED_OTHERWISE = """
add           __add__ __radd__
subtract      sub __sub__ __rsub__ rsub
multiply      mul __mul__ __rmul__
divide        div true_divide __truediv__ __rtruediv__ __div__ __rdiv__
floor_divide  __floordiv__ __rfloordiv__
remainder     __mod__ __rmod__
pow           __pow__ __rpow__ power
equal         eq __eq__
not_equal     ne __ne__
less          lt __lt__
less_equal    le __le__
greater       gt __gt__
greater_equal ge __ge__
bitwise_and   __and__ __rand__
bitwise_or    __or__ __ror__
bitwise_xor   __xor__ __rxor__
bitwise_invert bitwise_not __invert__
bitwise_left_shift __lshift__ __rlshift__
bitwise_right_shift __rshift__ __rrshift__
atan2         arctan2
clip          clamp clamp_min clamp_max
matmul        mm bmm mv inner __matmul__ __rmatmul__
concat        cat concatenate hstack vstack dstack column_stack
abs           absolute __abs__
negative      neg __neg__
positive      __pos__
max           amax
min           amin
trunc         fix
vector_norm   norm
inv           inverse
unique_values unique unique_consecutive
"""

_EXPANSIONS = """
linear conv1d conv2d conv3d (input, weight, bias): matmul(input, weight) add(_, bias)
bilinear (input1, input2, weight, bias): matmul(input1, weight) matmul(_, input2) add(_, bias)
addmm (input, mat1, mat2): matmul(mat1, mat2) add(_, input)
baddbmm addbmm (input, batch1, batch2): matmul(batch1, batch2) add(_, input)
angle (input): real(input) atan2(_, _)
lerp (input, end, weight): subtract(end, input) multiply(_, weight) add(input, _)
scaled_dot_product_attention (query, key, value): matmul(query, key) exp(_) matmul(_, value)
layer_norm (input, shape, weight, bias): mean(input) subtract(input, _) multiply(_, weight)
    add(_, bias)
batch_norm (input, running_mean, running_var, weight, bias): subtract(input, running_mean)
    multiply(_, weight) add(_, bias)
instance_norm (input, running_mean, running_var, weight, bias): mean(input) subtract(input, _)
    multiply(_, weight) add(_, bias)
rms_norm (input, shape, weight): square(input) mean(_) divide(input, _) multiply(_, weight)
normalize (input): vector_norm(input) divide(input, _)
cosine_similarity (x1, x2): multiply(x1, x2) sum(_) sqrt(_)
cdist (x1, x2): subtract(x1, x2) square(_) sum(_) sqrt(_)
cross_entropy (input): exp(input) mean(_)
nll_loss (input): mean(input)
kl_div (input, target): exp(target) multiply(_, input) mean(_)
smooth_l1_loss (input, target): subtract(input, target) abs(_) mean(_)
binary_cross_entropy (input, target): log(input) multiply(_, target) mean(_)
binary_cross_entropy_with_logits (input, target): exp(input) multiply(_, target) mean(_)
"""


class Words(NamedTuple):
    """What a framework's names mean.

    Attributes
    ----------
    operations : dict of str to str
        From names to operations.
    expansions : dict of str to Expansion
    moves, casts, makes : frozenset of str
        The dtype stays as it is; the program names it; it follows from no promotion.
    argument : dict of str to int
        Which argument's values are moved, if not the first's.
    defaults : dict of str to float or None
        What has a default dtype if none is named: a number like those it holds; None if it is
        given.
    """

    operations: dict[str, str]
    expansions: dict[str, Expansion]
    moves: frozenset[str]
    casts: frozenset[str]
    makes: frozenset[str]
    argument: dict[str, int]
    defaults: dict[str, float | None]


FILLS = names("""
    alpha_dropout bernoulli_ cauchy_ constant_ dirac_ dropout dropout1d dropout2d dropout3d
    exponential_ eye_ feature_alpha_dropout geometric_ kaiming_normal_ kaiming_uniform_ log_normal_
    normal_ ones_ orthogonal_ random_ sparse_ trunc_normal_ uniform_ xavier_normal_ xavier_uniform_
    zero_ zeros_
""")
"""Functions that fill an array of the dtype that it has, most of them with random numbers.

Whatever a framework answered that is no result is a refusal: they take nothing but the array.
"""

OF_A_DTYPE = names("""
    empty_like full_like new_empty new_full new_ones new_zeros ones_like rand_like randint_like
    randn_like tril_indices triu_indices zeros_like
""")
"""Functions that make an array of a dtype that the call may name, beside those with a default."""

MADE_OF_DTYPE = "(dtype)"
"""Stands behind the name of such a function where the call names a dtype."""

MOVES = FILLS | names("""
    __getitem__ adaptive_avg_pool1d adaptive_avg_pool2d adaptive_max_pool2d as_strided atleast_1d
    atleast_2d atleast_3d avg_pool1d avg_pool2d avg_pool3d bernoulli block_diag broadcast_tensors
    broadcast_to channel_shuffle chunk clone contiguous copy_ cpu cuda data detach diagonal
    embedding empty_like expand expand_as fill_ flatten flip fold full_like gather grid_sample
    hardtanh hardtanh_ hsplit index_fill index_fill_ index_put index_put_ index_select interpolate
    leaky_relu leaky_relu_ masked_fill masked_fill_ masked_select max_pool1d max_pool2d max_pool3d
    meshgrid moveaxis mT nan_to_num_ narrow new_empty new_full new_ones new_zeros ones_like permute
    pin_memory pixel_shuffle pixel_unshuffle poisson prelu rand_like randint_like randn_like ravel
    relu relu6 relu_ reshape roll rot90 scatter_ split split_with_sizes squeeze squeeze_ swapaxes
    swapdims T t t_ take tensor_split tile transpose transpose_ unbind unflatten unfold unsqueeze
    unsqueeze_ upsample view view_as vsplit zeros_like
""")
CASTS = names("type_as float double half bfloat16 int long short bool")
MAKES = names("from_dlpack from_numpy istft multinomial stft tril_indices triu_indices")
ARGUMENT = {"embedding": 1}
DEFAULTS: dict[str, float | None] = {
    **dict.fromkeys(names("zeros ones empty rand randn normal eye linspace logspace"), 0.0),
    **dict.fromkeys(names("randint randperm"), 0),
    **dict.fromkeys(names("tensor as_tensor asarray arange full")),
}


OF_ANY = names("zeros ones empty eye normal rand randn randint randperm zero_")
"""Of these what is made is as good in any dtype: zeros and ones, and what is drawn."""

STRUCTURE = names("""
    H T __getitem__ __setitem__ adjoint alias as_strided at.get at.set chunk clone contiguous copy
    cpu cuda data detach detach_ device_put expand expand_as flatten from_dlpack from_numpy
    grad index_select indices lax.broadcast lax.broadcast_in_dim lax.expand_dims lax.reshape
    lax.slice lax.slice_in_dim lax.squeeze lax.stop_gradient lax.transpose mH mT matrix_transpose
    movedim moveaxis narrow permute permute_dims pin_memory ravel requires_grad_ reshape
    reshape_ reshape_as resize_ select share_data share_data_ slice split split_with_sizes squeeze
    squeeze_ strided_slice swapaxes swapdims t t_ tensor_split transpose transpose_ unbind unflatten
    unsqueeze unsqueeze_ unstack values view view_as view_shape view_slice
""")
"""Functions that look at no number: what they do to a dtype is nothing in any framework."""


def operations(text: str, not_alike: Collection[str] = ()) -> dict[str, str]:
    """From names to operations: those that are the same, the common ones, and a text's own.

    Parameters
    ----------
    text : str
        An operation and the framework's names of it, a line each.
    not_alike : collection of str
        Names that mean another thing in the framework.
    """
    found = {name: name for name in (*OPERATIONS, *STANDS_FOR)} | synonyms(_NAMED_OTHERWISE)
    found |= {
        f"arc{name[1:]}": name
        for name in OPERATIONS
        if name.startswith("a") and name[1:] in OPERATIONS
    }
    return {name: each for name, each in found.items() if name not in not_alike} | synonyms(text)


def expansions(text: str) -> dict[str, Expansion]:
    """From names to what they stand for: the common ones, and a text's own.

    Parameters
    ----------
    text : str
        As ``expansions_in`` reads it.
    """
    return expansions_in(_EXPANSIONS) | expansions_in(text)


def plain(name: str, known: dict[str, str]) -> str:
    """The name of an operation without what says that it is in place."""
    if name.startswith("__i") and f"__{name[3:]}" in known:
        return f"__{name[3:]}"
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


def is_reflected(name: str) -> bool:
    """Whether a method is that of the right operand: ``__radd__``."""
    return name == "rsub" or (name.startswith("__r") and name[3:-2] in _REFLECTED)


_REFLECTED = names("add sub mul div truediv floordiv mod pow matmul and or xor lshift rshift")
