// The elementwise functions of the machine's library for a GPU: sin, exp, pow and the like, whose
// last bits are its own. CuPy gives this text to NVRTC after that of operations.h.
//
// In float32 the library flushes subnormals. Where the argument or the result is that small it is
// asked in float64.
//
// Powers by exponents that frameworks have a way of their own for are exact: roots, squares, products.
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

// The remainder with the sign of x, always exact; that of two float32 is a float32.
PROMOARRAY_CAST double rest(double x, double y) { return ::fmod(x, y); }
PROMOARRAY_CAST float rest(float x, float y) { return narrow(::fmod(wide(x), wide(y))); }

PROMOARRAY_CAST float fmod(float x, float y) { return settled(rest(x, y), x, y); }
PROMOARRAY_CAST double fmod(double x, double y) { return settled(rest(x, y), x, y); }

// npy_divmod: the remainder has the sign of y, and the quotient is what is left, made whole.
template <typename Float>
PROMOARRAY_CAST Float float_remainder(Float x, Float y) {
    const Float mod = settled(rest(x, y), x, y);
    if (!truth(y) || is_nan(mod)) return mod;
    if (!truth(mod)) return copysign((Float)0, y);
    return signbit(y) != signbit(mod) ? add(mod, y) : mod;
}
template <typename Float>
PROMOARRAY_CAST Float float_floor_divide(Float x, Float y) {
    if (!truth(y)) return divide(x, y);
    const Float mod = settled(rest(x, y), x, y);
    Float found = divide(subtract(x, mod), y);
    if (truth(mod) && signbit(y) != signbit(mod)) found = subtract(found, (Float)1);
    if (!truth(found)) return copysign((Float)0, divide(x, y));
    const Float whole = floor(found);
    return less((Float)0.5, subtract(found, whole)) ? add(whole, (Float)1) : whole;
}
PROMOARRAY_CAST float remainder(float x, float y) { return float_remainder(x, y); }
PROMOARRAY_CAST double remainder(double x, double y) { return float_remainder(x, y); }
PROMOARRAY_CAST float floor_divide(float x, float y) { return float_floor_divide(x, y); }
PROMOARRAY_CAST double floor_divide(double x, double y) { return float_floor_divide(x, y); }

// --- Powers by some exponents (kernels/portable/powers.py, xla.py) -------------------------------

template <typename Float>
PROMOARRAY_CAST Float cube(Float x) { return multiply(multiply(x, x), x); }
// The root as C's pow has it: inf of -inf, and 0.0 of -0.0.
template <typename Float>
PROMOARRAY_CAST Float plain_root(Float x) {
    return add(sqrt(isinf(x) ? magnitude(x) : x), (Float)0);
}
template <typename Float>
PROMOARRAY_CAST Float plain_pow(Float x, Float y) {
    return equal(y, (Float)2) ? square(x) : equal(y, (Float)0.5) ? plain_root(x) : pow(x, y);
}
// One exponent for all elements, of which NumPy takes roots.
template <typename Float>
PROMOARRAY_CAST Float single_pow(Float x, Float y) {
    return equal(y, (Float)0.5) ? sqrt(x) : plain_pow(x, y);
}
template <typename Float>
PROMOARRAY_CAST Float whole_shortcut_pow(Float x, Float y) {
    return equal(y, (Float)-1) ? reciprocal(x) : equal(y, (Float)2) ? square(x) : pow(x, y);
}
template <typename Float>
PROMOARRAY_CAST Float root_shortcut_pow(Float x, Float y) {
    return equal(y, (Float)0.5) ? sqrt(x) : pow(x, y);
}
template <typename Float>
PROMOARRAY_CAST Float shortcut_pow(Float x, Float y) {
    if (!truth(y)) return 1;
    if (equal(y, (Float)1)) return x;
    return equal(y, (Float)0.5) ? sqrt(x) : whole_shortcut_pow(x, y);
}
template <typename Float>
PROMOARRAY_CAST Float multiplied_pow(Float x, Float y) {
    if (equal(y, (Float)3)) return cube(x);
    if (equal(y, (Float)-2)) return reciprocal(square(x));
    return equal(y, (Float)-0.5) ? reciprocal(sqrt(x)) : shortcut_pow(x, y);
}
// The product of all powers to powers of two that the exponent is made of.
template <typename Float>
PROMOARRAY_CAST Float integer_pow(Float x, Float y) {
    Float power = 1, factor = x;
    bool begun = false;
    for (Float left = magnitude(y); isfinite(left) && !less(left, (Float)1);) {
        const Float half = floor(multiply(left, (Float)0.5));
        if (!equal(left, add(half, half))) {
            power = begun ? multiply(power, factor) : factor;
            begun = true;
        }
        left = half;
        factor = square(factor);
    }
    return signbit(y) ? reciprocal(power) : power;
}

// --- Of several functions ------------------------------------------------------------------------

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
