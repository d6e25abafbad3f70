// Loops to floats: to small ones by way of float32, and among the wide ones.
#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

#define PROMOARRAY_KEEP const u32 keep = work.mode.keep_nan_sign;

// --- From float32 to small floats ---------------------------------------------------------------

PROMOARRAY_LOOP(single_to_8, u32, u8, const Format to = work.target.format;
                const Edges edge = work.edge, encode<Float32>(x, to, edge))
PROMOARRAY_LOOP(single_to_16, u32, u16, const Format to = work.target.format;
                const Edges edge = work.edge, encode<Float32>(x, to, edge))

// Where a number beyond the largest becomes Inf, as by rounding. (Magnitudes are compared as signed
// numbers, which x86 has for vectors at every level.)
PROMOARRAY_LOOP(single_to_bfloat, u32, u16, const u32 nan = (u32)work.edge.nan;
                const u32 kept = work.edge.nan_sign << 15,
                (i32)(x & 0x7fffffffu) > 0x7f800000 ? nan | (x >> 16 & kept) : bfloat_of(x))

PROMOARRAY_LOOP(single_to_scale, u32, u8, const auto edge = work.scale32,
                encode_scale<Float32>(x, edge))
// What is large only in float64 is no scale, and what is small there has one.
PROMOARRAY_LOOP(double_to_scale, u64, u8, const auto edge = work.scale64,
                encode_scale<Float64>(x, edge))

// --- To a float32 as good as the source for the one rounding to come ----------------------------

// 13 bits of a float64, the last of them set if any below it was ("to odd"): rounded to 11 bits and
// fewer, it gives what the whole gives. Float32's subnormals hold so few down to 2^-137, and no
// format here tells what is less from zero.
constexpr u64 below_odd = (1ull << (Float64::mantissa - 12)) - 1;
PROMOARRAY_CAST u64 odd_bits(f64 x) {
    const u64 bits = as_bits(x);
    return (bits | ((bits & below_odd) + below_odd)) & ~below_odd;
}
// What only float64 holds is beyond the largest of all of them; it is not Inf where that matters.
PROMOARRAY_CAST f32 clamped_to_float32(u64 bits) {
    constexpr i64 infinity = 0x7ff0000000000000ll, largest = 0x47efff0000000000ll;  // 0x1.fffp127
    const i64 magnitude = (i64)(bits & ~0ull >> 1);
    const i64 limited = (magnitude > largest) & (magnitude < infinity) ? largest : magnitude;
    return (f32)as_float((u64)limited | (bits & 1ull << Float64::top));
}
PROMOARRAY_LOOP(double_to_odd, f64, f32, , clamped_to_float32(odd_bits(x)))

PROMOARRAY_CAST f32 odd_single(u32 x) { return (f32)sticky(x); }
PROMOARRAY_CAST f32 odd_single(i32 x) {
    // In two's complement too, the odd one of both neighbours is that with the last bit set.
    const i32 odd = (x | ((x & 0xff) + 0xff)) & ~0xff;
    const bool is_short = (u32)x + (1u << 24) <= 1u << 25;
    return (f32)(is_short ? x : odd);
}
PROMOARRAY_CAST f32 odd_single(u64 x) {
    const u64 odd = sticky(x);
    return (f32)as_float(odd_bits(converts_long ? (f64)odd : sum_of_halves(odd)));
}
PROMOARRAY_CAST f32 odd_single(i64 x) {
    const u64 negative = 0 - ((u64)x >> 63);
    const f32 magnitude = odd_single(((u64)x ^ negative) - negative);
    return as_float(as_bits(magnitude) | ((u32)negative & 1u << Float32::top));
}
PROMOARRAY_LOOP(i32_to_odd, i32, f32, , odd_single(x))
PROMOARRAY_LOOP(u32_to_odd, u32, f32, , odd_single(x))
PROMOARRAY_LOOP(i64_to_odd, i64, f32, , odd_single(x))
PROMOARRAY_LOOP(u64_to_odd, u64, f32, , odd_single(x))

// --- Floats among the wide ones -----------------------------------------------------------------

PROMOARRAY_LOOP(small_to_single, u8, u32, const Format from = work.source.format;
                PROMOARRAY_KEEP, decode(x, from, keep))
PROMOARRAY_LOOP(scale_to_single, u8, u32, , decode_scale(x))
PROMOARRAY_LOOP(half_to_single, u16, u32, PROMOARRAY_KEEP, quieted(decode_half(x), keep))
PROMOARRAY_LOOP(bfloat_to_single, u16, u32, PROMOARRAY_KEEP, quieted((u32)x << 16, keep))
PROMOARRAY_LOOP(bfloat_as_is, u16, u32, , (u32)x << 16)
PROMOARRAY_LOOP(double_to_single, u64, u32, const Edges single = work.single_edge,
                encode<Float64>(x, float32_format(), single))

// By the machine, but for NaN, which is asked for where it is a float32.
PROMOARRAY_CAST f32 number_or_nan(f32 x, u32 keep) {
    return x == x ? x : as_float(0x7fc00000u | (as_bits(x) & keep << Float32::top));
}
PROMOARRAY_LOOP(single_to_double, f32, f64, PROMOARRAY_KEEP, number_or_nan(x, keep))
// Where a number beyond the largest becomes Inf.
PROMOARRAY_LOOP(double_to_single_plainly, f64, f32, PROMOARRAY_KEEP, number_or_nan((f32)x, keep))

bool keeps_inf(const CastMode &mode) { return mode.infinity == Beyond::infinity; }

bool is_plain(const CastMode &mode) {
    return mode.overflow == Beyond::infinity && keeps_inf(mode);
}

Loop single_to_small(const Work &work) {
    const Type target = work.target;
    if (!target.format.has_sign) return single_to_scale;
    if (target.bits <= 8) return single_to_8;
    return is_bfloat16(target) && is_plain(work.mode) ? single_to_bfloat : single_to_16;
}

Loop single_as_good(Type source) {
    if (is_float64(source)) return double_to_odd;
    if (source.bits <= 16) return single_loop(source);
    if (source.bits == 32) return is_signed(source) ? i32_to_odd : u32_to_odd;
    return is_signed(source) ? i64_to_odd : u64_to_odd;
}

// From floats to float32 or float64; nullptr where a mode asks for what no loop does.
Loop among_wide(Type source, Work &work) {
    const CastMode &mode = work.mode;
    if (is_float64(source)) {
        return is_plain(mode) && mode.keep_nan_sign ? double_to_single_plainly : double_to_single;
    }
    if (!keeps_inf(mode)) return nullptr;  // what widens keeps Inf
    if (is_float32(source)) return single_to_double;
    const Loop first = is_bfloat16(source) ? bfloat_to_single : single_loop(source);
    return is_float32(work.target) ? first : chain(work, first, single_to_double);
}

}  // namespace

Loop single_loop(Type source) {
    if (is_integer(source)) return wide_float_loop(source, float32_type());
    if (is_bfloat16(source)) return bfloat_as_is;
    if (is_float16(source)) return half_to_single;
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
    if (source.bits <= 8 && !is_integer(source)) return nullptr;  // by a table
    work.scale32 = scale_edges<Float32>(target.format, work.mode);
    work.scale64 = scale_edges<Float64>(target.format, work.mode);

    const Loop second = single_to_small(work);
    if (is_float32(source)) return second;
    if (via && source.bits >= 32) {  // a mode may round to float32 first
        const bool whole = is_integer(source);
        const Loop first = whole ? wide_float_loop(source, single) : double_to_single_plainly;
        return chain(work, first, second);
    }
    if (is_float64(source) && second == single_to_scale) return double_to_scale;
    return chain(work, single_as_good(source), second);
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
