// The arrays of a casting kernel: contiguous ones, looked at by NumPy's fields, or by the buffer
// protocol; and new ones.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "arguments.h"
#include "loops.h"
#include "numpy_array.h"

namespace promoarray {

inline size_t item_of(const Type &type) {
    return size_of(type) * (type.kind == Kind::complex ? 2 : 1);
}

// A contiguous array, which whoever looks at it has; not there if it is not contiguous, is not
// aligned, or has elements of another length than its dtype says.
class View {
   public:
    View() = default;
    ~View() { release(); }
    View(const View &) = delete;
    View &operator=(const View &) = delete;

    bool open(PyObject *object, Type type, int flags = 0) {
        const ArrayFields *array = fields_of(object);
        const bool is_open = array != nullptr ? read(*array, flags) : ask(object, flags);
        if (!is_open || item_ != item_of(type)) return false;
        count_ = 1;
        for (int i = 0; i < ndim_; ++i) count_ *= (size_t)shape_[i];
        return (std::uintptr_t)data_ % size_of(type) == 0;
    }
    void release() {
        if (holds_) PyBuffer_Release(&view_);
        holds_ = false;
    }
    void *data() const { return data_; }
    size_t count() const { return count_; }
    int ndim() const { return ndim_; }
    const Py_ssize_t *shape() const { return shape_; }
    bool is_like(const View &other) const {
        return ndim_ == other.ndim_ &&  // without axes there may be no shape to look at
               std::equal(shape_, shape_ + ndim_, other.shape_);
    }
    // Whether nobody has the array but its owner, and this where the buffer protocol was asked.
    bool is_alone(PyObject *array) const { return Py_REFCNT(array) == 1 + holds_; }

   private:
    bool read(const ArrayFields &array, int flags) {
        const int wanted = IN_ROWS | ((flags & PyBUF_WRITABLE) != 0 ? WRITABLE : 0);
        data_ = array.data;
        ndim_ = array.ndim;
        shape_ = array.shape;
        item_ = (size_t)array.dtype->item;
        return (array.flags & wanted) == wanted;
    }
    bool ask(PyObject *object, int flags) {
        holds_ = PyObject_GetBuffer(object, &view_, PyBUF_ND | PyBUF_C_CONTIGUOUS | flags) == 0;
        if (!holds_) return PyErr_Clear(), false;
        data_ = view_.buf;
        ndim_ = view_.ndim;
        shape_ = view_.shape;
        item_ = (size_t)view_.itemsize;
        return true;
    }

    void *data_ = nullptr;
    int ndim_ = 0;
    const Py_ssize_t *shape_ = nullptr;
    size_t item_ = 0, count_ = 0;
    Py_buffer view_;
    bool holds_ = false;
};

// A new array of a dtype of NumPy's, not written to: of a shape, or with that of another, its axes in the
// same order. Null with the error.
PyObject *new_array(int ndim, const Py_ssize_t *shape, PyObject *dtype);
PyObject *new_array_like(PyObject *array, PyObject *dtype);

}  // namespace promoarray
