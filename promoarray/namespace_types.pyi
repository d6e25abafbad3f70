"""Functions of a namespace, for type checkers and editors.

Written by ``tests/test_typing.py``.
"""

from promoarray import extras, numpy_types
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
    allclose = staticmethod(numpy_types.allclose)
    any = staticmethod(utility.any)
    append = staticmethod(numpy_types.append)
    arange = staticmethod(ranges.arange)
    argmax = staticmethod(searching.argmax)
    argmin = staticmethod(searching.argmin)
    argpartition = staticmethod(numpy_types.argpartition)
    argsort = staticmethod(sorting.argsort)
    argwhere = staticmethod(numpy_types.argwhere)
    around = staticmethod(numpy_types.around)
    array = staticmethod(extras.array)
    array_equal = staticmethod(numpy_types.array_equal)
    array_split = staticmethod(numpy_types.array_split)
    asarray = staticmethod(creation.asarray)
    asin = staticmethod(elementwise.asin)
    asinh = staticmethod(elementwise.asinh)
    astype = staticmethod(data_types.astype)
    atan = staticmethod(elementwise.atan)
    atan2 = staticmethod(elementwise.atan2)
    atanh = staticmethod(elementwise.atanh)
    atleast_1d = staticmethod(numpy_types.atleast_1d)
    atleast_2d = staticmethod(numpy_types.atleast_2d)
    atleast_3d = staticmethod(numpy_types.atleast_3d)
    average = staticmethod(numpy_types.average)
    bfloat16: DType
    bincount = staticmethod(numpy_types.bincount)
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
    column_stack = staticmethod(numpy_types.column_stack)
    complex128: DType
    complex32: DType
    complex64: DType
    concat = staticmethod(joining.concat)
    concatenate = staticmethod(extras.concatenate)
    conj = staticmethod(elementwise.conj)
    convolve = staticmethod(extras.convolve)
    copy = staticmethod(numpy_types.copy)
    copysign = staticmethod(elementwise.copysign)
    corrcoef = staticmethod(numpy_types.corrcoef)
    correlate = staticmethod(extras.correlate)
    cos = staticmethod(elementwise.cos)
    cosh = staticmethod(elementwise.cosh)
    count_nonzero = staticmethod(searching.count_nonzero)
    cov = staticmethod(extras.cov)
    cumprod = staticmethod(numpy_types.cumprod)
    cumsum = staticmethod(numpy_types.cumsum)
    cumulative_prod = staticmethod(statistical.cumulative_prod)
    cumulative_sum = staticmethod(statistical.cumulative_sum)
    diag = staticmethod(extras.diag)
    diagonal = staticmethod(numpy_types.diagonal)
    diff = staticmethod(utility.diff)
    divide = staticmethod(elementwise.divide)
    dot = staticmethod(numpy_types.dot)
    dsplit = staticmethod(numpy_types.dsplit)
    dstack = staticmethod(numpy_types.dstack)
    e: float
    einsum = staticmethod(extras.einsum)
    empty = staticmethod(creation.empty)
    empty_like = staticmethod(creation.empty_like)
    equal = staticmethod(elementwise.equal)
    exp = staticmethod(elementwise.exp)
    expand_dims = staticmethod(manipulation.expand_dims)
    expm1 = staticmethod(elementwise.expm1)
    eye = staticmethod(grids.eye)
    fft: Fft
    fill_diagonal = staticmethod(numpy_types.fill_diagonal)
    finfo = staticmethod(data_types.finfo)
    flatnonzero = staticmethod(numpy_types.flatnonzero)
    flip = staticmethod(manipulation.flip)
    fliplr = staticmethod(numpy_types.fliplr)
    flipud = staticmethod(numpy_types.flipud)
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
    gradient = staticmethod(extras.gradient)
    greater = staticmethod(elementwise.greater)
    greater_equal = staticmethod(elementwise.greater_equal)
    histogram = staticmethod(extras.histogram)
    hsplit = staticmethod(numpy_types.hsplit)
    hstack = staticmethod(numpy_types.hstack)
    hypot = staticmethod(elementwise.hypot)
    iinfo = staticmethod(data_types.iinfo)
    imag = staticmethod(elementwise.imag)
    inf: float
    inner = staticmethod(numpy_types.inner)
    int16: DType
    int2: DType
    int32: DType
    int4: DType
    int64: DType
    int8: DType
    interp = staticmethod(extras.interp)
    isclose = staticmethod(numpy_types.isclose)
    iscomplex = staticmethod(numpy_types.iscomplex)
    iscomplexobj = staticmethod(numpy_types.iscomplexobj)
    isdtype = staticmethod(data_types.isdtype)
    isfinite = staticmethod(elementwise.isfinite)
    isin = staticmethod(sets.isin)
    isinf = staticmethod(elementwise.isinf)
    isnan = staticmethod(elementwise.isnan)
    isreal = staticmethod(numpy_types.isreal)
    isrealobj = staticmethod(numpy_types.isrealobj)
    kron = staticmethod(numpy_types.kron)
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
    logspace = staticmethod(extras.logspace)
    matmul = staticmethod(linear_algebra.matmul)
    matrix_transpose = staticmethod(linear_algebra.matrix_transpose)
    max = staticmethod(statistical.max)
    maximum = staticmethod(elementwise.maximum)
    mean = staticmethod(statistical.mean)
    median = staticmethod(numpy_types.median)
    meshgrid = staticmethod(grids.meshgrid)
    min = staticmethod(statistical.min)
    minimum = staticmethod(elementwise.minimum)
    moveaxis = staticmethod(manipulation.moveaxis)
    multiply = staticmethod(elementwise.multiply)
    nan: float
    nan_to_num = staticmethod(numpy_types.nan_to_num)
    nanargmax = staticmethod(numpy_types.nanargmax)
    nanargmin = staticmethod(numpy_types.nanargmin)
    nancumprod = staticmethod(numpy_types.nancumprod)
    nancumsum = staticmethod(numpy_types.nancumsum)
    nanmax = staticmethod(numpy_types.nanmax)
    nanmean = staticmethod(numpy_types.nanmean)
    nanmedian = staticmethod(numpy_types.nanmedian)
    nanmin = staticmethod(numpy_types.nanmin)
    nanpercentile = staticmethod(numpy_types.nanpercentile)
    nanprod = staticmethod(numpy_types.nanprod)
    nanquantile = staticmethod(extras.nanquantile)
    nanstd = staticmethod(numpy_types.nanstd)
    nansum = staticmethod(numpy_types.nansum)
    nanvar = staticmethod(numpy_types.nanvar)
    ndim = staticmethod(numpy_types.ndim)
    negative = staticmethod(elementwise.negative)
    nextafter = staticmethod(elementwise.nextafter)
    nonzero = staticmethod(searching.nonzero)
    not_equal = staticmethod(elementwise.not_equal)
    ones = staticmethod(creation.ones)
    ones_like = staticmethod(creation.ones_like)
    outer = staticmethod(numpy_types.outer)
    pad = staticmethod(extras.pad)
    partition = staticmethod(numpy_types.partition)
    percentile = staticmethod(numpy_types.percentile)
    permute_dims = staticmethod(manipulation.permute_dims)
    pi: float
    piecewise = staticmethod(extras.piecewise)
    polyval = staticmethod(numpy_types.polyval)
    positive = staticmethod(elementwise.positive)
    pow = staticmethod(elementwise.pow)
    prod = staticmethod(statistical.prod)
    promote_types = staticmethod(data_types.promote_types)
    ptp = staticmethod(numpy_types.ptp)
    quantile = staticmethod(extras.quantile)
    ravel = staticmethod(numpy_types.ravel)
    real = staticmethod(elementwise.real)
    reciprocal = staticmethod(elementwise.reciprocal)
    remainder = staticmethod(elementwise.remainder)
    repeat = staticmethod(manipulation.repeat)
    reshape = staticmethod(manipulation.reshape)
    result_type = staticmethod(data_types.result_type)
    roll = staticmethod(manipulation.roll)
    rot90 = staticmethod(numpy_types.rot90)
    round = staticmethod(elementwise.round)
    searchsorted = staticmethod(searching.searchsorted)
    setdiff1d = staticmethod(numpy_types.setdiff1d)
    shape = staticmethod(numpy_types.shape)
    sign = staticmethod(elementwise.sign)
    signbit = staticmethod(elementwise.signbit)
    sin = staticmethod(elementwise.sin)
    sinc = staticmethod(numpy_types.sinc)
    sinh = staticmethod(elementwise.sinh)
    size = staticmethod(numpy_types.size)
    sort = staticmethod(sorting.sort)
    split = staticmethod(numpy_types.split)
    sqrt = staticmethod(elementwise.sqrt)
    square = staticmethod(elementwise.square)
    squeeze = staticmethod(manipulation.squeeze)
    stack = staticmethod(joining.stack)
    std = staticmethod(statistical.std)
    string: DType
    subtract = staticmethod(elementwise.subtract)
    sum = staticmethod(statistical.sum)
    swapaxes = staticmethod(numpy_types.swapaxes)
    take = staticmethod(indexing.take)
    take_along_axis = staticmethod(indexing.take_along_axis)
    tan = staticmethod(elementwise.tan)
    tanh = staticmethod(elementwise.tanh)
    tensordot = staticmethod(linear_algebra.tensordot)
    tile = staticmethod(manipulation.tile)
    transpose = staticmethod(extras.transpose)
    tril = staticmethod(grids.tril)
    triu = staticmethod(grids.triu)
    trunc = staticmethod(elementwise.trunc)
    uint16: DType
    uint2: DType
    uint32: DType
    uint4: DType
    uint64: DType
    uint8: DType
    union1d = staticmethod(numpy_types.union1d)
    unique = staticmethod(numpy_types.unique)
    unique_all = staticmethod(sets.unique_all)
    unique_counts = staticmethod(sets.unique_counts)
    unique_inverse = staticmethod(sets.unique_inverse)
    unique_values = staticmethod(sets.unique_values)
    unstack = staticmethod(joining.unstack)
    var = staticmethod(statistical.var)
    vdot = staticmethod(numpy_types.vdot)
    vecdot = staticmethod(linear_algebra.vecdot)
    vsplit = staticmethod(numpy_types.vsplit)
    vstack = staticmethod(numpy_types.vstack)
    where = staticmethod(searching.where)
    zeros = staticmethod(creation.zeros)
    zeros_like = staticmethod(creation.zeros_like)
