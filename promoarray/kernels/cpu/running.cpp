// Running sums and products: what is folded so far, written for every element.
#include "fold_lines.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
namespace {

// Elements of a row that are cast at a time: few enough that a machine which looks some hundred
// instructions ahead casts the next ones while those before wait for one another.
constexpr size_t PIECE = 128;

template <typename T> class Target {
   public:
    explicit Target(const Lines &lines) : lines_(lines) {}
    T *block(size_t at) {
        return lines_.leave != nullptr ? scratch_
                                       : reinterpret_cast<T *>(lines_.result + at * sizeof(T));
    }
    void write(size_t at, size_t n) {
        if (lines_.leave != nullptr)
            lines_.leave(scratch_, lines_.result + at * lines_.result_size, n, *lines_.leave_work);
    }

   private:
    const Lines &lines_;
    alignas(64) T scratch_[CHUNK];
};

template <typename T, typename Step> bool running_rows(const Lines &lines) {
    Source<As<T, T>, PIECE> source(lines);
    Target<T> target(lines);
    bool strange = false;
    for (size_t row = 0; row < lines.outer; ++row) {
        T last = 0;
        for (size_t at = 0; at < lines.n; at += PIECE) {
            const size_t n = lines.n - at < PIECE ? lines.n - at : PIECE;
            const size_t to = row * (lines.n + lines.initial) + lines.initial + at;
            const T *x = source.block(row * lines.n + at, n);
            T *PROMOARRAY_RESTRICT y = target.block(to);
            size_t i = 0;
            if (at == 0) y[i++] = last = x[0];
            for (; i < n; ++i) y[i] = last = Step::of(last, x[i]);
            target.write(to, n);
        }
        strange |= last != last;
    }
    return strange;
}

template <typename T, typename Step> bool running_columns(const Lines &lines) {
    Source<As<T, T>> source(lines);
    Target<T> target(lines);
    bool strange = false;
    alignas(64) T last[CHUNK];
    for (size_t o = 0; o < lines.outer; ++o) {
        for (size_t left = 0; left < lines.inner; left += CHUNK) {
            const size_t width = lines.inner - left < CHUNK ? lines.inner - left : CHUNK;
            for (size_t row = 0; row < lines.n; ++row) {
                const size_t lines_before = o * (lines.n + lines.initial) + lines.initial + row;
                const size_t to = lines_before * lines.inner + left;
                const T *x = source.block((o * lines.n + row) * lines.inner + left, width);
                T *PROMOARRAY_RESTRICT y = target.block(to);
                if (row == 0) std::memcpy(last, x, width * sizeof(T));
                else for (size_t j = 0; j < width; ++j) last[j] = Step::of(last[j], x[j]);
                std::memcpy(y, last, width * sizeof(T));
                target.write(to, width);
            }
            strange |= any_nan(last, width);
        }
    }
    return strange;
}

template <typename T, typename Step> bool running(const Lines &lines) {
    return lines.inner == 1 ? running_rows<T, Step>(lines) : running_columns<T, Step>(lines);
}

template <typename Step> Fold running_by(Type t) {
    if (is_float32(t)) return running<f32, Step>;
    if (is_float64(t)) return running<f64, Step>;
    if (!is_integer(t) || t.kind == Kind::boolean || t.bits < 8) return nullptr;
    constexpr Fold rows[4] = {running<u8, Step>, running<u16, Step>, running<u32, Step>,
                              running<u64, Step>};
    return rows[row_of(t)];
}

}  // namespace

Fold running_fold(Type type, bool products) {
    return products ? running_by<Product>(type) : running_by<Sum>(type);
}

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
