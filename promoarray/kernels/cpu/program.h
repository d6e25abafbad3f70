// A program: inner loops of NumPy's ufuncs, and loops of ours, one after the other, without Python between
// them. What a function of arrays calls on each block of elements (backends/numpy/programs.py traces it).
//
// Values lie in slots: those of the operands first, then what is made on the way and constants, the
// result last. A place is a slot and an offset in bytes, as a part of a complex number has one.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "chosen_cast.h"

namespace promoarray {

constexpr int MOST_PLACES = 4;       // of a step: what it reads, then what it writes
constexpr std::size_t MOST_STEPS = 128;

// The inner loop of a ufunc of NumPy's, as the capsule of `ufunc._get_strided_loop` has it: as NumPy
// documents it; of another layout the capsule has another name.
struct UfuncLoop {
    static constexpr const char *name = "numpy_1.24_ufunc_call_info";
    int (*run)(void *context, char *const *data, const Py_ssize_t *count, const Py_ssize_t *strides,
               void *auxiliary);
    void *context, *auxiliary;
    char needs_lock, raises_nothing;
};

class Program;

// Which floating-point exceptions each step of a program raised, by NumPy's numbers.
struct Raised {
    const Program *program = nullptr;
    unsigned char by[MOST_STEPS] = {};
    bool any = false, failed = false;  // failed: with an exception of Python's

    void meet(const Raised &other) {
        program = other.program;
        for (std::size_t i = 0; i < MOST_STEPS; ++i) by[i] |= other.by[i];
        any |= other.any;
        failed |= other.failed;
    }
};

// Where a step reads or writes, how far it is from one element to the next, and which operands the
// elements hang on, as bits: where those are single, so is it.
struct Place {
    int slot;
    unsigned needs;
    Py_ssize_t offset, length;
};

struct ProgramStep {
    UfuncLoop loop;
    std::string name;  // in warnings
    int told;          // the exceptions that are told, by NumPy's numbers
    int places;
    Place at[MOST_PLACES];
};

// A loop of ours among those of NumPy's, an operation or a cast, and the bytes of what it takes and
// makes.
struct OwnLoop {
    Operation operation;
    Cast cast;  // or null
    int operands;
    Py_ssize_t item, made;

    void run(const void *const *given, void *out, std::size_t n) const {
        if (cast) cast->run(given[0], out, n);
        else operation.run(given, out, n);
    }
};

class Program {
   public:
    // From the lengths of the slots, pairs of a slot and the bytes of a constant, steps of a loop, its
    // places and its name, and whether one of them needs the lock of the interpreter. It borrows all.
    Program(nanobind::handle given, int operands);
    // n elements, of which a single operand has one.
    void run(const void *const *operands, const bool *single, void *out, std::size_t n, Raised &raised) const;
    // Elements at a time.
    std::size_t block() const { return block_; }
    bool needs_lock() const { return needs_lock_; }
    // The bytes of an element in a slot; of the result in the last.
    std::size_t length(int slot) const { return length_[(std::size_t)slot]; }
    std::size_t made() const { return length_.back(); }
    const std::vector<ProgramStep> &steps() const { return steps_; }

   private:
    UfuncLoop loop_at(nanobind::handle given, ProgramStep &step);
    UfuncLoop own(std::unique_ptr<const OwnLoop> loop);
    int operands_;
    bool needs_lock_;
    std::vector<std::size_t> length_;
    std::vector<const char *> constant_;  // of each slot, or null
    std::vector<ProgramStep> steps_;
    std::vector<std::unique_ptr<const OwnLoop>> own_;  // which steps point to
    std::size_t block_;
};

}  // namespace promoarray
