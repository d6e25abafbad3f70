// Casts from float16, bfloat16 and integers of 16 bits to scales (e8m0), as many at a time as a register
// has bytes.
#include "narrow_registers.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {

#ifdef __AVX2__
namespace {

// `encode_scale` of bfloat16, which is the upper half of a float32.
class ScaleLanes {
public:
    explicit ScaleLanes(const ScaleEdges<Float32> &edge)
        : bump(upper(edge.bump)), low_bump(upper(edge.low_bump)), low(ends_at(edge.low)),
          over(ends_at(edge.over)), sign(upper(edge.sign)), overflow(all_words(edge.overflow)),
          infinity(all_words(edge.infinity)), nan(all_words(edge.nan)), zero(all_words(edge.zero)),
          negative(all_words(edge.negative)) {}

    PROMOARRAY_CAST Register of(Words x) const {
        constexpr u16 infinite = 0x7f80, second = 0x0080;  // 2^-126
        const Words magnitude = x & 0x7fff;
        const Words code = (magnitude + (magnitude < second ? low_bump : bump)) >> 7;
        const Words above = magnitude < low ? nan : code;
        const Words finite = magnitude < over ? above : overflow;
        const Words number = magnitude == infinite ? infinity : finite;
        const Words either = (x & sign) > infinite ? negative : number;
        const Words result = magnitude == 0 ? zero : either;
        return (Register)(magnitude > infinite ? nan : result);
    }

private:
    static Words upper(u32 bits) { return all_words(bits >> 16); }
    static Words ends_at(u32 bits) { return upper(bits + 0xffff); }
    Words bump, low_bump, low, over, sign, overflow, infinity, nan, zero, negative;
};

struct BfloatToScale {
    ScaleLanes lanes;
    Register order;
    explicit BfloatToScale(const Work &work) : lanes(work.scale32), order(order_of(2)) {}
    PROMOARRAY_CAST Register of(const u16 *x) const {
        const Register low = lanes.of((Words)loaded(x));
        const Register high = lanes.of((Words)loaded(x + most_bytes / 2));
        return in_order(packed(low, high), order);
    }
};

// What is a float32 between the smallest scale and the largest, or 0; `by_sign` where negative numbers
// have none.
template <bool by_sign>
struct WithinScales {
    DoubleWords bump;
    Register zero, negative, infinity, nan, order;
    explicit WithinScales(const ScaleEdges<Float32> &edge)
        : bump(edge.bump - DoubleWords{}), zero(all_bytes(edge.zero)),
          negative(all_bytes(edge.negative)), infinity(all_bytes(edge.infinity)),
          nan(all_bytes(edge.nan)), order(order_of(2)) {}
    PROMOARRAY_CAST Register rounded(Register bits) const {
        return (Register)(((DoubleWords)bits + bump) >> Float32::mantissa);
    }
    // Of codes without the sign, and of what has it; 0 may have one too.
    PROMOARRAY_CAST Register with_sign(Register number, Register low, Register high) const {
        Register code = number;
        if (by_sign) code = either(number, negatives(packed_signed(low, high)), negative);
        return either(code, equal(number, all_bytes(0)), zero);
    }
};

template <typename Integer, bool by_sign>
struct WholeToScale : WithinScales<by_sign> {
    explicit WholeToScale(const Work &work) : WithinScales<by_sign>(work.scale32) {}
    PROMOARRAY_CAST Register magnitudes(Register whole) const {
        const Register magnitude = Integer(-1) < 0 ? magnitude_of(whole) : whole;
        return packed_words(this->rounded(bits_of(lower_half(magnitude))),
                            this->rounded(bits_of(upper_half(magnitude))));
    }
    PROMOARRAY_CAST Register of(const Integer *x) const {
        const Register low = loaded(x), high = loaded(x + most_bytes / 2);
        const Register number = packed(magnitudes(low), magnitudes(high));
        return in_order(this->with_sign(number, low, high), this->order);
    }
};

template <bool by_sign>
struct HalfToScale : WithinScales<by_sign> {
    Words below;  // the last before infinity, without its sign, twice
    explicit HalfToScale(const Work &work)
        : WithinScales<by_sign>(work.scale32), below(all_words(2 * 0x7c00 - 1)) {}
    // The sign stands above a code, of which NaN has any.
    PROMOARRAY_CAST Register magnitudes(const u16 *x) const {
        const Register words = packed_words(this->rounded(bits_of_halves(x)),
                                            this->rounded(bits_of_halves(x + most_bytes / 4)));
        return in_order((Register)((Words)words & 0xff), this->order);
    }
    PROMOARRAY_CAST Register of(const u16 *x) const {
        const Register low = loaded(x), high = loaded(x + most_bytes / 2);
        const auto beyond = [this](Register words) {
            return less((Register)((Words)words + (Words)words), (Register)below);
        };
        const Register finite = packed(magnitudes(x), magnitudes(x + most_bytes / 2));
        const Register ends = packed_signed(beyond(low), beyond(high)), infinite = all_bytes(1);
        const Register number = either(finite, equal(ends, infinite), this->infinity);
        const Register code = this->with_sign(number, low, high);
        return in_order(either(code, above(ends, infinite), this->nan), this->order);
    }
};

template <bool by_sign>
Loop within_scales_loop(Type source) {
    if (is_float16(source)) return to_bytes<u16, HalfToScale<by_sign>>;
    return is_signed(source) ? to_bytes<i16, WholeToScale<i16, by_sign>>
                             : to_bytes<u16, WholeToScale<u16, false>>;
}

}  // namespace

Loop short_scale_loop(Type source, const CastMode &mode) {
    if (is_bfloat16(source)) return to_bytes<u16, BfloatToScale>;
    if (source.bits != 16) return nullptr;
    return mode.scale_negative == ScaleNegative::absolute ? within_scales_loop<false>(source)
                                                          : within_scales_loop<true>(source);
}
#else
Loop short_scale_loop(Type, const CastMode &) { return nullptr; }
#endif

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
