// ArraySlots: what PArray derives from.
#pragma once

#include "ref.h"

namespace promoarray {

// The limited API does not tell where the slots of a Python class lie; those of this one we know.
struct ArraySlots {
    PyObject_HEAD
    PyObject *buffer;
    PyObject *type;
};

extern PyType_Spec array_slots_spec;
extern PyTypeObject *array_slots_type;  // what was made of it

}  // namespace promoarray
