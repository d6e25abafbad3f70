"""Functions of a namespace, for type checkers and editors; no program imports it.

Written by ``tests/test_typing.py``.
"""

from collections.abc import Callable
from typing import Any

from promoarray import fft as fourier
from promoarray import linalg as algebra
from promoarray.dtypes import DType
from promoarray.functions import (
    broadcasting,
    creation,
    data_types,
    elementwise,
    grids,
    indexing,
    info,
    joining,
    linear_algebra,
    manipulation,
    ranges,
    searching,
    sets,
    sorting,
    statistical,
    utility,
)


class Fft:
    """Functions of ``xp.fft``."""

    fft = staticmethod(fourier.fft)
    fftfreq = staticmethod(fourier.fftfreq)
    fftn = staticmethod(fourier.fftn)
    fftshift = staticmethod(fourier.fftshift)
    hfft = staticmethod(fourier.hfft)
    ifft = staticmethod(fourier.ifft)
    ifftn = staticmethod(fourier.ifftn)
    ifftshift = staticmethod(fourier.ifftshift)
    ihfft = staticmethod(fourier.ihfft)
    irfft = staticmethod(fourier.irfft)
    irfftn = staticmethod(fourier.irfftn)
    rfft = staticmethod(fourier.rfft)
    rfftfreq = staticmethod(fourier.rfftfreq)
    rfftn = staticmethod(fourier.rfftn)


class Linalg:
    """Functions of ``xp.linalg``."""

    cholesky = staticmethod(algebra.cholesky)
    cross = staticmethod(algebra.cross)
    det = staticmethod(algebra.det)
    diagonal = staticmethod(algebra.diagonal)
    eig = staticmethod(algebra.eig)
    eigh = staticmethod(algebra.eigh)
    eigvals = staticmethod(algebra.eigvals)
    eigvalsh = staticmethod(algebra.eigvalsh)
    inv = staticmethod(algebra.inv)
    matmul = staticmethod(algebra.matmul)
    matrix_norm = staticmethod(algebra.matrix_norm)
    matrix_power = staticmethod(algebra.matrix_power)
    matrix_rank = staticmethod(algebra.matrix_rank)
    matrix_transpose = staticmethod(algebra.matrix_transpose)
    outer = staticmethod(algebra.outer)
    pinv = staticmethod(algebra.pinv)
    qr = staticmethod(algebra.qr)
    slogdet = staticmethod(algebra.slogdet)
    solve = staticmethod(algebra.solve)
    svd = staticmethod(algebra.svd)
    svdvals = staticmethod(algebra.svdvals)
    tensordot = staticmethod(algebra.tensordot)
    trace = staticmethod(algebra.trace)
    vecdot = staticmethod(algebra.vecdot)
    vector_norm = staticmethod(algebra.vector_norm)


class Functions:
    """Names of ``xp``."""

    __array_api_version__: str
    __array_namespace_info__ = staticmethod(info.__array_namespace_info__)
    __version__: str
    abs = staticmethod(elementwise.abs)
    acos = staticmethod(elementwise.acos)
    acosh = staticmethod(elementwise.acosh)
    add = staticmethod(elementwise.add)
    all = staticmethod(utility.all)
    allclose: Callable[..., Any]
    any = staticmethod(utility.any)
    append: Callable[..., Any]
    arange = staticmethod(ranges.arange)
    argmax = staticmethod(searching.argmax)
    argmin = staticmethod(searching.argmin)
    argpartition: Callable[..., Any]
    argsort = staticmethod(sorting.argsort)
    argwhere: Callable[..., Any]
    around: Callable[..., Any]
    array: Callable[..., Any]
    array_equal: Callable[..., Any]
    array_split: Callable[..., Any]
    asarray = staticmethod(creation.asarray)
    asin = staticmethod(elementwise.asin)
    asinh = staticmethod(elementwise.asinh)
    astype = staticmethod(data_types.astype)
    atan = staticmethod(elementwise.atan)
    atan2 = staticmethod(elementwise.atan2)
    atanh = staticmethod(elementwise.atanh)
    atleast_1d: Callable[..., Any]
    atleast_2d: Callable[..., Any]
    atleast_3d: Callable[..., Any]
    average: Callable[..., Any]
    bfloat16: DType
    bincount: Callable[..., Any]
    bitwise_and = staticmethod(elementwise.bitwise_and)
    bitwise_invert = staticmethod(elementwise.bitwise_invert)
    bitwise_left_shift = staticmethod(elementwise.bitwise_left_shift)
    bitwise_or = staticmethod(elementwise.bitwise_or)
    bitwise_right_shift = staticmethod(elementwise.bitwise_right_shift)
    bitwise_xor = staticmethod(elementwise.bitwise_xor)
    bool: DType
    broadcast_arrays = staticmethod(broadcasting.broadcast_arrays)
    broadcast_shapes = staticmethod(broadcasting.broadcast_shapes)
    broadcast_to = staticmethod(broadcasting.broadcast_to)
    can_cast = staticmethod(data_types.can_cast)
    ceil = staticmethod(elementwise.ceil)
    clip = staticmethod(elementwise.clip)
    column_stack: Callable[..., Any]
    complex128: DType
    complex32: DType
    complex64: DType
    concat = staticmethod(joining.concat)
    concatenate: Callable[..., Any]
    conj = staticmethod(elementwise.conj)
    convolve: Callable[..., Any]
    copy: Callable[..., Any]
    copysign = staticmethod(elementwise.copysign)
    corrcoef: Callable[..., Any]
    correlate: Callable[..., Any]
    cos = staticmethod(elementwise.cos)
    cosh = staticmethod(elementwise.cosh)
    count_nonzero = staticmethod(searching.count_nonzero)
    cov: Callable[..., Any]
    cumprod: Callable[..., Any]
    cumsum: Callable[..., Any]
    cumulative_prod = staticmethod(statistical.cumulative_prod)
    cumulative_sum = staticmethod(statistical.cumulative_sum)
    diag: Callable[..., Any]
    diagonal: Callable[..., Any]
    diff = staticmethod(utility.diff)
    divide = staticmethod(elementwise.divide)
    dot: Callable[..., Any]
    dsplit: Callable[..., Any]
    dstack: Callable[..., Any]
    e: float
    einsum: Callable[..., Any]
    empty = staticmethod(creation.empty)
    empty_like = staticmethod(creation.empty_like)
    equal = staticmethod(elementwise.equal)
    exp = staticmethod(elementwise.exp)
    expand_dims = staticmethod(manipulation.expand_dims)
    expm1 = staticmethod(elementwise.expm1)
    eye = staticmethod(grids.eye)
    fft: Fft
    fill_diagonal: Callable[..., Any]
    finfo = staticmethod(data_types.finfo)
    flatnonzero: Callable[..., Any]
    flip = staticmethod(manipulation.flip)
    fliplr: Callable[..., Any]
    flipud: Callable[..., Any]
    float16: DType
    float32: DType
    float4_e2m1fn: DType
    float64: DType
    float6_e2m3fn: DType
    float6_e3m2fn: DType
    float8_e3m4: DType
    float8_e4m3: DType
    float8_e4m3b11fnuz: DType
    float8_e4m3fn: DType
    float8_e4m3fnuz: DType
    float8_e5m2: DType
    float8_e5m2fnuz: DType
    float8_e8m0fnu: DType
    floor = staticmethod(elementwise.floor)
    floor_divide = staticmethod(elementwise.floor_divide)
    fmax = staticmethod(elementwise.fmax)
    fmin = staticmethod(elementwise.fmin)
    fmod = staticmethod(elementwise.fmod)
    from_dlpack = staticmethod(creation.from_dlpack)
    full = staticmethod(creation.full)
    full_like = staticmethod(creation.full_like)
    gradient: Callable[..., Any]
    greater = staticmethod(elementwise.greater)
    greater_equal = staticmethod(elementwise.greater_equal)
    histogram: Callable[..., Any]
    hsplit: Callable[..., Any]
    hstack: Callable[..., Any]
    hypot = staticmethod(elementwise.hypot)
    iinfo = staticmethod(data_types.iinfo)
    imag = staticmethod(elementwise.imag)
    inf: float
    inner: Callable[..., Any]
    int16: DType
    int2: DType
    int32: DType
    int4: DType
    int64: DType
    int8: DType
    interp: Callable[..., Any]
    isclose: Callable[..., Any]
    iscomplex: Callable[..., Any]
    iscomplexobj: Callable[..., Any]
    isdtype = staticmethod(data_types.isdtype)
    isfinite = staticmethod(elementwise.isfinite)
    isin = staticmethod(sets.isin)
    isinf = staticmethod(elementwise.isinf)
    isnan = staticmethod(elementwise.isnan)
    isreal: Callable[..., Any]
    isrealobj: Callable[..., Any]
    kron: Callable[..., Any]
    less = staticmethod(elementwise.less)
    less_equal = staticmethod(elementwise.less_equal)
    linalg: Linalg
    linspace = staticmethod(ranges.linspace)
    log = staticmethod(elementwise.log)
    log10 = staticmethod(elementwise.log10)
    log1p = staticmethod(elementwise.log1p)
    log2 = staticmethod(elementwise.log2)
    logaddexp = staticmethod(elementwise.logaddexp)
    logical_and = staticmethod(elementwise.logical_and)
    logical_not = staticmethod(elementwise.logical_not)
    logical_or = staticmethod(elementwise.logical_or)
    logical_xor = staticmethod(elementwise.logical_xor)
    logspace: Callable[..., Any]
    matmul = staticmethod(linear_algebra.matmul)
    matrix_transpose = staticmethod(linear_algebra.matrix_transpose)
    max = staticmethod(statistical.max)
    maximum = staticmethod(elementwise.maximum)
    mean = staticmethod(statistical.mean)
    median: Callable[..., Any]
    meshgrid = staticmethod(grids.meshgrid)
    min = staticmethod(statistical.min)
    minimum = staticmethod(elementwise.minimum)
    moveaxis = staticmethod(manipulation.moveaxis)
    multiply = staticmethod(elementwise.multiply)
    nan: float
    nan_to_num: Callable[..., Any]
    nanargmax: Callable[..., Any]
    nanargmin: Callable[..., Any]
    nancumprod: Callable[..., Any]
    nancumsum: Callable[..., Any]
    nanmax: Callable[..., Any]
    nanmean: Callable[..., Any]
    nanmedian: Callable[..., Any]
    nanmin: Callable[..., Any]
    nanpercentile: Callable[..., Any]
    nanprod: Callable[..., Any]
    nanquantile: Callable[..., Any]
    nanstd: Callable[..., Any]
    nansum: Callable[..., Any]
    nanvar: Callable[..., Any]
    ndim: Callable[..., Any]
    negative = staticmethod(elementwise.negative)
    nextafter = staticmethod(elementwise.nextafter)
    nonzero = staticmethod(searching.nonzero)
    not_equal = staticmethod(elementwise.not_equal)
    ones = staticmethod(creation.ones)
    ones_like = staticmethod(creation.ones_like)
    outer: Callable[..., Any]
    pad: Callable[..., Any]
    partition: Callable[..., Any]
    percentile: Callable[..., Any]
    permute_dims = staticmethod(manipulation.permute_dims)
    pi: float
    piecewise: Callable[..., Any]
    polyval: Callable[..., Any]
    positive = staticmethod(elementwise.positive)
    pow = staticmethod(elementwise.pow)
    prod = staticmethod(statistical.prod)
    promote_types = staticmethod(data_types.promote_types)
    ptp: Callable[..., Any]
    quantile: Callable[..., Any]
    ravel: Callable[..., Any]
    real = staticmethod(elementwise.real)
    reciprocal = staticmethod(elementwise.reciprocal)
    remainder = staticmethod(elementwise.remainder)
    repeat = staticmethod(manipulation.repeat)
    reshape = staticmethod(manipulation.reshape)
    result_type = staticmethod(data_types.result_type)
    roll = staticmethod(manipulation.roll)
    rot90: Callable[..., Any]
    round = staticmethod(elementwise.round)
    searchsorted = staticmethod(searching.searchsorted)
    setdiff1d: Callable[..., Any]
    shape: Callable[..., Any]
    sign = staticmethod(elementwise.sign)
    signbit = staticmethod(elementwise.signbit)
    sin = staticmethod(elementwise.sin)
    sinc: Callable[..., Any]
    sinh = staticmethod(elementwise.sinh)
    size: Callable[..., Any]
    sort = staticmethod(sorting.sort)
    split: Callable[..., Any]
    sqrt = staticmethod(elementwise.sqrt)
    square = staticmethod(elementwise.square)
    squeeze = staticmethod(manipulation.squeeze)
    stack = staticmethod(joining.stack)
    std = staticmethod(statistical.std)
    string: DType
    subtract = staticmethod(elementwise.subtract)
    sum = staticmethod(statistical.sum)
    swapaxes: Callable[..., Any]
    take = staticmethod(indexing.take)
    take_along_axis = staticmethod(indexing.take_along_axis)
    tan = staticmethod(elementwise.tan)
    tanh = staticmethod(elementwise.tanh)
    tensordot = staticmethod(linear_algebra.tensordot)
    tile = staticmethod(manipulation.tile)
    transpose: Callable[..., Any]
    tril = staticmethod(grids.tril)
    triu = staticmethod(grids.triu)
    trunc = staticmethod(elementwise.trunc)
    uint16: DType
    uint2: DType
    uint32: DType
    uint4: DType
    uint64: DType
    uint8: DType
    union1d: Callable[..., Any]
    unique: Callable[..., Any]
    unique_all = staticmethod(sets.unique_all)
    unique_counts = staticmethod(sets.unique_counts)
    unique_inverse = staticmethod(sets.unique_inverse)
    unique_values = staticmethod(sets.unique_values)
    unstack = staticmethod(joining.unstack)
    var = staticmethod(statistical.var)
    vdot: Callable[..., Any]
    vecdot = staticmethod(linear_algebra.vecdot)
    vsplit: Callable[..., Any]
    vstack: Callable[..., Any]
    where = staticmethod(searching.where)
    zeros = staticmethod(creation.zeros)
    zeros_like = staticmethod(creation.zeros_like)
