// What calls that are alike have in common: objects, each known by identity, and numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "ref.h"

namespace promoarray {

class Key {
   public:
    explicit Key(std::size_t most = FEW) : most_(most) {}
    Key(const Key &) = delete;
    Key &operator=(const Key &) = delete;
    ~Key() { let_go(words_, size_); }
    // Each is false if it is too long to be like another.
    bool add(PyObject *part) { return add(reinterpret_cast<std::uintptr_t>(part), part); }
    bool add_number(std::uint64_t number) {  // objects lie at even addresses
        return add(static_cast<std::uintptr_t>(number << 1U | 1U), nullptr);
    }
    bool is_like(const std::vector<std::uintptr_t> &other) const {
        return other.size() == size_ && std::memcmp(other.data(), words_, size_ * sizeof(std::uintptr_t)) == 0;
    }
    std::size_t hash() const {
        std::size_t mixed = size_;
        for (std::size_t i = 0; i < size_; ++i) {
            mixed = (mixed ^ words_[i]) * 0x9E3779B97F4A7C15u;
            mixed ^= mixed >> 32U;
        }
        return mixed;
    }
    std::size_t size() const { return size_; }
    // What it was when it had so many words.
    void shorten(std::size_t size) {
        let_go(words_ + size, size_ - size);
        size_ = size;
    }
    void add_all(const Key &other) {
        for (std::size_t i = 0; i < other.size_; ++i)
            add(other.words_[i], (other.words_[i] & 1U) == 0 ? reinterpret_cast<PyObject *>(other.words_[i]) : nullptr);
    }
    // Its words, with the references that they own.
    std::vector<std::uintptr_t> release() { return {words_, words_ + std::exchange(size_, 0)}; }
    static void let_go(const std::uintptr_t *words, std::size_t count) {
        for (std::size_t i = 0; i < count; ++i)
            if ((words[i] & 1U) == 0) Py_DECREF(reinterpret_cast<PyObject *>(words[i]));
    }

   private:
    static constexpr std::size_t FEW = 64;
    bool add(std::uintptr_t word, PyObject *object) {
        if (size_ == most_) return false;
        if (size_ >= FEW) {
            if (size_ == FEW) many_.assign(few_, few_ + FEW);
            many_.resize(size_);
            many_.push_back(word);
            words_ = many_.data();
        }
        Py_XINCREF(object);
        words_[size_++] = word;
        return true;
    }
    const std::size_t most_;
    std::uintptr_t few_[FEW];
    std::vector<std::uintptr_t> many_;  // all of them, of a long one
    std::uintptr_t *words_ = few_;
    std::size_t size_ = 0;
};

// Between two of these numbers no policy tells values apart: the nearest from below and above.
struct Borders {
    std::vector<double> floats_below, floats_above;
    std::vector<std::uint64_t> ints_below, ints_above;
    // Read pairs of numbers, sorted (scalar_class.py); false with the error.
    bool read(PyObject *floats, PyObject *ints);
};

bool is_number(PyObject *x);

// Add the class of a number of Python's: equal for those that no policy tells apart. `otherwise` answers
// that of numbers which C does not hold. False, with the error if there is one.
bool add_number(Key *key, const Borders &borders, PyObject *otherwise, PyObject *x);

}  // namespace promoarray
