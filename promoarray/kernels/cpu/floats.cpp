// Loops to floats: to small ones from all but 8 bits and fewer, and among the wide ones.
#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

// --- To small floats ----------------------------------------------------------------------------
// Whatever the source, it is first made a float32 that holds it, or is as good for the one rounding
// to come, and the loop from there goes on.

PROMOARRAY_LOOP(single_to_8, u32, u8, const Format to = work.target.format;
                const Edges edge = work.edge, encode<Float32>(x, to, edge))
PROMOARRAY_LOOP(single_to_16, u32, u16, const Format to = work.target.format;
                const Edges edge = work.edge, encode<Float32>(x, to, edge))

// By a table for all codes of bfloat16: of the upper half, odd if the lower one is not zero. It has two
// bits more than any target, so rounding it once more is as good as rounding once.
PROMOARRAY_LOOP(upper_half_to_odd, u32, u16, , (x | ((x & 0xffff) + 0xffff)) >> 16)
PROMOARRAY_LOOP(bfloat_looked_up, u16, u8, const unsigned char *table = work.adjustment.table,
                table[x])

PROMOARRAY_CAST u32 encode_whole(f32 x, Format to, Edges edge) {
    return encode<Float32, true>(as_bits(x), to, edge);
}
PROMOARRAY_LOOP(i16_to_8, i16, u8, const Format to = work.target.format;
                const Edges edge = work.edge, encode_whole((f32)x, to, edge))
PROMOARRAY_LOOP(u16_to_8, u16, u8, const Format to = work.target.format;
                const Edges edge = work.edge, encode_whole((f32)x, to, edge))

// 13 bits of a float64, the last of them set if any below it was ("to odd"): rounded to 11 bits and
// fewer, it gives what the whole gives. Float32's subnormals hold so few down to 2^-137, and no
// format here tells what is less from zero.
constexpr u64 below_odd = (1ull << (Float64::mantissa - 12)) - 1;
PROMOARRAY_CAST u64 odd_bits(f64 x) {
    const u64 bits = as_bits(x);
    return (bits | ((bits & below_odd) + below_odd)) & ~below_odd;
}
PROMOARRAY_LOOP(double_to_odd, f64, f32, , (f32)as_float(odd_bits(x)))

// What only float64 holds is beyond the largest of all of them; it is not Inf where that matters.
PROMOARRAY_CAST f32 clamped_to_float32(u64 bits) {
    constexpr i64 infinity = 0x7ff0000000000000ll, largest = 0x47efff0000000000ll;  // 0x1.fffp127
    const i64 magnitude = (i64)(bits & ~0ull >> 1);
    const i64 limited = (magnitude > largest) & (magnitude < infinity) ? largest : magnitude;
    return (f32)as_float((u64)limited | (bits & 1ull << Float64::top));
}
PROMOARRAY_LOOP(double_to_clamped, f64, f32, , clamped_to_float32(odd_bits(x)))

// All integers from 2^24 on are beyond the largest number of a format that ends below it.
constexpr int exact_bits = Float32::mantissa + 1;
PROMOARRAY_CAST i32 limited(i64 x) {
    constexpr i64 end = 1 << exact_bits;
    return (i32)(x > end ? end : x < -end ? -end : x);
}
PROMOARRAY_CAST i32 limited(u64 x) {
    const u32 beyond = 0 - (u32)((0 - (x >> exact_bits)) >> 63);  // all ones, as in `sticky`
    return (i32)(((u32)x & ~beyond) | (beyond & 1u << exact_bits));
}
PROMOARRAY_CAST i32 limited(u32 x) {
    return (i32)(x < 1u << exact_bits ? x : 1u << exact_bits);
}
PROMOARRAY_LOOP(u32_limited, u32, f32, , (f32)limited(x))
PROMOARRAY_LOOP(i64_limited, i64, f32, , (f32)limited(x))
PROMOARRAY_LOOP(u64_limited, u64, f32, , (f32)limited(x))

// --- Integers to bfloat16 and to scales ---------------------------------------------------------
// These reach further. An integer too long for the float becomes odd before.

PROMOARRAY_CAST u32 odd_bits(u32 x) { return as_bits((f32)sticky(x)); }
PROMOARRAY_CAST u64 odd_bits(u64 x) { return as_bits((f64)sticky(x)); }
PROMOARRAY_CAST u32 odd_bits(i32 x) {
    // In two's complement too, the odd one of both neighbours is that with the last bit set.
    const i32 odd = (x | ((x & 0xff) + 0xff)) & ~0xff;
    const bool is_short = (u32)x + (1u << 24) <= 1u << 25;
    return as_bits((f32)(is_short ? x : odd));
}
PROMOARRAY_CAST u64 odd_bits(i64 x) {
    const u64 negative = 0 - ((u64)x >> 63);
    const u64 magnitude = sticky(((u64)x ^ negative) - negative);
    return as_bits((f64)(i64)((magnitude ^ negative) - negative));
}

// Without the machine's conversion.
PROMOARRAY_CAST u64 halves_bits(u64 x) { return as_bits(sum_of_halves(sticky(x))); }
PROMOARRAY_CAST u64 halves_bits(i64 x) {
    const u64 negative = 0 - ((u64)x >> 63);
    return halves_bits(((u64)x ^ negative) - negative) | (negative & 0x8000000000000000ull);
}

#define PROMOARRAY_TO_BFLOAT(name, Source, ...) \
    PROMOARRAY_LOOP(name##_to_bfloat, Source, u16, , bfloat_of(__VA_ARGS__))
PROMOARRAY_TO_BFLOAT(whole, u32, x)
PROMOARRAY_TO_BFLOAT(i32, i32, odd_bits(x)) PROMOARRAY_TO_BFLOAT(u32, u32, odd_bits(x))
PROMOARRAY_TO_BFLOAT(i64, i64, odd_bits(x)) PROMOARRAY_TO_BFLOAT(u64, u64, odd_bits(x))
PROMOARRAY_TO_BFLOAT(i64_halves, i64, halves_bits(x))
PROMOARRAY_TO_BFLOAT(u64_halves, u64, halves_bits(x))

// Where what is too small becomes the smallest scale: zero, and negative numbers or their magnitudes.
// What is too large has a code above `overflow`, the largest or NaN; Inf is as good as one of both.
PROMOARRAY_CAST u32 positive(u32 bits) { return (i32)bits > 0 ? bits : 0; }
PROMOARRAY_CAST u64 positive(u64 bits) { return (i64)bits > 0 ? bits : 0; }
template <typename Wide>
PROMOARRAY_CAST u32 encode_least_scale(typename Wide::Bits bits, ScaleEdges<Wide> edge) {
    using Bits = typename Wide::Bits;
    constexpr Bits all = ~(Bits)0 >> 1, infinity = all >> Wide::mantissa << Wide::mantissa;
    const Bits end = edge.infinity == edge.overflow ? infinity + 1 : infinity;
    const Bits code = nearest_scale<Wide>(positive(bits & edge.sign), edge);
    const Bits number = code < edge.overflow ? code : edge.overflow;
    return (u32)((bits & all) < end ? number : edge.nan);
}
int scale_row(const Work &work) {
    const auto &edge = work.scale32;
    const CastMode &mode = work.mode;
    const Format f = work.target.format;
    const bool by_sign = mode.scale_negative != ScaleNegative::absolute;
    const bool least = !mode.scale_strict && edge.zero == 0 && !(by_sign && edge.negative != 0);
    const bool ends = edge.overflow == edge.nan || edge.overflow == (u32)f.largest;
    // -Inf is a negative number, and no NaN.
    const bool infinite = edge.infinity == edge.overflow || (!by_sign && edge.infinity == edge.nan);
    return edge.all_nan ? 1 : least && ends && infinite ? 2 : 0;
}

// Those of any mode, of modes by which all that has no scale becomes NaN, and of those above.
#define PROMOARRAY_TO_SCALE(name, Source, Wide, scale, ...)                                       \
    PROMOARRAY_LOOP(name##_to_scale, Source, u8, const auto edge = work.scale,                    \
                    encode_scale<Wide>(__VA_ARGS__, edge))                                        \
    PROMOARRAY_LOOP(name##_to_scale_or_nan, Source, u8, const auto edge = work.scale,             \
                    encode_scale_or_nan<Wide>(__VA_ARGS__, edge))                                 \
    PROMOARRAY_LOOP(name##_to_least_scale, Source, u8, const auto edge = work.scale,              \
                    encode_least_scale<Wide>(__VA_ARGS__, edge))                                  \
    constexpr Loop name##_scales[3] = {name##_to_scale, name##_to_scale_or_nan,                   \
                                       name##_to_least_scale};

PROMOARRAY_TO_SCALE(single, u32, Float32, scale32, x)
PROMOARRAY_TO_SCALE(double, u64, Float64, scale64, x)
PROMOARRAY_TO_SCALE(i32, i32, Float32, scale32, odd_bits(x))
PROMOARRAY_TO_SCALE(u32, u32, Float32, scale32, odd_bits(x))
PROMOARRAY_TO_SCALE(i64, i64, Float64, scale64, odd_bits(x))
PROMOARRAY_TO_SCALE(u64, u64, Float64, scale64, odd_bits(x))
PROMOARRAY_TO_SCALE(i64_halves, i64, Float64, scale64, halves_bits(x))
PROMOARRAY_TO_SCALE(u64_halves, u64, Float64, scale64, halves_bits(x))

// --- Floats among the wide ones -----------------------------------------------------------------

#define PROMOARRAY_DECODED                           \
    const Format from = work.source.format;          \
    const u32 keep = work.mode.keep_nan_sign;
#define PROMOARRAY_KEEP const u32 keep = work.mode.keep_nan_sign;
#define PROMOARRAY_SINGLE const Edges single = work.single_edge;

PROMOARRAY_LOOP(small_to_single, u8, u32, PROMOARRAY_DECODED, decode(x, from, keep))
PROMOARRAY_LOOP(scale_to_single, u8, u32, , decode_scale(x))
PROMOARRAY_LOOP(bfloat_to_single, u16, u32, PROMOARRAY_KEEP, quieted((u32)x << 16, keep))
PROMOARRAY_LOOP(bfloat_as_is, u16, u32, , (u32)x << 16)
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

// (Magnitudes are compared as signed numbers, which x86 has for vectors at every level.)
PROMOARRAY_LOOP(single_to_bfloat, u32, u16, const u32 nan = (u32)work.edge.nan;
                const u32 kept = work.edge.nan_sign << 15,
                (i32)(x & 0x7fffffffu) > 0x7f800000 ? nan | (x >> 16 & kept) : bfloat_of(x))

// `encode` with the numbers of float16, where a number beyond the largest becomes Inf.
PROMOARRAY_CAST u32 half_of(u32 bits, u32 keep_nan_sign) {
    constexpr u32 rebias = (u32)(Float32::bias - 15) << Float32::mantissa, half = 0x3f000000u;
    constexpr i32 smallest = 113 << Float32::mantissa, beyond = 0x477ff000, infinity = 0x7f800000;
    const i32 magnitude = (i32)(bits & 0x7fffffffu);
    const u32 sign = bits >> 31 << 15;
    const u32 normal = ((u32)magnitude - rebias + 0xfff + (bits >> 13 & 1)) >> 13;
    const u32 subnormal = as_bits(as_float((u32)magnitude) + as_float(half)) - half;
    const u32 finite = magnitude < smallest ? subnormal : normal;
    const u32 number = (magnitude < beyond ? finite : 0x7c00u) | sign;
    return magnitude > infinity ? 0x7e00u | (sign & keep_nan_sign << 15) : number;
}
PROMOARRAY_LOOP(single_to_half, u32, u16, const u32 keep = work.edge.nan_sign, half_of(x, keep))

// To bfloat16 what it holds.
PROMOARRAY_LOOP(upper_half, u32, u16, , x >> 16)

#ifdef __F16C__
template <bool quiets>
void half_to_any(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const u16 *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<f32 *>(target);
    const __m256 quiet = _mm256_set1_ps(as_float(0x7fc00000u));
    const __m256 kept = _mm256_set1_ps(as_float((u32)work.mode.keep_nan_sign << 31));
    std::size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(src + i));
        __m256 x = Half::read(codes);
        if (quiets) {
            const __m256 nan = _mm256_or_ps(quiet, _mm256_and_ps(x, kept));
            x = _mm256_blendv_ps(x, nan, _mm256_cmp_ps(x, x, _CMP_UNORD_Q));
        }
        _mm256_storeu_ps(dst + i, x);
    }
    const u32 keep = work.mode.keep_nan_sign;
    for (; i < n; ++i) dst[i] = as_float(quieted(decode_half(src[i]), keep));
}
constexpr Loop half_to_single = half_to_any<true>, half_as_is = half_to_any<false>;
#else
PROMOARRAY_LOOP(half_to_single, u16, u32, PROMOARRAY_KEEP, quieted(decode_half(x), keep))
PROMOARRAY_LOOP(half_as_is, u16, u32, , decode_half(x))
#endif

bool keeps_inf(const CastMode &mode) { return mode.infinity == Beyond::infinity; }

// Integers of 16 bits are float32 before.
Loop integer_to_bfloat(Type source) {
    if (source.bits <= 16) return source.bits <= 8 ? upper_half : whole_to_bfloat;
    if (source.bits == 32) return is_signed(source) ? i32_to_bfloat : u32_to_bfloat;
    if (converts_long) return is_signed(source) ? i64_to_bfloat : u64_to_bfloat;
    return is_signed(source) ? i64_halves_to_bfloat : u64_halves_to_bfloat;
}

// From what has 32 bits and more.
const Loop *scale_loops(Type source) {
    if (is_float32(source)) return single_scales;
    if (is_float64(source)) return double_scales;
    if (source.bits == 32) return is_signed(source) ? i32_scales : u32_scales;
    if (converts_long) return is_signed(source) ? i64_scales : u64_scales;
    return is_signed(source) ? i64_halves_scales : u64_halves_scales;
}

// Where a number beyond the largest becomes Inf, as by rounding.
bool is_plain(const CastMode &mode) {
    return mode.overflow == Beyond::infinity && keeps_inf(mode);
}

Loop single_to_small(Work &work) {
    const Type target = work.target;
    if (!target.format.has_sign) return single_scales[scale_row(work)];
    if (is_plain(work.mode)) {
        if (const Loop found = short_loop(float32_type(), target)) return found;
        if (is_bfloat16(target)) return single_to_bfloat;
        if (is_float16(target)) return single_to_half;
    }
    if (const Loop found = narrow_loop(float32_type(), work)) return found;
    if (target.bits <= 8 && work.adjustment.table != nullptr) {
        return chain(work, upper_half_to_odd, bfloat_looked_up);
    }
    return target.bits <= 8 ? single_to_8 : single_to_16;
}

// The loop to a float32 as good as the source for the one rounding to come.
Loop single_as_good(Type source, const Work &work) {
    if (is_float64(source)) {
        return work.edge.overflow == work.edge.infinity ? double_to_odd : double_to_clamped;
    }
    if (source.bits <= 16) return single_loop(source);
    const Format f = work.target.format;
    const bool ends = (f.largest >> f.mantissa) - f.bias < exact_bits;
    if (!ends) return nullptr;
    if (source.bits == 64) return is_signed(source) ? i64_limited : u64_limited;
    return is_signed(source) ? wide_float_loop(source, float32_type()) : u32_limited;
}

// From floats to float32 or float64; nullptr where a mode asks for what no loop does.
Loop among_wide(Type source, Work &work) {
    const CastMode &mode = work.mode;
    if (is_float64(source)) {
        return is_plain(mode) && mode.keep_nan_sign ? double_to_single_plainly : double_to_single;
    }
    if (!keeps_inf(mode)) return nullptr;  // what widens keeps Inf
    if (is_float32(work.target)) {
        return is_bfloat16(source) ? bfloat_to_single
               : is_float16(source) ? half_to_single
                                    : single_loop(source);
    }
    if (is_float32(source)) return single_to_double;
    if (is_bfloat16(source)) return bfloat_to_double;
    return chain(work, single_loop(source), single_to_double);
}

}  // namespace

Loop single_loop(Type source) {
    if (is_integer(source)) return wide_float_loop(source, float32_type());
    if (is_bfloat16(source)) return bfloat_as_is;
    if (is_float16(source)) return half_as_is;
    if (source.bits > 8) return nullptr;
    return source.format.has_sign ? small_to_single : scale_to_single;
}

Loop float_loop(Type source, Work &work) {
    const Type target = work.target, single = float32_type();
    const bool via = goes_via_float32(target, work.mode);
    work.edge = edges(target.format, work.mode);
    work.single_edge = edges(float32_format(), via ? plain_mode() : work.mode);
    if (is_float32(target) || is_float64(target)) {
        return is_integer(source) ? wide_float_loop(source, target) : among_wide(source, work);
    }
    work.scale32 = scale_edges<Float32>(target.format, work.mode);
    work.scale64 = scale_edges<Float64>(target.format, work.mode);

    // 1. A mode may round to float32 first.
    if (via && source.bits >= 32 && !is_float32(source)) {
        const Loop first =
            is_integer(source) ? wide_float_loop(source, single) : double_to_single_plainly;
        return chain(work, first, single_to_small(work));
    }
    if (source.bits > 16 && !target.format.has_sign) {
        return scale_loops(source)[scale_row(work)];
    }
    // 2. At once where a loop does it; from 8 bits by a table.
    if (!target.format.has_sign) {
        if (const Loop found = short_scale_loop(source, work.mode)) return found;
    }
    if (is_plain(work.mode)) {
        if (const Loop found = short_loop(source, target)) return found;
    }
    if (is_integer(source) && is_bfloat16(target)) {
        const Loop second = integer_to_bfloat(source);
        return source.bits > 16 ? second : chain(work, single_loop(source), second);
    }
    if (const Loop found = narrow_loop(source, work)) return found;
    const Loop second = single_to_small(work);
    if (is_float32(source)) return second;
    if (second == single_to_8 && source.bits == 16 && is_integer(source)) {
        return is_signed(source) ? i16_to_8 : u16_to_8;
    }
    if (source.bits <= 8) return nullptr;

    // 3. All others by way of float32.
    return chain(work, single_as_good(source, work), second);
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
