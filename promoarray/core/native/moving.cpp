// What moves values, and what else no policy plans: a callable of buffers, kept for arrays of some
// types and ranks and for what is given beside them. Nobody observes it.
#include "../../kernels/cpu/float_state.h"
#include "operator.h"

namespace promoarray {
namespace {

// Whether an argument is known by its value; `is_plain` (move.py) says the same.
bool is_plain(PyObject *value) {
    const PyTypeObject *type = Py_TYPE(value);
    if (value == Py_None || type == &PyLong_Type || type == &PyBool_Type || type == &PyUnicode_Type)
        return true;
    if (type != &PyTuple_Type) return false;
    for (Py_ssize_t i = 0; i < PyTuple_Size(value); ++i)
        if (!PyLong_CheckExact(PyTuple_GetItem(value, i))) return false;
    return true;
}

// The arrays that a call begins with, all of one class, known by their dtypes also where a report
// adds to those; how many, or -1 with an error, and 0 where that is not known.
Py_ssize_t take_arrays(const FastOperator *self, PyObject *const *args, Py_ssize_t count, Read *given) {
    PyTypeObject *cls = Py_TYPE(args[0]);
    if (!self->is_array(cls) || (!self->is(BOUND, Py_None) && !self->is(BOUND, cls))) return 0;
    Py_ssize_t taken = 0;
    for (; taken < count && taken < MOST && Py_TYPE(args[taken]) == cls; ++taken) {
        given[taken] = read(self, args[taken], cls);
        const Read &array = given[taken];
        if (!array.key) return 0;
        if (self->is(DTYPE_CLASS, Py_TYPE(array.type.get()))) continue;
        const Ref type(PyObject_GetAttr(array.type.get(), self->parts[DTYPE_NAME]));
        if (!type) return -1;
        given[taken].key = key_of_array(self, type, array.buffer);
        if (!given[taken].key) return 0;
    }
    return taken;
}

// What tells calls apart on arrays of the same types; null without an error where nothing is kept.
Ref key_of(const FastOperator *self, const Read *given, Py_ssize_t arrays, PyObject *const *beside,
           Py_ssize_t count, PyObject *names) {
    for (Py_ssize_t i = 0; i < count; ++i)
        if (!is_plain(beside[i])) return Ref(nullptr);
    Ref key(PyTuple_New(arrays + count + 1));
    for (Py_ssize_t i = 0; key && i < arrays; ++i) {
        const Py_ssize_t rank = rank_of(self, given[i].buffer.get());
        if (rank < 0) return Ref(nullptr);
        PyTuple_SetItem(key.get(), i, PyLong_FromSsize_t(rank));
    }
    for (Py_ssize_t i = 0; key && i < count; ++i)
        PyTuple_SetItem(key.get(), arrays + i, Py_NewRef(beside[i]));
    if (key) PyTuple_SetItem(key.get(), arrays + count, Py_NewRef(names != nullptr ? names : Py_None));
    return key;
}

// The types of the results: one of all, or where `type` is `...` those of the arrays, one of each.
PyObject *wrap_each(const FastOperator *self, PyObject *const *arrays, const Ref &buffers, PyObject *type) {
    PyTypeObject *cls = Py_TYPE(arrays[0]);
    const Py_ssize_t count = PyTuple_Size(buffers.get());
    Ref made(PyTuple_New(count));
    for (Py_ssize_t i = 0; made && i < count; ++i) {
        Ref buffer = Ref::to(PyTuple_GetItem(buffers.get(), i));
        const Ref own = type == Py_Ellipsis ? read(self, arrays[i], cls).type : Ref::to(type);
        PyObject *array = wrap(cls, buffer, own.get());
        if (array == nullptr) return nullptr;
        PyTuple_SetItem(made.get(), i, array);
    }
    return made.release();
}

// False if the long way has to be taken; else there is a result, null with the error set.
bool move(FastOperator *self, PyObject *const *args, Py_ssize_t count, PyObject *names,
          PyObject **result) {
    *result = nullptr;
    // 1. The arrays, and whether all else is known by its value.
    Read given[MOST];
    const Py_ssize_t arrays = take_arrays(self, args, count, given);
    if (arrays < 1) return arrays < 0;
    const Py_ssize_t beside = count - arrays + (names != nullptr ? PyTuple_Size(names) : 0);
    const Ref key = key_of(self, given, arrays, args + arrays, beside, names);
    if (!key) return PyErr_Occurred() != nullptr;

    // 2. What is kept for it.
    PyTypeObject *cls = Py_TYPE(args[0]);
    const Ref policy = policy_in_force(self, cls);
    const Ref choice = policy ? kept_of(self, policy.get(), given, arrays) : Ref(nullptr);
    if (!choice) return PyErr_Occurred() != nullptr;
    const Ref executable = item_of(PyTuple_GetItem(choice.get(), CHOICE_KEPT), key.get());
    if (!executable) return PyErr_Occurred() != nullptr;

    // 3. The buffers that it makes, as arrays.
    PyObject *buffers[MOST];
    for (Py_ssize_t i = 0; i < arrays; ++i) buffers[i] = given[i].buffer.get();
    Ref out(PyObject_Vectorcall(field(executable, RUN), buffers, arrays, nullptr));
    if (!out && is_told_better()) return PyErr_Clear(), false;
    if (!out) return true;
    const Read first = read(self, args[0], cls);
    PyObject *type = field(executable, RESULT) != Py_None ? field(executable, RESULT) : first.type.get();
    *result = PyTuple_CheckExact(out.get()) ? wrap_each(self, args, out, type) : wrap(cls, out, type);
    return true;
}

}  // namespace

PyObject *move_call(PyObject *object, PyObject *const *args, std::size_t nargs, PyObject *names) {
    FastOperator *self = operator_of(object);
    const FloatStateGuard state;  // for casts of indices, and what is compared with zero
    const Py_ssize_t count = PyVectorcall_NARGS(nargs);
    PyObject *result;
    if (count > 0 && move(self, args, count, names, &result)) return result;
    return PyObject_Vectorcall(self->parts[SLOW], args, nargs, names);
}

}  // namespace promoarray
