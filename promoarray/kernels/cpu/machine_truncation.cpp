// Truncation by x86's own conversions, where a mode wants what they give for all that an integer
// cannot hold: nothing is asked of a number. The language leaves that undefined, so the instruction
// is named.
#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

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

// What modes say of the rest, where few bits of it count. The nearest end, and 0 for NaN...
struct Saturating {
    f32 low, high;
    explicit Saturating(const Work &work)
        : low((f32)(i64)work.range.below), high((f32)(i64)work.range.above) {}

    PROMOARRAY_CAST __m256i operator()(const f32 *at) const {
        const __m256 x = _mm256_loadu_ps(at), from = _mm256_set1_ps(low);
        const __m256 inside = _mm256_min_ps(_mm256_max_ps(x, from), _mm256_set1_ps(high));
        const __m256 number = _mm256_cmp_ps(x, x, _CMP_ORD_Q);
        return _mm256_cvttps_epi32(_mm256_and_ps(inside, number));
    }
    PROMOARRAY_CAST __m128i four(const f64 *at) const {
        const __m256d x = _mm256_loadu_pd(at), from = _mm256_set1_pd(low);
        const __m256d inside = _mm256_min_pd(_mm256_max_pd(x, from), _mm256_set1_pd(high));
        const __m256d number = _mm256_cmp_pd(x, x, _CMP_ORD_Q);
        return _mm256_cvttpd_epi32(_mm256_and_pd(inside, number));
    }
    PROMOARRAY_CAST __m256i operator()(const f64 *at) const {
        return _mm256_set_m128i(four(at + 4), four(at));
    }
};
// ...or the low bits of a saturated int32, which are all set above it.
struct LowSaturated {
    explicit LowSaturated(const Work &) {}

    PROMOARRAY_CAST __m256i operator()(const f32 *at) const {
        const __m256 end = _mm256_set1_ps(0x1p31f);
        const __m256 above = _mm256_cmp_ps(_mm256_loadu_ps(at), end, _CMP_GE_OQ);
        return _mm256_or_si256(words_of(at), _mm256_castps_si256(above));
    }
    PROMOARRAY_CAST __m256i operator()(const f64 *at) const {
        const __m256d end = _mm256_set1_pd(0x1p31 - 1);  // what follows it has these low bits, too
        const __m256d low = _mm256_min_pd(_mm256_loadu_pd(at), end);
        const __m256d high = _mm256_min_pd(_mm256_loadu_pd(at + 4), end);
        const __m128i first = _mm256_cvttpd_epi32(numbers_of(at, low));
        return _mm256_set_m128i(_mm256_cvttpd_epi32(numbers_of(at + 4, high)), first);
    }
    // What is no number stays so, and has low bits that are 0.
    PROMOARRAY_CAST __m256d numbers_of(const f64 *at, __m256d least) const {
        const __m256d x = _mm256_loadu_pd(at);
        return _mm256_blendv_pd(least, x, _mm256_cmp_pd(x, x, _CMP_UNORD_Q));
    }
};
struct AsMachine {
    explicit AsMachine(const Work &) {}
    template <typename Float>
    PROMOARRAY_CAST __m256i operator()(const Float *at) const { return words_of(at); }
};

template <typename Float, typename Target, typename Words = AsMachine>
void machine_few(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Float *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<Target *>(target);
    constexpr std::size_t step = 32 / sizeof(Target);
    const u32 mask = (u32)low_bits(~0ull, work.target.bits);
    const Words words_at(work);
    const auto few_of = [&](const Float *x) {
        __m256i words[step / 8];
        for (std::size_t k = 0; k < step / 8; ++k) words[k] = words_at(x + 8 * k);
        return packed(words, _mm256_set1_epi32((int)mask), Target());
    };
    std::size_t i = 0;
    for (; i + step <= n; i += step) {
        const __m256i few = few_of(src + i);
        std::memcpy(dst + i, &few, sizeof few);
    }
    Float rest[step] = {};
    std::memcpy(rest, src + i, (n - i) * sizeof(Float));
    const __m256i few = few_of(rest);
    std::memcpy(dst + i, &few, (n - i) * sizeof(Target));
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

// Whether the limits are those of a conversion.
bool same_limits(const Limits &limit, const Limits &machine) {
    return limit.positive == machine.positive && limit.negative == machine.negative &&
           limit.above == machine.above && limit.below == machine.below &&
           limit.nan == machine.nan && limit.infinite_above == machine.infinite_above &&
           limit.infinite_below == machine.infinite_below;
}

// The machine's own instruction, where it gives what the mode asks for.
template <typename Float>
Loop machine_loop_of(const Limits &limit, Work &work) {
#ifdef __SSE2__
    const Type target = work.target, words = {Kind::unsigned_integer, 32, {}};
    if (same_limits(limit, indefinite(32))) {
        const Loop first = machine_words<Float>;
        if (target.bits == 32) return first;
#ifdef __AVX2__
        return target.bits == 16 ? machine_few<Float, u16> : machine_few<Float, u8>;
#endif
        return chain(work, first, integer_loop(words, target));
    }
    if (target.bits == 32 && same_limits(limit, indefinite_halves(32))) {
        return machine_word_halves<Float>;
    }
#ifndef __AVX512DQ__  // which converts vectors of them
    if (target.bits == 64 && same_limits(limit, indefinite(64))) {
        return machine_long_words<false, Float, u64>;
    }
    if (target.bits == 32 && same_limits(limit, indefinite(64))) {
        return machine_long_words<false, Float, u32>;
    }
    if (target.bits == 64 && same_limits(limit, indefinite_halves(64))) {
        return machine_long_words<true, Float, u64>;
    }
#endif
#endif
    (void)limit;
    (void)work;
    return nullptr;
}

}  // namespace

Loop few_loop(bool is_double, const Limits &limit, const Work &work) {
#ifdef __AVX2__
    static constexpr Loop saturating_loops[2][2] = {
        {machine_few<f32, u8, Saturating>, machine_few<f32, u16, Saturating>},
        {machine_few<f64, u8, Saturating>, machine_few<f64, u16, Saturating>}};
    static constexpr Loop low_loops[2][2] = {
        {machine_few<f32, u8, LowSaturated>, machine_few<f32, u16, LowSaturated>},
        {machine_few<f64, u8, LowSaturated>, machine_few<f64, u16, LowSaturated>}};
    const Type target = work.target;
    if (target.bits > 16) return nullptr;
    const bool is_short = target.bits == 16;
    if (same_limits(limit, saturating(target.bits, is_signed(target)))) {
        return saturating_loops[is_double][is_short];
    }
    if (same_limits(limit, saturating(32, true))) return low_loops[is_double][is_short];
#endif
    (void)is_double;
    (void)limit;
    (void)work;
    return nullptr;
}

Loop machine_loop(bool is_double, const Limits &limit, Work &work) {
    return is_double ? machine_loop_of<f64>(limit, work) : machine_loop_of<f32>(limit, work);
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
