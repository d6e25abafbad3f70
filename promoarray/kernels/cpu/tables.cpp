// Casts from 8 bits and fewer, by a table of the results for all codes.
#include <limits>

#include "loop.h"

// Little-endian, as all x86 is.
#ifdef __AVX512BW__
#define PROMOARRAY_VBMI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi")))
#endif

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

template <typename Target>
void look_up(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const u8 *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<Target *>(target);
    Target table[256];
    std::memcpy(table, work.table, sizeof table);
    for (std::size_t i = 0; i < n; ++i) dst[i] = table[src[i]];
}

// From bools, of which each byte but 0 is true.
template <typename Target>
void choose(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const u8 *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<Target *>(target);
    Target results[2];
    std::memcpy(results, work.table, sizeof results);
    const Target no = results[0], yes = results[1];
    for (std::size_t i = 0; i < n; ++i) dst[i] = src[i] != 0 ? yes : no;
}

#ifdef PROMOARRAY_VBMI
// With AVX-512 VBMI a register holds 64 of the results, and one instruction looks 64 codes up in
// two of them. Results of two bytes are looked up byte by byte.
struct Planes {
    __m512i quarter[4];
};

// The bytes of results lie apart: first the lowest of each.
PROMOARRAY_VBMI Planes load_planes(const Work &work, int byte) {
    Planes planes;
    for (int i = 0; i < 4; ++i) {
        planes.quarter[i] = _mm512_load_si512(work.table + 256 * byte + 64 * i);
    }
    return planes;
}

void split_bytes(unsigned char *table, std::size_t size) {
    unsigned char given[256 * 4];
    std::memcpy(given, table, 256 * size);
    for (std::size_t i = 0; i < 256 * size; ++i) table[i % size * 256 + i / size] = given[i];
}

PROMOARRAY_VBMI __m512i found_in(__m512i codes, const Planes &t) {
    const __m512i low = _mm512_permutex2var_epi8(t.quarter[0], codes, t.quarter[1]);
    const __m512i high = _mm512_permutex2var_epi8(t.quarter[2], codes, t.quarter[3]);
    return _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(codes), high);
}

// Whole registers are stored as such: a mask makes a store slow, whatever it says.
PROMOARRAY_VBMI inline void put(void *at, __m512i bytes, __mmask64 there) {
    if (there == ~0ull) _mm512_storeu_si512(at, bytes);
    else _mm512_mask_storeu_epi8(at, there, bytes);
}

// Of n elements from i on, those in a register of 64 bytes.
inline __mmask64 bytes_there(std::size_t i, std::size_t n, std::size_t size) {
    if (i >= n) return 0;
    const std::size_t left = (n - i) * size;
    return left < 64 ? (1ull << left) - 1 : ~0ull;
}

PROMOARRAY_VBMI void look_up_8_vbmi(const void *source, void *target, std::size_t n,
                                    const Work &work) {
    const auto *src = static_cast<const u8 *>(source);
    auto *dst = static_cast<u8 *>(target);
    const Planes table = load_planes(work, 0);
    for (std::size_t i = 0; i < n; i += 64) {
        const __mmask64 there = bytes_there(i, n, 1);
        const __m512i codes = _mm512_maskz_loadu_epi8(there, src + i);
        put(dst + i, found_in(codes, table), there);
    }
}

PROMOARRAY_VBMI void look_up_16_vbmi(const void *source, void *target, std::size_t n,
                                     const Work &work) {
    const auto *src = static_cast<const u8 *>(source);
    auto *dst = static_cast<u16 *>(target);
    const Planes low_table = load_planes(work, 0);
    const Planes high_table = load_planes(work, 1);
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    for (std::size_t i = 0; i < n; i += 64) {
        const __mmask64 there = bytes_there(i, n, 1);
        const __m512i codes = _mm512_maskz_loadu_epi8(there, src + i);
        const __m512i low = found_in(codes, low_table), high = found_in(codes, high_table);
        // Bytes join to words within each 128 bits, which then go to their places.
        const __m512i even = _mm512_unpacklo_epi8(low, high), odd = _mm512_unpackhi_epi8(low, high);
        put(dst + i, _mm512_permutex2var_epi64(even, first, odd), bytes_there(i, n, 2));
        put(dst + i + 32, _mm512_permutex2var_epi64(even, second, odd), bytes_there(i + 32, n, 2));
    }
}

PROMOARRAY_VBMI void look_up_32_vbmi(const void *source, void *target, std::size_t n,
                                     const Work &work) {
    const auto *src = static_cast<const u8 *>(source);
    auto *dst = static_cast<u32 *>(target);
    const Planes tables[4] = {load_planes(work, 0), load_planes(work, 1), load_planes(work, 2),
                              load_planes(work, 3)};
    for (std::size_t i = 0; i < n; i += 64) {
        const __mmask64 there = bytes_there(i, n, 1);
        const __m512i codes = _mm512_maskz_loadu_epi8(there, src + i);
        __m512i byte[4];
        for (int k = 0; k < 4; ++k) byte[k] = found_in(codes, tables[k]);
        // Bytes join to words and these to results within each 128 bits...
        const __m512i low[2] = {_mm512_unpacklo_epi8(byte[0], byte[1]),
                                _mm512_unpackhi_epi8(byte[0], byte[1])};
        const __m512i high[2] = {_mm512_unpacklo_epi8(byte[2], byte[3]),
                                 _mm512_unpackhi_epi8(byte[2], byte[3])};
        __m512i four[4];
        for (int k = 0; k < 2; ++k) {
            four[2 * k] = _mm512_unpacklo_epi16(low[k], high[k]);
            four[2 * k + 1] = _mm512_unpackhi_epi16(low[k], high[k]);
        }
        // ...of which each register gets those that follow one another.
        const __m512i first[2] = {_mm512_shuffle_i32x4(four[0], four[1], 0x44),
                                  _mm512_shuffle_i32x4(four[0], four[1], 0xee)};
        const __m512i second[2] = {_mm512_shuffle_i32x4(four[2], four[3], 0x44),
                                   _mm512_shuffle_i32x4(four[2], four[3], 0xee)};
        for (int k = 0; k < 2; ++k) {
            const __m512i even = _mm512_shuffle_i32x4(first[k], second[k], 0x88);
            const __m512i odd = _mm512_shuffle_i32x4(first[k], second[k], 0xdd);
            const std::size_t at = i + 32 * k;
            put(dst + at, even, bytes_there(at, n, 4));
            put(dst + at + 16, odd, bytes_there(at + 16, n, 4));
        }
    }
}

bool has_vbmi() {
    static const bool found = __builtin_cpu_supports("avx512vbmi") &&
                              __builtin_cpu_supports("avx512bw");
    return found;
}
#endif

template <typename Target>
void fill(Work &work) {
    Target table[256];
    for (u64 code = 0; code < 256; ++code) {
        table[code] = (Target)cast(code, work.source, work.target, work.mode);
    }
    std::memcpy(work.table, table, sizeof table);
}

// Of 16 bits the table is looked up where it lies. Eight codes are read at once and eight results
// written: a machine has fewer ports for memory than it could look up by.
template <typename Target>
PROMOARRAY_CAST void look_up_some(const u8 *src, u8 *dst, std::size_t n, const Target *table) {
    u16 code[8];
    Target found[8];
    std::memcpy(code, src, n * sizeof(u16));
    for (std::size_t k = 0; k < n; ++k) found[k] = table[code[k]];
    std::memcpy(dst, found, n * sizeof(Target));
}

// The look-ups keep a machine from reading ahead far enough by itself: that took a sixth longer.
template <typename Target>
PROMOARRAY_CAST void look_up_words(const u8 *PROMOARRAY_RESTRICT src, u8 *PROMOARRAY_RESTRICT dst,
                                   std::size_t n, const Target *table) {
    constexpr std::size_t some = 8, line = 64, codes = line / sizeof(u16), ahead = 512;
    const auto look_up = [&](std::size_t i, std::size_t count) {
        look_up_some(src + i * sizeof(u16), dst + i * sizeof(Target), count, table);
    };
    std::size_t i = 0;
    for (; i + codes <= n; i += codes) {
        ask_for(src + i * sizeof(u16) + ahead, line);
        for (std::size_t k = 0; k < codes; k += some) look_up(i + k, some);
    }
    for (; i + some <= n; i += some) look_up(i, some);
    look_up(i, n - i);
}

template <typename Target>
void look_up_given(const void *source, void *target, std::size_t n, const Work &work) {
    look_up_words(static_cast<const u8 *>(source), static_cast<u8 *>(target), n,
                  reinterpret_cast<const Target *>(work.adjustment.table));
}

}  // namespace

void look_up_bytes(const void *source, void *target, std::size_t n, const Work &work) {
    look_up<u8>(source, target, n, work);
}

namespace {

// By `work.table`.
Loop best_loop(Work &work) {
    static constexpr Loop loops[4] = {look_up_bytes, look_up<u16>, look_up<u32>, look_up<u64>};
    static constexpr Loop choices[4] = {choose<u8>, choose<u16>, choose<u32>, choose<u64>};
    const int row = row_of(work.target);
    if (work.source.kind == Kind::boolean) return choices[row];
#ifdef PROMOARRAY_VBMI
    static constexpr Loop found[3] = {look_up_8_vbmi, look_up_16_vbmi, look_up_32_vbmi};
    if (row < 3 && has_vbmi()) {
        split_bytes(work.table, size_of(work.target));
        return found[row];
    }
#endif
    const Loop by_rows = row_loop(work);
    return by_rows != nullptr ? by_rows : loops[row];
}

}  // namespace

void look_up_pairs(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *src = static_cast<const u8 *>(source);
    auto *dst = static_cast<u8 *>(target);
    look_up_words(src, dst, n / 2, work.pairs);
    if (n % 2 != 0) dst[n - 1] = work.table[src[n - 1]];
}

Loop table_loop(Work &work) {
    static constexpr void (*fills[4])(Work &) = {fill<u8>, fill<u16>, fill<u32>, fill<u64>};
    fills[row_of(work.target)](work);
    return best_loop(work);
}

Loop given_table_loop(Work &work) {
    static constexpr Loop loops[4] = {look_up_given<u8>, look_up_given<u16>, look_up_given<u32>,
                                      look_up_given<u64>};
    if (work.source.bits == 16) return loops[row_of(work.target)];
    std::memcpy(work.table, work.adjustment.table, 256 * size_of(work.target));
    return best_loop(work);
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
