// Passes over arrays that tell whether numbers may have been lost there; promoarray/diagnostics/losses
// asks them first, and looks further where they do not say "nothing".
#pragma once

#include "ref.h"

namespace promoarray {

extern PyMethodDef losses_functions[];

}  // namespace promoarray
