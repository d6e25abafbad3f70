// Truncation in registers: floats become words of 32 bits by x86's own conversion, whatever a mode
// says of those that no word holds (word_ways.h), and words become integers of as many bits as the target
// has.
#include "word_ways.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {

#ifdef __SSE2__
namespace {

// --- From words to what the target has ----------------------------------------------------------
// The low ones of `mask` are kept, or the nearest end is taken. Whether the first step there and
// the last have a sign depends on the target; of 8 bits without one, after a first step to 16 bits
// without one, the upper half of those is 0.

#ifdef __AVX512DQ__
template <typename Target>
constexpr std::size_t step_of = most_words;

struct KeepLow {
    static PROMOARRAY_CAST __m256i pack(const Words *words, Words mask, u16) {
        return _mm512_cvtepi32_epi16(_mm512_and_si512(words[0], mask));
    }
    static PROMOARRAY_CAST __m128i pack(const Words *words, Words mask, u8) {
        return _mm512_cvtepi32_epi8(_mm512_and_si512(words[0], mask));
    }
};
template <bool first_signed, bool last_signed>
struct KeepNearest {
    static PROMOARRAY_CAST Words positive(Words words) {
        return _mm512_max_epi32(words, _mm512_setzero_si512());
    }
    static PROMOARRAY_CAST __m256i pack(const Words *words, Words, u16) {
        return first_signed ? _mm512_cvtsepi32_epi16(words[0])
                            : _mm512_cvtusepi32_epi16(positive(words[0]));
    }
    static PROMOARRAY_CAST __m128i pack(const Words *words, Words, u8) {
        if (last_signed) return _mm512_cvtsepi32_epi8(words[0]);
        const Words above = positive(words[0]);
        const __mmask16 lower = _mm512_cmple_epi32_mask(above, _mm512_set1_epi32(0x7fff));
        return _mm512_cvtusepi32_epi8(first_signed ? above : _mm512_maskz_mov_epi32(lower, above));
    }
};
#else
template <typename Target>
constexpr std::size_t step_of = sizeof(Words) / sizeof(Target);

struct KeepLow {
    static PROMOARRAY_CAST Words pairs(const Words *words, Words mask) {
        return unsigned_pairs(masked(words[0], mask), masked(words[1], mask));
    }
    static PROMOARRAY_CAST Words pack(const Words *words, Words mask, u16) {
        return in_order(pairs(words, mask));
    }
    static PROMOARRAY_CAST Words pack(const Words *words, Words mask, u8) {
        return bytes_in_order(unsigned_bytes(pairs(words, mask), pairs(words + 2, mask)));
    }
};
template <bool first_signed, bool last_signed>
struct KeepNearest {
    static PROMOARRAY_CAST Words pairs(const Words *words) {
        return first_signed ? signed_pairs(words[0], words[1])
                            : unsigned_pairs(words[0], words[1]);
    }
    static PROMOARRAY_CAST Words pack(const Words *words, Words, u16) {
        return in_order(pairs(words));
    }
    static PROMOARRAY_CAST Words pack(const Words *words, Words, u8) {
        const Words low = pairs(words), high = pairs(words + 2);
        return bytes_in_order(last_signed ? signed_bytes(low, high) : unsigned_bytes(low, high));
    }
};
#endif
struct KeepAll {
    static PROMOARRAY_CAST Words pack(const Words *words, Words, u32) { return words[0]; }
};

// --- The loop -----------------------------------------------------------------------------------

template <typename Single, typename Way>
PROMOARRAY_CAST Words words_at(const Single *x, const Way &way) { return way.of(load(x)); }
template <typename Way>
PROMOARRAY_CAST Words words_at(const f64 *x, const Way &way) {
    return joined(way.of(load(x)), way.of(load(x + most_words / 2)));
}

template <typename Float, typename Target, typename Way, typename Pack>
void by_words(const void *source, void *target, std::size_t n, const Work &work) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Float *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<Target *>(target);
    constexpr std::size_t step = step_of<Target>;
    const Words mask = all_words((u32)low_bits(~0ull, work.target.bits));
    const Way way(work);
    const auto packed_at = [&](const Float *x) {
        Words words[step / most_words];
        for (std::size_t k = 0; k < step / most_words; ++k) {
            words[k] = words_at(x + most_words * k, way);
        }
        return Pack::pack(words, mask, Target());
    };
    std::size_t i = 0;
    for (; i + step <= n; i += step) {
        const auto made = packed_at(src + i);
        std::memcpy(dst + i, &made, sizeof made);
    }
    if (i == n) return;
    Float rest[step] = {};
    std::memcpy(rest, src + i, (n - i) * sizeof(Float));
    const auto made = packed_at(rest);
    std::memcpy(dst + i, &made, (n - i) * sizeof(Target));
}

// --- The choice ---------------------------------------------------------------------------------

using ToSigned = KeepNearest<true, true>;
using ToUnsigned8 = KeepNearest<true, false>;
using ToUnsigned16 = KeepNearest<false, false>;

template <typename Float, typename Way>
Loop low_loop(bool is_short) {
    return is_short ? by_words<Float, u16, Way, KeepLow> : by_words<Float, u8, Way, KeepLow>;
}

template <typename Float, typename Way>
Loop nearest_loop(Type target, bool by_halves) {
    if (target.bits == 16) {
        return is_signed(target) ? by_words<Float, u16, Way, ToSigned>
                                 : by_words<Float, u16, Way, ToUnsigned16>;
    }
    if (is_signed(target)) return by_words<Float, u8, Way, ToSigned>;
    return by_halves ? by_words<Float, u8, Way, ToUnsigned16>
                     : by_words<Float, u8, Way, ToUnsigned8>;
}

template <typename Float>
Loop few_loop_of(const Limits &limit, Type source, const Work &work) {
    const Type target = work.target;
    const bool is_short = target.bits == 16, whole = target.bits >= 8;
    const bool to_signed = is_signed(target);
    if (same_limits(limit, indefinite(32))) return low_loop<Float, AsMachine>(is_short);
    // 1. The nearest end. By packing a 16-bit integer without sign is one from its upper half on.
    if (same_limits(limit, saturating(target.bits, to_signed))) {
        if (!whole) return low_loop<Float, Saturating<true, false>>(is_short);
        return to_signed ? nearest_loop<Float, Saturating<false, true>>(target, false)
                         : nearest_loop<Float, Saturating<false, false>>(target, false);
    }
    const bool by_halves = limit.near == 0x7fff;
    if (whole && limit.near != 0 && same_limits(limit, packed(target.bits, to_signed, by_halves))) {
        return nearest_loop<Float, AsMachine>(target, by_halves);
    }
    // 2. Low bits; those of a lowest number, as some have for NaN, are 0. Of a float with few bits
    //    itself they are 0 from 2^31 on.
    Limits kept = limit;
    kept.nan = low_bits(limit.nan, target.bits);
    const bool nearest = same_limits(kept, saturating(64, true));
    if constexpr (is_half<Float>) {
        if (nearest || same_limits(kept, saturating(32, true)))
            return low_loop<Float, LowOfHalf<true>>(is_short);
        if (same_limits(kept, saturating(32, false)))
            return low_loop<Float, LowOfHalf<false>>(is_short);
    }
    if (same_limits(kept, saturating(32, true))) return low_loop<Float, LowSaturated>(is_short);
    const bool few = !is_double<Float> && 31 - source.format.mantissa >= target.bits;
    if (same_limits(kept, saturating(32, false))) {
        if constexpr (!is_double<Float>) {
            if (few) return low_loop<Float, FewUnsignedWords>(is_short);
        }
        return low_loop<Float, UnsignedWords>(is_short);
    }
    if (nearest && few) return low_loop<Float, LowSaturated>(is_short);
    // (The lowest int64 has none of them.)
    const bool lowest = same_limits(limit, indefinite(64)) && !few;
    if constexpr (has_low_of_long<Float>) {
        if (nearest) return low_loop<Float, LowOfLong<true>>(is_short);
        if (lowest) return low_loop<Float, LowOfLong<false>>(is_short);
    }
    return nullptr;
}

template <typename Float>
Loop word_loop_of(const Limits &limit) {
    if constexpr (is_double<Float>) {
        Limits but_nan = limit;
        but_nan.nan = limit.nan ^ 1ull << 31;
        if (same_limits(but_nan, saturating(32, true)))
            return by_words<Float, u32, SignedWordsOrHighest, KeepAll>;
        if (same_limits(but_nan, saturating(32, false)))
            return by_words<Float, u32, UnsignedWordsOrHighest, KeepAll>;
    }
    if (same_limits(limit, saturating(32, true))) return by_words<Float, u32, SignedWords, KeepAll>;
    if (same_limits(limit, saturating(32, false))) {
        return by_words<Float, u32, UnsignedWords, KeepAll>;
    }
    if constexpr (has_low_of_long<Float>) {
        if (same_limits(limit, saturating(64, true)))
            return by_words<Float, u32, LowOfLong<true>, KeepAll>;
        if (same_limits(limit, indefinite(64)))
            return by_words<Float, u32, LowOfLong<false>, KeepAll>;
    }
    return nullptr;
}

}  // namespace

Loop few_loop(const Limits &limit, Type source, const Work &work) {
    if (work.target.bits > 16) return nullptr;
    if (is_float64(source)) return few_loop_of<f64>(limit, source, work);
#ifdef __F16C__
    if (is_float16(source)) return few_loop_of<StoredAs<Half>>(limit, source, work);
    if (is_bfloat16(source)) return few_loop_of<StoredAs<Bfloat>>(limit, source, work);
#endif
    return few_loop_of<f32>(limit, source, work);
}
Loop word_loop(const Limits &limit, Type source) {
    if (is_float64(source)) return word_loop_of<f64>(limit);
#ifdef __F16C__
    if (is_float16(source)) return word_loop_of<StoredAs<Half>>(limit);
    if (is_bfloat16(source)) return word_loop_of<StoredAs<Bfloat>>(limit);
#endif
    return word_loop_of<f32>(limit);
}
Loop half_away_loop(bool is_double) {
    return is_double ? low_loop<f64, HalfAway>(false) : low_loop<f32, HalfAway>(false);
}
#else
Loop few_loop(const Limits &, Type, const Work &) { return nullptr; }
Loop word_loop(const Limits &, Type) { return nullptr; }
Loop half_away_loop(bool) { return nullptr; }
#endif

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
