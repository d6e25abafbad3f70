#include "steps.h"

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "caster.h"
#include "cursor.h"
#include "float_state.h"

namespace promoarray {
namespace {

constexpr size_t BLOCK = 1024;  // elements of 8 bytes; what a loop has on the stack
constexpr size_t LARGEST = 16;  // bytes of an element: of a complex one

// `may_lack`: whether there need not be one.
Operation operation_of(const std::string &name, int operands, Type computed, bool may_lack = false) {
    const Operation found = version().operation(name.c_str(), computed);
    if (found.run == nullptr && may_lack) return found;
    if (found.run == nullptr || found.operands != operands || found.masked)
        refuse("there is no loop that computes " + name);
    return found;
}

// Reads items of a tuple, of which neighbours are often one object: that is read once.
template <typename Item, typename Read>
auto reader(nb::handle tuple, Read read) {
    return [=, last = (PyObject *)nullptr, item = Item()](Py_ssize_t i) mutable {
        PyObject *given = PyTuple_GetItem(tuple.ptr(), i);
        if (given != last) item = read(given);
        last = given;
        return item;
    };
}

// How a cast is made: its mode, and what is done to codes besides.
struct Manner {
    CastMode mode;
    PyObject *adjustment = Py_None;

    Steps::Cast between(Type from, Type to) const {
        if (same_type(from, to)) return nullptr;
        return cast_between(from, to, mode, read_adjustment(adjustment, part_of(from), part_of(to)));
    }
};

Manner read_manner(nb::handle given) {
    if (!PyTuple_Check(given.ptr()) || PyTuple_Size(given.ptr()) != 2) return {read_mode(given)};
    return {read_mode(PyTuple_GetItem(given.ptr(), 0)), PyTuple_GetItem(given.ptr(), 1)};
}

// What is computed and in what, from the rows of the operands, of what each becomes, of what is
// computed in, of what that makes, and of the result; and from the modes of the casts to the second,
// the third and the last of these. `names` are those of the loops for each way, or of one for all.
std::unique_ptr<Steps> read_casts(const std::vector<std::string> &names, bool computes,
                                  nb::handle rows, nb::handle modes) {
    const Py_ssize_t count = (PyTuple_Size(rows.ptr()) - 3) / 2;
    if (count < 1 || count > MOST || PyTuple_Size(rows.ptr()) != 2 * count + 3 ||
        PyTuple_Size(modes.ptr()) != 2 * count + 1 || (!computes && count != 1)) {
        throw nb::type_error("rows must be 2 for each of 1 to 3 operands and 3 more, modes 2 fewer");
    }
    auto steps = std::make_unique<Steps>();
    auto type_at = reader<Type>(rows, [](nb::handle row) { return read_type(row, "a row"); });
    auto manner_at = reader<Manner>(modes, read_manner);
    steps->operands = (int)count;
    for (int i = 0; i < count; ++i) steps->own[i] = type_at(i);
    for (int i = 0; i < count; ++i) steps->entered[i] = type_at(count + i);
    steps->computed = type_at(2 * count);
    steps->made = type_at(2 * count + 1);
    steps->result = type_at(2 * count + 2);
    if (names.size() > 1 && names.size() != (size_t)1 << count)
        throw nb::type_error("there is a loop for each way, or one for all");
    CastMode of_ends[MOST + 1];
    bool by_modes = true;
    for (int i = 0; i <= count; ++i) {
        const Manner manner = manner_at(i < count ? i : 2 * count);
        of_ends[i] = manner.mode;
        by_modes = by_modes && manner.adjustment == Py_None;
    }
    for (size_t way = 0; way < names.size(); ++way) {
        const char *name = names[way].c_str();
        steps->operations[way] =
            names.size() > 1 || !by_modes
                ? operation_of(name, (int)count, steps->computed, way > 0)
                : find_loop(name, (int)count, steps->own, steps->result, of_ends, steps->computed);
    }
    if (names.size() == 1) {
        const Operation &whole = steps->operations[0];
        std::fill_n(steps->operations + 1, WAYS - 1, whole);
        steps->by_bounds = find_by_bounds(names[0].c_str(), whole, steps->computed);
    }
    if (!names.empty() && !steps->operations[0].tests) steps->made = steps->computed;
    for (int i = 0; i < count; ++i) {
        steps->enter[i] = manner_at(i).between(steps->own[i], steps->entered[i]);
        steps->widen[i] = manner_at(count + i).between(steps->entered[i], steps->computed);
    }
    if (computes) steps->leave = manner_at(2 * count).between(steps->made, steps->result);
    else if (!steps->casts(0) || !same_type(steps->computed, steps->result))
        refuse("a cast alone is to the type of its result");
    return steps;
}

// The loop of an operation, or one for each way; none of what is a function.
std::vector<std::string> read_names(PyObject *function) {
    if (PyUnicode_Check(function)) return {nb::borrow<nb::str>(function).c_str()};
    std::vector<std::string> found;
    if (!PyTuple_Check(function)) return found;
    for (Py_ssize_t i = 0; i < PyTuple_Size(function); ++i) {
        const nb::handle name = PyTuple_GetItem(function, i);
        found.push_back(nb::cast<nb::str>(name).c_str());
    }
    return found;
}

// What is done to one operand first: which, by which loop, and the modes of the casts to the result
// and back.
void read_first(Steps &steps, nb::handle given) {
    if (!PyTuple_Check(given.ptr()) || PyTuple_Size(given.ptr()) != 4)
        throw nb::type_error("first must be a tuple of an operand, a loop and two modes");
    const auto at = [&](Py_ssize_t i) { return nb::handle(PyTuple_GetItem(given.ptr(), i)); };
    steps.first.operand = nb::cast<int>(at(0));
    if (steps.first.operand < 0 || steps.first.operand >= steps.operands)
        refuse("first is for one of the operands");
    steps.first.operation = operation_of(nb::cast<nb::str>(at(1)).c_str(), 1, steps.computed);
    steps.first.leave = read_manner(at(2)).between(steps.computed, steps.result);
    steps.first.widen = read_manner(at(3)).between(steps.result, steps.computed);
}

// All of an adjustment as bytes; a table itself, not where it lies.
std::string bytes_of(const Adjustment &adjustment, Type from, Type to) {
    if (adjustment.table != nullptr) {
        const size_t codes = from.bits <= 8 ? 256 : (size_t)1 << 16;
        return {reinterpret_cast<const char *>(adjustment.table), codes * size_of(to)};
    }
    std::string found(1, (char)adjustment.way);
    for (int i = 0; i < adjustment.replacements; ++i) {
        const Replacement &r = adjustment.replacement[i];
        found.append(reinterpret_cast<const char *>(&r), sizeof r);
    }
    return found;
}

}  // namespace

Steps::Cast cast_between(Type from, Type to, const CastMode &mode, const Adjustment &adjustment) {
    if (same_type(from, to)) return nullptr;
    const Format &f = from.format, &t = to.format;
    const std::array<i64, 31> key = {version().level,
                                     static_cast<i64>(mode.overflow),
                                     static_cast<i64>(mode.infinity),
                                     mode.keep_nan_sign,
                                     static_cast<i64>(mode.nan_without),
                                     static_cast<i64>(mode.to_integer),
                                     static_cast<i64>(mode.scale_rounding),
                                     static_cast<i64>(mode.scale_negative),
                                     static_cast<i64>(mode.scale_zero),
                                     mode.scale_strict,
                                     mode.via_float32,
                                     static_cast<i64>(from.kind), from.bits, f.exponent, f.mantissa,
                                     f.bias, f.largest, f.inf, f.nan, f.negative_zero, f.has_sign,
                                     static_cast<i64>(to.kind), to.bits, t.exponent, t.mantissa,
                                     t.bias, t.largest, t.inf, t.nan, t.negative_zero, t.has_sign};
    static std::mutex lock;
    static std::map<std::pair<std::array<i64, 31>, std::string>, Steps::Cast> known;
    const std::lock_guard<std::mutex> held(lock);
    const auto at = known.try_emplace({key, bytes_of(adjustment, from, to)}).first;
    if (!at->second) {  // new, or refused before
        Adjustment own = adjustment;  // whose table is that of the key, which stays where it is
        const std::string &bytes = at->first.second;
        if (own.table != nullptr) own.table = reinterpret_cast<const unsigned char *>(bytes.data());
        at->second = std::make_shared<const ChosenCast>(from, to, mode, own);
    }
    return at->second;
}

ChosenCast::ChosenCast(Type from, Type to, const CastMode &mode, const Adjustment &adjustment)
    : loop(version().choose_adjusted(part_of(from), part_of(to), mode, BLOCK, true, adjustment, work)),
      from_pairs(from.kind == Kind::complex), to_pairs(to.kind == Kind::complex),
      to_bool(from_pairs && to.kind == Kind::boolean), part_size(size_of(from)),
      to_size(size_of(to)) {
    if (loop == nullptr) refuse("no loop adjusts a cast of these types so");
}

void ChosenCast::run(const void *from, void *to, size_t n) const {
    if (from_pairs == to_pairs) {
        loop(from, to, from_pairs ? 2 * n : n, work);
        return;
    }
    const Loops &loops = version();
    const auto *given = static_cast<const char *>(from);
    auto *made = static_cast<char *>(to);
    alignas(64) char parts[2 * SHORT * 8];
    for (size_t at = 0; at < n; at += SHORT) {
        const size_t now = n - at < SHORT ? n - at : SHORT;
        if (to_bool) {
            loop(given + at * 2 * part_size, parts, 2 * now, work);
            loops.either_part(reinterpret_cast<std::uint8_t *>(parts),
                              reinterpret_cast<std::uint8_t *>(made + at), now);
        } else if (from_pairs) {
            loops.every_other(given + at * 2 * part_size, parts, now, part_size);
            loop(parts, made + at * to_size, now, work);
        } else {
            loop(given + at * part_size, parts, now, work);
            loops.with_zero_parts(parts, made + at * 2 * to_size, now, to_size);
        }
    }
}

void Steps::cast(int i, const void *given, void *out, size_t n) const {
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

// A program between the casts. An operand without axes is read over and over, as NumPy's loops do.
int run_program(const Steps &steps, const View *views, char *place, size_t n) {
    alignas(64) char scratch[MOST + 1][BLOCK * 8];
    const size_t widest = std::max(item_of(steps.computed), item_of(steps.made));
    const size_t block = std::min(sizeof scratch[0] / widest, steps.program->block());
    bool single[MOST] = {};
    int raised = 0;
    for (size_t at = 0; at < n; at += block) {
        const size_t now = std::min(n - at, block);
        const void *operands[MOST] = {};
        for (int i = 0; i < steps.operands; ++i) {
            const char *given = static_cast<const char *>(views[i].data());
            single[i] = views[i].ndim() == 0;
            if (!single[i]) given += at * item_of(steps.own[i]);
            operands[i] = steps.casts(i) ? scratch[i] : given;
            if (!steps.casts(i) || (single[i] && at != 0)) continue;
            const DefaultFloatState state;
            steps.cast(i, given, scratch[i], single[i] ? 1 : now);
        }
        char *const to = place + at * item_of(steps.result);
        char *const made = steps.leave ? scratch[MOST] : to;
        raised |= steps.program->run(operands, single, made, now);
        if (!steps.leave) continue;
        const DefaultFloatState state;
        steps.leave->run(made, to, now);
    }
    return raised;
}

// This is a second way beside `run_any`, for contiguous operands of up to LONG elements: blocks lie
// on the stack, casts were chosen when the kernel was made, and the GIL stays where it is. Cursors
// over any layout, checks of what overlaps and blocks of each thread's own cost a microsecond an
// operation, twice what the whole of a + b takes for one element; from LONG elements on that no
// longer shows, and threads and whoever waits for the GIL begin to count.
int compute(const Steps &steps, const View *views, char *place, size_t n) {
    if (steps.program) return run_program(steps, views, place, n);
    const size_t size = item_of(steps.computed), block = BLOCK * 8 / std::max<size_t>(size, 8);
    alignas(64) char scratch[MOST + 1][BLOCK * 8];
    const int way = way_of(steps.operands, n, [&](int i) { return views[i].count(); });
    const bool by_bounds = steps.by_bounds.run != nullptr &&
                           steps.first.operation.run == nullptr && way == (1 << steps.operands) - 2;
    const Operation &operation = by_bounds ? steps.by_bounds : steps.operations[way];
    if (operation.run == nullptr) return NOT_TOLD;
    int raised = 0;
    DefaultFloatState state;
    const auto run = [&](const Operation &what, const void *const *operands, void *out, size_t now) {
        state.clear();
        if (what.look != nullptr) raised |= what.look(operands, now);
        what.run(operands, out, now);
        if (what.told != 0) raised |= state.raised() & what.told;
    };
    for (size_t at = 0; at < n; at += block) {
        const size_t now = std::min(n - at, block);
        const void *operands[MOST] = {};
        for (int i = 0; i < steps.operands; ++i) {
            const char *given = static_cast<const char *>(views[i].data());
            const bool is_one = views[i].count() != n;
            if (!is_one) given += at * item_of(steps.own[i]);
            operands[i] = steps.casts(i) || is_one ? scratch[i] : given;
            if (is_one && at != 0) continue;
            if (steps.casts(i)) steps.cast(i, given, scratch[i], is_one ? 1 : now);
            else if (is_one) std::memcpy(scratch[i], given, size);
            if (is_one && !by_bounds) fill(scratch[i] + size, scratch[i], now - 1, size);  // no later block is longer
        }
        char *const to = place + at * item_of(steps.result);
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

std::unique_ptr<Steps> read_steps(PyObject *function, nb::handle rows, nb::handle modes,
                                  nb::handle first, nb::handle program) {
    std::vector<std::string> names = read_names(function);
    auto steps = read_casts(names, function != Py_None, rows, modes);
    if (names.empty() && !program.is_none())
        steps->program = std::make_unique<Program>(program, steps->operands);
    if (!names.empty() && !first.is_none()) read_first(*steps, first);
    steps->names = std::move(names);
    return steps;
}

std::unique_ptr<const AnyLayout> read_any(const Steps &steps, nb::handle given) {
    auto made = std::make_unique<AnyLayout>();
    if (!PyTuple_Check(given.ptr()) || PyTuple_Size(given.ptr()) != 2) return made;
    PyObject *rows = PyTuple_GetItem(given.ptr(), 0), *modes = PyTuple_GetItem(given.ptr(), 1);
    const size_t ways = (size_t)1 << steps.operands;
    for (size_t way = 0; way < ways; ++way) {
        if (way >= steps.names.size()) {
            made->of[way] = made->of[0];
            continue;
        }
        const auto any = std::make_shared<const Combination>(
            read_combination(steps.names[way].c_str(), rows, modes));
        if (any->operands != steps.operands || any->operation.masked)
            refuse("the loop is not of these operands");
        made->of[way] = any;
    }
    return made;
}

}  // namespace promoarray
