// New arrays by NumPy's C API, where it has the binary interface that is known here: numpy.empty
// reads its arguments as long as it makes the array.
#include "array_view.h"

namespace promoarray {
namespace {

// As NumPy numbers them (__multiarray_api.h), for as long as it has this version.
constexpr unsigned VERSION = 0x02000000;
constexpr int GET_VERSION = 0, EMPTY = 184;
using GetVersion = unsigned (*)();
using Empty = PyObject *(*)(int ndim, const Py_ssize_t *shape, PyObject *stolen_dtype, int by_columns);

Empty find_empty() {
    if (known_ndarray == nullptr) return nullptr;
    const nb::object home = nb::steal(PyImport_ImportModule("numpy._core._multiarray_umath"));
    const nb::object table = nb::steal(home.is_valid() ? PyObject_GetAttrString(home.ptr(), "_ARRAY_API") : nullptr);
    auto *functions = static_cast<void **>(table.is_valid() ? PyCapsule_GetPointer(table.ptr(), nullptr) : nullptr);
    PyErr_Clear();
    if (functions == nullptr || reinterpret_cast<GetVersion>(functions[GET_VERSION])() != VERSION) return nullptr;
    return reinterpret_cast<Empty>(functions[EMPTY]);
}

}  // namespace

PyObject *new_array(int ndim, const Py_ssize_t *shape, PyObject *dtype) {
    static const Empty known = find_empty();
    if (known != nullptr) return known(ndim, shape, Py_NewRef(dtype), 0);
    const nb::object lengths = nb::steal(PyTuple_New(ndim));
    for (int i = 0; lengths.is_valid() && i < ndim; ++i)
        PyTuple_SetItem(lengths.ptr(), i, PyLong_FromSsize_t(shape[i]));
    if (!lengths.is_valid()) return nullptr;
    static PyObject *const empty = nb::object(nb::module_::import_("numpy").attr("empty")).release().ptr();
    PyObject *args[] = {lengths.ptr(), dtype};
    return PyObject_Vectorcall(empty, args, 2, nullptr);
}

PyObject *new_array_like(PyObject *array, PyObject *dtype) {
    static PyObject *const empty_like = nb::object(nb::module_::import_("numpy").attr("empty_like")).release().ptr();
    const nb::str order("K");
    PyObject *args[] = {array, dtype, order.ptr(), Py_False};
    return PyObject_Vectorcall(empty_like, args, 4, nullptr);
}

}  // namespace promoarray
