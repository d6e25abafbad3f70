// A copy in rows of an array that lies otherwise: in columns, or backwards.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

#include "arguments.h"
#include "module.h"
#include "unlocked.h"
#include "versions.h"
#include "walk.h"

namespace promoarray {
namespace {

// Which of the axes lies closest together in memory, the last one where several do.
int closest(const Axes &axes) {
    int found = axes.ndim - 1;
    for (int i = axes.ndim - 2; i >= 0; --i) {
        const Py_ssize_t step = std::abs(axes.stride[i]);
        if (step != 0 && step < std::abs(axes.stride[found])) found = i;
    }
    return found;
}

// Copy a matrix whose columns lie closer together than its rows: by squares, so that a line of memory
// is fetched once for all rows that have some of it. `pitch` is from one row that is written to the next.
template <typename Word>
void turn(const char *src, Py_ssize_t down, Py_ssize_t right, size_t rows, size_t columns, char *dst,
          size_t pitch) {
    constexpr size_t line = 64, side = std::max<size_t>(16, line / sizeof(Word));
    alignas(line) Word square[side * side];
    for (size_t row = 0; row < rows; row += side) {
        const size_t height = std::min(side, rows - row);
        const bool at_once = height == side && down == (Py_ssize_t)sizeof(Word);
        for (size_t column = 0; column < columns; column += side) {
            const size_t width = std::min(side, columns - column);
            const char *from = src + (Py_ssize_t)row * down + (Py_ssize_t)column * right;
            for (size_t j = 0; j < width; ++j, from += right) {
                if (at_once) std::memcpy(square + j * side, from, side * sizeof(Word));
                else for (size_t i = 0; i < height; ++i)
                    std::memcpy(square + j * side + i, from + (Py_ssize_t)i * down, sizeof(Word));
            }
            char *to = dst + row * pitch + column * sizeof(Word);
            for (size_t i = 0; i < height; ++i, to += pitch)
                for (size_t j = 0; j < width; ++j)
                    std::memcpy(to + j * sizeof(Word), square + j * side + i, sizeof(Word));
        }
    }
}

template <typename Word>
void copy_row(const char *src, Py_ssize_t step, char *dst, size_t n) {
    if (step == -(Py_ssize_t)sizeof(Word)) {
        version().backwards(src - (Py_ssize_t)(n - 1) * (Py_ssize_t)sizeof(Word), dst, n, sizeof(Word));
        return;
    }
    for (size_t i = 0; i < n; ++i)
        std::memcpy(dst + i * sizeof(Word), src + (Py_ssize_t)i * step, sizeof(Word));
}

// Copy rows, or matrices where another axis lies closer together, for each place along the axes left.
template <typename Word>
void copy(const char *src, char *dst, const Axes &axes) {
    const int inner = axes.ndim - 1, near = closest(axes);
    size_t pitch[PyBUF_MAX_NDIM + 1] = {}, index[PyBUF_MAX_NDIM + 1] = {};
    pitch[inner] = sizeof(Word);
    for (int i = inner; i > 0; --i) pitch[i - 1] = pitch[i] * axes.shape[i];
    for (bool more = true; more;) {
        if (near == inner) copy_row<Word>(src, axes.stride[inner], dst, axes.shape[inner]);
        else turn<Word>(src, axes.stride[near], axes.stride[inner], axes.shape[near],
                        axes.shape[inner], dst, pitch[near]);
        more = false;
        for (int i = inner - 1; i >= 0 && !more; --i) {
            if (i == near) continue;
            src += axes.stride[i];
            dst += pitch[i];
            more = ++index[i] < axes.shape[i];
            if (!more) {
                src -= axes.stride[i] * (Py_ssize_t)axes.shape[i];
                dst -= pitch[i] * axes.shape[i];
                index[i] = 0;
            }
        }
    }
}

}  // namespace

void copy_array(nb::handle source, nb::handle target) {
    const Array src(source, "src", PyBUF_STRIDES);
    const Array dst(target, "dst", PyBUF_STRIDES | PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
    const size_t size = src.item();
    if (size != 1 && size != 2 && size != 4 && size != 8)
        refuse("src has elements of " + std::to_string(size) + " bytes, not of 1, 2, 4 or 8");
    if (dst.item() != size) refuse("src and dst have elements of different lengths");
    if (!src.native()) refuse("src must be in native byte order");
    check_pair(src, dst);
    if (src.empty()) return;
    Axes axes;
    for (int i = 0; i < src.ndim(); ++i) axes.append((size_t)src.shape(i), src.stride(i));
    if (axes.ndim == 0) axes.shape[0] = 1, axes.stride[axes.ndim++] = (Py_ssize_t)size;
    const Unlocked unlocked;
    if (size == 1) copy<std::uint8_t>(src.data(), dst.data(), axes);
    else if (size == 2) copy<std::uint16_t>(src.data(), dst.data(), axes);
    else if (size == 4) copy<std::uint32_t>(src.data(), dst.data(), axes);
    else copy<std::uint64_t>(src.data(), dst.data(), axes);
}

}  // namespace promoarray
