// Borders: from a value to its sort, for policies that look at values.
#pragma once

#include "ref.h"

namespace promoarray {

extern PyType_Spec borders_spec;

}  // namespace promoarray
