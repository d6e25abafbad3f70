// What a casting kernel does between its operands and its result, without Python's objects.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "array_view.h"
#include "combine.h"
#include "program.h"
#include "versions.h"

namespace promoarray {

constexpr size_t SHORT = 256;     // elements; what a cast of two steps has in between
constexpr int MOST = 3;           // operands
constexpr int WAYS = 1 << MOST;   // which operands are repeated

// A cast whose loop was chosen. Of complex numbers it casts both parts, or the real ones alone: a
// bool is that of either. Others become real parts.
struct ChosenCast {
    Loop loop;
    Work work;
    bool from_pairs, to_pairs, to_bool;
    size_t part_size, to_size;

    ChosenCast(Type from, Type to, const CastMode &mode, const Adjustment &adjustment);
    void run(const void *from, void *to, size_t n) const;
};

// How the loops go over operands of any layout, by `way_of`: of one loop for all ways it is one, too.
// All are null where they do not.
struct AnyLayout {
    std::shared_ptr<const Combination> of[WAYS];
};

// All that a kernel is, but for Python's objects.
struct Steps {
    using Cast = std::shared_ptr<const ChosenCast>;
    int operands = 0;
    Type own[MOST], entered[MOST], computed, made, result;
    // Of each operand, then from there to what is computed in; null where there is nothing to cast.
    Cast enter[MOST], widen[MOST], leave;
    // By `way_of`, some of which may have none; none where a function of Python's computes.
    Operation operations[WAYS] = {};
    Operation by_bounds = {};  // where each operand but the first is one number; perhaps none
    std::unique_ptr<const Program> program;  // what computes, where no operation does
    std::vector<std::string> names;          // of the loops: one for each way, or one for all
    // Read when there are such operands for the first time, as most kernels never meet any.
    std::atomic<const AnyLayout *> any{nullptr};
    // What is done to one operand first, and rounded as the result is.
    struct {
        int operand = 0;
        Operation operation = {};
        Cast leave, widen;
    } first;

    ~Steps() { delete any.load(); }
    bool computes() const { return operations[0].run != nullptr || program != nullptr; }
    bool casts(int i) const { return enter[i] || widen[i]; }
    // n elements of an operand as what is computed in.
    void cast(int i, const void *given, void *out, size_t n) const;
};

// Which operands have fewer elements than the result, as bits: there some frameworks compute otherwise.
template <typename Count>
int way_of(int operands, size_t n, Count count) {
    int way = 0;
    for (int i = 0; i < operands; ++i) way |= (count(i) < n) << i;
    return way;
}

// A loop between the casts on n elements of operands that have so many or one, or stand for them
// all. Which floating-point exceptions the loop raised; NOT_TOLD of a way that has none.
int compute(const Steps &steps, const View *views, char *place, size_t n);

// One cast for all kernels: it has tables of 2 KiB, and there are many kernels. Null where there is
// nothing to cast.
Steps::Cast cast_between(Type from, Type to, const CastMode &mode, const Adjustment &adjustment = {});

// What a kernel's arguments say: the loop of an operation, or a tuple of one for each way, None where
// nothing is computed, or else a function; the rows and modes of all that is cast, a mode and its
// adjustment where codes become others; what is done to one operand first, and the program that does
// what the function does, each None where there is none.
std::unique_ptr<Steps> read_steps(PyObject *function, nanobind::handle rows,
                                  nanobind::handle modes, nanobind::handle first,
                                  nanobind::handle program);

// The same of the loops over any layout: a tuple of rows and modes, None where they do not go so.
std::unique_ptr<const AnyLayout> read_any(const Steps &steps, nanobind::handle given);

}  // namespace promoarray
