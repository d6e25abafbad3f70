// What frameworks do that no mode says: other ways from float32 and float64, and codes that become
// others than the mode says. promoarray/promotion/cast_transforms.py has their definition.
#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

// Elements at a time: what is cast is still in a first-level cache when its codes are replaced.
constexpr std::size_t block = 1024;

template <typename Source, typename Target>
void replace(const void *source, void *target, std::size_t n, const Replacement &r) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Source *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<Target *>(target);
    const auto first = (Source)r.first, span = (Source)(r.last - r.first);
    const auto code = (Target)r.code;
    for (std::size_t i = 0; i < n; ++i) {
        dst[i] = (Source)(src[i] - first) <= span ? code : dst[i];
    }
}

template <typename Source, typename Target>
void replacing(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *src = static_cast<const Source *>(source);
    auto *dst = static_cast<Target *>(target);
    for (std::size_t at = 0; at < n; at += block) {
        const std::size_t count = n - at < block ? n - at : block;
        work.adjusted(src + at, dst + at, count, work);
        for (int i = 0; i < work.adjustment.replacements; ++i) {
            const Replacement &r = work.adjustment.replacement[i];
            replace<Source, Target>(src + at, dst + at, count, r);
        }
    }
}

// --- Other ways ---------------------------------------------------------------------------------

// Half away from zero, then as X86 to int32, of which the low bits are kept.
PROMOARRAY_CAST u32 nearest_integer(f32 x) {
    const bool inside = (x > -0x1p31f) & (x < 0x1p31f);
    const f32 given = inside ? x : 0;
    const i32 whole = (i32)given;
    const f32 rest = given - (f32)whole;  // exact, and 0 where float32 has no fractions
    return (u32)(whole + (rest >= 0.5f) - (rest <= -0.5f));
}
PROMOARRAY_CAST u32 nearest_integer(f64 x) {
    const f64 away = x + (x < 0 ? -0.5 : 0.5);
    const bool inside = (away > -0x1p31) & (away < 0x1p31);
    return (u32)(i32)(inside ? away : 0);
}
#define PROMOARRAY_NEAREST(name, Float)                                                       \
    PROMOARRAY_LOOP(name##_to_nearest, Float, u8,                                             \
                    const u32 mask = (1u << work.target.bits) - 1, nearest_integer(x) & mask)
PROMOARRAY_NEAREST(single, f32)
PROMOARRAY_NEAREST(double, f64)

PROMOARRAY_LOOP(upper_half, u32, u16, , x >> 16)
PROMOARRAY_LOOP(upper_half_of_half, u16, u16, , quieted(decode_half(x), 1) >> 16)

// A float16 towards zero; what is above 65504 is Inf. NaN loses its payload as ever.
PROMOARRAY_CAST u32 half_towards_zero(u32 bits, u32 keep_nan_sign) {
    constexpr u32 rebias = (u32)(Float32::bias - 15) << 10, smallest = 113u << Float32::mantissa;
    constexpr u32 largest = 0x477fe000u, infinity = 0x7f800000u;
    const u32 magnitude = bits & 0x7fffffffu, sign = bits >> 31 << 15;
    const u32 exponent = magnitude >> Float32::mantissa;
    const u32 significand = (magnitude & 0x7fffffu) | 0x800000u;
    const u32 shift = exponent < 113 ? 126 - exponent : 0;
    const u32 subnormal = shift < 25 ? significand >> (shift & 31) : 0;
    const u32 normal = (magnitude >> 13) - rebias;
    const u32 finite = magnitude < smallest ? subnormal : magnitude > largest ? 0x7c00u : normal;
    const u32 quiet = 0x7e00u | (sign & keep_nan_sign << 15);
    return magnitude > infinity ? quiet : finite | sign;
}
PROMOARRAY_LOOP(single_towards_zero, u32, u16, const u32 keep = work.mode.keep_nan_sign,
                half_towards_zero(x, keep))

// The significand of a number below 2^-63 goes down by its distance modulo 64: too little. (What is
// left of 24 bits after 25 is not even a half.)
PROMOARRAY_CAST u32 shifted_too_far(u32 bits) {
    const u32 exponent = bits >> Float32::mantissa & 0xff, sign = bits >> 31 << 15;
    const u32 significand = (bits & 0x7fffffu) | 0x800000u;
    const u32 down = ((113 - exponent) & 63) + 13, shift = down < 31 ? down : 31;
    const u32 odd = significand >> shift & 1, half = (1u << shift >> 1) - 1;
    return ((significand + half + odd) >> shift & 0x7ff) | sign;  // in 64 bits 11 are left
}
constexpr u32 tiny = 50u << Float32::mantissa;  // such numbers lie below
PROMOARRAY_CAST bool is_tiny(u32 bits) { return (bits & 0x7fffffffu) < tiny; }

PROMOARRAY_CAST u32 rounded(f64 x) {
    return as_bits(x == x ? (f32)x : as_float(0x7fc00000u | (u32)(as_bits(x) >> 63) << 31));
}
PROMOARRAY_LOOP(double_rounded, f64, u32, , rounded(x))

// The float32 of a number; that of a float64 is rounded.
PROMOARRAY_CAST u32 single_of(u32 x) { return x; }
PROMOARRAY_CAST u32 single_of(f64 x) { return rounded(x); }
PROMOARRAY_CAST u32 single_of(u16 bfloat) { return (u32)bfloat << 16; }

// The cast, and then those below: arrays rarely have any but zeros, which come to the same.
template <typename Source>
void with_tiny_shifted(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Source *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<u16 *>(target);
    for (std::size_t at = 0; at < n; at += block) {
        const std::size_t end = n - at < block ? n : at + block;
        work.adjusted(src + at, dst + at, end - at, work);
        u32 met = 0;
        for (std::size_t i = at; i < end; ++i) {
            const u32 x = single_of(src[i]);
            met |= is_tiny(x) & ((x << 1) != 0);
        }
        for (std::size_t i = at; met && i < end; ++i) {
            const u32 x = single_of(src[i]);
            dst[i] = is_tiny(x) ? (u16)shifted_too_far(x) : dst[i];
        }
    }
}

}  // namespace

Loop replacing_loop(Work &work, Loop loop) {
    static constexpr Loop loops[4][4] = {
        {replacing<u8, u8>, replacing<u8, u16>, replacing<u8, u32>, replacing<u8, u64>},
        {replacing<u16, u8>, replacing<u16, u16>, replacing<u16, u32>, replacing<u16, u64>},
        {replacing<u32, u8>, replacing<u32, u16>, replacing<u32, u32>, replacing<u32, u64>},
        {replacing<u64, u8>, replacing<u64, u16>, replacing<u64, u32>, replacing<u64, u64>},
    };
    work.adjusted = loop;
    return loops[row_of(work.source)][row_of(work.target)];
}

Loop adjusting_loop(Work &work, Loop loop) {
    const Type source = work.source, target = work.target;
    const Way way = work.adjustment.way;
    if (source.bits < 16) return nullptr;

    // 1. To integers.
    if (way == Way::through_int64) {
        const bool fits = target.bits == 32 && is_integer(target) && !is_integer(source);
        return fits ? truncating_loop_by(indefinite(64), source, work) : nullptr;
    }
    if (way == Way::to_nearest_integer) {
        if (is_integer(source) || target.bits >= 8) return nullptr;
        if (is_float64(source)) return double_to_nearest;
        if (is_float32(source)) return single_to_nearest;
        return chain(work, single_loop(source), single_to_nearest);
    }

    // 2. To floats of 16 bits by way of float32, rounded to it.
    if (way == Way::upper_half ? !is_bfloat16(target) : !is_float16(target)) return nullptr;
    if (way == Way::shifted_too_far) {
        work.adjusted = loop;
        if (is_float32(source)) return with_tiny_shifted<u32>;
        if (is_float64(source)) return with_tiny_shifted<f64>;
        return is_bfloat16(source) ? with_tiny_shifted<u16> : loop;  // no others are so small
    }
    if (is_float16(source)) return upper_half_of_half;
    const Loop last = way == Way::upper_half ? upper_half : single_towards_zero;
    if (is_float32(source)) return last;
    return chain(work, is_float64(source) ? double_rounded : single_loop(source), last);
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
