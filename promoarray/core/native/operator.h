// FastOperator: an operation that runs executables which were compiled before. `policy.executables`
// has them (core/executable_cache.py); nothing here decides a dtype.
#pragma once

#include <memory>
#include <vector>

#include "../../kernels/cpu/numpy_array.h"
#include "ref.h"

namespace promoarray {

// --- array_slots.cpp: what PArray derives from --------------------------------------------------

// The limited API does not tell where the slots of a Python class lie; those of this one we know.
struct ArraySlots {
    PyObject_HEAD
    PyObject *buffer;
    PyObject *type;
};

extern PyType_Spec array_slots_spec;
extern PyTypeObject *array_slots_type;  // what was made of it

// --- module.cpp: what is used of Python ----------------------------------------------------------

constexpr int WEAK = 4;  // kinds of Python's numbers

// Objects of promoarray and of NumPy, which `begin` is given by these names.
struct Objects {
    PyObject *observers, *guarding, *policy_here, *default_policy, *named, *adopted, *weak[WEAK],
        *ndarray, *asarray, *dtype_class, *numpy_dtype, *bool_dtype, *executable, *choice;
};
extern Objects python;

// Names of attributes and arguments, interned.
struct Names {
    PyObject *policy, *executables, *canonical, *foreign, *dtype, *name, *item, *copy, *copies, *method_type;
};
extern Names names_of;

// --- operator.cpp: the type ----------------------------------------------------------------------

struct FastOperator {
    PyObject_HEAD
    vectorcallfunc call;
    Py_ssize_t operands;  // so many arguments that come first may be operands
    int reflected;        // they stand in the other order
    int conditional;      // a mask comes first, and is the last option
    int sequence;         // they come in a list or tuple
    int typed;            // `dtype=` is an operand, the last one
    int by_value;         // what follows the arrays tells executables apart by its value
    int leaves;           // the answer leaves the policy, and `no_escape` may forbid it
    PyObject *slow;       // what is called where no executable is found
    PyObject *name;       // of the operation, as keys begin
    PyObject *option_names, *passed_names, *defaults;  // options: as given, as passed on or None
    PyObject *keywords;   // the names that are passed on
    PyObject *in_order;   // names of arguments that may follow the operands by position
    PyObject *texts;      // what may be given as a text
    PyObject *bound;      // the only class of arrays that is taken, or None
    PyObject *makes;      // the class of arrays that are made of others' data, or None
    PyObject *dict;       // __name__, __doc__, __wrapped__, as functools.wraps sets them
    PyObject *weak;
};

inline FastOperator *operator_of(PyObject *object) { return reinterpret_cast<FastOperator *>(object); }

inline PyObject *long_way(FastOperator *self, PyObject *const *args, std::size_t nargs, PyObject *names) {
    return PyObject_Vectorcall(self->slow, args, nargs, names);
}

inline bool is_array(PyTypeObject *type) { return PyType_IsSubtype(type, array_slots_type); }

// --- operands.cpp: what operands are, and the executable for them --------------------------------

// The fields of an Executable and of a Choice (core/executable_cache.py), in their order.
enum Field { RUN, SCALARS, RESULT, EXTRA_RESULTS, KERNEL, INTO, FIELDS };
enum ChoiceField { CHOICE_SCALAR, CHOICE_FLAT, CHOICE_CASES, CHOICE_FIELDS };

inline PyObject *field(const Ref &executable, int which) {
    return PyTuple_GetItem(executable.get(), which);
}

// An operand: its part of the key, null for what is not known here; the type and the buffer of an array.
struct Operand {
    PyObject *given = nullptr;
    Ref key = Ref(nullptr), type = Ref(nullptr), buffer = Ref(nullptr);
    bool is_dtype = false;
    bool is_adopted = false;  // an array or a scalar of NumPy's, wrapped as `operands.py:wrap` does
};

// A list of borrowed references, of which a few need no memory of their own.
class Items {
   public:
    void add(PyObject *item) {
        if (count_ < FEW) few_[count_] = item;
        else many_.push_back(item);
        if (++count_ == FEW) many_.assign(few_, few_ + FEW);  // from here on all are there
    }
    void set(Py_ssize_t i, PyObject *item) { (count_ < FEW ? few_ : many_.data())[i] = item; }
    PyObject *operator[](Py_ssize_t i) const { return (count_ < FEW ? few_ : many_.data())[i]; }
    PyObject **data() { return count_ < FEW ? few_ : many_.data(); }
    Py_ssize_t count() const { return count_; }

    static constexpr Py_ssize_t FEW = 8;

   private:
    PyObject *few_[FEW];
    std::vector<PyObject *> many_;
    Py_ssize_t count_ = 0;
};

// A new reference to what a dictionary has; null without an error if that is nothing.
Ref item_of(PyObject *dictionary, PyObject *key);
// The dtype that something is or names; null without an error if it is none, or was never read.
PyObject *dtype_named(PyObject *given);
// An operand of an operation on arrays of a class; `makes`: of one that makes arrays of others' data.
Operand read(PyObject *given, PyTypeObject *cls, bool makes = false);
// Whether an array or a scalar of NumPy's enters as an array of its dtype; the long way takes others.
bool enters_as_it_is(const Ref &policy, const Ref &dtype);
// The policy that decides for arrays of a class; null without an error if there is none yet.
Ref policy_in_force(PyTypeObject *cls);
// What `policy.executables` has, an Executable or a Choice; null without an error if nothing.
Ref look_up(PyObject *policy, PyObject *name, const Operand *operands, Py_ssize_t count);
// The executable of a Choice by what tells operands of the same types apart; null as above.
Ref chosen(const Ref &choice, const Operand *operands, Py_ssize_t count);
// How many axes and elements a buffer has; -1 with an error.
Py_ssize_t rank_of(PyObject *buffer);
Py_ssize_t size_of(PyObject *buffer);

// --- call.cpp: how executables run ---------------------------------------------------------------

// An executable's kernel, or `run`, on buffers and options; null with the error.
Ref run(const Ref &executable, PyObject **passed, Py_ssize_t count, PyObject *keywords);
// A Python scalar as an executable takes it: a buffer, another Executable, or None for the long way.
Ref scalar_buffer(const Ref &executable, Py_ssize_t index, PyObject *value);
// Whether there is an error that the long way does not tell in better words; all others are cleared.
bool has_failed();
// A new array of a class.
PyObject *wrap(PyTypeObject *cls, Ref &buffer, PyObject *type);

PyObject *operation_call(PyObject *self, PyObject *const *args, std::size_t nargs, PyObject *names);

// --- indexing.cpp: `x[key]` and `x[key] = value` -------------------------------------------------

PyObject *getitem_call(PyObject *self, PyObject *const *args, std::size_t nargs, PyObject *names);
PyObject *setitem_call(PyObject *self, PyObject *const *args, std::size_t nargs, PyObject *names);

extern PyType_Spec operator_spec;

}  // namespace promoarray
