// Products of stacks of integer matrices.
#include <string>

#include "arguments.h"
#include "module.h"
#include "unlocked.h"
#include "versions.h"

namespace promoarray {
namespace {

// A stack of matrices: three axes, elements of a type, aligned and in native byte order.
void check(const Array &array, const Type &type) {
    const std::string name = array.name();
    check_item(array, type);
    if (array.ndim() != 3) refuse(name + " has " + std::to_string(array.ndim()) + " axes, not 3");
    bool aligned = array.aligned(size_of(type));
    for (int axis = 0; axis < 3; ++axis) {
        const auto step = array.stride(axis), size = (Py_ssize_t)size_of(type);
        aligned = aligned && (array.shape(axis) < 2 || step % size == 0);
    }
    if (!array.native() || (!aligned && !array.empty())) {
        refuse(name + " must be aligned and in native byte order");
    }
}

void check_length(const Array &x, int i, const Array &y, int j) {
    if (x.shape(i) != y.shape(j)) {
        refuse("axis " + std::to_string(i) + " of " + x.name() + " is " +
               std::to_string(x.shape(i)) + " long, axis " + std::to_string(j) + " of " +
               y.name() + " is " + std::to_string(y.shape(j)));
    }
}

Matrix matrix_of(const Array &array, Py_ssize_t index) {
    return {array.data() + index * array.stride(0), array.stride(1), array.stride(2)};
}

}  // namespace

void multiply(nb::handle left, nb::handle right, nb::handle result, nb::handle row) {
    const Type type = read_type(row, "row");
    const bool integers =
        type.kind == Kind::unsigned_integer || type.kind == Kind::signed_integer;
    if (!integers || type.bits < 8) {
        refuse("row is not that of integers of 8 bits or more");
    }
    const Array a(left, "left", PyBUF_STRIDES), b(right, "right", PyBUF_STRIDES);
    const Array out(result, "result", PyBUF_STRIDES | PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
    for (const Array *each : {&a, &b, &out}) check(*each, type);
    check_length(a, 0, out, 0);
    check_length(b, 0, out, 0);
    check_length(a, 1, out, 1);
    check_length(b, 2, out, 2);
    check_length(a, 2, b, 1);
    check_apart(a, out);
    check_apart(b, out);

    const Unlocked unlocked;
    const Product product = version().product(type);
    const auto m = (size_t)out.shape(1), n = (size_t)out.shape(2), k = (size_t)a.shape(2);
    for (Py_ssize_t i = 0; i < out.shape(0) && m * n != 0; ++i) {
        product(matrix_of(a, i), matrix_of(b, i), out.data() + i * out.stride(0), m, n, k);
    }
}

}  // namespace promoarray
