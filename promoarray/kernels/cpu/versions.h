// The versions of the loops that this machine can run, and the one in use.
#pragma once

#include <vector>

#include "loops.h"

namespace promoarray {

// Lowest level first.
const std::vector<const Loops *> &versions();

// The version in use: the highest, unless another was taken. Read and written with the lock of the
// interpreter held.
const Loops &version();

// Take the loops of one level from now on; the level before is the answer.
int use_level(int level);

}  // namespace promoarray
