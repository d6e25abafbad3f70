// A callable that reduces one short array to a number: its cast, the fold, what is made of that, and
// the cast of the result. What it is not made for it hands to another callable.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

#include "array_view.h"
#include "float_state.h"
#include "folds.h"
#include "integer_variance.h"
#include "kernel_type.h"
#include "module.h"
#include "versions.h"

namespace promoarray {
namespace {

constexpr size_t SOME = 1 << 15;  // elements; of more, `otherwise` lets go of the GIL
constexpr size_t MOST = 16;       // bytes of what is made
constexpr double TINY = 1e-30;    // below it NumPy may have an underflow to tell

enum class Made { fold, mean, var, std };

bool is_complex(const Type &type) { return type.kind == Kind::complex; }

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
    Type own, computed, answer, result;
    Fold fold, squares;
    const IntegerVariance *integers;  // null where a variance is one of floats
    bool is_whole;                    // as is its own mean then, of float32, and the variance
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
        lines.parts = pairs() ? 2 : 1;
        lines.center = center;
        lines.result_size = size_of(computed);
        lines.result = out;
        return !loop(lines);
    }

    bool pairs() const { return is_complex(own); }

    // A number, or a part of one.
    double value(const char *at, size_t part = 0) const {
        if (computed.bits == 64) {
            double value;
            return std::memcpy(&value, at + part * sizeof value, sizeof value), value;
        }
        float value;
        std::memcpy(&value, at + part * sizeof value, sizeof value);
        return static_cast<double>(value);
    }
    void put(char *at, double value, size_t part = 0) const {
        const auto narrow = static_cast<float>(value);
        if (computed.bits == 64) std::memcpy(at + part * sizeof value, &value, sizeof value);
        else std::memcpy(at + part * sizeof narrow, &narrow, sizeof narrow);
    }
    // As NumPy divides by a count, in float64; false where it may tell of it in its own words.
    bool divide(char *at, double count) const {
        const double whole = value(at);
        put(at, whole / count);
        return is_told(whole, count);
    }
    // Complex numbers by Smith's formula, in which a count has an imaginary part of 0.
    bool divide_pair(char *at, double count) const {
        const double real = value(at), imag = value(at, 1), scale = 1.0 / count;
        put(at, (real + imag * 0.0) * scale);
        put(at, (imag - real * 0.0) * scale, 1);
        return is_told(real, count) && is_told(imag, count);
    }
    static bool is_told(double whole, double count) {
        return whole == 0 || count == 1 || std::fabs(whole / count) > TINY;
    }
    bool divide_sum(char *at, double count) const {
        return pairs() ? divide_pair(at, count) : divide(at, count);
    }

    bool run_integers(const View &x, double ddof, char *out) const {
        const auto n = static_cast<double>(x.count());
        if (made == Made::mean) {
            const u64 whole = integers->mean(x.data(), x.count());
            return std::memcpy(out, &whole, sizeof whole), true;
        }
        alignas(8) char mean[MOST];
        if (is_whole && !(run(fold, x, nullptr, mean) && divide(mean, n))) return false;
        const u64 center = is_whole ? integers->whole(static_cast<float>(value(mean)))
                                    : integers->mean(x.data(), x.count());
        float var = integers->around(x.data(), x.count(), center, std::max(n - ddof, 0.0));
        if (std::isnan(var)) return false;
        const u64 whole = is_whole ? integers->whole(var) : 0;
        if (is_whole && made == Made::var) return std::memcpy(out, &whole, sizeof whole), true;
        if (is_whole) var = integers->single(whole);
        put(out, static_cast<double>(made == Made::std ? std::sqrt(var) : var));
        return true;
    }

    bool run(const View &x, double ddof, char *out) const {
        if (integers != nullptr) return run_integers(x, ddof, out);
        const auto n = static_cast<double>(x.count());
        if (!run(fold, x, nullptr, out)) return false;
        if (made == Made::fold) return true;
        if (made == Made::mean) return divide_sum(out, n);
        alignas(8) char center[MOST];
        std::memcpy(center, out, sizeof center);
        if (!(n - ddof > 0) || !divide_sum(center, n) || !run(squares, x, center, out) ||
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
    PyObject *otherwise, *empty, *storage, *watched;
    size_t longest;  // elements

    std::array<PyObject *, 4> parts() const { return {otherwise, empty, storage, watched}; }
    void release() { delete folding; }
};

// Whether an axis names one of so many that is not in a mask yet.
bool names_another(PyObject *axis, int ndim, unsigned long &mask) {
    if (!PyLong_CheckExact(axis)) return false;
    int overflow;
    const long at = PyLong_AsLongAndOverflow(axis, &overflow);
    if (overflow != 0 || at < -ndim || at >= ndim) return false;
    const unsigned long bit = 1ul << (at < 0 ? at + ndim : at);
    const bool is_new = (mask & bit) == 0;
    mask |= bit;
    return is_new;
}

// Whether these are all axes: None, an int or a tuple of them.
bool names_all(PyObject *axis, int ndim) {
    if (axis == Py_None) return true;
    unsigned long mask = 0;
    if (!PyTuple_CheckExact(axis)) return ndim == 1 && names_another(axis, ndim, mask);
    if (PyTuple_Size(axis) != ndim || ndim > 31) return false;
    for (int i = 0; i < ndim; ++i)
        if (!names_another(PyTuple_GetItem(axis, i), ndim, mask)) return false;
    return true;
}

// Whether all is reduced to one number: axis=, ddof= of a variance, and keepdims=, in this order.
bool reads_options(PyObject *const *options, Py_ssize_t count, int ndim, double &ddof, bool &keeps) {
    if (count == 0) return true;
    if (count > 3 || !PyBool_Check(options[count - 1])) return false;
    keeps = options[count - 1] == Py_True;
    if (count == 3) {
        if (!PyFloat_CheckExact(options[1]) && !PyLong_CheckExact(options[1])) return false;
        ddof = PyFloat_AsDouble(options[1]);
        if (PyErr_Occurred()) return PyErr_Clear(), false;
    }
    return names_all(options[0], ndim);
}

// The shape of a number with so many axes.
nb::object shape_of(int ndim) {
    nb::object shape = nb::steal(PyTuple_New(ndim));
    for (int i = 0; shape.is_valid() && i < ndim; ++i)
        PyTuple_SetItem(shape.ptr(), i, PyLong_FromLong(1));
    return shape;
}

// Null without an error where the other callable is to be asked.
PyObject *reduced(const FoldingKernel *self, const View &x, double ddof, bool keeps) {
    const nb::object shape = shape_of(keeps ? x.ndim() : 0);
    if (!shape.is_valid()) return nullptr;
    PyObject *args[] = {shape.ptr(), self->storage};
    nanobind::object out = nanobind::steal(PyObject_Vectorcall(self->empty, args, 2, nullptr));
    View place;
    const Folding &folding = *self->folding;
    const size_t parts = is_complex(folding.answer) ? 2 : 1;
    if (!out.is_valid() || !place.open(out.ptr(), folding.result, PyBUF_WRITABLE)) return nullptr;
    int raised;
    {
        const DefaultFloatState state;
        alignas(8) char made[MOST] = {};
        std::memset(place.data(), 0, item_of(folding.result));  // the imaginary part of a real number
        if (!folding.run(x, ddof, made)) return nullptr;
        const Cast &leave = *folding.leave;
        raised = state.raised();  // casts tell nothing
        if (leave.loop != nullptr) leave.loop(made, place.data(), parts, leave.work);
        else std::memcpy(place.data(), made, size_of(folding.answer) * parts);
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
    bool keeps = false;
    View x;
    PyObject *out = nullptr;
    if (PyVectorcall_NARGS(nargs) == 1 && x.open(args[0], self->folding->own) && x.ndim() > 0 &&
        x.count() > 0 && x.count() <= self->longest &&
        reads_options(args + 1, options, x.ndim(), ddof, keeps))
        out = reduced(self, x, ddof, keeps);
    if (out != nullptr || PyErr_Occurred()) return out;
    x.release();
    return PyObject_Vectorcall(self->otherwise, args, nargs, names);
}

// "integer_var" is a "var" of integers, and so on.
std::unique_ptr<Folding> read_folding(std::string name, PyObject *rows, PyObject *modes) {
    if (PyTuple_Size(rows) != 3 || PyTuple_Size(modes) != 2)
        throw nb::type_error("there are 3 rows and 2 modes");
    auto made = std::make_unique<Folding>();
    made->is_whole = name == "integer_var" || name == "integer_std";
    const bool around = name == "var_around_integer" || name == "std_around_integer";
    const bool of_integers = made->is_whole || around || name == "exact_integer_mean";
    for (const char *one : {"mean", "var", "std"})
        if (of_integers && name.find(one) != std::string::npos) name = one;
    const bool of_sums = name == "mean" || name == "var" || name == "std";
    made->made = name == "mean" ? Made::mean : name == "var" ? Made::var
                 : name == "std" ? Made::std : Made::fold;
    made->own = read_type(PyTuple_GetItem(rows, 0), "row");
    made->computed = read_type(PyTuple_GetItem(rows, 1), "computed_row");
    made->result = read_type(PyTuple_GetItem(rows, 2), "result_row");
    const bool of_gaps = name == "var" || name == "std";
    made->answer = of_gaps ? part_of(made->computed) : made->computed;
    if (of_integers) {
        made->integers = integer_variance(made->own);
        if (made->integers == nullptr || made->computed.bits != 32)
            refuse("means and variances of integers are of those of 8 bits and more, by float32");
        if (name == "mean" || (made->is_whole && name == "var")) made->answer = made->own;
    }
    if (is_complex(made->own) != is_complex(made->computed))
        refuse("what is computed in is complex where elements are");
    if (is_complex(made->answer) && !is_complex(made->result)) refuse("the result is real");
    if (of_sums && (part_of(made->computed).kind != Kind::real || made->computed.bits < 32))
        refuse("means are of float32, float64 and complex numbers of these");
    const auto fold_of = [&](const char *what) {
        return version().fold(what, made->computed, made->computed);
    };
    made->fold = fold_of(of_sums ? "sum" : name.c_str());
    made->squares = of_sums ? fold_of("squares") : nullptr;
    if (made->fold == nullptr || (of_sums && made->squares == nullptr))
        refuse("there is no loop that computes " + name);
    made->enter = std::make_unique<const Cast>(part_of(made->own), part_of(made->computed),
                                               read_mode(PyTuple_GetItem(modes, 0)));
    made->leave = std::make_unique<const Cast>(part_of(made->answer), part_of(made->result),
                                               read_mode(PyTuple_GetItem(modes, 1)));
    return made;
}

PyObject *folding_new(PyTypeObject *type, PyObject *args, PyObject *) {
    const char *name;
    PyObject *rows, *modes, *storage, *empty, *watched, *otherwise;
    Py_ssize_t longest = SOME;
    if (!PyArg_ParseTuple(args, "sO!O!OOOO|n", &name, &PyTuple_Type, &rows, &PyTuple_Type, &modes,
                          &storage, &empty, &watched, &otherwise, &longest))
        return nullptr;
    return made_or_raised([&]() -> PyObject * {
        auto folding = read_folding(name, rows, modes);
        PyObject *made = PyType_GenericAlloc(type, 0);
        if (made == nullptr) return nullptr;
        FoldingKernel *self = kernel_of<FoldingKernel>(made);
        self->call = folding_call;
        self->folding = folding.release();
        self->longest = std::min((size_t)std::max<Py_ssize_t>(longest, 0), SOME);
        self->otherwise = Py_NewRef(otherwise);
        self->empty = Py_NewRef(empty);
        self->storage = Py_NewRef(storage);
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
