#include "program.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "arguments.h"
#include "cursor.h"
#include "float_state.h"

namespace promoarray {
namespace {

constexpr size_t LEAST_BLOCK = 512, MOST_BLOCK = 2048;  // elements, if there is memory for them
constexpr size_t FIRST_LEVEL = 16 << 10;  // bytes of all slots that stay in such a cache
constexpr size_t MEMORY = 256 << 10;      // bytes of all slots
constexpr size_t LINE = 64;
constexpr size_t MOST_SLOTS = 250, LARGEST = 16;
constexpr size_t MOST_REPEATED = 4 << 10;  // bytes of one number that is repeated for a loop of ours

// What NumPy tells of; inexact results, which raise a flag too, it does not.
constexpr int TOLD = FE_DIVBYZERO | FE_OVERFLOW | FE_UNDERFLOW | FE_INVALID;

// The flags of exceptions that are up, which are down from now on, as NumPy leaves them.
int lower_flags() {
    const int raised = raised_flags();
    if (raised != 0) std::feclearexcept(TOLD);
    return raised;
}

size_t in_lines(size_t bytes) { return (bytes + LINE - 1) / LINE * LINE; }

// What the slots of this thread's programs lie in: none of them calls another.
char *memory_of_thread() {
    thread_local const std::unique_ptr<char[]> memory(new char[MEMORY + LINE]);
    const auto at = reinterpret_cast<std::uintptr_t>(memory.get());
    return memory.get() + ((at + LINE - 1) / LINE * LINE - at);
}

// --- What is no ufunc, as loops like theirs --------------------------------------------------------

template <size_t size>
int copy(void *, char *const *data, const Py_ssize_t *count, const Py_ssize_t *steps, void *) {
    for (Py_ssize_t i = 0; i < *count; ++i)
        std::memcpy(data[1] + i * steps[1], data[0] + i * steps[0], size);
    return 0;
}

template <size_t size>
int choose(void *, char *const *data, const Py_ssize_t *count, const Py_ssize_t *steps, void *) {
    for (Py_ssize_t i = 0; i < *count; ++i) {
        const int which = data[0][i * steps[0]] != 0 ? 1 : 2;
        std::memcpy(data[3] + i * steps[3], data[which] + i * steps[which], size);
    }
    return 0;
}

using Run = decltype(UfuncLoop::run);

template <template <size_t> class Loop>
Run of_size(char size) {
    switch (size) {
        case '1': return Loop<1>::run;
        case '2': return Loop<2>::run;
        case '4': return Loop<4>::run;
        case '8': return Loop<8>::run;
        case 'x': return Loop<16>::run;
    }
    return nullptr;
}
template <size_t size> struct Copy { static constexpr Run run = copy<size>; };
template <size_t size> struct Choose { static constexpr Run run = choose<size>; };

// An operation of ours, or a cast. It takes elements that lie one after the other: one that stands
// for all is repeated, and of others it goes one at a time.
int run_own(void *context, char *const *data, const Py_ssize_t *count, const Py_ssize_t *steps,
            void *) {
    const auto *loop = static_cast<const OwnLoop *>(context);
    const int operands = loop->operands;
    alignas(LINE) char repeated[MOST_PLACES][MOST_REPEATED];
    const auto n = (size_t)*count;
    bool in_rows = steps[operands] == loop->made || n == 1;
    const void *given[MOST_PLACES];
    for (int k = 0; k < operands; ++k) {
        given[k] = data[k];
        if (steps[k] == loop->item || n == 1) continue;
        in_rows = in_rows && steps[k] == 0 && n * (size_t)loop->item <= MOST_REPEATED;
        if (!in_rows) break;
        fill(repeated[k], data[k], n, (size_t)loop->item);
        given[k] = repeated[k];
    }
    if (in_rows) {
        loop->run(given, data[operands], n);
        return 0;
    }
    for (size_t i = 0; i < n; ++i) {
        for (int k = 0; k < operands; ++k) given[k] = data[k] + (Py_ssize_t)i * steps[k];
        loop->run(given, data[operands] + (Py_ssize_t)i * steps[operands], 1);
    }
    return 0;
}

// As the machine casts them, and so NumPy: NaN keeps what it has besides its sign.
template <typename From, typename To>
int convert(void *, char *const *data, const Py_ssize_t *count, const Py_ssize_t *steps, void *) {
    for (Py_ssize_t i = 0; i < *count; ++i) {
        From from;
        std::memcpy(&from, data[0] + i * steps[0], sizeof from);
        const To to = static_cast<To>(from);
        std::memcpy(data[1] + i * steps[1], &to, sizeof to);
    }
    return 0;
}

// A type by the letter that `struct` has for it; of no bits by any other.
Type type_of(char letter) {
    static constexpr char integers[] = "bhiqBHIQ";
    const char *at = std::strchr(integers, letter);
    const int number = at != nullptr ? (int)(at - integers) : 0;
    if (letter == '?') return {Kind::boolean, 8, {}};
    if (letter == 'e') return {Kind::real, 16, {5, 10, 15, 0x7bff, 0x7c00, 0x7e00, true, true}};
    if (letter == 'f') return {Kind::real, 32, float32_format()};
    if (letter == 'd')
        return {Kind::real, 64, {11, 52, 1023, 0x7fefffffffffffff, 0x7ff0000000000000,
                                 0x7ff8000000000000, true, true}};
    if (at == nullptr) return {};
    return {number < 4 ? Kind::signed_integer : Kind::unsigned_integer, 8 << number % 4, {}};
}

// The name of one of these: "copy" and "where" with the bytes of an element, 'x' for 16.
UfuncLoop loop_named(const std::string &name) {
    UfuncLoop loop = {nullptr, nullptr, nullptr, 0, 0};
    if (name.size() == 5 && name.compare(0, 4, "copy") == 0) loop.run = of_size<Copy>(name[4]);
    if (name.size() == 6 && name.compare(0, 5, "where") == 0) loop.run = of_size<Choose>(name[5]);
    if (name == "castfd") loop.run = convert<float, double>;
    if (name == "castdf") loop.run = convert<double, float>;
    if (loop.run == nullptr) refuse("a program has no loop " + name);
    return loop;
}

// That of a capsule, which owns it; an exception where there is none.
const UfuncLoop &read_loop(nb::handle capsule) {
    const void *found = PyCapsule_GetPointer(capsule.ptr(), UfuncLoop::name);
    if (found == nullptr) throw nb::python_error();
    const auto *loop = static_cast<const UfuncLoop *>(found);
    if (loop->run == nullptr) refuse("loop was not looked up: ufunc._get_strided_loop does");
    return *loop;
}

nb::handle item(nb::handle tuple, Py_ssize_t i, Py_ssize_t size) {
    if (!PyTuple_Check(tuple.ptr()) || (size >= 0 && PyTuple_Size(tuple.ptr()) != size))
        throw nb::type_error("a program is made of tuples");
    return PyTuple_GetItem(tuple.ptr(), i);
}

Py_ssize_t number(nb::handle given, Py_ssize_t low, Py_ssize_t high) {
    const Py_ssize_t found = PyLong_AsSsize_t(given.ptr());
    if (found == -1 && PyErr_Occurred()) throw nb::python_error();
    if (found < low || found > high) refuse("a number of a program is out of bounds");
    return found;
}

}  // namespace

UfuncLoop Program::own(std::unique_ptr<const OwnLoop> loop) {
    own_.push_back(std::move(loop));
    return {run_own, const_cast<OwnLoop *>(own_.back().get()), nullptr, 0, 0};
}

// A loop of NumPy's; the name of one of these, or "cast" with the letters of an integer and of another
// type; or an operation of ours with the type of its elements.
UfuncLoop Program::loop_at(nb::handle given, ProgramStep &step) {
    const int operands = step.places - 1;
    if (PyUnicode_Check(given.ptr())) {
        const std::string name = nb::borrow<nb::str>(given).c_str();
        const bool casts = name.size() == 6 && name.compare(0, 4, "cast") == 0 && operands == 1;
        const Type from = casts ? type_of(name[4]) : Type{}, to = casts ? type_of(name[5]) : Type{};
        if (from.bits == 0 || to.bits == 0 || from.kind == Kind::real) return loop_named(name);
        const auto taken = (Py_ssize_t)size_of(from), made = (Py_ssize_t)size_of(to);
        if (step.at[0].length < taken || step.at[1].length < made) {
            refuse("a program has no loop " + name);
        }
        return own(std::make_unique<const OwnLoop>(
            OwnLoop{{}, cast_between(from, to, plain_mode()), 1, taken, made}));
    }
    if (!PyTuple_Check(given.ptr())) {
        const UfuncLoop &loop = read_loop(given);
        if (loop.needs_lock) needs_lock_ = true;
        return loop;
    }
    const std::string name = nb::cast<nb::str>(item(given, 0, 2)).c_str();
    const Type type = read_type(item(given, 1, 2), "a row");
    const Operation found = version().operation(name.c_str(), type);
    const auto length = (Py_ssize_t)item_of(type), made = found.tests ? 1 : length;
    bool fits = found.run != nullptr && found.operands == operands &&
                step.at[operands].length >= made;
    for (int k = 0; k < operands; ++k) fits = fits && step.at[k].length >= length;
    if (!fits) refuse("a program has no loop " + name);
    step.told &= found.told;
    return own(std::make_unique<const OwnLoop>(OwnLoop{found, nullptr, operands, length, made}));
}

Program::Program(nb::handle given, int operands) : operands_(operands) {
    const nb::handle lengths = item(given, 0, 4), constants = item(given, 1, 4);
    const nb::handle steps = item(given, 2, 4);
    needs_lock_ = item(given, 3, 4).ptr() == Py_True;
    const auto size_of = [](nb::handle tuple) {
        if (!PyTuple_Check(tuple.ptr())) throw nb::type_error("a program is made of tuples");
        return PyTuple_Size(tuple.ptr());
    };
    const Py_ssize_t slots = size_of(lengths);
    number(nb::int_(slots), operands + 1, MOST_SLOTS);
    number(nb::int_(size_of(steps)), 1, MOST_STEPS);
    size_t bytes = 0;
    for (Py_ssize_t i = 0; i < slots; ++i) {
        length_.push_back((size_t)number(item(lengths, i, -1), 1, LARGEST));
        bytes += length_.back();
    }
    block_ = std::min(std::clamp(FIRST_LEVEL / bytes, LEAST_BLOCK, MOST_BLOCK),
                      (MEMORY - (size_t)slots * LINE) / bytes);
    constant_.assign((size_t)slots, nullptr);
    for (Py_ssize_t i = 0; i < size_of(constants); ++i) {
        const nb::handle pair = item(constants, i, -1), value = item(pair, 1, 2);
        const auto slot = (size_t)number(item(pair, 0, 2), operands, slots - 2);
        if (!PyBytes_Check(value.ptr()) || (size_t)PyBytes_Size(value.ptr()) != length_[slot])
            refuse("a constant of a program is not as long as its slot");
        constant_[slot] = PyBytes_AsString(value.ptr());
    }
    std::vector<bool> is_there((size_t)slots, false);
    std::vector<unsigned> needs((size_t)slots, 0);
    for (size_t i = 0; i < is_there.size(); ++i) is_there[i] = (int)i < operands || constant_[i];
    for (int i = 0; i < operands; ++i) needs[(size_t)i] = 1u << i;
    needs.back() = (1u << operands) - 1;  // the result has as many elements as the longest
    for (Py_ssize_t i = 0; i < size_of(steps); ++i) {
        const nb::handle one = item(steps, i, -1), places = item(one, 1, 3);
        ProgramStep step = {};
        step.places = (int)number(nb::int_(size_of(places)), 2, MOST_PLACES);
        step.name = nb::cast<nb::str>(item(one, 2, 3)).c_str();
        unsigned read = 0;
        for (int k = 0; k < step.places; ++k) {
            const nb::handle pair = item(places, k, -1);
            Place &at = step.at[k];
            at.slot = (int)number(item(pair, 0, 2), 0, slots - 1);
            at.length = (Py_ssize_t)length_[(size_t)at.slot];
            at.offset = number(item(pair, 1, 2), 0, at.length - 1);
            if (k == step.places - 1) break;
            if (!is_there[(size_t)at.slot]) refuse("a program reads what is not there");
            read |= needs[(size_t)at.slot];
        }
        step.told = step.name.empty() ? 0 : ALL_EXCEPTIONS;
        step.loop = loop_at(item(one, 0, 3), step);
        if (step.loop.raises_nothing != 0) step.told = 0;
        const auto out = (size_t)step.at[step.places - 1].slot;
        if ((int)out < operands || constant_[out]) refuse("a program writes over what it is given");
        is_there[out] = true;
        needs[out] |= read;
        steps_.push_back(step);
    }
    if (!is_there.back()) refuse("a program makes no result");
    for (ProgramStep &step : steps_)  // of what is written in parts, all of them
        for (Place &at : step.at) at.needs = needs[(size_t)at.slot];
}

void Program::run(const void *const *operands, const bool *single, void *out, size_t n, Raised &raised) const {
    // 1. Where the slots lie, and which operands have more than one element.
    char *data[MOST_SLOTS];
    char *memory = memory_of_thread();
    const size_t slots = length_.size();
    unsigned several = 0;
    for (int i = 0; i < operands_; ++i) {
        data[i] = static_cast<char *>(const_cast<void *>(operands[i]));
        several |= (unsigned)!single[i] << i;
    }
    for (size_t i = (size_t)operands_; i < slots - 1; ++i)
        data[i] = constant_[i] ? const_cast<char *>(constant_[i])
                               : std::exchange(memory, memory + in_lines(n * length_[i]));
    data[slots - 1] = static_cast<char *>(out);

    raised.program = this;

    // 2. The loops. The flags of exceptions are down before and after, as NumPy leaves them.
    lower_flags();
    size_t number = 0;
    for (const ProgramStep &step : steps_) {
        char *at[MOST_PLACES];
        Py_ssize_t strides[MOST_PLACES];
        const int last = step.places - 1;
        for (int k = 0; k <= last; ++k) {
            const Place &place = step.at[k];
            at[k] = data[place.slot] + place.offset;
            // As NumPy's are: what it makes of one element is an array of its own, whose loop may
            // take other instructions than one that goes nowhere.
            strides[k] = k == last || (place.needs & several) != 0 ? place.length : 0;
        }
        const Py_ssize_t count = (step.at[last].needs & several) != 0 ? (Py_ssize_t)n : 1;
        if (step.loop.run(step.loop.context, at, &count, strides, step.loop.auxiliary) != 0) {
            raised.failed = true;
            break;
        }
        const int found = lower_flags() & step.told;
        raised.by[number] |= (unsigned char)found;
        raised.any |= found != 0;
        ++number;
    }
}

}  // namespace promoarray
