// How an array leaves the policy that was handed over so before: its one element as a number of
// Python's, or its buffer. What is kept as `run` (channels.py) takes the buffer and what is given
// besides; the number is then made one of the class that is kept as `result`.
#include "../../kernels/cpu/float_state.h"
#include "operator.h"

namespace promoarray {
namespace {

// Whether observers or a guard have to be told; -1 with the error.
int is_watched(const FastOperator *self) {
    if (self->is_observed()) return 1;
    if (PyList_Size(self->parts[GUARDING]) == 0) return 0;
    const Ref guards(PyObject_CallNoArgs(PyList_GetItem(self->parts[GUARDING], 0)));
    return guards ? guards.get() != Py_None : -1;
}

// How an array is handed over, which hangs on its type and on whether it has axes. Null without an
// error if that is not known.
Ref way_of(FastOperator *self, PyTypeObject *cls, Read *given) {
    if (!given[0].buffer || !given[0].key) return Ref(nullptr);
    const Py_ssize_t rank = rank_of(self, given[0].buffer.get());
    if (rank < 0) return Ref(nullptr);
    if (rank > 0) given[1].key = Ref::to(Py_True);
    const Ref policy = policy_in_force(self, cls);
    return policy ? kept_of(self, policy.get(), given, rank > 0 ? 2 : 1) : Ref(nullptr);
}

// False if the long way has to be taken; else there is a result, null with the error set.
bool hand_over(FastOperator *self, PyObject *const *args, Py_ssize_t count, PyObject **result) {
    *result = nullptr;
    PyTypeObject *cls = Py_TYPE(args[0]);
    if (count > MOST || !self->is_array(cls)) return false;
    if (const int watched = is_watched(self)) return watched < 0;
    Read given[] = {read(self, args[0], cls), Read()};
    const Ref way = way_of(self, cls, given);
    if (!way) return PyErr_Occurred() != nullptr;
    PyObject *number = field(way, RESULT);
    if (count > 1 && number != Py_None) return false;  // `float(x)` takes no index
    PyObject *passed[MOST] = {given[0].buffer.get()};
    for (Py_ssize_t i = 1; i < count; ++i) passed[i] = args[i];
    Ref made(PyObject_Vectorcall(field(way, RUN), passed, count, nullptr));
    if (made && number != Py_None && number != reinterpret_cast<PyObject *>(Py_TYPE(made.get())))
        made = call(number, made.get());
    if (!made && PyErr_ExceptionMatches(PyExc_Exception)) return PyErr_Clear(), false;
    *result = made.release();
    return true;
}

}  // namespace

PyObject *channel_call(PyObject *object, PyObject *const *args, std::size_t nargs, PyObject *names) {
    FastOperator *self = operator_of(object);
    const FloatStateGuard state;
    const Py_ssize_t count = PyVectorcall_NARGS(nargs);
    PyObject *result;
    if (count > 0 && names == nullptr && hand_over(self, args, count, &result)) return result;
    return PyObject_Vectorcall(self->parts[SLOW], args, nargs, names);
}

}  // namespace promoarray
