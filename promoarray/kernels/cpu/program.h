// A program: inner loops of NumPy's ufuncs, and loops of ours, one after the other, without Python between
// them. What a function of arrays calls on each block of elements (backends/numpy/programs.py writes it down).
//
// Values lie in slots: those of the operands first, then what is made on the way and constants, the
// result last. A place is a slot and an offset in bytes, as a part of a complex number has one.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "ufunc_loop.h"
#include "versions.h"

namespace promoarray {

constexpr int MOST_PLACES = 4;  // of a step: what it reads, then what it writes

// Where a step reads or writes, how far it is from one element to the next, and which operands the
// elements hang on, as bits: where those are single, so is it.
struct Place {
    int slot;
    unsigned needs;
    Py_ssize_t offset, length;
};

struct ProgramStep {
    UfuncLoop loop;
    int places;
    Place at[MOST_PLACES];
};

// A loop of ours among those of NumPy's, and the bytes of an element.
struct OwnLoop {
    Operation operation;
    Py_ssize_t item;
};

class Program {
   public:
    // From the lengths of the slots, pairs of a slot and the bytes of a constant, steps of a loop and
    // its places, and whether nothing is told of what they raise. It borrows all of them.
    Program(nanobind::handle given, int operands);
    // n elements, of which a single operand has one. Which floating-point exceptions that raised.
    int run(const void *const *operands, const bool *single, void *out, std::size_t n) const;
    // Elements at a time.
    std::size_t block() const { return block_; }

   private:
    UfuncLoop loop_at(nanobind::handle given, int operands);
    int operands_;
    bool quiet_;
    std::vector<std::size_t> length_;
    std::vector<const char *> constant_;  // of each slot, or null
    std::vector<ProgramStep> steps_;
    std::vector<std::unique_ptr<const OwnLoop>> own_;  // which steps point to
    std::size_t block_;
};

}  // namespace promoarray
