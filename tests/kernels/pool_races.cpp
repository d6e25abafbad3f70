// The threads under ThreadSanitizer (.ci/sanitize): callers at once, calls inside of parts, another number
// of threads meanwhile, and the end while there is work. It exits with the number of wrong results.
#include <atomic>
#include <cstdio>
#include <thread>
#include <vector>

#include "../../promoarray/kernels/cpu/pool.h"

using namespace promoarray;

static std::atomic<int> wrong{0};

static void call(int seed) {
    for (int round = 0; round < 300; ++round) {
        const std::size_t parts = 1 + (std::size_t)(seed * 7 + round) % 23;
        const bool nests = round % 17 == 0;
        std::vector<int> counted(parts * 64, 0);
        run_parts(parts, [&](Parts &own) {
            for (std::size_t part; own.next(part);) {
                for (std::size_t k = 0; k < 64; ++k) ++counted[part * 64 + k];
                if (!nests) continue;
                run_parts(3, [&](Parts &within) {
                    for (std::size_t k; within.next(k);) counted[part * 64 + k] += (int)k;
                });
            }
        });
        for (std::size_t i = 0; i < counted.size(); ++i)
            wrong += counted[i] != 1 + (nests && i % 64 < 3 ? (int)(i % 64) : 0);
        if (seed == 0 && round % 50 == 0) set_thread_count(2 + round % 5);
    }
}

int main() {
    set_thread_count(4);
    std::vector<std::thread> callers;
    for (int seed = 0; seed < 6; ++seed) callers.emplace_back(call, seed);
    for (std::thread &caller : callers) caller.join();

    std::vector<char> written(3000001, 0);
    in_ranges(written.size(), 1, [&] {
        return [&](std::size_t begin, std::size_t end) {
            for (; begin < end; ++begin) ++written[begin];
        };
    });
    for (const char once : written) wrong += once != 1;

    std::thread late(call, 9);
    stop_unlocked();
    late.join();
    std::printf("%d wrong\n", wrong.load());
    return wrong != 0;
}
