// FastHook: what carries out the operations of rewritten programs, and tells of them.
//
// Its methods are called in the program's own frame, so that errors and warnings stand there. The
// first argument is a number of the place in the source: negative in a library's.
#pragma once

#include <initializer_list>
#include <utility>

#include "call_cache.h"
#include "flat_map.h"
#include "ref.h"

namespace promoarray {

// What a hook is made of, in the order of the names of `hook_new`.
enum Part { NDARRAY, GENERIC, NUMPY_DTYPE, PLAIN, INPLACE, OPERATOR, FUNCTION, CALLEE_OF, FUNCTION_TYPE, METHOD_TYPE,
            UFUNC, DISPATCHER, STAND_IN, OTHERWISE, SCALAR_CLASS, IS_LIBRARY, MOVE, KINDS, PARTS };
enum Name { OPERATOR_SEEN, CALL_SEEN, ASSIGNED, VIEWED, OTHERWISE_VIEWED, DTYPES, CAST_TO, POWER, MADE_SO, FUNCTION_OF,
            TARGET, RESIZED, MODULE, OWNER, NAME, SELF, WITHOUT_OWNER, REAL, IMAG, RESIZE, BASE, CODE, FUNC, OF_LISTS,
            SEARCHED, DTYPE, NDIM, ITEM, REPORT, CALLS, COUNT, HEARD_AGAIN, BACK, INSTRUCTION, FILE_NAME, NAMES };
inline constexpr const char *HOOK_NAMES[NAMES] = {
    "operator", "call", "assigned", "viewed", "_otherwise_viewed", "dtypes", "cast_to", "power", "made_so", "function",
    "target", "_resized", "__module__", "owner", "name", "__self__", "without_owner", "real", "imag", "resize", "base",
    "__code__", "__func__", "of_lists", "searched", "dtype", "ndim", "item", "report", "calls", "count", "heard_again",
    "f_back", "f_lasti", "co_filename"};

// A value that is needed again is known by the frame and a number there.
using Held = FlatMap<std::pair<PyObject *, long>, Ref>;

// What makes a function's stand-in, by what functions have in common, which is held.
struct Maker {
    Ref kind, maker;
};

struct FastHook {
    PyObject_HEAD
    PyObject *session, *past;  // None while nothing is recorded
    PyObject *recorder, *carried, *report;
    bool refuses, by_value;  // whether the past is but told of what NumPy refuses; whether values count
    PyObject *parts[PARTS], *names[NAMES];
    PyObject *functions, *callees;  // from NumPy's functions to Callees, and each Callee to itself
    FlatMap<PyObject *, Maker> *stand_ins;
    Held *held;
    Cache *cache;
};

inline FastHook *hook_of(PyObject *object) { return reinterpret_cast<FastHook *>(object); }
inline PyTypeObject *type_in(const FastHook *self, Part part) {
    return reinterpret_cast<PyTypeObject *>(self->parts[part]);
}
inline PyObject *frame_here() { return reinterpret_cast<PyObject *>(PyEval_GetFrame()); }
inline bool is_recording(const FastHook *self) { return self->session != Py_None; }
inline bool is_any(PyObject *x) { return x != nullptr && x != Py_None; }

inline bool is_array(const FastHook *self, PyObject *x) {
    const Sort sort = class_of(self, x).sort;
    return sort == Sort::ARRAY || sort == Sort::SCALAR;
}

// Whether a value has nothing to do with NumPy.
inline bool is_plain(Sort sort) { return sort < Sort::SCALAR; }

// Read the number that methods are given first; false with the error.
bool read_place(const char *method, PyObject *const *args, Py_ssize_t count, Py_ssize_t least, long *place);

// Call a method; null with the error.
Ref call_method(PyObject *object, const FastHook *self, Name name, std::initializer_list<PyObject *> given);

// Go on with what a call of Python's answered: the operand, or the error.
inline PyObject *go_on(const Ref &answer, PyObject *x) { return answer ? Py_NewRef(x) : nullptr; }

// Count a call that is like another at its place, or else have the session record it and keep what
// that answers, a Told.
template <typename Record>
bool told(FastHook *self, long place, Key *key, bool looks, const std::shared_ptr<Told> &known, PyObject *made,
          Ref &&dtypes, const Record &record) {
    if (known != nullptr && count_again(self, known, made)) return true;
    if (PyErr_Occurred()) return false;
    const Ref answer = record();
    if (!answer) return false;
    return !looks || keep(self, place, key, answer.get(), std::move(dtypes));
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
