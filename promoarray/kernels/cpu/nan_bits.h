// What the NaN among many floats have in common: those that are one and the same need not be told
// apart, whatever the order they are met in.
#pragma once

#include <limits>
#include <type_traits>

#include "fold_source.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {

// As elements are stored.
template <typename Read> struct NanCodes {
    using Stored = typename Read::Stored;
    using Long = std::conditional_t<sizeof(Stored) == 8, u64, u32>;
    using Word = std::conditional_t<sizeof(Stored) == 2, u16, Long>;
    using Signed = std::make_signed_t<Word>;  // of which every machine has comparisons in registers
    static constexpr auto infinity =
        (Signed)(sizeof(Word) == 8                ? 0x7ff0000000000000ull
                 : sizeof(Word) == 4              ? 0x7f800000u
                 : std::is_same_v<Read, OfBfloat> ? 0x7f80u
                                                  : 0x7c00u);

    static Word bits_of(const Stored &x) {
        Word bits;
        std::memcpy(&bits, &x, sizeof bits);
        return bits;
    }
    // The one that NumPy itself makes: quiet, without a sign.
    static constexpr auto usual = (Word)(infinity | (infinity & -infinity) >> 1);
    // All ones of a NaN, else 0.
    static Word of_nan(Word bits) {
        return (Word)-(Word)((Signed)(bits & std::numeric_limits<Signed>::max()) > infinity);
    }
};

template <typename Read> NanBits find_nan_bits(const Lines &lines) {
    using Codes = NanCodes<Read>;
    using Word = typename Codes::Word;
    Source<Read> source(lines);
    auto each = (Word)~(Word)0, any = (Word)0;
    const size_t count = lines.outer * lines.n * lines.inner;
    for (size_t at = 0; at < count; at += CHUNK) {
        const size_t n = count - at < CHUNK ? count - at : CHUNK;
        const auto *const x = source.block(at, n);
        for (size_t i = 0; i < n; ++i) {
            const Word bits = Codes::bits_of(x[i]), of_nan = Codes::of_nan(bits);
            each &= (Word)(bits | (Word)~of_nan);
            any |= (Word)(bits & of_nan);
        }
    }
    return {each, any};
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
