// What a fold reads: elements as they are stored, each taken as what is computed in, or cast before,
// a piece at a time.
#pragma once

#include <type_traits>

#include "folds.h"
#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {

using i64s = std::int64_t;
using std::size_t;

constexpr size_t CHUNK = 2048;  // elements that are cast at a time: a first-level cache holds them

template <typename Stored_, typename T_> struct As {
    using Stored = Stored_;
    using T = T_;
    static T of(Stored x) { return (T)x; }
};
template <typename Stored_, typename T_> struct Truth {  // a bool may be any byte
    using Stored = Stored_;
    using T = T_;
    static T of(Stored x) { return (T)(x != 0); }
};
template <typename T_> struct ShortTruth {  // of bfloat16 and float16
    using Stored = u16;
    using T = T_;
    static T of(Stored x) { return (T)((x & 0x7fff) != 0); }
};
struct OfBfloat {
    using Stored = u16;
    using T = f32;
    static T of(Stored x) { return as_float((u32)x << 16); }
};
struct OfHalf {
    using Stored = u16;
    using T = f32;
    static T of(Stored x) {
#ifdef __F16C__
        return _cvtsh_ss(x);
#else
        const u32 magnitude = x & 0x7fffu, sign = (x & 0x8000u) << 16;
        const u32 bias = magnitude < 0x7c00 ? 112u << 23 : 224u << 23;
        const u32 subnormal = as_bits((f32)(i32)magnitude * 0x1p-24f);
        return as_float((magnitude < 0x400 ? subnormal : (magnitude << 13) + bias) | sign);
#endif
    }
};

// Complex numbers, as both parts.
template <typename T> struct Pair {
    T real, imag;
    friend Pair operator+(const Pair &x, const Pair &y) {
        return {x.real + y.real, x.imag + y.imag};
    }
};
template <typename T_> struct AsPair {
    using Stored = Pair<T_>;
    using T = T_;  // of what is made of them
    static Stored of(const Stored &x) { return x; }
};
template <typename T_, typename Part> struct PairTruth {
    using Stored = Pair<Part>;
    using T = T_;
    static T of(const Stored &x) { return (T)((x.real != 0) | (x.imag != 0)); }
};
template <typename Stored> constexpr size_t parts_of = 1;
template <typename T> constexpr size_t parts_of<Pair<T>> = 2;

// The elements of lines, as they are stored or cast.
template <typename Read, size_t LONGEST = CHUNK> class Source {
   public:
    using Stored = typename Read::Stored;
    explicit Source(const Lines &lines) : lines_(lines) {}

    // At most LONGEST of them, until the next are asked for.
    const Stored *block(size_t at, size_t n) { return read(at, n, cast_, gathered_); }

    // Rows of a width, each beginning `inner` elements after the one before; `apart` elements apart
    // in what is answered.
    const Stored *rows(size_t at, size_t count, size_t width, size_t inner, size_t &apart) {
        apart = lies_here() ? inner : width;
        if (apart == inner) return block(at, count * width);
        const size_t size = lines_.enter != nullptr ? sizeof(Stored) : PARTS * lines_.source_size;
        for (size_t k = 0; k < count; ++k)
            read(at + k * inner, width, cast_ + k * width * size, gathered_ + k * width * size);
        return reinterpret_cast<const Stored *>(lines_.enter != nullptr ? cast_ : gathered_);
    }

    // Whether the fold reads memory that is not its own.
    bool lies_here() const { return lines_.enter == nullptr && lines_.gather == nullptr; }

   private:
    static constexpr size_t PARTS = parts_of<Stored>;

    const Stored *read(size_t at, size_t n, char *cast, char *gathered) {
        at *= PARTS;
        n *= PARTS;
        const char *from = lines_.source + at * lines_.source_size;
        if (lines_.gather != nullptr) {
            lines_.gather(lines_, at, n, gathered);
            from = gathered;
        }
        if (lines_.enter == nullptr) return reinterpret_cast<const Stored *>(from);
        lines_.enter(from, cast, n, *lines_.enter_work);
        return reinterpret_cast<const Stored *>(cast);
    }

    const Lines &lines_;
    alignas(64) char cast_[LONGEST * sizeof(Stored)];
    alignas(64) char gathered_[LONGEST * PARTS * 8];
};

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
