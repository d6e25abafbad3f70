// The functions that Python calls. Nothing in them promotes or knows a policy; what is wrong with
// the arguments is an exception before the first element is written.
#pragma once

#include <nanobind/nanobind.h>

namespace promoarray {

void cast_array(nanobind::handle source, nanobind::handle target, nanobind::handle source_row,
                nanobind::handle target_row, nanobind::handle mode_tuple, bool tuned,
                nanobind::handle adjustment);

int combine(const char *name, nanobind::handle left, nanobind::handle right,
            nanobind::handle result, nanobind::handle rows, nanobind::handle modes);

// The class of callables that run another in the default floating-point state.
nanobind::object state_guard_type();

// The class of operations on short operands between their casts.
nanobind::object casting_kernel_type();

}  // namespace promoarray
