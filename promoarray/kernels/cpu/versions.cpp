#include "versions.h"

#include <atomic>
#include <stdexcept>
#include <string>

namespace promoarray {
namespace {

std::vector<const Loops *> found_versions() {
    std::vector<const Loops *> found = {&level1::loops};
#ifdef PROMOARRAY_HAS_LEVELS
    if (__builtin_cpu_supports("x86-64-v3")) found.push_back(&level3::loops);
    if (__builtin_cpu_supports("x86-64-v4")) found.push_back(&level4::loops);
#endif
    return found;
}

std::atomic<const Loops *> &chosen() {
    static std::atomic<const Loops *> loops = versions().back();
    return loops;
}

}  // namespace

const std::vector<const Loops *> &versions() {
    static const std::vector<const Loops *> found = found_versions();
    return found;
}

const Loops &version() { return *chosen(); }

int use_level(int level) {
    const int before = version().level;
    std::string known;
    for (const Loops *one : versions()) {
        known += (known.empty() ? "" : ", ") + std::to_string(one->level);
        if (one->level == level) {
            chosen() = one;
            return before;
        }
    }
    throw std::invalid_argument("level " + std::to_string(level) +
                                " is none of those that this machine has: " + known);
}

}  // namespace promoarray
