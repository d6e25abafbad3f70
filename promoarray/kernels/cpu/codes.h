// Floats of 16 bits that are compared and chosen by their codes, as many at a time as there are
// integers of 16 bits in a register. NaN keeps its sign and no payload where it is a result, as in
// cast.h.
#pragma once

#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {

template <int infinity_, int nan_, int one_>
struct Code {
    static constexpr u16 infinity = infinity_, nan = nan_, one = one_;
    u16 bits;

    u16 magnitude() const { return bits & 0x7fff; }
    bool is_nan() const { return magnitude() > infinity; }
    // In the order of the numbers; both zeros are 0.
    i16 rank() const {
        const i16 sign = (i16)((i16)bits >> 15);
        return (i16)((i16)((i16)magnitude() ^ sign) - sign);
    }
    u16 quieted() const { return is_nan() ? (u16)((bits & 0x8000) | nan) : bits; }

    friend bool numbers(Code x, Code y) { return !x.is_nan() & !y.is_nan(); }
    friend bool operator<(Code x, Code y) { return (x.rank() < y.rank()) & numbers(x, y); }
    friend bool operator<=(Code x, Code y) { return (x.rank() <= y.rank()) & numbers(x, y); }
    friend bool operator>(Code x, Code y) { return y < x; }
    friend bool operator==(Code x, Code y) { return (x.rank() == y.rank()) & numbers(x, y); }
    friend bool operator!=(Code x, Code y) { return !(x == y); }
};
using HalfCode = Code<0x7c00, 0x7e00, 0x3c00>;
using BfloatCode = Code<0x7f80, 0x7fc0, 0x3f80>;

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
