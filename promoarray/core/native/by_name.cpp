// ByName: a function whose arguments may stand by position, as NumPy's methods have them, called
// with those that it takes by name alone. What it does not know goes to a Python function.
#include "operator.h"

namespace promoarray {
namespace {

// What it is made of, in the order of its arguments; `_method` (array_methods/functions.py) says what each is.
enum Given { FUNCTION, OTHERWISE, NAMES, PASSED, GIVEN_PARTS };

struct ByName {
    PyObject_HEAD
    vectorcallfunc call;
    PyObject *parts[GIVEN_PARTS];
    Py_ssize_t least, most;  // arguments besides the first that it takes by position, as they are
    Py_ssize_t in_order;     // those that may stand by position
};

ByName *by_name_of(PyObject *object) { return reinterpret_cast<ByName *>(object); }

// Where a name stands; -1 if it is none of them.
Py_ssize_t index_of(PyObject *names, PyObject *name) {
    for (Py_ssize_t i = 0; i < PyTuple_Size(names); ++i)
        if (PyTuple_GetItem(names, i) == name) return i;
    return -1;
}

// The names of so many arguments by position and of those by name, as the function has them; null
// without an error if one is not passed on, or given twice.
Ref names_of(const ByName *self, Py_ssize_t count, PyObject *names) {
    const Py_ssize_t by_position = count - self->least;
    const Py_ssize_t given = names != nullptr ? PyTuple_Size(names) : 0;
    Ref made(PyTuple_New(by_position + given));
    for (Py_ssize_t i = 0; made && i < by_position + given; ++i) {
        const bool named = i >= by_position;
        const Py_ssize_t at = named ? index_of(self->parts[NAMES], PyTuple_GetItem(names, i - by_position))
                                    : self->least + i;
        if (named && at < count) return Ref(nullptr);
        PyObject *passed = PyTuple_GetItem(self->parts[PASSED], at);
        if (passed == Py_None) return Ref(nullptr);
        PyTuple_SetItem(made.get(), i, Py_NewRef(passed));
    }
    return made;
}

PyObject *by_name_call(PyObject *object, PyObject *const *args, std::size_t nargs, PyObject *names) {
    const ByName *self = by_name_of(object);
    const Py_ssize_t count = PyVectorcall_NARGS(nargs) - 1;
    if (names == nullptr && count >= self->least && count <= self->most)
        return PyObject_Vectorcall(self->parts[FUNCTION], args, 1 + count, nullptr);
    if (count >= self->least && count <= self->in_order) {
        const Ref passed = names_of(self, count, names);
        if (passed) return PyObject_Vectorcall(self->parts[FUNCTION], args, 1 + self->least, passed.get());
        if (PyErr_Occurred()) return nullptr;
    }
    return PyObject_Vectorcall(self->parts[OTHERWISE], args, nargs, names);
}

// --- The type ------------------------------------------------------------------------------------

PyObject *by_name_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"function", "otherwise", "names",    "passed",
                                  "least",    "most",      "in_order", nullptr};
    PyObject *given[GIVEN_PARTS];
    Py_ssize_t least, most, in_order;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO$O!O!nnn", const_cast<char **>(names),
                                     &given[FUNCTION], &given[OTHERWISE], &PyTuple_Type,
                                     &given[NAMES], &PyTuple_Type, &given[PASSED], &least, &most,
                                     &in_order))
        return nullptr;
    const Py_ssize_t known = PyTuple_Size(given[NAMES]);
    if (PyTuple_Size(given[PASSED]) != known || least < 0 || least > in_order || in_order > known) {
        PyErr_SetString(PyExc_ValueError, "each name has what it is passed as");
        return nullptr;
    }
    PyObject *made = PyType_GenericAlloc(type, 0);
    if (made == nullptr) return nullptr;
    ByName *self = by_name_of(made);
    self->call = by_name_call;
    self->least = least, self->most = most, self->in_order = in_order;
    for (int part = 0; part < GIVEN_PARTS; ++part) self->parts[part] = Py_NewRef(given[part]);
    return made;
}

int by_name_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    for (PyObject *part : by_name_of(object)->parts) Py_VISIT(part);
    return 0;
}

// Not the type's tp_clear, as of an operator: a cycle is broken at the class's dictionary.
int by_name_release(PyObject *object) {
    for (PyObject *&part : by_name_of(object)->parts) Py_CLEAR(part);
    return 0;
}

PyMemberDef by_name_members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(ByName, call), Py_READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyType_Slot by_name_slots[] = {
    {Py_tp_doc, const_cast<char *>("A function whose arguments may stand by position.")},
    {Py_tp_new, reinterpret_cast<void *>(by_name_new)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_members, by_name_members},
    {Py_tp_traverse, reinterpret_cast<void *>(by_name_traverse)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<by_name_release>)},
    {0, nullptr}};

}  // namespace

PyType_Spec by_name_spec = {"promoarray.core._fast_path.ByName", sizeof(ByName), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                                Py_TPFLAGS_IMMUTABLETYPE,
                            by_name_slots};

}  // namespace promoarray
