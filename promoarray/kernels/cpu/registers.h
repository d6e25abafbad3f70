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

PROMOARRAY_CAST Floats all_of(f32 x) { return _mm512_set1_ps(x); }
PROMOARRAY_CAST Floats loaded(const f32 *x) { return _mm512_loadu_ps(x); }
PROMOARRAY_CAST void put(Floats x, f32 *to) { _mm512_storeu_ps(to, x); }
PROMOARRAY_CAST Floats square_root(Floats x) { return _mm512_maskz_sqrt_ps(every, x); }
template <int way>
PROMOARRAY_CAST Floats to_whole(Floats x) {
    return _mm512_maskz_roundscale_ps(every, x, way | _MM_FROUND_NO_EXC);
}
PROMOARRAY_CAST __m256 half_of(Floats x, int which) {
    return which == 0 ? _mm512_maskz_extractf32x8_ps(0xff, x, 0)
                      : _mm512_maskz_extractf32x8_ps(0xff, x, 1);
}
PROMOARRAY_CAST Floats rounded_to_half(Floats x) {
    return _mm512_maskz_cvtph_ps(every, _mm512_maskz_cvtps_ph(every, x, _MM_FROUND_TO_NEAREST_INT));
}

PROMOARRAY_CAST __m512d sum_of_squares(Floats x, Floats y, int which) {
    const __m512d wide = _mm512_maskz_cvtps_pd(0xff, half_of(x, which));
    const __m512d other = _mm512_maskz_cvtps_pd(0xff, half_of(y, which));
    return _mm512_fmadd_pd(wide, wide, other * other);  // of products that are exact
}
PROMOARRAY_CAST Floats rounded(__m512d first, __m512d second) {
    const Floats low = _mm512_castps256_ps512(_mm512_maskz_cvtpd_ps(0xff, first));
    return _mm512_insertf32x8(low, _mm512_maskz_cvtpd_ps(0xff, second), 1);
}
PROMOARRAY_CAST Floats root_of_squares(Floats x, Floats y) {
    return rounded(_mm512_maskz_sqrt_pd(0xff, sum_of_squares(x, y, 0)),
                   _mm512_maskz_sqrt_pd(0xff, sum_of_squares(x, y, 1)));
}

// A root that is as good for a float32 as float64's, in half the time: what is estimated to 14 bits
// has 40 after one step. `unsure` gets where that is too few, beside the middle of two float32, and
// what is none of a normal float32.
PROMOARRAY_CAST __m512d estimated_root(__m512d x, __mmask8 &unsure) {
    constexpr i64 least = 0x3050000000000000, infinity = 0x7ff0000000000000;  // 2^-250
    constexpr i64 middle = 1 << 28, off_by = 1 << 13, lost = (1 << 29) - 1;
    const __m512i bits = _mm512_castpd_si512(x);
    const __mmask8 plain = _mm512_cmplt_epu64_mask(bits - least, _mm512_set1_epi64(infinity - least));
    const __m512d estimate = _mm512_maskz_rsqrt14_pd(plain, x);
    const __m512d near = _mm512_maskz_mul_pd(plain, x, estimate);  // 0 is its own
    const __m512d off = _mm512_fnmadd_pd(near, estimate, _mm512_set1_pd(1));
    const __m512d step = _mm512_fmadd_pd(off, _mm512_set1_pd(0.375), _mm512_set1_pd(0.5));
    const __m512d root = _mm512_fmadd_pd(near * off, step, near);
    const __m512i beside = _mm512_castpd_si512(root) + (middle + off_by);
    unsure |= _mm512_testn_epi64_mask(beside, _mm512_set1_epi64(lost & ~(2 * off_by - 1)));
    unsure |= _mm512_mask_test_epi64_mask((__mmask8)~plain, bits, bits);
    return root;
}
PROMOARRAY_CAST Floats estimated_root_of_squares(Floats x, Floats y, bool &is_sure) {
    __mmask8 unsure = 0;
    const __m512d first = estimated_root(sum_of_squares(x, y, 0), unsure);
    const __m512d second = estimated_root(sum_of_squares(x, y, 1), unsure);
    is_sure = unsure == 0;
    return rounded(first, second);
}

#else

using Floats = __m256;

PROMOARRAY_CAST Floats all_of(f32 x) { return _mm256_set1_ps(x); }
PROMOARRAY_CAST Floats loaded(const f32 *x) { return _mm256_loadu_ps(x); }
PROMOARRAY_CAST void put(Floats x, f32 *to) { _mm256_storeu_ps(to, x); }
PROMOARRAY_CAST Floats square_root(Floats x) { return _mm256_sqrt_ps(x); }
template <int way>
PROMOARRAY_CAST Floats to_whole(Floats x) { return _mm256_round_ps(x, way | _MM_FROUND_NO_EXC); }
PROMOARRAY_CAST Floats rounded_to_half(Floats x) {
    return _mm256_cvtph_ps(_mm256_cvtps_ph(x, _MM_FROUND_TO_NEAREST_INT));
}
PROMOARRAY_CAST __m128 root_of_squares(__m128 x, __m128 y) {
    const __m256d wide = _mm256_cvtps_pd(x), other = _mm256_cvtps_pd(y);
    return _mm256_cvtpd_ps(_mm256_sqrt_pd(wide * wide + other * other));
}
PROMOARRAY_CAST Floats root_of_squares(Floats x, Floats y) {
    return _mm256_set_m128(
        root_of_squares(_mm256_extractf128_ps(x, 1), _mm256_extractf128_ps(y, 1)),
        root_of_squares(_mm256_castps256_ps128(x), _mm256_castps256_ps128(y)));
}

#endif

// As many integers, all bits set where a comparison holds.
using Words = decltype(Floats{} < Floats{});
constexpr i32 sign_bit = INT32_MIN;

PROMOARRAY_CAST Floats where_so(Words so, Floats x) { return (Floats)(so & (Words)x); }
PROMOARRAY_CAST Floats magnitude_of(Floats x) { return (Floats)((Words)x & ~sign_bit); }
PROMOARRAY_CAST Floats with_sign_of(Floats x, Floats sign) {
    return (Floats)(((Words)x & ~sign_bit) | ((Words)sign & sign_bit));
}

// Two registers, whose numbers are in an order that their format chooses.
struct Pair { Floats first, second; };
constexpr std::size_t pair_size = 2 * sizeof(Floats) / sizeof(f32);

// In order. A compiler would branch where a step chooses.
struct Single {
    using T = f32;
    static constexpr T one = 1;
    static PROMOARRAY_CAST Pair load(const f32 *x) {
        return {loaded(x), loaded(x + pair_size / 2)};
    }
    static PROMOARRAY_CAST void store(Pair made, f32 *to) {
        put(made.first, to);
        put(made.second, to + pair_size / 2);
    }
};

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

// --- Formats that go together, all in order ------------------------------------------------------

struct OrderedBfloat {
    using T = u16;
    static constexpr T one = 0x3f80;
    static PROMOARRAY_CAST Floats widened(__m256i codes) {
        const __m512i words = _mm512_maskz_cvtepu16_epi32(every, codes);
        return _mm512_castsi512_ps(_mm512_maskz_slli_epi32(every, words, 16));
    }
    static PROMOARRAY_CAST Pair load(const u16 *x) {
        const __m512i codes = read_plain(x, Bfloat::infinity, Bfloat::quiet);
        return {widened(half_of(codes, 0)), widened(half_of(codes, 1))};
    }
    static PROMOARRAY_CAST __m256i narrowed(Floats x) {
        const __m512i upper = _mm512_maskz_srli_epi32(every, rounded_to_bfloat(x), 16);
        return _mm512_maskz_cvtepi32_epi16(every, upper);
    }
    static PROMOARRAY_CAST void store(Pair made, u16 *to) {
        write_halves(narrowed(made.first), narrowed(made.second), to);
    }
};
// What is rounded raises no exception, as that of a cast is not told; GCC 12 has no intrinsic for it.
struct QuietHalf : Short<Half> {
    static PROMOARRAY_CAST __m256i narrowed(Floats x) {
        __m256i codes;
        __asm__("vcvtps2ph $0, %{sae%}, %1, %0" : "=v"(codes) : "v"(x));
        return codes;
    }
    static PROMOARRAY_CAST void store(Pair made, u16 *to) {
        write_halves(narrowed(made.first), narrowed(made.second), to);
    }
};

// Float32 beside a result of 16 bits: NaN without a payload.
struct PlainSingle : Single {
    static PROMOARRAY_CAST Floats plain(Floats x) {
        const Words nan = ((Words)x & sign_bit) | 0x7fc00000;
        return x == x ? x : (Floats)nan;
    }
    static PROMOARRAY_CAST Pair load(const f32 *x) {
        const Pair given = Single::load(x);
        return {plain(given.first), plain(given.second)};
    }
};

// Bytes of 0 and 1 from what registers of float32 in order were compared to.
PROMOARRAY_CAST void put_bools(Pair so, u8 *to) {
    const u32 first = _mm512_movepi32_mask(_mm512_castps_si512(so.first));
    const u32 second = _mm512_movepi32_mask(_mm512_castps_si512(so.second));
    const __m256i bytes = _mm256_maskz_set1_epi8((__mmask32)(first | second << 16), 1);
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), bytes);
}

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

// Those that go together, all in order; they are read.
struct OrderedBfloat {
    using T = u16;
    static constexpr T one = 0x3f80;
    static PROMOARRAY_CAST Pair load(const u16 *x) {
        const __m256i codes = read_plain(x, Bfloat::infinity, Bfloat::quiet);
        return {Bfloat::read(_mm256_castsi256_si128(codes)),
                Bfloat::read(_mm256_extracti128_si256(codes, 1))};
    }
};
using QuietHalf = Short<Half>;

PROMOARRAY_CAST void put_bools(Pair so, u8 *to) {
    const __m256i words =
        _mm256_packs_epi32(_mm256_castps_si256(so.first), _mm256_castps_si256(so.second));
    const __m256i ordered = _mm256_permute4x64_epi64(words, 0xd8);
    const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(ordered),
                                          _mm256_extracti128_si256(ordered, 1));
    _mm_storeu_si128(reinterpret_cast<__m128i *>(to), _mm_and_si128(bytes, _mm_set1_epi8(1)));
}

#endif

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray

#endif
