// Integers raised to integers: the low bits of the power, as NumPy has them, and what single
// frameworks make of negative exponents and of overflow (portable/variants.py). Floats raised to one
// integer, which counts multiplications (portable/xla.py), and to one of a few exponents, which are
// functions of the base alone. Shifts, and what goes bit by bit.
#include <limits>

#include "elementwise.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

template <typename T>
T low_bits_of_power(T x, T exponent) {
    auto square = (u64)x, left = (u64)exponent;
    u64 power = (left & 1) != 0 ? square : 1;
    while ((left >>= 1) != 0) {
        square *= square;
        power *= (left & 1) != 0 ? square : 1;
    }
    return (T)power;
}

// 1 / x ** n without its fraction.
template <typename T>
T inverse(T x, T exponent, T of_zero) {
    if (x == 0) return of_zero;
    if (x != 1 && x != (T)-1) return 0;
    return (exponent & 1) != 0 ? x : (T)1;
}

struct Power : Binary {
    template <typename T> static T of(T x, T y) { return low_bits_of_power(x, y); }
};
struct ReciprocalPower : Binary {
    template <typename T> static T of(T x, T y) {
        return y < 0 ? inverse(x, y, (T)0) : low_bits_of_power(x, y);
    }
};
struct SixBitPower : Binary {
    template <typename T> static T of(T x, T y) {
        return x == 0 && y != 0 ? (T)0 : low_bits_of_power(x, (T)(y & 63));
    }
};

// As float64 is raised, and as x86 makes an integer of that.
template <bool reciprocal>
struct DoublePower : Binary {
    template <typename T> static T of(T x, T y) {
        constexpr T lowest = std::numeric_limits<T>::lowest();
        constexpr T beyond = sizeof(T) >= 4 ? lowest : (T)0;
        if (y < 0) return inverse(x, y, reciprocal ? (T)0 : beyond);
        // 1. The size of the power, if it stays in the integers that x86 casts to.
        constexpr int bound = std::is_same_v<T, u64> ? 64 : std::is_same_v<T, u32> || sizeof(T) == 8 ? 63 : 31;
        constexpr u64 most = ~(u64)0 >> (64 - bound);
        const u64 size = x < 0 ? 0 - (u64)x : (u64)x;
        u64 power = size > 1 || y == 0 ? 1 : size;
        if (size > 1 && (u64)y >= (u64)bound) return beyond;
        for (auto left = (u64)y; size > 1 && left != 0; --left) {
            if (power > most / size) return beyond;
            power *= size;
        }
        // 2. Rounded to float64, and with its sign.
        const auto rounded = (f64)power;
        if (rounded >= 2 * (f64)((u64)1 << (bound - 1))) return beyond;
        const auto found = (u64)rounded;
        return (T)(x < 0 && (y & 1) != 0 ? 0 - found : found);
    }
};

// A float to one integer: all of its powers to powers of two that the exponent is made of.
struct IntegerPower : Binary {
    template <typename T> static T of(T x, T y) {
        T power = 1, square = x;
        bool begun = false;
        for (T left = std::fabs(y); left >= 1 && left <= std::numeric_limits<T>::max();) {
            const T half = std::floor(left / 2);
            if (left != 2 * half) {
                power = begun ? power * square : square;
                begun = true;
            }
            left = half;
            square *= square;
        }
        return y < 0 ? 1 / power : power;
    }
};

// The root as C's pow has it: inf of -inf, and 0.0 of -0.0.
struct PlainRoot : Unary {
    template <typename T> static T of(T x) {
        return std::sqrt(x == -std::numeric_limits<T>::infinity() ? -x : x) + (T)0;
    }
#ifdef __F16C__
    static Floats of(Floats x) {
        const Words lowest = x == -std::numeric_limits<f32>::infinity();
        return square_root((Floats)((Words)x ^ (lowest & sign_bit))) + 0.0f;
    }
#endif
};
struct ReciprocalRoot : Unary {
    template <typename T> static T of(T x) { return 1 / std::sqrt(x); }
#ifdef __F16C__
    static Floats of(Floats x) { return 1 / square_root(x); }
#endif
};
struct Cube : Unary { template <typename T> static T of(T x) { return x * x * x; } };
struct ReciprocalSquare : Unary { template <typename T> static T of(T x) { return 1 / (x * x); } };

struct BitwiseAnd : Binary { template <typename T> static T of(T x, T y) { return (T)(x & y); } };
struct BitwiseOr : Binary { template <typename T> static T of(T x, T y) { return (T)(x | y); } };
struct BitwiseXor : Binary { template <typename T> static T of(T x, T y) { return (T)(x ^ y); } };

// NumPy shifts all bits out by counts beyond them, negative ones too.
struct LeftShift : Binary {
    template <typename T> static T of(T x, T y) {
        return (u64)y < 8 * sizeof(T) ? (T)((u64)x << y) : (T)0;
    }
};
struct RightShift : Binary {
    template <typename T> static T of(T x, T y) {
        if ((u64)y < 8 * sizeof(T)) return (T)(x >> y);
        return x < 0 ? (T)-1 : (T)0;
    }
};

template <typename T>
T within_bits(T count) {
    constexpr T last = 8 * sizeof(T) - 1;
    return count < 0 ? (T)0 : count > last ? last : count;
}
struct LeftShiftWithin : Binary {
    template <typename T> static T of(T x, T y) { return (T)((u64)x << within_bits(y)); }
};
struct RightShiftWithin : Binary {
    template <typename T> static T of(T x, T y) { return (T)(x >> within_bits(y)); }
};

// Where all exponents are one, as most often, it is gone through once for some bases side by side.
template <typename Step, typename T>
void raise_each(const void *const *operands, void *result, std::size_t n) {
    const T *const x = static_cast<const T *>(operands[0]), *const y = static_cast<const T *>(operands[1]);
    T differ = 0;
    for (std::size_t i = 1; i < n; ++i) differ |= (T)(y[i] ^ y[0]);
    if (n == 0 || differ != 0 || y[0] < 0) return each<Step, T>(operands, result, n);
    using Word = std::make_unsigned_t<T>;
    using Product = std::conditional_t<(sizeof(T) < sizeof(u32)), u32, Word>;  // of u16 int overflows
    constexpr std::size_t side_by_side = 256;
    auto *out = static_cast<T *>(result);
    const auto exponent = (u64)y[0];  // the result may lie where it is
    for (std::size_t at = 0; at < n; at += side_by_side) {
        const std::size_t some = std::min(side_by_side, n - at);
        Word power[side_by_side], square[side_by_side];
        for (std::size_t i = 0; i < some; ++i) power[i] = 1, square[i] = (Word)x[at + i];
        for (u64 left = exponent; left != 0;) {
            if (left & 1)
                for (std::size_t i = 0; i < some; ++i) power[i] = (Word)((Product)power[i] * square[i]);
            if ((left >>= 1) == 0) break;
            for (std::size_t i = 0; i < some; ++i) square[i] = (Word)((Product)square[i] * square[i]);
        }
        for (std::size_t i = 0; i < some; ++i) out[at + i] = (T)power[i];
    }
}

template <typename Step>
Run raised(Type t) {
    static constexpr Run by_size[2][4] = {
        {raise_each<Step, u8>, raise_each<Step, u16>, raise_each<Step, u32>, raise_each<Step, u64>},
        {raise_each<Step, i8>, raise_each<Step, i16>, raise_each<Step, i32>, raise_each<Step, i64>}};
    return on_whole<Step>(t) == nullptr ? nullptr : by_size[is_signed(t)][row_of(t)];
}

// NumPy refuses negative exponents.
struct Exponents {
    template <typename T>
    static int look(const void *const *operands, std::size_t n) {
        const T *const y = static_cast<const T *>(operands[1]);
        T bits = 0;
        for (std::size_t i = 0; i < n; ++i) bits |= y[i];
        return bits < 0 ? NOT_TOLD : 0;
    }
};
Look exponents(Type t) {
    constexpr Look looks[4] = {Exponents::look<i8>, Exponents::look<i16>, Exponents::look<i32>,
                               Exponents::look<i64>};
    return is_signed(t) ? looks[row_of(t)] : nullptr;
}

constexpr Row rows[] = {
    {"pow", 2, false, false, false, raised<Power>, exponents},
    {"reciprocal_pow", 2, false, false, false, raised<ReciprocalPower>},
    {"six_bit_pow", 2, false, false, false, on_whole<SixBitPower>},
    {"double_pow", 2, false, false, false, on_whole<DoublePower<false>>},
    {"double_reciprocal_pow", 2, false, false, false, on_whole<DoublePower<true>>},
    {"integer_pow", 2, false, false, false, on_wide<IntegerPower>},
    {"plain_root", 1, false, false, true, on_floats<PlainRoot>},
    {"reciprocal_root", 1, false, false, true, on_floats<ReciprocalRoot>},
    {"cube", 1, false, false, true, on_floats<Cube>},
    {"reciprocal_square", 1, false, false, true, on_floats<ReciprocalSquare>},
    {"bitwise_and", 2, false, false, false, on_whole<BitwiseAnd>},
    {"bitwise_or", 2, false, false, false, on_whole<BitwiseOr>},
    {"bitwise_xor", 2, false, false, false, on_whole<BitwiseXor>},
    {"bitwise_left_shift", 2, false, false, false, on_whole<LeftShift>},
    {"bitwise_right_shift", 2, false, false, false, on_whole<RightShift>},
    {"left_shift_within", 2, false, false, false, on_whole<LeftShiftWithin>},
    {"right_shift_within", 2, false, false, false, on_whole<RightShiftWithin>},
};

}  // namespace

Operation find_power(const char *name, Type type) { return find_row(rows, name, type); }

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
