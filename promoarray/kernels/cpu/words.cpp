// Truncation in registers: floats become words of 32 bits by x86's own conversion, whatever a mode
// says of those that no word holds, and words become integers of as many bits as the target has. A way
// is written once for all registers.
#include <type_traits>

#include "word_registers.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {

#ifdef __SSE2__
namespace {

// --- From floats to words -----------------------------------------------------------------------
// (`at_most` and `at_least` leave NaN as it is.)

struct AsMachine {
    explicit AsMachine(const Work &) {}
    template <typename Register>
    PROMOARRAY_CAST auto of(Register x) const { return words_of(x); }
};

// The nearest integer, half away from zero. (Of a float32 just below a half: with a whole one what is
// just below one half would reach 1.) What no word holds has low bits of 0.
struct HalfAway {
    explicit HalfAway(const Work &) {}
    PROMOARRAY_CAST Words of(Singles x) const { return words_of(x + with_sign(0x1.fffffep-2f, x)); }
    PROMOARRAY_CAST HalfWords of(Doubles x) const { return words_of(x + with_sign(0.5, x)); }
};

// The nearest end; the lower one may be left to packing. NaN is the lowest word, of which the low bits are
// 0, as is the nearest integer without a sign; for others it is to be 0 (`asks`).
template <bool has_low, bool asks>
struct Saturating {
    f32 low, high;
    explicit Saturating(const Work &work)
        : low((f32)(i64)work.range.below), high((f32)(i64)work.range.above) {}

    template <typename Register>
    PROMOARRAY_CAST auto of(Register x) const {
        using Float = std::remove_reference_t<decltype(x[0])>;
        const Register above = at_most((Float)high, x);
        const Register inside = has_low ? at_least((Float)low, above) : above;
        return asks ? words_or_zero(inside) : words_of(inside);
    }
};

// The low bits of a saturated int32, which are all set above it; of an int64 too, if the float has
// only zeros there from 2^31 on.
struct LowSaturated {
    f32 end;
    explicit LowSaturated(const Work &work) : end(work.range.single_high) {}

    PROMOARRAY_CAST Words of(Singles x) const { return or_all(words_of(x), reaches(x, end)); }
    PROMOARRAY_CAST HalfWords of(Doubles x) const { return words_of(at_most(0x1p31 - 1, x)); }
};

// The low bits of an int64. Beyond 2^63 they are those of its lowest number, or with `ends` of the
// nearest one. (SSE2 does not truncate doubles to whole ones.)
#ifdef __AVX2__
template <typename Float>
constexpr bool has_low_of_long = true;
#else
template <typename Float>
constexpr bool has_low_of_long = !is_double<Float>;
#endif
template <bool ends>
struct LowOfLong {
    explicit LowOfLong(const Work &) {}

#ifdef __AVX512DQ__
    static PROMOARRAY_CAST HalfWords low_of(__m256 x) {
        return _mm512_cvtepi64_epi32(_mm512_cvttps_epi64(x));
    }
    PROMOARRAY_CAST Words of(Singles x) const {
        const HalfWords low = low_of(_mm512_castps512_ps256(x));
        const Words words = joined(low, low_of(_mm512_extractf32x8_ps(x, 1)));
        return ends ? or_all(words, reaches(x, 0x1p63f)) : words;
    }
    PROMOARRAY_CAST HalfWords of(Doubles x) const {
        const HalfWords words = _mm512_cvtepi64_epi32(_mm512_cvttpd_epi64(x));
        return ends ? or_all(words, reaches(x, 0x1p63)) : words;
    }
#elif defined(__AVX2__)
    // What is left beside the nearest multiple of 2^32. (Beyond 2^63 nothing is; Inf and NaN leave
    // NaN, which is 0, too.)
    PROMOARRAY_CAST Words of(Singles x) const {
        const __m256 parts = _mm256_mul_ps(x, _mm256_set1_ps(0x1p-32f));
        const __m256 whole = _mm256_round_ps(parts, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
        const Words words = words_or_zero(_mm256_fnmadd_ps(whole, _mm256_set1_ps(0x1p32f), x));
        return ends ? or_all(words, reaches(x, 0x1p63f)) : words;
    }
    PROMOARRAY_CAST HalfWords of(Doubles given) const {
        constexpr int nearest = _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC;
        constexpr int to_zero = _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC;
        const __m256d x = _mm256_round_pd(given, to_zero);
        const __m256d whole = _mm256_round_pd(_mm256_mul_pd(x, _mm256_set1_pd(0x1p-32)), nearest);
        const __m256d rest = _mm256_fnmadd_pd(whole, _mm256_set1_pd(0x1p32), x);
        // Beyond lies nothing, or all bits as -1 has them.
        const __m256d magnitude = _mm256_andnot_pd(_mm256_set1_pd(-0.0), x);
        const __m256d end = _mm256_set1_pd(0x1p63), last = _mm256_set1_pd(ends ? -1.0 : 0.0);
        const __m256d inside = _mm256_cmp_pd(magnitude, end, _CMP_LT_OQ);
        const __m256d above = _mm256_cmp_pd(x, end, _CMP_GE_OQ);
        return words_of(_mm256_or_pd(_mm256_and_pd(inside, rest), _mm256_and_pd(above, last)));
    }
#else
    // The same; beyond 2^63, and of NaN, all is taken off first.
    PROMOARRAY_CAST Words of(Singles x) const {
        const __m128 magnitude = _mm_andnot_ps(_mm_set1_ps(-0.0f), x);
        const __m128 inside = _mm_and_ps(x, _mm_cmplt_ps(magnitude, _mm_set1_ps(0x1p63f)));
        const __m128i parts = _mm_cvtps_epi32(_mm_mul_ps(inside, _mm_set1_ps(0x1p-32f)));
        const __m128 whole = _mm_mul_ps(_mm_cvtepi32_ps(parts), _mm_set1_ps(0x1p32f));
        const Words words = words_of(_mm_sub_ps(inside, whole));
        return ends ? or_all(words, reaches(x, 0x1p63f)) : words;
    }
#endif
};

// The nearest end of 32 bits, and 0 for NaN.
struct SignedWords {
    explicit SignedWords(const Work &) {}
    PROMOARRAY_CAST Words of(Singles x) const {
        return or_code(words_or_zero(x), reaches(x, 0x1p31f), 0x7fffffff);
    }
    PROMOARRAY_CAST HalfWords of(Doubles x) const {
        return words_or_zero(at_most(0x1p31 - 1, x));
    }
};
struct UnsignedWords {
    explicit UnsignedWords(const Work &) {}
#ifdef __AVX512DQ__
    // The machine has the last integer for all that is beyond.
    PROMOARRAY_CAST Words of(Singles x) const {
        return _mm512_maskz_cvttps_epu32(reaches(x, 0), x);
    }
    PROMOARRAY_CAST HalfWords of(Doubles x) const {
        return _mm512_maskz_cvttpd_epu32(reaches(x, 0), x);
    }
#elif defined(__AVX2__)
    // The upper half is converted less its start, which is added again.
    PROMOARRAY_CAST Words of(Singles given) const {
        const __m256 x = at_least_zero(given);
        const __m256 upper = reaches(x, 0x1p31f);
        const __m256 lower = _mm256_sub_ps(x, _mm256_and_ps(upper, _mm256_set1_ps(0x1p31f)));
        const Words added = _mm256_slli_epi32(_mm256_castps_si256(upper), 31);
        const Words words = _mm256_xor_si256(words_of(lower), added);
        return or_all(words, reaches(x, 0x1p32f));
    }
    PROMOARRAY_CAST HalfWords of(Doubles given) const {
        const __m256d x = at_most(0x1p32 - 1, _mm256_max_pd(given, _mm256_setzero_pd()));
        const __m256d whole = _mm256_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        const HalfWords words = words_of(_mm256_sub_pd(whole, _mm256_set1_pd(0x1p31)));
        return _mm_xor_si128(words, _mm_set1_epi32(INT32_MIN));
    }
#else
    PROMOARRAY_CAST Words of(Singles given) const {
        const __m128 x = at_least_zero(given), upper = reaches(x, 0x1p31f);
        const __m128 lower = _mm_sub_ps(x, _mm_and_ps(upper, _mm_set1_ps(0x1p31f)));
        const Words added = _mm_slli_epi32(_mm_castps_si128(upper), 31);
        return or_all(_mm_xor_si128(words_of(lower), added), reaches(x, 0x1p32f));
    }
    PROMOARRAY_CAST HalfWords of(Doubles given) const {
        const __m128d x = at_most(0x1p32 - 1, _mm_max_pd(given, _mm_setzero_pd()));
        const __m128d half = _mm_set1_pd(0x1p31), upper = _mm_cmpge_pd(x, half);
        const HalfWords words = words_of(_mm_sub_pd(x, _mm_and_pd(upper, half)));
        const __m128i is_upper = _mm_shuffle_epi32(_mm_castpd_si128(upper), 0x08);
        return _mm_xor_si128(words, _mm_slli_epi32(is_upper, 31));
    }
#endif
};

// The low bits of the nearest end of an unsigned 32-bit integer, if the float has only zeros there from
// 2^31 on.
#ifdef __AVX512DQ__
using FewUnsignedWords = UnsignedWords;
#else
struct FewUnsignedWords {
    explicit FewUnsignedWords(const Work &) {}
    PROMOARRAY_CAST Words of(Singles x) const {
        return or_all(words_of(at_least_zero(x)), reaches(x, 0x1p32f));
    }
};
#endif

// The low bits of a saturated integer of 32 bits or more, of a float16: no number of it is beyond, and in
// place of Inf an integer does whose low bits are all set.
template <bool is_signed>
struct LowOfHalf {
    explicit LowOfHalf(const Work &) {}
    PROMOARRAY_CAST Words of(Singles x) const {
        const Singles inside = at_most(0xffff, x);
        return words_of(is_signed ? inside : at_least(0, inside));
    }
};

// --- From words to what the target has ----------------------------------------------------------
// The low ones of `mask` are kept, or the nearest end is taken. Whether the first step there and
// the last have a sign depends on the target; of 8 bits without one, after a first step to 16 bits
// without one, the upper half of those is 0.

#ifdef __AVX512DQ__
template <typename Target>
constexpr std::size_t step_of = most_words;

struct KeepLow {
    static PROMOARRAY_CAST __m256i pack(const Words *words, Words mask, u16) {
        return _mm512_cvtepi32_epi16(_mm512_and_si512(words[0], mask));
    }
    static PROMOARRAY_CAST __m128i pack(const Words *words, Words mask, u8) {
        return _mm512_cvtepi32_epi8(_mm512_and_si512(words[0], mask));
    }
};
template <bool first_signed, bool last_signed>
struct KeepNearest {
    static PROMOARRAY_CAST Words positive(Words words) {
        return _mm512_max_epi32(words, _mm512_setzero_si512());
    }
    static PROMOARRAY_CAST __m256i pack(const Words *words, Words, u16) {
        return first_signed ? _mm512_cvtsepi32_epi16(words[0])
                            : _mm512_cvtusepi32_epi16(positive(words[0]));
    }
    static PROMOARRAY_CAST __m128i pack(const Words *words, Words, u8) {
        if (last_signed) return _mm512_cvtsepi32_epi8(words[0]);
        const Words above = positive(words[0]);
        const __mmask16 lower = _mm512_cmple_epi32_mask(above, _mm512_set1_epi32(0x7fff));
        return _mm512_cvtusepi32_epi8(first_signed ? above : _mm512_maskz_mov_epi32(lower, above));
    }
};
#else
template <typename Target>
constexpr std::size_t step_of = sizeof(Words) / sizeof(Target);

struct KeepLow {
    static PROMOARRAY_CAST Words pairs(const Words *words, Words mask) {
        return unsigned_pairs(masked(words[0], mask), masked(words[1], mask));
    }
    static PROMOARRAY_CAST Words pack(const Words *words, Words mask, u16) {
        return in_order(pairs(words, mask));
    }
    static PROMOARRAY_CAST Words pack(const Words *words, Words mask, u8) {
        return bytes_in_order(unsigned_bytes(pairs(words, mask), pairs(words + 2, mask)));
    }
};
template <bool first_signed, bool last_signed>
struct KeepNearest {
    static PROMOARRAY_CAST Words pairs(const Words *words) {
        return first_signed ? signed_pairs(words[0], words[1])
                            : unsigned_pairs(words[0], words[1]);
    }
    static PROMOARRAY_CAST Words pack(const Words *words, Words, u16) {
        return in_order(pairs(words));
    }
    static PROMOARRAY_CAST Words pack(const Words *words, Words, u8) {
        const Words low = pairs(words), high = pairs(words + 2);
        return bytes_in_order(last_signed ? signed_bytes(low, high) : unsigned_bytes(low, high));
    }
};
#endif
struct KeepAll {
    static PROMOARRAY_CAST Words pack(const Words *words, Words, u32) { return words[0]; }
};

// --- The loop -----------------------------------------------------------------------------------

template <typename Single, typename Way>
PROMOARRAY_CAST Words words_at(const Single *x, const Way &way) { return way.of(load(x)); }
template <typename Way>
PROMOARRAY_CAST Words words_at(const f64 *x, const Way &way) {
    return joined(way.of(load(x)), way.of(load(x + most_words / 2)));
}

template <typename Float, typename Target, typename Way, typename Pack>
void by_words(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Float *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<Target *>(target);
    constexpr std::size_t step = step_of<Target>;
    const Words mask = all_words((u32)low_bits(~0ull, work.target.bits));
    const Way way(work);
    const auto packed_at = [&](const Float *x) {
        Words words[step / most_words];
        for (std::size_t k = 0; k < step / most_words; ++k) {
            words[k] = words_at(x + most_words * k, way);
        }
        return Pack::pack(words, mask, Target());
    };
    std::size_t i = 0;
    for (; i + step <= n; i += step) {
        const auto made = packed_at(src + i);
        std::memcpy(dst + i, &made, sizeof made);
    }
    if (i == n) return;
    Float rest[step] = {};
    std::memcpy(rest, src + i, (n - i) * sizeof(Float));
    const auto made = packed_at(rest);
    std::memcpy(dst + i, &made, (n - i) * sizeof(Target));
}

// --- The choice ---------------------------------------------------------------------------------

using ToSigned = KeepNearest<true, true>;
using ToUnsigned8 = KeepNearest<true, false>;
using ToUnsigned16 = KeepNearest<false, false>;

template <typename Float, typename Way>
Loop low_loop(bool is_short) {
    return is_short ? by_words<Float, u16, Way, KeepLow> : by_words<Float, u8, Way, KeepLow>;
}

template <typename Float, typename Way>
Loop nearest_loop(Type target, bool by_halves) {
    if (target.bits == 16) {
        return is_signed(target) ? by_words<Float, u16, Way, ToSigned>
                                 : by_words<Float, u16, Way, ToUnsigned16>;
    }
    if (is_signed(target)) return by_words<Float, u8, Way, ToSigned>;
    return by_halves ? by_words<Float, u8, Way, ToUnsigned16>
                     : by_words<Float, u8, Way, ToUnsigned8>;
}

template <typename Float>
Loop few_loop_of(const Limits &limit, Type source, const Work &work) {
    const Type target = work.target;
    const bool is_short = target.bits == 16, whole = target.bits >= 8;
    const bool to_signed = is_signed(target);
    if (same_limits(limit, indefinite(32))) return low_loop<Float, AsMachine>(is_short);
    // 1. The nearest end. By packing a 16-bit integer without sign is one from its upper half on.
    if (same_limits(limit, saturating(target.bits, to_signed))) {
        if (!whole) return low_loop<Float, Saturating<true, false>>(is_short);
        return to_signed ? nearest_loop<Float, Saturating<false, true>>(target, false)
                         : nearest_loop<Float, Saturating<false, false>>(target, false);
    }
    const bool by_halves = limit.near == 0x7fff;
    if (whole && limit.near != 0 && same_limits(limit, packed(target.bits, to_signed, by_halves))) {
        return nearest_loop<Float, AsMachine>(target, by_halves);
    }
    // 2. Low bits; those of a lowest number, as some have for NaN, are 0. Of a float with few bits
    //    itself they are 0 from 2^31 on.
    Limits kept = limit;
    kept.nan = low_bits(limit.nan, target.bits);
    const bool nearest = same_limits(kept, saturating(64, true));
    if constexpr (std::is_same<Float, HalfCode>::value) {
        if (nearest || same_limits(kept, saturating(32, true)))
            return low_loop<Float, LowOfHalf<true>>(is_short);
        if (same_limits(kept, saturating(32, false)))
            return low_loop<Float, LowOfHalf<false>>(is_short);
    }
    if (same_limits(kept, saturating(32, true))) return low_loop<Float, LowSaturated>(is_short);
    const bool few = !is_double<Float> && 31 - source.format.mantissa >= target.bits;
    if (same_limits(kept, saturating(32, false))) {
        if constexpr (!is_double<Float>) {
            if (few) return low_loop<Float, FewUnsignedWords>(is_short);
        }
        return low_loop<Float, UnsignedWords>(is_short);
    }
    if (nearest && few) return low_loop<Float, LowSaturated>(is_short);
    // (The lowest int64 has none of them.)
    const bool lowest = same_limits(limit, indefinite(64)) && !few;
    if constexpr (has_low_of_long<Float>) {
        if (nearest) return low_loop<Float, LowOfLong<true>>(is_short);
        if (lowest) return low_loop<Float, LowOfLong<false>>(is_short);
    }
    return nullptr;
}

// The same, but the highest bit for NaN.
struct SignedWordsOrHighest {
    explicit SignedWordsOrHighest(const Work &) {}
    PROMOARRAY_CAST HalfWords of(Doubles x) const { return words_of(at_most(0x1p31 - 1, x)); }
};
struct UnsignedWordsOrHighest : UnsignedWords {
    using UnsignedWords::UnsignedWords;
    PROMOARRAY_CAST HalfWords of(Doubles x) const { return UnsignedWords::of(or_number(x, 0x1p31)); }
};

template <typename Float>
Loop word_loop_of(const Limits &limit) {
    if constexpr (is_double<Float>) {
        Limits but_nan = limit;
        but_nan.nan = limit.nan ^ 1ull << 31;
        if (same_limits(but_nan, saturating(32, true)))
            return by_words<Float, u32, SignedWordsOrHighest, KeepAll>;
        if (same_limits(but_nan, saturating(32, false)))
            return by_words<Float, u32, UnsignedWordsOrHighest, KeepAll>;
    }
    if (same_limits(limit, saturating(32, true))) return by_words<Float, u32, SignedWords, KeepAll>;
    if (same_limits(limit, saturating(32, false))) {
        return by_words<Float, u32, UnsignedWords, KeepAll>;
    }
    if constexpr (has_low_of_long<Float>) {
        if (same_limits(limit, saturating(64, true)))
            return by_words<Float, u32, LowOfLong<true>, KeepAll>;
        if (same_limits(limit, indefinite(64)))
            return by_words<Float, u32, LowOfLong<false>, KeepAll>;
    }
    return nullptr;
}

}  // namespace

Loop few_loop(const Limits &limit, Type source, const Work &work) {
    if (work.target.bits > 16) return nullptr;
    if (is_float64(source)) return few_loop_of<f64>(limit, source, work);
#ifdef __F16C__
    if (is_float16(source)) return few_loop_of<HalfCode>(limit, source, work);
    if (is_bfloat16(source)) return few_loop_of<BfloatCode>(limit, source, work);
#endif
    return few_loop_of<f32>(limit, source, work);
}
Loop word_loop(const Limits &limit, Type source) {
    if (is_float64(source)) return word_loop_of<f64>(limit);
#ifdef __F16C__
    if (is_float16(source)) return word_loop_of<HalfCode>(limit);
    if (is_bfloat16(source)) return word_loop_of<BfloatCode>(limit);
#endif
    return word_loop_of<f32>(limit);
}
Loop half_away_loop(bool is_double) {
    return is_double ? low_loop<f64, HalfAway>(false) : low_loop<f32, HalfAway>(false);
}
#else
Loop few_loop(const Limits &, Type, const Work &) { return nullptr; }
Loop word_loop(const Limits &, Type) { return nullptr; }
Loop half_away_loop(bool) { return nullptr; }
#endif

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
