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
            PLAIN, RESOLVE, SCALAR_CLASS, IS_LIBRARY, OUTSIDE, PARTS };
enum Name { DTYPE, NDIM, ITEM, BACK, INSTRUCTION, MODULE, CODE, OF_METHOD, OWNER, NAME, NAMES };
inline constexpr const char *HOOK_NAMES[NAMES] = {"dtype", "ndim", "item", "f_back", "f_lasti",
                                                  "__module__", "__code__", "__func__", "__self__", "__name__"};

// What a session looks at: any values, integers that may wrap, what floats lose.
constexpr int LOOKS = 1, LOOKS_AT_INTEGERS = 2, LOOKS_AT_FLOATS = 4;

struct FastHook {
    PyObject_HEAD
    PyObject *session, *past, *recorder, *carried;  // None while nothing is recorded
    bool refuses, by_value;  // whether the past is but told of what NumPy refuses; whether values count
    int checks;              // what the session looks at of values: one of those below, or several
    PyObject *parts[PARTS], *names[NAMES];
    PyObject *kinds;    // from what functions have in common to what is called in their place
    PyObject *foreign;  // from classes to whether a library that nobody records computes with NumPy in them
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

// Tell the session of what failed with the error that is set, which stays: a function, or the name of
// an operator, and what it was given. Nobody else is told of it.
void tell_failed(const FastHook *self, PyObject *what, PyObject *given, PyObject *keywords, bool in_place = false);

// Tell the session of what an operator or a function of NumPy's made that is no array, such as a tensor.
// False with the error.
bool tell_wrapped(const FastHook *self, PyObject *what, PyObject *given, PyObject *keywords, PyObject *made);

// Read the number that methods are given first; false with the error.
bool read_place(const char *method, PyObject *const *args, Py_ssize_t count, Py_ssize_t least, long *place);

// What is known of a call before it is carried out: what was told of one like it, if anything was,
// and what calls like it have in common. `describe` adds to a key what calls like it have in common.
struct Asked {
    template <typename Describe>
    Asked(const FastHook *self, long place, const Describe &describe) : turn_(self->cache->turn) {
        looks_ = KNOWS_CALLS && describe(&key_);
        std::vector<Entry> *here = looks_ ? known_at(*self->cache, place, false) : nullptr;
        for (std::size_t i = 0; here != nullptr && told == nullptr && i < here->size(); ++i) {
            if (!key_.is_like((*here)[i].key)) continue;
            if (i != 0) std::swap((*here)[i], here->front());
            told = here->front().told.get();
        }
    }
    // What was told, unless something was forgotten meanwhile.
    Told *still(const FastHook *self) const { return turn_ == self->cache->turn ? told : nullptr; }
    // Count a call that is like another, or else have the session record it, and keep what that
    // answers if other calls may be like this one. `cast` is an array that may be cast.
    template <typename Record>
    bool tell(FastHook *self, long place, PyObject *cast, PyObject *made, Ref &&dtypes, const Record &record) {
        Told *before = still(self);
        if (before != nullptr && have_values(*before, cast) && count_again(self, before, made)) return true;
        if (PyErr_Occurred()) return false;
        const Ref answer = record();
        return answer && (!looks_ || keep(self, place, still(self), &key_, answer.get(), std::move(dtypes)));
    }
    Told *told = nullptr;

   private:
    Key key_;
    bool looks_ = false;
    unsigned turn_;
};

// The methods of calls.
PyObject *call_function(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *call_later(PyObject *object, PyObject *const *args, Py_ssize_t count, PyObject *names);
PyObject *result_of(PyObject *object, PyObject *called);

extern PyType_Spec hook_spec;

// The names of the operators, in the order of their numbers; null with the error.
PyObject *operator_names();

}  // namespace promoarray
