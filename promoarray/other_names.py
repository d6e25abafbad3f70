"""Names of other libraries, and what to write for them here: data for error messages.

Nothing of this is looked at before a name is missing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from inspect import signature

import numpy

from promoarray.errors import quoted

_BY_NAME = """
allclose append argpartition argwhere around array_equal array_split atleast_1d atleast_2d
atleast_3d average bincount column_stack copy corrcoef cumprod cumsum diagonal dot dsplit dstack
fill_diagonal flatnonzero fliplr flipud hsplit hstack inner iscomplex iscomplexobj isclose isreal
isrealobj kron median nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian nanmin
nanpercentile nanprod nanstd nansum nanvar nan_to_num ndim outer partition percentile polyval ptp
ravel rot90 setdiff1d shape sinc size split swapaxes union1d unique vdot vsplit vstack
"""
BY_NAME = tuple(_BY_NAME.split())
"""Functions of NumPy's that are made of several of ours: what ``np.median`` is of our arrays."""

_EXTRAS = """
array concatenate convolve correlate cov diag einsum gradient histogram interp logspace nanquantile
pad piecewise quantile transpose
"""
NUMPYS = (*_EXTRAS.split(), *BY_NAME)
"""Functions of NumPy's that are in ``extras``, on the main module and on namespaces."""

_FUNCTIONS = """
acos              <- arccos
acosh             <- arccosh
asin              <- arcsin
asinh             <- arcsinh
atan              <- arctan
atanh             <- arctanh
atan2             <- arctan2
abs               <- absolute
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
linalg.eigh       <- eigh self_adjoint_eig
linalg.inv        <- inv inverse
linalg.matrix_norm  <- matrix_norm
linalg.matrix_power <- matrix_power
linalg.matrix_rank  <- matrix_rank
linalg.outer      <- ger
linalg.pinv       <- pinv pinverse
linalg.qr         <- qr
linalg.solve      <- solve matrix_solve
linalg.svd        <- svd
linalg.vector_norm <- norm vector_norm
fft.fftn          <- fft2
matmul            <- mm bmm mv
matrix_transpose  <- swapdims adjoint
max               <- amax reduce_max
mean              <- reduce_mean
min               <- amin reduce_min
moveaxis          <- movedim
multiply          <- mul
negative          <- neg
not_equal         <- ne
permute_dims      <- permute
pow               <- power
prod              <- product reduce_prod
remainder         <- mod floormod
repeat            <- repeat_interleave
round             <- round_
vstack            <- row_stack
std               <- reduce_std
subtract          <- sub
sum               <- reduce_sum
take              <- index_select gather
take_along_axis   <- take_along_dim gather_elements
trunc             <- fix
unstack           <- unbind
var               <- reduce_variance
isin              <- in1d
inf               <- Inf Infinity infty PINF
nan               <- NaN NAN
PArray            <- Tensor Array
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
    "divmod": "divmod(x, y)",
    "numel": "x.size",
    "rsqrt": "1 / pa.sqrt(x)",
    "chunk": "slices such as x[:n]",
    **dict.fromkeys(
        ("rand", "randn"), "pa.random.rand(...) or pa.random.randn(...), NumPy's numbers"
    ),
    "nn": "the array operations that a layer is made of, for promoarray has no layers",
    "no_grad": "nothing: promoarray keeps no gradients",
}
"""Where something else than a name takes their place."""

_COUNTERPARTS = """
angle                 pa.atan2(pa.imag(x), pa.real(x))
apply_along_axis      pa.stack([f(row) for row in pa.unstack(x, axis=0)])
apply_over_axes       one call for each axis, with keepdims=True
array2string          str(x)
array_equiv           bool(pa.all(x1 == x2))
ascontiguousarray     pa.asarray(x, copy=True)
asfortranarray        pa.asarray(x), which has no memory order
bitwise_count         x.view(dtype), shifts and sums
block                 pa.concat, row by row
c_                    pa.column_stack([x1, x2])
cbrt                  pa.sign(x) * pa.pow(pa.abs(x), 1 / 3)
choose                pa.where, choice by choice
common_type           pa.result_type(x1, x2)
complexfloating       pa.isdtype(x.dtype, "complex floating")
compress              x[mask]
copyto                y[...] = x
deg2rad               x * (pa.pi / 180)
degrees               x * (180 / pa.pi)
delete                x[keep] with a mask or indices
diag_indices          (pa.arange(n), pa.arange(n))
diag_indices_from     (pa.arange(n), pa.arange(n)) with n = x.shape[0]
diagflat              pa.diag(pa.reshape(x, (-1,)))
digitize              pa.searchsorted(bins, x, side="right")
dtype                 the dtype by its name, as pa.float32
ediff1d               pa.diff(pa.reshape(x, (-1,)))
einsum_path           pa.tensordot, pa.matmul or pa.vecdot
errstate              numpy.errstate(...), which arrays here heed
euler_gamma           0.5772156649015329
exp2                  pa.pow(2.0, x)
extract               x[mask]
fabs                  pa.abs(x * 1.0)
float_power           pa.pow(pa.astype(x1, pa.float64), x2)
floating              pa.isdtype(x.dtype, "real floating")
genfromtxt            pa.asarray(numpy.genfromtxt(...))
geomspace             pa.exp(pa.linspace(math.log(a), math.log(b), n))
heaviside             pa.where(x1 == 0, x2, pa.where(x1 > 0, 1.0, 0.0))
in1d                  pa.isin(pa.reshape(x1, (-1,)), x2)
indices               pa.stack(pa.meshgrid(pa.arange(n), pa.arange(m), indexing="ij"))
inexact               pa.isdtype(x.dtype, "real floating")
insert                pa.concat([x[:i], y, x[i:]])
integer               pa.isdtype(x.dtype, "integral")
intersect1d           pa.unique_values(x1[pa.isin(x1, x2)])
isneginf              x == -pa.inf
isposinf              x == pa.inf
isscalar              numpy.isscalar(x)
issubdtype            pa.isdtype(dtype, "real floating") or another kind
ix_                   index by index, x[i][:, j]
lexsort               pa.argsort, from the last key on, which keeps equal elements in order
lib.stride_tricks.sliding_window_view pa.stack of slices
linalg.cond           s[..., 0] / s[..., -1] with s = pa.linalg.svdvals(x)
linalg.lstsq          pa.matmul(pa.linalg.pinv(a), b)
linalg.multi_dot      pa.matmul, pair by pair
linalg.tensorinv      pa.linalg.inv of the reshaped array
linalg.tensorsolve    pa.linalg.solve of the reshaped arrays
loadtxt               pa.asarray(numpy.loadtxt(...))
logaddexp2            pa.logaddexp(x1 * log2, x2 * log2) / log2, with log2 = math.log(2)
matvec                pa.matmul(x1, x2[..., None])[..., 0]
min_scalar_type       the dtype itself
mgrid                 pa.meshgrid(pa.arange(n), pa.arange(m), indexing="ij")
modf                  pa.trunc(x), and x - pa.trunc(x)
number                pa.isdtype(x.dtype, "numeric")
ogrid                 pa.meshgrid(pa.arange(n), pa.arange(m), indexing="ij")
packbits              pa.pack(x) of 2-, 4- and 6-bit dtypes
place                 x[mask] = value
polyfit               pa.matmul(pa.linalg.pinv(pa.pow(x[:, None], pa.arange(n + 1)[::-1])), y)
printoptions          numpy.printoptions(...), which arrays here heed
put                   pa.reshape(x, (-1,), copy=False)[i] = value
put_along_axis        x[i, ...] = y
putmask               x[mask] = value
r_                    pa.concat([x1, x2])
rad2deg               x * (180 / pa.pi)
radians               x * (pa.pi / 180)
ravel_multi_index     i * shape[1] + j
real_if_close         pa.real(x)
resize                pa.reshape(x, shape), or pa.tile
rollaxis              pa.moveaxis(x, axis, 0)
s_                    slices in the brackets themselves
save                  pa.save(file, x=x)
savetxt               numpy.savetxt(path, numpy.asarray(x))
savez                 pa.save(file, x=x)
savez_compressed      pa.save(file, x=x)
rint                  pa.round(x * 1.0)
select                pa.where, choice by choice
set_printoptions      numpy.set_printoptions(...), which arrays here heed
seterr                numpy.seterr(...), which arrays here heed
setxor1d              pa.unique_values and pa.isin
signedinteger         pa.isdtype(x.dtype, "signed integer")
sort_complex          pa.sort(x), of real numbers
spacing               pa.nextafter(x, pa.inf) - x
trapezoid             pa.sum((y[..., 1:] + y[..., :-1]) / 2 * pa.diff(x), axis=-1)
tri                   pa.tril(pa.ones((n, n)))
tril_indices          pa.nonzero(pa.tril(pa.ones((n, m))))
trim_zeros            x[first:last]
triu_indices          pa.nonzero(pa.triu(pa.ones((n, m))))
unpackbits            pa.unpack(x, dtype, shape)
unravel_index         i // n and i % n
unsignedinteger       pa.isdtype(x.dtype, "unsigned integer")
vander                pa.pow(x[:, None], pa.arange(n)[::-1])
vecmat                pa.matmul(x1[..., None, :], x2)[..., 0, :]
vectorize             the function itself on arrays, or a loop over their elements
"""

COUNTERPARTS = dict(line.split(maxsplit=1) for line in _COUNTERPARTS.strip().splitlines())
"""What to write for a function of NumPy's without a counterpart, by its name there."""

_METHOD_TEXTS = {
    "trace": "pa.linalg.trace(x)",
    "numpy": "np.asarray(x)",
    "get": "np.asarray(x.to_device('cpu'))",
    "data": "np.asarray(x).data",
    "flags": "np.asarray(x).flags",
    "tobytes": "np.asarray(x).tobytes()",
    "tofile": "pa.save(path, x=x)",
    "dump": "pa.save(path, x=x)",
    "cpu": "x.to_device('cpu')",
    "cuda": "x.to_device('cuda:0')",
    "to": "x.astype(dtype) or x.to_device(device)",
    "type": "x.astype(dtype)",
    "cast": "x.astype(dtype)",
    **dict.fromkeys(
        ("detach", "requires_grad_", "stop_gradient"), "x: promoarray keeps no gradients"
    ),
    **dict.fromkeys(("backward", "grad"), "JAX or PyTorch for gradients, by DLPack"),
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
_CAST_BY = """
bool bool half float16 bfloat16 bfloat16 float float32 double float64 cfloat complex64
cdouble complex128 char int8 short int16 int int32 long int64 byte uint8
"""
_CASTS = zip(_CAST_BY.split()[::2], _CAST_BY.split()[1::2], strict=True)
_METHOD_TEXTS |= {name: f"x.astype(pa.{dtype})" for name, dtype in _CASTS}
"""Methods and attributes of arrays, which are looked up before functions."""

KEYWORDS = {
    **dict.fromkeys(("dim", "dims", "reduction_indices"), "axis"),
    **dict.fromkeys(("keepdim", "keep_dims"), "keepdims"),
    **dict.fromkeys(("ddof", "unbiased"), "correction"),
    **dict.fromkeys(("newshape", "output_size"), "shape"),
}
KEYWORDS |= {"a_min": "min", "a_max": "max", "p": "ord", "shifts": "shift"}
KEYWORDS |= {"tensors": "arrays", "kind": "stable"}
"""Keyword arguments."""


OPTIONS = {
    "out": "out[...] = {call}",
    "dtype": "pa.astype(x, dtype) around what goes in or comes out of {call}",
    "where": "{call} of pa.where(mask, x, other), or of x[mask]",
    "initial": "{call}, and what combines it with initial",
    "casting": "pa.astype(x, dtype) around the arrays",
    "order": "nothing for 'C'; for 'F' pa.permute_dims(x, axes) before and after {call}",
    "axis": "{call} of pa.moveaxis(x, axis, ...)",
    "max_line_width": "str(np.asarray(x))",
}
"""What to write where an option cannot be honoured."""


def _read(text: str) -> dict[str, str]:
    """From their names to ours, as one writes it."""
    rows = (line.split("<-") for line in text.strip().splitlines())
    return {name: f"pa.{ours.strip()}" for ours, theirs in rows for name in theirs.split()}


FUNCTIONS = COUNTERPARTS | _read(_FUNCTIONS) | _FUNCTION_TEXTS
del FUNCTIONS["save"]  # which is ours, too
"""From a name in another library's namespace to what to write."""

METHODS = _METHOD_TEXTS
"""From an attribute of another library's arrays to what to write; then ``FUNCTIONS``."""


def for_function(name: str, namespace: str = "pa") -> str:
    """What to write for a name that a namespace has not: a clause for an error, or nothing."""
    if found := FUNCTIONS.get(name):
        return f"; write {found.replace('pa.', f'{namespace}.')}"
    if name.startswith("_") or not callable(_of_numpys(name)):
        return ""
    return f"; numpy.{name} on numpy.asarray(x) has it, outside the policy"


def _of_numpys(name: str) -> object:
    found: object = numpy
    for part in name.split("."):
        found = vars(found).get(part) if hasattr(found, "__dict__") else None
    return found


def same_as(name: str) -> str:
    """The name of ours that NumPy has another one for: ``pow`` for ``power``; else ``""``."""
    ours = FUNCTIONS.get(name, "").removeprefix("pa.")
    found = vars(numpy).get(name)
    return ours if found is not None and vars(numpy).get(ours) is found else ""


def missing(module: str, name: str) -> AttributeError:
    """The error for a name that a module of the package has not."""
    chapter = module.removeprefix("promoarray").removeprefix(".").replace("extras", "")
    words = for_function(f"{chapter}.{name}".removeprefix("."))
    return AttributeError(f"module {module!r} has no attribute {quoted(name)}{words}")


def for_method(name: str, *, is_function: bool) -> str:
    """What to write for an attribute that arrays have not, which may be a function of ours."""
    if name in METHODS:
        return f"; write {METHODS[name]}"
    if is_function:
        return f"; write pa.{name}(x)"
    return for_function(name) if name in FUNCTIONS else ""


def for_keyword(name: str, parameters: Iterable[str], call: str = "") -> str:
    """What to write for a keyword that a function of these parameters has not."""
    found = KEYWORDS.get(name)
    if found and found in parameters:
        return f"; write {found}="
    return f"; write {OPTIONS[name].format(call=call)}" if call and name in OPTIONS else ""


def for_place(function: str, place: int, parameters: Sequence[str]) -> str:
    """What to write for an argument by place that a function of these parameters takes by name."""
    try:
        names = [*signature(getattr(numpy, function)).parameters]
    except (AttributeError, ValueError):
        names = []
    name = names[place] if place < len(names) else "axis"
    name = name if name in parameters else KEYWORDS.get(name, "axis")
    return f"; write {name}=" if name in parameters else ""
