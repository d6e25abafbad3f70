// What is looked up before an operation runs: its operands, the policy, the executable, scalars.
#include <utility>
#include <vector>

#include "borders.h"
#include "operator.h"

namespace promoarray {
namespace {

PyObject *policy_died(PyObject *self, PyObject *weak) {
    operator_of(self)->executables.forget(weak);
    return Py_NewRef(Py_None);
}

PyMethodDef policy_died_definition = {"policy_died", policy_died, METH_O, nullptr};

// Keep an executable for as long as its policy lives, which is not kept: there may be thousands
// of derived ones, one after the other.
void keep_executable(FastOperator *self, PyObject *policy, PyObject *const *keys,
                     const Ref &found) {
#ifndef Py_GIL_DISABLED
    const Ref died(PyCFunction_New(&policy_died_definition, reinterpret_cast<PyObject *>(self)));
    const Ref weak(died ? PyWeakref_NewRef(policy, died.get()) : nullptr);
    if (weak) self->executables.keep(policy, keys[0], keys[1], keys[2], weak.get(), found);
    else PyErr_Clear();  // it is found again without the cache
#endif
}

// What is kept for so many keys, None behind the last: an Executable or a Choice.
Ref kept_for(FastOperator *self, PyObject *policy, PyObject *const *keys, Py_ssize_t count) {
    const bool few = count <= MOST;  // three operands of other back ends have a key more than the cache
    if (Ref known = few ? self->executables.find(policy, keys[0], keys[1], keys[2]) : Ref(nullptr))
        return known;
    const Ref kept(PyObject_GetAttr(policy, self->parts[EXECUTABLES_NAME]));
    if (!kept) return Ref(nullptr);
    const Ref key(PyTuple_New(1 + count));
    if (!key) return Ref(nullptr);
    PyTuple_SetItem(key.get(), 0, Py_NewRef(self->parts[NAME]));
    for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SetItem(key.get(), 1 + i, Py_NewRef(keys[i]));
    Ref found = item_of(kept.get(), key.get());
    if (found && few) keep_executable(self, policy, keys, found);
    return found;
}

// The sort of a Python scalar, as a Choice tells scalars apart.
Ref sort_of(FastOperator *self, PyObject *sort, PyObject *value) {
    if (sort == Py_None) return Ref::to(Py_None);
    if (Ref known = self->sorts.find(sort, sort, value)) return known;
    Ref found = call(sort, value);
    if (found) self->sorts.keep(sort, sort, value, Py_None, sort, found);
    return found;
}

// The same of the value of an array that has no axes; that it has none, where ranks decide.
Ref sort_of_flat(const FastOperator *self, PyObject *sort, PyObject *buffer) {
    if (sort == Py_None) return Ref::to(Py_True);
    Ref known = sort_of_element(sort, buffer);
    if (known || PyErr_Occurred()) return known;
    const Ref value(PyObject_VectorcallMethod(self->parts[ITEM_NAME], &buffer, 1, nullptr));
    return value ? call(sort, value.get()) : Ref(nullptr);
}

// The executable of a Choice: `told_apart` (kept.py) makes the same key.
Ref chosen(FastOperator *self, const Ref &choice, PyObject *const *operands, const Read *given,
           Py_ssize_t count) {
    PyObject *scalar = PyTuple_GetItem(choice.get(), CHOICE_SCALAR);
    PyObject *flat = PyTuple_GetItem(choice.get(), CHOICE_FLAT);
    const Ref key(PyTuple_New(count));
    if (!key) return Ref(nullptr);
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject *buffer = given[i].buffer.get();
        const Py_ssize_t rank = buffer != nullptr ? rank_of(self, buffer) : 0;
        if (rank < 0) return Ref(nullptr);
        Ref part = given[i].is_dtype ? Ref::to(Py_None)
                   : buffer == nullptr ? sort_of(self, scalar, operands[i])
                   : rank == 0         ? sort_of_flat(self, flat, buffer)
                                       : Ref::to(Py_None);
        if (!part) return Ref(nullptr);
        PyTuple_SetItem(key.get(), i, part.release());
    }
    return item_of(PyTuple_GetItem(choice.get(), CHOICE_KEPT), key.get());
}

// An array or a scalar of NumPy's, if the long way has wrapped one of its dtype.
void adopt(const FastOperator *self, PyObject *operand, Read &out) {
    const bool is_array = self->is(NDARRAY, Py_TYPE(operand));
    const Ref by = is_array ? dtype_of(self, operand)
                            : Ref::to(reinterpret_cast<PyObject *>(Py_TYPE(operand)));
    if (by) out.type = item_of(self->parts[ADOPTED], by.get());
    if (!out.type) return;
    out.buffer = is_array ? Ref::to(operand)
                          : Ref(PyObject_CallFunctionObjArgs(self->parts[ASARRAY], operand, nullptr));
    if (out.buffer) out.key = Ref::to(out.type.get());
    out.is_adopted = true;
}

}  // namespace

Ref item_of(PyObject *dictionary, PyObject *key) {
#ifdef Py_GIL_DISABLED
    PyObject *found = nullptr;
    PyDict_GetItemRef(dictionary, key, &found);
    return Ref(found);
#else
    return Ref(Py_XNewRef(PyDict_GetItemWithError(dictionary, key)));
#endif
}

Ref policy_in_force(const FastOperator *self, PyTypeObject *cls) {
    Ref bound(PyObject_GetAttr(reinterpret_cast<PyObject *>(cls), self->parts[POLICY_NAME]));
    if (!bound || bound.get() != Py_None) return bound;
    Ref here(PyObject_CallNoArgs(self->parts[POLICY_HERE]));
    if (!here) return here;
    if (here.get() != Py_None) return Ref(Py_XNewRef(PyTuple_GetItem(here.get(), 0)));
    if (PyList_Size(self->parts[DEFAULT_POLICY]) == 0) return Ref(nullptr);
#ifdef Py_GIL_DISABLED
    return Ref(PyList_GetItemRef(self->parts[DEFAULT_POLICY], 0));
#else
    return Ref::to(PyList_GetItem(self->parts[DEFAULT_POLICY], 0));
#endif
}

bool canonicalize(const FastOperator *self, const Ref &policy, Read &given) {
    const Ref held(PyObject_GetAttr(policy.get(), self->parts[CANONICAL_NAME]));
    const int narrowed = held ? PySequence_Contains(held.get(), given.type.get()) : -1;
    if (narrowed <= 0) return narrowed == 0;
    const Ref kept(PyObject_GetAttr(policy.get(), self->parts[EXECUTABLES_NAME]));
    const Ref key(kept ? PyTuple_Pack(2, self->parts[CANONICAL_NAME], given.type.get()) : nullptr);
    const Ref executable = key ? item_of(kept.get(), key.get()) : Ref(nullptr);
    if (!executable) return false;
    given.buffer = Ref(PyObject_CallFunctionObjArgs(field(executable, RUN), given.buffer.get(), nullptr));
    given.type = Ref::to(field(executable, RESULT));
    given.key = Ref::to(given.type.get());
    return static_cast<bool>(given.buffer);
}

Ref kept_of(FastOperator *self, PyObject *policy, const Read *given, Py_ssize_t count,
            PyObject *backend) {
    PyObject *few[MOST + 1];
    std::vector<PyObject *> many(count > MOST ? count + 1 : 0);
    PyObject **keys = count > MOST ? many.data() : few;
    for (Py_ssize_t i = 0; i < MOST || i < count; ++i) keys[i] = i < count ? given[i].key.get() : Py_None;
    if (backend != nullptr) keys[count] = backend;
    return kept_for(self, policy, keys, backend != nullptr ? count + 1 : count);
}

Ref executable_of(FastOperator *self, PyObject *policy, PyObject *const *operands,
                  const Read *given, Py_ssize_t count, PyObject *backend) {
    Ref found = kept_of(self, policy, given, count, backend);
    if (!found || PyTuple_Size(found.get()) != CHOICE_FIELDS) return found;
    return chosen(self, found, operands, given, count);
}

Ref scalar_buffer(FastOperator *self, const Ref &executable, Py_ssize_t index, PyObject *value) {
    PyObject *convert = PyTuple_GetItem(field(executable, SCALARS), index);
    // Numbers are new each time, more often than not: what casts them keeps its own last one.
    if (self->is(SCALAR_CASTER, Py_TYPE(convert)) && (PyFloat_CheckExact(value) || PyLong_CheckExact(value)))
        return Ref(PyObject_Vectorcall(convert, &value, 1, nullptr));
    if (Ref known = self->scalars.find(executable.get(), convert, value)) return known;
    Ref buffer(PyObject_CallFunctionObjArgs(convert, value, nullptr));
    if (buffer && buffer.get() != Py_None)
        self->scalars.keep(executable.get(), convert, value, Py_None, executable.get(), buffer);
    return buffer;
}

// One object for equal keys, as the caches know keys by their addresses; `kept.py:key_of_array`
// makes an equal one.
Ref key_of_array(const FastOperator *self, const Ref &type, const Ref &buffer) {
    if (!self->is_weak(type.get())) return Ref::to(type.get());
    const Ref stored = dtype_of(self, buffer.get());
    if (!stored) return PyErr_Clear(), Ref(nullptr);
    if (Ref known = self->stored.find(type.get(), stored.get(), Py_None)) return known;
    Ref key(PyTuple_Pack(2, type.get(), stored.get()));
    if (!key) return PyErr_Clear(), Ref(nullptr);
    if (Ref known = item_of(self->parts[STORED], key.get())) key = std::move(known);
    else PyDict_SetItem(self->parts[STORED], key.get(), key.get());
    self->stored.keep(type.get(), stored.get(), Py_None, Py_None, type.get(), key);
    return PyErr_Clear(), std::move(key);
}

Read read(const FastOperator *self, PyObject *operand, PyTypeObject *cls, Library library) {
    PyTypeObject *type = Py_TYPE(operand);
    Read out;
    if (type != cls) {
        if (type == &PyFloat_Type || type == &PyLong_Type || type == &PyBool_Type ||
            type == &PyComplex_Type) {
            out.key = Ref::to(reinterpret_cast<PyObject *>(type));
        } else if (PyObject *dtype = self->dtype_of(operand)) {
            out.key = Ref::to(dtype);
            out.is_dtype = true;
        } else if (self->is(ADOPTS, Py_None)) {
            if (!self->typed) adopt(self, operand, out);
        } else if (self->is(NDARRAY, type)) {
            out.key = dtype_of(self, operand);
            out.buffer = Ref::to(operand);
        } else if (item_of(self->parts[ADOPTED], reinterpret_cast<PyObject *>(type))) {
            out.buffer = Ref(PyObject_CallFunctionObjArgs(self->parts[ASARRAY], operand, nullptr));
            if (out.buffer) out.key = dtype_of(self, out.buffer.get());
        }
        return out;
    }
    auto *array = reinterpret_cast<ArraySlots *>(operand);
#ifdef Py_GIL_DISABLED
    Py_BEGIN_CRITICAL_SECTION(operand);  // as the members are set in one
#endif
    if (array->buffer != nullptr &&
        (library == Library::ANY || self->is(NDARRAY, Py_TYPE(array->buffer)))) {
        out.type = Ref(Py_XNewRef(array->type));
        out.buffer = Ref::to(array->buffer);
    }
#ifdef Py_GIL_DISABLED
    Py_END_CRITICAL_SECTION();
#endif
    if (out.type) out.key = key_of_array(self, out.type, out.buffer);
    return out;
}

}  // namespace promoarray
