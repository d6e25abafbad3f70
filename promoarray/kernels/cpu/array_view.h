// The arrays of a casting kernel: contiguous ones, looked at by the buffer protocol.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "arguments.h"
#include "loops.h"

namespace promoarray {

inline size_t item_of(const Type &type) {
    return size_of(type) * (type.kind == Kind::complex ? 2 : 1);
}

// A contiguous array by the buffer protocol; not there if it is not, is not aligned, or has
// elements of another length than its dtype says.
class View {
   public:
    View() = default;
    ~View() { release(); }
    View(const View &) = delete;
    View &operator=(const View &) = delete;

    bool open(PyObject *object, Type type, int flags = 0) {
        open_ = PyObject_GetBuffer(object, &view_, PyBUF_ND | PyBUF_C_CONTIGUOUS | flags) == 0;
        if (!open_) PyErr_Clear();
        return open_ && (size_t)view_.itemsize == item_of(type) &&
               (std::uintptr_t)view_.buf % size_of(type) == 0;
    }
    void release() {
        if (open_) PyBuffer_Release(&view_);
        open_ = false;
    }
    void *data() const { return view_.buf; }
    size_t count() const { return (size_t)(view_.len / view_.itemsize); }
    int ndim() const { return view_.ndim; }
    size_t length(int axis) const { return (size_t)view_.shape[axis]; }
    size_t length() const { return length(view_.ndim - 1); }  // of the last axis
    bool is_like(const View &other) const {
        return view_.ndim == other.view_.ndim &&  // without axes there may be no shape to look at
               std::equal(view_.shape, view_.shape + view_.ndim, other.view_.shape);
    }
    PyObject *shape() const {
        PyObject *made = PyTuple_New(view_.ndim);
        for (int i = 0; made != nullptr && i < view_.ndim; ++i) {
            PyObject *length = PyLong_FromSsize_t(view_.shape[i]);
            if (length == nullptr || PyTuple_SetItem(made, i, length) != 0) Py_CLEAR(made);
        }
        return made;
    }

   private:
    Py_buffer view_;
    bool open_ = false;
};

// Elements that a copy in rows is made of at most: of more it takes longer than to go through them
// where they lie.
constexpr Py_ssize_t COPIED = 4096;

// A copy in rows of a short array that leaves gaps or goes backwards: where the axes lie in another
// order than in rows, so would a result. Null of all else, and if there is no memory. What adds
// elements up has them copied of lines alone, forward: of others NumPy has an order of its own.
inline nb::object copy_in_rows(PyObject *object, bool adds_up = false) {
    Py_buffer view;
    if (PyObject_GetBuffer(object, &view, PyBUF_STRIDES) != 0) return PyErr_Clear(), nb::object();
    const Py_ssize_t n = view.itemsize == 0 ? 0 : view.len / view.itemsize;
    bool fits = n > 0 && n <= COPIED;
    if (adds_up) fits = fits && view.ndim == 1 && view.strides[0] > 0;
    Py_ssize_t inner = 0;
    for (int axis = view.ndim - 1; fits && axis >= 0; --axis) {
        if (view.shape[axis] == 1) continue;
        const Py_ssize_t step = std::abs(view.strides[axis]);
        fits = step >= inner && step != 0;
        inner = step;
    }
    PyBuffer_Release(&view);
    nb::object made;
    if (fits) made = nb::steal(PyObject_CallMethod(object, "copy", nullptr));
    if (!made.is_valid()) PyErr_Clear();
    return made;
}

}  // namespace promoarray
