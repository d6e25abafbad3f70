// The elementwise functions of the machine's library for a GPU: sin, exp, pow and the like, whose
// last bits are its own. CuPy gives this text to NVRTC after that of operations.h.
//
// In float32 the library flushes subnormals. Where the argument or the result is that small it is
// asked in float64.
#pragma once

namespace promoarray {
namespace op {

PROMOARRAY_CAST bool is_subnormal(float x) {
    const u32 bits = as_bits(magnitude(x));
    return bits - 1 < 0x007fffffu;
}
PROMOARRAY_CAST bool may_be_flushed(float x, float result) {
    return is_subnormal(x) || (truth(x) && as_bits(magnitude(result)) < 0x00800000u);
}

#define PROMOARRAY_FUNCTION(name)                                                               \
    PROMOARRAY_CAST double name(double x) { return settled(::name(x), x, x); }                  \
    PROMOARRAY_CAST float name(float x) {                                                       \
        const float result = ::name##f(x);                                                      \
        return settled(may_be_flushed(x, result) ? narrow(::name(wide(x))) : result, x, x);     \
    }
// CUDA's logarithms of float64 take the upper half of a tiny number for a float32, and flush it:
// that of a negative one would be -Inf.
#define PROMOARRAY_LOGARITHM(name)                                                              \
    PROMOARRAY_CAST double name(double x) {                                                     \
        if (signbit(x) && truth(x)) return sqrt(x);                                             \
        return settled(::name(x), x, x);                                                        \
    }                                                                                           \
    PROMOARRAY_CAST float name(float x) {                                                       \
        const float result = ::name##f(x);                                                      \
        return settled(may_be_flushed(x, result) ? narrow(name(wide(x))) : result, x, x);       \
    }
#define PROMOARRAY_FUNCTION_OF_TWO(name)                                                        \
    PROMOARRAY_CAST double name(double x, double y) { return settled(::name(x, y), x, y); }     \
    PROMOARRAY_CAST float name(float x, float y) {                                              \
        const float result = ::name##f(x, y);                                                   \
        const bool flushed = may_be_flushed(x, result) || may_be_flushed(y, result);            \
        return settled(flushed ? narrow(::name(wide(x), wide(y))) : result, x, y);              \
    }

PROMOARRAY_FUNCTION(sin)
PROMOARRAY_FUNCTION(cos)
PROMOARRAY_FUNCTION(tan)
PROMOARRAY_FUNCTION(asin)
PROMOARRAY_FUNCTION(acos)
PROMOARRAY_FUNCTION(atan)
PROMOARRAY_FUNCTION(sinh)
PROMOARRAY_FUNCTION(cosh)
PROMOARRAY_FUNCTION(tanh)
PROMOARRAY_FUNCTION(asinh)
PROMOARRAY_FUNCTION(acosh)
PROMOARRAY_FUNCTION(atanh)
PROMOARRAY_FUNCTION(exp)
PROMOARRAY_FUNCTION(expm1)
PROMOARRAY_LOGARITHM(log)
PROMOARRAY_FUNCTION(log1p)
PROMOARRAY_LOGARITHM(log2)
PROMOARRAY_LOGARITHM(log10)
PROMOARRAY_FUNCTION_OF_TWO(pow)
PROMOARRAY_FUNCTION_OF_TWO(atan2)
PROMOARRAY_FUNCTION_OF_TWO(hypot)

template <typename Float>
PROMOARRAY_CAST Float log_add_exp(Float x, Float y) {
    constexpr double log_of_2 = 0.693147180559945309417232121458176568;
    if (equal(x, y)) return add(x, (Float)log_of_2);  // infinities, too
    const Float apart = subtract(x, y);
    if (is_nan(apart)) return apart;
    return add(maximum(x, y), log1p(exp(negative(magnitude(apart)))));
}
PROMOARRAY_CAST float logaddexp(float x, float y) { return log_add_exp(x, y); }
PROMOARRAY_CAST double logaddexp(double x, double y) { return log_add_exp(x, y); }
template <typename Float>
PROMOARRAY_CAST Float poisson_nll_loss(Float x, Float y) {
    return subtract(exp(x), multiply(y, x));
}
PROMOARRAY_COMPLEX F abs(Complex<F> x) { return hypot(x.real, x.imag); }

}  // namespace op
}  // namespace promoarray
