// One cast whose loop was chosen, shared by all that make it.
#pragma once

#include <memory>

#include "array_view.h"
#include "versions.h"

namespace promoarray {

constexpr size_t SHORT = 256;  // elements; what a cast of two steps has in between

// Of complex numbers it casts both parts, or the real ones alone: a bool is that of either. Others
// become real parts. (It is not copied: what it needs to know may have its own address.)
struct ChosenCast {
    Loop loop;
    Work work;
    bool from_pairs, to_pairs, to_bool;
    size_t part_size, to_size;

    // `tuned` false takes the definition for every element. ValueError where no loop adjusts such
    // a cast.
    ChosenCast(Type from, Type to, const CastMode &mode, const Adjustment &adjustment,
               bool tuned = true);
    ChosenCast(const ChosenCast &) = delete;
    // n contiguous, aligned elements in native byte order.
    void run(const void *from, void *to, size_t n) const;
};

using Cast = std::shared_ptr<const ChosenCast>;

// One cast for all that make it: it has tables of 2 KiB, and takes longer to choose than a few
// elements take to cast.
Cast cast_between(Type from, Type to, const CastMode &mode, const Adjustment &adjustment = {});

}  // namespace promoarray
