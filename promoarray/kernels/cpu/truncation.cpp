// Loops from floats of 16 to 64 bits to integers: by the machine's conversion of what it can hold,
// and by the mode outside. Each first makes words of 32 or 64 bits, of which the target has the low
// bits.
#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

// Bounds are of the source's own type, as comparing a float32 with a float64 takes twice as long.
PROMOARRAY_CAST f32 low_of(const Range &r, f32) { return r.single_low; }
PROMOARRAY_CAST f64 low_of(const Range &r, f64) { return r.low; }
PROMOARRAY_CAST f32 high_of(const Range &r, f32) { return r.single_high; }
PROMOARRAY_CAST f64 high_of(const Range &r, f64) { return r.high; }

template <typename Word, typename Float>
PROMOARRAY_CAST Word truncate(Float x, const Range &r) {
    const bool inside = (x > low_of(r, x)) & (x < high_of(r, x));
    const Word whole = (Word)(inside ? x : 0);
    const Word outside = x > 0 ? (Word)r.above : x < 0 ? (Word)r.below : (Word)r.nan;
    return inside ? whole : outside;
}

// Unsigned integers as wide as the machine's: the upper half less its start, which is added again.
template <typename Word, typename Unsigned, typename Float>
PROMOARRAY_CAST Unsigned truncate_halves(Float x, const Range &r) {
    constexpr Unsigned half = (Unsigned)1 << (8 * sizeof(Unsigned) - 1);
    const bool inside = (x > low_of(r, x)) & (x < high_of(r, x));
    const bool upper = x >= (Float)half;
    const Word whole = (Word)(inside ? (upper ? x - (Float)half : x) : 0);
    const Unsigned below = x < 0 ? (Unsigned)r.below : (Unsigned)r.nan;
    const Unsigned outside = x > 0 ? (Unsigned)r.above : below;
    return inside ? (Unsigned)whole ^ (upper ? half : 0) : outside;
}

// To signed integers of 32 bits and unsigned ones; the same of 64 bits.
struct WordLoops { Loop words, halves, long_words, long_halves; };

#define PROMOARRAY_RANGE const Range r = work.range;
#define PROMOARRAY_TO_WORDS(name, Source, number)                                                \
    PROMOARRAY_LOOP(name##_to_words, Source, i32, PROMOARRAY_RANGE, truncate<i32>(number, r))    \
    PROMOARRAY_LOOP(name##_to_long_words, Source, i64, PROMOARRAY_RANGE, truncate<i64>(number, r)) \
    PROMOARRAY_LOOP(name##_to_halves, Source, u32, PROMOARRAY_RANGE,                             \
                    truncate_halves<i32, u32>(number, r))                                        \
    PROMOARRAY_LOOP(name##_to_long_halves, Source, u64, PROMOARRAY_RANGE,                        \
                    truncate_halves<i64, u64>(number, r))                                        \
    constexpr WordLoops name##_words = {name##_to_words, name##_to_halves, name##_to_long_words, \
                                        name##_to_long_halves};
PROMOARRAY_TO_WORDS(bfloat, u16, as_float((u32)x << 16))
PROMOARRAY_TO_WORDS(single, f32, x)
PROMOARRAY_TO_WORDS(double, f64, x)

// By the machine alone, where a mode has what x86 gives for all outside: without vectors for it, to
// ask about each number takes twice as long. The language leaves that undefined, so the instruction
// is named.
#if defined(__x86_64__) && !defined(__AVX512DQ__)
constexpr u64 lowest = 1ull << 63;
PROMOARRAY_CAST u64 by_machine(f32 x) { return (u64)_mm_cvttss_si64(_mm_set_ss(x)); }
PROMOARRAY_CAST u64 by_machine(f64 x) { return (u64)_mm_cvttsd_si64(_mm_set_sd(x)); }
template <typename Float>
PROMOARRAY_CAST u64 halves_by_machine(Float x) {
    // A branch, as compilers have it: two conversions of each number take longer.
    if (__builtin_expect(!(x >= (Float)0x1p63f), 1)) return by_machine(x);
    return by_machine(x - (Float)0x1p63f) ^ lowest;
}
template <typename Float>
PROMOARRAY_LOOP(machine_words, Float, u64, , by_machine(x))
template <typename Float>
PROMOARRAY_LOOP(machine_halves, Float, u64, , halves_by_machine(x))

template <typename Float>
Loop machine_loop(const Limits &limit) {
    const bool halves = limit.positive == ~0ull && limit.above == 0;
    const bool words = limit.positive == ~lowest && limit.above == lowest;
    const bool below = limit.negative == lowest && limit.below == lowest && limit.nan == lowest;
    if (!below) return nullptr;
    return words ? machine_words<Float> : halves ? machine_halves<Float> : nullptr;
}
#else
template <typename Float>
Loop machine_loop(const Limits &) { return nullptr; }
#endif

// An int32, whose lowest number stands for all that it cannot hold, becomes the nearest end of the
// target; what lies beyond `far`, the lower end.
PROMOARRAY_CAST i32 packed(i32 whole, const Range &r) {
    const i32 above = whole > r.far ? r.first : r.last;
    return whole < r.first ? r.first : whole > r.last ? above : whole;
}
PROMOARRAY_LOOP(packed_u8, i32, u8, PROMOARRAY_RANGE, packed(x, r))
PROMOARRAY_LOOP(packed_u16, i32, u16, PROMOARRAY_RANGE, packed(x, r))

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

// The limits as short as what the source holds allows.
Limits shortened(Limits limit, Type source) {
    const Limits machine = indefinite(32);
    if (source.format.exponent > 5) return limit;
    // Float16 ends at 65504.
    limit.positive = limit.positive < machine.positive ? limit.positive : machine.positive;
    limit.negative = limit.negative < machine.negative ? limit.negative : machine.negative;
    return limit;
}

}  // namespace

Loop truncating_loop(Type source, Work &work) {
    return truncating_loop_by(limits(source, work.target, work.mode), source, work);
}

Loop truncating_loop_by(Limits limit, Type source, Work &work) {
    constexpr u64 half = 1ull << 31;
    const Type target = work.target;
    const bool packs = limit.near != 0;
    const Limits within = packs               ? indefinite(32)
                          : target.bits <= 32 ? shortened(limit, source)
                                              : limit;
    work.range = range_of(within);
    if (packs) {
        work.range.first = (i32)limit.above;
        work.range.last = (i32)limit.near_above;
        work.range.far = (i32)limit.near;
    }

    // 1. The shortest words that hold all that is inside.
    const WordLoops &loops = is_float64(source)    ? double_words
                             : is_bfloat16(source) ? bfloat_words
                                                   : single_words;
    Type words = {Kind::unsigned_integer, 32, {}};
    Loop found = loops.words;
    if (target.bits == 64 || within.positive >= 2 * half || within.negative > half) {
        words.bits = 64;
        found = within.positive >> 63 ? loops.long_halves : loops.long_words;
    } else if (within.positive >= half) {
        found = loops.halves;
    }

    if (words.bits == 64 && !is_bfloat16(source)) {
        const Loop same =
            is_float64(source) ? machine_loop<f64>(within) : machine_loop<f32>(within);
        if (same != nullptr) found = same;
    }

    // 2. Their low bits. Float16 is float32 before.
    if (packs) {
        found = chain(work, found, row_of(target) == 0 ? packed_u8 : packed_u16);
    } else if (target.bits != words.bits) {
        found = chain(work, found, integer_loop(words, target));
    }
    return is_float16(source) ? chain(work, single_loop(source), found) : found;
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
