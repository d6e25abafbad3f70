// `x[key]` and `x[key] = value` by keys and of values that were met before; and `reshape`.
#include "../../kernels/cpu/float_state.h"
#include "operator.h"

namespace promoarray {
namespace {

// The one element at ints: in the array's memory, or its own where the policy copies it. Null
// without an error if no policy is in force yet.
Ref element(const FastOperator *self, PyTypeObject *cls, PyObject *buffer, PyObject *key) {
    const Ref policy = policy_in_force(self, cls);
    if (!policy) return Ref(nullptr);
    const Ref rest(PyTuple_Pack(1, Py_Ellipsis));
    const Ref ints(PyTuple_CheckExact(key) ? Py_NewRef(key) : PyTuple_Pack(1, key));
    const Ref whole(rest && ints ? PySequence_Concat(ints.get(), rest.get()) : nullptr);
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

// What NumPy makes a scalar of, as an array again.
Ref as_array(const FastOperator *self, PyObject *buffer, const Ref &scalar) {
    const Ref stored = dtype_of(self, buffer);
    if (!stored) return Ref(nullptr);
    return Ref(PyObject_CallFunctionObjArgs(self->parts[ASARRAY], scalar.get(), stored.get(), nullptr));
}

// `buffer[key]`; null with the error, or without one where the long way has to be taken.
Ref items(FastOperator *self, PyTypeObject *cls, const Read &x, PyObject *given) {
    const Key key = key_of(self, cls, x, given);
    if (!key.native) return Ref(nullptr);
    Ref out(PyObject_GetItem(x.buffer.get(), key.native.get()));
    if (!out || self->is(NDARRAY, Py_TYPE(out.get()))) return out;
    return key.is_ints ? element(self, cls, x.buffer.get(), key.native.get())
                       : as_array(self, x.buffer.get(), out);
}

// False if the long way has to be taken.
bool getitem(FastOperator *self, PyObject *array, PyObject *key, PyObject **result) {
    PyTypeObject *cls = Py_TYPE(array);
    if (!self->is_array(cls)) return false;
    const Read x = read(self, array, cls);
    if (!x.buffer || !x.key) return false;
    Ref out = items(self, cls, x, key);
    if (!out) {
        if (PyErr_Occurred() && !is_told_better()) return *result = nullptr, true;
        PyErr_Clear();
        return false;
    }
    *result = wrap(cls, out, x.type.get());
    return true;
}

// Values of an array as `buffer[key] = values` writes them. Those of another dtype are cast, by the
// kernel where they are few; the others `run` writes, as those that may lie in the same memory.
bool write(const Ref &executable, PyObject *buffer, PyObject *key, PyObject *values) {
    if (field(executable, KERNEL) != Py_None) {
        const Ref cast(PyObject_Vectorcall(field(executable, KERNEL), &values, 1, nullptr));
        if (!cast) return false;
        if (cast.get() != Py_None) return PyObject_SetItem(buffer, key, cast.get()) == 0;
    }
    PyObject *args[] = {buffer, key, values};
    return static_cast<bool>(Ref(PyObject_Vectorcall(field(executable, RUN), args, 3, nullptr)));
}

// All of an array is cast to the dtype that it met what was written in, and back; nothing if nothing was.
bool write_all(const FastOperator *self, const Ref &executable, PyObject *buffer, const Key &key) {
    const Ref everywhere = Ref::to(field(executable, INTO));
    if (everywhere.get() == Py_False) return true;
    if (!key.always_picks) {
        const Ref part(PyObject_GetItem(buffer, key.native.get()));
        const Py_ssize_t size = part ? size_of(self, part.get()) : -1;
        if (size <= 0) return size == 0;
    }
    return write(everywhere, buffer, Py_Ellipsis, buffer);
}

// False if the long way has to be taken; else the error is set, or all is done.
bool setitem(FastOperator *self, PyObject *array, PyObject *key, PyObject *value) {
    PyTypeObject *cls = Py_TYPE(array);
    if (!self->is_array(cls) || self->is_observed()) return false;
    // 1. What is written where, and whether all of that is known.
    Read given[] = {read(self, array, cls), read(self, value, cls), Read()};
    if (!given[0].buffer || !given[0].key || !given[1].key || given[1].is_dtype) return false;
    const Key meant = key_of(self, cls, given[0], key);
    if (!meant.native) {
        if (PyErr_Occurred() && !is_told_better()) return true;
        PyErr_Clear();
        return false;
    }

    // 2. How values of this type are written, which may be another way at arrays.
    const Ref policy = policy_in_force(self, cls);
    if (!policy) return PyErr_Occurred() != nullptr;
    if (meant.has_arrays) {
        const bool fills = meant.has_masks_alone && given[1].buffer && size_of(self, given[1].buffer.get()) == 1;
        given[2].key = Ref::to(fills ? Py_False : Py_True);
    }
    const Ref executable = kept_of(self, policy.get(), given, meant.has_arrays ? 3 : 2);
    if (!executable) return PyErr_Occurred() != nullptr;

    // 3. The values, and the writing of them.
    PyObject *buffer = given[0].buffer.get();
    bool written;
    if (given[1].buffer) {
        written = write(executable, buffer, meant.native.get(), given[1].buffer.get());
    } else {
        const Ref scalar = scalar_buffer(self, executable, 1, value);
        if (!scalar) return true;
        if (scalar.get() == Py_None) return false;
        written = PyObject_SetItem(buffer, meant.native.get(), scalar.get()) == 0;
    }
    written = written && write_all(self, executable, buffer, meant);
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

// Elements from which on it matters how an array lies that has to be copied (backends/numpy/layout.py).
constexpr Py_ssize_t SOME = 4096;

// False if the long way has to be taken.
bool reshape(const FastOperator *self, PyObject *const *args, Py_ssize_t count, PyObject **result) {
    PyTypeObject *cls = Py_TYPE(args[0]);
    if (count < 2 || !self->is_array(cls)) return false;
    if (!self->is(BOUND, Py_None) && !self->is(BOUND, cls)) return false;
    const Read x = read(self, args[0], cls);
    if (!x.buffer || !x.key) return false;
    const Ref shape = shape_of(args + 1, count - 1);
    if (!shape) return PyErr_Clear(), false;
    const ArrayFields *array = fields_of(x.buffer.get());
    if (array != nullptr && (array->flags & IN_ROWS) == 0 && elements_of(*array) >= SOME) return false;
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
    FastOperator *self = operator_of(object);
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
