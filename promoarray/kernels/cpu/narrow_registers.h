// The registers of narrow.cpp and scales.cpp: words of 16 bits, of which two make a register of bytes. They are those
// of AVX2 or of AVX-512. Packing and unpacking go on in each 128 bits by itself.
#pragma once

#include "loop.h"

#ifdef __AVX2__

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

#ifdef __AVX512BW__

using Register = __m512i;
using Chosen = __mmask64;  // of bytes

// Masked by this, an intrinsic is the plain one, of which GCC 12 says that it reads what was not set.
constexpr __mmask16 every = 0xffff;

PROMOARRAY_CAST Register loaded(const void *x) { return _mm512_loadu_si512(x); }
PROMOARRAY_CAST Register all_bytes(u64 x) { return _mm512_set1_epi8((char)x); }
PROMOARRAY_CAST Register less(Register x, Register y) { return _mm512_subs_epu16(x, y); }
PROMOARRAY_CAST Register bits_of(Register words) {
    return _mm512_castps_si512(_mm512_maskz_cvtepi32_ps(every, words));
}
PROMOARRAY_CAST Register bits_of_halves(const u16 *x) {
    const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(x));
    return _mm512_castps_si512(_mm512_maskz_cvtph_ps(every, codes));
}
PROMOARRAY_CAST Register magnitude_of(Register words) { return _mm512_abs_epi16(words); }
PROMOARRAY_CAST Register upper_product(Register x, Register y) { return _mm512_mulhrs_epi16(x, y); }
PROMOARRAY_CAST Register less_one_where_equal(Register x, Register y, Register z) {
    const __m512i one = _mm512_set1_epi16(1);
    return _mm512_mask_sub_epi16(x, _mm512_cmpeq_epi16_mask(y, z), x, one);
}
PROMOARRAY_CAST Register shifted(Register words, __m128i by) { return _mm512_srl_epi16(words, by); }
PROMOARRAY_CAST Register lower_half(Register x) {
    return _mm512_unpacklo_epi16(x, _mm512_setzero_si512());
}
PROMOARRAY_CAST Register upper_half(Register x) {
    return _mm512_unpackhi_epi16(x, _mm512_setzero_si512());
}
PROMOARRAY_CAST Register packed_words(Register x, Register y) { return _mm512_packus_epi32(x, y); }
PROMOARRAY_CAST Register packed(Register x, Register y) { return _mm512_packus_epi16(x, y); }
PROMOARRAY_CAST Register packed_signed(Register x, Register y) { return _mm512_packs_epi16(x, y); }
PROMOARRAY_CAST Register at_most_unsigned(Register x, Register y) {
    return _mm512_min_epu16(x, y);
}
PROMOARRAY_CAST Register in_order(Register x, Register order) {
    return _mm512_maskz_permutexvar_epi32(every, order, x);
}
PROMOARRAY_CAST Chosen equal(Register x, Register y) { return _mm512_cmpeq_epi8_mask(x, y); }
PROMOARRAY_CAST Chosen above(Register x, Register y) { return _mm512_cmpgt_epu8_mask(x, y); }
PROMOARRAY_CAST Chosen negatives(Register x) { return _mm512_movepi8_mask(x); }
PROMOARRAY_CAST Register either(Register x, Chosen other, Register y) {
    return _mm512_mask_mov_epi8(x, other, y);
}

// A power of two, halved once for each exponent below the first.
struct Powers {
    Register most, first;
    Powers(int most_bits, int first_exponent)
        : most(_mm512_set1_epi16((short)(1 << most_bits))),
          first(_mm512_set1_epi16((short)first_exponent)) {}
    PROMOARRAY_CAST Register of(Register exponent) const {
        return _mm512_srlv_epi16(most, _mm512_subs_epu16(first, exponent));
    }
};

#else

using Register = __m256i;
using Chosen = __m256i;  // by the highest bits

PROMOARRAY_CAST Register loaded(const void *x) {
    return _mm256_loadu_si256(static_cast<const __m256i *>(x));
}
PROMOARRAY_CAST Register all_bytes(u64 x) { return _mm256_set1_epi8((char)x); }
PROMOARRAY_CAST Register less(Register x, Register y) { return _mm256_subs_epu16(x, y); }
PROMOARRAY_CAST Register bits_of(Register words) {
    return _mm256_castps_si256(_mm256_cvtepi32_ps(words));
}
PROMOARRAY_CAST Register bits_of_halves(const u16 *x) {
    const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(x));
    return _mm256_castps_si256(_mm256_cvtph_ps(codes));
}
PROMOARRAY_CAST Register magnitude_of(Register words) { return _mm256_abs_epi16(words); }
PROMOARRAY_CAST Register upper_product(Register x, Register y) { return _mm256_mulhrs_epi16(x, y); }
PROMOARRAY_CAST Register less_one_where_equal(Register x, Register y, Register z) {
    return _mm256_add_epi16(x, _mm256_cmpeq_epi16(y, z));
}
PROMOARRAY_CAST Register shifted(Register words, __m128i by) { return _mm256_srl_epi16(words, by); }
PROMOARRAY_CAST Register lower_half(Register x) {
    return _mm256_unpacklo_epi16(x, _mm256_setzero_si256());
}
PROMOARRAY_CAST Register upper_half(Register x) {
    return _mm256_unpackhi_epi16(x, _mm256_setzero_si256());
}
PROMOARRAY_CAST Register packed_words(Register x, Register y) { return _mm256_packus_epi32(x, y); }
PROMOARRAY_CAST Register packed(Register x, Register y) { return _mm256_packus_epi16(x, y); }
PROMOARRAY_CAST Register packed_signed(Register x, Register y) { return _mm256_packs_epi16(x, y); }
PROMOARRAY_CAST Register at_most_unsigned(Register x, Register y) {
    return _mm256_min_epu16(x, y);
}
PROMOARRAY_CAST Register in_order(Register x, Register order) {
    return _mm256_permutevar8x32_epi32(x, order);
}
PROMOARRAY_CAST Chosen equal(Register x, Register y) { return _mm256_cmpeq_epi8(x, y); }
// (Where y is below 128.)
PROMOARRAY_CAST Chosen above(Register x, Register y) {
    return _mm256_adds_epu8(x, _mm256_sub_epi8(all_bytes(127), y));
}
PROMOARRAY_CAST Chosen negatives(Register x) { return x; }
PROMOARRAY_CAST Register either(Register x, Chosen other, Register y) {
    return _mm256_blendv_epi8(x, y, other);
}

// A power of two, halved once for each exponent below the first. AVX2 has one shift for all words, so
// they are looked up, in the lower bytes: the upper ones have a highest bit, for which there is 0.
struct Powers {
    Register powers, first;
    Powers(int most_bits, int first_exponent)
        : first(_mm256_set1_epi16((short)(first_exponent - 0x8000))) {
        u8 power[32] = {};
        for (int k = 0; k <= most_bits; ++k) power[k] = power[16 + k] = (u8)(1 << (most_bits - k));
        powers = loaded(power);
    }
    PROMOARRAY_CAST Register of(Register exponent) const {
        const __m256i below = _mm256_subs_epi16(first, exponent);  // no less than 0x8000
        const __m256i most = _mm256_set1_epi16((short)0x800f);
        return _mm256_shuffle_epi8(powers, _mm256_min_epi16(below, most));
    }
};

#endif

// Where what is said of one element is said of all.
typedef u16 Words __attribute__((vector_size(sizeof(Register))));
typedef u32 DoubleWords __attribute__((vector_size(sizeof(Register))));

constexpr std::size_t most_bytes = sizeof(Register);

PROMOARRAY_CAST Words all_words(int x) { return (u16)x - Words{}; }

// The upper halves of two registers of words of 32 bits, odd if a lower one is not 0.
PROMOARRAY_CAST Words odd_upper_halves(Register first, Register second) {
    const DoubleWords low = (DoubleWords)first, high = (DoubleWords)second;
    const Register upper = packed_words((Register)(low >> 16), (Register)(high >> 16));
    const Register lower = packed_words((Register)(low & 0xffff), (Register)(high & 0xffff));
    return (Words)(upper | at_most_unsigned(lower, (Register)all_words(1)));
}

// Where each four bytes are that come of `fours` in each 128 bits of one register.
Register order_of(int fours) {
    constexpr int parts = sizeof(Register) / 16;
    i32 order[4 * parts];
    for (int k = 0; k < 4 * parts; ++k) {
        const int from = k / (fours * parts), part = k / fours % parts;
        order[k] = 4 * part + fours * from + k % fours;
    }
    return loaded(order);
}

// As many at a time as a register has bytes, by a way that is made of the work and makes them `of` where
// they lie.
template <typename Source, typename Way>
void to_bytes(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Source *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<u8 *>(target);
    const Way way(work);
    std::size_t i = 0;
    for (; i + most_bytes <= n; i += most_bytes) {
        const Register codes = way.of(src + i);
        std::memcpy(dst + i, &codes, most_bytes);
    }
    if (i == n) return;
    Source rest[most_bytes] = {};
    std::memcpy(rest, src + i, (n - i) * sizeof(Source));
    const Register codes = way.of(rest);
    std::memcpy(dst + i, &codes, n - i);
}

}  // namespace
}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray

#endif
