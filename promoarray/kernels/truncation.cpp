// Loops from floats of 16 to 64 bits to integers: by the machine's conversion of what it can hold,
// and by the rule outside.
#include "loop.h"

namespace promoarray {
namespace {

template <typename Word, typename Float, typename Bound>
PROMOARRAY_CAST Word truncate(Float x, Bound low, Bound high, u64 above, u64 below, u64 nan) {
    const bool inside = (x > low) & (x < high);
    const Word whole = (Word)(inside ? x : 0);
    const Word outside = x > 0 ? (Word)above : x < 0 ? (Word)below : (Word)nan;
    return inside ? whole : outside;
}

// The same where all outside becomes one number, as on x86.
template <typename Word, typename Float, typename Bound>
PROMOARRAY_CAST Word truncate_or(Float x, Bound low, Bound high, u64 other) {
    const bool inside = (x > low) & (x < high);
    const Word whole = (Word)(inside ? x : 0);
    return inside ? whole : (Word)other;
}

// Unsigned integers as wide as the machine's: the upper half less its start, which is added again.
template <typename Word, typename Unsigned, typename Float, typename Bound>
PROMOARRAY_CAST Unsigned truncate_halves(Float x, Bound low, Bound high, const Range &r) {
    constexpr Unsigned half = (Unsigned)1 << (8 * sizeof(Unsigned) - 1);
    const bool inside = (x > low) & (x < high);
    const bool upper = x >= (Float)half;
    const Word whole = (Word)(inside ? (upper ? x - (Float)half : x) : 0);
    const Unsigned below = x < 0 ? (Unsigned)r.below : (Unsigned)r.nan;
    const Unsigned outside = x > 0 ? (Unsigned)r.above : below;
    return inside ? (Unsigned)whole ^ (upper ? half : 0) : outside;
}

#define PROMOARRAY_MASKED(Target)                                    \
    const Range r = work.range;                                      \
    const int unused = 8 * (int)sizeof(Target) - work.target.bits;   \
    const Target mask = (Target)((Target)~(Target)0 >> unused);

#define PROMOARRAY_TRUNCATE_32(name, Source, Word, Target, constants, ...)                      \
    PROMOARRAY_LOOP(name##_##Word##_to_##Target, Source, Target,                                \
                    PROMOARRAY_MASKED(Target) constants,                                        \
                    (Target)truncate<Word>(__VA_ARGS__, r.single_low, r.single_high, r.above,   \
                                           r.below, r.nan) & mask)
#define PROMOARRAY_TRUNCATE_OR_32(name, Source, Target, constants, ...)                         \
    PROMOARRAY_LOOP(name##_or_##Target, Source, Target, PROMOARRAY_MASKED(Target) constants,    \
                    (Target)truncate_or<i32>(__VA_ARGS__, r.single_low, r.single_high, r.nan) & \
                        mask)
#define PROMOARRAY_TO_INTEGERS(name, Source, constants, ...)                                    \
    PROMOARRAY_TRUNCATE_OR_32(name, Source, u8, constants, __VA_ARGS__)                         \
    PROMOARRAY_TRUNCATE_OR_32(name, Source, u16, constants, __VA_ARGS__)                        \
    PROMOARRAY_TRUNCATE_OR_32(name, Source, u32, constants, __VA_ARGS__)                        \
    PROMOARRAY_TRUNCATE_32(name, Source, i32, u8, constants, __VA_ARGS__)                       \
    PROMOARRAY_TRUNCATE_32(name, Source, i32, u16, constants, __VA_ARGS__)                      \
    PROMOARRAY_TRUNCATE_32(name, Source, i32, u32, constants, __VA_ARGS__)                      \
    PROMOARRAY_TRUNCATE_32(name, Source, i64, u8, constants, __VA_ARGS__)                       \
    PROMOARRAY_TRUNCATE_32(name, Source, i64, u16, constants, __VA_ARGS__)                      \
    PROMOARRAY_TRUNCATE_32(name, Source, i64, u32, constants, __VA_ARGS__)                      \
    PROMOARRAY_TRUNCATE_32(name, Source, i64, u64, constants, __VA_ARGS__)                      \
    PROMOARRAY_LOOP(name##_to_u32, Source, u32, const Range r = work.range; constants,          \
                    truncate_halves<i32, u32>(__VA_ARGS__, r.single_low, r.single_high, r))     \
    PROMOARRAY_LOOP(name##_to_u64, Source, u64, const Range r = work.range; constants,          \
                    truncate_halves<i64, u64>(__VA_ARGS__, r.single_low, r.single_high, r))     \
    constexpr IntegerLoops name##_integers = {                                                  \
        {name##_or_u8, name##_or_u16, name##_or_u32, name##_i64_to_u64},                        \
        {name##_i32_to_u8, name##_i32_to_u16, name##_i32_to_u32, name##_i64_to_u64},            \
        {name##_i64_to_u8, name##_i64_to_u16, name##_i64_to_u32, name##_i64_to_u64},            \
        name##_to_u32, name##_to_u64};

// By the signed integer that holds all inside, of 32 or 64 bits; `or` one other number; by halves.
struct IntegerLoops {
    Loop short_words_or[4], short_words[4], long_words[4], halves, long_halves;
};

PROMOARRAY_TO_INTEGERS(single, f32, , x)
PROMOARRAY_TO_INTEGERS(bfloat, u16, , as_float((u32)x << 16))
PROMOARRAY_TO_INTEGERS(half, u16, , as_float(decode_half(x)))

#define PROMOARRAY_TRUNCATE_64(Word, Target)                                                    \
    PROMOARRAY_LOOP(double_##Word##_to_##Target, f64, Target, PROMOARRAY_MASKED(Target),        \
                    (Target)truncate<Word>(x, r.low, r.high, r.above, r.below, r.nan) & mask)
PROMOARRAY_TRUNCATE_64(i32, u8) PROMOARRAY_TRUNCATE_64(i32, u16) PROMOARRAY_TRUNCATE_64(i32, u32)
PROMOARRAY_TRUNCATE_64(i64, u8) PROMOARRAY_TRUNCATE_64(i64, u16) PROMOARRAY_TRUNCATE_64(i64, u32)
PROMOARRAY_TRUNCATE_64(i64, u64)
PROMOARRAY_LOOP(double_to_u64, f64, u64, const Range r = work.range,
                truncate_halves<i64, u64>(x, r.low, r.high, r))
#define PROMOARRAY_TRUNCATE_OR_64(Target)                                                       \
    PROMOARRAY_LOOP(double_or_##Target, f64, Target, PROMOARRAY_MASKED(Target),                 \
                    (Target)truncate_or<i32>(x, r.low, r.high, r.nan) & mask)
PROMOARRAY_TRUNCATE_OR_64(u8) PROMOARRAY_TRUNCATE_OR_64(u16) PROMOARRAY_TRUNCATE_OR_64(u32)
constexpr IntegerLoops double_integers = {
    {double_or_u8, double_or_u16, double_or_u32, double_i64_to_u64},
    {double_i32_to_u8, double_i32_to_u16, double_i32_to_u32, double_i64_to_u64},
    {double_i64_to_u8, double_i64_to_u16, double_i64_to_u32, double_i64_to_u64},
    double_i64_to_u32, double_to_u64};

// What `limits` says, for loops that compare floats.
Range range_of(const Limits &limits) {
    Range r = {};
    r.above = limits.above;
    r.below = limits.below;
    r.nan = limits.nan;
    // The largest magnitude inside is one less than a power of two above zero, and a power of two
    // or 0 below. Where -2^k - 1 is no float, what follows -2^k will do.
    r.high = (double)(limits.positive / 2 + 1) * 2;
    r.low = -(double)(limits.negative + 1);
    if (r.low == -(double)limits.negative) r.low = as_float(as_bits(r.low) + 1);
    r.single_high = (float)r.high;
    r.single_low = -(float)(limits.negative + 1);
    if (r.single_low == -(float)limits.negative) {
        r.single_low = as_float(as_bits(r.single_low) + 1);
    }
    return r;
}

}  // namespace

Loop truncating_loop(Type source, Work &work) {
    const Limits limit = limits(source, work.target, work.rule);
    work.range = range_of(limit);
    const IntegerLoops &loops = is_float32(source)    ? single_integers
                                : is_float64(source)  ? double_integers
                                : is_bfloat16(source) ? bfloat_integers
                                                      : half_integers;
    const int row = row_of(work.target);
    constexpr u64 half = 1ull << 31;
    if (limit.positive < half && limit.negative <= half) {
        const bool uniform = limit.above == limit.nan && limit.below == limit.nan;
        return (uniform ? loops.short_words_or : loops.short_words)[row];
    }
    if (limit.positive >> 63) return loops.long_halves;
    const bool halves = limit.positive >> 32 == 0 && limit.negative <= half && row == 2;
    return halves ? loops.halves : loops.long_words[row];
}

}  // namespace promoarray
