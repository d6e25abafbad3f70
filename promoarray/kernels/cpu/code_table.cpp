// An operation on elements of 8 or 16 bits, by a table of its results for all codes.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <string>

#include "arguments.h"
#include "module.h"
#include "pool.h"
#include "unlocked.h"

namespace promoarray {
namespace {

// A pair of a table, a result and what floating-point exceptions the operation may raise on its code.
// Up to 32 bits each it is read as one number: little-endian, see module.cpp.
template <typename Both> struct Pair {
    static constexpr int bits = 4 * sizeof(Both);
    Both both = 0;
    Both result() const { return both; }
    Both raised() const { return both >> bits; }
    void meet(Pair other) { both |= other.both; }
};
struct WidePair {
    std::uint64_t first = 0, second = 0;
    std::uint64_t result() const { return first; }
    std::uint64_t raised() const { return second; }
    void meet(WidePair other) { second |= other.second; }
};

template <typename Source, typename Target, typename Entry>
int look_up_codes(const char *source, char *target, size_t n, const char *table) {
    const auto *src = reinterpret_cast<const Source *>(source);
    auto *dst = reinterpret_cast<Target *>(target);
    Entry met;
    for (size_t i = 0; i < n; ++i) {
        Entry entry;
        std::memcpy(&entry, table + src[i] * sizeof entry, sizeof entry);
        dst[i] = (Target)entry.result();
        met.meet(entry);
    }
    return (int)met.raised();
}

using LookUp = int (*)(const char *, char *, size_t, const char *);

template <typename Source>
LookUp choose(size_t target) {
    using std::uint16_t;
    using std::uint32_t;
    using std::uint64_t;
    using std::uint8_t;
    switch (target) {
        case 1: return look_up_codes<Source, uint8_t, Pair<uint32_t>>;
        case 2: return look_up_codes<Source, uint16_t, Pair<uint32_t>>;
        case 4: return look_up_codes<Source, uint32_t, Pair<uint64_t>>;
        default: return look_up_codes<Source, uint64_t, WidePair>;
    }
}

// That elements have so many bytes at most.
void check(const Array &array, size_t most) {
    const std::string name = array.name();
    if (array.item() > most)
        refuse(name + " has elements of more than " + std::to_string(8 * most) + " bits");
    if (!array.native() || !array.aligned(array.item())) {
        refuse(name + " must be aligned and in native byte order");
    }
}

}  // namespace

int look_up(nb::handle source, nb::handle result, nb::handle table) {
    const int flags = PyBUF_STRIDES | PyBUF_C_CONTIGUOUS;
    const Array src(source, "source", flags), dst(result, "result", flags | PyBUF_WRITABLE);
    const Array entries(table, "table", flags);
    check(src, 2);
    check(dst, 8);
    const size_t codes = (size_t)1 << (8 * src.item()), n = src.count();
    const size_t word = std::max<size_t>(dst.item(), 2);
    if (entries.item() != word || entries.count() != 2 * codes || !entries.native() ||
        !entries.aligned(word)) {
        refuse("table must be " + std::to_string(codes) + " pairs of integers of " +
               std::to_string(8 * word) + " bits");
    }
    if (dst.count() != n) {
        refuse("result has " + std::to_string(dst.count()) + " elements, source " +
               std::to_string(n));
    }
    check_apart(src, dst);
    check_apart(entries, dst);

    const LookUp loop =
        src.item() == 1 ? choose<std::uint8_t>(dst.item()) : choose<std::uint16_t>(dst.item());
    const bool goes_in_parts = n >= many_elements && threads_to_use() > 1;
    const Unlocked unlocked;
    if (!goes_in_parts) return loop(src.data(), dst.data(), n, entries.data());
    std::atomic<int> met{0};
    in_ranges(n, 1, [&] {
        return [&](size_t begin, size_t end) {
            met |= loop(src.data() + begin * src.item(), dst.data() + begin * dst.item(),
                        end - begin, entries.data());
        };
    });
    return met;
}

}  // namespace promoarray
