"""The examples of the element-wise functions, which go into their docstrings.

The name of a function, and what a user types; names are those of the package.
"""

from __future__ import annotations

_TEXT = """
abs
>>> abs(asarray([-128, 3], dtype=int8))
PArray([-128,    3], dtype=int8)
>>> abs(asarray([3 + 4j], dtype=complex64))
PArray([5.], dtype=float32)

acos
>>> x = asarray([1, 0], dtype=int8)
>>> acos(x)
PArray([0.       , 1.5703125], dtype=float16)
>>> with policy("torch"):
...     acos(x).dtype
promoarray.float32

acosh
>>> acosh(asarray([1.0, 2.0], dtype=bfloat16))
PArray([0.       , 1.3203125], dtype=bfloat16)

add
>>> x = asarray([1, 2], dtype=int8)
>>> add(x, 1.5)
PArray([2.5, 3.5], dtype=float64)
>>> with policy("torch"):
...     add(x, 1.5)
PArray([2.5, 3.5], dtype=float32)

asin
>>> x = asarray([0, 1], dtype=uint8)
>>> asin(x)
PArray([0.       , 1.5703125], dtype=float16)
>>> with policy("jax"):
...     asin(x).dtype
promoarray.float32

asinh
>>> asinh(asarray([0, 1], dtype=int8))
PArray([0.        , 0.88134766], dtype=float16)

atan
>>> atan(asarray([0.0, 1.0], dtype=float8_e4m3fn))
PArray([0.    , 0.8125], dtype=float8_e4m3fn)

atan2
>>> x = asarray([0, 1], dtype=int8)
>>> atan2(x, 1)
PArray([0.        , 0.78515625], dtype=float16)
>>> with policy("torch"):
...     atan2(x, 1).dtype
promoarray.float32

atanh
>>> atanh(asarray([0.0, 0.5], dtype=float16))
PArray([0.       , 0.5493164], dtype=float16)

bitwise_and
>>> bitwise_and(asarray([12, 10], dtype=uint8), asarray([6, 6], dtype=int8))
PArray([4, 2], dtype=int16)

bitwise_invert
>>> bitwise_invert(asarray([0, 5], dtype=uint8))
PArray([255, 250], dtype=uint8)
>>> bitwise_invert(asarray([True, False]))
PArray([False,  True], dtype=bool)

bitwise_left_shift
>>> bitwise_left_shift(asarray([1, 3], dtype=uint8), 7)
PArray([128, 128], dtype=uint8)

bitwise_or
>>> bitwise_or(asarray([1, 2], dtype=int8), 4)
PArray([5, 6], dtype=int8)

bitwise_right_shift
>>> bitwise_right_shift(asarray([-8, 8], dtype=int8), 2)
PArray([-2,  2], dtype=int8)

bitwise_xor
>>> bitwise_xor(asarray([True, False]), True)
PArray([False,  True], dtype=bool)

ceil
>>> x = asarray([1, 2], dtype=int8)
>>> ceil(x)
PArray([1, 2], dtype=int8)
>>> with policy("numpy@1"):
...     ceil(x)
PArray([1., 2.], dtype=float16)

conj
>>> conj(asarray([1 + 2j], dtype=complex64))
PArray([1.-2.j], dtype=complex64)

copysign
>>> x = asarray([1, 2], dtype=int8)
>>> copysign(x, -0.0)
PArray([-1., -2.], dtype=float64)
>>> with policy("torch"):
...     copysign(x, -0.0)
PArray([-1., -2.], dtype=float32)

cos
>>> x = asarray([0, 1], dtype=int8)
>>> cos(x)
PArray([1.        , 0.54052734], dtype=float16)
>>> with policy("torch"):
...     cos(x).dtype
promoarray.float32

cosh
>>> cosh(asarray([0.0, 1.0], dtype=bfloat16))
PArray([1.      , 1.546875], dtype=bfloat16)

divide
>>> x = asarray([1, 2], dtype=int8)
>>> divide(x, 2)
PArray([0.5, 1. ], dtype=float64)
>>> with policy("torch"):
...     divide(x, 2)
PArray([0.5, 1. ], dtype=float32)

equal
>>> equal(asarray([1, 2], dtype=uint8), asarray([1.0, 2.5], dtype=bfloat16))
PArray([ True, False], dtype=bool)

exp
>>> x = asarray([0, 1], dtype=int8)
>>> exp(x)
PArray([1.     , 2.71875], dtype=float16)
>>> with policy("torch"):
...     exp(x).dtype
promoarray.float32

expm1
>>> expm1(asarray([0.0, 1e-10], dtype=float32))
PArray([0.e+00, 1.e-10], dtype=float32)

floor
>>> floor(asarray([-1.5, 1.5], dtype=float8_e5m2))
PArray([-2.,  1.], dtype=float8_e5m2)

floor_divide
>>> floor_divide(asarray([-7, 7], dtype=int8), 2)
PArray([-4,  3], dtype=int8)
>>> floor_divide(asarray([-7.0, 7.0], dtype=bfloat16), 2)
PArray([-4.,  3.], dtype=bfloat16)

fmod
>>> fmod(asarray([-7, 7], dtype=int8), 3)
PArray([-1,  1], dtype=int8)
>>> fmod(asarray([-7.0, 7.0], dtype=float16), -3)
PArray([-1.,  1.], dtype=float16)

fmax
>>> fmax(asarray([nan, 1.0]), asarray([2, 3], dtype=int8))
PArray([2., 3.], dtype=float64)

fmin
>>> fmin(asarray([nan, 1.0], dtype=float32), 0)
PArray([0., 0.], dtype=float32)

greater
>>> greater(asarray([1, 200], dtype=uint8), asarray([-1, 100], dtype=int8))
PArray([ True,  True], dtype=bool)

greater_equal
>>> greater_equal(asarray([0.5, 2.0], dtype=float16), 1)
PArray([False,  True], dtype=bool)

hypot
>>> hypot(asarray([3, 5], dtype=int8), asarray([4, 12], dtype=int8))
PArray([ 5., 13.], dtype=float16)
>>> hypot(asarray([300.0], dtype=float16), asarray([400.0], dtype=float16))
PArray([500.], dtype=float16)

imag
>>> imag(asarray([1 + 2j], dtype=complex64))
PArray([2.], dtype=float32)

isfinite
>>> isfinite(asarray([1.0, inf, nan], dtype=bfloat16))
PArray([ True, False, False], dtype=bool)

isinf
>>> isinf(asarray([1.0, -inf, nan], dtype=float8_e5m2))
PArray([False,  True, False], dtype=bool)

isnan
>>> isnan(asarray([1000.0, 1.0]).astype(float8_e4m3fn))
PArray([ True, False], dtype=bool)

less
>>> less(asarray([-1, 1], dtype=int64), asarray([1, 0], dtype=uint64))
PArray([ True, False], dtype=bool)

less_equal
>>> less_equal(asarray([0.1], dtype=float32), asarray([0.1], dtype=float64))
PArray([False], dtype=bool)

log
>>> log(asarray([1, 2], dtype=uint8))
PArray([0.       , 0.6933594], dtype=float16)

log10
>>> log10(asarray([1.0, 100.0], dtype=float8_e4m3fn))
PArray([0., 2.], dtype=float8_e4m3fn)

log1p
>>> log1p(asarray([0.0, 1e-10], dtype=float32))
PArray([0.e+00, 1.e-10], dtype=float32)

log2
>>> log2(asarray([1, 8], dtype=uint16))
PArray([0., 3.], dtype=float32)

logaddexp
>>> logaddexp(asarray([1000.0], dtype=float32), 1000)
PArray([1000.6932], dtype=float32)

logical_and
>>> logical_and(asarray([0, 1, 2]), asarray([1.0, 0.0, nan]))
PArray([False, False,  True], dtype=bool)

logical_not
>>> logical_not(asarray([0.0, nan], dtype=bfloat16))
PArray([ True, False], dtype=bool)

logical_or
>>> logical_or(asarray([0, 1]), False)
PArray([False,  True], dtype=bool)

logical_xor
>>> logical_xor(asarray([0, 3]), asarray([True, True]))
PArray([ True, False], dtype=bool)

maximum
>>> maximum(asarray([1, 200], dtype=uint8), asarray([-1, 100], dtype=int8))
PArray([  1, 200], dtype=int16)
>>> maximum(asarray([nan, 1.0], dtype=float32), 0)
PArray([nan,  1.], dtype=float32)

minimum
>>> x, y = asarray([1.0, 4.0], dtype=bfloat16), asarray([2.0, 3.0], dtype=float16)
>>> minimum(x, y)
Traceback (most recent call last):
    ...
promoarray.errors.PromotionError: ... does not promote minimum(bfloat16, float16): ...
>>> with policy("jax"):
...     minimum(x, y)
PArray([1., 3.], dtype=float32)

multiply
>>> x = asarray([100, 2], dtype=int8)
>>> multiply(x, 2)
PArray([-56,   4], dtype=int8)
>>> multiply(x, asarray([2, 2], dtype=uint8))
PArray([200,   4], dtype=int16)

negative
>>> negative(asarray([1, 128], dtype=uint8))
PArray([255, 128], dtype=uint8)

nextafter
>>> nextafter(asarray([1.0], dtype=float32), 2) - 1
PArray([1.1920929e-07], dtype=float32)

not_equal
>>> not_equal(asarray([nan, 1.0]), asarray([nan, 1.0]))
PArray([ True, False], dtype=bool)

positive
>>> positive(asarray([-1, 1], dtype=int4))
PArray([-1,  1], dtype=int4)

pow
>>> x = asarray([4, 9], dtype=int8)
>>> pow(x, 2)
PArray([16, 81], dtype=int8)
>>> pow(x, 0.5)
PArray([2., 3.], dtype=float64)
>>> with policy("torch"):
...     pow(x, 0.5)
PArray([2., 3.], dtype=float32)

real
>>> real(asarray([1 + 2j], dtype=complex64))
PArray([1.], dtype=float32)

reciprocal
>>> x = asarray([1, 2], dtype=int32)
>>> reciprocal(x)
PArray([1, 0], dtype=int32)
>>> with policy("torch"):
...     reciprocal(x)
PArray([1. , 0.5], dtype=float32)

remainder
>>> remainder(asarray([-7, 7], dtype=int8), 3)
PArray([2, 1], dtype=int8)
>>> remainder(asarray([-7.0, 7.0], dtype=float16), -3)
PArray([-1., -2.], dtype=float16)

round
>>> round(asarray([0.5, 1.5, 2.5], dtype=float16))
PArray([0., 2., 2.], dtype=float16)

sign
>>> sign(asarray([-2.0, 0.0, 3.0], dtype=float8_e4m3fn))
PArray([-1.,  0.,  1.], dtype=float8_e4m3fn)
>>> sign(asarray([3 + 4j]))
PArray([0.6+0.8j], dtype=complex128)

signbit
>>> signbit(asarray([-0.0, 0.0], dtype=bfloat16))
PArray([ True, False], dtype=bool)

sin
>>> x = asarray([0, 1], dtype=int8)
>>> sin(x)
PArray([0.       , 0.8413086], dtype=float16)
>>> with policy("jax"):
...     sin(x).dtype
promoarray.float32

sinh
>>> sinh(asarray([0.0, 1.0], dtype=float16))
PArray([0.       , 1.1748047], dtype=float16)

sqrt
>>> x = asarray([4, 9], dtype=int32)
>>> sqrt(x)
PArray([2., 3.], dtype=float64)
>>> with policy("torch"):
...     sqrt(x)
PArray([2., 3.], dtype=float32)

square
>>> square(asarray([3, 16], dtype=int8))
PArray([9, 0], dtype=int8)

subtract
>>> subtract(asarray([1, 2], dtype=uint8), 3)
PArray([254, 255], dtype=uint8)
>>> subtract(asarray([1, 2], dtype=uint8), asarray([3], dtype=int8))
PArray([-2, -1], dtype=int16)

tan
>>> tan(asarray([0.0, 1.0], dtype=bfloat16))
PArray([0.       , 1.5546875], dtype=bfloat16)

tanh
>>> x = asarray([0, 1], dtype=int8)
>>> tanh(x)
PArray([0.        , 0.76171875], dtype=float16)
>>> with policy("torch"):
...     tanh(x).dtype
promoarray.float32

trunc
>>> trunc(asarray([-1.5, 1.5], dtype=float8_e5m2))
PArray([-1.,  1.], dtype=float8_e5m2)
"""

EXAMPLES = {
    name: example
    for name, _, example in (entry.partition("\n") for entry in _TEXT.strip().split("\n\n"))
}
"""By the name of the function."""
