// Products of matrices of integers, modulo 2 to the power of their bits, so that the order in which
// they are added up and what overflows on the way make no difference.
//
// A tile of the result stays in registers while the inner axis is walked: four rows of the left
// matrix and as many columns of the right one as two vectors hold, which lie packed in rows.
#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

#if PROMOARRAY_LEVEL == 4
constexpr std::size_t vector_size = 64;
#elif PROMOARRAY_LEVEL == 3
constexpr std::size_t vector_size = 32;
#else
constexpr std::size_t vector_size = 16;
#endif

#ifdef __GNUC__
template <typename T>
struct VectorOf { typedef T type __attribute__((vector_size(vector_size))); };
#else
template <typename T>
struct VectorOf {
    struct type {
        T lane[vector_size / sizeof(T)];
        type &operator+=(const type &y) {
            for (std::size_t i = 0; i < vector_size / sizeof(T); ++i) lane[i] += y.lane[i];
            return *this;
        }
        friend type operator*(T x, const type &y) {
            type out;
            for (std::size_t i = 0; i < vector_size / sizeof(T); ++i) {
                out.lane[i] = (T)(x * y.lane[i]);
            }
            return out;
        }
    };
};
#endif

// What is computed in: there is no product of vectors of 8 bits.
template <typename T> struct Lane { using type = T; };
template <> struct Lane<u8> { using type = u16; };

constexpr std::size_t depth = 256;  // of what is packed at once: half of a small L1 cache
constexpr std::size_t few = 4;      // columns, for which a tile is mostly padding

template <typename T>
T at(const Matrix &x, std::size_t row, std::size_t column) {
    const auto i = (std::ptrdiff_t)row, j = (std::ptrdiff_t)column;
    return *reinterpret_cast<const T *>(x.data + i * x.row_step + j * x.column_step);
}

// Add to a tile of `Rows` rows and `width` columns what the packed rows of the right matrix give.
template <typename T, int Rows>
void tile(const Matrix &left, std::size_t row, std::size_t from, std::size_t count,
          const typename Lane<T>::type *packed, T *out, std::size_t out_step, std::size_t width) {
    using Wide = typename Lane<T>::type;
    using Vector = typename VectorOf<Wide>::type;
    constexpr std::size_t lanes = vector_size / sizeof(Wide);
    Vector sum[Rows][2] = {};
    const char *start = left.data + (std::ptrdiff_t)row * left.row_step;
    start += (std::ptrdiff_t)from * left.column_step;
    for (std::size_t p = 0; p < count; ++p, start += left.column_step, packed += 2 * lanes) {
        Vector y[2];
        std::memcpy(y, packed, sizeof y);
        for (int i = 0; i < Rows; ++i) {
            const Wide x = *reinterpret_cast<const T *>(start + i * left.row_step);
            sum[i][0] += x * y[0];
            sum[i][1] += x * y[1];
        }
    }
    for (int i = 0; i < Rows; ++i) {
        Wide found[2 * lanes];
        std::memcpy(found, sum[i], sizeof found);
        T *place = out + (std::size_t)i * out_step;
        for (std::size_t j = 0; j < width; ++j) place[j] = (T)(place[j] + found[j]);
    }
}

template <typename T>
void by_tiles(const Matrix &left, const Matrix &right, T *out, std::size_t m, std::size_t n,
              std::size_t k) {
    using Wide = typename Lane<T>::type;
    constexpr std::size_t columns = 2 * vector_size / sizeof(Wide);
    alignas(64) Wide packed[depth * columns];
    std::memset(out, 0, m * n * sizeof(T));
    for (std::size_t j = 0; j < n; j += columns) {
        const std::size_t width = n - j < columns ? n - j : columns;
        for (std::size_t from = 0; from < k; from += depth) {
            const std::size_t count = k - from < depth ? k - from : depth;
            for (std::size_t p = 0; p < count; ++p) {
                Wide *line = packed + p * columns;
                for (std::size_t c = 0; c < width; ++c) line[c] = at<T>(right, from + p, j + c);
                for (std::size_t c = width; c < columns; ++c) line[c] = 0;
            }
            std::size_t i = 0;
            for (; i + 4 <= m; i += 4) {
                tile<T, 4>(left, i, from, count, packed, out + i * n + j, n, width);
            }
            for (; i < m; ++i) {
                tile<T, 1>(left, i, from, count, packed, out + i * n + j, n, width);
            }
        }
    }
}

// A row of the left matrix and a column of the right one, in blocks that are packed first.
template <typename T>
void by_columns(const Matrix &left, const Matrix &right, T *out, std::size_t m, std::size_t n,
                std::size_t k) {
    using Wide = typename Lane<T>::type;
    constexpr std::size_t length = 4 * depth;
    Wide column[length], row[length];
    std::memset(out, 0, m * n * sizeof(T));
    for (std::size_t from = 0; from < k; from += length) {
        const std::size_t count = k - from < length ? k - from : length;
        for (std::size_t j = 0; j < n; ++j) {
            for (std::size_t p = 0; p < count; ++p) column[p] = at<T>(right, from + p, j);
            for (std::size_t i = 0; i < m; ++i) {
                Wide sum = 0;
                if (left.column_step == sizeof(T)) {
                    const char *start = left.data + (std::ptrdiff_t)i * left.row_step;
                    const T *x = reinterpret_cast<const T *>(start) + from;
                    for (std::size_t p = 0; p < count; ++p) sum += (Wide)((Wide)x[p] * column[p]);
                } else {
                    for (std::size_t p = 0; p < count; ++p) row[p] = at<T>(left, i, from + p);
                    for (std::size_t p = 0; p < count; ++p) sum += (Wide)(row[p] * column[p]);
                }
                out[i * n + j] = (T)(out[i * n + j] + sum);
            }
        }
    }
}

// One row and a matrix whose rows lie in memory: each of them times its number.
template <typename T>
void of_row(const Matrix &left, const Matrix &right, T *out, std::size_t n, std::size_t k) {
    using Wide = typename Lane<T>::type;
    Wide sum[4 * depth];
    for (std::size_t j = 0; j < n; j += 4 * depth) {
        const std::size_t width = n - j < 4 * depth ? n - j : 4 * depth;
        for (std::size_t c = 0; c < width; ++c) sum[c] = 0;
        for (std::size_t p = 0; p < k; ++p) {
            const Wide x = at<T>(left, 0, p);
            const T *PROMOARRAY_RESTRICT y = reinterpret_cast<const T *>(
                right.data + (std::ptrdiff_t)p * right.row_step) + j;
            for (std::size_t c = 0; c < width; ++c) sum[c] += (Wide)(x * (Wide)y[c]);
        }
        for (std::size_t c = 0; c < width; ++c) out[j + c] = (T)sum[c];
    }
}

Matrix turned(const Matrix &x) { return {x.data, x.column_step, x.row_step}; }

template <typename T>
void multiply(const Matrix &left, const Matrix &right, void *out, std::size_t m, std::size_t n,
              std::size_t k) {
    T *place = static_cast<T *>(out);
    if (n <= few) by_columns<T>(left, right, place, m, n, k);
    else if (m == 1 && right.column_step == sizeof(T)) of_row<T>(left, right, place, n, k);
    else if (m == 1) by_columns<T>(turned(right), turned(left), place, n, 1, k);
    else by_tiles<T>(left, right, place, m, n, k);
}

}  // namespace

Product find_product(Type type) {
    constexpr Product products[4] = {multiply<u8>, multiply<u16>, multiply<u32>, multiply<u64>};
    return products[row_of(type)];
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
