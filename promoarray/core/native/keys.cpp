// What `x[key]` means to NumPy: ints, slices and the like as they are, arrays as the buffers that
// `as_key` (index_keys.py) made of arrays of the same types before.
#include <utility>

#include "operator.h"

namespace promoarray {
namespace {

bool is_plain(PyObject *part) {
    const PyTypeObject *type = Py_TYPE(part);
    return type == &PySlice_Type || type == &PyBool_Type || part == Py_Ellipsis || part == Py_None;
}

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

// An index array or a mask as a buffer; null where the long way has to be asked, or with the error.
Ref index_buffer(FastOperator *self, PyTypeObject *cls, const Read &x, PyObject *part, Key &key) {
    Ref listed(nullptr);
    if (lists_numbers(part)) {
        listed = Ref(PyObject_CallFunctionObjArgs(self->parts[ASARRAY], part, nullptr));
        if (!listed) return listed;
        part = listed.get();
    }
    if (Py_TYPE(part) != cls && !self->is(NDARRAY, Py_TYPE(part))) return Ref(nullptr);
    Read index = read(self, part, cls);
    if (!index.buffer || !index.key) return Ref(nullptr);
    if (!self->is(BOOL, self->dtype_of(index.key.get()))) key.has_masks_alone = false;
    const Ref policy = policy_in_force(self, cls);
    if (!policy) return Ref(nullptr);
    Read given[MOST];  // as `_keep` (index_keys.py) has it
    given[0].key = Ref::to(x.key.get());
    given[1].key = Ref::to(index.key.get());
    given[2].key = Ref::to(Py_Ellipsis);
    const Ref executable = kept_of(self, policy.get(), given, MOST);
    if (!executable) return Ref(nullptr);
    if (field(executable, RUN) == Py_None) return Ref::to(index.buffer.get());
    PyObject *buffers[] = {index.buffer.get()};
    return run(self, executable, buffers, 1, nullptr);
}

// A part of a key as NumPy takes it; null where the long way has to be asked, or with the error.
Ref part_of(FastOperator *self, PyTypeObject *cls, const Read &x, PyObject *part, Key &key) {
    if (PyLong_CheckExact(part)) return Ref::to(part);
    key.is_ints = false;
    if (part != Py_None && part != Py_Ellipsis) key.always_picks = false;
    if (is_plain(part)) return Ref::to(part);
    key.has_arrays = true;
    return index_buffer(self, cls, x, part, key);
}

}  // namespace

Key key_of(FastOperator *self, PyTypeObject *cls, const Read &x, PyObject *key) {
    Key out;
    if (!PyTuple_CheckExact(key)) {
        out.native = part_of(self, cls, x, key, out);
        return out;
    }
    const Py_ssize_t count = PyTuple_Size(key);
    Ref parts(PyTuple_New(count));
    for (Py_ssize_t i = 0; parts && i < count; ++i) {
        Ref part = part_of(self, cls, x, PyTuple_GetItem(key, i), out);
        if (part) PyTuple_SetItem(parts.get(), i, part.release());
        else parts = Ref(nullptr);
    }
    out.native = std::move(parts);
    return out;
}

}  // namespace promoarray
