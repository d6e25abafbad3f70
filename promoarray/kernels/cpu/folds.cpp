// Which loop folds what; and the folds of integers, of truth, and products of floats. Sums of floats,
// their extremes and running folds have files of their own.
#include "fold_lines.h"
#include "nan_bits.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

// --- Products of floats --------------------------------------------------------------------------

// Side by side each in order, as NumPy has it, and eight lines at a time, as one waits for itself.
template <typename Read> void product_rows(const Lines &lines, typename Read::T *out) {
    using T = typename Read::T;
    if (lines.n < IN_ORDER)
        return few_by_few<Read>(lines, [&](const auto *x, size_t row, size_t rows) {
            fold_few<Read, Product>(x, lines.n, rows, out + row);
        });
    constexpr size_t SHORT = 256;
    using Some = Source<Read, SHORT>;
    Some source[8] = {Some(lines), Some(lines), Some(lines), Some(lines),
                      Some(lines), Some(lines), Some(lines), Some(lines)};
    for (size_t row = 0; row < lines.outer; row += 8) {
        const int count = lines.outer - row < 8 ? (int)(lines.outer - row) : 8;
        T r[8] = {1, 1, 1, 1, 1, 1, 1, 1};
        for (size_t at = 0; at < lines.n; at += SHORT) {
            const size_t n = lines.n - at < SHORT ? lines.n - at : SHORT;
            const typename Read::Stored *x[8];
            for (int k = 0; k < count; ++k) x[k] = source[k].block((row + k) * lines.n + at, n);
            if (count == 8) {
                for (size_t i = 0; i < n; ++i)
                    for (int k = 0; k < 8; ++k) r[k] *= Read::of(x[k][i]);
                continue;
            }
            for (int k = 0; k < count; ++k)
                for (size_t i = 0; i < n; ++i) r[k] *= Read::of(x[k][i]);
        }
        for (int k = 0; k < count; ++k) out[row + k] = r[k];
    }
}

template <typename Read> bool float_product(const Lines &lines) {
    auto *out = reinterpret_cast<typename Read::T *>(lines.result);
    if (lines.inner == 1) product_rows<Read>(lines, out);
    else columns<Read, Product, Itself>(lines, out);
    return any_nan(out, count_of(lines, out));
}
template <typename Read> struct Products { static constexpr Fold fold = float_product<Read>; };

// --- NaN -----------------------------------------------------------------------------------------

template <typename Read> struct BitsOfNan { static constexpr FindNan fold = find_nan_bits<Read>; };

// --- Integers, in any order ----------------------------------------------------------------------

template <typename Read, typename Step>
void integer_rows(const Lines &lines, typename Read::T *out) {
    using T = typename Read::T;
    constexpr size_t LANES = 64 / sizeof(T);
    if (are_few(lines.n))
        return few_by_few<Read>(lines, [&](const auto *x, size_t row, size_t rows) {
            fold_few<Read, Step>(x, lines.n, rows, out + row);
        });
    Source<Read> source(lines);
    for (size_t row = 0; row < lines.outer; ++row) {
        T r[LANES];
        const T start = Step::start(Read::of(*source.block(row * lines.n, 1)));
        for (T &lane : r) lane = start;
        for (size_t at = 0; at < lines.n; at += CHUNK) {
            const size_t n = lines.n - at < CHUNK ? lines.n - at : CHUNK;
            const auto *x = source.block(row * lines.n + at, n);
            size_t i = 0;
            for (; i + LANES <= n; i += LANES)
                for (size_t k = 0; k < LANES; ++k) r[k] = Step::of(r[k], Read::of(x[i + k]));
            for (; i < n; ++i) r[0] = Step::of(r[0], Read::of(x[i]));
        }
        const size_t used = lines.n < LANES ? 1 : LANES;
        for (size_t k = 1; k < used; ++k) r[0] = Step::of(r[0], r[k]);
        out[row] = r[0];
    }
}

template <typename Read, typename Step> bool integers(const Lines &lines) {
    auto *out = reinterpret_cast<typename Read::T *>(lines.result);
    if (lines.inner == 1) integer_rows<Read, Step>(lines, out);
    else columns<Read, Step, Itself>(lines, out);
    return false;
}

// A sum of 64 bits of narrow integers is taken side by side in words, in which those of so many do
// not overflow.
constexpr size_t IN_WORDS = 128;

template <typename Read, typename Word> u64 sum_in(const typename Read::Stored *x, size_t n) {
    constexpr size_t LANES = 64 / sizeof(typename Read::Stored);
    Word r[LANES] = {};
    u64 sum = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t k = 0; k < LANES; ++k) r[k] = (Word)(r[k] + Read::of(x[i + k]));
    for (; i < n; ++i) sum += Read::of(x[i]);
    for (const Word lane : r) sum += (u64)lane;
    return sum;
}

template <typename Read, typename Word> bool narrow_sum(const Lines &lines) {
    auto *out = reinterpret_cast<u64 *>(lines.result);
    if (lines.inner != 1 || are_few(lines.n)) return integers<Read, Sum>(lines);
    Source<Read> source(lines);
    constexpr size_t LANES = 64 / sizeof(typename Read::Stored);
    const size_t most = source.lies_here() ? IN_WORDS * LANES : CHUNK;
    for (size_t row = 0; row < lines.outer; ++row) {
        out[row] = 0;
        for (size_t at = 0; at < lines.n; at += most) {
            const size_t n = lines.n - at < most ? lines.n - at : most;
            out[row] += sum_in<Read, Word>(source.block(row * lines.n + at, n), n);
        }
    }
    return false;
}

template <typename Step, typename Narrow, typename Word>
constexpr Fold to_64_bits = std::is_same_v<Step, Sum> ? narrow_sum<As<Narrow, u64>, Word>
                                                      : integers<As<Narrow, u64>, Step>;
template <typename Step>
constexpr Fold truth_to_64_bits = std::is_same_v<Step, Sum> ? narrow_sum<Truth<u8, u64>, u8>
                                                            : integers<Truth<u8, u64>, Step>;

// To 64 bits from any integer, else among integers of one width. Unsigned ones wrap as signed do.
template <typename Step> Fold integer_fold(Type from, Type to) {
    if (to.kind == Kind::boolean || to.bits < 8) return nullptr;
    if (to.bits == 64 && from.kind == Kind::boolean) return truth_to_64_bits<Step>;
    if (to.bits == 64 && from.bits >= 8) {
        constexpr Fold with_sign[4] = {to_64_bits<Step, i8, i16>, to_64_bits<Step, i16, i32>,
                                       integers<As<i32, u64>, Step>, integers<As<u64, u64>, Step>};
        constexpr Fold without[4] = {to_64_bits<Step, u8, u16>, to_64_bits<Step, u16, u32>,
                                     integers<As<u32, u64>, Step>, integers<As<u64, u64>, Step>};
        return (is_signed(from) ? with_sign : without)[row_of(from)];
    }
    if (from.kind == Kind::boolean || from.bits != to.bits) return nullptr;
    constexpr Fold own[4] = {integers<As<u8, u8>, Step>, integers<As<u16, u16>, Step>,
                             integers<As<u32, u32>, Step>, nullptr};
    return own[row_of(to)];
}

// Compared as they are.
template <typename Step> Fold extreme_integers(Type from, Type to) {
    if (!same_type(from, to) || to.kind == Kind::boolean || to.bits < 8) return nullptr;
    constexpr Fold with_sign[4] = {integers<As<i8, i8>, Step>, integers<As<i16, i16>, Step>,
                                   integers<As<i32, i32>, Step>, integers<As<i64s, i64s>, Step>};
    constexpr Fold without[4] = {integers<As<u8, u8>, Step>, integers<As<u16, u16>, Step>,
                                 integers<As<u32, u32>, Step>, integers<As<u64, u64>, Step>};
    return (is_signed(to) ? with_sign : without)[row_of(to)];
}

// --- Truth ---------------------------------------------------------------------------------------

// Whether one of n elements is what decides.
template <typename Read, bool decides> bool decided(const typename Read::Stored *x, size_t n) {
    typename Read::Stored found = 0;
    for (size_t i = 0; i < n; ++i) found |= (Read::of(x[i]) != 0) == decides;
    return found != 0;
}

// A true element decides `any`, one that is not decides `all`; side by side, none is read after it.
template <typename Read, typename Step, bool decides> bool truth(const Lines &lines) {
    auto *out = reinterpret_cast<u8 *>(lines.result);
    if (lines.inner != 1) {
        columns<Read, Step, Itself>(lines, out);
        return false;
    }
    Source<Read> source(lines);
    for (size_t row = 0; row < lines.outer; ++row) {
        bool found = false;
        for (size_t at = 0; at < lines.n && !found; at += CHUNK) {
            const size_t n = lines.n - at < CHUNK ? lines.n - at : CHUNK;
            found = decided<Read, decides>(source.block(row * lines.n + at, n), n);
        }
        out[row] = found == decides;
    }
    return false;
}

template <typename Step, bool decides> Fold truth_fold(Type from, Type to) {
    if (to.kind != Kind::boolean) return nullptr;
    if (is_bfloat16(from) || is_float16(from)) return truth<ShortTruth<u8>, Step, decides>;
    return from.kind == Kind::boolean ? truth<Truth<u8, u8>, Step, decides> : nullptr;
}

// How many are true, in as many bits as the elements have.
template <typename Read> bool count(const Lines &lines) {
    constexpr size_t size = sizeof(typename Read::Stored);
    using Long = std::conditional_t<size == 8, u64, u32>;
    using Word = std::conditional_t<size == 1, u8, std::conditional_t<size == 2, u16, Long>>;
    return narrow_sum<Read, Word>(lines);
}

Fold count_fold(Type from, Type to) {
    if (to.kind != Kind::boolean) return nullptr;
    if (from.kind == Kind::complex) {
        if (is_float32(part_of(from))) return count<PairTruth<u64, f32>>;
        return is_float64(part_of(from)) ? count<PairTruth<u64, f64>> : nullptr;
    }
    if (is_bfloat16(from) || is_float16(from)) return count<ShortTruth<u64>>;
    if (is_float32(from)) return count<Truth<f32, u64>>;
    if (is_float64(from)) return count<Truth<f64, u64>>;
    if (!is_integer(from) || (from.bits < 8 && from.kind != Kind::boolean)) return nullptr;
    constexpr Fold words[4] = {count<Truth<u8, u64>>, count<Truth<u16, u64>>,
                               count<Truth<u32, u64>>, count<Truth<u64, u64>>};
    return words[row_of(from)];
}

}  // namespace

FindNan find_nan(Type from, Type to) { return float_fold<BitsOfNan>(from, to); }

Fold find_fold(const char *name, Type from, Type to) {
    const auto is = [name](const char *other) { return std::strcmp(name, other) == 0; };
    if (is("any")) return truth_fold<Either, true>(from, to);
    if (is("all")) return truth_fold<Both, false>(from, to);
    if (is("count_nonzero")) return count_fold(from, to);
    if (from.kind == Kind::complex || to.kind == Kind::complex) {
        const bool squares = is("squares");
        return from.kind == to.kind && (squares || is("sum")) ? sum_fold(from, to, squares) : nullptr;
    }
    if (is("cumulative_sum")) return same_type(from, to) ? running_fold(to, false) : nullptr;
    if (is("cumulative_prod")) return same_type(from, to) ? running_fold(to, true) : nullptr;
    if (is_integer(to) != is_integer(from)) return nullptr;
    if (is("squares")) return sum_fold(from, to, true);
    if (is("sum")) return is_integer(to) ? integer_fold<Sum>(from, to) : sum_fold(from, to, false);
    if (is("prod"))
        return is_integer(to) ? integer_fold<Product>(from, to) : float_fold<Products>(from, to);
    if (is("max"))
        return is_integer(to) ? extreme_integers<Larger>(from, to) : extreme_fold(from, to, true);
    if (is("min"))
        return is_integer(to) ? extreme_integers<Smaller>(from, to) : extreme_fold(from, to, false);
    return nullptr;
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
