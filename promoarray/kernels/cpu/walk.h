// The walk over an array of any layout, in blocks of elements as the loops take them.
#pragma once

#include <Python.h>

#include "caster.h"

namespace promoarray {

// The axes of an array, outermost first, with those merged that are one in memory.
struct Axes {
    int ndim = 0;
    size_t shape[PyBUF_MAX_NDIM + 1];
    Py_ssize_t stride[PyBUF_MAX_NDIM + 1];

    void append(size_t length, Py_ssize_t step) {
        if (length == 1) return;
        if (ndim > 0 && stride[ndim - 1] == (Py_ssize_t)length * step) {
            shape[ndim - 1] *= length;
            stride[ndim - 1] = step;
            return;
        }
        shape[ndim] = length;
        stride[ndim++] = step;
    }
};

// Cast the elements of src, axis by axis, to dst, which is contiguous and aligned.
void walk(Caster &cast, const char *src, char *dst, Axes axes, bool native);

}  // namespace promoarray
