// promoarray.kernels._cpu: its functions, as Python sees them.
#include "module.h"

#include "versions.h"

namespace nb = nanobind;
using namespace promoarray;

static nb::tuple levels() {
    nb::list found;
    for (const Loops *one : versions()) found.append(one->level);
    return nb::tuple(found);
}

NB_MODULE(_cpu, m) {
    m.doc() = "The casts of cast.h over arrays.";
    m.def("cast", &cast_array, nb::arg("src"), nb::arg("dst"), nb::arg("source_row"),
          nb::arg("target_row"), nb::arg("mode"), nb::arg("tuned") = true,
          nb::arg("adjustment") = nb::none(),
          "Cast every element of src to its place in dst; in an adjustment codes become others.");
    m.def("combine", &combine, nb::arg("name"), nb::arg("left"), nb::arg("right"),
          nb::arg("result"), nb::arg("rows"), nb::arg("modes"),
          "Cast two arrays, add, subtract, multiply or divide, and cast the result.");
    m.def("levels", &levels, "The x86-64 levels whose loops this machine can run; (1,) elsewhere.");
    m.def("use_level", &use_level, nb::arg("level"),
          "Take the loops of one level from now on; return the one before.");
    m.attr("StateGuard") = state_guard_type();
    m.attr("CastingKernel") = casting_kernel_type();
}
