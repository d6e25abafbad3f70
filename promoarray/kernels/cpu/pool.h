// Work in parts, on the thread that asks and on others that are started for it and joined.
//
// All that compute at once, callers and helpers together, are as many as `thread_count` says, unless more
// callers than that come at once: these have no help then.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>

namespace promoarray {

// Elements from which on several threads are worth starting, and of a part. A part begins at a multiple
// of its length, and so where vectors begin.
constexpr std::size_t many_elements = 1000000;
constexpr std::size_t part_length = 1 << 15;

// How many compute at once; 0 until it was set.
int thread_count();
void set_thread_count(int count);

// The numbers below some count, each given to one thread.
class Parts {
   public:
    explicit Parts(std::size_t count) : count_(count) {}
    bool next(std::size_t &part) { return (part = next_++) < count_; }

   private:
    const std::size_t count_;
    std::atomic<std::size_t> next_{0};
};

// Call `work` on each thread that takes part; return when all calls have. It must not throw, and the lock
// of the interpreter must not be held.
void run_parts(std::size_t count, const std::function<void(Parts &)> &work);

// Work without the lock of the interpreter (unlocked.h); false once that has to stop.
bool begin_unlocked();
void end_unlocked();

// Wait for such work; from then on there is none.
void stop_unlocked();

// Have each thread `make` what it works with once, and call that with `(begin, end)` for ranges, which
// together make up all `rows`: of about a part's length each if a row has `length` elements.
template <typename Make>
void in_ranges(std::size_t rows, std::size_t length, const Make &make) {
    const std::size_t step = length < part_length ? part_length / length : 1;
    run_parts((rows + step - 1) / step, [&](Parts &parts) {
        auto work = make();
        for (std::size_t part; parts.next(part);) {
            const std::size_t begin = part * step;
            work(begin, rows - begin < step ? rows : begin + step);
        }
    });
}

}  // namespace promoarray
