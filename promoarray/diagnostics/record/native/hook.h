// FastHook: what carries out the operations of rewritten programs, and tells of them.
//
// Its methods are called in the program's own frame, so that errors and warnings stand there. The
// first argument is a number of the place in the source: negative in a library's.
#pragma once

#include <initializer_list>
#include <utility>

#include "call_cache.h"
#include "ref.h"

namespace promoarray {

// What a hook is made of, in the order of the tuple it is given (hook.py): classes, and what follows.
enum Part { NDARRAY, GENERIC, NUMPY_DTYPE, FUNCTION_TYPE, METHOD_TYPE, UFUNC, DISPATCHER, CALLEE, OTHERWISE,
            PLAIN, RESOLVE, SCALAR_CLASS, IS_LIBRARY, PARTS };
enum Name { DTYPE, NDIM, ITEM, BACK, INSTRUCTION, MODULE, CODE, OF_METHOD, NAME, NAMES };
inline constexpr const char *HOOK_NAMES[NAMES] = {"dtype", "ndim", "item", "f_back", "f_lasti",
                                                  "__module__", "__code__", "__func__", "__name__"};

struct FastHook {
    PyObject_HEAD
    PyObject *session, *past, *recorder, *carried;  // None while nothing is recorded
    bool refuses, by_value;  // whether the past is but told of what NumPy refuses; whether values count
    PyObject *parts[PARTS], *names[NAMES];
    PyObject *kinds;  // from what functions have in common to what is called in their place
    Cache *cache;
};

inline FastHook *hook_of(PyObject *object) { return reinterpret_cast<FastHook *>(object); }
inline PyTypeObject *type_in(const FastHook *self, Part part) {
    return reinterpret_cast<PyTypeObject *>(self->parts[part]);
}
inline PyObject *frame_here() { return reinterpret_cast<PyObject *>(PyEval_GetFrame()); }
inline bool is_recording(const FastHook *self) { return self->session != Py_None; }
inline Ref attribute(const FastHook *self, PyObject *x, Name name) {
    return Ref(PyObject_GetAttr(x, self->names[name]));
}

inline bool is_array(const FastHook *self, PyObject *x) {
    const Sort sort = class_of(self, x).sort;
    return sort == Sort::ARRAY || sort == Sort::SCALAR;
}

// Whether a value has nothing to do with NumPy.
inline bool is_plain(Sort sort) { return sort < Sort::SCALAR; }

// Read the number that methods are given first; false with the error.
bool read_place(const char *method, PyObject *const *args, Py_ssize_t count, Py_ssize_t least, long *place);

// Count a call that is like another at its place, or else have the session record it, and keep what
// that answers if other calls may be like this one.
template <typename Record>
bool tell(FastHook *self, long place, Key *key, bool looks, Told *told, PyObject *made, Ref &&dtypes,
          const Record &record) {
    if (told != nullptr && count_again(self, told, made)) return true;
    if (PyErr_Occurred()) return false;
    const Ref answer = record();
    return answer && (!looks || keep(self, place, key, answer.get(), std::move(dtypes)));
}

// The methods of calls.
PyObject *call_function(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *bound(PyObject *object, PyObject *const *args, Py_ssize_t count);
PyObject *result_of(PyObject *object, PyObject *bound);

extern PyType_Spec hook_spec, bound_spec;
inline PyTypeObject *bound_type = nullptr;

// The names of the operators, in the order of their numbers; null with the error.
PyObject *operator_names();

}  // namespace promoarray
