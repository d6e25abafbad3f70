// Sums of floats, and of squared distances, in NumPy's order, which is part of the result: side by
// side they are added pairwise, in leaves of at most 128 and eight at a time; beside each other in
// order.
#include "fold_lines.h"
#include "leaves.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

constexpr size_t LEAF = 128;

// An element, or eight, as it is added: a line has one center.
template <typename T> struct Plain {
    explicit Plain(const T *, size_t) {}
    template <typename V> V operator()(V x) const { return x; }
};
template <typename T> struct Gap {
    T center;
    Gap(const T *centers, size_t i) : center(centers[i]) {}
    template <typename V> V operator()(V x) const { return (x - center) * (x - center); }
};

size_t half_of(size_t n) { return n / 2 - n / 2 % 8; }

// Eight sums of elements of which i were added are made one, with what is left of n.
template <typename Read, typename V, typename Map>
PROMOARRAY_CAST typename Read::T ended(V r, const typename Read::Stored *x, size_t i, size_t n,
                                       const Map &map) {
    using T = typename Read::T;
    for (; i + 8 <= n; i += 8) r += map(eight(x + i, Read()));
    T s[8];
    store(r, s);
    T sum = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
    for (; i < n; ++i) sum += map(Read::of(x[i]));
    return sum;
}

// The sum of four leaves, of which each has eight elements and more, one after another in memory. They
// do not wait for one another; a compiler keeps no array of registers in registers.
template <typename Read, typename Map>
typename Read::T four_leaves(const typename Read::Stored *x, size_t n0, size_t n1, size_t n2,
                             size_t n3, const Map &map) {
    const auto *const x1 = x + n0, *const x2 = x1 + n1, *const x3 = x2 + n2;
#ifdef __AVX512BW__
    if constexpr (std::is_same_v<typename Read::T, f32>)
        return four_leaves_in_two<Read>({x, x1, x2, x3}, {n0, n1, n2, n3}, map);
#endif
    auto r0 = map(eight(x, Read())), r1 = map(eight(x1, Read()));
    auto r2 = map(eight(x2, Read())), r3 = map(eight(x3, Read()));
    const size_t least = n0 < n2 ? n0 : n2;  // of two halves the first is the shorter
    size_t i = 8;
    for (; i + 8 <= least; i += 8) {
        ask_for(x + AHEAD + 4 * i, 32);
        r0 += map(eight(x + i, Read()));
        r1 += map(eight(x1 + i, Read()));
        r2 += map(eight(x2 + i, Read()));
        r3 += map(eight(x3 + i, Read()));
    }
    const auto first = ended<Read>(r0, x, i, n0, map) + ended<Read>(r1, x1, i, n1, map);
    return first + (ended<Read>(r2, x2, i, n2, map) + ended<Read>(r3, x3, i, n3, map));
}

template <typename Read, typename Map>
typename Read::T pairwise_in(const typename Read::Stored *x, size_t n, const Map &map) {
    using T = typename Read::T;
    if (n < 8) {
        T sum = (T)-0.0;
        for (size_t i = 0; i < n; ++i) sum += map(Read::of(x[i]));
        return sum;
    }
    if (n <= LEAF) return ended<Read>(map(eight(x, Read())), x, 8, n, map);
    const size_t half = half_of(n), rest = n - half;
    const size_t n0 = half_of(half), n1 = half - n0, n2 = half_of(rest), n3 = rest - n2;
    if (half > LEAF && n1 <= LEAF && n3 <= LEAF)
        return four_leaves<Read>(x, n0, n1, n2, n3, map);
    return pairwise_in<Read>(x, half, map) + pairwise_in<Read>(x + half, rest, map);
}

template <typename Read, typename Map>
typename Read::T pairwise(Source<Read> &source, size_t at, size_t n, const Map &map) {
    if (n <= CHUNK) return pairwise_in<Read>(source.block(at, n), n, map);
    const size_t half = half_of(n);
    const auto left = pairwise(source, at, half, map);
    return left + pairwise(source, at + half, n - half, map);
}

template <typename Read, typename Map> void sum_rows(const Lines &lines, typename Read::T *out) {
    using T = typename Read::T;
    Source<Read> source(lines);
    const auto *centers = reinterpret_cast<const T *>(lines.center);
    const size_t length = lines.n / lines.runs;
    for (size_t i = 0, at = 0; i < lines.outer; ++i) {
        T sum = 0;
        for (size_t run = 0; run < lines.runs; ++run, at += length)
            sum = sum + pairwise(source, at, length, Map(centers, i));
        out[i] = sum;
    }
}

template <typename Read, typename InRows, typename InColumns> bool float_sum(const Lines &lines) {
    auto *out = reinterpret_cast<typename Read::T *>(lines.result);
    if (lines.inner == 1) sum_rows<Read, InRows>(lines, out);
    else columns<Read, Sum, InColumns>(lines, out);
    return any_nan(out, count_of(lines, out));
}

template <typename Read> struct Sums {
    static constexpr Fold fold = float_sum<Read, Plain<typename Read::T>, Itself>;
};
template <typename Read> struct Squares {
    static constexpr Fold fold = float_sum<Read, Gap<typename Read::T>, Squared>;
};

}  // namespace

Fold sum_fold(Type from, Type to, bool squares) {
    return squares ? float_fold<Squares>(from, to) : float_fold<Sums>(from, to);
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
