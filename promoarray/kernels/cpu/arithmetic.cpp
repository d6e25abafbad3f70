// Operations that NumPy has not, element by element: on floats of 16 bits what the machine does with
// one instruction, computed with as float32 and rounded once more, to Inf beyond the largest number,
// or by their codes; and products and sums that are rounded once. A step is written once, for numbers
// and for registers of them. A result may be the very memory of an operand: an element is read before
// it is written.
#include <cmath>
#include <type_traits>
#include <utility>

#include "loop.h"

// Before a loop of which no element is about another.
#if defined(__clang__)
#define PROMOARRAY_APART _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define PROMOARRAY_APART _Pragma("GCC ivdep")
#else
#define PROMOARRAY_APART
#endif

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

// Floats of 16 bits that are compared and chosen by their codes, as many at a time as there are
// integers of 16 bits in a register. NaN keeps its sign and no payload where it is a result, as in
// cast.h.
template <int infinity_, int nan_, int one_>
struct Code {
    static constexpr u16 infinity = infinity_, nan = nan_, one = one_;
    u16 bits;

    u16 magnitude() const { return bits & 0x7fff; }
    bool is_nan() const { return magnitude() > infinity; }
    // In the order of the numbers; both zeros are 0.
    i16 rank() const {
        const i16 sign = (i16)((i16)bits >> 15);
        return (i16)((i16)((i16)magnitude() ^ sign) - sign);
    }
    u16 quieted() const { return is_nan() ? (u16)((bits & 0x8000) | nan) : bits; }

    friend bool numbers(Code x, Code y) { return !x.is_nan() & !y.is_nan(); }
    friend bool operator<(Code x, Code y) { return (x.rank() < y.rank()) & numbers(x, y); }
    friend bool operator<=(Code x, Code y) { return (x.rank() <= y.rank()) & numbers(x, y); }
    friend bool operator>(Code x, Code y) { return y < x; }
    friend bool operator==(Code x, Code y) { return (x.rank() == y.rank()) & numbers(x, y); }
    friend bool operator!=(Code x, Code y) { return !(x == y); }
};
using HalfCode = Code<0x7c00, 0x7e00, 0x3c00>;
using BfloatCode = Code<0x7f80, 0x7fc0, 0x3f80>;

using Run = void (*)(const void *const *operands, void *out, std::size_t n);

// What a step says of itself: of how many operands it is, and whether it answers bools.
template <int count, bool test = false>
struct StepOf {
    static constexpr int operands = count;
    static constexpr bool tests = test;
};

#ifdef __F16C__
using Floats = __m256;

// Two registers, whose numbers are in an order that their format chooses.
struct Pair { Floats first, second; };
constexpr std::size_t pair_size = 2 * sizeof(Floats) / sizeof(f32);

// NaN is quiet when it is read, as after every cast of ours: a signalling one would be an invalid
// operation. It has no payload any more, either, and so none in what is written.
template <typename T>
PROMOARRAY_CAST __m256i read_plain(const u16 *x) {
    const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(x));
    const __m256i magnitude = _mm256_and_si256(codes, _mm256_set1_epi16(0x7fff));
    const __m256i is_nan = _mm256_cmpgt_epi16(magnitude, _mm256_set1_epi16((short)T::infinity));
    const __m256i sign = _mm256_and_si256(codes, _mm256_set1_epi16((short)0x8000));
    const __m256i nan = _mm256_or_si256(sign, _mm256_set1_epi16((short)T::nan));
    return _mm256_blendv_epi8(codes, nan, is_nan);
}

template <typename T> struct Short;

template <> struct Short<HalfCode> {  // in order
    static PROMOARRAY_CAST Pair load(const u16 *x) {
        const __m256i codes = read_plain<HalfCode>(x);
        return {_mm256_cvtph_ps(_mm256_castsi256_si128(codes)),
                _mm256_cvtph_ps(_mm256_extracti128_si256(codes, 1))};
    }
    static PROMOARRAY_CAST void store(Pair made, u16 *to) {
        auto *const out = reinterpret_cast<__m128i *>(to);
        _mm_storeu_si128(out, _mm256_cvtps_ph(made.first, _MM_FROUND_TO_NEAREST_INT));
        _mm_storeu_si128(out + 1, _mm256_cvtps_ph(made.second, _MM_FROUND_TO_NEAREST_INT));
    }
};

// In the upper half.
PROMOARRAY_CAST __m256i rounded_to_bfloat(__m256 x) {
    const __m256i bits = _mm256_castps_si256(x), upper = _mm256_srli_epi32(bits, 16);
    const __m256i odd = _mm256_and_si256(upper, _mm256_set1_epi32(1));
    return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
}

// Every other number from the first on, and from the second on: nothing changes places.
template <> struct Short<BfloatCode> {
    static PROMOARRAY_CAST Pair load(const u16 *x) {
        const __m256i codes = read_plain<BfloatCode>(x);
        const __m256i upper = _mm256_set1_epi32((int)0xffff0000);
        return {_mm256_castsi256_ps(_mm256_slli_epi32(codes, 16)),
                _mm256_castsi256_ps(_mm256_and_si256(codes, upper))};
    }
    static PROMOARRAY_CAST void store(Pair made, u16 *to) {
        const __m256i first = _mm256_srli_epi32(rounded_to_bfloat(made.first), 16);
        const __m256i second = rounded_to_bfloat(made.second);
        const __m256i both = _mm256_blend_epi16(first, second, 0xaa);
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(to), both);
    }
};

// Have memory brought that is read soon.
PROMOARRAY_CAST void ask_for(const u16 *x, std::size_t n) {
    for (std::size_t k = 0; k < n; k += 64 / sizeof(u16))
        _mm_prefetch(reinterpret_cast<const char *>(x + k), _MM_HINT_T0);
}

// What a step makes of two registers from each operand.
template <typename Step, typename T, std::size_t... I>
PROMOARRAY_CAST void pair_of(const void *const *x, std::size_t at, u16 *out,
                             std::index_sequence<I...>) {
    const Pair given[] = {Short<T>::load(static_cast<const u16 *>(x[I]) + at)...};
    Short<T>::store({Step::of(given[I].first...), Step::of(given[I].second...)}, out);
}

// A pair from each operand is asked for some steps before it is computed with: how far a machine
// reads ahead by itself depends on what else it did, and where it was not far enough, what computes
// longer than an addition took three times as long.
template <typename Step, typename T>
void each_short(const void *const *operands, void *result, std::size_t n) {
    constexpr auto all = std::make_index_sequence<Step::operands>();
    constexpr std::size_t ahead = 512;
    auto *out = static_cast<u16 *>(result);
    std::size_t i = 0;
    for (; i + pair_size <= n; i += pair_size) {
        for (int k = 0; k < Step::operands; ++k)
            ask_for(static_cast<const u16 *>(operands[k]) + i + ahead, pair_size);
        pair_of<Step, T>(operands, i, out + i, all);
    }
    if (i == n) return;
    // The last ones, filled up with 1.0, as it raises no exception.
    alignas(64) u16 rest[Step::operands + 1][pair_size];
    const void *last[Step::operands];
    for (int k = 0; k < Step::operands; ++k) {
        for (u16 &each : rest[k]) each = T::one;
        std::memcpy(rest[k], static_cast<const u16 *>(operands[k]) + i, (n - i) * sizeof(u16));
        last[k] = rest[k];
    }
    pair_of<Step, T>(last, 0, rest[Step::operands], all);
    std::memcpy(out + i, rest[Step::operands], (n - i) * sizeof(u16));
}
#else
// NaN is quiet, as after every cast of ours: a signalling one would be an invalid operation.
PROMOARRAY_CAST f32 single_of(u16 code) {
    const u32 quiet = (code & 0x7fffu) > 0x7f80u ? 0x40u : 0u;
    return as_float((code | quiet) << 16);
}

template <typename Step, std::size_t... I>
void each_bfloat(const void *const *operands, void *result, std::size_t n,
                 std::index_sequence<I...>) {
    const u16 *const x[] = {static_cast<const u16 *>(operands[I])...};
    auto *out = static_cast<u16 *>(result);
    PROMOARRAY_APART
    for (std::size_t i = 0; i < n; ++i) {
        const f32 found = Step::of(single_of(x[I][i])...);
        const u32 bits = as_bits(found), nan = 0x7fc0u | (bits >> 16 & 0x8000u);
        out[i] = (u16)(found == found ? bfloat_of(bits) : nan);
    }
}

template <typename Step, typename T>
void each_short(const void *const *operands, void *result, std::size_t n) {
    each_bfloat<Step>(operands, result, n, std::make_index_sequence<Step::operands>());
}
#endif

template <typename Step, typename T, std::size_t... I>
void each_code_of(const void *const *operands, void *result, std::size_t n,
                  std::index_sequence<I...>) {
    const u16 *const x[] = {static_cast<const u16 *>(operands[I])...};
    using Out = std::conditional_t<Step::tests, u8, u16>;
    auto *out = static_cast<Out *>(result);
    PROMOARRAY_APART
    for (std::size_t i = 0; i < n; ++i) {
        if constexpr (Step::tests) out[i] = (u8)Step::of(T{x[I][i]}...);
        else out[i] = Step::of(T{x[I][i]}...).quieted();
    }
}

template <typename Step, typename T>
void each_code(const void *const *operands, void *result, std::size_t n) {
    each_code_of<Step, T>(operands, result, n, std::make_index_sequence<Step::operands>());
}

template <typename Step>
Run on_codes(Type t) {
    if (is_float16(t)) return each_code<Step, HalfCode>;
    return is_bfloat16(t) ? each_code<Step, BfloatCode> : nullptr;
}

template <typename Step>
Run on_floats(Type t) {
#ifdef __F16C__
    if (is_float16(t)) return each_short<Step, HalfCode>;
#endif
    return is_bfloat16(t) ? each_short<Step, BfloatCode> : nullptr;
}

// --- The steps ------------------------------------------------------------------------------------

// Of two NaN the first comes out; of a sum or a product a compiler takes either, as it has registers.
#if defined(__F16C__) && defined(__GNUC__)
#define PROMOARRAY_IN_ORDER(instruction)                                        \
    static Floats of(Floats x, Floats y) {                                      \
        __asm__(instruction " %2, %1, %0" : "=v"(x) : "v"(x), "vm"(y));         \
        return x;                                                               \
    }
#else
#define PROMOARRAY_IN_ORDER(instruction)
#endif

using Binary = StepOf<2>;
struct Add : Binary {
    template <typename T> static T of(T x, T y) { return x + y; }
    PROMOARRAY_IN_ORDER("vaddps")
};
struct Subtract : Binary { template <typename T> static T of(T x, T y) { return x - y; } };
struct Multiply : Binary {
    template <typename T> static T of(T x, T y) { return x * y; }
    PROMOARRAY_IN_ORDER("vmulps")
};
struct Divide : Binary { template <typename T> static T of(T x, T y) { return x / y; } };

// --- By codes -------------------------------------------------------------------------------------

struct Negative : StepOf<1> {
    template <typename T> static T of(T x) { return {(u16)(x.bits ^ 0x8000)}; }
};
struct Abs : StepOf<1> {
    template <typename T> static T of(T x) { return {x.magnitude()}; }
};

// Without a branch, which no compiler finds by itself.
template <typename T>
PROMOARRAY_CAST T choose(bool first, T x, T y) {
    return {(u16)(y.bits ^ ((x.bits ^ y.bits) & (u16)-(u16)first))};
}
// NaN if either is, the first of two. Of zeros of two signs what NumPy has of wider floats, which is
// what the machine's instruction gives: Arm's put -0.0 below 0.0, x86's give the second.
#ifdef __aarch64__
constexpr bool signs_count = true;
#else
constexpr bool signs_count = false;
#endif
struct Maximum : Binary {
    template <typename T> static T of(T x, T y) {
        const bool above = signs_count && (x == y) & (y.bits >> 15 != 0);
        return choose((x > y) | above | x.is_nan(), x, y);
    }
};
struct Minimum : Binary {
    template <typename T> static T of(T x, T y) {
        const bool below = signs_count && (x == y) & (y.bits >> 15 == 0);
        return choose((x < y) | below | x.is_nan(), x, y);
    }
};

using Test = StepOf<2, true>;
struct Equal : Test { template <typename T> static bool of(T x, T y) { return x == y; } };
struct NotEqual : Test { template <typename T> static bool of(T x, T y) { return x != y; } };
struct Less : Test { template <typename T> static bool of(T x, T y) { return x < y; } };
struct LessEqual : Test { template <typename T> static bool of(T x, T y) { return x <= y; } };

// --- Rounded once ---------------------------------------------------------------------------------

template <typename T>
void multiply_add(const void *const *operands, void *result, std::size_t n) {
    const T *const x = static_cast<const T *>(operands[0]), *const y = static_cast<const T *>(operands[1]);
    const T *const z = static_cast<const T *>(operands[2]);
    for (std::size_t i = 0; i < n; ++i) static_cast<T *>(result)[i] = std::fma(x[i], y[i], z[i]);
}
Run fma_of(Type t) {
    return is_float32(t) ? multiply_add<f32> : is_float64(t) ? multiply_add<f64> : nullptr;
}

struct Row {
    const char *name;
    int operands;
    bool tests, tells;
    Run (*find)(Type type);
};
constexpr Row rows[] = {
    {"add", 2, false, true, on_floats<Add>},
    {"subtract", 2, false, true, on_floats<Subtract>},
    {"multiply", 2, false, true, on_floats<Multiply>},
    {"divide", 2, false, true, on_floats<Divide>},
    {"negative", 1, false, false, on_codes<Negative>},
    {"abs", 1, false, false, on_codes<Abs>},
    {"maximum", 2, false, false, on_codes<Maximum>},
    {"minimum", 2, false, false, on_codes<Minimum>},
    {"equal", 2, true, false, on_codes<Equal>},
    {"not_equal", 2, true, false, on_codes<NotEqual>},
    {"less", 2, true, false, on_codes<Less>},
    {"less_equal", 2, true, false, on_codes<LessEqual>},
    {"fma", 3, false, false, fma_of},
};

}  // namespace

Operation find_operation(const char *name, Type type) {
    for (const Row &row : rows) {
        if (std::strcmp(row.name, name) != 0) continue;
        // A cast tells nothing, and rounding to float16 is one, though an instruction that raises: float32
        // itself, which has far larger and smaller numbers, does neither in an operation on float16.
        const int told = is_float16(type) ? DIVIDED_BY_ZERO | INVALID : ALL_EXCEPTIONS;
        return {row.find(type), row.operands, row.tests, row.tells ? told : 0};
    }
    return {};
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
