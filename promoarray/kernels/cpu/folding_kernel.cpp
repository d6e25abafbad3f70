// A callable that reduces one short array to a number: its cast, the fold, what is made of that, and
// the cast of the result. What it is not made for it hands to another callable.
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

#include "array_view.h"
#include "float_state.h"
#include "folds.h"
#include "kernel_type.h"
#include "module.h"
#include "versions.h"

namespace promoarray {
namespace {

constexpr size_t SOME = 1 << 15;  // elements; of more, `otherwise` lets go of the GIL
constexpr double TINY = 1e-30;    // below it NumPy may have an underflow to tell

enum class Made { fold, mean, var, std };

// A cast whose loop was chosen; no loop where there is nothing to cast.
struct Cast {
    Loop loop = nullptr;
    Work work;
    Cast(Type from, Type to, const CastMode &mode) {
        if (!same_type(from, to)) loop = version().choose(from, to, mode, SOME, true, work);
    }
};

// All that a kernel is, but for Python's objects.
struct Folding {
    Made made;
    Type own, computed, result;
    Fold fold, squares;
    std::unique_ptr<const Cast> enter, leave;

    // The fold of an array, in what is computed in; false where it cannot tell the result.
    bool run(Fold loop, const View &x, const char *center, char *out) const {
        Lines lines = {};
        lines.source = static_cast<const char *>(x.data());
        lines.outer = lines.inner = lines.runs = 1;
        lines.n = x.count();
        lines.enter = enter->loop;
        lines.enter_work = &enter->work;
        lines.source_size = size_of(own);
        lines.center = center;
        lines.result_size = size_of(computed);
        lines.result = out;
        return !loop(lines);
    }

    double value(const char *at) const {
        if (computed.bits == 64) {
            double value;
            return std::memcpy(&value, at, sizeof value), value;
        }
        float value;
        return std::memcpy(&value, at, sizeof value), static_cast<double>(value);
    }
    void put(char *at, double value) const {
        const auto narrow = static_cast<float>(value);
        if (computed.bits == 64) std::memcpy(at, &value, sizeof value);
        else std::memcpy(at, &narrow, sizeof narrow);
    }
    // As NumPy divides by a count, in float64; false where it may tell of it in its own words.
    bool divide(char *at, double count) const {
        const double whole = value(at);
        put(at, whole / count);
        return whole == 0 || std::fabs(whole / count) > TINY;
    }

    bool run(const View &x, double ddof, char *out) const {
        const auto n = static_cast<double>(x.count());
        if (!run(fold, x, nullptr, out)) return false;
        if (made == Made::fold) return true;
        if (made == Made::mean) return divide(out, n);
        alignas(8) char center[8];
        std::memcpy(center, out, sizeof center);
        if (!(n - ddof > 0) || !divide(center, n) || !run(squares, x, center, out) ||
            !divide(out, n - ddof))
            return false;
        if (made == Made::std) {
            const double var = value(out);
            put(out, computed.bits == 64 ? std::sqrt(var) : std::sqrt(static_cast<float>(var)));
        }
        return true;
    }
};

struct FoldingKernel {
    PyObject_HEAD
    vectorcallfunc call;
    Folding *folding;
    PyObject *otherwise, *empty, *storage, *shape, *watched;

    std::array<PyObject *, 5> parts() const { return {otherwise, empty, storage, shape, watched}; }
    void release() { delete folding; }
};

// Whether all is reduced to one number: axis=, ddof= of a variance, and keepdims=, in this order.
bool reads_options(PyObject *const *options, Py_ssize_t count, int ndim, double &ddof) {
    if (count == 0) return true;
    if (count > 3 || options[count - 1] != Py_False) return false;
    if (count == 3) {
        if (!PyFloat_CheckExact(options[1]) && !PyLong_CheckExact(options[1])) return false;
        ddof = PyFloat_AsDouble(options[1]);
        if (PyErr_Occurred()) return PyErr_Clear(), false;
    }
    if (options[0] == Py_None) return true;
    if (ndim != 1 || !PyLong_CheckExact(options[0])) return false;
    const long axis = PyLong_AsLong(options[0]);
    if (PyErr_Occurred()) return PyErr_Clear(), false;
    return axis == 0 || axis == -1;
}

// Null without an error where the other callable is to be asked.
PyObject *reduced(const FoldingKernel *self, const View &x, double ddof) {
    PyObject *args[] = {self->shape, self->storage};
    nanobind::object out = nanobind::steal(PyObject_Vectorcall(self->empty, args, 2, nullptr));
    View place;
    const Folding &folding = *self->folding;
    if (!out.is_valid() || !place.open(out.ptr(), folding.result, PyBUF_WRITABLE)) return nullptr;
    int raised;
    {
        const DefaultFloatState state;
        alignas(8) char made[8] = {};
        if (!folding.run(x, ddof, made)) return nullptr;
        const Cast &leave = *folding.leave;
        raised = state.raised();  // casts tell nothing
        if (leave.loop != nullptr) leave.loop(made, place.data(), 1, leave.work);
        else std::memcpy(place.data(), made, size_of(folding.computed));
    }
    if (raised != 0) {
        const nanobind::object watched = nanobind::steal(PyObject_CallNoArgs(self->watched));
        if (!watched.is_valid() || (PyLong_AsLong(watched.ptr()) & raised) != 0) return nullptr;
    }
    return out.release().ptr();
}

PyObject *folding_call(PyObject *object, PyObject *const *args, std::size_t nargs, PyObject *names) {
    const FoldingKernel *self = kernel_of<FoldingKernel>(object);
    const Py_ssize_t options = names != nullptr ? PyTuple_Size(names) : 0;
    double ddof = 0;
    View x;
    PyObject *out = nullptr;
    if (PyVectorcall_NARGS(nargs) == 1 && x.open(args[0], self->folding->own) && x.ndim() > 0 &&
        x.count() > 0 && x.count() <= SOME && reads_options(args + 1, options, x.ndim(), ddof))
        out = reduced(self, x, ddof);
    if (out != nullptr || PyErr_Occurred()) return out;
    x.release();
    return PyObject_Vectorcall(self->otherwise, args, nargs, names);
}

std::unique_ptr<Folding> read_folding(const std::string &name, PyObject *rows, PyObject *modes) {
    if (PyTuple_Size(rows) != 3 || PyTuple_Size(modes) != 2)
        throw nb::type_error("there are 3 rows and 2 modes");
    auto made = std::make_unique<Folding>();
    const bool of_sums = name == "mean" || name == "var" || name == "std";
    made->made = name == "mean" ? Made::mean : name == "var" ? Made::var
                 : name == "std" ? Made::std : Made::fold;
    made->own = read_type(PyTuple_GetItem(rows, 0), "row");
    made->computed = read_type(PyTuple_GetItem(rows, 1), "computed_row");
    made->result = read_type(PyTuple_GetItem(rows, 2), "result_row");
    for (const Type &type : {made->own, made->computed, made->result})
        if (type.kind == Kind::complex) refuse("a row is complex");
    if (of_sums && (made->computed.kind != Kind::real || made->computed.bits < 32))
        refuse("means are of float32 or float64");
    const auto fold_of = [&](const char *what) {
        return version().fold(what, made->computed, made->computed);
    };
    made->fold = fold_of(of_sums ? "sum" : name.c_str());
    made->squares = of_sums ? fold_of("squares") : nullptr;
    if (made->fold == nullptr || (of_sums && made->squares == nullptr))
        refuse("there is no loop that computes " + name);
    made->enter = std::make_unique<const Cast>(made->own, made->computed,
                                               read_mode(PyTuple_GetItem(modes, 0)));
    made->leave = std::make_unique<const Cast>(made->computed, made->result,
                                               read_mode(PyTuple_GetItem(modes, 1)));
    return made;
}

PyObject *folding_new(PyTypeObject *type, PyObject *args, PyObject *) {
    const char *name;
    PyObject *rows, *modes, *storage, *empty, *watched, *otherwise;
    if (!PyArg_ParseTuple(args, "sO!O!OOOO", &name, &PyTuple_Type, &rows, &PyTuple_Type, &modes,
                          &storage, &empty, &watched, &otherwise))
        return nullptr;
    return made_or_raised([&]() -> PyObject * {
        auto folding = read_folding(name, rows, modes);
        PyObject *shape = PyTuple_New(0);
        PyObject *made = shape != nullptr ? PyType_GenericAlloc(type, 0) : nullptr;
        if (made == nullptr) return nullptr;
        FoldingKernel *self = kernel_of<FoldingKernel>(made);
        self->call = folding_call;
        self->folding = folding.release();
        self->otherwise = Py_NewRef(otherwise);
        self->empty = Py_NewRef(empty);
        self->storage = Py_NewRef(storage);
        self->shape = shape;
        self->watched = Py_NewRef(watched);
        return made;
    });
}

}  // namespace

nanobind::object folding_kernel_type() {
    return kernel_type<FoldingKernel>(
        "promoarray.kernels._cpu.FoldingKernel",
        "A reduction of a short array to a number; of others, what `otherwise` answers.",
        folding_new);
}

}  // namespace promoarray
