// promoarray.kernels._cpu: its functions, as Python sees them.
#include "module.h"

#include "numpy_array.h"
#include "pool.h"
#include "versions.h"

// Codes are read as parts of wider words, and pairs of them as one: loops and tables would be wrong
// otherwise, without a word.
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "promoarray is written for little-endian machines, and has not been tried on others"
#endif

namespace nb = nanobind;
using namespace promoarray;

// By which threadpoolctl knows the library (promoarray/threadpool.py).
extern "C" NB_EXPORT int promoarray_thread_count() { return promoarray::thread_count(); }

int promoarray::threads_to_use() {
    const int known = thread_count();
    if (known != 0) return known;
    return nb::cast<int>(nb::module_::import_("promoarray.threads").attr("get_num_threads")());
}

static nb::tuple levels() {
    nb::list found;
    for (const Loops *one : versions()) found.append(one->level);
    return nb::tuple(found);
}

NB_MODULE(_cpu, m) {
    m.doc() = "The casts of cast.h over arrays.";
    look_at_arrays(nb::module_::import_("numpy").attr("ndarray").ptr());
    m.def("cast", &cast_array, nb::arg("src"), nb::arg("dst"), nb::arg("source_row"),
          nb::arg("target_row"), nb::arg("mode"), nb::arg("tuned") = true,
          nb::arg("adjustment") = nb::none(),
          "Cast every element of src to its place in dst; in an adjustment codes become others.");
    m.def("loop_of", &loop_of, nb::arg("name"), nb::arg("row"),
          "The operands that a loop takes, and whether it answers bools; None where there is none.");
    m.def("levels", &levels, "The x86-64 levels whose loops this machine can run; (1,) elsewhere.");
    m.def("use_level", &use_level, nb::arg("level"),
          "Take the loops of one level from now on; return the one before.");
    m.def("thread_count", &thread_count, "How many threads compute at once; 0 until it was set.");
    m.def("set_thread_count", &set_thread_count, nb::arg("count"));
    m.def("stop_unlocked", &stop_unlocked, nb::call_guard<nb::gil_scoped_release>(),
          "Wait for work without the lock of the interpreter; from then on there is none.");
    m.attr("StateGuard") = state_guard_type();
    m.attr("CastingKernel") = casting_kernel_type();
    m.attr("ScalarCaster") = scalar_caster_type();
}
