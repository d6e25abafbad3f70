// Loops to floats: to small ones from all but 8 bits and fewer, and among the wide ones.
#include "loop.h"

namespace promoarray {
namespace {

// --- To small floats ----------------------------------------------------------------------------
// Whatever the source, it is first made a float32 or float64 that holds it, or is as good for the
// one rounding to come, and that is encoded.

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

// Without the machine's conversion, which x86-64 has in AVX-512 only: each half of the integer goes
// into the low bits of a power of two, and their sum is exact.
PROMOARRAY_CAST u64 halves_bits(u64 x) {
    const u64 odd = sticky(x);
    const f64 high = as_float(odd >> 32 | 0x4530000000000000ull) - 0x1.00000001p84;
    return as_bits(high + as_float((odd & 0xffffffffull) | 0x4330000000000000ull));
}
PROMOARRAY_CAST u64 halves_bits(i64 x) {
    const u64 negative = x < 0 ? ~0ull : 0;
    return halves_bits(((u64)x ^ negative) - negative) | (negative & 0x8000000000000000ull);
}

PROMOARRAY_CAST u32 single_bits(u64 x, Edges edge) {
    return encode<Float64>(x, float32_format(), edge);
}

#define PROMOARRAY_DECODED                           \
    const Format from = work.source.format;          \
    const u32 keep = work.rule.keep_nan_sign;
#define PROMOARRAY_KEEP const u32 keep = work.rule.keep_nan_sign;
#define PROMOARRAY_SINGLE const Edges single = work.single_edge;

#define PROMOARRAY_TO_FLOATS(name, Source, Wide, finite, scale, constants, ...)     \
    PROMOARRAY_LOOP(name##_to_8, Source, u8,                                        \
                    constants const Format to = work.target.format;                 \
                    const Edges edge = work.edge, encode<Wide, finite>(__VA_ARGS__, to, edge)) \
    PROMOARRAY_LOOP(name##_to_16, Source, u16,                                      \
                    constants const Format to = work.target.format;                 \
                    const Edges edge = work.edge, encode<Wide, finite>(__VA_ARGS__, to, edge)) \
    PROMOARRAY_LOOP(name##_to_scale, Source, u8, constants const auto edge = work.scale, \
                    encode_scale<Wide>(__VA_ARGS__, edge))                          \
    PROMOARRAY_LOOP(name##_to_scale_or_nan, Source, u8, constants const auto edge = work.scale, \
                    encode_scale_or_nan<Wide>(__VA_ARGS__, edge))                   \
    constexpr Loop name##_loops[4] = {name##_to_8, name##_to_16, name##_to_scale,   \
                                      name##_to_scale_or_nan};

PROMOARRAY_TO_FLOATS(single, u32, Float32, false, scale32, , x)
PROMOARRAY_TO_FLOATS(bfloat, u16, Float32, false, scale32, , (u32)x << 16)
PROMOARRAY_TO_FLOATS(half, u16, Float32, false, scale32, , decode_half(x))
PROMOARRAY_TO_FLOATS(double, u64, Float64, false, scale64, , x)
PROMOARRAY_TO_FLOATS(i16, i16, Float32, true, scale32, , as_bits((f32)x))
PROMOARRAY_TO_FLOATS(u16, u16, Float32, true, scale32, , as_bits((f32)x))
PROMOARRAY_TO_FLOATS(i32, i32, Float32, true, scale32, , odd_bits(x))
PROMOARRAY_TO_FLOATS(u32, u32, Float32, true, scale32, , odd_bits(x))
PROMOARRAY_TO_FLOATS(i64, i64, Float64, true, scale64, , odd_bits(x))
PROMOARRAY_TO_FLOATS(u64, u64, Float64, true, scale64, , odd_bits(x))
PROMOARRAY_TO_FLOATS(i64_halves, i64, Float64, true, scale64, , halves_bits(x))
PROMOARRAY_TO_FLOATS(u64_halves, u64, Float64, true, scale64, , halves_bits(x))

// Rounded to float32 first, where that is the quirk to reproduce.
PROMOARRAY_TO_FLOATS(double_via, u64, Float32, false, scale32, PROMOARRAY_SINGLE,
                     single_bits(x, single))
PROMOARRAY_TO_FLOATS(i32_via, i32, Float32, true, scale32, , as_bits((f32)x))
PROMOARRAY_TO_FLOATS(u32_via, u32, Float32, true, scale32, , as_bits((f32)x))
PROMOARRAY_TO_FLOATS(i64_via, i64, Float32, true, scale32, , as_bits((f32)x))
PROMOARRAY_TO_FLOATS(u64_via, u64, Float32, true, scale32, , as_bits((f32)x))

// --- Floats among the wide ones -----------------------------------------------------------------

PROMOARRAY_LOOP(small_to_single, u8, u32, PROMOARRAY_DECODED, decode(x, from, keep))
PROMOARRAY_LOOP(scale_to_single, u8, u32, , decode_scale(x))
PROMOARRAY_LOOP(half_to_single, u16, u32, PROMOARRAY_KEEP, quieted(decode_half(x), keep))
PROMOARRAY_LOOP(half_to_double, u16, u64, PROMOARRAY_KEEP, widen(decode_half(x), keep))
PROMOARRAY_LOOP(bfloat_to_single, u16, u32, PROMOARRAY_KEEP, quieted((u32)x << 16, keep))
PROMOARRAY_LOOP(bfloat_to_double, u16, u64, PROMOARRAY_KEEP, widen((u32)x << 16, keep))
PROMOARRAY_LOOP(single_to_double, u32, u64, const u32 keep = work.rule.keep_nan_sign,
                widen(x, keep))
PROMOARRAY_LOOP(double_to_single, u64, u32, PROMOARRAY_SINGLE, single_bits(x, single))

// The same under the plain rule: the machine rounds what is a normal number then.
PROMOARRAY_CAST u32 machine_single(f64 x) {
    constexpr u64 smallest = (u64)(Float64::bias - 126) << Float64::mantissa;
    constexpr u64 power = smallest + ((u64)29 << Float64::mantissa);
    const f64 magnitude = as_float(as_bits(x) & ~0ull >> 1);
    const u32 sign = (u32)(as_bits(x) >> 63) << 31;
    const u32 subnormal = (u32)(as_bits(magnitude + as_float(power)) - power);
    const u32 finite = magnitude < as_float(smallest) ? subnormal : as_bits((f32)magnitude);
    return (magnitude == magnitude ? finite : 0x7fc00000u) | sign;
}
PROMOARRAY_LOOP(double_to_single_plainly, f64, u32, , machine_single(x))

// Whether the machine converts vectors of 64-bit integers.
bool converts_long() {
#if !defined(__x86_64__) || defined(__AVX512DQ__)
    return true;
#elif defined(PROMOARRAY_TARGET_CLONES)
    static const bool found = __builtin_cpu_supports("avx512dq");
    return found;
#else
    return false;
#endif
}

// The loops to small floats, by what the source is.
const Loop *small_float_loops(Type source, bool via) {
    static constexpr const Loop *integers[2][2][4] = {
        {{nullptr, u16_loops, u32_loops, u64_loops}, {nullptr, i16_loops, i32_loops, i64_loops}},
        {{nullptr, u16_loops, u32_via_loops, u64_via_loops},
         {nullptr, i16_loops, i32_via_loops, i64_via_loops}}};
    if (is_integer(source)) {
        const bool halves = source.bits == 64 && !via && !converts_long();
        if (halves) return is_signed(source) ? i64_halves_loops : u64_halves_loops;
        return integers[via][is_signed(source)][row_of(source)];
    }
    if (is_float32(source)) return single_loops;
    if (is_float64(source)) return via ? double_via_loops : double_loops;
    return is_bfloat16(source) ? bfloat_loops : half_loops;
}

// From floats to float32 or float64; nullptr where a rule asks for what no loop does.
Loop among_wide(Type source, Type target, const Rule &rule) {
    const bool keeps_inf = rule.infinity == Beyond::infinity;
    if (is_float64(source)) {
        const bool plain = rule.overflow == Beyond::infinity && keeps_inf && rule.keep_nan_sign;
        return plain ? double_to_single_plainly : double_to_single;
    }
    if (!keeps_inf) return nullptr;  // what widens keeps Inf
    const bool to_single = is_float32(target);
    if (is_float32(source)) return single_to_double;
    if (is_bfloat16(source)) return to_single ? bfloat_to_single : bfloat_to_double;
    if (is_float16(source)) return to_single ? half_to_single : half_to_double;
    if (!to_single) return nullptr;
    return source.format.has_sign ? small_to_single : scale_to_single;
}

}  // namespace

Loop float_loop(Type source, Work &work) {
    const Type target = work.target;
    const bool via = goes_via_float32(target, work.rule);
    work.edge = edges(target.format, work.rule);
    work.single_edge = edges(float32_format(), via ? plain_rule() : work.rule);
    if (is_float32(target) || is_float64(target)) {
        return is_integer(source) ? wide_float_loop(source, target)
                                  : among_wide(source, target, work.rule);
    }
    work.scale32 = scale_edges<Float32>(target.format, work.rule);
    work.scale64 = scale_edges<Float64>(target.format, work.rule);
    if (source.bits <= 8) return nullptr;
    const Loop *loops = small_float_loops(source, via);
    if (target.format.has_sign) return loops[row_of(target)];
    return loops[work.scale32.all_nan ? 3 : 2];
}

}  // namespace promoarray
