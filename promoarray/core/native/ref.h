// References to Python's objects. All here is plain C API rather than nanobind, whose functions cannot be
// the methods of a class that Python defines. It keeps to the limited API of Python 3.12, because
// one abi3 wheel serves 3.12 and later and a module outside of it would tie the wheel to one
// version; 3.11 gets a build of its own. Free-threaded builds have no stable ABI.
#pragma once

#include <Python.h>

#include <cstddef>

#if PY_VERSION_HEX < 0x030C0000  // the names of descrobject.h are new in 3.12
#include <structmember.h>
#define Py_T_BOOL T_BOOL
#define Py_T_OBJECT_EX T_OBJECT_EX
#define Py_T_PYSSIZET T_PYSSIZET
#define Py_READONLY READONLY
#endif

namespace promoarray {

// A reference this code owns.
class Ref {
   public:
    Ref() = default;
    explicit Ref(PyObject *owned) : object_(owned) {}
    Ref(Ref &&other) noexcept : object_(other.release()) {}
    Ref(const Ref &) = delete;
    Ref &operator=(Ref &&other) noexcept {
        PyObject *old = object_;
        object_ = other.release();
        Py_XDECREF(old);
        return *this;
    }
    Ref &operator=(const Ref &) = delete;
    ~Ref() { Py_XDECREF(object_); }

    static Ref to(PyObject *borrowed) { return Ref(Py_NewRef(borrowed)); }
    PyObject *get() const { return object_; }
    explicit operator bool() const { return object_ != nullptr; }
    PyObject *release() {
        PyObject *object = object_;
        object_ = nullptr;
        return object;
    }

   private:
    PyObject *object_ = nullptr;
};

// What a function answers of one argument; null with the error.
inline Ref call(PyObject *function, PyObject *argument) {
    return Ref(PyObject_Vectorcall(function, &argument, 1, nullptr));
}

// Of every type here: the last reference of an instance takes its reference to the type along.
template <int (*clear)(PyObject *)>
void dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    clear(object);
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

}  // namespace promoarray
