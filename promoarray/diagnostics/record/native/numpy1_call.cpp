#include "numpy1_call.h"

#include <initializer_list>
#include <string>

namespace promoarray {
namespace {

struct Otherwise {
    PyObject_HEAD
    PyObject *function, *instead, *before;
};

Otherwise *otherwise_of(PyObject *object) { return reinterpret_cast<Otherwise *>(object); }

bool is_refusal() {
    return PyErr_ExceptionMatches(PyExc_OverflowError) || PyErr_ExceptionMatches(PyExc_TypeError);
}

// The folder of the file whose code a traceback begins in; empty if that is not known.
std::string folder_of(PyObject *traceback) {
    Ref at(Py_NewRef(traceback));
    for (const char *name : {"tb_frame", "f_code", "co_filename"}) {
        if (at) at = Ref(PyObject_GetAttrString(at.get(), name));
    }
    const Ref text(at && PyUnicode_Check(at.get()) ? PyUnicode_AsEncodedString(at.get(), "utf-8", "replace") : nullptr);
    PyErr_Clear();
    const char *file = text ? PyBytes_AsString(text.get()) : nullptr;
    if (file == nullptr) return "";
    const std::string path(file);
    return path.substr(0, path.find_last_of("/\\") + 1);
}

// Have the traceback of an error not begin with the frames of what was asked.
void pass_over_own_frames() {
    PyObject *kind, *value, *traceback;
    PyErr_Fetch(&kind, &value, &traceback);
    PyErr_NormalizeException(&kind, &value, &traceback);
    Ref at(traceback);
    const std::string own = at ? folder_of(at.get()) : "";
    while (at && !own.empty() && folder_of(at.get()) == own) {
        at = Ref(PyObject_GetAttrString(at.get(), "tb_next"));
        if (at && at.get() == Py_None) at = Ref(nullptr);
    }
    if (value != nullptr) PyException_SetTraceback(value, at ? at.get() : Py_None);
    PyErr_Restore(kind, value, at.release());
}

PyObject *otherwise_call(PyObject *object, PyObject *args, PyObject *kwargs) {
    const Otherwise *self = otherwise_of(object);
    const Ref given(kwargs != nullptr ? Py_NewRef(kwargs) : PyDict_New());
    if (!given) return nullptr;
    Ref answer(nullptr);
    if (self->before != Py_None) {
        answer = Ref(PyObject_CallFunctionObjArgs(self->before, args, given.get(), nullptr));
        if (!answer) pass_over_own_frames();
        if (!answer || answer.get() != Py_NotImplemented) return answer.release();
    }
    answer = Ref(PyObject_Call(self->function, args, kwargs));
    if (answer || self->instead == Py_None || !is_refusal()) return answer.release();
    PyObject *kind, *value, *traceback;
    PyErr_Fetch(&kind, &value, &traceback);
    answer = Ref(PyObject_CallFunctionObjArgs(self->instead, args, given.get(), nullptr));
    if (!answer) pass_over_own_frames();
    if (answer && answer.get() == Py_NotImplemented) {  // it knows no better
        PyErr_Restore(kind, value, traceback);
        return nullptr;
    }
    for (PyObject *part : {kind, value, traceback}) Py_XDECREF(part);
    return answer.release();
}

PyObject *otherwise_new(PyTypeObject *type, PyObject *args, PyObject *) {
    PyObject *function, *instead, *before = Py_None;
    if (!PyArg_ParseTuple(args, "OO|O", &function, &instead, &before)) return nullptr;
    PyObject *made = PyType_GenericAlloc(type, 0);
    if (made == nullptr) return nullptr;
    otherwise_of(made)->function = Py_NewRef(function);
    otherwise_of(made)->instead = Py_NewRef(instead);
    otherwise_of(made)->before = Py_NewRef(before);
    return made;
}

int otherwise_traverse(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    Py_VISIT(otherwise_of(object)->function);
    Py_VISIT(otherwise_of(object)->instead);
    Py_VISIT(otherwise_of(object)->before);
    return 0;
}

int otherwise_release(PyObject *object) {
    Py_CLEAR(otherwise_of(object)->function);
    Py_CLEAR(otherwise_of(object)->instead);
    Py_CLEAR(otherwise_of(object)->before);
    return 0;
}

PyType_Slot otherwise_slots[] = {
    {Py_tp_doc, const_cast<char *>("A function, what is asked where it refuses, and what is asked before it.")},
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
