// FastOperator: an operation whose executables were met before. What is known of an operation is in
// `policy.executables`; nothing here decides a dtype.
#pragma once

#include "../../kernels/cpu/numpy_array.h"
#include "array_slots.h"
#include "cache.h"

namespace promoarray {

// What an operator is made of: what all share, which a `Shared` has, then its own.
enum Part {
    OBSERVERS, EVERYWHERE, HERE, LONE_OBSERVER, POLICY_HERE, DEFAULT_POLICY, NDARRAY, ASARRAY,
    ARRAY_SLOTS, DTYPE_CLASS, BOOL, IN_PARTS, BACKENDS, WEAK_BOOL, WEAK_INT, WEAK_FLOAT,
    WEAK_COMPLEX, STORED, ADOPTED, UFUNCS, NAMED, NUMPY_DTYPE, SCALAR_CASTER, GUARDING, UFUNC,
    ARRAY_OPTION,
    GIVEN, METHOD = GIVEN, POLICY_NAME, EXECUTABLES_NAME, ASTYPE_NAME, SHAPE_NAME, SIZE_NAME,
    NDIM_NAME, RESHAPE_NAME, ITEM_NAME, DTYPE_NAME, COPY_NAME, COPIES_NAME, REPEATS_NAME,
    QUICK_NAME, CANONICAL_NAME, NAME_NAME,
    SHARED, SLOW = SHARED, NAME, OPTION_NAMES, PASSED_NAMES, DEFAULTS, TEXTS, BOUND, ADOPTS,
    DICT,  // __name__, __doc__, __wrapped__, as functools.wraps sets them
    PARTS
};

// The fields of an Executable (executable.py), a named tuple, in its order.
enum Field { RUN, SCALARS, RESULT, EXTRA_RESULTS, KERNEL, WIDEN, INTO, FIELDS };
constexpr const char *FIELD_NAMES[FIELDS] = {"run",    "scalars", "result", "extra_results",
                                             "kernel", "widen",   "into"};

inline PyObject *field(const Ref &executable, Field which) {
    return PyTuple_GetItem(executable.get(), which);
}

// The fields of a Choice (executable.py), a named tuple, in its order.
enum ChoiceField { CHOICE_SCALAR, CHOICE_FLAT, CHOICE_KEPT, CHOICE_FIELDS };
constexpr const char *CHOICE_FIELD_NAMES[CHOICE_FIELDS] = {"scalar", "flat", "kept"};

// The fields of a Known (repeats.py), a named tuple, in its order.
enum KnownField { KNOWN_EXECUTABLE, KNOWN_TYPES, KNOWN_TELL, KNOWN_TALLY, KNOWN_FIELDS };
constexpr const char *KNOWN_FIELD_NAMES[KNOWN_FIELDS] = {"executable", "types", "tell", "tally"};

constexpr Py_ssize_t MOST = 3;          // operands, but for arrays in a list
constexpr Py_ssize_t MOST_OPTIONS = 4;  // what an operation takes besides

struct FastOperator {
    PyObject_HEAD
    vectorcallfunc call;
    int reflected;    // the operands stand in the other order
    int conditional;  // a mask comes first, and is the option `condition`
    int sequence;     // the operands come in a list or tuple
    int typed;        // the dtype that is asked for by `dtype=` is an operand, as that of astype
    int shaped;       // a shape comes before the numbers that arrays are made of
    PyObject *parts[PARTS];
    PyObject *weak;     // references, as functions of Python's have them
    Cache executables;  // (policy, up to three operands), as `read` names operands
    Cache scalars;      // (executable, operand's converter, scalar): the 0-d buffer
    Cache sorts;        // (what tells values apart, the same, scalar): its sort
    mutable CacheOf<8> stored;  // (weak type, NumPy's dtype): what arrays of both are looked up by

    bool is(Part part, const void *object) const { return object == parts[part]; }
    bool is_array(PyTypeObject *type) const {
        return PyType_IsSubtype(type, reinterpret_cast<PyTypeObject *>(parts[ARRAY_SLOTS]));
    }
    // The dtype of ours that something is or names; null if it is none, or was not read before.
    PyObject *dtype_of(PyObject *given) const {
        PyTypeObject *type = Py_TYPE(given);
        if (is(DTYPE_CLASS, type)) return given;
        if (!PyUnicode_CheckExact(given) && !PyType_Check(given) &&
            !PyType_IsSubtype(type, reinterpret_cast<PyTypeObject *>(parts[NUMPY_DTYPE])))
            return nullptr;
        PyObject *found = PyDict_GetItemWithError(parts[NAMED], given);  // which keeps it
        if (found == nullptr) PyErr_Clear();
        return found;
    }
    // What is asked for by `dtype=`: a dtype of ours or None; null if the fast path does not know.
    PyObject *asked_for(PyObject *dtype) const {
        return dtype == Py_None ? dtype : dtype_of(dtype);
    }
    // Whether a type is one of those that leave open what an array is stored in.
    bool is_weak(PyObject *type) const {
        return is(WEAK_FLOAT, type) || is(WEAK_INT, type) || is(WEAK_COMPLEX, type) ||
               is(WEAK_BOOL, type);
    }
    bool is_observed() const { return PyList_Size(parts[OBSERVERS]) != 0; }
};

inline FastOperator *operator_of(PyObject *object) {
    return reinterpret_cast<FastOperator *>(object);
}

// An operand: what an executable is looked up by, which is the type of an array, with what it is
// stored in where the type is weak, the class of a scalar or a dtype itself; and the type and the
// buffer of an array. The key is null for all that is not the fast path's business.
struct Read {
    Ref key = Ref(nullptr), type = Ref(nullptr), buffer = Ref(nullptr);
    bool is_dtype = false;
    bool is_adopted = false;  // an array or a scalar of NumPy's, as `wrap` (operands.py) wraps it
};

// Whose arrays the buffers of operands may be.
enum class Library { NUMPY, ANY };

// --- lookup.cpp ----------------------------------------------------------------------------------

// A new reference to what a dictionary has; null without an error if that is nothing.
Ref item_of(PyObject *dictionary, PyObject *key);
// What an array of a type is looked up by; null without an error if that cannot be told.
Ref key_of_array(const FastOperator *self, const Ref &type, const Ref &buffer);
Read read(const FastOperator *self, PyObject *operand, PyTypeObject *cls,
          Library library = Library::NUMPY);
// An adopted operand as the policy holds it, as `canonicalize` (operands.py) says; false if the long
// way has to be taken, or with the error.
bool canonicalize(const FastOperator *self, const Ref &policy, Read &given);
// The policy that decides for arrays of a class; null without an error if there is none yet.
Ref policy_in_force(const FastOperator *self, PyTypeObject *cls);
// What `policy.executables` has for the types of operands of a back end, null for NumPy's: an
// Executable or a Choice; null without an error if that is nothing.
Ref kept_of(FastOperator *self, PyObject *policy, const Read *given, Py_ssize_t count,
            PyObject *backend = nullptr);
// The executable for operands; null without an error if there is none.
Ref executable_of(FastOperator *self, PyObject *policy, PyObject *const *operands,
                  const Read *given, Py_ssize_t count, PyObject *backend = nullptr);
// A Python scalar as the buffer an executable takes; None where the long way has to be asked.
Ref scalar_buffer(FastOperator *self, const Ref &executable, Py_ssize_t index, PyObject *value);

// --- keys.cpp ------------------------------------------------------------------------------------

// The key of `x[key]` as NumPy takes it; null where the long way has to be asked, or with the error.
struct Key {
    Ref native = Ref(nullptr);
    bool has_arrays = false;      // index arrays or masks
    bool has_masks_alone = true;  // and no index arrays
    bool is_ints = true;          // and nothing else
    bool always_picks = true;     // something of any array that has elements
};
Key key_of(FastOperator *self, PyTypeObject *cls, const Read &x, PyObject *key);

// --- heard.cpp -----------------------------------------------------------------------------------

// What is done for the one observer here with an operation that it has heard of: a Known. Null
// without an error if it has not, or if none observes here alone.
Ref known_of(const FastOperator *self, PyObject *policy, PyObject *const *operands,
             const Read *given, Py_ssize_t count);
// Count an operation that is known; false with the error.
bool tell(const Ref &known);

// --- run.cpp -------------------------------------------------------------------------------------

// The executable on buffers, its kernel where that does it all; `options` follow the buffers.
// An array, or a tuple of them; or null with the error.
Ref run(const FastOperator *self, const Ref &executable, PyObject **buffers, Py_ssize_t count,
        PyObject *option_names, PyObject *backend = nullptr);
// What an array is stored in; null with the error. How many axes and elements it has; -1 with the error.
Ref dtype_of(const FastOperator *self, PyObject *buffer);
Py_ssize_t rank_of(const FastOperator *self, PyObject *buffer);
Py_ssize_t size_of(const FastOperator *self, PyObject *buffer);
// Whether an error is about shapes or dtypes, which the long way tells in its own words.
bool is_told_better();
// A new array of a class.
PyObject *wrap(PyTypeObject *cls, Ref &buffer, PyObject *type);

// --- The calls -----------------------------------------------------------------------------------

PyObject *operation_call(PyObject *self, PyObject *const *args, std::size_t nargs, PyObject *names);
PyObject *sequence_call(PyObject *self, PyObject *const *args, std::size_t nargs, PyObject *names);
PyObject *ufunc_call(PyObject *self, PyObject *const *args, std::size_t nargs, PyObject *names);
PyObject *getitem_call(PyObject *self, PyObject *const *args, std::size_t nargs, PyObject *names);
PyObject *setitem_call(PyObject *self, PyObject *const *args, std::size_t nargs, PyObject *names);

PyObject *reshape_call(PyObject *self, PyObject *const *args, std::size_t nargs, PyObject *names);
PyObject *move_call(PyObject *self, PyObject *const *args, std::size_t nargs, PyObject *names);
PyObject *question_call(PyObject *self, PyObject *const *args, std::size_t nargs, PyObject *names);
PyObject *channel_call(PyObject *self, PyObject *const *args, std::size_t nargs, PyObject *names);
PyObject *data_call(PyObject *self, PyObject *const *args, std::size_t nargs, PyObject *names);
PyObject *creation_call(PyObject *self, PyObject *const *args, std::size_t nargs, PyObject *names);

extern PyType_Spec shared_spec, operator_spec, heard_spec, within_spec, by_name_spec;

}  // namespace promoarray
