// Which loop computes between casts.
#pragma once

#include "loops.h"

namespace promoarray {

constexpr int most_operands = 3;

// The loop of an operation, and what it computes in: `own` are the types of its operands, `computed`
// is what the plan computes in, and `modes` are those of the casts of each operand and of the
// result. ValueError if there is none for so many operands.
Operation find_loop(const char *name, int operands, const Type *own, const Type &result,
                    const CastMode *modes, Type &computed);

}  // namespace promoarray
