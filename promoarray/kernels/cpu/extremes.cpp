// The largest and the smallest of floats. Of NaN, and of zeros of two signs, NumPy's answer hangs on
// its instructions: then the result is not told.
#include <vector>

#include "fold_lines.h"
#include "nan_bits.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

constexpr int LANES = 32;

// Each function is told n elements at a time, of whatever lines.
template <typename Read, typename Look> bool found_in(const Lines &lines, const Look &look) {
    Source<Read> source(lines);
    const size_t count = lines.outer * lines.n * lines.inner;
    for (size_t at = 0; at < count; at += CHUNK) {
        const size_t n = count - at < CHUNK ? count - at : CHUNK;
        if (look(source.block(at, n), n)) return true;
    }
    return false;
}

template <typename Read> bool has_negative_zero(const Lines &lines) {
    return found_in<Read>(lines, [](const typename Read::Stored *x, size_t n) {
        int found = 0;
        for (size_t i = 0; i < n; ++i) {
            if constexpr (sizeof x[i] == 2) found |= x[i] == 0x8000;
            else if constexpr (sizeof x[i] == 4) found |= as_bits(x[i]) == 0x80000000u;
            else found |= as_bits(x[i]) == 0x8000000000000000ull;
        }
        return found != 0;
    });
}

// --- Of 16 bits, by their codes ------------------------------------------------------------------
// As integers in the order of the numbers: -0.0 stands below 0.0, NaN beyond the infinities. Ranks
// of ranks are codes.

i16 rank_of(u16 code) { return (i16)(code ^ ((i16)code >> 15 & 0x7fff)); }
struct OfRank {
    using Stored = u16;
    using T = i16;
    static T of(Stored x) { return rank_of(x); }
};

// Both, as a NaN of either sign stands beyond one of them.
void extremes_in(const u16 *x, size_t n, i16 &least, i16 &largest) {
    i16 low = least, high = largest;
    for (size_t i = 0; i < n; ++i) {
        const i16 rank = rank_of(x[i]);
        low = Smaller::of(low, rank);
        high = Larger::of(high, rank);
    }
    least = low;
    largest = high;
}

// Whether one of them is NaN.
template <typename Read> bool is_strange(i16 least, i16 largest) {
    constexpr i16 infinity = std::is_same_v<Read, OfBfloat> ? 0x7f80 : 0x7c00;
    return largest > infinity || least < rank_of((u16)(infinity | 0x8000));
}

template <typename Read, typename Step> bool few_shorts(const Lines &lines, f32 *out) {
    i16 low = 0, high = 0;
    few_by_few<OfRank>(lines, [&](const u16 *x, size_t row, size_t rows) {
        i16 ranks[CHUNK];
        extremes_in(x, rows * lines.n, low, high);
        fold_few<OfRank, Step>(x, lines.n, rows, ranks);
        for (size_t k = 0; k < rows; ++k) out[row + k] = Read::of((u16)rank_of((u16)ranks[k]));
    });
    return is_strange<Read>(low, high);
}

template <typename Read, typename Step> bool short_rows(const Lines &lines, f32 *out) {
    if (are_few(lines.n)) return few_shorts<Read, Step>(lines, out);
    Source<Read> source(lines);
    const size_t most = source.lies_here() ? lines.n : CHUNK;
    bool strange = false;
    for (size_t row = 0; row < lines.outer; ++row) {
        i16 low = rank_of(*source.block(row * lines.n, 1)), high = low;
        for (size_t at = 0; at < lines.n; at += most) {
            const size_t n = lines.n - at < most ? lines.n - at : most;
            extremes_in(source.block(row * lines.n + at, n), n, low, high);
        }
        strange |= is_strange<Read>(low, high);
        out[row] = Read::of((u16)rank_of((u16)Step::of(low, high)));
    }
    return strange;
}

// --- Of 32 and 64 bits ---------------------------------------------------------------------------

// The lanes after n elements more, of which the last go into the first lane; all of few do.
template <typename Step, typename T, typename Flag>
void extreme_in(const T *x, size_t n, T *r, Flag *strange) {
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; ++k) {
            strange[k] |= x[i + k] != x[i + k];
            r[k] = Step::of(r[k], x[i + k]);
        }
    for (; i < n; ++i) {
        strange[0] |= x[i] != x[i];
        r[0] = Step::of(r[0], x[i]);
    }
}

template <typename T, typename Step> bool wide_rows(const Lines &lines, T *out) {
    using Flag = std::conditional_t<sizeof(T) == 4, i32, i64s>;
    if (are_few(lines.n)) {
        bool found = false;
        few_by_few<As<T, T>>(lines, [&](const T *x, size_t row, size_t rows) {
            found |= any_nan(x, rows * lines.n);
            fold_few<As<T, T>, Step>(x, lines.n, rows, out + row);
        });
        return found;
    }
    Source<As<T, T>> source(lines);
    Flag strange[LANES] = {};
    for (size_t row = 0; row < lines.outer; ++row) {
        const T first = *source.block(row * lines.n, 1);
        T r[LANES];
        for (int k = 0; k < LANES; ++k) r[k] = first;
        for (size_t at = 0; at < lines.n; at += CHUNK) {
            const size_t n = lines.n - at < CHUNK ? lines.n - at : CHUNK;
            extreme_in<Step>(source.block(row * lines.n + at, n), n, r, strange);
        }
        for (int half = lines.n < LANES ? 0 : LANES / 2; half > 0; half /= 2)
            for (int k = 0; k < half; ++k) r[k] = Step::of(r[k], r[k + half]);
        out[row] = r[0];
    }
    for (int k = 1; k < LANES; ++k) strange[0] |= strange[k];
    return strange[0] != 0;
}

template <typename Read, typename Step>
bool extreme_rows(const Lines &lines, typename Read::T *out) {
    if constexpr (sizeof(typename Read::Stored) == 2) return short_rows<Read, Step>(lines, out);
    else return wide_rows<typename Read::T, Step>(lines, out);
}

// --- NaN -----------------------------------------------------------------------------------------

// Whether all NaN are the one that NumPy itself makes of some. Operands that need no cast are NumPy's:
// it takes one pass over them, as it takes here to find out.
template <typename Read> bool has_usual_nan(const Lines &lines) {
    using T = typename Read::T;
    if (std::is_same_v<Read, As<T, T>> && lines.enter == nullptr) return false;
    const auto [each, any] = find_nan_bits<Read>(lines);
    return each == any && each == NanCodes<Read>::usual;
}

// The last NaN of a line, else its first element.
struct LastNan {
    static constexpr bool loses_nan = false;
    template <typename V> static V of(V a, V b) { return b != b ? b : a; }
#ifdef __F16C__
    static __m256 of(__m256 a, __m256 b) {
        return _mm256_blendv_ps(a, b, _mm256_cmp_ps(b, b, _CMP_UNORD_Q));
    }
#endif
    template <typename V> static V start(V first) { return first; }
};

// Lines that have a NaN are that.
template <typename Read> void set_nan(const Lines &lines, typename Read::T *out) {
    using T = typename Read::T;
    using Codes = NanCodes<Read>;
    if (lines.inner != 1) {
        std::vector<T> last(count_of(lines, out));
        columns<Read, LastNan, Itself>(lines, last.data());
        for (size_t i = 0; i < last.size(); ++i) out[i] = last[i] != last[i] ? last[i] : out[i];
        return;
    }
    Source<Read> source(lines);
    for (size_t row = 0; row < lines.outer; ++row) {
        typename Codes::Word found = 0;
        for (size_t at = 0; at < lines.n; at += CHUNK) {
            const size_t n = lines.n - at < CHUNK ? lines.n - at : CHUNK;
            const auto *const x = source.block(row * lines.n + at, n);
            for (size_t i = 0; i < n; ++i) found |= Codes::of_nan(Codes::bits_of(x[i]));
        }
        if (found != 0) out[row] = std::numeric_limits<T>::quiet_NaN();
    }
}

template <typename Read, typename Step> bool extreme(const Lines &lines) {
    using T = typename Read::T;
    auto *out = reinterpret_cast<T *>(lines.result);
    if (lines.inner == 1 ? extreme_rows<Read, Step>(lines, out)
                         : columns<Read, Step, Itself>(lines, out)) {
        if (!has_usual_nan<Read>(lines)) return true;
        set_nan<Read>(lines, out);
    }
    bool zero = false;
    for (size_t i = 0; i < count_of(lines, out); ++i) zero |= out[i] == 0;
    return zero && has_negative_zero<Read>(lines);
}

template <typename Read> struct Largest { static constexpr Fold fold = extreme<Read, Larger>; };
template <typename Read> struct Smallest { static constexpr Fold fold = extreme<Read, Smaller>; };

}  // namespace

Fold extreme_fold(Type from, Type to, bool largest) {
    return largest ? float_fold<Largest>(from, to) : float_fold<Smallest>(from, to);
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
