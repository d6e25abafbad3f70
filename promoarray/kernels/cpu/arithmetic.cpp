// Operations that NumPy has not: on floats of 16 bits what the machine does with one instruction, and
// products and sums that are rounded once.
#include <cmath>

#include "elementwise.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

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
