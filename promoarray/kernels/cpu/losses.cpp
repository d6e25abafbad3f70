// Huber's error: half the square up to `delta`, linear beyond. Both are computed of each element, as
// NumPy computes them, so that what either of them raises is told.
#include "elementwise.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

constexpr std::size_t between_parts = 512;

template <typename T>
void huber(const void *const *operands, void *result, std::size_t n) {
    const auto *x = static_cast<const T *>(operands[0]), *y = static_cast<const T *>(operands[1]);
    const auto *delta = static_cast<const T *>(operands[2]);
    auto *out = static_cast<T *>(result);
    T near[between_parts], far[between_parts], error[between_parts];
    for (std::size_t at = 0; at < n; at += between_parts) {
        const std::size_t count = n - at < between_parts ? n - at : between_parts;
        PROMOARRAY_APART
        for (std::size_t i = 0; i < count; ++i) {
            const T size = std::fabs(x[at + i] - y[at + i]), bound = delta[at + i];
            error[i] = size;
            near[i] = (T)0.5 * size * size;
            far[i] = bound * (size - (T)0.5 * bound);
        }
        PROMOARRAY_APART
        for (std::size_t i = 0; i < count; ++i)
            out[at + i] = error[i] <= delta[at + i] ? near[i] : far[i];
    }
}

Run huber_of(Type t) {
    return is_float32(t) ? huber<f32> : is_float64(t) ? huber<f64> : nullptr;
}

constexpr Row rows[] = {{"huber_loss_by_delta", 3, false, false, true, huber_of}};

}  // namespace

Operation find_loss(const char *name, Type type) { return find_row(rows, name, type); }

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
