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

// What reaches the upper half of 32 bits is converted less its start, which is added again; with `once`
// not to what is beyond, of which the start is left.
template <bool once>
PROMOARRAY_CAST __m256i halves_of(const f32 *at) {
    const __m256 half = _mm256_set1_ps(0x1p31f), x = _mm256_loadu_ps(at);
    const __m256 upper = _mm256_cmp_ps(x, half, _CMP_GE_OQ);
    const __m256i words = _mm256_cvttps_epi32(_mm256_sub_ps(x, _mm256_and_ps(upper, half)));
    const __m256 inside = _mm256_cmp_ps(x, _mm256_set1_ps(0x1p32f), _CMP_LT_OQ);
    const __m256 again = once ? _mm256_and_ps(upper, inside) : upper;
    return _mm256_xor_si256(words, _mm256_slli_epi32(_mm256_castps_si256(again), 31));
}
template <bool once>
PROMOARRAY_CAST __m128i halves_of_four(const f64 *at) {
    const __m256d half = _mm256_set1_pd(0x1p31), x = _mm256_loadu_pd(at);
    const __m256d upper = _mm256_cmp_pd(x, half, _CMP_GE_OQ);
    const __m128i words = _mm256_cvttpd_epi32(_mm256_sub_pd(x, _mm256_and_pd(upper, half)));
    const __m256d inside = _mm256_cmp_pd(x, _mm256_set1_pd(0x1p32), _CMP_LT_OQ);
    const __m256d again = once ? _mm256_and_pd(upper, inside) : upper;
    const __m128i added = _mm256_cvttpd_epi32(_mm256_and_pd(again, _mm256_set1_pd(-0x1p31)));
    return _mm_xor_si128(words, added);
}
template <bool once>
PROMOARRAY_CAST __m256i halves_of(const f64 *x) {
    return _mm256_set_m128i(halves_of_four<once>(x + 4), halves_of_four<once>(x));
}
#else
using Integers = __m128i;
PROMOARRAY_CAST __m128i words_of(const f32 *x) { return _mm_cvttps_epi32(_mm_loadu_ps(x)); }
PROMOARRAY_CAST __m128i words_of(const f64 *x) {
    const __m128i low = _mm_cvttpd_epi32(_mm_loadu_pd(x));
    return _mm_unpacklo_epi64(low, _mm_cvttpd_epi32(_mm_loadu_pd(x + 2)));
}
#endif

template <bool once, typename Float>
PROMOARRAY_CAST u32 low_half(Float x) {
    const bool upper = x >= (Float)0x1p31f, again = upper && !(once && x >= (Float)0x1p32f);
    return low_word(upper ? x - (Float)0x1p31f : x) ^ (again ? 1u << 31 : 0);
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
// How 32 words become few bits. Packing goes on in each half of a register by itself, so the quarters
// are put in order in the end.
PROMOARRAY_CAST __m256i in_order(__m256i pairs) { return _mm256_permute4x64_epi64(pairs, 0xd8); }
PROMOARRAY_CAST __m256i bytes_in_order(__m256i bytes) {
    return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

// The low ones of `mask` are kept...
struct KeepLow {
    static PROMOARRAY_CAST __m256i pairs(const __m256i *words, __m256i mask) {
        return _mm256_packus_epi32(_mm256_and_si256(words[0], mask),
                                   _mm256_and_si256(words[1], mask));
    }
    static PROMOARRAY_CAST __m256i pack(const __m256i *words, __m256i mask, u16) {
        return in_order(pairs(words, mask));
    }
    static PROMOARRAY_CAST __m256i pack(const __m256i *words, __m256i mask, u8) {
        const __m256i low = pairs(words, mask), high = pairs(words + 2, mask);
        return bytes_in_order(_mm256_packus_epi16(low, high));
    }
};
// ...or the nearest end is taken. Whether the first step and the last have a sign depends on the
// target; of 8 bits without one, after a first step without one, the upper half of 16 bits is 0.
template <bool first_signed, bool last_signed>
struct KeepNearest {
    static PROMOARRAY_CAST __m256i pairs(const __m256i *words) {
        return first_signed ? _mm256_packs_epi32(words[0], words[1])
                            : _mm256_packus_epi32(words[0], words[1]);
    }
    static PROMOARRAY_CAST __m256i pack(const __m256i *words, __m256i, u16) {
        return in_order(pairs(words));
    }
    static PROMOARRAY_CAST __m256i pack(const __m256i *words, __m256i, u8) {
        const __m256i low = pairs(words), high = pairs(words + 2);
        return bytes_in_order(last_signed ? _mm256_packs_epi16(low, high)
                                          : _mm256_packus_epi16(low, high));
    }
};

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
// ...which needs no lower end where packing has one...
struct SaturatingAbove {
    explicit SaturatingAbove(const Work &) {}

    PROMOARRAY_CAST __m256i operator()(const f32 *at) const {
        const __m256 x = _mm256_loadu_ps(at), least = _mm256_min_ps(x, _mm256_set1_ps(0x1p30f));
        const __m256 number = _mm256_cmp_ps(x, x, _CMP_ORD_Q);
        return _mm256_cvttps_epi32(_mm256_and_ps(least, number));
    }
    PROMOARRAY_CAST __m128i four(const f64 *at) const {
        const __m256d x = _mm256_loadu_pd(at), least = _mm256_min_pd(x, _mm256_set1_pd(0x1p30));
        const __m256d number = _mm256_cmp_pd(x, x, _CMP_ORD_Q);
        return _mm256_cvttpd_epi32(_mm256_and_pd(least, number));
    }
    PROMOARRAY_CAST __m256i operator()(const f64 *at) const {
        return _mm256_set_m128i(four(at + 4), four(at));
    }
};
// ...or the low bits of a saturated int32, which are all set above it; of an int64 too, if the float
// has only zeros there from 2^31 on.
struct LowSaturated {
    f32 end;
    explicit LowSaturated(const Work &work) : end(work.range.single_high) {}

    PROMOARRAY_CAST __m256i operator()(const f32 *at) const {
        const __m256 above = _mm256_cmp_ps(_mm256_loadu_ps(at), _mm256_set1_ps(end), _CMP_GE_OQ);
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
// The low 16 bits of an int64: what is left beside the multiples of 2^16. Beyond 2^63 they are those
// of its lowest number, or with `ends` of the nearest one. (Inf and NaN leave NaN, whose are 0.)
template <bool ends>
struct LowOfLong {
    explicit LowOfLong(const Work &) {}

    PROMOARRAY_CAST __m256i operator()(const f32 *at) const {
        const __m256 x = _mm256_loadu_ps(at), parts = _mm256_mul_ps(x, _mm256_set1_ps(0x1p-16f));
        const __m256 whole = _mm256_round_ps(parts, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        const __m256 rest = _mm256_fnmadd_ps(whole, _mm256_set1_ps(0x1p16f), x);
        const __m256i words = _mm256_cvttps_epi32(rest);
        const __m256 above = _mm256_cmp_ps(x, _mm256_set1_ps(0x1p63f), _CMP_GE_OQ);
        return ends ? _mm256_or_si256(words, _mm256_castps_si256(above)) : words;
    }
    PROMOARRAY_CAST __m128i four(const f64 *at) const {
        const __m256d given = _mm256_loadu_pd(at);
        const __m256d x = _mm256_max_pd(_mm256_set1_pd(-0x1p63), given);  // NaN stays
        const __m256d least = _mm256_min_pd(_mm256_set1_pd(0x1p63), x);
        const __m256d parts = _mm256_mul_pd(least, _mm256_set1_pd(0x1p-16));
        const __m256d whole = _mm256_round_pd(parts, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
        const __m256d rest = _mm256_fnmadd_pd(whole, _mm256_set1_pd(0x1p16), least);
        // Above the others lies one more, which is all bits as -1 is.
        const __m256d above = _mm256_cmp_pd(least, _mm256_set1_pd(0x1p63), _CMP_GE_OQ);
        const __m256d last = _mm256_and_pd(above, _mm256_set1_pd(-1.0));
        return _mm256_cvttpd_epi32(ends ? _mm256_add_pd(rest, last) : rest);
    }
    PROMOARRAY_CAST __m256i operator()(const f64 *at) const {
        return _mm256_set_m128i(four(at + 4), four(at));
    }
};
struct AsMachine {
    explicit AsMachine(const Work &) {}
    template <typename Float>
    PROMOARRAY_CAST __m256i operator()(const Float *at) const { return words_of(at); }
};

template <typename Float, typename Target, typename Words = AsMachine, typename Pack = KeepLow>
void machine_few(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Float *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<Target *>(target);
    constexpr std::size_t step = 32 / sizeof(Target);
    const u32 mask = (u32)low_bits(~0ull, work.target.bits);
    const Words words_at(work);
    const auto few_of = [&](const Float *x) {
        __m256i words[step / 8];
        for (std::size_t k = 0; k < step / 8; ++k) words[k] = words_at(x + 8 * k);
        return Pack::pack(words, _mm256_set1_epi32((int)mask), Target());
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

template <typename Float, bool once = false>
void machine_word_halves(const void *source, void *target, std::size_t n, const Work &) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Float *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<u32 *>(target);
    std::size_t i = 0;
#ifdef __AVX2__
    for (; i + 8 <= n; i += 8) {
        const Integers words = halves_of<once>(src + i);
        std::memcpy(dst + i, &words, sizeof words);
    }
#endif
    for (; i < n; ++i) dst[i] = low_half<once>(src[i]);
}

#ifdef __AVX512DQ__
// Words of other modes in registers twice as long, whose elements are asked apart from one another.
PROMOARRAY_CAST __m512 register_of(const f32 *x) { return _mm512_loadu_ps(x); }
PROMOARRAY_CAST __m512d register_of(const f64 *x) { return _mm512_loadu_pd(x); }
PROMOARRAY_CAST __mmask16 at_least(__m512 x, f32 end) {
    return _mm512_cmp_ps_mask(x, _mm512_set1_ps(end), _CMP_GE_OQ);
}
PROMOARRAY_CAST __mmask8 at_least(__m512d x, f32 end) {
    return _mm512_cmp_pd_mask(x, _mm512_set1_pd(end), _CMP_GE_OQ);
}
PROMOARRAY_CAST __m512i or_all(__m512i words, __mmask16 there, int code) {
    return _mm512_mask_mov_epi32(words, there, _mm512_set1_epi32(code));
}
PROMOARRAY_CAST __m256i or_all(__m256i words, __mmask8 there, int code) {
    return _mm256_mask_mov_epi32(words, there, _mm256_set1_epi32(code));
}

// The nearest end, and 0 for NaN.
struct SignedWords {
    static PROMOARRAY_CAST __m512i of(__m512 x) {
        const __mmask16 number = _mm512_cmp_ps_mask(x, x, _CMP_ORD_Q);
        return or_all(_mm512_maskz_cvttps_epi32(number, x), at_least(x, 0x1p31f), 0x7fffffff);
    }
    static PROMOARRAY_CAST __m256i of(__m512d x) {
        const __mmask8 number = _mm512_cmp_pd_mask(x, x, _CMP_ORD_Q);
        return or_all(_mm512_maskz_cvttpd_epi32(number, x), at_least(x, 0x1p31f), 0x7fffffff);
    }
};
struct UnsignedWords {  // by the machine, which has the last integer for all that is beyond
    static PROMOARRAY_CAST __m512i of(__m512 x) {
        return _mm512_maskz_cvttps_epu32(at_least(x, 0), x);
    }
    static PROMOARRAY_CAST __m256i of(__m512d x) {
        return _mm512_maskz_cvttpd_epu32(at_least(x, 0), x);
    }
};
// The low half of an int64; what is above has the lowest one, or with `ends` the last.
template <bool ends>
struct LongWords {
    static PROMOARRAY_CAST __m256i low_of(__m256 x) {
        return _mm512_cvtepi64_epi32(_mm512_cvttps_epi64(x));
    }
    static PROMOARRAY_CAST __m512i of(__m512 x) {
        const __m256i low = low_of(_mm512_castps512_ps256(x));
        const __m256i high = low_of(_mm512_extractf32x8_ps(x, 1));
        const __m512i words = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
        return ends ? or_all(words, at_least(x, 0x1p63f), -1) : words;
    }
    static PROMOARRAY_CAST __m256i of(__m512d x) {
        const __m256i words = _mm512_cvtepi64_epi32(_mm512_cvttpd_epi64(x));
        return ends ? or_all(words, at_least(x, 0x1p63f), -1) : words;
    }
};

template <typename Float, typename Words>
void wide_words(const void *source, void *target, std::size_t n, const Work &) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Float *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<u32 *>(target);
    constexpr std::size_t step = 64 / sizeof(Float);
    std::size_t i = 0;
    for (; i + step <= n; i += step) {
        const auto words = Words::of(register_of(src + i));
        std::memcpy(dst + i, &words, sizeof words);
    }
    Float rest[step] = {};
    std::memcpy(rest, src + i, (n - i) * sizeof(Float));
    const auto words = Words::of(register_of(rest));
    std::memcpy(dst + i, &words, (n - i) * sizeof(u32));
}

#endif

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

#ifdef __AVX512DQ__
template <typename Float>
Loop wide_words_loop(const Limits &limit) {
    if (same_limits(limit, saturating(32, true))) return wide_words<Float, SignedWords>;
    if (same_limits(limit, saturating(32, false))) return wide_words<Float, UnsignedWords>;
    if (same_limits(limit, saturating(64, true))) return wide_words<Float, LongWords<true>>;
    if (same_limits(limit, indefinite(64))) return wide_words<Float, LongWords<false>>;
    return nullptr;
}
#endif

// The machine's own instruction, where it gives what the mode asks for.
template <typename Float>
Loop machine_loop_of(const Limits &limit, Work &work) {
#ifdef __SSE2__
    const Type target = work.target, words = {Kind::unsigned_integer, 32, {}};
    Limits lowest_beyond = indefinite_halves(32);
    lowest_beyond.above = lowest_beyond.infinite_above = 1ull << 31;
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
    if (target.bits == 32 && same_limits(limit, lowest_beyond)) {
        return machine_word_halves<Float, true>;
    }
#ifdef __AVX512DQ__
    if (target.bits == 32) return wide_words_loop<Float>(limit);
#endif
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

#ifdef __AVX2__
namespace {

using ToSigned = KeepNearest<true, true>;
using ToUnsigned8 = KeepNearest<true, false>;
using ToUnsigned16 = KeepNearest<false, false>;

template <typename Float, typename Words>
Loop low_loop(bool is_short) {
    return is_short ? machine_few<Float, u16, Words> : machine_few<Float, u8, Words>;
}

template <typename Float, typename Words>
Loop nearest_loop(Type target, bool by_halves) {
    if (target.bits == 16) {
        return is_signed(target) ? machine_few<Float, u16, Words, ToSigned>
                                 : machine_few<Float, u16, Words, ToUnsigned16>;
    }
    if (is_signed(target)) return machine_few<Float, u8, Words, ToSigned>;
    return by_halves ? machine_few<Float, u8, Words, ToUnsigned16>
                     : machine_few<Float, u8, Words, ToUnsigned8>;
}

template <typename Float>
Loop few_loop_of(const Limits &limit, Type source, const Work &work) {
    const Type target = work.target;
    const bool is_short = target.bits == 16, whole = target.bits >= 8;
    const bool to_signed = is_signed(target);
    // 1. The nearest end. By packing a 16-bit integer without sign is one from its upper half on.
    if (same_limits(limit, saturating(target.bits, to_signed))) {
        return whole ? nearest_loop<Float, SaturatingAbove>(target, false)
                     : low_loop<Float, Saturating>(is_short);
    }
    const bool by_halves = limit.near == 0x7fff;
    if (whole && limit.near != 0 && same_limits(limit, packed(target.bits, to_signed, by_halves))) {
        return nearest_loop<Float, AsMachine>(target, by_halves);
    }
    // 2. Low bits. Of a float with few bits itself they are 0 from 2^31 on.
    if (same_limits(limit, saturating(32, true))) return low_loop<Float, LowSaturated>(is_short);
    const bool few = sizeof(Float) == 4 && 31 - source.format.mantissa >= target.bits;
    if (same_limits(limit, saturating(64, true))) {
        return few ? low_loop<Float, LowSaturated>(is_short)
                   : low_loop<Float, LowOfLong<true>>(is_short);
    }
    // (The lowest int64 has none of them.)
    const bool lowest = same_limits(limit, indefinite(64)) && !few;
    return lowest ? low_loop<Float, LowOfLong<false>>(is_short) : nullptr;
}

}  // namespace
#endif

Loop few_loop(bool is_double, const Limits &limit, Type source, const Work &work) {
#ifdef __AVX2__
    if (work.target.bits <= 16) {
        return is_double ? few_loop_of<f64>(limit, source, work)
                         : few_loop_of<f32>(limit, source, work);
    }
#endif
    (void)is_double;
    (void)limit;
    (void)source;
    (void)work;
    return nullptr;
}

Loop machine_loop(bool is_double, const Limits &limit, Work &work) {
    return is_double ? machine_loop_of<f64>(limit, work) : machine_loop_of<f32>(limit, work);
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
