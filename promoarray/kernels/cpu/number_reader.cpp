// A callable that makes arrays of Python's numbers in nested lists, all of one class, where every
// list of a depth is as long: NumPy looks at each number twice, and at what it might be besides.
#include <array>
#include <cstdint>
#include <cstring>

#include "array_view.h"
#include "kernel_type.h"
#include "module.h"

namespace promoarray {
namespace {

constexpr int DEEPEST = 32;  // lists in lists

struct NumberReader {
    PyObject_HEAD
    vectorcallfunc call;
    Type type;            // of the elements
    PyTypeObject *number;  // the class of Python's that they are read from
    PyObject *dtype;       // NumPy's
    PyObject *empty;       // numpy.empty
    PyObject *otherwise;   // makes arrays of all else

    std::array<PyObject *, 3> parts() const { return {dtype, empty, otherwise}; }
    void release() {}
};

// The items of a list or tuple; -1 of all else.
Py_ssize_t length_of(PyObject *data) {
#ifndef Py_GIL_DISABLED  // else another thread may change it meanwhile
    if (PyList_CheckExact(data)) return PyList_Size(data);
#endif
    return PyTuple_CheckExact(data) ? PyTuple_Size(data) : -1;
}
PyObject *item_at(PyObject *data, Py_ssize_t i) {
    return PyTuple_CheckExact(data) ? PyTuple_GetItem(data, i) : PyList_GetItem(data, i);
}

// The lengths of the first lists of each depth; how many, or -1 if there are too many, or one has
// nothing in it.
int measure(PyObject *data, Py_ssize_t *shape) {
    int ndim = 0;
    for (Py_ssize_t length; (length = length_of(data)) >= 0; data = item_at(data, 0)) {
        if (ndim == DEEPEST || length == 0) return -1;
        shape[ndim++] = length;
    }
    return ndim;
}

// Write a number; false if no element is one such.
bool write(const Type &type, PyObject *number, char *place) {
    if (type.kind == Kind::complex) {
        const double parts[] = {PyComplex_RealAsDouble(number), PyComplex_ImagAsDouble(number)};
        std::memcpy(place, parts, sizeof parts);
    } else if (type.kind == Kind::real) {
        const double value = PyFloat_AsDouble(number);
        std::memcpy(place, &value, sizeof value);
    } else if (type.kind == Kind::boolean) {
        *place = number == Py_True;
    } else {
        int beyond;
        const std::int64_t value = PyLong_AsLongLongAndOverflow(number, &beyond);
        const bool has_sign = type.kind == Kind::signed_integer;
        const int above = type.bits - has_sign;  // bits of a value without a sign
        const std::int64_t most = above >= 63 ? INT64_MAX : (std::int64_t{1} << above) - 1;
        if (beyond != 0 || value > most || value < (has_sign ? -most - 1 : 0)) return false;
        std::memcpy(place, &value, item_of(type));  // little-endian, see module.cpp
    }
    return true;
}

// Write what lies below an axis; false if it has another shape, or a number is of another class.
bool fill(const NumberReader *self, PyObject *data, int axis, int ndim, const Py_ssize_t *shape, char *&place) {
    if (axis == ndim) {
        const bool is_one = Py_TYPE(data) == self->number && write(self->type, data, place);
        place += item_of(self->type);
        return is_one;
    }
    if (length_of(data) != shape[axis]) return false;
    for (Py_ssize_t i = 0; i < shape[axis]; ++i)
        if (!fill(self, item_at(data, i), axis + 1, ndim, shape, place)) return false;
    return true;
}

PyObject *reader_call(PyObject *object, PyObject *const *args, std::size_t nargs, PyObject *names) {
    const NumberReader *self = kernel_of<NumberReader>(object);
    if (PyVectorcall_NARGS(nargs) != 1 || names != nullptr) {
        PyErr_SetString(PyExc_TypeError, "a NumberReader takes a number, or lists of them");
        return nullptr;
    }
    Py_ssize_t shape[DEEPEST];
    const int ndim = measure(args[0], shape);
    nb::object out = nb::steal(ndim < 0 ? nullptr : new_array(ndim, shape, self->dtype, self->empty));
    View view;
    if (out.is_valid() && view.open(out.ptr(), self->type, PyBUF_WRITABLE)) {
        auto *place = static_cast<char *>(view.data());
        if (fill(self, args[0], 0, ndim, shape, place)) return out.release().ptr();
    }
    PyErr_Clear();  // of no memory for what is not as long as its first lists
    return PyObject_Vectorcall(self->otherwise, args, 1, nullptr);
}

PyObject *reader_new(PyTypeObject *type, PyObject *args, PyObject *) {
    PyObject *row, *dtype, *empty, *otherwise;
    if (!PyArg_ParseTuple(args, "OOOO", &row, &dtype, &empty, &otherwise)) return nullptr;
    return made_or_raised([&]() -> PyObject * {
        const Type elements = read_type(row, "row");
        const bool is_float = elements.kind == Kind::real || elements.kind == Kind::complex;
        if (is_float ? elements.bits != 64 : elements.kind != Kind::boolean && elements.bits < 8)
            refuse("numbers are read as float64, complex128, bools and integers of 8 bits and more");
        PyObject *made = PyType_GenericAlloc(type, 0);
        if (made == nullptr) return nullptr;
        NumberReader *self = kernel_of<NumberReader>(made);
        self->call = reader_call;
        self->type = elements;
        self->number = elements.kind == Kind::real      ? &PyFloat_Type
                       : elements.kind == Kind::complex ? &PyComplex_Type
                       : elements.kind == Kind::boolean ? &PyBool_Type
                                                        : &PyLong_Type;
        self->dtype = Py_NewRef(dtype);
        self->empty = Py_NewRef(empty);
        self->otherwise = Py_NewRef(otherwise);
        return made;
    });
}

}  // namespace

nanobind::object number_reader_type() {
    return kernel_type<NumberReader>(
        "promoarray.kernels._cpu.NumberReader",
        "Arrays of Python's numbers in nested lists; of what it does not read, what `otherwise` makes.",
        reader_new);
}

}  // namespace promoarray
