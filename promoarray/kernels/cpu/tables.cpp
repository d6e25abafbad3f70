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
struct Rows {
    __m256i row[16];

    // Every `stride`th byte of a table.
    Rows(const unsigned char *table, int stride) {
        alignas(16) unsigned char bytes[256];
        for (int i = 0; i < 256; ++i) bytes[i] = table[i * stride];
        for (int i = 0; i < 16; ++i) {
            const auto *results = reinterpret_cast<const __m128i *>(bytes + 16 * i);
            row[i] = _mm256_broadcastsi128_si256(_mm_load_si128(results));
        }
    }
};

struct Codes {
    __m256i low, bit4, bit5, bit6, bit7;  // what decides is the top bit of each byte

    explicit Codes(const u8 *at) {
        bit7 = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(at));
        low = _mm256_and_si256(bit7, _mm256_set1_epi8(15));
        bit4 = _mm256_slli_epi16(bit7, 3);
        bit5 = _mm256_slli_epi16(bit7, 2);
        bit6 = _mm256_slli_epi16(bit7, 1);
    }
};

PROMOARRAY_CAST __m256i looked_up(const Codes &c, const Rows &table) {
    const auto pair = [&](int i) {
        return _mm256_blendv_epi8(_mm256_shuffle_epi8(table.row[i], c.low),
                                  _mm256_shuffle_epi8(table.row[i + 1], c.low), c.bit4);
    };
    const auto four = [&](int i) { return _mm256_blendv_epi8(pair(i), pair(i + 2), c.bit5); };
    const auto eight = [&](int i) { return _mm256_blendv_epi8(four(i), four(i + 4), c.bit6); };
    return _mm256_blendv_epi8(eight(0), eight(8), c.bit7);
}

void look_up_rows(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const u8 *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<u8 *>(target);
    const Rows table(work.table, 1);
    std::size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const __m256i found = looked_up(Codes(src + i), table);
        _mm256_storeu_si256(reinterpret_cast<__m256i *>(dst + i), found);
    }
    for (; i < n; ++i) dst[i] = work.table[src[i]];
}

// Results of two bytes, byte by byte.
void look_up_row_pairs(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const u8 *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<u16 *>(target);
    const Rows low_table(work.table, 2), high_table(work.table + 1, 2);
    std::size_t i = 0;
    for (; i + 32 <= n; i += 32) {
        const Codes codes(src + i);
        const __m256i low = looked_up(codes, low_table), high = looked_up(codes, high_table);
        // Bytes join to words within each half, which then go to their places.
        const __m256i even = _mm256_unpacklo_epi8(low, high), odd = _mm256_unpackhi_epi8(low, high);
        auto *out = reinterpret_cast<__m256i *>(dst + i);
        _mm256_storeu_si256(out, _mm256_permute2x128_si256(even, odd, 0x20));
        _mm256_storeu_si256(out + 1, _mm256_permute2x128_si256(even, odd, 0x31));
    }
    for (; i < n; ++i) std::memcpy(dst + i, work.table + 2 * src[i], 2);
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

PROMOARRAY_VBMI __m512i found_in(__m512i codes, const Planes &t) {
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
        _mm512_mask_storeu_epi8(dst + i, there, found_in(codes, table));
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
        const __m512i low = found_in(codes, low_table), high = found_in(codes, high_table);
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
        table[code] = (Target)cast(code, work.source, work.target, work.mode);
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
    if (row == 1) return look_up_row_pairs;
#endif
    return loops[row];
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
