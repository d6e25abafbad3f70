// The floating-point state of the thread: rounding, subnormals, the flags of exceptions.
#pragma once

#ifdef __SSE2__
#include <immintrin.h>
#else
#include <cfenv>
#endif

namespace promoarray {

// While it lives, rounding is to nearest and with subnormals, whatever the thread has set
// (-ffast-math and PyTorch can make it flush them to zero). Afterwards the state is as it was, the
// flags of exceptions included.
class DefaultFloatState {
   public:
    DefaultFloatState(const DefaultFloatState &) = delete;
#ifdef __SSE2__
    DefaultFloatState() { clear(); }
    ~DefaultFloatState() { _mm_setcsr(before_); }
    void clear() { _mm_setcsr(0x1f80); }
    // As NumPy numbers them: division by zero 1, overflow 2, underflow 4, invalid 8.
    int raised() const {
        const int flags = (int)_mm_getcsr();
        return (flags >> 2 & 7) | (flags & 1) << 3;
    }

   private:
    const unsigned before_ = _mm_getcsr();
#else
    DefaultFloatState() {
        std::fegetenv(&before_);
        clear();
    }
    ~DefaultFloatState() { std::fesetenv(&before_); }
    void clear() { std::fesetenv(FE_DFL_ENV); }
    int raised() const {
        const auto is = [](int flag, int bit) { return std::fetestexcept(flag) != 0 ? bit : 0; };
        return is(FE_DIVBYZERO, 1) | is(FE_OVERFLOW, 2) | is(FE_UNDERFLOW, 4) | is(FE_INVALID, 8);
    }

   private:
    std::fenv_t before_;
#endif
};

}  // namespace promoarray
