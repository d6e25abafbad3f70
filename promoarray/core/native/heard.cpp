// What the one observer here knows of an operation.
#include <initializer_list>

#include "operator.h"
#include "tally.h"

namespace promoarray {
namespace {

// What an observer knows: a dictionary, and before it a cache for the operations of one policy.
struct Heard {
    PyObject_HEAD
    PyObject *scalar;  // from a Python scalar to what those have in common that are not told apart
    int by_value;      // whether values of 0-d arrays are looked at
    PyObject *kept;
    PyObject *policy;  // whose operations `quick` has
    CacheOf<128> quick;  // (operation, operand, operand)
};

Heard *heard_of(PyObject *object) { return reinterpret_cast<Heard *>(object); }

void begin_anew([[maybe_unused]] Heard *self, [[maybe_unused]] PyObject *policy) {
#ifndef Py_GIL_DISABLED  // where there is no cache
    PyObject *old = self->policy;
    self->policy = Py_NewRef(policy);
    self->quick.clear();
    Py_XDECREF(old);
#endif
}

// The only observer, if it is this context's; None if there is none, or another number of them.
Ref lone_observer(const FastOperator *self) {
#ifndef Py_GIL_DISABLED
    if (PyList_Size(self->parts[OBSERVERS]) == 1) {
        Ref lone = Ref::to(PyList_GetItem(self->parts[OBSERVERS], 0));
        if (PyList_Size(self->parts[EVERYWHERE]) != 0) return lone;
        const Ref here(PyObject_CallNoArgs(self->parts[HERE]));
        const Py_ssize_t count = here ? PyTuple_Size(here.get()) : -1;
        if (count < 0) return Ref(nullptr);
        for (Py_ssize_t i = 0; i < count; ++i)
            if (PyTuple_GetItem(here.get(), i) == lone.get()) return lone;
        return Ref::to(Py_None);
    }
#endif
    return Ref(PyObject_CallNoArgs(self->parts[LONE_OBSERVER]));
}

// What an operand is known by; null without an error if the observer is not asked here.
// `repeats.py:_quick_key` makes the same.
Ref part_of(const FastOperator *self, const Heard *heard, PyObject *operand, const Read &given) {
    if (given.is_dtype) return Ref(nullptr);
    if (!given.buffer) return Ref(PyObject_CallFunctionObjArgs(heard->scalar, operand, nullptr));
    PyObject *buffer = given.buffer.get();
    const Py_ssize_t rank = rank_of(self, buffer);
    if (rank < 0) return Ref(nullptr);
    if (rank > 0) return Ref::to(given.key.get());
    if (!heard->by_value) return Ref(PyTuple_Pack(1, given.key.get()));
    const Ref value(PyObject_VectorcallMethod(self->parts[ITEM_NAME], &buffer, 1, nullptr));
    const PyTypeObject *type = value ? Py_TYPE(value.get()) : nullptr;
    if (type != &PyFloat_Type && type != &PyLong_Type && type != &PyBool_Type &&
        type != &PyComplex_Type)
        return Ref(nullptr);
    const Ref like(PyObject_CallFunctionObjArgs(heard->scalar, value.get(), nullptr));
    return Ref(like ? PyTuple_Pack(2, given.key.get(), like.get()) : nullptr);
}

// What the cache finds an operand by: the type of an array that has axes, a scalar itself. Null
// without an error if it has none.
PyObject *address_of(const FastOperator *self, PyObject *operand, const Read &given) {
    if (!given.buffer) return operand;
    return rank_of(self, given.buffer.get()) > 0 ? given.key.get() : nullptr;
}

Ref look_up(const FastOperator *self, Heard *heard, PyObject *policy, PyObject *const *operands,
            const Read *given, Py_ssize_t count) {
    const Ref key(PyTuple_New(2 + count));
    if (!key) return Ref(nullptr);
    PyTuple_SetItem(key.get(), 0, Py_NewRef(self->parts[NAME]));
    PyTuple_SetItem(key.get(), 1, Py_NewRef(policy));
    for (Py_ssize_t i = 0; i < count; ++i) {
        Ref part = part_of(self, heard, operands[i], given[i]);
        if (!part) return part;
        PyTuple_SetItem(key.get(), 2 + i, part.release());
    }
    return item_of(heard->kept, key.get());
}

Ref find(const FastOperator *self, Heard *heard, PyObject *policy, PyObject *const *operands,
         const Read *given, Py_ssize_t count) {
    PyObject *name = self->parts[NAME], *x = address_of(self, operands[0], given[0]);
    PyObject *y = count > 1 ? address_of(self, operands[1], given[1]) : Py_None;
    if (PyErr_Occurred()) return Ref(nullptr);
    if (x == nullptr || y == nullptr || count > 2) return look_up(self, heard, policy, operands, given, count);
    if (heard->policy != policy) begin_anew(heard, policy);
    if (Ref known = heard->quick.find(name, x, y)) return known;
    Ref found = look_up(self, heard, policy, operands, given, count);
    if (found && heard->policy == policy) heard->quick.keep(name, x, y, Py_None, name, found);
    return found;
}

// --- The type ------------------------------------------------------------------------------------

PyObject *heard_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"scalar", "by_value", nullptr};
    PyObject *scalar;
    int by_value;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "Op", const_cast<char **>(names), &scalar,
                                     &by_value))
        return nullptr;
    Ref made(PyType_GenericAlloc(type, 0));
    if (!made) return nullptr;
    Heard *self = heard_of(made.get());
    self->scalar = Py_NewRef(scalar);
    self->by_value = by_value;
    self->policy = Py_NewRef(Py_None);
    self->kept = PyDict_New();
    return self->kept != nullptr ? made.release() : nullptr;
}

PyObject *heard_keep(PyObject *object, PyObject *args) {
    PyObject *key, *known;
    if (!PyArg_ParseTuple(args, "O!O!", &PyTuple_Type, &key, &PyTuple_Type, &known)) return nullptr;
    PyObject *tally = PyTuple_Size(known) < KNOWN_FIELDS ? nullptr : PyTuple_GetItem(known, KNOWN_TALLY);
    if (tally == nullptr || !(tally == Py_None || is_tally(tally))) {
        PyErr_SetString(PyExc_TypeError, "what is known of an operation is a Known");
        return nullptr;
    }
    if (PyDict_SetItem(heard_of(object)->kept, key, known) != 0) return nullptr;
    begin_anew(heard_of(object), Py_None);
    Py_RETURN_NONE;
}

PyObject *heard_clear(PyObject *object, PyObject *) {
    PyDict_Clear(heard_of(object)->kept);
    begin_anew(heard_of(object), Py_None);
    Py_RETURN_NONE;
}

Py_ssize_t heard_length(PyObject *object) { return PyDict_Size(heard_of(object)->kept); }

int heard_traverse(PyObject *object, visitproc visit, void *arg) {
    Heard *self = heard_of(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->scalar);
    Py_VISIT(self->kept);
    Py_VISIT(self->policy);
    return self->quick.traverse(visit, arg);
}

// Not the type's tp_clear, as of an operator: a cycle is broken at the dictionary.
int heard_release(PyObject *object) {
    Heard *self = heard_of(object);
    self->quick.clear();
    for (PyObject **part : {&self->scalar, &self->kept, &self->policy}) Py_CLEAR(*part);
    return 0;
}

PyMethodDef heard_methods[] = {
    {"keep", heard_keep, METH_VARARGS, "Keep what is known under a key."},
    {"clear", heard_clear, METH_NOARGS, "Forget all."},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot heard_slots[] = {
    {Py_tp_doc, const_cast<char *>("What an observer knows of operations, for the fast path.")},
    {Py_tp_new, reinterpret_cast<void *>(heard_new)},
    {Py_tp_methods, heard_methods},
    {Py_mp_length, reinterpret_cast<void *>(heard_length)},
    {Py_tp_traverse, reinterpret_cast<void *>(heard_traverse)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<heard_release>)},
    {0, nullptr}};

}  // namespace

Ref known_of(const FastOperator *self, PyObject *policy, PyObject *const *operands,
             const Read *given, Py_ssize_t count) {
    const Ref observer = lone_observer(self);
    if (!observer || observer.get() == Py_None) return Ref(nullptr);
    const Ref repeats(PyObject_GetAttr(observer.get(), self->parts[REPEATS_NAME]));
    if (!repeats || repeats.get() == Py_None) return Ref(nullptr);
    const Ref heard(PyObject_GetAttr(repeats.get(), self->parts[QUICK_NAME]));
    if (!heard || PyType_GetSlot(Py_TYPE(heard.get()), Py_tp_new) != reinterpret_cast<void *>(heard_new))
        return Ref(nullptr);
    return find(self, heard_of(heard.get()), policy, operands, given, count);
}

bool tell(const Ref &known) {
    PyObject *tally = PyTuple_GetItem(known.get(), KNOWN_TALLY);
    if (tally != Py_None && count(tally)) return true;
    const Ref told(PyObject_CallNoArgs(PyTuple_GetItem(known.get(), KNOWN_TELL)));
    return static_cast<bool>(told);
}

PyType_Spec heard_spec = {"promoarray.core._fast_path.Heard", sizeof(Heard), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
                          heard_slots};

}  // namespace promoarray
