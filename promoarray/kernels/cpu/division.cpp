// Quotients without their fraction, remainders, and what divides by a reciprocal: as NumPy has them,
// and as single frameworks do (portable/variants.py and portable/xla.py say what each is).
//
// Exceptions that a step raises beside NumPy's cost time alone: NumPy is asked then.
#include <limits>

#include "elementwise.h"
#include "remainders.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

// --- Integers ------------------------------------------------------------------------------------

template <typename T>
constexpr T lowest = std::numeric_limits<T>::lowest();

// Of divisors that are not zero. The lowest integer divided by -1 is itself, as it wraps around.
//
// Floats are divided in registers, integers one by one. A quotient of integers of 32 bits that is no
// integer is 1 / y or more away from the next one, and so as a float64, which has 53 bits of it, it is
// never rounded to that; nor is one of 16 bits as a float32.
template <typename T>
T machine_quotient(T x, T y) {
    if constexpr (sizeof(T) == 8) return x / y;
    else if constexpr (sizeof(T) == 4) return (T)((f64)x / (f64)y);
    else return (T)(i32)((f32)x / (f32)y);
}
template <typename T>
T truncated_quotient(T x, T y) {
    if constexpr (std::is_signed_v<T>)
        if (y == -1) return (T)(0 - (u64)x);
    return machine_quotient(x, y);
}
template <typename T>
T remainder_of(T x, T y, T quotient) {
    return (T)((u64)x - (u64)quotient * (u64)y);
}
template <typename T>
T truncated_remainder(T x, T y) {
    return remainder_of(x, y, truncated_quotient(x, y));
}
template <typename T>
bool is_across(T rest, T y) {
    return (rest != 0) & ((rest < 0) != (y < 0));
}
template <typename T>
T floored_quotient(T x, T y) {
    const T quotient = truncated_quotient(x, y);
    return (T)(quotient - is_across(remainder_of(x, y, quotient), y));
}
template <typename T>
T floored_remainder(T x, T y) {
    const T rest = truncated_remainder(x, y);
    return (T)(rest + (is_across(rest, y) ? y : 0));
}

// What divisions by zero give.
struct Zero { template <typename T> static T of(T) { return 0; } };
struct Itself { template <typename T> static T of(T x) { return x; } };
struct AllBits { template <typename T> static T of(T) { return (T)~(T)0; } };
struct FlooredAllBits {
    template <typename T> static T of(T x) {
        return (T)(AllBits::of(x) - (std::is_signed_v<T> && x != 0));
    }
};
struct Bounds {
    template <typename T> static T of(T x) {
        return x > 0 ? (T)~lowest<T> : x < 0 ? lowest<T> : x;
    }
};
struct OfNan {  // what x86 makes of NaN
    template <typename T> static T of(T) { return sizeof(T) >= 4 ? lowest<T> : (T)0; }
};

template <typename ByZero>
struct FlooredQuotient : Binary {
    template <typename T> static T of(T x, T y) {
        return y == 0 ? ByZero::of(x) : floored_quotient(x, y);
    }
};
template <typename ByZero>
struct FlooredRemainder : Binary {
    template <typename T> static T of(T x, T y) {
        return y == 0 ? ByZero::of(x) : floored_remainder(x, y);
    }
};
template <typename ByZero>
struct TruncatedQuotient : Binary {
    template <typename T> static T of(T x, T y) {
        return y == 0 ? ByZero::of(x) : truncated_quotient(x, y);
    }
};
struct TruncatedRemainder : Binary {
    template <typename T> static T of(T x, T y) { return y == 0 ? x : truncated_remainder(x, y); }
};

// Of bools, of which a divisor that is not zero is 1.
struct QuotientOfBools : Binary {
    static u8 of(u8 x, u8 y) { return (x != 0) & (y != 0); }
};

// What NumPy tells of integers: that one is divided by zero, and that a quotient wraps around.
// `by_zero` is what the first counts as; 0 says that it is no exception.
template <int by_zero, bool wraps>
struct Quotients {
    template <typename T>
    static int look(const void *const *operands, std::size_t n) {
        const T *const x = static_cast<const T *>(operands[0]), *const y = static_cast<const T *>(operands[1]);
        int raised = 0;
        for (std::size_t i = 0; i < n; ++i) {
            if (y[i] == 0) raised |= by_zero;
            if (wraps && std::is_signed_v<T> && y[i] == (T)-1 && x[i] == lowest<T>) raised |= OVERFLOWN;
        }
        return raised;
    }
};

// --- Floats --------------------------------------------------------------------------------------

// Each step is given the remainder of fmod, too, those that make quotients none by zero. Nothing branches, and what is chosen among raises
// nothing that NumPy does not: additions of zero do not.
template <typename T>
PROMOARRAY_CAST bool is_apart(T rest, T y) {  // a NaN is not, nor a zero
    return !(rest == 0) & (rest == rest) & signs_differ(rest, y);
}

// Of what is not below zero, by its bits: a comparison with a NaN would raise.
PROMOARRAY_CAST bool is_more_than_half(f32 x) { return (i32)as_bits(x) > (i32)as_bits(0.5f); }
PROMOARRAY_CAST bool is_more_than_half(f64 x) { return (i64)as_bits(x) > (i64)as_bits(0.5); }

struct FloorDivide {
    static constexpr bool makes_quotients = true;
    template <typename T> static T of(T x, T y, T rest) {
        const T quotient = (x - rest) / y - (T)(is_apart(rest, y) ? 1 : 0);
        const T floor = std::floor(quotient);
        const T whole = floor + (T)(is_more_than_half(quotient - floor) ? 1 : 0);
        const T plain = x / y;
        return y == 0 ? plain : quotient == 0 ? std::copysign((T)0, plain) : whole;
    }
};
struct Remainder {
    static constexpr bool makes_quotients = false;
    template <typename T> static T of(T, T y, T rest) {
        const T nonzero = rest + (is_apart(rest, y) ? y : (T)0);
        return rest == 0 ? std::copysign((T)0, y) : nonzero;
    }
};
struct RemainderKeepingZero {
    static constexpr bool makes_quotients = false;
    template <typename T> static T of(T x, T y, T rest) {
        return rest == 0 ? rest : Remainder::of(x, y, rest);
    }
};
struct XlaRemainder {
    static constexpr bool makes_quotients = false;
    template <typename T> static T of(T, T, T rest) { return rest; }
};
struct FloorOfQuotient : Binary {
    template <typename T> static T of(T x, T y) { return std::floor(x / y); }
};
struct RemainderOfQuotient : Binary {
    template <typename T> static T of(T x, T y) {
        const f64 wide = x, divisor = y;
        return (T)(wide - std::floor(wide / divisor) * divisor);
    }
};
struct StandardFloorDivide {
    static constexpr bool makes_quotients = true;
    template <typename T> static T of(T x, T y, T rest) {
        const bool lone = std::isinf(x) ? std::isfinite(y) && y != 0 : std::isfinite(x) && std::isinf(y);
        return lone ? x / y : FloorDivide::of(x, y, rest);
    }
};

// Divided where operands have as many elements as the result, else multiplied with 1 / y.
struct ReciprocalDivide : Binary {
    template <typename T> static T of(T x, T y) { return x * (1 / y); }
};
struct SelectedReciprocal : Binary {
    template <typename T> static T of(T x, T y) { return x != 0 ? 1 / y : (T)0; }
};
template <bool spread>
struct FloatDivmod {
    static constexpr bool makes_quotients = true;
    template <typename T> static T of(T x, T y, T rest) {
        const T whole = y == 0 ? x : x - rest;
        const T quotient = spread ? whole * (1 / y) : whole / y;
        const bool within = (y > 0 && rest > 0) || (y < 0 && rest < 0);
        return std::nearbyint(rest != 0 && !within ? quotient - 1 : quotient);
    }
};
template <bool of_first>
struct Selects : Binary {
    template <typename T> static T of(T x, T y) {
        return (of_first ? x : y) != 0 ? (of_first ? y : x) : (T)0;
    }
};
struct Scaled : Binary {
    template <typename T> static T of(T x, T y) { return x * y + (T)0; }
};
struct ScaledNegative : Unary {  // by -1: NaN keeps its sign, and neither zero
    template <typename T> static T of(T x) { return x != x ? x : 0 - x; }
};
struct ScaledByReciprocal : Binary {
    template <typename T> static T of(T x, T y) { return x * (T)(1 / (f64)y) + (T)0; }
};

#ifdef __F16C__
// The reciprocal is rounded to float16, too.
struct HalfReciprocal {
    static Floats of(Floats y) { return rounded_to_half(1 / y); }
};
struct HalfReciprocalDivide : Binary {
    static Floats of(Floats x, Floats y) { return x * HalfReciprocal::of(y); }
};
struct HalfSelectedReciprocal : Binary {
    static Floats of(Floats x, Floats y) { return where_so(x != 0, HalfReciprocal::of(y)); }
};
#endif

// --- Which loop ----------------------------------------------------------------------------------

template <typename OfIntegers, typename OfFloats>
Run on_both(Type t) {
    return is_integer(t) ? on_integers<OfIntegers>(t) : with_remainders<OfFloats>(t);
}
Run reciprocal_divide(Type t) {
#ifdef __F16C__
    if (is_float16(t)) return each_short<HalfReciprocalDivide, Half>;
#endif
    return on_wide<ReciprocalDivide>(t);
}
Run selected_reciprocal(Type t) {
#ifdef __F16C__
    if (is_float16(t)) return each_short<HalfSelectedReciprocal, Half>;
#endif
    return on_wide<SelectedReciprocal>(t);
}

Run on_bools(Type t) { return t.kind == Kind::boolean ? each<QuotientOfBools, u8> : nullptr; }
Look refused_of_bools(Type) { return Quotients<NOT_TOLD, false>::look<u8>; }

template <int by_zero, bool wraps>
Look of_integers(Type t) {
    using Found = Quotients<by_zero, wraps>;
    constexpr Look words[2][4] = {
        {Found::template look<u8>, Found::template look<u16>, Found::template look<u32>, Found::template look<u64>},
        {Found::template look<i8>, Found::template look<i16>, Found::template look<i32>, Found::template look<i64>}};
    return is_integer(t) ? words[is_signed(t)][row_of(t)] : nullptr;
}

// A remainder by zero is invalid: that of the quotient on the way to it is untold.
constexpr Row rows[] = {
    {"floor_divide", 2, false, false, true, on_both<FlooredQuotient<Zero>, FloorDivide>, of_integers<DIVIDED_BY_ZERO, true>},
    {"remainder", 2, false, false, true, on_both<FlooredRemainder<Zero>, Remainder>, of_integers<DIVIDED_BY_ZERO, false>,
     false, DIVIDED_BY_ZERO},
    {"checked_divide", 2, false, false, false, on_bools, refused_of_bools},
    {"checked_floor_divide", 2, false, false, false, on_whole<FlooredQuotient<Zero>>,
     of_integers<NOT_TOLD, true>},
    {"checked_remainder", 2, false, false, false, on_whole<FlooredRemainder<Zero>>,
     of_integers<NOT_TOLD, false>},
    {"truncated_divide", 2, false, false, false, on_whole<TruncatedQuotient<Zero>>,
     of_integers<NOT_TOLD, true>},
    {"xla_divide", 2, false, false, false, on_whole<TruncatedQuotient<AllBits>>,
     of_integers<0, true>},
    {"xla_floor_divide", 2, false, false, false, on_whole<FlooredQuotient<FlooredAllBits>>,
     of_integers<0, true>},
    {"saturating_floor_divide", 2, false, false, false, on_whole<FlooredQuotient<Bounds>>,
     of_integers<0, true>},
    {"nan_remainder", 2, false, false, false, on_whole<FlooredRemainder<OfNan>>},
    {"xla_remainder", 2, false, false, true, on_both<TruncatedRemainder, XlaRemainder>, nullptr, false,
     DIVIDED_BY_ZERO},
    {"remainder_keeping_zero", 2, false, false, true, with_remainders<RemainderKeepingZero>, nullptr,
     false, DIVIDED_BY_ZERO},
    {"floor_of_quotient", 2, false, false, true, on_wide<FloorOfQuotient>},
    {"remainder_of_quotient", 2, false, false, true, on_wide<RemainderOfQuotient>},
    {"standard_floor_divide", 2, false, false, true, with_remainders<StandardFloorDivide>},
    {"reciprocal_divide", 2, false, false, false, reciprocal_divide, nullptr, true},
    {"selected_reciprocal", 2, false, false, false, selected_reciprocal},
    {"float_divmod", 2, false, false, false, with_remainders<FloatDivmod<false>>},
    {"float_divmod_spread", 2, false, false, false, with_remainders<FloatDivmod<true>>},
    {"first_selects", 2, false, false, false, on_wide<Selects<true>>},
    {"second_selects", 2, false, false, false, on_wide<Selects<false>>},
    {"scaled", 2, false, false, true, on_wide<Scaled>},
    {"scaled_negative", 1, false, false, true, on_floats<ScaledNegative>},
    {"scaled_by_reciprocal", 2, false, false, true, on_wide<ScaledByReciprocal>},
};

}  // namespace

// What floats raise where they divide integers is nothing that the operation does; `look` tells that.
Operation find_division(const char *name, Type type) {
    Operation found = find_row(rows, name, type);
    if (is_integer(type)) found.told = 0;
    return found;
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
