// Casts to float16 and bfloat16 in registers, two of them at a time, under modes by which what is
// beyond the largest number becomes Inf, as it does by rounding; and the same without rounding. NaN
// keeps its sign where `kept` has that bit, and no payload, as in cast.h.
#include <type_traits>

#include "registers.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {

#ifdef __F16C__
namespace {

struct PlainHalf { u16 bits; };  // whose NaN loses its payload, as by a cast to float32

constexpr std::size_t lanes = pair_size / 2;  // numbers of a register
typedef u32 Bits __attribute__((vector_size(sizeof(Floats))));

PROMOARRAY_CAST __m128i loaded_128(const void *x) {
    return _mm_loadu_si128(static_cast<const __m128i *>(x));
}

// 13 bits of a float64, the last of them set if any below it was ("to odd"), as in floats.cpp.
constexpr i64 below_odd = (1ll << (Float64::mantissa - 12)) - 1;

// The codes of a pair, as many as there are of 16 bits in a register.
typedef i16 Codes __attribute__((vector_size(pair_size * sizeof(i16))));

#ifdef __AVX512BW__
PROMOARRAY_CAST __m256 odd_half(const f64 *x) {
    const __m512i below = _mm512_set1_epi64(below_odd), bits = _mm512_loadu_si512(x);
    const __m512i carry = _mm512_add_epi64(_mm512_and_si512(bits, below), below);
    const __m512i odd = _mm512_andnot_si512(below, _mm512_or_si512(bits, carry));
    return _mm512_maskz_cvtpd_ps(0xff, _mm512_castsi512_pd(odd));
}
PROMOARRAY_CAST Floats of_halves(__m256 low, __m256 high) {
    return _mm512_maskz_insertf32x8(every, _mm512_castps256_ps512(low), high, 1);
}
PROMOARRAY_CAST __m256i loaded_256(const void *x) {
    return _mm256_loadu_si256(static_cast<const __m256i *>(x));
}
PROMOARRAY_CAST Floats read(const StoredAs<Half> *x) {
    return _mm512_maskz_cvtph_ps(every, loaded_256(x));
}
PROMOARRAY_CAST Words words(const i8 *x) { return (Words)_mm512_cvtepi8_epi32(loaded_128(x)); }
PROMOARRAY_CAST Words words(const u8 *x) { return (Words)_mm512_cvtepu8_epi32(loaded_128(x)); }
PROMOARRAY_CAST Words words(const i16 *x) { return (Words)_mm512_cvtepi16_epi32(loaded_256(x)); }
PROMOARRAY_CAST Words words(const u16 *x) { return (Words)_mm512_cvtepu16_epi32(loaded_256(x)); }
// Packing goes on in each 128 bits by itself.
PROMOARRAY_CAST Codes packed(Bits first, Bits second) {
    const __m512i codes = _mm512_packus_epi32((__m512i)first, (__m512i)second);
    return (Codes)_mm512_maskz_permutexvar_epi64(0xff, _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7),
                                                 codes);
}
template <int way>
PROMOARRAY_CAST Codes halves_of(Pair x) {
    const __m256i first = _mm512_maskz_cvtps_ph(every, x.first, way);
    const __m256i second = _mm512_maskz_cvtps_ph(every, x.second, way);
    return (Codes)_mm512_maskz_inserti64x4(0xff, _mm512_castsi256_si512(first), second, 1);
}
#else
PROMOARRAY_CAST __m128 odd_half(const f64 *x) {
    const __m256i below = _mm256_set1_epi64x(below_odd);
    const __m256i bits = _mm256_castpd_si256(_mm256_loadu_pd(x));
    const __m256i carry = _mm256_add_epi64(_mm256_and_si256(bits, below), below);
    const __m256i odd = _mm256_andnot_si256(below, _mm256_or_si256(bits, carry));
    return _mm256_cvtpd_ps(_mm256_castsi256_pd(odd));
}
PROMOARRAY_CAST Floats of_halves(__m128 low, __m128 high) { return _mm256_set_m128(high, low); }
PROMOARRAY_CAST Floats read(const StoredAs<Half> *x) {
    return _mm256_cvtph_ps(loaded_128(x));
}
PROMOARRAY_CAST __m128i eight_bytes(const void *x) {
    return _mm_loadl_epi64(static_cast<const __m128i *>(x));
}
PROMOARRAY_CAST Words words(const i8 *x) { return (Words)_mm256_cvtepi8_epi32(eight_bytes(x)); }
PROMOARRAY_CAST Words words(const u8 *x) { return (Words)_mm256_cvtepu8_epi32(eight_bytes(x)); }
PROMOARRAY_CAST Words words(const i16 *x) { return (Words)_mm256_cvtepi16_epi32(loaded_128(x)); }
PROMOARRAY_CAST Words words(const u16 *x) { return (Words)_mm256_cvtepu16_epi32(loaded_128(x)); }
// Packing goes on in each 128 bits by itself.
PROMOARRAY_CAST Codes packed(Bits first, Bits second) {
    const __m256i codes = _mm256_packus_epi32((__m256i)first, (__m256i)second);
    return (Codes)_mm256_permute4x64_epi64(codes, 0xd8);
}
template <int way>
PROMOARRAY_CAST Codes halves_of(Pair x) {
    return (Codes)_mm256_set_m128i(_mm256_cvtps_ph(x.second, way), _mm256_cvtps_ph(x.first, way));
}
#endif

// --- What is read -------------------------------------------------------------------------------

PROMOARRAY_CAST Floats read(const f32 *x) { return loaded(x); }
PROMOARRAY_CAST Floats read(const f64 *x) {
    return of_halves(odd_half(x), odd_half(x + lanes / 2));
}
PROMOARRAY_CAST Floats read(const PlainHalf *x) {
    const Floats numbers = read(reinterpret_cast<const StoredAs<Half> *>(x));
    const Floats nan = (Floats)(Words{} + 0x7fc00000);
    return numbers == numbers ? numbers : with_sign_of(nan, numbers);
}
PROMOARRAY_CAST Floats read(const StoredAs<Bfloat> *x) {
    return (Floats)(words(&x->bits) << 16);
}
template <typename Integer>
PROMOARRAY_CAST Floats read(const Integer *x) {
    return __builtin_convertvector(words(x), Floats);
}

// --- What becomes of it: of numbers, and where there may be NaN ---------------------------------

template <int way>
struct Halves {
    static PROMOARRAY_CAST Codes numbers(Pair x) { return halves_of<way>(x); }
    static PROMOARRAY_CAST Codes codes(Pair x, i16 kept) {
        constexpr i16 quiet = Half::infinity | Half::quiet;
        const Codes code = numbers(x), nan = (code & kept) | quiet;
        return (code & 0x7fff) > Half::infinity ? nan : code;
    }
};
using ToHalf = Halves<_MM_FROUND_TO_NEAREST_INT>;

// What is above the largest number is Inf, to which nothing is rounded towards zero.
struct ToHalfTowardsZero {
    using Cut = Halves<_MM_FROUND_TO_ZERO>;
    static PROMOARRAY_CAST Floats limited(Floats x) {
        const Floats infinity = (Floats)(Words{} + 0x7f800000);
        return magnitude_of(x) > 65504 ? with_sign_of(infinity, x) : x;
    }
    static PROMOARRAY_CAST Pair limited(Pair x) { return {limited(x.first), limited(x.second)}; }
    static PROMOARRAY_CAST Codes numbers(Pair x) { return Cut::numbers(limited(x)); }
    static PROMOARRAY_CAST Codes codes(Pair x, i16 kept) { return Cut::codes(limited(x), kept); }
};

struct ToBfloat {
    static PROMOARRAY_CAST Bits rounded(Floats x) {
        const Bits bits = (Bits)x;
        return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    }
    static PROMOARRAY_CAST Codes numbers(Pair x) {
        return packed(rounded(x.first), rounded(x.second));
    }
    static PROMOARRAY_CAST Bits rounded_or_nan(Floats x, u16 kept) {
        const Bits nan = ((Bits)x >> 16 & kept) | 0x7fc0;
        return x == x ? rounded(x) : nan;
    }
    static PROMOARRAY_CAST Codes codes(Pair x, u16 kept) {
        return packed(rounded_or_nan(x.first, kept), rounded_or_nan(x.second, kept));
    }
};

// Whatever it is.
struct ToUpperHalf {
    static PROMOARRAY_CAST Codes numbers(Pair x) {
        return packed((Bits)x.first >> 16, (Bits)x.second >> 16);
    }
    static PROMOARRAY_CAST Codes codes(Pair x, u16) { return numbers(x); }
};

template <typename Source, typename Short>
void to_short(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Source *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<u16 *>(target);
    const u16 kept = (u16)(work.edge.nan_sign << 15);
    const auto codes_at = [kept](const Source *x) {
        const Pair numbers = {read(x), read(x + lanes)};
        return std::is_integral<Source>::value ? Short::numbers(numbers)
                                               : Short::codes(numbers, kept);
    };
    std::size_t i = 0;
    for (; i + pair_size <= n; i += pair_size) {
        const Codes codes = codes_at(src + i);
        std::memcpy(dst + i, &codes, sizeof codes);
    }
    if (i == n) return;
    Source rest[pair_size] = {};
    std::memcpy(rest, src + i, (n - i) * sizeof(Source));
    const Codes codes = codes_at(rest);
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

template <typename OfHalf, typename OfBfloat, typename OtherHalf>
Loop short_loop_by(Type source, Type target) {
    if (is_float16(target)) return short_loop_to<OfHalf, StoredAs<Bfloat>>(source, is_bfloat16(source));
    return is_bfloat16(target) ? short_loop_to<OfBfloat, OtherHalf>(source, is_float16(source))
                               : nullptr;
}

}  // namespace

Loop short_loop(Type source, Type target) {
    return short_loop_by<ToHalf, ToBfloat, StoredAs<Half>>(source, target);
}
Loop cut_short_loop(Type source, Type target) {
    // (To odd, a float64 would be cut where it is to be rounded to float32 first.)
    if (is_float64(source)) return nullptr;
    return short_loop_by<ToHalfTowardsZero, ToUpperHalf, PlainHalf>(source, target);
}
#else
Loop short_loop(Type, Type) { return nullptr; }
Loop cut_short_loop(Type, Type) { return nullptr; }
#endif

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
