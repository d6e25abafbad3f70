// Which loop computes between casts.
#pragma once

#include "loops.h"

namespace promoarray {

// The loop of an operation, and what it computes in: `types` are those of both operands, of what the
// plan computes in, and of the result, `mode` that of its cast. ValueError if there is none.
Operation find_loop(const char *name, const Type (&types)[4], const CastMode &mode,
                    Type &computed);

}  // namespace promoarray
