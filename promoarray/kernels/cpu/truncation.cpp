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

PROMOARRAY_TO_INTEGERS(single, f32, single_low, single_high)
PROMOARRAY_TO_INTEGERS(double, f64, low, high)

// --- As x86 does it -----------------------------------------------------------------------------
// Where the mode wants what the machine gives for all that an integer cannot hold, nothing is asked
// of a number. The language leaves that undefined, so the instruction is named.

#ifdef __SSE2__
PROMOARRAY_CAST u32 low_word(f32 x) { return (u32)_mm_cvttss_si32(_mm_set_ss(x)); }
PROMOARRAY_CAST u32 low_word(f64 x) { return (u32)_mm_cvttsd_si32(_mm_set_sd(x)); }
PROMOARRAY_CAST u64 long_word(f32 x) { return (u64)_mm_cvttss_si64(_mm_set_ss(x)); }
PROMOARRAY_CAST u64 long_word(f64 x) { return (u64)_mm_cvttsd_si64(_mm_set_sd(x)); }

#ifdef __AVX2__
using Integers = __m256i;
PROMOARRAY_CAST __m256i words_of(const f32 *x) { return _mm256_cvttps_epi32(_mm256_loadu_ps(x)); }
PROMOARRAY_CAST __m256i words_of(const f64 *x) {
    const __m128i low = _mm256_cvttpd_epi32(_mm256_loadu_pd(x));
    return _mm256_set_m128i(_mm256_cvttpd_epi32(_mm256_loadu_pd(x + 4)), low);
}

// What reaches the upper half of 32 bits is converted less its start, which is added again.
PROMOARRAY_CAST __m256i halves_of(const f32 *at) {
    const __m256 half = _mm256_set1_ps(0x1p31f), x = _mm256_loadu_ps(at);
    const __m256 upper = _mm256_cmp_ps(x, half, _CMP_GE_OQ);
    const __m256i words = _mm256_cvttps_epi32(_mm256_sub_ps(x, _mm256_and_ps(upper, half)));
    return _mm256_xor_si256(words, _mm256_slli_epi32(_mm256_castps_si256(upper), 31));
}
PROMOARRAY_CAST __m128i halves_of_four(const f64 *at) {
    const __m256d half = _mm256_set1_pd(0x1p31), x = _mm256_loadu_pd(at);
    const __m256d upper = _mm256_cmp_pd(x, half, _CMP_GE_OQ);
    const __m128i words = _mm256_cvttpd_epi32(_mm256_sub_pd(x, _mm256_and_pd(upper, half)));
    const __m128i added = _mm256_cvttpd_epi32(_mm256_and_pd(upper, _mm256_set1_pd(-0x1p31)));
    return _mm_xor_si128(words, added);
}
PROMOARRAY_CAST __m256i halves_of(const f64 *x) {
    return _mm256_set_m128i(halves_of_four(x + 4), halves_of_four(x));
}
#else
using Integers = __m128i;
PROMOARRAY_CAST __m128i words_of(const f32 *x) { return _mm_cvttps_epi32(_mm_loadu_ps(x)); }
PROMOARRAY_CAST __m128i words_of(const f64 *x) {
    const __m128i low = _mm_cvttpd_epi32(_mm_loadu_pd(x));
    return _mm_unpacklo_epi64(low, _mm_cvttpd_epi32(_mm_loadu_pd(x + 2)));
}
#endif

template <typename Float>
PROMOARRAY_CAST u32 low_half(Float x) {
    const bool upper = x >= (Float)0x1p31f;
    return low_word(upper ? x - (Float)0x1p31f : x) ^ (upper ? 1u << 31 : 0);
}

template <typename Float>
void machine_words(const void *source, void *target, std::size_t n, const Work &) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Float *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<u32 *>(target);
    constexpr std::size_t step = sizeof(Integers) / sizeof(u32);
    std::size_t i = 0;
    for (; i + step <= n; i += step) {
        const Integers words = words_of(src + i);
        std::memcpy(dst + i, &words, sizeof words);
    }
    for (; i < n; ++i) dst[i] = low_word(src[i]);
}

#ifdef __AVX2__
// The low bits of 32 words, of which `mask` has the bits to keep. Packing goes on in each half of a
// register by itself, so the quarters are put in order in the end.
PROMOARRAY_CAST __m256i packed(const __m256i *words, __m256i mask, u16) {
    const __m256i low = _mm256_and_si256(words[0], mask), high = _mm256_and_si256(words[1], mask);
    return _mm256_permute4x64_epi64(_mm256_packus_epi32(low, high), 0xd8);
}
PROMOARRAY_CAST __m256i packed(const __m256i *words, __m256i mask, u8) {
    __m256i w[4];
    for (int i = 0; i < 4; ++i) w[i] = _mm256_and_si256(words[i], mask);
    const __m256i pairs = _mm256_packus_epi32(w[0], w[1]), more = _mm256_packus_epi32(w[2], w[3]);
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(pairs, more), order);
}

template <typename Float, typename Target>
void machine_few(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Float *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<Target *>(target);
    constexpr std::size_t step = 32 / sizeof(Target);
    const u32 mask = (u32)low_bits(~0ull, work.target.bits);
    std::size_t i = 0;
    for (; i + step <= n; i += step) {
        __m256i words[step / 8];
        for (std::size_t k = 0; k < step / 8; ++k) words[k] = words_of(src + i + 8 * k);
        const __m256i few = packed(words, _mm256_set1_epi32((int)mask), Target());
        std::memcpy(dst + i, &few, sizeof few);
    }
    for (; i < n; ++i) dst[i] = (Target)(low_word(src[i]) & mask);
}
#endif

template <typename Float>
void machine_word_halves(const void *source, void *target, std::size_t n, const Work &) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Float *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<u32 *>(target);
    std::size_t i = 0;
#ifdef __AVX2__
    for (; i + 8 <= n; i += 8) {
        const Integers words = halves_of(src + i);
        std::memcpy(dst + i, &words, sizeof words);
    }
#endif
    for (; i < n; ++i) dst[i] = low_half(src[i]);
}

#ifdef __AVX2__
// Four 64-bit integers: beside 1.5 * 2^52 the low bits of a float64 are those of an integer. False
// where one number is too large for that, or NaN, and nothing is written.
PROMOARRAY_CAST __m256d four_of(const f32 *x) { return _mm256_cvtps_pd(_mm_loadu_ps(x)); }
PROMOARRAY_CAST __m256d four_of(const f64 *x) { return _mm256_loadu_pd(x); }
PROMOARRAY_CAST bool four_long_words(__m256d x, u64 *target) {
    const __m256d magnitude = _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
    const __m256d inside = _mm256_cmp_pd(magnitude, _mm256_set1_pd(0x1p51), _CMP_LT_OQ);
    if (_mm256_movemask_pd(inside) != 15) return false;
    const __m256d whole = _mm256_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    const __m256d power = _mm256_set1_pd(0x1.8p52);
    const __m256i words = _mm256_sub_epi64(_mm256_castpd_si256(_mm256_add_pd(whole, power)),
                                           _mm256_castpd_si256(power));
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(target), words);
    return true;
}
#endif

// By halves, if the integer has no sign.
template <bool halves, typename Float>
PROMOARRAY_CAST u64 machine_long_word(Float x) {
    constexpr u64 half = 1ull << 63;
    // A branch, as compilers have it: two conversions of each number take longer.
    if (!halves || __builtin_expect(!(x >= (Float)half), 1)) return long_word(x);
    return long_word(x - (Float)half) ^ half;
}

template <bool halves, typename Float, typename Target>
void machine_long_words(const void *source, void *target, std::size_t n, const Work &) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Float *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<Target *>(target);
    std::size_t i = 0;
#ifdef __AVX2__
    if constexpr (sizeof(Target) == sizeof(u64)) {
        for (; i + 4 <= n; i += 4) {
            if (four_long_words(four_of(src + i), dst + i)) continue;
            for (std::size_t k = i; k < i + 4; ++k) dst[k] = machine_long_word<halves>(src[k]);
        }
    }
#endif
    for (; i < n; ++i) dst[i] = (Target)machine_long_word<halves>(src[i]);
}
#endif

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

// Whether the limits are those of the machine's own conversion to so many bits.
bool are_indefinite(const Limits &limit, const Limits &machine) {
    return limit.positive == machine.positive && limit.negative == machine.negative &&
           limit.above == machine.above && limit.below == machine.below &&
           limit.nan == machine.nan && limit.infinite_above == machine.infinite_above &&
           limit.infinite_below == machine.infinite_below;
}

// The machine's own instruction, where it gives what the mode asks for.
template <typename Float>
Loop machine_loop(const Limits &limit, Work &work) {
#ifdef __SSE2__
    const Type target = work.target, words = {Kind::unsigned_integer, 32, {}};
    if (are_indefinite(limit, indefinite(32))) {
        const Loop first = machine_words<Float>;
        if (target.bits == 32) return first;
#ifdef __AVX2__
        return target.bits == 16 ? machine_few<Float, u16> : machine_few<Float, u8>;
#endif
        return chain(work, first, integer_loop(words, target));
    }
    if (target.bits == 32 && are_indefinite(limit, indefinite_halves(32))) {
        return machine_word_halves<Float>;
    }
#ifndef __AVX512DQ__  // which converts vectors of them
    if (target.bits == 64 && are_indefinite(limit, indefinite(64))) {
        return machine_long_words<false, Float, u64>;
    }
    if (target.bits == 32 && are_indefinite(limit, indefinite(64))) {
        return machine_long_words<false, Float, u32>;
    }
    if (target.bits == 64 && are_indefinite(limit, indefinite_halves(64))) {
        return machine_long_words<true, Float, u64>;
    }
#endif
#endif
    (void)limit;
    (void)work;
    return nullptr;
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
    // 1. Floats of 16 bits by way of float32.
    const Limits limit = shortened(limits(source, work.target, work.mode), source, work.target);
    work.range = range_of(limit);
    const bool is_double = is_float64(source);
    const Loop first = is_double || is_float32(source) ? nullptr : single_loop(source);

    // 2. By the machine, if it does as the mode says.
    const Loop machine = is_double ? machine_loop<f64>(limit, work) : machine_loop<f32>(limit, work);
    if (machine != nullptr) return first != nullptr ? chain(work, first, machine) : machine;

    // 3. What is inside by the machine, the rest by the mode.
    const IntegerLoops &loops = is_double ? double_integers : single_integers;
    const int row = row_of(work.target);
    constexpr u64 half = 1ull << 31;
    Loop found = loops.long_words[row];
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
