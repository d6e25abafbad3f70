// Loops among integers, to bools, and from integers to float32 and float64.
#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

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

// From such a type, whose bits above are not looked at.
#define PROMOARRAY_EXTEND(Target)                                                          \
    PROMOARRAY_LOOP(few_to_##Target, u8, Target,                                           \
                    const u32 mask = (1u << work.source.bits) - 1;                         \
                    const u32 sign = is_signed(work.source) ? 1u << (work.source.bits - 1) : 0, \
                    (i32)((((u32)x & mask) ^ sign) - sign))
PROMOARRAY_EXTEND(u8) PROMOARRAY_EXTEND(u16) PROMOARRAY_EXTEND(u32) PROMOARRAY_EXTEND(u64)
PROMOARRAY_EXTEND(f32) PROMOARRAY_EXTEND(f64)

// Among such types.
PROMOARRAY_LOOP(few_to_few, u8, u8, const u32 mask = (1u << work.source.bits) - 1;
                const u32 sign = is_signed(work.source) ? 1u << (work.source.bits - 1) : 0;
                const u32 kept = (1u << work.target.bits) - 1, (((x & mask) ^ sign) - sign) & kept)

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
PROMOARRAY_NONZERO(u16) PROMOARRAY_NONZERO(u32) PROMOARRAY_NONZERO(u64)

// The bits of a code of 8 bits or fewer that tell it from zero; a scale has no zero.
u8 bits_that_count(Type t) {
    const Format f = t.format;
    if (t.kind == Kind::boolean) return 0xff;
    const bool sign_is_nan = f.nan == 1 << (f.exponent + f.mantissa);  // else it is a zero, too
    const bool has_two_zeros = t.kind == Kind::real && !sign_is_nan;
    return (u8)((1u << (has_two_zeros ? f.exponent + f.mantissa : t.bits)) - 1);
}
PROMOARRAY_LOOP(few_nonzero, u8, u8, const u8 mask = bits_that_count(work.source);
                const u8 always = work.source.kind == Kind::real && !work.source.format.has_sign,
                (u8)((x & mask) != 0) | always)

// --- Integers to float32 and float64 ------------------------------------------------------------
// By the machine's own instructions: exact where the float is wide enough, and else rounded once to
// nearest, as cast.h does it. They make no subnormals, so flushing those cannot touch them.

PROMOARRAY_CONVERT(i8, f32) PROMOARRAY_CONVERT(u8, f32)
PROMOARRAY_CONVERT(i16, f32) PROMOARRAY_CONVERT(u16, f32)
PROMOARRAY_CONVERT(i32, f32) PROMOARRAY_CONVERT(u32, f32)
PROMOARRAY_CONVERT(i64, f32)
PROMOARRAY_CONVERT(i8, f64) PROMOARRAY_CONVERT(u8, f64)
PROMOARRAY_CONVERT(i16, f64) PROMOARRAY_CONVERT(u16, f64)
PROMOARRAY_CONVERT(i32, f64) PROMOARRAY_CONVERT(u32, f64)
PROMOARRAY_CONVERT(i64, f64)

PROMOARRAY_LOOP(u64_to_f64, u64, f64, , converts_long ? (f64)x : sum_of_halves(x))
PROMOARRAY_LOOP(u64_to_f32, u64, f32, , converts_long ? (f32)x : (f32)sum_of_halves(sticky(x)))

}  // namespace

Loop copy_loop(Type type) {
    static constexpr Loop copies[4] = {copy<1>, copy<2>, copy<4>, copy<8>};
    return copies[row_of(type)];
}

Loop integer_loop(Type source, Type target) {
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
    static constexpr Loop to_bool[4] = {nullptr, u16_nonzero, u32_nonzero, u64_nonzero};
    static constexpr Loop few[4] = {few_to_u8, few_to_u16, few_to_u32, few_to_u64};
    static constexpr Loop masked[4] = {u8_masked, u16_masked, u32_masked, u64_masked};
    if (target.kind == Kind::boolean) {
        return source.bits <= 8 ? few_nonzero : to_bool[row_of(source)];
    }
    if (source.kind == Kind::boolean || (!is_integer(source) && source.bits <= 8)) return nullptr;
    if (source.bits < 8) return target.bits < 8 ? few_to_few : few[row_of(target)];
    if (target.bits < 8) return masked[row_of(source)];
    return (is_signed(source) ? from_signed : from_unsigned)[row_of(source)][row_of(target)];
}

Loop wide_float_loop(Type source, Type target) {
    static constexpr Loop to_single[2][4] = {{u8_to_f32, u16_to_f32, u32_to_f32, u64_to_f32},
                                             {i8_to_f32, i16_to_f32, i32_to_f32, i64_to_f32}};
    static constexpr Loop to_double[2][4] = {{u8_to_f64, u16_to_f64, u32_to_f64, u64_to_f64},
                                             {i8_to_f64, i16_to_f64, i32_to_f64, i64_to_f64}};
    if (source.bits < 8) return is_float32(target) ? few_to_f32 : few_to_f64;
    return (is_float32(target) ? to_single : to_double)[is_signed(source)][row_of(source)];
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
