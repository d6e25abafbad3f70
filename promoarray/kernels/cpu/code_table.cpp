// An operation on elements of 8 or 16 bits, by a table of its results for all codes.
#include <atomic>
#include <cstdint>
#include <string>

#include "arguments.h"
#include "module.h"
#include "pool.h"
#include "unlocked.h"

namespace promoarray {
namespace {

// An entry is a result in its low half, and in its high half what floating-point exceptions the
// operation may raise on that code.
constexpr int result_bits = 16;

template <typename Source, typename Target>
std::uint32_t look_up_codes(const char *source, char *target, size_t n, const std::uint32_t *table) {
    const auto *src = reinterpret_cast<const Source *>(source);
    auto *dst = reinterpret_cast<Target *>(target);
    std::uint32_t met = 0;
    for (size_t i = 0; i < n; ++i) {
        const std::uint32_t entry = table[src[i]];
        dst[i] = (Target)entry;
        met |= entry;
    }
    return met;
}

using LookUp = std::uint32_t (*)(const char *, char *, size_t, const std::uint32_t *);

LookUp choose(size_t source, size_t target) {
    using std::uint16_t;
    using std::uint8_t;
    if (source == 1) {
        return target == 1 ? look_up_codes<uint8_t, uint8_t> : look_up_codes<uint8_t, uint16_t>;
    }
    return target == 1 ? look_up_codes<uint16_t, uint8_t> : look_up_codes<uint16_t, uint16_t>;
}

void check(const Array &array) {
    const std::string name = array.name();
    if (array.item() > 2) refuse(name + " has elements of more than 16 bits");
    if (!array.native() || !array.aligned(array.item())) {
        refuse(name + " must be aligned and in native byte order");
    }
}

}  // namespace

int look_up(nb::handle source, nb::handle result, nb::handle table) {
    const int flags = PyBUF_STRIDES | PyBUF_C_CONTIGUOUS;
    const Array src(source, "source", flags), dst(result, "result", flags | PyBUF_WRITABLE);
    const Array entries(table, "table", flags);
    check(src);
    check(dst);
    const size_t codes = (size_t)1 << (8 * src.item()), n = src.count();
    if (entries.item() != 4 || entries.count() != codes || !entries.native() ||
        !entries.aligned(4)) {
        refuse("table must be " + std::to_string(codes) + " integers of 32 bits");
    }
    if (dst.count() != n) {
        refuse("result has " + std::to_string(dst.count()) + " elements, source " +
               std::to_string(n));
    }
    check_apart(src, dst);
    check_apart(entries, dst);

    const LookUp loop = choose(src.item(), dst.item());
    const auto *results = reinterpret_cast<const std::uint32_t *>(entries.data());
    const bool goes_in_parts = n >= many_elements && threads_to_use() > 1;
    const Unlocked unlocked;
    if (!goes_in_parts) return (int)(loop(src.data(), dst.data(), n, results) >> result_bits);
    std::atomic<std::uint32_t> met{0};
    in_ranges(n, 1, [&] {
        return [&](size_t begin, size_t end) {
            met |= loop(src.data() + begin * src.item(), dst.data() + begin * dst.item(),
                        end - begin, results);
        };
    });
    return (int)(met >> result_bits);
}

}  // namespace promoarray
