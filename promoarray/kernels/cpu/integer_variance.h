// Variances of integers as Paddle's wheels have them: around an integer, of squares that wrap.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "loops.h"

namespace promoarray {

// What a width of integers has: elements and results are passed as bits of 64, of which it takes its
// own.
struct IntegerVariance {
    // The mean without its fraction, of a sum that wraps.
    u64 (*mean)(const void *x, std::size_t n);
    // Squares of what is left of elements, over a count in float32.
    float (*around)(const void *x, std::size_t n, u64 center, double count);
    // A float as x86 makes it an integer.
    u64 (*whole)(float x);
    float (*single)(u64 x);
};

template <typename T> struct VarianceOf {
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, u64>;

    static u64 mean(const void *x, std::size_t n) {
        u64 sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += static_cast<u64>(at(x, i));
        return static_cast<u64>(static_cast<Wide>(static_cast<T>(sum)) / static_cast<Wide>(n));
    }
    static float around(const void *x, std::size_t n, u64 center, double count) {
        u64 sum = 0;
        for (std::size_t i = 0; i < n; ++i) {
            const u64 gap = static_cast<u64>(at(x, i)) - center;
            sum += gap * gap;
        }
        return single(sum) / static_cast<float>(count);
    }
    static u64 whole(float x) {
        constexpr float top = sizeof(T) == 8 ? 0x1p63f : 0x1p31f;
        if (x >= -top && x < top) return static_cast<u64>(static_cast<std::int64_t>(x));
        const bool keeps_least = sizeof(T) >= 4 && std::is_signed_v<T>;
        return keeps_least ? u64{1} << (8 * sizeof(T) - 1) : 0;
    }
    static float single(u64 x) { return static_cast<float>(static_cast<T>(x)); }

   private:
    static T at(const void *x, std::size_t i) { return static_cast<const T *>(x)[i]; }
};

template <typename T>
constexpr IntegerVariance variance_of = {VarianceOf<T>::mean, VarianceOf<T>::around,
                                         VarianceOf<T>::whole, VarianceOf<T>::single};

// Null of what is no integer of 8 bits or more.
inline const IntegerVariance *integer_variance(const Type &type) {
    static constexpr IntegerVariance with_sign[] = {variance_of<std::int8_t>,
                                                    variance_of<std::int16_t>,
                                                    variance_of<std::int32_t>,
                                                    variance_of<std::int64_t>};
    static constexpr IntegerVariance without[] = {variance_of<std::uint8_t>,
                                                  variance_of<std::uint16_t>,
                                                  variance_of<std::uint32_t>,
                                                  variance_of<std::uint64_t>};
    const int row = type.bits == 8 ? 0 : type.bits == 16 ? 1 : type.bits == 32 ? 2 : 3;
    if (type.bits < 8) return nullptr;
    if (type.kind == Kind::signed_integer) return &with_sign[row];
    return type.kind == Kind::unsigned_integer ? &without[row] : nullptr;
}

}  // namespace promoarray
