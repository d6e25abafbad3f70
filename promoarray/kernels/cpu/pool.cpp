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

// What one caller wants done. `work` is the caller's, who waits for those that have a part of it.
struct Job {
    const std::function<void(size_t)> &work;
    const size_t parts;
    const Around *const around;
    size_t next = 0;
    std::atomic<int> helpers{0};  // threads of the pool that have a part of it

    Job(size_t n, const std::function<void(size_t)> &given, const Around *with)
        : work(given), parts(n), around(with) {}
    bool is_left() const { return next < parts; }
};

std::atomic<int> count{0};
std::atomic<int> unlocked{0};
std::atomic<bool> ends{false};
thread_local bool is_helper = false;

// How long a thread looks for what it waits for before it sleeps. To be woken takes about as long,
// which is much of an operation of a million elements; and operations come one after another, so
// that those who helped with one are still there for the next.
constexpr std::chrono::microseconds patience(50);

template <typename Test>
void look_for(const Test &is_there) {
    const auto end = std::chrono::steady_clock::now() + patience;
    while (!is_there() && std::chrono::steady_clock::now() < end) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#endif
    }
}

class Pool {
   public:
    void run(const std::shared_ptr<Job> &job) {
        std::unique_lock<std::mutex> held(lock_);
        ++callers_;
        jobs_.push_back(job);
        ++news_;
        start_threads(job->parts);
        if (has_room()) wake_.notify_all();
        while (job->is_left()) do_part(*job, held);
        jobs_.erase(std::find(jobs_.begin(), jobs_.end(), job));
        wait(held, done_, [&] { return job->helpers == 0; }, [&] { return job->helpers == 0; });
        --callers_;
        if (jobs_.empty()) return;
        ++news_;
        wake_.notify_all();  // there is one more for those who are left
    }

    // What a thread of the pool does. It leaves a job for a caller that came meanwhile.
    void serve() {
        std::unique_lock<std::mutex> held(lock_);
        for (;;) {
            std::shared_ptr<Job> job;
            const unsigned known = news_;
            wait(held, wake_, [&] { return stops_ || (job = neediest()) != nullptr; },
                 [&] { return news_ != known; });
            if (stops_) return;
            ++helping_;
            if (job->around == nullptr) {
                help(*job, held);
            } else {
                held.unlock();
                const int entered = job->around->enter();
                held.lock();
                help(*job, held);
                held.unlock();
                job->around->leave(entered);
                held.lock();
            }
            --helping_;
        }
    }

    void stop() {
        std::vector<Thread> threads;
        {
            const std::lock_guard<std::mutex> held(lock_);
            stops_ = true;
            ++news_;
            threads.swap(threads_);
        }
        wake_.notify_all();
        for (Thread &thread : threads) thread.join();
    }

   private:
    // Wait until `is_so`, which is asked with the lock held; `may_be` tells without it.
    template <typename Test, typename Sign>
    void wait(std::unique_lock<std::mutex> &held, std::condition_variable &told, const Test &is_so,
              const Sign &may_be) {
        if (is_so()) return;
        if (has_cores_) {
            held.unlock();
            look_for(may_be);
            held.lock();
        }
        told.wait(held, is_so);
    }

    bool has_room() const { return callers_ + helping_ < count; }

    std::shared_ptr<Job> neediest() const {
        std::shared_ptr<Job> found;
        if (!has_room()) return found;
        for (const std::shared_ptr<Job> &job : jobs_)
            if (job->is_left() && (found == nullptr || job->helpers < found->helpers)) found = job;
        return found;
    }

    void help(Job &job, std::unique_lock<std::mutex> &held) {
        ++job.helpers;
        while (job.is_left() && callers_ + helping_ <= count && !stops_) do_part(job, held);
        if (--job.helpers == 0) done_.notify_all();
    }

    static void do_part(Job &job, std::unique_lock<std::mutex> &held) {
        const size_t part = job.next++;
        held.unlock();
        job.work(part);
        held.lock();
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
    int callers_ = 0, helping_ = 0;
    bool stops_ = false;
    const bool has_cores_ = std::thread::hardware_concurrency() > 1;
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

void run_parts(size_t parts, const std::function<void(size_t)> &work, const Around *around) {
    if (parts < 2 || count < 2 || is_helper) {
        for (size_t part = 0; part < parts; ++part) work(part);
        return;
    }
    pool().run(std::make_shared<Job>(parts, work, around));
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
