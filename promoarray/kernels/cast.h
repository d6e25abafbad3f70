// Every scalar cast, written once. The CPU extension compiles this text with the host's compiler
// and CuPy hands the same text to NVRTC, so CPU and GPU cannot disagree. No headers (NVRTC has
// none). No flushing of subnormals changes a result: the arithmetic is that of integers. A format
// is an argument, a row of promoarray/dtypes.py, not a class: where it is a literal, as on a GPU,
// the compiler folds it away.
//
//   1. What a type and a mode are.
//   2. The definition: `cast` takes any number apart into sign, exponent and a significand of 64
//      bits, which is exact for every source, and puts it together again with one rounding.
//
// branch_free.h follows, with the same casts as loops want them.
//
// A code is the bits of one element, in the low bits of an integer; bits above the type's width are
// ignored on the way in and zero on the way out. A complex number is two codes, cast one by one.
//
// Not here: which mode a policy wants, and what lies around an element in memory.
#pragma once

#if defined(PROMOARRAY_CAST)
// Given: the tests compile many texts to run each for a moment, and say `inline`.
#elif defined(__CUDACC_RTC__)
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
enum class ToInteger {
    numpy, x86, torch, saturate, aclnn, tensorflow, torch_cuda, arm64, arm64_scalar
};
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

// PTX's cvt.rzi into a register of 32 bits, of 64 where that is too narrow, of which the low bits are
// kept. PyTorch takes uint8 through int64. NaN is 0, the highest bit where 64 bits are in play.
PROMOARRAY_CAST Limits registers_of_cuda(const Type &source, const Type &target) {
    const bool is_signed = target.kind == Kind::signed_integer;
    const bool through_int64 = target.bits == 8 && !is_signed;
    const int bits = target.bits == 64 || through_int64 ? 64 : 32;
    Limits found = saturating(bits, is_signed || through_int64);
    if (bits == 64 || source.bits == 64) found.nan = 1ull << (bits - 1);
    return found;
}

// Arm's FCVTZS and FCVTZU saturate, too, and make 0 of NaN. Alone a number goes through a register of 32
// bits, or 64, with the sign of the integer. In a loop over vectors float64 goes through an int64, and
// to 8 and 16 bits what is a float32 but for a shift through an int32.
PROMOARRAY_CAST Limits registers_of_arm(const Type &source, const Type &target, bool in_vectors) {
    const bool is_signed = target.kind == Kind::signed_integer;
    const bool is_short = target.bits <= 16 && source.format.exponent == 8;
    if (target.bits == 64) return saturating(64, is_signed);
    if (in_vectors && source.bits == 64) return saturating(64, true);
    return saturating(32, is_signed || (in_vectors && is_short));
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
    if (convention == ToInteger::torch_cuda) return registers_of_cuda(source, target);
    // x86-64 compilers convert to int32 and keep the low bits, to int64 where that is too narrow,
    // and to a 64-bit unsigned integer by halves. To uint32 they go by halves in vectors of
    // float32 (which float64 and bfloat16 fill too) and through int64 from the narrower floats.
    const bool narrow = source.bits <= 8 || (source.bits == 16 && source.format.exponent < 8);
    Limits found = indefinite(bits > 32 ? 64 : 32);
    const bool on_arm = convention == ToInteger::arm64 || convention == ToInteger::arm64_scalar;
    if (!is_signed && bits == 64) found = indefinite_halves(64);
    if (!is_signed && bits == 32) found = narrow ? indefinite(64) : indefinite_halves(32);
    if (!is_signed && bits >= 32 && convention == ToInteger::tensorflow) {
        found = indefinite_halves(bits);
        found.above = found.infinite_above = 1ull << (bits - 1);
    }
    if (!is_signed && bits == 8 && convention == ToInteger::torch) found = indefinite(64);
    if (on_arm) found = registers_of_arm(source, target, convention == ToInteger::arm64);
    if ((on_arm || convention == ToInteger::numpy) && source.bits <= 8) {
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

}  // namespace promoarray
