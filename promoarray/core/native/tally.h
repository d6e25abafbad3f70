// Tally: what counts operations that are alike, where the observer has nothing new to say of them.
#pragma once

#include "ref.h"

namespace promoarray {

// Count an operation where the program stands; false if the observer has to be told. No error is
// set: what goes wrong here the observer is asked about.
bool count(PyObject *tally);

bool is_tally(PyObject *object);

extern PyType_Spec places_spec, tally_spec;

}  // namespace promoarray
