// Ways from floats to words of 32 bits, each written once for all registers, by what a mode says of numbers
// that no word holds.
#pragma once

#include <type_traits>

#include "word_registers.h"

#ifdef __SSE2__

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

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

// The same, but the highest bit for NaN.
struct SignedWordsOrHighest {
    explicit SignedWordsOrHighest(const Work &) {}
    PROMOARRAY_CAST HalfWords of(Doubles x) const { return words_of(at_most(0x1p31 - 1, x)); }
};
struct UnsignedWordsOrHighest : UnsignedWords {
    using UnsignedWords::UnsignedWords;
    PROMOARRAY_CAST HalfWords of(Doubles x) const { return UnsignedWords::of(or_number(x, 0x1p31)); }
};

}  // namespace
}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray

#endif
