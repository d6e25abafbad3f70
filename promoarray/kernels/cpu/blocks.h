// A plan over arrays, block by block: the casts of the operands, a program, the cast of its result. What
// lies in between stays in a cache.
#pragma once

#include <memory>
#include <vector>

#include "chosen_cast.h"
#include "program.h"

namespace promoarray {

constexpr int MOST = 3;          // operands
constexpr int WAYS = 1 << MOST;  // which operands are repeated

struct Plan {
    int operands = 0;
    Type own[MOST], entered[MOST], computed[MOST], made, result;
    // Of each operand, then from there to what is computed in; null where there is nothing to cast.
    Cast enter[MOST], widen[MOST], leave;
    // One, or one for each way in which operands are repeated; none of what Python computes.
    std::vector<std::unique_ptr<const Program>> programs;

    bool casts(int i) const { return enter[i] || widen[i]; }
    // n elements of an operand as what is computed in.
    void cast(int i, const void *given, void *out, size_t n) const;
    // The program for operands of which some have fewer elements than the result, as bits.
    const Program &program(int way) const { return *programs[programs.size() > 1 ? (size_t)way : 0]; }
};

// The rows of the operands, of what each becomes, of what each is computed in, of what that makes, and of
// the result; the modes of the casts to the second, the third and the last of these, each a mode or one
// and an adjustment; and programs, or none.
std::unique_ptr<const Plan> read_plan(nb::handle rows, nb::handle modes, nb::handle programs);

// n elements of operands in rows, of which those without axes stand for all.
void run_in_rows(const Plan &plan, const View *views, char *place, size_t n, Raised &raised);

// Operands of any layout, which broadcast to `out`: on several threads if they are long. ValueError, and
// nothing is written, if the arrays are not made so.
void run_anywhere(const Plan &plan, const std::unique_ptr<Array> *operands, const Array &out, Raised &raised);

}  // namespace promoarray
