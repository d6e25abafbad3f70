// promoarray.kernels._cpu: its functions, as Python sees them.
#include "module.h"

#include "numpy_array.h"
#include "pool.h"
#include "versions.h"

// Codes are read as parts of wider words, and pairs of them as one: the loops, the tables and the keys
// of sorts would be wrong otherwise, without a word.
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "promoarray is written for little-endian machines, and has not been tried on others"
#endif

namespace nb = nanobind;
using namespace promoarray;

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
    m.def("copy", &copy_array, nb::arg("src"), nb::arg("dst"),
          "Copy every element of src to its place in dst.");
    m.def("combine", &combine, nb::arg("name"), nb::arg("operands"), nb::arg("result"),
          nb::arg("rows"), nb::arg("modes"),
          "Cast arrays, run an operation on them element by element, and cast the result.");
    m.def("loop_of", &loop_of, nb::arg("name"), nb::arg("row"),
          "How many operands a loop of combine takes, and whether the first, and the results, are "
          "bools; None where there is no such loop.");
    m.def("fold", &fold, nb::arg("name"), nb::arg("source"), nb::arg("result"), nb::arg("shape"),
          nb::arg("rows"), nb::arg("modes"), nb::arg("center") = nb::none(),
          nb::arg("initial") = false, nb::arg("runs") = 1,
          "Fold an array along an axis: sums, products, extremes.");
    m.attr("NOT_TOLD") = NOT_TOLD;
    m.def("sort_integers", &sort_integers, nb::arg("source"), nb::arg("result"),
          nb::arg("with_sign"), "Sort rows of integers.");
    m.def("order_integers", &order_integers, nb::arg("keys"), nb::arg("result"),
          "Write the indices that sort rows of integers.");
    m.def("search", &search, nb::arg("sorted"), nb::arg("values"), nb::arg("result"),
          nb::arg("row"), nb::arg("after"), "Write where values belong among sorted ones.");
    m.def("multiply", &multiply, nb::arg("left"), nb::arg("right"), nb::arg("result"),
          nb::arg("row"), "Multiply stacks of integer matrices.");
    m.def("look_up", &look_up, nb::arg("source"), nb::arg("result"), nb::arg("table"),
          nb::arg("raised"), nb::arg("heeded"),
          "Write what a table has for all codes of 8 or 16 bits; return the exceptions near them.");
    m.def("mark_codes", &mark_codes, nb::arg("source"), nb::arg("met"),
          "Write 1 to the entry of each code of 8 or 16 bits that an array has.");
    m.def("levels", &levels, "The x86-64 levels whose loops this machine can run; (1,) elsewhere.");
    m.def("use_level", &use_level, nb::arg("level"),
          "Take the loops of one level from now on; return the one before.");
    m.def("share", &share, nb::arg("function"), nb::arg("parts"),
          "Call function(part) with each number below `parts`, on threads of the pool too.");
    m.def("run_ufunc_loop", &run_ufunc_loop, nb::arg("loop"), nb::arg("operands"),
          nb::arg("result"), nb::arg("length"),
          "Run the inner loop of a ufunc of NumPy's in parts, on threads of the pool too.");
    m.def("thread_count", &thread_count, "How many threads compute at once; 0 until it was set.");
    m.def("set_thread_count", &set_thread_count, nb::arg("count"));
    m.def("stop_threads", &stop_threads, nb::call_guard<nb::gil_scoped_release>(),
          "Join the threads; from then on each caller does its own work.");
    prepare_for_forks();
    m.attr("StateGuard") = state_guard_type();
    m.attr("CastingKernel") = casting_kernel_type();
    m.attr("OrderingKernel") = ordering_kernel_type();
    m.attr("ScalarCaster") = scalar_caster_type();
    m.attr("NumberReader") = number_reader_type();
    m.attr("FoldingKernel") = folding_kernel_type();
}
