// How a loop is written: the names of its types, what it asks about a type, and the families of
// loops. All of it is in the namespace of the level for which this text is compiled.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "loops.h"

#ifdef __SSE2__
#include <immintrin.h>
#endif

#ifdef _MSC_VER
#define PROMOARRAY_RESTRICT __restrict
#else
#define PROMOARRAY_RESTRICT __restrict__
#endif

// A loop over one element at a time, for the compiler to vectorize. The last argument makes one
// element from x; what does not depend on x is in `constants`, outside of the loop.
#define PROMOARRAY_LOOP(name, Source, Target, constants, ...)                             \
    void name(const void *source, void *target, std::size_t n, const Work &work) {        \
        const auto *PROMOARRAY_RESTRICT src = static_cast<const Source *>(source);        \
        auto *PROMOARRAY_RESTRICT dst = static_cast<Target *>(target);                    \
        (void)work;                                                                       \
        constants;                                                                        \
        for (std::size_t i = 0; i < n; ++i) {                                             \
            const Source x = src[i];                                                      \
            dst[i] = static_cast<Target>(__VA_ARGS__);                                    \
        }                                                                                 \
    }

namespace promoarray {
namespace PROMOARRAY_VERSION {

using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using f32 = float;
using f64 = double;

// An IEEE 754 format.
inline bool is_float(Type t, int exponent, int mantissa) {
    const i64 top = (((i64)1 << exponent) - 1) << mantissa;
    const i64 quiet = top | (i64)1 << (mantissa - 1);
    const int bias = (1 << (exponent - 1)) - 1;
    return same_type(t, {Kind::real, 1 + exponent + mantissa,
                         {exponent, mantissa, bias, top - 1, top, quiet, true, true}});
}
inline bool is_bfloat16(Type t) { return is_float(t, 8, 7); }
inline bool is_float16(Type t) { return is_float(t, 5, 10); }
inline bool is_float32(Type t) { return is_float(t, 8, 23); }
inline bool is_float64(Type t) { return is_float(t, 11, 52); }

// Types are real here: all that is no float is an integer or a bool.
inline bool is_integer(Type t) { return t.kind != Kind::real; }
inline bool is_signed(Type t) { return t.kind == Kind::signed_integer; }

// 0, 1, 2, 3 for 1, 2, 4, 8 bytes.
inline int row_of(Type t) { return t.bits <= 8 ? 0 : t.bits == 16 ? 1 : t.bits == 32 ? 2 : 3; }

// Whether the machine converts vectors of 64-bit integers.
#if !defined(__x86_64__) || defined(__AVX512DQ__)
constexpr bool converts_long = true;
#else
constexpr bool converts_long = false;
#endif

// A float64 without that: each half goes into the low bits of a power of two, and their sum, if it
// is not exact, is rounded once.
PROMOARRAY_CAST f64 sum_of_halves(u64 x) {
    const f64 high = as_float(x >> 32 | 0x4530000000000000ull) - 0x1.00000001p84;
    return high + as_float((x & 0xffffffffull) | 0x4330000000000000ull);
}

// Bfloat16 is the upper half of a float32, rounded; not of NaN.
PROMOARRAY_CAST u32 bfloat_of(u32 bits) { return (bits + 0x7fff + (bits >> 16 & 1)) >> 16; }
PROMOARRAY_CAST constexpr Type float32_type() { return {Kind::real, 32, float32_format()}; }

// The families that a choice is made from; nullptr is for what a family does not do. `source` is
// what the loop reads: that of the cast, or float32 where the cast goes on from there.
Loop copy_loop(Type type);                       // integers.cpp
Loop integer_loop(Type source, Type target);     // integers.cpp: to integers and bools
Loop wide_float_loop(Type source, Type target);  // integers.cpp: to float32 and float64
Loop single_loop(Type source);                   // floats.cpp: to float32; NaN is any NaN of its sign
Loop float_loop(Type source, Work &work);        // floats.cpp: to floats
Loop truncating_loop(Type source, Work &work);   // truncation.cpp: from wide floats to integers
Loop truncating_loop_by(Limits limit, Type source, Work &work);
Loop table_loop(Work &work);                     // tables.cpp: from 8 bits and fewer
Loop given_table_loop(Work &work);               // tables.cpp: by the table of an adjustment
Loop adjusting_loop(Work &work, Loop loop);      // adjust.cpp: by a way that no mode says
Loop replacing_loop(Work &work, Loop loop);      // adjust.cpp: the cast, then replacements
Operation find_operation(const char *name, Type type);  // arithmetic.cpp

// A loop that does the work of two, of which the second may be such a loop itself (loops.cpp).
Loop chain(Work &work, Loop first, Loop second);

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
