// Loops to floats: to small ones from all but 8 bits and fewer, and among the wide ones.
#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

// --- To small floats ----------------------------------------------------------------------------
// Whatever the source, it is first made a float32 or float64 that holds it, or is as good for the
// one rounding to come, and that is encoded. Sources of 16 bits and fewer go by the loop to float32
// and the one from there.

// The bits of a float with the magnitude of an integer, odd if it is too long, and the sign.
PROMOARRAY_CAST u32 odd_bits(u32 x) { return as_bits((f32)sticky(x)); }
PROMOARRAY_CAST u64 odd_bits(u64 x) { return as_bits((f64)sticky(x)); }
PROMOARRAY_CAST u32 odd_bits(i32 x) {
    const u32 negative = x < 0 ? ~0u : 0;
    return odd_bits(((u32)x ^ negative) - negative) | (negative & 0x80000000u);
}
PROMOARRAY_CAST u64 odd_bits(i64 x) {
    const u64 negative = x < 0 ? ~0ull : 0;
    const u64 magnitude = sticky(((u64)x ^ negative) - negative);
    return as_bits((f64)(i64)((magnitude ^ negative) - negative));
}

// Without the machine's conversion.
PROMOARRAY_CAST u64 halves_bits(u64 x) { return as_bits(sum_of_halves(sticky(x))); }
PROMOARRAY_CAST u64 halves_bits(i64 x) {
    const u64 negative = x < 0 ? ~0ull : 0;
    return halves_bits(((u64)x ^ negative) - negative) | (negative & 0x8000000000000000ull);
}

#define PROMOARRAY_DECODED                           \
    const Format from = work.source.format;          \
    const u32 keep = work.rule.keep_nan_sign;
#define PROMOARRAY_KEEP const u32 keep = work.rule.keep_nan_sign;
#define PROMOARRAY_SINGLE const Edges single = work.single_edge;

#define PROMOARRAY_TO_FLOATS(name, Source, Wide, finite, scale, ...)                \
    PROMOARRAY_LOOP(name##_to_8, Source, u8,                                        \
                    const Format to = work.target.format;                 \
                    const Edges edge = work.edge, encode<Wide, finite>(__VA_ARGS__, to, edge)) \
    PROMOARRAY_LOOP(name##_to_16, Source, u16,                                      \
                    const Format to = work.target.format;                 \
                    const Edges edge = work.edge, encode<Wide, finite>(__VA_ARGS__, to, edge)) \
    PROMOARRAY_LOOP(name##_to_scale, Source, u8, const auto edge = work.scale, \
                    encode_scale<Wide>(__VA_ARGS__, edge))                          \
    PROMOARRAY_LOOP(name##_to_scale_or_nan, Source, u8, const auto edge = work.scale, \
                    encode_scale_or_nan<Wide>(__VA_ARGS__, edge))                   \
    constexpr Loop name##_loops[4] = {name##_to_8, name##_to_16, name##_to_scale,   \
                                      name##_to_scale_or_nan};

PROMOARRAY_TO_FLOATS(single, u32, Float32, false, scale32, x)
PROMOARRAY_TO_FLOATS(double, u64, Float64, false, scale64, x)
PROMOARRAY_TO_FLOATS(i32, i32, Float32, true, scale32, odd_bits(x))
PROMOARRAY_TO_FLOATS(u32, u32, Float32, true, scale32, odd_bits(x))
PROMOARRAY_TO_FLOATS(i64, i64, Float64, true, scale64, odd_bits(x))
PROMOARRAY_TO_FLOATS(u64, u64, Float64, true, scale64, odd_bits(x))
PROMOARRAY_TO_FLOATS(i64_halves, i64, Float64, true, scale64, halves_bits(x))
PROMOARRAY_TO_FLOATS(u64_halves, u64, Float64, true, scale64, halves_bits(x))

#define PROMOARRAY_TO_BFLOAT(name, Source, ...) \
    PROMOARRAY_LOOP(name##_to_bfloat, Source, u16, , bfloat_of(__VA_ARGS__))
PROMOARRAY_TO_BFLOAT(whole, u32, x)
PROMOARRAY_TO_BFLOAT(i32, i32, odd_bits(x)) PROMOARRAY_TO_BFLOAT(u32, u32, odd_bits(x))
PROMOARRAY_TO_BFLOAT(i64, i64, odd_bits(x)) PROMOARRAY_TO_BFLOAT(u64, u64, odd_bits(x))
PROMOARRAY_TO_BFLOAT(i64_halves, i64, halves_bits(x))
PROMOARRAY_TO_BFLOAT(u64_halves, u64, halves_bits(x))

// --- Floats among the wide ones -----------------------------------------------------------------

PROMOARRAY_LOOP(small_to_single, u8, u32, PROMOARRAY_DECODED, decode(x, from, keep))
PROMOARRAY_LOOP(scale_to_single, u8, u32, , decode_scale(x))
PROMOARRAY_LOOP(bfloat_to_single, u16, u32, PROMOARRAY_KEEP, quieted((u32)x << 16, keep))
PROMOARRAY_LOOP(double_to_single, u64, u32, PROMOARRAY_SINGLE,
                encode<Float64>(x, float32_format(), single))

// By the machine, but for NaN, which is asked for where it is a float32.
PROMOARRAY_CAST f32 number_or_nan(f32 x, u32 keep) {
    return x == x ? x : as_float(0x7fc00000u | (as_bits(x) & keep << Float32::top));
}
PROMOARRAY_LOOP(bfloat_to_double, u16, f64, PROMOARRAY_KEEP,
                number_or_nan(as_float((u32)x << 16), keep))
PROMOARRAY_LOOP(single_to_double, f32, f64, PROMOARRAY_KEEP, number_or_nan(x, keep))
// Where a number beyond the largest becomes Inf.
PROMOARRAY_LOOP(double_to_single_plainly, f64, f32, PROMOARRAY_KEEP, number_or_nan((f32)x, keep))

// To bfloat16 what it holds.
PROMOARRAY_LOOP(upper_half, u32, u16, , x >> 16)

// Where a number beyond the largest becomes Inf, as it does by rounding.
PROMOARRAY_LOOP(single_to_bfloat, u32, u16, const u32 nan = (u32)work.edge.nan;
                const u32 kept = work.edge.nan_sign << 15,
                (x & 0x7fffffffu) > 0x7f800000u ? nan | (x >> 16 & kept) : bfloat_of(x))

#ifdef __F16C__
constexpr bool has_half = true;

void half_to_single(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const u16 *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<f32 *>(target);
    const __m256 quiet = _mm256_set1_ps(as_float(0x7fc00000u));
    const __m256 kept = _mm256_set1_ps(as_float((u32)work.rule.keep_nan_sign << 31));
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(src + i));
        const __m256 x = singles_of(codes);
        const __m256 nan = _mm256_or_ps(quiet, _mm256_and_ps(x, kept));
        const __m256 is_nan = _mm256_cmp_ps(x, x, _CMP_UNORD_Q);
        _mm256_storeu_ps(dst + i, _mm256_blendv_ps(x, nan, is_nan));
    }
    const u32 keep = work.rule.keep_nan_sign;
    for (; i < n; ++i) dst[i] = as_float(quieted(decode_half(src[i]), keep));
}

// Under a rule that keeps Inf and overflows to it.
void single_to_half(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const f32 *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<u16 *>(target);
    const __m128i kept = _mm_set1_epi16((short)(work.edge.nan_sign << 15));
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m128i codes = halves_of(_mm256_loadu_ps(src + i), kept);
        _mm_storeu_si128(reinterpret_cast<__m128i *>(dst + i), codes);
    }
    for (; i < n; ++i) {
        dst[i] = (u16)encode<Float32>(as_bits(src[i]), work.target.format, work.edge);
    }
}
#else
constexpr bool has_half = false;

PROMOARRAY_LOOP(half_to_single, u16, u32, PROMOARRAY_KEEP, quieted(decode_half(x), keep))
constexpr Loop single_to_half = single_to_16;
#endif

// The loops to small floats from what float32 does not hold; by rows, of integers.
const Loop *small_float_loops(Type source) {
    static constexpr const Loop *integers[2][4] = {{nullptr, nullptr, u32_loops, u64_loops},
                                                   {nullptr, nullptr, i32_loops, i64_loops}};
    if (is_float32(source)) return single_loops;
    if (is_float64(source)) return double_loops;
    if (source.bits == 64 && !converts_long) {
        return is_signed(source) ? i64_halves_loops : u64_halves_loops;
    }
    return integers[is_signed(source)][row_of(source)];
}

bool keeps_inf(const Rule &rule) { return rule.infinity == Beyond::infinity; }

// Integers of 16 bits are float32 before.
Loop integer_to_bfloat(Type source) {
    if (source.bits <= 16) return source.bits <= 8 ? upper_half : whole_to_bfloat;
    if (source.bits == 32) return is_signed(source) ? i32_to_bfloat : u32_to_bfloat;
    if (converts_long) return is_signed(source) ? i64_to_bfloat : u64_to_bfloat;
    return is_signed(source) ? i64_halves_to_bfloat : u64_halves_to_bfloat;
}

Loop to_small_float(Type source, const Work &work) {
    const Type target = work.target;
    const Rule &rule = work.rule;
    const bool plain = rule.overflow == Beyond::infinity && keeps_inf(rule);
    if (is_float32(source) && is_float16(target) && plain) return single_to_half;
    if (is_float32(source) && is_bfloat16(target) && plain) return single_to_bfloat;
    if (is_integer(source) && is_bfloat16(target)) return integer_to_bfloat(source);
    const Loop *loops = small_float_loops(source);
    if (target.format.has_sign) return loops[row_of(target)];
    return loops[work.scale32.all_nan ? 3 : 2];
}

// From floats to float32 or float64; nullptr where a rule asks for what no loop does.
Loop among_wide(Type source, Work &work) {
    const Rule &rule = work.rule;
    if (is_float64(source)) {
        const bool overflows = rule.overflow == Beyond::infinity && keeps_inf(rule);
        return overflows && rule.keep_nan_sign ? double_to_single_plainly : double_to_single;
    }
    if (!keeps_inf(rule)) return nullptr;  // what widens keeps Inf
    if (is_float32(work.target)) return single_loop(source);
    if (is_float32(source)) return single_to_double;
    if (is_bfloat16(source)) return bfloat_to_double;
    return is_float16(source) ? chain(work, half_to_single, single_to_double) : nullptr;
}

}  // namespace

Loop single_loop(Type source) {
    if (is_integer(source)) return wide_float_loop(source, float32_type());
    if (is_bfloat16(source)) return bfloat_to_single;
    if (is_float16(source)) return half_to_single;
    if (source.bits > 8) return nullptr;
    return source.format.has_sign ? small_to_single : scale_to_single;
}

Loop float_loop(Type source, Work &work) {
    const Type target = work.target, single = float32_type();
    const bool via = goes_via_float32(target, work.rule);
    work.edge = edges(target.format, work.rule);
    work.single_edge = edges(float32_format(), via ? plain_rule() : work.rule);
    if (is_float32(target) || is_float64(target)) {
        return is_integer(source) ? wide_float_loop(source, target) : among_wide(source, work);
    }
    work.scale32 = scale_edges<Float32>(target.format, work.rule);
    work.scale64 = scale_edges<Float64>(target.format, work.rule);

    // 1. A rule may round to float32 first.
    if (via && source.bits >= 32 && !is_float32(source)) {
        const Loop first =
            is_integer(source) ? wide_float_loop(source, single) : double_to_single_plainly;
        return chain(work, first, to_small_float(single, work));
    }
    if (source.bits > 16) return to_small_float(source, work);
    // 2. All others are numbers of float32; codes of 8 bits are better looked up, but for integers
    //    that go on by an instruction.
    const bool few = source.bits <= 8;
    const bool to_bfloat = is_integer(source) && is_bfloat16(target);
    const Loop second = to_bfloat ? integer_to_bfloat(source) : to_small_float(single, work);
    const bool short_second = second == upper_half || (has_half && second == single_to_half);
    if (few && !(is_integer(source) && short_second)) return nullptr;
    return chain(work, single_loop(source), second);
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
