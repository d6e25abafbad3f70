// The types of FastOperator and of what all of them share: how they are made, called and collected.
#include "operator.h"

#include <cstring>
#include <initializer_list>

namespace promoarray {
namespace {

struct Shared {
    PyObject_HEAD
    PyObject *parts[SHARED];
};

Shared *shared_of(PyObject *object) { return reinterpret_cast<Shared *>(object); }

PyObject *slow_call(PyObject *self, PyObject *const *args, std::size_t nargs, PyObject *names) {
    return PyObject_Vectorcall(operator_of(self)->parts[SLOW], args, nargs, names);
}

// How the arguments of a call are read.
vectorcallfunc call_of(const char *kind, FastOperator *self) {
    if (std::strcmp(kind, "getitem") == 0) return getitem_call;
    if (std::strcmp(kind, "setitem") == 0) return setitem_call;
    if (std::strcmp(kind, "reshape") == 0) return reshape_call;
    if (std::strcmp(kind, "move") == 0) return move_call;
    if (std::strcmp(kind, "slow") == 0) return slow_call;
    if (std::strcmp(kind, "question") == 0) return question_call;
    if (std::strcmp(kind, "channel") == 0) return channel_call;
    self->typed = std::strcmp(kind, "data") == 0 || std::strcmp(kind, "like") == 0;
    if (std::strcmp(kind, "data") == 0) return data_call;
    if (std::strcmp(kind, "ufunc") == 0) return ufunc_call;
    self->shaped = std::strcmp(kind, "shape") == 0;
    if (self->shaped || std::strcmp(kind, "numbers") == 0) return creation_call;
    self->reflected = std::strcmp(kind, "reflected") == 0;
    self->conditional = std::strcmp(kind, "conditional") == 0;
    self->sequence = std::strcmp(kind, "sequence") == 0;
    if (self->sequence) return sequence_call;
    const bool known = self->reflected || self->conditional || self->typed ||
                       std::strcmp(kind, "operands") == 0;
    return known ? operation_call : nullptr;
}

// Once, as a hundred operators are made when promoarray is imported, and all have these.
PyObject *shared_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    // In the order of Part.
    static const char *names[] = {"observers",   "everywhere",     "here",        "lone_observer",
                                  "policy_here", "default_policy", "ndarray",     "asarray",
                                  "array_slots", "dtype_class",    "bool",        "in_parts",
                                  "backends",    "weak_bool",      "weak_int",    "weak_float",
                                  "weak_complex", "stored",        "adopted",     "ufuncs",
                                  "named",        "numpy_dtype",    "scalar_caster", "guarding",
                                  "ufunc",        "array_option",   nullptr};
    static_assert(sizeof names / sizeof *names == GIVEN + 1, "a name for each Part");
    PyObject *given[GIVEN] = {};
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "$O!O!OOOO!OOO!OOOO!OOOOO!O!O!O!OOO!OO", const_cast<char **>(names), &PyList_Type,
            &given[OBSERVERS], &PyList_Type, &given[EVERYWHERE], &given[HERE],
            &given[LONE_OBSERVER], &given[POLICY_HERE], &PyList_Type, &given[DEFAULT_POLICY],
            &given[NDARRAY], &given[ASARRAY], &PyType_Type, &given[ARRAY_SLOTS],
            &given[DTYPE_CLASS], &given[BOOL], &given[IN_PARTS], &PyDict_Type, &given[BACKENDS],
            &given[WEAK_BOOL], &given[WEAK_INT], &given[WEAK_FLOAT], &given[WEAK_COMPLEX],
            &PyDict_Type, &given[STORED], &PyDict_Type, &given[ADOPTED], &PyDict_Type,
            &given[UFUNCS], &PyDict_Type, &given[NAMED], &given[NUMPY_DTYPE],
            &given[SCALAR_CASTER], &PyList_Type, &given[GUARDING], &given[UFUNC],
            &given[ARRAY_OPTION])) {
        return nullptr;
    }
    const Ref types(PyImport_ImportModule("types"));
    Ref made(types ? PyType_GenericAlloc(type, 0) : nullptr);
    if (!made) return nullptr;
    PyObject **parts = shared_of(made.get())->parts;
    for (int part = 0; part < GIVEN; ++part) parts[part] = Py_NewRef(given[part]);
    look_at_arrays(given[NDARRAY]);
    parts[METHOD] = PyObject_GetAttrString(types.get(), "MethodType");
    static constexpr const char *LOOKED_UP[] = {
        "_policy", "executables", "astype", "shape", "size",   "ndim",  "reshape",
        "item",    "dtype",       "copy",   "copies", "repeats", "quick", "canonical", "name"};
    int part = POLICY_NAME;
    for (const char *name : LOOKED_UP) parts[part++] = PyUnicode_InternFromString(name);
    static_assert(POLICY_NAME + sizeof LOOKED_UP / sizeof *LOOKED_UP == SHARED, "a name for each Part");
    return PyErr_Occurred() == nullptr ? made.release() : nullptr;
}

int shared_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    for (PyObject *part : shared_of(object)->parts) Py_VISIT(part);
    return 0;
}

// Not the type's tp_clear, as of an operator: a cycle is broken at a function or a dictionary.
int shared_release(PyObject *object) {
    for (PyObject *&part : shared_of(object)->parts) Py_CLEAR(part);
    return 0;
}

PyObject *operator_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"slow",         "name",     "shared", "kind",  "option_names",
                                  "passed_names", "defaults", "texts",  "bound", "adopts",
                                  nullptr};
    const Ref none(PyTuple_New(0));
    PyObject *given[PARTS] = {}, *shared;
    const char *kind = "operands";
    for (Part part : {OPTION_NAMES, PASSED_NAMES, DEFAULTS, TEXTS}) given[part] = none.get();
    for (Part part : {BOUND, ADOPTS}) given[part] = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OUO|s$O!O!O!O!OO", const_cast<char **>(names),
                                     &given[SLOW], &given[NAME], &shared, &kind, &PyTuple_Type,
                                     &given[OPTION_NAMES], &PyTuple_Type, &given[PASSED_NAMES],
                                     &PyTuple_Type, &given[DEFAULTS], &PyTuple_Type, &given[TEXTS],
                                     &given[BOUND], &given[ADOPTS])) {
        return nullptr;
    }
    if (PyType_GetSlot(Py_TYPE(shared), Py_tp_new) != reinterpret_cast<void *>(shared_new)) {
        PyErr_SetString(PyExc_TypeError, "what operators share is a Shared");
        return nullptr;
    }
    Ref made(PyType_GenericAlloc(type, 0));
    if (!made) return nullptr;
    FastOperator *self = operator_of(made.get());
    for (int part = 0; part < SHARED; ++part)
        self->parts[part] = Py_NewRef(shared_of(shared)->parts[part]);
    for (int part = SHARED; part < DICT; ++part) self->parts[part] = Py_NewRef(given[part]);
    self->call = call_of(kind, self);
    const Py_ssize_t options = PyTuple_Size(given[OPTION_NAMES]);
    const bool adopts = self->call == creation_call || self->call == data_call ||
                        self->call == question_call;
    if (self->call == nullptr || options != PyTuple_Size(given[DEFAULTS]) ||
        options != PyTuple_Size(given[PASSED_NAMES]) || options > MOST_OPTIONS ||
        (self->conditional && options == 0) || (adopts && !PyType_Check(given[ADOPTS]))) {
        PyErr_SetString(PyExc_ValueError, "a FastOperator of no known kind, or its options");
        return nullptr;
    }
    return made.release();
}

PyObject *operator_get(PyObject *self, PyObject *instance, PyObject *) {
    if (instance == nullptr || instance == Py_None) return Py_NewRef(self);
    PyObject *args[] = {self, instance};
    return PyObject_Vectorcall(operator_of(self)->parts[METHOD], args, 2, nullptr);
}

// As functions of Python's: by the name that a module has for it.
PyObject *operator_reduce(PyObject *self, PyObject *) {
    return PyObject_GetAttrString(self, "__qualname__");
}

PyObject *operator_repr(PyObject *self) {
    const Ref name(PyObject_GetAttrString(self, "__qualname__"));
    if (name) return PyUnicode_FromFormat("<function %U at %p>", name.get(), self);
    PyErr_Clear();
    return PyUnicode_FromFormat("<FastOperator %U>", operator_of(self)->parts[NAME]);
}

int operator_traverse(PyObject *object, visitproc visit, void *arg) {
    FastOperator *self = operator_of(object);
    Py_VISIT(Py_TYPE(object));
    for (PyObject *part : self->parts) Py_VISIT(part);
    for (const Cache *cache : {&self->executables, &self->scalars, &self->sorts})
        if (const int stop = cache->traverse(visit, arg)) return stop;
    return self->stored.traverse(visit, arg);
}

// Not the type's tp_clear: a cycle through an operator is broken at the function or a dictionary,
// as with tuples, so that no call ever meets an operator without its parts.
int operator_release(PyObject *object) {
    FastOperator *self = operator_of(object);
    PyObject_ClearWeakRefs(object);
    for (PyObject *&part : self->parts) Py_CLEAR(part);
    for (Cache *cache : {&self->executables, &self->scalars, &self->sorts}) cache->clear();
    self->stored.clear();
    return 0;
}

PyType_Slot shared_slots[] = {
    {Py_tp_doc, const_cast<char *>("What all operators are made of, besides their own.")},
    {Py_tp_new, reinterpret_cast<void *>(shared_new)},
    {Py_tp_traverse, reinterpret_cast<void *>(shared_traverse)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<shared_release>)},
    {0, nullptr}};

PyMemberDef operator_members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(FastOperator, call), Py_READONLY, nullptr},
    {"__dictoffset__", Py_T_PYSSIZET, offsetof(FastOperator, parts) + DICT * sizeof(PyObject *),
     Py_READONLY, nullptr},
    {"__weaklistoffset__", Py_T_PYSSIZET, offsetof(FastOperator, weak), Py_READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyMethodDef operator_methods[] = {
    {"__reduce__", operator_reduce, METH_NOARGS, "The name that it is found by."},
    {nullptr, nullptr, 0, nullptr}};

// A docstring may be what writes it, and is then written when it is first asked for.
PyObject *operator_get_doc(PyObject *self, void *) {
    const Ref dict(PyObject_GenericGetDict(self, nullptr));
    if (!dict) return nullptr;
    PyObject *doc = PyDict_GetItemString(dict.get(), "__doc__");
    if (doc == nullptr) Py_RETURN_NONE;
    if (!PyCallable_Check(doc)) return Py_NewRef(doc);
    const Ref write = Ref::to(doc);
    Ref written(PyObject_CallNoArgs(write.get()));
    const bool kept = written && PyDict_SetItemString(dict.get(), "__doc__", written.get()) == 0;
    return kept ? written.release() : nullptr;
}

int operator_set_doc(PyObject *self, PyObject *doc, void *) {
    const Ref dict(PyObject_GenericGetDict(self, nullptr));
    return dict ? PyDict_SetItemString(dict.get(), "__doc__", doc == nullptr ? Py_None : doc) : -1;
}

PyGetSetDef operator_getset[] = {
    {"__doc__", operator_get_doc, operator_set_doc, nullptr, nullptr},
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

PyType_Spec shared_spec = {"promoarray.core._fast_path.Shared", sizeof(Shared), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
                           shared_slots};

// METHOD_DESCRIPTOR: `x + y` calls the operator with (x, y) and makes no bound method. BASETYPE: the
// functions of a bound namespace are operators too.
PyType_Spec operator_spec = {"promoarray.core._fast_path.FastOperator", sizeof(FastOperator), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC |
                                 Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_METHOD_DESCRIPTOR |
                                 Py_TPFLAGS_IMMUTABLETYPE,
                             operator_slots};

}  // namespace promoarray
