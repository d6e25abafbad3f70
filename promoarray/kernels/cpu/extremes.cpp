// The largest and the smallest of floats. Of NaN, and of zeros of two signs, NumPy's answer hangs on
// its instructions: then the result is not told.
#include "fold_lines.h"

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

// The lanes after n elements more, of which the last go into the first lane.
template <typename Read, typename Step, typename Flag>
void extreme_in(const typename Read::Stored *x, size_t n, typename Read::T *r, Flag *strange) {
    using T = typename Read::T;
    size_t i = 0;
#ifdef __F16C__
    if constexpr (std::is_same_v<Read, OfHalf>) {  // a compiler reads one at a time
        for (; i + LANES <= n; i += LANES)
            for (int k = 0; k < LANES; k += 8) {
                const __m256 value = eight(x + i + k, Read());
                const __m256 lost = _mm256_cmp_ps(value, value, _CMP_UNORD_Q);
                strange[k] |= _mm256_movemask_ps(lost);
                store(Step::of(_mm256_loadu_ps(r + k), value), r + k);
            }
    }
#endif
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; ++k) {
            const T value = Read::of(x[i + k]);
            strange[k] |= value != value;
            r[k] = Step::of(r[k], value);
        }
    for (; i < n; ++i) {
        const T value = Read::of(x[i]);
        strange[0] |= value != value;
        r[0] = Step::of(r[0], value);
    }
}

template <typename Read, typename Step> bool extreme_rows(const Lines &lines, typename Read::T *out) {
    using T = typename Read::T;
    using Flag = std::conditional_t<sizeof(T) == 4, i32, i64s>;
    Source<Read> source(lines);
    Flag strange[LANES] = {};
    for (size_t row = 0; row < lines.outer; ++row) {
        const T first = Read::of(*source.block(row * lines.n, 1));
        T r[LANES];
        for (int k = 0; k < LANES; ++k) r[k] = first;
        for (size_t at = 0; at < lines.n; at += CHUNK) {
            const size_t n = lines.n - at < CHUNK ? lines.n - at : CHUNK;
            extreme_in<Read, Step>(source.block(row * lines.n + at, n), n, r, strange);
        }
        for (int k = 1; k < LANES; ++k) r[0] = Step::of(r[0], r[k]);
        out[row] = r[0];
    }
    for (int k = 1; k < LANES; ++k) strange[0] |= strange[k];
    return strange[0] != 0;
}

template <typename Read, typename Step> bool extreme(const Lines &lines) {
    using T = typename Read::T;
    auto *out = reinterpret_cast<T *>(lines.result);
    if (lines.inner == 1 ? extreme_rows<Read, Step>(lines, out)
                         : columns<Read, Step, Itself>(lines, out))
        return true;
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
