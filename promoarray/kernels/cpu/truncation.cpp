// Loops from floats of 16 to 64 bits to integers: by the machine's conversion of what it can hold,
// and by the mode outside.
#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
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

// By int32, whose lowest number stands for all that it cannot hold, and then by the nearest end of
// the target; what lies beyond `far` is the lower end.
template <typename Float, typename Bound>
PROMOARRAY_CAST i32 pack(Float x, Bound low, Bound high, i32 first, i32 last, i32 far) {
    const bool inside = (x > low) & (x < high);
    const i32 whole = inside ? (i32)(inside ? x : 0) : first;
    const i32 above = whole > far ? first : last;
    return whole < first ? first : whole > last ? above : whole;
}

// The low 32 bits of an int64. A float beyond 2^31 is an integer here, and so is what is left of it
// beside the multiples of 2^32.
#ifdef __SSE4_1__
PROMOARRAY_CAST f32 floor_of(f32 x) { return __builtin_floorf(x); }
PROMOARRAY_CAST u32 low_word_of_long(f32 x, f32 low, f32 high, const Range &r) {
    const bool is_long = !((x > -0x1p31f) & (x < 0x1p31f)), inside = (x > low) & (x < high);
    const f32 given = inside ? x : 0;
    const f32 rest = given - floor_of(given * 0x1p-32f) * 0x1p32f;
    const f32 word = is_long ? (rest < 0x1p31f ? rest : rest - 0x1p32f) : given;
    const u32 outside = x > 0 ? (u32)r.above : x < 0 ? (u32)r.below : (u32)r.nan;
    return inside ? (u32)(i32)word : outside;
}
#endif

#define PROMOARRAY_MASKED(Target)                                    \
    const Range r = work.range;                                      \
    const int unused = 8 * (int)sizeof(Target) - work.target.bits;   \
    const Target mask = (Target)((Target)~(Target)0 >> unused);

#define PROMOARRAY_TRUNCATE(name, Source, Word, Target, low, high)                              \
    PROMOARRAY_LOOP(name##_##Word##_to_##Target, Source, Target, PROMOARRAY_MASKED(Target),     \
                    (Target)truncate<Word>(x, r.low, r.high, r.above, r.below, r.nan) & mask)
#define PROMOARRAY_TRUNCATE_OR(name, Source, Target, low, high)                                 \
    PROMOARRAY_LOOP(name##_or_##Target, Source, Target, PROMOARRAY_MASKED(Target),              \
                    (Target)truncate_or<i32>(x, r.low, r.high, r.nan) & mask)
#define PROMOARRAY_TO_INTEGERS(name, Source, low, high)                                         \
    PROMOARRAY_TRUNCATE_OR(name, Source, u8, low, high)                                         \
    PROMOARRAY_TRUNCATE_OR(name, Source, u16, low, high)                                        \
    PROMOARRAY_TRUNCATE_OR(name, Source, u32, low, high)                                        \
    PROMOARRAY_TRUNCATE(name, Source, i32, u8, low, high)                                       \
    PROMOARRAY_TRUNCATE(name, Source, i32, u16, low, high)                                      \
    PROMOARRAY_TRUNCATE(name, Source, i32, u32, low, high)                                      \
    PROMOARRAY_TRUNCATE(name, Source, i64, u8, low, high)                                       \
    PROMOARRAY_TRUNCATE(name, Source, i64, u16, low, high)                                      \
    PROMOARRAY_TRUNCATE(name, Source, i64, u32, low, high)                                      \
    PROMOARRAY_TRUNCATE(name, Source, i64, u64, low, high)                                      \
    PROMOARRAY_LOOP(name##_to_u32, Source, u32, const Range r = work.range,                     \
                    truncate_halves<i32, u32>(x, r.low, r.high, r))                             \
    PROMOARRAY_LOOP(name##_to_u64, Source, u64, const Range r = work.range,                     \
                    truncate_halves<i64, u64>(x, r.low, r.high, r))                             \
    constexpr IntegerLoops name##_integers = {                                                  \
        {name##_or_u8, name##_or_u16, name##_or_u32, name##_i64_to_u64},                        \
        {name##_i32_to_u8, name##_i32_to_u16, name##_i32_to_u32, name##_i64_to_u64},            \
        {name##_i64_to_u8, name##_i64_to_u16, name##_i64_to_u32, name##_i64_to_u64},            \
        name##_to_u32, name##_to_u64};

// By the signed integer that holds all inside, of 32 or 64 bits; `or` one other number; by halves.
struct IntegerLoops {
    Loop short_words_or[4], short_words[4], long_words[4], halves, long_halves;
};

#define PROMOARRAY_PACK(name, Source, Target, low, high)                                        \
    PROMOARRAY_LOOP(name##_packed_##Target, Source, Target, const Range r = work.range,         \
                    pack(x, r.low, r.high, r.first, r.last, r.far))
PROMOARRAY_PACK(single, f32, u8, single_low, single_high)
PROMOARRAY_PACK(single, f32, u16, single_low, single_high)
PROMOARRAY_PACK(double, f64, u8, low, high)
PROMOARRAY_PACK(double, f64, u16, low, high)

#ifdef __SSE4_1__
PROMOARRAY_LOOP(single_low_word, f32, u32, const Range r = work.range,
                low_word_of_long(x, r.single_low, r.single_high, r))
#endif

PROMOARRAY_TO_INTEGERS(single, f32, single_low, single_high)
PROMOARRAY_TO_INTEGERS(double, f64, low, high)

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

// The ends of a target that floats are packed to.
Loop packing_loop(bool is_double, const Limits &limit, Work &work) {
    const Limits machine = indefinite(32);
    work.range = range_of(machine);
    work.range.first = (i32)limit.above;
    work.range.last = (i32)limit.near_above;
    work.range.far = (i32)limit.near;
    const bool is_short = row_of(work.target) == 1;
    if (is_double) return is_short ? double_packed_u16 : double_packed_u8;
    return is_short ? single_packed_u16 : single_packed_u8;
}

// The limits as short as what the source holds allows.
Limits shortened(Limits limit, Type source, Type target) {
    const Limits machine = indefinite(32);
    // Float32 beyond 2^31 has zeros in its 8 lowest bits.
    const bool longer = limit.positive >= machine.positive && limit.negative >= machine.negative;
    const bool to_zero = low_bits(limit.above | limit.below | limit.nan, target.bits) == 0;
    if (longer && to_zero && target.bits <= 8 && source.format.mantissa <= 23) return machine;
    // Float16 ends at 65504.
    if (source.format.exponent <= 5 && target.bits <= 32) {
        limit.positive = limit.positive < machine.positive ? limit.positive : machine.positive;
        limit.negative = limit.negative < machine.negative ? limit.negative : machine.negative;
    }
    return limit;
}

}  // namespace

Loop truncating_loop(Type source, Work &work) {
    return truncating_loop_by(limits(source, work.target, work.mode), source, work);
}

Loop truncating_loop_by(Limits limit, Type source, Work &work) {
    // 1. Floats of 16 bits by way of float32, where they are not read as such.
    work.range = range_of(limit);
    const bool is_double = is_float64(source);
    const Loop first = is_double || is_float32(source) ? nullptr : single_loop(source);
    const auto in_registers = [&](Loop found) {
        return first == nullptr || reads_short_floats ? found : chain(work, first, found);
    };
    // To few bits without a question where that can be; the rest is asked less if the source is short.
    if (const Loop few = few_loop(limit, source, work)) return in_registers(few);
    if (work.target.bits == 32 && limit.nan == 0) {
        if (const Loop word = word_loop(limit, source)) return in_registers(word);
    }
    limit = shortened(limit, source, work.target);
    work.range = range_of(limit);
    if (const Loop few = few_loop(limit, source, work)) return in_registers(few);
    if (limit.near != 0) {
        const Loop packing = packing_loop(is_double, limit, work);
        return first != nullptr ? chain(work, first, packing) : packing;
    }

    // 2. By the machine, if it does as the mode says.
    if (const Loop at_once = short_machine_loop(limit, source, work.target)) return at_once;
    const Loop machine = machine_loop(is_double, limit, source, work);
    if (machine != nullptr) return first != nullptr ? chain(work, first, machine) : machine;

    // 3. What is inside by the machine, the rest by the mode.
    const IntegerLoops &loops = is_double ? double_integers : single_integers;
    const int row = row_of(work.target);
    constexpr u64 half = 1ull << 31;
    Loop found = loops.long_words[row];
#ifdef __SSE4_1__
    if (!is_double && row == 2) found = single_low_word;
#endif
    if (limit.positive < half && limit.negative <= half) {
        const bool uniform = limit.above == limit.nan && limit.below == limit.nan;
        found = (uniform ? loops.short_words_or : loops.short_words)[row];
    } else if (limit.positive >> 63) {
        found = loops.long_halves;
    } else if (limit.positive >> 32 == 0 && limit.negative <= half && row == 2) {
        found = loops.halves;
    }
    return first != nullptr ? chain(work, first, found) : found;
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
