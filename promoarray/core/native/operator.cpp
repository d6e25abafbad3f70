// The type of FastOperator: how operators are made, and what they share with functions of Python's.
#include "operator.h"

#include <cstring>

namespace promoarray {
namespace {

PyObject *slow_call(PyObject *self, PyObject *const *args, std::size_t nargs, PyObject *names) {
    return long_way(operator_of(self), args, nargs, names);
}

vectorcallfunc call_of(const char *kind) {
    if (std::strcmp(kind, "operation") == 0) return operation_call;
    if (std::strcmp(kind, "getitem") == 0) return getitem_call;
    if (std::strcmp(kind, "setitem") == 0) return setitem_call;
    return std::strcmp(kind, "slow") == 0 ? slow_call : nullptr;
}

// The references of an operator, but for its dictionary.
PyObject **const *parts_of(FastOperator *self, PyObject **(&parts)[11]) {
    PyObject **all[] = {&self->slow,     &self->name,     &self->option_names, &self->passed_names,
                        &self->defaults, &self->keywords, &self->in_order,     &self->texts,
                        &self->bound,    &self->makes,    &self->dict};
    std::memcpy(parts, all, sizeof all);
    return parts;
}

// The names that are passed on, of those of all options.
Ref keywords_of(PyObject *passed) {
    Ref listed(PyList_New(0));
    for (Py_ssize_t k = 0; listed && k < PyTuple_Size(passed); ++k) {
        PyObject *name = PyTuple_GetItem(passed, k);
        if (name != Py_None && PyList_Append(listed.get(), name) != 0) return Ref(nullptr);
    }
    return Ref(listed ? PyList_AsTuple(listed.get()) : nullptr);
}

bool is_array_class(PyObject *cls) {
    return cls == Py_None || (PyType_Check(cls) && is_array(reinterpret_cast<PyTypeObject *>(cls)));
}

bool holds_texts(PyObject *tuple, bool or_none) {
    for (Py_ssize_t k = 0; k < PyTuple_Size(tuple); ++k) {
        PyObject *item = PyTuple_GetItem(tuple, k);
        if (!PyUnicode_Check(item) && !(or_none && item == Py_None)) return false;
    }
    return true;
}

PyObject *operator_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"slow",         "name",     "kind",     "operands", "reflected", "conditional",
                                  "sequence",     "typed",    "by_value", "leaves",   "option_names",
                                  "passed_names", "defaults", "in_order", "texts",    "bound",     "makes",
                                  nullptr};
    const Ref none(PyTuple_New(0));
    Ref made(none ? PyType_GenericAlloc(type, 0) : nullptr);
    if (!made) return nullptr;
    FastOperator *self = operator_of(made.get());
    const char *kind = "operation";
    PyObject *slow, *name, *options = none.get(), *passed = none.get(), *defaults = none.get(),
                           *in_order = none.get(), *texts = none.get(), *bound = Py_None, *makes = Py_None;
    self->operands = 3;
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "OU|$snppppppO!O!O!O!O!OO", const_cast<char **>(names), &slow, &name, &kind,
            &self->operands, &self->reflected, &self->conditional, &self->sequence, &self->typed,
            &self->by_value, &self->leaves, &PyTuple_Type, &options, &PyTuple_Type, &passed,
            &PyTuple_Type, &defaults, &PyTuple_Type, &in_order, &PyTuple_Type, &texts, &bound, &makes))
        return nullptr;
    const Py_ssize_t count = PyTuple_Size(options);
    self->call = call_of(kind);
    if (self->call == nullptr || self->operands < 1 || count != PyTuple_Size(defaults) ||
        count != PyTuple_Size(passed) || (self->conditional && count == 0) ||
        (self->by_value && count != 0)) {
        PyErr_SetString(PyExc_ValueError, "a FastOperator of no known kind, or its options do not match");
        return nullptr;
    }
    if (!PyCallable_Check(slow) || !is_array_class(bound) || !is_array_class(makes) ||
        !holds_texts(options, false) || !holds_texts(passed, true) || !holds_texts(in_order, false) ||
        !holds_texts(texts, false)) {
        PyErr_SetString(PyExc_TypeError, "a FastOperator is made of a callable, names and classes of arrays");
        return nullptr;
    }
    self->keywords = keywords_of(passed).release();
    if (self->keywords == nullptr) return nullptr;
    self->slow = Py_NewRef(slow), self->name = Py_NewRef(name), self->option_names = Py_NewRef(options);
    self->passed_names = Py_NewRef(passed), self->defaults = Py_NewRef(defaults);
    self->in_order = Py_NewRef(in_order), self->texts = Py_NewRef(texts);
    self->bound = Py_NewRef(bound), self->makes = Py_NewRef(makes);
    return made.release();
}

PyObject *operator_get(PyObject *self, PyObject *instance, PyObject *) {
    if (instance == nullptr || instance == Py_None || names_of.method_type == nullptr) return Py_NewRef(self);
    PyObject *args[] = {self, instance};
    return PyObject_Vectorcall(names_of.method_type, args, 2, nullptr);
}

// As functions of Python's: by the name that a module has for it.
PyObject *operator_reduce(PyObject *self, PyObject *) {
    return PyObject_GetAttrString(self, "__qualname__");
}

PyObject *operator_repr(PyObject *self) {
    const Ref name(PyObject_GetAttrString(self, "__qualname__"));
    if (name) return PyUnicode_FromFormat("<function %S at %p>", name.get(), self);
    PyErr_Clear();
    return PyUnicode_FromFormat("<FastOperator %U>", operator_of(self)->name);
}

// --- The type ------------------------------------------------------------------------------------

int operator_traverse(PyObject *object, visitproc visit, void *arg) {
    PyObject **parts[11];
    parts_of(operator_of(object), parts);
    Py_VISIT(Py_TYPE(object));
    for (PyObject **part : parts) Py_VISIT(*part);
    return 0;
}

// Not the type's tp_clear: a cycle through an operator is broken at the function or a dictionary, as
// with tuples, so that no call ever meets an operator without its parts.
int operator_release(PyObject *object) {
    PyObject_ClearWeakRefs(object);
    PyObject **parts[11];
    parts_of(operator_of(object), parts);
    for (PyObject **part : parts) Py_CLEAR(*part);
    return 0;
}

PyMemberDef operator_members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(FastOperator, call), Py_READONLY, nullptr},
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(FastOperator, dict), Py_READONLY, nullptr},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(FastOperator, weak), Py_READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyMethodDef operator_methods[] = {
    {"__reduce__", operator_reduce, METH_NOARGS, "The name that it is found by."},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef operator_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyType_Slot operator_slots[] = {
    {Py_tp_new, reinterpret_cast<void *>(operator_new)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_descr_get, reinterpret_cast<void *>(operator_get)},
    {Py_tp_members, operator_members},
    {Py_tp_methods, operator_methods},
    {Py_tp_repr, reinterpret_cast<void *>(operator_repr)},
    {Py_tp_getset, operator_getset},
    {Py_tp_traverse, reinterpret_cast<void *>(operator_traverse)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<operator_release>)},
    {0, nullptr}};

}  // namespace

// METHOD_DESCRIPTOR: `x + y` calls the operator with (x, y) and makes no bound method. BASETYPE: the
// functions of a bound namespace are operators too.
PyType_Spec operator_spec = {"promoarray.core._fast_path.FastOperator", sizeof(FastOperator), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
                                 Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR |
                                 Py_TPFLAGS_IMMUTABLETYPE,
                             operator_slots};

}  // namespace promoarray
