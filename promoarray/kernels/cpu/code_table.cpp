// An operation on elements of 8 or 16 bits, by a table of its results for all codes.
//
// Which floating-point exceptions it may raise stands in a table of its own: of most operands the codes
// between the least and the greatest raise none, and none is looked up for each of them.
#include <algorithm>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "arguments.h"
#include "module.h"
#include "pool.h"
#include "unlocked.h"
#include "versions.h"

namespace promoarray {
namespace {

constexpr size_t read_once = 4096;  // codes: they are still in the first-level cache

struct Exceptions {
    const unsigned char *of;  // each code

    int between(unsigned first, unsigned last) const {
        unsigned char found = 0;
        for (size_t code = first; code < (size_t)last + 1; ++code) found |= of[code];
        return found;
    }
    int near(const Ends &ends, size_t size) const {
        const unsigned sign = 1u << (8 * size - 1);
        int found = ends.greatest < 0 ? 0 : between(ends.first, (unsigned)ends.greatest);
        if (ends.least < 0) found |= between((unsigned)ends.least & (2 * sign - 1), ends.last);
        return found;
    }
};

// All n elements, or the parts of them that several threads take.
struct Walk {
    size_t n;
    bool goes_in_parts;

    template <typename Part>
    void run(const Part &part) const {
        if (goes_in_parts) in_ranges(n, 1, [&] { return part; });
        else part((size_t)0, n);
    }
};

// The results, and between which codes all of them are.
Ends write_results(const Array &src, const Array &dst, const Array &table, const Walk &walk,
                   bool wants_ends) {
    const auto word = [](const Array &array) {
        return Type{Kind::unsigned_integer, (int)(8 * array.item()), {}};
    };
    const size_t size = src.item();
    Adjustment adjustment = {};
    adjustment.table = reinterpret_cast<const unsigned char *>(table.data());
    Work work;
    const Loops &loops = version();
    const Loop loop =
        loops.choose_adjusted(word(src), word(dst), plain_mode(), walk.n, true, adjustment, work);
    Ends all;
    std::mutex met;
    walk.run([&](size_t begin, size_t end) {
        Ends own;
        for (size_t at = begin; at < end; at += read_once) {
            const size_t count = std::min(read_once, end - at);
            const char *const codes = src.data() + at * size;
            loop(codes, dst.data() + at * dst.item(), count, work);
            if (wants_ends) loops.widen_ends(codes, count, size, own);
        }
        const std::lock_guard<std::mutex> lock(met);
        all.meet(own);
    });
    return all;
}

template <typename Code>
void mark(const Array &src, unsigned char *met, const Walk &walk) {
    constexpr size_t codes = (size_t)1 << (8 * sizeof(Code));
    std::mutex marking;
    walk.run([&](size_t begin, size_t end) {
        const auto *const own = reinterpret_cast<const Code *>(src.data());
        std::vector<unsigned char> found(codes);
        for (size_t i = begin; i < end; ++i) found[own[i]] = 1;
        const std::lock_guard<std::mutex> lock(marking);
        for (size_t code = 0; code < codes; ++code) met[code] |= found[code];
    });
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

// That a table has an integer of so many bytes for each code.
void check_table(const Array &table, size_t codes, size_t size) {
    if (table.item() == size && table.count() == codes && table.native() && table.aligned(size))
        return;
    refuse(std::string(table.name()) + " must be " + std::to_string(codes) + " integers of " +
           std::to_string(8 * size) + " bits");
}

Walk walk_of(size_t n) { return {n, n >= many_elements && threads_to_use() > 1}; }

}  // namespace

int look_up(nb::handle source, nb::handle result, nb::handle table, nb::handle raised, int heeded) {
    const int flags = PyBUF_STRIDES | PyBUF_C_CONTIGUOUS;
    const Array src(source, "source", flags), dst(result, "result", flags | PyBUF_WRITABLE);
    const Array results(table, "table", flags), exceptions(raised, "raised", flags);
    check(src, 2);
    check(dst, 8);
    const size_t codes = (size_t)1 << (8 * src.item());
    check_table(results, codes, dst.item());
    check_table(exceptions, codes, 1);
    if (dst.count() != src.count()) {
        refuse("result has " + std::to_string(dst.count()) + " elements, source " +
               std::to_string(src.count()));
    }
    for (const Array *given : {&src, &results, &exceptions}) check_apart(*given, dst);
    if (src.count() == 0) return 0;

    const Walk walk = walk_of(src.count());
    const Unlocked unlocked;
    const Exceptions found{reinterpret_cast<const unsigned char *>(exceptions.data())};
    heeded &= ALL_EXCEPTIONS;
    const Ends ends = write_results(src, dst, results, walk, heeded != 0);
    return heeded == 0 ? 0 : found.near(ends, src.item()) & heeded;
}

void mark_codes(nb::handle source, nb::handle met) {
    const int flags = PyBUF_STRIDES | PyBUF_C_CONTIGUOUS;
    const Array src(source, "source", flags), dst(met, "met", flags | PyBUF_WRITABLE);
    check(src, 2);
    check_table(dst, (size_t)1 << (8 * src.item()), 1);
    check_apart(src, dst);
    const Walk walk = walk_of(src.count());
    auto *const entries = reinterpret_cast<unsigned char *>(dst.data());
    const Unlocked unlocked;
    if (src.item() == 1) mark<std::uint8_t>(src, entries, walk);
    else mark<std::uint16_t>(src, entries, walk);
}

}  // namespace promoarray
