// How an executable runs: its kernel on operands that are widened here, else its own way.
#include <cmath>
#include <cstdint>
#include <cstring>
#include <initializer_list>

#include "operator.h"

namespace promoarray {
namespace {

constexpr Py_ssize_t MUCH = 1 << 17;  // bytes; of more, `run` casts what a cache holds at a time
constexpr Py_ssize_t LONG = 1 << 20;  // bytes; `run` casts more of them without the GIL

// Elements from which on several threads may take parts; from which on it pays that rows lie in columns,
// go backwards or are repeated (backends/numpy/parts.py); and of a row that lies in columns.
constexpr Py_ssize_t MANY = 1000000, SOME = 1 << 17, LONG_ROW = 512;

bool lies_otherwise(const ArrayFields &array) {
    const int inner = array.ndim - 1;
    if (inner < 0 || array.shape[inner] < LONG_ROW) return false;
    return array.strides[inner] < 0 ||
           (inner > 0 && array.strides[inner - 1] < array.strides[inner]);
}

// Whether parts.py may know a quicker way than one call of NumPy's.
bool asks_for_parts(PyObject *first, PyObject *last) {
    const ArrayFields *x = fields_of(first), *y = fields_of(last);
    if (x == nullptr || y == nullptr) return false;
    const Py_ssize_t a = elements_of(*x), b = elements_of(*y), most = a > b ? a : b;
    if (most < SOME || most >= MANY) return most >= MANY;
    return (a != b && a > 1 && b > 1) || lies_otherwise(*x) || lies_otherwise(*y);
}

// Floats as doubles; of complex numbers both parts. NumPy's own cast would warn of a signalling
// NaN, and keep what a NaN holds beside its sign, which ours do not. Null without an error if the buffer is one for `run`.
Ref doubled(const FastOperator *self, PyObject *buffer, PyObject *wider) {
    Py_buffer from, to;
    if (PyObject_GetBuffer(buffer, &from, PyBUF_C_CONTIGUOUS) != 0) {
        PyErr_Clear();
        return Ref(nullptr);
    }
    Ref out(nullptr);
    if (from.len <= LONG) {
        const Ref shape(PyObject_GetAttr(buffer, self->parts[SHAPE_NAME]));
        PyObject *args[] = {shape.get(), wider};
        if (shape) out = Ref(PyObject_Vectorcall(self->parts[NDARRAY], args, 2, nullptr));
    }
    if (out && PyObject_GetBuffer(out.get(), &to, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE) != 0)
        out = Ref(nullptr);
    if (out) {
        // A buffer whose dtype was set behind our back does not hold what its array says.
        const bool fits = to.len == 2 * from.len;
        if (fits) {
            const auto *given = static_cast<const char *>(from.buf);  // perhaps not aligned
            auto *made = static_cast<double *>(to.buf);
            const auto count = static_cast<std::size_t>(from.len) / sizeof(float);
            for (std::size_t i = 0; i < count; ++i) {
                float value;
                std::memcpy(&value, given + i * sizeof value, sizeof value);
                made[i] = value == value ? static_cast<double>(value)
                                         : std::copysign(NAN, static_cast<double>(value));
            }
        }
        PyBuffer_Release(&to);
        if (!fits) out = Ref(nullptr);
    }
    PyBuffer_Release(&from);
    return out;
}

// An operand as the kernel takes it; null without an error if `run` has to cast it.
Ref widened(const FastOperator *self, PyObject *buffer, PyObject *wider) {
    if (wider == Py_None) return Ref::to(buffer);
    if (PyTuple_Check(wider)) return doubled(self, buffer, PyTuple_GetItem(wider, 0));
    const ArrayFields *array = fields_of(buffer);
    if (array == nullptr || elements_of(*array) * array->dtype->item > MUCH) return Ref(nullptr);
    PyObject *args[] = {buffer, wider};
    return Ref(PyObject_VectorcallMethod(self->parts[ASTYPE_NAME], args, 2, nullptr));
}

// Whether NumPy would make a scalar of what a kernel answers, and can be told to make an array.
bool makes_scalars(const FastOperator *self, PyObject *kernel, PyObject *const *args, Py_ssize_t count) {
    if (!self->is(UFUNC, Py_TYPE(kernel)) || self->is(ARRAY_OPTION, Py_None)) return false;
    for (Py_ssize_t i = 0; i < count; ++i) {
        const ArrayFields *array = fields_of(args[i]);
        if (array == nullptr || array->ndim > 0) return false;
    }
    return true;
}

// The kernel on widened operands; null without an error if `run` has to be asked.
Ref run_kernel(const FastOperator *self, const Ref &executable, PyObject *const *buffers,
               Py_ssize_t count, PyObject *option_names) {
    Ref wide[MOST] = {Ref(nullptr), Ref(nullptr), Ref(nullptr)};
    PyObject *args[MOST + MOST_OPTIONS];
    for (Py_ssize_t i = 0; i < count; ++i) {
        wide[i] = widened(self, buffers[i], PyTuple_GetItem(field(executable, WIDEN), i));
        if (!wide[i]) return Ref(nullptr);
        args[i] = wide[i].get();
    }
    PyObject *kernel = field(executable, KERNEL);
    const Py_ssize_t options = option_names != nullptr ? PyTuple_Size(option_names) : 0;
    if (count > 0 && count < 3 && options == 0 && asks_for_parts(args[0], args[count - 1])) {
        PyObject *given[] = {kernel, args[0], args[count - 1]};
        Ref out(PyObject_Vectorcall(self->parts[IN_PARTS], given, count + 1, nullptr));
        if (!out || out.get() != Py_None) return out;
    }
    for (Py_ssize_t k = 0; k < options; ++k) args[count + k] = buffers[count + k];
    if (options == 0 && makes_scalars(self, kernel, args, count)) {
        args[count] = Py_Ellipsis;
        option_names = self->parts[ARRAY_OPTION];
    }
    Ref out(PyObject_Vectorcall(kernel, args, count, option_names));
    if (out && out.get() == Py_None) return Ref(nullptr);  // a kernel may leave it to `run`
    return out;
}

// The same of many operands, of which none is widened.
Ref run_kernel_of_many(const Ref &executable, PyObject *const *buffers, Py_ssize_t count,
                       PyObject *option_names) {
    Ref out(PyObject_Vectorcall(field(executable, KERNEL), buffers, count, option_names));
    if (out && out.get() == Py_None) return Ref(nullptr);
    return out;
}

}  // namespace

Ref run(const FastOperator *self, const Ref &executable, PyObject **buffers, Py_ssize_t count,
        PyObject *option_names, PyObject *backend) {
    Ref out(nullptr);
    if (field(executable, KERNEL) != Py_None)
        out = count > MOST ? run_kernel_of_many(executable, buffers, count, option_names)
                           : run_kernel(self, executable, buffers, count, option_names);
    if (!out && !PyErr_Occurred())
        out = Ref(PyObject_Vectorcall(field(executable, RUN), buffers, count, option_names));
    if (out && backend == nullptr && !self->is(NDARRAY, Py_TYPE(out.get())) &&
        !PyTuple_Check(out.get())) {
        // Of 0-d arrays NumPy makes scalars.
        out = Ref(PyObject_CallFunctionObjArgs(self->parts[ASARRAY], out.get(), nullptr));
    }
    return out;
}

Ref dtype_of(const FastOperator *self, PyObject *buffer) {
    const ArrayFields *array = fields_of(buffer);
    return array != nullptr ? Ref::to(reinterpret_cast<PyObject *>(array->dtype))
                            : Ref(PyObject_GetAttr(buffer, self->parts[DTYPE_NAME]));
}

Py_ssize_t rank_of(const FastOperator *self, PyObject *buffer) {
    if (const ArrayFields *array = fields_of(buffer)) return array->ndim;
    const Ref rank(PyObject_GetAttr(buffer, self->parts[NDIM_NAME]));
    return rank ? PyLong_AsSsize_t(rank.get()) : -1;
}

Py_ssize_t size_of(const FastOperator *self, PyObject *buffer) {
    if (const ArrayFields *array = fields_of(buffer)) return elements_of(*array);
    const Ref size(PyObject_GetAttr(buffer, self->parts[SIZE_NAME]));
    return size ? PyLong_AsSsize_t(size.get()) : -1;
}

bool is_told_better() {
    for (PyObject *kind : {PyExc_ValueError, PyExc_IndexError, PyExc_TypeError})
        if (PyErr_ExceptionMatches(kind)) return true;
    return false;
}

PyObject *wrap(PyTypeObject *cls, Ref &buffer, PyObject *type) {
    PyObject *made = PyType_GenericAlloc(cls, 0);
    if (made != nullptr) {
        auto *slots = reinterpret_cast<ArraySlots *>(made);
        slots->buffer = buffer.release();
        slots->type = Py_NewRef(type);
    }
    return made;
}

}  // namespace promoarray
