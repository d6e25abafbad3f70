// Casts from float16, bfloat16, float32 and integers of 16 bits to floats of 8 bits and fewer, in
// lanes of 16 bits, of which a register holds twice as many as of float32.
#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {

#ifdef __AVX2__
namespace {

// What an element is compared with. Codes without their sign lie in order, so all numbers here are
// codes of the source, but for those of the target named so; none has the top bit set.
struct Lanes {
    __m256i infinity, smallest;  // the smallest normal number of the target
    __m256i under_half, rebias;
    __m128i lost, sign_shift;
    __m256i target_largest, target_overflow, target_infinity, target_nan;
    __m256i sign_bit, nan_sign;
    __m256i unsigned_zero;       // 0, which has no sign in fnuz, or what no code is
};

// A tie between two subnormal codes, and the smallest normal one, is an odd number of half the worth
// of the format's last bit. The one it rounds to is even.
u64 last_below(u64 code, Format target, Format source) {
    const int exponent = -target.bias - target.mantissa;
    const Number tie = {Class::finite, false, exponent, 2 * code - 1};
    return put_float_together(tie, source, plain_mode()) - (code % 2 == 0);
}

Lanes lanes_of(Format from, const Work &work) {
    const Format to = work.target.format;
    const Edges edge = work.edge;
    const int lost = from.mantissa - to.mantissa, width = to.exponent + to.mantissa;
    const auto all = [](u64 x) { return _mm256_set1_epi16((short)x); };
    const Number smallest = {Class::finite, false, 1 - to.bias, 1};
    return {
        all((u64)from.inf), all(put_float_together(smallest, from, plain_mode())),
        all((1u << (lost - 1)) - 1), all((u64)(from.bias - to.bias) << to.mantissa),
        _mm_cvtsi32_si128(lost), _mm_cvtsi32_si128(15 - width),
        all((u64)to.largest), all(edge.overflow), all(edge.infinity), all(edge.nan),
        all(1ull << width), all((u64)edge.nan_sign << width),
        all(to.negative_zero ? ~0ull : 0),
    };
}

// `below` has the last magnitude that rounds to less than each code from 1 to the first normal one;
// with a count of 0 numbers are whole, and so neither subnormal in the target nor Inf or NaN.
template <int count>
PROMOARRAY_CAST __m256i encode_lanes(__m256i x, const Lanes &l, const __m256i *below) {
    const __m256i magnitude = _mm256_and_si256(x, _mm256_set1_epi16(0x7fff));

    // 1. A normal result, as in cast.h. A subnormal one is how many codes the number reaches.
    const __m256i odd = _mm256_and_si256(_mm256_srl_epi16(magnitude, l.lost),
                                         _mm256_set1_epi16(1));
    const __m256i carried = _mm256_add_epi16(_mm256_add_epi16(magnitude, l.under_half), odd);
    const __m256i normal = _mm256_sub_epi16(_mm256_srl_epi16(carried, l.lost), l.rebias);
    const __m256i sign = _mm256_and_si256(_mm256_srl_epi16(x, l.sign_shift), l.sign_bit);
    if constexpr (count == 0) {
        const __m256i whole = _mm256_max_epi16(normal, _mm256_setzero_si256());  // 0 is below all
        const __m256i over = _mm256_cmpgt_epi16(whole, l.target_largest);
        return _mm256_or_si256(_mm256_blendv_epi8(whole, l.target_overflow, over), sign);
    }
    __m256i subnormal = _mm256_setzero_si256();
    for (int i = 0; i < count; ++i) {
        subnormal = _mm256_sub_epi16(subnormal, _mm256_cmpgt_epi16(magnitude, below[i]));
    }
    const __m256i code =
        _mm256_blendv_epi8(normal, subnormal, _mm256_cmpgt_epi16(l.smallest, magnitude));

    // 2. Overflow and Inf.
    const __m256i over = _mm256_cmpgt_epi16(code, l.target_largest);
    const __m256i finite = _mm256_blendv_epi8(code, l.target_overflow, over);
    const __m256i is_inf = _mm256_cmpeq_epi16(magnitude, l.infinity);
    const __m256i number = _mm256_blendv_epi8(finite, l.target_infinity, is_inf);

    // 3. The sign, and NaN.
    const __m256i kept = _mm256_andnot_si256(_mm256_cmpeq_epi16(number, l.unsigned_zero), sign);
    const __m256i quiet = _mm256_xor_si256(l.target_nan, _mm256_and_si256(sign, l.nan_sign));
    const __m256i is_nan = _mm256_cmpgt_epi16(magnitude, l.infinity);
    return _mm256_blendv_epi8(_mm256_or_si256(number, kept), quiet, is_nan);
}

// An integer of 16 bits, and its magnitude.
template <typename Integer>
struct Whole { Integer value; };
// What goes on as bfloat16.
template <typename Source>
constexpr bool is_as_bfloat = true;
template <>
constexpr bool is_as_bfloat<u16> = false;

#ifdef __AVX512BW__
// The same in registers twice as long, which shift each lane by a count of its own: a subnormal
// loses one bit more for each exponent below the smallest.
struct WideLanes {
    __m512i infinity, fraction, implicit, under_half, rebias;
    __m512i first, lost, lost_at_zero;  // exponent of the smallest normal number; bits that go
    __m512i target_largest, target_overflow, target_infinity, target_nan;
    __m512i sign_bit, nan_sign, unsigned_zero;
    __m128i lost_count, sign_shift, exponent_shift, target_shift;
};

WideLanes wide_lanes_of(const Lanes &l, Format from, Format to) {
    const auto all = [](__m256i x) { return _mm512_broadcastw_epi16(_mm256_castsi256_si128(x)); };
    const auto set = [](int x) { return _mm512_set1_epi16((short)x); };
    const int lost = from.mantissa - to.mantissa, first = 1 + from.bias - to.bias;
    return {
        all(l.infinity), set((1 << from.mantissa) - 1), set(1 << from.mantissa),
        all(l.under_half), all(l.rebias),
        set(first), set(lost), set(lost + first),
        all(l.target_largest), all(l.target_overflow), all(l.target_infinity), all(l.target_nan),
        all(l.sign_bit), all(l.nan_sign), all(l.unsigned_zero),
        l.lost, l.sign_shift, _mm_cvtsi32_si128(from.mantissa), _mm_cvtsi32_si128(to.mantissa),
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
    const WideLanes lanes = wide_lanes_of(lanes_of(from, work), from, work.target.format);
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
#endif

// Packing goes on in each half of a register by itself.
PROMOARRAY_CAST __m256i in_order(__m256i packed) { return _mm256_permute4x64_epi64(packed, 0xd8); }

// Sixteen elements; of float32 the upper halves, which are bfloat16, odd if a lower one is not zero.
// They have four bits more than any target, so rounding them once more is as good as rounding once.
PROMOARRAY_CAST __m256i sixteen_of(const u16 *x) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i *>(x));
}
PROMOARRAY_CAST __m256i upper_halves(__m256i first, __m256i second) {
    const __m256i half = _mm256_set1_epi32(0xffff), one = _mm256_set1_epi16(1);
    const __m256i upper =
        _mm256_packus_epi32(_mm256_srli_epi32(first, 16), _mm256_srli_epi32(second, 16));
    const __m256i lower =
        _mm256_packus_epi32(_mm256_and_si256(first, half), _mm256_and_si256(second, half));
    return _mm256_or_si256(upper, _mm256_min_epu16(lower, one));
}
PROMOARRAY_CAST __m256i sixteen_of(const u32 *x) {
    const auto *rows = reinterpret_cast<const __m256i *>(x);
    return in_order(upper_halves(_mm256_loadu_si256(rows), _mm256_loadu_si256(rows + 1)));
}
// Integers as float32, of which the same is true, with their signs. (Unpacking goes on in each half
// of a register by itself, too.)
template <typename Integer>
PROMOARRAY_CAST __m256i sixteen_of(const Whole<Integer> *at) {
    const bool has_sign = Integer(-1) < 0;
    const __m256i x = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(at));
    const __m256i zero = _mm256_setzero_si256(), whole = has_sign ? _mm256_abs_epi16(x) : x;
    const auto single = [](__m256i words) {
        return _mm256_castps_si256(_mm256_cvtepi32_ps(words));
    };
    const __m256i first = single(_mm256_unpacklo_epi16(whole, zero));
    const __m256i second = single(_mm256_unpackhi_epi16(whole, zero));
    const __m256i magnitude = upper_halves(first, second);
    const __m256i sign = _mm256_and_si256(x, _mm256_set1_epi16((short)0x8000));
    return has_sign ? _mm256_or_si256(magnitude, sign) : magnitude;
}

template <int count, typename Source>
PROMOARRAY_CAST __m256i narrowed(const Source *src, const Lanes &l, const __m256i *below) {
    const __m256i low = encode_lanes<count>(sixteen_of(src), l, below);
    const __m256i high = encode_lanes<count>(sixteen_of(src + 16), l, below);
    return in_order(_mm256_packus_epi16(low, high));
}

template <int count, typename Source>
void to_narrow(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Source *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<u8 *>(target);
    const Format to = work.target.format;
    const Format from = is_as_bfloat<Source> ? bfloat16_format() : work.source.format;
    const Lanes lanes = lanes_of(from, work);
    __m256i below[count + 1];
    for (int i = 0; i < count; ++i) {
        below[i] = _mm256_set1_epi16((short)last_below((u64)i + 1, to, from));
    }
    std::size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m256i codes = narrowed<count>(src + i, lanes, below);
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(dst + i), codes);
    }
    Source rest[32] = {};
    std::memcpy(rest, src + i, (n - i) * sizeof(Source));
    const __m256i codes = narrowed<count>(rest, lanes, below);
    std::memcpy(dst + i, &codes, n - i);
}

}  // namespace

Loop narrow_loop(Type source, Type target) {
    static constexpr Loop from_short[4] = {to_narrow<2, u16>, to_narrow<4, u16>,
                                           to_narrow<8, u16>, to_narrow<16, u16>};
    static constexpr Loop from_single[3] = {to_narrow<2, u32>, to_narrow<4, u32>,
                                            to_narrow<8, u32>};
#ifdef __AVX512BW__
    static constexpr Loop from_whole[2] = {to_narrow_wide<Whole<u16>>, to_narrow_wide<Whole<i16>>};
#else
    static constexpr Loop from_whole[2] = {to_narrow<0, Whole<u16>>, to_narrow<0, Whole<i16>>};
#endif
    const Format to = target.format;
    const bool to_few = target.bits <= 8 && to.mantissa >= 1 && to.mantissa <= 4 && to.has_sign;
    if (!to_few) return nullptr;
    // 1 is a normal number of the target.
    if (is_integer(source)) {
        return source.bits == 16 && to.bias >= 1 ? from_whole[is_signed(source)] : nullptr;
    }
#ifdef __AVX512BW__
    if (is_float32(source)) return to.bias <= 127 ? to_narrow_wide<u32> : nullptr;
    const bool is_short = is_float16(source) || is_bfloat16(source);
    if (is_short && to.bias <= source.format.bias + 1) return to_narrow_wide<u16>;
#endif
    // The source's subnormals are none that the target has as normal numbers.
    if (to.bias > source.format.bias) return nullptr;
    if (is_float16(source) || is_bfloat16(source)) return from_short[to.mantissa - 1];
    if (is_float32(source) && to.mantissa <= 3) return from_single[to.mantissa - 1];
    return nullptr;
}
#else
Loop narrow_loop(Type, Type) { return nullptr; }
#endif

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
