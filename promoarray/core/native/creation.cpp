// What makes arrays of Python's numbers: a shape and what fills it, or the ends of a range. How an
// array was made of numbers of the same classes is kept as an executable, which is given them.
#include "../../kernels/cpu/float_state.h"
#include "operator.h"

namespace promoarray {
namespace {

// The class of the highest kind among numbers, None of none; null if one is no number of Python's.
PyObject *highest(PyObject *const *numbers, Py_ssize_t count) {
    PyTypeObject *const classes[] = {&PyBool_Type, &PyLong_Type, &PyFloat_Type, &PyComplex_Type};
    constexpr int CLASSES = sizeof classes / sizeof *classes;
    int most = -1;
    for (Py_ssize_t i = 0; i < count; ++i) {
        int kind = 0;
        while (kind < CLASSES && Py_TYPE(numbers[i]) != classes[kind]) ++kind;
        if (kind == CLASSES) return nullptr;
        if (kind > most) most = kind;
    }
    return most < 0 ? Py_None : reinterpret_cast<PyObject *>(classes[most]);
}

// What is asked for by `dtype=`, the only option; null if it is for the long way to look at.
PyObject *asked_for(const FastOperator *self, PyObject *const *values, PyObject *names) {
    if (names == nullptr) return Py_None;
    const bool alone = PyTuple_Size(names) == 1 && self->is(DTYPE_NAME, PyTuple_GetItem(names, 0));
    return alone && self->may_ask_for(values[0]) ? values[0] : nullptr;
}

// False if the long way has to be taken; else there is a result, null with the error set.
bool make(FastOperator *self, PyObject *const *args, Py_ssize_t count, PyObject *names,
          PyObject **result) {
    if (count < 1 || self->is_observed()) return false;
    auto *cls = reinterpret_cast<PyTypeObject *>(self->parts[ADOPTS]);
    PyObject *kind = highest(args + self->shaped, count - self->shaped);
    PyObject *dtype = asked_for(self, args + count, names);
    if (kind == nullptr || dtype == nullptr) return false;
    Read key[2];
    key[0].key = Ref::to(kind);
    key[1].key = Ref::to(dtype);
    const Ref policy = policy_in_force(self, cls);
    Ref found = policy ? executable_of(self, policy.get(), args, key, 2) : Ref(nullptr);
    if (!found) return *result = nullptr, PyErr_Occurred() != nullptr;
    Ref out(PyObject_Vectorcall(field(found, RUN), args, count, nullptr));
    if (!out && PyErr_ExceptionMatches(PyExc_Exception)) return PyErr_Clear(), false;
    if (out.get() == Py_None) return false;
    *result = out ? wrap(cls, out, field(found, RESULT)) : nullptr;
    return true;
}

}  // namespace

PyObject *creation_call(PyObject *object, PyObject *const *args, std::size_t nargs,
                        PyObject *names) {
    FastOperator *self = operator_of(object);
    const FloatStateGuard state;
    PyObject *result;
    if (make(self, args, PyVectorcall_NARGS(nargs), names, &result)) return result;
    return PyObject_Vectorcall(self->parts[SLOW], args, nargs, names);
}

}  // namespace promoarray
