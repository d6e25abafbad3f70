// Remainders of floats as C's fmod has them, with the sign of the dividend: exact, so that every
// level has the same bits. Of short quotients they are made in registers, others one by one.
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "elementwise.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {

// Compilers make registers of no std::signbit of float64.
PROMOARRAY_CAST bool signs_differ(f32 x, f32 y) { return (i32)(as_bits(x) ^ as_bits(y)) < 0; }
PROMOARRAY_CAST bool signs_differ(f64 x, f64 y) { return (i64)(as_bits(x) ^ as_bits(y)) < 0; }

#if defined(__FMA__) || defined(__ARM_FEATURE_FMA)
// Whether a remainder is `rest`, of a finite divisor and a quotient that has all of its bits before
// the point.
//
// The quotient, rounded, is cut to an integer n or, where it was rounded up to that, one more than it
// should be. x - n y is a multiple of the last bit of y, and no greater than y: a number, which fma
// makes in one rounding, and with y once more where it fell below zero.
template <typename T>
PROMOARRAY_CAST bool near_remainder(T x, T y, T &rest) {
    constexpr T end = std::is_same_v<T, f32> ? (T)0x1p24 : (T)0x1p53;
    const T quotient = x / y;
    const bool is_near = std::isless(std::fabs(quotient), end) &
                         std::isless(std::fabs(y), std::numeric_limits<T>::infinity());
    const T left = std::fma(-std::trunc(is_near ? quotient : (T)0), y, x);
    const bool is_beyond = (left != 0) & signs_differ(left, x);
    rest = std::copysign(left + (is_beyond ? std::copysign(y, x) : (T)0), x);
    return is_near;
}
#else
template <typename T>
PROMOARRAY_CAST bool near_remainder(T, T, T &rest) {
    rest = 0;
    return false;
}
#endif

constexpr std::size_t remainders_at_once = 512;

// Of a quotient a divisor that is zero is no invalid one: there is no remainder.
template <bool of_quotients, typename T>
void remainders_of(const T *x, const T *y, T *rest, std::size_t n) {
    using Flag = std::conditional_t<sizeof(T) == 4, i32, i64>;  // as wide, for registers
    Flag is_near[remainders_at_once], all = -1;
    PROMOARRAY_APART
    for (std::size_t i = 0; i < n; ++i) {
        is_near[i] = -(Flag)near_remainder(x[i], y[i], rest[i]);
        all &= is_near[i];
    }
    if (all != 0) return;
    for (std::size_t i = 0; i < n; ++i) {
        if (is_near[i] != 0) continue;
        if (of_quotients && y[i] == 0) rest[i] = std::numeric_limits<T>::quiet_NaN();
        else rest[i] = std::fmod(x[i], y[i]);
    }
}

// A step of a dividend, a divisor and their remainder.
template <typename Step, typename T>
void each_with_remainder(const void *const *operands, void *result, std::size_t n) {
    const T *const x = static_cast<const T *>(operands[0]), *const y = static_cast<const T *>(operands[1]);
    auto *const out = static_cast<T *>(result);
    T rest[remainders_at_once];
    for (std::size_t at = 0; at < n; at += remainders_at_once) {
        const std::size_t count = n - at < remainders_at_once ? n - at : remainders_at_once;
        remainders_of<Step::makes_quotients>(x + at, y + at, rest, count);
        PROMOARRAY_APART
        for (std::size_t i = 0; i < count; ++i) out[at + i] = Step::of(x[at + i], y[at + i], rest[i]);
    }
}

template <typename Step>
Run with_remainders(Type t) {
    return is_float32(t)   ? each_with_remainder<Step, f32>
           : is_float64(t) ? each_with_remainder<Step, f64>
                           : nullptr;
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
