// What a policy answers about dtypes, which was asked of operands of the same types before.
#include "operator.h"

namespace promoarray {
namespace {

// The class whose policy is asked: of the first array, else of those that the function makes.
PyTypeObject *class_of(const FastOperator *self, PyObject *const *args, Py_ssize_t count) {
    PyTypeObject *cls = reinterpret_cast<PyTypeObject *>(self->parts[ADOPTS]);
    for (Py_ssize_t i = 0; i < count; ++i) {
        if (!self->is_array(Py_TYPE(args[i]))) continue;
        cls = Py_TYPE(args[i]);
        break;
    }
    return self->is(BOUND, Py_None) || self->is(BOUND, cls) ? cls : nullptr;
}

// False if the long way has to be taken; else there is an answer, null with the error set.
bool answer(FastOperator *self, PyObject *const *args, Py_ssize_t count, PyObject **result) {
    *result = nullptr;
    if (count < 1 || count > MOST || self->is_observed()) return false;
    PyTypeObject *cls = class_of(self, args, count);
    if (cls == nullptr) return false;
    Read given[MOST];
    for (Py_ssize_t i = 0; i < count; ++i) {
        given[i] = read(self, args[i], cls);
        // A dtype alone is not narrowed as an array of it is, nor taken by all that take arrays.
        if (given[i].is_dtype)
            given[i].key = Ref(PyObject_GetAttr(given[i].key.get(), self->parts[NAME_NAME]));
        if (!given[i].key) return PyErr_Occurred() != nullptr;
    }
    const Ref policy = policy_in_force(self, cls);
    if (!policy) return PyErr_Occurred() != nullptr;
    const Ref known = executable_of(self, policy.get(), args, given, count);
    if (!known) return PyErr_Occurred() != nullptr;
    *result = Py_NewRef(field(known, RESULT));
    return true;
}

}  // namespace

PyObject *question_call(PyObject *object, PyObject *const *args, std::size_t nargs,
                        PyObject *names) {
    FastOperator *self = operator_of(object);
    PyObject *result;
    if (names == nullptr && answer(self, args, PyVectorcall_NARGS(nargs), &result)) return result;
    return PyObject_Vectorcall(self->parts[SLOW], args, nargs, names);
}

}  // namespace promoarray
