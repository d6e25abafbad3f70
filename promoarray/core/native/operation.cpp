// An operation that was met before: operands, executable, buffers, kernel, array. Python calls it as
// a method or a function; what it does not know goes to a Python function, `slow`.
#include <algorithm>
#include <cstring>
#include <vector>

#include "../../kernels/cpu/float_state.h"
#include "operator.h"

namespace promoarray {
namespace {

// The arguments of a call: operands in the order of the operation, and values of its options.
struct Arguments {
    Ref operands[MOST] = {Ref(nullptr), Ref(nullptr), Ref(nullptr)};
    Py_ssize_t count = 0;
    PyObject *condition = nullptr;  // an array
    PyObject *options[MOST_OPTIONS] = {};

    void add(PyObject *operand) { operands[count++] = Ref::to(operand); }
};

// Whether an option is one of Python's own values: no array, no number of NumPy's, and of texts
// one of those that the function takes.
bool is_plain(const FastOperator *self, PyObject *value) {
    const PyTypeObject *type = Py_TYPE(value);
    if (value == Py_None || type == &PyBool_Type || type == &PyLong_Type || type == &PyFloat_Type ||
        type == &PyTuple_Type)
        return true;
    if (type != &PyUnicode_Type) return false;
    for (Py_ssize_t i = 0; i < PyTuple_Size(self->parts[TEXTS]); ++i)
        if (PyUnicode_Compare(value, PyTuple_GetItem(self->parts[TEXTS], i)) == 0) return true;
    return false;
}

// Take the items of a list or tuple as operands; false if there are too many, or none.
bool take_items(Arguments &taken, PyObject *given) {
    const bool is_list = PyList_CheckExact(given);
    if (!is_list && !PyTuple_CheckExact(given)) return false;
    const Py_ssize_t count = is_list ? PyList_Size(given) : PyTuple_Size(given);
    if (count < 1 || count > MOST) return false;
    for (Py_ssize_t i = 0; i < count; ++i) {
#ifdef Py_GIL_DISABLED
        if (is_list) {
            PyObject *item = PyList_GetItemRef(given, i);
            if (item == nullptr) return PyErr_Clear(), false;  // another thread took it out
            taken.operands[taken.count++] = Ref(item);
            continue;
        }
#endif
        taken.add(is_list ? PyList_GetItem(given, i) : PyTuple_GetItem(given, i));
    }
    return true;
}

// Options by name; false if one is unknown, or for the long way to look at.
bool take_options(const FastOperator *self, Arguments &taken, PyObject *const *values,
                  PyObject *names, PyObject *&dtype) {
    const Py_ssize_t known = PyTuple_Size(self->parts[DEFAULTS]);
    for (Py_ssize_t i = 0; i < known; ++i)
        taken.options[i] = PyTuple_GetItem(self->parts[DEFAULTS], i);
    const Py_ssize_t given = names != nullptr ? PyTuple_Size(names) : 0;
    for (Py_ssize_t k = 0; k < given; ++k) {
        if (self->typed && self->is(DTYPE_NAME, PyTuple_GetItem(names, k))) {
            PyObject *asked = self->asked_for(values[k]);
            if (asked == nullptr) return false;
            dtype = asked == Py_None ? nullptr : asked;
            continue;
        }
        Py_ssize_t at = 0;
        while (at < known && PyTuple_GetItem(self->parts[OPTION_NAMES], at) != PyTuple_GetItem(names, k))
            ++at;
        if (at == known || !is_plain(self, values[k])) return false;
        taken.options[at] = values[k];
    }
    return true;
}

bool take_arguments(const FastOperator *self, Arguments &taken, PyObject *const *args,
                    Py_ssize_t count, PyObject *names) {
    PyObject *dtype = nullptr;
    if (!take_options(self, taken, args + count, names, dtype)) return false;
    if (self->sequence) return count == 1 && take_items(taken, args[0]);
    if (self->conditional && count-- > 0) taken.condition = *args++;
    if (count < 1 || count + (dtype != nullptr) > MOST) return false;
    for (Py_ssize_t i = 0; i < count; ++i) taken.add(args[self->reflected ? count - 1 - i : i]);
    if (dtype != nullptr) taken.add(dtype);
    return true;
}

// The class of the result: of the operand whose method this is, or of the first array of a function;
// of the operator itself if it is bound to one. Null if none of them is an array.
PyTypeObject *class_of(const FastOperator *self, const Arguments &given) {
    PyTypeObject *cls = nullptr;
    if (!self->is(ADOPTS, Py_None)) {
        cls = reinterpret_cast<PyTypeObject *>(self->parts[ADOPTS]);
    } else {
        const Py_ssize_t own = self->reflected ? given.count - 1 : 0;
        cls = Py_TYPE(given.operands[own].get());
        for (Py_ssize_t i = 0; i < given.count && !self->is_array(cls); ++i)
            cls = Py_TYPE(given.operands[i].get());
    }
    return self->is_array(cls) && (self->is(BOUND, Py_None) || self->is(BOUND, cls)) ? cls : nullptr;
}

// The back end of the buffers among operands and a mask, null for NumPy's; false if there are two
// classes of them, or one that no back end is known of.
bool one_backend(const FastOperator *self, const Read *given, Py_ssize_t count, const Read &mask,
                 Ref *backend) {
    PyTypeObject *held = nullptr;
    for (Py_ssize_t i = 0; i <= count; ++i) {
        const Ref &buffer = i < count ? given[i].buffer : mask.buffer;
        if (!buffer) continue;
        if (held != nullptr && held != Py_TYPE(buffer.get())) return false;
        held = Py_TYPE(buffer.get());
    }
    if (held == nullptr || self->is(NDARRAY, held)) return true;
    *backend = item_of(self->parts[BACKENDS], reinterpret_cast<PyObject *>(held));
    return *backend && backend->get() != Py_None;
}

constexpr Py_ssize_t MUCH = 1 << 17;  // bytes; over more, executables write as they go

// Where an array lies that is in rows; null of others.
const ArrayFields *in_rows(PyObject *buffer, int wanted = 0) {
    const ArrayFields *array = fields_of(buffer);
    wanted |= IN_ROWS;
    return array != nullptr && (array->flags & wanted) == wanted ? array : nullptr;
}

Py_ssize_t bytes_of(const ArrayFields &array) { return elements_of(array) * array.dtype->item; }

// Write a result over an array; false, and nothing is written, if it is of another shape.
bool write(const ArrayFields &target, const ArrayFields *result) {
    const bool same = result != nullptr && result->ndim == target.ndim &&
                      result->dtype->item == target.dtype->item &&
                      std::equal(target.shape, target.shape + target.ndim, result->shape);
    if (same) std::memmove(target.data, result->data, static_cast<std::size_t>(bytes_of(target)));
    return same;
}

// Run an executable whose result is written over the first operand, which is returned.
bool run_into(const FastOperator *self, const Ref &executable, PyObject **buffers, Py_ssize_t count,
              PyObject *first, PyObject **result) {
    const ArrayFields *target = in_rows(buffers[0], WRITABLE);
    if (target == nullptr || bytes_of(*target) > MUCH) return false;
    const Ref out = run(self, executable, buffers, count, nullptr);
    if (!out && is_told_better()) return PyErr_Clear(), false;
    if (out && !write(*target, in_rows(out.get()))) return false;
    *result = out ? Py_NewRef(first) : nullptr;
    return true;
}

// What the bits of an array mean from now on.
void set_type(PyObject *array, PyObject *type) {
    auto *slots = reinterpret_cast<ArraySlots *>(array);
#ifdef Py_GIL_DISABLED
    Py_BEGIN_CRITICAL_SECTION(array);  // as the members are set in one
#endif
    PyObject *old = slots->type;
    slots->type = Py_NewRef(type);
    Py_XDECREF(old);
#ifdef Py_GIL_DISABLED
    Py_END_CRITICAL_SECTION();
#endif
}

// A tuple of new arrays; of what is known of them, `types` has all.
PyObject *wrap_all(PyTypeObject *cls, const Ref &buffers, PyObject *first, PyObject *extra,
                   PyObject *types) {
    const Py_ssize_t count = 1 + PyTuple_Size(extra);
    Ref made(PyTuple_Size(buffers.get()) == count ? PyTuple_New(count) : nullptr);
    for (Py_ssize_t i = 0; made && i < count; ++i) {
        Ref buffer = Ref::to(PyTuple_GetItem(buffers.get(), i));
        PyObject *own = types != nullptr ? PyTuple_GetItem(types, i)
                                         : i == 0 ? first : PyTuple_GetItem(extra, i - 1);
        PyObject *array = wrap(cls, buffer, own);
        if (array == nullptr) return nullptr;
        PyTuple_SetItem(made.get(), i, array);
    }
    return made.release();
}

// False if the long way has to be taken; else there is a result, null with the error set.
bool fast_path(FastOperator *self, const Arguments &args, PyObject **result) {
    *result = nullptr;
    // 1. What the operands are, and whether all of that is known.
    PyTypeObject *cls = class_of(self, args);
    if (cls == nullptr) return false;
    const bool observed = self->is_observed();
    Read given[MOST], mask;
    PyObject *operands[MOST] = {};
    for (Py_ssize_t i = 0; i < args.count; ++i) {
        operands[i] = args.operands[i].get();
        given[i] = read(self, operands[i], cls, Library::ANY);
        if (!given[i].key) return PyErr_Occurred() != nullptr;
        if (given[i].is_adopted && observed) return false;  // whose observer hears of arrays of ours
    }
    if (args.condition != nullptr) {
        mask = read(self, args.condition, cls, Library::ANY);
        if (!mask.buffer || !self->is(BOOL, mask.key.get())) return false;
    }
    Ref backend(nullptr);
    if (!one_backend(self, given, args.count, mask, &backend)) return false;
    if (backend && observed) return false;

    // 2. The executable for it.
    const Ref policy = policy_in_force(self, cls);
    if (!policy) return PyErr_Occurred() != nullptr;
    for (Py_ssize_t i = 0; i < args.count; ++i)
        if (given[i].is_adopted && !canonicalize(self, policy, given[i])) return PyErr_Occurred() != nullptr;
    Ref known(nullptr), executable(nullptr);
    if (observed) {
        known = known_of(self, policy.get(), operands, given, args.count);
        if (known) executable = Ref::to(PyTuple_GetItem(known.get(), KNOWN_EXECUTABLE));
    } else {
        executable = executable_of(self, policy.get(), operands, given, args.count, backend.get());
    }
    if (!executable) return PyErr_Occurred() != nullptr;

    // 3. The buffers, of Python scalars too, and the options.
    PyObject *passed[MOST + MOST_OPTIONS];
    Py_ssize_t count = 0;
    PyObject *scalars = field(executable, SCALARS);
    if (PyTuple_Size(scalars) != args.count) return false;
    for (Py_ssize_t i = 0; i < args.count; ++i) {
        Ref &buffer = given[i].buffer;
        // An array of the dtype that is asked for is looked up by the same.
        if (given[i].is_dtype != (PyTuple_GetItem(scalars, i) == Py_Ellipsis)) return false;
        if (given[i].is_dtype) continue;
        if (!buffer) buffer = scalar_buffer(self, executable, i, operands[i]);
        if (!buffer) return true;
        if (PyTuple_Check(buffer.get())) {  // the executable for an int that no value reaches
            if (known) return false;
            executable = std::move(buffer);
            scalars = field(executable, SCALARS);
            buffer = scalar_buffer(self, executable, i, operands[i]);
            if (!buffer) return true;
        }
        if (buffer.get() == Py_None) return false;
        passed[count++] = buffer.get();
    }
    PyObject *names = self->parts[PASSED_NAMES];
    const Py_ssize_t options = PyTuple_Size(names);
    for (Py_ssize_t k = 0; k < options; ++k) passed[count + k] = args.options[k];
    if (args.condition != nullptr) passed[count + options - 1] = mask.buffer.get();

    // 4. The kernel where it does it all, else the executable's own way.
    PyObject *types = known ? PyTuple_GetItem(known.get(), KNOWN_TYPES) : nullptr;
    if (field(executable, INTO) == Py_True) {
        if (backend) return false;  // whose memory is not written from here
        if (!run_into(self, executable, passed, count, operands[0], result)) return false;
        if (known && *result != nullptr) {
            set_type(*result, PyTuple_GetItem(types, 0));
            if (!tell(known)) Py_CLEAR(*result);
        }
        return true;
    }
    Ref out = run(self, executable, passed, count, options != 0 ? names : nullptr, backend.get());
    if (!out && is_told_better()) return PyErr_Clear(), false;
    if (!out) return true;

    // 5. The array, or several.
    PyObject *own = types ? PyTuple_GetItem(types, 0) : field(executable, RESULT);
    PyObject *extra = field(executable, EXTRA_RESULTS);
    *result = PyTuple_Size(extra) == 0 ? wrap(cls, out, own) : wrap_all(cls, out, own, extra, types);

    // 6. The observer is told.
    if (known && *result != nullptr && !tell(known)) Py_CLEAR(*result);
    return true;
}

}  // namespace

PyObject *operation_call(PyObject *object, PyObject *const *args, std::size_t nargs,
                         PyObject *names) {
    FastOperator *self = operator_of(object);
    const FloatStateGuard state;  // for NumPy's kernels and casts, and the long way
    Arguments taken;
    PyObject *result;
    if (take_arguments(self, taken, args, PyVectorcall_NARGS(nargs), names) &&
        fast_path(self, taken, &result))
        return result;
    return PyObject_Vectorcall(self->parts[SLOW], args, nargs, names);
}

namespace {

// More arrays in a list or tuple than operations have operands: all of one class, over NumPy's buffers.
// False if the long way has to be taken; else there is a result, null with the error set.
bool join(FastOperator *self, const Ref &items, Arguments &taken, PyObject **result) {
    *result = nullptr;
    const Py_ssize_t count = PyTuple_Size(items.get());
    PyTypeObject *cls = Py_TYPE(PyTuple_GetItem(items.get(), 0));
    if (!self->is_array(cls) || (!self->is(BOUND, Py_None) && !self->is(BOUND, cls))) return false;
    std::vector<Read> given(count);
    std::vector<PyObject *> arrays(count), passed(count + MOST_OPTIONS);
    for (Py_ssize_t i = 0; i < count; ++i) {
        arrays[i] = PyTuple_GetItem(items.get(), i);
        if (Py_TYPE(arrays[i]) != cls) return false;
        given[i] = read(self, arrays[i], cls);
        if (!given[i].key) return PyErr_Occurred() != nullptr;
        passed[i] = given[i].buffer.get();
    }
    const Ref policy = policy_in_force(self, cls);
    const Ref executable =
        policy ? executable_of(self, policy.get(), arrays.data(), given.data(), count) : Ref(nullptr);
    if (!executable) return PyErr_Occurred() != nullptr;
    PyObject *names = self->parts[PASSED_NAMES];
    for (Py_ssize_t k = 0; k < PyTuple_Size(names); ++k) passed[count + k] = taken.options[k];
    Ref out = run(self, executable, passed.data(), count, names);
    if (!out && is_told_better()) return PyErr_Clear(), false;
    if (out) *result = wrap(cls, out, field(executable, RESULT));
    return true;
}

}  // namespace

PyObject *sequence_call(PyObject *object, PyObject *const *args, std::size_t nargs, PyObject *names) {
    FastOperator *self = operator_of(object);
    const Py_ssize_t count = PyVectorcall_NARGS(nargs);
    if (count == 1 && !self->is_observed() && (PyList_CheckExact(args[0]) || PyTuple_CheckExact(args[0])) &&
        PyObject_Size(args[0]) > MOST) {
        const FloatStateGuard state;
        Arguments taken;
        PyObject *dtype = nullptr, *result = nullptr;
        const Ref items(PySequence_Tuple(args[0]));  // which nobody changes
        if (!items) return nullptr;
        if (PyTuple_Size(items.get()) > MOST && take_options(self, taken, args + count, names, dtype) &&
            join(self, items, taken, &result))
            return result;
    }
    return operation_call(object, args, nargs, names);
}

// `__array_ufunc__(self, ufunc, method, *inputs)` of a ufunc that is an operation.
PyObject *ufunc_call(PyObject *object, PyObject *const *args, std::size_t nargs, PyObject *names) {
    FastOperator *self = operator_of(object);
    const FloatStateGuard state;
    const Py_ssize_t inputs = PyVectorcall_NARGS(nargs) - 3;
    if (inputs > 0 && inputs <= MOST && names == nullptr && PyUnicode_Check(args[2]) &&
        PyUnicode_CompareWithASCIIString(args[2], "__call__") == 0) {
        Arguments taken;
        for (Py_ssize_t i = 0; i < inputs; ++i) taken.add(args[3 + i]);
        PyObject *result = nullptr;
        const Ref meant = item_of(self->parts[UFUNCS], args[1]);
        if (meant && fast_path(operator_of(meant.get()), taken, &result)) return result;
        if (PyErr_Occurred()) return nullptr;
    }
    return PyObject_Vectorcall(self->parts[SLOW], args, nargs, names);
}

}  // namespace promoarray
