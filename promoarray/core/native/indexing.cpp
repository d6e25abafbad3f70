// `x[key]` and `x[key] = value` where the key is an int, a slice or `...`, as most are; and `reshape`.
#include "../../kernels/cpu/float_state.h"
#include "operator.h"

namespace promoarray {
namespace {

bool is_simple(PyObject *key) {
    return Py_TYPE(key) == &PyLong_Type || Py_TYPE(key) == &PySlice_Type ||
           key == Py_Ellipsis;
}

// The one element at a key: in the array's memory, or its own where the policy copies it. Null
// without an error if no policy is in force yet.
Ref element(const FastOperator *self, PyTypeObject *cls, PyObject *buffer, PyObject *key) {
    const Ref policy = policy_in_force(self, cls);
    if (!policy) return Ref(nullptr);
    const Ref whole(PyTuple_Pack(2, key, Py_Ellipsis));
    if (!whole) return Ref(nullptr);
    Ref view(PyObject_GetItem(buffer, whole.get()));
    const Ref copies(PyObject_GetAttr(policy.get(), self->parts[COPIES_NAME]));
    if (!view || !copies) return Ref(nullptr);
    const int copied = PySet_Contains(copies.get(), self->parts[ITEM_NAME]);
    if (copied < 0) return Ref(nullptr);
    if (!copied) return view;
    PyObject *args[] = {view.get()};
    return Ref(PyObject_VectorcallMethod(self->parts[COPY_NAME], args, 1, nullptr));
}

// False if the long way has to be taken.
bool getitem(const FastOperator *self, PyObject *array, PyObject *key, PyObject **result) {
    PyTypeObject *cls = Py_TYPE(array);
    if (!is_simple(key) || !self->is_array(cls)) return false;
    const Read x = read(self, array, cls);
    if (!x.buffer || !x.key) return false;
    Ref out(PyObject_GetItem(x.buffer.get(), key));
    if (out && !self->is(NDARRAY, Py_TYPE(out.get()))) out = element(self, cls, x.buffer.get(), key);
    if (!out) {
        if (PyErr_Occurred() && !is_told_better()) return *result = nullptr, true;
        PyErr_Clear();
        return false;
    }
    *result = wrap(cls, out, x.type.get());
    return true;
}

// False if the long way has to be taken; else the error is set, or all is done.
bool setitem(FastOperator *self, PyObject *array, PyObject *key, PyObject *value) {
    PyTypeObject *cls = Py_TYPE(array);
    if (!is_simple(key) || !self->is_array(cls) || self->is_observed()) return false;
    Read given[] = {read(self, array, cls), read(self, value, cls)};
    if (!given[0].buffer || !given[0].key || !given[1].key || given[1].is_dtype) return false;
    const Ref policy = policy_in_force(self, cls);
    if (!policy) return PyErr_Occurred() != nullptr;
    PyObject *const operands[] = {array, value};
    const Ref executable = executable_of(self, policy.get(), operands, given, 2);
    if (!executable) return PyErr_Occurred() != nullptr;
    Ref written(nullptr);
    if (given[1].buffer) {
        PyObject *args[] = {given[0].buffer.get(), key, given[1].buffer.get()};
        written = Ref(PyObject_Vectorcall(field(executable, RUN), args, 3, nullptr));
    } else {
        const Ref buffer = scalar_buffer(self, executable, 1, value);
        if (!buffer) return true;
        if (buffer.get() == Py_None) return false;
        if (PyObject_SetItem(given[0].buffer.get(), key, buffer.get()) == 0)
            written = Ref::to(Py_None);
    }
    if (written || !is_told_better()) return true;
    PyErr_Clear();
    return false;
}

// A shape that is written as ints, or as one tuple of them; null if it is not.
Ref shape_of(PyObject *const *lengths, Py_ssize_t count) {
    const bool is_tuple = count == 1 && PyTuple_CheckExact(lengths[0]);
    if (is_tuple) count = PyTuple_Size(lengths[0]);
    Ref shape(PyTuple_New(count));
    for (Py_ssize_t i = 0; shape && i < count; ++i) {
        PyObject *length = is_tuple ? PyTuple_GetItem(lengths[0], i) : lengths[i];
        if (!PyLong_CheckExact(length)) return Ref(nullptr);
        PyTuple_SetItem(shape.get(), i, Py_NewRef(length));
    }
    return shape;
}

// False if the long way has to be taken.
bool reshape(const FastOperator *self, PyObject *const *args, Py_ssize_t count, PyObject **result) {
    PyTypeObject *cls = Py_TYPE(args[0]);
    if (count < 2 || !self->is_array(cls)) return false;
    if (!self->is(BOUND, Py_None) && !self->is(BOUND, cls)) return false;
    const Read x = read(self, args[0], cls);
    if (!x.buffer || !x.key) return false;
    const Ref shape = shape_of(args + 1, count - 1);
    if (!shape) return PyErr_Clear(), false;
    PyObject *given[] = {x.buffer.get(), shape.get()};
    Ref out(PyObject_VectorcallMethod(self->parts[RESHAPE_NAME], given, 2, nullptr));
    if (!out) {
        if (!is_told_better()) return *result = nullptr, true;
        PyErr_Clear();
        return false;
    }
    *result = wrap(cls, out, x.type.get());
    return true;
}

}  // namespace

PyObject *reshape_call(PyObject *object, PyObject *const *args, std::size_t nargs,
                       PyObject *names) {
    const FastOperator *self = operator_of(object);
    const Py_ssize_t count = PyVectorcall_NARGS(nargs);
    PyObject *result;
    if (count > 0 && names == nullptr && reshape(self, args, count, &result)) return result;
    return PyObject_Vectorcall(self->parts[SLOW], args, nargs, names);
}

PyObject *getitem_call(PyObject *object, PyObject *const *args, std::size_t nargs,
                       PyObject *names) {
    const FastOperator *self = operator_of(object);
    PyObject *result;
    if (PyVectorcall_NARGS(nargs) == 2 && names == nullptr && getitem(self, args[0], args[1], &result))
        return result;
    return PyObject_Vectorcall(self->parts[SLOW], args, nargs, names);
}

PyObject *setitem_call(PyObject *object, PyObject *const *args, std::size_t nargs,
                       PyObject *names) {
    FastOperator *self = operator_of(object);
    const FloatStateGuard state;
    if (PyVectorcall_NARGS(nargs) == 3 && names == nullptr && setitem(self, args[0], args[1], args[2]))
        return PyErr_Occurred() ? nullptr : Py_NewRef(Py_None);
    return PyObject_Vectorcall(self->parts[SLOW], args, nargs, names);
}

}  // namespace promoarray
