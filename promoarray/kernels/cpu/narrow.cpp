// Casts from float16, bfloat16, float32 and integers of 16 bits to floats of 8 bits and fewer, in
// lanes of 16 bits, of which a register holds twice as many as of float32. A way is written once for
// the registers of AVX2 and of AVX-512.
#include "narrow_registers.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {

#ifdef __AVX2__
namespace {

struct Lanes {
    Powers powers;
    Words first;  // exponent of the smallest normal number
    Words step;   // from one exponent of the target to the next
    Words below;  // the last before infinity of the source, without its sign, twice
    Register largest, target_overflow, target_infinity, target_nan, nan_sign;
    Register unsigned_zero;  // 0, which has no sign in fnuz, or what no code is
    __m128i sign_shift;
    Register order;  // of fours of bytes, from that in which they are packed
};

Lanes lanes_of(Format from, const Work &work, int fours) {
    const Format to = work.target.format;
    const Edges edge = work.edge;
    const int first = 1 + from.bias - to.bias, width = to.exponent + to.mantissa;
    return {
        Powers(to.mantissa + 1, first), all_words(first), all_words(1 << to.mantissa),
        all_words(2 * (int)from.inf - 1),
        all_bytes(to.largest), all_bytes(edge.overflow), all_bytes(edge.infinity),
        all_bytes(edge.nan), all_bytes((u64)edge.nan_sign << width),
        all_bytes(to.negative_zero ? 0xff : 0), _mm_cvtsi32_si128(7 - width), order_of(fours),
    };
}

// The magnitudes of codes, without a look at what is beyond the largest. Where they count
// (`from_zero`), the source's subnormals are of exponent 0, with twice the significand.
template <int mantissa, bool from_zero>
PROMOARRAY_CAST Register magnitudes(Words x, const Lanes &l) {
    const Words exponent = (x + x) >> (mantissa + 1);
    Words significand = (x << (14 - mantissa) & 0x3fff) | 0x4000;
    if (from_zero) {
        const Words subnormal = x << (15 - mantissa) & 0x7fff;
        significand = exponent == 0 ? subnormal : significand;
    }
    // Multiplied by a power of two, the upper bits are kept and 15 are lost. A half of what is kept
    // goes up; an even number is to stay.
    const Register power = l.powers.of((Register)exponent);
    const Register kept = upper_product((Register)significand, power);
    const Words lower = significand * (Words)power;
    const Register even = less_one_where_equal(kept, (Register)lower, (Register)all_words(0x4000));
    const Words steps = (Words)less((Register)exponent, (Register)l.first) * l.step;
    return (Register)((Words)even + steps);
}

// The largest byte stands for all above it.
PROMOARRAY_CAST Register limited(Register low, Register high, const Lanes &l) {
    const Register code = packed(low, high);
    return either(code, above(code, l.largest), l.target_overflow);
}
PROMOARRAY_CAST Register signs(Register low, Register high, const Lanes &l) {
    return shifted(packed_signed(low, high) & all_bytes(0x80), l.sign_shift);
}

// The sign, NaN and, with `two_ends`, Inf, where it does not become what overflows does.
template <bool two_ends>
PROMOARRAY_CAST Register with_ends(Register number, Words low, Words high, const Lanes &l) {
    // 1. Inf is 1 above all that is finite; NaN is more.
    const Register beyond = packed_signed(less((Register)(low + low), (Register)l.below),
                                          less((Register)(high + high), (Register)l.below));
    const Register infinite = all_bytes(1);
    if (two_ends) number = either(number, equal(beyond, infinite), l.target_infinity);

    // 2. The sign, and NaN.
    const Register sign = signs((Register)low, (Register)high, l);
    const Chosen has_none = equal(number, l.unsigned_zero);
    const Register signed_number = either(number | sign, has_none, number);
    const Register quiet = l.target_nan ^ (sign & l.nan_sign);
    return either(signed_number, above(beyond, infinite), quiet);
}

// As many numbers as a register has bytes.
template <int mantissa, bool from_zero, bool two_ends>
PROMOARRAY_CAST Register encoded(Words low, Words high, const Lanes &l) {
    const Register number = limited(magnitudes<mantissa, from_zero>(low, l),
                                    magnitudes<mantissa, from_zero>(high, l), l);
    return with_ends<two_ends>(number, low, high, l);
}

// A register of words; of float32 the upper halves, which are bfloat16, odd if a lower one is not 0.
// They have two bits more than any target, so rounding them once more is as good as rounding once.
PROMOARRAY_CAST Words words_of(const u16 *x) { return (Words)loaded(x); }
PROMOARRAY_CAST Words words_of(const u32 *x) {
    return odd_upper_halves(loaded(x), loaded(x + most_bytes / 4));
}

template <typename Source, int mantissa, bool from_zero, bool two_ends>
struct FromFloats {
    Lanes lanes;
    static constexpr bool is_single = sizeof(Source) == 4;
    explicit FromFloats(const Work &work)
        : lanes(lanes_of(is_single ? bfloat16_format() : work.source.format, work,
                         is_single ? 1 : 2)) {}
    PROMOARRAY_CAST Register of(const Source *x) const {
        const Words low = words_of(x), high = words_of(x + most_bytes / 2);
        return in_order(encoded<mantissa, from_zero, two_ends>(low, high, lanes), lanes.order);
    }
};

// From float16 to what has as many bits of exponent: its code is the upper half of the source's, which
// is rounded by carrying. Where the bias is 1 more, so is the exponent; subnormals are doubled.
template <bool two_ends>
struct FromHalf {
    Lanes lanes;
    Words bias;  // 1 in the exponent, or 0
    explicit FromHalf(const Work &work) : lanes(lanes_of(work.source.format, work, 2)) {
        const Format from = work.source.format;
        bias = all_words((work.target.format.bias - from.bias) << from.mantissa);
    }
    PROMOARRAY_CAST Register of(const u16 *x) const {
        const auto magnitudes = [&](Words code) {
            const Words magnitude = code & 0x7fff;
            const Words number = magnitude + (Words)at_most_unsigned((Register)magnitude, (Register)bias);
            return (Register)((number + 0x7f + (number >> 8 & 1)) >> 8);
        };
        const Words low = words_of(x), high = words_of(x + most_bytes / 2);
        const Register number = limited(magnitudes(low), magnitudes(high), lanes);
        return in_order(with_ends<two_ends>(number, low, high, lanes), lanes.order);
    }
};

// Integers as float32, rounded as in cast.h: none is Inf or NaN, or subnormal in the target, and 0
// is below all others.
template <typename Integer>
struct FromWhole {
    DoubleWords under_half, lost;
    Words rebias;
    Lanes lanes;
    explicit FromWhole(const Work &work) : lanes(lanes_of(bfloat16_format(), work, 2)) {
        const Format to = work.target.format;
        lost = (u32)(Float32::mantissa - to.mantissa) - DoubleWords{};
        under_half = (1u << (Float32::mantissa - to.mantissa - 1)) - 1 - DoubleWords{};
        rebias = all_words((Float32::bias - to.bias) << to.mantissa);
    }
    PROMOARRAY_CAST Register rounded(Register words) const {
        const DoubleWords bits = (DoubleWords)bits_of(words);
        return (Register)((bits + under_half + (bits >> lost & 1)) >> lost);
    }
    PROMOARRAY_CAST Register magnitudes(Register whole) const {
        const Register first = rounded(lower_half(whole)), second = rounded(upper_half(whole));
        return (Register)((Words)packed_words(first, second) - rebias);
    }
    PROMOARRAY_CAST Register of(const Integer *x) const {
        constexpr bool has_sign = Integer(-1) < 0;
        const Register low = loaded(x), high = loaded(x + most_bytes / 2);
        const Register first = magnitudes(has_sign ? magnitude_of(low) : low);
        const Register second = magnitudes(has_sign ? magnitude_of(high) : high);
        const Register number = limited(first, second, lanes);
        return in_order(has_sign ? number | signs(low, high, lanes) : number, lanes.order);
    }
};

template <typename Source, int mantissa, bool from_zero>
Loop narrow_loop_for(const Work &work) {
    const bool two_ends = work.edge.overflow != work.edge.infinity;
    return two_ends ? to_bytes<Source, FromFloats<Source, mantissa, from_zero, true>>
                    : to_bytes<Source, FromFloats<Source, mantissa, from_zero, false>>;
}

bool carries(Format from, Format to) {
    return to.exponent == from.exponent && to.mantissa == from.mantissa - 8 &&
           (to.bias == from.bias || to.bias == from.bias + 1);
}
Loop half_loop(const Work &work) {
    const bool two_ends = work.edge.overflow != work.edge.infinity;
    return two_ends ? to_bytes<u16, FromHalf<true>> : to_bytes<u16, FromHalf<false>>;
}

}  // namespace

Loop narrow_loop(Type source, const Work &work) {
    const Format to = work.target.format;
    const bool to_few =
        work.target.bits <= 8 && to.mantissa >= 1 && to.mantissa <= 4 && to.has_sign;
    if (!to_few) return nullptr;
    // The exponents that round to a number of the target are those of normal numbers, or all.
    const int base = source.format.bias - to.bias - to.mantissa - 1;
    if (is_float32(source)) return base >= 0 ? narrow_loop_for<u32, 7, false>(work) : nullptr;
    if (is_bfloat16(source)) return base >= 0 ? narrow_loop_for<u16, 7, false>(work) : nullptr;
    if (is_float16(source) && carries(source.format, to)) return half_loop(work);
    if (is_float16(source) && base >= 0) return narrow_loop_for<u16, 10, false>(work);
    if (is_float16(source)) return to.bias <= 16 ? narrow_loop_for<u16, 10, true>(work) : nullptr;
    // 1 is a normal number of the target.
    const bool is_whole = is_integer(source) && source.bits == 16 && to.bias >= 1;
    if (!is_whole) return nullptr;
    return is_signed(source) ? to_bytes<i16, FromWhole<i16>> : to_bytes<u16, FromWhole<u16>>;
}
#else
Loop narrow_loop(Type, const Work &) { return nullptr; }
#endif

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
