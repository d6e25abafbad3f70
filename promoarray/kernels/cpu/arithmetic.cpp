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

// Of two NaN the first comes out; of a sum or a product a compiler takes either, as it has registers.
#if defined(__F16C__) && defined(__GNUC__)
#define PROMOARRAY_IN_ORDER(instruction)                                        \
    static Floats of(Floats x, Floats y) {                                      \
        __asm__(instruction " %2, %1, %0" : "=v"(x) : "v"(x), "vm"(y));         \
        return x;                                                               \
    }
#else
#define PROMOARRAY_IN_ORDER(instruction)
#endif

struct Add : Binary {
    template <typename T> static T of(T x, T y) { return (T)(x + y); }
    PROMOARRAY_IN_ORDER("vaddps")
};
struct Subtract : Binary { template <typename T> static T of(T x, T y) { return (T)(x - y); } };
struct Multiply : Binary {
    template <typename T> static T of(T x, T y) { return x * y; }
    static u16 of(u16 x, u16 y) { return (u16)((u32)x * y); }  // else a signed product, too long
    PROMOARRAY_IN_ORDER("vmulps")
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
    static constexpr bool takes_long = true;
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

// --- Where the second operand is one number ---------------------------------------------------------

#ifdef __F16C__
// Floats of 16 bits, and what is made float32 once for all of them. The rest goes by the loop of as
// many of either.
template <typename Step, typename Given, typename One, Run whole>
void with_one(const void *const *operands, void *result, std::size_t n) {
    constexpr std::size_t ahead = 512;
    typename One::T repeated[pair_size];
    for (auto &each : repeated) each = *static_cast<const typename One::T *>(operands[1]);
    const Pair one = One::load(repeated);
    const auto *x = static_cast<const u16 *>(operands[0]);
    auto *out = static_cast<u16 *>(result);
    std::size_t i = 0;
    for (; i + pair_size <= n; i += pair_size) {
        ask_for(x + i + ahead, pair_size);
        const Pair given = Given::load(x + i);
        Given::store({Step::of(given.first, one.first), Step::of(given.second, one.second)}, out + i);
    }
    const void *const rest[] = {x + i, repeated};
    whole(rest, out + i, n - i);
}
template <typename Step, typename Format>
constexpr Run with_one_of = with_one<Step, Short<Format>, Short<Format>, each_short<Step, Format>>;

template <typename Step>
Run with_one_on(Type t) {
    if (is_float16(t)) return with_one_of<Step, Half>;
    return is_bfloat16(t) ? with_one_of<Step, Bfloat> : nullptr;
}
#else
template <typename Step> Run with_one_on(Type) { return nullptr; }
#endif

constexpr Row rows[] = {
    {"add_by_bounds", 2, false, false, true, with_one_on<Add>},
    {"subtract_by_bounds", 2, false, false, true, with_one_on<Subtract>},
    {"multiply_by_bounds", 2, false, false, true, with_one_on<Multiply>},
    {"divide_by_bounds", 2, false, false, true, with_one_on<Divide>},
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

// --- Operands of two types -----------------------------------------------------------------------

// What is widened on the way, as a compiler vectorizes it. A cast of its own before it would stop the
// machine from reading ahead what is wide.
template <typename Step, typename Out, typename X, typename Y>
void each_widened(const void *const *operands, void *result, std::size_t n) {
    const auto *x = static_cast<const X *>(operands[0]);
    const auto *y = static_cast<const Y *>(operands[1]);
    auto *out = static_cast<Out *>(result);
    PROMOARRAY_APART
    for (std::size_t i = 0; i < n; ++i) out[i] = Step::of((Out)x[i], (Out)y[i]);
}

// An integer of 8 or 16 bits beside a wider number.
template <typename Step, typename Out>
Run widened_run(Type x, Type y, Type result) {
    constexpr Run rows[2][2][2] = {
        {{each_widened<Step, Out, Out, u8>, each_widened<Step, Out, Out, u16>},
         {each_widened<Step, Out, Out, i8>, each_widened<Step, Out, Out, i16>}},
        {{each_widened<Step, Out, u8, Out>, each_widened<Step, Out, u16, Out>},
         {each_widened<Step, Out, i8, Out>, each_widened<Step, Out, i16, Out>}}};
    const bool first = same_type(y, result);
    const Type narrow = first ? x : y;
    if (!same_type(first ? y : x, result) || !is_integer(narrow)) return nullptr;
    if (narrow.bits != 8 && narrow.bits != 16) return nullptr;
    return rows[first][is_signed(narrow)][narrow.bits == 16];
}

#ifdef __F16C__
// Both formats of 16 bits to float32, and either beside float32 to that.
template <typename Step>
Run single_run(Type x, Type y) {
    if (is_bfloat16(x) && is_float16(y)) return by_pairs<Step, Single, OrderedBfloat, QuietHalf>;
    if (is_float16(x) && is_bfloat16(y)) return by_pairs<Step, Single, QuietHalf, OrderedBfloat>;
    if (is_float32(x) && is_bfloat16(y)) return by_pairs<Step, Single, Single, OrderedBfloat>;
    if (is_bfloat16(x) && is_float32(y)) return by_pairs<Step, Single, OrderedBfloat, Single>;
    if (is_float32(x) && is_float16(y)) return by_pairs<Step, Single, Single, QuietHalf>;
    if (is_float16(x) && is_float32(y)) return by_pairs<Step, Single, QuietHalf, Single>;
    return nullptr;
}
#else
template <typename Step> Run single_run(Type, Type) { return nullptr; }
#endif

#ifdef __AVX512BW__
// Float32 and 16 bits to those 16 bits.
template <typename Step>
Run short_run(Type x, Type y, Type result) {
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
// 16 bits and one float32 to those 16 bits.
template <typename Step>
Run short_run_with_one(Type x, Type y, Type result) {
    if (!is_float32(y) || !same_type(x, result)) return nullptr;
    constexpr Run of_half = by_pairs<Step, QuietHalf, QuietHalf, PlainSingle>;
    constexpr Run of_bfloat = by_pairs<Step, OrderedBfloat, OrderedBfloat, PlainSingle>;
    if (is_float16(x)) return with_one<Step, QuietHalf, PlainSingle, of_half>;
    return is_bfloat16(x) ? with_one<Step, Short<Bfloat>, PlainSingle, of_bfloat> : nullptr;
}
#else
template <typename Step> Run short_run(Type, Type, Type) { return nullptr; }
template <typename Step> Run short_run_with_one(Type, Type, Type) { return nullptr; }
#endif

template <typename Step>
Run mixed_run(Type x, Type y, Type result) {
    if (!is_float32(result)) return short_run<Step>(x, y, result);
    const Run found = single_run<Step>(x, y);
    return found != nullptr ? found : widened_run<Step, f32>(x, y, result);
}
template <typename Step>
Run mixed_run_on_all(Type x, Type y, Type result) {
    const bool is_word = is_integer(result) && result.bits == 32;
    return is_word ? widened_run<Step, u32>(x, y, result) : mixed_run<Step>(x, y, result);
}

}  // namespace

Operation find_mixed(const char *name, Type x, Type y, Type result) {
    Operation found = find_arithmetic(name, float32_type());
    found.run = nullptr;
    const auto is = [name](const char *other) { return std::strcmp(name, other) == 0; };
    if (is("add")) found.run = mixed_run_on_all<Add>(x, y, result);
    if (is("subtract")) found.run = mixed_run_on_all<Subtract>(x, y, result);
    if (is("multiply")) found.run = mixed_run_on_all<Multiply>(x, y, result);
    if (is("divide")) found.run = mixed_run<Divide>(x, y, result);
    if (is("add_by_bounds")) found.run = short_run_with_one<Add>(x, y, result);
    if (is("subtract_by_bounds")) found.run = short_run_with_one<Subtract>(x, y, result);
    if (is("multiply_by_bounds")) found.run = short_run_with_one<Multiply>(x, y, result);
    if (is("divide_by_bounds")) found.run = short_run_with_one<Divide>(x, y, result);
    return found;
}

Operation find_arithmetic(const char *name, Type type) { return find_row(rows, name, type); }

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
