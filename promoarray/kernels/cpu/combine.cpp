// Arithmetic between casts, block by block.
#include <atomic>
#include <cstring>
#include <memory>
#include <string>

#include "arguments.h"
#include "combine.h"
#include "float_state.h"
#include "module.h"
#include "pool.h"
#include "unlocked.h"
#include "walk.h"

namespace promoarray {
namespace {

// One operand or the result of an operation: where it lies, and the cast on the way to or from what
// the machine computes in.
class Side {
   public:
    Side(const Array &array, Type own, Type computed, CastMode mode, bool is_result)
        : array_(array), size_(size_of(own)), is_one_(array.count() == 1),
          same_(same_type(own, computed)),
          cast_(is_result ? computed : own, is_result ? own : computed, mode, array.count(), true) {
    }

    // n elements from `at` on, as the machine computes with them. One element stands for them all.
    const char *read(size_t at, size_t n) {
        if (same_ && !is_one_) return array_.data() + at * size_;
        if (!is_one_) cast_.run(array_.data() + at * size_, scratch_, n);
        else if (spread_ < n) spread(n);
        return scratch_;
    }
    // Where n results from `at` on go, and what is left to do then.
    char *place(size_t at) { return same_ ? array_.data() + at * size_ : scratch_; }
    void write(size_t at, size_t n) {
        if (!same_) cast_.run(scratch_, array_.data() + at * size_, n);
    }

   private:
    void spread(size_t n) {
        const size_t size = same_ ? size_ : cast_.to_size();
        if (same_) std::memcpy(scratch_, array_.data(), size);
        else cast_.run(array_.data(), scratch_, 1);
        for (size_t i = 1; i < n; ++i) std::memcpy(scratch_ + i * size, scratch_, size);
        spread_ = n;
    }

    const Array &array_;
    const size_t size_;
    const bool is_one_, same_;
    Caster cast_;
    size_t spread_ = 0;  // how often the one element stands there
    alignas(64) char scratch_[block * 8];
};

// Whether numbers of 16 bits go through registers: what is computed in float32 is only rounded.
bool goes_at_once(const Type (&types)[4], const CastMode &mode) {
    const bool rounds = mode.overflow == Beyond::infinity && mode.infinity == Beyond::infinity &&
                        mode.keep_nan_sign;
    return rounds && types[0].kind == Kind::real && types[0].bits == 16 &&
           same_type(types[0], types[1]) && same_type(types[0], types[3]) &&
           same_type(types[2], {Kind::real, 32, float32_format()});
}

// That an operand or the result has the elements that its row says and as many as the loop takes:
// n, or one for them all.
void check(const Array &array, const Type &own, size_t n, bool may_be_one) {
    const std::string name = array.name();
    check_item(array, own);
    if (!array.native() || !array.aligned(size_of(own))) {
        refuse(name + " must be aligned and in native byte order");
    }
    if (array.count() != n && !(may_be_one && array.count() == 1)) {
        refuse(name + " has " + std::to_string(array.count()) + " elements, and result has " +
               std::to_string(n));
    }
}

}  // namespace

Operation find_loop(const char *name, const Type (&types)[4], const CastMode &mode,
                    Type &computed) {
    computed = types[2];
    const Operation operation = version().operation(name, computed);
    if (operation == nullptr) refuse(std::string("there is no loop that computes ") + name);
    if (!goes_at_once(types, mode)) return operation;
    const Operation at_once = version().operation(name, types[0]);
    if (at_once != nullptr) computed = types[0];
    return at_once != nullptr ? at_once : operation;
}

int combine(const char *name, nb::handle left, nb::handle right, nb::handle result,
            nb::handle rows, nb::handle modes) {
    // 1. What is computed, and in what.
    if (!PyTuple_Check(rows.ptr()) || PyTuple_Size(rows.ptr()) != 4 ||
        !PyTuple_Check(modes.ptr()) || PyTuple_Size(modes.ptr()) != 3) {
        throw nb::type_error("rows must be a tuple of 4 rows, and modes one of 3");
    }
    const char *const names[4] = {"left_row", "right_row", "computed_row", "result_row"};
    Type types[4];
    CastMode given[3];
    for (int i = 0; i < 4; ++i) {
        types[i] = read_type(PyTuple_GetItem(rows.ptr(), i), names[i]);
        if (types[i].kind == Kind::complex) refuse(std::string(names[i]) + " is complex");
    }
    for (int i = 0; i < 3; ++i) given[i] = read_mode(PyTuple_GetItem(modes.ptr(), i));
    Type computed;
    const Operation operation = find_loop(name, types, given[2], computed);

    // 2. The arrays.
    const int flags = PyBUF_STRIDES | PyBUF_C_CONTIGUOUS;
    const Array a(left, "left", flags), b(right, "right", flags);
    const Array out(result, "result", flags | PyBUF_WRITABLE);
    check_item(out, types[3]);
    const size_t n = out.count();
    check(a, types[0], n, true);
    check_apart(a, out);
    check(b, types[1], n, true);
    check_apart(b, out);
    check(out, types[3], n, false);

    // 3. Block by block. (The sides are larger than the stacks of some threads should bear.)
    struct Sides { Side first, second, last; };
    const Sides sides{{a, types[0], computed, given[0], false},
                      {b, types[1], computed, given[1], false},
                      {out, types[3], computed, given[2], true}};
    std::atomic<int> raised{0};
    const auto compute = [&](size_t begin, size_t end) {
        const auto own = std::make_unique<Sides>(sides);
        int met = 0;
        DefaultFloatState state;
        for (size_t at = begin; at < end; at += block) {
            const size_t count = end - at < block ? end - at : block;
            const char *x = own->first.read(at, count), *y = own->second.read(at, count);
            state.clear();
            operation(x, y, own->last.place(at), count);
            met |= state.raised();
            own->last.write(at, count);
        }
        raised |= met;
    };
    const bool goes_in_parts = n >= many_elements && threads_to_use() > 1;
    const Unlocked unlocked;
    if (goes_in_parts) in_ranges(n, 1, compute);
    else compute(0, n);
    return raised;
}

}  // namespace promoarray
