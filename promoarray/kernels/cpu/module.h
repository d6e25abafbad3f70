// The functions that Python calls. Nothing in them promotes or knows a policy; what is wrong with
// the arguments is an exception before the first element is written.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>

namespace promoarray {

void cast_array(nanobind::handle source, nanobind::handle target, nanobind::handle source_row,
                nanobind::handle target_row, nanobind::handle mode_tuple, bool tuned,
                nanobind::handle adjustment);

// How many threads compute at once, as promoarray/threads.py decides where nobody has said so.
int threads_to_use();

// The operands that a loop of ours takes, and whether it answers bools; None where there is none.
nanobind::object loop_of(const char *name, nanobind::handle row);

// The class of callables that run another in the default floating-point state.
nanobind::object state_guard_type();

// The class of operations on short operands between their casts.
nanobind::object casting_kernel_type();

// The class of casts of Python's numbers to 0-d arrays.
nanobind::object scalar_caster_type();

}  // namespace promoarray
