// A callable that casts operands, runs an operation on them, and casts its result: all that a plan
// asks for, read from Python once. Operands that it is not made for are answered with None.
// Plain C API, for the sake of the vectorcall.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "arguments.h"
#include "combine.h"
#include "cursor.h"
#include "float_state.h"
#include "module.h"
#include "caster.h"

#if PY_VERSION_HEX < 0x030C0000  // the names of descrobject.h are new in 3.12
#include <structmember.h>
#define Py_T_PYSSIZET T_PYSSIZET
#define Py_READONLY READONLY
#endif

namespace promoarray {
namespace {

constexpr size_t SHORT = 256;     // elements; what a cast of two steps has in between, and a cast alone
constexpr size_t BLOCK = 1024;    // elements; what a loop has on the stack
constexpr size_t LONG = 1 << 15;  // elements; of more, `run` computes in blocks, without the GIL
constexpr int MOST = 2;          // operands
constexpr int MOST_OPTIONS = 4;  // what a function takes besides
constexpr int WAYS = 1 << MOST;  // which operands are repeated

constexpr size_t LARGEST = 16;   // bytes of an element: of a complex one

Type part_of(Type type) {
    if (type.kind == Kind::complex) type.kind = Kind::real;
    return type;
}
size_t item_of(const Type &type) { return size_of(type) * (type.kind == Kind::complex ? 2 : 1); }

// A cast whose loop was chosen. Of complex numbers it casts both parts; others become real ones.
struct ChosenCast {
    Loop loop;
    Work work;
    bool from_pairs, to_pairs;
    size_t to_size;

    ChosenCast(Type from, Type to, const CastMode &mode)
        : loop(version().choose(part_of(from), part_of(to), mode, block, true, work)),
          from_pairs(from.kind == Kind::complex), to_pairs(to.kind == Kind::complex),
          to_size(size_of(to)) {
        if (from_pairs && !to_pairs) refuse("a cast of complex numbers is to complex ones");
    }
    void run(const void *from, void *to, size_t n) const {
        if (from_pairs == to_pairs) {
            loop(from, to, from_pairs ? 2 * n : n, work);
            return;
        }
        alignas(64) char real[SHORT * 8];
        for (size_t at = 0; at < n; at += SHORT) {
            const size_t now = n - at < SHORT ? n - at : SHORT;
            loop(static_cast<const char *>(from) + at * size_of(work.source), real, now, work);
            version().with_zero_parts(real, static_cast<char *>(to) + at * 2 * to_size, now, to_size);
        }
    }
};

// All that a kernel is, but for Python's objects.
struct Steps {
    using Cast = std::shared_ptr<const ChosenCast>;
    int operands = 0;
    Type own[MOST], entered[MOST], computed, made, result;
    // Of each operand, then from there to what is computed in; null where there is nothing to cast.
    Cast enter[MOST], widen[MOST], leave;
    // By `way_of`; none where a function of Python's computes.
    Operation operations[WAYS] = {};
    std::unique_ptr<Combination> any[WAYS];          // the same for any operands, where there is one
    // What is done to one operand first, and rounded as the result is.
    struct {
        int operand = 0;
        Operation operation = {};
        Cast leave, widen;
    } first;

    bool computes() const { return operations[0].run != nullptr; }
    bool casts(int i) const { return enter[i] || widen[i]; }
    // n elements of an operand as what is computed in.
    void cast(int i, const void *given, void *out, size_t n) const {
        if (!enter[i] || !widen[i]) {
            (enter[i] ? enter[i] : widen[i])->run(given, out, n);
            return;
        }
        alignas(64) char between[SHORT * LARGEST];
        const auto *from = static_cast<const char *>(given);
        auto *to = static_cast<char *>(out);
        for (size_t at = 0; at < n; at += SHORT) {
            const size_t now = n - at < SHORT ? n - at : SHORT;
            enter[i]->run(from + at * item_of(own[i]), between, now);
            widen[i]->run(between, to + at * item_of(computed), now);
        }
    }
};

// An array that nobody else has any more, for the next call on operands of its shape: to make one
// takes as long as an operation on it.
struct Scratch;

struct CastingKernel {
    PyObject_HEAD
    vectorcallfunc call;
    Steps *steps;
    PyObject *function;          // a ufunc; None where a loop computes, or nothing does
    PyObject *empty;             // numpy.empty
    PyObject *empty_like;        // numpy.empty_like
    PyObject *watched;           // which floating-point exceptions NumPy does not ignore
    PyObject *computed_storage;  // NumPy's dtypes
    PyObject *result_storage;
    Scratch *kept[MOST];         // what operands were cast to; null while it is in use
};

// Which operands have fewer elements than the result, as bits: there some frameworks compute otherwise.
template <typename Count>
int way_of(int operands, size_t n, Count count) {
    int way = 0;
    for (int i = 0; i < operands; ++i) way |= (count(i) < n) << i;
    return way;
}

CastingKernel *kernel_of(PyObject *object) { return reinterpret_cast<CastingKernel *>(object); }

// All of Python's that it holds.
std::array<PyObject *, 6> parts_of(const CastingKernel *self) {
    return {self->function,         self->empty,          self->empty_like, self->watched,
            self->computed_storage, self->result_storage};
}

// A contiguous array by the buffer protocol; not there if it is not, is not aligned, or has
// elements of another length than its dtype says.
class View {
   public:
    View() = default;
    ~View() { release(); }
    View(const View &) = delete;
    View &operator=(const View &) = delete;

    bool open(PyObject *object, Type type, int flags = 0) {
        open_ = PyObject_GetBuffer(object, &view_, PyBUF_ND | PyBUF_C_CONTIGUOUS | flags) == 0;
        if (!open_) PyErr_Clear();
        return open_ && (size_t)view_.itemsize == item_of(type) &&
               (std::uintptr_t)view_.buf % size_of(type) == 0;
    }
    void release() {
        if (open_) PyBuffer_Release(&view_);
        open_ = false;
    }
    void *data() const { return view_.buf; }
    size_t count() const { return (size_t)(view_.len / view_.itemsize); }
    int ndim() const { return view_.ndim; }
    bool is_like(const View &other) const {
        return view_.ndim == other.view_.ndim &&  // without axes there may be no shape to look at
               std::equal(view_.shape, view_.shape + view_.ndim, other.view_.shape);
    }
    PyObject *shape() const {
        PyObject *made = PyTuple_New(view_.ndim);
        for (int i = 0; made != nullptr && i < view_.ndim; ++i) {
            PyObject *length = PyLong_FromSsize_t(view_.shape[i]);
            if (length == nullptr || PyTuple_SetItem(made, i, length) != 0) Py_CLEAR(made);
        }
        return made;
    }

   private:
    Py_buffer view_;
    bool open_ = false;
};

#ifdef Py_GIL_DISABLED
constexpr bool KEEPS_SCRATCH = false;  // two threads would take it at once
#else
constexpr bool KEEPS_SCRATCH = true;
#endif

struct Scratch {
    nb::object array;
    View view;

    // Whether nothing but this has the array: our reference, and that of the buffer.
    bool is_own() const { return Py_REFCNT(array.ptr()) == 2; }
};

nb::object new_array(const CastingKernel *self, const View &like, PyObject *storage) {
    const nb::object shape = nb::steal(like.shape());
    if (!shape.is_valid()) return nb::object();
    PyObject *args[] = {shape.ptr(), storage};
    return nb::steal(PyObject_Vectorcall(self->empty, args, 2, nullptr));
}

// Whether NumPy has something to tell of what was raised: also if asking it fails.
bool is_told(const CastingKernel *self, int raised) {
    if (raised == 0) return false;
    const nb::object watched = nb::steal(PyObject_CallNoArgs(self->watched));
    const long found = watched.is_valid() ? PyLong_AsLong(watched.ptr()) : raised;
    return (raised & found) != 0;
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

// Memory for the result of operands of any layout.
nb::object new_result(const CastingKernel *self, PyObject *const *args,
                      const std::unique_ptr<Array> *arrays, const std::vector<Py_ssize_t> &shape) {
    for (int i = 0; i < self->steps->operands; ++i) {
        if (!orders(*arrays[i], shape)) continue;
        const nb::str order("K");
        PyObject *given[] = {args[i], self->result_storage, order.ptr(), Py_False};
        return nb::steal(PyObject_Vectorcall(self->empty_like, given, 4, nullptr));
    }
    const nb::object lengths = nb::steal(PyTuple_New((Py_ssize_t)shape.size()));
    for (size_t i = 0; lengths.is_valid() && i < shape.size(); ++i)
        PyTuple_SetItem(lengths.ptr(), (Py_ssize_t)i, PyLong_FromSsize_t(shape[i]));
    if (!lengths.is_valid()) return nb::object();
    PyObject *given[] = {lengths.ptr(), self->result_storage};
    return nb::steal(PyObject_Vectorcall(self->empty, given, 2, nullptr));
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
        const Combination &any = *self->steps->any[way];
        nb::object out = new_result(self, args, arrays, shape);
        if (!out.is_valid()) return out;
        const Array place(out, "result", PyBUF_STRIDES | PyBUF_WRITABLE);
        const int raised = combine_arrays(any, arrays, place);
        return is_told(self, raised) ? nb::object() : out;
    } catch (nb::python_error &) {  // an array that is not what its dtype says: `run` has the words
    } catch (const nb::builtin_exception &) {
    }
    return nb::object();
}

// A loop between the casts on n elements, or one that stands for them all. Which floating-point
// exceptions the loop raised.
//
// This is a second way beside `run_any`, for contiguous operands of up to LONG elements: blocks lie
// on the stack, casts were chosen when the kernel was made, and the GIL stays where it is. Cursors
// over any layout, checks of what overlaps and blocks of each thread's own cost a microsecond an
// operation, twice what the whole of a + b takes for one element; from LONG elements on that no
// longer shows, and threads and whoever waits for the GIL begin to count.
int compute(const Steps &steps, const View *views, char *place, size_t n) {
    const size_t size = size_of(steps.computed);
    alignas(64) char scratch[MOST + 1][BLOCK * 8];
    const int way = way_of(steps.operands, n, [&](int i) { return views[i].count(); });
    const Operation &operation = steps.operations[way];
    int raised = 0;
    DefaultFloatState state;
    const auto run = [&](const Operation &what, const void *const *operands, void *out, size_t now) {
        state.clear();
        if (what.look != nullptr) raised |= what.look(operands, now);
        what.run(operands, out, now);
        if (what.tells) raised |= state.raised();
    };
    for (size_t at = 0; at < n; at += BLOCK) {
        const size_t now = std::min(n - at, BLOCK);
        const void *operands[MOST] = {};
        for (int i = 0; i < steps.operands; ++i) {
            const char *given = static_cast<const char *>(views[i].data());
            const bool is_one = views[i].count() != n;
            if (!is_one) given += at * size_of(steps.own[i]);
            operands[i] = steps.casts(i) || is_one ? scratch[i] : given;
            if (is_one && at != 0) continue;
            if (steps.casts(i)) steps.cast(i, given, scratch[i], is_one ? 1 : now);
            else if (is_one) std::memcpy(scratch[i], given, size);
            if (is_one) fill(scratch[i] + size, scratch[i], now - 1, size);  // no later block is longer
        }
        char *const to = place + at * size_of(steps.result);
        char *const made = steps.leave ? scratch[MOST] : to;
        if (steps.first.operation.run != nullptr) {
            const int i = steps.first.operand;
            alignas(64) char between[BLOCK * 8];
            char *const found = steps.first.leave ? between : scratch[i];
            run(steps.first.operation, &operands[i], found, now);
            if (steps.first.leave) {
                alignas(64) char rounded[BLOCK * 8];
                steps.first.leave->run(found, rounded, now);
                steps.first.widen->run(rounded, scratch[i], now);
            }
            operands[i] = scratch[i];
        }
        run(operation, operands, made, now);
        if (steps.leave) steps.leave->run(made, to, now);
    }
    return raised;
}

// A loop between the casts, or a cast alone. Null without an error if Python is to be asked.
nb::object run_loop(const CastingKernel *self, const View *views, const View &like, int &raised) {
    const Steps &steps = *self->steps;
    const size_t n = like.count();
    nb::object out = new_array(self, like, self->result_storage);
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
    made->array = new_array(self, like, self->computed_storage);
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
    nb::object out = new_array(self, made, self->result_storage);
    if (!out.is_valid() || !place.open(out.ptr(), steps.result, PyBUF_WRITABLE))
        return nb::object();
    const DefaultFloatState state;
    steps.leave->run(made.data(), place.data(), made.count());
    return out;
}

PyObject *kernel_call(PyObject *object, PyObject *const *args, std::size_t nargs,
                      PyObject *names) {
    CastingKernel *self = kernel_of(object);
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
    const size_t longest = !steps.computes() && self->function == Py_None ? SHORT : LONG;
    bool fits = true;
    for (int i = 0; fits && i < steps.operands; ++i) {
        fits = views[i].open(args[i], steps.own[i]) && views[i].count() <= longest;
        if (fits && views[i].ndim() > like->ndim()) like = &views[i];
    }
    for (int i = 0; fits && i < steps.operands; ++i)
        fits = views[i].ndim() == 0 || views[i].is_like(*like);
    int raised = 0;
    nb::object out;
    if (!fits && steps.any[0]) out = run_any(self, args);
    else if (fits && self->function == Py_None) out = run_loop(self, views, *like, raised);
    else if (fits) out = run_function(self, args, views, names);
    if (out.is_valid() && !is_told(self, raised)) return out.release().ptr();
    if (PyErr_Occurred()) return nullptr;
    Py_RETURN_NONE;
}

// One cast for all kernels: it has tables of 2 KiB, and there are many kernels. Null where there is
// nothing to cast.
Steps::Cast cast_between(Type from, Type to, const CastMode &mode) {
    if (same_type(from, to)) return nullptr;
    std::vector<i64> key = {version().level,
                            static_cast<i64>(mode.overflow),
                            static_cast<i64>(mode.infinity),
                            mode.keep_nan_sign,
                            static_cast<i64>(mode.nan_without),
                            static_cast<i64>(mode.to_integer),
                            static_cast<i64>(mode.scale_rounding),
                            static_cast<i64>(mode.scale_negative),
                            static_cast<i64>(mode.scale_zero),
                            mode.scale_strict,
                            mode.via_float32};
    for (const Type &type : {from, to}) {
        const Format &f = type.format;
        key.insert(key.end(), {static_cast<i64>(type.kind), type.bits, f.exponent, f.mantissa,
                               f.bias, f.largest, f.inf, f.nan, f.negative_zero, f.has_sign});
    }
    static std::mutex lock;
    static std::map<std::vector<i64>, Steps::Cast> known;
    const std::lock_guard<std::mutex> held(lock);
    Steps::Cast &found = known[key];
    if (!found) found = std::make_shared<const ChosenCast>(from, to, mode);
    return found;
}

Operation operation_of(const std::string &name, int operands, Type computed) {
    const Operation found = version().operation(name.c_str(), computed);
    if (found.run == nullptr || found.operands != operands || found.masked)
        refuse("there is no loop that computes " + name);
    return found;
}

// What is computed and in what, from the rows of the operands, of what each becomes, of what is
// computed in, of what that makes, and of the result; and from the modes of the casts to the second,
// the third and the last of these. `names` are those of the loops for each way, or of one for all.
std::unique_ptr<Steps> read_steps(const std::vector<std::string> &names, bool computes,
                                  nb::handle rows, nb::handle modes) {
    const Py_ssize_t count = (PyTuple_Size(rows.ptr()) - 3) / 2;
    if (count < 1 || count > MOST || PyTuple_Size(rows.ptr()) != 2 * count + 3 ||
        PyTuple_Size(modes.ptr()) != 2 * count + 1 || (!computes && count != 1)) {
        throw nb::type_error("rows must be 2 for each of 1 or 2 operands and 3 more, modes 2 fewer");
    }
    auto steps = std::make_unique<Steps>();
    const auto type_at = [&](Py_ssize_t i) {
        const Type type = read_type(PyTuple_GetItem(rows.ptr(), i), "a row");
        if (type.kind == Kind::complex && (!computes || !names.empty()))
            refuse("a row is complex, for which there are functions alone");
        return type;
    };
    const auto mode_at = [&](Py_ssize_t i) { return read_mode(PyTuple_GetItem(modes.ptr(), i)); };
    steps->operands = (int)count;
    for (int i = 0; i < count; ++i) steps->own[i] = type_at(i);
    for (int i = 0; i < count; ++i) steps->entered[i] = type_at(count + i);
    steps->computed = type_at(2 * count);
    steps->made = type_at(2 * count + 1);
    steps->result = type_at(2 * count + 2);
    if (names.size() == 1) {
        CastMode of_ends[MOST + 1];
        for (int i = 0; i < count; ++i) of_ends[i] = mode_at(i);
        of_ends[count] = mode_at(2 * count);
        const Operation found = find_loop(names[0].c_str(), (int)count, steps->own, steps->result,
                                          of_ends, steps->computed);
        std::fill_n(steps->operations, WAYS, found);
    } else {
        for (size_t way = 0; way < names.size(); ++way)
            steps->operations[way] = operation_of(names[way], (int)count, steps->computed);
    }
    if (!names.empty() && !steps->operations[0].tests) steps->made = steps->computed;
    for (int i = 0; i < count; ++i) {
        steps->enter[i] = cast_between(steps->own[i], steps->entered[i], mode_at(i));
        steps->widen[i] = cast_between(steps->entered[i], steps->computed, mode_at(count + i));
    }
    if (computes) steps->leave = cast_between(steps->made, steps->result, mode_at(2 * count));
    else if (!steps->casts(0) || !same_type(steps->computed, steps->result))
        refuse("a cast alone is to the type of its result");
    return steps;
}

// The loop of an operation, or one for each way; none of what is a function.
std::vector<std::string> read_names(PyObject *function) {
    if (PyUnicode_Check(function)) return {nb::borrow<nb::str>(function).c_str()};
    std::vector<std::string> found;
    if (!PyTuple_Check(function)) return found;
    if (PyTuple_Size(function) != WAYS) throw nb::type_error("there are 4 ways, each with a loop");
    for (int i = 0; i < WAYS; ++i) {
        const nb::handle name = PyTuple_GetItem(function, i);
        found.push_back(nb::cast<nb::str>(name).c_str());
    }
    return found;
}

// How the loops go over any operands.
void read_any(Steps &steps, const std::vector<std::string> &names, PyObject *rows, PyObject *modes) {
    for (int way = 0; way < WAYS; ++way) {
        const std::string &name = names[names.size() == 1 ? 0 : (size_t)way];
        auto &any = steps.any[way];
        any = std::make_unique<Combination>(read_combination(name.c_str(), rows, modes));
        if (any->operands != steps.operands || any->operation.masked)
            refuse("the loop is not of these operands");
    }
}

// What is done to one operand first: which, by which loop, and the modes of the casts to the result
// and back.
void read_first(Steps &steps, nb::handle given) {
    if (!PyTuple_Check(given.ptr()) || PyTuple_Size(given.ptr()) != 4)
        throw nb::type_error("first must be a tuple of an operand, a loop and two modes");
    const auto at = [&](Py_ssize_t i) { return nb::handle(PyTuple_GetItem(given.ptr(), i)); };
    steps.first.operand = nb::cast<int>(at(0));
    if (steps.first.operand < 0 || steps.first.operand >= steps.operands || steps.any[0])
        refuse("first is for one of the operands of short ones");
    steps.first.operation = operation_of(nb::cast<nb::str>(at(1)).c_str(), 1, steps.computed);
    steps.first.leave = cast_between(steps.computed, steps.result, read_mode(at(2)));
    steps.first.widen = cast_between(steps.result, steps.computed, read_mode(at(3)));
}

PyObject *kernel_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    static const char *names[] = {"function", "rows",       "modes",   "computed_storage", "result_storage",
                                  "empty",    "empty_like", "watched", "loop",             "first", nullptr};
    PyObject *function, *rows, *modes, *computed, *result, *empty;
    PyObject *like = Py_None, *watched = Py_None, *loop = Py_None, *first = Py_None;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "OO!O!OOO|OOOO", const_cast<char **>(names),
                                     &function, &PyTuple_Type, &rows, &PyTuple_Type, &modes,
                                     &computed, &result, &empty, &like, &watched, &loop, &first))
        return nullptr;
    try {
        const std::vector<std::string> loops = read_names(function);
        const bool is_loop = !loops.empty();
        auto steps = read_steps(loops, function != Py_None, rows, modes);
        if (is_loop && PyTuple_Check(loop) && PyTuple_Size(loop) == 2)
            read_any(*steps, loops, PyTuple_GetItem(loop, 0), PyTuple_GetItem(loop, 1));
        if (is_loop && first != Py_None) read_first(*steps, first);
        PyObject *made = PyType_GenericAlloc(type, 0);
        if (made == nullptr) return nullptr;
        CastingKernel *self = kernel_of(made);
        self->call = kernel_call;
        self->steps = steps.release();
        self->function = Py_NewRef(is_loop ? Py_None : function);
        self->empty = Py_NewRef(empty);
        self->empty_like = Py_NewRef(like);
        self->watched = Py_NewRef(watched);
        self->computed_storage = Py_NewRef(computed);
        self->result_storage = Py_NewRef(result);
        return made;
    } catch (nb::python_error &error) {
        error.restore();
    } catch (const nb::builtin_exception &error) {
        const bool of_type = error.type() == nb::exception_type::type_error;
        PyErr_SetString(of_type ? PyExc_TypeError : PyExc_ValueError, error.what());
    }
    return nullptr;
}

int kernel_traverse(PyObject *object, visitproc visit, void *arg) {
    CastingKernel *self = kernel_of(object);
    Py_VISIT(Py_TYPE(object));
    for (PyObject *part : parts_of(self))
        Py_VISIT(part);
    return 0;
}

// Not the type's tp_clear: nothing it holds leads back to it.
void kernel_dealloc(PyObject *object) {
    PyTypeObject *type = Py_TYPE(object);
    PyObject_GC_UnTrack(object);
    CastingKernel *self = kernel_of(object);
    delete self->steps;
    for (Scratch *scratch : self->kept) delete scratch;
    for (PyObject *part : parts_of(self))
        Py_XDECREF(part);
    reinterpret_cast<freefunc>(PyType_GetSlot(type, Py_tp_free))(object);
    Py_DECREF(type);
}

PyMemberDef kernel_members[] = {
    {"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(CastingKernel, call), Py_READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyType_Slot kernel_slots[] = {
    {Py_tp_doc, const_cast<char *>(
        "An operation between its casts; of operands that it is not made for it answers None.")},
    {Py_tp_new, reinterpret_cast<void *>(kernel_new)},
    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
    {Py_tp_members, kernel_members},
    {Py_tp_traverse, reinterpret_cast<void *>(kernel_traverse)},
    {Py_tp_dealloc, reinterpret_cast<void *>(kernel_dealloc)},
    {0, nullptr}};

PyType_Spec kernel_spec = {"promoarray.kernels._cpu.CastingKernel", sizeof(CastingKernel), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
                               Py_TPFLAGS_IMMUTABLETYPE,
                           kernel_slots};

}  // namespace

nanobind::object casting_kernel_type() {
    PyObject *type = PyType_FromSpec(&kernel_spec);
    if (type == nullptr) throw nanobind::python_error();
    return nanobind::steal(type);
}

}  // namespace promoarray
