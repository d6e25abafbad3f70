// Loops of operations, element by element: of numbers as they are, and of floats of 16 bits, which
// are computed with as float32 and rounded once more, to Inf beyond the largest number. A step is
// written once, for numbers and for registers of them.
#pragma once

#include <cmath>
#include <type_traits>
#include <utility>

#include "codes.h"
#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {

using Run = void (*)(const void *const *operands, void *out, std::size_t n);

template <typename Step, typename T, typename Out, std::size_t... I>
void each_of(const void *const *operands, void *result, std::size_t n, std::index_sequence<I...>) {
    const T *const x[] = {static_cast<const T *>(operands[I])...};
    auto *PROMOARRAY_RESTRICT out = static_cast<Out *>(result);
    for (std::size_t i = 0; i < n; ++i) out[i] = (Out)Step::of(x[I][i]...);
}

template <typename Step, typename T>
void each(const void *const *operands, void *result, std::size_t n) {
    using Out = std::conditional_t<Step::tests, u8, T>;
    each_of<Step, T, Out>(operands, result, n, std::make_index_sequence<Step::operands>());
}

#ifdef __F16C__
// Bytes of 0 and 1 from what registers of float32 were compared to.
PROMOARRAY_CAST __m128i bools(__m256 low, __m256 high) {
    const __m256i words = _mm256_packs_epi32(_mm256_castps_si256(low), _mm256_castps_si256(high));
    const __m256i ordered = _mm256_permute4x64_epi64(words, 0xd8);
    const __m128i bytes = _mm_packs_epi16(_mm256_castsi256_si128(ordered),
                                          _mm256_extracti128_si256(ordered, 1));
    return _mm_and_si128(bytes, _mm_set1_epi8(1));
}

// Float32 as a format of registers: a compiler would branch where a step chooses.
struct Single {
    static PROMOARRAY_CAST __m256 load(const f32 *x) { return _mm256_loadu_ps(x); }
    static PROMOARRAY_CAST void store(__m256 low, __m256 high, void *out) {
        _mm256_storeu_ps(static_cast<f32 *>(out), low);
        _mm256_storeu_ps(static_cast<f32 *>(out) + 8, high);
    }
};
template <typename Format>
struct Short {
    // NaN is quiet, as after every cast of ours: a signalling one would be an invalid operation.
    static PROMOARRAY_CAST __m256 load(const u16 *x) {
        const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(x));
        const __m128i magnitude = _mm_and_si128(codes, _mm_set1_epi16(0x7fff));
        const __m128i is_nan = _mm_cmpgt_epi16(magnitude, _mm_set1_epi16(Format::infinity));
        return Format::read(_mm_or_si128(codes, _mm_and_si128(is_nan, _mm_set1_epi16(Format::quiet))));
    }
    static PROMOARRAY_CAST void store(__m256 low, __m256 high, void *out) {
        const __m256i kept = _mm256_set1_epi16((short)0x8000);
        _mm256_storeu_si256(static_cast<__m256i *>(out), Format::write(low, high, kept));
    }
};

template <typename Step, typename Format, typename T, std::size_t... I>
PROMOARRAY_CAST __m256 eight(const T *const *x, std::size_t at, std::index_sequence<I...>) {
    return (__m256)Step::of(Format::load(x[I] + at)...);
}

template <typename Step, typename Format, typename T>
PROMOARRAY_CAST void sixteen(const T *const *x, std::size_t at, void *out) {
    constexpr auto all = std::make_index_sequence<Step::operands>();
    const __m256 low = eight<Step, Format>(x, at, all);
    const __m256 high = eight<Step, Format>(x, at + 8, all);
    if constexpr (Step::tests) _mm_storeu_si128(static_cast<__m128i *>(out), bools(low, high));
    else Format::store(low, high, out);
}

// `one` is 1.0, whatever the format: the last are filled up with it, as it raises no exception.
template <typename Step, typename Format, typename T>
void by_sixteen(const void *const *operands, void *result, std::size_t n, T one) {
    constexpr std::size_t size = Step::tests ? 1 : sizeof(T);
    const T *x[Step::operands];
    for (int k = 0; k < Step::operands; ++k) x[k] = static_cast<const T *>(operands[k]);
    auto *out = static_cast<char *>(result);
    std::size_t i = 0;
    for (; i + 16 <= n; i += 16) sixteen<Step, Format>(x, i, out + i * size);
    if (i == n) return;
    T rest[Step::operands][16], made[16];
    for (int k = 0; k < Step::operands; ++k) {
        for (T &value : rest[k]) value = one;
        std::memcpy(rest[k], x[k] + i, sizeof(T) * (n - i));
        x[k] = rest[k];
    }
    sixteen<Step, Format>(x, 0, made);
    std::memcpy(out + i * size, made, size * (n - i));
}

template <typename Step, typename Format>
void each_short(const void *const *operands, void *result, std::size_t n) {
    const u16 one = std::is_same_v<Format, Half> ? 0x3c00 : 0x3f80;
    by_sixteen<Step, Short<Format>, u16>(operands, result, n, one);
}

template <typename Step>
void each_single(const void *const *operands, void *result, std::size_t n) {
    by_sixteen<Step, Single, f32>(operands, result, n, 1);
}
#else
struct Bfloat {};

// NaN is quiet, as after every cast of ours: a signalling one would be an invalid operation.
PROMOARRAY_CAST f32 single_of(u16 code) {
    const u32 quiet = (code & 0x7fffu) > 0x7f80u ? 0x40u : 0u;
    return as_float((code | quiet) << 16);
}

template <typename Step, std::size_t... I>
void each_bfloat(const void *const *operands, void *result, std::size_t n,
                 std::index_sequence<I...>) {
    const u16 *const x[] = {static_cast<const u16 *>(operands[I])...};
    auto *PROMOARRAY_RESTRICT out = static_cast<u16 *>(result);
    for (std::size_t i = 0; i < n; ++i) {
        const f32 found = Step::of(single_of(x[I][i])...);
        const u32 bits = as_bits(found), nan = 0x7fc0u | (bits >> 16 & 0x8000u);
        out[i] = (u16)(found == found ? bfloat_of(bits) : nan);
    }
}

template <typename Step, typename Format>
void each_short(const void *const *operands, void *result, std::size_t n) {
    each_bfloat<Step>(operands, result, n, std::make_index_sequence<Step::operands>());
}

template <typename Step>
constexpr Run each_single = each<Step, f32>;
#endif

template <typename Step, typename T, std::size_t... I>
void each_code_of(const void *const *operands, void *result, std::size_t n,
                  std::index_sequence<I...>) {
    const u16 *const x[] = {static_cast<const u16 *>(operands[I])...};
    using Out = std::conditional_t<Step::tests, u8, u16>;
    auto *PROMOARRAY_RESTRICT out = static_cast<Out *>(result);
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

// Of 16 bits by their codes, if the step takes those.
template <typename Step>
Run on_floats(Type t) {
    if (is_float32(t)) return each_single<Step>;
    if (is_float64(t)) return each<Step, f64>;
    if constexpr (Step::by_code) {
        return on_codes<Step>(t);
    } else {
#ifdef __F16C__
        if (is_float16(t)) return each_short<Step, Half>;
#endif
        return is_bfloat16(t) ? each_short<Step, Bfloat> : nullptr;
    }
}

// Integers that wrap around, for which unsigned ones do.
template <typename Step>
Run on_words(Type t) {
    constexpr Run rows[4] = {each<Step, u8>, each<Step, u16>, each<Step, u32>, each<Step, u64>};
    return t.kind != Kind::boolean && t.bits >= 8 ? rows[row_of(t)] : nullptr;
}

// Integers that are compared.
template <typename Step>
Run on_integers(Type t) {
    constexpr Run rows[4] = {each<Step, i8>, each<Step, i16>, each<Step, i32>, each<Step, i64>};
    if (t.bits < 8) return nullptr;
    return is_signed(t) ? rows[row_of(t)] : on_words<Step>(t);
}

// Integers, and nothing else.
template <typename Step>
Run on_whole(Type t) {
    return is_integer(t) ? on_integers<Step>(t) : nullptr;
}

// What has no steps of registers: float32 and float64.
template <typename Step>
Run on_wide(Type t) {
    return is_float32(t) ? each<Step, f32> : is_float64(t) ? each<Step, f64> : nullptr;
}

template <typename Step>
Run on_numbers(Type t) {
    return is_integer(t) ? on_integers<Step>(t) : on_floats<Step>(t);
}

// A row of the table of operations.
struct Row {
    const char *name;
    int operands;
    bool masked, tests, tells;
    Run (*find)(Type type);
    Look (*look)(Type type) = nullptr;
};

template <std::size_t n>
Operation find_row(const Row (&rows)[n], const char *name, Type type) {
    for (const Row &row : rows)
        if (std::strcmp(row.name, name) == 0)
            return {row.find(type), row.operands, row.masked, row.tests, row.tells,
                    row.look != nullptr ? row.look(type) : nullptr};
    return {};
}

Operation find_arithmetic(const char *name, Type type);   // arithmetic.cpp
Operation find_choice(const char *name, Type type);       // choices.cpp
Operation find_division(const char *name, Type type);     // division.cpp
Operation find_power(const char *name, Type type);        // powers.cpp
Operation find_test(const char *name, Type type);         // comparisons.cpp

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
