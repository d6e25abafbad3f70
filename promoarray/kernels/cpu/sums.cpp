// Sums of floats, and of squared distances, in NumPy's order, which is part of the result: side by
// side they are added pairwise, in leaves of at most 128 and eight at a time; beside each other in
// order. Complex numbers are added as their parts are, side by side four at a time.
#include "fold_lines.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

constexpr size_t LEAF = 128, AHEAD = 1024;  // elements

// An element, or eight, as it is added, and what their sum is: a line has one center.
template <typename T> struct Plain {
    using Total = T;
    explicit Plain(const T *, size_t) {}
    template <typename V> PROMOARRAY_CAST V operator()(V x) const { return x; }
};
template <typename T> struct PlainParts : Plain<T> {
    using Total = Pair<T>;
    using Plain<T>::Plain;
};
template <typename T> struct Gap {
    using Total = T;
    T center;
    Gap(const T *centers, size_t i) : center(centers[i]) {}
    template <typename V> PROMOARRAY_CAST V operator()(V x) const {
        return (x - center) * (x - center);
    }
};

template <typename T> struct GapOfPairs {
    using Total = T;
    T real, imag;
    GapOfPairs(const T *centers, size_t i) : real(centers[2 * i]), imag(centers[2 * i + 1]) {}
    template <typename Pairs> PROMOARRAY_CAST auto operator()(const Pairs &x) const {
        return together((x.real - real) * (x.real - real), (x.imag - imag) * (x.imag - imag));
    }
};

// What is left of a leaf, after its eights.
template <typename Read, typename Map>
void add_rest(const typename Read::Stored *x, size_t n, const Map &map, typename Read::T &sum) {
    for (size_t i = 0; i < n; ++i) sum += map(Read::of(x[i]));
}
template <typename Read, typename Map>
void add_rest(const typename Read::Stored *x, size_t n, const Map &, Pair<typename Read::T> &sum) {
    for (size_t i = 0; i < n; i += 2) {
        sum.real += Read::of(x[i]);
        sum.imag += Read::of(x[i + 1]);
    }
}

size_t half_of(size_t n) { return n / 2 - n / 2 % 8; }

// The sum of the n elements of a leaf, of at most LEAF.
template <typename Read, typename Map>
typename Map::Total leaf(const typename Read::Stored *x, size_t n, const Map &map) {
    typename Map::Total sums[4] = {};
    size_t i = 0;
    if (n >= 8) {
        auto r = map(eight(x, Read()));
        for (i = 8; i + 8 <= n; i += 8) r += map(eight(x + i, Read()));
        add_up(r, r, r, r, sums);
    }
    add_rest<Read>(x + i, n - i, map, sums[0]);
    return sums[0];
}

// The sum of leaves that lie one after another, four or eight, as n is halved twice or three times:
// of two halves the second is the longer, and all leaves but the last consist of eights. They do not
// wait for one another; a compiler keeps no array of registers in registers.
template <size_t count, typename Read, typename Map>
typename Map::Total leaves(const typename Read::Stored *x, const size_t *n, const Map &map) {
    const typename Read::Stored *from[9] = {x};
    for (size_t k = 0; k < count; ++k) from[k + 1] = from[k] + n[k];
    const auto at = [&map, &from](size_t k, size_t i) { return map(eight(from[k] + i, Read())); };
    constexpr size_t more = count == 8 ? 4 : 0;
    auto r0 = at(0, 0), r1 = at(1, 0), r2 = at(2, 0), r3 = at(3, 0);
    auto r4 = at(more, 0), r5 = at(more + 1, 0), r6 = at(more + 2, 0), r7 = at(more + 3, 0);
    size_t i = 8;
    for (; i + 8 <= n[0]; i += 8) {
        // Places that are read in turn are not what a machine takes for a walk through memory.
        ask_for(x + AHEAD + count * i, count * 8);
        r0 += at(0, i);
        r1 += at(1, i);
        r2 += at(2, i);
        r3 += at(3, i);
        if constexpr (more != 0) {
            r4 += at(4, i);
            r5 += at(5, i);
            r6 += at(6, i);
            r7 += at(7, i);
        }
    }
    for (; i + 8 <= n[count - 1]; i += 8) {
        if (i + 8 <= n[1]) r1 += at(1, i);
        if (i + 8 <= n[2]) r2 += at(2, i);
        if (i + 8 <= n[3]) r3 += at(3, i);
        if constexpr (more != 0) {
            if (i + 8 <= n[4]) r4 += at(4, i);
            if (i + 8 <= n[5]) r5 += at(5, i);
            if (i + 8 <= n[6]) r6 += at(6, i);
            r7 += at(7, i);
        }
    }
    typename Map::Total s[count];
    add_up(r0, r1, r2, r3, s);
    if constexpr (more != 0) add_up(r4, r5, r6, r7, s + more);
    add_rest<Read>(from[count - 1] + i, n[count - 1] - i, map, s[count - 1]);
    for (size_t left = count; left > 1; left /= 2)
        for (size_t k = 0; k < left / 2; ++k) s[k] = s[2 * k] + s[2 * k + 1];
    return s[0];
}

template <typename Read, typename Map>
typename Map::Total pairwise_in(const typename Read::Stored *x, size_t n, const Map &map) {
    if (n <= LEAF) return leaf<Read>(x, n, map);
    const size_t half = half_of(n), rest = n - half;
    if (half <= LEAF) return leaf<Read>(x, half, map) + pairwise_in<Read>(x + half, rest, map);
    const size_t fours[4] = {half_of(half), half - half_of(half), half_of(rest),
                             rest - half_of(rest)};
    if (fours[3] <= LEAF) return leaves<4, Read>(x, fours, map);
    if (fours[0] > LEAF && fours[3] - half_of(fours[3]) <= LEAF) {
        // One by one: written by a loop they are read before the register that has them is in memory.
        const size_t h0 = half_of(fours[0]), h1 = half_of(fours[1]);
        const size_t h2 = half_of(fours[2]), h3 = half_of(fours[3]);
        const size_t eights[8] = {h0, fours[0] - h0, h1, fours[1] - h1,
                                  h2, fours[2] - h2, h3, fours[3] - h3};
        return leaves<8, Read>(x, eights, map);
    }
    return pairwise_in<Read>(x, half, map) + pairwise_in<Read>(x + half, rest, map);
}

template <typename Read, typename Map>
typename Map::Total pairwise(Source<Read> &source, size_t at, size_t n, const Map &map) {
    if (n <= CHUNK) return pairwise_in<Read>(source.block(at, n), n, map);
    const size_t half = half_of(n);
    const auto left = pairwise(source, at, half, map);
    return left + pairwise(source, at + half, n - half, map);
}

template <typename Read, typename Map>
void sum_rows(const Lines &lines, typename Map::Total *out) {
    Source<Read> source(lines);
    const auto *centers = reinterpret_cast<const typename Read::T *>(lines.center);
    const size_t length = lines.n / lines.runs * parts_of<typename Map::Total>;
    for (size_t i = 0, at = 0; i < lines.outer; ++i) {
        typename Map::Total sum = {};
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

// Beside each other parts are numbers like any.
template <typename Read> bool complex_sum(const Lines &lines) {
    using T = typename Read::T;
    Lines parts = lines;
    auto *out = reinterpret_cast<T *>(lines.result);
    parts.inner *= 2;
    if (lines.inner == 1)
        sum_rows<Read, PlainParts<T>>(lines, reinterpret_cast<Pair<T> *>(out));
    else columns<Read, Sum, Itself>(parts, out);
    return any_nan(out, count_of(parts, out));
}

template <typename Read> struct Sums {
    static constexpr Fold fold = float_sum<Read, Plain<typename Read::T>, Itself>;
};
template <typename Read> struct Squares {
    static constexpr Fold fold = float_sum<Read, Gap<typename Read::T>, Squared>;
};
template <typename Read> struct ComplexSums { static constexpr Fold fold = complex_sum<Read>; };

template <typename T>
constexpr Fold complex_squares = float_sum<AsPair<T>, GapOfPairs<T>, SquaredPair>;

}  // namespace

Fold sum_fold(Type from, Type to, bool squares) {
    if (to.kind == Kind::complex) {
        from = part_of(from);
        to = part_of(to);
        if (!squares) return float_fold<ComplexSums>(from, to);
        if (!same_type(from, to)) return nullptr;
        return is_float64(to) ? complex_squares<f64> : complex_squares<f32>;
    }
    return squares ? float_fold<Squares>(from, to) : float_fold<Sums>(from, to);
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
