#include "met.h"

namespace promoarray {

namespace nb = nanobind;

nb::tuple as_tuple(const Met &met) {
    nb::list found;
    for (int kind = 0; kind < Met::kinds; ++kind)
        if ((met.raised >> kind & 1) != 0)
            found.append(nb::make_tuple(1 << kind, met.begin[kind], met.end[kind]));
    return nb::tuple(found);
}

}  // namespace promoarray
