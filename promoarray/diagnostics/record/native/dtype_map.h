// Carried: what the policies make of the arrays of another framework that are alive.
#pragma once

#include "ref.h"

#ifdef Py_GIL_DISABLED
#include <mutex>
#endif

namespace promoarray {

// Without a GIL two threads may look here at once. No code of Python's runs while the lock is held:
// references are let go of afterwards.
#ifdef Py_GIL_DISABLED
using Lock = std::mutex;
using Guard = std::lock_guard<std::mutex>;
#else
struct Lock {};
struct Guard {
    explicit Guard(Lock &) {}
    ~Guard() {}
};
#endif

extern PyType_Spec carried_spec;

bool is_carried(PyObject *object);

// What an array carries; null without an error if all policies agree on it.
Ref slot_of(PyObject *carried, PyObject *array);

// The same, lent by the table, where a GIL keeps others from it.
PyObject *peek_slot(PyObject *carried, PyObject *array);

// Note what an array carries from now on: a slot, or None. False with the error.
bool put_slot(PyObject *carried, PyObject *array, PyObject *slot);

}  // namespace promoarray
