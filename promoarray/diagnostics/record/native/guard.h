// What keeps two threads from the tables here at once, where no GIL does.
#pragma once

#include "ref.h"

#ifdef Py_GIL_DISABLED
#include <mutex>
#endif

namespace promoarray {

// No code of Python's runs while one is held: references are let go of afterwards.
#ifdef Py_GIL_DISABLED
using Lock = std::mutex;
using Guard = std::lock_guard<std::mutex>;
#else
struct Lock {};
struct Guard {
    explicit Guard(Lock &) {}
    ~Guard() {}
};
#endif

}  // namespace promoarray
