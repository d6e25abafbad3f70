// What operands are, and the executable that was compiled for such: its key is the operation's name
// and a part for each operand, as `executable_cache.py:key_part` has it.
#include <utility>

#include "operator.h"

namespace promoarray {
namespace {

PyTypeObject *const NUMBERS[] = {&PyBool_Type, &PyLong_Type, &PyFloat_Type, &PyComplex_Type};
constexpr int KINDS = sizeof NUMBERS / sizeof *NUMBERS;

// Which kind of Python number it is; KINDS of none.
int kind_of(PyObject *number) {
    int kind = 0;
    while (kind < KINDS && Py_TYPE(number) != NUMBERS[kind]) ++kind;
    return kind;
}

constexpr int MOST_NESTED = 32;  // lists in lists

// Whether an int is beyond 64 bits, of which some policies make floats and some nothing.
bool is_long(PyObject *number) {
    int beyond;
    PyLong_AsLongLongAndOverflow(number, &beyond);
    return beyond != 0;
}

// Which kinds of numbers there are in nested lists and tuples, as bits; that of KINDS if something
// else is among them, or a long int. Without a GIL another thread may change a list meanwhile.
int kinds_in(PyObject *data, int depth) {
    const bool is_list = PyList_CheckExact(data);
    if (!is_list && !PyTuple_CheckExact(data))
        return 1 << (PyLong_CheckExact(data) && is_long(data) ? KINDS : kind_of(data));
    if (depth == MOST_NESTED) return 1 << KINDS;
#ifdef Py_GIL_DISABLED
    if (is_list) return 1 << KINDS;
#endif
    int kinds = 0;
    const Py_ssize_t count = is_list ? PyList_Size(data) : PyTuple_Size(data);
    for (Py_ssize_t i = 0; i < count && kinds < 1 << KINDS; ++i)
        kinds |= kinds_in(is_list ? PyList_GetItem(data, i) : PyTuple_GetItem(data, i), depth + 1);
    return kinds;
}

// An array without axes is another operand than one that has some.
void tell_rank(Operand &array) {
    if (array.key && rank_of(array.buffer.get()) == 0)
        array.key = Ref(PyTuple_Pack(2, array.key.get(), Py_None));
}

// An array of ours: its buffer, if it is NumPy's, and its type.
void read_array(PyObject *given, Operand &out) {
    auto *array = reinterpret_cast<ArraySlots *>(given);
#ifdef Py_GIL_DISABLED
    Py_BEGIN_CRITICAL_SECTION(given);  // as the members are set in one
#endif
    if (array->buffer != nullptr && array->type != nullptr &&
        reinterpret_cast<PyObject *>(Py_TYPE(array->buffer)) == python.ndarray) {
        out.type = Ref::to(array->type);
        out.buffer = Ref::to(array->buffer);
    }
#ifdef Py_GIL_DISABLED
    Py_END_CRITICAL_SECTION();
#endif
    if (!out.type) return;
    out.key = Ref::to(out.type.get());
    for (PyObject *weak : python.weak) {
        if (weak != out.type.get()) continue;
        const Ref stored(PyObject_GetAttr(out.buffer.get(), names_of.dtype));
        out.key = Ref(stored ? PyTuple_Pack(2, out.type.get(), stored.get()) : nullptr);
    }
    tell_rank(out);
}

constexpr Py_ssize_t MOST_JOINED = 8;  // arrays of a list that are known by their types

// The types of the arrays in a list; null of anything else.
Ref types_in(PyObject *data, PyTypeObject *cls) {
#ifdef Py_GIL_DISABLED
    return Ref(nullptr);  // another thread may change it meanwhile
#endif
    const bool is_list = PyList_CheckExact(data);
    const Py_ssize_t count = is_list ? PyList_Size(data) : PyTuple_Size(data);
    Ref types(count <= MOST_JOINED ? PyTuple_New(count) : nullptr);
    for (Py_ssize_t i = 0; types && i < count; ++i) {
        PyObject *item = is_list ? PyList_GetItem(data, i) : PyTuple_GetItem(data, i);
        Operand array;
        if (Py_TYPE(item) == cls) read_array(item, array);
        if (!array.key) return Ref(nullptr);
        PyTuple_SetItem(types.get(), i, array.key.release());
    }
    return types;
}

// An array or a scalar of NumPy's, if the long way has wrapped one of its dtype.
void read_numpys(PyObject *given, bool makes, Operand &out) {
    const bool is_array = reinterpret_cast<PyObject *>(Py_TYPE(given)) == python.ndarray;
    if (!is_array && !item_of(python.adopted, reinterpret_cast<PyObject *>(Py_TYPE(given)))) return;
    out.buffer = is_array ? Ref::to(given)
                          : Ref(PyObject_CallFunctionObjArgs(python.asarray, given, nullptr));
    Ref dtype(out.buffer ? PyObject_GetAttr(out.buffer.get(), names_of.dtype) : nullptr);
    if (!dtype) return;
    if (makes) {
        out.key = std::move(dtype);
    } else {
        out.type = item_of(python.adopted, dtype.get());
        if (out.type) out.key = Ref::to(out.type.get());
        out.is_adopted = true;
    }
    tell_rank(out);
}

// The same for equal values of a number that a policy looks at, or None.
Ref value_class(PyObject *classify, PyObject *value) {
    return classify == Py_None ? Ref::to(Py_None) : call(classify, value);
}

// What tells an operand from others of its type: the class of its value.
Ref told_apart(PyObject *scalar, PyObject *flat, const Operand &operand) {
    if (operand.is_dtype) return Ref::to(Py_None);
    PyObject *buffer = operand.buffer.get();
    if (buffer == nullptr) return value_class(scalar, operand.given);
    const Py_ssize_t rank = flat == Py_None ? 1 : rank_of(buffer);
    if (rank != 0) return rank < 0 ? Ref(nullptr) : Ref::to(Py_None);
    const Ref value(PyObject_VectorcallMethod(names_of.item, &buffer, 1, nullptr));
    return value ? call(flat, value.get()) : Ref(nullptr);
}

bool is_cached(const Ref &found) {
    const auto *type = reinterpret_cast<PyObject *>(Py_TYPE(found.get()));
    if (type == python.choice)
        return PyTuple_Size(found.get()) == CHOICE_FIELDS && PyDict_Check(field(found, CHOICE_CASES));
    return type == python.executable && PyTuple_Size(found.get()) == FIELDS && PyTuple_Check(field(found, SCALARS)) &&
           PyTuple_Check(field(found, EXTRA_RESULTS));
}

}  // namespace

Ref item_of(PyObject *dictionary, PyObject *key) {
#ifdef Py_GIL_DISABLED
    PyObject *found = nullptr;
    PyDict_GetItemRef(dictionary, key, &found);
    return Ref(found);
#else
    return Ref(Py_XNewRef(PyDict_GetItemWithError(dictionary, key)));
#endif
}

PyObject *dtype_named(PyObject *given) {
    PyTypeObject *type = Py_TYPE(given);
    if (reinterpret_cast<PyObject *>(type) == python.dtype_class) return given;
    if (!PyUnicode_CheckExact(given) && !PyType_Check(given) &&
        !PyType_IsSubtype(type, reinterpret_cast<PyTypeObject *>(python.numpy_dtype)))
        return nullptr;
    PyObject *found = PyDict_GetItemWithError(python.named, given);  // which keeps it
    if (found == nullptr) PyErr_Clear();
    return found;
}

Operand read(PyObject *given, PyTypeObject *cls, bool makes) {
    Operand out;
    out.given = given;
    if (Py_TYPE(given) == cls) {
        read_array(given, out);
    } else if (kind_of(given) < KINDS) {
        if (makes && PyLong_CheckExact(given) && is_long(given)) return out;
        out.key = Ref::to(reinterpret_cast<PyObject *>(Py_TYPE(given)));
    } else if (PyObject *dtype = dtype_named(given)) {
        out.key = Ref(PyObject_GetAttr(dtype, names_of.name));
        out.is_dtype = true;
    } else if (!makes || !(PyList_CheckExact(given) || PyTuple_CheckExact(given))) {
        read_numpys(given, makes, out);
    } else {
        const int kinds = kinds_in(given, 0);
        out.key = kinds < 1 << KINDS ? Ref(PyLong_FromLong(kinds)) : types_in(given, cls);
    }
    return out;
}

bool enters_as_it_is(const Ref &policy, const Ref &dtype) {
    const Ref foreign(PyObject_GetAttr(policy.get(), names_of.foreign));
    if (foreign.get() != Py_None) return false;
    const Ref narrowed(PyObject_GetAttr(policy.get(), names_of.canonical));
    return narrowed && PySequence_Contains(narrowed.get(), dtype.get()) == 0;
}

Ref policy_in_force(PyTypeObject *cls) {
    Ref bound(PyObject_GetAttr(reinterpret_cast<PyObject *>(cls), names_of.policy));
    if (!bound || bound.get() != Py_None) return bound;
    Ref here(PyObject_CallNoArgs(python.policy_here));
    if (!here) return here;
    if (here.get() != Py_None) return Ref(Py_XNewRef(PyTuple_GetItem(here.get(), 0)));
    if (PyList_Size(python.default_policy) == 0) return Ref(nullptr);
#ifdef Py_GIL_DISABLED
    return Ref(PyList_GetItemRef(python.default_policy, 0));
#else
    return Ref::to(PyList_GetItem(python.default_policy, 0));
#endif
}

Ref look_up(PyObject *policy, PyObject *name, const Operand *operands, Py_ssize_t count) {
    const Ref executables(PyObject_GetAttr(policy, names_of.executables));
    const Ref key(executables && PyDict_Check(executables.get()) ? PyTuple_New(1 + count) : nullptr);
    if (!key) return Ref(nullptr);
    PyTuple_SetItem(key.get(), 0, Py_NewRef(name));
    for (Py_ssize_t i = 0; i < count; ++i)
        PyTuple_SetItem(key.get(), 1 + i, Py_NewRef(operands[i].key.get()));
    Ref found = item_of(executables.get(), key.get());
    return found && is_cached(found) ? std::move(found) : Ref(nullptr);
}

Ref chosen(const Ref &choice, const Operand *operands, Py_ssize_t count) {
    const Ref key(PyTuple_New(count));
    for (Py_ssize_t i = 0; key && i < count; ++i) {
        Ref part = told_apart(field(choice, CHOICE_SCALAR), field(choice, CHOICE_FLAT), operands[i]);
        if (!part) return part;
        PyTuple_SetItem(key.get(), i, part.release());
    }
    return key ? item_of(field(choice, CHOICE_CASES), key.get()) : Ref(nullptr);
}

Py_ssize_t rank_of(PyObject *buffer) {
    const ArrayFields *array = fields_of(buffer);
    if (array != nullptr) return array->ndim;
    const Ref rank(PyObject_GetAttrString(buffer, "ndim"));
    return rank ? PyLong_AsSsize_t(rank.get()) : -1;
}

Py_ssize_t size_of(PyObject *buffer) {
    const ArrayFields *array = fields_of(buffer);
    if (array != nullptr) return elements_of(*array);
    const Ref size(PyObject_GetAttrString(buffer, "size"));
    return size ? PyLong_AsSsize_t(size.get()) : -1;
}

}  // namespace promoarray
