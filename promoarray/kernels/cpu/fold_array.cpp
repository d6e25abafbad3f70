// Folds of arrays along one axis: the arguments, the cast, the loop.
#include <memory>
#include <string>

#include "arguments.h"
#include "float_state.h"
#include "folds.h"
#include "module.h"
#include "unlocked.h"
#include "versions.h"

namespace promoarray {
namespace {

// A cast whose loop was chosen; no loop where there is nothing to cast.
struct Step {
    Loop loop = nullptr;
    Work work;
    void choose(Type from, Type to, const CastMode &mode, size_t n) {
        if (!same_type(from, to)) loop = version().choose(from, to, mode, n, true, work);
    }
};

Type read_real(nb::handle rows, Py_ssize_t i, const char *name) {
    const Type type = read_type(PyTuple_GetItem(rows.ptr(), i), name);
    if (type.kind == Kind::complex) refuse(std::string(name) + " is complex");
    return type;
}

void check(const Array &array, const Type &type, size_t count) {
    check_item(array, type);
    const std::string name = array.name();
    if (!array.native() || !array.aligned(size_of(type)))
        refuse(name + " must be aligned and in native byte order");
    if (array.count() != count)
        refuse(name + " has " + std::to_string(array.count()) + " elements, and not " +
               std::to_string(count));
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

}  // namespace

int fold(const char *name, nb::handle source, nb::handle result, nb::handle shape, nb::handle rows,
         nb::handle modes, nb::handle center, bool initial) {
    // 1. What is computed, and in what.
    if (!PyTuple_Check(rows.ptr()) || PyTuple_Size(rows.ptr()) != 3 ||
        !PyTuple_Check(modes.ptr()) || PyTuple_Size(modes.ptr()) != 2)
        throw nb::type_error("rows must be a tuple of 3 rows, and modes one of 2");
    const Type from = read_real(rows, 0, "source_row"), to = read_real(rows, 1, "computed_row"),
               last = read_real(rows, 2, "result_row");
    const CastMode enter_mode = read_mode(PyTuple_GetItem(modes.ptr(), 0)),
                   leave_mode = read_mode(PyTuple_GetItem(modes.ptr(), 1));
    const bool runs = std::string(name).rfind("cumulative", 0) == 0;
    if (initial && !runs) refuse("initial is for running sums and products");
    if (!runs && !same_type(to, last)) refuse("result_row must be computed_row");
    const bool squares = std::string(name) == "squares";
    if (squares == center.is_none()) refuse("center is what squares are of, and nothing else");
    size_t lengths[3];
    read_shape(shape, lengths);
    const auto [outer, n, inner] = lengths;
    Fold loop = version().fold(name, from, to, inner == 1);
    const bool casts = loop == nullptr;
    if (casts) loop = version().fold(name, to, to, inner == 1);
    if (loop == nullptr) refuse(std::string("there is no loop that computes ") + name);

    // 2. The arrays.
    const int flags = PyBUF_STRIDES | PyBUF_C_CONTIGUOUS;
    const Array given(source, "source", flags), out(result, "result", flags | PyBUF_WRITABLE);
    check(given, from, outer * n * inner);
    check(out, last, outer * inner * (runs ? n + initial : 1));
    check_apart(given, out);
    std::unique_ptr<Array> centers;
    if (squares) {
        centers = std::make_unique<Array>(center, "center", flags);
        check(*centers, to, outer * inner);
        check_apart(*centers, out);
    }

    // 3. The loop.
    const auto enter = std::make_unique<Step>(), leave = std::make_unique<Step>();
    if (casts) enter->choose(from, to, enter_mode, outer * n * inner);
    leave->choose(to, last, leave_mode, outer * n * inner);
    const Lines lines = {given.data(), outer, n, inner, enter->loop, &enter->work, size_of(from),
                         centers ? centers->data() : nullptr, leave->loop, &leave->work,
                         size_of(last), initial, out.data()};
    const Unlocked unlocked;
    DefaultFloatState state;
    const bool told = !loop(lines);
    return state.raised() | (told ? 0 : NOT_TOLD);
}

}  // namespace promoarray
