// Eight elements at a time, in registers where the machine has those: of float32 one of 256 bits or
// two of 128.
#pragma once

#include "fold_source.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {

template <typename T> struct Eight {
    T lane[8];
    Eight &operator+=(const Eight &y) {
        for (int k = 0; k < 8; ++k) lane[k] += y.lane[k];
        return *this;
    }
    friend Eight operator-(Eight x, T y) {
        for (T &value : x.lane) value -= y;
        return x;
    }
    friend Eight operator*(Eight x, const Eight &y) {
        for (int k = 0; k < 8; ++k) x.lane[k] *= y.lane[k];
        return x;
    }
};

template <typename Read>
PROMOARRAY_CAST Eight<typename Read::T> eight(const typename Read::Stored *x, Read) {
    Eight<typename Read::T> found;
    for (int k = 0; k < 8; ++k) found.lane[k] = Read::of(x[k]);
    return found;
}

// Each made one, two by two, as NumPy does it.
template <typename T>
PROMOARRAY_CAST void add_up(const Eight<T> &x0, const Eight<T> &x1, const Eight<T> &x2,
                            const Eight<T> &x3, T *sums) {
    const T *const all[4] = {x0.lane, x1.lane, x2.lane, x3.lane};
    for (const T *s : all)
        *sums++ = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
}

// The same of complex numbers: of the real parts, and of the imaginary ones.
template <typename T> PROMOARRAY_CAST void add_up(const Eight<T> &x, Pair<T> *sum) {
    const T *const s = x.lane;
    *sum = {(s[0] + s[2]) + (s[4] + s[6]), (s[1] + s[3]) + (s[5] + s[7])};
}

// Eight complex numbers, and eight numbers made of their parts.
template <typename V> struct Pairs { V real, imag; };
template <typename T>
PROMOARRAY_CAST Pairs<Eight<T>> eight(const Pair<T> *x, AsPair<T>) {
    Pairs<Eight<T>> found;
    for (int k = 0; k < 8; ++k) {
        found.real.lane[k] = x[k].real;
        found.imag.lane[k] = x[k].imag;
    }
    return found;
}
template <typename T> PROMOARRAY_CAST Eight<T> together(Eight<T> real, const Eight<T> &imag) {
    return real += imag;
}
PROMOARRAY_CAST f32 together(f32 real, f32 imag) { return real + imag; }
PROMOARRAY_CAST f64 together(f64 real, f64 imag) { return real + imag; }

#ifdef __F16C__

PROMOARRAY_CAST __m256 eight(const f32 *x, As<f32, f32>) { return _mm256_loadu_ps(x); }
PROMOARRAY_CAST __m256 eight(const u16 *x, OfBfloat) {
    return Bfloat::read(_mm_loadu_si128(reinterpret_cast<const __m128i *>(x)));
}
PROMOARRAY_CAST __m256 eight(const u16 *x, OfHalf) {
    return Half::read(_mm_loadu_si128(reinterpret_cast<const __m128i *>(x)));
}
PROMOARRAY_CAST void add_up(__m256 x0, __m256 x1, __m256 x2, __m256 x3, f32 *sums) {
    const __m256 halves = _mm256_hadd_ps(_mm256_hadd_ps(x0, x1), _mm256_hadd_ps(x2, x3));
    _mm_storeu_ps(sums, _mm256_castps256_ps128(halves) + _mm256_extractf128_ps(halves, 1));
}
PROMOARRAY_CAST void add_up(__m256 x, Pair<f32> *sum) {
    const __m256 pairs = x + _mm256_permute_ps(x, 0x4e);
    const __m128 both = _mm256_castps256_ps128(pairs) + _mm256_extractf128_ps(pairs, 1);
    _mm_storel_pi(reinterpret_cast<__m64 *>(sum), both);
}
// Eight of bfloat16 of each of two lines, one in the lower halves: every other one from the first
// on, and from the second on, as they are the halves of words.
struct TwoEights {
    __m256 even, odd;
    PROMOARRAY_CAST TwoEights &operator+=(const TwoEights &y) {
        even += y.even;
        odd += y.odd;
        return *this;
    }
};
PROMOARRAY_CAST __m256i eight_codes(const u16 *x) {  // twice
    return _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i *>(x)));
}
PROMOARRAY_CAST TwoEights two_eights(__m256i x, __m256i y) {
    const __m256i both = _mm256_blend_epi32(x, y, 0xf0);
    const __m256i upper = _mm256_set1_epi32((int)0xffff0000);
    return {_mm256_castsi256_ps(_mm256_slli_epi32(both, 16)),
            _mm256_castsi256_ps(_mm256_and_si256(both, upper))};
}
// Before y there are eight more: what is read where it goes to is only chosen, and not moved.
PROMOARRAY_CAST TwoEights two_eights(const u16 *x, const u16 *y) {
    const auto *ends_with_y = reinterpret_cast<const __m256i *>(y - 8);
    return two_eights(eight_codes(x), _mm256_loadu_si256(ends_with_y));
}
PROMOARRAY_CAST void add_up(const TwoEights &x0, const TwoEights &x1, const TwoEights &x2,
                            const TwoEights &x3, f32 *sums) {
    const __m256 first = _mm256_hadd_ps(x0.even + x0.odd, x1.even + x1.odd);
    const __m256 second = _mm256_hadd_ps(x2.even + x2.odd, x3.even + x3.odd);
    const __m256 ones = _mm256_hadd_ps(first, second);
    const __m128 of_x = _mm256_castps256_ps128(ones), of_y = _mm256_extractf128_ps(ones, 1);
    _mm_storeu_ps(sums, _mm_unpacklo_ps(of_x, of_y));
    _mm_storeu_ps(sums + 4, _mm_unpackhi_ps(of_x, of_y));
}
struct EightDoubles {
    __m256d low, high;
    PROMOARRAY_CAST EightDoubles &operator+=(const EightDoubles &y) {
        low += y.low;
        high += y.high;
        return *this;
    }
    friend PROMOARRAY_CAST EightDoubles operator-(const EightDoubles &x, f64 y) {
        return {x.low - y, x.high - y};
    }
    friend PROMOARRAY_CAST EightDoubles operator*(const EightDoubles &x, const EightDoubles &y) {
        return {x.low * y.low, x.high * y.high};
    }
};
PROMOARRAY_CAST EightDoubles eight(const f64 *x, As<f64, f64>) {
    return {_mm256_loadu_pd(x), _mm256_loadu_pd(x + 4)};
}
PROMOARRAY_CAST __m128d halves_of(__m256d x) {
    return _mm256_castpd256_pd128(x) + _mm256_extractf128_pd(x, 1);
}
PROMOARRAY_CAST f64 add_up(const EightDoubles &x) {
    const __m128d fours = halves_of(_mm256_hadd_pd(x.low, x.high));
    return _mm_cvtsd_f64(fours) + _mm_cvtsd_f64(_mm_unpackhi_pd(fours, fours));
}
PROMOARRAY_CAST void add_up(const EightDoubles &x0, const EightDoubles &x1, const EightDoubles &x2,
                            const EightDoubles &x3, f64 *sums) {
    sums[0] = add_up(x0);
    sums[1] = add_up(x1);
    sums[2] = add_up(x2);
    sums[3] = add_up(x3);
}
PROMOARRAY_CAST void add_up(const EightDoubles &x, Pair<f64> *sum) {
    _mm_storeu_pd(&sum->real, halves_of(x.low) + halves_of(x.high));
}
// The middle pairs of each part are exchanged until both are added.
struct RegisterPair { __m256 real, imag; };
PROMOARRAY_CAST RegisterPair eight(const Pair<f32> *x, AsPair<f32>) {
    const __m256 first = _mm256_loadu_ps(&x->real), second = _mm256_loadu_ps(&x[4].real);
    return {_mm256_shuffle_ps(first, second, 0x88), _mm256_shuffle_ps(first, second, 0xdd)};
}
PROMOARRAY_CAST __m256 together(__m256 real, __m256 imag) {
    const __m256d sums = _mm256_castps_pd(real + imag);
    return _mm256_castpd_ps(_mm256_permute4x64_pd(sums, 0xd8));
}

#elif defined(__SSE2__)

struct TwoFours {
    __m128 low, high;
    PROMOARRAY_CAST TwoFours &operator+=(const TwoFours &y) {
        low += y.low;
        high += y.high;
        return *this;
    }
    friend PROMOARRAY_CAST TwoFours operator-(const TwoFours &x, f32 y) {
        return {x.low - y, x.high - y};
    }
    friend PROMOARRAY_CAST TwoFours operator*(const TwoFours &x, const TwoFours &y) {
        return {x.low * y.low, x.high * y.high};
    }
};
PROMOARRAY_CAST TwoFours eight(const f32 *x, As<f32, f32>) {
    return {_mm_loadu_ps(x), _mm_loadu_ps(x + 4)};
}
PROMOARRAY_CAST TwoFours eight(const u16 *x, OfBfloat) {
    const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(x));
    const __m128i none = _mm_setzero_si128();
    return {_mm_castsi128_ps(_mm_unpacklo_epi16(none, codes)),
            _mm_castsi128_ps(_mm_unpackhi_epi16(none, codes))};
}
PROMOARRAY_CAST __m128 of_halves(__m128i words) {  // as OfHalf has it
    const __m128i magnitude = _mm_and_si128(words, _mm_set1_epi32(0x7fff));
    const __m128i sign = _mm_slli_epi32(_mm_xor_si128(words, magnitude), 16);
    const __m128i small = _mm_cmplt_epi32(magnitude, _mm_set1_epi32(0x400));
    const __m128i beyond = _mm_cmpgt_epi32(magnitude, _mm_set1_epi32(0x7bff));
    const __m128i bias = _mm_set1_epi32(112 << 23);
    const __m128i large = _mm_add_epi32(_mm_add_epi32(_mm_slli_epi32(magnitude, 13), bias),
                                        _mm_and_si128(beyond, bias));
    const __m128i steps = _mm_castps_si128(_mm_cvtepi32_ps(magnitude) * _mm_set1_ps(0x1p-24f));
    const __m128i found = _mm_or_si128(_mm_and_si128(small, steps), _mm_andnot_si128(small, large));
    return _mm_castsi128_ps(_mm_or_si128(found, sign));
}
PROMOARRAY_CAST TwoFours eight(const u16 *x, OfHalf) {
    const __m128i codes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(x));
    const __m128i none = _mm_setzero_si128();
    return {of_halves(_mm_unpacklo_epi16(codes, none)), of_halves(_mm_unpackhi_epi16(codes, none))};
}
PROMOARRAY_CAST __m128 pairs_of(__m128 x, __m128 y) {
    return _mm_shuffle_ps(x, y, 0x88) + _mm_shuffle_ps(x, y, 0xdd);
}
PROMOARRAY_CAST void add_up(const TwoFours &x0, const TwoFours &x1, const TwoFours &x2,
                            const TwoFours &x3, f32 *sums) {
    const __m128 first = pairs_of(pairs_of(x0.low, x0.high), pairs_of(x1.low, x1.high));
    const __m128 second = pairs_of(pairs_of(x2.low, x2.high), pairs_of(x3.low, x3.high));
    _mm_storeu_ps(sums, pairs_of(first, second));
}
PROMOARRAY_CAST void add_up(const TwoFours &x, Pair<f32> *sum) {
    const __m128 low = x.low + _mm_movehl_ps(x.low, x.low);
    const __m128 high = x.high + _mm_movehl_ps(x.high, x.high);
    _mm_storel_pi(reinterpret_cast<__m64 *>(sum), low + high);
}
PROMOARRAY_CAST TwoFours reals_of(const f32 *x) {
    return {_mm_shuffle_ps(_mm_loadu_ps(x), _mm_loadu_ps(x + 4), 0x88),
            _mm_shuffle_ps(_mm_loadu_ps(x + 8), _mm_loadu_ps(x + 12), 0x88)};
}
PROMOARRAY_CAST TwoFours imags_of(const f32 *x) {
    return {_mm_shuffle_ps(_mm_loadu_ps(x), _mm_loadu_ps(x + 4), 0xdd),
            _mm_shuffle_ps(_mm_loadu_ps(x + 8), _mm_loadu_ps(x + 12), 0xdd)};
}
PROMOARRAY_CAST Pairs<TwoFours> eight(const Pair<f32> *x, AsPair<f32>) {
    return {reals_of(&x->real), imags_of(&x->real)};
}
PROMOARRAY_CAST TwoFours together(TwoFours real, const TwoFours &imag) { return real += imag; }

#endif

template <typename V, typename T>
PROMOARRAY_CAST void add_up(const V &x0, const V &x1, const V &x2, const V &x3, Pair<T> *sums) {
    add_up(x0, sums);
    add_up(x1, sums + 1);
    add_up(x2, sums + 2);
    add_up(x3, sums + 3);
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
