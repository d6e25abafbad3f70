// Many elements along an axis: to one (sums, products, extremes, truth), or each to that of all before
// it (running sums and products). Nothing here knows Python.
#pragma once

#include <cstddef>
#include <cstdint>

#include "loops.h"

namespace promoarray {

// Elements as `outer` times n lines of `inner` each: what is folded is n long.
struct Lines {
    const char *source;
    std::size_t outer, n, inner;
    // Of how many runs n consists: a sum of floats side by side is pairwise in each, and the runs are
    // added up in order.
    std::size_t runs;
    // Brings elements that do not lie one after another to where they do; null where they do. It and
    // the cast count parts.
    void (*gather)(const Lines &lines, std::size_t at, std::size_t n, char *to);
    const void *layout;
    // The cast to what is computed in, null where the fold reads the source itself.
    Loop enter;
    const Work *enter_work;
    // Of one element, or of each of the two parts of a complex one.
    std::size_t source_size, parts;
    // Of sums of squares: what they are distances from, one for each result.
    const char *center;
    // Of running ones: the cast of each, null where there is none, and whether every line of the
    // result has one element more, its first, which is left as it is.
    Loop leave;
    const Work *leave_work;
    std::size_t result_size;
    bool initial;
    char *result;
};

// A Fold answers whether its result is not to be told: it has a NaN, of which NumPy may keep another
// sign, or an extreme that is a zero, of which there are two.

// Of all NaN, as they are stored: the bits that each has, and those that any has.
struct NanBits {
    std::uint64_t each, any;
};

}  // namespace promoarray
