// Casts from 8 bits and fewer by AVX2's shuffle of bytes: a table of the results for all codes, row
// by row.
#include <initializer_list>

#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {

#ifdef __AVX2__
namespace {

// A shuffle looks up a row of 16 results, by the low half of a code. The 16 rows of a table have few
// shapes: most differ from another by a number that is added to all of a row, as one binade differs
// from the next, and negative numbers from positive ones. So a result is what its row begins with, by
// the high half of the code, and what its shape adds, by the low half. What one shape adds is there for
// all rows; what each other one adds more is looked up by an index that has its top bit set, which
// gives 0, where the row has another shape.
//
// Where the lower half of a table tells the upper one, half of the rows do. Their shapes follow one
// another, as ranges of numbers do; that a code is beyond the end of a range is one addition. Of
// integers of few bits the rows may hold more, as those of 8 bits do, and lose it at last.
enum class Fold { none, flipped, negated, negated_few, twos_complement };
constexpr bool is_negated(Fold fold) { return fold == Fold::negated || fold == Fold::negated_few; }

u32 result_at(const unsigned char *table, int code, std::size_t size) {
    u32 result = 0;
    std::memcpy(&result, table + (std::size_t)code * size, size);
    return result;
}

// The upper half from the lower one.
u32 folded_from(const unsigned char *table, int code, std::size_t size, Fold fold, u32 flip,
                u32 all) {
    const int lower = fold == Fold::twos_complement ? 256 - code : code - 128;
    const u32 found = result_at(table, lower, size);
    return is_negated(fold) ? (0 - found) & all : found ^ flip;
}

// The bits that a result may have; 0 if the table is not to be folded so.
u32 bits_of_results(const Work &work, std::size_t size, Fold fold) {
    const u32 all = size == 4 ? ~0u : (1u << 8 * size) - 1, few = (1u << work.target.bits % 8) - 1;
    if (fold != Fold::negated_few) return all;
    u32 met = work.target.bits < 8 ? 0 : all;
    for (int code = 0; code < 256; ++code) met |= result_at(work.table, code, size);
    return (met & ~few) == 0 ? few : 0;
}

// How the table folds, if it does, and what differs between its halves.
Fold fold_of(const Work &work, std::size_t size, Rows &rows) {
    const unsigned char *table = work.table;
    for (const Fold fold :
         {Fold::flipped, Fold::negated, Fold::negated_few, Fold::twos_complement}) {
        const int second = fold == Fold::twos_complement ? 255 : 129;
        const bool flips = !is_negated(fold);
        const u32 flip = flips ? result_at(table, 1, size) ^ result_at(table, second, size) : 0;
        const u32 all = bits_of_results(work, size, fold);
        int exception = 128, differ = fold == Fold::twos_complement;  // 128 has no positive one
        if (all == 0) continue;
        for (int code = 128 + differ; code < 256; ++code) {
            const u32 found = folded_from(table, code, size, fold, flip, all);
            if (found == result_at(table, code, size)) continue;
            ++differ;
            exception = code;
        }
        if (differ > 1) continue;
        const u32 result = result_at(table, exception, size);
        rows.flip = flip;
        rows.exception = (u8)exception;
        rows.exceptional = flips ? result : 0 - result;  // it is negated again
        return fold;
    }
    return Fold::none;
}

// Every `stride`th byte of a table.
Plane plane_of(const unsigned char *table, std::size_t stride, bool folded) {
    const int rows = folded ? 8 : 16;
    u8 shape[16][16], of[16];
    Plane plane = {};
    // 1. The shapes: those that follow one another, or all that there are.
    int shapes = 0;
    for (int row = 0; row < rows; ++row) {
        u8 found[16];
        for (int k = 0; k < 16; ++k) found[k] = table[(16 * (std::size_t)row + k) * stride];
        const u8 start = plane.start[row] = found[0];
        for (u8 &byte : found) byte = (u8)(byte - start);
        int at = folded && shapes > 0 ? shapes - 1 : 0;
        while (at < shapes && std::memcmp(shape[at], found, 16) != 0) ++at;
        if (at == shapes) std::memcpy(shape[shapes++], found, 16);
        of[row] = (u8)at;
    }
    // 2. What each has more than the next one, or than the last.
    const int last = plane.others = shapes - 1;
    std::memcpy(plane.shape, shape[last], 16);
    for (int i = 0; i < last; ++i) {
        const u8 *next = shape[folded ? i + 1 : last];
        for (int k = 0; k < 16; ++k) plane.other[i][k] = (u8)(shape[i][k] - next[k]);
        int end = 0;
        for (int row = 0; row < rows; ++row) {
            plane.index[i][row] = of[row] == i ? 0 : 0x80;
            if (of[row] <= i) end = row + 1;
        }
        if (folded) std::memset(plane.index[i], 128 - 16 * end, 16);
    }
    return plane;
}

// Twice the same, as each half of a register sees only its own.
PROMOARRAY_CAST __m256i row_at(const unsigned char *row) {
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i *>(row)));
}

struct Codes { __m256i low, high; };

// Of a few registers, for which each row is fetched once.
template <bool folded, int count>
PROMOARRAY_CAST void look_up(const Codes *c, const Plane &plane, __m256i *sum) {
    const __m256i start = row_at(plane.start), shape = row_at(plane.shape);
    for (int j = 0; j < count; ++j) {
        sum[j] = _mm256_add_epi8(_mm256_shuffle_epi8(start, c[j].high),
                                 _mm256_shuffle_epi8(shape, c[j].low));
    }
    for (int i = 0; i < plane.others; ++i) {
        const __m256i row = row_at(plane.index[i]), other = row_at(plane.other[i]);
        for (int j = 0; j < count; ++j) {
            const __m256i low = c[j].low;
            const __m256i index =
                folded ? _mm256_add_epi8(low, row)
                       : _mm256_or_si256(low, _mm256_shuffle_epi8(row, c[j].high));
            sum[j] = _mm256_add_epi8(sum[j], _mm256_shuffle_epi8(other, index));
        }
    }
}

PROMOARRAY_CAST void put(__m256i results, void *at) {
    _mm256_storeu_si256(static_cast<__m256i *>(at), results);
}
// Joining goes on in each half of a register by itself, so the halves are put in order at last.
PROMOARRAY_CAST void put_halves(__m256i first, __m256i second, __m256i *at, int apart) {
    put(_mm256_permute2x128_si256(first, second, 0x20), at);
    put(_mm256_permute2x128_si256(first, second, 0x31), at + apart);
}

// Results from their bytes, negated where the sign is negative; it is -1 or 1.
template <bool negates>
PROMOARRAY_CAST void put_joined(const __m256i *byte, __m256i sign, u8 *at) {
    put(negates ? _mm256_sign_epi8(byte[0], sign) : byte[0], at);
}
template <bool negates>
PROMOARRAY_CAST void put_joined(const __m256i *byte, __m256i sign, u16 *at) {
    __m256i low = _mm256_unpacklo_epi8(byte[0], byte[1]);
    __m256i high = _mm256_unpackhi_epi8(byte[0], byte[1]);
    if (negates) {
        low = _mm256_sign_epi16(low, _mm256_unpacklo_epi8(sign, sign));
        high = _mm256_sign_epi16(high, _mm256_unpackhi_epi8(sign, sign));
    }
    put_halves(low, high, reinterpret_cast<__m256i *>(at), 1);
}
template <bool negates>
PROMOARRAY_CAST void put_joined(const __m256i *byte, __m256i sign, u32 *at) {
    const __m256i lower[2] = {_mm256_unpacklo_epi8(byte[0], byte[1]),
                              _mm256_unpackhi_epi8(byte[0], byte[1])};
    const __m256i upper[2] = {_mm256_unpacklo_epi8(byte[2], byte[3]),
                              _mm256_unpackhi_epi8(byte[2], byte[3])};
    const __m256i signs[2] = {_mm256_unpacklo_epi8(sign, sign), _mm256_unpackhi_epi8(sign, sign)};
    for (int k = 0; k < 2; ++k) {
        __m256i low = _mm256_unpacklo_epi16(lower[k], upper[k]);
        __m256i high = _mm256_unpackhi_epi16(lower[k], upper[k]);
        if (negates) {
            low = _mm256_sign_epi32(low, _mm256_unpacklo_epi16(signs[k], signs[k]));
            high = _mm256_sign_epi32(high, _mm256_unpackhi_epi16(signs[k], signs[k]));
        }
        put_halves(low, high, reinterpret_cast<__m256i *>(at) + k, 2);
    }
}

// Codes of the lower half.
template <Fold fold>
PROMOARRAY_CAST __m256i folded_codes(__m256i x) {
    if (fold == Fold::none) return x;
    return fold == Fold::twos_complement ? _mm256_abs_epi8(x)
                                         : _mm256_and_si256(x, _mm256_set1_epi8(0x7f));
}

// The results of so many registers of codes; the bytes below `lowest` are 0.
template <typename Word, int lowest, Fold fold, int count>
PROMOARRAY_CAST void look_up_some(const u8 *PROMOARRAY_RESTRICT src, Word *PROMOARRAY_RESTRICT dst,
                                  const Work &work) {
    constexpr int bytes = sizeof(Word);
    constexpr bool folded = fold != Fold::none, negates = is_negated(fold);
    const Rows &rows = work.rows;
    const __m256i zero = _mm256_setzero_si256(), half = _mm256_set1_epi8(15);
    const __m256i exception = _mm256_set1_epi8((char)rows.exception);
    const __m256i few = _mm256_set1_epi8((char)((1 << work.target.bits % 8) - 1));
    __m256i x[count], byte[bytes][count];
    Codes codes[count];
    for (int j = 0; j < count; ++j) {
        x[j] = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(src + 32 * j));
        const __m256i code = folded_codes<fold>(x[j]);
        codes[j].low = folded ? code : _mm256_and_si256(code, half);
        codes[j].high = _mm256_and_si256(_mm256_srli_epi16(code, 4), half);
    }
    for (int k = 0; k < bytes; ++k) {
        if (k >= lowest) look_up<folded, count>(codes, rows.plane[k], byte[k]);
        else for (__m256i &nothing : byte[k]) nothing = zero;
    }
    for (int j = 0; j < count; ++j) {
        const __m256i negative = _mm256_cmpgt_epi8(zero, x[j]);
        __m256i result[bytes];
        for (int k = 0; k < bytes; ++k) {
            result[k] = byte[k][j];
            if (!folded || k < lowest) continue;
            if (!negates) {
                const __m256i flip = _mm256_set1_epi8((char)(rows.flip >> 8 * k));
                result[k] = _mm256_xor_si256(result[k], _mm256_and_si256(negative, flip));
            }
            const __m256i other = _mm256_set1_epi8((char)(rows.exceptional >> 8 * k));
            const __m256i is_other = _mm256_cmpeq_epi8(x[j], exception);
            result[k] = _mm256_blendv_epi8(result[k], other, is_other);
        }
        const __m256i sign = _mm256_or_si256(negative, _mm256_set1_epi8(1));
        if (fold == Fold::negated_few) {
            put(_mm256_and_si256(_mm256_sign_epi8(result[0], sign), few), dst + 32 * j);
            continue;
        }
        put_joined<negates>(result, sign, dst + 32 * j);
    }
}

template <typename Word, int lowest, Fold fold>
void look_up_rows(const void *source, void *target, std::size_t n, const Work &work) {
    constexpr std::size_t size = sizeof(Word), few = 64, many = size == 1 ? 128 : few;
    const auto *src = static_cast<const u8 *>(source);
    auto *dst = static_cast<Word *>(target);
    std::size_t i = 0;
    for (; i + many <= n; i += many) look_up_some<Word, lowest, fold, many / 32>(src + i, dst + i, work);
    for (; i + few <= n; i += few) look_up_some<Word, lowest, fold, few / 32>(src + i, dst + i, work);
    for (; i < n; ++i) std::memcpy(dst + i, work.table + size * src[i], size);
}

// How many shapes the bytes have besides the first ones.
int prepare(Work &work, int bytes, bool folded) {
    int others = 0;
    for (int k = 0; k < bytes; ++k) {
        work.rows.plane[k] = plane_of(work.table + k, (std::size_t)bytes, folded);
        others += work.rows.plane[k].others;
    }
    return others;
}

// Folding pays where it saves more shapes than it costs, about one a byte.
template <typename Word, int lowest>
Loop rows_loop(Work &work) {
    constexpr int bytes = sizeof(Word);
    const Fold fold = fold_of(work, bytes, work.rows);
    const int others = prepare(work, bytes, false);
    if (fold == Fold::none) return look_up_rows<Word, lowest, Fold::none>;
    if (prepare(work, bytes, true) + bytes >= others) {
        prepare(work, bytes, false);
        return look_up_rows<Word, lowest, Fold::none>;
    }
    switch (fold) {
        case Fold::flipped: return look_up_rows<Word, lowest, Fold::flipped>;
        case Fold::negated: return look_up_rows<Word, lowest, Fold::negated>;
        case Fold::negated_few: return look_up_rows<u8, 0, Fold::negated_few>;
        default: return look_up_rows<Word, lowest, Fold::twos_complement>;
    }
}

// Whether the lower half of results of 4 bytes is 0, as of short floats made float32.
bool has_upper_halves(const Work &work) {
    for (int code = 0; code < 256; ++code) {
        if (result_at(work.table, code, 4) & 0xffff) return false;
    }
    return true;
}

}  // namespace

Loop row_loop(Work &work) {
    const int row = row_of(work.target);
    if (row == 0) return rows_loop<u8, 0>(work);
    if (row == 1) return rows_loop<u16, 0>(work);
    if (row == 3) return nullptr;  // its memory takes longer than one look-up each
    return has_upper_halves(work) ? rows_loop<u32, 2>(work) : rows_loop<u32, 0>(work);
}
#else
Loop row_loop(Work &) { return nullptr; }
#endif

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
