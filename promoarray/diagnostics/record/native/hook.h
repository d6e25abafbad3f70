// FastHook: what rewritten programs pass their operands and results through.
//
// A frame and a number name an operation that has begun. Each method returns what it is given.
#pragma once

#include <initializer_list>

#include "call_cache.h"
#include "op_stack.h"
#include "ref.h"

namespace promoarray {

// What a hook is made of, in the order of the names of `hook_new`.
enum Part { NDARRAY, GENERIC, PLAIN, INPLACE, OPERATOR, FUNCTION, CALLEE_OF, FUNCTION_TYPE, METHOD_TYPE,
            UFUNC, DISPATCHER, STAND_IN, PARTS };
enum Name { OPERATOR_SEEN, CALL_SEEN, ASSIGNED, VIEWED, OTHERWISE_VIEWED, OPERAND, FUNCTION_OF, TARGET,
            RESIZED, MODULE, OWNER, NAME, SELF, WITHOUT_OWNER, REAL, IMAG, POW, RESIZE, SETITEM, BASE, CODE,
            FUNC, OF_LISTS, NAMES };
inline constexpr const char *HOOK_NAMES[NAMES] = {
    "operator", "call", "assigned", "viewed", "_otherwise_viewed", "operand", "function", "target",
    "_resized", "__module__", "owner", "name", "__self__", "without_owner", "real", "imag", "pow",
    "resize", "__setitem__", "base", "__code__", "__func__", "of_lists"};

struct FastHook {
    PyObject_HEAD
    PyObject *session, *past, *alike;  // None while nothing is recorded
    bool refuses;                      // whether the past is but told of what NumPy refuses
    PyObject *parts[PARTS], *names[NAMES];
    PyObject *functions, *callees;  // from NumPy's functions to Callees, and each Callee to itself
    PyObject *stand_ins;  // from what functions have in common to what makes their stand-ins, or None
    Operations *operations;
};

inline FastHook *hook_of(PyObject *object) { return reinterpret_cast<FastHook *>(object); }
inline PyTypeObject *type_in(const FastHook *self, Part part) {
    return reinterpret_cast<PyTypeObject *>(self->parts[part]);
}
inline PyObject *frame_here() { return reinterpret_cast<PyObject *>(PyEval_GetFrame()); }
inline bool is_recording(const FastHook *self) { return self->session != Py_None; }
inline bool is_any(PyObject *x) { return x != nullptr && x != Py_None; }

inline bool is_array(const FastHook *self, PyObject *x) {
    return PyObject_TypeCheck(x, type_in(self, NDARRAY)) || PyObject_TypeCheck(x, type_in(self, GENERIC));
}

// Whether a value has nothing to do with NumPy.
inline bool is_plain(const FastHook *self, PyObject *x) {
    return PySet_Contains(self->parts[PLAIN], reinterpret_cast<PyObject *>(Py_TYPE(x))) == 1;
}

// What the methods are given: a number, and then references to objects; false with the error.
bool read_place(const char *method, PyObject *const *args, Py_ssize_t count, Py_ssize_t least, Place *place);

Ref list_of(const std::vector<Ref> &values);

// Call a method; null with the error.
Ref call_method(PyObject *object, const FastHook *self, Name name, std::initializer_list<PyObject *> given);

// Go on with what a call of Python's answered: the operand, or the error.
inline PyObject *go_on(const Ref &answer, PyObject *x) { return answer ? Py_NewRef(x) : nullptr; }

// Count a call that is like another at its place, or else have the session record it and keep what
// that answers, a Told.
template <typename Record>
bool told(const FastHook *self, Key &&key, bool is_known_sort, PyObject *made, const Record &record) {
    const Ref alike = Ref::to(self->alike);
    const bool looks = is_known_sort && alike.get() != Py_None && add_place(alike.get(), &key);
    if (looks && count_again(alike.get(), key, made)) return true;
    if (PyErr_Occurred()) return false;
    const Ref known = record();
    if (!known) return false;
    return !looks || known.get() == Py_None || keep(alike.get(), std::move(key), known.get());
}

// The methods of calls: what is called, its arguments, and what it returned.
using Method = PyObject *(PyObject *, PyObject *const *, Py_ssize_t);
Method call_begins, argument, named, starred, rest, called;

extern PyType_Spec hook_spec;

}  // namespace promoarray
