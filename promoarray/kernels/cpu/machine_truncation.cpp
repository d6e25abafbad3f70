// Truncation to integers of 32 and 64 bits by x86's own conversions, where a mode wants what they
// give for all that an integer cannot hold: nothing is asked of a number. The language leaves that
// undefined, so the instruction is named.
#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

#ifdef __SSE2__
// As by halves, but the lowest signed number stands for what is beyond.
Limits lowest_beyond(int bits) {
    Limits found = indefinite_halves(bits);
    found.above = found.infinite_above = 1ull << (bits - 1);
    return found;
}

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

template <typename Format>
PROMOARRAY_CAST __m256i words_of(const StoredAs<Format> *x) {
    const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(x));
    return _mm256_cvttps_epi32(Format::read(codes));
}
PROMOARRAY_CAST u32 low_word(StoredAs<Bfloat> x) { return low_word(as_float((u32)x.bits << 16)); }
PROMOARRAY_CAST u32 low_word(StoredAs<Half> x) { return low_word(as_float(decode_half(x.bits))); }
#else
using Integers = __m128i;
PROMOARRAY_CAST __m128i words_of(const f32 *x) { return _mm_cvttps_epi32(_mm_loadu_ps(x)); }
PROMOARRAY_CAST __m128i words_of(const f64 *x) {
    const __m128i low = _mm_cvttpd_epi32(_mm_loadu_pd(x));
    return _mm_unpacklo_epi64(low, _mm_cvttpd_epi32(_mm_loadu_pd(x + 2)));
}
template <bool once>
PROMOARRAY_CAST __m128i halves_of(const f32 *at) {
    const __m128 half = _mm_set1_ps(0x1p31f), x = _mm_loadu_ps(at);
    const __m128 upper = _mm_cmpge_ps(x, half), inside = _mm_cmplt_ps(x, _mm_set1_ps(0x1p32f));
    const __m128i words = _mm_cvttps_epi32(_mm_sub_ps(x, _mm_and_ps(upper, half)));
    const __m128 again = once ? _mm_and_ps(upper, inside) : upper;
    return _mm_xor_si128(words, _mm_slli_epi32(_mm_castps_si128(again), 31));
}
template <bool once>
PROMOARRAY_CAST __m128i halves_of_two(const f64 *at) {
    const __m128d half = _mm_set1_pd(0x1p31), x = _mm_loadu_pd(at);
    const __m128d upper = _mm_cmpge_pd(x, half), inside = _mm_cmplt_pd(x, _mm_set1_pd(0x1p32));
    const __m128i words = _mm_cvttpd_epi32(_mm_sub_pd(x, _mm_and_pd(upper, half)));
    const __m128d again = once ? _mm_and_pd(upper, inside) : upper;
    const __m128i is_again = _mm_shuffle_epi32(_mm_castpd_si128(again), 0x08);
    return _mm_xor_si128(words, _mm_slli_epi32(is_again, 31));
}
template <bool once>
PROMOARRAY_CAST __m128i halves_of(const f64 *x) {
    return _mm_unpacklo_epi64(halves_of_two<once>(x), halves_of_two<once>(x + 2));
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

template <typename Float, bool once = false>
void machine_word_halves(const void *source, void *target, std::size_t n, const Work &) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Float *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<u32 *>(target);
    constexpr std::size_t step = sizeof(Integers) / sizeof(u32);
    std::size_t i = 0;
    for (; i + step <= n; i += step) {
        const Integers words = halves_of<once>(src + i);
        std::memcpy(dst + i, &words, sizeof words);
    }
    for (; i < n; ++i) dst[i] = low_half<once>(src[i]);
}

// --- 64 bits ------------------------------------------------------------------------------------
// A way is said for one number, and where the machine has them for eight at once. What it does within
// 2^51 is `entered` alone, and then what every other does.

constexpr u64 upper_half = 1ull << 63;
#ifdef __AVX512DQ__
PROMOARRAY_CAST __m256 eight_of(const f32 *x) { return _mm256_loadu_ps(x); }
PROMOARRAY_CAST __m512d eight_of(const f64 *x) { return _mm512_loadu_pd(x); }
PROMOARRAY_CAST __mmask8 reaches(__m256 x, f32 end) {
    return _mm256_cmp_ps_mask(x, _mm256_set1_ps(end), _CMP_GE_OQ);
}
PROMOARRAY_CAST __mmask8 reaches(__m512d x, f64 end) {
    return _mm512_cmp_pd_mask(x, _mm512_set1_pd(end), _CMP_GE_OQ);
}
PROMOARRAY_CAST __mmask8 ordered(__m256 x) { return _mm256_cmp_ps_mask(x, x, _CMP_ORD_Q); }
PROMOARRAY_CAST __mmask8 ordered(__m512d x) { return _mm512_cmp_pd_mask(x, x, _CMP_ORD_Q); }
PROMOARRAY_CAST __m256 less_where(__mmask8 so, __m256 x, f32 by) {
    return _mm256_mask_sub_ps(x, so, x, _mm256_set1_ps(by));
}
PROMOARRAY_CAST __m512d less_where(__mmask8 so, __m512d x, f64 by) {
    return _mm512_mask_sub_pd(x, so, x, _mm512_set1_pd(by));
}
PROMOARRAY_CAST __m512i long_words(__mmask8 so, __m256 x) {
    return _mm512_maskz_cvttps_epi64(so, x);
}
PROMOARRAY_CAST __m512i long_words(__mmask8 so, __m512d x) {
    return _mm512_maskz_cvttpd_epi64(so, x);
}
PROMOARRAY_CAST __m512i unsigned_words(__mmask8 so, __m256 x) {
    return _mm512_maskz_cvttps_epu64(so, x);
}
PROMOARRAY_CAST __m512i unsigned_words(__mmask8 so, __m512d x) {
    return _mm512_maskz_cvttpd_epu64(so, x);
}
#endif

struct AsMachine {
    template <typename Float>
    static PROMOARRAY_CAST u64 one(Float x) { return long_word(x); }
#ifdef __AVX512DQ__
    template <typename Register>
    static PROMOARRAY_CAST __m512i eight(Register x) { return long_words(0xff, x); }
#elif defined(__AVX2__)
    static PROMOARRAY_CAST __m256d entered(__m256d x) { return x; }
#endif
};

// Without a sign; with `once` the start of the upper half is left of what is beyond.
template <bool once>
struct ByHalves : AsMachine {
    template <typename Float>
    static PROMOARRAY_CAST u64 one(Float x) {
        // A branch, as compilers have it: two conversions of each number take longer.
        if (__builtin_expect(!(x >= (Float)0x1p63f), 1)) return long_word(x);
        return long_word(x - (Float)0x1p63f) ^ (once && x >= (Float)0x1p64f ? 0 : upper_half);
    }
#ifdef __AVX512DQ__
    template <typename Register>
    static PROMOARRAY_CAST __m512i eight(Register x) {
        const __mmask8 upper = reaches(x, 0x1p63f), beyond = once ? reaches(x, 0x1p64f) : 0;
        const __m512i words = long_words(0xff, less_where(upper, x, 0x1p63f));
        const __m512i half = _mm512_set1_epi64((i64)upper_half);
        return _mm512_mask_xor_epi64(words, (__mmask8)(upper & ~beyond), words, half);
    }
#endif
};

// The nearest end, and 0 or the highest bit for NaN.
template <u64 nan>
struct NearestSigned : AsMachine {
    template <typename Float>
    static PROMOARRAY_CAST u64 one(Float x) {
        if (__builtin_expect(x >= (Float)0x1p63f, 0)) return ~upper_half;
        return nan != 0 || x == x ? long_word(x) : 0;  // the machine's is the highest bit
    }
#ifdef __AVX512DQ__
    template <typename Register>
    static PROMOARRAY_CAST __m512i eight(Register x) {
        const __m512i words = long_words(nan != 0 ? 0xff : ordered(x), x);
        const __m512i last = _mm512_set1_epi64((i64)~upper_half);
        return _mm512_mask_mov_epi64(words, reaches(x, 0x1p63f), last);
    }
#endif
};
// (By an instruction, as compilers would branch on the sign.)
PROMOARRAY_CAST f32 positive(f32 x) {
    return _mm_cvtss_f32(_mm_max_ss(_mm_set_ss(x), _mm_setzero_ps()));
}
PROMOARRAY_CAST f64 positive(f64 x) {
    return _mm_cvtsd_f64(_mm_max_sd(_mm_set_sd(x), _mm_setzero_pd()));
}
template <u64 nan>
struct NearestUnsigned {
    template <typename Float>
    static PROMOARRAY_CAST u64 one(Float x) {
        if (nan != 0 && __builtin_expect(x != x, 0)) return nan;
        const Float above = positive(x);
        return __builtin_expect(above >= (Float)0x1p64f, 0) ? ~0ull : ByHalves<false>::one(above);
    }
#ifdef __AVX512DQ__
    template <typename Register>
    static PROMOARRAY_CAST __m512i eight(Register x) {
        const __m512i words = unsigned_words(reaches(x, 0), x);
        if (nan == 0) return words;
        return _mm512_mask_mov_epi64(_mm512_set1_epi64((i64)nan), ordered(x), words);
    }
#elif defined(__AVX2__)
    static PROMOARRAY_CAST __m256d entered(__m256d x) {
        return _mm256_max_pd(_mm256_setzero_pd(), x);  // NaN stays
    }
#endif
};

#if defined(__AVX2__) && !defined(__AVX512DQ__)
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

// Of a target of 32 bits the low ones.
template <typename Way, typename Float, typename Target>
void by_long_words(const void *source, void *target, std::size_t n, const Work &) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Float *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<Target *>(target);
    std::size_t i = 0;
    if constexpr (sizeof(Target) == sizeof(u64)) {
#ifdef __AVX512DQ__
        for (; i + 8 <= n; i += 8) {
            _mm512_storeu_si512(dst + i, Way::eight(eight_of(src + i)));
        }
#elif defined(__AVX2__)
        for (; i + 4 <= n; i += 4) {
            if (four_long_words(Way::entered(four_of(src + i)), dst + i)) continue;
            for (std::size_t k = i; k < i + 4; ++k) dst[k] = Way::one(src[k]);
        }
#endif
    }
    for (; i < n; ++i) dst[i] = (Target)Way::one(src[i]);
}

template <u64 nan, typename Float>
Loop nearest_long_loop_of(Limits limit) {
    limit.nan = 0;
    if (same_limits(limit, saturating(64, true))) return by_long_words<NearestSigned<nan>, Float, u64>;
    return same_limits(limit, saturating(64, false)) ? by_long_words<NearestUnsigned<nan>, Float, u64>
                                                     : nullptr;
}

template <typename Float>
Loop long_loop_of(const Limits &limit) {
    if (same_limits(limit, indefinite(64))) return by_long_words<AsMachine, Float, u64>;
    if (same_limits(limit, indefinite_halves(64))) {
        return by_long_words<ByHalves<false>, Float, u64>;
    }
    if (same_limits(limit, lowest_beyond(64))) return by_long_words<ByHalves<true>, Float, u64>;
    if (limit.nan == 0) return nearest_long_loop_of<0, Float>(limit);
    return limit.nan == upper_half ? nearest_long_loop_of<upper_half, Float>(limit) : nullptr;
}
#endif

// The machine's own instruction, where it gives what the mode asks for.
template <typename Float>
Loop machine_loop_of(const Limits &limit, Type source, Work &work) {
    (void)source;
    (void)limit;
    (void)work;
#ifdef __SSE2__
    const Type target = work.target, words = {Kind::unsigned_integer, 32, {}};
    if (same_limits(limit, indefinite(32))) {
        const Loop first = machine_words<Float>;
        if (target.bits == 32) return first;
        return chain(work, first, integer_loop(words, target));
    }
    if (target.bits == 32 && same_limits(limit, indefinite_halves(32))) {
        return machine_word_halves<Float>;
    }
    if (target.bits == 32 && same_limits(limit, lowest_beyond(32))) {
        return machine_word_halves<Float, true>;
    }
    if (target.bits == 32) {
        if (const Loop found = word_loop(limit, sizeof(Float) == 8 ? source : float32_type())) {
            return found;
        }
        if (same_limits(limit, indefinite(64))) return by_long_words<AsMachine, Float, u32>;
        if (same_limits(limit, saturating(64, true))) return by_long_words<NearestSigned<0>, Float, u32>;
    }
    if (target.bits == 64) return long_loop_of<Float>(limit);
#endif
    return nullptr;
}

}  // namespace

Loop short_machine_loop(const Limits &limit, Type source, Type target) {
    (void)limit;
    (void)source;
    (void)target;
#ifdef __AVX2__
    if (target.bits == 32 && same_limits(limit, indefinite(32))) {
        if (is_bfloat16(source)) return machine_words<StoredAs<Bfloat>>;
        if (is_float16(source)) return machine_words<StoredAs<Half>>;
    }
#endif
    return nullptr;
}

Loop machine_loop(bool is_double, const Limits &limit, Type source, Work &work) {
    return is_double ? machine_loop_of<f64>(limit, source, work)
                     : machine_loop_of<f32>(limit, source, work);
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
