// A callable that makes 0-d arrays of Python's floats, by a cast from float64, and of ints, where the
// dtype holds them. What it is not made for it hands to another callable.
#include <array>
#include <cmath>
#include <cstring>
#include <memory>

#include "float_state.h"
#include "kernel_type.h"
#include "module.h"
#include "chosen_cast.h"

namespace promoarray {
namespace {

#ifdef Py_GIL_DISABLED
constexpr bool KEEPS_LAST = false;  // two threads would put it there at once
#else
constexpr bool KEEPS_LAST = true;
#endif

// A Python number as C has it.
struct Number {
    bool is_int = false;
    i64 whole = 0;
    double real = 0;

    bool is(const Number &other) const {  // in all bits: -0.0 is not 0.0
        return is_int == other.is_int && whole == other.whole &&
               std::memcmp(&real, &other.real, sizeof real) == 0;
    }
};

// Which numbers are cast, and how.
struct ScalarCast {
    Type type;
    Cast from_float64;  // null where that is the dtype
    i64 low, high;             // the ints that are taken; for an integer dtype the floats, too
    int float_bits;            // 64: floats as they are; 32: as float32 has them; 0: none
    double most;               // the largest finite number that is taken for a float

    bool is_integer() const {
        return type.kind == Kind::signed_integer || type.kind == Kind::unsigned_integer;
    }
    // An integer dtype takes what lies within it, and drops the fraction.
    bool takes(double value) const {
        if (is_integer())
            return static_cast<double>(low) <= value && value <= static_cast<double>(high) && value < 0x1p63;
        return !(std::fabs(value) > most) || std::isinf(value);
    }

    // False of a number that is not taken.
    bool read(PyObject *given, Number &number) const {
        if (PyFloat_CheckExact(given)) {
            const double value = PyFloat_AsDouble(given);
            number.real = float_bits == 32 ? static_cast<float>(value) : value;
            return float_bits != 0 && takes(value) && takes(number.real);
        }
        if (!PyLong_CheckExact(given)) return false;
        int beyond;
        number.is_int = true;
        number.whole = PyLong_AsLongLongAndOverflow(given, &beyond);
        if (beyond != 0 || number.whole < low || high < number.whole) return false;
        return is_integer() || takes(static_cast<double>(number.whole));
    }

    void write(const Number &number, void *place) const {
        if (number.is_int && is_integer() && type.bits >= 8) {
            std::memcpy(place, &number.whole, item_of(type));
            return;
        }
        const DefaultFloatState state;
        const double value = number.is_int ? static_cast<double>(number.whole) : number.real;
        if (from_float64) from_float64->run(&value, place, 1);
        else std::memcpy(place, &value, sizeof value);
    }
};

struct ScalarCaster {
    PyObject_HEAD
    vectorcallfunc call;
    const ScalarCast *cast;
    PyObject *storage;    // NumPy's dtype
    PyObject *otherwise;  // what it hands other numbers to
    PyObject *last;       // what it made last, and of which number: a program has few constants
    Number number;

    std::array<PyObject *, 3> parts() const { return {storage, otherwise, last}; }
    void release() { delete cast; }
};

// A read-only 0-d array of a number; null with the error.
PyObject *new_scalar(const ScalarCaster *self, const Number &number) {
    nb::object made = nb::steal(new_array(0, nullptr, self->storage));
    if (!made.is_valid()) return nullptr;
    View view;
    if (!view.open(made.ptr(), self->cast->type, PyBUF_WRITABLE)) {
        PyErr_SetString(PyExc_TypeError, "storage has not the row's elements");
        return nullptr;
    }
    self->cast->write(number, view.data());
    const nb::object closed = nb::steal(PyObject_CallMethod(made.ptr(), "setflags", "O", Py_False));
    return closed.is_valid() ? made.release().ptr() : nullptr;
}

PyObject *caster_call(PyObject *object, PyObject *const *args, std::size_t nargs, PyObject *names) {
    ScalarCaster *self = kernel_of<ScalarCaster>(object);
    Number number;
    if (PyVectorcall_NARGS(nargs) != 1 || names != nullptr) {
        PyErr_SetString(PyExc_TypeError, "a ScalarCaster takes one number");
        return nullptr;
    }
    if (!self->cast->read(args[0], number)) return PyObject_Vectorcall(self->otherwise, args, 1, nullptr);
    if (self->last != nullptr && self->number.is(number)) return Py_NewRef(self->last);
    PyObject *made = new_scalar(self, number);
    if (!KEEPS_LAST || made == nullptr) return made;
    self->number = number;
    Py_XDECREF(std::exchange(self->last, Py_NewRef(made)));
    return made;
}

PyObject *caster_new(PyTypeObject *type, PyObject *args, PyObject *) {
    PyObject *float64, *row, *mode, *storage, *otherwise;
    long long low, high;
    int float_bits;
    double most;
    if (!PyArg_ParseTuple(args, "OOOLLidOO", &float64, &row, &mode, &low, &high, &float_bits, &most, &storage,
                          &otherwise))
        return nullptr;
    return made_or_raised([&]() -> PyObject * {
        if (float_bits != 0 && float_bits != 32 && float_bits != 64) refuse("floats have 32 or 64 bits");
        const Type source = read_type(float64, "float64"), target = read_type(row, "row");
        if (source.kind != Kind::real || source.bits != 64) refuse("what Python's floats are is float64");
        const Cast from_float64 =
            same_type(source, target) ? nullptr : cast_between(source, target, read_mode(mode));
        auto cast = std::make_unique<ScalarCast>(
            ScalarCast{target, from_float64, low, high, float_bits, most});
        PyObject *made = PyType_GenericAlloc(type, 0);
        if (made == nullptr) return nullptr;
        ScalarCaster *self = kernel_of<ScalarCaster>(made);
        self->call = caster_call;
        self->cast = cast.release();
        self->storage = Py_NewRef(storage);
        self->otherwise = Py_NewRef(otherwise);
        return made;
    });
}

}  // namespace

nanobind::object scalar_caster_type() {
    return kernel_type<ScalarCaster>(
        "promoarray.kernels._cpu.ScalarCaster",
        "0-d arrays of Python's numbers; of those that it does not take, what `otherwise` answers.",
        caster_new,
        {"otherwise", Py_T_OBJECT_EX, offsetof(ScalarCaster, otherwise), Py_READONLY, nullptr});
}

}  // namespace promoarray
