// The inner loop of a ufunc of NumPy's, as the capsule of `ufunc._get_strided_loop` has it.
#pragma once

#include <nanobind/nanobind.h>

namespace promoarray {

// As NumPy documents it; of another layout the capsule has another name.
struct UfuncLoop {
    static constexpr const char *name = "numpy_1.24_ufunc_call_info";
    int (*run)(void *context, char *const *data, const Py_ssize_t *count, const Py_ssize_t *strides,
               void *auxiliary);
    void *context, *auxiliary;
    char needs_lock, raises_nothing;
};

// The loop of a capsule, which owns it; an exception where there is none.
const UfuncLoop &read_loop(nanobind::handle capsule);

}  // namespace promoarray
