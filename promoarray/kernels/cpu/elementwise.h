// Loops of operations, element by element: of numbers as they are, and of floats of 16 bits, which
// are computed with as float32 and rounded once more, to Inf beyond the largest number. A step is
// written once, for numbers and for registers of them. A result may be the very memory of an
// operand: an element is read before it is written.
#pragma once

#include <cmath>
#include <type_traits>
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

// What a step says of itself: of how many operands it is, whether it takes floats of 16 bits by
// their codes, whether it answers bools, and whether it takes longer than memory does.
template <int count, bool code = false, bool test = false>
struct StepOf {
    static constexpr int operands = count;
    static constexpr bool tests = test, by_code = code, takes_long = false;
};
using Unary = StepOf<1>;
using Binary = StepOf<2>;

template <typename Step, typename T, typename Out, std::size_t... I>
void each_of(const void *const *operands, void *result, std::size_t n, std::index_sequence<I...>) {
    const T *const x[] = {static_cast<const T *>(operands[I])...};
    auto *out = static_cast<Out *>(result);
    PROMOARRAY_APART
    for (std::size_t i = 0; i < n; ++i) out[i] = (Out)Step::of(x[I][i]...);
}

template <typename Step, typename T>
void each(const void *const *operands, void *result, std::size_t n) {
    using Out = std::conditional_t<Step::tests, u8, T>;
    each_of<Step, T, Out>(operands, result, n, std::make_index_sequence<Step::operands>());
}

#ifdef __F16C__
// What a step makes of two registers from each operand.
template <typename Step, typename Result, typename... Given, std::size_t... I>
PROMOARRAY_CAST void pair_of(const void *const *x, std::size_t at, void *out,
                             std::index_sequence<I...>) {
    const Pair given[] = {Given::load(static_cast<const typename Given::T *>(x[I]) + at)...};
    const Pair made = {(Floats)Step::of(given[I].first...), (Floats)Step::of(given[I].second...)};
    if constexpr (Step::tests) put_bools(made, static_cast<u8 *>(out));
    else Result::store(made, static_cast<typename Result::T *>(out));
}

// A pair from each operand is asked for some steps before it is computed with: how far a machine
// reads ahead by itself depends on what else it did, and where it was not far enough, what computes
// longer than an addition took three times as long. Float32 that an instruction computes with comes
// as fast as memory gives it: to ask for that, too, took a third more.
template <typename Step, typename... Given>
PROMOARRAY_CAST void ask_for_all([[maybe_unused]] const void *const *x,
                                 [[maybe_unused]] std::size_t at) {
    constexpr std::size_t ahead = 512;
    constexpr bool any_wide = ((sizeof(typename Given::T) > 2) || ...);
    if constexpr (Step::takes_long || !any_wide) {
        int k = 0;
        (ask_for(static_cast<const typename Given::T *>(x[k++]) + at + ahead, pair_size), ...);
    }
}

// The last n of an operand, filled up with 1.0, as it raises no exception.
template <typename Given>
const void *filled_up(const void *x, std::size_t at, std::size_t n, void *rest) {
    using T = typename Given::T;
    auto *to = static_cast<T *>(rest);
    for (std::size_t i = 0; i < pair_size; ++i) to[i] = Given::one;
    std::memcpy(to, static_cast<const T *>(x) + at, n * sizeof(T));
    return rest;
}

template <typename Step, typename Result, typename... Given>
void by_pairs(const void *const *operands, void *result, std::size_t n) {
    constexpr auto all = std::make_index_sequence<Step::operands>();
    constexpr std::size_t size = Step::tests ? 1 : sizeof(typename Result::T);
    auto *out = static_cast<char *>(result);
    std::size_t i = 0;
    for (; i + pair_size <= n; i += pair_size) {
        ask_for_all<Step, Given...>(operands, i);
        pair_of<Step, Result, Given...>(operands, i, out + i * size, all);
    }
    if (i == n) return;
    alignas(64) unsigned char rest[Step::operands + 1][pair_size * sizeof(f32)];
    unsigned char *const made = rest[Step::operands];
    const void *last[Step::operands];
    int k = 0;
    ((last[k] = filled_up<Given>(operands[k], i, n - i, rest[k]), ++k), ...);
    pair_of<Step, Result, Given...>(last, 0, made, all);
    std::memcpy(out + i * size, made, size * (n - i));
}

// Of one format all.
template <typename Format, std::size_t> using Same = Format;
template <typename Step, typename Format, std::size_t... I>
constexpr Run by_pairs_of(std::index_sequence<I...>) {
    return by_pairs<Step, Format, Same<Format, I>...>;
}

template <typename Step, typename Format>
constexpr Run each_short = by_pairs_of<Step, Short<Format>>(
    std::make_index_sequence<Step::operands>());

template <typename Step>
constexpr Run each_single = by_pairs_of<Step, Single>(std::make_index_sequence<Step::operands>());
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

template <typename Step>
constexpr Run each_single = each<Step, f32>;
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
    bool rounds_within = false;
    int untold = 0;  // exceptions of the machine's that are not the operation's
};

template <std::size_t n>
Operation find_row(const Row (&rows)[n], const char *name, Type type) {
    for (const Row &row : rows)
        if (std::strcmp(row.name, name) == 0)
            return {row.find(type), row.operands, row.masked, row.tests,
                    row.tells ? ALL_EXCEPTIONS & ~row.untold : 0,
                    row.look != nullptr ? row.look(type) : nullptr, row.rounds_within};
    return {};
}

Operation find_arithmetic(const char *name, Type type);   // arithmetic.cpp
Operation find_choice(const char *name, Type type);       // choices.cpp
Operation find_complex(const char *name, Type type);      // complexes.cpp
Operation find_division(const char *name, Type type);     // division.cpp
Operation find_loss(const char *name, Type type);         // losses.cpp
Operation find_power(const char *name, Type type);        // powers.cpp
Operation find_test(const char *name, Type type);         // comparisons.cpp

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
