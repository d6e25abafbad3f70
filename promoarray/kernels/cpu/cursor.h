// The elements of an array one after another, in the order of the result that they are made to or
// lie in: where they lie so, in place, else through a block of memory.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "arguments.h"

namespace promoarray {

// Bytes of elements at a time where something lies between source and target. Four times as many
// fit a first-level cache.
constexpr size_t gathered_bytes = 8 << 10;

// Memory for what lies between two steps. That of a copy, for another thread, begins with nothing:
// copied with all it holds, the scratch of an operation takes a tenth of a part's time.
template <size_t size>
class Scratch {
   public:
    Scratch() {}
    Scratch(const Scratch &) {}
    operator char *() { return bytes_; }

   private:
    alignas(64) char bytes_[size];
};

// The axes of an array, outermost first, with those merged that are one in memory.
struct Axes {
    int ndim = 0;
    size_t shape[PyBUF_MAX_NDIM + 1];
    Py_ssize_t stride[PyBUF_MAX_NDIM + 1];

    void append(size_t length, Py_ssize_t step) {
        if (length == 1) return;
        if (ndim > 0 && stride[ndim - 1] == (Py_ssize_t)length * step) {
            shape[ndim - 1] *= length;
            stride[ndim - 1] = step;
            return;
        }
        shape[ndim] = length;
        stride[ndim++] = step;
    }
};

// A complex number of two float64.
struct WordPair {
    std::uint64_t word[2];
};

template <typename Word>
inline void fill_words(char *to, const char *from, size_t n) {
    Word word;
    std::memcpy(&word, from, sizeof word);
    for (size_t i = 0; i < n; ++i) std::memcpy(to + i * sizeof word, &word, sizeof word);
}

// n times the element at `from`.
inline void fill(char *to, const char *from, size_t n, size_t size) {
    if (size == 1) std::memset(to, (unsigned char)*from, n);
    else if (size == 2) fill_words<std::uint16_t>(to, from, n);
    else if (size == 4) fill_words<std::uint32_t>(to, from, n);
    else if (size == 8) fill_words<std::uint64_t>(to, from, n);
    else fill_words<WordPair>(to, from, n);
}

template <typename Word>
inline void copy_words(const char *from, Py_ssize_t from_step, char *to, Py_ssize_t to_step,
                       size_t n) {
    constexpr auto one = (Py_ssize_t)sizeof(Word);
    // Steps that a compiler knows, for which it takes registers.
    if (to_step == one && from_step == -one) {
        for (size_t i = 0; i < n; ++i)
            std::memcpy(to + i * sizeof(Word), from - i * sizeof(Word), sizeof(Word));
        return;
    }
    if (to_step == one && from_step == 2 * one) {
        for (size_t i = 0; i < n; ++i)
            std::memcpy(to + i * sizeof(Word), from + 2 * i * sizeof(Word), sizeof(Word));
        return;
    }
    for (size_t i = 0; i < n; ++i) {
        std::memcpy(to, from, sizeof(Word));
        from += from_step;
        to += to_step;
    }
}

// n elements that lie with steps of so many bytes.
inline void copy(const char *from, Py_ssize_t from_step, char *to, Py_ssize_t to_step, size_t n,
                 size_t size) {
    const auto one = (Py_ssize_t)size;
    if (from_step == one && to_step == one) std::memcpy(to, from, n * size);
    else if (from_step == 0 && to_step == one) fill(to, from, n, size);
    else if (size == 1) copy_words<std::uint8_t>(from, from_step, to, to_step, n);
    else if (size == 2) copy_words<std::uint16_t>(from, from_step, to, to_step, n);
    else if (size == 4) copy_words<std::uint32_t>(from, from_step, to, to_step, n);
    else if (size == 8) copy_words<std::uint64_t>(from, from_step, to, to_step, n);
    else copy_words<WordPair>(from, from_step, to, to_step, n);
}

// Some rows of an array whose columns are in order in memory, and rows are not: read column by column,
// a line of memory is fetched once for all rows and not for each.
class Panel {
   public:
    // How many such rows there is room for; 0 where the lines of one stay in a cache for the next.
    static size_t rows(size_t length, size_t size) {
        if (length < shortest) return 0;
        const size_t room = most_bytes / (length * size + pad);
        return room < fewest ? 0 : std::min(room, line / size);
    }

    // Read `rows` rows, the first of which begins at `from`; their columns lie `stride` apart.
    void fill(const char *from, Py_ssize_t stride, size_t rows, size_t length, size_t size) {
        pitch_ = length * size + pad;
        words_.resize(pitch_ * rows);
        if (size == 1) turn<std::uint8_t>(from, stride, rows, length);
        else if (size == 2) turn<std::uint16_t>(from, stride, rows, length);
        else if (size == 4) turn<std::uint32_t>(from, stride, rows, length);
        else if (size == 8) turn<std::uint64_t>(from, stride, rows, length);
        else turn<WordPair>(from, stride, rows, length);
        row_ = words_.data();
        left_ = rows;
    }
    bool empty() const { return left_ == 0; }
    void clear() { left_ = 0; }
    const char *row() const { return row_; }
    void next_row() {
        row_ += pitch_;
        --left_;
    }

   private:
    static constexpr size_t line = 64, most_bytes = 256 << 10, shortest = 512, fewest = 4;
    static constexpr Py_ssize_t ahead = 24;  // columns: no machine guesses strides of a page and more
    static constexpr size_t pad = line;  // or rows want the same places of a cache

    template <typename Word>
    void turn(const char *from, Py_ssize_t stride, size_t rows, size_t length) {
        for (size_t j = 0; j < length; ++j, from += stride) {
#ifdef __GNUC__
            __builtin_prefetch(from + ahead * stride);
#endif
            char *to = words_.data() + j * sizeof(Word);
            for (size_t i = 0; i < rows; ++i, to += pitch_)
                std::memcpy(to, from + i * sizeof(Word), sizeof(Word));
        }
    }

    std::vector<char> words_;
    const char *row_ = nullptr;
    size_t left_ = 0, pitch_ = 0;
};

class Cursor {
   public:
    // `order` are the axes of the result, outermost first; the array broadcasts to it.
    Cursor(const Array &array, const Array &result, const int *order, size_t size)
        : size_(size), begin_(array.data()), data_(begin_) {
        const int missing = result.ndim() - array.ndim();
        for (int i = 0; i < result.ndim(); ++i) {
            const int axis = order[i] - missing;
            const bool spreads = axis < 0 || array.shape(axis) == 1;
            axes_.append((size_t)result.shape(order[i]), spreads ? 0 : array.stride(axis));
        }
        is_one_ = axes_.ndim == 0 || (axes_.ndim == 1 && axes_.stride[0] == 0);
        if (axes_.ndim == 0) axes_.shape[0] = 1, axes_.stride[axes_.ndim++] = (Py_ssize_t)size;
        const int inner = axes_.ndim - 1;
        in_rows_ = axes_.stride[inner] == (Py_ssize_t)size && array.aligned(size);
        for (int i = 0; i < inner; ++i) in_rows_ &= axes_.stride[i] % (Py_ssize_t)size == 0;
        const bool in_columns = inner > 0 && axes_.stride[inner - 1] == (Py_ssize_t)size;
        const bool steps = std::abs(axes_.stride[inner]) > (Py_ssize_t)size;
        if (in_columns && steps) panel_rows_ = Panel::rows(row(), size);
    }

    // Whether one element stands for them all.
    bool is_one() const { return is_one_; }

    // Whether they lie in one row.
    bool is_line() const { return axes_.ndim == 1; }
    // Whether a row is read where it lies; how long one is, and what is left of this one.
    bool lies_in_rows() const { return in_rows_; }
    size_t row() const { return axes_.shape[axes_.ndim - 1]; }
    size_t left_in_row() const { return row() - in_row_; }

    // How many elements are read together; whoever begins between two such reads them once more.
    size_t together() const { return panel_rows_ > 1 ? panel_rows_ * row() : 1; }

    // Go to the n-th element.
    void begin_at(size_t n) {
        data_ = begin_;
        panel_.clear();
        for (int i = axes_.ndim - 1; i >= 0; n /= axes_.shape[i--]) {
            const size_t at = n % axes_.shape[i];
            data_ += (Py_ssize_t)at * axes_.stride[i];
            (i == axes_.ndim - 1 ? in_row_ : index_[i]) = at;
        }
    }

    // The next n elements; of no more than `gathered_bytes` where they do not lie in a row.
    const char *read(size_t n) {
        if (lie_here(n)) return step(n);
        if (panel_rows_ > 1) return read_turned(n);
        move(n, [this](char *here, Py_ssize_t stride, size_t at, size_t count) {
            copy(here, stride, gathered_ + at * size_, (Py_ssize_t)size_, count, size_);
        });
        return gathered_;
    }
    // Whether one element stands for all of a row; and the one that stands for the next n of it.
    bool repeats_in_row() const { return axes_.stride[axes_.ndim - 1] == 0; }
    const char *read_repeated(size_t n) {
        std::memcpy(gathered_, step(n), size_);
        return gathered_;
    }
    // Where the next n elements may be written, and what brings them to where they belong.
    char *place(size_t n) { return lie_here(n) ? data_ : gathered_; }
    void put(size_t n) {
        if (lie_here(n)) {
            step(n);
            return;
        }
        move(n, [this](char *here, Py_ssize_t stride, size_t at, size_t count) {
            copy(gathered_ + at * size_, (Py_ssize_t)size_, here, stride, count, size_);
        });
    }

   private:
    bool lie_here(size_t n) const { return in_rows_ && n <= left_in_row(); }

    // `read`, from a panel of rows.
    const char *read_turned(size_t n) {
        for (size_t at = 0; at < n;) {
            const int inner = axes_.ndim - 1;
            if (panel_.empty()) {
                const size_t rows = axes_.shape[inner - 1] - index_[inner - 1];
                const Py_ssize_t stride = axes_.stride[inner];
                panel_.fill(data_ - (Py_ssize_t)in_row_ * stride, stride,
                            std::min(rows, panel_rows_), row(), size_);
            }
            const size_t count = std::min(n - at, left_in_row());
            const char *here = panel_.row() + in_row_ * size_;
            step(count);
            if (in_row_ == 0) panel_.next_row();
            if (count == n) return here;
            std::memcpy(gathered_ + at * size_, here, count * size_);
            at += count;
        }
        return gathered_;
    }

    // Go on by n elements of this row; where they began.
    char *step(size_t n) {
        const int inner = axes_.ndim - 1;
        char *const here = data_;
        in_row_ += n;
        data_ += (Py_ssize_t)n * axes_.stride[inner];
        if (in_row_ < row()) return here;
        data_ -= (Py_ssize_t)in_row_ * axes_.stride[inner];
        in_row_ = 0;
        for (int i = inner - 1; i >= 0; --i) {
            data_ += axes_.stride[i];
            if (++index_[i] < axes_.shape[i]) break;
            data_ -= axes_.stride[i] * (Py_ssize_t)axes_.shape[i];
            index_[i] = 0;
        }
        return here;
    }

    // Go on by n elements, row by row.
    template <typename Visit>
    void move(size_t n, Visit visit) {
        const Py_ssize_t stride = axes_.stride[axes_.ndim - 1];
        for (size_t at = 0; at < n;) {
            const size_t count = std::min(n - at, left_in_row());
            visit(step(count), stride, at, count);
            at += count;
        }
    }

    Axes axes_;
    size_t size_;
    char *begin_, *data_;
    bool is_one_, in_rows_;
    Panel panel_;
    size_t panel_rows_ = 0;
    size_t in_row_ = 0;
    size_t index_[PyBUF_MAX_NDIM + 1] = {};
    Scratch<gathered_bytes> gathered_;
};

}  // namespace promoarray
