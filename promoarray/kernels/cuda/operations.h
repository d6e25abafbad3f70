// The elementwise operations for a GPU, one overload for each sort of number, as NumPy defines them.
// CuPy gives this text to NVRTC after those of cast.h, branch_free.h and device.h; it has no headers either.
//
//   1. Values and their codes.
//   2. Floats as IEEE 754 has them. CuPy compiles everything so that float32 subnormals are flushed
//      to zero and a * b + c may be rounded once; the instructions here are written out, without
//      `.ftz`, and do neither. A NaN that arithmetic makes has the bits it has on x86-64.
//   3. Integers, which wrap around; bools; complex numbers.
//
// Not here: functions of the machine's library, whose last bits are its own (functions.h).
#pragma once

#if defined(__CUDA_ARCH__) || defined(__CUDACC_RTC__)
#define PROMOARRAY_ON_DEVICE 1
#else
#define PROMOARRAY_ON_DEVICE 0
#endif

namespace promoarray {

// --- 1. Values and their codes -------------------------------------------------------------------

template <typename Float>
struct Complex {
    Float real, imag;
};

template <typename T>
struct Value {
    template <typename Code>
    static PROMOARRAY_CAST T of(Code code) { return (T)code; }
};
template <>
struct Value<float> {
    static PROMOARRAY_CAST float of(u32 code) { return as_float(code); }
};
template <>
struct Value<double> {
    static PROMOARRAY_CAST double of(u64 code) { return as_float(code); }
};

template <typename T>
PROMOARRAY_CAST u64 code_of(T value) { return (u64)value; }
PROMOARRAY_CAST u32 code_of(float value) { return as_bits(value); }
PROMOARRAY_CAST u64 code_of(double value) { return as_bits(value); }

// How a float is laid out.
template <typename Float> struct Layout;
template <> struct Layout<float> : Float32 {
    static constexpr u32 infinity = 0x7f800000u, quiet = 0x00400000u, sign = 0x80000000u;
};
template <> struct Layout<double> : Float64 {
    static constexpr u64 infinity = 0x7ff0000000000000ull, quiet = 0x0008000000000000ull,
                         sign = 0x8000000000000000ull;
};

namespace op {

// --- 2. Floats -----------------------------------------------------------------------------------

// Plain masks would do, but the compiler for sm_100 takes them for `abs` and `neg`, which CuPy's
// options have flush as all else.
#if PROMOARRAY_ON_DEVICE
#define PROMOARRAY_MASK(instruction, x, operator, mask)                                  \
    u32 result;                                                                          \
    asm(instruction " %0, %1, %2;" : "=r"(result) : "r"(as_bits(x)), "n"(mask));         \
    return as_float(result);
#else
#define PROMOARRAY_MASK(instruction, x, operator, mask) return as_float(as_bits(x) operator mask);
#endif

PROMOARRAY_CAST float magnitude(float x) { PROMOARRAY_MASK("and.b32", x, &, 0x7fffffff) }
PROMOARRAY_CAST double magnitude(double x) { return as_float(as_bits(x) & ~0ull >> 1); }
PROMOARRAY_CAST float negative(float x) { PROMOARRAY_MASK("xor.b32", x, ^, 0x80000000u) }
PROMOARRAY_CAST double negative(double x) { return as_float(as_bits(x) ^ 1ull << 63); }

template <typename Float>
PROMOARRAY_CAST bool is_nan(Float x) { return as_bits(magnitude(x)) > Layout<Float>::infinity; }

// The NaN of an operation, which x86-64 takes from the first operand that is one.
template <typename Float>
PROMOARRAY_CAST Float settled(Float result, Float x, Float y) {
    using L = Layout<Float>;
    if (!is_nan(result)) return result;
    if (is_nan(x)) return as_float(as_bits(x) | L::quiet);
    return as_float(is_nan(y) ? as_bits(y) | L::quiet : L::sign | L::infinity | L::quiet);
}

#if PROMOARRAY_ON_DEVICE
#define PROMOARRAY_MACHINE(name, Float, letter, instruction, expression)              \
    PROMOARRAY_CAST Float name(Float x, Float y) {                                    \
        Float result;                                                                 \
        asm(instruction " %0, %1, %2;" : "=" letter(result) : letter(x), letter(y));  \
        return result;                                                                \
    }
#define PROMOARRAY_MACHINE_OF_ONE(name, Float, letter, instruction, expression)       \
    PROMOARRAY_CAST Float name(Float x) {                                             \
        Float result;                                                                 \
        asm(instruction " %0, %1;" : "=" letter(result) : letter(x));                 \
        return result;                                                                \
    }
#define PROMOARRAY_MACHINE_OF_THREE(name, Float, letter, instruction, expression)     \
    PROMOARRAY_CAST Float name(Float x, Float y, Float z) {                           \
        Float result;                                                                 \
        asm(instruction " %0, %1, %2, %3;"                                            \
            : "=" letter(result) : letter(x), letter(y), letter(z));                  \
        return result;                                                                \
    }
#define PROMOARRAY_COMPARE(name, Float, letter, instruction, expression)              \
    PROMOARRAY_CAST bool name(Float x, Float y) {                                     \
        u32 result;                                                                   \
        asm(instruction " %0, %1, %2;" : "=r"(result) : letter(x), letter(y));        \
        return result != 0;                                                           \
    }
#else
#define PROMOARRAY_MACHINE(name, Float, letter, instruction, expression) \
    PROMOARRAY_CAST Float name(Float x, Float y) { return expression; }
#define PROMOARRAY_MACHINE_OF_ONE(name, Float, letter, instruction, expression) \
    PROMOARRAY_CAST Float name(Float x) { return expression; }
#define PROMOARRAY_MACHINE_OF_THREE(name, Float, letter, instruction, expression) \
    PROMOARRAY_CAST Float name(Float x, Float y, Float z) { return expression; }
#define PROMOARRAY_COMPARE(name, Float, letter, instruction, expression) \
    PROMOARRAY_CAST bool name(Float x, Float y) { return expression; }
#endif

PROMOARRAY_MACHINE(sum, float, "f", "add.rn.f32", x + y)
PROMOARRAY_MACHINE(sum, double, "d", "add.rn.f64", x + y)
PROMOARRAY_MACHINE(difference, float, "f", "sub.rn.f32", x - y)
PROMOARRAY_MACHINE(difference, double, "d", "sub.rn.f64", x - y)
PROMOARRAY_MACHINE(product, float, "f", "mul.rn.f32", x * y)
PROMOARRAY_MACHINE(product, double, "d", "mul.rn.f64", x * y)
PROMOARRAY_MACHINE(quotient, float, "f", "div.rn.f32", x / y)
PROMOARRAY_MACHINE(quotient, double, "d", "div.rn.f64", x / y)
PROMOARRAY_MACHINE_OF_THREE(fma, float, "f", "fma.rn.f32", __builtin_fmaf(x, y, z))
PROMOARRAY_MACHINE_OF_THREE(fma, double, "d", "fma.rn.f64", __builtin_fma(x, y, z))
PROMOARRAY_MACHINE_OF_ONE(root, float, "f", "sqrt.rn.f32", ::sqrtf(x))
PROMOARRAY_MACHINE_OF_ONE(root, double, "d", "sqrt.rn.f64", ::sqrt(x))
PROMOARRAY_MACHINE_OF_ONE(rounded_down, float, "f", "cvt.rmi.f32.f32", ::floorf(x))
PROMOARRAY_MACHINE_OF_ONE(rounded_down, double, "d", "cvt.rmi.f64.f64", ::floor(x))
PROMOARRAY_MACHINE_OF_ONE(rounded_up, float, "f", "cvt.rpi.f32.f32", ::ceilf(x))
PROMOARRAY_MACHINE_OF_ONE(rounded_up, double, "d", "cvt.rpi.f64.f64", ::ceil(x))
PROMOARRAY_MACHINE_OF_ONE(cut, float, "f", "cvt.rzi.f32.f32", ::truncf(x))
PROMOARRAY_MACHINE_OF_ONE(cut, double, "d", "cvt.rzi.f64.f64", ::trunc(x))
PROMOARRAY_MACHINE_OF_ONE(rounded_to_even, float, "f", "cvt.rni.f32.f32", ::rintf(x))
PROMOARRAY_MACHINE_OF_ONE(rounded_to_even, double, "d", "cvt.rni.f64.f64", ::rint(x))
PROMOARRAY_COMPARE(equal, float, "f", "set.eq.u32.f32", x == y)
PROMOARRAY_COMPARE(equal, double, "d", "set.eq.u32.f64", x == y)
PROMOARRAY_COMPARE(less, float, "f", "set.lt.u32.f32", x < y)
PROMOARRAY_COMPARE(less, double, "d", "set.lt.u32.f64", x < y)
PROMOARRAY_COMPARE(less_equal, float, "f", "set.le.u32.f32", x <= y)
PROMOARRAY_COMPARE(less_equal, double, "d", "set.le.u32.f64", x <= y)

// float32 and float64 without the conversions of the machine, which flush.
PROMOARRAY_CAST double wide(float x) { return as_float(widen(as_bits(x), 1)); }
PROMOARRAY_CAST double wide(double x) { return x; }
PROMOARRAY_CAST float narrow(double x) {
    return as_float(encode<Float64>(as_bits(x), float32_format(),
                                    edges(float32_format(), plain_mode())));
}

// What follows is written once for float and double.
#define PROMOARRAY_FLOATS(Float)                                                                \
    PROMOARRAY_CAST Float add(Float x, Float y) { return settled(sum(x, y), x, y); }            \
    PROMOARRAY_CAST Float subtract(Float x, Float y) { return settled(difference(x, y), x, y); } \
    PROMOARRAY_CAST Float multiply(Float x, Float y) { return settled(product(x, y), x, y); }   \
    PROMOARRAY_CAST Float divide(Float x, Float y) { return settled(quotient(x, y), x, y); }    \
    PROMOARRAY_CAST Float sqrt(Float x) { return settled(root(x), x, x); }                      \
    PROMOARRAY_CAST Float square(Float x) { return multiply(x, x); }                            \
    PROMOARRAY_CAST Float reciprocal(Float x) { return divide((Float)1, x); }                   \
    PROMOARRAY_CAST Float floor(Float x) { return settled(rounded_down(x), x, x); }             \
    PROMOARRAY_CAST Float ceil(Float x) { return settled(rounded_up(x), x, x); }                \
    PROMOARRAY_CAST Float trunc(Float x) { return settled(cut(x), x, x); }                      \
    PROMOARRAY_CAST Float round(Float x) { return settled(rounded_to_even(x), x, x); }          \
    PROMOARRAY_CAST Float abs(Float x) { return magnitude(x); }                                 \
    PROMOARRAY_CAST Float copysign(Float x, Float y) {                                          \
        return as_float(as_bits(magnitude(x)) | (as_bits(y) & Layout<Float>::sign));            \
    }                                                                                           \
    PROMOARRAY_CAST bool truth(Float x) { return as_bits(magnitude(x)) != 0; }                  \
    PROMOARRAY_CAST bool signbit(Float x) { return (as_bits(x) & Layout<Float>::sign) != 0; }   \
    PROMOARRAY_CAST bool isnan(Float x) { return is_nan(x); }                                   \
    PROMOARRAY_CAST bool isinf(Float x) {                                                       \
        return as_bits(magnitude(x)) == Layout<Float>::infinity;                                \
    }                                                                                           \
    PROMOARRAY_CAST bool isfinite(Float x) {                                                    \
        return as_bits(magnitude(x)) < Layout<Float>::infinity;                                 \
    }                                                                                           \
    PROMOARRAY_CAST Float sign(Float x) {                                                       \
        if (is_nan(x)) return x;                                                                \
        return truth(x) ? copysign((Float)1, x) : (Float)0;                                     \
    }                                                                                           \
    PROMOARRAY_CAST Float maximum(Float x, Float y) {                                           \
        return less_equal(y, x) || is_nan(x) ? x : y;                                           \
    }                                                                                           \
    PROMOARRAY_CAST Float minimum(Float x, Float y) {                                           \
        return less_equal(x, y) || is_nan(x) ? x : y;                                           \
    }                                                                                           \
    PROMOARRAY_CAST Float fmax(Float x, Float y) {                                              \
        return less_equal(y, x) || is_nan(y) ? x : y;                                           \
    }                                                                                           \
    PROMOARRAY_CAST Float fmin(Float x, Float y) {                                              \
        return less_equal(x, y) || is_nan(y) ? x : y;                                           \
    }                                                                                           \
    PROMOARRAY_CAST Float nextafter(Float x, Float y) {                                         \
        if (is_nan(x) || is_nan(y)) return add(x, y);                                           \
        if (equal(x, y)) return y;                                                              \
        const auto bits = as_bits(x);                                                           \
        if (!truth(x)) return as_float((as_bits(y) & Layout<Float>::sign) | 1);                 \
        return as_float(less(x, y) == signbit(x) ? bits - 1 : bits + 1);                        \
    }

PROMOARRAY_FLOATS(float)
PROMOARRAY_FLOATS(double)

// --- 3. Integers, bools, complex numbers ---------------------------------------------------------

template <typename T> struct Unsigned { using type = u32; };  // of at most 32 bits
template <> struct Unsigned<i64> { using type = u64; };
template <> struct Unsigned<u64> { using type = u64; };

#define PROMOARRAY_INTEGERS template <typename T> PROMOARRAY_CAST
#define PROMOARRAY_WRAPPED(x, sign, y) \
    (T)((typename Unsigned<T>::type)(x) sign (typename Unsigned<T>::type)(y))

PROMOARRAY_INTEGERS T add(T x, T y) { return PROMOARRAY_WRAPPED(x, +, y); }
PROMOARRAY_INTEGERS T subtract(T x, T y) { return PROMOARRAY_WRAPPED(x, -, y); }
PROMOARRAY_INTEGERS T multiply(T x, T y) { return PROMOARRAY_WRAPPED(x, *, y); }
PROMOARRAY_INTEGERS T negative(T x) { return PROMOARRAY_WRAPPED(0, -, x); }
PROMOARRAY_INTEGERS T square(T x) { return PROMOARRAY_WRAPPED(x, *, x); }
PROMOARRAY_INTEGERS T abs(T x) { return x < (T)0 ? negative(x) : x; }
PROMOARRAY_INTEGERS T sign(T x) { return (T)((x > (T)0) - (x < (T)0)); }
PROMOARRAY_INTEGERS bool truth(T x) { return x != (T)0; }
PROMOARRAY_INTEGERS bool signbit(T x) { return x < (T)0; }

PROMOARRAY_INTEGERS double divide(T x, T y) { return divide((double)x, (double)y); }

// By zero the result is 0.
PROMOARRAY_INTEGERS T floor_divide(T x, T y) {
    if (y == (T)0) return 0;
    if ((T)-1 < (T)0 && y == (T)-1) return negative(x);  // which the lowest number has none of
    const T found = (T)(x / y);
    return (x < (T)0) != (y < (T)0) && (T)(found * y) != x ? (T)(found - 1) : found;
}
PROMOARRAY_INTEGERS T fmod(T x, T y) {
    return y == (T)0 || ((T)-1 < (T)0 && y == (T)-1) ? (T)0 : (T)(x % y);
}
PROMOARRAY_INTEGERS T remainder(T x, T y) {
    const T found = fmod(x, y);
    return found != (T)0 && (x < (T)0) != (y < (T)0) ? (T)(found + y) : found;
}

// A negative exponent is refused before a kernel is launched; here it gives 0.
PROMOARRAY_INTEGERS T pow(T x, T y) {
    using U = typename Unsigned<T>::type;
    if (y < (T)0) return 0;
    U base = (U)x, result = 1;
    for (U left = (U)y; left != 0; left >>= 1) {
        if (left & 1) result *= base;
        base *= base;
    }
    return (T)result;
}

PROMOARRAY_INTEGERS T bitwise_and(T x, T y) { return (T)(x & y); }
PROMOARRAY_INTEGERS T bitwise_or(T x, T y) { return (T)(x | y); }
PROMOARRAY_INTEGERS T bitwise_xor(T x, T y) { return (T)(x ^ y); }
PROMOARRAY_INTEGERS T bitwise_invert(T x) { return (T)~x; }
PROMOARRAY_CAST bool bitwise_invert(bool x) { return !x; }

// A count that is negative or as large as the width shifts all bits out.
PROMOARRAY_INTEGERS T bitwise_left_shift(T x, T y) {
    const bool inside = (u64)y < 8 * sizeof(T);
    return inside ? (T)((typename Unsigned<T>::type)x << (u32)y) : (T)0;
}
PROMOARRAY_INTEGERS T bitwise_right_shift(T x, T y) {
    const bool inside = (u64)y < 8 * sizeof(T);
    return inside ? (T)(x >> (u32)y) : x < (T)0 ? (T)-1 : (T)0;
}

PROMOARRAY_INTEGERS T maximum(T x, T y) { return x >= y ? x : y; }
PROMOARRAY_INTEGERS T minimum(T x, T y) { return x <= y ? x : y; }
PROMOARRAY_INTEGERS T fmax(T x, T y) { return maximum(x, y); }
PROMOARRAY_INTEGERS T fmin(T x, T y) { return minimum(x, y); }
PROMOARRAY_INTEGERS bool equal(T x, T y) { return x == y; }
PROMOARRAY_INTEGERS bool less(T x, T y) { return x < y; }
PROMOARRAY_INTEGERS bool less_equal(T x, T y) { return x <= y; }
PROMOARRAY_CAST bool equal(i64 x, u64 y) { return x >= 0 && (u64)x == y; }
PROMOARRAY_CAST bool equal(u64 x, i64 y) { return equal(y, x); }
PROMOARRAY_CAST bool less(i64 x, u64 y) { return x < 0 || (u64)x < y; }
PROMOARRAY_CAST bool less(u64 x, i64 y) { return y > 0 && x < (u64)y; }
PROMOARRAY_CAST bool less_equal(i64 x, u64 y) { return !less(y, x); }
PROMOARRAY_CAST bool less_equal(u64 x, i64 y) { return !less(y, x); }

#define PROMOARRAY_COMPLEX template <typename F> PROMOARRAY_CAST

PROMOARRAY_COMPLEX bool is_nan(Complex<F> x) { return is_nan(x.real) || is_nan(x.imag); }
PROMOARRAY_COMPLEX bool truth(Complex<F> x) { return truth(x.real) || truth(x.imag); }
PROMOARRAY_COMPLEX Complex<F> add(Complex<F> x, Complex<F> y) {
    return {add(x.real, y.real), add(x.imag, y.imag)};
}
PROMOARRAY_COMPLEX Complex<F> subtract(Complex<F> x, Complex<F> y) {
    return {subtract(x.real, y.real), subtract(x.imag, y.imag)};
}
PROMOARRAY_COMPLEX Complex<F> multiply(Complex<F> x, Complex<F> y) {
    return {subtract(multiply(x.real, y.real), multiply(x.imag, y.imag)),
            add(multiply(x.real, y.imag), multiply(x.imag, y.real))};
}
// Smith's method, which overflows only where the quotient does, or nearly.
PROMOARRAY_COMPLEX Complex<F> divide(Complex<F> x, Complex<F> y) {
    const F real = abs(y.real), imag = abs(y.imag);
    if (less_equal(imag, real)) {
        if (!truth(real) && !truth(imag)) return {divide(x.real, real), divide(x.imag, real)};
        const F ratio = divide(y.imag, y.real);
        const F scale = divide((F)1, add(y.real, multiply(y.imag, ratio)));
        return {multiply(add(x.real, multiply(x.imag, ratio)), scale),
                multiply(subtract(x.imag, multiply(x.real, ratio)), scale)};
    }
    const F ratio = divide(y.real, y.imag);
    const F scale = divide((F)1, add(y.imag, multiply(y.real, ratio)));
    return {multiply(add(multiply(x.real, ratio), x.imag), scale),
            multiply(subtract(multiply(x.imag, ratio), x.real), scale)};
}
PROMOARRAY_COMPLEX Complex<F> reciprocal(Complex<F> x) {
    if (less_equal(abs(x.imag), abs(x.real))) {
        const F ratio = divide(x.imag, x.real);
        const F scale = add(x.real, multiply(x.imag, ratio));
        return {divide((F)1, scale), divide(negative(ratio), scale)};
    }
    const F ratio = divide(x.real, x.imag);
    const F scale = add(multiply(x.real, ratio), x.imag);
    return {divide(ratio, scale), divide((F)-1, scale)};
}
PROMOARRAY_COMPLEX Complex<F> square(Complex<F> x) { return multiply(x, x); }
PROMOARRAY_COMPLEX Complex<F> negative(Complex<F> x) {
    return {negative(x.real), negative(x.imag)};
}
PROMOARRAY_COMPLEX Complex<F> conj(Complex<F> x) { return {x.real, negative(x.imag)}; }
PROMOARRAY_COMPLEX Complex<F> round(Complex<F> x) { return {round(x.real), round(x.imag)}; }
PROMOARRAY_COMPLEX F real(Complex<F> x) { return x.real; }
PROMOARRAY_COMPLEX F imag(Complex<F> x) { return x.imag; }
PROMOARRAY_COMPLEX bool isnan(Complex<F> x) { return is_nan(x); }
PROMOARRAY_COMPLEX bool isinf(Complex<F> x) { return isinf(x.real) || isinf(x.imag); }
PROMOARRAY_COMPLEX bool isfinite(Complex<F> x) { return isfinite(x.real) && isfinite(x.imag); }
PROMOARRAY_COMPLEX bool equal(Complex<F> x, Complex<F> y) {
    return equal(x.real, y.real) && equal(x.imag, y.imag);
}
// By the real parts, then by the imaginary ones.
PROMOARRAY_COMPLEX bool ordered(Complex<F> x, Complex<F> y) {
    return less(x.real, y.real) && !is_nan(x.imag) && !is_nan(y.imag);
}
PROMOARRAY_COMPLEX bool less(Complex<F> x, Complex<F> y) {
    return ordered(x, y) || (equal(x.real, y.real) && less(x.imag, y.imag));
}
PROMOARRAY_COMPLEX bool less_equal(Complex<F> x, Complex<F> y) {
    return ordered(x, y) || (equal(x.real, y.real) && less_equal(x.imag, y.imag));
}
PROMOARRAY_COMPLEX Complex<F> maximum(Complex<F> x, Complex<F> y) {
    return less_equal(y, x) || is_nan(x) ? x : y;
}
PROMOARRAY_COMPLEX Complex<F> minimum(Complex<F> x, Complex<F> y) {
    return less_equal(x, y) || is_nan(x) ? x : y;
}
PROMOARRAY_COMPLEX Complex<F> fmax(Complex<F> x, Complex<F> y) {
    return less_equal(y, x) || is_nan(y) ? x : y;
}
PROMOARRAY_COMPLEX Complex<F> fmin(Complex<F> x, Complex<F> y) {
    return less_equal(x, y) || is_nan(y) ? x : y;
}

// With both bounds NumPy's clip asks the number itself for NaN, and no bound.
PROMOARRAY_COMPLEX bool precedes(Complex<F> x, Complex<F> y) {
    return equal(x.real, y.real) ? less(x.imag, y.imag) : less(x.real, y.real);
}
PROMOARRAY_COMPLEX Complex<F> clip(Complex<F> x, Complex<F> low, Complex<F> high) {
    const Complex<F> raised = is_nan(x) || precedes(low, x) ? x : low;
    return is_nan(raised) || precedes(raised, high) ? raised : high;
}

// For all of them.
template <typename T>
PROMOARRAY_CAST T clip(T x, T low, T high) { return minimum(maximum(x, low), high); }
template <typename T> PROMOARRAY_CAST T positive(T x) { return x; }
template <typename T> PROMOARRAY_CAST T same(T x) { return x; }
template <typename T> PROMOARRAY_CAST bool logical_not(T x) { return !truth(x); }
template <typename T> PROMOARRAY_CAST bool logical_and(T x, T y) { return truth(x) && truth(y); }
template <typename T> PROMOARRAY_CAST bool logical_or(T x, T y) { return truth(x) || truth(y); }
template <typename T> PROMOARRAY_CAST bool logical_xor(T x, T y) { return truth(x) != truth(y); }
template <typename T, typename U>
PROMOARRAY_CAST bool not_equal(T x, U y) { return !equal(x, y); }
template <typename T, typename U>
PROMOARRAY_CAST bool greater(T x, U y) { return less(y, x); }
template <typename T, typename U>
PROMOARRAY_CAST bool greater_equal(T x, U y) { return less_equal(y, x); }
template <typename T> PROMOARRAY_CAST T l1_loss(T x, T y) { return abs(subtract(x, y)); }
template <typename T> PROMOARRAY_CAST T mse_loss(T x, T y) { return square(subtract(x, y)); }

}  // namespace op
}  // namespace promoarray
