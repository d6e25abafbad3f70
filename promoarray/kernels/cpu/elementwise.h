// Loops of operations on floats of 16 bits, element by element: computed with as float32 and rounded once
// more, to Inf beyond the largest number; or by their codes. A step is written once, for numbers and for
// registers of them. A result may be the very memory of an operand: an element is read before it is written.
#pragma once

#include <utility>

#include "codes.h"
#include "loop.h"
#include "registers.h"

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

using Run = void (*)(const void *const *operands, void *out, std::size_t n);

// What a step says of itself: of how many operands it is, and whether it answers bools.
template <int count, bool test = false>
struct StepOf {
    static constexpr int operands = count;
    static constexpr bool tests = test;
};

#ifdef __F16C__
// Have memory brought that is read soon.
PROMOARRAY_CAST void ask_for(const u16 *x, std::size_t n) {
    for (std::size_t k = 0; k < n; k += 64 / sizeof(u16))
        _mm_prefetch(reinterpret_cast<const char *>(x + k), _MM_HINT_T0);
}

// What a step makes of two registers from each operand.
template <typename Step, typename Format, std::size_t... I>
PROMOARRAY_CAST void pair_of(const void *const *x, std::size_t at, u16 *out, std::index_sequence<I...>) {
    const Pair given[] = {Short<Format>::load(static_cast<const u16 *>(x[I]) + at)...};
    Short<Format>::store({Step::of(given[I].first...), Step::of(given[I].second...)}, out);
}

// A pair from each operand is asked for some steps before it is computed with: how far a machine
// reads ahead by itself depends on what else it did, and where it was not far enough, what computes
// longer than an addition took three times as long.
template <typename Step, typename Format>
void each_short(const void *const *operands, void *result, std::size_t n) {
    constexpr auto all = std::make_index_sequence<Step::operands>();
    constexpr std::size_t ahead = 512;
    auto *out = static_cast<u16 *>(result);
    std::size_t i = 0;
    for (; i + pair_size <= n; i += pair_size) {
        for (int k = 0; k < Step::operands; ++k)
            ask_for(static_cast<const u16 *>(operands[k]) + i + ahead, pair_size);
        pair_of<Step, Format>(operands, i, out + i, all);
    }
    if (i == n) return;
    // The last ones, filled up with 1.0, as it raises no exception.
    alignas(64) u16 rest[Step::operands + 1][pair_size];
    const void *last[Step::operands];
    for (int k = 0; k < Step::operands; ++k) {
        for (u16 &each : rest[k]) each = Short<Format>::one;
        std::memcpy(rest[k], static_cast<const u16 *>(operands[k]) + i, (n - i) * sizeof(u16));
        last[k] = rest[k];
    }
    pair_of<Step, Format>(last, 0, rest[Step::operands], all);
    std::memcpy(out + i, rest[Step::operands], (n - i) * sizeof(u16));
}
#else
struct Bfloat {};

// NaN is quiet, as after every cast of ours: a signalling one would be an invalid operation.
PROMOARRAY_CAST f32 single_of(u16 code) {
    const u32 quiet = (code & 0x7fffu) > 0x7f80u ? 0x40u : 0u;
    return as_float((code | quiet) << 16);
}

template <typename Step, std::size_t... I>
void each_bfloat(const void *const *operands, void *result, std::size_t n, std::index_sequence<I...>) {
    const u16 *const x[] = {static_cast<const u16 *>(operands[I])...};
    auto *out = static_cast<u16 *>(result);
    PROMOARRAY_APART
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
#endif

template <typename Step, typename T, std::size_t... I>
void each_code_of(const void *const *operands, void *result, std::size_t n, std::index_sequence<I...>) {
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
    if (is_float16(t)) return each_short<Step, Half>;
#endif
    return is_bfloat16(t) ? each_short<Step, Bfloat> : nullptr;
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
