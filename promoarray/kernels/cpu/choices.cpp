// Operations that choose one of their operands: the greater and the lesser, clip, where. NaN is
// neither greater nor less than anything.
#include "elementwise.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

template <int count>
using Choice = StepOf<count, true>;

// Of codes without a branch, which no compiler finds by itself.
template <typename Condition, typename T>
PROMOARRAY_CAST T choose(Condition first, T x, T y) {
    if constexpr (is_code<T>) return {(u16)(y.bits ^ ((x.bits ^ y.bits) & (u16)-(u16)(first != 0)))};
    else return first ? x : y;
}

// What makes a number one that a bound does not replace.
struct Within {  // at the bound it stays
    template <typename T> static auto above(T x, T bound) { return x >= bound; }
    template <typename T> static auto below(T x, T bound) { return x <= bound; }
};
struct UpTo {  // at the bound it is replaced, which of zeros takes the sign
    template <typename T> static auto above(T x, T bound) { return x > bound; }
    template <typename T> static auto below(T x, T bound) { return x < bound; }
};
struct Signed {  // -0.0 is below 0.0
    static bool is_negative(f32 x) { return as_bits(x) >> 31 != 0; }
    static bool is_negative(f64 x) { return as_bits(x) >> 63 != 0; }
    template <typename T> static auto is_negative(T x) {
        if constexpr (is_code<T>) return x.bits >> 15 != 0;
        else if constexpr (std::is_integral_v<T>) return false;  // one zero alone
        else return x < 0;
    }
#ifdef __F16C__
    static Words is_negative(Floats x) { return (Words)x < 0; }
#endif
    template <typename T> static auto above(T x, T bound) {
        return (x > bound) | ((x == bound) & is_negative(bound));
    }
    template <typename T> static auto below(T x, T bound) {
        return (x < bound) | ((x == bound) & !is_negative(bound));
    }
};

template <typename Bounds>
struct ClipLow : Choice<2> {
    template <typename T> static T of(T x, T low) {
        return choose(Bounds::above(x, low) | (x != x), x, low);
    }
};
template <typename Bounds>
struct ClipHigh : Choice<2> {
    template <typename T> static T of(T x, T high) {
        return choose(Bounds::below(x, high) | (x != x), x, high);
    }
};
// NaN if either is, the first of two. Of zeros of two signs what NumPy has of wider floats, which is
// what the machine's instruction gives: Arm's put -0.0 below 0.0, x86's give the second.
#ifdef __aarch64__
using Maximum = ClipLow<Signed>;
using Minimum = ClipHigh<Signed>;
#else
using Maximum = ClipLow<UpTo>;
using Minimum = ClipHigh<UpTo>;
#endif

template <typename Bounds>
struct Clip : Choice<3> {
    template <typename T> static T of(T x, T low, T high) {
        return ClipHigh<Bounds>::of(ClipLow<Bounds>::of(x, low), high);
    }
};
struct ClipLowLast : Choice<3> {
    template <typename T> static T of(T x, T low, T high) {
        return ClipLow<Within>::of(ClipHigh<Within>::of(x, high), low);
    }
};

// Codes, and float64, by one bound after the other: of both at once a compiler makes branches.
template <typename T> using Stored = std::conditional_t<is_code<T>, u16, T>;
constexpr std::size_t between_steps = 512;

template <typename Step, typename T>
void each_of_two(const void *const *operands, void *result, std::size_t n) {
    if constexpr (is_code<T>) each_code<Step, T>(operands, result, n);
    else each<Step, T>(operands, result, n);
}

template <typename First, typename Second, bool low_first, typename T>
void in_two_steps(const void *const *operands, void *result, std::size_t n) {
    using Word = Stored<T>;
    const Word *const x[] = {static_cast<const Word *>(operands[0]),
                             static_cast<const Word *>(operands[low_first ? 1 : 2]),
                             static_cast<const Word *>(operands[low_first ? 2 : 1])};
    Word between[between_steps];
    for (std::size_t at = 0; at < n; at += between_steps) {
        const std::size_t count = n - at < between_steps ? n - at : between_steps;
        const void *const given[] = {x[0] + at, x[1] + at};
        const void *const then[] = {between, x[2] + at};
        each_of_two<First, T>(given, between, count);
        each_of_two<Second, T>(then, static_cast<Word *>(result) + at, count);
    }
}

template <typename Whole, typename First, typename Second, bool low_first>
Run in_steps(Type t) {
    if (is_float16(t)) return in_two_steps<First, Second, low_first, HalfCode>;
    if (is_bfloat16(t)) return in_two_steps<First, Second, low_first, BfloatCode>;
    if (is_float64(t)) return in_two_steps<First, Second, low_first, f64>;
    return is_integer(t) ? on_integers<Whole>(t) : on_floats<Whole>(t);
}

template <typename Bounds>
Run clip_of(Type t) {
    return in_steps<Clip<Bounds>, ClipLow<Bounds>, ClipHigh<Bounds>, true>(t);
}
Run low_last_of(Type t) {
    return in_steps<ClipLowLast, ClipHigh<Within>, ClipLow<Within>, false>(t);
}

// --- Bounds that are one number each ---------------------------------------------------------------

template <typename Step, typename T>
void by_bounds(const void *const *operands, void *result, std::size_t n) {
    const auto *x = static_cast<const T *>(operands[0]);
    const T low = *static_cast<const T *>(operands[1]), high = *static_cast<const T *>(operands[2]);
    auto *out = static_cast<T *>(result);
    PROMOARRAY_APART
    for (std::size_t i = 0; i < n; ++i) out[i] = Step::of(x[i], low, high);
}

template <typename Step, typename T>
void by_bound(const Stored<T> *x, T bound, Stored<T> *out, std::size_t n) {
    PROMOARRAY_APART
    for (std::size_t i = 0; i < n; ++i) {
        if constexpr (is_code<T>) out[i] = Step::of(T{x[i]}, bound).quieted();
        else out[i] = Step::of(x[i], bound);
    }
}

template <typename First, typename Second, bool low_first, typename T>
void by_bounds_in_two_steps(const void *const *operands, void *result, std::size_t n) {
    using Word = Stored<T>;
    const T first = {*static_cast<const Word *>(operands[low_first ? 1 : 2])};
    const T second = {*static_cast<const Word *>(operands[low_first ? 2 : 1])};
    const auto *x = static_cast<const Word *>(operands[0]);
    auto *out = static_cast<Word *>(result);
    Word between[between_steps];
    for (std::size_t at = 0; at < n; at += between_steps) {
        const std::size_t count = n - at < between_steps ? n - at : between_steps;
        by_bound<First, T>(x + at, first, between, count);
        by_bound<Second, T>(between, second, out + at, count);
    }
}

#ifdef __F16C__
template <typename Step>
void singles_by_bounds(const void *const *operands, void *result, std::size_t n) {
    const auto *x = static_cast<const f32 *>(operands[0]);
    const Floats low = all_of(*static_cast<const f32 *>(operands[1]));
    const Floats high = all_of(*static_cast<const f32 *>(operands[2]));
    auto *out = static_cast<f32 *>(result);
    constexpr std::size_t width = sizeof(Floats) / sizeof(f32);
    std::size_t i = 0;
    for (; i + width <= n; i += width) put(Step::of(loaded(x + i), low, high), out + i);
    const void *const rest[] = {x + i, operands[1], operands[2]};
    by_bounds<Step, f32>(rest, out + i, n - i);
}
#else
template <typename Step>
constexpr Run singles_by_bounds = by_bounds<Step, f32>;
#endif

template <typename Whole, typename First, typename Second, bool low_first>
Run by_bounds_of(Type t) {
    constexpr Run rows[2][4] = {
        {by_bounds<Whole, u8>, by_bounds<Whole, u16>, by_bounds<Whole, u32>, by_bounds<Whole, u64>},
        {by_bounds<Whole, i8>, by_bounds<Whole, i16>, by_bounds<Whole, i32>, by_bounds<Whole, i64>}};
    if (is_integer(t)) return t.bits < 8 ? nullptr : rows[is_signed(t)][row_of(t)];
    if (is_float16(t)) return by_bounds_in_two_steps<First, Second, low_first, HalfCode>;
    if (is_bfloat16(t)) return by_bounds_in_two_steps<First, Second, low_first, BfloatCode>;
    if (is_float64(t)) return by_bounds_in_two_steps<First, Second, low_first, f64>;
    return is_float32(t) ? singles_by_bounds<Whole> : nullptr;
}

// By one bound.
template <typename Step, typename T>
void by_one_bound(const void *const *operands, void *result, std::size_t n) {
    using Word = Stored<T>;
    const T bound = {*static_cast<const Word *>(operands[1])};
    by_bound<Step, T>(static_cast<const Word *>(operands[0]), bound, static_cast<Word *>(result), n);
}

template <typename Step>
Run by_one_bound_of(Type t) {
    if (is_float32(t)) return by_one_bound<Step, f32>;
    if (is_float64(t)) return by_one_bound<Step, f64>;
    if (is_float16(t)) return by_one_bound<Step, HalfCode>;
    return is_bfloat16(t) ? by_one_bound<Step, BfloatCode> : nullptr;
}

template <typename Bounds>
Run clip_by_bounds_of(Type t) {
    return by_bounds_of<Clip<Bounds>, ClipLow<Bounds>, ClipHigh<Bounds>, true>(t);
}
Run low_last_by_bounds_of(Type t) {
    return by_bounds_of<ClipLowLast, ClipHigh<Within>, ClipLow<Within>, false>(t);
}

// By the length of elements alone.
template <typename Word>
void where_words(const void *const *operands, void *result, std::size_t n) {
    const auto *mask = static_cast<const u8 *>(operands[0]);
    const auto *x = static_cast<const Word *>(operands[1]);
    const auto *y = static_cast<const Word *>(operands[2]);
    auto *out = static_cast<Word *>(result);
    PROMOARRAY_APART
    for (std::size_t i = 0; i < n; ++i) {
        const Word a = x[i], b = y[i];
        out[i] = mask[i] != 0 ? a : b;
    }
}
Run where_of(Type t) {
    constexpr Run words[4] = {where_words<u8>, where_words<u16>, where_words<u32>,
                              where_words<u64>};
    return words[row_of(t)];
}

constexpr Row rows[] = {
    {"maximum", 2, false, false, false, on_numbers<Maximum>},
    {"minimum", 2, false, false, false, on_numbers<Minimum>},
    {"maximum_by_bounds", 2, false, false, false, by_one_bound_of<Maximum>},
    {"minimum_by_bounds", 2, false, false, false, by_one_bound_of<Minimum>},
    {"signed_maximum", 2, false, false, false, on_floats<ClipLow<Signed>>},
    {"signed_minimum", 2, false, false, false, on_floats<ClipHigh<Signed>>},
    {"clip_beyond", 3, false, false, false, clip_of<Within>},
    {"clip_beyond_low", 2, false, false, false, on_numbers<ClipLow<Within>>},
    {"clip_beyond_high", 2, false, false, false, on_numbers<ClipHigh<Within>>},
    {"clip_up_to", 3, false, false, false, clip_of<UpTo>},
    {"clip_up_to_low", 2, false, false, false, on_numbers<ClipLow<UpTo>>},
    {"clip_up_to_high", 2, false, false, false, on_numbers<ClipHigh<UpTo>>},
    {"clip_signed_zeros", 3, false, false, false, clip_of<Signed>},
    {"clip_signed_zeros_low", 2, false, false, false, on_floats<ClipLow<Signed>>},
    {"clip_signed_zeros_high", 2, false, false, false, on_floats<ClipHigh<Signed>>},
    {"low_bound_last", 3, false, false, false, low_last_of},
    {"clip_beyond_by_bounds", 3, false, false, false, clip_by_bounds_of<Within>},
    {"clip_up_to_by_bounds", 3, false, false, false, clip_by_bounds_of<UpTo>},
    {"clip_signed_zeros_by_bounds", 3, false, false, false, clip_by_bounds_of<Signed>},
    {"low_bound_last_by_bounds", 3, false, false, false, low_last_by_bounds_of},
    {"low_bound_last_low", 2, false, false, false, on_numbers<ClipLow<Within>>},
    {"low_bound_last_high", 2, false, false, false, on_numbers<ClipHigh<Within>>},
    {"where", 3, true, false, false, where_of},
};

}  // namespace

Operation find_choice(const char *name, Type type) { return find_row(rows, name, type); }

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
