// Borders: which values a policy that looks at them never tells apart, those between the same two.
#include "borders.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "../../kernels/cpu/numpy_array.h"

namespace promoarray {
namespace {

struct Borders {
    PyObject_HEAD
    vectorcallfunc call;
    Py_ssize_t count;
    double *first;
};

Borders *borders_of(PyObject *object) { return reinterpret_cast<Borders *>(object); }

// The largest double that is not above an int; false with the error. As borders are doubles, the int
// lies between the same ones.
bool round_down(PyObject *value, double *down) {
    *down = PyLong_AsDouble(value);
    if (*down == -1 && PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_OverflowError)) return false;
        PyErr_Clear();
        int sign;
        PyLong_AsLongLongAndOverflow(value, &sign);
        *down = sign > 0 ? DBL_MAX : -HUGE_VAL;
        return true;
    }
    if (std::fabs(*down) < 9007199254740992.0) return true;  // 2 ** 53, below which it is the int
    const Ref nearest(PyFloat_FromDouble(*down));
    const int above = nearest ? PyObject_RichCompareBool(nearest.get(), value, Py_GT) : -1;
    if (above > 0) *down = std::nextafter(*down, -HUGE_VAL);
    return above >= 0;
}

// How many borders are not above a value; all of them of NaN.
Py_ssize_t place_of(const Borders *self, double value) {
    return std::upper_bound(self->first, self->first + self->count, value) - self->first;
}

// The sort of a complex value, of where both of its parts lie.
Py_ssize_t place_of(const Borders *self, double real, double imaginary) {
    return place_of(self, real) * (self->count + 1) + place_of(self, imaginary);
}

// Read one number of NumPy's own dtypes; false of those that may be no doubles.
template <typename T>
bool read_as(const char *data, double *value) {
    T number;
    std::memcpy(&number, data, sizeof number);
    *value = static_cast<double>(number);
    return sizeof number < sizeof *value || std::fabs(*value) < 9007199254740992.0;
}

bool read_number(char letter, const char *data, double *value) {
    switch (letter) {
        case '?': case 'B': return read_as<std::uint8_t>(data, value);
        case 'b': return read_as<std::int8_t>(data, value);
        case 'h': return read_as<std::int16_t>(data, value);
        case 'H': return read_as<std::uint16_t>(data, value);
        case 'i': return read_as<std::int32_t>(data, value);
        case 'I': return read_as<std::uint32_t>(data, value);
        case 'l': return read_as<long>(data, value);
        case 'L': return read_as<unsigned long>(data, value);
        case 'q': return read_as<long long>(data, value);
        case 'Q': return read_as<unsigned long long>(data, value);
        case 'f': case 'F': return read_as<float>(data, value);
        case 'd': case 'D': std::memcpy(value, data, sizeof *value); return true;
        default: return false;
    }
}

PyObject *borders_call(PyObject *object, PyObject *const *args, std::size_t nargs, PyObject *names) {
    const Borders *self = borders_of(object);
    if (PyVectorcall_NARGS(nargs) != 1 || names != nullptr) {
        PyErr_SetString(PyExc_TypeError, "Borders take one value");
        return nullptr;
    }
    PyObject *value = args[0];
    if (PyComplex_Check(value))
        return PyLong_FromSsize_t(place_of(self, PyComplex_RealAsDouble(value), PyComplex_ImagAsDouble(value)));
    double down;
    if (!PyLong_Check(value)) {
        down = PyFloat_AsDouble(value);
        if (down == -1 && PyErr_Occurred()) return nullptr;
    } else if (!round_down(value, &down)) {
        return nullptr;
    }
    return PyLong_FromSsize_t(place_of(self, down));
}

PyObject *borders_new(PyTypeObject *type, PyObject *args, PyObject *) {
    PyObject *given;
    if (!PyArg_ParseTuple(args, "O!", &PyTuple_Type, &given)) return nullptr;
    Ref made(PyType_GenericAlloc(type, 0));
    if (!made) return nullptr;
    Borders *self = borders_of(made.get());
    self->call = borders_call;
    self->first = static_cast<double *>(PyMem_Calloc(PyTuple_Size(given) + 1, sizeof(double)));
    if (self->first == nullptr) return PyErr_NoMemory();
    for (; self->count < PyTuple_Size(given); ++self->count) {
        PyObject *border = PyTuple_GetItem(given, self->count);
        double *place = self->first + self->count;
        *place = PyFloat_AsDouble(border);
        const Ref held(PyErr_Occurred() ? nullptr : PyFloat_FromDouble(*place));
        const int same = held ? PyObject_RichCompareBool(held.get(), border, Py_EQ) : -1;
        if (same < 0) return nullptr;
        if (!same || (self->count > 0 && !(place[-1] < *place))) {
            PyErr_SetString(PyExc_ValueError, "borders are doubles, each above the one before");
            return nullptr;
        }
    }
    return made.release();
}

void borders_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    PyMem_Free(borders_of(object)->first);
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

PyMemberDef borders_members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(Borders, call), Py_READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyType_Slot borders_slots[] = {
    {Py_tp_doc, const_cast<char *>("From a value to its sort: between which borders it lies.")},
    {Py_tp_new, reinterpret_cast<void *>(borders_new)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_members, borders_members},
    {Py_tp_dealloc, reinterpret_cast<void *>(borders_dealloc)},
    {0, nullptr}};

}  // namespace

Ref sort_of_element(PyObject *sort, PyObject *array) {
    const ArrayFields *fields = fields_of(array);
    const bool knows = fields != nullptr && elements_of(*fields) == 1 &&
                       (fields->dtype->byte_order == '=' || fields->dtype->byte_order == '|') &&
                       PyType_GetSlot(Py_TYPE(sort), Py_tp_new) == reinterpret_cast<void *>(borders_new);
    if (!knows) return Ref(nullptr);
    const Borders *self = borders_of(sort);
    const char letter = fields->dtype->letter, *data = fields->data;
    double value, imaginary;
    if (!read_number(letter, data, &value)) return Ref(nullptr);
    if (letter != 'F' && letter != 'D') return Ref(PyLong_FromSsize_t(place_of(self, value)));
    read_number(letter, data + fields->dtype->item / 2, &imaginary);
    return Ref(PyLong_FromSsize_t(place_of(self, value, imaginary)));
}

PyType_Spec borders_spec = {"promoarray.core._fast_path.Borders", sizeof(Borders), 0,
                            Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_IMMUTABLETYPE,
                            borders_slots};

}  // namespace promoarray
