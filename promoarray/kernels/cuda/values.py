"""Kernels that look at values: floats in an order of integers, the next float, a complex sign.

CuPy's own flush float32 subnormals, take the largest finite number for an infinity, or know none of
the dtypes.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from promoarray import dtypes as dt
from promoarray.dtypes import CONCRETE, DType
from promoarray.kernels.cuda.element import code_bits, stored
from promoarray.kernels.cuda.kernel_source import KernelSource, fused_preamble

__all__ = ["INTEGERS", "all_kernels", "complex_sign", "from_order", "next_code", "to_order"]

INTEGERS = {dt.float32: dt.int32, dt.float64: dt.int64}
"""What has the width of a float."""

# --- Floats in the order of integers -------------------------------------------------------------

_WORDS = {dt.int32: "int", dt.int64: "long long"}

_CODES = """
    typedef {word} Int;
    const Int most = (Int)(~0ull >> (65 - 8 * sizeof(Int)));
    const Int infinity = most >> {mantissa} << {mantissa};
    const Int quiet = infinity | (Int)1 << ({mantissa} - 1);
    const Int beyond = {beyond};
"""
_TO_ORDER = """
    const Int code = reinterpret_cast<const Int &>(x), size = code & most;
    const Int below = {zeros_alike} ? -size : ~size;
    y = size > infinity ? beyond : code < 0 ? below : code;
"""
_FROM_ORDER = """
    reinterpret_cast<Int &>(y) = x == beyond ? quiet : x < 0 ? ~x ^ ~most : x;
"""


@cache
def to_order(dtype: DType, *, largest: bool, zeros_alike: bool = False) -> KernelSource:
    """From float32 or float64 ``x`` to integers ``y`` in the same order: NaN is the largest of all,
    or the smallest; -0 and 0 are one integer, or -0 is below."""
    return _order(dtype, _TO_ORDER, largest=largest, zeros_alike=zeros_alike)


@cache
def from_order(dtype: DType, *, largest: bool) -> KernelSource:
    """Back, from integers ``x`` to floats ``y``; NaN is the quiet one without a sign."""
    return _order(dtype, _FROM_ORDER, largest=largest)


def _order(dtype: DType, body: str, *, largest: bool, zeros_alike: bool = False) -> KernelSource:
    assert dtype.format is not None
    whole, back = INTEGERS[dtype], body is _FROM_ORDER
    text = _CODES.format(
        word=_WORDS[whole],
        mantissa=dtype.format.mantissa,
        beyond="most" if largest else "-most - 1",
    )
    text += body.format(zeros_alike="true" if zeros_alike else "false")
    source, target = (whole, dtype) if back else (dtype, whole)
    name = f"promoarray_{source.code}_ordered_{target.code}_{largest:d}{zeros_alike:d}"
    return KernelSource(name, f"{source.name} x", f"{target.name} y", text, "")


# --- The next float ------------------------------------------------------------------------------

_NEXT = """
    const unsigned int sign = {sign}u, size = x & ~sign;
    if (unordered) {{
        y = {nan};
    }} else if (alike) {{
        y = towards;
    }} else if (sign && !size) {{
        y = above ? 1 : sign | 1;
    }} else {{
        y = above == ((x & sign) != 0) ? x - 1 : x + 1;
        if ({no_negative_zero} && y == sign) y = 0;
    }}
"""


@cache
def next_code(dtype: DType) -> KernelSource:
    """From codes ``x`` of a narrow float to the next ones ``y``, in the direction of ``towards``.

    ``above``, ``alike``, ``unordered``: whether that is above, the same, or one of the two NaN.
    """
    layout = dtype.format
    assert layout is not None
    text = _NEXT.format(
        sign=1 << dtype.bits - 1 if layout.signed else 0,
        nan=layout.nan or 0,
        no_negative_zero="true" if layout.signed and not layout.negative_zero else "false",
    )
    word = stored(dtype)
    given = f"{word} x, {word} towards, bool above, bool alike, bool unordered"
    return KernelSource(f"promoarray_next_{dtype.code}", given, f"{word} y", text, "")


# --- The sign of complex numbers -----------------------------------------------------------------

_SIGN = """
    using namespace promoarray;
    typedef {real} Real;
    const Real parts[2] = {{Value<Real>::of(load<{code}>(&x, 0)),
                           Value<Real>::of(load<{code}>(&x, 1))}};
    const Real size = op::hypot(parts[0], parts[1]);
    const bool both = op::isinf(parts[0]) && op::isinf(parts[1]);
    for (int k = 0; k < 2; ++k) {{
        Real part = op::truth(size) ? op::divide(parts[k], size) : (Real)0;
        if (op::isinf(size)) part = op::isinf(parts[k]) ? op::copysign((Real)1, parts[k]) : (Real)0;
        if (op::is_nan(size) || both) part = op::subtract(size, size);
        save(&y, k, code_of(part));
    }}
"""


@cache
def complex_sign(dtype: DType) -> KernelSource:
    """``x / abs(x)``; of infinity the direction where there is one, else NaN, as in NumPy."""
    real = "float" if dtype.part is dt.float32 else "double"
    text = _SIGN.format(real=real, code=f"u{code_bits(dtype)}")
    name = f"promoarray_sign_{dtype.code}"
    return KernelSource(name, f"{dtype.name} x", f"{dtype.name} y", text, fused_preamble())


def all_kernels() -> Iterator[KernelSource]:
    """List the kernels there are."""
    for dtype in INTEGERS:
        for largest in (True, False):
            yield from_order(dtype, largest=largest)
            for zeros_alike in (True, False):
                yield to_order(dtype, largest=largest, zeros_alike=zeros_alike)
    for dtype in CONCRETE:
        if dtype.format is not None and dtype.bits < 32:
            yield next_code(dtype)
    yield complex_sign(dt.complex64)
    yield complex_sign(dt.complex128)
