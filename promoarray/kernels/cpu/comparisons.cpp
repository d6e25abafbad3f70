// Operations that answer bools: comparisons, logic, and what a float is. NaN compares as unequal.
#include "elementwise.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

template <int count>
using Test = StepOf<count, true, true>;

struct Equal : Test<2> { template <typename T> static auto of(T x, T y) { return x == y; } };
struct NotEqual : Test<2> { template <typename T> static auto of(T x, T y) { return x != y; } };
struct Less : Test<2> { template <typename T> static auto of(T x, T y) { return x < y; } };
struct LessEqual : Test<2> { template <typename T> static auto of(T x, T y) { return x <= y; } };
struct Greater : Test<2> { template <typename T> static auto of(T x, T y) { return x > y; } };
struct GreaterEqual : Test<2> { template <typename T> static auto of(T x, T y) { return x >= y; } };

struct And : Test<2> {
    template <typename T> static auto of(T x, T y) { return is_true(x) & is_true(y); }
};
struct Or : Test<2> {
    template <typename T> static auto of(T x, T y) { return is_true(x) | is_true(y); }
};
struct Xor : Test<2> {
    template <typename T> static auto of(T x, T y) { return is_true(x) ^ is_true(y); }
};
struct Not : Test<1> { template <typename T> static auto of(T x) { return !is_true(x); } };

struct IsNan : Test<1> {
    template <typename T> static auto of(T x) {
        if constexpr (is_code<T>) return x.is_nan();
        else return x != x;
    }
};
struct IsFinite : Test<1> {
    template <typename T> static auto of(T x) {
        if constexpr (is_code<T>) return x.magnitude() < T::infinity;
        else return x - x == 0;
    }
};
struct IsInf : Test<1> {
    template <typename T> static auto of(T x) {
        if constexpr (is_code<T>) return x.magnitude() == T::infinity;
        else return (x == x) & (x - x != 0);
    }
};
struct SignBit : Test<1> {
    static bool of(f32 x) { return as_bits(x) >> 31 != 0; }
    static bool of(f64 x) { return as_bits(x) >> 63 != 0; }
    template <int... of_format> static bool of(Code<of_format...> x) { return x.bits >> 15 != 0; }
#ifdef __F16C__
    static Words of(Floats x) { return (Words)x < 0; }
#endif
};

// Bools are bytes.
template <typename Step>
Run on_all(Type t) {
    return t.kind == Kind::boolean ? each<Step, u8> : on_numbers<Step>(t);
}

constexpr Row rows[] = {
    {"equal", 2, false, true, false, on_all<Equal>},
    {"not_equal", 2, false, true, false, on_all<NotEqual>},
    {"less", 2, false, true, false, on_all<Less>},
    {"less_equal", 2, false, true, false, on_all<LessEqual>},
    {"greater", 2, false, true, false, on_all<Greater>},
    {"greater_equal", 2, false, true, false, on_all<GreaterEqual>},
    {"logical_and", 2, false, true, false, on_all<And>},
    {"logical_or", 2, false, true, false, on_all<Or>},
    {"logical_xor", 2, false, true, false, on_all<Xor>},
    {"logical_not", 1, false, true, false, on_all<Not>},
    {"isnan", 1, false, true, false, on_floats<IsNan>},
    {"isfinite", 1, false, true, false, on_floats<IsFinite>},
    {"isinf", 1, false, true, false, on_floats<IsInf>},
    {"signbit", 1, false, true, false, on_floats<SignBit>},
};

}  // namespace

Operation find_test(const char *name, Type type) { return find_row(rows, name, type); }

Operation find_operation(const char *name, Type type) {
    if (type.kind == Kind::complex) return find_complex(name, type);
    for (const auto find : {find_arithmetic, find_division, find_power, find_choice, find_loss}) {
        const Operation found = find(name, type);
        if (found.operands != 0) return found;
    }
    return find_test(name, type);
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
