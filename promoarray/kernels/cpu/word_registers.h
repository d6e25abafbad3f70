// The registers of words.cpp and word_ways.h: floats, words of 32 bits that they become, and how those are packed. They
// are those of SSE2, of AVX2 or of AVX-512; half as many words come of as many doubles.
#pragma once

#include "loop.h"

#ifdef __SSE2__

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

template <typename Float>
constexpr bool is_double = sizeof(Float) == sizeof(f64);
template <typename Float>
constexpr bool is_half = false;
#ifdef __F16C__
template <> constexpr bool is_half<StoredAs<Half>> = true;
#endif

#ifdef __AVX512DQ__
using Singles = __m512;
using Doubles = __m512d;
using Words = __m512i;
using HalfWords = __m256i;

PROMOARRAY_CAST Singles load(const f32 *x) { return _mm512_loadu_ps(x); }
PROMOARRAY_CAST Doubles load(const f64 *x) { return _mm512_loadu_pd(x); }
PROMOARRAY_CAST Singles load(const StoredAs<Half> *x) {
    return _mm512_cvtph_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i *>(x)));
}
PROMOARRAY_CAST Singles load(const StoredAs<Bfloat> *x) {
    const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(x));
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(codes), 16));
}
PROMOARRAY_CAST Singles at_most(f32 end, Singles x) {
    return _mm512_min_ps(_mm512_set1_ps(end), x);
}
PROMOARRAY_CAST Doubles at_most(f64 end, Doubles x) {
    return _mm512_min_pd(_mm512_set1_pd(end), x);
}
PROMOARRAY_CAST Singles at_least(f32 end, Singles x) {
    return _mm512_max_ps(_mm512_set1_ps(end), x);
}
PROMOARRAY_CAST Doubles at_least(f64 end, Doubles x) {
    return _mm512_max_pd(_mm512_set1_pd(end), x);
}
PROMOARRAY_CAST Singles with_sign(f32 magnitude, Singles sign) {
    return _mm512_or_ps(_mm512_and_ps(sign, _mm512_set1_ps(-0.0f)), _mm512_set1_ps(magnitude));
}
PROMOARRAY_CAST Doubles with_sign(f64 magnitude, Doubles sign) {
    return _mm512_or_pd(_mm512_and_pd(sign, _mm512_set1_pd(-0.0)), _mm512_set1_pd(magnitude));
}
PROMOARRAY_CAST Words words_of(Singles x) { return _mm512_cvttps_epi32(x); }
PROMOARRAY_CAST HalfWords words_of(Doubles x) { return _mm512_cvttpd_epi32(x); }
PROMOARRAY_CAST Words joined(HalfWords low, HalfWords high) {
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}
PROMOARRAY_CAST __mmask16 reaches(Singles x, f32 end) {
    return _mm512_cmp_ps_mask(x, _mm512_set1_ps(end), _CMP_GE_OQ);
}
PROMOARRAY_CAST __mmask8 reaches(Doubles x, f64 end) {
    return _mm512_cmp_pd_mask(x, _mm512_set1_pd(end), _CMP_GE_OQ);
}
PROMOARRAY_CAST Words or_code(Words words, __mmask16 there, int code) {
    return _mm512_mask_mov_epi32(words, there, _mm512_set1_epi32(code));
}
PROMOARRAY_CAST Words or_all(Words words, __mmask16 there) { return or_code(words, there, -1); }
PROMOARRAY_CAST HalfWords or_all(HalfWords words, __mmask8 there) {
    return _mm256_mask_mov_epi32(words, there, _mm256_set1_epi32(-1));
}
// The words of `x`, and 0 where it is NaN.
PROMOARRAY_CAST Words words_or_zero(Singles x) {
    return _mm512_maskz_cvttps_epi32(_mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x);
}
PROMOARRAY_CAST HalfWords words_or_zero(Doubles x) {
    return _mm512_maskz_cvttpd_epi32(_mm512_cmp_pd_mask(x, x, _CMP_ORD_Q), x);
}
// A number in place of NaN.
PROMOARRAY_CAST Doubles or_number(Doubles x, f64 number) {
    return _mm512_mask_mov_pd(_mm512_set1_pd(number), _mm512_cmp_pd_mask(x, x, _CMP_ORD_Q), x);
}
PROMOARRAY_CAST Words all_words(u32 word) { return _mm512_set1_epi32((int)word); }
#elif defined(__AVX2__)
using Singles = __m256;
using Doubles = __m256d;
using Words = __m256i;
using HalfWords = __m128i;

PROMOARRAY_CAST Singles load(const f32 *x) { return _mm256_loadu_ps(x); }
PROMOARRAY_CAST Doubles load(const f64 *x) { return _mm256_loadu_pd(x); }
template <typename Format>
PROMOARRAY_CAST Singles load(const StoredAs<Format> *x) {
    return Format::read(_mm_loadu_si128(reinterpret_cast<const __m128i *>(x)));
}
PROMOARRAY_CAST Singles at_most(f32 end, Singles x) {
    return _mm256_min_ps(_mm256_set1_ps(end), x);
}
PROMOARRAY_CAST Doubles at_most(f64 end, Doubles x) {
    return _mm256_min_pd(_mm256_set1_pd(end), x);
}
PROMOARRAY_CAST Singles at_least(f32 end, Singles x) {
    return _mm256_max_ps(_mm256_set1_ps(end), x);
}
PROMOARRAY_CAST Doubles at_least(f64 end, Doubles x) {
    return _mm256_max_pd(_mm256_set1_pd(end), x);
}
PROMOARRAY_CAST Singles at_least_zero(Singles x) {  // and 0 for NaN
    return _mm256_max_ps(x, _mm256_setzero_ps());
}
PROMOARRAY_CAST Singles with_sign(f32 magnitude, Singles sign) {
    return _mm256_or_ps(_mm256_and_ps(sign, _mm256_set1_ps(-0.0f)), _mm256_set1_ps(magnitude));
}
PROMOARRAY_CAST Doubles with_sign(f64 magnitude, Doubles sign) {
    return _mm256_or_pd(_mm256_and_pd(sign, _mm256_set1_pd(-0.0)), _mm256_set1_pd(magnitude));
}
PROMOARRAY_CAST Words words_of(Singles x) { return _mm256_cvttps_epi32(x); }
PROMOARRAY_CAST HalfWords words_of(Doubles x) { return _mm256_cvttpd_epi32(x); }
PROMOARRAY_CAST Words joined(HalfWords low, HalfWords high) { return _mm256_set_m128i(high, low); }
PROMOARRAY_CAST __m256 reaches(Singles x, f32 end) {
    return _mm256_cmp_ps(x, _mm256_set1_ps(end), _CMP_GE_OQ);
}
PROMOARRAY_CAST Words or_code(Words words, __m256 there, int code) {
    const __m256i codes = _mm256_set1_epi32(code);
    return _mm256_blendv_epi8(words, codes, _mm256_castps_si256(there));
}
PROMOARRAY_CAST Words or_all(Words words, __m256 there) {
    return _mm256_or_si256(words, _mm256_castps_si256(there));
}
PROMOARRAY_CAST Words words_or_zero(Singles x) {
    return words_of(_mm256_and_ps(x, _mm256_cmp_ps(x, x, _CMP_ORD_Q)));
}
PROMOARRAY_CAST HalfWords words_or_zero(Doubles x) {
    return words_of(_mm256_and_pd(x, _mm256_cmp_pd(x, x, _CMP_ORD_Q)));
}
PROMOARRAY_CAST Doubles or_number(Doubles x, f64 number) {
    return _mm256_blendv_pd(_mm256_set1_pd(number), x, _mm256_cmp_pd(x, x, _CMP_ORD_Q));
}
// Packing goes on in each half of a register by itself, so the quarters are put in order at last.
PROMOARRAY_CAST Words unsigned_pairs(Words a, Words b) { return _mm256_packus_epi32(a, b); }
PROMOARRAY_CAST Words signed_pairs(Words a, Words b) { return _mm256_packs_epi32(a, b); }
PROMOARRAY_CAST Words unsigned_bytes(Words a, Words b) { return _mm256_packus_epi16(a, b); }
PROMOARRAY_CAST Words signed_bytes(Words a, Words b) { return _mm256_packs_epi16(a, b); }
PROMOARRAY_CAST Words in_order(Words pairs) { return _mm256_permute4x64_epi64(pairs, 0xd8); }
PROMOARRAY_CAST Words bytes_in_order(Words bytes) {
    return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}
PROMOARRAY_CAST Words masked(Words words, Words mask) { return _mm256_and_si256(words, mask); }
PROMOARRAY_CAST Words all_words(u32 word) { return _mm256_set1_epi32((int)word); }
#else
using Singles = __m128;
using Doubles = __m128d;
using Words = __m128i;
using HalfWords = __m128i;  // its lower half

PROMOARRAY_CAST Singles load(const f32 *x) { return _mm_loadu_ps(x); }
PROMOARRAY_CAST Doubles load(const f64 *x) { return _mm_loadu_pd(x); }
PROMOARRAY_CAST Singles at_most(f32 end, Singles x) { return _mm_min_ps(_mm_set1_ps(end), x); }
PROMOARRAY_CAST Doubles at_most(f64 end, Doubles x) { return _mm_min_pd(_mm_set1_pd(end), x); }
PROMOARRAY_CAST Singles at_least(f32 end, Singles x) { return _mm_max_ps(_mm_set1_ps(end), x); }
PROMOARRAY_CAST Doubles at_least(f64 end, Doubles x) { return _mm_max_pd(_mm_set1_pd(end), x); }
PROMOARRAY_CAST Singles at_least_zero(Singles x) {  // and 0 for NaN
    return _mm_max_ps(x, _mm_setzero_ps());
}
PROMOARRAY_CAST Singles with_sign(f32 magnitude, Singles sign) {
    return _mm_or_ps(_mm_and_ps(sign, _mm_set1_ps(-0.0f)), _mm_set1_ps(magnitude));
}
PROMOARRAY_CAST Doubles with_sign(f64 magnitude, Doubles sign) {
    return _mm_or_pd(_mm_and_pd(sign, _mm_set1_pd(-0.0)), _mm_set1_pd(magnitude));
}
PROMOARRAY_CAST Words words_of(Singles x) { return _mm_cvttps_epi32(x); }
PROMOARRAY_CAST HalfWords words_of(Doubles x) { return _mm_cvttpd_epi32(x); }
PROMOARRAY_CAST Words joined(HalfWords low, HalfWords high) {
    return _mm_unpacklo_epi64(low, high);
}
PROMOARRAY_CAST __m128 reaches(Singles x, f32 end) { return _mm_cmpge_ps(x, _mm_set1_ps(end)); }
PROMOARRAY_CAST Words or_code(Words words, __m128 there, int code) {
    const __m128i at = _mm_castps_si128(there);
    return _mm_or_si128(_mm_and_si128(at, _mm_set1_epi32(code)), _mm_andnot_si128(at, words));
}
PROMOARRAY_CAST Words or_all(Words words, __m128 there) {
    return _mm_or_si128(words, _mm_castps_si128(there));
}
PROMOARRAY_CAST Words words_or_zero(Singles x) {
    return words_of(_mm_and_ps(x, _mm_cmpord_ps(x, x)));
}
PROMOARRAY_CAST HalfWords words_or_zero(Doubles x) {
    return words_of(_mm_and_pd(x, _mm_cmpord_pd(x, x)));
}
PROMOARRAY_CAST Doubles or_number(Doubles x, f64 number) {
    const __m128d there = _mm_cmpord_pd(x, x);
    return _mm_or_pd(_mm_and_pd(there, x), _mm_andnot_pd(there, _mm_set1_pd(number)));
}
// (Numbers without a sign, less 2^15, are packed as signed ones.)
PROMOARRAY_CAST Words above_lowest(Words words) {
    const Words positive = _mm_andnot_si128(_mm_srai_epi32(words, 31), words);
    return _mm_sub_epi32(positive, _mm_set1_epi32(0x8000));
}
PROMOARRAY_CAST Words unsigned_pairs(Words a, Words b) {
    const Words pairs = _mm_packs_epi32(above_lowest(a), above_lowest(b));
    return _mm_xor_si128(pairs, _mm_set1_epi16((short)0x8000));
}
PROMOARRAY_CAST Words signed_pairs(Words a, Words b) { return _mm_packs_epi32(a, b); }
PROMOARRAY_CAST Words unsigned_bytes(Words a, Words b) { return _mm_packus_epi16(a, b); }
PROMOARRAY_CAST Words signed_bytes(Words a, Words b) { return _mm_packs_epi16(a, b); }
PROMOARRAY_CAST Words in_order(Words pairs) { return pairs; }
PROMOARRAY_CAST Words bytes_in_order(Words bytes) { return bytes; }
PROMOARRAY_CAST Words masked(Words words, Words mask) { return _mm_and_si128(words, mask); }
PROMOARRAY_CAST Words all_words(u32 word) { return _mm_set1_epi32((int)word); }
#endif

constexpr std::size_t most_words = sizeof(Words) / sizeof(u32);

}  // namespace
}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray

#endif
