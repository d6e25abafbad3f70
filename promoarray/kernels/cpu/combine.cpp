// Operations between casts, block by block, on arrays of any layout.
#include "combine.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>

#include "arguments.h"
#include "array_view.h"
#include "cursor.h"
#include "float_state.h"
#include "module.h"
#include "pool.h"
#include "unlocked.h"

namespace promoarray {
namespace {

// An operand: where it lies, and the cast on the way to what the machine computes in.
class Given {
   public:
    Given(const Array &array, const Array &out, const int *order, Type own, Type computed,
          const CastMode &mode, size_t count)
        : cursor_(array, out, order, item_of(own)), same_(same_type(own, computed)),
          from_size_(item_of(own)), to_size_(item_of(computed)),
          cast_(own, computed, mode, count, true) {}

    void begin_at(size_t n) { cursor_.begin_at(n); }
    const Cursor &cursor() const { return cursor_; }
    // Whether they are read where they lie.
    bool is_in_place() const { return same_ && cursor_.lies_in_rows(); }
    size_t widest() const { return std::max(from_size_, to_size_); }
    // The next n elements, as the machine computes with them. One stands for them all.
    const char *read(size_t n) {
        if (cursor_.is_one()) {
            if (spread_ < n) spread(n);
            return cast_to_;
        }
        const char *found = cursor_.read(n);
        if (same_) return found;
        cast_.run(found, cast_to_, cast_.counted(n));
        return cast_to_;
    }

    // The one that stands for the next n, all of a row.
    const char *read_one(size_t n) {
        if (cursor_.is_one()) return read(1);
        const char *found = cursor_.read_repeated(n);
        if (same_) return found;
        cast_.run(found, cast_to_, cast_.counted(1));
        return cast_to_;
    }

   private:
    void spread(size_t n) {
        const size_t size = to_size_;
        if (spread_ == 0) {
            const char *found = cursor_.read(1);
            if (same_) std::memcpy(cast_to_, found, size);
            else cast_.run(found, cast_to_, cast_.counted(1));
            spread_ = 1;
        }
        fill(cast_to_ + spread_ * size, cast_to_, n - spread_, size);
        spread_ = n;
    }

    Cursor cursor_;
    const bool same_;
    size_t from_size_, to_size_;  // of an element
    size_t spread_ = 0;  // how many of one element
    Caster cast_;
    Scratch<gathered_bytes> cast_to_;
};

// The result: where it lies, and the cast on the way to it. An operand may lie there, too: loops of
// operations read an element before they write it, and a cast has made a block of its own.
class Made {
   public:
    Made(const Array &out, const int *order, Type made, Type own, const CastMode &mode, size_t count)
        : cursor_(out, out, order, item_of(own)), same_(same_type(made, own)),
          from_size_(item_of(made)), to_size_(item_of(own)), cast_(made, own, mode, count, true) {}

    void begin_at(size_t n) { cursor_.begin_at(n); }
    const Cursor &cursor() const { return cursor_; }
    bool is_in_place() const { return same_ && cursor_.lies_in_rows(); }
    size_t widest() const { return std::max(from_size_, to_size_); }
    // How many come first, so that blocks begin with a line of memory; 0 where they do.
    size_t before_line() {
        const auto beyond = reinterpret_cast<std::uintptr_t>(cursor_.place(1)) % line;
        return beyond == 0 ? 0 : (line - beyond) / to_size_;
    }
    // Where the next n go, and what is left to do when they are there.
    char *place(size_t n) { return same_ ? cursor_.place(n) : computed_; }
    void write(size_t n) {
        if (!same_) cast_.run(computed_, cursor_.place(n), cast_.counted(n));
        cursor_.put(n);
    }

   private:
    static constexpr size_t line = 64;
    Cursor cursor_;
    const bool same_;
    size_t from_size_, to_size_;  // of an element
    Caster cast_;
    Scratch<gathered_bytes> computed_;
};

// All of them, as one thread goes through them. (Each is larger than the stacks of some threads
// should bear.)
struct Sides {
    std::unique_ptr<Given> given[most_operands];
    std::unique_ptr<Made> made;

    // The same for another thread.
    Sides copied() const {
        Sides own;
        for (int i = 0; i < most_operands && given[i]; ++i)
            own.given[i] = std::make_unique<Given>(*given[i]);
        own.made = std::make_unique<Made>(*made);
        return own;
    }

    size_t together() const {
        size_t found = 1;
        for (int i = 0; i < most_operands && given[i]; ++i)
            found = std::max(found, given[i]->cursor().together());
        return found;
    }

    void begin_at(size_t n) {
        for (int i = 0; i < most_operands && given[i]; ++i) given[i]->begin_at(n);
        made->begin_at(n);
    }

    // The elements of the shortest row.
    size_t row() const {
        size_t found = made->cursor().row();
        for (int i = 0; i < most_operands && given[i]; ++i)
            found = std::min(found, given[i]->cursor().row());
        return found;
    }

    // Whether each operand but the first is one element, of all or of each long row, and that is none.
    bool are_bounds() const {
        const bool by_rows = row() >= long_row;
        const auto is_one = [=](const Cursor &cursor) {
            return cursor.is_one() || (by_rows && cursor.repeats_in_row());
        };
        bool found = given[1] && !is_one(given[0]->cursor());
        for (int i = 1; i < most_operands && given[i]; ++i) found &= is_one(given[i]->cursor());
        return found;
    }

    // Compute n elements, from the one numbered `begin` on.
    void run(const Combination &made_of, size_t begin, size_t n, Met &met) {
        const bool by_bounds = made_of.by_bounds.run != nullptr && are_bounds();
        const Operation &operation = by_bounds ? made_of.by_bounds : made_of.operation;
        const Pace pace = find_pace(by_bounds);
        DefaultFloatState state;
        for (size_t at = 0, now = first(n, pace); at < n; at += now, now = next(n - at, pace)) {
            const void *values[most_operands];
            for (int i = 0; i < operation.operands; ++i)
                values[i] = by_bounds && i > 0 ? given[i]->read_one(now) : given[i]->read(now);
            char *const place = made->place(now);
            state.clear();
            int raised = operation.look != nullptr ? operation.look(values, now) : 0;
            operation.run(values, place, now);
            if (operation.told != 0) raised |= state.raised() & operation.told;
            met.meet(raised, begin + at, now);
            made->write(now);
        }
    }

   private:
    // Of long rows a block ends with a row, so that those which an operand repeats are read where
    // they lie.
    struct Pace {
        size_t block;
        bool ends_with_rows, goes_by_lines;
    };
    static constexpr size_t long_row = 512;
    static constexpr size_t worth_lines = 4096;
    static constexpr size_t in_place_bytes = 64 << 10;  // what a block costs does not show beside it

    Pace find_pace(bool by_bounds) const {
        size_t widest = made->widest();
        bool in_place = made->is_in_place(), lines = made->cursor().is_line();
        for (int i = 0; i < most_operands && given[i]; ++i) {
            widest = std::max(widest, given[i]->widest());
            in_place &= given[i]->is_in_place() || (by_bounds && i > 0);
            lines &= given[i]->cursor().is_line();
        }
        const bool by_rows = row() >= long_row;
        const size_t bytes = by_rows && in_place ? in_place_bytes : gathered_bytes;
        return {bytes / widest, by_rows, lines};
    }

    size_t first(size_t n, Pace pace) const {
        const size_t some = pace.goes_by_lines && n >= worth_lines ? made->before_line() : 0;
        return some > 0 ? some : next(n, pace);
    }

    // How many of n elements come next.
    size_t next(size_t n, Pace pace) const {
        n = std::min(n, pace.block);
        if (!pace.ends_with_rows) return n;
        for (int i = 0; i < most_operands && given[i]; ++i)
            n = std::min(n, given[i]->cursor().left_in_row());
        return std::min(n, made->cursor().left_in_row());
    }
};

// The axes of the result by its memory, outermost first, so that it is gone through in order.
void order_axes(const Array &result, int *order) {
    for (int i = 0; i < result.ndim(); ++i) order[i] = i;
    const auto step = [&](int axis) {
        const Py_ssize_t stride = result.stride(axis);
        return stride < 0 ? -stride : stride;
    };
    std::stable_sort(order, order + result.ndim(), [&](int a, int b) { return step(a) > step(b); });
}

// That an array has the elements that its row says, where a loop may read or write them.
void check_elements(const Array &array, const Type &own) {
    check_item(array, own);
    if (!array.native()) refuse(std::string(array.name()) + " must be in native byte order");
}

// That an operand broadcasts to the result.
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

void check_result(const Array &result, const Type &own) {
    check_elements(result, own);
    if (!result.aligned(size_of(own))) refuse("result is not aligned to its elements");
    int order[PyBUF_MAX_NDIM];
    order_axes(result, order);
    auto end = (Py_ssize_t)result.item();  // of what the axes further in take
    for (int i = result.ndim() - 1; i >= 0 && !result.empty(); --i) {
        const Py_ssize_t length = result.shape(order[i]);
        if (length == 1) continue;
        const Py_ssize_t stride = std::abs(result.stride(order[i]));
        if (stride < end) refuse("elements of result overlap in memory");
        end += stride * (length - 1);
    }
}

}  // namespace

Met combine_arrays(const Combination &made, const std::unique_ptr<Array> *arrays, const Array &out) {
    // 1. The arrays.
    const Type &stored = made.result();
    check_result(out, stored);
    for (int i = 0; i < made.operands; ++i) {
        check_elements(*arrays[i], made.types[i]);
        check_shape(*arrays[i], out);
        if (!is_result(*arrays[i], out)) check_apart(*arrays[i], out);
    }

    // 2. Block by block, and of many elements on several threads.
    if (out.empty()) return {};
    const size_t n = out.count();
    int order[PyBUF_MAX_NDIM];
    order_axes(out, order);
    Sides sides;
    for (int i = 0; i < made.operands; ++i) {
        sides.given[i] = std::make_unique<Given>(*arrays[i], out, order, made.types[i],
                                                 made.entered[i], made.modes[i], n);
    }
    sides.made =
        std::make_unique<Made>(out, order, made.made, stored, made.modes[made.operands], n);
    const bool goes_in_parts = n >= many_elements && threads_to_use() > 1;
    const Unlocked unlocked;
    Met met;
    if (!goes_in_parts) {
        sides.run(made, 0, n, met);
        return met;
    }
    std::mutex meeting;
    const size_t together = sides.together();
    in_ranges((n + together - 1) / together, together, [&] {
        return [&, own = sides.copied()](size_t begin, size_t end) mutable {
            const size_t first = begin * together;
            Met found;
            own.begin_at(first);
            own.run(made, first, std::min(n, end * together) - first, found);
            if (found.raised == 0) return;
            const std::lock_guard<std::mutex> lock(meeting);
            met.meet(found);
        };
    });
    return met;
}

nb::tuple combine(const char *name, nb::handle operands, nb::handle result, nb::handle rows,
                  nb::handle modes) {
    const Py_ssize_t count = PyTuple_Check(operands.ptr()) ? PyTuple_Size(operands.ptr()) : 0;
    if (count < 1 || count > most_operands)
        throw nb::type_error("operands must be a tuple of 1 to 3 arrays");
    if (!PyTuple_Check(rows.ptr()) || PyTuple_Size(rows.ptr()) != count + 2)
        throw nb::type_error("rows must be a tuple of 2 more than operands, and modes one of 1 more");
    const Combination made = read_combination(name, rows, modes);
    const Array out(result, "result", PyBUF_STRIDES | PyBUF_WRITABLE);
    static const char *const names[] = {"operand 1", "operand 2", "operand 3"};
    std::unique_ptr<Array> arrays[most_operands];
    for (Py_ssize_t i = 0; i < count; ++i)
        arrays[i] = std::make_unique<Array>(PyTuple_GetItem(operands.ptr(), i), names[i], PyBUF_STRIDES);
    return as_tuple(combine_arrays(made, arrays, out));
}

}  // namespace promoarray
