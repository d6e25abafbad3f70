// What the kernels for a GPU need besides the casts: codes in memory, and walks over large arrays.
// CuPy gives this text to NVRTC after that of cast.h; it has no headers either.
#pragma once

namespace promoarray {

using u8 = unsigned char;
using u16 = unsigned short;

// --- Codes in memory -----------------------------------------------------------------------------
// Memory may be declared as another type of the same width; its bits are what counts.

template <typename Code>
PROMOARRAY_CAST Code load(const void *at, int part) {
    return static_cast<const Code *>(at)[part];
}

template <typename Code>
PROMOARRAY_CAST void save(void *at, int part, Code code) {
    static_cast<Code *>(at)[part] = code;
}

// --- Casts by the machine's conversions ----------------------------------------------------------

// The bits of a float with the magnitude of an integer, odd if it is too long, and the sign.
PROMOARRAY_CAST u32 odd_bits(u32 x) { return as_bits((float)sticky(x)); }
PROMOARRAY_CAST u64 odd_bits(u64 x) { return as_bits((double)sticky(x)); }
PROMOARRAY_CAST u32 odd_bits(int x) {
    return odd_bits(x < 0 ? 0 - (u32)x : (u32)x) | ((u32)x & 0x80000000u);
}
PROMOARRAY_CAST u64 odd_bits(i64 x) {
    return odd_bits(x < 0 ? 0 - (u64)x : (u64)x) | ((u64)x & 0x8000000000000000ull);
}

// A float to an integer of so many bits, by its limits.
template <typename Source>
PROMOARRAY_CAST u64 truncate(typename Source::Bits bits, int width, Limits limit) {
    using Bits = typename Source::Bits;
    constexpr Bits one = 1;
    constexpr Bits infinity = ((one << (Source::top - Source::mantissa)) - 1) << Source::mantissa;
    constexpr Bits too_large = (Bits)(Source::bias + 64) << Source::mantissa;
    const Bits magnitude = bits & ((one << Source::top) - 1);
    const bool negative = bits >> Source::top != 0;

    // 1. Towards zero; a subnormal is 0, flushed or not.
    const bool fits = magnitude < too_large;
    const u64 whole = fits ? (u64)as_float(magnitude) : 0;

    // 2. What is outside.
    const bool near = fits && whole <= limit.near;
    const u64 finite = negative ? limit.below : near ? limit.near_above : limit.above;
    const u64 infinite = negative ? limit.infinite_below : limit.infinite_above;
    const u64 outside = magnitude > infinity ? limit.nan : magnitude == infinity ? infinite : finite;
    const bool inside = fits && whole <= (negative ? limit.negative : limit.positive);
    return low_bits(inside ? (negative ? 0 - whole : whole) : outside, width);
}

// --- Large contiguous arrays ---------------------------------------------------------------------

// Elements that are read or written by one access.
template <typename T, int size>
struct alignas(sizeof(T) * size) Pack {
    T at[size];
};

// A block takes as many elements as its threads have turns; in each turn the packs of its threads
// lie side by side.
template <typename Cast, int pack, int per_thread>
PROMOARRAY_CAST void cast_packs(const void *source, void *target, u64 n) {
    using From = typename Cast::From;
    using To = typename Cast::To;
    using FromPack = Pack<From, pack>;
    using ToPack = Pack<To, pack>;
    constexpr int turns = per_thread / pack;
    const From *__restrict__ src = static_cast<const From *>(source);
    To *__restrict__ dst = static_cast<To *>(target);
    const u64 first = (u64)blockIdx.x * blockDim.x * per_thread;

    // 1. A whole block of elements at an address that packs can be read from.
    const bool aligned = (u64)source % sizeof(FromPack) == 0 && (u64)target % sizeof(ToPack) == 0;
    if (aligned && first + (u64)blockDim.x * per_thread <= n) {
        FromPack taken[turns];
#pragma unroll
        for (int turn = 0; turn < turns; ++turn) {
            const u64 at = first + ((u64)turn * blockDim.x + threadIdx.x) * pack;
            taken[turn] = *reinterpret_cast<const FromPack *>(src + at);
        }
#pragma unroll
        for (int turn = 0; turn < turns; ++turn) {
            const u64 at = first + ((u64)turn * blockDim.x + threadIdx.x) * pack;
            ToPack made;
#pragma unroll
            for (int i = 0; i < pack; ++i) made.at[i] = Cast::made(taken[turn].at[i]);
            *reinterpret_cast<ToPack *>(dst + at) = made;
        }
        return;
    }

    // 2. The last elements, or all of them, one by one.
#pragma unroll 1
    for (int turn = 0; turn < per_thread; ++turn) {
        const u64 at = first + (u64)turn * blockDim.x + threadIdx.x;
        if (at < n) dst[at] = Cast::made(src[at]);
    }
}

}  // namespace promoarray
