// Casts from float16, bfloat16, float32 and integers of 16 bits to floats of 8 bits and fewer, in
// lanes of 16 bits, of which a register holds twice as many as of float32.
#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {

#ifdef __AVX2__
namespace {

// What goes on as bfloat16.
template <typename Source>
constexpr bool is_as_bfloat = true;
template <>
constexpr bool is_as_bfloat<u16> = false;

#ifdef __AVX512BW__
// AVX-512 shifts each lane by a count of its own: a subnormal loses one bit more for each exponent
// below the smallest.
struct WideLanes {
    __m512i infinity, fraction, implicit, under_half, rebias;
    __m512i first, lost, lost_at_zero;  // exponent of the smallest normal number; bits that go
    __m512i target_largest, target_overflow, target_infinity, target_nan;
    __m512i sign_bit, nan_sign;
    __m512i unsigned_zero;  // 0, which has no sign in fnuz, or what no code is
    __m128i lost_count, sign_shift, exponent_shift, target_shift;
};

WideLanes wide_lanes_of(Format from, const Work &work) {
    const Format to = work.target.format;
    const Edges edge = work.edge;
    const auto set = [](u64 x) { return _mm512_set1_epi16((short)x); };
    const int lost = from.mantissa - to.mantissa, first = 1 + from.bias - to.bias;
    const int width = to.exponent + to.mantissa;
    return {
        set((u64)from.inf), set((1u << from.mantissa) - 1), set(1u << from.mantissa),
        set((1u << (lost - 1)) - 1), set((u64)(from.bias - to.bias) << to.mantissa),
        set((u64)first), set((u64)lost), set((u64)(lost + first)),
        set((u64)to.largest), set(edge.overflow), set(edge.infinity), set(edge.nan),
        set(1ull << width), set((u64)edge.nan_sign << width), set(to.negative_zero ? ~0ull : 0),
        _mm_cvtsi32_si128(lost), _mm_cvtsi32_si128(15 - width), _mm_cvtsi32_si128(from.mantissa),
        _mm_cvtsi32_si128(to.mantissa),
    };
}

PROMOARRAY_CAST __m512i sign_of(__m512i x, const WideLanes &l) {
    return _mm512_and_si512(_mm512_srl_epi16(x, l.sign_shift), l.sign_bit);
}

PROMOARRAY_CAST __m512i encode_wide_lanes(__m512i x, const WideLanes &l) {
    const __m512i one = _mm512_set1_epi16(1), most = _mm512_set1_epi16(0x7fff);
    const __m512i magnitude = _mm512_and_si512(x, most);

    // 1. The significand, of which twice as much is there where an exponent of 0 makes it subnormal,
    //    rounded as in cast.h to as many bits as are kept; above the smallest exponent each one
    //    counts one more.
    const __m512i exponent = _mm512_srl_epi16(magnitude, l.exponent_shift);
    const __m512i fraction = _mm512_and_si512(magnitude, l.fraction);
    const __mmask32 subnormal = _mm512_testn_epi16_mask(exponent, exponent);
    const __m512i significand = _mm512_mask_add_epi16(_mm512_or_si512(fraction, l.implicit),
                                                      subnormal, fraction, fraction);
    const __m512i count = _mm512_max_epi16(l.lost, _mm512_sub_epi16(l.lost_at_zero, exponent));
    const __m512i dropped = _mm512_sub_epi16(_mm512_set1_epi16(16), count);
    const __m512i under_half = _mm512_srlv_epi16(most, dropped);
    const __m512i odd = _mm512_and_si512(_mm512_srlv_epi16(significand, count), one);
    const __m512i carried = _mm512_add_epi16(_mm512_add_epi16(significand, under_half), odd);
    const __m512i steps = _mm512_sll_epi16(_mm512_subs_epu16(exponent, l.first), l.target_shift);
    const __m512i code = _mm512_add_epi16(_mm512_srlv_epi16(carried, count), steps);

    // 2. Overflow and Inf.
    const __mmask32 over = _mm512_cmpgt_epi16_mask(code, l.target_largest);
    const __m512i finite = _mm512_mask_mov_epi16(code, over, l.target_overflow);
    const __mmask32 is_inf = _mm512_cmpeq_epi16_mask(magnitude, l.infinity);
    const __m512i number = _mm512_mask_mov_epi16(finite, is_inf, l.target_infinity);

    // 3. The sign, and NaN.
    const __m512i sign = sign_of(x, l);
    const __mmask32 has_sign = _mm512_cmpneq_epi16_mask(number, l.unsigned_zero);
    const __m512i kept = _mm512_maskz_mov_epi16(has_sign, sign);
    const __m512i quiet = _mm512_xor_si512(l.target_nan, _mm512_and_si512(sign, l.nan_sign));
    const __mmask32 is_nan = _mm512_cmpgt_epi16_mask(magnitude, l.infinity);
    return _mm512_mask_mov_epi16(_mm512_or_si512(number, kept), is_nan, quiet);
}

// An integer of 16 bits.
template <typename Integer>
struct Whole { Integer value; };

// 32 elements.
template <typename Source>
PROMOARRAY_CAST __m512i thirty_two_of(const Source *x) { return _mm512_loadu_si512(x); }
PROMOARRAY_CAST __m512i encoded(const u16 *x, const WideLanes &l) {
    return encode_wide_lanes(thirty_two_of(x), l);
}

// Of float32 the upper halves, which are bfloat16, odd if a lower one is not zero. They have three
// bits more than any target, so rounding them once more is as good as rounding once.
PROMOARRAY_CAST __m512i upper_halves(__m512i first, __m512i second) {
    const __m512i half = _mm512_set1_epi32(0xffff), one = _mm512_set1_epi16(1);
    const __m512i upper =
        _mm512_packus_epi32(_mm512_srli_epi32(first, 16), _mm512_srli_epi32(second, 16));
    const __m512i lower =
        _mm512_packus_epi32(_mm512_and_si512(first, half), _mm512_and_si512(second, half));
    return _mm512_or_si512(upper, _mm512_min_epu16(lower, one));
}
PROMOARRAY_CAST __m512i encoded(const u32 *x, const WideLanes &l) {
    const __m512i halves = upper_halves(_mm512_loadu_si512(x), _mm512_loadu_si512(x + 16));
    // Packing goes on in each 128 bits by itself.
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    return encode_wide_lanes(_mm512_permutexvar_epi64(order, halves), l);
}

// Integers as float32, and then as above, without what whole numbers cannot be. (Unpacking goes on
// in each 128 bits by itself, too.)
template <typename Integer>
PROMOARRAY_CAST __m512i encoded(const Whole<Integer> *at, const WideLanes &l) {
    const bool has_sign = Integer(-1) < 0;
    const __m512i one = _mm512_set1_epi16(1), zero = _mm512_setzero_si512();
    const __m512i x = thirty_two_of(at), whole = has_sign ? _mm512_abs_epi16(x) : x;
    const auto single = [](__m512i words) {
        return _mm512_castps_si512(_mm512_cvtepi32_ps(words));
    };
    const __m512i magnitude = upper_halves(single(_mm512_unpacklo_epi16(whole, zero)),
                                           single(_mm512_unpackhi_epi16(whole, zero)));

    const __m512i odd = _mm512_and_si512(_mm512_srl_epi16(magnitude, l.lost_count), one);
    const __m512i carried = _mm512_add_epi16(_mm512_add_epi16(magnitude, l.under_half), odd);
    const __m512i normal = _mm512_sub_epi16(_mm512_srl_epi16(carried, l.lost_count), l.rebias);
    const __m512i code = _mm512_max_epi16(normal, zero);  // 0 is below all
    const __mmask32 over = _mm512_cmpgt_epi16_mask(code, l.target_largest);
    const __m512i number = _mm512_mask_mov_epi16(code, over, l.target_overflow);
    return has_sign ? _mm512_or_si512(number, sign_of(x, l)) : number;
}

template <typename Source>
void to_narrow_wide(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Source *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<u8 *>(target);
    const Format from = is_as_bfloat<Source> ? bfloat16_format() : work.source.format;
    const WideLanes lanes = wide_lanes_of(from, work);
    // Two registers at a time go on while the other waits; a store under a mask would be slow.
    std::size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        const __m512i low = encoded(src + i, lanes), high = encoded(src + i + 32, lanes);
        auto *out = reinterpret_cast<__m256i *>(dst + i);
        _mm256_storeu_si256(out, _mm512_cvtepi16_epi8(low));
        _mm256_storeu_si256(out + 1, _mm512_cvtepi16_epi8(high));
    }
    for (; i < n; i += 32) {
        const std::size_t left = n - i < 32 ? n - i : 32;
        Source rest[32] = {};
        std::memcpy(rest, src + i, left * sizeof(Source));
        const __m256i codes = _mm512_cvtepi16_epi8(encoded(rest, lanes));
        std::memcpy(dst + i, &codes, left);
    }
}
#else
// AVX2 has one count for all lanes, and so multiplies by a power of two, of which the upper half of
// the product is what is kept and the lower half what is lost. From then on codes are bytes.
struct Lanes {
    __m256i base, most;   // from exponents to places among the powers, the last for normal numbers
    __m256i powers;       // of two, as bytes; 0 is for what is below half of the smallest number
    __m256i first;        // exponent of the smallest normal number
    __m128i target_shift;
    __m256i infinity;     // of the source, without its sign, twice
    __m256i room;         // from the largest number to the last byte without a top bit
    __m256i target_overflow, target_infinity, target_nan, nan_sign;
    __m256i unsigned_zero;  // 0, which has no sign in fnuz, or what no code is
    __m128i sign_shift;
};

Lanes lanes_of(Format from, const Work &work) {
    const Format to = work.target.format;
    const Edges edge = work.edge;
    const int first = 1 + from.bias - to.bias, most = to.mantissa + 2, base = first - most;
    const int width = to.exponent + to.mantissa;
    const auto words = [](int x) { return _mm256_set1_epi16((short)x); };
    const auto bytes = [](u64 x) { return _mm256_set1_epi8((char)x); };
    return {
        words(base < 0 ? -base : base), words(most),
        _mm256_broadcastsi128_si256(
            _mm_setr_epi8(0, 1, 2, 4, 8, 16, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0)),
        words(first), _mm_cvtsi32_si128(to.mantissa),
        words(2 * (int)from.inf), bytes((u64)(127 - to.largest)),
        bytes(edge.overflow), bytes(edge.infinity), bytes(edge.nan),
        bytes((u64)edge.nan_sign << width), bytes(to.negative_zero ? 0xff : 0),
        _mm_cvtsi32_si128(7 - width),
    };
}

// The magnitudes of 16 codes, without a look at what is beyond the largest. Where exponents below 0
// count (`from_zero`), so do the source's subnormals: of exponent 0, and twice the significand.
template <int mantissa, bool from_zero>
PROMOARRAY_CAST __m256i magnitudes(__m256i x, const Lanes &l) {
    const __m256i one = _mm256_set1_epi16(1), implicit = _mm256_set1_epi16((short)0x8000);
    const __m256i exponent = _mm256_srli_epi16(_mm256_add_epi16(x, x), mantissa + 1);
    __m256i significand = _mm256_or_si256(_mm256_slli_epi16(x, 15 - mantissa), implicit);
    if (from_zero) {
        const __m256i small = _mm256_cmpeq_epi16(exponent, _mm256_setzero_si256());
        significand = _mm256_add_epi16(significand, _mm256_and_si256(significand, small));
    }
    const __m256i place = from_zero ? _mm256_add_epi16(exponent, l.base)
                                    : _mm256_subs_epu16(exponent, l.base);
    const __m256i power = _mm256_shuffle_epi8(l.powers, _mm256_min_epi16(place, l.most));
    const __m256i kept = _mm256_mulhi_epu16(significand, power);
    const __m256i lost = _mm256_mullo_epi16(significand, power);
    // Half of a kept bit is the top bit of what is lost. An even code goes up by more than that.
    const __m256i even = _mm256_andnot_si256(kept, one);
    const __m256i up = _mm256_srli_epi16(_mm256_subs_epu16(lost, even), 15);
    const __m256i steps = _mm256_sll_epi16(_mm256_subs_epu16(exponent, l.first), l.target_shift);
    return _mm256_add_epi16(_mm256_add_epi16(kept, up), steps);
}

// Packing goes on in each half of a register by itself.
PROMOARRAY_CAST __m256i in_order(__m256i packed) { return _mm256_permute4x64_epi64(packed, 0xd8); }

// The largest byte stands for all above it.
PROMOARRAY_CAST __m256i limited(__m256i low, __m256i high, const Lanes &l) {
    const __m256i code = _mm256_packus_epi16(low, high);
    return _mm256_blendv_epi8(code, l.target_overflow, _mm256_adds_epu8(code, l.room));
}
PROMOARRAY_CAST __m256i signs(__m256i low, __m256i high, const Lanes &l) {
    const __m256i top = _mm256_set1_epi8((char)0x80);
    return _mm256_srl_epi16(_mm256_and_si256(_mm256_packs_epi16(low, high), top), l.sign_shift);
}

// Of 32 numbers; `two_ends` where Inf does not become what overflows does.
template <int mantissa, bool from_zero, bool two_ends>
PROMOARRAY_CAST __m256i encoded(__m256i low, __m256i high, const Lanes &l) {
    // 1. Overflow and Inf.
    __m256i number = limited(magnitudes<mantissa, from_zero>(low, l),
                             magnitudes<mantissa, from_zero>(high, l), l);
    const __m256i first = _mm256_add_epi16(low, low), second = _mm256_add_epi16(high, high);
    if (two_ends) {
        const __m256i is_inf = _mm256_packs_epi16(_mm256_cmpeq_epi16(first, l.infinity),
                                                  _mm256_cmpeq_epi16(second, l.infinity));
        number = _mm256_blendv_epi8(number, l.target_infinity, is_inf);
    }

    // 2. The sign, and NaN.
    const __m256i sign = signs(low, high, l);
    const __m256i kept = _mm256_andnot_si256(_mm256_cmpeq_epi8(number, l.unsigned_zero), sign);
    const __m256i quiet = _mm256_xor_si256(l.target_nan, _mm256_and_si256(sign, l.nan_sign));
    const __m256i payload = _mm256_packus_epi16(_mm256_subs_epu16(first, l.infinity),
                                                _mm256_subs_epu16(second, l.infinity));
    const __m256i is_number = _mm256_cmpeq_epi8(payload, _mm256_setzero_si256());
    return in_order(_mm256_blendv_epi8(quiet, _mm256_or_si256(number, kept), is_number));
}

// Sixteen elements; of float32 the upper halves, which are bfloat16, odd if a lower one is not 0.
// They have two bits more than any target, so rounding them once more is as good as rounding once.
PROMOARRAY_CAST __m256i loaded(const void *x) {
    return _mm256_loadu_si256(static_cast<const __m256i *>(x));
}
PROMOARRAY_CAST __m256i sixteen_of(const u16 *x) { return loaded(x); }
PROMOARRAY_CAST __m256i sixteen_of(const u32 *x) {
    const __m256i half = _mm256_set1_epi32(0xffff), one = _mm256_set1_epi16(1);
    const __m256i first = loaded(x), second = loaded(x + 8);
    const __m256i upper =
        _mm256_packus_epi32(_mm256_srli_epi32(first, 16), _mm256_srli_epi32(second, 16));
    const __m256i lower =
        _mm256_packus_epi32(_mm256_and_si256(first, half), _mm256_and_si256(second, half));
    return in_order(_mm256_or_si256(upper, _mm256_min_epu16(lower, one)));
}

template <typename Source, int mantissa, bool from_zero, bool two_ends>
void to_narrow(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Source *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<u8 *>(target);
    const Format from = is_as_bfloat<Source> ? bfloat16_format() : work.source.format;
    const Lanes lanes = lanes_of(from, work);
    const auto codes_of = [&lanes](const Source *x) {
        return encoded<mantissa, from_zero, two_ends>(sixteen_of(x), sixteen_of(x + 16), lanes);
    };
    std::size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(dst + i), codes_of(src + i));
    }
    Source rest[32] = {};
    std::memcpy(rest, src + i, (n - i) * sizeof(Source));
    const __m256i codes = codes_of(rest);
    std::memcpy(dst + i, &codes, n - i);
}

// Integers as float32, rounded as in cast.h: none is Inf or NaN, or subnormal in the target, and 0
// is below all others.
struct WholeLanes {
    __m256i under_half, rebias;
    __m128i lost;
    Lanes codes;
};
PROMOARRAY_CAST __m256i rounded(__m256i words, const WholeLanes &l) {
    const __m256i bits = _mm256_castps_si256(_mm256_cvtepi32_ps(words));
    const __m256i odd = _mm256_and_si256(_mm256_srl_epi32(bits, l.lost), _mm256_set1_epi32(1));
    const __m256i carried = _mm256_add_epi32(_mm256_add_epi32(bits, l.under_half), odd);
    return _mm256_srl_epi32(carried, l.lost);
}
// (Unpacking goes on in each half of a register by itself, too.)
PROMOARRAY_CAST __m256i whole_magnitudes(__m256i whole, const WholeLanes &l) {
    const __m256i zero = _mm256_setzero_si256();
    const __m256i first = rounded(_mm256_unpacklo_epi16(whole, zero), l);
    const __m256i second = rounded(_mm256_unpackhi_epi16(whole, zero), l);
    return _mm256_sub_epi16(_mm256_packus_epi32(first, second), l.rebias);
}

template <typename Integer>
PROMOARRAY_CAST __m256i encoded(const Integer *at, const WholeLanes &l) {
    const bool has_sign = Integer(-1) < 0;
    const __m256i low = loaded(at), high = loaded(at + 16);
    const __m256i first = has_sign ? _mm256_abs_epi16(low) : low;
    const __m256i second = has_sign ? _mm256_abs_epi16(high) : high;
    const __m256i number =
        limited(whole_magnitudes(first, l), whole_magnitudes(second, l), l.codes);
    return in_order(has_sign ? _mm256_or_si256(number, signs(low, high, l.codes)) : number);
}

template <typename Integer>
void whole_to_narrow(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Integer *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<u8 *>(target);
    const Format to = work.target.format;
    const int lost = Float32::mantissa - to.mantissa;
    const WholeLanes lanes = {
        _mm256_set1_epi32((1 << (lost - 1)) - 1),
        _mm256_set1_epi16((short)((Float32::bias - to.bias) << to.mantissa)),
        _mm_cvtsi32_si128(lost), lanes_of(bfloat16_format(), work),
    };
    std::size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(dst + i), encoded(src + i, lanes));
    }
    Integer rest[32] = {};
    std::memcpy(rest, src + i, (n - i) * sizeof(Integer));
    const __m256i codes = encoded(rest, lanes);
    std::memcpy(dst + i, &codes, n - i);
}

template <typename Source, int mantissa, bool from_zero>
Loop narrow_loop_for(const Work &work) {
    const bool two_ends = work.edge.overflow != work.edge.infinity;
    return two_ends ? to_narrow<Source, mantissa, from_zero, true>
                    : to_narrow<Source, mantissa, from_zero, false>;
}

#endif

}  // namespace

Loop narrow_loop(Type source, const Work &work) {
    const Format to = work.target.format;
    const bool to_few =
        work.target.bits <= 8 && to.mantissa >= 1 && to.mantissa <= 4 && to.has_sign;
    if (!to_few) return nullptr;
    const bool is_short = is_float16(source) || is_bfloat16(source);
#ifdef __AVX512BW__
    static constexpr Loop from_whole[2] = {to_narrow_wide<Whole<u16>>, to_narrow_wide<Whole<i16>>};
    if (is_float32(source)) return to.bias <= 127 ? to_narrow_wide<u32> : nullptr;
    if (is_short) return to.bias <= source.format.bias + 1 ? to_narrow_wide<u16> : nullptr;
#else
    static constexpr Loop from_whole[2] = {whole_to_narrow<u16>, whole_to_narrow<i16>};
    // The exponents that round to a number of the target are those of normal numbers, or all.
    const int base = source.format.bias - to.bias - to.mantissa - 1;
    if (is_float32(source)) {
        const bool reaches = Float32::bias - to.bias - to.mantissa - 1 >= 0;
        return reaches ? narrow_loop_for<u32, 7, false>(work) : nullptr;
    }
    if (is_bfloat16(source)) return base >= 0 ? narrow_loop_for<u16, 7, false>(work) : nullptr;
    if (is_short && base >= 0) return narrow_loop_for<u16, 10, false>(work);
    if (is_short) return to.bias <= 16 ? narrow_loop_for<u16, 10, true>(work) : nullptr;
#endif
    // 1 is a normal number of the target.
    const bool is_whole = is_integer(source) && source.bits == 16 && to.bias >= 1;
    return is_whole ? from_whole[is_signed(source)] : nullptr;
}
#else
Loop narrow_loop(Type, const Work &) { return nullptr; }
#endif

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
