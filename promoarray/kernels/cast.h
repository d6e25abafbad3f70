// Every scalar cast, written once. The CPU extension compiles this text with the host's compiler
// and CuPy hands the same text to NVRTC, so CPU and GPU cannot disagree. No headers (NVRTC has
// none). No flushing of subnormals changes a result: the arithmetic is that of integers, but for a
// few sums of normal floats in part 3. A format is an argument, a row of promoarray/dtypes.py, not
// a class: where it is a literal, as on a GPU, the compiler folds it away.
//
//   1. What a type and a mode are.
//   2. The definition: `cast` takes any number apart into sign, exponent and a significand of 64
//      bits, which is exact for every source, and puts it together again with one rounding.
//   3. The same casts without a branch on data, for the pairs that matter, so that loops over them
//      vectorize. tests/kernels/test_casts.py compares them with the definition and with other oracles.
//
// A code is the bits of one element, in the low bits of an integer; bits above the type's width are
// ignored on the way in and zero on the way out. A complex number is two codes, cast one by one.
//
// Not here: which mode a policy wants, and what lies around an element in memory.
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
using i64 = long long;

// --- 1. Types and modes -------------------------------------------------------------------------

// A row of promoarray.dtypes: field widths, bias, and the codes of the special values, -1 where the
// format has none. The member order is that of the Python row.
struct Format {
    int exponent, mantissa, bias;
    i64 largest, inf, nan;
    bool negative_zero, has_sign;
};

// The order is that of _KINDS in promoarray/kernels/__init__.py.
enum class Kind { boolean, unsigned_integer, signed_integer, real, complex };

// `bits` is the width of one code: of a complex number, that of either part, as is `format`.
struct Type {
    Kind kind;
    int bits;
    Format format;
};

PROMOARRAY_CAST constexpr Format float32_format() {
    return {8, 23, 127, 0x7f7fffff, 0x7f800000, 0x7fc00000, true, true};
}

// The members of promoarray.kernels.CastMode, in its order; what each value means is said there.
enum class Beyond { infinity, nan, largest };
enum class NanWithout { opposite_zero, zero, largest };
enum class ToInteger { numpy, x86, torch, saturate, aclnn, tensorflow };
enum class ScaleRounding { nearest, up, down, nearest_but_lowest_up };
enum class ScaleNegative { nan, smallest, absolute };
enum class ScaleZero { nan, smallest };

struct CastMode {
    Beyond overflow, infinity;
    bool keep_nan_sign;
    NanWithout nan_without;
    ToInteger to_integer;
    ScaleRounding scale_rounding;
    ScaleNegative scale_negative;
    ScaleZero scale_zero;
    bool scale_strict;
    bool via_float32;
};

// IEEE 754: overflow to Inf, NaN stays NaN.
PROMOARRAY_CAST CastMode plain_mode() {
    CastMode mode = {};
    mode.keep_nan_sign = true;
    return mode;
}

// Codes for what a format cannot hold. They depend on format and mode alone, so a loop asks once:
// chosen inside it, they would keep it from being vectorized.
// Formats and modes are given by reference to what asks them: given by value, the NVRTC of CUDA 13
// takes the codes beyond the largest for undefined, for compute capabilities up to 9.0.
struct Edges {
    u64 overflow;   // what rounds to beyond the largest value
    u64 infinity;   // Inf
    u64 nan;        // NaN without its sign
    u32 nan_sign;   // 1 if the sign of NaN is kept, else 0; no bool, which GCC does not vectorize
};

PROMOARRAY_CAST u64 code_beyond(const Format &f, Beyond beyond) {
    if (beyond == Beyond::infinity && f.inf >= 0) return (u64)f.inf;
    return (u64)(beyond != Beyond::largest && f.nan >= 0 ? f.nan : f.largest);
}

PROMOARRAY_CAST Edges edges(const Format &f, const CastMode &mode) {
    const NanWithout without = mode.nan_without;
    const u64 opposite = 1ull << (f.exponent + f.mantissa);
    const u64 substitute = without == NanWithout::opposite_zero ? opposite
                           : without == NanWithout::zero        ? 0
                                                                : (u64)f.largest;
    const bool plain_zero = f.nan < 0 && without == NanWithout::zero;
    return {
        code_beyond(f, mode.overflow),
        code_beyond(f, mode.infinity),
        f.nan >= 0 ? (u64)f.nan : substitute,
        // The fnuz formats have one NaN, where -0 would be; the scale has no sign at all.
        mode.keep_nan_sign && f.has_sign && f.negative_zero && !plain_zero ? 1u : 0u,
    };
}

// Where a truncated number lies inside the integers that a cast can reach, and what it becomes
// outside. Of the result the low bits count.
struct Limits {
    u64 positive, negative;  // the largest magnitudes inside
    u64 above, below, nan;   // for what lies outside, infinities among it
    u64 infinite_above, infinite_below;
    // Above the inside there may be another stretch, up to `near`; 0 where there is none.
    u64 near, near_above;
};

PROMOARRAY_CAST Limits saturating(int bits, bool is_signed) {
    const u64 all = bits < 64 ? (1ull << bits) - 1 : ~0ull;
    const u64 most = is_signed ? all >> 1 : all;
    const u64 least = is_signed ? 0 - (most + 1) : 0;
    return {most, 0 - least, most, least, 0, most, least, 0, 0};
}

// What cvttss2si and cvttsd2si give: the "integer indefinite", the lowest number, for all outside.
PROMOARRAY_CAST Limits indefinite(int bits) {
    const u64 lowest = 0 - (1ull << (bits - 1));
    return {~lowest, 0 - lowest, lowest, lowest, lowest, lowest, lowest, 0, 0};
}

// An unsigned integer as wide as the register: what reaches its upper half is converted less
// 2^(bits - 1), which is added again. So overflow gives 0, the sum of two lowest numbers.
PROMOARRAY_CAST Limits indefinite_halves(int bits) {
    const u64 half = 1ull << (bits - 1);
    return {half - 1 + half, half, 0, half, half, 0, half, 0, 0};
}

// Eigen's vectors go through int32 and saturate, so that its lowest number, which stands for all that
// it cannot hold, becomes the lower end. To uint8 some go through uint16, whose upper half is 0.
PROMOARRAY_CAST Limits packed(int bits, bool is_signed, bool by_halves) {
    const Limits ends = saturating(bits, is_signed);
    const u64 low = ends.below;
    return {ends.positive, ends.negative, low, low, low, low, low,
            by_halves ? 0x7fffull : 0x7fffffffull, ends.above};
}

PROMOARRAY_CAST Limits limits(const Type &source, const Type &target, const CastMode &mode) {
    const int bits = target.bits;
    const bool is_signed = target.kind == Kind::signed_integer;
    const ToInteger convention = mode.to_integer;
    if (convention == ToInteger::saturate) return saturating(bits, is_signed);
    if (convention == ToInteger::aclnn) {
        // The Ascend 950: 32 and 64 bits saturate; narrower ones keep the low bits of a saturated
        // int32, unsigned ones those of an int64.
        if (bits == 64 || (bits == 32 && is_signed)) return saturating(bits, is_signed);
        return saturating(is_signed ? 32 : 64, true);
    }
    if (convention == ToInteger::tensorflow && (bits == 8 || bits == 16)) {
        const bool is_half = source.bits == 16 && source.format.exponent < 8;
        const bool by_halves = source.bits == 64 || is_half;
        return packed(bits, is_signed, !is_signed && bits == 8 && by_halves);
    }
    // x86-64 compilers convert to int32 and keep the low bits, to int64 where that is too narrow,
    // and to a 64-bit unsigned integer by halves. To uint32 they go by halves in vectors of
    // float32 (which float64 and bfloat16 fill too) and through int64 from the narrower floats.
    const bool narrow = source.bits <= 8 || (source.bits == 16 && source.format.exponent < 8);
    Limits found = indefinite(bits > 32 ? 64 : 32);
    if (!is_signed && bits == 64) found = indefinite_halves(64);
    if (!is_signed && bits == 32) found = narrow ? indefinite(64) : indefinite_halves(32);
    if (!is_signed && bits >= 32 && convention == ToInteger::tensorflow) {
        found = indefinite_halves(bits);
        found.above = found.infinite_above = 1ull << (bits - 1);
    }
    if (!is_signed && bits == 8 && convention == ToInteger::torch) found = indefinite(64);
    if (convention == ToInteger::numpy && source.bits <= 8) {
        // ml_dtypes asks its 8-bit and smaller floats first: NaN is 0, Inf an end of the integers
        // that the storage holds.
        const Limits ends = saturating(bits < 8 ? 8 : bits, is_signed);
        found.nan = 0;
        found.infinite_above = ends.above;
        found.infinite_below = ends.below;
    }
    return found;
}

// --- 2. The definition --------------------------------------------------------------------------

enum class Class { finite, infinite, nan };

// A number between two types: the value is significand * 2^exponent.
struct Number {
    Class what;
    bool negative;
    int exponent;
    u64 significand;
};

PROMOARRAY_CAST u64 low_bits(u64 value, int bits) {
    return bits < 64 ? value & ((1ull << bits) - 1) : value;
}

// The value of an integer code, in two's complement on 64 bits; a bool is 0 or 1.
PROMOARRAY_CAST u64 integer_value(u64 code, Type t) {
    if (t.kind == Kind::boolean) return low_bits(code, 8) != 0;
    const u64 value = low_bits(code, t.bits);
    const u64 sign = t.kind == Kind::signed_integer ? 1ull << (t.bits - 1) : 0;
    return (value ^ sign) - sign;
}

PROMOARRAY_CAST Number take_integer_apart(u64 code, Type t) {
    const u64 value = integer_value(code, t);
    const bool negative = t.kind == Kind::signed_integer && value >> 63;
    return {Class::finite, negative, 0, negative ? 0 - value : value};
}

PROMOARRAY_CAST Number take_float_apart(u64 code, Format f) {
    // 1. The fields.
    const int width = f.exponent + f.mantissa;
    const bool negative = f.has_sign && (code >> width & 1);
    const u64 magnitude = low_bits(code, width);
    const u64 fraction = low_bits(magnitude, f.mantissa);
    const int field = (int)(magnitude >> f.mantissa);

    // 2. Inf and NaN: their codes, and all that lies beyond the largest value. (The NaN of fnuz is
    //    the code of -0. A code that the format lacks is -1, which no magnitude equals.)
    if (magnitude == (u64)f.inf) return {Class::infinite, negative, 0, 0};
    const u64 with_sign = magnitude | (u64)negative << width;
    if (with_sign == (u64)f.nan || magnitude > (u64)f.largest) {
        return {Class::nan, negative, 0, 0};
    }

    // 3. Subnormals have no implicit bit, and the exponent of field 1. A scale has none of them.
    const bool normal = field > 0 || !f.has_sign;
    const int exponent = (normal ? field : 1) - f.bias - f.mantissa;
    return {Class::finite, negative, exponent, fraction | (u64)normal << f.mantissa};
}

PROMOARRAY_CAST Number take_apart(u64 code, Type t) {
    const bool real = t.kind == Kind::real || t.kind == Kind::complex;
    return real ? take_float_apart(code, t.format) : take_integer_apart(code, t);
}

// Shift the top bit of a number that is not zero to bit 63.
PROMOARRAY_CAST Number normalized(Number x) {
    for (int step = 32; step > 0; step /= 2) {
        if (x.significand >> (64 - step) == 0) {
            x.significand <<= step;
            x.exponent -= step;
        }
    }
    return x;
}

// A scale (e8m0): powers of two from 2^-127 on, with neither sign nor zero nor subnormals.
PROMOARRAY_CAST u64 put_scale_together(Number x, Format f, CastMode mode) {
    const Edges edge = edges(f, mode);
    const bool is_zero = x.what == Class::finite && x.significand == 0;

    // 1. What has no power of two near it.
    if (x.what == Class::nan) return edge.nan;
    if (is_zero) return mode.scale_zero == ScaleZero::nan ? edge.nan : 0;
    if (x.negative && mode.scale_negative != ScaleNegative::absolute) {
        return mode.scale_negative == ScaleNegative::nan ? edge.nan : 0;
    }
    if (x.what == Class::infinite) return edge.infinity;

    // 2. The power of two at or below it, and what is left. To nearest, ties go up: "to even" has
    //    no meaning without a mantissa, and every framework rounds 1.5 * 2^k up.
    const Number y = normalized(x);
    const u64 rest = y.significand << 1;
    const int below = y.exponent + 63 + f.bias;
    const ScaleRounding rounding = mode.scale_rounding;
    bool up = rest >> 63;
    if (rounding == ScaleRounding::up) up = rest != 0;
    if (rounding == ScaleRounding::down) up = false;
    if (rounding == ScaleRounding::nearest_but_lowest_up && below == 0) up = rest != 0;

    // 3. Both ends. A strict mode asks before rounding whether the number is within the range.
    const int code = below + up;
    if (code > f.largest || (mode.scale_strict && below == f.largest && rest != 0)) {
        return edge.overflow;
    }
    if (mode.scale_strict && below < 0) return edge.nan;
    return code < 0 ? 0 : (u64)code;
}

PROMOARRAY_CAST u64 put_float_together(Number x, Format f, CastMode mode) {
    if (!f.has_sign) return put_scale_together(x, f, mode);
    const Edges edge = edges(f, mode);
    const int width = f.exponent + f.mantissa;
    const u64 sign = (u64)x.negative << width;

    // 1. NaN keeps its sign, if the mode says so, and no payload.
    if (x.what == Class::nan) return edge.nan ^ (edge.nan_sign ? sign : 0);
    if (x.what == Class::infinite) return edge.infinity | sign;
    if (x.significand == 0) return f.negative_zero ? sign : 0;

    // 2. How many bits the format has no room for. Below its normal range (exponent < 1) each step
    //    down loses one more. From 65 on nothing is left, not even a half.
    const Number y = normalized(x);
    const int exponent = y.exponent + 63 + f.bias;
    const int shift = 63 - f.mantissa + (exponent < 1 ? 1 - exponent : 0);

    // 3. Round to nearest: the lost bits, moved to the top of the word, compare with the top bit
    //    alone as they compare with half; an odd last bit breaks the tie.
    const u64 kept = shift < 64 ? y.significand >> shift : 0;
    const u64 rest = shift < 64 ? y.significand << (64 - shift) : shift == 64 ? y.significand : 0;
    const u64 rounded = kept + ((rest | (kept & 1)) > 1ull << 63);

    // 4. Put exponent and significand together by adding: codes of one sign are consecutive, and
    //    the implicit bit of `rounded` is worth one exponent. A subnormal has neither.
    const u64 binade = (u64)(exponent < 1 ? 0 : exponent - 1);
    const bool huge = binade >> f.exponent != 0;
    const u64 code = rounded + (binade << f.mantissa);
    if (huge || code > (u64)f.largest) return edge.overflow | sign;
    return code != 0 || f.negative_zero ? code | sign : 0;
}

PROMOARRAY_CAST u64 put_integer_together(Number x, Type t, Limits limit) {
    // 1. Neither NaN nor Inf is an integer.
    if (x.what == Class::nan) return low_bits(limit.nan, t.bits);
    if (x.what == Class::infinite) {
        return low_bits(x.negative ? limit.infinite_below : limit.infinite_above, t.bits);
    }

    // 2. Truncate towards zero.
    u64 whole = 0;
    bool beyond = false;
    if (x.significand != 0) {
        const Number y = normalized(x);
        beyond = y.exponent > 0;
        whole = beyond ? ~0ull : y.exponent > -64 ? y.significand >> -y.exponent : 0;
    }

    // 3. The low bits of what is inside.
    if (beyond || whole > (x.negative ? limit.negative : limit.positive)) {
        const bool near = !beyond && whole <= limit.near;
        return low_bits(x.negative ? limit.below : near ? limit.near_above : limit.above, t.bits);
    }
    return low_bits(x.negative ? 0 - whole : whole, t.bits);
}

PROMOARRAY_CAST bool goes_via_float32(Type target, CastMode mode) {
    const bool to_real = target.kind == Kind::real || target.kind == Kind::complex;
    return mode.via_float32 && to_real && target.bits < 32;
}

PROMOARRAY_CAST bool same_type(Type a, Type b) {
    const Format f = a.format, g = b.format;
    return a.kind == b.kind && a.bits == b.bits && f.exponent == g.exponent &&
           f.mantissa == g.mantissa && f.bias == g.bias && f.largest == g.largest &&
           f.inf == g.inf && f.nan == g.nan && f.negative_zero == g.negative_zero &&
           f.has_sign == g.has_sign;
}

// The code in `target` of the number whose code in `source` is given: every pair of real types. A
// type's own numbers are not touched by a mode, not even NaN.
PROMOARRAY_CAST u64 cast(u64 code, Type source, Type target, CastMode mode) {
    // 1. To bool: all but zero is true, NaN too.
    if (same_type(source, target) && source.kind != Kind::boolean) {
        return low_bits(code, source.bits);
    }
    Number x = take_apart(code, source);
    if (target.kind == Kind::boolean) return x.what != Class::finite || x.significand != 0;

    // 2. Among integers: the low bits.
    const bool from_real = source.kind == Kind::real || source.kind == Kind::complex;
    const bool to_real = target.kind == Kind::real || target.kind == Kind::complex;
    if (!from_real && !to_real) return low_bits(integer_value(code, source), target.bits);

    // 3. Float to integer.
    if (!to_real) return put_integer_together(x, target, limits(source, target, mode));

    // 4. To a float, rounded once; twice only where that is the quirk to reproduce.
    if (goes_via_float32(target, mode)) {
        const u64 single = put_float_together(x, float32_format(), plain_mode());
        x = take_float_apart(single, float32_format());
    }
    return put_float_together(x, target.format, mode);
}

// --- 3. The same without branches ---------------------------------------------------------------
// Two steps add or subtract floats, to let the machine round or normalize subnormals of the narrow
// format. They work on normal numbers of the wide one: whether a thread flushes its subnormals to
// zero, as -ffast-math and PyTorch can make it, does not matter.

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
    // Whether all that has no scale becomes NaN; what has one is then from `first` on.
    bool all_nan;
    Bits first;
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
    e.all_nan = e.overflow == e.nan && e.infinity == e.nan && e.zero == e.nan &&
                (absolute || e.negative == e.nan);
    e.first = e.low > 1 ? e.low : 1;
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

// The same if all that has no scale becomes NaN: what is out of order wraps around to the end.
template <typename Source>
PROMOARRAY_CAST u32 encode_scale_or_nan(typename Source::Bits bits, ScaleEdges<Source> edge) {
    using Bits = typename Source::Bits;
    const Bits number = bits & edge.sign;
    const Bits code = nearest_scale<Source>(number, edge);
    return (u32)(number - edge.first < edge.over - edge.first ? code : edge.nan);
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
    const u64 odd = (magnitude & ~0x7ffull) | (((magnitude & 0x7ffull) + 0x7ffull) & 0x800ull);
    return magnitude < 1ull << 53 ? magnitude : odd;
}

}  // namespace promoarray
