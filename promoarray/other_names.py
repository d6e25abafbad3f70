"""Names of other libraries, and what to write for them here: data for error messages.

Nothing of this is looked at before a name is missing.
"""

from __future__ import annotations

from collections.abc import Iterable

NUMPYS = (
    *("array", "concatenate", "convolve", "correlate", "cov", "diag", "einsum", "gradient"),
    *("histogram", "interp", "logspace", "nanquantile", "pad", "piecewise", "quantile"),
    "transpose",
)
"""Functions of NumPy's that are in ``extras``, and on the main module by the same name."""

_FUNCTIONS = """
acos              <- arccos
acosh             <- arccosh
asin              <- arcsin
asinh             <- arcsinh
atan              <- arctan
atanh             <- arctanh
atan2             <- arctan2
abs               <- absolute fabs
all               <- alltrue reduce_all
any               <- sometrue reduce_any
argmax            <- arg_max
argmin            <- arg_min
asarray           <- tensor to_tensor as_tensor constant from_numpy convert_to_tensor asanyarray
asarray           <- ascontiguousarray asfarray fromiter frombuffer
astype            <- cast
bitwise_invert    <- bitwise_not invert
bitwise_left_shift  <- left_shift shift_left
bitwise_right_shift <- right_shift shift_right
broadcast_to      <- expand expand_as broadcast_in_dim
clip              <- clamp clip_by_value
concat            <- cat
conj              <- conjugate
cumulative_prod   <- cumprod
cumulative_sum    <- cumsum
divide            <- true_divide div realdiv truediv
equal             <- eq
expand_dims       <- unsqueeze
eye               <- identity
floor_divide      <- floordiv
greater           <- gt greater_than
greater_equal     <- ge
less              <- lt less_than
less_equal        <- le
linalg.cholesky   <- cholesky
linalg.cross      <- cross
linalg.det        <- det
linalg.diagonal   <- diagonal
linalg.eigh       <- eigh self_adjoint_eig
linalg.inv        <- inv inverse
linalg.matrix_norm  <- matrix_norm
linalg.matrix_power <- matrix_power
linalg.matrix_rank  <- matrix_rank
linalg.outer      <- outer ger
linalg.pinv       <- pinv pinverse
linalg.qr         <- qr
linalg.solve      <- solve matrix_solve
linalg.svd        <- svd
linalg.vector_norm <- norm vector_norm
fft.fftn          <- fft2
matmul            <- mm bmm mv dot
matrix_transpose  <- swapdims adjoint
max               <- amax reduce_max
mean              <- reduce_mean
min               <- amin reduce_min
moveaxis          <- movedim swapaxes rollaxis
multiply          <- mul
negative          <- neg
not_equal         <- ne
permute_dims      <- permute
pow               <- power
prod              <- product reduce_prod
remainder         <- mod floormod
repeat            <- repeat_interleave
round             <- round_ around rint
stack             <- row_stack
std               <- reduce_std
subtract          <- sub
sum               <- reduce_sum
take              <- index_select gather
take_along_axis   <- take_along_dim gather_elements
trunc             <- fix
unique_values     <- unique
unstack           <- unbind
var               <- reduce_variance
isin              <- in1d
inf               <- Inf Infinity infty PINF
nan               <- NaN NAN
PArray            <- Tensor ndarray Array
bool              <- bool_ bool8
complex64         <- cfloat csingle
complex128        <- cdouble complex_
float16           <- half
float32           <- single
float64           <- double float_
int16             <- short
int32             <- intc
int64             <- long int_ longlong intp
uint8             <- ubyte
set_policy        <- set_default_dtype set_default_tensor_type
save              <- savez savez_compressed
"""
"""Ours, and theirs: functions, constants and dtypes of the main namespace."""

_FUNCTION_TEXTS = {
    "byte": "pa.uint8 or pa.int8",
    "complex": "pa.complex64 or pa.complex128",
    "float": "pa.float32 or pa.float64",
    "int": "pa.int32 or pa.int64",
    "allclose": "pa.all(pa.abs(x - y) <= atol + rtol * pa.abs(y))",
    "isclose": "pa.abs(x - y) <= atol + rtol * pa.abs(y)",
    "argwhere": "pa.stack(pa.nonzero(x), axis=-1)",
    "copy": "pa.asarray(x, copy=True)",
    "divmod": "divmod(x, y)",
    "average": "pa.mean(x), or pa.sum(x * weights) / pa.sum(weights)",
    "float_power": "pa.pow(pa.astype(x, pa.float64), y)",
    "hstack": "pa.concat(arrays, axis=1), of vectors axis=0",
    "vstack": "pa.concat(arrays, axis=0), of vectors pa.stack(arrays)",
    "inner": "pa.tensordot(x, y, axes=([-1], [-1]))",
    "median": "pa.quantile(x, 0.5)",
    "nancumprod": "pa.cumulative_prod(pa.where(pa.isnan(x), 1.0, x))",
    "nancumsum": "pa.cumulative_sum(pa.where(pa.isnan(x), 0.0, x))",
    "percentile": "pa.quantile(x, q / 100)",
    "nan_to_num": "pa.where(pa.isnan(x), 0.0, x)",
    "ndim": "x.ndim",
    "numel": "x.size",
    "ptp": "pa.max(x) - pa.min(x)",
    "ravel": "x.ravel()",
    "rsqrt": "1 / pa.sqrt(x)",
    "shape": "x.shape",
    "size": "x.size",
    "split": "slices such as x[:n]",
    "chunk": "slices such as x[:n]",
    "random": "pa.asarray of numpy.random's numbers, for promoarray draws none",
    "rand": "pa.asarray of numpy.random's numbers, for promoarray draws none",
    "randn": "pa.asarray of numpy.random's numbers, for promoarray draws none",
    "nn": "the array operations that a layer is made of, for promoarray has no layers",
    "no_grad": "nothing: promoarray keeps no gradients",
}
"""Where something else than a name takes their place."""

_METHOD_TEXTS = {
    "numpy": "np.asarray(x)",
    "get": "np.asarray(x.to_device('cpu'))",
    "data": "np.asarray(x).data",
    "flags": "np.asarray(x).flags",
    "tobytes": "np.asarray(x).tobytes()",
    "trace": "pa.linalg.trace(x)",
    "tofile": "pa.save(path, x=x)",
    "dump": "pa.save(path, x=x)",
    "cpu": "x.to_device('cpu')",
    "cuda": "x.to_device('cuda:0')",
    "to": "x.astype(dtype) or x.to_device(device)",
    "type": "x.astype(dtype)",
    "cast": "x.astype(dtype)",
    "bool": "x.astype(pa.bool)",
    "half": "x.astype(pa.float16)",
    "bfloat16": "x.astype(pa.bfloat16)",
    "float": "x.astype(pa.float32)",
    "double": "x.astype(pa.float64)",
    "char": "x.astype(pa.int8)",
    "short": "x.astype(pa.int16)",
    "int": "x.astype(pa.int32)",
    "long": "x.astype(pa.int64)",
    "byte": "x.astype(pa.uint8)",
    "cfloat": "x.astype(pa.complex64)",
    "cdouble": "x.astype(pa.complex128)",
    "detach": "x: promoarray keeps no gradients",
    "requires_grad_": "x: promoarray keeps no gradients",
    "stop_gradient": "x: promoarray keeps no gradients",
    "backward": "JAX or PyTorch for gradients, by DLPack",
    "grad": "JAX or PyTorch for gradients, by DLPack",
    "block_until_ready": "x: nothing is computed later",
    "dim": "x.ndim",
    "rank": "x.ndim",
    "numel": "x.size",
    "element_size": "x.itemsize",
    "get_shape": "x.shape",
    "is_cuda": "x.device",
    "permute": "x.transpose(...)",
    "t": "x.T",
    "H": "pa.conj(x).mT",
    "expand": "pa.broadcast_to(x, shape)",
    "contiguous": "x.copy()",
    "clone": "x.copy()",
    "clamp": "x.clip(...)",
    "at": "x[index] = value",
    "copy_": "x[...] = y",
    "fill_": "x.fill(value)",
    "zero_": "x.fill(0)",
    "masked_fill": "pa.where(mask, value, x)",
    "masked_fill_": "x[mask] = value",
    "add_": "x += y",
    "sub_": "x -= y",
    "mul_": "x *= y",
    "div_": "x /= y",
    "pow_": "x **= y",
}
"""Methods and attributes of arrays, which are looked up before functions."""

KEYWORDS = {
    "dim": "axis",
    "p": "ord",
    "dims": "axis",
    "keepdim": "keepdims",
    "keep_dims": "keepdims",
    "reduction_indices": "axis",
    "ddof": "correction",
    "unbiased": "correction",
    "a_min": "min",
    "a_max": "max",
    "newshape": "shape",
    "shifts": "shift",
    "output_size": "shape",
    "tensors": "arrays",
}
"""Keyword arguments."""


def _read(text: str) -> dict[str, str]:
    """From their names to ours, as one writes it."""
    rows = (line.split("<-") for line in text.strip().splitlines())
    return {name: f"pa.{ours.strip()}" for ours, theirs in rows for name in theirs.split()}


FUNCTIONS = _read(_FUNCTIONS) | _FUNCTION_TEXTS
"""From a name in another library's namespace to what to write."""

METHODS = _METHOD_TEXTS
"""From an attribute of another library's arrays to what to write; then ``FUNCTIONS``."""


def for_function(name: str, namespace: str = "pa") -> str:
    """What to write for a name that a namespace has not: a clause for an error, or nothing."""
    found = FUNCTIONS.get(name)
    return f"; write {found.replace('pa.', f'{namespace}.')}" if found else ""


def for_method(name: str, *, is_function: bool) -> str:
    """What to write for an attribute that arrays have not, which may be a function of ours."""
    if name in METHODS:
        return f"; write {METHODS[name]}"
    return f"; write pa.{name}(x)" if is_function else for_function(name)


def for_keyword(name: str, parameters: Iterable[str]) -> str:
    """What to write for a keyword that a function of these parameters has not."""
    found = KEYWORDS.get(name)
    return f"; write {found}=" if found and found in parameters else ""
