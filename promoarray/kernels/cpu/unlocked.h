// The lock of the interpreter, let go of while there is work that does not need it.
#pragma once

#include <Python.h>

#include "pool.h"

namespace promoarray {

// Once the process ends, whoever asks for the lock has its thread ended by Python, which C++ takes
// for an error. So stop_unlocked waits for those that are without it, and then nobody lets go.
class Unlocked {
   public:
    Unlocked() : before_(begin_unlocked() ? PyEval_SaveThread() : nullptr) {}
    ~Unlocked() {
        if (before_ == nullptr) return;
        PyEval_RestoreThread(before_);
        end_unlocked();
    }
    Unlocked(const Unlocked &) = delete;
    explicit operator bool() const { return before_ != nullptr; }

   private:
    PyThreadState *before_;
};

}  // namespace promoarray
