#include "pool.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#ifdef _WIN32
#include <system_error>
#else
#include <pthread.h>
#include <signal.h>
#endif

namespace promoarray {

using std::size_t;

namespace {

#ifdef _WIN32
class Thread {
   public:
    bool start(void *(*run)(void *), void *given) {
        try {
            thread_ = std::thread(run, given);
        } catch (const std::system_error &) {
            return false;
        }
        return true;
    }
    void join() { thread_.join(); }

   private:
    std::thread thread_;
};
#else
// No std::thread: musl would give it a stack of 128 KiB, and a call of NumPy may need more. Signals
// are for Python's own threads, which they wake.
class Thread {
   public:
    bool start(void *(*run)(void *), void *given) {
        pthread_attr_t attributes;
        if (pthread_attr_init(&attributes) != 0) return false;
        pthread_attr_setstacksize(&attributes, 1 << 20);
        sigset_t all, before;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        const bool started = pthread_create(&thread_, &attributes, run, given) == 0;
        pthread_sigmask(SIG_SETMASK, &before, nullptr);
        pthread_attr_destroy(&attributes);
        return started;
    }
    void join() { pthread_join(thread_, nullptr); }

   private:
    pthread_t thread_;
};
#endif

using Work = std::function<void(Parts &)>;

// Each number below `parts` once, to whoever asks.
class Counted final : public Parts {
   public:
    explicit Counted(size_t parts) : parts_(parts) {}
    bool is_left() const { return next_ < parts_; }
    bool next(size_t &part) override { return is_left() && (part = next_++) < parts_; }

   private:
    const size_t parts_;
    std::atomic<size_t> next_{0};
};

// What one caller wants done. `work` is the caller's, who waits for those that help.
struct Job {
    const Work &work;
    const Around *const around;
    Counted parts;
    std::atomic<int> helpers{0};

    Job(size_t n, const Work &given, const Around *with) : work(given), around(with), parts(n) {}
};

std::atomic<int> count{0};
std::atomic<int> unlocked{0};
std::atomic<bool> ends{false};
thread_local bool is_helper = false;

// How long a thread looks for what it waits for before it sleeps. To be woken takes about as long,
// which is much of an operation of a million elements; and operations come one after another, so
// that those who helped with one are still there for the next. After a long one it takes Python
// longer to come to the next, which it has to fetch from memory again: `most`, if that is no more
// than a quarter of what the thread has worked.
using Clock = std::chrono::steady_clock;
constexpr std::chrono::microseconds patience(50), most_patience(100);

// Asked when a thread first waits: it reads a file.
bool has_cores() {
    static const bool several = std::thread::hardware_concurrency() > 1;
    return several;
}

template <typename Test>
void look_for(const Test &is_there, Clock::duration how_long = patience) {
    const auto end = Clock::now() + how_long;
    while (!is_there() && has_cores() && Clock::now() < end) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
}

// Nobody holds the pool's lock for more than some instructions, and nobody tells of anything while
// holding it: who is told wants the lock, and would sleep once more.
class Pool {
    using Held = std::unique_lock<std::mutex>;

   public:
    void run(size_t parts, const Work &work, const Around *around) {
        const auto job = std::make_shared<Job>(parts, work, around);
        Held held = lock();
        ++callers_;
        jobs_.push_back(job);
        start_threads(parts);
        held.unlock();
        if (has_room()) call_helpers();
        job->work(job->parts);
        held = lock();
        jobs_.erase(std::find(jobs_.begin(), jobs_.end(), job));
        const auto is_done = [&] { return job->helpers == 0; };
        wait(held, done_, is_done, is_done);
        --callers_;
        const bool others = !jobs_.empty();
        held.unlock();
        if (others) call_helpers();  // there is one more for those who are left
    }

    // What a thread of the pool does. It leaves a job for a caller that came meanwhile.
    void serve() {
        Held held = lock();
        Clock::duration worked{0};
        for (;;) {
            std::shared_ptr<Job> job;
            const unsigned known = news_;
            wait(held, wake_, [&] { return stops_ || (job = neediest()) != nullptr; },
                 [&] { return news_ != known; },
                 std::clamp<Clock::duration>(worked / 4, patience, most_patience));
            if (stops_) return;
            ++helping_;
            if (job->around == nullptr) {
                worked = help(*job, held);
            } else {
                held.unlock();
                const int entered = job->around->enter();
                held = lock();
                worked = help(*job, held);
                held.unlock();
                job->around->leave(entered);
                held = lock();
            }
            --helping_;
        }
    }

    void stop() {
        std::vector<Thread> threads;
        {
            const Held held = lock();
            stops_ = true;
            threads.swap(threads_);
        }
        call_helpers();
        for (Thread &thread : threads) thread.join();
    }

   private:
    // What is left for a thread of the pool: nothing once a caller came that wants its place.
    class Helping final : public Parts {
       public:
        Helping(const Pool &pool, Parts &parts) : pool_(pool), parts_(parts) {}
        bool next(size_t &part) override {
            return pool_.callers_ + pool_.helping_ <= count && !pool_.stops_ && parts_.next(part);
        }

       private:
        const Pool &pool_;
        Parts &parts_;
    };

    Held lock() {
        Held held(lock_, std::defer_lock);
        look_for([&] { return held.try_lock(); });
        if (!held.owns_lock()) held.lock();
        return held;
    }

    // Wait until `is_so`, which is asked with the lock held; `may_be` tells without it.
    template <typename Test, typename Sign>
    void wait(Held &held, std::condition_variable &told, const Test &is_so, const Sign &may_be,
              Clock::duration how_long = patience) {
        if (is_so()) return;
        held.unlock();
        look_for(may_be, how_long);
        held = lock();
        told.wait(held, is_so);
    }

    void call_helpers() {
        ++news_;
        wake_.notify_all();
    }

    bool has_room() const { return callers_ + helping_ < count; }

    std::shared_ptr<Job> neediest() const {
        std::shared_ptr<Job> found;
        if (!has_room()) return found;
        for (const std::shared_ptr<Job> &job : jobs_) {
            const bool is_needier = found == nullptr || job->helpers < found->helpers;
            if (job->parts.is_left() && is_needier) found = job;
        }
        return found;
    }

    // How long it took.
    Clock::duration help(Job &job, Held &held) {
        if (!job.parts.is_left()) return {};
        const auto begun = Clock::now();
        ++job.helpers;
        held.unlock();
        Helping own(*this, job.parts);
        job.work(own);
        held = lock();
        if (--job.helpers == 0) {
            held.unlock();
            done_.notify_all();
            held = lock();
        }
        return Clock::now() - begun;
    }

    // As many as have something to do. Where the system gives no more, those there are do it all.
    void start_threads(size_t parts) {
        const size_t wanted = std::min(parts, (size_t)std::max(1, count.load())) - 1;
        while (!stops_ && threads_.size() < wanted) {
            Thread thread;
            if (!thread.start(serving, this)) return;
            threads_.push_back(std::move(thread));
        }
    }
    static void *serving(void *self) {
        is_helper = true;
        static_cast<Pool *>(self)->serve();
        return nullptr;
    }

    std::mutex lock_;
    std::condition_variable wake_, done_;
    std::vector<Thread> threads_;
    std::vector<std::shared_ptr<Job>> jobs_;
    std::atomic<unsigned> news_{0};  // changes where threads of the pool may have got something to do
    std::atomic<int> callers_{0}, helping_{0};
    std::atomic<bool> stops_{false};
};

// Never deleted: threads may wait in it for as long as the process lives.
std::atomic<Pool *> the_pool{nullptr};

Pool &pool() {
    Pool *found = the_pool;
    if (found != nullptr) return *found;
    auto *made = new Pool;
    if (the_pool.compare_exchange_strong(found, made)) return *made;
    delete made;
    return *found;
}

}  // namespace

int thread_count() { return count; }
void set_thread_count(int wanted) { count = wanted; }

void prepare_for_forks() {
#ifndef _WIN32
    // The child has one thread, and nobody who would let go of a lock: what there was stays as it is.
    pthread_atfork(nullptr, nullptr, [] {
        the_pool = nullptr;
        unlocked = 0;
    });
#endif
}

void run_parts(size_t parts, const Work &work, const Around *around) {
    if (parts > 1 && count > 1 && !is_helper) return pool().run(parts, work, around);
    Counted all(parts);
    work(all);
}

bool begin_unlocked() {
    ++unlocked;
    if (!ends) return true;
    --unlocked;
    return false;
}

void end_unlocked() { --unlocked; }

void stop_threads() {
    ends = true;
    count = 1;
    while (unlocked > 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
    if (Pool *const found = the_pool) found->stop();
}

}  // namespace promoarray
