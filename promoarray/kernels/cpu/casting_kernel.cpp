// A callable that casts operands, runs an operation on them, and casts its result: all that a plan
// asks for, read from Python once. Operands that it is not made for are answered with None.
#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "float_state.h"
#include "kernel_type.h"
#include "module.h"
#include "steps.h"

namespace promoarray {
namespace {

constexpr size_t LONG = 1 << 15;  // elements; of more, `run` computes in blocks, without the GIL
constexpr int MOST_OPTIONS = 4;   // what a function takes besides

// An array that nobody else has any more, for the next call on operands of its shape: to make one
// takes as long as an operation on it.
struct Scratch {
    nb::object array;
    View view;

    bool is_own() const { return view.is_alone(array.ptr()); }
};

struct CastingKernel {
    PyObject_HEAD
    vectorcallfunc call;
    Steps *steps;
    size_t longest;              // elements of an operand; of more it answers None
    PyObject *function;          // a ufunc; None where a loop computes, or nothing does
    PyObject *empty;             // numpy.empty
    PyObject *empty_like;        // numpy.empty_like
    PyObject *watched;           // which floating-point exceptions NumPy does not ignore
    PyObject *loop;              // answers how its loops go over any layout; None where they do not
    PyObject *computed_storage;  // NumPy's dtypes
    PyObject *result_storage;
    PyObject *program;           // what that was read from, which has the loops of NumPy's; or None
    PyObject *ufunc;             // of NumPy's, that does the same on operands of its own; or None
    Scratch *kept[MOST];         // what operands were cast to; null while it is in use

    std::array<PyObject *, 9> parts() const {
        return {function,         empty,          empty_like, watched, loop,
                computed_storage, result_storage, program,    ufunc};
    }
    void release() {
        delete steps;
        for (Scratch *scratch : kept) delete scratch;
    }
};

#ifdef Py_GIL_DISABLED
constexpr bool KEEPS_SCRATCH = false;  // two threads would take it at once
#else
constexpr bool KEEPS_SCRATCH = true;
#endif

nb::object array_like(const CastingKernel *self, const View &like, PyObject *storage) {
    return nb::steal(new_array(like.ndim(), like.shape(), storage, self->empty));
}

// Whether NumPy has something to tell of what was raised: also if asking it fails.
bool is_told(const CastingKernel *self, int raised) {
    if (raised == 0) return false;
    const nb::object watched = nb::steal(PyObject_CallNoArgs(self->watched));
    const long found = watched.is_valid() ? PyLong_AsLong(watched.ptr()) : raised;
    return (raised & found) != 0;
}

// Have NumPy tell of what was met, by the elements among which it was; false where it has to do all again.
bool tell_by_elements(const CastingKernel *self, const Met &met, nb::handle out, PyObject *const *args) {
    if ((met.raised & NOT_TOLD) != 0 || !nb::hasattr(self->loop, "tell")) return false;
    const nb::object tell = nb::getattr(self->loop, "tell");
    const nb::tuple known = as_tuple(met);
    PyObject *given[2 + MOST] = {known.ptr(), out.ptr()};
    std::copy_n(args, self->steps->operands, given + 2);
    const auto count = (size_t)self->steps->operands + 2;
    const nb::object told = nb::steal(PyObject_Vectorcall(tell.ptr(), given, count, nullptr));
    if (!told.is_valid()) throw nb::python_error();
    return told.is(nb::handle(Py_True));
}

// The shape that operands broadcast to; false if they do not, or if it has no elements.
bool broadcast(const std::unique_ptr<Array> *arrays, int count, std::vector<Py_ssize_t> &shape) {
    for (int i = 0; i < count; ++i)
        if ((size_t)arrays[i]->ndim() > shape.size()) shape.assign(arrays[i]->ndim(), 1);
    for (int i = 0; i < count; ++i) {
        const size_t missing = shape.size() - (size_t)arrays[i]->ndim();
        for (size_t axis = missing; axis < shape.size(); ++axis) {
            const Py_ssize_t length = arrays[i]->shape((int)(axis - missing));
            if (length == 0 || (length != 1 && shape[axis] != 1 && length != shape[axis]))
                return false;
            if (length != 1) shape[axis] = length;
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

// Whether a ufunc takes two operands of any layout sooner than `run_any` does: where none is one
// number, those of few elements, and a first one that is repeated.
bool is_for_ufunc(PyObject *const *args) {
    constexpr Py_ssize_t few = 1 << 17;
    const ArrayFields *x = fields_of(args[0]), *y = fields_of(args[1]);
    if (x == nullptr || y == nullptr) return false;
    const Py_ssize_t first = elements_of(*x), second = elements_of(*y);
    return first != 1 && second != 1 && (first < second || first < few);
}

// Memory for the result of operands of any layout.
nb::object new_result(const CastingKernel *self, PyObject *const *args,
                      const std::unique_ptr<Array> *arrays, const std::vector<Py_ssize_t> &shape) {
    for (int i = 0; i < self->steps->operands; ++i) {
        if (!orders(*arrays[i], shape)) continue;
        const nb::str order("K");
        PyObject *given[] = {args[i], self->result_storage, order.ptr(), Py_False};
        return nb::steal(PyObject_Vectorcall(self->empty_like, given, 4, nullptr));
    }
    return nb::steal(new_array((int)shape.size(), shape.data(), self->result_storage, self->empty));
}

// Python is asked once; of threads that ask at once the first one's answer is everybody's.
const AnyLayout &any_layout(const CastingKernel *self) {
    std::atomic<const AnyLayout *> &any = self->steps->any;
    if (const AnyLayout *known = any.load()) return *known;
    const nb::object given = nb::steal(PyObject_CallNoArgs(self->loop));
    if (!given.is_valid()) throw nb::python_error();
    auto made = read_any(*self->steps, given);
    const AnyLayout *known = nullptr;
    return any.compare_exchange_strong(known, made.get()) ? *made.release() : *known;
}

// A loop between the casts on operands of any length and layout. Null without an error if Python is
// to be asked.
nb::object run_any(const CastingKernel *self, PyObject *const *args) {
    const int operands = self->steps->operands;
    try {
        std::unique_ptr<Array> arrays[most_operands];
        for (int i = 0; i < operands; ++i)
            arrays[i] = std::make_unique<Array>(args[i], "an operand", PyBUF_STRIDES);
        std::vector<Py_ssize_t> shape;
        if (!broadcast(arrays, operands, shape)) return nb::object();
        size_t n = 1;
        for (const Py_ssize_t length : shape) n *= (size_t)length;
        const int way = way_of(operands, n, [&](int i) { return arrays[i]->count(); });
        const std::shared_ptr<const Combination> &any = any_layout(self).of[way];
        if (!any) return nb::object();
        nb::object out = new_result(self, args, arrays, shape);
        if (!out.is_valid()) return out;
        const Array place(out, "result", PyBUF_STRIDES | PyBUF_WRITABLE);
        const Met met = combine_arrays(*any, arrays, place);
        return !is_told(self, met.raised) || tell_by_elements(self, met, out, args) ? out : nb::object();
    } catch (nb::python_error &) {  // an array that is not what its dtype says: `run` has the words
    } catch (const nb::builtin_exception &) {
    }
    return nb::object();
}

// A loop between the casts, or a cast alone. Null without an error if Python is to be asked.
nb::object run_loop(const CastingKernel *self, const View *views, const View &like, int &raised) {
    const Steps &steps = *self->steps;
    const size_t n = like.count();
    nb::object out = array_like(self, like, self->result_storage);
    View place;
    if (!out.is_valid() || !place.open(out.ptr(), steps.result, PyBUF_WRITABLE)) return nb::object();
    if (n == 0) return out;
    if (steps.computes()) {
        raised = compute(steps, views, static_cast<char *>(place.data()), n);
        return out;
    }
    const DefaultFloatState state;
    steps.cast(0, views[0].data(), place.data(), n);
    return out;
}

// Memory for an operand as what is computed in; null if there is none.
std::unique_ptr<Scratch> take_scratch(CastingKernel *self, int i, const View &like) {
    std::unique_ptr<Scratch> known(KEEPS_SCRATCH ? std::exchange(self->kept[i], nullptr) : nullptr);
    if (known && known->view.is_like(like)) return known;
    auto made = std::make_unique<Scratch>();
    made->array = array_like(self, like, self->computed_storage);
    const bool is_there = made->array.is_valid() &&
                          made->view.open(made->array.ptr(), self->steps->computed, PyBUF_WRITABLE);
    return is_there ? std::move(made) : nullptr;
}

void keep_scratch(CastingKernel *self, int i, std::unique_ptr<Scratch> scratch) {
    if (KEEPS_SCRATCH && scratch && self->kept[i] == nullptr && scratch->is_own() &&
        scratch->view.count() <= SHORT)
        self->kept[i] = scratch.release();
}

// A function of NumPy's between the casts. Its options follow the operands.
nb::object run_function(CastingKernel *self, PyObject *const *args, const View *views,
                        PyObject *names) {
    const Steps &steps = *self->steps;
    std::unique_ptr<Scratch> held[MOST];
    PyObject *given[MOST + MOST_OPTIONS];
    const Py_ssize_t options = names != nullptr ? PyTuple_Size(names) : 0;
    for (Py_ssize_t k = 0; k < options; ++k) given[steps.operands + k] = args[steps.operands + k];
    for (int i = 0; i < steps.operands; ++i) {
        given[i] = args[i];
        if (!steps.casts(i)) continue;
        held[i] = take_scratch(self, i, views[i]);
        if (!held[i]) return nb::object();
        const DefaultFloatState state;
        steps.cast(i, views[i].data(), held[i]->view.data(), views[i].count());
        given[i] = held[i]->array.ptr();
    }
    nb::object found = nb::steal(
        PyObject_Vectorcall(self->function, given, (size_t)steps.operands, names));
    for (int i = 0; i < steps.operands; ++i) keep_scratch(self, i, std::move(held[i]));
    if (!found.is_valid() || !steps.leave) return found;
    View made, place;
    if (!made.open(found.ptr(), steps.made)) return nb::object();
    nb::object out = array_like(self, made, self->result_storage);
    if (!out.is_valid() || !place.open(out.ptr(), steps.result, PyBUF_WRITABLE))
        return nb::object();
    const DefaultFloatState state;
    steps.leave->run(made.data(), place.data(), made.count());
    return out;
}

PyObject *kernel_call(PyObject *object, PyObject *const *args, std::size_t nargs,
                      PyObject *names) {
    CastingKernel *self = kernel_of<CastingKernel>(object);
    const Steps &steps = *self->steps;
    View views[MOST];
    const Py_ssize_t options = names != nullptr ? PyTuple_Size(names) : 0;
    const Py_ssize_t most = self->function == Py_None ? 0 : MOST_OPTIONS;
    if (options > most || PyVectorcall_NARGS(nargs) != steps.operands) {
        PyErr_Format(PyExc_TypeError, "this kernel takes %d operands and at most %d options",
                     steps.operands, (int)most);
        return nullptr;
    }
    const View *like = &views[0];
    bool fits = true, in_loop = steps.computes() || self->function == Py_None;
    // NumPy's loops have other last bits where elements lie otherwise, as pow and atan2 do: they get
    // a copy of what is cast alone, which lies in rows in any case. Those of complex numbers have
    // other signs of NaN.
    const bool is_complex = steps.computes() && steps.computed.kind == Kind::complex;
    const bool copies_gaps = in_loop && self->loop == Py_None && !is_complex;
    const auto may_be_copied = [&](int i) { return copies_gaps && (!steps.program || steps.casts(i)); };
    nb::object copies[MOST];
    for (int i = 0; fits && i < steps.operands; ++i) {
        fits = views[i].open(args[i], steps.own[i]);
        if (!fits && may_be_copied(i) && (copies[i] = copy_in_rows(args[i])).is_valid()) {
            views[i].release();
            fits = views[i].open(copies[i].ptr(), steps.own[i]);
        }
        fits = fits && views[i].count() <= self->longest;
        if (fits && views[i].ndim() > like->ndim()) like = &views[i];
    }
    for (int i = 0; fits && in_loop && i < steps.operands; ++i)
        in_loop = views[i].ndim() == 0 || views[i].is_like(*like);
    if (self->function == Py_None) {
        fits = fits && in_loop;
    } else if (!in_loop && steps.operands > 1) {
        // A function broadcasts its operands, or joins them: it makes no more than a product of them.
        size_t most = 1;
        for (int i = 0; fits && i < steps.operands; ++i)
            if (!views[i].is_like(*like)) most *= std::max<size_t>(views[i].count(), 1);
        fits = fits && most * std::max<size_t>(like->count(), 1) <= LONG;
    }
    int raised = 0;
    nb::object out;
    if (!fits && self->ufunc != Py_None && is_for_ufunc(args))
        return PyObject_Vectorcall(self->ufunc, args, (size_t)steps.operands, nullptr);
    if (!fits && self->loop != Py_None) out = run_any(self, args);
    else if (fits && in_loop && options == 0) out = run_loop(self, views, *like, raised);
    else if (fits) out = run_function(self, args, views, names);
    if (out.is_valid() && !is_told(self, raised)) return out.release().ptr();
    if (PyErr_Occurred()) return nullptr;
    Py_RETURN_NONE;
}

PyObject *kernel_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"function", "rows",       "modes",   "computed_storage", "result_storage",
                                  "empty",    "empty_like", "watched", "loop",             "first",
                                  "longest",  "program",    "ufunc",   nullptr};
    PyObject *function, *rows, *modes, *computed, *result, *empty;
    PyObject *like = Py_None, *watched = Py_None, *loop = Py_None, *first = Py_None, *program = Py_None;
    PyObject *ufunc = Py_None;
    Py_ssize_t longest = -1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!O!OOO|OOOOnOO", const_cast<char **>(names),
                                     &function, &PyTuple_Type, &rows, &PyTuple_Type, &modes,
                                     &computed, &result, &empty, &like, &watched, &loop, &first,
                                     &longest, &program, &ufunc))
        return nullptr;
    return made_or_raised([&]() -> PyObject * {
        const bool has_loop = PyUnicode_Check(function) || PyTuple_Check(function);
        if (loop != Py_None && (!has_loop || first != Py_None || !PyCallable_Check(loop)))
            refuse("loop is to be called, of a loop that nothing is done before");
        auto steps = read_steps(function, rows, modes, first, program);
        if (ufunc != Py_None && (steps->operands != 2 || loop == Py_None || !PyCallable_Check(ufunc)))
            refuse("ufunc is to be called, of a loop of two operands");
        PyObject *made = PyType_GenericAlloc(type, 0);
        if (made == nullptr) return nullptr;
        CastingKernel *self = kernel_of<CastingKernel>(made);
        self->call = kernel_call;
        const bool is_loop = steps->computes() && !steps->program;
        self->function = Py_NewRef(is_loop ? Py_None : function);
        self->program = Py_NewRef(program);
        self->ufunc = Py_NewRef(ufunc);
        self->longest = longest >= 0 ? (size_t)longest : LONG;
        self->steps = steps.release();
        self->empty = Py_NewRef(empty);
        self->empty_like = Py_NewRef(like);
        self->watched = Py_NewRef(watched);
        self->loop = Py_NewRef(loop);
        self->computed_storage = Py_NewRef(computed);
        self->result_storage = Py_NewRef(result);
        return made;
    });
}

}  // namespace

nanobind::object casting_kernel_type() {
    return kernel_type<CastingKernel>(
        "promoarray.kernels._cpu.CastingKernel",
        "An operation between its casts; of operands that it is not made for it answers None.",
        kernel_new);
}

}  // namespace promoarray
