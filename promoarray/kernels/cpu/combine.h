// Which loop computes between casts.
#pragma once

#include <memory>

#include "arguments.h"
#include "loops.h"
#include "met.h"

namespace promoarray {

constexpr int most_operands = 3;

// The loop of an operation, and what it computes in: `own` are the types of its operands, `computed`
// is what the plan computes in, and `modes` are those of the casts of each operand and of the
// result. ValueError if there is none for so many operands.
Operation find_loop(const char *name, int operands, const Type *own, const Type &result,
                    const CastMode *modes, Type &computed);

// That of an operation where each operand but the first is one number; perhaps there is none.
Operation find_by_bounds(const char *name, const Operation &whole, const Type &computed);

// All that `combine` does, read from Python once: `types` are those of the operands, of what the
// plan computes in, and of the result; `entered` and `made` are what the loop takes and makes.
struct Combination {
    int operands = 0;
    Type types[most_operands + 2], entered[most_operands], made;
    CastMode modes[most_operands + 1];
    Operation operation = {};
    Operation by_bounds = {};  // where each operand but the first is one number; perhaps none

    const Type &result() const { return types[operands + 1]; }
};

Combination read_combination(const char *name, nanobind::handle rows, nanobind::handle modes);

// Compute into a result that the operands broadcast to; which floating-point exceptions that met,
// among which elements in the order of the result's memory. ValueError, and nothing is written, if
// the arrays are not made so.
Met combine_arrays(const Combination &combination, const std::unique_ptr<Array> *operands,
                   const Array &result);

}  // namespace promoarray
