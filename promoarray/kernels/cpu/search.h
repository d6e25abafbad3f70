// How values are searched for among sorted ones.
#pragma once

#include <cstddef>
#include <cstdint>

namespace promoarray {

// Write for each of n values how many of the m sorted ones are less; or, with `after`, no greater.
// NaN is the greatest, and equal to itself. m is below 2 to the power of 32.
using Search = void (*)(const void *sorted, std::size_t m, const void *values,
                        std::int64_t *places, std::size_t n, bool after);

}  // namespace promoarray
