// Loops among integers, to bools, and from integers to float32 and float64.
#include <type_traits>

#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

// Among integers the low bits, extended by the sign of the source. To floats by the machine's own
// instructions: exact where the float is wide enough, and else rounded once to nearest, as cast.h
// does it. They make no subnormals, so flushing those cannot touch them.
template <typename Target, typename Source>
PROMOARRAY_CAST Target converted(Source x) {
    constexpr bool in_halves = !converts_long && std::is_same<Source, u64>::value;
    if constexpr (in_halves && std::is_same<Target, f64>::value) {
        return sum_of_halves(x);
    } else if constexpr (in_halves && std::is_same<Target, f32>::value) {
        return (f32)sum_of_halves(sticky(x));
    } else {
        return (Target)x;
    }
}
template <typename Source, typename Target>
PROMOARRAY_LOOP(convert, Source, Target, , converted<Target>(x))

// To a type of fewer than 8 bits: those above it are zero.
template <typename Source>
PROMOARRAY_LOOP(mask, Source, u8, const u32 kept = (1u << work.target.bits) - 1, (u32)x & kept)

// From such a type, whose bits above are not looked at; and among such types.
#define PROMOARRAY_FEW                                \
    const u32 mask = (1u << work.source.bits) - 1;    \
    const u32 sign = is_signed(work.source) ? 1u << (work.source.bits - 1) : 0;
template <typename Target>
PROMOARRAY_LOOP(extend, u8, Target, PROMOARRAY_FEW, (i32)((((u32)x & mask) ^ sign) - sign))
PROMOARRAY_LOOP(few_to_few, u8, u8, PROMOARRAY_FEW const u32 kept = (1u << work.target.bits) - 1,
                (((x & mask) ^ sign) - sign) & kept)

template <std::size_t size>
void copy(const void *source, void *target, std::size_t n, const Work &) {
    std::memcpy(target, source, n * size);
}

// To bool: whether any bit but the sign of a zero is set.
template <typename Source>
PROMOARRAY_LOOP(nonzero, Source, u8, const bool real = work.source.kind == Kind::real;
                const Source counts = (Source)(~0ull >> (64 - 8 * sizeof(Source) + real)),
                (x & counts) != 0)

// The bits of a code of 8 bits or fewer that tell it from zero; a scale has no zero.
u8 bits_that_count(Type t) {
    const Format f = t.format;
    if (t.kind == Kind::boolean) return 0xff;
    const bool sign_is_nan = f.nan == 1 << (f.exponent + f.mantissa);  // else it is a zero, too
    const bool has_two_zeros = t.kind == Kind::real && !sign_is_nan;
    return (u8)((1u << (has_two_zeros ? f.exponent + f.mantissa : t.bits)) - 1);
}
PROMOARRAY_LOOP(few_nonzero, u8, u8, const u8 counts = bits_that_count(work.source);
                const u8 always = work.source.kind == Kind::real && !work.source.format.has_sign,
                (u8)((x & counts) != 0) | always)

// To integers of 1, 2, 4 and 8 bytes, to float32 and float64.
template <typename Source>
constexpr Loop conversions[6] = {convert<Source, u8>,  convert<Source, u16>, convert<Source, u32>,
                                 convert<Source, u64>, convert<Source, f32>, convert<Source, f64>};
constexpr Loop extensions[6] = {extend<u8>,  extend<u16>, extend<u32>,
                                extend<u64>, extend<f32>, extend<f64>};

const Loop *conversions_from(Type source) {
    static constexpr const Loop *of_unsigned[4] = {conversions<u8>, conversions<u16>,
                                                   conversions<u32>, conversions<u64>};
    static constexpr const Loop *of_signed[4] = {conversions<i8>, conversions<i16>,
                                                 conversions<i32>, conversions<i64>};
    if (source.bits < 8) return extensions;
    return (is_signed(source) ? of_signed : of_unsigned)[row_of(source)];
}

}  // namespace

Loop copy_loop(Type type) {
    static constexpr Loop copies[4] = {copy<1>, copy<2>, copy<4>, copy<8>};
    return copies[row_of(type)];
}

Loop integer_loop(Type source, Type target) {
    static constexpr Loop to_bool[4] = {few_nonzero, nonzero<u16>, nonzero<u32>, nonzero<u64>};
    static constexpr Loop masked[4] = {mask<u8>, mask<u16>, mask<u32>, mask<u64>};
    if (target.kind == Kind::boolean) return to_bool[row_of(source)];
    if (source.kind == Kind::boolean || (!is_integer(source) && source.bits <= 8)) return nullptr;
    if (target.bits < 8) return source.bits < 8 ? few_to_few : masked[row_of(source)];
    if (source.bits == target.bits) return copy_loop(source);
    return conversions_from(source)[row_of(target)];
}

Loop wide_float_loop(Type source, Type target) {
    return conversions_from(source)[is_float32(target) ? 4 : 5];
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
