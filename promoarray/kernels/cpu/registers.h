// Registers of float32, and what two of them at a time are read from and written to: float32 as it
// is, and floats of 16 bits. A level has registers of 8 or of 16 numbers; what is written for
// `Floats` and `Pair` holds for both.
#pragma once

#include <type_traits>

#include "loop.h"

#ifdef __F16C__

namespace promoarray {
namespace PROMOARRAY_VERSION {

#ifdef __AVX512BW__

using Floats = __m512;

// Masked by this, an intrinsic is the plain one, of which GCC 12 says that it reads what was not
// set.
constexpr __mmask16 every = 0xffff;

PROMOARRAY_CAST Floats loaded(const f32 *x) { return _mm512_loadu_ps(x); }

#else

using Floats = __m256;

PROMOARRAY_CAST Floats loaded(const f32 *x) { return _mm256_loadu_ps(x); }

#endif

// As many integers, all bits set where a comparison holds.
using Words = decltype(Floats{} < Floats{});
constexpr i32 sign_bit = INT32_MIN;

PROMOARRAY_CAST Floats magnitude_of(Floats x) { return (Floats)((Words)x & ~sign_bit); }
PROMOARRAY_CAST Floats with_sign_of(Floats x, Floats sign) {
    return (Floats)(((Words)x & ~sign_bit) | ((Words)sign & sign_bit));
}

// Two registers, whose numbers are in an order that their format chooses.
struct Pair { Floats first, second; };
constexpr std::size_t pair_size = 2 * sizeof(Floats) / sizeof(f32);

// NaN is quiet when it is read, as after every cast of ours: a signalling one would be an invalid
// operation.
#ifdef __AVX512BW__

// It has no payload any more, either, and so none in what is written.
PROMOARRAY_CAST __m512i read_plain(const u16 *x, short infinity, short quiet) {
    const __m512i codes = _mm512_loadu_si512(x);
    const __m512i magnitude = _mm512_and_si512(codes, _mm512_set1_epi16(0x7fff));
    const __mmask32 is_nan = _mm512_cmpgt_epi16_mask(magnitude, _mm512_set1_epi16(infinity));
    const __m512i sign = _mm512_and_si512(codes, _mm512_set1_epi16((short)0x8000));
    const __m512i nan = _mm512_or_si512(sign, _mm512_set1_epi16((short)(infinity | quiet)));
    return _mm512_mask_mov_epi16(codes, is_nan, nan);
}
PROMOARRAY_CAST __m256i half_of(__m512i codes, int which) {
    return which == 0 ? _mm512_maskz_extracti64x4_epi64(0xf, codes, 0)
                      : _mm512_maskz_extracti64x4_epi64(0xf, codes, 1);
}
PROMOARRAY_CAST void write_halves(__m256i first, __m256i second, u16 *to) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), first);
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to + 16), second);
}

template <typename Format> struct Short;

template <> struct Short<Half> {  // in order
    using T = u16;
    static constexpr T one = 0x3c00;
    static PROMOARRAY_CAST Pair load(const u16 *x) {
        const __m512i codes = read_plain(x, Half::infinity, Half::quiet);
        return {_mm512_maskz_cvtph_ps(every, half_of(codes, 0)),
                _mm512_maskz_cvtph_ps(every, half_of(codes, 1))};
    }
    static PROMOARRAY_CAST void store(Pair made, u16 *to) {
        write_halves(_mm512_maskz_cvtps_ph(every, made.first, _MM_FROUND_TO_NEAREST_INT),
                     _mm512_maskz_cvtps_ph(every, made.second, _MM_FROUND_TO_NEAREST_INT), to);
    }
};

// In the upper half.
PROMOARRAY_CAST __m512i rounded_to_bfloat(__m512 x) {
    const __m512i bits = _mm512_castps_si512(x), upper = _mm512_maskz_srli_epi32(every, bits, 16);
    const __m512i odd = _mm512_and_si512(upper, _mm512_set1_epi32(1));
    return _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
}

// Every other number from the first on, and from the second on: nothing changes places.
template <> struct Short<Bfloat> {
    using T = u16;
    static constexpr T one = 0x3f80;
    static PROMOARRAY_CAST Pair load(const u16 *x) {
        const __m512i codes = read_plain(x, Bfloat::infinity, Bfloat::quiet);
        const __m512i upper = _mm512_set1_epi32((int)0xffff0000);
        return {_mm512_castsi512_ps(_mm512_maskz_slli_epi32(every, codes, 16)),
                _mm512_castsi512_ps(_mm512_and_si512(codes, upper))};
    }
    static PROMOARRAY_CAST void store(Pair made, u16 *to) {
        const __m512i first =
            _mm512_maskz_srli_epi32(every, rounded_to_bfloat(made.first), 16);
        const __m512i second = rounded_to_bfloat(made.second);
        _mm512_storeu_si512(to, _mm512_mask_mov_epi16(first, 0xaaaaaaaa, second));
    }
};

#else

// It has no payload any more, either, and so none in what is written.
PROMOARRAY_CAST __m256i read_plain(const u16 *x, short infinity, short quiet) {
    const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(x));
    const __m256i magnitude = _mm256_and_si256(codes, _mm256_set1_epi16(0x7fff));
    const __m256i is_nan = _mm256_cmpgt_epi16(magnitude, _mm256_set1_epi16(infinity));
    const __m256i sign = _mm256_and_si256(codes, _mm256_set1_epi16((short)0x8000));
    const __m256i nan = _mm256_or_si256(sign, _mm256_set1_epi16((short)(infinity | quiet)));
    return _mm256_blendv_epi8(codes, nan, is_nan);
}

template <typename Format> struct Short;

template <> struct Short<Half> {  // in order
    using T = u16;
    static constexpr T one = 0x3c00;
    static PROMOARRAY_CAST Pair load(const u16 *x) {
        const __m256i codes = read_plain(x, Half::infinity, Half::quiet);
        return {_mm256_cvtph_ps(_mm256_castsi256_si128(codes)),
                _mm256_cvtph_ps(_mm256_extracti128_si256(codes, 1))};
    }
    static PROMOARRAY_CAST void store(Pair made, u16 *to) {
        auto *const out = reinterpret_cast<__m128i *>(to);
        _mm_storeu_si128(out, _mm256_cvtps_ph(made.first, _MM_FROUND_TO_NEAREST_INT));
        _mm_storeu_si128(out + 1, _mm256_cvtps_ph(made.second, _MM_FROUND_TO_NEAREST_INT));
    }
};

// In the upper half.
PROMOARRAY_CAST __m256i rounded_to_bfloat(__m256 x) {
    const __m256i bits = _mm256_castps_si256(x), upper = _mm256_srli_epi32(bits, 16);
    const __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
    return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
}

// Every other number from the first on, and from the second on: nothing changes places.
template <> struct Short<Bfloat> {
    using T = u16;
    static constexpr T one = 0x3f80;
    static PROMOARRAY_CAST Pair load(const u16 *x) {
        const __m256i codes = read_plain(x, Bfloat::infinity, Bfloat::quiet);
        const __m256i upper = _mm256_set1_epi32((int)0xffff0000);
        return {_mm256_castsi256_ps(_mm256_slli_epi32(codes, 16)),
                _mm256_castsi256_ps(_mm256_and_si256(codes, upper))};
    }
    static PROMOARRAY_CAST void store(Pair made, u16 *to) {
        const __m256i first = _mm256_srli_epi32(rounded_to_bfloat(made.first), 16);
        const __m256i second = rounded_to_bfloat(made.second);
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), _mm256_blend_epi16(first, second, 0xaa));
    }
};

#endif

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray

#endif
