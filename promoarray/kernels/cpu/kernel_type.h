// The Python types of the kernels: callables by the vectorcall that own some of Python's objects and
// some memory of ours. Plain C API, of which nanobind has no vectorcall.
//
// A kernel begins with PyObject_HEAD, has a `vectorcallfunc call`, and says in `parts()` which of
// Python's objects it holds, and in `release()` what else is to be deleted.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

#if PY_VERSION_HEX < 0x030C0000  // the names of descrobject.h are new in 3.12
#include <structmember.h>
#define Py_T_OBJECT_EX T_OBJECT_EX
#define Py_T_PYSSIZET T_PYSSIZET
#define Py_READONLY READONLY
#endif

namespace promoarray {

template <typename Kernel>
Kernel *kernel_of(PyObject *object) { return reinterpret_cast<Kernel *>(object); }

template <typename Kernel>
int traverse_kernel(PyObject *object, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(object));
    for (PyObject *part : kernel_of<Kernel>(object)->parts()) Py_VISIT(part);
    return 0;
}

// Not the type's tp_clear: nothing it holds leads back to it.
template <typename Kernel>
void deallocate_kernel(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    Kernel *self = kernel_of<Kernel>(object);
    self->release();
    for (PyObject *part : self->parts()) Py_XDECREF(part);
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

// What `make` makes, a new reference; where it throws, null and the exception as Python's.
template <typename Make>
PyObject *made_or_raised(Make make) {
    try {
        return make();
    } catch (nanobind::python_error &error) {
        error.restore();
    } catch (const nanobind::builtin_exception &error) {
        const bool of_type = error.type() == nanobind::exception_type::type_error;
        PyErr_SetString(of_type ? PyExc_TypeError : PyExc_ValueError, error.what());
    }
    return nullptr;
}

// `shown` is a member that Python sees.
template <typename Kernel>
nanobind::object kernel_type(const char *name, const char *doc, newfunc make, PyMemberDef shown = {}) {
    static PyMemberDef members[] = {
        {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(Kernel, call), Py_READONLY, nullptr}, shown, {}};
    PyType_Slot slots[] = {
        {Py_tp_doc, const_cast<char *>(doc)},
        {Py_tp_new, reinterpret_cast<void *>(make)},
        {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
        {Py_tp_members, members},
        {Py_tp_traverse, reinterpret_cast<void *>(traverse_kernel<Kernel>)},
        {Py_tp_dealloc, reinterpret_cast<void *>(deallocate_kernel<Kernel>)},
        {0, nullptr}};
    PyType_Spec spec = {name, sizeof(Kernel), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                            Py_TPFLAGS_IMMUTABLETYPE,
                        slots};
    PyObject *type = PyType_FromSpec(&spec);
    if (type == nullptr) throw nanobind::python_error();
    return nanobind::steal(type);
}

}  // namespace promoarray
