// What makes arrays of Python's numbers: a shape and what fills it, the ends of a range, or lists of
// them. How an array was made of numbers of the same classes is kept as an executable, which is given
// them.
#include "../../kernels/cpu/float_state.h"
#include "operator.h"

namespace promoarray {
namespace {

PyTypeObject *const NUMBERS[] = {&PyBool_Type, &PyLong_Type, &PyFloat_Type, &PyComplex_Type};
constexpr int KINDS = sizeof NUMBERS / sizeof *NUMBERS;

// Which kind of number of Python's it is; KINDS of none.
int kind_of(PyObject *number) {
    int kind = 0;
    while (kind < KINDS && Py_TYPE(number) != NUMBERS[kind]) ++kind;
    return kind;
}

// The class of the highest kind among numbers, None of none; null if one is no number of Python's.
PyObject *highest(PyObject *const *numbers, Py_ssize_t count) {
    int most = -1;
    for (Py_ssize_t i = 0; i < count; ++i) {
        const int kind = kind_of(numbers[i]);
        if (kind == KINDS) return nullptr;
        if (kind > most) most = kind;
    }
    return most < 0 ? Py_None : reinterpret_cast<PyObject *>(NUMBERS[most]);
}

constexpr int MOST_NESTED = 32;  // lists in lists

// Whether an int is beyond 64 bits, of which some policies make floats and some nothing.
bool is_long(PyObject *number) {
    int beyond;
    PyLong_AsLongLongAndOverflow(number, &beyond);
    return beyond != 0;
}

// Which kinds of numbers there are in nested lists and tuples, as bits; that of KINDS if something
// else is among them, or a long int.
int kinds_in(PyObject *data, int depth) {
    const bool is_list = PyList_CheckExact(data);
    if (!is_list && !PyTuple_CheckExact(data))
        return 1 << (PyLong_CheckExact(data) && is_long(data) ? KINDS : kind_of(data));
    if (depth == MOST_NESTED) return 1 << KINDS;
    int kinds = 0;
    const Py_ssize_t count = is_list ? PyList_Size(data) : PyTuple_Size(data);
    for (Py_ssize_t i = 0; i < count && kinds < 1 << KINDS; ++i)
        kinds |= kinds_in(is_list ? PyList_GetItem(data, i) : PyTuple_GetItem(data, i), depth + 1);
    return kinds;
}

// What is asked for by `dtype=`, the only option; null if it is for the long way to look at.
PyObject *asked_for(const FastOperator *self, PyObject *const *values, PyObject *names) {
    if (names == nullptr) return Py_None;
    const bool alone = PyTuple_Size(names) == 1 && self->is(DTYPE_NAME, PyTuple_GetItem(names, 0));
    return alone ? self->asked_for(values[0]) : nullptr;
}

// An array of a class, of what the executable for a key makes of numbers. False if the long way has
// to be taken; else there is a result, null with the error set.
bool make_by(FastOperator *self, PyTypeObject *cls, const Read *key, Py_ssize_t keys,
             PyObject *const *args, Py_ssize_t count, PyObject **result) {
    const Ref policy = policy_in_force(self, cls);
    Ref found = policy ? executable_of(self, policy.get(), args, key, keys) : Ref(nullptr);
    if (!found) return *result = nullptr, PyErr_Occurred() != nullptr;
    Ref out(PyObject_Vectorcall(field(found, RUN), args, count, nullptr));
    if (!out && PyErr_ExceptionMatches(PyExc_Exception)) return PyErr_Clear(), false;
    if (out.get() == Py_None) return false;
    *result = out ? wrap(cls, out, field(found, RESULT)) : nullptr;
    return true;
}

// False if the long way has to be taken; else there is a result, null with the error set.
bool make(FastOperator *self, PyObject *const *args, Py_ssize_t count, PyObject *names,
          PyObject **result) {
    if (count < 1 || self->is_observed()) return false;
    auto *cls = reinterpret_cast<PyTypeObject *>(self->parts[ADOPTS]);
    PyObject *kind = highest(args + self->shaped, count - self->shaped);
    PyObject *dtype = asked_for(self, args + count, names);
    if (kind == nullptr || dtype == nullptr) return false;
    Read key[2];
    key[0].key = Ref::to(kind);
    key[1].key = Ref::to(dtype);
    return make_by(self, cls, key, 2, args, count, result);
}

// The same of one number, or of a list or tuple of numbers, which may be nested.
bool make_of_data(FastOperator *self, PyObject *const *args, PyObject *names, PyObject **result) {
#ifdef Py_GIL_DISABLED
    return false;  // another thread may change a list meanwhile
#endif
    const bool lone = !PyList_CheckExact(args[0]) && !PyTuple_CheckExact(args[0]);
    if (self->is_observed()) return false;
    const int kinds = kinds_in(args[0], 0);
    PyObject *dtype = kinds != 0 && kinds < 1 << KINDS ? asked_for(self, args + 1, names) : nullptr;
    if (dtype == nullptr) return false;
    int kind = 0;
    while (kinds >> (kind + 1) != 0) ++kind;
    PyTypeObject *const several = kinds == 1 << kind ? &PyList_Type : &PyTuple_Type;
    Read key[3];  // as `keep_data` (made_of_data.py) has it
    key[0].key = Ref::to(lone ? Py_None : reinterpret_cast<PyObject *>(several));
    key[1].key = Ref::to(reinterpret_cast<PyObject *>(NUMBERS[kind]));
    key[2].key = Ref::to(dtype);
    auto *cls = reinterpret_cast<PyTypeObject *>(self->parts[ADOPTS]);
    return make_by(self, cls, key, 3, args, 1, result);
}

constexpr Py_ssize_t MOST_JOINED = 8;  // arrays of a list, as made_of_data.py has it

// The same of a list or tuple of arrays, all of them without axes or all with some.
bool make_of_arrays(FastOperator *self, PyObject *const *args, PyObject *names, PyObject **result) {
#ifdef Py_GIL_DISABLED
    return false;  // another thread may change a list meanwhile
#endif
    const bool is_list = PyList_CheckExact(args[0]);
    if (self->is_observed() || (!is_list && !PyTuple_CheckExact(args[0]))) return false;
    const Py_ssize_t count = is_list ? PyList_Size(args[0]) : PyTuple_Size(args[0]);
    if (count < 1 || count > MOST_JOINED) return false;
    auto *cls = reinterpret_cast<PyTypeObject *>(self->parts[ADOPTS]);
    Read key[MOST_JOINED + 3];  // as `keep_joined` (made_of_data.py) has it
    PyObject *buffers[MOST_JOINED];
    bool is_flat = false;
    for (Py_ssize_t i = 0; i < count; ++i) {
        PyObject *item = is_list ? PyList_GetItem(args[0], i) : PyTuple_GetItem(args[0], i);
        if (Py_TYPE(item) != cls) return false;
        Read &array = key[i + 2] = read(self, item, cls);
        const Py_ssize_t rank = array.key ? rank_of(self, array.buffer.get()) : -1;
        if (rank < 0 || (i > 0 && is_flat != (rank == 0))) return PyErr_Clear(), false;
        is_flat = rank == 0;
        buffers[i] = array.buffer.get();
    }
    PyObject *dtype = asked_for(self, args + 1, names);
    if (dtype == nullptr) return false;
    key[0].key = Ref::to(reinterpret_cast<PyObject *>(&PyList_Type));
    key[1].key = Ref::to(is_flat ? Py_True : Py_False);
    key[count + 2].key = Ref::to(dtype);
    return make_by(self, cls, key, count + 3, buffers, count, result);
}

// An array of which nothing else is made: itself, or of a bound function a new one in its memory. False
// if it is another.
bool make_of_array(FastOperator *self, PyObject *const *args, PyObject *names, PyObject **result) {
    PyTypeObject *cls = Py_TYPE(args[0]);
    if (!self->is(ADOPTS, cls) || self->is_observed()) return false;
    if (asked_for(self, args + 1, names) != Py_None) return false;
    Read x = read(self, args[0], cls);
    const Ref policy = x.key ? policy_in_force(self, cls) : Ref(nullptr);
    const Ref found = policy ? kept_of(self, policy.get(), &x, 1) : Ref(nullptr);
    if (!found) return *result = nullptr, PyErr_Occurred() != nullptr;
    if (field(found, RUN) != Py_None) return false;
    *result = self->is(BOUND, Py_None) ? Py_NewRef(args[0]) : wrap(cls, x.buffer, x.type.get());
    return true;
}

}  // namespace

PyObject *creation_call(PyObject *object, PyObject *const *args, std::size_t nargs,
                        PyObject *names) {
    FastOperator *self = operator_of(object);
    const FloatStateGuard state;
    PyObject *result;
    if (make(self, args, PyVectorcall_NARGS(nargs), names, &result)) return result;
    return PyObject_Vectorcall(self->parts[SLOW], args, nargs, names);
}

PyObject *data_call(PyObject *object, PyObject *const *args, std::size_t nargs, PyObject *names) {
    FastOperator *self = operator_of(object);
    const bool copies_where_needed = names != nullptr && PyTuple_Size(names) == 1 &&
                                     self->is(COPY_NAME, PyTuple_GetItem(names, 0)) &&
                                     args[PyVectorcall_NARGS(nargs)] == Py_None;
    if (copies_where_needed) names = nullptr;  // as if it were not said
    PyObject *result;
    {
        const FloatStateGuard state;
        if (PyVectorcall_NARGS(nargs) == 1 && (make_of_array(self, args, names, &result) ||
                                               make_of_arrays(self, args, names, &result) ||
                                               make_of_data(self, args, names, &result)))
            return result;
    }
    return operation_call(object, args, nargs, names);
}

}  // namespace promoarray
