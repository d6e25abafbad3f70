// Where values belong among sorted ones: the arguments, and parts for several threads.
#include "search.h"

#include <string>

#include "arguments.h"
#include "float_state.h"
#include "module.h"
#include "pool.h"
#include "unlocked.h"
#include "versions.h"

namespace promoarray {
namespace {

void check(const Array &array, size_t size) {
    if (array.item() != size || !array.native() || !array.aligned(size))
        refuse(std::string(array.name()) + " must have elements of " + std::to_string(size) +
               " bytes, aligned and in native byte order");
}

}  // namespace

void search(nb::handle sorted, nb::handle values, nb::handle result, nb::handle row, bool after) {
    const Type type = read_type(row, "row");
    const Search loop = type.kind == Kind::complex ? nullptr : version().search(type);
    if (loop == nullptr) refuse("row is not that of float32, float64 or integers of 8 bits or more");
    const int flags = PyBUF_STRIDES | PyBUF_C_CONTIGUOUS;
    const Array among(sorted, "sorted", flags), given(values, "values", flags);
    const Array out(result, "result", flags | PyBUF_WRITABLE);
    const size_t size = size_of(type), m = among.count(), n = given.count();
    check(among, size);
    check(given, size);
    check(out, sizeof(std::int64_t));
    if (m >> 32 != 0) refuse("sorted has 2**32 elements or more");
    if (out.count() != n)
        refuse("values has " + std::to_string(n) + " elements, result has " +
               std::to_string(out.count()));
    check_apart(among, out);
    check_apart(given, out);

    auto *places = reinterpret_cast<std::int64_t *>(out.data());
    const bool goes_in_parts = n >= many_elements && threads_to_use() > 1;
    const Unlocked unlocked;
    const auto part = [&](size_t begin, size_t end) {
        const DefaultFloatState state;
        loop(among.data(), m, given.data() + begin * size, places + begin, end - begin, after);
    };
    if (goes_in_parts) in_ranges(n, 1, [&] { return part; });
    else part(0, n);
}

}  // namespace promoarray
