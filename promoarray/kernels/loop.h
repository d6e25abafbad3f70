// How a loop is written: the names of its types, its versions, and what it asks about a type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "loops.h"

// All loops are compiled for x86-64 levels 1, 3 (AVX2) and 4 (AVX-512); the loader takes the best
// one the machine has. CMake finds out whether compiler and C library can do that.
#ifdef PROMOARRAY_TARGET_CLONES
#define PROMOARRAY_CLONES \
    __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define PROMOARRAY_CLONES
#endif

#ifdef _MSC_VER
#define PROMOARRAY_RESTRICT __restrict
#else
#define PROMOARRAY_RESTRICT __restrict__
#endif

// target_clones takes no templates, so the loops are named one by one. The last argument makes one
// element from x; what does not depend on x is in `constants`, outside of the loop.
#define PROMOARRAY_LOOP(name, Source, Target, constants, ...)                             \
    PROMOARRAY_CLONES void name(const void *source, void *target, std::size_t n,          \
                                const Work &work) {                                       \
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

}  // namespace promoarray
