// Casts from 8 bits and fewer, by a table of the results for all codes.
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

#ifdef __AVX2__
// A register looks 16 results up at a time (twice the same, as each half sees only its own), by the
// low half of a code. Which of the 16 rows it is, is then decided by the other bits, one by one.
__m256i chosen(const __m256i *row, __m256i low, __m256i bit4, __m256i bit5, __m256i bit6) {
    const auto pair = [&](int i) {
        return _mm256_blendv_epi8(_mm256_shuffle_epi8(row[i], low),
                                  _mm256_shuffle_epi8(row[i + 1], low), bit4);
    };
    const __m256i first = _mm256_blendv_epi8(pair(0), pair(2), bit5);
    return _mm256_blendv_epi8(first, _mm256_blendv_epi8(pair(4), pair(6), bit5), bit6);
}

void look_up_rows(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const u8 *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<u8 *>(target);
    __m256i row[16];
    for (int i = 0; i < 16; ++i) {
        const auto *results = reinterpret_cast<const __m128i *>(work.table + 16 * i);
        row[i] = _mm256_broadcastsi128_si256(_mm_load_si128(results));
    }
    const __m256i low_half = _mm256_set1_epi8(15);
    std::size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m256i codes = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(src + i));
        const __m256i low = _mm256_and_si256(codes, low_half);
        // What decides is the top bit of each byte.
        const __m256i bit4 = _mm256_slli_epi16(codes, 3), bit5 = _mm256_slli_epi16(codes, 2);
        const __m256i bit6 = _mm256_slli_epi16(codes, 1);
        const __m256i found = _mm256_blendv_epi8(chosen(row, low, bit4, bit5, bit6),
                                                 chosen(row + 8, low, bit4, bit5, bit6), codes);
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(dst + i), found);
    }
    for (; i < n; ++i) dst[i] = work.table[src[i]];
}
#endif

#ifdef PROMOARRAY_VBMI
// With AVX-512 VBMI a register holds 64 of the results, and one instruction looks 64 codes up in
// two of them. Results of two bytes are looked up byte by byte.
struct Planes {
    __m512i quarter[4];
};

PROMOARRAY_VBMI Planes load_planes(const unsigned char *table, int stride) {
    alignas(64) unsigned char bytes[256];
    for (int i = 0; i < 256; ++i) bytes[i] = table[i * stride];
    Planes planes;
    for (int i = 0; i < 4; ++i) planes.quarter[i] = _mm512_load_si512(bytes + 64 * i);
    return planes;
}

PROMOARRAY_VBMI __m512i looked_up(__m512i codes, const Planes &t) {
    const __m512i low = _mm512_permutex2var_epi8(t.quarter[0], codes, t.quarter[1]);
    const __m512i high = _mm512_permutex2var_epi8(t.quarter[2], codes, t.quarter[3]);
    return _mm512_mask_mov_epi8(low, _mm512_movepi8_mask(codes), high);
}

PROMOARRAY_VBMI void look_up_8_vbmi(const void *source, void *target, std::size_t n,
                                    const Work &work) {
    const auto *src = static_cast<const u8 *>(source);
    auto *dst = static_cast<u8 *>(target);
    const Planes table = load_planes(work.table, 1);
    for (std::size_t i = 0; i < n; i += 64) {
        const __mmask64 there = n - i < 64 ? (1ull << (n - i)) - 1 : ~0ull;
        const __m512i codes = _mm512_maskz_loadu_epi8(there, src + i);
        _mm512_mask_storeu_epi8(dst + i, there, looked_up(codes, table));
    }
}

PROMOARRAY_VBMI void look_up_16_vbmi(const void *source, void *target, std::size_t n,
                                     const Work &work) {
    const auto *src = static_cast<const u8 *>(source);
    auto *dst = static_cast<u16 *>(target);
    const Planes low_table = load_planes(work.table, 2);
    const Planes high_table = load_planes(work.table + 1, 2);
    const __m512i first = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const __m512i second = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    for (std::size_t i = 0; i < n; i += 64) {
        const __mmask64 there = n - i < 64 ? (1ull << (n - i)) - 1 : ~0ull;
        const __m512i codes = _mm512_maskz_loadu_epi8(there, src + i);
        const __m512i low = looked_up(codes, low_table), high = looked_up(codes, high_table);
        // Bytes join to words within each 128 bits, which then go to their places.
        const __m512i even = _mm512_unpacklo_epi8(low, high), odd = _mm512_unpackhi_epi8(low, high);
        _mm512_mask_storeu_epi16(dst + i, (__mmask32)there,
                                 _mm512_permutex2var_epi64(even, first, odd));
        _mm512_mask_storeu_epi16(dst + i + 32, (__mmask32)(there >> 32),
                                 _mm512_permutex2var_epi64(even, second, odd));
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
        table[code] = (Target)cast(code, work.source, work.target, work.rule);
    }
    std::memcpy(work.table, table, sizeof table);
}

}  // namespace

Loop table_loop(Work &work) {
    static constexpr void (*fills[4])(Work &) = {fill<u8>, fill<u16>, fill<u32>, fill<u64>};
    static constexpr Loop loops[4] = {look_up<u8>, look_up<u16>, look_up<u32>, look_up<u64>};
    const int row = row_of(work.target);
    fills[row](work);
#ifdef PROMOARRAY_VBMI
    if (row == 0 && has_vbmi()) return look_up_8_vbmi;
    if (row == 1 && has_vbmi()) return look_up_16_vbmi;
#endif
#ifdef __AVX2__
    if (row == 0) return look_up_rows;
#endif
    return loops[row];
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
