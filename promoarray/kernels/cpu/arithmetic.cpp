// Arithmetic on numbers of one type: what the machine does with one instruction, and what it gives.
#include <limits>
#include <type_traits>

#include "elementwise.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

// What changes a sign at most.
using UnaryOnCodes = StepOf<1, true>;
using BinaryOnCodes = StepOf<2, true>;

struct Add : Binary { template <typename T> static T of(T x, T y) { return (T)(x + y); } };
struct Subtract : Binary { template <typename T> static T of(T x, T y) { return (T)(x - y); } };
struct Multiply : Binary {
    template <typename T> static T of(T x, T y) { return x * y; }
    static u16 of(u16 x, u16 y) { return (u16)((u32)x * y); }  // else a signed product, too long
};
struct Divide : Binary { template <typename T> static T of(T x, T y) { return (T)(x / y); } };

struct Positive : UnaryOnCodes { template <typename T> static T of(T x) { return x; } };
struct Negative : UnaryOnCodes {
    template <typename T> static T of(T x) {
        if constexpr (is_code<T>) return {(u16)(x.bits ^ 0x8000)};
        else return -x;
    }
};
struct Square : Unary { template <typename T> static T of(T x) { return x * x; } };
struct Reciprocal : Unary { template <typename T> static T of(T x) { return 1 / x; } };

// The rest has a name of its own for registers.
struct Abs : UnaryOnCodes {
    template <typename T> static T of(T x) { return {x.magnitude()}; }
    static f32 of(f32 x) { return std::fabs(x); }
    static f64 of(f64 x) { return std::fabs(x); }
#ifdef __F16C__
    static Floats of(Floats x) { return magnitude_of(x); }
#endif
};
struct Sqrt : Unary {
    static f32 of(f32 x) { return std::sqrt(x); }
    static f64 of(f64 x) { return std::sqrt(x); }
#ifdef __F16C__
    static Floats of(Floats x) { return square_root(x); }
#endif
};
struct Floor : Unary {
    static f32 of(f32 x) { return std::floor(x); }
    static f64 of(f64 x) { return std::floor(x); }
#ifdef __F16C__
    static Floats of(Floats x) { return to_whole<_MM_FROUND_TO_NEG_INF>(x); }
#endif
};
struct Ceil : Unary {
    static f32 of(f32 x) { return std::ceil(x); }
    static f64 of(f64 x) { return std::ceil(x); }
#ifdef __F16C__
    static Floats of(Floats x) { return to_whole<_MM_FROUND_TO_POS_INF>(x); }
#endif
};
struct Trunc : Unary {
    static f32 of(f32 x) { return std::trunc(x); }
    static f64 of(f64 x) { return std::trunc(x); }
#ifdef __F16C__
    static Floats of(Floats x) { return to_whole<_MM_FROUND_TO_ZERO>(x); }
#endif
};
struct Round : Unary {
    static f32 of(f32 x) { return std::nearbyint(x); }
    static f64 of(f64 x) { return std::nearbyint(x); }
#ifdef __F16C__
    static Floats of(Floats x) { return to_whole<_MM_FROUND_TO_NEAREST_INT>(x); }
#endif
};
struct Copysign : BinaryOnCodes {
    template <typename T> static T of(T x, T y) {
        return {(u16)(x.magnitude() | (y.bits & 0x8000))};
    }
    static f32 of(f32 x, f32 y) { return std::copysign(x, y); }
    static f64 of(f64 x, f64 y) { return std::copysign(x, y); }
#ifdef __F16C__
    static Floats of(Floats x, Floats y) { return with_sign_of(x, y); }
#endif
};

struct Sign : UnaryOnCodes {
    static f32 of(f32 x) { return x != x ? x : (f32)((x > 0) - (x < 0)); }
    static f64 of(f64 x) { return x != x ? x : (f64)((x > 0) - (x < 0)); }
#ifdef __F16C__
    static Floats of(Floats x) {
        const Floats one = with_sign_of(all_of(1), x);
        return x != x ? x : where_so(x != 0, one);
    }
#endif
    template <typename T> static T of(T x) {
        const u16 one = (u16)(T::one | (x.bits & 0x8000));
        return {x.is_nan() ? x.bits : x.magnitude() == 0 ? (u16)0 : one};
    }
};

// The same, but that NaN has none: it is 0.
struct SignWithoutNan : UnaryOnCodes {
    template <typename T> static T of(T x) {
        if constexpr (is_code<T>) return {x.is_nan() ? (u16)0 : Sign::of(x).bits};
        else return (T)((x > 0) - (x < 0));
    }
#ifdef __F16C__
    static Floats of(Floats x) {
        return where_so((x < 0) | (x > 0), with_sign_of(all_of(1), x));
    }
#endif
};

// The same, but that a zero keeps its sign.
struct SignKeepingZero : UnaryOnCodes {
    template <typename T> static T of(T x) {
        if constexpr (is_code<T>) return {x.magnitude() == 0 ? x.bits : Sign::of(x).bits};
        else return (x < 0) | (x > 0) ? Sign::of(x) : x;
    }
};

// As C has them, and NumPy from there. Squares of float32 are exact as float64, and C takes the root
// of their sum there, too.
struct Hypot : Binary {
    static f64 of(f64 x, f64 y) { return std::hypot(x, y); }
    static f32 of(f32 x, f32 y) {
        const f64 wide = x, other = y;
        return whole((f32)std::sqrt(wide * wide + other * other), x, y);
    }
#ifdef __F16C__
    static Floats of(Floats x, Floats y) {
#ifdef __AVX512BW__
        bool is_sure;
        const Floats root = estimated_root_of_squares(x, y, is_sure);
        if (is_sure) return root;
#endif
        return whole(root_of_squares(x, y), x, y);
    }
#endif

   private:
    static constexpr i32 infinity = 0x7f800000, quiet = 0x7fc00000, magnitude = INT32_MAX;
    static i32 bits(f32 x) { return (i32)as_bits(x); }
    static f32 number(i32 x) { return as_float((u32)x); }
#ifdef __F16C__
    static Words bits(Floats x) { return (Words)x; }
    static Floats number(Words x) { return (Floats)x; }
#endif
    // The root, but of an infinity and a NaN that is quiet it is infinite.
    template <typename T> static T whole(T root, T x, T y) {
        const auto first = bits(x) & magnitude, second = bits(y) & magnitude;
        const auto infinite = (first & 0) | infinity;
        const auto nan = bits(first > infinity ? x : y) | (quiet - infinity);
        const auto found = (first > infinity) | (second > infinity) ? nan : bits(root);
        const auto is_told = is_signalling(first) | is_signalling(second);
        const auto unless_told = (first == infinity) | (second == infinity) ? infinite : found;
        return number(is_told ? found : unless_told);
    }
    template <typename Word> static auto is_signalling(Word size) {
        return (size > infinity) & (size < quiet);
    }
};
struct HypotOfSquares : Binary {
    template <typename T> static T of(T x, T y) { return std::sqrt(x * x + y * y); }
};

// Codes are one more or one less away from zero. They are compared as integers, which raises nothing;
// so `look` tells what C raises.
struct NextAfter : Binary {
    static f32 of(f32 x, f32 y) { return step<i32>(x, y); }
    static f64 of(f64 x, f64 y) { return step<i64>(x, y); }
    template <typename Word, typename T> static T step(T x, T y) {
        const auto from = (Word)as_bits(x), to = (Word)as_bits(y);
        const auto sign = std::numeric_limits<Word>::min();
        const Word beside_zero = (to & sign) | 1;
        const Word beside = from + ((in_order(from) < in_order(to)) == (from >= 0) ? 1 : -1);
        const bool is_nan = (x != x) | (y != y);
        const T nan = (is_nan ? x : (T)0) + (is_nan ? y : (T)0);
        const T next = as_float(std::make_unsigned_t<Word>(x == 0 ? beside_zero : beside));
        return is_nan ? nan : x == y ? y : next;
    }
    template <typename Word> static Word in_order(Word code) {
        return code < 0 ? std::numeric_limits<Word>::min() - code : code;
    }
    template <typename T>
    static int look(const void *const *operands, std::size_t n) {
        constexpr T least = std::numeric_limits<T>::min(), largest = std::numeric_limits<T>::max();
        const T *const x = static_cast<const T *>(operands[0]), *const y = static_cast<const T *>(operands[1]);
        std::size_t over = 0, under = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const T next = std::fabs(of(x[i], y[i]));
            over += (next > largest) & (std::fabs(x[i]) <= largest);
            under += (next < least) & (x[i] != y[i]);
        }
        return (over != 0 ? OVERFLOWN : 0) | (under != 0 ? UNDERFLOWN : 0);
    }
};
Look look_of_next(Type t) {
    return is_float32(t)   ? NextAfter::look<f32>
           : is_float64(t) ? NextAfter::look<f64>
                           : nullptr;
}

template <typename Step>
Run on_all(Type t) {
    return is_integer(t) ? on_words<Step>(t) : on_floats<Step>(t);
}

constexpr Row rows[] = {
    {"add", 2, false, false, true, on_all<Add>},
    {"subtract", 2, false, false, true, on_all<Subtract>},
    {"multiply", 2, false, false, true, on_all<Multiply>},
    {"divide", 2, false, false, true, on_floats<Divide>},
    {"square", 1, false, false, true, on_floats<Square>},
    {"reciprocal", 1, false, false, true, on_floats<Reciprocal>},
    {"sqrt", 1, false, false, true, on_floats<Sqrt>},
    {"positive", 1, false, false, false, on_floats<Positive>},
    {"negative", 1, false, false, false, on_floats<Negative>},
    {"abs", 1, false, false, false, on_floats<Abs>},
    {"copysign", 2, false, false, false, on_floats<Copysign>},
    {"sign", 1, false, false, false, on_floats<Sign>},
    {"sign_without_nan", 1, false, false, false, on_floats<SignWithoutNan>},
    {"sign_keeping_zero", 1, false, false, false, on_floats<SignKeepingZero>},
    {"hypot", 2, false, false, true, on_floats<Hypot>},
    {"hypot_of_squares", 2, false, false, true, on_wide<HypotOfSquares>},
    {"nextafter", 2, false, false, false, on_wide<NextAfter>, look_of_next},
    {"floor", 1, false, false, false, on_floats<Floor>},
    {"ceil", 1, false, false, false, on_floats<Ceil>},
    {"trunc", 1, false, false, false, on_floats<Trunc>},
    {"round", 1, false, false, false, on_floats<Round>},
};

// --- Operands of two formats ---------------------------------------------------------------------

#ifdef __AVX512BW__
// Float32 and 16 bits to those 16 bits, and both formats of 16 bits to float32.
template <typename Step>
Run mixed_run(Type x, Type y, Type result) {
    if (is_float32(result)) {
        if (is_bfloat16(x) && is_float16(y))
            return by_pairs<Step, Single, OrderedBfloat, QuietHalf>;
        if (is_float16(x) && is_bfloat16(y))
            return by_pairs<Step, Single, QuietHalf, OrderedBfloat>;
        return nullptr;
    }
    const bool first = is_float32(x), second = is_float32(y);
    if (first == second || !same_type(first ? y : x, result)) return nullptr;
    if (is_bfloat16(result))
        return first ? by_pairs<Step, OrderedBfloat, PlainSingle, OrderedBfloat>
                     : by_pairs<Step, OrderedBfloat, OrderedBfloat, PlainSingle>;
    if (is_float16(result))
        return first ? by_pairs<Step, QuietHalf, PlainSingle, QuietHalf>
                     : by_pairs<Step, QuietHalf, QuietHalf, PlainSingle>;
    return nullptr;
}
#endif

}  // namespace

Operation find_mixed(const char *name, Type x, Type y, Type result) {
    Operation found = find_arithmetic(name, float32_type());
    found.run = nullptr;
#ifdef __AVX512BW__
    const auto is = [name](const char *other) { return std::strcmp(name, other) == 0; };
    if (is("add")) found.run = mixed_run<Add>(x, y, result);
    if (is("subtract")) found.run = mixed_run<Subtract>(x, y, result);
    if (is("multiply")) found.run = mixed_run<Multiply>(x, y, result);
    if (is("divide")) found.run = mixed_run<Divide>(x, y, result);
#else
    (void)x, (void)y, (void)result;
#endif
    return found;
}

Operation find_arithmetic(const char *name, Type type) { return find_row(rows, name, type); }

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
