// Where values belong among sorted ones: halving, many values at a time. All of them halve alike, so
// that nothing branches on what is found, and they do not wait for one another.
#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

using std::size_t;

constexpr size_t at_once = 64;

template <bool after, typename T> u32 goes_before(T x, T value) { return after ? x <= value : x < value; }

// How many come before each of `at_once` values; a NaN is found nowhere.
template <typename T, bool after>
void halve(const T *PROMOARRAY_RESTRICT sorted, size_t m, const T *PROMOARRAY_RESTRICT values,
           u32 *PROMOARRAY_RESTRICT found) {
    for (size_t k = 0; k < at_once; ++k) found[k] = 0;
    if (m == 0) return;
    for (size_t left = m; left > 1; left -= left / 2) {
        const auto half = (u32)(left / 2);
        const T *middle = sorted + half - 1;
        for (size_t k = 0; k < at_once; ++k)
            found[k] += half & (0u - goes_before<after>(middle[found[k]], values[k]));
    }
    for (size_t k = 0; k < at_once; ++k) found[k] += goes_before<after>(sorted[found[k]], values[k]);
}

// How many are numbers, which come before NaN.
template <typename T> size_t count_numbers(const T *sorted, size_t m) {
    size_t first = 0;
    while (m > 0) {
        const size_t half = m / 2;
        const bool is_number = sorted[first + half] == sorted[first + half];
        if (is_number) first += half + 1;
        m = is_number ? m - half - 1 : half;
    }
    return first;
}

template <typename T, bool after>
void search(const T *sorted, size_t m, const T *values, std::int64_t *places, size_t n) {
    const size_t numbers = count_numbers(sorted, m);
    const auto of_nan = (std::int64_t)(after ? m : numbers);
    u32 found[at_once];
    T some[at_once] = {};
    for (size_t at = 0; at < n; at += at_once) {
        const size_t now = n - at < at_once ? n - at : at_once;
        const T *given = values + at;
        if (now < at_once) {
            std::memcpy(some, given, now * sizeof(T));
            given = some;
        }
        halve<T, after>(sorted, numbers, given, found);
        for (size_t k = 0; k < now; ++k)
            places[at + k] = given[k] == given[k] ? (std::int64_t)found[k] : of_nan;
    }
}

template <typename T>
void search_on(const void *sorted, size_t m, const void *values, std::int64_t *places, size_t n,
               bool after) {
    const auto *x = static_cast<const T *>(sorted), *y = static_cast<const T *>(values);
    if (after) search<T, true>(x, m, y, places, n);
    else search<T, false>(x, m, y, places, n);
}

}  // namespace

Search find_search(Type type) {
    constexpr Search of_signed[4] = {search_on<i8>, search_on<i16>, search_on<i32>,
                                     search_on<std::int64_t>};
    constexpr Search of_unsigned[4] = {search_on<u8>, search_on<u16>, search_on<u32>, search_on<u64>};
    if (is_float32(type)) return search_on<f32>;
    if (is_float64(type)) return search_on<f64>;
    if (!is_integer(type) || type.bits < 8 || type.kind == Kind::boolean) return nullptr;
    return (is_signed(type) ? of_signed : of_unsigned)[row_of(type)];
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
