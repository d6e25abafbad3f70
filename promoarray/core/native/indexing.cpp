// `x[key]` and `x[key] = value`, by keys that NumPy takes and by arrays of types that were met before.
#include <utility>

#include "../../kernels/cpu/float_state.h"
#include "operator.h"

namespace promoarray {
namespace {

// The key of `x[key]` as NumPy takes it.
struct Key {
    Ref native = Ref(nullptr);    // null where the long way has to be asked, or with the error
    bool has_arrays = false;      // index arrays or masks
    bool is_one_mask = true;      // which has axes, and nothing else of that kind
    bool is_ints = true;          // and nothing else
};

// Whether a list is of ints and bools alone, which NumPy makes an array of.
bool lists_numbers(PyObject *part) {
#ifdef Py_GIL_DISABLED
    return false;  // another thread may change it meanwhile
#endif
    if (!PyList_CheckExact(part)) return false;
    const Py_ssize_t count = PyList_Size(part);
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject *item = PyList_GetItem(part, i);
        if (!PyLong_CheckExact(item) && !PyBool_Check(item)) return false;
    }
    return count > 0;
}

// An index array or a mask as the buffer that `as_key` (index_keys.py) makes of arrays of its type; of
// that observers are told.
Ref index_buffer(const FastOperator *self, PyTypeObject *cls, const Operand &x, PyObject *part, Key &key) {
    if (PyList_Size(python.observers) != 0) return Ref(nullptr);
    Ref listed(nullptr);
    if (lists_numbers(part)) {
        listed = Ref(PyObject_CallFunctionObjArgs(python.asarray, part, nullptr));
        if (!listed) return listed;
        part = listed.get();
    }
    if (Py_TYPE(part) != cls && reinterpret_cast<PyObject *>(Py_TYPE(part)) != python.ndarray) return Ref(nullptr);
    Operand given[3];
    given[0].key = Ref::to(x.key.get());
    given[1] = read(part, cls);
    given[2].key = Ref::to(Py_Ellipsis);
    if (!given[1].buffer || !given[1].key) return Ref(nullptr);
    if (given[1].type.get() != python.bool_dtype || rank_of(given[1].buffer.get()) == 0) key.is_one_mask = false;
    const Ref policy = policy_in_force(cls);
    if (policy && !listed && given[1].is_adopted && !enters_as_it_is(policy, given[1].type)) return Ref(nullptr);
    const Ref executable = policy ? look_up(policy.get(), self->name, given, 3) : Ref(nullptr);
    if (!executable || field(executable, RUN) == Py_None) return executable ? std::move(given[1].buffer) : Ref(nullptr);
    PyObject *buffers[] = {given[1].buffer.get()};
    return run(executable, buffers, 1, nullptr);
}

Ref part_of(const FastOperator *self, PyTypeObject *cls, const Operand &x, PyObject *part, Key &key) {
    if (PyLong_CheckExact(part)) return Ref::to(part);
    key.is_ints = false;
    const bool is_plain = Py_TYPE(part) == &PySlice_Type || Py_TYPE(part) == &PyBool_Type ||
                          part == Py_Ellipsis || part == Py_None;
    if (is_plain) return Ref::to(part);
    if (key.has_arrays) key.is_one_mask = false;
    key.has_arrays = true;
    return index_buffer(self, cls, x, part, key);
}

Key key_of(const FastOperator *self, PyTypeObject *cls, const Operand &x, PyObject *given) {
    Key key;
    if (!PyTuple_CheckExact(given)) {
        key.native = part_of(self, cls, x, given, key);
        return key;
    }
    Ref parts(PyTuple_New(PyTuple_Size(given)));
    for (Py_ssize_t i = 0; parts && i < PyTuple_Size(given); ++i) {
        Ref part = part_of(self, cls, x, PyTuple_GetItem(given, i), key);
        if (part) PyTuple_SetItem(parts.get(), i, part.release());
        else parts = Ref(nullptr);
    }
    key.native = std::move(parts);
    return key;
}

// The one element at ints: in the array's memory, or its own where the policy copies it.
Ref element(PyTypeObject *cls, PyObject *buffer, const Ref &key) {
    const Ref policy = policy_in_force(cls);
    if (!policy) return Ref(nullptr);
    const Ref ints(PyTuple_CheckExact(key.get()) ? Py_NewRef(key.get()) : PyTuple_Pack(1, key.get()));
    const Ref rest(PyTuple_Pack(1, Py_Ellipsis));
    const Ref whole(ints && rest ? PySequence_Concat(ints.get(), rest.get()) : nullptr);
    Ref view(whole ? PyObject_GetItem(buffer, whole.get()) : nullptr);
    const Ref copies(view ? PyObject_GetAttr(policy.get(), names_of.copies) : nullptr);
    const int copied = copies ? PySequence_Contains(copies.get(), names_of.item) : -1;
    if (copied < 0) return Ref(nullptr);
    if (copied == 0) return view;
    PyObject *args[] = {view.get()};
    return Ref(PyObject_VectorcallMethod(names_of.copy, args, 1, nullptr));
}

// `x[key]`; null with the error, or without one where the long way has to be taken.
PyObject *get(const FastOperator *self, PyObject *array, PyObject *given) {
    PyTypeObject *cls = Py_TYPE(array);
    if (!is_array(cls)) return nullptr;
    const Operand x = read(array, cls);
    if (!x.buffer || !x.key) return nullptr;
    const Key key = key_of(self, cls, x, given);
    Ref out(key.native ? PyObject_GetItem(x.buffer.get(), key.native.get()) : nullptr);
    if (!out) return nullptr;
    if (reinterpret_cast<PyObject *>(Py_TYPE(out.get())) != python.ndarray) {  // a scalar of NumPy's
        const Ref dtype(PyObject_GetAttr(x.buffer.get(), names_of.dtype));
        if (!dtype) return nullptr;
        out = key.is_ints ? element(cls, x.buffer.get(), key.native)
                          : Ref(PyObject_CallFunctionObjArgs(python.asarray, out.get(), dtype.get(), nullptr));
    }
    return out ? wrap(cls, out, x.type.get()) : nullptr;
}

// `x[key] = value`; false with the error, or without one where the long way has to be taken.
bool set(const FastOperator *self, PyObject *array, PyObject *given, PyObject *value) {
    PyTypeObject *cls = Py_TYPE(array);
    if (!is_array(cls) || PyList_Size(python.observers) != 0) return false;
    // 1. What is written where, and whether all of that is known.
    Operand operands[3];
    operands[0] = read(array, cls);
    operands[1] = read(value, cls);
    const Operand &x = operands[0], &y = operands[1];
    if (!x.buffer || !x.key || !y.key || y.is_dtype) return false;
    const Key key = key_of(self, cls, x, given);
    if (!key.native) return false;
    if (key.is_ints && y.buffer && rank_of(y.buffer.get()) != 0) {
        const Py_ssize_t ints = PyTuple_CheckExact(key.native.get()) ? PyTuple_Size(key.native.get()) : 1;
        if (ints == rank_of(x.buffer.get())) return false;  // which a policy may take at one element
    }

    // 2. How values of this type are written, which may be another way at arrays.
    if (key.has_arrays) {
        const bool fills = key.is_one_mask && y.buffer && size_of(y.buffer.get()) == 1;
        operands[2].key = Ref::to(fills ? Py_False : Py_True);
    }
    const Ref policy = policy_in_force(cls);
    if (policy && y.is_adopted && !enters_as_it_is(policy, y.type)) return false;
    const Ref executable =
        policy ? look_up(policy.get(), self->name, operands, key.has_arrays ? 3 : 2) : Ref(nullptr);
    if (!executable) return false;

    // 3. The values, cast by the kernel where they are few, and the writing of them.
    Ref values = y.buffer ? Ref::to(y.buffer.get()) : scalar_buffer(executable, 1, value);
    if (!values || values.get() == Py_None) return false;
    PyObject *kernel = field(executable, KERNEL);
    if (y.buffer && kernel != Py_None) {
        Ref cast = call(kernel, values.get());
        if (!cast) return false;
        if (cast.get() != Py_None) return PyObject_SetItem(x.buffer.get(), key.native.get(), cast.get()) == 0;
    }
    PyObject *args[] = {x.buffer.get(), key.native.get(), values.get()};
    if (field(executable, RUN) == Py_None) return PyObject_SetItem(args[0], args[1], args[2]) == 0;
    return static_cast<bool>(Ref(PyObject_Vectorcall(field(executable, RUN), args, 3, nullptr)));
}

}  // namespace

PyObject *getitem_call(PyObject *object, PyObject *const *args, std::size_t nargs, PyObject *names) {
    FastOperator *self = operator_of(object);
    const bool knows = python.observers != nullptr && PyVectorcall_NARGS(nargs) == 2 && names == nullptr;
    PyObject *answer = knows ? get(self, args[0], args[1]) : nullptr;
    if (answer != nullptr) return answer;
    return has_failed() ? nullptr : long_way(self, args, nargs, names);
}

PyObject *setitem_call(PyObject *object, PyObject *const *args, std::size_t nargs, PyObject *names) {
    FastOperator *self = operator_of(object);
    const FloatStateGuard state;
    const bool knows = python.observers != nullptr && PyVectorcall_NARGS(nargs) == 3 && names == nullptr;
    if (knows && set(self, args[0], args[1], args[2])) return Py_NewRef(Py_None);
    return has_failed() ? nullptr : long_way(self, args, nargs, names);
}

}  // namespace promoarray
