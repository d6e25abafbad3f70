// A matrix of any layout, and how products of integers are called.
#pragma once

#include <cstddef>

namespace promoarray {

// Where the first element lies, and how many bytes from one row and one column to the next.
struct Matrix {
    const char *data;
    std::ptrdiff_t row_step, column_step;
};

// Write the product of m x k and k x n integers to m x n of them that lie in rows.
using Product = void (*)(const Matrix &left, const Matrix &right, void *out, std::size_t m,
                         std::size_t n, std::size_t k);

}  // namespace promoarray
