// Floating-point exceptions that an operation met, and among which elements each of them was first.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

namespace promoarray {

struct Met {
    static constexpr int kinds = 5;  // NumPy's four, and NOT_TOLD

    int raised = 0;
    std::size_t begin[kinds] = {}, end[kinds] = {};

    // n elements from `at` on raised these. Elements come in order.
    void meet(int exceptions, std::size_t at, std::size_t n) {
        for (int kind = 0; kind < kinds; ++kind)
            if ((exceptions & ~raised) >> kind & 1) hold(kind, at, at + n);
    }
    // What was met among other elements.
    void meet(const Met &other) {
        for (int kind = 0; kind < kinds; ++kind) {
            if ((other.raised >> kind & 1) == 0) continue;
            if ((raised >> kind & 1) == 0 || other.begin[kind] < begin[kind])
                hold(kind, other.begin[kind], other.end[kind]);
        }
    }

   private:
    void hold(int kind, std::size_t from, std::size_t to) {
        raised |= 1 << kind;
        begin[kind] = from;
        end[kind] = to;
    }
};

// What Python is told of that: of each exception its number and where those elements begin and end.
nanobind::tuple as_tuple(const Met &met);

}  // namespace promoarray
