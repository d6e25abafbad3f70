// The choice among the loops, and the loop that takes the definition in cast.h for each element.
#include "loops.h"

#include "loop.h"

namespace promoarray {
namespace {

u64 load(const unsigned char *at, std::size_t size) {
    switch (size) {
        case 1: return *at;
        case 2: { u16 x; std::memcpy(&x, at, 2); return x; }
        case 4: { u32 x; std::memcpy(&x, at, 4); return x; }
        default: { u64 x; std::memcpy(&x, at, 8); return x; }
    }
}

void store(u64 code, unsigned char *at, std::size_t size) {
    switch (size) {
        case 1: *at = (u8)code; return;
        case 2: { const auto x = (u16)code; std::memcpy(at, &x, 2); return; }
        case 4: { const auto x = (u32)code; std::memcpy(at, &x, 4); return; }
        default: std::memcpy(at, &code, 8); return;
    }
}

void by_definition(const void *source, void *target, std::size_t n, const Work &work) {
    const std::size_t from = size_of(work.source), to = size_of(work.target);
    const auto *src = static_cast<const unsigned char *>(source);
    auto *dst = static_cast<unsigned char *>(target);
    for (std::size_t i = 0; i < n; ++i, src += from, dst += to) {
        store(cast(load(src, from), work.source, work.target, work.rule), dst, to);
    }
}

// A float that lies within float32, its subnormals normal there unless both share their exponents.
bool is_small_float(Type t) {
    const Format f = t.format;
    return t.kind == Kind::real && t.bits <= 8 && f.bias >= (f.largest >> f.mantissa) - 127 &&
           (f.bias == 127 || f.bias + f.mantissa <= 126);
}

bool is_known(Type t) {
    return is_integer(t) || is_small_float(t) || is_bfloat16(t) || is_float16(t) ||
           is_float32(t) || is_float64(t);
}

// Elements that are worth a table.
constexpr std::size_t many = 512;

// nullptr where no loop does it.
Loop tuned_loop(Work &work, std::size_t n) {
    const Type source = work.source, target = work.target;
    if (!is_known(source) || !is_known(target)) return nullptr;

    // 1. A type's own numbers. (A bool may be any byte, and narrow codes have bits above them.)
    const bool whole_bytes = source.bits >= 8 && source.kind != Kind::boolean;
    if (whole_bytes && same_type(source, target)) return integer_loop(source, target);

    // 2. What vectorizes.
    Loop found = nullptr;
    if (is_integer(source) ? whole_bytes : source.bits > 8) {
        const bool to_boolean = target.kind == Kind::boolean;
        if (!is_integer(target)) found = float_loop(source, work);
        else if (is_integer(source) || to_boolean) found = integer_loop(source, target);
        else found = truncating_loop(source, work);
    } else if (is_integer(source) && source.bits < 8 && target.bits >= 32) {
        found = is_integer(target) ? integer_loop(source, target) : wide_float_loop(source, target);
    } else if (is_float32(target) && !is_integer(source)) {
        found = float_loop(source, work);
    }

    // 3. The rest has few codes.
    if (found != nullptr || source.bits > 8 || n < many) return found;
    return table_loop(work);
}

template <typename Part>
void interleave(const void *real, void *target, std::size_t n) {
    const auto *src = static_cast<const Part *>(real);
    auto *dst = static_cast<Part *>(target);
    for (std::size_t i = 0; i < n; ++i) {
        dst[2 * i] = src[i];
        dst[2 * i + 1] = 0;
    }
}

}  // namespace

Loop choose_loop(Type source, Type target, Rule rule, std::size_t n, bool tuned, Work &work) {
    work.source = source;
    work.target = target;
    work.rule = rule;
    const Loop found = tuned ? tuned_loop(work, n) : nullptr;
    return found != nullptr ? found : by_definition;
}

void either_part(const std::uint8_t *parts, std::uint8_t *target, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) target[i] = parts[2 * i] | parts[2 * i + 1];
}

void with_zero_parts(const void *real, void *target, std::size_t n, std::size_t size) {
    if (size == 2) interleave<u16>(real, target, n);
    else if (size == 4) interleave<u32>(real, target, n);
    else interleave<u64>(real, target, n);
}

}  // namespace promoarray
