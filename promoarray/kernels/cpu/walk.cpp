#include "walk.h"

#include <cstdint>
#include <cstring>

namespace promoarray {
namespace {

// Copy elements that lie anywhere into a row, in native byte order.
template <typename Word>
void gather_words(const char *src, Py_ssize_t stride, char *dst, size_t n) {
    for (size_t i = 0; i < n; ++i) {
        std::memcpy(dst + i * sizeof(Word), src + (Py_ssize_t)i * stride, sizeof(Word));
    }
}

void gather(const char *src, Py_ssize_t stride, char *dst, size_t n, size_t size, bool native) {
    if (size == 1) gather_words<std::uint8_t>(src, stride, dst, n);
    else if (size == 2) gather_words<std::uint16_t>(src, stride, dst, n);
    else if (size == 4) gather_words<std::uint32_t>(src, stride, dst, n);
    else gather_words<std::uint64_t>(src, stride, dst, n);
    if (native || size == 1) return;
    for (size_t i = 0; i < n; ++i, dst += size) {
        for (size_t low = 0, high = size - 1; low < high; ++low, --high) {
            const char byte = dst[low];
            dst[low] = dst[high];
            dst[high] = byte;
        }
    }
}

// `count` parts of pairs. Between two blocks a cast keeps the machine from seeing that reading goes
// on, so the lines of later blocks are asked for: a few at a time, as many at once keep those waiting
// that are wanted now, and for a second-level cache, from where they come soon enough.
void gather_parts(const Loops &loops, const char *src, char *dst, size_t count, size_t size) {
    constexpr size_t ahead = 4096, some = 512, line = 64;  // bytes
    const size_t step = some / (2 * size);
    for (size_t at = 0; at < count; at += step) {
        const char *from = src + 2 * at * size;
#ifdef __GNUC__
        for (size_t next = ahead; next < ahead + some; next += line)
            __builtin_prefetch(reinterpret_cast<const char *>((std::uintptr_t)from + next), 0, 2);
#endif
        loops.every_other(from, dst + at * size, count - at < step ? count - at : step, size);
    }
}

}  // namespace

void walk(Caster &cast, const char *src, char *dst, Axes axes, bool native) {
    // 1. The innermost axis is a row; the others count rows.
    const size_t size = cast.from_size();
    if (axes.ndim == 0) {
        axes.shape[0] = 1;
        axes.stride[axes.ndim++] = (Py_ssize_t)size;
    }
    const int outer = axes.ndim - 1;
    const size_t length = axes.shape[outer];
    const Py_ssize_t stride = axes.stride[outer];

    // 2. Rows as the loops take them go to the loops; short ones are better gathered first.
    bool direct = native && stride == (Py_ssize_t)size && (outer == 0 || length >= 256);
    bool aligned = (std::uintptr_t)src % size == 0;
    for (int i = 0; i < outer; ++i) aligned &= axes.stride[i] % (Py_ssize_t)size == 0;
    direct &= aligned;
    const bool every_other = native && aligned && stride == 2 * (Py_ssize_t)size;
    const bool at_once = every_other && cast.copies() && cast.written(1) == size;

    // 3. All others are gathered, until a block is full or the last row is in it.
    size_t index[PyBUF_MAX_NDIM + 1] = {};
    size_t filled = 0;
    alignas(64) char gathered[few * 8];
    for (bool more = true; more;) {
        if (direct) {
            cast.run(src, dst, length);
            dst += cast.written(length);
        } else if (at_once) {
            cast.loops().every_other(src, dst, length, size);
            dst += cast.written(length);
        }
        for (size_t at = 0; !direct && !at_once && at < length;) {
            const size_t free = few - filled, left = length - at;
            const size_t count = free < left ? free : left;
            const char *from = src + (Py_ssize_t)at * stride;
            char *to = gathered + filled * size;
            if (every_other) gather_parts(cast.loops(), from, to, count, size);
            else gather(from, stride, to, count, size, native);
            filled += count;
            at += count;
            if (filled == few) {
                cast.run(gathered, dst, few);
                dst += cast.written(few);
                filled = 0;
            }
        }
        more = false;
        for (int i = outer - 1; i >= 0 && !more; --i) {
            src += axes.stride[i];
            more = ++index[i] < axes.shape[i];
            if (!more) {
                src -= axes.stride[i] * (Py_ssize_t)axes.shape[i];
                index[i] = 0;
            }
        }
    }
    if (filled > 0) cast.run(gathered, dst, filled);
}

}  // namespace promoarray
