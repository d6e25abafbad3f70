// Otherwise: a function of NumPy's in a run of the past, with no frame of ours around it, so that
// its warnings and errors are those of the program's line.
#pragma once

#include "ref.h"

namespace promoarray {

extern PyType_Spec otherwise_spec;

}  // namespace promoarray
