// Borders: from a value to its sort, for policies that look at values.
#pragma once

#include "ref.h"

namespace promoarray {

extern PyType_Spec borders_spec;

// The sort of an array's one value, as `sort` answers for `array.item()`; null without an error where
// `sort` is no Borders, or the value is to be had by `item()` alone.
Ref sort_of_element(PyObject *sort, PyObject *array);

}  // namespace promoarray
