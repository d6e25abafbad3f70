// Loops over cast.h, and the choice among them. All are compiled for x86-64 levels 1, 3 (AVX2) and
// 4 (AVX-512); the loader takes the best one the machine has. CMake finds out whether compiler and C
// library can do that.
#include "loops.h"

#include <cstring>

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

namespace promoarray {
namespace {

using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using f32 = float;
using f64 = double;

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

// --- Integers among each other: the low bits, extended by the sign of the source ----------------

#define PROMOARRAY_CONVERT(Source, Target) \
    PROMOARRAY_LOOP(Source##_to_##Target, Source, Target, , x)
PROMOARRAY_CONVERT(i8, u16) PROMOARRAY_CONVERT(i8, u32) PROMOARRAY_CONVERT(i8, u64)
PROMOARRAY_CONVERT(u8, u16) PROMOARRAY_CONVERT(u8, u32) PROMOARRAY_CONVERT(u8, u64)
PROMOARRAY_CONVERT(i16, u32) PROMOARRAY_CONVERT(i16, u64)
PROMOARRAY_CONVERT(u16, u32) PROMOARRAY_CONVERT(u16, u64)
PROMOARRAY_CONVERT(i32, u64) PROMOARRAY_CONVERT(u32, u64)
PROMOARRAY_CONVERT(u16, u8) PROMOARRAY_CONVERT(u32, u8) PROMOARRAY_CONVERT(u64, u8)
PROMOARRAY_CONVERT(u32, u16) PROMOARRAY_CONVERT(u64, u16) PROMOARRAY_CONVERT(u64, u32)

// To a type of fewer than 8 bits: those above it are zero.
#define PROMOARRAY_MASK(Source) \
    PROMOARRAY_LOOP(Source##_masked, Source, u8, const u32 mask = (1u << work.target.bits) - 1, \
                    (u32)x & mask)
PROMOARRAY_MASK(u8) PROMOARRAY_MASK(u16) PROMOARRAY_MASK(u32) PROMOARRAY_MASK(u64)

template <std::size_t size>
void copy(const void *source, void *target, std::size_t n, const Work &) {
    std::memcpy(target, source, n * size);
}

// --- To bool: whether any bit but the sign of a zero is set -------------------------------------

#define PROMOARRAY_NONZERO(Source)                                                           \
    PROMOARRAY_LOOP(Source##_nonzero, Source, u8,                                            \
                    const bool real = work.source.kind == Kind::real;                        \
                    const Source mask = (Source)(~0ull >> (64 - 8 * sizeof(Source) + real)), \
                    (x & mask) != 0)
PROMOARRAY_NONZERO(u8) PROMOARRAY_NONZERO(u16) PROMOARRAY_NONZERO(u32) PROMOARRAY_NONZERO(u64)

// --- Integers to float32 and float64 ------------------------------------------------------------
// By the machine's own instructions: exact where the float is wide enough, and else rounded once to
// nearest, as cast.h does it. They make no subnormals, so flushing those cannot touch them.

PROMOARRAY_CONVERT(i8, f32) PROMOARRAY_CONVERT(u8, f32)
PROMOARRAY_CONVERT(i16, f32) PROMOARRAY_CONVERT(u16, f32)
PROMOARRAY_CONVERT(i32, f32) PROMOARRAY_CONVERT(u32, f32)
PROMOARRAY_CONVERT(i64, f32) PROMOARRAY_CONVERT(u64, f32)
PROMOARRAY_CONVERT(i8, f64) PROMOARRAY_CONVERT(u8, f64)
PROMOARRAY_CONVERT(i16, f64) PROMOARRAY_CONVERT(u16, f64)
PROMOARRAY_CONVERT(i32, f64) PROMOARRAY_CONVERT(u32, f64)
PROMOARRAY_CONVERT(i64, f64) PROMOARRAY_CONVERT(u64, f64)

// --- To small floats ----------------------------------------------------------------------------
// Whatever the source, it is first made a float32 or float64 that holds it, or is as good for the
// one rounding to come, and that is encoded.

// The bits of a float with the magnitude of an integer, odd if it is too long, and the sign.
PROMOARRAY_CAST u32 odd_bits(u32 x) { return as_bits((f32)sticky(x)); }
// AVX2 has no conversion from 64 bits: both halves go into the low bits of a power of two each.
PROMOARRAY_CAST u64 odd_bits(u64 x) {
    const u64 odd = sticky(x);
    const f64 high = as_float(odd >> 32 | 0x4530000000000000ull) - 0x1.00000001p84;
    return as_bits(high + as_float((odd & 0xffffffffull) | 0x4330000000000000ull));
}
PROMOARRAY_CAST u32 odd_bits(i32 x) {
    const u32 negative = x < 0 ? ~0u : 0;
    return odd_bits(((u32)x ^ negative) - negative) | (negative & 0x80000000u);
}
PROMOARRAY_CAST u64 odd_bits(i64 x) {
    const u64 negative = x < 0 ? ~0ull : 0;
    return odd_bits(((u64)x ^ negative) - negative) | (negative & 0x8000000000000000ull);
}

PROMOARRAY_CAST u32 single_bits(u64 x, Edges edge) {
    return encode<Float64>(x, float32_format(), edge);
}

#define PROMOARRAY_DECODED                           \
    const Format from = work.source.format;          \
    const u32 keep = work.rule.keep_nan_sign;
#define PROMOARRAY_KEEP const u32 keep = work.rule.keep_nan_sign;
#define PROMOARRAY_SINGLE const Edges single = work.single_edge;

#define PROMOARRAY_TO_FLOATS(name, Source, Wide, scale, constants, ...)             \
    PROMOARRAY_LOOP(name##_to_8, Source, u8,                                        \
                    constants const Format to = work.target.format;                 \
                    const Edges edge = work.edge, encode<Wide>(__VA_ARGS__, to, edge)) \
    PROMOARRAY_LOOP(name##_to_16, Source, u16,                                      \
                    constants const Format to = work.target.format;                 \
                    const Edges edge = work.edge, encode<Wide>(__VA_ARGS__, to, edge)) \
    PROMOARRAY_LOOP(name##_to_scale, Source, u8, constants const auto edge = work.scale, \
                    encode_scale<Wide>(__VA_ARGS__, edge))                          \
    PROMOARRAY_LOOP(name##_to_scale_or_nan, Source, u8, constants const auto edge = work.scale, \
                    encode_scale_or_nan<Wide>(__VA_ARGS__, edge))                   \
    constexpr Loop name##_loops[4] = {name##_to_8, name##_to_16, name##_to_scale,   \
                                      name##_to_scale_or_nan};

PROMOARRAY_TO_FLOATS(single, u32, Float32, scale32, , x)
PROMOARRAY_TO_FLOATS(bfloat, u16, Float32, scale32, , (u32)x << 16)
PROMOARRAY_TO_FLOATS(half, u16, Float32, scale32, , decode(x, float16_format(), 1))
PROMOARRAY_TO_FLOATS(double, u64, Float64, scale64, , x)
PROMOARRAY_TO_FLOATS(i16, i16, Float32, scale32, , as_bits((f32)x))
PROMOARRAY_TO_FLOATS(u16, u16, Float32, scale32, , as_bits((f32)x))
PROMOARRAY_TO_FLOATS(i32, i32, Float32, scale32, , odd_bits(x))
PROMOARRAY_TO_FLOATS(u32, u32, Float32, scale32, , odd_bits(x))
PROMOARRAY_TO_FLOATS(i64, i64, Float64, scale64, , odd_bits(x))
PROMOARRAY_TO_FLOATS(u64, u64, Float64, scale64, , odd_bits(x))

// Rounded to float32 first, where that is the quirk to reproduce.
PROMOARRAY_TO_FLOATS(double_via, u64, Float32, scale32, PROMOARRAY_SINGLE, single_bits(x, single))
PROMOARRAY_TO_FLOATS(i32_via, i32, Float32, scale32, , as_bits((f32)x))
PROMOARRAY_TO_FLOATS(u32_via, u32, Float32, scale32, , as_bits((f32)x))
PROMOARRAY_TO_FLOATS(i64_via, i64, Float32, scale32, , as_bits((f32)x))
PROMOARRAY_TO_FLOATS(u64_via, u64, Float32, scale32, , as_bits((f32)x))

// --- Floats among the wide ones -----------------------------------------------------------------

PROMOARRAY_LOOP(small_to_single, u8, u32, PROMOARRAY_DECODED, decode(x, from, keep))
PROMOARRAY_LOOP(scale_to_single, u8, u32, , decode_scale(x))
PROMOARRAY_LOOP(half_to_single, u16, u32, PROMOARRAY_KEEP, decode(x, float16_format(), keep))
PROMOARRAY_LOOP(half_to_double, u16, u64, PROMOARRAY_KEEP,
                widen(decode(x, float16_format(), 1), keep))
PROMOARRAY_LOOP(bfloat_to_single, u16, u32, PROMOARRAY_KEEP, quieted((u32)x << 16, keep))
PROMOARRAY_LOOP(bfloat_to_double, u16, u64, PROMOARRAY_KEEP, widen((u32)x << 16, keep))
PROMOARRAY_LOOP(single_to_double, u32, u64, const u32 keep = work.rule.keep_nan_sign,
                widen(x, keep))
PROMOARRAY_LOOP(double_to_single, u64, u32, PROMOARRAY_SINGLE, single_bits(x, single))

// --- Floats to integers -------------------------------------------------------------------------
// By the machine's conversion of what it can hold, and by the rule outside.

template <typename Word, typename Float, typename Bound>
PROMOARRAY_CAST Word truncate(Float x, Bound low, Bound high, u64 above, u64 below, u64 nan) {
    const bool inside = (x > low) & (x < high);
    const Word whole = (Word)(inside ? x : 0);
    const Word outside = (Word)(x > 0 ? above : x < 0 ? below : nan);
    return inside ? whole : outside;
}

// Unsigned integers as wide as the machine's: the upper half less its start, which is added again.
template <typename Word, typename Unsigned, typename Float, typename Bound>
PROMOARRAY_CAST Unsigned truncate_halves(Float x, Bound low, Bound high, const Range &r) {
    constexpr Unsigned half = (Unsigned)1 << (8 * sizeof(Unsigned) - 1);
    const bool inside = (x > low) & (x < high);
    const bool upper = x >= (Float)half;
    const Word whole = (Word)(inside ? (upper ? x - (Float)half : x) : 0);
    const Unsigned outside = (Unsigned)(x > 0 ? r.above : x < 0 ? r.below : r.nan);
    return inside ? (Unsigned)whole ^ (upper ? half : 0) : outside;
}

#define PROMOARRAY_MASKED(Target)                                    \
    const Range r = work.range;                                      \
    const int unused = 8 * (int)sizeof(Target) - work.target.bits;   \
    const Target mask = (Target)((Target)~(Target)0 >> unused);

#define PROMOARRAY_TRUNCATE_32(name, Source, Word, Target, constants, ...)                      \
    PROMOARRAY_LOOP(name##_##Word##_to_##Target, Source, Target,                                \
                    PROMOARRAY_MASKED(Target) constants,                                        \
                    (Target)truncate<Word>(__VA_ARGS__, r.single_low, r.single_high, r.above,   \
                                           r.below, r.nan) & mask)
#define PROMOARRAY_TO_INTEGERS(name, Source, constants, ...)                                    \
    PROMOARRAY_TRUNCATE_32(name, Source, i32, u8, constants, __VA_ARGS__)                       \
    PROMOARRAY_TRUNCATE_32(name, Source, i32, u16, constants, __VA_ARGS__)                      \
    PROMOARRAY_TRUNCATE_32(name, Source, i32, u32, constants, __VA_ARGS__)                      \
    PROMOARRAY_TRUNCATE_32(name, Source, i64, u8, constants, __VA_ARGS__)                       \
    PROMOARRAY_TRUNCATE_32(name, Source, i64, u16, constants, __VA_ARGS__)                      \
    PROMOARRAY_TRUNCATE_32(name, Source, i64, u32, constants, __VA_ARGS__)                      \
    PROMOARRAY_TRUNCATE_32(name, Source, i64, u64, constants, __VA_ARGS__)                      \
    PROMOARRAY_LOOP(name##_to_u32, Source, u32, const Range r = work.range; constants,          \
                    truncate_halves<i32, u32>(__VA_ARGS__, r.single_low, r.single_high, r))     \
    PROMOARRAY_LOOP(name##_to_u64, Source, u64, const Range r = work.range; constants,          \
                    truncate_halves<i64, u64>(__VA_ARGS__, r.single_low, r.single_high, r))     \
    constexpr IntegerLoops name##_integers = {                                                  \
        {name##_i32_to_u8, name##_i32_to_u16, name##_i32_to_u32, name##_i64_to_u64},            \
        {name##_i64_to_u8, name##_i64_to_u16, name##_i64_to_u32, name##_i64_to_u64},            \
        name##_to_u32, name##_to_u64};

// By the signed integer that holds all inside, of 32 or 64 bits, or by halves.
struct IntegerLoops {
    Loop short_words[4], long_words[4], halves, long_halves;
};

PROMOARRAY_TO_INTEGERS(single, f32, , x)
PROMOARRAY_TO_INTEGERS(bfloat, u16, , as_float((u32)x << 16))
PROMOARRAY_TO_INTEGERS(half, u16, , as_float(decode(x, float16_format(), 1)))

#define PROMOARRAY_TRUNCATE_64(Word, Target)                                                    \
    PROMOARRAY_LOOP(double_##Word##_to_##Target, f64, Target, PROMOARRAY_MASKED(Target),        \
                    (Target)truncate<Word>(x, r.low, r.high, r.above, r.below, r.nan) & mask)
PROMOARRAY_TRUNCATE_64(i32, u8) PROMOARRAY_TRUNCATE_64(i32, u16) PROMOARRAY_TRUNCATE_64(i32, u32)
PROMOARRAY_TRUNCATE_64(i64, u8) PROMOARRAY_TRUNCATE_64(i64, u16) PROMOARRAY_TRUNCATE_64(i64, u32)
PROMOARRAY_TRUNCATE_64(i64, u64)
PROMOARRAY_LOOP(double_to_u64, f64, u64, const Range r = work.range,
                truncate_halves<i64, u64>(x, r.low, r.high, r))
constexpr IntegerLoops double_integers = {
    {double_i32_to_u8, double_i32_to_u16, double_i32_to_u32, double_i64_to_u64},
    {double_i64_to_u8, double_i64_to_u16, double_i64_to_u32, double_i64_to_u64},
    double_i64_to_u32, double_to_u64};

// --- By table, from 8 bits and fewer ------------------------------------------------------------

template <typename Target>
void look_up(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const u8 *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<Target *>(target);
    Target table[256];
    std::memcpy(table, work.table, sizeof table);
    for (std::size_t i = 0; i < n; ++i) dst[i] = table[src[i]];
}

// --- By the definition --------------------------------------------------------------------------

u64 load(const unsigned char *at, std::size_t size) {
    switch (size) {
        case 1: return *at;
        case 2: { u16 x; std::memcpy(&x, at, 2); return x; }
        case 4: { u32 x; std::memcpy(&x, at, 4); return x; }
        default: { u64 x; std::memcpy(&x, at, 8); return x; }
    }
}

void store(u64 code, unsigned char *at, std::size_t size) {
    switch (size) {
        case 1: *at = (u8)code; return;
        case 2: { const auto x = (u16)code; std::memcpy(at, &x, 2); return; }
        case 4: { const auto x = (u32)code; std::memcpy(at, &x, 4); return; }
        default: std::memcpy(at, &code, 8); return;
    }
}

void by_definition(const void *source, void *target, std::size_t n, const Work &work) {
    const std::size_t from = size_of(work.source), to = size_of(work.target);
    const auto *src = static_cast<const unsigned char *>(source);
    auto *dst = static_cast<unsigned char *>(target);
    for (std::size_t i = 0; i < n; ++i, src += from, dst += to) {
        store(cast(load(src, from), work.source, work.target, work.rule), dst, to);
    }
}

// --- The choice ---------------------------------------------------------------------------------

// An IEEE 754 format.
bool is_float(Type t, int exponent, int mantissa) {
    const i64 top = (((i64)1 << exponent) - 1) << mantissa;
    const i64 quiet = top | (i64)1 << (mantissa - 1);
    const int bias = (1 << (exponent - 1)) - 1;
    return same_type(t, {Kind::real, 1 + exponent + mantissa,
                         {exponent, mantissa, bias, top - 1, top, quiet, true, true}});
}
bool is_bfloat16(Type t) { return is_float(t, 8, 7); }
bool is_float16(Type t) { return is_float(t, 5, 10); }
bool is_float32(Type t) { return is_float(t, 8, 23); }
bool is_float64(Type t) { return is_float(t, 11, 52); }

// A float that lies within float32, its subnormals normal there unless both share their exponents.
bool is_small_float(Type t) {
    const Format f = t.format;
    return t.kind == Kind::real && t.bits <= 8 && f.bias >= (f.largest >> f.mantissa) - 127 &&
           (f.bias == 127 || f.bias + f.mantissa <= 126);
}

bool is_integer(Type t) { return t.kind != Kind::real; }
bool is_signed(Type t) { return t.kind == Kind::signed_integer; }
bool is_known(Type t) {
    return is_integer(t) || is_small_float(t) || is_bfloat16(t) || is_float16(t) ||
           is_float32(t) || is_float64(t);
}

// 0, 1, 2, 3 for 1, 2, 4, 8 bytes.
int row_of(Type t) { return t.bits <= 8 ? 0 : t.bits == 16 ? 1 : t.bits == 32 ? 2 : 3; }

Loop between_integers(Type source, Type target) {
    static constexpr Loop from_unsigned[4][4] = {
        {copy<1>, u8_to_u16, u8_to_u32, u8_to_u64},
        {u16_to_u8, copy<2>, u16_to_u32, u16_to_u64},
        {u32_to_u8, u32_to_u16, copy<4>, u32_to_u64},
        {u64_to_u8, u64_to_u16, u64_to_u32, copy<8>},
    };
    static constexpr Loop from_signed[4][4] = {
        {copy<1>, i8_to_u16, i8_to_u32, i8_to_u64},
        {u16_to_u8, copy<2>, i16_to_u32, i16_to_u64},
        {u32_to_u8, u32_to_u16, copy<4>, i32_to_u64},
        {u64_to_u8, u64_to_u16, u64_to_u32, copy<8>},
    };
    static constexpr Loop to_bool[4] = {u8_nonzero, u16_nonzero, u32_nonzero, u64_nonzero};
    static constexpr Loop masked[4] = {u8_masked, u16_masked, u32_masked, u64_masked};
    if (target.kind == Kind::boolean) return to_bool[row_of(source)];
    if (target.bits < 8) return masked[row_of(source)];
    return (is_signed(source) ? from_signed : from_unsigned)[row_of(source)][row_of(target)];
}

Loop integer_to_float(Type source, Type target, bool via, int small_index) {
    static constexpr Loop to_single[2][4] = {{u8_to_f32, u16_to_f32, u32_to_f32, u64_to_f32},
                                             {i8_to_f32, i16_to_f32, i32_to_f32, i64_to_f32}};
    static constexpr Loop to_double[2][4] = {{u8_to_f64, u16_to_f64, u32_to_f64, u64_to_f64},
                                             {i8_to_f64, i16_to_f64, i32_to_f64, i64_to_f64}};
    static constexpr const Loop *to_small[2][2][4] = {
        {{nullptr, u16_loops, u32_loops, u64_loops}, {nullptr, i16_loops, i32_loops, i64_loops}},
        {{nullptr, u16_loops, u32_via_loops, u64_via_loops},
         {nullptr, i16_loops, i32_via_loops, i64_via_loops}}};
    const int row = row_of(source), sign = is_signed(source);
    if (is_float32(target)) return to_single[sign][row];
    if (is_float64(target)) return to_double[sign][row];
    return row == 0 ? nullptr : to_small[via][sign][row][small_index];
}

// What `limits` says, for loops that compare floats.
Range range_of(const Limits &limits) {
    Range r = {};
    r.above = limits.above;
    r.below = limits.below;
    r.nan = limits.nan;
    // The largest magnitude inside is one less than a power of two above zero, and a power of two
    // or 0 below. Where -2^k - 1 is no float, what follows -2^k will do.
    r.high = (double)(limits.positive / 2 + 1) * 2;
    r.low = -(double)(limits.negative + 1);
    if (r.low == -(double)limits.negative) r.low = as_float(as_bits(r.low) + 1);
    r.single_high = (float)r.high;
    r.single_low = -(float)(limits.negative + 1);
    if (r.single_low == -(float)limits.negative) {
        r.single_low = as_float(as_bits(r.single_low) + 1);
    }
    return r;
}

Loop float_to_integer(const IntegerLoops &loops, const Limits &limits, Type target) {
    constexpr u64 half = 1ull << 31;
    if (limits.positive < half && limits.negative <= half) return loops.short_words[row_of(target)];
    if (limits.positive >> 63) return loops.long_halves;
    const bool halves = limits.positive >> 32 == 0 && limits.negative <= half && target.bits == 32;
    return halves ? loops.halves : loops.long_words[row_of(target)];
}

void fill_table(Work &work) {
    const std::size_t size = size_of(work.target);
    for (u64 code = 0; code < 256; ++code) {
        store(cast(code, work.source, work.target, work.rule), work.table + code * size, size);
    }
}

// Elements that are worth a table.
constexpr std::size_t many = 512;

Loop tuned_loop(Work &work, std::size_t n) {
    static constexpr Loop copies[4] = {copy<1>, copy<2>, copy<4>, copy<8>};
    static constexpr Loop tables[4] = {look_up<u8>, look_up<u16>, look_up<u32>, look_up<u64>};
    const Type source = work.source, target = work.target;
    const Rule rule = work.rule;
    if (!is_known(source) || !is_known(target)) return by_definition;

    // 1. A type's own numbers. (A bool may be any byte, and narrow codes have bits above them.)
    if (same_type(source, target) && source.bits >= 8 && source.kind != Kind::boolean) {
        return copies[row_of(source)];
    }

    // 2. From whole bytes of integers.
    const bool via = goes_via_float32(source, target, rule);
    if (!is_integer(target)) {
        work.edge = edges(target.format, rule);
        work.scale32 = scale_edges<Float32>(target.format, rule);
        work.scale64 = scale_edges<Float64>(target.format, rule);
    }
    work.single_edge = edges(float32_format(), via ? plain_rule() : rule);
    // Which of PROMOARRAY_TO_FLOATS.
    const int small = target.format.has_sign ? row_of(target) : work.scale32.all_nan ? 3 : 2;
    if (is_integer(source) && source.kind != Kind::boolean && source.bits >= 8) {
        const Loop found = is_integer(target) ? between_integers(source, target)
                                              : integer_to_float(source, target, via, small);
        if (found != nullptr) return found;
    }

    // 3. From few bits. The loops that widen floats keep Inf; a rule that does not is rare.
    const bool keeps_inf = rule.infinity == Beyond::infinity;
    if (source.bits <= 8) {
        if (is_float32(target) && !is_integer(source) && keeps_inf) {
            return source.format.has_sign ? small_to_single : scale_to_single;
        }
        if (n < many) return by_definition;
        fill_table(work);
        return tables[row_of(target)];
    }

    // 4. From floats of 16 to 64 bits.
    const bool single = is_float32(source), twice = is_float64(source);
    if (target.kind == Kind::boolean) return between_integers(source, target);
    if (is_integer(target)) {
        if (via) return by_definition;  // to 2 and 4 bits
        const Limits limit = limits(source, target, rule);
        work.range = range_of(limit);
        const IntegerLoops &loops = single                ? single_integers
                                    : twice               ? double_integers
                                    : is_bfloat16(source) ? bfloat_integers
                                                          : half_integers;
        return float_to_integer(loops, limit, target);
    }
    if (twice && is_float32(target)) return double_to_single;
    const bool bfloat = is_bfloat16(source);
    if ((is_float32(target) || is_float64(target)) && !keeps_inf) return by_definition;
    if (is_float32(target)) return bfloat ? bfloat_to_single : half_to_single;
    if (is_float64(target)) {
        return single ? single_to_double : bfloat ? bfloat_to_double : half_to_double;
    }
    const Loop *loops = single                ? single_loops
                        : twice               ? (via ? double_via_loops : double_loops)
                        : is_bfloat16(source) ? bfloat_loops
                                              : half_loops;
    return loops[small];
}

template <typename Part>
void interleave(const void *real, void *target, std::size_t n) {
    const auto *src = static_cast<const Part *>(real);
    auto *dst = static_cast<Part *>(target);
    for (std::size_t i = 0; i < n; ++i) {
        dst[2 * i] = src[i];
        dst[2 * i + 1] = 0;
    }
}

}  // namespace

Loop choose_loop(Type source, Type target, Rule rule, std::size_t n, bool tuned, Work &work) {
    work.source = source;
    work.target = target;
    work.rule = rule;
    return tuned ? tuned_loop(work, n) : by_definition;
}

void either_part(const std::uint8_t *parts, std::uint8_t *target, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) target[i] = parts[2 * i] | parts[2 * i + 1];
}

void with_zero_parts(const void *real, void *target, std::size_t n, std::size_t size) {
    if (size == 2) interleave<u16>(real, target, n);
    else if (size == 4) interleave<u32>(real, target, n);
    else interleave<u64>(real, target, n);
}

}  // namespace promoarray
