#include "chosen_cast.h"

#include <array>
#include <map>
#include <mutex>
#include <string>
#include <utility>


namespace promoarray {
namespace {

// All of an adjustment as bytes; a table itself, not where it lies.
std::string bytes_of(const Adjustment &adjustment, Type from, Type to) {
    if (adjustment.table != nullptr) {
        const size_t codes = from.bits <= 8 ? 256 : (size_t)1 << 16;
        return {reinterpret_cast<const char *>(adjustment.table), codes * size_of(to)};
    }
    std::string found(1, (char)adjustment.way);
    for (int i = 0; i < adjustment.replacements; ++i) {
        const Replacement &r = adjustment.replacement[i];
        found.append(reinterpret_cast<const char *>(&r), sizeof r);
    }
    return found;
}

}  // namespace

Cast cast_between(Type from, Type to, const CastMode &mode, const Adjustment &adjustment) {
    const Format &f = from.format, &t = to.format;
    const std::array<i64, 31> key = {version().level,
                                     static_cast<i64>(mode.overflow),
                                     static_cast<i64>(mode.infinity),
                                     mode.keep_nan_sign,
                                     static_cast<i64>(mode.nan_without),
                                     static_cast<i64>(mode.to_integer),
                                     static_cast<i64>(mode.scale_rounding),
                                     static_cast<i64>(mode.scale_negative),
                                     static_cast<i64>(mode.scale_zero),
                                     mode.scale_strict,
                                     mode.via_float32,
                                     static_cast<i64>(from.kind), from.bits, f.exponent, f.mantissa,
                                     f.bias, f.largest, f.inf, f.nan, f.negative_zero, f.has_sign,
                                     static_cast<i64>(to.kind), to.bits, t.exponent, t.mantissa,
                                     t.bias, t.largest, t.inf, t.nan, t.negative_zero, t.has_sign};
    static std::mutex lock;
    static std::map<std::pair<std::array<i64, 31>, std::string>, Cast> known;
    const std::lock_guard<std::mutex> held(lock);
    const auto at = known.try_emplace({key, bytes_of(adjustment, from, to)}).first;
    if (!at->second) {  // new, or refused before
        Adjustment own = adjustment;  // whose table is that of the key, which stays where it is
        const std::string &bytes = at->first.second;
        if (own.table != nullptr) own.table = reinterpret_cast<const unsigned char *>(bytes.data());
        at->second = std::make_shared<const ChosenCast>(from, to, mode, own);
    }
    return at->second;
}

ChosenCast::ChosenCast(Type from, Type to, const CastMode &mode, const Adjustment &adjustment,
                       bool tuned)
    : loop(version().choose(part_of(from), part_of(to), mode, tuned, adjustment, work)),
      from_pairs(from.kind == Kind::complex), to_pairs(to.kind == Kind::complex),
      to_bool(from_pairs && to.kind == Kind::boolean), part_size(size_of(from)),
      to_size(size_of(to)) {
    if (loop == nullptr) refuse("no loop adjusts a cast of these types so");
}

void ChosenCast::run(const void *from, void *to, size_t n) const {
    if (from_pairs == to_pairs) {
        loop(from, to, from_pairs ? 2 * n : n, work);
        return;
    }
    const Loops &loops = version();
    const auto *given = static_cast<const char *>(from);
    auto *made = static_cast<char *>(to);
    alignas(64) char parts[2 * SHORT * 8];
    for (size_t at = 0; at < n; at += SHORT) {
        const size_t now = n - at < SHORT ? n - at : SHORT;
        if (to_bool) {
            loop(given + at * 2 * part_size, parts, 2 * now, work);
            loops.either_part(reinterpret_cast<std::uint8_t *>(parts),
                              reinterpret_cast<std::uint8_t *>(made + at), now);
        } else if (from_pairs) {
            loops.every_other(given + at * 2 * part_size, parts, now, part_size);
            loop(parts, made + at * to_size, now, work);
        } else {
            loop(given + at * part_size, parts, now, work);
            loops.with_zero_parts(parts, made + at * 2 * to_size, now, to_size);
        }
    }
}

}  // namespace promoarray
