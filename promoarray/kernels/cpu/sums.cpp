// Sums of floats, and of squared distances, in NumPy's order, which is part of the result: side by
// side they are added pairwise, in leaves of at most 128 and eight at a time; beside each other in
// order. Complex numbers are added as their parts are, side by side four at a time.
#include <utility>

#include "fold_lines.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

constexpr size_t LEAF = 128;  // elements

// An element, or eight, as it is added, and what their sum is: a line has one center.
template <typename T> struct Plain {
    using Total = T;
    Plain() = default;
    Plain(const T *, size_t) {}
    template <typename V> PROMOARRAY_CAST V operator()(V x) const { return x; }
};
template <typename T> struct PlainParts : Plain<T> {
    using Total = Pair<T>;
    using Plain<T>::Plain;
};
template <typename T> struct Gap {
    using Total = T;
    T center;
    Gap() = default;
    Gap(const T *centers, size_t i) : center(centers[i]) {}
    template <typename V> PROMOARRAY_CAST V operator()(V x) const {
        return (x - center) * (x - center);
    }
};

template <typename T> struct GapOfPairs {
    using Total = T;
    T real, imag;
    GapOfPairs() = default;
    GapOfPairs(const T *centers, size_t i) : real(centers[2 * i]), imag(centers[2 * i + 1]) {}
    template <typename Pairs> PROMOARRAY_CAST auto operator()(const Pairs &x) const {
        return together((x.real - real) * (x.real - real), (x.imag - imag) * (x.imag - imag));
    }
};

// The same of what lies far and is added as it is, which takes memory's time. A machine foresees
// what is read next by instructions: few of them read all, leaf after leaf.
template <typename Map> struct InTurn : Map { using Map::Map; };

// Fewer than eight elements, in order.
template <typename Read, typename Map>
void add_each(const typename Read::Stored *x, size_t n, const Map &map, typename Read::T &sum) {
    for (size_t i = 0; i < n; ++i) sum += map(Read::of(x[i]));
}
template <typename Read, typename Map>
void add_each(const typename Read::Stored *x, size_t n, const Map &, Pair<typename Read::T> &sum) {
    for (size_t i = 0; i < n; i += 2) {
        sum.real += Read::of(x[i]);
        sum.imag += Read::of(x[i + 1]);
    }
}

size_t half_of(size_t n) { return n / 2 - n / 2 % 8; }

// At most LEAF elements, which are added eight at a time, lane by lane.
template <typename Read, typename Map> struct Leaf {
    const typename Read::Stored *x;
    size_t n;
    Map map;
    PROMOARRAY_CAST auto at(size_t i) const { return map(eight(x + i, Read())); }
};

template <typename Leaf> PROMOARRAY_CAST auto lanes_of(const Leaf &leaf) {
    constexpr size_t MANY = 4 * 8;
    decltype(leaf.at(0)) r = {};
    size_t i = 0;
    for (; i + MANY <= leaf.n; i += MANY)
        for (size_t k = 0; k < MANY; k += 8) r += leaf.at(i + k);
    for (; i + 8 <= leaf.n; i += 8) r += leaf.at(i);
    return r;
}

#ifdef __F16C__
// Of a full leaf that lies far, by loads that begin where registers do in memory: one that lies in
// two lines of a cache waits for both. What the first and the last have of other leaves counts as
// -0.0, which changes no sum, and lanes are turned once all is added.
PROMOARRAY_CAST __m256 turned_lanes(const f32 *x, size_t before) {
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256i first = _mm256_set1_epi32((int)before);
    const __m256i others = _mm256_cmpgt_epi32(first, lane);
    const auto part = [](const f32 *from, __m256i own) {
        return _mm256_blendv_ps(_mm256_set1_ps(-0.0f), _mm256_maskload_ps(from, own),
                                _mm256_castsi256_ps(own));
    };
    x -= before;
    __m256 r = part(x, _mm256_xor_si256(others, _mm256_set1_epi32(-1)));
    for (size_t i = 8; i < LEAF; i += 8) r += _mm256_load_ps(x + i);
    r += part(x + LEAF, others);
    return _mm256_permutevar8x32_ps(r, _mm256_add_epi32(lane, first));
}
[[gnu::noinline]] __m256 lanes_of(const Leaf<As<f32, f32>, InTurn<Plain<f32>>> &leaf) {
    const size_t before = reinterpret_cast<std::uintptr_t>(leaf.x) / sizeof(f32) % 8;
    if (before != 0 && leaf.n == LEAF) return turned_lanes(leaf.x, before);
    return lanes_of(Leaf<As<f32, f32>, Plain<f32>>{leaf.x, leaf.n, leaf.map});
}
#endif

// What is left of a leaf, after its eights, is added to the sum of these.
template <typename Read, typename Map>
PROMOARRAY_CAST void add_rest(const Leaf<Read, Map> &leaf, typename Map::Total &sum) {
    const size_t rest = leaf.n % 8;
    if (rest != 0) add_each<Read>(leaf.x + leaf.n - rest, rest, leaf.map, sum);
}

template <typename Read, typename Map> typename Map::Total sum_of(const Leaf<Read, Map> &leaf) {
    typename Map::Total sums[4] = {};
    if (leaf.n >= 8) {
        const auto r = lanes_of(leaf);
        add_up(r, r, r, r, sums);
    }
    add_rest(leaf, sums[0]);
    return sums[0];
}

// What the lanes of registers of so many leaves are, into sums, of which the first ones count.
template <size_t leaves, typename V, size_t count, typename Total>
PROMOARRAY_CAST void add_up_all(const V (&r)[count], Total *sums) {
    for (size_t k = 0; k < count; k += 4)
        add_up(r[k], r[(k + 1) % count], r[(k + 2) % count], r[(k + 3) % count], sums + leaves * k);
}

// How many leaves are added in one register, and how many full ones at once; what a register gets
// of them, and of one of them.
template <typename Read, typename Map> struct Register {
    static constexpr size_t leaves = 1, full = 8;
    using Own = Leaf<Read, Map>;
    static PROMOARRAY_CAST auto at(const Own *leaf, size_t i) { return leaf->at(i); }
    static PROMOARRAY_CAST auto of_one(const Own *leaf, size_t, size_t i) { return leaf->at(i); }
};
#ifdef __F16C__
// Of two leaves nothing changes places. The second lies behind the first.
template <> struct Register<OfBfloat, Plain<f32>> {
    static constexpr size_t leaves = 2;
#ifdef __AVX512VL__
    static constexpr size_t full = 16;
#else
    static constexpr size_t full = 8;
#endif
    using Own = Leaf<OfBfloat, Plain<f32>>;
    static PROMOARRAY_CAST TwoEights at(const Own *leaf, size_t i) {
        return two_eights(leaf[0].x + i, leaf[1].x + i);
    }
    static PROMOARRAY_CAST TwoEights of_one(const Own *leaf, size_t which, size_t i) {
        const __m256i codes = eight_codes(leaf[which].x + i), none = _mm256_setzero_si256();
        return which == 0 ? two_eights(codes, none) : two_eights(none, codes);
    }
};
#endif

// The eights from i on of those leaves of a register that have one more.
template <typename Read, typename Map, typename Lanes>
PROMOARRAY_CAST void add_last(Lanes &lanes, const Leaf<Read, Map> *own, size_t i) {
    using In = Register<Read, Map>;
    for (size_t k = 0; k < In::leaves; ++k)
        if (i + 8 <= own[k].n) lanes += In::of_one(own, k, i);
}

// The sums of leaves side by side, so that none waits for itself. The first is the shortest, the
// last the longest, and none has more than one eight more than another. An array of registers is
// kept in registers where a compiler is told each by its number.
template <typename Read, typename Map, size_t... r>
PROMOARRAY_CAST void sums_beside(const Leaf<Read, Map> *leaves, typename Map::Total *sums,
                                 std::index_sequence<r...>) {
    using Lanes = Register<Read, Map>;
    constexpr size_t each = Lanes::leaves, count = sizeof...(r) * each;
    decltype(Lanes::at(leaves, 0)) lanes[] = {Lanes::at(leaves + r * each, 0)...};
    size_t i = 8;
    for (; i + 8 <= leaves[0].n; i += 8) {
        // Places that are read in turn are not what a machine takes for a walk through memory.
        ask_for(leaves[0].x + count * (LEAF + i), count * 8);
        ((lanes[r] += Lanes::at(leaves + r * each, i)), ...);
    }
    if (i + 8 <= leaves[count - 1].n) (add_last<Read>(lanes[r], leaves + r * each, i), ...);
    add_up_all<each>(lanes, sums);
}

template <size_t count, typename Read, typename Map>
PROMOARRAY_CAST void sums_of(const Leaf<Read, Map> *leaves, typename Map::Total *sums) {
    constexpr auto registers = std::make_index_sequence<count / Register<Read, Map>::leaves>();
    sums_beside(leaves, sums, registers);
}
template <size_t count, typename Read, typename Map>
PROMOARRAY_CAST void sums_of(const Leaf<Read, InTurn<Map>> *leaves, typename Map::Total *sums) {
    decltype(leaves->at(0)) r[count];
    for (size_t k = 0; k < count; ++k) r[k] = lanes_of(leaves[k]);
    add_up_all<1>(r, sums);
}

// So many leaves, of the first that has all.
template <size_t count, typename Leaf> PROMOARRAY_CAST void halve(Leaf *leaves) {
    if constexpr (count > 1) {
        const Leaf all = leaves[0];
        const size_t half = half_of(all.n);
        leaves[0].n = half;
        leaves[count / 2] = {all.x + half, all.n - half, all.map};
        halve<count / 2>(leaves);
        halve<count / 2>(leaves + count / 2);
    }
}

// As many sums as a power of two, each half added up by itself.
template <size_t count, typename Total> PROMOARRAY_CAST Total sum_pairs(const Total *sums) {
    if constexpr (count == 1) return sums[0];
    else return sum_pairs<count / 2>(sums) + sum_pairs<count / 2>(sums + count / 2);
}

// The sums of so many lines, each of which is halved into so many leaves. All but the last of a line
// consist of eights.
template <size_t count, size_t lines, typename Read, typename Map>
PROMOARRAY_CAST void sums_of_lines(Leaf<Read, Map> *leaves, typename Map::Total *sums) {
    constexpr size_t all = count * lines;
    for (size_t k = 0; k < all; k += count) halve<count>(leaves + k);
    typename Map::Total s[all < 8 ? 8 : all];
    sums_of<all>(leaves, s);
    for (size_t k = 0; k < lines; ++k) {
        add_rest(leaves[(k + 1) * count - 1], s[(k + 1) * count - 1]);
        sums[k] = sum_pairs<count>(s + k * count);
    }
}

template <size_t count, typename Read, typename Map>
PROMOARRAY_CAST typename Map::Total leaves_in(const typename Read::Stored *x, size_t n,
                                              const Map &map) {
    Leaf<Read, Map> leaves[count];
    leaves[0] = {x, n, map};
    typename Map::Total sum;
    sums_of_lines<count, 1>(leaves, &sum);
    return sum;
}

// How many leaves n elements are halved into, and whether all as often. Of two halves the second is
// the longer.
struct Leaves {
    size_t count = 1;
    bool are_alike;
    explicit Leaves(size_t n) {
        size_t shortest = n, longest = n;
        for (; shortest > LEAF; count *= 2) {
            shortest = half_of(shortest);
            longest -= half_of(longest);
        }
        are_alike = longest <= LEAF;
    }
};

template <typename Read, typename Map>
typename Map::Total pairwise_in(const typename Read::Stored *x, size_t n, const Map &map) {
    // A compiler that knows how long leaves are finds all of them by one address.
    constexpr size_t full = Register<Read, Map>::full;
    if (n == full * LEAF) return leaves_in<full, Read>(x, full * LEAF, map);
    const Leaves leaves(n);
    switch (leaves.are_alike ? leaves.count : 0) {
    case 1: return sum_of(Leaf<Read, Map>{x, n, map});
    case 2: return leaves_in<2, Read>(x, n, map);
    case 4: return leaves_in<4, Read>(x, n, map);
    case 8: return leaves_in<8, Read>(x, n, map);
    }
    const size_t half = half_of(n);
    const auto left = pairwise_in<Read>(x, half, map);
    return left + pairwise_in<Read>(x + half, n - half, map);
}

template <typename Read, typename Map>
typename Map::Total pairwise(Source<Read> &source, size_t at, size_t n, const Map &map) {
    if (n <= CHUNK) return pairwise_in<Read>(source.block(at, n), n, map);
    const size_t half = half_of(n);
    const auto left = pairwise(source, at, half, map);
    return left + pairwise(source, at + half, n - half, map);
}

// Of lines of less than eight, each in order.
template <typename Read> void sum_few(const Lines &lines, typename Read::T *out) {
    few_by_few<Read>(lines, [&](const auto *x, size_t row, size_t rows) {
        fold_few<Read, Sum>(x, lines.n, rows, out + row);
        for (size_t k = 0; k < rows; ++k) out[row + k] += 0;
    });
}

// Of lines that are halved into so many leaves, as many lines at once as have eight; of lines that
// are leaves four, as the shortest take no longer than what is done for each.
template <size_t count, typename Read, typename Map>
void sum_short(const Lines &lines, size_t length, typename Map::Total *out) {
    constexpr size_t beside = count == 1 ? 4 : 8 / count;
    Source<Read> source(lines);
    const auto *centers = reinterpret_cast<const typename Read::T *>(lines.center);
    const size_t most = CHUNK / length;
    for (size_t row = 0; row < lines.outer; row += most) {
        const size_t rows = lines.outer - row < most ? lines.outer - row : most;
        const auto *x = source.block(row * length, rows * length);
        size_t k = 0;
        const size_t full = length < 8 ? 0 : rows / beside * beside;
        for (; k < full; k += beside) {
            Leaf<Read, Map> leaves[beside * count];
            for (size_t j = 0; j < beside; ++j)
                leaves[j * count] = {x + (k + j) * length, length, Map(centers, row + k + j)};
            typename Map::Total sums[beside];
            sums_of_lines<count, beside>(leaves, sums);
            for (size_t j = 0; j < beside; ++j) out[row + k + j] = typename Map::Total{} + sums[j];
        }
        for (; k < rows; ++k)
            out[row + k] = typename Map::Total{} +
                           pairwise_in<Read>(x + k * length, length, Map(centers, row + k));
    }
}

template <typename Read, typename Map>
void sum_rows(const Lines &lines, typename Map::Total *out) {
    const size_t length = lines.n / lines.runs * parts_of<typename Map::Total>;
    if constexpr (std::is_base_of_v<Plain<typename Map::Total>, Map>)
        if (length < 8 && lines.runs == 1) return sum_few<Read>(lines, out);
    const Leaves leaves(length);
    switch (leaves.are_alike && lines.runs == 1 ? leaves.count : 0) {
    case 1: return sum_short<1, Read, Map>(lines, length, out);
    case 2: return sum_short<2, Read, Map>(lines, length, out);
    case 4: return sum_short<4, Read, Map>(lines, length, out);
    }
    Source<Read> source(lines);
    const auto *centers = reinterpret_cast<const typename Read::T *>(lines.center);
    for (size_t i = 0, at = 0; i < lines.outer; ++i) {
        typename Map::Total sum = {};
        for (size_t run = 0; run < lines.runs; ++run, at += length)
            sum = sum + pairwise(source, at, length, Map(centers, i));
        out[i] = sum;
    }
}

// Whether lines of several leaves are read as they lie, and are more than is surely in a cache.
template <typename Read> bool are_far(const Lines &lines) {
    constexpr size_t FAR = 8 << 20;  // bytes
    return lines.enter == nullptr && lines.gather == nullptr && lines.n / lines.runs > LEAF &&
           lines.outer * lines.n * sizeof(typename Read::Stored) > FAR;
}

template <typename Read, typename InRows, typename InColumns> bool float_sum(const Lines &lines) {
    using T = typename Read::T;
    auto *out = reinterpret_cast<T *>(lines.result);
    constexpr bool as_it_is = std::is_same_v<Read, As<T, T>> && std::is_same_v<InRows, Plain<T>>;
    using Far = std::conditional_t<as_it_is, InTurn<InRows>, InRows>;
    if (lines.inner != 1) columns<Read, Sum, InColumns>(lines, out);
    else if (as_it_is && are_far<Read>(lines)) sum_rows<Read, Far>(lines, out);
    else sum_rows<Read, InRows>(lines, out);
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
