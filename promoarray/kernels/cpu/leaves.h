// Four leaves of a sum at once, two in a register of 512 bits: each is added up in eight sums, and
// these two by two, as NumPy does it.
#pragma once

#include "fold_source.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {

constexpr size_t AHEAD = 1024;  // elements

// Have memory brought that is read soon: four places that are read in turn are not what a machine
// takes for a walk through memory, unless they lie near each other.
template <typename Stored> PROMOARRAY_CAST void ask_for(const Stored *x, size_t n) {
#ifdef __SSE2__
    if (sizeof(Stored) < 4) return;
    for (size_t k = 0; k < n; k += 64 / sizeof(Stored))
        _mm_prefetch(reinterpret_cast<const char *>(x + k), _MM_HINT_T0);
#else
    (void)x, (void)n;
#endif
}

#ifdef __AVX512BW__

// Eight elements of two leaves each, or none.
constexpr u32 of_first = 0x00ff, of_second = 0xff00, of_both = 0xffff;

PROMOARRAY_CAST __m256i codes_of_two(const u16 *x, const u16 *y, u32 there) {
    const __m128i first = _mm_maskz_loadu_epi16((__mmask8)there, x);
    const __m128i second = _mm_maskz_loadu_epi16((__mmask8)(there >> 8), y);
    return _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
}
PROMOARRAY_CAST __m512 of_two(const u16 *x, const u16 *y, u32 there, OfBfloat) {
    const __m512i words = _mm512_maskz_cvtepu16_epi32(of_both, codes_of_two(x, y, there));
    return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(of_both, words, 16));
}
PROMOARRAY_CAST __m512 of_two(const u16 *x, const u16 *y, u32 there, OfHalf) {
    return _mm512_maskz_cvtph_ps(of_both, codes_of_two(x, y, there));
}
PROMOARRAY_CAST __m512 of_two(const f32 *x, const f32 *y, u32 there, As<f32, f32>) {
    const __m512 first = _mm512_castps256_ps512(_mm256_maskz_loadu_ps((__mmask8)there, x));
    const __m256 second = _mm256_maskz_loadu_ps((__mmask8)(there >> 8), y);
    return _mm512_maskz_insertf32x8(of_both, first, second, 1);
}

PROMOARRAY_CAST u32 left_of(size_t i, size_t n, size_t m) {
    return (i + 8 <= n ? of_first : 0) | (i + 8 <= m ? of_second : 0);
}

// The eight sums of four leaves made one each.
PROMOARRAY_CAST void add_up(__m512 r01, __m512 r23, f32 (&sums)[4]) {
    const __m512 pairs = _mm512_maskz_shuffle_ps(of_both, r01, r23, 0x88) +
                         _mm512_maskz_shuffle_ps(of_both, r01, r23, 0xdd);
    const __m512 fours = pairs + _mm512_maskz_permute_ps(of_both, pairs, 0xb1);
    const __m512 eights = fours + _mm512_maskz_shuffle_f32x4(of_both, fours, fours, 0xb1);
    f32 found[16];
    _mm512_storeu_ps(found, eights);
    for (int k = 0; k < 4; ++k) sums[k] = found[k % 2 * 8 + k / 2 * 2];
}

// Of n halved twice, so that all but the last are whole eights.
template <typename Read, typename Map>
f32 four_leaves_in_two(const typename Read::Stored *const (&x)[4], const size_t (&n)[4],
                       const Map &map) {
    const auto at = [&x, &map](int k, size_t i, u32 there) {
        return map(of_two(x[k] + i, x[k + 1] + i, there, Read()));
    };
    __m512 r01 = at(0, 0, of_both), r23 = at(2, 0, of_both);
    const size_t least = n[0] < n[2] ? n[0] : n[2];  // of two halves the first is the shorter
    size_t i = 8;
    for (; i + 8 <= least; i += 8) {
        ask_for(x[0] + AHEAD + 4 * i, 32);
        r01 += at(0, i, of_both);
        r23 += at(2, i, of_both);
    }
    for (; i + 8 <= n[1] || i + 8 <= n[3]; i += 8) {
        const u32 there01 = left_of(i, n[0], n[1]), there23 = left_of(i, n[2], n[3]);
        r01 = _mm512_mask_add_ps(r01, (__mmask16)there01, r01, at(0, i, there01));
        r23 = _mm512_mask_add_ps(r23, (__mmask16)there23, r23, at(2, i, there23));
    }
    f32 sums[4];
    add_up(r01, r23, sums);
    for (size_t j = n[3] - n[3] % 8; j < n[3]; ++j) sums[3] += map(Read::of(x[3][j]));
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

#endif

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
