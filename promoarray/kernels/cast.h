// The scalar float casts, written once. cpu.cpp compiles this text with the host's compiler and
// CuPy hands the same text to NVRTC, so CPU and GPU cannot disagree. Integer arithmetic only: no
// rounding mode, no flushing of subnormals and no -ffast-math can change a result. No headers
// (NVRTC has none), and no branch on data, so that the loops vectorize.
//
// A format is an argument, a row of promoarray/dtypes.py, not a class or a template. Where it is a
// literal, as on a GPU, the compiler folds it away; where it is not, it costs about a tenth.
//
// Not here: what a policy adds to a cast. Inf, NaN and overflow have one answer each below,
// chosen by `saturate` alone.
#pragma once

#if defined(__CUDACC_RTC__)
#define PROMOARRAY_CAST __device__ inline
#elif defined(__CUDACC__)
#define PROMOARRAY_CAST __host__ __device__ inline
#elif defined(__GNUC__)
// A call left in a loop would keep it from being vectorized for each instruction set.
#define PROMOARRAY_CAST __attribute__((always_inline)) inline
#elif defined(_MSC_VER)
#define PROMOARRAY_CAST __forceinline
#else
#define PROMOARRAY_CAST inline
#endif

namespace promoarray {

using u32 = unsigned int;
using u64 = unsigned long long;

// A row of promoarray.dtypes: field widths, bias, and the codes of the special values, -1 where the
// format has none. The member order is that of the Python row.
struct Format {
    int exponent, mantissa, bias;
    int largest, inf, nan;
    bool negative_zero, has_sign;
};

// Codes for what a format cannot hold. They depend on the format alone, so a loop asks once: chosen
// inside it, they would keep it from being vectorized.
struct Edges {
    int overflow;  // Inf, and what rounds to beyond the largest value
    int nan;
    int zero;
};

PROMOARRAY_CAST Edges edges(Format f, bool saturate) {
    const int beyond = f.inf >= 0 ? f.inf : f.nan >= 0 ? f.nan : f.largest;
    return {
        saturate ? f.largest : beyond,
        // Float6 and float4 have no NaN: it becomes a zero of the opposite sign, as in ml_dtypes.
        f.nan >= 0 ? f.nan : 1 << (f.exponent + f.mantissa),
        // A scale format has no zero. Saturation takes the nearest value, which is the smallest.
        f.has_sign || saturate ? 0 : f.nan,
    };
}

// The layouts a value can come from. Every target is narrower: at least one bit is rounded away.
// Int is as wide as Bits, since vectors of different widths do not mix well.
struct Float32 {
    using Bits = u32;
    using Int = int;
    static constexpr int mantissa = 23, bias = 127, top = 31;
};
struct Float64 {
    using Bits = u64;
    using Int = long long;
    static constexpr int mantissa = 52, bias = 1023, top = 63;
};

// Encode to a format with a sign: round to nearest, ties to even, once.
template <typename Source>
PROMOARRAY_CAST u32 encode_signed(typename Source::Bits bits, Format f, Edges edge) {
    using Bits = typename Source::Bits;
    using Int = typename Source::Int;
    constexpr Bits one = 1, implicit = one << Source::mantissa;
    constexpr Bits infinity = ((one << (Source::top - Source::mantissa)) - 1) << Source::mantissa;

    // 1. Take the source apart. Its own subnormals have no implicit bit, and exponent 1.
    const u32 sign = (u32)(bits >> Source::top);
    const Bits magnitude = bits & ((one << Source::top) - 1);
    const Int field = (Int)(magnitude >> Source::mantissa);
    const Bits significand = (magnitude & (implicit - 1)) | (field > 0 ? implicit : 0);

    // 2. How many bits the target has no room for. Below its normal range (exponent < 1) each step
    //    down loses one more; past mantissa + 2 everything is lost and rounds to zero, so the shift
    //    may stop there and never reaches the width of the word.
    const Int exponent = (field > 0 ? field : 1) - Source::bias + f.bias;
    const Int below = exponent < 1 ? 1 - exponent : 0;
    const Int wanted = Source::mantissa - f.mantissa + below;
    const Bits shift = (Bits)(wanted < Source::mantissa + 2 ? wanted : Source::mantissa + 2);

    // 3. Round. The lost bits, moved to the top of the word, compare with the top bit alone as they
    //    compare with half; an odd last bit breaks the tie. The carry may run into the next
    //    binade, which is where the rounded value belongs.
    const Bits kept = significand >> shift;
    const Bits rest = significand << (Source::top + 1 - shift);
    const Bits rounded = kept + ((rest | (kept & 1)) > one << Source::top ? 1 : 0);

    // 4. Put exponent and significand together by adding: codes of one sign are consecutive, and
    //    the implicit bit of `rounded` is worth one exponent. A subnormal has neither.
    const Bits binade = (Bits)(exponent < 1 ? 0 : exponent - 1);
    const Bits code = rounded + (binade << f.mantissa);

    // 5. Overflow, Inf among it.
    const u32 finite = (u32)(code > (Bits)f.largest ? (Bits)edge.overflow : code);

    // 6. The sign. The fnuz formats have no -0: its code is their NaN, which has no sign either.
    const int width = f.exponent + f.mantissa;
    const u32 signed_zero = sign & (u32)f.negative_zero;
    const u32 result = finite | (finite != 0 ? sign : signed_zero) << width;

    // 7. NaN keeps its sign and loses its payload.
    const u32 quiet = (u32)edge.nan ^ signed_zero << width;
    return magnitude > infinity ? quiet : result;
}

// Encode to a scale format (e8m0): powers of two, with neither sign nor zero nor subnormals.
// To nearest, ties up: rounding "to even" has no meaning without a mantissa, and every framework
// rounds 1.5 * 2^k up.
template <typename Source>
PROMOARRAY_CAST u32 encode_scale(typename Source::Bits bits, Format f, Edges edge) {
    using Bits = typename Source::Bits;
    using Int = typename Source::Int;
    constexpr Bits one = 1, implicit = one << Source::mantissa;
    constexpr Bits infinity = ((one << (Source::top - Source::mantissa)) - 1) << Source::mantissa;

    // 1. Negative numbers and NaN have no code but NaN; -0 is a zero.
    const Bits magnitude = bits & ((one << Source::top) - 1);
    const bool negative = bits > one << Source::top;

    // 2. Half a mantissa more carries into the exponent from 1.5 on. Among the source's subnormals
    //    only those from 1.5 times half the smallest normal on belong to that normal.
    const Int normal = (Int)((magnitude + implicit / 2) >> Source::mantissa);
    const Int subnormal = magnitude >= implicit / 4 * 3 ? 1 : 0;
    const Int code = (magnitude < implicit ? subnormal : normal) - Source::bias + f.bias;

    // 3. What is too small becomes the smallest scale, what is too large overflows.
    const Int inside = code > 0 ? code : 0;
    const Int scale = code > f.largest ? edge.overflow : inside;
    const Int result = magnitude == 0 ? edge.zero : scale;
    const bool outside = (magnitude > infinity) | negative;
    return (u32)(outside ? edge.nan : result);
}

// The code of a float32, given by its bits.
PROMOARRAY_CAST u32 encode(u32 bits, Format f, bool saturate) {
    return f.has_sign ? encode_signed<Float32>(bits, f, edges(f, saturate))
                      : encode_scale<Float32>(bits, f, edges(f, saturate));
}

// The code of a float64, given by its bits: rounded once, never through float32.
PROMOARRAY_CAST u32 encode64(u64 bits, Format f, bool saturate) {
    return f.has_sign ? encode_signed<Float64>(bits, f, edges(f, saturate))
                      : encode_scale<Float64>(bits, f, edges(f, saturate));
}

// Shift left by `step`, and count it, if no bit would pass float32's implicit one.
PROMOARRAY_CAST void raise(u32 &bits, u32 &lost, u32 step) {
    const u32 taken = bits < 1u << (Float32::mantissa + 1 - step) ? step : 0;
    bits <<= taken;
    lost += taken;
}

// The float32 bits of a code. Always exact: each format lies within float32. Bits above the
// format's width are ignored; NaN keeps its sign (fnuz: the one its code shows) and no payload.
PROMOARRAY_CAST u32 decode(u32 code, Format f) {
    // 1. Line the fields up with float32's; the exponent is still the format's.
    const int width = f.exponent + f.mantissa;
    const u32 sign = (code >> width) & (u32)f.has_sign;
    const u32 magnitude = code & ((1u << width) - 1);
    u32 bits = magnitude << (Float32::mantissa - f.mantissa);

    // 2. Shift a subnormal up until its top bit is the implicit one, in steps of 8, 4, 2 and 1: no
    //    format has more than 15 mantissa bits. Normal numbers are too large for any step. With
    //    float32's own bias (bfloat16) subnormals stay subnormal, and a scale format has none.
    const u32 apart = f.bias != Float32::bias;
    u32 lost = 0;
    raise(bits, lost, 8 * apart);
    raise(bits, lost, 4 * apart);
    raise(bits, lost, 2 * apart);
    raise(bits, lost, 1 * apart);

    // 3. Change the bias; each step of 2 has also cost one exponent. The smallest scale, 2^-127, is
    //    a subnormal of float32.
    const u32 rebias = ((u32)(Float32::bias - f.bias) - lost) << Float32::mantissa;
    const u32 smallest = (u32)!f.has_sign << (Float32::mantissa - 1);
    const u32 finite = magnitude == 0 ? smallest : bits + rebias;

    // 4. Beyond the largest value lie Inf and NaN; the NaN of fnuz is the code -0 would have. (A
    //    code the format lacks is -1, which no magnitude equals.)
    const bool is_nan = (magnitude | sign << width) == (u32)f.nan;
    const u32 beyond = magnitude == (u32)f.inf ? 0x7f800000u : 0x7fc00000u;
    const bool special = is_nan | (magnitude > (u32)f.largest);
    const u32 value = special ? beyond : finite;
    return value | sign << Float32::top;
}

}  // namespace promoarray
