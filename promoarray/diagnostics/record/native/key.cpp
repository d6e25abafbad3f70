#include "key.h"

#include <algorithm>
#include <cmath>

namespace promoarray {
namespace {

constexpr int EXACT = 16;  // whole numbers up to here stand for themselves

template <typename Number>
std::uint64_t rung(const std::vector<Number> &below, const std::vector<Number> &above, Number size) {
    const auto left = std::lower_bound(below.begin(), below.end(), size) - below.begin();
    const auto right = std::upper_bound(above.begin(), above.end(), size) - above.begin();
    return static_cast<std::uint64_t>(left << 12 | right);
}

constexpr int VALUE = 8, PRECISION = 40;  // bits that are taken

// Which floats hold a number that has so many binary digits.
std::uint64_t precision(std::uint64_t number) {
    constexpr int known[] = {2, 3, 4, 8, 11, 24, 53};
    const std::uint64_t odd = number / (number & (0 - number));
    int digits;  // of more than 53 it may be one too many, which is the same to all of these
    std::frexp(static_cast<double>(odd), &digits);
    std::uint64_t found = 0;
    for (const int each : known) found += each < digits;
    return found << PRECISION;
}

constexpr std::uint64_t A_BOOL = 0, AN_INT = 1, A_FLOAT = 2, NEGATIVE = 4, WHOLE = 8, ITSELF = 16, NO_NUMBER = 32;

std::uint64_t class_of_float(const Borders &borders, double x) {
    const std::uint64_t sign = std::signbit(x) ? NEGATIVE : 0;
    if (!std::isfinite(x)) return A_FLOAT | NO_NUMBER | (std::isnan(x) ? WHOLE : sign);
    const double size = std::fabs(x);
    const bool whole = std::trunc(x) == x;
    if ((whole && size <= EXACT) || x == 0.5)
        return A_FLOAT | ITSELF | sign | static_cast<std::uint64_t>(2 * size) << VALUE;
    int exponent;
    const auto digits = static_cast<std::uint64_t>(std::ldexp(std::frexp(size, &exponent), 53));
    return A_FLOAT | sign | (whole ? WHOLE : 0) | precision(digits) |
           rung(borders.floats_below, borders.floats_above, size) << VALUE;
}

std::uint64_t class_of_int(const Borders &borders, long long x) {
    const std::uint64_t sign = x < 0 ? NEGATIVE : 0;
    const std::uint64_t size = x < 0 ? 0 - static_cast<std::uint64_t>(x) : static_cast<std::uint64_t>(x);
    if (size <= EXACT) return AN_INT | ITSELF | sign | size << VALUE;
    return AN_INT | sign | precision(size) | rung(borders.ints_below, borders.ints_above, size) << VALUE;
}

}  // namespace

bool is_number(PyObject *x) {
    return PyFloat_CheckExact(x) || PyLong_CheckExact(x) || PyBool_Check(x) || PyComplex_CheckExact(x);
}

bool Borders::read(PyObject *floats, PyObject *ints) {
    for (Py_ssize_t i = 0; i < PyList_Size(floats); ++i) {
        double below, above;
        if (!PyArg_ParseTuple(PyList_GetItem(floats, i), "dd", &below, &above)) return false;
        floats_below.push_back(below);
        floats_above.push_back(above);
    }
    for (Py_ssize_t i = 0; i < PyList_Size(ints); ++i) {
        unsigned long long below, above;
        if (!PyArg_ParseTuple(PyList_GetItem(ints, i), "KK", &below, &above)) return false;
        ints_below.push_back(below);
        ints_above.push_back(above);
    }
    return true;
}

bool add_number(Key *key, const Borders &borders, PyObject *otherwise, PyObject *x) {
    int beyond = 0;
    const long long value = PyLong_CheckExact(x) ? PyLong_AsLongLongAndOverflow(x, &beyond) : 0;
    if (PyBool_Check(x)) return key->add_number(A_BOOL | (x == Py_True ? WHOLE : 0));
    if (PyFloat_CheckExact(x)) return key->add_number(class_of_float(borders, PyFloat_AsDouble(x)));
    if (PyLong_CheckExact(x) && beyond == 0) return key->add_number(class_of_int(borders, value));
    const Ref found = call(otherwise, x);
    return found && key->add(found.get());
}

}  // namespace promoarray
