// promoarray._context: blocks that are entered and left in one step.
//
// Python looks for signals between its instructions. Were `__enter__` and `__exit__` written in
// Python, a Ctrl-C in one of them would leave what the block sets, as half of the interrupts of a
// short block did. It keeps to the limited API of Python 3.12, which has no functions for context
// variables: their methods are called.
#include <Python.h>

namespace {

constexpr Py_ssize_t HELD = 0, BLOCK = 1, AROUND = 2;  // an entry, as context.py says

PyObject *variable_of(PyObject *self) { return PyObject_GetAttrString(self, "_here"); }

bool set(PyObject *variable, PyObject *entry) {
    PyObject *token = PyObject_CallMethod(variable, "set", "(O)", entry);
    Py_XDECREF(token);
    return token != nullptr;
}

// Put in an entry of this block, and return what holds in it.
PyObject *enter(PyObject *self, PyObject *) {
    PyObject *held = PyObject_GetAttrString(self, "_held");  // before anything is set: it may be Python's
    PyObject *variable = held == nullptr ? nullptr : variable_of(self);
    PyObject *around = variable == nullptr ? nullptr : PyObject_CallMethod(variable, "get", nullptr);
    PyObject *entry = around == nullptr ? nullptr : PyTuple_Pack(3, held, self, around);
    const bool entered = entry != nullptr && set(variable, entry);
    Py_XDECREF(entry);
    Py_XDECREF(around);
    Py_XDECREF(variable);
    if (entered) return held;
    Py_XDECREF(held);
    return nullptr;
}

PyObject *enter_silently(PyObject *self, PyObject *) {
    PyObject *held = enter(self, nullptr);
    if (held == nullptr) return nullptr;
    Py_DECREF(held);
    Py_RETURN_NONE;
}

// The entries without the last one of this block: a new reference, the same where there is none.
PyObject *without(PyObject *self, PyObject *entries) {
    PyObject *inner = PyList_New(0), *entry = entries;
    while (inner != nullptr && entry != Py_None && PyTuple_GetItem(entry, BLOCK) != self) {
        if (PyList_Append(inner, entry) != 0) Py_CLEAR(inner);
        entry = PyTuple_GetItem(entry, AROUND);
    }
    if (inner == nullptr || entry == Py_None) {
        Py_XDECREF(inner);
        return inner == nullptr ? nullptr : Py_NewRef(entries);
    }
    PyObject *rest = Py_NewRef(PyTuple_GetItem(entry, AROUND));
    for (Py_ssize_t i = PyList_Size(inner); rest != nullptr && i-- > 0;) {
        PyObject *each = PyList_GetItem(inner, i), *around = rest;
        rest = PyTuple_Pack(3, PyTuple_GetItem(each, HELD), PyTuple_GetItem(each, BLOCK), around);
        Py_DECREF(around);
    }
    Py_DECREF(inner);
    return rest;
}

// Take out the last entry of this block, also from below others.
PyObject *leave(PyObject *self, PyObject *) {
    PyObject *variable = variable_of(self);
    PyObject *entry = variable == nullptr ? nullptr : PyObject_CallMethod(variable, "get", nullptr);
    PyObject *rest = entry == nullptr ? nullptr : without(self, entry);
    const bool left = rest != nullptr && (rest == entry || set(variable, rest));
    Py_XDECREF(rest);
    Py_XDECREF(entry);
    Py_XDECREF(variable);
    if (!left) return nullptr;
    Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"__enter__", enter, METH_NOARGS, "Enter a block, and return what holds in it."},
    {"__exit__", leave, METH_VARARGS, "Leave the last block that was entered and not left."},
    {"_enter_silently", enter_silently, METH_NOARGS, "Enter a block, and return None."},
    {nullptr, nullptr, 0, nullptr}};

PyType_Slot slots[] = {
    {Py_tp_doc, const_cast<char *>("A context manager that enters and leaves in one step.")},
    {Py_tp_methods, methods},
    {0, nullptr}};

PyType_Spec spec = {"promoarray._context.Block", sizeof(PyObject), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

int execute(PyObject *module) {
    PyObject *type = PyType_FromModuleAndSpec(module, &spec, nullptr);
    const int added = type == nullptr ? -1 : PyModule_AddType(module, reinterpret_cast<PyTypeObject *>(type));
    Py_XDECREF(type);
    return added;
}

PyModuleDef_Slot module_slots[] = {{Py_mod_exec, reinterpret_cast<void *>(execute)},
#ifdef Py_GIL_DISABLED
                                   {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
                                   {0, nullptr}};

PyModuleDef definition = {PyModuleDef_HEAD_INIT, "promoarray._context",
                          "Blocks that are entered and left in one step.",
                          0, nullptr, module_slots, nullptr, nullptr, nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__context() { return PyModuleDef_Init(&definition); }
