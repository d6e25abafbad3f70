// The casts of cast.h without a branch on data, for the pairs that matter, so that loops over them
// vectorize. tests/kernels/test_casts.py compares them with the definition and with other oracles.
// This text comes after that of cast.h, for NVRTC too; it has no headers either.
//
// Two steps add or subtract floats, to let the machine round or normalize subnormals of the narrow
// format. They work on normal numbers of the wide one: whether a thread flushes its subnormals to
// zero, as -ffast-math and PyTorch can make it, does not matter.
#pragma once

namespace promoarray {

// The layouts a value can come from. Every target is narrower: at least one bit is rounded away.
struct Float32 {
    using Bits = u32;
    using Float = float;
    static constexpr int mantissa = 23, bias = 127, top = 31;
};
struct Float64 {
    using Bits = u64;
    using Float = double;
    static constexpr int mantissa = 52, bias = 1023, top = 63;
};

#if defined(__CUDA_ARCH__) || defined(__CUDACC_RTC__)
PROMOARRAY_CAST float as_float(u32 bits) { return __uint_as_float(bits); }
PROMOARRAY_CAST double as_float(u64 bits) { return __longlong_as_double((i64)bits); }
PROMOARRAY_CAST u32 as_bits(float x) { return __float_as_uint(x); }
PROMOARRAY_CAST u64 as_bits(double x) { return (u64)__double_as_longlong(x); }
#else
PROMOARRAY_CAST float as_float(u32 bits) { return __builtin_bit_cast(float, bits); }
PROMOARRAY_CAST double as_float(u64 bits) { return __builtin_bit_cast(double, bits); }
PROMOARRAY_CAST u32 as_bits(float x) { return __builtin_bit_cast(u32, x); }
PROMOARRAY_CAST u64 as_bits(double x) { return __builtin_bit_cast(u64, x); }
#endif

// To a float format with a sign: round to nearest, ties to even, once. `finite` promises that the
// source is neither Inf nor NaN.
template <typename Source, bool finite = false>
PROMOARRAY_CAST u32 encode(typename Source::Bits bits, Format f, Edges edge) {
    using Bits = typename Source::Bits;
    constexpr Bits one = 1;
    constexpr Bits infinity = ((one << (Source::top - Source::mantissa)) - 1) << Source::mantissa;
    const Bits magnitude = bits & ((one << Source::top) - 1);

    // 1. A normal result. Adding just under half of what is to be lost, and 1 if the last kept bit
    //    is odd, carries into the kept bits when the number is to be rounded up; the carry may run
    //    into the next binade, which is where the rounded value belongs. Then change the bias.
    const int lost = Source::mantissa - f.mantissa;
    const Bits under_half = (one << (lost - 1)) - 1;
    const Bits rounded = (magnitude + under_half + (magnitude >> lost & 1)) >> lost;
    const Bits normal = rounded - ((Bits)(Source::bias - f.bias) << f.mantissa);

    // 2. A subnormal result. Added to a power of two whose last bit is worth as much as the
    //    format's, the number is rounded to that bit, and what it adds to the power is its code.
    //    With the source's own bias (bfloat16) subnormals are shifted as all others.
    const bool apart = f.bias != Source::bias;
    const Bits smallest = apart ? (Bits)(Source::bias + 1 - f.bias) << Source::mantissa : 0;
    const Bits power = smallest + ((Bits)lost << Source::mantissa);
    const Bits subnormal = as_bits(as_float(magnitude) + as_float(power)) - power;

    // 3. Overflow, and Inf. The code of a small number may be negative in step 1, that is, huge.
    const Bits code = magnitude < smallest ? subnormal : normal;
    const bool is_inf = !finite && magnitude == infinity;
    const Bits beyond = is_inf ? (Bits)edge.infinity : (Bits)edge.overflow;
    const Bits number = code > (Bits)f.largest ? beyond : code;

    // 4. NaN loses its payload. The fnuz formats have no -0: its code is their NaN, which has no
    //    sign either. Elsewhere NaN keeps its sign if the mode says so.
    const int width = f.exponent + f.mantissa;
    const u32 sign = (u32)(bits >> Source::top);
    const u32 signed_zero = sign & (u32)f.negative_zero;
    const u32 result = (u32)number | (number != 0 ? sign : signed_zero) << width;
    const u32 quiet = (u32)edge.nan ^ (sign & edge.nan_sign) << width;
    return !finite && magnitude > infinity ? quiet : result;
}

// What put_scale_together asks of the mode, as numbers to compare with and to add.
template <typename Source>
struct ScaleEdges {
    using Bits = typename Source::Bits;
    Bits bump, low_bump;  // what carries into the exponent if it is to go up
    Bits low, over;       // finite numbers from the one to below the other have a scale
    Bits sign;            // all bits; without the sign if that is ignored
    Bits overflow, infinity, nan, zero, negative;
};

template <typename Source>
PROMOARRAY_CAST ScaleEdges<Source> scale_edges(const Format &f, const CastMode &mode) {
    using Bits = typename Source::Bits;
    constexpr Bits one = 1, implicit = one << Source::mantissa;
    // 2^-127 is a subnormal of float32, with one bit less to round; 2^127 is the largest scale.
    constexpr bool is_single = Source::bias == 127;
    constexpr Bits span = is_single ? implicit / 2 : implicit;
    constexpr Bits smallest = is_single ? span : (Bits)(Source::bias - 127) << Source::mantissa;
    constexpr Bits largest = (Bits)(Source::bias + 127) << Source::mantissa;
    const Edges edge = edges(f, mode);
    const bool up = mode.scale_rounding == ScaleRounding::up;
    const bool down = mode.scale_rounding == ScaleRounding::down;
    const bool lowest_up = up || mode.scale_rounding == ScaleRounding::nearest_but_lowest_up;
    ScaleEdges<Source> e = {};
    e.bump = up ? implicit - 1 : down ? 0 : implicit / 2;
    e.low_bump = lowest_up ? span - 1 : down ? 0 : span / 2;
    e.low = mode.scale_strict ? smallest : 0;
    e.over = mode.scale_strict ? largest + 1 : largest + implicit - e.bump;
    const bool absolute = mode.scale_negative == ScaleNegative::absolute;
    e.sign = absolute ? ~(Bits)0 >> 1 : ~(Bits)0;
    e.overflow = (Bits)edge.overflow;
    e.infinity = (Bits)edge.infinity;
    e.nan = (Bits)edge.nan;
    e.zero = mode.scale_zero == ScaleZero::nan ? e.nan : 0;
    e.negative = mode.scale_negative == ScaleNegative::nan ? e.nan : 0;
    return e;
}

// The scale of a positive number that has one; what is too small becomes the smallest.
template <typename Source>
PROMOARRAY_CAST typename Source::Bits nearest_scale(typename Source::Bits magnitude,
                                                    ScaleEdges<Source> edge) {
    using Bits = typename Source::Bits;
    constexpr Bits second = (Bits)(Source::bias - 126) << Source::mantissa;  // 2^-126
    constexpr Bits shift = (Bits)(Source::bias - 127);
    const Bits bump = magnitude < second ? edge.low_bump : edge.bump;
    const Bits exponent = (magnitude + bump) >> Source::mantissa;
    return exponent > shift ? exponent - shift : 0;
}

// To a scale format (e8m0).
template <typename Source>
PROMOARRAY_CAST u32 encode_scale(typename Source::Bits bits, ScaleEdges<Source> edge) {
    using Bits = typename Source::Bits;
    constexpr Bits one = 1;
    constexpr Bits infinity = ((one << (Source::top - Source::mantissa)) - 1) << Source::mantissa;
    const Bits magnitude = bits & ((one << Source::top) - 1);

    // 1. What is too small for a strict mode, and what is too large.
    const Bits code = nearest_scale<Source>(magnitude, edge);
    const Bits above = magnitude < edge.low ? edge.nan : code;
    const Bits finite = magnitude < edge.over ? above : edge.overflow;
    const Bits number = magnitude == infinity ? edge.infinity : finite;

    // 2. Negative numbers, -Inf too; zero, of either sign; NaN.
    const Bits either = (bits & edge.sign) > infinity ? edge.negative : number;
    const Bits result = magnitude == 0 ? edge.zero : either;
    return (u32)(magnitude > infinity ? edge.nan : result);
}

// The float32 bits of a code of at most 16 bits. Always exact: each format lies within float32.
// Bits above the format's width are ignored. NaN keeps its sign (fnuz: the one its code shows) if
// the mode says so, and no payload.
PROMOARRAY_CAST u32 decode(u32 code, Format f, u32 keep_nan_sign) {
    constexpr u32 infinity = 0x7f800000u, sign_bit = 1u << Float32::top;
    // 1. The sign goes to the top, which drops what lies above it, and the fields line up with
    //    float32's. (Compared as signed numbers, as which x86 compares vectors.)
    const int lift = Float32::mantissa - f.mantissa;
    const int up = Float32::top - f.exponent - f.mantissa;
    const u32 top = code << up;
    const u32 sign = top & sign_bit;
    const int aligned = (int)((top & ~sign_bit) >> (8 - f.exponent));

    // 2. Change the bias. A subnormal, taken for the fraction of the smallest normal number, is too
    //    large by just that number. With float32's own bias (bfloat16) subnormals stay subnormal.
    const bool apart = f.bias != Float32::bias;
    const u32 smallest = apart ? (u32)(Float32::bias + 1 - f.bias) << Float32::mantissa : 0;
    const u32 normal = (u32)aligned + ((u32)(Float32::bias - f.bias) << Float32::mantissa);
    const u32 subnormal = as_bits(as_float((u32)aligned + smallest) - as_float(smallest));
    const u32 finite = aligned < (apart ? 1 << Float32::mantissa : 0) ? subnormal : normal;

    // 3. Beyond the largest value lie Inf and NaN; the NaN of fnuz is the code -0 would have. Where
    //    the format lacks one, what stands for it is nowhere to be found.
    const int largest = (int)f.largest << lift;
    const int inf = f.inf < 0 ? -1 : (int)f.inf << lift;
    const u32 nan = f.nan < 0 ? 1 : (u32)f.nan << up;
    const u32 quiet = 0x7fc00000u | (sign & keep_nan_sign << Float32::top);
    const u32 beyond = aligned == inf ? infinity | sign : quiet;
    const u32 number = aligned > largest ? beyond : finite | sign;
    return top == nan ? quiet : number;
}

// The same of a float16, which is all that many loops decode; NaN keeps its sign, and on a CPU its
// payload. A GPU has an instruction, which says nothing of NaN's sign.
PROMOARRAY_CAST u32 decode_half(u32 code) {
#if defined(__CUDACC_RTC__)
    float number;
    asm("cvt.f32.f16 %0, %1;" : "=f"(number) : "h"((unsigned short)code));
    return (as_bits(number) & 0x7fffffffu) | (code & 0x8000u) << 16;
#else
    constexpr u32 apart = (u32)(Float32::bias - 15) << Float32::mantissa;
    constexpr u32 smallest = apart + (1u << Float32::mantissa);
    const u32 magnitude = code & 0x7fffu;
    const u32 aligned = magnitude << 13;
    const u32 subnormal = as_bits(as_float(aligned + smallest) - as_float(smallest));
    const u32 normal = aligned + (magnitude > 0x7bffu ? 2 * apart : apart);
    return (magnitude < 0x0400u ? subnormal : normal) | (code & 0x8000u) << 16;
#endif
}

// A float32 whose NaN has no payload, and its sign if the mode says so.
PROMOARRAY_CAST u32 quieted(u32 bits, u32 keep_nan_sign) {
    const u32 quiet = 0x7fc00000u | (bits >> 31 & keep_nan_sign) << 31;
    return (bits & 0x7fffffffu) > 0x7f800000u ? quiet : bits;
}

// The float32 bits of a scale (e8m0), the smallest of which is a subnormal.
PROMOARRAY_CAST u32 decode_scale(u32 code) {
    const u32 value = code == 0 ? 0x00400000u : code << Float32::mantissa;
    return code == 255 ? 0x7fc00000u : value;
}

// The float64 bits of a float32, given by its bits: exact.
PROMOARRAY_CAST u64 widen(u32 bits, u32 keep_nan_sign) {
    constexpr int up = Float64::mantissa - Float32::mantissa;
    constexpr u64 bias = (u64)(Float64::bias - Float32::bias) << Float64::mantissa;
    constexpr u64 smallest = bias + (1ull << Float64::mantissa);
    const u64 magnitude = bits & 0x7fffffffu;
    const u64 sign = bits >> 31;

    // 1. As in `decode`.
    const u64 aligned = magnitude << up;
    const u64 subnormal = as_bits(as_float(aligned + smallest) - as_float(smallest));
    const u64 finite = magnitude < 0x00800000u ? subnormal : aligned + bias;

    // 2. Inf keeps all its exponent bits set, NaN too, which loses its payload.
    const u64 quiet = 0x7ff8000000000000ull | (sign & keep_nan_sign) << 63;
    const u64 number = magnitude == 0x7f800000u ? 0x7ff0000000000000ull : finite;
    return magnitude > 0x7f800000u ? quiet : number | sign << 63;
}

// An integer magnitude of at most 64 bits, rounded so that a float holds it and rounding that once
// more, to a format with two bits less, is as good as rounding once: where it is too long for the
// float, the lowest bits are dropped and, if any was set, the lowest kept one is set ("to odd").
PROMOARRAY_CAST u32 sticky(u32 magnitude) {
    const u32 odd = (magnitude & ~0xffu) | (((magnitude & 0xffu) + 0xffu) & 0x100u);
    return magnitude < 1u << 24 ? magnitude : odd;
}
PROMOARRAY_CAST u64 sticky(u64 magnitude) {
    // All ones where some bit lies too high: no comparison, which the first vectors of x86 have not
    // for 64 bits.
    const u64 lost = (0 - (magnitude >> 53)) >> 53;
    const u64 below = magnitude & lost;
    return (magnitude ^ below) | ((below + lost) & 0x800ull);
}

}  // namespace promoarray
