// Casts to float16 and bfloat16 in registers, sixteen numbers at a time, under modes by which what is
// beyond the largest number becomes Inf, as it does by rounding. NaN keeps its sign where `kept` has
// that bit, and no payload, as in cast.h.
#include <type_traits>

#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {

#ifdef __F16C__
namespace {

struct HalfCode { u16 code; };
struct BfloatCode { u16 code; };

// 13 bits of a float64, the last of them set if any below it was ("to odd"), as in floats.cpp.
constexpr i64 below_odd = (1ll << (Float64::mantissa - 12)) - 1;

PROMOARRAY_CAST __m128i eight_words(const void *x) {
    return _mm_loadu_si128(static_cast<const __m128i *>(x));
}

#ifdef __AVX512BW__
using Sixteen = __m512;

PROMOARRAY_CAST __m256 eight_of(const f64 *x) {
    const __m512i below = _mm512_set1_epi64(below_odd), bits = _mm512_loadu_si512(x);
    const __m512i carry = _mm512_add_epi64(_mm512_and_si512(bits, below), below);
    const __m512i odd = _mm512_andnot_si512(below, _mm512_or_si512(bits, carry));
    return _mm512_cvtpd_ps(_mm512_castsi512_pd(odd));
}
PROMOARRAY_CAST __m256i sixteen_words(const void *x) {
    return _mm256_loadu_si256(static_cast<const __m256i *>(x));
}
PROMOARRAY_CAST Sixteen sixteen_of(const f32 *x) { return _mm512_loadu_ps(x); }
PROMOARRAY_CAST Sixteen sixteen_of(const f64 *x) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(eight_of(x)), eight_of(x + 8), 1);
}
PROMOARRAY_CAST Sixteen sixteen_of(const HalfCode *x) {
    return _mm512_cvtph_ps(sixteen_words(x));
}
PROMOARRAY_CAST Sixteen sixteen_of(const BfloatCode *x) {
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(sixteen_words(x)), 16));
}
PROMOARRAY_CAST Sixteen sixteen_of(const i16 *x) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(sixteen_words(x)));
}
PROMOARRAY_CAST Sixteen sixteen_of(const u16 *x) {
    return _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(sixteen_words(x)));
}
PROMOARRAY_CAST Sixteen sixteen_of(const i8 *x) {
    return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(eight_words(x)));
}
PROMOARRAY_CAST Sixteen sixteen_of(const u8 *x) {
    return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(eight_words(x)));
}

struct ToHalf {
    static PROMOARRAY_CAST __m256i numbers(Sixteen x) {
        return _mm512_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT);
    }
    static PROMOARRAY_CAST __m256i codes(Sixteen x, __m256i kept) {
        const __m256i code = numbers(x), quiet = _mm256_set1_epi16(0x7e00);
        const __m256i magnitude = _mm256_and_si256(code, _mm256_set1_epi16(0x7fff));
        const __mmask16 is_nan = _mm256_cmpgt_epi16_mask(magnitude, _mm256_set1_epi16(0x7c00));
        const __m256i nan = _mm256_or_si256(quiet, _mm256_and_si256(code, kept));
        return _mm256_mask_mov_epi16(code, is_nan, nan);
    }
};

struct ToBfloat {
    static PROMOARRAY_CAST __m512i rounded(Sixteen x) {
        const __m512i bits = _mm512_castps_si512(x);
        const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
        const __m512i sum = _mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff));
        return _mm512_srli_epi32(_mm512_add_epi32(sum, odd), 16);
    }
    static PROMOARRAY_CAST __m256i numbers(Sixteen x) {
        return _mm512_cvtepi32_epi16(rounded(x));
    }
    static PROMOARRAY_CAST __m256i codes(Sixteen x, __m256i kept) {
        const __m512i upper = _mm512_srli_epi32(_mm512_castps_si512(x), 16);
        const __m512i sign = _mm512_and_si512(upper, _mm512_cvtepu16_epi32(kept));
        const __m512i nan = _mm512_or_si512(sign, _mm512_set1_epi32(0x7fc0));
        const __mmask16 is_nan = _mm512_cmp_ps_mask(x, x, _CMP_UNORD_Q);
        return _mm512_cvtepi32_epi16(_mm512_mask_mov_epi32(rounded(x), is_nan, nan));
    }
};
#else
struct Sixteen { __m256 low, high; };

PROMOARRAY_CAST __m256 eight_of(const f32 *x) { return _mm256_loadu_ps(x); }
PROMOARRAY_CAST __m128 four_of(const f64 *x) {
    const __m256i below = _mm256_set1_epi64x(below_odd);
    const __m256i bits = _mm256_castpd_si256(_mm256_loadu_pd(x));
    const __m256i carry = _mm256_add_epi64(_mm256_and_si256(bits, below), below);
    const __m256i odd = _mm256_andnot_si256(below, _mm256_or_si256(bits, carry));
    return _mm256_cvtpd_ps(_mm256_castsi256_pd(odd));
}
PROMOARRAY_CAST __m256 eight_of(const f64 *x) {
    return _mm256_set_m128(four_of(x + 4), four_of(x));
}
PROMOARRAY_CAST __m256 eight_of(const HalfCode *x) { return Half::read(eight_words(x)); }
PROMOARRAY_CAST __m256 eight_of(const BfloatCode *x) { return Bfloat::read(eight_words(x)); }
PROMOARRAY_CAST __m256 eight_of(const i16 *x) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(eight_words(x)));
}
PROMOARRAY_CAST __m256 eight_of(const u16 *x) {
    return _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(eight_words(x)));
}
PROMOARRAY_CAST __m128i eight_bytes(const void *x) {
    return _mm_loadl_epi64(static_cast<const __m128i *>(x));
}
PROMOARRAY_CAST __m256 eight_of(const i8 *x) {
    return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(eight_bytes(x)));
}
PROMOARRAY_CAST __m256 eight_of(const u8 *x) {
    return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(eight_bytes(x)));
}
template <typename Source>
PROMOARRAY_CAST Sixteen sixteen_of(const Source *x) { return {eight_of(x), eight_of(x + 8)}; }

struct ToHalf {
    static PROMOARRAY_CAST __m256i numbers(Sixteen x) {
        return _mm256_set_m128i(_mm256_cvtps_ph(x.high, _MM_FROUND_TO_NEAREST_INT),
                                _mm256_cvtps_ph(x.low, _MM_FROUND_TO_NEAREST_INT));
    }
    static PROMOARRAY_CAST __m256i codes(Sixteen x, __m256i kept) {
        return Half::write(x.low, x.high, kept);
    }
};

struct ToBfloat {
    static PROMOARRAY_CAST __m256i rounded(__m256 x) {
        const __m256i bits = _mm256_castps_si256(x);
        const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
        const __m256i sum = _mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff));
        return _mm256_srli_epi32(_mm256_add_epi32(sum, odd), 16);
    }
    // Packing goes on in each half of a register by itself.
    static PROMOARRAY_CAST __m256i numbers(Sixteen x) {
        const __m256i packed = _mm256_packus_epi32(rounded(x.low), rounded(x.high));
        return _mm256_permute4x64_epi64(packed, 0xd8);
    }
    static PROMOARRAY_CAST __m256i codes(Sixteen x, __m256i kept) {
        return Bfloat::write(x.low, x.high, kept);
    }
};
#endif

template <typename Source, typename Short>
void to_short(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Source *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<u16 *>(target);
    const __m256i kept = _mm256_set1_epi16((short)(work.edge.nan_sign << 15));
    const auto codes_at = [kept](const Source *x) {
        const Sixteen numbers = sixteen_of(x);
        return std::is_integral<Source>::value ? Short::numbers(numbers)
                                               : Short::codes(numbers, kept);
    };
    std::size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(dst + i), codes_at(src + i));
    }
    Source rest[16] = {};
    std::memcpy(rest, src + i, (n - i) * sizeof(Source));
    const __m256i codes = codes_at(rest);
    std::memcpy(dst + i, &codes, (n - i) * sizeof(u16));
}

// A code is cast to the other format alone.
template <typename Short, typename OtherCode>
Loop short_loop_to(Type source, bool from_other) {
    if (is_float32(source)) return to_short<f32, Short>;
    if (is_float64(source)) return to_short<f64, Short>;
    if (from_other) return to_short<OtherCode, Short>;
    if (!is_integer(source)) return nullptr;
    if (source.bits == 16) return is_signed(source) ? to_short<i16, Short> : to_short<u16, Short>;
    if (source.bits != 8 || source.kind == Kind::boolean) return nullptr;
    return is_signed(source) ? to_short<i8, Short> : to_short<u8, Short>;
}

}  // namespace

Loop short_loop(Type source, Type target) {
    if (is_float16(target)) return short_loop_to<ToHalf, BfloatCode>(source, is_bfloat16(source));
    return is_bfloat16(target) ? short_loop_to<ToBfloat, HalfCode>(source, is_float16(source))
                               : nullptr;
}
#else
Loop short_loop(Type, Type) { return nullptr; }
#endif

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
