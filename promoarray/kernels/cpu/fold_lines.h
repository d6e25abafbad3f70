// Steps of folds, and lines that lie beside each other, which all folds go along in order.
#pragma once

#include "eight.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {

// `start` is what the first element is folded with. NumPy's sum begins with 0, which is why none is
// -0.0.
struct Sum {
    static constexpr bool loses_nan = false;
    template <typename V> static V of(V a, V b) { return (V)(a + b); }
    template <typename V> static V start(V) { return V{}; }
};
struct Product {
    static constexpr bool loses_nan = false;
    template <typename T> static T of(T a, T b) { return (T)(a * b); }
    template <typename T> static T start(T) { return (T)1; }
};
struct Larger {
    static constexpr bool loses_nan = true;
    template <typename V> static V of(V a, V b) { return b > a ? b : a; }
    template <typename V> static V start(V first) { return first; }
};
struct Smaller {
    static constexpr bool loses_nan = true;
    template <typename V> static V of(V a, V b) { return b < a ? b : a; }
    template <typename V> static V start(V first) { return first; }
};
struct Either {
    static constexpr bool loses_nan = false;
    template <typename T> static T of(T a, T b) { return (T)(a | b); }
    template <typename T> static T start(T) { return (T)0; }
};
struct Both {
    static constexpr bool loses_nan = false;
    template <typename T> static T of(T a, T b) { return (T)(a & b); }
    template <typename T> static T start(T) { return (T)1; }
};

// What is done to an element, or to eight, before it is folded.
struct Itself {
    template <typename V, typename T> static V of(V x, const T *) { return x; }
};
struct Squared {  // its distance from a center
    template <typename T> static T of(T x, const T *center) { return (x - *center) * (x - *center); }
#ifdef __F16C__
    static __m256 of(__m256 x, const f32 *centers) {
        const __m256 gap = x - _mm256_loadu_ps(centers);
        return gap * gap;
    }
#endif
};

struct SquaredPair {
    template <typename T> static T of(const Pair<T> &x, const Pair<T> *center) {
        const T real = x.real - center->real, imag = x.imag - center->imag;
        return real * real + imag * imag;
    }
};
// What a center is.
template <typename Map, typename T> struct CenterOf { using type = T; };
template <typename T> struct CenterOf<SquaredPair, T> { using type = Pair<T>; };
template <typename Map, typename T> using Center = typename CenterOf<Map, T>::type;

template <typename T> bool any_nan(const T *x, size_t n) {
    int found = 0;
    for (size_t i = 0; i < n; ++i) found |= x[i] != x[i];
    return found != 0;
}

template <typename T> size_t count_of(const Lines &lines, const T *) {
    return lines.outer * lines.inner;
}

constexpr size_t AT_ONCE = 4;  // lines that go into what is folded so far
constexpr size_t FEW = 16;     // elements of a line

// Fold `count` rows of a width, which lie `apart`, into what is folded so far. Answers whether there
// was a NaN that the step loses.
template <typename Read, typename Step, typename Map, size_t count>
bool fold_rows(const typename Read::Stored *x, size_t apart, size_t width,
               const Center<Map, typename Read::T> *from,
               typename Read::T *PROMOARRAY_RESTRICT folded) {
    using T = typename Read::T;
    int strange = 0;
    size_t j = 0;
#ifdef __F16C__
    if constexpr (std::is_same_v<Read, OfHalf>) {  // a compiler reads one at a time
        __m256i lost = _mm256_setzero_si256();
        for (; j + 8 <= width; j += 8) {
            __m256 so_far = _mm256_loadu_ps(folded + j);
            for (size_t a = 0; a < count; ++a) {
                const __m256 value = Map::of(eight(x + j + a * apart, Read()), from + j);
                if constexpr (Step::loses_nan)
                    lost |= _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
                so_far = Step::of(so_far, value);
            }
            _mm256_storeu_ps(folded + j, so_far);
        }
        strange = !_mm256_testz_si256(lost, lost);
    }
#endif
    for (; j < width; ++j) {
        T so_far = folded[j];
        for (size_t a = 0; a < count; ++a) {
            const T value = Map::of(Read::of(x[j + a * apart]), from + j);
            if constexpr (Step::loses_nan) strange |= value != value;
            so_far = Step::of(so_far, value);
        }
        folded[j] = so_far;
    }
    return strange != 0;
}

// All of so many rows.
template <typename Read, typename Step, typename Map>
bool fold_all(const typename Read::Stored *x, size_t rows, size_t apart, size_t width,
              const Center<Map, typename Read::T> *from, typename Read::T *folded) {
    constexpr size_t MORE = 4 * AT_ONCE;  // of few, what is folded so far is long on its way
    bool strange = false;
    size_t k = 0;
    if (width <= FEW)
        for (; k + MORE <= rows; k += MORE)
            strange |= fold_rows<Read, Step, Map, MORE>(x + k * apart, apart, width, from, folded);
    for (; k + AT_ONCE <= rows; k += AT_ONCE)
        strange |= fold_rows<Read, Step, Map, AT_ONCE>(x + k * apart, apart, width, from, folded);
    for (; k < rows; ++k)
        strange |= fold_rows<Read, Step, Map, 1>(x + k * apart, apart, width, from, folded);
    return strange;
}

// Steps whose folds are the same in any order.
template <typename Step, typename T>
constexpr bool is_free = Step::loses_nan || std::is_integral_v<T>;

// Rows of few elements, one after another, as rows of many, which are folded at last.
template <typename Read, typename Step>
bool fold_narrow(const typename Read::Stored *x, size_t rows, size_t width,
                 typename Read::T *folded) {
    using T = typename Read::T;
    constexpr size_t MANY = 128;
    const size_t together = MANY / width, wide = together * width, count = rows / together;
    if (count < 2) return fold_all<Read, Step, Itself>(x, rows, width, width, folded, folded);
    T all[MANY];
    for (size_t j = 0; j < wide; ++j) all[j] = Step::start(Read::of(x[j]));
    bool strange = fold_all<Read, Step, Itself>(x, count, wide, wide, all, all);
    strange |= fold_all<As<T, T>, Step, Itself>(all, together, width, width, folded, folded);
    x += count * wide;
    return strange | fold_all<Read, Step, Itself>(x, rows % together, width, width, folded, folded);
}

// The same rows of bfloat16, which a compiler widens where there are many beside each other.
template <typename Read, typename Step, typename Map>
bool fold_widened(const typename Read::Stored *x, size_t rows, size_t width,
                  const Center<Map, typename Read::T> *from, typename Read::T *folded) {
    using T = typename Read::T;
    const size_t most = CHUNK / width;
    alignas(64) T some[CHUNK];
    bool strange = false;
    for (size_t row = 0; row < rows; row += most, x += most * width) {
        const size_t count = rows - row < most ? rows - row : most;
        for (size_t j = 0; j < count * width; ++j) some[j] = Read::of(x[j]);
        strange |= fold_all<As<T, T>, Step, Map>(some, count, width, width, from, folded);
    }
    return strange;
}

template <typename Read, typename Step, typename Map>
bool columns(const Lines &lines, typename Read::T *out) {
    using T = typename Read::T;
    constexpr size_t LONGEST = AT_ONCE * CHUNK;
    Source<Read, LONGEST> source(lines);
    const auto *centers = reinterpret_cast<const Center<Map, T> *>(lines.center);
    bool strange = false;
    for (size_t o = 0; o < lines.outer; ++o) {
        for (size_t left = 0; left < lines.inner; left += CHUNK) {
            const size_t width = lines.inner - left < CHUNK ? lines.inner - left : CHUNK;
            const size_t most = source.lies_here() ? lines.n : LONGEST / width;
            const size_t place = o * lines.inner + left;
            T *folded = out + place;
            const auto *from = centers == nullptr
                                   ? reinterpret_cast<const Center<Map, T> *>(folded)  // unread
                                   : centers + place;
            for (size_t row = 0; row < lines.n; row += most) {
                const size_t rows = lines.n - row < most ? lines.n - row : most;
                size_t apart;
                const auto *x = source.rows((o * lines.n + row) * lines.inner + left, rows, width,
                                            lines.inner, apart);
                if (row == 0)
                    for (size_t j = 0; j < width; ++j)
                        folded[j] = Step::start(Map::of(Read::of(x[j]), from + j));
                const bool is_narrow = width <= FEW && apart == width;
                if constexpr (is_free<Step, T> && std::is_same_v<Map, Itself>) {
                    if (is_narrow) {
                        strange |= fold_narrow<Read, Step>(x, rows, width, folded);
                        continue;
                    }
                } else if constexpr (std::is_same_v<Read, OfBfloat>) {
                    if (is_narrow) {
                        strange |= fold_widened<Read, Step, Map>(x, rows, width, from, folded);
                        continue;
                    }
                }
                strange |= fold_all<Read, Step, Map>(x, rows, apart, width, from, folded);
            }
        }
    }
    return strange;
}

// --- Rows of few elements ------------------------------------------------------------------------
// Of less than IN_ORDER each is folded in order.

constexpr size_t IN_ORDER = 16;

inline bool are_few(size_t n) { return n < IN_ORDER || (n % 8 == 0 && n <= 64); }

// Where a compiler knows how many they are, it folds rows beside each other.
template <typename Read, typename Step>
PROMOARRAY_CAST void fold_each(const typename Read::Stored *x, size_t n, size_t rows,
                               typename Read::T *out) {
    for (size_t row = 0; row < rows; ++row) {
        auto folded = Read::of(x[row * n]);
        for (size_t k = 1; k < n; ++k) folded = Step::of(folded, Read::of(x[row * n + k]));
        out[row] = folded;
    }
}

// At most CHUNK elements, which `are_few` in a row.
template <typename Read, typename Step>
void fold_few(const typename Read::Stored *x, size_t n, size_t rows, typename Read::T *out) {
    using T = typename Read::T;
    switch (n) {
    case 2: return fold_each<Read, Step>(x, 2, rows, out);
    case 3: return fold_each<Read, Step>(x, 3, rows, out);
    case 4: return fold_each<Read, Step>(x, 4, rows, out);
    case 8: return fold_each<Read, Step>(x, 8, rows, out);
    }
    if (n < IN_ORDER) return fold_each<Read, Step>(x, n, rows, out);
    T of_eight[CHUNK / 8];
    fold_each<Read, Step>(x, 8, rows * n / 8, of_eight);
    fold_few<As<T, T>, Step>(of_eight, n / 8, rows, out);
}

// Each is told of as many rows as there is room for: their elements, the first row, and how many.
template <typename Read, typename Each> void few_by_few(const Lines &lines, const Each &each) {
    Source<Read> source(lines);
    const size_t most = CHUNK / lines.n;
    for (size_t row = 0; row < lines.outer; row += most) {
        const size_t rows = lines.outer - row < most ? lines.outer - row : most;
        each(source.block(row * lines.n, rows * lines.n), row, rows);
    }
}

// The families that a fold is chosen from; nullptr is for what there is not.
Fold sum_fold(Type from, Type to, bool squares);         // sums.cpp: of floats
Fold extreme_fold(Type from, Type to, bool largest);     // extremes.cpp: of floats
Fold running_fold(Type type, bool products);             // running.cpp

// Of floats, read as they are: bfloat16 and float16 as float32.
template <template <typename> class Of>
auto float_fold(Type from, Type to) -> std::remove_const_t<decltype(Of<OfBfloat>::fold)> {
    if (is_float64(to)) return is_float64(from) ? Of<As<f64, f64>>::fold : nullptr;
    if (!is_float32(to)) return nullptr;
    if (is_bfloat16(from)) return Of<OfBfloat>::fold;
    if (is_float16(from)) return Of<OfHalf>::fold;
    return is_float32(from) ? Of<As<f32, f32>>::fold : nullptr;
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
