// Which loop an operation goes by, and what that takes and makes.
#include <algorithm>
#include <string>

#include "combine.h"
#include "module.h"
#include "versions.h"

namespace promoarray {
namespace {

constexpr Type bool_type() { return {Kind::boolean, 8, {}}; }

bool is_single(const Type &type) { return same_type(type, {Kind::real, 32, float32_format()}); }

// Whether a cast to 16 bits only rounds.
bool rounds(const CastMode &mode) {
    return mode.overflow == Beyond::infinity && mode.infinity == Beyond::infinity &&
           mode.keep_nan_sign;
}

// Whether numbers of 16 bits go through registers: what is computed in float32 is only rounded.
bool goes_at_once(const Operation &operation, const Type *own, const Type &result,
                  const CastMode *modes, const Type &computed) {
    if (operation.masked || own[0].kind != Kind::real || own[0].bits != 16) return false;
    if (!is_single(computed)) return false;
    for (int i = 0; i < operation.operands; ++i)
        if (!same_type(own[i], own[0]) || !modes[i].keep_nan_sign) return false;
    return operation.tests || (same_type(own[0], result) && rounds(modes[operation.operands]));
}

// The loop of two types, each read as it is; none where there is no such loop.
Operation mixed_loop(const char *name, const Combination &asked) {
    const Type *own = asked.types, &computed = asked.types[2], &result = asked.result();
    if (asked.operands != 2) return {};
    if (!same_type(computed, result) && !(is_single(computed) && rounds(asked.modes[2]))) return {};
    for (int i = 0; i < 2; ++i)
        if (own[i].kind == Kind::real && !is_single(own[i]) && !asked.modes[i].keep_nan_sign)
            return {};
    return version().mixed(name, own[0], own[1], result);
}

std::string by_bounds_name(const char *name) { return std::string(name) + "_by_bounds"; }

// Of a complex number a loop does not take one part.
void check_parts(const Type &from, const Type &to) {
    if (from.kind == Kind::complex && to.kind != Kind::complex && to.kind != Kind::boolean)
        refuse("a complex number is not cast to a real one on the way");
}

nb::object item(nb::handle tuple, Py_ssize_t i) {
    return nb::borrow(PyTuple_GetItem(tuple.ptr(), i));
}

}  // namespace

Operation find_loop(const char *name, int operands, const Type *own, const Type &result,
                    const CastMode *modes, Type &computed) {
    const Operation operation = version().operation(name, computed);
    if (operation.run == nullptr || operation.operands != operands)
        refuse(std::string("there is no loop that computes ") + name);
    if (!goes_at_once(operation, own, result, modes, computed)) return operation;
    Operation at_once = version().operation(name, own[0]);
    if (at_once.run == nullptr || at_once.rounds_within) return operation;
    // A cast tells nothing, and rounding to float16 is one, though an instruction that raises: float32
    // itself, which has far larger and smaller numbers, does neither in an operation on float16.
    if (own[0].format.exponent < float32_format().exponent)
        at_once.told &= ~(OVERFLOWN | UNDERFLOWN);
    computed = own[0];
    return at_once;
}

Operation find_by_bounds(const char *name, const Operation &whole, const Type &computed) {
    Operation found = version().operation(by_bounds_name(name).c_str(), computed);
    if (found.run == nullptr || found.operands != whole.operands) return {};
    found.told = whole.told;
    return found;
}

nb::object loop_of(const char *name, nb::handle row) {
    const Type type = read_type(row, "row");
    const Operation found = version().operation(name, type);
    if (found.run == nullptr) return nb::none();
    return nb::make_tuple(found.operands, found.masked, found.tests);
}

Combination read_combination(const char *name, nb::handle rows, nb::handle modes) {
    const Py_ssize_t count = PyTuple_Check(rows.ptr()) ? PyTuple_Size(rows.ptr()) - 2 : 0;
    if (count < 1 || count > most_operands || !PyTuple_Check(modes.ptr()) ||
        PyTuple_Size(modes.ptr()) != count + 1) {
        throw nb::type_error("rows must be a tuple of 2 more than operands, and modes one of 1 more");
    }
    Combination made;
    made.operands = (int)count;
    for (Py_ssize_t i = 0; i < count + 2; ++i) {
        made.types[i] = read_type(item(rows, i), "a row");
    }
    for (Py_ssize_t i = 0; i <= count; ++i) made.modes[i] = read_mode(item(modes, i));
    made.operation = mixed_loop(name, made);
    if (made.operation.run != nullptr) {
        made.by_bounds = mixed_loop(by_bounds_name(name).c_str(), made);
        std::copy_n(made.types, count, made.entered);
        made.made = made.result();
        return made;
    }
    Type computed = made.types[count];
    made.operation = find_loop(name, (int)count, made.types, made.result(), made.modes, computed);
    for (Py_ssize_t i = 0; i < count; ++i)
        made.entered[i] = made.operation.masked && i == 0 ? bool_type() : computed;
    made.made = made.operation.tests ? bool_type() : computed;
    for (Py_ssize_t i = 0; i < count; ++i) check_parts(made.types[i], made.entered[i]);
    check_parts(made.made, made.result());
    made.by_bounds = find_by_bounds(name, made.operation, computed);
    return made;
}

}  // namespace promoarray
