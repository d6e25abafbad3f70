// The choice among the loops, and the loop that takes the definition in cast.h for each element.
#include "loops.h"

#include "loop.h"

namespace promoarray {
namespace PROMOARRAY_VERSION {
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
        store(cast(load(src, from), work.source, work.target, work.mode), dst, to);
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

// Elements at a time between two loops: what lies between them stays in a first-level cache.
constexpr std::size_t block = 512;

void chained(const void *source, void *target, std::size_t n, const Work &work) {
    alignas(64) unsigned char between[2][block * 8];
    const std::size_t from = size_of(work.source), to = size_of(work.target);
    const auto *src = static_cast<const unsigned char *>(source);
    auto *dst = static_cast<unsigned char *>(target);
    for (std::size_t at = 0; at < n; at += block) {
        const std::size_t count = n - at < block ? n - at : block;
        const unsigned char *read = src + at * from;
        for (int i = 0; i < work.stages; ++i) {
            unsigned char *write = i + 1 == work.stages ? dst + at * to : between[i % 2];
            work.stage[i](read, write, count, work);
            read = write;
        }
    }
}

// nullptr where no loop does it.
Loop tuned_loop(Work &work) {
    const Type source = work.source, target = work.target;
    if (!is_known(source) || !is_known(target)) return nullptr;

    // 1. A type's own numbers. (A bool may be any byte, and narrow codes have bits above them.)
    const bool whole_bytes = source.bits >= 8 && source.kind != Kind::boolean;
    if (whole_bytes && same_type(source, target)) return copy_loop(source);

    // 2. What vectorizes: at once, or by way of float32 where that holds all numbers of the source
    //    (or is where the mode rounds first).
    Loop found = nullptr;
    if (is_integer(target)) {
        const bool bits_do = is_integer(source) || target.kind == Kind::boolean;
        if (bits_do) found = integer_loop(source, target);
        else if (source.bits > 8) found = truncating_loop(source, work);
    } else if (source.kind != Kind::boolean) {
        found = float_loop(source, work);
    }

    // 3. The rest has few codes.
    if (found != nullptr || source.bits > 8) return found;
    return table_loop(work);
}

Loop choose(Type source, Type target, CastMode mode, bool tuned, const Adjustment &adjustment,
            Work &work) {
    work.source = source;
    work.target = target;
    work.mode = mode;
    work.adjustment = adjustment;
    if (adjustment.table != nullptr && source.bits <= 16) return given_table_loop(work);
    const Loop found = tuned ? tuned_loop(work) : nullptr;
    const Loop loop = found != nullptr ? found : by_definition;
    if (adjustment.way != Way::by_mode) return adjusting_loop(work, loop);
    return adjustment.replacements > 0 ? replacing_loop(work, loop) : loop;
}

template <typename Part>
void take_every_other(const void *source, void *target, std::size_t n) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Part *>(source);
    auto *PROMOARRAY_RESTRICT dst = static_cast<Part *>(target);
    for (std::size_t i = 0; i < n; ++i) dst[i] = src[2 * i];
}

void every_other(const void *source, void *target, std::size_t n, std::size_t size) {
    if (size == 1) take_every_other<u8>(source, target, n);
    else if (size == 2) take_every_other<u16>(source, target, n);
    else if (size == 4) take_every_other<u32>(source, target, n);
    else take_every_other<u64>(source, target, n);
}

void either_part(const std::uint8_t *parts, std::uint8_t *target, std::size_t n) {
    for (std::size_t i = 0; i < n; ++i) target[i] = parts[2 * i] | parts[2 * i + 1];
}

// A part and a zero are one word, of which the part is the half that comes first.
template <typename Part, typename Pair>
void widen(const void *real, void *target, std::size_t n) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const Part *>(real);
    auto *PROMOARRAY_RESTRICT dst = static_cast<unsigned char *>(target);
    for (std::size_t i = 0; i < n; ++i) {
        const Pair pair = src[i];
        std::memcpy(dst + i * sizeof pair, &pair, sizeof pair);
    }
}

void interleave(const void *real, void *target, std::size_t n) {
    const auto *PROMOARRAY_RESTRICT src = static_cast<const u64 *>(real);
    auto *PROMOARRAY_RESTRICT dst = static_cast<u64 *>(target);
    for (std::size_t i = 0; i < n; ++i) {
#ifdef __SSE2__
        // Of 16 bytes, as memory is aligned: wider ones cross the ends of cache lines.
        const __m128i pair = _mm_loadl_epi64(reinterpret_cast<const __m128i *>(src + i));
        _mm_storeu_si128(reinterpret_cast<__m128i *>(dst + 2 * i), pair);
#else
        dst[2 * i] = src[i];
        dst[2 * i + 1] = 0;
#endif
    }
}

void with_zero_parts(const void *real, void *target, std::size_t n, std::size_t size) {
    if (size == 2) widen<u16, u32>(real, target, n);
    else if (size == 4) widen<u32, u64>(real, target, n);
    else interleave(real, target, n);
}

}  // namespace

Loop chain(Work &work, Loop first, Loop second) {
    if (first == nullptr || second == nullptr) return nullptr;
    if (second != chained) {
        work.stages = 1;
        work.stage[0] = second;
    }
    for (int i = work.stages++; i > 0; --i) work.stage[i] = work.stage[i - 1];
    work.stage[0] = first;
    return chained;
}

extern const Loops loops = {PROMOARRAY_LEVEL, choose, find_operation, either_part, every_other,
                            with_zero_parts};

}  // namespace PROMOARRAY_VERSION
}  // namespace promoarray
