// Loops that fold. Floats are added and multiplied in NumPy's order, which is part of the result:
// side by side they are added pairwise, in blocks of 128 and eight at a time; all else goes in order.
#include "folds.h"

#include <type_traits>

#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

using i64s = std::int64_t;
using std::size_t;

constexpr size_t CHUNK = 2048;  // elements that are cast at a time: a first-level cache holds them
constexpr int LANES = 32;

// --- What is read --------------------------------------------------------------------------------

template <typename Stored_, typename T_> struct As {
    using Stored = Stored_;
    using T = T_;
    static T of(Stored x) { return (T)x; }
};
template <typename T_> struct AsTruth {  // a bool may be any byte
    using Stored = u8;
    using T = T_;
    static T of(Stored x) { return (T)(x != 0); }
};
struct OfBfloat {
    using Stored = u16;
    using T = f32;
    static T of(Stored x) { return as_float((u32)x << 16); }
};
struct ShortTruth {  // of bfloat16 and float16
    using Stored = u16;
    using T = u8;
    static T of(Stored x) { return (T)((x & 0x7fff) != 0); }
};
#ifdef __F16C__
struct OfHalf {
    using Stored = u16;
    using T = f32;
    static T of(Stored x) { return _cvtsh_ss(x); }
};

// Eight elements in a register.
PROMOARRAY_CAST __m256 eight(const f32 *x, As<f32, f32>) { return _mm256_loadu_ps(x); }
PROMOARRAY_CAST __m256 eight(const u16 *x, OfBfloat) {
    return Bfloat::read(_mm_loadu_si128(reinterpret_cast<const __m128i *>(x)));
}
PROMOARRAY_CAST __m256 eight(const u16 *x, OfHalf) {
    return Half::read(_mm_loadu_si128(reinterpret_cast<const __m128i *>(x)));
}
#endif

// The elements of lines, as they are stored or cast.
template <typename Read, size_t LONGEST = CHUNK> class Source {
   public:
    using Stored = typename Read::Stored;
    Source(const Lines &lines) : lines_(lines) {}
    // At most LONGEST of them, until the next are asked for.
    const Stored *block(size_t at, size_t n) {
        const char *from = lines_.source + at * lines_.source_size;
        if (lines_.enter == nullptr) return reinterpret_cast<const Stored *>(from);
        lines_.enter(from, scratch_, n, *lines_.enter_work);
        return reinterpret_cast<const Stored *>(scratch_);
    }
    // The same of rows of a width, each beginning `inner` elements after the one before.
    const Stored *rows(size_t at, size_t count, size_t width, size_t inner, size_t &apart) {
        apart = lines_.enter == nullptr ? inner : width;
        if (apart == inner) return block(at, count * width);
        for (size_t k = 0; k < count; ++k)
            lines_.enter(lines_.source + (at + k * inner) * lines_.source_size,
                         scratch_ + k * width * sizeof(Stored), width, *lines_.enter_work);
        return reinterpret_cast<const Stored *>(scratch_);
    }

   private:
    const Lines &lines_;
    alignas(64) char scratch_[LONGEST * sizeof(Stored)];
};

// --- Sums of floats side by side -----------------------------------------------------------------

struct Itself {
    template <typename T> Itself(const T *, size_t) {}
    template <typename V> V operator()(V x) const { return x; }
};
template <typename T> struct Squared {
    T center;
    Squared(const T *centers, size_t i) : center(centers[i]) {}
    template <typename V> V operator()(V x) const { return (x - center) * (x - center); }
};

// The sums of every eighth of n elements, from each of the first eight on.
template <typename Read, typename Map, typename T>
PROMOARRAY_CAST void add_eights(const typename Read::Stored *x, size_t n, const Map &map, T *sums) {
#ifdef __F16C__
    if constexpr (sizeof(T) == 4) {
        __m256 r = map(eight(x, Read()));
        for (size_t i = 8; i < n; i += 8) r += map(eight(x + i, Read()));
        _mm256_storeu_ps(sums, r);
        return;
    }
#endif
    for (int k = 0; k < 8; ++k) sums[k] = map(Read::of(x[k]));
    for (size_t i = 8; i < n; i += 8)
        for (int k = 0; k < 8; ++k) sums[k] += map(Read::of(x[i + k]));
}

template <typename Read, typename Map>
typename Read::T pairwise_in(const typename Read::Stored *x, size_t n, const Map &map) {
    using T = typename Read::T;
    if (n < 8) {
        T sum = (T)-0.0;
        for (size_t i = 0; i < n; ++i) sum += map(Read::of(x[i]));
        return sum;
    }
    if (n > 128) {
        const size_t half = n / 2 - n / 2 % 8;
        return pairwise_in<Read>(x, half, map) + pairwise_in<Read>(x + half, n - half, map);
    }
    T r[8];
    size_t i = n - n % 8;
    add_eights<Read>(x, i, map, r);
    T sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
    for (; i < n; ++i) sum += map(Read::of(x[i]));
    return sum;
}

template <typename Read, typename Map>
typename Read::T pairwise(Source<Read> &source, size_t at, size_t n, const Map &map) {
    if (n <= CHUNK) return pairwise_in<Read>(source.block(at, n), n, map);
    const size_t half = n / 2 - n / 2 % 8;
    const auto left = pairwise(source, at, half, map);
    return left + pairwise(source, at + half, n - half, map);
}

template <typename Read, typename Map>
void sum_rows(const Lines &lines, typename Read::T *out) {
    Source<Read> source(lines);
    const auto *centers = reinterpret_cast<const typename Read::T *>(lines.center);
    for (size_t i = 0; i < lines.outer; ++i)
        out[i] = 0 + pairwise(source, i * lines.n, lines.n, Map(centers, i));
}

// --- All else, in order --------------------------------------------------------------------------

// `start` is what the first element is folded with. NumPy's sum begins with 0, which is why none is
// -0.0.
struct Sum {
    static constexpr bool loses_nan = false;
    template <typename T> static T of(T a, T b) { return (T)(a + b); }
    template <typename T> static T start(T = 0) { return (T)0; }
};
struct Product {
    static constexpr bool loses_nan = false;
    template <typename T> static T of(T a, T b) { return (T)(a * b); }
    template <typename T> static T start(T = 0) { return (T)1; }
};
struct Larger {
    static constexpr bool loses_nan = true;
    template <typename T> static T of(T a, T b) { return b > a ? b : a; }
    template <typename T> static T start(T first) { return first; }
};
struct Smaller {
    static constexpr bool loses_nan = true;
    template <typename T> static T of(T a, T b) { return b < a ? b : a; }
    template <typename T> static T start(T first) { return first; }
};
struct Either {
    static constexpr bool loses_nan = false;
    template <typename T> static T of(T a, T b) { return (T)(a | b); }
    template <typename T> static T start(T = 0) { return (T)0; }
};
struct Both {
    static constexpr bool loses_nan = false;
    template <typename T> static T of(T a, T b) { return (T)(a & b); }
    template <typename T> static T start(T = 0) { return (T)1; }
};

// Products of floats side by side: each in order, and eight lines at a time, as one waits for itself.
template <typename Read> void product_rows(const Lines &lines, typename Read::T *out) {
    using T = typename Read::T;
    constexpr size_t SHORT = 256;
    Source<Read, SHORT> source[8] = {lines, lines, lines, lines, lines, lines, lines, lines};
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

// Integers side by side, in any order.
template <typename Read, typename Step>
void integer_rows(const Lines &lines, typename Read::T *out) {
    using T = typename Read::T;
    Source<Read> source(lines);
    for (size_t row = 0; row < lines.outer; ++row) {
        T r[8];
        for (int k = 0; k < 8; ++k) r[k] = Step::template start<T>();
        for (size_t at = 0; at < lines.n; at += CHUNK) {
            const size_t n = lines.n - at < CHUNK ? lines.n - at : CHUNK;
            const auto *x = source.block(row * lines.n + at, n);
            size_t i = 0;
            for (; i + 8 <= n; i += 8)
                for (int k = 0; k < 8; ++k) r[k] = Step::of(r[k], Read::of(x[i + k]));
            for (; i < n; ++i) r[0] = Step::of(r[0], Read::of(x[i]));
        }
        for (int k = 1; k < 8; ++k) r[0] = Step::of(r[0], r[k]);
        out[row] = r[0];
    }
}

// Lines that lie beside each other: what is folded so far and four elements more. Whether there was a
// NaN, if the step does not keep it.
template <typename Read, typename Step, typename Map>
bool columns(const Lines &lines, typename Read::T *out) {
    using T = typename Read::T;
    constexpr size_t AT_ONCE = 4;
    const bool casts = lines.enter != nullptr;
    Source<Read> source(lines);
    const auto *centers = reinterpret_cast<const T *>(lines.center);
    const size_t widest = casts ? CHUNK / AT_ONCE : CHUNK;
    int strange = 0;
    for (size_t o = 0; o < lines.outer; ++o) {
        for (size_t left = 0; left < lines.inner; left += widest) {
            const size_t width = lines.inner - left < widest ? lines.inner - left : widest;
            const size_t most = casts ? CHUNK / width : lines.n;
            T *PROMOARRAY_RESTRICT folded = out + o * lines.inner + left;
            const T *from = centers == nullptr ? nullptr : centers + o * lines.inner + left;
            const auto step = [&strange](T before, T value) {
                if constexpr (Step::loses_nan) strange |= value != value;
                return Step::of(before, value);
            };
            for (size_t row = 0; row < lines.n; row += most) {
                const size_t rows = lines.n - row < most ? lines.n - row : most;
                size_t apart;  // elements from one row to the next
                const auto *x = source.rows((o * lines.n + row) * lines.inner + left, rows, width,
                                            lines.inner, apart);
                size_t k = 0;
                if (row == 0) {
                    for (size_t j = 0; j < width; ++j)
                        folded[j] = step(Step::template start<T>(Map(from, j)(Read::of(x[j]))),
                                         Map(from, j)(Read::of(x[j])));
                    k = 1;
                }
                for (; k + AT_ONCE <= rows; k += AT_ONCE) {
                    const auto *y = x + k * apart;
                    for (size_t j = 0; j < width; ++j) {
                        const Map map(from, j);
                        T so_far = folded[j];
                        for (size_t a = 0; a < AT_ONCE; ++a)
                            so_far = step(so_far, map(Read::of(y[j + a * apart])));
                        folded[j] = so_far;
                    }
                }
                for (; k < rows; ++k) {
                    const auto *y = x + k * apart;
                    for (size_t j = 0; j < width; ++j)
                        folded[j] = step(folded[j], Map(from, j)(Read::of(y[j])));
                }
            }
        }
    }
    return strange != 0;
}

// --- Extremes of floats --------------------------------------------------------------------------

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
    using T = typename Read::T;
    return found_in<Read>(lines, [](const typename Read::Stored *x, size_t n) {
        int found = 0;
        for (size_t i = 0; i < n; ++i) {
            const T value = Read::of(x[i]);
            if constexpr (sizeof(T) == 4) found |= as_bits(value) == 0x80000000u;
            else found |= as_bits(value) == 0x8000000000000000ull;
        }
        return found != 0;
    });
}

template <typename T> bool any_nan(const T *x, size_t n) {
    int found = 0;
    for (size_t i = 0; i < n; ++i) found |= x[i] != x[i];
    return found != 0;
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
            const auto *x = source.block(row * lines.n + at, n);
            size_t i = 0;
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
        for (int k = 1; k < LANES; ++k) r[0] = Step::of(r[0], r[k]);
        out[row] = r[0];
    }
    for (int k = 1; k < LANES; ++k) strange[0] |= strange[k];
    return strange[0] != 0;
}

// --- The folds -----------------------------------------------------------------------------------

template <typename T> size_t count_of(const Lines &lines, const T *) { return lines.outer * lines.inner; }

template <typename Read, typename Map> bool float_sum(const Lines &lines) {
    auto *out = reinterpret_cast<typename Read::T *>(lines.result);
    if (lines.inner == 1) sum_rows<Read, Map>(lines, out);
    else columns<Read, Sum, Map>(lines, out);
    return any_nan(out, count_of(lines, out));
}

template <typename Read> bool float_product(const Lines &lines) {
    auto *out = reinterpret_cast<typename Read::T *>(lines.result);
    if (lines.inner == 1) product_rows<Read>(lines, out);
    else columns<Read, Product, Itself>(lines, out);
    return any_nan(out, count_of(lines, out));
}

template <typename Read, typename Step> bool extreme(const Lines &lines) {
    using T = typename Read::T;
    auto *out = reinterpret_cast<T *>(lines.result);
    if (lines.inner == 1) {
        if (extreme_rows<Read, Step>(lines, out)) return true;
    } else {
        if (columns<Read, Step, Itself>(lines, out)) return true;
    }
    bool zero = false;
    for (size_t i = 0; i < count_of(lines, out); ++i) zero |= out[i] == 0;
    return zero && has_negative_zero<Read>(lines);
}

template <typename Read, typename Step> bool integers(const Lines &lines) {
    auto *out = reinterpret_cast<typename Read::T *>(lines.result);
    if (lines.inner == 1) integer_rows<Read, Step>(lines, out);
    else columns<Read, Step, Itself>(lines, out);
    return false;
}

// --- Running sums and products -------------------------------------------------------------------

template <typename T> class Target {
   public:
    explicit Target(const Lines &lines) : lines_(lines) {}
    T *block(size_t at) {
        return lines_.leave != nullptr ? scratch_
                                       : reinterpret_cast<T *>(lines_.result + at * sizeof(T));
    }
    void write(size_t at, size_t n) {
        if (lines_.leave != nullptr)
            lines_.leave(scratch_, lines_.result + at * lines_.result_size, n, *lines_.leave_work);
    }

   private:
    const Lines &lines_;
    alignas(64) T scratch_[CHUNK];
};

template <typename T, typename Step> bool running_rows(const Lines &lines) {
    Source<As<T, T>> source(lines);
    Target<T> target(lines);
    bool strange = false;
    for (size_t row = 0; row < lines.outer; ++row) {
        T last = 0;
        for (size_t at = 0; at < lines.n; at += CHUNK) {
            const size_t n = lines.n - at < CHUNK ? lines.n - at : CHUNK;
            const size_t to = row * (lines.n + lines.initial) + lines.initial + at;
            const T *x = source.block(row * lines.n + at, n);
            T *PROMOARRAY_RESTRICT y = target.block(to);
            size_t i = 0;
            if (at == 0) y[i++] = last = x[0];
            for (; i < n; ++i) y[i] = last = Step::of(last, x[i]);
            target.write(to, n);
        }
        strange |= last != last;
    }
    return strange;
}

template <typename T, typename Step> bool running_columns(const Lines &lines) {
    Source<As<T, T>> source(lines);
    Target<T> target(lines);
    bool strange = false;
    alignas(64) T last[CHUNK];
    for (size_t o = 0; o < lines.outer; ++o) {
        for (size_t left = 0; left < lines.inner; left += CHUNK) {
            const size_t width = lines.inner - left < CHUNK ? lines.inner - left : CHUNK;
            for (size_t row = 0; row < lines.n; ++row) {
                const size_t lines_before = o * (lines.n + lines.initial) + lines.initial + row;
                const size_t to = lines_before * lines.inner + left;
                const T *x = source.block((o * lines.n + row) * lines.inner + left, width);
                T *PROMOARRAY_RESTRICT y = target.block(to);
                if (row == 0) std::memcpy(last, x, width * sizeof(T));
                else for (size_t j = 0; j < width; ++j) last[j] = Step::of(last[j], x[j]);
                std::memcpy(y, last, width * sizeof(T));
                target.write(to, width);
            }
            strange |= any_nan(last, width);
        }
    }
    return strange;
}

template <typename T, typename Step> bool running(const Lines &lines) {
    return lines.inner == 1 ? running_rows<T, Step>(lines) : running_columns<T, Step>(lines);
}

template <typename Step> Fold running_fold(Type t) {
    if (is_float32(t)) return running<f32, Step>;
    if (is_float64(t)) return running<f64, Step>;
    if (!is_integer(t) || t.kind == Kind::boolean || t.bits < 8) return nullptr;
    constexpr Fold rows[4] = {running<u8, Step>, running<u16, Step>, running<u32, Step>,
                              running<u64, Step>};
    return rows[row_of(t)];
}

// --- The choice ----------------------------------------------------------------------------------

// To 64 bits from any integer, else among integers of one width. Unsigned ones wrap as signed do.
template <typename Step> Fold integer_fold(Type from, Type to) {
    if (to.kind == Kind::boolean || to.bits < 8) return nullptr;
    if (to.bits == 64 && from.kind == Kind::boolean) return integers<AsTruth<u64>, Step>;
    if (to.bits == 64 && from.bits >= 8) {
        constexpr Fold with_sign[4] = {integers<As<i8, u64>, Step>, integers<As<i16, u64>, Step>,
                                       integers<As<i32, u64>, Step>, integers<As<u64, u64>, Step>};
        constexpr Fold without[4] = {integers<As<u8, u64>, Step>, integers<As<u16, u64>, Step>,
                                     integers<As<u32, u64>, Step>, integers<As<u64, u64>, Step>};
        return (is_signed(from) ? with_sign : without)[row_of(from)];
    }
    if (from.kind == Kind::boolean || from.bits != to.bits) return nullptr;
    constexpr Fold own[4] = {integers<As<u8, u8>, Step>, integers<As<u16, u16>, Step>,
                             integers<As<u32, u32>, Step>, nullptr};
    return own[row_of(to)];
}

template <template <typename> class Of> Fold float_fold(Type from, Type to) {
    if (is_float64(to)) return is_float64(from) ? Of<As<f64, f64>>::fold : nullptr;
    if (!is_float32(to)) return nullptr;
    if (is_bfloat16(from)) return Of<OfBfloat>::fold;
    return is_float32(from) ? Of<As<f32, f32>>::fold : nullptr;
}

// float16 is read as it is where elements lie side by side; the others are cast first.
template <template <typename> class Of> Fold sum_fold(Type from, Type to, bool by_rows) {
#ifdef __F16C__
    if (by_rows && is_float16(from) && is_float32(to)) return Of<OfHalf>::fold;
#endif
    (void)by_rows;
    return float_fold<Of>(from, to);
}

template <typename Read> struct Sums { static constexpr Fold fold = float_sum<Read, Itself>; };
template <typename Read> struct Squares {
    static constexpr Fold fold = float_sum<Read, Squared<typename Read::T>>;
};
template <typename Read> struct Products { static constexpr Fold fold = float_product<Read>; };
template <typename Read> struct Largest { static constexpr Fold fold = extreme<Read, Larger>; };
template <typename Read> struct Smallest { static constexpr Fold fold = extreme<Read, Smaller>; };

template <typename Step> Fold truth_fold(Type from, Type to) {
    if (to.kind != Kind::boolean) return nullptr;
    if (is_bfloat16(from) || is_float16(from)) return integers<ShortTruth, Step>;
    return from.kind == Kind::boolean ? integers<AsTruth<u8>, Step> : nullptr;
}

}  // namespace

Fold find_fold(const char *name, Type from, Type to, bool by_rows) {
    const auto is = [name](const char *other) { return std::strcmp(name, other) == 0; };
    if (is("any")) return truth_fold<Either>(from, to);
    if (is("all")) return truth_fold<Both>(from, to);
    if (is("cumulative_sum")) return same_type(from, to) ? running_fold<Sum>(to) : nullptr;
    if (is("cumulative_prod")) return same_type(from, to) ? running_fold<Product>(to) : nullptr;
    if (is_integer(to) != is_integer(from)) return nullptr;
    if (is("sum")) return is_integer(to) ? integer_fold<Sum>(from, to) : sum_fold<Sums>(from, to, by_rows);
    if (is("prod"))
        return is_integer(to) ? integer_fold<Product>(from, to) : float_fold<Products>(from, to);
    if (is("squares")) return sum_fold<Squares>(from, to, by_rows);
    if (is("max")) return float_fold<Largest>(from, to);
    if (is("min")) return float_fold<Smallest>(from, to);
    return nullptr;
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
