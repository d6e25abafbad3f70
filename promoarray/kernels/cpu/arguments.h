// What Python hands over, checked: arrays by the buffer protocol, rows and modes. Whatever is wrong
// with it is an exception, and nothing has been written yet.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "loops.h"

namespace promoarray {

namespace nb = nanobind;
using std::size_t;

// ValueError.
[[noreturn]] void refuse(const std::string &message);

// An array by the buffer protocol, without its element type: NumPy exports the types of ml_dtypes
// only so, and the row says what the bits mean.
class Array {
   public:
    Array(nb::handle object, const char *name, int flags);
    ~Array() { PyBuffer_Release(&view_); }
    Array(const Array &) = delete;
    Array &operator=(const Array &) = delete;

    const char *name() const { return name_; }
    char *data() const { return static_cast<char *>(view_.buf); }
    int ndim() const { return view_.ndim; }
    Py_ssize_t shape(int axis) const { return view_.shape[axis]; }
    Py_ssize_t stride(int axis) const { return view_.strides[axis]; }
    size_t item() const { return (size_t)view_.itemsize; }
    bool native() const { return native_; }
    bool empty() const { return view_.len == 0; }
    bool aligned(size_t size) const { return (std::uintptr_t)view_.buf % size == 0; }
    size_t count() const { return (size_t)(view_.len / view_.itemsize); }

    // The addresses that its elements lie between.
    void bounds(std::uintptr_t &low, std::uintptr_t &high) const;

   private:
    Py_buffer view_;
    const char *name_;
    bool native_ = true;
};

// The row of a dtype as the arithmetic of cast.h needs it: anything else could shift by a negative
// count.
Type read_type(nb::handle row, const char *name);
CastMode read_mode(nb::handle tuple);
// None, bytes (a table), an integer (a `Way`), or a tuple of (first, last, code). The bytes have to
// outlive what is returned.
Adjustment read_adjustment(nb::handle given, Type source, Type target);

// That elements are as long as their row says.
void check_item(const Array &array, const Type &type);
// That two arrays do not overlap in memory.
void check_apart(const Array &src, const Array &dst);
// That src can be cast into dst: the same shape, apart, and dst in native byte order.
void check_pair(const Array &src, const Array &dst);

}  // namespace promoarray
