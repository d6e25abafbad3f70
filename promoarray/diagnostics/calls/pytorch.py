"""PyTorch's functions and methods in promoarray's words, beside what is common."""

from __future__ import annotations

from functools import cache

from promoarray.diagnostics.calls import common
from promoarray.diagnostics.calls.common import Words
from promoarray.diagnostics.calls.tables import names

_NAMED_OTHERWISE = """
matmul        dot vdot
conj          conj_physical resolve_conj
vector_norm   linalg_norm
pinv          pinverse
fftn          fft_fft2
ifftn         fft_ifft2
rfftn         fft_rfft2
irfftn        fft_irfft2
"""

_OF_LINALG = names("""
    vecdot vector_norm matrix_norm solve inv det qr svd svdvals eig eigh eigvalsh cholesky pinv
    slogdet matrix_rank cross
""")
_OF_FFT = names("fft ifft fftn ifftn rfft rfftn irfft irfftn hfft ihfft")

_NOT_ALIKE = frozenset({"equal"})
"""Names that mean another thing in PyTorch: ``torch.equal`` compares whole tensors."""

_EXPANSIONS = """
conv_transpose1d conv_transpose2d (input, weight, bias): matmul(input, weight) add(_, bias)
addmv (input, mat, vec): matmul(mat, vec) add(_, input)
addr (input, vec1, vec2): outer(vec1, vec2) add(input, _)
addcdiv (input, tensor1, tensor2, value): divide(tensor1, tensor2) multiply(_, value) add(input, _)
addcmul (input, tensor1, tensor2, value): multiply(tensor1, tensor2) multiply(_, value) add(input,
    _)
multi_head_attention_forward (query, key, value): matmul(query, key) exp(_) matmul(_, value)
group_norm (input, shape, weight, bias): mean(input) subtract(input, _) multiply(_, weight) add(_,
    bias)
polygamma (n, input): exp(input)
xlogy (input, other): log(other) multiply(input, _)
"""

_MOVES = names("""
    H adjoint alias as_strided_scatter detach_ dropout_ embedding_bag feature_dropout fliplr flipud
    grad index_copy index_copy_ indices mH movedim repeat requires_grad_ reshape_as resize_ select
    threshold values
""")
_CASTS = names("to type byte char cfloat cdouble chalf")
_MAKES = names("_is_all_true _is_any_true frombuffer new_tensor nonzero_static quantize_per_tensor")
_OF_FLOATS = names("""
    fft_fftfreq fft_rfftfreq hann_window hamming_window blackman_window bartlett_window
    kaiser_window
""")


@cache
def words() -> Words:
    """What PyTorch's names mean."""
    return Words(
        common.operations(_NAMED_OTHERWISE, _NOT_ALIKE)
        | {f"linalg_{name}": name for name in _OF_LINALG}
        | {f"fft_{name}": name for name in _OF_FFT},
        common.expansions(_EXPANSIONS),
        common.MOVES | _MOVES,
        common.CASTS | _CASTS,
        common.MAKES | _MAKES,
        common.ARGUMENT | {"embedding_bag": 1},
        common.DEFAULTS | dict.fromkeys(_OF_FLOATS, 0.0) | {"scalar_tensor": None},
    )
