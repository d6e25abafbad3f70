// A callable that casts operands, computes, and casts the result: all that a plan asks for, read from
// Python once. It computes each element by a program, or calls a function of Python's on whole arrays.
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "blocks.h"
#include "float_state.h"
#include "kernel_type.h"
#include "module.h"
#include "pool.h"

namespace promoarray {
namespace {

constexpr size_t LONG = 1 << 24;  // elements of what a function is called on: of more Python goes by parts
constexpr int MOST_OPTIONS = 4;   // what a function takes besides

struct CastingKernel {
    PyObject_HEAD
    vectorcallfunc call;
    const Plan *plan;
    PyObject *function;  // of whole arrays; None where there is a program, or a cast alone
    PyObject *storages;  // NumPy's dtypes, of what each operand is computed in
    PyObject *storage;   // of the result
    PyObject *report;    // is called with the name of a step and the exceptions that it raised
    PyObject *programs;  // have the loops of NumPy's

    std::array<PyObject *, 5> parts() const { return {function, storages, storage, report, programs}; }
    void release() { delete plan; }
};

// The shape that operands broadcast to; false if they do not.
bool broadcast(const std::unique_ptr<Array> *arrays, int count, std::vector<Py_ssize_t> &shape) {
    for (int i = 0; i < count; ++i)
        if ((size_t)arrays[i]->ndim() > shape.size()) shape.assign((size_t)arrays[i]->ndim(), 1);
    for (int i = 0; i < count; ++i) {
        const size_t missing = shape.size() - (size_t)arrays[i]->ndim();
        for (size_t axis = missing; axis < shape.size(); ++axis) {
            const Py_ssize_t length = arrays[i]->shape((int)(axis - missing));
            if (length == 1) continue;
            if (shape[axis] != 1 && length != shape[axis]) return false;
            shape[axis] = length;
        }
    }
    return true;
}

// Whether an array has a shape, but its elements lie in another order; so does the result then.
bool orders(const Array &array, const std::vector<Py_ssize_t> &shape) {
    if ((size_t)array.ndim() != shape.size()) return false;
    auto step = (Py_ssize_t)array.item();
    bool in_order = true;
    for (int axis = array.ndim() - 1; axis >= 0; --axis) {
        if (array.shape(axis) != shape[(size_t)axis]) return false;
        if (shape[(size_t)axis] != 1 && array.stride(axis) != step) in_order = false;
        step *= shape[(size_t)axis];
    }
    return !in_order;
}

// Memory for the result, its axes in the order of those of the first operand of its shape.
nb::object new_result(const CastingKernel *self, PyObject *const *args, const std::unique_ptr<Array> *arrays,
                      const std::vector<Py_ssize_t> &shape) {
    for (int i = 0; i < self->plan->operands; ++i)
        if (orders(*arrays[i], shape)) return nb::steal(new_array_like(args[i], self->storage));
    return nb::steal(new_array((int)shape.size(), shape.data(), self->storage));
}

// The program on operands of any layout. Null without an error where Python is to be asked.
nb::object compute_anywhere(const CastingKernel *self, PyObject *const *args, PyObject *target, Raised &raised) {
    const int operands = self->plan->operands;
    try {
        static const char *const names[] = {"operand 1", "operand 2", "operand 3"};
        std::unique_ptr<Array> arrays[MOST];
        for (int i = 0; i < operands; ++i)
            arrays[i] = std::make_unique<Array>(args[i], names[i], PyBUF_STRIDES);
        std::vector<Py_ssize_t> shape;
        if (!broadcast(arrays, operands, shape)) return nb::object();
        nb::object out = target != nullptr ? nb::borrow(target) : new_result(self, args, arrays, shape);
        if (!out.is_valid()) return out;
        run_anywhere(*self->plan, arrays, Array(out, "result", PyBUF_STRIDES | PyBUF_WRITABLE), raised);
        return out;
    } catch (nb::python_error &) {  // an array that is not what its dtype says: Python has the words
    } catch (const nb::builtin_exception &) {
    }
    return nb::object();
}

// The same in rows, or a cast alone.
nb::object compute_in_rows(const CastingKernel *self, const View *views, const View &like, Raised &raised) {
    const Plan &plan = *self->plan;
    const size_t n = like.count();
    nb::object out = nb::steal(new_array(like.ndim(), like.shape(), self->storage));
    View place;
    if (!out.is_valid() || !place.open(out.ptr(), plan.result, PyBUF_WRITABLE)) return nb::object();
    if (n == 0) return out;
    if (!plan.programs.empty()) {
        run_in_rows(plan, views, static_cast<char *>(place.data()), n, raised);
        return out;
    }
    const DefaultFloatState state;
    plan.cast(0, views[0].data(), place.data(), n);
    return out;
}

// A function of Python's between the casts. Its options follow the operands.
nb::object call_function(const CastingKernel *self, PyObject *const *args, const View *views, PyObject *names) {
    const Plan &plan = *self->plan;
    nb::object held[MOST];
    PyObject *given[MOST + MOST_OPTIONS];
    const Py_ssize_t options = names != nullptr ? PyTuple_Size(names) : 0;
    for (Py_ssize_t k = 0; k < options; ++k) given[plan.operands + k] = args[plan.operands + k];
    for (int i = 0; i < plan.operands; ++i) {
        given[i] = args[i];
        if (!plan.casts(i)) continue;
        PyObject *storage = PyTuple_GetItem(self->storages, i);
        held[i] = nb::steal(new_array(views[i].ndim(), views[i].shape(), storage));
        View made;
        if (!held[i].is_valid() || !made.open(held[i].ptr(), plan.computed[i], PyBUF_WRITABLE))
            return nb::object();
        const DefaultFloatState state;
        plan.cast(i, views[i].data(), made.data(), views[i].count());
        given[i] = held[i].ptr();
    }
    nb::object found = nb::steal(PyObject_Vectorcall(self->function, given, (size_t)plan.operands, names));
    if (!found.is_valid() || !plan.leave) return found;
    View made, place;
    if (!made.open(found.ptr(), plan.made)) return nb::object();
    nb::object out = nb::steal(new_array(made.ndim(), made.shape(), self->storage));
    if (!out.is_valid() || !place.open(out.ptr(), plan.result, PyBUF_WRITABLE)) return nb::object();
    const DefaultFloatState state;
    plan.leave->run(made.data(), place.data(), made.count());
    return out;
}

// Have Python tell of the exceptions that each step raised; false where that is an error.
bool tell(const CastingKernel *self, const Raised &raised) {
    if (!raised.any) return true;
    const std::vector<ProgramStep> &steps = raised.program->steps();
    for (size_t k = 0; k < steps.size(); ++k) {
        if (raised.by[k] == 0) continue;
        const nb::object done = nb::steal(
            PyObject_CallFunction(self->report, "si", steps[k].name.c_str(), (int)raised.by[k]));
        if (!done.is_valid()) return false;
    }
    return true;
}

PyObject *kernel_call(PyObject *object, PyObject *const *args, std::size_t nargs, PyObject *names) {
    const CastingKernel *self = kernel_of<CastingKernel>(object);
    const Plan &plan = *self->plan;
    const bool calls = self->function != Py_None;
    const Py_ssize_t options = names != nullptr ? PyTuple_Size(names) : 0, count = PyVectorcall_NARGS(nargs);
    PyObject *target = !plan.programs.empty() && count == plan.operands + 1 ? args[plan.operands] : nullptr;
    if (options > (calls ? MOST_OPTIONS : 0) || (target == nullptr && count != plan.operands)) {
        PyErr_Format(PyExc_TypeError, "this kernel takes %d operands and at most %d options", plan.operands,
                     calls ? MOST_OPTIONS : 0);
        return nullptr;
    }
    View views[MOST];
    const View *like = &views[0];
    bool in_rows = target == nullptr;
    for (int i = 0; in_rows && i < plan.operands; ++i) {
        in_rows = views[i].open(args[i], plan.own[i]);
        if (in_rows && views[i].ndim() > like->ndim()) like = &views[i];
    }
    Raised raised;
    nb::object out;
    if (calls) {
        for (int i = 0; in_rows && i < plan.operands; ++i) in_rows = views[i].count() <= LONG;
        if (in_rows) out = call_function(self, args, views, names);
    } else {
        for (int i = 0; in_rows && i < plan.operands; ++i)
            in_rows = views[i].ndim() == 0 || views[i].is_like(*like);
        if (in_rows && like->count() < many_elements) out = compute_in_rows(self, views, *like, raised);
        else if (!plan.programs.empty()) out = compute_anywhere(self, args, target, raised);
    }
    if (PyErr_Occurred()) return nullptr;
    if (raised.failed) return PyErr_Format(PyExc_RuntimeError, "a loop of NumPy's failed");
    if (!tell(self, raised)) return nullptr;
    if (out.is_valid()) return out.release().ptr();
    Py_RETURN_NONE;
}

PyObject *kernel_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"function", "rows", "modes", "storages", "storage", "report", "programs", nullptr};
    PyObject *function, *rows, *modes, *storages, *storage, *report, *programs = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!O!O!OO|O", const_cast<char **>(names), &function,
                                     &PyTuple_Type, &rows, &PyTuple_Type, &modes, &PyTuple_Type, &storages,
                                     &storage, &report, &programs))
        return nullptr;
    return made_or_raised([&]() -> PyObject * {
        auto plan = read_plan(rows, modes, programs);
        const bool casts_alone = function == Py_None && programs == Py_None;
        if (casts_alone && (plan->operands != 1 || plan->leave || !plan->casts(0)))
            refuse("a cast alone is of one operand, to the type of its result");
        if (PyTuple_Size(storages) != plan->operands) refuse("there is a storage for each operand");
        if (function != Py_None && programs != Py_None) refuse("a function or programs compute");
        PyObject *made = PyType_GenericAlloc(type, 0);
        if (made == nullptr) return nullptr;
        CastingKernel *self = kernel_of<CastingKernel>(made);
        self->call = kernel_call;
        self->plan = plan.release();
        self->function = Py_NewRef(function);
        self->storages = Py_NewRef(storages);
        self->storage = Py_NewRef(storage);
        self->report = Py_NewRef(report);
        self->programs = Py_NewRef(programs);
        return made;
    });
}

}  // namespace

nanobind::object casting_kernel_type() {
    return kernel_type<CastingKernel>(
        "promoarray.kernels._cpu.CastingKernel",
        "An operation between its casts; of operands that it is not made for it answers None.", kernel_new,
        {"programs", Py_T_OBJECT_EX, offsetof(CastingKernel, programs), Py_READONLY, nullptr});
}

}  // namespace promoarray
