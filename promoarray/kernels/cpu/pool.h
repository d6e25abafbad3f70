// Work in parts, on the thread that asks and on those of a pool that are free.
//
// No thread is started before there is work for it. All that compute at once, callers and threads of
// the pool together, are as many as `thread_count` says, unless more callers than that come at once:
// these have no help then. A process that is forked starts threads of its own.
#pragma once

#include <cstddef>
#include <functional>

namespace promoarray {

// Elements from which on several threads are worth waking, and of a part. A part begins at a
// multiple of its length, and so where vectors begin.
constexpr std::size_t many_elements = 1000000;
constexpr std::size_t part_length = 1 << 15;

// How many compute at once; 0 until it was set.
int thread_count();
void set_thread_count(int count);
// To be called once, before there are threads.
void prepare_for_forks();

// What a thread of the pool does before it takes parts and afterwards, such as to get a lock: while it
// waits for that, others take them.
struct Around {
    int (*enter)();
    void (*leave)(int entered);
};

// The parts that a thread does: their numbers, one at a time until there is none left for it.
class Parts {
   public:
    virtual bool next(std::size_t &part) = 0;

   protected:
    ~Parts() = default;
};

// Call `work` on each thread that takes part, with its own of the numbers below `parts`, of which each
// is given once; return when all calls have. It must not throw, and the lock of the interpreter must
// not be held.
void run_parts(std::size_t parts, const std::function<void(Parts &)> &work,
               const Around *around = nullptr);

// Work without the lock of the interpreter (unlocked.h); false once that has to stop.
bool begin_unlocked();
void end_unlocked();

// Wait for such work, and join the threads; whatever comes then runs on the thread that asks.
void stop_threads();

// Have each thread `make` what it works with once, and call that with `(begin, end)` for ranges, which
// together make up all `rows`: of about a part's length each if a row has `length` elements.
template <typename Make>
void in_ranges(std::size_t rows, std::size_t length, const Make &make) {
    const std::size_t step = length < part_length ? part_length / length : 1;
    run_parts((rows + step - 1) / step, [&](Parts &own) {
        auto work = make();
        for (std::size_t part; own.next(part);) {
            const std::size_t begin = part * step;
            work(begin, rows - begin < step ? rows : begin + step);
        }
    });
}

}  // namespace promoarray
