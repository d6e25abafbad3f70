// The pool, as Python sees it.
#include <atomic>
#include <exception>
#include <mutex>

#include "float_state.h"
#include "module.h"
#include "pool.h"
#include "unlocked.h"

namespace nb = nanobind;

// By which threadpoolctl knows the library (promoarray/threadpool.py).
extern "C" NB_EXPORT int promoarray_thread_count() { return promoarray::thread_count(); }

namespace promoarray {

int threads_to_use() {
    const int known = thread_count();
    if (known != 0) return known;
    return nb::cast<int>(nb::module_::import_("promoarray.threads").attr("get_num_threads")());
}

void share(nb::handle function, std::size_t parts) {
    static constexpr Around with_lock = {
        [] { return (int)PyGILState_Ensure(); },
        [](int entered) { PyGILState_Release((PyGILState_STATE)entered); }};
    std::mutex lock;
    std::exception_ptr first;
    std::atomic<bool> failed{false};
    {
        const Unlocked unlocked;
        if (!unlocked) {  // the process ends
            for (std::size_t part = 0; part < parts; ++part) function(part);
            return;
        }
        const auto call = [&](std::size_t part) {
            const nb::gil_scoped_acquire acquired;
            const FloatStateGuard state;
            try {
                function(part);
            } catch (const nb::python_error &) {
                const std::lock_guard<std::mutex> held(lock);
                if (!failed) first = std::current_exception();
                failed = true;
            }
        };
        run_parts(parts, [&](Parts &own) {
            for (std::size_t part; own.next(part);)
                if (!failed) call(part);
        }, &with_lock);
    }
    if (first) std::rethrow_exception(first);
}

}  // namespace promoarray
