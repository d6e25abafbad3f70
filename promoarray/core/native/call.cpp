// A call of an operation: its arguments, the executable for them, the array that it makes. What is
// not known goes the long way, to a Python function.
#include <utility>

#include "../../kernels/cpu/float_state.h"
#include "operator.h"

namespace promoarray {
namespace {

// Bytes: the result of a longer operation in place is written as it goes, by `run`.
constexpr Py_ssize_t MUCH = 1 << 17;

constexpr Py_ssize_t FEW = 4;  // operands that need no memory of their own

class Call {
   public:
    explicit Call(const FastOperator *self) : self_(self) {}

    // Read the arguments, and find the executable. False if the long way has to be taken, perhaps
    // with an error.
    bool prepare(PyObject *const *args, Py_ssize_t count, PyObject *names) {
        if (!take(args, count, names)) return false;
        cls_ = class_of_result();
        return cls_ != nullptr && read_all() && find();
    }

    // The answer; null with the error, or without one if the long way has to be taken.
    PyObject *answer() {
        if (field(executable_, RUN) == Py_None) return as_it_is();
        Items passed;
        if (!pass(passed)) return nullptr;
        const Py_ssize_t count = passed.count();
        if (field(executable_, INTO) == Py_True) return written(passed);
        for (Py_ssize_t k = 0; k < PyTuple_Size(self_->passed_names); ++k)
            if (PyTuple_GetItem(self_->passed_names, k) != Py_None) passed.add(options_[k]);
        Ref out = run(executable_, passed.data(), count, self_->keywords);
        if (!out || out.get() == Py_None) return nullptr;
        return made_of(out);
    }

   private:
    // --- Arguments -------------------------------------------------------------------------------

    bool take(PyObject *const *args, Py_ssize_t count, PyObject *names) {
        for (Py_ssize_t k = 0; k < PyTuple_Size(self_->defaults); ++k)
            options_.add(PyTuple_GetItem(self_->defaults, k));
        PyObject *dtype = nullptr;
        for (Py_ssize_t k = 0; names != nullptr && k < PyTuple_Size(names); ++k)
            if (!take_named(PyTuple_GetItem(names, k), args[count + k], &dtype)) return false;
        names_ = names;
        if (self_->sequence) {
            if (count != 1 || !(PyList_CheckExact(args[0]) || PyTuple_CheckExact(args[0]))) return false;
            items_ = Ref(PySequence_Tuple(args[0]));  // which nobody changes
            for (Py_ssize_t i = 0; items_ && i < PyTuple_Size(items_.get()); ++i)
                given_.add(PyTuple_GetItem(items_.get(), i));
            return given_.count() > 0;
        }
        if (self_->conditional && count-- > 0) mask_ = *args++;
        for (Py_ssize_t i = 0; i < count; ++i)
            if (!take_positional(args, count, i, &dtype)) return false;
        for (Py_ssize_t k = 0; self_->by_value && k < options_.count(); ++k) values_.add(options_[k]);
        if (dtype != nullptr) given_.add(dtype);
        return given_.count() > 0;
    }

    bool take_positional(PyObject *const *args, Py_ssize_t count, Py_ssize_t i, PyObject **dtype) {
        PyObject *given = args[self_->reflected ? count - 1 - i : i];
        const bool is_operand = self_->by_value
                                    ? values_.count() == 0 && Py_TYPE(given) == Py_TYPE(args[0])
                                    : i < self_->operands;
        if (is_operand) {
            given_.add(given);
            return true;
        }
        if (!self_->by_value && i - self_->operands < PyTuple_Size(self_->in_order)) {
            PyObject *name = PyTuple_GetItem(self_->in_order, i - self_->operands);
            for (Py_ssize_t k = 0; names_ != nullptr && k < PyTuple_Size(names_); ++k)
                if (PyTuple_GetItem(names_, k) == name) return false;  // given twice, which the long way says
            return take_named(name, given, dtype);
        }
        values_.add(given);
        return self_->by_value ? is_plain(given) : self_->leaves;
    }

    // False if a name is unknown, or its value is for the long way to look at.
    bool take_named(PyObject *name, PyObject *value, PyObject **dtype) {
        if (self_->by_value) {
            options_.add(value);
            return is_plain(value);
        }
        if (self_->typed && name == names_of.dtype) {
            *dtype = value == Py_None ? nullptr : dtype_named(value);
            return value == Py_None || *dtype != nullptr;
        }
        for (Py_ssize_t at = 0; at < PyTuple_Size(self_->option_names); ++at) {
            if (PyTuple_GetItem(self_->option_names, at) != name) continue;
            if (PyTuple_GetItem(self_->passed_names, at) == Py_None) return value == options_[at];
            options_.set(at, value);
            return is_plain(value);
        }
        return false;
    }

    // Whether a value is one of Python's own: no array, no number of NumPy's, and of texts one of
    // those that the function takes. `move.py:is_plain` says the same of those in keys.
    bool is_plain(PyObject *value) const {
        const PyTypeObject *type = Py_TYPE(value);
        if (value == Py_None || type == &PyBool_Type || type == &PyLong_Type) return true;
        if (type == &PyTuple_Type) {
            if (!self_->by_value) return true;
            for (Py_ssize_t i = 0; i < PyTuple_Size(value); ++i)
                if (!PyLong_CheckExact(PyTuple_GetItem(value, i))) return false;
            return true;
        }
        if (type != &PyUnicode_Type) return type == &PyFloat_Type && !self_->by_value;
        for (Py_ssize_t i = 0; i < PyTuple_Size(self_->texts); ++i)
            if (PyUnicode_Compare(value, PyTuple_GetItem(self_->texts, i)) == 0) return true;
        return self_->by_value;
    }

    // --- The executable --------------------------------------------------------------------------

    // The class of the result: of the operand whose method this is, or of the first array. Null if
    // none is an array, or it is of another class than the operator is bound to.
    PyTypeObject *class_of_result() const {
        PyTypeObject *cls = nullptr;
        if (self_->makes != Py_None) {
            cls = reinterpret_cast<PyTypeObject *>(self_->makes);
        } else {
            cls = Py_TYPE(given_[self_->reflected ? given_.count() - 1 : 0]);
            for (Py_ssize_t i = 0; i < given_.count() && !is_array(cls); ++i) cls = Py_TYPE(given_[i]);
            if (!is_array(cls)) return nullptr;
        }
        const bool is_taken = self_->bound == Py_None || self_->bound == reinterpret_cast<PyObject *>(cls);
        return is_taken ? cls : nullptr;
    }

    bool read_all() {
        const Py_ssize_t count = given_.count();
        if (count > FEW) many_.reset(new Operand[count]);
        operands_ = count > FEW ? many_.get() : few_;
        for (Py_ssize_t i = 0; i < count; ++i) {
            operands_[i] = read(given_[i], cls_, self_->makes != Py_None);
            if (!operands_[i].key) return false;
        }
        if (mask_ == nullptr) return !self_->conditional;
        condition_ = read(mask_, cls_);
        if (!condition_.buffer || condition_.type.get() != python.bool_dtype) return false;
        options_.set(options_.count() - 1, condition_.buffer.get());
        return true;
    }

    bool find() {
        const Ref policy = policy_in_force(cls_);
        if (!policy) return false;
        const Py_ssize_t count = given_.count();
        for (Py_ssize_t i = 0; i < count; ++i)
            if (operands_[i].is_adopted && !enters_as_it_is(policy, operands_[i].type)) return false;
        executable_ = look_up(policy.get(), self_->name, operands_, count);
        if (executable_ && reinterpret_cast<PyObject *>(Py_TYPE(executable_.get())) == python.choice)
            executable_ = self_->by_value ? chosen_by_value() : chosen(executable_, operands_, count);
        return executable_ && reinterpret_cast<PyObject *>(Py_TYPE(executable_.get())) == python.executable;
    }

    // The executable for these ranks, these values beside the arrays, and their names.
    Ref chosen_by_value() {
        const Py_ssize_t arrays = given_.count(), values = values_.count();
        const Ref key(PyTuple_New(arrays + values + 1));
        for (Py_ssize_t i = 0; key && i < arrays; ++i)
            PyTuple_SetItem(key.get(), i, PyLong_FromSsize_t(rank_of(operands_[i].buffer.get())));
        for (Py_ssize_t i = 0; key && i < values; ++i)
            PyTuple_SetItem(key.get(), arrays + i, Py_NewRef(values_[i]));
        if (!key) return Ref(nullptr);
        PyTuple_SetItem(key.get(), arrays + values, Py_NewRef(names_ == nullptr ? Py_None : names_));
        return item_of(field(executable_, CHOICE_CASES), key.get());
    }

    // --- Running it ------------------------------------------------------------------------------

    // The buffers, of Python scalars too; false with the error, or without one for the long way.
    bool pass(Items &passed) {
        for (Py_ssize_t i = 0; i < given_.count(); ++i) {
            Operand &operand = operands_[i];
            if (operand.is_dtype) continue;
            if (!operand.buffer) operand.buffer = scalar_buffer(executable_, i, operand.given);
            if (!operand.buffer) return false;
            if (reinterpret_cast<PyObject *>(Py_TYPE(operand.buffer.get())) == python.executable) {
                executable_ = std::move(operand.buffer);  // for an int that no value reaches
                operand.buffer = scalar_buffer(executable_, i, operand.given);
                if (!operand.buffer) return false;
            }
            if (operand.buffer.get() == Py_None) return false;
            passed.add(operand.buffer.get());
        }
        for (Py_ssize_t i = 0; self_->leaves && i < values_.count(); ++i) passed.add(values_[i]);
        return true;
    }

    // What nothing runs for: an answer about dtypes, or the one operand as an array of the class.
    PyObject *as_it_is() {
        if (field(executable_, RESULT) != Py_Ellipsis) return Py_NewRef(field(executable_, RESULT));
        if (!operands_[0].type) return nullptr;
        return self_->bound == Py_None ? Py_NewRef(given_[0])
                                       : wrap(cls_, operands_[0].buffer, operands_[0].type.get());
    }

    // The first operand, with the result written over it.
    PyObject *written(Items &passed) {
        PyObject *target = passed[0];
        const ArrayFields *array = fields_of(target);
        if (array == nullptr || elements_of(*array) * array->dtype->item > MUCH) return nullptr;
        const Ref out = run(executable_, passed.data(), passed.count(), nullptr);
        const Py_ssize_t rank = out ? rank_of(out.get()) : -1;
        if (rank != array->ndim) return nullptr;  // NumPy would drop axes of length 1
        return PyObject_SetItem(target, Py_Ellipsis, out.get()) == 0 ? Py_NewRef(given_[0]) : nullptr;
    }

    // The array, or a tuple of them; what leaves the policy as it is.
    PyObject *made_of(Ref &out) const {
        PyObject *type = field(executable_, RESULT), *more = field(executable_, EXTRA_RESULTS);
        if (type == Py_None) return out.release();
        if (!PyTuple_CheckExact(out.get())) return wrap(cls_, out, type);
        Ref made(PyTuple_New(PyTuple_Size(out.get())));
        for (Py_ssize_t i = 0; made && i < PyTuple_Size(out.get()); ++i) {
            Ref buffer = Ref::to(PyTuple_GetItem(out.get(), i));
            const bool has_own = i > 0 && i <= PyTuple_Size(more);
            PyObject *array = wrap(cls_, buffer, has_own ? PyTuple_GetItem(more, i - 1) : type);
            if (array == nullptr) return nullptr;
            PyTuple_SetItem(made.get(), i, array);
        }
        return made.release();
    }

    const FastOperator *self_;
    Items given_, values_, options_;
    PyObject *mask_ = nullptr, *names_ = nullptr;
    Ref items_ = Ref(nullptr);
    PyTypeObject *cls_ = nullptr;
    Operand few_[FEW], condition_, *operands_ = few_;
    std::unique_ptr<Operand[]> many_;
    Ref executable_ = Ref(nullptr);
};

// Whether somebody is to be told of an operation, or may forbid it, which the long way does.
bool is_watched(const FastOperator *self) {
    if (python.observers == nullptr || PyList_Size(python.observers) != 0) return true;
    if (!self->leaves || PyList_Size(python.guarding) == 0) return false;
    const Ref block(PyObject_CallNoArgs(PyList_GetItem(python.guarding, 0)));
    return block.get() != Py_None;
}

}  // namespace

Ref run(const Ref &executable, PyObject **passed, Py_ssize_t count, PyObject *keywords) {
    PyObject *kernel = field(executable, KERNEL);
    if (keywords != nullptr && PyTuple_Size(keywords) == 0) keywords = nullptr;
    Ref out(nullptr);
    if (kernel != Py_None) {
        out = Ref(PyObject_Vectorcall(kernel, passed, count, keywords));
        if (!out) return out;
        if (out.get() == Py_None) out = Ref(nullptr);  // a kernel may leave it to `run`
    }
    if (!out) out = Ref(PyObject_Vectorcall(field(executable, RUN), passed, count, keywords));
    const bool is_scalar = out && reinterpret_cast<PyObject *>(Py_TYPE(out.get())) != python.ndarray &&
                           out.get() != Py_None && !PyTuple_Check(out.get());
    if (is_scalar && field(executable, RESULT) != Py_None)  // of 0-d arrays NumPy makes scalars
        out = Ref(PyObject_CallFunctionObjArgs(python.asarray, out.get(), nullptr));
    return out;
}

Ref scalar_buffer(const Ref &executable, Py_ssize_t index, PyObject *value) {
    PyObject *scalars = field(executable, SCALARS);
    if (index >= PyTuple_Size(scalars)) return Ref::to(value);  // `run` takes it as it is
    return call(PyTuple_GetItem(scalars, index), value);
}

bool has_failed() {
    if (!PyErr_Occurred()) return false;
    for (PyObject *kind : {PyExc_ValueError, PyExc_IndexError, PyExc_TypeError, PyExc_OverflowError}) {
        if (!PyErr_ExceptionMatches(kind)) continue;
        PyErr_Clear();
        return false;
    }
    return true;
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

PyObject *operation_call(PyObject *object, PyObject *const *args, std::size_t nargs, PyObject *names) {
    FastOperator *self = operator_of(object);
    const FloatStateGuard state;  // for NumPy's kernels and casts, and the long way
    if (!is_watched(self)) {
        Call one(self);
        PyObject *answer = nullptr;
        if (one.prepare(args, PyVectorcall_NARGS(nargs), names)) answer = one.answer();
        if (answer != nullptr) return answer;
        if (has_failed()) return nullptr;
    }
    return long_way(self, args, nargs, names);
}

}  // namespace promoarray
