// What the kernels for a GPU need besides the casts: codes in memory, walks over contiguous arrays.
// CuPy gives this text to NVRTC after those of cast.h and branch_free.h; it has no headers either.
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

// To float8_e4m3fn or float8_e5m2, which GPUs convert to since compute capability 8.9; beyond the
// largest number they give that, whatever the mode says.
template <bool finite>
PROMOARRAY_CAST u32 encode_by_machine(u32 bits, Format f, Edges edge) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
    u16 code;
    if (f.mantissa == 3)
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(code) : "f"(0.0f), "f"(as_float(bits)));
    else
        asm("cvt.rn.satfinite.e5m2x2.f32 %0, %1, %2;" : "=h"(code) : "f"(0.0f), "f"(as_float(bits)));
    const int lost = Float32::mantissa - f.mantissa;
    const u32 largest = (u32)f.largest + ((u32)(Float32::bias - f.bias) << f.mantissa);
    const u32 end = (largest << lost) + (1u << (lost - 1)) + (~largest & 1);  // ties to even
    const u32 magnitude = bits & 0x7fffffffu, infinity = 0x7f800000u, sign = bits >> 31;
    const u32 beyond = (u32)(!finite && magnitude == infinity ? edge.infinity : edge.overflow);
    const u32 quiet = (u32)edge.nan ^ (sign & edge.nan_sign) << 7;
    const u32 outside = !finite && magnitude > infinity ? quiet : beyond | sign << 7;
    return magnitude < end ? code : outside;
#else
    return encode<Float32, finite>(bits, f, edge);
#endif
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

// --- Contiguous arrays ---------------------------------------------------------------------------

// The two parts of a complex128.
struct alignas(16) Both {
    u64 at[2];
};

// Elements that are read or written by one access.
template <typename T, int size>
struct alignas(sizeof(T) * size) Pack {
    T at[size];
};

// An operand is an array, of which a thread takes a pack in each turn ...
template <typename Word, int pack, int turns>
struct Elements {
    const Word *__restrict__ at;
    Pack<Word, pack> taken[turns];

    PROMOARRAY_CAST bool aligned() const { return (u64)at % sizeof(Pack<Word, pack>) == 0; }
    PROMOARRAY_CAST void take(int turn, u64 first) {
        taken[turn] = *reinterpret_cast<const Pack<Word, pack> *>(at + first);
    }
    PROMOARRAY_CAST const Word &of(int turn, int i) const { return taken[turn].at[i]; }
    PROMOARRAY_CAST const Word &alone(u64 index) const { return at[index]; }
};

// ... or a number, the same for all elements.
template <typename Word>
struct Scalar {
    Word value;

    PROMOARRAY_CAST bool aligned() const { return true; }
    template <typename Where>
    PROMOARRAY_CAST void take(int, const Where &) {}
    PROMOARRAY_CAST const Word &of(int, int) const { return value; }
    PROMOARRAY_CAST const Word &alone(u64) const { return value; }
};

// A block takes as many elements as its threads have turns; in each turn the packs of its threads
// lie side by side.
template <typename To, int pack, int turns, typename Kernel, typename... Operands>
PROMOARRAY_CAST void in_packs(const Kernel &kernel, void *target, u64 n, Operands &...x) {
    using ToPack = Pack<To, pack>;
    To *__restrict__ y = static_cast<To *>(target);
    const u64 first = (u64)blockIdx.x * blockDim.x * (pack * turns);

    // 1. A whole block of elements at addresses that packs can be read from.
    const bool aligned = (u64)target % sizeof(ToPack) == 0 && (x.aligned() && ...);
    if (aligned && first + (u64)blockDim.x * (pack * turns) <= n) {
#pragma unroll
        for (int turn = 0; turn < turns; ++turn) {
            const u64 at = first + ((u64)turn * blockDim.x + threadIdx.x) * pack;
            (x.take(turn, at), ...);
        }
#pragma unroll
        for (int turn = 0; turn < turns; ++turn) {
            const u64 at = first + ((u64)turn * blockDim.x + threadIdx.x) * pack;
            ToPack made;
#pragma unroll
            for (int i = 0; i < pack; ++i) kernel.run(x.of(turn, i)..., made.at[i]);
            *reinterpret_cast<ToPack *>(y + at) = made;
        }
        return;
    }

    // 2. The last elements, or all of them, one by one.
#pragma unroll 1
    for (int turn = 0; turn < pack * turns; ++turn) {
        const u64 at = first + (u64)turn * blockDim.x + threadIdx.x;
        if (at < n) kernel.run(x.alone(at)..., y[at]);
    }
}

// --- All answers there are -----------------------------------------------------------------------

// Of codes of 8 bits, computed by the threads of a block together.
template <typename To, typename Kernel>
PROMOARRAY_CAST void all_answers(const Kernel &kernel, To *table) {
#if defined(__CUDACC_RTC__)
    for (u32 code = threadIdx.x; code < 256; code += blockDim.x) kernel.run((u8)code, table[code]);
    __syncthreads();
#else  // where threads run one after another
    for (u32 code = 0; code < 256; ++code) kernel.run((u8)code, table[code]);
#endif
}

template <typename To>
struct Looked {
    const To *table;

    PROMOARRAY_CAST void run(u8 code, To &answer) const { answer = table[code]; }
};

}  // namespace promoarray
