// Sums of floats, and of squared distances, in NumPy's order, which is part of the result: side by
// side they are added pairwise, in leaves of at most 128 and eight at a time; beside each other in
// order.
#include "fold_lines.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

constexpr size_t LEAF = 128;
constexpr size_t AHEAD = 8 << 10;  // bytes

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

// Eight sums are made one.
template <typename T, typename V> PROMOARRAY_CAST T one_of(const V &r) {
    T s[8];
    store(r, s);
    return ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}
// The same of four times eight.
template <typename T, typename V>
PROMOARRAY_CAST void each_one(const V &r0, const V &r1, const V &r2, const V &r3, T (&sums)[4]) {
    sums[0] = one_of<T>(r0), sums[1] = one_of<T>(r1);
    sums[2] = one_of<T>(r2), sums[3] = one_of<T>(r3);
}
#ifdef __F16C__
PROMOARRAY_CAST void each_one(__m256 r0, __m256 r1, __m256 r2, __m256 r3, f32 (&sums)[4]) {
    const __m256 halves = _mm256_hadd_ps(_mm256_hadd_ps(r0, r1), _mm256_hadd_ps(r2, r3));
    _mm_storeu_ps(sums, _mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps(halves, 1)));
}
#endif

// Eight elements at a time from i on, as long as there are eight of n.
template <typename Read, typename V, typename Map>
PROMOARRAY_CAST void add_eights(V &r, const typename Read::Stored *x, size_t i, size_t n,
                                const Map &map) {
    for (; i + 8 <= n; i += 8) r += map(eight(x + i, Read()));
}

// The sum of at least eight elements, and no more than a leaf.
template <typename Read, typename Map>
PROMOARRAY_CAST typename Read::T leaf(const typename Read::Stored *x, size_t n, const Map &map) {
    auto r = map(eight(x, Read()));
    add_eights<Read>(r, x, 8, n, map);
    auto sum = one_of<typename Read::T>(r);
    for (size_t i = n / 8 * 8; i < n; ++i) sum += map(Read::of(x[i]));
    return sum;
}

// Have memory brought that is read soon: four places that are read in turn are not what a machine
// takes for a walk through memory, unless they lie near each other.
template <typename Stored> PROMOARRAY_CAST void ask_for(const Stored *x, size_t n) {
#ifdef __SSE2__
    if (sizeof(Stored) < 4) return;
    for (size_t k = 0; k < n; k += 64 / sizeof(Stored))
        _mm_prefetch(reinterpret_cast<const char *>(x + k), _MM_HINT_T0);
#else
    (void)x, (void)n;
#endif
}

// The sum of four leaves, of which each has eight elements and more, one after another in memory. They
// do not wait for one another; a compiler keeps no array of registers in registers. All but the last
// leaf consist of eights.
template <typename Read, typename Map>
PROMOARRAY_CAST typename Read::T four_leaves(const typename Read::Stored *x, size_t n0, size_t n1,
                                             size_t n2, size_t n3, const Map &map) {
    using T = typename Read::T;
    const auto *const x1 = x + n0, *const x2 = x1 + n1, *const x3 = x2 + n2;
    auto r0 = map(eight(x, Read())), r1 = map(eight(x1, Read()));
    auto r2 = map(eight(x2, Read())), r3 = map(eight(x3, Read()));
    size_t i = 8;
#ifdef __GNUC__
#pragma GCC unroll 5
#endif
    for (; i + 8 <= n0; i += 8) {  // the first leaf is the shortest
        ask_for(x + AHEAD / sizeof *x + 4 * i, 32);
        r0 += map(eight(x + i, Read()));
        r1 += map(eight(x1 + i, Read()));
        r2 += map(eight(x2 + i, Read()));
        r3 += map(eight(x3 + i, Read()));
    }
    add_eights<Read>(r1, x1, i, n1, map);
    add_eights<Read>(r2, x2, i, n2, map);
    add_eights<Read>(r3, x3, i, n3, map);
    T sums[4];
    each_one(r0, r1, r2, r3, sums);
    const size_t left = n3 % 8;
    for (size_t k = 0; k < left; ++k) sums[3] += map(Read::of(x3[n3 - left + k]));
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

template <typename Read, typename Map>
typename Read::T pairwise_in(const typename Read::Stored *x, size_t n, const Map &map) {
    using T = typename Read::T;
    if (n < 8) {
        T sum = (T)-0.0;
        for (size_t i = 0; i < n; ++i) sum += map(Read::of(x[i]));
        return sum;
    }
    if (n <= LEAF) return leaf<Read>(x, n, map);
    if (n == 4 * LEAF) return four_leaves<Read>(x, LEAF, LEAF, LEAF, LEAF, map);  // most often
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
