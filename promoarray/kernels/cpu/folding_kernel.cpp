// A callable that reduces axes of one short array in rows, or runs along one: its cast, the fold, what
// is made of it, and the cast of the result. What it is not made for it hands to another callable.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>

#include "array_view.h"
#include "float_state.h"
#include "folds.h"
#include "integer_variance.h"
#include "kernel_type.h"
#include "module.h"
#include "unlocked.h"
#include "versions.h"

namespace promoarray {
namespace {

constexpr size_t MOST = 1 << 18;   // elements
constexpr size_t SOME = 1 << 15;   // results at most; of more elements it lets go of the GIL
constexpr size_t PIECE = 1 << 14;  // bytes that lines are cast to at once
constexpr double TINY = 1e-30;     // below it NumPy may have an underflow to tell

enum class Made { fold, mean, var, std, running };

bool is_complex(const Type &type) { return type.kind == Kind::complex; }

// A cast whose loop was chosen; no loop where there is nothing to cast.
struct Cast {
    Loop loop = nullptr;
    Work work;
    Cast(Type from, Type to, const CastMode &mode) {
        if (!same_type(from, to)) loop = version().choose(from, to, mode, MOST, true, work);
    }
};

// What is reduced of an array in rows: lines before, their length, and how many beside each other.
struct Way {
    size_t outer = 1, n = 1, inner = 1;
    size_t results() const { return outer * inner; }
};

// Memory for a number, or for more; none where there is no more.
class Room {
   public:
    explicit Room(size_t size) : more_(size > FEW ? new (std::nothrow) char[size] : nullptr) {
        data_ = size > FEW ? more_.get() : few_;
    }
    char *data() { return data_; }

   private:
    static constexpr size_t FEW = 256;  // bytes
    alignas(16) char few_[FEW];
    std::unique_ptr<char[]> more_;
    char *data_;
};

// Divides as NumPy divides by a count, in float64; false where it may tell of it in its own words.
template <typename T> bool divide(T *x, size_t n, double count) {
    // A quotient of float32 that is rounded in float64 first is none other.
    const bool is_whole = static_cast<T>(count) == count;
    const auto by = static_cast<T>(count), tiny = static_cast<T>(TINY);
    int tells = 0;
    for (size_t i = 0; i < n; ++i) {
        const T whole = x[i], one = is_whole ? whole / by : static_cast<T>(whole / count);
        x[i] = one;
        tells |= (whole != 0) & (by != 1) & !(std::fabs(one) > tiny);
    }
    return tells == 0;
}
// Complex numbers by Smith's formula, in which a count has an imaginary part of 0.
template <typename T> bool divide_pairs(T *x, size_t n, double count) {
    const double scale = 1.0 / count;
    bool told = true;
    for (size_t i = 0; i < 2 * n; i += 2) {
        const double real = x[i], imag = x[i + 1];
        x[i] = static_cast<T>((real + imag * 0.0) * scale);
        x[i + 1] = static_cast<T>((imag - real * 0.0) * scale);
        for (const double whole : {real, imag})
            told &= (whole == 0) | (count == 1) | (std::fabs(whole / count) > TINY);
    }
    return told;
}
template <typename T> void take_roots(T *x, size_t n) {
    for (size_t i = 0; i < n; ++i) x[i] = std::sqrt(x[i]);
}

// All that a kernel is, but for Python's objects.
struct Folding {
    Made made;
    Type own, computed, folded, answer, result;  // a fold is of what is computed, or a count of it
    Fold fold, squares;
    const IntegerVariance *integers;  // null where a variance is one of floats
    bool is_whole;                    // as is its own mean then, of float32, and the variance
    std::unique_ptr<const Cast> enter, leave;

    bool pairs() const { return is_complex(own); }
    bool runs() const { return made == Made::running; }

    // What a function makes of numbers in what is computed in.
    template <typename Function> auto numbers(char *at, const Function &function) const {
        return computed.bits == 64 ? function(reinterpret_cast<double *>(at))
                                   : function(reinterpret_cast<float *>(at));
    }
    bool divide_sums(char *at, size_t n, double count) const {
        return numbers(at, [&](auto *x) {
            return pairs() ? divide_pairs(x, n, count) : divide(x, n, count);
        });
    }

    // The folds of lines, in what is computed in; false where one cannot be told. Short ones are
    // cast several at once, as a loop casts each by itself.
    bool run(Fold loop, const char *x, const Way &way, const char *center, char *out) const {
        alignas(64) char cast[PIECE];
        const size_t line = way.n * way.inner, parts = pairs() ? 2 : 1;
        const size_t most = PIECE / item_of(computed) / line;
        const size_t made_of_one = item_of(center == nullptr ? folded : answer);
        const bool casts = enter->loop != nullptr && most > 1 && !runs();
        Lines lines = {};
        lines.n = way.n;
        lines.inner = way.inner;
        lines.runs = 1;
        lines.enter = casts ? nullptr : enter->loop;
        lines.enter_work = &enter->work;
        lines.source_size = size_of(casts ? computed : own);
        lines.parts = parts;
        lines.leave = runs() ? leave->loop : nullptr;
        lines.leave_work = &leave->work;
        lines.result_size = size_of(answer);
        for (size_t o = 0; o < way.outer; o += lines.outer) {
            lines.outer = casts ? std::min(most, way.outer - o) : way.outer;
            const char *from = x + o * line * item_of(own);
            if (casts) enter->loop(from, cast, lines.outer * line * parts, enter->work);
            lines.source = casts ? cast : from;
            const size_t at = o * way.inner;
            lines.center = center == nullptr ? nullptr : center + at * item_of(computed);
            lines.result = out + at * made_of_one;
            if (loop(lines)) return false;
        }
        return true;
    }

    bool run_integers(const char *x, size_t n, double ddof, char *out) const {
        if (made == Made::mean) {
            const u64 whole = integers->mean(x, n);
            return std::memcpy(out, &whole, size_of(own)), true;
        }
        float mean = 0;
        if (is_whole && !(run(fold, x, {1, n, 1}, nullptr, reinterpret_cast<char *>(&mean)) &&
                          divide(&mean, 1, static_cast<double>(n))))
            return false;
        const u64 center = is_whole ? integers->whole(mean) : integers->mean(x, n);
        float var = integers->around(x, n, center, std::max(static_cast<double>(n) - ddof, 0.0));
        if (std::isnan(var)) return false;
        const u64 whole = is_whole ? integers->whole(var) : 0;
        if (is_whole && made == Made::var) return std::memcpy(out, &whole, size_of(own)), true;
        if (is_whole) var = integers->single(whole);
        if (made == Made::std) var = std::sqrt(var);
        return std::memcpy(out, &var, sizeof var), true;
    }

    bool run(const char *x, const Way &way, double ddof, char *out) const {
        if (integers != nullptr) {
            bool told = way.inner == 1;
            for (size_t i = 0; i < way.outer && told; ++i)
                told = run_integers(x + i * way.n * size_of(own), way.n, ddof,
                                    out + i * size_of(answer));
            return told;
        }
        const size_t count = way.results();
        const auto n = static_cast<double>(way.n);
        if (made == Made::fold || runs()) return run(fold, x, way, nullptr, out);
        if (made == Made::mean)
            return run(fold, x, way, nullptr, out) && divide_sums(out, count, n);
        Room center(count * item_of(computed));
        if (!(n - ddof > 0) || center.data() == nullptr ||
            !run(fold, x, way, nullptr, center.data()) || !divide_sums(center.data(), count, n) ||
            !run(squares, x, way, center.data(), out))
            return false;
        return numbers(out, [&](auto *var) {
            const bool told = divide(var, count, n - ddof);
            if (made == Made::std) take_roots(var, count);
            return told;
        });
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

// Whether an axis names one of so many that is not among those yet; each has a bit.
bool adds_axis(PyObject *axis, int ndim, u64 &axes) {
    if (!PyLong_CheckExact(axis)) return false;
    int overflow;
    const long at = PyLong_AsLongAndOverflow(axis, &overflow);
    if (overflow != 0 || at < -ndim || at >= ndim) return false;
    const u64 bit = u64{1} << (at < 0 ? at + ndim : at);
    const bool is_new = (axes & bit) == 0;
    axes |= bit;
    return is_new;
}

// None for all axes, an int or a tuple of some.
bool read_axes(PyObject *axis, int ndim, u64 &axes) {
    if (axis == Py_None) return true;
    axes = 0;
    if (!PyTuple_CheckExact(axis)) return adds_axis(axis, ndim, axes);
    for (Py_ssize_t i = 0; i < PyTuple_Size(axis); ++i)
        if (!adds_axis(PyTuple_GetItem(axis, i), ndim, axes)) return false;
    return axes != 0;
}

// axis=, ddof= of a variance, and keepdims=, in this order; or axis= and include_initial=.
struct Options {
    u64 axes = ~u64{0};
    double ddof = 0;
    bool keeps = false;
    bool is_one = false;  // an axis by its number, or the only one

    bool read(PyObject *const *values, Py_ssize_t count, int ndim) {
        PyObject *axis = count == 0 ? Py_None : values[0];
        is_one = axis == Py_None ? ndim == 1 : !PyTuple_CheckExact(axis);
        if (count == 0) return true;
        if (count > 3 || !PyBool_Check(values[count - 1])) return false;
        keeps = values[count - 1] == Py_True;
        if (count == 3) {
            if (!PyFloat_CheckExact(values[1]) && !PyLong_CheckExact(values[1])) return false;
            ddof = PyFloat_AsDouble(values[1]);
            if (PyErr_Occurred()) return PyErr_Clear(), false;
        }
        return read_axes(axis, ndim, axes);
    }
    bool reduces(int axis) const { return (axes >> axis & 1) != 0; }
};

// Whether all axes that are reduced lie next to each other, but for those that are no lines.
bool read_way(const View &x, const Options &options, Way &way) {
    for (int i = 0; i < x.ndim(); ++i) {
        const size_t length = x.length(i);
        if (length == 1) continue;
        if (!options.reduces(i)) (way.n == 1 ? way.outer : way.inner) *= length;
        else if (way.inner != 1) return false;
        else way.n *= length;
    }
    return true;
}

// The same of an axis that sums or products run along, whatever its length.
Way running_way(const View &x, const Options &options) {
    Way way;
    for (int i = 0, behind = 0; i < x.ndim(); ++i) {
        if (options.reduces(i)) way.n = x.length(i), behind = 1;
        else (behind ? way.inner : way.outer) *= x.length(i);
    }
    return way;
}

// Memory for what is left of an array, or for as much as it has.
nb::object new_result(const FoldingKernel *self, const View &x, const Options &options) {
    if (self->folding->runs()) return nb::steal(new_array(x.ndim(), x.shape(), self->storage, self->empty));
    Py_ssize_t lengths[PyBUF_MAX_NDIM];
    int ndim = 0;
    for (int i = 0; i < x.ndim(); ++i)
        if (options.keeps || !options.reduces(i))
            lengths[ndim++] = options.reduces(i) ? 1 : static_cast<Py_ssize_t>(x.length(i));
    return nb::steal(new_array(ndim, lengths, self->storage, self->empty));
}

// Null without an error where the other callable is to be asked.
PyObject *reduced(const FoldingKernel *self, const View &x, const Options &options) {
    const Folding &folding = *self->folding;
    const size_t parts = is_complex(folding.answer) ? 2 : 1;
    Way way;
    if (folding.runs() && (!options.is_one || options.keeps)) return nullptr;
    if (folding.runs()) way = running_way(x, options);
    else if (!read_way(x, options, way)) return nullptr;
    const size_t count = way.results();
    // No more than 1 MiB lies beside the results; and only of one are both parts written where an
    // answer is real, and a result is not.
    const bool is_many = count > 1 && is_complex(folding.answer) != is_complex(folding.result);
    if (count > SOME || is_many) return nullptr;
    nb::object out = new_result(self, x, options);
    View place;
    if (!out.is_valid() || !place.open(out.ptr(), folding.result, PyBUF_WRITABLE)) return nullptr;
    auto *results = static_cast<char *>(place.data());
    int raised;
    {
        std::optional<Unlocked> unlocked;
        if (x.count() > SOME) unlocked.emplace();
        const DefaultFloatState state;
        const Cast &leave = *folding.leave;
        const bool in_place = same_type(folding.answer, folding.result);
        Room room(in_place ? 0 : count * item_of(folding.answer));
        char *made = in_place ? results : room.data();
        const auto *given = static_cast<const char *>(x.data());
        if (made == nullptr || !folding.run(given, way, options.ddof, made)) return nullptr;
        raised = state.raised();  // casts tell nothing
        if (count == 1 && parts == 1 && is_complex(folding.result))
            std::memset(results, 0, item_of(folding.result));  // the imaginary part
        if (!in_place && leave.loop != nullptr)
            leave.loop(made, results, count * parts, leave.work);
        else if (!in_place) std::memcpy(results, made, item_of(folding.answer));
    }
    if (raised != 0) {
        const nanobind::object watched = nanobind::steal(PyObject_CallNoArgs(self->watched));
        if (!watched.is_valid() || (PyLong_AsLong(watched.ptr()) & raised) != 0) return nullptr;
    }
    return out.release().ptr();
}

PyObject *folding_call(PyObject *object, PyObject *const *args, std::size_t nargs, PyObject *names) {
    const FoldingKernel *self = kernel_of<FoldingKernel>(object);
    const Py_ssize_t count = names != nullptr ? PyTuple_Size(names) : 0;
    Options options;
    View x;
    PyObject *out = nullptr;
    nanobind::object copy;
    bool fits = PyVectorcall_NARGS(nargs) == 1;
    if (fits && !x.open(args[0], self->folding->own)) {
        copy = copy_in_rows(args[0], true);
        x.release();
        fits = copy.is_valid() && x.open(copy.ptr(), self->folding->own);
    }
    if (fits && x.ndim() > 0 && x.count() > 0 && x.count() <= self->longest &&
        options.read(args + 1, count, x.ndim()))
        out = reduced(self, x, options);
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
    const bool counts = name == "count_nonzero";
    const bool of_sums = name == "mean" || name == "var" || name == "std";
    const bool runs = name == "cumulative_sum" || name == "cumulative_prod";
    made->made = name == "mean" ? Made::mean : name == "var" ? Made::var
                 : name == "std" ? Made::std : runs ? Made::running : Made::fold;
    made->own = read_type(PyTuple_GetItem(rows, 0), "row");
    made->computed = read_type(PyTuple_GetItem(rows, 1), "computed_row");
    made->result = read_type(PyTuple_GetItem(rows, 2), "result_row");
    const bool of_gaps = name == "var" || name == "std";
    made->folded = counts ? Type{Kind::signed_integer, 64, {}} : made->computed;
    made->answer = runs ? made->result : of_gaps ? part_of(made->computed) : made->folded;
    if (of_integers) {
        made->integers = integer_variance(made->own);
        if (made->integers == nullptr || made->computed.bits != 32)
            refuse("means and variances of integers are of those of 8 bits and more, by float32");
        if (name == "mean" || (made->is_whole && name == "var")) made->answer = made->own;
    }
    if (!counts && is_complex(made->own) != is_complex(made->computed))
        refuse("what is computed in is complex where elements are");
    if (is_complex(made->answer) && !is_complex(made->result)) refuse("the result is real");
    if (runs && is_complex(made->answer) != is_complex(made->computed))
        refuse("the result is complex");
    if (of_sums && (part_of(made->computed).kind != Kind::real || made->computed.bits < 32))
        refuse("means are of float32, float64 and complex numbers of these");
    const auto find = [&](Type read) {
        made->fold = version().fold(of_sums ? "sum" : name.c_str(), read, made->computed);
        made->squares = of_sums ? version().fold("squares", read, made->computed) : nullptr;
        return made->fold != nullptr && (made->squares != nullptr || !of_sums);
    };
    // Short floats are read sooner than they are cast, integers later; what is counted is read.
    const bool reads_own = (counts || made->own.kind == Kind::real) && find(made->own);
    const Type read = reads_own ? made->own : made->computed;
    if (!find(read) || is_complex(read) != is_complex(made->own))
        refuse("there is no loop that computes " + name);
    made->enter = std::make_unique<const Cast>(part_of(made->own), part_of(read),
                                               read_mode(PyTuple_GetItem(modes, 0)));
    const Type leaves = part_of(runs ? made->computed : made->answer);
    made->leave = std::make_unique<const Cast>(leaves, part_of(made->result),
                                               read_mode(PyTuple_GetItem(modes, 1)));
    return made;
}

PyObject *folding_new(PyTypeObject *type, PyObject *args, PyObject *) {
    const char *name;
    PyObject *rows, *modes, *storage, *empty, *watched, *otherwise;
    Py_ssize_t longest = MOST;
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
        self->longest = std::min((size_t)std::max<Py_ssize_t>(longest, 0), MOST);
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
        "A reduction of axes of a short array in rows; of others, what `otherwise` answers.",
        folding_new);
}

}  // namespace promoarray
