#include "otherwise.h"

#include <initializer_list>

namespace promoarray {
namespace {

struct Otherwise {
    PyObject_HEAD
    PyObject *function, *instead;
};

Otherwise *otherwise_of(PyObject *object) { return reinterpret_cast<Otherwise *>(object); }

bool is_refusal() {
    return PyErr_ExceptionMatches(PyExc_OverflowError) || PyErr_ExceptionMatches(PyExc_TypeError);
}

PyObject *otherwise_call(PyObject *object, PyObject *args, PyObject *kwargs) {
    const Otherwise *self = otherwise_of(object);
    Ref answer(PyObject_Call(self->function, args, kwargs));
    if (answer || !is_refusal()) return answer.release();
    PyObject *kind, *value, *traceback;
    PyErr_Fetch(&kind, &value, &traceback);
    const Ref given(kwargs != nullptr ? Py_NewRef(kwargs) : PyDict_New());
    answer = Ref(given ? PyObject_CallFunctionObjArgs(self->instead, args, given.get(), nullptr) : nullptr);
    if (answer && answer.get() == Py_None) {  // it knows no better
        PyErr_Restore(kind, value, traceback);
        return nullptr;
    }
    for (PyObject *part : {kind, value, traceback}) Py_XDECREF(part);
    return answer.release();
}

PyObject *otherwise_new(PyTypeObject *type, PyObject *args, PyObject *) {
    PyObject *function, *instead;
    if (!PyArg_ParseTuple(args, "OO", &function, &instead)) return nullptr;
    PyObject *made = PyType_GenericAlloc(type, 0);
    if (made == nullptr) return nullptr;
    otherwise_of(made)->function = Py_NewRef(function);
    otherwise_of(made)->instead = Py_NewRef(instead);
    return made;
}

int otherwise_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(otherwise_of(object)->function);
    Py_VISIT(otherwise_of(object)->instead);
    return 0;
}

int otherwise_release(PyObject *object) {
    Py_CLEAR(otherwise_of(object)->function);
    Py_CLEAR(otherwise_of(object)->instead);
    return 0;
}

PyType_Slot otherwise_slots[] = {
    {Py_tp_doc, const_cast<char *>("A function, and what is asked where it refuses.")},
    {Py_tp_new, reinterpret_cast<void *>(otherwise_new)},
    {Py_tp_call, reinterpret_cast<void *>(otherwise_call)},
    {Py_tp_traverse, reinterpret_cast<void *>(otherwise_traverse)},
    {Py_tp_dealloc, reinterpret_cast<void *>(dealloc<otherwise_release>)},
    {0, nullptr}};

}  // namespace

PyType_Spec otherwise_spec = {"promoarray.diagnostics.record._seen.Otherwise", sizeof(Otherwise), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
                              otherwise_slots};

}  // namespace promoarray
