// Operations that choose one of their operands: the greater and the lesser, clip, where. NaN is
// neither greater nor less than anything.
#include "elementwise.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

template <int count>
struct Choice { static constexpr int operands = count; static constexpr bool tests = false; };

// Of two that are equal the second; NaN if either is, the first of two.
struct Maximum : Choice<2> {
    template <typename T> static T of(T x, T y) { return (x > y) | (x != x) ? x : y; }
};
struct Minimum : Choice<2> {
    template <typename T> static T of(T x, T y) { return (x < y) | (x != x) ? x : y; }
};

// What makes a number one that a bound does not replace.
struct Within {  // at the bound it stays
    template <typename T> static auto above(T x, T bound) { return x >= bound; }
    template <typename T> static auto below(T x, T bound) { return x <= bound; }
};
struct UpTo {  // at the bound it is replaced, which of zeros takes the sign
    template <typename T> static auto above(T x, T bound) { return x > bound; }
    template <typename T> static auto below(T x, T bound) { return x < bound; }
};
struct Signed {  // -0.0 is below 0.0
    static f32 with_sign(f32 x) { return std::copysign(1.0f, x); }
    static f64 with_sign(f64 x) { return std::copysign(1.0, x); }
#ifdef __F16C__
    static __m256 with_sign(__m256 x) {
        return _mm256_or_ps(_mm256_and_ps(x, _mm256_set1_ps(-0.0f)), _mm256_set1_ps(1.0f));
    }
#endif
    template <typename T> static auto above(T x, T bound) {
        return (x > bound) | ((x == bound) & (with_sign(bound) < 0));
    }
    template <typename T> static auto below(T x, T bound) {
        return (x < bound) | ((x == bound) & (with_sign(bound) > 0));
    }
};

template <typename Bounds>
struct ClipLow : Choice<2> {
    template <typename T> static T of(T x, T low) {
        return Bounds::above(x, low) | (x != x) ? x : low;
    }
};
template <typename Bounds>
struct ClipHigh : Choice<2> {
    template <typename T> static T of(T x, T high) {
        return Bounds::below(x, high) | (x != x) ? x : high;
    }
};
template <typename Bounds>
struct Clip : Choice<3> {
    template <typename T> static T of(T x, T low, T high) {
        return ClipHigh<Bounds>::of(ClipLow<Bounds>::of(x, low), high);
    }
};
struct ClipLowLast : Choice<3> {
    template <typename T> static T of(T x, T low, T high) {
        return ClipLow<Within>::of(ClipHigh<Within>::of(x, high), low);
    }
};

// By the length of elements alone.
template <typename Word>
void where_words(const void *const *operands, void *result, std::size_t n) {
    const auto *mask = static_cast<const u8 *>(operands[0]);
    const auto *x = static_cast<const Word *>(operands[1]);
    const auto *y = static_cast<const Word *>(operands[2]);
    auto *PROMOARRAY_RESTRICT out = static_cast<Word *>(result);
    for (std::size_t i = 0; i < n; ++i) {
        const Word a = x[i], b = y[i];
        out[i] = mask[i] != 0 ? a : b;
    }
}
Run where_of(Type t) {
    constexpr Run words[4] = {where_words<u8>, where_words<u16>, where_words<u32>,
                              where_words<u64>};
    return words[row_of(t)];
}

constexpr Row rows[] = {
    {"maximum", 2, false, false, false, on_numbers<Maximum>},
    {"minimum", 2, false, false, false, on_numbers<Minimum>},
    {"clip_beyond", 3, false, false, false, on_numbers<Clip<Within>>},
    {"clip_beyond_low", 2, false, false, false, on_numbers<ClipLow<Within>>},
    {"clip_beyond_high", 2, false, false, false, on_numbers<ClipHigh<Within>>},
    {"clip_up_to", 3, false, false, false, on_numbers<Clip<UpTo>>},
    {"clip_up_to_low", 2, false, false, false, on_numbers<ClipLow<UpTo>>},
    {"clip_up_to_high", 2, false, false, false, on_numbers<ClipHigh<UpTo>>},
    {"clip_signed_zeros", 3, false, false, false, on_floats<Clip<Signed>>},
    {"clip_signed_zeros_low", 2, false, false, false, on_floats<ClipLow<Signed>>},
    {"clip_signed_zeros_high", 2, false, false, false, on_floats<ClipHigh<Signed>>},
    {"low_bound_last", 3, false, false, false, on_numbers<ClipLowLast>},
    {"low_bound_last_low", 2, false, false, false, on_numbers<ClipLow<Within>>},
    {"low_bound_last_high", 2, false, false, false, on_numbers<ClipHigh<Within>>},
    {"where", 3, true, false, false, where_of},
};

}  // namespace

Operation find_choice(const char *name, Type type) { return find_row(rows, name, type); }

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
