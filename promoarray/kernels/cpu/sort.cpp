// Sorting integers of 16 bits by counting how often each occurs: equal ones cannot be told apart.
#include <cstring>
#include <string>
#include <vector>

#include "arguments.h"
#include "module.h"
#include "unlocked.h"

namespace promoarray {
namespace {

constexpr size_t CODES = 1 << 16;
constexpr size_t AT_ONCE = 8;

// So many of one code from `to` on; as long as there is room, more are written than there are, and
// what comes next goes over them.
std::uint16_t *repeat(std::uint16_t code, size_t count, std::uint16_t *to,
                      const std::uint16_t *end) {
    std::uint16_t *const after = to + count;
    if ((size_t)(end - after) < AT_ONCE) {
        while (to != after) *to++ = code;
        return after;
    }
    std::uint16_t some[AT_ONCE];
    for (std::uint16_t &one : some) one = code;
    do std::memcpy(to, some, sizeof some);
    while ((to += AT_ONCE) < after);
    return after;
}

}  // namespace

void sort_words(nb::handle source, nb::handle result, bool with_sign) {
    const Array given(source, "source", PyBUF_STRIDES | PyBUF_C_CONTIGUOUS);
    const Array out(result, "result", PyBUF_STRIDES | PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE);
    for (const Array *each : {&given, &out})
        if (each->item() != 2 || !each->native() || !each->aligned(2))
            refuse(std::string(each->name()) + " must be integers of 16 bits, aligned and in "
                   "native byte order");
    const size_t n = given.count();
    if (out.count() != n)
        refuse("source has " + std::to_string(n) + " elements, result has " +
               std::to_string(out.count()));
    check_apart(given, out);
    std::vector<size_t> counts(CODES);

    const Unlocked unlocked;
    const auto *x = reinterpret_cast<const std::uint16_t *>(given.data());
    for (size_t i = 0; i < n; ++i) ++counts[x[i]];
    auto *to = reinterpret_cast<std::uint16_t *>(out.data());
    const std::uint16_t *const end = to + n;
    const size_t lowest = with_sign ? CODES / 2 : 0;
    for (size_t i = 0; i < CODES; ++i) {
        const size_t code = i ^ lowest;
        if (counts[code] != 0) to = repeat((std::uint16_t)code, counts[code], to, end);
    }
}

}  // namespace promoarray
