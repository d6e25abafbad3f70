#include "pool.h"

#include <algorithm>
#include <chrono>
#include <system_error>
#include <thread>
#include <vector>

namespace promoarray {
namespace {

std::atomic<int> count{0};     // how many may compute at once
std::atomic<int> computing{0};  // callers and helpers that do
std::atomic<int> unlocked{0};
std::atomic<bool> ended{false};

// As many of those wanted as there may be more.
int take_helpers(int wanted) {
    int now = computing;
    while (true) {
        const int taken = std::clamp(count - now, 0, wanted);
        if (computing.compare_exchange_weak(now, now + taken)) return taken;
    }
}

}  // namespace

int thread_count() { return count; }
void set_thread_count(int wanted) { count = wanted; }

void run_parts(std::size_t parts, const std::function<void(Parts &)> &work) {
    Parts own(parts);
    ++computing;
    const int most = (int)std::min<std::size_t>(parts, 1 << 15) - 1;
    const int taken = take_helpers(std::max(most, 0));
    std::vector<std::thread> helpers;
    helpers.reserve((std::size_t)taken);
    try {
        while ((int)helpers.size() < taken) helpers.emplace_back([&] { work(own); });
    } catch (const std::system_error &) {  // the system has no more of them
    }
    work(own);
    for (std::thread &helper : helpers) helper.join();
    computing -= taken + 1;
}

bool begin_unlocked() {
    ++unlocked;
    if (!ended) return true;
    --unlocked;
    return false;
}

void end_unlocked() { --unlocked; }

void stop_unlocked() {
    ended = true;
    while (unlocked > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace promoarray
