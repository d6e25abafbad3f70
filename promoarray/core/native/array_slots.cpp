// ArraySlots: what PArray derives from.
#include "operator.h"

#include <cstring>

namespace promoarray {
namespace {

int array_slots_traverse(PyObject *object, visitproc visit, void *arg) {
    auto *self = reinterpret_cast<ArraySlots *>(object);
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(self->buffer);
    Py_VISIT(self->type);
    return 0;
}

int array_slots_clear(PyObject *object) {
    auto *self = reinterpret_cast<ArraySlots *>(object);
    Py_CLEAR(self->buffer);
    Py_CLEAR(self->type);
    return 0;
}

PyObject *array_slots_wrap(PyObject *cls, PyObject *const *args, Py_ssize_t count) {
    if (count != 2) {
        PyErr_Format(PyExc_TypeError, "_wrap takes a buffer and a dtype, not %zd arguments", count);
        return nullptr;
    }
    PyObject *made = PyType_GenericAlloc(reinterpret_cast<PyTypeObject *>(cls), 0);
    if (made == nullptr) return nullptr;
    auto *slots = reinterpret_cast<ArraySlots *>(made);
    slots->buffer = Py_NewRef(args[0]);
    slots->type = Py_NewRef(args[1]);
    return made;
}

// What NumPy asks every object for that it makes an array of; no array has it, whatever its buffer.
bool is_numpys(PyObject *name) {
    const char *text = PyUnicode_AsUTF8AndSize(name, nullptr);
    if (text == nullptr) return PyErr_Clear(), false;
    return std::strncmp(text, "__array_", 8) == 0;
}

// As `__getattr__` would, which NumPy would wait for twice at each array, and methods a little.
PyObject *array_slots_getattro(PyObject *object, PyObject *name) {
    PyObject *found = PyObject_GenericGetAttr(object, name);
    if (found != nullptr || !PyErr_ExceptionMatches(PyExc_AttributeError) || is_numpys(name)) return found;
    PyErr_Clear();
    return PyObject_CallMethod(object, "_absent", "O", name);
}

PyMethodDef array_slots_methods[] = {
    // By way of void (*)(), which every function's address may be kept as.
    {"_wrap", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(array_slots_wrap)),
     METH_FASTCALL | METH_CLASS, "Make an array of a buffer that holds a dtype; checks nothing."},
    {nullptr, nullptr, 0, nullptr}};

PyMemberDef array_slots_members[] = {
    {"_buffer", Py_T_OBJECT_EX, offsetof(ArraySlots, buffer), 0, "The storage."},
    {"_type", Py_T_OBJECT_EX, offsetof(ArraySlots, type), 0, "What the bits mean."},
    {nullptr, 0, 0, 0, nullptr}};

PyType_Slot array_slots_slots[] = {
    {Py_tp_doc, const_cast<char *>("A buffer and its type, where the fast path finds them.")},
    {Py_tp_getattro, reinterpret_cast<void *>(array_slots_getattro)},
    {Py_tp_methods, array_slots_methods},
    {Py_tp_members, array_slots_members},
    {Py_tp_traverse, reinterpret_cast<void *>(array_slots_traverse)},
    {Py_tp_clear, reinterpret_cast<void *>(array_slots_clear)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<array_slots_clear>)},
    {0, nullptr}};

}  // namespace

PyType_Spec array_slots_spec = {"promoarray.core._fast_path.ArraySlots", sizeof(ArraySlots), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                             array_slots_slots};

}  // namespace promoarray
