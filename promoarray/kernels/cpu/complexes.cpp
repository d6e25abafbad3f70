// Operations on complex numbers that NumPy has not, or computes otherwise: logic, an order by parts,
// products and quotients as single frameworks make them (portable/complexes.py, portable/xla.py).
#include <limits>

#include "elementwise.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

template <typename T>
struct Complex {
    T real, imag;
};

using Test = StepOf<2, false, true>;

template <typename T> bool is_true_number(Complex<T> x) { return (x.real != 0) | (x.imag != 0); }

struct And : Test {
    template <typename C> static bool of(C x, C y) { return is_true_number(x) & is_true_number(y); }
};
struct Or : Test {
    template <typename C> static bool of(C x, C y) { return is_true_number(x) | is_true_number(y); }
};
struct Xor : Test {
    template <typename C> static bool of(C x, C y) { return is_true_number(x) ^ is_true_number(y); }
};
struct Not : StepOf<1, false, true> {
    template <typename C> static bool of(C x) { return !is_true_number(x); }
};

// Logic of real parts alone, on both of a kind.
template <typename Step>
struct OfReal : StepOf<Step::operands, false, true> {
    template <typename... C> static bool of(C... x) { return Step::of(C{x.real, 0}...); }
};

// --- By real parts, and by imaginary ones where they are equal ------------------------------------

struct Greater : Test {
    template <typename C> static bool of(C x, C y) {
        return (x.real > y.real) | ((x.real == y.real) & (x.imag > y.imag));
    }
};
struct GreaterEqual : Test {
    template <typename C> static bool of(C x, C y) {
        return (x.real > y.real) | ((x.real == y.real) & (x.imag >= y.imag));
    }
};
struct Less : Test {
    template <typename C> static bool of(C x, C y) { return Greater::of(y, x); }
};
struct LessEqual : Test {
    template <typename C> static bool of(C x, C y) { return GreaterEqual::of(y, x); }
};
struct Maximum : Binary {
    template <typename C> static C of(C x, C y) { return Greater::of(x, y) ? x : y; }
};
struct Minimum : Binary {
    template <typename C> static C of(C x, C y) { return Less::of(x, y) ? x : y; }
};

struct SignOfOrder : Unary {
    template <typename T> static Complex<T> of(Complex<T> x) {
        const T first = x.real != 0 ? x.real : x.imag;
        const bool nan = (x.real != x.real) | (x.imag != x.imag);
        return {nan ? std::numeric_limits<T>::quiet_NaN() : (T)((first > 0) - (first < 0)), 0};
    }
};

// --- Arithmetic whose every step rounds -----------------------------------------------------------

struct Product : Binary {
    template <typename C> static auto real(C x, C y) { return x.real * y.real - x.imag * y.imag; }
    template <typename C> static auto imag(C x, C y) { return x.real * y.imag + x.imag * y.real; }
};

// The parts one after the other: of both at once GCC makes one instruction that rounds less, whatever
// -ffp-contract says. The result may be an operand.
template <typename T>
void products(const void *first, const void *second, void *result, std::size_t n) {
    constexpr std::size_t block = 256;
    const auto *x = static_cast<const Complex<T> *>(first), *y = static_cast<const Complex<T> *>(second);
    auto *out = static_cast<Complex<T> *>(result);
    T real[block], imag[block];
    for (std::size_t at = 0; at < n; at += block) {
        const std::size_t now = n - at < block ? n - at : block;
        for (std::size_t i = 0; i < now; ++i) real[i] = Product::real(x[at + i], y[at + i]);
        for (std::size_t i = 0; i < now; ++i) imag[i] = Product::imag(x[at + i], y[at + i]);
        for (std::size_t i = 0; i < now; ++i) out[at + i] = {real[i], imag[i]};
    }
}
struct PlainMultiply {
    template <typename T> static void run(const void *const *x, void *out, std::size_t n) {
        products<T>(x[0], x[1], out, n);
    }
};
struct PlainSquare {
    template <typename T> static void run(const void *const *x, void *out, std::size_t n) {
        products<T>(x[0], x[0], out, n);
    }
};

struct PlainCube {
    template <typename T> static void run(const void *const *operands, void *out, std::size_t n) {
        constexpr std::size_t block = 256;
        const auto *x = static_cast<const Complex<T> *>(operands[0]);
        Complex<T> square[block];
        for (std::size_t at = 0; at < n; at += block) {
            const std::size_t now = n - at < block ? n - at : block;
            products<T>(x + at, x + at, square, now);
            products<T>(square, x + at, static_cast<Complex<T> *>(out) + at, now);
        }
    }
};

template <typename T> T unit_of_infinity(T x) { return std::copysign((T)std::isinf(x), x); }

// As C has it (Annex G): where both parts are NaN, the product with an infinity is one.
struct StandardMultiply {
    template <typename T> static bool is_infinite(Complex<T> x) {
        return std::isinf(x.real) || std::isinf(x.imag);
    }
    // An infinity as a corner or the middle of a side of a square; without NaN.
    template <typename T> static Complex<T> boxed(Complex<T> x) {
        const auto number = [](T part) { return part == part ? part : 0; };
        if (!is_infinite(x)) return {number(x.real), number(x.imag)};
        return {unit_of_infinity(x.real), unit_of_infinity(x.imag)};
    }
    template <typename T> static void run(const void *const *operands, void *result, std::size_t n) {
        constexpr std::size_t block = 256;
        const auto *x = static_cast<const Complex<T> *>(operands[0]);
        const auto *y = static_cast<const Complex<T> *>(operands[1]);
        auto *out = static_cast<Complex<T> *>(result);
        Complex<T> made[block];
        for (std::size_t at = 0; at < n; at += block) {
            const std::size_t now = n - at < block ? n - at : block;
            products<T>(x + at, y + at, made, now);
            for (std::size_t i = 0; i < now; ++i) {
                const Complex<T> found = made[i], a = x[at + i], b = y[at + i];
                const bool is_nan = (found.real != found.real) & (found.imag != found.imag);
                out[at + i] = is_nan && (is_infinite(a) || is_infinite(b)) ? of_infinity(a, b) : found;
            }
        }
    }
    template <typename T> static Complex<T> of_infinity(Complex<T> x, Complex<T> y) {
        constexpr T infinity = std::numeric_limits<T>::infinity();
        const Complex<T> a = boxed(x), b = boxed(y);
        Complex<T> product;
        products<T>(&a, &b, &product, 1);
        return {infinity * product.real, infinity * product.imag};
    }
};

// The second operand is multiplied by 1 or -1, a complex number, which spreads infinities and NaN to
// both parts. (Nothing else is rounded by such a product.)
template <int one>
struct AddScaled : Binary {
    template <typename T> static Complex<T> of(Complex<T> x, Complex<T> y) {
        return {x.real + (y.real * (T)one - y.imag * (T)0), x.imag + (y.real * (T)0 + y.imag * (T)one)};
    }
};

struct ScaledNegative : Unary {
    template <typename C> static C of(C x) { return AddScaled<-1>::of(C{0, 0}, x); }
};

// Paddle multiplies the first operand by 1, and adds the second or takes it away: a real number, whose
// imaginary part is 0 in a difference, too.
template <int sign>
struct ScaledAdd : Binary {
    template <typename T> static Complex<T> of(Complex<T> x, Complex<T> y) {
        const T real = x.real * (T)1 - x.imag * (T)0, imag = x.real * (T)0 + x.imag * (T)1;
        return {real + (T)sign * y.real, imag + y.imag};
    }
};

// --- As PyTorch and Paddle: NumPy's quotient, of whose sums of products one is not rounded ---------

template <bool fuses, typename T> T sum(T x, T y, T z) { return fuses ? std::fma(x, y, z) : x * y + z; }

// The sums of the numerators; in PyTorch that of the divisor, too.
template <bool fuses_divisor, typename T>
Complex<T> fused_quotient(Complex<T> x, Complex<T> y) {
    if (std::fabs(y.real) >= std::fabs(y.imag)) {
        const T ratio = y.imag / y.real, scale = 1 / sum<fuses_divisor>(y.imag, ratio, y.real);
        return {std::fma(x.imag, ratio, x.real) * scale, std::fma(-x.real, ratio, x.imag) * scale};
    }
    const T ratio = y.real / y.imag, scale = 1 / sum<fuses_divisor>(y.real, ratio, y.imag);
    return {std::fma(x.real, ratio, x.imag) * scale, std::fma(x.imag, ratio, -x.real) * scale};
}
struct FusedDivide : Binary {
    template <typename T> static Complex<T> of(Complex<T> x, Complex<T> y) {
        if (is_true_number(y)) return fused_quotient<true>(x, y);
        return {x.real / std::fabs(y.real), x.imag / std::fabs(y.imag)};
    }
};
struct FusedReciprocal : Unary {
    template <typename T> static Complex<T> of(Complex<T> x) {
        return FusedDivide::of(Complex<T>{1, 0}, x);
    }
};
struct NanDivide : Binary {
    template <typename T> static Complex<T> of(Complex<T> x, Complex<T> y) {
        constexpr T nan = std::numeric_limits<T>::quiet_NaN();
        return is_true_number(y) ? fused_quotient<false>(x, y) : Complex<T>{nan, nan};
    }
};
// Of an infinity 0, without signs.
struct NanReciprocal : Unary {
    template <typename T> static Complex<T> of(Complex<T> x) {
        const Complex<T> found = NanDivide::of(Complex<T>{1, 0}, x);
        if (!std::isinf(x.real) && !std::isinf(x.imag)) return found;
        return {std::fabs(found.real), std::fabs(found.imag)};
    }
};

// --- As XLA: of a sum of two products one is not rounded ------------------------------------------

struct FusedMultiply : Binary {
    template <typename C> static C of(C x, C y) {
        return {std::fma(x.real, y.real, -(x.imag * y.imag)),
                std::fma(x.imag, y.real, x.real * y.imag)};
    }
};
struct XlaSquare : Unary {
    template <typename C> static C of(C x) {
        const auto product = x.real * x.imag;
        if (std::isfinite(x.real) && std::fabs(x.real) == std::fabs(x.imag)) return {0, product + product};
        return {(x.real - x.imag) * (x.real + x.imag), product + product};
    }
};

// Smith's quotient, by the larger part of the divisor.
template <typename T>
Complex<T> smiths_quotient(Complex<T> x, Complex<T> y) {
    if (std::fabs(y.real) < std::fabs(y.imag)) {
        const T ratio = y.real / y.imag, size = std::fma(ratio, y.real, y.imag);
        return {std::fma(x.real, ratio, x.imag) / size, std::fma(x.imag, ratio, -x.real) / size};
    }
    const T ratio = y.imag / y.real, size = std::fma(ratio, y.imag, y.real);
    return {std::fma(x.imag, ratio, x.real) / size, std::fma(-x.real, ratio, x.imag) / size};
}

struct XlaQuotient : Binary {
    template <typename T> static Complex<T> of(Complex<T> x, Complex<T> y) {
        const Complex<T> found = smiths_quotient(x, y);
        if (found.real == found.real || found.imag == found.imag) return found;
        // Where both parts are NaN: something by zero, infinite by finite, finite by infinite.
        constexpr T infinity = std::numeric_limits<T>::infinity();
        const auto is_nan = [](T part) { return part != part; };
        const auto finite = [](Complex<T> z) { return std::isfinite(z.real) && std::isfinite(z.imag); };
        const auto infinite = [](Complex<T> z) { return std::isinf(z.real) || std::isinf(z.imag); };
        if (y.real == 0 && y.imag == 0 && !(is_nan(x.real) && is_nan(x.imag))) {
            const T end = std::copysign(infinity, y.real);
            return {end * x.real, end * x.imag};
        }
        const auto along = [](T scale, Complex<T> a, Complex<T> b) {
            return Complex<T>{scale * std::fma(a.real, b.real, a.imag * b.imag),
                              scale * std::fma(a.imag, b.real, -(a.real * b.imag))};
        };
        const auto unit = [](Complex<T> z) {
            return Complex<T>{unit_of_infinity(z.real), unit_of_infinity(z.imag)};
        };
        if (infinite(x) && finite(y)) return along(infinity, unit(x), y);
        if (finite(x) && infinite(y)) return along(0, x, unit(y));
        return found;
    }
};
struct XlaReciprocal : Unary {
    template <typename T> static Complex<T> of(Complex<T> x) {
        return XlaQuotient::of(Complex<T>{1, 0}, x);
    }
};

// What a power by polar coordinates is where these have no angle or no end: XLA's of x to y, made
// already. An exponent without an imaginary part raises zero and infinity as it raises real ones.
struct PolarEnds : StepOf<3> {
    template <typename T> static Complex<T> of(Complex<T> power, Complex<T> x, Complex<T> y) {
        constexpr T infinity = std::numeric_limits<T>::infinity();
        if (!is_true_number(y) || (x.real == 1 && x.imag == 0)) return {1, 0};
        if (y.imag != 0 || y.imag != y.imag) return power;
        const bool infinite = x.real == infinity && x.imag == 0;
        if (infinite && y.real > 0) return {infinity, 0};
        return (infinite ? y.real < 0 : !is_true_number(x) && y.real >= 0) ? Complex<T>{0, 0} : power;
    }
};

// To one integer: all of its powers to powers of two that the exponent is made of, but for x * x * x.
struct IntegerPower : Binary {
    template <typename T> static Complex<T> of(Complex<T> x, Complex<T> y) {
        if (y.real == 3) return FusedMultiply::of(FusedMultiply::of(x, x), x);
        Complex<T> power = {1, 0}, square = x;
        bool begun = false;
        for (T left = std::fabs(y.real); left >= 1 && left <= std::numeric_limits<T>::max();) {
            const T half = std::floor(left / 2);
            if (left != 2 * half) {
                power = begun ? FusedMultiply::of(power, square) : square;
                begun = true;
            }
            left = half;
            if (left >= 1) square = FusedMultiply::of(square, square);
        }
        return y.real < 0 ? XlaReciprocal::of(power) : power;
    }
};

// A number that was a bool selects the other, or zero.
template <bool of_first>
struct Selects : Binary {
    template <typename T> static Complex<T> of(Complex<T> x, Complex<T> y) {
        return is_true_number(of_first ? x : y) ? (of_first ? y : x) : Complex<T>{0, 0};
    }
};

template <typename Step>
Run on_parts(Type t) {
    t.kind = Kind::real;
    return is_float32(t) ? each<Step, Complex<f32>> : is_float64(t) ? each<Step, Complex<f64>> : nullptr;
}

template <typename Step>
Run by_itself(Type t) {
    t.kind = Kind::real;
    return is_float32(t) ? Step::template run<f32> : is_float64(t) ? Step::template run<f64> : nullptr;
}

constexpr Row rows[] = {
    {"logical_and", 2, false, true, false, on_parts<And>},
    {"logical_or", 2, false, true, false, on_parts<Or>},
    {"logical_xor", 2, false, true, false, on_parts<Xor>},
    {"logical_not", 1, false, true, false, on_parts<Not>},
    {"real_logical_and", 2, false, true, false, on_parts<OfReal<And>>},
    {"real_logical_or", 2, false, true, false, on_parts<OfReal<Or>>},
    {"real_logical_xor", 2, false, true, false, on_parts<OfReal<Xor>>},
    {"real_logical_not", 1, false, true, false, on_parts<OfReal<Not>>},
    {"lexical_greater", 2, false, true, false, on_parts<Greater>},
    {"lexical_greater_equal", 2, false, true, false, on_parts<GreaterEqual>},
    {"lexical_less", 2, false, true, false, on_parts<Less>},
    {"lexical_less_equal", 2, false, true, false, on_parts<LessEqual>},
    {"lexical_maximum", 2, false, false, false, on_parts<Maximum>},
    {"lexical_minimum", 2, false, false, false, on_parts<Minimum>},
    {"sign_of_order", 1, false, false, false, on_parts<SignOfOrder>},
    {"plain_multiply", 2, false, false, true, by_itself<PlainMultiply>},
    {"plain_square", 1, false, false, true, by_itself<PlainSquare>},
    {"plain_cube", 1, false, false, true, by_itself<PlainCube>},
    {"standard_multiply", 2, false, false, false, by_itself<StandardMultiply>},
    {"add_scaled", 2, false, false, false, on_parts<AddScaled<1>>},
    {"subtract_scaled", 2, false, false, false, on_parts<AddScaled<-1>>},
    {"scaled_negative", 1, false, false, false, on_parts<ScaledNegative>},
    {"fused_divide", 2, false, false, false, on_parts<FusedDivide>},
    {"fused_reciprocal", 1, false, false, false, on_parts<FusedReciprocal>},
    {"scaled_add", 2, false, false, false, on_parts<ScaledAdd<1>>},
    {"scaled_subtract", 2, false, false, false, on_parts<ScaledAdd<-1>>},
    {"nan_divide", 2, false, false, false, on_parts<NanDivide>},
    {"nan_reciprocal", 1, false, false, false, on_parts<NanReciprocal>},
    {"xla_multiply", 2, false, false, false, on_parts<FusedMultiply>},
    {"xla_square", 1, false, false, false, on_parts<XlaSquare>},
    {"xla_complex_divide", 2, false, false, false, on_parts<XlaQuotient>},
    {"xla_reciprocal", 1, false, false, false, on_parts<XlaReciprocal>},
    {"first_selects", 2, false, false, false, on_parts<Selects<true>>},
    {"second_selects", 2, false, false, false, on_parts<Selects<false>>},
    {"polar_ends", 3, false, false, false, on_parts<PolarEnds>},
    {"integer_pow", 2, false, false, false, on_parts<IntegerPower>},
};

}  // namespace

Operation find_complex(const char *name, Type type) { return find_row(rows, name, type); }

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
