// Folds of arrays along one axis: the arguments, the layout, the cast, the loop.
#include <algorithm>
#include <memory>
#include <string>

#include "arguments.h"
#include "cursor.h"
#include "float_state.h"
#include "folds.h"
#include "module.h"
#include "unlocked.h"
#include "versions.h"

namespace promoarray {
namespace {

// A cast whose loop was chosen. It is large: there is none where there is nothing to cast.
struct Step {
    Loop loop;
    Work work;
};
std::unique_ptr<Step> step_of(Type from, Type to, const CastMode &mode, size_t n) {
    if (same_type(from, to)) return nullptr;
    auto step = std::make_unique<Step>();
    step->loop = version().choose(from, to, mode, n, true, step->work);
    return step;
}
Loop loop_of(const std::unique_ptr<Step> &step) { return step ? step->loop : nullptr; }
const Work *work_of(const std::unique_ptr<Step> &step) { return step ? &step->work : nullptr; }

bool is_whole(const Type &type) {
    return type.kind == Kind::signed_integer || type.kind == Kind::unsigned_integer;
}

void check(const Array &array, const Type &type, size_t count, bool in_place) {
    check_item(array, type);
    const std::string name = array.name();
    if (!array.native() || (in_place && !array.aligned(size_of(type))))
        refuse(name + " must be aligned and in native byte order");
    if (array.count() != count)
        refuse(name + " has " + std::to_string(array.count()) + " elements, and not " +
               std::to_string(count));
}

// The axes of an array; none where its elements lie one after another.
Axes layout_of(const Array &array, size_t size) {
    Axes axes;
    for (int i = 0; i < array.ndim(); ++i) axes.append((size_t)array.shape(i), array.stride(i));
    if (axes.ndim == 1 && axes.stride[0] == (Py_ssize_t)size) axes.ndim = 0;
    return axes;
}

// Elements from the one numbered `at` on, in the order of the axes.
void gather(const Lines &lines, size_t at, size_t n, char *to) {
    const Axes &axes = *static_cast<const Axes *>(lines.layout);
    const int inner = axes.ndim - 1;
    const size_t size = lines.source_size * lines.parts;
    at /= lines.parts;
    n /= lines.parts;
    size_t index[PyBUF_MAX_NDIM + 1];
    const char *from = lines.source;
    for (int i = inner; i >= 0; at /= axes.shape[i--]) {
        index[i] = at % axes.shape[i];
        from += (Py_ssize_t)index[i] * axes.stride[i];
    }
    for (;;) {
        const size_t count = std::min(n, axes.shape[inner] - index[inner]);
        copy(from, axes.stride[inner], to, (Py_ssize_t)size, count, size);
        if ((n -= count) == 0) return;
        to += count * size;
        from -= (Py_ssize_t)index[inner] * axes.stride[inner];
        index[inner] = 0;
        for (int i = inner - 1; i >= 0; --i) {
            from += axes.stride[i];
            if (++index[i] < axes.shape[i]) break;
            from -= axes.stride[i] * (Py_ssize_t)axes.shape[i];
            index[i] = 0;
        }
    }
}

// outer, n and inner, which are not 0, and whose product `size_t` holds.
void read_shape(nb::handle shape, size_t (&lengths)[3]) {
    if (!PyTuple_Check(shape.ptr()) || PyTuple_Size(shape.ptr()) != 3)
        throw nb::type_error("shape must be a tuple of 3 ints");
    size_t product = 1;
    for (int i = 0; i < 3; ++i) {
        const Py_ssize_t length = PyLong_AsSsize_t(PyTuple_GetItem(shape.ptr(), i));
        if (length == -1 && PyErr_Occurred()) throw nb::python_error();
        if (length < 1 || (size_t)length > (size_t)PY_SSIZE_T_MAX / product)
            refuse("the lengths of shape must be 1 or more, and few enough for memory");
        product *= lengths[i] = (size_t)length;
    }
}

// Whether a sum or product that is NaN is the same NaN whatever the instructions: all that there are
// are one, and quiet (what is signalling may raise where NumPy does not), or there is none, and an
// invalid operation has made it.
bool has_one_nan(const Lines &lines, Type stored, Type computed, bool made_one) {
    const auto [each, any] = version().nan_bits(stored, computed)(lines);
    if (any == 0 || made_one) return any == 0 && made_one;
    return each == any && (each >> (stored.format.mantissa - 1) & 1) != 0;
}

}  // namespace

int fold(const char *name, nb::handle source, nb::handle result, nb::handle shape, nb::handle rows,
         nb::handle modes, nb::handle center, bool initial, Py_ssize_t runs) {
    // 1. What is computed, and in what.
    if (!PyTuple_Check(rows.ptr()) || PyTuple_Size(rows.ptr()) != 3 ||
        !PyTuple_Check(modes.ptr()) || PyTuple_Size(modes.ptr()) != 2)
        throw nb::type_error("rows must be a tuple of 3 rows, and modes one of 2");
    const Type from = read_type(PyTuple_GetItem(rows.ptr(), 0), "source_row"),
               to = read_type(PyTuple_GetItem(rows.ptr(), 1), "computed_row"),
               last = read_type(PyTuple_GetItem(rows.ptr(), 2), "result_row");
    const CastMode enter_mode = read_mode(PyTuple_GetItem(modes.ptr(), 0)),
                   leave_mode = read_mode(PyTuple_GetItem(modes.ptr(), 1));
    const bool goes_on = std::string(name).rfind("cumulative", 0) == 0;
    if (initial && !goes_on) refuse("initial is for running sums and products");
    const bool counts = std::string(name) == "count_nonzero";
    if (counts && (!is_whole(last) || last.bits != 64))
        refuse("result_row must be that of integers of 64 bits");
    const bool squares = std::string(name) == "squares";
    if (!goes_on && !counts && !same_type(squares ? part_of(to) : to, last))
        refuse("result_row must be computed_row, and of squares real");
    if (squares == center.is_none()) refuse("center is what squares are of, and nothing else");
    size_t lengths[3];
    read_shape(shape, lengths);
    const auto [outer, n, inner] = lengths;
    if (runs < 1 || n % (size_t)runs != 0 || (runs > 1 && inner != 1))
        refuse("runs must divide n, and inner be 1");
    const bool pairs = from.kind == Kind::complex;
    if (!counts && pairs != (to.kind == Kind::complex)) refuse("one of both is complex");
    Fold loop = version().fold(name, from, to);
    const bool casts = loop == nullptr;
    if (casts) loop = version().fold(name, to, to);
    if (loop == nullptr) refuse(std::string("there is no loop that computes ") + name);

    // 2. The arrays.
    const int flags = PyBUF_STRIDES | PyBUF_C_CONTIGUOUS;
    const Array given(source, "source", PyBUF_STRIDES);
    const Array out(result, "result", flags | PyBUF_WRITABLE);
    const Axes layout = layout_of(given, given.item());
    check(given, from, outer * n * inner, layout.ndim == 0);
    check(out, last, outer * inner * (goes_on ? n + initial : 1), true);
    check_apart(given, out);
    std::unique_ptr<Array> centers;
    if (squares) {
        centers = std::make_unique<Array>(center, "center", flags);
        check(*centers, to, outer * inner, true);
        check_apart(*centers, out);
    }

    // 3. The loop.
    const size_t count = outer * n * inner;
    const auto enter = casts ? step_of(part_of(from), part_of(to), enter_mode, count) : nullptr;
    const auto leave = goes_on ? step_of(to, last, leave_mode, count) : nullptr;
    const Lines lines = {given.data(), outer, n, inner, (size_t)runs,
                         layout.ndim == 0 ? nullptr : gather, &layout, loop_of(enter),
                         work_of(enter), size_of(from), pairs ? 2u : 1u,
                         centers ? centers->data() : nullptr, loop_of(leave), work_of(leave),
                         size_of(last), initial, out.data()};
    const Unlocked unlocked;
    DefaultFloatState state;
    const bool told = !loop(lines);
    const std::string what = name;
    const bool compares = what == "max" || what == "min";  // which raises nothing of NumPy's
    const int raised = compares ? 0 : state.raised();
    const bool keeps_nan = to.kind == Kind::real && !squares && !compares;
    if (told || (keeps_nan && has_one_nan(lines, casts ? to : from, to, (raised & INVALID) != 0)))
        return raised;
    return raised | NOT_TOLD;
}

}  // namespace promoarray
