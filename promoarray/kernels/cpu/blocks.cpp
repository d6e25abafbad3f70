#include "blocks.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>

#include "cursor.h"
#include "float_state.h"
#include "module.h"
#include "pool.h"
#include "unlocked.h"

namespace promoarray {
namespace {

constexpr size_t LARGEST = 16;              // bytes of an element: of a complex one
constexpr size_t SLOT = gathered_bytes * 2;  // bytes of what lies in between, of an operand or the result
constexpr size_t UNLOCKED = 1 << 15;        // elements from which on others may have the interpreter

char *scratch_of_thread() {
    thread_local const std::unique_ptr<char[]> memory(new char[(MOST + 1) * SLOT + 64]);
    const auto at = reinterpret_cast<std::uintptr_t>(memory.get());
    return memory.get() + (64 - at % 64) % 64;
}

// An operand or a result in one row, as a cursor has it.
class Row {
   public:
    Row(char *at, size_t item, bool is_one) : at_(at), item_(item), is_one_(is_one) {}
    bool is_one() const { return is_one_; }
    const char *read(size_t n) { return place(n); }
    char *place(size_t n) {
        char *const here = at_;
        if (!is_one_) at_ += n * item_;
        return here;
    }
    void put(size_t) {}

   private:
    char *at_;
    size_t item_;
    bool is_one_;
};

size_t block_of(const Plan &plan, const Program &program) {
    size_t widest = std::max(item_of(plan.made), item_of(plan.result));
    for (int i = 0; i < plan.operands; ++i)
        widest = std::max({widest, item_of(plan.own[i]), item_of(plan.computed[i])});
    return std::min(program.block(), gathered_bytes / widest);
}

template <typename Place>
void run_blocks(const Plan &plan, const Program &program, Place *given, Place &made, size_t n, Raised &raised) {
    char *const scratch = scratch_of_thread();
    const size_t block = block_of(plan, program);
    const void *operands[MOST] = {};
    bool single[MOST] = {};
    char first[LARGEST];
    const auto read = [&](int i, size_t now) {
        const char *const found = given[i].read(now);
        operands[i] = found;
        if (!plan.casts(i)) return;
        const DefaultFloatState state;
        plan.cast(i, found, scratch + i * SLOT, now);
        operands[i] = scratch + i * SLOT;
    };
    for (int i = 0; i < plan.operands; ++i) {
        single[i] = given[i].is_one();
        if (single[i]) read(i, 1);
    }
    const bool repeats = n > 1 && std::all_of(single, single + plan.operands, [](bool is) { return is; });
    for (size_t at = 0; at < n; at += block) {
        const size_t now = std::min(n - at, block);
        for (int i = 0; i < plan.operands; ++i)
            if (!single[i]) read(i, now);
        char *const place = made.place(now);
        if (repeats && at > 0) {  // all is the first one, of which a program makes one
            fill(place, first, now, item_of(plan.result));
            made.put(now);
            continue;
        }
        char *const computed = plan.leave ? scratch + MOST * SLOT : place;
        program.run(operands, single, computed, repeats ? 1 : now, raised);
        if (plan.leave) {
            const DefaultFloatState state;
            plan.leave->run(computed, place, repeats ? 1 : now);
        }
        if (repeats) {
            std::memcpy(first, place, item_of(plan.result));
            fill(place, first, now, item_of(plan.result));
        }
        made.put(now);
    }
}

// The axes of the result by its memory, outermost first, so that it is gone through in order.
void order_axes(const Array &result, int *order) {
    for (int i = 0; i < result.ndim(); ++i) order[i] = i;
    const auto step = [&](int axis) { return std::abs(result.stride(axis)); };
    std::stable_sort(order, order + result.ndim(), [&](int a, int b) { return step(a) > step(b); });
}

void check_elements(const Array &array, const Type &own) {
    check_item(array, own);
    if (!array.native()) refuse(std::string(array.name()) + " must be in native byte order");
}

void check_shape(const Array &operand, const Array &result) {
    const int missing = result.ndim() - operand.ndim();
    bool fits = missing >= 0;
    for (int i = 0; fits && i < operand.ndim(); ++i)
        fits = operand.shape(i) == 1 || operand.shape(i) == result.shape(i + missing);
    if (!fits) refuse(std::string(operand.name()) + " does not broadcast to the shape of result");
}

// Whether an operand is the very memory of the result, element for element.
bool is_result(const Array &operand, const Array &result) {
    bool same = operand.data() == result.data() && operand.item() == result.item() &&
                operand.ndim() == result.ndim();
    for (int i = 0; same && i < result.ndim(); ++i)
        same = operand.shape(i) == result.shape(i) &&
               (operand.stride(i) == result.stride(i) || result.shape(i) == 1);
    return same;
}

void check_result(const Array &result, const Type &own, const int *order) {
    check_elements(result, own);
    if (!result.aligned(size_of(own))) refuse("result is not aligned to its elements");
    auto end = (Py_ssize_t)result.item();  // of what the axes further in take
    for (int i = result.ndim() - 1; i >= 0 && !result.empty(); --i) {
        const Py_ssize_t length = result.shape(order[i]);
        if (length == 1) continue;
        const Py_ssize_t stride = std::abs(result.stride(order[i]));
        if (stride < end) refuse("elements of result overlap in memory");
        end += stride * (length - 1);
    }
}

// A row of a type, of which neighbours in a tuple are often one object.
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

    Cast between(Type from, Type to) const {
        if (same_type(from, to)) return nullptr;
        return cast_between(from, to, mode, read_adjustment(adjustment, part_of(from), part_of(to)));
    }
};

Manner read_manner(nb::handle given) {
    if (!PyTuple_Check(given.ptr()) || PyTuple_Size(given.ptr()) != 2) return {read_mode(given)};
    return {read_mode(PyTuple_GetItem(given.ptr(), 0)), PyTuple_GetItem(given.ptr(), 1)};
}

}  // namespace

nb::object loop_of(const char *name, nb::handle row) {
    const Operation found = version().operation(name, read_type(row, "row"));
    if (found.run == nullptr) return nb::none();
    return nb::make_tuple(found.operands, found.tests);
}

void Plan::cast(int i, const void *given, void *out, size_t n) const {
    if (!enter[i] || !widen[i]) {
        (enter[i] ? enter[i] : widen[i])->run(given, out, n);
        return;
    }
    alignas(64) char between[SHORT * LARGEST];
    const auto *from = static_cast<const char *>(given);
    auto *to = static_cast<char *>(out);
    for (size_t at = 0; at < n; at += SHORT) {
        const size_t now = std::min(n - at, SHORT);
        enter[i]->run(from + at * item_of(own[i]), between, now);
        widen[i]->run(between, to + at * item_of(computed[i]), now);
    }
}

void run_in_rows(const Plan &plan, const View *views, char *place, size_t n, Raised &raised) {
    std::vector<Row> given;
    int way = 0;
    for (int i = 0; i < plan.operands; ++i) {
        const bool is_one = views[i].count() != n;
        way |= is_one << i;
        given.emplace_back(static_cast<char *>(views[i].data()), item_of(plan.own[i]), views[i].ndim() == 0);
    }
    Row made(place, item_of(plan.result), false);
    const Program &program = plan.program(way);
    if (n < UNLOCKED || program.needs_lock()) return run_blocks(plan, program, given.data(), made, n, raised);
    const Unlocked unlocked;
    run_blocks(plan, program, given.data(), made, n, raised);
}

void run_anywhere(const Plan &plan, const std::unique_ptr<Array> *operands, const Array &out, Raised &raised) {
    int order[PyBUF_MAX_NDIM];
    order_axes(out, order);
    check_result(out, plan.result, order);
    const size_t n = out.empty() ? 0 : out.count();
    std::vector<Cursor> given;
    int way = 0;
    size_t together = 1;
    for (int i = 0; i < plan.operands; ++i) {
        check_elements(*operands[i], plan.own[i]);
        check_shape(*operands[i], out);
        if (!is_result(*operands[i], out)) check_apart(*operands[i], out);
        if (n == 0) continue;
        way |= (operands[i]->count() < n) << i;
        given.emplace_back(*operands[i], out, order, item_of(plan.own[i]));
        together = std::max(together, given.back().together());
    }
    if (n == 0) return;
    Cursor made(out, out, order, item_of(plan.result));
    const Program &program = plan.program(way);
    if (n < UNLOCKED || program.needs_lock()) return run_blocks(plan, program, given.data(), made, n, raised);
    const bool in_threads = n >= many_elements && threads_to_use() > 1;
    const Unlocked unlocked;
    if (!in_threads) return run_blocks(plan, program, given.data(), made, n, raised);
    std::mutex meeting;
    in_ranges((n + together - 1) / together, together, [&] {
        return [&, own = given, place = made](size_t begin, size_t end) mutable {
            const FloatStateGuard state;
            const size_t first = begin * together;
            for (Cursor &each : own) each.begin_at(first);
            place.begin_at(first);
            Raised found;
            run_blocks(plan, program, own.data(), place, std::min(n, end * together) - first, found);
            const std::lock_guard<std::mutex> lock(meeting);
            raised.meet(found);
        };
    });
}

std::unique_ptr<const Plan> read_plan(nb::handle rows, nb::handle modes, nb::handle programs) {
    const Py_ssize_t count = PyTuple_Check(rows.ptr()) ? (PyTuple_Size(rows.ptr()) - 2) / 3 : 0;
    if (count < 1 || count > MOST || PyTuple_Size(rows.ptr()) != 3 * count + 2 ||
        !PyTuple_Check(modes.ptr()) || PyTuple_Size(modes.ptr()) != 2 * count + 1) {
        throw nb::type_error("rows must be 3 for each of 1 to 3 operands and 2 more, modes 2 for each and 1 more");
    }
    auto plan = std::make_unique<Plan>();
    auto type_at = reader<Type>(rows, [](nb::handle row) { return read_type(row, "a row"); });
    auto manner_at = reader<Manner>(modes, read_manner);
    plan->operands = (int)count;
    for (int i = 0; i < count; ++i) plan->own[i] = type_at(i);
    for (int i = 0; i < count; ++i) plan->entered[i] = type_at(count + i);
    for (int i = 0; i < count; ++i) plan->computed[i] = type_at(2 * count + i);
    plan->made = type_at(3 * count);
    plan->result = type_at(3 * count + 1);
    for (int i = 0; i < count; ++i) {
        plan->enter[i] = manner_at(i).between(plan->own[i], plan->entered[i]);
        plan->widen[i] = manner_at(count + i).between(plan->entered[i], plan->computed[i]);
    }
    plan->leave = manner_at(2 * count).between(plan->made, plan->result);
    if (programs.is_none()) return plan;
    const Py_ssize_t given = PyTuple_Check(programs.ptr()) ? PyTuple_Size(programs.ptr()) : 0;
    if (given != 1 && given != (Py_ssize_t)1 << count) refuse("there is one program, or one for each way");
    for (Py_ssize_t k = 0; k < given; ++k) {
        auto program = std::make_unique<const Program>(PyTuple_GetItem(programs.ptr(), k), (int)count);
        bool fits = program->made() == item_of(plan->made);
        for (int i = 0; i < count; ++i) fits = fits && program->length(i) == item_of(plan->computed[i]);
        if (!fits) refuse("a program computes in what the rows say");
        plan->programs.push_back(std::move(program));
    }
    return plan;
}

}  // namespace promoarray
