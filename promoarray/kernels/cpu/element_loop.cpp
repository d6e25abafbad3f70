#include "element_loop.h"

#include <algorithm>
#include <string>

#include "arguments.h"
#include "cursor.h"
#include "float_state.h"

namespace promoarray {
namespace {

constexpr size_t LEAST_BLOCK = 512, MOST_BLOCK = 2048;  // elements
constexpr size_t FIRST_LEVEL = 16 << 10;  // bytes of operands and result that stay in such a cache
constexpr size_t MOST_REPEATED = 4 << 10;  // bytes of one number that is repeated for a loop of ours

// What NumPy tells of; inexact results, which raise a flag too, it does not.
constexpr int TOLD = FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID;

// The flags of exceptions that are up, which are down from now on, as NumPy leaves them.
int lower_flags() {
    const int raised = raised_flags();
    if (raised != 0) std::feclearexcept(TOLD);
    return raised;
}

// That of a capsule, which owns it; an exception where there is none.
const UfuncLoop &read_loop(nb::handle capsule) {
    const void *found = PyCapsule_GetPointer(capsule.ptr(), UfuncLoop::capsule);
    if (found == nullptr) throw nb::python_error();
    const auto *loop = static_cast<const UfuncLoop *>(found);
    if (loop->run == nullptr) refuse("loop was not looked up: ufunc._get_strided_loop does");
    return *loop;
}

nb::handle item(nb::handle tuple, Py_ssize_t i, Py_ssize_t size) {
    if (!PyTuple_Check(tuple.ptr()) || PyTuple_Size(tuple.ptr()) != size)
        throw nb::type_error("a loop is a capsule or a name and a row, with its name and whether it needs the lock");
    return PyTuple_GetItem(tuple.ptr(), i);
}

}  // namespace

ElementLoop::ElementLoop(nb::handle given, int operands, const size_t *lengths) : operands_(operands) {
    const nb::handle loop = item(given, 0, 3);
    name_ = nb::cast<nb::str>(item(given, 1, 3)).c_str();
    needs_lock_ = item(given, 2, 3).ptr() == Py_True;
    size_t bytes = 0;
    for (int k = 0; k <= operands; ++k) {
        length_[k] = (Py_ssize_t)lengths[k];
        bytes += lengths[k];
    }
    block_ = std::clamp(FIRST_LEVEL / bytes, LEAST_BLOCK, MOST_BLOCK);
    told_ = ALL_EXCEPTIONS;
    if (!PyTuple_Check(loop.ptr())) {
        loop_ = read_loop(loop);
        needs_lock_ |= loop_.needs_lock != 0;
        if (loop_.raises_nothing != 0) told_ = 0;
        return;
    }
    const std::string name = nb::cast<nb::str>(item(loop, 0, 2)).c_str();
    const Type type = read_type(item(loop, 1, 2), "a row");
    own_ = version().operation(name.c_str(), type);
    const auto taken = (Py_ssize_t)item_of(type), made = own_.tests ? 1 : taken;
    bool fits = own_.run != nullptr && own_.operands == operands && length_[operands] == made;
    for (int k = 0; k < operands; ++k) fits = fits && length_[k] == taken;
    if (!fits) refuse("there is no loop " + name + " of these rows");
    told_ = own_.told;
}

// A loop of ours takes elements that lie one after the other: one that stands for all is repeated.
void ElementLoop::run_own(const void *const *operands, const bool *single, void *out, size_t n) const {
    alignas(64) char repeated[MOST][MOST_REPEATED];
    const auto taken = (size_t)length_[0], made = (size_t)length_[operands_];
    const bool repeats = n > 1 && std::any_of(single, single + operands_, [](bool is) { return is; });
    const size_t some = repeats ? std::min(n, MOST_REPEATED / taken) : n;
    for (int k = 0; repeats && k < operands_; ++k)
        if (single[k]) fill(repeated[k], static_cast<const char *>(operands[k]), some, taken);
    for (size_t at = 0; at < n; at += some) {
        const void *given[MOST];
        for (int k = 0; k < operands_; ++k)
            given[k] = repeats && single[k] ? repeated[k]
                                            : static_cast<const char *>(operands[k]) + at * taken;
        own_.run(given, static_cast<char *>(out) + at * made, std::min(some, n - at));
    }
}

void ElementLoop::run(const void *const *operands, const bool *single, void *out, size_t n, Raised &raised) const {
    // The flags of exceptions are down before and after, as NumPy leaves them.
    lower_flags();
    if (own_.run != nullptr) {
        run_own(operands, single, out, n);
    } else {
        char *at[MOST + 1];
        Py_ssize_t strides[MOST + 1];
        for (int k = 0; k < operands_; ++k) {
            at[k] = static_cast<char *>(const_cast<void *>(operands[k]));
            strides[k] = single[k] ? 0 : length_[k];
        }
        // As NumPy's are: what it makes of one element is an array of its own, whose loop may take
        // other instructions than one that goes nowhere.
        at[operands_] = static_cast<char *>(out);
        strides[operands_] = length_[operands_];
        const auto count = (Py_ssize_t)n;
        if (loop_.run(loop_.context, at, &count, strides, loop_.auxiliary) != 0) {
            raised.failed = true;
            return;
        }
    }
    raised.by |= lower_flags() & told_;
}

}  // namespace promoarray
