// One cast whose loop was chosen, shared by all that make it.
#pragma once

#include <memory>

#include "array_view.h"
#include "versions.h"

namespace promoarray {

constexpr size_t SHORT = 256;  // elements; what a cast of two steps has in between

// Of complex numbers it casts both parts, or the real ones alone: a bool is that of either. Others
// become real parts.
struct ChosenCast {
    Loop loop;
    Work work;
    bool from_pairs, to_pairs, to_bool;
    size_t part_size, to_size;

    ChosenCast(Type from, Type to, const CastMode &mode, const Adjustment &adjustment);
    void run(const void *from, void *to, size_t n) const;
};

using Cast = std::shared_ptr<const ChosenCast>;

// One cast for all kernels: it has tables of 2 KiB, and there are many kernels. Null where there is
// nothing to cast.
Cast cast_between(Type from, Type to, const CastMode &mode, const Adjustment &adjustment = {});

}  // namespace promoarray
