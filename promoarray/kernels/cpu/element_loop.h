// The loop of an operation over elements: the inner loop of a ufunc of NumPy's, without Python before
// each block, or one of ours (arithmetic.cpp).
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <string>

#include "chosen_cast.h"

namespace promoarray {

constexpr int MOST = 3;  // operands

// The inner loop of a ufunc of NumPy's, as the capsule of `ufunc._get_strided_loop` has it: as NumPy
// documents it; of another layout the capsule has another name.
struct UfuncLoop {
    static constexpr const char *capsule = "numpy_1.24_ufunc_call_info";
    int (*run)(void *context, char *const *data, const Py_ssize_t *count, const Py_ssize_t *strides,
               void *auxiliary);
    void *context, *auxiliary;
    char needs_lock, raises_nothing;
};

// Which floating-point exceptions a loop raised, by NumPy's numbers.
struct Raised {
    int by = 0;
    bool failed = false;  // with an exception of Python's

    void meet(const Raised &other) {
        by |= other.by;
        failed |= other.failed;
    }
};

class ElementLoop {
   public:
    // From a loop (a capsule of NumPy's, which is borrowed, or the name of one of ours and the row of
    // what it takes), its name in warnings, and whether it needs the lock of the interpreter; and the
    // bytes of an element of each operand and of the result.
    ElementLoop(nanobind::handle given, int operands, const std::size_t *lengths);
    // n elements, of which a single operand has one.
    void run(const void *const *operands, const bool *single, void *out, std::size_t n, Raised &raised) const;
    // Elements at a time.
    std::size_t block() const { return block_; }
    bool needs_lock() const { return needs_lock_; }
    const std::string &name() const { return name_; }

   private:
    void run_own(const void *const *operands, const bool *single, void *out, std::size_t n) const;
    int operands_;
    Py_ssize_t length_[MOST + 1];
    UfuncLoop loop_ = {};
    Operation own_ = {};  // in place of that
    std::string name_;
    int told_;  // the exceptions that are told
    bool needs_lock_;
    std::size_t block_;
};

}  // namespace promoarray
