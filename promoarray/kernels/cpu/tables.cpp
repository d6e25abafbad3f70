// Casts from 16 bits and fewer, by a table of the results for all codes.
#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

// Eight codes are read at once and eight results written: a machine has fewer ports for memory than it
// could look up by.
template <typename Code, typename Target>
void look_up(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Code *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<Target *>(target);
    const auto *table = static_cast<const Target *>(work.look_up);
    constexpr std::size_t some = 8;
    std::size_t i = 0;
    for (; i + some <= n; i += some) {
        Code code[some];
        Target found[some];
        std::memcpy(code, src + i, sizeof code);
        for (std::size_t k = 0; k < some; ++k) found[k] = table[code[k]];
        std::memcpy(dst + i, found, sizeof found);
    }
    for (; i < n; ++i) dst[i] = table[src[i]];
}

// From bools, of which each byte but 0 is true.
template <typename Target>
void choose(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const u8 *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<Target *>(target);
    const auto *results = static_cast<const Target *>(work.look_up);
    const Target no = results[0], yes = results[1];
    for (std::size_t i = 0; i < n; ++i) dst[i] = src[i] != 0 ? yes : no;
}

template <typename Target>
void fill(Work &work) {
    Target table[256];
    for (u64 code = 0; code < 256; ++code) {
        table[code] = (Target)cast(code, work.source, work.target, work.mode);
    }
    std::memcpy(work.table, table, sizeof table);
}

Loop looking_up(const Work &work) {
    static constexpr Loop bools[4] = {choose<u8>, choose<u16>, choose<u32>, choose<u64>};
    static constexpr Loop bytes[4] = {look_up<u8, u8>, look_up<u8, u16>, look_up<u8, u32>,
                                      look_up<u8, u64>};
    static constexpr Loop words[4] = {look_up<u16, u8>, look_up<u16, u16>, look_up<u16, u32>,
                                      look_up<u16, u64>};
    const int row = row_of(work.target);
    if (work.source.kind == Kind::boolean) return bools[row];
    return (work.source.bits <= 8 ? bytes : words)[row];
}

}  // namespace

Loop table_loop(Work &work) {
    static constexpr void (*fills[4])(Work &) = {fill<u8>, fill<u16>, fill<u32>, fill<u64>};
    fills[row_of(work.target)](work);
    work.look_up = work.table;
    return looking_up(work);
}

Loop given_table_loop(Work &work) {
    work.look_up = work.adjustment.table;
    return looking_up(work);
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
