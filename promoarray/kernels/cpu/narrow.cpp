// Casts from float16, bfloat16 and float32 to floats of 8 bits and fewer, in lanes of 16 bits, of
// which a register holds twice as many as of float32.
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

// `below` has the last magnitude that rounds to less than each code from 1 to the first normal one.
template <int count>
PROMOARRAY_CAST __m256i encode_lanes(__m256i x, const Lanes &l, const __m256i *below) {
    const __m256i magnitude = _mm256_and_si256(x, _mm256_set1_epi16(0x7fff));

    // 1. A normal result, as in cast.h. A subnormal one is how many codes the number reaches.
    const __m256i odd = _mm256_and_si256(_mm256_srl_epi16(magnitude, l.lost),
                                         _mm256_set1_epi16(1));
    const __m256i carried = _mm256_add_epi16(_mm256_add_epi16(magnitude, l.under_half), odd);
    const __m256i normal = _mm256_sub_epi16(_mm256_srl_epi16(carried, l.lost), l.rebias);
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
    const __m256i sign = _mm256_and_si256(_mm256_srl_epi16(x, l.sign_shift), l.sign_bit);
    const __m256i kept = _mm256_andnot_si256(_mm256_cmpeq_epi16(number, l.unsigned_zero), sign);
    const __m256i quiet = _mm256_xor_si256(l.target_nan, _mm256_and_si256(sign, l.nan_sign));
    const __m256i is_nan = _mm256_cmpgt_epi16(magnitude, l.infinity);
    return _mm256_blendv_epi8(_mm256_or_si256(number, kept), quiet, is_nan);
}

#ifdef __AVX512BW__
// The same in registers twice as long, which shift each lane by a count of its own: a subnormal
// loses one bit more for each exponent below the smallest.
struct WideLanes {
    __m512i infinity, smallest, under_half, rebias;
    __m512i target_largest, target_overflow, target_infinity, target_nan;
    __m512i sign_bit, nan_sign, unsigned_zero;
    __m512i fraction, implicit, lost_at_zero;  // bits that a subnormal with exponent 0 would lose
    __m128i lost, sign_shift, exponent_shift;
};

WideLanes wide_lanes_of(const Lanes &l, Format from, Format to) {
    const auto all = [](__m256i x) { return _mm512_broadcastw_epi16(_mm256_castsi256_si128(x)); };
    const auto set = [](int x) { return _mm512_set1_epi16((short)x); };
    const int lost = from.mantissa - to.mantissa;
    return {
        // (A target that reaches one exponent further has there the steps of the source's subnormals.)
        all(l.infinity), _mm512_max_epi16(all(l.smallest), set(1 << from.mantissa)),
        all(l.under_half), all(l.rebias),
        all(l.target_largest), all(l.target_overflow), all(l.target_infinity), all(l.target_nan),
        all(l.sign_bit), all(l.nan_sign), all(l.unsigned_zero),
        set((1 << from.mantissa) - 1), set(1 << from.mantissa),
        set(lost + 1 + from.bias - to.bias),
        l.lost, l.sign_shift, _mm_cvtsi32_si128(from.mantissa),
    };
}

PROMOARRAY_CAST __m512i encode_wide_lanes(__m512i x, const WideLanes &l) {
    const __m512i one = _mm512_set1_epi16(1);
    const __m512i magnitude = _mm512_and_si512(x, _mm512_set1_epi16(0x7fff));

    // 1. A normal result, and a subnormal one: of numbers that have no implicit bit themselves the
    //    exponent is 1.
    const __m512i odd = _mm512_and_si512(_mm512_srl_epi16(magnitude, l.lost), one);
    const __m512i carried = _mm512_add_epi16(_mm512_add_epi16(magnitude, l.under_half), odd);
    const __m512i normal = _mm512_sub_epi16(_mm512_srl_epi16(carried, l.lost), l.rebias);

    const __m512i exponent = _mm512_srl_epi16(magnitude, l.exponent_shift);
    const __m512i fraction = _mm512_and_si512(magnitude, l.fraction);
    const __mmask32 is_normal = _mm512_test_epi16_mask(exponent, exponent);
    const __m512i significand = _mm512_or_si512(fraction, _mm512_maskz_mov_epi16(is_normal, l.implicit));
    const __m512i count = _mm512_sub_epi16(l.lost_at_zero, _mm512_max_epu16(exponent, one));
    const __m512i half = _mm512_sllv_epi16(one, _mm512_sub_epi16(count, one));
    const __m512i last = _mm512_and_si512(_mm512_srlv_epi16(significand, count), one);
    const __m512i up = _mm512_add_epi16(_mm512_sub_epi16(half, one), last);
    const __m512i subnormal = _mm512_srlv_epi16(_mm512_add_epi16(significand, up), count);
    const __mmask32 is_small = _mm512_cmplt_epi16_mask(magnitude, l.smallest);
    const __m512i code = _mm512_mask_mov_epi16(normal, is_small, subnormal);

    // 2. Overflow and Inf.
    const __mmask32 over = _mm512_cmpgt_epi16_mask(code, l.target_largest);
    const __m512i finite = _mm512_mask_mov_epi16(code, over, l.target_overflow);
    const __mmask32 is_inf = _mm512_cmpeq_epi16_mask(magnitude, l.infinity);
    const __m512i number = _mm512_mask_mov_epi16(finite, is_inf, l.target_infinity);

    // 3. The sign, and NaN.
    const __m512i sign = _mm512_and_si512(_mm512_srl_epi16(x, l.sign_shift), l.sign_bit);
    const __mmask32 has_sign = _mm512_cmpneq_epi16_mask(number, l.unsigned_zero);
    const __m512i kept = _mm512_maskz_mov_epi16(has_sign, sign);
    const __m512i quiet = _mm512_xor_si512(l.target_nan, _mm512_and_si512(sign, l.nan_sign));
    const __mmask32 is_nan = _mm512_cmpgt_epi16_mask(magnitude, l.infinity);
    return _mm512_mask_mov_epi16(_mm512_or_si512(number, kept), is_nan, quiet);
}

void to_narrow_wide(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const u16 *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<u8 *>(target);
    const Format from = work.source.format;
    const WideLanes lanes = wide_lanes_of(lanes_of(from, work), from, work.target.format);
    // Two registers at a time go on while the other waits; a store under a mask would be slow.
    std::size_t i = 0;
    for (; i + 64 <= n; i += 64) {
        const __m512i low = encode_wide_lanes(_mm512_loadu_si512(src + i), lanes);
        const __m512i high = encode_wide_lanes(_mm512_loadu_si512(src + i + 32), lanes);
        auto *out = reinterpret_cast<__m256i *>(dst + i);
        _mm256_storeu_si256(out, _mm512_cvtepi16_epi8(low));
        _mm256_storeu_si256(out + 1, _mm512_cvtepi16_epi8(high));
    }
    for (; i < n; i += 32) {
        const __mmask32 there = n - i < 32 ? (1u << (n - i)) - 1 : ~0u;
        const __m512i x = _mm512_maskz_loadu_epi16(there, src + i);
        const __m256i codes = _mm512_cvtepi16_epi8(encode_wide_lanes(x, lanes));
        _mm256_mask_storeu_epi8(dst + i, there, codes);
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
PROMOARRAY_CAST __m256i sixteen_of(const u32 *x) {
    const auto *rows = reinterpret_cast<const __m256i *>(x);
    const __m256i first = _mm256_loadu_si256(rows), second = _mm256_loadu_si256(rows + 1);
    const __m256i half = _mm256_set1_epi32(0xffff), one = _mm256_set1_epi16(1);
    const __m256i upper =
        _mm256_packus_epi32(_mm256_srli_epi32(first, 16), _mm256_srli_epi32(second, 16));
    const __m256i lower =
        _mm256_packus_epi32(_mm256_and_si256(first, half), _mm256_and_si256(second, half));
    return in_order(_mm256_or_si256(upper, _mm256_min_epu16(lower, one)));
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
    const Format from = sizeof(Source) == 4 ? bfloat16_format() : work.source.format;
    const Lanes lanes = lanes_of(from, work);
    __m256i below[count];
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
    const Format to = target.format;
    const bool to_few = target.bits <= 8 && to.mantissa >= 1 && to.mantissa <= 4 && to.has_sign;
    if (!to_few) return nullptr;
#ifdef __AVX512BW__
    const bool is_short = is_float16(source) || is_bfloat16(source);
    if (is_short && to.bias <= source.format.bias + 1) return to_narrow_wide;
#endif
    // The source's subnormals are none that the target has as normal numbers.
    if (to.bias > source.format.bias) return nullptr;
    if (is_float16(source) || is_bfloat16(source)) return from_short[to.mantissa - 1];
#ifndef __AVX512BW__  // with which float32 is encoded sixteen at a time
    if (is_float32(source) && to.mantissa <= 3) return from_single[to.mantissa - 1];
#endif
    return nullptr;
}
#else
Loop narrow_loop(Type, Type) { return nullptr; }
#endif

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
